"""Answers about the free hours and the upgrades of learning platforms: how many hours in a time, how many weeks for a job,
whether the free hours cover what is used, and what the upgrades of several people cost.

The figures of a platform are its row; what a row leaves open (per account, the period of a price) is said, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import HOURS_PER_WEEK, money, number
from assistant.conversion import in_currency
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.people import people
from assistant.quantity import Quantity
from assistant.reading import HOURS_OF_UNIT, read
from assistant.understand import Request
from knowledge.names import link, normalise
from knowledge.platforms import Platform, load_platforms

FREE = re.compile(
    r"免费|白嫖|白用|薅|零预算|零成本|0\s?预算|没有?预算(?![上下]?限|限制|约束|要求)|没钱|不花(?:一分)?钱|一分钱(?:也|都)?不|不想花钱|不掏钱|(?<![a-z])(?:free(?:bie|loading)?|quota|pay a (?:cent|dime|penny)|(?:zero|no) (?:budget|money|cost)|without (?:paying|spending)|"
    r"(?:won't|not|don't want to|refuse to) (?:pay|spend))(?![a-z])|额度|配额",
    re.I,
)
WEEKS_ASKED = re.compile(r"(?:几|多少)个?(?:周|星期|礼拜)|多久|多长时间|how (?:many weeks|long)|(?:number of|weeks) (?:of )?(?:weeks|needed)", re.I)  # fmt: skip
HOURS_ASKED = re.compile(r"(?:几|多少)个?(?:小时|钟头|钟|时长|卡时)|多长时间|how (?:many|much) (?:(?:free|gpu|total|compute|quota|kaggle|colab|t4|p100|of|the|my|its)[' s]*)*(?:hours?|hrs?|time|compute)(?![a-z])", re.I)  # fmt: skip
A_WEEK = re.compile(r"[一每]个?(?:周|星期|礼拜)|(?:a|per|each|every|/) ?(?:week|wk)(?![a-z])|weekly", re.I)
UPGRADES = re.compile(r"升级?|订阅|会员|付费版|开通|买|upgrad|subscri|(?<![a-z])(?:pro|paid|plan|pay|sign(?:ed|ing)? up)(?![a-z])", re.I)  # fmt: skip
SUM_ASKED = re.compile(r"多少|几[刀块元]|一共|总共|合计|how much|total|altogether|(?<![a-z])(?:cost|bill|pay)", re.I)
MOST_WEEK = Decimal(168)


@dataclass(frozen=True)
class _Use:
    """What the question says of the time: hours of work in all, hours of every week or day, weeks."""

    job: Decimal | None
    weekly: Decimal | None
    daily: Decimal | None
    weeks: Quantity | None


def quota(request: Request, book: Ledger) -> Finding | None:
    """The sum over a platform's row; None where no platform is meant or nothing is to be computed."""
    text = normalise(request.question)
    named = _platforms(text)
    if _elsewhere(text):
        return None
    meant = named or _platforms(request.earlier)
    if paid := _upgrades(text, text if named else f"{normalise(request.earlier)} {text}", meant, book):
        return paid
    if in_yuan := _upgrade_in_yuan(request, meant, book):
        return in_yuan
    if not (FREE.search(text) or meant) or (request.slots.unknown and not meant):
        return None
    free = [p for p in (meant or load_platforms()) if p.quota_hours_per_week]
    if not free:
        return None
    return _summed(request, text, free[0], book)


def _summed(request: Request, text: str, platform: Platform, book: Ledger) -> Finding | None:
    """The sum that the times said make with the quota of a platform; None where they make none."""
    use, heads = _use(text), people(text) or 1
    if not set(request.slots.gpus) <= set(platform.gpus):
        return None
    if (use.weekly or use.daily) and not use.weeks and not (WEEKS_ASKED.search(text) and use.job):
        return _covered(platform, use, heads, book)
    if use.weeks and HOURS_ASKED.search(text):
        return _hours(platform, use.weeks, heads, book)
    if use.job and WEEKS_ASKED.search(text):
        return _weeks(platform, use.job, heads, book)
    return None


def _platforms(text: str) -> list[Platform]:
    keys = {item.key for item in link(text) if item.kind == "provider"}
    return [platform for platform in load_platforms() if platform.provider in keys]


def _elsewhere(text: str) -> bool:
    """Whether a cloud that is no learning platform is named: its rows answer."""
    known = {platform.provider for platform in load_platforms()}
    return any(item.kind == "provider" and item.key not in known for item in link(text))


