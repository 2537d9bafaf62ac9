"""The prices tab without a browser: what it renders, what its events give back, and that it looks nothing up early."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import astuple
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from price_rows import AWKWARD, take_in

from assistant.evidence import Language
from assistant.web.page import stay_local
from knowledge import price_snapshots

stay_local()

import gradio as gr  # noqa: E402  # reads what stay_local sets

from assistant.price_filters import from_query  # noqa: E402
from assistant.price_plots import by_provider, over_time  # noqa: E402
from assistant.web.price_handlers import FILLED, Form, Order, PriceHandlers, form_of, marks  # noqa: E402

LANGUAGES: tuple[Language, ...] = ("zh", "en")
SUMMARY, TABLE = 0, 1
ROOT = Path(__file__).parent.parent


class Tags(HTMLParser):
    """Every tag of a piece of HTML with its attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def cells(query: str = "") -> tuple[Any, ...]:
    return astuple(form_of(from_query(query)))


def drawn(query: str, language: Language = "en", part: str = "table") -> list[Any]:
    return PriceHandlers(language).drawn(part, "memory", Order(), Form(*cells(query)))


def pressed(**data: object) -> gr.EventData:
    return SimpleNamespace(_data=data)  # type: ignore[return-value]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_has_a_heading_per_column_and_tells_which_one_it_is_sorted_by(language: Language) -> None:
    html = Tags(drawn("gpu=A100", language)[TABLE])
    headings = [attrs for tag, attrs in html.tags if tag == "th" and attrs.get("scope") == "col"]
    assert len(headings) == 15
    assert [attrs.get("aria-sort") for attrs in headings].count("ascending") == 1
    assert ("每卡每小时" if language == "zh" else "Price per GPU-hour") in html.text
    assert ("显存（GB/卡）" if language == "zh" else "GPU memory (GB per card)") in html.text


def test_text_of_a_row_never_becomes_markup(tmp_path: Path) -> None:
    take_in(tmp_path, AWKWARD)
    handlers = PriceHandlers("en")
    shown = drawn("provider=evilcloud&slices=yes")
    html = Tags(shown[TABLE])
    assert not [tag for tag, attrs in html.tags if tag in ("img", "script") or "onerror" in attrs]
    assert "<img src=x onerror=alert(1)>" in html.text
    ids = [attrs["data-row"] for tag, attrs in html.tags if tag == "tr" and attrs.get("data-row")]
    details = [handlers.show_row("rent", pressed(id=id)) for id in ids]
    assert any("&lt;img" in detail for detail in details)
    assert not any("<img" in detail for detail in details)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_row_is_told_apart_from_prices_that_cannot_be_read(language: Language) -> None:
    none = drawn("gpu=H200&provider=tencent", language)
    assert none[TABLE] == ""
    assert "price-problem" not in none[SUMMARY]
    wanted = Form(*cells())
    price_snapshots.folder().mkdir(parents=True)
    (price_snapshots.folder() / price_snapshots.POINTER).write_text("{", encoding="utf-8")
    broken = PriceHandlers(language).drawn("table", "memory", Order(), wanted)
    assert ("价格读不出来" if language == "zh" else "cannot be read") in broken[SUMMARY]
    assert str(price_snapshots.folder()) not in broken[SUMMARY]
    opened = PriceHandlers(language).opened("", "", "table", "memory", Order(), *cells_of_an_empty_form())
    assert any(isinstance(update, str) and "price-problem" in update for update in opened)


def cells_of_an_empty_form() -> tuple[Any, ...]:
    return ("rent", [], [], [], [], [], "", "", "", "", True, False, "")


def test_the_first_opening_takes_the_filter_of_the_address_and_later_ones_keep_the_form() -> None:
    handlers = PriceHandlers("en")
    first = handlers.opened("?tab=prices&gpu=a100&in=CNY&sort=-date", "", "table", "memory", Order(), *cells())
    assert first[0].sort == "-date"
    assert first[2]["value"] == ["A100"]
    assert ("A100", "A100") in first[2]["choices"]
    later = handlers.opened("?tab=prices&gpu=a100", FILLED, "table", "memory", Order(), *cells("gpu=T4"))
    assert later[2]["value"] == ["T4"]
    assert len(first) == len(later) == 1 + len(cells()) + 9


def test_a_bad_address_is_named_and_the_list_still_shows() -> None:
    opened = PriceHandlers("zh").opened("?gpu=H300", "", "table", "memory", Order(), *cells_of_an_empty_form())
    summary = opened[1 + len(cells())]
    assert "H300" in summary
    assert "符合条件" in summary


def test_filling_the_form_is_no_change_and_nothing_is_drawn_before_it() -> None:
    handlers = PriceHandlers("en")
    order = Order(cells=cells("gpu=A100"))
    skip = gr.skip()
    assert handlers.filtered("", "table", "memory", order, *cells()) == [skip] * 10
    assert handlers.filtered(FILLED, "table", "memory", order, *cells("gpu=A100")) == [skip] * 10
    assert handlers.part("table")("", "memory", order, *cells()) == ["table", *[skip] * 9]
    changed = handlers.filtered(FILLED, "table", "memory", Order(page=3), *cells("gpu=A100&gpu=T4"))
    assert changed[0].page == 1
    assert "of 187 rows" in changed[1]


