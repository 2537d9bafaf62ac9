"""The cells and sentences of a price board in both languages.

It words amounts that are computed already; which rows are shown, and which is cheapest, is decided in price_board.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from assistant import render
from assistant.board_amounts import HOURS, BoardRow, DatedRate, Per, PerGpu, Rates, steps
from assistant.calculator.calculation import number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Language
from assistant.price_words import pricing_model
from knowledge.offer_store import first_day
from knowledge.offers import HARD_AGE_DAYS

NOTHING = "—"
NO_HOST = [NOTHING, NOTHING]
MONEY_ZH = {"CNY": "人民币"}  # 折算成元 reads badly


@dataclass(frozen=True)
class BoardTable:
    """A table whose rows are all as long as `headings` and have no empty cell; `cheapest` are places in `rows`.

    `said` are sentences for below the table. Without rows it has no headings, and `said` names the way out.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    cheapest: tuple[int, ...]
    said: tuple[str, ...]


@dataclass(frozen=True)
class Bar:
    """One bar of a chart: what one GPU of a row costs per `per` (of a slice: a whole card at its price).

    `label` names provider and terms, `gpu` the card; `as_of` is "" where the row has no date. `said` are the sentences
    on the rate and the hours that the value was worked out with, and on slices.
    """

    label: str
    gpu: str
    value: Decimal
    currency: str
    as_of: str
    cheapest: bool
    per: Per = "hour"
    said: tuple[str, ...] = ()


def bar(price: PerGpu, cheapest: bool, rates: Rates, language: Language) -> Bar:
    """The amount as a bar."""
    said = (
        _converted([price], rates, price.currency, language),
        _periods([price], language),
        _slices([price], language),
    )
    terms = price.row.pricing_model
    label = render.name("provider", price.row.provider, language)
    if terms != "on-demand":
        label += render.say(language, f"（{pricing_model(terms, 'zh')}）", f" ({pricing_model(terms, 'en')})")
    return Bar(
        label,
        _gpu(price.row, language),
        price.shown,
        price.currency,
        price.row.as_of or "",
        cheapest,
        price.per,
        tuple(filter(None, said)),
    )


