"""Finds every quantity with its unit in a Chinese, English or mixed question.

A small grammar over tokens (numerals.py), then rules that join neighbours (8 hours + a day). It does not say what a
quantity is for, convert money, fix the length of a month or judge whether a value makes sense.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, cast

from assistant.numerals import NAME, Number, Token, Unit, fold, scan

Kind = Literal[
    "count", "duration", "hours_per_day", "money", "money_per_hour", "memory", "rows", "percent", "factor",
    "parameters", "context", "precision", "bare",
]  # fmt: skip
Currency = Literal["CNY", "USD"]

HOURS = {"minute": Decimal(1) / 60, "hour": Decimal(1), "clock": Decimal(1), "gpu-hour": Decimal(1), "day": Decimal(24),
         "week": Decimal(168)}  # fmt: skip
MONTHS = {"month": Decimal(1), "quarter": Decimal(3), "year": Decimal(12)}
MONTH_DAYS = range(28, 32)
MOST_CARDS = 10_000  # a larger number before a name ("39333 ChatGLM2") counts no cards
DROPPED = "-"  # unit of what is read only to be passed over: 每卡, 三家
COUNTING = ("俩", "仨", "dozen", "pair", "couple")  # number words that count things by themselves
LEAST_WATTS = 60  # 450W is a power, 2w is 20,000
NIGHT = Decimal(12)  # hours of a night by itself; 三天三夜 is three days
MANY = ("多", "余")
PARTICLES = frozenset({*"呢吧吗呀啊的好就要", "please", "just"})
ALONE = frozenset({"weekend", "fortnight", "周末", "overnight", "通宵"})  # units that need no number
SYMBOLS = frozenset({"¥", "$", "us$", "€", "£", "rmb", "cny", "usd", "人民币"})  # currencies written before the number
# English words that may stand between a rate and its figure ("daily use of 8 hours"); Chinese ones always may.
LINKS = frozenset({"price", "cost", "rate", "use", "usage", "is", "at", "under", "below", "most", "less", "than", "no", "i",
                   "we", "run", "it", "for", "only", "of", "length"})  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """One quantity; `text` is `[start:end]` of the text that was given.

    `value` is the lower bound where `high` is set (两三天, 85-100 GB), and negative for "minus 5 hours" and "少一台".
    Units: count card | machine | "" (a bare "two T4s"); duration minute | hour | clock | gpu-hour | day | week | month |
    quarter | year; money its ISO code or "" where none was said; memory GB | GiB | TB | TiB; parameters B (billions);
    context token (8k is 8192, 100k is 100000); precision as written (fp16, 4bit) with the bits as value; percent "%";
    factor "x"; rows "row"; bare the noun counted (core, epoch, replica, ...) or "".
    `delta` marks an increment (再加一台); `rate` a time named as one unit, as rates are (per day, 每月, 一天, a week).
    """

    kind: Kind
    value: Decimal
    unit: str
    text: str
    start: int
    end: int
    high: Decimal | None = None
    approximate: bool = False
    currency: Currency | None = None
    delta: bool = False
    rate: bool = False

    @property
    def hours(self) -> Decimal | None:
        """Length of a duration in hours; None for months, quarters and years, whose length the caller decides."""
        return self.value * HOURS[self.unit] if self.kind == "duration" and self.unit in HOURS else None


Parts = list[Token | Quantity]
Rule = Callable[[Quantity, Parts, Quantity], Quantity | None]


def parse_quantities(text: str, *, names: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """Every quantity in `text`, in order, without overlap; never raises.

    `names` are the character spans of linked GPUs, models and providers: their digits are never read. All spans refer
    to `text` as given. Width, case, zero-width and traditional characters are folded here, so the text may be raw;
    callers usually hand over the NFKC-normalised text that names were linked in.
    """
    folded = fold(text)
    hidden = {index for start, end in names for index in range(max(start, 0), min(end, len(text)))}
    masked = "".join(NAME if at in hidden else char for char, at in zip(folded.text, folded.offsets, strict=True))
    parts = _Reader(masked, scan(masked)).read()
    for rule in (_per_hour, _per_day, _in_days, _compound, _range):
        parts = _join(parts, rule)
    return [_place(part, text, folded.offsets) for part in _fix_months(parts) if isinstance(part, Quantity)]


def _place(quantity: Quantity, text: str, offsets: Sequence[int]) -> Quantity:
    start, end = offsets[quantity.start], offsets[quantity.end - 1] + 1
    opened = any(mark in text[start:end] for mark in "(（") and not any(mark in text[start:end] for mark in ")）")
    if opened and (close := re.compile(r"算?\s*[)）]").match(text, end)):
        end = close.end()
    return replace(quantity, start=start, end=end, text=text[start:end])


@dataclass
class _Flags:
    """What stood before a number: sign, increment, "about", a currency; `start` is where the quantity then begins."""

    sign: int = 1
    delta: int = 0
    approximate: bool = False
    currency: str = ""
    percent: bool = False
    times: bool = False
    start: int | None = None


class _Reader:
    """Left to right over the tokens. Each method reads one construct at `at`, and moves on only if it is there."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0
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
        at = self.at + ahead
        return self.tokens[at] if 0 <= at < len(self.tokens) else Token("", len(self.text), len(self.text), "")

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
        if self._peek().role in ("fixed", "clock", "precision"):
            return self._whole()
        first, number = self.at, self._number(flags)
        if number is None:
            return self._alone()
        if self.tokens[first].text == "another":
            flags.delta = 1
        if more := self._take("more", "fewer"):
            flags.delta = 1 if more.role == "more" else -1
        found = self._counted(first, number) or self._measured(first, number, flags) or self._plain(first, number, flags)
        return self._finished(found, flags) if found else None

    def _flags(self) -> _Flags:
        flags = _Flags()
        while self._flag(flags, self._peek(), self._peek(1)):
            self.at += 1
        return flags

    def _flag(self, flags: _Flags, token: Token, after: Token) -> bool:
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
        apart = before is None or before.end < dash.start or (isinstance(before, Token) and not before.text[-1:].isascii())
        glued = dash.role == "dash" and after.role == "number" and after.start == dash.end
        return glued and apart and not self._after_name(dash.start) and not isinstance(before, Quantity)

    def _after_name(self, touching: int | None = None) -> bool:
        """Whether a name or the word for a card was just read (A100 x 4, GPU*8), right up to `touching` if given."""
        before = self.parts[-1] if self.parts else None
        spoken = self.parts[-2:] if before and _role(before) == "close" else self.parts[-1:]  # A100 (80G) x 4
        named = any(_role(part) == "name" or _kind(part) in ("count", "memory") for part in spoken)
        return named and (touching is None or (before is not None and before.end == touching))

    def _delta(self, token: Token) -> int:
        if token.text == "another":
            return int(self._peek(1).role == "number")
        counted = any(isinstance(part, Quantity) and part.kind == "count" for part in self.parts)
        listing = counted and (isinstance(self.parts[-1], Quantity) or self.parts[-1].role == "name")
        if token.role == "add_or_and":  # "two T4s plus one A100" lists; "加两张" adds
            return 0 if listing else 1
        return {"add": 1, "subtract": -1}.get(token.role, 0)

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
        return self._made("duration", "day" if night else token.unit.name, Decimal(1) if night else token.unit.scale, first, rate=True)

    def _whole(self) -> Quantity:
        """Tokens that are a quantity by themselves: 24/7, monthly, twice, 1:42:46, fp16."""
        token = self._peek()
        self.at += 1
        if token.unit:
            return self._made(token.unit.kind, token.unit.name, token.unit.scale, self.at - 1, rate=token.unit.kind == "duration")
        if token.role == "clock":
            hours, minutes, seconds = (Decimal(part) for part in token.text.split(":"))
            return self._made("duration", "clock", (hours * 3600 + minutes * 60 + seconds) / 3600, self.at - 1)
        bits = re.findall(r"\d+", token.text)
        return self._made("precision", token.text, Decimal(bits[0]), self.at - 1)

    def _alone(self) -> Quantity | None:
        token = self._peek()
        budget = _kind(token) == "duration" and self._peek(1).role == "budget"  # 月预算
        if token.unit is None or not (budget or token.text in ALONE):
            return None
        self.at += 1
        if budget:
            return self._made("duration", token.unit.name, token.unit.scale, self.at - 1, rate=True)
        return self._made("duration", token.unit.name, token.unit.scale, self.at - 1)

    def _number(self, flags: _Flags) -> Number | None:
        """One number or a range of two (3-5, 3 to 5, between 3 and 5, 1.2-1.5 万)."""
        between = self.at > 0 and self._peek(-1).role == "between"
        token = self._take("number")
        if token is None or token.number is None:
            return None
        middle, second = self._peek(), self._peek(1).number
        ranged = middle.role in ("dash", "to", "or", "and" if between else "to") or middle.text == "~"
        joined = _ranged(token.number, second, middle.role) if ranged and second else None
        self.at += 2 if joined else 0
        return joined or token.number

    def _counted(self, first: int, number: Number) -> Quantity | None:
        """A number before a name: 8xA100, three T4s, two 80GB A100s; also 250 A100 hours and 9,999 ChatGLM samples."""
        saved = self.at
        if self._take("times"):
            return self._multiplied(first, number)
        self._take("measure")
        here = self.at
        if self._peek().number and _kind(self._peek(1)) == "memory":
            self.at += 2
        while self._take("adjective"):
            pass
        token = self._peek()
        described = self.at > here
        while self._take("name"):
            pass
        after, self.at = self._peek(), here
        fits = number.low == int(number.low) and number.low <= MOST_CARDS and not self._near_budget()
        if token.role == "name" and _kind(after) in ("duration", "rows") and _unit(after) in ("hour", "row"):
            hours = _kind(after) == "duration"
            return self._made("duration" if hours else "rows", "gpu-hour" if hours else "row", number.low, first)
        if fits and (token.role == "name" or (described and _kind(token) == "count")):
            return self._made("count", _unit(token), number.low, first, high=number.high)
        self.at = saved
        return None

    def _multiplied(self, first: int, number: Number) -> Quantity:
        token = self._peek()
        if token.role == "cpu":
            return self._made("bare", "chip", number.low, first)
        if token.role == "number" and _kind(self._peek(1)) == "memory" and self._peek(2).role == "name":
            token = self._peek(2)  # 2 x 24GB 4090
        if token.role == "name" or _kind(token) == "count":
            return self._made("count", _unit(token), number.low, first)
        if token.role == "number":  # 32 x 64 GB: the memory is read next
            return self._made("bare", "x", number.low, first)
        return self._made("factor", "x", number.low, first, high=number.high)

    def _measured(self, first: int, number: Number, flags: _Flags) -> Quantity | None:
        saved = self.at
        vague, extra = self._before_unit()
        token = self._take("unit")
        if flags.percent or token is None or token.unit is None:
            self.at = saved
            return None
        unit = self._settled(token, token.unit)
        if unit.name == DROPPED or (number.style == "article" and unit.kind not in ("duration", "count", "money")):
            return self._made("bare", DROPPED, number.low, first)
        extra += self._after_unit(unit)
        self._absorb(unit.kind)
        if unit.name == "day" and number.low in MONTH_DAYS and _unit(self._peek()) == "month":
            self.at += 1  # a 30-day month
        scale = unit.scale * (_binary(number) if unit.kind == "context" else 1)
        low, high = ((x + extra) * scale if x is not None else None for x in (number.low, number.high))
        assert low is not None
        one = high is None and self.at - first == 2 + (self.tokens[first + 1].role == "measure") and low == 1
        name = f"{number.low.normalize():f}bit" if unit.kind == "precision" else unit.name
        return self._made(unit.kind, name, low, first, high=high, approximate=vague or number.approximate,
                          currency=_currency(unit), rate=unit.kind == "duration" and one and number.style in ("article", "chinese"))  # fmt: skip

    def _before_unit(self) -> tuple[bool, Decimal]:
        """Pass over 个, 整, "whole", the dash of "30-day"; read the 多 of 三个多月 and the 半 of 一个半月."""
        vague, extra = False, Decimal(0)
        while token := self._take("measure", "filler", "adjective") or self._take_many():
            vague |= token.text in MANY
            if token.role == "measure" and self._peek().text == "半" and self._peek(1).unit:
                self.at += 1
                extra = Decimal("0.5")
        dash = self._peek()
        if dash.role == "dash" and self._peek(1).unit and self._peek(1).text not in SYMBOLS and self._peek(-1).end == dash.start and self._peek(1).start == dash.end:
            self.at += 1
        return vague, extra

    def _after_unit(self, unit: Unit) -> Decimal:
        """The half of 两天半 and "an hour and a half", the coins of 两块二."""
        token, after = self._peek(), self._peek(1)
        if self._take("half"):
            return Decimal("0.5")
        if token.number is None or after.unit or after.role in ("measure", "filler", "name", "times"):
            return Decimal(0)
        touching = token.start == self._peek(-1).end and len(token.text) == 1
        if touching and (token.text == "半" or (unit.name == "CNY" and token.number.low < 10)):
            self.at += 1
            return token.number.low if token.text == "半" else token.number.low / 10
        return Decimal(0)

    def _settled(self, token: Token, unit: Unit) -> Unit:
        """块 is money unless a card stands behind it, or a name or a verb such as 租 before the number."""
        after, verb = self._peek(int(self._peek().role == "adjective")), self.parts[-1] if self.parts else None
        if token.text == "对" or (unit.name == "chip" and (after.text.startswith(NAME) or _kind(after) == "count")):
            return replace(unit, kind="count", name="")
        if token.text != "块":
            return unit
        asked = after.role == "per" or _unit(self._peek(1)) in ("hour", "day") or _kind(after) == "money"
        got = isinstance(verb, Token) and (verb.role in ("name", "get", "add_or_and", "add"))
        if after.role == "name" or _kind(after) == "count" or (got and not asked):
            return replace(unit, kind="count", name="card")
        return unit

    def _absorb(self, kind: str) -> None:
        """Pass over a second word for the same thing: 两张卡, 13b 参数, 5000 元人民币."""
        while _kind(self._peek()) == kind and kind != "duration":
            self.at += 1

    def _plain(self, first: int, number: Number, flags: _Flags) -> Quantity | None:
        """A number without unit: what stands around it may still say what it is."""
        self._take("measure")
        kind, unit, scale = self._implied(number, flags)
        if not kind:
            return None
        high = None if number.high is None else number.high * scale
        return self._made(kind, unit, number.low * scale, first, high=high, approximate=number.approximate)

    def _implied(self, number: Number, flags: _Flags) -> tuple[str, str, Decimal]:
        """Kind, unit and factor of a number without unit; no kind where it is no quantity at all."""
        one, spelled = Decimal(1), self._peek(-1).text
        if self._peek().role == "model" and number.low >= 10**8:
            return "parameters", "B", one / 10**9
        if number.suffix == "w" and number.low >= LEAST_WATTS * number.scale and not self._near_budget():
            return "bare", "watt", one / number.scale
        readings = (
            (flags.percent, "percent", "%", one),
            (bool(flags.currency), "money", flags.currency, one),
            ((flags.times and number.low == int(number.low)) or bool(flags.delta) or spelled.endswith(COUNTING), "count", "", one),
            (self._after_context(), "context", "token", _binary(number)),
            (self._near_budget(), "money", "", one),
            (number.suffix != "m" and self._stands_alone(number), "bare", "", one),
        )
        return next(((kind, unit, scale) for holds, kind, unit, scale in readings if holds), ("", "", one))

    def _after_context(self) -> bool:
        before = (part for part in reversed(self.parts) if _role(part) != "of" and part.text not in LINKS)
        return _kind(next(before, self._peek())) == "context"

    def _near_budget(self) -> bool:
        if self._peek().role in ("enough", "budget") or self._peek().text == "买":
            return True
        near = self.parts[-4:]
        cut = max((index for index, part in enumerate(near) if isinstance(part, Quantity) or part.role == "break"), default=-1)
        return any(isinstance(part, Token) and part.role == "budget" for part in near[cut + 1 :])

    def _stands_alone(self, number: Number) -> bool:
        """Small number words ("the three clouds", 一样) are quantities only where they are the whole message."""
        if number.style in ("article", "arabic"):
            return number.style == "arabic"
        rest = [token for token in self.tokens if token.role not in ("number", "measure", "break") and token.text not in PARTICLES]
        return (not rest and number.low >= 1) or (number.low >= 10 and len(self._peek(-1).text) > 1)

    def _finished(self, found: Quantity, flags: _Flags) -> Quantity:
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
            currency=found.currency or _currency_named(flags.currency if found.kind == "money" else ""),
        )  # fmt: skip


