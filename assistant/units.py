"""Units, currencies and periods beside a number or in a label, in Chinese and English.

Knows spellings only; the numbers themselves are read by figures.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

RE = re.IGNORECASE | re.ASCII  # ASCII, so that \b parts GB from the Chinese after it
PERIODS = ("second", "minute", "hour", "day", "week", "month", "year")
PERIOD = (
    r"(?:(?P<second>秒钟?|seconds?|secs?|s)|(?P<minute>分钟|分鐘|minutes?|mins?)|(?P<month>月(?!份)|months?)"
    r"|(?P<hour>小时|小時|钟头|卡时|机时|时(?![间:])|hours?|hrs?|h)|(?P<day>天|日|days?)|(?P<week>周|週|星期|weeks?)"
    r"|(?P<year>年|years?|yrs?))(?![A-Za-z])"
)
PER = re.compile(
    r"\s*(?:/|每|per\b|an?\b|each\b|一)\s*"
    r"(?:(?:个|张|張|卡|台|块|实例|GPU|card|instance|node)s?\s*[-/·]?\s*(?:/|每|per\b)?\s*)?"
    rf"(?:[一个1]\s?)?{PERIOD}|\s+(?P<adverb>hourly|daily|weekly|monthly|yearly)\b",
    RE,
)
RATE_BEFORE = re.compile(
    rf"(?:(?P<lead>每|一)(?:[个张卡台块]\s?(?:每)?)?{PERIOD}|(?P<adverb>hourly|daily|weekly|monthly|yearly|annual))"
    r"[^0-9\n。；;.|，,]{0,14}$",
    RE,
)
ADVERBS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annual": "year"}
CURRENCIES = {
    "HKD": r"HK\$|HKD\b|港[元币]", "USD": r"US\$|\$|USD\b|美[元金刀]|(?:US )?dollars?\b", "EUR": r"€|EUR\b|欧元|euros?\b",
    "JPY": r"JPY\b|日[元圆]", "GBP": r"£|GBP\b|英镑",
    "CNY": r"¥|CNY(?![A-Za-z])|RMB(?![A-Za-z])|人民[币幣]元?|元|圆|yuan\b|renminbi\b|块钱|塊錢"
           r"|块(?=\s*(?:/|每|多|左右|一(?:小时|天|个?月|年)))",
}  # fmt: skip
SIGN_BEFORE = re.compile(r"(HK\$|US\$|\$|¥|€|£|HKD|USD|EUR|CNY|RMB|人民币)[^\S\n]*(?:约|≈|~)?[^\S\n]*$", RE)
UNITS = {  # canonical unit -> spellings; the first that fits wins, so longer ones stand first
    "%": r"%|per ?cent(?:age points?)?\b|pct\b|百分点|个点", "TOPS": r"TOPS\b", "TFLOPS": r"TFLOPS?\b|TFLOP/s",
    "TB/s": r"TB/s|TBps\b", "GB/s": r"G[i]?B(?:/s|ps\b| per second\b| s\b)", "MB/s": r"MB/s", "Gbps": r"Gbps\b|Gb/s",
    "GiB": r"GiB\b", "GB": r"GB(?![A-Za-z])", "TiB": r"TiB\b", "TB": r"TB(?![A-Za-z])|(?-i:T)(?![A-Za-z0-9])",
    "MiB": r"MiB\b", "MB": r"MB(?![A-Za-z])", "GHz": r"GHz", "MHz": r"MHz", "G": r"Gi?(?![A-Za-z0-9])",
    "kWh": r"kWh|千瓦时|度电", "kW": r"kW(?![A-Za-z])|千瓦", "W": r"(?-i:W)(?![A-Za-z])|瓦|watts?\b", "nm": r"nm\b",
    "U": r"(?-i:U)(?![A-Za-z])|rack units?\b", "ms": r"ms\b|毫秒|milliseconds?\b",
    "core": r"(?:CUDA |Tensor |CPU )?(?:核心?|vCPUs?(?![A-Za-z])|CPUs\b|cores?\b)|线程|threads?\b",
    "row": r"(?:条|條|行)(?!件)|rows?\b|samples?\b|records?\b", "token": r"tokens?\b|词元", "request": r"requests?\b",
    "parameter": r"参数|parameters?\b|params\b", "折": "折",
    "x": r"倍|×(?!\s?(?-i:[A-Z0-9\ue000]))|x(?![A-Za-z0-9])|times\b|-?fold\b|(?:factor|ratio|speed-?up)\b",
    "hour": r"小时|小時|钟头|卡时|机时|(?:GPU[- ]?)?(?:hours?|hrs?|h)(?![A-Za-z])",
    "minute": r"分钟|分鐘|minutes?\b|mins?(?![A-Za-z])",
    "second": r"秒钟?|seconds?\b|secs?\b|s(?![A-Za-z])", "day": r"天|日(?![本元圆])|days?\b", "week": r"周|週|星期|weeks?\b",
    "month": r"(?<=[个個])月|months?\b", "year": r"年|years?\b|yrs?\b",
    "machine": r"台\s?(?:机器|机|服务器|主机)|台?节点|servers?\b|machines?\b|nodes?\b|instances?\b|(?:台)?实例",
    "card": r"(?:张|張)(?!表|图|圖|截图)|卡|台|臺|块|塊|片|枚|(?:NVIDIA\s)?\ue000*\s?(?:GPUs?|cards?)(?![A-Za-z])",
    "count": r"[个個家种種款项項步类類点者篇段处組组]|(?:option|way|reason|step|point|thing|cloud|provider|vendor|choice"
             r"|question|part|kind|type|source|passage|table|article|model|case|situation|factor|platform|run|replica)s?\b",
}  # fmt: skip
RATE_IN_LABEL = re.compile(
    rf"(?:\bper|/|每)[ -]?(?:(?:gpu|card|instance|实例)[ -]?)?{PERIOD}|\b(?P<adverb>hourly|daily|weekly|monthly|yearly)\b",
    RE,
)
GAP = re.compile(r"[ \t*]{0,3}(?:\+|多|余|-(?=[A-Za-z]))?[ \t]{0,2}")
COUNTED_GAP = re.compile(GAP.pattern + "[个個] ?")
SCALES = {"万亿": 12, "千亿": 11, "百亿": 10, "十亿": 9, "千万": 7, "百万": 6, "十万": 5, "亿": 8, "億": 8, "万": 4, "萬": 4, "千": 3,
          "百": 2, "trillion": 12, "billion": 9, "million": 6, "thousand": 3, "hundred": 2,
          "bn": 9, "k": 3, "w": 4, "m": 6, "b": 9}  # fmt: skip
SCALE = re.compile(
    r"[ \t]{0,2}(万亿|千亿|百亿|十亿|千万|百万|十万|亿|億|万|萬|千(?!瓦)|百(?!分)|(?:trillion|billion|million|thousand|hundred)\b)"
    r"|([kKMwBb]|bn)(?![A-Za-z0-9])",
    re.ASCII,
)
LABEL_TAIL = re.compile(
    r"\s*(?:数量?|counts?|number|total|needed|billed|used|each|(?<!^)(?:\bper\s+|每)\S+(?: hour)?)\s*$", RE
)


@dataclass(frozen=True)
class Measure:
    """What a number counts: a canonical unit or a currency, and for a rate the period it is per."""

    unit: str = ""
    currency: str | None = None
    period: str | None = None


NONE = Measure()
MEASURES = [
    *((Measure(currency=name), re.compile(pattern, RE)) for name, pattern in CURRENCIES.items()),
    *((Measure(name), re.compile(pattern, RE)) for name, pattern in UNITS.items()),
]
# All of them tried in one go, a group each; they may hold no groups of their own.
ANY_MEASURE = re.compile("|".join(f"({pattern})" for pattern in (*CURRENCIES.values(), *UNITS.values())), RE)


def measure_after(text: str, start: int) -> tuple[Measure, int]:
    """The unit behind a number that ends at `start`, and where the unit ends (`start` if there is none)."""
    for gap in (COUNTED_GAP, GAP):
        place = gap.match(text, start)
        hit = ANY_MEASURE.match(text, place.end()) if place else None
        if hit and hit.lastindex:
            measure = MEASURES[hit.lastindex - 1][0]
            rate = PER.match(text, hit.end())
            return (replace(measure, period=period_of(rate)), rate.end()) if rate else (measure, hit.end())
    return NONE, start


def measure_before(text: str, start: int, *, money: bool) -> Measure:
    """The currency sign and the period (每小时, monthly) before a number; 一小时 is a period only before money."""
    sign = SIGN_BEFORE.search(text[max(0, start - 16) : start])
    rate = RATE_BEFORE.search(text[max(0, start - 28) : start])
    currency = next((m.currency for m, p in MEASURES if m.currency and p.match(sign[1])), None) if sign else None
    if rate and rate["lead"] == "一" and not (money or currency):
        rate = None
    return Measure(currency=currency, period=period_of(rate))


def period_of(rate: re.Match[str] | None) -> str | None:
    if not rate:
        return None
    groups = rate.groupdict()
    return ADVERBS.get((groups["adverb"] or "").lower()) or next(p for p in PERIODS if groups[p])


def scale_after(text: str, start: int) -> tuple[int, int, bool]:
    """The power of ten behind a number (万, k, million), where it ends, and whether it is the B of 70B."""
    hit = SCALE.match(text, start)
    if not hit:
        return 0, start, False
    word = (hit[1] or hit[2]).lower()
    return SCALES[word], hit.end(), word == "b"


@lru_cache(maxsize=4096)  # the keys and headings of all evidence are few, and read again for every answer
def read_label(label: str) -> Measure:
    """The unit that a key, heading or label ends in: price_cny_per_hour, "内存 (GiB)", hours, "GPU 张数"."""
    text = label.replace("_", " ").strip()
    rate = RATE_IN_LABEL.search(text)
    inner = re.search(r"[(（\[]([^()（）\[\]]+)[)）\]]\s*$", text)
    outer = LABEL_TAIL.sub("", text[: inner.start()] if inner else text)
    candidates = [re.split("[,，;；]", inner[1])[0]] if inner else []
    for i in (i for i in range(len(outer)) if i == 0 or not re.match("[A-Za-z0-9]{2}", outer[i - 1 : i + 1])):
        candidates.append(outer[i:])
    for candidate in candidates:
        measure, end = measure_after(candidate, 0)
        if measure != NONE and end == len(candidate.rstrip()):
            return replace(measure, period=measure.period or period_of(rate))
    return Measure(period=period_of(rate))
