"""Published serving speeds and token prices, row by row, computed by our calculators (area f); and area e's operations.

A row with `check` "ceiling" gets the bound at 100 % efficiency. What a row leaves out about a model or a card comes
from our own tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from assistant.calculator.calculation import Calculation
from assistant.calculator.shapes import ModelShape
from assistant.tools import calculate
from evals.golden_models import known_shape
from evals.golden_rows import BYTES_OF_TYPE, SECONDS, TOKENS_PER_SECOND, Operation, Row, given, in_unit, whole
from evals.golden_training import TRAINING_OPERATIONS
from knowledge.catalog import load_catalog
from knowledge.hardware import Gpu


def _decode(row: Row, bandwidth_gb_per_s: Decimal | None, gpus: int) -> Calculation:
    parameters, bytes_each = row.number("active_params", "params"), row.number("dtype_bytes")
    kind, read = row.text("dtype", "bf16"), row.number("weight_bytes_read")
    arguments = given(
        bandwidth_gb_per_s=bandwidth_gb_per_s, gpus=gpus, batch=whole(row.number("batch")),
        bandwidth_share=row.number("efficiency"), kv_bytes_per_token=row.number("kv_bytes_per_token"),
        context_tokens=whole(row.number("context", "seq")), layers=whole(row.number("layers")),
    )  # fmt: skip
    row.close()
    if read is None and parameters is not None:
        read = parameters * (bytes_each if bytes_each is not None else BYTES_OF_TYPE[kind])
    if read is None:
        raise ValueError("no weights to read: give weight_bytes_read, or params and dtype_bytes")
    return calculate("decode_rate", weights_read_gb=read / 10**9, **arguments)


def decode_tps(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Tokens per second while writing; the row's bandwidth is that of all its GPUs together."""
    row = Row(inputs, "decode_tps_bs1")
    gpus, check = whole(row.number("tp")) or 1, row.text("check")
    together = row.number("mem_bw_gbs")
    result = _decode(row, None if together is None else together / gpus, gpus)
    output = "bound_tokens_per_second" if check else "tokens_per_second"
    return in_unit(result.outputs[output], unit, TOKENS_PER_SECOND, "tok/s")


