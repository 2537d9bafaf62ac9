"""How a request is refused: one sentence in both languages as JSON, never a path, a traceback or another's words."""

from __future__ import annotations

import math
from http import HTTPStatus

from starlette.responses import JSONResponse

from assistant.evidence import Bilingual

LOGIN_NEEDED = Bilingual(
    zh="请先登录：浏览器打开 /login；程序请带上 Authorization: Bearer 令牌（gpu-advisor users token 用户名）。",
    en="Log in first: a browser at /login; a program sends Authorization: Bearer TOKEN (gpu-advisor users token NAME).",
)
PROXY_NAMES_NOBODY = Bilingual(
    zh="登录由代理负责，但它没有说明您是谁。请经由代理访问，或请管理员检查 GPU_ADVISOR_USER_HEADER 和 GPU_ADVISOR_TRUSTED_PROXIES。",
    en="A proxy does the login here, and it has not said who you are. Come through the proxy, or have the administrator "
    "check GPU_ADVISOR_USER_HEADER and GPU_ADVISOR_TRUSTED_PROXIES.",
)
NOT_LOCAL = Bilingual(
    zh="这里还没有设置登录，只服务本机发往 localhost 的请求。要供他人使用，请在服务器（或容器）里运行 "
    "gpu-advisor users add 用户名 --admin，或设置 GPU_ADVISOR_USER_HEADER 和 GPU_ADVISOR_TRUSTED_PROXIES。",
    en="No login is configured, so only requests to localhost from this machine itself are served. To serve others, run "
    "gpu-advisor users add NAME --admin on the server (inside the container), or set GPU_ADVISOR_USER_HEADER and "
    "GPU_ADVISOR_TRUSTED_PROXIES.",
)
FOREIGN_ORIGIN = Bilingual(
    zh="请求来自别的网站（Origin 与 Host 不符），已拒绝；只接受 localhost 或本站自己的页面。",
    en="The request comes from another web site (Origin and Host differ) and was refused; only pages of localhost, or of "
    "this site itself, may ask.",
)
ADMIN_ONLY = Bilingual(
    zh="只有管理员可以这样做。请找管理员，或请其运行 gpu-advisor users role 用户名 admin。",
    en="Only an administrator may do this. Ask one, or have your role changed: gpu-advisor users role NAME admin.",
)
TOO_LARGE = Bilingual(zh="请求太大。", en="The request is too large.")
NO_LENGTH = Bilingual(zh="请求缺少 Content-Length。", en="The request lacks a Content-Length.")
NOTHING_HERE = Bilingual(zh="这个地址没有内容。", en="There is nothing at this address.")
LOADING = Bilingual(
    zh="知识库正在加载，请几秒后再试。", en="The knowledge base is still loading; try again in a few seconds."
)
TOO_BUSY = Bilingual(
    zh="同时回答的问题太多，请几秒后再试。", en="Too many questions are being answered; try again in a few seconds."
)
BROKEN = Bilingual(
    zh="服务器内部出错，已记入日志。请再试一次；若仍如此，请告诉管理员。",
    en="Something went wrong inside the server and was logged. Try again, and tell the administrator if it stays so.",
)
ACCOUNTS_BROKEN = Bilingual(
    zh="服务器读不出用户名单，因此谁也不能登录。原因已记入日志，请告诉管理员。",
    en="The server cannot read its list of users, so nobody is let in. The cause is in the log; tell the administrator.",
)
RETRY_SECONDS = 2


class RefusedError(Exception):
    """A request that is refused inside a handler; `status` and `sentence` are all that the client sees."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self, sentence: Bilingual) -> None:
        super().__init__(f"{sentence.zh} / {sentence.en}")
        self.sentence = sentence


class AdminOnlyError(RefusedError):
    """Whoever asked is no admin."""

    def __init__(self) -> None:
        super().__init__(ADMIN_ONLY)


def too_soon(seconds: float) -> Bilingual:
    """What is said to whoever asks more often than allowed."""
    wait = max(1, math.ceil(seconds))
    return Bilingual(
        zh=f"提问太频繁，请 {wait} 秒后再试。", en=f"Too many questions in a short time; try again in {wait} s."
    )


def refused(status: HTTPStatus, sentence: Bilingual, retry_seconds: float | None = None) -> JSONResponse:
    """The response; `retry_seconds` goes into Retry-After."""
    headers = {"Cache-Control": "no-store"}
    if retry_seconds is not None:
        headers["Retry-After"] = str(max(1, math.ceil(retry_seconds)))
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="gpu-advisor"'
    return JSONResponse({"error": f"{sentence.zh} / {sentence.en}"}, status_code=status, headers=headers)
