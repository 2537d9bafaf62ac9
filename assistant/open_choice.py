"""Which card to buy or rent for "a model of our own" where nobody says which model: what each usual size takes, and what the money reaches.

The sizes are a ladder of common open models; choosing.py ranks cards where a model is named. It guesses no use but
inference, and for a training question it leaves the word to others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import render
from assistant.choice_bounds import SINGLE, bounds_of, rankings_of, ways_of
from assistant.conversion import convert
from assistant.deployments import Load, load_of
from assistant.evidence import Finding
from assistant.gpu_ranking import Bounds, Choice
from assistant.ledger import Ledger
from assistant.load_words import load_notes, wanted
from assistant.offer_prices import LIST_PRICES
from assistant.served_model import Served, use_of
from assistant.specs import value
from assistant.training_subject import of_row
from assistant.understand import Request
from knowledge.catalog import Offer, Purchase
from knowledge.names import normalise

LADDER = ("Qwen2.5-7B", "Qwen2.5-14B", "Qwen2.5-32B", "Qwen2.5-72B")
INTENTS = frozenset({"choose", "document", "buy_price", "budget", "serving", "fit", "off_topic", "price", "memory"})
OF_A_MODEL = re.compile(
    r"大模型|大语言模型|语言模型|开源模型|(?:部署|跑|搞|搭|运行|架)[^，。,.]{0,6}模型|聊天机器人|知识库问答|智能客服|"
    r"\bllms?\b|language models?|local (?:ai|models?|chatbot)|open (?:weight )?models?|chat ?bots?|(?:run|host|serve) (?:\w+ ){0,3}models?",
    re.I,
)
ASKS_CARD = re.compile(
    r"什么(?:显?卡|gpu|配置)|[哪啥](?:种|款|张|块|个)?(?:显?卡|gpu)|怎么(?:选|配|买)|买(?:什么|啥|哪)|租(?:什么|啥|哪)|推荐|选(?:什么|哪)|"
    r"(?:what|which) (?:\w+ ){0,2}(?:gpu|card|hardware|setup)|what (?:should|do|can) (?:i|we) (?:buy|rent|get)|recommend",
    re.I,
)
# One person's machine holds one card: "in my own PC", 自己在家玩.
AT_HOME = re.compile(
    r"在家|家里|家用|个人|自己(?:玩|折腾|捣鼓|的?电脑)|台式机|我的?电脑|(?<![a-z])(?:at home|home ?lab|my (?:own )?(?:pc|desktop|computer|rig)|hobby\w*|personal(?:ly)?|tinker\w*)(?![a-z])",
    re.I,
)
MODULE = re.compile(r"SXM|OAM")  # needs a board of its own: nothing for one person's machine
MOST_SINGLE = 6
TRAINING = re.compile(r"训|微调|train|fine-?tun|lora", re.I)


@dataclass(frozen=True)
class Single:
    """One card within the money, the largest size that it holds alone, and where that stands on the ladder."""

    choice: Choice
    holds: str
    at: int
    load: Load


@dataclass(frozen=True)
class Reached:
    """The cheapest way to run one size in one precision, and what it costs: to buy, or for the time of the budget."""

    model: Served
    precision: str
    choice: Choice
    cost: Decimal


def choose_openly(request: Request, book: Ledger) -> Finding | None:
    """What each usual size of model takes at least, cheapest first choice, and the largest within the money; None = not asked."""
    if not _asks(request):
        return None
    asked = bounds_of(request, book)
    if asked.buys and asked.budget and _wants_one(request) and (found := _one_card(request, asked, book)):
        return found
    changed = None
    if asked.budget and asked.currency == "CNY" and not asked.buys:  # few cards are for rent in yuan
        changed = convert(asked.budget, "CNY", "USD", request, book)
        asked = replace(asked, currency="USD", budget=changed.value) if changed else asked
    reached = [
        found
        for name in LADDER
        if (row := book.catalog.model(name))
        for found in _of(request, of_row(row), asked, book)
    ]
    if not reached:
        return None
    budget = asked.budget
    within = [found for found in reached if budget is None or found.cost <= budget]
    marks = "".join(dict.fromkeys(_cite(found, book) for found in reached))
    return book.finding(
        "answered",
        _head(request, within, reached, asked, book) + (marks if book.language == "zh" else f" {marks}"),
        _table(reached, asked, budget, book),
        changed.line if changed else "",
        _notes(request, reached, book),
    )


def _asks(request: Request) -> bool:
    s, text = request.slots, normalise(request.question).lower()
    named = s.models or s.parameters_b or s.gpus or s.unknown or s.workloads or s.instances or s.providers
    if request.intent not in INTENTS or named or TRAINING.search(text) or s.workload.method:
        return False
    bounded = bool(s.money or s.price_per_hour or (s.workload.concurrency or 1) > 1)
    return bounded and bool(OF_A_MODEL.search(text)) and bool(ASKS_CARD.search(text) or "chooses" in request.aspects)


def _wants_one(request: Request) -> bool:
    """Whether one card is to be bought: said so, or for one person's machine; not where others are to be served."""
    s, text = request.slots, normalise(request.question)
    several = (s.count or 1) > 1 or (s.workload.concurrency or 1) > 1
    return not several and bool(SINGLE.search(text) or AT_HOME.search(text))


