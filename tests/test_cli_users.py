"""The commands about users."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assistant import passwords
from assistant.accounts import Accounts, User
from assistant.cli import app

SECRET = "correct horse"


@pytest.fixture(autouse=True)
def fast_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_COST", 16)


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    return Accounts(tmp_path / "home" / "users.json")


def run(*arguments: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, ["users", *arguments], input=typed)


def test_a_user_is_added_listed_changed_and_removed(accounts: Accounts) -> None:
    added = run("add", "Anna", "--password-stdin", typed=f"{SECRET}\n")
    assert "已添加 / added: anna (reader)" in added.stdout
    assert "users add NAME --admin" in added.stdout  # nobody is an admin yet
    assert "需要登录" in added.stdout
    assert "需要登录" not in run("add", "bob", "--admin", "--password-stdin", typed="hunter two\r\n").stdout
    assert accounts.of_password("bob", "hunter two") == User("bob", "admin")
    assert [line.split()[:2] for line in run("list").stdout.splitlines()] == [["anna", "reader"], ["bob", "admin"]]
    assert run("role", "anna", "admin").exit_code == 0
    assert accounts.find("anna") == User("anna", "admin")
    assert run("password", "anna", "--password-stdin", typed="another secret").exit_code == 0
    assert accounts.of_password("anna", "another secret")
    assert run("remove", "anna").exit_code == 0
    assert "only this machine is served" in run("remove", "bob").stdout
    assert "users add" in run("list").stdout


def test_a_token_is_alone_on_standard_output_and_never_shown_again(accounts: Accounts) -> None:
    run("add", "anna", "--password-stdin", typed=SECRET)
    made = run("token", "anna")
    token = made.stdout.strip()
    assert accounts.of_token(token) == User("anna", "reader")
    assert "Authorization: Bearer" in made.stderr
    listed = json.loads(run("list", "--json").stdout)
    assert (listed[0]["name"], listed[0]["tokens"]) == ("anna", 1)
    assert token not in run("list", "--json").stdout + run("list").stdout
    assert "1" in run("token", "anna", "--revoke").stdout
    assert accounts.of_token(token) is None


@pytest.mark.parametrize(
    ("arguments", "typed", "said"),
    [
        (["add", "anna", "--password-stdin"], "short\n", "at least 8 characters"),
        (["add", "anna", "--password-stdin"], "", "Standard input is empty"),
        (["add", "anna"], "correct horse\n", "--password-stdin"),  # no terminal to type at
        (["add", "a b", "--password-stdin"], "correct horse\n", "'a b'"),
        (["add", "local", "--password-stdin"], "correct horse\n", "'local'"),
        (["remove", "nobody"], "", "no user 'nobody'"),
        (["token", "nobody"], "", "no user 'nobody'"),
        (["role", "nobody", "admin"], "", "no user 'nobody'"),
        (["password", "nobody", "--password-stdin"], "correct horse\n", "no user 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(arguments: list[str], typed: str, said: str) -> None:
    ended = run(*arguments, typed=typed)
    assert ended.exit_code == 1
    assert said in ended.stderr
    assert "Traceback" not in ended.output


def test_no_command_prints_the_password(accounts: Accounts) -> None:
    printed = [
        run("add", "anna", "--password-stdin", typed=SECRET),
        run("password", "anna", "--password-stdin", typed=SECRET),
    ]
    assert SECRET not in "".join(each.output for each in printed)


def test_a_broken_file_is_told_and_not_a_traceback(accounts: Accounts) -> None:
    accounts.path.parent.mkdir()
    accounts.path.write_text("{")
    for arguments in (["list"], ["add", "anna", "--password-stdin"]):
        ended = run(*arguments, typed=SECRET)
        assert ended.exit_code == 1
        assert "users.json" in ended.stderr
