"""Answers about fit: whether a model runs on given cards, how many cards it takes, and how long a context and how many
requests they hold.

One line for each card and precision in question, computed by inference_fit; without a card fit_memory.py answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant import memory, render, tools
from assistant.calculator.calculation import number
from assistant.evidence import Bilingual, Finding
from assistant.fit_cases import RAISED_SHARE, USUAL_SHARE, Fit, arguments, fit_of, tight_below
from assistant.fit_memory import kv_answer, largest_answer, memory_answer
from assistant.fit_words import (
    both,
    cards_cell,
    family_note,
    gap,
    gib,
    host_note,
    mixture_note,
    notes_list,
    precision_name,
    shape_note,
    span,
    taken_notes,
    together,
    tokens,
    told,
)
from assistant.ledger import Ledger
from assistant.served_model import Served, cards_asked, not_on_file, served, use_asked, with_lengths
from assistant.smallest_card import asks_smallest, smallest_card
from assistant.tools import ToolError
from assistant.training_subject import CardAsked
from assistant.understand import Request

KV = re.compile(r"(?<![a-z])kv(?![a-z])|键值缓存|key[- ]value cache", re.I)
LONGEST = re.compile(r"(?:最[大长多高]|能[开跑给到]|多[长大]).{0,8}(?:上下文|context|ctx|序列|窗口)|(?:上下文|context|ctx).{0,8}(?:最[大长多]|多[长大少])"
                     r"|(?:long|max|larg|big)\w*.{0,20}(?:context|ctx)|how (?:long|much|big|large) .{0,12}context", re.I)  # fmt: skip
MOST_AT_ONCE = re.compile(r"(?:最[大多高]|能[开跑扛]|多少|几).{0,6}(?:并发|batch|批|路|请求|用户|人)|(?:并发|batch|批量?).{0,8}(?:最[大多]|多[大少])"
                          r"|(?:max|larg|how many|how big|how large)\w*.{0,20}(?:batch|concurren|requests|users|sequences)", re.I)  # fmt: skip
VERDICTS = {
    "fits": Bilingual(zh="够", en="fits"), "tight": Bilingual(zh="勉强", en="tight"), "no": Bilingual(zh="不够", en="does not fit"),
}  # fmt: skip
ANSWERS = {
    "fits": Bilingual(zh="够", en="Yes, it fits"), "tight": Bilingual(zh="勉强", en="Tight"), "no": Bilingual(zh="不够", en="No, it does not fit"),
}  # fmt: skip
HALVED = frozenset({"bf16", "fp16", "fp8", "int8", "fp32", "gptq-int8"})
SHORT_CONTEXT = 512  # tokens; less is of no use
MOST_CARDS = 10**6  # above any number of cards that is needed


def fit(request: Request, book: Ledger) -> Finding | None:
    """Whether it fits, how many it takes, how far it goes; the articles' own figures where only those are asked for."""
    if refusal := not_on_file(request, book):
        return refusal
    request = with_lengths(request)
    if _is_of_table(request) and (found := memory.memory(request, book)):
        return found
    models, cards = served(request, book), cards_asked(request, book)
    if not models:
        return largest_answer(request, cards, book) if cards else None
    if asks_smallest(request):
        return smallest_card(request, models, book)
    if KV.search(request.search_text) and not (cards and request.aspects & {"fits", "enough", "how_many"}):
        return kv_answer(request, models, book)
    if not cards:
        return memory_answer(request, models, book)
    return fit_on_cards(request, models, cards, book)


def _is_of_table(request: Request) -> bool:
    """A workload of the articles, with nothing said that would move its need."""
    s, work = request.slots, request.slots.workload
    beyond = (
        work.precision or work.quantised is not None or work.context_tokens or work.concurrency or work.input_tokens
    )
    return bool(s.workloads) or (bool(s.models) and set(s.models) <= set(memory.RUNNING) and not beyond)


def fit_on_cards(
    request: Request, models: Sequence[Served], cards: Sequence[CardAsked], book: Ledger, beside: str = ""
) -> Finding:
    """Memory decides; `beside` is a line about something else (speed), shown below the verdict."""
    found, refused = [], []
    count = request.slots.count or (None if "how_many" in request.aspects else 1)
    for model in models:
        use = use_asked(model, request)
        for card in cards:
            for precision in use.precisions:
                try:
                    found.append(fit_of(model, use, precision, card, count, book))
                except ToolError as error:
                    refused.append(error)
    if not found:
        raise refused[0]
    marks = "".join(dict.fromkeys(book.cite_gpu(f.card.gpu) for f in found if f.card.gpu))
    marks += "".join(dict.fromkeys(book.cite_model(f.model.row) for f in found if f.model.row))
    heads = [*_heads(request, found, book), *_together(found, book), *_why_mixture(models, book)]
    heads[-1] += marks if book.language == "zh" else f" {marks}" if marks else ""
    return book.finding(
        "answered", "  \n".join(heads), beside, _limits(found, request, book), _table(found, book) if len(found) > 1 else "",
        _smaller_engine(found, book), _formulas(found, book), _notes(models, found, request, book), _weighs_most(found, book),
    )  # fmt: skip