def _one_card(request: Request, asked: Bounds, book: Ledger) -> Finding | None:
    """The single cards that the money buys, the most capable first, each with the largest usual size that it holds."""
    singles = _singles(request, asked, book)
    if not singles:
        return None
    best = singles[0]
    for single in singles:
        if single.choice.found:
            single.choice.found.keep(single.load, book)
    marks = "".join(dict.fromkeys(mark for single in singles for mark in (_cite_row(single.choice, book), book.cite_gpu(single.choice.card.gpu))))  # fmt: skip
    unit = render.unit(asked.currency, book.language)
    name, price = best.choice.card.gpu.name, render.cash(best.choice.row.price, asked.currency, book.language)
    head = book.say(f"**预算内买一张，首选 {name}（{price}）**：单卡最大能放下 {best.holds}{marks}",
                    f"**One card within the money: {name} ({price})**; alone it holds up to {best.holds} {marks}")  # fmt: skip
    rows = [[s.choice.card.gpu.name, _price_cell(s.choice, book), value(s.choice.card.gpu, "memory", book), s.holds] for s in singles]  # fmt: skip
    headings = [book.say("显卡", "Card"), book.say(f"购卡价（{unit}）", f"To buy ({unit})"), book.say("显存", "Memory"), book.say("单卡最大", "Holds up to")]  # fmt: skip
    if asked.currency == "CNY" or asked.destination:  # who pays in yuan buys in China
        headings.append(book.say("对华出口", "Export to China"))
        for row, single in zip(rows, singles, strict=True):
            row.append(value(single.choice.card.gpu, "export_status", book) or book.say("未核实", "not verified"))
    notes = [
        book.say("没有说模型，所以以 Qwen2.5 各尺寸为例，按一个人用、短上下文算；先比放得下多大的模型，再比显存带宽。",
                 "No model was named, so sizes of Qwen2.5 stand as examples, for one user and a short context; ordered by the size that fits, then by memory bandwidth."),
        book.say("只算显卡，不含整机和电；价格日期见来源，能否买到请看现行规定和卖家。",
                 "The card alone, without the machine and power; dates of the prices stand in the sources. Whether it can be bought is a matter of the rules in force and the seller."),
    ]  # fmt: skip
    if any(_is_list_price(single.choice) for single in singles):
        notes.append(book.say("没有市场价的卡用的是发布价，现在的卖价可能高不少。",
                              "Where no street price is on file, the price is that at launch; today's may be well above it."))  # fmt: skip
    return book.finding("answered", head, render.table(headings, rows), render.bullets(notes))


def _singles(request: Request, asked: Bounds, book: Ledger) -> list[Single]:
    """Cards that hold a size of the ladder alone and cost no more than the money; the last and largest size counts."""
    said = asked.destination if request.slots.workload.country else ""
    alone = replace(asked, most_cards=1, destination=said)
    work, found = request.slots.workload, dict[str, Single]()
    models = [of_row(row) for name in LADDER if (row := book.catalog.model(name))]
    for at, model in enumerate(models):
        load = load_of(model, work)
        for ranked in rankings_of(request, model, use_of(model, work), load, alone, book):
            for choice in (c for c in ranked.choices if not MODULE.search(c.card.gpu.form_factor)):
                found[choice.card.gpu.name] = Single(choice, f"{model.label} {ranked.precision}", at, load)
    return sorted(found.values(), key=lambda s: (-s.at, -_bandwidth(s.choice), s.choice.row.price))[:MOST_SINGLE]


def _is_list_price(choice: Choice) -> bool:
    return isinstance(choice.row, Purchase) and choice.row.market in LIST_PRICES


def _price_cell(choice: Choice, book: Ledger) -> str:
    price = f"{choice.row.price:,.2f}"
    return book.say(f"{price}（发布价）", f"{price} (at launch)") if _is_list_price(choice) else price


def _bandwidth(choice: Choice) -> Decimal:
    found = choice.card.gpu.bandwidth_gb_per_s
    return found.high if found else Decimal(0)


