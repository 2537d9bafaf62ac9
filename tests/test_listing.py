"""`prices show`: which rows, in which order, what was left out, and what is said where there are none."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import pytest
from typer.testing import CliRunner

from assistant.cli import app
from assistant.listing import Listing, UnknownNameError, find, offers_json, offers_table

TODAY = date(2026, 11, 30)


def guide(listing: Listing) -> list[tuple[str, str, str]]:
    """The rows of the two articles, whose prices are known from them."""
    return [(o.provider, o.gpu, str(o.price)) for o in listing.result.offers if o.source == "gpu-guide-1"]


def test_rows_come_cheapest_first_in_each_currency() -> None:
    offers = find([]).result.offers
    assert len(offers) >= 700
    assert list(offers) == sorted(offers, key=lambda o: (o.currency, round(o.price_per_gpu_hour, 9)))
    assert [row[2] for row in guide(find([]))] == ["8.68", "11.28", "11.63", "28.64", "34.742", "40.39"]


@pytest.mark.parametrize("name", ["A100", "a100", "Ａ１００", "nvidia A100", "A1OO"])
@pytest.mark.parametrize("provider", ["阿里云", "aliyun", "alibabba"])
def test_names_are_taken_as_people_write_them(name: str, provider: str) -> None:
    assert guide(find([name], provider)) == [("alibaba", "A100", "34.742")]


def test_several_gpus_are_listed_together() -> None:
    found = guide(find(["T4", "A100"], "tencent"))
    assert found == [("tencent", "T4", "8.68"), ("tencent", "A100", "28.64")]


def test_a_form_leaves_out_the_rows_that_do_not_state_it_and_says_so() -> None:
    listing = find(["A100 80GB SXM"])
    assert {o.gpu_form for o in listing.result.offers} == {"A100 SXM4 80GB"}
    reasons = {left.reason: left.count for left in listing.result.left_out}
    assert reasons["form-not-stated"] >= 3
    assert "未注明形态" in offers_table(listing, TODAY)


def test_currency_is_taken_in_any_case_and_no_row_is_not_said_to_be_no_offer() -> None:
    assert len(guide(find(["T4"], currency="cny"))) == 3
    said = offers_table(find(["T4"], region="mars"), TODAY)
    assert "不等于市场上没有" in said
    assert "the market may still have one" in said
    assert "another region" in said


@pytest.mark.parametrize("name", ["H300", "tencent", "", "A100 T4", "显卡"])
def test_a_gpu_that_is_in_no_table_is_named_with_those_that_have_prices(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"{name!r}.*A100, .*T4"):
        find([name])


@pytest.mark.parametrize("name", ["FooCloud", "小鸟云", "T4"])
def test_a_provider_that_is_in_no_table_is_named_with_those_that_have_prices(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"{name!r}.*alibaba, .*tencent, .*volcengine"):
        find([], name)


def test_the_table_says_whose_memory_it_is_and_that_form_and_date_are_not_stated() -> None:
    listing = find(["A100"], "tencent", currency="CNY")
    line = next(line for line in offers_table(listing, TODAY).splitlines() if "28.64" in line)
    for words in (
        "28.64 CNY/h",
        "1x A100",
        "腾讯云 / Tencent Cloud",
        "16 core",
        "96 GiB 主机内存 / host memory",
        "on-demand",
    ):
        assert words in line
    for words in ("形态未注明 / form not stated", "日期未注明 / undated", "GPU 选型文章一 / GPU selection article 1"):
        assert words in line


def test_slices_months_and_age_are_marked() -> None:
    said = offers_table(find(["T4"], "tencent"), TODAY)
    assert "[0.25 卡切片 / slice]" in said
    assert "975 CNY/月 month" in said
    assert "190 天，偏旧 / 190 days, ageing" in offers_table(find(["A100"], "novita"), TODAY) + offers_table(
        find(["4090"]), TODAY
    )


def test_a_limit_says_how_many_rows_there_are() -> None:
    listing = find(["A100"], limit=2)
    assert len(listing.result.offers) == 2
    assert f"{listing.result.matched} 行" in offers_table(listing, TODAY)
    assert "the first 2 are listed" in offers_table(listing, TODAY)


def test_a_missing_currency_is_converted_only_at_a_stated_dated_rate() -> None:
    listing = find(["4090"], currency="CNY")
    said = offers_table(listing, TODAY)
    assert "2024 年平均汇率 1 USD = 7.189 CNY" in said
    assert "not today's rate" in said
    first = listing.result.offers[0]
    assert listing.conversion
    assert first.currency == "USD"
    assert listing.conversion.amount(first) == (first.price_per_gpu_hour * Decimal("7.189")).quantize(Decimal("0.0001"))


def test_a_rate_that_is_given_is_used_and_said_to_be_the_users() -> None:
    listing = find(["4090"], currency="CNY", rate=Decimal("7.2"))
    assert "the rate you gave, 1 USD = 7.2 CNY" in offers_table(listing, TODAY)
    (row, *_) = json.loads(offers_json(listing, TODAY))
    assert Decimal(row["converted_price_per_gpu_hour"]) == (
        Decimal(row["price_per_gpu_hour"]) * Decimal("7.2")
    ).quantize(Decimal("0.0001"))
    assert (row["currency"], row["converted_currency"], row["conversion_rate"]) == ("USD", "CNY", "7.2")


def test_yuan_to_dollars_divides_by_the_rate() -> None:
    listing = find(["T4"], "volcengine", currency="USD", rate=Decimal(8))
    (offer,) = listing.result.offers
    assert listing.conversion
    assert listing.conversion.amount(offer) == Decimal("1.41")  # 11.28 / 8


def test_a_currency_nobody_has_a_rate_for_is_not_converted() -> None:
    listing = find(["T4"], currency="XAU")
    assert (listing.conversion, listing.result.matched) == (None, 0)


def test_json_keeps_every_digit_and_states_unit_and_source() -> None:
    rows = json.loads(offers_json(find(["A100"], "alibaba"), TODAY))
    row = next(row for row in rows if row["id"] == "alibaba-a100")
    assert row == {
        "id": "alibaba-a100", "provider": "alibaba", "gpu": "A100", "gpu_form": None, "gpu_memory_gb": None, "gpu_count": 1,
        "gpu_fraction": "1", "instance": None, "region": None, "cpu_cores": 16, "cpu_unit": "vCPU", "host_memory_gib": "125",
        "price": "34.742", "currency": "CNY", "per": "instance-hour", "price_per_gpu_hour": "34.742",
        "pricing_model": "on-demand", "channel": None, "flags": [], "as_of": None, "age_days": None, "staleness": "undated",
        "source": "GPU 选型文章一", "source_en": "GPU selection article 1", "origin": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "arguments", [["A100"], ["4090", "--currency", "CNY"], ["4090", "--currency", "CNY", "--rate", "7.2"]]
)
def test_the_command_shows_rows(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["prices", "show", *arguments])
    assert done.exit_code == 0
    assert "依据" in done.output


@pytest.mark.parametrize(
    "arguments", [["H300"], ["A100", "--provider", "FooCloud"], ["A100", "--rate", "0"], ["A100", "--rate", "x"]]
)
def test_the_command_fails_with_what_was_wrong(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["prices", "show", *arguments])
    assert done.exit_code == 1
    assert arguments[-1] in done.output
