"""The recognised tables of a document for a page in one language: what they say, what accepting one would do, and doing it.

Recognising and checking is in ingest/typed_tables.py, and the same checks decide what is accepted from the command
line. Nothing is written but by `accept`, `take_back_prices` and `take_back_cards`.

Errors: TableIncompleteError, TableNotTypedError, PriceFileError, UnknownDocumentError and those of own_cards.py pass
through; `said` gives their sentence in one language.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice

from assistant.evidence import Bilingual, Language
from assistant.table_commands import KINDS, PLACES, VERDICTS, AcceptOptions
from ingest.knowledge_base import KnowledgeBase
from ingest.price_import import ImportReport, PreparedImport
from ingest.rental_tables import GivenTerms, PriceTable, price_rows
from ingest.spec_tables import SpecReport, SpecTable, judge
from ingest.typed_tables import TypedTable, described, prepare_prices, typed, typed_tables
from knowledge import names
from knowledge.catalog import load_catalog
from knowledge.hardware_cells import gpu_cells
from knowledge.library import Document
from knowledge.own_cards import own_cards, remove_cards_of
from knowledge.price_snapshots import undo

PREVIEW_ROWS = 12
MOST_LISTED = 50
MEANINGS = {
    "provider": Bilingual(zh="云厂商", en="provider"),
    "gpu": Bilingual(zh="显卡", en="GPU"),
    "gpu_count": Bilingual(zh="卡数", en="cards"),
    "price": Bilingual(zh="价格", en="price"),
    "currency": Bilingual(zh="币种", en="currency"),
    "per": Bilingual(zh="计价单位", en="per"),
    "pricing_model": Bilingual(zh="计费方式", en="pricing model"),
    "region": Bilingual(zh="地域", en="region"),
    "as_of": Bilingual(zh="日期", en="date"),
}
PER_WORDS = {
    "instance-hour": Bilingual(zh="小时", en="hour"),
    "instance-month": Bilingual(zh="月", en="month"),
    "gpu-hour": Bilingual(zh="每卡小时", en="GPU-hour"),
}
CARD = Bilingual(zh="显卡", en="card")
# The options of the command line, as the page calls them.
OPTIONS = {
    "--provider": Bilingual(zh="「云厂商」", en="“Provider”"),
    "--currency": Bilingual(zh="「币种」", en="“Currency”"),
    "--per": Bilingual(zh="「价格按」", en="“A price is per”"),
    "--as-of": Bilingual(zh="「日期」", en="“Date”"),
    "--allow-unusual": Bilingual(zh="「异常价格也收」", en="“Take unusual prices too”"),
}
LINE = Bilingual(zh="行", en="line")


@dataclass(frozen=True)
class TableEntry:
    """A recognised table in a list; `missing` are terms it does not state: provider, currency, per."""

    number: int
    kind: str
    label: str
    rows: int
    missing: tuple[str, ...]


@dataclass(frozen=True)
class TablePreview:
    """What a table would bring. `rejected` and `notes` are sentences; `acceptable` rows would be taken.

    `missing` names terms that the reader has to give first; rows are not judged until then.
    """

    kind: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    in_all: int
    acceptable: int
    verdict: str
    rejected: tuple[str, ...]
    rejected_count: int
    notes: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Accepted:
    """What was taken; `undo_label` names the import of prices that can be taken back, "" for cards."""

    kind: str
    taken: int
    text: str
    undo_label: str


def table_entries(base: KnowledgeBase, document_id: str, language: Language) -> list[TableEntry]:
    """The recognised tables of a document. Raises UnknownDocumentError, FileRefusedError."""
    return [_entry(described(found), language) for found in typed_tables(base.parsed(document_id))]


def preview(
    base: KnowledgeBase, document_id: str, number: int, options: AcceptOptions, language: Language, today: date
) -> TablePreview:  # fmt: skip
    """What accepting a table with these terms would do. Writes nothing."""
    document, found = _found(base, document_id, number)
    if isinstance(found, SpecTable):
        return _spec_preview(judge(found, document.id, document.name), language)
    rows = price_rows(found, _terms(options))
    used = [name for name in MEANINGS if any(row[name] for row in rows.rows) or (name == "currency" and rows.currency)]
    headings = tuple(each[language] for each in (LINE, *(MEANINGS[name] for name in used)))
    shown = tuple(
        (
            str(line),
            *(_cell(name, row[name] or (rows.currency if name == "currency" else ""), language) for name in used),
        )
        for line, row in islice(zip(rows.lines, rows.rows, strict=True), PREVIEW_ROWS)
    )
    notes = tuple(_price_notes(rows.empty_cells, rows.uncounted, language))
    if rows.missing:
        return TablePreview(
            kind="prices", headings=headings, rows=shown,
            in_all=len(rows.rows), acceptable=0, verdict=_give(rows.missing)[language], rejected=(), rejected_count=0,
            notes=(*notes, *_left_out(found, language)), missing=rows.missing,
        )  # fmt: skip
    report = _prepared(found, document, options, today).report
    return TablePreview(
        kind="prices", headings=headings, rows=shown, in_all=len(rows.rows),
        acceptable=report.accepted, verdict=_price_verdict(report)[language],
        rejected=tuple(_line(each.line, each.zh, each.en, language) for each in report.rejected[:MOST_LISTED]),
        rejected_count=report.rejected_count,
        notes=(*notes, *(_of(note, language) for note in report.notes), *_left_out(found, language)), missing=(),
    )  # fmt: skip


def accept(
    base: KnowledgeBase, document_id: str, number: int, options: AcceptOptions, language: Language, today: date
) -> Accepted:  # fmt: skip
    """Take a table into the catalogue; answers see it from then on. `taken` 0: nothing could be, nothing was written."""
    document, found = _found(base, document_id, number)
    if isinstance(found, SpecTable):
        taken = judge(found, document.id, document.name).store()
        text = Bilingual(
            zh=f"已收下 {taken} 款显卡；删除文档时一并删除。",
            en=f"Took {taken} card{'' if taken == 1 else 's'}; they go when the document is deleted.",
        )
        return Accepted("specs", taken, text[language] if taken else _NOTHING[language], "")
    prepared = _prepared(found, document, options, today)
    report = prepared.report
    prepared.commit()
    text = Bilingual(
        zh=f"已收下 {report.accepted} 行价格（新 {report.new}，改价 {report.changed_count}，不变 {report.unchanged}），"
        f"拒绝 {report.rejected_count} 行。",
        en=f"Took {report.accepted} price rows ({report.new} new, {report.changed_count} changed, {report.unchanged} "
        f"unchanged), rejected {report.rejected_count}.",
    )
    return Accepted(
        "prices", report.accepted, text[language] if report.accepted else _NOTHING[language],
        report.label if report.accepted else "",
    )  # fmt: skip


def take_back_prices(label: str) -> None:
    """Undo the acceptance of that label. Raises OtherImportError if another import came after it, NothingToUndoError."""
    undo(only=label)


def take_back_cards(document_id: str) -> int:
    """Remove every card accepted from a document; returns how many. Raises OwnCardsBrokenError."""
    gone = remove_cards_of(document_id)
    if gone:
        names.forget()
    return gone


def cards_of(document_id: str) -> int:
    """How many cards were accepted from a document and are still there. Raises OwnCardsBrokenError."""
    return sum(card.document_id == document_id for card in own_cards())


def said(error: Exception, language: Language) -> str:
    """An error's sentence in one language, where it has both as "zh / en"."""
    parts = str(error).split(" / ")
    if len(parts) % 2:
        return on_page(str(error), language)
    half = len(parts) // 2
    return on_page(" / ".join(parts[:half] if language == "zh" else parts[half:]).strip(), language)


