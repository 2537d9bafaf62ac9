"""Days, three-digit figures and token counts as the answers about training print them. Computes nothing."""

from __future__ import annotations

from decimal import Decimal

from assistant.calculator.calculation import Calculation, number
from assistant.ledger import Ledger


def in_days(result: Calculation, book: Ledger) -> str:
    """The time of a run in days, in hours where it is less than one."""
    out = result.outputs
    if Decimal(out["days"]) >= 1:
        return f"{three_digits(out['days'])} {book.say('天', 'days')}"
    return f"{three_digits(out['hours'])} {book.say('小时', 'hours')}"


def three_digits(value: Decimal | int | str) -> str:
    """Three digits or all before the point: 93,483, 48.7, 4.87, 0.487."""
    amount = Decimal(value)
    if amount >= 1:
        return f"{amount:,.0f}" if amount >= 100 else f"{amount:,.1f}" if amount >= 10 else f"{amount:,.2f}"
    return f"{amount:.{2 - amount.adjusted()}f}"


def many_tokens(tokens: int, book: Ledger) -> str:
    """1 万亿 / 1 trillion, 300B, 6M; a T would read as terabytes."""
    for size, scale in ((10**12, book.say(" 万亿", " trillion")), (10**9, "B"), (10**6, "M")):
        if tokens >= size:
            return f"{number((Decimal(tokens) / size).quantize(Decimal('0.01')))}{scale}"
    return f"{tokens:,}"
