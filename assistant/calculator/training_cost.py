"""GPU-hours, days, money and energy of a training or fine-tuning run, from its FLOPs or from a measured rate.

Assumes the same speed per GPU however many there are; prices are per GPU-hour, never per instance.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import (
    HOURS_PER_DAY,
    NO_TRUTH,
    Amount,
    Assumption,
    Calculation,
    Count,
    Currency,
    Tokens,
    money,
    number,
)
from assistant.calculator.energy import EnergyInput, Pue, energy
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.training_compute import (
    MFU_RANGE,
    MFU_RANGE_ONE_CARD,
    TokenRate,
    TrainingSpeed,
    speed_assumptions,
)
from assistant.evidence import Bilingual, Frozen, JsonDecimal

SECONDS_PER_HOUR = 3600
Epochs = Annotated[JsonDecimal, Field(gt=0, le=10_000), NO_TRUTH]
Rows = Annotated[int, Field(gt=0, le=10**9), NO_TRUTH]
TokensPerRow = Annotated[JsonDecimal, Field(gt=0, le=10**7), NO_TRUTH]

SAME_SPEED = Assumption(
    name="scaling", value="1.0",
    text=Bilingual(
        zh="假定每张卡的速度不随卡数变化；卡数多、互联慢时会更慢",
        en="the speed per GPU is taken not to depend on their number; many GPUs or a slow interconnect lower it",
    ),
)  # fmt: skip
LORA = Assumption(
    name="method", value="6",
    text=Bilingual(
        zh="按每参数每词元 6 次运算计；LoRA 和 QLoRA 不算基座权重的梯度，最多可省三分之一，这里未减",
        en="6 operations per parameter and token; LoRA and QLoRA skip the base weights' gradients, up to a third less,"
        " which is not deducted here",
    ),
)  # fmt: skip


class Bill(Frozen):
    """What a GPU-hour costs and draws: `price_per_gpu_hour` of one GPU, `tdp_w` of one GPU."""

    price_per_gpu_hour: Amount | None = None
    currency: Currency = "USD"
    tdp_w: Annotated[JsonDecimal, Field(gt=0, le=5000), NO_TRUTH] | None = None
    pue: Pue | None = None


class TrainingCostInput(TrainingSpeed, Bill):
    """Training on `tokens` tokens with `gpus` GPUs."""

    tokens: Tokens


def training_cost(given: TrainingCostInput) -> Calculation:
    """GPU-hours = tokens / tokens per second per GPU / 3600; hours = GPU-hours / GPUs; cost = GPU-hours x price."""
    return _run(given, given, given.tokens, figure(given.tokens), {}, ())


class FinetuneTimeInput(TrainingSpeed, Bill):
    """Fine-tuning on `rows` rows of `tokens_per_row` tokens (prompt and answer, padding included), `epochs` times."""

    rows: Rows
    tokens_per_row: TokensPerRow
    epochs: Epochs = Decimal(1)


def finetune_time(given: FinetuneTimeInput) -> Calculation:
    """tokens = rows x tokens per row x epochs; then as training_cost."""
    tokens = given.rows * given.tokens_per_row * given.epochs
    product = (
        f"{given.rows:,} × {number(given.tokens_per_row)} × {number(given.epochs)} = {figure(tokens)} tokens;"
        f" {figure(tokens)}"
    )
    method = () if given.tokens_per_second_per_gpu else (LORA,)
    return _run(given, given, tokens, product, {"tokens": tokens}, method)


class TrainingCostFromRateInput(Bill):
    """Training on `tokens` tokens at a measured rate of one GPU; the model need not be known."""

    tokens: Tokens
    tokens_per_second_per_gpu: TokenRate
    gpus: Count = 1


def training_cost_from_rate(given: TrainingCostFromRateInput) -> Calculation:
    """GPU-hours = tokens / tokens per second per GPU / 3600; hours = GPU-hours / GPUs; cost = GPU-hours x price."""
    gpu_hours = given.tokens / given.tokens_per_second_per_gpu / SECONDS_PER_HOUR
    formula = f"{figure(given.tokens)} ÷ {figure(given.tokens_per_second_per_gpu)} ÷ 3600 = {figure(gpu_hours)} GPU-h"
    return _billed(given, given.gpus, gpu_hours, formula, {}, ())


class GpuHoursTotalInput(Bill):
    """GPU-hours of the parts of a run: stages, or models of a family."""

    gpu_hours: Annotated[tuple[Amount, ...], Field(min_length=1, max_length=1000)]
    gpus: Count = 1


def gpu_hours_total(given: GpuHoursTotalInput) -> Calculation:
    """Sum of the parts; hours on `gpus` GPUs and cost, when a price is given."""
    total = sum(given.gpu_hours, Decimal(0))
    terms = " + ".join(number(part) for part in given.gpu_hours)
    return _billed(given, given.gpus, total, f"{terms} = {number(total)} GPU-h", {}, (), exact=True)


def _run(
    speed: TrainingSpeed, bill: Bill, tokens: Decimal, shown: str,
    outputs: dict[str, JsonDecimal | int | str], notes: tuple[Assumption, ...],
) -> Calculation:  # fmt: skip
    gpu_hours = tokens / speed.token_rate / SECONDS_PER_HOUR
    more: dict[str, JsonDecimal | int | str] = {
        **outputs,
        "flops": significant(tokens * speed.model_flops_per_token),
        "executed_flops": significant(tokens * speed.executed_flops_per_token),
        "tokens_per_second_per_gpu": significant(speed.token_rate),
    }
    if speed.peak_dense_tflops is not None:
        more["mfu_percent"] = significant(speed.model_share * 100, 4)
    formula = f"{speed.speed_formula}; {shown} ÷ {figure(speed.token_rate)} ÷ 3600 = {figure(gpu_hours)} GPU-h"
    result = _billed(bill, speed.gpus, gpu_hours, formula, more, (*speed_assumptions(speed), *notes))
    if not speed.guessed:
        return result
    low, high = MFU_RANGE_ONE_CARD if speed.gpus == 1 else MFU_RANGE
    mfu = speed.default_mfu
    ends = tuple(_row(bill, speed.gpus, share, gpu_hours * mfu / share) for share in (low, mfu, high))
    swing = Bilingual(
        zh=f"MFU：取 {high} 时 {figure(gpu_hours * mfu / high)} GPU 小时，取 {low} 时 {figure(gpu_hours * mfu / low)}",
        en=f"MFU: {figure(gpu_hours * mfu / high)} GPU-hours at {high}, {figure(gpu_hours * mfu / low)} at {low}",
    )
    return result.model_copy(update={"rows": ends, "changes_most": swing})


def _row(bill: Bill, gpus: int, mfu: Decimal, gpu_hours: Decimal) -> dict[str, JsonDecimal | int | str]:
    row: dict[str, JsonDecimal | int | str] = {
        "mfu": mfu, "gpu_hours": significant(gpu_hours), "days": significant(gpu_hours / gpus / HOURS_PER_DAY),
    }  # fmt: skip
    if bill.price_per_gpu_hour is not None:
        row |= {"cost": money(gpu_hours * bill.price_per_gpu_hour), "currency": bill.currency}
    return row


def _billed(
    bill: Bill, gpus: int, gpu_hours: Decimal, formula: str,
    more: dict[str, JsonDecimal | int | str], notes: tuple[Assumption, ...], *, exact: bool = False,
) -> Calculation:  # fmt: skip
    hours = gpu_hours / gpus
    shown = gpu_hours if exact else significant(gpu_hours)
    outputs: dict[str, JsonDecimal | int | str] = {
        "gpu_hours": shown, "hours": significant(hours), "days": significant(hours / HOURS_PER_DAY), "gpus": gpus, **more,
    }  # fmt: skip
    if gpus > 1:
        formula += f"; ÷ {gpus:,} = {figure(hours)} h = {figure(hours / HOURS_PER_DAY)} d"
        notes = (*notes, SAME_SPEED)
    if bill.price_per_gpu_hour is not None:
        cost = money(gpu_hours * bill.price_per_gpu_hour)
        formula += f"; × {number(bill.price_per_gpu_hour)} {bill.currency}/GPU-h = {cost:,} {bill.currency}"
        outputs |= {"cost": cost, "currency": bill.currency}
    if bill.tdp_w is not None:
        drawn = energy(EnergyInput(hours=gpu_hours, gpu_watts=bill.tdp_w, pue=bill.pue))
        formula += f"; {drawn.formula}"
        outputs["energy_kwh"] = significant(Decimal(drawn.outputs["kwh"]))
        notes = (*notes, *drawn.assumptions)
    return Calculation(
        value=shown, unit="GPU-hour", formula=formula, outputs=outputs, assumptions=notes,
        changes_most=Bilingual(
            zh="与词元数成正比，与实测速度成反比" if not exact else "与各部分之和成正比",
            en="proportional to the tokens, inverse to the speed" if not exact else "proportional to the sum",
        ),
    )  # fmt: skip
