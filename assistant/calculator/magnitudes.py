"""Rounding and writing of figures from 1e-6 to 1e30: significant digits, and powers of ten where digits would not be read.

Figures that are money keep `calculation.money`.
"""

from __future__ import annotations

from decimal import Decimal

from assistant.calculator.calculation import number

SHOWN_IN_FULL = Decimal("1e12")  # from here on 5.88e23 is read more easily than 588,000,000,000,000,000,000,000
DIGITS = 6


def significant(value: Decimal, digits: int = DIGITS) -> Decimal:
    """`value` rounded half to even at so many significant digits; whole numbers below 10^digits stay exact."""
    if value == 0:
        return Decimal(0)
    return round(value, digits - 1 - value.adjusted()) + Decimal(0)


def figure(value: Decimal, digits: int = DIGITS) -> str:
    """For a formula: 34.742, 1,308,760, 5.88e23."""
    rounded = significant(value, digits)
    if abs(rounded) < SHOWN_IN_FULL:
        return number(rounded)
    mantissa, exponent = f"{rounded.normalize():e}".split("e")
    return f"{mantissa}e{int(exponent)}"
