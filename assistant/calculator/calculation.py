"""What every calculator returns, and the checks that every calculator's numbers pass.

No table is read here and nothing is rendered.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from assistant.evidence import Bilingual, Frozen, JsonDecimal

HOURS_PER_DAY = Decimal(24)
HOURS_PER_WEEK = Decimal(168)
HOURS_PER_YEAR = Decimal(8760)  # 365 days
HOURS_PER_MONTH = HOURS_PER_YEAR / 12  # 730 h, an average month
LARGEST = Decimal("1e12")  # no price, count or time of a GPU decision is larger


def _sane(value: Decimal) -> Decimal:
    if not value.is_finite() or abs(value) > LARGEST:
        raise ValueError(f"{value} is beyond what a GPU calculation can mean (at most {LARGEST:.0e})")
    return value


def _not_a_truth(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"{value!r} is no number")
    return value


NO_TRUTH = BeforeValidator(_not_a_truth)  # pydantic would take true for 1
# The limits stand first: behind a validator they would not reach the JSON schema.
Amount = Annotated[JsonDecimal, Field(gt=0), AfterValidator(_sane)]
HoursPerDay = Annotated[JsonDecimal, Field(gt=0, le=24)]
# Limits of what a GPU decision can mean: 100 trillion parameters, 10 quadrillion tokens.
Parameters = Annotated[JsonDecimal, Field(gt=0, le=10**14), NO_TRUTH]
Tokens = Annotated[JsonDecimal, Field(gt=0, le=10**16), NO_TRUTH]
Share = Annotated[JsonDecimal, Field(gt=0, le=1), NO_TRUTH]
Count = Annotated[int, Field(ge=1, le=1_000_000), NO_TRUTH]
Currency = Annotated[str, Field(pattern="^[A-Z]{3}$")]


class Assumption(Frozen):
    """Something the question left open; `value` is what was taken and `source` says where that default comes from."""

    name: str
    value: str
    text: Bilingual
    source: str = ""


class Calculation(Frozen):
    """A calculator's result: the main value with its unit, all outputs, and the formula with numbers put in.

    `rows` is the table or the series of a result that has more than one line; `changes_most` says which
    input moves the value most, and by how much.
    """

    value: JsonDecimal
    unit: str
    formula: str
    outputs: dict[str, JsonDecimal | int | str]
    assumptions: tuple[Assumption, ...] = ()
    rows: tuple[dict[str, JsonDecimal | int | str], ...] = ()
    changes_most: Bilingual | None = None


def money(value: Decimal) -> Decimal:
    """Rounded half up to the hundredth, as invoices are."""
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


def whole_times(amount: Decimal, part: Decimal) -> int:
    """How many times `part` goes into `amount`, exactly: a quotient rounded to 28 digits may round up to the next."""
    return int(amount // part)


def number(value: Decimal) -> str:
    """Plain digits with thousands separators and no trailing zeros: 34.742, 20,620.8, 72."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
