"""The rows of knowledge/tables as frozen values: prices, runs, advice, hardware, and their sources.

Reads and selects rows; it computes nothing and converts no currency. What a column of gpus.csv or models.csv
means stands in hardware.py, of offers.csv in offers.py.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Literal

from knowledge import hardware
from knowledge.hardware import Gpu, Model, Rate
from knowledge.offers import Offer, OfferFilter, OfferTable, load_offers, staleness
from knowledge.own_cards import own_gpus
from knowledge.price_snapshots import current
from knowledge.table_rows import TABLES, CatalogError, decimal, integer, one_of, read_table

__all__ = ["TABLES", "Catalog", "CatalogError", "Offer", "load_catalog", "newest"]

Task = Literal["training", "inference"]
TASKS: tuple[Task, ...] = ("training", "inference")


# No price that one can count on renting the whole machine for: a market's minimum, GPU over IP, CPU billed on top.
UNFIRM = frozenset({"marketplace-minimum", "virtual", "estimated", "gpu-only"})
UNFIRM_SPOT = frozenset({"placeholder", "spot-above-on-demand"})


STALENESS_RANK = {"fresh": 0, "ageing": 0, "undated": 1, "stale": 2}


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
    trust: str


@dataclass(frozen=True)
class Purchase:
    """The price of buying one card, as printed."""

    id: str
    row: int
    gpu: str
    gpu_form: str | None
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
    offers: OfferTable
    purchases: tuple[Purchase, ...]
    training_runs: tuple[TrainingRun, ...]
    memory_advice: tuple[MemoryAdvice, ...]
    speedups: tuple[Speedup, ...]
    shipped_gpus: tuple[Gpu, ...]
    models: tuple[Model, ...]
    rates: tuple[Rate, ...]

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The accelerators of gpus.csv, and behind them the reader's own cards of this moment."""
        return self.shipped_gpus + own_gpus(len(self.shipped_gpus))

    def find_offers(
        self,
        gpus: Collection[str] = (),
        providers: Collection[str] = (),
        *,
        currency: str | None = None,
        pricing_models: Collection[str] = ("on-demand",),
        gpu_count: int = 1,
        regions: Collection[str] = (),
        min_gpu_memory_gb: Decimal | None = None,
        today: date | None = None,
    ) -> list[Offer]:
        """What one would rent first: whole cards by the hour, of each provider and form the cheapest for `gpu_count` GPUs.

        Empty = all. A GPU with rows in CNY is shown in CNY unless `currency` says otherwise. Where the GPU has better
        rows in that currency, those past the hard age and those that are no firm price of a whole machine stand back.
        Of equal rows the first of the table stands.
        Sorted by currency, then by price per GPU-hour.
        """
        found = self.offers.query(
            OfferFilter(gpus=self.members(gpus), providers=tuple(providers), currencies=(currency,) if currency else (),
                        pricing_models=tuple(pricing_models), per=("instance-hour",), regions=tuple(regions),
                        min_gpu_memory_gb=min_gpu_memory_gb)
        ).offers  # fmt: skip
        day = today or date.today()
        unfirm = UNFIRM | (UNFIRM_SPOT if "spot" in pricing_models else frozenset())
        firm = {(o.gpu, o.currency) for o in found if not unfirm.intersection(o.flags)}
        found = tuple(o for o in found if (o.gpu, o.currency) not in firm or not unfirm.intersection(o.flags))
        # Of providers that were named each is shown in its own currency.
        in_yuan = {(o.gpu, o.provider if providers else "") for o in found if o.currency == "CNY"}
        usable = [o for o in found
                  if currency or o.currency == "CNY" or (o.gpu, o.provider if providers else "") not in in_yuan]  # fmt: skip
        fresh = {(o.gpu, o.currency) for o in usable if staleness(o, day) != "stale"}
        usable = [o for o in usable if (o.gpu, o.currency) not in fresh or staleness(o, day) != "stale"]
        best: dict[tuple[str, str, str, str | None], Offer] = {}
        for offer in newest(usable, day):
            form = offer.gpu_form if offer.currency != "CNY" else None
            key = (offer.provider, offer.gpu, offer.currency, form)
            if key not in best or _cost_rank(offer, gpu_count) < _cost_rank(best[key], gpu_count):
                best[key] = offer
        return sorted(best.values(), key=lambda offer: (offer.currency, offer.price_per_gpu_hour, offer.row))

    def find_purchases(self, gpus: Collection[str] = (), *, currency: str = "CNY") -> list[Purchase]:
        """Purchase prices in one currency, cheapest first."""
        wanted = self.members(gpus)
        rows = (p for p in self.purchases if p.currency == currency and (not wanted or p.gpu in wanted))
        return sorted(rows, key=lambda p: p.price)

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

    def gpu(self, name: str) -> Gpu | None:
        """The accelerator of exactly this name, as gpus.csv spells it."""
        return next((gpu for gpu in self.gpus if gpu.name == name), None)

    def gpus_of(self, family: str) -> list[Gpu]:
        """All stock forms of a family (names.csv key), in table order; modified cards only if there is no other."""
        forms = [gpu for gpu in self.gpus if family in gpu.families]
        return [gpu for gpu in forms if not gpu.variant] or forms

    def members(self, families: Collection[str]) -> tuple[str, ...]:
        """The names that rows use for these families: RTX 6000 is said of three cards, TPU of every generation."""
        return tuple(dict.fromkeys(
            key for family in families for key in ([gpu.family for gpu in self.gpus if family in gpu.families] or [family])
        ))  # fmt: skip

    def memory_sizes_gb(self, family: str) -> tuple[Decimal, ...]:
        """The memory sizes a family is sold with, smallest first."""
        return tuple(
            sorted({end for gpu in self.gpus_of(family) if gpu.memory for end in (gpu.memory.low, gpu.memory.high)})
        )

    def model(self, name: str) -> Model | None:
        """The open model of exactly this name, as models.csv spells it."""
        return next((model for model in self.models if model.name == name), None)

    def rate(self, currency: str, year: int | None = None) -> Rate | None:
        """Units of a currency per US dollar: of one year, or the newest there is."""
        rows = [rate for rate in self.rates if rate.currency == currency and year in (None, rate.year)]
        return max(rows, key=lambda rate: rate.year, default=None)


