"""Reads a file nobody has vetted in a process of its own, so that a hostile or broken one costs an error message.

The child (sandbox_child.py) gets the file in a private folder, a bare environment, and limits on memory, processor
time, open files and output; when its time is up it is killed with everything it started. It refuses itself network
connections and other programs at the level of Python, which stops careless libraries but not machine code smuggled
into one of them: this is no wall against an exploit. macOS does not hold programs to RLIMIT_AS; there only the time
limit binds. ZIP archives are not read here (unpack.py).

Raises FileRefusedError: `too-large`, `too-slow`, `too-much-memory`, `broken`, and whatever file_kinds.py and the
reader refuse; OSError where this machine has no room for the file or no process to spare.
"""

from __future__ import annotations

import json
import logging
import math
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ingest.blocks import FileRefusedError, Parsed, from_json
from ingest.file_kinds import Kind, kind_of
from ingest.sandbox_child import OUT_OF_MEMORY, OUTPUT_TOO_LARGE

MIB = 1 << 20
COMMAND = (sys.executable, "-P", "-s", "-m", "ingest.sandbox_child")

_log = logging.getLogger(__name__)
_SHOWN_LOG_BYTES = 8 * 1024
_KIND_WORDS: dict[Kind, str] = {
    "markdown": "Markdown", "text": "TXT", "html": "HTML", "pdf": "PDF", "docx": "DOCX", "xlsx": "XLSX",
    "pptx": "PPTX", "csv": "CSV", "zip": "ZIP",
}  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What reading one file may cost; `result_bytes` bounds each file that the child writes."""

    file_bytes: int = 200 * MIB
    memory_bytes: int = 2048 * MIB
    result_bytes: int = 512 * MIB
    wait_seconds: float = 120.0


DEFAULT = Limits()


def parse(content: bytes, name: str, limits: Limits = DEFAULT) -> Parsed:
    """What the file called `name` says. Raises FileRefusedError (see the module)."""
    if len(content) > limits.file_bytes:
        raise _too_large(len(content), limits)
    kind = kind_of(name, content)
    if kind == "zip":
        raise FileRefusedError(
            "wrong-type",
            "压缩包要先解开，再逐个读取里面的文件。",
            "An archive is unpacked first, and the files in it are read one by one.",
        )
    with tempfile.TemporaryDirectory(prefix="gpu-advisor-") as folder:
        return _parse_in(Path(folder), content, name, kind, limits)


def _parse_in(folder: Path, content: bytes, name: str, kind: Kind, limits: Limits) -> Parsed:
    (folder / "content").write_bytes(content)
    task = {"kind": kind, "name": name, "memory_bytes": limits.memory_bytes, "result_bytes": limits.result_bytes,
            "processor_seconds": math.ceil(limits.wait_seconds)}  # fmt: skip
    (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
    code = _run(folder, limits)
    if code != 0:
        raise _died(code, folder, name, kind, limits)
    result = _result(folder)
    if isinstance(result, Parsed):
        return result
    if isinstance(result, FileRefusedError):
        raise result
    _log.warning("the reader failed on %r (%s): %s\n%s", name, kind, result, _last_words(folder))
    raise _broken(kind)


def _run(folder: Path, limits: Limits) -> int:
    """The child's exit status, negative for a signal. Raises FileRefusedError `too-slow`."""
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(
            COMMAND,
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        return child.wait(timeout=limits.wait_seconds)
    except subprocess.TimeoutExpired as error:
        raise _too_slow(limits) from error
    finally:
        if child.poll() is None:
            # The whole group: whatever the child may have started goes with it.
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": str(Path(__file__).parents[1]),
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        # Every thread and every memory arena of its own reserves address space that counts against the limit.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "1",
    }


def _result(folder: Path) -> Parsed | FileRefusedError | str:
    """What the child left; a text says why that is no result."""
    try:
        result = json.loads((folder / "result.json").read_bytes())
        if "parsed" in result:
            return from_json(result["parsed"])
        if "refused" in result:
            return FileRefusedError(**result["refused"])
        return str(result["failed"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return f"no readable result: {error!r}"


# ---- why it failed ----


def _died(code: int, folder: Path, name: str, kind: Kind, limits: Limits) -> FileRefusedError:
    if code == -signal.SIGXCPU:
        return _too_slow(limits)
    if code in (OUTPUT_TOO_LARGE, -signal.SIGXFSZ):
        return FileRefusedError(
            "too-large",
            f"解析出的内容超过上限 {limits.result_bytes / MIB:,.0f} MiB。请把文件拆开再导入。",
            f"What the file says is over the limit of {limits.result_bytes / MIB:,.0f} MiB. Split the file.",
        )
    last_words = _last_words(folder)
    _log.warning("reading %r (%s) ended with status %d\n%s", name, kind, code, last_words)
    # SIGKILL is how the system ends a process when memory runs out; native libraries report that before they abort.
    if code in (OUT_OF_MEMORY, -signal.SIGKILL) or "bad_alloc" in last_words or "MemoryError" in last_words:
        return FileRefusedError(
            "too-much-memory",
            f"读取这个文件要用的内存超过上限 {limits.memory_bytes / MIB:,.0f} MiB。请把它拆成几个较小的文件。",
            f"Reading this file takes more memory than the limit of {limits.memory_bytes / MIB:,.0f} MiB. Split it.",
        )
    return _broken(kind)


def _last_words(folder: Path) -> str:
    with (folder / "log").open("rb") as log:
        log.seek(max(0, (folder / "log").stat().st_size - _SHOWN_LOG_BYTES))
        return log.read(_SHOWN_LOG_BYTES).decode("utf-8", errors="replace")


def _broken(kind: Kind) -> FileRefusedError:
    word = _KIND_WORDS[kind]
    return FileRefusedError(
        "broken",
        f"无法作为 {word} 读取，文件可能已损坏。请用原来的软件打开并另存，再导入。",
        f"It cannot be read as {word} and may be damaged. Open it in its own program, save it anew and import that.",
    )


def _too_slow(limits: Limits) -> FileRefusedError:
    return FileRefusedError(
        "too-slow",
        f"读取超过 {limits.wait_seconds:g} 秒，已停止。请把文件拆小，或另存为更简单的格式。",
        f"Reading took more than {limits.wait_seconds:g} seconds and was stopped. Split the file or save it in a simpler format.",
    )


def _too_large(size_bytes: int, limits: Limits) -> FileRefusedError:
    return FileRefusedError(
        "too-large",
        f"文件有 {size_bytes / MIB:,.1f} MiB，超过上限 {limits.file_bytes / MIB:,.0f} MiB。请拆成几个较小的文件。",
        f"The file has {size_bytes / MIB:,.1f} MiB, over the limit of {limits.file_bytes / MIB:,.0f} MiB. Split it.",
    )
