"""All units tried in one pattern are found as one by one, first come first served."""

from __future__ import annotations

import pytest

from assistant.units import ANY_MEASURE, MEASURES, Measure, measure_after, read_label

TEXTS = (
    "元/小时", "元", "块钱", "块/时", "USD per hour", "US$", "dollars", "GB/s", "GB", "GiB", "G ", "TB/s", "T,", "TFLOPS", "TOPS",
    "kW", "kWh", "千瓦时", "千瓦", "W", "x", "× ", "倍", "times", "核", "CUDA cores", "线程", "条", "rows", "tokens", "张", "张表",
    "卡时", "卡", "台机器", "台", "GPU hours", "GPUs", "小时", "h", "个月", "月", "months", "年", "day", "日元", "日", "s", "seconds",
    "ms", "%", "percent", "百分点", "折", "参数", "params", "nodes", "servers", "options", "种", "步", "nothing", "", "苹果",
)  # fmt: skip


def test_a_pattern_of_a_unit_has_no_group_of_its_own() -> None:
    assert ANY_MEASURE.groups == len(MEASURES)
    assert all(pattern.groups == 0 for _, pattern in MEASURES)


@pytest.mark.parametrize("text", TEXTS)
def test_the_first_unit_that_fits_is_the_one_found(text: str) -> None:
    one_by_one = next(((m, hit.end()) for m, p in MEASURES if (hit := p.match(text))), None)
    found = ANY_MEASURE.match(text)
    assert ((MEASURES[(found.lastindex or 0) - 1][0], found.end()) if found else None) == one_by_one


@pytest.mark.parametrize(
    ("text", "measure", "end"),
    [
        (" 元/小时", Measure(currency="CNY", period="hour"), 5),
        (" GB/s", Measure("GB/s"), 5),
        ("个月", Measure("month"), 2),
        (" apples", Measure(), 0),
    ],
)
def test_a_unit_is_read_with_its_gap_and_its_rate(text: str, measure: Measure, end: int) -> None:
    assert measure_after(text, 0) == (measure, end)


def test_labels_are_remembered_but_not_without_bound() -> None:
    for number in range(5000):
        read_label(f"made up {number} (GB)")
    assert read_label.cache_info().currsize <= 4096
    assert read_label("made up 1 (GB)") == Measure("GB")
