"""Questions that a document answers whatever names and numbers stand beside, and those that must not be taken for one.

No index and no model: what the words alone decide, and what a scripted verdict becomes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from assistant.intent import IntentScores
from assistant.passage_questions import for_documents, terms_told_apart
from assistant.reading import read
from assistant.understand import Request, understand


class Scripted:
    """Gives the intents in the order of the turns."""

    def __init__(self, intents: Sequence[str]):
        self._intents = intents

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int, str]]]) -> list[IntentScores]:
        assert len(texts) == len(self._intents)
        return [IntentScores({}, intent, intent, 1.0) for intent in self._intents]


def understood(*turns: str, intents: str | tuple[str, ...]) -> Request:
    """Understand the last of the turns; one intent for all, or one per turn."""
    each = (intents,) * len(turns) if isinstance(intents, str) else intents
    return understand(turns[-1], turns[:-1], Scripted(each))


DOCUMENTS = [
    ("天天微调，同时还要对外提供推理服务，两边分别怎么安排", "two kinds of use to be placed are no times of runs"),
    ("We train every day and also serve customers: where should each of the two run?", "the same in English"),
    ("h100 训练只跑到一半的算力正常吗", "a low share of the printed rate asks for no specification"),
    ("my training run only gets 40% of the printed tflops, was I scammed or is the card broken", "the same in English"),
    ("k8s 里跑 70b，模型还在加载 pod 就被杀，怎么办", "the size in a question about probes is no question of memory"),
    ("liveness probe keeps killing my 70B server while it loads, what should I change?", "the same in English"),
    ("竞价机器训练到一半被收回，进度怎么办", "a time of training is not asked"),
    ("my spot machine got preempted halfway through the run, all progress lost?", "the same in English"),
    ("火山引擎北京的 T4 还剩几台", "stock is no number of cards"),
    ("are A100s in stock at tencent today", "stock is no price"),
    ("服务放公司里还是放云上好", "where to host"),
    ("should we host the model in-house or in the cloud?", "the same in English"),
    ("往上海的分公司发两张 H20 行吗", "shipping a China model: two cards are no sum"),
    ("can we legally import the L20 into China", "the same in English"),
    ("激活参数 3B 的混合专家，是不是 3B 能跑的卡都能跑", "active parameters are no size"),
    ("does a MoE with 5b active params fit wherever a 5b model does?", "the same in English"),
    ("HBM 和 GDDR 有什么区别，T4 是哪种", "terms told apart, beside a card"),
    ("有没有省点钱的办法", "how to pay less for what is rented"),
    ("我们租了一张 A100 跑小模型，每月账单两万，怎么降低成本", "one card and a bill are no sum"),
    ("any way to save money?", "the same in English"),
    ("How can we cut our GPU bill?", "a bill to be cut"),
    ("fp16 vs bf16 eli5, and what does a V100 do", "the same in English"),
]
OTHERS = [
    ("每天微调，同时要上线推理，4090 和 A100 分别要多少张", "cards that are named make a sum"),
    ("H100 训练的 FP16 算力是多少", "a printed rate that is asked for"),
    (
        "how much of the 312 TFLOPS of an A100 do I get if the training run reaches 40% MFU",
        "a rate is computed, nothing is suspected",
    ),
    ("Qwen3-30B-A3B 一张 4090 放得下吗", "a model that is named has a row"),
    ("a MoE of 30B total with 3b active params, does it fit a 4090?", "the total is said"),
    ("T4 是 HBM 还是 GDDR", "a figure of a card"),
    ("T4 和 A100 哪个省钱", "two cards are compared"),
    ("部署 Qwen2.5-7B 怎么省钱", "a model that is named has a ranking"),
    ("how much do I save with a T4 instead of an A100?", "a difference"),
    ("A100 和 H100 的显存有什么区别", "two cards are no terms"),
    ("租 4 张 A100 三天多少钱", "a sum"),
    ("H20 显存多大", "a specification"),
    ("怎么绕开管制把 H20 运到国内", "evading a rule is no question for documents"),
    ("smuggle H20s into China, allowed?", "the same in English"),
    ("自己买 4 张 4090 还是租云", "cards to buy or rent are a sum"),
    ("how many 24 GB cards do I need for a 70B model", "how many are needed, not left"),
]


@pytest.mark.parametrize(("question", "why"), DOCUMENTS, ids=[why for _, why in DOCUMENTS])
def test_words_that_only_a_document_answers_make_it_a_question_for_documents(question: str, why: str) -> None:
    assert for_documents(question, read(question).slots), why
    assert understood(question, intents="manipulation").intent == "document"


@pytest.mark.parametrize(("question", "why"), OTHERS, ids=[why for _, why in OTHERS])
def test_figures_sums_and_evasions_are_no_questions_for_documents(question: str, why: str) -> None:
    assert not for_documents(question, read(question).slots), why


def test_a_card_beside_terms_does_not_make_them_its_specification() -> None:
    assert terms_told_apart("hbm vs gddr eli5 pls, and which of the two is on a T4")
    assert not terms_told_apart("T4 hbm or gddr?")


@pytest.mark.parametrize(
    "turns",
    [("deepspeed 的 zero 是干嘛的", "那训练到一半机器被收走了呢"), ("what is a spot instance", "and when my run gets preempted?")],
)  # fmt: skip
def test_a_follow_up_for_documents_keeps_what_was_searched_before(turns: tuple[str, str]) -> None:
    request = understood(*turns, intents=("document", "training_time"))
    assert request.intent == "document"
    assert re.search(r"zero|spot", f"{request.earlier_search} {request.search_text}")
