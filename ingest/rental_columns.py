"""What the headings of a price table say: currency, period, provider and billing, and what cannot be taken.

Nothing is inferred: a heading with a word in it that is none of these is no price column. No rows are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ingest.document_tables import folded
from ingest.price_formats import HEADINGS, fold_heading
from knowledge.names import link, normalise

ATTRIBUTES = {word: column for column, words in HEADINGS.items() for word in words.split()}

# Prices that are none of renting by the hour or month: of buying, by the day or year, in tens of thousands.
BUYING = re.compile(
    r"采购|购买|购卡|售价|整机|市场价|发售|首发|官方(?:定|售|指导|建议)价|二手|原价|msrp|launch|street|purchas|retail|buy"
)
LONG_TERM = re.compile(
    r"包年(?!包月)|年付|年价|\d\s*年|[一二三]年|预留|yearly|annual|reserved|commit|\d\s*-?\s*y(?:ea)?rs?\b"
)
OTHER_PERIOD = re.compile(
    r"(?:元|/|每|per )\s*(?:天|日|周|年|秒|分钟|day\b|week\b|year\b|yr\b|min(?:ute)?\b|sec(?:ond)?\b)|"
    r"(?:卡|gpu|张)\s*[/·]?\s*(?:月|month)|daily|weekly|日租|周租|token"
)
SCALED = re.compile(
    r"[百千万亿]\s*元|[百千万亿]\s*(?:美元|人民币)|k\s*(?:usd|rmb|cny|\$)|(?:usd|rmb|cny|\$)\s*k\b|分/|cents?\b|¢"
)

CURRENCIES = (
    ("USD", r"us\s?\$|\busd|美元|美金|(?<![a-z])\$"), ("HKD", r"hk\s?\$|\bhkd|港[元币]"), ("JPY", r"\bjpy|日元|円"),
    ("EUR", r"\beur(?:os?)?(?![a-z])|€|欧元"), ("GBP", r"\bgbp|£|英镑"),
    ("CNY", r"¥|\bcny|\brmb|人民币|(?<![单多公纪美港日欧百千万亿])元"),
)  # fmt: skip
HOUR, MONTH = r"(?:小?时|hours?\b|hrs?\b|h\b)", r"(?:个?月|months?\b|mo\b)"
PER = r"(?:/|每|per |an? |·)"
CARD = r"(?:卡|张|gpu|card)"
PERIODS = (
    ("gpu-hour", rf"{PER}?\s*{CARD}\s*[/·-]?\s*(?:每|per )?\s*{HOUR}"),
    ("instance-month", rf"{PER}\s*(?:台|实例)?\s*[/·]?\s*{MONTH}"),
    ("instance-hour", rf"{PER}\s*(?:台|实例|instance)?\s*[/·]?\s*{HOUR}|元\s*{HOUR}|小时价|每?小时|时价|\bhourly\b|\bhour\b|\b(?:usd|cny|rmb)\s*/?\s*hr?\b"),
)  # fmt: skip
PER_CARD = re.compile(r"单卡|每卡|单张|每张|/\s*(?:卡|张|gpu|card)|\b(?:per|each)[ -](?:gpu|card)")
MONTHLY_WORD = re.compile(r"月租|月价|月付|包月|\bmonthly\b")
BILLING = (
    ("on-demand", r"按量(?:付费|计费)?|按需(?:付费|计费)?|按小时(?:付费|计费)?|on[- ]?demand|pay[- ]as[- ]you[- ]go|payg"),
    ("spot", r"竞价(?:实例|型)?|抢占(?:式)?(?:实例)?|\bspot\b|preemptible|interruptible"),
    ("monthly", r"包年包月|包月|月租|月付|月价|\bmonthly\b"), ("community", r"社区云?|community(?: cloud)?"),
)  # fmt: skip
PRICE = re.compile(
    r"(?:小时|时|单|租用|租赁|挂牌|刊例|目录|报|列表)?价格?(?:钱)?|租金|租费|费用|资费|\bpric(?:es?|ing)\b|\bcosts?\b|\brates?\b|\brent(?:al)?\b|\blist\b|\bfees?\b"
)
FILLER = re.compile(
    r"单位|币种|含税|gpu|单卡|每卡|单张|每张|实例|整机|云服务器|\beach\b|\bper\b|\ban?\b|\bof\b|\bin\b|\binstances?\b|\bcards?\b|的|每|卡|[\W\d_]"
)


@dataclass(frozen=True)
class PriceColumn:
    """One column of prices: what its heading says, each "" where it says nothing; `problem` (zh, en) if not taken."""

    at: int
    heading: str
    provider: str = ""
    gpu: str = ""
    billing: str = ""
    currency: str = ""
    per: str = ""
    problem: tuple[str, str] | None = None

    @property
    def says(self) -> tuple[str, ...]:
        """What tells this column from another one."""
        return self.provider, self.gpu, self.billing, self.currency, self.per


def attribute_of(heading: str) -> str:
    """The column of a price file that a heading means: 云厂商 (Provider) -> provider; "" for none of them."""
    last = heading.split(" / ")[-1]
    for words in (heading, re.split(r"[(（\[【]", heading)[0], last, re.split(r"[(（\[【]", last)[0]):
        if column := ATTRIBUTES.get(fold_heading(words), ""):
            return column
    return ""


def price_column(at: int, heading: str) -> PriceColumn | None:
    """A heading as that of prices; None where it has a word that no price column has."""
    text = folded(normalise(heading))
    providers = [item for item in link(normalise(heading)) if item.kind == "provider"]
    provider = providers[0] if len({item.key for item in providers}) == 1 else None
    if len({item.key for item in providers}) > 1:
        return None
    for item in providers:
        text = text.replace(folded(item.text), " ")
    problem = _problem(text)
    billing, rest = _billing(text)
    currency, per = currency_in(text), period_in(text)
    if not problem and _unexplained(rest):
        return None
    if problem and not (PRICE.search(text) or currency or billing or LONG_TERM.search(text)):
        return None
    if not (problem or provider or billing or currency or PRICE.search(text)):
        return None
    return PriceColumn(at, heading, provider.key if provider else "", "", billing, currency, per, problem)


def currency_in(text: str) -> str:
    """The one currency that words name; "" for none or several."""
    lowered = folded(text)
    found = [code for code, words in CURRENCIES if re.search(words, lowered)]
    if len(found) == 2 and "CNY" in found and not re.search(r"¥|cny|rmb|人民币|(?<![美港日欧])元", lowered):
        found.remove("CNY")
    return found[0] if len(found) == 1 else ""


def period_in(text: str) -> str:
    """gpu-hour, instance-month or instance-hour; "" where words name none, or one that is not taken."""
    lowered = folded(text)
    if OTHER_PERIOD.search(lowered):
        return ""
    period = next((period for period, words in PERIODS if re.search(words, lowered)), "")
    if not PER_CARD.search(lowered):
        return period
    return {"instance-hour": "gpu-hour", "instance-month": ""}.get(period, period)


def is_monthly(text: str) -> bool:
    """Whether a heading is of prices by the month without writing /月: 包月, 月租."""
    return bool(MONTHLY_WORD.search(folded(text)))


def provider_in(texts: Iterable[str]) -> str:
    """The provider that the first of the texts which names any names alone; "" for none or several."""
    keys = next(filter(None, map(_providers, texts)), frozenset())
    return next(iter(keys)) if len(keys) == 1 else ""


@lru_cache(maxsize=4096)
def _providers(text: str) -> frozenset[str]:
    return frozenset(item.key for item in link(normalise(text)) if item.kind == "provider")


def alike(columns: Sequence[PriceColumn]) -> list[PriceColumn]:
    """Columns that say exactly what another one says, so that nobody knows which is which."""
    said = [column.says for column in columns]
    return [column for column in columns if said.count(column.says) > 1]


def _problem(text: str) -> tuple[str, str] | None:
    if BUYING.search(text):
        return "是购买价，不是租用价", "is a price of buying, not of renting"
    if SCALED.search(text):
        return (
            "单位是万元、千元或分，请换算成元",
            "is in tens of thousands, thousands or cents: convert it to whole units",
        )
    if LONG_TERM.search(text):
        return (
            "是包年或预留价，只收按小时和按月的价格",
            "is by the year or reserved: only prices by the hour and month are taken",
        )
    by_card_and_month = PER_CARD.search(text) and (re.search(rf"{PER}\s*{MONTH}", text) or MONTHLY_WORD.search(text))
    if OTHER_PERIOD.search(text) or by_card_and_month:
        return "不是按小时、按月或按卡时计价", "is not by the hour, month or GPU-hour"
    return None


def _billing(text: str) -> tuple[str, str]:
    """The one billing word of a heading, and the heading without any."""
    found = [key for key, words in BILLING if re.search(words, text)]
    for _, words in BILLING:
        text = re.sub(words, " ", text)
    return (found[0] if len(found) == 1 else ""), text


def _unexplained(text: str) -> str:
    """What is left of a heading when price words, units and currencies are taken out."""
    for _, words in (*PERIODS, *CURRENCIES):
        text = re.sub(words, " ", text)
    text = re.sub(rf"{HOUR}|{MONTH}|小时|\bhour|\bh\b", " ", PRICE.sub(" ", text))
    return FILLER.sub("", text)
