"""Answers about copies of a service whose load and rate are told by the words around them, not by a unit: "压测一个副本900",
"each does about 1000, peak is 2400", 一个副本扛50个并发; how many are needed, and whether the rest carry the peak if one fails.

replicas.py reads rates that carry their unit, and comes first. Both figures are the reader's; no card is looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.numerals import fold, read_number
from assistant.replicas import BACKUP, SPARE
from assistant.understand import Request
from knowledge.names import normalise

COPY_ZH = r"(?:副本|实例|份|节点)"
COPY_EN = r"(?:replicas?|cop(?:y|ies)|instances?|pods?|workers?)"
COPIES = re.compile(rf"副本|实例|{COPY_EN}(?![a-z])")
ONE = re.compile(
    rf"(?:一个|一|每个?|单个?|1\s?个)\s*{COPY_ZH}|(?:每|单){COPY_ZH}|(?<![a-z])(?:one|each|a|per|every|single)(?: one)? (?:{COPY_EN}|server|of them)(?![a-z])|"
    r"(?<![a-z])each(?: one)? (?:does|do|handles?|can|serves?|gives?|pushes|manages?|gets?|delivers?|takes?|holds?|sustains?)(?![a-z])"
)
PEAK = re.compile(
    r"高峰|峰值|顶峰|最高|最多|负载|流量|并发|需求|同时|(?<![a-z])(?:peaks?|max(?:imum)?|load|traffic|demand|need|busiest|at once|concurrent(?:ly)?|simultaneous(?:ly)?)(?![a-z])"
)
HAVE = re.compile(rf"(?:个|份)\s*(?:{COPY_ZH})|份(?![钟额])|\s+{COPY_EN}(?![a-z])")
FAILS = re.compile(
    r"挂|宕|坏|崩|掉线|下线|故障|少了?一[个台份]|(?<![a-z])(?:dies?|fails?|failing|goes? (?:down|offline|away)|crash(?:es)?|is (?:down|lost|gone)|los(?:e|es|ing)|drops? out|upgrad\w+|restart\w*)(?![a-z])"
)
LOST = re.compile(
    rf"\s*(?:个|台|份)?(?:副本|实例|节点)?\s*(?:of (?:them|those))?(?: {COPY_EN})?\s*(?:都|同时|一起|may|might)?\s*(?:{FAILS.pattern})"
)
CARDS_OF_EACH = re.compile(
    rf"(?:(?:每|一)个?{COPY_ZH}?|(?<![a-z])(?:each|per|every)(?: {COPY_EN})?)[^\d,，;；。]{{0,14}}$"
)
CARD_UNIT = re.compile(r"\s*(?:张|块|片)\s*(?:gpu|卡|显卡)?|\s*卡|\s*(?:x\s*)?(?:gpus?|cards?)(?![a-z])")
NO_RATE_BEHIND = re.compile(
    r"\s*(?:张|块|片|卡|元|美元|刀|%|gi?b|gpus?|cards?|yuan|usd|小时|天|周|月|hours?|days?|b(?![a-z]))"
)
ASKED = re.compile(r"几[个台份张块]|多少[个台份张块]|n\s*\+\s*\d|够不够|够吗|行不行|撑得住|扛得住|还能|顶得住|how many|enough|(?<![a-z])(?:ok(?:ay)?|fine|cope|survive|still|safe|hold up)(?![a-z])")  # fmt: skip
CLAUSE = re.compile(r"[,，;；。?？!！]|\.(?!\d)|(?<![a-z])(?:and|but)(?![a-z])")
TOKENS = re.compile(r"token|tok/|toks|tps|t/s|词元")
USERS = re.compile(r"人|用户|并发|users?|people|concurrent|sessions?|streams?")
REQUESTS = re.compile(r"请求|request|reqs?(?![a-z])|qps|rps")


@dataclass(frozen=True)
class _Said:
    """One number with the clause that it stands in."""

    value: Decimal
    start: int
    end: int
    clause: str
    before: str


@dataclass(frozen=True)
class _Load:
    """The figures of the question: what one copy does, the peak, the copies there are, cards of each copy."""

    one: Decimal
    peak: Decimal
    have: int | None
    cards: int
    lost: int


def copy_load(request: Request, book: Ledger) -> Finding | None:
    """Copies for the peak, or what the rest carry if one fails; None where not both figures are stated."""
    question = fold(normalise(request.question)).text
    for text in (question, f"{fold(normalise(request.earlier)).text}; {question}"):
        if not (COPIES.search(text) and ASKED.search(question)):
            continue
        if load := _load(text):
            if load.have and load.have > load.lost and FAILS.search(question):
                return _after_loss(load, text, book)
            return _needed(load, text, book)
    return None


def _load(text: str) -> _Load | None:
    one = peak = have = None
    cards = lost = 1
    for said in _numbers(text):
        if CARDS_OF_EACH.search(said.before) and CARD_UNIT.match(text, said.end):
            cards = int(said.value)
        elif LOST.match(text, said.end):
            lost = int(said.value)
        elif HAVE.match(text, said.end) and said.value > 1:
            have = int(said.value)
        elif said.value <= 1 or NO_RATE_BEHIND.match(text, said.end) or said.before.rstrip().endswith(("$", "¥", "+")):
            continue
        elif ONE.search(said.before):
            one = said.value
        elif PEAK.search(said.clause):
            peak = said.value
    return _Load(one, peak, have, cards, lost) if one and peak else None


def _numbers(text: str) -> Iterator[_Said]:
    """Every number of the text in the order said; the 一 of 一个副本 counts a copy and is none."""
    cuts = [0, *(m.end() for m in CLAUSE.finditer(text)), len(text)]
    copies = [m.span() for m in ONE.finditer(text)]
    at = 0
    while at < len(text):
        found = read_number(text, at) if not (at and text[at - 1].isascii() and text[at - 1].isalnum()) else None
        if found is None or found.low <= 0 or any(start <= at < end for start, end in copies):
            at = max(at + 1, found.end if found else 0)
            continue
        start = max(cut for cut in cuts if cut <= at)
        end = min((cut for cut in cuts if cut > at), default=len(text))
        if found.style != "article" and found.low == found.low.to_integral_value():
            yield _Said(found.low, at, found.end, text[start:end], text[start:at])
        at = found.end


def _unit(text: str, book: Ledger) -> str:
    if TOKENS.search(text):
        return "tokens/s"
    if REQUESTS.search(text):
        return book.say("请求/秒", "requests/s")
    return book.say("人同时用", "users at once") if USERS.search(text) else ""


def _needed(load: _Load, text: str, book: Ledger) -> Finding:
    spare = SPARE.search(text)
    extra = int(spare[1]) if spare else int(bool(BACKUP.search(text)))
    result = book.compute("replicas_needed", rate_per_user=load.peak, rate_per_replica=load.one, spare=extra, cards=load.cards)  # fmt: skip
    total, base = int(result.outputs["replicas"]), int(result.outputs["replicas_for_load"])
    cards = int(result.outputs["cards"])
    unit = _unit(text, book)
    more = book.say(f"（{base:,} 个承担负载，{extra} 个备用）", f" ({base:,} for the load and {extra} spare)") if extra else ""  # fmt: skip
    each = book.say(f"，每个 {load.cards} 张卡，**一共 {cards:,} 张卡**", f", on {load.cards} GPUs each: **{cards:,} GPUs in all**") if load.cards > 1 else ""  # fmt: skip
    head = book.say(f"**要 {total:,} 个副本**{more}{each}：高峰 {number(load.peak)} {unit}，一个副本 {number(load.one)}。",
                    f"**{total:,} {'replica' if total == 1 else 'replicas'}**{more}{each}: the peak is {number(load.peak)} {unit}, one replica does {number(load.one)}.")  # fmt: skip
    note = book.say("用的是你压测的数，请确认它是在同样的输入输出长度和并发下测得的。", "The rate is yours: make sure it was measured with the same lengths and at that concurrency.")  # fmt: skip
    return book.finding("answered", head + "  \n" + render.formula(result.formula, book.language), note)


def _after_loss(load: _Load, text: str, book: Ledger) -> Finding:
    left = book.compute(
        "replicas_left", replicas=load.have, lost=load.lost, rate_per_replica=load.one, demand=load.peak
    )
    full = book.compute("replicas_needed", rate_per_user=load.peak, rate_per_replica=load.one, spare=1)
    capacity, total, base = number(left.value), int(full.outputs["replicas"]), int(full.outputs["replicas_for_load"])
    unit, rest = _unit(text, book), int(left.outputs["replicas_left"])
    enough = left.outputs["enough"] == "yes"
    peak, gap = number(load.peak), number(Decimal(left.outputs["left_over" if enough else "short_by"]))
    if enough:
        head = book.say(f"**撑得住**：坏 {load.lost} 个后剩 {rest} 个副本，能扛 {capacity} {unit}，高峰 {peak}，还余 {gap}。",
                        f"**Yes, still enough**: with {load.lost} gone, {rest} {'replica carries' if rest == 1 else 'replicas carry'} {capacity} {unit}, and the peak is {peak}, which leaves {gap}.")  # fmt: skip
    else:
        head = book.say(f"**撑不住，不够**：坏 {load.lost} 个后剩 {rest} 个副本，只能扛 {capacity} {unit}，高峰 {peak}，差 {gap}。",
                        f"**No, not enough**: with {load.lost} gone, {rest} {'replica carries' if rest == 1 else 'replicas carry'} only {capacity} {unit} of the peak of {peak}, {gap} short.")  # fmt: skip
    rule = book.say(f"高峰本身要 {base:,} 个；按 N+1 要 {total:,} 个副本。", f"The peak itself takes {base:,}; with N+1 that is {total:,} replicas.")  # fmt: skip
    formulas = _formulas((left.formula, full.formula), book)
    return book.finding("answered", head + "  \n" + formulas, rule)


def _formulas(formulas: Sequence[str], book: Ledger) -> str:
    return "  \n".join(render.formula(formula, book.language) for formula in formulas)
