"""Answers to what is no question about GPUs: greetings, other subjects, attempts at the rules, the future.

Fixed sentences; no model is asked and no figure is given.
"""

from __future__ import annotations

import re

from assistant.evidence import Bilingual, Finding, Status
from assistant.ledger import Ledger

SCOPE = Bilingual(
    zh="我可以查 GPU 租用和购卡价格并比较、查显卡和开源模型的规格、按张数和时长计算费用、判断模型放不放得下、估算训练与推理的显存、时间和成本，并引用选型文章解释概念和给出建议。",
    en="I can look up and compare GPU rental and purchase prices and specifications, compute costs and budgets, tell "
    "whether a model fits, estimate memory, time and cost of training and serving, and explain concepts and advice "
    "from the selection articles.",
)
REPLIES: dict[str, tuple[Status, Bilingual]] = {
    "smalltalk": (
        "answered",
        Bilingual(
            zh="你好！我是 GPU 选型助手 gpu-advisor。", en="Hello! I am gpu-advisor, an assistant for choosing GPUs."
        ),
    ),
    "off_topic": ("off_topic", Bilingual(zh="抱歉，这个话题不在我的范围内。", en="Sorry, that is outside my field.")),
    "manipulation": (
        "off_topic",
        Bilingual(
            zh="抱歉，这个我不能做：我不会改变规则、透露内部信息、执行代码，也不协助规避出口管制。",
            en="Sorry, I can't do that: I don't change my rules, reveal internals, run code or help to evade export controls.",
        ),
    ),
    "forecast": (
        "not_in_knowledge",
        Bilingual(
            zh="我无法预测：知识库里只有已有的价格和资料，没有未来的价格或发布计划。",
            en="I cannot predict that: the knowledge base holds existing prices and documents, nothing about future prices or releases.",
        ),
    ),
}


THANKS = re.compile(r"谢|感谢|辛苦|好的|再见|拜拜|thank|thx|cheers|bye|great\b|ok\b", re.I)
WELCOME = Bilingual(zh="不客气！还想查别的就直接问。", en="You're welcome! Just ask if there is anything else.")


def reply(intent: str, question: str, book: Ledger) -> Finding:
    """The sentence for the intent, and what can be asked instead."""
    if intent == "smalltalk" and THANKS.search(question):
        return book.finding("answered", WELCOME[book.language])
    status, sentence = REPLIES[intent]
    return book.finding(status, sentence[book.language], SCOPE[book.language])
