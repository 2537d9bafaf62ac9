"""Answers about the time and money that training or fine-tuning takes: days, GPU-hours, cost, energy, and their range.

Every figure is one of training_cost, finetune_time or training_cost_from_rate, or a price row; memory is finetuning.py's
business. Measured ChatGLM runs are runs.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import price_gaps, render, runs
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.training_compute import MFU_RANGE, MFU_RANGE_ONE_CARD
from assistant.evidence import Finding
from assistant.finetuning_cases import Job, adapter_targets
from assistant.ledger import Ledger
from assistant.price_tables import per_gpu
from assistant.reading import Period
from assistant.training_goals import (
    budget_words,
    cards_until,
    deadline,
    holds,
    memory_words,
    method_name,
    tried_methods,
)
from assistant.training_subject import CardAsked, Trained, cards_by_memory, cards_by_speed, peak, trained
from assistant.training_words import in_days, many_tokens, three_digits
from assistant.understand import Request
from knowledge.catalog import Offer

MEASURED = frozenset({"ChatGLM-6B", "ChatGLM2-6B"})
DEFAULT_CARDS = ("A100", "H100")  # where none was named
TUNING = frozenset({"finetuning"})
ROWS, TOKENS_PER_ROW, EPOCHS = 10_000, 512, 3
NODE = 8
TOKENS_PER_PARAMETER = 20  # compute-optimal: Hoffmann et al. 2022 (Chinchilla)


@dataclass(frozen=True)
class Price:
    """What a GPU-hour costs, and whose price that is."""

    label: str
    per_gpu_hour: Decimal
    currency: str
    mark: str = ""


@dataclass(frozen=True)
class Amount:
    """What a model is trained on: the calculator and its arguments, in words, and what of it was taken."""

    tool: str
    arguments: dict[str, object]
    words: str
    taken: str = ""


@dataclass(frozen=True)
class Run:
    """One model on so many of one card."""

    model: Trained
    amount: Amount
    card: CardAsked
    gpus: int
    request: Request
    book: Ledger

    def compute(self, price: Price | None, mfu: Decimal | None = None) -> Calculation:
        """The run at the default MFU, one said, or one end of its range. Raises ToolError."""
        work = self.request.slots.workload
        given: dict[str, object] = {**self.amount.arguments, "gpus": self.gpus}
        if price:
            given |= {"price_per_gpu_hour": price.per_gpu_hour, "currency": price.currency}
        if self.amount.tool != "training_cost_from_rate":
            given |= {"active_parameters": self.model.active_parameters, "peak_dense_tflops": peak(self.card.spec),
                      "mfu": mfu or work.mfu, "recompute": "full" if work.checkpointing else "none"}  # fmt: skip
        return self.book.compute(self.amount.tool, **given)

    def needed(self, hours: Decimal, mfu: Decimal | None = None) -> int:
        """The fewest of these cards that are done in time; tried on the side."""
        aside = replace(self, book=Ledger(self.book.catalog, self.book.language))
        return cards_until(hours, lambda n: Decimal(replace(aside, gpus=n).compute(None, mfu).outputs["gpu_hours"]))

    @property
    def label(self) -> str:
        return f"{self.gpus} × {self.card.label}"


def history(request: Request, book: Ledger) -> Finding:
    """How long or how dear somebody's training was: no table holds that; what there is, and what an estimate needs."""
    names = render.joined([render.name("model", m, book.language) for m in request.slots.models], book.language)
    return book.finding("not_in_knowledge", book.say(
        f"知识库里没有{'训练 ' + names + ' ' if names else '这类训练'}实际用了多久、花了多少的记录；有实测时长的只是 ChatGLM 和 ChatGLM2 在 RTX 4090 上的微调。说出卡的型号、张数和训练的 token 数（或条数），可以估算。",
        f"The knowledge base has no record of how long training {names or 'that model'} took or what it cost; only ChatGLM and ChatGLM2 fine-tuning on an RTX 4090 was measured. With card, number of cards and training tokens (or rows) an estimate can be made."))  # fmt: skip


