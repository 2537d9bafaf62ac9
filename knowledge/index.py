"""The retrieval index: passages in Chroma (meaning) and in a keyword store (exact words), searched as one.

The index is a cache: passages come from files and everything here can be built again. It does not
read documents, does not load a model (an embedder is passed in) and never answers a price: it finds
passages. A broken index is an error; only a search that ran and matched nothing gives an empty list.

Files, their manifest and the errors are in knowledge/generation.py.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from knowledge.generation import (
    REBUILD,
    Fingerprint,
    IndexBrokenError,
    IndexMismatchError,
    IndexMissingError,
    KnowledgeIndexError,
    Manifest,
    broken,
    new_generation,
    read_manifest,
    remove_generations,
    write_manifest,
)
from knowledge.keywords import TOKENIZER_VERSION, KeywordStore
from knowledge.passage import Language, Passage

if TYPE_CHECKING:
    from chromadb.api.client import Client

__all__ = [
    "Embedder",
    "Hit",
    "Index",
    "IndexBrokenError",
    "IndexMismatchError",
    "IndexMissingError",
    "KnowledgeIndexError",
    "Passage",
    "build_index",
    "fingerprint",
    "open_index",
]

Vectors = NDArray[np.float32]

PASSAGE_FORMAT = "1"  # raise it when Passage, its embedded text or the files of a generation change
COLLECTION = "passages"  # Chroma accepts ASCII names only; languages live in the metadata
COSINE: Any = {"hnsw": {"space": "cosine"}}
BATCH = 64
PAGE = 1000  # an unbounded get of Chroma fails past 32,766 rows

# Cosines of e5 lie close together. Over 96 questions and all built-in passages, half of all pairs were above
# 0.79, the best passage for a question about something else at most 0.90, and the right passage between 0.84 and
# 0.96 (median 0.91). Stretching this band to 0..1 makes the cosine comparable with the keyword share. Another
# family of models (EMBEDDING_MODEL) may use another band: ranking survives that, absolute scores may not.
UNRELATED_COSINE = 0.80
CERTAIN_COSINE = 0.95
# Weights by measurement, see evals/RESULTS.md. A heading counts as much as the whole passage does. Keywords weigh
# half at most, and less the less they can tell: "what is a graphics card" has one word, and a common one.
KEYWORD_WEIGHT = 0.5
HEADING_SHARE = 0.5
HALF_INFORMATION = 6.0
ROWS_PER_TABLE = 2  # rows alike crowd out the text that explains them; all rows are for the catalogue to list
PROBES = 5  # passages that a new index must find before it is swapped in
CANDIDATES = 40  # per side and at least; both scores of every candidate are then computed exactly


class Embedder(Protocol):
    """What the index needs of an embedding model (knowledge/embedding.py has the real one)."""

    @property
    def fingerprint(self) -> str: ...

    def embed_queries(self, texts: list[str]) -> Vectors:
        """L2-normalised float32 vectors, one row per text."""

    def embed_passages(self, texts: list[str]) -> Vectors:
        """L2-normalised float32 vectors, one row per text."""


@dataclass(frozen=True)
class Hit:
    """A passage found; all three scores lie in 0..1 and higher is better.

    `dense` is closeness of meaning, `keyword` the share of the question's words that the passage
    holds. When the best hits are low in both, the corpus has nothing about the question.
    """

    passage: Passage
    score: float
    dense: float
    keyword: float


class Index:
    """An open index, safe to share between threads. Made by `build_index` and `open_index`."""

    def __init__(self, generation: Path, embedder: Embedder, *, create: bool = False) -> None:
        self._where = generation
        self._embedder = embedder
        if not generation.is_dir():
            raise broken(generation, "the folder that manifest.json names is gone")
        with _as_broken(generation):
            self._keywords = KeywordStore(generation / "keywords.sqlite", create=create)
            self._client = _chroma_client(generation / "chroma")
            if create:
                self._client.create_collection(COLLECTION, embedding_function=None, configuration=COSINE)
            self._collection = self._client.get_collection(COLLECTION, embedding_function=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give files and memory back; the index cannot be used afterwards."""
        self._client.close()
        self._keywords.close()

    def search(self, query: str, *, language: Language, limit: int = 6) -> list[Hit]:
        """The best passages in either language, best first, in `language` where that twin was found.

        One per topic and two rows per table at most: for whole tables ask the catalogue, not the search.
        Raises ValueError for an empty query or a limit below 1, IndexBrokenError when a store fails.
        """
        query = query.strip()
        if not query or limit < 1:
            raise ValueError(f"cannot search for {query!r} with limit {limit!r}: give a text, and a limit of 1 or more")
        vector = self._embedder.embed_queries([query])[0]
        depth = max(CANDIDATES, 5 * limit)
        with _as_broken(self._where):
            bm25 = self._keywords.best(query, depth)
            ids = list(dict.fromkeys([*self._nearest(vector, depth), *bm25]))
            coverage = self._keywords.coverage(query, ids)
            passages, vectors = self._read(ids)
        if len(coverage.passage) != len(ids):
            raise broken(self._where, f"the keyword index holds {len(coverage.passage)} of {len(ids)} passages found")
        dense = np.clip((vectors @ vector - UNRELATED_COSINE) / (CERTAIN_COSINE - UNRELATED_COSINE), 0, 1).tolist()
        weight = KEYWORD_WEIGHT * coverage.information / (coverage.information + HALF_INFORMATION)
        hits = []
        for passage, meaning in zip(passages, dense, strict=True):
            words = coverage.passage[passage.id]
            matched = HEADING_SHARE * coverage.heading[passage.id] + (1 - HEADING_SHARE) * words
            hits.append(Hit(passage, (1 - weight) * meaning + weight * matched, meaning, words))
        hits.sort(key=lambda hit: (-hit.score, -bm25.get(hit.passage.id, 0.0), hit.passage.id))
        return _one_per_topic(hits, language)[:limit]

    def passage(self, passage_id: str) -> Passage:
        """The passage of an id. Raises KeyError if there is none."""
        with _as_broken(self._where):
            found = self._collection.get(ids=[passage_id], include=["metadatas", "documents"])
        if not found["ids"]:
            raise KeyError(f"the index has no passage {passage_id!r}")
        return _passages(found)[0]

    def passages(self) -> Iterator[Passage]:
        """Every passage, in no particular order, read in pages of PAGE."""
        for offset in range(0, self.count(), PAGE):
            with _as_broken(self._where):
                page = self._collection.get(limit=PAGE, offset=offset, include=["metadatas", "documents"])
            yield from _passages(page)

    def count(self) -> int:
        """Number of passages. Raises IndexBrokenError if the two stores disagree."""
        with _as_broken(self._where):
            dense, keyword = self._collection.count(), self._keywords.count()
        if dense != keyword:
            raise broken(self._where, f"Chroma holds {dense} passages and the keyword index {keyword}")
        return dense

    def knows(self, term: str) -> bool:
        """Whether every word of the term occurs in the corpus, in some spelling; False for a term without words."""
        with _as_broken(self._where):
            return self._keywords.knows(term)

    def _write(self, passages: Sequence[Passage]) -> None:
        vectors = self._embedder.embed_passages([f"{each.title}\n{each.section}\n{each.text}" for each in passages])
        with _as_broken(self._where):
            self._collection.add(
                ids=[each.id for each in passages],
                embeddings=vectors,
                documents=[each.text for each in passages],
                metadatas=[_to_metadata(each) for each in passages],
            )
            self._keywords.add((each.id, each.section, f"{each.title}\n{each.text}") for each in passages)

    def _nearest(self, vector: Vectors, depth: int) -> list[str]:
        stored = self._collection.count()
        ids = self._collection.query(query_embeddings=[vector.tolist()], n_results=min(depth, stored), include=[])[
            "ids"
        ][0]
        if not ids:
            raise broken(self._where, f"Chroma holds {stored} passages but found none near the question")
        return ids

    def _read(self, ids: list[str]) -> tuple[list[Passage], Vectors]:
        """Passages and their vectors, in Chroma's order."""
        found = self._collection.get(ids=ids, include=["metadatas", "documents", "embeddings"])
        if len(found["ids"]) != len(ids):
            raise broken(self._where, f"Chroma returned {len(found['ids'])} of {len(ids)} passages")
        return _passages(found), np.asarray(found["embeddings"], dtype=np.float32)