def cells(
    amounts: Sequence[PerGpu], cheapest: Collection[int], per: Per, language: Language, today: date
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Headings and rows. A column that would say nothing more is left out: price as billed, the host."""
    as_billed, host = any(a.is_computed for a in amounts), any(_host(a.row) != NO_HOST for a in amounts)
    mixed = len({a.currency for a in amounts}) > 1
    headings = [
        render.say(language, "云", "Cloud"),
        "GPU",
        _price_heading("" if mixed else amounts[0].currency, per, language),
    ]
    headings += [render.say(language, "原价（按实例）", "As billed (instance)")] * as_billed
    headings.append(render.say(language, "计费", "Billing"))
    headings += [
        render.say(language, "CPU 核或 vCPU", "CPU cores or vCPU"),
        render.say(language, "主机内存", "Host memory"),
    ] * host
    headings.append(render.say(language, "价格日期", "As of"))
    rows = []
    for place, a in enumerate(amounts):
        row = [render.name("provider", a.row.provider, language), _gpu(a.row, language),
               _price(a, place in cheapest, mixed, language)]  # fmt: skip
        row += [_billed(a.row, language)] * as_billed
        row.append(pricing_model(a.row.pricing_model, language))
        row += _host(a.row) * host
        row.append(_dated(a.row, language, today))
        rows.append(tuple(row))
    return tuple(headings), tuple(rows)


def sentences(
    amounts: Sequence[PerGpu], cheapest: Sequence[int], rates: Rates, currency: str, providers: Collection[str],
    left_out: tuple[int, int], language: Language,
) -> tuple[str, ...]:  # fmt: skip
    """What the table stands on. `left_out` counts the rows of other providers, and the dearer ones of each GPU."""
    others, dearer = left_out
    found = [
        _only(providers, others, language) if providers and others else "",
        render.say(language, f"每家每种 GPU（不分形态）只列最低的一行，略去 {dearer} 行。", f"Only the cheapest row of each provider and GPU, whatever its form, is listed; {_rows(dearer)} left out.") if dearer else "",
        *_exchange(amounts, rates, currency, language),
        _periods(amounts, language),
        *(_formula(amounts[place], rates, language) for place in worked_out(amounts, cheapest)),
        _slices(amounts, language),
        _undated(amounts, language),
    ]  # fmt: skip
    return tuple(sentence for sentence in found if sentence)


def nothing_left(providers: Collection[str], rows: int, language: Language) -> str:
    """Where the filter leaves none of the answer's rows: what it was, and the way out."""
    names = render.joined((render.name("provider", key, language) for key in providers), language)
    return render.say(
        language,
        f"这条回答里的 {rows} 行价格都不是{names}的（不等于市场上没有）。把厂商范围改回“全部”，或者直接问{names}的价格。",
        f"None of the {rows} price rows of this answer is from {names} (the market may still have one). "
        f"Set the providers back to all, or ask for the price at {names}.",
    )


def worked_out(amounts: Sequence[PerGpu], cheapest: Sequence[int]) -> list[int]:
    """The places whose formula is said: of each currency the cheapest computed amount, the marked one before others."""
    first: dict[str, int] = {}
    for place in (*cheapest, *(i for i, a in enumerate(amounts) if a.is_computed)):
        first.setdefault(amounts[place].currency, place)
    return [place for place in sorted(first.values()) if amounts[place].is_computed]


def _price_heading(currency: str, per: Per, language: Language) -> str:
    if currency:
        return render.say(language, f"每卡价格（{render.unit(currency, 'zh')}/{render.period_name(per, 'zh')}）",
                          f"Price per GPU ({currency}/{per})")  # fmt: skip
    return render.say(language, f"每卡每{render.period_name(per, 'zh')}价格", f"Price per GPU-{per}")


def _price(price: PerGpu, cheapest: bool, mixed: bool, language: Language) -> str:
    figure = render.amount(price.shown, price.currency, language) if mixed else number(price.shown)
    return render.say(language, f"✓ {figure}（最低）", f"✓ {figure} (cheapest)") if cheapest else figure


def _gpu(row: BoardRow, language: Language) -> str:
    card = render.name("gpu", row.gpu, language)
    share = number(significant(row.share, 4))
    return card + render.say(language, f"（切片 {share}）", f" (slice {share})") if row.is_slice else card


def _billed(row: BoardRow, language: Language) -> str:
    price = render.amount(row.amount, row.currency, language, row.billed_per)
    if row.gpu_count == 1:
        return price
    return price + render.say(language, f"（{row.gpu_count:,} 张）", f" ({row.gpu_count:,} GPUs)")


def _host(row: BoardRow) -> list[str]:
    """CPU and host memory."""
    memory = row.host_memory_gib
    return [
        NOTHING if row.cpu_cores is None else f"{row.cpu_cores:,}",
        NOTHING if memory is None else f"{number(Decimal(str(memory)))} GiB",
    ]


def _dated(row: BoardRow, language: Language, today: date) -> str:
    day = first_day(row.as_of)
    if not row.as_of or day is None:
        return render.say(language, "未注明日期", "not dated")
    old = (today - day).days > HARD_AGE_DAYS
    return row.as_of + (render.say(language, "（旧）", " (old)") if old else "")


def _only(providers: Collection[str], others: int, language: Language) -> str:
    names = render.joined((render.name("provider", key, language) for key in providers), language)
    return render.say(
        language,
        f"只列{names}，略去其他厂商的 {others} 行。",
        f"Only {names}; {_rows(others, ' of other providers')} left out.",
    )


def _rows(count: int, whose: str = "") -> str:
    return f"{count} row{whose} is" if count == 1 else f"{count} rows{whose} are"


def _exchange(amounts: Sequence[PerGpu], rates: Rates, currency: str, language: Language) -> list[str]:
    """The rates used; what has none; or, where nothing is converted, that currencies stand apart."""
    said = [_converted(amounts, rates, currency, language)]
    if apart := dict.fromkeys(a.currency for a in amounts if currency and a.currency != currency):
        codes = render.joined(apart, language)
        said.append(render.say(language, f"没有 {codes} 与 {currency} 之间的汇率，这些行仍按 {codes} 显示。",
                               f"There is no rate between {codes} and {currency}; those rows stay in {codes}."))  # fmt: skip
    if len({a.currency for a in amounts}) > 1:
        said.append(render.say(language, "不同币种没有互相比较，各自标出最低。",
                               "Currencies are not compared with each other; the cheapest of each is marked."))  # fmt: skip
    return said


def _converted(amounts: Sequence[PerGpu], rates: Rates, currency: str, language: Language) -> str:
    """The rates that amounts were converted at; "" where none was."""
    used = rates_used(amounts, currency)
    if not used:
        return ""
    at, money = (
        rate_words([rates[code] for code in used], language),
        MONEY_ZH.get(currency, render.unit(currency, "zh")),
    )
    return render.say(language, f"按{at}折算成{money}。", f"Converted to {currency} at {at}.")


def rates_used(amounts: Sequence[PerGpu], currency: str) -> list[str]:
    """Codes of the currencies whose rate stands behind an amount; the US dollar has none."""
    sources = {a.row.currency for a in amounts if a.currency != a.row.currency}
    return sorted({currency, *sources} - {"USD"}) if sources else []


def rate_words(rates: Sequence[DatedRate], language: Language) -> str:
    """The rates with their year, or as the reader's own: the 2024 average 1 USD = 7.189 CNY (not today's rate)."""
    parts = []
    for year in dict.fromkeys(rate.as_of for rate in rates):
        same = render.joined((f"1 USD = {number(r.per_usd)} {r.currency}" for r in rates if r.as_of == year), language)
        whose = (f" {year} 年平均汇率 {same}（不是当日汇率）", f"the {year} average {same} (not today's rate)")
        parts.append(render.say(language, *(whose if year else (f"您给的汇率 {same} ", f"your rate {same}"))))
    return render.say(language, "和", " and ").join(parts)


def _periods(amounts: Sequence[PerGpu], language: Language) -> str:
    """How many hours a day and a month count, where an amount was brought from one period to another."""
    used = {unit for a in amounts if a.row.billed_per != a.per for unit in (a.row.billed_per, a.per)}
    zh = [
        f"每{render.period_name(unit, 'zh')}按 {number(hours)} 小时计"
        for unit, hours in HOURS.items()
        if unit in used and unit != "hour"
    ]
    en = [f"a {unit} counts {number(hours)} h" for unit, hours in HOURS.items() if unit in used and unit != "hour"]
    if not zh:
        return ""
    words = "; ".join(en)
    return render.say(
        language, f"{'，'.join(zh)}，按全时租用。", f"{words[0].upper()}{words[1:]}, rented all the time."
    )


def _formula(price: PerGpu, rates: Rates, language: Language) -> str:
    who = f"{render.name('provider', price.row.provider, language)} {_gpu(price.row, language)}"
    worked = steps(price, rates, language)
    return render.say(language, f"算式（{who}）：{worked}", f"Formula ({who}): {worked}")


def _slices(amounts: Sequence[PerGpu], language: Language) -> str:
    if not any(a.row.is_slice for a in amounts):
        return ""
    return render.say(
        language, "切片只租到一张卡的一部分；它的每卡价格是按同价租整卡的折算，不参加最低价比较。",
        "A slice is a part of one card; its price per GPU is what a whole card would cost at that price, and it is never marked cheapest.",
    )  # fmt: skip


def _undated(amounts: Sequence[PerGpu], language: Language) -> str:
    undated = sum(not a.row.as_of for a in amounts)
    if not undated:
        return ""
    return render.say(language, "未注明日期的价格看不出新旧，下单前请核实。", "How old an undated price is cannot be told: check before ordering.")  # fmt: skip
