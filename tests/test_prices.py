"""Answers from the whole price table: two currencies, forms, spot, months, instances, age and marketplace rows."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from test_answer import run
from typer.testing import CliRunner

from assistant.cli import app
from knowledge.catalog import load_catalog

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("question", "intent", "words"),
    [
        ("A100 价格?", "price", ["28.64", "34.742", "40.39", "美元", "2026-05-24"]),
        ("What does Azure charge for an A100?", "price", ["3.673", "27.197", "NC24ads_A100_v4", "2026-09-06", "USD"]),
        ("5090多少钱", "price", ["0.38", "GPUhub", "美元"]),
        ("A100 spot price", "price", ["spot", "0.67877", "Azure", "USD"]),
        ("V100 腾讯云多少钱", "price", ["18.02 元/小时", "GN10X.2XLARGE40", "V100 SXM2 32GB"]),
        ("T4 包月多少钱", "price", ["2,500", "元/月", "GN7.2XLARGE32"]),
        ("8 卡 H100 一个月多少钱", "cost", ["8,059.20", "美元", "730"]),
        ("what would one A100 for 5 hours on AWS cost", "cost", ["109.79 USD", "8-GPU instance"]),
        ("budget 500 USD, how many hours of H100", "budget", ["362.31 hours", "USD"]),
        ("RTX 6000 一小时多少钱", "price", ["RTX 6000 Ada", "RTX PRO 6000"]),
        ("H100 怎么卖", "buy_price", ["242,000 元", "18,549.95", "美元", "街价"]),
    ],
)
def test_rows_of_every_source_answer_with_currency_and_date(question: str, intent: str, words: list[str]) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


def test_two_cards_are_compared_in_a_currency_that_both_have_and_yuan_rows_stand_apart() -> None:
    _, result = run("A100 和 H100 租哪个便宜", "compare")
    head, _, rest = result.text.partition("以元计价的行")
    assert "美元/小时" in head
    assert "28.64" not in head
    assert "28.64" in rest
    assert "不直接比较" in rest
    assert result.verified


def test_order_over_two_currencies_is_not_added_up() -> None:
    _, result = run("2 张腾讯 T4 加 1 张 RunPod 4090 跑 10 小时多少钱", "cost")
    assert result.status == "needs_detail"
    assert "货币不同" in result.text


def test_market_minimum_and_gpu_over_ip_are_never_the_cheapest_where_a_firm_price_stands() -> None:
    offers = load_catalog().find_offers(["H100"], today=TODAY)
    assert {flag for offer in offers for flag in offer.flags} & {"marketplace-minimum", "virtual", "gpu-only"} == set()
    assert any("marketplace-minimum" in o.flags for o in load_catalog().offers if o.gpu == "H100")


def test_prices_past_the_hard_age_stand_back_where_there_are_fresher_ones() -> None:
    catalog = load_catalog()
    found = catalog.find_offers(["A100"], currency="USD", today=TODAY)
    assert found
    assert not [offer for offer in found if (offer.as_of or "9").startswith("2023")]
    assert [o for o in catalog.offers if o.gpu == "A100" and (o.as_of or "").startswith("2023")]


def test_count_decides_which_instance_is_cheapest() -> None:
    catalog = load_catalog()
    (one,) = catalog.find_offers(["T4"], ["tencent"], gpu_count=1, today=TODAY)
    (two,) = catalog.find_offers(["T4"], ["tencent"], gpu_count=2, today=TODAY)
    assert (one.price, one.gpu_count) == (Decimal("8.68"), 1)
    assert -(-2 // two.gpu_count) * two.price == Decimal("17.36")


def test_slice_of_a_card_is_never_offered_as_the_card() -> None:
    catalog = load_catalog()
    assert [o for o in catalog.offers if o.gpu == "T4" and o.is_slice]
    assert not [o for o in catalog.find_offers(today=TODAY) if o.is_slice]


def test_modified_card_is_not_meant_by_the_stock_name() -> None:
    _, result = run("4090 一小时多少钱", "price")
    assert "modded" not in result.text
    assert "48GB" not in result.text


def test_imported_row_answers_and_is_cited_by_the_readers_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "home"))
    file = tmp_path / "报价.csv"
    file.write_text("云厂商,GPU,张数,价格,货币,日期\n腾讯云,H20,8,1066.4,CNY,2026-11-01\n", encoding="utf-8")
    assert CliRunner().invoke(app, ["prices", "import", str(file)]).exit_code == 0
    _, result = run("腾讯云 H20 一小时多少钱", "price")
    assert [w for w in ("1,066.4 元/小时", "133.3", "2026-11-01") if w not in result.text] == [], result.text
    assert result.verified
    assert [c.locator for c in result.citations if "报价.csv" in c.locator]
    assert CliRunner().invoke(app, ["prices", "undo"]).exit_code == 0
    _, after = run("腾讯云 H20 一小时多少钱", "price")
    assert after.status == "not_in_knowledge"


@pytest.mark.parametrize(
    ("question", "intent", "words"),
    [
        ("腾讯云和 AWS 的 A100 哪个便宜", "compare", ["1 美元 = 7.189 元", "2024 年平均汇率", "AWS", "19.73"]),
        (
            "Is Tencent's A100 cheaper than Azure's? use a rate of 7.1",
            "compare",
            ["your rate of 7.1", "24.14", "Azure"],
        ),
        ("腾讯云 A100 折合多少美元一小时", "price", ["3.98 美元", "7.189"]),
        ("腾讯云和 AWS 的 A100 跑 10 小时各多少钱", "cost", ["286.40 元", "219.58 美元"]),
    ],
)
def test_two_currencies_meet_only_at_a_stated_rate(question: str, intent: str, words: list[str]) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert result.verified


@pytest.mark.parametrize(
    ("question", "intent", "words"),
    [
        ("AWS p5.48xlarge ap-northeast-1 price", "price", ["68.8 USD/hour", "ap-northeast-1"]),
        ("AWS 的 A100 东京", "price", ["37.6223", "ap-northeast-1"]),
        ("AWS H100 spot price", "price", ["12.6935", "p5.48xlarge"]),
        ("p4de.24xlarge 一小时", "price", ["27.44705"]),
        ("p3.2xlarge price", "buy_price", ["3.06 USD/hour"]),
        ("RunPod H100 PCIe price", "price", ["2.89 USD/hour", "2026-08-21"]),
        ("H100 price in CNY at 7.2", "price", ["your rate of 7.2", "9.94"]),
        ("under $1 per hour with at least 48GB memory", "price", ["RTX A6000", "0.44"]),
        ("2 台 p5.48xlarge 租 1 天", "cost", ["16 张", "2,641.92 美元"]),
        ("4 A100 for 2 weeks cost", "cost", ["38,492.16 CNY", "954.24 USD"]),
        ("预算 10000 元 汇率 7.1 租 H100", "budget", ["1,408.45 美元", "7.1"]),
        ("10 万美元能买几张 H100", "buy_price", ["5 张", "18,549.95", "7,250.25"]),
        ("A100 80G purchase price", "buy_price", ["15,000", "A100 SXM4 80GB"]),
    ],
)
def test_region_terms_age_instance_size_and_money_of_the_question_choose_the_row(
    question: str, intent: str, words: list[str]
) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


def test_size_that_a_row_is_not_printed_with_brings_no_price_of_the_other_size() -> None:
    _, result = run("A100 80G purchase price", "buy_price")
    assert "69,999" not in result.text


def test_euros_are_not_taken_for_yuan() -> None:
    _, result = run("用 500 欧元租 A100 能租几小时", "budget")
    assert result.status == "needs_detail"
    assert "欧元" in result.text


@pytest.mark.parametrize(
    "question",
    [
        "腾讯云的 A100 是 40 还是 80G 的，多少钱",
        "A100 at Tencent: is it the 40 or the 80gb one, and how much?",
        "cheapest A100 among volcengine / alibaba / tencent for a 100 hr job, total, the 40 or the 80gb?",
    ],
)
def test_sizes_said_apart_are_sizes_and_the_table_is_said_to_state_none(question: str) -> None:
    _, result = run(question, "cost" if "100 hr" in question else "price")
    assert "28.64" in result.text
    assert "40× A100" not in result.text
    assert "40 张" not in result.text
    assert ("没有写明" in result.text) or ("does not say" in result.text)
    assert result.verified, result.text


def test_cheapest_of_several_clouds_adds_nothing_up() -> None:
    _, result = run("cheapest A100 among volcengine / alibaba / tencent for 100 hours in total", "cost")
    assert "2,864.00 CNY" in result.text
    assert "10,377.20" not in result.text
