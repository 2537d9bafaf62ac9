"""What became of the files of an ingest: as lines for a reader, and as JSON between the server and its client.

Shows and carries only; what becomes of a file is decided in ingest/knowledge_base.py.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from ingest.incoming import Refused, Skipped
from ingest.knowledge_base import Outcome, Taken

KINDS: dict[str, TypeAdapter[Any]] = {kind.__name__: TypeAdapter(kind) for kind in (Taken, Refused, Skipped)}
STATUS = {"accepted": "收下 / accepted", "unchanged": "未变 / unchanged", "replaced": "更新 / replaced"}


def to_wire(outcome: Outcome) -> dict[str, Any]:
    """JSON types only; `outcome` names the class."""
    return {"outcome": type(outcome).__name__, **asdict(outcome)}


def from_wire(value: dict[str, Any]) -> Outcome:
    """The inverse of `to_wire`. Raises KeyError or pydantic.ValidationError for anything else."""
    fields = dict(value)
    outcome: Outcome = KINDS[fields.pop("outcome")].validate_python(fields)
    return outcome


def shown(outcome: Outcome) -> str:
    """One file's fate in a line or two, in both languages."""
    if isinstance(outcome, Refused):
        return f"拒收 / refused ({outcome.code}): {outcome.name}\n    {outcome.reason.zh}\n    {outcome.reason.en}"
    if isinstance(outcome, Skipped):
        examples = ", ".join(outcome.examples)
        return f"跳过 / skipped: {outcome.count} 个不读的文件 / files no reader takes, {outcome.folder}: {examples}"
    document = outcome.document
    head = f"{STATUS[outcome.status]}: {outcome.name}"
    if outcome.same_as:
        return f"{head}（内容与 {outcome.same_as} 相同 / same content as {outcome.same_as}）"
    rows = f", {document.table_rows} 表格行 / table rows" if document.table_rows else ""
    lines = [f"{head} [{document.id}] {document.passages} 段 / passages{rows}"]
    return "\n".join([*lines, *(f"    {note.zh} / {note.en}" for note in outcome.notes)])


def summary(outcomes: list[Outcome]) -> str:
    """How many files met which fate."""
    counts = dict.fromkeys((*STATUS.values(), "拒收 / refused"), 0)
    for outcome in outcomes:
        if isinstance(outcome, Taken):
            counts[STATUS[outcome.status]] += 1
        elif isinstance(outcome, Refused):
            counts["拒收 / refused"] += 1
    return "; ".join(f"{label} {count}" for label, count in counts.items() if count) or "没有文件 / no files"
