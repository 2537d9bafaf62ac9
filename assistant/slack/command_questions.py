"""A subcommand and its arguments -> the question, worded so that the chat's understanding takes every part of it.

Names, quantities, currency and market are told apart by the same readers as the chat's; what is left over makes the
arguments a sentence of their own, which no template may bend. It looks nothing up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assistant.evidence import Language
from assistant.quantities import Quantity, parse_quantities
from assistant.reading import without
from assistant.render import CURRENCY_ZH, joined
from assistant.slack.view import ChannelSettings
from knowledge.names import Link, display, link, normalise

Verb = Literal["prices", "cost", "fit"]
Span = tuple[int, int]

CURRENCIES: dict[str, str] = {
    "CNY": r"CNY|RMB|yuan|人民币|(?<![美欧日])元|¥", "USD": r"USD|US\$|dollars?|美元|美金|\$", "EUR": r"EUR|euros?|欧元|€",
    "GBP": r"GBP|pounds?|英镑|£", "JPY": r"JPY|yen|日元|円",
}  # fmt: skip
# A currency that stands alone, and the words that lead to it; not the unit of an amount (28 元).
ALONE = r"(?:(?:in|to|as|按|用|以|换算成|折合成?|换成)\s*)?(?<![A-Za-z.])(?:{})(?![A-Za-z\d])(?:\s*计价)?"
MARKETS: dict[str, tuple[str, str]] = {  # as said -> Chinese, English
    r"spot|pre-?emptible|竞价|抢占式?": ("竞价", "spot"),
    r"on[- ]demand|按需|按量": ("按需", "on demand"),
    r"monthly|包月": ("包月", "monthly"),
}
FILLING = re.compile(
    r"(?<![a-z])(?:and|or|vs\.?|versus|with|at|on|from|for|of|in|the|a|an|cards?|gpus?|prices?|only|per|rent(?:al|ing)?|context|ctx|tokens?|length)(?![a-z])"
    r"|[和与跟及或在上用的租张卡台只看对比]|上下文|价格|租用|租赁|tokens",
    re.I,
)
LETTERS = re.compile(r"[A-Za-z\u3400-\u9fff?？]")
CONTEXT = re.compile(r"(?:(?:context|ctx|上下文)(?:\s*(?:length|长度))?\s*[:=]?\s*)?(?<![\w.])(\d+(?:\.\d+)?)\s*k(?![\w])(?:\s*(?:context|ctx|tokens?|上下文))*"
                     r"|(?:context|ctx|上下文)(?:\s*(?:length|长度))?\s*[:=]?\s*(\d{3,})(?!\w)(?:\s*tokens?)?|(?<![\w.])(\d{3,})\s*(?:tokens?|context|ctx|上下文)(?:\s*(?:context|上下文))?", re.I)  # fmt: skip
BETWEEN = re.compile(r"\s+(?=(?:\d+\s*(?:[x×*]|张|块|台)?\s*)?$)")
QUOTES = str.maketrans(dict.fromkeys("\"'`“”‘’„«»", " "))  # "4x A100": a quantity is read after a blank alone
ENGLISH_UNITS = {"card": "x", "machine": " machines"}


@dataclass(frozen=True)
class _Arguments:
    """What the arguments say, and their words without currency, market and context."""

    text: str
    links: tuple[Link, ...]
    quantities: tuple[Quantity, ...]
    currency: str
    market: tuple[str, str] | None
    context: str

    def market_in(self, language: Language) -> str:
        """竞价 / spot, or "" where no market was said."""
        return self.market[0 if language == "zh" else 1] if self.market else ""

    def names(self, kind: str) -> list[Link]:
        return [each for each in self.links if each.kind == kind]


def is_only_names(text: str) -> bool:
    """Whether the words are names, quantities, a currency, a market and what joins them: no sentence."""
    return not _left_over(_read(text))


def question_of(verb: Verb, rest: str, settings: ChannelSettings, language: Language) -> str | None:
    """The question in that language; None where the words are a sentence of their own, to be asked as they are."""
    said = _read(rest)
    if _left_over(said):
        return None
    if verb == "fit":
        return _fit(said, language)
    providers = () if said.names("provider") else settings.providers
    return (
        _prices(said, providers, language) if verb == "prices" else _cost(said, providers, settings.currency, language)
    )


def _prices(said: _Arguments, providers: Sequence[str], language: Language) -> str:
    """Only a currency that was typed is asked for: in the channel's the rows are shown (view.py), and asking for it would
    leave out the rows in others where some have it."""
    words, ending = _named(said, language), f"{_only(providers, language)}{_in(said.currency, language)}"
    several = len({each.key for each in said.names("gpu")}) > 1
    if language == "zh":
        return f"{'比较 ' if several else ''}{words} 的{said.market_in(language)}租用价格{ending}"
    opening = f"{'compare the ' if several else ''}{said.market_in(language)} rental prices of {words}".strip()
    return f"{opening[0].upper()}{' '.join(opening[1:].split())}{ending}"


def _cost(said: _Arguments, providers: Sequence[str], currency: str, language: Language) -> str:
    words, market = _named(said, language), said.market_in(language)
    ending = f"{_only(providers, language)}{_in(said.currency or currency, language)}"
    if language == "zh":
        return f"{market}租用 {words} 要多少钱{ending}？"
    return f"What does renting {words}{f' {market}' if market else ''} cost{ending}?"


def _fit(said: _Arguments, language: Language) -> str | None:
    """Whether the model fits on the cards named, else how much memory it needs; None without a model."""
    if not (said.names("model") or any(each.kind == "parameters" for each in said.quantities)):
        return None
    words = _named(said, language)
    if language == "zh":
        context = f"，上下文 {said.context}" if said.context else ""
        return f"{words} 跑得动吗{context}？" if said.names("gpu") else f"{words} 需要多少显存{context}？"
    context = f" with {said.context} context" if said.context else ""
    return f"Does {words} fit{context}?" if said.names("gpu") else f"How much memory does {words} need{context}?"


def _read(rest: str) -> _Arguments:
    text, currency = _without_currency(" ".join(normalise(rest).translate(QUOTES).split()))
    market = None
    for words, both in MARKETS.items():
        if found := re.search(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", text, re.I):
            text, market = f"{text[: found.start()]} {text[found.end() :]}", both
    text, context = _without_context(text)
    text = " ".join(text.split())
    links, quantities = _found(text)
    return _Arguments(text, links, quantities, currency, market, context)


def _found(text: str) -> tuple[tuple[Link, ...], tuple[Quantity, ...]]:
    links = tuple(link(text))
    return links, tuple(parse_quantities(text, names=[(each.start, each.end) for each in links]))


def _without_currency(text: str) -> tuple[str, str]:
    """The words without a currency that is no amount's (28 元, $2), and that currency."""
    taken = [(each.start, each.end) for found in _found(text) for each in found]
    for code, words in CURRENCIES.items():
        for match in re.finditer(ALONE.format(words), text, re.I):
            if not any(start < match.end() and match.start() < end for start, end in taken):
                return f"{text[: match.start()].rstrip(', ，')} {text[match.end() :]}", code
    return text, ""


