"""An HTML table element as a Grid: spans expanded, header rows and caption as the table says them.

Follows the table model of the HTML standard: a rowspan ends with its row group (rowspan=0 lasts until there), columns
are at most 1000 per span, <thead> stands first and <tfoot> last. Two differences, since nothing is drawn: a column in
which no cell starts shows nothing of its own and is dropped, and a row without cells takes its place but is no row.

Errors: FileRefusedError "too-large" for a table of more than CELLS_AT_MOST cells once its spans are expanded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ingest.blocks import FileRefusedError, Grid, Place
from ingest.html_inline import attribute_number, events, tidy, words
from ingest.html_tree import Element

CELLS_AT_MOST = 2_000_000
COLSPAN_AT_MOST, ROWSPAN_AT_MOST = 1000, 65534


@dataclass(frozen=True)
class Cell:
    """One cell as written; a `rows` of 0 means until the end of its row group."""

    text: str
    rows: int = 1
    columns: int = 1
    is_header: bool = False


@dataclass
class RowGroup:
    """The rows of one <thead>, <tbody> or <tfoot>, or those that stand in the table itself."""

    name: str
    rows: list[list[Cell]] = field(default_factory=list)


@dataclass(frozen=True)
class TableParts:
    """A table taken apart: groups in display order, and text that stands in the table outside of any cell."""

    groups: tuple[RowGroup, ...]
    caption: str
    stray: str


def untangle(tree: Element) -> None:
    """Puts rows and cells that an unclosed element left inside another cell behind it, where a browser has them.

    Cells without a row element get one.
    """
    last_behind: dict[int, Element] = {}
    for tag in list(tree.all("tr", "td", "th")):
        if tag.name != "tr" and tag.parent and tag.parent.name == "tr":
            continue
        around = _around(tag)
        fits = not around or (tag.name != "tr" and around[0].name == "tr")
        if fits or around[-1].around(("table",)) is None:
            continue
        rows = [outer for outer in around if outer.name == "tr"] if tag.name == "tr" else []
        place = (rows or [outer for outer in around if outer.name != "tr"])[-1]
        tag.put_behind(last_behind.get(id(place), place))
        last_behind[id(place)] = tag
    parents = {cell.parent: cell for cell in tree.all("td", "th") if cell.parent}
    for parent, cell in parents.items():
        if parent.name != "tr" and not any(outer.name == "tr" for outer in _around(cell)):
            _give_rows(parent)


def _give_rows(parent: Element) -> None:
    """Puts each run of cells, texts between them left where they are, into a row element."""
    children, parent.children = parent.children, []
    row: Element | None = None
    for child in children:
        if isinstance(child, str):
            parent.children.append(child)
        elif child.name not in ("td", "th"):
            parent.append(child)
            row = None
        else:
            if row is None:
                parent.append(row := Element("tr"))
            row.append(child)


def _around(tag: Element) -> list[Element]:
    """The rows, cells and captions of the same table that the element stands in, the innermost first."""
    found: list[Element] = []
    for outer in tag.parents:
        if outer.name == "table":
            break
        if outer.name in ("tr", "td", "th", "caption"):
            found.append(outer)
    return found


def take_apart(table: Element, is_other: Callable[[Element], bool]) -> TableParts:
    """The cells of a table in an untangled tree; tables for which `is_other` is true are not part of a cell's text."""
    groups = [RowGroup("")]
    row_of: dict[int, list[Cell]] = {}
    captions, stray = list[str](), list[str]()

    def whole(tag: Element) -> bool:
        return tag.name in ("td", "th", "caption", "script", "style") or is_other(tag)

    for kind, node in events(table, whole):
        if isinstance(node, str):
            stray.append(node)
        elif node.name in ("thead", "tbody", "tfoot"):
            groups.append(RowGroup(node.name if kind == "enter" else ""))
        elif node.name == "caption":
            captions.append(words(node, is_other))
        elif node.name == "tr" and kind == "enter":
            row_of[id(node)] = []
            groups[-1].rows.append(row_of[id(node)])
        elif node.name in ("td", "th"):
            row_of[id(node.around(("tr",)))].append(_cell(node, is_other))
    return TableParts(_displayed(groups), " ".join(filter(None, captions)), tidy(stray))


