"""Imported price rows for the tests of the price list, and how to take them in."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

from ingest.price_import import prepare

BASE = {
    "provider": "evilcloud", "gpu": "A100", "gpu_form": "A100 SXM4 80GB", "gpu_count": "1", "gpu_fraction": "1", "instance": "",
    "region": "", "price": "2", "currency": "USD", "per": "instance-hour", "pricing_model": "on-demand", "as_of": "",
}  # fmt: skip
AWKWARD = (
    {"instance": "formula", "region": "=cmd|'/C calc'!A0"},
    {"instance": "markup", "region": "<img src=x onerror=alert(1)>"},
    {"instance": "template", "region": "${alert(1)} {{value}} `x`"},
    {"instance": "huge", "price": "123456789012.5"},
    {"instance": "tiny", "price": "0.0000004"},
    {"instance": "slice", "gpu_fraction": "0.25", "price": "0.5"},
    {"instance": "dated", "as_of": "2026-11-01"},
    {"instance": "yuan", "price": "20", "currency": "CNY"},
)


def take_in(folder: Path, rows: tuple[dict[str, str], ...]) -> None:
    """Import the rows, however unusual their prices are, into the home folder of the test."""
    path = folder / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*BASE])
        writer.writeheader()
        writer.writerows({**BASE, **row} for row in rows)
    prepared = prepare(path, allow_unusual=True, today=date(2026, 11, 30))
    if prepared.report.accepted != len(rows):
        raise ValueError(prepared.report.rejected)
    prepared.commit()