def build_index(
    folder: Path,
    passages: Sequence[Passage],
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Index:
    """Build a new generation beside the one in use, check it, swap it in, and return it open.

    `progress` gets (passages done, passages in all) after every batch. The old index stays valid until the
    swap, and whoever has it open can go on reading: its files go when the next build begins. One build at a time: a second one, of any process, waits for the first.
    Raises ValueError for no passages or an id that comes twice, IndexBrokenError if the new index fails its check.
    """
    from filelock import FileLock

    _check_ids(passages)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "build.lock"), ExitStack() as stack:
        with suppress(IndexBrokenError):  # a damaged manifest is mended by the new one
            remove_generations(folder, keep=read_manifest(folder))
        generation = new_generation(folder)
        index = Index(generation, embedder, create=True)
        stack.callback(index.close)
        for start in range(0, len(passages), BATCH):
            index._write(passages[start : start + BATCH])
            if progress:
                progress(min(start + BATCH, len(passages)), len(passages))
        _check(index, passages)
        manifest = Manifest(generation.name, len(passages), fingerprint(embedder, passages))
        write_manifest(folder, manifest)
        stack.pop_all()  # all went well: the index stays open
    return index


def open_index(folder: Path, embedder: Embedder, passages: Sequence[Passage] | None = None) -> Index:
    """Open the index in a folder.

    Raises IndexMissingError, IndexMismatchError (other embedding model, tokenizer or passage format; with
    `passages` given, also when the index was built from other passages) or IndexBrokenError.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        raise IndexMissingError(f"no index in {str(folder)!r}; build it: {REBUILD}")
    now = fingerprint(embedder, passages or [])
    expected = now if passages is not None else replace(now, passages=manifest.fingerprint.passages)
    if manifest.fingerprint != expected:
        raise IndexMismatchError(
            f"the index in {str(folder)!r} was built with {manifest.fingerprint}, but is now asked with {expected}; "
            f"build it again: {REBUILD}"
        )
    with ExitStack() as stack:
        index = Index(folder / manifest.generation, embedder)
        stack.callback(index.close)
        if index.count() != manifest.count:
            raise broken(folder, f"{index.count()} passages are there, {manifest.count} were written")
        stack.pop_all()
    return index


def fingerprint(embedder: Embedder, passages: Iterable[Passage]) -> Fingerprint:
    """What an index of these passages, built now with this embedder, would carry."""
    digest = hashlib.sha256()
    for passage in sorted(passages, key=lambda passage: passage.id):
        digest.update(json.dumps(asdict(passage), ensure_ascii=False, sort_keys=True).encode())
    return Fingerprint(embedder.fingerprint, TOKENIZER_VERSION, PASSAGE_FORMAT, digest.hexdigest())


def _one_per_topic(hits: Sequence[Hit], language: Language) -> list[Hit]:
    """The best hit of each topic, shown by its twin in the reader's language if that was found; few rows per table."""
    topics: dict[str, list[Hit]] = {}
    for hit in hits:
        topics.setdefault(hit.passage.topic, []).append(hit)
    shown: list[Hit] = []
    rows: Counter[str] = Counter()
    for topic, group in topics.items():
        if group[0].passage.kind == "row":
            table = topic.partition("#")[0]
            rows[table] += 1
            if rows[table] > ROWS_PER_TABLE:
                continue
        readable = [hit.passage for hit in group if hit.passage.language == language]
        shown.append(replace(group[0], passage=readable[0]) if readable else group[0])
    return shown


