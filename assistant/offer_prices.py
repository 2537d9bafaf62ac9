"""What a card costs an hour or to buy, for answers that weigh cards: one price for each card, in one currency.

A price of the user's own wins over every row. Picks rows; computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.calculator.offers import PriceRow
from assistant.calculator.shapes import GpuSpec
from assistant.ledger import Ledger
from assistant.shape_rows import gpu_spec
from assistant.training_subject import CardAsked
from assistant.understand import Request
from knowledge.catalog import Offer, Purchase
from knowledge.hardware import Gpu

LIST_PRICES = ("launch-price", "launch-price-approximate")  # of the day a card came out: only where no street price is


@dataclass(frozen=True)
class Priced:
    """What one card costs an hour, whose price that is, and a sentence that says so."""

    per_gpu_hour: Decimal
    currency: str
    mark: str
    note: str


@dataclass(frozen=True)
class CardPrice:
    """A card in one form with the rows that price it. `assumed` where the rows do not say the form."""

    gpu: Gpu
    spec: GpuSpec
    rows: tuple[Offer | Purchase, ...]
    assumed: bool

    def price_rows(self) -> tuple[PriceRow, ...]:
        """The rows as calculators take them."""
        return tuple(_rent_row(row) if isinstance(row, Offer) else _buy_row(row) for row in self.rows)


def currency_of(request: Request, book: Ledger) -> str:
    """The currency said, else the reader's."""
    s = request.slots
    return (
        s.price_currency
        or s.money_currency
        or ("USD" if "dollars" in request.aspects or book.language == "en" else "CNY")
    )


def prices_of(request: Request, cards: Sequence[CardAsked], book: Ledger) -> dict[str, Priced]:
    """By label of the card: the user's own price, else the cheapest row that fits it; all in one currency."""
    s, wanted = request.slots, currency_of(request, book)
    if s.price_per_hour and "limit" not in request.aspects:
        own = Priced(s.price_per_hour, wanted, "", book.say("成本按你给的每卡时价、一直满载算", "cost at your own price for each card and hour, always busy"))  # fmt: skip
        return {card.label: own for card in cards}
    for currency in (wanted, "USD" if wanted == "CNY" else "CNY"):
        found = {card.label: price for card in cards if (price := _row_price(request, card, currency, book))}
        if found:
            return found
    return {}


def _row_price(request: Request, card: CardAsked, currency: str, book: Ledger) -> Priced | None:
    if card.gpu is None:
        return None
    offers = [o for o in book.catalog.find_offers([card.gpu.family], request.slots.providers, currency=currency)
              if o.gpu_form in (None, card.gpu.name)]  # fmt: skip
    if not offers:
        return None
    offer = min(offers, key=lambda o: (o.gpu_form is None, o.price_per_gpu_hour))
    hourly = offer.price_per_gpu_hour.quantize(Decimal("0.0001")).normalize()
    each, where = render.amount(hourly, currency, book.language, "hour"), render.name("provider", offer.provider, book.language)  # fmt: skip
    day = offer.as_of or book.say("未注明日期", "undated")
    return Priced(offer.price_per_gpu_hour, currency, book.cite_offers([offer]), book.say(
        f"{card.label} 的成本按 {where} 的 {each}/卡（{day}）、一直满载算", f"cost of {card.label} at {where}: {each} for each card ({day}), always busy"))  # fmt: skip


def rented(currency: str, providers: Sequence[str], book: Ledger) -> list[CardPrice]:
    """Every card that is for rent in the currency, by form."""
    return _by_form([o for o in book.catalog.find_offers((), providers, currency=currency) if not o.is_slice], book)


def bought(currency: str, book: Ledger) -> list[CardPrice]:
    """Every card with a purchase price in the currency; a list price only where no street price is known."""
    rows = book.catalog.find_purchases(currency=currency)
    street = {(p.gpu, p.gpu_form) for p in rows if p.market not in LIST_PRICES}
    return _by_form([p for p in rows if p.market not in LIST_PRICES or (p.gpu, p.gpu_form) not in street], book)


def _by_form(rows: Sequence[Offer] | Sequence[Purchase], book: Ledger) -> list[CardPrice]:
    found: dict[str, CardPrice] = {}
    for row in rows:
        gpu = book.catalog.gpu(row.gpu_form) if row.gpu_form else _smallest(row.gpu, book)
        spec = gpu_spec(gpu) if gpu else None
        if gpu is None or spec is None or gpu.variant or gpu.vendor == "Google":
            continue
        known = found.get(gpu.name)
        if known is None or (known.assumed and row.gpu_form):
            found[gpu.name] = CardPrice(gpu, spec, (row,), row.gpu_form is None)
        elif known.assumed == (row.gpu_form is None):
            found[gpu.name] = CardPrice(gpu, spec, (*known.rows, row), known.assumed)
    return list(found.values())


def _smallest(family: str, book: Ledger) -> Gpu | None:
    """Of a row that states no form the smallest memory is taken: what it surely has."""
    forms = [gpu for gpu in book.catalog.gpus_of(family) if gpu.memory]
    return min(forms, key=lambda gpu: gpu.memory.low if gpu.memory else Decimal(0), default=None)


def _rent_row(offer: Offer) -> PriceRow:
    return PriceRow(gpu=offer.gpu_form or offer.gpu, provider=offer.provider, price=offer.price, currency=offer.currency,
                    gpus_per_instance=offer.gpu_count, pricing_model=offer.pricing_model, region=offer.region or "",
                    as_of=offer.as_of or "", source=str(offer.row))  # fmt: skip


def _buy_row(purchase: Purchase) -> PriceRow:
    return PriceRow(gpu=purchase.gpu_form or purchase.gpu, price=purchase.price, currency=purchase.currency, per="card",
                    pricing_model=purchase.market, as_of=purchase.as_of or "", source=str(purchase.row))  # fmt: skip
