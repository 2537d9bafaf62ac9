"""A parsed file as passages: prose cut to size under its headings, each table row by itself, a small table also whole.

Says of every passage where it stands in the file, in the passage's own language. Does NOT read files and judges no
fact. Raises FileRefusedError: "empty" for a file without a passage, "rows-lost" where the rows of the tables do not
add up to what the reader counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text
from ingest.grid_parts import parts_of
from ingest.grids import check_rows, language_of, tabulate, unit_note_of
from ingest.rows import width
from ingest.splitting import fits, packed, pieces
from ingest.table_words import markdown_of, place_words, row_place_words, row_texts, table_language
from knowledge.passage import Language, Passage

PARTS_PER_TOPIC = 4  # the search shows one part of a topic: a chapter without headings must not be one topic
WIDEST_SECTION = 120
WIDEST_LEAD = 120  # a longer paragraph before a table is prose, not its caption
SHORT_LEAD = 40
WIDEST_ROW_NAME = 60

CAPTION = re.compile(r"\**(?:附?表格?|图表|table|tab\.)\s*[\d一二三四五六七八九十A-Z]", re.I)
CODE_OR_ADDRESS = re.compile(r"```.*?(?:```|\Z)|`[^`\n]{1,200}`|https?://\S+", re.S)  # of no language
NOT_A_CAPTION = re.compile(r"\s*(?:[-*+>|#!`~]|\d+[.)、]\s|\[)")


@dataclass(frozen=True)
class _Piece:
    """A stretch of prose that is not cut further, and where it begins."""

    text: str
    place: Place


@dataclass(frozen=True)
class _Section:
    """Prose under one heading path, or a table with the paragraphs before it that were taken as its caption."""

    path: tuple[str, ...]
    pieces: tuple[_Piece, ...] = ()
    grid: Grid | None = None


def passages_of(parsed: Parsed, *, document: str, name: str, source: str | None = None) -> list[Passage]:
    """The passages of a file, in reading order.

    `document` is a stable id: passages are "document:1", "document:2", ...; the parts of a section share a topic
    "document#3", and rows have "document.t2#14" (table 2, row 14 as the file counts; "document.t2.3#14" in the third of
    several tables that stand in one). `name` is the file's name as
    readers know it, `source` what is cited instead of it. Raises FileRefusedError ("empty", "rows-lost").
    """
    writer = _Writer(parsed, document, name, source or name)
    passages = list(writer.passages())
    check_rows(writer.accounted_rows, parsed.table_rows, name)
    if not passages:
        raise FileRefusedError(
            "empty",
            f"{name!r} 里没有文字也没有表格内容；请确认文件不是空的，扫描件请先做文字识别（OCR）",
            f"{name!r} holds no text and no table content; check that it is not empty, and run OCR on a scan first",
        )
    return [replace(passage, id=f"{document}:{number}") for number, passage in enumerate(passages, start=1)]


class _Writer:
    """Words the sections of one file; counts topics, tables and the rows accounted for."""

    def __init__(self, parsed: Parsed, document: str, name: str, source: str) -> None:
        self._sections = list(_sections(parsed))
        self._document = document
        self._name = name
        self._source = source
        self._title = " ".join(parsed.title.split()) or name
        grids = sum(isinstance(block, Grid) for block in parsed.blocks)
        alone = not any(isinstance(block, Text) for block in parsed.blocks)
        self._table_is_known = grids == 1
        self._is_one_table = grids == 1 and alone
        words = " ".join(each.text for section in self._sections for each in section.pieces[:20])
        self._language = language_of(f"{self._title} {words[:4000]}")
        self._topics = 0
        self._tables = 0
        self.accounted_rows = 0

    def passages(self) -> Iterator[Passage]:
        for section in self._sections:
            if section.grid is None:
                yield from self._prose(section.path, section.pieces)
            else:
                self._tables += 1
                yield from self._parts(section.path, section.grid)

    def _parts(self, path: tuple[str, ...], grid: Grid) -> Iterator[Passage]:
        parts = parts_of(grid)
        self.accounted_rows += len(parts.form)
        lines = [_Piece(piece, grid.place) for line in parts.form for piece in pieces(line)]
        yield from self._prose(path, lines)
        for number, part in enumerate(parts.grids, start=1):
            name = f"{self._document}.t{self._tables}"
            yield from self._table(path, part, f"{name}.{number}#" if number > 1 else f"{name}#")

    def _prose(self, path: tuple[str, ...], parts: Sequence[_Piece]) -> Iterator[Passage]:
        for number, run in enumerate(packed([part.text for part in parts])):
            if number % PARTS_PER_TOPIC == 0 or not path:
                self._topics += 1
            text = "\n\n".join(parts[at].text for at in run)
            language = language_of(CODE_OR_ADDRESS.sub(" ", text), self._language)
            where = place_words(parts[run.start].place, parts[run.stop - 1].place, language)
            yield self._passage(path, f"{self._document}#{self._topics}", language, text, where, "text")

    def _table(self, path: tuple[str, ...], grid: Grid, topic: str) -> Iterator[Passage]:
        table = tabulate(grid)
        self.accounted_rows += table.counts.total
        if not grid.rows:
            return
        language = table_language(table, self._language)
        whole = markdown_of(table, language)
        if whole and fits(whole):
            where = place_words(table.place, table.place, language)
            yield self._passage(path, f"{topic}table", language, whole, where, "text")
        elif table.notes or not table.rows:
            told = whole if not table.rows else "\n\n".join([table.caption, *table.notes]).strip()
            yield from self._prose(path, [_Piece(piece, table.place) for piece in pieces(told)])
        counts_lines = _counts_lines(grid)
        place = table.place if counts_lines or table.place.kind != "line" else Place()
        ordinal = self._ordinal(counts_lines)
        for at, number in enumerate(table.numbers):
            language, texts = row_texts(table, at, self._language)
            where = row_place_words(place, ordinal, number, language)
            for text in texts:
                row = self._passage(path, f"{topic}{number}", language, text, where, "row")
                yield replace(row, section=" · ".join(filter(None, (row.section, _row_name(table.rows[at])))))

    def _ordinal(self, counts_lines: bool) -> int | None:
        """The table's number for readers; 0 where the file has one table only, None where a row's number says enough."""
        if counts_lines or self._is_one_table:
            return None
        return 0 if self._table_is_known else self._tables

    def _passage(
        self, path: tuple[str, ...], topic: str, language: Language, text: str, where: str, kind: Literal["text", "row"]
    ) -> Passage:
        heading = _cut_short(path[-1], WIDEST_SECTION) if path else ""
        place = ", ".join(part for part in (f"{self._name} § {heading}" if heading else self._name, where) if part)
        section = section_of(path)
        return Passage("", topic, language, self._title, section, text, self._source, place, None, kind)


def _counts_lines(grid: Grid) -> bool:
    """Whether the numbers of a grid's rows are lines of the file, as in a CSV file."""
    return grid.place.kind == "line" and grid.header_rows is None and grid.place.label == str(grid.numbers[0])