def _without_context(text: str) -> tuple[str, str]:
    """The words without a context length, and that length (32k, 8192 tokens), which beside a card would count cards."""
    names = [(each.start, each.end) for each in link(text)]
    for match in CONTEXT.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in names):
            size = f"{match[1]}k" if match[1] else f"{match[2] or match[3]} tokens"
            return f"{text[: match.start()]} {text[match.end() :]}", size
    return text, ""


def _left_over(said: _Arguments) -> bool:
    """Whether words are left that are no name, quantity or joining word."""
    spans = [(each.start, each.end) for each in said.links] + [(each.start, each.end) for each in said.quantities]
    return bool(LETTERS.search(FILLING.sub(" ", without(said.text, sorted(spans)))))


def _named(said: _Arguments, language: Language) -> str:
    """The words with cards and clouds parted, and in English without Chinese words."""
    pieces: list[str] = []
    at = 0
    previous: Link | None = None
    for each in said.links:
        gap = said.text[at : each.start]
        if previous and previous.kind == each.kind and (blank := BETWEEN.match(gap)):
            gap = f"{_parted(said.links, each, language)}{gap[blank.end() :]}"
        pieces += [_english(gap, said.quantities, at) if language == "en" else gap]
        pieces += [display("provider", each.key, language) if each.kind == "provider" else each.text]
        at, previous = each.end, each
    tail = said.text[at:]
    pieces.append(_english(tail, said.quantities, at) if language == "en" else tail)
    return " ".join("".join(pieces).split()).strip(" ,，、")


def _parted(links: Sequence[Link], this: Link, language: Language) -> str:
    """What stands before a name that follows another of its kind: the last of cards is joined, as in a comparison."""
    last = not any(each.start > this.start and each.kind == this.kind for each in links)
    if language == "zh":
        return " 和 " if last else "、"
    return " and " if last else ", "


def _english(gap: str, quantities: Sequence[Quantity], offset: int) -> str:
    """A gap between names, where quantities in Chinese words are written in English and joining words as commas."""
    for each in reversed(quantities):
        start, end = each.start - offset, each.end - offset
        if start >= 0 and end <= len(gap) and re.search(r"[\u3400-\u9fff]", gap[start:end]):
            gap = f"{gap[:start]} {_in_english(each)} {gap[end:]}"
    return re.sub(r"\s*[\u3400-\u9fff、，]+\s*", ", ", gap) if gap.strip() else gap


def _in_english(quantity: Quantity) -> str:
    value = f"{quantity.value:f}"
    if quantity.kind == "count":
        return f"{value}x"
    return f"{value} {quantity.unit}{'s' if quantity.kind == 'duration' and quantity.value != 1 else ''}"


def _only(providers: Sequence[str], language: Language) -> str:
    if not providers:
        return ""
    names = joined((display("provider", key, language) for key in providers), language)
    return f"，只看 {names}" if language == "zh" else f", only at {names}"


def _in(currency: str, language: Language) -> str:
    if not currency:
        return ""
    zh = "人民币" if currency == "CNY" else CURRENCY_ZH.get(currency, currency)
    return f"，换算成{zh}" if language == "zh" else f", in {currency}"
