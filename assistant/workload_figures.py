"""Every number of a text with the place it stands at, ranges joined; the reading of one is left to numerals.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from assistant.numerals import Number, range_of, read_number
from assistant.workload_words import GLUED

MOST = Decimal(10) ** 18  # above it nothing is counted
_RANGE = re.compile(r"\s*%?\s*(?:-|~|[加升增涨]?到|至|to|or|或)\s*(?=[\d一二两三四五六七八九十])")


@dataclass(frozen=True)
class Figure:
    """A number at `[start:end]` of folded text; of a range the upper end, and then `ranged`."""

    start: int
    end: int
    value: Decimal
    number: Number
    ranged: bool


def figures(text: str) -> list[Figure]:
    """The numbers of a folded text, in order; never raises. Digits inside identifiers are none."""
    found: list[Figure] = []
    at = 0
    while at < len(text):
        number = read_number(text, at) if _may_begin(text, at) else None
        if number is None or number.style == "article":
            at = _past(text, at) if number is None else number.end
            continue
        figure = _figure(text, at, number)
        at = figure.end
        if figure.value <= MOST and not _part_of_code(text, figure):
            found.append(figure)
    return found


def _may_begin(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    if not (before.isascii() and before.isalnum()) and before not in (".", "_"):
        return True
    return text[at].isdigit() and before.isalpha() and GLUED.search(text, 0, at) is not None


def _past(text: str, at: int) -> int:
    """Behind what starts here: digits that are part of a word are not tried again one by one."""
    word = re.compile(r"[\d.]+|.", re.DOTALL).match(text, at)
    return word.end() if word else at + 1


def _figure(text: str, at: int, number: Number) -> Figure:
    middle = _RANGE.match(text, number.end)
    second = read_number(text, middle.end()) if middle else None
    joined = range_of(number, second, "to") if second else None
    last = joined or number
    return Figure(at, last.end, last.high or last.low, last, last.high is not None)


def _part_of_code(text: str, figure: Figure) -> bool:
    """Whether Latin letters right behind make it a code (4U, 3D), unless they are a unit that a cue may name."""
    return (
        re.compile(r"(?:u|d|st|nd|rd|th)(?![a-z])").match(text, figure.end) is not None
        and figure.number.style == "arabic"
    )
