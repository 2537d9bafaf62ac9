"""What `knowledge tables` and `knowledge accept` do and print: recognised tables of documents, their preview, their rows.

Reads the list of documents only, not the index. Recognising and checking is in ingest/typed_tables.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from ingest.blocks import Parsed, Place, from_json
from ingest.price_cells import PERIODS, read_word
from ingest.rental_tables import GivenTerms, PriceTable, price_rows
from ingest.spec_tables import SpecReport, SpecTable, judge
from ingest.typed_tables import MISSING, TypedTable, described, prepare_prices, typed, typed_tables
from knowledge.catalog import load_catalog
from knowledge.hardware_cells import gpu_cells
from knowledge.library import Document, Library

PREVIEW_ROWS = 5
MOST_LISTED = 200
PLACES = {"page": ("第 {} 页", "page {}"), "slide": ("第 {} 张幻灯片", "slide {}"), "sheet": ("工作表 {}", "sheet {}"), "line": ("第 {} 行", "line {}")}  # fmt: skip
KINDS = {"prices": ("价格", "prices"), "specs": ("规格", "specifications")}
VERDICTS = {
    "same": ("一致", "same"),
    "differs": ("不同，保留内置值", "differs; the built-in value stays"),
    "sparse": ("文档是带稀疏的值，内置是稠密值", "the document has the rate with sparsity, ours is dense"),
    "new": ("内置没有这一项，未收下", "we have no such figure; not taken"),
}
RESTART = "正在运行的 serve 要重启才认得新显卡的名字。 / A running `serve` knows the new names after a restart."


@dataclass(frozen=True)
class AcceptOptions:
    """What the reader says beside the table: terms it does not state, its date, and whether unusual prices are meant."""

    provider: str = ""
    currency: str = ""
    per: str = ""
    as_of: str = ""
    allow_unusual: bool = False
    dry_run: bool = False


class UnknownPeriodError(Exception):
    """`--per` is none of the periods that prices are kept by."""


def tables_text(library: Library, wanted: str | None) -> str:
    """Recognised tables of one document (id, origin or name) or of all. Raises UnknownDocumentError."""
    documents = [library.document(wanted)] if wanted else library.documents()
    parts = [part for document in documents for part in _document_tables(library, document)]
    if not parts:
        return "没有识别出价格表或规格表。 / No table of prices or specifications was recognised."
    return "\n\n".join(parts)


def accept_table(
    library: Library, wanted: str, number: int, options: AcceptOptions, today: date
) -> tuple[str, bool]:  # fmt: skip
    """(what to print, whether anything was taken). Raises UnknownDocumentError, UnknownPeriodError and those of typed_tables."""
    document = library.document(wanted)
    found = typed(_parsed(library, document), number)
    if isinstance(found, SpecTable):
        return _accept_specs(found, document, options)
    return _accept_prices(found, document, options, today)


def _accept_prices(
    found: PriceTable, document: Document, options: AcceptOptions, today: date
) -> tuple[str, bool]:  # fmt: skip
    from assistant.price_commands import report_text

    terms = GivenTerms(options.provider, options.currency, _period(options.per))
    prepared = prepare_prices(
        found, document.name, terms, as_of=options.as_of, allow_unusual=options.allow_unusual, today=today
    )
    lines = [report_text(prepared.report), *_price_notes(found, terms), *_left_out(found)]
    taken = prepared.report.accepted > 0
    if not taken:
        lines.append("没有可以收下的行，什么都没有写入。 / No row could be accepted; nothing was written.")
    elif options.dry_run:
        lines.append("这是试运行，什么都没有写入。 / This was a dry run; nothing was written.")
    else:
        prepared.commit()
        lines.append("已写入；`gpu-advisor prices undo` 可撤销。 / Written; `gpu-advisor prices undo` takes it back.")
    return "\n".join(lines), taken


def _accept_specs(found: SpecTable, document: Document, options: AcceptOptions) -> tuple[str, bool]:
    report = judge(found, document.id, document.name)
    lines = [*_spec_lines(report), *_left_out(found)]
    if not report.new:
        lines.append("没有新的显卡，什么都没有写入；已有的显卡以内置数据为准。 / No new card; nothing was written. For cards we have the built-in figures stand.")  # fmt: skip
    elif options.dry_run:
        lines.append("这是试运行，什么都没有写入。 / This was a dry run; nothing was written.")
    else:
        report.store()
        lines.append(
            f"已收下 {len(report.new)} 款显卡；删除文档即一并删除。 / Stored {len(report.new)} cards; they go when the document is removed."
        )
        lines.append(RESTART)
    return "\n".join(lines), bool(report.new or report.compared)


def _document_tables(library: Library, document: Document) -> Iterator[str]:
    for found in typed_tables(_parsed(library, document)):
        table = described(found)
        preview = _price_preview(found) if isinstance(found, PriceTable) else _spec_preview(found, document)
        missing = [f"需要给出 / please give: {' / '.join(MISSING[name])}" for name in table.missing]
        yield "\n".join([_heading(document, table), *preview, *missing, *_left_out(found)])


def _heading(document: Document, table: TypedTable) -> str:
    zh, en = KINDS[table.kind]
    columns = ", ".join(f"{heading or '–'} -> {what}" for what, heading in table.columns)
    return (
        f"{document.name} [{document.id}] 表 {table.number} / table {table.number}：{zh} / {en}{_place(table.place)}"
        f"，{table.rows} 行 / rows{f'  {table.caption}' if table.caption else ''}\n  {columns}"
    )


def _place(place: Place) -> str:
    if place.kind not in PLACES:
        return ""
    zh, en = PLACES[place.kind]
    return f"，{zh.format(place.label)} / {en.format(place.label)}"


def _price_preview(found: PriceTable) -> Iterator[str]:
    rows = price_rows(found, GivenTerms())
    for line, row in list(zip(rows.lines, rows.rows, strict=True))[:PREVIEW_ROWS]:
        currency = row["currency"] or rows.currency
        cells = (row["provider"] or "?", row["gpu"], f"x{row['gpu_count'] or 1}", f"{row['price']} {currency}".strip(),
                 row["per"] or "?", row["pricing_model"], row["region"], row["as_of"])  # fmt: skip
        yield f"  {line}: {' | '.join(cell for cell in cells if cell)}"
    if len(rows.rows) > PREVIEW_ROWS:
        yield f"  … 共 {len(rows.rows)} 个价格 / {len(rows.rows)} prices in all"
    yield from (f"  {note}" for note in _price_notes(found, GivenTerms()))


def _price_notes(found: PriceTable, given: GivenTerms) -> Iterator[str]:
    rows = price_rows(found, given)
    if rows.empty_cells:
        yield f"{rows.empty_cells} 个格子没有价格，跳过 / {rows.empty_cells} cells have no price and were skipped"
    if rows.uncounted:
        yield "表里没写卡数，按一张卡算 / the table states no card count: each price is taken as that of one card"


def _spec_preview(found: SpecTable, document: Document) -> Iterator[str]:
    lines = list(_spec_lines(judge(found, document.id, document.name)))
    yield from (f"  {line}" for line in lines[:PREVIEW_ROWS])
    if len(lines) > PREVIEW_ROWS:
        yield f"  … 共 {len(lines)} 条，用 accept --dry-run 看全部 / {len(lines)} lines in all: see them with accept --dry-run"


def _spec_lines(report: SpecReport) -> Iterator[str]:
    """New cards, refused rows, then the comparison with cards we have; a comparison that only agrees is one line."""
    for card in report.new:
        figures = [f"{label}={value}" for label, value in _card_cells(card.name, report)]
        yield f"新显卡 / new card: {card.name}: {', '.join(figures)}"
    where = ("第 {} 列", "column {}") if report.turned else ("第 {} 行", "line {}")
    for row in report.refused[:MOST_LISTED]:
        yield f"{where[0].format(row.line)} {row.zh} / {where[1].format(row.line)}: {row.en}"
    for each in report.compared[:MOST_LISTED]:
        if each.verdict == "same":
            continue
        zh, en = VERDICTS[each.verdict]
        name = f"{each.name} ({', '.join(each.forms)})" if each.forms != (each.name,) else each.name
        yield f"{name} {each.column}: 文档 / document {each.given}, 内置 / built-in {each.known or '–'}：{zh} / {en}"
    same = sum(each.verdict == "same" for each in report.compared)
    if same:
        yield f"与内置数据一致 {same} 项 / {same} figures agree with ours"
    yield from (f"注意：{zh} / note: {en}" for zh, en in report.notes[:MOST_LISTED])


def _card_cells(name: str, report: SpecReport) -> Iterator[tuple[str, str]]:
    card = next(card for card in report.new if card.name == name)
    labels = {cell.column: " / ".join(cell.label) for cell in gpu_cells(load_catalog().shipped_gpus[0])}
    for column, label in labels.items():
        if value := getattr(card, column, "") if column != "name" else "":
            yield label, f"{value} {card.memory_unit}" if column == "memory" else value


def _left_out(found: PriceTable | SpecTable) -> Iterator[str]:
    if isinstance(found, SpecTable):
        yield from (f"没有收 / left out: {heading!r} {zh} / {en}" for heading, zh, en in found.left_out)
        return
    for column in found.left_out:
        if column.problem:
            yield f"没有收 / left out: {column.heading!r} {column.problem[0]} / {column.problem[1]}"


def _period(given: str) -> str:
    """The period an option names. Raises UnknownPeriodError."""
    if not (period := read_word(given, PERIODS, "")) and given.strip():
        raise UnknownPeriodError(
            f"--per {given!r}：应是 hour、month 或 gpu-hour / --per {given!r}: it must be hour, month or gpu-hour"
        )
    return period


def _parsed(library: Library, document: Document) -> Parsed:
    return from_json(json.loads(library.content(document.id)))
