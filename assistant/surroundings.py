"""What stands around a number, and what it makes of the number: 块 as money or as cards, a number without unit as money,
cards, a length or a power.

Reads the tokens near one number; which tokens make a quantity is the matter of quantity_reader.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant.numerals import NAME, SCALES, Number, binary_factor
from assistant.quantity import Parts, Quantity, kind_of, role_of, unit_name
from assistant.tokens import COUNTING, LINKS, PARTICLES, Token, Unit, counts_something

MOST_PIECES = 100  # from here on, and with any scale (五百块, 2万块), 块 is money even before the name of a card
COSTS = re.compile("多少钱|费用|价格|价钱|总价|花多少")
LEAST_WATTS = 60  # 450W is a power, 2w is 20,000


@dataclass
class Flags:
    """What stood before a number: sign, increment, "about", a currency; `start` is where the quantity then begins."""

    sign: int = 1
    delta: int = 0
    approximate: bool = False
    currency: str = ""
    percent: bool = False
    times: bool = False
    start: int | None = None


@dataclass(frozen=True)
class Surroundings:
    """The tokens behind `at`, what was read before it, and which names are cards, clouds or models (by where they begin)."""

    text: str
    tokens: Sequence[Token]
    at: int
    parts: Parts
    kinds: Mapping[int, str]

    def peek(self, ahead: int = 0) -> Token:
        """The token that many places on; an empty one beyond the ends."""
        return token_at(self.text, self.tokens, self.at + ahead)


def token_at(text: str, tokens: Sequence[Token], at: int) -> Token:
    """The token at that place; an empty one beyond the ends."""
    return tokens[at] if 0 <= at < len(tokens) else Token("", len(text), len(text), "")


def settled_unit(around: Surroundings, token: Token, unit: Unit, number: Number) -> Unit:
    """块 is money unless a card stands behind it, or a name or a verb such as 租 before the number (see _is_sum)."""
    after, verb = around.peek(int(around.peek().role == "adjective")), around.parts[-1] if around.parts else None
    if token.text == "对" or (unit.name == "chip" and (after.text.startswith(NAME) or kind_of(after) == "count")):
        return replace(unit, kind="count", name="")
    if token.text != "块":
        return unit
    asked = after.role == "per" or unit_name(around.peek(1)) in ("hour", "day") or kind_of(after) == "money"
    asked = asked or coins(token, after, around.peek(1)) is not None or kind_of(around.peek(1)) == "money"
    got = isinstance(verb, Token) and (verb.role in ("name", "get", "add_or_and", "add"))
    card = after.role == "name" or kind_of(after) == "count"
    if (card or (got and not asked)) and not _is_sum(around, number, after, role_of(verb) if verb else ""):
        return replace(unit, kind="count", name="card")
    return unit


def coins(unit: Token, number: Token, after: Token) -> Decimal | None:
    """The part of a yuan that a number right behind 块 is: .2 of 两块二, .65 of 1块65; None where it counts something else."""
    if number.number is None or after.unit or after.role in ("measure", "filler", "name", "times"):
        return None
    value, digits = number.number.low, len(number.text)
    if number.start != unit.end or number.text == "半" or value != int(value) or not 0 < value < 10**digits:
        return None
    return value / 10**digits if digits <= 2 and number.text[0] not in "十百" else None


def _is_sum(around: Surroundings, number: Number, after: Token, verb: str) -> bool:
    """Whether so many 块 are money although a name stands by: 五百块腾讯T4能跑几天, 预算八块T4."""
    if number.scale >= SCALES["万"] or number.low >= SCALES["万"]:
        return True
    if verb in ("get", "add", "add_or_and"):
        return False
    if number.low >= MOST_PIECES or number.scale > 1 or near_budget(around, owned=False):
        return True
    return around.kinds.get(after.start) == "provider" and not COSTS.search(around.text)


def implied(around: Surroundings, number: Number, flags: Flags) -> tuple[str, str, Decimal]:
    """Kind, unit and factor of a number without unit; no kind where it is no quantity at all."""
    one, spelled = Decimal(1), around.peek(-1).text
    if around.peek().role == "model" and number.low >= 10**8:
        return "parameters", "B", one / 10**9
    if number.suffix == "w" and number.low >= LEAST_WATTS * number.scale and not near_budget(around):
        return "bare", "watt", one / number.scale
    readings = (
        (flags.percent, "percent", "%", one),
        (bool(flags.currency), "money", flags.currency, one),
        (
            (flags.times and number.low == int(number.low)) or bool(flags.delta) or spelled.endswith(COUNTING),
            "count",
            "",
            one,
        ),
        (_after_context(around), "context", "token", binary_factor(number)),
        (near_budget(around) and number.style != "article", "money", "", one),  # "a budget of 5000" is no 1
        (number.suffix != "m" and _stands_alone(around, number), "bare", "", one),
    )
    return next(((kind, unit, scale) for holds, kind, unit, scale in readings if holds), ("", "", one))


def _after_context(around: Surroundings) -> bool:
    before = (part for part in reversed(around.parts) if role_of(part) != "of" and part.text not in LINKS)
    return kind_of(next(before, around.peek())) == "context"


def near_budget(around: Surroundings, *, owned: bool = True) -> bool:
    """Whether words for a budget stand by; 只有, 手头有 are none of money alone, and count only if `owned`."""
    if around.peek().role in ("enough", "budget") or around.peek().text == "买":
        return True
    near = around.parts[-4:]
    cut = max(
        (index for index, part in enumerate(near) if isinstance(part, Quantity) or part.role == "break"), default=-1
    )
    words = [part.text for part in near[cut + 1 :] if role_of(part) == "budget"]
    return any(owned or not word.endswith(("有", "手头")) for word in words)


def _stands_alone(around: Surroundings, number: Number) -> bool:
    """Small number words ("the three clouds", 一样) are quantities only where they are the whole message."""
    if number.style in ("article", "arabic"):
        return number.style == "arabic"
    rest = [
        token
        for token in around.tokens
        if token.role not in ("number", "measure", "break") and token.text not in PARTICLES
    ]
    return (not rest and number.low >= 1) or (number.low >= 10 and len(around.peek(-1).text) > 1)


# "batch size 4090", "上下文 5050", "输入 5090", 4090 个并发, 5050 tokens: a figure, though a card is called so.
_BEFORE_FIGURE = re.compile(
    r"(?:batch(?:[\s_-]*size)?|rank|seq\w*|context|上下文|输入|输出|每条|长度|input|output|prompt)\s*(?:[:=：]|of|is|长度|为|是)?\s*$",
    re.I,
)
_BEHIND_FIGURE = re.compile(r"\s*(?:个并发|b?\s?tokens?(?![a-z])|词元|requests?(?![a-z]))", re.I)


def is_figure(text: str, start: int, end: int) -> bool:
    """Whether digits (4090, 4090B) that a card is also called by are a figure here: a batch, a length, tokens, hours."""
    if not re.fullmatch("[0-9]+[bB]?", text[start:end]):
        return False
    return bool(
        _BEFORE_FIGURE.search(text, 0, start) or _BEHIND_FIGURE.match(text, end) or counts_something(text, start, end)
    )
