"""Which numbers a conversation and its evidence hold, and whether a tool's argument is one of them.

A model that calls a calculator may pick numbers; it may not make them up. It does not say whether a number is true or
fits the question, and the names of cards, models and clouds are none of its business.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from assistant.evidence import Call, Citation
from assistant.evidence_facts import facts_of
from assistant.figures import extract_figures
from assistant.quantities import parse_quantities
from assistant.quantity import Quantity
from assistant.units import NONE, Measure, read_label
from knowledge.names import link, normalise

SECONDS = {"second": 1, "duration": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MEMORY = {"G", "GB", "GiB"}
MONEY_NAME = re.compile(r"(?:^|_)(?:price|cost|budget|revenue|purchase|rent|amounts?|dearer|cheaper|own)(?:_|$)")
UNITS_OF_KINDS = {"count": "card", "rows": "row", "parameters": "parameter", "context": "token", "percent": "%"}


@dataclass(frozen=True)
class Written:
    """A number that somebody wrote, with what it counts."""

    value: Decimal
    measure: Measure


def written_numbers(
    conversation: str, calls: Sequence[Call], citations: Sequence[Citation], names: Collection[str] = ()
) -> list[Written]:
    """Every number of the conversation, the passages and the results so far; digits of names are none."""
    facts = facts_of(calls, citations, "", names)
    evidence = [Written(fact.value, fact.measure) for fact in facts if fact.measure.unit != "tally"]
    return [*_said(normalise(conversation), names), *evidence]


def _said(text: str, names: Collection[str]) -> Iterator[Written]:
    """The numbers of the conversation as both readers have them; "4 A100s" is a count to the one and bare to the other."""
    quantities = parse_quantities(text, names=[(item.start, item.end) for item in link(text)])
    counted = [quantity for quantity in quantities if quantity.kind != "bare"]
    for quantity in quantities:
        yield from _of_quantity(quantity)
    for printed in extract_figures(text, names):
        is_counted = any(q.start < printed.end and printed.start < q.end for q in counted)
        if printed.measure != NONE or not is_counted:
            yield Written(printed.value, printed.measure)


def unwritten(arguments: Mapping[str, Any], schema: Mapping[str, Any], written: Sequence[Written]) -> list[str]:
    """The numbers in `arguments` that nobody wrote, as "path = value". Defaults and choices of the schema may be given."""
    return [
        f"{path} = {number:f}"
        for path, key, number, offered in _numbers(arguments, schema, "", "")
        if number not in offered and not any(_is(number, key, candidate) for candidate in written)
    ]


def _of_quantity(quantity: Quantity) -> Iterator[Written]:
    measure = (
        Measure(currency=quantity.currency) if quantity.currency else Measure(UNITS_OF_KINDS.get(quantity.kind, ""))
    )
    if quantity.kind in ("duration", "memory"):
        measure = Measure({"clock": "duration", "gpu-hour": "hour"}.get(quantity.unit, quantity.unit))
    for value in (quantity.value, quantity.high):
        if value is not None:
            yield Written(abs(value), measure)
            if quantity.kind == "duration" and quantity.hours is not None and value == quantity.value:
                yield Written(abs(quantity.hours), Measure("hour"))
            if quantity.kind == "parameters":
                yield Written(value.scaleb(9), measure)


def _is(number: Decimal, key: str, written: Written) -> bool:
    """Whether an argument's number is the written one: of the same kind, where both say what they count."""
    wanted, has = read_label(key), written.measure
    if MONEY_NAME.search(key) and not wanted.unit:
        return number == written.value and (bool(has.currency) or not has.unit)
    if has.currency:
        return False
    if wanted.unit in SECONDS and has.unit in SECONDS:
        return number * SECONDS[wanted.unit] == written.value * SECONDS[has.unit]
    if has.unit == "%" and wanted == NONE and number * 100 == written.value:
        return True
    return number == written.value and _same_kind(wanted.unit, has.unit)


def _same_kind(wanted: str, has: str) -> bool:
    return wanted in ("", "count") or has in ("", "count", "factor") or wanted == has or {wanted, has} <= MEMORY


def _numbers(
    value: Any, schema: Mapping[str, Any], path: str, key: str
) -> Iterator[tuple[str, str, Decimal, frozenset[Decimal]]]:
    """Each number of a JSON value with its path, the key it stands under, and the numbers that the schema offers."""
    if isinstance(value, Mapping):
        properties = schema.get("properties", {})
        for name, child in value.items():
            yield from _numbers(child, properties.get(name, {}), f"{path}.{name}" if path else name, name)
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield from _numbers(child, schema.get("items", {}), f"{path}.{place}", key)
    elif (number := _number(value, schema)) is not None:
        yield path, key, number, _offered(schema)


def _number(value: Any, schema: Mapping[str, Any]) -> Decimal | None:
    """The number in a value: also one written as text, where the schema does not say that text is meant."""
    if isinstance(value, str) and schema.get("type") == "string":
        return None
    return _as_number(value)


def _offered(schema: Mapping[str, Any]) -> frozenset[Decimal]:
    choices = [*schema.get("enum", []), schema.get("default"), schema.get("const")]
    return frozenset(number for choice in choices if (number := _as_number(choice)) is not None)


def _as_number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
