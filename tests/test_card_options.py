"""Which cards meet conditions of their specification: filtered rows, and what is asked elsewhere."""

from __future__ import annotations

import pytest
from test_answer import run

OPTIONS = [  # question, cards that stand in the first line, cards that must not
    (
        "need hw fp8, one card, min 48gb, plain PCIe slot not SXM. what are my options",
        ["L20", "L40S", "RTX 6000 Ada", "H100 PCIe 80GB", "H200 NVL 141GB", "RTX PRO 5000"],
        ["A100", "A40", "A6000", "SXM", "RTX 4090"],
    ),
    ("硬件支持FP8、单卡至少48G、插PCIe槽的卡有哪些", ["L20", "L40", "H100 NVL 94GB"], ["A100", "SXM"]),
    ("Which 48 GB cards are under 300W?", ["L20", "RTX A6000"], ["L40S", "A100"]),  # the L40S is put at up to 350 W
    ("哪些卡有NVLink又是PCIe的", ["A100 PCIe 80GB", "RTX A6000"], ["SXM", "L40"]),
]


@pytest.mark.parametrize(("question", "meet", "fail"), OPTIONS)
@pytest.mark.parametrize("guess", ["choose", "document", "fit"])
def test_cards_that_meet_all_conditions_are_listed(question: str, meet: list[str], fail: list[str], guess: str) -> None:
    _, result = run(question, guess)
    assert (result.status, result.verified) == ("answered", True), result.text
    head = result.text.splitlines()[0]
    assert [name for name in meet if name not in head] == []
    assert [name for name in fail if name in head] == []


def test_no_card_that_meets_all_is_said_so() -> None:
    _, result = run("哪些PCIe卡显存至少300GB", "document")
    assert result.status == "not_in_knowledge"
    assert "没有同时满足" in result.text


@pytest.mark.parametrize("question", ["24GB 的卡能跑哪些模型", "Which 80 GB cards can I rent?"])
def test_what_is_to_be_run_or_rented_is_another_question(question: str) -> None:
    _, result = run(question, "document")
    assert "Conditions:" not in result.text
    assert "条件：" not in result.text


def test_one_card_for_a_sum_takes_one_card() -> None:
    _, result = run("about 2k usd for one card at home, wanna run 30b-ish models quantized. what do i get", "fit")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert "1× GeForce RTX 3090" in result.text
    assert "2×" not in result.text
