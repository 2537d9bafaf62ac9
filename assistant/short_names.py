"""A card named by its ending alone, in the light of the card talked about before: "D 版的呢" after the RTX 5090, "and the Ti?".

Rewrites the message with the full name where the tables know such a card; else it leaves it as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.remembered import linked
from knowledge.names import link, normalise

ENDING = r"(?P<ending>ti super|super|ti|d|xtx|xt|ada|blackwell|gre|max)"
ONLY_ENDING = re.compile(
    rf"^(?P<before>\W*(?:(?:那么?|换成?|还有|问下|and|what about|how about|or|then|what of|price of)\W*)*(?:(?:the|a|an)\s+)?)"
    rf"{ENDING}(?![a-z])\s*(?P<noun>版本?|型号?|款|卡|(?:version|edition|variant|one|model|card)s?)?(?P<behind>.*)$",
    re.I | re.S,
)
MOST_WORDS_BEHIND = 24


def spelled_out_each(messages: Sequence[str]) -> list[str]:
    """The messages of a conversation, oldest first, each spelled out in the light of those before it."""
    full: list[str] = []
    for message in messages:
        full.append(spelled_out(message, full))
    return full


def spelled_out(message: str, earlier: Sequence[str]) -> str:
    """The message with the ending replaced by the card's full name, as far as the last card named has such a sibling."""
    text = normalise(message)
    found = ONLY_ENDING.match(text)
    if found is None or len(found["behind"]) > MOST_WORDS_BEHIND or any(x.kind == "gpu" for x in link(text)):
        return message
    for turn in reversed(earlier):
        cards = [item for item in linked(turn) if item.kind == "gpu"]
        if not cards:
            continue
        wanted = f"{cards[-1].key} {found['ending']}"
        sibling = [item for item in link(wanted) if item.kind == "gpu"]
        if len(sibling) == 1 and sibling[0].key != cards[-1].key and sibling[0].end - sibling[0].start == len(wanted):
            return f"{found['before']}{sibling[0].key} {found['behind']}".strip()
        return message
    return message
