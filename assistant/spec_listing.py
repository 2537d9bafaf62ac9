"""Specification rows for `specs`: GPU names in, rows out, as a bilingual text or as JSON. It computes nothing.

A name that fits no row gives no row: never a neighbour's.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from knowledge.catalog import load_catalog
from knowledge.gpu_names import gpu_forms
from knowledge.hardware import Gpu
from knowledge.hardware_cells import gpu_cells
from knowledge.table_rows import Span


@dataclass(frozen=True)
class Specs:
    """What one written name means: its rows, whether several forms fit, and what was taken for granted (zh, en)."""

    query: str
    matches: tuple[Gpu, ...]
    ambiguous: bool
    assumed: tuple[str, str] | None


def find_specs(queries: Sequence[str]) -> list[Specs]:
    """The rows of each name, in table order."""
    found = []
    for query in queries:
        meant = gpu_forms(query)
        rows = tuple(gpu for gpu in load_catalog().gpus if gpu.name in meant.forms)
        found.append(Specs(query, rows, meant.ambiguous and len(rows) > 1, meant.assumed))
    return found


def specs_json(found: Sequence[Specs]) -> str:
    """A JSON list with every column; a disputed figure is {"low", "high"}, an unknown one null."""
    rows = [
        {
            "query": one.query,
            "matches": [_columns(gpu) for gpu in one.matches],
            "ambiguous": one.ambiguous,
            "assumed": " / ".join(one.assumed) if one.assumed else None,
        }
        for one in found
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2)


def specs_text(found: Sequence[Specs]) -> str:
    """One block for each row: label, value with unit, both languages where they differ."""
    return "\n\n".join(block for one in found for block in _blocks(one))


def _blocks(one: Specs) -> list[str]:
    head = f"# {one.query}"
    if not one.matches:
        return [f"{head}\n没有这款卡的规格。 / No specification of such an accelerator is known."]
    remarks = [head]
    if one.ambiguous:
        remarks.append(f"有 {len(one.matches)} 种形态符合，全部列出。 / {len(one.matches)} forms fit; all are listed.")
    if one.assumed:
        remarks.append(" / ".join(one.assumed))
    return ["\n".join(remarks), *(_block(gpu) for gpu in one.matches)]


def _block(gpu: Gpu) -> str:
    lines = [gpu.name]
    for cell in gpu_cells(gpu)[1:]:
        if cell.column in ("variant", "note", "export_source") and not cell.value[0]:
            continue
        label = " / ".join(cell.label)
        zh, en = cell.value
        lines.append(f"  {label}: {'未知 / not known' if not zh else zh if zh == en else f'{zh} | {en}'}")
    lines.append(f"  来源 / source: {gpu.source}")
    return "\n".join(lines)


def _columns(gpu: Gpu) -> dict[str, JsonValue]:
    return {field.name: _json(getattr(gpu, field.name)) for field in dataclasses.fields(gpu) if field.name != "row"}


def _json(value: object) -> JsonValue:
    if isinstance(value, Span):
        return {"low": _number(value.low), "high": _number(value.high)} if value.disputed else _number(value.low)
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, tuple):
        return [str(item) for item in value]
    return value if isinstance(value, int) else (str(value) if value else None)


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)
