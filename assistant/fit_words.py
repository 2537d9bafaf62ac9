"""Sentences that answers about running a model share: sizes, precisions, what was taken, where a shape comes from.

Words figures that calculators gave; it computes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import Assumption, Calculation, number
from assistant.ledger import Ledger
from assistant.served_model import Served, Use, bare_family
from assistant.training_subject import CardAsked
from assistant.understand import Request

CHUNKED = ("Llama-4-",)  # three layers of four attend within chunks of the context alone (model card)
SHOWN_NAMES = {"bf16": "bf16/fp16", "fp16": "fp16"}


def gib(value: Decimal | int | str) -> str:
    """135.4, 14.96, 0.5: three digits at least, no trailing zeros."""
    size = Decimal(value)
    places = Decimal("0.1") if abs(size) >= 100 else Decimal("0.01") if abs(size) >= 10 else Decimal("0.001")
    return number(size.quantize(places))


def both(gibibytes: Decimal | int | str, gigabytes: Decimal | int | str, book: Ledger) -> str:
    """135.4 GiB（145.4 GB）."""
    return book.say(f"{gib(gibibytes)} GiB（{gib(gigabytes)} GB）", f"{gib(gibibytes)} GiB ({gib(gigabytes)} GB)")


def span(low: Decimal | int | str, high: Decimal | int | str) -> str:
    """16.9–17.7 GiB."""
    return f"{gib(low)}–{gib(high)} GiB" if low != high else f"{gib(low)} GiB"


def tokens(count: int) -> str:
    """8,192 tokens."""
    return f"{count:,} tokens"


def precision_name(precision: str, use: Use, book: Ledger) -> str:
    """bf16/fp16, int4, fp8（官方权重）."""
    name = precision if precision != "bf16" or not use.precision_taken else SHOWN_NAMES["bf16"]
    if precision == use.native:
        return book.say(f"{name}（官方发布的精度）", f"{name} (as published)")
    return name


def gap(label: str) -> str:
    """A blank between Latin letters and Chinese, none between Chinese and Chinese."""
    return " " if label[-1:].isascii() else ""


def cards_named(count: int, label: str, book: Ledger) -> str:
    """In a sentence: 4 张 H100 80 GB, 4× H100 80 GB."""
    return label if count == 1 else book.say(f"{count:,} 张 {label}", f"{count:,}× {label}")


def cards_cell(count: int, label: str, book: Ledger) -> str:
    """In a table: H100 80 GB，4 张."""
    return label if count == 1 else book.say(f"{label}，{count:,} 张", f"{label}, {count:,} cards")


def together(count: int, card: CardAsked, model: str, weights: Sequence[str], book: Ledger) -> str:
    """What so many cards have in all, and the weights that have to lie in it."""
    total = book.compute("card_total", parts=[{"cards": count, "each": card.spec.memory_gib}], unit="GB")
    who, each = cards_named(count, card.label, book), book.say("；", "; ").join(weights)
    return book.say(f"{who}{gap(who)}显存合计 {total.formula}；{model} 的权重：{each}。",
                    f"Memory of {who} together: {total.formula}; weights of {model}: {each}.")  # fmt: skip


def family_note(request: Request, book: Ledger) -> str:
    """Which of a family was taken where only the family was named."""
    taken = bare_family(request)
    return (
        book.say(f"没说是哪一个规格，按 {taken} 算", f"which of the family was not said: {taken} is taken")
        if taken
        else ""
    )


def shape_note(model: Served, book: Ledger) -> str:
    """Whose layers and KV heads a bare size takes."""
    if model.lender:
        return book.say(f"只说了 {model.label}，没有指明模型：层数、KV 头等结构取 {model.lender}，参数量按 {model.label}",
                        f"only the size {model.label} was said: layers and KV heads are those of {model.lender}, the parameters {model.label}")  # fmt: skip
    if model.shape is None:
        return book.say(f"没有与 {model.label} 相近的模型结构：KV 缓存取决于层数与 KV 头，未计入",
                        f"no model of about {model.label} is on file: the KV cache depends on layers and KV heads and is not counted")  # fmt: skip
    return ""


def mixture_note(model: Served, book: Ledger) -> str:
    """Memory counts all experts, speed the active ones."""
    if not model.is_mixture:
        return ""
    every, active = (_billions(n) for n in (model.parameters, model.active_parameters))
    return book.say(f"MoE 模型：全部 {every} 参数都要装进显存，每个 token 激活的 {active} 只决定速度",
                    f"a mixture of experts: all {every} parameters have to be in memory; the {active} active per token only decide the speed")  # fmt: skip


def host_note(use: Use, result: Calculation, book: Ledger) -> list[str]:
    """Why the weights in the sum are less than the file: llama.cpp leaves the input embedding in host memory."""
    if use.engine != "llama.cpp":
        return []
    loaded = gib(result.outputs["weights_gib"])
    return [book.say(f"llama.cpp 把输入嵌入留在主机内存：合计里显存中的权重是 {loaded} GiB，比整个文件小",
                     f"llama.cpp leaves the input embedding in host memory: the sum counts {loaded} GiB of weights, less than the file")]  # fmt: skip


def taken_notes(model: Served, use: Use, book: Ledger) -> list[str]:
    """What was taken where the question left it open, and what was said of lengths."""
    notes = []
    if use.precision_taken:
        names = render.joined([precision_name(p, use, book) for p in use.precisions], book.language)
        notes.append(book.say(f"没说精度，分别按 {names} 算", f"no precision was said: {names} are shown"))
    if model.row and model.row.name.startswith(CHUNKED):
        notes.append(book.say(f"{model.label} 多数层是分块注意力，缓存有上限；这里每层都按完整长度算，KV 缓存是上界",
                              f"most layers of {model.label} have chunked attention, whose cache is bounded: with every layer counted at full length the KV cache is an upper bound"))  # fmt: skip
    limit = model.shape.context_tokens if model.shape else None
    if limit and use.context_tokens > limit:
        notes.append(book.say(f"{model.label} 原生最长 {tokens(limit)}，{tokens(use.context_tokens)} 需要扩展上下文",
                              f"{model.label} reads at most {tokens(limit)} as published: {tokens(use.context_tokens)} needs an extension"))  # fmt: skip
    if model.shape:
        said = book.say("默认", "default ") if use.context_taken else ""
        requests = book.say(
            f"{use.sequences} 个并发", f"{use.sequences} request{'' if use.sequences == 1 else 's'} at a time"
        )
        notes.append(book.say(f"{said}上下文 {tokens(use.context_tokens)}（提示加回答），{requests}，KV 缓存 {use.kv_precision}",
                              f"{said}context of {tokens(use.context_tokens)} (prompt and answer), {requests}, KV cache in {use.kv_precision}"))  # fmt: skip
    return notes


def told(result: Calculation, names: Sequence[str], book: Ledger) -> list[str]:
    """The calculator's own assumptions of these names."""
    found: list[Assumption] = [a for name in names for a in result.assumptions if a.name == name]
    return [a.text[book.language] for a in found]


def notes_list(notes: Sequence[str], book: Ledger) -> str:
    """A list under a heading, each line once."""
    lines = [note for note in dict.fromkeys(notes) if note]
    return book.say("假设：\n", "Assumptions:\n") + render.bullets(lines) if lines else ""


def _billions(parameters: Decimal) -> str:
    """671B, 46.7B, 2.66B."""
    billions = parameters / 10**9
    return f"{number(billions.quantize(Decimal('0.1') if billions >= 10 else Decimal('0.01')))}B"
