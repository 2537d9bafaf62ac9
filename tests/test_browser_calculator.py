"""The calculator tab in a real browser: Enter computes, faults stand by the form, pictures come, links open it again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser import DESK, PHONE, Browser, browsing
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.live

RESULT = "#calculator-result h3"
NOT_A_NUMBER = {"zh": "时长（小时）：“abc”不是数字。", "en": "Time (hours): “abc” is not a number."}
TOTAL = {"zh": "租金总额：11,456 元", "en": "Rental cost: 11,456 CNY"}
SEARCHED = {"zh": "KV 缓存", "en": "KV cache"}


@pytest.fixture(scope="module", params=["zh", "en"])
def browser(real_url: str, request: pytest.FixtureRequest) -> Iterator[Browser]:
    with browsing(f"{real_url}/{request.param}", {"zh": "zh-CN", "en": "en-GB"}[request.param]) as browser:
        yield browser


def language(browser: Browser) -> str:
    return browser.url.rpartition("/")[2]


def opened(browser: Browser, query: str) -> None:
    browser.driver.get(f"{browser.url}/?tab=calculator&{query}")
    browser.find("#calculator-form")


def typed(browser: Browser, field: str, text: str) -> None:
    box = browser.find(f"#calc-{field}")
    box.clear()
    box.send_keys(text, Keys.ENTER)


def value(browser: Browser, field: str) -> str:
    return str(browser.find(f"#calc-{field}").get_attribute("value"))


def says(browser: Browser, selector: str, text: str) -> None:
    browser.until(lambda: text in browser.find(selector).text, f"{text!r} in {selector}")


def test_enter_computes_and_a_fault_stands_by_the_form_with_the_inputs_kept(browser: Browser) -> None:
    opened(browser, "calc=rental_cost&gpus=4&hours=72&price_per_hour=28.64")
    browser.until(lambda: value(browser, "gpus") == "4", "the inputs of the address")
    typed(browser, "hours", "1e2")
    says(browser, RESULT, TOTAL[language(browser)])
    typed(browser, "hours", "abc")
    says(browser, "#calculator-faults", NOT_A_NUMBER[language(browser)])
    browser.until(lambda: browser.one("#calc-hours[aria-invalid=true]"), "the field marked")
    assert (value(browser, "hours"), value(browser, "price_per_hour")) == ("abc", "28.64")
    assert browser.one(RESULT) is None
    typed(browser, "hours", "100")
    says(browser, RESULT, TOTAL[language(browser)])
    assert browser.one("#calculator-faults ul") is None


def test_a_calculator_is_found_by_typing_and_opens_computed(browser: Browser) -> None:
    opened(browser, "")
    search = browser.find("#calculator-name input")
    search.click()
    search.send_keys(Keys.CONTROL, "a")
    search.send_keys(SEARCHED[language(browser)])
    browser.until(lambda: len(browser.all("#calculator-name [role=option], ul.options [role=option]")) == 1, "one left")
    search.send_keys(Keys.ENTER)
    browser.find("#calculator-form[data-calculator=kv_cache]")
    says(browser, RESULT, "16 GiB")


@pytest.mark.parametrize("calculator", ["inference_fit", "buy_or_rent", "rank_gpus"])
def test_a_picture_is_drawn_here_and_asks_nothing_of_anyone_else(browser: Browser, calculator: str) -> None:
    opened(browser, f"calc={calculator}")
    browser.find("#calculator-plot canvas, #calculator-plot svg.marks")
    assert browser.all("#calculator-plot .vega-actions, #calculator-plot details") == []
    assert (browser.complaints(), browser.foreign_requests()) == ([], [])


def test_a_copied_link_opens_the_same_inputs(browser: Browser) -> None:
    opened(browser, "calc=inference_fit&model=Llama-3.1-8B&gpu=L4&context_tokens=8k")
    browser.until(lambda: value(browser, "context_tokens") == "8k", "the inputs of the address")
    browser.click("#calculator-copy")
    link = browser.find("#calculator-link a")
    address = str(link.get_attribute("href"))
    assert address.endswith("/?tab=calculator&calc=inference_fit&gpu=L4&model=Llama-3.1-8B&context_tokens=8k")
    first = browser.find(RESULT).text
    browser.driver.get(address)
    browser.until(lambda: browser.one(RESULT) and browser.find(RESULT).text == first, "the same result")
    assert [value(browser, field) for field in ("gpu", "model", "context_tokens")] == ["L4", "Llama-3.1-8B", "8k"]


def test_an_address_that_names_no_calculator_gives_a_sentence(browser: Browser) -> None:
    opened(browser, "calc=nothing")
    says(browser, "#calculator-faults", "nothing")


def test_a_phone_shows_form_result_and_picture_without_scrolling_sideways(browser: Browser) -> None:
    browser.resize(PHONE)
    try:
        opened(browser, "calc=training_memory")
        browser.find("#calculator-plot canvas, #calculator-plot svg.marks")
        assert browser.sideways() <= 0
        for box in browser.all("#calculator-form input, #calculator-form select, #calculator-plot canvas"):
            assert box.rect["x"] + box.rect["width"] <= PHONE[0]
    finally:
        browser.resize(DESK)


def test_every_box_can_be_reached_by_its_label(browser: Browser) -> None:
    opened(browser, "calc=buy_or_rent")
    browser.find("#calculator-form[data-calculator=buy_or_rent]")
    labels = browser.driver.find_elements(By.CSS_SELECTOR, "#calculator-form label[for]")
    assert len(labels) > 15
    assert all(browser.driver.find_elements(By.ID, str(label.get_attribute("for"))) for label in labels)
