"""All rows of a filter as CSV for spreadsheets: UTF-8 with BOM, exact decimals, no cell that a spreadsheet would run.

Rental rows are headed as `gpu-advisor prices import` reads them, so the file can be edited and taken in again; columns
that the import does not know stand behind and are passed over by it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from assistant.evidence import Language
from assistant.listing import Conversion
from assistant.price_conversion import converted
from assistant.price_filters import PriceFilter
from assistant.price_purchases import purchase_age, purchase_rows
from assistant.price_view import conversion_of, rental_rows, source_title
from knowledge.catalog import Offer, Purchase
from knowledge.offers import age_days

BOM = "\ufeff"
RUNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # what spreadsheets take for a formula
IMPORTED = (
    "provider", "gpu", "gpu_form", "gpu_memory_gb", "gpu_count", "gpu_fraction", "instance", "region", "cpu_cores",
    "cpu_unit", "host_memory_gib", "price", "currency", "per", "pricing_model", "channel", "flags", "as_of",
)  # fmt: skip
BESIDE = ("price_per_gpu_hour", "age_days", "source_title", "row_id")
CONVERTED = ("converted_price_per_gpu_hour", "converted_currency", "conversion_rate")
PURCHASED = (
    "gpu", "gpu_form", "price_of_one_card", "currency", "market", "memory_as_printed", "remark", "as_of", "age_days",
    "source_title", "row_id", "converted_price", "converted_currency", "conversion_rate",
)  # fmt: skip


@dataclass(frozen=True)
class Export:
    """A CSV file: its name, how many rows it has, and its text in pieces."""

    name: str
    rows: int
    text: Iterator[str]


def export(wanted: PriceFilter, language: Language, today: date) -> Export:
    """The filter's rows, all pages, in its order. Raises SnapshotBrokenError."""
    conversion = conversion_of(wanted)
    if wanted.view == "buy":
        purchases, _ = purchase_rows(wanted, conversion)
        cells = (_purchase(purchase, conversion, language, today) for purchase in purchases)
        return Export(f"gpu-purchase-prices-{today}.csv", len(purchases), _lines(PURCHASED, cells))
    offers = rental_rows(wanted, conversion, None).offers
    heading = (*IMPORTED, *BESIDE, *(CONVERTED if conversion else ()))
    rows = (_offer(offer, conversion, language, today) for offer in offers)
    return Export(f"gpu-rental-prices-{today}.csv", len(offers), _lines(heading, rows))


def harmless(cell: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would run it as a formula."""
    return f"'{cell}" if cell.startswith(RUNS) else cell


def _lines(heading: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    yield BOM + _line(heading)
    for row in rows:
        yield _line(tuple(harmless(cell) for cell in row))


def _line(cells: tuple[str, ...]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


def _offer(offer: Offer, conversion: Conversion | None, language: Language, today: date) -> tuple[str, ...]:
    age = age_days(offer, today)
    cells = (
        offer.provider, offer.gpu, offer.gpu_form or "", _exact(offer.gpu_memory_gb), str(offer.gpu_count),
        _exact(offer.gpu_fraction), offer.instance or "", offer.region or "", _whole(offer.cpu_cores), offer.cpu_unit or "",
        _exact(offer.host_memory_gib), _exact(offer.price), offer.currency, offer.per, offer.pricing_model,
        offer.channel or "", ";".join(offer.flags), offer.as_of or "", _rounded(offer.price_per_gpu_hour), _whole(age),
        source_title(offer.source, language, offer.origin, offer.row), offer.id,
    )  # fmt: skip
    return (*cells, *_converted(offer.price_per_gpu_hour, offer.currency, conversion)) if conversion else cells


def _purchase(purchase: Purchase, conversion: Conversion | None, language: Language, today: date) -> tuple[str, ...]:
    age, _ = purchase_age(purchase, today)
    remark = purchase.remark_zh if language == "zh" else purchase.remark_en
    return (
        purchase.gpu, purchase.gpu_form or "", _exact(purchase.price), purchase.currency, purchase.market,
        purchase.memory_as_printed or "", remark or "", purchase.as_of or "", _whole(age),
        source_title(purchase.source, language), purchase.id, *_converted(purchase.price, purchase.currency, conversion),
    )  # fmt: skip


def _converted(amount: Decimal, currency: str, conversion: Conversion | None) -> tuple[str, str, str]:
    worth = converted(amount, currency, conversion)
    if conversion is None or worth is None:
        return "", "", ""
    return _rounded(worth), conversion.currency, _rounded(conversion.rates[currency])


def _exact(value: Decimal | None) -> str:
    return "" if value is None else f"{value:f}"


def _rounded(value: Decimal) -> str:
    """To nine places, which is finer than any price is quoted."""
    text = f"{value.quantize(Decimal('1e-9')):f}"
    return text.rstrip("0").rstrip(".")


def _whole(value: int | None) -> str:
    return "" if value is None else str(value)
