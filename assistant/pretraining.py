"""Answers about the time and money that training or fine-tuning takes: days, GPU-hours, cost, energy, and their range.

Every figure is one of training_cost, finetune_time or training_cost_from_rate, or a price row; memory is finetuning.py's
business. Measured ChatGLM runs are runs.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import prices, render, runs
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.training_compute import MFU_RANGE, MFU_RANGE_ONE_CARD
from assistant.evidence import Finding
from assistant.finetuning_cases import Job
from assistant.ledger import Ledger
from assistant.price_tables import per_gpu
from assistant.training_subject import CardAsked, Trained, cards_by_memory, cards_by_speed, peak, trained
from assistant.understand import Request
from knowledge.catalog import Offer

MEASURED = frozenset({"ChatGLM-6B", "ChatGLM2-6B"})
DEFAULT_CARDS = ("A100", "H100")  # where none was named
TUNING = frozenset({"finetuning"})
ROWS, TOKENS_PER_ROW, EPOCHS = 10_000, 512, 3
NODE = 8
TOKENS_PER_PARAMETER = 20  # compute-optimal: Hoffmann et al. 2022 (Chinchilla)
MEMORY_VERDICTS = {
    "fits": ("够", "holds it"), "tight": ("很紧", "is tight"), "no": ("放不下，要先解决显存", "does not hold it: settle that first"),
}  # fmt: skip


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
        return prices.refuse_unknown(request, book)
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
    heads: list[str] = []
    rows: list[list[str]] = []
    first: tuple[Run, Calculation, list[Price]] | None = None
    for card in cards:
        run = Run(model, amount, card, gpus, request, book)
        marks = book.cite_gpu(card.gpu) if card.gpu else ""
        found = _prices(request, run)
        price = found[0] if found else None
        result = run.compute(price)
        first = first or (run, result, found)
        heads.append(_head(run, result, price, marks))
        rows += list(_ends(run, result, price, one_line=bool(rows)))
    assert first
    run, result, found = first
    return [
        "  \n".join(heads),
        render.table([book.say("卡", "Cards"), "MFU", book.say("卡时", "GPU-hours"), book.say("天", "Days"), book.say("费用", "Cost")], rows),
        _other_prices(run, found),
        render.formula(result.formula, book.language),
        render.bullets([*_taken(run, result), *_memory(run, cards)]),
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
    taken = "" if work.training_tokens else book.say(f"{_many(tokens, book)} tokens（Chinchilla 的算力最优比例）", f"{_many(tokens, book)} tokens (compute-optimal by Chinchilla)")  # fmt: skip
    if rate := work.slo_tokens_per_s:
        return Amount("training_cost_from_rate", {"tokens": tokens, "tokens_per_second_per_gpu": rate}, f"{_many(tokens, book)} tokens", taken)  # fmt: skip
    return Amount("training_cost", {"tokens": tokens}, f"{_many(tokens, book)} tokens", taken)


def _prices(request: Request, run: Run) -> list[Price]:
    """The user's own price, else of each currency the lowest, middle and highest on-demand price; yuan first in Chinese."""
    s, book = request.slots, run.book
    if s.price_per_hour:
        return [Price(book.say("你给的价格", "your price"), s.price_per_hour, s.price_currency or "CNY")]
    if run.card.gpu is None:
        return []
    family = run.card.gpu.family
    found = []
    for currency in ("CNY", "USD") if book.language == "zh" else ("USD", "CNY"):
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