def train_cost(request: Request, book: Ledger) -> Finding | None:
    """Days, GPU-hours, money and energy of a training run on the cards named."""
    s = request.slots
    if s.unknown:
        return price_gaps.refuse_unknown(request, book)
    models = trained(request, book)
    if models and {model.label for model in models} <= MEASURED and s.rows and set(s.gpus) <= {"RTX 4090"}:
        return runs.training_time(request, book)
    if not models and s.workload.slo_tokens_per_s and s.workload.training_tokens:
        models = [Trained(book.say("模型", "the model"), Decimal(0), None)]
    if not models:
        return None if s.methods or s.workloads else _ask(book)
    cards = cards_by_speed(request, book) or ([] if s.gpus else _usual(request, book))
    if not cards:
        return _no_speed(request, book)
    parts = [part for model in models for part in _answer(request, model, cards, book)]
    if s.methods and not s.workload.tokens_per_row and set(s.rows) & {run.rows for run in book.catalog.training_runs}:
        # The measured data set, but a model or card that was not run: say that before the estimate.
        return book.finding("not_in_knowledge", runs.training_time(request, book).markdown, *parts)
    return book.finding("answered", *parts)


def _ask(book: Ledger) -> Finding:
    return book.finding("needs_detail", book.say(
        "要训练哪个模型，或多少 B 参数的模型？用多少 token（或多少条数据、几轮），几张什么卡？",
        "Which model, or a model of how many billion parameters, on how many tokens (or rows and epochs), and on how many of which card?"))  # fmt: skip


def _no_speed(request: Request, book: Ledger) -> Finding:
    names = render.joined((render.name("gpu", gpu, book.language) for gpu in request.slots.gpus), book.language)
    return book.finding("not_in_knowledge", book.say(
        f"知识库里没有 {names} 的稠密 BF16/FP16 算力，算不出训练时间。", f"No dense BF16 or FP16 rate is known for the {names}, so the training time cannot be computed."))  # fmt: skip


def _usual(request: Request, book: Ledger) -> list[CardAsked]:
    """The usual training cards where none was named: of each the fastest form."""
    cards = (cards_by_speed(replace(request, slots=replace(request.slots, gpus=(gpu,), forms=())), book)[:1] for gpu in DEFAULT_CARDS)  # fmt: skip
    return [card for found in cards for card in found]


def _answer(request: Request, model: Trained, cards: Sequence[CardAsked], book: Ledger) -> list[str]:
    amount = _amount(request, model, book)
    if amount.tool == "training_cost_from_rate":
        cards = cards[:1]  # the speed is said: the forms do not differ
    tuning = amount.tool == "finetune_time"
    gpus = request.slots.count or (1 if tuning else NODE)
    until = deadline(request)
    heads: list[str] = []
    rows: list[list[str]] = []
    first: tuple[Run, Calculation, list[Price]] | None = None
    for card in cards:
        run = Run(model, amount, card, gpus, request, book)
        if until:
            run = replace(run, gpus=run.needed(until.hours))
        marks = book.cite_gpu(card.gpu) if card.gpu else ""
        found = _prices(request, run)
        price = found[0] if found else None
        result = run.compute(price)
        first = first or (run, result, found)
        heads.append(_head(run, result, price, marks, cards))
        rows += list(_ends(run, result, price, one_line=bool(rows)))
    assert first
    run, result, found = first
    return [
        "  \n".join(heads),
        render.table([book.say("卡", "Cards"), "MFU", book.say("卡时", "GPU-hours"), book.say("天", "Days"), book.say("费用", "Cost")], rows),
        _other_prices(run, found),
        render.formula(result.formula, book.language),
        render.bullets([*_taken(run, result), *filter(None, (_memory(run, cards)[0],))]),
        _changes(run, result),
    ]  # fmt: skip


