"""The knowledge that ships with the product, as passages: one per document section, table row or GPU's prices.

Reads files and writes none. Does not search, and does not judge a fact: it carries what the files say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from ingest.rows import MAX_WIDTH, TABLES, BuiltinFormatError, Sources, read_rows, table_passages, width
from ingest.table_passages import table_and_price_passages
from knowledge.passage import Language, Passage

Kind = Literal["text", "gap"]
LANGUAGES: dict[str, Language] = {"zh": "zh", "en": "en"}
KINDS: dict[str, Kind] = {"text": "text", "gap": "gap"}

FRONT_MATTER = ("title", "language", "topic", "source", "kind")
# Questions that a section answers, in other words than its own. They were written by someone who knew the documents
# and not the questions of evals/, so that those still measure.
SECTION_ASKED = re.compile(r"<!-- asked: (.+?) -->\n?")
SECTION_SOURCE = re.compile(r"<!--\s*source:\s*(.+?)\s*-->\n?")


@dataclass(frozen=True)
class Document:
    """One file of knowledge/documents: its front matter, and its sections as (heading, body)."""

    file: str
    title: str
    language: Language
    topic: str
    source: str
    kind: Kind
    sections: tuple[tuple[str, str], ...]


def builtin_passages(documents: Path | None = None, tables: Path | None = None) -> list[Passage]:
    """All built-in passages, documents first, in a fixed order; ids hold while a file keeps the order of its sections.

    Passages of the zh and the en file of a topic that stand in the same section share `topic`
    ("cuda-and-tensor-cores#2"); so do both languages of a table row. Raises BuiltinFormatError.
    """
    knowledge = Path(str(files("knowledge")))
    tables = tables or knowledge / "tables"
    sources = Sources({row["key"]: row for row in read_rows(tables / "sources.csv")})
    read = [_document(file) for file in sorted((documents or knowledge / "documents").glob("*.md"))]
    _check_twins(read)
    passages = [passage for document in read for passage in _document_passages(document, sources)]
    for table in TABLES:
        passages += table_passages(table, tables, sources)
    return [*passages, *table_and_price_passages(tables, sources, MAX_WIDTH)]


def _document(file: Path) -> Document:
    """Parse one file; every deviation from the format is an error, so that no fact is lost silently."""
    match = re.fullmatch(r"---\n(.*?)\n---\n(.*)", file.read_text(encoding="utf-8"), re.S)
    if match is None:
        raise BuiltinFormatError(f"{file.name!r} does not begin with front matter between two lines '---'")
    front = dict(_front_line(line, file) for line in match[1].splitlines() if line.strip())
    if missing := [key for key in FRONT_MATTER if not front.get(key)]:
        raise BuiltinFormatError(f"{file.name!r} lacks {missing} in its front matter")
    language, kind = LANGUAGES.get(front["language"]), KINDS.get(front["kind"])
    if language is None or kind is None:
        shown = f"language {front['language']!r} must be zh or en and kind {front['kind']!r} text or gap"
        raise BuiltinFormatError(f"{file.name!r}: {shown}")
    if file.name != f"{front['topic']}.{language}.md":
        raise BuiltinFormatError(f"{file.name!r} must be named '{front['topic']}.{language}.md' after its front matter")
    sections = _sections(match[2], file)
    return Document(file.name, front["title"], language, front["topic"], front["source"], kind, sections)


def _front_line(line: str, file: Path) -> tuple[str, str]:
    key, colon, value = line.partition(":")
    if not colon:
        raise BuiltinFormatError(f"{file.name!r}: front matter line {line!r} is not 'key: value'")
    return key.strip(), re.sub(r"\s+#.*$", "", value).strip()


def _sections(body: str, file: Path) -> tuple[tuple[str, str], ...]:
    before, *parts = re.split(r"^## +", body, flags=re.M)
    if loose := re.sub(r"^# .*$", "", before, count=1, flags=re.M).strip():
        raise BuiltinFormatError(f"{file.name!r} has text before its first '##' section: {loose[:40]!r}")
    sections = tuple((heading.strip(), text.strip()) for heading, _, text in (part.partition("\n") for part in parts))
    if not sections or not all(heading and text for heading, text in sections):
        raise BuiltinFormatError(f"{file.name!r} needs '##' sections, each with a heading and a text")
    return sections


def _check_twins(documents: list[Document]) -> None:
    counts = {(document.topic, document.language): len(document.sections) for document in documents}
    for topic in {document.topic for document in documents}:
        zh, en = counts.get((topic, "zh"), 0), counts.get((topic, "en"), 0)
        if zh != en:
            raise BuiltinFormatError(
                f"topic {topic!r} has {zh} sections in Chinese and {en} in English; they are twins"
            )


def _document_passages(document: Document, sources: Sources) -> Iterator[Passage]:
    for number, (heading, body) in enumerate(document.sections, start=1):
        override = SECTION_SOURCE.match(body)
        source = override[1] if override else document.source
        body = body[override.end() :].strip() if override else body
        questions = SECTION_ASKED.match(body)
        asked = "\n".join(question.strip() for question in questions[1].split("|")) if questions else ""
        for part, text in enumerate(split(body[questions.end() :].strip() if questions else body), start=1):
            yield Passage(
                id=f"{document.topic}.{document.language}#{number}" + (f".{part}" if part > 1 else ""),
                topic=f"{document.topic}#{number}",
                language=document.language,
                title=document.title,
                section=heading,
                text=text,
                source=sources.shown(source, document.language),
                locator=f"documents/{document.file} § {heading}",
                as_of=sources.as_of(source),
                kind=document.kind,
                asked=asked if part == 1 else "",
            )


def split(text: str, max_width: int = MAX_WIDTH) -> list[str]:
    """Parts of a Markdown text, cut between paragraphs; a table is cut between rows only, its header repeated.

    A single paragraph or row wider than `max_width` stays whole: nothing is cut in the middle.
    """
    parts: list[str] = []
    for block in (piece for paragraph in re.split(r"\n\s*\n", text) for piece in _blocks(paragraph, max_width)):
        if parts and width(parts[-1]) + width(block) <= max_width:
            parts[-1] += "\n\n" + block
        else:
            parts.append(block)
    return parts


def _blocks(paragraph: str, max_width: int) -> list[str]:
    lines = paragraph.strip("\n").splitlines()
    table = next((i for i, line in enumerate(lines) if re.fullmatch(r"\s*\|?[\s:|-]*-[\s:|-]*\|[\s:|-]*", line)), 0)
    if not table or width(paragraph) <= max_width:
        return ["\n".join(lines)] if lines else []
    caption, header, rows = lines[: table - 1], lines[table - 1 : table + 1], lines[table + 1 :]
    blocks, block = [], [*caption, *header]
    for row in rows:
        if len(block) > len(header) and width("\n".join([*block, row])) > max_width:
            blocks.append("\n".join(block))
            block = list(header)
        block.append(row)
    return [*blocks, "\n".join(block)]
