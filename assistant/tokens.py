"""Cuts folded text into tokens: numbers, units, linked names, and the words that the quantity grammar knows.

The vocabulary stands here as tables. It joins nothing and decides nothing; see quantities.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant.numerals import DIGITS, NAME, VAGUE_ONE, Number, read_number

DROPPED = "-"  # unit of what is read only to be passed over: 每卡, 三家
COUNTING = ("俩", "仨", "dozen", "pair", "couple")  # number words that count things by themselves
MANY = ("多", "余")
PARTICLES = frozenset({*"呢吧吗呀啊的好就要", "please", "just"})
ALONE = frozenset({"weekend", "fortnight", "周末", "overnight", "通宵"})  # units that need no number
_PART1, _PART2 = (rf"(?:第二天|次日|隔天|明天|今天)?的?(?P<p{side}>凌晨|清晨|早上?|上午|中午|下午|傍晚|今?晚上?|夜里|半夜|深夜)?\s?"
                  for side in "12")  # fmt: skip
_HOUR = r"(?:\d{1,2}|[一二两三四五六七八九]|十[一二]?)"
# 晚上10点跑到第二天8点, "from 10pm running until 8am": what runs in between changes no hour.
_UNTIL = r"(?:一直|连续|持续|不停地?)?(?:跑|开|用|租|训练?|干|忙|工作|运行|持续)?(?:到|至)"
_UNTIL_EN = (
    r"(?:-|~|(?:running |straight |right |all the way )?(?:through |up )?(?:to|till|until)|through|and stops? at)"
)
# What makes "9 to 6" hours of work: nothing behind it, or days of which it is said.
_WORKED = (r"(?:every|each|daily|(?:a|per) (?:day|workday|weekday)|(?:on )?(?:week|work|business )days?|(?:on )?mon(?:day)?s?(?![a-z])|shift|"
           r"working hours|office hours|schedule|job(?![a-z]))")  # fmt: skip
_SPOKEN_HOURS = r"(?:from\s)?(?P<h1>[5-9]|1[0-2])"
# 10pm-8am, 9 to 5pm, 22:00-08:00, 晚上10点到早上8点: half of the day, hour, minutes on either side.
CLOCK_SPANS = tuple(re.compile(pattern, re.ASCII) for pattern in (
    r"(?P<h1>\d{1,2})(?::(?P<m1>[0-5]\d))?\s?(?P<p1>[ap]\.?m\.?)?,?\s?" + _UNTIL_EN + r"\s?"
    r"(?P<h2>\d{1,2})(?::(?P<m2>[0-5]\d))?\s?(?P<p2>[ap]\.?m\.?)(?![a-z0-9])",
    rf"{_PART1}(?P<h1>\d{{1,2}}):(?P<m1>[0-5]\d)\s?(?:-|~|to|till|until|{_UNTIL})\s?"
    rf"{_PART2}(?P<h2>\d{{1,2}}):(?P<m2>[0-5]\d)(?![\d:])",
    rf"{_PART1}(?P<h1>{_HOUR})点钟?(?P<m1>半)?\s?(?:-|~|{_UNTIL})\s?"
    rf"{_PART2}(?P<h2>{_HOUR})点钟?(?P<m2>半)?",
    rf"(?P<p1>[早朝])上?(?P<h1>{_HOUR})点?(?P<m1>半)?\s?[到至]?(?P<p2>晚)上?(?P<h2>{_HOUR})点?(?P<m2>半)?(?![天夜个])",
    rf"{_SPOKEN_HOURS}(?:\s?-?to-?\s?|\s(?:till|until)\s)(?P<h2>[1-9]|1[0-2])(?=\s*(?:$|[,;.?!，。；？！](?!\d)|{_WORKED}|for\s(?:\d+|an?|one|two|three|the)\s(?:days?|weeks?|months?|years?|quarters?)))",
    rf"{_SPOKEN_HOURS}\s?[-–]\s?(?P<h2>[1-9]|1[0-2])(?=\s*[,(]?\s*{_WORKED})",
))  # fmt: skip
HALF_DAY, FIRST_EVENING = 12, 4  # 晚四 is 16:00, 晚两点 is after midnight
# "from 8 to 4, what do I save" is a change of a number, no working day.
CHANGED = re.compile(
    r"(?:cut|reduc\w*|drop\w*|down|lower\w*|shrink\w*|scal\w*|chang\w*|going|went|减|降|改)[^,.;?，。；？]*$"
)
CHANGE_NEAR = 24
SYMBOLS = frozenset({"¥", "$", "us$", "€", "£", "rmb", "cny", "usd", "人民币"})  # currencies written before the number
# English words that may stand between a rate and its figure ("daily use of 8 hours"); Chinese ones always may.
LINKS = frozenset({"price", "cost", "rate", "use", "usage", "is", "at", "under", "below", "most", "less", "than", "no", "i",
                   "we", "run", "it", "for", "only", "of", "length"})  # fmt: skip
# What stands behind "3d" where it is three days, as does a run, a rent or a card before it.
AFTER_DAYS = rf"\s*(?:多少|要|花|费|租金|cost|price|rental|how|total|(?:on|at|of)\s+{NAME}|{NAME}\s*(?:$|[?,多要租]))"
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
    ("skip", r"百八十|一点(?=一[个小天周台张])|十分(?!钟)|[一二三四五六七八九十]分之[一二三四五六七八九]"),
    ("skip", rf"[23]d(?![a-z0-9])(?!{AFTER_DAYS})(?:(?<!{NAME}..)(?<!{NAME} ..)(?<![跑租用开训张台卡块周时*,;，、]..)"
             r"(?<![跑租用开训张台卡块周时*,;，、] ..)(?<!for ..)(?<!run ..)(?<!runs ..)(?<!need ..)(?<!last ..)"
             r"(?<!takes ..)(?<!within ..)(?<![\dsx] ..))"),  # 3D films, but not "run for 3d"
    ("skip", r"(?:cuda|cudnn|python|pytorch|torch|ubuntu|debian|centos|windows|driver|version|pcie|gen|版本|驱动|端口)"
             r"\s?-?\d+(?:\.\d+)*(?:\s?x\d+)?(?!\s?[张台卡])"),
    ("name", r"[1-5]0[5-9]0\s?(?:d|ti|super)(?![a-z0-9])"),
    ("precision", r"(?:(?:fp|bf|tf|int|nf|mxfp)\d{1,2}|q\d(?:_[a-z0-9]+)+|w\d{1,2}a\d{1,2})(?![a-z0-9])"),
    ("name", rf"{NAME}+(?:'?s(?![a-z0-9]))?"),
    ("times", rf"[x*](?=\s*(?:{NAME}|\d|[a-z]{{1,4}}\d{{2}}|gpu|card))|x(?![a-z0-9])"),
    ("name", r"[a-z]+\d[a-z0-9]*(?:\.\d[a-z0-9]*)*|\d+x\d+(?:\.\d+)?b(?![a-z0-9])"),  # an identifier that nobody linked
    ("dash", "-"), ("open", r"[(\[]"), ("close", r"[)\]]"), ("break", r"\.(?!\d)|[,;!?。、\n]"),
))  # fmt: skip
HARDWARE = {
    "name": re.compile(r"[1-5]0[5-9]0"),
    "cpu": re.compile(r"8358|8468|8480|6530|7763|9654"),
}  # named by a number
# kind, unit, size in that unit: spellings ("_" stands for a space or hyphen). MB and seconds are given in GB and minutes.
UNITS = """
count card 1: 张 卡 片 gpu gpus card cards pcs pc unit units 显卡 graphics_card graphics_cards video_card
count machine 1: 台 机 机器 服务器 节点 实例 主机 备机 机子 machine machines server servers node nodes instance instances box boxes vm vms
count pair 2: 对
duration minute 0.0166666666666666666666666667: 秒 秒钟 s sec secs second seconds
duration minute 1: 分钟 分 min mins minute minutes
duration hour 1: 小时 时 钟头 钟 h hr hrs hour hours
duration hour 0.25: 刻钟 quarter_of_an_hour quarters_of_an_hour
duration hour 12: 夜 晚 晚上 宿 night nights evening evenings overnight 通宵
duration hour 48: 周末 weekend weekends
duration day 1: 天 日 工作日 d day days workday workdays working_day working_days business_day business_days
duration week 1: 周 星期 礼拜 week weeks wk wks
duration week 2: fortnight fortnights
duration month 1: 月 month months mo mos
duration quarter 1: 季度 季 quarter quarters quarter_of_a_year quarters_of_a_year
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
skip: 一次性 一半 半价 大半 多半 一样 what_about how_about 至少 最少 最多 至多 顶多 多久 多大 不少 多数 大多 许多 比较多 机时 加速 加载 加到 减到 开机 一对一
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
    if span := clock_span(text, at):
        return Token("span", at, span[0], text[at : span[0]], None, Unit("duration", "hour", span[1]))
    for role, pattern in LITERALS:
        if match := pattern.match(text, at):
            return Token(role, at, match.end(), match[0])
    if (match := _SPELLING.match(text, at)) and not text.startswith(VAGUE_ONE, at):
        role, unit = LEXICON[_key(match[0])]
        return Token(role, at, match.end(), match[0], None, unit)
    if number := read_number(text, at):
        return _number_token(text, at, number, before)
    word = re.compile(r"[a-z][a-z_']*|.", re.DOTALL).match(text, at)
    return Token("word", at, word.end() if word else at + 1, word[0] if word else "")