def _use(text: str) -> _Use:
    """The times said, told apart: "20 hours a week" is weekly, "45 hrs of work" is a job, "four weeks" a time."""
    times = [q for q in read(text).quantities if q.kind in ("duration", "hours_per_day") and q.value > 0]
    weekly = next((q for q in times if q.kind == "duration" and q.unit in ("hour", "gpu-hour") and _of_week(text, q)), None)  # fmt: skip
    daily = next((q.value for q in times if q.kind == "hours_per_day" and q.value < 24), None)
    jobs = [q for q in times if q.kind == "duration" and q.unit in ("hour", "gpu-hour") and q is not weekly and not q.rate]  # fmt: skip
    weeks = [q for q in times if q.kind == "duration" and q.unit in ("week", "month", "quarter", "year", "day") and not (q.rate and q.unit in ("week", "day"))]  # fmt: skip
    job = jobs[0].value if jobs else None
    return _Use(job, weekly.value if weekly and weekly.value <= MOST_WEEK else None, daily, weeks[0] if weeks else None)


def _of_week(text: str, q: Quantity) -> bool:
    """Whether hours are said of every week: 每周(大概)用 20 小时, 20 hours a week."""
    before, behind = text[max(0, q.start - 12) : q.start], text[q.end : q.end + 12]
    return bool(re.search(rf"(?:{A_WEEK.pattern})[^\d,，。;；]*$", before, re.I) or re.match(rf"\s*(?:{A_WEEK.pattern})", behind, re.I))  # fmt: skip


def _cited(platform: Platform, book: Ledger) -> tuple[str, str]:
    """The platform's name, and the mark of its row."""
    name = render.name("provider", platform.provider, book.language)
    text = book.say(f"平台 = {name}；GPU = {'、'.join(platform.gpus)}；{platform.remark_zh}", f"platform = {name}; GPUs = {', '.join(platform.gpus)}; {platform.remark_en}")  # fmt: skip
    title = book.say("GPU 学习与训练平台", "GPU platforms for learning and training")
    return name, book.cite("platforms.csv", title, platform.source, [(platform.row, text)])


def _terms(platform: Platform, name: str, heads: int, book: Ledger) -> str:
    """What the row says, and what it leaves open."""
    free = number(platform.quota_hours_per_week or Decimal(0))
    cards = "、".join(platform.gpus) if book.language == "zh" else " and ".join(platform.gpus)
    said = book.say(f"{name} 免费，每周 {free} 小时，可用 {cards}。", f"{name} is free: {free} hours a week, with {cards}.")  # fmt: skip
    each = book.say("文章没写额度按什么计，这里按每人一个账号、每人一份计；", "The article does not say whom the quota is for: one account each is taken. ") if heads > 1 else ""  # fmt: skip
    dated = book.say("额度出自 2023 年的文章，可能已变，用前请到平台核对。", "The quota is that of an article of 2023 and may have changed: check it on the platform.")  # fmt: skip
    return said + book.say("", " ") + each + dated


def _hours(platform: Platform, span: Quantity, heads: int, book: Ledger) -> Finding:
    hours = HOURS_OF_UNIT[span.unit] * span.value
    weeks = money(hours / HOURS_PER_WEEK)
    if span.unit != "week":
        book.compute("period_hours", value=span.value, unit=span.unit)
    result = book.compute("quota_hours", hours_per_week=platform.quota_hours_per_week, weeks=weeks, people=heads)
    name, mark = _cited(platform, book)
    total, long = number(result.value), number(weeks)
    who = book.say(f"，{heads:,} 人" if heads > 1 else "", f" for {heads:,} people" if heads > 1 else "")
    head = book.say(f"**{long} 周{who}最多 {total} 小时免费**{mark}", f"**At most {total} free hours in {long} week{'' if weeks == 1 else 's'}{who}** {mark}")  # fmt: skip
    about = "" if span.unit == "week" else book.say(f"{span.text}合 {long} 周。", f"{span.text} is {long} weeks.")  # fmt: skip
    return book.finding("answered", head + "  \n" + _formula(result.formula, book), about, _terms(platform, name, heads, book))  # fmt: skip


