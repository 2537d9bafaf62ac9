"""What the tools behind a figure are called in words, in both languages. Words only."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

from assistant.evidence import Bilingual, Language

_WORDS = Path(__file__).with_name("calculator_words.csv")
_LOOK_UPS = {
    "find_offers": Bilingual(zh="租用价格查询", en="Rental price look-up"),
    "count_rows": Bilingual(zh="行数统计", en="Rows counted"),
}


def tool_name(tool: str, language: Language) -> str:
    """The tool's name for readers; its own name, spaced, where no better one is known."""
    words = _names().get(tool)
    return words[language] if words else tool.replace("_", " ")


@lru_cache(maxsize=1)
def _names() -> dict[str, Bilingual]:
    with _WORDS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "calculator"]
    return {row["key"]: Bilingual(zh=row["zh"], en=row["en"]) for row in rows} | _LOOK_UPS
