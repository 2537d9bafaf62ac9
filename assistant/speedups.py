"""Answers about the H100's speed against the A100: a job moved across, and the price below which the faster card pays.

The factors are rows of speedups.csv; times and break-even prices come from calculators.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.aspects import aspects_of
from assistant.calculator.calculation import money, number
from assistant.deadlines import deadline_of
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantities import Quantity
from assistant.reading import HOURS_OF_UNIT, Period
from assistant.understand import Request
from knowledge.catalog import Speedup
from knowledge.names import link as link_names
from knowledge.names import normalise

TASKS = frozenset({"training", "inference"})
SLOWER = re.compile(r"慢|(?<![a-z])slow(?:er)?(?![a-z])", re.I)


def speedup(request: Request, book: Ledger) -> Finding | None:
    """H100 against A100: times of a job moved across, or the price below which the H100 is the cheaper way."""
    s = request.slots
    rows = [r for r in book.catalog.speedups if not set(s.gpus) - {r.faster, r.slower}]
    if not rows or s.unknown:
        return None
    own = aspects_of(normalise(request.question)) & TASKS  # a follow-up about inference leaves the training behind
    aspects = own or aspects_of(request.search_text) | request.aspects
    wanted = [r for r in rows if r.task in aspects] or rows
    mark = book.cite_speedups(wanted)
    head = "  \n".join([*_faster(request, wanted[0], book), *(_factor(r, book) for r in wanted)]) + mark
    prices = "price" in request.aspects or "break_even" in request.aspects
    if prices and (s.providers or "break_even" in request.aspects or s.price_per_hour):
        return book.finding("answered", *_break_even(request, wanted, book), head)
    if any(period.hours != 1 for period in s.periods):
        return book.finding("answered", *_in_time(request, wanted, book), *_moved(request, wanted, book), head)
    return book.finding("answered", head, book.say("数字引自 Tim Dettmers 的选卡指南，是约数，随模型与设置而变。", "The figures are quoted from Tim Dettmers' guide; they are approximate and vary with model and set-up."))  # fmt: skip


def _factor(row: Speedup, book: Ledger) -> str:
    factor = number(row.factor)
    return book.say(f"{row.precision} {'训练' if row.task == 'training' else '推理'}：{row.faster} 比 {row.slower} 快约 **{factor} 倍**",
                    f"{row.precision} {row.task}: the {row.faster} is about **{factor}x** as fast as the {row.slower}")  # fmt: skip


def _faster(request: Request, row: Speedup, book: Ledger) -> list[str]:
    """Which of the two is the faster, said first where the question takes it for the slower one."""
    text = normalise(request.question)
    names = [link.key for link in link_names(text) if link.key in (row.faster, row.slower)]
    if not SLOWER.search(text) or not names:
        return []
    claims_slow = names[0] == row.faster  # "is the H100 slower?", "H100 比 A100 慢"
    return [book.say(f"**{'不对，' if claims_slow else ''}更快的是 {row.faster}，不是 {row.slower}**",
                     f"**{'No: t' if claims_slow else 'T'}he {row.faster} is the faster card, not the {row.slower}**")]  # fmt: skip


def _moved(request: Request, rows: Sequence[Speedup], book: Ledger) -> list[str]:
    """The job's hours on the other card; the card said first is taken as the one it ran on."""
    lines = []
    for row in rows:
        on_faster = _runs_on(request, row) == row.faster
        for period in _jobs(request):
            out = book.compute("faster_card_time", hours=money(period.hours), factor=row.factor).outputs
            hours = number(Decimal(out["hours_on_slower" if on_faster else "hours_on_faster"]))
            here, there = (row.faster, row.slower) if on_faster else (row.slower, row.faster)
            sign, ran = "×" if on_faster else "÷", number(money(period.hours))
            lines.append(book.say(f"**{here} 上 {ran} 小时的{'训练' if row.task == 'training' else '推理'}，在 {there} 上约 {hours} 小时**（{ran} {sign} {number(row.factor)}）",
                                  f"**{ran} hours of {row.task} on an {here} take about {hours} hours on an {there}** ({ran} {sign} {number(row.factor)})"))  # fmt: skip
    return ["  \n".join(lines)]


