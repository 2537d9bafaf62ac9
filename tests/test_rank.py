"""Ranking: what fits in what number, at what cost, the Pareto front, and the reason of everything left out."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import Calculation
from assistant.calculator.price_date import first_day
from assistant.tools import ToolError, calculate


def gpu(name: str, memory: Any, price: Any = None, **more: Any) -> dict[str, Any]:
    """A candidate with one price in USD, or none; `spec` and `row` add to its row and to its price's."""
    spec, row = more.pop("spec", {}), more.pop("row", {})
    prices = [] if price is None else [{"provider": "p", "price": price, "currency": "USD", **row}]
    return {"gpu": {"name": name, "memory_gib": memory, **spec}, "prices": prices, **more}


def rank(*candidates: dict[str, Any], **more: Any) -> Calculation:
    return calculate("rank_gpus", candidates=list(candidates), **{"memory_need_gib": 40, "usable_share": 1} | more)


def ranked(result: Calculation) -> list[Any]:
    return [row["gpu"] for row in result.rows if row["part"] == "ranked"]


def reasons(result: Calculation) -> dict[Any, Any]:
    return {row["gpu"]: row["reason"] for row in result.rows if row["part"] == "excluded"}


def test_number_cost_and_headroom() -> None:
    result = rank(gpu("A40", 48, "0.79"), gpu("3090", 24, "0.44"))
    first, second = result.rows
    assert (first["gpu"], first["gpus"], first["cost"], first["headroom_gib"]) == ("A40", 1, Decimal("0.79"), 8)
    assert (second["gpu"], second["gpus"], second["cost"], second["headroom_gib"]) == ("3090", 2, Decimal("0.88"), 8)
    assert [result.value, result.outputs["best"], result.outputs["excluded"]] == [2, "A40", 0]


def test_a_tenth_of_the_memory_and_the_overhead_are_not_usable_unless_said() -> None:
    # 48 x 0.9 = 43.2 holds 40, less 4 each does not: 2 cards
    assert rank(gpu("A40", 48, 1), usable_share="0.9").rows[0]["gpus"] == 1
    assert rank(gpu("A40", 48, 1), usable_share="0.9", overhead_gib=4).rows[0]["gpus"] == 2
    stated = calculate("rank_gpus", candidates=[gpu("A40", 48, 1)], memory_need_gib=44)
    assert (stated.rows[0]["gpus"], stated.assumptions[0].value) == (2, "0.9")


@pytest.mark.parametrize(("need", "gpus"), [(80, 1), ("80.001", 2), (160, 2)])
def test_a_need_that_fills_the_cards_exactly_fits(need: Any, gpus: int) -> None:
    assert rank(gpu("H100", 80, 1), memory_need_gib=need).rows[0]["gpus"] == gpus


def test_a_node_of_eight_is_billed_whole() -> None:
    row = rank(gpu("H100", 80, 20, row={"gpus_per_instance": 8}), gpu("A100", 80, 3)).rows[1]
    assert (row["gpu"], row["gpus"], row["gpus_billed"], row["cost"]) == ("H100", 1, 8, 20)


def test_heads_must_split_evenly() -> None:
    assert rank(gpu("L4", 16, 1), attention_heads=32).rows[0]["gpus"] == 4  # 3 hold 40 GiB, but 32 / 3
    assert reasons(rank(gpu("L4", 16, 1), attention_heads=14, max_gpus=6)) == {"L4": "split"}


def test_speed_and_concurrency_raise_the_number() -> None:
    fast = gpu("A", 48, 1, tokens_per_second_per_gpu=30, concurrency_per_gpu=10)
    result = rank(fast, min_tokens_per_second=100, min_concurrency=25)
    assert (result.rows[0]["gpus"], result.rows[0]["tokens_per_second"], result.rows[0]["concurrency"]) == (4, 120, 40)
    assert any(a.name == "scaling" for a in result.assumptions)