def _of(request: Request, model: Served, asked: Bounds, book: Ledger) -> list[Reached]:
    """For 16 bits and int4: the first of the ranking without regard to the budget, which the reader is to see exceeded."""
    work = request.slots.workload
    use, load = use_of(model, work), load_of(model, work)
    for way in ways_of(request, replace(asked, budget=None)):
        if way.currency != asked.currency:
            continue
        aside = Ledger(book.catalog, book.language)
        firsts = [(r.precision, r.choices[0]) for r in rankings_of(request, model, use, load, way, aside) if r.choices]
        if firsts:
            rankings_of(request, model, use, load, way, book)
            for _, choice in firsts:
                if choice.found:
                    choice.found.keep(load, book)
            return [Reached(model, precision, choice, _cost(choice, way, book)) for precision, choice in firsts]
    return []


def _cost(choice: Choice, bounds: Bounds, book: Ledger) -> Decimal:
    row = choice.row
    if not isinstance(row, Offer):
        return book.compute("purchase_cost", cards=choice.gpus, price_per_card=row.price, currency=row.currency).value
    return book.compute("rental_cost", gpus=choice.gpus, hours=bounds.hours, price_per_hour=row.price, currency=row.currency,
                        gpus_per_instance=row.gpu_count).value  # fmt: skip


def _cite(found: Reached, book: Ledger) -> str:
    return _cite_row(found.choice, book)


def _cite_row(choice: Choice, book: Ledger) -> str:
    row = choice.row
    return book.cite_offers([row]) if isinstance(row, Offer) else book.cite_purchases([row])


def _head(request: Request, within: list[Reached], reached: list[Reached], asked: Bounds, book: Ledger) -> str:
    load = load_of(reached[0].model, request.slots.workload)
    users = book.say(f"（{wanted(load, book)}）", f" for {wanted(load, book)}") if load.is_stated else ""
    if asked.budget is None:
        return book.say(
            f"**没说是哪个模型，按常见的几档列出{users}**",
            f"**No model was named, so the usual sizes are listed{users}**",
        )
    if not within:
        least = min(reached, key=lambda found: found.cost)
        return book.say(f"**这笔钱一档也够不到{users}**：最便宜的是 {_what(least)}，{_money(least.cost, asked, book)}",
                        f"**The money reaches none of them{users}**: the least is {_what(least)}, {_money(least.cost, asked, book)}")  # fmt: skip
    best = within[-1]
    how = _cards(best, book)
    return book.say(f"**预算内最大能用 {_what(best)}{users}：{how}，{_money(best.cost, asked, book)}**",
                    f"**The largest within the budget is {_what(best)}{users}: {how}, {_money(best.cost, asked, book)}**")  # fmt: skip


def _what(found: Reached) -> str:
    return f"{found.model.label} {found.precision}"


def _cards(found: Reached, book: Ledger) -> str:
    name = found.choice.card.gpu.name
    return book.say(f"{found.choice.gpus} 张 {name}", f"{found.choice.gpus}× {name}")


def _money(value: Decimal, asked: Bounds, book: Ledger) -> str:
    text = render.cash(value, asked.currency, book.language)
    if asked.buys:
        return text
    hours = f"{asked.hours:,.0f}"
    return book.say(f"{hours} 小时 {text}", f"{text} for {hours} h")


def _table(reached: list[Reached], asked: Bounds, budget: Decimal | None, book: Ledger) -> str:
    unit = render.unit(asked.currency, book.language)
    what = (
        book.say(f"购卡（{unit}）", f"To buy ({unit})")
        if asked.buys
        else book.say(f"{asked.hours:,.0f} 小时租金（{unit}）", f"Rent for {asked.hours:,.0f} h ({unit})")
    )
    headings = [book.say("模型", "Model"), book.say("最便宜的配置", "Cheapest setup"), what]
    headings += [book.say("预算内", "Within the budget")] if budget is not None else []
    rows = []
    for found in reached:
        row = [_what(found), _cards(found, book), f"{found.cost:,.2f}"]
        rows.append(
            row
            + ([book.say("是", "yes") if found.cost <= budget else book.say("否", "no")] if budget is not None else [])
        )
    return render.table(headings, rows)


def _notes(request: Request, reached: list[Reached], book: Ledger) -> str:
    load = load_of(reached[0].model, request.slots.workload)
    lines = [
        book.say("没有说模型，所以以 Qwen2.5 各尺寸为例；同样大小的其他模型相近。说出模型名可以得到完整的排名。",
                 "No model was named, so sizes of Qwen2.5 stand as examples; others of the same size are alike. Name the model for the whole ranking."),
        book.say("只算显卡，不含服务器、电和机房；价格日期见来源，下单前请核实。",
                 "Cards alone, without server, power and room; dates of the prices stand in the sources, check before ordering."),
    ]  # fmt: skip
    return render.bullets([*lines, *load_notes(load, book)] if load.is_stated else lines)
