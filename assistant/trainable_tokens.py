"""Answers about how many tokens a model can be trained on in the GPU-hours on hand, or on so many cards for a time.

The calculator tokens_trained and rows of gpus.csv; what a given number of tokens takes is pretraining.py's question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.training_compute import MFU_RANGE, MFU_RANGE_ONE_CARD
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.numerals import NAME, fold, read_number
from assistant.training_subject import CardAsked, Trained, cards_by_speed, peak, trained
from assistant.training_words import many_tokens
from assistant.understand import Request
from knowledge.names import link, normalise

HOW_MANY = re.compile(
    r"(?:多少|几)(?:个|b|t|亿|万亿)?\s*(?:的)?\s*(?:tokens?|词元|语料)|(?:tokens?|词元|语料)[^,，。?？]{0,10}(?:多少|几[bt亿])|"
    r"(?:how many|what number of|how much)[^,.;?]{0,24}(?<![a-z])(?:tokens?|training data)(?![a-z])",
    re.I,
)
# Tokens a second or of an answer are no training set.
SERVED = re.compile(
    r"每秒|/\s*s(?:ec)?(?![a-z])|吞吐|推理|生成|输出|并发|用户|上下文|每条|一条|词表|per (?:second|sec|user|request|row|sample)|a second|throughput|inference|generat|serv|"
    r"context|vocab|batch|concurren|users?(?![a-z])",
    re.I,
)
TRAINS = re.compile(
    r"训|炼|预训练|喂|看|过多少|train|see|seen|process|chew|get through|go through|feed|fed|cover", re.I
)
OF_GPU_HOURS = re.compile(
    rf"\s*(?:个|张|块|x|×|\*)?\s*(?:(?:gpu|card|卡)[-_ ]*(?:hours?|hrs?|小时|时|h(?![a-z0-9]))|{NAME}[{NAME}\- ]*(?:gpu|card|卡|的)?[-_ ]*(?:hours?|hrs?|小时|卡时|时|h(?![a-z0-9])))"
)
CLUSTER = 8  # GPU-hours without a number of cards are those of more than one: the default MFU is a cluster's


@dataclass(frozen=True)
class _Hours:
    """GPU-hours on hand, on how many cards, and in words."""

    gpu_hours: Decimal
    gpus: int
    words: str


def trainable_tokens(request: Request, book: Ledger) -> Finding | None:
    """The tokens that a model sees in the GPU-hours said; None where that is not asked."""
    text, s = request.question, request.slots
    if not HOW_MANY.search(text) or SERVED.search(text) or s.unknown or not (s.gpus or s.workload.slo_tokens_per_s):
        return None
    if s.workload.training_tokens:  # they are given; the cards or the time are what is asked
        return None
    hours = _hours(request, book)
    asks = (
        s.workload.purpose in ("training", "finetuning")
        or s.workload.mfu
        or TRAINS.search(text)
        or request.intent == "train_cost"
    )
    models, cards = trained(request, book), cards_by_speed(request, book)
    if hours is None or not (asks and models and cards):
        return None
    heads, rows, formulas = [], [], []
    for model in models:
        for card in cards:
            result = _compute(request, model, card, hours, book)
            heads.append(_head(model, card, hours, result, book))
            formulas.append(render.formula(result.formula, book.language))
            rows += _ends(request, model, card, hours, book)
    headings = [book.say("模型", "Model"), book.say("卡", "Card"), "MFU", book.say("能训的 tokens", "Tokens")]
    notes = [assumption.text[book.language] for assumption in result.assumptions]
    return book.finding(
        "answered", "  \n".join(heads), render.table(headings, rows) if rows else "", "  \n".join(formulas), render.bullets(notes),
        book.say("只算模型需要的运算；失败重跑、评测和数据处理另占卡时。", "Only the operations of the training itself: restarts, evaluation and data preparation take GPU-hours of their own."),
    )  # fmt: skip


def _hours(request: Request, book: Ledger) -> _Hours | None:
    """GPU-hours said as such (5,000 H100 hours, 一万卡时), else cards times the time said."""
    text = normalise(request.question)
    hidden = {index for item in link(text) if item.kind == "gpu" for index in range(item.start, item.end)}
    folded = fold(text)
    masked = "".join(NAME if at in hidden else c for c, at in zip(folded.text, folded.offsets, strict=True))
    for at, char in enumerate(masked):
        if at and masked[at - 1].isalnum() and char.isascii():
            continue
        said = read_number(masked, at)
        if said and said.low > 0 and (behind := OF_GPU_HOURS.match(masked, said.end)) and said.style != "article":
            words = text[folded.offsets[at] : folded.offsets[behind.end() - 1] + 1]
            return _Hours(said.low, CLUSTER, words)
    s = request.slots
    if not s.periods or len(s.periods) > 1 or s.periods[0].unit == "gpu-hour":
        return _Hours(s.periods[0].hours, CLUSTER, s.periods[0].text) if len(s.periods) == 1 else None
    gpus = s.count or 1
    return _Hours(s.periods[0].hours * gpus, gpus, book.say(f"{gpus} 张卡 {s.periods[0].text}", f"{gpus} card{'s' if gpus > 1 else ''} for {s.periods[0].text}"))  # fmt: skip


def _compute(
    request: Request, model: Trained, card: CardAsked, hours: _Hours, book: Ledger, mfu: Decimal | None = None
) -> Calculation:
    work = request.slots.workload
    return book.compute(
        "tokens_trained", active_parameters=model.active_parameters, peak_dense_tflops=peak(card.spec), gpus=hours.gpus,
        mfu=mfu or work.mfu, recompute="full" if work.checkpointing else "none", gpu_hours=hours.gpu_hours,
    )  # fmt: skip


def _head(model: Trained, card: CardAsked, hours: _Hours, result: Calculation, book: Ledger) -> str:
    mark = book.cite_gpu(card.gpu) if card.gpu else ""
    tokens, total = many_tokens(int(result.value), book), number(hours.gpu_hours)
    return book.say(f"**{card.label} 的 {total} 卡时，训 {model.label}：约 {tokens} tokens**{mark}",
                    f"**{total} GPU-hours of {card.label}, training {model.label}: about {tokens} tokens** {mark}")  # fmt: skip


def _ends(request: Request, model: Trained, card: CardAsked, hours: _Hours, book: Ledger) -> list[list[str]]:
    """The tokens at both ends of the usual MFU; none where it is said."""
    if request.slots.workload.mfu:
        return []
    ends = MFU_RANGE_ONE_CARD if hours.gpus == 1 else MFU_RANGE
    rows = []
    for mfu in ends:
        tokens = many_tokens(int(_compute(request, model, card, hours, book, mfu).value), book)
        rows.append([model.label, card.label, f"{number(mfu * 100)} %", f"{tokens} tokens"])
    return rows
