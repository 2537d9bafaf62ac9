"""What a card is, asked and answered from its row; a figure, a price or a job of it is no such question.

The figures below were read off the makers' data sheets that the rows were made from.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_answer import TENSOR, Shelf, hit, run

ALONE = [  # question, what must stand in the first line
    ("T4 是什么卡", ["Tesla T4", "Turing", "2018", "16 GB GDDR6", "65 TFLOPS", "70 W"]),
    ("what is a T4?", ["Tesla T4", "Turing", "2018", "16 GB GDDR6", "65 TFLOPS", "70 W"]),
    ("A10是什么显卡", ["A10", "Ampere", "2021", "24 GB GDDR6", "125 TFLOPS", "150 W"]),
    ("what kind of card is the A10", ["A10", "Ampere", "2021", "24 GB GDDR6", "600 GB/s"]),
    ("4090 是啥", ["GeForce RTX 4090", "Ada Lovelace", "2022", "24 GB GDDR6X", "450 W"]),
    ("tell me about the RTX 4090", ["GeForce RTX 4090", "Ada Lovelace", "2022", "1,008 GB/s"]),
    ("L40S 怎么样", ["L40S", "48 GB GDDR6", "864 GB/s"]),
    ("is the L40S any good?", ["L40S", "48 GB GDDR6", "864 GB/s"]),
    ("T4 适合做什么", ["Tesla T4", "16 GB GDDR6"]),
    ("what is the T4 good for?", ["Tesla T4", "16 GB GDDR6"]),
    ("What's a MI300X?", ["AMD", "192 GB HBM3", "750 W"]),
]
FORMS = [  # question, words of the table, words that must not stand there
    ("H100 是什么", ["80 GB HBM3", "3,350 GB/s", "700 W", "350 W", "94 GB HBM3"], []),
    ("what is an H100", ["80 GB HBM3", "3,350 GB/s", "700 W", "350 W", "94 GB HBM3"], []),
    ("A100 80G 是什么卡", ["80 GB HBM2e", "2,039 GB/s"], ["40 GB"]),
    ("what is the A100 80GB", ["80 GB HBM2e", "2,039 GB/s"], ["40 GB"]),
    ("T4 和 P100 分别是什么卡", ["16 GB GDDR6", "16 GB HBM2", "2016"], []),
    ("what are the L4 and the L40S?", ["24 GB GDDR6", "48 GB GDDR6"], []),
]
OTHERS = [  # what is asked of something else than the card as a whole
    ("T4 是什么价", "price"), ("what is the price of a T4", "price"), ("what is the A100 on Alibaba", "price"), ("4090 和 A100 哪个好", "compare"),
    ("H100 和 A100 怎么样", "speedup"), ("A100 显存是多少", "memory"), ("H100 的服务器是什么", "document"), ("介绍一下 8 张 A100 的服务器", "document"),
]  # fmt: skip


@pytest.mark.parametrize("guess", ["document", "price", "off_topic"])
@pytest.mark.parametrize(("question", "words"), ALONE)
def test_a_card_is_introduced_by_its_row(question: str, words: list[str], guess: str) -> None:
    _, result = run(question, guess)
    assert (result.status, result.verified) == ("answered", True), result.text
    first = result.text.splitlines()[0]
    assert [word for word in words if word not in first] == [], result.text


@pytest.mark.parametrize(("question", "words", "absent"), FORMS)
def test_every_form_in_question_stands_side_by_side(question: str, words: list[str], absent: list[str]) -> None:
    _, result = run(question, "document")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert [word for word in words if word not in result.text] == []
    assert [word for word in absent if word in result.text] == []


@pytest.mark.parametrize(("question", "guess"), OTHERS)
def test_what_is_asked_of_it_is_no_introduction(question: str, guess: str) -> None:
    _, result = run(question, guess)
    assert "架构 GPU" not in result.text
    assert " generation" not in result.text.splitlines()[0]


@pytest.mark.parametrize(
    ("turn", "question", "words"),
    [("T4 是什么", "那 L40S 呢", "48 GB GDDR6"), ("what is a T4", "and the L40S?", "48 GB GDDR6")],
)
def test_the_next_card_is_introduced_too(turn: str, question: str, words: str) -> None:
    _, result = run(question, "document", turn)
    assert words in result.text.splitlines()[0], result.text


@pytest.mark.parametrize(
    ("question", "words"), [("L40S 适合干什么", "文章没有说"), ("what is the L40S used for?", "do not say")]
)
def test_a_use_that_no_article_tells_is_said_to_be_unknown(question: str, words: str) -> None:
    _, result = run(question, "document")
    assert words in result.text
    assert "864 GB/s" in result.text


def test_only_what_the_articles_say_of_the_card_is_quoted_below() -> None:
    texts = [
        ("参考服务器用 T4。", "reference-servers"),
        ("本地研发用 RTX 4090。", "which-card"),
        ("T4 更经济。", "which-card"),
    ]
    hits = [
        hit(replace(TENSOR, section="选卡", text=text, locator=f"documents/{file}.zh.md § 1")) for text, file in texts
    ]
    _, result = run("T4 是什么卡", "document", index=Shelf(*hits))
    assert "> T4 更经济。" in result.text
    assert result.text.startswith("**Tesla T4**")
    _, result = run("T4 是干嘛的", "document", index=Shelf(*hits))
    assert result.text.index("> T4 更经济。") < result.text.index("**Tesla T4**")  # what was asked stands first
    assert "参考服务器" not in result.text
    assert "RTX 4090" not in result.text