def lay_out(parts: TableParts, spans_cross_groups: bool = False, place: Place | None = None) -> Grid | None:
    """The grid; None if the table has no cell. `spans_cross_groups`: a rowspan may leave its row group (Word)."""
    rows = [row for group in parts.groups for row in group.rows]
    ends, end = list[int](), 0
    for group in parts.groups:
        end += len(group.rows)
        ends += [len(rows) if spans_cross_groups else end] * len(group.rows)
    laid, starts = _expanded(rows, ends)
    columns = sorted(starts)
    shown = [number for number, row in enumerate(rows) if row]
    if not shown:
        return None
    if len(columns) * len(shown) > CELLS_AT_MOST:
        raise _too_large(len(columns) * len(shown))
    return Grid(
        rows=tuple(tuple(laid[number].get(column, "") for column in columns) for number in shown),
        numbers=tuple(range(1, len(shown) + 1)),
        caption=parts.caption,
        header_rows=_header_rows(parts.groups),
        place=place or Place(),
    )


def _cell(tag: Element, is_other: Callable[[Element], bool]) -> Cell:
    return Cell(
        text=words(tag, is_other),
        rows=min(attribute_number(tag, "rowspan", 1), ROWSPAN_AT_MOST),
        columns=min(attribute_number(tag, "colspan", 1) or 1, COLSPAN_AT_MOST),
        is_header=tag.name == "th" and tag.get("scope") not in ("row", "rowgroup"),
    )


def _displayed(groups: list[RowGroup]) -> tuple[RowGroup, ...]:
    """The first head above all, every foot below all, else the order of the file."""
    heads = [group for group in groups if group.name == "thead" and group.rows][:1]
    feet = [group for group in groups if group.name == "tfoot"]
    bodies = [group for group in groups if group not in feet and not any(group is head for head in heads)]
    return tuple(group for group in (*heads, *bodies, *feet) if group.rows)


def _expanded(rows: list[list[Cell]], ends: list[int]) -> tuple[list[dict[int, str]], set[int]]:
    """Each row's text by column, and the columns in which a cell starts; `ends` is where each row's group ends."""
    reaching: dict[int, tuple[int, str]] = {}  # column -> the row before which a cell from above ends, and its text
    laid, starts, slots = list[dict[int, str]](), set[int](), 0
    for number, row in enumerate(rows):
        reaching = {column: span for column, span in reaching.items() if span[0] > number}
        line = {column: text for column, (_, text) in reaching.items()}
        column = 0
        for cell in row:
            while column in line:
                column += 1
            starts.add(column)
            until = min(number + cell.rows, ends[number]) if cell.rows else ends[number]
            for covered in range(column, column + cell.columns):
                line[covered] = cell.text
                if until > number + 1:
                    reaching[covered] = (until, cell.text)
            column += cell.columns
            slots += cell.columns
            if slots > CELLS_AT_MOST:
                raise _too_large(slots)
        slots += len(reaching)
        laid.append(line)
    return laid, starts


def _header_rows(groups: tuple[RowGroup, ...]) -> int | None:
    """Rows of <thead>, else the leading rows of header cells only; None if there are none or nothing else."""
    rows = [row for group in groups for row in group.rows if row]
    if groups and groups[0].name == "thead":
        count = sum(1 for row in groups[0].rows if row)
        if 0 < count < len(rows):
            return count
    count = next((number for number, row in enumerate(rows) if not all(cell.is_header for cell in row)), len(rows))
    return count if 0 < count < len(rows) else None


def _too_large(cells: int) -> FileRefusedError:
    return FileRefusedError(
        "too-large",
        f"一张表展开合并单元格后超过 {CELLS_AT_MOST} 格（至少 {cells} 格）。请把表拆开，或检查 colspan/rowspan。",
        f"A table has over {CELLS_AT_MOST} cells once its spans are expanded (at least {cells}). Split it, or check its colspan and rowspan.",
    )
