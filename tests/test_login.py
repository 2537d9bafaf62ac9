"""Logging in and out, attacked: enumeration, guessing, forged forms, other hosts; and the language."""

from __future__ import annotations

import re
import time
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from fastapi import FastAPI
from gated import Got, credentials, send

from assistant import passwords
from assistant.gate import Credentials, Gate
from assistant.login import add_languages, add_login
from assistant.metrics import Metrics
from assistant.proxies import proxy_settings
from assistant.site_files import add_site_files

SECRET = "correct horse 电池"
PROXY = "10.0.0.5"


@pytest.fixture(autouse=True)
def fast_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "_COST", 16)


@pytest.fixture
def known(tmp_path: Path) -> Credentials:
    found = credentials(tmp_path, proxy_settings({"GPU_ADVISOR_TRUSTED_PROXIES": PROXY}))
    found.accounts.add("anna", SECRET, "admin")
    return found


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def app(known: Credentials, metrics: Metrics) -> FastAPI:
    app = FastAPI()
    app.add_middleware(Gate, credentials=known)
    add_login(app, known, metrics)
    add_languages(app)
    add_site_files(app)
    app.get("/zh/")(lambda: "the page")
    return app


def log_in(app: FastAPI, name: str, password: str, after: str = "/", **more: Any) -> Got:
    headers = {"Content-Type": "application/x-www-form-urlencoded", **more.pop("headers", {})}
    body = urlencode({"name": name, "password": password, "next": after}).encode()
    return send(app, "/login", method="POST", headers=headers, body=body, **more)


def cookies(got: Got) -> SimpleCookie:
    found = SimpleCookie()
    for name, value in got.headers:
        if name == "set-cookie":
            found.load(value)
    return found


def test_the_right_password_opens_the_page_that_was_wanted(app: FastAPI) -> None:
    assert send(app, "/zh/").status == 303
    got = log_in(app, "Anna", SECRET, "/zh/?tab=prices")
    assert (got.status, got.header("location"), got.header("cache-control")) == (303, "/zh/?tab=prices", "no-store")
    session = cookies(got)["gpu_advisor_session"]
    assert session["httponly"]
    assert not session["secure"]  # over plain HTTP the browser would not send it back
    assert (session["samesite"], session["path"], session["max-age"]) == ("lax", "/", str(30 * 24 * 3600))
    assert SECRET not in str(got.headers)
    assert send(app, "/zh/", headers={"Cookie": f"gpu_advisor_session={session.value}"}).status == 200


@pytest.mark.parametrize(("peer", "secure"), [(PROXY, True), ("203.0.113.9", "")])
def test_the_cookie_is_secure_where_a_trusted_proxy_speaks_https(app: FastAPI, peer: str, secure: object) -> None:
    got = log_in(app, "anna", SECRET, peer=peer, headers={"X-Forwarded-Proto": "https"})
    assert cookies(got)["gpu_advisor_session"]["secure"] == secure


def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(app: FastAPI, metrics: Metrics) -> None:
    answers = [log_in(app, name, password) for name, password in (("anna", "wrong password"), ("bobo", SECRET), ("anna", ""))]  # fmt: skip
    pages = {re.sub('value="(anna|bobo)"', 'value=""', got.body.decode()) for got in answers}
    assert len(pages) == 1
    assert {got.status for got in answers} == {200}
    assert not [got for got in answers if got.header("set-cookie")]
    assert "logins_failed_total 3.0" in metrics.text().decode()


@pytest.mark.parametrize(
    ("name", "password"),
    [("", ""), ("anna", ""), ("local", SECRET), ("anna\x00", SECRET), ("anna' OR '1'='1", "x"), ("x" * 60_000, "y"), ("anna", "y" * 60_000),
     ("\udcff", SECRET)],
)  # fmt: skip
def test_what_is_no_login_is_refused_in_words(app: FastAPI, name: str, password: str) -> None:
    body = urlencode({"name": name, "password": password}, errors="surrogatepass").encode()
    got = send(app, "/login", method="POST", body=body, headers={"Content-Type": "application/x-www-form-urlencoded"})
    assert got.status in {200, 413}
    assert not got.header("set-cookie")


