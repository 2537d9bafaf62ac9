"""The quantity grammar: what it reads, what it must not read, and that no text breaks it."""

from __future__ import annotations

import re
import string
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from assistant.numerals import fold, read_number
from assistant.quantities import Quantity, parse_quantities

NAMES = re.compile(
    r"(?<![a-z0-9])(?:a100|h100|h200|a800|t4|4090|chatglm2?|llama-65b|llama-3-8b|falcon-40b|mpt-30b|mixtral 8x7b)(?![0-9])"
    r"|火山|腾讯云?|阿里云?|alibaba|tencent|volcengine|autodl",
    re.IGNORECASE,
)


# The machines that run this are shared and slow at times; that is no finding about the grammar.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def names_in(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in NAMES.finditer(text)]


def plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def brief(quantity: Quantity) -> str:
    """`kind value[..high] [unit] [~] [delta]`, the form in which the tables below say what is expected."""
    value = plain(quantity.value) + (f"..{plain(quantity.high)}" if quantity.high is not None else "")
    marks = [quantity.unit, "~" if quantity.approximate else "", "delta" if quantity.delta else ""]
    return " ".join([quantity.kind, value, *(mark for mark in marks if mark)])


def read(text: str) -> list[str]:
    return [brief(quantity) for quantity in parse_quantities(text, names=names_in(text))]


