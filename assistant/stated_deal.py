"""What the user states of a deal: a purchase price beside a rent, a discount, machines that stand by; told apart by words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant.quantity import Quantity
from assistant.workload_words import OWNS

MOST_RENT = 1000  # of a GPU hour; more is a purchase price
LEAST_BUDGET = 500
LEAST_CARD_PRICE = 1000
MOST_STANDBY = 64
LIMITED = re.compile(
    r"(?:不超过?|别超过?|低于|少于|不到|控制在|最多|上限|每[个]?月|每年|每天|预算|手[里头]有|total of|at most|no(?:t)? more than|up to|under|below|per month|a month|monthly)\s*(?:是|为|of|:|：)?\s*$"
)
LIMIT_BEHIND = re.compile(
    r"\s*(?:左右|上下)?\s*(?:以内|以下|之内|的?预算|[一每/]个?[月年]|per (?:month|year)|a (?:month|year)|in all|in total|能租|够租|可以租)"
)
WANTED = re.compile(
    r"(?:想|要|打算|准备|考虑|计划)(?:自己)?买[^,，。;；?？预]{0,24}[,，]?\s*(?:要|价格?|报价|卖|是|大概|差不多)?\s*$|(?<![a-z])(?:want|plan|going|thinking)[^,.?]{0,12} (?:to buy|of buying|buying) [^.?]{0,30}(?:for|at|costs?|priced at|is|,)\s*[$¥]?$"
)
ENDS = re.compile(r"\s*(?:元|块钱?|左右|一张|每张|each)?\s*[。.！!]?\s*")
# "How long would 5,000 last": what can last is money.
LASTS = re.compile(
    r"(?<![a-z])how (?:long|many (?:hours|days|weeks|months))(?![a-z])[^.?]{0,12}(?<![a-z])(?:would|will|do|does|can|could|is)(?![a-z])[^.?]{0,40}(?:\d\s*(?:last|get|go|buy|rent|keep|run)|(?:last|run|use|rent|go|keep|afford)[^.?]{0,30}(?<![a-z])(?:on|with|for) [$\d])|"
    r"\d\s*(?:[万千k]\s*)?(?:能|够|可以|可)?(?:用|撑|跑|租|顶|玩|开)(?:得了|得起|得|上)?\s*(?:多久|多长时间|几天|几个?(?:小时|月)|多少(?:天|小时))",
    re.I,
)
BOUGHT_BEFORE = re.compile(
    r"买|购|入手|拿下|卡价|到手|(?<![a-z])(?:buy|buying|bought|purchase|paid|pay|get|got|costs?|priced|own(?:ing)?)(?![a-z])"
)
BOUGHT_BEHIND = re.compile(
    r"\s*(?:元|块钱?)?(?:左右|上下)?\s*(?:就|才)?(?:能|可以?)?(?:买[到下得的了]?|入手|拿下|拿到|到手|收[到的了]?)(?![^,，。;；]{0,10}(?:吗|么|嘛|几|多少|哪))|"
    r"\s*(?:yuan|cny|rmb|usd|dollars?)?\s*(?:to buy|each to buy|new|outright|retail)(?![a-z])"
)
# What may stand behind an amount without a unit; anything else is what is counted.
FREE = re.compile(
    r"\s*(?:$|[，,。.;；?？!！)）]|左右|上下|以内|以下|之内|内|的?预算|[一每/]个?[月年天周]|per |a |in (?:all|total)|total|over |for |to |last|能|够|可以|可|用|撑|跑|租|买)"
)
BOUGHT = re.compile(
    r"买价|购价|单价|卡价|购买价|售价|每张|一张|每块|单卡|整机|(?<![a-z])(?:buy(?:ing)?(?: price)?|purchase(?: price)?|price|each|per card|per gpu)(?![a-z])|买"
)
RENTED = re.compile(r"租金|租价|租|(?<![a-z])rent(?:al|ing|ed)?(?![a-z])")
EACH = re.compile(
    r"每[张块卡]|一[张块]|单卡|单价|卡价|(?<![a-z])(?:each|per (?:card|gpu)|apiece|a card)(?![a-z])|/\s*(?:card|gpu|张|卡)"
)
# 打 85 折 pays 0.85 of the price, 打八折 0.8; "20% off" pays 0.8. 折合, 折算 and 折旧 are other words.
ZH_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
OFF_ZH = re.compile(
    r"(?P<digits>\d{1,2}(?:\.\d{1,2})?|[一二两三四五六七八九]{1,2})\s*折(?![合算旧叠线损])|(?P<half>打?[对半]折|半价)"
)
OFF_EN = re.compile(
    r"(\d{1,2}(?:\.\d+)?)\s*(?:%|percent|per cent)\s*(?:off(?![- ]?peak)(?![a-z])|(?:price )?(?:discount|reduction|rebate))|"
    r"(?:discount|rebate)(?: of| is|:)?\s*(\d{1,2}(?:\.\d+)?)\s*(?:%|percent)|(?<![a-z])(?P<half>half (?:off|(?:the )?price))",
    re.I,
)
OFF_ZH_PERCENT = re.compile(r"(?:优惠|折扣|减免|立减|降价?)\s*(?:了|是|为)?\s*(\d{1,2}(?:\.\d+)?)\s*%")
NO_DISCOUNT = re.compile(
    r"(?:不|没有?|去掉|取消|不算|别)(?:打|算|要|给)?折(?:扣)?(?![合算旧叠线损])|(?:按|用)?原价|without (?:the |any |a )?discount|no discount|(?:at |the )?(?:full|list|undiscounted) price",
    re.I,
)
DISCOUNTS = (OFF_ZH, OFF_EN, OFF_ZH_PERCENT, NO_DISCOUNT)
# What is said around a discount and means no more than it.
GETTING = re.compile(
    r"谈[到下]来?|拿[到下]|争取到?|能|可以|可|给我们?|他们|对方|销售|客户经理|商务|厂商|打|享受?|有|后|以后|之后|"
    r"(?<![a-z])(?:i|we|get|gets|got|they|give|gives|gave|us|offers?|offered|negotiated?|there|is|apply|applying|after|assume|assuming|suppose|can|could)(?![a-z])",
    re.I,
)
# A machine more than the work takes: 再备一台, 外加一台备用, "plus one spare"; "of them one is spare" is within the number.
STANDBY_BEFORE = re.compile(r"备\s*(?:用|份)?\s*(?:了|上|个)?$|(?:冗余|spare|stand-?by|backup)\s*(?:of)?\s*$", re.I)
ONE_MORE = re.compile(r"(?:再|另外?|还要?|额外|外加)\s*备\s*(?:用|份)?\s*(?:了|上|个)?\s*$")  # a message of its own
STANDBY_BEHIND = re.compile(
    r"\s*(?:(?:来|做|当|作为?)?\s*(?:备用|备机|备份|备着|冗余)|(?:for |as |on )?(?:an? )?(?:spare|stand-?by|backup))",
    re.I,
)
MORE = re.compile(
    r"(?:再|另外?|外加|加上?|额外|多|plus|and|another|with|[+,，、;；])\s*(?:留|备|要|开|租|加|配|an?)?\s*$", re.I
)
ONE_SPARE = re.compile(
    r"(?:plus|and|with|[+,])\s+(?P<number>an?|one|two|three)\s+(?:\w+ )?(?:spare|stand-?by|backup|hot spare)s?(?![a-z])",
    re.I,
)
SPARES = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}
WITHIN = re.compile(r"其中|里面|of (?:them|which|these)", re.I)


@dataclass(frozen=True)
class StatedDeal:
    """What buying was said to cost (one card's price where `per_card`), and the rent of a GPU hour where no hour was said."""

    price: Quantity | None = None
    per_card: bool = False
    rent: Quantity | None = None


def stated_deal(text: str, quantities: Sequence[Quantity]) -> StatedDeal:
    """Each amount goes to the nearest word before it; nothing where buying and renting are not both said."""
    lowered = text.lower()
    price = rent = None
    each = False
    if paid := _beside_a_rent(lowered, quantities):
        return StatedDeal(paid, bool(EACH.search(lowered[: paid.start])), None)
    for q in quantities if OWNS.search(lowered) else ():
        if q.kind != "money" or q.value <= 0:
            continue
        before = lowered[
            max((p.end for p in quantities if p.kind.startswith("money") and p.end <= q.start), default=0) : q.start
        ]
        bought = max((m.end() for m in BOUGHT.finditer(before)), default=0)
        rented = max((m.end() for m in RENTED.finditer(before)), default=0)
        if rented > bought and q.value < MOST_RENT:
            rent = rent or q
        elif bought > rented and q.value >= Decimal(100) and price is None:
            price, each = q, bool(EACH.search(before[-12:]) or EACH.match(lowered[q.end :].lstrip()))
    if price is None and (own := _to_be_bought(lowered, quantities)):
        return StatedDeal(own, bool(EACH.search(lowered[: own.start])), None)
    return StatedDeal(price, each, rent)


def _beside_a_rent(text: str, quantities: Sequence[Quantity]) -> Quantity | None:
    """The one amount without a currency that a purchase takes, where a rent per hour is told too: 两万能买到，租是2.5一小时."""
    rents = [q for q in quantities if q.kind == "money_per_hour" and q.value > 0]
    amounts = [
        q for q in quantities if q.kind == "money" or (q.kind == "bare" and not q.unit and q.value >= LEAST_CARD_PRICE)
    ]
    if len(rents) != 1 or len(amounts) != 1 or amounts[0].value < LEAST_CARD_PRICE:
        return None
    q = amounts[0]
    clause = re.split(r"[,，。;；?？]|(?<![a-z])(?:and|but|or|while)(?![a-z])", text[: q.start])[-1]
    bought = (BOUGHT_BEFORE.search(clause) and not RENTED.search(clause)) or BOUGHT_BEHIND.match(text[q.end :])
    return replace(q, kind="money", currency=q.currency or rents[0].currency) if bought else None


def _to_be_bought(text: str, quantities: Sequence[Quantity]) -> Quantity | None:
    """The one amount right behind a thing that is to be bought, as its price: 我想买张 4090，一万六."""
    amounts = [
        q
        for q in quantities
        if q.kind.startswith("money") or (q.kind == "bare" and not q.unit and q.value >= LEAST_CARD_PRICE)
    ]
    if len(amounts) != 1 or amounts[0].kind == "money_per_hour" or amounts[0].value < LEAST_CARD_PRICE:
        return None
    q = amounts[0]
    return q if WANTED.search(text[: q.start]) and ENDS.fullmatch(text[q.end :]) else None


def with_budget(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """The quantities with a large bare number as money where only a budget can be meant: 不超过 5 万, 2 万一个月能租几张."""
    money = any(q.kind.startswith("money") for q in quantities)
    return list(quantities) if money else [_as_money(text, q) for q in quantities]


def paid_share(text: str) -> Decimal | None:
    """The share of the price that a stated discount leaves to pay (打 85 折: 0.85; "20% off": 0.8); None without one."""
    if found := OFF_ZH.search(text):
        return Decimal("0.5") if found["half"] else _tenths(found["digits"])
    if found := OFF_EN.search(text):
        return Decimal("0.5") if found["half"] else _left(found[1] or found[2])
    found = OFF_ZH_PERCENT.search(text)
    return _left(found[1]) if found else None


def shares_of_lines(text: str, cards: Sequence[tuple[int, int]]) -> tuple[Decimal | None, ...]:
    """The share left to pay of each card of an order, by where the cards stand; None where one discount is for all.

    A discount belongs to the card before it, "八折的 4090" to the one behind; one at the beginning or the end is for all.
    """
    said = sorted((m.start(), m.end(), said_share(m.group()) or Decimal(1))
                  for m in (match for pattern in DISCOUNTS for match in pattern.finditer(text)))  # fmt: skip
    owners = {_owner(text, start, end, cards): share for start, end, share in said}
    if len(said) == 1 and next(iter(owners)) in (-1, len(cards) - 1):
        return (None,) * len(cards)
    return tuple(owners.get(at) for at in range(len(cards)))


def _owner(text: str, start: int, end: int, cards: Sequence[tuple[int, int]]) -> int:
    """Which card a discount is said of: the last that begins before it, or the next where it stands right before that."""
    before = max((at for at, (begins, _) in enumerate(cards) if begins < start), default=-1)
    behind = before + 1 < len(cards) and re.fullmatch(
        r"\s*(?:的|on|for)?\s*(?:the\s*)?", text[end : cards[before + 1][0]]
    )
    return before + 1 if behind else before


def said_share(text: str) -> Decimal | None:
    """The share left to pay as one message says it; 1 where a discount is taken back (不打折呢, "at full price")."""
    return paid_share(text) or (Decimal(1) if NO_DISCOUNT.search(text) else None)


def discount_spans(text: str) -> list[tuple[int, int]]:
    """Where discounts are said."""
    return [match.span() for pattern in DISCOUNTS for match in pattern.finditer(text)]


def without_getting(rest: str) -> str:
    """The rest of a text around a discount without the words of being given one: "if they give us" says nothing else."""
    return GETTING.sub(" ", rest)


def _tenths(written: str) -> Decimal | None:
    """85, 8.5, 八五 and 八折 as shares: a number below ten counts tenths, a larger one hundredths."""
    digits = written if written[0].isdigit() else "".join(str(ZH_DIGITS[letter]) for letter in written)
    value = Decimal(digits) / (10 if Decimal(digits) < 10 else 100)
    return value.normalize() if 0 < value < 1 else None


def _left(percent: str) -> Decimal | None:
    value = 1 - Decimal(percent) / 100
    return value.normalize() if 0 < value < 1 else None


def with_standby(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """The quantities with a machine that stands by as one more of those counted before it: 两台，再备一台.

    One that is among those counted (其中一台备用) counts nothing of its own.
    """
    found: list[Quantity] = []
    for q in quantities:
        counted = any(other.kind == "count" and not other.delta for other in found)
        if not (counted and _may_stand_by(q)):
            more = q.kind == "count" and _may_stand_by(q) and ONE_MORE.search(text[max(0, q.start - 14) : q.start])
            found.append(replace(q, delta=True) if more else q)
        elif not _is_within(text, q):
            found.append(replace(q, kind="count", delta=True) if _stands_by(text, q) else q)
    spare = ONE_SPARE.search(text)
    if spare and any(q.kind == "count" for q in found) and not any(q.delta for q in found):
        value = Decimal(SPARES[spare["number"].lower()])
        found.append(Quantity("count", value, "", spare["number"], *spare.span("number"), delta=True))
    return found


def _may_stand_by(q: Quantity) -> bool:
    whole = q.value == q.value.to_integral_value() and 1 <= q.value <= MOST_STANDBY
    return whole and not q.delta and q.kind in ("count", "bare")


def _is_within(text: str, q: Quantity) -> bool:
    return bool(WITHIN.search(text[max(0, q.start - 14) : q.start]) and STANDBY_BEHIND.match(text[q.end :]))


def _stands_by(text: str, q: Quantity) -> bool:
    before, behind = text[max(0, q.start - 14) : q.start], text[q.end :]
    return bool(STANDBY_BEFORE.search(before) or (MORE.search(before) and STANDBY_BEHIND.match(behind)))


def _as_money(text: str, q: Quantity) -> Quantity:
    limited = LASTS.search(text) or LIMITED.search(text[: q.start].lower()) or LIMIT_BEHIND.match(text[q.end :].lower())
    free = FREE.match(text[q.end :].lower())
    meant = q.kind == "bare" and not q.unit and q.value >= LEAST_BUDGET and limited and free
    return replace(q, kind="money") if meant else q