def clock_span(text: str, at: int) -> tuple[int, Decimal] | None:
    """Where a span of clock times that starts at `at` ends, and its length in hours; None where none starts."""
    if at and text[at].isdigit() and (text[at - 1].isdigit() or text[at - 1] in ":.-/"):
        return None
    match = next((found for pattern in CLOCK_SPANS if (found := pattern.match(text, at))), None)
    if match is None or CHANGED.search(text, max(0, at - CHANGE_NEAR), at):
        return None
    said = match.groupdict()
    start, end = _ends(said, ":" in match[0])
    minutes = [Decimal(30 if said.get(f"m{side}") == "半" else int(said.get(f"m{side}") or 0)) for side in "12"]
    hours = (end - start + (minutes[1] - minutes[0]) / 60) % 24
    return (match.end(), hours + 24 * (hours <= 0)) if max(start, end) <= 24 else None


def _ends(said: Mapping[str, str | None], digital: bool) -> tuple[int, int]:
    """Both hours of a span, 0-24, with the half of the day that one of them leaves open taken from the other."""
    first, last = said.get("p1"), said.get("p2")
    start, end = (_hour(said[f"h{side}"] or "", said.get(f"p{side}")) for side in "12")
    if first in ("早", "朝") and last == "晚":  # 朝九晚四
        return start, end + HALF_DAY if FIRST_EVENING <= end < start else end
    if first and not last and start >= HALF_DAY and start < end + HALF_DAY:
        end += HALF_DAY  # 下午2点到6点
    if last and not first and last.isascii() and start + HALF_DAY < end:
        start += HALF_DAY  # 2-6pm
    if not (first or last or digital) and end < start <= HALF_DAY:
        end += HALF_DAY  # 9点到6点, 9 to 6
    return start, end


