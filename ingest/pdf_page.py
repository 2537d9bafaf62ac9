"""One page of a PDF -> its tables and lines of text in reading order, by the positions of characters and ruled lines.

Tables are found by ruled lines here (open sides are closed), without them in pdf_lines.py. Not here: paragraphs,
headings, and what goes on over pages (pdf_text.py). Text in pictures is not seen.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ingest.pdf_lines import ALIGNED_POINTS, Line, PageTable, join_lines, lines_of, text_items, words_of

OVERPRINT = 0.08  # of the font size: nearer than that the same character is printed twice
MOST_CROSSINGS = 10_000  # of ruled lines; more are a drawing, and searching them takes minutes
MANY_CURVES = 50  # text turned into outlines
LEAST_TABLE_FILL = 0.15  # below it ruled lines are a drawing or a chart
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
_COMPATIBILITY = re.compile(r"[\u2e80-\u2fdf\uf900-\ufaff\ufb00-\ufb06]")


@dataclass(frozen=True)
class PageContent:
    """What is on a page in reading order; `pictures` where it shows something that is not text."""

    items: tuple[Line | PageTable, ...]
    height: float
    pictures: bool = False
    unreadable: int = 0


@dataclass
class _RuledTable:
    """Cells of a ruled table by row and column, with the characters found in each."""

    table: Any
    tops: list[float] = field(default_factory=list)
    lefts: list[float] = field(default_factory=list)
    owner: dict[tuple[int, int], int] = field(default_factory=dict)
    chars: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cells = self.table.cells
        self.tops = sorted({cell[1] for cell in cells})
        self.lefts = sorted({cell[0] for cell in cells})
        for index, (x0, top, x1, bottom) in enumerate(cells):
            for row in range(bisect_right(self.tops, top) - 1, bisect_right(self.tops, bottom - 0.01)):
                for column in range(bisect_right(self.lefts, x0) - 1, bisect_right(self.lefts, x1 - 0.01)):
                    self.owner[row, column] = index

    def take(self, char: dict[str, Any]) -> bool:
        """Whether the middle of the character is in a cell, which then holds it."""
        x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
        index = self.owner.get((bisect_right(self.tops, y) - 1, bisect_right(self.lefts, x) - 1))
        if index is None or x >= self.table.cells[index][2] or y >= self.table.cells[index][3]:
            return False
        self.chars.setdefault(index, []).append(char)
        return True

    def page_table(self) -> PageTable:
        texts = {
            index: join_lines(line.text for line in lines_of(words_of(chars))) for index, chars in self.chars.items()
        }
        rows = tuple(
            tuple(texts.get(self.owner.get((row, column), -1), "") for column in range(len(self.lefts)))
            for row in range(len(self.tops))
        )
        _, top, right, bottom = self.table.bbox
        widths = tuple(end - left for left, end in pairwise([*self.lefts, right]))
        return PageTable(rows, top, bottom, widths, len(self.table.rows))


def read_page(page: Any) -> PageContent:
    """Read one pdfplumber page. Raises what pdfplumber raises for a damaged one."""
    chars = [clean for char in _without_overprints(page.chars) if (clean := _clean(char))]
    unreadable = sum(char["text"] == UNREADABLE for char in chars)
    ruled = [_RuledTable(table) for table in _ruled_tables(page)]
    ruled = [table for table in ruled if len(table.lefts) > 1]
    loose = [char for char in chars if not any(table.take(char) for table in ruled)]
    tables = []
    for candidate in ruled:
        table = candidate.page_table()
        cells = [cell for row in table.rows for cell in row]
        if sum(map(bool, cells)) >= max(2, LEAST_TABLE_FILL * len(cells)):
            tables.append(table)
        else:
            loose.extend(char for held in candidate.chars.values() for char in held)
    items: list[Line | PageTable] = []
    words = words_of(loose)
    for table in sorted(tables, key=lambda table: table.top):
        above = [word for word in words if word["top"] + word["bottom"] < 2 * table.top]
        items.extend([*text_items(above, float(page.width)), table])
        words = [word for word in words if word["top"] + word["bottom"] >= 2 * table.top]
    items.extend(text_items(words, float(page.width)))
    pictures = bool(page.images) or len(page.curves) > MANY_CURVES
    return PageContent(tuple(items), float(page.height), pictures, unreadable)


def needed_turn(page: Any) -> int:
    """Degrees by which the page must be turned clockwise for most of its text to run from left to right."""
    turns = {0: 0, 90: 0, 180: 0, 270: 0}
    for char in page.chars:
        a, b = char["matrix"][:2]
        turns[(90 if b > 0 else 270) if abs(b) > abs(a) else (180 if a < 0 else 0)] += 1
    return max(turns, key=lambda turn: turns[turn])


def _without_overprints(chars: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Characters once where bold type is made by printing them twice; pdfplumber's own way takes seconds a page."""
    seen: set[tuple[str, float, int, int]] = set()
    for char in chars:
        step = OVERPRINT * max(char["size"], 1.0)
        kind, x, y = (char["text"], char["size"]), round(char["x0"] / step), round(char["top"] / step)
        if any((*kind, x + right, y + down) in seen for right in (-1, 0, 1) for down in (-1, 0, 1)):
            continue
        seen.add((*kind, x, y))
        yield char