COUNTS = {
    "4张": "count 4 card", "四张": "count 4 card", "两张": "count 2 card", "俩": "count 2", "十六卡": "count 16 card",
    "八卡": "count 8 card", "8卡": "count 8 card", "8xA100": "count 8", "4x A100": "count 4", "A100*8": "count 8",
    "A100 x 4": "count 4", "A100x4": "count 4", "8×H100": "count 8", "单卡": "count 1 card", "一台": "count 1 machine",
    "双卡": "count 2 card", "three T4s": "count 3", "a T4": "count 1", "two cards": "count 2 card", "a dozen": "count 12",
    "half a dozen T4s": "count 6", "一对T4": "count 2", "T4两台": "count 2 machine", "A100 四张": "count 4 card",
    "two 80GB A100s": ["count 2", "memory 80 GB"], "one Alibaba A100": "count 1", "8-GPU node": "count 8 card",
    "两台8卡机器": ["count 2 machine", "count 8 card"], "单机八卡": ["count 1 machine", "count 8 card"],
    "二十多张": "count 20 card ~", "十几台": "count 10 machine ~", "4到8张卡": "count 4..8 card", "两张二手卡": "count 2 card",
    "再加一台": "count 1 machine delta", "one more": "count 1 delta", "add 2": "count 2 delta", "加两张": "count 2 card delta",
    "少一台": "count -1 machine delta", "T4 加两张": "count 2 card delta", "another T4": "count 1 delta",
    "another two cards": "count 2 card delta", "two fewer cards": "count -2 card delta", "2 cards more": "count 2 card delta",
    "去掉一台": "count -1 machine delta", "A100 80GB x8": ["memory 80 GB", "count 8"], "A100(80G)×4": ["memory 80 GB", "count 4"],
    "2 x 24GB 4090": ["count 2", "memory 24 GB"], "租 -2 张 A100": "count -2 card", "加到8张": "count 8 card", "至少4张": "count 4 card", "what about 4 cards": "count 4 card",
    "两台腾讯T4加一台火山T4": ["count 2 machine", "count 1 machine"], "1e30 张": "count 1000000000000000000000000000000 card",
}  # fmt: skip
# Fractions, sums and large numbers stand here as they are written; callers refuse what cannot be rented.
HARD_COUNTS = {
    "20000 A100": "count 20000", "1000000 A100s": "count 1000000", "39333 ChatGLM2": "bare 39333", "8pcs": "count 8 card",
    "4 units of A100": "count 4 card", "8 pcs A100": "count 8 card", "x8 A100": "count 8", "half an A100": "count 0.5",
    "半张A100": "count 0.5 card", "0.5 A100": "count 0.5", "28.64 A100": "bare 28.64", "¥0.5 A100": "money 0.5 CNY",
    "A100*4*24h": ["count 4", "duration 24 hour"], "A100 x4 x 24h": ["count 4", "duration 24 hour"], "4块T4": "count 4 card",
    "月预算五万块 腾讯T4能开多少张": ["duration 1 month", "money 50000 CNY"], "2万块火山T4能租多久": "money 20000 CNY",
    "五百块腾讯T4能跑几天": "money 500 CNY", "500块A100能租多久": "money 500 CNY", "预算八块T4": "money 8 CNY",
    "手头有4块T4": "count 4 card", "租500块A100": "count 500 card", "有预算买两块A100": "count 2 card",
    "两块腾讯A100一天多少钱": ["count 2 card", "duration 1 day"],
}  # fmt: skip
HARD_DURATIONS = {
    "2d": [], "A100 2d多少钱": "duration 2 day", "how much is A100 for 3d": "duration 3 day", "3D 电影": [], "3D film": [],
    "一刻钟": "duration 0.25 hour", "a quarter of an hour": "duration 0.25 hour", "个把月": "duration 1 month ~",
    "三四天": "duration 3..4 day ~", "a quarter of a year": "duration 1 quarter", "half of a year": "duration 0.5 year",
    "overnight (10pm-8am)": "duration 10 hour", "22:00-08:00": "duration 10 hour", "晚上10点到早上8点": "duration 10 hour",
    "2-6pm": "duration 4 hour", "下午两点到六点半": "duration 4.5 hour", "晚上12点到8点": "duration 8 hour",
    "每天晚上10点到早上8点": "hours_per_day 10 hour", "weekend (48h)": "duration 48 hour", "周末(40小时)": "duration 40 hour",
    "按744小时一个月算": "duration 744 hour", "with a month of 744 hours": "duration 744 hour", "三个月,按744小时算": "duration 2232 hour",
    "一个月(744小时)": "duration 744 hour",
}  # fmt: skip
WEEKS = {
    "10 hrs a day, 5 days a week, for 4 weeks": ["hours_per_day 10 hour", "duration 20 day"],
    "每天10小时,每周5天,跑4周": ["hours_per_day 10 hour", "duration 20 day"],
    "2 evenings a week, 6 hours each, four weeks": ["hours_per_day 6 hour", "duration 8 day"],
    "每周两晚,每晚6小时,四周": ["hours_per_day 6 hour", "duration 8 day"],
    "3 days a week, 8 hours a day for a year": ["hours_per_day 8 hour", "duration 156 day ~"],
    "每周3天,每天8小时,一年": ["hours_per_day 8 hour", "duration 156 day ~"],
    "8 hours a day, 5 days a week": ["hours_per_day 8 hour", "duration 5 day"],
    "a couple of evenings a week (6 hours each, 2 evenings), four weeks": ["hours_per_day 6 hour", "duration 8 day ~"],
}  # fmt: skip
DURATIONS = {
    "72 小时": "duration 72 hour", "72h": "duration 72 hour", "72hrs": "duration 72 hour", "72 hours": "duration 72 hour",
    "72个钟头": "duration 72 hour", "三天三夜": "duration 3 day", "一整天": "duration 1 day", "一天": "duration 1 day",
    "两天半": "duration 2.5 day", "半天": "duration 0.5 day", "半小时": "duration 0.5 hour", "两三天": "duration 2..3 day ~",
    "大概三四天": "duration 3..4 day ~", "一周": "duration 1 week", "一个星期": "duration 1 week", "一礼拜": "duration 1 week",
    "a fortnight": "duration 2 week", "over the weekend": "duration 48 hour", "一个半月": "duration 1.5 month",
    "三个月": "duration 3 month", "三个多月": "duration 3 month ~", "半年": "duration 0.5 year", "一季度": "duration 1 quarter",
    "a quarter": "duration 1 quarter", "一年": "duration 1 year", "22 working days": "duration 22 day",
    "22个工作日": "duration 22 day", "250卡时": "duration 250 gpu-hour", "250 GPU-hours": "duration 250 gpu-hour",
    "250 GPU hours": "duration 250 gpu-hour", "250 A100 hours": "duration 250 gpu-hour", "per month": "duration 1 month",
    "monthly": "duration 1 month", "每月": "duration 1 month", "每天": "duration 1 day", "a day": "duration 1 day",
    "per day": "duration 1 day", "一天多少钱": "duration 1 day", "包月": "duration 1 month", "minus 5 hours": "duration -5 hour",
    "-5 小时": "duration -5 hour", "负五小时": "duration -5 hour", "0 hours": "duration 0 hour", "零小时": "duration 0 hour",
    "½天": "duration 0.5 day", "1½ days": "duration 1.5 day", "an hour and a half": "duration 1.5 hour",
    "two and a half days": "duration 2.5 day", "half a day": "duration 0.5 day", "a couple of days": "duration 2 day ~",
    "a hundred and fifty hours": "duration 150 hour", "twenty-two hours": "duration 22 hour", "三点五小时": "duration 3.5 hour",
    "3~5天": "duration 3..5 day", "3天到5天": "duration 3..5 day", "between 3 and 5 days": "duration 3..5 day",
    "3 to 5 days": "duration 3..5 day", "two or three days": "duration 2..3 day", "三五天": "duration 3..5 day ~",
    "差不多两周": "duration 2 week ~", "3天零6小时": "duration 3.25 day", "1 day 6 hours": "duration 1.25 day",
    "1小时42分": "duration 1.7 hour", "一年零三个月": "duration 1.25 year", "十分钟": "duration 10 minute",
    "一个月(30天)": "duration 30 day", "一个月（按30天算）": "duration 30 day", "30 天的一个月": "duration 30 day",
    "a 30-day month": "duration 30 day", "30 days a month": "duration 30 day", "一个月,按30天算": "duration 30 day",
    "按30天算": "duration 30 day", "三个月(每月30天)": "duration 90 day", "三个月(90天)": "duration 90 day",
    "一年(365天)": "duration 365 day", "便宜一点一小时几块": "duration 1 hour", "再租三天": "duration 3 day delta",
    "两天一夜": "duration 2 day", "10来天": "duration 10 day ~", "A100 -5 小时": "duration -5 hour", "an overnight run": "duration 12 hour",
}  # fmt: skip
HOURS_PER_DAY = {
    "每天8小时": "hours_per_day 8 hour", "8 hours a day": "hours_per_day 8 hour", "一天跑6个钟头": "hours_per_day 6 hour",
    "8h/d": "hours_per_day 8 hour", "8小时/天": "hours_per_day 8 hour", "daily use of 8 hours": "hours_per_day 8 hour",
    "每晚跑8小时": "hours_per_day 8 hour", "全天": "hours_per_day 24 hour", "24/7": "hours_per_day 24 hour",
    "7x24": "hours_per_day 24 hour", "不关机": "hours_per_day 24 hour", "around the clock": "hours_per_day 24 hour",
    "24小时不停": "hours_per_day 24 hour", "24小时开机": "hours_per_day 24 hour", "每天24小时不停": "hours_per_day 24 hour",
    "每天开2台跑8小时": ["count 2 machine", "hours_per_day 8 hour"],
    "8 hours a day for 22 working days": ["hours_per_day 8 hour", "duration 22 day"],
    "每天8小时,每月22天": ["hours_per_day 8 hour", "duration 22 day"],
    "一天多少钱 8小时呢": ["duration 1 day", "duration 8 hour"],
}  # fmt: skip
MONEY = {
    "5000 元": "money 5000 CNY", "2.5万块": "money 25000 CNY", "20k RMB": "money 20000 CNY", "¥28.64": "money 28.64 CNY",
    "RMB 5000": "money 5000 CNY", "$9": "money 9 USD", "9刀": "money 9 USD", "9 美元": "money 9 USD", "US$9.5": "money 9.5 USD",
    "5,000 RMB": "money 5000 CNY", "两万块": "money 20000 CNY", "5000 yuan": "money 5000 CNY", "两块二": "money 2.2 CNY",
    "两块五毛": "money 2.5 CNY", "八毛": "money 0.8 CNY", "50亿美元": "money 5000000000 USD", "$5 billion": "money 5000000000 USD",
    "2块一小时": "money_per_hour 2 CNY", "2.2块一小时": "money_per_hour 2.2 CNY", "1.88 yuan/h": "money_per_hour 1.88 CNY",
    "每小时10块": "money_per_hour 10 CNY", "10元/小时": "money_per_hour 10 CNY", "10 bucks an hour": "money_per_hour 10 USD",
    "每小时预算不超过10块": "money_per_hour 10 CNY", "10元每卡每小时": "money_per_hour 10 CNY", "2块左右一小时": "money_per_hour 2 CNY ~",
    "$2.5 per GPU per hour": "money_per_hour 2.5 USD", "$2/GPU-hour": "money_per_hour 2 USD", "2-3块一小时": "money_per_hour 2..3 CNY",
    "三块五一小时": "money_per_hour 3.5 CNY", "40.39元/时": "money_per_hour 40.39 CNY", "月预算 1.5万": ["duration 1 month", "money 15000"],
    "三百块一个月": ["money 300 CNY", "duration 1 month"], "$10-$20": "money 10..20 USD",
    "1-2万块": "money 10000..20000 CNY", "100日元": "money 100 JPY", "0元": "money 0 CNY", "预算2万": "money 20000",
    "预算大概2万左右": "money 20000 ~", "预算一万五": "money 15000", "budget around 20k": "money 20000 ~", "1万够吗": "money 10000",
    "4090一万五买": "money 15000", "一个月2.5万够吗": ["duration 1 month", "money 25000"], "两块A100": "count 2 card",
    "4块卡": "count 4 card", "两块二手4090": "count 2 card", "4090 2块一小时": "money_per_hour 2 CNY", "T4我8000块能收到": "money 8000 CNY",
}  # fmt: skip
OTHERS = {
    "24G": "memory 24 GB", "80GB": "memory 80 GB", "80 GiB": "memory 80 GiB", "512G": "memory 512 GB", "1.5TB": "memory 1.5 TB",
    "24G显存": "memory 24 GB", "85-100 GB": "memory 85..100 GB", "A100-80G": "memory 80 GB", "600 GB/s": "bare 600 GB/s",
    "39333条": "rows 39333 row", "9,999 samples": "rows 9999 row", "2万条数据": "rows 20000 row", "100k rows": "rows 100000 row",
    "300w条": "rows 3000000 row", "9,999 ChatGLM samples": "rows 9999 row", "41%": "percent 41 %", "百分之四十一": "percent 41 %",
    "三成": "percent 30 %", "2.3倍": "factor 2.3 x", "3.5x faster": "factor 3.5 x", "twice": "factor 2 x", "7B": "parameters 7 B",
    "6.7B": "parameters 6.7 B", "70b": "parameters 70 B", "13b 参数": "parameters 13 B", "一百三十亿参数": "parameters 13 B",
    "7 billion parameters": "parameters 7 B", "70亿的模型": "parameters 7 B", "110M 参数": "parameters 0.11 B",
    "8k上下文": "context 8192 token", "4096 tokens": "context 4096 token", "32k context": "context 32768 token",
    "100k tokens": "context 100000 token", "上下文 8k": "context 8192 token", "seq_len 2048": "context 2048 token",
    "fp16": "precision 16 fp16", "bf16": "precision 16 bf16", "int8": "precision 8 int8", "int4": "precision 4 int4",
    "4bit": "precision 4 4bit", "8-bit": "precision 8 8bit", "q4_k_m": "precision 4 q4_k_m", "16-bit training": "precision 16 16bit",
    "半精度": "precision 16 fp16", "2万": "bare 20000", "2w": "bare 20000", "3千5": "bare 3500", "三百五": "bare 350",
    "1.2亿": "bare 120000000", "1.2-1.5 万": "bare 12000..15000", "about 20,000": "bare 20000 ~", "2万左右": "bare 20000 ~",
    "2万上下": "bare 20000 ~", "两千一天": ["bare 2000", "duration 1 day"], "450W": "bare 450 watt", "1,100万": "bare 11000000",
    "10个epoch呢": "bare 10 epoch", "三副本": "bare 3 replica", "14核": "bare 14 core", "两颗8358": "bare 2 chip",
    "32*64GB": ["bare 32 x", "memory 64 GB"], "四": "bare 4", "f() * 28.64": "bare 28.64", "T4 * 28.64": "bare 28.64", "两个呢": "bare 2", "1:42:46": "duration 1.712777777777777777777777778 clock",
}  # fmt: skip
NOTHING = [
    "T4", "A100", "4090", "v100", "ChatGLM2", "CUDA 12", "DDR5", "8358", "SYS-420GP-TNAR", "2023年", "2023年10月30日", "10月30日",
    "三月", "2023-10-30", "192.168.1.1", "14:30", "llama-65b", "mixtral 8x7b", "GN7.2XLARGE32", "2080ti", "4090D", "GPT-4",
    "第三张卡", "Top 100里4090排第几", "几十张", "几万块", "多少元", "上百张", "一样吗", "一起", "一半", "十分便宜", "三家云", "周一到周五",
    "which one", "the three Chinese clouds", "三分之一", "python 3.11", "PCIe 4.0 x16", "https://example.org/4?x=3h", "每张卡", "4U",
    "负债", "万一", "千万", "", " ", "每", "-", "x", "a", "半", "(", "块",
]  # fmt: skip
MIXED = {
    "腾讯云租 4 张 A100 跑 72 小时多少钱？": ["count 4 card", "duration 72 hour"],
    "腾讯A100包一个月(30天)不关机要多少": ["duration 30 day", "hours_per_day 24 hour"],
    "budget 2w RMB 一个月,A100 全天开一台 ok 吗":
        ["money 20000 CNY", "duration 1 month", "hours_per_day 24 hour", "count 1 machine"],
    "4090一万五买,还是2块一小时租,每天用6小时,多久回本": ["money 15000", "money_per_hour 2 CNY", "hours_per_day 6 hour"],
    "我租的4090是2.2块一小时,chatglm2 lora 跑39333条要花多少": ["money_per_hour 2.2 CNY", "rows 39333 row"],
    "Three T4s for a fortnight on Alibaba, around the clock": ["count 3", "duration 2 week", "hours_per_day 24 hour"],
    "Load needs four T4s; add one spare on Tencent - cost per day?": ["count 4", "count 1 delta", "duration 1 day"],
    "llama-3-8b fp16,24G的4090放得下吗,8k上下文": ["precision 16 fp16", "memory 24 GB", "context 8192 token"],
    "T4,一个月的钱,一台不超过两万块,其余见下,算给我看(按30天)": ["duration 30 day", "count 1 machine", "money 20000 CNY"],
    "8 x A100 80GB for 2 weeks at $1.5/hr": ["count 8", "memory 80 GB", "duration 2 week", "money_per_hour 1.5 USD"],
    "大规模微调写的64台,是64台服务器还是64张卡": ["count 64 machine", "count 64 machine", "count 64 card"],
    "４张Ａ１００跑７２小时": ["count 4 card", "duration 72 hour"],
    "兩張 A100 跑三個月 預算兩萬塊": ["count 2 card", "duration 3 month", "money 20000 CNY"],
    "4\u200b张 A100": ["count 4 card"],
    "Kaggle 30h quota, LoRA 39333 on T4": ["duration 30 hour", "bare 39333"],
    "How much per hour if I have 5000 RMB": ["duration 1 hour", "money 5000 CNY"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        row
        for table in (COUNTS, HARD_COUNTS, DURATIONS, HARD_DURATIONS, WEEKS, HOURS_PER_DAY, MONEY, OTHERS, MIXED)
        for row in table.items()
    ],
)
def test_reads_every_quantity_and_nothing_else(text: str, expected: str | list[str]) -> None:
    assert read(text) == ([expected] if isinstance(expected, str) else expected)


