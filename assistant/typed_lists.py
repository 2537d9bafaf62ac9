"""Lists as people type them into a form: one value or row a line, or parted by commas; nothing is guessed.

Splits text and reads numbers; what the values mean is the form's business.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TypeVar

from assistant.evidence import Bilingual
from assistant.typed_numbers import has_unclear_comma, typed_number

Item = TypeVar("Item")
MOST_VALUES = 1000
BETWEEN_VALUES = re.compile(r"[,，、;；\n]")
BETWEEN_CELLS = re.compile(r"[,，;；\t]")


class ListFaultError(Exception):
    """A value that was typed cannot be read; `text` says why, without the name of the field."""

    def __init__(self, text: Bilingual) -> None:
        super().__init__(text.en)
        self.text = text


def numbers_of(text: str) -> list[Decimal]:
    """The numbers of a list. Raises ListFaultError for one that is none, or for a comma that may part thousands."""
    _refuse_unclear_commas(text)
    numbers = []
    for part in texts_of(text):
        value = typed_number(part)
        if value is None:
            raise ListFaultError(Bilingual(zh=f"“{part[:60]}”不是数字", en=f"“{part[:60]}” is not a number"))
        numbers.append(value)
    return numbers


def texts_of(text: str) -> list[str]:
    """The values of a list, without empty ones. Raises ListFaultError for more than MOST_VALUES."""
    values = [part.strip() for part in BETWEEN_VALUES.split(text) if part.strip()]
    return _bounded(values)


def lines_of(text: str) -> list[list[str]]:
    """The cells of each line that is not empty; a cell may be. Raises ListFaultError."""
    _refuse_unclear_commas(text)
    return _bounded(
        [[cell.strip() for cell in BETWEEN_CELLS.split(line)] for line in text.splitlines() if line.strip()]
    )


def _refuse_unclear_commas(text: str) -> None:
    if has_unclear_comma(text):
        raise ListFaultError(Bilingual(
            zh="逗号后面紧跟三位数，分不清是千分位还是两个数：分隔时请在逗号后加空格或换行，数字里不要写逗号",
            en="a comma right before three digits may be a thousands separator or part two numbers: put a space or a new "
               "line between values, and no comma inside a number"))  # fmt: skip


def _bounded(values: list[Item]) -> list[Item]:
    if len(values) > MOST_VALUES:
        raise ListFaultError(Bilingual(
            zh=f"有 {len(values)} 项，最多 {MOST_VALUES} 项", en=f"there are {len(values)} values, at most {MOST_VALUES} are read"))  # fmt: skip
    return values
