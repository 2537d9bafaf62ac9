"""The evidence of one answer as HTML: its sources with the places used, and each figure with where it comes from.

Everything is escaped, nothing is computed. What a figure's popover and a source's drawer show on the page is taken from
here by chat.js: u3 is the figure of number 3, k-1 the source [1] of the answer with the key k.
"""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from assistant.cited_places import Spot, Use, claims_on, evidence_body, snippet, spots
from assistant.evidence import Answer, Bilingual, Call, Citation, Figure, Language
from assistant.figure_places import Place, figure_places
from assistant.tool_names import tool_name

LONGEST_ARGUMENTS = 160  # characters of what a call without formula was given
LONGEST_FORMULA = 600
_SOURCES = Bilingual(zh="来源", en="Sources")
_FIGURES = Bilingual(zh="数字与依据", en="Figures and their evidence")
_FIGURE = Bilingual(zh="数字", en="Figure")
_EVIDENCE = Bilingual(zh="依据", en="Evidence")
_AS_OF = Bilingual(zh="日期", en="as of")
_ASKED = Bilingual(zh="来自您的问题", en="stated in your question")
_ROWS = Bilingual(zh="共 {rows} 行，列出 {shown} 行", en="{rows} rows, {shown} shown")
_DROPPED = Bilingual(zh="因查不到依据而略去的数字：", en="Figures left out because no evidence was found: ")


@dataclass(frozen=True)
class NumberedFigure:
    """A figure as listed: equal ones with the same evidence share a number."""

    number: int
    figure: Figure
    spot: Spot | None


@dataclass(frozen=True)
class Traced:
    """The figures of an answer as listed, and where in its text each stands, by number."""

    figures: tuple[NumberedFigure, ...]
    places: tuple[tuple[Place, int], ...]
    spots: dict[int, tuple[Spot, ...]]


def traced(answer: Answer) -> Traced:
    """Number the figures of `answer`, and find their places in its text and in what it cites."""
    placed = figure_places(answer)
    uses = [(place.figure, place.line) for place in placed]
    listed = {(figure.text, figure.evidence) for figure, _ in uses}
    uses += [(figure, "") for figure in answer.figures if (figure.text, figure.evidence) not in listed and not placed]
    numbered = [Use(number, figure, line) for number, (figure, line) in enumerate(uses)]
    found: dict[int, Spot] = {}
    for citation in answer.citations:
        cited = [use for use in numbered if use.figure.evidence == f"cite:{citation.id}"]
        found.update((spot.use, spot) for spot in spots(citation, cited))
    return _without_repeats(numbered, found, placed)


def evidence_html(answer: Answer, key: str, known: Traced | None = None) -> str:
    """The sources and the list of figures as two folded blocks, each on a line of its own."""
    language = answer.language
    figures = known or traced(answer)
    blocks = []
    if answer.citations:
        passages = "".join(_passage(citation, answer, figures, key) for citation in answer.citations)
        blocks.append(_folded("sources", f"{_SOURCES[language]} ({len(answer.citations)})", passages))
    if figures.figures or answer.dropped:
        body = _list(figures.figures, answer, key)
        blocks.append(_folded("figures", f"{_FIGURES[language]} ({len(figures.figures)})", body))
    return "".join(f"\n\n{block}" for block in blocks)


def _without_repeats(uses: Sequence[Use], found: dict[int, Spot], placed: Sequence[Place]) -> Traced:
    numbers: dict[tuple[str, str, int, int, int], int] = {}
    figures: list[NumberedFigure] = []
    of_use: list[int] = []
    by_citation: dict[int, list[Spot]] = {}
    for use in uses:
        spot = found.get(use.number)
        where = (spot.row, spot.column, spot.start) if spot else (-1, -1, -1)
        same = (use.figure.text, use.figure.evidence, *where)
        if same not in numbers:
            numbers[same] = len(figures)
            kept = spot and Spot(len(figures), spot.row, spot.column, spot.start, spot.end)
            figures.append(NumberedFigure(len(figures), use.figure, kept))
            if kept:
                by_citation.setdefault(int(use.figure.evidence.removeprefix("cite:")), []).append(kept)
        of_use.append(numbers[same])
    places = tuple(zip(placed, of_use, strict=False))
    return Traced(tuple(figures), places, {number: tuple(spots) for number, spots in by_citation.items()})


