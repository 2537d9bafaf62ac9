"""Who may use the advisor: users with a role, their passwords and tokens, in one file that only its owner can read.

The file is replaced as a whole and read again whenever it has changed, so a running server obeys `gpu-advisor users`
at once. What a user may do is checked where it is done; this module reads no request.

Errors: AccountsError and what it lists.
"""

from __future__ import annotations

import hmac
import json
import os
import re
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assistant import passwords

Role = Literal["reader", "admin"]
LONGEST_NAME = 64
_NAME = re.compile(r"[\w][\w.@+-]*")
FORMAT = 1


@dataclass(frozen=True)
class User:
    """Somebody who may ask; an admin may also change the knowledge base. `name` owns the conversations."""

    name: str
    role: Role


LOCAL_USER = User("local", "admin")  # whoever sits at this machine, where no login is configured


class AccountsError(Exception):
    """What is wrong with a user or with their file, in both languages.

    UserNameError: no such name can be given.  UserExistsError, UnknownUserError: the name is taken, or nobody's.
    AccountsBrokenError: the file of users cannot be read or written.
    """


class UserNameError(AccountsError):
    """The name cannot be a user's."""


class UserExistsError(AccountsError):
    """Somebody has that name."""


class UnknownUserError(AccountsError):
    """Nobody has that name."""


class AccountsBrokenError(AccountsError):
    """The file of users cannot be read or written; nobody is let in on a guess."""


class Token(BaseModel):
    """A bearer token as it is kept: its SHA-256 and when it was made (ISO, UTC)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    made_at: str


class Account(BaseModel):
    """One user as the file has it; `password` is what passwords.hash_password gave."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    password: str = Field(pattern=r"^scrypt(\$[\w+/=]+){5}$")
    added_at: str
    tokens: tuple[Token, ...] = ()


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1]
    users: dict[str, Account]


def user_name(text: str) -> str:
    """The name as it is kept and compared: NFKC, lower case. Raises UserNameError with what a name may hold."""
    name = unicodedata.normalize("NFKC", text).casefold().strip()
    if name == LOCAL_USER.name:
        raise UserNameError(
            f"用户名不能是 {name!r}：没有登录时的对话归它所有。请另取一个。 / "
            f"The name cannot be {name!r}, which owns the conversations held without a login; choose another."
        )
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        shown = text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"
        raise UserNameError(
            f"用户名 {shown!r} 不行：1 到 {LONGEST_NAME} 个字母、汉字、数字或 . _ - @ +，以字母、汉字、数字或 _ 开头。 / "
            f"The name {shown!r} will not do: 1 to {LONGEST_NAME} letters, digits or . _ - @ +, "
            "the first a letter, a digit or _."
        )
    return name


