"""One example of every calculator, as it would be typed: what its form shows when it is opened.

Reads calculator_examples.jsonl; it computes nothing.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

EXAMPLES = Path(__file__).with_name("calculator_examples.jsonl")


@cache
def _examples() -> dict[str, dict[str, str]]:
    lines = EXAMPLES.read_text(encoding="utf-8").splitlines()
    return {entry["calculator"]: entry["inputs"] for entry in map(json.loads, lines)}


def example_of(calculator: str) -> dict[str, str]:
    """What is typed for the example of a calculator. Raises KeyError where there is none."""
    return dict(_examples()[calculator])


def calculators_with_examples() -> tuple[str, ...]:
    """Every calculator that has an example, in the order of the file."""
    return tuple(_examples())
