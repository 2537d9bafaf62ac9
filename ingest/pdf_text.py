"""The pages of a PDF, read one by one -> headings, paragraphs and tables that go on from page to page.

Dropped: page numbers, and lines or tables that stand at the top or bottom of most pages. A table at the top of a page
goes on with the one that ended the page before when its columns are as wide; its repeated heading rows are left out.
Headings are told by their font size only. Not here: what is on one page (pdf_page.py).
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingest.blocks import Block, Grid, Heading, Place, Text
from ingest.pdf_lines import Line, PageTable, join_lines
from ingest.pdf_page import PageContent

MARGIN = 0.12  # of the page's height: where running heads and feet stand
LEAST_REPEATS, LEAST_SHARE = 3, 0.4  # of the pages: odd and even ones may have heads of their own
LEAST_TABLE_GAP = 8.0  # points
HEADING_SIZE = 1.15  # of the body's size
LONGEST_HEADING = 80
DEEPEST_LEVEL = 4
SAME_WIDTH_POINTS = 4.0
_PAGE_NUMBER = re.compile(
    r"[-–—~·|\s]*(第\s*\d+\s*页|page\s*)?\s*\d{0,4}[-–—~·|\s]*((/|of|共|,|，|/共)\s*(第|共)?\s*\d+\s*页?)?[-–—~·|\s]*"
    r"|第\s*[一二三四五六七八九十百\d]+\s*页(\s*[,，/]?\s*共\s*[一二三四五六七八九十百\d]+\s*页)?|[ivxl]+",
    re.I,
)
_CONTINUED = re.compile(r"[(（]?\s*(续表|接上表|.{0,40}[(（]?(续|续表|cont(inue)?d\.?)[)）]?\s*\Z)", re.I)
# A bullet is often a glyph without a code; a minus sign or an asterisk needs a space after it.
_BULLET = re.compile(r"([•●■◆▪▶►○◦·➢✓✔�]\s*|[*–-]\s+)(?=\S)")
_NUMBERED = re.compile(
    r"([(（]?(\d{1,2}|[一二三四五六七八九十]{1,3}|[a-zA-Z])[)）.、．](?!\d)\s*|[①-⑳]\s*|第[一二三四五六七八九十\d]+[条章节款]\s*)(?=\S)"
)
_SENTENCE_END = re.compile(r"[。！？；：.!?;:][”’」』)）\"']?\Z")

Item = Line | PageTable


@dataclass
class _OpenTable:
    """A table that the next page may go on with."""

    rows: list[tuple[str, ...]]
    widths: tuple[float, ...]
    place: Place
    header_rows: int | None = None


@dataclass
class _Paragraph:
    """Lines that belong together; `kind` is body, bullet, numbered, row (of a table that stayed text) or heading."""

    lines: list[Line]
    kind: str
    place: Place


@dataclass
class PdfText:
    """The blocks of a document; `table_rows` counts rows as the table finder had them, less repeated headings."""

    blocks: list[Block] = field(default_factory=list)
    table_rows: int = 0


def document_text(pages: Sequence[PageContent]) -> PdfText:
    """Put the pages together; the first one is page 1."""
    kept = list(_without_running_lines(pages))
    result = _Assembly(_heading_levels(kept))
    for number, items in enumerate(kept, start=1):
        result.add_page(items, Place("page", str(number)))
    return result.finished()


class _Assembly:
    """Blocks as they grow; what ends a page stays open for the next one."""

    def __init__(self, levels: dict[float, int]) -> None:
        self.levels = levels
        self.done = PdfText()
        self.table: _OpenTable | None = None
        self.paragraph: _Paragraph | None = None
        self.list_items: list[str] = []

    def add_page(self, items: list[Item], place: Place) -> None:
        if self.table and len(items) > 1 and isinstance(items[1], PageTable) and _says_continued(items[0]):
            items = items[1:]
        gap = _usual_gap(items)
        for index, item in enumerate(items):
            if isinstance(item, Line):
                self._close_table()
                self._add_line(item, place, gap)
            else:
                self._add_table(item, place, first=index == 0)

    def finished(self) -> PdfText:
        self._close_table()
        self._close_paragraph()
        return self.done

    def _add_table(self, table: PageTable, place: Place, first: bool) -> None:
        self._close_paragraph()
        if self.table and first and _same_widths(self.table.widths, table.widths):
            repeated = _repeated_rows(self.table, table)
            self.table.rows.extend(table.rows[repeated:])
            self.done.table_rows += table.found_rows - repeated
            return
        self._close_table()
        self.table = _OpenTable(list(table.rows), table.widths, place)
        self.done.table_rows += table.found_rows

    def _close_table(self) -> None:
        table, self.table = self.table, None
        if table is None:
            return
        if len(table.rows) == 1:  # a box of one row is no table: nothing would be under its heading
            self.done.table_rows -= 1
            text = " | ".join(cell for cell in dict.fromkeys(table.rows[0]) if cell)
            self.done.blocks.append(Text(text, table.place))
            return
        numbers = tuple(range(1, len(table.rows) + 1))
        grid = Grid(tuple(table.rows), numbers, header_rows=table.header_rows, place=table.place)
        self.done.blocks.append(grid)

    def _add_line(self, line: Line, place: Place, gap: float) -> None:
        kind = _kind(line, self.levels)
        if self.paragraph and _continues(self.paragraph, line, kind, gap, new_page=place != self.paragraph.place):
            self.paragraph.lines.append(line)
            return
        self._close_paragraph(following=kind)
        self.paragraph = _Paragraph([line], kind, place)

    def _close_paragraph(self, following: str = "") -> None:
        paragraph, self.paragraph = self.paragraph, None
        if paragraph is None:
            return
        text = join_lines(line.text for line in paragraph.lines)
        if paragraph.kind == "heading":
            level = self.levels[_rounded(paragraph.lines[0].size)]
            self.done.blocks.append(Heading(level, text, paragraph.place))
            return
        self.list_items.append(_BULLET.sub("- ", text, count=1) if paragraph.kind == "bullet" else text)
        if paragraph.kind == "body" or following != paragraph.kind:
            self.done.blocks.append(Text("\n".join(self.list_items), paragraph.place))
            self.list_items = []


def _without_running_lines(pages: Sequence[PageContent]) -> Iterator[list[Item]]:
    """The items of each page, less page numbers and what stands at the top or bottom of most pages."""
    margins = [_margin_items(page) for page in pages]
    counts = Counter(
        key for number, items in enumerate(margins, start=1) for key in {k for i in items for k in _keys(i, number)}
    )
    least = max(LEAST_REPEATS, LEAST_SHARE * sum(bool(page.items) for page in pages))
    running = {key for key, count in counts.items() if count >= least}
    for number, (page, items) in enumerate(zip(pages, margins, strict=True), start=1):
        dropped = {id(item) for item in items if running.intersection(_keys(item, number))}
        kept = [item for item in page.items if id(item) not in dropped]
        yield [item for item in kept if not (_in_margin(item, page) and _is_page_number(item, kept))]


def _margin_items(page: PageContent) -> list[Item]:
    """What stands in the margins apart from the body: more than a line's height above or below everything else."""
    down = sorted(page.items, key=lambda item: item.top)
    found: list[Item] = []
    for items in (down, down[::-1]):
        for index, (item, following) in enumerate(pairwise(items)):
            gap = max(item.top, following.top) - min(item.bottom, following.bottom)
            if not (_in_margin(item, page) and _in_margin(items[0], page)):
                break
            if gap > (item.size if isinstance(item, Line) else LEAST_TABLE_GAP):
                found.extend(items[: index + 1])
    return list(dict.fromkeys(found))


