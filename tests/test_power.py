"""Answers about electricity: rated power x time x price, for each form of the card."""

from __future__ import annotations

import pytest
from test_answer import run


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("8 张 H100 一年电费 0.6 元一度", ["22,958.21 元", "1.56"]),  # 8 x 0.35 kW x 1.56 x 8,760 h x 0.6, PCIe
        ("electricity cost of one A100 SXM4 80GB for 100 hours at $0.1/kWh", ["6.24 USD"]),  # 0.4 kW x 1.56 x 100 x 0.1
        # the reader's own watts, at the socket: 5.6 kW x 720 h x 0.8; 0.45 x 720 x 0.6 (with PUE 1.56: 303.26)
        (
            "electricity: 8 cards at 700W each, 24/7 for 30 days, 0.8 yuan per kWh",
            ["**Electricity: 3,225.60 CNY**", "4,032.00 kWh"],
        ),
        ("8张卡每张700瓦，开30天，电价8毛一度，电费多少", ["**电费：3,225.60 元**"]),
        ("4090满载450瓦,电费6毛一度,30天", ["**电费：194.40 元**", "303.26 元"]),
        ("4090满载450瓦,电费6毛一度,开一个月(30天)电费多少", ["**电费：194.40 元**"]),
        ("整机一共3千瓦，8张卡，每天开10小时，一个月30天，电价1元一度，电费多少", ["**电费：900.00 元**"]),
        (
            "A box of 8 A100 draws 3 kW in total, electricity at $0.1/kWh, what is the bill for 100 hours at PUE 1.3?",
            ["39.00 USD"],
        ),
        # energy is asked: that of the cards first, with what a machine room adds and what it costs beside it
        ("how many kWh do 8 H100s use in a week", ["470.40 kWh", "940.80", "537.60"]),  # 8 x 0.35, 0.7, 0.4 kW x 168 h
        (
            "How many kWh do four H100 SXM cards use in 100 hours at full load, cards alone?",
            ["in 100 hours: 280.00 kWh**"],
        ),
        ("4 张 4090 跑一个月多少度电", ["用电：1,314.00 度**", "2,049.84 度", "730 小时"]),  # 4 x 0.45 kW x 730 h
        ("电价 6 毛，8 张 A100 SXM 一周用多少电", ["用电：537.60 度**，电费 322.56 元"]),
        (
            "4 张 4090 跑一个月，电费一度 0.8 元，要多少钱",
            ["**4 张 GeForce RTX 4090 的电费：1,051.20 元**", "1,639.87 元"],
        ),
        (
            "8 H100 SXM for a week at $0.12 per kWh: what is the electricity cost",
            ["112.90 USD", "940.80 kWh", "176.12 USD"],
        ),
        ("8 张 H100 SXM 每天 8 小时用 30 天，每度 0.9 元，多少度电、多少钱", ["1,344.00 度", "1,209.60 元"]),
        (
            "one 4090 around the clock for a year at 15 cents per kWh, PUE 1.2: energy use?",
            ["4,730.40 kWh", "709.56 USD"],
        ),
        ("2 张 4090 一个月零5天用多少度电", ["850 小时用电：765.00 度**"]),  # 2 x 0.45 kW x (730 + 5 x 24) h
    ],
)
def test_rated_power_time_and_price_make_the_cost(question: str, words: list[str]) -> None:
    _, result = run(question, "cost")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text
