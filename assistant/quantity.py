"""The value that stands for one quantity in a question. Reading it is the work of quantities.py."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, cast, get_args

from assistant.tokens import Token, Unit

Kind = Literal[
    "count", "duration", "hours_per_day", "money", "money_per_hour", "memory", "rows", "percent", "factor",
    "parameters", "context", "precision", "bare",
]  # fmt: skip
Currency = Literal["CNY", "USD", "EUR", "GBP", "JPY"]

HOURS = {"minute": Decimal(1) / 60, "hour": Decimal(1), "clock": Decimal(1), "gpu-hour": Decimal(1), "day": Decimal(24),
         "week": Decimal(168)}  # fmt: skip
MONTHS = {"month": Decimal(1), "quarter": Decimal(3), "year": Decimal(12)}
MONTH_DAYS = range(28, 32)
NIGHT = Decimal(12)  # hours of a night by itself; 三天三夜 is three days


@dataclass(frozen=True)
class Quantity:
    """One quantity; `text` is `[start:end]` of the text that was given.

    `value` is the lower bound where `high` is set (两三天, 85-100 GB), and negative for "minus 5 hours" and "少一台".
    Units: count card | machine | "" (a bare "two T4s"); duration minute | hour | clock | gpu-hour | day | week | month |
    quarter | year; money its ISO code or "" where none was said; memory GB | GiB | TB | TiB; parameters B (billions);
    context token (8k is 8192, 100k is 100000); precision as written (fp16, 4bit) with the bits as value; percent "%";
    factor "x"; rows "row"; bare the noun counted (core, epoch, replica, ...) or "".
    `delta` marks an increment (再加一台); `rate` a time named as one unit, as rates are (per day, 每月, 一天, a week).
    """

    kind: Kind
    value: Decimal
    unit: str
    text: str
    start: int
    end: int
    high: Decimal | None = None
    approximate: bool = False
    currency: Currency | None = None
    delta: bool = False
    rate: bool = False

    @property
    def hours(self) -> Decimal | None:
        """Length of a duration in hours; None for months, quarters and years, whose length the caller decides."""
        return self.value * HOURS[self.unit] if self.kind == "duration" and self.unit in HOURS else None


Parts = list[Token | Quantity]


def kind_of(part: Token | Quantity) -> str:
    if isinstance(part, Quantity):
        return part.kind
    return part.unit.kind if part.unit and part.role == "unit" else ""


def role_of(part: Token | Quantity) -> str:
    return part.role if isinstance(part, Token) else ""


def unit_name(token: Token) -> str:
    return token.unit.name if token.unit else ""


def currency_of(unit: Unit) -> Currency | None:
    return currency_named(unit.name)


def currency_named(name: str) -> Currency | None:
    return cast(Currency, name) if name in get_args(Currency) else None
