"""How far the costs of renting two cards, or at two clouds, lie apart over a time: "一天差多少", "difference per month".

Compares sums that costs.py has computed, of one currency; of each card or cloud the cheapest row is taken. It picks no
rows from the tables and converts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from assistant import render
from assistant.calculator.calculation import Calculation
from assistant.ledger import Ledger
from assistant.reading import Period
from assistant.rental_terms import Rate, gpus_in, span

Priced = tuple[Rate, Sequence[Calculation]]  # what is rented, and its cost for each of the times


def differences(priced: Sequence[Priced], count: int, periods: Sequence[Period], book: Ledger) -> str:
    """For `count` cards, each dearer card or cloud against the cheapest, for each time, with the formula; "" where all cost the same."""
    lines: list[str] = []
    for at, period in enumerate(periods):
        time, cards = span(period, book), gpus_in(period, count)
        job = book.say(f"{cards} 张卡，{time}", f"{render.cards(cards, 'en')}, {time}") if cards > 1 else time
        ranked = sorted(_least_of_each(priced, at), key=lambda item: item[1][at].value)
        low, low_costs = ranked[0]
        for high, high_costs in ranked[1:]:
            if high_costs[at].value > low_costs[at].value:
                lines.append(_line(high, high_costs[at], low, low_costs[at], job, book))
    return "\n\n".join(lines)


def _least_of_each(priced: Sequence[Priced], at: int) -> list[Priced]:
    """The cheapest of each card; where all are of one card, of each cloud; of one card at one cloud, of each form."""
    for names in ([r.model for r, _ in priced], [r.label for r, _ in priced], [r.gpu for r, _ in priced]):
        least: dict[str, Priced] = {}
        for name, (rate, costs) in zip(names, priced, strict=True):
            if name not in least or costs[at].value < least[name][1][at].value:
                least[name] = (rate, costs)
        if len(least) > 1:
            return list(least.values())
    return list(priced[:1])


def _line(high: Rate, dear: Calculation, low: Rate, cheap: Calculation, job: str, book: Ledger) -> str:
    result = book.compute("price_difference", dearer=dear.value, cheaper=cheap.value, currency=low.currency)
    gap, out = render.cash(result.value, low.currency, book.language), result.outputs
    a, b = (book.say(f"{rate.label} {rate.gpu}", f"{rate.gpu} at {rate.label}") for rate in (high, low))
    head = book.say(
        f"**{job}：{a} 比{_spaced(b)} 贵 {gap}**（贵 {out['surplus_percent']} %，反过来便宜 {out['saving_percent']} %）{low.mark}",
        f"**{job}: {a} costs {gap} more than {b}** ({out['surplus_percent']} % more, the other way round {out['saving_percent']} % less) {low.mark}",
    )
    formulas = (dear.formula, cheap.formula, result.formula.split(";")[0])
    return "  \n".join((head, *(render.formula(formula, book.language) for formula in formulas)))


def _spaced(name: str) -> str:
    """A blank before Latin letters only."""
    return f" {name}" if name[:1].isascii() else name
