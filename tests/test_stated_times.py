"""Times as people say them: hours of the day (早九晚六, 9 to 6), a month and five days, two hours and a quarter."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer import run

from assistant.quantities import parse_quantities
from assistant.tools import calculate

CLOCKS = [  # what is said, hours of the day
    ("早九晚六租 A100", 9), ("朝九晚五用 T4", 8), ("朝九晚十开机", 13), ("早八点到晚八点", 12), ("早9晚6", 9), ("早九晚十二", 15), ("朝九晚四", 7),
    ("早十晚两点", 16), ("9点到6点", 9), ("9 to 6 for 20 days", 9), ("from 9 to 5 every weekday", 8), ("9-5, Mon-Fri", 8), ("a 9-to-5 job", 8),
    ("8 to 6", 10), ("9am-6pm", 9), ("22点到8点", 10), ("晚上10点到早上8点", 10), ("下午2点到6点", 4),
]  # fmt: skip


@pytest.mark.parametrize(("text", "hours"), CLOCKS)
def test_hours_between_two_times_of_day(text: str, hours: int) -> None:
    found = [q for q in parse_quantities(text) if q.kind in ("duration", "hours_per_day") and q.unit == "hour"]
    assert [q.value for q in found] == [hours]


@pytest.mark.parametrize(
    "text",
    ["reduce from 8 to 4, what do I save", "8 to 4 cards", "10 to 6 hours", "a 9 to 6 ratio of cards", "9-6 cards", "两早一天", "cut it down from 12 to 8"],
)  # fmt: skip
def test_a_change_or_a_range_is_no_working_day(text: str) -> None:
    assert not [
        q
        for q in parse_quantities(text)
        if q.unit == "hour" and " to " not in q.text and "-" not in q.text and q.value == 9
    ]
    assert not [q for q in parse_quantities(text) if q.unit == "hour" and q.value in (8, 9) and q.high is None]


LENGTHS = [  # hours of the whole, a month being 730 h and a year 8,760
    ("一个月零5天", 850), ("a month and 5 days", 850), ("1 month 5 days", 850), ("三个月零一周", 2358), ("一年零十天", 9000), ("a year and 2 weeks", 9096),
    ("一个月又三天", 802), ("一个月零5天，按30天算", 840), ("两周零三天", 408), ("two weeks and 3 days", 408), ("1 year and 2 months", 10220),
    ("2 小时零 15 分", "2.25"), ("2 hours and 15 minutes", "2.25"), ("1 天 6 小时", 30),
]  # fmt: skip
OF_UNIT = {"month": Decimal(730), "year": Decimal(8760)}


@pytest.mark.parametrize(("text", "hours"), LENGTHS)
def test_a_compound_length_is_the_sum_of_its_parts(text: str, hours: int | str) -> None:
    found = [q for q in parse_quantities(text) if q.kind == "duration"]
    assert len(found) == 1, found
    assert round(found[0].hours or found[0].value * OF_UNIT[found[0].unit], 6) == Decimal(hours)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("每月22天", ["day"]), ("22 days a month", ["day"]), ("一个月22天", ["day"]),  # days of each month
        ("cost for a month and a week", ["month", "week"]), ("一天和一个月的价格", ["day", "month"]),  # two times
    ],
)  # fmt: skip
def test_days_of_a_month_and_two_times_stay_apart(text: str, units: list[str]) -> None:
    assert [q.unit for q in parse_quantities(text) if q.kind == "duration"] == units


@settings(max_examples=40, deadline=None)
@given(months=st.integers(2, 36), days=st.integers(1, 30))
def test_months_and_days_are_told_as_they_were_said(months: int, days: int) -> None:
    (found,) = [q for q in parse_quantities(f"{months} months and {days} days") if q.kind == "duration"]
    result = calculate("period_hours", value=found.value, unit=found.unit)
    assert result.value == months * 730 + days * 24
    assert f"{months} month × 730 h + " in result.formula


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("早九晚六租一张腾讯 T4 多少钱", ["9 小时：78.12 元"]),  # one day: 9 x 8.68
        ("租一张腾讯 T4 早九晚六，用 22 天多少钱", ["9 小时 × 22 天 = 198 小时", "1,718.64 元"]),
        ("租腾讯 T4 朝九晚五一周多少钱", ["8 小时 × 7 天 = 56 小时", "486.08 元"]),  # five days only where said
        ("租腾讯 T4，周一到周五朝九晚六，一个月多少钱", ["9 小时 × 22 天 = 198 小时", "1,718.64 元"]),
        ("用腾讯 T4 3 天早九晚六多少钱", ["27 小时", "234.36 元"]),
        ("Tencent T4 9 to 6 for 20 days, cost?", ["9 h × 20 days = 180 h", "1,562.40 CNY"]),
        ("rent a Tencent T4 from 9 to 6 for a week, how much", ["63 hours", "546.84 CNY"]),
        ("Tencent T4 9 to 5 every weekday for a month, how much", ["8 h × 22 days = 176 h", "1,527.68 CNY"]),
        ("租腾讯 T4 一个月零5天多少钱", ["一个月零5天（850 小时）：7,378.00 元"]),
        ("rent a Tencent T4 for a month and 5 days, how much", ["a month and 5 days (850 hours): 7,378.00 CNY"]),
        ("腾讯 T4 一个月零五天，每天8小时，多少钱", ["283.33 小时", "2,459.33 元"]),
        ("租腾讯 T4 用 2 小时零 15 分多少钱", ["2.25 小时：19.53 元"]),
    ],
)
def test_a_rent_over_the_time_said(question: str, words: list[str]) -> None:
    _, result = run(question, "cost")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


def test_twice_a_compound_length_is_not_called_by_its_old_name() -> None:
    _, result = run("时间翻倍呢", "cost", "租腾讯 T4 一个月零5天多少钱")
    assert "1,700 小时" in result.text
    assert "一个月零5天（1,700" not in result.text
