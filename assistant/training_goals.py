"""What a training run is held against: the memory of its cards, a day to be done by, an amount of money.

Judges runs that pretraining.py has computed; it computes no time or price of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Decimal

from assistant import render
from assistant.calculator.calculation import Calculation
from assistant.evidence import Bilingual
from assistant.finetuning_cases import METHODS, Case, Job
from assistant.ledger import Ledger
from assistant.reading import Period
from assistant.training_subject import CardAsked
from assistant.understand import Request

TRIAL_CARDS = 8  # more than one card, as the share of the peak reached is that of several
VERDICTS = {
    "fits": Bilingual(zh="够", en="holds it"), "tight": Bilingual(zh="很紧", en="is tight"),
    "no": Bilingual(zh="放不下", en="does not hold it"),
}  # fmt: skip


def deadline(request: Request) -> Period | None:
    """The time a run is to be done in, where the number of cards is left open."""
    periods = [period for period in request.slots.periods if period.hours > 0]
    return None if request.slots.count else max(periods, key=lambda period: period.hours, default=None)


def cards_until(hours: Decimal, gpu_hours: Callable[[int], Decimal]) -> int:
    """The fewest cards that are done in so many hours; `gpu_hours` of a run on so many cards."""
    several = int((gpu_hours(TRIAL_CARDS) / hours).to_integral_value(ROUND_CEILING))
    return several if several > 1 or gpu_hours(1) <= hours else 2


def tried_methods(job: Job, *, tuning: bool) -> list[Case]:
    """Full training, and for fine-tuning LoRA and QLoRA until one surely fits; only the method said where one was."""
    eased = {setting.method: setting for setting in job.computable()}
    cases: list[Case] = []
    for setting in list(eased.values())[: None if tuning else 1]:
        cases.append(job.case(setting))
        if set(cases[-1].verdicts) == {"fits"}:
            break
    return cases


def memory_words(cases: Sequence[Case], cards: Sequence[CardAsked], book: Ledger) -> str:
    """Each method with its need and what that means for each memory size."""
    lines = []
    for case in cases:
        each = render.joined(
            [f"{card.label} {VERDICTS[verdict][book.language]}" for card, verdict in zip(cards, case.verdicts, strict=True)],
            book.language,
        )  # fmt: skip
        what, need = case.setting.words(book), case.figure("per_gpu_gib")
        lines.append(book.say(f"{what}每卡约 {need} GiB，{each}" if not what[-1].isascii() else f"{what} 每卡约 {need} GiB，{each}",
                              f"{what} takes about {need} GiB per card: {each}"))  # fmt: skip
    return book.say("；", "; ").join(lines)


def method_name(case: Case, book: Ledger) -> str:
    return METHODS[case.setting.method][book.language]


def holds(case: Case) -> bool:
    """Whether some card in question takes it."""
    return bool(set(case.verdicts) - {"no"})


def budget_words(request: Request, result: Calculation, dearest: Calculation, price_per_hour: Decimal, currency: str, book: Ledger) -> str:  # fmt: skip
    """Whether the money said pays for the run, what is left or missing, and the GPU-hours it buys; empty without a budget."""
    money, said_in = request.slots.money, request.slots.money_currency
    if not money or said_in != currency:
        return ""
    cost, most = Decimal(result.outputs["cost"]), Decimal(dearest.outputs["cost"])
    bought = book.compute("budget_hours", budget=money, price_per_hour=price_per_hour, currency=currency).outputs[
        "hours"
    ]
    gap = book.compute("price_difference", dearer=max(cost, money), cheaper=min(cost, money), currency=currency).value
    budget, apart, high = (render.cash(amount, currency, book.language) for amount in (money, gap, most))
    hours = f"{Decimal(bought):,.0f}"
    if cost > money:
        verdict = book.say(f"**预算 {budget}不够，差 {apart}**", f"**The budget of {budget} is not enough, {apart} short**")  # fmt: skip
    elif most > money:
        verdict = book.say(f"**预算 {budget}刚够，剩 {apart}；MFU 低时要 {high}，会超**",
                           f"**The budget of {budget} just pays for it, {apart} left; at a low MFU it costs {high}, which is more**")  # fmt: skip
    else:
        verdict = book.say(f"**预算 {budget}够，剩 {apart}**（MFU 低时要 {high}，也够）",
                           f"**The budget of {budget} is enough, {apart} left** ({high} at a low MFU is still within it)")  # fmt: skip
    return verdict + book.say(f"；这笔钱能租 {hours} 卡时。", f"; it buys {hours} GPU-hours.")
