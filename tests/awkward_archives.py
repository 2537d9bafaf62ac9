"""Awkward ZIP archives, and files that are refused as a whole."""

from __future__ import annotations

import gzip
import io
import random
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable

from awkward_files import Awkward, packed, rewritten
from awkward_pdfs import PDF_FILES
from awkward_sheets import XLSX
from awkward_word import DOCX

ENGLISH = b"GPU,Price\nA100,1.80\n"
CHINESE = "型号,价格\nA100,28.64\n".encode()
RANDOM = random.Random(7)
DOCUMENT, WORKBOOK = DOCX[0], XLSX[0]


def _with_raw_name(placeholder: str, name: bytes, content: bytes) -> bytes:
    """An archive in which the name stands as these bytes, as Chinese Windows writes it: without the UTF-8 flag."""
    assert len(placeholder) == len(name)
    return packed((placeholder, content)).replace(placeholder.encode(), name)


def _with_flag(content: bytes, member: str, flag: int) -> bytes:
    """The archive with this flag set for one member, in its own header and in the directory."""
    changed = bytearray(content)
    for signature, flag_at, name_at in ((b"PK\x03\x04", 6, 30), (b"PK\x01\x02", 8, 46)):
        start = next(at for at in _found(content, signature) if content.startswith(member.encode(), at + name_at))
        (flags,) = struct.unpack_from("<H", content, start + flag_at)
        struct.pack_into("<H", changed, start + flag_at, flags | flag)
    return bytes(changed)


def _found(content: bytes, signature: bytes) -> list[int]:
    return [at for at in range(len(content)) if content.startswith(signature, at)]


def _one_broken() -> bytes:
    content = packed(
        ("good.csv", ENGLISH), ("bad.csv", b"GPU,Price\nH100,2.49\n"), ("last.csv", CHINESE), method=zipfile.ZIP_STORED
    )
    return content.replace(b"H100,2.49", b"H100,9.99")


def _odd_members() -> bytes:
    target = io.BytesIO()
    link = zipfile.ZipInfo("link.csv")
    link.external_attr = 0o120777 << 16
    with warnings.catch_warnings(), zipfile.ZipFile(target, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # of the name that is there twice
        archive.writestr("AABBCC.csv", CHINESE)
        archive.writestr("a.csv", ENGLISH)
        archive.writestr("a.csv", CHINESE)
        archive.writestr(link, b"/etc/passwd")
        archive.writestr("b.csv", ENGLISH * 99, compress_type=zipfile.ZIP_LZMA)
    return target.getvalue().replace(b"AABBCC.csv", "价格".encode() + b".csv")


ARCHIVES = [
    Awkward(
        "ZIP: names in GBK without a flag",
        "gbk.zip",
        lambda: _with_raw_name("AABBCC.csv", "三月价".encode("gbk") + b".csv", CHINESE),
        members=("三月价.csv",),
        rows=("› 三月价.csv, 第 2 行 | 型号 = A100; 价格 = 28.64",),
    ),
    Awkward(
        "ZIP: an archive in it, folders, a document",
        "资料.zip",
        lambda: packed(
            ("华东/", b""),
            ("华东/价格.csv", CHINESE),
            ("inner.zip", packed(("a/prices.csv", ENGLISH))),
            ("合并.docx", DOCUMENT.data),
        ),
        members=("华东/价格.csv", "inner.zip/a/prices.csv", "合并.docx"),
        rows=(
            "› 华东/价格.csv, 第 2 行 | 型号 = A100; 价格 = 28.64",
            "› inner.zip/a/prices.csv, line 2 | GPU = A100; Price = 1.80",
            *(f"› 合并.docx, {row}" for row in DOCUMENT.rows),
        ),
    ),
    Awkward(
        "ZIP: names that point outside",
        "evil.zip",
        lambda: packed(("../../etc/cron.csv", ENGLISH), ("/srv/a.csv", ENGLISH), ("C:\\Windows\\b.csv", ENGLISH)),
        members=("etc/cron.csv", "srv/a.csv", "Windows/b.csv"),
        rows=tuple(f"› {name}, line 2 | GPU = A100; Price = 1.80" for name in ("etc/cron.csv", "srv/a.csv", "Windows/b.csv")),
    ),
    Awkward(
        "ZIP: one member with a password",
        "locked.zip",
        lambda: _with_flag(packed(("secret.csv", ENGLISH), ("open.csv", ENGLISH)), "secret.csv", 1),
        members=("secret.csv: encrypted", "open.csv"),
        rows=("› open.csv, line 2 | GPU = A100; Price = 1.80",),
    ),
    Awkward("ZIP: a bomb", "bomb.zip", lambda: packed(("a.csv", ENGLISH), ("b.txt", bytes(12 << 20))), refused="zip-bomb"),
    Awkward(
        "ZIP: leavings of macOS, Windows and Office",
        "mac.zip",
        lambda: packed(
            ("a.csv", ENGLISH), ("__MACOSX/._a.csv", b"\0\5\x16\7"), (".DS_Store", b"\0\0\0\1Bud1"), ("Thumbs.db", b"\xd0\xcf"),
            ("~$合并.docx", b"\5user"),
        ),
        members=("a.csv",),
        rows=("› a.csv, line 2 | GPU = A100; Price = 1.80",),
    ),
    Awkward(
        "ZIP: one member damaged, the others read",
        "damaged.zip",
        _one_broken,
        members=("good.csv", "bad.csv: broken", "last.csv"),
        rows=("› good.csv, line 2 | GPU = A100; Price = 1.80", "› last.csv, 第 2 行 | 型号 = A100; 价格 = 28.64"),
    ),
    Awkward(
        "ZIP: members that no reader takes beside one that is read",
        "mixed.zip",
        lambda: packed(("logo.png", b"\x89PNG\r\n\x1a\n\0\0"), ("empty.txt", b""), ("a.csv", ENGLISH), ("run.exe", b"MZ\x90\0\3\0\0\0\4\0\0\0")),
        members=("logo.png: wrong-type", "empty.txt: empty", "a.csv", "run.exe: wrong-type"),
        rows=("› a.csv, line 2 | GPU = A100; Price = 1.80",),
    ),
    Awkward(
        "ZIP: archives nested deeper than anyone packs them",
        "deep.zip",
        lambda: packed(("1.zip", packed(("2.zip", packed(("3.zip", packed(("a.csv", ENGLISH)))))))),
        members=("1.zip/2.zip/3.zip: zip-bomb",),
    ),
    Awkward(
        "ZIP: UTF-8 names without a flag, two members of one name, a link, a rare method",
        "odd.zip",
        _odd_members,
        members=("价格.csv", "a.csv", "a (2).csv", "link.csv: wrong-type", "b.csv: wrong-type"),
        rows=(
            "› 价格.csv, 第 2 行 | 型号 = A100; 价格 = 28.64",
            "› a.csv, line 2 | GPU = A100; Price = 1.80",
            "› a (2).csv, 第 2 行 | 型号 = A100; 价格 = 28.64",
        ),
    ),
    Awkward("ZIP: a Word file called .zip is a document", "word.zip", lambda: DOCUMENT.data, rows=DOCUMENT.rows),
    Awkward("ZIP: nothing in it", "nothing.zip", lambda: packed(), refused="empty"),
    Awkward("ZIP: cut off", "cut.zip", lambda: packed(("a.csv", ENGLISH * 50))[:-30], refused="broken"),
]  # fmt: skip


def _ole(*streams: str) -> bytes:
    """The header of an OLE2 file and a directory of these streams."""
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6)
    entries = b"".join(
        name.encode("utf-16-le").ljust(64, b"\0") + struct.pack("<HBB", 2 * len(name) + 2, 2, 1) + bytes(60)
        for name in ("Root Entry", *streams)
    )
    return header.ljust(512, b"\0") + entries.ljust(1024, b"\0")


