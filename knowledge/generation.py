"""The files of an index: generation folders, the manifest that says which one is valid, and the errors.

Each build makes its own generation beside the old one and `manifest.json`, written last, names the
valid one. Replacing the manifest is the swap, so a build killed at any time leaves the old index or
the new one; then the old generation is removed. A generation goes on changing afterwards, as documents come
and go: what keeps that safe stands in knowledge/index.py. Does not know what is in a generation.

    KnowledgeIndexError
    |- IndexMissingError     nothing built yet
    |- IndexMismatchError    built by another model, tokenizer, passage format or splitter
    |  '- IndexOutdatedError   only the built-in passages have changed since
    |- IndexIncompleteError  versions of documents that should be there are not
    '- IndexBrokenError      files damaged, or Chroma or SQLite failed
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

REBUILD = "gpu-advisor knowledge rebuild"


class KnowledgeIndexError(Exception):
    """The index cannot be used; the message says why and which command mends it."""


class IndexMissingError(KnowledgeIndexError):
    """No index has been built in this folder."""


class IndexMismatchError(KnowledgeIndexError):
    """The index was built by something else than what now asks it; its scores would be meaningless."""


class IndexOutdatedError(IndexMismatchError):
    """The built-in passages have changed since; what the index holds of documents is as good as before."""


class IndexIncompleteError(KnowledgeIndexError):
    """Versions of documents that should be there are not, or not whole; `versions` names them."""

    def __init__(self, message: str, versions: frozenset[str]) -> None:
        super().__init__(message)
        self.versions = versions


class IndexBrokenError(KnowledgeIndexError):
    """Files of the index are damaged, or Chroma or SQLite failed."""


@dataclass(frozen=True)
class Fingerprint:
    """What an index was built by; two equal ones mean that its scores and passages can be trusted."""

    embedder: str
    tokenizer: str
    passage_format: str
    splitter: str


@dataclass(frozen=True)
class Manifest:
    """The content of manifest.json: which generation folder is valid, and what made it."""

    generation: str
    fingerprint: Fingerprint


def new_generation(folder: Path) -> Path:
    """An empty folder for a build. Its path is never used again: Chroma keeps open stores by path within a process."""
    generation = folder / f"generation-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    generation.mkdir()
    return generation


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of the valid generation, None if nothing was built. Raises IndexBrokenError if it is damaged."""
    file = folder / "manifest.json"
    if not file.exists():
        return None
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
        made = read["fingerprint"]
        # Manifests of passage format 1 name no splitter; they are whole, but of another format.
        made_by = Fingerprint(made["embedder"], made["tokenizer"], made["passage_format"], made.get("splitter", "none"))
        return Manifest(read["generation"], made_by)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise broken(folder, f"manifest.json cannot be read ({error})") from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make a finished generation the valid one, in one rename."""
    new = folder / f"manifest.{os.getpid()}.new"
    with new.open("w", encoding="utf-8") as file:
        json.dump(asdict(manifest), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    new.replace(folder / "manifest.json")


def remove_generations(folder: Path, keep: Manifest | None) -> None:
    """Remove all generations but the valid one: those before it and what killed builds left. Under the build lock only."""
    for path in folder.glob("generation-*"):
        if keep is None or path.name != keep.generation:
            shutil.rmtree(path)


def broken(where: Path, what: str) -> IndexBrokenError:
    """The error for a damaged index, with the command that mends it."""
    return IndexBrokenError(f"the index in {str(where)!r} is broken: {what}; build it again: {REBUILD}")


@contextmanager
def as_broken(where: Path) -> Iterator[None]:
    """Errors of Chroma, SQLite and the file system as IndexBrokenError."""
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, sqlite3.Error, OSError) as error:
        raise broken(where, f"{type(error).__name__}: {error}") from error
