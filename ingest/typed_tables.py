"""Which tables of a document hold rental prices or specifications, and what becomes of one that is accepted.

Prices go through `price_import.check`, so the report is the preview, `commit` the acceptance, and `prices undo` takes
it back. Specifications go through spec_tables.py. A table that is both is offered as prices. Nothing is written here.

Errors: TableNotTypedError (no such table, or nothing recognised in it), TableIncompleteError (it does not say whose
prices, which currency or which period); PriceFileError of price_import.py passes through.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from ingest.blocks import Parsed, Place
from ingest.document_tables import document_tables, source_of
from ingest.price_import import PreparedImport, check
from ingest.rental_tables import GivenTerms, PriceTable, price_rows, price_table
from ingest.spec_tables import SpecTable, spec_table

SOURCE = "price-import"
MISSING = {
    "provider": ("云厂商（--provider）", "the provider (--provider)"),
    "currency": ("币种（--currency）", "the currency (--currency)"),
    "per": ("每小时、每月还是每卡时（--per hour、month 或 gpu-hour）", "by the hour, month or GPU-hour (--per hour, month or gpu-hour)"),
}  # fmt: skip


class TableNotTypedError(Exception):
    """The document has no recognised table of that number; the message lists those it has."""


class TableIncompleteError(Exception):
    """The table does not say what a price is; the message names what is missing and how to give it."""


@dataclass(frozen=True)
class TypedTable:
    """A recognised table. `columns` are (what it is, the heading it came from); `missing` are keys of MISSING.

    `number` counts the document's tables from 1, `rows` the table's data rows. `left_out` are headings that are not
    taken, with the reason (heading, zh, en).
    """

    number: int
    kind: Literal["prices", "specs"]
    caption: str
    place: Place
    rows: int
    columns: tuple[tuple[str, str], ...]
    missing: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str, str], ...] = ()


def recognised(parsed: Parsed) -> list[TypedTable]:
    """Every table of rental prices or specifications of a document, in its order."""
    return [described(found) for found in typed_tables(parsed)]


def typed_tables(parsed: Parsed) -> list[PriceTable | SpecTable]:
    """The recognised tables themselves, in the document's order."""
    return [found for table in document_tables(parsed) if (found := price_table(table) or spec_table(table))]


def typed(parsed: Parsed, number: int) -> PriceTable | SpecTable:
    """The recognised table of this number. Raises TableNotTypedError."""
    there = typed_tables(parsed)
    for found in there:
        if found.table.number == number:
            return found
    known = ", ".join(str(found.table.number) for found in there) or "–"
    raise TableNotTypedError(
        f"第 {number} 张表没有识别成价格或规格；识别出的有：{known}。表头要有显卡和价格，或显卡和至少两项规格。"
        f" / Table {number} is not recognised as prices or specifications; recognised are: {known}. Its headings must name "
        "a card and a price, or a card and at least two specifications."
    )


def prepare_prices(
    found: PriceTable, document: str, given: GivenTerms, *, as_of: str = "", allow_unusual: bool = False, today: date
) -> PreparedImport:
    """The rows checked against those in use; `commit` accepts them. Raises TableIncompleteError, PriceFileError."""
    rows = price_rows(found, given)
    if rows.missing:
        zh, en = zip(*(MISSING[name] for name in rows.missing), strict=True)
        raise TableIncompleteError(
            f"第 {found.table.number} 张表没有写明：{'、'.join(zh)}；不猜，请给出。"
            f" / Table {found.table.number} does not state {', '.join(en)}; nothing is guessed, please give it."
        )
    label = source_of(document, found.table.number)
    return check(
        rows.file(), label, SOURCE, currency=rows.currency, as_of=as_of, allow_unusual=allow_unusual, today=today
    )


def described(found: PriceTable | SpecTable) -> TypedTable:
    """What a list of recognised tables says of one."""
    table = found.table
    if isinstance(found, SpecTable):
        return TypedTable(
            table.number, "specs", table.label, table.place, len(table.rows), found.columns, (), found.left_out
        )
    left_out = tuple((column.heading, *column.problem) for column in found.left_out if column.problem)
    missing = price_rows(found, GivenTerms()).missing
    return TypedTable(
        table.number, "prices", table.label, table.place, len(table.rows), found.columns, missing, left_out
    )
