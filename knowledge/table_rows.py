"""Reading the CSV files of knowledge/tables: rows as values, and an error that names file, row and cell.

Knows no table: what a column means is said where its dataclass is.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

TABLES = Path(__file__).parent / "tables"
Row = TypeVar("Row")


class CatalogError(Exception):
    """A table holds a row that cannot be read; the message names file, row and value."""


@dataclass(frozen=True)
class Span:
    """A figure, or the range between figures where sources disagree (low = high when they do not)."""

    low: Decimal
    high: Decimal

    @property
    def disputed(self) -> bool:
        """Whether sources disagree."""
        return self.low != self.high


def read_table(path: Path, make: Callable[[int, dict[str, str]], Row]) -> tuple[Row, ...]:
    """All rows of a file as values, numbered from 1 below the heading. Raises CatalogError."""
    values = []
    for number, row in _rows(path):
        try:
            values.append(make(number, row))
        except (ValueError, ArithmeticError, KeyError, TypeError) as error:
            raise CatalogError(f"{path.name} row {number} cannot be read ({error!r}): {row!r}; mend the row") from error
    return tuple(values)


def span(cell: str) -> Span | None:
    """312 or 256-354; None for an empty cell. Raises ValueError for a range that runs backwards."""
    if not cell:
        return None
    low, _, high = cell.partition("-")
    found = Span(Decimal(low), Decimal(high or low))
    if found.high < found.low or found.low <= 0:
        raise ValueError(f"{cell!r} is no positive figure or range low-high")
    return found


def decimal(cell: str) -> Decimal | None:
    """The number in a cell, or None for an empty one."""
    return Decimal(cell) if cell else None


def integer(cell: str) -> int | None:
    """The whole number in a cell, or None for an empty one."""
    return int(cell) if cell else None


def one_of(cell: str, allowed: tuple[Row, ...]) -> Row:
    """The allowed value that the cell spells; ValueError for any other."""
    for value in allowed:
        if value == cell:
            return value
    raise ValueError(f"{cell!r} is none of {allowed!r}")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file, restkey="surplus"), start=1):
            if None in row.values() or "surplus" in row:
                raise CatalogError(f"{path.name} row {number} has too few or too many cells: {row!r}; mend the row")
            yield number, row
