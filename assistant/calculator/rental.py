"""What renting costs, what an amount of money rents, and how prices compare.

Pure arithmetic on the numbers given: no table is read, no currency is converted.
"""

from __future__ import annotations

from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import Field, model_validator

from assistant.calculator.calculation import (
    HOURS_PER_DAY,
    HOURS_PER_MONTH,
    HOURS_PER_WEEK,
    HOURS_PER_YEAR,
    Amount,
    Assumption,
    Calculation,
    Count,
    Currency,
    HoursPerDay,
    money,
    number,
    whole_times,
)
from assistant.calculator.energy import ShareOrNone
from assistant.calculator.magnitudes import significant
from assistant.calculator.offers import GpusWanted, Offers, PriceRow, one_currency
from assistant.calculator.time_lengths import MONTH
from assistant.evidence import Bilingual, Frozen


class RentalCostInput(Frozen):
    """N instances for some hours. `price_per_hour` is the price of one instance of `gpus_per_instance` GPUs."""

    gpus: Count = 1
    hours: Amount
    price_per_hour: Amount
    currency: Currency = "CNY"
    gpus_per_instance: Count = 1


def rental_cost(given: RentalCostInput) -> Calculation:
    """cost = ceil(gpus / gpus_per_instance) x hours x price of one instance-hour."""
    instances = -(-given.gpus // given.gpus_per_instance)
    cost = money(instances * given.hours * given.price_per_hour)
    formula = (
        f"{instances} × {number(given.hours)} h × {number(given.price_per_hour)} {given.currency}/h"
        f" = {cost:,} {given.currency}"
    )
    return Calculation(
        value=cost, unit=given.currency, formula=formula,
        outputs={"cost": cost, "instances": instances, "gpus_billed": instances * given.gpus_per_instance,
                 "hours": given.hours, "currency": given.currency},
    )  # fmt: skip


class BudgetHoursInput(Frozen):
    """An amount of money, what `gpus` GPUs cost an hour each, and how many hours a day they run."""

    budget: Amount
    price_per_hour: Amount
    gpus: Count = 1
    hours_per_day: HoursPerDay = Decimal(24)
    currency: Currency = "CNY"


def budget_hours(given: BudgetHoursInput) -> Calculation:
    """hours = budget / (price per hour x gpus); days = hours / hours per day."""
    hours = given.budget / (given.price_per_hour * given.gpus)
    shown = hours.quantize(Decimal("0.01"), rounding=ROUND_FLOOR)
    days = (hours / given.hours_per_day).quantize(Decimal("0.01"), rounding=ROUND_FLOOR)
    divisor = f"{number(given.price_per_hour)} {given.currency}/h" + (f" × {given.gpus}" if given.gpus > 1 else "")
    return Calculation(
        value=shown, unit="hour",
        formula=f"{number(given.budget)} {given.currency} ÷ ({divisor}) = {shown:,} h",
        outputs={"hours": shown, "days": days, "gpus": given.gpus, "hours_per_day": given.hours_per_day},
    )  # fmt: skip


class BudgetCardsInput(Frozen):
    """An amount of money for a period of `hours`, and the price of one GPU-hour."""

    budget: Amount
    hours: Amount
    price_per_hour: Amount
    currency: Currency = "CNY"
    gpus: Count = 1


def budget_cards(given: BudgetCardsInput) -> Calculation:
    """cards = floor(budget / (price per hour x hours)); also what `gpus` cards would cost and leave over."""
    one = given.price_per_hour * given.hours
    cards = whole_times(given.budget, one)
    cost = money(one * given.gpus)
    left = money(given.budget - one * given.gpus)
    return Calculation(
        value=Decimal(cards), unit="card",
        formula=f"floor({number(given.budget)} {given.currency} ÷ ({number(given.price_per_hour)} {given.currency}/h"
                f" × {number(given.hours)} h)) = {cards}",
        outputs={"cards": cards, "gpus": given.gpus, "cost": cost, "left_over": left, "short_by": max(-left, Decimal(0)),
                 "cost_of_one": money(one), "hours": given.hours, "currency": given.currency},
    )  # fmt: skip


class ComparisonInput(Frozen):
    """Two amounts in one currency and unit: `dearer` is the larger one."""

    dearer: Amount
    cheaper: Amount
    currency: Currency = "CNY"


def price_difference(given: ComparisonInput) -> Calculation:
    """Difference, surplus in percent of the cheaper, saving in percent of the dearer, and the ratio."""
    if given.dearer < given.cheaper:
        raise ValueError(f"dearer {given.dearer} is below cheaper {given.cheaper}: swap the two")
    difference = given.dearer - given.cheaper
    surplus = money(difference / given.cheaper * 100)
    saving = money(difference / given.dearer * 100)
    ratio = money(given.dearer / given.cheaper)
    return Calculation(
        value=difference, unit=given.currency,
        formula=f"{number(given.dearer)} − {number(given.cheaper)} = {number(difference)};"
                f" ÷ {number(given.cheaper)} = {surplus} %; ÷ {number(given.dearer)} = {saving} %",
        outputs={"difference": difference, "surplus_percent": surplus, "saving_percent": saving, "ratio": ratio,
                 "whole_cards": whole_times(given.dearer, given.cheaper),
                 "currency": given.currency},
    )  # fmt: skip


class AmountsInput(Frozen):
    """Amounts in one currency and unit."""

    amounts: Annotated[tuple[Amount, ...], Field(min_length=1)]
    currency: Currency = "CNY"


def average_price(given: AmountsInput) -> Calculation:
    """Arithmetic mean of the amounts."""
    mean = (sum(given.amounts, Decimal(0)) / len(given.amounts)).quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)
    terms = " + ".join(number(a) for a in given.amounts)
    return Calculation(
        value=mean, unit=given.currency, formula=f"({terms}) ÷ {len(given.amounts)} = {number(mean)}",
        outputs={"average": mean, "count": len(given.amounts), "currency": given.currency},
    )  # fmt: skip


