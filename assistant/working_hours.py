"""How much of a month or a year is worked, as said: 9 to 18 on 22 days, Monday to Friday, 300 days a year, 5 days a week.

Reads the words of a question; how many working days a month has is an assumption that is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from assistant import render
from assistant.calculator.calculation import Calculation, number
from assistant.ledger import Ledger
from assistant.numerals import fold
from assistant.quantity import Quantity
from assistant.reading import HOURS_OF_UNIT, read
from assistant.tokens import clock_span
from assistant.understand import Request
from knowledge.names import normalise

WEEKDAYS = re.compile(
    r"工作日|上班(?:时间|日|的)|周一(?:到|至|-|~)周?五|星期一(?:到|至|-|~)(?:星期)?五|双休|周末(?:不开|不用|关|停|休)|week-?days?|working days?|business (?:days?|hours)|office hours|"
    r"mon(?:day)?s?\s*(?:to|through|thru|-|–|until)\s*fri(?:day)?s?|weekends? off|not (?:on|at) weekends|no weekends",
    re.I,
)
HOUR = r"(?:(?:早上?|上午|凌晨|朝|晚上?|下午|傍晚|夜里)\s*)?(?:[01]?\d|2[0-4]|十[一二]?|[一二三四五六七八九两])\s*(?:(?::|：)[0-5]\d|点半?|时|\s*[ap]\.?m\.?)?"
CLOCK = re.compile(
    rf"(?P<from>{HOUR})\s*(?:到|至|-|–|—|~|to|until|till)\s*(?P<to>{HOUR})(?![\d%]|\s*(?:小时|天|张|块|台|个|hours?|days?|cards?|gpus?|b\b|元))",
    re.I,
)
DIGITS = {
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
    "十": 10,
    "十一": 11,
    "十二": 12,
}
MARKED = re.compile(r":|：|点|时|[ap]\.?m|早|上午|晚|下午|朝", re.I)
USE = r"(?P<use>里|中|内|只|都|大约|约|大概|实际|开机?|用|跑|上班|工作|运行|有|共|使用)*"
DAYS_OF = re.compile(
    rf"(?P<each>每)?(?:一个?|1个?|个|\s)*(?P<unit>周|星期|月|季度?|年)\s*(?:就?[算按计])?\s*{USE}\s*(?P<days>\d{{1,3}})\s*(?:个?工作日|天|日)|"
    r"(?P<days2>\d{1,3})\s*(?:个?工作日|天|(?:working |business )?days)\s*(?:a|per|each|every|/|in a|of (?:the|every|each))\s*(?P<unit2>week|month|quarter|year|周|月|年)",
    re.I,
)
HOURS_AT_WORK = re.compile(
    r"(?:上班|工作|办公)(?:时间|日)?的?(?:那|这)?\s*(?P<a>\d{1,2}(?:\.\d+)?)\s*个?(?:小时|钟头)|(?<![\d.])(?P<b>\d{1,2}(?:\.\d+)?)\s*个?(?:工作小时|上班(?:时间|的?小时))|"
    r"(?<![\d.])(?P<c>\d{1,2}(?:\.\d+)?)[ -](?:working|office|business|work)[ -](?:hours?|hrs?)(?![a-z])|(?<![\d.])(?P<d>\d{1,2}(?:\.\d+)?)[ -](?:hours?|hrs?) (?:of work|at work|in the office)",
    re.I,
)  # the hours of one working day
UNIT_OF = {
    "周": "week",
    "星期": "week",
    "月": "month",
    "季": "quarter",
    "季度": "quarter",
    "年": "year",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
}
MOST_DAYS = 366
AND_DAYS = re.compile(r"[零又]\s*\d+\s*天|and \d+ days", re.I)
WEEKDAY_NAME = re.compile(r"周|星期|礼拜|(?:mon|tue|wed|thu|fri|sat|sun)", re.I)
UNITS = ("week", "month", "quarter", "year")
WEEKDAYS_OF = {"week": Decimal(5), "month": Decimal(22), "quarter": Decimal(66), "year": Decimal(260)}


@dataclass(frozen=True)
class WorkingTime:
    """So many hours on so many days of every `per`, over `periods` of these; `assumed` where the days were not said."""

    hours_per_day: Decimal
    days: Decimal
    per: str
    periods: Decimal
    assumed: bool

    def compute(self, book: Ledger) -> Calculation:
        """The hours, on the record."""
        return book.compute("working_hours", hours_per_day=self.hours_per_day, days=self.days, per=self.per, periods=self.periods)  # fmt: skip


def working_time(request: Request) -> WorkingTime | None:
    """What of the time is worked; None where the question names no such days."""
    return _worked(request.question, request.slots.hours_per_day, tuple(p.unit for p in request.slots.periods))


def share(request: Request, book: Ledger) -> Decimal | None:
    """The share of all hours that the days and hours said make; None where none are said."""
    worked = working_time(request)
    return Decimal(worked.compute(book).outputs["utilisation"]) if worked else None


def told(request: Request, book: Ledger) -> list[str]:
    """The formula of the hours, and that working days were assumed."""
    worked = working_time(request)
    if worked is None:
        return []
    hours = book.say("用量", "Hours of use")
    lines = [f"{hours}{book.say('：', ': ')}{_formula(worked, worked.compute(book), book)}"]
    if worked.assumed:
        days = number(worked.days)
        per = {"week": "周", "month": "月", "quarter": "季度", "year": "年"}[worked.per]
        lines.append(book.say(f"没说多少个工作日，每{per}按 {days} 天计（不扣节假日）", f"the number of working days is not said: {days} a {worked.per} are taken, holidays not deducted"))  # fmt: skip
    return lines


def year_rents(request: Request, cards: int, rents: Sequence[tuple[str, Decimal]], currency: str, book: Ledger) -> str:
    """What the hours said of one year cost at each rent; "" where the question does not tell the hours of a year."""
    worked = working_time(request)
    if worked is None or worked.per != "year":
        return ""
    hours = replace(worked, periods=Decimal(1)).compute(book).value
    bills = [
        (label, book.compute("rental_cost", gpus=cards, hours=hours, price_per_hour=price, currency=currency))
        for label, price in rents
    ]
    paid = [f"{label} {render.cash(bill.value, currency, book.language)}" for label, bill in bills]
    return book.say(f"租一年（{cards:,} 张 × {number(hours)} 小时）：{'；'.join(paid)}。",
                    f"Rent of one year ({cards:,} × {number(hours)} hours): {'; '.join(paid)}.")  # fmt: skip


def _formula(worked: WorkingTime, result: Calculation, book: Ledger) -> str:
    if book.language == "en":
        return result.formula
    return re.sub(r"\bh\b", "小时", result.formula).replace("days", "天").replace("week", "周").replace("month", "个月").replace("quarter", "个季度").replace("year", "年")  # fmt: skip


@lru_cache(maxsize=64)
def _worked(question: str, per_day: Decimal | None, units: tuple[str, ...]) -> WorkingTime | None:
    found = read(question)
    text = fold(normalise(question)).text
    times = [q for q in found.quantities if q.kind == "duration" and q.value > 0]
    clock = _by_clock(text)
    hours = clock or per_day or _at_work(text)
    spans, said_days = (
        _told_in_weeks([q for q in times if q.unit in UNITS]),
        [q for q in times if q.unit == "day" and not q.rate and q.value > 1],
    )
    days = [q for q in said_days if not WEEKDAY_NAME.search(q.text)]
    named = next((q.value for q in said_days if q not in days), None)  # 周一到周六 are six days of a week
    if named and named != WEEKDAYS_OF["week"] and spans and not days:
        return _of_weeks(named, spans, hours)
    if said := _days_of(text, spans, hours):
        return said
    weekdays = WEEKDAYS.search(text)
    if days and hours and (weekdays or clock):
        return WorkingTime(hours, days[0].value, "month", Decimal(1), False) if days[0].value <= MOST_DAYS else None
    if days and hours and spans and all(q.rate for q in spans) and not AND_DAYS.search(text):
        return WorkingTime(hours, days[0].value, "month", Decimal(1), False)  # 22 days of 8 hours, and a monthly bill
    if weekdays:
        return _weekdays(spans, units, hours)
    return _daily(clock, spans) if clock and not per_day else None


def _told_in_weeks(spans: list[Quantity]) -> list[Quantity]:
    """A quarter of 13 weeks is 13 weeks long: a number of weeks says how long the one month, quarter or year beside it is."""
    weeks = [q for q in spans if q.unit == "week" and q.value > 1]
    others = [q for q in spans if q.unit != "week"]
    return weeks if weeks and all(q.value == 1 for q in others) else spans


def _days_of(text: str, spans: Sequence[Quantity], hours: Decimal | None) -> WorkingTime | None:
    """22 days of every month, 300 of a year, over as many months or years as are said beside."""
    found = DAYS_OF.search(text)
    if not found:
        return None
    unit = UNIT_OF[(found["unit"] or found["unit2"]).lower()]
    days = Decimal(found["days"] or found["days2"])
    one = found["each"] is None  # "一年300天" may be said of one year alone, "每月22天" is said of each
    if (
        days * 24 > HOURS_OF_UNIT[unit]
        or days > MOST_DAYS
        or (hours is None and one and not found["days2"] and not found["use"])
    ):
        return None
    if unit == "week" and not spans:
        return None  # the reader has already made days of the weeks and months that were said
    over = max((HOURS_OF_UNIT[q.unit] * q.value for q in spans), default=HOURS_OF_UNIT[unit]) / HOURS_OF_UNIT[unit]
    return WorkingTime(hours or Decimal(24), days, unit, max(over, Decimal(1)), False)


def _of_weeks(days: Decimal, spans: Sequence[Quantity], hours: Decimal | None) -> WorkingTime:
    """So many days of each week of the time said."""
    long = max(HOURS_OF_UNIT[q.unit] * q.value for q in spans)
    return WorkingTime(hours or Decimal(24), days, "week", long / HOURS_OF_UNIT["week"], False)


def _weekdays(spans: Sequence[Quantity], units: Sequence[str], hours: Decimal | None) -> WorkingTime:
    """The working days of the time said, or of a month where none is."""
    long = max(spans, key=lambda q: HOURS_OF_UNIT[q.unit] * q.value, default=None)
    unit = long.unit if long else next((unit for unit in units if unit in UNITS), "month")
    return WorkingTime(hours or Decimal(24), WEEKDAYS_OF[unit], unit, long.value if long else Decimal(1), True)


def _daily(hours: Decimal, spans: Sequence[Quantity]) -> WorkingTime | None:
    """A clock's hours on every day of the time said."""
    long = max(spans, key=lambda q: HOURS_OF_UNIT[q.unit] * q.value, default=None)
    return WorkingTime(hours, HOURS_OF_UNIT[long.unit] / 24, long.unit, long.value, False) if long else None


