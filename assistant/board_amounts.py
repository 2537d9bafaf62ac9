"""The price rows that an answer looked up, and what one GPU of a row costs per hour, day or month in a chosen currency.

Exact fractions until a figure is shown; currencies meet only at a rate that was handed in. It renders no table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from assistant import render
from assistant.calculator.calculation import HOURS_PER_DAY, HOURS_PER_MONTH, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Call, Language
from knowledge.catalog import load_catalog

Per = Literal["hour", "day", "month"]
HOURS: dict[Per, Decimal] = {"hour": Decimal(1), "day": HOURS_PER_DAY, "month": HOURS_PER_MONTH}
LARGE_PER_HOUR = 10  # of a converted amount; smaller ones keep four decimals, larger ones two
SMALL = Decimal("0.1")  # below it cents would hide the figure
FULL, CENTS = Decimal("0.0001"), Decimal("0.01")


class BoardRow(BaseModel):
    """One row of a find_offers call, as assistant.ledger writes it. `price` is one instance's, per `unit` (USD/hour).

    `gpu_fraction` below 1 is a slice of one card; `host_memory_gib` is the host's, in GiB.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    provider: str
    gpu: str
    price: float | int = Field(gt=0)
    unit: str = Field(pattern="^[A-Z]{3}/(hour|month)$")
    gpu_count: int = Field(default=1, ge=1)
    gpu_fraction: float | int = Field(default=1, gt=0, le=1)
    pricing_model: str = "on-demand"
    as_of: str | None = None
    cpu_cores: int | None = None
    host_memory_gib: float | int | None = None

    @property
    def family(self) -> str:
        """The card whatever its form: that of an A100 SXM4 40GB is the A100."""
        card = load_catalog().gpu(self.gpu)
        return card.family if card else self.gpu

    @property
    def amount(self) -> Decimal:
        """The price as billed: a float of JSON by its shortest spelling, which is the row's own."""
        return Decimal(str(self.price))

    @property
    def currency(self) -> str:
        """The currency of the price."""
        return self.unit[:3]

    @property
    def billed_per(self) -> Literal["hour", "month"]:
        """What the price is for."""
        return "month" if self.unit.endswith("month") else "hour"

    @property
    def share(self) -> Decimal:
        """Which part of one card it is; 1 for whole cards."""
        return Decimal(str(self.gpu_fraction))

    @property
    def is_slice(self) -> bool:
        """Whether it rents a part of one card."""
        return self.share < 1


@dataclass(frozen=True)
class DatedRate:
    """Units of a currency for 1 USD: a year's average with who published it, or the reader's own."""

    currency: str
    per_usd: Decimal
    as_of: str
    source: str


Rates = dict[str, DatedRate]


@dataclass(frozen=True)
class PerGpu:
    """What one whole GPU of a row costs per `per` in `currency`: `exact` to compare by, `shown` to print.

    A slice's is what a whole card would cost at its price. `is_computed` is false where the row itself says it.
    """

    row: BoardRow
    per: Per
    currency: str
    exact: Fraction
    shown: Decimal
    is_computed: bool


def rows_of(calls: Sequence[Call]) -> tuple[BoardRow, ...]:
    """The price rows that the look-ups of an answer found, each once, in their order. Raises ValueError for a broken one."""
    return tuple(dict.fromkeys(_found(calls)))


def _found(calls: Sequence[Call]) -> Iterator[BoardRow]:
    for call in calls:
        if call.tool == "find_offers" and isinstance(call.result, list):
            yield from (BoardRow.model_validate(row) for row in call.result)


def per_gpu(row: BoardRow, per: Per, currency: str, rates: Rates) -> PerGpu:
    """The row's price per GPU and `per`; in its own currency where `currency` is "" or there is no rate for it."""
    target = currency if currency and can_convert(row.currency, currency, rates) else row.currency
    exact = Fraction(row.amount) / row.gpu_count / Fraction(row.share)
    if row.billed_per != per:
        exact = exact * Fraction(HOURS[per]) / Fraction(HOURS[row.billed_per])
    if target != row.currency:
        exact = exact * _units_per_usd(target, rates) / _units_per_usd(row.currency, rates)
    is_computed = target != row.currency or row.billed_per != per or row.gpu_count > 1 or row.is_slice
    shown = rounded(exact, per, converted=target != row.currency) if is_computed else row.amount
    return PerGpu(row, per, target, exact, shown, is_computed)


def can_convert(source: str, target: str, rates: Rates) -> bool:
    """Whether there is a rate between two currencies."""
    return source == target or {source, target} <= {"USD", *rates}


def rounded(exact: Fraction, per: Per, *, converted: bool) -> Decimal:
    """Half up: to cents per day or month and for larger converted prices, to four decimals per hour, never to nothing."""
    value = Decimal(exact.numerator) / Decimal(exact.denominator)
    fine = value < SMALL or (per == "hour" and not (converted and value >= LARGE_PER_HOUR))
    figure = value.quantize(FULL if fine else CENTS, rounding=ROUND_HALF_UP)
    return figure if figure >= FULL * 10 or figure == value else significant(value, 3)


def steps(price: PerGpu, rates: Rates, language: Language) -> str:
    """The formula with the numbers put in: 32.78 USD/hour ÷ 8 GPUs × 24 h = 98.34 USD/day."""
    row = price.row
    parts = [render.amount(row.amount, row.currency, language, row.billed_per)]
    if row.gpu_count > 1:
        parts.append(f"÷ {render.cards(row.gpu_count, language)}")
    if row.is_slice:
        parts.append(f"÷ {number(significant(row.share, 4))}")
    hours = render.say(language, "小时", "h")
    if row.billed_per != price.per:
        if row.billed_per == "month":
            parts.append(f"÷ {number(HOURS['month'])} {hours}")
        if price.per != "hour":
            parts.append(f"× {number(HOURS[price.per])} {hours}")
    if price.currency != row.currency:
        parts += _exchange(row.currency, price.currency, rates, language)
    return f"{' '.join(parts)} = {render.amount(price.shown, price.currency, language, price.per)}"


def _exchange(source: str, target: str, rates: Rates, language: Language) -> list[str]:
    dollar = render.unit("USD", language)
    parts = []
    for sign, code in (("÷", source), ("×", target)):
        if code != "USD":
            parts.append(f"{sign} {number(rates[code].per_usd)} {render.unit(code, language)}/{dollar}")
    return parts


def _units_per_usd(currency: str, rates: Rates) -> Fraction:
    return Fraction(1) if currency == "USD" else Fraction(rates[currency].per_usd)
