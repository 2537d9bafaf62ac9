"""Sums on figures that the question states: runs scaled, orders added, working hours, payback, unit prices, replicas."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer import run

ANSWERS = [  # question, earlier turns, intent, words that must stand in the text
    # a time of so many cards is not the rental time of another number of them: 40 h ÷ 4 = 10 h, 4 × 10 × 28.64
    ("腾讯A100上单卡跑了40小时,改成4张卡一起跑,线性加速,总费用多少", (), "cost", ["约 10 小时", "1,145.60 元"]),
    ("想3天训完,A100单卡要30天,线性加速得几张", (), "cost", ["要 10 张卡"]),
    ("1 card takes 20 days, how long with 8 at 90% efficiency", (), "budget", ["2.78 days (66.67 hours)"]),
    ("8 张卡要跑 5 天,改成 2 张卡要几天", (), "cost", ["20 天（480 小时）"]),
    ("A job takes 100 hours on 2 A100s at Tencent; what does it cost on 8 with linear scaling?", (), "cost", ["25 hours", "5,728.00 CNY"]),
    ("2张卡加速比1.8,单卡10小时,两张卡多久", (), "cost", ["5.56 小时"]),  # 10 ÷ 1.8
    ("Our run needs a week on one A100. How many A100s to finish in 2 days with linear scaling?", (), "cost", ["4 GPUs are needed"]),
    ("8张卡线性加速要多久", ("单卡训练要12天",), "train_cost", ["约 36 小时"]),
    ("换成 2 张呢", ("腾讯云租 4 张 A100 跑 72 小时多少钱",), "cost", ["4,124.16 元"]),  # a rental keeps its time
    ("训练在8卡上要5天,想2天跑完需要多少卡", (), "cost", ["要 20 张卡"]),
    ("4 GPUs finish the job in 30 hours. If I only have 1, how long?", (), "train_cost", ["5 days (120 hours)"]),
    ("我们单卡V100训一轮要60小时,上6张卡大概多久", (), "cost", ["约 10 小时"]),
    # each line of an order has its own card, cloud, number and time
    ("three Tencent T4 plus one Alibaba A100, combined hourly rate", (), "compare", ["60.782 CNY/hour"]),
    ("half a day on Volc's T4 plus a full day on its A100", (), "cost", ["1,104.72 CNY", "969.36"]),
    ("A100 and T4 for 10 hours each", (), "cost", ["286.40", "86.80", "373.20 CNY"]),
    ("阿里A100跑5小时加腾讯T4跑20小时一共多少钱", (), "cost", ["347.31 元"]),  # 173.71 + 173.60
    ("腾讯A100和阿里T4每小时加起来多少", (), "compare", ["40.27 元/小时"]),
    ("2 T4s at Tencent for 5 hours and 4 A100s at Alibaba for 10 hours", (), "cost", ["1,476.48 CNY"]),
    ("renting 1 A100 at Tencent and 1 at Volcengine for a day, combined?", (), "cost", ["1,656.72 CNY"]),
    # a price of one's own needs no card
    ("At 28.64 yuan/h what's the cost per minute?", (), "cost", ["0.47733 CNY/minute"]),
    ("腾讯A100每分钟多少钱", (), "cost", ["0.47733 元/分钟"]),
    ("每小时30块一个月多少", (), "cost", ["21,900.00 元"]),
    ("$2/h for 8 cards for 3 days", (), "cost", ["1,152.00 USD"]),
    ("一个月3000元合每小时多少", (), "budget", ["4.1096 元/小时"]),  # 3,000 ÷ 730
    ("8 cards at $2 vs $2.5 per hour each for a month, difference?", (), "cost", ["2,920.00 USD apart"]),
    # working days and hours
    ("Tencent A100 during business hours (9:00 to 18:00, 22 days), monthly cost?", (), "cost", ["198 hours", "5,670.72 CNY"]),
    ("腾讯A100工作日早九晚六开机一个月多少钱", (), "cost", ["198 小时", "每月按 22 天计"]),
    ("Tencent T4 Monday to Friday, 8 hours a day, for a month", (), "cost", ["176 hours", "22 a month are taken"]),
    ("阿里A100一年开300天每天10小时多少钱", (), "cost", ["3,000 小时", "104,226.00 元"]),
    ("腾讯A100 3个月,每月22天每天8小时", (), "cost", ["528 小时", "15,121.92 元"]),
    ("腾讯A100每周5天每天8小时,一个月多少钱", (), "cost", ["173.33 小时", "4,964.27 元"]),
    ("If I pay 12 yuan an hour and run 8 hours a day, 22 days, what is the monthly bill?", (), "cost", ["2,112.00 CNY"]),
    ("4090 一年用300天每天10小时,买还是租", (), "buy_or_rent", ["10 小时 × 300 天 = 3,000 小时", "3,420.00 美元"]),  # 0.38 × 9,000 h
    ("Alibaba T4, weekdays only, 10 hours per day, 3 months", (), "cost", ["660 hours", "7,675.80 CNY"]),
    ("腾讯A100早上8点到晚上10点,一个月按30天算多少钱", (), "cost", ["420 小时", "12,028.80 元"]),
    ("一张A100一年用300天每天10小时电费多少", (), "power", ["3,000 小时"]),
    ("每天8小时,5000元能租腾讯T4多少天", (), "budget", ["576.03 小时", "72.00 天"]),
    # payback of the reader's own figures
    ("H100整卡24万,租每小时30块,自己的电费每小时5毛也算上,跑多少小时回本", (), "budget", ["8,135.59 小时"]),
    ("买4090 15000元,租2元一小时,每天用6小时,多久回本", (), "buy_or_rent", ["7,500 小时", "1,250 天"]),
    ("An A100 costs 80000 yuan to buy, rent is 30 an hour, power 1 yuan an hour; break-even hours?", (), "buy_or_rent", ["2,758.62 hours"]),
    ("显卡20000块,出租每小时3元,电费每月200,每天出租12小时,几个月回本", (), "cost", ["22.35 个月"]),  # 20,000 ÷ (1,095 − 200)
    ("T4 我 8000 块能收到,腾讯云租多久回本", (), "budget", ["921.65 小时"]),
    ("租A100一小时28块,买一张7万,自己开每小时电费1.2元,每天用8小时几年回本", (), "buy_or_rent", ["2,611.94 小时"]),
    # a price taken for granted
    ("腾讯T4不用钱,所以一个月0元对吧", (), "budget", ["不是免费的", "6,336.40 元"]),
    ("The Tencent A100 is free, right?", (), "price", ["not free", "28.64 CNY/hour"]),
    ("Tencent T4 costs 0 yuan per hour, right?", (), "price", ["not free", "8.68 CNY/hour"]),
    ("腾讯A100一小时1块钱对吧", (), "price", ["和表里的价格不符", "28.64 元/小时"]),
    ("Tencent's A100 is 28.64 yuan per hour, right?", (), "price", ["Yes, that is the price on file"]),
    # speed
    ("and on an H100 with the guide's ratio?", ("Our 16-bit fine-tuning takes 46 hours on one A100.",), "speedup", ["about 20 hours on an H100"]),
    ("那换H100呢", ("A100上训练要46小时",), "speedup", ["约 20 小时"]),
    ("H100 is 2.3x slower than A100, right?", (), "speedup", ["the H100 is the faster card"]),
    ("H100比A100慢2.3倍吧", (), "speedup", ["更快的是 H100"]),
    ("A100上推理任务35分钟,H100上多久", (), "speedup", ["约 0.17 小时"]),
    # unit prices
    ("按每GiB内存算,三家A100谁最划算", (), "compare", ["火山引擎 A100：0.16486", "0.27794", "0.29833"]),
    ("price per CPU core of the A100 at each cloud", (), "price", ["1.79 CNY/core"]),
    ("按每GB显存算哪家T4最划算", (), "compare", ["0.5425 元/GB"]),  # 8.68 ÷ 16
    ("T4和A100单位算力哪个便宜", (), "compare", ["0.091795"]),  # 28.64 ÷ 312
    ("Which gives more TFLOPS per dollar, H100 or A100?", (), "document", ["TFLOPS per USD"]),
    # replicas of a stated rate
    ("80 concurrent users at 20 tokens/s each, one replica does 500 tok/s. Replicas needed with N+1?", (), "serving", ["5 replicas", "ceil(80 × 20 ÷ 500) = 4"]),
    ("100个并发,每人15 token/s,一个副本能跑600 token/s,要几个副本", (), "serving", ["要 3 个副本"]),
    ("峰值40 QPS,单个副本12 QPS,按70%利用率要几个副本", (), "serving", ["要 5 个副本"]),  # 40 ÷ 8.4
    ("We need 3,000 tokens/s in total, each replica gives 700 tokens/s. How many replicas?", (), "serving", ["5 replicas"]),
    ("If each GPU server handles 25 requests/s and we expect 180 requests/s at 80% utilization, how many servers?", (), "serving", ["9 replicas"]),
    # places
    ("三家A100第二便宜的是谁", (), "compare", ["第二便宜的是阿里云 A100：34.742"]),
    ("second cheapest T4?", (), "compare", ["Second cheapest: T4 at Volcengine, 11.28"]),
    ("第二贵的A100", (), "compare", ["第二贵的是阿里云"]),
    ("A100第一名和第三名差百分之几", (), "compare", ["贵 41.03 %"]),
    ("cost per day of Tencent A100 in USD and in yuan at rate 7.1", (), "cost", ["687.36 CNY = 96.81 USD"]),
    ("腾讯A100每天多少钱,美元和人民币都要,汇率7.1", (), "cost", ["687.36 元 = 96.81 美元"]),
    # the reader's own discount on the listed price: 200 × 28.64 × 0.85; 2 × 24 × 11.28 × 0.8; 25.776 an hour
    ("腾讯A100打85折的话200小时多少", (), "cost", ["4,868.80 元", "28.64 元/小时 × 0.85 = 24.344", "折扣是你说的"]),
    ("Tencent A100 for 200 hours with a 15% discount", (), "cost", ["4,868.80 CNY", "The discount is yours"]),
    ("What do 2 T4s at Volcengine cost per day at 20% off?", (), "cost", ["433.15 CNY"]),
    ("阿里T4 8.5折 3天", (), "cost", ["711.76 元"]),  # 72 × 11.63 × 0.85
    ("腾讯A100打九折多少钱一小时", (), "price", ["25.776 元/小时"]),
    ("哪家A100打八折后100小时最便宜", (), "cost", ["最便宜：腾讯云", "2,291.20 元", "3,231.20"]),
    # a machine that stands by is one more; one of those counted is none more
    ("业务要两台火山T4,再备一台,一天多少钱", (), "cost", ["812.16 元"]),  # 3 × 24 × 11.28
    ("two T4s at Volcengine plus one spare, cost per day?", (), "cost", ["812.16 CNY"]),
    ("3台阿里A100，另外留1台备用，10小时多少钱", (), "cost", ["1,389.68 元"]),
    ("3 Tencent T4 plus 1 on standby for 10 hours", (), "cost", ["347.20 CNY"]),
    ("8张腾讯A100其中一张备用，一天多少钱", (), "cost", ["5,498.88 元"]),
    # copies, with one that stands by
    ("峰值每秒要出3000个token,单副本实测900 tok/s,要几个副本,再留一个备用", (), "serving", ["要 5 个副本", "= 4; 4 + 1"]),
    ("Peak load is 3000 tokens/s and one replica does 900 tok/s: how many replicas plus one on standby?", (), "serving", ["5 replicas"]),
    # hours that a monthly sum pays
    ("我现在每个月在阿里A100上花1万2,大概用了多少小时", (), "budget", ["345.40 小时"]),
    ("We spend 12000 yuan a month on Alibaba's A100. How many hours is that?", (), "budget", ["345.40 hours"]),
    ("一个月2.5万够全天开一台阿里A100吗", (), "budget", ["不够"]),
    # a stated number of weeks is how long the quarter is: 8 × 5 × 13 = 520 h
    ("T4腾讯一天跑8小时一周跑5天,一个季度13周多少钱", (), "cost", ["520 小时", "4,513.60 元"]),
    ("Tencent T4 8 hours a day, 5 days a week, a quarter of 13 weeks: cost?", (), "cost", ["4,513.60 CNY"]),
    ("Monthly bill (30 days) of one Tencent T4 running non-stop?", (), "cost", ["6,249.60 CNY", "720 hours"]),
    ("腾讯T4全天开，月费（按30天）多少", (), "cost", ["6,249.60 元"]),
    # an hour of owning: 2,400,000 ÷ (8 × 3 × 8,760 × 0.8); 300,000 ÷ (8 × 4 × 8,760); 15,000 ÷ (3 × 365 × 8)
    ("Own 8x H100 server for 2.4 million yuan, 3-year straight line, 80% utilization: hourly cost per card?", (), "serving", ["14.2694 CNY/hour"]),
    ("自有8卡H100服务器240万，3年直线折旧，利用率80%，每卡每小时成本多少", (), "cost", ["14.2694 元/小时"]),
    ("A server bought for $300000 with 8 GPUs, depreciated over 4 years: cost per GPU hour?", (), "budget", ["1.0702 USD/hour"]),
    ("4090一张买15000元，用3年，每天8小时，摊到每小时多少钱", (), "budget", ["1.7123 元/小时"]),
    # price of a GB that is bought: 14,599 ÷ 24; 18,999 ÷ 24
    ("cheaper per GB of VRAM to buy: a 4090 at 14599 yuan or an A10 at 18999 yuan?", (), "buy_price", ["GeForce RTX 4090: 608.29 CNY/GB", "791.63"]),
    ("4090卖14599元，A10卖18999元，哪个每GB显存买起来便宜", (), "buy_price", ["608.29 元/GB", "791.63"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "turns", "intent", "words"), ANSWERS)
def test_stated_figures_make_the_right_sum(
    question: str, turns: tuple[str, ...], intent: str, words: list[str]
) -> None:
    _, answer = run(question, intent, *turns)
    assert [word for word in words if word not in answer.text] == [], answer.text
    assert (answer.status, answer.verified) == ("answered", True), answer.text


@pytest.mark.parametrize(
    ("question", "intent", "word"),
    [
        ("腾讯A100和火山A100哪个便宜,差多少", "compare", "11.75"),  # two cards compared are no order
        ("A100和T4跑10小时哪个便宜", "cost", "最便宜"),
        ("腾讯云租 4 张 A100 跑 72 小时多少钱", "cost", "8,248.32 元"),  # a rental is no run to be scaled
        ("Cost of one Alibaba A100, 8 hours a day for 22 working days?", "cost", "6,114.59 CNY"),
        ("腾讯A100每天8小时,一个月", "cost", "6,969.07 元"),
        ("腾讯T4租1到3个月多少钱", "cost", "19,009.20 元"),
    ],
)
def test_other_questions_keep_their_answers(question: str, intent: str, word: str) -> None:
    _, answer = run(question, intent)
    assert (word in answer.text, answer.verified) == (True, True), answer.text


def test_no_speed_below_nothing_and_no_card_unpriced_is_invented() -> None:
    for question, intent in (
        ("Tencent H100 and Alibaba T4 together per hour", "cost"),
        ("how much for a month?", "cost"),
    ):
        _, answer = run(question, intent)
        assert answer.status != "answered", answer.text


@settings(max_examples=25, deadline=None)
@given(hours=st.integers(1, 2000), cards=st.integers(2, 64), percent=st.sampled_from([100, 90, 75]))
def test_any_run_is_scaled_and_traced(hours: int, cards: int, percent: int) -> None:
    _, answer = run(f"单卡跑了{hours}小时,改成{cards}张卡,效率{percent}%,要多久", "cost")
    assert answer.verified
    exact = Decimal(hours) * 100 / (cards * percent)
    rounded = f"{exact.quantize(Decimal('0.01'), ROUND_HALF_UP):,f}".rstrip("0").rstrip(".")
    assert f" {rounded} 小时" in answer.text or f"（{rounded} 小时" in answer.text, answer.text
