"""Imports price rows from a file: reads and checks every line, says what would change, and commits it as one snapshot.

`prepare` writes nothing. Each distinct name is linked once and the rest is SQL, so a million lines take seconds.

Errors: PriceFileError (the file as a whole cannot be read; nothing is taken).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from ingest.price_cells import PERIODS, PRICING_MODELS, read_date, read_gpu, read_provider, read_word
from ingest.price_checks import CHECKED, QUOTED, REASONS, SLACK
from ingest.price_formats import PriceFile, PriceFileError, Rejected, read_price_file
from knowledge import hardware, price_snapshots
from knowledge.names import all_names
from knowledge.offer_store import COLUMNS, KEY, build
from knowledge.table_rows import TABLES, read_table

MOST_LISTED = 200  # rejected or changed lines that a report lists; it always counts all
MOST_DISTINCT_NAMES = 20_000
ENOUGH_ROWS_FOR_BOUNDS = 3


@dataclass(frozen=True)
class Change:
    """A row whose price the import replaces; `line` is the file's."""

    line: int
    what: str
    old: str
    new: str


@dataclass(frozen=True)
class ImportReport:
    """What an import does: `accepted` = new + changed + unchanged keys + lines that repeat a key."""

    label: str
    format: str
    accepted: int
    new: int
    changed_count: int
    unchanged: int
    repeated: int
    rejected_count: int
    cpu_only: int
    changed: tuple[Change, ...]
    rejected: tuple[Rejected, ...]
    notes: tuple[tuple[str, str], ...]


class PreparedImport:
    """Checked rows that are not written yet."""

    def __init__(self, report: ImportReport, database: duckdb.DuckDBPyConnection):
        self.report = report
        self._database = database

    def commit(self) -> Path | None:
        """Write the accepted rows as one snapshot that `prices undo` takes back; None where there are none."""
        if not self.report.accepted:
            return None
        return price_snapshots.commit(self._database.table("accepted"), self._database, self.report.label)


def prepare(
    path: Path, *, provider: str = "", currency: str = "", as_of: str = "", allow_unusual: bool = False, today: date,
) -> PreparedImport:  # fmt: skip
    """Read and check a file against the rows in use. Raises PriceFileError."""
    file = read_price_file(path, provider, currency)
    return check(
        file, path.name, "price-import", currency=currency, as_of=as_of, allow_unusual=allow_unusual, today=today
    )


def check(
    file: PriceFile, label: str, source: str, *, currency: str = "", as_of: str = "", allow_unusual: bool = False, today: date,
) -> PreparedImport:  # fmt: skip
    """Check lines against the rows in use; `currency` and `as_of` stand for lines that state none."""
    given_day, problem = read_date(as_of, today)
    if problem:
        raise PriceFileError(f"--as-of {as_of!r}：{REASONS[problem][0]} / {REASONS[problem][1]}")
    database = build(TABLES / "offers.csv", price_snapshots.current())
    try:
        database.from_arrow(file.cells).create_view("file_cells")
        text = ", ".join(f"coalesce({c}, '') AS {c}" for c in file.cells.column_names if c != "line")
        blank = "trim(concat(gpu, price, instance, region)) <> ''"  # an empty line is no row
        database.execute(f"CREATE TABLE file AS SELECT {text}, line FROM file_cells WHERE {blank}")
        _link_names(database, given_day, today)
        _bounds(database)
        database.execute(CHECKED, {"currency": currency.upper(), "unusual": allow_unusual})
        _accept(database, label, source)
        return PreparedImport(_report(database, file, label), database)
    except duckdb.Error as error:
        raise PriceFileError(
            f"表格读不出来，什么都没有写入：{error} / The table cannot be read, nothing was written: {error}"
        ) from error


def _link_names(database: duckdb.DuckDBPyConnection, given_day: str, today: date) -> None:
    """One row per distinct value of a column and what it means."""
    known = {name.key for name in all_names() if name.kind == "provider"}
    known |= {key for (key,) in database.execute("SELECT DISTINCT provider FROM offers").fetchall()}

    def gpu(a: str, b: str, c: str, d: str) -> tuple[str, ...]:
        cell = read_gpu(a, b, c, d)
        return cell.family, cell.form, cell.memory_gb, cell.problem

    def day(a: str) -> tuple[str, ...]:
        return read_date(a, today) if a.strip() else (given_day, "")

    def model(a: str, b: str) -> tuple[str, ...]:
        by_month = read_word(b, PERIODS, "") == "instance-month"
        return (read_word(a, PRICING_MODELS, "monthly" if by_month else "on-demand"),)

    share = "coalesce(nullif(translate(trim(gpu_fraction), '０１２３４５６７８９．　', '0123456789. '), ''), '1')"
    _distinct(
        database, "gpu_cells", ("gpu", "gpu_form", "gpu_memory_gb", share), ("family", "form", "memory", "problem"), gpu
    )
    _distinct(database, "provider_cells", ("provider",), ("key",), lambda a: (read_provider(a, known),))
    _distinct(database, "date_cells", ("as_of",), ("day", "problem"), day)
    _distinct(database, "model_cells", ("pricing_model", "per"), ("key",), model)
    _distinct(database, "period_cells", ("per",), ("key",), lambda a: (read_word(a, PERIODS, "instance-hour"),))


