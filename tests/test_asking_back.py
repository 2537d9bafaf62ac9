"""Questions that say nothing but their question word are asked back; with anything said, before or beside, they are not."""

from __future__ import annotations

import pytest
from test_answer import run

BARE = [
    ("is it enough?", "which card"), ("够吗", "哪张卡"), ("那够不够用呢", "哪张卡"), ("would that be enough", "which card"),
    ("how long will it take?", "how many rows"), ("要多久", "多少条数据"), ("ok, how long?", "how many rows"),
    ("那个便宜点的", "哪些卡"), ("which one?", "Which ones"), ("哪个好", "哪些卡"), ("the cheaper one", "Which ones"),
    ("多少钱", "租还是买"), ("how much is it?", "to rent or to buy"), ("贵吗？", "租还是买"),
    ("你看够不够用？", "哪张卡"), ("is that one cheaper?", "compared with which"), ("那个更便宜吗", "和哪一个比"),
    ("do you think it is enough?", "which card"),
    ("这卡贵不贵", "租还是买"), ("这张显卡贵吗", "租还是买"), ("那款卡多少钱", "租还是买"),
    ("is this card expensive?", "to rent or to buy"), ("how much is that gpu?", "to rent or to buy"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "asks"), BARE)
@pytest.mark.parametrize("guess", ["smalltalk", "off_topic", "compare"])
def test_a_bare_question_is_asked_back_with_choices(question: str, asks: str, guess: str) -> None:
    _, result = run(question, guess)
    assert (result.status, result.verified) == ("needs_detail", True), result.text
    assert asks in result.text
    assert result.text.rstrip().endswith(("。", "."))
    assert "？" in result.text or "?" in result.text
    assert not result.citations


@pytest.mark.parametrize(
    ("turns", "question", "guess"),
    [
        ((), "A100 多少钱", "price"),
        ((), "哪家最便宜", "compare"),
        ((), "T4 够跑 7B 吗", "fit"),
        (("腾讯 A100 一小时多少钱",), "那多少钱", "price"),
        (("How much is a Tencent A100 per hour?",), "how much is it?", "price"),
    ],
)
def test_with_something_said_it_is_answered(turns: tuple[str, ...], question: str, guess: str) -> None:
    _, result = run(question, guess, *turns)
    assert result.status == "answered", result.text


@pytest.mark.parametrize(
    ("turns", "question", "asks"),
    [
        (("想租个卡跑推理",), "先来一个月的吧", "哪款 GPU"), ((), "先来一个月的吧", "哪款 GPU"),
        (("I want to rent a card for inference",), "let's start with a month", "Which GPU"),
        ((), "is 24 enough", "GPU memory"), ((), "16够不够", "显存"),
    ],
)  # fmt: skip
def test_a_time_or_a_number_alone_is_asked_of_what(turns: tuple[str, ...], question: str, asks: str) -> None:
    _, result = run(question, "smalltalk", *turns)
    assert (result.status, result.verified) == ("needs_detail", True), result.text
    assert asks in result.text


@pytest.mark.parametrize(
    ("turns", "question"), [(("腾讯 T4 一小时多少钱",), "先来一个月的吧"), ((), "腾讯 T4 16 小时够不够 200 块")]
)
def test_a_time_with_a_card_behind_it_is_reckoned_with(turns: tuple[str, ...], question: str) -> None:
    _, result = run(question, "cost", *turns)
    assert result.status == "answered", result.text


def test_a_greeting_stays_a_greeting() -> None:
    _, result = run("你好", "smalltalk")
    assert result.status == "answered"


JOBS = [  # what was announced, the question, what must be asked for
    ("我想租卡微调一个自己的模型", "大概要花多少钱", ["微调", "B 参数", "条数据", "哪款 GPU"]),
    ("I want to rent a card to fine-tune my own model", "how much will it cost?", ["fine-tuning", "parameters", "rows", "which card"]),
    ("I want to train my own model", "how long will it take?", ["training", "tokens", "which card"]),
    ("我想从头训练一个模型", "要多久", ["训练", "token", "哪款 GPU"]),
    ("我想部署一个模型给客户用", "要多少钱", ["部署", "用户", "哪款 GPU"]),
    ("we want to host a chatbot for our customers", "how much is it?", ["serving", "users", "which card"]),
]  # fmt: skip


@pytest.mark.parametrize(("turn", "question", "asks"), JOBS)
@pytest.mark.parametrize("guess", ["off_topic", "document", "price"])
def test_a_bare_question_after_a_job_asks_for_what_that_job_needs(
    turn: str, question: str, asks: list[str], guess: str
) -> None:
    _, result = run(question, guess, turn)
    assert (result.status, result.verified) == ("needs_detail", True), result.text
    assert [word for word in asks if word not in result.text] == [], result.text


@pytest.mark.parametrize("question", ["What is a GPU?", "GPU 是什么"])
def test_what_a_gpu_is_counts_no_card(question: str) -> None:
    _, result = run(question, "document")
    assert result.status == "not_in_knowledge", result.text  # left to the documents, of which this test has none
