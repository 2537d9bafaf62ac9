"""The embedded model server: llama.cpp (through xllamacpp) in a child process, so that its crash ends only an answer.

Two halves in one file. `EmbeddedServer` is the parent's: it starts the child, restarts it when it died, ends it.
`run_child` is the child's. The file is run by path, so it imports nothing of ours. It does NOT speak to the model.
"""

from __future__ import annotations

import atexit
import dataclasses
import json
import os
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

CONTEXT_TOKENS = 4096
START_SECONDS = 120.0
LOG_LIMIT_BYTES = 5_000_000
# Threads that wait for each other sleep instead of spinning: with the cores busy elsewhere, spinning was seen to cut
# decoding from 1.7 to 0.3 tokens/s (2 threads, 2 cores, load 12).
CHILD_ENVIRONMENT = {"OMP_WAIT_POLICY": "PASSIVE"}
CHILD_COMMAND = (sys.executable, "-P", __file__)


class EmbeddedServerError(Exception):
    """The child could not be started; the message says why, for the log."""


@dataclasses.dataclass(frozen=True)
class ServerSettings:
    """What the child needs to know. The key keeps other users of this machine, and pages in its browsers, out."""

    model_path: str
    model_name: str
    threads: int
    context_tokens: int = CONTEXT_TOKENS
    api_key: str = dataclasses.field(default_factory=lambda: secrets.token_urlsafe(24))


class EmbeddedServer:
    """A child process that serves a model on a free loopback port; started on first use and whenever found dead."""

    def __init__(
        self,
        settings: ServerSettings,
        log_path: Path,
        *,
        command: Sequence[str] = CHILD_COMMAND,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self.settings = settings
        self._log_path = log_path
        self._command = command
        self._start_seconds = start_seconds
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._address = ""

    @property
    def pid(self) -> int | None:
        """Process id of the child, None when none was started."""
        return self._process.pid if self._process else None

    def address(self) -> str:
        """Return "http://127.0.0.1:PORT" of a living child, started now if need be. Raises EmbeddedServerError."""
        with self._starting:
            if self._process is None or self._process.poll() is not None or not _listens(self._address):
                self.stop()
                self._address = self._start()
            return self._address

    def stop(self) -> None:
        """End the child; a later `address()` starts a new one."""
        atexit.unregister(self.stop)
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _start(self) -> str:
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        too_long = self._log_path.exists() and self._log_path.stat().st_size > LOG_LIMIT_BYTES
        with self._log_path.open("wb" if too_long else "ab") as log:
            process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=CHILD_ENVIRONMENT | os.environ,
                start_new_session=True,  # Ctrl-C in the terminal must not reach the child before us
            )
        self._process = process
        atexit.register(self.stop)
        address = self._exchange(process)
        if not address:
            self.stop()
            raise EmbeddedServerError(
                f"{self._command!r} did not start (exit status {process.returncode}); see {str(self._log_path)!r}"
            )
        return address

    def _exchange(self, process: subprocess.Popen[bytes]) -> str:
        """Hand the settings over and wait for the address; "" when the child dies or is silent for too long."""
        assert process.stdin is not None
        assert process.stdout is not None
        message = dataclasses.asdict(self.settings) | {"parent_pid": os.getpid()}
        with process.stdout, process.stdin:
            try:
                process.stdin.write(json.dumps(message).encode() + b"\n")
                process.stdin.flush()
            except BrokenPipeError:
                return ""
            ready, _, _ = select.select([process.stdout], [], [], self._start_seconds)
            return process.stdout.readline().decode().strip() if ready else ""


def _listens(address: str) -> bool:
    """Whether a child's port is open. A dying process closes it some time before its exit status can be read."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), timeout=1).close()
    except ConnectionRefusedError:
        return False
    except TimeoutError:  # a full backlog: alive, and busy
        return True
    return True


class Listening(Protocol):
    """What a started server must offer; it serves in threads of its own."""

    @property
    def listening_address(self) -> str: ...


def run_child(start: Callable[[ServerSettings], Listening]) -> None:
    """Body of the child: read the settings, start the server, report its address, end when the parent is gone."""
    message = json.loads(sys.stdin.readline())
    parent_pid = message.pop("parent_pid")
    # Not PR_SET_PDEATHSIG: that one fires when the *thread* that started us ends, and threads of a web server do.
    threading.Thread(target=_exit_after, args=(parent_pid,), daemon=True).start()
    report = os.dup(1)
    os.dup2(2, 1)  # from here on whatever the server prints goes to the log
    server = start(ServerSettings(**message))
    os.write(report, server.listening_address.encode() + b"\n")
    os.close(report)
    threading.Event().wait()


def _exit_after(parent_pid: int) -> None:
    while os.getppid() == parent_pid:
        time.sleep(0.25)
    os._exit(0)


def _start_llama(settings: ServerSettings) -> Listening:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings.model_path
    params.model_alias = {settings.model_name}
    params.n_ctx = settings.context_tokens
    params.n_parallel = 1
    params.cpuparams.n_threads = settings.threads
    params.cpuparams_batch.n_threads = settings.threads
    params.port = 0  # a free one
    params.api_keys = [settings.api_key]
    params.cors_origins = ""
    params.ui = False
    params.endpoint_slots = False
    # Earlier prompts are kept in memory, so that two stable system prompts do not push each other out (28 KiB/token).
    params.cache_prompt = True
    params.cache_ram_mib = 512
    params.sse_ping_interval = -1  # silence must look like silence to the client's time-out
    server: Listening = xllamacpp.Server(params)
    return server


if __name__ == "__main__":
    run_child(_start_llama)
