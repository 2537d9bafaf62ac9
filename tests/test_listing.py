"""`prices show`: which rows, in which order, and what is said where there are none."""

from __future__ import annotations

import json

import pytest

from assistant.listing import UnknownNameError, find, offers_json, offers_table


def rows(*gpus: str, **where: str) -> list[tuple[str, str, str]]:
    return [(offer.provider, offer.gpu, str(offer.price)) for offer in find(gpus, **where)]


def test_all_offers_come_cheapest_first() -> None:
    assert [row[2] for row in rows()] == ["8.68", "11.28", "11.63", "28.64", "34.742", "40.39"]


@pytest.mark.parametrize("name", ["A100", "a100", "Ａ１００", "nvidia A100", "A1OO"])
@pytest.mark.parametrize("provider", ["阿里云", "aliyun", "alibabba"])
def test_names_are_taken_as_people_write_them(name: str, provider: str) -> None:
    assert rows(name, provider=provider) == [("alibaba", "A100", "34.742")]


def test_several_gpus_are_listed_together() -> None:
    assert rows("T4", "A100", provider="tencent") == [("tencent", "T4", "8.68"), ("tencent", "A100", "28.64")]


def test_currency_is_taken_in_any_case_and_a_known_card_without_rows_is_an_empty_list() -> None:
    assert len(rows("T4", currency="cny")) == 3
    assert rows("T4", currency="USD") == rows("H100") == rows(provider="AWS") == rows(region="beijing") == []


@pytest.mark.parametrize("name", ["H300", "tencent", "", "A100 T4", "显卡"])
def test_a_gpu_that_is_in_no_table_is_named_with_those_that_have_prices(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"{name!r}.*A100, T4"):
        find([name])


@pytest.mark.parametrize("name", ["FooCloud", "小鸟云", "T4"])
def test_a_provider_that_is_in_no_table_is_named_with_those_that_have_prices(name: str) -> None:
    with pytest.raises(UnknownNameError, match=f"{name!r}.*alibaba, tencent, volcengine"):
        find([], name)


def test_the_table_says_whose_memory_it_is_and_that_form_and_date_are_not_stated() -> None:
    (line,) = offers_table(find(["A100"], "tencent")).splitlines()
    for words in ("28.64 CNY/h", "1x A100", "腾讯云 / Tencent Cloud", "16 core", "96 GiB 主机内存 / host memory"):
        assert words in line
    for words in ("形态未注明 / form not stated", "日期未注明 / undated", "GPU 选型文章一 / GPU selection article 1"):
        assert words in line


def test_no_row_is_not_said_to_be_no_offer() -> None:
    said = offers_table([])
    assert "不等于市场上没有" in said
    assert "the market may still have one" in said


def test_json_keeps_every_digit_and_states_unit_and_source() -> None:
    (row,) = json.loads(offers_json(find(["A100"], "alibaba")))
    assert row == {
        "id": "alibaba-a100", "provider": "alibaba", "gpu": "A100", "gpu_form": None, "gpu_count": 1, "cpu_cores": 16,
        "cpu_unit": "vCPU", "host_memory_gib": "125", "region": None, "price": "34.742", "currency": "CNY",
        "per": "instance-hour", "pricing_model": "on-demand", "as_of": None, "source": "GPU 选型文章一",
        "source_en": "GPU selection article 1",
    }  # fmt: skip
    assert json.loads(offers_json([])) == []
