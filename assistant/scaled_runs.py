"""Answers about a run whose time on some cards is stated: its time on another number of cards, or the cards for a time.

The speed-up is the reader's (linear where none is said): nothing is estimated of a model, a network or a card.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import price_gaps, render
from assistant.calculator.calculation import Calculation, money, number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import HOURS, Quantity
from assistant.reading import HOURS_OF_UNIT, Reading, read
from assistant.rental_terms import rates_for
from assistant.understand import Request
from knowledge.names import normalise

SCALES = re.compile(
    r"线性|加速比|并行效率|扩展效率|按比例|(?<![a-z])linear|scal(?:e|es|ed|ing)\b|speed-?up|in proportion|efficien",
    re.I,
)
# A run that takes a time, said of a job and not of a rental.
TAKES = re.compile(
    r"跑了|跑完|训完|训练完|要跑|要训|需要|耗时|用时|单卡要|卡要|卡跑|要\s*[\d一二两三四五六七八九十半]|上要|得跑|花了|用了|(?<![a-z])(?:takes?|took|needs?|finish\w*|ran\b|runs? (?:for|in)|done in|lasts?)"
)
CHANGES = re.compile(
    r"改成|改用|上\s*[\d两三四五六七八九十]+\s*[张块卡]|改为|换成|换为|换用|变成|加到|增加到|扩到|扩成|减到|减成|一起跑|并行|如果用|要是用|用上|instead|what (?:if|about)|if (?:i|we)\b|(?:with|on|using|across|over) (?:only )?\d|how long|要多久|得多久|多长时间|[要得]几天|几天|几(?:个)?小时|多少(?:天|小时|个小时)",
    re.I,
)
HOW_MANY = re.compile(
    r"几[张块个片台]|多少[张块个片台]|几卡|多少卡|how many|(?:cards?|gpus?) (?:do|would|will) (?:i|we) need", re.I
)
RENTED = re.compile(r"租|预算|(?<![a-z])(?:rent|budget|lease)", re.I)
COSTS = re.compile(r"费用|多少钱|花多少|成本|总价|价格|几块钱|(?<![a-z])(?:costs?|price|bill|pay|spend)", re.I)
PER = re.compile(r"^(?:per|每|/)", re.I)
LED = re.compile(r"(?:with|on|to|use|using|across|over|have|had|only|用|成|到|上)\s*$", re.I)
SPEED_UP = re.compile(r"(?:加速比|speed-?up)\s*(?:of|is|是|为|=|:)?\s*(\d+(?:\.\d+)?)", re.I)
BREAKS = re.compile(r"[,，;；。?？]|\.(?=\s|$)")
BREAK_COSTS = 25  # letters that a comma counts for when the count nearest to a time is sought
MOST_CARDS = 100_000
TWO_DAYS = 48  # hours; shorter times are read more easily in hours


@dataclass(frozen=True)
class _Run:
    """What was stated: hours on some cards, and the efficiency of the speed-up."""

    hours: Decimal
    gpus: int
    efficiency: Decimal
    text: str


def scaled_run(request: Request, book: Ledger) -> Finding | None:
    """The stated run on another number of cards, or the cards that do it in the stated time; None where neither is asked."""
    if request.slots.unknown or request.slots.workload.training_tokens:
        return None
    found = read(_said(request))
    if not _is_stated(found.text):
        return None
    times, counts = _times(found), _counts(found)
    efficiency = _efficiency(found)
    if len(times) == 2 and HOW_MANY.search(found.text):
        return _cards_for(request, times, counts, efficiency, book, found)
    if len(times) != 1 or not counts or HOW_MANY.search(request.question):
        return None
    stated, other = _apart(times[0], counts, found.text)
    if other is None or other == stated:
        return None
    if factor := _speed_up(found):
        efficiency = factor * stated / other
    if not 0 < efficiency <= 1:
        return None
    run = _Run(_hours(times[0]), stated, efficiency, times[0].text)
    return _on_other(request, run, other, book)


def _said(request: Request) -> str:
    """The question; with the turns before it, set apart, where it carries their run on."""
    question, whole = normalise(request.question), request.search_text
    if not (SCALES.search(question) or HOW_MANY.search(question)) or not whole.endswith(question):
        return question
    return f"{whole.removesuffix(question).rstrip()}; {question}".lstrip("; ")


def _is_stated(text: str) -> bool:
    """Whether a run's time is stated that is to be carried over; a rental for a time is none."""
    if SCALES.search(text):
        return True
    return bool(TAKES.search(text) and (CHANGES.search(text) or HOW_MANY.search(text)) and not RENTED.search(text))


def _times(found: Reading) -> list[Quantity]:
    return [
        q for q in found.quantities
        if q.kind == "duration" and q.value > 0 and q.unit in HOURS_OF_UNIT and q.unit != "gpu-hour" and not (q.rate and (PER.match(q.text) or q.unit == "hour"))
        and q.hours != 0 and not q.text.startswith("/")
    ]  # fmt: skip


def _hours(time: Quantity) -> Decimal:
    return time.value * (HOURS.get(time.unit) or HOURS_OF_UNIT[time.unit])


def _counts(found: Reading) -> list[Quantity]:
    """Numbers of cards in the order said; after "with", "on" or 改成 also a bare number."""
    return [
        q for q in found.quantities
        if q.value == int(q.value) and 1 <= q.value <= MOST_CARDS and not q.delta
        and (q.kind == "count" or (q.kind == "bare" and q.unit == "" and LED.search(found.text[: q.start])))
    ]  # fmt: skip