def _amount(request: Request, model: Trained, book: Ledger) -> Amount:
    """The tokens or rows said, else the usual: compute-optimal tokens, or a small data set for fine-tuning."""
    work = request.slots.workload
    rows = work.rows or next(iter(request.slots.rows), None)
    tuning = bool(rows) or work.purpose in TUNING or work.method in ("lora", "qlora")
    if tuning and not work.training_tokens:
        per_row, epochs = work.tokens_per_row or work.context_tokens or TOKENS_PER_ROW, work.epochs or Decimal(EPOCHS)
        usual = [
            book.say(f"数据 {ROWS:,} 条", f"{ROWS:,} rows") if not rows else "",
            book.say(f"每条 {TOKENS_PER_ROW} tokens", f"{TOKENS_PER_ROW} tokens per row") if not (work.tokens_per_row or work.context_tokens) else "",
            book.say(f"{EPOCHS} 轮", f"{EPOCHS} epochs") if not work.epochs else "",
        ]  # fmt: skip
        words = book.say(f"{rows or ROWS:,} 条 × {number(Decimal(per_row))} tokens × {number(epochs)} 轮",
                         f"{rows or ROWS:,} rows × {number(Decimal(per_row))} tokens × {number(epochs)} epochs")  # fmt: skip
        return Amount("finetune_time", {"rows": rows or ROWS, "tokens_per_row": per_row, "epochs": epochs}, words, render.joined(filter(None, usual), book.language))  # fmt: skip
    tokens = work.training_tokens or int(model.active_parameters * TOKENS_PER_PARAMETER)
    tokens = int(tokens * (work.epochs or 1))
    taken = "" if work.training_tokens else book.say(f"{many_tokens(tokens, book)} tokens（Chinchilla 的算力最优比例）", f"{many_tokens(tokens, book)} tokens (compute-optimal by Chinchilla)")  # fmt: skip
    if rate := work.slo_tokens_per_s:
        return Amount("training_cost_from_rate", {"tokens": tokens, "tokens_per_second_per_gpu": rate}, f"{many_tokens(tokens, book)} tokens", taken)  # fmt: skip
    return Amount("training_cost", {"tokens": tokens}, f"{many_tokens(tokens, book)} tokens", taken)


