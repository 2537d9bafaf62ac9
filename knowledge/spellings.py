"""Finds many spellings in a text in one walk: at each character only the spellings that begin with it are tried.

Knows how names are written (case, spaces, hyphens, what may stand beside a code), not what they mean.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

Meant = TypeVar("Meant")

BEFORE_CODE = r"(?:(?<![a-z0-9.])|(?<=\d[x*×]))"
AFTER_CODE = r"(?:(?![a-z0-9])|(?=s(?![a-z0-9])|x\d|-\d+g))(?!\.\d)"
AFTER_WORD = r"(?![a-z0-9])(?!\.\d)"
# What follows a number that is an amount of money or data and not the name of a card: 4090 元, 3060 rows.
AMOUNT = r"(?!\s*(?:元|块钱|条|行数据|rows?\b|samples?\b|rmb\b|cny\b|yuan\b|usd\b|dollars?\b))"
# A card of that number is another card when one of these follows: 4090 Ti, 4090 laptop.
OTHER_CARD = r"(?!\s?(?:(?:ti|super|laptop|mobile)\b|笔记本|移动版))"
# A model is another model when one of these follows: Phi-4-reasoning, Mistral 7B v0.2, DeepSeek R1 蒸馏.
OTHER_MODEL = r"(?![\s_:-]{0,3}(?:v\d|vl\b|coder|math|omni|audio|vision|multimodal|reasoning|distill|moe\b|nemotron|maverick|蒸馏))"
# Nor is the second word the name of Code Llama 7B or R1 distill Qwen 72B.
OTHER_MODEL_BEFORE = "".join(rf"(?<!{word}[ -])" for word in ("code", "open", "distill")) + "(?<!蒸馏)(?<!蒸馏 )"
# Falcon 180B is not Falcon-40B, nor is Falcon 3 7B.
OTHER_SIZE = r"(?![\s_:-]{0,3}(?:\d+(?:\.\d+)?[\s_-]+)?\d+(?:\.\d+)?b(?![a-z0-9]))"

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_MODEL_BREAK = r"[\s_:-]{0,3}(?:(?:系列|模型|大模型)[\s_:-]{0,3})?\(?"
_MODEL_BREAK_NEEDED = r"(?:[\s_:-]{1,3}\(?|[\s_:-]{0,3}(?:系列|模型|大模型)[\s_:-]{0,3}\(?|\()"
_BREAK = re.compile(r"[\s_:-]+", re.A)


@dataclass(frozen=True)
class Spelling(Generic[Meant]):
    """One way to write a thing, as a pattern over folded text that begins with the character `first`."""

    first: str
    pattern: str
    meant: Meant


@dataclass(frozen=True)
class Match(Generic[Meant]):
    """A spelling found: where, and what it means."""

    start: int
    end: int
    meant: Meant


@dataclass(frozen=True)
class Finder(Generic[Meant]):
    """Compiled spellings by their first character; of several that fit at one place the first given wins."""

    patterns: Mapping[str, re.Pattern[str]]
    meanings: Mapping[str, Sequence[Meant]]

    def find(self, folded: str) -> Iterator[Match[Meant]]:
        """Every match from left to right, without overlaps."""
        at = 0
        while at < len(folded):
            match = self.at(folded, at)
            if match:
                yield match
            at = match.end if match else at + 1

    def at(self, folded: str, start: int) -> Match[Meant] | None:
        """The spelling that begins exactly at `start`."""
        pattern = self.patterns.get(folded[start]) if start < len(folded) else None
        match = pattern.match(folded, start) if pattern else None
        if not match or match.lastindex is None:
            return None
        return Match(start, match.end(), self.meanings[folded[start]][match.lastindex - 1])


def finder(spellings: Iterable[Spelling[Meant]]) -> Finder[Meant]:
    """Compile spellings, the preferred ones first. Their patterns may hold no groups that capture."""
    by_first: dict[str, list[Spelling[Meant]]] = defaultdict(list)
    for spelling in spellings:
        by_first[spelling.first].append(spelling)
    return Finder(
        {first: re.compile("|".join(f"({s.pattern})" for s in those), re.A) for first, those in by_first.items()},
        {first: [s.meant for s in those] for first, those in by_first.items()},
    )


def fold(text: str) -> str:
    """ASCII letters small; every character keeps its place, which str.lower does not promise."""
    return text.translate(_LOWER)


def squeeze(alias: str) -> str:
    """A spelling without case and breaks, for look-ups."""
    return _BREAK.sub("", fold(alias))


def words_pattern(alias: str, kind: str) -> str:
    """Breaks between words are optional (Llama2-13B), but between two numbers needed: llama 27b is not Llama 2 7B.

    Models are also written "Qwen2.5 系列 7B" and "Qwen2.5 (7B)".
    """
    some, needed = (_MODEL_BREAK, _MODEL_BREAK_NEEDED) if kind == "model" else (r"[\s_:-]{0,3}", r"[\s_:-]{1,3}")
    words = [word for word in _BREAK.split(fold(alias)) if word]
    parts = [re.escape(words[0])]
    for left, right in pairwise(words):
        both_numbers = left[-1].isdigit() and right[0].isdigit()
        parts += [needed if both_numbers else some, re.escape(right)]
    return "".join(parts)


def name_pattern(alias: str, kind: str) -> str:
    """The pattern of one alias of names.csv and what may not stand beside it."""
    before = BEFORE_CODE if alias[0].isascii() else ""
    after = AFTER_WORD if alias[-1].isascii() else ""
    if alias[-1].isdigit():
        after = AFTER_CODE
    if kind == "model":
        before += OTHER_MODEL_BEFORE
        after += OTHER_MODEL if re.search(r"\db$", fold(alias)) else OTHER_MODEL + OTHER_SIZE
    if kind == "gpu":
        after += _beside_card(alias)
    if alias.isdigit():
        before, after = rf"(?<![$¥]){before}", after + AMOUNT
    return f"{before}{words_pattern(alias, kind)}{after}"


def _beside_card(alias: str) -> str:
    if alias in ("tpu", "trainium"):
        return r"(?![\s-]?v?\d)"  # TPU v3 is not any TPU that there are rows of
    if alias == "rtx 6000":
        return r"(?!\s*(?:series\b|系列))"  # cards to come, not the workstation cards of that number
    if alias.endswith(("pro 6000", "6000 pro")):
        return r"(?!\s?d(?![a-z0-9]))"  # the 6000D is a card of its own
    if not alias[-1].isascii():
        return r"(?!\s?\d{3})"
    return OTHER_CARD if alias[-4:].isdigit() or alias.endswith(("4090 d", "5090 d", "ti")) else ""