@pytest.mark.parametrize(
    ("kind", "body"),
    [("application/json", b'{"name": "anna"}'), ("", b"name=anna"), ("application/x-www-form-urlencoded", b"&".join([b"a=b"] * 50)),
     ("application/x-www-form-urlencoded", b"\xff\xfe%ff%zz=&;"), ("text/plain", b"name=anna&password=x")],
)  # fmt: skip
def test_what_is_no_form_of_ours_logs_nobody_in(app: FastAPI, kind: str, body: bytes) -> None:
    got = send(app, "/login", method="POST", body=body, headers={"Content-Type": kind})
    assert got.status == 200
    assert not got.header("set-cookie")


def test_guessing_is_stopped_even_when_the_last_guess_is_right(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    peer = "203.0.113.9"
    for written in ("anna", "ANNA", "Ａnna", " anna", "anna"):  # one name, however it is written
        assert log_in(app, written, "wrong password", peer=peer).status == 200
    stopped = log_in(app, "anna", SECRET, peer=peer, headers={"Accept-Language": "en"})
    assert stopped.status == 429
    assert 1 <= int(stopped.header("retry-after")) <= 301
    assert "Too many attempts" in stopped.body.decode()
    assert not stopped.header("set-cookie")
    # An address that the client made up does not help; the true Anna elsewhere is not locked out.
    assert log_in(app, "anna", SECRET, peer=peer, headers={"X-Forwarded-For": "198.51.100.7"}).status == 429
    assert log_in(app, "anna", SECRET, peer="198.51.100.7").status == 303
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 400)
    assert log_in(app, "anna", SECRET, peer=peer).status == 303


def test_behind_a_trusted_proxy_each_client_is_counted_by_its_own_address(app: FastAPI) -> None:
    for _ in range(6):
        got = log_in(app, "anna", "wrong password", peer=PROXY, headers={"X-Forwarded-For": "198.51.100.1"})
    assert got.status == 429
    assert log_in(app, "anna", SECRET, peer=PROXY, headers={"X-Forwarded-For": "198.51.100.2"}).status == 303


