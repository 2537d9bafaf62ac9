"""The HTTP server: the page at "/", POST /api/ask, the routes of knowledge_api.py, GET /healthz and GET /readyz.

For this machine only. It checks what comes in and hands it on; it answers, renders and stores nothing itself. There is no login yet, so
whatever address it listens on, only requests that name this machine as their host are served.

Errors: ListenError (the address cannot be listened on), owner.IndexOwnedError (another process owns the index).
"""

from __future__ import annotations

import errno
import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Protocol
from urllib.parse import urlsplit

from fastapi import FastAPI, Header
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant import owner
from assistant.conversations import MAX_QUESTION_CHARACTERS, AdviceFailedError, Answerer, Conversations, converse
from assistant.evidence import Done, Event
from assistant.knowledge_api import add_routes
from assistant.web.page import mount_pages, stay_local
from ingest.incoming import LARGEST_BYTES
from ingest.knowledge_base import KnowledgeBase
from knowledge.weights import home

if TYPE_CHECKING:
    import uvicorn

MAX_TURNS = 50
MAX_API_BYTES = 512 * 1024  # 50 turns of 2,000 characters
MAX_PAGE_BYTES = 8 * 1024 * 1024  # the page sends the conversation it shows along with each question
BODIED = frozenset({"POST", "PUT", "PATCH"})  # these must say how long their body is
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

# Enforced by the browser: nothing on the page is fetched from, or sent to, another host.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)

_LOADING = "知识库正在加载，请几秒后再试。 / The knowledge base is still loading; try again in a few seconds."
_NOT_LOCAL = (
    "这里还没有登录，只接受发往 localhost 的请求。 / There is no login yet, so only requests to localhost are served."
)
_TOO_LARGE = "请求太大。 / The request is too large."
_NO_LENGTH = "请求缺少 Content-Length。 / The request lacks a Content-Length."

Question = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARACTERS)]


class ListenError(Exception):
    """The address cannot be listened on."""


class AskRequest(BaseModel):
    """Body of POST /api/ask; `turns` are the reader's earlier questions, `thread` a conversation the server keeps."""

    model_config = ConfigDict(extra="forbid")

    question: Question
    turns: list[Question] = Field(default_factory=list, max_length=MAX_TURNS)
    thread: str | None = Field(default=None, min_length=1, max_length=64, pattern=r"^[\w.-]+$")


class Served(Answerer, Protocol):
    """An advisor together with the knowledge base that it answers from; None for one without documents."""

    @property
    def knowledge(self) -> KnowledgeBase | None: ...


def serve(host: str, port: int, open_advisor: Callable[[], Served]) -> None:
    """Serve until interrupted: the page comes up first, then the advisor is opened, then the address is printed.

    Call it from the main thread; `port` 0 takes a free one. Raises ListenError, owner.IndexOwnedError, and whatever
    `open_advisor` raises.
    """
    stay_local()
    import uvicorn

    def advisor() -> Served | None:
        return opening.result() if opening.done() and not opening.exception() else None

    with (
        owner.acquire(command="gpu-advisor serve") as ownership,
        _listen(host, port) as listener,
        ThreadPoolExecutor(1, "open-advisor") as loader,
    ):
        url = _url(host, listener.getsockname()[1])
        ownership.announce(url)
        app = create_app(advisor, Conversations(home() / "conversations.sqlite"))
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=3))
        # uvicorn raises the signal again once it has shut down; exiting by it lets child processes be ended too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        opening = loader.submit(_open_and_wait, server, open_advisor)
        opening.add_done_callback(lambda done: _announce(done, server, url))
        server.run(sockets=[listener])
    opening.result()


