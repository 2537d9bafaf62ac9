"""The frame of the page in a real browser: languages, dark and light, tabs and their address, a phone, nothing foreign."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import PHONE, Browser, browsing

pytestmark = pytest.mark.live

TABS = {"zh": ["对话", "价格", "计算器", "知识库"], "en": ["Chat", "Prices", "Calculator", "Knowledge"]}


@pytest.fixture(scope="module", params=["zh", "en"])
def browser(real_url: str, request: pytest.FixtureRequest) -> Iterator[Browser]:
    with browsing(real_url, {"zh": "zh-CN", "en": "en-GB"}[request.param]) as browser:
        yield browser


def language(browser: Browser) -> str:
    return browser.driver.current_url.split("/")[3]


def tabs(browser: Browser) -> list[str]:
    """The words of the page's own tabs; a tab may hold others."""
    own = ", ".join(f'#tabs [role=tab][data-tab-id="{name}"]' for name in ("chat", "prices", "calculator", "knowledge"))
    return [each.text for each in browser.all(own)]


def dark(browser: Browser) -> bool:
    return bool(browser.driver.execute_script("return document.body.classList.contains('dark')"))


def test_the_page_comes_in_the_browsers_language_and_asks_nothing_of_anyone_else(browser: Browser) -> None:
    browser.open()
    wanted = TABS[language(browser)]
    browser.until(lambda: tabs(browser) == wanted, f"the tabs {wanted}")
    assert (browser.complaints(), browser.foreign_requests()) == ([], [])


def test_the_other_language_is_one_click_away_keeps_the_tab_and_is_remembered(browser: Browser) -> None:
    browser.open("/?tab=prices")
    first = language(browser)
    other = {"zh": "en", "en": "zh"}[first]
    browser.click("#other-language")
    browser.until(lambda: language(browser) == other and tabs(browser) == TABS[other], "the other language")
    assert "tab=prices" in browser.driver.current_url
    browser.open()
    assert language(browser) == other
    browser.click("#other-language")
    browser.until(lambda: language(browser) == first, "the first language")


def test_dark_and_light_switch_and_the_choice_survives_a_reload(browser: Browser) -> None:
    browser.open()
    was = dark(browser)
    browser.click("#theme")
    assert dark(browser) is not was
    browser.open()
    browser.until(lambda: dark(browser) is not was, "the chosen theme")
    browser.click("#theme")
    assert dark(browser) is was


@pytest.mark.parametrize("name", ["prices", "calculator", "knowledge"])
def test_a_tab_stands_in_the_address_and_is_open_again_after_a_reload(browser: Browser, name: str) -> None:
    browser.open()
    browser.until(lambda: len(tabs(browser)) == 4, "all tabs")
    browser.tab(name)
    browser.until(lambda: f"tab={name}" in browser.driver.current_url, "the tab in the address")
    browser.driver.refresh()
    browser.ready()
    chosen = f'#tabs [role=tab][data-tab-id="{name}"][aria-selected=true]'
    browser.find(chosen)
    assert browser.complaints() == []


def test_no_tab_is_wider_than_a_phone(real_url: str) -> None:
    for preferred in ("zh-CN", "en-GB"):
        with browsing(real_url, preferred, PHONE) as browser:
            for name in ("chat", "prices", "calculator", "knowledge"):
                browser.open(f"/?tab={name}")
                browser.until(lambda name=name: name == "chat" or not browser.one("#question textarea"), name)
                assert browser.sideways() == 0, (preferred, name)
            assert browser.complaints() == []
