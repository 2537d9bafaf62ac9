"""The process in which sandbox.py reads one file: limits first, then the reader for its kind, then one JSON result.

Run as `python -m ingest.sandbox_child` in a folder with `content` and `task.json`; leaves `result.json` there with
`parsed`, `refused` (a reader's FileRefusedError) or `failed` (a traceback). Ends with status OUT_OF_MEMORY or
OUTPUT_TOO_LARGE where nothing can be written any more. Nothing heavy is imported before the reader is chosen.
"""

from __future__ import annotations

import errno
import importlib
import json
import logging
import os
import resource
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingest.blocks import FileRefusedError, Parsed, to_json

OUT_OF_MEMORY, OUTPUT_TOO_LARGE = 77, 78

READERS = {
    "markdown": "ingest.read_markdown",
    "text": "ingest.read_text",
    "html": "ingest.read_html",
    "pdf": "ingest.read_pdf",
    "docx": "ingest.read_docx",
    "xlsx": "ingest.read_xlsx",
    "pptx": "ingest.read_pptx",
    "csv": "ingest.read_csv",
}

_OPEN_FILES = 128
_GRACE_SECONDS = 5
_FORBIDDEN_EVENTS = frozenset({
    "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname",
    "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn",
})  # fmt: skip


def main() -> None:
    """Reads the task in the working folder and leaves the result there; see the module for how it ends."""
    task = json.loads(Path("task.json").read_bytes())
    _limit(task)
    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)  # it warns of each odd font; the log is for what failed
    sys.addaudithook(_forbid)
    try:
        result = _result(task["kind"], Path("content").read_bytes(), task["name"])
        # Half a surrogate pair, which some PDF fonts yield, has no place in UTF-8 and becomes "?".
        Path("result.json").write_bytes(json.dumps(result, ensure_ascii=False).encode("utf-8", errors="replace"))
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except OSError as error:
        if error.errno == errno.EFBIG:
            os._exit(OUTPUT_TOO_LARGE)
        raise


def _result(kind: str, content: bytes, name: str) -> dict[str, Any]:
    try:
        read: Callable[[bytes, str], Parsed] = importlib.import_module(READERS[kind]).read
        return {"parsed": to_json(read(content, name))}
    except FileRefusedError as error:
        return {"refused": {"code": error.code, "zh": error.zh, "en": error.en}}
    except Exception as error:
        # The one broad clause: whatever a hostile file brings a library to raise is the file's fault.
        if _out_of_memory(error):
            raise MemoryError from error
        return {"failed": traceback.format_exc(limit=-20)}


def _out_of_memory(error: BaseException | None) -> bool:
    """Libraries wrap MemoryError in errors of their own, or catch it and fail on what is missing."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        error = error.__cause__ or error.__context__
    return False


def _limit(task: dict[str, Any]) -> None:
    seconds = task["processor_seconds"]
    _lower(resource.RLIMIT_CPU, seconds, seconds + _GRACE_SECONDS)
    _lower(resource.RLIMIT_FSIZE, task["result_bytes"], task["result_bytes"])
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES, _OPEN_FILES)
    _lower(resource.RLIMIT_CORE, 0, 0)
    if sys.platform != "darwin":
        # macOS refuses or ignores it.
        _lower(resource.RLIMIT_AS, task["memory_bytes"], task["memory_bytes"])


def _lower(what: int, soft: int, hard: int) -> None:
    """Sets a limit, never above one that the system has set already, which would be an error."""
    ceiling = resource.getrlimit(what)[1]
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(what, (soft, hard))


def _forbid(event: str, arguments: tuple[object, ...]) -> None:
    if event in _FORBIDDEN_EVENTS:
        raise PermissionError(f"{event} is not allowed while a file is read: {arguments!r:.200}")


if __name__ == "__main__":
    main()
