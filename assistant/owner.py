"""One process owns the index: the lock that names the owner, and how another process asks it over HTTP.

The lock is a kernel lock on home()/owner.lock, so an owner that is killed leaves nothing to clean up. This module
neither opens the index nor serves anything.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import IO

import httpx
from pydantic import TypeAdapter

from assistant.evidence import Answer, Bilingual, Event
from knowledge.weights import home

# A reader that looks whether the lock is taken holds it itself for an instant; waiting this long outlasts that.
_SETTLE_SECONDS = 1.0
_RETRY_SECONDS = 0.02
# Silence of the server, not the length of the answer, is what ends a request.
_TIMEOUT = httpx.Timeout(connect=5, read=180, write=10, pool=5)
_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class OwnerError(Exception):
    """What went wrong between this process and the one that owns the index, in both languages.

    IndexOwnedError: another process owns the index.  OwnerFailedError: the owner did not answer.  RequestRefusedError:
    it answered, but this one request it could not serve.
    """


class IndexOwnedError(OwnerError):
    """Another process owns the index."""


class OwnerFailedError(OwnerError):
    """The owner could not be reached, is still loading or refused the question."""


class RequestRefusedError(OwnerFailedError):
    """The owner works, but refused this one request (too long, say) or broke over it; others may pass."""


@dataclass(frozen=True)
class Owner:
    """The process that owns the index; `url` is None while it serves no HTTP.

    `command` is what runs there and `since` when it took the index (ISO, local time); "" where an older release left
    no word of it. `secret` is the bearer token that whoever can read the lock file may ask it with.
    """

    pid: int
    url: str | None
    command: str = field(default="", compare=False)
    since: str = field(default="", compare=False)
    secret: str = field(default="", compare=False, repr=False)

    def named(self) -> Bilingual:
        """Who it is, for a sentence: command, pid, since when."""
        command = f"`{self.command}`" if self.command else "gpu-advisor"
        since = self.since.replace("T", " ")
        return Bilingual(
            zh=f"{command}（pid {self.pid}{f'，自 {since} 起' if since else ''}）",
            en=f"{command} (pid {self.pid}{f', since {since}' if since else ''})",
        )


class Ownership:
    """The lock while it is held; released by close(), at the end of a `with` block, or by the death of the process."""

    def __init__(self, handle: IO[str], command: str) -> None:
        self._handle = handle
        self._command = command
        self._since = datetime.now().astimezone().isoformat(timespec="seconds")[:19]
        self.secret = secrets.token_urlsafe(32)
        os.fchmod(handle.fileno(), 0o600)  # a file of an older release could be read by others
        # A forked child shares the lock, and would keep it after its parent's death.
        os.register_at_fork(after_in_child=handle.close)

    def announce(self, url: str | None) -> None:
        """Write down who holds the lock and where it can be asked (None: not over HTTP)."""
        os.ftruncate(self._handle.fileno(), 0)
        name = {
            "pid": os.getpid(),
            "url": url,
            "command": self._command,
            "since": self._since,
            "secret": self.secret,
        }
        os.write(self._handle.fileno(), json.dumps(name, ensure_ascii=False).encode())

    def close(self) -> None:
        """Give the index up; may be called twice."""
        self._handle.close()

    def __enter__(self) -> Ownership:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def acquire(url: str | None = None, *, command: str = "") -> Ownership:
    """Become the owner of the index, reachable at `url` (None: not over HTTP, or not yet); raises IndexOwnedError.

    `command` is how others are told who holds it, without arguments: those may be private.
    """
    handle = _open()
    if not _lock(handle, fcntl.LOCK_EX):
        owner = _read(handle)
        handle.close()
        raise owned_by(owner)
    ownership = Ownership(handle, command)
    ownership.announce(url)
    return ownership


def owned_by(owner: Owner | None) -> IndexOwnedError:
    """The error for an index that somebody else holds: who, since when, and what to do. None: it left no name."""
    if owner is None:
        return IndexOwnedError(
            f"{str(_path())!r} 被占用，但没有写明占用者。请停止正在运行的 gpu-advisor。 / "
            f"{str(_path())!r} is locked by a process that left no name: stop the gpu-advisor that is running."
        )
    who = owner.named()
    if owner.url:
        return IndexOwnedError(
            f"知识库正由 {who.zh}使用，地址 {owner.url}。请改用那个地址，或先停止它。 / "
            f"The index is in use by {who.en} at {owner.url}. Use that address, or stop it first."
        )
    return IndexOwnedError(
        f"知识库正由 {who.zh}使用，它不接受别的命令。请等它结束再试；如要几条命令同时使用，请先运行 `gpu-advisor serve`，"
        f"其余命令会经由它。 / The index is in use by {who.en}, which takes no other command. Try again when it has "
        "ended; to use several commands at a time, run `gpu-advisor serve` first: the others then go through it."
    )


def current_owner() -> Owner | None:
    """The process that owns the index now, None when nobody does."""
    with _open() as handle:
        deadline = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < deadline:
            if _try_lock(handle, fcntl.LOCK_SH):
                return None
            if owner := _read(handle):
                return owner
            time.sleep(_RETRY_SECONDS)  # taken a moment ago, its name not yet written
    raise OwnerFailedError(str(owned_by(None)))


def ask_over_http(owner: Owner, question: str, turns: Sequence[str] = (), thread: str | None = None) -> Answer:
    """Have the owner answer; raises OwnerFailedError with a sentence for the reader."""
    with http_client(owner) as client:
        try:
            response = client.post("/api/ask", json=_body(question, turns, thread))
        except httpx.HTTPError as error:
            raise unreachable(owner, error) from error
        check(owner, response)
        return Answer.model_validate_json(response.content)


def stream_over_http(
    owner: Owner, question: str, turns: Sequence[str] = (), thread: str | None = None
) -> Generator[Event, None, None]:
    """The same answer as events while they come; raises OwnerFailedError, also half-way."""
    accept = {"Accept": "text/event-stream"}
    with http_client(owner) as client:
        try:
            with client.stream("POST", "/api/ask", json=_body(question, turns, thread), headers=accept) as response:
                if response.status_code != HTTPStatus.OK:
                    response.read()
                check(owner, response)
                yield from _events(owner, response.iter_lines())
        except httpx.HTTPError as error:
            raise unreachable(owner, error) from error


def _path() -> Path:
    return home() / "owner.lock"


def _open() -> IO[str]:
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "a+", encoding="utf-8")
    except PermissionError as error:
        raise OwnerFailedError(
            f"无权打开 {str(path)!r}：它属于另一个系统用户。请以那个用户运行，或把 GPU_ADVISOR_HOME 设为自己的文件夹。 / "
            f"{str(path)!r} belongs to another user of this system: run as that user, or set GPU_ADVISOR_HOME to a "
            "folder of your own."
        ) from error


def _lock(handle: IO[str], kind: int) -> bool:
    deadline = time.monotonic() + _SETTLE_SECONDS
    while not _try_lock(handle, kind):
        if time.monotonic() > deadline:
            return False
        time.sleep(_RETRY_SECONDS)
    return True


def _try_lock(handle: IO[str], kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(handle: IO[str]) -> Owner | None:
    """The name in the lock file; None while its owner is just writing it."""
    handle.seek(0)
    try:
        name = json.loads(handle.read())
    except json.JSONDecodeError:
        return None
    noted = {key: str(name.get(key, "")) for key in ("command", "since", "secret")}
    return Owner(int(name["pid"]), name["url"], **noted)


def http_client(owner: Owner) -> httpx.Client:
    """A client of the owner's HTTP API. Raises IndexOwnedError if it serves none."""
    if owner.url is None:
        raise owned_by(owner)
    headers = {"Authorization": f"Bearer {owner.secret}"} if owner.secret else {}
    # trust_env=False: a proxy set for the outside world must not catch requests to this machine.
    return httpx.Client(base_url=owner.url, headers=headers, timeout=_TIMEOUT, trust_env=False)


