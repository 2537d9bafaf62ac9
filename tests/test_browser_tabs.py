"""Prices, calculator and knowledge in a real browser, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, browsing
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.live

PER_GPU_HOUR = 'button[data-sort="per-gpu-hour"]'
LOCALES = {"zh": "zh-CN", "en": "en-GB"}


@pytest.fixture(scope="module", params=["zh", "en"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def browser(real_url: str, language: str) -> Iterator[Browser]:
    with browsing(real_url, LOCALES[language]) as browser:
        yield browser


def opened(browser: Browser, query: str, selector: str) -> Browser:
    browser.open(f"/?{query}")
    browser.find(selector)
    return browser


def open_document(browser: Browser, name: str) -> None:
    """Click the document's row in the list."""

    def clicked() -> bool:
        cell = next(
            (each for each in browser.all("#knowledge-list [role=gridcell], #knowledge-list td") if name in each.text),
            None,
        )
        if cell:
            cell.click()
        return bool(cell)

    browser.until(clicked, f"the row of {name}")


# --- prices -----------------------------------------------------------------------------------------------------------


def test_filters_in_the_address_show_those_rows_with_date_and_source(browser: Browser) -> None:
    opened(browser, "tab=prices&gpu=A100&provider=tencent", "#price-table tbody tr")
    rows = browser.all("#price-table tbody tr")
    assert rows
    assert all("A100" in row.text for row in rows)
    browser.click("#price-table tbody tr")
    browser.until(lambda: "offers.csv" in browser.find("#price-row").text, "the row with its source")


def test_a_heading_sorts_prices_as_numbers(browser: Browser) -> None:
    opened(browser, "tab=prices&gpu=T4&currency=CNY", "#price-table tbody tr")

    def prices() -> list[float]:
        headings = browser.all("#price-table thead th")
        column = next(at for at, each in enumerate(headings) if each.find_elements(By.CSS_SELECTOR, PER_GPU_HOUR))
        rows = browser.all("#price-table tbody tr")
        return [
            float(row.find_elements(By.CSS_SELECTOR, "td, th")[column].text.split()[0].replace(",", "")) for row in rows
        ]

    first = prices()
    assert len(first) > 2
    assert first == sorted(first)
    browser.click(f"#price-table thead {PER_GPU_HOUR}")
    browser.until(lambda: prices() == sorted(first, reverse=True), "the dearest first")


def test_the_plot_of_providers_is_drawn(browser: Browser) -> None:
    opened(browser, "tab=prices&gpu=T4&currency=CNY", "#price-table tbody tr")
    browser.until(lambda: len(browser.all("#prices [role=tab]")) >= 2, "the plots' tabs")
    browser.all("#prices [role=tab]")[1].click()
    browser.find("#price-plot-providers svg, #price-plot-providers canvas")


# --- calculator -------------------------------------------------------------------------------------------------------


def test_ask_about_this_carries_the_numbers_into_the_chat(browser: Browser, language: str) -> None:
    opened(browser, "tab=calculator&calc=rental_cost&gpus=4&hours=72&price_per_hour=28.64", "#calc-hours")
    browser.until(lambda: "8,248.32" in browser.find("#calculator-result").text, "the result")
    browser.click("#calculator-ask")
    browser.until(lambda: browser.answers() and "8,248.32" in browser.answers()[-1].text, "the answer in the chat")
    assert "11,456" in browser.ask({"zh": "那 100 小时呢？", "en": "And for 100 hours?"}[language])


# --- knowledge --------------------------------------------------------------------------------------------------------


def test_a_good_file_goes_in_a_bad_one_is_refused_and_the_good_one_answers_and_goes(
    browser: Browser, language: str, tmp_path: Path
) -> None:
    good, bad = tmp_path / f"quokka-{language}.md", tmp_path / f"broken-{language}.pdf"
    good.write_text(
        f"# Quokka {language} 集群\n\nThe Quokka {language} cluster runs on seventeen L40S cards in Oslo.\n\n"
        f"Quokka {language} 集群有十七张 L40S，位于奥斯陆。\n",
        encoding="utf-8",
    )
    bad.write_bytes(b"not a PDF at all")
    opened(browser, "tab=knowledge", "#knowledge-upload")
    box = browser.driver.find_element(By.CSS_SELECTOR, "#knowledge-upload input[type=file]")
    box.send_keys(f"{good}\n{bad}")
    browser.until(
        lambda: good.name in browser.find("#knowledge").text and bad.name in browser.find("#knowledge").text,
        "a result for each file",
        60,
    )
    browser.find("#knowledge-search textarea, #knowledge-search input").send_keys(good.name)
    browser.until(lambda: good.name in browser.find("#knowledge-list").text, "the document in the list")
    assert bad.name not in browser.find("#knowledge-list").text
    open_document(browser, good.name)
    browser.until(lambda: "seventeen" in browser.find("#knowledge-preview").text, "its passages")
    browser.click("#knowledge-preview button.stop")
    browser.click("#knowledge-confirm button.stop")
    browser.until(lambda: good.name not in browser.find("#knowledge-list").text, "the deletion", 60)
    assert browser.complaints() == []


def test_a_price_table_of_a_document_is_previewed_and_taken_into_the_catalogue(
    browser: Browser, language: str, tmp_path: Path
) -> None:
    offer = tmp_path / f"offer-{language}.csv"
    price = {"zh": "31.07", "en": "31.09"}[language]
    offer.write_text(
        f"provider,gpu,gpu_count,price,currency,per,as_of\nlambda,A100 80GB SXM,1,{price},CNY,instance-hour,2026-11-01\n",
        encoding="utf-8",
    )
    opened(browser, "tab=knowledge", "#knowledge-upload")
    browser.driver.find_element(By.CSS_SELECTOR, "#knowledge-upload input[type=file]").send_keys(str(offer))
    browser.until(lambda: offer.name in browser.find("#knowledge").text, "the result", 60)
    browser.find("#knowledge-search textarea, #knowledge-search input").send_keys(offer.name, Keys.TAB)
    open_document(browser, offer.name)
    browser.click("#knowledge-tables button.primary")
    browser.until(lambda: price in browser.find("#knowledge-tables").text, "the row that was taken")
    opened(browser, "tab=prices&gpu=A100&provider=lambda", "#price-table tbody tr")
    browser.until(lambda: price in browser.find("#price-table").text, "the accepted row among the prices")
