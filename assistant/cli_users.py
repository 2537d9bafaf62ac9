"""The commands about who may log in: users add, list, remove, password, role, token.

Parses and prints; what happens stands in accounts.py. A running server obeys at once.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from assistant.cli_errors import fail, said_plainly, say, say_json

if TYPE_CHECKING:
    from assistant.accounts import Accounts

users_app = typer.Typer(no_args_is_help=True, help="可以登录的用户 / who may log in")

Role = Literal["reader", "admin"]  # as accounts.Role, which `--help` need not import
Name = Annotated[str, typer.Argument(help="用户名 / name")]
FromStdin = Annotated[bool, typer.Option("--password-stdin", help="从标准输入读密码 / read it from standard input")]


@users_app.command("add")
def add(
    name: Name,
    admin: Annotated[bool, typer.Option("--admin", help="可以管理知识库 / may change the knowledge base")] = False,
    password_stdin: FromStdin = False,
) -> None:
    """Add a user; from the first one on, everybody has to log in."""
    with said_plainly():
        accounts = _accounts()
        first = not accounts.users()
        user = accounts.add(name, _password(password_stdin), "admin" if admin else "reader")
        say(f"已添加 / added: {user.name} ({user.role})")
        if first:
            say(
                "从现在起需要登录，本机的浏览器也一样；本机的命令不受影响。要供别的机器访问：gpu-advisor serve --host 0.0.0.0 / "
                "From now on a login is needed, in a browser on this machine too; commands on this machine go on without "
                "one. To serve other machines: gpu-advisor serve --host 0.0.0.0"
            )
        if not any(account.role == "admin" for account in accounts.users().values()):
            say(
                "还没有管理员：gpu-advisor users add 用户名 --admin / "
                "There is no admin yet: gpu-advisor users add NAME --admin"
            )


@users_app.command("list")
def list_users(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Who may log in, with role and number of tokens."""
    with said_plainly():
        users = _accounts().users()
    if as_json:
        listed = [
            {"name": name, "role": each.role, "added_at": each.added_at, "tokens": len(each.tokens)}
            for name, each in sorted(users.items())
        ]
        say_json(json.dumps(listed, ensure_ascii=False, indent=2))
        return
    for name, each in sorted(users.items()):
        say(f"{name}  {each.role}  {len(each.tokens)} 令牌 / tokens  {each.added_at}")
    if not users:
        say(
            "还没有用户，只服务本机：gpu-advisor users add 用户名 --admin / "
            "No users, so only this machine is served: gpu-advisor users add NAME --admin"
        )


@users_app.command("remove")
def remove(name: Name) -> None:
    """Take a user out; sessions and tokens end, conversations stay in the file."""
    with said_plainly():
        accounts = _accounts()
        accounts.remove(name)
        say(f"已删除 / removed: {name}")
        if not accounts.users():
            say(
                "没有用户了：只服务本机，且无需登录。 / No users are left: only this machine is served, without a login."
            )


@users_app.command("password")
def password(name: Name, password_stdin: FromStdin = False) -> None:
    """Give a user another password; sessions end, tokens stay."""
    with said_plainly():
        _accounts().set_password(name, _password(password_stdin))
        say(f"密码已更改，{name} 需重新登录。 / The password was changed; {name} has to log in again.")


@users_app.command("role")
def role(name: Name, role: Annotated[Role, typer.Argument(help="reader 或 / or admin")]) -> None:
    """Make a user a reader or an admin."""
    with said_plainly():
        _accounts().set_role(name, role)
        say(f"{name}: {role}")


@users_app.command("token")
def token(
    name: Name,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="收回该用户的全部令牌 / end all tokens of the user instead")
    ] = False,
) -> None:
    """Make a bearer token for programs; it is printed once and cannot be shown again."""
    with said_plainly():
        if revoke:
            say(f"已收回 / revoked: {_accounts().revoke_tokens(name)}")
            return
        made = _accounts().new_token(name)
    typer.echo(
        "令牌只显示这一次；用法 Authorization: Bearer 令牌 / Shown this once; send it as Authorization: Bearer TOKEN",
        err=True,
    )
    say(made)


def _accounts() -> Accounts:
    from assistant.accounts import Accounts
    from knowledge.weights import home

    return Accounts(home() / "users.json")


def _password(from_stdin: bool) -> str:
    """The password: a line of standard input, or typed twice without being shown."""
    if from_stdin:
        given = sys.stdin.readline().rstrip("\r\n")
        return given or fail("标准输入是空的。 / Standard input is empty.")
    if not sys.stdin.isatty():
        fail(
            "这里没有终端，请用 --password-stdin 从标准输入给出密码。 / "
            "There is no terminal here: give the password on standard input, with --password-stdin."
        )
    return str(typer.prompt("密码 / password", hide_input=True, confirmation_prompt="再输一次 / once more"))
