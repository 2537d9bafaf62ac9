"""Answers about the memory that training or fine-tuning takes: how much, part by part, whether cards hold it, what helps.

Writes what finetuning_cases.py has computed; which model and cards are meant is training_subject.py's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import memory, price_gaps, render
from assistant.calculator.calculation import number
from assistant.evidence import Bilingual, Finding
from assistant.finetuning_cases import (
    METHODS,
    PREFIX_TOKENS,
    RANK,
    SHARDINGS,
    Case,
    Job,
    Setting,
    adapter_targets,
    cluster_card,
    is_before_bf16,
    methods_named,
    sequence_and_batch,
    size_text,
)
from assistant.ledger import Ledger
from assistant.training_subject import CardAsked, Trained, cards_by_memory, of_row, trained
from assistant.understand import Request

PARTS = {
    "weights_gib": Bilingual(zh="权重", en="Weights"), "gradients_gib": Bilingual(zh="梯度", en="Gradients"),
    "optimizer_gib": Bilingual(zh="优化器状态", en="Optimizer states"), "activations_gib": Bilingual(zh="激活", en="Activations"),
    "logits_gib": Bilingual(zh="logits", en="Logits"), "gathered_gib": Bilingual(zh="ZeRO-3 临时聚合的权重", en="Weights gathered by ZeRO-3"),
    "buckets_gib": Bilingual(zh="通信缓冲", en="Communication buckets"), "overhead_gib": Bilingual(zh="运行时开销", en="Runtime overhead"),
}  # fmt: skip
VERDICTS = {
    "fits": Bilingual(zh="够", en="fits"), "tight": Bilingual(zh="很紧，可能 OOM", en="tight, may run out of memory"),
    "no": Bilingual(zh="放不下，会 OOM", en="does not fit"),
}  # fmt: skip
ANSWERS = {
    "fits": Bilingual(zh="够，不会 OOM", en="Yes, it fits"), "no": Bilingual(zh="放不下，会 OOM", en="No, it does not fit"),
    "tight": Bilingual(zh="很紧，可能 OOM", en="Tight: it may run out of memory"),
}  # fmt: skip
LADDER = ("Qwen2.5-0.5B", "Qwen2.5-1.5B", "Qwen2.5-3B", "Qwen2.5-7B", "Qwen2.5-14B", "Qwen2.5-32B", "Qwen2.5-72B")


def finetune_memory(request: Request, book: Ledger) -> Finding | None:
    """The memory that training takes, whether the cards named hold it, and what to change where they do not."""
    if request.slots.unknown:
        return price_gaps.refuse_unknown(request, book)
    if request.slots.workloads:
        return memory.memory(request, book)
    cards, models = cards_by_memory(request, book), trained(request, book)
    marks = "".join(dict.fromkeys(book.cite_gpu(card.gpu) for card in cards if card.gpu))
    if not models and not cards and "why" in request.aspects:
        return None  # a reason, which the documents give
    if not models:
        return _largest(request, cards, book) if cards else _ask(book)
    advice = memory.memory(request, book) if _asks_guide(request) else None
    parts = [part for model in models for part in _answer(request, model, cards, marks, book)]
    return book.finding("answered", advice.markdown if advice else "", *parts)


def _asks_guide(request: Request) -> bool:
    """Training a model that the guide recommends cards for, without a method of one's own."""
    return bool(set(request.slots.models) & set(memory.TRAINING)) and request.slots.workload.method is None


def _ask(book: Ledger) -> Finding:
    return book.finding("needs_detail", book.say(
        "要微调哪个模型，或多少 B 参数的模型？全参、LoRA 还是 QLoRA？手上是什么卡？",
        "Which model, or a model of how many billion parameters, is to be fine-tuned? Fully, by LoRA or by QLoRA? On which card?"))  # fmt: skip


