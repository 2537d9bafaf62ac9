"""Words that say which purchase price is meant: a shop's listing (美亚挂牌价), the price at launch (首发定价, MSRP).

Word lists only; the rows stand in purchases.csv, whose `market` column the words lead to.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.reading import Reading

LISTING, LAUNCH = ("street",), ("launch-price", "launch-price-approximate")
SHOP = re.compile(
    r"美亚|亚马逊(?:商城|网站|官网|购物|电商|自营|美国站|(?:美国)?站上|店|(?:上|平台)?(?:的)?(?:挂|在?卖|上架|零售|下单|售))|"
    r"amazon(?:\.com|'s (?:store|shop|retail|price)| (?:us )?(?:store|shop|listings?|listed|marketplace|retail))|"
    r"(?<![a-z])amazon (?:lists?|sells?|asks)(?![a-z])|(?:listed|listing|sell(?:s|ing)?|sold|asking|buy|street price)[^,.;?]{0,40} (?:on|at|from|by) amazon(?! (?:web|ec2|cloud))",
    re.I,
)
CLOUD_NAMED = re.compile(r"(?<![a-z])(?:aws|ec2|amazon web services)(?![a-z])|亚马逊云", re.I)
NO_CLOUD = re.compile(r"(?:不是|并非|而?非|not|isn't|rather than|instead of)\s*(?:the )?(?:aws|ec2|amazon web services|亚马逊云)", re.I)  # fmt: skip
FIRST_PRICE = re.compile(
    r"首发|发售价|发售时|发布价|发布时|官方(?:定价|售价|建议)|建议(?:零售)?价|上市(?:价|时)|msrp|(?<![a-z])launch(?:ed)?(?:ing)? (?:price|at|for)|"
    r"(?:price|cost|priced|go for|going for|sell for)[^,.;?]{0,24} (?:at launch|(?:when|the day|back when) [^,.;?]{0,24}(?:launched|released|came out|debuted))|"
    r"(?:when|the day) [^,.;?]{0,24}(?:launched|released|came out|debuted)[^.;?]{0,24}(?:price|cost|priced)|(?:launch|release|introductory) price|list price|suggested retail|"
    r"(?:刚出|发布|上市|发售|推出|出来)(?:来)?(?:那会儿?|的?时候?|那时|当时)[^,，。;；?？]{0,8}(?:价|多少钱|卖)",
    re.I,
)
# All that a follow-up to another price says: "and at launch?", 刚出的时候呢.
ONLY_LAUNCH = re.compile(
    r"\W*(?:(?:and|what about|how about|那么?)\s*)?(?:(?:back )?(?:at launch|when (?:it|that one|this one) (?:was )?(?:launched|came out|released))|"
    r"(?:它|这卡)?(?:当初|当年)?刚?(?:出|发布|上市|发售|推出|首发)来?(?:那会儿?|的?时候?|那时|当时))(?: then|呢)?\W*",
    re.I,
)


def markets_asked(question: str) -> tuple[str, ...]:
    """Values of the `market` column that the words ask for; empty where they ask for no certain one."""
    if ONLY_LAUNCH.fullmatch(question):
        return LAUNCH
    return LISTING if SHOP.search(question) else LAUNCH if FIRST_PRICE.search(question) else ()


def of_a_shop(question: str) -> bool:
    """Whether Amazon the shop is meant, not the cloud of that name."""
    return bool(SHOP.search(question)) and (not CLOUD_NAMED.search(question) or bool(NO_CLOUD.search(question)))


def without_shop(reading: Reading) -> Reading:
    """The reading without the cloud whose name is that of the shop."""
    s = reading.slots
    if "aws" not in s.providers or not of_a_shop(reading.text):
        return reading
    return replace(reading, slots=replace(s, providers=tuple(p for p in s.providers if p != "aws"), pairs=()))
