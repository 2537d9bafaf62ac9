"""The two reference servers of the articles as rows: platform, height, processors and memory.

Knows only what servers.csv says; the articles state neither the number of cards in one nor its drives and power.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from knowledge.table_rows import TABLES, read_table


@dataclass(frozen=True)
class ReferenceServer:
    """One row of servers.csv; `gpus` are keys of names.csv, one of which the server is built for."""

    row: int
    id: str
    gpus: tuple[str, ...]
    platform: str
    rack_units: int
    cpu: str
    cpus: int
    cores_per_cpu: int
    base_ghz: Decimal
    boost_ghz: Decimal
    memory_modules: int
    module_gb: int
    memory_kind: str
    source: str


@cache
def reference_servers() -> tuple[ReferenceServer, ...]:
    """All rows. Raises CatalogError for one that cannot be read."""
    return read_table(TABLES / "servers.csv", _server)


def _server(number: int, row: dict[str, str]) -> ReferenceServer:
    counts = ("rack_units", "cpus", "cores_per_cpu", "memory_modules", "module_gb")
    rack_units, cpus, cores, modules, module_gb = (int(row[column]) for column in counts)
    if min(rack_units, cpus, cores, modules, module_gb) < 1:
        raise ValueError(f"{row['id']}: a count below 1 in {', '.join(counts)}")
    base_ghz, boost_ghz = Decimal(row["base_ghz"]), Decimal(row["boost_ghz"])
    if not 0 < base_ghz <= boost_ghz:
        raise ValueError(
            f"{row['id']}: base_ghz {base_ghz} and boost_ghz {boost_ghz}: both above 0, the base no higher"
        )
    return ReferenceServer(
        number, row["id"], tuple(row["gpus"].split(";")), row["platform"], rack_units, row["cpu"], cpus, cores,
        base_ghz, boost_ghz, modules, module_gb, row["memory_kind"], row["source"],
    )  # fmt: skip