def _answer(request: Request, model: Trained, cards: Sequence[CardAsked], marks: str, book: Ledger) -> list[str]:
    targets = adapter_targets(request.question)
    job = Job(model, request.slots.workload, request.slots.count or 1, cards, book, targets, methods_named(request.question))  # fmt: skip
    main = [job.case(setting) for setting in job.computable()]
    if not main:
        return [render.bullets([_frozen(job, job.settings()[0]), *_left_out(job)])]
    others = job.remedies(main)
    heads = [_verdict(model, main, card, at, book) for at, card in enumerate(cards)] or [_needed(job, main, book)]
    best = next((case for case in main if case.verdicts and set(case.verdicts) == {"fits"}), main[-1] if _one_method(main) else main[0])  # fmt: skip
    if model.row:
        marks += book.cite_model(model.row)
    return [
        "  \n".join([*heads, *_states(job, main[0].setting)]) + (marks if book.language == "zh" else f" {marks}"),
        _table(job, [*main, *others]),
        _by_part(main, book),
        render.formula(best.result.formula, book.language),
        _taken(job, main),
        _weighs_most(best, book),
    ]


def _one_method(main: Sequence[Case]) -> bool:
    return len({case.setting.method for case in main}) == 1


def _verdict(model: Trained, main: Sequence[Case], card: CardAsked, at: int, book: Ledger) -> str:
    """One line for a card: enough or not, by how much, and what it hangs on."""
    first, last = main[0], main[-1]
    gpus = first.setting.gpus
    who = card.label if gpus == 1 else f"{gpus} × {card.label}"
    if not _one_method(main):
        each = [_judged(case, at, book) for case in main]
        return book.say(f"**{who} 微调 {model.label}：{'；'.join(each)}**", f"**Fine-tuning {model.label} on {who}: {'; '.join(each)}**")  # fmt: skip
    how = _tuning(first.setting, book)
    if last.verdicts[at] == "fits" and first.verdicts[at] != last.verdicts[at]:
        without, with_ = VERDICTS[first.verdicts[at]], VERDICTS[last.verdicts[at]]
        return book.say(
            f"**取决于梯度检查点**：{_beside(who, how)} {model.label}，不开每卡约 {first.figure('per_gpu_gib')} GiB，**{without.zh}**；开了约 {last.figure('per_gpu_gib')} GiB，**{with_.zh}**。",
            f"**It depends on checkpointing**: {how} of {model.label} on {who} takes about {first.figure('per_gpu_gib')} GiB per card without it (**{without.en}**) and {last.figure('per_gpu_gib')} GiB with it (**{with_.en}**).")  # fmt: skip
    verdict = last.verdicts[at]
    shown = first if verdict == "fits" else last
    eased = verdict != "fits" and last.setting.checkpointing == "full"
    figures = f"{shown.figure('per_gpu_gib')} GiB" + book.say(f"（{shown.figure('per_gpu_gb')} GB）", f" ({shown.figure('per_gpu_gb')} GB)")  # fmt: skip
    return book.say(
        f"**{ANSWERS[verdict].zh}**：{_beside(who, how)} {model.label}，{'即使开梯度检查点，' if eased else ''}每卡要约 {figures}。",
        f"**{ANSWERS[verdict].en}**: {how} of {model.label} on {who} takes about {figures} per card{', even with checkpointing' if eased else ''}.")  # fmt: skip


def _tuning(setting: Setting, book: Ledger) -> str:
    """全参微调, LoRA 微调 / full fine-tuning, LoRA."""
    name = METHODS[setting.method][book.language]
    if book.language == "en" or name.endswith("微调"):
        return name
    return f"{name} 微调" if name.isascii() else f"{name}微调"


def _beside(label: str, words: str) -> str:
    """Label and words with a blank between them unless Chinese meets Chinese."""
    return f"{label} {words}" if label[-1].isascii() or words[0].isascii() else f"{label}{words}"


def _judged(case: Case, at: int, book: Ledger) -> str:
    how, verdict = METHODS[case.setting.method], VERDICTS[case.verdicts[at]]
    need = f"{case.figure('per_gpu_gib')} GiB"
    return book.say(f"{how.zh} {need}，{verdict.zh}", f"{how.en} {need}, {verdict.en}")


def _needed(job: Job, main: Sequence[Case], book: Ledger) -> str:
    """No card was named: the need, and the smallest card or the fewest 80 GB cards that hold it."""
    lines, open_checkpointing = [], len(main) > 1 and _one_method(main)
    for case in main:
        what = case.setting.words(book, checkpointing=open_checkpointing)
        need = book.say(f"约 {case.figure('per_gpu_gib')} GiB（{case.figure('per_gpu_gb')} GB）", f"about {case.figure('per_gpu_gib')} GiB ({case.figure('per_gpu_gb')} GB)")  # fmt: skip
        each = case.setting.gpus > 1
        lines.append(book.say(f"**{_beside(what, '微调')} {job.model.label}：{'每卡' if each else ''}{need}**，{_place(job, case, book)}",
                              f"**{job.model.label}, {what}: {need}{' per card' if each else ''}**; {_place(job, case, book)}"))  # fmt: skip
    return "  \n".join(lines)


