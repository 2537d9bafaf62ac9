"""Builds the DuckDB table behind the price queries: offers.csv, and above it the rows of one Parquet snapshot.

Every cell of the source columns stays text as written, so no digit is lost; the columns that queries sort and
compare by are computed beside them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb

from knowledge import hardware
from knowledge.table_rows import decimal, integer, one_of, read_table

COLUMNS = (
    "id", "provider", "gpu", "gpu_form", "gpu_memory_gb", "gpu_count", "gpu_fraction", "instance", "region", "cpu_cores",
    "cpu_unit", "host_memory_gib", "price", "currency", "per", "pricing_model", "channel", "flags", "as_of", "source",
)  # fmt: skip
# Two rows with the same cells here are the same thing at different times: the imported one replaces the other.
KEY = (
    "provider", "gpu", "gpu_form", "gpu_memory_gb", "gpu_count", "gpu_fraction", "instance", "region", "per", "pricing_model", "channel",
    "currency",
)  # fmt: skip
PER = ("instance-hour", "instance-month")
CPU_UNITS = ("", "core", "vCPU")
TRUST = ("official-dated", "official-undated", "catalogue-dated", "catalogue-undated", "article", "estimate")

_FIRST_DAY = re.compile(r"(\d{4})-(?:Q([1-4])|(\d{2})(?:-(\d{2}))?)", re.A)
_FIRST_DAY_SQL = """try_cast(CASE
    WHEN regexp_full_match(as_of, '\\d{4}-\\d{2}-\\d{2}') THEN as_of
    WHEN regexp_full_match(as_of, '\\d{4}-\\d{2}') THEN as_of || '-01'
    WHEN regexp_full_match(as_of, '\\d{4}-Q[1-4]')
        THEN as_of[1:4] || '-' || lpad((3 * as_of[7:7]::INTEGER - 2)::VARCHAR, 2, '0') || '-01' END AS DATE)"""
_OFFERS = f"""CREATE TABLE offers AS
WITH joined AS (
    SELECT * FROM imported
    UNION ALL BY NAME
    SELECT b.* FROM builtin AS b LEFT JOIN soles ON soles.name = b.gpu WHERE NOT EXISTS (
        SELECT 1 FROM imported AS i WHERE i.gpu_form IN (b.gpu_form, CASE b.gpu_form WHEN '' THEN soles.form END)
            AND {" AND ".join(f"i.{column} = b.{column}" for column in KEY if column != "gpu_form")})
)
SELECT joined.*, coalesce(nullif(gpu_form, ''), soles.form, '') AS key_form, gpu_count::INTEGER AS gpu_count_number, gpu_fraction::DOUBLE AS gpu_fraction_number,
    round(price::DOUBLE / CASE per WHEN 'instance-month' THEN 730 ELSE 1 END
        / (gpu_count::INTEGER * gpu_fraction::DOUBLE), 9) AS per_gpu_hour,
    {_FIRST_DAY_SQL} AS first_day,
    coalesce(try_cast(gpu_memory_gb AS DOUBLE), forms.memory_gb, families.memory_gb) * gpu_fraction::DOUBLE
        AS card_memory_gb,
    coalesce(trusted.rank, CASE as_of WHEN '' THEN 3 ELSE 2 END) AS trust_rank
