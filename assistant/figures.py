"""Reads the figures printed in a text: value, unit, currency, period, and how finely they were printed.

Knows spellings, Chinese and English, not meanings: whether a figure is true is the business of verify.py.
Every digit of a text is part of a figure or of an identifier (A100, DDR5, 16-bit, a date), or is
layout (a citation mark, a URL, a list number); none is passed over silently. Signs are not read: -11.75 is 11.75.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise

from assistant.identifiers import BLANK, EXPONENT, MASK, levelled, masked_identifiers
from assistant.share_words import SHARES
from assistant.units import NONE, PER, RE, Measure, measure_after, measure_before, period_of, read_label, scale_after

ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS = {w: i for i, w in enumerate([*ONES, *TEENS], 1)} | {w: 10 * i for i, w in enumerate(TENS, 2)}
NUMBER = re.compile(
    r"(?:[0-9]{1,3}(?:[,\u2009\u202f][0-9]{3})+(?![,\u2009\u202f]?[0-9])|[0-9]+)(?:\.[0-9]+)?"
    rf"(?:{EXPONENT.pattern})?"
    r"|(?<![\w.])\.[0-9]+",
    RE,
)
HAN_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
HAN = "〇零一二两兩三四五六七八九十百千万萬亿億"
HAN_NUMBER = re.compile(
    rf"(?<![第期分十百千万亿{HAN}0-9])(?:半|[一二两兩三四五六七八九十][{HAN}]*(?:点[{HAN[:11]}]+)?)"
)
FRACTION = re.compile(rf"([{HAN}]+)分之([{HAN}]+(?:点[{HAN[:11]}]+)?|[0-9]+(?:\.[0-9]+)?)")
WORD_NUMBER = re.compile(
    rf"\b(?:(?P<half>half an?)|(?P<tens>{'|'.join(WORDS)})(?:-(?P<ones>{'|'.join(ONES)}))?)"
    r"(?:[ -](?P<scale>hundred|thousand|million|billion))?\b",
    RE,
)
CLOCK = re.compile(r"(?<![0-9A-Za-z:.])(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-5][0-9])(?![0-9:]|\.[0-9])")
_H, _M = r"\s*(?:小时|小時|hours?|hrs?|h)", r"\s*(?:分钟|分鐘|分|minutes?|mins?|m)"
_S = r"\s*(?:秒钟?|seconds?|secs?|s)(?![A-Za-z])"
_AND = r"(?:\s|,|and|零|又)*"
SPOKEN = re.compile(
    rf"(?<![0-9.,])(?:([0-9]+){_H}{_AND})?([0-9]{{1,2}}){_M}{_AND}([0-9]{{1,2}}){_S}"
    rf"|(?<![0-9.,])([0-9]+){_H}{_AND}([0-9]{{1,2}}){_M}(?![A-Za-z])",
    RE,
)
BETWEEN = [re.compile(rf"(?: (?:[a-z]+|[{MASK}{BLANK}]+)){{{n}}}(?= )") for n in (1, 2)]  # four *80 GB* cards
JOINED = re.compile(r"[^\S\n]*(?:[-–—~～/、]|到|至|或|和|与|to|or|and)[^\S\n]*[$¥€]?", RE)  # "85–100 GB", "14/16/16 核"
RANGE = re.compile(r"[^\S\n]*(?:[-–—~～]|到|至|to)[^\S\n]*", RE)
KEPT_TEXT_CHARACTERS = 2000  # of longer texts the figures are not remembered
SEPARATOR_ROW = re.compile(r"[\s|:+-]*-[\s|:+-]*")


@dataclass(frozen=True)
class Printed:
    """A figure as it stands in a text. `unit` is canonical ("GB", "card", "hour", ...; "" if none or money).

    `currency` is "CNY", "USD", ... or None; `period` is "hour", "day", ... for a rate. The last printed
    digit stands at 10^-decimals, so 2.06 万 has -2. Clock times and "1 小时 42 分" have unit "duration", in seconds.
    """

    text: str
    value: Decimal
    unit: str
    currency: str | None
    period: str | None
    decimals: int
    start: int
    end: int

    @property
    def measure(self) -> Measure:
        return Measure(self.unit, self.currency, self.period)


def extract_figures(text: str, names: Collection[str] = (), *, share_words: bool = False) -> list[Printed]:
    """All figures of a text, in order. A bare number in `names` (4090, 8358) is a name unless a unit follows.

    With `share_words`, 三成, 一半, 翻倍, half, a third and double are figures too.
    """
    read = _remembered if len(text) <= KEPT_TEXT_CHARACTERS else _read
    return list(read(text, frozenset(names), share_words))


def _read(text: str, names: frozenset[str], share_words: bool) -> tuple[Printed, ...]:
    cleaned = levelled(text)
    masked = masked_identifiers(cleaned, names)[0]
    found = []
    first = (_shares,) if share_words else ()
    for reader in (*first, _durations, _fractions, _numbers, _han_numbers, _word_numbers):
        for figure in reader(masked):
            found.append(figure)
            masked = masked[: figure.start] + BLANK * (figure.end - figure.start) + masked[figure.end :]
    found.sort(key=lambda figure: (figure.start, figure.end))
    found = _share_units(found, cleaned)
    return tuple(replace(_from_context(figure, cleaned), text=text[figure.start : figure.end]) for figure in found)


# The rows and passages that answers cite are the same ones again and again.
_remembered = lru_cache(maxsize=2048)(_read)


def _durations(text: str) -> Iterator[Printed]:
    for pattern in (CLOCK, SPOKEN):
        for match in pattern.finditer(text):
            parts = [Decimal(part or 0) for part in match.groups()]
            hours, minutes, seconds = parts[:3] if match[3] else (parts[3], parts[4], Decimal(0))
            value = hours * 3600 + minutes * 60 + seconds
            yield Printed("", value, "duration", None, None, 0, match.start(), match.end())


def _fractions(text: str) -> Iterator[Printed]:
    """百分之四十一 is 41 %; 三分之一 is 0.33 times."""
    for match in FRACTION.finditer(text):
        below = _han_values(match[1])[0]
        above = Decimal(match[2]) if match[2][0].isdigit() and match[2].isascii() else _han_values(match[2])[0]
        if below == 100:
            yield Printed("", above, "%", None, None, _decimals(above), match.start(), match.end())
        elif below:
            share = (above / below).quantize(Decimal("0.01"))
            yield Printed("", share, "x", None, None, 2, match.start(), match.end())


def _shares(text: str) -> Iterator[Printed]:
    """三成, 一半, 翻倍, half, a third, double."""
    for pattern, value, unit in SHARES:
        for match in pattern.finditer(text):
            yield Printed("", value, unit, None, None, _decimals(value), match.start(), match.end())


def _decimals(value: Decimal) -> int:
    return max(0, -int(value.as_tuple().exponent))


def _numbers(text: str) -> Iterator[Printed]:
    """Arabic numbers with their scale (万, k, million), unit, currency and period."""
    for match in NUMBER.finditer(text):
        digits = re.sub("[,\u2009\u202f]", "", match.group())
        value = Decimal(digits)
        exponent, end, billion = scale_after(text, match.end())
        measure, after = measure_after(text, end)
        yield _printed(text, match.start(), after, value.scaleb(exponent), measure,
                       decimals=-int(value.as_tuple().exponent) - exponent, billion=billion,
                       many=text[end:after].strip(), fine="." in digits or exponent > 0)  # fmt: skip


def _printed(
    text: str, start: int, end: int, value: Decimal, measure: Measure,
    *, decimals: int = 0, billion: bool = False, many: str = "", fine: bool = False,
) -> Printed:  # fmt: skip
    """Joins what stands behind the number with the currency sign or period before it."""
    before = measure_before(text, start, money=bool(measure.currency) or many.startswith(("块", "塊")))
    if many.startswith(("块", "塊")) and measure.unit == "card" and (fine or before.period):
        measure = Measure("", "CNY", None)  # 28.64 块, 每小时 28 块
    if before.currency and measure.currency not in (None, before.currency):
        measure = Measure("", f"{before.currency} or {measure.currency}", measure.period)  # "$9 元" fits no evidence
    elif before.currency:
        rate = PER.match(text, end)  # "$9 per month"
        end = rate.end() if rate else end
        measure = Measure("", before.currency, measure.period or period_of(rate))
    if billion and measure == NONE:
        measure = Measure("parameter")  # 70B
    if measure != NONE and measure.unit not in ("%", "x"):
        measure = replace(measure, period=measure.period or before.period)
    return Printed("", value, measure.unit, measure.currency, measure.period, decimals, start, end)


def _han_numbers(text: str) -> Iterator[Printed]:
    """两张, 三倍, 半年, 三四天: only before a measure word."""
    for match in HAN_NUMBER.finditer(text):
        measure, end = measure_after(text, match.end())
        if measure != NONE:
            for value in _han_values(match.group()):
                yield _printed(text, match.start(), end, value, measure, decimals=_decimals(value))


def _han_values(run: str) -> list[Decimal]:
    """一百二十 -> [120], 三四 -> [3, 4], 一点五 -> [1.5], 半 -> [0.5], 两万五 -> [25000]."""
    if run == "半":
        return [Decimal("0.5")]
    whole, _, tail = run.partition("点")
    digits = [HAN_DIGITS.get(c) for c in whole]
    if all(d is not None for d in digits):
        if len(digits) == 2 and digits[1] == (digits[0] or 0) + 1 and not tail:
            return [Decimal(d or 0) for d in digits]
        value = Decimal("".join(map(str, digits)))
    else:
        value = Decimal(_han_whole(whole))
    return [value + Decimal("0." + "".join(str(HAN_DIGITS[c]) for c in tail))] if tail else [value]


def _han_whole(run: str) -> int:
    total = section = digit = last = 0
    for character in run:
        if character in HAN_DIGITS:
            digit = HAN_DIGITS[character]
            last = 1 if digit == 0 else last  # after 零 the next digit counts ones
        elif character in "亿億":
            total, section, digit, last = (total + section + digit) * 10**8, 0, 0, 10**8
        elif character in "万萬":
            total, section, digit, last = total + (section + digit) * 10**4, 0, 0, 10**4
        else:
            last = {"十": 10, "百": 100, "千": 1000}[character]
            section, digit = section + (digit or 1) * last, 0
    return total + section + (digit * last // 10 if last >= 100 else digit)


def _word_numbers(text: str) -> Iterator[Printed]:
    """four cards, twenty-five hours, half a day: only before a noun that is counted."""
    for match in WORD_NUMBER.finditer(text):
        power = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9}.get((match["scale"] or "").lower(), 0)
        places = [match.end(), *(between.end() for pattern in BETWEEN if (between := pattern.match(text, match.end())))]
        measure, end = next((read for read in (measure_after(text, at) for at in places) if read[0] != NONE), (NONE, 0))
        if measure != NONE:
            number = Decimal("0.5") if match["half"] else Decimal(WORDS[match["tens"].lower()])
            number += WORDS[match["ones"].lower()] if match["ones"] else 0
            decimals = 1 if match["half"] else 0
            yield _printed(text, match.start(), end, number.scaleb(power), measure, decimals=decimals)


def _share_units(found: Sequence[Printed], text: str) -> list[Printed]:
    """In a range or list the last unit counts for all; a leading currency sign counts for what follows."""
    shared = list(found)
    for i in range(len(shared) - 2, -1, -1):
        left, right = shared[i], shared[i + 1]
        if left.measure == NONE and JOINED.fullmatch(text, left.end, right.start):
            shared[i] = _scaled_like(left, right, text)
    for i, (left, right) in enumerate(pairwise(shared)):
        if right.measure == NONE and left.currency and JOINED.fullmatch(text, left.end, right.start):
            shared[i + 1] = replace(right, currency=left.currency, period=left.period)
    return shared


def _scaled_like(left: Printed, right: Printed, text: str) -> Printed:
    """2–3 万元 means 20,000 to 30,000; 5000–1 万 does not mean 50 million."""
    exponent = 0
    if RANGE.fullmatch(text, left.end, right.start) and (number := NUMBER.match(text, right.start)):
        exponent = scale_after(text, number.end())[0]
        exponent = exponent if left.value.scaleb(exponent) < right.value else 0
    return replace(left, value=left.value.scaleb(exponent), decimals=left.decimals - exponent,
                   unit=right.unit, currency=right.currency, period=right.period)  # fmt: skip


def _from_context(figure: Printed, text: str) -> Printed:
    """The unit that a table heading, a row label or `label (unit) = value` gives to a bare number."""
    if figure.measure != NONE:
        return figure
    start = text.rfind("\n", 0, figure.start) + 1
    line = text[start : (text.find("\n", figure.end) + 1 or len(text) + 1) - 1]
    if "|" in line:
        labels = _cell_labels(text[:start].split("\n")[:-1], line, line.count("|", 0, figure.start - start))
        measure = next((m for m in map(read_label, labels) if m != NONE), NONE)
    else:
        label = re.search(
            r"((?:[(（][^()（）]*[)）]|[^;；|,，。=：:()（）]){1,60})\s*[=：:]\s*(?:约|≈|~)?\s*$",
            line[: figure.start - start],
        )
        measure = _row_measure(label[1], line) if label else NONE
    return replace(figure, unit=measure.unit, currency=measure.currency, period=measure.period)


def _cell_labels(above: list[str], line: str, column: int) -> list[str]:
    """The heading of a cell's column, if a separator row marks one, and the first cell of its row."""
    labels = []
    for i in range(len(above) - 1, 0, -1):
        if "|" not in above[i]:
            break
        if SEPARATOR_ROW.fullmatch(above[i]):
            labels = above[i - 1].split("|")[column : column + 1]
            break
    return [*labels, line.strip().strip("|").split("|")[0]]


def _row_measure(label: str, line: str) -> Measure:
    """The unit in a label; for a price in `price = 28.64; currency = CNY; price per = hour`, its neighbours."""
    measure = read_label(label)
    if measure != NONE or not re.search("价|費|费|price|cost", label, RE):
        return measure
    currency = re.search(r"(?:货币|currency)\s*=\s*([^;；\n]+)", line, RE)
    period = re.search(r"(?:计价单位|price per)\s*=\s*([^;；\n]+)", line, RE)
    found = read_label(currency[1]) if currency else NONE
    return replace(found, period=read_label("per " + period[1]).period if period else found.period)