def _kind(part: Token | Quantity) -> str:
    if isinstance(part, Quantity):
        return part.kind
    return part.unit.kind if part.unit and part.role == "unit" else ""


def _unit(token: Token) -> str:
    return token.unit.name if token.unit else ""


def _currency(unit: Unit) -> Currency | None:
    return _currency_named(unit.name)


def _currency_named(name: str) -> Currency | None:
    return cast(Currency, name) if name in ("CNY", "USD") else None


def _binary(number: Number) -> Decimal:
    """1.024 for 8k, 32k, 128k: context lengths that are powers of two are counted in 1024s."""
    thousands = number.low / 1000
    whole = int(thousands) if thousands == int(thousands) else 0
    return Decimal("1.024") if number.suffix == "k" and whole > 0 and whole & (whole - 1) == 0 else Decimal(1)


def _ranged(first: Number, second: Number, role: str) -> Number | None:
    low = first.low * second.scale if first.scale == 1 and first.low * second.scale < second.low else first.low
    if first.high or second.style == "article" or low >= second.low or (role == "or" and second.low - low != second.scale):
        return None
    return replace(second, low=low, high=second.high or second.low)


def _join(parts: Parts, rule: Rule) -> Parts:
    """Apply `rule` to each quantity and the one before it (or, past a count, the one before that)."""
    done: Parts = []
    for part in parts:
        done.append(part)
        while isinstance(done[-1], Quantity) and _reduced(done, done[-1], rule):
            pass
    return done


