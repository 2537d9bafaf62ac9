"""Answers about the bill of copies of a service: so many replicas and spares of so many cards each, for a time at a cloud.

The number of copies is the reader's; how many a load takes is worked out in replicas.py and copy_loads.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from assistant import costs, render
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.numerals import fold
from assistant.understand import Request
from knowledge.names import link, normalise

WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10,
         "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "八": 8, "十": 10}  # fmt: skip
NUMBER = r"(\d{1,4}|(?<![a-z])(?:one|two|three|four|five|six|eight|ten)(?![a-z])|[一两二三四五六八十])"
COPY = r"(?:副本|实例|节点|replicas?(?![a-z])|cop(?:y|ies)(?![a-z])|pods?(?![a-z])|instances?(?![a-z]))"
CARD = r"\s*(?:张|块|片|个|x|×)?\s*(?:卡|gpus?(?![a-z])|cards?(?![a-z])|\x00)"
ONE_COPY = rf"(?:(?:每|单|一)\s*个?\s*{COPY}|(?<![a-z])(?:each|every|one|per|a|single)\s+(?:of the |of them |of these )?{COPY})"
CARDS_OF_EACH = (
    re.compile(rf"{ONE_COPY}[^\d,，.。;；?？]{{0,24}}?{NUMBER}{CARD}"),
    re.compile(rf"{NUMBER}{CARD}\s*(?:each|apiece|a piece|for each|(?:per|a|for (?:one|each)|to (?:a|each)|in each) {COPY}|(?:一|每)个?{COPY})"),
    re.compile(rf"(?:replicas|copies|pods|instances)\s+(?:of|with|on)\s+{NUMBER}{CARD}"),
    re.compile(rf"{COPY}\s*[,，]?\s*(?:each|每个|各)[^\d,，.。;；?？]{{0,12}}?{NUMBER}{CARD}"),
)  # fmt: skip
COPIES = re.compile(
    rf"{NUMBER}\s*(?:个|份)?\s*{COPY}|{COPY}\s*(?:数量?|个数|count)?\s*(?:要|需要?|一?共|是|为|[:=])\s*{NUMBER}(?!\d|{CARD}|\s*[张块片])"
)
SPARE = re.compile(
    rf"(?:plus|and|with|\+|another|,)\s*{NUMBER}\s*(?:more\s*)?(?:as\s|for\s)?(?:an?\s)?(?:\w+\s)?(?:spare|stand-?by|backup|reserve|failover)|"
    rf"(?:再|另外?|外加|加上?|额外|多|[,，+])\s*(?:留|备|要|开|加|配)?\s*(?:了|上)?\s*{NUMBER}\s*(?:个|份|台)?\s*(?:{COPY})?\s*(?:来|做|当|作为?)?\s*(?:备用|备份|备机|备着|热备|冷备|冗余|应急)|"
    rf"(?:再|另外?|额外)\s*备(?:用|份)?\s*{NUMBER}\s*(?:个|份|台)|n\s*\+\s*(\d)"
)
BILL = re.compile(
    r"多少钱|费用|花费|账单|开销|成本|价|(?<![a-z])(?:bill|costs?|price|how much|spend|pay|total|expens\w*)(?![a-z])"
)


@dataclass(frozen=True)
class _Copies:
    """So many copies for the load and so many spares, on so many cards each; `said`: whether the cards were."""

    copies: int
    spare: int
    cards: int
    said: bool


def copy_bill(request: Request, book: Ledger) -> Finding | None:
    """What all copies cost together; None where no number of copies, no card or no bill is asked for."""
    s = request.slots
    if (
        not (s.gpus and (s.periods or s.hours_per_day))
        or s.unknown
        or s.items
        or not BILL.search(_plain(request.question))
    ):
        return None
    found = _copies(_plain(request.question)) or _copies(f"{_plain(request.earlier)}; {_plain(request.question)}")
    if found is None:
        return None
    result = book.compute("replicas_needed", rate_per_user=found.copies, rate_per_replica=1, spare=found.spare, cards=found.cards)  # fmt: skip
    total, cards = int(result.outputs["replicas"]), int(result.outputs["cards"])
    slots = replace(s, count=cards, count_high=None, models=(), parameters_b=(), workloads=())
    bill = costs.cost(replace(request, intent="cost", slots=slots), book)
    if bill.status != "answered":
        return bill
    gpus = render.joined(s.gpus, book.language)
    parts = f"({found.copies:,} + {found.spare:,})" if found.spare else f"{found.copies:,}"
    assumed = (
        "" if found.said else book.say("没说每个副本几张卡，按一张计。", " The cards of one are not said: one each.")
    )
    note = book.say(f"一共 {total:,} 个副本，每个 {found.cards} 张 {gpus}：{parts} × {found.cards} = {cards:,} 张卡。{assumed}",
                    f"{total:,} {'copy' if total == 1 else 'copies'} of {found.cards}× {gpus} each: {parts} × {found.cards} = {render.cards(cards, 'en')}.{assumed}")  # fmt: skip
    return bill.model_copy(update={"markdown": render.paragraphs(bill.markdown, note)})


def _plain(text: str) -> str:
    """The text folded, in lower case, with one mark in the place of each card's name."""
    text = normalise(text)
    for item in sorted((item for item in link(text) if item.kind == "gpu"), key=lambda item: -item.start):
        text = text[: item.start] + "\x00" + re.sub(r"^'?s(?![a-z])", "", text[item.end :])
    return fold(text).text.lower()


def _copies(text: str) -> _Copies | None:
    each = next((match for pattern in CARDS_OF_EACH if (match := pattern.search(text))), None)
    rest = text[: each.start()] + ";" + text[each.end() :] if each else text
    whole = COPIES.search(re.sub(ONE_COPY, " ", rest)) or (COPIES.search(text) if each else None)
    if whole is None:
        return None
    copies, cards = _value(whole[1] or whole[2]), _value(each[1]) if each else 1
    spare = SPARE.search(rest) or SPARE.search(text)
    spares = _value(next(number for number in spare.groups() if number)) if spare else 0
    if copies < 2 and not (each or spares):
        return None
    return _Copies(copies, spares, cards, each is not None) if copies and cards else None


def _value(written: str) -> int:
    return int(written) if written.isdigit() else WORDS[written]
