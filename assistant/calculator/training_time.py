"""Times of measured fine-tuning runs: differences, speed per row, straight-line estimates, time on a faster card.

Scales what was measured; it models no hardware and reads no table.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import NO_TRUTH, Amount, Calculation, Count, Currency, Share, money, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Frozen

Seconds = Annotated[int, Field(gt=0, le=10**9), NO_TRUTH]
Rows = Annotated[int, Field(gt=0, le=10**9), NO_TRUTH]


def clock(seconds: int) -> str:
    """4817 -> "1:20:17"."""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


class RunDifferenceInput(Frozen):
    """The times of two runs, in seconds; `slower_seconds` is the longer one."""

    slower_seconds: Seconds
    faster_seconds: Seconds


def run_difference(given: RunDifferenceInput) -> Calculation:
    """Time saved, share of the slower time saved, and how many times as fast."""
    if given.slower_seconds < given.faster_seconds:
        raise ValueError(f"slower_seconds {given.slower_seconds} is below {given.faster_seconds}: swap the two")
    saved = given.slower_seconds - given.faster_seconds
    percent = money(Decimal(saved) / given.slower_seconds * 100)
    factor = money(Decimal(given.slower_seconds) / given.faster_seconds)
    slower, faster = clock(given.slower_seconds), clock(given.faster_seconds)
    return Calculation(
        value=Decimal(saved), unit="second",
        formula=f"{slower} − {faster} = {clock(saved)}; {clock(saved)} ÷ {slower} = {percent} %;"
                f" {slower} ÷ {faster} = {factor}",
        outputs={"saved_seconds": saved, "saved": clock(saved), "saved_percent": percent, "speedup_factor": factor},
    )  # fmt: skip


class RunTotalInput(Frozen):
    """The times of several runs, in seconds."""

    seconds: Annotated[tuple[Seconds, ...], Field(min_length=1)]


def run_total(given: RunTotalInput) -> Calculation:
    """Sum of the times, and that sum in hours."""
    total = sum(given.seconds)
    return Calculation(
        value=Decimal(total), unit="second", formula=f"{' + '.join(map(clock, given.seconds))} = {clock(total)}",
        outputs={"total_seconds": total, "total": clock(total), "hours": money(Decimal(total) / 3600)},
    )  # fmt: skip


class RunSpeedInput(Frozen):
    """One run: rows trained and seconds taken."""

    rows: Rows
    seconds: Seconds


def run_speed(given: RunSpeedInput) -> Calculation:
    """Seconds per row and rows per hour."""
    per_row = (Decimal(given.seconds) / given.rows).quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
    rows_per_hour = (Decimal(given.rows) * 3600 / given.seconds).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return Calculation(
        value=per_row, unit="second per row",
        formula=f"{clock(given.seconds)} = {given.seconds:,} s; {given.seconds:,} s ÷ {given.rows:,} = {per_row} s",
        outputs={"seconds_per_row": per_row, "rows_per_hour": int(rows_per_hour), "seconds": given.seconds},
    )  # fmt: skip


class RunEstimateInput(Frozen):
    """Two measured points (rows, seconds) of one model and method, and the rows to estimate for."""

    rows: Rows
    small_rows: Rows
    small_seconds: Seconds
    large_rows: Rows
    large_seconds: Seconds


def run_estimate(given: RunEstimateInput) -> Calculation:
    """Straight line through the two measured points; outside them it is an extrapolation."""
    if given.small_rows >= given.large_rows:
        raise ValueError(f"small_rows {given.small_rows} must be below large_rows {given.large_rows}")
    if given.small_seconds >= given.large_seconds:
        raise ValueError(f"small_seconds {given.small_seconds} must be below large_seconds {given.large_seconds}")
    slope = Decimal(given.large_seconds - given.small_seconds) / (given.large_rows - given.small_rows)
    seconds = int((given.small_seconds + slope * (given.rows - given.small_rows)).to_integral_value(ROUND_HALF_UP))
    if seconds <= 0:
        raise ValueError(f"{given.rows} rows are too few for a straight line through the measured runs")
    hours = money(Decimal(seconds) / 3600)
    inside = given.small_rows <= given.rows <= given.large_rows
    return Calculation(
        value=Decimal(seconds), unit="second",
        formula=f"{clock(given.small_seconds)} + ({given.rows:,} − {given.small_rows:,}) × "
                f"({clock(given.large_seconds)} − {clock(given.small_seconds)}) ÷ "
                f"({given.large_rows:,} − {given.small_rows:,}) = {clock(seconds)}",
        outputs={"seconds": seconds, "duration": clock(seconds), "hours": hours,
                 "kind": "interpolation" if inside else "extrapolation"},
    )  # fmt: skip


class RunCostInput(Frozen):
    """A run's seconds and the price of the GPU per hour."""

    seconds: Seconds
    price_per_hour: Amount
    currency: Currency = "CNY"


