"""Converts an amount at a dated exchange rate that is handed in, and shows rate, date and source.

No rate is known here: without one there is no conversion, and two currencies are never added.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import Amount, Assumption, Calculation, Currency, money, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Bilingual, Frozen

DATE = r"^\d{4}(-\d{2}(-\d{2})?)?$"  # a year's average is dated by its year


class ExchangeRate(Frozen):
    """Units of `currency` for 1 USD, the day, month or year it holds for, and who published it."""

    currency: Currency
    per_usd: Amount
    as_of: Annotated[str, Field(pattern=DATE)]
    source: Annotated[str, Field(min_length=1)]


class CurrencyConversionInput(Frozen):
    """An amount of `from_currency` that is wanted in `to_currency`. USD itself needs no rate."""

    amount: Amount
    from_currency: Currency
    to_currency: Currency
    rates: tuple[ExchangeRate, ...] = ()


def currency_conversion(given: CurrencyConversionInput) -> Calculation:
    """amount / (from per USD) x (to per USD), rounded once at the end."""
    used = [rate for rate in (_rate(given, given.from_currency), _rate(given, given.to_currency)) if rate]
    if given.from_currency == given.to_currency:
        used = []
    per_usd = {rate.currency: rate.per_usd for rate in used}
    dividing, multiplying = per_usd.get(given.from_currency, Decimal(1)), per_usd.get(given.to_currency, Decimal(1))
    result = money(given.amount * multiplying / dividing)
    steps = [f"{number(given.amount)} {given.from_currency}"]
    if given.from_currency in per_usd:
        steps.append(f"÷ {number(dividing)} {given.from_currency}/USD")
    if given.to_currency in per_usd:
        steps.append(f"× {number(multiplying)} {given.to_currency}/USD")
    return Calculation(
        value=result, unit=given.to_currency, formula=f"{' '.join(steps)} = {result:,} {given.to_currency}",
        outputs={"amount": result, "currency": given.to_currency, "rate": significant(multiplying / dividing, 12),
                 "rate_as_of": "; ".join(f"{rate.currency} {rate.as_of}" for rate in used),
                 "rate_source": "; ".join(dict.fromkeys(rate.source for rate in used))},
        assumptions=tuple(_stated(rate) for rate in used),
    )  # fmt: skip


def _rate(given: CurrencyConversionInput, currency: str) -> ExchangeRate | None:
    """The one rate of a currency; None for USD. Raises ValueError where there is none, or a choice."""
    if given.from_currency == given.to_currency:
        return None
    found = [rate for rate in given.rates if rate.currency == currency]
    if currency == "USD":
        if any(rate.per_usd != 1 for rate in found):
            raise ValueError(f"{found[0].per_usd} USD for 1 USD: rates are units of the other currency for 1 USD")
        return None
    if not found:
        raise ValueError(f"no rate for {currency}: hand in its units for 1 USD with date and source")
    if len(found) > 1:
        raise ValueError(f"{len(found)} rates for {currency} ({', '.join(r.as_of for r in found)}): hand in one")
    return found[0]


def _stated(rate: ExchangeRate) -> Assumption:
    shown = f"1 USD = {number(rate.per_usd)} {rate.currency}"
    return Assumption(
        name=f"rate_{rate.currency}", value=number(rate.per_usd), source=rate.source,
        text=Bilingual(zh=f"汇率 {shown}（{rate.as_of}，{rate.source}）", en=f"exchange rate {shown} ({rate.as_of}, {rate.source})"),
    )  # fmt: skip
