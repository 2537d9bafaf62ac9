"""Uploads: hostile names and paths, files that vanish, one bad file among good ones, and what is left afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

import ingest.knowledge_base as module
from assistant import uploads
from assistant.uploads import LONGEST_NAME, MOST_FILES, FileProgress, Upload, remove_upload, safe_name, take_in
from ingest.knowledge_base import KnowledgeBase, open_knowledge
from knowledge.passage import Passage

BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md", None, "text")
]
PRICES = "云厂商,GPU,价格（元/小时）\n甲云,A100,31.5\n乙云,H800,58.8\n".encode()
GUIDE = "# 机房守则\n\n## 进门\n\n刷卡后先登记，再换鞋套。\n".encode()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)
    with open_knowledge(tmp_path / "home", HashEmbedder()) as base:
        yield base


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "landed").mkdir()
    return tmp_path / "landed"


def landed(folder: Path, name: str, content: bytes, claimed: str | None = None) -> Upload:
    """A file as the server puts it: in a folder of its own below the one of uploads."""
    own = folder / f"{len(list(folder.iterdir()))}"
    own.mkdir()
    (own / name).write_bytes(content)
    return Upload(str(own / name), claimed or name)


def fates(lines: tuple[FileProgress, ...]) -> list[tuple[str, str]]:
    return [(each.name, each.status) for line in lines for each in line.fates]


def left(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


@pytest.mark.parametrize(
    ("claimed", "name"),
    [
        ("报价.xlsx", "报价.xlsx"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("C:\\prices\\x.csv", "x.csv"),
        ("/etc/shadow", "shadow"),
        ("a\nb\r\nc.md", "a b c.md"),
        ("x\x00.csv", "x .csv"),
        ("invoice\u202excod.exe", "invoice xcod.exe"),
        ("\u2066name\u2069.md", "name .md"),
        ("", "unnamed"),
        ("...", "unnamed"),
        ("/", "unnamed"),
        ("   ", "unnamed"),
        (".csv", "csv"),
        ("e\u0301.md", "\u00e9.md"),
        ("<img src=x onerror=alert(1)>.md", "<img src=x onerror=alert(1)>.md"),
        ("\udcff.md", "\ufffd.md"),
    ],
)
def test_of_a_claimed_name_only_the_last_part_counts_on_one_line(claimed: str, name: str) -> None:
    assert safe_name(claimed) == name


def test_a_long_name_is_cut_and_keeps_its_suffix() -> None:
    name = safe_name("长" * 300 + ".xlsx")
    assert len(name) == LONGEST_NAME
    assert name.endswith("….xlsx")
    assert len(safe_name("a." + "b" * 400)) <= LONGEST_NAME


def test_a_good_file_goes_in_although_another_is_bad(base: KnowledgeBase, folder: Path) -> None:
    files = [
        landed(folder, "a.md", GUIDE),
        landed(folder, "x.pdf", b"%PDF-1.7 broken"),
        landed(folder, "p.csv", PRICES),
    ]
    *_, last = take_in(base, files, folder, "en")
    assert fates(last) == [("a.md", "accepted"), ("x.pdf", "refused"), ("p.csv", "accepted")]
    assert [each.name for each in base.documents()] == ["a.md", "p.csv"]
    assert last[2].fates[0].text == "3 passages, 2 table rows"
    assert not left(folder)


def test_progress_of_every_file_is_told_in_order_and_ends_with_all_done(base: KnowledgeBase, folder: Path) -> None:
    files = [landed(folder, "a.md", GUIDE), landed(folder, "p.csv", PRICES)]
    told = list(take_in(base, files, folder, "zh"))
    assert [line.step for line in told[0]] == ["waiting", "waiting"]
    assert [line.step for line in told[-1]] == ["done", "done"]
    assert any(line.step == "writing" and line.total for lines in told for line in lines)


@pytest.mark.parametrize(("language", "words"), [("zh", "同名"), ("en", "same name")])
def test_of_two_files_of_one_name_in_an_upload_the_second_is_refused(
    base: KnowledgeBase, folder: Path, language: str, words: str
) -> None:
    files = [landed(folder, "p.csv", PRICES), landed(folder, "p.csv", b"GPU,price\nL4,1.5\n", "../p.csv")]
    *_, last = take_in(base, files, folder, language)  # type: ignore[arg-type]
    assert fates(last) == [("p.csv", "accepted"), ("p.csv", "refused")]
    assert words in last[1].fates[0].text
    assert not left(folder)


def test_the_same_name_in_another_upload_replaces_the_former_version(base: KnowledgeBase, folder: Path) -> None:
    list(take_in(base, [landed(folder, "p.csv", PRICES)], folder, "en"))
    *_, last = take_in(base, [landed(folder, "p.csv", PRICES.replace(b"58.8", b"61.2"))], folder, "en")
    assert fates(last) == [("p.csv", "replaced")]
    *_, last = take_in(base, [landed(folder, "p.csv", PRICES.replace(b"58.8", b"61.2"))], folder, "en")
    assert fates(last) == [("p.csv", "unchanged")]


@pytest.mark.parametrize(("language", "words"), [("zh", "消失"), ("en", "gone before it was read")])
def test_a_file_that_vanished_before_reading_says_so_and_names_no_path(
    base: KnowledgeBase, folder: Path, language: str, words: str
) -> None:
    upload = landed(folder, "a.md", GUIDE)
    Path(upload.path).unlink()
    *_, last = take_in(base, [upload], folder, language)  # type: ignore[arg-type]
    assert fates(last) == [("a.md", "refused")]
    assert words in last[0].fates[0].text
    assert str(folder) not in last[0].fates[0].text


def _outside(tmp_path: Path) -> Path:
    secret = tmp_path / "secret.md"
    secret.write_bytes(GUIDE)
    return secret


@pytest.mark.parametrize("form", ["absolute", "dots", "link", "link in between", "the folder", "directory", "fifo", "empty", "null"])  # fmt: skip
def test_a_path_that_is_no_plain_file_among_the_uploads_is_neither_read_nor_removed(
    base: KnowledgeBase, folder: Path, tmp_path: Path, form: str
) -> None:
    secret = _outside(tmp_path)
    (folder / "sub").mkdir()
    (folder / "sub" / "link.md").symlink_to(secret)
    (folder / "way").symlink_to(tmp_path)
    os.mkfifo(folder / "sub" / "pipe.md")
    path = {
        "absolute": str(secret),
        "dots": f"{folder}/sub/../../secret.md",
        "link": str(folder / "sub" / "link.md"),
        "link in between": str(folder / "way" / "secret.md"),
        "the folder": str(folder),
        "directory": str(folder / "sub"),
        "fifo": str(folder / "sub" / "pipe.md"),
        "empty": "",
        "null": f"{folder}/a\0b",
    }[form]
    *_, last = take_in(base, [Upload(path, "x.md")], folder, "en")
    assert fates(last) == [("x.md", "refused")]
    assert not base.documents()
    assert secret.read_bytes() == GUIDE
    assert (folder / "sub" / "link.md").is_symlink()


def test_removing_an_upload_leaves_what_lies_elsewhere_or_beside_it(folder: Path, tmp_path: Path) -> None:
    secret = _outside(tmp_path)
    remove_upload(str(secret), folder)
    assert secret.exists()
    upload = landed(folder, "a.md", GUIDE)
    beside = Path(upload.path).with_name("b.md")
    beside.write_bytes(GUIDE)
    remove_upload(upload.path, folder)
    assert beside.exists()
    assert not Path(upload.path).exists()


def test_files_beyond_the_limit_of_one_upload_are_named_and_not_read(base: KnowledgeBase, folder: Path) -> None:
    files = [landed(folder, f"{number}.txt", f"note {number}".encode()) for number in range(MOST_FILES + 1)]
    *_, last = take_in(base, files, folder, "en")
    assert [status for _, status in fates(last)] == ["accepted"] * MOST_FILES + ["refused"]
    assert str(MOST_FILES) in last[-1].fates[0].text
    assert not left(folder)


def test_a_file_that_is_too_large_is_refused_unread(
    base: KnowledgeBase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "LARGEST_BYTES", 10)
    *_, last = take_in(base, [landed(folder, "a.md", GUIDE)], folder, "en")
    assert fates(last) == [("a.md", "refused")]
    assert "larger than" in last[0].fates[0].text


@pytest.mark.parametrize(("language", "words"), [("zh", "内部错误"), ("en", "internal error")])
def test_a_fault_of_ours_is_told_without_its_details_and_the_next_file_goes_in(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    language: str, words: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)
    embedder = HashEmbedder()
    with open_knowledge(tmp_path / "home", embedder) as base:
        embedder.fails_after = embedder.embedded
        files = [landed(folder, "a.md", GUIDE), landed(folder, "x.pdf", b"%PDF-1.7 broken")]
        *_, last = take_in(base, files, folder, language)  # type: ignore[arg-type]
    assert fates(last) == [("a.md", "broken"), ("x.pdf", "refused")]
    assert words in last[0].fates[0].text
    assert "died" not in last[0].fates[0].text
    assert "died" in caplog.text
    assert not left(folder)


def test_an_upload_is_taken_in_to_its_end_although_nobody_listens_any_more(base: KnowledgeBase, folder: Path) -> None:
    listening = take_in(base, [landed(folder, "a.md", GUIDE), landed(folder, "p.csv", PRICES)], folder, "en")
    next(listening)
    listening.close()  # type: ignore[attr-defined]
    for _ in range(400):
        if len(base.documents()) == 2 and not left(folder):
            return
        time.sleep(0.05)
    pytest.fail(f"{[each.name for each in base.documents()]} are there, {left(folder)} is left")
