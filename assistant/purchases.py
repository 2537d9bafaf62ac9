"""Answers about buying cards: prices, orders, budgets, two cards compared.

Printed prices of the card alone and calculators only; it knows no server, no tax and no price of today.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from assistant import price_gaps, price_selection, prices, render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.market_words import markets_asked
from assistant.understand import Request
from knowledge.catalog import Purchase

MOST_MEMORY_GB = 300  # of one card; a larger size is a host's or a sum
AMAZON = "amazon-street"
MARKETS = {
    "launch-price": ("发售建议价", "launch price"), "launch-price-approximate": ("发售价（约数）", "launch price, rounded"),
    "street": ("街价，可能二手或翻新", "street price, may be used or renewed"), "street-estimate": ("街价估计，每系列一个数", "estimated street price, one per family"),
}  # fmt: skip


def buy(request: Request, book: Ledger) -> Finding:
    """Purchase prices of cards, with what was asked of them first: an order, a budget, a difference, an extreme."""
    if refusal := price_gaps.refuse_unknown(request, book):
        return refusal
    s = request.slots
    purchases = [p for p in book.catalog.find_purchases(s.gpus) if _of_size(p, request)]
    if s.money and s.money_currency == "USD" and (found := _for_dollars(request, book)):
        return found
    if not purchases:
        return _unpriced(request, book)
    if not s.money and (asked := _of_market(request, book)):
        return asked
    if s.money and (s.money_currency or "CNY") != "CNY":
        return book.finding("needs_detail", book.say(
            "购卡价是人民币，而你的金额不是；请给出人民币金额。", "The card prices are in CNY but your amount is not; please give it in CNY."))  # fmt: skip
    mark = book.cite_purchases(purchases)
    heads = _headlines(request, purchases, book)
    heads[0] += book.say(mark, f" {mark}")
    body = _price_table(purchases, book) if len(purchases) > 1 else _remark(purchases[0], book)
    note = book.say(
        "这些是 2023 年讲义里的参考价，日期未注明，只是单卡，不含服务器。",
        "These are reference prices of a 2023 handout, undated, for the card alone without a server.",
    )
    parts = ("  \n".join(heads), body, _gaps(request, purchases, book), note)
    return book.finding("answered", _market_gap(request, book), *parts, *_in_dollars(request, book))


def _market_gap(request: Request, book: Ledger) -> str:
    """That the price of the market that the words ask for is not on file; "" where it is, or none is asked for."""
    markets, gpus = markets_asked(request.question), request.slots.gpus
    if not markets or not gpus or any(p.market in markets for p in book.catalog.find_purchases(gpus, currency="USD")):
        return ""
    names = render.joined((render.name("gpu", gpu, book.language) for gpu in gpus), book.language)
    zh, en = ("发售价", "launch price") if "launch-price" in markets else ("零售挂牌价", "shop listing")
    return book.say(
        f"没有 {names} 的{zh}，下面是别的价格。", f"No {en} of the {names} is on file; these are other prices."
    )


def _of_size(purchase: Purchase, request: Request) -> bool:
    """Whether a price is of the memory size asked for; one printed without a size may be."""
    s = request.slots
    if "48GB (modded)" in " ".join(s.forms):
        return False  # the handout prices stock cards
    printed = re.match(r"\d+", purchase.memory_as_printed or "")
    sizes = [size for size in s.memory_gb if size <= MOST_MEMORY_GB]
    return not (printed and sizes and purchase.gpu in s.gpus) or Decimal(printed.group()) in sizes


def _for_dollars(request: Request, book: Ledger) -> Finding | None:
    """How many of each card an amount in dollars buys, at the prices in dollars; None where there are none."""
    s, lang = request.slots, book.language
    rows = [p for p in book.catalog.find_purchases(s.gpus, currency="USD") if not s.forms or p.gpu_form in s.forms]
    if not rows or s.money is None or not s.gpus:
        return None
    marks = "".join(book.cite_purchases([p for p in rows if p.source == source]) for source in dict.fromkeys(p.source for p in rows))  # fmt: skip
    lines = []
    for p in rows:
        out = book.compute(
            "purchasable_cards", budget=s.money, price_per_card=p.price, cards=s.count or 1, currency="USD"
        ).outputs
        lines.append([p.gpu_form or p.gpu, number(p.price), book.say(*MARKETS[p.market]), f"{out['cards']:,}", f"{Decimal(out['left_over']):,.2f}"])  # fmt: skip
    best = lines[0]
    head = book.say(f"**{render.cash(s.money, 'USD', 'zh')} 最多能买 {best[3]} 张 {best[0]}**（每张 {best[1]} 美元，{best[2]}）{marks}",
                    f"**{render.cash(s.money, 'USD', 'en')} buys at most {best[3]}× {best[0]}** (at {best[1]} USD each, {best[2]}) {marks}")  # fmt: skip
    table = render.table(
        [book.say("显卡", "Card"), book.say("价格（美元/张）", "Price (USD per card)"), book.say("性质", "Kind"), book.say("能买（张）", "Cards"), book.say("剩余（美元）", "Left over (USD)")], lines)  # fmt: skip
    note = book.say(
        "只是单卡价，不含服务器、税和运费；价格日期见来源。",
        "Card alone, without server, tax and freight; dates stand in the sources.",
    )
    return book.finding("answered", head, table, note if lang else "")


def _headlines(request: Request, purchases: Sequence[Purchase], book: Ledger) -> list[str]:
    """What was asked, most special first: money at hand, an order, two cards against each other, the list's ends."""
    counts = _counts(request, purchases)
    if money := request.slots.money:
        within = [p for p in purchases if p.price <= money] or purchases[:1]
        return _affordable(money, purchases if request.slots.gpus else within, counts, book)
    if len(purchases) == 2 and "how_many" in request.aspects:
        return _instead(request, purchases, book)
    if counts:
        return _order(request, purchases, counts, book)
    if len(purchases) == 1:
        return [book.say(f"**{purchases[0].gpu} 购卡价：{number(purchases[0].price)} 元/张**",
                         f"**One {purchases[0].gpu} costs {number(purchases[0].price)} CNY to buy**")]  # fmt: skip
    heads = (
        []
        if len(purchases) == 2 and request.aspects & {"difference", "ratio", "percent"}
        else [_ends(request, purchases, book)]
    )
    if len(purchases) == 2 or request.aspects & {"difference", "ratio", "percent"}:
        heads.append(_gap(request, purchases[0].gpu, purchases[0].price, purchases[-1].gpu, purchases[-1].price, book))
    if "average" in request.aspects:
        mean = book.compute("average_price", amounts=[p.price for p in purchases])
        heads.insert(0, book.say(f"**平均 {number(mean.value)} 元/张**（{mean.formula}）", f"**Average: {number(mean.value)} CNY per card** ({mean.formula})"))  # fmt: skip
    return heads


