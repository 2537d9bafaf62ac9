"""Session cookies: signed, dated, and tied to the user's password, so that a changed password or a removed user ends them.

Nothing is kept on the server but the key, in a file that only its owner can read. Reads no request.
"""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path

from itsdangerous import BadData, URLSafeTimedSerializer

from assistant.accounts import Accounts, AccountsBrokenError, User, write_private

SESSION_COOKIE = "gpu_advisor_session"
SESSION_SECONDS = 30 * 24 * 3600
_SHORTEST_KEY = 32


class Sessions:
    """Makes and checks the cookies of `accounts`; the key lies in `key_file`, made where it is missing."""

    def __init__(self, accounts: Accounts, key_file: Path) -> None:
        """Raises AccountsBrokenError where the key can neither be read nor made."""
        self._accounts = accounts
        self._signer = URLSafeTimedSerializer(_key(key_file), salt="gpu-advisor session 1")

    def new(self, user: User) -> str:
        """The value of the cookie for a user who has just logged in."""
        return str(self._signer.dumps([user.name, self._accounts.password_mark(user.name)]))

    def user(self, cookie: str) -> User | None:
        """Whose cookie it is, with today's role; None for one that was changed, is too old or has ended."""
        try:
            name, mark = self._signer.loads(cookie, max_age=SESSION_SECONDS)
        except (BadData, ValueError, TypeError):
            return None
        if not (isinstance(name, str) and isinstance(mark, str)):
            return None
        now = self._accounts.password_mark(name)
        return self._accounts.find(name) if now and hmac.compare_digest(now, mark) else None


def _key(file: Path) -> str:
    """The key in `file`, made where there is none; only the process that serves makes one."""
    try:
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            write_private(file, secrets.token_urlsafe(48))
        key = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise _broken(file, type(error).__name__) from error
    if len(key) < _SHORTEST_KEY:
        raise _broken(file, f"{len(key)} < {_SHORTEST_KEY}")
    return key


def _broken(file: Path, why: str) -> AccountsBrokenError:
    return AccountsBrokenError(
        f"会话密钥文件 {str(file)!r} 不能用（{why}）。请检查权限；删除它会生成新的密钥，所有人需重新登录。 / "
        f"The key of the sessions, {str(file)!r}, cannot be used ({why}). Check its permissions; removing it makes a new "
        "one, and everybody has to log in again."
    )