def _folded(kind: str, summary: str, body: str) -> str:
    """One <details> on a single line: a line break would end the HTML block and be read as Markdown again."""
    block = f'<details class="{kind}"><summary>{summary}</summary>{body}</details>'
    return block.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "&#10;")


def _where(citation: Citation, language: Language) -> str:
    date = f"{_AS_OF[language]} {citation.as_of}" if citation.as_of else ""
    return html.escape(" · ".join(part for part in (citation.source, citation.locator, date) if part))


def _passage(citation: Citation, answer: Answer, figures: Traced, key: str) -> str:
    where = _where(citation, answer.language)
    summary = f"<strong>[{citation.id}] {html.escape(citation.title)}</strong> <small>{where}</small>"
    body = evidence_body(citation, figures.spots.get(citation.id, ()), claims_on(answer.text, citation.id))
    return f'<details><summary>{summary}</summary><div class="passage" id="{key}-{citation.id}">{body}</div></details>'


def _list(figures: Sequence[NumberedFigure], answer: Answer, key: str) -> str:
    language = answer.language
    head = f"<tr><th>{_FIGURE[language]}</th><th>{_EVIDENCE[language]}</th></tr>"
    rows = "".join(
        f'<tr class="u{listed.number}"><td>{html.escape(listed.figure.text)}</td>'
        f"<td>{_evidence(listed, answer, key)}</td></tr>"
        for listed in figures
    )
    table = f'<table class="figures"><thead>{head}</thead><tbody>{rows}</tbody></table>' if rows else ""
    if not answer.dropped:
        return table
    return f"{table}<p>{html.escape(_DROPPED[language] + ', '.join(answer.dropped))}</p>"


def _evidence(listed: NumberedFigure, answer: Answer, key: str) -> str:
    kind, _, number = listed.figure.evidence.partition(":")
    if kind == "call" and int(number) < len(answer.calls):
        return _calculation(answer.calls[int(number)], listed.figure, answer.language)
    citation = next((c for c in answer.citations if kind == "cite" and str(c.id) == number), None)
    if citation is None:
        return _ASKED[answer.language]
    link = f'<a class="cite" href="#{key}-{number}">[{number}]</a> {html.escape(citation.title)}'
    place = f"<br>{snippet(citation, listed.spot)}" if listed.spot else ""
    return f'{link}{place}<br><small class="muted">{_where(citation, answer.language)}</small>'


def _calculation(call: Call, figure: Figure, language: Language) -> str:
    name = f"<strong>{html.escape(tool_name(call.tool, language))}</strong>"
    if call.formula:
        return f"{name}<br><code>{html.escape(call.formula[:LONGEST_FORMULA])}</code>"
    if call.tool == "count_rows" and isinstance(call.result, dict):
        return f"{name}<br>{html.escape(_ROWS[language].format(**call.result))}"
    row = _row_with(call.result, figure)
    shown = row if row is not None else call.arguments
    detail = ", ".join(f"{name} = {_short(value)}" for name, value in shown.items() if value is not None)
    return f"{name}<br><code>{html.escape(detail[:LONGEST_ARGUMENTS])}</code>" if detail else name


def _row_with(result: JsonValue, figure: Figure) -> dict[str, JsonValue] | None:
    """The looked-up row that holds the figure's value."""
    rows = [row for row in result if isinstance(row, dict)] if isinstance(result, list) else []
    value = float(figure.value)
    return next((row for row in rows if any(cell == value for cell in row.values())), None)


def _short(value: JsonValue) -> str:
    if isinstance(value, dict):
        return str(value.get("name") or "…")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
