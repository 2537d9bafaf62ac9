"""Tables of documents as specifications of cards: what they say beside what we know, and the cards we do not have.

A card of gpus.csv is compared and never changed. One that no row has is read with the checks that gpus.csv itself
passes; a figure with sparsity is never taken for a dense one. `SpecReport.store` is the only step that writes.

Errors of knowledge/own_cards.py pass through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from ingest.document_tables import DocumentTable, folded, says_nothing, source_of
from ingest.price_formats import Rejected
from ingest.spec_checks import CardName, card_name, implausible
from ingest.spec_columns import (
    FIGURES,
    OF_INSTANCES,
    RATES,
    TEXT_COLUMNS,
    UNIT_OF,
    Figure,
    SpecColumn,
    UnreadableCellError,
    is_name_heading,
    is_sparse,
    memory_kind,
    read_figure,
    read_year,
    spec_column,
)
from knowledge import names
from knowledge.catalog import load_catalog
from knowledge.hardware import Gpu
from knowledge.hardware_cells import figure, range_of
from knowledge.own_cards import OwnCard, store
from knowledge.table_rows import Span

FEWEST_COLUMNS = 2
LONGEST_TEXT = 60
SAMPLE_ROWS = 60  # by which a column is judged
SAME = Decimal("0.01")  # makers and tables round apart
DENSE_NAMED = re.compile(r"稠密|dense", re.I)


@dataclass(frozen=True)
class SpecTable:
    """A table whose headings mean a card and at least two specifications; a table of cards side by side is `turned`.

    `left_out` are columns (heading, zh, en) that are not taken, such as rates with sparsity.
    """

    table: DocumentTable
    name_at: int
    columns_read: tuple[SpecColumn, ...]
    left_out: tuple[tuple[str, str, str], ...]
    turned: bool

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """(what it is, heading) of every column that is read."""
        read = [(name, column.heading) for column in self.columns_read for name in column.columns]
        return (("gpu", self.table.headings[self.name_at]), *read)


@dataclass(frozen=True)
class Compared:
    """What the table says of a card we have: `verdict` is same, differs, sparse, or new where we have no figure."""

    line: int
    name: str
    forms: tuple[str, ...]
    column: str
    given: str
    known: str
    verdict: str


@dataclass(frozen=True)
class SpecReport:
    """What accepting a table would do: `new` cards are stored, `compared` ones only shown, `refused` rows not taken.

    `notes` (zh, en) tell of cells that were left out and units that were assumed. `turned`: `line` counts columns.
    """

    new: tuple[OwnCard, ...]
    compared: tuple[Compared, ...]
    refused: tuple[Rejected, ...]
    notes: tuple[tuple[str, str], ...]
    left_out: tuple[tuple[str, str, str], ...]
    turned: bool

    def store(self) -> int:
        """Store the new cards; returns how many. Raises OwnCardsBrokenError, TooManyCardsError."""
        if self.new:
            store(self.new)
            names.forget()
        return len(self.new)


@dataclass
class _Card:
    """A row as it was read."""

    line: int
    name: CardName
    figures: dict[str, Figure] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)


def spec_table(table: DocumentTable) -> SpecTable | None:
    """The table as one of specifications, upright or with cards side by side; None if it is neither."""
    if found := _upright(table, turned=False):
        return found
    side_by_side = _turned(table)
    return _upright(side_by_side, turned=True) if side_by_side else None


def judge(found: SpecTable, document_id: str, document: str) -> SpecReport:
    """Every row compared, read as a new card, or refused with its line and reason. Writes nothing."""
    notes: list[tuple[str, str]] = list(_unit_notes(found))
    refused: list[Rejected] = []
    cards: list[_Card] = []
    for cells, line in zip(found.table.rows, found.table.lines, strict=True):
        name = card_name(cells[found.name_at], document_id)
        if name.problem:
            refused.append(Rejected(line, *name.problem))
        else:
            cards.append(_read(found, cells, line, name, notes))
    compared = [each for card in cards if card.name.known for each in _compared(card)]
    doubled = {each.column for each in compared if each.verdict == "sparse"}
    notes += [_sparse_note(column) for column in FIGURES if column in doubled]
    new: list[OwnCard] = []
    for card in cards:
        if not card.name.known:
            _take(card, doubled, new, refused, (document_id, source_of(document, found.table.number)))
    return SpecReport(
        tuple(new), tuple(compared), tuple(sorted(refused, key=lambda row: row.line)), tuple(dict.fromkeys(notes)),
        found.left_out, found.turned,
    )  # fmt: skip


def _upright(table: DocumentTable, *, turned: bool) -> SpecTable | None:
    names = [at for at, heading in enumerate(table.headings) if is_name_heading(heading)]
    if not names and table.headings and not spec_column(0, table.headings[0]) and _names_cards(table, 0):
        names = [0]
    if not names or any(OF_INSTANCES.search(folded(heading)) for heading in table.headings):
        return None
    read, left_out = list[SpecColumn](), list[tuple[str, str, str]]()
    around = is_sparse(" ".join((table.label, table.unit_note, *table.notes)))
    for at, heading in enumerate(table.headings):
        column = spec_column(at, heading) if at != names[0] else None
        if column and column.columns[0] in RATES[1:] and (is_sparse(heading) or (around and not _says_dense(heading))):
            why = ("是带稀疏的算力，这里只收稠密值", "is a rate with sparsity; only dense rates are kept")
            left_out.append((heading, *why))
        elif column and not any(set(column.columns) & set(other.columns) for other in read):
            read.append(column)
    return SpecTable(table, names[0], tuple(read), tuple(left_out), turned) if _is_enough(read, left_out) else None


def _is_enough(read: Sequence[SpecColumn], left_out: Sequence[object]) -> bool:
    """Two specifications, of which one is a figure; a maker's name is none."""
    telling = [column.columns[0] for column in read if column.columns[0] != "vendor"]
    return len(telling) + len(left_out) >= FEWEST_COLUMNS and any(column in FIGURES for column in telling)


