"""The gate: every request passes here once; it is recognised, checked and bounded before any handler sees it.

Puts the user into scope["state"]["user"]. What a user may do is decided in the handlers; logging in is login.py.
"""

from __future__ import annotations

import hmac
import logging
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.accounts import LOCAL_USER, Accounts, AccountsBrokenError, User, UserNameError
from assistant.proxies import ProxySettings, arrived, forwarded_user, is_forwarded, peer
from assistant.refusals import (
    ACCOUNTS_BROKEN,
    ADMIN_ONLY,
    FOREIGN_ORIGIN,
    LOGIN_NEEDED,
    NO_LENGTH,
    NOT_LOCAL,
    NOTHING_HERE,
    PROXY_NAMES_NOBODY,
    TOO_LARGE,
    refused,
)
from assistant.sessions import SESSION_COOKIE, Sessions
from ingest.incoming import LARGEST_BYTES

MAX_API_BYTES = 512 * 1024  # 50 turns of 2,000 characters
MAX_PAGE_BYTES = 8 * 1024 * 1024  # the page sends the conversation it shows along with each question
MAX_FORM_BYTES = 64 * 1024  # what a form has around its file, and all of the login form
BODIED = frozenset({"POST", "PUT", "PATCH"})  # these must say how long their body is
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
# Browsers ask for icon and manifest without the cookie.
OPEN_PATHS = frozenset(
    {"/healthz", "/readyz", "/login", "/logout", "/language/zh", "/language/en"}
    | {f"{page}/{file}" for page in ("", "/zh", "/en") for file in ("favicon.ico", "manifest.json")}
)
SLACK_PATH = "/slack/events"  # each request to it is signed, which its handler checks; it is there in HTTP mode only
# Parts of Gradio that the page does not use: they fetch from other hosts, take files, or tell about other users.
CLOSED = re.compile(
    r"/monitoring|/gradio_api/(proxy=|run-history|runs\b|vibe-|dev/|process_recording|profiling|file[=/]\s*\w+:)", re.I
)
# Enforced by the browser: nothing on the page is fetched from, or sent to, another host.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors 'none'"
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Credentials:
    """What a request is recognised by: users with passwords and tokens, a proxy, and the secret of the local command line."""

    accounts: Accounts
    sessions: Sessions
    proxy: ProxySettings = field(default_factory=ProxySettings)
    owner_secret: str = field(default="", repr=False)

    def login_configured(self) -> bool:
        """Whether anybody can log in at all. Raises AccountsBrokenError."""
        return bool(self.proxy.user_header or self.accounts.users())


class Gate:
    """ASGI middleware: recognises the user, refuses what must not come in, and keeps the page on this host."""

    def __init__(self, app: ASGIApp, credentials: Credentials) -> None:
        self._app = app
        self._credentials = credentials

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return

        async def send_with_policy(message: Message) -> None:
            if message["type"] in {"http.response.start", "websocket.http.response.start"}:
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
                headers["X-Content-Type-Options"] = "nosniff"
                headers["Referrer-Policy"] = (
                    "same-origin"  # with "no-referrer", forms would be sent with "Origin: null"
                )
            await send(message)

        forwarded = is_forwarded(scope)
        scope.update(arrived(scope, self._credentials.proxy))
        found = self._refusal_or_user(scope, forwarded=forwarded)
        if isinstance(found, Response):
            await found(scope, receive, send_with_policy)
            return
        scope["state"] = {**scope.get("state", {}), "user": found}
        await self._app(scope, receive, send_with_policy)

    def _refusal_or_user(self, scope: Scope, *, forwarded: bool) -> Response | User | None:
        """The response that refuses the request, or who sent it; None for nobody in particular on an open path."""
        if scope["path"] == SLACK_PATH:
            return _refusal(scope, None)
        try:
            user = recognised(scope, self._credentials)
            if user is None:
                if not self._credentials.login_configured():
                    if forwarded or not _is_local(scope):
                        return refused(HTTPStatus.FORBIDDEN, NOT_LOCAL)
                    user = LOCAL_USER
                elif scope["path"] not in OPEN_PATHS and not _is_foreign(scope):
                    return self._login_wanted(scope)
        except AccountsBrokenError:
            _log.exception("the list of users cannot be used")
            return refused(HTTPStatus.SERVICE_UNAVAILABLE, ACCOUNTS_BROKEN)
        return _refusal(scope, user) or user

    def _login_wanted(self, scope: Scope) -> Response:
        if not self._credentials.accounts.users():
            return refused(HTTPStatus.UNAUTHORIZED, PROXY_NAMES_NOBODY)
        if _is_for_programs(scope):
            return refused(HTTPStatus.UNAUTHORIZED, LOGIN_NEEDED)
        query = scope["query_string"].decode("latin-1")
        wanted = quote(scope["path"] + (f"?{query}" if query else ""), safe="/")
        return RedirectResponse(f"/login?next={wanted}", HTTPStatus.SEE_OTHER, {"Cache-Control": "no-store"})