def _row_name(row: Sequence[str]) -> str:
    """What a row is about: its first cell with a letter, as the heading of a row of the built-in tables is."""
    name = next((cell for cell in row if any(character.isalpha() for character in cell)), "")
    return _cut_short(" ".join(name.split()), WIDEST_ROW_NAME)


def section_of(path: Sequence[str]) -> str:
    """The heading path as one line of at most WIDEST_SECTION columns: the outer headings give way first."""
    shown = _cut_short(path[-1], WIDEST_SECTION) if path else ""
    for heading in reversed(path[:-1]):
        longer = f"{heading} > {shown}"
        if width(longer) > WIDEST_SECTION:
            break
        shown = longer
    return shown


def _cut_short(text: str, max_width: int) -> str:
    if fits(text, max_width):
        return text
    kept = text[:max_width]
    while width(kept) >= max_width:
        kept = kept[:-1]
    return kept.rstrip() + "…"


def _sections(parsed: Parsed) -> Iterator[_Section]:
    """The prose between two headings or tables, each stretch with its heading path, and the tables between."""
    path: list[tuple[int, str]] = []
    title = " ".join(parsed.title.split())
    prose: list[Text] = []
    bare: Heading | None = None  # a heading with nothing under it so far
    for block in _without_blanks(parsed.blocks):
        if isinstance(block, Text):
            prose.append(block)
            bare = None
            continue
        if isinstance(block, Grid) and any(map(any, block.rows)):  # a table of blanks has no use for a caption
            block, prose = _with_lead(block, prose)
            bare = None
        yield from _prose_section(_shown(path, title), prose)
        prose = []
        if isinstance(block, Grid):
            yield _Section(_shown(path, title), grid=block)
            continue
        if bare and block.level <= bare.level and bare.text != parsed.title:
            yield from _heading_alone(_shown(path, title), bare)
        path = [outer for outer in path if outer[0] < block.level]
        path.append((block.level, " ".join(block.text.split())))
        bare = block
    yield from _prose_section(_shown(path, title), prose)
    if bare:
        yield from _heading_alone(_shown(path, title), bare)


def _without_blanks(blocks: Sequence[Block]) -> Iterator[Block]:
    """The blocks but for headings and paragraphs that say nothing; blank tables stay, since their rows are counted."""
    for block in blocks:
        text = block.text if isinstance(block, Heading) else block.markdown if isinstance(block, Text) else "a table"
        if text.strip():
            yield block


def _shown(path: Sequence[tuple[int, str]], title: str) -> tuple[str, ...]:
    return tuple(text for _, text in path if text and text != title)


def _prose_section(path: tuple[str, ...], prose: Sequence[Text]) -> Iterator[_Section]:
    parts = tuple(_Piece(piece, text.place) for text in prose for piece in pieces(text.markdown))
    if parts:
        yield _Section(path, parts)


def _heading_alone(path: tuple[str, ...], heading: Heading) -> Iterator[_Section]:
    """A heading with nothing under it, such as a slide of a title and a picture, is all that the file says there."""
    if text := " ".join(heading.text.split()):
        yield _Section(path, tuple(_Piece(piece, heading.place) for piece in pieces(text)))


def _with_lead(grid: Grid, prose: list[Text]) -> tuple[Grid, list[Text]]:
    """The table with the paragraph before it as caption where it has none of its own, and the prose without that."""
    kept, caption, unit = list(prose), grid.caption.strip(), ""
    if kept and unit_note_of(kept[-1].markdown):
        unit = kept.pop().markdown.strip().strip("*_")
    if not caption and kept and (lead := _lead(kept[-1].markdown)):
        caption = lead
        kept.pop()
    return replace(grid, caption=f"{caption}\n{unit}".strip()), kept


def _lead(markdown: str) -> str:
    """A paragraph as the caption of the table under it: 表 1 …, Table 1 …, one that ends with a colon, or a short one."""
    text = markdown.strip()
    if "\n" in text or (NOT_A_CAPTION.match(text) and not text.startswith("**")) or width(text) > WIDEST_LEAD:
        return ""
    plain = text.strip("*_").strip()
    if CAPTION.match(plain) or plain.endswith(("：", ":")) or width(plain) <= SHORT_LEAD:
        return plain.rstrip("：:").strip()
    return ""
