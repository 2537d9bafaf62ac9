"""The words of the price list in both languages: headings with units, markets, ages, what a row's cells are called."""

from __future__ import annotations

from dataclasses import dataclass

from assistant.evidence import Bilingual, Language
from assistant.price_tables import FLAGS, PRICING_MODELS
from knowledge.offer_filter import SortKey
from knowledge.offers import Staleness

NOT_STATED = Bilingual(zh="未注明", en="not stated")
UNDATED = Bilingual(zh="未注明日期", en="undated")
AGE = Bilingual(zh="{days} 天前", en="{days} days old")
STALENESS: dict[Staleness, Bilingual] = {
    "fresh": Bilingual(zh="较新", en="recent"),
    "ageing": Bilingual(zh="偏旧", en="ageing"),
    "stale": Bilingual(zh="已过时", en="stale"),
    "undated": UNDATED,
}
PER = {
    "instance-hour": Bilingual(zh="每实例·小时", en="per instance-hour"),
    "instance-month": Bilingual(zh="每实例·月（730 小时）", en="per instance-month (730 h)"),
}
SLICE = Bilingual(zh="切片 {share}", en="slice {share}")
MARKETS = {
    "launch-price": Bilingual(zh="发售建议价", en="launch price"),
    "launch-price-approximate": Bilingual(zh="发售价（约数）", en="launch price, rounded"),
    "street": Bilingual(zh="街价，可能二手或翻新", en="street price, may be used or renewed"),
    "street-estimate": Bilingual(zh="街价估计，每系列一个数", en="estimated street price, one per family"),
    "data-centre": Bilingual(zh="数据中心卡（讲义）", en="data-centre card (handout)"),
    "enterprise-graphics": Bilingual(zh="企业级图形卡（讲义）", en="enterprise graphics card (handout)"),
    "enterprise-inference": Bilingual(zh="企业级推理卡（讲义）", en="enterprise inference card (handout)"),
    "consumer": Bilingual(zh="消费级卡（讲义）", en="consumer card (handout)"),
}
OTHER_FLAGS = {
    "from-price-per-gpu": Bilingual(zh="由每卡价乘卡数得出", en="price per GPU times the number of GPUs"),
    "unusual-price": Bilingual(zh="价格异常，导入时放行", en="unusual price, let through at import"),
}


@dataclass(frozen=True)
class Heading:
    """A column: its words with the unit, what it sorts by (None = not sortable), and whether it holds numbers."""

    key: str
    words: Bilingual
    sort: SortKey | None = None
    numeric: bool = False


RENTAL_HEADINGS = (
    Heading("gpu", Bilingual(zh="GPU", en="GPU"), "gpu"),
    Heading("provider", Bilingual(zh="云厂商", en="Provider"), "provider"),
    Heading("per-gpu-hour", Bilingual(zh="每卡每小时", en="Price per GPU-hour"), "per-gpu-hour", numeric=True),
    Heading("currency", Bilingual(zh="币种", en="Currency"), "currency"),
    Heading("pricing-model", Bilingual(zh="计费方式", en="Pricing model"), "pricing-model"),
    Heading("date", Bilingual(zh="价格日期", en="Price date"), "date"),
    Heading("form", Bilingual(zh="形态", en="Form"), "form"),
    Heading("memory", Bilingual(zh="显存（GB/卡）", en="GPU memory (GB per card)"), "memory", numeric=True),
    Heading("count", Bilingual(zh="卡数", en="Cards"), "count", numeric=True),
    Heading("region", Bilingual(zh="地域", en="Region"), "region"),
    Heading("price", Bilingual(zh="标价", en="Quoted price"), "price", numeric=True),
    Heading("per", Bilingual(zh="标价单位", en="Quoted per")),
    Heading("cpu", Bilingual(zh="CPU（核或 vCPU）", en="CPU (cores or vCPU)"), "cpu", numeric=True),
    Heading("host-memory", Bilingual(zh="主机内存（GiB）", en="Host memory (GiB)"), "host-memory", numeric=True),
    Heading("source", Bilingual(zh="来源", en="Source"), "source"),
)
PURCHASE_HEADINGS = (
    Heading("gpu", Bilingual(zh="GPU", en="GPU"), "gpu"),
    Heading("price", Bilingual(zh="单卡价格", en="Price of one card"), "per-gpu-hour", numeric=True),
    Heading("currency", Bilingual(zh="币种", en="Currency"), "currency"),
    Heading("market", Bilingual(zh="哪种价格", en="Kind of price"), "pricing-model"),
    Heading("date", Bilingual(zh="价格日期", en="Price date"), "date"),
    Heading("form", Bilingual(zh="形态", en="Form"), "form"),
    Heading("memory", Bilingual(zh="显存（GB/卡）", en="GPU memory (GB per card)"), "memory", numeric=True),
    Heading("source", Bilingual(zh="来源", en="Source"), "source"),
)


def converted_heading(currency: str, what: Bilingual) -> Heading:
    """The column of converted amounts."""
    return Heading("converted", Bilingual(zh=f"≈ {currency}，{what.zh}", en=f"≈ {currency} {what.en}"), numeric=True)


def pricing_model(key: str, language: Language) -> str:
    """按需 / on demand; a key that there are no words for is shown as it is."""
    zh, en = PRICING_MODELS.get(key, (key, key))
    return zh if language == "zh" else en


def flag(key: str, language: Language) -> str:
    """What a flag of a row says; one that there are no words for is shown as it is."""
    if key in OTHER_FLAGS:
        return OTHER_FLAGS[key][language]
    zh, en = FLAGS.get(key, (key, key))
    return zh if language == "zh" else en


def market(key: str, language: Language) -> str:
    """What kind of purchase price it is."""
    return MARKETS[key][language] if key in MARKETS else key