@cache
def load_catalog(folder: Path = TABLES) -> Catalog:
    """Read every table of `folder`. Raises CatalogError for a row that cannot be read."""
    sources = read_table(folder / "sources.csv", lambda _, row: Source(**row))
    return Catalog(
        sources={source.key: source for source in sources},
        offers=load_offers(folder / "offers.csv", current),
        purchases=read_table(folder / "purchases.csv", _purchase),
        training_runs=read_table(folder / "training_runs.csv", _run),
        memory_advice=read_table(folder / "memory_advice.csv", _advice),
        speedups=read_table(folder / "speedups.csv", _speedup),
        shipped_gpus=read_table(folder / "gpus.csv", hardware.gpu),
        models=read_table(folder / "models.csv", hardware.model),
        rates=read_table(folder / "rates.csv", hardware.rate),
    )


def newest(offers: Collection[Offer], today: date) -> list[Offer]:
    """Of each provider's rows for one card, count and instance region the latest: a later price replaces an earlier one.

    A dated row within the hard age counts before an undated one, and that before a stale one.
    """
    best: dict[tuple[object, ...], tuple[int, str]] = {}
    ranked = [(offer, (-STALENESS_RANK[staleness(offer, today)], offer.as_of or "")) for offer in offers]
    for offer, rank in ranked:
        key = (offer.provider, offer.gpu, offer.gpu_form, offer.gpu_count, offer.currency, offer.pricing_model)
        best[key] = max(best.get(key, rank), rank)
    keys = ("provider", "gpu", "gpu_form", "gpu_count", "currency", "pricing_model")
    return [offer for offer, rank in ranked if rank == best[tuple(getattr(offer, key) for key in keys)]]


def _cost_rank(offer: Offer, gpu_count: int) -> tuple[Decimal, bool, Decimal, int]:
    """What so many GPUs cost an hour in whole instances; of equal ones a dated row, then the place in the table."""
    total = -(-gpu_count // offer.gpu_count) * offer.price
    return round(total, 3), offer.as_of is None, offer.price_per_gpu_hour, offer.row


def _purchase(number: int, row: dict[str, str]) -> Purchase:
    return Purchase(
        id=row["id"], row=number, gpu=row["gpu"], gpu_form=row["gpu_form"] or None, market=row["market"], price=Decimal(row["price"]),
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
    return MemoryAdvice(
        id=row["id"], row=number, workload=row["workload"], memory_min_gb=decimal(row["memory_min_gb"]),
        memory_max_gb=decimal(row["memory_max_gb"]), open_ended=row["open_ended"] == "yes",
        card_count=integer(row["card_count"]), card=row["card"] or None,
        card_memory_gb=decimal(row["card_memory_gb"]), recommended=row["recommended"],
        as_of=row["as_of"] or None, source=row["source"],
    )  # fmt: skip


def _speedup(number: int, row: dict[str, str]) -> Speedup:
    return Speedup(
        id=row["id"], row=number, faster=row["faster"], slower=row["slower"],
        task=one_of(row["task"], TASKS), precision=row["precision"],
        factor=Decimal(row["factor"]), source=row["source"],
    )  # fmt: skip
