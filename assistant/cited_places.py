"""What a cited passage looks like: table rows as a table, prose as prose, with the places marked that were used.

Writes HTML of what it is given, escaped; it decides nothing about evidence and computes nothing.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from assistant.evidence import Citation, Figure
from assistant.figures import Printed, extract_figures
from assistant.prose_names import IDENTIFIERS

Cell = tuple[str, str]
Row = tuple[Cell, ...]

NEAR = Decimal("0.005")  # a figure may have been rounded when it was printed
SNIPPET = 60  # characters of a passage to each side of a figure
GROUNDS = 0.5  # the share of a claim's words that a sentence of the passage must hold, to be shown as its ground
FEWEST_WORDS = 4
_MARK = re.compile(r"\[(\d{1,3})\]")
_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+|\.(?=\s|$)|\n|$)")


@dataclass(frozen=True)
class Use:
    """A figure that was taken from a passage: its number on the page and the line of the answer it stands in."""

    number: int
    figure: Figure
    line: str


@dataclass(frozen=True)
class Spot:
    """Where a use stands: in cell (row, column) of the passage's rows, or at characters start:end of its prose."""

    use: int
    row: int = -1
    column: int = -1
    start: int = -1
    end: int = -1


def rows_of(excerpt: str) -> tuple[Row, ...]:
    """The rows of an excerpt whose every line reads "heading = value; heading = value"; none where it is prose."""
    lines = [line for line in excerpt.splitlines() if line.strip()]
    rows = tuple(_row(line) for line in lines)
    named = all(row[0][0] and len(row) >= 2 for row in rows)
    return rows if rows and named else ()


def spots(citation: Citation, uses: Sequence[Use]) -> tuple[Spot, ...]:
    """The best place of each use in the passage; a use whose figure is not found there has none."""
    rows = rows_of(citation.excerpt)
    plain = "" if rows else plain_text(passage_html(citation.excerpt))
    found = (_in_rows(use, rows) if rows else _in_prose(use, plain) for use in uses)
    return tuple(spot for spot in found if spot)


def evidence_body(citation: Citation, found: Sequence[Spot], claims: Sequence[str]) -> str:
    """The passage as HTML, with the cells, figures and sentences marked that the answer used."""
    rows = rows_of(citation.excerpt)
    if rows:
        return _table(rows, found)
    rendered = passage_html(citation.excerpt)
    plain = plain_text(rendered)
    grounds = [(*span, "claim") for span in _grounds(plain, claims)]
    figures = [(spot.start, spot.end, f"used u{spot.use}") for spot in found]
    return marked(marked(rendered, grounds), figures)


def snippet(citation: Citation, spot: Spot) -> str:
    """The place in a few words, as HTML: the cells of the row that say what it is about, or the words around."""
    rows = rows_of(citation.excerpt)
    if rows:
        row = rows[spot.row]
        shown = [f"{heading} = {value}" for heading, value in row]
        parts = [html.escape(text) for place, text in enumerate(shown[:2]) if place != spot.column]
        return " · ".join([*parts, f"<mark>{html.escape(shown[spot.column])}</mark>"])
    plain = plain_text(passage_html(citation.excerpt))
    before, after = plain[max(0, spot.start - SNIPPET) : spot.start], plain[spot.end : spot.end + SNIPPET]
    start, end = "…" * (spot.start > SNIPPET), "…" * (spot.end + SNIPPET < len(plain))
    place = html.escape(plain[spot.start : spot.end])
    return _on_one_line(f"{start}{html.escape(before)}<mark>{place}</mark>{html.escape(after)}{end}")


def passage_html(excerpt: str) -> str:
    """A passage's own Markdown as HTML; HTML in it is shown as text, and links and pictures are left as written."""
    return _reader_output(excerpt)


def plain_text(markup: str) -> str:
    """The text of HTML, its characters as a reader sees them."""
    return html.unescape(re.sub("<[^>]*>", "", markup))