def _reduced(done: Parts, right: Quantity, rule: Rule) -> bool:
    """Join the last quantity of `done` with an earlier one, in place, if the rule allows."""
    for index in range(len(done) - 2, -1, -1):
        left = done[index]
        if not isinstance(left, Quantity):
            continue
        gap = done[index + 1 : -1]
        if merged := rule(left, gap, right):
            done[index:] = [*gap, merged] if merged.start > left.start else [merged]
            return True
        if left.kind != "count":
            return False
    return False


def _united(left: Quantity, right: Quantity, *, base: Quantity, apart: bool = False, **more: object) -> Quantity:
    """`base` (one of the two) with changes; it spans both unless they stand apart."""
    span = {} if apart else {"start": left.start, "end": right.end}
    approximate = left.approximate or right.approximate
    return replace(base, **{**span, "approximate": approximate, "rate": False, **more})  # type: ignore[arg-type]


def _loose(gap: Parts) -> bool:
    """Whether a rate and its figure belong together across `gap`: a few words of one clause, and no question word."""
    words = [part for part in gap if isinstance(part, Token)]
    length = gap[-1].end - gap[0].start if gap else 0
    plain = all(part.role not in ("break", "ask", "open", "per") for part in words)
    return length <= 16 and plain and all(not part.text.isascii() or part.text in LINKS for part in words if part.role == "word")


