"""Words a table for passages: a row as `header = value; ...`, a whole table as Markdown, and the place of either.

Every row says on its own what it is about: caption, unit and the title above its group of rows come first. Only
words: which rows are data was decided by grids.py. Raises nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.blocks import Place
from ingest.grids import Table, language_of
from ingest.rows import MAX_WIDTH, width
from ingest.splitting import fits, split
from knowledge.passage import Language

WIDEST_ROW = 8000  # a row is not cut: half a row is a wrong one. One wider than this is no row that a person wrote
SAMPLE_ROWS = 20
WIDEST_NAME = 400  # the first cell, which names the row, is repeated in each part of such a row up to this width


class _Lead(NamedTuple):
    """How what stands before a row's cells is worded."""

    table: str
    unit: str
    brackets: str
    group: str


LEAD: dict[Language, _Lead] = {
    "zh": _Lead("表：{}", "单位：{}", "（{}）", "分组：{}"),
    "en": _Lead("Table: {}", "unit: {}", " ({})", "group: {}"),
}
PLACES: dict[str, tuple[str, str]] = {
    "page": ("第 {} 页", "page {}"),
    "slide": ("幻灯片 {}", "slide {}"),
    "sheet": ("工作表 {}", "sheet {}"),
    "line": ("第 {} 行", "line {}"),
}


def row_texts(table: Table, at: int, otherwise: Language) -> tuple[Language, list[str]]:
    """The language of a row and its text; several texts, cut between cells, where it is wider than WIDEST_ROW."""
    cells = _cells(table, at)
    section = table.sections[at]
    words = " ".join([table.caption, table.unit_note, section, *cells])
    language = language_of(words, otherwise)
    lead = _lead(table, section, language)
    label = f"{lead}{cells[0]}{('：', ': ')[language == 'en']}" if _is_labelled(table, at) else lead
    values = cells[1:] if _is_labelled(table, at) else cells
    text = label + "; ".join(values)
    if not values:
        return language, [text.rstrip("：: ")]
    if len(text) * 2 <= WIDEST_ROW or fits(text, WIDEST_ROW):
        return language, [text]
    return language, list(_parts(label, values))


def table_language(table: Table, otherwise: Language) -> Language:
    """The language of a table as a whole; `otherwise` for one of figures only."""
    cells = (cell for row in table.rows[:SAMPLE_ROWS] for cell in row)
    return language_of(" ".join([table.caption, table.unit_note, *table.headers, *cells]), otherwise)


def markdown_of(table: Table, language: Language) -> str:
    """The table as Markdown with its caption, unit, group titles and notes; "" for one that says nothing.

    Gives up with a text wider than MAX_WIDTH as soon as it is, since only a table that fits is shown whole.
    """
    if not (any(table.headers) or table.rows or table.notes or table.caption):
        return ""
    columns = len(table.headers)
    lines = [_line(table.headers), "|" + " --- |" * columns] if columns else []
    section, used = "", 0
    for row, above in zip(table.rows, table.sections, strict=True):
        if above != section and above:
            lines.append(_line([f"**{above}**", *[""] * (columns - 1)]))
        section = above
        lines.append(_line(row))
        used += len(lines[-1])
        if used > MAX_WIDTH:
            break
    caption = _lead(table, "", language).removesuffix("; ")
    return "\n\n".join(part for part in (caption, "\n".join(lines), *table.notes) if part)


def place_words(first: Place, last: Place, language: Language) -> str:
    """The place of a passage for readers: 第 3 页, slide 2; a span of pages or slides where it ends on another one."""
    label = first.label
    if first.kind in ("page", "slide") and last.kind == first.kind and last.label != label:
        label = f"{label}–{last.label}"
    if not first.kind or not label:
        return ""
    form = PLACES[first.kind][language == "en"].format(label)
    return form.replace("page ", "pages ").replace("slide ", "slides ") if "–" in label and language == "en" else form


def row_place_words(place: Place, table: int | None, row: int, language: Language) -> str:
    """The place of a row: 工作表 Sheet1 第 14 行, page 3, table 2 row 5.

    `table` is the table's number in the file, 0 where it is the only one, None where `row` counts the file's lines.
    """
    english = language == "en"
    number = (f"第 {row} 行", f"{'line' if table is None and place.kind == 'line' else 'row'} {row}")[english]
    if place.kind == "sheet":
        return f"{place_words(place, place, language)} {number}"
    which = (
        ""
        if table is None
        else f"table {table or ''}".strip()
        if english
        else f"第 {table} 个表格"
        if table
        else "表格"
    )
    where = "" if place.kind == "line" else place_words(place, place, language)
    return ", ".join(part for part in (where, f"{which}{' ' if english else ''}{number}".strip()) if part)


def _cells(table: Table, at: int) -> list[str]:
    """The row's values with their headers, empty ones left out; a cell's own semicolons become commas, as "; " parts cells."""
    row = table.rows[at]
    if table.key_value:
        label, value = (_plain(cell) for cell in row)
        return [f"{label} = {value}" if label and value else label or value]
    return [
        f"{_plain(header)} = {_plain(cell)}" if header else _plain(cell)
        for header, cell in zip(table.headers, row, strict=True)
        if cell
    ]


def _is_labelled(table: Table, at: int) -> bool:
    """Whether the row is a property of the things in the headers: 显存：RTX 4090 = 24 GB; A100 = 80 GB."""
    named = not table.key_value and not table.headers[0] and bool(table.rows[at][0])
    return named and fits(table.rows[at][0], WIDEST_NAME)


def _plain(cell: str) -> str:
    return cell.replace("; ", ", ").replace(";", ",") if ";" in cell else cell


def _lead(table: Table, section: str, language: Language) -> str:
    """Caption, unit and group title, so that the row says on its own what it is about."""
    forms = LEAD[language]
    caption, unit = table.caption, forms.unit.format(table.unit_note) if table.unit_note else ""
    if caption:
        is_named = caption.lower().startswith(("表", "附表", "table", "tab."))  # 表 1 GPU 价格
        caption = (caption if is_named else forms.table.format(caption)) + (forms.brackets.format(unit) if unit else "")
    parts = [caption or unit, forms.group.format(section) if section else ""]
    return "".join(f"{_plain(part)}; " for part in parts if part)


def _parts(lead: str, values: Sequence[str]) -> Iterator[str]:
    """A very wide row cut between cells, what names the row repeated; a single cell wider than that is cut as prose."""
    name = values[0] if width(values[0]) <= WIDEST_NAME else ""
    start = lead + (f"{name}; " if name else "")
    room = WIDEST_ROW - width(start)
    part: list[str] = []
    used = 0
    for value in values[1:] if name else values:
        for piece in [value] if fits(value, room) else _cut_cell(value, room):
            wide = width(piece) + 2
            if part and used + wide > room:
                yield start + "; ".join(part)
                part, used = [], 0
            part.append(piece)
            used += wide
    yield start + "; ".join(part)


def _cut_cell(value: str, room: int) -> Iterator[str]:
    header, equals, said = value.partition(" = ")
    if not equals or width(header) > WIDEST_NAME:
        header, equals, said = "", "", value
    for piece in split(said, room - width(header) - len(equals)):
        yield f"{header}{equals}{piece}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