def _hour(written: str, part_of_day: str | None) -> int:
    """The hour 0-24 of a clock time, given am, pm or a Chinese word for the part of the day."""
    ones = written.removeprefix("十")
    hour = int(written) if written.isdigit() else 10 * (ones != written) + (DIGITS[ones] if ones else 0)
    if not part_of_day or hour > 12:
        return hour
    if part_of_day[0] in "p下傍":
        return hour % 12 + 12
    if part_of_day[0] in "今晚夜深":
        return hour % 12 + 12 * (5 <= hour < 12)
    return 12 if part_of_day == "中午" and hour == 12 else hour % 12 if part_of_day[0] in "a凌半" else hour


def _key(written: str) -> str:
    return " ".join(re.split(r"[\s_-]+", written))


_COUNTED_BEHIND = re.compile(
    r"\s*张(?!数)|\s*(?:个\s?)?(?:小时|钟头|hours?(?![a-z])|hrs?(?![a-z]))(?!\s*(?:的?(?:价|单价|均价|租|费)|rates?|prices?|costs?))"
)
_CARD_BEFORE = re.compile(r"(?:\d[\s张块x*×]*|(?:rtx|gtx|geforce|nvidia)[\s-]*)$", re.I)


def counts_something(text: str, start: int, end: int) -> bool:
    """Whether digits that a card is called by count: for 1080 hours, 1080 张 T4; not 250 4090 hours, 4090 小时价."""
    return bool(_COUNTED_BEHIND.match(text, end)) and not _CARD_BEFORE.search(text, 0, start)


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
    counted = unit is not None and (unit.kind != "count" or named[:1] == ["cpu"])
    if not named or counted or counts_something(text, at, number.end):
        return token
    return replace(token, role=named[0], number=None)


def _follows_code(text: str, at: int, before: Sequence[Token]) -> bool:
    """Whether the number at `at` hangs on a Latin word or name, with or without a dash."""
    touching = [token for token in before[-2:] if text[token.end : at] in ("", "-")]
    return any(token.role in ("word", "name", "skip") and token.text[-1:].isascii() for token in touching)