def _heads(request: Request, found: Sequence[Fit], book: Ledger) -> list[str]:
    if "how_many" in request.aspects and request.slots.count is None:
        return [_how_many(f, book) for f in found]
    if len(found) == 1:
        return [_verdict(found[0], book)]
    lines = []
    for model, card in dict.fromkeys((f.model.label, f.card.label) for f in found):
        own = [f for f in found if (f.model.label, f.card.label) == (model, card)]
        lines.append(_verdict(own[0], book) if len(own) == 1 else _several(own, book))
    return lines


def _verdict(f: Fit, book: Ledger) -> str:
    """One bold line: enough or not, the need against what is usable."""
    name = f"{f.model.label} {precision_name(f.precision, f.use, book)}"
    need, usable = span(f.figure("need_low_gib"), f.figure("need_high_gib")), f"{gib(f.figure('usable_gib'))} GiB"
    each = book.say("每卡", " per card") if f.cards > 1 else ""
    if f.verdict == "fits":
        rest = book.say(
            f"至少还余 {gib(f.figure('headroom_gib'))} GiB", f"at least {gib(f.figure('headroom_gib'))} GiB is left"
        )
    elif f.raised:
        rest = book.say(f"默认的 {number(USUAL_SHARE * 100)} % 放不下，要把 gpu_memory_utilization 调到 {number(RAISED_SHARE * 100)} %（这里的可用量）才放得下",
                        f"it does not hold at the default {number(USUAL_SHARE * 100)} %, only with gpu_memory_utilization raised to {number(RAISED_SHARE * 100)} % (the usable memory given here)")  # fmt: skip
    elif f.verdict == "tight":
        rest = book.say(
            "运行时开销取低值放得下，取高值就超了",
            "it holds with the low end of the runtime overhead, not with the high end",
        )
    else:
        rest = _instead(f, book)
    return book.say(
        f"**{ANSWERS[f.verdict].zh}**：{f.who(book)}{gap(f.who(book))}跑 {name}，{each}需要 {need}，{each}可用 {usable}，{rest}。",
        f"**{ANSWERS[f.verdict].en}**: {name} on {f.who(book)} needs {need}{each}, {usable}{each} is usable; {rest}.")  # fmt: skip


def _instead(f: Fit, book: Ledger) -> str:
    """What it would take of the same card."""
    if f.cards_needed == 0:
        return book.say("这种卡加到再多也放不下", "no number of these cards holds it")
    tight = tight_below(f, book)
    if tight:
        return book.say(f"这种卡至少要 {tight} 张（勉强），{f.cards_needed} 张才宽裕", f"it takes {tight} of these cards (tight), {f.cards_needed} to have room")  # fmt: skip
    return book.say(f"这种卡至少要 {f.cards_needed} 张", f"it takes at least {f.cards_needed} of these cards")


def _how_many(f: Fit, book: Ledger) -> str:
    name = f"{f.model.label} {precision_name(f.precision, f.use, book)}"
    if f.cards_needed == 0:
        return book.say(
            f"**{f.card.label} 加到再多也放不下 {name}**", f"**No number of {f.card.label} cards holds {name}**"
        )
    tight, usable = tight_below(f, book), gib(f.figure("usable_gib"))
    need = span(f.figure("need_low_gib"), f.figure("need_high_gib"))
    detail = book.say(f"（{f.cards_needed} 张时每卡需要 {need}，可用 {usable} GiB）",
                      f" (with {f.cards_needed}, each needs {need} of {usable} GiB usable)")  # fmt: skip
    if tight:
        return book.say(f"**{name}：{f.card.label} 至少 {tight} 张（勉强），{f.cards_needed} 张才宽裕**{detail}",
                        f"**{name}: at least {tight}× {f.card.label} (tight), {f.cards_needed} to have room**{detail}")  # fmt: skip
    return book.say(f"**{name}：{f.card.label} 至少 {f.cards_needed} 张**{detail}", f"**{name}: at least {f.cards_needed}× {f.card.label}**{detail}")  # fmt: skip


