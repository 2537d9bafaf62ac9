"""Published training and serving values as rows: each runs through the calculators in the unit asked for."""

from __future__ import annotations

from typing import Any

import pytest

from assistant.tools import CALCULATORS, calculate
from evals import calculator_speed
from evals.golden_speed import OPERATIONS


def near(value: object, expected: float, percent: float) -> bool:
    return abs(float(str(value)) / expected - 1) <= percent / 100


def row(operation: str, unit: str, **inputs: Any) -> float:
    return float(OPERATIONS[operation](inputs, unit))


def test_golden_rows_run_through_the_calculators() -> None:
    weights = {"weight_bytes_read": 16e9, "batch": 1, "model": "x", "gpu": "y"}
    assert row("decode_tps_bs1", "tok/s", mem_bw_gbs=2000, efficiency=0.5, **weights) == 62.5
    assert (
        row("decode_tps_bs1", "tok/s", mem_bw_gbs=4000, tp=2, check="ceiling", **weights) == 250
    )  # both cards' bandwidth
    assert row("decode_ms_per_token", "ms/token", params=8e9, dtype_bytes=2, mem_bw_gbs=2000, tp=2, efficiency=0.8) == 5
    assert row("prefill_ms", "s", params=1e9, tokens=1000, peak_flops_dense=1e14, flops_efficiency=0.5) == 0.04
    assert row("prefill_tps", "tok/s", params=1e9, prompt=100, peak_flops_dense=1e14, check="ceiling") == 50_000
    assert row("cost_per_m_tokens", "CNY/M tok", price_per_hour=3.6, tokens_per_s=1000) == 1
    assert row("margin_pct", "%", revenue=300, cost=100) == 200
    assert (
        row("api_revenue", "USD/day", in_hit_b=1, in_miss_b=2, out_b=3, price_hit=0.1, price_miss=0.2, price_out=1)
        == 3500
    )
    assert row("avg_output_rate", "tok/s/node", out_tokens=8640000, nodes=2, seconds=86400) == 50
    assert row("scaling_ratio", "x", numerator=12, denominator=2, gpus=8) == 6


def test_a_throughput_row_takes_from_our_tables_what_it_leaves_out() -> None:
    measured = {"model": "Llama-2-70B", "gpus": 8, "dtype": "fp8", "isl": 294, "osl": 294, "peak_flops_dense_fp8": 733e12,
                "mem_bw_gbs": 864, "mem_gb": 48, "kv_dtype": "fp8"}  # fmt: skip
    pcie = row("offline_throughput", "tok/s", system="8x L40S", **measured)
    assert near(pcie * 3, row("offline_throughput", "tok/s", system="8x unknown card", **measured), 0.01)
    bound = row(
        "offline_throughput",
        "tok/s",
        model="Mixtral-8x7B",
        system="8x H200",
        gpus=8,
        active_params=1e9,
        check="ceiling",
    )
    assert near(bound, 8 * 1979e12 / 2e9, 0.01)


@pytest.mark.parametrize("operation", ["decode_tps_bs1", "decode_ms_per_token", "prefill_ms", "prefill_tps", "cost_per_m_tokens",
                                       "offline_throughput", "api_revenue", "margin_pct", "avg_output_rate", "scaling_ratio"])  # fmt: skip
def test_an_unknown_key_of_a_serving_row_is_named_with_its_operation(operation: str) -> None:
    inputs = {"surprise": 1, "weight_bytes_read": 1e9, "mem_bw_gbs": 100}
    with pytest.raises(ValueError, match=rf"^{operation}: no meaning is known for .*surprise"):
        OPERATIONS[operation](inputs, "tok/s")


def test_every_example_of_the_speed_table_is_a_call_its_calculator_takes() -> None:
    for tool, arguments in calculator_speed.EXAMPLES.items():
        if tool in CALCULATORS:
            assert calculate(tool, **arguments).value > 0
