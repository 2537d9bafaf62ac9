"""Reads one number written in Arabic digits, Chinese or English, after folding the text to one spelling.

It knows no unit, currency or GPU: what a number counts is decided in quantities.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
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
# What looks like a number, or holds digits, and is none. Tried in this order; the first word names the token's role.
LITERALS = tuple((role, re.compile(pattern, re.ASCII)) for role, pattern in (
    ("clock", r"\d{1,3}:[0-5]\d:[0-5]\d(?![\d:])"),
    ("skip", r"https?://\S+|\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d+(?:\.\d+){2,}|\d{1,2}:\d{2}(?![\d:])"),  # address, date, time
    ("skip", r"(?!24/7|7/24)\d{1,2}/\d{1,2}(?:/\d+)?"),
    ("skip", r"(?:1[89]|20)\d\d\s?年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|二[零〇][零〇一二三四五六七八九]{2}年"),
    ("skip", r"(?:in|since|until|by)\s+(?:19[89]|20[0-3])\d(?![\d.,]*[a-z\d])"),
    ("skip", r"(?:\d{1,2}|[一二三四五六七八九]|十[一二]?)月(?:\d{1,2}[日号]|[一二三四五六七八九十]+[日号]|份|初|底|中旬)?"),
    ("skip", r"(?:周|星期|礼拜)[一二三四五六日天](?![天个小张台次月])"),
    ("skip", r"第\s?(?:\d+|[一二三四五六七八九十几]+)[个张台块条步]?|(?:no\.?|#|top)[\s-]*\d+|[几数][十百千万亿]+"),
    ("skip", r"百八十|一点(?=一[个小天周台张])|十分(?!钟)|[一二三四五六七八九十]分之[一二三四五六七八九]|[23]d(?![a-z0-9])"),
    ("skip", r"(?:cuda|cudnn|python|pytorch|torch|ubuntu|debian|centos|windows|driver|version|pcie|gen|版本|驱动|端口)"
             r"\s?-?\d+(?:\.\d+)*(?:\s?x\d+)?(?!\s?[张台卡])"),
    ("name", r"[1-5]0[5-9]0\s?(?:d|ti|super)(?![a-z0-9])"),
    ("precision", r"(?:(?:fp|bf|tf|int|nf|mxfp)\d{1,2}|q\d(?:_[a-z0-9]+)+|w\d{1,2}a\d{1,2})(?![a-z0-9])"),
    ("name", rf"{NAME}+(?:'?s(?![a-z0-9]))?"),
    ("times", rf"[x*](?=\s*(?:{NAME}|\d|[a-z]{{1,4}}\d{{2}}|gpu|card))|x(?![a-z0-9])"),
    ("name", r"[a-z]+\d[a-z0-9]*(?:\.\d[a-z0-9]*)*|\d+x\d+(?:\.\d+)?b(?![a-z0-9])"),  # an identifier that nobody linked
    ("dash", "-"), ("open", r"[(\[]"), ("close", r"[)\]]"), ("break", r"\.(?!\d)|[,;!?。、\n]"),
))  # fmt: skip
HARDWARE = {"name": re.compile(r"[1-5]0[5-9]0"), "cpu": re.compile(r"8358|8468|8480|6530|7763|9654")}  # named by a number

MOST_WORDS = 12  # of one English number
_ARABIC = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,20}(?:\.[0-9]{1,400})?(?![0-9])|[0-9]{1,400}(?:\.[0-9]{1,400})?(?:e\+?[0-9]{1,3}(?![0-9a-z]))?|\.[0-9]{1,400}", re.ASCII)
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
_VAGUE_REST = re.compile("[多余几](?!少)|来(?=[个天块元条张台万年小])")
_WORD = re.compile(r"[a-z]+")
_GAP = re.compile(r"[\s-]+")

# kind, unit, size in that unit: spellings ("_" stands for a space or hyphen). MB and seconds are given in GB and minutes.
UNITS = """
count card 1: 张 卡 片 gpu gpus card cards 显卡 graphics_card graphics_cards video_card
count machine 1: 台 机 机器 服务器 节点 实例 主机 备机 机子 machine machines server servers node nodes instance instances box boxes vm vms
count pair 2: 对
duration minute 0.0166666666666666666666666667: 秒 秒钟 s sec secs second seconds
duration minute 1: 分钟 分 min mins minute minutes
duration hour 1: 小时 时 钟头 h hr hrs hour hours
duration hour 12: 夜 晚 晚上 宿 night nights overnight 通宵
duration hour 48: 周末 weekend weekends
duration day 1: 天 日 工作日 d day days workday workdays working_day working_days business_day business_days
duration week 1: 周 星期 礼拜 week weeks wk wks
duration week 2: fortnight fortnights
duration month 1: 月 month months mo mos
duration quarter 1: 季度 季 quarter quarters
duration year 1: 年 year years yr yrs
duration gpu-hour 1: 卡时 卡小时 gpu小时 gpu_小时 gpu时 gpu_h gpu_hr gpu_hrs gpu_hour gpu_hours card_hour card_hours
money CNY 1: ¥ 元 块 块钱 元钱 圆 rmb cny yuan kuai 人民币
money CNY 0.1: 毛 角 毛钱
money USD 1: $ us$ 美元 美金 刀 美刀 usd dollar dollars buck bucks
money JPY 1: 日元 日币 yen
money HKD 1: 港元 港币 hkd
money EUR 1: € 欧元 euro euros eur
money GBP 1: £ 英镑 gbp
memory GB 1: g gb 个g
memory GB 0.001: mb 兆
memory GiB 1: gib
memory GiB 0.0009765625: mib
memory TB 1: t tb
memory TiB 1: tib
rows row 1: 条 行 样本 数据 row rows sample samples record records example examples
percent % 1: % percent pct 百分点 percentage_points
percent % 10: 成
factor x 1: 倍 times fold
parameters B 1: b
parameters B 0.000000001: 参数 参数量 param params parameter parameters
context token 1: token tokens 上下文 context ctx 窗口 context_length context_window seq seq_len sequence_length 序列长度 max_len
precision bit 1: bit bits 比特
bare core 1: 核 核心 core cores vcpu vcpus
bare chip 1: 颗 枚 chip chips
bare epoch 1: 轮 epoch epochs
bare replica 1: 副本 replica replicas
bare person 1: 人 people users
bare time 1: 次 遍
bare watt 1: 瓦 watt watts
bare kWh 1: 度 度电 kwh
bare kW 1: 千瓦 kw
bare GB/s 1: gb/s gbps
bare TB/s 1: tb/s
bare TOPS 1: tops
bare TFLOPS 1: tflops tflop
bare 折 1: 折
bare - 1: 家 款 种 类 项 号 名 位 方 篇 章 部 楼
"""
WORDS = """
approx: 约 大约 大概 差不多 大致 估计 将近 接近 ~ about around roughly approximately approx nearly almost
approx_after: 左右 上下 前后 or_so more_or_less 出头
many: 余
minus: 负 minus negative
add: 再加 再来 再租 再买 再要 再开 再增 再添 再 追加 增加 再增加 多加 多租 多开 加上 add additional extra
add_or_and: 加 多 plus
subtract: 减 减去 减掉 去掉 减少 少 少租 少开 remove drop
more: more
fewer: fewer less
to: 到 至 to
or: 或 或者 or
and: and 又 &
between: between
measure: 个
filler: 整 整整 whole full entire straight consecutive 连续 solid total
per: 每 每一 per each every / 按每
of: 的 是 即 也就是 = :
basis: 按 按照 以 assuming counting
half: and_a_half
percent: 百分之
budget: 预算 budget 花 花费 花了 出 出价 只有 手里有 手头 手头有 spend
enough: 够 够吗 够不够 enough 收 入手 拿下 to_spend
get: 租 买 换 插 配 换成
adjective: nvidia tesla rtx geforce used new cheap rented spare separate 英伟达 二手 全新
model: 模型 大模型 的模型 model models
ask: 多少 几 how_much how_many what 什么
skip: 一次性 一半 半价 大半 多半 一样 what_about how_about 至少 最少 多久 多大 不少 多数 大多 许多 比较多 机时 加速 加载 加到 减到 开机 一对一
"""
# Words that are a whole quantity by themselves.
FIXED = """
hours_per_day hour 24: 24/7 7x24 24x7 7*24 24*7 全天 全天候 不关机 不停机 不停 不间断 昼夜不停 日夜不停 连轴转 24小时开机 24小时开着 24小时运行 24小时在线 24小时全开 around_the_clock round_the_clock nonstop non_stop always_on all_day day_and_night
duration hour 1: hourly 按小时
duration day 1: daily 包天 日租 按天 整日
duration week 1: weekly 包周 按周
duration month 1: monthly 包月 月租 月付 按月 mothly
duration quarter 1: quarterly
duration year 1: yearly annually annual 包年 年付 全年
factor x 2: twice 翻倍 翻番
factor x 3: thrice
precision fp16 16: 半精度 half_precision
"""


@dataclass(frozen=True)
class Unit:
    """A unit as the tables have it: kind of quantity, name, and how many of `name` one is (毛 = 0.1 CNY)."""

    kind: str
    name: str
    scale: Decimal


@dataclass(frozen=True)
class Token:
    """A piece of folded text. `role` is number, unit, name, word, break or a head word of the tables."""

    role: str
    start: int
    end: int
    text: str
    number: Number | None = None
    unit: Unit | None = None


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
    if rest is None or (rest[0] == "几" and text[end - 1] not in SCALES) or (rest[0] == "来" and text[end - 1] not in "0十百千万"):
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
    spelled = len(pieces) >= 3 and all(piece in DIGITS for piece in pieces)  # 四零九零; two digits are a range or nothing
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


def _entries(table: str) -> list[tuple[list[str], str]]:
    """(head words, spelling) for every spelling in a table."""
    lines = [line.split(": ", 1) for line in table.strip().splitlines()]
    return [(head.split(), spelling.replace("_", " ")) for head, spellings in lines for spelling in spellings.split()]


def _unit_of(head: list[str]) -> Unit:
    return Unit(head[0], head[1], Decimal(head[2]))


LEXICON: dict[str, tuple[str, Unit | None]] = {
    **{spelling: (head[0], None) for head, spelling in _entries(WORDS)},
    **{spelling: ("unit", _unit_of(head)) for head, spelling in _entries(UNITS)},
    **{spelling: ("fixed", _unit_of(head)) for head, spelling in _entries(FIXED)},
}
_SPELLING = re.compile("|".join(
    re.escape(key).replace(r"\ ", r"[\s_-]+") + ("(?![a-z0-9])" if re.fullmatch("[a-z]", key[-1]) else "")
    for key in sorted(LEXICON, key=len, reverse=True)
))  # fmt: skip


def scan(text: str) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        token = _token_at(text, at, tokens)
        at = token.end
        if token.role != "space":
            tokens.append(token)
    return tokens


def _token_at(text: str, at: int, before: Sequence[Token]) -> Token:
    if space := re.compile(r"\s+").match(text, at):
        return Token("break" if "\n" in space[0] else "space", at, space.end(), "")
    for role, pattern in LITERALS:
        if match := pattern.match(text, at):
            return Token(role, at, match.end(), match[0])
    if match := _SPELLING.match(text, at):
        role, unit = LEXICON[_key(match[0])]
        return Token(role, at, match.end(), match[0], None, unit)
    if number := read_number(text, at):
        return _number_token(text, at, number, before)
    word = re.compile(r"[a-z][a-z_']*|.", re.DOTALL).match(text, at)
    return Token("word", at, word.end() if word else at + 1, word[0] if word else "")


def _key(written: str) -> str:
    return " ".join(re.split(r"[\s_-]+", written))


def _number_token(text: str, at: int, number: Number, before: Sequence[Token]) -> Token:
    """A number, unless what touches it makes it part of a product code (420GP, 2080ti, rtx-4090)."""
    token = Token("number", at, number.end, text[at : number.end], number)
    if number.style != "arabic":
        return token
    spelled = _SPELLING.match(text, number.end)
    role, unit = LEXICON[_key(spelled[0])] if spelled else ("", None)
    letters = re.compile(r"[a-z][a-z0-9._-]*").match(text, number.end)
    times = any(kind == "times" and pattern.match(text, number.end) for kind, pattern in LITERALS)
    if (_follows_code(text, at, before) and role != "unit") or (letters and not spelled and not times):
        return replace(token, role="word", number=None, end=letters.end() if letters else number.end)
    named = [kind for kind, pattern in HARDWARE.items() if pattern.fullmatch(token.text)]
    return replace(token, role=named[0], number=None) if named and (unit is None or unit.kind == "count") else token


def _follows_code(text: str, at: int, before: Sequence[Token]) -> bool:
    """Whether the number at `at` hangs on a Latin word or name, with or without a dash."""
    touching = [token for token in before[-2:] if text[token.end : at] in ("", "-")]
    return any(token.role in ("word", "name", "skip") and token.text[-1:].isascii() for token in touching)