def _jobs(request: Request) -> list[Period]:
    """The times of the job; a time it is to be done in beside them is none."""
    periods = request.slots.periods
    until = deadline_of(request.search_text) if len(periods) > 1 else None
    jobs = [period for period in periods if until is None or period.hours != _hours(until)]
    return jobs or list(periods)


def _in_time(request: Request, rows: Sequence[Speedup], book: Ledger) -> list[str]:
    """Whether the other card is done by the time said; nothing where none is said beside the time of the job."""
    jobs, until = _jobs(request), deadline_of(request.search_text)
    if until is None or len(jobs) != 1 or len(jobs) == len(request.slots.periods):
        return []
    lines = []
    for row in rows:
        on_faster = _runs_on(request, row) == row.faster
        out = book.compute("faster_card_time", hours=money(jobs[0].hours), factor=row.factor).outputs
        hours = Decimal(out["hours_on_slower" if on_faster else "hours_on_faster"])
        there, shown = row.slower if on_faster else row.faster, number(hours)
        task = book.say("训练" if row.task == "training" else "推理", row.task)
        if hours <= _hours(until):
            lines.append(book.say(f"**能：{task}在 {there} 上约 {shown} 小时，赶得上（{until.text}）**",
                                  f"**Yes: {task} takes about {shown} hours on an {there}, within the time ({until.text})**"))  # fmt: skip
        else:
            lines.append(book.say(f"**不能：{task}在 {there} 上仍要约 {shown} 小时，超过{until.text}**",
                                  f"**No: {task} still takes about {shown} hours on an {there}, more than {until.text}**"))  # fmt: skip
    return ["  \n".join(lines)]


def _hours(time: Quantity) -> Decimal:
    return time.value * HOURS_OF_UNIT[time.unit]


def _runs_on(request: Request, row: Speedup) -> str:
    """The card that the job's time is of: the one said first in the conversation, the slower one where only the other is new."""
    now = request.said
    if request.slots.periods and not now.periods and len(now.gpus) == 1:
        return row.slower if now.gpus[0] == row.faster else row.faster
    for text in (request.question, request.search_text):  # a time said now beside both cards stands alone
        said = [link.key for link in link_names(normalise(text)) if link.key in (row.faster, row.slower)]
        if now.periods and set(said) == {row.faster, row.slower}:
            break
    return said[0] if said else request.slots.gpus[0] if request.slots.gpus else row.slower


def _break_even(request: Request, rows: Sequence[Speedup], book: Ledger) -> list[str]:
    lang, lines = book.language, []
    offers = book.catalog.find_offers([rows[0].slower], request.slots.providers)
    mark = book.cite_offers(offers) if offers else ""
    for row in rows:
        for offer in offers:
            result = book.compute(
                "break_even_price", price_per_hour=offer.price, factor=row.factor, currency=offer.currency
            )
            who, price = (
                render.name("provider", offer.provider, lang),
                render.amount(result.value, offer.currency, lang, "hour"),
            )
            task = row.task if lang == "en" else {"training": "训练", "inference": "推理"}[row.task]
            lines.append(book.say(f"**{task}：{row.faster} 低于 {price} 时比{who} {row.slower} 划算**{mark}  \n",
                                  f"**{task}: below {price} an {row.faster} beats the {row.slower} at {who}** {mark}  \n") + render.formula(result.formula, lang))  # fmt: skip
    return [
        "  \n".join(lines),
        book.say(
            "这是盈亏平衡价，不是 H100 的报价；表里的 H100 租价可以另问。",
            "These are break-even prices, not offers; ask for the H100 rents on file as well.",
        ),
    ]
