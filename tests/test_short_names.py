"""Cards named by their ending alone, shops that share a cloud's name, and rates of exchange of the reader's own."""

from __future__ import annotations

from decimal import Decimal

import pytest
from test_answer import run

from assistant.agreed_rate import agreed_rate
from assistant.market_words import LAUNCH, LISTING, markets_asked, of_a_shop
from assistant.short_names import spelled_out


@pytest.mark.parametrize(
    ("earlier", "message", "card"),
    [
        ("5090 首发定价几多美金", "D版的呢", "RTX 5090 D"), ("launch price of the 5090", "and the D version?", "RTX 5090 D"),
        ("3090 多少钱", "Ti 呢", "RTX 3090 Ti"), ("msrp of the 4080", "what about the super?", "RTX 4080 SUPER"),
    ],
)  # fmt: skip
def test_ending_alone_is_the_sibling_of_the_card_before(earlier: str, message: str, card: str) -> None:
    assert card in spelled_out(message, [earlier])


@pytest.mark.parametrize(
    ("earlier", "message"),
    [
        ("A100 多少钱", "D版的呢"),
        ("你好", "Ti 呢"),
        ("5090 多少钱", "4090 D 呢"),
        ("5090 price", "do I need two?"),
        ("3090", "dgx 呢"),
    ],
)
def test_message_is_left_as_it_is_where_there_is_no_such_sibling(earlier: str, message: str) -> None:
    assert spelled_out(message, [earlier]) == message


@pytest.mark.parametrize(
    ("turns", "question", "words"),
    [
        (("5090 首发定价几多美金",), "D版的呢", ["2,299"]),
        (("what was the launch price of the 5090?",), "and the D version?", ["2,299"]),
        ((), "美亚(就是亚马逊商城美国站,不是AWS)上一张L40S挂牌多少刀", ["亚马逊美国站挂牌价：9,749.95 美元"]),
        ((), "what's an L40S listed at on amazon.com, the shop?", ["listed at Amazon US: 9,749.95 USD"]),
        ((), "3090 首发多少钱", ["发售建议价：1,499 美元"]),
    ],
)
def test_price_of_the_market_that_is_named_leads(turns: tuple[str, ...], question: str, words: list[str]) -> None:
    _, result = run(question, "price", *turns)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    ("question", "markets", "shop"),
    [
        ("亚马逊商城上 H100 卖多少", LISTING, True), ("H100 listed on amazon", LISTING, True), ("4090 msrp", LAUNCH, False),
        ("AWS 上 A100 一小时多少", (), False), ("亚马逊云 H100 租价", (), False), ("how much is an H100 on amazon ec2", (), False),
    ],
)  # fmt: skip
def test_shop_is_told_from_the_cloud_of_its_name(question: str, markets: tuple[str, ...], shop: bool) -> None:
    assert (markets_asked(question), of_a_shop(question)) == (markets, shop)


@pytest.mark.parametrize(
    ("question", "rate"),
    [
        ("折成美元呢,汇率就按7.2", "7.2"), ("汇率先按 7.15 算", "7.15"), ("1刀按7.2算", "7.2"), ("按7.2折算成美元", "7.2"),
        ("in dollars at 7.1", "7.1"), ("use 7.2 to the dollar", "7.2"), ("at an exchange rate of 7.25", "7.25"), ("汇率: 7", "7"),
    ],
)  # fmt: skip
def test_own_rate_is_read_however_it_is_said(question: str, rate: str) -> None:
    assert agreed_rate(question) == Decimal(rate)


@pytest.mark.parametrize(
    "question", ["按2台算", "500 美元够租多久", "hourly rate", "美元价多少", "T4 rates at 3 clouds"]
)
def test_other_figures_are_no_rate(question: str) -> None:
    assert agreed_rate(question) is None


@pytest.mark.parametrize(
    ("turns", "question", "words"),
    [
        (("火山T4一台开100小时多少钱",), "折成美元呢,汇率就按7.2", ["156.67 美元", "1 USD = 7.2 CNY"]),
        (("what do 100 hours of a volcengine T4 cost?",), "in dollars at an exchange rate of 7.2?", ["156.67 USD"]),
    ],
)
def test_sum_before_is_converted_at_the_readers_rate(turns: tuple[str, ...], question: str, words: list[str]) -> None:
    _, result = run(question, "cost", *turns)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    ("turns", "question", "words"),
    [
        (("腾讯A100一小时多少钱",), "那阿里的比它贵百分之几", ["21.31 %", "6.102 元/小时"]),
        (("what does an A100 cost per hour at tencent",), "how much more is alibaba's in percent", ["21.31 %"]),
    ],
)
def test_how_much_dearer_takes_the_one_talked_about_as_the_other(
    turns: tuple[str, ...], question: str, words: list[str]
) -> None:
    _, result = run(question, "price", *turns)
    assert [word for word in words if word not in result.text] == [], result.text
