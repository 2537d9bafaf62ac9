"""Assumptions of an answer changed: the same code answers anew, and no old value stays in the card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import pytest
from pydantic import JsonValue
from test_answer import Author, Scripted, Shelf

from assistant.answer import Resources, answer
from assistant.assumption_changes import (
    CHANGE_RECORD,
    ChangeRefusedError,
    Input,
    Worked,
    calculations,
    changes_made,
)
from assistant.changed_arguments import Change, changed
from assistant.evidence import Answer, Done
from assistant.llm import LanguageModel
from assistant.revised_answer import revised
from assistant.tools import calculate
from knowledge.catalog import load_catalog
from knowledge.index import Index


def having(intent: str, model: Author | None = None) -> Resources:
    return Resources(load_catalog(), cast(Index, Shelf()), Scripted(intent), cast("LanguageModel | None", model))


def first(question: str, intent: str, turns: Sequence[str] = ()) -> Answer:
    *_, last = answer(question, turns, having(intent))
    assert isinstance(last, Done)
    return last.answer


def offered(asked: Answer, tool: str, argument: str) -> Input:
    return next(g for w in calculations(asked) for g in w.inputs if (g.tool, g.argument) == (tool, argument))


def worked(asked: Answer, tool: str) -> Worked:
    return next(each for each in calculations(asked) if each.tool == tool)


# question, intent, calculator, argument, new value, words that must stand in the new card, words that must not
KINDS: list[tuple[str, str, str, str, JsonValue, list[str], list[str]]] = [
    ("70B 模型用 FP16 推理要多少显存？", "fit", "inference_fit", "gpu_memory_utilization", 0.8, ["可用 80% 显存", "16 张"], ["90%"]),
    ("70B 模型用 FP16 推理要多少显存？", "fit", "inference_fit", "context_tokens", 8192, ["8,192 tokens"], ["4,096"]),
    ("Does Llama-3.1-8B fit on one RTX 4090 with 8k context?", "fit", "inference_fit", "gpu_memory_utilization", 0.7, ["16.8 GiB", "70 % of each card"], ["90 %", "21.6 GiB"]),
    ("Does Llama-3.1-8B fit on one RTX 4090 with 8k context?", "fit", "inference_fit", "engine", "sglang", ["overhead of sglang"], ["vllm"]),
    ("Llama-3.1-8B 用一张 4090 放得下吗？", "fit", "kv_cache", "kv_precision", "fp8", ["KV 缓存 fp8"], ["KV 缓存 fp16"]),
    ("How much memory does QLoRA fine-tuning of Llama-3.1-8B need?", "finetune_memory", "training_memory", "lora_rank", 16, ["rank 16", "6,815,744"], ["rank 8", "3,407,872"]),
    ("Qwen2.5-7B 全量微调要多少显存？", "finetune_memory", "training_memory", "micro_batch", 4, ["batch 4"], ["batch 1"]),
    ("How long does it take to train a 7B model on 1T tokens with 64 H100s?", "train_cost", "training_cost", "mfu", 0.45, ["45.0 %", "26,214 GPU-hours"], ["40.0 %", "29,491"]),
    ("用 128 张 A100 训练 13B 模型 3000 亿 token 要多少钱？", "train_cost", "training_cost", "gpus", 256, ["256 × A100"], ["128 × A100"]),
    ("用 128 张 A100 训练 13B 模型 3000 亿 token 要多少钱？", "train_cost", "energy", "pue", 1.2, ["PUE 1.2", "25,000.00 kWh"], ["PUE 1.56"]),
    ("Llama-3.1-8B 给 50 个用户同时用，要几张 L40S？", "serving", "serving_capacity", "output_tokens", 1024, ["回答 1,024 tokens"], ["回答 512"]),
    ("How many A100s do I need to serve Llama-3.1-70B to 100 concurrent users?", "serving", "serving_capacity", "input_tokens", 2048, ["2,048"], ["prompt of 1,024"]),
    ("我要部署 Qwen2.5-14B 给 20 个人用，选什么卡？", "choose", "rank_gpus", "usable_share", 0.8, ["每卡可用显存按 80% 算", "1.702 GiB"], ["90%", "默认比例"]),
    ("买一张 4090 还是租，每天用 8 小时？", "buy_or_rent", "buy_or_rent", "hosting_per_month", 50, ["7,511.22 美元"], ["未计机房"]),
    ("Buy or rent 8 H100s for two years?", "buy_or_rent", "buy_or_rent", "price_per_kwh", 0.24, ["1,913.18 USD of power"], ["0.15 USD per kWh"]),
    ("Buy or rent 8 H100s for two years?", "buy_or_rent", "buy_or_rent", "horizon_months", 36, ["for 36 months"], ["24 months", "× 24"]),
    ("8 张 H100 一年电费多少？", "power", "energy", "pue", 1.2, ["PUE 1.2 ×", "18,543.17 元"], ["1.56"]),
    ("How much does the electricity of one 4090 cost for 100 hours?", "power", "energy", "load", 0.7, ["× 0.7)"], ["rated power; measured averages"]),
    ("1000 美元能租 A100 多久？", "budget", "budget_hours", "hours_per_day", 8, ["每天 8 小时", "176.05 天"], ["58.68"]),
    ("10万预算能买几张 4090？", "buy_price", "purchasable_cards", "budget", 200000, ["200,000 元", "13 张"], ["100,000 元能买"]),
    ("腾讯云租 4 张 A100 跑 72 小时多少钱？", "cost", "rental_cost", "gpus", 8, ["8 张 A100", "16,496.64 元"], ["4 张", "4 ×", "8,248.32"]),
    ("腾讯云 4 张 A100 跑 72 小时打八折多少钱？", "cost", "rental_cost", "gpus", 8, ["8 张 A100", "13,197.31 元"], ["4 张", "6,598.66"]),
    ("4 A100s at Alibaba for 10 hours?", "cost", "rental_cost", "hours", 20, ["20 h", "2,779.36 CNY"], ["10 h", "1,389.68"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "intent", "tool", "argument", "value", "there", "gone"), KINDS)
def test_a_changed_assumption_is_computed_anew_and_nothing_old_stays(
    question: str, intent: str, tool: str, argument: str, value: JsonValue, there: list[str], gone: list[str]
) -> None:
    asked = first(question, intent)
    again = revised(asked, (), {tool: {argument: value}}, having(intent))
    body = again.text.split("\n\n", 1)[1]
    assert again.verified, again.text
    assert all(words in again.text for words in there), again.text
    assert not [words for words in gone if words in body], again.text
    old = offered(asked, tool, argument)
    before = next(c for c in asked.calls if c.tool == tool and c.arguments[argument] == old.now)
    direct = calculate(tool, **{**before.arguments, argument: value})
    assert any(
        c.tool == tool
        and isinstance(c.result, dict)
        and c.result["value"] == direct.model_dump(mode="json")["value"]
        and c.arguments[argument] == value
        for c in again.calls
    )
    assert offered(again, tool, argument).changed


@pytest.mark.parametrize(
    ("question", "intent", "head"),
    [
        ("8 张 H100 一年电费多少？", "power", "已按你改的假设重新计算"),
        ("How much does electricity for 8 H100s cost for a year?", "power", "Computed anew with the assumptions you changed"),
        ("8 張 H100 一年電費多少？", "power", "已按你改的假設重新計算"),
    ],
)  # fmt: skip
def test_the_card_says_at_its_top_what_was_changed_from_what_to_what(question: str, intent: str, head: str) -> None:
    asked = first(question, intent)
    again = revised(asked, (), {"energy": {"pue": 1.3}}, having(intent))
    top = again.text.split("\n\n")[0]
    assert head in top
    assert "1.56" in top
    assert "1.3" in top
    assert again.figures[0].evidence == f"call:{len(again.calls) - 1}"
    assert again.calls[-1].tool == CHANGE_RECORD


def test_a_second_change_keeps_the_first_and_the_first_value() -> None:
    intent = "power"
    asked = first("8 张 H100 一年电费多少？", intent)
    once = revised(asked, (), {"energy": {"pue": 1.3}}, having(intent))
    twice = revised(once, (), {"energy": {"pue": 1.1, "load": 0.7}}, having(intent))
    assert "由 1.56 改为 **1.1**" in twice.text
    assert "由 1 改为 **0.7**" in twice.text
    assert "1.3" not in twice.text.split("\n\n", 1)[1]
    assert {(c.argument, c.after) for c in changes_made(twice)} == {("pue", 1.1), ("load", 0.7)}


@pytest.mark.parametrize("back", [{}, {"energy": {"pue": ""}}, {"energy": {"pue": 1.56}}])
def test_taking_a_change_back_gives_the_first_answer(back: dict[str, dict[str, JsonValue]]) -> None:
    asked = first("8 张 H100 一年电费多少？", "power")
    once = revised(asked, (), {"energy": {"pue": 1.3}}, having("power"))
    again = revised(once, (), back, having("power"))
    assert (again.text, again.calls, again.verified) == (asked.text, asked.calls, True)


def test_one_assumption_of_several_calculations_changes_in_all() -> None:
    asked = first("Does Llama-3.1-8B fit on one RTX 4090 with 8k context?", "fit")
    again = revised(asked, (), {"kv_cache": {"context_tokens": 16384}}, having("fit"))
    lengths = {
        c.arguments["context_tokens"]
        for c in again.calls
        if "context_tokens" in c.arguments and c.tool != CHANGE_RECORD
    }
    assert lengths == {16384}  # fmt: skip


def test_where_the_card_would_say_both_the_calculation_stands_alone() -> None:
    question = "Llama-3.1-8B 给 50 个用户同时用，要几张 L40S？"
    asked = first(question, "serving")
    again = revised(asked, (), {"cost_per_million_tokens": {"utilization": 0.5}}, having("serving"))
    assert "整张卡片不能按这个值重写" in again.text
    assert "一直满载" not in again.text
    assert "0.261998" in again.text
    assert again.verified


def test_another_card_of_the_catalogue_may_be_put_in_by_name() -> None:
    asked = first("How many A100s do I need to serve Llama-3.1-70B to 100 concurrent users?", "serving")
    tool = worked(asked, "serving_capacity")
    model = next(given for given in tool.inputs if given.kind == "model")
    again = revised(asked, (), {"serving_capacity": {"model": "Qwen2.5-72B"}}, having("serving"))
    assert model.now == "Llama-3.1-70B"
    assert "Qwen2.5-72B" in again.text
    assert again.verified


REFUSED: list[tuple[dict[str, dict[str, JsonValue]], str, str]] = [
    ({"energy": {"pue": 0.5}}, "PUE", "1"),
    ({"energy": {"pue": "abc"}}, "要填一个数", "it has to be a number"),
    ({"energy": {"pue": True}}, "要填一个数", "it has to be a number"),
    ({"energy": {"colour": 1}}, "没有可以改的“energy.colour”", "no 'energy.colour' that can be changed"),
    ({"energy": {"currency": "USD"}}, "没有可以改的", "can be changed"),
    ({"training_cost": {"mfu": 0.5}}, "没有可以改的", "can be changed"),
    ({"os.system": {"x": 1}}, "没有可以改的", "can be changed"),
]


@pytest.mark.parametrize(("wanted", "zh", "en"), REFUSED)
def test_what_cannot_be_is_refused_in_both_languages(wanted: dict[str, dict[str, JsonValue]], zh: str, en: str) -> None:
    asked = first("8 张 H100 一年电费多少？", "power")
    with pytest.raises(ChangeRefusedError) as refused:
        revised(asked, (), wanted, having("power"))
    assert zh in refused.value.sentence.zh
    assert en in refused.value.sentence.en


def test_the_model_is_never_asked() -> None:
    author = Author("A sentence.")
    asked = first("8 张 H100 一年电费多少？", "power")
    again = revised(asked, (), {"energy": {"pue": 1.3}}, replace(having("power", author), plans=True))
    assert author.asked == []
    assert again.model is None


def test_what_another_calculation_worked_out_is_not_offered() -> None:
    asked = first("4090 每天用 8 小时，一个月电费多少？", "power")
    names = {(given.tool, given.argument) for each in calculations(asked) for given in each.inputs}
    assert ("energy", "hours") not in names
    assert ("period_hours", "hours_per_day") in names


def test_a_change_ends_with_its_block_and_holds_only_for_what_it_was_made_from() -> None:
    change = Change(tool="rental_cost", argument="gpus", before=1, after=3, tools=("rental_cost",))
    given = {"hours": 10, "price_per_hour": 2}
    with changed([change]):
        assert calculate("rental_cost", **given).value == 60
        assert calculate("rental_cost", **given, gpus=2).value == 40
    assert calculate("rental_cost", **given).value == 20
