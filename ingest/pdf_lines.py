"""The words of a PDF page -> lines of text in reading order, and the tables among them that have no ruled lines.

Two columns of text are read left, then right, where the gutter between them is clear. Without ruled lines only what is
aligned on every line is a table; anything less stays lines of text. Ruled tables are found in pdf_page.py, paragraphs
and headings in pdf_text.py.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Words = list[dict[str, Any]]  # of pdfplumber: text, x0, x1, top, bottom in points

WORD_GAP = 0.2  # of the font size: a wider gap parts two words
CELL_GAP = 1.0  # of the font size: a wider gap parts two cells of a line
GUTTER_GAP = 1.0
LEAST_COLUMN_LINES = 4
LEAST_COLUMN_FILL = 0.6  # lines of prose fill their column; cells of a table do not
LEAST_COLUMN_WIDTH = 0.33  # of the page's: a narrower block is of short lines, not of a paragraph
LEAST_LETTERS_OF_PROSE = 12  # a line
ALIGNED_POINTS = 3.0
_CJK = r"\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff“”‘’—…"
_CJK_END = re.compile(rf"[{_CJK}]\Z")
_CJK_START = re.compile(rf"[{_CJK}]")


@dataclass(frozen=True)
class Line:
    """A line of text; lengths in points from the top left; `parted` where wide gaps stand in it, as in a table row."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    column: tuple[float, float]
    parted: bool = False


@dataclass(frozen=True)
class PageTable:
    """A table; `found_rows` counts its rows by the table finder's own grouping, `widths` are the columns' in points."""

    rows: tuple[tuple[str, ...], ...]
    top: float
    bottom: float
    widths: tuple[float, ...]
    found_rows: int


def words_of(chars: Sequence[dict[str, Any]]) -> Words:
    """The words that pdfplumber's characters form, by their distances."""
    from pdfplumber.utils.text import extract_words

    if not chars:
        return []
    return list(extract_words(list(chars), x_tolerance_ratio=WORD_GAP, y_tolerance=3, keep_blank_chars=False))


def lines_of(words: Words, least_width: float = 0.0) -> list[Line]:
    """Lines from the top down; their column is at least `least_width` points wide."""
    return [_line(row, _column(words, least_width)) for row in _rows(words)]


def join_lines(lines: Iterable[str]) -> str:
    """Lines of one paragraph as one: no space between Chinese ones, a word hyphenated at the end made whole."""
    joined = ""
    for line in lines:
        line = line.strip()
        if not joined or not line:
            joined += line
        elif joined.endswith("\u00ad") or (re.search(r"[A-Za-z]-\Z", joined) and line[0].islower()):
            joined = joined[:-1] + line
        elif joined[-1] in "-/" and line[0].isalnum() and not joined[-2:-1].isspace():
            joined += line
        else:
            joined += ("" if _CJK_END.search(joined) and _CJK_START.match(line) else " ") + line
    return joined


def text_items(words: Words, page_width: float) -> Iterator[Line | PageTable]:
    """Lines in reading order, columns one after the other, borderless tables found; `page_width` in points."""
    rows, least_width = _rows(words), LEAST_COLUMN_WIDTH * page_width
    column = _column(words, least_width)
    gutter = _gutter(rows) if len(rows) >= LEAST_COLUMN_LINES else None
    if gutter is None:
        yield from _borderless(rows, column)
        return
    zone: list[Words] = []
    for row in rows:
        if any(first <= gutter <= last for first, last in _spans(row, GUTTER_GAP)):
            yield from _zone_items(zone, gutter, least_width)
            zone = []
            yield _line(row, column)
        else:
            zone.append(row)
    yield from _zone_items(zone, gutter, least_width)


def _zone_items(rows: list[Words], gutter: float, least_width: float) -> Iterator[Line | PageTable]:
    words = [word for row in rows for word in row]
    left = [word for word in words if word["x1"] <= gutter]
    right = [word for word in words if word["x1"] > gutter]
    if _is_prose(left) and _is_prose(right):
        yield from lines_of(left, least_width)
        yield from lines_of(right, least_width)
    else:
        yield from _borderless(rows, _column(words, least_width))


