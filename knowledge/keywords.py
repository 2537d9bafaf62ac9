"""Chinese-aware words of a text, for the keyword index (passage_store.py) and for questions alike.

Knows spellings, not meanings: synonyms, names and translations are the business of expansion.py, names.py and of
the embedding. Stores, weighs and searches nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Literal

from knowledge.names import normalise

TOKENIZER_VERSION = "3"  # raise it with any change to the tokens a text gives: indexes are then rebuilt

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
NUMBER_WITH_UNIT = re.compile(r"(?<![a-z\d_.-])(\d+(?:\.\d+)?) ?(gib|gb|g|tib|tb|t|b)(?![a-z0-9])")
TIMES = re.compile(r"(?<![a-z\d_.-])(\d+)x(?=[a-z]+\d)")  # 8xA100 are eight of them; gn7.2xlarge32 is one code
THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
# Runs of Chinese; words of any other script, which may hold . : - _ / + inside (gn7.2xlarge32, 1:42:46, 16-bit).
OTHER = rf"(?:(?![{HAN}])[^\W_])+"
RUN = re.compile(rf"([{HAN}]+)|{OTHER}(?:[.:\-_/+]{OTHER})*")
# Numbers, times, instance codes and P-Tuning have one spelling; "tuning" alone is something else.
WHOLE = re.compile(r"[\d:.]+|.*\.\d+[a-z]{2}.*|[a-z]-[a-z\d]+")
SEPARATOR = re.compile(r"(?<!\d)\.|\.(?!\d)|[:\-_/+]|(?<=\d)x(?=\d)")
NAME_AND_VERSION = re.compile(r"([a-z]{2,})(\d+\.\d+)")  # Qwen2.5 is written Qwen 2.5 too
NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)?)(?:gb|tb|x)")
# A lone letter belongs to the digits beside it: 65b, 4090d, a100, l40s.
LETTERS_OR_DIGITS = re.compile(r"(?:(?<![a-z])[a-z](?=\d))?\d+(?:\.\d+)?(?:[a-z](?![a-z]))?|[a-z]+")
SEVERAL_V100 = re.compile(r"V100s(?![A-Za-z0-9])")  # by case only: V100S and v100s are another card
NO_PLURAL = frozenset({"l40s", "v100s"})
PLURAL_SHORT = re.compile(r"[cgntx]pus|[bcdfghjklmnpqrtvwxz]{2,}s")  # GPUs, LLMs, SSDs: no stemmer knows these
UNIT = {"gib": "gb", "g": "gb", "tib": "tb", "t": "tb"}

ENGLISH_FILLERS = re.compile(
    "a|about|an|and|any|are|as|at|be|been|by|can|could|did|do|does|for|from|had|has|have|how|i|if|in|into|is|it|its|"
    "many|me|much|my|of|on|one|or|our|please|shall|should|so|tell|than|that|the|their|them|then|there|these|they|this|"
    "those|to|us|was|we|were|what|when|where|which|who|why|will|with|would|you|your"
)
CHINESE_FILLERS = re.compile(
    "多少|什么|怎么样|怎么|怎样|如何|哪些|哪个|哪种|哪里|哪家|为什么|为何|请问|是不是|有没有|能不能|可不可以|可以|"
    "告诉|一下|一个|以及|我们|你们|这个|那个|[的了吗呢吧啊呀嘛么是和与或在我你他它把被让给就也都很啥咋几]"
)


@dataclass(frozen=True)
class Word:
    """One word of a text as first spelt, and the pieces other spellings may have (none if it has one spelling).

    Words of a question may carry what expansion.py knows. `equivalents` are other forms, each a group of plain words
    that must all be there. Of kind "phrase" are several words that have such forms together; `parts` are those words.
    """

    whole: str
    pieces: tuple[str, ...]
    kind: Literal["code", "han", "phrase"]
    parts: tuple[Word, ...] = ()
    equivalents: tuple[tuple[Word, ...], ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        return (self.whole, *self.pieces)


def tokenize(text: str) -> list[str]:
    """The tokens of a text in reading order, for the index and for questions alike.

    Widths, case and traditional characters are levelled, a change of script parts words, fillers
    (how, the, 多少, 的) are dropped. Codes and numbers stay whole (ddr5, 34.742, 1:42:46) and also
    come in pieces where people vary the spelling (rtx4090 = rtx + 4090, 24GB = 24gb + 24);
    Chinese comes as pairs of characters and as single ones, so that a question 租 finds 租用.
    """
    return [token for word in words(text) for token in word.tokens]


def words(text: str) -> list[Word]:
    """The words of a text; `tokenize` is this list, flattened."""
    level = SEVERAL_V100.sub("V100", normalise(text)).casefold()
    level = TIMES.sub(r"\1 ", level)
    level = THOUSANDS.sub(lambda match: match.group().replace(",", ""), level)
    level = NUMBER_WITH_UNIT.sub(lambda match: f" {match[1]}{UNIT.get(match[2], match[2])} ", level)
    found: list[Word] = []
    for match in RUN.finditer(level):
        found += _han_words(match[1]) if match[1] else _code_words(match.group())
    return found


def _han_words(run: str) -> list[Word]:
    found = []
    for part in CHINESE_FILLERS.split(run):
        if len(part) == 1:
            found.append(Word(part, (), "han"))
        found += [Word(a + b, (a, b), "han") for a, b in pairwise(part)]
    return found


def _code_words(run: str) -> list[Word]:
    if ENGLISH_FILLERS.fullmatch(run) or (len(run) == 1 and run.isalpha()):
        return []
    whole = stem(run)
    if number := NUMBER_AND_UNIT.fullmatch(run):
        return [Word(whole, (number[1],), "code")]
    if WHOLE.fullmatch(run):
        return [Word(whole, (), "code")]
    pieces = [stem(piece) for part in SEPARATOR.split(run) for piece in _spelling_pieces(part)]
    kept = tuple(piece for piece in pieces if len(piece) > 1 or piece.isdigit())
    return [Word(whole, () if kept == (whole,) else kept, "code")]


def _spelling_pieces(word: str) -> list[str]:
    """rtx4090 -> rtx 4090, llama65b -> llama 65b, a100sxm -> a100 sxm; but ddr5, chatglm2 and 4090d stay whole."""
    if versioned := NAME_AND_VERSION.fullmatch(word):
        return list(versioned.groups())
    if not re.search(r"\d{2}|\d[a-z]{2}", word) or re.search(r"[a-z]\d(?!\d)", word):
        return [word]
    return [word, word[:-2]] if NUMBER_AND_UNIT.fullmatch(word) else LETTERS_OR_DIGITS.findall(word)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """English words to their stem (renting -> rent), codes without a plural s (T4s, GPUs; but L40S is a product).

    Takes small letters without joints inside: one word of RUN, split at SEPARATOR.
    """
    if PLURAL_SHORT.fullmatch(word):
        return word[:-1]
    if len(word) > 3 and word.isascii() and word.isalpha():
        return str(_stemmer().stemWord(word))
    return word[:-1] if re.fullmatch(r"[a-z]*\d+s", word) and word not in NO_PLURAL else word


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")
