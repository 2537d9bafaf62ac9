"""Several questions in one message: split where each part stands as a question, answered one by one, joined in order.

Splits only by marks and joining words; a message that it cannot split for sure stays whole. A range of cards or money
gives one answer for each end. It answers nothing itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Bilingual, Call, Citation, Finding, Language, Status
from assistant.ranges import both_ends
from assistant.references import UNRELATED
from assistant.understand import Classifier, Request, understand, understand_each

MOST_PARTS = 4
LONGEST = 600  # characters: a longer message tells a story, and its sentences are no questions of their own
LEAST_ITEMS = 2
LONGEST_LEAD = 40  # characters told before a question
LEAST = 4  # characters of a part
MOST_NAMES = 3  # of a kind in a heading
# The beginning of an item of a list, the end of a sentence, and words that join a further question.
ITEM = re.compile(r"(?:^|(?<=[\s?？;；。:：,，]))(?:[(（]?(?P<n>[1-9])[.)）、．]\s*(?=\D)|(?P<mark>[①-⑨]|[-*•]\s))\s*")
ENDS = re.compile(r"(?<=[?？;；!！。\n])\s*|(?<=[a-z]\.)\s+(?=[A-Z])")
JOINS = re.compile(
    r"[,，、;；.。]?\s*(?:另外(?:再)?(?:问一下|问下|,|，)?|还有(?:就是|一个问题)?[,，:：]?|顺便(?:再)?(?:问一下|问下|问|说一下)?|以及(?=.{0,12}(?:多少|几|哪|什么|吗|怎么))|"
    r"\b(?:and also|also,|and by the way,?|by the way,?|as well as (?=how|what|which)|and (?=(?:how|what|which|can|could|does|do|is|will|would|why)\b)))\s*",
    re.I,
)
CLAUSE = re.compile(r"[,，]\s*")
# "What if I later want a 70B, would two of them do?": a condition and its question are one.
CONDITION = re.compile(r"\W*(?:(?:and|so|but|ok(?:ay)?)\W+)*(?:what if|if|suppose|supposing|assuming|in case|say)\b[^,，]*|\W*(?:那么?)?(?:如果|要是|假如|假设|万一|若)[^,，]*", re.I)  # fmt: skip
# Words that ask; an English verb asks only where it opens the clause ("the limit is 5" asks nothing).
ASKS = re.compile(
    r"多少|(?<![那这好])几[张卡块台天小个家]|哪|吗|呢|什么|怎么|如何|为什么|为何|是否|能不能|够不够|要不要|多久|多大|多快|贵不贵|啥|"
    r"\b(?:how|what|which|why)\b|^\W*(?:(?:and|also|then|so|but)\W+)*(?:can|could|does|do|is|are|will|would|should|compare|list)\b",
    re.I,
)
# "How many days and how much to train ..." is one question: its first half is about nothing yet.
SUBJECT = re.compile(r"\d|[A-Z]{2,}|[A-Z]\w*[A-Z]|[\u4e00-\u9fff]")
OPENS = re.compile(r"^\W*(?:另外|还有|以及|顺便(?:问(?:一下|下)?)?|and also|also|and|by the way)\W*", re.I)
MARK = re.compile(r"\[(\d{1,3})\]")
KINDS = {
    "price": Bilingual(zh="租用价格", en="Rental price"),
    "compare": Bilingual(zh="价格比较", en="Prices compared"),
    "cost": Bilingual(zh="租用费用", en="Cost of renting"),
    "budget": Bilingual(zh="预算", en="Budget"),
    "buy_price": Bilingual(zh="购卡价格", en="Purchase price"),
    "buy_or_rent": Bilingual(zh="买还是租", en="Buy or rent"),
    "power": Bilingual(zh="电费", en="Electricity"),
    "training_time": Bilingual(zh="训练时长", en="Training time"),
    "train_cost": Bilingual(zh="训练时间与成本", en="Time and cost of training"),
    "history": Bilingual(zh="训练记录", en="Training on record"),
    "speedup": Bilingual(zh="速度", en="Speed"),
    "finetune_memory": Bilingual(zh="微调显存", en="Memory for fine-tuning"),
    "memory": Bilingual(zh="显存", en="Memory"),
    "fit": Bilingual(zh="推理显存", en="Memory for inference"),
    "serving": Bilingual(zh="服务能力", en="Serving"),
    "choose": Bilingual(zh="选卡", en="Choice of card"),
    "document": Bilingual(zh="说明", en="Explanation"),
}
SAME_TABLE = frozenset({"price", "compare", "buy_price", "document", "memory", "speedup"})


@dataclass(frozen=True)
class Part:
    """One question of a message, and the heading its answer stands under."""

    request: Request
    heading: str


@dataclass(frozen=True)
class Message:
    """A message understood: its questions in order, and those left for another time."""

    parts: tuple[Part, ...]
    left: tuple[str, ...] = ()


def understand_message(question: str, turns: Sequence[str], classifier: Classifier) -> Message:
    """The questions of a message; a message of one question has one part, without heading."""
    texts = split(question)
    if len(texts) > 1:
        requests = understand_each(texts[:MOST_PARTS], turns, classifier)
        if _apart(requests):
            parts = tuple(Part(request, _heading(request)) for request in requests)
            return Message(parts, tuple(texts[MOST_PARTS:]))
    return Message(tuple(Part(request, end) for request, end in both_ends(understand(question, turns, classifier))))


def split(question: str) -> list[str]:
    """The parts of a message that each ask something, without loss of words; one part where it is not sure."""
    text = question.strip()
    if len(text) > LONGEST:
        return [question]
    if items := _items(text):
        return items
    pieces = [part for piece in ENDS.split(text) for part in _at_joins(piece)]
    return _asking([piece.strip() for piece in pieces if piece and piece.strip()]) or [question]


def _items(text: str) -> list[str]:
    """The items of a list that counts up from one or has marks, two or more; what stands before the first goes with it."""
    starts = list(ITEM.finditer(text))
    counted = [match for match in starts if match["n"]]
    if [int(match["n"]) for match in counted] == [*range(1, len(counted) + 1)] and counted:
        starts = counted
    elif counted:
        return []
    if len(starts) < LEAST_ITEMS:
        return []
    pieces = [text[match.end() : after.start()] for match, after in pairwise(starts)]
    pieces = [piece.strip(" \n,，;；") for piece in [*pieces, text[starts[-1].end() :]]]
    lead = text[: starts[0].start()].strip()
    return [f"{lead} {pieces[0]}" if lead else pieces[0], *pieces[1:]] if all(pieces) else []


def _at_joins(piece: str) -> list[str]:
    """Cut at a joining word or a comma where both sides ask something."""
    for pattern in (JOINS, CLAUSE):
        for match in pattern.finditer(piece):
            before, after = piece[: match.start()], piece[match.end() :]
            if pattern is CLAUSE and CONDITION.fullmatch(before):
                continue
            if _asks_in_words(before) and SUBJECT.search(before) and _asks_in_words(after):
                return [before, *_at_joins(after)]
    return [piece]


def _asks(text: str) -> bool:
    return _asks_in_words(text) or (len(text.strip()) >= LEAST and text.rstrip().endswith(("?", "？")))


def _asks_in_words(text: str) -> bool:
    """Whether a clause asks by itself: the mark at its end may belong to the whole sentence."""
    return len(text.strip()) >= LEAST and ASKS.search(text.strip()) is not None


def _asking(pieces: Sequence[str]) -> list[str]:
    """The pieces that ask, each with the statements before it; statements behind the last one go with that."""
    parts: list[str] = []
    lead = ""
    for piece in pieces:
        said = OPENS.sub("", piece) if parts else piece
        if not _asks(piece):
            lead = f"{lead} {piece}".strip()
            continue
        if len(lead) > LONGEST_LEAD:  # a story whose figures all its questions need
            return []
        parts.append(f"{lead} {said}".strip())
        lead = ""
    if lead and parts:
        parts[-1] = f"{parts[-1]} {lead}"
    return parts


def _apart(requests: Sequence[Request]) -> bool:
    """Whether the parts are questions of their own: none is chat, and one answer of all would not do."""
    if any(request.intent in UNRELATED or request.bad_quantity for request in requests):
        return False
    intents = {request.intent for request in requests}
    if len(intents) > 1:
        return True
    if intents <= SAME_TABLE:
        return len({(r.slots.models, r.slots.workload, r.aspects & {"spec", "model_spec"}) for r in requests}) > 1 or (
            intents == {"document"} and len({r.said.gpus for r in requests}) == 1
        )
    return len({_sum(request) for request in requests}) > 1


def _sum(request: Request) -> tuple[object, ...]:
    s = request.slots
    return (s.gpus, s.providers, s.count, s.periods, s.money, s.models, s.parameters_b, s.workload, s.rows)


def _heading(request: Request) -> str:
    """What the part asks about: the kind of question and the names it is about, never the reader's own sentence."""
    lang, s = request.language, request.slots
    names = [
        *(render.name("gpu", gpu, lang) for gpu in s.gpus[:MOST_NAMES]),
        *(render.name("provider", cloud, lang) for cloud in s.providers[:MOST_NAMES]),
        *s.models[:MOST_NAMES],
        *(f"{number(size)}B" for size in s.parameters_b[:MOST_NAMES]),
    ]
    kind = KINDS.get(request.intent, KINDS["document"])[lang]
    return f"{kind}{'：' if lang == 'zh' else ': '}{render.joined(dict.fromkeys(names), lang)}" if names else kind


