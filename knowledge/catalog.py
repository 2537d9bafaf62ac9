"""The rows of knowledge/tables as frozen values: offers, purchases, runs, memory advice and their sources.

Reads and selects rows; it computes nothing and converts no currency.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

TABLES = Path(__file__).parent / "tables"
Row = TypeVar("Row")
CpuUnit = Literal["core", "vCPU"]
Task = Literal["training", "inference"]
CPU_UNITS: tuple[CpuUnit, ...] = ("core", "vCPU")
TASKS: tuple[Task, ...] = ("training", "inference")


class CatalogError(Exception):
    """A table holds a row that cannot be read; the message names file, row and value."""


@dataclass(frozen=True)
class Source:
    """Where rows come from, as readers see it."""

    key: str
    title_zh: str
    title_en: str
    published_zh: str
    published_en: str
    note_zh: str
    note_en: str


@dataclass(frozen=True)
class Offer:
    """One rentable instance. `price` is for the whole instance per hour; memory is the host's, in GiB."""

    id: str
    row: int
    provider: str
    gpu: str
    gpu_form: str | None
    gpu_count: int
    cpu_cores: int
    cpu_unit: CpuUnit
    host_memory_gib: Decimal
    price: Decimal
    currency: str
    pricing_model: str
    region: str | None
    as_of: str | None
    source: str

    @property
    def price_per_gpu_hour(self) -> Decimal:
        """Price of one GPU for one hour, in `currency`."""
        return self.price / self.gpu_count


@dataclass(frozen=True)
class Purchase:
    """The price of buying one card, as printed."""

    id: str
    row: int
    gpu: str
    market: str
    price: Decimal
    currency: str
    memory_as_printed: str | None
    remark_zh: str | None
    remark_en: str | None
    as_of: str | None
    source: str


@dataclass(frozen=True)
class TrainingRun:
    """One measured fine-tuning run; `duration` as printed (h:mm:ss)."""

    id: str
    row: int
    gpu: str
    model: str
    rows: int
    duration: str
    seconds: int
    method: str
    as_of: str | None
    source: str


@dataclass(frozen=True)
class MemoryAdvice:
    """GPU memory in GB for running a model, or the number of cards for training, as the articles advise."""

    id: str
    row: int
    workload: str
    memory_min_gb: Decimal | None
    memory_max_gb: Decimal | None
    open_ended: bool
    card_count: int | None
    card: str | None
    card_memory_gb: Decimal | None
    recommended: str
    as_of: str | None
    source: str


@dataclass(frozen=True)
class Speedup:
    """How many times faster one GPU is than another, for one task and precision."""

    id: str
    row: int
    faster: str
    slower: str
    task: Task
    precision: str
    factor: Decimal
    source: str


@dataclass(frozen=True)
class Catalog:
    """All rows; queries return rows in the order of the question's natural reading: cheapest first."""

    sources: dict[str, Source]
    offers: tuple[Offer, ...]
    purchases: tuple[Purchase, ...]
    training_runs: tuple[TrainingRun, ...]
    memory_advice: tuple[MemoryAdvice, ...]
    speedups: tuple[Speedup, ...]
    gpu_memory_gb: dict[str, tuple[Decimal, ...]]

    def find_offers(
        self,
        gpus: Collection[str] = (),
        providers: Collection[str] = (),
        *,
        currency: str | None = None,
    ) -> list[Offer]:
        """Offers of any of the GPUs and providers (empty = all), cheapest per GPU-hour first."""
        rows = [
            offer
            for offer in self.offers
            if (not gpus or offer.gpu in gpus)
            and (not providers or offer.provider in providers)
            and (currency is None or offer.currency == currency)
        ]
        return sorted(rows, key=lambda offer: (offer.currency, offer.price_per_gpu_hour))

    def find_purchases(self, gpus: Collection[str] = ()) -> list[Purchase]:
        """Purchase prices, cheapest first."""
        return sorted((p for p in self.purchases if not gpus or p.gpu in gpus), key=lambda p: p.price)

    def find_runs(
        self, models: Collection[str] = (), rows: Collection[int] = (), methods: Collection[str] = ()
    ) -> list[TrainingRun]:
        """Fine-tuning runs in table order (empty selection = all)."""
        return [
            run
            for run in self.training_runs
            if (not models or run.model in models)
            and (not rows or run.rows in rows)
            and (not methods or run.method in methods)
        ]

    def find_advice(self, workload: str) -> MemoryAdvice | None:
        """The advice row of a workload key such as "run-falcon-40b"."""
        return next((row for row in self.memory_advice if row.workload == workload), None)


