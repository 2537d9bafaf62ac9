"""Reading in a process of its own: whatever the reader or the file does costs one named refusal and no more."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from ingest import sandbox
from ingest.blocks import FileRefusedError, Grid, Heading, Note, Parsed, Place, Text
from ingest.file_kinds import Kind
from ingest.sandbox import Limits, parse
from ingest.sandbox_child import READERS

MIB = 1 << 20

# Put before the child's own main: `read` takes the place of the text reader.
FAKE_READER = """
import sys, types
from ingest import sandbox_child
from ingest.blocks import *
{code}
module = types.ModuleType("fake")
module.read = read
sys.modules["fake"] = module
sandbox_child.READERS["text"] = "fake"
sandbox_child.main()
"""


@pytest.fixture(autouse=True)
def _private_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def parse_with(code: str, monkeypatch: pytest.MonkeyPatch, limits: Limits = sandbox.DEFAULT) -> Parsed:
    """What the sandbox makes of a reader with this source."""
    monkeypatch.setattr(sandbox, "COMMAND", (sys.executable, "-P", "-s", "-c", FAKE_READER.format(code=code)))
    return parse(b"some words", "a.txt", limits)


def test_a_table_arrives_whole() -> None:
    parsed = parse("显卡,价格\nA100,28.64\n".encode("gbk"), "价格.csv")
    assert parsed == Parsed(
        "价格", (Grid((("显卡", "价格"), ("A100", "28.64")), (1, 2), place=Place("line", "1")),), table_rows=2
    )


def test_blocks_of_every_kind_cross_the_process_boundary(monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
def read(content, name):
    grid = Grid((("甲", ""),), (3,), "caption", 1, Place("sheet", "价格"))
    return Parsed(name, (Heading(2, "h", Place("page", "4")), Text(content.decode()), grid), 1, (Note("注", "note"),))
"""
    assert parse_with(code, monkeypatch) == Parsed(
        "a.txt",
        (
            Heading(2, "h", Place("page", "4")),
            Text("some words"),
            Grid((("甲", ""),), (3,), "caption", 1, Place("sheet", "价格")),
        ),
        1,
        (Note("注", "note"),),
    )


def test_names_that_no_command_line_could_carry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sandbox,
        "COMMAND",
        (sys.executable, "-P", "-s", "-c", FAKE_READER.format(code="def read(c, n): return Parsed(ascii(n), (), 0)")),
    )
    name = "a\0\n'\" \udc80é" + "x" * 300_000 + ".txt"
    assert parse(b"words", name).title == ascii(name)


def test_half_a_surrogate_pair_does_not_break_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = parse_with("def read(c, n): return Parsed('a' + chr(0xD800) + 'b', (), 0)", monkeypatch)
    assert parsed.title == "a?b"


