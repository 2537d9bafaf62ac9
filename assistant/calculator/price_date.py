"""The first day that a price's date can mean: a price of 2023-Q3 is at least as old as one of its last day."""

from __future__ import annotations

import re
from datetime import date

FORM = re.compile(r"(\d{4})(?:-(?:Q([1-4])|(\d{2})(?:-(\d{2}))?))?")


def first_day(as_of: str) -> date | None:
    """2026-05-24, 2024-07, 2023-Q3 or 2024 as a day; None for anything else, such as "" (undated)."""
    found = FORM.fullmatch(as_of.strip())
    if not found:
        return None
    year, quarter, month, day = found.groups()
    try:
        return date(int(year), 3 * int(quarter) - 2 if quarter else int(month or 1), int(day or 1))
    except ValueError:
        return None