def _at_work(text: str) -> Decimal | None:
    """The hours of a working day said as such (上班那9个小时, the 9 working hours), where days are counted beside them."""
    found = HOURS_AT_WORK.search(text)
    said = Decimal(found[found.lastgroup or 0]) if found else Decimal(0)
    return said if 0 < said <= 24 and DAYS_OF.search(text) else None


def _by_clock(text: str) -> Decimal | None:
    """Hours between two times of day (9:00 to 18:00, 早九晚六, 9am-6pm); None where no clock is read."""
    for match in CLOCK.finditer(text):
        start, end = match["from"], match["to"]
        if not MARKED.search(f"{start}{end}"):
            continue
        first, last = _hour(start), _hour(end)
        if first is None or last is None:
            continue
        length = (
            last - first if last > first else last + 12 - first if 0 < last + 12 - first <= 12 else last + 24 - first
        )
        return length if 0 < length <= 24 else None
    lowered = text.lower()
    return next((span[1] for at in range(len(lowered)) if (span := clock_span(lowered, at))), None)  # 9 to 6


def _hour(text: str) -> Decimal | None:
    digits = re.search(r"\d+|十[一二]?|[一二三四五六七八九两]", text)
    if not digits:
        return None
    value = Decimal(digits.group()) if digits.group().isdigit() else Decimal(DIGITS[digits.group()])
    if re.search(r"[:：]30|半", text):
        value += Decimal("0.5")
    late = re.search(r"晚|下午|傍晚|夜|p\.?m", text, re.I)
    return value + 12 if late and value < 12 else value if value <= 24 else None
