"""Answers about GPU memory: the articles' needs and card recommendations, and how many cards of a size that takes.

Only what the recommendation table holds; it derives no need from a model's size.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.kind_words import trained_from_scratch
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.catalog import MemoryAdvice

COMMON_SIZES_GB = (Decimal(24), Decimal(40), Decimal(48), Decimal(80))
TRAINING = {"Falcon-40B": "train-falcon-40b", "LLaMA-65B": "train-llama-65b"}
RUNNING = {"Falcon-40B": "run-falcon-40b", "MPT-30B": "run-mpt-30b"}
WORKLOAD_NAMES = {
    "run-falcon-40b": ("运行 Falcon-40B", "running Falcon-40B"), "run-mpt-30b": ("运行 MPT-30B", "running MPT-30B"),
    "train-llama-65b": ("训练 LLaMA (65B)", "training LLaMA (65B)"), "train-falcon-40b": ("训练 Falcon (40B)", "training Falcon (40B)"),
    "finetune-large": ("大规模微调 LLM", "large-scale fine-tuning of an LLM"), "finetune-small": ("小规模微调 LLM", "small-scale fine-tuning of an LLM"),
}  # fmt: skip


def memory(request: Request, book: Ledger) -> Finding | None:
    """What a workload of the table needs and whether the cards named are enough; None = not a question of this table."""
    found = [row for key in workloads(request) if (row := book.catalog.find_advice(key))]
    if not found:
        return _only_training(request, book)
    parts = []
    for row in found:
        parts += _need(request, row, book) if row.memory_min_gb else _cards(request, row, book)
    return book.finding("answered", *parts)


def workloads(request: Request) -> list[str]:
    """Keys of the recommendation table that the names in the question mean; running is meant where training is not said."""
    table = TRAINING if "training" in request.aspects else RUNNING
    bare = trained_from_scratch(request.slots)  # "train a 65B from scratch" names no model
    models = (*request.slots.models, bare) if bare else request.slots.models
    return [*request.slots.workloads, *(table[model] for model in models if model in table)]


def _only_training(request: Request, book: Ledger) -> Finding | None:
    """Running a model for which only a training recommendation exists: say so, and show that as what it is."""
    models = [model for model in request.slots.models if model in TRAINING]
    rows = [row for model in models if (row := book.catalog.find_advice(TRAINING[model]))]
    if not rows:
        return None
    names = render.joined((render.name("model", model, book.language) for model in models), book.language)
    head = book.say(f"**没有运行（推理）{names} 要多少显存的数据**，只有训练它的建议：",
                    f"**No memory need is known for running {names}**; there is only a recommendation for training it:")  # fmt: skip
    return book.finding("not_in_knowledge", head, *(part for row in rows for part in _cards(request, row, book)))


def _need(request: Request, row: MemoryAdvice, book: Ledger) -> list[str]:
    """A need in GB: the verdict for each card in question, then how many cards it takes."""
    assert row.memory_min_gb
    assert row.memory_max_gb
    mark = book.cite_advice(row)
    need = _span(row, book)
    what = book.say(*WORKLOAD_NAMES[row.workload])
    count = request.slots.count or 1
    cards = _card_sizes(request, book)
    asked = bool(cards)
    verdicts, formulas = [], []
    for label, size in cards or [("", size) for size in COMMON_SIZES_GB]:
        result = book.compute(
            "cards_needed",
            memory_min_gb=row.memory_min_gb,
            memory_max_gb=row.memory_max_gb,
            card_memory_gb=size,
            cards=count,
        )
        verdicts.append(_verdict(result.outputs, label, size, count, request, row, book))
        formulas.append(render.formula(result.formula, book.language))
    head = book.say(
        f"{what} 需要 {need}显存{mark}。", f"{what[0].upper()}{what[1:]} needs {need} of GPU memory {mark}."
    )
    note = book.say(
        "张数只按显存容量相除，没有留运行时余量。", "Card counts are by memory alone, with no runtime headroom."
    )
    if not asked:
        return [head, render.bullets(verdicts), note]
    return ["  \n".join([*verdicts, head]), "  \n".join(formulas), note]


def _verdict(
    out: Mapping[str, Decimal | int | str],
    label: str,
    size: Decimal,
    count: int,
    request: Request,
    row: MemoryAdvice,
    book: Ledger,
) -> str:
    low, high, total = int(out["cards_min"]), int(out["cards_max"]), number(Decimal(out["total_memory_gb"]))
    need = number(row.memory_min_gb or Decimal(0))
    many = book.say(
        f"{low} 张" if low == high else f"{low} 到 {high} 张",
        f"{low} cards" if low == high else f"{low} to {high} cards",
    ).replace("1 cards", "1 card")
    card = (
        f"{number(size)} GB {label}".strip()
        if label
        else book.say(f"{number(size)} GB 显存的卡", f"{number(size)} GB cards")
    )
    if (not label and not request.slots.memory_gb) or "how_many" in request.aspects:
        return book.say(f"**用 {card}：至少 {many}**", f"**With {card}: at least {many}**")
    each, named = number(size), f" {label}" if label else ""
    if count > 1:
        held = f"{count:,} × {each} GB = {total} GB"
    else:
        held = book.say(f"1 张 {each} GB{f'{named} ' if label else ' 的卡'}有 {total} GB",
                        f"one {each} GB{named or ' card'} has {total} GB")  # fmt: skip
    top = number(row.memory_max_gb or Decimal(0))
    asked = f"{need} GB" if need == top else f"{need}–{top} GB"
    if out["fits"] == "no":
        return book.say(
            f"**不够**：{held}，少于所需的 {asked}；至少要 {many}。",
            f"**Not enough**: {held}, below the {asked} asked for; it takes at least {many}.",
        )
    if out["fits"] == "just":
        return book.say(
            f"**刚好够**：{held}，正好等于所需的 {need} GB，没有余量，实际会很紧。",
            f"**Just enough**: {held}, exactly the {need} GB asked for, with no headroom, so it is tight in practice.",
        )
    if out["fits"] == "partly":
        return book.say(f"**勉强**：{held}，过了下限 {need} GB，没到上限 {top} GB。", f"**Tight**: {held}, above the lower bound of {need} GB but below the upper one of {top} GB.")  # fmt: skip
    if total == top:
        return book.say(f"**够**：{held}，正好到所需 {asked} 的上限。", f"**Enough**: {held}, exactly the upper end of the {asked} asked for.")  # fmt: skip
    return book.say(f"**够**：{held}，高于所需的 {asked}。", f"**Enough**: {held}, above the {asked} asked for.")


def _cards(request: Request, row: MemoryAdvice, book: Ledger) -> list[str]:
    """A recommended number of cards: the count, the memory in all, and what another card would take."""
    mark = book.cite_advice(row)
    what = book.say(*WORKLOAD_NAMES[row.workload])
    memory = f"{number(row.card_memory_gb)} GB " if row.card_memory_gb else ""
    head = book.say(f"**{what}：{row.card_count:,} 张 {memory}显存的 {row.card}**{mark}（推荐一栏写的是 {row.recommended}）。" if memory else f"**{what}：{row.card_count:,} 张 {row.card}**{mark}（推荐一栏写的是 {row.recommended}；没有写单卡显存）。",
                    f"**{what[0].upper()}{what[1:]}: {row.card_count:,}× {memory}{row.card}** {mark} (the recommendation column says {row.recommended}{'' if memory else '; memory per card is not stated'}).")  # fmt: skip
    parts = [head]
    if row.card_memory_gb:
        total = book.compute("total_memory", cards=row.card_count, card_memory_gb=row.card_memory_gb)
        parts.append(book.say(f"显存合计：{total.formula}", f"GPU memory in all: {total.formula}"))
        for label, size in _card_sizes(request, book):
            if (request.slots.count or 0) > 1 or (label and label != row.card):
                parts.insert(0, _own_cards(request, label, size, total.value, mark, book))
    elif request.slots.count:
        parts.append(book.say("文章没有写单卡显存，无法按显存判断你的卡够不够。",
                              "The articles do not state the memory per card, so whether your cards are enough by memory cannot be told."))  # fmt: skip
    parts.append(book.say("文章原文写“台”（机器），但带着单卡显存，最可能数的是卡（GPU），不是服务器；原文有歧义。",
                          "The articles write 台 (machines) but give memory per card, so they most likely count cards (GPUs), not servers; the wording is ambiguous."))  # fmt: skip
    return parts


def _own_cards(request: Request, label: str, size: Decimal, need: Decimal, mark: str, book: Ledger) -> str:
    """The reader's cards against the memory of the recommended ones: enough or not, or how many if no number was said."""
    count, each = request.slots.count, number(size)
    result = book.compute("cards_needed", memory_min_gb=need, memory_max_gb=need, card_memory_gb=size, cards=count or 1)
    least = int(result.outputs["cards_min"])
    many = book.say(f"{least:,} 张", f"{least:,} card{'' if least == 1 else 's'}")
    card = f"{each} GB{f' {label}' if label else book.say(' 的卡', '')}"
    if not count or "how_many" in request.aspects:
        return book.say(f"**换成 {card}：按显存总量至少 {many}**（{result.formula}）{mark}。",
                        f"**With {card} cards the same memory takes at least {many}** ({result.formula}) {mark}.")  # fmt: skip
    total, wanted = number(Decimal(result.outputs["total_memory_gb"])), number(need)
    own = f"{count:,} × {each} GB = {total} GB"
    if result.outputs["fits"] == "no":
        return book.say(f"**只按显存算不够**：{own}，少于推荐配置的 {wanted} GB；至少要 {many}{mark}。",
                        f"**Not enough by memory alone**: {own}, below the {wanted} GB of the recommended cards; it takes at least {many} {mark}.")  # fmt: skip
    than = book.say("正好等于" if total == wanted else "高于", "exactly" if total == wanted else "above")
    return book.say(f"**只按显存算够**：{own}，{than}推荐配置的 {wanted} GB{mark}。",
                    f"**Enough by memory alone**: {own}, {than} the {wanted} GB of the recommended cards {mark}.")  # fmt: skip