class Accounts:
    """The users in `path`. Every call sees the file as it is now; threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reading = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._users: dict[str, Account] = {}

    def users(self) -> dict[str, Account]:
        """Every user by name; none where there is no file. Raises AccountsBrokenError."""
        with self._reading:
            try:
                state = self.path.stat()
            except FileNotFoundError:
                self._seen, self._users = None, {}
                return self._users
            except OSError as error:
                raise self._broken(error) from error
            seen = (state.st_ino, state.st_mtime_ns, state.st_size)
            if seen != self._seen:
                self._users = self._read()
                self._seen = seen
            return self._users

    def find(self, name: str) -> User | None:
        """The user of that name, as it is kept; None where nobody has it."""
        account = self.users().get(name)
        return User(name, account.role) if account else None

    def of_password(self, name: str, password: str) -> User | None:
        """The user whose name and password these are; as slow for an unknown name as for a wrong password."""
        try:
            known = user_name(name)
        except UserNameError:
            known = ""
        account = self.users().get(known)
        try:
            right = passwords.matches(password, account.password if account else passwords.nobodys_password())
        except ValueError as error:
            raise self._broken(error) from error
        return User(known, account.role) if account and right else None

    def of_token(self, token: str) -> User | None:
        """The user whose bearer token this is."""
        digest = passwords.token_digest(token)
        found: User | None = None
        for name, account in self.users().items():
            for each in account.tokens:
                if hmac.compare_digest(each.sha256, digest):
                    found = User(name, account.role)
        return found

    def password_mark(self, name: str) -> str:
        """A mark that changes with the password of `name`: what a session is tied to. "" for nobody."""
        account = self.users().get(name)
        return sha256(account.password.encode()).hexdigest()[:16] if account else ""

    def add(self, name: str, password: str, role: Role) -> User:
        """Add a user. Raises UserNameError, UserExistsError, passwords.WeakPasswordError."""
        name = user_name(name)
        passwords.check_strength(password, name)
        with self._changing() as users:
            if name in users:
                raise UserExistsError(
                    f"已有用户 {name!r}。改密码请用 gpu-advisor users password {name}。 / "
                    f"There is a user {name!r} already; to change the password: gpu-advisor users password {name}."
                )
            users[name] = Account(role=role, password=passwords.hash_password(password), added_at=_now())
        return User(name, role)

    def remove(self, name: str) -> None:
        """Take a user out, with the tokens; their sessions end. Raises UnknownUserError."""
        with self._changing() as users:
            del users[self._known(users, name)]

    def set_password(self, name: str, password: str) -> None:
        """Give a user another password; their sessions end. Raises UnknownUserError, passwords.WeakPasswordError."""
        with self._changing() as users:
            known = self._known(users, name)
            passwords.check_strength(password, known)
            users[known] = users[known].model_copy(update={"password": passwords.hash_password(password)})

    def set_role(self, name: str, role: Role) -> None:
        """Make a user a reader or an admin; holds at once, in sessions that are open too. Raises UnknownUserError."""
        with self._changing() as users:
            known = self._known(users, name)
            users[known] = users[known].model_copy(update={"role": role})

    def new_token(self, name: str) -> str:
        """Make one more bearer token; it can be read here only. Raises UnknownUserError."""
        token = passwords.new_token()
        with self._changing() as users:
            known = self._known(users, name)
            kept = (*users[known].tokens, Token(sha256=passwords.token_digest(token), made_at=_now()))
            users[known] = users[known].model_copy(update={"tokens": kept})
        return token

    def revoke_tokens(self, name: str) -> int:
        """End every token of a user; returns how many. Raises UnknownUserError."""
        with self._changing() as users:
            known = self._known(users, name)
            ended = len(users[known].tokens)
            users[known] = users[known].model_copy(update={"tokens": ()})
        return ended

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Account]]:
        """The users, to be changed while no other process changes them; written unless something is raised."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path.with_suffix(".lock"), timeout=10, mode=0o600):
                users = dict(self.users())
                yield users
                kept = {name: account.model_dump(mode="json") for name, account in sorted(users.items())}
                write_private(self.path, json.dumps({"format": FORMAT, "users": kept}, ensure_ascii=False, indent=1))
        except Timeout as error:
            raise AccountsBrokenError(
                f"用户文件 {str(self.path)!r} 正被别的命令修改，请稍后再试。 / "
                f"The file of users {str(self.path)!r} is being changed by another command; try again."
            ) from error

    def _known(self, users: dict[str, Account], name: str) -> str:
        wanted = user_name(name)
        if wanted not in users:
            there = ", ".join(sorted(users)) or "-"
            raise UnknownUserError(
                f"没有用户 {wanted!r}。现有：{there} / There is no user {wanted!r}; there are: {there}"
            )
        return wanted

    def _read(self) -> dict[str, Account]:
        try:
            found = _File.model_validate_json(self.path.read_bytes())
        except (OSError, ValidationError) as error:
            raise self._broken(error) from error
        return found.users

    def _broken(self, error: Exception) -> AccountsBrokenError:
        why = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}"
        return AccountsBrokenError(
            f"用户文件 {str(self.path)!r} 不能用（{why}）。请检查权限，或移走它后用 gpu-advisor users add 重新添加。 / "
            f"The file of users {str(self.path)!r} cannot be used ({why}). Check its permissions, or move it away and "
            "add the users anew: gpu-advisor users add NAME."
        )


def write_private(path: Path, text: str) -> None:
    """Replace `path` as a whole by `text`, readable by its owner only. Raises AccountsBrokenError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.unlink(missing_ok=True)
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
            handle.write(text)
            handle.flush()
            os.fsync(handle.fileno())
        beside.replace(path)
    except OSError as error:
        raise AccountsBrokenError(
            f"无法写入 {str(path)!r}（{error.strerror}），请检查磁盘和权限。 / "
            f"{str(path)!r} cannot be written ({error.strerror}); check disk and permissions."
        ) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