def _place(job: Job, case: Case, book: Ledger) -> str:
    """最小要一张 24 GB 的卡 / 单卡放不下，ZeRO-3 要 2 × 80 GB 的卡."""
    if card := job.smallest_card(case.setting):
        return book.say(f"单卡至少要 {card.spec.name}", f"the smallest card size that holds it is {card.spec.name}")
    if spread := job.spread(case.setting):
        n, size = spread.setting.gpus, cluster_card(book).label
        return book.say(f"单卡放不下，ZeRO-3 至少 {n} 张 {size}", f"no single card holds it; with ZeRO-3 at least {n} × {size}")  # fmt: skip
    return book.say("单卡放不下", "no single card holds it")


def _states(job: Job, setting: Setting) -> list[str]:
    """What stays in memory whatever the sequence: 7B × 16 bytes = 112 GB, or the frozen weights of LoRA."""
    model, book = job.model, job.book
    if setting.method == "full":
        out = book.compute("training_memory", **model.arguments, method="full", optimizer=setting.optimizer).outputs
        each, held = number(Decimal(out["bytes_per_parameter"])), number(Decimal(out["states_gb"]))
        gib = size_text(out["states_gib"])
        return [book.say(f"光权重、梯度和优化器状态（不算激活）：{model.billions}B × {each} 字节 = **{held} GB**（{gib} GiB）。",
                         f"Weights, gradients and optimizer states alone, without activations: {model.billions}B × {each} bytes = **{held} GB** ({gib} GiB).")]  # fmt: skip
    if setting.method in ("lora", "qlora"):
        return [_frozen(job, setting)]
    return []


def _frozen(job: Job, setting: Setting) -> str:
    """The base weights that LoRA leaves as they are: 7B × 2 bytes = 14 GB."""
    model, book = job.model, job.book
    if setting.method == "qlora":
        out = book.compute("model_weights", **model.arguments, precision="nf4-dq", kept_precision="fp32").outputs
        how = book.say("4 位 NF4，词嵌入与输出层 32 位", "4-bit NF4, embedding and head in 32 bits")
    else:
        eight = job.work.precision in ("int8", "gptq-int8")
        out = book.compute("model_weights", **model.arguments, precision="int8" if eight else "bf16").outputs
        how = "int8" if eight else book.say("bf16，每参数 2 字节", "bf16, 2 bytes per parameter")
    size = f"{number(Decimal(out['total_gb']))} GB"
    gib = f"{size_text(out['total_gib'])} GiB"
    return book.say(f"其中冻结的基座权重（{how}）{size}（{gib}）。", f"Of that, the frozen base weights ({how}) are {size} ({gib}).")  # fmt: skip


def _table(job: Job, cases: Sequence[Case]) -> str:
    """Every way beside the others, with the verdict for each card."""
    book = job.book
    if len(cases) < 2:
        return ""
    checkpointing, sequence, batch = (len({getattr(case.setting, name) for case in cases}) > 1 for name in ("checkpointing", "sequence", "batch"))  # fmt: skip
    rows = [
        [case.setting.words(book, checkpointing=checkpointing, sequence=sequence, batch=batch) + _on_host(case, book),
         case.figure("per_gpu_gib"), case.figure("per_gpu_gb"),
         *(VERDICTS[verdict][book.language] for verdict in (case.verdicts if job.cards else ()))]
        for case in cases
    ]  # fmt: skip
    return render.table([book.say("做法", "Way"), book.say("每卡（GiB）", "Per card (GiB)"), book.say("每卡（GB）", "Per card (GB)"), *(card.label for card in job.cards)], rows)  # fmt: skip


def _on_host(case: Case, book: Ledger) -> str:
    """What offloading takes of the host's memory; empty where nothing is offloaded."""
    if case.setting.offload == "none":
        return ""
    return book.say(
        f"（占主机内存 {case.figure('host_gib')} GiB）", f" (takes {case.figure('host_gib')} GiB of host memory)"
    )


