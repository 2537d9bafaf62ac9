"""The data of the price plots: one currency, whole cards, the cheapest of each group, and words where nothing is drawn."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from price_rows import AWKWARD, take_in

from assistant.evidence import Language
from assistant.price_filters import from_query
from assistant.price_plots import MOST_BARS, MOST_SERIES, PlotData, against, by_provider, over_time
from knowledge.catalog import load_catalog
from knowledge.names import display

LANGUAGES: tuple[Language, ...] = ("zh", "en")


def said(data: PlotData) -> str:
    return " ".join(data.said)


def test_each_provider_has_one_bar_per_gpu_and_it_is_its_cheapest_whole_card_on_demand() -> None:
    data = by_provider(from_query("gpu=A100"), "en")
    assert len({point.x for point in data.points}) == len(data.points)
    cheapest: dict[str, Decimal] = {}
    for offer in load_catalog().offers:
        if (offer.gpu, offer.currency, offer.pricing_model) == ("A100", "USD", "on-demand") and not offer.is_slice:
            name = display("provider", offer.provider, "en")
            cheapest[name] = min(cheapest.get(name, Decimal(1000)), offer.price_per_gpu_hour)
    assert {point.x: point.price for point in data.points} == cheapest
    assert [point.price for point in data.points] == sorted(point.price for point in data.points)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_plot_never_mixes_currencies_and_says_what_it_leaves_out(language: Language) -> None:
    data = by_provider(from_query("gpu=A100"), language)
    assert "(USD)" in data.y_title.replace("（", "(").replace("）", ")")
    assert ("另有 3 个其他币种" if language == "zh" else "3 prices in other currencies are not") in said(data)
    shown = {str(point.x) for point in data.points}
    assert not shown & {"腾讯云", "Tencent Cloud"}


def test_with_a_conversion_all_are_drawn_at_a_rate_that_is_said() -> None:
    data = by_provider(from_query("gpu=A100&provider=tencent&provider=aws&in=CNY&rate=7"), "en")
    amounts = {str(point.x): point.price for point in data.points}
    assert amounts["Tencent Cloud"] == Decimal("28.64")
    assert amounts["AWS"] == min(
        offer.price_per_gpu_hour * 7
        for offer in load_catalog().offers
        if (offer.provider, offer.gpu, offer.pricing_model) == ("aws", "A100", "on-demand")
    )
    assert "your rate 1 USD = 7 CNY" in said(data)
    assert "(CNY)" in data.y_title


def test_of_one_provider_in_two_currencies_the_cheaper_is_drawn_after_conversion(tmp_path: Path) -> None:
    take_in(tmp_path, ({"price": "2", "instance": "dollars"}, {"price": "12", "currency": "CNY", "instance": "yuan"}))
    (point,) = by_provider(from_query("provider=evilcloud&gpu=A100&in=USD&rate=8"), "en").points
    assert point.price == Decimal("1.5")


def test_without_a_chosen_gpu_a_few_are_drawn_and_named() -> None:
    data = by_provider(from_query(""), "en")
    assert "No GPU is chosen" in said(data)
    assert len(data.points) == MOST_BARS
    assert f"Only the {MOST_BARS} cheapest" in said(data)
    assert all(" · " in str(point.x) for point in data.points)


def test_a_chosen_pricing_model_is_drawn_instead_of_on_demand() -> None:
    spot = by_provider(from_query("gpu=A100&pricing=spot&provider=verda"), "en")
    on_demand = by_provider(from_query("gpu=A100&provider=verda"), "en")
    assert spot.points[0].price < on_demand.points[0].price
    assert "pricing model: spot" in said(spot)


@pytest.mark.parametrize("language", LANGUAGES)
def test_history_holds_dated_rows_only_and_says_so_where_there_are_none(language: Language) -> None:
    data = over_time(from_query("gpu=A100"), language)
    days = [point.x for point in data.points]
    assert days == sorted(days, key=str)
    assert date(2023, 7, 1) in days  # 2023-Q3 stands at its first day
    assert len({point.series for point in data.points}) <= MOST_SERIES + 1
    none = over_time(from_query("gpu=T4&provider=tencent"), language)
    assert none.points == ()
    assert ("没有注明日期的行" if language == "zh" else "No row with a date") in said(none)


@pytest.mark.parametrize(("what", "x"), [("memory", Decimal(80)), ("bandwidth", Decimal(2039))])
def test_price_stands_against_the_figure_of_the_exact_card(what: str, x: Decimal) -> None:
    data = against(from_query("gpu=A100 SXM4 80GB"), "bandwidth" if what == "bandwidth" else "memory", "en")
    assert {point.x for point in data.points} == {x}
    assert {point.series for point in data.points} == {"Ampere"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_plot_has_more_series_than_there_are_colours(language: Language) -> None:
    everything = against(from_query("in=USD"), "memory", language)
    assert len({point.series for point in everything.points}) == MOST_SERIES + 1
    assert ("其他" if language == "zh" else "others") in {point.series for point in everything.points}
    every_gpu = "&".join(f"gpu={gpu}" for gpu in ("A100", "H100", "T4", "V100", "L40S"))
    assert len({point.series for point in over_time(from_query(every_gpu), language).points}) == MOST_SERIES + 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_of_an_unstated_form_are_not_drawn_against_specs_but_counted(language: Language) -> None:
    data = against(from_query("gpu=A100&provider=tencent"), "memory", language)
    assert data.points == ()
    assert ("1 行没有写明是哪一款卡" if language == "zh" else "1 rows do not say which exact card") in said(data)
    assert ("没有可以画的价格行" if language == "zh" else "There is no price row to draw") in said(data)


def test_awkward_rows_neither_break_a_plot_nor_put_slices_in_it(tmp_path: Path) -> None:
    take_in(tmp_path, AWKWARD)
    wanted = from_query("provider=evilcloud&gpu=A100&slices=yes&currency=USD")
    (bar,) = by_provider(wanted, "en").points
    assert bar.price == Decimal("0.0000004")
    (dated,) = over_time(wanted, "en").points
    assert (dated.x, dated.price) == (date(2026, 11, 1), Decimal(2))
