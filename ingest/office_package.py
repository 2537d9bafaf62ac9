"""What XLSX and PPTX share before any library reads them: the right kind of zip package, and the refusal of a damaged one.

Not here: what the parts say (read_xlsx.py, read_pptx.py). Which format the bytes are is decided by file_kinds.py.
"""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass

from ingest.blocks import FileRefusedError
from ingest.file_kinds import Kind, kind_of

# What a damaged or made-up package makes zipfile, lxml, openpyxl and python-pptx raise.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, SyntaxError, KeyError, ValueError, TypeError, IndexError,
    AttributeError, NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True)
class OfficeFormat:
    """One format: its kind, and the programs that save it in Chinese and in English."""

    kind: Kind
    programs_zh: str
    programs: str


XLSX = OfficeFormat("xlsx", "Excel、WPS 表格或 LibreOffice Calc", "Excel, WPS or LibreOffice Calc")
PPTX = OfficeFormat("pptx", "PowerPoint、WPS 演示或 LibreOffice Impress", "PowerPoint, WPS or LibreOffice Impress")


def check_kind(content: bytes, name: str, expected: OfficeFormat) -> None:
    """Raises FileRefusedError for everything that is not a readable package of this format (see file_kinds.kind_of)."""
    found = kind_of(name, content)
    if found != expected.kind:
        raise FileRefusedError(
            "wrong-type",
            f"这不是 .{expected.kind} 文件，而是 {found}：{name}。请用 {expected.programs_zh} 打开，另存为 .{expected.kind}。",
            f"This is no .{expected.kind} file but {found}: {name}. Open it in {expected.programs} and save it as "
            f".{expected.kind}.",
        )


def broken(name: str, expected: OfficeFormat, cause: Exception) -> FileRefusedError:
    """The refusal of a package that its library cannot read to the end."""
    what = str(cause).splitlines()[0] if str(cause) else type(cause).__name__
    return FileRefusedError(
        "broken",
        f"文件已损坏，不是完整的 .{expected.kind}：{name}（{what}）。请用 {expected.programs_zh} 打开后重新保存，或重新下载。",
        f"The file is damaged, no whole .{expected.kind}: {name} ({what}). Open it in {expected.programs} and save it "
        "again, or download it anew.",
    )