def _gutter(rows: Sequence[Words]) -> float | None:
    """The middle of the strip near the page's middle that fewest lines cross, None where most do."""
    left, right = _extent([word for row in rows for word in row])
    spans = [_spans(row, GUTTER_GAP) for row in rows]
    crossing: dict[float, int] = {}
    for percent in range(30, 71):
        x = left + (right - left) * percent / 100
        crossing[x] = sum(any(first <= x <= last for first, last in row) for row in spans)
    fewest = min(crossing.values())
    if fewest > 0.7 * len(rows):
        return None
    strip = [x for x, count in crossing.items() if count == fewest]
    return strip[len(strip) // 2]


def _is_prose(words: Words) -> bool:
    """Whether a column is filled by its lines, as prose is and the cells of a table are not."""
    rows = _rows(words)
    if len(rows) < LEAST_COLUMN_LINES:
        return False
    left, right = _extent(words)
    widths = [last - first for first, last in map(_extent, rows)]
    letters = sum(len(word["text"]) for word in words) / len(rows)
    return statistics.median(widths) >= LEAST_COLUMN_FILL * (right - left) and letters >= LEAST_LETTERS_OF_PROSE


def _borderless(rows: Sequence[Words], column: tuple[float, float]) -> Iterator[Line | PageTable]:
    """Lines, with each run of at least three whose cells stand in the same clear columns made a table."""
    run: list[list[Words]] = []
    for row in rows:
        cells = _cells(row)
        if run and len(cells) != len(run[-1]):
            yield from _run_items(run, column)
            run = []
        run.append(cells)
    yield from _run_items(run, column)


def _run_items(run: Sequence[list[Words]], column: tuple[float, float]) -> Iterator[Line | PageTable]:
    rows = tuple(tuple(_words_text(cell) for cell in cells) for cells in run)
    words = [[word for cell in cells for word in cell] for cells in run]
    if not (_aligned(run) and _looks_tabular(rows)):
        yield from (_line(row, column) for row in words)
        return
    lefts = [min(cell[0]["x0"] for cell in cells) for cells in zip(*run, strict=True)]
    top, bottom = min(word["top"] for word in words[0]), max(word["bottom"] for word in words[-1])
    widths = tuple(right - left for left, right in pairwise(lefts))
    yield PageTable(rows, top, bottom, widths, len(run))


def _looks_tabular(rows: tuple[tuple[str, ...], ...]) -> bool:
    """No contents with dotted leaders; where there are only two columns, the second must hold figures."""
    if any("...." in cell or "……" in cell for row in rows for cell in row):
        return False
    return len(rows[0]) > 2 or all(any(character.isdigit() for character in row[-1]) for row in rows[1:])


def _aligned(rows: Sequence[list[Words]]) -> bool:
    """Whether the cells of each column share their left, middle or right, and the columns do not overlap."""
    if len(rows) < 3 or len(rows[0]) < 2:
        return False
    end = float("-inf")
    for column in zip(*rows, strict=True):
        lefts, rights = [cell[0]["x0"] for cell in column], [cell[-1]["x1"] for cell in column]
        middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
        spread = min(max(places) - min(places) for places in (lefts, middles, rights))
        if spread > ALIGNED_POINTS or min(lefts) <= end:
            return False
        end = max(rights)
    return True


def _rows(words: Words) -> list[Words]:
    """The words line by line: those that share at least half of their height with the first one of the line."""
    rows: list[Words] = []
    for word in sorted(words, key=lambda word: word["top"] + word["bottom"]):
        first = rows[-1][0] if rows else None
        if first and _overlap(first, word) >= 0.5 * min(_height(first), _height(word)):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word["x0"]) for row in rows]


def _cells(row: Words, gap: float = CELL_GAP) -> list[Words]:
    """The words of a line parted where gaps are wide."""
    cells: list[Words] = []
    for word in row:
        if cells and word["x0"] - cells[-1][-1]["x1"] <= gap * _height(word):
            cells[-1].append(word)
        else:
            cells.append([word])
    return cells


def _spans(row: Words, gap: float) -> list[tuple[float, float]]:
    return [(cell[0]["x0"], cell[-1]["x1"]) for cell in _cells(row, gap)]


def _words_text(words: Words) -> str:
    """Words of one line: no space between Chinese ones unless the gap is wide."""
    text = ""
    for before, word in zip([None, *words], words, strict=False):
        if before is not None:
            chinese = _CJK_END.search(text) and _CJK_START.match(word["text"])
            wide = word["x0"] - before["x1"] > 0.8 * _height(word)
            text += " " if wide or not chinese else ""
        text += word["text"]
    return text


def _line(row: Words, column: tuple[float, float]) -> Line:
    cells = _cells(row)
    top, bottom = min(word["top"] for word in row), max(word["bottom"] for word in row)
    size = statistics.median(_height(word) for word in row)
    text = "  ".join(_words_text(cell) for cell in cells)
    return Line(text, row[0]["x0"], top, row[-1]["x1"], bottom, size, column, len(cells) > 1)


def _extent(words: Words) -> tuple[float, float]:
    return min((word["x0"] for word in words), default=0.0), max((word["x1"] for word in words), default=0.0)


def _column(words: Words, least_width: float) -> tuple[float, float]:
    left, right = _extent(words)
    return left, max(right, left + least_width)


def _overlap(one: dict[str, Any], other: dict[str, Any]) -> float:
    return float(min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]))


def _height(word: dict[str, Any]) -> float:
    return float(word["bottom"] - word["top"])