def _by_part(main: Sequence[Case], book: Ledger) -> str:
    """The parts of each main case in GiB; a part that none has is left out."""
    heads = [f"{case.setting.words(book, checkpointing=len(main) > 1 and _one_method(main))} (GiB)" for case in main]
    rows = [
        [name[book.language], *(case.figure(part) for case in main)]
        for part, name in PARTS.items()
        if any(Decimal(case.result.outputs[part]) for case in main)
    ]
    return render.table([book.say("每卡各部分", "Part, per card"), *heads], rows)


def _taken(job: Job, main: Sequence[Case]) -> str:
    """What was taken because nobody said it."""
    book, work, setting, model = job.book, job.work, main[0].setting, job.model
    said = (work.context_tokens or work.tokens_per_row) and work.batch_size
    lines = [book.say("按", "Reckoned for ") + sequence_and_batch(setting, book) + ("" if said else book.say("（未说的取常用值）", " (usual values where not said)")), *_method_notes(job, main)]  # fmt: skip
    if model.lender:
        lines.append(book.say(f"只说了大小：层数、宽度和词表按 {model.lender}", f"only the size is given: layers, width and vocabulary are those of {model.lender}"))  # fmt: skip
    if work.checkpointing is None and (len(main) == 1 or not _one_method(main)):
        lines.append(book.say("开梯度检查点", "with checkpointing"))
    if setting.gpus > 1 and work.zero_stage is None:
        lines.append(book.say(f"多卡方式没有说，{_beside('按', SHARDINGS[setting.sharding].zh)}", f"how the cards share is not said: taken as {SHARDINGS[setting.sharding].en}"))  # fmt: skip
    lines += [a.text[book.language] for name in ("shape", "overhead_gib") for a in main[0].result.assumptions if a.name == name]  # fmt: skip
    for card, result in zip(job.cards, main[0].on_cards, strict=True):
        usable = f"{size_text(result.outputs['usable_gib'])} GiB"
        lines.append(book.say(f"{_beside(card.label, '扣除驱动保留后可用约')} {usable}", f"{card.label}: about {usable} usable after what the driver keeps"))  # fmt: skip
    return render.bullets(lines)


def _method_notes(job: Job, main: Sequence[Case]) -> list[str]:
    """What the methods rest on: the adapter's size, the layers trained, optimizer and precision, the host's memory."""
    book, work, model = job.book, job.work, job.model
    lines, methods, rank = _left_out(job), {case.setting.method for case in main}, job.work.lora_rank or RANK
    if methods & {"lora", "qlora"} and model.shape:
        adapter = book.compute("lora_parameters", model=model.shape, rank=rank, targets=job.targets)
        where = render.joined(job.targets, book.language)
        lines.append(book.say(f"LoRA 秩 {rank}，加在 {where} 上：可训练 {int(adapter.value):,} 个参数", f"LoRA of rank {rank} on {where}: {int(adapter.value):,} trainable parameters"))  # fmt: skip
    for case in main:
        if case.setting.method == "p-tuning":
            trained_parameters = f"{int(Decimal(case.result.outputs['trainable_parameters'])):,}"
            lines.append(book.say(f"P-Tuning v2 每层训练 {PREFIX_TOKENS} 个前缀 token 的 K 和 V：可训练 {trained_parameters} 个参数，基座 16 位冻结",
                                  f"P-Tuning v2 trains K and V of {PREFIX_TOKENS} prefix tokens in every layer: {trained_parameters} trainable parameters, the base frozen in 16 bits"))  # fmt: skip
    if "freeze" in methods:
        lines.append(book.say("只训练最后 2 层", "only the last 2 layers are trained"))
    if "full" in methods and not (work.optimizer or work.precision):
        sixteen = "fp16" if job.cards and all(is_before_bf16(card) for card in job.cards) else "bf16"
        lines.append(book.say(f"{sixteen} 混合精度加 Adam", f"{sixteen} mixed precision with Adam"))
    if main[0].setting.offload != "none":
        lines.append(book.say("卸载", "offloading") + _on_host(main[0], book))
    return lines