def marked(markup: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """HTML with <mark class=...> around characters start:end of its text; tags are never crossed."""
    wanted = sorted(spans)
    if not wanted:
        return markup
    out, place = [], 0
    for part in re.split("(<[^>]*>)", markup):
        if part.startswith("<"):
            out.append(part)
            continue
        text = html.unescape(part)
        out.append(_marked_text(text, [(start - place, end - place, kind) for start, end, kind in wanted]))
        place += len(text)
    return "".join(out)


def claims_on(text: str, number: int) -> tuple[str, ...]:
    """The sentences of an answer that cite [number], its list of sources left out."""
    lines = [line for line in text.splitlines() if not re.match(r"\s*(?:来源|來源|Sources?)\s*\[", line)]
    found = []
    for line in lines:
        place = 0
        for mark in re.finditer(r"(?:\s*\[\d{1,3}\])+\s*[。.]?", line):
            if str(number) in _MARK.findall(mark.group()):
                found.append(line[place : mark.start()])
            place = mark.end()
    return tuple(claim for claim in found if claim.strip())


def _row(line: str) -> Row:
    """The cells of a line; what has no heading goes on from the cell before it, as in "source = a; b"."""
    cells: list[Cell] = []
    for part in re.split("；|; ", line):
        heading, equals, value = part.partition(" = ")
        known = {name for name, _ in cells}
        if equals and heading.strip() not in known:
            cells.append((heading.strip(), value.strip()))
        elif cells:
            cells[-1] = (cells[-1][0], f"{cells[-1][1]}; {part.strip()}")
        else:
            cells.append(("", part.strip()))
    return tuple(cells)


def _in_rows(use: Use, rows: Sequence[Row]) -> Spot | None:
    words = _words(use.line)
    best: Spot | None = None
    best_score = 0.0
    for number, row in enumerate(rows):
        shared = len(words & _words(" ".join(value for _, value in row))) / 1000
        for column, (_, value) in enumerate(row):
            score = max((_likeness(use.figure, printed) for printed in _figures(value)), default=0)
            if score and score + shared > best_score:
                best, best_score = Spot(use.number, row=number, column=column), score + shared
    return best


def _in_prose(use: Use, plain: str) -> Spot | None:
    scored = [(_likeness(use.figure, printed), -printed.start, printed) for printed in _figures(plain)]
    score, _, best = max(scored, default=(0, 0, None), key=lambda item: item[:2])
    return Spot(use.number, start=best.start, end=best.end) if best and score else None


def _likeness(figure: Figure, printed: Printed) -> int:
    """0 where the figures differ; the same unit counts more than the same digits."""
    if printed.value != figure.value and abs(printed.value - figure.value) > NEAR * abs(figure.value):
        return 0
    unit = printed.currency or printed.unit
    shown = f"{unit}/{printed.period}" if printed.period else unit
    return 1 + 2 * (printed.value == figure.value) + 4 * (shown == figure.unit) + 1 * (not shown or not figure.unit)


@lru_cache(maxsize=4096)
def _figures(text: str) -> tuple[Printed, ...]:
    return tuple(extract_figures(text, IDENTIFIERS, share_words=True))


def _table(rows: Sequence[Row], found: Sequence[Spot]) -> str:
    used: dict[tuple[int, int], list[int]] = {}
    for spot in found:
        used.setdefault((spot.row, spot.column), []).append(spot.use)

    def cell(row: int, column: int) -> str:
        value = html.escape(rows[row][column][1])
        uses = " ".join(f"u{number}" for number in used.get((row, column), ()))
        return f'<td class="used {uses}"><mark>{value}</mark></td>' if uses else f"<td>{value}</td>"

    if len(rows) == 1:
        lines = "".join(
            f"<tr><th>{html.escape(heading)}</th>{cell(0, column)}</tr>" for column, (heading, _) in enumerate(rows[0])
        )
        return f'<table class="rows one"><tbody>{lines}</tbody></table>'
    headings = list(dict.fromkeys(heading for row in rows for heading, _ in row))
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    lines = ""
    for number, row in enumerate(rows):
        columns: dict[str, str] = dict.fromkeys(headings, "<td></td>")
        columns.update({heading: cell(number, column) for column, (heading, _) in enumerate(row)})
        lines += f"<tr>{''.join(columns.values())}</tr>"
    return f'<table class="rows"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>'


def _grounds(plain: str, claims: Sequence[str]) -> list[tuple[int, int]]:
    """The sentences of a passage that hold most of the words of a claim each."""
    sentences = [(match.start(), match.end()) for match in _SENTENCE.finditer(plain) if match.group().strip()]
    chosen = set()
    for claim in claims:
        words = _words(claim)
        if len(words) < FEWEST_WORDS or not sentences:
            continue
        shares = [(len(words & _words(plain[start:end])) / len(words), start, end) for start, end in sentences]
        share, start, end = max(shares, key=lambda item: item[0])
        if share >= GROUNDS:
            chosen.add((start, end))
    return sorted(chosen)


def _words(text: str) -> set[str]:
    """Latin words and pairs of Chinese characters."""
    found = set(re.findall(r"[a-z0-9][a-z0-9.+-]*", text.lower()))
    for run in re.findall(r"[\u4e00-\u9fff]+", text):
        found.update(run[place : place + 2] for place in range(max(1, len(run) - 1)))
    return found


def _marked_text(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    out, place = "", 0
    for start, end, kind in spans:
        start, end = max(start, place), min(end, len(text))
        if start < end:
            out += f'{html.escape(text[place:start])}<mark class="{kind}">{html.escape(text[start:end])}</mark>'
            place = end
    return out + html.escape(text[place:])


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=512)
def _reader_output(excerpt: str) -> str:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return str(reader.disable(["image", "link", "autolink", "reference"]).render(excerpt))
