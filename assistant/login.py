"""Logging in and out, and choosing the language: GET and POST /login, POST /logout, GET /language/zh and /language/en.

An unknown name and a wrong password get the same answer after the same time. Where a user may go next is a path of this
site (local_paths.py).
"""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from urllib.parse import parse_qs

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from assistant.accounts import User, UserNameError, user_name
from assistant.evidence import Bilingual, Language
from assistant.gate import Credentials
from assistant.local_paths import in_language, local_path
from assistant.login_page import login_page
from assistant.metrics import Metrics
from assistant.proxies import peer
from assistant.request_limits import LoginAttempts
from assistant.sessions import SESSION_COOKIE, SESSION_SECONDS
from assistant.web.page import LANGUAGE_COOKIE, LANGUAGES, preferred_language

WRONG = Bilingual(zh="用户名或密码不对。", en="Name or password is wrong.")
LANGUAGE_SECONDS = 365 * 24 * 3600
_HASHED_AT_ONCE = 2  # each takes 16 MiB and a core
_MOST_FIELDS = 20


def add_login(app: FastAPI, credentials: Credentials, metrics: Metrics) -> None:
    """Add /login and /logout."""
    attempts = LoginAttempts()
    hashing = CapacityLimiter(_HASHED_AT_ONCE)

    @app.get("/login")
    def page(request: Request) -> Response:
        after = local_path(request.query_params.get("next"))
        if request.state.user or not credentials.accounts.users():
            return _redirect(after)
        return _html(request, after)

    @app.post("/login")
    async def log_in(request: Request) -> Response:
        fields = await _fields(request)
        name, password, after = fields.get("name", ""), fields.get("password", ""), local_path(fields.get("next"))
        address = peer(request.scope)
        wait = attempts.allow(address, _counted(name))
        user = None
        if wait is None:
            user = await run_sync(credentials.accounts.of_password, name, password, limiter=hashing)
        if user is None:
            metrics.failed_logins.inc()
            return _html(request, after, WRONG if wait is None else _too_often(wait), name, wait)
        attempts.succeeded(address, _counted(name))
        return _logged_in(request, credentials, user, after)

    @app.post("/logout")
    def log_out() -> Response:
        response = _redirect("/login")
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="lax")
        return response


def add_languages(app: FastAPI) -> None:
    """Add /language/zh and /language/en, which keep the choice and go to `next` in that language."""
    for language in LANGUAGES:
        app.get(f"/language/{language}")(partial(_choose, language))


def _choose(language: Language, request: Request) -> Response:
    response = _redirect(in_language(local_path(request.query_params.get("next")), language))
    response.set_cookie(LANGUAGE_COOKIE, language, max_age=LANGUAGE_SECONDS, samesite="lax", secure=_secure(request))
    return response


def _redirect(after: str) -> Response:
    return RedirectResponse(after, HTTPStatus.SEE_OTHER, {"Cache-Control": "no-store"})


async def _fields(request: Request) -> dict[str, str]:
    """The fields of a form as browsers send it; what is none has no fields."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    text = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def _logged_in(request: Request, credentials: Credentials, user: User, after: str) -> Response:
    response = _redirect(after)
    response.set_cookie(
        SESSION_COOKIE,
        credentials.sessions.new(user),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="lax",
        secure=_secure(request),
    )
    return response


def _html(
    request: Request, after: str, fault: Bilingual | None = None, name: str = "", wait: float | None = None
) -> Response:
    status = HTTPStatus.OK if wait is None else HTTPStatus.TOO_MANY_REQUESTS
    headers = {"Cache-Control": "no-store", "Vary": "Accept-Language, Cookie"}
    if wait is not None:
        headers["Retry-After"] = str(int(wait) + 1)
    return HTMLResponse(login_page(preferred_language(request), after, fault=fault, name=name[:64]), status, headers)


def _too_often(wait: float) -> Bilingual:
    minutes = int(wait // 60) + 1
    return Bilingual(
        zh=f"尝试次数太多，请 {minutes} 分钟后再试。", en=f"Too many attempts; try again in {minutes} min."
    )


def _counted(name: str) -> str:
    """The name under which attempts are counted: however it is written, one name is one."""
    try:
        return user_name(name)
    except UserNameError:
        return name.strip().casefold()


def _secure(request: Request) -> bool:
    return request.url.scheme == "https"
