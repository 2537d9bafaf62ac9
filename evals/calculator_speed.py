"""`python -m evals.calculator_speed`: median and longest time of every calculator, from arguments to result.

Prints a Markdown table; exits with 1 when a median is above its bar (1 ms), so that a slow calculator is seen.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

import typer

from assistant.tools import CALCULATORS, calculate_json

BAR_MS = 1.0
BARS_MS = {"rank_gpus": 50.0}  # 101 GPUs at once
REPEATS = 300
WARM_UP = 20

MODEL: dict[str, Any] = {
    "name": "Llama-3.1-70B", "parameters": 70.554e9, "active_parameters": 70.554e9, "layers": 80, "hidden_size": 8192,
    "attention_heads": 64, "kv_heads": 8, "head_size": 128, "vocabulary": 128256, "context_tokens": 131072,
}  # fmt: skip
GPU: dict[str, Any] = {
    "name": "H100 SXM", "memory_gib": 80, "bandwidth_gb_per_s": 3350, "bf16_tflops": 989, "fp8_tflops": 1979,
    "nvlink_gb_per_s": 900,
}  # fmt: skip
PRICE: dict[str, Any] = {
    "provider": "x",
    "price": "23.92",
    "currency": "USD",
    "gpus_per_instance": 8,
    "as_of": "2025-06-01",
}
PRICES: list[dict[str, Any]] = [PRICE | {"gpu": f"GPU {n}", "price": 10 + n} for n in range(10)]
TRAINING: dict[str, Any] = {"active_parameters": 70e9, "layers": 80, "hidden_size": 8192, "sequence_tokens": 4096}

RANKED: list[dict[str, Any]] = [
    {"gpu": GPU | {"name": f"GPU {n}", "memory_gib": 24 + n}, "tokens_per_second_per_gpu": 100 + n,
     "prices": [PRICE | {"gpu": f"GPU {n}", "price": 10 + n}]}
    for n in range(101)
]  # fmt: skip

# One call of each calculator, as large as a question makes it.
EXAMPLES: dict[str, dict[str, Any]] = {
    "period_hours": {"value": 2, "unit": "month"},
    "rental_cost": {"gpus": 9, "hours": 720, "price_per_hour": "98.32", "gpus_per_instance": 8, "currency": "USD"},
    "budget_hours": {"budget": 5000, "price_per_hour": "11.28", "gpus": 2},
    "budget_cards": {"budget": 20000, "hours": 720, "price_per_hour": "8.68"},
    "price_difference": {"dearer": "40.39", "cheaper": "28.64"},
    "average_price": {"amounts": ["40.39", "34.742", "28.64", "11.28", "8.68"]},
    "sum_of_costs": {"amounts": ["8.68", "11.28", "40.39", "34.742"]},
    "purchase_cost": {"cards": 8, "price_per_card": 110000},
    "purchasable_cards": {"budget": 100000, "price_per_card": 14599},
    "run_difference": {"slower_seconds": 26785, "faster_seconds": 20708},
    "run_total": {"seconds": [5348, 20708, 26785]},
    "run_speed": {"rows": 39333, "seconds": 20708},
    "run_estimate": {
        "rows": 20000, "small_rows": 9999, "small_seconds": 5348, "large_rows": 39333, "large_seconds": 20708,
    },
    "run_cost": {"seconds": 20708, "price_per_hour": "2.2"},
    "faster_card_time": {"hours": 23, "factor": "2.3"},
    "break_even_price": {"price_per_hour": "28.64", "factor": "2.3"},
    "scaled_run": {"hours": 40, "other_gpus": 4},
    "cards_for_time": {"hours": 720, "wanted_hours": 72},
    "discounted_price": {"list_price": "28.64", "paid_share": "0.85"},
    "price_per_unit": {"price": "40.39", "quantity": 245, "unit": "GiB"},
    "card_total": {"parts": [{"cards": 8, "each": 80}], "unit": "GB"},
    "card_ratio": {"larger": 3350, "smaller": 2039, "unit": "GB/s"},
    "combined_rate": {"parts": [{"instances": 3, "price_per_hour": "8.68"}, {"price_per_hour": "34.742"}]},
    "working_hours": {"hours_per_day": 9, "days": 22},
    "replicas_needed": {"users": 80, "rate_per_user": 20, "rate_per_replica": 500, "spare": 1},
    "replicas_left": {"replicas": 3, "rate_per_replica": 1000, "demand": 2400},
    "quota_hours": {"hours_per_week": 30, "weeks": 4, "people": 3},
    "quota_weeks": {"hours": 200, "hours_per_week": 30},
    "subscriptions": {"people": 5, "price": 9},
    "cards_needed": {"memory_min_gb": 85, "memory_max_gb": 100, "card_memory_gb": 24},
    "total_memory": {"cards": 64, "card_memory_gb": 40},
    "training_flops": TRAINING | {"tokens": 15e12},
    "iteration_time": TRAINING | {"tokens_per_iteration": 4194304, "gpus": 1024, "peak_dense_tflops": 989},
    "training_rate": TRAINING | {"peak_dense_tflops": 989, "gpus": 256},
    "training_cost": TRAINING
    | {"tokens": 15e12, "peak_dense_tflops": 989, "gpus": 2048, "price_per_gpu_hour": 2, "tdp_w": 700},
    "tokens_trained": {"active_parameters": 13e9, "peak_dense_tflops": 989, "mfu": 0.4, "gpus": 8, "gpu_hours": 5000},
    "training_cost_from_rate": {"tokens": 3e11, "tokens_per_second_per_gpu": 24000, "gpus": 16, "price_per_gpu_hour": 1},
    "finetune_time": TRAINING
    | {"rows": 39333, "tokens_per_row": 512, "epochs": 3, "peak_dense_tflops": 989, "gpus": 8, "price_per_gpu_hour": 2},
    "gpu_hours_total": {"gpu_hours": [2664000, 119000, 5000], "gpus": 2048, "price_per_gpu_hour": 2},
    "prefill_time": {
        "active_parameters": 70e9, "prompt_tokens": 8192, "peak_dense_tflops": 989, "gpus": 4, "layers": 80,
        "hidden_size": 8192,
    },
    "decode_rate": {
        "weights_read_gb": 37.6, "total_weights_gb": 671, "experts": 256, "experts_per_token": 8, "batch": 256,
        "kv_bytes_per_token": 70272, "context_tokens": 4096, "bandwidth_gb_per_s": 4800, "gpus": 8, "layers": 61,
        "active_parameters": 37.6e9, "peak_dense_tflops": 1979,
    },
    "serving_throughput": {
        "active_parameters": 70e9, "weights_gb": 70, "kv_bytes_per_token": 163840, "input_tokens": 1000,
        "output_tokens": 1000, "gpus": 8, "memory_gib": 80, "bandwidth_gb_per_s": 3350, "peak_dense_tflops": 1979,
    },
    "throughput_bound": {"active_parameters": 12.9e9, "gpus": 8, "peak_dense_tflops": 1979},
    "serving_capacity": {
        "input_tokens": 2000, "output_tokens": 500, "model": MODEL, "gpu": GPU, "gpus": 4, "users": 200,
        "min_tokens_per_second_per_user": 20, "max_seconds_to_first_token": 2, "price_per_gpu_hour": "2.5",
    },
    "quantisation_bits": {"bits": 4, "block": 64, "scale_bits": 8, "second_block": 256},
    "model_weights": {"model": MODEL, "precision": "awq-int4", "tensor_parallel": 4},
    "kv_cache": {"model": MODEL, "context_tokens": 32768, "sequences": 16, "tensor_parallel": 4},
    "kv_pool": {"total_gib": 79, "weights_gib": 15, "kv_bytes_per_token": 131072, "max_model_len": 8192},
    "inference_memory": {"model": MODEL, "context_tokens": 8192, "sequences": 16, "tensor_parallel": 4},
    "inference_fit": {"model": MODEL, "context_tokens": 8192, "sequences": 16, "gpu": GPU},
    "lora_parameters": {"model": MODEL | {"mlp_size": 28672}, "rank": 16, "targets": ["q", "k", "v", "o", "gate", "up", "down"]},
    "training_memory": {
        "model": MODEL | {"mlp_size": 28672}, "method": "qlora", "sequence_tokens": 4096, "micro_batch": 2, "gpus": 8,
        "sharding": "zero3", "gpu": GPU,
    },
    "gpu_hours": {"parts": [{"gpus": 8, "hours": 100}, {"gpus": 64, "hours": 720}]},
    "price_per_gpu_hour": {"total_cost": "23.92", "gpus": 8, "currency": "USD"},
    "rental_comparison": {"offers": PRICES, "gpus": 8},
    "rental_terms": {
        "hours": 500, "instances": 2, "on_demand_price": 24, "committed_price": 16, "committed_hours": 730, "spot_price": 9,
    },
    "currency_conversion": {
        "amount": 1000, "from_currency": "EUR", "to_currency": "CNY",
        "rates": [{"currency": "EUR", "per_usd": "0.92", "as_of": "2024", "source": "x"},
                  {"currency": "CNY", "per_usd": "7.19", "as_of": "2024", "source": "x"}],
    },
    "offers_within": {"offers": PRICES, "gpus": ["gpu 3"], "limits": [{"field": "price", "maximum": 20}]},
    "memory_as_sold": {"reported_mib": 81559, "known_gb": [40, 80, 94]},
    "energy": {"gpus": 8, "hours": 720, "gpu_watts": 700, "host_kw": 2, "price_per_kwh": "0.8", "kg_co2_per_kwh": "0.5"},
    "colocation_cost": {"kw": 10, "price_per_kw_month": 180, "months": 36},
    "api_cost": {
        "million_tokens": 30, "input_share": "0.33", "price_per_million_input": 3, "price_per_million_output": 15,
    },
    "depreciation": {"cost": 100000, "method": "macrs-5", "year": 3},
    "payback": {"purchase": 833806, "rent": "98.32", "own": "6.37"},
    "buy_or_rent": {
        "cards": 8, "price_per_card": 30000, "rent_per_gpu_hour": "2.5", "currency": "USD", "tdp_w": 700,
        "price_per_kwh": "0.12", "utilisation": "0.6", "depreciation": "macrs-5",
    },
    "rank_gpus": {"candidates": RANKED, "memory_need_gib": 160, "hours": 720},
    "cost_per_million_tokens": {"price_per_hour": 16, "tokens_per_second": 14500},
    "token_revenue": {
        "output_tokens": 168e9, "input_tokens": 266e9, "cached_input_tokens": 342e9, "output_price_per_million": "2.19",
        "input_price_per_million": "0.55", "cached_input_price_per_million": "0.14",
    },
    "margin": {"revenue": 562027, "cost": 87072},
    "average_token_rate": {"tokens": 168e9, "seconds": 86400, "machines": "226.75"},
    "request_rate": {"requests_per_second": 10, "output_tokens": 100, "tokens_per_second_per_replica": 500},
    "scaling": {"rate_of_many": "23514.8", "rate_of_base": "3062.72", "gpus": 8},
}  # fmt: skip


def measure(tool: str) -> tuple[float, float]:
    """Median and longest milliseconds of REPEATS calls, validation of the arguments included."""
    times = []
    for turn in range(WARM_UP + REPEATS):
        start = time.perf_counter()
        calculate_json(tool, EXAMPLES[tool])
        if turn >= WARM_UP:
            times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times), max(times)


def main() -> None:
    """Measure all calculators and print the table."""
    missing = sorted(CALCULATORS.keys() - EXAMPLES.keys())
    typer.echo("| calculator | median ms | max ms | bar ms |\n|---|---|---|---|")
    slow = []
    for tool in sorted(CALCULATORS.keys() & EXAMPLES.keys()):
        median, longest = measure(tool)
        bar = BARS_MS.get(tool, BAR_MS)
        typer.echo(f"| {tool} | {median:.3f} | {longest:.3f} | {bar:g} |")
        if median > bar:
            slow.append(tool)
    if slow:
        typer.echo(f"above the bar: {', '.join(slow)}", err=True)
    if missing:
        typer.echo(f"no example, not measured: {', '.join(missing)}", err=True)
    if slow or missing:
        sys.exit(1)


if __name__ == "__main__":
    main()