@pytest.mark.parametrize(
    "after", ["//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "javascript:alert(1)", "/zh\r\nX: y"]
)  # fmt: skip
def test_after_the_login_nobody_is_sent_to_another_host(app: FastAPI, after: str) -> None:
    got = log_in(app, "anna", SECRET, after)
    assert (got.status, got.header("location"), got.header("x")) == (303, "/", "")
    page = send(app, f"/login?next={quote(after)}").body.decode()
    assert 'name="next" value="/"' in page
    assert "evil" not in page


def test_what_the_reader_typed_is_text_and_not_markup(app: FastAPI) -> None:
    attack = '"><script>alert(1)</script>'
    page = log_in(app, attack, "wrong password", f"/zh/?{attack}").body.decode()
    page += send(app, f"/login?next={quote('/zh/?x=' + attack)}").body.decode()
    assert "<script" not in page
    assert "&quot;&gt;&lt;script&gt;" in page


def test_the_password_is_never_in_the_page(app: FastAPI) -> None:
    assert "wrong password" not in log_in(app, "anna", "wrong password").body.decode()


def test_a_login_sent_by_another_site_is_refused(app: FastAPI) -> None:
    """Else a reader could be logged in as the attacker, who then reads what they ask."""
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert log_in(app, "anna", SECRET, headers=headers).status == 403
    assert log_in(app, "anna", SECRET, headers={"Origin": "http://localhost:7860"}).status == 303


def test_logging_out_takes_the_cookie_away_and_only_a_form_can(app: FastAPI) -> None:
    got = send(app, "/logout", method="POST", headers={"Content-Length": "0"})
    assert (got.status, got.header("location")) == (303, "/login")
    assert cookies(got)["gpu_advisor_session"]["max-age"] == "0"
    assert send(app, "/logout").status == 405  # a picture on another site must not log anybody out
    assert send(app, "/logout", method="POST", headers={"Origin": "https://evil.example"}).status == 403


def test_who_is_logged_in_needs_no_login_page(app: FastAPI) -> None:
    session = cookies(log_in(app, "anna", SECRET))["gpu_advisor_session"].value
    got = send(app, "/login?next=/zh/", headers={"Cookie": f"gpu_advisor_session={session}"})
    assert (got.status, got.header("location")) == (303, "/zh/")


def test_without_users_there_is_no_login_page(app: FastAPI, known: Credentials) -> None:
    known.accounts.remove("anna")
    assert send(app, "/login").status == 303
    assert not log_in(app, "anna", SECRET).header("set-cookie")


@pytest.mark.parametrize(
    ("headers", "language", "title"),
    [
        ({"Accept-Language": "zh-CN,zh;q=0.9"}, "zh-CN", "登录"),
        ({"Accept-Language": "en-GB"}, "en", "Log in"),
        ({"Accept-Language": "en-GB", "Cookie": "language=zh"}, "zh-CN", "登录"),
        ({"Cookie": "language=<script>"}, "zh-CN", "登录"),
    ],
)
def test_the_page_is_in_the_readers_language(app: FastAPI, headers: dict[str, str], language: str, title: str) -> None:
    page = send(app, "/login?next=/zh/", headers=headers).body.decode()
    assert f'<html lang="{language}">' in page
    assert f"<title>{title} · gpu-advisor</title>" in page
    wrong = log_in(app, "anna", "wrong password", headers=headers).body.decode()
    assert ("用户名或密码不对" in wrong) == (language == "zh-CN")


def test_nothing_on_the_login_page_comes_from_elsewhere(app: FastAPI) -> None:
    page = send(app, "/login").body.decode()
    assert not re.findall(r"(?:src|href|action)=\"(?!/[^/])", page)
    assert "url(" not in page


@pytest.mark.parametrize(
    ("path", "location", "chosen"),
    [
        ("/language/en?next=/zh/%3Ftab%3Dprices", "/en/?tab=prices", "en"),
        ("/language/zh?next=/en/", "/zh/", "zh"),
        ("/language/en", "/en/", "en"),
        ("/language/en?next=/login%3Fnext%3D/en/", "/login?next=/en/", "en"),
        ("/language/zh?next=//evil.example", "/zh/", "zh"),
        ("/language/zh?next=https://evil.example/en/", "/zh/", "zh"),
        ("/language/zh?next=/en/%0d%0aX:%20y", "/zh/", "zh"),
    ],
)
def test_the_language_is_kept_and_the_place_too(app: FastAPI, path: str, location: str, chosen: str) -> None:
    got = send(app, path)
    assert (got.status, got.header("location"), got.header("x")) == (303, location, "")
    assert cookies(got)["language"].value == chosen


def test_only_our_languages_can_be_chosen(app: FastAPI) -> None:
    session = cookies(log_in(app, "anna", SECRET))["gpu_advisor_session"].value
    for path in ("/language/fr", "/language/", "/language/en/x"):
        assert send(app, path, headers={"Cookie": f"gpu_advisor_session={session}"}).status == 404


def test_the_login_page_keeps_the_wanted_page_when_the_language_changes(app: FastAPI) -> None:
    page = send(app, "/login?next=/zh/%3Ftab%3Dprices", headers={"Accept-Language": "zh"}).body.decode()
    found = re.search(r'href="(/language/en[^"]*)"', page)
    assert found
    assert send(app, found[1]).header("location") == "/login?next=/en/%3Ftab%3Dprices"


def test_icon_and_manifest_are_there_for_all(app: FastAPI) -> None:
    for prefix in ("", "/zh", "/en"):
        icon, manifest = send(app, f"{prefix}/favicon.ico"), send(app, f"{prefix}/manifest.json")
        assert (icon.status, icon.header("content-type")) == (200, "image/svg+xml")
        assert (manifest.status, manifest.header("content-type")) == (200, "application/manifest+json")