def create_app(advisor_provider: Callable[[], Served | None], conversations: Conversations) -> FastAPI:
    """The app with the page mounted; `advisor_provider` gives None while the advisor is still being loaded."""
    # No documentation pages: FastAPI's fetch their scripts from another host.
    app = FastAPI(title="gpu-advisor", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(LocalOnly)
    app.add_exception_handler(RequestValidationError, _malformed)

    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> Response:
        return JSONResponse({"status": "ready"}) if advisor_provider() else _loading()

    @app.post("/api/ask", response_model=None)
    def ask(request: AskRequest, accept: Annotated[str, Header()] = "") -> Response:
        advisor = advisor_provider()
        if advisor is None:
            return _loading()
        events = converse(advisor, request.question, request.turns, store=conversations, thread=request.thread)
        if "text/event-stream" in accept:
            return StreamingResponse(
                _sse(events), media_type="text/event-stream", headers={"Cache-Control": "no-cache"}
            )
        return _answer(events)

    def knowledge() -> KnowledgeBase | None:
        advisor = advisor_provider()
        return advisor.knowledge if advisor else None

    add_routes(app, knowledge, _loading)
    mount_pages(app, advisor_provider, knowledge, conversations)
    return app


class LocalOnly:
    """ASGI middleware: foreign hosts and origins and oversized bodies are refused, and the page stays on this host."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        refusal = _refusal(scope)
        if refusal:
            await refusal(scope, receive, send)
            return

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = "no-referrer"
            await send(message)

        await self._app(scope, receive, send_with_policy)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ListenError(
                f"端口 {port} 已被占用，请用 --port 换一个，例如 --port {port + 1}。 / "
                f"Port {port} is taken; choose another with --port, for example --port {port + 1}."
            ) from error
        raise ListenError(
            f"无法监听 {host!r} 端口 {port}（{error.strerror}），请检查 --host 和 --port。 / "
            f"Cannot listen on {host!r} port {port} ({error.strerror}); check --host and --port."
        ) from error


def _url(host: str, port: int) -> str:
    if host in {"0.0.0.0", "::"}:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _open_and_wait(server: uvicorn.Server, open_advisor: Callable[[], Served]) -> Served:
    """The advisor, once the page is served too: only then may the address be announced."""
    advisor = open_advisor()
    while not (server.started or server.should_exit):
        time.sleep(0.02)
    return advisor


def _announce(opened: Future[Served], server: uvicorn.Server, url: str) -> None:
    if opened.cancelled() or opened.exception():
        server.should_exit = True
        return
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


def _refusal(scope: Scope) -> Response | None:
    headers = Headers(scope=scope)
    if _name(headers.get("host", "")) not in LOCAL_HOSTS:
        return _error(HTTPStatus.FORBIDDEN, _NOT_LOCAL)
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != headers["host"]:
        return _error(HTTPStatus.FORBIDDEN, _NOT_LOCAL)
    if scope["type"] == "websocket" or (scope["method"] not in BODIED and not _has_body(headers)):
        return None
    length = headers.get("content-length", "")
    if not length.isdecimal():
        return _error(HTTPStatus.LENGTH_REQUIRED, _NO_LENGTH)
    if int(length) > _most_bytes(scope["path"]):
        return _error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
    return None


def _most_bytes(path: str) -> int:
    if path == "/api/documents":
        return LARGEST_BYTES
    return MAX_API_BYTES if path.startswith("/api/") else MAX_PAGE_BYTES


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _name(host: str) -> str:
    """The host name without port and brackets; "" for what is none, so that it is refused."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _malformed(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc'][1:])}: {fault['msg']}" for fault in error.errors()
    )
    return _error(HTTPStatus.UNPROCESSABLE_ENTITY, f"请求格式有误 / The request is malformed: {faults}")


def _loading() -> Response:
    response = _error(HTTPStatus.SERVICE_UNAVAILABLE, _LOADING)
    response.headers["Retry-After"] = "2"
    return response


def _error(status: HTTPStatus, sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status_code=status)


def _answer(events: Iterator[Event]) -> Response:
    try:
        (answer,) = (event.answer for event in events if isinstance(event, Done))
    except AdviceFailedError as failure:
        return _error(HTTPStatus.INTERNAL_SERVER_ERROR, str(failure))
    return Response(answer.model_dump_json(), media_type="application/json")


def _sse(events: Iterator[Event]) -> Iterator[str]:
    try:
        for event in events:
            yield f"event: {event.kind}\ndata: {event.model_dump_json()}\n\n"
    except AdviceFailedError as failure:
        yield f"event: error\ndata: {json.dumps({'error': str(failure)}, ensure_ascii=False)}\n\n"