def _distinct(
    database: duckdb.DuckDBPyConnection, table: str, columns: tuple[str, ...], meanings: tuple[str, ...],
    meaning: Callable[..., tuple[str, ...]],
) -> None:  # fmt: skip
    given = database.execute(f"SELECT DISTINCT {', '.join(columns)} FROM file").fetchall()
    if len(given) > MOST_DISTINCT_NAMES and table != "date_cells":
        raise PriceFileError(
            f"{columns[0]} 列有 {len(given):,} 种不同的写法，不像价格表；最多 {MOST_DISTINCT_NAMES:,} 种。"
            f" / Column {columns[0]} has {len(given):,} different values, which is no price table; at most {MOST_DISTINCT_NAMES:,}."
        )
    _fill(
        database,
        table,
        ("a", "b", "c", "d")[: len(columns)] + meanings,
        [(*cells, *meaning(*cells)) for cells in given],
    )


def _bounds(database: duckdb.DuckDBPyConnection) -> None:
    """Units per USD of each currency (the newest rate), and from our own rows what a GPU-hour plausibly costs."""
    newest = {"USD": "1"}
    for rate in sorted(read_table(TABLES / "rates.csv", hardware.rate), key=lambda rate: rate.year):
        newest[rate.currency] = str(rate.units_per_usd)
    _fill(database, "rate_cells", ("currency", "units"), list(newest.items()))
    database.execute("CREATE TABLE rates AS SELECT currency AS code, units::DOUBLE AS units FROM rate_cells")
    own = build(TABLES / "offers.csv", None)
    _fill(own, "rate_cells", ("currency", "units"), list(newest.items()))
    seen = own.execute(
        f"SELECT gpu, (min(per_gpu_hour / units::DOUBLE) / {SLACK})::VARCHAR, (max(per_gpu_hour / units::DOUBLE) * {SLACK})::VARCHAR"
        f" FROM offers JOIN rate_cells USING (currency) GROUP BY gpu HAVING count(*) >= {ENOUGH_ROWS_FOR_BOUNDS}"
    ).fetchall()
    _fill(database, "seen", ("gpu", "low", "high"), seen)
    database.execute(
        "CREATE TABLE bounds AS SELECT gpu AS card, least(low::DOUBLE, 0.2) AS low, least(high::DOUBLE, 60) AS high FROM seen"
    )


def _accept(database: duckdb.DuckDBPyConnection, label: str, source: str) -> None:
    """Table `accepted`: the rows to store, flagged where a spot row is dearer than its on-demand row."""
    same = " AND ".join(
        f"o.{c} = c.{c}" for c in ("provider", "gpu", "gpu_form", "cards", "share", "instance", "per", "currency")
    )
    dearer = (
        f"c.pricing_model = 'spot' AND EXISTS (SELECT 1 FROM on_demand AS o WHERE {same}"
        " AND o.place = split_part(c.region, '/', 1) AND try_cast(c.price AS DOUBLE) > o.price)"
    )
    share = "regexp_replace(regexp_replace(c.share::VARCHAR, '(\\..*?)0+$', '\\1'), '\\.$', '')"
    flags = (
        f"concat_ws(';', nullif(c.flags, ''), CASE WHEN {dearer} AND NOT contains(c.flags, 'spot-above-on-demand')"
        " THEN 'spot-above-on-demand' END, CASE WHEN c.period = 'gpu-hour' AND c.cards > 1 THEN 'from-price-per-gpu' END,"
        " CASE WHEN NOT c.usd BETWEEN c.low_usd AND c.high_usd THEN 'unusual-price' END)"
    )
    key = ", ".join(KEY)
    columns = ", ".join(column for column in COLUMNS if column != "id")
    database.execute(
        "CREATE TABLE on_demand AS SELECT provider, gpu, gpu_form, cards, share, instance, per, currency,"
        " split_part(region, '/', 1) AS place, min(try_cast(price AS DOUBLE)) AS price FROM checked"
        " WHERE problem = '' AND pricing_model = 'on-demand' GROUP BY ALL"
    )
    database.execute(
        f"CREATE TABLE accepted AS SELECT 'import-' || md5(concat_ws('|', {key}))[1:16] AS id, {columns}, line, $label AS origin"
        f" FROM (SELECT c.* EXCLUDE (share, flags), c.cards::VARCHAR AS gpu_count, {share} AS gpu_fraction, {flags} AS flags,"
        " $source AS source FROM checked AS c WHERE c.problem = '')",
        {"label": label, "source": source},
    )