def on_page(text: str, language: Language) -> str:
    """A sentence with the options of the command line called as the page calls them."""
    for option, name in OPTIONS.items():
        text = text.replace(option, name[language])
    return text


def _cell(name: str, text: str, language: Language) -> str:
    return PER_WORDS[text][language] if name == "per" and text in PER_WORDS else text


_NOTHING = Bilingual(zh="没有可以收下的，什么都没有写入。", en="Nothing could be taken; nothing was written.")
_TERMS = {
    "provider": Bilingual(zh="云厂商", en="the provider"),
    "currency": Bilingual(zh="币种", en="the currency"),
    "per": Bilingual(zh="计价单位", en="what a price is per"),
}


def _entry(table: TypedTable, language: Language) -> TableEntry:
    place = ""
    if table.place.kind in PLACES:
        place = Bilingual(zh=PLACES[table.place.kind][0], en=PLACES[table.place.kind][1])[language]
        place = place.format(table.place.label)
    rows = Bilingual(zh=f"{table.rows} 行", en=f"{table.rows} row{'' if table.rows == 1 else 's'}")[language]
    number = Bilingual(zh=f"表 {table.number}", en=f"Table {table.number}")[language]
    caption = table.caption if len(table.caption) <= 60 else f"{table.caption[:59]}…"
    parts = [number, _of(KINDS[table.kind], language), rows, place, caption]
    return TableEntry(table.number, table.kind, " · ".join(part for part in parts if part), table.rows, table.missing)


def _found(base: KnowledgeBase, document_id: str, number: int) -> tuple[Document, PriceTable | SpecTable]:
    document = base.document(document_id)
    return document, typed(base.parsed(document.id), number)


