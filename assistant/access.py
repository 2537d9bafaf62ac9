"""Who sent a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection

from assistant.accounts import LOCAL_USER, User

if TYPE_CHECKING:
    import gradio


def user_of(request: HTTPConnection | gradio.Request | Any) -> User:
    """The user that the middleware recognised in a request of FastAPI or of the page."""
    inner = getattr(request, "request", request)
    user = inner.scope.get("state", {}).get("user")
    return user if isinstance(user, User) else LOCAL_USER
