"""The page's own scripts work however late Gradio runs them: it does so before or after the document is complete."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import Browser, browsing
from selenium.webdriver.common.by import By

from assistant.web.page import FOLDER

pytestmark = pytest.mark.live


@pytest.fixture
def browser(real_url: str) -> Iterator[Browser]:
    with browsing(real_url, "en-GB") as browser:
        browser.open("/en/")
        yield browser


def run_again_when_complete(browser: Browser, script: str) -> None:
    """Run a script of the page in a complete document, where DOMContentLoaded will not come any more."""
    assert browser.driver.execute_script("return document.readyState") == "complete"
    browser.driver.execute_script((FOLDER / script).read_text(encoding="utf-8"))


def test_the_address_follows_the_tab_where_the_script_ran_late(browser: Browser) -> None:
    run_again_when_complete(browser, "page.js")
    browser.tab("prices")
    browser.until(lambda: "tab=prices" in browser.driver.current_url, "the tab in the address")


def test_messages_carry_no_label_with_their_whole_html(browser: Browser) -> None:
    run_again_when_complete(browser, "chat.js")
    browser.ask("How much is a T4 per hour?")
    browser.until(
        lambda: not browser.driver.find_elements(By.CSS_SELECTOR, "#chat [data-testid][aria-label]"), "no labels"
    )
