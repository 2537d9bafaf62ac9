"""The values that the evidence of an answer holds: each number of calls, passages and question, with what it is about.

It reads evidence; it judges no text and computes nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from pydantic import JsonValue

from assistant.evidence import Call, Citation
from assistant.figures import extract_figures
from assistant.units import NONE, Measure, read_label

COUNTS = {"count", "number", "rank", "index", "id"}
# Where a statement ends inside a passage. "、" parts no statement: "A100、H100 分别是 a、b 元" is one.
CLAUSE_END = re.compile(r"[，；;。：！？\n]|[,:](?=\s)|\.(?=\s|$)|\s(?:and|while|but|whereas)\s")


@dataclass(frozen=True)
class Fact:
    """A value of the evidence. `context` is the text around it, nearest first, which says whose value it is.

    `near` is what stands right beside it and says what it is of: the clause in a text, the key in a result.
    """

    value: Decimal
    measure: Measure
    evidence: str
    context: tuple[str, ...] = ()
    near: str = ""


def facts_of(calls: Sequence[Call], citations: Sequence[Citation], question: str, names: Collection[str]) -> list[Fact]:
    """All facts, best evidence first: a row that can be opened is better to a reader than the look-up that found it."""
    by_call = list(_call_facts(calls, names))
    computed = [fact for fact in by_call if calls[int(fact.evidence.split(":")[1])].formula]
    looked_up = [fact for fact in by_call if not calls[int(fact.evidence.split(":")[1])].formula]
    return [*_citation_facts(citations, names), *computed, *looked_up, *_question_facts(question, names)]


def clause_around(text: str, start: int, end: int) -> str:
    """The clause of a text that holds the characters from start to end."""
    cuts = [0, *(cut for match in CLAUSE_END.finditer(text) for cut in match.span()), len(text)]
    return text[max(cut for cut in cuts if cut <= start) : min(cut for cut in cuts if cut >= end)]


def _call_facts(calls: Sequence[Call], names: Collection[str]) -> Iterator[Fact]:
    for i, call in enumerate(calls):
        evidence, given = f"call:{i}", _scalars(call.arguments)
        for node, outer in ((call.arguments, ()), (call.result, (given,))):
            yield from _json_facts(node, NONE, evidence, outer, names)
        everything = f"{given} {json.dumps(call.result, ensure_ascii=False)}"
        for text in (call.formula or "", *call.assumptions):
            for fact in _text_facts(text, evidence, (text, everything), names):
                yield replace(fact, measure=Measure("factor")) if fact.measure == NONE else fact


def _json_facts(
    node: JsonValue, measure: Measure, evidence: str, context: tuple[str, ...], names: Collection[str], key: str = ""
) -> Iterator[Fact]:
    """Numbers of a JSON value; keys (hours, price_cny_per_hour) and siblings ("unit", "currency") give their units."""
    if isinstance(node, dict):
        inner = (_scalars(node), *context)
        for label, child in node.items():
            own = read_label(label)
            own = _from_siblings(label, own, node) if not isinstance(child, dict | list) else own
            named = own if own != NONE else measure
            around = (label, *inner) if isinstance(child, dict | list) else inner
            yield from _json_facts(child, named, evidence, around, names, label)
    elif isinstance(node, list):
        yield Fact(Decimal(len(node)), Measure("tally"), evidence, context)
        for child in node:
            yield from _json_facts(child, measure, evidence, context, names, key)
    elif isinstance(node, str):
        for fact in _text_facts(node, evidence, context, names):
            yield replace(fact, measure=measure) if fact.measure == NONE else fact
    elif node is not None and not isinstance(node, bool) and Decimal(str(node)).is_finite():
        yield from _with_period(Fact(Decimal(str(node)), measure, evidence, context, key.replace("_", " ")))


def _scalars(node: dict[str, JsonValue]) -> str:
    return "; ".join([key for key in node if not key.isascii()] + [v for v in node.values() if isinstance(v, str)])


def _from_siblings(key: str, own: Measure, node: dict[str, JsonValue]) -> Measure:
    if own.unit or own.currency:
        return own
    if key.lower() in COUNTS:
        return Measure("count")
    if key.lower().endswith(("_fraction", "_share")):
        return own  # the unit beside it is the price's
    unit, currency, period = (node.get(name) for name in ("unit", "currency", "period"))
    if isinstance(unit, str) and (found := read_label(unit)) != NONE:
        return found
    if isinstance(currency, str) and len(currency) == 3:
        return Measure("", currency.upper(), own.period or (period if isinstance(period, str) else None))
    return own


def _with_period(fact: Fact) -> Iterator[Fact]:
    """A price per hour also supports "1 小时"."""
    yield fact
    if fact.measure.currency and fact.measure.period:
        yield Fact(Decimal(1), Measure(fact.measure.period), fact.evidence, fact.context, fact.near)


def _text_facts(text: str, evidence: str, context: tuple[str, ...], names: Collection[str]) -> Iterator[Fact]:
    for printed in extract_figures(text, names, share_words=True):
        near = clause_around(text, printed.start, printed.end)
        yield from _with_period(Fact(printed.value, printed.measure, evidence, context, near))
    for size in re.findall(r"[0-9]+(?:\.[0-9]+)?(?=B\b)", text, re.I):  # LLaMA-65B has 65e9 parameters
        yield Fact(Decimal(size).scaleb(9), Measure("parameter"), evidence, context)


def _citation_facts(citations: Sequence[Citation], names: Collection[str]) -> Iterator[Fact]:
    for citation in citations:
        evidence = f"cite:{citation.id}"
        for text in (citation.title, citation.source, citation.excerpt):
            for printed in extract_figures(text, names, share_words=True):
                start = max(text.rfind(mark, 0, printed.start) for mark in "\n。；") + 1
                end = min((at for mark in "\n。；" if (at := text.find(mark, printed.end)) >= 0), default=len(text))
                near = clause_around(text, printed.start, printed.end)
                line = text[text.rfind("\n", 0, printed.start) + 1 :].partition("\n")[0]
                context = (near, text[start:end], line, citation.title, citation.excerpt)
                yield from _with_period(Fact(printed.value, printed.measure, evidence, context, near))
        yield from (f for f in _text_facts(citation.excerpt, evidence, (), names) if f.measure.unit == "parameter")


def _question_facts(question: str, names: Collection[str]) -> Iterator[Fact]:
    return (Fact(p.value, p.measure, "question") for p in extract_figures(question, names) if not p.currency)
