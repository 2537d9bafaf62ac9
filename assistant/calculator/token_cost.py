"""Money and tokens of serving: cost per million tokens, revenue at list prices, margin, average rates, scaling.

Says which tokens are counted; converts no currency.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Calculation, Count, Currency, Tokens, money, number
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.training_compute import TokenRate
from assistant.evidence import Bilingual, Frozen, JsonDecimal

MILLION = 10**6
Counted = Literal["output", "input", "input and output"]
COUNTED_ZH = {"output": "输出", "input": "输入", "input and output": "输入加输出"}
TokensOrNone = Annotated[JsonDecimal, Field(ge=0, le=10**16), NO_TRUTH]
PriceOrFree = Annotated[JsonDecimal, Field(ge=0, le=10**6), NO_TRUTH]


class CostPerMillionTokensInput(Frozen):
    """`price_per_hour` of everything that runs, and the `tokens_per_second` all of it makes together.

    `counted` says which tokens that rate counts; with `utilization` the machine is paid for but busy for that share.
    """

    price_per_hour: Amount
    tokens_per_second: TokenRate
    counted: Counted = "output"
    utilization: Annotated[JsonDecimal, Field(gt=0, le=1), NO_TRUTH] = Decimal(1)
    currency: Currency = "USD"


def cost_per_million_tokens(given: CostPerMillionTokensInput) -> Calculation:
    """cost = price per hour / (tokens per second x 3600 x utilization) x 10^6."""
    per_hour = given.tokens_per_second * 3600 * given.utilization
    cost = significant(given.price_per_hour / per_hour * MILLION)
    busy = f" × {number(given.utilization)}" if given.utilization != 1 else ""
    return Calculation(
        value=cost, unit=f"{given.currency}/million tokens",
        formula=f"{number(given.price_per_hour)} {given.currency}/h ÷ ({figure(given.tokens_per_second)} × 3600{busy})"
                f" × 1e6 = {figure(cost)} {given.currency} per million {given.counted} tokens",
        outputs={"cost_per_million_tokens": cost, "tokens_per_hour": significant(per_hour), "currency": given.currency,
                 "counted": given.counted},
        changes_most=Bilingual(
            zh=f"与吞吐量成反比；计的是{COUNTED_ZH[given.counted]}词元", en=f"inverse to the rate; {given.counted} tokens are counted",
        ),
    )  # fmt: skip


class TokenRevenueInput(Frozen):
    """Tokens sold and list prices per million: prompt tokens found in the cache, other prompt tokens, output tokens."""

    output_tokens: Tokens
    input_tokens: TokensOrNone = Decimal(0)
    cached_input_tokens: TokensOrNone = Decimal(0)
    output_price_per_million: PriceOrFree
    input_price_per_million: PriceOrFree = Decimal(0)
    cached_input_price_per_million: PriceOrFree = Decimal(0)
    currency: Currency = "USD"


def token_revenue(given: TokenRevenueInput) -> Calculation:
    """revenue = sum of tokens x price / 10^6 over cached input, other input and output."""
    parts = {
        "cached_input": (given.cached_input_tokens, given.cached_input_price_per_million),
        "input": (given.input_tokens, given.input_price_per_million),
        "output": (given.output_tokens, given.output_price_per_million),
    }
    sums = {name: tokens * price / MILLION for name, (tokens, price) in parts.items()}
    total = money(sum(sums.values(), Decimal(0)))
    terms = " + ".join(f"{figure(tokens)} × {number(price)}" for tokens, price in parts.values() if tokens)
    return Calculation(
        value=total, unit=given.currency, formula=f"({terms}) ÷ 1e6 = {total:,} {given.currency}",
        outputs={"revenue": total, **{f"{name}_revenue": money(part) for name, part in sums.items()},
                 "currency": given.currency},
        changes_most=Bilingual(zh="与词元数和单价成正比", en="proportional to tokens and prices"),
    )  # fmt: skip


class MarginInput(Frozen):
    """Revenue and cost of the same period, in one currency."""

    revenue: Amount
    cost: Amount
    currency: Currency = "USD"


def margin(given: MarginInput) -> Calculation:
    """profit over cost = (revenue - cost) / cost; profit over revenue = (revenue - cost) / revenue."""
    profit = given.revenue - given.cost
    over_cost, over_revenue = profit / given.cost * 100, profit / given.revenue * 100
    return Calculation(
        value=significant(over_cost), unit="percent of cost",
        formula=f"({number(given.revenue)} − {number(given.cost)}) ÷ {number(given.cost)} = {figure(over_cost)} %",
        outputs={"profit": profit, "percent_of_cost": significant(over_cost),
                 "percent_of_revenue": significant(over_revenue), "currency": given.currency},
        changes_most=Bilingual(zh="分母是成本，不是收入", en="the divisor is the cost, not the revenue"),
    )  # fmt: skip


class AverageTokenRateInput(Frozen):
    """Tokens made in so many seconds by so many machines (an average number of machines may be a fraction)."""

    tokens: Tokens
    seconds: Amount
    machines: Amount = Decimal(1)


def average_token_rate(given: AverageTokenRateInput) -> Calculation:
    """tokens per second and machine = tokens / seconds / machines: an average, below the peak of a busy hour."""
    rate = given.tokens / given.seconds / given.machines
    return Calculation(
        value=significant(rate), unit="token per second per machine",
        formula=f"{figure(given.tokens)} ÷ {number(given.seconds)} s ÷ {number(given.machines)} = {figure(rate)} tokens/s",
        outputs={"tokens_per_second_per_machine": significant(rate),
                 "tokens_per_second": significant(given.tokens / given.seconds)},
        changes_most=Bilingual(zh="平均值低于高峰值", en="an average lies below the peak"),
    )  # fmt: skip


class ScalingInput(Frozen):
    """The rate of `gpus` GPUs together and of one (or of `base_gpus`)."""

    rate_of_many: Amount
    rate_of_base: Amount
    gpus: Count
    base_gpus: Count = 1

    @model_validator(mode="after")
    def _more(self) -> ScalingInput:
        if self.gpus < self.base_gpus:
            raise ValueError(f"gpus {self.gpus} is below base_gpus {self.base_gpus}: swap the two")
        return self


def scaling(given: ScalingInput) -> Calculation:
    """ratio = rate of many / rate of the base; efficiency = ratio / (gpus / base gpus)."""
    ratio = given.rate_of_many / given.rate_of_base
    efficiency = ratio * given.base_gpus / given.gpus * 100
    return Calculation(
        value=significant(ratio), unit="times",
        formula=f"{number(given.rate_of_many)} ÷ {number(given.rate_of_base)} = {figure(ratio)};"
                f" × {given.base_gpus:,} ÷ {given.gpus:,} = {figure(efficiency, 4)} %",
        outputs={"ratio": significant(ratio), "efficiency_percent": significant(efficiency, 4), "gpus": given.gpus},
        changes_most=Bilingual(zh="互联越慢，效率越低", en="a slower interconnect lowers the efficiency"),
    )  # fmt: skip
