"""Answers about when a purchase has paid for itself, from the reader's own price, rent and running cost.

The simple sum (price ÷ what an hour of owning saves); the full comparison over years is made in owning.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import owning, render
from assistant.calculator.calculation import money, number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import Kind, Quantity, currency_named
from assistant.reading import Reading, read
from assistant.rental_terms import rates_for
from assistant.understand import Request

PAYS = re.compile(
    r"回本|回收成本|收回成本|赚回|打平|持平|扯平|盈亏平衡|break.?even|pays? (?:itself |themselves )?(?:back|off)|paid (?:back|off)|pays? for itself|payback|recoup|amorti[sz]|after how (?:many|long)[^?]{0,30}(?:buy|own)|(?:buying|owning) (?:is|gets|becomes) (?:cheaper|better)|(?:多少|几)个?(?:小时|天|个月|年)[^?？]{0,8}(?:划算|合算|便宜)|多久[^?？]{0,6}(?:划算|合算)",
    re.I,
)
PER_KWH = re.compile(r"度|kwh", re.I)
OWN = re.compile(
    r"电费|电钱|用电|电力|运行成本|运营成本|运维|自己的|托管|机房|自用成本|开销|power|electric\w*|running costs?|operating|own(?:ing|ership)? costs?|hosting|upkeep|maintenance",
    re.I,
)
BREAKS = re.compile(r"[,，;；。、]|\.(?=\s|$)|\band\b|\bplus\b", re.I)
HOURLY = re.compile(
    r"^\s*(?:元|块|yuan|cny|dollars?|usd)?\s*(?:/\s*(?:h|hour|hr|小时)|per hour|an hour|a hour|一小时|每小时|hourly)",
    re.I,
)
HOURLY_BEFORE = re.compile(r"(?:每小时|一小时|每个小时)\s*(?:租金?|要|是|为)?\s*$")
MONTHLY = re.compile(r"^\s*(?:/\s*(?:月|month)|per month|a month|一个?月|每月|monthly)", re.I)
MONTHLY_BEFORE = re.compile(r"(?:每个?月|一个?月)[^,，]{0,6}$")
LEAST_PURCHASE = Decimal(500)


@dataclass(frozen=True)
class _Own:
    """What the reader stated, in one currency."""

    purchase: Decimal
    rent: Decimal | None
    own: Decimal
    own_per_month: bool
    currency: str


def payback(request: Request, book: Ledger) -> Finding | None:
    """Hours of use, days and months until the purchase is paid for; None where no price of the reader's own is stated."""
    if not PAYS.search(request.question) or request.slots.unknown or PER_KWH.search(request.question):
        return None
    stated = _stated(request)
    if stated is None and request.slots.price_per_hour:  # the price of the card is a row's
        return owning.buy_or_rent(request, book)
    if stated is None or (stated.rent is None and not (stated.own and request.slots.gpus)):
        return None
    s = request.slots
    if stated.rent is not None:
        return _told(request, [(book.say("你给的租价", "your rent"), stated.rent)], stated, "", book)
    plain = replace(
        request, slots=replace(s, price_per_hour=None, price_currency=None, money=None, money_currency=stated.currency)
    )
    rates = [
        rate for rate in rates_for(plain, book) if rate.currency == stated.currency and rate.gpus_per_instance == 1
    ]
    if not rates:
        return None
    return _told(request, [(rate.label, rate.price) for rate in rates], stated, rates[0].mark, book)


def _stated(request: Request) -> _Own | None:
    """Purchase price, rent and own cost, told apart by the words in their clauses; None where there is no price."""
    found = read(request.question)
    purchase: Quantity | None = None
    rent: Quantity | None = None
    own: Quantity | None = None
    monthly = False
    for q in found.quantities:
        if q.kind not in ("money", "money_per_hour", "bare") or q.value <= 0:
            continue
        per_hour, per_month = _per(q, found)
        if not (per_hour or per_month):
            large = q.value >= LEAST_PURCHASE and q.unit in ("", q.currency or "")
            purchase = max((x for x in (purchase, q if large else None) if x), key=lambda x: x.value, default=None)
        elif OWN.search(_clause(found.text, q)):
            own, monthly = own or q, per_month
        elif per_hour:
            rent = rent or q
    s = request.slots
    purchase = purchase or _earlier("money", s.purchase_price, s.purchase_currency)
    rent = rent or _earlier("money_per_hour", s.price_per_hour, s.price_currency)
    currencies = {q.currency for q in (purchase, rent, own) if q and q.currency}
    if purchase is None or len(currencies) > 1:
        return None
    currency = next(iter(currencies), None) or "CNY"
    return _Own(purchase.value, rent.value if rent else None, own.value if own else Decimal(0), monthly, currency)


