"""Which unit, currency or time a number of an answer has. The wrong currency or another period is not the wanted one.

A unit stands behind its number before the next one, right before it, or in the heading of its table cell. Money needs a
currency: a sign before, the first word behind, the heading, the only currency of the line, or a sentence that declares
it. GB, GiB and G are one word: value and tolerance tell them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from evals.answer_numbers import Number

I = re.IGNORECASE  # noqa: E741
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "year": 31536000}
CURRENCIES = {
    "USD": r"US\$|(?<!HK)\$|USD(?![A-Za-z])|美[元金刀]|(?<!\w)刀|(?:US )?dollars?\b",
    "EUR": r"€|EUR(?![A-Za-z])|欧元|euros?\b",
    "other": r"[日港新]元|HK\$|(?:JPY|HKD|SGD|GBP)(?![A-Za-z])|£|英镑",
    "CNY": r"¥|(?:CNY|RMB)(?![A-Za-z])|人民[币幣]|(?<![美欧日港新])元|[块塊](?![卡显])|yuan\b|renminbi\b",
}
UNITS = {
    "second": r"秒|(?<![A-Za-z])s(?![A-Za-z])|secs?\b|seconds?",
    "minute": r"分[钟鐘]|(?<![A-Za-z])mins?(?![A-Za-z])|minutes?",
    "hour": r"小[时時]|钟头|卡时|机时|(?<![A-Za-z])hrs?(?![A-Za-z])|(?<![A-Za-z])h(?![A-Za-z])|hours?",
    "day": r"天|日(?![元本])|days?|(?<![A-Za-z])d(?![A-Za-z])",
    "week": r"周|週|星期|weeks?",
    "month": r"个月|月|months?",
    "year": r"年|years?|yrs?",
    "KiB": r"Ki?B(?![A-Za-z])",
    "MiB": r"Mi?B(?![A-Za-z])|(?<![A-Za-z])M(?![A-Za-z])",
    "GB": r"Gi?B(?![A-Za-z])|(?<![A-Za-z])Gi?(?![A-Za-z])",
    "TB": r"Ti?B(?![A-Za-z])|(?<![A-Za-z])T(?![A-Za-z])",
    "GB/s": r"G[Bi]?B?/s|GBps|G/s",
    "TB/s": r"T[Bi]?B?/s|TBps|T/s",
    "byte": r"字节|bytes?|(?<![A-Za-z])B(?![A-Za-z])",
    "token": r"tokens?|词元",
    "token/s": r"(?:tokens?|词元)\s*(?:/|per |每)\s*(?:s|秒)|(?:每秒|tok/s)",
    "row": r"条|條|行|rows?|samples?|records?",
    "layer": r"层|層|layers?",
    "user": r"人|用户|users?",
    "%": r"%|percent|per cent|pct|百分点|个点",
    "x": r"倍|[x×](?![A-Za-z]*\d)|times|-?fold",
    "card": r"张|張|卡|台|臺|[块塊]|[个個片枚]|[x×]|GPUs?|cards?|machines?|nodes?|servers?|instances?|units?",
    "core": r"核|v?CPUs?|cores?|线程",
    "U": r"U(?![A-Za-z])|rack units?|units?|机架",
    "W": r"W(?![A-Za-z])|瓦|watts?",
    "kWh": r"kWh|度电?|千瓦时",
    "GHz": r"GHz|G(?![A-Za-z])",
    "TFLOPS": r"TFLOPS?|TFLOP/s|teraflops?",
    "TOPS": r"TOPS",
}
MONEY = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in CURRENCIES.items()), I)
ANY_UNIT = re.compile("|".join([*UNITS.values(), *CURRENCIES.values()]), I)
SIGN_BEFORE = re.compile(r"(US\$|HK\$|[$¥€£]|USD|CNY|RMB|EUR|HKD|人民币)\s*(?:约|≈|~)?\s*$", I)
SIGNS = re.compile(r"(?:US\$|HK\$|[$¥€£])\s*(?:约|≈|~)?\s*$", I)
CODE = re.compile(r"\s*(?:USD|CNY|RMB|EUR|HKD)\b", I)
DECLARED = re.compile(
    r"(?:单位|币种|计价|均为|都是|以|prices?|amounts?|figures?|currency|costs?)[^\n\d|]{0,24}?(?P<word>"
    + "|".join(CURRENCIES.values())
    + ")",
    I,
)
_PERIOD = r"(?:分钟|秒|天|日|周|週|月|年|min|sec|day|week|month|year)"
OTHER_RATE = re.compile(rf"\s{{0,2}}(?:/|per |每|an? )\s*1?\s*[个個]?\s*{_PERIOD}", I)
OTHER_RATE_BEFORE = re.compile(
    r"(?:每[个個]?[天日周週月年]|[日月年]租?(?:价|租|费)|(?:daily|weekly|monthly|yearly)[\w ]{0,12})[\s:约为是]*$", I
)
OTHER_RATE_HEADING = re.compile(rf"(?:/|per |每)\s*[个個]?{_PERIOD}", I)
NO_DURATION = re.compile(r"[%倍/]|每|\bper\b|\ban?\s*$|" + "|".join(CURRENCIES.values()), I)
TIME_BEHIND = {
    "day": r"天|日(?![元本])|days?\b|d(?![A-Za-z])",
    "hour": r"小[时時]|钟头|卡时|机时|时(?!间)|hours?\b|hrs?(?![A-Za-z])|h(?![A-Za-z])",
    "minute": r"分[钟鐘]|分(?![之数])|minutes?\b|mins?(?![A-Za-z])|m(?![A-Za-z])",
    "second": r"秒钟?|seconds?\b|secs?\b|s(?![A-Za-z])",
}
DIRECT = re.compile(
    r"\s*[个個]?\s*(?:GPU[ -]?)?(?:"
    + "|".join(f"(?P<{unit}>{word})" for unit, word in TIME_BEHIND.items())
    + ")(?P<half>半)?",
    I,
)
JOINT = re.compile(r"(?:[\s,、和又零]|and)*", I)


def has_unit(number: Number, unit: str) -> bool:
    """Whether the number has this unit of UNITS; a word that UNITS does not know is looked for as it is written."""
    pattern = UNITS.get(unit, re.escape(unit))
    if re.search(pattern, number.behind, I) or _before(pattern).search(number.before):
        return True
    return not ANY_UNIT.search(number.behind) and bool(re.search(pattern, number.segment.heading, I))


def has_money(number: Number, unit: str, declared: set[str]) -> bool:
    """Whether the number is an amount in `unit`, "CNY" or "CNY/hour"; with a rate, another period fails, none does not."""
    currency, _, rate = unit.partition("/")
    column = number.segment.heading.split(" ; ")[0]
    if currency not in (_currencies(number) or (set() if ANY_UNIT.search(column) else declared)):
        return False
    return not rate or not _has_other_rate(number)


def is_money(unit: str) -> bool:
    """Whether a unit of a case is a currency, alone or per hour."""
    return unit.partition("/")[0] in CURRENCIES


def declared_currencies(text: str) -> set[str]:
    """The currencies that a sentence gives for the whole answer ("prices in CNY")."""
    return {name for match in DECLARED.finditer(text) for name in _names(match["word"])}


def durations(numbers: Sequence[Number]) -> Iterable[float]:
    """Seconds of every duration among the numbers of one segment; `1 小时 42 分 46 秒` is one, a rate is none."""
    total, last_end, last_size = 0.0, -1, 0.0
    for number in sorted(numbers, key=lambda each: each.start):
        text = number.segment.text
        match = DIRECT.match(text, number.end)
        if match is None:
            if unit := _distant_time(number):
                yield from (value * SECONDS[unit] for value in number.values)
            continue
        size = SECONDS[next(unit for unit in TIME_BEHIND if match[unit])]
        value = number.values[0] * size + (size / 2 if match["half"] else 0)
        joined = last_end >= 0 and size < last_size and JOINT.fullmatch(text[last_end : number.start])
        if not joined and last_end >= 0:
            yield total
        total = total + value if joined else value
        last_end, last_size = match.end(), size
    if last_end >= 0:
        yield total


def _distant_time(number: Number) -> str | None:
    """The time unit within reach but not right behind the number, in a heading at last."""
    for unit in SECONDS:
        match = re.search(UNITS[unit], number.behind, I)
        if match and not NO_DURATION.search(number.behind[: match.start()]):
            return unit
        heading = number.segment.heading
        if re.search(UNITS[unit], heading, I) and not (ANY_UNIT.search(number.behind) or MONEY.search(heading)):
            return unit
    return None


def _currencies(number: Number) -> set[str]:
    if (sign := SIGN_BEFORE.search(number.before)) and not _belongs_to_the_number_before(number, sign):
        return _names(sign[1])
    if (behind := MONEY.search(number.behind)) and not _opens_the_next(number, behind):
        return _names(behind[0])
    if found := _names(number.before) or _names(number.segment.heading):
        return found
    if number.in_wan and not ANY_UNIT.search(number.behind):
        return {"CNY"}  # "约 2.06 万"
    in_line = _names(number.segment.line)
    return in_line if len(in_line) == 1 else set()


def _belongs_to_the_number_before(number: Number, sign: re.Match[str]) -> bool:
    """A code between two numbers, as in "28.64 CNY 30 USD", is the first one's."""
    written = CODE.fullmatch(sign[0].rstrip()) is not None
    at = number.start - len(number.before)
    follows = at > 0 and number.segment.text[at - 1 : at].isdigit() and not number.before[: sign.start()].strip()
    return written and follows and bool(MONEY.search(number.behind))


def _opens_the_next(number: Number, match: re.Match[str]) -> bool:
    """Whether a sign behind the number stands right before the next one: "8 $5"."""
    opens = number.ends_at_number and SIGNS.search(number.behind)
    return bool(opens) and match.end() >= len(number.behind.rstrip(" 约≈~"))


def _has_other_rate(number: Number) -> bool:
    money = MONEY.search(number.behind)
    at = number.behind_from + (money.end() if money else 0)
    if OTHER_RATE.match(number.segment.text, at) or OTHER_RATE_BEFORE.search(number.before):
        return True
    return not money and bool(OTHER_RATE_HEADING.search(number.segment.heading))


def _names(text: str) -> set[str]:
    return {str(match.lastgroup) for match in MONEY.finditer(text)}


@lru_cache(maxsize=128)
def _before(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{pattern})[)\]】]?\s*(?:[:=≈~]|约|为|是|of)*\s*(?:约|≈|~)?\s*$", I)