def _turned(table: DocumentTable) -> DocumentTable | None:
    """A table with properties down and cards across as one with cards down; None if the first column has no two."""
    labels = [row[0] for row in table.rows]
    width = len(table.headings)
    if width < 2 or sum(bool(spec_column(0, label)) for label in labels) < FEWEST_COLUMNS:
        return None
    names = list(table.headings[1:])
    if (
        not any(names)
        and (at := next((at for at, label in enumerate(labels) if is_name_heading(label)), None)) is not None
    ):
        names = list(table.rows[at][1:])
        labels[at] = ""
    if not all(names):
        return None
    rows = [(name, *(row[at] for row in table.rows)) for at, name in enumerate(names, start=1)]
    return DocumentTable(
        table.number, table.label, table.place, ("GPU", *labels), tuple(rows), tuple(range(2, width + 1)),
        ("",) * len(rows), table.unit_note, table.notes, table.around,
    )  # fmt: skip


def _names_cards(table: DocumentTable, at: int) -> bool:
    """Whether most cells of a column name a card, known or not."""
    sample = table.rows[:SAMPLE_ROWS]
    return sum(not card_name(row[at], "").problem for row in sample) * 2 > len(sample)


def _says_dense(heading: str) -> bool:
    return bool(DENSE_NAMED.search(heading))


def _read(
    found: SpecTable, cells: Sequence[str], line: int, name: CardName, notes: list[tuple[str, str]]
) -> _Card:  # fmt: skip
    card = _Card(line, name)
    for column in found.columns_read:
        cell, first = cells[column.at], column.columns[0]
        if first in TEXT_COLUMNS:
            card.texts[first] = "" if says_nothing(cell) else " ".join(cell.split())[:LONGEST_TEXT]
        elif first == "release_year":
            card.texts[first] = read_year(cell)
        else:
            _read_figures(card, cell, column, notes)
    return card


