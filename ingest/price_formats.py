"""Price files as they come (CSV, XLSX, Parquet; our own headings, SkyPilot's or gpuhunt's) -> one table of text cells.

Cells stay as written; what they mean is read in price_cells.py. A file is read in full or not at all: what cannot be
read as a table raises PriceFileError, and a line with the wrong number of cells is given back as rejected.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from xml.etree.ElementTree import ParseError

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

LARGEST_BYTES = 2 * 1024**3
PARQUET_MAGIC, ZIP_MAGIC = b"PAR1", b"PK\x03\x04"
# Our columns, and the headings that mean them (folded: half width, lower case, letters and digits only).
HEADINGS = {
    "provider": "provider cloud vendor 云厂商 厂商 云 云平台 平台 供应商 服务商 云服务商 提供商",
    "gpu": "gpu gpuname gpumodel card 显卡 型号 gpu型号 显卡型号 卡型 gpu卡",
    "gpu_form": "gpuform form 形态 规格形态 gpu形态",
    "gpu_memory_gb": "gpumemorygb gpumemory vram 显存 显存gb gpu显存 显存大小",
    "gpu_count": "gpucount gpus count 卡数 gpu数量 数量 gpu数 显卡数量 张数",
    "gpu_fraction": "gpufraction fraction 卡份额 切片 占卡比例",
    "instance": "instance instancetype instancename 实例 实例规格 实例类型 机型 规格",
    "region": "region location zone 地域 区域 地区 可用区",
    "cpu_cores": "cpucores cpu vcpus vcpu cores cpu核数 核数 vcpu数",
    "cpu_unit": "cpuunit cpu单位",
    "host_memory_gib": "hostmemorygib hostmemory memorygib memory ram 内存 内存gib 内存gb 主机内存",
    "price": "price 价格 单价 时价 每小时价格 小时价 租金 价钱 刊例价",
    "currency": "currency 币种 货币",
    "per": "per unit 计价单位 计费周期 周期 单位",
    "pricing_model": "pricingmodel billing billingmodel pricingtype plan 计费 计费方式 计费模式 计费类型 付费 付费方式 付费模式 付费类型 购买方式 租用方式",
    "channel": "channel 渠道",
    "flags": "flags 标记",
    "as_of": "asof date updated 日期 报价日期 更新日期 价格日期",
}
CELLS = tuple(HEADINGS)
_MEANS = {word: column for column, words in HEADINGS.items() for word in words.split()}
SKYPILOT = {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price"}
GPUHUNT = {"instance_name", "price", "gpu_count", "gpu_name", "spot"}


class PriceFileError(Exception):
    """The file as a whole cannot be read, so nothing of it is taken; the message says why and what to do."""


@dataclass(frozen=True)
class Rejected:
    """One line that was not taken, and why."""

    line: int
    zh: str
    en: str


@dataclass(frozen=True)
class PriceFile:
    """All lines as text: the columns CELLS and `line` (of the file, the heading is line 1).

    `format` is own, skypilot, gpuhunt or table (in a document); `cpu_only` counts lines of instances without a GPU.
    """

    cells: pa.Table
    format: str
    rejected: tuple[Rejected, ...]
    cpu_only: int = 0


def read_price_file(path: Path, provider: str = "", currency: str = "") -> PriceFile:
    """Read a file; provider and currency for files that state none (catalogues: USD). Raises PriceFileError."""
    try:
        if not path.is_file():
            raise PriceFileError(f"没有这个文件：{path} / There is no such file: {path}")
        if path.stat().st_size > LARGEST_BYTES:
            raise PriceFileError(f"文件超过 2 GiB，请拆开：{path} / The file is over 2 GiB, split it: {path}")
        table, rejected = _table(path.read_bytes(), path)
    except OSError as error:
        raise PriceFileError(f"读不了 {path}：{error} / Cannot read {path}: {error}") from error
    names = table.column_names
    if twice := {name for name in names if names.count(name) > 1}:
        raise PriceFileError(f"列名重复：{_list(twice)} / A column stands twice: {_list(twice)}")
    if not table.num_rows and not rejected:
        raise PriceFileError(f"只有表头，没有价格行：{path} / No rows below the heading: {path}")
    if set(names) >= SKYPILOT:
        return _skypilot(table, provider or _folder_name(path), currency or "USD", rejected)
    if set(names) >= GPUHUNT:
        return _gpuhunt(table, provider or path.stem.lower(), currency or "USD", rejected)
    return PriceFile(_own(table, provider), "own", rejected)


def fold_heading(text: str) -> str:
    """云厂商 (Provider) -> 云厂商provider: half width, lower case, letters and digits only."""
    return re.sub(r"[^\w]|_", "", unicodedata.normalize("NFKC", text)).lower()


def _table(content: bytes, path: Path) -> tuple[pa.Table, tuple[Rejected, ...]]:
    if not content.strip():
        raise PriceFileError(f"文件是空的：{path} / The file is empty: {path}")
    if content.startswith(PARQUET_MAGIC):
        return _parquet(content), ()
    if content.startswith(ZIP_MAGIC):
        return _sheet(content), ()
    return _csv(_decoded(content))


def _decoded(content: bytes) -> str:
    """UTF-8 with or without BOM, else GB18030 (which holds GBK); nothing is replaced."""
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" in text:
            break
        return text
    raise PriceFileError(
        "编码读不出来：既不是 UTF-8 也不是 GBK/GB18030（或是二进制文件）。请另存为 UTF-8 的 CSV，或用 XLSX、Parquet。"
        " / The encoding is neither UTF-8 nor GBK/GB18030 (or the file is binary). Save it as UTF-8 CSV, XLSX or Parquet."
    )


def _csv(text: str) -> tuple[pa.Table, tuple[Rejected, ...]]:
    lead = len(text) - len(text.lstrip("\r\n"))
    heading, delimiter = _heading(text[lead:])
    if "\n" not in text[lead:].strip():
        raise PriceFileError("只有表头，没有价格行。 / No rows below the heading.")
    skipped: list[tuple[int, str, int, int]] = []

    def bad_row(row: pa_csv.InvalidRow) -> str:
        skipped.append((row.number or 0, row.text or "", row.actual_columns, row.expected_columns))
        return "skip"

    try:
        table = pa_csv.read_csv(
            pa.BufferReader(text[lead:].encode()),
            read_options=pa_csv.ReadOptions(use_threads=False, block_size=1 << 24),
            parse_options=pa_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=bad_row
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(heading, pa.string()), strings_can_be_null=False
            ),
        )
    except (pa.ArrowException, UnicodeError) as error:
        raise PriceFileError(f"不是可读的 CSV：{error} / Not a readable CSV file: {error}") from error
    if table.column_names != heading:
        raise PriceFileError(f"表头读不出来：{heading[:20]!r} / The heading cannot be read: {heading[:20]!r}")
    gone, lines = {number for number, *_ in skipped}, list[int]()
    number = 2
    while len(lines) < table.num_rows:
        if number not in gone:
            lines.append(number + text[:lead].count("\n"))
        number += 1
    rejected = tuple(
        Rejected(number, f"有 {actual} 格，表头有 {expected} 列", f"has {actual} cells, the heading {expected}")
        for number, words, actual, expected in skipped
        if words.strip()
    )
    return _as_text(table, heading).append_column("line", pa.array(lines, pa.int64())), rejected


def _heading(text: str) -> tuple[list[str], str]:
    first = text.split("\n", 1)[0]
    delimiter = max(",\t;", key=first.count)
    try:
        heading = next(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True))
    except (csv.Error, StopIteration) as error:
        raise PriceFileError(f"表头读不出来（{error}）：{first[:80]!r} / The heading cannot be read") from error
    return heading, delimiter


def _parquet(content: bytes) -> pa.Table:
    try:
        table = pa_parquet.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise PriceFileError(f"Parquet 文件损坏：{error} / The Parquet file is damaged: {error}") from error
    columns = []
    with duckdb.connect() as database:
        for name in table.column_names:
            column = table.column(name)
            try:
                cells = (
                    database.from_arrow(pa.table({"c": column}))
                    .project("coalesce(c::VARCHAR, '') AS c")
                    .to_arrow_table()
                )
            except (duckdb.Error, pa.ArrowException) as error:
                raise PriceFileError(f"列 {name!r} 读不出来：{error} / Column {name!r} cannot be read") from error
            columns.append(cells.column("c"))
    return _numbered(pa.table(columns, names=table.column_names))


def _sheet(content: bytes) -> pa.Table:
    """The first sheet of an XLSX file that has cells; formulas count by the value they were saved with."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            rows = next(
                (found for sheet in book.worksheets if (found := _filled(sheet.iter_rows(values_only=True)))), []
            )
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        ParseError,
        EOFError,
    ) as error:
        raise PriceFileError(f"XLSX 文件读不出来：{error!r} / The XLSX file cannot be read: {error!r}") from error
    if not rows:
        raise PriceFileError("XLSX 里没有任何单元格。 / The XLSX file has no cells.")
    (_, heading), body = rows[0], rows[1:]
    width = max(index + 1 for index, cell in enumerate(heading) if cell)
    columns: list[list[str]] = [[(row[index] if index < len(row) else "") for _, row in body] for index in range(width)]
    table = _as_text(
        pa.table([pa.array(column, pa.string()) for column in columns], names=list(heading[:width])), heading[:width]
    )
    return table.append_column("line", pa.array([number for number, _ in body], pa.int64()))