def recognised(scope: Scope, credentials: Credentials) -> User | None:
    """Whom the request names with proof: a bearer token, a trusted proxy, or the session cookie.

    A token that is nobody's is not helped by a cookie. Raises AccountsBrokenError.
    """
    headers = Headers(scope=scope)
    token = _bearer(headers.get("authorization", ""))
    if token:
        secret = credentials.owner_secret
        if secret and hmac.compare_digest(token.encode("utf-8", "replace"), secret.encode()):
            return LOCAL_USER
        if user := credentials.accounts.of_token(token):
            return user
    try:
        named = forwarded_user(scope, credentials.proxy)
    except UserNameError as error:
        _log.warning("the proxy names no user: %s", error)
        return None
    if named or token:
        return named
    cookie = cookie_parser(headers.get("cookie", "")).get(SESSION_COOKIE)
    return credentials.sessions.user(cookie) if cookie else None


def _refusal(scope: Scope, user: User | None) -> Response | None:
    if _is_foreign(scope):
        return refused(HTTPStatus.FORBIDDEN, FOREIGN_ORIGIN)
    if CLOSED.search(scope["path"]):
        return refused(HTTPStatus.NOT_FOUND, NOTHING_HERE)
    headers = Headers(scope=scope)
    is_upload = _is_upload(scope["path"], headers)
    if is_upload and (user is None or user.role != "admin"):
        return refused(HTTPStatus.FORBIDDEN, ADMIN_ONLY)
    return _size_refusal(scope, headers, is_upload=is_upload)


def _size_refusal(scope: Scope, headers: Headers, *, is_upload: bool) -> Response | None:
    if scope["type"] == "websocket" or (scope["method"] not in BODIED and not _has_body(headers)):
        return None
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal()):
        return refused(HTTPStatus.LENGTH_REQUIRED, NO_LENGTH)
    if len(length) > 18 or int(length) > _most_bytes(scope["path"], is_upload=is_upload):
        return refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE)
    return None


def _most_bytes(path: str, *, is_upload: bool) -> int:
    if path == "/api/documents":
        return LARGEST_BYTES
    if is_upload:
        return LARGEST_BYTES + MAX_FORM_BYTES
    if path in OPEN_PATHS:
        return MAX_FORM_BYTES
    return MAX_API_BYTES if path.startswith("/api/") or path == SLACK_PATH else MAX_PAGE_BYTES


def _is_upload(path: str, headers: Headers) -> bool:
    """A file sent by the page, wherever it is sent to."""
    form = headers.get("content-type", "").strip().lower().startswith("multipart/")
    return form or path.rstrip("/").endswith("/gradio_api/upload")


def _is_foreign(scope: Scope) -> bool:
    """Whether another web site has the reader's browser send this."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None:
        try:
            return urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
        except ValueError:
            return True
    method = scope.get("method", "GET")
    return method not in SAFE and headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}


def _is_for_programs(scope: Scope) -> bool:
    path = scope["path"]
    return (
        scope["type"] == "websocket"
        or scope["method"] not in SAFE
        or path.startswith("/api/")
        or "/gradio_api/" in path
        or path == "/metrics"
    )


def _is_local(scope: Scope) -> bool:
    """Whether it comes from this machine and names it: neither alone is enough (rebound names, published ports)."""
    address = peer(scope)
    return address is not None and address.is_loopback and _name(Headers(scope=scope).get("host", "")) in LOCAL_HOSTS


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _name(host: str) -> str:
    """The host name without port and brackets; "" for what is none, so that it is refused."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _bearer(authorization: str) -> str:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
