"""How people speak of the reference servers and their parts, and whether a turn goes on about one.

Word lists only: it reads no row and answers nothing.
"""

from __future__ import annotations

import re

from assistant.kind_words import REFERENCE_SERVER
from assistant.numerals import fold
from assistant.reading import Reading
from assistant.remembered import linked

CARD = re.compile(r"(?<![a-z0-9])(?:[ah][18]00|420gp|821ge)(?:-tn[ah]r)?(?![a-z0-9])")
# Beside the names that REFERENCE_SERVER knows: "the recommended H800 box", H800那套推荐服务器.
RECOMMENDED = re.compile(
    r"(?:推荐|文章[里中]?)的?.{0,8}(?:服务器|整机|配置)|(?:recommended|suggested|supermicro|article(?:'s|s)?) .{0,12}(?:servers?|box(?:es)?|machines?|builds?)(?![a-z])"
)
# part -> words that ask for it, over folded lower-case text
PARTS = {
    "CPU": re.compile(r"cpu(?!\s*(?:的)?(?:主频|频率|核))|处理器(?!核)|processors?(?! cores?)"),
    "core": re.compile(r"核(?!显)|(?<![a-z])cores?(?![a-z])"),
    "clock": re.compile(r"主频|基频|睿频|超频|加速频率|频率|(?<![a-z])(?:g ?hz|clocks?|clocked|boost|turbo|base (?:n|and|&|freq|speed))(?![a-z])"),
    "U": re.compile(r"[几多]少?\s?u(?![a-z])|u数|机箱|高度|多高|(?<![a-z])(?:how (?:tall|high)|height|rack (?:units?|space)|how many (?:rack )?(?:units|us?))(?![a-z])"),
    "memory": re.compile(r"内存|ddr|(?<![a-z0-9])d[345](?![a-z0-9])|(?<![a-z])(?:rams?|dimms?|(?:memory|ram) (?:modules|sticks)|memory)(?![a-z])"),
    "platform": re.compile(r"平台|机箱|底座|(?<![a-z])(?:platform|chassis|barebone)(?![a-z])"),
}  # fmt: skip
SHORT_MEMORY = re.compile(r"(?<![a-z0-9])d[345](?![a-z0-9])")  # D5: DDR5
OF_CARDS = re.compile(r"显存|带宽|算力|功耗|flops|vram|bandwidth|(?<![a-z])(?:tdp|gpu memory)(?![a-z])")
OF_SERVER = re.compile(r"服务器|机器|[那这][台套]|(?<![a-z])(?:servers?|box(?:es)?|machines?|builds?|ones?)(?![a-z])")


def names_server(text: str) -> bool:
    """Whether a folded text speaks of a reference server."""
    return bool(REFERENCE_SERVER.search(text) or (CARD.search(text) and RECOMMENDED.search(text)))


def parts_asked(text: str) -> tuple[str, ...]:
    """The parts of a server that a folded text asks for; none where it asks for figures of cards."""
    if OF_CARDS.search(text):
        return ()
    return tuple(part for part, words in PARTS.items() if words.search(text))


def goes_on_about_server(before: str, now: Reading) -> bool:
    """Whether a turn asks for parts of the server that the turn before was about, naming no other subject."""
    text, slots = fold(now.text).text, now.slots
    other = slots.providers or slots.models or slots.money or slots.periods or slots.parameters_b or slots.methods
    if other or names_server(text) or not names_server(fold(before).text):
        return False
    cards = any(item.kind == "gpu" for item in linked(now.text))  # what "those" points at is no card named here
    of_server = CARD.search(text) and OF_SERVER.search(text)
    return bool(parts_asked(text)) and (not cards or bool(of_server))