def _counts(request: Request, purchases: Sequence[Purchase]) -> dict[str, int]:
    """How many of each card are wanted; empty where only prices are."""
    s = request.slots
    if s.items:
        return {item.gpu: item.count for item in s.items}
    both = s.count == len(s.gpus) > 1  # "these two cards" counts the names, not an order
    return {p.gpu: s.count for p in purchases} if s.count and s.count > 1 and s.gpus and not both else {}


def _cards(count: int, gpu: str, book: Ledger) -> str:
    return book.say(f"{count:,} 张 {gpu}", f"{count:,} {gpu} card{'' if count == 1 else 's'}")


def _affordable(budget: Decimal, purchases: Sequence[Purchase], counts: Mapping[str, int], book: Ledger) -> list[str]:
    """How many of each card the money buys and what is left; whether it is enough where a number was said."""
    lines, amount = [], number(budget)
    for purchase in purchases:
        wanted = counts.get(purchase.gpu, 1)
        result = book.compute("purchasable_cards", budget=budget, price_per_card=purchase.price, cards=wanted)
        out = {key: number(Decimal(value)) for key, value in result.outputs.items() if key != "currency"}
        whole, many = int(result.value), _cards(int(result.value), purchase.gpu, book)
        if purchase.gpu in counts:
            lines.append(_verdict(out, _cards(wanted, purchase.gpu, book), amount, book))
        elif not whole:
            lines.append(book.say(f"**{amount} 元不够买 1 张 {purchase.gpu}**：单价 {number(purchase.price)} 元，还差 {out['wanted_short_by']} 元。",
                                  f"**{amount} CNY does not buy one {purchase.gpu}**: it costs {number(purchase.price)} CNY, {out['wanted_short_by']} CNY more."))  # fmt: skip
            continue
        else:
            lines.append(book.say(f"**{amount} 元能买 {many}**，剩 {out['left_over']} 元。",
                                  f"**{amount} CNY buys {many}**, with {out['left_over']} CNY left over."))  # fmt: skip
        if len(purchases) == 1:
            lines.append(render.formula(result.formula, book.language))
    return lines


