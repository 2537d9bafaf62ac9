"""The text of an answer made ready for Slack: no formula lines unless they are wanted, no source lines (they stand below).

Markdown in, Markdown out, line by line; code fences stay as they are, and no figure is touched.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from assistant import render
from assistant.evidence import Answer, Bilingual, Citation, Language

# Both scripts of Chinese: the text of an answer may be in traditional characters.
_FORMULA = re.compile(r"\s*(?:[-*>]\s+)*(?:\*\*)?(?:算式|Formula)\s*(?:\*\*)?\s*[:：]")
_SOURCE = re.compile(r"\s*(?:来源|來源|Source)\s*\[(\d{1,3})\]\s*[:：]")
_HEADING = re.compile(r"(#{1,6})\s")
_FENCE = re.compile(r"\s*(```|~~~)")
_SENTENCE = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+(?=\S)")

FALLBACK_CHARACTERS = 300
SOURCES = Bilingual(zh="来源", en="Sources")
AS_OF = Bilingual(zh="日期", en="as of")


def shown_text(answer: Answer, *, formulas: bool) -> str:
    """The Markdown of the answer as Slack shows it."""
    cited = {citation.id for citation in answer.citations}
    lines = list(_kept(answer.text.splitlines(), cited, formulas=formulas))
    if not formulas:
        lines = list(_without_empty_headings(lines, answer.text.splitlines()))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def source_lines(citations: Sequence[Citation], language: Language) -> tuple[str, ...]:
    """One line for each source with the numbers that cite it; its date where the name does not say it."""
    numbers: dict[str, list[int]] = {}
    for citation in citations:
        numbers.setdefault(_source(citation, language), []).append(citation.id)
    lines = [f"{''.join(f'[{number}]' for number in ids)} {source}" for source, ids in numbers.items()]
    return (SOURCES[language], *lines) if lines else ()


def formulas_of(answer: Answer, shown: str, language: Language) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The formulas of the answer's calls that `shown` does not print yet, and what the calls assume; each once."""
    formulas = dict.fromkeys(render.formula(call.formula, language) for call in answer.calls if call.formula)
    assumptions = dict.fromkeys(each for call in answer.calls for each in call.assumptions)
    return tuple(f for f in formulas if f not in shown), tuple(a for a in assumptions if a not in shown)


def first_sentences(text: str, most: int = FALLBACK_CHARACTERS) -> str:
    """The first line of plain text, or as many of its sentences as fit; cut with an ellipsis where even one does not."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    out = ""
    for sentence in filter(None, _SENTENCE.split(line)):
        joined = f"{out} {sentence}".strip() if out.isascii() else f"{out}{sentence}"
        if len(joined) > most:
            break
        out = joined
    return out or f"{line[: most - 1]}…"


def _kept(lines: Sequence[str], cited: Collection[int], *, formulas: bool) -> Iterator[str]:
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        source = _SOURCE.match(line)
        if not fenced and ((source and int(source[1]) in cited) or (not formulas and _FORMULA.match(line))):
            continue
        yield line


def _without_empty_headings(lines: Sequence[str], original: Sequence[str]) -> Iterator[str]:
    """The lines less the headings that stand over nothing now and stood over something before."""
    empty_before = {original[place] for place in _empty_headings(original)}
    empty = {place for place in _empty_headings(lines) if lines[place] not in empty_before}
    yield from (line for place, line in enumerate(lines) if place not in empty)


def _empty_headings(lines: Sequence[str]) -> Iterator[int]:
    """Where headings stand that have no text below them, not even under a lower heading."""
    levels = [len(match[1]) if (match := _HEADING.match(line)) else 0 for line in lines]
    for place, level in enumerate(levels):
        if not level:
            continue
        below = next((at for at in range(place + 1, len(lines)) if 0 < levels[at] <= level), len(lines))
        if not any(lines[at].strip() and not levels[at] for at in range(place + 1, below)):
            yield place


def _source(citation: Citation, language: Language) -> str:
    name = f"{citation.source} · {citation.title}"
    if citation.as_of and citation.as_of not in name:
        name += f" · {AS_OF[language]} {citation.as_of}"
    return name