def _report(database: duckdb.DuckDBPyConnection, file: PriceFile, label: str) -> ImportReport:
    same = " AND ".join(f"o.{'key_form' if column == 'gpu_form' else column} = a.{column}" for column in KEY)
    key = ", ".join(KEY)
    database.execute(
        "CREATE TABLE effect AS WITH known AS (SELECT * FROM offers QUALIFY"
        f" row_number() OVER (PARTITION BY {key.replace('gpu_form', 'key_form')} ORDER BY first_day DESC NULLS LAST, line DESC) = 1),"
        f" last AS (SELECT * FROM accepted QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY line DESC) = 1)"
        " SELECT a.*, o.price AS old_price FROM last AS a LEFT JOIN known AS o ON " + same
    )
    differs = "old_price::DOUBLE <> price::DOUBLE"
    ((last, new, changed),) = database.execute(
        f"SELECT count(*), count(*) FILTER (old_price IS NULL), count(*) FILTER ({differs}) FROM effect"
    ).fetchall()
    ((accepted,),) = database.execute("SELECT count(*) FROM accepted").fetchall()
    ((refused,),) = database.execute("SELECT count(*) FROM checked WHERE problem <> ''").fetchall()
    changes = database.execute(
        "SELECT line, concat_ws(' ', provider, gpu, nullif(gpu_form, ''), 'x' || gpu_count, nullif(instance, ''),"
        " nullif(region, ''), pricing_model), old_price, price || ' ' || currency"
        f" FROM effect WHERE {differs} ORDER BY line LIMIT {MOST_LISTED}"
    ).fetchall()
    lines = database.execute(
        f"SELECT line, problem, {QUOTED} FROM checked WHERE problem <> '' ORDER BY line LIMIT {MOST_LISTED}"
    ).fetchall()
    rejected = [*file.rejected, *(_rejected(*line) for line in lines)]
    return ImportReport(
        label=label, format=file.format, accepted=accepted, new=new, changed_count=changed, unchanged=last - new - changed,
        repeated=accepted - last, rejected_count=refused + len(file.rejected), cpu_only=file.cpu_only,
        changed=tuple(Change(*change) for change in changes),
        rejected=tuple(sorted(rejected, key=lambda line: line.line)[:MOST_LISTED]), notes=tuple(_notes(database)),
    )  # fmt: skip


def _rejected(line: int, problem: str, quoted: str | None) -> Rejected:
    zh, en = REASONS[problem]
    written = f"{(quoted or '')[:80]!r}"
    return Rejected(line, f"{written}：{zh}", f"{written}: {en}")


def _notes(database: duckdb.DuckDBPyConnection) -> Iterable[tuple[str, str]]:
    """What was accepted but ought to be looked at."""
    known = {name.key for name in all_names() if name.kind == "provider"}
    ((dearer, unusual, undated),) = database.execute(
        "SELECT count(*) FILTER (contains(flags, 'spot-above-on-demand')), count(*) FILTER (contains(flags, 'unusual-price')),"
        " count(*) FILTER (as_of = '') FROM accepted"
    ).fetchall()
    ((uncounted,),) = database.execute(
        "SELECT count(*) FROM checked JOIN file USING (line) WHERE problem = '' AND trim(file.gpu_count) = ''"
    ).fetchall()
    new = sorted({key for (key,) in database.execute("SELECT DISTINCT provider FROM accepted").fetchall()} - known)
    if new:
        names = ", ".join(new[:20])
        yield (
            f"新的云厂商（名称表里没有，请核对拼写）：{names}",
            f"new providers (in no table, check the spelling): {names}",
        )
    if uncounted:
        yield f"{uncounted} 行没写卡数，按一张卡算", f"{uncounted} rows state no card count: taken as one card"
    if undated:
        yield f"{undated} 行没写日期（可用 --as-of 给出）", f"{undated} rows state no date (give it with --as-of)"
    if dearer:
        yield (
            f"{dearer} 行竞价高于按需，已收下并标记",
            f"{dearer} spot rows above their on-demand row: taken and flagged",
        )
    if unusual:
        yield (
            f"{unusual} 行价格异常，按 --allow-unusual 收下并标记",
            f"{unusual} unusual prices, taken by --allow-unusual and flagged",
        )


def _fill(
    database: duckdb.DuckDBPyConnection, table: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]
) -> None:
    database.execute(f"CREATE TABLE {table} ({', '.join(f'{column} VARCHAR' for column in columns)})")
    if rows:
        marks = ", ".join("unnest(?)" for _ in columns)
        database.execute(f"INSERT INTO {table} SELECT {marks}", [list(cells) for cells in zip(*rows, strict=True)])