def test_a_readers_refusal_keeps_its_code_and_both_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def read(c, n): raise FileRefusedError('no-text-layer', '没有文字层', 'no text layer')"
    with pytest.raises(FileRefusedError) as caught:
        parse_with(code, monkeypatch)
    assert (caught.value.code, caught.value.zh, caught.value.en) == ("no-text-layer", "没有文字层", "no text layer")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        pytest.param("def read(c, n): raise ZeroDivisionError('boom')", "broken", id="unexpected error"),
        pytest.param("def read(c, n): raise SystemExit(0)", "broken", id="leaves with success and no result"),
        pytest.param("import os\ndef read(c, n): os._exit(3)", "broken", id="leaves with a status"),
        pytest.param("import os, signal\ndef read(c, n): os.kill(os.getpid(), signal.SIGSEGV)", "broken", id="crash"),
        pytest.param("import os, signal\ndef read(c, n): os.kill(os.getpid(), signal.SIGKILL)", "too-much-memory", id="killed"),
        pytest.param("import ctypes\ndef read(c, n): ctypes.string_at(0)", "broken", id="machine code that crashes"),
        pytest.param("def read(c, n): return read(c, n)", "broken", id="endless recursion"),
        pytest.param("def read(c, n): return {'title': 1}", "broken", id="no Parsed"),
        pytest.param("def read(c, n): return Parsed({1, 2}, (), 0)", "broken", id="no JSON"),
        pytest.param("def read(c, n): return Parsed('', (), 0)\nimport os\n"
                     "sandbox_child.main = lambda: open('result.json', 'w').write('{]')", "broken", id="garbage for JSON"),
        pytest.param("def read(c, n): return None\nsandbox_child.main = lambda: open('result.json', 'w').write('[1]')", "broken", id="JSON of another shape"),
        pytest.param("def read(c, n): return None\n"
                     "sandbox_child.main = lambda: open('result.json', 'w').write('{\"refused\": {\"code\": \"?\"}}')", "broken", id="refusal without words"),
        pytest.param("def read(c, n): return None\n"
                     "sandbox_child.main = lambda: open('result.json', 'w').write('[' * 100000)", "broken", id="JSON too deep"),
        pytest.param("import socket\ndef read(c, n):\n    try: socket.create_connection(('127.0.0.1', 9))\n"
                     "    except ConnectionError: return Parsed('it tried', (), 0)", "broken", id="network"),
        pytest.param("import os\ndef read(c, n): os.system('true'); return Parsed('', (), 0)", "broken", id="another program"),
        pytest.param("import os, sys\ndef read(c, n): print(\"terminate called after throwing 'std::bad_alloc'\", file=sys.stderr, flush=True); os.abort()", "too-much-memory", id="C++ out of memory"),
    ],
)  # fmt: skip
def test_what_a_reader_does_wrong_has_a_code(code: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileRefusedError) as caught:
        parse_with(code, monkeypatch)
    assert caught.value.code == reason
    assert caught.value.zh
    assert caught.value.en


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not hold programs to RLIMIT_AS")
@pytest.mark.parametrize(
    "code",
    [
        "def read(c, n): return bytearray(4 << 30)",
        "def read(c, n):\n    try: bytearray(4 << 30)\n    except MemoryError as e: raise ValueError('parser') from e",
        "def read(c, n):\n    kept = []\n    while True: kept.append(bytes(1 << 20))",
    ],
)
def test_memory_without_end_is_refused_even_in_disguise(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileRefusedError) as caught:
        parse_with(code, monkeypatch)
    assert caught.value.code == "too-much-memory"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not hold programs to RLIMIT_AS")
def test_a_small_file_that_grows_to_gigabytes_is_refused() -> None:
    wide_and_long = b"a," * 40_000 + b"\n" + b"1,2\n" * 40_000
    with pytest.raises(FileRefusedError) as caught:
        parse(wide_and_long, "a.csv", Limits(memory_bytes=512 * MIB))
    assert caught.value.code == "too-much-memory"


def test_the_traceback_of_a_failed_reader_is_logged_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(FileRefusedError, match="TXT") as caught:
        parse_with("def read(c, n): raise ZeroDivisionError('boom')", monkeypatch)
    assert "boom" not in str(caught.value)
    assert "ZeroDivisionError: boom" in caplog.text


def test_what_a_reader_prints_is_not_taken_for_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def read(c, n):\n    print('{' * 10000)\n    return Parsed('t', (), 0)"
    assert parse_with(code, monkeypatch).title == "t"


@pytest.mark.parametrize(
    "code", ["import time\ndef read(c, n): time.sleep(600)", "def read(c, n):\n    while True: pass"]
)
def test_a_reader_that_does_not_end_is_stopped(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileRefusedError) as caught:
        parse_with(code, monkeypatch, Limits(wait_seconds=1))
    assert caught.value.code == "too-slow"


def test_processor_time_of_several_threads_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import os, signal\ndef read(c, n): os.kill(os.getpid(), signal.SIGXCPU)"
    with pytest.raises(FileRefusedError) as caught:
        parse_with(code, monkeypatch)
    assert caught.value.code == "too-slow"


def test_what_the_child_started_dies_with_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # Started before the hook forbids it, as machine code could at any time.
    fifo = tmp_path / "alive"
    code = f"""
import os, subprocess, sys, time
subprocess.Popen([sys.executable, "-c", "import time; f = open({str(fifo)!r}, 'w'); time.sleep(600)"])
def read(c, n): time.sleep(600)
"""
    os.mkfifo(fifo)
    ended = threading.Event()

    def wait_for_the_writer_to_end() -> None:
        with fifo.open("rb") as stream:
            stream.read()
        ended.set()

    reader = threading.Thread(target=wait_for_the_writer_to_end, daemon=True)
    reader.start()
    with pytest.raises(FileRefusedError, match="stopped"):
        parse_with(code, monkeypatch, Limits(wait_seconds=3))
    assert ended.wait(timeout=30)
    reader.join()