def _with_macro(package: bytes, extension: str) -> bytes:
    mark = {"docm": b"ms-word.document.macroEnabled.main", "xlsm": b"ms-excel.sheet.macroEnabled.main"}[extension]

    def change(name: str, part: bytes) -> bytes:
        if name != "[Content_Types].xml":
            return part
        for plain in (
            b"openxmlformats-officedocument.wordprocessingml.document.main",
            b"openxmlformats-officedocument.spreadsheetml.sheet.main",
        ):
            part = part.replace(plain, mark)
        return part

    folder = {"docm": "word", "xlsm": "xl"}[extension]
    return rewritten(package, change, (f"{folder}/vbaProject.bin", _ole("VBA")))


def _without_part(package: bytes, lost: str) -> bytes:
    return rewritten(package, lambda name, part: part[: len(part) // 2] if name == lost else part)


def _lacking(package: bytes, lost: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        return packed(*((name, archive.read(name)) for name in archive.namelist() if name != lost))


def _with_entity(package: bytes) -> bytes:
    """Entities that refer to each other grow to gigabytes where a reader follows them."""
    declared = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'

    def change(name: str, part: bytes) -> bytes:
        if name != "word/document.xml":
            return part
        return part.replace(b"?>", b"?>" + declared, 1).replace(b"A100", b"&b;")

    return rewritten(package, change)


def _tar() -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        member = tarfile.TarInfo("a.csv")
        member.size = len(ENGLISH)
        archive.addfile(member, io.BytesIO(ENGLISH))
    return target.getvalue()


def _parquet() -> bytes:
    import pyarrow
    import pyarrow.parquet

    target = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(pyarrow.table({"gpu": ["A100"], "price": [1.8]}), target)
    return bytes(target.getvalue())


_REFUSED: list[tuple[str, str, bytes | Callable[[], bytes], str]] = [
    ("no bytes", "empty.txt", b"", "empty"),
    ("no bytes in a PDF", "empty.pdf", b"", "empty"),
    ("whitespace only", "blank.md", b" \n\t\r\n" * 300, "empty"),
    ("a UTF-16 mark and whitespace", "blank16.txt", "\ufeff \r\n".encode("utf-16-le"), "empty"),
    ("ideographic spaces only", "全角空格.txt", "\u3000\u3000\n\u3000\n".encode(), "empty"),
    ("old Word", "旧.doc", lambda: _ole("WordDocument"), "wrong-type"),
    ("old Excel", "old.xls", lambda: _ole("Workbook"), "wrong-type"),
    ("old Excel called .xlsx", "old.xlsx", lambda: _ole("Workbook"), "wrong-type"),
    ("encrypted OOXML", "机密.xlsx", lambda: _ole("EncryptionInfo", "EncryptedPackage"), "encrypted"),
    ("docm with a macro", "macro.docm", lambda: _with_macro(DOCUMENT.data, "docm"), "macro"),
    ("xlsm with a macro, called .xlsx", "macro.xlsx", lambda: _with_macro(WORKBOOK.data, "xlsm"), "macro"),
    ("PNG called .pdf", "photo.pdf", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(40), "wrong-type"),
    ("error page called .pdf", "download.pdf", b"<!DOCTYPE html><html><body>404 Not Found</body></html>", "broken"),
    ("text called .docx", "notes.docx", b"Prices exclude tax.", "broken"),
    ("DOCX cut off in the middle", "cut.docx", lambda: DOCUMENT.data[: len(DOCUMENT.data) // 2], "broken"),
    ("DOCX with its text cut off", "half.docx", lambda: _without_part(DOCUMENT.data, "word/document.xml"), "broken"),
    ("XLSX with its sheet cut off", "half.xlsx", lambda: _without_part(WORKBOOK.data, "xl/worksheets/sheet1.xml"), "broken"),
    ("PDF with its tail cut off", "cut2.pdf", lambda: PDF_FILES[2].data[:-200], "broken"),
    ("random bytes", "random.bin", RANDOM.randbytes(4096), "wrong-type"),
    ("random bytes called .txt", "random.txt", RANDOM.randbytes(4096), "wrong-type"),
    ("random bytes called .csv", "random.csv", RANDOM.randbytes(4096), "wrong-type"),
    ("Windows program", "setup.exe", b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff" + bytes(200), "wrong-type"),
    ("Windows program called .md", "readme.md", b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff" + bytes(200), "wrong-type"),
    ("Parquet", "prices.parquet", _parquet, "wrong-type"),
    ("7z", "prices.7z", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(60), "wrong-type"),
    ("RTF", "letter.rtf", rb"{\rtf1\ansi Prices exclude tax.}", "wrong-type"),
    ("Korean in EUC-KR", "korean.txt", "클라우드 서버의 가격은 시간당 이 달러입니다. 세금은 포함되지 않습니다.".encode("euc-kr"), "encoding"),
    ("Japanese in Shift-JIS", "japanese.txt", "クラウドの価格は一時間あたり二ドルです。".encode("shift-jis"), "encoding"),
    ("UTF-8 with bytes that are none", "damaged.txt", "云主机报价：每小时 28.64 元。".encode() + b"\xff\xfe and more", "encoding"),
    ("gzip", "a.csv.gz", lambda: gzip.compress(ENGLISH), "wrong-type"),
    ("tar", "a.tar", _tar, "wrong-type"),
    ("SVG", "chart.svg", b'<svg xmlns="http://www.w3.org/2000/svg"><text>A100</text></svg>', "wrong-type"),
    ("web archive", "page.mht", b"MIME-Version: 1.0\r\nContent-Type: multipart/related\r\n\r\nx", "wrong-type"),
    ("JPEG called .md", "photo.md", b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(90), "wrong-type"),
    ("SQLite", "prices.db", b"SQLite format 3\0" + bytes(90), "wrong-type"),
    ("XML of Word 2003", "old.xml", b'<?xml version="1.0"?><?mso-application progid="Word.Document"?><w/>', "wrong-type"),
    ("PDF whose pages are gone", "no-pages.pdf", b"%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF", "broken"),
    ("XLSX without its workbook part", "no-book.xlsx", lambda: _lacking(WORKBOOK.data, "xl/workbook.xml"), "broken"),
    ("DOCX without its text", "no-text.docx", lambda: _lacking(DOCUMENT.data, "word/document.xml"), "broken"),
    ("DOCX that declares an entity", "entity.docx", lambda: _with_entity(DOCUMENT.data), "broken"),
    ("Markdown of front matter only", "front.md", b"---\ntitle: x\n---\n", "empty"),
    ("OpenDocument", "sheet.ods", lambda: packed(("mimetype", b"application/vnd.oasis.opendocument.spreadsheet")), "wrong-type"),
    ("text in no known encoding", "koi8.txt", "Цены указаны без налога и доставки".encode("koi8-r"), "encoding"),
]  # fmt: skip
REFUSALS = [Awkward(f"refusal: {kind}", name, content, refused=code) for kind, name, content, code in _REFUSED]
