"""Reads quantities one by one off the tokens of a question; joining neighbours is left to quantity_joins.py."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import cast

from assistant.numerals import Number, binary_factor, range_of
from assistant.quantity import (
    MONTH_DAYS,
    NIGHT,
    Kind,
    Parts,
    Quantity,
    currency_named,
    currency_of,
    kind_of,
    role_of,
    unit_name,
)
from assistant.surroundings import Flags, Surroundings, coins, implied, near_budget, settled_unit, token_at
from assistant.tokens import ALONE, DROPPED, MANY, SYMBOLS, Token, Unit

MOST_OTHERS = 10_000  # a larger number before a name that is no GPU ("39333 ChatGLM2") counts no cards
NEAR = 8  # tokens back that a list of machines is looked for


class Reader:
    """Left to right over the tokens. Each method reads one construct at `at`, and moves on only if it is there."""

    def __init__(self, text: str, tokens: Sequence[Token], kinds: Mapping[int, str]) -> None:
        """`kinds` says of each linked name, by the place where it begins, whether it is a gpu, provider, model, ..."""
        self.text, self.tokens, self.kinds, self.at = text, tokens, kinds, 0
        self.parts: Parts = []

    def read(self) -> Parts:
        while self.at < len(self.tokens):
            start = self.at
            found = self._quantity()
            if found is None:
                self.at = start + 1
                self.parts.append(self.tokens[start])
            elif found.unit != DROPPED:
                self.parts.append(found)
        return self.parts

    def _peek(self, ahead: int = 0) -> Token:
        return token_at(self.text, self.tokens, self.at + ahead)

    def _around(self) -> Surroundings:
        return Surroundings(self.text, self.tokens, self.at, self.parts, self.kinds)

    def _take(self, *roles: str) -> Token | None:
        token = self._peek()
        self.at += token.role in roles
        return token if token.role in roles else None

    def _take_many(self) -> Token | None:
        many = self._peek().text in MANY and self._peek(1).role != "number"
        self.at += many
        return self.tokens[self.at - 1] if many else None

    def _made(self, kind: str, unit: str, value: Decimal, first: int, **more: object) -> Quantity:
        """A quantity from token `first` up to here, places still counted in the folded text."""
        start, end = self.tokens[first].start, self.tokens[self.at - 1].end
        return replace(Quantity(cast(Kind, kind), value, unit, self.text[start:end], start, end), **more)  # type: ignore[arg-type]

    def _quantity(self) -> Quantity | None:
        flags = self._flags()
        if self._peek().role == "per":
            return self._rate()
        if self._peek().role in ("fixed", "clock", "span", "precision"):
            return self._whole()
        first, number = self.at, self._number(flags)
        if number is None:
            return self._alone()
        if self.tokens[first].text == "another":
            flags.delta = 1
        if more := self._take("more", "fewer"):
            flags.delta = 1 if more.role == "more" else -1
        found = (
            self._counted(first, number, flags)
            or self._measured(first, number, flags)
            or self._plain(first, number, flags)
        )
        return self._finished(found, flags) if found else None

    def _flags(self) -> Flags:
        flags = Flags()
        while self._flag(flags, self._peek(), self._peek(1)):
            self.at += 1
        return flags

    def _flag(self, flags: Flags, token: Token, after: Token) -> bool:
        minus = token.role == "minus" or self._is_minus(token, after)
        symbol = token.text in SYMBOLS and after.role == "number" and token.unit
        times = token.role == "times" and after.role == "number" and self._after_name()
        percent = token.role == "percent"
        flags.sign *= -1 if minus else 1
        flags.delta = self._delta(token) or flags.delta
        flags.approximate |= token.role == "approx"
        flags.currency = symbol.name if symbol else flags.currency
        flags.percent |= percent
        flags.times |= times
        if (minus or symbol or times or percent) and flags.start is None:
            flags.start = token.start
        return bool(minus or symbol or times or percent or token.role in ("approx", "between") or self._delta(token))

    def _is_minus(self, dash: Token, after: Token) -> bool:
        before = self.parts[-1] if self.parts else None
        apart = (
            before is None or before.end < dash.start or (isinstance(before, Token) and not before.text[-1:].isascii())
        )
        glued = dash.role == "dash" and after.role == "number" and after.start == dash.end
        return glued and apart and not self._after_name(dash.start) and not isinstance(before, Quantity)

    def _after_name(self, touching: int | None = None) -> bool:
        """Whether a name or the word for a card was just read (A100 x 4, GPU*8), right up to `touching` if given."""
        before = self.parts[-1] if self.parts else None
        spoken = self.parts[-2:] if before and role_of(before) == "close" else self.parts[-1:]  # A100 (80G) x 4
        named = any(role_of(part) == "name" or kind_of(part) in ("count", "memory") for part in spoken)
        return named and (touching is None or (before is not None and before.end == touching))

    def _delta(self, token: Token) -> int:
        if token.text == "another":
            return int(self._peek(1).role == "number")
        if token.role != "add_or_and":
            return {"add": 1, "subtract": -1}.get(token.role, 0)
        # "two T4s plus one A100" lists; "加两张" adds.
        counted = any(kind_of(part) == "count" for part in self.parts[-NEAR:])
        return 0 if counted and (isinstance(self.parts[-1], Quantity) or role_of(self.parts[-1]) == "name") else 1

    def _rate(self) -> Quantity | None:
        """per day, 每个月, /h; "每张卡" is passed over."""
        first = self.at
        self.at += 1
        while self._take("measure", "filler"):
            pass
        token = self._take("unit")
        if token is None or token.unit is None or token.unit.kind not in ("duration", "count"):
            return None
        self._absorb(token.unit.kind)
        if token.unit.kind == "count":
            return self._made("bare", DROPPED, Decimal(1), first)
        night = token.unit.scale == NIGHT
        return self._made(
            "duration", "day" if night else token.unit.name, Decimal(1) if night else token.unit.scale, first, rate=True
        )

    def _whole(self) -> Quantity:
        """Tokens that are a quantity by themselves: 24/7, monthly, twice, 1:42:46, fp16."""
        token = self._peek()
        self.at += 1
        if token.unit:
            return self._made(
                token.unit.kind, token.unit.name, token.unit.scale, self.at - 1,
                rate=token.unit.kind == "duration" and token.role != "span",
            )  # fmt: skip
        if token.role == "clock":
            hours, minutes, seconds = (Decimal(part) for part in token.text.split(":"))
            return self._made("duration", "clock", (hours * 3600 + minutes * 60 + seconds) / 3600, self.at - 1)
        bits = re.findall(r"\d+", token.text)
        return self._made("precision", token.text, Decimal(bits[0]), self.at - 1)

    def _alone(self) -> Quantity | None:
        token = self._peek()
        budget = kind_of(token) == "duration" and self._peek(1).role == "budget"  # 月预算
        if token.unit is None or not (budget or token.text in ALONE):
            return None
        self.at += 1
        if budget:
            return self._made("duration", token.unit.name, token.unit.scale, self.at - 1, rate=True)
        return self._made("duration", token.unit.name, token.unit.scale, self.at - 1)

    def _number(self, flags: Flags) -> Number | None:
        """One number or a range of two (3-5, 3 to 5, between 3 and 5, 1.2-1.5 万)."""
        between = self.at > 0 and self._peek(-1).role == "between"
        token = self._take("number")
        if token is None or token.number is None:
            return None
        middle, second = self._peek(), self._peek(1).number
        ranged = middle.role in ("dash", "to", "or", "and" if between else "to") or middle.text == "~"
        joined = range_of(token.number, second, middle.role) if ranged and second else None
        self.at += 2 if joined else 0
        return joined or token.number

    def _counted(self, first: int, number: Number, flags: Flags) -> Quantity | None:
        """A number before a name: 8xA100, three T4s, two 80GB A100s; also 250 A100 hours and 9,999 ChatGLM samples."""
        saved = self.at
        timed = flags.times and self._peek(1).number and kind_of(self._peek(2)) == "duration"  # A100*4*24h
        if not timed and self._take("times"):
            return self._multiplied(first, number)
        self._take("measure")
        here = self.at
        if self._peek().number and kind_of(self._peek(1)) == "memory":
            self.at += 2
        while self._take("adjective"):
            pass
        token = self._peek()
        described = self.at > here
        while self._take("name"):
            pass
        after, self.at = self._peek(), here
        fits = self._fits(first, number, token, flags) and not near_budget(self._around())
        if token.role == "name" and kind_of(after) in ("duration", "rows") and unit_name(after) in ("hour", "row"):
            hours = kind_of(after) == "duration"
            return self._made("duration" if hours else "rows", "gpu-hour" if hours else "row", number.low, first)
        if fits and (token.role == "name" or (described and kind_of(token) == "count")):
            return self._made("count", unit_name(token), number.low, first, high=number.high)
        self.at = saved
        return None

    def _fits(self, first: int, number: Number, name: Token, flags: Flags) -> bool:
        """Whether a number can count what `name` names: any whole number or a half of GPUs, but not 39333 ChatGLM2."""
        kind = self.kinds.get(name.start, "gpu")
        if kind not in ("gpu", "unknown"):
            return number.low == int(number.low) and number.low <= MOST_OTHERS
        if number.low == int(number.low):
            plural = number.style != "chinese" and re.search("[^']s$", name.text) is not None  # "ten million A100s"
            return plural or number.low <= MOST_OTHERS or (number.scale < MOST_OTHERS and not flags.currency)
        halved = number.style == "arabic" or re.fullmatch(r"(?:half an?|a half)\s*", self._written(first)) is not None
        return halved and number.low < 1 and not flags.currency and not name.text.endswith("'s")

    def _written(self, first: int) -> str:
        return self.text[self.tokens[first].start : self._peek(-1).end]

    def _multiplied(self, first: int, number: Number) -> Quantity:
        token = self._peek()
        if token.role == "cpu":
            return self._made("bare", "chip", number.low, first)
        if token.role == "number" and kind_of(self._peek(1)) == "memory" and self._peek(2).role == "name":
            token = self._peek(2)  # 2 x 24GB 4090
        if token.role == "name" or kind_of(token) == "count":
            return self._made("count", unit_name(token), number.low, first)
        if token.role == "number":  # 32 x 64 GB: the memory is read next
            return self._made("bare", "x", number.low, first)
        return self._made("factor", "x", number.low, first, high=number.high)

    def _measured(self, first: int, number: Number, flags: Flags) -> Quantity | None:
        saved = self.at
        vague, extra = self._before_unit()
        token = self._take("unit")
        if flags.percent or token is None or token.unit is None:
            self.at = saved
            return None
        unit = settled_unit(self._around(), token, token.unit, number)
        if unit.name == DROPPED or (number.style == "article" and unit.kind not in ("duration", "count", "money")):
            return self._made("bare", DROPPED, number.low, first)
        extra += self._after_unit(unit)
        self._absorb(unit.kind)
        if unit.name == "day" and number.low in MONTH_DAYS and unit_name(self._peek()) == "month":
            self.at += 1  # a 30-day month
        scale = unit.scale * (binary_factor(number) if unit.kind == "context" else 1)
        low, high = ((x + extra) * scale if x is not None else None for x in (number.low, number.high))
        assert low is not None
        one = high is None and self.at - first == 2 + (self.tokens[first + 1].role == "measure") and low == 1
        name = f"{number.low.normalize():f}bit" if unit.kind == "precision" else unit.name
        return self._made(unit.kind, name, low, first, high=high, approximate=vague or number.approximate,
                          currency=currency_of(unit), rate=unit.kind == "duration" and one and number.style in ("article", "chinese"))  # fmt: skip

    def _before_unit(self) -> tuple[bool, Decimal]:
        """Pass over 个, 整, "whole", the dash of "30-day"; read the 多 of 三个多月 and the 半 of 一个半月."""
        vague, extra = False, Decimal(0)
        while token := self._take("measure", "filler", "adjective") or self._take_many():
            vague |= token.text in MANY
            if token.role == "measure" and self._peek().text == "半" and self._peek(1).unit:
                self.at += 1
                extra = Decimal("0.5")
        dash = self._peek()
        if (
            dash.role == "dash"
            and self._peek(1).unit
            and self._peek(1).text not in SYMBOLS
            and self._peek(-1).end == dash.start
            and self._peek(1).start == dash.end
        ):
            self.at += 1
        return vague, extra

    def _after_unit(self, unit: Unit) -> Decimal:
        """The half of 两天半 and "an hour and a half", the coins of 两块二."""
        token, after = self._peek(), self._peek(1)
        if self._take("half"):
            return Decimal("0.5")
        if token.number is None or after.unit or after.role in ("measure", "filler", "name", "times"):
            return Decimal(0)
        touching = token.start == self._peek(-1).end
        if touching and token.text == "半":
            self.at += 1
            return token.number.low
        part = coins(self._peek(-1), token, after) if unit.name == "CNY" else None
        self.at += part is not None
        return part or Decimal(0)

    def _absorb(self, kind: str) -> None:
        """Pass over a second word for the same thing: 两张卡, 13b 参数, 5000 元人民币."""
        while kind_of(self._peek()) == kind and kind != "duration":
            self.at += 1

    def _plain(self, first: int, number: Number, flags: Flags) -> Quantity | None:
        """A number without unit: what stands around it may still say what it is."""
        self._take("measure")
        kind, unit, scale = implied(self._around(), number, flags)
        if not kind:
            return None
        high = None if number.high is None else number.high * scale
        return self._made(kind, unit, number.low * scale, first, high=high, approximate=number.approximate)

    def _finished(self, found: Quantity, flags: Flags) -> Quantity:
        if found.unit == DROPPED:
            return found
        after = self._take("approx_after") or self._take_many()
        start, delta = found.start, flags.delta
        if found.kind in ("count", "duration") and not delta and (more := self._take("more", "fewer")):
            delta = 1 if more.role == "more" else -1
        if flags.start is not None and (not flags.currency or found.kind == "money"):
            start = flags.start
        sign = flags.sign * (delta or 1)
        return replace(
            found, value=found.value * sign, high=found.high * sign if found.high is not None else None, start=start,
            delta=bool(delta), approximate=found.approximate or flags.approximate or after is not None,
            currency=found.currency or currency_named(flags.currency if found.kind == "money" else ""),
        )  # fmt: skip
