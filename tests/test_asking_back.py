"""Questions that say nothing but their question word are asked back; with anything said, before or beside, they are not."""

from __future__ import annotations

import pytest
from test_answer import run

BARE = [
    ("is it enough?", "which card"), ("够吗", "哪张卡"), ("那够不够用呢", "哪张卡"), ("would that be enough", "which card"),
    ("how long will it take?", "how many rows"), ("要多久", "多少条数据"), ("ok, how long?", "how many rows"),
    ("那个便宜点的", "哪些卡"), ("which one?", "Which ones"), ("哪个好", "哪些卡"), ("the cheaper one", "Which ones"),
    ("多少钱", "租还是买"), ("how much is it?", "to rent or to buy"), ("贵吗？", "租还是买"),
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


def test_a_greeting_stays_a_greeting() -> None:
    _, result = run("你好", "smalltalk")
    assert result.status == "answered"
