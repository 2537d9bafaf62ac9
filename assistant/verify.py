"""Every figure, citation and name of a text against its evidence: what cannot be traced is not shown.

Compares what is printed with what calls and passages hold; it computes nothing new (a difference must come from a
calculator) and does not judge whether the evidence itself is true.

A printed figure equals an evidence value exactly, or is its correct rounding (half up or half even) to the
printed digits when at least three significant digits are printed or it is within 0.2 % of it: 20,620.80 may be given
as 20,621 or 2.06 万, not as 2 万, 2.1 万 or (cut off) 20,620. Times are compared as times (1:42:46 is 1.713 h);
nothing else is converted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

from pydantic import JsonValue

from assistant.evidence import Call, Citation, Figure
from assistant.figures import Printed, extract_figures, extract_identifiers
from assistant.sentences import MARK_OR_CODE
from assistant.units import NONE, Measure, read_label

NamesIn = Callable[[str], AbstractSet[str]]  # the names of a text, as "kind:key" ("provider:tencent")
Tokenize = Callable[[str], Iterable[str]]

SECONDS = {"second": 1, "duration": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MEMORY = ({"G", "GB"}, {"G", "GiB"})  # "24G" leaves open which; GB and GiB differ
BARE = {  # numbers of the evidence without a unit of their own -> the printed units they may support
    "factor": {""},  # the 4 in "4 × 72 h": what it counts stands in the arguments
    "tally": {"count"},  # the length of a list
    "count": {"", "count"},
}
COUNTS = {"count", "number", "rank", "index", "id"}
# Share of a sentence's tokens that evidence and question must hold. Sentences of our documents held against three
# other sections reach 0.31 (zh) and 0.21 (en) at the median, 0.56 and 0.50 at the 90th percentile.
GROUNDED = 0.5
FEW_TOKENS = 4  # below that a share says nothing ("结论：")
CLAUSE = re.compile(r"[，,；;。、]\s*|\s(?:and|while|but|whereas|versus|vs\.?)\s|而|\n")


@dataclass(frozen=True)
class Trace:
    """The figures of a text with their evidence ("call:N", "cite:N", "question"), and those that have none."""

    figures: tuple[Figure, ...]
    untraced: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether a sentence may be shown. `reason` is "", "citation", "figure", "identifier", "link", "name" or "ungrounded"."""

    ok: bool
    reason: str = ""
    dropped: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Marks:
    """A text with its citation marks as [n], and the marks dropped because no citation has that id."""

    text: str
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class Fact:
    """A value of the evidence. `context` is the text around it, nearest first, which says whose value it is."""

    value: Decimal
    measure: Measure
    evidence: str
    context: tuple[str, ...] = ()


def trace(
    text: str, calls: Sequence[Call], citations: Sequence[Citation], question: str = "", names: Collection[str] = (),
    *, names_in: NamesIn | None = None,
) -> Trace:  # fmt: skip
    """The evidence of each figure in a text.

    The reader's own figures may be echoed if value and unit are the same, money excepted: a price in a question proves
    nothing. Counts of at most three (two options) and a single card are wording, not figures. With `names_in`, a figure
    beside a name (腾讯云 28.64 元) must come from evidence about that name.
    """
    names_in = cache(names_in) if names_in else None  # the same contexts are asked again for each figure
    computed = [fact for fact in _call_facts(calls, names) if calls[int(fact.evidence.split(":")[1])].formula]
    looked_up = [fact for fact in _call_facts(calls, names) if not calls[int(fact.evidence.split(":")[1])].formula]
    # A row that can be opened is better evidence to a reader than the look-up that found it.
    facts = [*_citation_facts(citations, names), *computed, *looked_up, *_question_facts(question, names)]
    figures: list[Figure] = []
    untraced: list[str] = []
    for printed in extract_figures(text, names):
        if _is_wording(printed):
            continue
        beside = _names_beside(printed, text, names_in) if names_in else frozenset()
        fact = next((f for f in facts if _supports(f, printed) and _is_about(f, beside, names_in)), None)
        if fact:
            figures.append(Figure(text=printed.text, value=printed.value, unit=_shown(printed), evidence=fact.evidence))
        else:
            untraced.append(printed.text)
    return Trace(tuple(figures), tuple(untraced))