def run_cost(given: RunCostInput) -> Calculation:
    """cost = seconds / 3600 x price per hour."""
    hours = (Decimal(given.seconds) / 3600).quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
    cost = money(Decimal(given.seconds) / 3600 * given.price_per_hour)
    return Calculation(
        value=cost, unit=given.currency,
        formula=f"{clock(given.seconds)} = {hours} h × {number(given.price_per_hour)} {given.currency}/h"
                f" = {cost:,} {given.currency}",
        outputs={"cost": cost, "hours": hours, "currency": given.currency},
    )  # fmt: skip


class FasterCardInput(Frozen):
    """A job's hours on the slower card and how many times as fast the other card is."""

    hours: Amount
    factor: Amount


def faster_card_time(given: FasterCardInput) -> Calculation:
    """hours on the faster card = hours / factor; hours on the slower = hours x factor."""
    if given.factor < 1:
        raise ValueError(f"factor {given.factor} is below 1: that card is the slower one, give 1 ÷ {given.factor}")
    faster, slower = money(given.hours / given.factor), money(given.hours * given.factor)
    return Calculation(
        value=faster, unit="hour", formula=f"{number(given.hours)} h ÷ {number(given.factor)} = {number(faster)} h",
        outputs={"hours_on_faster": faster, "hours_on_slower": slower, "factor": given.factor},
    )  # fmt: skip


class BreakEvenPriceInput(Frozen):
    """The slower card's price per hour and how many times as fast the other card is."""

    price_per_hour: Amount
    factor: Amount
    currency: Currency = "CNY"


def break_even_price(given: BreakEvenPriceInput) -> Calculation:
    """The faster card is the cheaper way below: price of the slower x factor."""
    price = given.price_per_hour * given.factor
    return Calculation(
        value=price, unit=f"{given.currency}/hour",
        formula=f"{number(given.price_per_hour)} {given.currency}/h × {number(given.factor)} ="
                f" {number(price)} {given.currency}/h",
        outputs={"price_per_hour": price, "currency": given.currency},
    )  # fmt: skip


class ScaledRunInput(Frozen):
    """A run's hours on `gpus` GPUs, moved to `other_gpus` of the same card; `efficiency` is kept of the speed-up."""

    hours: Amount
    gpus: Count = 1
    other_gpus: Count
    efficiency: Share = Decimal(1)


def scaled_run(given: ScaledRunInput) -> Calculation:
    """hours on the other number = hours x gpus / (other gpus x efficiency)."""
    hours = significant(given.hours * given.gpus / (given.other_gpus * given.efficiency), 8)
    work = f"{number(given.hours)} h × {given.gpus:,}" if given.gpus > 1 else f"{number(given.hours)} h"
    return Calculation(
        value=hours, unit="hour",
        formula=f"{work} ÷ {_sped_up(f'{given.other_gpus:,}', given.efficiency)} = {number(money(hours))} h",
        outputs={"hours": hours, "days": money(hours / 24), "gpu_hours": money(hours * given.other_gpus),
                 "gpu_hours_before": given.hours * given.gpus, "efficiency_percent": given.efficiency * 100},
    )  # fmt: skip


class CardsForTimeInput(Frozen):
    """A run's hours on `gpus` GPUs, the hours it may take, and the share `efficiency` of the speed-up that is kept."""

    hours: Amount
    gpus: Count = 1
    wanted_hours: Amount
    efficiency: Share = Decimal(1)


def cards_for_time(given: CardsForTimeInput) -> Calculation:
    """cards = ceil(hours x gpus / (wanted hours x efficiency)); and the hours these then take."""
    work, budget = given.hours * given.gpus, given.wanted_hours * given.efficiency
    cards = int((work / budget).to_integral_value(ROUND_CEILING))
    hours = significant(work / (cards * given.efficiency), 8)
    shown = f"{number(given.hours)} h × {given.gpus:,}" if given.gpus > 1 else f"{number(given.hours)} h"
    return Calculation(
        value=Decimal(cards), unit="card",
        formula=f"ceil({shown} ÷ {_sped_up(f'{number(given.wanted_hours)} h', given.efficiency)}) = {cards:,}",
        outputs={"cards": cards, "hours": hours, "days": money(hours / 24), "gpu_hours": money(hours * cards), "efficiency_percent": given.efficiency * 100},
    )  # fmt: skip


def _sped_up(divisor: str, efficiency: Decimal) -> str:
    return divisor if efficiency == 1 else f"({divisor} × {number(efficiency)})"
