"""Documents into the knowledge base and out of it: read, cut, written, proven to be found, and only then listed.

The order makes every step safe to be killed at: a version is written to the index unseen, a search must find it, one
transaction of the library makes it valid in place of the former one, and what the former one left is removed. What a
killed process left in the index is removed at the next opening. One ingest at a time; searches go on meanwhile.

It answers no question and reads no format itself. Errors of the library, the index and the embedder pass through:
they concern every file. What is wrong with one file is an outcome, and the next file is taken.
"""

from __future__ import annotations

import hashlib
import json
import threading
import uuid
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

from ingest import sandbox
from ingest.blocks import FileRefusedError, Note, Parsed, from_json, to_json
from ingest.builtin import builtin_passages
from ingest.document_tables import rows_of
from ingest.incoming import Incoming, Refused, Skipped, expanded, refused
from ingest.passages import passages_of
from ingest.rebuilding import Progress, Rebuilding
from ingest.splitting import SPLITTER_VERSION
from knowledge import names
from knowledge.current_index import CurrentIndex
from knowledge.generation import IndexBrokenError, read_manifest
from knowledge.index import (
    Embedder,
    Index,
    IndexIncompleteError,
    IndexMismatchError,
    IndexMissingError,
    IndexOutdatedError,
    Passage,
    build_index,
    open_index,
    refresh_index,
)
from knowledge.library import Document, Library
from knowledge.own_cards import remove_cards_of
from knowledge.price_snapshots import remove_origin

READERS_VERSION = "1"  # raise it when readers or splitter give other passages for the same file: it is then read again
PROBES = 5
PROBE_CHARACTERS = 300

Status = Literal["accepted", "unchanged", "replaced"]


@dataclass(frozen=True)
class Taken:
    """A file that is in the knowledge base now; `same_as` names the document that has exactly its content."""

    name: str
    status: Status
    document: Document
    notes: tuple[Note, ...] = ()
    same_as: str | None = None


Outcome = Taken | Refused | Skipped


@dataclass(frozen=True)
class Removed:
    """A document taken out, and what went with it: passages, and price rows and cards accepted from its tables."""

    document: Document
    passages: int
    price_rows: int
    cards: int


@dataclass(frozen=True)
class State:
    """What the knowledge base holds: numbers of passages (built-in ones with the questions that lead to them) and documents."""

    builtin_passages: int
    document_passages: int
    documents: int
    embedder: str
    splitter: str
    folder: str
    size_bytes: int


