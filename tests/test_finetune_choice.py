"""A card to rent for a fine-tuning: for each method the cheapest that holds it, and the hours that the money buys."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from test_answer import run


@pytest.mark.parametrize(
    ("question", "method", "hours"),
    [
        ("毕设要微调个7b做情感分类,还剩半个月,兜里就五百块,租啥卡好", "QLoRA", True),
        ("which gpu should i rent to lora fine-tune llama 3 8b? budget $100", "LoRA", True),
        ("微调 Qwen2.5-14B 租什么卡最划算", "QLoRA", False),
        ("What should I rent to fine-tune Qwen2.5-14B?", "QLoRA", False),
    ],
)
def test_cheapest_card_that_holds_each_method_is_named_with_its_rent(question: str, method: str, hours: bool) -> None:
    _, result = run(question, "choose")
    assert (result.status, result.verified) == ("answered", True), result.text
    rows = re.findall(rf"\| {method} \| ([\d.]+) GiB \| [^|]+?(\d+) ?GB|\| {method} \| ([\d.]+) GiB \|", result.text)
    assert rows, result.text
    assert ("够租" in result.text or "Hours for the money" in result.text) is hours


def test_the_card_holds_what_the_method_takes() -> None:
    _, result = run("微调 Qwen2.5-14B 租什么卡最划算", "choose")
    ranked = [call for call in result.calls if call.tool == "rank_gpus"]
    assert ranked
    for call in ranked:
        candidates = call.arguments["candidates"]
        assert isinstance(candidates, list)
        assert len({str(each["memory_need_gib"]) for each in candidates if isinstance(each, dict)}) == 1
        assert call.arguments["usable_share"] == 0.98


def test_hours_are_those_of_the_money_at_the_stated_rate() -> None:
    """500 yuan at 7.189 are 69.55 dollars; at 0.2 dollars an hour 347.75 hours."""
    _, result = run("微调个7b，兜里就五百块,租啥卡好", "choose")
    money = Decimal("69.55")
    rows = re.findall(r"\| ([\d.]+) 美元/小时 \| ([\d.,]+) \|", result.text)
    assert len(rows) == 3, result.text
    for price, bought in rows:
        assert abs(money / Decimal(price) - Decimal(bought.replace(",", ""))) < Decimal("0.01")


def test_cards_that_are_said_are_judged_and_none_is_looked_for() -> None:
    _, result = run("一张 4090 能微调 7B 吗", "finetune_memory")
    assert "最便宜能租的" not in result.text
