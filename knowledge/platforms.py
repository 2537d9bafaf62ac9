"""The learning platforms of the articles as rows: what they give for free each week, and what an upgrade costs.

Reads knowledge/tables/platforms.csv; a price whose period the articles do not state has none here either.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from knowledge.table_rows import TABLES, decimal, read_table


@dataclass(frozen=True)
class Platform:
    """One platform; `quota_hours_per_week` are free hours, `price` is that of `per` (quota, upgrade), without a period."""

    row: int
    provider: str
    gpus: tuple[str, ...]
    price: Decimal | None
    currency: str
    per: str
    quota_hours_per_week: Decimal | None
    remark_zh: str
    remark_en: str
    source: str


@cache
def load_platforms(folder: Path = TABLES) -> tuple[Platform, ...]:
    """All rows. Raises CatalogError for a row that cannot be read."""
    return read_table(folder / "platforms.csv", _platform)


def _platform(number: int, row: dict[str, str]) -> Platform:
    return Platform(
        row=number, provider=row["provider"], gpus=tuple(filter(None, row["gpus"].split(";"))), price=decimal(row["price"]),
        currency=row["currency"], per=row["per"], quota_hours_per_week=decimal(row["quota_hours_per_week"]),
        remark_zh=row["remark_zh"], remark_en=row["remark_en"], source=row["source"],
    )  # fmt: skip