def _body(question: str, turns: Sequence[str], thread: str | None) -> dict[str, object]:
    return {"question": question, "turns": list(turns), "thread": thread}


def check(owner: Owner, response: httpx.Response) -> None:
    """Raise OwnerFailedError with the owner's own sentence unless the response is a success."""
    if response.status_code == HTTPStatus.OK:
        return
    try:
        sentence = str(response.json()["error"])
    except (json.JSONDecodeError, KeyError, TypeError):
        sentence = f"HTTP {response.status_code}"
    one_only = response.status_code in (HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.INTERNAL_SERVER_ERROR)
    raise (RequestRefusedError if one_only else OwnerFailedError)(f"{owner.url}: {sentence}")


def _events(owner: Owner, lines: Iterator[str]) -> Iterator[Event]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data = line.removeprefix("data: ")
            if name == "error":
                raise OwnerFailedError(f"{owner.url}: {json.loads(data)['error']}")
            yield _EVENT.validate_json(data)


def unreachable(owner: Owner, error: httpx.HTTPError) -> OwnerFailedError:
    """The error for an owner that cannot be reached or broke off."""
    return OwnerFailedError(
        f"{owner.url} 没有回应（{type(error).__name__}）。请检查 gpu-advisor serve 是否仍在运行。 / "
        f"{owner.url} did not answer ({type(error).__name__}). Check that gpu-advisor serve is still running."
    )
