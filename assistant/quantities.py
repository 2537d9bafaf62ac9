"""Finds every quantity with its unit in a Chinese, English or mixed question.

A small grammar over tokens (tokens.py), then rules that join neighbours (8 hours + a day). It does not say what a
quantity is for, convert money, fix the length of a month or judge whether a value makes sense.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant.numerals import DIGITS, NAME, fold
from assistant.quantity import Quantity
from assistant.quantity_joins import joined
from assistant.quantity_reader import Reader
from assistant.tokens import scan
from knowledge.names import link

__all__ = ["Quantity", "parse_quantities", "without_idioms"]
# 加一块, 放在一块儿: together, neither money nor a card.
ALTOGETHER = re.compile(
    r"(?<!再)(?<=[加在凑合搁到])一块儿?(?=[,，。;；?？]|多(?!少钱)|几[个核u]|一?共|总|是|有|$)", re.I
)
# 一块六五一小时 is 1.65 an hour; read on, 六五一 would be a number of hours.
COINS_AN_HOUR = re.compile(r"(?<=块)([一二三四五六七八九])([一二三四五六七八九])(?=[一每]个?(?:小时|钟头?|卡时))")


# "the 40 or the 80gb one", 40 还是 80G 的: both are sizes.
SIZES_APART = re.compile(
    r"(?<![\d.a-z])(\d{1,3})(\s*(?:or|vs\.?|还是|或者?)\s*(?:the )?\d{1,3}\s*(gi?b?|gigs?)(?![a-z]))", re.I
)


def without_idioms(text: str) -> str:
    """The text with words that only look like a quantity in other words of the same meaning."""
    text = SIZES_APART.sub(lambda sizes: f"{sizes[1]}{sizes[3]}{sizes[2]}", text)
    return COINS_AN_HOUR.sub(
        lambda coins: "".join(str(DIGITS[digit]) for digit in coins.groups()), ALTOGETHER.sub("一起", text)
    )


def parse_quantities(text: str, *, names: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """Every quantity in `text`, in order, without overlap; never raises.

    `names` are the character spans of linked GPUs, models and providers: their digits are never read. All spans refer
    to `text` as given. Width, case, zero-width and traditional characters are folded here, so the text may be raw;
    callers usually hand over the NFKC-normalised text that names were linked in.
    """
    folded = fold(text)
    hidden = {index for start, end in names for index in range(max(start, 0), min(end, len(text)))}
    masked = "".join(NAME if at in hidden else char for char, at in zip(folded.text, folded.offsets, strict=True))
    kinds = {folded.offsets.index(start): _kind(text[start:end]) for start, end in names if start in folded.offsets}
    parts = Reader(masked, scan(masked), kinds).read()
    return [_place(part, text, folded.offsets) for part in joined(parts) if isinstance(part, Quantity)]


def _kind(name: str) -> str:
    return next((found.kind for found in link(name)), "gpu")


def _place(quantity: Quantity, text: str, offsets: Sequence[int]) -> Quantity:
    start, end = offsets[quantity.start], offsets[quantity.end - 1] + 1
    opened = any(mark in text[start:end] for mark in "(（") and not any(mark in text[start:end] for mark in ")）")
    if opened and (close := re.compile(r"算?\s*[)）]").match(text, end)):
        end = close.end()
    return replace(quantity, start=start, end=end, text=text[start:end])
