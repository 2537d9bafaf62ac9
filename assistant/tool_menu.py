"""What a capable model may call while an answer is gathered: calculators, prices, specifications, the documents.

Every tool writes into the Ledger of the answer, so that what it found can be cited and traced. It does not talk to the
model (tool_rounds.py) and changes nothing anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from assistant import documents
from assistant.ledger import Ledger
from assistant.reading import Slots
from assistant.tool_calls import Tool
from assistant.tool_schemas import calculator_tool
from assistant.tools import ToolError
from assistant.understand import Request
from knowledge.catalog import Catalog
from knowledge.gpu_names import gpu_forms
from knowledge.index import Index
from knowledge.names import link, model_name, normalise

# Of the many calculators those that an explanation may want; each costs the model 150 to 400 tokens of prompt.
OFFERED = (
    "period_hours", "rental_cost", "budget_hours", "gpu_hours", "price_difference", "cost_per_million_tokens",
    "model_weights", "kv_cache", "inference_fit", "cards_needed", "training_cost_from_rate",
)  # fmt: skip
MOST_ROWS = 8  # of prices or specifications in one result
NAME = {"type": "string"}


@dataclass(frozen=True)
class MenuTool:
    """A tool and what runs it: takes checked arguments, returns the text for the model, raises ToolError."""

    tool: Tool
    run: Callable[[dict[str, Any]], str]


def menu(request: Request, book: Ledger, index: Index) -> dict[str, MenuTool]:
    """All tools of one answer by name."""
    calculators = [MenuTool(calculator_tool(name), _calculating(name, book)) for name in OFFERED]
    return {item.tool.name: item for item in [*_look_ups(request, book, index), *calculators]}


def _look_ups(request: Request, book: Ledger, index: Index) -> list[MenuTool]:
    return [
        MenuTool(
            Tool(
                "price_look_up",
                "Dated rental prices per hour of a card, of one cloud or of all, cheapest first.",
                _object({"gpu": NAME, "provider": NAME}, "gpu"),
            ),
            lambda given: _prices(given, book),
        ),
        MenuTool(
            Tool(
                "spec_look_up", "Specifications of a card, or shape of an open model.", _object({"name": NAME}, "name")
            ),
            lambda given: _specifications(given, book),
        ),
        MenuTool(
            Tool("search_documents", "Passages of the documents about something.", _object({"query": NAME}, "query")),
            lambda given: _passages(given, request, book, index),
        ),
    ]


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _calculating(name: str, book: Ledger) -> Callable[[dict[str, Any]], str]:
    def run(given: dict[str, Any]) -> str:
        result = book.compute(name, **given)
        said = result.model_dump(mode="json", include={"value", "unit", "formula", "outputs"})
        return json.dumps(
            said | {"assumptions": [a.text[book.language] for a in result.assumptions]}, ensure_ascii=False
        )

    return run


def _prices(given: dict[str, Any], book: Ledger) -> str:
    gpu = _named(given["gpu"], "gpu")
    provider = _named(given["provider"], "provider") if given.get("provider") else None
    offers = book.catalog.find_offers([gpu], [provider] if provider else [])[:MOST_ROWS]
    if not offers:
        return f"no price row for {gpu}{f' of {provider}' if provider else ''}: say so, and use no other price"
    return _new_citations(book, lambda: book.cite_offers(offers, gpu=gpu, provider=provider))


def _specifications(given: dict[str, Any], book: Ledger) -> str:
    catalog, name = book.catalog, given["name"]
    exact = catalog.gpu(name)
    forms = [exact] if exact else [row for form in gpu_forms(name).forms if (row := catalog.gpu(form))]
    if forms:
        return _new_citations(book, lambda: "".join(book.cite_gpu(form) for form in forms[:MOST_ROWS]))
    key = _model_of(name, catalog)
    model = catalog.model(key) if key else None
    if model is None:
        raise ToolError(f"no card and no open model is called {name!r}")
    return _new_citations(book, lambda: book.cite_model(model))


def _model_of(name: str, catalog: Catalog) -> str | None:
    if catalog.model(name):
        return name
    return next((model_name(item.key) for item in link(normalise(name)) if item.kind == "model"), None)


def _passages(given: dict[str, Any], request: Request, book: Ledger, index: Index) -> str:
    query = given["query"].strip()
    if not query:
        raise ToolError("query is empty; say what to look for")
    wanted = replace(request, question=query, search_text=query, slots=Slots(), said=Slots())
    shelf = Ledger(book.catalog, book.language)
    found = documents.look_up(wanted, shelf, index)
    if found.status != "answered":
        return "no passage surely says something about this: say so, or search in other words"
    known = {citation.locator: citation.id for citation in book.citations}
    for citation in shelf.citations:
        if citation.locator not in known:
            known[citation.locator] = len(book.citations) + 1
            book.citations.append(citation.model_copy(update={"id": known[citation.locator]}))
    wanted_ids = {known[citation.locator] for citation in shelf.citations}
    return documents.evidence_text([citation for citation in book.citations if citation.id in wanted_ids])


def _new_citations(book: Ledger, cite: Callable[[], str]) -> str:
    """The rows that `cite` cites as the model is shown them, each with its number, known ones too."""
    marks = cite()
    return documents.evidence_text([citation for citation in book.citations if f"[{citation.id}]" in marks])


def _named(name: str, kind: str) -> str:
    """The key of the one name meant. Raises ToolError for none or several."""
    keys = list(dict.fromkeys(item.key for item in link(normalise(name)) if item.kind == kind))
    if len(keys) != 1:
        raise ToolError(f"{kind} = {name!r} is not one {kind} that the tables know; give one name")
    return keys[0]
