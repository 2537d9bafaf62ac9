"""Users, passwords, tokens and sessions: what is kept, who is let in, and what ends a session."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest
from itsdangerous import URLSafeTimedSerializer

from assistant import passwords
from assistant import sessions as sessions_module
from assistant.accounts import (
    Accounts,
    AccountsBrokenError,
    UnknownUserError,
    User,
    UserExistsError,
    UserNameError,
    user_name,
)
from assistant.passwords import WeakPasswordError
from assistant.sessions import Sessions

SECRET = "correct horse 电池"


@pytest.fixture(autouse=True)
def fast_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_COST", 16)


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    return Accounts(tmp_path / "home" / "users.json")


def test_without_a_file_there_are_no_users(accounts: Accounts) -> None:
    assert accounts.users() == {}
    assert accounts.of_password("anna", SECRET) is None
    assert accounts.of_token("gpa_x") is None


def test_a_user_is_known_by_name_and_password_however_the_name_is_written(accounts: Accounts) -> None:
    assert accounts.add("Anna", SECRET, "admin") == User("anna", "admin")
    for written in ("anna", "ANNA", " Anna ", "Ａｎｎａ"):  # the last in full-width letters
        assert accounts.of_password(written, SECRET) == User("anna", "admin")
    for wrong in (SECRET + " ", SECRET.upper(), "", "x" * 5_000, "\ud800"):
        assert accounts.of_password("anna", wrong) is None
    for other in ("ann", "anna2", "", "../anna", "local", "anna\x00"):
        assert accounts.of_password(other, SECRET) is None


def test_neither_password_nor_token_is_in_the_file_and_only_its_owner_reads_it(accounts: Accounts) -> None:
    accounts.add("anna", SECRET, "reader")
    token = accounts.new_token("anna")
    text = accounts.path.read_text(encoding="utf-8")
    assert SECRET not in text
    assert token not in text
    assert token.removeprefix("gpa_") not in text
    for file in accounts.path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_the_same_password_is_kept_differently_each_time() -> None:
    first, second = passwords.hash_password(SECRET), passwords.hash_password(SECRET)
    assert first != second
    assert passwords.matches(SECRET, first)
    assert passwords.matches(SECRET, second)


def test_an_unknown_name_is_compared_as_slowly_as_a_known_one(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.add("anna", SECRET, "reader")
    costs: list[list[str]] = []
    matches = passwords.matches
    monkeypatch.setattr(
        passwords, "matches", lambda given, kept: costs.append(kept.split("$")[:4]) or matches(given, kept)
    )
    for name in ("anna", "nobody", "no such name!", ""):
        accounts.of_password(name, "wrong password")
    assert costs == [["scrypt", "16", "8", "5"]] * 4


def test_nobodys_password_has_none() -> None:
    assert not passwords.matches("", passwords.nobodys_password())
    assert not passwords.matches(SECRET, passwords.nobodys_password())


def test_a_password_is_the_same_on_keyboards_that_compose_accents_differently() -> None:
    assert passwords.matches("cafe\u0301 noir", passwords.hash_password("caf\u00e9 noir"))


@pytest.mark.parametrize("name", ["anna", "小王", "j.doe@example.com", "a-b_c+1", "_x", "Ärger", "7"])
def test_names_that_can_be_given(name: str) -> None:
    assert user_name(name)


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a/b", "../x", ".hidden", "-rf", "a\nb", "a\x00", "<b>", "a,b", "a;b", "x" * 65, "local", "LOCAL", "🙂", "a\u202eb", "a'b"],
)  # fmt: skip
def test_names_that_cannot_be_given_are_told_with_what_can(name: str, accounts: Accounts) -> None:
    with pytest.raises(UserNameError) as told:
        accounts.add(name, SECRET, "reader")
    assert " / " in str(told.value)
    assert not accounts.path.exists()


@pytest.mark.parametrize(
    "password", ["", "short", "七个字的密码呀", "aaaaaaaaaaaa", "annaanna", "ANNAANNA", "x" * 1_001]
)
def test_weak_passwords_are_refused_in_both_languages(accounts: Accounts, password: str) -> None:
    with pytest.raises(WeakPasswordError, match=r"密码太.+。 / The password is too"):
        accounts.add("annaanna", password, "reader")
    accounts.add("annaanna", SECRET, "reader")
    with pytest.raises(WeakPasswordError):
        accounts.set_password("annaanna", password)


def test_a_taken_name_and_an_unknown_one_are_named(accounts: Accounts) -> None:
    accounts.add("anna", SECRET, "reader")
    with pytest.raises(UserExistsError, match="gpu-advisor users password anna"):
        accounts.add("ANNA", SECRET, "admin")
    for act in (accounts.remove, accounts.new_token, accounts.revoke_tokens):
        with pytest.raises(UnknownUserError, match="'bob'; there are: anna"):
            act("bob")
    with pytest.raises(UnknownUserError):
        accounts.set_password("bob", SECRET)
    assert accounts.find("anna") == User("anna", "reader")


def test_what_another_process_changes_is_seen_at_once(accounts: Accounts) -> None:
    serving = Accounts(accounts.path)
    assert serving.users() == {}
    accounts.add("anna", SECRET, "reader")
    token = accounts.new_token("anna")
    assert serving.of_token(token) == User("anna", "reader")
    accounts.set_role("anna", "admin")
    assert serving.of_token(token) == User("anna", "admin")
    accounts.set_password("anna", "another secret")
    assert serving.of_password("anna", SECRET) is None
    accounts.revoke_tokens("anna")
    assert serving.of_token(token) is None
    accounts.remove("anna")
    assert serving.users() == {}


def test_tokens_end_with_their_user_and_do_not_come_back_with_the_name(accounts: Accounts) -> None:
    accounts.add("anna", SECRET, "admin")
    token, other = accounts.new_token("anna"), accounts.new_token("anna")
    assert token != other
    assert accounts.of_token(other) == User("anna", "admin")
    for wrong in (
        "",
        "gpa_",
        token[:-1],
        token + "x",
        token.lower(),
        accounts.users()["anna"].tokens[0].sha256,
        "\udcff",
    ):
        assert accounts.of_token(wrong) is None
    accounts.remove("anna")
    accounts.add("anna", SECRET, "admin")
    assert accounts.of_token(token) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 2, "users": {}}', '{"format": 1}', '{"format": 1, "users": {"a": {"role": "root"}}}',
     '{"format": 1, "users": {"a": {"role": "admin", "password": "", "added_at": ""}}}', "\x00"],
)  # fmt: skip
def test_a_broken_file_lets_nobody_in_and_is_not_overwritten(accounts: Accounts, text: str) -> None:
    accounts.path.parent.mkdir()
    accounts.path.write_text(text)
    for act in (accounts.users, lambda: accounts.of_password("a", ""), lambda: accounts.add("b", SECRET, "admin")):
        with pytest.raises(AccountsBrokenError, match=r"users\.json.*users add"):
            act()
    assert accounts.path.read_text() == text


def test_a_change_that_fails_half_way_leaves_the_file_as_it_was(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.add("anna", SECRET, "reader")
    before = accounts.path.read_bytes()

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", no_space)
    with pytest.raises(AccountsBrokenError, match="No space left"):
        accounts.add("bob", SECRET, "reader")
    assert accounts.path.read_bytes() == before
    assert set(accounts.users()) == {"anna"}


def test_users_added_at_the_same_time_are_all_kept(accounts: Accounts) -> None:
    names = [f"user{number}" for number in range(8)]
    threads = [threading.Thread(target=Accounts(accounts.path).add, args=(name, SECRET, "reader")) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(accounts.users()) == names
    assert json.loads(accounts.path.read_text())["format"] == 1


@pytest.fixture
def sessions(accounts: Accounts) -> Sessions:
    accounts.add("anna", SECRET, "reader")
    return Sessions(accounts, accounts.path.with_name("session.key"))


def test_a_session_is_its_users_until_the_password_changes(sessions: Sessions, accounts: Accounts) -> None:
    cookie = sessions.new(User("anna", "reader"))
    assert sessions.user(cookie) == User("anna", "reader")
    accounts.set_role("anna", "admin")
    assert sessions.user(cookie) == User("anna", "admin")  # the role is today's, not the cookie's
    accounts.set_password("anna", "another secret")
    assert sessions.user(cookie) is None


def test_a_session_ends_with_its_user_and_does_not_come_back_with_the_name(
    sessions: Sessions, accounts: Accounts
) -> None:
    cookie = sessions.new(User("anna", "reader"))
    accounts.remove("anna")
    assert sessions.user(cookie) is None
    accounts.add("anna", SECRET, "reader")
    assert sessions.user(cookie) is None


def test_a_session_is_too_old_after_thirty_days(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = sessions.new(User("anna", "reader"))
    monkeypatch.setattr(sessions_module, "SESSION_SECONDS", -1)
    assert sessions.user(cookie) is None


def test_a_cookie_that_was_changed_or_made_elsewhere_is_nobodys(sessions: Sessions, tmp_path: Path) -> None:
    cookie = sessions.new(User("anna", "reader"))
    body, time, signature = cookie.split(".")
    forged = [
        "",
        ".",
        "x",
        cookie[:-1],
        cookie + "x",
        f"{body}.{time}.",
        f"{body[:-2]}xx.{time}.{signature}",
        f"{body}.AAAAAA.{signature}",
        "\udcff",
        "é" * 50,
    ]
    key = (tmp_path / "home" / "session.key").read_text()
    for secret, salt, payload in (
        ("another key", "gpu-advisor session 1", ["anna", "0" * 16]),
        (key, "another purpose", ["anna", "0" * 16]),
        (key, "gpu-advisor session 1", ["anna", ""]),
        (key, "gpu-advisor session 1", ["nobody", ""]),
        (key, "gpu-advisor session 1", ["anna", None]),
        (key, "gpu-advisor session 1", ["anna"]),
        (key, "gpu-advisor session 1", 7),
        (key, "gpu-advisor session 1", None),
    ):
        forged.append(str(URLSafeTimedSerializer(secret, salt=salt).dumps(payload)))
    assert [sessions.user(each) for each in forged] == [None] * len(forged)


def test_the_key_is_private_and_stays_over_restarts(sessions: Sessions, accounts: Accounts) -> None:
    file = accounts.path.with_name("session.key")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    cookie = sessions.new(User("anna", "reader"))
    assert Sessions(accounts, file).user(cookie) == User("anna", "reader")
    file.unlink()
    assert Sessions(accounts, file).user(cookie) is None  # a new key, a new login


@pytest.mark.parametrize("content", [b"", b"short", b"\xff\xfe"])
def test_a_broken_key_is_named_with_the_way_out(accounts: Accounts, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "session.key"
    file.write_bytes(content)
    with pytest.raises(AccountsBrokenError, match=r"session\.key.*removing it"):
        Sessions(accounts, file)
