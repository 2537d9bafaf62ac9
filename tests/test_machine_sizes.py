"""Sizes of machines and slices named in a question: read from the words, and answered from the row of that size."""

from __future__ import annotations

from decimal import Decimal

import pytest
from test_answer import run

from assistant.machine_sizes import MachineSize, sizes_said

SIZES = [
    ("T4 8核32G", [(8, 32, None)]), ("8c32g 的 T4", [(8, 32, None)]), ("a T4 with 8 vCPUs and 32 GB", [(8, 32, None)]),
    ("配 32GB RAM 和 8 vCPU 的 T4", [(8, 32, None)]), ("T4 20核那档", [(20, None, None)]), ("a 20-core T4", [(20, None, None)]),
    ("内存128G的T4", [(None, 128, None)]), ("the 32 gig ram one and the 128 gig ram one", [(None, 32, None), (None, 128, None)]),
    ("四卡T4那款(80核320G)", [(80, 320, None)]), ("四卡机 80核320G", [(80, 320, 4)]), ("单卡机跟双卡机比", [(None, None, 1), (None, None, 2)]),
    ("single-card vs dual-card instance", [(None, None, 1), (None, None, 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "sizes"), SIZES)
def test_cores_host_memory_and_cards_of_a_machine_are_read(
    question: str, sizes: list[tuple[int | None, int | None, int | None]]
) -> None:
    wanted = [
        MachineSize(cores, Decimal(gib) if gib else None, cards)
        for cores, gib, cards in sizes
    ]  # fmt: skip
    assert list(sizes_said(question)) == wanted


@pytest.mark.parametrize(
    ("question", "part"),
    [("四分之一张T4", "0.25"), ("半张T4", "0.5"), ("1/4张 T4", "0.25"), ("half a T4", "0.5"), ("a quarter of a T4", "0.25"),
     ("T4半张卡", "0.5"), ("0.5张T4", "0.5"), ("T4 的 vGPU 切片", "0")],
)  # fmt: skip
def test_share_of_a_card_is_a_slice(question: str, part: str) -> None:
    assert sizes_said(question) == (MachineSize(part=Decimal(part)),)


@pytest.mark.parametrize(
    "question",
    ["A100 80G 多少钱", "H100的一半价格", "两台8卡H100", "4090 24G", "half the price of a T4", "8 卡机 H100 一个月", "16G 显存"],
)  # fmt: skip
def test_memory_of_the_card_a_wanted_number_and_half_a_price_are_no_machine_size(question: str) -> None:
    assert sizes_said(question) == ()


@pytest.mark.parametrize(
    ("question", "intent", "words"),
    [
        ("就要四分之一张T4的切片,腾讯按小时收多少", "price", ["3.39 元/小时", "切片"]),
        ("half a T4 at tencent for 10 hours", "cost", ["69.40 CNY", "slice"]),
        ("腾讯四卡T4那款(80核320G)按小时计费开一个礼拜多少", "cost", ["9,334.08 元", "55.56"]),
        ("tencent's T4 box with 80 cores and 320 GB, two machines for 3 days", "cost", ["8,000.64 CNY"]),
        ("腾讯 T4 20核那档一天多少", "cost", ["333.36 元"]),
        ("hourly difference between tencent's T4 with 32 gig ram and the one with 128 gig ram", "compare", ["10.42 CNY/hour", "120.05 %"]),
        ("腾讯P40 单卡机跟双卡机比,双卡摊到每张反而贵?", "price", ["每张卡", "2 卡机", "0.35 元/小时", "2.32 %"]),
        ("腾讯T4 64核256G 一小时多少", "price", ["没有你说的这种大小的机器的价格", "32 核 128 GiB"]),
    ],
)  # fmt: skip
def test_named_size_is_answered_from_its_own_row(question: str, intent: str, words: list[str]) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text


def test_slice_that_no_row_holds_is_not_priced_as_a_whole_card_without_saying_so() -> None:
    _, result = run("半张腾讯 A100 一小时多少钱", "price")
    assert "没有一张卡的 0.5 这种切片" in result.text, result.text


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("T4 四分之一卡和整卡在腾讯云分别多少钱一小时", "price"),
        ("Tencent: a quarter of a T4 versus a whole card, hourly price of each?", "price"),
        ("腾讯云四分之一张 T4 和整卡 T4 跑 10 小时各多少钱", "cost"),
    ],
)
def test_slice_and_whole_card_stand_beside_each_other(question: str, intent: str) -> None:
    _, result = run(question, intent)
    assert "3.39" in result.text
    assert "8.68" in result.text
    assert result.verified, result.text
