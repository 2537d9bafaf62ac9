"""Logging in, in a real browser: who is nobody sees nothing, a reader sees no knowledge tab, each has own conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import PHONE, Browser, browsing, needs_chromium
from scripted_advisor import ready_url, serving
from selenium.webdriver.common.keys import Keys

from assistant.accounts import Accounts

PASSWORDS = {"ann": "correct horse battery", "bob": "staple staple staple"}
LOCALES = ("zh-CN", "en-GB")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    needs_chromium()
    state = tmp_path_factory.mktemp("state")
    accounts(state)
    with serving(state) as process:
        yield ready_url(process)


def accounts(state: Path) -> None:
    store = Accounts(state / "users.json")
    store.add("ann", PASSWORDS["ann"], "admin")
    store.add("bob", PASSWORDS["bob"], "reader")


def log_in(browser: Browser, name: str, password: str) -> None:
    box = browser.find("input[name=name], input[name=username]")
    box.clear()
    box.send_keys(name)
    browser.find("input[type=password]").send_keys(password, Keys.ENTER)


@pytest.mark.parametrize("locale", LOCALES)
def test_a_wrong_password_is_told_and_the_right_one_opens_the_page_that_was_wanted(url: str, locale: str) -> None:
    with browsing(url, locale) as browser:
        browser.driver.get(f"{url}/?tab=prices")
        browser.find("input[type=password]")
        assert "/login" in browser.driver.current_url
        log_in(browser, "bob", "wrong wrong wrong")
        browser.find("[role=alert]")
        log_in(browser, "bob", PASSWORDS["bob"])
        browser.find('#tabs [role=tab][data-tab-id="prices"][aria-selected=true]')
        assert "bob" in browser.find("#menu").text


@pytest.mark.parametrize("locale", LOCALES)
def test_a_reader_has_no_knowledge_tab_and_sees_no_conversation_of_others(url: str, locale: str) -> None:
    with browsing(url, locale) as browser:
        browser.driver.get(url)
        log_in(browser, "ann", PASSWORDS["ann"])
        browser.find('#tabs [role=tab][data-tab-id="knowledge"]')
        secret = f"echo secret of ann {locale}"
        assert "secret" in browser.ask(secret)
        browser.find(f'#chat-side [title*="{secret}"]')
        browser.click("#menu form button")
        log_in(browser, "bob", PASSWORDS["bob"])
        browser.find('#tabs [role=tab][data-tab-id="calculator"]')
        browser.find("#chat-side button.new")
        assert not browser.one('#tabs [role=tab][data-tab-id="knowledge"]')
        assert "secret of ann" not in browser.text()
        assert browser.foreign_requests() == []


def test_the_login_page_fits_a_phone_in_the_dark(url: str) -> None:
    with browsing(url, "zh-CN", PHONE, dark=True) as browser:
        browser.driver.get(url)
        browser.find("input[type=password]")
        assert browser.sideways() == 0
        assert browser.complaints() == []
