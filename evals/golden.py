"""Published values against our calculators, row by row: `python -m evals golden FILE.csv`.

The file is CSV with the columns id, area, inputs (JSON with `op` and, if wanted, `check`), expected_value, unit,
tolerance_pct, kind, source and note. A row that cannot be computed is reported, and the others go on.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

from assistant.tools import ToolError
from evals import golden_cost, golden_memory, golden_speed

COLUMNS = ("id", "area", "inputs", "expected_value", "unit", "tolerance_pct")  # the others only describe
CHECKS = ("", "two-sided", "ceiling", "floor")
# An operation that stands in several files means the same in each; a row's own area decides whose is taken.
MODULES = (golden_cost, golden_memory, golden_speed)
FIRST = {
    "a": golden_cost,
    "b": golden_cost,
    "c": golden_memory,
    "d": golden_memory,
    "e": golden_speed,
    "f": golden_speed,
}
FLOAT_NOISE = Decimal("1e-9")  # operations may return floats: this share of the expected value is no deviation
Verdict = Literal["inside", "outside", "error"]


class GoldenError(ValueError):
    """A file that cannot be read as published values; the message says what is missing."""


@dataclass(frozen=True)
class Outcome:
    """A row of the file, what our calculators make of it, and whether that lies within its tolerance."""

    id: str
    area: str
    operation: str
    unit: str
    expected: Decimal | None
    computed: Decimal | None
    verdict: Verdict
    check: str = ""
    error: str = ""

    @property
    def deviation_percent(self) -> Decimal | None:
        """(computed - expected) / expected; None where one is missing or nothing was expected."""
        if self.computed is None or not self.expected:
            return None
        return (self.computed - self.expected) / abs(self.expected) * 100


def run(file: Path) -> list[Outcome]:
    """The outcome of every row. Raises GoldenError for a file that is none."""
    return [judge(row) for row in _read(file)]


def _read(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or ())]
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise GoldenError(f"{file} cannot be read: {error}; give a CSV file of published values in UTF-8") from error
    if missing:
        raise GoldenError(f"{file} has no column {', '.join(missing)}; its header must name {', '.join(COLUMNS)}")
    if not rows:
        raise GoldenError(f"{file} has a header and no row")
    return rows


def judge(row: Mapping[str, str]) -> Outcome:
    """One row computed and compared; an input, operation or figure that makes no sense becomes the row's error."""
    name, area, unit, operation, expected = row["id"], row["area"], row["unit"] or "", "", None
    try:
        inputs = json.loads(row["inputs"] or "")
        if not isinstance(inputs, dict):
            raise ValueError(f"inputs is no JSON object: {row['inputs']!r}")
        operation, check = str(inputs.get("op", "")), str(inputs.get("check", ""))
        expected, tolerance = _number(row, "expected_value"), _number(row, "tolerance_pct")
        if check not in CHECKS:
            raise ValueError(f"check {check!r} is none of {', '.join(CHECKS[1:])}")
        computed = _compute(area, operation, inputs, unit)
    except (ToolError, ValueError, TypeError, ArithmeticError, LookupError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        said = said if operation and operation in said else f"{operation or 'no op'}: {said}"
        return Outcome(name, area, operation, unit, expected, None, "error", error=said)
    verdict: Verdict = "inside" if within(computed, expected, tolerance, check) else "outside"
    return Outcome(name, area, operation, unit, expected, computed, verdict, check)


def _number(row: Mapping[str, str], column: str) -> Decimal:
    try:
        value = Decimal((row[column] or "").strip())
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite():
        raise ValueError(f"{column} is no number: {row[column]!r}")
    return value


def _compute(area: str, operation: str, inputs: Mapping[str, Any], unit: str) -> Decimal:
    own = FIRST.get(area)
    for module in (*([own] if own else []), *MODULES):
        if operation in module.OPERATIONS:
            value = Decimal(str(module.OPERATIONS[operation](inputs, unit)))
            if not value.is_finite():
                raise ValueError(f"{operation} gives {value}")
            return value
    known = sorted({name for module in MODULES for name in module.OPERATIONS})
    raise ValueError(f"unknown op {operation!r}; there are {', '.join(known)}")


def within(computed: Decimal, expected: Decimal, tolerance_percent: Decimal, check: str) -> bool:
    """Two-sided: |computed - expected| <= tolerance; ceiling: computed >= expected; floor: computed <= expected."""
    noise = abs(expected) * FLOAT_NOISE
    if check == "ceiling":
        return computed >= expected - noise
    if check == "floor":
        return computed <= expected + noise
    return abs(computed - expected) <= abs(expected) * tolerance_percent / 100 + noise


def report(outcomes: Iterable[Outcome]) -> str:
    """Every row, the table by area with the share inside, and the errors, as Markdown."""
    found = list(outcomes)
    lines = ["| row | op | expected | computed | unit | deviation | |", "|---|---|---|---|---|---|---|"]
    lines += [_line(outcome) for outcome in found]
    lines += ["", "| area | rows | inside | outside | error | share inside |", "|---|---|---|---|---|---|"]
    for area in (*sorted({outcome.area for outcome in found}), "all"):
        lines.append(_area(area, [outcome for outcome in found if area in (outcome.area, "all")]))
    return "\n".join(lines)


def _line(outcome: Outcome) -> str:
    deviation = outcome.deviation_percent
    shown = "" if deviation is None else f"{deviation:+.2f} %"
    remark = outcome.error or (f"{outcome.verdict} ({outcome.check})" if outcome.check else outcome.verdict)
    verdict = f"error: {remark}" if outcome.error else remark
    cells = (
        outcome.id,
        outcome.operation,
        _digits(outcome.expected),
        _digits(outcome.computed),
        outcome.unit,
        shown,
        verdict,
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _digits(value: Decimal | None) -> str:
    if value is None:
        return "–"
    return (
        f"{value:.6g}" if abs(value) >= 10**15 or (value and abs(value) < Decimal("1e-4")) else f"{float(value):,.6g}"
    )


def _area(area: str, outcomes: list[Outcome]) -> str:
    counts = [sum(outcome.verdict == verdict for outcome in outcomes) for verdict in ("inside", "outside", "error")]
    share = f"{100 * counts[0] / len(outcomes):.1f} %" if outcomes else "–"
    return f"| {area} | {len(outcomes)} | {' | '.join(map(str, counts))} | {share} |"