def sum_of_costs(given: AmountsInput) -> Calculation:
    """Sum of amounts in one currency."""
    total = money(sum(given.amounts, Decimal(0)))
    terms = " + ".join(number(a) for a in given.amounts)
    return Calculation(
        value=total, unit=given.currency, formula=f"{terms} = {total:,} {given.currency}",
        outputs={"total": total, "count": len(given.amounts), "currency": given.currency},
    )  # fmt: skip


class GpuTime(Frozen):
    """`gpus` GPUs for `hours` hours each."""

    gpus: Count = 1
    hours: Amount


class GpuHoursInput(Frozen):
    """The parts of a job: so many GPUs for so many hours each."""

    parts: Annotated[tuple[GpuTime, ...], Field(min_length=1)]


def gpu_hours(given: GpuHoursInput) -> Calculation:
    """GPU-hours = sum of GPUs x hours over the parts."""
    total = sum((part.gpus * part.hours for part in given.parts), Decimal(0))
    terms = " + ".join(f"{part.gpus:,} × {number(part.hours)} h" for part in given.parts)
    return Calculation(
        value=total, unit="GPU-hour", formula=f"{terms} = {number(total)} GPU-h",
        outputs={"gpu_hours": total, "parts": len(given.parts)},
    )  # fmt: skip


class PricePerGpuInput(Frozen):
    """What was paid for `gpus` GPUs over `hours` hours; with the default of 1 hour, the price of an instance-hour."""

    total_cost: Amount
    gpus: Count
    hours: Amount = Decimal(1)
    currency: Currency = "CNY"


def price_per_gpu_hour(given: PricePerGpuInput) -> Calculation:
    """price per GPU-hour = total cost / (GPUs x hours)."""
    price = significant(given.total_cost / (given.gpus * given.hours), 12)
    return Calculation(
        value=price, unit=f"{given.currency}/GPU-hour",
        formula=f"{number(given.total_cost)} {given.currency} ÷ ({given.gpus:,} × {number(given.hours)} h)"
                f" = {price:,.4f} {given.currency}/GPU-h",
        outputs={"price_per_gpu_hour": price, "gpu_hours": given.gpus * given.hours, "currency": given.currency},
    )  # fmt: skip


class RentalComparisonInput(Frozen):
    """Price rows in one currency, and how many GPUs are wanted (0.25: a quarter of one)."""

    offers: Offers
    gpus: GpusWanted = Decimal(1)

    @model_validator(mode="after")
    def _rented(self) -> RentalComparisonInput:
        bought = next((offer for offer in self.offers if offer.per == "card"), None)
        if bought:
            raise ValueError(f"{bought.price} {bought.currency} of {bought.provider or bought.gpu!r} buys a card: "
                             "compare rents only, or use buy_or_rent")  # fmt: skip
        return self


