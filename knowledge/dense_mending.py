"""Chroma's part of an index, opened and compared with SQLite, or made again from the vectors there.

Decides nothing about passages: SQLite is right. It is made again where it cannot be read, where its vectors are not
those that were written, where the process was killed while writing it, and where it is mostly holes.
"""

from __future__ import annotations

import logging
import shutil
import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from knowledge.dense_store import DenseStore
from knowledge.generation import broken
from knowledge.passage_store import PassageStore

log = logging.getLogger(__name__)

SAMPLE = 50  # vectors compared between the stores at every opening
COPIED_AT_ONCE = 2000
FEW_HOLES = 20_000  # Chroma keeps what was removed as holes in its graph; more than these and than passages are many


class _DenseDamagedError(Exception):
    """Chroma is not what SQLite says; it can be made again."""


def whole_dense(
    generation: Path, store: PassageStore, kept: Collection[str], progress: Callable[[int, int], None] | None
) -> DenseStore:
    """Chroma as SQLite says it should be, both without the versions that are not kept."""
    from chromadb.errors import ChromaError

    left_over = [version for version in store.counts().keys() | store.versions().keys() if version not in kept]
    numbers = [number for version in left_over for number in store.numbers(version)]
    try:
        dense = _checked_dense(generation, store, numbers)
    except (_DenseDamagedError, ChromaError, OSError, ValueError) as error:
        log.warning("Chroma's part of the index is made again from its vectors: %s: %s", type(error).__name__, error)
        store.remove(numbers)
        dense = new_dense(generation, store, progress)
    for version in left_over:
        store.uncomplete(version)
    if numbers:
        store.note(to_wipe="yes")
    for path in generation.glob("chroma*"):
        if path.name != store.fact("dense"):
            shutil.rmtree(path)
    return dense


def _checked_dense(generation: Path, store: PassageStore, left_over: Sequence[int]) -> DenseStore:
    """Open Chroma, remove passages from both stores and compare the two."""
    if not store.dense_is_whole():
        raise _DenseDamagedError("it was being written when the process ended")
    with ExitStack() as undo:
        dense = DenseStore(generation / str(store.fact("dense")))
        undo.callback(dense.close)
        if left_over:
            with store.dense_being_written():
                dense.remove(left_over)
            store.remove(left_over)
            store.note(removed=str(int(store.fact("removed") or 0) + len(left_over)))
        holes, passages = int(store.fact("removed") or 0), len(store.numbers())
        if holes > max(FEW_HOLES, passages):
            raise _DenseDamagedError(f"{holes} vectors were removed from it, {passages} are left")
        if damage := _damage(dense, store):
            raise _DenseDamagedError(damage)
        undo.pop_all()
    return dense


def _damage(dense: DenseStore, store: PassageStore) -> str | None:
    """What is wrong with Chroma, as far as counts and a sample tell."""
    numbers = store.numbers()
    if dense.count() != len(numbers):
        return f"it holds {dense.count()} vectors, SQLite {len(numbers)}"
    if not numbers:
        return None
    sample = sorted({*numbers[:: max(1, len(numbers) // SAMPLE)], numbers[-1]})
    held, written = dense.vectors(sample), store.vectors(sample)
    if not all(n in held and np.allclose(held[n], row, atol=1e-3) for n, row in zip(sample, written, strict=True)):
        return "its vectors are not those that were written"
    return None if dense.nearest(written[0], 1) else "it finds nothing"


def new_dense(generation: Path, store: PassageStore, progress: Callable[[int, int], None] | None = None) -> DenseStore:
    """A new Chroma folder from the vectors in SQLite; valid from the last step on, in one transaction."""
    store.note(dense_is_whole="no")
    folder = generation / f"chroma-{uuid.uuid4().hex[:8]}"  # a path of its own: Chroma keeps open stores by path
    dense = DenseStore(folder, create=True)
    with ExitStack() as undo:
        undo.callback(dense.close)
        numbers = store.numbers()
        for start in range(0, len(numbers), COPIED_AT_ONCE):
            some = numbers[start : start + COPIED_AT_ONCE]
            dense.add(some, store.vectors(some))
            if progress:
                progress(start + len(some), len(numbers))
        if damage := _damage(dense, store):
            raise broken(folder, f"made again, {damage}")
        store.note(dense=folder.name, dense_is_whole="yes", removed="0")
        undo.pop_all()
    return dense