def _verdict(out: Mapping[str, str], cards: str, amount: str, book: Ledger) -> str:
    if out["wanted_short_by"] == "0":
        return book.say(f"**够**：{cards} 要 {out['wanted_cost']} 元，{amount} 元买完还剩 {out['wanted_left_over']} 元。",
                        f"**Enough**: {cards} cost {out['wanted_cost']} CNY, which leaves {out['wanted_left_over']} of {amount} CNY.")  # fmt: skip
    return book.say(f"**不够**：{cards} 要 {out['wanted_cost']} 元，{amount} 元还差 {out['wanted_short_by']} 元，最多买 {out['cards']} 张。",
                    f"**Not enough**: {cards} cost {out['wanted_cost']} CNY, {out['wanted_short_by']} CNY more than {amount} CNY; that buys {out['cards']} at most.")  # fmt: skip


def _instead(request: Request, purchases: Sequence[Purchase], book: Ledger) -> list[str]:
    """The price of the dearer card (or of so many) spent on the cheaper one."""
    low, high = purchases
    count = next((item.count for item in request.slots.items if item.gpu == high.gpu), request.slots.count or 1)
    cost = book.compute("purchase_cost", cards=count, price_per_card=high.price)
    result = book.compute("purchasable_cards", budget=cost.value, price_per_card=low.price)
    left = number(Decimal(result.outputs["left_over"]))
    head = book.say(f"**{_cards(count, high.gpu, book)} 的钱（{number(cost.value)} 元）能买 {_cards(int(result.value), low.gpu, book)}**，剩 {left} 元。",
                    f"**The money for {_cards(count, high.gpu, book)} ({number(cost.value)} CNY) buys {_cards(int(result.value), low.gpu, book)}**, with {left} CNY left over.")  # fmt: skip
    return [head, render.formula(result.formula, book.language)]


def _order(request: Request, purchases: Sequence[Purchase], counts: Mapping[str, int], book: Ledger) -> list[str]:
    """What so many cards cost; of several kinds also the sum, or the difference where that was asked."""
    lines, costs = [], []
    for purchase in purchases:
        count = counts.get(purchase.gpu, 1)
        result = book.compute("purchase_cost", cards=count, price_per_card=purchase.price)
        costs.append((_cards(count, purchase.gpu, book), result.value))
        lines.append(book.say(f"**{costs[-1][0]}：{number(result.value)} 元**", f"**{costs[-1][0]}: {number(result.value)} CNY**"))  # fmt: skip
        lines.append(render.formula(result.formula, book.language))
    if len(costs) == 1:
        return lines
    if len(costs) == 2 and request.aspects & {"difference", "ratio", "percent", "cheapest", "dearest"}:
        (low, cheaper), (high, dearer) = sorted(costs, key=lambda cost: cost[1])
        return [_gap(request, low, cheaper, high, dearer, book), *lines]
    if not request.slots.items:
        return lines
    total = book.compute("sum_of_costs", amounts=[cost for _, cost in costs])
    return [book.say(f"**合计 {number(total.value)} 元**", f"**{number(total.value)} CNY in all**"), *lines, render.formula(total.formula, book.language)]  # fmt: skip