def _several(found: Sequence[Fit], book: Ledger) -> str:
    """One card, several precisions: one word each, or one for all."""
    first, verdicts = found[0], {f.verdict for f in found}
    names = [precision_name(f.precision, f.use, book) for f in found]
    if len(verdicts) == 1:
        answer, every = ANSWERS[first.verdict], render.joined(names, book.language)
        all_alike = {
            "fits": ("都放得下", "all fit"),
            "tight": ("都很紧", "are all tight"),
            "no": ("都放不下", "none of them fits"),
        }[first.verdict]
        smallest = min(found, key=lambda f: f.cards_needed or MOST_CARDS)
        end = book.say("；", "; ") + _instead(smallest, book) if first.verdict == "no" else ""
        least = f"（{_name(smallest, book)}）" if book.language == "zh" else f" ({_name(smallest, book)})"
        least = least if end else ""
        return book.say(f"**{answer.zh}**：{first.who(book)}{gap(first.who(book))}跑 {first.model.label}，{every} {all_alike[0]}{end}{least}。",
                        f"**{answer.en}**: {first.model.label} on {first.who(book)}: {every}, {all_alike[1]}{end}{least}.")  # fmt: skip
    each = [book.say(f"{name} {VERDICTS[f.verdict].zh}", f"{name} {VERDICTS[f.verdict].en}") for name, f in zip(names, found, strict=True)]  # fmt: skip
    return book.say(f"**{first.who(book)}{gap(first.who(book))}跑 {first.model.label}：{'；'.join(each)}**", f"**{first.model.label} on {first.who(book)}: {'; '.join(each)}**")  # fmt: skip


def _name(f: Fit, book: Ledger) -> str:
    return precision_name(f.precision, f.use, book)


def _together(found: Sequence[Fit], book: Ledger) -> list[str]:
    """Of several cards what they have together, beside the weights of each precision: why they are enough or not."""
    lines = []
    for model, card in dict.fromkeys((f.model.label, f.card.label) for f in found if f.cards > 1):
        own = [f for f in found if (f.model.label, f.card.label) == (model, card)]
        sizes = [f"{_name(f, book)} {both(f.weights.outputs['total_gib'], f.weights.outputs['total_gb'], book)}" for f in own]  # fmt: skip
        lines.append(together(own[0].cards, own[0].card, model, sizes, book))
    return lines


def _limits(found: Sequence[Fit], request: Request, book: Ledger) -> str:
    """How long a context and how many requests fit, of the first that fits."""
    best = next((f for f in found if f.verdict != "no" and f.figure("largest_context_tokens") > 0), None)
    if best is None:
        return ""
    longest, most = int(best.figure("largest_context_tokens")), int(best.figure("largest_batch"))
    name = f"{best.who(book)} {precision_name(best.precision, best.use, book)}" if len(found) > 1 else ""
    limit = best.model.shape.context_tokens if best.model.shape else None
    at_limit = book.say("（模型自身的上限）", " (the model's own limit)") if longest == limit else ""
    context = book.say(f"{best.use.sequences} 个并发时最长上下文约 {tokens(longest)}{at_limit}",
                       f"with {best.use.sequences} request{'' if best.use.sequences == 1 else 's'} at a time a context of up to {tokens(longest)}{at_limit}")  # fmt: skip
    batch = book.say(f"上下文 {tokens(best.use.context_tokens)} 时最多约 {most:,} 个并发",
                     f"at {tokens(best.use.context_tokens)} up to {most:,} requests at a time")  # fmt: skip
    context = f"**{context}**" if LONGEST.search(request.question) else context
    if most == 0:  # tight: at the high end of the overhead the asked context is just beyond
        batch = ""
    batch = f"**{batch}**" if batch and MOST_AT_ONCE.search(request.question) else batch
    colon = book.say("：", ": ") if name else ""
    end = book.say("。", ".")
    comma = book.say("；", "; ") if batch else ""
    text = f"{name}{colon}{context}{comma}{batch}{end}"
    return text if name or book.language == "zh" else text.replace("with ", "With ", 1)


def _table(found: Sequence[Fit], book: Ledger) -> str:
    several = len({f.model.label for f in found}) > 1
    headings = [*([book.say("模型", "Model")] if several else []), book.say("卡", "Card"), book.say("精度", "Precision"), book.say("权重", "Weights"),
                book.say("每卡需要", "Need per card"), book.say("每卡可用", "Usable per card"), book.say("结论", "Verdict"),
                book.say("同型号至少", "Cards needed")]  # fmt: skip
    rows = []
    for f in found:
        out, weights = f.result.outputs, f.weights.outputs
        needed = book.say(f"{f.cards_needed} 张", str(f.cards_needed)) if f.cards_needed else "—"
        rows.append([*([f.model.label] if several else []), cards_cell(f.cards, f.card.label, book), precision_name(f.precision, f.use, book),
                     both(weights["total_gib"], weights["total_gb"], book), span(out["need_low_gib"], out["need_high_gib"]),
                     f"{gib(out['usable_gib'])} GiB", VERDICTS[f.verdict][book.language], needed])  # fmt: skip
    return render.table(headings, rows)


