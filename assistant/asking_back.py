"""Asks which card is meant where the words only hint at one: "那个T什么的卡", "那个国产卡", "the A-something card".

One question with the choices of the catalogue in it; it answers nothing else and takes no card for granted.
"""

from __future__ import annotations

import re

from assistant import render
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.names import normalise

MOST_CHOICES = 6
HINTED = re.compile(
    r"(?<![A-Za-z0-9])(?P<letter>[A-Za-z])\d?(?:\s*(?:什么|啥|几几?|多少来着|某)|[- ]?(?:something|whatever|what'?s[- ]it))(?!\s*[a-z]{4,})",
    re.I,
)
CHINESE_CARD = re.compile(r"国产(?:的)?(?:显?卡|gpu|加速卡|芯片)|(?:chinese|domestic) (?:gpu|card|accelerator)", re.I)
ASKS = re.compile(r"多少|价|租|买|显存|几|能|贵|便宜|price|cost|how much|rent|buy|memory|fit", re.I)
CHINESE_VENDORS = frozenset(
    {"Huawei", "Cambricon", "Hygon", "Moore Threads", "Biren", "Iluvatar", "MetaX", "Enflame", "Kunlunxin"}
)


def which_card(request: Request, book: Ledger) -> Finding | None:
    """The question back, with choices; None where a card is named or nothing hints at one."""
    s, text = request.slots, normalise(request.question)
    if s.gpus or s.models or s.parameters_b or s.unknown or s.instances or not ASKS.search(text):
        return None
    if hint := HINTED.search(text):
        choices = _called(hint["letter"].upper(), book)
    elif CHINESE_CARD.search(text) and "chooses" not in request.aspects:
        choices = [gpu.name for gpu in book.catalog.gpus if gpu.vendor in CHINESE_VENDORS]
    else:
        return None
    if not choices:
        return None
    named = render.joined(list(dict.fromkeys(choices))[:MOST_CHOICES], book.language)
    return book.finding("needs_detail", book.say(
        f"请问你指的是哪一款卡？知识库里符合的有：{named}。告诉我型号，我再查它的价格或规格。",
        f"Which card do you mean? The knowledge base has these that match: {named}. Tell me the one, and I look up its price or figures."))  # fmt: skip


def _called(letter: str, book: Ledger) -> list[str]:
    """Cards whose short name begins with a letter, those with prices in the reader's table first."""
    priced = [offer.gpu for offer in book.catalog.find_offers([])]
    named = [*priced, *(family for gpu in book.catalog.gpus for family in gpu.families)]
    return [name for name in dict.fromkeys(named) if re.match(rf"{letter}\d", name)]