FROM joined
LEFT JOIN forms ON forms.name = joined.gpu_form
LEFT JOIN soles ON soles.name = joined.gpu
LEFT JOIN families ON families.name = joined.gpu
LEFT JOIN trusted ON trusted.source = joined.source
ORDER BY gpu, provider, currency, per_gpu_hour"""


class SnapshotBrokenError(Exception):
    """The imported prices cannot be read; the message says what to do."""


def build(csv_path: Path, snapshot: Path | None) -> duckdb.DuckDBPyConnection:
    """A database of its own whose table `offers` holds the rows of both.

    Raises CatalogError for a CSV row and SnapshotBrokenError for a snapshot that cannot be read.
    """
    rows = read_table(csv_path, _checked)
    database = duckdb.connect(":memory:")
    _fill(database, "builtin", (*COLUMNS, "line"), rows)
    database.execute("ALTER TABLE builtin ADD COLUMN origin VARCHAR")
    if snapshot is None:
        database.execute("CREATE VIEW imported AS SELECT * FROM builtin WHERE false")
    else:
        try:
            database.execute(f"CREATE TABLE imported AS SELECT * FROM read_parquet('{quoted(snapshot)}')")
        except duckdb.Error as error:
            raise SnapshotBrokenError(
                f"导入的价格文件读不出来：{snapshot}（{error}）；`gpu-advisor prices undo` 可退回上一份。"
                " / The imported prices cannot be read; `gpu-advisor prices undo` goes back to the state before."
            ) from error
    forms, families, soles = _forms(csv_path.with_name("gpus.csv"))
    _fill(database, "forms", ("name", "memory_gb"), forms, "DOUBLE")
    _fill(database, "families", ("name", "memory_gb"), families, "DOUBLE")
    _fill(database, "soles", ("name", "form"), soles, "VARCHAR")
    _fill(database, "trusted", ("source", "rank"), _trust(csv_path.with_name("sources.csv")), "INTEGER")
    database.execute(_OFFERS)
    database.execute(f"DROP {'TABLE' if snapshot else 'VIEW'} imported; DROP TABLE builtin")
    return database


def quoted(path: Path) -> str:
    """A path inside the quotes of an SQL string."""
    return str(path).replace("'", "''")


def first_day(as_of: str | None) -> date | None:
    """The first day of 2026-05-24, 2024-07 or 2023-Q3; None for None. Raises ValueError for anything else."""
    if not as_of:
        return None
    match = _FIRST_DAY.fullmatch(as_of)
    if not match:
        raise ValueError(f"{as_of!r} is no date such as 2026-05-24, 2024-07 or 2023-Q3")
    year, quarter, month, day = match.groups()
    return date(int(year), int(month) if month else 3 * int(quarter) - 2, int(day or 1))


def _checked(number: int, row: dict[str, str]) -> tuple[str, ...]:
    """The cells in table order and the row's number. Raises ValueError for a cell that cannot be read."""
    count, share, price = int(row["gpu_count"]), Decimal(row["gpu_fraction"]), Decimal(row["price"])
    if count < 1 or not 0 < share <= 1 or (share < 1 and count > 1) or not price > 0:
        raise ValueError(f"{count} cards, fraction {share} of one, price {price}")
    first_day(row["as_of"])
    one_of(row["per"], PER)
    one_of(row["cpu_unit"], CPU_UNITS)
    decimal(row["gpu_memory_gb"])
    decimal(row["host_memory_gib"])
    integer(row["cpu_cores"])
    return (*(row[column] for column in COLUMNS), str(number))


def _fill(
    database: duckdb.DuckDBPyConnection, table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]],
    last_type: str = "INTEGER",
) -> None:  # fmt: skip
    """A table of text columns, the last one of `last_type`."""
    types = ["VARCHAR"] * (len(columns) - 1) + [last_type]
    declared = ", ".join(f"{column} {kind}" for column, kind in zip(columns, types, strict=True))
    database.execute(f"CREATE TABLE {table} ({declared})")
    if rows:
        lists = [list(values) for values in zip(*rows, strict=True)]
        database.execute(f"INSERT INTO {table} SELECT {', '.join('unnest(?)' for _ in columns)}", lists)


def _forms(path: Path) -> tuple[list[tuple[str, float]], list[tuple[str, float]], list[tuple[str, str]]]:
    """GB per card of each form; of each family all of whose stock forms have one size; the form of a family with one."""
    forms: list[tuple[str, float]] = []
    sizes: dict[str, set[float]] = {}
    names: dict[str, list[str]] = {}
    for gpu in read_table(path, hardware.gpu) if path.exists() else ():
        known = {float(gpu.memory.low), float(gpu.memory.high)} if gpu.memory else set[float]()
        forms += [(gpu.name, min(known))] if known else []
        for family in () if gpu.variant else gpu.families:
            sizes.setdefault(family, set()).update(known)
            names.setdefault(family, []).append(gpu.name)
    families = [(family, min(known)) for family, known in sizes.items() if len(known) == 1]
    return forms, families, [(family, stock[0]) for family, stock in names.items() if len(stock) == 1]


def _trust(path: Path) -> list[tuple[str, int]]:
    """The rank of each source by its column `trust`, the most trusted first."""
    if not path.exists():
        return []
    return list(read_table(path, lambda _, row: (row["key"], TRUST.index(one_of(row["trust"], TRUST)))))