def _earlier(kind: Kind, value: Decimal | None, currency: str | None) -> Quantity | None:
    """An amount that was said in an earlier turn."""
    return Quantity(kind, value, "", "", 0, 0, currency=currency_named(currency or "")) if value else None


def _per(q: Quantity, found: Reading) -> tuple[bool, bool]:
    """Whether an amount is one per hour, or one per month."""
    before, after = found.text[max(0, q.start - 8) : q.start], found.text[q.end :]
    hourly = q.kind == "money_per_hour" or bool(HOURLY.match(after) or HOURLY_BEFORE.search(before))
    return hourly, not hourly and bool(
        MONTHLY.match(after) or MONTHLY_BEFORE.search(before) or MONTHLY_BEFORE.match(q.text)
    )


def _clause(text: str, q: Quantity) -> str:
    start = max((m.end() for m in BREAKS.finditer(text, 0, q.start)), default=0)
    end = BREAKS.search(text, q.end)
    return text[start : end.start() if end else len(text)]


def _told(request: Request, rents: Sequence[tuple[str, Decimal]], stated: _Own, mark: str, book: Ledger) -> Finding:
    lang, currency, s = book.language, stated.currency, request.slots
    a_day = s.hours_per_day or Decimal(24)
    rows, heads, formulas = [], [], []
    for label, rent in rents:
        given: dict[str, object] = {
            "purchase": stated.purchase,
            "rent": rent,
            "own": stated.own,
            "hours_per_day": a_day,
            "currency": currency,
        }
        if stated.own_per_month:
            hours = book.compute("period_hours", value=1, unit="month", hours_per_day=a_day).value
            bill = book.compute("rental_cost", hours=hours, price_per_hour=rent, currency=currency)
            given |= {"rent": bill.value, "per": "month"}
        result = book.compute("payback", **given)
        formulas.append(result.formula)
        price = render.amount(rent, currency, lang, "hour")
        if result.outputs["break_even"] == "never":
            heads.append(
                book.say(
                    f"**回不了本**：{label} {price}，不比自己的运行成本贵。",
                    f"**It never pays back**: {label} of {price} is not dearer than your own running cost.",
                )
            )
            rows.append([label, price, "—", "—", "—"])
            continue
        used, days, months = (number(money(Decimal(result.outputs[name]))) for name in ("hours_used", "days", "months"))
        heads.append(book.say(f"**用满约 {used} 小时回本**（{label} {price}）：每天 {number(a_day)} 小时，约 {days} 天，{months} 个月。",
                              f"**It pays back after about {used} hours of use** ({label} of {price}): at {number(a_day)} hours a day about {days} days, {months} months."))  # fmt: skip
        rows.append([label, price, used, days, months])
    bought = render.amount(stated.purchase, currency, lang)
    per = book.say("月", "month") if stated.own_per_month else book.say("小时", "hour")
    own = book.say(f"，自己的运行成本 {render.amount(stated.own, currency, lang)}/{per}", f", running cost of {render.amount(stated.own, currency, lang)}/{per}") if stated.own else ""  # fmt: skip
    basis = book.say(f"按你给的购价 {bought}{own} 计算；未列出的费用（服务器、机房、残值等）没有计入。",
                     f"Reckoned with your price of {bought}{own}; costs that you did not state (server, hosting, resale ...) are left out.")  # fmt: skip
    headings = [
        book.say("租自", "Rent from"),
        book.say("租价", "Rent"),
        book.say("回本（小时）", "Pays back (hours)"),
        book.say("天", "Days"),
        book.say("个月", "Months"),
    ]
    return book.finding("answered", heads[0] + mark + "  \n" + render.formula(_worded(formulas[0], book), lang),
                        render.table(headings, rows) if len(rows) > 1 else "", basis)  # fmt: skip


def _worded(formula: str, book: Ledger) -> str:
    """The formula's few English words in the reader's language."""
    if book.language == "en":
        return re.sub(r"(hour|month)$", r"\1s", formula)
    formula = formula.replace(": renting is never dearer, buying does not pay back", "：租始终不比自用贵，买不回本")
    return (
        re.sub(r" hour$", " 小时", re.sub(r" month$", " 个月", formula))
        .replace("/hour", "/小时")
        .replace("/month", "/月")
    )
