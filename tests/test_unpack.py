"""ZIPs nobody has vetted: names made harmless and readable, bombs refused before the first file, the rest one by one."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.blocks import FileRefusedError
from ingest.unpack import LIMITS, harmless, members
from ingest.zip_checks import ZipLimits

KIB, MIB = 1 << 10, 1 << 20
SMALL = ZipLimits(largest_file_bytes=64 * KIB, total_bytes=256 * KIB, members=20, ratio=200, ratio_from_bytes=16 * KIB)


def packed(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are there twice, which is the point of one test
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, content in files:
                archive.writestr(name, content)
    return file.getvalue()


def raw_name(name: bytes, content: bytes = b"x", extra: bytes = b"", flags: int = 0) -> bytes:
    """A ZIP of one stored file whose name is these bytes, as programs that know no UTF-8 flag write it."""
    crc, size = zlib.crc32(content), len(content)
    sizes = struct.pack("<HHHIIIHH", 0, 0, 0x21, crc, size, size, len(name), len(extra))
    local = b"PK\3\4" + struct.pack("<HH", 20, flags) + sizes + name + extra + content
    central = (
        b"PK\1\2" + struct.pack("<HHH", 20, 20, flags) + sizes + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name + extra
    )
    return local + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)


def unpacked(content: bytes, limits: ZipLimits = LIMITS) -> dict[str, bytes | str]:
    """Name -> content, or the code of the refusal."""
    found = [
        (member.name, member.content if isinstance(member.content, bytes) else member.content.code)
        for member in members(content, "a.zip", limits)
    ]
    assert len(dict(found)) == len(found)
    return dict(found)


def refused(content: bytes, limits: ZipLimits = LIMITS) -> FileRefusedError:
    """The refusal of the whole archive, which comes with the call, not with the first member."""
    with pytest.raises(FileRefusedError) as caught:
        members(content, "a.zip", limits)
    return caught.value


def test_files_come_in_order_without_folders_and_junk() -> None:
    content = packed(
        ("b/", b""), ("b/2.txt", b"two"), ("a.txt", b"one"), ("__MACOSX/._a.txt", b"-"), ("b/.DS_Store", b"-"),
        ("b/~$2.docx", b"-"), ("Thumbs.db", b"-"), ("empty.txt", b""),
    )  # fmt: skip
    assert list(unpacked(content).items()) == [("b/2.txt", b"two"), ("a.txt", b"one"), ("empty.txt", b"")]


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("价格表.xlsx".encode("gbk"), "价格表.xlsx"),
        ("显卡/英伟达 A100 报价（含税）.pdf".encode("gbk"), "显卡/英伟达 A100 报价（含税）.pdf"),
        ("朱镕基.txt".encode("gbk"), "朱镕基.txt"),
        ("價格表.xlsx".encode("big5"), "價格表.xlsx"),
        ("价格表.xlsx".encode(), "价格表.xlsx"),
        ("Käse größe.txt".encode("cp437"), "Käse größe.txt"),
        ("résumé.pdf".encode("cp437"), "résumé.pdf"),
        (b"plain.txt", "plain.txt"),
        ("表\\内.txt".encode("gbk"), "表/内.txt"),
    ],
)
def test_names_without_the_utf8_flag_are_guessed(raw: bytes, shown: str) -> None:
    assert unpacked(raw_name(raw)) == {shown: b"x"}


def test_a_gbk_name_whose_second_byte_is_a_backslash_is_not_cut() -> None:
    name = next(char for char in map(chr, range(0x4E00, 0x9FA5)) if char.encode("gbk")[1:] == b"\\")
    assert unpacked(raw_name(f"价格价格{name}.txt".encode("gbk"))) == {f"价格价格{name}.txt": b"x"}


def test_the_utf8_flag_and_the_unicode_extra_field_win_over_guessing() -> None:
    assert unpacked(packed(("价格é.txt", b"x"))) == {"价格é.txt": b"x"}
    for crc, shown in ((zlib.crc32(b"?.txt"), "价格.txt"), (1, "_.txt")):
        field = b"\1" + struct.pack("<I", crc) + "价格.txt".encode()
        extra = struct.pack("<HH", 0x7075, len(field)) + field
        assert unpacked(raw_name(b"?.txt", extra=extra)) == {shown.replace("_", "?"): b"x"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/passwd.txt", "etc/passwd.txt"),
        ("/etc/passwd.txt", "etc/passwd.txt"),
        ("C:\\Windows\\a.txt", "Windows/a.txt"),
        ("C:/C:/a.txt", "a.txt"),
        ("\\\\server\\share\\a.txt", "server/share/a.txt"),
        ("a/./b/../c.txt", "a/b/c.txt"),
        ("a\u202etxt.exe", "atxt.exe"),
        ("a\nb\x1b[31m.txt", "ab[31m.txt"),
        ("..", "unnamed"),
        ("...txt", "...txt"),
    ],
)
def test_names_cannot_point_outside_nor_disguise_themselves(name: str, shown: str) -> None:
    assert harmless(name) == shown


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters() | st.sampled_from("./\\:C~\0\u202e")))
def test_any_name_becomes_a_plain_path(name: str) -> None:
    shown = harmless(name)
    parts = shown.split("/")
    assert parts
    assert not {"", ".", ".."} & set(parts)
    assert shown.isprintable() or not shown.isascii()
    assert harmless(shown) == shown or shown[1:2] == ":"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("ab (2)价/"), min_size=1), min_size=1, max_size=6))
def test_every_file_arrives_under_a_name_of_its_own(names: list[str]) -> None:
    files = [(f"x{name}b.txt", str(index).encode()) for index, name in enumerate(names)]
    assert sorted(map(str, unpacked(packed(*files)).values())) == sorted(str(content) for _, content in files)


def test_equal_names_are_kept_apart() -> None:
    content = packed(("a.txt", b"1"), ("a.txt", b"2"), ("../a.txt", b"3"), ("a (2).txt", b"4"))
    assert unpacked(content) == {"a.txt": b"1", "a (2).txt": b"2", "a (3).txt": b"3", "a (2) (2).txt": b"4"}


# ---- nested ----


def test_archives_inside_are_opened_to_depth_two() -> None:
    third = packed(("deep.txt", b"deep"))
    second = packed(("3.zip", third), ("two.txt", b"two"))
    first = packed(("2.zip", second))
    content = packed(("1.zip", first), ("zero.txt", b"zero"))
    assert unpacked(content) == {"1.zip/2.zip/3.zip": "zip-bomb", "1.zip/2.zip/two.txt": b"two", "zero.txt": b"zero"}


def test_office_files_inside_are_files_and_an_archive_under_another_name_is_one() -> None:
    office = packed(("[Content_Types].xml", b"<Types/>"), ("word/document.xml", b"<w/>"))
    content = packed(("a.docx", office), ("b.docx", packed(("in.txt", b"in"))))
    assert unpacked(content) == {"a.docx": office, "b.docx/in.txt": b"in"}


def test_a_broken_archive_inside_is_one_refusal() -> None:
    content = packed(("a.zip", packed(("x.txt", b"x" * 100))[:-30]), ("b.txt", b"b"))
    assert unpacked(content) == {"a.zip": "broken", "b.txt": b"b"}


def test_nested_archives_share_one_budget_and_later_files_still_come() -> None:
    inner = packed(("1", random_bytes(60 * KIB)), ("2", random_bytes(60 * KIB)), method=zipfile.ZIP_STORED)
    limits = ZipLimits(largest_file_bytes=130 * KIB, total_bytes=400 * KIB)
    content = packed(("a.zip", inner), ("b.zip", inner), ("c.txt", b"c"), method=zipfile.ZIP_STORED)
    found = unpacked(content, limits)
    assert {name: len(value) if isinstance(value, bytes) else value for name, value in found.items()} == {
        "a.zip/1": 60 * KIB, "a.zip/2": 60 * KIB, "b.zip": "zip-bomb", "c.txt": 1,
    }  # fmt: skip


def random_bytes(size_bytes: int) -> bytes:
    """Bytes that do not compress, the same in every run."""
    pieces, state = [], b"seed"
    for _ in range(size_bytes // 4 + 1):
        state = zlib.crc32(state).to_bytes(4, "little")
        pieces.append(state)
    return b"".join(pieces)[:size_bytes]


# ---- bombs ----


def overlapping(content: bytes) -> bytes:
    """Both directory entries of a ZIP of two files point to the first file."""
    second = content.index(b"PK\1\2", content.index(b"PK\1\2") + 4)
    return content[: second + 42] + bytes(4) + content[second + 46 :]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: packed(("a.txt", bytes(65 * KIB))), id="a file that grows a thousandfold"),
        pytest.param(lambda: packed(*((f"{n}.txt", random_bytes(60 * KIB)) for n in range(5))), id="too much in total"),
        pytest.param(lambda: packed(*((f"{n}.txt", b"") for n in range(21))), id="too many files"),
        pytest.param(lambda: overlapping(packed(("a.txt", random_bytes(999)), ("b.txt", b""))), id="overlapping files"),
    ],
)
def test_bombs_are_refused_whole_before_the_first_file(make: Callable[[], bytes]) -> None:
    assert refused(make(), SMALL).code == "zip-bomb"


def test_the_limits_themselves_are_within_the_limits() -> None:
    content = packed(*((f"{n}.txt", random_bytes(64 * KIB)) for n in range(4)), *((f"{n}", b"") for n in range(16)))
    assert len(unpacked(content, SMALL)) == 20
    assert unpacked(packed(("a.txt", bytes(16 * KIB))), SMALL) == {"a.txt": bytes(16 * KIB)}


def test_more_directory_entries_than_memory_are_not_even_read() -> None:
    entry = b"PK\1\2" + bytes(42)
    content = b"PK\3\4" + entry * (20 * SMALL.members + 1) + b"PK\5\6" + bytes(18)
    assert refused(content, SMALL).code == "zip-bomb"


def with_declared_size(content: bytes, size_bytes: int) -> bytes:
    """The same ZIP of one file, whose headers lie about its unpacked size."""
    central = content.index(b"PK\1\2")
    size = struct.pack("<I", size_bytes)
    return content[:22] + size + content[26 : central + 24] + size + content[central + 28 :]


@pytest.mark.parametrize("declared_bytes", [1, 100, 50 * KIB])
def test_headers_that_lie_yield_no_more_than_they_declare(declared_bytes: int) -> None:
    content = with_declared_size(packed(("a.txt", b"a" * 10 * KIB + random_bytes(KIB))), declared_bytes)
    assert unpacked(content, SMALL) == {"a.txt": "broken"}


def test_a_hundred_megabytes_declared_as_one_byte_are_not_unpacked() -> None:
    content = with_declared_size(packed(("a.txt", bytes(100 * MIB))), 1)
    assert unpacked(content, SMALL) == {"a.txt": "broken"}


# ---- single files ----


def test_files_are_refused_one_by_one() -> None:
    good, large = ("good.txt", b"good"), ("large.txt", random_bytes(65 * KIB))
    content = packed(large, good, ("bad.txt", b"bad" * 99))
    damaged = bytearray(content)
    damaged[content.rindex(b"bad.txt", 0, content.index(b"PK\1\2")) + 8] ^= 0xFF
    assert unpacked(bytes(damaged), SMALL) == {"large.txt": "too-large", "good.txt": b"good", "bad.txt": "broken"}


def test_files_with_a_password_links_and_rare_methods_are_told() -> None:
    assert unpacked(raw_name(b"a.txt", flags=1)) == {"a.txt": "encrypted"}
    assert unpacked(packed(("a.txt", b"x" * 99), method=zipfile.ZIP_BZIP2)) == {"a.txt": "wrong-type"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        link = zipfile.ZipInfo("link.txt")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    assert unpacked(file.getvalue()) == {"link.txt": "wrong-type"}


@pytest.mark.parametrize("name", [b"\0.txt", b"", b"\0\0"])
def test_a_name_that_is_cut_to_nothing_is_still_a_file(name: bytes) -> None:
    assert list(unpacked(raw_name(name)).values()) in ([b"x"], [])


def test_folders_as_some_windows_programs_write_them_are_no_files() -> None:
    folder = raw_name("目录\\".encode("gbk"), b"")
    assert refused(folder).code == "empty"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (packed(("a.txt", b"x" * 500))[:-10], "broken"),
        (b"PK\3\4 no archive", "broken"),
        (b"", "broken"),
        (packed(), "empty"),
        (packed(("folder/", b"")), "empty"),
    ],
)
def test_archives_that_are_none(content: bytes, code: str) -> None:
    assert refused(content).code == code


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255), st.integers(0, 10_000))
def test_a_flipped_byte_or_a_cut_costs_refusals_only(place: int, value: int, cut: int) -> None:
    content = bytearray(packed(("a.txt", b"one " * 20), ("b/价.txt", b"two"), ("c.zip", packed(("d.txt", b"three")))))
    content[place % len(content)] = value
    try:
        found = unpacked(bytes(content[: len(content) - (cut if cut < 40 else 0)]), SMALL)
    except FileRefusedError:
        return
    assert set(map(type, found.values())) <= {bytes, str}
