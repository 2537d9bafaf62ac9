"""Answers about the electricity of cards: GPUs x rated power x load x PUE x hours x price of a kWh."""

from __future__ import annotations

from decimal import Decimal

from assistant import render, working_hours
from assistant.calculator.ownership_defaults import electricity_price, electricity_taken
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.shape_rows import gpu_spec
from assistant.understand import Request

HOURS_A_YEAR = Decimal(8760)
FORMS_SHOWN = 4


def power(request: Request, book: Ledger) -> Finding | None:
    """What the cards' electricity costs over the time, for each form whose rated power is known; None without a form."""
    s, work = request.slots, request.slots.workload
    if not s.gpus or s.unknown:
        return None
    meant = [form for name in s.forms if (form := book.catalog.gpu(name))] or book.catalog.gpus_of(s.gpus[0])
    watts = [(gpu, spec.tdp_w) for gpu in meant if (spec := gpu_spec(gpu)) and spec.tdp_w]
    forms = list({tdp: (gpu, tdp) for gpu, tdp in reversed(watts)}.values())[::-1][:FORMS_SHOWN]
    if not forms:
        return None
    currency = work.electricity_currency or ("CNY" if book.language == "zh" else "USD")
    worked = working_hours.working_time(request)
    hours = (s.periods[0].hours if s.periods else HOURS_A_YEAR) * ((s.hours_per_day or Decimal(24)) / 24)
    hours = worked.compute(book).value if worked else hours
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
    if not (s.periods or worked):
        lines.append(book.say("没说用多久，按一年", "the time is not said: one year"))
    lines.append(book.say("只算 GPU，不含 CPU、风扇等主机功率", "the GPUs only: the power of the host is left out"))
    table = render.table(headings, rows) if len(rows) > 1 else ""
    return book.finding("answered", head, table, render.formula(first.formula, book.language), render.bullets(lines))
