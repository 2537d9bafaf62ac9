"""Fetches current prices per provider and hands them to the import's checks. A provider that fails keeps its rows.

A further provider is one entry of SOURCES: its name, and a callable that returns rows as gpuhunt's CatalogItem has them.

Errors: RefreshUnavailableError (the optional package is missing), UnknownProviderError.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from typing import TYPE_CHECKING

import pyarrow as pa

from ingest.price_cells import CATALOGUE_PROVIDERS
from ingest.price_formats import CELLS, PriceFile
from ingest.price_import import PreparedImport, check

if TYPE_CHECKING:
    from gpuhunt import Catalog, CatalogItem

# Providers whose prices gpuhunt publishes as a catalogue, by its names; the others need an account's key.
GPUHUNT_PROVIDERS = ("aws", "azure", "gcp", "lambdalabs", "nebius", "oci", "runpod", "verda", "cloudrift")


class RefreshUnavailableError(Exception):
    """The package that fetches prices is not installed."""


class UnknownProviderError(Exception):
    """A provider that nothing here can fetch."""


@dataclass(frozen=True)
class RefreshReport:
    """Rows fetched per provider, why others failed, and the checked rows (None where nothing was fetched)."""

    fetched: dict[str, int]
    failed: dict[str, str]
    prepared: PreparedImport | None


def from_gpuhunt(name: str) -> list[CatalogItem]:
    """One provider's published catalogue. Raises RefreshUnavailableError; network errors as they come."""
    if importlib.util.find_spec("gpuhunt") is None:
        raise RefreshUnavailableError(
            "更新价格需要 gpuhunt：pip install 'gpu-advisor[refresh]'。 / Refreshing needs gpuhunt: pip install 'gpu-advisor[refresh]'."
        )
    found: list[CatalogItem] = _published().query(provider=name)
    return found


@cache
def _published() -> Catalog:
    """All published catalogues, fetched once per process; one that cannot be fetched is empty."""
    from gpuhunt import Catalog

    catalog = Catalog(balance_resources=False, auto_reload=False)
    catalog.load()
    return catalog


SOURCES: dict[str, Callable[[], Iterable[CatalogItem]]] = {
    CATALOGUE_PROVIDERS.get(name, name): partial(from_gpuhunt, name) for name in GPUHUNT_PROVIDERS
}


def refresh(
    providers: Sequence[str], sources: Mapping[str, Callable[[], Iterable[CatalogItem]]], today: date
) -> RefreshReport:
    """Fetch the named providers and check their rows; nothing is written. Raises UnknownProviderError."""
    if unknown := [name for name in providers if name not in sources]:
        there = ", ".join(sources)
        raise UnknownProviderError(
            f"不会更新这些云厂商：{', '.join(unknown)}；可以更新：{there} / cannot refresh {', '.join(unknown)}; these can be: {there}"
        )
    fetched: dict[str, int] = {}
    failed: dict[str, str] = {}
    rows: list[dict[str, str]] = []
    for name in dict.fromkeys(providers):
        try:
            found = [item_row(name, item, today) for item in sources[name]() if item.gpu_count and item.gpu_name]
        except RefreshUnavailableError:
            raise
        except Exception as error:  # noqa: BLE001 - a provider's client may raise anything; the others go on
            failed[name] = f"{type(error).__name__}: {error}"
            continue
        if not found:
            failed[name] = "没有 GPU 行 / no GPU rows"
            continue
        fetched[name] = len(found)
        rows += found
    if not rows:
        return RefreshReport(fetched, failed, None)
    columns = [pa.array([row[column] for row in rows], pa.string()) for column in CELLS]
    cells = pa.table([*columns, pa.array(range(1, len(rows) + 1), pa.int64())], names=[*CELLS, "line"])
    label = f"refresh {today.isoformat()}"
    return RefreshReport(fetched, failed, check(PriceFile(cells, "gpuhunt", ()), label, "price-refresh", today=today))


def item_row(provider: str, item: CatalogItem, today: date) -> dict[str, str]:
    """One CatalogItem (USD per hour of the instance, GB per card) as cells; a count below 1 is a slice of one card."""
    sliced = 0 < item.gpu_count < 1
    row = dict.fromkeys(CELLS, "")
    return row | {
        "provider": provider,
        "gpu": item.gpu_name or "",
        "gpu_memory_gb": "" if item.gpu_memory is None or sliced else f"{item.gpu_memory:g}",
        "gpu_count": "1" if sliced else f"{item.gpu_count:g}",
        "gpu_fraction": f"{item.gpu_count:g}" if sliced else "1",
        "instance": item.instance_name,
        "region": item.location,
        "cpu_cores": f"{item.cpu:g}",
        "cpu_unit": "vCPU",
        "host_memory_gib": f"{item.memory:g}",
        "price": repr(item.price),
        "currency": "USD",
        "per": "instance-hour",
        "pricing_model": "spot" if item.spot else "on-demand",
        "as_of": today.isoformat(),
    }
