"""Opens a ZIP nobody has vetted and reads its members in bounded pieces; nothing is ever written to disk.

It does not interpret names or contents (unpack.py, file_kinds.py). Only stored and deflated members are read: the
other methods cannot be unpacked piece by piece. Raises FileRefusedError: `broken` for a damaged archive or member,
`zip-bomb` for one that unpacks to too much, `encrypted`, `too-large` and `wrong-type` for single members.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from itertools import pairwise

from ingest.blocks import FileRefusedError

MIB = 1 << 20
_CHUNK_BYTES = MIB
_LOCAL_HEADER_BYTES = 30
_CENTRAL_SIGNATURE = b"PK\x01\x02"
_ENCRYPTED_FLAG = 0x1
_LINK_TYPE = 0o120000
# What the standard library raises, besides its own error, for headers that make no sense.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, IndexError, RuntimeError,
)  # fmt: skip
_READ_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class ZipLimits:
    """What an archive may hold; `ratio` (unpacked to packed) counts only from `ratio_from_bytes` unpacked on."""

    largest_file_bytes: int = 200 * MIB
    total_bytes: int = 1024 * MIB
    members: int = 5_000
    ratio: int = 200
    ratio_from_bytes: int = 10 * MIB
    depth: int = 2


LIMITS = ZipLimits()


def opened(content: bytes, limits: ZipLimits = LIMITS) -> zipfile.ZipFile:
    """The archive with its directory checked. Raises FileRefusedError `broken` or `zip-bomb`."""
    # Each directory entry costs about a kilobyte once read, so their number is bounded before; an archive stored
    # inside this one may carry signatures of its own.
    if content.count(_CENTRAL_SIGNATURE) > 20 * limits.members:
        raise _too_many(content.count(_CENTRAL_SIGNATURE), limits)
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _DAMAGE as error:
        raise FileRefusedError(
            "broken",
            f"ZIP 结构损坏，打不开（{error}）。多半是下载或拷贝不完整，请重新获取后再试。",
            f"The ZIP structure is damaged ({error}). The download or copy is probably incomplete: fetch it again.",
        ) from error
    _check_directory(archive.infolist(), limits)
    return archive


def total_bytes(archive: zipfile.ZipFile) -> int:
    """Bytes of all members unpacked, as the directory declares them; `read_member` never reads more than that."""
    return sum(info.file_size for info in archive.infolist())


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limits: ZipLimits = LIMITS) -> bytes:
    """One member's bytes. Raises FileRefusedError `encrypted`, `too-large`, `wrong-type`, `zip-bomb` or `broken`."""
    _check_member(info, limits)
    pieces, size_bytes = [], 0
    try:
        with archive.open(info) as stream:
            while piece := stream.read(_CHUNK_BYTES):
                size_bytes += len(piece)
                if size_bytes > limits.largest_file_bytes:
                    raise _too_large(size_bytes, limits)
                pieces.append(piece)
    except _DAMAGE as error:
        raise FileRefusedError(
            "broken",
            f"压缩包里的这个文件已损坏（{error}），请重新打包。",
            f"This file is damaged inside the archive ({error}); pack it again.",
        ) from error
    if size_bytes != info.file_size:
        raise FileRefusedError(
            "broken",
            f"压缩包目录写的是 {info.file_size} 字节，实际只有 {size_bytes} 字节，请重新打包。",
            f"The archive's directory says {info.file_size} bytes, but there are {size_bytes}; pack it again.",
        )
    return b"".join(pieces)


def _check_directory(infos: list[zipfile.ZipInfo], limits: ZipLimits) -> None:
    if len(infos) > limits.members:
        raise _too_many(len(infos), limits)
    total = sum(info.file_size for info in infos)
    if total > limits.total_bytes:
        raise FileRefusedError(
            "zip-bomb",
            f"解压后共 {_mib(total)} MiB，超过上限 {_mib(limits.total_bytes)} MiB。请拆成几个较小的压缩包。",
            f"It unpacks to {_mib(total)} MiB, over the limit of {_mib(limits.total_bytes)} MiB. Split it.",
        )
    for info in infos:
        if info.file_size > limits.ratio_from_bytes and info.file_size > limits.ratio * max(info.compress_size, 1):
            raise FileRefusedError(
                "zip-bomb",
                f"其中一个文件从 {info.compress_size} 字节解压到 {info.file_size} 字节，像是压缩炸弹。请直接导入解压后的文件。",
                f"One file grows from {info.compress_size} to {info.file_size} bytes, as in a ZIP bomb. "
                "Import the unpacked files instead.",
            )
    _check_overlap(infos)


def _check_overlap(infos: list[zipfile.ZipInfo]) -> None:
    """Entries that share their packed bytes unpack to far more than the archive's size lets one expect."""
    spans = sorted(
        (info.header_offset, info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size) for info in infos
    )
    for (_, end), (start, _) in pairwise(spans):
        if start < end:
            raise FileRefusedError(
                "zip-bomb",
                f"压缩包里的文件互相重叠（位置 {start}），像是压缩炸弹。请重新打包。",
                f"Files inside the archive overlap (at byte {start}), as in a ZIP bomb. Pack it again.",
            )


def _check_member(info: zipfile.ZipInfo, limits: ZipLimits) -> None:
    if info.flag_bits & _ENCRYPTED_FLAG:
        raise FileRefusedError(
            "encrypted",
            "压缩包里的这个文件设了密码。请解密后再导入。",
            "This file is protected by a password inside the archive. Unpack it yourself and import the result.",
        )
    if info.file_size > limits.largest_file_bytes:
        raise _too_large(info.file_size, limits)
    if (info.external_attr >> 16) & 0o170000 == _LINK_TYPE:
        raise FileRefusedError(
            "wrong-type",
            "这是一个符号链接，不是文件。请把它指向的文件放进压缩包。",
            "This is a symbolic link, not a file. Put the file that it points to into the archive.",
        )
    if info.compress_type not in _READ_METHODS:
        raise FileRefusedError(
            "wrong-type",
            f"压缩方法（编号 {info.compress_type}）不支持。请用普通 ZIP（Deflate）重新打包。",
            f"It is compressed by method {info.compress_type}, which is not read. Pack it as an ordinary ZIP (Deflate).",
        )


def _too_many(members: int, limits: ZipLimits) -> FileRefusedError:
    return FileRefusedError(
        "zip-bomb",
        f"压缩包里有 {members} 个文件，超过上限 {limits.members} 个。请拆成几个较小的压缩包。",
        f"The archive holds {members} files, over the limit of {limits.members}. Split it.",
    )


def _too_large(size_bytes: int, limits: ZipLimits) -> FileRefusedError:
    return FileRefusedError(
        "too-large",
        f"文件有 {_mib(size_bytes)} MiB，超过上限 {_mib(limits.largest_file_bytes)} MiB。请拆分后再导入。",
        f"The file has {_mib(size_bytes)} MiB, over the limit of {_mib(limits.largest_file_bytes)} MiB. Split it.",
    )


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:,.1f}"