def _keys(item: Item, page_number: int) -> set[str]:
    """The item's text, and the same with one of its numbers counted from the page's: what repeats over pages."""
    text = item.text if isinstance(item, Line) else "\n".join(" ".join(row) for row in item.rows)
    keys = {text}
    for match in list(re.finditer(r"\d{1,4}", text))[:4]:
        keys.add(f"{text[: match.start()]}#{int(match.group()) - page_number}{text[match.end() :]}")
    return keys


def _is_page_number(item: Item, items: Sequence[Item]) -> bool:
    """A number of a page that stands above or below everything else on it."""
    if not isinstance(item, Line) or not _PAGE_NUMBER.fullmatch(item.text.strip()):
        return False
    others = [other for other in items if other is not item]
    return all(other.top > item.top for other in others) or all(other.bottom < item.bottom for other in others)


def _in_margin(item: Item, page: PageContent) -> bool:
    return item.bottom < MARGIN * page.height or item.top > (1 - MARGIN) * page.height


def _heading_levels(pages: Sequence[Sequence[Item]]) -> dict[float, int]:
    """Font sizes of headings -> their level, the largest being 1; sizes near the body's are no headings."""
    lines = [item for items in pages for item in items if isinstance(item, Line)]
    letters: Counter[float] = Counter()
    for line in lines:
        letters[_rounded(line.size)] += len(line.text)
    if not letters:
        return {}
    body = letters.most_common(1)[0][0]
    sizes = sorted({_rounded(line.size) for line in lines if _may_head(line, body)}, reverse=True)
    return {size: min(level, DEEPEST_LEVEL) for level, size in enumerate(sizes, start=1)}