def _filled(rows: object) -> list[tuple[int, list[str]]]:
    """(row number, cells as text) of the rows that have a cell."""
    found = []
    for number, row in enumerate(rows, start=1):  # type: ignore[arg-type, var-annotated]
        cells = [_cell(value) for value in row]
        if any(cells):
            found.append((number, cells))
    return found


def _cell(value: object) -> str:
    if isinstance(value, datetime | date):
        return value.strftime("%Y-%m-%d")
    return "" if value is None else str(value).strip()


def _as_text(table: pa.Table, heading: Sequence[str]) -> pa.Table:
    """Headings without blanks around them; one called `line` makes room for ours."""
    return table.rename_columns([name.strip() if name.strip() != "line" else "line (file)" for name in heading])


def _numbered(table: pa.Table) -> pa.Table:
    """`line` counts a heading that Parquet does not have, so that lines mean the same everywhere."""
    return _as_text(table, table.column_names).append_column("line", pa.array(range(2, table.num_rows + 2), pa.int64()))


def _own(table: pa.Table, provider: str) -> pa.Table:
    found: dict[str, str] = {}
    for name in table.column_names:
        column = _MEANS.get(fold_heading(name)) or _MEANS.get(fold_heading(re.split(r"[(（]", name)[0]))
        if column and name != "line":
            if column in found:
                both = _list((found[column], name))
                raise PriceFileError(f"两列都是 {column}：{both} / Two columns both mean {column}: {both}")
            found[column] = name
    missing = [
        column
        for column in ("provider", "gpu", "price")
        if column not in found and not (column == "provider" and provider)
    ]
    if missing:
        zh = "、".join(f"{column}（{HEADINGS[column].split()[-1]}）" for column in missing)
        raise PriceFileError(
            f"缺少列：{zh}；文件里有：{_list(table.column_names)} / Missing column: {', '.join(missing)}; the file has: {_list(table.column_names)}"
        )
    empty = pa.array([""] * table.num_rows, pa.string()) if len(found) < len(CELLS) else None
    columns = [table.column(found[column]) if column in found else empty for column in CELLS]
    if "provider" not in found:
        columns[0] = pa.array([provider] * table.num_rows, pa.string())
    return pa.table([*columns, table.column("line")], names=[*CELLS, "line"])