def _formulas(found: Sequence[Fit], book: Ledger) -> str:
    """Weights, cache and verdict of the first case with the numbers put in."""
    first = found[0]
    lines = [book.say("权重 = ", "weights = ") + first.weights.formula]
    if first.model.shape:
        cache = book.compute("kv_cache", model=first.model.shape, context_tokens=first.use.context_tokens,
                             sequences=first.use.sequences, kv_precision=first.use.kv_precision)  # fmt: skip
        lines.append(book.say("KV 缓存 = ", "KV cache = ") + cache.formula)
    whole = first.result.formula.removesuffix(f": {first.result.outputs['verdict']}")
    lines.append(f"{whole}{book.say('：', ': ')}{VERDICTS[first.verdict][book.language]}")
    return "  \n".join(render.formula(line, book.language) for line in lines)


def _why_mixture(models: Sequence[Served], book: Ledger) -> list[str]:
    end = book.say("。", ".")
    return [note[:1].upper() + note[1:] + end for model in models if (note := mixture_note(model, book))]


def _notes(models: Sequence[Served], found: Sequence[Fit], request: Request, book: Ledger) -> str:
    notes = [family_note(request, book), *(shape_note(model, book) for model in models)]
    for f in found:
        notes += taken_notes(f.model, f.use, book)
    notes += host_note(found[0].use, found[0].result, book)
    notes += told(found[0].result, ("overhead_gib", "usable_share"), book)
    return notes_list(notes, book)


def _smaller_engine(found: Sequence[Fit], book: Ledger) -> str:
    """On one card that a server's reserve fills: what an engine with a small overhead makes of it."""
    for f in found:
        if f.verdict == "fits" or f.cards > 1 or f.use.engine != "vllm" or f.model.shape is None:
            continue
        given = arguments(f.model, f.use, f.precision) | {"gpu": f.card.spec, "cards": 1, "engine": "llama.cpp"}
        out = tools.calculate("inference_fit", **given).outputs
        longest = int(out["largest_context_tokens"])
        if out["verdict"] == "no" and longest < SHORT_CONTEXT:
            continue
        out, name = book.compute("inference_fit", **given).outputs, precision_name(f.precision, f.use, book)
        name = name if len({other.card.label for other in found}) == 1 else f"{f.who(book)} {name}"
        need, usable = span(out["need_low_gib"], out["need_high_gib"]), gib(out["usable_gib"])
        if out["verdict"] == "no":
            return book.say(f"{name} 换 llama.cpp 这类开销小的引擎，上下文缩到约 {tokens(longest)} 就放得下。",
                            f"In {name} with an engine of small overhead (llama.cpp) a context of up to {tokens(longest)} fits.")  # fmt: skip
        return book.say(f"{name} 换 llama.cpp 这类开销小的引擎：需要 {need}，可用 {usable} GiB，{VERDICTS[str(out['verdict'])].zh}。",
                        f"In {name} with an engine of small overhead (llama.cpp): {need} of {usable} GiB usable, {VERDICTS[str(out['verdict'])].en}.")  # fmt: skip
    return ""


def _weighs_most(found: Sequence[Fit], book: Ledger) -> str:
    """Precision where weights are most of the need (with what int4 would take), else context and requests."""
    first = found[0]
    if first.figure("weights_gib") < first.figure("kv_cache_gib"):
        return book.say("影响最大的是上下文和并发：减半，KV 缓存就减半。", "Context and requests change it most: half of either halves the KV cache.")  # fmt: skip
    if len(found) > 1 or first.precision not in HALVED:
        return book.say(
            "影响最大的是精度：位数减半，权重减半。", "Precision changes it most: half the bits, half the weights."
        )
    smaller = book.compute("inference_fit", **arguments(first.model, first.use, "int4"), gpu=first.card.spec, cards=first.cards)  # fmt: skip
    need, verdict = span(smaller.outputs["need_low_gib"], smaller.outputs["need_high_gib"]), VERDICTS[str(smaller.outputs["verdict"])]  # fmt: skip
    return book.say(f"影响最大的是精度：换成 int4，每卡需要 {need}（{verdict.zh}）。", f"Precision changes it most: int4 needs {need} per card ({verdict.en}).")  # fmt: skip