def decode_ms_per_token(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Milliseconds per token while writing; the row's bandwidth is that of one GPU."""
    row = Row(inputs, "decode_ms_per_token")
    gpus, check = whole(row.number("tp", "gpus")) or 1, row.text("check")
    result = _decode(row, row.number("mem_bw_gbs"), gpus)
    output = "bound_milliseconds_per_token" if check else "milliseconds_per_token"
    return in_unit(result.outputs[output], unit, SECONDS, "ms")


def _prefill(name: str, output: str, sizes: Mapping[str, Decimal | int], base: str) -> Operation:
    def operation(inputs: Mapping[str, Any], unit: str) -> Decimal:
        row = Row(inputs, name)
        peak, check = row.number("peak_flops_dense", "peak_flops_dense_fp8"), row.text("check")
        arguments = given(
            active_parameters=row.number("active_params", "params"), prompt_tokens=row.number("tokens", "prompt"),
            sequences=whole(row.number("batch")), peak_dense_tflops=None if peak is None else peak / 10**12,
            gpus=whole(row.number("tp", "gpus")), compute_share=row.number("flops_efficiency", "efficiency"),
            layers=whole(row.number("layers")), hidden_size=whole(row.number("hidden")),
        )  # fmt: skip
        row.close()
        return in_unit(
            calculate("prefill_time", **arguments).outputs[f"bound_{output}" if check else output], unit, sizes, base
        )

    return operation


def offline_throughput(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Output tokens per second of a whole system that is kept full. What a row leaves out comes from our tables."""
    row = Row(inputs, "offline_throughput")
    name, check = str(inputs.get("model", "")), row.text("check")
    system = str(inputs.get("system") or inputs.get("gpu") or "")
    kind, cache_kind = row.text("dtype", "fp8"), row.text("kv_dtype", "")
    gpus = whole(row.number("gpus", "tp")) or 1
    total, active = row.number("params"), row.number("active_params")
    kv_bytes, isl, osl = row.number("kv_bytes_per_token"), whole(row.number("isl")), whole(row.number("osl"))
    peak = row.number(f"peak_flops_dense_{kind}", "peak_flops_dense", "peak_flops_dense_fp8", "peak_flops_dense_bf16")
    bandwidth, memory = row.number("mem_bw_gbs"), row.number("mem_gb", "mem_gib")
    shares = given(compute_share=row.number("flops_efficiency"), bandwidth_share=row.number("efficiency"))
    row.close()
    model, cards = known_shape(name), _cards(system)
    active = active or total or (model.active_parameters if model else None)
    tflops = peak / 10**12 if peak is not None else _peak(cards, kind)
    if check and not (bandwidth and memory and kv_bytes and isl and osl):
        bound = given(
            active_parameters=active, gpus=gpus, peak_dense_tflops=tflops, input_tokens=isl, output_tokens=osl
        )
        return in_unit(calculate("throughput_bound", **bound).value, unit, TOKENS_PER_SECOND, "tok/s")
    total = total or (model.parameters if model else None)
    if kv_bytes is None and model is not None:
        kv_bytes = _cache_bytes_per_token(model, cache_kind or "bf16")
    result = calculate(
        "serving_throughput",
        **given(
            active_parameters=active, weights_gb=None if total is None else total * BYTES_OF_TYPE[kind] / 10**9,
            kv_bytes_per_token=kv_bytes, input_tokens=isl, output_tokens=osl, gpus=gpus, memory_gib=memory,
            bandwidth_gb_per_s=bandwidth, peak_dense_tflops=tflops, interconnect="pcie" if _over_pcie(cards) else "nvlink",
        ),
        **shares,
    )  # fmt: skip
    output = "bound_tokens_per_second" if check else "output_tokens_per_second"
    return in_unit(result.outputs[output], unit, TOKENS_PER_SECOND, "tok/s")


def _cards(system: str) -> list[Gpu]:
    """The cards whose names have all words of "8x H100-SXM"."""
    words = re.sub(r"^\d+\s*x\s*", "", system.lower()).replace("-", " ").split()
    return [card for card in load_catalog().gpus if words and all(word in card.name.lower() for word in words)]


def _peak(cards: list[Gpu], kind: str) -> Decimal | None:
    """The highest dense peak the table has for these cards in this type, or in 16 bits."""
    spans = [(kind == "fp8" and card.fp8_tflops) or card.bf16_tflops or card.fp16_tflops for card in cards]
    return max((span.high for span in spans if span), default=None)


def _over_pcie(cards: list[Gpu]) -> bool:
    return bool(cards) and all(c.nvlink_gb_per_s is None and c.interconnect.startswith("PCIe") for c in cards)


def _cache_bytes_per_token(model: ModelShape, precision: str) -> Decimal:
    arguments = {"model": model, "context_tokens": 1, "kv_precision": precision}
    return Decimal(str(calculate("kv_cache", **arguments).outputs["bytes_per_token"]))


def cost_per_m_tokens(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Cost of a million tokens."""
    row = Row(inputs, "cost_per_m_tokens")
    currency = unit.split("/")[0]
    gpus, price = row.number("gpus", "gpus_per_node"), row.number("price_per_hour")
    per_gpu = row.number("price_per_gpu_hour")
    if price is None and per_gpu is not None:
        price = per_gpu * (gpus or 1)
    arguments = given(price_per_hour=price, tokens_per_second=row.number("tokens_per_s"), currency=currency)
    row.close()
    return in_unit(calculate("cost_per_million_tokens", **arguments).value, unit, {f"{currency}/M tok": 1}, "")


def api_revenue(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Revenue at list prices; tokens come in billions, prices per million."""
    row = Row(inputs, "api_revenue")
    billions = {"cached_input_tokens": "in_hit_b", "input_tokens": "in_miss_b", "output_tokens": "out_b"}
    tokens = {name: (row.number(key) or Decimal(0)) * 10**9 for name, key in billions.items()}
    currency = unit.split("/")[0]
    prices = {"cached_input_price_per_million": row.number("price_hit"), "currency": currency,
              "input_price_per_million": row.number("price_miss"), "output_price_per_million": row.number("price_out")}  # fmt: skip
    row.close()
    return calculate("token_revenue", **tokens, **given(**prices)).value


def margin_pct(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Profit in percent of the cost."""
    row = Row(inputs, "margin_pct")
    revenue, cost = row.number("revenue"), row.number("cost")
    row.close()
    return in_unit(
        calculate("margin", **given(revenue=revenue, cost=cost)).outputs["percent_of_cost"], unit, {"%": 1}, "%"
    )


def avg_output_rate(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Average rate of one node."""
    row = Row(inputs, "avg_output_rate")
    tokens, seconds, nodes = row.number("out_tokens", "tokens"), row.number("seconds"), row.number("nodes", "gpus")
    row.close()
    result = calculate("average_token_rate", **given(tokens=tokens, seconds=seconds, machines=nodes))
    return in_unit(result.value, unit, TOKENS_PER_SECOND, "tok/s")


def scaling_ratio(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """How many times as fast many GPUs are."""
    row = Row(inputs, "scaling_ratio")
    many, base, gpus = row.number("numerator"), row.number("denominator"), whole(row.number("gpus"))
    row.close()
    result = calculate("scaling", **given(rate_of_many=many, rate_of_base=base, gpus=gpus))
    return in_unit(result.value, unit, {"x": 1, "times": 1}, "x")


OPERATIONS: dict[str, Operation] = {
    **TRAINING_OPERATIONS,
    "decode_tps_bs1": decode_tps,
    "decode_ms_per_token": decode_ms_per_token,
    "prefill_ms": _prefill("prefill_ms", "milliseconds", SECONDS, "ms"),
    "prefill_tps": _prefill("prefill_tps", "tokens_per_second", TOKENS_PER_SECOND, "tok/s"),
    "offline_throughput": offline_throughput,
    "cost_per_m_tokens": cost_per_m_tokens,
    "api_revenue": api_revenue,
    "margin_pct": margin_pct,
    "avg_output_rate": avg_output_rate,
    "scaling_ratio": scaling_ratio,
}
