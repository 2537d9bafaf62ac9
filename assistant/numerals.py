"""Reads one number written in Arabic digits, Chinese or English, after folding the text to one spelling.

It knows no unit, currency or GPU: what a number counts is decided in quantities.py.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

Style = Literal["arabic", "chinese", "english", "article"]

TRADITIONAL = str.maketrans(
    "張臺萬億兩個時鐘點塊錢週禮顯條樣參數體間雙單餘幾圓倆負約預費開關機連續幣據內壹貳叁肆伍陸柒捌玖拾佰仟贰陆〇"
    "輪買賣夠節實務顆價過遠併請擬資後與當歲會還對來滿幹導無號減給現從門裡應該讓進點遍寬帶繼頭隻贊貴讀紙隊園"
    "–—−‐‑～〜∼×✕✖＊・",
    "张台万亿两个时钟点块钱周礼显条样参数体间双单余几圆俩负约预费开关机连续币据内一二三四五六七八九十百千二六零"
    "轮买卖够节实务颗价过远并请拟资后与当岁会还对来满干导无号减给现从门里应该让进点遍宽带继头只赞贵读纸队园"
    "-----~~~****·",
)
FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75", "⅓": ".3333", "⅔": ".6667"}
DIGITS = {char: value for value, chars in enumerate(["零", "一", "二两", "三", *"四五六七八九"]) for char in chars}
SCALES = {"亿": 10**8, "万": 10**4, "千": 1000, "百": 100, "十": 10}
SUFFIXES = {"k": 10**3, "w": 10**4, "m": 10**6, "千": 10**3, "万": 10**4, "亿": 10**8, "百": 100}
ONES = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "single": 1, "another": 1, "dual": 2, "quad": 4,
}  # fmt: skip
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
MULTIPLES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "dozen": 12, "couple": 2, "pair": 2}

NAME = "\ufffc"  # stands for every character of a linked name, so that its digits cannot be read
VAGUE_ONE = "个把"  # 个把月: about one month
MOST_WORDS = 12  # of one English number
_ARABIC = re.compile(
    r"[0-9]{1,3}(?:,[0-9]{3}){1,20}(?:\.[0-9]{1,400})?(?![0-9])|[0-9]{1,400}(?:\.[0-9]{1,400})?(?:e\+?[0-9]{1,3}(?![0-9a-z]))?|\.[0-9]{1,400}",
    re.ASCII,
)
_SUFFIX = re.compile(r"[kwm](?![a-z0-9])")
_WORD_SCALE = re.compile(r"[\s-]?(hundred|thousand|million|billion|dozen)s?(?![a-z])")
_AND_A_HALF = re.compile(r"\s+and\s+a\s+half(?![a-z])")
_CHINESE_RUN = re.compile(rf"(?:[{''.join(DIGITS)}十百千万亿点]|\s?[百千万亿]+|{_ARABIC.pattern}){{1,24}}", re.ASCII)
_PIECE = re.compile(rf"{_ARABIC.pattern}|\S", re.ASCII)
# Two neighbouring digits name a range: 三四天 is 3 to 4 days. 三五 is the one idiom that skips a digit.
_PAIR = re.compile("一[二两]|[二两]三|三[四五]|四五|五六|六七|七八|八九")
# A lone last digit shifts up (三百五 = 350) unless it begins the next quantity (两千一天 = 2000 a day).
_NEXT_MEASURE = re.compile(r"\s*[个天日小周月年台张卡片颗季星礼钟分秒晚夜倍成条]")
_BEFORE_COUNT = re.compile(r"[单双](?=\s?(?:[张卡台机块片节]|gpu))")
# 百来个小时, 上百并发, 千把块, 成千条: about a hundred, a thousand, ten thousand.
_VAGUE_HUNDRED = re.compile(
    r"(?:[上成近](?P<a>[百千万])(?=\s?(?:个|路|名|位|人|用户|并发|请求|小时|天|元|块))|(?P<b>[百千万])[来把多](?=\s?[个张块台小天条元名位路人并]))"
)
_VAGUE_REST = re.compile("[多余几](?!少)|来(?=[个天块元条张台万年小])")
_WORD = re.compile(r"[a-z]+")
_GAP = re.compile(r"[\s-]+")


@dataclass(frozen=True)
class Number:
    """A number read at one place; `end` is the index behind it in the folded text.

    `high` is set where the words name a range (两三). `scale` is the multiplier that was written last (万 -> 10000,
    k -> 1000, otherwise 1): in "1.2-1.5 万" it belongs to both numbers.
    """

    low: Decimal
    end: int
    style: Style
    high: Decimal | None = None
    scale: Decimal = Decimal(1)
    suffix: str = ""
    approximate: bool = False


@dataclass(frozen=True)
class Folded:
    """Text in one spelling (half-width, lower case, simplified where we read it); `offsets[i]` is where it came from."""

    text: str
    offsets: tuple[int, ...]


def fold(text: str) -> Folded:
    """Fold width, case, invisible characters and the traditional characters of our vocabulary; never raises."""
    pieces = [(piece, index) for index, char in enumerate(text) for piece in _fold_character(char)]
    return Folded("".join(piece for piece, _ in pieces), tuple(index for _, index in pieces))


def _fold_character(char: str) -> str:
    if char in FRACTIONS:
        return FRACTIONS[char]
    if unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f" or char == NAME:
        return ""
    if unicodedata.category(char) == "No":
        return char  # ² and ① are not digits of the number beside them
    plain = unicodedata.normalize("NFKC", char).lower()
    # Characters that would grow stay as they are, so that one character never carries two quantities.
    return (plain if len(plain) == 1 else char).translate(TRADITIONAL)


def read_number(text: str, at: int) -> Number | None:
    """The number that starts at `at` in folded text, or None. Reads as much as forms one valid number.

    "半" and "half" are 0.5, "a" and "an" are 1 with style "article"; the caller decides whether they count anything.
    """
    return _read_arabic(text, at) or _read_chinese(text, at) or _read_english(text, at)


def _read_arabic(text: str, at: int) -> Number | None:
    match = _ARABIC.match(text, at)
    if match is None:
        return None
    value, end = Decimal(match[0].replace(",", "")), match.end()
    if suffix := _SUFFIX.match(text, end):
        scale = Decimal(SUFFIXES[suffix[0]])
        return Number(value * scale, suffix.end(), "arabic", scale=scale, suffix=suffix[0])
    if word := _WORD_SCALE.match(text, end):
        scale = Decimal(MULTIPLES[word[1]])
        return Number(value * scale, word.end(), "arabic", scale=scale, suffix=word[1])
    if half := _AND_A_HALF.match(text, end):
        return Number(value + Decimal("0.5"), half.end(), "arabic")
    # 2万5, 1亿2000万 and 20多 go on in Chinese.
    chinese = _read_chinese_run(text, at, "arabic")
    return chinese or Number(value, end, "arabic")


def _read_chinese(text: str, at: int) -> Number | None:
    if special := _BEFORE_COUNT.match(text, at):
        return Number(Decimal(1 if special[0] == "单" else 2), special.end(), "chinese")
    if text.startswith(VAGUE_ONE, at):
        return Number(Decimal(1), at + len(VAGUE_ONE), "chinese", approximate=True)
    if vague := _VAGUE_HUNDRED.match(text, at):
        return Number(Decimal(SCALES[vague["a"] or vague["b"]]), vague.end(), "chinese", approximate=True)
    fixed = {"半": Decimal("0.5"), "俩": Decimal(2), "仨": Decimal(3)}
    if text[at] in fixed:
        return Number(fixed[text[at]], at + 1, "chinese")
    return _read_chinese_run(text, at, "chinese") if text[at] in DIGITS or text[at] == "十" else None


def _read_chinese_run(text: str, at: int, style: Style) -> Number | None:
    run = _CHINESE_RUN.match(text, at)
    if run is None:
        return None
    ends = [piece.end() for piece in _PIECE.finditer(text, at, run.end())]
    for end in reversed(ends):
        low, high = _evaluate_range(text[at:end])
        if low is not None and not (_shifts_last_digit(text[at:end]) and _NEXT_MEASURE.match(text, end)):
            return _with_rest(text, at, end, Number(low, end, style, high, _last_scale(text[at:end]), "", bool(high)))
    return None


def _with_rest(text: str, at: int, end: int, number: Number) -> Number:
    """Add a trailing 多/余/来/几 (二十多, 十几), which makes the number a vague lower bound."""
    rest = _VAGUE_REST.match(text, end)
    if (
        rest is None
        or (rest[0] == "几" and text[end - 1] not in SCALES)
        or (rest[0] == "来" and text[end - 1] not in "0十百千万")
    ):
        return number
    scale = SCALES.get(text[rest.end() : rest.end() + 1], 1) if text[end - 1] in "十百千" else 1
    wide = Decimal(scale if scale >= SCALES["万"] else 1)  # 二十多万
    return Number(number.low * wide, rest.end() + (wide > 1), number.style, None, wide * number.scale, "", True)


def _evaluate_range(written: str) -> tuple[Decimal | None, Decimal | None]:
    pieces = _PIECE.findall(written)
    if (value := _evaluate(pieces)) is not None:
        return value, None
    pair = _PAIR.search(written)
    if pair is None:
        return None, None
    before, after = written[: pair.start()], written[pair.end() :]
    low, high = (_evaluate(_PIECE.findall(before + digit + after)) for digit in pair[0])
    return (low, high) if low is not None and high is not None else (None, None)


def _evaluate(pieces: list[str]) -> Decimal | None:
    """Value of digits and scales, by splitting at the largest scale: head x scale + tail; None if malformed."""
    if "点" in pieces:
        return _evaluate_decimal(pieces)
    scales = [piece for piece in SCALES if piece in pieces]
    if not scales:
        return _evaluate_digits(pieces)
    split = len(pieces) - 1 - pieces[::-1].index(scales[0])
    scale = SCALES[scales[0]]
    head, tail = _evaluate_head(pieces[:split], scale), _evaluate_tail(pieces[split + 1 :], scale)
    return None if head is None or tail is None else head * scale + tail


def _evaluate_head(pieces: list[str], scale: int) -> Decimal | None:
    if not pieces:
        return Decimal(1) if scale == SCALES["十"] else None
    if scale < SCALES["万"] and len(pieces) > 1:
        return None
    value = _evaluate(pieces)
    return value if value else None  # 零万 is no number


def _evaluate_tail(pieces: list[str], scale: int) -> Decimal | None:
    if not pieces:
        return Decimal(0)
    if pieces[0] == "零":
        value = _evaluate(pieces[1:]) if len(pieces) > 1 else None
    elif len(pieces) == 1 and scale >= SCALES["百"]:
        value = _evaluate(pieces)
        return value * scale / 10 if value is not None and len(pieces[0]) == 1 else None
    else:
        value = _evaluate(pieces)
    return value if value is not None and value < scale else None


def _evaluate_digits(pieces: list[str]) -> Decimal | None:
    if len(pieces) == 1:
        return Decimal(DIGITS[pieces[0]]) if pieces[0] in DIGITS else Decimal(pieces[0].replace(",", ""))
    spelled = len(pieces) >= 3 and all(
        piece in DIGITS for piece in pieces
    )  # 四零九零; two digits are a range or nothing
    return Decimal("".join(str(DIGITS[piece]) for piece in pieces)) if spelled else None


def _evaluate_decimal(pieces: list[str]) -> Decimal | None:
    point = pieces.index("点")
    fraction = [piece for piece in pieces[point + 1 :] if piece in DIGITS]
    rest = pieces[point + 1 + len(fraction) :]
    whole = _evaluate(pieces[:point]) if pieces[:point] else None
    if whole is None or not fraction or len(rest) > 1 or any(piece not in SCALES for piece in rest):
        return None
    scale = SCALES[rest[0]] if rest else 1
    return (whole + Decimal("0." + "".join(str(DIGITS[piece]) for piece in fraction))) * scale


def _shifts_last_digit(written: str) -> bool:
    return len(written) > 1 and written[-1] not in SCALES and written[-2] in "百千万亿"


def _last_scale(written: str) -> Decimal:
    return Decimal(SUFFIXES.get(written[-1], 1))


def _read_english(text: str, at: int) -> Number | None:
    words: list[str] = []
    end = at
    while (match := _WORD.match(text, _after_gap(text, end) if words else end)) and _continues(words, match[0]):
        words.append(match[0].removesuffix("s") if match[0][:-1] in MULTIPLES else match[0])
        end = match.end()
    while words and words[-1] == "and":
        words.pop()
        end = text.rindex("and", at, end)
        end = len(text[:end].rstrip(" -"))
    if not words:
        return None
    value = _evaluate_words(words)
    if half := _AND_A_HALF.match(text, end):
        return Number(value + Decimal("0.5"), half.end(), "english")
    return _finish_english(text, end, words, value)


def _finish_english(text: str, end: int, words: list[str], value: Decimal) -> Number:
    if of := re.compile(r"\s+of(?![a-z])").match(text, end):
        end = of.end() if words[-1] in ("couple", "pair", "dozen", "half") else end
    article = re.compile(r"\s+an?(?![a-z])").match(text, end)
    if words == ["half"] and article:
        end = article.end()
        if dozen := re.compile(r"\s+dozen(?![a-z])").match(text, end):
            return Number(Decimal(6), dozen.end(), "english")
    scale = Decimal(MULTIPLES[words[-1]]) if words[-1] in ("hundred", "thousand", "million", "billion") else Decimal(1)
    style: Style = "article" if words in (["a"], ["an"]) else "english"
    return Number(value, end, style, scale=scale, approximate="couple" in words)


def _after_gap(text: str, at: int) -> int:
    gap = _GAP.match(text, at)
    return gap.end() if gap else len(text)


def _continues(words: list[str], word: str) -> bool:
    """Whether `word` can follow: "twenty two", "a hundred and five", "a couple", but not "one two" or "two a"."""
    plural = word.removesuffix("s")
    last = words[-1] if words else None
    if len(words) >= MOST_WORDS:
        return False
    if last is None:
        return word in ONES or word in TENS or word in ("a", "an", "half")
    if plural in MULTIPLES:
        return last != "half" and (last not in ("a", "an") or word == plural) and last not in ("couple", "pair")
    if word == "half":
        return words == ["a"]
    if word == "and":
        return last in ("hundred", "thousand", "million", "billion")
    if word in TENS:
        return last in ("hundred", "thousand", "million", "billion", "and")
    return word in ONES and (last in TENS or last in ("hundred", "thousand", "million", "billion", "and"))


def _evaluate_words(words: list[str]) -> Decimal:
    total, current = 0, 0
    for word in words:
        if word == "half":
            return Decimal("0.5")
        if word in MULTIPLES and MULTIPLES[word] >= MULTIPLES["thousand"]:
            total, current = total + max(current, 1) * MULTIPLES[word], 0
        elif word in MULTIPLES:
            current = max(current, 1) * MULTIPLES[word]
        else:
            current += 1 if word in ("a", "an") else ONES.get(word, TENS.get(word, 0))
    return Decimal(total + current)


def binary_factor(number: Number) -> Decimal:
    """1.024 for 8k, 32k, 128k: context lengths that are powers of two are counted in 1024s."""
    thousands = number.low / 1000
    whole = int(thousands) if thousands == int(thousands) else 0
    return Decimal("1.024") if number.suffix == "k" and whole > 0 and whole & (whole - 1) == 0 else Decimal(1)


def range_of(first: Number, second: Number, role: str) -> Number | None:
    low = first.low * second.scale if first.scale == 1 and first.low * second.scale < second.low else first.low
    if (
        first.high
        or second.style == "article"
        or low >= second.low
        or (role == "or" and second.low - low != second.scale)
    ):
        return None
    return replace(second, low=low, high=second.high or second.low)