def check_prose(
    sentence: str, calls: Sequence[Call], citations: Sequence[Citation], *, question: str = "", names: Collection[str] = (),
    names_in: NamesIn | None = None, tokenize: Tokenize | None = None,
) -> Verdict:  # fmt: skip
    """Whether one sentence of a model may be shown; the first fault found is the reason.

    Where the sentence cites [n], its figures must stand in those passages or in a call; else in any evidence.
    """
    known = {citation.id for citation in citations}
    cited = _cited(sentence)
    if unknown := [f"[{number}]" for number in cited if number not in known]:
        return Verdict(False, "citation", tuple(unknown))
    allowed = [c for c in citations if c.id in cited] if cited else citations
    traced = trace(sentence, calls, allowed, question, names, names_in=names_in)
    if traced.untraced:
        return Verdict(False, "figure", traced.untraced)
    evidence = _evidence_text(calls, citations, question)
    if foreign := [i for i in extract_identifiers(sentence, names) if not _holds(evidence, i)]:
        return Verdict(False, "identifier", tuple(foreign))
    if links := [u for u in re.findall(r"(?:https?://|www\.)[^\s)）>\]，。]+", sentence) if u not in evidence]:
        return Verdict(False, "link", tuple(links))
    if names_in and (strangers := names_in(sentence) - names_in(evidence)):
        return Verdict(False, "name", tuple(sorted(strangers)))
    if tokenize and _grounding(sentence, evidence, tokenize) < GROUNDED:
        return Verdict(False, "ungrounded")
    return Verdict(True, figures=traced.figures)


def normalise_marks(text: str, known: Collection[int]) -> Marks:
    """【1】, [^1] and [1, 2] become [1] and [1][2]; marks of unknown ids go, and are listed. Code is left alone."""
    dropped: list[str] = []

    def rewrite(match: re.Match[str]) -> str:
        if match[1] is None:
            return match.group()
        numbers = [int(number) for number in re.findall("[0-9]+", match[1])]
        dropped.extend(f"[{number}]" for number in numbers if number not in known)
        return "".join(f"[{number}]" for number in numbers if number in known)

    return Marks(MARK_OR_CODE.sub(rewrite, text), tuple(dropped))


def _cited(sentence: str) -> list[int]:
    marks = [match[1] for match in MARK_OR_CODE.finditer(sentence) if match[1]]
    return [int(number) for mark in marks for number in re.findall("[0-9]+", mark)]


def _is_wording(printed: Printed) -> bool:
    if printed.unit == "count":
        return printed.decimals == 0 and 1 <= printed.value <= 3
    return printed.value == 1 and printed.unit in ("card", "machine", "row")


def _shown(printed: Printed) -> str:
    unit = printed.currency or printed.unit
    return f"{unit}/{printed.period}" if printed.period else unit


def _supports(fact: Fact, printed: Printed) -> bool:
    if fact.evidence == "question":
        return printed.value == fact.value and printed.measure == fact.measure and not printed.currency
    if not _comparable(printed.measure, fact.measure):
        return False
    value = fact.value
    if printed.unit in SECONDS and fact.measure.unit in SECONDS:
        value = value * SECONDS[fact.measure.unit] / SECONDS[printed.unit]
    return _rounds_to(value, printed)


def _comparable(printed: Measure, fact: Measure) -> bool:
    """Whether a printed unit may stand for the evidence's; a missing unit on either side is lenient, money and % are not."""
    if printed.period and fact.period and printed.period != fact.period:
        return False
    if printed.currency or fact.currency:
        return printed.currency == fact.currency or printed == NONE
    if "%" in (printed.unit, fact.unit):
        return printed.unit == fact.unit
    if fact.unit in BARE:
        return printed.unit in BARE[fact.unit]
    if "" in (printed.unit, fact.unit):
        return "duration" not in (printed.unit, fact.unit)
    return (
        printed.unit == fact.unit
        or (printed.unit in SECONDS and fact.unit in SECONDS)
        or {printed.unit, fact.unit} in MEMORY
    )


def _rounds_to(value: Decimal, printed: Printed) -> bool:
    gap = printed.value - abs(value)
    half = Decimal(5).scaleb(-printed.decimals - 1)
    is_even = printed.value.as_tuple().digits[-1] % 2 == 0
    if not (-half < gap <= half or (gap == -half and is_even)):
        return False
    significant = printed.value.adjusted() + printed.decimals + 1
    return gap == 0 or significant >= 3 or abs(gap) <= abs(value) * Decimal("0.002")


def _names_beside(printed: Printed, text: str, names_in: NamesIn) -> AbstractSet[str]:
    """The names of the figure's clause; where it has none, of the whole text."""
    cuts = [0, *(cut for match in CLAUSE.finditer(text) for cut in match.span()), len(text)]
    start = max(cut for cut in cuts if cut <= printed.start)
    end = min(cut for cut in cuts if cut >= printed.end)
    return names_in(text[start:end]) or names_in(text)


