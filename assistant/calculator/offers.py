"""Price rows handed to calculators: what one row is, which rows lie within limits, and memory as cards are sold.

Rows arrive as arguments; no table is read, no currency is converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import HOURS_PER_MONTH, NO_TRUTH, Amount, Calculation, Count, Currency, number
from assistant.calculator.shapes import Natural
from assistant.evidence import Bilingual, Frozen, JsonDecimal

SPELLING = Fraction(1, 100)  # 0.33 stands for a third of a GPU and 0.143 for a seventh
NEAR_ENOUGH = Decimal("0.07")  # of a known size; as dstackai/gpuhunt does in correct_gpu_memory_gib
GpuFraction = Annotated[JsonDecimal, Field(ge=Decimal("0.01"), le=1), NO_TRUTH]
GpusWanted = Annotated[JsonDecimal, Field(ge=Decimal("0.01"), le=1_000_000), NO_TRUTH]  # a quarter of one is 0.25
LimitedField = Literal["gpu_memory_gib", "total_gpu_memory_gib", "gpus_per_instance", "price", "price_per_gpu",
                       "cpu_cores", "host_memory_gib"]  # fmt: skip


class PriceRow(Frozen):
    """One price. `price` is for one whole instance of `gpus_per_instance` GPUs, by the hour or month, or for one bought card.

    An instance that holds a part of a GPU says so in `gpu_fraction` (0.25: a quarter).
    """

    gpu: str = ""
    provider: str = ""
    price: Amount
    currency: Currency = "CNY"
    per: Literal["instance-hour", "instance-month", "card"] = "instance-hour"
    gpus_per_instance: Count = 1
    gpu_fraction: GpuFraction = Decimal(1)
    pricing_model: str = "on-demand"
    region: str = ""
    as_of: str = ""
    source: str = ""
    gpu_memory_gib: Amount | None = None
    cpu_cores: Count | None = None
    host_memory_gib: Amount | None = None

    @model_validator(mode="after")
    def _slice_or_instance(self) -> PriceRow:
        if self.gpu_fraction < 1 and self.gpus_per_instance > 1:
            raise ValueError(f"gpu_fraction {self.gpu_fraction} with gpus_per_instance {self.gpus_per_instance}: "
                             "an instance holds a part of one GPU or several whole ones")  # fmt: skip
        return self

    @property
    def price_per_hour(self) -> Decimal:
        """Of the whole instance; a month counts 730 h."""
        return self.price / HOURS_PER_MONTH if self.per == "instance-month" else self.price

    @property
    def price_per_gpu(self) -> Decimal:
        """price per hour / (GPUs of the instance x the fraction of each)."""
        return self.price_per_hour / (self.gpus_per_instance * self.gpu_fraction)

    @property
    def total_gpu_memory_gib(self) -> Decimal | None:
        """Memory of all GPUs of the instance."""
        if self.gpu_memory_gib is None:
            return None
        return self.gpu_memory_gib * self.gpus_per_instance * self.gpu_fraction

    def instances_for(self, gpus: Decimal) -> int:
        """How many whole instances hold `gpus` GPUs: instances are not sold in parts."""
        times = Fraction(gpus) / (_as_sliced(self.gpu_fraction) * self.gpus_per_instance)
        whole = times.numerator // times.denominator
        left = times - whole
        # The allowance is for slices only: a GPU beyond a whole instance is never rounded away.
        return max(1, whole if left <= (SPELLING if self.gpu_fraction < 1 else 0) else whole + 1)


def _as_sliced(fraction: Decimal) -> Fraction:
    """The n-th part that a rounded decimal stands for, else the decimal itself."""
    parts = round(1 / fraction)
    exact = Fraction(fraction)
    return Fraction(1, parts) if abs(exact * parts - 1) <= SPELLING else exact.limit_denominator(100)


Offers = Annotated[tuple[PriceRow, ...], Field(min_length=1, max_length=5000)]


def one_currency(rows: Sequence[PriceRow]) -> str:
    """The currency of all rows. Raises ValueError where there are several: amounts of two currencies do not compare."""
    found = sorted({row.currency for row in rows})
    if len(found) > 1:
        raise ValueError(f"prices in {' and '.join(found)} cannot be compared: "
                         "convert them first with currency_conversion at a dated rate")  # fmt: skip
    return found[0]


class Limit(Frozen):
    """A lower and an upper bound of one field, both included; None leaves that side open."""

    field: LimitedField
    minimum: Natural | Amount | None = None
    maximum: Natural | Amount | None = None


class OffersWithinInput(Frozen):
    """Price rows, and what they must keep to. Names of GPUs, providers and regions compare without regard to case."""

    offers: Offers
    gpus: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    pricing_models: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()


def offers_within(given: OffersWithinInput) -> Calculation:
    """Which price rows keep to all limits (bounds included), and why each of the others does not.

    Bounds and whole names as in dstackai/gpuhunt's query filter: A10 does not match A100.
    """
    if any(limit.field.startswith("price") for limit in given.limits):
        one_currency(given.offers)
    rows: list[dict[str, Decimal | int | str]] = []
    for offer in given.offers:
        reason = _outside(offer, given)
        rows.append({"gpu": offer.gpu, "provider": offer.provider, "price": offer.price, "currency": offer.currency,
                     "kept": "no" if reason else "yes", "reason_zh": reason.zh if reason else "",
                     "reason_en": reason.en if reason else ""})  # fmt: skip
    kept = sum(row["kept"] == "yes" for row in rows)
    return Calculation(
        value=Decimal(kept), unit="offer", formula=f"{kept} of {len(rows)} offers keep to all limits",
        outputs={"kept": kept, "left_out": len(rows) - kept}, rows=tuple(rows),
    )  # fmt: skip


def _outside(offer: PriceRow, given: OffersWithinInput) -> Bilingual | None:
    named = (("GPU", offer.gpu, given.gpus), ("provider", offer.provider, given.providers), ("region", offer.region, given.regions),
             ("pricing model", offer.pricing_model, given.pricing_models))  # fmt: skip
    for what, value, wanted in named:
        if wanted and value.casefold() not in {w.casefold() for w in wanted}:
            stated = value or "not stated"
            return Bilingual(zh=f"{what} 为 {stated}，不在 {'、'.join(wanted)} 之列",
                             en=f"{what} {stated} is not among {', '.join(wanted)}")  # fmt: skip
    for limit in given.limits:
        if reason := _beyond(limit, getattr(offer, limit.field)):
            return reason
    return None


def _beyond(limit: Limit, value: Decimal | int | None) -> Bilingual | None:
    if value is None:
        return Bilingual(zh=f"{limit.field} 未注明", en=f"{limit.field} is not stated")
    if limit.minimum is not None and value < limit.minimum:
        return Bilingual(zh=f"{limit.field} {value} 低于下限 {limit.minimum}",
                         en=f"{limit.field} {value} is below {limit.minimum}")  # fmt: skip
    if limit.maximum is not None and value > limit.maximum:
        return Bilingual(zh=f"{limit.field} {value} 高于上限 {limit.maximum}",
                         en=f"{limit.field} {value} is above {limit.maximum}")  # fmt: skip
    return None


class MemoryAsSoldInput(Frozen):
    """The memory that a driver or a catalogue reports, in MiB, and the sizes in which that GPU is sold, in GB."""

    reported_mib: Amount
    known_gb: tuple[Amount, ...] = ()


def memory_as_sold(given: MemoryAsSoldInput) -> Calculation:
    """The nearest known size when within 7 % of it, else whole GiB: a reported 81,559 MiB is an 80 GB card.

    The rule is dstackai/gpuhunt's: drivers report less than the label, because a part is reserved.
    """
    reported_gib = given.reported_mib / 1024
    nearest = min(given.known_gb, key=lambda known: abs(known - reported_gib), default=None)
    if nearest is not None and abs(nearest - reported_gib) <= NEAR_ENOUGH * nearest:
        size = nearest
    else:
        size = max(reported_gib.quantize(Decimal(1), rounding=ROUND_HALF_EVEN), Decimal(1))
    return Calculation(
        value=size, unit="GB",
        formula=f"{number(given.reported_mib)} MiB ÷ 1,024 = {reported_gib:.2f} GiB → {number(size)} GB",
        outputs={"memory_gb": size, "reported_mib": given.reported_mib, "known": "yes" if size == nearest else "no"},
    )  # fmt: skip
