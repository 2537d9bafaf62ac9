"""Answers about how many cards the rent of a time would buy: "a year's rent buys how many A100s".

Rents are rows of the rental table, the card's price the handout's; both sides are in yuan, and it recommends neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant import price_selection, render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.reading import Period
from assistant.rental_terms import month_note, periods_for, span
from assistant.understand import Request
from knowledge.catalog import Offer

RENT_SAID = re.compile(r"租|(?<![a-z])rent(?:al|ing|s|ed)?(?![a-z])", re.I)
CARDS_BOUGHT = re.compile(
    r"(?:钱|租金|租费|费用|租价)[^?？。;；]{0,16}?买(?:得了|得到|得起|下|到|回)?(?:几|多少)(?:张|块|片)|"
    r"how many [^?.;]{0,40}(?:(?:could|can|would|will|might) (?:i|we|you|that|it|this|the money) (?:\w+ )?(?:buy|get|purchase|pay for)|(?:buy|bought|purchase))|"
    r"(?:buys?|pays? for|purchase) how many",
    re.I,
)


def cards_for_rent(request: Request, book: Ledger) -> Finding | None:
    """What the rent of the time costs and how many cards that buys, whole and left over; None where it is not asked."""
    s, question = request.slots, request.question
    if len(s.gpus) != 1 or s.unknown or s.money or not (RENT_SAID.search(question) and CARDS_BOUGHT.search(question)):
        return None
    periods = [period for period in periods_for(request, book) if period.hours > 1]
    bought = book.catalog.find_purchases(s.gpus)
    offers = price_selection.find(request, book, currency="CNY")
    if not (periods and bought and offers):
        return None
    period, card = max(periods, key=lambda one: one.hours), bought[0]
    lines, rows = [], []
    for offer in offers:
        line, row = _line(request, offer, period, card.price, book)
        lines.append(line)
        rows.append(row)
    marks = book.cite_offers(offers) + book.cite_purchases(bought[:1])
    lines[0] = lines[0].replace("\n", f"{book.say('', ' ')}{marks}  \n", 1)
    return book.finding("answered", lines[0], _table(rows, book), _note(card.gpu, card.price, book), month_note([period], book))  # fmt: skip


def _line(request: Request, offer: Offer, period: Period, price: Decimal, book: Ledger) -> tuple[str, list[str]]:
    """One cloud's rent, the cards it buys, and the row of the table."""
    lang, count, gpu = book.language, request.slots.count or 1, request.slots.gpus[0]
    rent = book.compute("rental_cost", gpus=count, hours=period.hours, price_per_hour=offer.price,
                        currency="CNY", gpus_per_instance=offer.gpu_count)  # fmt: skip
    result = book.compute("purchasable_cards", budget=rent.value, price_per_card=price)
    paid, whole = render.cash(rent.value, "CNY", lang), int(result.value)
    left = render.cash(Decimal(result.outputs["left_over"]), "CNY", lang)
    cloud, what = render.name("provider", offer.provider, lang), render.gpus_text(count, gpu, lang)
    head = book.say(
        f"**{cloud} {what}，{span(period, book)}租金 {paid}，能买 {whole:,} 张 {gpu}**，剩 {left}。",
        f"**{what} at {cloud}, {span(period, book)}: {paid} of rent, which buys {render.cards(whole, 'en')}**, with {left} left over.",
    )  # fmt: skip
    formulas = "  \n".join(render.formula(one, lang) for one in (rent.formula, result.formula))
    return f"{head}\n{formulas}", [cloud, number(offer.price), f"{rent.value:,.2f}", f"{whole:,}"]


def _table(rows: Sequence[Sequence[str]], book: Ledger) -> str:
    if len(rows) < 2:
        return ""
    headings = [book.say("云", "Cloud"), book.say("租价（元/小时）", "Rent (CNY/hour)"), book.say("租金（元）", "Rent of the time (CNY)"),
                book.say("能买（张）", "Cards it buys")]  # fmt: skip
    return render.table(headings, [list(row) for row in rows])


def _note(gpu: str, price: Decimal, book: Ledger) -> str:
    return book.say(
        f"{gpu} 购卡价按 2023 年讲义的每张 {number(price)} 元，只是单卡，不含服务器和电费；两边价格都未注明日期。",
        f"The {gpu} is taken at {number(price)} CNY a card, the handout's price of 2023: the card alone, without server and electricity; neither price is dated.",
    )  # fmt: skip