def _is_about(fact: Fact, beside: AbstractSet[str], names_in: NamesIn | None) -> bool:
    """For each kind of name beside the figure, the nearest context that has names of that kind shares one."""
    if not names_in or not beside:
        return True
    around = [names_in(level) for level in fact.context]
    for kind in {name.split(":")[0] for name in beside if ":" in name}:
        mine = {name for name in beside if name.startswith(f"{kind}:")}
        theirs = next((own for level in around if (own := {n for n in level if n.startswith(f"{kind}:")})), mine)
        if not mine & theirs:
            return False
    return True


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
    node: JsonValue, measure: Measure, evidence: str, context: tuple[str, ...], names: Collection[str]
) -> Iterator[Fact]:
    """Numbers of a JSON value; keys (hours, price_cny_per_hour) and siblings ("unit", "currency") give their units."""
    if isinstance(node, dict):
        inner = (_scalars(node), *context)
        for key, child in node.items():
            own = read_label(key)
            own = _from_siblings(key, own, node) if not isinstance(child, dict | list) else own
            named = own if own != NONE else measure
            yield from _json_facts(
                child, named, evidence, (key, *inner) if isinstance(child, dict | list) else inner, names
            )
    elif isinstance(node, list):
        yield Fact(Decimal(len(node)), Measure("tally"), evidence, context)
        for child in node:
            yield from _json_facts(child, measure, evidence, context, names)
    elif isinstance(node, str):
        for fact in _text_facts(node, evidence, context, names):
            yield replace(fact, measure=measure) if fact.measure == NONE else fact
    elif node is not None and not isinstance(node, bool) and Decimal(str(node)).is_finite():
        yield from _with_period(Fact(Decimal(str(node)), measure, evidence, context))


def _scalars(node: dict[str, JsonValue]) -> str:
    return "; ".join([key for key in node if not key.isascii()] + [v for v in node.values() if isinstance(v, str)])


def _from_siblings(key: str, own: Measure, node: dict[str, JsonValue]) -> Measure:
    if own.unit or own.currency:
        return own
    if key.lower() in COUNTS:
        return Measure("count")
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
        yield Fact(Decimal(1), Measure(fact.measure.period), fact.evidence, fact.context)


def _text_facts(text: str, evidence: str, context: tuple[str, ...], names: Collection[str]) -> Iterator[Fact]:
    for printed in extract_figures(text, names):
        yield from _with_period(Fact(printed.value, printed.measure, evidence, context))
    for size in re.findall(r"[0-9]+(?:\.[0-9]+)?(?=B\b)", text, re.I):  # LLaMA-65B has 65e9 parameters
        yield Fact(Decimal(size).scaleb(9), Measure("parameter"), evidence, context)


def _citation_facts(citations: Sequence[Citation], names: Collection[str]) -> Iterator[Fact]:
    for citation in citations:
        evidence = f"cite:{citation.id}"
        for text in (citation.title, citation.source, citation.excerpt):
            for printed in extract_figures(text, names):
                start = max(text.rfind(mark, 0, printed.start) for mark in "\n。；") + 1
                end = min((at for mark in "\n。；" if (at := text.find(mark, printed.end)) >= 0), default=len(text))
                context = (text[start:end], citation.title, citation.excerpt)
                yield from _with_period(Fact(printed.value, printed.measure, evidence, context))
        yield from (f for f in _text_facts(citation.excerpt, evidence, (), names) if f.measure.unit == "parameter")


def _question_facts(question: str, names: Collection[str]) -> Iterator[Fact]:
    return (Fact(p.value, p.measure, "question") for p in extract_figures(question, names) if not p.currency)


def _evidence_text(calls: Sequence[Call], citations: Sequence[Citation], question: str) -> str:
    parts = [question]
    for call in calls:
        parts += [json.dumps([call.arguments, call.result], ensure_ascii=False), call.formula or "", *call.assumptions]
    for citation in citations:
        parts += [citation.title, citation.source, citation.excerpt, citation.as_of or ""]
    return "\n".join(parts)


def _holds(evidence: str, identifier: str) -> bool:
    """Whether the evidence has a code as a whole (A10 is not in A100), with or without spaces, hyphens and brackets."""
    level = re.sub(r"(?<=[0-9])\s*位", "-bit", evidence)
    parts = re.split(r"[\s_-]+", re.sub(r"(?<=[0-9])\s*位", "-bit", re.sub("(?<=[0-9])s$", "", identifier)))
    spelt = r"[\s_()（）-]*".join(re.escape(part) for part in parts)
    return bool(re.search(rf"(?<![A-Za-z0-9.]){spelt}s?(?![A-Za-z0-9])", level, re.I))


def _grounding(sentence: str, evidence: str, tokenize: Tokenize) -> float:
    tokens = list(tokenize(MARK_OR_CODE.sub(" ", sentence)))
    held = set(tokenize(evidence))
    return sum(token in held for token in tokens) / len(tokens) if len(tokens) >= FEW_TOKENS else 1.0
