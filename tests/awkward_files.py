"""What an awkward file is and what must come of it. The files themselves are in awkward_*.py, one module a family.

A row is written "place | text": the locator without the file's name, and the passage. Everything is compared whole, so
that a lost, doubled or shifted cell shows.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Awkward:
    """One kind of awkward file.

    `rows` are all row passages and `texts` all others but whole tables, in order. `refused` is the code of the refusal.
    `members` are the names of the files that come out of an archive, "name: code" for a refused one. `notes` are words
    that the English notes hold.
    """

    kind: str
    name: str
    content: bytes | Callable[[], bytes]
    rows: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    refused: str = ""
    members: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def data(self) -> bytes:
        return self.content() if callable(self.content) else self.content


def utf8(text: str) -> bytes:
    """The text without the line break that it begins with in the source."""
    return text.lstrip("\n").encode()


def packed(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP of these files."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return target.getvalue()


def rewritten(package: bytes, change: Callable[[str, bytes], bytes], *more: tuple[str, bytes]) -> bytes:
    """An Office package with each of its parts put through `change`, and more parts."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        parts = [(info.filename, change(info.filename, archive.read(info))) for info in archive.infolist()]
    return packed(*parts, *more)
