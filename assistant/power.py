"""Answers about electricity: machines x power (of the card's row, or as stated) x load x PUE x hours x price of a kWh."""

from __future__ import annotations

import re
from decimal import Decimal

from assistant import render, working_hours
from assistant.calculator.calculation import number
from assistant.calculator.ownership_defaults import electricity_price, electricity_taken
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.quantity import Quantity
from assistant.reading import read
from assistant.shape_rows import gpu_spec
from assistant.understand import Request

HOURS_A_YEAR = Decimal(8760)
FORMS_SHOWN = 4
BILLED = re.compile(
    r"电费|电钱|电价|耗电|用电|多少度|[一每]度|(?<![a-z])(?:electric\w*|kwh|power (?:bill|costs?))", re.I
)
WATTS = {"watt": Decimal(1), "W": Decimal(1), "kilowatt": Decimal(1000), "kW": Decimal(1000)}
IN_ALL = re.compile(
    r"一共|总共|总功率|总计|合计|整机|整套|整柜|(?<![a-z])(?:in total|total|altogether|combined|in all)", re.I
)
PUE_SAID = re.compile(r"pue\s*(?:值|of|is|=|:|：|是|为|按)?\s*(\d(?:\.\d+)?)", re.I)


def stated_power(request: Request, book: Ledger) -> Finding | None:
    """What the power that the reader states costs over the time; None where no watts or no bill is spoken of.

    The plain figure is that at the socket; what a machine room adds stands beside it.
    """
    text = read(request.question).text
    watts = [q for q in read(request.question).quantities if q.kind == "bare" and q.unit in WATTS and q.value > 0]
    if len(watts) != 1 or not BILLED.search(text) or request.aspects & {"buy", "rent", "spec"}:
        return None
    machines = 1 if IN_ALL.search(text) else request.slots.count or 1
    hours, timed = _hours(request, book)
    given: dict[str, object] = {
        "gpus": machines, "hours": hours, "gpu_watts": watts[0].value * WATTS[watts[0].unit], "currency": _currency(request, book),
        "price_per_kwh": electricity_price(_currency(request, book), request.slots.workload.electricity_price),
        "load": request.slots.workload.utilisation or Decimal(1),
    }  # fmt: skip
    return _stated(request, given, watts[0], timed, book)


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
    longest = max((period.hours for period in s.periods), default=HOURS_A_YEAR)
    if exact := [period.hours for period in s.periods if period.unit in ("day", "week")]:
        longest = exact[0]  # "a month (30 days)" is 30 days
    return longest * ((s.hours_per_day or Decimal(24)) / 24 if longest >= 24 else 1), bool(s.periods)


def power(request: Request, book: Ledger) -> Finding | None:
    """What the cards' electricity costs over the time, for each form whose rated power is known; None without a form."""
    s, work = request.slots, request.slots.workload
    if not s.gpus or s.unknown:
        return None
    if stated := stated_power(request, book):
        return stated
    meant = [form for name in s.forms if (form := book.catalog.gpu(name))] or book.catalog.gpus_of(s.gpus[0])
    watts = [(gpu, spec.tdp_w) for gpu in meant if (spec := gpu_spec(gpu)) and spec.tdp_w]
    forms = list({tdp: (gpu, tdp) for gpu, tdp in reversed(watts)}.values())[::-1][:FORMS_SHOWN]
    if not forms:
        return None
    currency = _currency(request, book)
    hours, timed = _hours(request, book)
    given: dict[str, object] = {
        "gpus": s.count or 1, "hours": hours, "currency": currency,
        "price_per_kwh": electricity_price(currency, work.electricity_price),
        **({"load": work.utilisation} if work.utilisation else {}),
    }  # fmt: skip
    results = [(gpu, tdp, book.compute("energy", **given, gpu_watts=tdp)) for gpu, tdp in forms]
    gpu, _, first = results[0]
    marks = "".join(book.cite_gpu(gpu) for gpu, _, _ in results)
    what = render.gpus_text(s.count or 1, gpu.name, book.language)
    cost = render.cash(Decimal(first.outputs["cost"]), currency, book.language)
    kwh = f"{Decimal(first.outputs['kwh']):,.2f}"
    head = book.say(
        f"**{what} 的电费：{cost}**（{kwh} 度）。{marks}", f"**Electricity of {what}: {cost}** ({kwh} kWh). {marks}"
    )
    rows = [[g.name, f"{tdp:,.0f}", f"{Decimal(r.outputs['kwh']):,.2f}", render.cash(Decimal(r.outputs["cost"]), currency, book.language)]
            for g, tdp, r in results]  # fmt: skip
    headings = [
        book.say("型号", "Form"),
        book.say("标称功率（W）", "Rated power (W)"),
        book.say("度（kWh）", "kWh"),
        book.say("电费", "Cost"),
    ]
    lines = working_hours.told(request, book) + [a.text[book.language] for a in first.assumptions]
    if not work.electricity_price:
        lines.append(electricity_taken(currency).text[book.language])
    if not timed:
        lines.append(book.say("没说用多久，按一年", "the time is not said: one year"))
    lines.append(book.say("只算 GPU，不含 CPU、风扇等主机功率", "the GPUs only: the power of the host is left out"))
    table = render.table(headings, rows) if len(rows) > 1 else ""
    return book.finding("answered", head, table, render.formula(first.formula, book.language), render.bullets(lines))
