"""Follow-ups to a price, clock times, coins, rates and copies: sums as people say them, worked out by hand from the rows.

T4: Tencent 8.68, Volcengine 11.28, Alibaba 11.63 yuan an hour; A100: Tencent 28.64, Alibaba 34.742, Volcengine 40.39.
"""

from __future__ import annotations

from decimal import Decimal

import pytest
from test_answer import run

from assistant.agreed_rate import agreed_rate
from assistant.market_words import markets_asked
from assistant.pointing_words import VERSUS
from assistant.reading import read

SUMS = [  # question, earlier turns, intent, words
    ("and what was its price when it launched?", ("How much is an RTX 3090 on Amazon?",), "document", ["launch price: 1,499 USD"]),
    ("刚出的时候呢", ("美亚上3090卖多少钱",), "smalltalk", ["发售建议价：1,499 美元"]),
    ("and what does amazon sell it for now?", ("RTX 3090 launch price?",), "price", ["listed at Amazon US: 1,499.99 USD"]),
    ("当初发布的时候卖多少钱", ("H100 单卡买价多少",), "buy_price", ["没有 H100 的发售价"]),
    # (40.39 - 28.64) / 40.39 and / 28.64
    ("by what percentage is that cheaper than Volcengine's?", ("Tencent Cloud A100, price per hour?",), "price", ["Tencent Cloud is 11.75 CNY/hour cheaper than Volcengine, 29.09 % less"]),
    ("what percentage dearer is that than Tencent's?", ("Volcengine A100, price per hour?",), "price", ["Volcengine is 11.75 CNY/hour dearer than Tencent Cloud, 41.03 % more"]),
    ("这个比火山的便宜百分之多少", ("腾讯云A100一小时多少",), "price", ["腾讯云比火山引擎便宜 11.75 元/小时，便宜 29.09 %"]),
    ("这比腾讯贵百分之几", ("火山A100一小时多少钱",), "price", ["火山引擎比腾讯云贵 11.75 元/小时，贵 41.03 %"]),
    ("火山T4从晚上10点跑到第二天早上8点,多少钱", (), "cost", ["112.80 元"]),  # 10 h x 11.28
    ("a Volcengine T4 from 10 pm through 8 am the next day, cost?", (), "cost", ["112.80 CNY"]),
    ("火山T4晚上11点开到次日7点多少钱", (), "cost", ["90.24 元"]),  # 8 h
    ("有人给我报4090 1块65一小时,我要8张跑一个礼拜不停机,算下多少", (), "cost", ["2,217.60 元"]),  # 1.65 x 8 x 168
    ("朋友的4090一块六毛五一小时租我，跑100小时多少钱", (), "cost", ["165.00 元"]),
    ("100 hours on a Volcengine T4: what is that in US dollars at 7.2 yuan to the dollar?", (), "budget", ["156.67 USD"]),  # 1,128 / 7.2
    ("火山T4跑100小时，按1美元兑7.2元折成美元多少", (), "budget", ["156.67 美元"]),
    ("要是24小时不停地跑,多久回本", ("4090我两万能买到,租的话2.5元一小时",), "budget", ["用满约 8,000 小时", "333.33 天"]),  # 20,000 / 2.5
    ("running non-stop, when does it pay back?", ("I can buy a 4090 for 20000, renting is 2.5 yuan an hour",), "cost", ["about 8,000 hours"]),
    ("I can buy one for 20000 yuan, break-even hours?", ("a 4090 rents at 2.5 yuan per hour",), "budget", ["about 8,000 hours"]),
    ("每天8小时多久回本", ("买张4090要2万，租是每小时2块5",), "training_time", ["约 1,000 天"]),
    ("腾讯的T4和腾讯的A100选哪个更省,按30天给我算算", ("我要上一个13B int4的客服机器人,24小时在线",), "serving", ["6,249.60", "20,620.80"]),  # x 720
    ("which is cheaper over 30 days, Tencent's T4 or Tencent's A100?", ("we're deploying a 13B int4 chatbot, on 24/7",), "choose", ["6,249.60", "20,620.80"]),
    ("老板跟阿里谈下来A100八二折,开一台,总共200个钟,多少钱", (), "cost", ["5,697.69 元"]),  # 34.742 x 0.82 x 200
    ("阿里云2张A100开1小时多少钱", (), "price", ["69.48 元"]),
    ("two A100s on aliyun for 1 hour, how much?", (), "price", ["69.48 CNY"]),
    # (3 + 1) x 2 cards x 11.63 x 720 h
    ("Each replica needs two T4s. We need 3 replicas for peak plus one spare, all on Alibaba Cloud. Cost for 30 days around the clock?", (), "cost", ["66,988.80 CNY", "(3 + 1) × 2 = 8"]),
    ("每个副本要两张T4，高峰3个副本再加一个备用，都放阿里云，全天开30天多少钱", (), "serving", ["66,988.80 元", "(3 + 1) × 2 = 8"]),
    ("腾讯云T4，4个副本，每个2张卡，跑30天多少钱", (), "cost", ["49,996.80 元", "4 × 2 = 8"]),  # 8 x 8.68 x 720
    ("副本要3个，每个副本4张A100，腾讯云，一天多少钱", (), "cost", ["8,248.32 元", "3 × 4 = 12"]),  # 12 x 28.64 x 24
    ("有比这便宜的吗", ("火山A100一小时多少钱",), "price", ["A100 最便宜的是腾讯云（28.64 元/小时）"]),
    ("3 replicas of two A100s each at Tencent, 72 hours: what's the bill?", (), "serving", ["12,372.48 CNY"]),
    # 4 x 168 h at 11.63 and 8.68
    ("plus one standby. what's the bill for a week running 24/7, and same thing on tencent?", ("our load needs 3 T4 machines on Alibaba Cloud",), "cost", ["5,832.96", "7,815.36"]),
    ("再备一台，一周24小时开着多少钱，腾讯那边也算一下", ("负载要3台阿里云T4",), "cost", ["5,832.96", "7,815.36"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "turns", "intent", "words"), SUMS)
def test_a_sum_said_as_people_say_it(question: str, turns: tuple[str, ...], intent: str, words: list[str]) -> None:
    _, result = run(question, intent, *turns)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    "question", ["ten million A100s on aliyun for 1 hour lol, whats the damage", "阿里云一千万张A100开1小时多少钱"]
)
def test_more_cards_than_there_are_get_a_plain_word_and_no_price_of_one(question: str) -> None:
    _, result = run(question, "price")
    assert (result.status, result.verified) == ("needs_detail", True), result.text
    assert "34.742" not in result.text


