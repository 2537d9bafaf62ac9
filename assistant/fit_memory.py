"""Answers about what running a model takes where no card is named: memory by precision, and the KV cache by itself.

Sizes come from model_weights, inference_memory, inference_fit and kv_cache; a size without a name takes a shape that
served_model.py chose and the answer names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import render, tools
from assistant.calculator.calculation import Calculation
from assistant.evidence import Finding
from assistant.fit_words import (
    both,
    cards_cell,
    cards_named,
    family_note,
    gib,
    host_note,
    mixture_note,
    notes_list,
    precision_name,
    shape_note,
    span,
    taken_notes,
    tokens,
    told,
)
from assistant.ledger import Ledger
from assistant.served_model import Served, Use, models_of_size, use_asked, use_of
from assistant.shape_rows import model_shape
from assistant.training_subject import CardAsked, bare_card, of_row
from assistant.understand import Request
from assistant.workload import Workload
from knowledge.hardware import BILLION, Model

LADDER = ("Qwen2.5-0.5B", "Qwen2.5-1.5B", "Qwen2.5-3B", "Qwen2.5-7B", "Qwen2.5-14B", "Qwen2.5-32B", "Qwen2.5-72B")
# The weights themselves are asked for, not what running them takes.
WEIGHTS = re.compile(r"权重(?!.{0,8}(?:和|加|、|\+)\s*(?:kv|缓存|激活)).{0,12}(?:多大|多少|大小|几个?\s*g|占|体积)|(?:多大|多少|大小)的?权重|(?:checkpoint|模型文件|权重文件|weight file|model file)s?.{0,12}(?:多大|size|大小|big|large)"
                     r"|(?<![a-z])weights?(?![a-z]).{0,30}(?:size|big|large|how much|gb|gib)|(?:size|how big|how large|how much).{0,30}(?<![a-z])weights?(?![a-z])|^(?:the )?weights? of", re.I)  # fmt: skip
MOST_BILLIONS = 20_000  # parameters; more than any number of cards in a question holds
CARD_SIZES_GB = (Decimal(24), Decimal(48), Decimal(80))


@dataclass(frozen=True)
class _Need:
    model: Served
    use: Use
    precision: str
    weights: Calculation
    total: Calculation
    cards: tuple[int, ...]  # for each of CARD_SIZES_GB; 0: no number of them


def memory_answer(request: Request, models: Sequence[Served], book: Ledger) -> Finding:
    """Weights and whole need by precision, and how many cards of the usual sizes hold it."""
    needs = [_need(model, use, precision, book) for model in models
             for use in [use_asked(model, request)] for precision in use.precisions]  # fmt: skip
    marks = "".join(dict.fromkeys(book.cite_model(model.row) for model in models if model.row))
    head = _weights_head if WEIGHTS.search(request.question) else _head
    heads = [head([n for n in needs if n.model is model], book) for model in models]
    heads[-1] += marks if book.language == "zh" else f" {marks}" if marks else ""
    first = needs[0]
    lines = [render.formula(book.say("权重 = ", "weights = ") + first.weights.formula, book.language),
             render.formula(book.say("权重 + KV + 激活 + 开销 = ", "weights + KV + activations + overhead = ") + first.total.formula, book.language)]  # fmt: skip
    notes = [
        family_note(request, book),
        *(note for model in models for note in (mixture_note(model, book), shape_note(model, book))),
    ]
    notes += [note for n in needs for note in taken_notes(n.model, n.use, book)]
    notes += [note for n in needs for note in host_note(n.use, n.total, book)]
    notes += [note for model in models for note in cache_spread(model, first.use, book)]
    notes += told(first.total, ("overhead_gib",), book)
    notes.append(book.say(f"卡数按每卡可用 {first.use.memory_percent}% 显存、能切分的张数算", f"cards: {first.use.memory_percent} % of each is usable, in numbers that the model can be split over") if first.use.engine == "vllm" else "")  # fmt: skip
    weighs = Decimal(first.total.outputs["weights_gib"]) >= Decimal(first.total.outputs["kv_cache_gib"])
    return book.finding(
        "answered", "  \n".join(heads), _table(needs, book), "  \n".join(lines), notes_list(notes, book),
        book.say("影响最大的是精度：位数减半，权重减半。", "Precision changes it most: half the bits, half the weights.") if weighs else
        book.say("影响最大的是上下文和并发：减半，KV 缓存就减半。", "Context and requests change it most: half of either halves the KV cache."),
    )  # fmt: skip


def kv_answer(request: Request, models: Sequence[Served], book: Ledger) -> Finding | None:
    """The cache of each model, side by side where there are several."""
    shaped = [model for model in models if model.shape]
    if not shaped:
        return None
    work = request.slots.workload
    uses = [use_of(model, work) for model in shaped]
    if uses[0].context_taken and len(shaped) > 1:
        common = min(use.context_tokens for use in uses)
        uses = [use_of(model, _at(work, common)) for model in shaped]
    results = [_cache(model, use, book) for model, use in zip(shaped, uses, strict=True)]
    marks = "".join(dict.fromkeys(book.cite_model(model.row) for model in shaped if model.row))
    head = _cache_head(shaped, uses, results, book) + (marks if book.language == "zh" else f" {marks}")
    lines = [
        render.formula((f"{model.label}: " if len(shaped) > 1 else "") + result.formula, book.language)
        for model, result in zip(shaped, results, strict=True)
    ]
    notes = [note for model, use in zip(shaped, uses, strict=True) for note in (shape_note(model, book), *taken_notes(model, use, book)[-1:])]  # fmt: skip
    spread = cache_spread(shaped[0], uses[0], book) if len(shaped) == 1 else []
    return book.finding(
        "answered", head, _cache_table(shaped, results, book) if len(shaped) > 1 else _per_token(results[0], book),
        "  \n".join(lines), notes_list([*notes, *spread], book),
        book.say("与上下文长度和并发数成正比，与权重精度无关。", "It grows with context and requests, and does not depend on the precision of the weights."),
    )  # fmt: skip


def largest_answer(request: Request, cards: Sequence[CardAsked], book: Ledger) -> Finding | None:
    """The largest of a ladder of usual models that cards hold, for each precision."""
    work, count = request.slots.workload, request.slots.count or 1
    heads, rows, notes = [], [], []
    for card in cards:
        for precision in use_of(_of_ladder(LADDER[0], book), work).precisions:
            best = None
            for name in LADDER:
                model = _of_ladder(name, book)
                use = use_of(model, work)
                given = {**model.arguments, "precision": precision, "context_tokens": use.context_tokens, "sequences": use.sequences,
                         "kv_precision": use.kv_precision, "gpu": card.spec, "cards": count, "gpu_memory_utilization": use.memory_share}  # fmt: skip
                try:
                    fits = tools.calculate("inference_fit", **given).outputs["verdict"] == "fits"
                except tools.ToolError:
                    continue
                best = (model, use, given) if fits else best
            who = cards_named(count, card.label, book)
            if best is None:
                heads.append(
                    book.say(
                        f"{who} {precision}：{LADDER[0]} 也放不下", f"{who}, {precision}: not even {LADDER[0]} fits"
                    )
                )
                continue
            model, use, given = best
            most = _most_billions(given, book)
            out, weights = (
                book.compute("inference_fit", **given).outputs,
                book.compute("model_weights", **model.arguments, precision=precision),
            )
            notes = taken_notes(model, use, book)
            heads.append(
                book.say(
                    f"**{who} {precision}：最大到 {model.label} 这一档**（只算权重和运行时开销，不留 KV 缓存，上限约 {most}B）",
                    f"**{who}, {precision}: up to the class of {model.label}** (weights and runtime overhead alone, no room for a KV cache, at most about {most}B)",
                )
            )
            rows.append([cards_cell(count, card.label, book), precision, model.label, both(weights.outputs["total_gib"], weights.outputs["total_gb"], book),
                         span(out["need_low_gib"], out["need_high_gib"]), f"{gib(out['usable_gib'])} GiB"])  # fmt: skip
    marks = "".join(dict.fromkeys(book.cite_gpu(card.gpu) for card in cards if card.gpu))
    if heads and marks:
        heads[-1] += marks if book.language == "zh" else f" {marks}"
    headings = [book.say("卡", "Card"), book.say("精度", "Precision"), book.say("模型", "Model"), book.say("权重", "Weights"),
                book.say("每卡需要", "Need per card"), book.say("每卡可用", "Usable per card")]  # fmt: skip
    ladder = book.say("按 Qwen2.5 系列从小到大逐个试", "the Qwen2.5 family is tried from small to large")
    return book.finding(
        "answered", "  \n".join(heads), render.table(headings, rows) if rows else "", notes_list([ladder, *notes], book)
    )


def _most_billions(given: Mapping[str, object], book: Ledger) -> int:
    """The most whole billions of parameters whose weights and overhead surely fit, kept as a call."""
    bare = {name: value for name, value in given.items() if name not in ("model", "parameters")} | {
        "context_tokens": None
    }

    def fits(billions: int) -> bool:
        return tools.calculate("inference_fit", **bare, parameters=billions * BILLION).outputs["verdict"] == "fits"

    low, high = 0, MOST_BILLIONS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    book.compute("inference_fit", **bare, parameters=max(low, 1) * BILLION)
    return low


def _of_ladder(name: str, book: Ledger) -> Served:
    row = book.catalog.model(name)
    assert row is not None  # the ladder names rows of models.csv
    return of_row(row)


def cache_spread(model: Served, use: Use, book: Ledger) -> list[str]:
    """Of a bare size: the smallest and the largest cache among the models that are called by it."""
    if not model.lender:
        return []
    rows = models_of_size(model, book)
    sized = sorted(((_row_cache(row, use, book), row.name) for row in rows), key=lambda pair: pair[0].value)
    if len(sized) < 2 or sized[0][0].value == sized[-1][0].value:
        return []
    (least, small), (most, large) = sized[0], sized[-1]
    for name in (small, large):
        row = next(row for row in rows if row.name == name)
        book.compute("kv_cache", model=model_shape(row), **_cache_arguments(use))
    return [book.say(
        f"同为 {model.label}，KV 缓存随结构相差很大：{small} {gib(least.value)} GiB，{large} {gib(most.value)} GiB",
        f"models of {model.label} differ widely in their KV cache: {gib(least.value)} GiB for {small}, {gib(most.value)} GiB for {large}")]  # fmt: skip


def _need(model: Served, use: Use, precision: str, book: Ledger) -> _Need:
    given: dict[str, object] = {
        **model.arguments, "precision": precision, "context_tokens": use.context_tokens if model.shape else None,
        "sequences": use.sequences, "kv_precision": use.kv_precision, "engine": use.engine,
    }  # fmt: skip
    cards = tuple(
        int(book.compute("inference_fit", **given, gpu=bare_card(size, book).spec, gpu_memory_utilization=use.memory_share).outputs["cards_needed"])
        for size in CARD_SIZES_GB
    )  # fmt: skip
    weights = book.compute("model_weights", **model.arguments, precision=precision)
    return _Need(model, use, precision, weights, book.compute("inference_memory", **given), cards)


def _weights_head(needs: Sequence[_Need], book: Ledger) -> str:
    """The weights alone; what running them takes besides stands in the table."""
    label = needs[0].model.label
    between = book.say("；", "; ")
    each = between.join(
        f"{precision_name(n.precision, n.use, book)} {both(n.weights.outputs['total_gib'], n.weights.outputs['total_gb'], book)}"
        for n in needs
    )
    return book.say(f"**{label} 的权重：{each}**", f"**Weights of {label}: {each}**")


def _head(needs: Sequence[_Need], book: Ledger) -> str:
    label = needs[0].model.label
    each = []
    for n in needs:
        out, name = n.total.outputs, precision_name(n.precision, n.use, book)
        each.append(book.say(f"{name} 约 {span(out['total_low_gib'], out['total_high_gib'])}",
                             f"about {span(out['total_low_gib'], out['total_high_gib'])} in {name}"))  # fmt: skip
    return book.say(f"**{label} 推理要的显存：{'；'.join(each)}**", f"**GPU memory to run {label}: {'; '.join(each)}**")


def _table(needs: Sequence[_Need], book: Ledger) -> str:
    several = len({n.model.label for n in needs}) > 1
    headings = [*([book.say("模型", "Model")] if several else []), book.say("精度", "Precision"), book.say("权重", "Weights"),
                book.say("KV 缓存", "KV cache"), book.say("合计", "In all"),
                *(book.say(f"{size} GB 的卡", f"{size} GB cards") for size in CARD_SIZES_GB)]  # fmt: skip
    rows = []
    for n in needs:
        out, weights = n.total.outputs, n.weights.outputs
        rows.append([*([n.model.label] if several else []), precision_name(n.precision, n.use, book),
                     both(weights["total_gib"], weights["total_gb"], book),
                     f"{gib(out['kv_cache_gib'])} GiB" if n.model.shape else "—", span(out["total_low_gib"], out["total_high_gib"]),
                     *(book.say(f"{count} 张", f"{count} card{'' if count == 1 else 's'}") if count else "—" for count in n.cards)])  # fmt: skip
    return render.table(headings, rows)


def _cache_arguments(use: Use) -> dict[str, object]:
    return {"context_tokens": use.context_tokens, "sequences": use.sequences, "kv_precision": use.kv_precision}


def _cache(model: Served, use: Use, book: Ledger) -> Calculation:
    return book.compute("kv_cache", model=model.shape, **_cache_arguments(use))


def _row_cache(row: Model, use: Use, book: Ledger) -> Calculation:
    """Tried on the side: only the ends of the spread belong to the answer."""
    return _cache(Served(row.name, row.parameters, model_shape(row), row), use, Ledger(book.catalog, book.language))


def _cache_head(models: Sequence[Served], uses: Sequence[Use], results: Sequence[Calculation], book: Ledger) -> str:
    use = uses[0]
    requests = (
        "" if use.sequences == 1 else book.say(f"、{use.sequences} 个并发", f" and {use.sequences} requests at a time")
    )
    at = book.say(f"{tokens(use.context_tokens)}{requests}", f"{tokens(use.context_tokens)}{requests}")
    if len(models) == 1:
        size = both(results[0].outputs["total_gib"], results[0].outputs["total_gb"], book)
        return book.say(f"**{models[0].label} 的 KV 缓存：{at} 时 {size}**", f"**The KV cache of {models[0].label} takes {size} at {at}**")  # fmt: skip
    each = render.joined([f"{model.label} {gib(result.value)} GiB" for model, result in zip(models, results, strict=True)], book.language)  # fmt: skip
    if len({result.value for result in results}) == 1:
        return book.say(
            f"**一样大**：{at} 时都是 {gib(results[0].value)} GiB。",
            f"**Yes, the same**: {gib(results[0].value)} GiB each at {at}.",
        )
    return book.say(f"**不一样大**：{at} 时 {each}。", f"**No, they differ**: at {at}, {each}.")


def _per_token(result: Calculation, book: Ledger) -> str:
    per_token = f"{Decimal(result.outputs['bytes_per_token']):,.0f}"
    return book.say(f"每个 token 占 {per_token} 字节。", f"Each token takes {per_token} bytes.")


def _cache_table(models: Sequence[Served], results: Sequence[Calculation], book: Ledger) -> str:
    headings = [book.say("模型", "Model"), book.say("层数", "Layers"), book.say("KV 头", "KV heads"), book.say("每头维度", "Head size"),
                book.say("每 token（字节）", "Bytes per token"), book.say("KV 缓存", "KV cache")]  # fmt: skip
    rows = []
    for model, result in zip(models, results, strict=True):
        shape = model.shape
        assert shape is not None
        heads = "MLA" if shape.cache == "mla" else str(shape.kv_heads)
        size = f"{shape.mla_rank} + {shape.mla_rope_size}" if shape.cache == "mla" else str(shape.head_size)
        rows.append([model.label, str(shape.layers), heads, size, f"{Decimal(result.outputs['bytes_per_token']):,.0f}",
                     both(result.outputs["total_gib"], result.outputs["total_gb"], book)])  # fmt: skip
    return render.table(headings, rows)


def _at(work: Workload, context: int) -> Workload:
    return replace(work, context_tokens=context)
