"""Files on their way in: paths and uploads, folders walked and archives opened, each file with its own fate.

Reads files and writes none. What a file says is found out elsewhere (sandbox.py); here it is only bytes with a name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ingest.blocks import FileRefusedError, Note
from ingest.file_kinds import READABLE, is_junk, kind_of
from ingest.unpack import LIMITS, members

LARGEST_BYTES = LIMITS.largest_file_bytes


@dataclass(frozen=True)
class Incoming:
    """A file to take in. `origin` is where it comes from and stays the same when it changes; `name` is for readers."""

    origin: str
    name: str
    content: bytes


@dataclass(frozen=True)
class Refused:
    """A file that cannot be taken, why, and the way out; `code` is one of blocks.REASONS."""

    name: str
    code: str
    reason: Note


@dataclass(frozen=True)
class Skipped:
    """Files of a folder that no reader exists for or that no one wants (hidden ones, lock files)."""

    folder: str
    count: int
    examples: tuple[str, ...]


def from_paths(paths: Iterable[Path]) -> Iterator[Incoming | Refused | Skipped]:
    """Files and everything readable below folders, in order of name; archives are opened by `expanded`."""
    for path in paths:
        path = path.expanduser().absolute()
        if path.is_dir():
            yield from _walk(path)
        else:
            yield _read(path)


def expanded(file: Incoming) -> Iterator[Incoming | Refused]:
    """The file itself, or what an archive holds, each member with a name and an origin of its own."""
    try:
        if kind_of(file.name, file.content) != "zip":
            yield file
            return
        for member in members(file.content, file.name):
            shown = f"{file.name} › {readable_name(member.name)}"
            if isinstance(member.content, bytes):
                yield Incoming(f"{file.origin}!{readable_name(member.name)}", shown, member.content)
            else:
                yield refused(shown, member.content)
    except FileRefusedError as error:
        yield refused(file.name, error)


def readable_name(name: str) -> str:
    """A file name as one line of real characters: a name of another encoding is read as GBK, line breaks become spaces."""
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that are no UTF-8, as old Chinese systems wrote them
        name = os.fsencode(name).decode("gb18030", errors="replace")
    return "".join(character if character.isprintable() else " " for character in name)


def refused(name: str, error: FileRefusedError) -> Refused:
    """The fate of a file that a reader refused."""
    return Refused(name, error.code, Note(error.zh, error.en))


def _walk(folder: Path) -> Iterator[Incoming | Refused | Skipped]:
    left: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        shown = readable_name(str(path.relative_to(folder)))
        if _leads_out(path, folder) or is_junk(shown) or path.suffix.lower() not in READABLE:
            left.append(shown)
        else:
            yield _read(path)
    if left:
        yield Skipped(str(folder), len(left), tuple(left[:5]))


def _leads_out(path: Path, folder: Path) -> bool:
    """A link to a file elsewhere, which whoever filled the folder may not have been meant to read."""
    try:
        return path.is_symlink() and not path.resolve().is_relative_to(folder.resolve())
    except RuntimeError:  # links that lead in a circle
        return True


def _read(path: Path) -> Incoming | Refused:
    try:
        size_bytes = path.stat().st_size
        if size_bytes > LARGEST_BYTES:
            return Refused(readable_name(path.name), "too-large", _too_large(size_bytes))
        if not path.is_file():
            return Refused(readable_name(path.name), "wrong-type", Note("不是普通文件", "not a regular file"))
        return Incoming(readable_name(str(path)), readable_name(path.name), path.read_bytes())
    except FileNotFoundError:
        return Refused(
            readable_name(path.name), "not-found", Note(f"没有这个文件：{path}", f"there is no such file: {path}")
        )
    except OSError as error:
        return Refused(
            readable_name(path.name), "not-found", Note(f"读不了 {path}：{error}", f"cannot be read: {path}: {error}")
        )


def _too_large(size_bytes: int) -> Note:
    mib, most = size_bytes / 2**20, LARGEST_BYTES // 2**20
    return Note(
        f"{mib:,.0f} MiB，上限 {most} MiB，请拆成几个文件", f"{mib:,.0f} MiB, the limit is {most} MiB: split the file"
    )
