"""Who sent a request, and whether they may do what they ask: for the handlers of FastAPI and of the page.

The middleware of gate.py recognises the user; this module only reads what it found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import HTTPConnection

from assistant.accounts import User
from assistant.refusals import AdminOnlyError

if TYPE_CHECKING:
    import gradio


class UnrecognisedError(Exception):
    """A request reached a handler past the middleware that recognises users: a fault of ours, so nobody is let in."""


def user_of(request: HTTPConnection | gradio.Request | Any) -> User:
    """The user that the middleware recognised in a request of FastAPI or of the page. Raises UnrecognisedError."""
    inner = getattr(request, "request", request)
    user = inner.scope.get("state", {}).get("user")
    if not isinstance(user, User):
        raise UnrecognisedError(f"{inner.scope.get('path')!r} has no user: is the app served without gate.Gate?")
    return user


def require_admin(request: HTTPConnection | gradio.Request | Any) -> User:
    """The same, for what only admins may do. Raises refusals.AdminOnlyError, whose `sentence` is for the reader."""
    user = user_of(request)
    if user.role != "admin":
        raise AdminOnlyError
    return user
