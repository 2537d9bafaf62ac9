"""Two lots of cards against each other, a rent as cards bought, hours at work, watts apart from their number, quotas.

T4: Tencent 8.68, Volcengine 11.28, Alibaba 11.63 yuan an hour; A100: Tencent 28.64, Alibaba 34.742, Volcengine 40.39;
a card of the handout: T4 7,999, A100 69,999 yuan. A40: RunPod 0.35 (community cloud), Vultr 1.712 dollars.
"""

from __future__ import annotations

import pytest
from test_answer import run

SUMS = [  # question, earlier turns, intent, words
    # 3 x 8.68 = 26.04 against 28.64; 4 x 11.28 = 45.12 against 40.39
    ("Three Tencent T4s or one Tencent A100 - which is cheaper per hour, and by how much?", (), "compare", ["3× T4 at Tencent Cloud cost less, by 2.60 CNY", "26.04 CNY against 28.64 CNY"]),
    ("火山租四张T4和一张A100,每小时哪个便宜,差多少", (), "compare", ["1 张 A100 更便宜", "少 4.73 元", "40.39 元 对 45.12 元"]),
    # each lot at its own cloud: 4 x 11.63 x 72, 40.39 x 72; 2 x 34.742 x 240, 3 x 28.64 x 240
    ("4 T4s at Alibaba vs 1 A100 at Volcengine for 3 days: which costs less?", (), "cost", ["by 441.36 CNY", "3,349.44", "2,908.08"]),
    ("租两张阿里A100和三张腾讯A100,跑10天,哪个贵,贵多少", (), "cost", ["少 3,944.64 元", "16,676.16", "20,620.80"]),
    # a sum stays a sum
    ("2 A100 and 4 T4 at Tencent for a day, total?", (), "cost", ["2,208.00 CNY"]),
    ("RunPod or Vultr for an A40?", (), "document", ["0.35", "1.712", "1.362 USD/hour", "community cloud"]),
    ("A40 租 RunPod 还是 Vultr", (), "compare", ["0.35", "1.712", "社区云"]),
    ("RunPod 的 A40 跑100小时多少钱", (), "cost", ["35.00 美元", "社区云价格"]),
    # 9 h x 21 days x 11.63, not 9 h and 504 h
    ("阿里T4只在上班那9个小时开,一个月算21天,要花多少", (), "cost", ["2,198.07 元"]),
    ("Alibaba T4 only for the 9 working hours, with 21 days a month, what does it cost?", (), "cost", ["2,198.07 CNY"]),
    ("火山A100一个月按22天算,上班8小时开,多少钱", (), "cost", ["7,108.64 元"]),  # 176 h x 40.39
    # the stated 600 W, not the 450 W of the row: 0.6 x 300 x 0.8
    ("Power bill for my 4090 box: it draws 600 W, runs 10 hours a day for 30 days, electricity is 0.8 yuan per kWh.", (), "power", ["**Electricity: 144.00 CNY**", "180.00 kWh"]),
    ("我的4090整机功率 1.2 kW,开100小时,电费1元一度,要多少电费", (), "power", ["**电费：120.00 元**"]),
    # 34.742 x 8,760 = 304,339.92 = 4 x 69,999 + 24,343.92; 11.63 x 8,760 = 12 x 7,999 + 5,890.80
    ("阿里A100全年不关机租一年多少钱,这钱按讲义的价能买几张A100", (), "buy_or_rent", ["304,339.92 元，能买 4 张 A100**", "24,343.92"]),
    ("How many A100 cards could I buy for a year's rent at Tencent?", (), "buy_or_rent", ["250,886.40 CNY of rent, which buys 3 GPUs", "40,889.40"]),
    ("What does a year of one Alibaba T4 rent for, and how many T4s would that buy at the handout's price?", (), "buy_or_rent", ["101,878.80", "buys 12 GPUs"]),
    ("how many free kaggle gpu hours is that over 4 weeks", (), "cost", ["120 free hours"]),
    ("How many of Kaggle's free hours in 6 weeks?", (), "document", ["180 free hours"]),
    # (2 x 11.28 + 11.63) x 24: the three are the two and the one more
    ("再加一台阿里T4当第三个副本,三台一天总共多少", ("两台火山T4做主备,一天多少钱",), "cost", ["820.56 元"]),
    ("add one Alibaba T4 as a third replica, what do all three machines cost a day in total?", ("two T4s at Volcengine as a pair, cost per day?",), "cost", ["820.56 CNY"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "turns", "intent", "words"), SUMS)
def test_each_sum_is_of_the_lots_hours_and_watts_said(
    question: str, turns: tuple[str, ...], intent: str, words: list[str]
) -> None:
    _, result = run(question, intent, *turns)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


def test_a_month_taken_as_thirty_days_without_hours_at_work_leaves_the_time_said() -> None:
    _, result = run("腾讯T4跑48小时多少钱,一个月按30天算", "cost")
    assert "416.64 元" in result.text, result.text  # 48 x 8.68


def test_numbers_of_offers_to_be_ranked_are_no_lots() -> None:
    _, result = run("Rank the six T4/A100 offers of Alibaba, Tencent and Volcengine from cheap to expensive", "compare")
    assert [price for price in ("8.68", "11.28", "11.63", "28.64", "34.742", "40.39") if price not in result.text] == []
    assert "6× T4" not in result.text
