"""Tables of documents as rental prices: which columns say what, and the rows as `prices import` takes them.

A table of one column per provider, per way of billing or per card is turned into one row per price. What the table
does not say stays empty and is named in `missing`; nothing is inferred. Whether a price is plausible, and what is
written, is the business of price_import.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from ingest.document_tables import DocumentTable, folded, says_nothing
from ingest.price_formats import CELLS, PriceFile
from ingest.rental_columns import (
    PriceColumn,
    alike,
    attribute_of,
    currency_in,
    is_monthly,
    period_in,
    price_column,
    provider_in,
)
from knowledge.gpu_names import gpu_forms

SAMPLE_ROWS = 60  # by which a column is judged
NUMBER = re.compile(r"[^\w]*(?:us|hk|cny|rmb|usd)?[\s$¥€£]*\d[\d,.]*.{0,12}")
COUNT = re.compile(
    r"(?:^|[^\w.])(\d{1,3})\s*[x×*]\s*(?=[a-z])|[x×*]\s*(\d{1,3})\s*(?:卡|张|块|个)?$|(\d{1,3})\s*[卡张块]"
)
PRICE_AND_PERIOD = re.compile(r"(.*?\d[^/每]*?)\s*((?:/|每|per ).*)")


@dataclass(frozen=True)
class GivenTerms:
    """What the reader says of a table that does not say it: `per` is instance-hour, instance-month or gpu-hour."""

    provider: str = ""
    currency: str = ""
    per: str = ""


@dataclass(frozen=True)
class _Around:
    """What stands for the whole table; `stated_per` is the table's own word, `given_per` the reader's."""

    provider: str
    currency: str
    stated_per: str
    given_per: str


@dataclass(frozen=True)
class PriceTable:
    """A table whose headings mean GPU and price; `attributes` are columns of a price file and where they stand."""

    table: DocumentTable
    attributes: dict[str, int]
    prices: tuple[PriceColumn, ...]
    left_out: tuple[PriceColumn, ...]

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """(what it is, heading) of every column that is read."""
        read = [(name, self.table.headings[at]) for name, at in self.attributes.items()]
        return (*read, *(("price", column.heading) for column in self.prices))


@dataclass(frozen=True)
class PriceRows:
    """The rows, each with all columns of CELLS and `line`; `currency` stands for cells that name none.

    `missing` are names of GivenTerms that neither the table nor the reader said; `empty_cells` are cells of a wide
    table without a price; `uncounted` says that no card count is stated, so that each price is of one card.
    """

    rows: tuple[dict[str, str], ...]
    lines: tuple[int, ...]
    currency: str
    missing: tuple[str, ...]
    empty_cells: int
    uncounted: bool

    def file(self) -> PriceFile:
        """The rows as a price file that `price_import.check` takes."""
        columns = {name: pa.array([row[name] for row in self.rows], pa.string()) for name in CELLS}
        return PriceFile(pa.table({**columns, "line": pa.array(self.lines, pa.int64())}), "table", ())


def price_table(table: DocumentTable) -> PriceTable | None:
    """The table as one of rental prices; None if its headings do not mean GPU and price."""
    attributes, prices, strange = _sorted(table)
    if "gpu" not in attributes and (at := _column_of_cards(table, strange)) is not None:
        attributes["gpu"] = at
        strange.remove(at)
    if "gpu" not in attributes:
        attributes, prices, strange = _by_card(table, attributes, strange)
    usable = [column for column in prices if not column.problem]
    if not usable or (any(column.provider for column in usable) and any(_is_numeric(table, at) for at in strange)):
        return None
    if twice := alike(usable):
        why = ("与另一列写的是同一件事，分不清", "says the same as another column: they cannot be told apart")
        prices = [replace(column, problem=why) if column in twice else column for column in prices]
        usable = [column for column in prices if not column.problem]
    if not any(_is_numeric(table, column.at) for column in usable):
        return None
    return PriceTable(table, attributes, tuple(usable), tuple(column for column in prices if column.problem))


def price_rows(found: PriceTable, given: GivenTerms) -> PriceRows:
    """Every price of the table as a row; `given` stands for what the table does not say."""
    table, said = found.table, _said(found, given)
    rows, lines, empty = [], [], 0
    for cells, line, section in zip(table.rows, table.lines, table.sections, strict=True):
        for column in found.prices:
            if says_nothing(cells[column.at]) and len(found.prices) > 1:
                empty += 1
                continue
            rows.append(_row(found, cells, column, replace(said, provider=provider_in([section]) or said.provider)))
            lines.append(line)
    uncounted = not any(row["gpu_count"] for row in rows)
    if uncounted:
        rows = [{**row, "gpu_count": "1"} for row in rows]
    # A blank cell in a column of providers is that row's fault, and refused there.
    needed = ("per",) if "provider" in found.attributes else ("provider", "per")
    missing = [name for name in needed if any(not row[name] for row in rows)]
    if not said.currency and any(not row["currency"] and not currency_in(row["price"]) for row in rows):
        missing.append("currency")
    return PriceRows(tuple(rows), tuple(lines), said.currency, tuple(missing), empty, uncounted)


def _said(found: PriceTable, given: GivenTerms) -> _Around:
    """The reader's word first, else the table's label and notes; for the provider also where it stands."""
    table = found.table
    words = (table.unit_note, table.label, *table.notes)
    return _Around(
        given.provider or provider_in((table.label, *table.around)),
        given.currency or next(filter(None, map(currency_in, words)), ""),
        next(filter(None, map(period_in, words)), ""),
        given.per,
    )


def _row(found: PriceTable, cells: Sequence[str], column: PriceColumn, said: _Around) -> dict[str, str]:
    row = dict.fromkeys(CELLS, "")
    row |= {name: cells[at] for name, at in found.attributes.items()}
    price, per = _price_and_period(cells[column.at])
    # A note "per hour" has the unit of a column that is headed 包月.
    monthly = "instance-month" if is_monthly(column.heading) else ""
    row["price"] = price
    row["gpu"] = column.gpu or row["gpu"]
    row["gpu_count"] = row["gpu_count"] or _count_in(row["gpu"])
    row["pricing_model"] = column.billing or row["pricing_model"]
    row["currency"] = row["currency"] or column.currency
    row["per"] = per or column.per or row["per"] or said.stated_per or monthly or said.given_per
    if "provider" not in found.attributes:
        row["provider"] = column.provider or said.provider
    return row


def _price_and_period(cell: str) -> tuple[str, str]:
    """12.5元 and gpu-hour of "12.5元/卡/小时"; a unit that is not taken stays in the cell and is refused there."""
    match = PRICE_AND_PERIOD.fullmatch(folded(cell))
    period = period_in(match[2]) if match else ""
    return (match[1], period) if match and period else (cell, "")


def _count_in(gpu: str) -> str:
    """8 of 8×A100, A100*8 and "A100 8卡"; "" where no count is written."""
    match = COUNT.search(folded(gpu))
    return next(filter(None, match.groups()), "") if match else ""


def _sorted(table: DocumentTable) -> tuple[dict[str, int], list[PriceColumn], list[int]]:
    """Columns that describe the price, columns of prices, and all others. Of two columns of GPUs the one that has any."""
    attributes: dict[str, int] = {}
    prices, strange = list[PriceColumn](), list[int]()
    for at, heading in enumerate(table.headings):
        name = attribute_of(heading)
        if name == "gpu" and name in attributes and _cards_in(table, at) > _cards_in(table, attributes[name]):
            strange.append(attributes.pop(name))
        if name and name != "price" and name not in attributes:
            attributes[name] = at
        elif column := price_column(at, heading):
            prices.append(column)
        else:
            strange.append(at)
    return attributes, prices, strange


def _column_of_cards(table: DocumentTable, strange: Sequence[int]) -> int | None:
    """The first column, under a heading that says nothing, if each of its cells names a card we know."""
    return 0 if 0 in strange and _cards_in(table, 0) == len(table.rows[:SAMPLE_ROWS]) else None


def _by_card(
    table: DocumentTable, attributes: dict[str, int], strange: list[int]
) -> tuple[dict[str, int], list[PriceColumn], list[int]]:
    """A table of providers by cards: every other heading names a card, and every cell below it is a price."""
    if "provider" not in attributes and 0 in strange and all(provider_in([row[0]]) for row in table.rows[:SAMPLE_ROWS]):
        attributes = {**attributes, "provider": 0}
        strange = [at for at in strange if at]
    columns = [_card_column(at, table.headings[at]) for at in strange]
    prices = [column for column in columns if column]
    if "provider" not in attributes or len(prices) < len(columns):
        return attributes, [], strange
    return attributes, prices, []


def _card_column(at: int, heading: str) -> PriceColumn | None:
    for part in reversed(heading.split(" / ")):
        name = re.split(r"[(（\[【]", part)[0].strip()
        if name and gpu_forms(name).kind == "gpu":
            return PriceColumn(at, heading, gpu=name, currency=currency_in(heading), per=period_in(heading))
    return None


def _cards_in(table: DocumentTable, at: int) -> int:
    return sum(gpu_forms(row[at]).kind == "gpu" for row in table.rows[:SAMPLE_ROWS])


def _is_numeric(table: DocumentTable, at: int) -> bool:
    """Whether more than half of a column's cells that say something are figures."""
    cells = [folded(row[at]) for row in table.rows[:SAMPLE_ROWS] if not says_nothing(row[at])]
    return sum(bool(NUMBER.fullmatch(cell)) for cell in cells) * 2 > len(cells)
