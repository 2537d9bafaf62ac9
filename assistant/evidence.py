"""The values that travel from a tool call to the reader: evidence, figures, events and the Answer.

This module holds data only. It does not compute, look anything up or render.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PlainSerializer

Language = Literal["zh", "en"]
Status = Literal["answered", "needs_detail", "not_in_knowledge", "off_topic", "unavailable"]


def _json_number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


JsonDecimal = Annotated[Decimal, PlainSerializer(_json_number, return_type=int | float, when_used="json")]


class Frozen(BaseModel):
    """Base of every value here: immutable, and unknown fields are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Bilingual(Frozen):
    """One statement in both languages."""

    zh: str
    en: str

    def __getitem__(self, language: Language) -> str:
        return self.zh if language == "zh" else self.en


class Call(Frozen):
    """One tool call: what was asked, what came back, and the formula with the numbers put in."""

    tool: str
    arguments: dict[str, JsonValue]
    result: JsonValue
    formula: str | None = None
    assumptions: tuple[str, ...] = ()


class Citation(Frozen):
    """A passage or table row shown as evidence; `id` is the number printed as [id]."""

    id: int
    title: str
    source: str
    locator: str
    excerpt: str
    as_of: str | None = None


class Figure(Frozen):
    """A figure as printed in the answer, and the evidence it was traced to.

    `evidence` is "call:N" (index into Answer.calls) or "cite:N" (a Citation id).
    """

    text: str
    value: JsonDecimal
    unit: str
    evidence: str


class Timings(Frozen):
    """Milliseconds spent per stage; None where the stage did not run."""

    understand: float
    retrieve: float | None = None
    tools: float | None = None
    first_event: float
    first_token: float | None = None
    total: float


class Answer(Frozen):
    """The whole answer, in the form that other programs read (`ask --json`)."""

    question: str
    language: Language
    status: Status
    text: str
    calls: tuple[Call, ...] = ()
    citations: tuple[Citation, ...] = ()
    figures: tuple[Figure, ...] = ()
    verified: bool
    dropped: tuple[str, ...] = ()
    model: str | None = None
    timings_ms: Timings


class Finding(Frozen):
    """What code found for a question: the card, its source lines and evidence, and whether prose would help."""

    status: Status
    markdown: str
    sources: str = ""
    calls: tuple[Call, ...] = ()
    citations: tuple[Citation, ...] = ()
    wants_prose: bool = False


class Card(Frozen):
    """First event: the deterministic part of the answer, as Markdown; may be followed by prose."""

    kind: Literal["card"] = "card"
    markdown: str
    calls: tuple[Call, ...] = ()
    citations: tuple[Citation, ...] = ()


class Prose(Frozen):
    """A verified piece of model prose to append (a sentence, or the blank line between parts)."""

    kind: Literal["prose"] = "prose"
    markdown: str


class Working(Frozen):
    """The model is at work and nothing can be shown yet; adapters may show `message`."""

    kind: Literal["working"] = "working"
    message: str


class Done(Frozen):
    """Last event: the Answer. Its `text` replaces everything shown before."""

    kind: Literal["done"] = "done"
    answer: Answer


Event = Annotated[Card | Prose | Working | Done, Field(discriminator="kind")]
