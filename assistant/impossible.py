"""Quantities that no GPU question can mean: no cards, no users, less than nothing of memory or money, more than all of a peak.

Reads one folded turn; names the value as written, and judges nothing that stands in a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant.numerals import NAME, fold
from assistant.quantity import Quantity

MOST_TOKENS = Decimal(10) ** 18  # the largest sets published hold about 10^13
_COUNTED = (
    r"(?:并发|用户|人(?![民工])|请求|tokens?|词元|上下文|context|(?:concurrent |simultaneous )?(?:users?|requests?|people|streams|sessions)|rows?|samples?|examples?|"
    r"epochs?|轮|条(?:数据|样本)?|batch|gpus?|cards?|[张块片]|h[12]00s?|a100s?|gi?b|元|dollars?|b(?:illion)?\s*(?:param\w*|model))(?![a-z])"
)
# 0 of what must be some: "0 users", "上下文 0", "batch 0"; a figure like 0.5 or 07 is none of these.
_NOTHING = re.compile(
    rf"(?<![\w.,\-])(?P<a>(?:0+(?:\.0+)?|零|zero))(?![\w.%]|-)\s*(?:k|个|名|位|路)?\s*(?:的)?\s*{_COUNTED}|"
    r"(?:上下文|context(?: length)?|并发|batch(?:[ _-]size)?|concurrency|epochs?|mfu|序列长度|seq(?:uence)?[ _-]?len\w*)\s*[:=为是of]*\s*(?P<b>0+(?:\.0+)?)(?![\w.,])"
)
# Less than nothing: a minus right before a number that no name, range or hyphenated word comes before.
_NEGATIVE = re.compile(
    r"(?<![\w)\]%.,+*/\-~–"
    + NAME
    + r"\u4e00-\u9fff])(?<![\w] )(?P<x>(?:-|minus |负|negative )\s*(?:us)?[$¥]?\s*\d[\d.,]*\s*(?:k|m|b|t)?)(?![\w.-]*[\w]*-)|"
    r"(?P<y>(?:负|minus |negative )\s*\d[\d.,]*)|(?<=[\s=:为是在有按])(?P<z>-(?:us)?[$¥]?\d[\d.,]*\s*(?:gi?b|元|tokens?|users?|gpus?|cards?|%|k(?![a-z])|h[12]00|a100|"
    + NAME
    + r"))"
)
_PART = re.compile(
    rf"(?<![\w.\-])(?P<p>\d+\.(?!0+(?!\d))\d+)\s*(?:[xX×*]\s*)?(?:张|块|片|(?:gpus?|cards?)(?![a-z])|{NAME}(?!-))"
)
_SHARE = re.compile(
    r"mfu\s*(?:of|at|is|=|:|为|是|到|按)?\s*(?P<a>\d[\d.]*\s*%)|(?P<b>\d[\d.]*\s*%)\s*(?:的)?\s*(?:mfu|利用率|utili[sz]ation)|(?:利用率|utili[sz]ation)\s*(?:of|at|is|=|:|为|是|按)?\s*(?P<c>\d[\d.]*\s*%)"
)


def impossible(text: str, quantities: Sequence[Quantity], cards: Sequence[tuple[int, int]]) -> str | None:
    """The first value as written that nothing can have; `cards` are the places of the names of cards in `text`."""
    folded = fold(text)
    hidden = {at for start, end in cards for at in range(start, end)}
    masked = "".join(NAME if at in hidden else c for c, at in zip(folded.text, folded.offsets, strict=True))
    for q in quantities:
        if q.kind == "context" and (q.value <= 0 or q.value > MOST_TOKENS):
            return q.text
        if q.kind == "memory" and q.value <= 0:
            return q.text
    for pattern in (_NOTHING, _NEGATIVE, _PART):
        if match := pattern.search(masked):
            return _written(text, folded.offsets, match)
    for match in _SHARE.finditer(masked):
        name = next(name for name, value in match.groupdict().items() if value)
        if Decimal(match[name].rstrip("% ").rstrip(".")) > 100:
            return text[folded.offsets[match.start(name)] : folded.offsets[match.end(name) - 1] + 1]
    return None


def _written(text: str, offsets: Sequence[int], match: re.Match[str]) -> str:
    name = next((name for name, value in match.groupdict().items() if value), 0)
    start, end = match.span(name)
    return text[offsets[start] : offsets[end - 1] + 1].strip(" ,，。")
