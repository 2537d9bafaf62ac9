"""Requests through the gate without a server: who asks, from which address, with which headers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.accounts import Accounts
from assistant.gate import Credentials
from assistant.proxies import ProxySettings
from assistant.sessions import Sessions

HERE = "127.0.0.1"


def credentials(folder: Path, proxy: ProxySettings | None = None, owner_secret: str = "") -> Credentials:
    """What a request is recognised by, with the state in `folder`."""
    accounts = Accounts(folder / "users.json")
    return Credentials(accounts, Sessions(accounts, folder / "session.key"), proxy or ProxySettings(), owner_secret)


@dataclass
class Got:
    """A response, and the scope of the request as the app behind the gate left it."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    scope: Scope

    def header(self, name: str) -> str:
        return ", ".join(value for each, value in self.headers if each == name)

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"])


def send(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    peer: str | None = HERE,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    body: bytes = b"",
    kind: str = "http",
) -> Got:
    """Send one request; Host is localhost and Content-Length right unless `headers` say otherwise."""
    given = [(name.lower(), value) for name, value in (headers.items() if isinstance(headers, Mapping) else headers)]
    names = {name for name, _ in given}
    if "host" not in names:
        given.append(("host", "localhost:7860"))
    if body and not names & {"content-length", "transfer-encoding"}:
        given.append(("content-length", str(len(body))))
    target, _, query = path.partition("?")
    scope: Scope = {
        "type": kind, "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": unquote(target), "raw_path": target.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(name.encode(), value.encode("utf-8")) for name, value in given if value is not None],
        "client": (peer, 40_000) if peer else None, "server": (HERE, 7860), "extensions": {"websocket.http.response": {}},
    }  # fmt: skip
    return asyncio.run(_sent(app, scope, body))


async def _sent(app: ASGIApp, scope: Scope, body: bytes) -> Got:
    messages: list[Message] = []
    unread = [body]

    async def receive() -> Message:
        if not unread:
            await asyncio.Event().wait()  # the client stays and says no more
        return {"type": "http.request", "body": unread.pop(), "more_body": False}

    async def collect(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, collect)
    start = messages[0]
    sent = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in start["headers"]]
    return Got(start["status"], sent, b"".join(each.get("body", b"") for each in messages[1:]), scope)


async def echo_user(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that answers with whom the gate has recognised, and what it lets through of the request."""
    user = scope["state"]["user"]
    seen: dict[str, Any] = {
        "user": user and [user.name, user.role],
        "client": scope["client"] and scope["client"][0],
        "scheme": scope["scheme"],
        "headers": [[name.decode(), value.decode("latin-1")] for name, value in scope["headers"]],
    }
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(seen).encode()})


def user_in(got: Got) -> list[str] | None:
    """Whom `echo_user` saw: name and role."""
    if got.status != 200:
        raise AssertionError(f"{got.status}: {got.body.decode()}")
    found: list[str] | None = json.loads(got.body)["user"]
    return found