@pytest.mark.parametrize("text", NOTHING)
def test_product_codes_dates_and_idioms_are_no_quantities(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize("text", ["T4", "v100", "ChatGLM2", "4090", "SYS-420GP-TNAR", "GN7.2XLARGE32", "8468"])
def test_codes_nobody_linked_are_still_no_quantities(text: str) -> None:
    assert parse_quantities(text) == []


@pytest.mark.parametrize(
    ("text", "currency"),
    [
        ("28元", "CNY"),
        ("$9", "USD"),
        ("9刀", "USD"),
        ("预算2万", None),
        ("100日元", "JPY"),
        ("2块一小时", "CNY"),
        ("¥5", "CNY"),
    ],
)
def test_currency_is_the_one_said_and_none_where_none_was(text: str, currency: str | None) -> None:
    assert [quantity.currency for quantity in parse_quantities(text)] == [currency]


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("三天三夜", 72),
        ("半天", 12),
        ("a 30-day month", 720),
        ("fortnight", 336),
        ("weekend", 48),
        ("72h", 72),
        ("一个月", None),
        ("一年", None),
    ],
)
def test_hours_are_known_except_for_calendar_units(text: str, hours: int | None) -> None:
    assert [quantity.hours for quantity in parse_quantities(text)] == [hours]


