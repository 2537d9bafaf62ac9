"""The retrieval index of a folder: built, opened, mended. Searching and changing an open one is open_index.py.

The index is a cache: passages come from files and everything here can be built again. Chroma is a cache within it,
of the vectors in SQLite: where it is damaged, or was being written when the process was killed, opening makes it
again. Versions of documents that are not `live`, or were not written whole, are removed at opening. One process at a
time may have an index open; assistant/owner.py sees to that.

Files of an index, their manifest and the errors: generation.py. The stores: passage_store.py, dense_store.py.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path

from knowledge.dense_mending import new_dense, whole_dense
from knowledge.generation import (
    REBUILD,
    Fingerprint,
    IndexBrokenError,
    IndexIncompleteError,
    IndexMismatchError,
    IndexMissingError,
    IndexOutdatedError,
    KnowledgeIndexError,
    Manifest,
    as_broken,
    broken,
    new_generation,
    read_manifest,
    remove_generations,
    write_manifest,
)
from knowledge.hits import Hit, Rank
from knowledge.keywords import TOKENIZER_VERSION
from knowledge.open_index import BUILTIN, Index
from knowledge.passage import Passage
from knowledge.passage_store import PassageStore
from knowledge.text_vectors import Embedder, Progress, Vectors, check_ids, shifted

__all__ = [
    "BUILTIN",
    "Embedder",
    "Hit",
    "Index",
    "IndexBrokenError",
    "IndexIncompleteError",
    "IndexMismatchError",
    "IndexMissingError",
    "IndexOutdatedError",
    "KnowledgeIndexError",
    "Passage",
    "Rank",
    "Vectors",
    "build_index",
    "fingerprint",
    "open_index",
    "refresh_index",
]

log = logging.getLogger(__name__)

PASSAGE_FORMAT = "3"  # raise it when Passage, its embedded text or the files of a generation change
SPLITTER_VERSION = "1"  # of callers that cut no documents
STORE = "passages.sqlite"
PROBES = 5  # passages that a new index must find before it is swapped in


def build_index(
    folder: Path,
    passages: Sequence[Passage],
    embedder: Embedder,
    *,
    documents: Iterable[tuple[str, Iterable[Passage]]] = (),
    splitter: str = SPLITTER_VERSION,
    progress: Progress | None = None,
    keep_others: bool = False,
) -> Index:
    """Build a new generation beside the one in use, check it, swap it in, remove the old one, and return it open.

    `passages` are the built-in ones, `documents` (version, passages) pairs; all are visible. Texts that the old
    generation embedded with the same model are not embedded again. `progress` gets (passages done, passages in all),
    where "all" grows as documents are read. The old index answers until the swap. One build at a time: a second one, of
    any process, waits for the first. `keep_others`: leave the old ones on disk, for this process still reads them. Raises ValueError for no passages or an id that comes twice, IndexBrokenError
    if the new index fails its check.
    """
    from filelock import FileLock

    check_ids(passages)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "build.lock"), ExitStack() as stack:
        former: Manifest | None = None
        with suppress(IndexBrokenError):  # a damaged manifest is mended by the new one
            former = read_manifest(folder)
            if not keep_others:
                remove_generations(folder, keep=former)
        reuse = _embedded_before(folder, former, embedder)
        if reuse:
            stack.callback(reuse.close)
        with ExitStack() as undo:
            generation = new_generation(folder)
            undo.callback(shutil.rmtree, generation, ignore_errors=True)
            with as_broken(generation):
                store = PassageStore(generation / STORE, create=True)
                index = Index(generation, embedder, store, new_dense(generation, store))
            undo.callback(index.close)
            _fill(index, passages, documents, reuse, progress)
            _check(index, passages)
            store.note(builtin=_digest(passages))
            manifest = Manifest(generation.name, fingerprint(embedder, splitter))
            write_manifest(folder, manifest)
            undo.pop_all()  # all went well: the index stays open
        stack.close()
        if not keep_others:
            remove_generations(folder, keep=manifest)
    return index


def open_index(
    folder: Path,
    embedder: Embedder,
    passages: Sequence[Passage] | None = None,
    *,
    live: Collection[str] = (),
    splitter: str = SPLITTER_VERSION,
    progress: Progress | None = None,
) -> Index:
    """Open the index in a folder, with the built-in passages and the `live` versions visible; others are REMOVED.

    `progress` is told when Chroma has to be made again. Raises IndexMissingError, IndexMismatchError (another
    embedding model, tokenizer, passage format or splitter), IndexOutdatedError (`passages` given, and the index has
    other built-in ones), IndexIncompleteError (live versions are missing) or IndexBrokenError.
    """
    store = _open_store(folder, embedder, splitter)
    with ExitStack() as undo:
        undo.callback(store.close)
        if passages is not None and store.fact("builtin") != _digest(passages):
            raise IndexOutdatedError(
                f"the built-in passages have changed since the index in {str(folder)!r} was built; "
                f"build it again: {REBUILD}"
            )
        index = _open(folder, embedder, store, live, progress)
        undo.pop_all()
    return index


def refresh_index(
    folder: Path,
    embedder: Embedder,
    passages: Sequence[Passage],
    *,
    live: Collection[str] = (),
    splitter: str = SPLITTER_VERSION,
    progress: Progress | None = None,
) -> Index:
    """Open an outdated index with other built-in passages in place of its own; embeds only texts that are new.

    Documents are not touched. Raises what `open_index` raises, but no IndexOutdatedError.
    """
    check_ids(passages)
    store = _open_store(folder, embedder, splitter)
    with ExitStack() as undo:
        undo.callback(store.close)
        index = _open(folder, embedder, store, live, None)
        undo.pop_all()
        undo.callback(index.close)
        if store.fact("builtin") != _digest(passages):
            index.replace_builtin(passages, _digest(passages), progress)
            _check(index, passages)
        undo.pop_all()
    return index


def fingerprint(embedder: Embedder, splitter: str = SPLITTER_VERSION) -> Fingerprint:
    """What an index built now with this embedder would carry."""
    return Fingerprint(embedder.fingerprint, TOKENIZER_VERSION, PASSAGE_FORMAT, splitter)


def _open_store(folder: Path, embedder: Embedder, splitter: str) -> PassageStore:
    manifest = read_manifest(folder)
    if manifest is None:
        raise IndexMissingError(f"no index in {str(folder)!r}; build it: {REBUILD}")
    now = fingerprint(embedder, splitter)
    if manifest.fingerprint != now:
        raise IndexMismatchError(
            f"the index in {str(folder)!r} was built with {manifest.fingerprint}, but is now asked with {now}; "
            f"build it again: {REBUILD}"
        )
    generation = folder / manifest.generation
    if not generation.is_dir():
        raise broken(generation, "the folder that manifest.json names is gone")
    _remove_old_generations(folder)
    with as_broken(generation):
        return PassageStore(generation / STORE)


def _open(
    folder: Path, embedder: Embedder, store: PassageStore, live: Collection[str], progress: Progress | None
) -> Index:
    generation = store.file.parent
    with as_broken(generation):
        whole = store.versions()
        kept = {BUILTIN, *live} & whole.keys()
        dense = whole_dense(generation, store, kept, progress)
    with ExitStack() as undo:
        undo.callback(dense.close)
        index = Index(generation, embedder, store, dense)
        index.verify()
        if BUILTIN not in kept:
            raise broken(generation, "it holds no built-in passages")
        if missing := frozenset(live) - kept:
            raise IndexIncompleteError(
                f"the index in {str(folder)!r} lacks {len(missing)} versions of documents, {min(missing)!r} among them; "
                f"build it again: {REBUILD}",
                missing,
            )
        for version in kept:
            index.show(version)
        undo.pop_all()
    return index


def _remove_old_generations(folder: Path) -> None:
    """Remove what a killed build left, unless a build is under way."""
    from filelock import FileLock, Timeout

    with suppress(Timeout), FileLock(folder / "build.lock", timeout=0):
        remove_generations(folder, keep=read_manifest(folder))


def _embedded_before(folder: Path, former: Manifest | None, embedder: Embedder) -> PassageStore | None:
    """The store of the former generation, if its vectors are of the same model and it can be read."""
    if former is None or former.fingerprint.embedder != embedder.fingerprint:
        return None
    if former.fingerprint.passage_format != PASSAGE_FORMAT:
        return None
    generation = folder / former.generation
    try:
        with as_broken(generation):
            store = PassageStore(generation / STORE)
            with ExitStack() as undo:
                undo.callback(store.close)
                store.check()
                undo.pop_all()
            return store
    except IndexBrokenError as error:
        log.warning("nothing is taken over from the former index: %s", error)
        return None


def _fill(
    index: Index,
    passages: Sequence[Passage],
    documents: Iterable[tuple[str, Iterable[Passage]]],
    reuse: PassageStore | None,
    progress: Progress | None,
) -> None:
    written, total = 0, len(passages)
    index.add(BUILTIN, passages, progress=progress, reuse=reuse)
    index.show(BUILTIN)
    for version, content in documents:
        written, some = total, list(content)
        total += len(some)
        index.add(version, some, progress=progress and shifted(progress, written, total), reuse=reuse)
        index.show(version)


def _check(index: Index, builtin: Sequence[Passage]) -> None:
    """The stores agree, and a few passages are found by their own words."""
    index.verify()
    for passage in builtin[:: max(1, len(builtin) // PROBES)]:
        found = index.search(f"{passage.section}\n{passage.text}", language=passage.language)
        if not any(hit.passage.topic == passage.topic or hit.keyword > 0.99 for hit in found):  # or its like
            raise IndexBrokenError(f"the index does not find passage {passage.id!r} by its own words: {REBUILD}")


def _digest(passages: Iterable[Passage]) -> str:
    """SHA-256 over built-in passages in any order."""
    digest = hashlib.sha256()
    for passage in sorted(passages, key=lambda passage: passage.id):
        digest.update(json.dumps(asdict(passage), ensure_ascii=False, sort_keys=True).encode())
    return digest.hexdigest()
