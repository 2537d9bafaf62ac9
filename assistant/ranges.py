"""Ranges and approximate figures of a question: both ends of a range are answered, and a round figure is named as taken.

Works on what was said in the turn itself; it computes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.understand import Request

FIGURED = frozenset(
    {"cost", "budget", "fit", "serving", "train_cost", "finetune_memory", "buy_or_rent", "power", "choose"}
)


def both_ends(request: Request) -> list[tuple[Request, str]]:
    """The request for each end of a range of cards or money, with its heading; the request alone where there is none.

    A range of times stays one request where the answer has a table of times (rental cost).
    """
    s, zh, said = request.slots, request.language == "zh", request.said
    if s.count and s.count_high and said.count_high:
        return [
            (replace(request, slots=replace(s, count=n, count_high=None)), f"{n} 张" if zh else f"{n} cards")
            for n in (s.count, s.count_high)
        ]
    if s.money and s.money_high and said.money_high:
        return [
            (replace(request, slots=replace(s, money=amount, money_high=None)), f"{'预算' if zh else 'Budget of'} {number(amount)}")
            for amount in (s.money, s.money_high)
        ]  # fmt: skip
    ranged = len(s.periods) > 1 and s.periods[0].text == s.periods[1].text
    if ranged and request.intent == "budget" and s.money:
        return [
            (replace(request, slots=replace(s, periods=(p,))), f"{number(p.value)} {render.period_name(p.unit, request.language)}")
            for p in s.periods
        ]  # fmt: skip
    return [(request, "")]


def with_about(request: Request, finding: Finding) -> Finding:
    """The finding with a note of the figures of the turn that were said as approximate and are taken as they stand."""
    if not request.said.about or request.intent not in FIGURED or finding.status != "answered":
        return finding
    said = render.joined((f"“{text}”" for text in request.said.about), request.language)
    note = (
        f"{said}是约数，按其字面的数计算。"
        if request.language == "zh"
        else f"{said}: approximate, taken at the figure as said."
    )
    return finding.model_copy(update={"markdown": render.paragraphs(finding.markdown, note)})
