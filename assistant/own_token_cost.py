"""What a million tokens cost at the reader's own price and speed: "1,200 tokens/s at $3 an hour".

Arithmetic on the reader's figures; what a card would give is the matter of serving.py. A speed for each user is a
target, no throughput, and is left alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.rental_terms import in_hours
from assistant.understand import Request

# One million, or every million: "50 million tokens" is an amount of its own.
MILLION = re.compile(
    r"(?:(?<![\d一二三四五六七八九十几.,])|(?<![\d.,一二三四五六七八九十几])1\s*)(?:百万|100\s*万|一百万)\s*个?\s*(?:(?:输出|输入|output|input)\s*)?(?:tokens?|toks?|词元)|"
    r"(?:(?<![a-z0-9])(?:a|an|one|per|each|every|1|/)\s*)+\s*m(?:illion)?\s*(?:(?:output|input|generated)\s*)?(?:tokens?|toks?)|1m\s*(?:tokens?|toks?)|百万\s*(?:tokens?|词元)",
    re.I,
)
PER_USER = re.compile(r"每人|每个?用户|每路|per user|each user|for each|per request|a user", re.I)
# Whose price and whose speed: of all cards together, of one card.
WHOLE_PRICE = re.compile(r"整机|整台|整套|一共|总共|合计|每台|机器|实例|节点|in total|altogether|for (?:all|the (?:node|machine|server|instance|box))|per (?:node|machine|server|instance)|(?:node|machine|server|instance|box|rig) (?:costs?|at)", re.I)  # fmt: skip
CARD_SPEED = re.compile(r"(?:单卡|每卡|每张卡?|一张卡?)\D{0,6}每秒|(?:tokens?|tok)\s*(?:/|per|a)\s*s(?:ec(?:ond)?)?\s*(?:/|per|on each|for each|每)\s*(?:gpu|card|卡)|per[- ](?:gpu|card) (?:throughput|speed)|each (?:gpu|card) (?:does|gives|makes|reaches)", re.I)  # fmt: skip
BILLED = ("day", "week", "month", "quarter", "year")


def token_cost(request: Request, book: Ledger) -> Finding | None:
    """The cost of a million tokens where it is asked for beside a price and a speed of the reader's; None elsewhere."""
    if not MILLION.search(request.question):
        return None
    return cost_of_rate(_hourly(request, book), book)


def _hourly(request: Request, book: Ledger) -> Request:
    """The request with the price of an hour where one of a day, a month or a year is said, as that of all cards together."""
    s = request.slots
    billed = [period for period in s.periods if period.unit in BILLED]
    if s.price_per_hour or not s.money or len(billed) != 1 or not s.workload.slo_tokens_per_s:
        return request
    currency = s.money_currency or ("CNY" if book.language == "zh" else "USD")
    hours = in_hours(billed[0], s.hours_per_day or Decimal(24), book).hours
    result = book.compute("price_per_gpu_hour", total_cost=s.money, gpus=1, hours=hours, currency=currency)
    slots = replace(s, price_per_hour=result.value, price_currency=currency, count=None)
    return replace(request, slots=slots)


def cost_of_rate(request: Request, book: Ledger) -> Finding | None:
    """A price per hour and a speed are enough for the cost of tokens; None where one is missing or is one user's."""
    s, work = request.slots, request.slots.workload
    users = work.concurrency or 1
    if not (s.price_per_hour and work.slo_tokens_per_s) or users > 1 or PER_USER.search(request.question):
        return None
    of_card, whole = CARD_SPEED.search(request.question), WHOLE_PRICE.search(request.question)
    cards = 1 if of_card or whole else s.count or 1
    currency = s.price_currency or ("CNY" if book.language == "zh" else "USD")
    result = book.compute(
        "cost_per_million_tokens", price_per_hour=s.price_per_hour * cards, tokens_per_second=work.slo_tokens_per_s,
        currency=currency, **({"utilization": work.utilisation} if work.utilisation else {}),
    )  # fmt: skip
    cost = render.amount(result.value, currency, book.language)
    head = book.say(f"**每百万输出 token 约 {cost}**", f"**About {cost} per million output tokens**")
    formulas = [call.formula for call in book.calls if call.tool in ("price_per_gpu_hour", "cost_per_million_tokens")]
    shown = "  \n".join(render.formula(_worded(formula, book), book.language) for formula in formulas if formula)
    return book.finding("answered", head, _of_all(request, cards, currency, book), shown, _busy(request, book))


def _worded(formula: str, book: Ledger) -> str:
    """A formula without the cards that a price of the whole machine is not divided by, in the reader's words."""
    plain = formula.replace("(1 × ", "(").replace("/GPU-h", "/h")
    return plain if book.language == "en" else plain.replace(" per million output tokens", "/百万输出 token")


def _of_all(request: Request, cards: int, currency: str, book: Ledger) -> str:
    """That a price said of one card was taken for each of them; "" for one card."""
    price = request.slots.price_per_hour
    if cards == 1 or price is None:
        return ""
    bill = book.compute("rental_cost", gpus=cards, hours=1, price_per_hour=price, currency=currency)
    return book.say(f"价格按每卡算：{cards} 张每小时 {render.amount(bill.value, currency, 'zh')}；速度是 {cards} 张合计。",
                    f"The price is of one card: {cards} cards cost {render.amount(bill.value, currency, 'en')} an hour; the speed is of all {cards} together.")  # fmt: skip


def _busy(request: Request, book: Ledger) -> str:
    """How much of the time the machine works, said or taken."""
    if share := request.slots.workload.utilisation:
        return book.say(
            f"按 {number(share * 100)} % 的时间在干活算，其余时间照样付费。",
            f"For a machine that works {number(share * 100)} % of the time; the rest is paid for too.",
        )
    return book.say(
        "按机器一直满载算；空闲时间照样付费，利用率减半，成本翻倍。",
        "For a machine that is always busy: idle time is paid for too, and half the utilisation is twice the cost.",
    )