def _ends(request: Request, purchases: Sequence[Purchase], book: Ledger) -> str:
    low, high = purchases[0], purchases[-1]
    ends = [book.say(f"最便宜的是 {low.gpu}（{number(low.price)} 元）", f"cheapest is the {low.gpu} ({number(low.price)} CNY)"),
            book.say(f"最贵的是 {high.gpu}（{number(high.price)} 元）", f"dearest is the {high.gpu} ({number(high.price)} CNY)")]  # fmt: skip
    if "dearest" in request.aspects and "cheapest" not in request.aspects:
        ends.reverse()
    return book.say(f"购卡价**{ends[0]}**，{ends[1]}。", f"To buy, the **{ends[0]}**, the {ends[1]}.")


def _gap(request: Request, low: str, cheaper: Decimal, high: str, dearer: Decimal, book: Ledger) -> str:
    """The dearer against the cheaper: ratio first if that was asked."""
    out = book.compute("price_difference", dearer=dearer, cheaper=cheaper).outputs
    gap = number(Decimal(out["difference"]))
    if not Decimal(out["difference"]):
        return book.say(f"**{high} 与 {low} 同价**：{number(dearer)} 元。", f"**{high} and {low} cost the same**: {number(dearer)} CNY.")  # fmt: skip
    both = book.say(f"{number(dearer)} 元对 {number(cheaper)} 元", f"{number(dearer)} against {number(cheaper)} CNY")
    if "ratio" in request.aspects:
        return book.say(f"**{high} 的价格是 {low} 的 {out['ratio']} 倍**：{both}，贵 {gap} 元（{out['surplus_percent']} %）。",
                        f"**Price of {high}: {out['ratio']}x that of {low}**, {both}; {gap} CNY more ({out['surplus_percent']} %).")  # fmt: skip
    return book.say(f"**{high} 比 {low} 贵 {gap} 元**：{both}，贵 {out['surplus_percent']} %，是 {out['ratio']} 倍（反过来便宜 {out['saving_percent']} %）。",
                    f"**{high}: {gap} CNY more than {low}**, {both}; {out['surplus_percent']} % more, {out['ratio']}x (the other way round {out['saving_percent']} % less).")  # fmt: skip


def _price_table(purchases: Sequence[Purchase], book: Ledger) -> str:
    rows = [
        [p.gpu, number(p.price), p.memory_as_printed or book.say("未印", "not printed"), book.say(p.remark_zh or "", p.remark_en or "")]
        for p in purchases
    ]  # fmt: skip
    headings = [
        book.say("显卡", "Card"),
        book.say("价格（元/张）", "Price (CNY per card)"),
        book.say("显存（印作）", "Memory as printed"),
        book.say("备注", "Remark"),
    ]
    return render.table(headings, rows)


def _remark(p: Purchase, book: Ledger) -> str:
    """The price of the one card, and what is printed beside it."""
    memory = book.say(f"，显存印作 {p.memory_as_printed}", f", memory printed as {p.memory_as_printed}") if p.memory_as_printed else ""  # fmt: skip
    remark = book.say(f"；{p.remark_zh}" if p.remark_zh else "", f"; {p.remark_en}" if p.remark_en else "")
    return book.say(f"{p.gpu} 单价 {number(p.price)} 元{memory}{remark}。", f"One {p.gpu}: {number(p.price)} CNY{memory}{remark}.")  # fmt: skip