def _clean(char: dict[str, Any]) -> dict[str, Any] | None:
    """The character with radicals and ligatures as plain letters; what has no character in Unicode as U+FFFD."""
    text = char["text"]
    if text.startswith("(cid:") or "\ue000" <= text[:1] <= "\uf8ff":
        return {**char, "text": UNREADABLE}
    if text in ("\x00", ""):
        return None
    if _COMPATIBILITY.search(text):
        return {**char, "text": unicodedata.normalize("NFKC", text)}
    return char


def _ruled_tables(page: Any) -> list[Any]:
    """Tables by their ruled lines; a side without a line is closed where the horizontal lines end together."""
    from pdfplumber.table import merge_edges

    edges = merge_edges(page.edges, snap_x_tolerance=3, snap_y_tolerance=3, join_x_tolerance=3, join_y_tolerance=3)
    horizontal = sorted((edge for edge in edges if edge["orientation"] == "h"), key=lambda edge: edge["top"])
    vertical = [edge for edge in edges if edge["orientation"] == "v"]
    if not horizontal or not vertical or len(horizontal) * len(vertical) > MOST_CROSSINGS:
        return []
    sides = [side for group in _same_ends(horizontal) for side in _closing_sides(group, vertical)]
    settings = {"explicit_vertical_lines": sides} if sides else {}
    return list(page.find_tables({"vertical_strategy": "lines", "horizontal_strategy": "lines", **settings}))


def _same_ends(horizontal: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for edge in horizontal:
        ends = round(edge["x0"] / 3), round(edge["x1"] / 3)
        groups.setdefault(ends, []).append(edge)
    return [group for group in groups.values() if len(group) > 1]


def _closing_sides(group: Sequence[dict[str, Any]], vertical: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Lines at both ends between horizontal lines of equal ends that a vertical line stands between."""
    x0, x1 = group[0]["x0"], group[0]["x1"]
    for upper, lower in pairwise(group):
        top, bottom = upper["top"], lower["top"]
        middle = (top + bottom) / 2
        inside = any(
            edge["top"] < middle < edge["bottom"] and x0 + ALIGNED_POINTS < edge["x0"] < x1 - ALIGNED_POINTS
            for edge in vertical
        )
        if bottom - top > ALIGNED_POINTS and inside:
            for x in (x0, x1):
                ends = {"x0": x, "x1": x, "top": top, "bottom": bottom, "height": bottom - top, "width": 0}
                yield {"object_type": "line", "doctop": top, **ends}