def test_everything_left_out_has_its_reason_in_both_languages() -> None:
    barred = {"export_status": "barred", "export_rule": "rule of 2022-10-07", "compute_capability": "9.0"}
    result = rank(
        gpu("fits", 80, 2, row={"as_of": "2026-05-24"}, spec={"compute_capability": "8.9"}),
        gpu("small", 4, 1, spec={"compute_capability": "8.9"}), gpu("barred", 80, 1, spec=barred),
        gpu("priceless", 80, spec={"compute_capability": "8.9"}), gpu("turing", 80, 1, spec={"compute_capability": "7.5"}),
        gpu("unknown", 80, 1), gpu("old", 80, 1, row={"as_of": "2023-Q3"}, spec={"compute_capability": "9.0"}),
        gpu("undated", 80, 1, spec={"compute_capability": "9.0"}),
        gpu("dear", 80, 9, row={"as_of": "2026-05-24"}, spec={"compute_capability": "9.0"}),
        precision="bf16", destination="CN", today="2026-06-01", max_price_age_days=90, budget=5,
    )  # fmt: skip
    assert ranked(result) == ["fits"]
    assert reasons(result) == {
        "small": "memory", "barred": "export", "priceless": "no-price", "turing": "precision", "unknown": "precision",
        "old": "price-too-old", "undated": "price-too-old", "dear": "over-budget",
    }  # fmt: skip
    said = [row for row in result.rows if row["part"] == "excluded"]
    assert all(row["reason_zh"] and row["reason_en"] for row in said)
    assert "rule of 2022-10-07" in str(next(row["reason_en"] for row in said if row["gpu"] == "barred"))


@pytest.mark.parametrize(
    ("precision", "capability", "ok"),
    [("bf16", "8.0", True), ("bf16", "7.5", False), ("fp8", "8.9", True), ("fp8", "8.6", False),
     ("fp4", "10.0", True), ("fp4", "9.0", False), ("fp16", "7.0", True), ("int8", "6.1", True)],
)  # fmt: skip
def test_number_formats_need_their_compute_capability(precision: str, capability: str, ok: bool) -> None:
    result = rank(gpu("X", 80, 1, spec={"compute_capability": capability}), precision=precision)
    assert bool(ranked(result)) == ok


def test_a_stated_rate_shows_the_format_of_a_card_without_compute_capability() -> None:
    assert ranked(rank(gpu("MI300X", 192, 1, spec={"bf16_tflops": 1307}), precision="bf16")) == ["MI300X"]


def test_export_bars_only_for_the_stated_country_and_a_licence_is_a_note() -> None:
    barred, licence = ({"export_status": status} for status in ("barred", "licence"))
    cards = gpu("H100", 80, 1, spec=barred), gpu("H200", 141, 2, spec=licence)
    assert ranked(rank(*cards)) == ["H100", "H200"]
    to_china = rank(*cards, destination="中国")
    assert ranked(to_china) == ["H200"]
    assert "licence" in str(to_china.rows[0]["note_en"])
    elsewhere = rank(*cards, destination="FR")
    assert ranked(elsewhere) == ["H100", "H200"]
    assert any(a.name == "destination" and "FR" in a.text["en"] for a in elsewhere.assumptions)


def test_region_and_pricing_model_choose_the_price_row() -> None:
    card = gpu("A", 80, 1, row={"region": "us-east-1", "pricing_model": "spot"})
    card["prices"].append({"provider": "q", "price": 3, "currency": "USD", "region": "eu-west-1"})
    assert rank(card).rows[0]["cost"] == 1
    assert rank(card, regions=["EU-West-1"]).rows[0]["cost"] == 3
    assert rank(card, pricing_models=["on-demand"]).rows[0]["cost"] == 3
    assert reasons(rank(card, regions=["mars"])) == {"A": "no-price"}


def test_buying_takes_card_prices_and_renting_does_not() -> None:
    card = gpu("A", 24, 1)
    card["prices"].append({"provider": "shop", "price": 900, "currency": "CNY", "per": "card"})
    bought = rank(card, ownership="buy").rows[0]
    assert (bought["cost"], bought["currency"], bought["gpus_billed"]) == (1800, "CNY", 2)
    assert rank(card, hours=100).rows[0]["cost"] == 200


def test_currencies_are_never_mixed() -> None:
    with pytest.raises(ToolError, match="CNY and USD cannot be compared"):
        rank(gpu("A", 80, 1), gpu("B", 80, 1, row={"currency": "CNY"}))


def test_the_pareto_front_is_what_no_other_beats_in_cost_and_speed() -> None:
    cards = [("slow", 1, 10), ("dominated", 3, 9), ("middle", 2, 20), ("fast", 5, 50), ("same", 5, 50), ("dear", 6, 50)]
    result = rank(
        *(gpu(name, 80, price, tokens_per_second_per_gpu=rate) for name, price, rate in cards), gpu("mute", 80, 1)
    )
    front = {row["gpu"] for row in result.rows if row.get("pareto") == "yes"}
    assert front == {"slow", "middle", "fast", "same"}


