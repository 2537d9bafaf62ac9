"""Which price rows are wanted, in which order, and why a row is left out: the conditions of a query as SQL.

It reads no row and opens no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

Reason = Literal[
    "slice", "other-form", "form-not-stated", "too-little-memory", "memory-not-known", "other-region", "region-not-stated",
    "other-currency", "other-pricing-model", "other-period", "other-count", "too-old", "too-new", "undated", "above-price",
]  # fmt: skip
SortKey = Literal[
    "provider", "gpu", "form", "memory", "count", "per-gpu-hour", "currency", "price", "pricing-model", "region", "cpu",
    "host-memory", "date", "source",
]  # fmt: skip

TRUSTED_FIRST = "trust_rank, line"
# What each column is ordered by; NULL = the row does not say, and such rows come last in either direction.
_ORDERED_BY: dict[SortKey, str] = {
    "provider": "provider", "gpu": "gpu", "form": "nullif(gpu_form, '')", "memory": "card_memory_gb",
    "count": "gpu_count_number * gpu_fraction_number", "currency": "currency", "pricing-model": "pricing_model",
    "region": "nullif(region, '')", "cpu": "try_cast(cpu_cores AS INTEGER)",
    "host-memory": "try_cast(host_memory_gib AS DOUBLE)", "date": "first_day", "source": "source",
}  # fmt: skip
_MONEY: dict[SortKey, str] = {"per-gpu-hour": "per_gpu_hour", "price": "try_cast(price AS DOUBLE)"}


@dataclass(frozen=True)
class OfferFilter:
    """Which rows are wanted; an empty tuple or None sets no condition.

    `forms` excludes rows that state no form, but not those of `any_form`: GPUs that are wanted whatever their form.
    `regions` also takes the zones of a region (us-west-2/usw2-az1). `min_gpu_memory_gb` is per card.
    `max_price_per_gpu_hour` is in each row's own currency. `undated` says whether rows without a date are wanted:
    None = where no date is asked for.
    """

    gpus: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    any_form: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    pricing_models: tuple[str, ...] = ()
    per: tuple[str, ...] = ()
    min_gpu_memory_gb: Decimal | None = None
    min_gpu_count: int | None = None
    max_gpu_count: int | None = None
    whole_cards: bool = True
    min_as_of: date | None = None
    max_as_of: date | None = None
    undated: bool | None = None
    max_price_per_gpu_hour: Decimal | None = None


@dataclass(frozen=True)
class OfferOrder:
    """The column that rows are sorted by. Money is compared within one currency, or by `worth`.

    `worth` is (currency, what one unit of it is worth in the currency to compare in); rows of others come last.
    """

    column: SortKey = "per-gpu-hour"
    descending: bool = False
    worth: tuple[tuple[str, Decimal], ...] = ()


def selection(wanted: OfferFilter) -> tuple[str, list[object]]:
    """SQL for the rows of the named GPUs and providers, each with the first reason against it (NULL = none)."""
    cases, given = "", list[object]()
    for reason, against, values in _conditions(wanted):
        cases += f" WHEN {against} THEN '{reason}'"
        given += values
    reason_column = f"CASE{cases} END" if cases else "NULL"
    named = [("gpu", wanted.gpus), ("provider", wanted.providers)]
    where = " AND ".join(f"{column} IN ({_marks(keys)})" for column, keys in named if keys) or "true"
    return f"SELECT *, rowid, {reason_column} AS reason FROM offers WHERE {where}", [
        *given,
        *wanted.gpus,
        *wanted.providers,
    ]


def sorted_by(order: OfferOrder) -> str:
    """The SQL expression of a row of `offers` that the order compares."""
    if money := _MONEY.get(order.column):
        return _compared(money, order.worth)
    return _ORDERED_BY[order.column]


def order_sql(order: OfferOrder, expression: str) -> str:
    """ORDER BY that expression, without parameters: equal rows by price per GPU-hour, trust of the source, row."""
    direction = "DESC" if order.descending else "ASC"
    apart = "currency, " if order.column in _MONEY and not order.worth else ""
    return f"ORDER BY {apart}{expression} {direction} NULLS LAST, currency, per_gpu_hour, {TRUSTED_FIRST}"


def _compared(money: str, worth: tuple[tuple[str, Decimal], ...]) -> str:
    if not worth:
        return money
    cases = " ".join(f"WHEN '{_letters(code)}' THEN {float(rate)!r}" for code, rate in worth)
    return f"round({money} * CASE currency {cases} END, 9)"


def _letters(code: str) -> str:
    return "".join(letter for letter in code if letter.isalnum())


def _conditions(wanted: OfferFilter) -> list[tuple[Reason, str, list[object]]]:
    """(reason, what speaks against a row, values) of each condition set, in the order in which reasons are given."""
    regions, memory, count = (
        _marks(wanted.regions),
        wanted.min_gpu_memory_gb,
        (wanted.min_gpu_count, wanted.max_gpu_count),
    )
    here = f"region IN ({regions}) OR split_part(region, '/', 1) IN ({regions})"
    highest = wanted.max_price_per_gpu_hour
    bound = f"gpu NOT IN ({_marks(wanted.any_form)}) AND " if wanted.any_form else ""
    possible: list[tuple[bool, Reason, str, list[object]]] = [
        (wanted.whole_cards, "slice", "gpu_fraction_number < 1", []),
        (bool(wanted.forms), "form-not-stated", f"{bound}gpu_form = ''", [*wanted.any_form]),
        (bool(wanted.forms), "other-form", f"{bound}gpu_form NOT IN ({_marks(wanted.forms)})",
         [*wanted.any_form, *wanted.forms]),
        (memory is not None, "memory-not-known", "card_memory_gb IS NULL", []),
        (memory is not None, "too-little-memory", "card_memory_gb < ?::DOUBLE", [str(memory)]),
        (bool(regions), "region-not-stated", "region = ''", []),
        (bool(regions), "other-region", f"NOT ({here})", [*wanted.regions, *wanted.regions]),
        (bool(wanted.currencies), "other-currency", f"currency NOT IN ({_marks(wanted.currencies)})", [*wanted.currencies]),
        (bool(wanted.pricing_models), "other-pricing-model", f"pricing_model NOT IN ({_marks(wanted.pricing_models)})",
         [*wanted.pricing_models]),
        (bool(wanted.per), "other-period", f"per NOT IN ({_marks(wanted.per)})", [*wanted.per]),
        (count[0] is not None, "other-count", "gpu_count_number < ?", [count[0]]),
        (count[1] is not None, "other-count", "gpu_count_number > ?", [count[1]]),
        (not _undated(wanted), "undated", "first_day IS NULL", []),
        (wanted.min_as_of is not None, "too-old", "first_day < ?", [wanted.min_as_of]),
        (wanted.max_as_of is not None, "too-new", "first_day > ?", [wanted.max_as_of]),
        (highest is not None, "above-price", "per_gpu_hour > round(?::DOUBLE, 9)", [str(highest)]),
    ]  # fmt: skip
    return [(reason, against, values) for wished, reason, against, values in possible if wished]


def _undated(wanted: OfferFilter) -> bool:
    """Whether rows without a date are wanted."""
    if wanted.undated is not None:
        return wanted.undated
    return wanted.min_as_of is None and wanted.max_as_of is None


def _marks(values: tuple[str, ...]) -> str:
    return ", ".join("?" for _ in values)
