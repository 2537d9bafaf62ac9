"""The HTTP server: the page at "/", POST /api/ask, /metrics, /healthz and /readyz, the routes of knowledge_api.py,
login.py and site_files.py, and the Slack bot where its tokens are set.

It checks what comes in and hands it on; it answers, renders and stores nothing itself. Who a request comes from is found
out by gate.py before it gets here; what they may do is checked in each handler.

Errors: ListenError (the address cannot be listened on), owner.IndexOwnedError (another process owns the index),
proxies.AccessSettingError, request_limits.RateSettingError and slack.tokens.SlackSettingError (a setting),
accounts.AccountsBrokenError, and of slack.state where its file cannot be used.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Protocol

from fastapi import FastAPI, Header
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from assistant import conversation_api, owner
from assistant.access import user_of
from assistant.accounts import Accounts
from assistant.conversations import MAX_QUESTION_CHARACTERS, AdviceFailedError, Answerer, Conversations, converse
from assistant.evidence import Bilingual, Done, Event
from assistant.gate import Credentials, Gate
from assistant.knowledge_api import add_routes
from assistant.login import add_languages, add_login
from assistant.mcp_tools import mount_tools
from assistant.metrics import CONTENT_TYPE, CountRequests, Metrics
from assistant.price_routes import add_price_routes
from assistant.proxies import proxy_settings
from assistant.refusals import BROKEN, LOADING, NOTHING_HERE, RETRY_SECONDS, TOO_BUSY, RefusedError, refused, too_soon
from assistant.request_limits import AnswerSlots, allow_question, questions_per_minute
from assistant.sessions import Sessions
from assistant.site_files import add_site_files
from assistant.slack.tokens import slack_tokens
from assistant.web.page import mount_pages, stay_local
from ingest.knowledge_base import KnowledgeBase
from knowledge.weights import home

if TYPE_CHECKING:
    import uvicorn

    from assistant.slack.bot import SlackBot

MAX_TURNS = 50

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
        app = create_app(advisor, Conversations(home() / "conversations.sqlite"), ownership.secret)
        bot: SlackBot | None = app.state.slack_bot
        # proxy_headers: uvicorn would believe any proxy on this machine; proxies.py believes those that are named.
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, timeout_graceful_shutdown=3, proxy_headers=False
        )
        server = uvicorn.Server(config)
        # uvicorn raises the signal again once it has shut down; exiting by it lets child processes be ended too.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        opening = loader.submit(_open_and_wait, server, open_advisor)
        opening.add_done_callback(lambda done: _announce(done, server, url))
        if bot:
            bot.start_in_background()
        try:
            server.run(sockets=[listener])
        finally:
            if bot:
                bot.close()
    opening.result()


def create_app(
    advisor_provider: Callable[[], Served | None], conversations: Conversations, owner_secret: str = ""
) -> FastAPI:
    """The app with the page mounted; `advisor_provider` gives None while the advisor is still being loaded.

    `owner_secret` is the bearer token of this machine's own command line. Raises what is listed above.
    """
    # No documentation pages: FastAPI's fetch their scripts from another host.
    app = FastAPI(title="gpu-advisor", docs_url=None, redoc_url=None, openapi_url=None)
    credentials = _credentials(owner_secret)

    def knowledge() -> KnowledgeBase | None:
        advisor = advisor_provider()
        return advisor.knowledge if advisor else None

    metrics = Metrics(knowledge)
    app.add_middleware(Gate, credentials=credentials)
    app.add_middleware(CountRequests, metrics=metrics)  # outermost, so that refusals are counted too
    _add_state(app, advisor_provider, metrics)
    add_ask(app, advisor_provider, conversations, metrics, AnswerSlots())
    add_login(app, credentials, metrics)
    add_languages(app)
    add_site_files(app)
    add_routes(app, knowledge, _loading)
    conversation_api.add_routes(app, conversations)
    add_price_routes(app)

    def counted() -> Answerer | None:
        advisor = advisor_provider()
        return metrics.counted(advisor, "page") if advisor else None

    app.state.slack_bot = _slack_bot(app, advisor_provider, conversations, metrics)
    mount_pages(app, counted, knowledge, conversations)
    mount_tools(app)
    speak_politely(app)
    return app


def _slack_bot(
    app: FastAPI, advisor_provider: Callable[[], Served | None], conversations: Conversations, metrics: Metrics
) -> SlackBot | None:
    """The bot, not started yet, and its route where events come by HTTP; None where no token is set."""
    tokens = slack_tokens(os.environ)
    if tokens is None:
        return None
    from assistant.slack.bot import SlackBot  # takes a while to import
    from assistant.slack.http_events import add_slack_route
    from assistant.slack.state import SlackState

    def counted() -> Answerer | None:
        advisor = advisor_provider()
        return metrics.counted(advisor, "slack") if advisor else None

    bot = SlackBot(tokens, counted, conversations, SlackState(home() / "slack.sqlite"))
    if tokens.mode == "http":
        add_slack_route(app, bot)
    return bot


def _credentials(owner_secret: str) -> Credentials:
    """What requests are recognised by: the files in the state folder and the settings in the environment."""
    accounts = Accounts(home() / "users.json")
    accounts.users()
    questions_per_minute(os.environ)  # read at the first question; a wrong one is told now
    return Credentials(accounts, Sessions(accounts, home() / "session.key"), proxy_settings(os.environ), owner_secret)


def _add_state(app: FastAPI, advisor_provider: Callable[[], Served | None], metrics: Metrics) -> None:
    @app.get("/healthz")
    def healthz() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/readyz")
    def readyz() -> Response:
        return JSONResponse({"status": "ready"}) if advisor_provider() else _loading()

    @app.get("/metrics")
    def counted(request: Request) -> Response:
        user_of(request)
        return Response(metrics.text(), headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})


def add_ask(
    app: FastAPI,
    advisor_provider: Callable[[], Answerer | None],
    conversations: Conversations,
    metrics: Metrics,
    slots: AnswerSlots,
) -> None:
    """Add POST /api/ask: the conversations of whoever asks, within their rate and as many at once as there are slots."""

    @app.post("/api/ask", response_model=None)
    def ask(asked: AskRequest, request: Request, accept: Annotated[str, Header()] = "") -> Response:
        user, advisor = user_of(request), advisor_provider()
        if advisor is None:
            return _loading()
        wait = allow_question(user)
        if wait is not None:
            return refused(HTTPStatus.TOO_MANY_REQUESTS, too_soon(wait), wait)
        if not slots.take():
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, TOO_BUSY, RETRY_SECONDS)
        counted = metrics.counted(advisor, "api")
        events = converse(
            counted, asked.question, asked.turns, store=conversations, thread=asked.thread, owner=user.name
        )
        if "text/event-stream" in accept:
            return EventStream(events, slots)
        try:
            return _answer(events)
        finally:
            slots.give_back()


class EventStream(StreamingResponse):
    """The events of one answer as they come; its slot is free again once it has ended, however it ended."""

    def __init__(self, events: Iterator[Event], slots: AnswerSlots) -> None:
        super().__init__(_sse(events), media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._slots.give_back()


def speak_politely(app: FastAPI) -> None:
    """Make errors sentences: of this app and of the pages mounted in it, whatever breaks in there."""
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _broken)
    for route in app.routes:
        if isinstance(route, Mount) and isinstance(route.app, FastAPI):
            route.app.add_exception_handler(Exception, _broken)


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


def _malformed(_: Request, error: Exception) -> Response:
    faults = error.errors() if isinstance(error, RequestValidationError) else []
    named = "; ".join(f"{'.'.join(str(part) for part in fault['loc'][1:])}: {fault['msg']}" for fault in faults)
    return refused(
        HTTPStatus.UNPROCESSABLE_ENTITY, Bilingual(zh="请求格式有误", en=f"The request is malformed: {named}")
    )


def _refused(_: Request, error: Exception) -> Response:
    return refused(error.status, error.sentence) if isinstance(error, RefusedError) else _broken(_, error)


def _http_error(_: Request, error: Exception) -> Response:
    status = HTTPStatus(error.status_code) if isinstance(error, HTTPException) else HTTPStatus.INTERNAL_SERVER_ERROR
    if status == HTTPStatus.NOT_FOUND:
        return refused(status, NOTHING_HERE)
    return refused(status, Bilingual(zh=f"请求无法处理（{status.value}）。", en=f"{status.phrase} ({status.value})."))


def _broken(_: Request, error: Exception) -> Response:
    """The answer to what nobody foresaw; the server writes the traceback into its log."""
    return refused(HTTPStatus.INTERNAL_SERVER_ERROR, BROKEN)


def _loading() -> Response:
    return refused(HTTPStatus.SERVICE_UNAVAILABLE, LOADING, RETRY_SECONDS)


def _answer(events: Iterator[Event]) -> Response:
    try:
        (answer,) = (event.answer for event in events if isinstance(event, Done))
    except AdviceFailedError as failure:
        return refused(HTTPStatus.INTERNAL_SERVER_ERROR, failure.sentence)
    return Response(answer.model_dump_json(), media_type="application/json")


def _sse(events: Iterator[Event]) -> Iterator[str]:
    try:
        for event in events:
            yield f"event: {event.kind}\ndata: {event.model_dump_json()}\n\n"
    except AdviceFailedError as failure:
        yield f"event: error\ndata: {json.dumps({'error': str(failure)}, ensure_ascii=False)}\n\n"