def _left_out(job: Job) -> list[str]:
    """Why LoRA and QLoRA have no row."""
    if job.can_compute("lora"):
        return []
    label = job.model.label
    return [job.book.say(f"没有列 LoRA/QLoRA：{label} 用 MLA 注意力，没有单独的 k、v 投影，适配器的大小算不出；只加在 q、o 上可以算",
                         f"LoRA and QLoRA are left out: {label} uses MLA attention without separate k and v projections, so the adapter cannot be sized; on q and o alone it can")]  # fmt: skip


def _weighs_most(case: Case, book: Ledger) -> str:
    """The largest part, and what makes it smaller."""
    out = {part: Decimal(case.result.outputs[part]) for part in PARTS}
    if case.passes_most:
        passing = max(("activations_gib", "logits_gib"), key=lambda part: out[part])
        name, eased = PARTS[passing], passing == "activations_gib" and case.setting.checkpointing == "none"
        return book.say(f"占得最多的是{'激活' if passing == 'activations_gib' else ' logits'}（{case.figure(passing)} GiB）：{'开梯度检查点、' if eased else ''}缩短序列、减小 batch 最有效。",
                        f"What takes most is {name.en.lower()} ({case.figure(passing)} GiB): {'checkpointing, ' if eased else ''}a shorter sequence or a smaller batch helps most.")  # fmt: skip
    held = case.figure("states_gib")
    return {
        "qlora": book.say(f"占得最多的是 4 位基座权重（{held} GiB）：已经很小，再要省只能用 ZeRO-3/FSDP 分到多卡。",
                          f"What takes most is the 4-bit base ({held} GiB): little is left to save but ZeRO-3 or FSDP over more cards."),
        "lora": book.say(f"占得最多的是基座权重（{held} GiB）：改用 QLoRA 最有效，其次是 ZeRO-3/FSDP 分到多卡。",
                         f"What takes most is the base model ({held} GiB): QLoRA helps most, then ZeRO-3 or FSDP over more cards."),
    }.get("lora" if case.setting.method == "p-tuning" else case.setting.method, book.say(f"占得最多的是权重、梯度和优化器状态（{held} GiB）：改用 LoRA/QLoRA、ZeRO-3/FSDP 多卡切分或卸载到内存最有效。",
                                        f"What takes most is weights, gradients and optimizer states ({held} GiB): LoRA or QLoRA, ZeRO-3 or FSDP over more cards, or offloading help most."))  # fmt: skip


def _largest(request: Request, cards: Sequence[CardAsked], book: Ledger) -> Finding:
    """No model was named: which sizes of one family the first card can tune, by each method."""
    card, gpus = cards[0], request.slots.count or 1
    rows, largest, methods = [], dict[str, str](), dict[str, str]()
    for name in LADDER:
        if (row := book.catalog.model(name)) is None:
            continue
        job = Job(of_row(row), request.slots.workload, gpus, [card], book)
        cases = {case.setting.method: case for case in map(job.case, job.settings())}  # of a method the eased case
        methods = {method: METHODS[method][book.language] for method in cases}
        largest |= {method: name for method, case in cases.items() if case.verdicts == ("fits",)}
        rows.append([name, *(f"{case.figure('per_gpu_gib')} · {VERDICTS[case.verdicts[0]][book.language]}" for case in cases.values())])  # fmt: skip
    fitting = [row for name in dict.fromkeys(largest.values()) if (row := book.catalog.model(name))]
    marks = "".join(dict.fromkeys(map(book.cite_model, fitting)))
    who = card.label if gpus == 1 else f"{gpus} × {card.label}"
    each = [f"{label} {largest.get(method) or book.say('一个也放不下', 'none of them')}" for method, label in methods.items()]  # fmt: skip
    head = book.say(f"**{_beside(who, '能微调的最大一档')}：{'；'.join(each)}**", f"**Largest model that {who} can tune: {'; '.join(each)}**")  # fmt: skip
    note = book.say(f"按{sequence_and_batch(Setting('full'), book)}、开梯度检查点；以 Qwen2.5 各尺寸为例{marks}。",
                    f"Reckoned for {sequence_and_batch(Setting('full'), book)}, with checkpointing, on the sizes of Qwen2.5 {marks}.")  # fmt: skip
    headings = [book.say("模型", "Model"), *(f"{label} (GiB)" for label in methods.values())]
    return book.finding("answered", head, render.table(headings, rows), note)