def test_hours_of_what_is_no_duration_are_none() -> None:
    assert parse_quantities("4张")[0].hours is None


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("per day", True),
        ("每月", True),
        ("一天", True),
        ("a week", True),
        ("一整天", False),
        ("3天", False),
        ("一两个月", False),
    ],
)
def test_rate_marks_a_time_named_as_one_unit(text: str, rate: bool) -> None:
    assert [quantity.rate for quantity in parse_quantities(text)] == [rate]


@pytest.mark.parametrize(
    ("text", "piece"),
    [("跑 minus 5 hours", "minus 5 hours"), ("一个月（30天）多少", "一个月（30天）"), ("约２万元吧", "２万元"), ("花¥28.64 元", "¥28.64 元"),
     ("租½天", "½天"), ("每天 8 小时 跑", "每天 8 小时"), ("4\u200b张", "4\u200b张")],
)  # fmt: skip
def test_text_is_the_piece_of_the_text_that_was_given(text: str, piece: str) -> None:
    assert [quantity.text for quantity in parse_quantities(text)] == [piece]


def test_a_name_span_hides_digits_that_would_else_be_read() -> None:
    assert read("llama-65b 要 2 张") == ["count 2 card"]
    assert [brief(q) for q in parse_quantities("llama-65b 要 2 张")] == ["parameters 65 B", "count 2 card"]


