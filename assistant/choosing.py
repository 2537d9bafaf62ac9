"""Answers about which card to take for a model: what can run it, how many, at what cost and with how much room.

Ranks the cards that have a price in one currency; the sizes and the order come from gpu_ranking.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import HOURS_PER_MONTH, number
from assistant.choice_bounds import bounds_of, rankings_of, ways_of
from assistant.deployments import Load, load_of
from assistant.evidence import Finding
from assistant.figures import extract_figures
from assistant.finetune_choice import cards_for_finetuning
from assistant.fit_cases import arguments as fit_arguments
from assistant.fit_words import (
    family_note,
    gib,
    mixture_note,
    notes_list,
    precision_name,
    shape_note,
    span,
    taken_notes,
)
from assistant.gpu_ranking import Bounds, Choice, Ranking
from assistant.ledger import Ledger
from assistant.load_words import cost_per_million, load_notes, rate, wanted
from assistant.served_model import Served, Use, not_on_file, served, use_of, with_lengths
from assistant.smallest_card import asks_smallest, smallest_card
from assistant.understand import Request
from knowledge.catalog import Offer
from knowledge.hardware_cells import export_words

MOST_ROWS = 5
REASONS = {
    "memory": ("一台机器能插的张数放不下", "a machine full of them does not hold it"),
    "target": ("速度或首 token 达不到", "too slow for the target"), "speed": ("没有速度数据", "no speed figures on file"),
    "many": ("要的卡太多", "takes too many cards"), "over-budget": ("超出预算", "over the budget"),
    "split": ("注意力头无法平分", "the attention heads cannot be split"), "precision": ("不支持这个精度", "lacks this precision"),
    "no-price": ("没有价格", "no price"), "old": ("架构太旧，vLLM 不支持", "too old for vLLM"), "export": ("对华禁止出口", "barred from export to China"),
}  # fmt: skip


def choose(request: Request, book: Ledger) -> Finding | None:
    """The cards for a model, cheapest first, with number, cost, room and speed; None where no model or size is said."""
    if refusal := not_on_file(request, book):
        return refusal
    request = with_lengths(request)
    work = request.slots.workload
    models = served(request, book)
    if work.method or work.purpose in ("training", "finetuning"):
        return cards_for_finetuning(request, models, book) if models else None
    if not models:
        return None
    if asks_smallest(request) and not (request.slots.providers or request.slots.price_per_hour):
        return smallest_card(request, models, book)
    model, bounds = models[0], bounds_of(request, book)
    use, load = use_of(model, work), load_of(model, work)
    if model.shape is None:
        load = replace(load, users=None, requests_per_s=None)
    for way in ways_of(request, bounds):
        aside = Ledger(book.catalog, book.language)
        if any(found.choices for found in rankings_of(request, model, use, load, way, aside)):
            bounds = way
            break
    rankings = rankings_of(request, model, use, load, bounds, book)
    return _answer(request, model, use, load, bounds, rankings, book) if rankings else None


def _answer(
    request: Request, model: Served, use: Use, load: Load, bounds: Bounds, rankings: Sequence[Ranking], book: Ledger
) -> Finding:
    heads, tables, marks = [], [], ""
    for found in rankings:
        shown = found.choices[:MOST_ROWS]
        heads.append(_head(model, use, load, bounds, found, book))
        if shown:
            tables.append("\n\n".join([f"{precision_name(found.precision, use, book)}{book.say('：', ':')}", _table(use, bounds, found, shown, model, load, book)]))  # fmt: skip
            marks += _cite(shown, book)
    marks += book.cite_model(model.row) if model.row else ""
    marks = "".join(dict.fromkeys(re.findall(r"\[\d+\]", marks)))
    heads[-1] += marks if book.language == "zh" else f" {marks}"
    why = [line for found in rankings for line in (_front(found, load, book), _excluded(found, book)) if line]
    return book.finding(
        "answered", "  \n".join(heads), *tables, render.bullets(why), _export(rankings, bounds, book),
        _notes(request, model, use, load, bounds, rankings, book),
        book.say("影响最大的是精度和价格日期：换精度会换一档卡，价格下单前要核实。",
                 "Precision and the date of the prices change it most: another precision takes another class of card, and prices are to be checked before ordering."),
    )  # fmt: skip


def _cost(choice: Choice, bounds: Bounds, book: Ledger, hours: Decimal) -> Decimal:
    """What the cards of a choice cost, kept as a call."""
    row = choice.row
    if not isinstance(row, Offer):
        return book.compute("purchase_cost", cards=choice.gpus, price_per_card=row.price, currency=row.currency).value
    return book.compute("rental_cost", gpus=choice.gpus, hours=hours, price_per_hour=row.price, currency=row.currency,
                        gpus_per_instance=row.gpu_count).value  # fmt: skip


def _hours(bounds: Bounds) -> Decimal:
    """The time asked for, else a month."""
    return bounds.hours if bounds.hours > 1 else HOURS_PER_MONTH


def _term(bounds: Bounds, unit: str, book: Ledger) -> str:
    hours = f"{_hours(bounds):,.0f}"
    if bounds.hours > 1:
        return book.say(f"{hours} 小时（{unit}）", f"For {hours} h ({unit})")
    return book.say(f"每月 {hours} 小时（{unit}）", f"Per month of {hours} h ({unit})")


def _money(value: Decimal, bounds: Bounds, book: Ledger) -> str:
    text = render.cash(value, bounds.currency, book.language)
    if bounds.buys:
        return text
    if bounds.hours > 1:
        return book.say(f"{bounds.hours:,.0f} 小时 {text}", f"{text} for {bounds.hours:,.0f} h")
    return text + book.say("/小时", "/hour")


def _head(model: Served, use: Use, load: Load, bounds: Bounds, found: Ranking, book: Ledger) -> str:
    name = f"{model.label} {precision_name(found.precision, use, book)}"
    if not found.choices:
        limit = book.say("预算内", " within the budget") if bounds.budget else ""
        need = _need(model, use, found.precision, book)
        return book.say(f"**{name}：要约 {need} 显存，有价格的卡里{limit}没有合适的**", f"**{name}: it takes about {need}; no card with a price does it{limit}**")  # fmt: skip
    best = found.choices[0]
    cost = _money(_cost(best, bounds, book, bounds.hours), bounds, book)
    first = _cards_of(best, book)
    word = {"cost": ("最便宜", "the cheapest"), "speed": ("最快", "the fastest"),
            "cost_per_million_tokens": ("每百万 token 最便宜", "the cheapest per million tokens")}[bounds.order]  # fmt: skip
    for_load = book.say(f"（{wanted(load, book)}）", f" for {wanted(load, book)}") if load.is_stated else ""
    need = "" if load.is_stated else _need(model, use, found.precision, book)
    takes = book.say(f"，要约 {need} 显存", f"; it takes about {need}") if need else ""
    return book.say(
        f"**{name}{for_load}：{word[0]}的是 {first}，{cost}**{takes}",
        f"**{name}{for_load}: {word[1]} is {first}, {cost}**{takes}",
    )


def _need(model: Served, use: Use, precision: str, book: Ledger) -> str:
    out = book.compute("inference_memory", **_without_card(fit_arguments(model, use, precision))).outputs
    return span(out["total_low_gib"], out["total_high_gib"])


def _without_card(given: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in given.items() if name != "gpu_memory_utilization"}


def _cards_of(choice: Choice, book: Ledger) -> str:
    name = choice.card.gpu.name if not choice.card.assumed else _unstated(choice, book)
    return book.say(f"{choice.gpus} 张 {name}", f"{choice.gpus}× {name}")


def _unstated(choice: Choice, book: Ledger) -> str:
    gpu = choice.card.gpu
    size = f"{number(choice.card.spec.memory_gib)} GB"
    family = render.name("gpu", gpu.family, book.language)
    one_size = len(book.catalog.memory_sizes_gb(gpu.family)) == 1
    return (
        family
        if one_size
        else book.say(f"{family}（形态未注明，按 {size}）", f"{family} (form not stated, taken as {size})")
    )


def _table(
    use: Use, bounds: Bounds, found: Ranking, shown: Sequence[Choice], model: Served, load: Load, book: Ledger
) -> str:
    unit = render.unit(bounds.currency, book.language)
    costs = ([book.say(f"总价（{unit}）", f"Cost ({unit})")] if bounds.buys else
             [book.say(f"每小时（{unit}）", f"Per hour ({unit})"), _term(bounds, unit, book),
              book.say(f"每百万输出 token（{unit}）", f"Per million output tokens ({unit})")])  # fmt: skip
    headings = [book.say("配置", "Setup"), *costs, book.say("每卡余量", "Room per card"),
                book.say("每个副本 tokens/s", "Tokens/s of one copy") if load.is_stated else book.say("单用户 tokens/s", "Tokens/s, one user"),
                book.say("价格来源", "Price from")]  # fmt: skip
    rows = []
    for choice in shown:
        per_hour = _cost(choice, bounds, book, Decimal(1))
        money = [f"{per_hour:,.2f}"]
        speed, per_million = _speed(choice, load, per_hour, bounds, book)
        if not bounds.buys:
            money += [f"{_cost(choice, bounds, book, _hours(bounds)):,.2f}", per_million]
        out = book.compute("inference_fit", **fit_arguments(model, replace(use, sequences=1), found.precision), gpu=choice.card.spec, cards=choice.gpus_per_copy).outputs  # fmt: skip
        copies = book.say(f"（{choice.copies} 个副本）", f" ({choice.copies} copies)") if choice.copies > 1 else ""
        star = " ★" if choice.on_front else ""
        rows.append([_cards_of(choice, book) + copies + star, *money, f"{gib(out['headroom_gib'])} GiB", speed, _from(choice, book)])  # fmt: skip
    return render.table(headings, rows)


def _speed(choice: Choice, load: Load, per_hour: Decimal, bounds: Bounds, book: Ledger) -> tuple[str, str]:
    """Speed of the choice and the cost of its tokens at full load, both kept as calls."""
    if choice.found is None:
        return "—", "—"
    choice.found.keep(load, book)
    cost = "" if bounds.buys else cost_per_million(choice.found, per_hour / choice.gpus, bounds.currency, book)
    return rate(choice.found.figure("tokens_per_second" if load.is_stated else "tokens_per_second_alone")), cost


def _from(choice: Choice, book: Ledger) -> str:
    row = choice.row
    day = row.as_of or book.say("未注明日期", "undated")
    if isinstance(row, Offer):
        return f"{render.name('provider', row.provider, book.language)}, {day}"
    return day


def _cite(shown: Sequence[Choice], book: Ledger) -> str:
    offers = [c.row for c in shown if isinstance(c.row, Offer)]
    purchases = [c.row for c in shown if not isinstance(c.row, Offer)]
    marks = book.cite_offers(offers) if offers else ""
    for source in dict.fromkeys(p.source for p in purchases):
        marks += book.cite_purchases([p for p in purchases if p.source == source])
    return marks + "".join(book.cite_gpu(c.card.gpu) for c in shown if c.card.assumed)


def _front(found: Ranking, load: Load, book: Ledger) -> str:
    """The choices that nothing beats in both cost and speed."""
    front = [choice for choice in found.choices if choice.on_front]
    if len(front) < 2:
        return ""
    for choice in front[: MOST_ROWS + 1]:
        if choice.found:
            choice.found.keep(load, book)
    names = render.joined([_cards_of(choice, book) for choice in front[: MOST_ROWS + 1]], book.language)
    return book.say(f"{found.precision} 的价格—速度前沿（★，更便宜的都更慢）：{names}", f"{found.precision}: the front of cost and speed (★, all that is cheaper is slower): {names}")  # fmt: skip


def _excluded(found: Ranking, book: Ledger) -> str:
    """Families of which no form does, by what speaks against them."""
    ranked = {choice.card.gpu.family for choice in found.choices}
    groups: dict[str, dict[str, None]] = {}
    for card, reason in found.excluded:
        name = render.name("gpu", card.gpu.family, book.language)
        if card.gpu.family not in ranked and reason != "export":
            groups.setdefault(reason, {})[name if not extract_figures(name) else book.say("其他", "others")] = None
    side = 0 if book.language == "zh" else 1
    lines = [f"{REASONS.get(reason, (reason, reason))[side]}{book.say('：', ': ')}{render.joined(names, book.language)}" for reason, names in groups.items()]  # fmt: skip
    if not lines:
        return ""
    return book.say(f"{found.precision} 排除的：{'；'.join(lines)}", f"{found.precision}, left out: {'; '.join(lines)}")


def _export(rankings: Sequence[Ranking], bounds: Bounds, book: Ledger) -> str:
    """Export rules with their dates: of cards left out for them, and of the first choices where the cards are in China."""
    barred = [card for found in rankings for card, reason in found.excluded if reason == "export"]
    firsts = [found.choices[0].card for found in rankings if found.choices]
    told = [
        card
        for card in firsts
        if card.gpu.export_status in ("barred", "licence") and (bounds.destination or book.language == "zh")
    ]
    lines: dict[str, None] = {}
    side = 0 if book.language == "zh" else 1
    for card in [*barred, *told]:
        name = render.name("gpu", card.gpu.family, book.language)
        lines[f"{name}{book.say('：', ': ')}{export_words(card.gpu)[side]}{book.cite_gpu(card.gpu)}"] = None
    open_status = dict.fromkeys(
        render.name("gpu", choice.card.gpu.family, book.language)
        for found in rankings for choice in found.choices if choice.card.gpu.export_status == "unknown"
    )  # fmt: skip
    if bounds.destination and open_status:
        cards = render.joined(open_status, book.language)
        lines[book.say(f"对华出口状态未核实、仍列在排名里的：{cards}；下单前请查现行规则", f"export status not verified, still ranked: {cards}; check the rules in force before ordering")] = None  # fmt: skip
    if not lines:
        return ""
    head = book.say("出口管制（未进排名的卡在国内只有存量或二手）：", "Export rules (cards barred are not ranked for China):") if barred else book.say("出口管制：", "Export rules:")  # fmt: skip
    return f"{head}\n{render.bullets(lines)}"


def _notes(
    request: Request, model: Served, use: Use, load: Load, bounds: Bounds, rankings: Sequence[Ranking], book: Ledger
) -> str:
    spare = (
        book.say("多留一个副本，坏一台还能顶上", "one copy more than needed, for when one fails")
        if bounds.spare
        else ""
    )
    notes = [spare, family_note(request, book), mixture_note(model, book), shape_note(model, book)]
    if use.precision_taken:
        names = render.joined([found.precision for found in rankings], book.language)
        notes.append(book.say(f"没说精度，按 {names} 各排一次", f"no precision was said: ranked for {names}"))
    if load.is_stated:
        notes += load_notes(load, book)
    else:
        notes += taken_notes(model, replace(use, precision_taken=False), book)
        notes.append(book.say("只要放得下，没有按并发算卡数；说出同时使用的人数可以再算", "cards are counted by memory alone; say how many users there are at a time to size for them"))  # fmt: skip
    notes.append(book.say(f"每卡可用显存按 {use.memory_percent}% 算，运行时开销取高值", f"{use.memory_percent} % of each card is taken as usable, the runtime overhead at its high end"))  # fmt: skip
    if not bounds.buys:
        notes.append(
            book.say(
                "每百万 token 的成本按一直满载算，不是单用户",
                "the cost of a million tokens is at full load, not for one user",
            )
        )
    if any(choice.card.assumed and len(book.catalog.memory_sizes_gb(choice.card.gpu.family)) > 1 for found in rankings for choice in found.choices):  # fmt: skip
        notes.append(
            book.say("价格表没写形态的卡按最小显存算", "where a price row states no form, the smallest memory is taken")
        )
    return notes_list(notes, book)
