"""What a file is, whatever it is called: content before name, and every refusal with its way out in both languages."""

from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import REASONS, FileRefusedError
from ingest.file_kinds import READABLE, Kind, is_junk, kind_of

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"
OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def packed(**files: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def office(main: str, *more: str, encoding: str = "utf-8") -> bytes:
    types = f'<?xml version="1.0"?><Types><Override PartName="/x" ContentType="{main}"/></Types>'
    return packed(**{"[Content_Types].xml": types.encode(encoding), **dict.fromkeys(more, b"x")})


def old(*streams: str) -> bytes:
    return OLE2 + bytes(504) + b"".join(stream.encode("utf-16-le").ljust(128, b"\0") for stream in streams)


def refused(name: str, content: bytes) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as caught:
        kind_of(name, content)
    assert caught.value.code in REASONS
    assert any("\u4e00" <= char <= "\u9fff" for char in caught.value.zh)
    assert caught.value.en.isprintable()
    return caught.value


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.pdf", b"%PDF-1.7\n", "pdf"),
        ("a.txt", b"%PDF-1.7\n", "pdf"),
        ("a.pdf", b"HTTP header\r\n\r\n%PDF-1.4\n", "pdf"),
        ("a.md", b"# Files\n\nA PDF begins with %PDF-1.7.\n", "markdown"),
        ("a.docx", office(WORD), "docx"),
        ("a.zip", office(SHEET), "xlsx"),
        ("a.docx", office(SLIDES), "pptx"),
        ("a", office(WORD, encoding="utf-16"), "docx"),
        ("a.xltx", office(SHEET.replace("sheet.main", "template.main")), "xlsx"),
        ("a.zip", packed(**{"stored.pdf": b"%PDF-1.7"}), "zip"),
        ("a.xlsx", packed(**{"a.csv": b"1"}), "zip"),
        ("a.html", b"<p>words</p>", "html"),
        ("a.HTM", b"words", "html"),
        ("a.xls", b"<html><table>", "html"),
        ("a.txt", b"\xef\xbb\xbf\r\n<!DOCTYPE HTML>\n<html>", "html"),
        ("a", b"<!-- saved -->\n<html>", "html"),
        ("a.txt", "<html><body>".encode("utf-16"), "html"),
        ("a.xhtml", b'<?xml version="1.0"?>\n<!DOCTYPE html><html>', "html"),
        ("a", b"<!---->" * 9000 + b"words", "text"),
        ("a", b"<!--" * 9000, "text"),
        ("a", b"<!--" + b" licence" * 2000 + b"--><html>", "html"),
        ("README.md", b"<p align=center>\n# x", "markdown"),
        ("a.markdown", b"x", "markdown"),
        ("a.csv", b"a,b\n", "csv"),
        ("a.TSV", b"a\tb\n", "csv"),
        ("a.xls", b"a\tb\n1\t2\n", "csv"),
        ("a.csv", "显卡,价格\n".encode("gbk"), "csv"),
        ("a.json", b'{"a": 1}', "text"),
        ("a.xml", b"<?xml version='1.0'?><a/>", "text"),
        ("a.py", b"import os\n", "text"),
        ("a.unknown", "顯卡".encode("big5"), "text"),
        ("README", b"words", "text"),
        ("说明.txt", "显卡价格".encode("gb18030"), "text"),
        ("a.txt", "words and more words".encode("utf-16-le"), "text"),
        ("a.txt", "words".encode("utf-32"), "text"),
        ("a.txt", b"MZ is how programs begin", "text"),
        ("a.txt", b"BZh is how archives begin", "text"),
        ("a.txt", b"page one\fpage two\x1b[0m\0", "text"),
        ("C:\\my.docs\\plain", b"words", "text"),
    ],
)
def test_content_comes_before_the_name(name: str, content: bytes, kind: Kind) -> None:
    assert kind_of(name, content) == kind


