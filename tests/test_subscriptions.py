"""Monthly subscriptions: the row's own price first, several months and machines, and against paying by the hour."""

from __future__ import annotations

import pytest
from test_answer import run


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("鹅厂那个T4包月咋卖啊,8核32G那档", ["2,500 元/月", "GN7.2XLARGE32"]),
        ("腾讯P40包月多少钱", ["4,400 元/月"]),
        ("monthly subscription price of tencent's T4 with 20 cores", ["4,000 CNY/month"]),
        ("腾讯T4 8核32G 包 3 个月多少钱", ["7,500 元", "3 × 2,500"]),
        ("腾讯T4 8核32G,包月 vs 按小时开满30天不关,能省多少", ["2,500 元/月", "6,249.60 元", "包月省 3,749.60 元（60.00 %）"]),
        ("tencent T4 8 cores 32GB: monthly plan vs hourly for 30 days, how much saved", ["6,249.60 CNY", "saves 3,749.60 CNY (60.00 %)"]),
        ("腾讯P40包月,每天用8小时和按量比哪个划算", ["3,671.90 元", "按小时省 728.10 元", "291.58 小时"]),
    ],
)  # fmt: skip
def test_subscription_is_the_rows_price_and_weighed_against_the_hour(question: str, words: list[str]) -> None:
    _, result = run(question, "cost")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


def test_no_subscription_is_made_of_a_price_per_hour_where_no_row_holds_one() -> None:
    _, result = run("阿里 A100 包月多少钱", "cost")
    assert "元/月" not in result.text
    assert "25,361.66" in result.text  # 730 hours, named as such


def test_selling_by_the_month_buys_no_card() -> None:
    _, result = run("腾讯 T4 包月怎么卖", "buy_price")
    assert "7,999" not in result.text
    assert "2,500 元/月" in result.text
