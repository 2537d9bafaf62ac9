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
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from assistant.claims import contradicted, must_be_recomputed, recomputed, said_of_another, turned_round
from assistant.comparisons import read_comparisons
from assistant.evidence import Call, Citation, Figure
from assistant.evidence_facts import Fact, facts_of
from assistant.figures import Printed, extract_figures
from assistant.identifiers import extract_identifiers
from assistant.sentences import MARK_OR_CODE
from assistant.subjects import NamesIn, best_about, in_order, match_of
from assistant.units import NONE, Measure

Tokenize = Callable[[str], Iterable[str]]

SECONDS = {"second": 1, "duration": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}
MEMORY = ({"G", "GB"}, {"G", "GiB"})  # "24G" leaves open which; GB and GiB differ
BARE = {  # numbers of the evidence without a unit of their own -> the printed units they may support
    "factor": {""},  # the 4 in "4 × 72 h": what it counts stands in the arguments
    "tally": {"count"},  # the length of a list
    "count": {"", "count"},
}
# Share of a sentence's tokens that evidence and question must hold. Sentences of our documents held against three
# other sections reach 0.31 (zh) and 0.21 (en) at the median, 0.56 and 0.50 at the 90th percentile.
GROUNDED = 0.5
GROUNDED_BY_FIGURE = 0.3  # where a figure and its names were traced: calls hold few words, and those of one language
CLEARLY_MORE = 0.3  # of a sentence's words
FEW_BESIDE_FIGURE = 8
FEW_TOKENS = 4  # below that a share says nothing ("结论：")


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
    return _traced(extract_figures(text, names), text, facts_of(calls, citations, question, names), names_in)


def _traced(found: Sequence[Printed], text: str, facts: Sequence[Fact], names_in: NamesIn | None) -> Trace:
    figures: list[Figure] = []
    untraced: list[str] = []
    for printed in found:
        if _is_wording(printed):
            continue
        supporting = (fact for fact in facts if _supports(fact, printed))
        fact = (
            best_about(_closest_unit_first(supporting, printed), printed, text, names_in)
            if names_in
            else _first_of_closest_unit(supporting, printed)
        )
        if fact:
            figures.append(_figure(printed, fact))
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
    names_in = cache(names_in) if names_in else None
    traced, claim = _claims(
        sentence, facts_of(calls, allowed, question, names), allowed, calls, names, names_in, tokenize
    )
    if traced.untraced:
        return Verdict(False, "figure", traced.untraced)
    evidence = _evidence_text(calls, citations, question)
    if fault := _foreign(sentence, evidence, _evidence_text(calls, allowed, question), names, names_in):
        return fault
    if claim:
        return Verdict(False, "claim", (claim,))
    told = [figure.text for figure in traced.figures if figure.evidence != "question"]
    if tokenize and not _is_grounded(sentence, evidence, tokenize, told):
        return Verdict(False, "ungrounded")
    if tokenize and cited and _stands_elsewhere(sentence, allowed, citations, tokenize):
        return Verdict(False, "citation", tuple(f"[{number}]" for number in cited))
    return Verdict(True, figures=traced.figures)


def _foreign(
    sentence: str, evidence: str, cited: str, names: Collection[str], names_in: NamesIn | None
) -> Verdict | None:
    """Codes, links and names that the evidence does not have."""
    if foreign := [i for i in extract_identifiers(sentence, names) if not _holds(evidence, i)]:
        return Verdict(False, "identifier", tuple(foreign))
    if links := [u for u in re.findall(r"(?:https?://|www\.)[^\s)）>\]，。]+", sentence) if u not in evidence]:
        return Verdict(False, "link", tuple(links))
    if names_in and (strangers := names_in(sentence) - names_in(cited)):
        return Verdict(False, "name", tuple(sorted(strangers)))
    return None


