"""Which reader a file goes to, by its first bytes before its name; what no reader takes is refused with the way out.

A PDF called .txt is a PDF, an HTML page called .xls (as many web shops export) is HTML, tab-separated text called
.xls is CSV. Text of any sort (JSON, XML, YAML, source code, no extension at all) is plain text. It does not read the
file: an encrypted PDF or a broken sheet is found by its reader. Raises FileRefusedError: `empty`, `wrong-type`,
`encrypted`, `macro`, `broken`, `zip-bomb`.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import PurePosixPath
from typing import Literal

from ingest.blocks import FileRefusedError
from ingest.encodings import decode
from ingest.zip_checks import MIB, ZipLimits, opened, read_member

Kind = Literal["markdown", "text", "html", "pdf", "docx", "xlsx", "pptx", "csv", "zip"]

_BY_SUFFIX: dict[str, Kind] = {
    ".md": "markdown", ".markdown": "markdown",
    ".html": "html", ".htm": "html", ".xhtml": "html",
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".xls": "csv",
}  # fmt: skip

# What a walk through a folder takes, the refused ones among them so that they are told; a file named by the user is
# taken by its content alone.
READABLE = frozenset({
    ".md", ".markdown", ".txt", ".text", ".log", ".rst", ".html", ".htm", ".xhtml", ".pdf", ".docx", ".xlsx", ".pptx",
    ".csv", ".tsv", ".tab", ".zip", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".ini", ".tex", ".org",
    ".doc", ".xls", ".ppt", ".docm", ".xlsm", ".pptm", ".xlsb", ".rtf", ".odt", ".ods", ".odp", ".wps", ".et", ".dps",
})  # fmt: skip

_JUNK_NAMES = frozenset({"thumbs.db", "desktop.ini", "ehthumbs.db", "icon\r", "$recycle.bin"})
_JUNK_FOLDERS = frozenset({"__macosx", "$recycle.bin", "system volume information", "__pycache__"})

# (offset, first bytes, Chinese, English): formats nobody can read as text.
_FOREIGN: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "PNG 图片", "a PNG image"), (0, b"\xff\xd8\xff", "JPEG 图片", "a JPEG image"),
    (0, b"GIF87a", "GIF 图片", "a GIF image"), (0, b"GIF89a", "GIF 图片", "a GIF image"),
    (0, b"II*\x00", "TIFF 图片", "a TIFF image"), (0, b"MM\x00*", "TIFF 图片", "a TIFF image"),
    (8, b"WEBP", "WebP 图片", "a WebP image"), (8, b"WAVE", "WAV 音频", "WAV audio"), (8, b"AVI ", "AVI 视频", "an AVI video"),
    (0, b"\x00\x00\x01\x00", "ICO 图标", "an icon"), (0, b"8BPS", "Photoshop 图片", "a Photoshop image"),
    (4, b"ftyp", "MP4/HEIC 影音或图片", "an MP4 or HEIC video, sound or image"),
    (0, b"ID3", "MP3 音频", "MP3 audio"), (0, b"\xff\xfb", "MP3 音频", "MP3 audio"), (0, b"OggS", "Ogg 影音", "Ogg audio or video"),
    (0, b"fLaC", "FLAC 音频", "FLAC audio"), (0, b"\x1aE\xdf\xa3", "Matroska/WebM 视频", "a Matroska or WebM video"),
    (0, b"MZ", "Windows 程序", "a Windows program"), (0, b"\x7fELF", "Linux 程序", "a Linux program"),
    (0, b"\xcf\xfa\xed\xfe", "macOS 程序", "a macOS program"), (0, b"\xca\xfe\xba\xbe", "macOS 程序或 Java 类", "a macOS program or Java class"),
    (0, b"SQLite format 3\x00", "SQLite 数据库", "an SQLite database"), (0, b"wOFF", "字体", "a font"), (0, b"wOF2", "字体", "a font"),
)  # fmt: skip
_PACKED: tuple[tuple[int, bytes, str], ...] = (
    (0, b"7z\xbc\xaf\x27\x1c", "7z"), (0, b"Rar!\x1a\x07", "RAR"), (0, b"\x1f\x8b", "gzip"), (0, b"BZh", "bzip2"),
    (0, b"\xfd7zXZ\x00", "xz"), (0, b"\x28\xb5\x2f\xfd", "Zstandard"), (257, b"ustar", "tar"), (0, b"MSCF", "CAB"),
)  # fmt: skip

_OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04", b"PK00PK\x03\x04")
_UTF_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_BLANK = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n\f\v"
_NO_TEXT_SUFFIXES = {".pdf": "PDF", ".docx": "DOCX", ".xlsx": "XLSX", ".pptx": "PPTX", ".zip": "ZIP"}
# Comments are taken whole (?>): thousands of them must not be tried in every combination.
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_SVG_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)(?:<!doctype\s+svg[^>]*>\s*)?<svg\b", re.I | re.S
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SNIFF_BYTES = 64 * 1024


def kind_of(name: str, content: bytes) -> Kind:
    """The kind whose reader takes the file. Raises FileRefusedError for everything that no reader takes."""
    if not content[:_SNIFF_BYTES].strip(_BLANK) and not content.strip(_BLANK):
        raise FileRefusedError("empty", "文件是空的，没有任何内容。", "The file is empty: it holds no text at all.")
    if content.startswith(_ZIP_STARTS):
        return _kind_of_zip(content)
    if content.startswith(_OLE2):
        raise _refused_ole2(content)
    if _is_pdf(name, content):
        return "pdf"
    _refuse_foreign(content)
    return _kind_of_text(name, content)


def is_junk(path: str) -> bool:
    """Whether a file in a folder or archive is the leavings of a system or program: nobody misses it.

    Hidden files and folders, `__MACOSX`, `Thumbs.db`, `desktop.ini`, lock files of Office (`~$a.docx`, `.~a.docx`)."""
    *folders, last = [part for part in path.replace("\\", "/").lower().split("/") if part not in ("", ".", "..")] or [
        ""
    ]
    if last.startswith((".", "~$")) or last in _JUNK_NAMES:
        return True
    return any(folder.startswith(".") or folder in _JUNK_FOLDERS for folder in folders)


# ---- ZIP and Office ----

_OFFICE_MAIN: tuple[tuple[bytes, Kind], ...] = (
    (b"wordprocessingml.document.main+xml", "docx"), (b"wordprocessingml.template.main+xml", "docx"),
    (b"spreadsheetml.sheet.main+xml", "xlsx"), (b"spreadsheetml.template.main+xml", "xlsx"),
    (b"presentationml.presentation.main+xml", "pptx"),
)  # fmt: skip
_OTHER_MAIN: tuple[tuple[bytes, str, str], ...] = (
    (b"presentationml.slideshow.main+xml", "PowerPoint 放映文件（.ppsx）", "a PowerPoint show (.ppsx)"),
    (b"presentationml.template.main+xml", "PowerPoint 模板（.potx）", "a PowerPoint template (.potx)"),
    (b"ms-excel.sheet.binary", "二进制工作簿（.xlsb）", "a binary workbook (.xlsb)"),
    (b"visio", "Visio 绘图", "a Visio drawing"), (b"fixedrepresentation", "XPS 文档", "an XPS document"),
)  # fmt: skip
_MIMETYPES: tuple[tuple[bytes, str, str], ...] = (
    (b"opendocument.text", "OpenDocument 文档（.odt）", "an OpenDocument text (.odt)"),
    (b"opendocument.spreadsheet", "OpenDocument 表格（.ods）", "an OpenDocument spreadsheet (.ods)"),
    (b"opendocument.presentation", "OpenDocument 演示文稿（.odp）", "an OpenDocument presentation (.odp)"),
    (b"epub", "EPUB 电子书", "an EPUB book"),
)  # fmt: skip


def is_office(archive: zipfile.ZipFile) -> bool:
    """Whether the ZIP is the shell of one document (Office, OpenDocument, EPUB, iWork), not a collection of files."""
    names = set(archive.namelist())
    return bool(names & {"[Content_Types].xml", "mimetype", "Index/Document.iwa"})


def _kind_of_zip(content: bytes) -> Kind:
    archive = opened(content)
    if not archive.infolist():
        raise FileRefusedError("empty", "压缩包是空的，里面没有文件。", "The archive is empty: it holds no file.")
    if not is_office(archive):
        return "zip"
    names = archive.namelist()
    if "[Content_Types].xml" in names:
        return _kind_of_office(names, _start_of(archive, "[Content_Types].xml"))
    mimetype = _start_of(archive, "mimetype") if "mimetype" in names else b""
    for mark, zh, en in _MIMETYPES:
        if mark in mimetype:
            raise _wrong_office(zh, en)
    raise _wrong_office("iWork 或其他文档", "an iWork or other document")


def _kind_of_office(names: list[str], content_types: bytes) -> Kind:
    lowered = [name.lower() for name in names]
    if b"macroenabled" in content_types.lower() or any(
        name.endswith("vbaproject.bin") or name.startswith("xl/macrosheets/") for name in lowered
    ):
        raise FileRefusedError(
            "macro",
            "文件含有宏。请在 Office 里另存为不含宏的 .docx、.xlsx 或 .pptx 再导入。",
            "The file holds macros. Save it in Office as .docx, .xlsx or .pptx without macros.",
        )
    for mark, kind in _OFFICE_MAIN:
        if mark in content_types:
            return kind
    for mark, zh, en in _OTHER_MAIN:
        if mark in content_types.lower():
            raise _wrong_office(zh, en)
    raise _wrong_office(
        "没有 Word、Excel 或 PowerPoint 正文的 Office 文件", "an Office file without a Word, Excel or PowerPoint part"
    )


def _start_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """A small member without the zero bytes of UTF-16, in which some writers store it."""
    return read_member(archive, archive.getinfo(name), ZipLimits(largest_file_bytes=8 * MIB)).replace(b"\0", b"")


def _wrong_office(zh: str, en: str) -> FileRefusedError:
    return FileRefusedError(
        "wrong-type",
        f"这是{zh}，不支持。请另存为 .docx、.xlsx、.pptx 或 PDF 再导入。",
        f"This is {en}, which is not read. Save it as .docx, .xlsx, .pptx or PDF.",
    )


def _refused_ole2(content: bytes) -> FileRefusedError:
    """The streams' names stand in UTF-16 in the directory; which of them are there tells what the file is."""
    if "EncryptedPackage".encode("utf-16-le") in content:
        return FileRefusedError(
            "encrypted",
            "文件设了打开密码。请在 Office 里去掉密码后再导入。",
            "The file is protected by a password. Remove the password in Office and import it again.",
        )
    for stream, zh, en in (
        ("WordDocument", "旧版 Word 文档（.doc）", "an old Word document (.doc)"),
        ("Workbook", "旧版 Excel 工作簿（.xls）", "an old Excel workbook (.xls)"),
        ("PowerPoint Document", "旧版 PowerPoint（.ppt）", "an old PowerPoint file (.ppt)"),
        ("__properties_version1.0", "Outlook 邮件（.msg）", "an Outlook message (.msg)"),
    ):
        if stream.encode("utf-16-le") in content:
            return _wrong_office(zh, en)
    return _wrong_office("旧版 Office（OLE2）文件", "an old Office (OLE2) file")