def test_a_heading_pressed_twice_sorts_the_other_way_and_goes_to_the_first_page() -> None:
    handlers = PriceHandlers("en")
    once = handlers.sort("table", "memory", Order(page=2), pressed(key="memory"), *cells())
    twice = handlers.sort("table", "memory", once[0], pressed(key="memory"), *cells())
    assert (once[0].sort, once[0].page, twice[0].sort) == ("memory", 1, "-memory")
    assert 'aria-sort="descending"' in twice[2]
    assert handlers.turn("table", "memory", twice[0], pressed(page=2), *cells())[0].page == 2
    assert handlers.turn("table", "memory", twice[0], pressed(page="2; DROP"), *cells())[0].page == 1


@pytest.mark.parametrize("key", ["nonsense", "price; DROP TABLE offers", ""])
def test_a_column_that_there_is_none_of_sorts_by_nothing_else(key: str) -> None:
    result = PriceHandlers("en").sort("table", "memory", Order(), pressed(key=key), *cells("gpu=A100"))
    assert "135 of 135" in result[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_bad_cell_is_named_and_no_old_row_stays_under_it(language: Language) -> None:
    form = Form(*cells("gpu=A100"))
    bad = PriceHandlers(language).drawn("table", "memory", Order(), Form(*{**vars(form), "rate": "7,2"}.values()))
    assert "7,2" in bad[SUMMARY]
    assert bad[TABLE] == ""


def test_only_the_open_part_is_drawn() -> None:
    skip = gr.skip()
    assert drawn("gpu=A100")[3:] == [skip] * 6
    plots = drawn("gpu=A100", part="history")
    assert plots[1:5] == [skip] * 4
    assert isinstance(plots[6], gr.ScatterPlot)
    assert plots[7:] == [skip] * 2


@pytest.mark.parametrize("part", ["providers", "history", "specs"])
def test_a_plot_without_data_is_hidden_and_says_why(part: str) -> None:
    plots = drawn("gpu=H200&provider=tencent", part=part)
    place = 3 + 2 * ["providers", "history", "specs"].index(part)
    assert "no price row to draw" in plots[place]
    assert plots[place + 1]["visible"] is False
    bought = drawn("view=buy&gpu=A100", part=part)
    assert "rental prices" in bought[place]


def test_marks_are_plain_numbers_and_days_are_milliseconds() -> None:
    bars = marks(by_provider(from_query("gpu=A100"), "en"), "providers", "en")
    assert bars["columns"] == ["x", "y", "GPU", "Row"]
    assert (bars["mark"], bars["datatypes"]["x"]) == ("bar", "nominal")
    dots = marks(over_time(from_query("gpu=A100&provider=aws&to=2023-09"), "zh"), "history", "zh")
    assert dots["datatypes"]["x"] == "temporal"
    assert dots["data"][0][0] == 1688169600000  # 2023-07-01, UTC
    assert dots["columns"][2:] == ["云厂商", "价格行"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_view_has_a_download_of_all_rows_and_a_link_that_reopens_it(language: Language) -> None:
    html = Tags(drawn("gpu=A100&provider=aws&in=CNY", language)[SUMMARY])
    (download,) = [attrs["href"] for tag, attrs in html.tags if tag == "a"]
    (link,) = [attrs["data-copy-link"] for _, attrs in html.tags if "data-copy-link" in attrs]
    assert download == f"../api/prices.csv?gpu=A100&provider=aws&in=CNY&lang={language}"
    assert link == "?tab=prices&gpu=A100&provider=aws&in=CNY"
    assert from_query(str(link)) == from_query("gpu=A100&provider=aws&in=CNY")


# In a process of its own: Gradio leaves event loops open when a page is built, and warnings are errors here.
BUILD = """
import json, sys
from assistant.web.page import stay_local
stay_local()
import gradio as gr
from assistant.web.prices import prices_tab
found = {}
for language in ("zh", "en"):
    with gr.Blocks(analytics_enabled=False) as page, gr.Tabs(), gr.Tab("prices") as tab:
        built = prices_tab(language, tab)
    config = page.get_config_file()
    found[language] = {
        "filters": [*built.filters], "components": json.dumps(config["components"], default=str),
        "visibility": sorted({str(event["api_visibility"]) for event in config["dependencies"]}),
        "on_load": [event["id"] for event in config["dependencies"] for target in event["targets"] if target[1] == "load"],
    }
print(json.dumps(found))
"""


def test_building_the_tab_holds_no_row_and_opens_no_public_endpoint() -> None:
    ran = subprocess.run([sys.executable, "-c", BUILD], capture_output=True, text=True, check=True, cwd=ROOT)
    found = json.loads(ran.stdout)
    for language in LANGUAGES:
        built = found[language]
        assert built["filters"] == list(vars(Form(*cells())))
        assert "tencent" not in built["components"]
        assert built["visibility"] == ["private"]
        assert built["on_load"] == []


def test_an_address_that_speaks_to_another_tab_filters_nothing_here() -> None:
    opened = PriceHandlers("zh").opened(
        "?tab=calculator&calc=rental_cost&currency=USD", "", "table", "memory", Order(), *cells_of_an_empty_form()
    )
    plain = PriceHandlers("zh").opened("", "", "table", "memory", Order(), *cells_of_an_empty_form())
    assert str(opened) == str(plain)
