"""The price of a platform's upgrade in yuan, asked with it or in the turn behind it; and a rent in dollars."""

from __future__ import annotations

import pytest
from test_answer import run


@pytest.mark.parametrize(
    "turns",
    [("Colab 升级要多少钱", "合人民币大概多少"), ("Colab 升级要多少钱", "那是多少人民币"), ("how much is a Colab upgrade", "what's that in yuan"),
     ("Colab 升级折合人民币多少",)],
)  # fmt: skip
def test_nine_dollars_are_said_in_yuan_with_the_rate(turns: tuple[str, ...]) -> None:
    *before, question = turns
    _, result = run(question, "document", *before)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert "64.70" in result.text  # 9 x 7.189
    assert "7.189 CNY" in result.text
    assert "2024" in result.text


@pytest.mark.parametrize("question", ["按月还是按年", "Colab 升级要多少钱"])
def test_without_yuan_nothing_is_converted(question: str) -> None:
    _, result = run(question, "document", "Colab 升级要多少钱")
    assert "64.70" not in result.text


def test_a_rent_is_said_in_dollars() -> None:
    _, result = run("合美元大概多少", "price", "腾讯云 A100 多少钱一小时")
    assert "3.98 美元" in result.text  # 28.64 / 7.189