# ---- everything else ----


def _is_pdf(name: str, content: bytes) -> bool:
    """Readers allow a kilobyte before the mark; a text that merely tells of PDF files has it there too."""
    start = content[:1024]
    if start.lstrip(_BLANK).startswith(b"%PDF-"):
        return True
    return b"%PDF-" in start and (name.lower().endswith(".pdf") or _looks_binary(content))


def _refuse_foreign(content: bytes) -> None:
    if content.startswith(b"PAR1"):
        raise FileRefusedError(
            "wrong-type",
            "这是 Parquet 数据文件。价格数据请用 gpu-advisor prices import 导入，其他数据请另存为 CSV。",
            "This is a Parquet file. Import prices with `gpu-advisor prices import`; save other data as CSV.",
        )
    binary = _looks_binary(content)
    for offset, mark, word in _PACKED:
        if content.startswith(mark, offset) and (binary or not mark.isalnum()):
            raise FileRefusedError(
                "wrong-type",
                f"这是 {word} 压缩文件，不支持。请解压后导入，或改打包成 ZIP。",
                f"This is a {word} archive, which is not read. Unpack it, or pack the files as ZIP.",
            )
    if content.startswith(b"{\\rtf"):
        raise _wrong_office("RTF 文档", "an RTF document")
    for offset, mark, zh, en in _FOREIGN:
        # Marks of plain letters may begin a text as well.
        if content.startswith(mark, offset) and (binary or not mark.isalnum()):
            raise _no_text(zh, en)