class KnowledgeBase:
    """The open index and the library of documents behind it. Safe to share between threads."""

    def __init__(self, folder: Path, library: Library, index: Index, embedder: Embedder) -> None:
        self._current = CurrentIndex(index)
        self._folder = folder
        self._library = library
        self._embedder = embedder
        self._writing = threading.Lock()
        self._rebuilds = Rebuilding()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index and the library; waits for an ingest under way, and stops a rebuild."""
        self._rebuilds.stop()
        with self._writing:
            self._current.close()
            self._library.close()

    @property
    def index(self) -> Index:
        """The index of this moment; whoever reads for longer takes it from `reading`."""
        return self._current.now

    def reading(self) -> AbstractContextManager[Index]:
        """The index, which stays open for the length of a `with` block even if a rebuild replaces it."""
        return self._current.borrowed()

    @property
    def rebuilding(self) -> tuple[int, int] | None:
        """(passages done, passages in all) of a rebuild under way, None without one."""
        return self._rebuilds.reached

    def rebuild(self, progress: Progress | None = None) -> None:
        """Build the index anew beside the one in use, which answers until it is replaced; documents wait meanwhile.

        Raises RebuildUnderwayError, RebuildStoppedError, and what build_index raises; the old index then stays in use.
        """
        with self._rebuilds.underway(progress) as told, self._writing:
            leaves = self._generation()
            index = _build(self._folder, self._library, self._embedder, told, keep_others=True)
            index.reranker = self.index.reranker
            self._current.replace(index, leaves)

    def _generation(self) -> Path | None:
        with suppress(IndexBrokenError):  # a damaged manifest; the new one mends it
            if manifest := read_manifest(self._folder):
                return self._folder / manifest.generation
        return None

    def ingest(
        self, files: Iterable[Incoming | Refused | Skipped], progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Take files in, one outcome for each; `progress` gets (passages written, passages of this file)."""
        for arrived in files:
            for file in expanded(arrived) if isinstance(arrived, Incoming) else [arrived]:
                if not isinstance(file, Incoming):
                    yield file
                    continue
                try:
                    with self._writing:
                        outcome = self._take(file, progress)
                except FileRefusedError as error:
                    yield refused(file.name, error)
                else:
                    yield outcome

    def remove(self, wanted: str) -> Removed:
        """Take a document out, by id, origin or name, with all that was accepted from it.

        Raises library.UnknownDocumentError. From the first step on it is not found any more.
        """
        with self._writing:
            document = self._library.document(wanted)
            self._library.remove(document.id)
            self.index.hide(document.version)
            price_rows, cards = _accepted_gone(document)
            return Removed(document, self.index.remove(document.version), price_rows, cards)

    def documents(self) -> list[Document]:
        """Every document, by name."""
        return self._library.documents()

    def document(self, wanted: str) -> Document:
        """One document, by id, origin or name. Raises library.UnknownDocumentError."""
        return self._library.document(wanted)

    def parsed(self, document_id: str) -> Parsed:
        """What a document says, as its reader gave it. Raises library.UnknownDocumentError."""
        return from_json(json.loads(self._library.content(document_id)))

    def state(self) -> State:
        """Sizes and versions."""
        counts = self.index.versions()
        builtin = counts.pop("builtin", 0)
        return State(
            builtin_passages=builtin,
            document_passages=sum(counts.values()),
            documents=len(self._library.documents()),
            embedder=self._embedder.fingerprint,
            splitter=SPLITTER_VERSION,
            folder=str(self._folder),
            size_bytes=_size_bytes(self._folder),
        )

    def _take(self, file: Incoming, progress: Progress | None) -> Taken:
        sha256 = hashlib.sha256(file.content).hexdigest()
        before = self._library.of_origin(file.origin)
        twin = before or self._library.of_sha256(sha256)
        if twin and twin.sha256 == sha256 and twin.readers == READERS_VERSION:
            return Taken(file.name, "unchanged", twin, same_as=None if before else twin.name)
        parsed = sandbox.parse(file.content, file.name)
        document_id = "d" + hashlib.sha256(file.origin.encode()).hexdigest()[:10]
        version = f"{document_id}.{sha256[:8]}{uuid.uuid4().hex[:4]}"
        passages = passages_of(parsed, document=version, name=file.name)
        document = Document(
            id=document_id,
            origin=file.origin,
            name=file.name,
            version=version,
            sha256=sha256,
            readers=READERS_VERSION,
            size_bytes=len(file.content),
            title=parsed.title,
            passages=len(passages),
            table_rows=len({passage.topic for passage in passages if passage.kind == "row"}),
            added_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        self._write(document, parsed, passages, progress)
        self.index.show(version, instead_of=before.version if before else None)
        notes = parsed.notes
        if before:
            self.index.remove(before.version)
            if any(gone := _accepted_gone(before)):
                notes = (*notes, _accept_again(*gone, document_id))
        return Taken(file.name, "replaced" if before else "accepted", document, notes)

    def _write(self, document: Document, parsed: Parsed, passages: list[Passage], progress: Progress | None) -> None:
        """Into the index, unseen; then the one step that makes it valid. Whatever goes wrong before leaves nothing."""
        listed = False
        try:
            self.index.add(document.version, passages, progress=progress)
            self._probe(document, passages)
            self._library.put(document, json.dumps(to_json(parsed), ensure_ascii=False).encode())
            listed = True
        finally:
            if not listed:
                self.index.remove(document.version)

    def _probe(self, document: Document, passages: list[Passage]) -> None:
        for passage in passages[:: max(1, len(passages) // PROBES)]:
            query = f"{passage.section}\n{passage.text}"[:PROBE_CHARACTERS]
            hits = self.index.search(query, language=passage.language, limit=10, only=document.version)
            if not any(hit.passage.topic == passage.topic or hit.keyword > 0.99 for hit in hits):
                raise FileRefusedError(
                    "not-findable",
                    f"写入后搜不到这一段，所以没有收下：{query[:60]!r}；请运行 gpu-advisor knowledge rebuild 后再试",
                    f"this part was not found after writing, so the file was not taken: {query[:60]!r}; "
                    f"run gpu-advisor knowledge rebuild and try again",
                )


def _size_bytes(folder: Path) -> int:
    """Of all files below; one that a rebuild removes meanwhile counts nothing."""
    size_bytes = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size_bytes += path.stat().st_size if path.is_file() else 0
    return size_bytes


def _accepted_gone(document: Document) -> tuple[int, int]:
    """Take out the price rows and the cards that were accepted from a document; gives how many of each."""
    price_rows, cards = remove_origin(rows_of(document.name)), remove_cards_of(document.id)
    if cards:
        names.forget()
    return price_rows, cards


def _accept_again(price_rows: int, cards: int, document_id: str) -> Note:
    return Note(
        f"从旧版本接受的 {price_rows} 行价格、{cards} 张卡已移除；如仍有效请再接受一次：gpu-advisor knowledge tables {document_id}",
        f"{price_rows} price rows and {cards} cards accepted from the former version were removed; accept the table again "
        f"where it still holds: gpu-advisor knowledge tables {document_id}",
    )


def open_knowledge(home: Path, embedder: Embedder, progress: Progress | None = None) -> KnowledgeBase:
    """Open index and library of a home folder; builds what is missing, and mends what a killed process left.

    An index of another model, tokenizer or splitter is rebuilt without asking only while no document of the reader's
    is in it: that takes minutes, a library of documents may take hours. Raises index.IndexMismatchError (with the
    command that mends it), index.IndexBrokenError, library.LibraryBrokenError.
    """
    library, folder = Library(home / "library.sqlite"), home / "index"
    try:
        return KnowledgeBase(folder, library, _open_index(folder, library, embedder, progress), embedder)
    except BaseException:
        library.close()
        raise


def rebuild(home: Path, embedder: Embedder, progress: Progress | None = None) -> KnowledgeBase:
    """Build the index anew from the built-in documents and the library, beside the old one; returned open."""
    library, folder = Library(home / "library.sqlite"), home / "index"
    try:
        return KnowledgeBase(folder, library, _build(folder, library, embedder, progress), embedder)
    except BaseException:
        library.close()
        raise


def _open_index(folder: Path, library: Library, embedder: Embedder, progress: Progress | None) -> Index:
    live = library.versions()
    try:
        return open_index(folder, embedder, builtin_passages(), live=live, splitter=SPLITTER_VERSION)
    except IndexOutdatedError:  # of another release: its built-in passages change, the documents stay as they are
        return refresh_index(
            folder, embedder, builtin_passages(), live=live, splitter=SPLITTER_VERSION, progress=progress
        )
    except IndexMissingError:
        return _build(folder, library, embedder, progress)
    except IndexMismatchError:
        if live:
            raise
        return _build(folder, library, embedder, progress)
    except IndexIncompleteError:  # an index restored from an older copy, say; vectors that are there are used again
        return _build(folder, library, embedder, progress)


def _build(
    folder: Path, library: Library, embedder: Embedder, progress: Progress | None, *, keep_others: bool = False
) -> Index:
    return build_index(
        folder, builtin_passages(), embedder, documents=_versions(library), splitter=SPLITTER_VERSION,
        progress=progress, keep_others=keep_others,
    )  # fmt: skip


def _versions(library: Library) -> Iterator[tuple[str, list[Passage]]]:
    """Every document of the library as passages, cut by the splitter of today."""
    for document in library.documents():
        parsed = from_json(json.loads(library.content(document.id)))
        yield document.version, passages_of(parsed, document=document.version, name=document.name)
