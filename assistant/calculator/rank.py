"""Which GPUs meet a need, in what number, at what cost; the Pareto front of cost and speed; and why the others do not.

Rows of GPUs and prices and figures of other calculators arrive as arguments: nothing is looked up or converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assistant.calculator.calculation import (
    NO_TRUTH,
    Amount,
    Assumption,
    Calculation,
    Count,
    Share,
    money,
    number,
    whole_times,
)
from assistant.calculator.energy import AmountOrNone
from assistant.calculator.gpu_support import Precision, Refusal, barred, licence_note, ruled, without_precision
from assistant.calculator.magnitudes import significant
from assistant.calculator.offers import PriceRow, one_currency
from assistant.calculator.price_date import first_day
from assistant.calculator.shapes import GpuSpec
from assistant.evidence import Bilingual, Frozen

Row = dict[str, Decimal | int | str]


class Candidate(Frozen):
    """A GPU with its price rows, and for it alone: the memory the workload needs on all GPUs together, and how many
    tokens per second and concurrent requests one GPU manages."""

    gpu: GpuSpec
    prices: tuple[PriceRow, ...] = ()
    memory_need_gib: Amount | None = None
    tokens_per_second_per_gpu: Amount | None = None
    concurrency_per_gpu: Amount | None = None


class RankInput(Frozen):
    """The need, the candidates, and the bounds. `memory_need_gib` holds for candidates that state none themselves.

    `usable_share` of a card's memory less `overhead_gib` is what the workload may fill. `hours` is how long is rented;
    `budget` bounds the whole cost. `destination` is the country the cards go to. Prices older than
    `max_price_age_days` on `today` are left out.
    """

    candidates: Annotated[tuple[Candidate, ...], Field(min_length=1, max_length=1000)]
    memory_need_gib: Amount | None = None
    precision: Precision | None = None
    max_gpus: Annotated[int, Field(ge=1, le=100_000), NO_TRUTH] = 8
    usable_share: Share = Decimal("0.9")
    overhead_gib: AmountOrNone = Decimal(0)
    attention_heads: Count | None = None
    min_tokens_per_second: Amount | None = None
    min_concurrency: Amount | None = None
    ownership: Literal["rent", "buy"] = "rent"
    hours: Amount = Decimal(1)
    budget: Amount | None = None
    regions: tuple[str, ...] = ()
    pricing_models: tuple[str, ...] = ()
    destination: str = ""
    today: date | None = None
    max_price_age_days: Count | None = None
    order: Literal["cost", "cost_per_million_tokens", "speed", "headroom"] = "cost"

    @model_validator(mode="after")
    def _decidable(self) -> RankInput:
        without = next(
            (c.gpu.name for c in self.candidates if (c.memory_need_gib or self.memory_need_gib) is None), None
        )
        if without is not None:
            raise ValueError(f"no memory_need_gib for {without!r}: give it for all, or for this candidate")
        if self.max_price_age_days and self.today is None:
            raise ValueError(f"max_price_age_days {self.max_price_age_days} needs today's date: give today")
        if self.order == "cost_per_million_tokens" and self.ownership == "buy":
            raise ValueError("order 'cost_per_million_tokens' needs a cost per hour: rent, or order by cost")
        return self


@dataclass(frozen=True)
class _Choice:
    """A GPU that meets the need, at its cheapest offer; nothing in it is rounded."""

    candidate: Candidate
    gpus: int
    need_gib: Decimal
    headroom_gib: Decimal
    offer: PriceRow
    cost: Decimal
    cost_per_hour: Decimal | None  # rent only
    note: Bilingual | None

    @property
    def name(self) -> str:
        return self.candidate.gpu.name

    @property
    def tokens_per_second(self) -> Decimal | None:
        one = self.candidate.tokens_per_second_per_gpu
        return None if one is None else one * self.gpus

    @property
    def cost_per_million_tokens(self) -> Decimal | None:
        """price per hour / (tokens per second x 3,600) x 10^6."""
        if self.cost_per_hour is None or self.tokens_per_second is None:
            return None
        return self.cost_per_hour / (self.tokens_per_second * 3600) * 10**6


def rank_gpus(given: RankInput) -> Calculation:
    """GPUs that meet the need, best first, each with number, cost and headroom; and every other with its reason.

    number = ceil(need / (memory x usable share - overhead)), raised until it splits the attention heads and reaches the
    wanted speed and concurrency; cost = instances x price per hour x hours, or cards x price. Ordered by exact figures.
    """
    prices = [row for candidate in given.candidates for row in candidate.prices if _is_for(row, given)]
    currency = one_currency(prices) if prices else ""
    judged = [(candidate, _judge(candidate, given)) for candidate in given.candidates]
    chosen = sorted(
        (result for _, result in judged if isinstance(result, _Choice)), key=lambda c: _order(c, given.order)
    )
    refused = sorted(
        ((c.gpu.name, r) for c, r in judged if isinstance(r, Refusal)), key=lambda pair: (pair[0], pair[1].code)
    )
    front = _pareto(chosen)
    outputs: Row = {"feasible": len(chosen), "excluded": len(refused), "currency": currency,
                    "pareto": ", ".join(choice.name for choice in chosen if id(choice) in front)}  # fmt: skip
    formula = f"{len(chosen)} of {len(judged)} GPUs meet the need"
    if chosen:
        first = chosen[0]
        outputs |= {"best": first.name, "best_gpus": first.gpus, "best_cost": money(first.cost),
                    "best_headroom_gib": money(first.headroom_gib)}  # fmt: skip
        formula += f"; 1. {first.name}: {_usable(first.candidate, given):,.2f} GiB × {first.gpus} ≥ {number(first.need_gib)} GiB"
    return Calculation(
        value=Decimal(len(chosen)), unit="GPU", formula=formula, outputs=outputs, assumptions=_assumptions(given, chosen),
        rows=(*(_shown(place, choice, id(choice) in front) for place, choice in enumerate(chosen, start=1)),
              *({"part": "excluded", "gpu": name, "reason": refusal.code, "reason_zh": refusal.reason.zh,
                 "reason_en": refusal.reason.en} for name, refusal in refused)),
    )  # fmt: skip


def _judge(candidate: Candidate, given: RankInput) -> _Choice | Refusal:
    refusal = barred(candidate.gpu, given.destination) or without_precision(candidate.gpu, given.precision)
    if refusal:
        return refusal
    gpus = _number(candidate, given)
    if isinstance(gpus, Refusal):
        return gpus
    offers = _usable_offers(candidate, given)
    if isinstance(offers, Refusal):
        return offers
    costs = {id(offer): _cost(offer, gpus, given) for offer in offers}
    offer = min(
        offers, key=lambda o: (costs[id(o)], o.provider, o.region, o.pricing_model, o.as_of, o.gpus_per_instance)
    )
    cost = costs[id(offer)]
    if given.budget is not None and cost > given.budget:
        return Refusal("over-budget", Bilingual(
            zh=f"最便宜也要 {money(cost):,} {offer.currency}，超出预算 {number(given.budget)}",
            en=f"costs at least {money(cost):,} {offer.currency}, over the budget of {number(given.budget)}"))  # fmt: skip
    need = candidate.memory_need_gib or given.memory_need_gib or Decimal(0)
    return _Choice(
        candidate=candidate, gpus=gpus, need_gib=need, headroom_gib=_usable(candidate, given) * gpus - need, offer=offer,
        cost=cost, cost_per_hour=cost / given.hours if given.ownership == "rent" else None,
        note=licence_note(candidate.gpu, given.destination),
    )  # fmt: skip


def _usable(candidate: Candidate, given: RankInput) -> Decimal:
    return candidate.gpu.memory_gib * given.usable_share - given.overhead_gib


def _number(candidate: Candidate, given: RankInput) -> int | Refusal:
    """The smallest number of GPUs that holds the need, reaches speed and concurrency, and splits the heads."""
    need, usable = candidate.memory_need_gib or given.memory_need_gib or Decimal(0), _usable(candidate, given)
    wanted = [("memory", need, usable if usable > 0 else None),
              ("speed", given.min_tokens_per_second, candidate.tokens_per_second_per_gpu),
              ("concurrency", given.min_concurrency, candidate.concurrency_per_gpu)]  # fmt: skip
    least = 1
    for code, amount, each in wanted:
        if amount is None:
            continue
        if each is None:
            return Refusal(code, _no_figure(code, usable))
        count = _ceiling(amount, each)
        if count > given.max_gpus:
            return Refusal(code, _too_many(code, amount, each, count, given.max_gpus))
        least = max(least, count)
    if given.attention_heads is None:
        return least
    splits = next(
        (n for n in range(least, min(given.max_gpus, given.attention_heads) + 1) if given.attention_heads % n == 0),
        None,
    )
    if splits is None:
        return Refusal("split", Bilingual(
            zh=f"{given.attention_heads} 个注意力头不能平分到 {least} 至 {given.max_gpus} 张卡",
            en=f"{given.attention_heads} attention heads cannot be split evenly over {least} to {given.max_gpus} GPUs"))  # fmt: skip
    return splits


def _ceiling(amount: Decimal, each: Decimal) -> int:
    whole = whole_times(amount, each)
    return whole if whole * each == amount else whole + 1


def _no_figure(code: str, usable: Decimal) -> Bilingual:
    if code == "memory":
        return Bilingual(zh=f"扣除余量后每卡可用显存为 {usable:.2f} GiB，放不下",
                         en=f"does not fit: {usable:.2f} GiB of each card are usable")  # fmt: skip
    zh = {"speed": "速度", "concurrency": "并发"}[code]
    return Bilingual(zh=f"没有这张卡的{zh}数据", en=f"no {code} figure is given for it")


def _too_many(code: str, amount: Decimal, each: Decimal, count: int, most: int) -> Bilingual:
    zh = {"memory": "放不下：显存", "speed": "速度不够：", "concurrency": "并发不够："}[code]
    en = {"memory": "does not fit: memory", "speed": "too slow: speed", "concurrency": "too few requests: concurrency"}[
        code
    ]
    return Bilingual(zh=f"{zh}需要 {number(amount)}，每卡 {each:,.2f}，要 {count:,} 张，最多 {most:,} 张",
                     en=f"{en} of {number(amount)} at {each:,.2f} per GPU takes {count:,} GPUs, at most {most:,} are allowed")  # fmt: skip


def _usable_offers(candidate: Candidate, given: RankInput) -> Sequence[PriceRow] | Refusal:
    """The price rows that may be used. A slice of a GPU cannot hold what was counted in whole ones."""
    regions, models = ({v.casefold() for v in values} for values in (given.regions, given.pricing_models))
    kept = [
        row for row in candidate.prices
        if _is_for(row, given) and row.gpu_fraction == 1
        and (not regions or row.region.casefold() in regions) and (not models or row.pricing_model.casefold() in models)
    ]  # fmt: skip
    if not kept:
        where = "".join(f", {', '.join(values)}" for values in (given.regions, given.pricing_models) if values)
        zh = {"rent": "租用", "buy": "购买"}[given.ownership]
        return Refusal(
            "no-price",
            Bilingual(
                zh=f"没有{zh}价格（整卡{where}）", en=f"no price row to {given.ownership} it (whole cards{where})"
            ),
        )
    if given.max_price_age_days is None or given.today is None:
        return kept
    recent = [
        row for row in kept if (day := first_day(row.as_of)) and (given.today - day).days <= given.max_price_age_days
    ]
    if recent:
        return recent
    dates = ", ".join(sorted({row.as_of or "undated" for row in kept}))
    return Refusal("price-too-old", Bilingual(zh=f"价格过旧或未注明日期（{dates}），上限 {given.max_price_age_days} 天",
                                               en=f"prices are too old or undated ({dates}): at most {given.max_price_age_days} days"))  # fmt: skip


def _is_for(row: PriceRow, given: RankInput) -> bool:
    return (row.per == "card") == (given.ownership == "buy")


def _cost(offer: PriceRow, gpus: int, given: RankInput) -> Decimal:
    if offer.per == "card":
        return gpus * offer.price
    return offer.instances_for(Decimal(gpus)) * offer.price_per_hour * given.hours


def _order(choice: _Choice, order: str) -> tuple[bool, Decimal, Decimal, str]:
    """Ascending; a GPU without the figure comes last, equals go by cost and name."""
    speed, per_million = choice.tokens_per_second, choice.cost_per_million_tokens
    key = {"cost": choice.cost, "headroom": -choice.headroom_gib, "cost_per_million_tokens": per_million,
           "speed": None if speed is None else -speed}[order]  # fmt: skip
    return key is None, key or Decimal(0), choice.cost, choice.name


def _pareto(choices: Iterable[_Choice]) -> set[int]:
    """Ids of the choices with a speed that no other beats in cost without being slower, or in speed without costing more."""
    with_speed = [
        (choice.cost, -speed, choice) for choice in choices if (speed := choice.tokens_per_second) is not None
    ]
    front: set[int] = set()
    best: tuple[Decimal, Decimal] | None = None
    for cost, slowness, choice in sorted(with_speed, key=lambda entry: entry[:2]):
        if best is None or slowness < best[1] or (cost, slowness) == best:
            front.add(id(choice))
            best = (cost, slowness)
    return front


def _shown(place: int, choice: _Choice, on_front: bool) -> Row:
    offer = choice.offer
    row: Row = {
        "part": "ranked", "place": place, "gpu": choice.name, "gpus": choice.gpus, "need_gib": choice.need_gib,
        "headroom_gib": money(choice.headroom_gib), "cost": money(choice.cost), "currency": offer.currency,
        "provider": offer.provider, "region": offer.region, "pricing_model": offer.pricing_model,
        "gpus_billed": choice.gpus if offer.per == "card" else offer.instances_for(Decimal(choice.gpus)) * offer.gpus_per_instance,
        "as_of": offer.as_of, "source": offer.source, "pareto": "yes" if on_front else "no",
    }  # fmt: skip
    if choice.tokens_per_second is not None:
        row["tokens_per_second"] = choice.tokens_per_second
    if choice.candidate.concurrency_per_gpu is not None:
        row["concurrency"] = choice.candidate.concurrency_per_gpu * choice.gpus
    if choice.cost_per_million_tokens is not None:
        row["cost_per_million_tokens"] = significant(choice.cost_per_million_tokens, 12)
    if choice.note:
        row |= {"note_zh": choice.note.zh, "note_en": choice.note.en}
    return row


def _assumptions(given: RankInput, chosen: Sequence[_Choice]) -> tuple[Assumption, ...]:
    share = number(given.usable_share * 100)
    made = [Assumption(name="usable_share", value=number(given.usable_share), source="vLLM: gpu_memory_utilization 0.9", text=Bilingual(
        zh=f"每卡显存按 {share}% 可用计，再减 {number(given.overhead_gib)} GiB", en=f"{share} % of each card's memory counts as usable, less {number(given.overhead_gib)} GiB"))]  # fmt: skip
    if any(choice.gpus > 1 and choice.tokens_per_second is not None for choice in chosen):
        made.append(Assumption(name="scaling", value="linear", source="an upper bound", text=Bilingual(
            zh="多卡速度按单卡乘以张数计，是上限", en="the speed of several GPUs is taken as one GPU's times their number: an upper bound")))  # fmt: skip
    if given.destination and not ruled(given.destination):
        made.append(Assumption(name="destination", value=given.destination, text=Bilingual(
            zh=f"只有对中国的出口规则有依据，未按 {given.destination} 排除任何卡", en=f"only export rules for China are on file: nothing was excluded for {given.destination}")))  # fmt: skip
    return tuple(made)