def chinese_numeral(number: int) -> str:
    """A whole number below 10^12 in standard Chinese, written independently of the reader."""
    if number == 0:
        return "零"
    groups = [number // 10**8, number // 10**4 % 10**4, number % 10**4]
    written = ""
    for group, unit in zip(groups, "亿万 ", strict=True):
        if group and written and group < 1000:
            written += "零"
        written += chinese_group(group) + unit.strip() if group else ""
    return written


def chinese_group(number: int) -> str:
    written, skipped = "", False
    for scale, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        if digit:
            written += ("零" if skipped and written else "") + "零一二三四五六七八九"[digit] + unit
        skipped = not digit
    return written


@UNHURRIED
@given(st.integers(min_value=0, max_value=10**12 - 1))
def test_chinese_numerals_round_trip(number: int) -> None:
    written = chinese_numeral(number)
    found = read_number(written, 0)
    assert found is not None
    assert (found.low, found.high, found.end) == (Decimal(number), None, len(written))


@UNHURRIED
@given(
    st.integers(min_value=0, max_value=10**9),
    st.sampled_from(["张", " cards", "小时", " hours", "元", " RMB", "条", "GB"]),
)
def test_arabic_numbers_keep_their_value_with_and_without_thousands_marks(number: int, unit: str) -> None:
    assume(unit != " cards" or not re.fullmatch("[1-5]0[5-9]0", str(number)))  # "4090 cards" are cards of that name
    for written in (str(number), f"{number:,}"):
        assert [quantity.value for quantity in parse_quantities(f"{written}{unit}")] == [number]


VOCABULARY = (
    "4 8 1.5 2万 三 两 半 十 一 a an two half 张 台 块 卡 个 小时 天 月 年 元 万 每 每天 per / - ~ to 到 x * ( ) 30天 一个月 按 多 再 加 少 "
    "more another minus $ ¥ % 倍 b g k w 条 T4 A100 4090 fp16 24/7 1:42:46 2023年 预算 够 约 左右 零 and between ， 。 ? \n \u200b ２ 兩 ½ e30 百分之"
)
PIECES = st.lists(st.sampled_from(VOCABULARY.split(" ")), max_size=14).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda gap: gap.join(words))
)
ANY_TEXT = st.one_of(
    PIECES, st.text(max_size=60), st.text(alphabet=string.digits + "万千百十一二两.,-:/x个小时天", max_size=40)
)


