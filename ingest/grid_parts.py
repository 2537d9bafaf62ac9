"""Takes a grid apart that an author wrote as one but that is more: a quotation's form rows, or tables without a gap.

The rows of labels and values above the heading of a quotation (客户 | 甲公司) are told from a heading of two rows by
what they say, so an unknown label with a word beside it stays with the table. A row inside a table is a new heading if
it begins with the heading's first word or is of words for headings above figures. Says nothing of other rows: that is
grids.py. Raises nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from ingest.blocks import Grid, Place
from ingest.table_headers import PROPERTY, Cells, is_figure, kind_of

MOST_FORM_ROWS = 15
FORM_LABEL = re.compile(
    r"客户(?:名称|单位)?|[甲乙需供买卖]方|(?:公司|单位|项目|工程)名称|公司|抬头|(?:报价|询价|制表|签订|开票|更新|生效)?(?:日期|时间)|"
    r"(?:报价|询价|合同|订单)?(?:单号|编号)|合同号|联系(?:人|方式|电话)|电话|手机|邮箱|电子邮件|传真|地址|(?:报价)?有效期.{0,2}|交货期|交期|"
    r"付款(?:方式|条件)|币种|货币|报价人|销售(?:代表|经理)?|制[表单]人?|审核人?|"
    r"to|from|attn|customer|client|company|bill to|ship to|date|quot(?:e|ation)(?: (?:no|number|date|id))?|(?:order|ref(?:erence)?)? ?no|"
    r"contact|phone|tel|e-?mail|fax|address|valid(?:ity| until| to| through)|project|currency|prepared (?:by|for)|payment(?: terms)?|"
    r"sales(?: rep(?:resentative)?)?",
    re.I,
)
HEADING_WORD = re.compile(rf"(?:{PROPERTY.pattern})(?:\s*[(（].{{1,20}}[)）])?", re.I)


@dataclass(frozen=True)
class GridParts:
    """The lines of the form above the table, and the tables one below the other; together all rows of the grid."""

    form: tuple[str, ...]
    grids: tuple[Grid, ...]


def parts_of(grid: Grid) -> GridParts:
    """The parts of a grid; most grids are one part, themselves."""
    rows = [tuple(" ".join(cell.split()) for cell in row) for row in grid.rows]
    titles, form_end = (0, 0) if grid.header_rows else _form(rows)
    kept = [*range(titles), *range(form_end, len(rows))]
    starts = [0, *_new_headings([rows[at] for at in kept], grid.header_rows or titles + 1), len(kept)]
    if not form_end and len(starts) == 2:
        return GridParts((), (grid,))
    grids = tuple(_part(grid, kept[start:end], is_first=not start) for start, end in pairwise(starts))
    return GridParts(tuple(" | ".join(_values(row)) for row in rows[titles:form_end]), grids)


def _part(grid: Grid, kept: Sequence[int], is_first: bool) -> Grid:
    numbers = tuple(grid.numbers[at] for at in kept)
    is_numbered_by_line = grid.place == Place("line", str(grid.numbers[0])) and grid.header_rows is None
    return replace(
        grid,
        rows=tuple(grid.rows[at] for at in kept),
        numbers=numbers,
        header_rows=grid.header_rows if is_first else None,
        place=Place("line", str(numbers[0])) if is_numbered_by_line else grid.place,
    )


def _values(row: Cells) -> list[str]:
    """The cells that say something, a merged one once."""
    return [cell for cell, _ in groupby(row) if cell]


def _form(rows: Sequence[Cells]) -> tuple[int, int]:
    """Where the form's rows begin and end; 0, 0 without a form."""
    start = next((at for at, row in enumerate(rows) if len(_values(row)) > 1), 0)
    for end in range(start + 1, min(start + MOST_FORM_ROWS, len(rows) - 1)):
        if _is_full_heading(rows[end]) and any(map(_is_number, rows[end + 1])):
            return (start, end) if _are_form(rows[start:end]) else (0, 0)
    return 0, 0


def _is_full_heading(row: Cells) -> bool:
    return len(row) > 2 and all(row) and len(set(row)) == len(row) and not any(map(is_figure, row))


def _are_form(rows: Sequence[Cells]) -> bool:
    told = [any(map(_is_label, _values(row)[::2])) or any(map(_is_number, row)) for row in rows if any(row)]
    return all(map(_has_form, rows)) and told[0] and sum(told) * 2 >= len(told)


def _has_form(row: Cells) -> bool:
    """Labels with a value each and room left, or all of them known labels; a title or a blank row between is no harm."""
    values = _values(row)
    if len(values) < 2:
        return True
    labels = values[::2]
    if not row[0] or len(values) % 2 or any(map(is_figure, labels)):
        return False
    return len(values) < len(row) or all(map(_is_label, labels))


def _is_label(cell: str) -> bool:
    return cell.endswith((":", "：")) or bool(FORM_LABEL.fullmatch(cell.rstrip(". ")))


def _is_number(cell: str) -> bool:
    return (kind_of(cell) or "").startswith(("number", "date"))


def _new_headings(rows: Sequence[Cells], first_data: int) -> list[int]:
    """Where a heading stands inside the table, with a row of data right above and right below it."""
    found: list[int] = []
    heading: Cells = next((row for row in rows if len(_values(row)) > 1), ())
    if not heading:
        return []
    for at in range(first_data + 1, len(rows) - 1):
        row = rows[at]
        if not row[0] or row == heading or not (row[0] == heading[0] or HEADING_WORD.fullmatch(row[0])):
            continue
        if _is_new_heading(row, heading, rows[at - 1], rows[at + 1]):
            found.append(at)
            heading = row
    return found


def _is_new_heading(row: Cells, heading: Cells, above: Cells, below: Cells) -> bool:
    said = [cell for cell in row if cell]
    if len(said) < 2 or len(set(said)) < len(said) or any(map(is_figure, said)):
        return False
    if not any(
        cell and _is_number(upper) and _is_number(lower) for cell, upper, lower in zip(row, above, below, strict=True)
    ):
        return False
    words = sum(bool(HEADING_WORD.fullmatch(cell)) for cell in said)
    return row[0] == heading[0] or (words > 1 and words * 2 >= len(said))
