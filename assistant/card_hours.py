"""Answers about GPU-hours as a measure: 8 cards for 15 hours are 120 GPU-hours.

The cards and the time are the reader's; where money is asked, costs.py answers.
"""

from __future__ import annotations

import re
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.rental_terms import periods_for
from assistant.scaled_runs import COSTS
from assistant.understand import Request
from knowledge.names import normalise

UNIT = re.compile(
    r"卡时|卡\s?小时|机时|gpu\s?(?:时|小时)|(?<![a-z])(?:gpu|card|machine)[- ]?(?:hours?|hrs?)(?![a-z])", re.I
)
ASKED = re.compile(r"多少|几个?(?:卡时|机时)|怎么算|咋算|如何(?:计)?算|是什么|啥|how (?:many|much|do|is|are)|what|count|calculat|work out", re.I)  # fmt: skip


def card_hours(request: Request, book: Ledger) -> Finding | None:
    """GPUs x hours; None where money is asked, or no cards or no time are said."""
    s, text = request.slots, normalise(request.question)
    if not (UNIT.search(text) and ASKED.search(text)) or s.money or s.price_per_hour or COSTS.search(text) or s.rows:
        return None
    periods = [period for period in periods_for(request, book) if period.hours > 0]
    if len(periods) != 1 or not s.count or any(period.unit == "gpu-hour" for period in periods):
        return None
    hours = periods[0].hours
    result = book.compute("gpu_hours", parts=[{"gpus": s.count, "hours": hours}])
    total = number(Decimal(result.outputs["gpu_hours"]))
    head = book.say(f"**{s.count:,} 张卡跑 {number(hours)} 小时 = {total} 卡时**", f"**{render.cards(s.count, 'en')} for {number(hours)} hours are {total} GPU-hours**")  # fmt: skip
    meant = book.say("卡时（GPU-hour）= 卡数 × 每张卡用的小时数；租卡的费用 = 卡时 × 每卡每小时的价格。",
                     "GPU-hours = number of cards × hours of each; a rental costs GPU-hours × the price of one GPU for an hour.")  # fmt: skip
    formula = result.formula.replace("GPU-h", book.say("卡时", "GPU-h"))
    return book.finding("answered", head + "  \n" + render.formula(formula, book.language), meant)