@cache
def load_catalog(folder: Path = TABLES) -> Catalog:
    """Read every table of `folder`. Raises CatalogError for a row that cannot be read."""
    return Catalog(
        sources={source.key: source for source in _read(folder / "sources.csv", lambda _, row: Source(**row))},
        offers=_read(folder / "offers.csv", _offer),
        purchases=_read(folder / "purchases.csv", _purchase),
        training_runs=_read(folder / "training_runs.csv", _run),
        memory_advice=_read(folder / "memory_advice.csv", _advice),
        speedups=_read(folder / "speedups.csv", _speedup),
        gpu_memory_gb=dict(_read(folder / "gpus.csv", _gpu_memory)),
    )


def _read(path: Path, make: Callable[[int, dict[str, str]], Row]) -> tuple[Row, ...]:
    """All rows of a file as values."""
    values = []
    for number, row in _rows(path):
        try:
            values.append(make(number, row))
        except (ValueError, ArithmeticError, KeyError, TypeError) as error:
            raise CatalogError(f"{path.name} row {number} cannot be read ({error!r}): {row!r}; mend the row") from error
    return tuple(values)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """(row number counted from 1 below the heading, cells) of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, restkey="surplus"), start=1):
            if None in row.values() or "surplus" in row:
                raise CatalogError(f"{path.name} row {number} has too few or too many cells: {row!r}; mend the row")
            yield number, row


def _offer(number: int, row: dict[str, str]) -> Offer:
    if row["per"] != "instance-hour" or row["gpu_fraction"] != "1":
        raise ValueError(f"per {row['per']!r} and gpu_fraction {row['gpu_fraction']!r} are not read")
    return Offer(
        id=row["id"], row=number, provider=row["provider"], gpu=row["gpu"], gpu_form=row["gpu_form"] or None,
        gpu_count=int(row["gpu_count"]), cpu_cores=int(row["cpu_cores"]),
        cpu_unit=_one_of(row["cpu_unit"], CPU_UNITS), host_memory_gib=Decimal(row["host_memory_gib"]),
        price=Decimal(row["price"]), currency=row["currency"], pricing_model=row["pricing_model"],
        region=row["region"] or None, as_of=row["as_of"] or None, source=row["source"],
    )  # fmt: skip


def _purchase(number: int, row: dict[str, str]) -> Purchase:
    return Purchase(
        id=row["id"], row=number, gpu=row["gpu"], market=row["market"], price=Decimal(row["price"]),
        currency=row["currency"], memory_as_printed=row["memory_as_printed"] or None,
        remark_zh=row["remark_zh"] or None, remark_en=row["remark_en"] or None,
        as_of=row["as_of"] or None, source=row["source"],
    )  # fmt: skip


def _run(number: int, row: dict[str, str]) -> TrainingRun:
    hours, minutes, seconds = (int(part) for part in row["duration"].split(":"))
    return TrainingRun(
        id=row["id"], row=number, gpu=row["gpu"], model=row["model"], rows=int(row["rows"]),
        duration=row["duration"], seconds=hours * 3600 + minutes * 60 + seconds, method=row["method"],
        as_of=row["as_of"] or None, source=row["source"],
    )  # fmt: skip


def _advice(number: int, row: dict[str, str]) -> MemoryAdvice:
    def amount(key: str) -> Decimal | None:
        return Decimal(row[key]) if row[key] else None

    return MemoryAdvice(
        id=row["id"], row=number, workload=row["workload"], memory_min_gb=amount("memory_min_gb"),
        memory_max_gb=amount("memory_max_gb"), open_ended=row["open_ended"] == "yes",
        card_count=int(row["card_count"]) if row["card_count"] else None, card=row["card"] or None,
        card_memory_gb=amount("card_memory_gb"), recommended=row["recommended"],
        as_of=row["as_of"] or None, source=row["source"],
    )  # fmt: skip


def _speedup(number: int, row: dict[str, str]) -> Speedup:
    return Speedup(
        id=row["id"], row=number, faster=row["faster"], slower=row["slower"],
        task=_one_of(row["task"], TASKS), precision=row["precision"],
        factor=Decimal(row["factor"]), source=row["source"],
    )  # fmt: skip


def _gpu_memory(_: int, row: dict[str, str]) -> tuple[str, tuple[Decimal, ...]]:
    return row["gpu"], tuple(Decimal(size) for size in row["memory_gb"].split(";"))


def _one_of(cell: str, allowed: tuple[Row, ...]) -> Row:
    """The allowed value that the cell spells; ValueError for any other."""
    for value in allowed:
        if value == cell:
            return value
    raise ValueError(f"{cell!r} is none of {allowed!r}")
