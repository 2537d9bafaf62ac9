"""Rental price rows as frozen values, and typed queries over them: DuckDB in memory, built-in and imported rows.

It converts no currency and rounds no price. A price is one instance's, per hour or per month (730 hours). A query
that finds nothing says how many rows it looked at and why each was left out: it never says that there is no offer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Literal

import duckdb

from knowledge import offer_store
from knowledge.kept import Kept
from knowledge.offer_filter import TRUSTED_FIRST, OfferFilter, OfferOrder, Reason, order_sql, selection, sorted_by
from knowledge.offer_store import COLUMNS, first_day
from knowledge.table_rows import decimal, integer

__all__ = [
    "LeftOut", "Offer", "OfferFilter", "OfferOrder", "OfferResult", "OfferTable", "Reason", "Spread", "Staleness", "age_days",
    "load_offers", "staleness",
]  # fmt: skip

HOURS_PER_MONTH = 730
WARN_AGE_DAYS = 180
HARD_AGE_DAYS = 730
CHEAPEST_FIRST = OfferOrder()
MOST_RESULTS = 256  # of queries that are remembered, of which each holds no more than so many rows
MOST_KEPT_OFFERS = 1000

Staleness = Literal["fresh", "ageing", "stale", "undated"]
Group = Literal["provider", "gpu", "gpu_form", "as_of"]


@dataclass(frozen=True)
class Offer:
    """What one instance costs per hour or month, as its source states it.

    `gpu` is a names.csv key, `gpu_form` a gpus.csv name or None = form not stated. `cpu_unit` is core or vCPU;
    `host_memory_gib` is the host's memory, in GiB. `gpu_fraction` below 1 is a slice of one card. `as_of` is
    2026-05-24, 2024-07, 2023-Q3 or None = undated. `row` counts from 1 below the heading of offers.csv, or of the
    imported file that `origin` names.
    """

    id: str
    provider: str
    gpu: str
    gpu_form: str | None
    gpu_memory_gb: Decimal | None
    gpu_count: int
    gpu_fraction: Decimal
    instance: str | None
    region: str | None
    cpu_cores: int | None
    cpu_unit: str | None
    host_memory_gib: Decimal | None
    price: Decimal
    currency: str
    per: str
    pricing_model: str
    channel: str | None
    flags: tuple[str, ...]
    as_of: str | None
    source: str
    row: int
    origin: str | None = None

    @cached_property
    def price_per_hour(self) -> Decimal:
        """What the whole instance costs per hour, in `currency`; a month counts 730 hours."""
        return self.price / HOURS_PER_MONTH if self.per == "instance-month" else self.price

    @cached_property
    def price_per_gpu_hour(self) -> Decimal:
        """Price per hour / (gpu_count x gpu_fraction), in `currency`: of a slice, what a whole card would cost."""
        return self.price_per_hour / (self.gpu_count * self.gpu_fraction)

    @property
    def is_slice(self) -> bool:
        """Whether it rents a part of one card."""
        return self.gpu_fraction < 1


@dataclass(frozen=True)
class LeftOut:
    """How many rows of the named GPUs and providers one condition left out; each row counts once."""

    reason: Reason
    count: int


@dataclass(frozen=True)
class OfferResult:
    """The rows found, cheapest first per currency (`limit` may have cut them: `matched` counts all), and the others."""

    offers: tuple[Offer, ...]
    matched: int
    considered: int
    left_out: tuple[LeftOut, ...]


@dataclass(frozen=True)
class Spread:
    """Lowest, median and highest price per GPU-hour of one currency, and the rows it stands on."""

    currency: str
    count: int
    low: Decimal
    median: Decimal
    high: Decimal


class OfferTable:
    """All price rows. Any thread may query; a new snapshot is seen by the next query."""

    def __init__(self, csv_path: Path, snapshot: Callable[[], Path | None]):
        self._csv_path = csv_path
        self._snapshot = snapshot
        self._lock = Lock()
        self._open = snapshot(), offer_store.build(csv_path, snapshot())
        self._results: Kept[tuple[Hashable, ...], OfferResult] = Kept(MOST_RESULTS)
        self._values: Kept[tuple[Hashable, ...], tuple[str, ...]] = Kept(MOST_RESULTS)

    def query(
        self, wanted: OfferFilter, limit: int | None = None, *, offset: int = 0, order: OfferOrder = CHEAPEST_FIRST
    ) -> OfferResult:
        """Rows that meet the filter: by currency, then price per GPU-hour, then trust of the source, then row.

        `order` sorts all rows otherwise; `offset` of them are passed over before `limit` are read.
        """
        at = self._snapshot()
        asked = (at, wanted, limit, offset, order)
        if kept := self._results.get(asked):
            return kept
        result = self._queried(self._cursor(at), wanted, limit, offset, order)
        return self._results.keep(asked, result) if len(result.offers) <= MOST_KEPT_OFFERS else result

    def _queried(
        self, cursor: duckdb.DuckDBPyConnection, wanted: OfferFilter, limit: int | None, offset: int, order: OfferOrder
    ) -> OfferResult:
        rows, given = selection(wanted)
        compared = sorted_by(order)
        cut = (f" LIMIT {limit:d}" if limit is not None else "") + (f" OFFSET {offset:d}" if offset else "")
        # One pass over the rows counts them and picks those wanted; only the latter are then read in full.
        passed = cursor.execute(
            f"WITH named AS MATERIALIZED (SELECT rowid AS place, reason, currency, per_gpu_hour, trust_rank, line, {compared} AS compared"
            f" FROM ({rows})) SELECT reason, count(*), NULL FROM named GROUP BY reason UNION ALL"
            f" SELECT NULL, 0, place FROM (SELECT place FROM named WHERE reason IS NULL {order_sql(order, 'compared')}{cut})",
            given,
        ).fetchall()
        counts: dict[Reason | None, int] = {reason: count for reason, count, place in passed if place is None}
        places = [place for _, _, place in passed if place is not None]
        found = self._offers(
            cursor, f"offers WHERE rowid IN (SELECT unnest(?::BIGINT[])) {order_sql(order, compared)}", [places]
        )
        matched = counts.pop(None, 0)
        left_out = [LeftOut(reason, count) for reason, count in counts.items() if reason]
        ordered = tuple(sorted(left_out, key=lambda left: (-left.count, left.reason)))
        return OfferResult(found, matched, matched + sum(counts.values()), ordered)

    def cheapest(self, wanted: OfferFilter, each: tuple[Group, ...] = ()) -> tuple[Offer, ...]:
        """The cheapest row per GPU-hour of each currency, and of each value in the columns `each`.

        Amounts in different currencies are not compared.
        """
        found = self._ranked(wanted, "n = 1", each)
        return tuple(offer for offers in found.values() for offer in offers)

    def spread(self, wanted: OfferFilter) -> tuple[Spread, ...]:
        """Lowest, median and highest price per GPU-hour of each currency."""
        kept = self._ranked(wanted, "n IN (1, total, (total + 1) // 2, total // 2 + 1)")
        totals = dict(self._counts(wanted))
        spreads = []
        for currency, offers in kept.items():
            prices = [offer.price_per_gpu_hour for offer in offers]
            middle = prices if totals[currency] <= 2 else prices[1:-1]
            spreads.append(
                Spread(currency, totals[currency], prices[0], sum(middle, Decimal()) / len(middle), prices[-1])
            )
        return tuple(spreads)

    def history(self, gpu: str, provider: str) -> tuple[Offer, ...]:
        """The dated rows of one GPU at one provider, oldest first, cheapest first within a date."""
        where = "offers WHERE gpu = ? AND provider = ? AND first_day IS NOT NULL ORDER BY first_day, currency, per_gpu_hour, line"
        return self._offers(self._cursor(self._snapshot()), where, [gpu, provider])

    def gpus(self) -> tuple[str, ...]:
        """Every GPU that has a row, in alphabetical order."""
        return self._distinct("gpu")

    def forms(self) -> tuple[str, ...]:
        """Every form (gpus.csv name) that a row states, in alphabetical order."""
        return tuple(form for form in self._distinct("gpu_form") if form)

    def currencies(self) -> tuple[str, ...]:
        """Every currency that a row is in, in alphabetical order."""
        return self._distinct("currency")

    def pricing_models(self) -> tuple[str, ...]:
        """Every pricing model that a row has, in alphabetical order."""
        return self._distinct("pricing_model")

    def offer(self, id: str) -> Offer | None:
        """The row of this id."""
        found = self._offers(self._cursor(self._snapshot()), "offers WHERE id = ? LIMIT 1", [id])
        return found[0] if found else None

    def regions(self) -> tuple[str, ...]:
        """Every region or zone that a row states, in alphabetical order."""
        return tuple(region for region in self._distinct("region") if region)

    def providers(self) -> tuple[str, ...]:
        """Every provider that has a row, in alphabetical order."""
        return self._distinct("provider")

    @property
    def count(self) -> int:
        """How many rows there are."""
        ((count,),) = self._cursor(self._snapshot()).execute("SELECT count(*) FROM offers").fetchall()
        return int(count)

    def __iter__(self) -> Iterator[Offer]:
        """All rows, the built-in ones first, in the order of their files."""
        return iter(
            self._offers(self._cursor(self._snapshot()), "offers ORDER BY origin IS NOT NULL, origin, line", [])
        )

    def _cursor(self, at: Path | None) -> duckdb.DuckDBPyConnection:
        """A cursor of this thread's own over a snapshot; the database behind it stays until the cursor is gone."""
        if at != self._open[0]:
            with self._lock:
                if at != self._open[0]:
                    self._open = at, offer_store.build(self._csv_path, at)
        return self._open[1].cursor()

    def _offers(self, cursor: duckdb.DuckDBPyConnection, source: str, given: list[object]) -> tuple[Offer, ...]:
        columns = ", ".join((*COLUMNS, "line", "origin"))
        return tuple(_offer(row) for row in cursor.execute(f"SELECT {columns} FROM {source}", given).fetchall())

    def _ranked(self, wanted: OfferFilter, kept: str, each: tuple[Group, ...] = ()) -> dict[str, list[Offer]]:
        rows, given = selection(wanted)
        group = ", ".join(("currency", *each))
        ranked = (
            f"(SELECT *, row_number() OVER (PARTITION BY {group} ORDER BY per_gpu_hour, trust_rank, line) AS n,"
            f" count(*) OVER (PARTITION BY currency) AS total FROM ({rows}) WHERE reason IS NULL)"
            f" WHERE {kept} ORDER BY currency, n, per_gpu_hour, {TRUSTED_FIRST}"
        )
        by_currency: dict[str, list[Offer]] = {}
        for offer in self._offers(self._cursor(self._snapshot()), ranked, given):
            by_currency.setdefault(offer.currency, []).append(offer)
        return by_currency

    def _counts(self, wanted: OfferFilter) -> list[tuple[str, int]]:
        rows, given = selection(wanted)
        sql = f"SELECT currency, count(*) FROM ({rows}) WHERE reason IS NULL GROUP BY currency"
        return self._cursor(self._snapshot()).execute(sql, given).fetchall()

    def _distinct(self, column: str) -> tuple[str, ...]:
        at = self._snapshot()
        if (kept := self._values.get((at, column))) is not None:
            return kept
        rows = self._cursor(at).execute(f"SELECT DISTINCT {column} FROM offers ORDER BY 1").fetchall()
        return self._values.keep((at, column), tuple(key for (key,) in rows))


