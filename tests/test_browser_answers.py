"""Real answers in a real browser: ask, follow up, look at the evidence, change an assumption, come back later."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from browser import PHONE, Browser, browsing, needs_chromium
from scripted_advisor import ready_url, serving
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.live


class Words(NamedTuple):
    """The same conversation in one language."""

    locale: str
    price: str
    follow_up: str
    again: str
    energy: str
    document: str


WORDS = {
    "zh": Words(
        "zh-CN",
        "腾讯云租 4 张 A100 跑 72 小时多少钱？",
        "那 2 张呢？",
        "那 1 张呢？",
        "一张 4090 开 100 小时，电价 0.63 元，电费多少？",
        "Tensor Core 为什么对深度学习重要？",
    ),
    "en": Words(
        "en-GB",
        "What do 4 A100 at Tencent Cloud cost for 72 hours?",
        "And 2 of them?",
        "And 1 of them?",
        "What does the electricity of one 4090 for 100 hours cost at 0.63 yuan per kWh?",
        "Why do Tensor Cores matter for deep learning?",
    ),
}
# Right values: the row says 28.64 CNY per hour; a 4090 takes 450 W.
FOUR, TWO, ONE = "8,248.32", "4,124.16", "2,062.08"
ENERGY, ENERGY_AT_1_YUAN = "28.35", "45.00"


@pytest.fixture(scope="module", params=["zh", "en"])
def words(request: pytest.FixtureRequest) -> Words:
    return WORDS[request.param]


@pytest.fixture(scope="module")
def browser(real_url: str, words: Words) -> Iterator[Browser]:
    with browsing(real_url, words.locale) as browser:
        yield browser


@pytest.fixture
def fresh(browser: Browser) -> Browser:
    """The page with a conversation that has not begun."""
    browser.open()
    browser.click("#chat-side button.new")
    browser.until(lambda: not browser.answers(), "an empty conversation")
    return browser


def test_a_price_question_and_its_follow_up_are_answered_and_stay_after_a_reload(fresh: Browser, words: Words) -> None:
    assert FOUR in fresh.ask(words.price)
    assert TWO in fresh.ask(words.follow_up)
    fresh.driver.refresh()
    fresh.ready()
    fresh.until(lambda: len(fresh.answers()) == 2, "both answers after the reload")
    assert [FOUR in fresh.answers()[0].text, TWO in fresh.answers()[1].text] == [True, True]
    assert ONE in fresh.ask(words.again)
    assert (fresh.complaints(), fresh.foreign_requests()) == ([], [])


def test_a_citation_opens_its_row_with_the_figure_marked(fresh: Browser, words: Words) -> None:
    fresh.ask(words.price)
    fresh.click("#chat .message.bot a.cite")
    drawer = fresh.find("#source-drawer")
    assert "offers.csv" in drawer.text
    marked = [each.text for each in fresh.all("#source-drawer mark, #source-drawer .used")]
    assert any("28.64" in text for text in marked), marked
    drawer.send_keys(Keys.ESCAPE)
    fresh.until(lambda: not fresh.one("#source-drawer"), "the drawer to close")


def test_a_figure_tells_where_it_came_from(fresh: Browser, words: Words) -> None:
    fresh.ask(words.price)
    total = next(each for each in fresh.all("#chat .message.bot .figure") if FOUR in each.text)
    fresh.driver.execute_script("arguments[0].focus()", total)
    card = fresh.find("#figure-card")
    assert ["72" in card.text, "28.64" in card.text] == [True, True]
    assert fresh.complaints() == []


def test_a_changed_assumption_recomputes_the_card_and_can_be_reset(fresh: Browser, words: Words) -> None:
    assert ENERGY in fresh.ask(words.energy)
    fresh.click("#chat .message.bot button.assumptions")
    fresh.find("#assumptions section")
    price = fresh.driver.find_element(By.CSS_SELECTOR, '#assumptions input[name="energy.price_per_kwh"]')
    price.clear()
    price.send_keys("1", Keys.ENTER)
    fresh.until(lambda: ENERGY_AT_1_YUAN in fresh.answers()[0].text, "the cost at 1 yuan per kWh")
    assert ENERGY not in fresh.answers()[0].text
    fresh.click('#assumptions [data-do="reset"]')
    fresh.until(lambda: ENERGY in fresh.answers()[0].text, "the first answer again")
    fresh.click('#assumptions [data-do="close"]')
    fresh.until(lambda: not fresh.one("#assumptions section"), "the panel to close")
    assert fresh.complaints() == []


def test_without_the_model_server_a_banner_says_so_and_figures_still_come(fresh: Browser, words: Words) -> None:
    assert "[1]" in fresh.ask(words.document)
    fresh.find("#chat-banner")
    assert FOUR in fresh.ask(words.price)


def test_an_edited_question_drops_what_followed_it(fresh: Browser, words: Words) -> None:
    fresh.ask(words.price)
    fresh.ask(words.follow_up)
    box = fresh.find("#question textarea")

    def is_in_the_box() -> bool:
        if box.get_attribute("value") != words.price:  # a press is lost where the page is drawn anew at that moment
            fresh.click("#chat .message.user button.edit")
            time.sleep(1)
        return box.get_attribute("value") == words.price

    fresh.until(is_in_the_box, "the question in the box")
    box.clear()
    box.send_keys(words.price.replace("72", "10"), Keys.ENTER)
    fresh.until(lambda: len(fresh.answers()) == 1 and "1,145.60" in fresh.answers()[0].text, "the edited answer")


def test_conversations_outlive_the_server(tmp_path: Path) -> None:
    needs_chromium()
    with serving(tmp_path) as process, browsing(ready_url(process)) as browser:
        browser.open()
        assert "kept" in browser.ask("echo kept")
    with serving(tmp_path) as process, browsing(ready_url(process)) as browser:
        browser.open()
        browser.click("#chat-side li button.title")
        browser.until(lambda: browser.answers() and "kept" in browser.answers()[0].text, "the kept answer")


def test_a_phone_shows_the_answer_its_source_and_the_list(real_url: str, words: Words) -> None:
    with browsing(real_url, words.locale, PHONE) as browser:
        browser.open()
        assert FOUR in browser.ask(words.price)
        browser.click("#chat .message.bot a.cite")
        browser.find("#source-drawer")
        browser.click("#source-drawer .close")
        assert not browser.one("#chat-side")
        browser.click("#chat-bar .show")
        browser.find("#chat-side button.new")
        assert browser.sideways() == 0
        assert browser.complaints() == []
