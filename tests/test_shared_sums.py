"""Sums of several people, free hours, GPU-hours and copies: figures of the reader's and of the platform rows."""

from __future__ import annotations

import pytest
from test_answer import run

from assistant.calculator.quota import QuotaWeeksInput, quota_weeks
from assistant.people import people
from assistant.tools import ToolError, calculate
from knowledge.platforms import load_platforms

ANSWERS = [  # question, earlier turns, intent, words that must stand in the text
    # free hours of every week: 30 of Kaggle
    ("kaggle 白嫖,四周下来顶天能用多少小时", (), "cost", ["120 小时", "30 小时 × 4"]),
    ("how many free hours on Kaggle in 2 weeks for three friends?", (), "cost", ["180 free hours", "30 h × 2 × 3"]),
    ("kaggle 免费额度一个月能用多少小时", (), "document", ["4.35 周", "130.5 小时"]),  # 730 h of 168 a week
    ("how many weeks do I need to get 200 hours out of it", ("which gpus does kaggle give for free?",), "document", ["7 weeks", "6.67"]),
    ("45 hours of T4 work on Kaggle's free quota: how many weeks?", (), "cost", ["2 weeks", "1.5 weeks"]),
    ("零预算呢?我一周差不多用20个小时", ("想练手微调小模型,有啥平台",), "document", ["Kaggle", "30 小时", "20 小时", "就够"]),
    ("kaggle每周30小时，我每天用5小时够吗", (), "document", ["不够", "35 小时"]),  # the days are the use, not the quota said
    ("那我们组五个人都升,一共几刀", ("colab升级是9美金吧",), "off_topic", ["45 美元", "没有乘以月数"]),
    ("our lab of 12 students all upgrade Colab, what's the total", (), "document", ["108 USD", "not multiplied by months"]),
    # GPU-hours as a measure
    ("卡时到底咋算，比如我8张卡跑了15个小时算多少", (), "cost", ["120 卡时"]),
    ("16 GPUs for 3 days is how many GPU-hours?", (), "cost", ["1,152 GPU-hours"]),
    # a bill that several people share
    ("5 of us splitting one tencent a100, 60 hrs in total. whats each person's share", (), "cost", ["343.68 CNY each"]),
    ("我和两个同学合租一张火山T4,跑100小时,平摊下来每人多少", (), "cost", ["每人 376.00 元"]),  # 1,128 ÷ 3: the speaker pays too
    # copies by the words around the figures
    ("高峰每秒要8000个token,压测一个副本900,做n+1得起几份,每份占两张卡,一共几张", (), "serving", ["10 个副本", "20 张卡"]),
    ("we run 3 replicas, each does about 1000 tok/s. peak is 2400. if one dies are we ok", (), "serving", ["No, not enough", "2,000", "4 replicas"]),
    ("跑着5个副本,每个副本900 tok/s,峰值3500,坏一个还撑得住吗", (), "serving", ["撑得住", "3,600", "余 100"]),
    ("再留一个备用的,总共起几个", ("压测下来一个副本扛50个并发,高峰有220人同时用",), "serving", ["6 个副本", "ceil(220 ÷ 50) = 5"]),
    ("One pod handles 40 concurrent users, peak is 300 users. How many pods, and one spare?", (), "serving", ["9 replicas"]),
    # buying
    ("4090 at the handout's yuan price vs my guy who rents me one for 2.5 yuan/h. break even hours?", (), "price", ["5,839.60 hours"]),
    ("要是一天就用5个钟头呢", ("T4买一张7999,腾讯租8.68一小时,多久回本",), "buy_or_rent", ["184.30 天"]),
]  # fmt: skip

UNMOVED = [  # asks something else, and is answered as before
    ("每人每天4小时,3个人,腾讯T4一周多少钱", "cost", "平摊"),
    ("腾讯云 A100 每周跑20小时多少钱,没有预算上限", "cost", "Kaggle"),
    ("A100 8张跑15小时多少卡时,要多少钱", "cost", "就够"),
]  # fmt: skip

HEADS = [
    ("五个人都升", 5), ("仨研究生每人一台", 3), ("me and two friends", 3), ("我和两个同学", 3), ("split four ways", 4), ("我们俩", 2),
    ("25 people", 25), ("A100 80GB", None), ("8个人民币", None), ("two cards", None),
]  # fmt: skip


@pytest.mark.parametrize(("question", "turns", "intent", "said"), ANSWERS, ids=[case[0][:40] for case in ANSWERS])
def test_the_sum_stands_in_the_answer_and_is_traced(question: str, turns: tuple[str, ...], intent: str, said: list[str]) -> None:  # fmt: skip
    answer = run(question, intent, *turns)[1]
    assert answer.status == "answered"
    assert answer.verified
    assert not [words for words in said if words not in answer.text], answer.text


@pytest.mark.parametrize(("question", "intent", "absent"), UNMOVED)
def test_a_question_of_something_else_is_not_taken_for_such_a_sum(question: str, intent: str, absent: str) -> None:
    assert absent not in run(question, intent)[1].text


@pytest.mark.parametrize(("text", "heads"), HEADS)
def test_people_are_counted_and_nothing_else_is(text: str, heads: int | None) -> None:
    assert people(text) == heads


def test_every_platform_row_with_a_quota_or_an_upgrade_price_is_read() -> None:
    rows = {row.provider: row for row in load_platforms()}
    assert rows["kaggle"].quota_hours_per_week == 30
    assert rows["kaggle"].gpus == ("T4", "P100")
    assert (rows["colab"].price, rows["colab"].currency, rows["colab"].quota_hours_per_week) == (9, "USD", None)


def test_a_week_that_is_just_filled_is_not_rounded_up() -> None:
    assert quota_weeks(QuotaWeeksInput(hours=60, hours_per_week=30)).outputs["whole_weeks"] == 2  # type: ignore[arg-type]


def test_all_replicas_lost_is_refused() -> None:
    with pytest.raises(ToolError, match="leaves none"):
        calculate("replicas_left", replicas=2, rate_per_replica=10, demand=5, lost=2)