@UNHURRIED
@given(ANY_TEXT, st.lists(st.tuples(st.integers(-3, 60), st.integers(-3, 60)), max_size=3))
def test_any_text_gives_ordered_spans_inside_it_without_overlap(text: str, names: list[tuple[int, int]]) -> None:
    last = 0
    for quantity in parse_quantities(text, names=names):
        assert last <= quantity.start < quantity.end <= len(text)
        assert quantity.text == text[quantity.start : quantity.end]
        last = quantity.end


@UNHURRIED
@given(PIECES, st.integers(0, 20), st.integers(0, 9))
def test_digits_inside_names_never_count(text: str, at: int, digit: int) -> None:
    at = min(at, len(text))
    whole = [text[:at] + name + text[at:] for name in (f"Q{digit}9", "Qzz")]
    first, second = (parse_quantities(each, names=[(at, at + 3)]) for each in whole)
    assert [brief(quantity) for quantity in first] == [brief(quantity) for quantity in second]


@UNHURRIED
@given(st.text(max_size=40))
def test_folding_keeps_one_offset_per_character_in_order(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.offsets)
    assert list(folded.offsets) == sorted(folded.offsets)
    assert all(0 <= offset < len(text) for offset in folded.offsets)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("with a budget of $5000, how many h100", ["money"]),  # and no budget of 1
        ("a budget of 20000 yuan", ["money"]),
        ("4 t4s for 1080 hours", ["count", "duration"]),  # a card is called so too
        ("跑 4090 小时", ["duration"]),
        ("4090 小时价", []),
        ("租 1080 张 t4", ["count"]),
        ("7763 张卡", ["count"]),  # a processor is called so
        ("4090 cards", []),  # cards of that name
        ("rtx 4090 hours", []),
    ],
)
def test_an_article_before_a_budget_is_no_money_and_hours_called_like_a_card_are_hours(
    text: str, kinds: list[str]
) -> None:
    assert [quantity.kind for quantity in parse_quantities(text)] == kinds