def _prepared(found: PriceTable, document: Document, options: AcceptOptions, today: date) -> PreparedImport:
    return prepare_prices(
        found, document.name, _terms(options), as_of=options.as_of, allow_unusual=options.allow_unusual, today=today
    )


def _terms(options: AcceptOptions) -> GivenTerms:
    return GivenTerms(options.provider.strip(), options.currency.strip(), options.per)


def _give(missing: tuple[str, ...]) -> Bilingual:
    return Bilingual(
        zh=f"表里没有写明{'、'.join(_TERMS[name].zh for name in missing)}；不猜，请在下面给出。",
        en=f"The table does not state {', '.join(_TERMS[name].en for name in missing)}; nothing is guessed: give it below.",
    )


def _price_verdict(report: ImportReport) -> Bilingual:
    return Bilingual(
        zh=f"可以收下 {report.accepted} 行（新 {report.new}，改价 {report.changed_count}，不变 {report.unchanged}，"
        f"重复 {report.repeated}），拒绝 {report.rejected_count} 行。",
        en=f"{report.accepted} rows can be taken ({report.new} new, {report.changed_count} changed, {report.unchanged} "
        f"unchanged, {report.repeated} repeated), {report.rejected_count} are rejected.",
    )


def _price_notes(empty_cells: int, uncounted: bool, language: Language) -> Iterator[str]:
    if empty_cells:
        yield Bilingual(zh=f"{empty_cells} 个格子没有价格，跳过", en=f"{empty_cells} cells have no price and are skipped")[language]  # fmt: skip
    if uncounted:
        yield Bilingual(zh="表里没写卡数，按一张卡算", en="the table states no card count: each price is taken as that of one card")[language]  # fmt: skip


def _spec_preview(report: SpecReport, language: Language) -> TablePreview:
    labels = {cell.column: Bilingual(zh=cell.label[0], en=cell.label[1]) for cell in gpu_cells(load_catalog().shipped_gpus[0])}  # fmt: skip
    columns = [name for name in labels if name != "name" and any(getattr(card, name, "") for card in report.new)]
    rows = [
        (card.name, *(f"{getattr(card, name, '')}{f' {card.memory_unit}' if name == 'memory' else ''}".strip() for name in columns))
        for card in report.new[:PREVIEW_ROWS]
    ]  # fmt: skip
    same = sum(each.verdict == "same" for each in report.compared)
    differing = [each for each in report.compared if each.verdict != "same"]
    verdict = Bilingual(
        zh=f"可以收下 {len(report.new)} 款新显卡；与内置数据一致 {same} 项、不一致 {len(differing)} 项（内置值保留）。",
        en=f"{len(report.new)} new card{'' if len(report.new) == 1 else 's'} can be taken; {same} figures agree with ours, {len(differing)} do not (ours stay).",
    )
    compared = [
        Bilingual(
            zh=f"{each.name} {each.column}：文档 {each.given}，内置 {each.known or '–'}（{VERDICTS[each.verdict][0]}）",
            en=f"{each.name} {each.column}: document {each.given}, built-in {each.known or '–'} ({VERDICTS[each.verdict][1]})",
        )[language]
        for each in differing[:MOST_LISTED]
    ]
    left = [_left(heading, zh, en, language) for heading, zh, en in report.left_out]
    return TablePreview(
        kind="specs", headings=(CARD[language], *(labels[name][language] for name in columns)), rows=tuple(rows),
        in_all=len(report.new), acceptable=len(report.new), verdict=verdict[language],
        rejected=tuple(
            _line(each.line, each.zh, each.en, language, turned=report.turned) for each in report.refused[:MOST_LISTED]
        ),
        rejected_count=len(report.refused),
        notes=(*compared, *(_of(note, language) for note in report.notes[:MOST_LISTED]), *left), missing=(),
    )  # fmt: skip


def _line(number: int, zh: str, en: str, language: Language, *, turned: bool = False) -> str:
    where = Bilingual(zh=f"第 {number} {'列' if turned else '行'}", en=f"{'column' if turned else 'line'} {number}")
    return on_page(Bilingual(zh=f"{where.zh} {zh}", en=f"{where.en}: {en}")[language], language)


def _left_out(found: PriceTable, language: Language) -> Iterator[str]:
    for column in found.left_out:
        if column.problem:
            yield _left(column.heading, *column.problem, language)


def _left(heading: str, zh: str, en: str, language: Language) -> str:
    return Bilingual(zh=f"没有收 {heading!r}：{zh}", en=f"left out: {heading!r} {en}")[language]


def _of(pair: tuple[str, str], language: Language) -> str:
    return on_page(pair[0] if language == "zh" else pair[1], language)
