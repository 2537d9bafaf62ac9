"""Which value of the evidence speaks of the same thing as a printed figure: the same card, cloud, quantity, period.

Compares words beside figures; whether the values agree is the business of verify.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from assistant.evidence_facts import Fact
from assistant.figures import Printed

NamesIn = Callable[[str], AbstractSet[str]]  # the names of a text, as "kind:key" ("provider:tencent")

RE = re.IGNORECASE | re.ASCII
CLAUSE = re.compile(r"[，,；;。](?![0-9])\s*|、\s*|\s(?:and|while|but|whereas|versus|vs\.?)\s|而|\n")
WHOLE_CLAUSE = re.compile(r"[，；;。]\s*|,\s|\s(?:while|but|whereas)\s|\n")
RESPECTIVELY = re.compile(r"分别|依次|respectively", RE)
# What a figure beside one word of a group is of, it is not of another word of the group.
CONTRASTS: dict[str, dict[str, str]] = {
    "task": {"training": r"训练|\btrain", "inference": r"推理|\binference"},
    "part": {"compute": r"算力|\bcompute\b", "bandwidth": "带宽|bandwidth"},
    "memory": {"host": "主机内存|内存|host memory|\\bRAM\\b", "gpu": "显存|GPU memory|VRAM|video memory"},
    "bound": {
        "upper": "不超过|至多|最多|上限|以内|at most|no more than|up to|maximum",
        "lower": "不低于|不少于|至少|下限|at least|no less than|minimum|requires?d? at least",
    },
    "period": {
        "hour": r"每小时|时租|按小时|包时|/小时|元/时|per hour|an hour|hourly|/h(?:our)?\b",
        "day": r"每天|每日|日租|按天|包天|包日|/天|per day|a day|daily",
        "week": r"每周|每星期|包周|/周|per week|a week|weekly",
        "month": r"每个?月|月租|按月|包月|月付|/月|per month|a month|monthly",
        "year": r"每年|年租|按年|包年|年付|/年|per year|a year|yearly|annual",
    },
    "amount": {
        "total": "共|合计|总|total|altogether",
        "each": r"每[张块卡台]|单[张卡]|each|per (?:card|GPU)",
        "need": r"需要|至少|memory m(?:in|ax)\b|\bneeds?\b|requires?",
    },
    "bill": {"power": "电费|electricity", "rack": "机房|托管|rack|colocation"},
}
WORDS = {(kind, word): re.compile(p, RE) for kind, words in CONTRASTS.items() for word, p in words.items()}
SURPLUS = re.compile("还多|多出|剩|富余|余量|spare|left over|headroom|surplus", RE)


def attributes(text: str) -> frozenset[str]:
    """What the figures of a clause are of, as "task:training"."""
    return frozenset(f"{kind}:{word}" for (kind, word), pattern in WORDS.items() if pattern.search(text))


def clause(printed: Printed, text: str, *, whole: bool = False) -> str:
    """The clause of a figure; `whole` does not cut lists (A、B and C)."""
    pattern = WHOLE_CLAUSE if whole else CLAUSE
    cuts = [0, *(cut for match in pattern.finditer(text) for cut in match.span()), len(text)]
    return text[max(cut for cut in cuts if cut <= printed.start) : min(cut for cut in cuts if cut >= printed.end)]


def names_beside(printed: Printed, text: str, names_in: NamesIn) -> AbstractSet[str]:
    """The names of the figure's clause; where it has none, those before it, else of the whole text."""
    if RESPECTIVELY.search(text):
        return names_in(clause(printed, text, whole=True)) or names_in(text)
    return names_in(clause(printed, text)) or names_in(clause(printed, text, whole=True)) or names_in(text)


def best_about(fits: Sequence[Fact], printed: Printed, text: str, names_in: NamesIn) -> Fact | None:
    """The first fact about what the figure is said of; one that names nothing only where none names another."""
    beside, said = names_beside(printed, text, names_in), _said(printed, text)
    of_others = {fact.evidence for fact in fits if _is_of_another_quantity(fact, said)}
    named: list[Fact] = []
    unnamed: list[Fact] = []
    others = bool(of_others - {"question"})
    for fact in fits:
        match = match_of(fact, beside, names_in)
        agrees = fact.evidence not in of_others or bool(
            said & _held(fact)
        )  # a formula repeats a value and not its name
        if _is_of_another_quantity(fact, said) or not agrees:
            continue
        others = others or (match is False and fact.evidence != "question")
        (named if match else unnamed if match is None else []).append(fact)
    return next(iter(named), None if others else next(iter(unnamed), None))


def match_of(fact: Fact, beside: AbstractSet[str], names_in: NamesIn) -> bool | None:
    """Whether the fact is about the names; None where it names none of their kinds.

    For each kind, the nearest context that has names of that kind must share one.
    """
    around = [names_in(level) for level in fact.context]
    verdicts: list[bool] = []
    for kind in {name.split(":")[0] for name in beside if ":" in name}:
        mine = {name for name in beside if name.startswith(f"{kind}:")}
        theirs = next((own for level in around if (own := {n for n in level if n.startswith(f"{kind}:")})), set())
        if theirs:
            verdicts.append(bool(mine & theirs))
    return all(verdicts) if verdicts else (None if beside else True)


def _said(printed: Printed, text: str) -> frozenset[str]:
    beside = clause(printed, text)
    surplus = {"sign:surplus"} if SURPLUS.search(beside) else set()
    return _with_period(attributes(beside), printed.period) | surplus


def _held(fact: Fact) -> frozenset[str]:
    return _with_period(attributes(fact.near), fact.measure.period)


def _with_period(found: frozenset[str], period: str | None) -> frozenset[str]:
    """The period read with the figure is surer than the words around it."""
    return frozenset(f for f in found if not f.startswith("period:")) | {f"period:{period}"} if period else found


def _is_of_another_quantity(fact: Fact, said: frozenset[str]) -> bool:
    """Whether the words beside the figure and beside the fact say different things: training and inference."""
    held = _held(fact)
    for kind in CONTRASTS:
        mine, theirs = ({item for item in side if item.startswith(f"{kind}:")} for side in (said, held))
        if mine and theirs and not mine & theirs:
            return True
    return fact.value < 0 and "sign:surplus" in said


def in_order(printed: Sequence[Printed], text: str, names_in: NamesIn) -> dict[int, AbstractSet[str]]:
    """For "A 和 B 分别是 1 和 2": which name each figure (by its start) belongs to; empty where the numbers differ."""
    told = RESPECTIVELY.search(text)
    if not told:
        return {}
    named = [found for piece in re.split(r"、|和|与|\band\b|,", text[: told.start()]) if (found := names_in(piece))]
    by_kind: dict[str, list[str]] = {}
    for found in named:
        for name in found:
            by_kind.setdefault(name.split(":")[0], []).append(name)
    ordered = next((names for names in by_kind.values() if len(names) == len(printed) > 1), [])
    return {figure.start: frozenset({name}) for figure, name in zip(printed, ordered, strict=False)} if ordered else {}