def _weeks(platform: Platform, job: Decimal, heads: int, book: Ledger) -> Finding:
    result = book.compute("quota_weeks", hours=job, hours_per_week=platform.quota_hours_per_week, people=heads)
    name, mark = _cited(platform, book)
    whole, exact = int(result.outputs["whole_weeks"]), number(result.value)
    parts = book.say("" if result.value == whole else f"（合 {exact} 周）", "" if result.value == whole else f" ({exact} weeks)")  # fmt: skip
    head = book.say(f"**至少要 {whole} 周的免费额度**{parts}{mark}", f"**At least {whole} week{'' if whole == 1 else 's'} of the free quota**{parts} {mark}")  # fmt: skip
    return book.finding("answered", head + "  \n" + _formula(result.formula, book), _terms(platform, name, heads, book))


def _covered(platform: Platform, use: _Use, heads: int, book: Ledger) -> Finding:
    """Whether the free hours of a week cover what is used in one; of "30 hours a week, I use 5 a day" the days are the use."""
    free = platform.quota_hours_per_week or Decimal(0)
    name, mark = _cited(platform, book)
    if use.daily:
        result = book.compute("period_hours", value=1, unit="week", hours_per_day=use.daily)
    else:
        result = book.compute("quota_hours", hours_per_week=use.weekly, weeks=1)
    weekly, used = result.value, number(result.value)
    if weekly <= free:
        head = book.say(f"**用 {name} 就够，不用花钱**：每周免费 {number(free)} 小时，你每周约用 {used} 小时{mark}",
                        f"**{name} is enough, for nothing**: {number(free)} free hours a week, and you use about {used} {mark}")  # fmt: skip
    else:
        weeks = book.compute("quota_weeks", hours=weekly, hours_per_week=free)
        head = book.say(f"**{name} 的免费额度不够**：每周免费 {number(free)} 小时，你每周约用 {used} 小时，要 {number(weeks.value)} 份额度{mark}",
                        f"**The free quota of {name} is not enough**: {number(free)} free hours a week, and you use about {used}, {number(weeks.value)} quotas {mark}")  # fmt: skip
    return book.finding("answered", head, _terms(platform, name, heads, book))


def _upgrades(text: str, told: str, meant: Sequence[Platform], book: Ledger) -> Finding | None:
    """What the upgrades of so many people cost, at the price of the row; its period is not stated.

    `told` is the text with the turn before it, where it goes on from that.
    """
    paid = [platform for platform in meant if platform.price and platform.per == "upgrade"]
    heads = people(text)
    if not (paid and heads and heads > 1 and UPGRADES.search(told) and SUM_ASKED.search(told)):
        return None
    platform = paid[0]
    result = book.compute("subscriptions", people=heads, price=platform.price, currency=platform.currency)
    name, mark = _cited(platform, book)
    total = render.amount(result.value, platform.currency, book.language)
    head = book.say(f"**{heads:,} 人的 {name} 升级一共 {total}**{mark}", f"**The {name} upgrade of {heads:,} people: {total} in all** {mark}")  # fmt: skip
    note = book.say("文章没写这个价钱是按月还是一次性的，所以没有乘以月数；价格是 2023 年的，请到平台核对。",
                    "The article does not say whether this is per month or once, so it is not multiplied by months; the price is of 2023: check it on the platform.")  # fmt: skip
    return book.finding("answered", head + "  \n" + _formula(result.formula, book), note)


def _upgrade_in_yuan(request: Request, meant: Sequence[Platform], book: Ledger) -> Finding | None:
    """The price of one upgrade in yuan, asked for with it or in the turn behind it."""
    paid = [platform for platform in meant if platform.price and platform.per == "upgrade"]
    told = f"{normalise(request.earlier)} {normalise(request.question)}"
    others = request.said.gpus or request.said.models or request.said.money
    if len(paid) != 1 or others or "yuan" not in request.aspects or not UPGRADES.search(told):
        return None
    platform = paid[0]
    line = in_currency(platform.price or Decimal(0), platform.currency, "CNY", request, book)
    if not line:
        return None
    name, mark = _cited(platform, book)
    price = render.amount(platform.price or Decimal(0), platform.currency, book.language)
    said = book.say(f"{name} 的升级 {price}{mark}；文章没写这个价钱的周期，价格是 2023 年的，请到平台核对。",
                    f"The {name} upgrade is {price} {mark}; the article does not state the period of the price, which is of 2023: check it on the platform.")  # fmt: skip
    return book.finding("answered", line, said)


def _formula(formula: str, book: Ledger) -> str:
    return render.formula(formula, book.language)
