"""The hardware and price tables as passages: a card or model each, the prices of a GPU together, a currency each.

Hundreds of price rows would crowd the index, so the rows of one GPU stand in one passage, a line each, cut between
lines where it grows too wide. Only words, no arithmetic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from ingest.rows import LANGUAGES, WORDS, BuiltinFormatError, Row, Sources, read_rows, width
from knowledge import hardware
from knowledge.hardware import Gpu, Model
from knowledge.hardware_cells import Cell, figure, gpu_cells, model_cells, row_text
from knowledge.names import display
from knowledge.passage import Language, Passage
from knowledge.table_rows import decimal, read_table

COLUMNS = {
    "gpus": {field.name for field in fields(Gpu)} - {"row"},
    "models": {field.name for field in fields(Model)}
    - {"row", "parameters", "active_parameters"}
    | {"parameters_billion", "active_parameters_billion"},
    "rates": {"currency", "units_per_usd", "kind", "year", "source"},
    "offers": {"id", "provider", "gpu", "gpu_form", "gpu_memory_gb", "gpu_count", "gpu_fraction", "instance", "region", "cpu_cores",
               "cpu_unit", "host_memory_gib", "price", "currency", "per", "pricing_model", "channel", "flags", "as_of", "source"},
    "purchases": {"id", "gpu", "gpu_form", "market", "price", "currency", "memory_as_printed", "remark_zh", "remark_en", "as_of",
                  "source"},
}  # fmt: skip
CAPTIONS = {
    "gpus": ("硬件规格", "Hardware specifications"),
    "models": ("开放模型的结构与许可", "Shapes and licences of open models"),
    "rates": ("汇率（年平均）", "Exchange rates (yearly averages)"),
    "offers": ("云厂商 GPU 云服务器租用价格", "Rental prices of cloud GPU instances"),
    "purchases": ("常用 AI GPU 的购买价格", "Purchase prices of common AI GPUs"),
}
UNDATED = ("日期未注明", "date not stated")
UNITS = {"instance-hour": ("每实例每小时", "per instance-hour"), "instance-month": ("每实例每月", "per instance-month")}


def table_and_price_passages(folder: Path, sources: Sources, max_width: int) -> Iterator[Passage]:
    """Passages of gpus, models, rates, offers and purchases. Raises BuiltinFormatError for a column that is not read out."""
    for name, known in COLUMNS.items():
        rows = read_rows(folder / f"{name}.csv")
        if strange := sorted({column for row in rows for column in row} - known):
            raise BuiltinFormatError(
                f"{name}.csv has columns {strange} that ingest/table_passages.py does not read out"
            )
    for gpu in read_table(folder / "gpus.csv", hardware.gpu):
        # Export rules are left to the documents and to the look-up by name: a hundred rows would push the rule aside.
        cells = [cell for cell in gpu_cells(gpu) if not cell.column.startswith("export_")]
        yield from _row_passages("gpus", gpu.name, gpu.row, cells, gpu.source)
    for model in read_table(folder / "models.csv", hardware.model):
        yield from _row_passages("models", model.name, model.row, model_cells(model), model.source)
    yield from _rates(folder, sources)
    for table, prefix in (("offers", ""), ("purchases", "buy-")):
        for gpu_key, priced in _by_gpu(read_rows(folder / f"{table}.csv")).items():
            for language in LANGUAGES:
                yield from _price_passages(
                    table, f"{prefix}{_slug(gpu_key)}", gpu_key, priced, language, sources, max_width
                )


def _row_passages(table: str, name: str, number: int, cells: list[Cell], source: str) -> Iterator[Passage]:
    for side, language in enumerate(LANGUAGES):
        yield Passage(
            id=f"{table}.{_slug(name)}.{language}",
            topic=f"{table}#{_slug(name)}",
            language=language,
            title=CAPTIONS[table][side],
            section=name,
            text=row_text(cells, language),
            source=source,
            locator=f"tables/{table}.csv row {number}",
            as_of=None,
            kind="row",
        )


def _rates(folder: Path, sources: Sources) -> Iterator[Passage]:
    rows = read_rows(folder / "rates.csv")
    for currency in dict.fromkeys(row["currency"] for row in rows):
        numbered = [(number, row) for number, row in enumerate(rows, start=1) if row["currency"] == currency]
        for side, language in enumerate(LANGUAGES):
            name = WORDS.get(currency, (currency, currency))[side]
            lines = [
                (f"{row['year']} 年平均：1 美元 = {row['units_per_usd']} {currency}",
                 f"average of {row['year']}: 1 USD = {row['units_per_usd']} {currency}")[side]
                for _, row in numbered
            ]  # fmt: skip
            source = sources.shown(numbered[0][1]["source"], language)
            yield Passage(
                id=f"rates.{currency.lower()}.{language}",
                topic=f"rates#{currency.lower()}",
                language=language,
                title=CAPTIONS["rates"][side],
                section=(f"美元兑{name}", f"US dollar to {name}")[side],
                text="; ".join([*lines, f"{('来源', 'source')[side]} = {source}"]),
                source=source,
                locator=f"tables/rates.csv rows {numbered[0][0]}-{numbered[-1][0]}",
                as_of=None,
                kind="row",
            )


def _by_gpu(rows: Sequence[Row]) -> dict[str, list[tuple[int, Row]]]:
    """Numbered rows by GPU family, both in table order."""
    found: dict[str, list[tuple[int, Row]]] = {}
    for number, row in enumerate(rows, start=1):
        found.setdefault(row["gpu"], []).append((number, row))
    return found


def _price_passages(
    table: str, key: str, gpu: str, rows: Sequence[tuple[int, Row]], language: Language, sources: Sources, max_width: int
) -> Iterator[Passage]:  # fmt: skip
    """The prices of one GPU, as many parts as it takes; a part names the source of each of its lines."""
    side = 0 if language == "zh" else 1
    name = display("gpu", gpu, language)
    section = (
        (f"{name} 租用价格", f"{name} rental prices") if table == "offers" else (f"购买：{name}", f"buying: {name}")
    )
    line = _offer_line if table == "offers" else _purchase_line
    numbered = [(number, line(row, language), sources.shown(row["source"], language)) for number, row in rows]
    for part, lines in enumerate(_packed(numbered, language, max_width), start=1):
        shown = list(dict.fromkeys(source for _, _, source in lines))
        dates = {
            row["as_of"] or sources.as_of(row["source"]) for number, row in rows if number in {n for n, _, _ in lines}
        }
        yield Passage(
            id=f"{table}.{key}.{language}" + (f".{part}" if part > 1 else ""),
            topic=f"{table}#{key}",
            language=language,
            title=CAPTIONS[table][side],
            section=section[side],
            text=_text(lines, language),
            source=("；", "; ")[side].join(shown),
            locator=f"tables/{table}.csv rows {', '.join(str(number) for number, _, _ in lines)}",
            as_of=dates.pop() if len(dates) == 1 else None,
            kind="row",
        )


def _packed(
    numbered: Sequence[tuple[int, str, str]], language: Language, max_width: int
) -> list[list[tuple[int, str, str]]]:
    """The lines in parts whose text, with a source line before each change of source, is at most `max_width` wide."""
    parts: list[list[tuple[int, str, str]]] = []
    for item in numbered:
        if parts and width(_text([*parts[-1], item], language)) <= max_width:
            parts[-1].append(item)
        else:
            parts.append([item])
    return parts


def _text(lines: Sequence[tuple[int, str, str]], language: Language) -> str:
    label = "来源" if language == "zh" else "source"
    text: list[str] = []
    source = ""
    for _, line, own in lines:
        if own != source:
            text.append(f"{label} = {own}:")
            source = own
        text.append(f"- {line}")
    return "\n".join(text)


def _offer_line(row: Row, language: Language) -> str:
    """阿里云 1 × A100（形态未注明）, 16 vCPU, 主机内存 125 GiB, 34.742 CNY 每实例每小时, 按量付费, 日期未注明."""
    side = 0 if language == "zh" else 1
    card = row["gpu_form"] or f"{row['gpu']}{_memory(row)}{('（形态未注明）', ' (form not stated)')[side]}"
    share = (
        ""
        if row["gpu_fraction"] == "1"
        else (f"每张是整卡的 {row['gpu_fraction']}", f"each {row['gpu_fraction']} of a card")[side]
    )
    host = f"{('主机内存', 'host memory')[side]} {row['host_memory_gib']} GiB" if row["host_memory_gib"] else ""
    cells = [
        f"{display('provider', row['provider'], language)} {row['gpu_count']} × {card}", share, row["instance"], row["region"],
        f"{row['cpu_cores']} {_word(row['cpu_unit'], language)}" if row["cpu_cores"] else "", host,
        f"{_price(row)} {row['currency']} {UNITS[row['per']][side]}", _word(row["pricing_model"], language),
        " ".join(filter(None, (row["channel"], *(_word(flag, language) for flag in row["flags"].split(";") if flag)))),
        row["as_of"] or UNDATED[side],
    ]  # fmt: skip
    return ", ".join(cell for cell in cells if cell)


def _purchase_line(row: Row, language: Language) -> str:
    side = 0 if language == "zh" else 1
    memory = (f"显存（按讲义所印） {row['memory_as_printed']}", f"GPU memory (as printed) {row['memory_as_printed']}")[
        side
    ]
    cells = [
        f"{row['gpu_form'] or row['gpu']}: {_price(row)} {row['currency']} {('每张', 'per card')[side]}",
        _word(row["market"], language), memory if row["memory_as_printed"] else "", row[f"remark_{language}"],
        row["as_of"] or UNDATED[side],
    ]  # fmt: skip
    return ", ".join(cell for cell in cells if cell)


def _memory(row: Row) -> str:
    return f" {row['gpu_memory_gb']} GB" if row["gpu_memory_gb"] else ""


def _price(row: Row) -> str:
    price = decimal(row["price"])
    return figure(price) if price is not None else ""


def _word(code: str, language: Language) -> str:
    words = WORDS.get(code)
    return words[0 if language == "zh" else 1] if words else code


def _slug(name: str) -> str:
    """RTX 4090 -> rtx-4090, Llama-3.1-8B -> llama-3.1-8b, A16 (per GPU, 4 per board) -> a16-per-gpu-4-per-board."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")
