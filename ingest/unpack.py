"""The files inside a ZIP, one after the other, in memory; nothing is ever written to disk.

Archives inside are opened to `ZipLimits.depth`; Office files inside are files. Which member can be read is not decided
here (file_kinds.py). An archive as a whole is refused with FileRefusedError `broken`, `empty` or `zip-bomb` before
the first member is handed out; what is wrong with one member is handed out in its place. What systems leave behind
(`__MACOSX/`, `.DS_Store`) is passed over.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ingest.blocks import FileRefusedError
from ingest.file_kinds import is_junk, is_office
from ingest.zip_checks import LIMITS as LIMITS
from ingest.zip_checks import ZipLimits, opened, read_member, total_bytes

_UTF8_FLAG = 0x800
_UNICODE_PATH_EXTRA = 0x7075


@dataclass(frozen=True)
class Member:
    """A file of the archive, or why it cannot be handed out.

    `name` is its path inside, harmless and unique ("inner.zip/a.pdf" in a nested archive)."""

    name: str
    content: bytes | FileRefusedError


class _Budget:
    """What nested archives may still add; every archive pays for its whole directory before its first member."""

    def __init__(self, limits: ZipLimits) -> None:
        self.limits = limits

    def pay(self, archive: zipfile.ZipFile) -> None:
        left_bytes = self.limits.total_bytes - total_bytes(archive)
        left_members = self.limits.members - len(archive.infolist())
        self.limits = replace(self.limits, total_bytes=left_bytes, members=left_members)


def members(content: bytes, name: str, limits: ZipLimits = LIMITS) -> Iterator[Member]:
    """The files of the archive called `name`, in its order, without directories and junk.

    The whole archive is checked on the call, before the first member. Raises FileRefusedError.
    """
    archive = opened(content, limits)
    if all(_is_folder(info) for info in archive.infolist()):
        raise FileRefusedError(
            "empty", f"压缩包“{name}”里没有文件。", f"The archive “{name}” is empty: it holds no file."
        )
    budget = _Budget(limits)
    budget.pay(archive)
    return _walk(archive, "", 0, budget, _Names())


def _walk(archive: zipfile.ZipFile, folder: str, depth: int, budget: _Budget, names: _Names) -> Iterator[Member]:
    for info in archive.infolist():
        if _is_folder(info):
            continue
        name = names.unused(folder + harmless(decoded_name(info)))
        if is_junk(name):
            continue
        try:
            content = read_member(archive, info, budget.limits)
            inner = _inner_archive(content, depth, budget)
        except FileRefusedError as reason:
            yield Member(name, reason)
            continue
        if inner is None:
            yield Member(name, content)
        else:
            yield from _walk(inner, f"{name}/", depth + 1, budget, names)


def _is_folder(info: zipfile.ZipInfo) -> bool:
    return not info.file_size and decoded_name(info).endswith(("/", "\\"))


def _inner_archive(content: bytes, depth: int, budget: _Budget) -> zipfile.ZipFile | None:
    """The archive that a member is, paid for; None for any other file. Raises FileRefusedError."""
    if not content.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None
    archive = opened(content, budget.limits)
    if is_office(archive):
        return None
    if depth >= budget.limits.depth:
        raise FileRefusedError(
            "zip-bomb",
            f"压缩包嵌套超过 {budget.limits.depth} 层。请先自行解压再导入。",
            f"Archives are nested more than {budget.limits.depth} deep. Unpack it yourself and import the result.",
        )
    budget.pay(archive)
    return archive


# ---- names ----


class _Names:
    """Keeps equal names apart: a.txt, a (2).txt, a (3).txt."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def unused(self, name: str) -> str:
        path, count, candidate = PurePosixPath(name), self._counts.get(name, 0), name
        while candidate in self._counts:
            count += 1
            candidate = str(path.with_name(f"{path.stem} ({count + 1}){path.suffix}"))
        self._counts[name] = max(count, self._counts.get(name, 0))
        self._counts.setdefault(candidate, 0)
        return candidate


def harmless(name: str) -> str:
    """A name fit to be shown: no drive, no root, no "..", no control or direction characters, "/" between folders."""
    plain = "".join(char for char in name.replace("\\", "/") if unicodedata.category(char) not in ("Cc", "Cf", "Cs"))
    parts = [part.strip() for part in re.sub(r"^(/*[A-Za-z]:)+", "", plain).split("/")]
    return "/".join(part for part in parts if part not in ("", ".", "..")) or "unnamed"


def decoded_name(info: zipfile.ZipInfo) -> str:
    """The member's name. Without the UTF-8 flag it is UTF-8 if it can be, then Chinese (GBK, Big5), then cp437."""
    if info.flag_bits & _UTF8_FLAG:
        return info.orig_filename
    raw = info.orig_filename.encode("cp437")
    return _unicode_path(info.extra, raw) or _guessed(raw)


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    """The name that Info-ZIP and WinRAR add in UTF-8, valid only while its checksum fits the plain name."""
    while len(extra) >= 4:
        tag, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if tag == _UNICODE_PATH_EXTRA and field[:1] == b"\1" and field[1:5] == zlib.crc32(raw).to_bytes(4, "little"):
            return field[5:].decode("utf-8", errors="replace")
    return None


def _guessed(raw: bytes) -> str:
    for encoding, level in (("utf-8", ""), ("gb2312", ""), ("gbk", "gb2312"), ("big5", "big5")):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not level or _share_of_common(text, level) > 0.5:
            return text
    return raw.decode("cp437")


def _share_of_common(text: str, encoding: str) -> float:
    """The share of Chinese characters in everyday use: accented Western letters read as GBK give rare ones."""
    # First bytes of the everyday characters: level 1 and 2 of GB 2312, level 1 of Big5.
    first, last = (0xB0, 0xF7) if encoding == "gb2312" else (0xA4, 0xC6)
    wide = [char for char in text if not char.isascii()]
    common = [char for char in wide if first <= char.encode(encoding, errors="replace")[0] <= last]
    return len(common) / len(wide) if wide else 1.0
