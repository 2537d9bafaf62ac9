"""Published training runs, row by row, computed by our calculators (area e): GPU-hours, days, FLOPs, rates, MFU.

A row with `check` "floor" gets the time at the best MFU it names (0.6), which nothing real undercuts.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from assistant.tools import calculate
from evals.golden_rows import FLOPS, GPU_HOURS, SECONDS, TOKENS_PER_SECOND, Operation, Row, given, in_unit, whole

BEST_MFU = Decimal("0.6")


def _work(row: Row) -> dict[str, object]:
    """The model of a training row; `attention_term` says whether both halves of the score matrix count."""
    term = row.text("attention_term")
    causal = row.flag("causal") or term.startswith("6")
    total, active = row.number("params"), row.number("active_params")
    layers, hidden, sequence = row.number("layers"), row.number("hidden", "hidden_size"), row.number("seq", "seq_len")
    heads, key, value = row.number("heads"), row.number("qk_dim"), row.number("v_dim")
    counted = layers is not None and sequence is not None and term != "none"
    factor = row.number("flops_factor")
    if factor not in (None, Decimal(6), Decimal(8)):
        raise ValueError(f"flops_factor {factor} is neither 6 nor 8")
    recompute = row.text("recompute", "full" if factor == 8 else "none")
    return given(
        active_parameters=active if active is not None else total, recompute=recompute,
        **(given(layers=whole(layers), sequence_tokens=whole(sequence), hidden_size=whole(hidden),
                  attention_heads=whole(heads) if key else None, key_size=whole(key), value_size=whole(value),
                  causal=causal) if counted else {}),
    )  # fmt: skip


def _speed(row: Row) -> dict[str, object]:
    """How fast a training row runs. With a factor of 8 a share means the hardware's, otherwise the model's (MFU)."""
    work, check = _work(row), row.text("check")
    peak = row.number("peak_flops_dense", "peak_flops_dense_bf16", "peak_flops_dense_fp8")
    achieved = row.number("achieved_flops_per_gpu")
    achieved_tflops = row.number("achieved_tflops")
    mfu, hardware = row.number("mfu"), row.number("flops_efficiency", "hfu")
    best = row.number("mfu_for_floor") or BEST_MFU
    if achieved is not None:
        achieved_tflops = achieved / 10**12
    if check:  # the best time wastes no operation
        work["recompute"] = "none"
        mfu, hardware, achieved_tflops = best if check == "floor" else Decimal(1), None, None
    if mfu is not None and check == "" and work["recompute"] == "full":
        mfu, hardware = None, mfu
    return work | given(
        gpus=whole(row.number("gpus")), peak_dense_tflops=None if peak is None else peak / 10**12, mfu=mfu,
        hardware_share=hardware, achieved_tflops=achieved_tflops,
        tokens_per_second_per_gpu=row.number("tokens_per_s_per_gpu"),
    )  # fmt: skip


def _training(name: str, output: str) -> Operation:
    def operation(inputs: Mapping[str, Any], unit: str) -> Decimal:
        row = Row(inputs, name)
        tokens, price, currency = row.number("tokens"), row.number("price_per_gpu_hour"), row.text("currency", "USD")
        speed = _speed(row)
        row.close()
        known = "active_parameters" in speed
        arguments = speed if known else {k: v for k, v in speed.items() if k in ("gpus", "tokens_per_second_per_gpu")}
        tool = "training_cost" if known else "training_cost_from_rate"
        result = calculate(tool, **arguments, **given(tokens=tokens, price_per_gpu_hour=price, currency=currency))
        if output == "gpu_hours":
            return in_unit(result.outputs["gpu_hours"], unit, GPU_HOURS, "GPU-h")
        if output == "hours":
            return in_unit(result.outputs["hours"], unit, SECONDS, "h")
        return Decimal(str(result.outputs["cost"]))

    return operation


def sum_gpu_hours(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Stages of a run, or models of a family, added up."""
    row = Row(inputs, "sum_gpu_hours")
    parts = row.items("parts_gpu_hours")
    row.close()
    return in_unit(calculate("gpu_hours_total", gpu_hours=parts).value, unit, GPU_HOURS, "GPU-h")


def iteration_seconds(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """One optimiser step."""
    row = Row(inputs, "iteration_seconds")
    tokens, speed = row.number("tokens_per_iter"), _speed(row)
    row.close()
    return in_unit(calculate("iteration_time", tokens_per_iteration=tokens, **speed).value, unit, SECONDS, "s")


def train_flops(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Operations of a run: needed, or executed when the factor says so."""
    row = Row(inputs, "train_flops")
    tokens, work = row.number("tokens"), _work(row)
    row.close()
    return in_unit(calculate("training_flops", tokens=tokens, **work).outputs["executed_flops"], unit, FLOPS, "FLOP")


def flops_per_token(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Operations of one token."""
    row = Row(inputs, "flops_per_token")
    work = _work(row)
    row.close()
    return in_unit(calculate("training_flops", tokens=1, **work).outputs["flops_per_token"], unit, FLOPS, "FLOP/token")


def tokens_per_s_per_gpu(inputs: Mapping[str, Any], unit: str) -> Decimal:
    """Training rate of one GPU."""
    row = Row(inputs, "tokens_per_s_per_gpu")
    speed = _speed(row)
    row.close()
    return in_unit(calculate("training_rate", **speed).value, unit, TOKENS_PER_SECOND, "tok/s")


def _utilization(name: str, output: str) -> Operation:
    def operation(inputs: Mapping[str, Any], unit: str) -> Decimal:
        row = Row(inputs, name)
        speed = _speed(row)
        row.close()
        return in_unit(calculate("training_rate", **speed).outputs[output], unit, {"%": 1, "share": 100}, "%")

    return operation


TRAINING_OPERATIONS: dict[str, Operation] = {
    "train_gpu_hours": _training("train_gpu_hours", "gpu_hours"),
    "train_gpu_hours_from_rate": _training("train_gpu_hours_from_rate", "gpu_hours"),
    "train_days": _training("train_days", "hours"),
    "train_days_from_rate": _training("train_days_from_rate", "hours"),
    "train_hours": _training("train_hours", "hours"),
    "train_hours_from_rate": _training("train_hours_from_rate", "hours"),
    "train_cost": _training("train_cost", "cost"),
    "sum_gpu_hours": sum_gpu_hours,
    "iteration_seconds": iteration_seconds,
    "train_flops": train_flops,
    "flops_per_token": flops_per_token,
    "tokens_per_s_per_gpu": tokens_per_s_per_gpu,
    "mfu_pct": _utilization("mfu_pct", "mfu_percent"),
    "hfu_pct": _utilization("hfu_pct", "hardware_percent"),
}
