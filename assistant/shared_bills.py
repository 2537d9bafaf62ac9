"""What each person pays of a bill that several people share: 五个人平摊, 5 of us splitting it, 我和两个同学 AA.

Takes a sum that was computed and divides it; hours or cards "each" share no bill.
"""

from __future__ import annotations

import re
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import money
from assistant.ledger import Ledger
from assistant.people import people
from assistant.understand import Request
from knowledge.names import normalise

SHARED = re.compile(
    r"平摊|均摊|分摊|摊|平分|均分|拼单|拼着|合租|凑钱|凑份子|人均|(?<![a-z])aa(?![a-z])|每个?人\s*(?:要|得|应该?|需要?|大概|各)*\s*(?:出|付|掏|交|给|花|承担|多少|几)|一人\s*(?:要|得)?\s*(?:出|付|掏|交|多少|几)|"
    r"(?<![a-z])(?:split(?:s|ting)?|shar(?:e|ed|es|ing) (?:it|the (?:bill|cost|price|rent)|one|a|equally|evenly)|chip(?:ping)? in|go(?:ing)? halves|per (?:person|head|capita)|"
    r"each (?:person|one of us|of us|student|member)?.{0,12}(?:pay|owe)s?|(?:person|one|body|member|student)'?s share|divid(?:e|ed|ing) (?:it|the|by|among|between|equally))(?![a-z])",
    re.I,
)


def share_of(total: Decimal, currency: str, request: Request, book: Ledger) -> str:
    """The share of one of the people, with its formula; "" where no bill is shared or nobody says by how many."""
    text = normalise(request.question)
    heads = people(text) if SHARED.search(text) else None
    if not heads or heads < 2:
        return ""
    result = book.compute("price_per_unit", price=total, quantity=heads, unit="person", currency=currency)
    each = render.cash(money(Decimal(result.outputs["price_per_unit"])), currency, book.language)
    formula = render.formula(result.formula, book.language)
    if book.language == "zh":
        formula = formula.replace("/person", "/人").replace(" person", " 人")
    return book.say(f"**{heads:,} 人平摊，每人 {each}**", f"**Shared by {heads:,}: {each} each**") + "  \n" + formula