def _kind_of_text(name: str, content: bytes) -> Kind:
    suffix = PurePosixPath(name.replace("\\", "/").lower()).suffix
    start = content[:_SNIFF_BYTES]
    # In UTF-16 and UTF-32 the letters of tags stand between zero bytes.
    start = start.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")
    if suffix in _NO_TEXT_SUFFIXES:
        word = _NO_TEXT_SUFFIXES[suffix]
        raise FileRefusedError(
            "broken",
            f"文件名是 {suffix}，内容却不是 {word}，可能是下载到了错误页面或文件已损坏。请打开确认后重新获取。",
            f"The name ends in {suffix}, but the content is no {word}: a saved error page, or damaged. Open it and fetch it again.",
        )
    if _looks_binary(content):
        raise _no_text("无法识别的二进制文件", "a binary file of an unknown kind")
    if _HTML_START.match(start):
        return "html"
    if _SVG_START.match(start):
        raise _no_text("SVG 图片", "an SVG image")
    if b'progid="Excel.Sheet"' in start or b'progid="Word.Document"' in start:
        raise _wrong_office("Office 2003 的 XML 文件", "an XML file of Office 2003")
    if start.startswith(b"MIME-Version:") or suffix in (".mht", ".mhtml"):
        raise FileRefusedError(
            "wrong-type",
            "这是网页归档（MHTML）或邮件，不支持。请用浏览器打开，另存为 HTML 或 PDF。",
            "This is a web archive (MHTML) or mail, which is not read. Open it and save it as HTML or PDF.",
        )
    return _BY_SUFFIX.get(suffix, "text")


def _looks_binary(content: bytes) -> bool:
    """Control characters that no text has; UTF-16 and UTF-32 are text."""
    if content.startswith(_UTF_BOMS):
        return False
    start = content[:_SNIFF_BYTES]
    # A stray one or two (a NUL after a title) leave it a text: its reader decides.
    if len(_CONTROL.findall(start)) <= max(2, len(start) // 200):
        return False
    try:
        return not (b"\0" in start and decode(start)[1].startswith("utf-16"))
    except FileRefusedError:
        return True


def _no_text(zh: str, en: str) -> FileRefusedError:
    return FileRefusedError(
        "wrong-type",
        f"这是{zh}，里面没有可读的文字。能读的有：PDF、DOCX、XLSX、PPTX、HTML、Markdown、TXT、CSV 和 ZIP。",
        f"This is {en}, with no text to read. Readable are PDF, DOCX, XLSX, PPTX, HTML, Markdown, TXT, CSV and ZIP.",
    )