def _card_sizes(request: Request, book: Ledger) -> list[tuple[str, Decimal]]:
    """(label, memory) of every card in question: a size said wins over the sizes a card is sold with.

    Of several cards it belongs to those that are sold with it ("the 80 GB A100s for 4090s").
    """
    s = request.slots
    said = [size for size in s.memory_gb if Decimal(4) <= size <= Decimal(300)]
    if said and len(s.gpus) < 2:
        label = render.name("gpu", s.gpus[0], book.language) if len(s.gpus) == 1 else ""
        return [(label, size) for size in dict.fromkeys(said)]
    sizes = []
    for gpu in s.gpus:
        sold = _sold_sizes(gpu, request, book)
        label = render.name("gpu", gpu, book.language)
        sizes += [(label, size) for size in [size for size in sold if size in said] or sold]
    return sizes


def _sold_sizes(gpu: str, request: Request, book: Ledger) -> tuple[Decimal, ...]:
    """The sizes a card is sold with, those of the forms named where the question names any."""
    forms = [form for name in request.slots.forms if (form := book.catalog.gpu(name)) and gpu in form.families]
    sizes = {end for form in forms if form.memory for end in (form.memory.low, form.memory.high)}
    return tuple(sorted(sizes)) or book.catalog.memory_sizes_gb(gpu)


def _span(row: MemoryAdvice, book: Ledger) -> str:
    assert row.memory_min_gb
    assert row.memory_max_gb
    low, high = number(row.memory_min_gb), number(row.memory_max_gb)
    span = f"{low} GB" if low == high else f"{low}–{high} GB"
    return span + (book.say(" 或更多的", " or more") if row.open_ended else book.say(" ", ""))