def _skypilot(table: pa.Table, provider: str, currency: str, rejected: tuple[Rejected, ...]) -> PriceFile:
    """A line gives an on-demand row of the region and, where the price differs, a spot row of the zone."""
    for name in ("vCPUs", "MemoryGiB", "GpuInfo", "SpotPrice", "Region", "AvailabilityZone"):
        if name not in table.column_names:
            table = table.append_column(name, pa.array([""] * table.num_rows, pa.string()))
    zone = "Region || CASE WHEN AvailabilityZone IN ('', Region) THEN '' ELSE '/' || AvailabilityZone END"
    memory = """CASE WHEN regexp_extract(GpuInfo, 'SizeInMiB\\D+(\\d+)', 1) = '' THEN ''
        ELSE (regexp_extract(GpuInfo, 'SizeInMiB\\D+(\\d+)', 1)::DOUBLE / 1024)::VARCHAR END"""
    shared = f"""AcceleratorName AS gpu, {_split_count("AcceleratorCount")}, {memory} AS gpu_memory_gb,
        InstanceType AS instance, vCPUs AS cpu_cores, MemoryGiB AS host_memory_gib"""
    rows = f"""SELECT {shared}, Region AS region, Price AS price, 'on-demand' AS pricing_model, line FROM t
        WHERE AcceleratorName <> '' AND (Price <> '' OR SpotPrice = '')
        UNION ALL SELECT {shared}, {zone}, SpotPrice, 'spot', line FROM t
        WHERE AcceleratorName <> '' AND SpotPrice <> '' AND SpotPrice <> Price ORDER BY line"""
    return _catalogue("skypilot", table, (provider, currency), rows, "AcceleratorName = ''", rejected)


