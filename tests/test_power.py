"""Answers about electricity: rated power x time x price, for each form of the card."""

from __future__ import annotations

import pytest
from test_answer import run


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("8 张 H100 一年电费 0.6 元一度", ["22,958.21 元", "1.56"]),  # 8 x 0.35 kW x 1.56 x 8,760 h x 0.6, PCIe
        ("electricity cost of one A100 SXM4 80GB for 100 hours at $0.1/kWh", ["6.24 USD"]),  # 0.4 kW x 1.56 x 100 x 0.1
    ],
)
def test_rated_power_time_and_price_make_the_cost(question: str, words: list[str]) -> None:
    _, result = run(question, "cost")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text
