"""The price list as a reader sees it: one page of rental or purchase rows, what was left out, and one row in full.

Amounts stay as their source states them; a converted one stands beside, with its rate said. It renders no HTML.

Errors: SnapshotBrokenError (the imported prices cannot be read), which is something else than no row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Bilingual, Language
from assistant.listing import LEFT_OUT, Conversion
from assistant.price_conversion import convert_to, converted
from assistant.price_filters import PriceFilter
from assistant.price_words import (
    AGE,
    NOT_STATED,
    PER,
    RENTAL_HEADINGS,
    SLICE,
    STALENESS,
    UNDATED,
    Heading,
    converted_heading,
    pricing_model,
)  # fmt: skip
from knowledge.catalog import Offer, load_catalog
from knowledge.names import display
from knowledge.offers import OfferFilter, OfferOrder, OfferResult, Reason, Staleness, age_days, staleness

ROWS_PER_PAGE = 200
PER_GPU_HOUR = Bilingual(zh="每卡每小时", en="per GPU-hour")


@dataclass(frozen=True)
class Cell:
    """A cell as shown; `mark` says how old the row is, in the cell of its date only."""

    text: str
    mark: Staleness | None = None


@dataclass(frozen=True)
class Row:
    """One row of the table; `id` finds it again."""

    id: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class PriceTable:
    """One page of rows under their headings; `said` are sentences on what was found, left out and converted."""

    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]
    matched: int
    page: int
    pages: int
    said: tuple[str, ...]


def rental_table(wanted: PriceFilter, language: Language, today: date) -> PriceTable:
    """The rental rows of the filter's page, in its order. Raises SnapshotBrokenError."""
    conversion = conversion_of(wanted)
    page = wanted.page
    result = rental_rows(wanted, conversion, ROWS_PER_PAGE, page)
    pages = max(1, -(-result.matched // ROWS_PER_PAGE))
    if page > pages:
        page, result = pages, rental_rows(wanted, conversion, ROWS_PER_PAGE, pages)
    headings = with_converted(RENTAL_HEADINGS, conversion, PER_GPU_HOUR)
    rows = tuple(_row(offer, headings, conversion, language, today) for offer in result.offers)
    said = (
        found_said(result.matched, result.considered, len(rows), page, language),
        _left_out(result, wanted, language),
        _order_said(wanted, result, conversion, language),
        conversion_said(conversion, language),
    )
    return PriceTable(headings, rows, result.matched, page, pages, tuple(sentence for sentence in said if sentence))


def rental_rows(wanted: PriceFilter, conversion: Conversion | None, limit: int | None, page: int = 1) -> OfferResult:
    """The rows themselves; money is compared in the conversion's currency, or within each currency."""
    worth = tuple(conversion.rates.items()) if conversion else ()
    order = OfferOrder(wanted.sort, wanted.descending, worth)
    return load_catalog().offers.query(
        wanted.offer_filter(), limit, offset=(page - 1) * limit if limit else 0, order=order
    )


def conversion_of(wanted: PriceFilter) -> Conversion | None:
    """How the filter wants amounts shown besides; None where it names no currency."""
    if not wanted.shown_in:
        return None
    catalog = load_catalog()
    if wanted.view == "buy":
        return convert_to(wanted.shown_in, sorted({p.currency for p in catalog.purchases}), wanted.rate)
    return convert_to(wanted.shown_in, catalog.offers.currencies(), wanted.rate)


def conversion_said(conversion: Conversion | None, language: Language) -> str:
    """The rate that converted amounts stand on; "" without one."""
    if conversion is None:
        return ""
    if language == "zh":
        return f"≈ {conversion.currency} 一列按{conversion.zh}换算；各行原价不变。"
    return f"The column ≈ {conversion.currency} is converted at {conversion.en}; each row keeps its own price."


def with_converted(
    headings: tuple[Heading, ...], conversion: Conversion | None, what: Bilingual
) -> tuple[Heading, ...]:
    """The headings with one for converted amounts behind the currency."""
    if conversion is None:
        return headings
    place = [heading.key for heading in headings].index("currency") + 1
    return (*headings[:place], converted_heading(conversion.currency, what), *headings[place:])


def card_memory(offer: Offer) -> tuple[Decimal, str] | None:
    """(memory of what is rented of one card, GB or GiB): as the row states it, else of its exact form; None = not known."""
    if offer.gpu_memory_gb is not None:
        return offer.gpu_memory_gb, "GB"
    gpu = load_catalog().gpu(offer.gpu_form) if offer.gpu_form else None
    if gpu is None or gpu.memory is None or gpu.memory.disputed:
        return None
    return gpu.memory.low * offer.gpu_fraction, gpu.memory_unit


def money(amount: Decimal, places: str = "0.0001") -> str:
    """Rounded half up, without trailing zeros; an amount too small for the places keeps its first two digits."""
    rounded = amount.quantize(Decimal(places), rounding=ROUND_HALF_UP)
    return number(rounded or Decimal(f"{amount:.2g}"))


def dated(as_of: str | None, age: int | None, stale: Staleness, language: Language) -> Cell:
    """2026-05-24 · 190 天前 · 偏旧, with its mark."""
    if age is None or not as_of:
        return Cell(UNDATED[language], "undated")
    words = AGE[language].format(days=f"{age:,}")
    tail = "" if stale == "fresh" else f" · {STALENESS[stale][language]}"
    return Cell(f"{as_of} · {words}{tail}", stale)


def source_title(key: str, language: Language, origin: str | None = None, row: int = 0) -> str:
    """The title of a source; of an imported row, its file and line."""
    if origin:
        return f"导入：{origin} 第 {row} 行" if language == "zh" else f"imported: {origin} line {row}"
    source = load_catalog().sources.get(key)
    if source is None:
        return key
    return source.title_zh if language == "zh" else source.title_en


def found_said(matched: int, considered: int, shown: int, page: int, language: Language) -> str:
    """How many rows there are, and which of them are on this page; none is never "no such offer"."""
    first, last = (page - 1) * ROWS_PER_PAGE + 1, (page - 1) * ROWS_PER_PAGE + shown
    some = last < matched or first > 1
    if not matched and language == "zh":
        return "没有符合全部条件的价格行（不等于市场上没有）。"
    if not matched:
        return "No price row meets every filter (the market may still have such an offer)."
    if language == "zh":
        part = f"，这里是第 {first:,}–{last:,} 行" if some else ""
        return f"符合条件 {matched:,} 行，共看了 {considered:,} 行{part}。"
    part = f"; rows {first:,}–{last:,} are shown" if some else ""
    return f"{matched:,} of {considered:,} rows meet the filters{part}."


def left_out_said(counts: Sequence[tuple[Reason, int]], language: Language) -> str:
    """How many rows each filter left out; "" where none was."""
    if not counts:
        return ""
    if language == "zh":
        return f"未列入：{'；'.join(f'{count:,} 行{LEFT_OUT[reason][0]}' for reason, count in counts)}。"
    return f"Left out: {'; '.join(f'{count:,} {LEFT_OUT[reason][1]}' for reason, count in counts)}."


def _row(
    offer: Offer, headings: Sequence[Heading], conversion: Conversion | None, language: Language, today: date
) -> Row:
    cells = _cells(offer, language, today)
    if conversion:
        amount = converted(offer.price_per_gpu_hour, offer.currency, conversion)
        cells["converted"] = Cell("—" if amount is None else money(amount))
    return Row(offer.id, tuple(cells[heading.key] for heading in headings))


def _cells(offer: Offer, language: Language, today: date) -> dict[str, Cell]:
    share = f" · {SLICE[language].format(share=number(offer.gpu_fraction))}" if offer.is_slice else ""
    memory = card_memory(offer)
    texts = {
        "gpu": display("gpu", offer.gpu, language) + share, "provider": display("provider", offer.provider, language),
        "form": offer.gpu_form or NOT_STATED[language],
        "memory": "—" if memory is None else number(memory[0]) + (" GiB" if memory[1] == "GiB" else ""),
        "count": number(Decimal(offer.gpu_count)), "per-gpu-hour": money(offer.price_per_gpu_hour),
        "currency": offer.currency, "price": number(offer.price),
        "per": PER[offer.per][language] if offer.per in PER else offer.per,
        "pricing-model": pricing_model(offer.pricing_model, language), "region": offer.region or NOT_STATED[language],
        "cpu": render.cores(offer, language), "host-memory": "—" if offer.host_memory_gib is None else number(offer.host_memory_gib),
        "source": source_title(offer.source, language, offer.origin, offer.row),
    }  # fmt: skip
    cells = {key: Cell(text) for key, text in texts.items()}
    return cells | {"date": dated(offer.as_of, age_days(offer, today), staleness(offer, today), language)}


def _left_out(result: OfferResult, wanted: PriceFilter, language: Language) -> str:
    if not result.considered:
        return _nothing_considered(wanted, language)
    return left_out_said([(left.reason, left.count) for left in result.left_out], language)


def _nothing_considered(wanted: PriceFilter, language: Language) -> str:
    """Why not one row was looked at: the GPUs have rows, but not at these providers."""
    offers, query = load_catalog().offers, wanted.offer_filter()
    of_gpus = offers.query(OfferFilter(gpus=query.gpus, whole_cards=False), 0).matched if query.gpus else offers.count
    of_providers = (
        offers.query(OfferFilter(providers=query.providers, whole_cards=False), 0).matched
        if query.providers
        else offers.count
    )
    if language == "zh":
        return f"所选 GPU 有 {of_gpus:,} 行，所选云厂商有 {of_providers:,} 行，但没有一行两者都符合。"
    return f"The chosen GPUs have {of_gpus:,} rows and the chosen providers {of_providers:,}, but no row has both."


def _order_said(
    wanted: PriceFilter, result: OfferResult, conversion: Conversion | None, language: Language
) -> str:  # fmt: skip
    several = len({offer.currency for offer in result.offers}) > 1 or result.matched > ROWS_PER_PAGE
    if conversion or wanted.sort not in ("per-gpu-hour", "price") or not several:
        return ""
    if language == "zh":
        return "不同币种的价格不能直接比较：先按币种分开，再在每种之内排序；选“同时换算成”可放在一起比。"
    return (
        "Prices in different currencies do not compare: rows are grouped by currency and sorted within each; "
        'choose "also show in" to compare them together.'
    )