def _read_figures(card: _Card, cell: str, column: SpecColumn, notes: list[tuple[str, str]]) -> None:
    try:
        value = read_figure(cell, column, column.columns[0])
    except UnreadableCellError as error:
        where = f"{card.name.name} {column.heading}"
        notes.append((f"{where}：{error.zh}，这一格没有收", f"{where}: {error.en}; this cell was left out"))
        return
    if value is not None:
        card.figures.update(dict.fromkeys(column.columns, value))
    if column.columns[0] == "memory" and (kind := memory_kind(cell)):
        card.texts.setdefault("memory_type", kind)


def _unit_notes(found: SpecTable) -> Iterator[tuple[str, str]]:
    """Columns where neither heading nor cells state a unit."""
    for column in found.columns_read:
        name = column.columns[0]
        if name not in FIGURES or column.unit:
            continue
        cells = [row[column.at] for row in found.table.rows]
        if any(not re.search(r"[^\W\d_]", cell) and re.search(r"\d", cell) for cell in cells):
            unit = UNIT_OF.get(name, "TFLOPS")
            yield (
                f"{column.heading!r} 没有写单位，按 {unit} 理解",
                f"{column.heading!r} states no unit: read as {unit}",
            )


def _compared(card: _Card) -> Iterator[Compared]:
    catalog = load_catalog()
    forms = [gpu for form in card.name.known if (gpu := catalog.gpu(form))]
    for column, value in card.figures.items():
        given = f"{figure(value.value)} {value.unit}"
        spans = [span for gpu in forms if (span := _span(gpu, column))]
        known = " | ".join(dict.fromkeys(range_of(span, UNIT_OF.get(column, "TFLOPS")) for span in spans))
        yield Compared(card.line, card.name.name, card.name.known, column, given, known, _verdict(value, spans, column))
    year = card.texts.get("release_year", "")
    if year and (years := {str(gpu.release_year) for gpu in forms if gpu.release_year}):
        verdict = "same" if year in years else "differs"
        yield Compared(
            card.line, card.name.name, card.name.known, "release_year", year, " | ".join(sorted(years)), verdict
        )


def _verdict(value: Figure, spans: Sequence[Span], column: str) -> str:
    if not spans:
        return "new"
    if any(span.low * (1 - SAME) <= value.value <= span.high * (1 + SAME) for span in spans):
        return "same"
    doubled = any(abs(value.value / (2 * span.high) - 1) <= SAME for span in spans)
    return "sparse" if doubled and column in RATES[1:] else "differs"


def _sparse_note(column: str) -> tuple[str, str]:
    name = column.partition("_")[0].upper()
    return (
        f"{name} 一列是已知显卡稠密值的两倍，即带稀疏的值，新显卡的这一列不收",
        f"the {name} column is twice the dense figure of cards we know, so with sparsity: it is not taken for new cards",
    )


def _take(
    card: _Card, doubled: set[str], new: list[OwnCard], refused: list[Rejected], origin: tuple[str, str]
) -> None:  # fmt: skip
    figures = {column: value for column, value in card.figures.items() if column not in doubled}
    name = card.name.name
    if any(other.name.lower() == name.lower() for other in new):
        refused.append(Rejected(card.line, f"{name} 在表里不止一行", f"{name} stands in more than one row"))
    elif not figures:
        refused.append(Rejected(card.line, f"{name} 没有一个可用的数字", f"{name} has no figure that can be taken"))
    elif problem := implausible(name, figures, card.texts):
        refused.append(Rejected(card.line, *problem))
    else:
        cells = {column: _plain(value.value) for column, value in figures.items()}
        unit = figures["memory"].unit if "memory" in figures else ""
        new.append(OwnCard(document_id=origin[0], source=origin[1], name=name, family=card.name.family,
                           memory_unit=unit, **card.texts, **cells))  # fmt: skip


def _span(gpu: Gpu, column: str) -> Span | None:
    found: Span | None = getattr(gpu, column)
    return found


def _plain(value: Decimal) -> str:
    return f"{round(value, 3).normalize():f}"
