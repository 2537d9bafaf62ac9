"""The rate of exchange that a reader says himself: 汇率按 7.2, 1 刀按 7.2 算, "at 7.2 yuan to the dollar".

Reads words only; converting is the work of exchange.py and conversion.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant.quantity import Quantity

_NUMBER = r"(\d+(?:\.\d+)?)"
_DOLLAR = r"(?:美元|美金|美刀|刀|us dollars?|usd|dollars?)"
_YUAN = r"(?:yuan|cny|rmb|renminbi)"
AGREED = re.compile(
    rf"汇率(?:就|先|都|是|为|按照?|用|取|算|定|当|照|给|暂|大概|约|[:：=\s])*{_NUMBER}|{_NUMBER}\s*的?汇率"
    rf"|(?:1|一|每)\s*{_DOLLAR}\s*(?:=|等于|兑换?|换|就?按照?|算作?|当作?|合|is|at)\s*{_NUMBER}"
    rf"|(?:美元|美金|刀)就?按照?\s*{_NUMBER}\s*(?:算|换|折|来)"
    rf"|按\s*{_NUMBER}\s*(?:的?换算|折算|算成|换成|折成|折合)|in {_DOLLAR} at {_NUMBER}|in {_YUAN} at {_NUMBER}"
    rf"|(?<![a-z])(?:exchange |fx )?rate\s*(?:(?:of|is|=|:|at|as|being|to be|should be)\s*)*{_NUMBER}"
    rf"|{_NUMBER}\s*(?:{_YUAN}\s*)?(?:to|per|for|a) (?:the |a |an |one |1 )?{_DOLLAR}",
    re.I,
)

OF_EXCHANGE = re.compile(rf"汇率|exchange|(?<![a-z])fx(?![a-z])|{_DOLLAR}", re.I)


def agreed_rate(question: str) -> Decimal | None:
    """The yuan per US dollar that the reader says, if he does."""
    found = AGREED.search(question)
    return next((Decimal(text) for text in found.groups() if text and Decimal(text) > 0), None) if found else None


def without_rates(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """The quantities without the amounts that only say a rate: the 7.2 yuan of "7.2 yuan to the dollar" are no budget."""
    spans = [match.span() for match in AGREED.finditer(text) if OF_EXCHANGE.search(match.group())]
    return [q for q in quantities if q.kind != "money" or not any(a <= q.start < b for a, b in spans)]


def rate_spans(text: str) -> list[tuple[int, int]]:
    """Where a rate of exchange is said."""
    return [match.span() for match in AGREED.finditer(text)]