def load_offers(csv_path: Path, snapshot: Callable[[], Path | None] = lambda: None) -> OfferTable:
    """The rows of a CSV file, under the rows of the Parquet file that `snapshot` names (asked at each query).

    Raises CatalogError for a row of the CSV file that cannot be read.
    """
    return OfferTable(csv_path, snapshot)


def age_days(offer: Offer, today: date) -> int | None:
    """Days since the row's date (of a month or quarter: its first day, so never too young); None = undated."""
    day = first_day(offer.as_of)
    return (today - day).days if day else None


def staleness(offer: Offer, today: date) -> Staleness:
    """Up to 180 days are fresh, up to 730 ageing, more stale."""
    age = age_days(offer, today)
    if age is None:
        return "undated"
    return "fresh" if age <= WARN_AGE_DAYS else "ageing" if age <= HARD_AGE_DAYS else "stale"


def _offer(row: tuple[str, ...]) -> Offer:
    cell = dict(zip((*COLUMNS, "line", "origin"), row, strict=True))
    return Offer(
        id=cell["id"], provider=cell["provider"], gpu=cell["gpu"], gpu_form=cell["gpu_form"] or None,
        gpu_memory_gb=decimal(cell["gpu_memory_gb"]), gpu_count=int(cell["gpu_count"]),
        gpu_fraction=Decimal(cell["gpu_fraction"]), instance=cell["instance"] or None, region=cell["region"] or None,
        cpu_cores=integer(cell["cpu_cores"]), cpu_unit=cell["cpu_unit"] or None,
        host_memory_gib=decimal(cell["host_memory_gib"]), price=Decimal(cell["price"]), currency=cell["currency"],
        per=cell["per"], pricing_model=cell["pricing_model"], channel=cell["channel"] or None,
        flags=tuple(flag for flag in cell["flags"].split(";") if flag), as_of=cell["as_of"] or None,
        source=cell["source"], row=int(cell["line"]), origin=cell["origin"] or None,
    )  # fmt: skip