@pytest.mark.parametrize(
    ("name", "content", "code", "word"),
    [
        ("a.txt", b"", "empty", "empty"),
        ("a.docx", b"", "empty", "empty"),
        ("a.txt", b"\xef\xbb\xbf \r\n\t", "empty", "empty"),
        ("a.txt", " \n".encode("utf-16"), "empty", "empty"),
        ("a.bin", bytes(1000), "empty", "empty"),
        ("a.zip", b"PK\5\6" + bytes(18), "empty", "archive"),
        ("a.doc", old("Root Entry", "WordDocument"), "wrong-type", ".docx"),
        ("a.xls", old("Root Entry", "Workbook"), "wrong-type", ".xlsx"),
        ("a.ppt", old("Root Entry", "PowerPoint Document"), "wrong-type", ".pptx"),
        ("a.msg", old("__properties_version1.0"), "wrong-type", "Outlook"),
        ("a.db", old(), "wrong-type", "OLE2"),
        ("a.docx", old("Root Entry", "EncryptionInfo", "EncryptedPackage"), "encrypted", "password"),
        ("a.docm", office("application/vnd.ms-word.document.macroEnabled.main+xml"), "macro", "macros"),
        ("a.docx", office(WORD, "word/vbaProject.bin"), "macro", "macros"),
        ("a.xlsx", office(SHEET, "xl/macrosheets/sheet1.xml"), "macro", "macros"),
        ("a.xlsb", office("application/vnd.ms-excel.sheet.binary.main"), "wrong-type", ".xlsb"),
        ("a.ppsx", office(SLIDES.replace("presentation.main", "slideshow.main")), "wrong-type", ".ppsx"),
        ("a.docx", office("something/else"), "wrong-type", "Office"),
        ("a.odt", packed(mimetype=b"application/vnd.oasis.opendocument.text"), "wrong-type", ".odt"),
        ("a.epub", packed(mimetype=b"application/epub+zip"), "wrong-type", "EPUB"),
        ("a.pages", packed(**{"Index/Document.iwa": b"x"}), "wrong-type", "iWork"),
        ("a.docx", office(WORD)[:-30], "broken", "again"),
        ("a.zip", b"PK\3\4 nothing", "broken", "again"),
        ("a.pdf", b"<!doctype html><title>Log in</title>", "broken", "error page"),
        ("a.xlsx", b"version https://git-lfs", "broken", "no XLSX"),
        ("a.docx", b"\x8f\x01\x02\x03\x04\x05\x06", "broken", "no DOCX"),
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "wrong-type", "PNG"),
        ("a.pdf", b"\xff\xd8\xff\xe0\0\x10JFIF", "wrong-type", "JPEG"),
        ("a.svg", b"<?xml version='1.0'?>\n<svg xmlns='x'>", "wrong-type", "SVG"),
        ("a.mp4", b"\0\0\0\x18ftypmp42\0\0\0\0", "wrong-type", "MP4"),
        ("a.exe", b"MZ\x90\0\3\0\0\0\4\0\0\0", "wrong-type", "Windows program"),
        ("a", b"\x7fELF\2\1\1\0", "wrong-type", "Linux program"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c\0\4", "wrong-type", "7z"),
        ("a.rar", b"Rar!\x1a\x07\x01\0", "wrong-type", "RAR"),
        ("a.csv.gz", b"\x1f\x8b\x08\0\0\0\0\0", "wrong-type", "gzip"),
        ("a.tar", b"a.txt".ljust(257, b"\0") + b"ustar\0", "wrong-type", "tar"),
        ("a.parquet", b"PAR1\x15\0\x15\0", "wrong-type", "prices import"),
        ("a.rtf", b"{\\rtf1\\ansi words}", "wrong-type", "RTF"),
        ("a.xls", b'<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>', "wrong-type", "2003"),
        ("a.mht", b"MIME-Version: 1.0\r\n", "wrong-type", "MHTML"),
        ("a.txt", bytes(range(1, 9)) * 20, "wrong-type", "binary"),
        ("a.txt", b"\0\1a\2b\0" * 20, "wrong-type", "binary"),
    ],
)  # fmt: skip
def test_what_no_reader_takes_is_refused_by_its_real_name(name: str, content: bytes, code: str, word: str) -> None:
    error = refused(name, content)
    assert error.code == code
    assert word in error.en


def test_a_bomb_in_an_office_shell_is_refused_before_any_reader_sees_it() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", WORD)
        archive.writestr("word/document.xml", bytes(11 << 20))
    assert refused("a.docx", file.getvalue()).code == "zip-bomb"


@pytest.mark.parametrize(
    ("path", "junk"),
    [
        (".DS_Store", True), ("docs/.DS_Store", True), ("__MACOSX/a.txt", True), ("__MACOSX/docs/._a.txt", True),
        ("Thumbs.db", True), ("a\\THUMBS.DB", True), ("desktop.ini", True), ("~$报价.docx", True), (".~lock.a.odt#", True),
        (".git/config", True), (".hidden.txt", True), ("docs/.cache/a.txt", True), ("$RECYCLE.BIN/a.txt", True),
        ("a.txt", False), ("./a.txt", False), ("../a.txt", False), ("~notes.txt", False), ("$a.txt", False), ("", False),
        ("__MACOSX.txt", False), ("a.b/c.txt", False), ("thumbs.db.txt", False),
    ],
)  # fmt: skip
def test_leavings_of_systems_are_junk_and_nothing_else_is(path: str, junk: bool) -> None:
    assert is_junk(path) is junk


def test_a_walk_takes_every_kind_and_what_must_be_told() -> None:
    assert {".md", ".txt", ".html", ".pdf", ".docx", ".xlsx", ".pptx", ".csv", ".tsv", ".zip"} <= READABLE
    assert {".doc", ".xls", ".ppt", ".xlsm", ".odt"} <= READABLE
    assert not {".png", ".exe", ".pyc", ""} & READABLE
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in READABLE)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([b"", b"PK\3\4", b"%PDF-", OLE2, b"<html", b"\xff\xfe", b"<?xml", b"<!--" * 50]),
    st.binary(max_size=200),
    st.sampled_from(["a", "a.csv", "a.docx", "a.html", "..", ""]),
)
def test_any_bytes_have_a_kind_or_a_refusal(start: bytes, rest: bytes, name: str) -> None:
    try:
        assert kind_of(name, start + rest)
    except FileRefusedError:
        return
