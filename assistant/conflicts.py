"""Where two sources give different values for one thing: both, side by side, with their dates.

It compares what is cited; which of two values is right it does not decide.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assistant.evidence import Citation, Language
from assistant.evidence_facts import Fact, facts_of
from assistant.figures import extract_figures
from assistant.prose_names import IDENTIFIERS, named
from assistant.subjects import attributes
from assistant.units import Measure

MEASURED = ("TFLOPS", "TOPS", "GB/s", "TB/s", "W", "kW", "x", "core")  # no memory: one card comes with 40 or 80 GB
Thing = tuple[frozenset[str], Measure, frozenset[str]]  # names, measure, and what the words beside say it is of
MOST_SHOWN = 3


def conflicts(citations: Sequence[Citation], language: Language) -> str:
    """A paragraph on the values that differ between citations of different sources; "" where none do."""
    held = [(citation, _values(citation)) for citation in citations]
    lines: list[str] = []
    for at, (one, mine) in enumerate(held):
        for other, theirs in held[at + 1 :]:
            if one.source == other.source:
                continue
            for thing in mine.keys() & theirs.keys():
                if not set(mine[thing]) & set(theirs[thing]):
                    lines.append(_line(one, mine[thing].values(), other, theirs[thing].values(), language))
    if not lines:
        return ""
    head = "来源之间的数字不同，两边都列出，未作取舍：" if language == "zh" else "The sources give different figures; both are shown, neither is preferred:"  # fmt: skip
    return "\n".join([head, *(f"- {line}" for line in dict.fromkeys(lines))][: MOST_SHOWN + 1])


def _values(citation: Citation) -> dict[Thing, dict[object, str]]:
    """The values of a passage, as printed, by the one thing that each is of; statements about several things are left."""
    found: dict[Thing, dict[object, str]] = {}
    printed = {figure.value: figure.text for figure in extract_figures(citation.excerpt, IDENTIFIERS)}
    for fact in facts_of([], [citation], "", IDENTIFIERS):
        names = _owner(fact)
        if fact.value in printed and names and (fact.measure.currency or fact.measure.unit in MEASURED):
            about = attributes(fact.near)
            found.setdefault((names, fact.measure, about), {})[fact.value] = printed[fact.value]
    return found


def _owner(fact: Fact) -> frozenset[str]:
    """The names of the nearest text that has any, if it names one of each kind; money needs a seller or a card."""
    names: Collection[str] = next((found for level in fact.context[:3] if (found := named(level))), frozenset())
    kinds = [name.split(":")[0] for name in names]
    return frozenset(names) if names and len(kinds) == len(set(kinds)) else frozenset()


def _line(one: Citation, mine: Collection[str], other: Citation, theirs: Collection[str], language: Language) -> str:
    between = "、" if language == "zh" else ", "
    sides = [f"[{c.id}] {between.join(values)}{_dated(c, language)}" for c, values in ((one, mine), (other, theirs))]
    return ("；" if language == "zh" else "; ").join(sides)


def _dated(citation: Citation, language: Language) -> str:
    source = citation.source
    date = citation.as_of or ("未注明日期" if language == "zh" else "undated")
    if citation.as_of is None and ("未注明" in source or "undated" in source):
        return f"（{source}）" if language == "zh" else f" ({source})"
    return f"（{source}，{date}）" if language == "zh" else f" ({source}, {date})"