def rental_comparison(given: RentalComparisonInput) -> Calculation:
    """Cost per hour, day, week, month (730 h) and year (8,760 h) of each offer, cheapest first, and the spread.

    Whole instances are billed, so 8-GPU nodes bill 8. Sorted by the exact cost; only what is shown is rounded.
    """
    currency = one_currency(given.offers)
    billed = {id(offer): offer.instances_for(given.gpus) for offer in given.offers}  # exact fractions: worked out once

    def per_hour(offer: PriceRow) -> Decimal:
        return billed[id(offer)] * offer.price_per_hour

    offers = sorted(given.offers, key=lambda o: (per_hour(o), o.provider, o.gpu, o.pricing_model, o.region, o.as_of))
    cheapest, dearest = (significant(per_hour(end), 12) for end in (offers[0], offers[-1]))
    spread = money((dearest - cheapest) / cheapest * 100)
    return Calculation(
        value=cheapest, unit=f"{currency}/hour",
        formula=f"{billed[id(offers[0])]} × {number(offers[0].price_per_hour)} {currency}/h = {number(cheapest)} {currency}/h;"
                f" ({number(dearest)} − {number(cheapest)}) ÷ {number(cheapest)} = {spread} %",
        outputs={"cheapest": offers[0].provider or offers[0].gpu, "cheapest_per_hour": cheapest,
                 "dearest": offers[-1].provider or offers[-1].gpu, "dearest_per_hour": dearest,
                 "spread_per_hour": dearest - cheapest, "spread_percent": spread,
                 "offers": len(offers), "currency": currency},
        assumptions=(MONTH,), rows=tuple(_periods(offer, billed[id(offer)], per_hour(offer)) for offer in offers),
    )  # fmt: skip


def _periods(offer: PriceRow, instances: int, per_hour: Decimal) -> dict[str, Decimal | int | str]:
    return {
        "gpu": offer.gpu, "provider": offer.provider, "pricing_model": offer.pricing_model, "region": offer.region,
        "instances": instances, "gpus_billed": instances * offer.gpus_per_instance * offer.gpu_fraction,
        "per_hour": significant(per_hour, 12), "per_day": money(per_hour * HOURS_PER_DAY), "per_week": money(per_hour * HOURS_PER_WEEK),
        "per_month": money(per_hour * HOURS_PER_MONTH), "per_year": money(per_hour * HOURS_PER_YEAR),
        "currency": offer.currency, "as_of": offer.as_of, "source": offer.source,
    }  # fmt: skip


class RentalTermsInput(Frozen):
    """Hours of use, and the prices of one instance-hour on demand, committed and spot, all in one currency.

    `committed_hours` are paid whether used or not; spot repeats the share `rework` of its hours after interruptions.
    """

    hours: Amount
    instances: Count = 1
    on_demand_price: Amount | None = None
    committed_price: Amount | None = None
    committed_hours: Amount | None = None
    spot_price: Amount | None = None
    rework: ShareOrNone | None = None
    currency: Currency = "CNY"

    @model_validator(mode="after")
    def _complete(self) -> RentalTermsInput:
        if not (self.on_demand_price or self.committed_price or self.spot_price):
            raise ValueError("no price: give on_demand_price, committed_price or spot_price")
        if (self.committed_price is None) != (self.committed_hours is None):
            raise ValueError(
                f"committed_price {self.committed_price} and committed_hours {self.committed_hours} belong together"
            )
        return self


REWORK = Decimal("0.1")
REWORK_TAKEN = Assumption(
    name="rework", value="10 %", source="no published figure: a convention, to be replaced by what you measure",
    text=Bilingual(
        zh="竞价实例被中断后重做的时间按 10% 计（无公开数据，请换成实测值）",
        en="interrupted spot instances are taken to repeat 10 % of their hours (no published figure: put in what you measure)",
    ),
)  # fmt: skip


def rental_terms(given: RentalTermsInput) -> Calculation:
    """Cost of the same use on demand (hours), committed (at least the committed hours) and spot (hours x (1 + rework))."""
    rework = REWORK if given.rework is None else given.rework
    terms = {
        "on-demand": (given.on_demand_price, given.hours),
        "committed": (given.committed_price, max(given.hours, given.committed_hours or Decimal(0))),
        "spot": (given.spot_price, given.hours * (1 + rework)),
    }
    costs = {term: given.instances * hours * price for term, (price, hours) in terms.items() if price is not None}
    best = min(costs, key=lambda term: costs[term])
    rows: tuple[dict[str, Decimal | int | str], ...] = tuple(
        {"term": term, "price": terms[term][0] or Decimal(0), "hours_billed": terms[term][1], "cost": money(cost), "currency": given.currency}
        for term, cost in sorted(costs.items(), key=lambda entry: entry[1])
    )  # fmt: skip
    outputs: dict[str, Decimal | int | str] = {"cheapest": best, "cost": money(costs[best]), "currency": given.currency}
    if given.on_demand_price and given.committed_price and given.committed_hours:
        pays_from = given.committed_price * given.committed_hours / given.on_demand_price
        outputs["commitment_pays_from_hours"] = significant(pays_from, 12)
    return Calculation(
        value=money(costs[best]), unit=given.currency,
        formula="; ".join(f"{row['term']}: {given.instances} × {number(Decimal(row['hours_billed']))} h"
                          f" × {number(Decimal(row['price']))} {given.currency}/h = {row['cost']:,}" for row in rows),
        outputs=outputs, rows=rows,
        assumptions=(REWORK_TAKEN,) if given.spot_price is not None and given.rework is None else (),
    )  # fmt: skip
