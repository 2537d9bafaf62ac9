"""Amounts of every currency in one that the reader chose, at a rate that is always said: the reader's own, or the newest.

It converts for display and for plots; a row keeps the price that its source states.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant.listing import Conversion
from knowledge.catalog import load_catalog


def convert_to(currency: str, others: Sequence[str], own_rate: Decimal | None = None) -> Conversion:
    """To `currency` from each of `others` that there is a rate for, and from itself.

    `own_rate` is in units per US dollar: of `currency`, or of CNY where `currency` is USD.
    """
    rated = currency if currency != "USD" else "CNY"
    per_usd, said = {"USD": Decimal(1)}, list[tuple[str, str]]()
    for code in sorted({currency, *others} - {"USD"}):
        if own_rate is not None and code == rated:
            per_usd[code] = own_rate
            said.append((f"您给的汇率 1 USD = {own_rate:f} {code}", f"your rate 1 USD = {own_rate:f} {code}"))
        elif rate := load_catalog().rate(code):
            per_usd[code] = rate.units_per_usd
            words = f"1 USD = {rate.units_per_usd:f} {code}"
            said.append((f"{rate.year} 年平均汇率 {words}（不是当日汇率）", f"the {rate.year} average {words} (not today's rate)"))  # fmt: skip
    rates = {code: per_usd[currency] / units for code, units in per_usd.items()} if currency in per_usd else {}
    return Conversion(currency, rates, "，".join(zh for zh, _ in said), ", ".join(en for _, en in said))


def converted(amount: Decimal, currency: str, conversion: Conversion | None) -> Decimal | None:
    """The amount in the conversion's currency, unrounded; None without one, or where there is no rate."""
    if conversion is None or currency not in conversion.rates:
        return None
    return amount * conversion.rates[currency]
