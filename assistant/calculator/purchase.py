"""What buying cards costs, and how many cards an amount of money buys.

Card price only: no server, power or tax. No table is read, no currency is converted.
"""

from __future__ import annotations

from decimal import Decimal

from assistant.calculator.calculation import Amount, Calculation, Count, Currency, money, number, whole_times
from assistant.evidence import Frozen


class PurchaseCostInput(Frozen):
    """`cards` cards at `price_per_card` each."""

    cards: Count
    price_per_card: Amount
    currency: Currency = "CNY"


def purchase_cost(given: PurchaseCostInput) -> Calculation:
    """cost = cards x price of one card."""
    cost = money(given.price_per_card * given.cards)
    return Calculation(
        value=cost, unit=given.currency,
        formula=f"{given.cards:,} × {number(given.price_per_card)} {given.currency} = {number(cost)} {given.currency}",
        outputs={"cost": cost, "cards": given.cards, "currency": given.currency},
    )  # fmt: skip


class PurchasableCardsInput(Frozen):
    """An amount of money, the price of one card, and how many cards are wanted."""

    budget: Amount
    price_per_card: Amount
    cards: Count = 1
    currency: Currency = "CNY"


def purchasable_cards(given: PurchasableCardsInput) -> Calculation:
    """cards = floor(budget / price); what these leave over, and what the wanted `cards` leave over or lack."""
    whole = whole_times(given.budget, given.price_per_card)
    spent = money(given.price_per_card * whole)
    wanted = money(given.price_per_card * given.cards)
    gap = money(given.budget - wanted)
    return Calculation(
        value=Decimal(whole), unit="card",
        formula=f"floor({number(given.budget)} {given.currency} ÷ {number(given.price_per_card)} {given.currency})"
                f" = {whole:,}; {number(given.budget)} − {whole:,} × {number(given.price_per_card)}"
                f" = {number(given.budget - spent)} {given.currency}",
        outputs={"cards": whole, "spent": spent, "left_over": money(given.budget - spent),
                 "wanted": given.cards, "wanted_cost": wanted, "wanted_left_over": max(gap, Decimal(0)),
                 "wanted_short_by": max(-gap, Decimal(0)), "currency": given.currency},
    )  # fmt: skip
