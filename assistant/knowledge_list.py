"""What the knowledge base holds, as a page lists it: documents with their state, searched, and their passages by page.

Reads only. The built-in documents are listed by file, from the passages that the index holds of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath
from typing import Literal

from assistant.evidence import Bilingual, Language
from ingest.knowledge_base import READERS_VERSION, KnowledgeBase
from knowledge.index import BUILTIN, Index
from knowledge.library import Document
from knowledge.passage import Passage

PASSAGES_PER_PAGE = 10
BUILTIN_FILE = re.compile(r"(?:documents|tables)/\S+")
IN_USE = Bilingual(zh="在用", en="in use")
NOT_INDEXED = Bilingual(zh="不在索引里，请重建索引", en="not in the index: rebuild it")
READ_BEFORE = Bilingual(zh="由旧版本读入，请再上传一次", en="read by an older release: upload it again")

EntryState = Literal["in use", "not indexed", "read before"]
STATES: dict[EntryState, Bilingual] = {"in use": IN_USE, "not indexed": NOT_INDEXED, "read before": READ_BEFORE}


@dataclass(frozen=True)
class Entry:
    """One document of the list. `size_bytes` and `day` (ISO) are empty where the document ships with the product."""

    id: str
    name: str
    kind: str
    state: EntryState
    passages: int
    table_rows: int
    size_bytes: int | None
    day: str
    builtin: bool


@dataclass(frozen=True)
class PassagePage:
    """A few passages of a document; `number` counts pages from 1, `first` passages from 1."""

    passages: tuple[Passage, ...]
    number: int
    pages: int
    first: int
    total: int


def entries(base: KnowledgeBase, language: Language) -> list[Entry]:
    """Every document: the reader's own by name, then the built-in ones. Raises LibraryBrokenError, IndexBrokenError."""
    with base.reading() as index:
        indexed = index.versions().keys()
        own = [_own(document, document.version in indexed) for document in base.documents()]
        return own + _builtin(index, language)


def matching(listed: Iterable[Entry], wanted: str) -> list[Entry]:
    """The entries in whose name, kind or id every word of `wanted` occurs, in any width or case."""
    words = _folded(wanted).split()
    return [each for each in listed if all(word in _folded(f"{each.name} {each.kind} {each.id}") for word in words)]


def passage_page(base: KnowledgeBase, entry: Entry, number: int, language: Language) -> PassagePage:
    """A page of a document's passages, the nearest there is to `number`.

    Raises UnknownDocumentError if the document was removed meanwhile, IndexBrokenError.
    """
    with base.reading() as index:
        if entry.builtin:
            found = [each for each in index.passages(BUILTIN) if entry.id == _builtin_id(each, language)]
            return _page(found, len(found), number)
        document = base.document(entry.id)
        at = max(1, min(number, _pages(document.passages)))
        first = (at - 1) * PASSAGES_PER_PAGE
        some = list(islice(index.passages(document.version), first, first + PASSAGES_PER_PAGE))
        return PassagePage(tuple(some), at, _pages(document.passages), first + 1, document.passages)


def size_words(size_bytes: int | None) -> str:
    """A size for readers, in binary units; a dash where there is none."""
    if size_bytes is None:
        return "–"
    if size_bytes < 1024:
        return f"{size_bytes} B"
    return f"{size_bytes / 1024:,.0f} KiB" if size_bytes < 2**20 else f"{size_bytes / 2**20:,.1f} MiB"


def _own(document: Document, indexed: bool) -> Entry:
    state: EntryState = "in use" if indexed else "not indexed"
    if indexed and document.readers != READERS_VERSION:
        state = "read before"
    return Entry(
        id=document.id,
        name=document.name,
        kind=_kind(document.name),
        state=state,
        passages=document.passages,
        table_rows=document.table_rows,
        size_bytes=document.size_bytes,
        day=document.added_at[:10],
        builtin=False,
    )


def _builtin(index: Index, language: Language) -> list[Entry]:
    grouped: dict[str, list[Passage]] = {}
    for passage in index.passages(BUILTIN):
        if found := _builtin_id(passage, language):
            grouped.setdefault(found, []).append(passage)
    listed = [
        Entry(
            id=found,
            name=passages[0].title,
            kind=_kind(found),
            state="in use",
            passages=len(passages),
            table_rows=len({passage.topic for passage in passages if passage.kind == "row"}),
            size_bytes=None,
            day=max((passage.as_of or "" for passage in passages), default="")[:10],
            builtin=True,
        )
        for found, passages in grouped.items()
    ]
    return sorted(listed, key=lambda entry: (entry.kind, entry.name))


def _builtin_id(passage: Passage, language: Language) -> str:
    """The file that a built-in passage comes from; "" for the other language's twin of the page."""
    file = BUILTIN_FILE.match(passage.locator)
    return f"{BUILTIN}:{file[0]}" if file and passage.language == language else ""


def _kind(name: str) -> str:
    return PurePosixPath(name).suffix.lstrip(".").upper() or "–"


def _page(found: Sequence[Passage], total: int, number: int) -> PassagePage:
    at = max(1, min(number, _pages(total)))
    first = (at - 1) * PASSAGES_PER_PAGE
    return PassagePage(tuple(found[first : first + PASSAGES_PER_PAGE]), at, _pages(total), first + 1, total)


def _pages(total: int) -> int:
    return max(1, -(-total // PASSAGES_PER_PAGE))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