def _gpuhunt(table: pa.Table, provider: str, currency: str, rejected: tuple[Rejected, ...]) -> PriceFile:
    """A line is one row; a count below 1 is a slice of one card."""
    for name in ("location", "cpu", "memory", "gpu_memory", "provider"):
        if name not in table.column_names:
            table = table.append_column(
                name, pa.array([provider if name == "provider" else ""] * table.num_rows, pa.string())
            )
    rows = f"""SELECT CASE provider WHEN '' THEN {_sql(provider)} ELSE provider END AS provider,
        gpu_name AS gpu, {_split_count("gpu_count")}, gpu_memory AS gpu_memory_gb, instance_name AS instance,
        location AS region, cpu AS cpu_cores, memory AS host_memory_gib, price,
        CASE lower(spot) WHEN 'true' THEN 'spot' WHEN '1' THEN 'spot' ELSE 'on-demand' END AS pricing_model, line
        FROM t WHERE gpu_name <> '' ORDER BY line"""
    return _catalogue("gpuhunt", table, (provider, currency), rows, "gpu_name = ''", rejected)


def _catalogue(
    kind: str, table: pa.Table, whose: tuple[str, str], rows: str, cpu_only: str, rejected: tuple[Rejected, ...]
) -> PriceFile:
    with duckdb.connect() as database:
        database.from_arrow(table).create_view("t")
        ((without_gpu,),) = database.execute(f"SELECT count(*) FROM t WHERE {cpu_only}").fetchall()
        found = database.sql(rows)
        given = {"provider": _sql(whose[0]), "currency": _sql(whose[1]), "cpu_unit": "'vCPU'"}
        cells = [c if c in found.columns else f"{given.get(c, _sql(''))} AS {c}" for c in CELLS]
        return PriceFile(found.project(", ".join([*cells, "line"])).to_arrow_table(), kind, rejected, int(without_gpu))


def _split_count(column: str) -> str:
    """0.5 -> one card, fraction 0.5; 8.0 -> 8 cards."""
    number = f"try_cast({column} AS DOUBLE)"
    return f"""CASE WHEN {number} > 0 AND {number} < 1 THEN '1' WHEN {number} = floor({number})
        THEN coalesce(try_cast({number} AS BIGINT)::VARCHAR, {column}) ELSE {column} END AS gpu_count,
        CASE WHEN {number} > 0 AND {number} < 1 THEN {column} ELSE '1' END AS gpu_fraction"""


def _sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _folder_name(path: Path) -> str:
    return path.resolve().parent.name.lower()


def _list(names: object) -> str:
    return ", ".join(sorted(map(repr, names))[:20])  # type: ignore[call-overload]
