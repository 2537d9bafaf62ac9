"""How many people a question says: 五个人, 5 of us, three students, 我和两个同学 (three), split four ways.

Counts heads only; what they share or use, the caller decides.
"""

from __future__ import annotations

import re

from assistant.numerals import fold, read_number
from knowledge.names import normalise

MOST_PEOPLE = 100_000
HEADS = re.compile(
    r"\s*(?:个|名|位)?\s*(?:人(?![民工次数均])|同学|学生|本科生|研究生|博士生?|老师|同事|朋友|哥们|兄弟|队友|组员|成员|室友|伙伴|账号|帐号)|"
    r"\s+(?:of (?:us|them|you)|people|persons?|friends?|students?|grad students|phd students|colleagues?|coworkers?|roommates?|teammates?|members?|researchers?|"
    r"engineers?|developers?|devs|guys|accounts?|folks|ways)(?![a-z])"
)
BESIDES_ME = re.compile(
    r"(?:(?<![a-z])(?:me|myself|i)\s+(?:and|plus|with)\s+(?:my\s+)?|我\s*(?:和|跟|与|加上?|同|带着?)\s*(?:另外?)?)$"
)
ALONE = re.compile(r"我们俩|咱俩|我俩|(?<![a-z])(?:both of us|the two of us)(?![a-z])")


def people(text: str) -> int | None:
    """The first number of people said, the speaker included where others are counted beside him; None where none is."""
    folded = fold(normalise(text)).text
    at = 0
    while at < len(folded):
        number = read_number(folded, at) if not (at and folded[at - 1].isalnum() and folded[at].isascii()) else None
        if number is None:
            at += 1
            continue
        if HEADS.match(folded, number.end) and number.style != "article" and number.low == int(number.low):
            heads = int(number.low) + bool(BESIDES_ME.search(folded[:at]))
            return heads if 1 <= heads <= MOST_PEOPLE else None
        at = max(number.end, at + 1)
    return 2 if ALONE.search(folded) else None