def test_orders() -> None:
    cards = (gpu("cheap", 40, 1, tokens_per_second_per_gpu=10), gpu("fast", 80, 2, tokens_per_second_per_gpu=100),
             gpu("big", 192, 3))  # fmt: skip
    assert ranked(rank(*cards)) == ["cheap", "fast", "big"]
    assert ranked(rank(*cards, order="speed")) == ["fast", "cheap", "big"]
    assert ranked(rank(*cards, order="cost_per_million_tokens")) == ["fast", "cheap", "big"]
    assert ranked(rank(*cards, order="headroom")) == ["big", "fast", "cheap"]


def test_cost_per_million_tokens() -> None:
    row = rank(gpu("3090", 48, "0.44", tokens_per_second_per_gpu="111.74")).rows[0]
    assert round(Decimal(row["cost_per_million_tokens"]), 3) == Decimal("1.094")  # 0.44 / (111.74 x 3,600) x 1e6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"memory_need_gib": None}, "no memory_need_gib for 'A'"),
        ({"memory_need_gib": 0}, "memory_need_gib: .*got 0"),
        ({"memory_need_gib": 1e30}, r"memory_need_gib: .*got 1e\+30"),
        ({"max_price_age_days": 30}, "needs today's date"),
        ({"budget": -1}, "budget: .*got -1"),
        ({"order": "cost_per_million_tokens", "ownership": "buy"}, "needs a cost per hour"),
        ({"precision": "fp2"}, "precision: .*got 'fp2'"),
    ],
)
def test_what_makes_no_sense_is_refused_and_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        rank(gpu("A", 80, 1), **changes)


@pytest.mark.parametrize(
    ("as_of", "day"),
    [("2026-05-24", (2026, 5, 24)), ("2024-07", (2024, 7, 1)), ("2023-Q3", (2023, 7, 1)), ("2024", (2024, 1, 1)),
     ("", None), ("launch", None), ("2024-13", None)],
)  # fmt: skip
def test_a_price_is_dated_by_the_first_day_it_can_mean(as_of: str, day: tuple[int, int, int] | None) -> None:
    assert first_day(as_of) == (date(*day) if day else None)


def test_prices_that_round_to_the_same_cent_keep_their_order() -> None:
    assert ranked(rank(gpu("A", 80, "1.0049"), gpu("B", 80, "1.0041"))) == ["B", "A"]


CARDS = st.lists(
    st.tuples(st.integers(8, 200), st.decimals("0.01", "30", places=4), st.integers(1, 500)), min_size=1, max_size=12
)


@settings(max_examples=80)
@given(CARDS, st.randoms(), st.sampled_from(["cost", "speed", "headroom", "cost_per_million_tokens"]))
def test_the_ranking_depends_neither_on_the_order_of_the_rows_nor_on_rounding(
    cards: list[tuple[int, Decimal, int]], random: Any, order: str
) -> None:
    candidates = [gpu(f"g{i}", m, p, tokens_per_second_per_gpu=s) for i, (m, p, s) in enumerate(cards)]
    result = rank(*candidates, order=order)
    random.shuffle(candidates)
    assert rank(*candidates, order=order).rows == result.rows
    if order == "cost":
        exact = {f"g{i}": -(-40 // m) * p for i, (m, p, _) in enumerate(cards)}
        assert ranked(result) == sorted(ranked(result), key=lambda name: (exact[name], name))


@settings(max_examples=50)
@given(CARDS)
def test_every_gpu_is_either_ranked_or_left_out_and_the_front_is_not_beaten(
    cards: list[tuple[int, Decimal, int]],
) -> None:
    result = rank(*(gpu(f"g{i}", m, p, tokens_per_second_per_gpu=s) for i, (m, p, s) in enumerate(cards)), max_gpus=2)
    assert sorted([*ranked(result), *reasons(result)]) == sorted(f"g{i}" for i in range(len(cards)))
    point = {f"g{i}": (-(-40 // m) * p, -(-40 // m) * s) for i, (m, p, s) in enumerate(cards)}
    for row in (row for row in result.rows if row["part"] == "ranked"):
        cost, speed = point[str(row["gpu"])]
        beaten = any(point[o] != (cost, speed) and point[o][0] <= cost and point[o][1] >= speed for o in ranked(result))
        assert (row["pareto"] == "no") == beaten
