"""Comparisons that a sentence makes (A is cheaper than B, A costs twice what B does, A is the cheapest), as values.

Reads Chinese and English wordings; it knows no figures of the evidence and judges nothing.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

from assistant.subjects import NamesIn

Dimension = Literal["price", "speed", "memory", "other"]
RE = re.IGNORECASE | re.ASCII
ADJ_ZH = "贵|便宜|划算|合算|省|高|低|大|小|多|少|快|慢"
MORE = re.compile("贵|高|大|多|快|dearer|pricier|faster|larger|bigger|higher|more|double|twice|triple", RE)
PRICE = re.compile(r"贵|便宜|划算|合算|省|价|元|费|租金|cheap|expensive|dear|pric|cost|\bpay|charg|CNY|USD|yuan", RE)
SPEED = re.compile(r"快|慢|速度|fast|slow|speed|throughput", RE)
MEMORY = re.compile(r"显存|内存|memory|\bRAM\b|VRAM|Gi?B\b", RE)
THAN_ZH = re.compile(
    rf"(?P<x>[^。；;\n]*?)(?<![对相性价之])比(?![较如例特重起])(?P<y>[^，,。；;\n]{{1,40}}?)(?P<adj>{ADJ_ZH})(?P<tail>(?:[^，,。；;\n]|,(?=[0-9]{{3}}))*)"
)
OVER_ZH = re.compile(r"(?P<x>[^。；;\n]*?)(?P<adj>[高低大小多少快慢])于(?P<y>[^，,。；;\n]+)")
NOT_AS_ZH = re.compile(rf"(?P<x>[^。；;\n]*?)不如(?P<y>[^，,。；;\n]{{1,40}}?)(?P<adj>{ADJ_ZH})")
TIMES_ZH = re.compile(
    r"(?P<x>[^。；;\n]*?)(?:是|为|只有|仅为|只要|相当于|等于|约)\s*(?P<y>[^，,。；;\n]{1,30}?)的\s*(?P<times>约?\s*[^，,。；;\n的]{1,8}?倍|一半|[一二三四五六七八九]成)"
)
THAN_EN = re.compile(
    r"(?P<x>[^;\n]*?)\b(?P<adj>cheaper|dearer|pricier|faster|slower|larger|bigger|smaller|higher|lower|more|less|fewer)\b"
    r"(?P<mid>[^;,\n]{0,40}?)\bthan\b(?P<y>(?:[^;,\n]|,(?=[0-9]{3}))*)",
    RE,
)
TIMES_EN = re.compile(
    r"(?P<x>[^;\n]*?)(?P<times>\b(?:half|twice|double|triple)\b|[0-9.]+\s*(?:times|x|×))\s*"
    r"(?:as (?:much|fast|many|expensive|large|big)(?: \w+)? as|as much|what|the (?:price|speed|cost|memory) of)(?P<y>(?:[^;,\n]|,(?=[0-9]{3}))*)",
    RE,
)
DOUBLES_EN = re.compile(
    r"(?P<x>[^;\n]*?)(?P<times>doubles|triples|halves) the (?P<mid>\w+) of (?P<y>(?:[^;,\n]|,(?=[0-9]{3}))*)", RE
)
BEST = re.compile(
    r"最(?P<zh>便宜|贵|划算|低价|高价|低|高|快|慢|大|小)|(?:the )?\b(?P<en>cheapest|lowest|dearest|most expensive|highest|fastest|slowest|largest)\b",
    RE,
)


@dataclass(frozen=True)
class Comparison:
    """`x` has `sign` (+1 more, -1 less) of `dimension` than `y`; both are names of one kind, `shared` all others.

    `start` and `end` bound where the sentence says by how much; `is_ratio`: x is so many times y.
    """

    x: str
    y: str
    shared: frozenset[str]
    dimension: Dimension
    sign: int
    start: int
    end: int
    is_ratio: bool = False


@dataclass(frozen=True)
class Superlative:
    """`names` of one kind are said to have the most (+1) or least (-1) of `dimension`."""

    names: frozenset[str]
    shared: frozenset[str]
    dimension: Dimension
    sign: int


def read_comparisons(sentence: str, names_in: NamesIn) -> list[Comparison]:
    """The comparisons between two names of a kind."""
    found: list[Comparison] = []
    for pattern in (THAN_ZH, OVER_ZH, NOT_AS_ZH, TIMES_ZH, THAN_EN, TIMES_EN, DOUBLES_EN):
        for hit in pattern.finditer(sentence):
            if read := _read(hit, sentence, names_in):
                found.append(read)
    return found


def read_superlatives(sentence: str, names_in: NamesIn) -> list[Superlative]:
    """Who is said to be the cheapest, the fastest ...: the names of the clause before the word, else around it."""
    found = []
    for hit in BEST.finditer(sentence):
        start = max(sentence.rfind(mark, 0, hit.start()) for mark in "，；。\n") + 1
        names = names_in(sentence[start : hit.start()]) or names_in(sentence[start:])
        kind = next((k for k in ("provider", "gpu", "model") if any(n.startswith(f"{k}:") for n in names)), None)
        if kind is None:
            continue
        mine = frozenset(n for n in names if n.startswith(f"{kind}:"))
        word = hit["zh"] or hit["en"]
        sign = 1 if re.search("贵|高|快|大|dear|expensive|high|fast|larg", word, RE) else -1
        around = frozenset(names_in(sentence)) - mine
        shared = frozenset(n for n in around if not n.startswith(f"{kind}:"))
        found.append(Superlative(mine, shared, _dimension(word, sentence), sign))
    return found


def _read(hit: re.Match[str], sentence: str, names_in: NamesIn) -> Comparison | None:
    groups = hit.groupdict()
    left, right = names_in(groups["x"]), names_in(groups["y"])
    kind = _kind_compared(left, right)
    if kind is None:
        return None
    x, y = _last(groups["x"], kind, names_in), _first(groups["y"], kind, names_in)
    if x == y:
        return None
    times, adjective = groups.get("times") or "", groups.get("adj") or ""
    said = f"{adjective}{groups.get('mid') or ''}" if adjective else times
    where = hit.span("times") if times else hit.span()
    if hit.re is THAN_ZH:
        where = (hit.start("adj"), hit.end())
    sign = 1 if MORE.search(adjective or times) else -1
    if times and not MORE.search(times):
        sign = 0 if re.search("倍|times|x|×", times) else -1
    if hit.re is NOT_AS_ZH:
        sign = -sign
    shared = frozenset(n for n in {*left, *right} if not n.startswith(f"{kind}:"))
    return Comparison(x, y, shared, _dimension(said, sentence), sign, *where, is_ratio=bool(times))


def _kind_compared(left: AbstractSet[str], right: AbstractSet[str]) -> str | None:
    """The kind of names in which the two sides differ."""
    for kind in ("provider", "gpu", "model", "method"):
        mine, theirs = ({n for n in side if n.startswith(f"{kind}:")} for side in (left, right))
        if theirs and mine and mine != theirs:
            return kind
    return None


def _last(text: str, kind: str, names_in: NamesIn) -> str:
    """The name of the kind that stands nearest the comparison: the last in the text before it."""
    pieces = re.split(r"(?<=[，,、和与。 ])", text)
    for at in range(len(pieces) - 1, -1, -1):
        if found := [n for n in names_in("".join(pieces[at:])) if n.startswith(f"{kind}:")]:
            return found[0]
    return next(n for n in names_in(text) if n.startswith(f"{kind}:"))


def _first(text: str, kind: str, names_in: NamesIn) -> str:
    pieces = re.split(r"(?<=[，,、和与。 ])", text)
    for at in range(1, len(pieces) + 1):
        if found := [n for n in names_in("".join(pieces[:at])) if n.startswith(f"{kind}:")]:
            return found[0]
    return next(n for n in names_in(text) if n.startswith(f"{kind}:"))


def _dimension(said: str, sentence: str) -> Dimension:
    """What is compared: the adjective says it, or for high, low, more and times the words around."""
    for text in (said, sentence):
        if SPEED.search(text):
            return "speed"
        if text is said and re.search("贵|便宜|划算|合算|省|价|cheap|dear|expensive|pric|cost", text, RE):
            return "price"
        if text is sentence:
            if MEMORY.search(text):
                return "memory"
            if PRICE.search(text):
                return "price"
    return "other"