def _may_head(line: Line, body: float) -> bool:
    return (
        _rounded(line.size) >= HEADING_SIZE * body
        and len(line.text) <= LONGEST_HEADING
        and any(character.isalpha() for character in line.text)
        and not line.text.endswith(("。", "；", "，", ";", ","))
    )


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _kind(line: Line, levels: dict[float, int]) -> str:
    if line.parted:
        return "row"
    if _rounded(line.size) in levels and _may_head(line, 0):
        return "heading"
    if _BULLET.match(line.text):
        return "bullet"
    return "numbered" if _NUMBERED.match(line.text) else "body"


def _continues(paragraph: _Paragraph, line: Line, kind: str, gap: float, new_page: bool) -> bool:
    """Whether a line belongs to the paragraph before it."""
    last = paragraph.lines[-1]
    if kind == "heading" or paragraph.kind == "heading":
        near = line.top - last.bottom < 0.8 * line.size and not new_page and line.top >= last.bottom - line.size / 2
        return kind == paragraph.kind and near and _rounded(line.size) == _rounded(last.size)
    if kind != "body" or paragraph.kind == "row":
        return False
    moved = new_page or line.top < last.top  # to the next page or column
    if not moved and line.top - last.bottom > gap + 0.35 * line.size:
        return False
    width = last.column[1] - last.column[0]
    ended = bool(_SENTENCE_END.search(last.text))
    if moved and (ended or paragraph.kind != "body"):
        return False
    if last.column[1] - last.x1 > (3 * last.size if ended else max(0.25 * width, 3 * last.size)):
        return False
    indented = line.x0 - line.column[0] > 1.2 * line.size and line.x0 - last.x0 > 1.2 * line.size
    return paragraph.kind != "body" or not indented


def _usual_gap(items: Sequence[Item]) -> float:
    """The usual distance in points between lines of a paragraph on this page."""
    lines = [item for item in items if isinstance(item, Line)]
    gaps = [after.top - before.bottom for before, after in pairwise(lines) if after.top > before.top]
    close = [gap for gap, line in zip(gaps, lines, strict=False) if gap < 1.5 * line.size]
    return max(0.0, statistics.median_low(close)) if close else 0.0


def _says_continued(item: Item) -> bool:
    return isinstance(item, Line) and len(item.text) <= LONGEST_HEADING and bool(_CONTINUED.match(item.text))


def _same_widths(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and all(
        abs(first - second) <= SAME_WIDTH_POINTS for first, second in zip(one, other, strict=True)
    )


def _repeated_rows(table: _OpenTable, following: PageTable) -> int:
    """How many rows at the top repeat the heading rows of the table; a row of figures is data even where it is equal."""
    repeated = 0
    for row, again in zip(table.rows[: len(table.rows) - 1], following.rows, strict=False):
        if row != again or (repeated and any(re.match(r"[^\w]*\d", cell) for cell in row)):
            break
        repeated += 1
    if repeated and table.header_rows is None:
        table.header_rows = repeated
    return min(repeated, table.header_rows or 0)
