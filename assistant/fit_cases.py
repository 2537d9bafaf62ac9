"""One model in one precision on one kind of card: the fit as inference_fit has it, on the asked and on the least cards.

Calls the calculators and keeps what they gave; it writes no sentence.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from assistant import tools
from assistant.calculator.calculation import Calculation
from assistant.fit_words import cards_named
from assistant.ledger import Ledger
from assistant.served_model import Served, Use
from assistant.tools import ToolError
from assistant.training_subject import CardAsked

USUAL_SHARE = Decimal("0.9")  # vLLM's default gpu_memory_utilization
RAISED_SHARE = Decimal("0.95")  # what it is raised to on cards that nothing else uses
FEW_CARDS = 16  # counts tried for one that is tight below the one that surely fits


@dataclass(frozen=True)
class Fit:
    """One precision on one kind of card: the asked number of cards, and the least that surely holds it."""

    model: Served
    use: Use
    precision: str
    card: CardAsked
    cards: int
    result: Calculation
    weights: Calculation
    raised: bool = False  # holds only with RAISED_SHARE of each card, above the engine's default

    @property
    def verdict(self) -> str:
        return "tight" if self.raised else str(self.result.outputs["verdict"])

    @property
    def cards_needed(self) -> int:
        """0 where no number of cards is enough."""
        return int(self.result.outputs["cards_needed"])

    def figure(self, name: str) -> Decimal:
        return Decimal(self.result.outputs[name])

    def who(self, book: Ledger) -> str:
        """2 张 A100 80 GB."""
        return cards_named(self.cards, self.card.label, book)


def fit_of(model: Served, use: Use, precision: str, card: CardAsked, count: int | None, book: Ledger) -> Fit:
    """The fit on `count` cards; on the least that holds it where that is asked (None). Raises ToolError for a split that cannot be."""
    weights = book.compute("model_weights", **model.arguments, precision=precision)
    given = arguments(model, use, precision) | {"gpu": card.spec, "cards": count}
    result, raised = tools.calculate("inference_fit", **given), False
    more = given | {"gpu_memory_utilization": RAISED_SHARE}
    if count and result.outputs["verdict"] == "no" and use.share_taken and use.engine == "vllm":
        raised = tools.calculate("inference_fit", **more).outputs["verdict"] == "fits"
    result = book.compute("inference_fit", **(more if raised else given))
    return Fit(model, use, precision, card, int(result.outputs["cards"]), result, weights, raised)


def arguments(model: Served, use: Use, precision: str) -> dict[str, object]:
    """The run as inference_memory and inference_fit take it; a cache only where the shape is known."""
    return {
        **model.arguments, "precision": precision, "context_tokens": use.context_tokens if model.shape else None,
        "sequences": use.sequences, "kv_precision": use.kv_precision, "engine": use.engine,
        "gpu_memory_utilization": use.memory_share,
    }  # fmt: skip


def tight_below(f: Fit, book: Ledger) -> int | None:
    """The least number of cards that holds it with the low end of the overhead only, below the number that surely does."""
    given = arguments(f.model, f.use, f.precision) | {"gpu": f.card.spec}
    for cards in [n for n in (1, 2, 4, 8, FEW_CARDS) if n < f.cards_needed]:
        try:
            verdict = tools.calculate("inference_fit", **given, cards=cards).outputs["verdict"]
        except ToolError:
            continue
        if verdict == "tight":
            book.compute("inference_fit", **given, cards=cards)
            return cards
    return None
