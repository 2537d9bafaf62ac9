"""Answers about electricity: machines x power (of the card's row, or as stated) x load x PUE x hours x price of a kWh."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import render, working_hours
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.ownership_defaults import electricity_price, electricity_taken
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import Quantity
from assistant.reading import read
from assistant.rental_terms import in_hours
from assistant.shape_rows import gpu_spec
from assistant.understand import Request
from knowledge.hardware import Gpu

HOURS_A_YEAR = Decimal(8760)
FORMS_SHOWN = 4
BILLED = re.compile(
    r"电费|电钱|电价|耗电|用电|多少度|[一每]度|(?<![a-z])(?:electric\w*|kwh|power (?:bill|costs?))", re.I
)
WATTS = {"watt": Decimal(1), "W": Decimal(1), "kilowatt": Decimal(1000), "kW": Decimal(1000)}
APART = re.compile(r"\s+(k)?w(?![a-z0-9/])", re.I)
IN_ALL = re.compile(
    r"一共|总共|总功率|总计|合计|整机|整套|整柜|(?<![a-z])(?:in total|total|altogether|combined|in all)", re.I
)
ENERGY_ASKED = re.compile(
    r"多少(?:度|千瓦时|电(?![费价钱]))|[几]度电|(?:用|耗)电量|度电是?多少|how (?:many|much) (?:k(?:wh|ilowatt)|mwh|units? of (?:power|electricity)|electricity|energy|power)|"
    r"(?:energy|electricity|power) (?:use|usage|consumption|consumed)|(?<![a-z])kwh (?:do|does|will|would|is|are)",
    re.I,
)
PUE_SAID = re.compile(r"pue\s*(?:值|of|is|=|:|：|是|为|按)?\s*(\d(?:\.\d+)?)", re.I)


@dataclass(frozen=True)
class _Bill:
    """One form of the card: its rated watts, what it draws at the socket, and in a machine room where no PUE is said."""

    gpu: Gpu
    watts: Decimal
    currency: str
    plain: Calculation
    room: Calculation | None


def stated_power(request: Request, book: Ledger) -> Finding | None:
    """What the power that the reader states costs over the time; None where no watts or no bill is spoken of.

    The plain figure is that at the socket; what a machine room adds stands beside it.
    """
    text = read(request.question).text
    watts = _watts_said(request.question)
    if len(watts) != 1 or not BILLED.search(text) or request.aspects & {"rent", "payback"}:
        return None
    if request.aspects & {"buy", "spec"} and not request.slots.workload.electricity_price:  # 功率 is asked, or stated
        return None
    machines = 1 if IN_ALL.search(text) else request.slots.count or 1
    hours, timed = _hours(request, book)
    given: dict[str, object] = {
        "gpus": machines, "hours": hours, "gpu_watts": watts[0].value * WATTS[watts[0].unit], "currency": _currency(request, book),
        "price_per_kwh": electricity_price(_currency(request, book), request.slots.workload.electricity_price),
        "load": request.slots.workload.utilisation or Decimal(1),
    }  # fmt: skip
    return _stated(request, given, watts[0], timed, book)


def _watts_said(question: str) -> list[Quantity]:
    """The powers that the question states; a W apart from its number (600 W, 1.2 kW) is a unit too."""
    found, powers = read(question), list[Quantity]()
    for q in found.quantities:
        apart = APART.match(found.text, q.end) if q.kind == "bare" and not q.unit else None
        unit = ("kW" if apart[1] else "W") if apart else q.unit
        if q.kind == "bare" and unit in WATTS and q.value > 0:
            powers.append(replace(q, unit=unit, text=found.text[q.start : apart.end()]) if apart else q)
    return powers


def _stated(request: Request, given: dict[str, object], watts: Quantity, timed: bool, book: Ledger) -> Finding:
    currency, lang = str(given["currency"]), book.language
    said = PUE_SAID.search(request.question)
    first = book.compute("energy", **given, pue=Decimal(said[1]) if said else Decimal(1))
    cost, kwh = render.cash(Decimal(first.outputs["cost"]), currency, lang), f"{Decimal(first.outputs['kwh']):,.2f}"
    machines = f"{given['gpus']:,} × " if given["gpus"] != 1 else ""
    head = book.say(f"**电费：{cost}**（{machines}{watts.text}，{number(Decimal(str(given['hours'])))} 小时，{kwh} 度）。",
                    f"**Electricity: {cost}** ({machines}{watts.text}, {number(Decimal(str(given['hours'])))} hours, {kwh} kWh).")  # fmt: skip
    lines = working_hours.told(request, book)
    if not said:
        room = book.compute("energy", **given)
        dearer = render.cash(Decimal(room.outputs["cost"]), currency, lang)
        lines.append(book.say(f"按插座处的用电计；放在机房要再乘 PUE，为 {dearer}", f"this is what the socket gives; in a machine room the PUE comes on top: {dearer}"))  # fmt: skip
        lines += [a.text[lang] for a in room.assumptions]
    if not request.slots.workload.electricity_price:
        lines.append(electricity_taken(currency).text[lang])
    if not timed:
        lines.append(book.say("没说用多久，按一年", "the time is not said: one year"))
    return book.finding("answered", head, render.formula(first.formula, lang), render.bullets(lines))


def _currency(request: Request, book: Ledger) -> str:
    return request.slots.workload.electricity_currency or ("CNY" if book.language == "zh" else "USD")


def _hours(request: Request, book: Ledger) -> tuple[Decimal, bool]:
    """The hours of use, a year where no time is said, and whether one is."""
    s = request.slots
    if worked := working_hours.working_time(request):
        return worked.compute(book).value, True
    per_day = s.hours_per_day or Decimal(24)
    if not s.periods:
        return HOURS_A_YEAR * per_day / 24, False
    exact = [period for period in s.periods if period.unit in ("day", "week")]  # "a month (30 days)" is 30 days
    return in_hours(exact[0] if exact else max(s.periods, key=lambda period: period.hours), per_day, book).hours, True


def power(request: Request, book: Ledger) -> Finding | None:
    """What the cards draw and cost over the time, for each form whose rated power is known; None without a form.

    Without a PUE of the reader's the plain figure is that of the cards; what a machine room adds stands beside it.
    """
    s = request.slots
    if not s.gpus or s.unknown:
        return None
    if stated := stated_power(request, book):
        return stated
    meant = [form for name in s.forms if (form := book.catalog.gpu(name))] or book.catalog.gpus_of(s.gpus[0])
    watts = [(gpu, spec.tdp_w) for gpu in meant if (spec := gpu_spec(gpu)) and spec.tdp_w]
    forms = list({tdp: (gpu, tdp) for gpu, tdp in reversed(watts)}.values())[::-1][:FORMS_SHOWN]
    if not forms:
        return None
    hours, timed = _hours(request, book)
    bills = [_bill(request, gpu, tdp, hours, book) for gpu, tdp in forms]
    parts = [_head(request, bills, hours, book), _table(bills, book) if len(bills) > 1 else ""]
    return book.finding(
        "answered", *parts, _formulas(bills[0], book), render.bullets(_remarks(request, bills, timed, book))
    )


def _bill(request: Request, gpu: Gpu, watts: Decimal, hours: Decimal, book: Ledger) -> _Bill:
    s, work, said = request.slots, request.slots.workload, PUE_SAID.search(request.question)
    currency = _currency(request, book)
    given: dict[str, object] = {
        "gpus": s.count or 1, "hours": hours, "currency": currency, "gpu_watts": watts,
        "price_per_kwh": electricity_price(currency, work.electricity_price),
        **({"load": work.utilisation} if work.utilisation else {}),
    }  # fmt: skip
    plain = book.compute("energy", **given, pue=Decimal(said[1]) if said else Decimal(1))
    return _Bill(gpu, watts, currency, plain, None if said else book.compute("energy", **given))


def _head(request: Request, bills: Sequence[_Bill], hours: Decimal, book: Ledger) -> str:
    """Energy first where energy is asked, else the bill; and both again as a machine room pays them."""
    bill, lang = bills[0], book.language
    marks = "".join(dict.fromkeys(book.cite_gpu(other.gpu) for other in bills))
    what, time = render.gpus_text(request.slots.count or 1, bill.gpu.name, lang), number(hours)
    energy = book.say(f"{_kwh(bill.plain)} 度", f"{_kwh(bill.plain)} kWh")
    cost = _cost(bill.plain, bill.currency, book)
    if ENERGY_ASKED.search(request.question):
        head = book.say(f"**{what}，{time} 小时用电：{energy}**，电费 {cost}{marks}",
                        f"**Energy of {what} in {time} hours: {energy}**, which costs {cost} {marks}")  # fmt: skip
    else:
        head = book.say(f"**{what} 的电费：{cost}**（{time} 小时，{energy}）{marks}",
                        f"**Electricity of {what}: {cost}** ({time} hours, {energy}) {marks}")  # fmt: skip
    if bill.room is None:
        return head
    room = _cost(bill.room, bill.currency, book)
    return head + "  \n" + book.say(f"放在机房要再乘 PUE：{_kwh(bill.room)} 度，{room}。",
                                    f"In a machine room the PUE comes on top: {_kwh(bill.room)} kWh, {room}.")  # fmt: skip


def _table(bills: Sequence[_Bill], book: Ledger) -> str:
    """One line for each form: what it draws, and what that costs at the socket and in a machine room."""
    headings = [book.say("型号", "Form"), book.say("标称功率（W）", "Rated power (W)"), book.say("度（kWh）", "kWh"), book.say("电费", "Cost"),
                *([book.say("机房里（度）", "In a machine room (kWh)"), book.say("机房里的电费", "Cost in a machine room")] if bills[0].room else [])]  # fmt: skip
    rows = []
    for bill in bills:
        cells = [
            cell for one in (bill.plain, bill.room) if one for cell in (_kwh(one), _cost(one, bill.currency, book))
        ]
        rows.append([bill.gpu.name, f"{bill.watts:,.0f}", *cells])
    return render.table(headings, rows)


def _formulas(bill: _Bill, book: Ledger) -> str:
    return "  \n".join(render.formula(one.formula, book.language) for one in (bill.plain, bill.room) if one)


def _remarks(request: Request, bills: Sequence[_Bill], timed: bool, book: Ledger) -> list[str]:
    months = [text for call in book.calls if call.tool == "period_hours" for text in call.assumptions]
    taken = [assumption.text[book.language] for assumption in (bills[0].room or bills[0].plain).assumptions]
    lines = [*working_hours.told(request, book), *months, *taken]
    if len(bills) > 1:
        lines.append(
            book.say(
                "问题没说是哪种形态，功率不同的都列出",
                "the question does not say which form: those of different power are listed",
            )
        )
    if not request.slots.workload.electricity_price:
        lines.append(electricity_taken(bills[0].currency).text[book.language])
    if not timed:
        lines.append(book.say("没说用多久，按一年", "the time is not said: one year"))
    return [*lines, book.say("只算 GPU，不含 CPU、风扇等主机功率", "the GPUs only: the power of the host is left out")]


def _kwh(result: Calculation) -> str:
    return f"{Decimal(result.outputs['kwh']):,.2f}"


def _cost(result: Calculation, currency: str, book: Ledger) -> str:
    return render.cash(Decimal(result.outputs["cost"]), currency, book.language)
