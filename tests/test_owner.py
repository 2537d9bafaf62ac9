"""One process owns the index."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from assistant.owner import (
    IndexOwnedError,
    Owner,
    OwnerFailedError,
    acquire,
    ask_over_http,
    current_owner,
    stream_over_http,
)

REPOSITORY = Path(__file__).resolve().parent.parent
URL = "http://127.0.0.1:7860"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    return tmp_path


@contextlib.contextmanager
def other_process(code: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has acquired the index and then runs `code`; killed at the end."""
    script = f"import os, time\nfrom assistant.owner import acquire\nheld = acquire({URL!r}, command='gpu-advisor serve')\n{code}\ntime.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", script], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_without_an_owner_there_is_none() -> None:
    assert current_owner() is None


def test_the_owner_is_named_until_it_lets_go() -> None:
    with acquire() as held:
        assert current_owner() == Owner(os.getpid(), None)
        held.announce(URL)
        assert current_owner() == Owner(os.getpid(), URL)
    assert current_owner() is None


def test_a_second_owner_is_refused_with_the_name_of_the_first() -> None:
    with other_process("print('held', flush=True)") as process:
        said(process)
        with pytest.raises(IndexOwnedError, match=rf"`gpu-advisor serve` \(pid {process.pid}, since \d.*\) at {URL}"):
            acquire()


def test_a_killed_owner_leaves_no_stale_lock() -> None:
    with other_process("print('held', flush=True)") as process:
        said(process)
        assert current_owner() == Owner(process.pid, URL)
        process.kill()
        process.wait()
        assert current_owner() is None
        acquire().close()


def test_a_child_forked_by_the_owner_does_not_keep_the_lock_after_its_death() -> None:
    with other_process("os.fork() or print(os.getpid(), flush=True)") as process:
        child = int(said(process))
        process.kill()
        process.wait()
        try:
            assert current_owner() is None
        finally:
            os.kill(child, signal.SIGKILL)


def test_a_reader_glancing_at_the_lock_does_not_make_acquire_fail(state: Path) -> None:
    with (state / "owner.lock").open("a+") as glance:
        fcntl.flock(glance, fcntl.LOCK_SH)
        release = threading.Timer(0.1, fcntl.flock, (glance, fcntl.LOCK_UN))
        release.start()
        acquire().close()
        release.join()


def test_an_owner_that_is_just_writing_its_name_is_waited_for(state: Path) -> None:
    with (state / "owner.lock").open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)

        def write() -> None:
            time.sleep(0.1)
            handle.write('{"pid": 7, "url": null}')
            handle.flush()

        writer = threading.Thread(target=write)
        writer.start()
        assert current_owner() == Owner(7, None)
        writer.join()


def test_an_owner_without_http_is_named_instead_of_asked() -> None:
    owner = Owner(7, None, "gpu-advisor ingest", "2026-11-30T13:20:00")
    with pytest.raises(IndexOwnedError) as caught:
        ask_over_http(owner, "q")
    chinese, english = str(caught.value).split(" / ", 1)
    assert "由 `gpu-advisor ingest`（pid 7，自 2026-11-30 13:20:00 起）使用" in chinese
    assert "in use by `gpu-advisor ingest` (pid 7, since 2026-11-30 13:20:00)" in english
    for sentence in (chinese, english):
        assert "gpu-advisor serve" in sentence  # the way out; never "use that one", which takes no command
    assert "等它结束再试" in chinese
    assert "Try again when it has ended" in english


def test_a_lock_file_of_an_older_release_is_read(state: Path) -> None:
    with (state / "owner.lock").open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        handle.write('{"pid": 7, "url": null}')
        handle.flush()
        with pytest.raises(IndexOwnedError, match=r"in use by gpu-advisor \(pid 7\)"):
            acquire()


def test_the_command_and_the_time_are_written_for_others() -> None:
    with acquire(command="gpu-advisor ingest"):
        owner = current_owner()
    assert owner is not None
    assert owner.command == "gpu-advisor ingest"
    assert abs((datetime.now() - datetime.fromisoformat(owner.since)).total_seconds()) < 60


def test_the_secret_of_the_owner_is_for_the_user_of_the_system_only(state: Path) -> None:
    lock = state / "owner.lock"
    lock.touch(0o644)  # as an older release left it
    with acquire() as held:
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600
        owner = current_owner()
        assert owner is not None
        assert owner.secret == held.secret
        assert len(held.secret) >= 40
        assert held.secret not in repr(owner)
        held.announce(URL)
        assert current_owner() == Owner(os.getpid(), URL)  # the same process, whatever its secret
    with acquire() as again:
        assert again.secret != held.secret


def test_a_lock_file_of_another_user_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(OwnerFailedError, match=r"owner\.lock.*GPU_ADVISOR_HOME"):
        current_owner()


def test_an_owner_that_does_not_answer_is_named_with_what_to_check() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    owner = Owner(7, f"http://127.0.0.1:{port}")
    with pytest.raises(OwnerFailedError, match=rf"127\.0\.0\.1:{port}.*serve"):
        ask_over_http(owner, "q")
    with pytest.raises(OwnerFailedError, match=rf"127\.0\.0\.1:{port}.*serve"):
        list(stream_over_http(owner, "q"))