def _per_hour(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """2块 + 一小时, $9 + per GPU-hour, 每小时 (预算不超过) + 10块."""
    if left.kind == "money" and _is_one(right, "hour", "gpu-hour") and not gap:
        return _united(left, right, base=left, kind="money_per_hour")
    if right.kind == "money" and _is_one(left, "hour", "gpu-hour") and (not gap or (left.rate and _loose(gap))):
        return _united(left, right, base=right, apart=bool(gap), kind="money_per_hour")
    return None


def _is_one(quantity: Quantity, *units: str) -> bool:
    return quantity.kind == "duration" and quantity.unit in units and quantity.value == 1 and quantity.high is None


def _per_day(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """8 hours + a day, 每天 (跑) + 6个钟头, 24小时 + 不停."""
    if "hours_per_day" in (left.kind, right.kind) and not gap:
        return _united(left, right, base=left, kind="hours_per_day", unit="hour", value=Decimal(24)) if _around_the_clock(left, right) else None
    if _is_one(right, "day") and right.rate and _hours_of_day(left) and not gap:
        return _united(left, right, base=left, kind="hours_per_day")
    if _is_one(left, "day") and left.rate and _hours_of_day(right) and _loose(gap):
        return _united(left, right, base=right, apart=bool(gap), kind="hours_per_day")
    return None


def _hours_of_day(quantity: Quantity) -> bool:
    return quantity.kind == "duration" and quantity.unit == "hour" and not quantity.rate and abs(quantity.value) <= 24


def _around_the_clock(left: Quantity, right: Quantity) -> bool:
    both = [item.kind == "hours_per_day" or (item.kind == "duration" and item.unit == "hour") or _is_one(item, "day") for item in (left, right)]
    return all(both) and all(item.value == 24 or _is_one(item, "day") for item in (left, right))


def _in_days(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """一个月 + (30天), 30 days + a month, 每月 + 22天: the days are what counts."""
    if left.kind != "duration" or right.kind != "duration":
        return None
    said = bool(gap) and all(isinstance(part, Token) and part.role in ("open", "basis", "of") for part in gap)
    if left.unit == "day" and right.unit == "month" and right.value == 1 and left.value <= 31 and (said or (not gap and right.rate)):
        return _united(left, right, base=left)
    if left.unit not in ("week", *MONTHS) or right.unit != "day" or left.high is not None:
        return None
    if not said and not (left.unit == "month" and left.rate and _loose(gap)):
        return None
    months = left.value if left.unit == "month" and right.value in MONTH_DAYS else Decimal(1)
    return _united(left, right, base=right, apart=bool(gap) and not said, value=right.value * months)


def _fix_months(parts: Parts) -> Parts:
    """"按30天算" anywhere behind says how long the months before it are."""
    based = [index for index, part in enumerate(parts[1:], 1) if isinstance(part, Quantity) and part.unit == "day"
             and part.value in MONTH_DAYS and _role(parts[index - 1]) == "basis"]  # fmt: skip
    months = [index for index, part in enumerate(parts) if isinstance(part, Quantity) and part.unit == "month"]
    fixed = list(parts)
    for at in based:
        before = [index for index in months if index < at and isinstance(fixed[index], Quantity)]
        for index in before:
            month, days = cast(Quantity, parts[index]), cast(Quantity, parts[at])
            fixed[index] = replace(month, value=month.value * days.value, unit="day", rate=False)
        if before:
            fixed[at] = Token("word", parts[at].start, parts[at].end, "")
    return fixed


def _role(part: Token | Quantity) -> str:
    return part.role if isinstance(part, Token) else ""


def _compound(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """1 小时 + 42 分, 3天 + 6小时, 一年 + 零三个月, 2块 + 8毛; the nights of 三天三夜 add nothing."""
    if any(_role(part) != "and" and part.text != "零" for part in gap) or left.high is not None or right.high is not None or right.delta:
        return None
    if left.kind == right.kind == "money" and left.unit == right.unit == "CNY" and right.value < 1 and not gap:
        return _united(left, right, base=left, value=left.value + right.value)
    if not left.kind == right.kind == "duration" or (left.rate and not gap and left.unit in ("day", "week") and not _night(left, right)):
        return None
    for sizes in (HOURS, MONTHS):
        if left.unit in sizes and right.unit in sizes:
            ratio = sizes[left.unit] / sizes[right.unit]
            if _night(left, right):
                return _united(left, right, base=left)
            if ratio > 1 and right.value < ratio:
                return _united(left, right, base=left, value=left.value + right.value / ratio)
    return None


def _night(left: Quantity, right: Quantity) -> bool:
    return left.unit == "day" and 0 < right.value <= left.value * NIGHT and bool(re.search("[夜晚宿]|night", right.text))


def _range(left: Quantity, gap: Parts, right: Quantity) -> Quantity | None:
    """3天到5天, $10-$20, 7b-13b."""
    alike = (left.kind, left.unit, left.high, left.delta, right.high, right.delta) == (right.kind, right.unit, None, False, None, False)
    ranged = len(gap) == 1 and (_role(gap[0]) in ("dash", "to") or gap[0].text == "~")
    if alike and ranged and left.value < right.value and left.kind not in ("bare", "precision"):
        return _united(left, right, base=left, high=right.value)
    return None