def _apart(time: Quantity, counts: Sequence[Quantity], text: str) -> tuple[int, int | None]:
    """The number of cards that the time is of (the nearest; one where none is in its clause), and the other one."""

    def away(count: Quantity) -> int:
        between = text[min(count.end, time.end) : max(count.start, time.start)]
        return len(between) + BREAK_COSTS * len(BREAKS.findall(between))

    nearest = min(counts, key=away)
    others = [int(q.value) for q in counts if q is not nearest]
    if not others:
        return (1, int(nearest.value)) if away(nearest) >= BREAK_COSTS else (int(nearest.value), None)
    return int(nearest.value), others[-1]


def _efficiency(found: Reading) -> Decimal:
    share = next((q.value for q in found.quantities if q.kind == "percent" and 0 < q.value <= 100), None)
    return share / 100 if share else Decimal(1)


def _speed_up(found: Reading) -> Decimal | None:
    """The speed-up said: 1.8 times, 加速比 1.8."""
    said = SPEED_UP.search(found.text)
    return Decimal(said[1]) if said else next((q.value for q in found.quantities if q.kind == "factor"), None)


def _cards_for(
    request: Request,
    times: Sequence[Quantity],
    counts: Sequence[Quantity],
    efficiency: Decimal,
    book: Ledger,
    found: Reading,
) -> Finding | None:
    """The cards that bring the longer of the two times down to the shorter."""
    long, short = sorted(times, key=_hours, reverse=True)
    if _hours(long) == _hours(short):
        return None
    gpus = _apart(long, counts, found.text)[0] if counts else 1
    result = book.compute(
        "cards_for_time", hours=_hours(long), gpus=gpus, wanted_hours=_hours(short), efficiency=efficiency
    )
    cards, hours = int(result.outputs["cards"]), Decimal(result.outputs["hours"])
    head = book.say(
        f"**要 {cards:,} 张卡**：{gpus:,} 张要 {_long_time(_hours(long), book)}，{cards:,} 张要 {_long_time(hours, book)}。",
        f"**{render.cards(cards, 'en')} are needed**: {gpus:,} {_take(gpus)} {_long_time(_hours(long), book)}, {cards:,} {_take(cards)} {_long_time(hours, book)}.")  # fmt: skip
    return _told(request, head, result, cards, hours, efficiency, book)


def _on_other(request: Request, run: _Run, other: int, book: Ledger) -> Finding:
    result = book.compute("scaled_run", hours=run.hours, gpus=run.gpus, other_gpus=other, efficiency=run.efficiency)
    hours = Decimal(result.outputs["hours"])
    head = book.say(
        f"**{other:,} 张卡约 {_long_time(hours, book)}**（{run.gpus:,} 张要 {_long_time(run.hours, book)}）。",
        f"**On {render.cards(other, 'en')}: about {_long_time(hours, book)}** ({run.gpus:,} {_take(run.gpus)} {_long_time(run.hours, book)}).")  # fmt: skip
    return _told(request, head, result, other, hours, run.efficiency, book)


def _take(cards: int) -> str:
    return "takes" if cards == 1 else "take"


def _long_time(hours: Decimal, book: Ledger) -> str:
    """10 小时; 2.5 天（60 小时）."""
    shown = number(money(hours))
    if hours < TWO_DAYS:
        return book.say(f"{shown} 小时", f"{shown} hours")
    days = number(money(hours / 24))
    return book.say(f"{days} 天（{shown} 小时）", f"{days} days ({shown} hours)")


def _told(
    request: Request, head: str, result: Calculation, cards: int, hours: Decimal, efficiency: Decimal, book: Ledger
) -> Finding:
    share = number(efficiency * 100)
    taken = book.say("按线性加速算；实际受通信和数据读取限制，卡越多效率越低。", "Reckoned with linear speed-up; communication and data loading keep real runs below it, the more the more cards there are.") \
        if efficiency == 1 else book.say(f"按 {share} % 的并行效率算。", f"Reckoned with {share} % of the linear speed-up.")  # fmt: skip
    return book.finding(
        "answered",
        head + "  \n" + render.formula(result.formula, book.language),
        _bill(request, cards, hours, book),
        taken,
    )


def _bill(request: Request, cards: int, hours: Decimal, book: Ledger) -> str:
    """What those cards cost for that time, where money is asked for and a card or a price is named."""
    s = request.slots
    if not COSTS.search(request.question) or not (s.gpus or s.price_per_hour):
        return ""
    asked = replace(request, slots=replace(s, count=cards))
    rates = rates_for(asked, book)
    rates = [rate for rate in rates if rate.currency == rates[0].currency]
    if not rates:
        return price_gaps.missing(request, book).markdown
    lines = []
    for rate in rates:
        bill = book.compute("rental_cost", gpus=cards, hours=hours, price_per_hour=rate.price, currency=rate.currency, gpus_per_instance=rate.gpus_per_instance)  # fmt: skip
        total, what = (
            render.cash(bill.value, rate.currency, book.language),
            render.gpus_text(cards, rate.gpu, book.language),
        )
        lines.append(book.say(f"**{rate.label} {what}，{_long_time(hours, book)}：{total}**{rate.mark}（{render.formula(bill.formula, 'zh')}）",
                              f"**{what} at {rate.label}, {_long_time(hours, book)}: {total}** {rate.mark} ({render.formula(bill.formula, 'en')})"))  # fmt: skip
    return "  \n".join(lines)
