"""Questions whose sum is made of figures that the reader states: which of these answers is tried, and in what order.

Tried before the intent is followed, since such a question names its own sum; it computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable

from assistant import (
    copy_bills,
    copy_loads,
    costs,
    orders,
    own_rates,
    own_token_cost,
    payback,
    power,
    rent_to_buy,
    replicas,
    scaled_runs,
    unit_prices,
)
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.references import UNRELATED
from assistant.slot_readings import PRICE_INTENTS
from assistant.understand import Request

SUMS: tuple[Callable[[Request, Ledger], Finding | None], ...] = (
    rent_to_buy.cards_for_rent,
    copy_bills.copy_bill,
    own_token_cost.token_cost,
    replicas.replicas,
    copy_loads.copy_load,
    scaled_runs.scaled_run,
    payback.payback,
    power.stated_power,
    own_rates.owned_hour,
    own_rates.own_rate,
    unit_prices.per_unit,
)


def own_sum(request: Request, book: Ledger) -> Finding | None:
    """The first of these answers that the question has the figures for; None where none has."""
    if request.bad_quantity or request.intent in UNRELATED:
        return None
    if (
        request.intent in PRICE_INTENTS - {"cost", "budget"}
        and not request.slots.money
        and (mixed := orders.order(request, book))
    ):
        return mixed
    if apart := orders.order_difference(request, book):
        return apart
    s = request.slots
    if request.slots.discount and request.intent in PRICE_INTENTS and (s.gpus or s.providers) and not s.money:
        return costs.cost(request, book)
    return next((found for sum_of in SUMS if (found := sum_of(request, book))), None)
