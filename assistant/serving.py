"""Answers about serving: tokens per second, time to the first token, users at a time, cards for a load, cost per million
tokens.

On the cards that are named; where none is, choosing.py ranks what there is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import choosing, render
from assistant.choice_bounds import PER_MILLION
from assistant.deployments import (
    Deployment,
    Load,
    Unfit,
    deployment,
    load_of,
    precisions_of,
    requests_call,
    tensor_degrees,
)
from assistant.evidence import Finding
from assistant.fit import fit, fit_on_cards
from assistant.fit_words import (
    cards_cell,
    cards_named,
    family_note,
    gap,
    mixture_note,
    notes_list,
    shape_note,
    tokens,
    told,
)
from assistant.ledger import Ledger
from assistant.load_words import cost_per_million, load_notes, rate, wanted
from assistant.offer_prices import Priced, prices_of
from assistant.own_token_cost import cost_of_rate
from assistant.served_model import Served, cards_asked, not_on_file, served, with_lengths
from assistant.training_subject import CardAsked
from assistant.understand import Request
from assistant.workload_words import ASKS

COST = re.compile(r"百万|100\s*万|1m(?![a-z])|million|成本|多少钱|价格|费用|cost|price|\$|how much", re.I)
NODE = 8
FITS, SERVES = (words for name, words in ASKS if name in ("fits", "serves"))
MANY = 2
OLDEST_BF16 = Decimal("8.0")  # compute capability; older cards have FP16 alone
ALONE = ("tokens_per_second_alone", "seconds_to_first_token_alone")


@dataclass(frozen=True)
class _Case:
    """A deployment on a card in question, kept, with the price it was costed at."""

    card: CardAsked
    found: Deployment
    price: Priced | None


def serving(request: Request, book: Ledger) -> Finding | None:
    """What serving takes or gives on the cards named; without cards the ranking of those that can."""
    if refusal := not_on_file(request, book):
        return refusal
    request = with_lengths(request)
    if PER_MILLION.search(request.question) and (found := cost_of_rate(request, book)):
        return found
    models = served(request, book)
    if not models:
        return cost_of_rate(request, book) or (_ask(book) if request.slots.gpus or request.slots.workload.concurrency else None)  # fmt: skip
    cards = cards_asked(request, book)
    if not cards:
        return choosing.choose(request, book)
    model = models[0]
    if model.shape is None or all(card.spec.bandwidth_gb_per_s is None for card in cards):
        return fit(request, book)
    if _asks_memory(request):
        return fit_on_cards(request, models, cards, book, _speed_beside(request, model, cards, book))
    return _on_cards(request, models, cards, book)


def _ask(book: Ledger) -> Finding:
    return book.finding("needs_detail", book.say(
        "要部署哪个模型，或多少 B 参数的模型？同时有多少人用也请说明。",
        "Which model, or a model of how many billion parameters, is to be served? And to how many users at a time?"))  # fmt: skip


def _asks_memory(request: Request) -> bool:
    """Whether it is to be held: a fit word, or cards with a context and users, and no speed or cost asked or demanded."""
    work, text = request.slots.workload, request.search_text
    if (
        work.slo_tokens_per_s
        or work.slo_ttft_s
        or work.requests_per_s
        or COST.search(text)
        or SERVES.search(text.lower())
    ):
        return False
    length, users = work.context_tokens or work.input_tokens, work.concurrency or 1
    if not length and users > 1:  # users alone are a matter of speed
        return False
    return bool(FITS.search(text.lower()) or (request.slots.count and length and work.concurrency))


def _speed_beside(request: Request, model: Served, cards: Sequence[CardAsked], book: Ledger) -> str:
    """What each of the users gets on the first kind of card that holds the load as asked."""
    load = replace(load_of(model, request.slots.workload), target=None)
    if not load.users or load.users < MANY:
        return ""
    for card in cards:
        for precision in precisions_of(model, request.slots.workload):
            found = deployment(model, card.spec, card.gpu, precision, load, (request.slots.count or 1,))
            if isinstance(found, Unfit) or found.replicas > 1:
                continue
            found.keep(load, book)
            who, each = cards_named(found.gpus, card.label, book), rate(found.figure("tokens_per_second_per_user"))
            first = rate(found.figure("seconds_to_first_token"))
            lengths = load.lengths
            return book.say(
                f"速度（估算）：{who} {precision}，{load.users} 人同时用时每人约 {each} tokens/s，首 token 等待秒数约 {first}（提示 {tokens(lengths.input_tokens)}、回答 {tokens(lengths.output_tokens)}）。",
                f"Speed (estimate): {precision} on {who} gives each of the {load.users} users about {each} tokens/s, seconds to the first token about {first} (prompts of {tokens(lengths.input_tokens)}, answers of {tokens(lengths.output_tokens)}).")  # fmt: skip
    return ""


def _in_sixteen_bits(precision: str, card: CardAsked) -> str:
    """BF16 where the card computes it, else FP16."""
    capability = card.spec.compute_capability
    return "fp16" if precision == "bf16" and capability and capability < OLDEST_BF16 else precision


def _on_cards(request: Request, models: Sequence[Served], cards: Sequence[CardAsked], book: Ledger) -> Finding | None:
    cases: list[_Case] = []
    costs = prices_of(request, cards, book)
    failed: list[tuple[CardAsked, Served, str, Unfit]] = []
    for model in models:
        load = load_of(model, request.slots.workload)
        for card in cards:
            for said in precisions_of(model, request.slots.workload) if model.shape else ():
                precision = _in_sixteen_bits(said, card)
                found = deployment(model, card.spec, card.gpu, precision, load, _counts(request, card, load))
                if isinstance(found, Unfit):
                    failed.append((card, model, precision, found))
                    continue
                found.keep(load, book)
                cases.append(_Case(card, found, costs.get(card.label)))
    if not cases:
        return _none(request, failed, book)
    load = load_of(models[0], request.slots.workload)
    marks = "".join(dict.fromkeys([book.cite_gpu(c.card.gpu) for c in cases if c.card.gpu] + [book.cite_model(m.row) for m in models if m.row]
                                  + [c.price.mark for c in cases if c.price]))  # fmt: skip
    heads = [_head(case, load, request, book) for case in cases[:1]] + [_failed(*each, book) for each in failed]
    heads[0] += marks if book.language == "zh" else f" {marks}"
    first = cases[0]
    formula = [render.formula(first.found.capacity.formula, book.language)]
    if load.requests_per_s:
        formula.append(
            render.formula(book.compute("request_rate", **requests_call(first.found, load)).formula, book.language)
        )
    return book.finding(
        "answered", "  \n".join(heads), _table(cases, load, book), "  \n".join(formula),
        _notes(models, cases, load, request, book), _bound(first, book),
    )  # fmt: skip


def _counts(request: Request, card: CardAsked, load: Load) -> tuple[int, ...]:
    """Cards of one copy to try: of a stated number all shares within a node under a load, else the largest."""
    work, count = request.slots.workload, request.slots.count
    if work.tensor_parallel or count is None:
        return (work.tensor_parallel,) if work.tensor_parallel else tensor_degrees(card.spec)
    shares = tuple(n for n in range(1, NODE + 1) if count % n == 0)
    return shares if load.is_stated else shares[-1:]


def _head(case: _Case, load: Load, request: Request, book: Ledger) -> str:
    """One bold line: the cards for the load, or the speed."""
    d, who = case.found, cards_named(case.found.gpus, case.card.label, book)
    name = f"{d.model.label} {d.precision}"
    if load.is_stated and request.slots.count is None:
        copies = (
            book.say(f"（{d.replicas} 个副本，每个 {d.gpus} 张）", f" ({d.replicas} copies of {d.gpus})")
            if d.replicas > 1
            else ""
        )
        return book.say(f"**{name} 要 {d.all_gpus} 张 {case.card.label}{copies}：{wanted(load, book)}**；{_served(d, book)}",
                        f"**{name} takes {d.all_gpus}× {case.card.label}{copies} for {wanted(load, book)}**; {_served(d, book)}")  # fmt: skip
    alone, first = (rate(d.figure(each)) for each in ALONE)
    speed = book.say(f"**{who} 跑 {name}：单用户约 {alone} tokens/s，首 token 约 {first} 秒**",
                     f"**{name} on {who}: about {alone} tokens/s for one user, first token after about {first} s**")  # fmt: skip
    if load.is_stated:
        speed = f"{_verdict(load, request.slots.count or d.all_gpus, case, book)}{book.say('；', '; ')}{speed}"
    return f"{speed}{book.say('；', '; ')}{_served(d, book)}"


def _verdict(load: Load, count: int, case: _Case, book: Ledger) -> str:
    """Whether the cards that there are carry the load."""
    d, who = case.found, cards_named(count, case.card.label, book)
    if d.all_gpus <= count:
        return book.say(
            f"**够：{who}{gap(who)}撑得住 {wanted(load, book)}**", f"**Enough: {who} for {wanted(load, book)}**"
        )
    needed = cards_named(d.all_gpus, case.card.label, book)
    return book.say(f"**不够：{wanted(load, book)}要 {needed}**", f"**Not enough: {wanted(load, book)} take {needed}**")


def _served(d: Deployment, book: Ledger) -> str:
    users, all_, each, first = (d.figure(n) for n in ("users_shown", "tokens_per_second", "tokens_per_second_per_user", "seconds_to_first_token"))  # fmt: skip
    return book.say(f"一个副本同时 {users:,} 个请求时合计约 {rate(all_)} tokens/s，每人 {rate(each)} tokens/s，首 token 等待秒数约 {rate(first)}",
                    f"one copy with {users:,} requests at a time gives about {rate(all_)} tokens/s in all, {rate(each)} tokens/s each, seconds to the first token about {rate(first)}")  # fmt: skip


def _failed(card: CardAsked, model: Served, precision: str, unfit: Unfit, book: Ledger) -> str:
    why = {"memory": ("显存放不下", "does not fit in its memory"), "speed": ("没有算力或带宽数据", "no speed figures are on file"),
           "target": ("达不到要求的速度或首 token 时间", "the wanted speed or first-token time is not reached")}[unfit.reason]  # fmt: skip
    return book.say(
        f"{card.label} 跑 {model.label} {precision}：{why[0]}。",
        f"{model.label} {precision} on {card.label}: {why[1]}.",
    )


def _none(request: Request, failed: Sequence[tuple[CardAsked, Served, str, Unfit]], book: Ledger) -> Finding | None:
    """Nothing runs: say why, and where memory is the reason what it would take."""
    if all(unfit.reason == "memory" for *_, unfit in failed):
        return fit(request, book)
    lines = [_failed(*each, book) for each in failed]
    return book.finding("answered", book.say(f"**做不到**：{lines[0]}", f"**Not possible**: {lines[0]}"), *lines[1:])


def _table(cases: Sequence[_Case], load: Load, book: Ledger) -> str:
    several = len({case.found.model.label for case in cases}) > 1
    costed = [case.price for case in cases if case.price]
    unit = render.unit(costed[0].currency, book.language) if costed else ""
    headings = [*([book.say("模型", "Model")] if several else []), book.say("配置", "Setup"), book.say("精度", "Precision"),
                book.say("单用户 tokens/s", "Tokens/s, one user"), book.say("首 token 秒数", "First token (s)"),
                book.say("同时请求", "Requests at a time"), book.say("合计 tokens/s", "Tokens/s in all"),
                book.say("显存最多容纳的请求", "Requests in memory"),
                *([book.say(f"每百万输出 token（{unit}）", f"Per million output tokens ({unit})")] if costed else [])]  # fmt: skip
    rows = []
    for case in cases:
        d = case.found
        cost = cost_per_million(d, case.price.per_gpu_hour, case.price.currency, book) if case.price else "—"
        copies = book.say(f"，{d.replicas:,} 个副本", f", {d.replicas:,} copies") if d.replicas > 1 else ""
        rows.append([*([d.model.label] if several else []), cards_cell(d.gpus, case.card.label, book) + copies, d.precision,
                     *(rate(d.figure(each)) for each in ALONE), f"{d.figure('users_shown'):,}", rate(d.figure("tokens_per_second")),
                     f"{d.figure('users_in_memory'):,}", *([cost] if costed else [])])  # fmt: skip
    return render.table(headings, rows)


def _notes(models: Sequence[Served], cases: Sequence[_Case], load: Load, request: Request, book: Ledger) -> str:
    notes = [family_note(request, book)]
    notes += [note for model in models for note in (mixture_note(model, book), shape_note(model, book))]
    notes += load_notes(load, book)
    if not request.slots.workload.precision and len({case.found.precision for case in cases}) > 1:
        notes.append(book.say("没说精度，16 位与 int4 都列出", "no precision was said: 16 bits and int4 are shown"))
    names = ("compute_share", "bandwidth_share", "communication", "interconnect", "load")
    over_pcie = bool(told(cases[0].found.capacity, ("interconnect",), book))
    for note in told(cases[0].found.capacity, names, book):
        notes.append(re.sub(r"（NVLink）| \(NVLink\)", "", note) if over_pcie else note)
    if any(case.found.precision == "fp16" for case in cases) and request.slots.workload.precision != "fp16":
        notes.append(book.say("早于 Ampere 的卡（计算能力不到 8.0）不支持 bf16，按 fp16 算", "cards older than Ampere (compute capability below 8.0) have no bf16: fp16 is taken"))  # fmt: skip
    notes += [case.price.note for case in cases if case.price]
    return notes_list(notes, book)


def _bound(case: _Case, book: Ledger) -> str:
    bound = rate(case.found.figure("bound_tokens_per_second"))
    return book.say(f"这是屋顶线估算，实测会有出入；带宽和算力全部用满的上限为 {bound} tokens/s。影响最大的是提示与回答的长度和精度。",
                    f"This is a roofline estimate and measurements will differ; with all bandwidth and compute used the bound is {bound} tokens/s. Prompt and answer lengths and precision change it most.")  # fmt: skip
