"""The chat in a real browser: sources, figures, the list, editing, thumbs, a phone; with a scripted advisor."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import DESK, PHONE, Browser, browsing, needs_chromium
from scripted_advisor import ready_url, serving
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.live

QUESTION = {"zh": "四张 A100 多少钱？", "en": "What do four A100 cost?"}


def press(browser: Browser, *keys: str) -> None:
    ActionChains(browser.driver).send_keys(*keys).perform()


def woken(browser: Browser) -> bool:
    press(browser, Keys.ENTER)
    return bool(browser.answers())


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    needs_chromium()
    with serving(tmp_path_factory.mktemp("state")) as process:
        yield ready_url(process)


@pytest.fixture(scope="module", params=["zh", "en"])
def browser(url: str, request: pytest.FixtureRequest) -> Iterator[Browser]:
    with browsing(url, {"zh": "zh-CN", "en": "en-GB"}[request.param]) as browser:
        browser.open()
        browser.find("#question textarea").send_keys("echo awake")
        # Keys pressed before Gradio has wired the page go nowhere.
        browser.until(lambda: woken(browser), "the page to listen")
        browser.settled()
        yield browser


@pytest.fixture(autouse=True)
def new_chat(browser: Browser) -> None:
    browser.resize(DESK)
    if browser.answers():
        browser.click("#chat-threads .new")
    browser.until(lambda: not browser.answers(), "an empty chat")


def question(browser: Browser) -> str:
    return QUESTION[browser.driver.current_url.split("/")[3]]


def titles(browser: Browser) -> list[str]:
    return [each.text for each in browser.all("#chat-threads li .title")]


def test_a_citation_opens_its_source_and_escape_gives_the_focus_back(browser: Browser) -> None:
    browser.ask(question(browser))
    browser.click("#chat .message.bot p a.cite")
    drawer = browser.find("#source-drawer")
    assert "28.19" in drawer.text
    assert browser.all("#source-drawer mark")
    press(browser, Keys.ESCAPE)
    browser.until(lambda: not browser.all("#source-drawer"), "the closed drawer")
    assert browser.driver.switch_to.active_element.text == "[1]"


def test_a_figure_tells_its_source_on_hover_and_opens_it_by_the_keyboard(browser: Browser) -> None:
    browser.ask(question(browser))
    figure = next(each for each in browser.all("#chat .figure") if each.text == "28.19")
    browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)
    ActionChains(browser.driver).move_to_element(figure).perform()
    card = browser.find("#figure-card")
    assert "28.19" in card.text
    assert "[1]" in card.text
    inside = "const r = arguments[0].getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && r.top >= 0"
    assert browser.driver.execute_script(inside, card)
    browser.driver.execute_script("arguments[0].focus()", figure)
    press(browser, Keys.ENTER)
    assert browser.find("#source-drawer mark.here").text == "28.19"
    browser.click("#source-drawer .close")


def test_a_reload_keeps_the_conversation_and_its_verdict(browser: Browser) -> None:
    browser.ask("echo kept")
    browser.ask("echo follow-up")
    browser.click("#chat .act.down")
    browser.click("#chat-feedback input[type=checkbox]")
    browser.click("#chat-feedback button.primary")
    browser.until(lambda: not browser.all("#chat-feedback"), "the closed form")
    browser.driver.refresh()
    browser.until(lambda: len(browser.answers()) == 2, "both answers")
    assert "after ['echo kept']" in browser.answers()[-1].text
    assert len(browser.all("#chat .act.down.chosen")) == 1


def test_an_edited_question_replaces_what_followed(browser: Browser) -> None:
    for word in ("one", "two", "three"):
        browser.ask(f"echo {word}")
    browser.all("#chat .act.edit")[1].click()
    browser.find("#chat-editing-line")
    box = browser.find("#question textarea")
    browser.until(lambda: box.get_attribute("value") == "echo two", "the question in the box")
    box.send_keys(" changed", Keys.ENTER)
    browser.until(lambda: "changed" in browser.answers()[-1].text and len(browser.answers()) == 2, "the new answer")
    assert not browser.all("#chat-editing-line")


def test_a_conversation_is_renamed_and_deleted_in_the_list(browser: Browser) -> None:
    browser.ask("echo for the list")
    row = browser.find("#chat-threads li.open")
    ActionChains(browser.driver).move_to_element(row).perform()
    browser.click("#chat-threads li.open .rename")
    press(browser, "<b>renamed</b>", Keys.ENTER)  # the old title is selected
    browser.until(lambda: titles(browser)[0] == "<b>renamed</b>", "the new title")
    ActionChains(browser.driver).move_to_element(browser.find("#chat-threads li.open")).perform()
    browser.click("#chat-threads li.open .delete")
    browser.click("#chat-threads li.open .delete.armed")
    browser.until(lambda: "<b>renamed</b>" not in titles(browser) and not browser.answers(), "the deleted conversation")


def test_a_phone_keeps_the_list_behind_a_button_and_everything_in_sight(browser: Browser) -> None:
    browser.resize(PHONE)
    browser.ask(question(browser))
    assert not browser.all("#chat-side")
    browser.click("#chat-bar .show")
    browser.find("#chat-threads li.open")
    browser.click("#chat-threads .hide")
    browser.until(lambda: not browser.all("#chat-side"), "the list put away")
    browser.click("#chat .message.bot p a.cite")
    drawer = browser.find("#source-drawer")
    assert drawer.rect["width"] == PHONE[0]
    assert browser.sideways() <= 0
    browser.click("#source-drawer .close")
    small = [
        (each.get_attribute("title"), each.size)
        for each in browser.all("#chat .act, #chat-bar button")
        if each.size["height"] < 44 or each.size["width"] < 44
    ]
    assert small == []


def test_nothing_complains_and_nothing_leaves_the_machine(browser: Browser) -> None:
    browser.ask(question(browser))
    assert (browser.complaints(), browser.foreign_requests()) == ([], [])