def joined(parts: Sequence[Part], findings: Sequence[Finding], left: Sequence[str], language: Language) -> Finding:
    """The findings under their headings, in order; citations renumbered so that each number means one source."""
    citations: list[Citation] = []
    cards: list[str] = []
    calls: list[Call] = []
    for part, finding in zip(parts, findings, strict=True):
        numbers = {citation.id: _number(citation, citations) for citation in finding.citations}
        card = _renumbered(finding.markdown, numbers)
        cards.append(f"### {part.heading}\n\n{card}")
        calls += [call for call in finding.calls if call not in calls]
    rest = "；".join(left) if language == "zh" else "; ".join(left)
    note = f"一次最多回答 {MOST_PARTS} 个问题；其余的请再问一次：{rest}" if language == "zh" else f"At most {MOST_PARTS} questions are answered at a time; please ask the rest again: {rest}"  # fmt: skip
    return Finding(
        status=_status([finding.status for finding in findings]),
        markdown=render.paragraphs(*cards, note if left else ""),
        sources=render.source_lines(citations, language),
        calls=tuple(calls),
        citations=tuple(citations),
    )


def _renumbered(markdown: str, numbers: Mapping[int, int]) -> str:
    return MARK.sub(lambda match: f"[{numbers.get(int(match[1]), int(match[1]))}]", markdown)


def _number(citation: Citation, kept: list[Citation]) -> int:
    """The number of a citation among those kept; the same place of the same source has one number."""
    for known in kept:
        if (known.locator, known.source, known.excerpt) == (citation.locator, citation.source, citation.excerpt):
            return known.id
    kept.append(citation.model_copy(update={"id": len(kept) + 1}))
    return len(kept)


def _status(statuses: Sequence[Status]) -> Status:
    return "answered" if "answered" in statuses else statuses[0]