def test_output_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileRefusedError) as caught:
        parse_with("def read(c, n): return Parsed('x' * (2 << 20), (), 0)", monkeypatch, Limits(result_bytes=MIB))
    assert caught.value.code == "too-large"


def test_the_child_sees_neither_our_environment_nor_our_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("LLM_API_KEY", "secret")
    code = """
import json, os, tempfile
def read(c, n):
    return Parsed(json.dumps([dict(os.environ), tempfile.gettempdir(), os.getcwd()]), (), 0)
"""
    title = parse_with(code, monkeypatch).title
    assert "secret" not in title
    assert title.count(str(tmp_path)) >= 2


@pytest.mark.parametrize("code", ["def read(c, n): return Parsed('', (), 0)", "def read(c, n): raise ValueError"])
def test_nothing_is_left_on_the_disk(code: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    try:
        parse_with(code, monkeypatch)
    except FileRefusedError:
        assert "raise" in code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [(b"x" * 2000, "a.txt", "too-large"), (b"", "a.pdf", "empty"), (b"\x7fELF\0\0\0\0", "a.csv", "wrong-type"),
     (b"a,b\n1,\"2\n", "a.csv", "broken"), (b"a,b\n", "a.csv", "empty")],
)  # fmt: skip
def test_files_that_are_refused(content: bytes, name: str, code: str) -> None:
    with pytest.raises(FileRefusedError) as caught:
        parse(content, name, Limits(file_bytes=1000))
    assert caught.value.code == code


def test_nothing_is_started_for_a_file_that_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "COMMAND", ("/nonexistent/program",))
    for content in (b"", b"x" * 2000, b"\x89PNG\r\n\x1a\n", b"PK\x05\x06" + bytes(18)):
        with pytest.raises(FileRefusedError):
            parse(content, "a.txt", Limits(file_bytes=1000))


def test_the_child_starts_without_heavy_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def read(c, n): return Parsed(' '.join(sys.modules), (), 0)"
    loaded = parse_with(code, monkeypatch).title.split()
    assert {"json", "ingest.blocks"} <= set(loaded)
    assert not {"numpy", "pyarrow", "lxml", "bs4", "openpyxl", "pdfplumber", "ingest.read_csv"} & set(loaded)


# ---- the real readers ----


def as_docx() -> bytes:
    import docx

    document, file = docx.Document(), io.BytesIO()
    document.add_paragraph("显存 memory")
    document.save(file)
    return file.getvalue()


def as_xlsx() -> bytes:
    import openpyxl

    book, file = openpyxl.Workbook(), io.BytesIO()
    for row in (("显存", "memory"), ("80", "GB"), ("40", "GB")):
        book.active.append(row)
    book.save(file)
    return file.getvalue()


def as_pptx() -> bytes:
    import pptx

    deck, file = pptx.Presentation(), io.BytesIO()
    deck.slides.add_slide(deck.slide_layouts[0]).shapes.title.text = "显存 memory"
    deck.save(file)
    return file.getvalue()


def as_pdf() -> bytes:
    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file)
    canvas.drawString(100, 700, "Words on memory, and some more of them, so that it is a text.")
    canvas.save()
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a.md", lambda: "# 显存\n\nmemory\n".encode()),
        ("a.txt", lambda: "显存 memory\n".encode()),
        ("a.html", lambda: "<html><body><p>显存 memory".encode()),
        ("a.csv", lambda: "显存,memory\n80,GB\n".encode()),
        ("a.docx", as_docx),
        ("a.xlsx", as_xlsx),
        ("a.pptx", as_pptx),
        ("a.pdf", as_pdf),
    ],
)
def test_every_reader_works_within_the_limits(name: str, make: Callable[[], bytes]) -> None:
    assert "memory" in str(parse(make(), name).blocks)


@pytest.mark.parametrize("kind", sorted(get_args(Kind)))
def test_every_kind_but_the_archive_has_a_reader(kind: str) -> None:
    assert (kind in READERS) is (kind != "zip")


def test_what_a_pdf_library_grumbles_is_not_shown_with_a_failure(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code = """
def read(content, name):
    import logging
    logging.getLogger("pdfminer.pdffont").warning("an odd font")
    logging.getLogger("reader").warning("a last word")
    raise SystemExit(3)
"""
    with pytest.raises(FileRefusedError):
        parse_with(code, monkeypatch)
    assert "a last word" in caplog.text
    assert "an odd font" not in caplog.text
