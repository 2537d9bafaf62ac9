"""Figures read from text: spellings of numbers and units in both languages, and what is no figure."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.figures import Printed, extract_figures
from assistant.identifiers import extract_identifiers
from assistant.units import read_label

NAMES = {"4090", "RTX 4090", "8358", "8468", "A100 40GB"}


def read(text: str) -> list[tuple[str, str]]:
    """Each figure as (value, unit); money as CNY or CNY/hour."""
    return [(f"{f.value.normalize():f}", measure(f)) for f in extract_figures(text, NAMES)]


def measure(figure: Printed) -> str:
    unit = figure.currency or figure.unit
    return f"{unit}/{figure.period}" if figure.period else unit


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        # numbers and scales
        ("¥20,620.80", [("20620.8", "CNY")]),
        ("PUE 1.3\n- 1 个月", [("1.3", ""), ("1", "month")]),  # the bullet of the next line is no dash
        ("２８．６４元", [("28.64", "CNY")]),
        ("2.06 万元", [("20600", "CNY")]),
        ("1.2 亿美元", [("120000000", "USD")]),
        ("五亿不在量词前；5 billion dollars", [("5000000000", "USD")]),
        ("20k rows and 1.5 million rows", [("20000", "row"), ("1500000", "row")]),
        ("3 千条", [("3000", "row")]),
        ("2w 元", [("20000", "CNY")]),
        ("4,8,16 GB", [("4", ""), ("8", ""), ("16", "GB")]),
        ("1.5e6 tokens", [("1500000", "token")]),
        ("about .5 hours", [("0.5", "hour")]),
        # money
        ("28.64 元/小时", [("28.64", "CNY/hour")]),
        ("每小时只要 28 块", [("28", "CNY/hour")]),
        ("一小时 28.64 元", [("1", "hour"), ("28.64", "CNY/hour")]),
        ("28.64 yuan per GPU-hour", [("28.64", "CNY/hour")]),
        ("28.64 CNY/h", [("28.64", "CNY/hour")]),
        ("28.64 元/卡/小时", [("28.64", "CNY/hour")]),
        ("$9 per month", [("9", "USD/month")]),
        ("the hourly price is 28.64 yuan", [("28.64", "CNY/hour")]),
        ("升级服务 9 美金", [("9", "USD")]),
        ("100 日元、100 港元", [("100", "JPY"), ("100", "HKD")]),
        ("$9 元", [("9", "USD or CNY")]),
        ("**28.64** 元", [("28.64", "CNY")]),
        ("USD 9 或 CNY28.64", [("9", "USD"), ("28.64", "CNY")]),
        # 块 is money or a card
        ("8 块 A100", [("8", "card")]),
        ("8 块钱", [("8", "CNY")]),
        ("28.6 块", [("28.6", "CNY")]),
        # units
        ("16 核 / 96 GiB", [("16", "core"), ("96", "GiB")]),
        ("16 vCPU, 125 GiB内存", [("16", "core"), ("125", "GiB")]),
        ("显存80GB够了", [("80", "GB")]),
        ("4800 TOPS, 600 GB/s", [("4800", "TOPS"), ("600", "GB/s")]),
        ("2.6GHz 超频 3.4GHz（4U）", [("2.6", "GHz"), ("3.4", "GHz"), ("4", "U")]),
        ("贵 41.03 %，即四十一个百分点", [("41.03", "%"), ("41", "%")]),
        ("百分之四十一", [("41", "%")]),
        ("三分之一", [("0.33", "x")]),
        ("快约 3.5 倍; 2.3x faster; 3.5× faster", [("3.5", "x"), ("2.3", "x"), ("3.5", "x")]),
        ("30 hours a week", [("30", "hour/week")]),
        ("每周 30 小时", [("30", "hour/week")]),
        ("3 个月，2 个 GPU，2 个方案", [("3", "month"), ("2", "card"), ("2", "count")]),
        ("8-GPU server, 24-hour run", [("8", "card"), ("24", "hour")]),
        ("70B 模型", [("70000000000", "parameter")]),
        ("4 台机器 8000 台 A100", [("4", "machine"), ("8000", "card")]),
        # ranges and lists: the last unit counts for all
        ("85–100 GB", [("85", "GB"), ("100", "GB")]),
        ("85GB 到 100GB", [("85", "GB"), ("100", "GB")]),
        ("between 85 and 100 GB", [("85", "GB"), ("100", "GB")]),
        ("14/16/16 核", [("14", "core"), ("16", "core"), ("16", "core")]),
        ("2-3 万元", [("20000", "CNY"), ("30000", "CNY")]),
        ("5000-1 万元", [("5000", "CNY"), ("10000", "CNY")]),
        ("$85–100", [("85", "USD"), ("100", "USD")]),
        # durations
        ("1:42:46", [("6166", "duration")]),
        ("1 小时 42 分 46 秒", [("6166", "duration")]),
        ("1 hour, 42 minutes and 46 seconds", [("6166", "duration")]),
        ("1h42m", [("6120", "duration")]),
        # numerals and number words, only before what is counted
        ("两张，三倍，半年，十二个小时", [("2", "card"), ("3", "x"), ("0.5", "year"), ("12", "hour")]),
        ("一百二十张、两万五千条、一点五倍", [("120", "card"), ("25000", "row"), ("1.5", "x")]),
        ("三四天", [("3", "day"), ("4", "day")]),
        ("第一，统一用一般的办法", []),
        ("four cards, twenty-five hours, half a day", [("4", "card"), ("25", "hour"), ("0.5", "day")]),
        ("four 80 GB cards", [("4", "card"), ("80", "GB")]),
        ("eight thousand machines", [("8000", "machine")]),
        ("one of these is the only one", []),
        # × multiplies, it is no unit
        ("8xA100", [("8", "")]),
        ("A100x4", [("4", "")]),
        ("A800/H800 x 8", [("8", "")]),
        ("32*64GB", [("32", ""), ("64", "GB")]),
    ],
)
def test_spellings_of_figures(text: str, figures: list[tuple[str, str]]) -> None:
    assert read(text) == figures


@pytest.mark.parametrize(
    "text",
    [
        "A100、T4、H800、SXM5、DDR5、FP16、INT8",
        "RTX 4090 与 4090 显卡，买 4090",
        "ChatGLM2 / LLaMA-65B / Falcon-40B / MPT-30B",
        "SYS-420GP-TNAR, SYS-821GE-TNHR",
        "GN7.2XLARGE32 gn7e-c16g1.4xlarge",
        "Xeon 8358, 8468",
        "16-bit 推理, 16 位精度, 2D/3D",
        "https://a.b/123?x=4 www.kaggle.com/5 [链接](docs/7.md)",
        "显存[1]与【2】、[^3]、[1, 2]",
        "1. 先看显存\n2) 再看价格\n 3、然后",
        "2023 年 7 月 1 日; 2023-07-01; July 2023; in 2023; 7月",
        "第 3 步, the 3rd",
        "|---|:-:|\n",
        "Python 3.11.2, CUDA 12.1",
    ],
)
def test_names_dates_marks_and_list_numbers_are_no_figures(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("8358 元", ("8358", "CNY")),
        ("¥8358", ("8358", "CNY")),
        ("4090 小时", ("4090", "hour")),
        ("of 2048 GPUs", ("2048", "card")),
        ("in 2000 hours", ("2000", "hour")),
        ("A100 40GB", ("40", "GB")),
    ],
)
def test_a_name_with_a_unit_behind_it_is_a_figure(text: str, figure: tuple[str, str]) -> None:
    assert read(text) == [figure]


def test_a_bare_number_is_a_name_only_where_it_is_known() -> None:
    assert [f.value for f in extract_figures("8358")] == [8358]
    assert extract_figures("8358", {"8358"}) == []


def test_identifiers_are_listed_but_known_names_are_not() -> None:
    assert set(extract_identifiers("RTX 4090 与 A800，3D，16-bit，2023 年 7 月", NAMES)) == {
        "A800", "3D", "16-bit", "2023"}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        (
            "| 云 | 价格（元/小时） | 内存 (GiB) |\n|---|---|---|\n| 腾讯云 | 28.64 | 96 |",
            [("28.64", "CNY/hour"), ("96", "GiB")],
        ),
        ("| rows | duration |\n|---|---|\n| 9999 | 1:42:46 |", [("9999", "row"), ("6166", "duration")]),
        ("|  |  |\n|---|---|\n| Memory (GiB) | 245 |", [("245", "GiB")]),
        ("GPU = T4; price = 8.68; currency = CNY (yuan); price per = instance-hour", [("8.68", "CNY/hour")]),
        ("价格 = 8.68; 货币 = 人民币元; 计价单位 = 每实例每小时", [("8.68", "CNY/hour")]),
        ("主机内存 (GiB，不是显存) = 245; GPU 张数 = 1", [("245", "GiB"), ("1", "card")]),
        ("memory (GB): 80", [("80", "GB")]),
        ("GPU memory: 80", [("80", "")]),
    ],
)
def test_headings_and_labels_give_the_unit(text: str, figures: list[tuple[str, str]]) -> None:
    assert read(text) == figures


@pytest.mark.parametrize(
    ("label", "unit"),
    [
        ("price_cny_per_hour", "CNY/hour"), ("price_per_gpu_hour_cny", "CNY/hour"), ("monthly_cost_cny", "CNY/month"),
        ("hours", "hour"), ("quota_hours_per_week", "hour/week"), ("memory_gb", "GB"), ("host_memory_gib", "GiB"),
        ("gpus_billed", "card"), ("saved_percent", "%"), ("speedup_factor", "x"), ("seconds_per_row", "second"),
        ("GPU memory (GB)", "GB"), ("number of GPUs (the article counts in 台, machines)", "card"), ("second per row", "second"),
        ("CNY/hour", "CNY/hour"), ("T4", ""), ("GPU memory", ""), ("value", ""),
    ],
)  # fmt: skip
def test_units_in_keys_and_headings(label: str, unit: str) -> None:
    found = read_label(label)
    name = found.currency or found.unit
    assert (f"{name}/{found.period}" if found.period else name) == unit


def test_the_last_printed_digit_is_known() -> None:
    finest = {f.text: f.decimals for f in extract_figures("2.06 万元，41.03 %，8000 台，2 万条")}
    assert finest == {"2.06 万元": -2, "41.03 %": 2, "8000 台": 0, "2 万条": -4}


def test_offsets_point_into_the_original_text() -> None:
    text = "**２８．６４** 元/小时，共 `4` 张"
    assert all(text[f.start : f.end] == f.text for f in extract_figures(text))


SPOKEN_UNITS = [
    (" 元", "CNY"), ("元/小时", "CNY/hour"), (" yuan per hour", "CNY/hour"), ("美元", "USD"), (" USD a month", "USD/month"),
    ("%", "%"), (" 倍", "x"), ("x", "x"), (" GB", "GB"), ("GiB", "GiB"), (" TB", "TB"), ("G", "G"), (" 核", "core"), (" vCPU", "core"),
    (" TOPS", "TOPS"), (" GB/s", "GB/s"), ("GHz", "GHz"), (" 张", "card"), (" GPUs", "card"), ("条", "row"), (" rows", "row"),
    (" 小时", "hour"), (" hours", "hour"), ("天", "day"), (" weeks", "week"), (" 个月", "month"), (" years", "year"), (" tokens", "token"),
]  # fmt: skip
SCALES = {"": 0, " 万": 4, "亿": 8, "千": 3, "k": 3, " million": 6}
numbers = st.decimals(0, 10**9, places=2, allow_nan=False, allow_infinity=False) | st.integers(0, 10**9).map(Decimal)


@given(
    numbers,
    st.sampled_from(SPOKEN_UNITS),
    st.sampled_from(list(SCALES)),
    st.booleans(),
    st.sampled_from(["", "约", "共 ", "It takes "]),
)
def test_any_number_in_any_supported_spelling_is_found(
    number: Decimal, unit: tuple[str, str], scale: str, grouped: bool, before: str
) -> None:
    gap = " " if scale in {"k", " million"} and unit[0].isascii() else ""  # "2kGB" is no spelling of anything
    text = f"{before}{number:,f}{scale}{gap}{unit[0]}" if grouped else f"{before}{number:f}{scale}{gap}{unit[0]}"
    [found] = extract_figures(text)
    assert (found.value, measure(found)) == (number.scaleb(SCALES[scale]), unit[1])


@given(
    st.text() | st.text(alphabet="0123456789.,:/-万亿千百两半点分之元块张个%$¥[]【】|=x×*eEkKBGT月日年 \n小时per an")
)
def test_reading_never_fails_and_stays_inside_the_text(text: str) -> None:
    for figure in extract_figures(text, NAMES):
        assert text[figure.start : figure.end] == figure.text


@given(st.text(alphabet="0123456789.,-–*× 元张%GBgb万点abAx\n|=:"))
def test_no_digit_is_passed_over_silently(text: str) -> None:
    """Each digit lies in a figure, an identifier, or layout: a list number at the start of a line."""
    covered = {at for figure in extract_figures(text) for at in range(figure.start, figure.end)}
    left = "".join(" " if at in covered else character for at, character in enumerate(text))
    for identifier in extract_identifiers(text):
        left = (
            left.replace(identifier.replace("×", "x"), " ", 1)
            if identifier not in left
            else left.replace(identifier, " ", 1)
        )
    for line in left.split("\n"):
        stripped = line.lstrip(" \t>#*+-")
        head = stripped.split(".")[0]
        rest = (
            stripped[len(head) :]
            if head.isdigit() and len(head) <= 3 and stripped[len(head) :].startswith(".")
            else stripped
        )
        assert not any(character.isdigit() for character in rest), (text, left)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("便宜三成", "30", "%"),
        ("便宜三成半", "35", "%"),
        ("只有一半", "0.5", "x"),
        ("价格翻倍", "2", "x"),
        ("翻了一倍", "2", "x"),
        ("costs half as much", "0.5", "x"),
        ("a third of it", "0.33", "x"),
        ("it doubles the speed", "2", "x"),
        ("twice as fast", "2", "x"),
        ("三成本都不够", None, ""),  # 成本 is cost
        ("half precision", None, ""),
        ("half-precision", None, ""),
        ("double precision", None, ""),
    ],
)
def test_words_for_shares_are_figures_where_they_are_asked_for(text: str, value: str | None, unit: str) -> None:
    found = [(figure.value, figure.unit) for figure in extract_figures(text, share_words=True)]
    assert found == ([(Decimal(value), unit)] if value else [])
    assert unit not in {figure.unit for figure in extract_figures(text) if figure.value == Decimal(value or 0)}
