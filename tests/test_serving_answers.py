"""Answers about serving: speeds below the roofline worked out here, cards for a load, cost per million tokens."""

from __future__ import annotations

import math
import re
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_answer import run

from assistant.evidence import Call
from assistant.tools import calculate

SERVED = [
    "Llama-3-8B 在 4090 上每秒多少 token",
    "tokens per second of Llama-3-8B on an RTX 4090?",
    "Mixtral-8x7B 在 A100 上的生成速度",
    "70B int4 两张 A100 80G 首 token 多久，提示 4k",
    "Qwen2.5-7B on L40S at 30 concurrent users, cost per million tokens",
    "How many H100 do I need for Llama-3.1-70B bf16 at 20 requests per second, 1500 in 300 out?",
    "serve Qwen2.5-72B int4 to 50 users, what do I need",
    "500B 模型 H100 每秒多少 token",
    "两张 4090 跑 Qwen2.5-32B int4，20 个人同时用够吗",
]


def outputs(call: Call) -> dict[str, float]:
    return cast("dict[str, dict[str, float]]", call.result)["outputs"]


@pytest.mark.parametrize("question", SERVED)
def test_answered_with_every_figure_traced(question: str) -> None:
    _, result = run(question, "serving")
    assert result.status == "answered"
    assert result.verified, result.text
    assert result.text.startswith("**")


def test_one_user_is_slower_than_reading_the_weights_allows() -> None:
    """8.03e9 x 2 bytes at 1,008 GB/s are 62.8 tokens/s at most; with less than half of it something is wrong."""
    _, result = run("Llama-3-8B fp16 在 4090 上每秒多少 token", "serving")
    found = re.search(r"单用户约 ([\d.]+) tokens/s", result.text)
    assert found
    bound = 1008e9 / (8.03e9 * 2 - 128256 * 4096 * 2)  # the input embedding is looked up, not read
    assert bound / 2 < float(found[1]) < bound


def test_a_mixture_is_as_fast_as_its_active_parameters_and_as_large_as_all() -> None:
    _, result = run("Mixtral-8x7B int4 on A100 80GB, tokens per second for one user?", "serving")
    found = re.search(r"about ([\d.]+) tokens/s for one user", result.text)
    assert found
    all_experts = 2039e9 / (46.7e9 * 4.16 / 8)
    assert float(found[1]) > all_experts * 0.45  # reading all experts at the usual share would be slower
    assert "46.7B" in result.text


def test_cards_for_requests_follow_from_the_rate_of_one_copy() -> None:
    _, result = run(
        "How many H100 do I need for Llama-3.1-70B bf16 at 20 requests per second, 1500 in 300 out?", "serving"
    )
    one = outputs(next(call for call in result.calls if call.tool == "serving_capacity"))
    copies = math.ceil(20 * 300 / (one["tokens_per_second"] * 0.7))
    assert f"{copies * one['gpus_per_replica']}× H100" in result.text


def test_own_price_wins_over_the_rows() -> None:
    """4 cards at 2 dollars make 8 dollars an hour."""
    _, result = run("H100 80GB at $2/h each, Llama-3.1-70B fp8 on 4 cards, cost per million tokens?", "serving")
    costs = [call for call in result.calls if call.tool == "cost_per_million_tokens"]
    assert {call.arguments["price_per_hour"] for call in costs} == {8}
    assert "your own price" in result.text
    assert result.verified


def test_price_and_speed_alone_are_enough_for_a_cost() -> None:
    _, result = run("每小时 10 元的卡，每秒 1000 token，百万 token 成本多少", "serving")
    assert f"{10 / 3.6:.3f}"[:4] in result.text  # 10 / (1000 x 3600) x 1e6
    assert result.verified


def test_users_beyond_the_cards_named_are_refused_with_the_number_that_goes() -> None:
    _, result = run("一张 T4 跑 Qwen2.5-7B int4，500 个并发用户够吗", "serving")
    assert result.text.startswith("**不够：500 并发用户要 ")
    assert result.verified


def test_what_does_not_fit_is_answered_as_fit() -> None:
    _, result = run("一张 T4 跑 Llama-3.1-70B 每秒多少 token", "serving")
    assert "不够" in result.text
    assert result.verified


def test_defaults_are_named() -> None:
    _, result = run("tokens per second of Llama-3-8B on an RTX 4090?", "serving")
    assert "default: prompts of 1,024 tokens, answers of 512 tokens" in result.text
    assert "no precision was said" in result.text


def test_nothing_to_serve_is_asked_back() -> None:
    assert run("4090 每秒多少 token", "serving")[1].status == "needs_detail"


@given(
    requests=st.integers(1, 500), output=st.integers(1, 4000), rate=st.integers(1, 100_000), gpus=st.integers(1, 8),
)  # fmt: skip
def test_copies_carry_the_requests_and_one_less_would_not(requests: int, output: int, rate: int, gpus: int) -> None:
    result = calculate("request_rate", requests_per_second=requests, output_tokens=output,
                       tokens_per_second_per_replica=rate, gpus_per_replica=gpus)  # fmt: skip
    copies = int(result.outputs["replicas"])
    assert copies * rate * 7 >= requests * output * 10
    assert copies == 1 or (copies - 1) * rate * 7 < requests * output * 10
    assert result.outputs["gpus"] == copies * gpus
