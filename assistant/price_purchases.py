"""The purchase prices of single cards as a table under the same filters, as far as purchase rows have what they ask for.

No provider, region or pricing model: a purchase row states none, so those filters do not apply.
"""

from __future__ import annotations

from collections import Counter
from datetime import date
from decimal import Decimal

from assistant.calculator.calculation import number
from assistant.evidence import Bilingual, Language
from assistant.listing import Conversion
from assistant.price_conversion import converted
from assistant.price_filters import PriceFilter
from assistant.price_view import (
    ROWS_PER_PAGE,
    Cell,
    PriceTable,
    Row,
    conversion_of,
    conversion_said,
    dated,
    found_said,
    left_out_said,
    money,
    source_title,
    with_converted,
)
from assistant.price_words import NOT_STATED, PURCHASE_HEADINGS, Heading, market
from knowledge.catalog import Purchase, load_catalog
from knowledge.names import display
from knowledge.offer_store import first_day
from knowledge.offers import HARD_AGE_DAYS, WARN_AGE_DAYS, Reason, Staleness

ONE_CARD = Bilingual(zh="单卡", en="per card")


def purchase_table(wanted: PriceFilter, language: Language, today: date) -> PriceTable:
    """The purchase rows of the filter's page, in its order."""
    conversion = conversion_of(wanted)
    rows, left_out = purchase_rows(wanted, conversion)
    pages = max(1, -(-len(rows) // ROWS_PER_PAGE))
    page = min(wanted.page, pages)
    headings = with_converted(PURCHASE_HEADINGS, conversion, ONE_CARD)
    shown = rows[(page - 1) * ROWS_PER_PAGE : page * ROWS_PER_PAGE]
    counts = sorted(left_out.items(), key=lambda item: (-item[1], item[0]))
    said = (
        found_said(len(rows), len(rows) + sum(left_out.values()), len(shown), page, language),
        left_out_said(counts, language),
        conversion_said(conversion, language),
    )
    return PriceTable(
        headings,
        tuple(_row(purchase, headings, conversion, language, today) for purchase in shown),
        len(rows),
        page,
        pages,
        tuple(sentence for sentence in said if sentence),
    )


def purchase_rows(wanted: PriceFilter, conversion: Conversion | None) -> tuple[list[Purchase], Counter[Reason]]:
    """The rows in the filter's order, and how many rows of the named GPUs each other condition leaves out."""
    catalog = load_catalog()
    whole, forms = wanted.families_and_forms()
    members = set(catalog.members(whole))
    named = members | {gpu.family for name in forms if (gpu := catalog.gpu(name))}
    left_out: Counter[Reason] = Counter()
    kept = []
    for purchase in catalog.purchases:
        if wanted.gpus and purchase.gpu not in named:
            continue
        reason = _against(purchase, wanted, forms, purchase.gpu in members)
        if reason:
            left_out[reason] += 1
        else:
            kept.append(purchase)
    return _ordered(kept, wanted, conversion), left_out


def purchase_age(purchase: Purchase, today: date) -> tuple[int | None, Staleness]:
    """Days since the row's date and what that means; None = undated."""
    day = first_day(purchase.as_of)
    if day is None:
        return None, "undated"
    age = (today - day).days
    return age, "fresh" if age <= WARN_AGE_DAYS else "ageing" if age <= HARD_AGE_DAYS else "stale"


def memory_gb(purchase: Purchase) -> Decimal | None:
    """GB of the exact card; None where the row names no form, or the form's size is disputed."""
    gpu = load_catalog().gpu(purchase.gpu_form) if purchase.gpu_form else None
    return gpu.memory.low if gpu and gpu.memory and not gpu.memory.disputed and gpu.memory_unit == "GB" else None


def _against(purchase: Purchase, wanted: PriceFilter, forms: tuple[str, ...], any_form: bool) -> Reason | None:
    """The first condition that speaks against a row."""
    if forms and not any_form and purchase.gpu_form not in forms:
        return "other-form" if purchase.gpu_form else "form-not-stated"
    if wanted.min_memory_gb is not None and (reason := _too_small(purchase, wanted.min_memory_gb)):
        return reason
    if wanted.currencies and purchase.currency not in wanted.currencies:
        return "other-currency"
    return _wrong_date(purchase, wanted)


def _too_small(purchase: Purchase, least: Decimal) -> Reason | None:
    size = memory_gb(purchase)
    if size is None:
        return "memory-not-known"
    return "too-little-memory" if size < least else None


def _wrong_date(purchase: Purchase, wanted: PriceFilter) -> Reason | None:
    day = first_day(purchase.as_of)
    if day is None:
        return None if wanted.undated else "undated"
    if wanted.dated_from and day < wanted.dated_from:
        return "too-old"
    return "too-new" if wanted.dated_to and day > wanted.dated_to else None


def _ordered(purchases: list[Purchase], wanted: PriceFilter, conversion: Conversion | None) -> list[Purchase]:
    """Sorted by the filter's column; money within one currency, or by what it is worth; rows that say nothing last."""
    by_price = sorted(purchases, key=lambda purchase: _worth(purchase, conversion), reverse=wanted.descending)
    if wanted.sort in ("per-gpu-hour", "price"):
        return by_price if conversion else sorted(by_price, key=lambda purchase: purchase.currency)
    says = [purchase for purchase in by_price if _sort_value(purchase, wanted) is not None]
    silent = [purchase for purchase in by_price if _sort_value(purchase, wanted) is None]
    return [*sorted(says, key=lambda purchase: _sort_value(purchase, wanted) or (), reverse=wanted.descending), *silent]


def _sort_value(purchase: Purchase, wanted: PriceFilter) -> tuple[str | Decimal, ...] | None:
    day = first_day(purchase.as_of)
    values: dict[str, str | Decimal | None] = {
        "form": purchase.gpu_form, "memory": memory_gb(purchase), "currency": purchase.currency,
        "pricing-model": purchase.market, "date": day.isoformat() if day else None, "source": purchase.source,
    }  # fmt: skip
    value = values.get(wanted.sort, purchase.gpu)
    return None if value is None else (value,)


def _worth(purchase: Purchase, conversion: Conversion | None) -> Decimal:
    amount = converted(purchase.price, purchase.currency, conversion)
    return purchase.price if amount is None else amount


def _row(
    purchase: Purchase, headings: tuple[Heading, ...], conversion: Conversion | None, language: Language, today: date
) -> Row:  # fmt: skip
    amount, memory = converted(purchase.price, purchase.currency, conversion), memory_gb(purchase)
    age, stale = purchase_age(purchase, today)
    cells = {
        "gpu": Cell(display("gpu", purchase.gpu, language)), "form": Cell(purchase.gpu_form or NOT_STATED[language]),
        "memory": Cell("—" if memory is None else number(memory)), "price": Cell(number(purchase.price)),
        "currency": Cell(purchase.currency), "converted": Cell("—" if amount is None else money(amount, "0.01")),
        "market": Cell(market(purchase.market, language)), "date": dated(purchase.as_of, age, stale, language),
        "source": Cell(source_title(purchase.source, language)),
    }  # fmt: skip
    return Row(purchase.id, tuple(cells[heading.key] for heading in headings))
