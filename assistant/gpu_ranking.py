"""The cards that can run a model under a load, ranked by rank_gpus; those that cannot, with what speaks against them.

Sizes every card on the side (inference_fit, serving_capacity) and keeps only the ranking's call; writes no sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Decimal
from math import gcd, lcm

from assistant import tools
from assistant.calculator.calculation import Calculation
from assistant.deployments import MOST_OVER_PCIE, Deployment, Load, Unfit, deployment, tensor_degrees
from assistant.fit_cases import arguments as fit_arguments
from assistant.ledger import Ledger
from assistant.offer_prices import CardPrice
from assistant.served_model import Served, Use
from assistant.tools import ToolError
from knowledge.catalog import Offer, Purchase

MOST_CARDS, MOST_CARDS_OF_LOAD = 8, 64  # one node; eight nodes where one does not do
TOO_MANY = {"speed": "many", "concurrency": "many"}  # rank_gpus' reasons where the load takes more cards than allowed
OLDEST_CAPABILITY = Decimal("7.0")  # vLLM's lowest (docs.vllm.ai, installation)
RULED_PRECISIONS = frozenset({"fp8"})  # formats that a card has to have, where they were asked for
NODE = 8


@dataclass(frozen=True)
class Bounds:
    """What the ranking keeps to. `hours` is how long is rented; `destination` the country the cards go to, or empty."""

    buys: bool
    currency: str
    hours: Decimal
    budget: Decimal | None
    destination: str
    order: str
    most_cards: int | None = None  # where the number of cards is said
    spare: bool = False  # one more copy than the load takes, for when one fails


@dataclass(frozen=True)
class Choice:
    """A card that does: how many, the row that prices it, its deployment where its speed is known."""

    card: CardPrice
    gpus: int
    copies: int
    row: Offer | Purchase
    found: Deployment | None
    on_front: bool

    @property
    def gpus_per_copy(self) -> int:
        return self.gpus // self.copies


@dataclass(frozen=True)
class Ranking:
    """One precision: the cards that do, best first, and the others by what speaks against them."""

    precision: str
    result: Calculation | None
    choices: tuple[Choice, ...]
    excluded: tuple[tuple[CardPrice, str], ...]
    most_cards: int


@dataclass(frozen=True)
class _Sized:
    card: CardPrice
    gpus: int
    copies: int
    need_gib: Decimal
    found: Deployment | None


def ranking(
    model: Served, use: Use, precision: str, load: Load, cards: Sequence[CardPrice], bounds: Bounds, book: Ledger
) -> Ranking:
    """All cards judged for one precision; more than a node only where nothing smaller carries the load."""
    sized, excluded = _all_sized(model, use, precision, load, cards, bounds)
    if bounds.most_cards:
        return _ranked(model, use, precision, load, sized, excluded, bounds, bounds.most_cards, book)
    aside = Ledger(book.catalog, book.language)
    found = _ranked(model, use, precision, load, sized, excluded, bounds, MOST_CARDS, aside)
    most = MOST_CARDS if found.choices or not load.is_stated else MOST_CARDS_OF_LOAD
    return _ranked(model, use, precision, load, sized, excluded, bounds, most, book)


def _all_sized(
    model: Served, use: Use, precision: str, load: Load, cards: Sequence[CardPrice], bounds: Bounds
) -> tuple[list[_Sized], list[tuple[CardPrice, str]]]:
    """How many of each card it takes, and the cards that cannot be taken at all."""
    sized: list[_Sized] = []
    excluded: list[tuple[CardPrice, str]] = []
    for card in cards:
        if card.spec.compute_capability and card.spec.compute_capability < OLDEST_CAPABILITY:
            excluded.append((card, "old"))
            continue
        found = (
            _with_load(model, use, precision, load, card)
            if load.is_stated
            else _alone(model, use, precision, load, card)
        )
        if isinstance(found, Unfit):
            excluded.append((card, found.reason))
        else:
            sized.append(_with_spare(found) if bounds.spare else found)
    return sized, excluded


def _ranked(
    model: Served, use: Use, precision: str, load: Load, sized: Sequence[_Sized], excluded: Sequence[tuple[CardPrice, str]],
    bounds: Bounds, most: int, book: Ledger,
) -> Ranking:  # fmt: skip
    if not sized:
        return Ranking(precision, None, (), tuple(excluded), most)
    wanted = _needed_rate(load)
    result = book.compute(
        "rank_gpus", candidates=[_candidate(each, load, wanted, bounds) for each in sized], max_gpus=most,
        usable_share=use.memory_share, attention_heads=None if load.is_stated or bounds.spare else _splits(model),
        precision=precision if precision in RULED_PRECISIONS and not use.precision_taken and not use.native else None,
        min_concurrency=_users(load, bounds), min_tokens_per_second=wanted, ownership="buy" if bounds.buys else "rent",
        hours=bounds.hours, budget=bounds.budget, destination=bounds.destination, order=bounds.order,
    )  # fmt: skip
    by_name = {each.card.spec.name: each for each in sized}
    choices = [_choice(row, by_name[str(row["gpu"])]) for row in result.rows if row["part"] == "ranked"]
    refused = [
        (by_name[str(row["gpu"])].card, TOO_MANY.get(str(row["reason"]), str(row["reason"])))
        for row in result.rows
        if row["part"] == "excluded"
    ]
    return Ranking(precision, result, tuple(choices), (*excluded, *refused), most)


def _with_load(model: Served, use: Use, precision: str, load: Load, card: CardPrice) -> _Sized | Unfit:
    found = deployment(model, card.spec, card.gpu, precision, load, tensor_degrees(card.spec))
    if isinstance(found, Unfit):
        return found
    need = _need(model, use, precision, card, found.gpus) or card.spec.memory_gib * use.memory_share * found.gpus
    return _Sized(card, found.all_gpus, found.replicas, need, found)


def _alone(model: Served, use: Use, precision: str, load: Load, card: CardPrice) -> _Sized | Unfit:
    """The fewest cards that surely hold it; its speed for one user where serving_capacity can tell."""
    out = tools.calculate("inference_fit", **fit_arguments(model, use, precision), gpu=card.spec).outputs
    gpus = int(out["cards_needed"])
    if not 0 < gpus <= (MOST_CARDS if card.spec.nvlink_gb_per_s else MOST_OVER_PCIE):
        return Unfit("memory")
    need = (Decimal(out["need_high_gib"]) * gpus).quantize(Decimal("0.001"))
    found = deployment(model, card.spec, card.gpu, precision, load, (gpus,)) if model.shape and gpus in tensor_degrees(card.spec) else Unfit("speed")  # fmt: skip
    return _Sized(card, gpus, 1, need, None if isinstance(found, Unfit) else found)


def _with_spare(each: _Sized) -> _Sized:
    """One copy more."""
    return replace(each, gpus=each.gpus + each.gpus // each.copies, copies=each.copies + 1)


def _need(model: Served, use: Use, precision: str, card: CardPrice, gpus: int) -> Decimal | None:
    try:
        out = tools.calculate(
            "inference_fit", **fit_arguments(model, use, precision) | {"sequences": 1}, gpu=card.spec, cards=gpus
        ).outputs
    except ToolError:
        return None
    most = card.spec.memory_gib * use.memory_share
    return (min(Decimal(out["need_high_gib"]), most) * gpus).quantize(Decimal("0.001"))


def _needed_rate(load: Load) -> Decimal | None:
    return load.requests_per_s * load.lengths.output_tokens if load.requests_per_s else None


def _candidate(each: _Sized, load: Load, wanted: Decimal | None, bounds: Bounds) -> dict[str, object]:
    """What one card manages in its deployment; rounded up, so that their number comes out as the deployment's.

    Without a load the speed is that of one user, but for the cost of tokens that of a full copy.
    """
    users = _users(load, bounds)
    full = load.is_stated or bounds.order == "cost_per_million_tokens"
    speed = each.found.figure("tokens_per_second" if full else "tokens_per_second_alone") / each.found.gpus if each.found else None  # fmt: skip
    if wanted:
        speed = _upwards(wanted, each.gpus)
    return {
        "gpu": each.card.spec, "prices": each.card.price_rows(), "memory_need_gib": each.need_gib,
        "tokens_per_second_per_gpu": speed,
        "concurrency_per_gpu": _upwards(Decimal(users), each.gpus) if users else None,
    }  # fmt: skip


def _users(load: Load, bounds: Bounds) -> int | None:
    """Users that the number of cards follows from; one, where a spare copy is all that adds to memory."""
    return load.users or (1 if bounds.spare else None)


def _upwards(amount: Decimal, gpus: int) -> Decimal:
    return (amount / gpus).quantize(Decimal("0.000001"), rounding=ROUND_UP)


def _splits(model: Served) -> int | None:
    """Degrees that divide both the heads and, or are replicated over, the KV heads within a node."""
    if model.shape is None:
        return None
    heads, kv_heads = model.shape.attention_heads, model.shape.kv_heads
    return gcd(heads, lcm(kv_heads, NODE)) if kv_heads else heads


def _choice(row: dict[str, Decimal | int | str], each: _Sized) -> Choice:
    gpus = int(row["gpus"])
    priced = next(r for r in each.card.rows if str(r.row) == row["source"])
    found = each.found if gpus == each.gpus else None
    return Choice(each.card, gpus, each.copies if gpus == each.gpus else 1, priced, found, row["pareto"] == "yes")