def _check(index: Index, passages: Sequence[Passage]) -> None:
    """Counts agree, and a few passages are found by their own words."""
    if index.count() != len(passages):
        raise broken(index._where, f"{index.count()} of {len(passages)} passages arrived")
    for passage in passages[:: max(1, len(passages) // PROBES)]:
        found = index.search(f"{passage.section}\n{passage.text}", language=passage.language)
        if not any(hit.passage.topic == passage.topic or hit.keyword > 0.99 for hit in found):  # or its like
            raise broken(index._where, f"the new index does not find passage {passage.id!r} by its own words")


def _check_ids(passages: Sequence[Passage]) -> None:
    if not passages:
        raise ValueError("no passages to build an index from; are the documents and tables installed?")
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            raise ValueError(f"passage id {passage.id!r} comes twice; ids must be unique")
        seen.add(passage.id)


def _chroma_client(folder: Path) -> Client:
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    return cast("Client", chromadb.PersistentClient(str(folder), settings=settings))  # its declared type lacks close()


def _to_metadata(passage: Passage) -> dict[str, str]:
    """Everything but id and text; Chroma takes no None, so an absent date is an absent key."""
    return {key: value for key, value in asdict(passage).items() if key not in ("id", "text") and value is not None}


def _passages(found: Mapping[str, Any]) -> list[Passage]:
    rows = zip(found["ids"], found["metadatas"], found["documents"], strict=True)
    return [Passage(**{"as_of": None, **metadata, "id": each, "text": text}) for each, metadata, text in rows]


@contextmanager
def _as_broken(where: Path) -> Iterator[None]:
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, sqlite3.Error, OSError) as error:
        raise broken(where, f"{type(error).__name__}: {error}") from error