def _claims(
    sentence: str, facts: Sequence[Fact], citations: Sequence[Citation], calls: Sequence[Call], names: Collection[str],
    names_in: NamesIn | None, tokenize: Tokenize | None,
) -> tuple[Trace, str]:  # fmt: skip
    """The sentence's figures, those of comparisons recomputed, and what it claims against the evidence."""
    printed = [figure for figure in extract_figures(sentence, names, share_words=True) if not _is_wording(figure)]
    if names_in is None:
        return _traced(printed, sentence, facts, None), ""
    comparisons = read_comparisons(sentence, names_in)
    figures: list[Figure] = []
    untraced: list[str] = []
    placed = in_order(printed, sentence, names_in)
    for figure in printed:
        fact = recomputed(figure, sentence, comparisons, facts, names_in, _rounds_to)
        if fact is None and not must_be_recomputed(figure, comparisons, facts, names_in):
            fits = _closest_unit_first(
                (f for f in facts if _supports(f, figure) and _has_what_is_printed(f, figure)), figure
            )
            if figure.start in placed:
                fits = [f for f in fits if match_of(f, placed[figure.start], names_in)]
            fact = best_about(fits, figure, sentence, names_in)
        if fact:
            figures.append(_figure(figure, fact))
        else:
            untraced.append(figure.text)
    claim = contradicted(sentence, comparisons, facts, citations, calls, names_in)
    if tokenize and not claim:
        claim = turned_round(sentence, citations, tokenize) or said_of_another(sentence, citations, tokenize)
    return Trace(tuple(figures), tuple(untraced)), claim


def _has_what_is_printed(fact: Fact, printed: Printed) -> bool:
    """Stricter than for a card of code: a price per hour needs a price per hour, a unit in prose needs the same unit."""
    if printed.currency and printed.period and not fact.measure.period:
        return False
    if fact.measure.unit or fact.measure.currency:
        return True
    if printed.unit == "machine":
        return bool(re.search("台|机|node|server|machine|instance", fact.near))
    return not fact.evidence.startswith("cite:") or printed.unit in ("", "count", "card", "row", "x", "core")


def _figure(printed: Printed, fact: Fact) -> Figure:
    return Figure(text=printed.text, value=printed.value, unit=_shown(printed), evidence=fact.evidence)


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
    if printed.unit == "x" and printed.value < 1 and fact.measure.unit == "%":  # "half" for 50 %
        return _rounds_to(fact.value / 100, printed)
    if fact.evidence == "question":
        return printed.value == fact.value and printed.measure == fact.measure and not printed.currency
    if not _comparable(printed.measure, fact.measure):
        return False
    value = fact.value
    if printed.unit in SECONDS and fact.measure.unit in SECONDS:
        value = value * SECONDS[fact.measure.unit] / SECONDS[printed.unit]
    return _rounds_to(value, printed)


def _closest_unit_first(facts: Iterable[Fact], printed: Printed) -> list[Fact]:
    """ "8 cards" comes from the 8 cards asked about before the 8 key-value heads of the model, which have no unit."""
    return sorted(facts, key=lambda fact: bool(printed.unit) and not fact.measure.unit)


def _first_of_closest_unit(facts: Iterable[Fact], printed: Printed) -> Fact | None:
    """The first that `_closest_unit_first` would give, without looking at more facts than needed."""
    without_unit = None
    for fact in facts:
        if fact.measure.unit or not printed.unit:
            return fact
        without_unit = without_unit or fact
    return without_unit


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
    if not gap:
        return True
    half = Decimal(5).scaleb(-printed.decimals - 1)
    is_even = printed.value.as_tuple().digits[-1] % 2 == 0
    if not (-half < gap <= half or (gap == -half and is_even)):
        return False
    significant = printed.value.adjusted() + printed.decimals + 1
    return significant >= 3 or abs(gap) <= abs(value) * Decimal("0.002")


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


def _stands_elsewhere(
    sentence: str, cited: Sequence[Citation], citations: Sequence[Citation], tokenize: Tokenize
) -> bool:
    """Whether another passage holds clearly more of the sentence's words than those it cites."""
    tokens = set(tokenize(MARK_OR_CODE.sub(" ", sentence)))
    if len(tokens) < FEW_TOKENS:
        return False

    def share(of: Sequence[Citation]) -> float:
        held = {token for c in of for token in tokenize(f"{c.title} {c.excerpt}")}
        return len(tokens & held) / len(tokens)

    return max((share([c]) for c in citations), default=0.0) - share(cited) >= CLEARLY_MORE


def _is_grounded(sentence: str, evidence: str, tokenize: Tokenize, figures: Sequence[str]) -> bool:
    """Whether enough of the sentence's words, its traced figures aside, are those of evidence and question."""
    for figure in figures:
        sentence = sentence.replace(figure, " ")
    tokens = list(tokenize(MARK_OR_CODE.sub(" ", sentence)))
    if len(tokens) < (FEW_BESIDE_FIGURE if figures else FEW_TOKENS):
        return True
    held = set(tokenize(evidence))
    share = sum(token in held for token in tokens) / len(tokens)
    return share >= (GROUNDED_BY_FIGURE if figures else GROUNDED)
