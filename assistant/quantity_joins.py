"""Joins quantities that belong together (8 hours + a day, 2块 + 一小时). It reads no text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import cast

from assistant.calculator.calculation import HOURS_PER_MONTH
from assistant.quantity import HOURS, MONTH_DAYS, MONTHS, NIGHT, Parts, Quantity, role_of
from assistant.tokens import LINKS, Token

DAYS_A_WEEK = "day/week"  # only between these rules; no quantity leaves with it
WEEKS_A_YEAR = Decimal(52)
FAR = 24  # tokens back that a rate is looked for

Rule = Callable[[Quantity, Parts, Quantity], Quantity | None]


def joined(parts: Parts) -> Parts:
    """The parts with every rule applied in turn."""
    for rule in (_coins, _per_hour, _per_day, _per_week, _in_days):
        parts = _join(parts, rule)
    parts = _fix_months(parts)  # before days are added to months: 一个月零5天，按30天算 is 35 days
    for rule in (_compound, _days_beside, _range):
        parts = _join(parts, rule)
    return _spread_weeks(parts)


def _join(parts: Parts, rule: Rule) -> Parts:
    """Apply `rule` to each quantity and the one before it (or, past a count, the one before that)."""
    done: Parts = []
    for part in parts:
        done.append(part)
        while isinstance(done[-1], Quantity) and _reduced(done, done[-1], rule):
            pass
    return done


def _reduced(done: Parts, right: Quantity, rule: Rule) -> bool:
    """Join the last quantity of `done` with an earlier one close by, in place, if the rule allows."""
    for index in range(len(done) - 2, max(len(done) - 2 - FAR, -1), -1):
        left, gap = done[index], done[index + 1 : -1]
        if not isinstance(left, Quantity):
            continue
        if merged := rule(left, gap, right):
            done[index:] = [*gap, merged] if merged.start > left.start else [merged]
            return True
        if left.kind != "count":
            return False
    return False


def _united(left: Quantity, right: Quantity, *, base: Quantity, apart: bool = False, **more: object) -> Quantity:
    """`base` (one of the two) with changes; it spans both unless they stand apart."""
    span = {} if apart else {"start": left.start, "end": right.end}
    approximate = left.approximate or right.approximate
    return replace(base, **{**span, "approximate": approximate, "rate": False, **more})  # type: ignore[arg-type]


def _loose(gap: Parts) -> bool:
    """Whether a rate and its figure belong together across `gap`: a few words of one clause, and no question word."""
    words = [part for part in gap if isinstance(part, Token)]
    length = gap[-1].end - gap[0].start if gap else 0
    plain = all(part.role not in ("break", "ask", "open", "per") for part in words)
    return (
        length <= 16
        and plain
        and all(not part.text.isascii() or part.text in LINKS for part in words if part.role == "word")
    )


def _coins(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """2块 + 8毛, before an hour is joined to the coins alone: 一块六毛五一小时."""
    yuan = left.kind == right.kind == "money" and left.unit == right.unit == "CNY" and left.high is right.high is None
    if not yuan or gap or right.delta or not 0 < right.value < 1:
        return None
    return _united(left, right, base=left, value=left.value + right.value)


def _per_hour(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """2块 + 一小时, $9 + per GPU-hour, 每小时 (预算不超过) + 10块."""
    if left.kind == "money" and _is_one(right, "hour", "gpu-hour") and not gap:
        return _united(left, right, base=left, kind="money_per_hour")
    if right.kind == "money" and _is_one(left, "hour", "gpu-hour") and (not gap or (left.rate and _loose(gap))):
        return _united(left, right, base=right, apart=bool(gap), kind="money_per_hour")
    return None


def _is_one(quantity: Quantity, *units: str) -> bool:
    return quantity.kind == "duration" and quantity.unit in units and quantity.value == 1 and quantity.high is None


def _per_day(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """8 hours + a day, 每天 (跑) + 6个钟头, 24小时 + 不停."""
    if "hours_per_day" in (left.kind, right.kind) and not gap:
        return (
            _united(left, right, base=left, kind="hours_per_day", unit="hour", value=Decimal(24))
            if _around_the_clock(left, right)
            else None
        )
    if _is_one(right, "day") and right.rate and _hours_of_day(left) and not gap:
        return _united(left, right, base=left, kind="hours_per_day")
    if _is_one(left, "day") and left.rate and _hours_of_day(right) and _loose(gap):
        return _united(left, right, base=right, apart=bool(gap), kind="hours_per_day")
    return None


def _hours_of_day(quantity: Quantity) -> bool:
    return quantity.kind == "duration" and quantity.unit == "hour" and not quantity.rate and abs(quantity.value) <= 24


def _around_the_clock(left: Quantity, right: Quantity) -> bool:
    both = [
        item.kind == "hours_per_day" or (item.kind == "duration" and item.unit == "hour") or _is_one(item, "day")
        for item in (left, right)
    ]
    return all(both) and all(item.value == 24 or _is_one(item, "day") for item in (left, right))


def _per_week(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """5 days + a week, 每周 (跑) + 5天, 每周 + 两晚: days of every week, in the unit DAYS_A_WEEK."""
    if _is_one(right, "week") and right.rate and not gap and (days := _days_of_week(left)):
        return _united(left, right, base=left, unit=DAYS_A_WEEK, value=days)
    each = bool(re.match("[每按/]|per|each|every", left.text))
    if _is_one(left, "week") and left.rate and (not gap or (each and _loose(gap))) and (days := _days_of_week(right)):
        return _united(left, right, base=right, apart=bool(gap), unit=DAYS_A_WEEK, value=days)
    return None


def _days_of_week(quantity: Quantity) -> Decimal | None:
    """How many days or nights of a week these are; None where they cannot be."""
    if quantity.kind != "duration" or (quantity.rate and quantity.text[:1] == "每"):
        return None
    nights = quantity.unit == "hour" and re.search("[夜晚宿]|night|evening", quantity.text) and not _clock(quantity)
    days = quantity.value / NIGHT if nights else quantity.value if quantity.unit == "day" else Decimal(0)
    return days if 0 < days <= 7 else None


def _spread_weeks(parts: Parts) -> Parts:
    """5 days a week + for 4 weeks = 20 days; without a length of time, the days of one week."""
    weekly = next((part for part in parts if isinstance(part, Quantity) and part.unit == DAYS_A_WEEK), None)
    if weekly is None:
        return parts
    totals = [part for part in parts if isinstance(part, Quantity) and part.kind == "duration"
              and part.unit in ("week", *MONTHS)]  # fmt: skip
    daily = any(isinstance(part, Quantity) and part.kind == "hours_per_day" for part in parts)
    done: Parts = []
    for part in parts:
        if isinstance(part, Quantity) and part.unit == "hour" and _days_of_week(part) == weekly.value:
            done.append(Token("word", part.start, part.end, ""))  # the same evenings said again
        elif isinstance(part, Quantity) and part.unit == DAYS_A_WEEK:
            one_week = replace(part, unit="day", rate=False)
            done.append(Token("word", part.start, part.end, "") if totals else one_week)
        elif part in totals and isinstance(part, Quantity):
            done.append(_days_within(part, weekly))
        elif not daily and isinstance(part, Quantity) and _hours_of_day(part):
            done.append(replace(part, kind="hours_per_day"))  # 6 hours each, 每次6小时
            daily = True
        else:
            done.append(part)
    return done


def _days_within(total: Quantity, weekly: Quantity) -> Quantity:
    """The days of `total` on which something runs, `weekly` of each week; a year has 52 weeks."""
    exact = total.unit == "week"
    weeks = Decimal(1) if exact else WEEKS_A_YEAR * MONTHS[total.unit] / MONTHS["year"]
    ends = [(total.value, weekly.value), (total.high or total.value, weekly.high or weekly.value)]
    low, high = (length * weeks * days for length, days in ends)
    return replace(total, unit="day", value=low, high=high if high != low else None, rate=False,
                   approximate=total.approximate or weekly.approximate or not exact)  # fmt: skip


def _in_days(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """一个月 + (30天), 30 days + a month, 每月 + 22天, a month of + 744 hours: the days or hours are what counts."""
    if left.kind != "duration" or right.kind != "duration" or any(_adds(part) for part in gap):
        return None
    said = bool(gap) and all(role_of(part) in ("open", "basis", "of") or part.text == "of" for part in gap)
    short = _month_long(left) or (left.unit == "day" and left.value <= MONTH_DAYS[-1])
    if short and right.unit == "month" and right.value == 1 and (said or (not gap and right.rate)):
        return _united(left, right, base=left)
    if _spoken(left) and right.unit == "hour" and not right.rate and not left.rate and (said or _clock(right)):
        return _united(left, right, base=right) if said or not gap else None
    hours = right.unit == "hour" and right.value > HOURS["day"] and said
    if left.unit not in ("week", *MONTHS) or not (right.unit == "day" or hours) or left.high is not None:
        return None
    if not said and not (left.unit == "month" and left.rate and _loose(gap)):
        return None
    months = left.value if left.unit == "month" and (_month_long(right) or right.value in MONTH_DAYS) else Decimal(1)
    return _united(left, right, base=right, apart=bool(gap) and not said, value=right.value * months)


def _month_long(quantity: Quantity) -> bool:
    """Whether it says how long a month is: 28 to 31 days, or as many hours."""
    days = quantity.hours / HOURS["day"] if quantity.hours and quantity.unit in ("day", "hour") else Decimal(0)
    whole = quantity.unit == "hour" or days in MONTH_DAYS
    return quantity.kind == "duration" and MONTH_DAYS[0] <= days <= MONTH_DAYS[-1] and whole


def _spoken(quantity: Quantity) -> bool:
    """Whether it is a word whose hours are only customary: overnight, 周末, one night."""
    return bool(
        re.fullmatch(r"(?:over the |the |an? |一[个整]?)*(?:weekend|周末|overnight|通宵|night|夜|晚上?)", quantity.text)
    )


def _clock(quantity: Quantity) -> bool:
    """Whether its hours lie between two times of day: 10pm-8am, 晚上10点到早上8点, 早九晚六."""
    return bool(re.search(r"[ap]\.?m|点|\d:\d|^[早朝]", quantity.text))


def _fix_months(parts: Parts) -> Parts:
    """ "按30天算" anywhere behind says how long the months before it are."""
    based = [index for index, part in enumerate(parts[1:], 1) if isinstance(part, Quantity) and _month_long(part)
             and (role_of(parts[index - 1]) == "basis" or part.text.startswith("a month of"))]  # fmt: skip
    months = [index for index, part in enumerate(parts) if isinstance(part, Quantity) and part.unit == "month"]
    fixed = list(parts)
    for at in based:
        before = [index for index in months if index < at and isinstance(fixed[index], Quantity)]
        for index in before:
            month, days = cast(Quantity, parts[index]), cast(Quantity, parts[at])
            fixed[index] = replace(month, value=month.value * days.value, unit=days.unit, rate=False)
        if before:
            fixed[at] = Token("word", parts[at].start, parts[at].end, "")
    return fixed


def _compound(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """1 小时 + 42 分, 3天 + 6小时, 一年 + 零三个月; the nights of 三天三夜 add nothing."""
    if not all(_adds(part) for part in gap) or left.high is not None or right.high is not None or right.delta:
        return None
    if (
        not left.kind == right.kind == "duration"
        or (right.unit == "hour" and _clock(right))
        or (left.rate and not gap and left.unit in ("day", "week") and not _night(left, right))
    ):
        return None
    for sizes in (HOURS, MONTHS):
        if left.unit in sizes and right.unit in sizes:
            ratio = sizes[left.unit] / sizes[right.unit]
            if _night(left, right):
                return _united(left, right, base=left)
            if ratio > 1 and right.value < ratio:
                return _united(left, right, base=left, value=left.value + right.value / ratio)
    return None


def _days_beside(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """一个月 + 零5天, a month + and 5 days, 1 year + 2 weeks: the days as a share of the month or year, 730 and 8,760 hours long."""
    if right.unit not in ("day", "week") or right.hours is None or right.high is not None or right.delta:
        return None
    if right.rate and not any(part.text == "零" for part in gap if isinstance(part, Token)):
        return None  # "a month and a week" may be two times
    joined_up = bool(gap) and all(_adds(part) for part in gap)
    if left.kind != "duration" or left.high is not None or not (joined_up or (not gap and _counted_in_english(left))):
        return None
    if left.unit == "day" and re.search("月|month", left.text):  # its length was said: 按30天算
        return _united(left, right, base=left, value=left.value + right.hours / HOURS["day"])
    if left.unit not in MONTHS or re.match("[每按/]|per|each|every", left.text):
        return None
    length = MONTHS[left.unit] * HOURS_PER_MONTH
    return _united(left, right, base=left, value=left.value + right.hours / length) if right.hours < length else None


def _adds(part: Token | Quantity) -> bool:
    """零, 又, and: what stands behind it comes on top."""
    return role_of(part) == "and" or (isinstance(part, Token) and part.text == "零")


def _counted_in_english(quantity: Quantity) -> bool:
    """ "1 month 5 days" is one length; "一个月22天" are days of each month, and "a month" a rate."""
    return quantity.text.isascii() and not quantity.rate


def _night(left: Quantity, right: Quantity) -> bool:
    return (
        left.unit == "day"
        and 0 < right.value <= left.value * NIGHT
        and bool(re.search("[夜晚宿]|night", right.text))
        and not _clock(right)
    )


def _range(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """3天到5天, $10-$20, 7b-13b."""
    alike = (left.kind, left.unit, left.high, left.delta, right.high, right.delta) == (
        right.kind,
        right.unit,
        None,
        False,
        None,
        False,
    )
    ranged = len(gap) == 1 and (role_of(gap[0]) in ("dash", "to") or gap[0].text == "~")
    if alike and ranged and left.value < right.value and left.kind not in ("bare", "precision"):
        return _united(left, right, base=left, high=right.value)
    return None
