"""The menu of calculators: complete, documented by schemas that hold, and recorded without loss."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from assistant.calculator.calculation import Calculation
from assistant.tools import CALCULATORS, ToolError, calculate, calculate_json, call

TINY = {"name": "tiny", "parameters": 2**30, "active_parameters": 2**30, "layers": 16, "hidden_size": 1024,
        "attention_heads": 16, "kv_heads": 8, "head_size": 64, "vocabulary": 1000}  # fmt: skip

# One valid call of every calculator, and the main value worked out by hand.
EXAMPLES: dict[str, tuple[dict[str, Any], str]] = {
    "purchase_cost": ({"cards": 8, "price_per_card": 110000}, "880000"),
    "purchasable_cards": ({"budget": 100000, "price_per_card": 14599}, "6"),
    "run_total": ({"seconds": [5348, 20708]}, "26056"),
    "period_hours": ({"value": 2, "unit": "week"}, "336"),
    "rental_cost": ({"gpus": 4, "hours": 72, "price_per_hour": "28.64"}, "8248.32"),
    "budget_hours": ({"budget": 5000, "price_per_hour": "11.28"}, "443.26"),
    "budget_cards": ({"budget": 20000, "hours": 720, "price_per_hour": "8.68"}, "3"),
    "price_difference": ({"dearer": "40.39", "cheaper": "28.64"}, "11.75"),
    "average_price": ({"amounts": ["40.39", "34.742", "28.64"]}, "34.5907"),
    "sum_of_costs": ({"amounts": ["8.68", "11.28"]}, "19.96"),
    "run_difference": ({"slower_seconds": 26785, "faster_seconds": 20708}, "6077"),
    "run_speed": ({"rows": 39333, "seconds": 20708}, "0.5265"),
    "run_estimate": (
        {"rows": 20000, "small_rows": 9999, "small_seconds": 5348, "large_rows": 39333, "large_seconds": 20708}, "10585",
    ),
    "run_cost": ({"seconds": 20708, "price_per_hour": "2.2"}, "12.65"),
    "faster_card_time": ({"hours": 23, "factor": "2.3"}, "10"),
    "break_even_price": ({"price_per_hour": "28.64", "factor": "2.3"}, "65.872"),
    "scaled_run": ({"hours": 40, "other_gpus": 4}, "10"),
    "cards_for_time": ({"hours": 720, "wanted_hours": 72}, "10"),
    "discounted_price": ({"list_price": "28.64", "paid_share": "0.85"}, "24.344"),
    "price_per_unit": ({"price": "40.39", "quantity": 245, "unit": "GiB"}, "0.16486"),
    "combined_rate": ({"parts": [{"instances": 3, "price_per_hour": "8.68"}, {"price_per_hour": "34.742"}]}, "60.782"),
    "server_total": ({"servers": [{"servers": 2, "parts": 2, "each": 32}, {"parts": 2, "each": 48}], "unit": "core"}, "224"),
    "card_total": ({"parts": [{"cards": 2, "each": 80}, {"cards": 4, "each": 94}], "unit": "GB"}, "536"),
    "card_ratio": ({"larger": 3350, "smaller": 2039, "unit": "GB/s"}, "1.64"),
    "servers_in_rack": ({"rack_units": 42, "units_per_server": 8}, "5"),
    "working_hours": ({"hours_per_day": 9, "days": 22}, "198"),
    "replicas_needed": ({"users": 80, "rate_per_user": 20, "rate_per_replica": 500, "spare": 1}, "5"),
    "replicas_left": ({"replicas": 3, "rate_per_replica": 1000, "demand": 2400}, "2000"),
    "quota_hours": ({"hours_per_week": 30, "weeks": 4, "people": 3}, "360"),
    "quota_weeks": ({"hours": 200, "hours_per_week": 30}, "6.67"),
    "subscriptions": ({"people": 5, "price": 9}, "45"),
    "cards_needed": ({"memory_min_gb": 85, "memory_max_gb": 100, "card_memory_gb": 24}, "4"),
    "total_memory": ({"cards": 64, "card_memory_gb": 40}, "2560"),
    "training_flops": ({"active_parameters": 70e9, "tokens": 1.4e12}, "588e21"),  # 6 x 70e9 x 1.4e12
    "iteration_time": (
        {"tokens_per_iteration": 4_000_000, "active_parameters": 1e9, "gpus": 10, "peak_dense_tflops": 600, "mfu": "0.4"}, "10",
    ),  # 600e12 x 0.4 / 6e9 = 40,000 tokens/s; 4e6 / (40,000 x 10)
    "training_rate": ({"active_parameters": 1e9, "peak_dense_tflops": 600, "mfu": "0.4"}, "40000"),
    "training_cost": (
        {"tokens": 14.4e9, "active_parameters": 1e9, "peak_dense_tflops": 600, "mfu": "0.4"}, "100",
    ),  # 14.4e9 / 40,000 / 3600
    "tokens_trained": ({"active_parameters": 13e9, "peak_dense_tflops": 989, "mfu": 0.4, "gpus": 8, "gpu_hours": 5000}, "91292300000"),
    "training_cost_from_rate": ({"tokens": 14.4e9, "tokens_per_second_per_gpu": 40_000}, "100"),
    "finetune_time": (
        {"rows": 10_000, "tokens_per_row": 1440, "epochs": 10, "active_parameters": 1e9, "tokens_per_second_per_gpu": 10_000}, "4",
    ),  # 144e6 / 10,000 / 3600
    "gpu_hours_total": ({"gpu_hours": [2664000, 119000, 5000]}, "2788000"),
    "prefill_time": (
        {"active_parameters": 1e9, "prompt_tokens": 1000, "peak_dense_tflops": 100, "compute_share": "0.5"}, "40",
    ),  # 2e12 / 50e12 s
    "decode_rate": ({"weights_read_gb": 16, "bandwidth_gb_per_s": 2000, "bandwidth_share": "0.5"}, "62.5"),
    "serving_throughput": (
        {"active_parameters": 1e9, "weights_gb": 9, "kv_bytes_per_token": 10**6, "input_tokens": 0, "output_tokens": 2,
         "memory_gib": 80, "bandwidth_gb_per_s": 1000, "peak_dense_tflops": 2, "memory_share": 1, "compute_share": 1,
         "bandwidth_share": 1, "max_sequences": 1000}, "990.099",
    ),  # 2e12 / 2e9 = 1,000; 1,000 x 1,000 / (9 + 1,000 x 0.001 x 1) = 100,000; 1 / (1/1,000 + 1/100,000)
    "throughput_bound": ({"active_parameters": 1e9, "gpus": 8, "peak_dense_tflops": 500}, "2000000"),
    "serving_capacity": (
        {"input_tokens": 100, "output_tokens": 100,
         "model": {"name": "tiny", "parameters": 2**30, "active_parameters": 2**30, "layers": 16, "hidden_size": 1024,
                   "attention_heads": 16, "kv_heads": 8, "head_size": 64, "vocabulary": 1000},
         "gpu": {"name": "card", "memory_gib": 12, "bandwidth_gb_per_s": 1000, "bf16_tflops": 100}}, "1136",
    ),  # (10.8 - 2 - 1.8) GiB less 2,048 tokens x (4 x 1024 + 3 x 4096) x 2 B + 6,000 B of logits = 7,449,077,904 B;
    # / (2 x 16 x 8 x 64 x 2 x 200 B = 6,553,600) = 1,136.6
    "cost_per_million_tokens": ({"price_per_hour": "3.6", "tokens_per_second": 1000}, "1"),
    "token_revenue": ({"output_tokens": 2e6, "output_price_per_million": "2.19"}, "4.38"),
    "margin": ({"revenue": 300, "cost": 100}, "200"),
    "average_token_rate": ({"tokens": 8_640_000, "seconds": 86400, "machines": 2}, "50"),
    "scaling": ({"rate_of_many": 12, "rate_of_base": 2, "gpus": 8}, "6"),
    "gpu_hours": ({"parts": [{"gpus": 512, "hours": 1272}]}, "651264"),
    "price_per_gpu_hour": ({"total_cost": 672, "gpus": 8, "hours": 24}, "3.5"),
    "rental_comparison": ({"offers": [{"provider": "a", "price": 3}, {"provider": "b", "price": 2}], "gpus": 4}, "8"),
    "rental_terms": ({"hours": 100, "on_demand_price": 4, "spot_price": 2, "rework": "0.2"}, "240"),
    "currency_conversion": (
        {"amount": 72, "from_currency": "CNY", "to_currency": "USD",
         "rates": [{"currency": "CNY", "per_usd": "7.2", "as_of": "2024", "source": "x"}]}, "10",
    ),
    "offers_within": ({"offers": [{"gpu": "A100", "price": 2}], "gpus": ["A10"]}, "0"),
    "memory_as_sold": ({"reported_mib": 81559, "known_gb": [80, 94]}, "80"),
    "energy": ({"hours": 1000, "gpu_watts": 400, "load": 1, "pue": "1.1"}, "440"),
    "colocation_cost": ({"kw": 8, "price_per_kw_month": 300}, "2400"),
    "api_cost": (
        {"million_tokens": 30, "input_share": "0.5", "price_per_million_input": 1, "price_per_million_output": 3}, "60",
    ),
    "depreciation": ({"cost": 250000, "method": "macrs-5", "year": 4}, "28800"),
    "payback": ({"purchase": 1000, "rent": 3, "own": 1}, "500"),
    "buy_or_rent": (
        {"cards": 1, "price_per_card": 10000, "rent_per_gpu_hour": 2, "tdp_w": 1000, "load": 1, "host_kw": 0, "pue": 1,
         "price_per_kwh": 1, "server_price": 0, "horizon_months": 12}, "-1240",
    ),  # rent 2 x 8,760 = 17,520; own 10,000 + 8,760 = 18,760
    "rank_gpus": ({"candidates": [{"gpu": {"name": "A40", "memory_gib": 48}, "prices": [{"price": 1}]}], "memory_need_gib": 40}, "1"),
    "quantisation_bits": ({"bits": 4, "block": 128, "scale_bits": 16, "zero_bits": 4}, "4.15625"),  # 4 + 20/128
    "model_weights": ({"parameters": 2**30, "precision": "bf16"}, "2"),
    "kv_cache": ({"kv_bytes_per_token": 131072, "context_tokens": 8192}, "1"),  # 128 KiB x 8 Ki
    "kv_pool": ({"total_gib": 80, "weights_gib": 20, "non_torch_gib": 1, "activation_gib": 1}, "50"),  # 72 - 22
    "inference_memory": ({"parameters": 2**30, "engine": "transformers"}, "2.525"),  # 2 + (0.4 + 0.65) / 2
    "inference_fit": ({"parameters": 2**30, "gpu": {"name": "card", "memory_gib": 10}}, "5.2"),  # 10 x 0.9 - (2 + 1.8)
    "training_memory": ({"parameters": 2**30}, "17.4"),  # 16 bytes each + (1.0 + 1.8) / 2
    "request_rate": (
        {"requests_per_second": 10, "output_tokens": 100, "tokens_per_second_per_replica": 500, "gpus_per_replica": 2}, "6",
    ),  # 1000 / (500 x 0.7) = 2.86, so 3 copies of 2
    "lora_parameters": ({"model": TINY}, "458752"),  # 16 layers x 8 x (1024 + 1024 + 1024 + 512)
}  # fmt: skip


def test_every_calculator_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(CALCULATORS)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_the_result_is_what_was_worked_out_by_hand_and_survives_json(tool: str) -> None:
    arguments, expected = EXAMPLES[tool]
    result = calculate(tool, **arguments)
    assert result.value == Decimal(expected)
    again = Calculation.model_validate_json(result.model_dump_json())
    assert again == result
    assert isinstance(json.loads(result.model_dump_json())["value"], float | int)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_the_schema_is_valid_accepts_the_example_and_refuses_what_the_calculator_refuses(tool: str) -> None:
    schema = CALCULATORS[tool].given.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    arguments = EXAMPLES[tool][0]
    assert validator.is_valid(arguments)
    needed = any(field.is_required() for field in CALCULATORS[tool].given.model_fields.values())
    assert validator.is_valid({}) is not needed  # inputs of which one of several will do are refused by the calculator
    with pytest.raises(ToolError):
        calculate_json(tool, {})
    assert not validator.is_valid(arguments | {"surprise": 1})
    first = next(iter(arguments))
    assert not validator.is_valid(arguments | {first: -1})
    with pytest.raises(ToolError, match=first):
        calculate_json(tool, arguments | {first: -1})


@pytest.mark.parametrize("tool", EXAMPLES)
def test_every_calculator_and_its_input_say_what_they_do(tool: str) -> None:
    assert CALCULATORS[tool].compute.__doc__
    assert CALCULATORS[tool].given.__doc__


def test_an_unknown_calculator_is_named_with_those_there_are() -> None:
    with pytest.raises(ToolError, match=r"'training_magic'; there are period_hours, .*total_memory"):
        calculate("training_magic", parameters=7)


def test_a_refusal_with_a_hundred_faults_stays_short_and_tells_where_the_schema_is() -> None:
    with pytest.raises(ToolError) as refusal:
        calculate("sum_of_costs", amounts=["x" * 1000] * 100)
    assert len(str(refusal.value)) < 1200
    assert "gpu-advisor calc sum_of_costs --schema" in str(refusal.value)


def test_the_record_of_a_call_holds_arguments_with_defaults_result_and_formula() -> None:
    record, result = call("rental_cost", "en", gpus=4, hours=72, price_per_hour=Decimal("28.64"))
    assert record.tool == "rental_cost"
    assert record.arguments == {
        "gpus": 4,
        "hours": 72,
        "price_per_hour": 28.64,
        "currency": "CNY",
        "gpus_per_instance": 1,
    }
    assert record.result == {
        "value": 8248.32, "unit": "CNY",
        "outputs": {"cost": 8248.32, "instances": 4, "gpus_billed": 4, "hours": 72, "currency": "CNY"},
    }  # fmt: skip
    assert record.formula == result.formula == "4 × 72 h × 28.64 CNY/h = 8,248.32 CNY"


@pytest.mark.parametrize(("language", "words"), [("zh", "只按显存"), ("en", "by memory alone")])
def test_assumptions_are_recorded_in_the_readers_language(language: Any, words: str) -> None:
    record, _ = call("cards_needed", language, memory_min_gb=85, memory_max_gb=100, card_memory_gb=24)
    assert len(record.assumptions) == 1
    assert words in record.assumptions[0]


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        ({"parameters": 7e9, "gpu": "H100"}, "H100 PCIe 80GB, H100 SXM5 80GB, H100 NVL 94GB"),
        ({"model": "Qwen2.5-71B", "gpu": "L4"}, "Qwen2.5-72B"),
    ],
)
def test_an_unclear_name_of_a_row_is_answered_with_those_it_may_mean(arguments: dict[str, Any], near: str) -> None:
    with pytest.raises(ToolError, match=re.escape(near)):
        calculate_json("inference_fit", arguments)