COINS = [
    ("T4 2块3一小时", "2.3"), ("4090 1块65一小时", "1.65"), ("4090一块六五一小时", "1.65"), ("4090一块六毛五一小时", "1.65"),
    ("A100 28块64一小时", "28.64"), ("两块二一个小时", "2.2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "price"), COINS)
def test_coins_behind_the_yuan(text: str, price: str) -> None:
    assert read(text).slots.price_per_hour == Decimal(price)


@pytest.mark.parametrize(("text", "kinds"), [
    ("租2块4090跑3天", ["count", "duration"]), ("要2块24小时", ["money", "duration"]), ("租2块3天", ["money", "duration"]),
    ("2块50张", ["money", "count"]),
])  # fmt: skip
def test_a_number_with_a_unit_of_its_own_is_no_coin(text: str, kinds: list[str]) -> None:
    assert [q.kind for q in read(text).quantities] == kinds
    assert read(text).quantities[0].value == 2


def test_a_rate_of_exchange_is_no_budget_and_a_price_stays_one() -> None:
    assert read("100 hours at 7.2 yuan to the dollar").slots.money is None
    assert read("按1美元兑7.2元，预算5000元").slots.money == 5000
    assert read("at a rate of 2.5 yuan per hour, 100 hours").slots.price_per_hour == Decimal("2.5")
    assert agreed_rate("at 7.2 yuan to the dollar") == Decimal("7.2")


@pytest.mark.parametrize(
    "text", ["2万能买到4090吗?租的话2.5元一小时", "9000块4090租2块一小时", "预算两万,4090租2.5元一小时"]
)
def test_an_amount_to_spend_is_no_purchase_price(text: str) -> None:
    assert read(text).slots.purchase_price is None


@pytest.mark.parametrize(
    "text", ["H100 发布的时候显存多少", "what memory did the A100 have at launch?", "RTX 4090 什么时候上市"]
)
def test_a_launch_without_a_price_asks_for_no_price(text: str) -> None:
    assert markets_asked(text) == ()


def test_another_card_drops_the_readers_own_price_and_the_same_one_keeps_it() -> None:
    _, other = run("那A100跑一天多少钱", "cost", "4090租2.5元一小时，跑100小时多少钱")
    assert "28.64" in other.text
    _, same = run("4090跑200小时呢", "cost", "4090租2.5元一小时，跑100小时多少钱")
    assert "500.00" in same.text


@pytest.mark.parametrize(("text", "compares"), [
    ("is that less than Volcengine?", True), ("is it cheaper than Tencent", True), ("这个比火山便宜吗", True),
    ("性价比最高的是哪家", False), ("what about Volcengine for no more than 5000 yuan", False), ("less than 3 days at Tencent", False),
    ("占比高吗", False),
])  # fmt: skip
def test_what_weighs_one_against_another(text: str, compares: bool) -> None:
    assert bool(VERSUS.search(text)) is compares
