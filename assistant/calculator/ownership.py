"""Buying against renting: total of both over a horizon, break-even, and what moves the result most.

Every cost is a straight line in time but for what the purchase loses in value. No table is read, no currency converted.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import (
    HOURS_PER_MONTH,
    NO_TRUTH,
    Amount,
    Assumption,
    Calculation,
    Count,
    Currency,
    HoursPerDay,
    Share,
    money,
    number,
)
from assistant.calculator.depreciation import Method, written_off_points
from assistant.calculator.energy import FULL_LOAD, PUE, PUE_TAKEN, AmountOrNone, Pue, ShareOrNone
from assistant.calculator.magnitudes import significant
from assistant.calculator.ownership_defaults import (
    HOST,
    HOST_SHARE,
    IDLE,
    IDLE_LOAD,
    NOT_COUNTED,
    SERVER,
    SERVER_SHARE,
    electricity_price,
    electricity_taken,
    not_counted,
)
from assistant.calculator.shapes import GpuSpec
from assistant.evidence import Bilingual, Frozen

Months = Annotated[int, Field(ge=1, le=240), NO_TRUTH]
ZERO = Decimal(0)
SHIFT = Decimal("0.2")  # of an input, up and down, to see how far the result moves
NEVER = "never"
Row = dict[str, Decimal | int | str]


class PaybackInput(Frozen):
    """A purchase, the rent it saves and what owning costs, per hour of use or per month; `idle_own_per_hour` is paid
    for every hour that is not used."""

    purchase: Amount
    resale_value: AmountOrNone = ZERO
    rent: AmountOrNone
    own: AmountOrNone = ZERO
    per: Literal["hour", "month"] = "hour"
    hours_per_day: HoursPerDay = Decimal(24)
    idle_own_per_hour: AmountOrNone = ZERO
    currency: Currency = "CNY"


def payback(given: PaybackInput) -> Calculation:
    """hours = (purchase - resale) / (rent - own per hour), where idle hours are borne by the used ones.

    Where rent is never dearer there is no such time: the value is then the difference per hour or month, not positive.
    """
    if given.resale_value > given.purchase:
        raise ValueError(f"resale_value {given.resale_value} is above purchase {given.purchase}: swap the two")
    at_risk = given.purchase - given.resale_value
    idle = ZERO
    if given.per == "hour":
        idle = given.idle_own_per_hour * (24 - given.hours_per_day) / given.hours_per_day
    saving = given.rent - given.own - idle
    terms = f"{number(given.rent)} − {number(given.own)}" + (f" − {idle:,.4f}" if idle else "")
    outputs: Row = {"saving_per_period": significant(saving, 12), "period": given.per, "currency": given.currency}
    if saving <= 0:
        return Calculation(
            value=significant(saving, 12), unit=f"{given.currency}/{given.per}", outputs=outputs | {"break_even": NEVER},
            formula=f"{terms} = {number(saving)} {given.currency}/{given.per}: renting is never dearer, buying does not pay back",
        )  # fmt: skip
    periods = at_risk / saving
    used = periods if given.per == "hour" else periods * HOURS_PER_MONTH * given.hours_per_day / 24
    days = used / given.hours_per_day
    figures = {"hours_used": used, "days": days, "months": days * 24 / HOURS_PER_MONTH, "years": days / 365}
    outputs |= {"break_even": "yes", **{name: significant(figure, 12) for name, figure in figures.items()}}
    return Calculation(
        value=significant(periods, 12), unit=given.per, outputs=outputs,
        formula=f"({number(given.purchase)} − {number(given.resale_value)}) ÷ ({terms}) = {periods:,.2f} {given.per}",
    )  # fmt: skip


class BuyOrRentInput(Frozen):
    """Cards to buy against the same number of GPUs rented by the hour, all money in one currency.

    `utilisation` is the share of all hours in which the cards work: rent is paid for these only, owning costs always.
    `load` is the share of the rated power drawn at work, `idle_load` the same while idle. `gpu` gives the rated power
    unless `tdp_w` does. `server_price` is for all hosts together. `resale_share` is the part of the purchase price
    that selling brings at the end. `capital_rate` is per year. Depreciation "at-once" writes off all but the resale
    value on the first day (cash view); "straight-line" (over `life_months`) and "macrs-5" suppose that the cards could
    be sold at book value on any day.
    """

    cards: Count
    price_per_card: Amount
    rent_per_gpu_hour: Amount
    currency: Currency = "CNY"
    utilisation: Share = Decimal(1)
    gpu: GpuSpec | None = None
    tdp_w: Amount | None = None
    load: Share | None = None
    idle_load: ShareOrNone | None = None
    host_kw: AmountOrNone | None = None
    pue: Pue | None = None
    price_per_kwh: AmountOrNone | None = None
    server_price: AmountOrNone | None = None
    hosting_per_month: AmountOrNone | None = None
    staff_per_month: AmountOrNone | None = None
    capital_rate: ShareOrNone | None = None
    resale_share: ShareOrNone | None = None
    depreciation: Method = "at-once"
    life_months: Months = 60
    horizon_months: Months = 36

    @model_validator(mode="after")
    def _has_power(self) -> BuyOrRentInput:
        if self.tdp_w is None and (self.gpu is None or self.gpu.tdp_w is None):
            raise ValueError("the rated power is not known: give tdp_w in watts, or a gpu whose row has it")
        if self.idle_load is not None and self.idle_load > (self.load or 1):
            raise ValueError(f"idle_load {self.idle_load} is above load {self.load or 1}: swap the two")
        return self


@dataclass(frozen=True)
class _Terms:
    """The input with every default put in, reduced to what the two lines in time need."""

    purchase: Decimal
    resale_value: Decimal
    fixed_per_month: Decimal  # hosting, staff, capital
    idle_power_per_month: Decimal  # at utilisation 0
    busy_power_per_month: Decimal  # more than that, at utilisation 1
    full_rent_per_month: Decimal  # at utilisation 1
    utilisation: Decimal
    points: tuple[tuple[Decimal, Decimal], ...]  # (month, value lost by then), constant after the last

    @property
    def own_per_month(self) -> Decimal:
        return self.fixed_per_month + self.idle_power_per_month + self.busy_power_per_month * self.utilisation

    @property
    def rent_per_month(self) -> Decimal:
        return self.full_rent_per_month * self.utilisation

    def lost(self, month: Decimal) -> Decimal:
        """Value lost by `month`: straight between the points."""
        before = (ZERO, ZERO)
        for at, lost in self.points:
            if month < at:
                return before[1] + (lost - before[1]) * (month - before[0]) / (at - before[0])
            before = (at, lost)
        return before[1]

    def own(self, month: Decimal) -> Decimal:
        return self.lost(month) + self.own_per_month * month

    def rent(self, month: Decimal) -> Decimal:
        return self.rent_per_month * month


def buy_or_rent(given: BuyOrRentInput) -> Calculation:
    """What owning saves over the horizon: rent(t) - own(t), negative where renting is cheaper; and the break-even.

    own(t) = purchase - residual(t) + (hosting + staff + capital) x t + power(utilisation) x t;
    rent(t) = rent per GPU-hour x GPUs x utilisation x 730 h x t; power in kW = (GPUs x W / 1,000 x (utilisation x load
    + idle share x idle load) + host kW) x PUE; capital = (purchase + resale) / 2 x rate, the mean of what is tied up.
    """
    terms = _terms(given)
    horizon = Decimal(given.horizon_months)
    own, rent = terms.own(horizon), terms.rent(horizon)
    saving = money(rent) - money(own)
    months, share = _break_even_month(terms), _break_even_utilisation(terms, horizon)
    currency = given.currency
    outputs: Row = {
        "cheaper": "own" if saving > 0 else "rent" if saving < 0 else "equal",
        "own_total": money(own), "rent_total": money(rent), "saving_by_owning": saving, "purchase": money(terms.purchase),
        "own_per_month": money(terms.own_per_month), "rent_per_month": money(terms.rent_per_month),
        "power_per_month": money(terms.own_per_month - terms.fixed_per_month),
        "break_even_months": NEVER if months is None else _tenth(months),
        "break_even_hours_used": NEVER if months is None else _tenth(months * HOURS_PER_MONTH * given.utilisation),
        "pays_back_within_life": "yes" if months is not None and months <= given.life_months else "no",
        "break_even_utilisation_percent": NEVER if share is None else money(share * 100),
        "horizon_months": given.horizon_months, "currency": currency,
    }  # fmt: skip
    moved = _sensitivity(given, saving)
    when = "renting is never dearer" if months is None else f"break-even at month {_tenth(months)}"
    return Calculation(
        value=saving, unit=currency,
        formula=f"own: {number(money(terms.lost(horizon)))} + {number(money(terms.own_per_month))} × {given.horizon_months}"
                f" = {money(own):,}; rent: {number(money(terms.rent_per_month))} × {given.horizon_months} = {money(rent):,};"
                f" rent − own = {saving:,} {currency}; {when}",
        outputs=outputs, assumptions=_assumptions(given),
        rows=(*_totals(terms, horizon), *_series(terms, given.horizon_months), *moved), changes_most=_most(moved, currency),
    )  # fmt: skip


def _terms(given: BuyOrRentInput) -> _Terms:
    card_price = given.cards * given.price_per_card
    purchase = card_price + (card_price * SERVER_SHARE if given.server_price is None else given.server_price)
    resale = purchase * (given.resale_share or ZERO)
    rated_kw = given.cards * (given.tdp_w or (given.gpu.tdp_w if given.gpu else None) or ZERO) / 1000
    host_kw = rated_kw * HOST_SHARE if given.host_kw is None else given.host_kw
    idle_kw = rated_kw * (IDLE_LOAD if given.idle_load is None else given.idle_load)
    per_kw_month = (given.pue or PUE) * HOURS_PER_MONTH * electricity_price(given.currency, given.price_per_kwh)
    capital = (purchase + resale) / 2 * (given.capital_rate or ZERO) / 12
    return _Terms(
        purchase=purchase, resale_value=resale,
        fixed_per_month=(given.hosting_per_month or ZERO) + (given.staff_per_month or ZERO) + capital,
        idle_power_per_month=(host_kw + idle_kw) * per_kw_month,
        busy_power_per_month=(rated_kw * (given.load or Decimal(1)) - idle_kw) * per_kw_month,
        full_rent_per_month=given.rent_per_gpu_hour * given.cards * HOURS_PER_MONTH, utilisation=given.utilisation,
        points=written_off_points(given.depreciation, purchase - resale, given.life_months),
    )  # fmt: skip


def _break_even_month(terms: _Terms) -> Decimal | None:
    """The month from which owning is never dearer again; None where renting stays cheaper for ever."""
    saved_per_month = terms.rent_per_month - terms.own_per_month
    if saved_per_month <= 0:
        return None  # value lost never comes back, so the gap never closes
    months = [ZERO, *(at for at, _ in terms.points)]
    gaps = [terms.own(month) - terms.rent(month) for month in months]
    behind = max((i for i, gap in enumerate(gaps) if gap > 0), default=None)
    if behind is None:
        return ZERO
    if behind == len(gaps) - 1:
        return months[-1] + gaps[-1] / saved_per_month
    slope = (gaps[behind] - gaps[behind + 1]) / (months[behind + 1] - months[behind])
    return months[behind] + gaps[behind] / slope


def _break_even_utilisation(terms: _Terms, horizon: Decimal) -> Decimal | None:
    """own(horizon) = rent(horizon) solved for the utilisation; None where even full use does not reach it."""
    unused = terms.lost(horizon) / horizon + terms.fixed_per_month + terms.idle_power_per_month
    per_use = terms.full_rent_per_month - terms.busy_power_per_month
    if per_use <= 0 or unused > per_use:
        return None
    return unused / per_use


def _totals(terms: _Terms, horizon: Decimal) -> list[Row]:
    power = terms.own_per_month - terms.fixed_per_month
    parts = {"purchase_less_residual": terms.lost(horizon), "hosting_staff_capital": terms.fixed_per_month * horizon,
             "power": power * horizon, "own_total": terms.own(horizon), "rent_total": terms.rent(horizon)}  # fmt: skip
    return [{"part": "total", "item": item, "amount": money(amount)} for item, amount in parts.items()]


def _series(terms: _Terms, months: int) -> list[Row]:
    own_per_month, rent_per_month = terms.own_per_month, terms.rent_per_month
    lost = [terms.lost(Decimal(month)) for month in range(months + 1)]
    return [
        {"part": "month", "month": m, "own": money(gone + own_per_month * m), "rent": money(rent_per_month * m),
         "residual": money(terms.purchase - gone)}
        for m, gone in enumerate(lost)
    ]  # fmt: skip


SHIFTED = {
    "utilisation": Bilingual(zh="利用率", en="utilisation"),
    "price_per_kwh": Bilingual(zh="电价", en="the power price"),
    "rent_per_gpu_hour": Bilingual(zh="租金单价", en="the rent"),
}


def _sensitivity(given: BuyOrRentInput, saving: Decimal) -> list[Row]:
    """The saving with one input 20 % lower and higher (utilisation at most 1), the widest swing first."""
    rows: list[Row] = []
    for field in SHIFTED:
        now = (
            electricity_price(given.currency, given.price_per_kwh)
            if field == "price_per_kwh"
            else getattr(given, field)
        )
        ends = [now * (1 - SHIFT), now * (1 + SHIFT)]
        if field == "utilisation":
            ends[1] = min(ends[1], Decimal(1))
        low, high = (_saving(given.model_copy(update={field: end})) for end in ends)
        rows.append({"part": "sensitivity", "input": field, "low": ends[0], "high": ends[1], "saving_at_low": low,
                     "saving_at_high": high, "swing": max(abs(low - saving), abs(high - saving))})  # fmt: skip
    return sorted(rows, key=lambda row: -Decimal(row["swing"]))


def _saving(given: BuyOrRentInput) -> Decimal:
    terms, horizon = _terms(given), Decimal(given.horizon_months)
    return money(terms.rent(horizon)) - money(terms.own(horizon))


def _most(rows: list[Row], currency: str) -> Bilingual:
    first = rows[0]
    name = SHIFTED[str(first["input"])]
    swing = f"{Decimal(first['swing']):,} {currency}"
    return Bilingual(zh=f"{name.zh}影响最大：变动 20% 使结果变动至多 {swing}",
                     en=f"{name.en} changes the result most: a shift of 20 % moves it by up to {swing}")  # fmt: skip


def _assumptions(given: BuyOrRentInput) -> tuple[Assumption, ...]:
    defaults = {"server_price": SERVER, "load": FULL_LOAD, "idle_load": IDLE, "host_kw": HOST, "pue": PUE_TAKEN}
    taken = [text for field, text in defaults.items() if getattr(given, field) is None]
    if given.price_per_kwh is None:
        taken.append(electricity_taken(given.currency))
    return (*taken, *(not_counted(field) for field in NOT_COUNTED if getattr(given, field) is None))


def _tenth(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.1"), rounding=ROUND_HALF_UP)
