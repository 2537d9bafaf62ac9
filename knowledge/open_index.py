"""An open index: passages searched by meaning (Chroma) and by exact words (SQLite FTS5) as one, and changed meanwhile.

It holds the built-in passages and versions of users' documents. A version is written unseen, shown in place of
another in one step and removed later; which versions are valid is the caller's to keep. It reads no document, loads
no model (an embedder is passed in) and answers no price: it finds passages. Only a search that ran and matched
nothing gives an empty list; a store that fails is an IndexBrokenError.

It may be killed at any moment. SQLite is written before Chroma and Chroma emptied before SQLite, so Chroma never
holds what SQLite does not; while Chroma is written a note in SQLite says so, and Chroma is then made again at the
next opening. That is knowledge/index.py, which also builds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import numpy as np

from knowledge.dense_store import DenseStore
from knowledge.expansion import expand as with_other_forms
from knowledge.generation import as_broken, broken
from knowledge.hits import Hit, LanguageMeans, Rank, language_means, scored, shown
from knowledge.keywords import Word, words
from knowledge.passage import Language, Passage
from knowledge.passage_store import PassageStore, Stored
from knowledge.reranking import Reranker
from knowledge.snapshots import chunks
from knowledge.text_vectors import (
    Embedder,
    Progress,
    Vectors,
    asking,
    check_ids,
    digest,
    embed,
    shifted,
    with_questions,
)

BUILTIN = "builtin"  # the version of the built-in passages
CANDIDATES = 40  # per side and at least; both scores of every candidate are then computed exactly
EXACT = 5000  # so few visible passages among others are compared one by one; else Chroma is asked for more and more
WRITTEN_AT_ONCE = 2048  # passages of one step; their texts are embedded by length, which pads the least
WIPED_AT_ONCE = 10_000  # of so many passages at most, removed words are wiped from the files at once, else at closing
SEARCHES = 3  # a search during which a version was replaced is made anew, so many times at most


class Index:
    """An open index, safe to share between threads. Made by `build_index` and `open_index`.

    A search never waits for passages being embedded, nor for more than a hundred being written.
    """

    def __init__(self, generation: Path, embedder: Embedder, store: PassageStore, dense: DenseStore) -> None:
        """Over open stores, with nothing visible; closes them in the end."""
        self.reranker: Reranker | None = None  # set by whoever has loaded one
        self._where = generation
        self._embedder = embedder
        self._store = store
        self._dense = dense
        self._writing = threading.Lock()
        self._versions_lock = threading.Lock()
        self._counts = store.versions()
        self._begun: set[str] = set()
        self._visible: frozenset[str] = frozenset()
        self._closed = False
        self._means: LanguageMeans | None = None
        self._means_known = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give files and memory back, after a write under way; the index cannot be used afterwards."""
        with self._writing, ExitStack() as closing, as_broken(self._where):
            if self._closed:
                return
            self._closed = True
            closing.callback(self._store.close)
            closing.callback(self._dense.close)
            if self._where.is_dir() and self._store.fact("to_wipe") == "yes":
                self._wipe()

    # Searching and reading: visible versions only.

    def search(
        self,
        query: str,
        *,
        language: Language,
        limit: int = 6,
        only: str | None = None,
        rank: Rank = "fused",
        expand: bool = True,
    ) -> list[Hit]:
        """The best passages in either language, best first, in `language` where that twin was found.

        One per topic, each text once and two rows per table at most: whole tables are the catalogue's. `only` searches one
        version, visible or not. For measuring: `rank` by one side only, `expand` False for the question's own words.
        Raises ValueError for an empty query or a limit below 1, KeyError for an unknown version, IndexBrokenError.
        """
        query = query.strip()
        if not query or limit < 1:
            raise ValueError(f"cannot search for {query!r} with limit {limit!r}: give a text, and a limit of 1 or more")
        if only is not None and only not in self._counts:
            raise KeyError(f"the index has no version {only!r}")
        vector = np.asarray(self._embedder.embed_queries([query])[0], dtype=np.float32)
        asked = with_other_forms(query) if expand else words(query)
        hits: list[Hit] = []
        for _ in range(SEARCHES):
            visible = frozenset([only]) if only else self._visible
            with as_broken(self._where), self._store.snapshot():
                hits = self._search(query, asked, vector, max(CANDIDATES, 5 * limit), visible, rank)
            if only or visible <= self._visible:
                break
        chosen = shown(hits, language)
        if self.reranker and rank == "fused" and only is None:
            chosen = self.reranker.reordered(query, chosen)
        return chosen[:limit]

    def passage(self, passage_id: str) -> Passage:
        """The visible passage of an id. Raises KeyError if there is none."""
        with as_broken(self._where), self._store.snapshot():
            found = self._store.read(self._store.numbers_of_id(passage_id))
        for each in found:
            if each.version in self._visible:
                return each.passage
        raise KeyError(f"the index has no passage {passage_id!r}")

    def passages(self, version: str | None = None) -> Iterator[Passage]:
        """Every visible passage, or those of one version, as written. Raises KeyError for an unknown version."""
        if version is not None and version not in self._counts:
            raise KeyError(f"the index has no version {version!r}")
        wanted = self._visible if version is None else {version}
        with as_broken(self._where):
            numbers = self._store.numbers(version)
        for some in chunks(numbers):
            with as_broken(self._where):
                found = self._store.read(some)
            yield from (each.passage for each in found if each.version in wanted and each.passage.kind != "question")

    def count(self) -> int:
        """Number of visible passages."""
        visible, counts = self._visible, self._counts
        return sum(counts.get(version, 0) for version in visible)

    @property
    def has_documents(self) -> bool:
        """Whether anything but the built-in passages is visible."""
        return bool(self._visible - {BUILTIN})

    def knows(self, term: str) -> bool:
        """Whether every word of the term occurs in the corpus, in some spelling; False for a term without words."""
        with as_broken(self._where):
            return self._store.knows(term, self._visible)

    def versions(self) -> dict[str, int]:
        """Every version that was written whole, visible or not, with its number of passages."""
        return dict(self._counts)

    def verify(self) -> None:
        """Compare the stores and what was written, between two writes. Raises IndexBrokenError where they differ."""
        with self._writing, as_broken(self._where):
            stored, dense, counts = self._store.count(), self._dense.count(), self._store.counts()
        if stored != dense:
            raise broken(self._where, f"Chroma holds {dense} passages and SQLite {stored}")
        for version, written in self._counts.items():
            if counts.get(version, 0) != written:
                raise broken(self._where, f"{counts.get(version, 0)} of {written} passages of {version!r} are there")

    # Changing: versions come unseen, are shown, hidden, removed.

    def add(
        self,
        version: str,
        passages: Sequence[Passage],
        *,
        vectors: Vectors | None = None,
        progress: Progress | None = None,
        reuse: PassageStore | None = None,
    ) -> int:
        """Write a version, which stays invisible until shown; gives the number of passages. All or none.

        `vectors`, one row per passage, are taken instead of the embedder's; a text that this index or `reuse` has
        embedded before is not embedded again. `progress` gets (passages done, passages in all).
        Raises ValueError for no passages, an id that comes twice, another number of vectors or a version that is there,
        IndexBrokenError when a store fails, and what the embedder raises; nothing of the version is left then.
        """
        check_ids(passages)
        passages = with_questions(passages)
        if vectors is not None and len(vectors) != len(passages):
            raise ValueError(f"{len(vectors)} vectors for {len(passages)} passages of {version!r}; give one for each")
        self._begin(version)
        with ExitStack() as undo:
            undo.callback(self.remove, version)
            for start in range(0, len(passages), WRITTEN_AT_ONCE):
                some = passages[start : start + WRITTEN_AT_ONCE]
                told = progress and shifted(progress, start, len(passages))
                if vectors is None:
                    self._write(version, some, self._embed(some, reuse, told))
                else:
                    self._write(version, some, np.asarray(vectors[start : start + len(some)], dtype=np.float32))
                if told:
                    told(len(some), len(some))
            with as_broken(self._where):
                self._store.complete(version, len(passages))
            undo.pop_all()
        with self._versions_lock:
            self._begun.discard(version)
            self._counts = {**self._counts, version: len(passages)}
        return len(passages)

    def show(self, version: str, *, instead_of: str | None = None) -> None:
        """Make a version visible, and another one invisible in the same step. Raises KeyError if it is not whole."""
        with self._versions_lock:
            if version not in self._counts:
                raise KeyError(f"the index has no version {version!r} to show")
            self._visible = (self._visible - {instead_of}) | {version}

    def hide(self, version: str) -> None:
        """Make a version invisible; one that is not visible is no error."""
        with self._versions_lock:
            self._visible -= {version}

    def remove(self, version: str) -> int:
        """Remove a version, whole or not, from both stores; gives the number of passages, 0 if it is not there.

        Raises IndexBrokenError if a store fails or a passage is left.
        """
        with self._versions_lock:
            self._visible -= {version}
            self._counts = {each: count for each, count in self._counts.items() if each != version}
        with self._writing, as_broken(self._where):
            numbers = self._store.numbers(version)
            self._store.uncomplete(version)
            if numbers:
                with self._store.dense_being_written():
                    self._dense.remove(numbers)
                self._store.remove(numbers)
                self._store.note(removed=str(int(self._store.fact("removed") or 0) + len(numbers)), to_wipe="yes")
                if self._store.frequency("") <= WIPED_AT_ONCE:
                    self._wipe()
            left = len(self._store.numbers(version)) + len(self._dense.vectors(numbers))
        with self._versions_lock:
            self._begun.discard(version)
        if left:
            raise broken(self._where, f"{left} of {len(numbers)} passages of {version!r} are left after their removal")
        return len(numbers)

    def replace_builtin(self, passages: Sequence[Passage], fingerprint: str, progress: Progress | None = None) -> None:
        """Put other built-in passages in the place of those there, and note `fingerprint` as theirs, in one step.

        Unchanged texts are not embedded again. A process killed before that step leaves the old ones.
        """
        new, old = f"{BUILTIN} new", f"{BUILTIN} old"
        self.add(new, passages, progress=progress)
        with self._versions_lock, self._writing, as_broken(self._where):
            self._store.replace(BUILTIN, new, old, builtin=fingerprint)
            self._counts = self._store.versions()
            self._means_known = False
        self.remove(old)

    def _wipe(self) -> None:
        self._store.wipe()
        self._store.note(to_wipe="no")

    def _begin(self, version: str) -> None:
        with self._versions_lock:
            if version in self._counts or version in self._begun:
                raise ValueError(f"the index has version {version!r} already: remove it first, or choose another name")
            self._begun.add(version)

    def _embed(self, passages: Sequence[Passage], reuse: PassageStore | None, told: Progress | None) -> Vectors:
        digests = [digest(passage) for passage in passages]
        with as_broken(self._where):
            known = self._store.vectors_of_texts(digests)
            if reuse:
                known.update(reuse.vectors_of_texts(each for each in digests if each not in known))
        return embed(passages, self._embedder, known, told)

    def _write(self, version: str, passages: Sequence[Passage], vectors: Vectors) -> None:
        with self._writing, as_broken(self._where):
            numbers = self._store.add(version, passages, [digest(passage) for passage in passages], vectors)
            with self._store.dense_being_written():
                self._dense.add(numbers, vectors)

    def _search(
        self, query: str, asked: Sequence[Word], vector: Vectors, depth: int, visible: frozenset[str], rank: Rank
    ) -> list[Hit]:
        bm25 = {} if rank == "dense" else self._store.best(asked, depth, visible)
        means = self._language_means()
        near = [] if rank == "keyword" else self._nearest(vector, 2 * depth, visible)  # some lead to one passage
        if means and near:  # else a question in one language finds little in the other
            near += self._nearest(means.without_language(vector), depth, visible)
        found, questions = self._led_to([*near, *bm25], vector)
        coverage = self._store.coverage(asked, [each.number for each in found])
        if len(coverage.passage) != len(found):
            raise broken(
                self._where, f"SQLite has {len(coverage.passage)} keyword rows for {len(found)} passages found"
            )
        return scored(query, found, vector, means, coverage, bm25, rank, questions)

    def _led_to(self, numbers: Sequence[int], vector: Vectors) -> tuple[list[Stored], dict[int, float]]:
        """What was found, in place of questions the passages that they lead to, and the best question's cosine of each."""
        found = self._store.read(list(dict.fromkeys(numbers)))
        if len(found) != len(set(numbers)):
            raise broken(self._where, f"SQLite has {len(found)} texts for {len(set(numbers))} passages found")
        passages = {each.number: each for each in found if each.passage.kind != "question"}
        questions = [each for each in found if each.passage.kind == "question"]
        number_of = self._store.numbers_of_ids({asking(each.passage.id) for each in questions})
        cosines: dict[int, float] = {}
        for each in questions:
            number = number_of[each.version, asking(each.passage.id)]
            cosines[number] = max(cosines.get(number, -1.0), float(each.vector @ vector))
        further = self._store.read([number for number in cosines if number not in passages])
        return [*passages.values(), *further], cosines

    def _language_means(self) -> LanguageMeans | None:
        """Of the built-in passages, which stand in both languages; read once."""
        if not self._means_known:
            self._means = language_means(self._store.read(self._store.numbers(BUILTIN)))
            self._means_known = True
        return self._means

    def _nearest(self, vector: Vectors, depth: int, visible: frozenset[str]) -> list[int]:
        """The nearest visible passages; the more are invisible, the more Chroma is asked for."""
        stored = self._store.frequency("")
        wanted = sum(self._counts.get(version, 0) for version in visible)
        if wanted <= EXACT and wanted < stored:
            numbers = [number for version in visible for number in self._store.numbers(version)]
            vectors = self._store.vectors(numbers) if numbers else np.zeros((0, len(vector)), dtype=np.float32)
            return [numbers[place] for place in np.argsort(-(vectors @ vector), kind="stable")[:depth]]
        asked_for = depth
        while True:
            numbers = self._dense.nearest(vector, min(asked_for, stored))
            version_of = self._store.version_of(numbers)
            seen = [number for number in numbers if version_of.get(number) in visible]
            if len(seen) >= min(depth, wanted) or asked_for >= stored:
                break
            asked_for *= 4
        if wanted and not seen:
            raise broken(self._where, f"Chroma found none of {wanted} passages near the question")
        return seen[:depth]