def _prices(request: Request, run: Run) -> list[Price]:
    """The user's own price, else of each currency the lowest, middle and highest on-demand price; yuan first in Chinese."""
    s, book = request.slots, run.book
    if s.price_per_hour:
        return [Price(book.say("你给的价格", "your price"), s.price_per_hour, s.price_currency or "CNY")]
    if run.card.gpu is None:
        return []
    family = run.card.gpu.family
    found = []
    order = (
        ("CNY", "USD") if (s.money_currency or ("CNY" if book.language == "zh" else "USD")) == "CNY" else ("USD", "CNY")
    )
    for currency in order:
        offers = _of_form(book.catalog.find_offers([family], s.providers, currency=currency, gpu_count=run.gpus), run)
        for offer in dict.fromkeys([*offers[:1], *offers[len(offers) // 2 :][:1], *offers[-1:]]):
            label = f"{render.name('provider', offer.provider, book.language)}{book.say('，', ', ') + offer.as_of if offer.as_of else ''}"  # fmt: skip
            found.append(Price(label, per_gpu(offer), currency, book.cite_offers([offer], gpu=family, currency=currency)))  # fmt: skip
    return found


def _of_form(offers: Sequence[Offer], run: Run) -> list[Offer]:
    """The rows of this form, else those that name no form; all rows where the forms are equally fast."""
    if run.card.gpu is None or run.card.label != run.card.gpu.name:
        return list(offers)
    return [o for o in offers if o.gpu_form == run.card.gpu.name] or [o for o in offers if not o.gpu_form]


def _head(run: Run, result: Calculation, price: Price | None, marks: str, cards: Sequence[CardAsked]) -> str:
    """The verdicts on memory and budget where they decide, then the time and the price."""
    book, out = run.book, result.outputs
    time, hours = in_days(result, book), three_digits(out["gpu_hours"])
    cost = f"{render.cash(Decimal(out['cost']), price.currency, book.language)}{book.say(f'（{price.label}）', f' ({price.label})')}" if price else ""  # fmt: skip
    tuning = run.amount.tool == "finetune_time"
    verb = book.say("微调" if tuning else "训练", "fine-tuning" if tuning else "training")
    marks += price.mark if price else ""
    memory, possible, method = _memory(run, cards)
    done = render.joined(filter(None, (run.amount.words, method)), book.language)
    until = deadline(run.request)
    if until:
        counts = _counts(run, until)
        spread = book.say(f"（MFU 高低不同时 {'–'.join(counts)} 张）", f" ({'–'.join(counts)} over the usual range of MFU)") if len(counts) > 1 else ""  # fmt: skip
        line = book.say(f"**{until.text}{verb}完 {run.model.label}（{done}）要 {run.label}{spread}：{hours} 卡时，约 {time}{f'，{cost}' if cost else ''}**{marks}",
                        f"**{run.label}{spread} to finish {verb} {run.model.label} ({done}) within {until.text}: {hours} GPU-hours, about {time}{f', {cost}' if cost else ''}** {marks}")  # fmt: skip
    else:
        line = book.say(f"**{run.label} {verb} {run.model.label}（{done}）：约 {time}，{hours} 卡时{f'，{cost}' if cost else '，没有可用的租价'}**{marks}",
                        f"**{run.label}, {verb} {run.model.label} ({done}): about {time}, {hours} GPU-hours{f', {cost}' if cost else '; no rent is known'}** {marks}")  # fmt: skip
    if not possible:
        line = book.say("只按算力算（要先解决显存）：", "By speed alone (memory has to be settled first): ") + line.replace("**", "")  # fmt: skip
    low = run.compute(price, _range(run)[0]) if price else result
    budget = budget_words(run.request, result, low, price.per_gpu_hour, price.currency, book) if price else ""
    lead = f"**{memory}**" if memory and (method or not possible) else ""
    return "  \n".join(filter(None, (lead, budget, line)))


def _counts(run: Run, until: Period) -> list[str]:
    """The cards that it takes to be done in time at the ends of the usual MFU, fewest first; each kept as a call."""
    ends = [(replace(run, gpus=run.needed(until.hours, mfu)), mfu) for mfu in reversed(_range(run))]
    for each, mfu in ends:
        each.compute(None, mfu)
    return list(dict.fromkeys(f"{each.gpus:,}" for each, _ in ends))


def _range(run: Run) -> tuple[Decimal | None, ...]:
    """The low and the high end of the usual MFU; the one there is where it, or the speed, is said."""
    if run.request.slots.workload.mfu or run.amount.tool == "training_cost_from_rate":
        return (None,)
    return MFU_RANGE_ONE_CARD if run.gpus == 1 else MFU_RANGE


def _ends(run: Run, result: Calculation, price: Price | None, *, one_line: bool) -> Iterator[list[str]]:
    """The ends of the usual range of MFU with what was taken between them; one line where the speed is known."""
    ends, until = _range(run), deadline(run.request)
    for mfu in (None,) if one_line or len(ends) == 1 else (ends[0], None, ends[-1]):
        at = replace(run, gpus=run.needed(until.hours, mfu)) if until and mfu else run
        each = result if mfu is None else at.compute(price, mfu)
        out = each.outputs
        share = f"{three_digits(out['mfu_percent'])} %" if "mfu_percent" in out else "—"
        cost = render.cash(Decimal(out["cost"]), price.currency, run.book.language) if price else "—"
        yield [at.label, share, three_digits(out["gpu_hours"]), three_digits(out["days"]), cost]


def _other_prices(run: Run, found: Sequence[Price]) -> str:
    """What the run costs at every price there is, where there is more than one."""
    book = run.book
    if len(found) < 2:
        return ""
    rows = [
        [price.label, render.amount(price.per_gpu_hour, price.currency, book.language, "hour"),
         render.cash(Decimal(run.compute(price).outputs["cost"]), price.currency, book.language)]
        for price in found
    ]  # fmt: skip
    return render.table([book.say(f"{run.label} 租自", f"{run.label}, rented from"), book.say("每卡租价", "Per GPU"), book.say("费用", "Cost")], rows)  # fmt: skip


def _memory(run: Run, cards: Sequence[CardAsked]) -> tuple[str, bool, str]:
    """The memory of the ways tried, whether one of them runs, and its name where it is not the first."""
    if run.amount.tool == "training_cost_from_rate":
        return "", True, ""
    book, request = run.book, run.request
    sizes = {card.spec.memory_gib: card for card in cards_by_memory(request, book) or cards}
    if len(cards) > 1 and run.card.label == run.card.spec.name:  # a form of its own speed has its own memory
        sizes = {run.card.spec.memory_gib: run.card}
    job = Job(run.model, request.slots.workload, run.gpus, list(sizes.values()), book, adapter_targets(request.question))  # fmt: skip
    tried = tried_methods(job, tuning=run.amount.tool == "finetune_time")
    if not tried:
        return "", True, ""
    words = book.say("显存：", "memory: ") + memory_words(tried, list(sizes.values()), book)
    return words, holds(tried[-1]), method_name(tried[-1], book) if len(tried) > 1 and holds(tried[-1]) else ""


def _taken(run: Run, result: Calculation) -> list[str]:
    """What was taken because nobody said it, and the energy."""
    book, out = run.book, result.outputs
    lines = [book.say(f"没有说的按常用值：{run.amount.taken}", f"usual values where not said: {run.amount.taken}")] if run.amount.taken else []  # fmt: skip
    if not run.request.slots.count and not deadline(run.request):
        lines.append(book.say(f"没说卡数，按 {run.gpus} 张", f"the number of cards is not said: {run.gpus} taken"))
    if run.model.is_mixture:
        lines.append(book.say("MoE 按激活参数算", "a mixture of experts: active parameters count"))
    shown = {"mfu", "scaling", *({"method"} if run.request.slots.workload.method in ("lora", "qlora") else ())}
    lines += [f"{a.text[book.language]}{_source(a.source, book) if a.name == 'mfu' else ''}" for a in result.assumptions if a.name in shown]  # fmt: skip
    if watts := run.card.spec.tdp_w:
        power = book.compute("energy", gpus=run.gpus, hours=out["hours"], gpu_watts=watts)
        lines.append(book.say(f"用电：{power.formula}", f"energy: {power.formula}") + book.say("，只算 GPU 与机房损耗", ", GPUs and site losses only"))  # fmt: skip
    return lines


def _source(source: str, book: Ledger) -> str:
    """Who measured it, without the figures."""
    names = "Llama 2, LLaMA, Falcon-180B, DeepSeek-V3, llm-foundry, torchtitan" if "Llama" in source else ""
    return book.say(f"；依据：{names}", f"; from {names}") if names else ""


def _changes(run: Run, result: Calculation) -> str:
    book = run.book
    if run.amount.tool == "training_cost_from_rate":
        return book.say("天数和费用与 token 数成正比，与实测速度成反比。", "Days and cost grow with the tokens and fall with the measured speed.")  # fmt: skip
    return book.say("影响最大的是 MFU（上表两端）；费用与参数量、token 数和租价都成正比，加卡只缩短天数，不省钱。",
                    "MFU changes it most (see the ends of the table); cost grows with parameters, tokens and rent, and more cards shorten the days, not the bill.")  # fmt: skip
