"""What became of the files of an ingest: as lines for a reader, and as JSON between the server and its client.

Shows and carries only; what becomes of a file is decided in ingest/knowledge_base.py.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from assistant.evidence import Bilingual, Language
from ingest.blocks import Note
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


@dataclass(frozen=True)
class Fate:
    """What became of one file, in one language; `status` is accepted, replaced, unchanged, refused or broken."""

    name: str
    status: str
    text: str
    notes: tuple[str, ...] = ()


def fate(outcome: Outcome, language: Language) -> Fate:
    """One file's fate for a page in one language."""
    if isinstance(outcome, Refused):
        return Fate(outcome.name, "refused", _in(outcome.reason, language))
    if isinstance(outcome, Skipped):
        skipped = Bilingual(zh=f"跳过 {outcome.count} 个不读的文件", en=f"{outcome.count} files that no reader takes")
        return Fate(outcome.folder, "refused", skipped[language])
    document = outcome.document
    if outcome.same_as:
        same = Bilingual(zh=f"内容与 {outcome.same_as} 相同，没有再收一份", en=f"same content as {outcome.same_as}; not stored twice")  # fmt: skip
        return Fate(outcome.name, outcome.status, same[language])
    counts = Bilingual(
        zh=f"{document.passages} 段" + (f"，{document.table_rows} 个表格行" if document.table_rows else ""),
        en=f"{_many(document.passages, 'passage')}"
        + (f", {_many(document.table_rows, 'table row')}" if document.table_rows else ""),
    )
    return Fate(outcome.name, outcome.status, counts[language], tuple(_in(note, language) for note in outcome.notes))


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _in(note: Note, language: Language) -> str:
    return note.zh if language == "zh" else note.en