def _gaps(request: Request, purchases: Sequence[Purchase], book: Ledger) -> str:
    """Cards that were named and have no purchase price."""
    have = {p.gpu for p in purchases}
    names = render.joined((render.name("gpu", g, book.language) for g in request.slots.gpus if g not in have), book.language)  # fmt: skip
    return book.say(f"没有购卡价的：{names}。", f"No purchase price is known for: {names}.") if names else ""


def _in_dollars(request: Request, book: Ledger) -> list[str]:
    """Launch and street prices in US dollars of the cards named, as rows of their own."""
    rows = book.catalog.find_purchases(request.slots.gpus, currency="USD") if request.slots.gpus else []
    if request.slots.forms:
        rows = [p for p in rows if p.gpu_form in request.slots.forms]
    if not rows:
        return []
    marks = "".join(book.cite_purchases([p for p in rows if p.source == source]) for source in dict.fromkeys(p.source for p in rows))  # fmt: skip
    table = render.table(
        [book.say("显卡", "Card"), book.say("价格（美元/张）", "Price (USD per card)"), book.say("性质", "Kind"), book.say("日期", "Date")],
        [[p.gpu_form or p.gpu, number(p.price), book.say(*MARKETS[p.market]), p.as_of or book.say("发售时", "at launch")] for p in rows],
    )  # fmt: skip
    return [book.say(f"美元购卡价（美国，税前，不含服务器）{marks}：", f"Purchase prices in US dollars (US, before tax, card alone) {marks}:"), table]  # fmt: skip


def _of_market(request: Request, book: Ledger) -> Finding | None:
    """The price of the market that the words ask for, before all others: a shop's listing, the price at launch."""
    s, markets = request.slots, markets_asked(request.question) or markets_asked(request.search_text)
    rows = [p for p in book.catalog.find_purchases(s.gpus, currency="USD") if p.market in markets] if s.gpus else []
    rows = [p for p in rows if not s.forms or p.gpu_form in s.forms]
    if not rows or (s.count or 1) > 1 or s.items:
        return None
    lines = []
    for p in rows:
        mark, price = book.cite_purchases([p]), render.amount(p.price, "USD", book.language)
        dated = book.say(f"，{p.as_of}", f", {p.as_of}") if p.as_of else ""
        kind = (
            book.say("亚马逊美国站挂牌价", "listed at Amazon US")
            if p.source == AMAZON
            else book.say(*MARKETS[p.market])
        )
        lines.append(book.say(f"**{p.gpu_form or p.gpu} {kind}：{price}**{mark}{dated}", f"**{p.gpu_form or p.gpu}, {kind}: {price}** {mark}{dated}"))  # fmt: skip
    others = book.catalog.find_purchases(s.gpus)
    return book.finding(
        "answered", "  \n".join(lines), *_in_dollars(request, book), _gaps(request, [*rows, *others], book)
    )


def _unpriced(request: Request, book: Ledger) -> Finding:
    """No purchase price in yuan: what there is in dollars, and the rent where buying was not said."""
    if asked := _of_market(request, book):
        return asked
    if dollars := _in_dollars(request, book):
        rent = price_selection.find(request, book) if "buy" not in request.aspects else []
        return book.finding("answered", *dollars, *(prices.listed(request, rent, book) if rent else ()), _gaps(request, book.catalog.find_purchases(request.slots.gpus, currency="USD"), book))  # fmt: skip
    if "buy" not in request.aspects and price_selection.find(request, book):
        return prices.look_up(request, book)
    names = render.joined((render.name("gpu", g, book.language) for g in request.slots.gpus), book.language)
    listed = render.joined((p.gpu for p in book.catalog.find_purchases()), book.language)
    return book.finding("not_in_knowledge", book.say(
        f"知识库里没有 {names} 的购卡价格。有购卡价的是：{listed}。", f"The knowledge base has no purchase price for {names}. It has one for: {listed}."))  # fmt: skip
