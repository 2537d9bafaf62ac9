"""Electricity, its cost and its CO2; colocation by committed power; and what an API costs by tokens.

Pure arithmetic on the numbers given: no table is read, no currency is converted.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, Field

from assistant.calculator.calculation import (
    LARGEST,
    NO_TRUTH,
    Amount,
    Assumption,
    Calculation,
    Count,
    Currency,
    Share,
    money,
    number,
)
from assistant.calculator.magnitudes import significant
from assistant.evidence import Bilingual, Frozen, JsonDecimal


def _finite(value: Decimal) -> Decimal:
    if not value.is_finite() or value > LARGEST:
        raise ValueError(f"{value} is beyond what a GPU calculation can mean (at most {LARGEST:.0e})")
    return value


AmountOrNone = Annotated[JsonDecimal, Field(ge=0), AfterValidator(_finite), NO_TRUTH]  # 0 is a statement: nothing
ShareOrNone = Annotated[JsonDecimal, Field(ge=0, le=1), NO_TRUTH]
Pue = Annotated[JsonDecimal, Field(ge=1, le=5), NO_TRUTH]
PUE = Decimal("1.56")
PUE_TAKEN = Assumption(
    name="pue", value="1.56", source="Uptime Institute, Global Data Center Survey 2024",
    text=Bilingual(
        zh="PUE（机房总用电 ÷ IT 用电）按 1.56 计，为 2024 年行业平均；大型新机房约 1.1 至 1.3",
        en="PUE (power of the site ÷ power of its IT) is taken as 1.56, the industry's average of 2024; large new sites reach 1.1 to 1.3",
    ),
)  # fmt: skip
FULL_LOAD = Assumption(
    name="load", value="1", source="LLaMA, arXiv 2302.13971, table 15",
    text=Bilingual(
        zh="GPU 按其标称功率满载计；实测平均常低于此值",
        en="each GPU is taken to draw its rated power; measured averages are often lower",
    ),
)  # fmt: skip


class EnergyInput(Frozen):
    """`gpus` GPUs of `gpu_watts` W for `hours` h at `load` of that power, a host of `host_kw` kW, and the site's PUE."""

    gpus: Count = 1
    hours: Amount
    gpu_watts: Amount
    load: Share | None = None
    host_kw: AmountOrNone = Decimal(0)
    pue: Pue | None = None
    price_per_kwh: AmountOrNone | None = None
    currency: Currency = "CNY"
    kg_co2_per_kwh: AmountOrNone | None = None


def energy(given: EnergyInput) -> Calculation:
    """kWh = (GPUs x W / 1,000 x load + host kW) x PUE x hours; cost = kWh x price; tonnes CO2 = kWh x kg / 1,000.

    The form of LLaMA's table 15 (arXiv 2302.13971), which takes rated power and a PUE of 1.1.
    """
    load, pue = given.load or Decimal(1), given.pue or PUE
    kw = (given.gpus * given.gpu_watts / 1000 * load + given.host_kw) * pue
    kwh = kw * given.hours
    host = f" + {number(given.host_kw)} kW" if given.host_kw else ""
    outputs: dict[str, Decimal | int | str] = {
        "kwh": significant(kwh, 12), "mwh": significant(kwh / 1000, 12), "kw": significant(kw, 12), "hours": given.hours,
    }  # fmt: skip
    formula = (f"({given.gpus:,} × {number(given.gpu_watts)} W ÷ 1,000 × {number(load)}{host}) × PUE {number(pue)}"
               f" × {number(given.hours)} h = {kwh:,.2f} kWh")  # fmt: skip
    if given.price_per_kwh is not None:
        cost = kwh * given.price_per_kwh
        outputs |= {
            "cost": money(cost),
            "cost_per_hour": significant(kw * given.price_per_kwh, 12),
            "currency": given.currency,
        }
        formula += f"; × {number(given.price_per_kwh)} {given.currency}/kWh = {money(cost):,} {given.currency}"
    if given.kg_co2_per_kwh is not None:
        outputs["co2_t"] = significant(kwh * given.kg_co2_per_kwh / 1000, 12)
        formula += f"; × {number(given.kg_co2_per_kwh)} kg/kWh ÷ 1,000 = {outputs['co2_t']:,.3f} t CO2e"
    taken = ((FULL_LOAD,) if given.load is None else ()) + ((PUE_TAKEN,) if given.pue is None else ())
    return Calculation(value=significant(kwh, 12), unit="kWh", formula=formula, outputs=outputs, assumptions=taken)


class ColocationCostInput(Frozen):
    """Power committed in a colocation site, in kW, and its price per kW and month."""

    kw: Amount
    price_per_kw_month: Amount
    months: Amount = Decimal(1)
    currency: Currency = "CNY"


def colocation_cost(given: ColocationCostInput) -> Calculation:
    """cost = committed kW x price per kW and month x months: what is committed is paid, used or not."""
    cost = money(given.kw * given.price_per_kw_month * given.months)
    return Calculation(
        value=cost, unit=given.currency,
        formula=f"{number(given.kw)} kW × {number(given.price_per_kw_month)} {given.currency}/kW/month"
                f" × {number(given.months)} month = {cost:,} {given.currency}",
        outputs={"cost": cost, "months": given.months, "currency": given.currency},
    )  # fmt: skip


class ApiCostInput(Frozen):
    """Tokens in millions (input and output together), the share that is input, and both prices per million tokens."""

    million_tokens: Amount
    input_share: ShareOrNone
    price_per_million_input: AmountOrNone
    price_per_million_output: AmountOrNone
    currency: Currency = "CNY"


def api_cost(given: ApiCostInput) -> Calculation:
    """cost = tokens x share x input price + tokens x (1 - share) x output price (arXiv 2509.18101)."""
    inward = given.million_tokens * given.input_share
    outward = given.million_tokens - inward
    cost = money(inward * given.price_per_million_input + outward * given.price_per_million_output)
    return Calculation(
        value=cost, unit=given.currency,
        formula=f"{inward:,.4f} M × {number(given.price_per_million_input)} + {outward:,.4f} M"
                f" × {number(given.price_per_million_output)} {given.currency}/M = {cost:,} {given.currency}",
        outputs={"cost": cost, "million_input_tokens": significant(inward, 12), "million_output_tokens": significant(outward, 12),
                 "currency": given.currency},
    )  # fmt: skip