def _head(run: Run, result: Calculation, price: Price | None, marks: str) -> str:
    book, out = run.book, result.outputs
    time = _time(result, book)
    cost = f"{render.cash(Decimal(out['cost']), price.currency, book.language)}{book.say(f'（{price.label}）', f' ({price.label})')}" if price else ""  # fmt: skip
    hours = _shown(out["gpu_hours"])
    verb = book.say("微调" if run.amount.tool == "finetune_time" else "训练", "fine-tuning" if run.amount.tool == "finetune_time" else "training")  # fmt: skip
    marks += price.mark if price else ""
    return book.say(
        f"**{run.label} {verb} {run.model.label}（{run.amount.words}）：约 {time}，{hours} 卡时{f'，{cost}' if cost else '，没有可用的租价'}**{marks}",
        f"**{run.label}, {verb} {run.model.label} ({run.amount.words}): about {time}, {hours} GPU-hours{f', {cost}' if cost else '; no rent is known'}** {marks}")  # fmt: skip


def _ends(run: Run, result: Calculation, price: Price | None, *, one_line: bool) -> Iterator[list[str]]:
    """The ends of the usual range of MFU with what was taken between them; one line where the speed is known."""
    work = run.request.slots.workload
    known = one_line or work.mfu or run.amount.tool == "training_cost_from_rate"
    low, high = MFU_RANGE_ONE_CARD if run.gpus == 1 else MFU_RANGE
    for mfu in (None,) if known else (low, None, high):
        each = result if mfu is None else run.compute(price, mfu)
        out = each.outputs
        share = f"{_shown(out['mfu_percent'])} %" if "mfu_percent" in out else "—"
        cost = render.cash(Decimal(out["cost"]), price.currency, run.book.language) if price else "—"
        yield [run.label, share, _shown(out["gpu_hours"]), _shown(out["days"]), cost]


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


def _memory(run: Run, cards: Sequence[CardAsked]) -> Iterator[str]:
    """Whether the cards hold the training at all, once for each memory size."""
    if run.amount.tool == "training_cost_from_rate":
        return
    book, work = run.book, run.request.slots.workload
    sizes = {card.spec.memory_gib: card for card in cards_by_memory(run.request, book) or cards}
    job = Job(run.model, work, run.gpus, list(sizes.values()), book)
    case = job.case(job.settings()[-1 if work.method else 0])
    what, need = case.setting.words(book), case.figure("per_gpu_gib")
    each = [f"{card.label} {book.say(*MEMORY_VERDICTS[verdict])}" for card, verdict in zip(sizes.values(), case.verdicts, strict=True)]  # fmt: skip
    yield book.say(f"显存：{what}，开梯度检查点每卡约 {need} GiB：{'；'.join(each)}",
                   f"memory: {what} with checkpointing takes about {need} GiB per card: {'; '.join(each)}")  # fmt: skip


def _taken(run: Run, result: Calculation) -> list[str]:
    """What was taken because nobody said it, and the energy."""
    book, out = run.book, result.outputs
    lines = [book.say(f"没有说的按常用值：{run.amount.taken}", f"usual values where not said: {run.amount.taken}")] if run.amount.taken else []  # fmt: skip
    if not run.request.slots.count:
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


def _time(result: Calculation, book: Ledger) -> str:
    out = result.outputs
    if Decimal(out["days"]) >= 1:
        return f"{_shown(out['days'])} {book.say('天', 'days')}"
    return f"{_shown(out['hours'])} {book.say('小时', 'hours')}"


def _shown(value: Decimal | int | str) -> str:
    """Three digits or all before the point: 93,483, 48.7, 4.87, 0.487."""
    amount = Decimal(value)
    if amount >= 1:
        return f"{amount:,.0f}" if amount >= 100 else f"{amount:,.1f}" if amount >= 10 else f"{amount:,.2f}"
    return f"{amount:.{2 - amount.adjusted()}f}"


def _many(tokens: int, book: Ledger) -> str:
    """1 万亿 / 1 trillion, 300B, 6M; a T would read as terabytes."""
    for size, scale in ((10**12, book.say(" 万亿", " trillion")), (10**9, "B"), (10**6, "M")):
        if tokens >= size:
            return f"{number((Decimal(tokens) / size).quantize(Decimal('0.01')))}{scale}"
    return f"{tokens:,}"
