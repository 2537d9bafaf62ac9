"""The numbers of an answer's text with what stands beside them. Knows digits, scale words and number words, no units.

Digits glued to letters before them (A100, T4, GN7) are names, not numbers. `1.5k` is 1.5 and 1500: the letter may be a
unit or a scale, so both readings stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.answer_text import Segment

REACH = 20  # characters beside a number in which its unit stands
LONGEST_LIST = 6
SCALES = {
    "万亿": 1e12, "百万": 1e6, "千万": 1e7, "亿": 1e8, "億": 1e8, "万": 1e4, "萬": 1e4, "千": 1e3,
    "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
}  # fmt: skip
LETTERS = {"k": 1e3, "w": 1e4, "m": 1e6, "b": 1e9, "t": 1e12}
DIGITS = re.compile(r"(?<![A-Za-z0-9_.])\d+(?:,\d+)*(?:\.\d+)?(?:e[+-]?\d+)?(?!\d)", re.IGNORECASE)
GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
SPACED = re.compile(r"(?<![\w.,:/-])\d{1,3}(?: \d{3})+(?:\.\d+)?(?![\d:])")
SCALE = re.compile(rf"\s?({'|'.join(SCALES)})(?![瓦克])|([kwmbt])(?![A-Za-z/])", re.IGNORECASE)
CLOCK = re.compile(r"(?<![\w:.])(\d{1,4}):([0-5]\d)(?::([0-5]\d))?(?![\d:]|\.\d)")
BETWEEN = re.compile(r"\s?(?:[-~/、,;]|到|至|或|和|与|與|对|vs\.?|to|or|and)\s?", re.IGNORECASE)
END = re.compile(r"[。；;|]|\.(?:\s|$)")
CHINESE = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2}
COUNTERS = r"张|張|卡|台|臺|块|塊|个|個|倍|天|日|小时|小時|核|家|年|周|片|枚|种|U\b"
CHINESE_NUMBER = re.compile(rf"(?<![第其之唯统同])[一二两兩三四五六七八九十百]{{1,5}}(?=\s*(?:{COUNTERS}))")
ENGLISH = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "sixteen": 16, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
}  # fmt: skip
ENGLISH_NUMBER = re.compile(rf"\b(?:{'|'.join(ENGLISH)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Number:
    """A number as written: its possible values, its place, and the text within reach before and behind it.

    In a range or list (`85-100 GB`, `14/16/16 核`) every number has the text before the first and behind the last.
    """

    values: tuple[float, ...]
    start: int
    end: int
    before: str
    behind: str
    behind_from: int
    ends_at_number: bool  # the text behind ends because the next number begins
    in_wan: bool
    segment: Segment


@dataclass(frozen=True)
class _Found:
    values: tuple[float, ...]
    start: int
    end: int


def read_numbers(segment: Segment) -> list[Number]:
    """The numbers of a segment in their order; times of day and durations with colons are left to read_clocks."""
    text = CLOCK.sub(lambda match: " " * len(match[0]), segment.text)
    plain = sorted([*_digits(text), *_words(text)], key=lambda found: found.start)
    numbers = [_placed(plain, i, text, segment) for i in range(len(plain))]
    for match in SPACED.finditer(text):  # "1 234" beside the readings 1 and 234
        whole = _scaled(float(match[0].replace(" ", "")), match.start(), match.end(), text)
        rest = [found for found in plain if found.start >= whole.end]
        before = [found for found in plain if found.end <= whole.start]
        numbers.append(_placed([*before, whole, *rest], len(before), text, segment))
    return numbers


def read_clocks(text: str) -> Iterator[float]:
    """Seconds of every `5:45:08`; `1:42` may be hours and minutes or minutes and seconds."""
    for match in CLOCK.finditer(text):
        first, second, third = int(match[1]), int(match[2]), match[3]
        if third is not None:
            yield first * 3600.0 + second * 60 + int(third)
        else:
            yield from (first * 3600.0 + second * 60, first * 60.0 + second)


def _digits(text: str) -> Iterator[_Found]:
    for match in DIGITS.finditer(text):
        if "," not in match[0] or GROUPED.fullmatch(match[0]):
            yield _scaled(float(match[0].replace(",", "")), match.start(), match.end(), text)
            continue
        for part in re.finditer(r"[^,]+", match[0]):  # "245,125,96" is a list
            start = match.start() + part.start()
            yield _scaled(float(part[0]), start, start + len(part[0]), text)


def _scaled(value: float, start: int, end: int, text: str) -> _Found:
    match = SCALE.match(text, end)
    if match is None:
        return _Found((value,), start, end)
    if match[1]:
        return _Found((value * SCALES[match[1].lower()],), start, match.end())
    return _Found((value, value * LETTERS[match[2].lower()]), start, end)


def _words(text: str) -> Iterator[_Found]:
    for match in CHINESE_NUMBER.finditer(text):
        yield _Found((_chinese(match[0]),), match.start(), match.end())
    for match in ENGLISH_NUMBER.finditer(text):
        yield _Found((float(ENGLISH[match[0].lower()]),), match.start(), match.end())


def _chinese(word: str) -> float:
    total, digit = 0, 0
    for sign in word:
        if sign in "十百":
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
        else:
            digit = CHINESE[sign]
    return float(total + digit)


def _placed(found: Sequence[_Found], i: int, text: str, segment: Segment) -> Number:
    first, last = _list_around(found, i, text)
    behind_from = found[last].end
    next_start = found[last + 1].start if last + 1 < len(found) else len(text)
    previous_end = found[first - 1].end if first else 0
    reached = text[behind_from : min(next_start, behind_from + REACH)]
    behind = END.split(reached, maxsplit=1)[0]
    before = text[max(previous_end, found[first].start - REACH) : found[first].start]
    this = found[i]
    return Number(
        values=this.values,
        start=this.start,
        end=this.end,
        before=re.split(r"[。；;|]", before)[-1],
        behind=behind,
        behind_from=behind_from,
        ends_at_number=last + 1 < len(found) and behind_from + len(behind) == next_start,
        in_wan=text[this.end - 1 : this.end] in ("万", "萬", "亿", "億"),
        segment=segment,
    )


def _list_around(found: Sequence[_Found], i: int, text: str) -> tuple[int, int]:
    def joined(left: int, right: int) -> bool:
        between = text[found[left].end : found[right].start]
        return bool(between) and bool(BETWEEN.fullmatch(between))

    first = last = i
    while first > 0 and i - first < LONGEST_LIST and joined(first - 1, first):
        first -= 1
    while last + 1 < len(found) and last - i < LONGEST_LIST and joined(last, last + 1):
        last += 1
    return first, last
