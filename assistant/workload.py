"""How a model is to be run or trained, as far as a question says it: precision, lengths, load, method, parallelism.

Reads beside the quantity grammar (quantities.py) with the same numbers; it knows no model, card or price, fills in no
default and judges no value. A range gives its upper end, noted in `upper_ends`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal

from assistant.numerals import NAME, binary_factor, fold
from assistant.quantity import Quantity
from assistant.workload_figures import Figure, figures
from assistant.workload_rules import bare_share, give_precision_to_cache, is_meant, note_trainer, plain
from assistant.workload_values import LENGTHS, Marks, currency_near, value_of
from assistant.workload_words import (
    ASKS,
    AT,
    CACHE,
    CORPUS,
    COUNTRIES,
    CUES,
    FREE,
    KV_PRECISIONS,
    METHODS,
    NO_MEMORY,
    NO_SET,
    OPTIMISERS,
    PRECISIONS,
    PURPOSES,
    QUANTISED,
    ROWS,
    SCALE,
    SCALES,
    SET,
    SHARDED,
    SWITCHED_OFF,
    SWITCHES,
    TARGET,
    TOKENS,
    WITHDRAWN,
    ZERO_STAGE,
)

WINDOW = 48  # characters before a number in which its cue may stand
LEAST_SET = 10**7  # tokens: fewer are a context, not a training set
MOST_CONTEXT = 10**6  # without the word for it


@dataclass(frozen=True)
class Workload:
    """What was said; None where it was not. Shares are 0 to 1, prices per kWh, lengths in tokens, times in seconds.

    `kilo` says what a "k" of the lengths was counted as: 1024 for powers of two (8k, 32k), else 1000. `quantised` is
    set where quantisation is said (True) or ruled out (False) without its bits. `horizon_years` is the last time said
    in months or years.
    """

    precision: str | None = None
    quantised: bool | None = None
    kv_precision: str | None = None
    context_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    kilo: int | None = None
    batch_size: int | None = None
    concurrency: int | None = None
    requests_per_s: Decimal | None = None
    training_tokens: int | None = None
    rows: int | None = None
    epochs: Decimal | None = None
    tokens_per_row: Decimal | None = None
    method: str | None = None
    lora_rank: int | None = None
    optimizer: str | None = None
    checkpointing: bool | None = None
    flash_attention: bool | None = None
    zero_stage: int | str | None = None
    offload: bool | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    gpu_memory_utilization: Decimal | None = None
    purpose: str | None = None
    electricity_price: Decimal | None = None
    electricity_currency: str | None = None
    utilisation: Decimal | None = None
    horizon_years: Decimal | None = None
    mfu: Decimal | None = None
    slo_tokens_per_s: Decimal | None = None
    slo_ttft_s: Decimal | None = None
    country: str | None = None
    upper_ends: tuple[str, ...] = ()


@dataclass(frozen=True)
class Said:
    """A workload and where its words stand: `spans` of every cue, `numbers` of the figures that it alone explains."""

    workload: Workload
    spans: tuple[tuple[int, int], ...] = ()
    numbers: tuple[tuple[int, int], ...] = ()

    def beside(self, quantities: Sequence[Quantity]) -> tuple[Quantity, ...]:
        """The quantities without those whose figure is the workload's: 1T tokens is no memory, 0.6 元/度 no budget."""
        return tuple(
            q
            for q in quantities
            if q.kind in ("rows", "precision")
            or not any(start < q.end and q.start < end for start, end in self.numbers)
        )


@dataclass
class _Notes:
    """What has been found so far; places are those of the folded text."""

    found: dict[str, object] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)
    numbers: list[tuple[int, int]] = field(default_factory=list)
    upper_ends: list[str] = field(default_factory=list)

    def keep(self, name: str, value: object, start: int, end: int) -> None:
        self.found.setdefault(name, value)
        self.spans.append((start, end))


def read_workload(text: str, quantities: Sequence[Quantity] = (), names: Sequence[tuple[int, int]] = ()) -> Said:
    """The workload of one turn; `quantities` and `names` are those read in `text`. Never raises."""
    folded = fold(text)
    hidden = {index for start, end in names for index in range(max(start, 0), min(end, len(text)))}
    masked = "".join(NAME if at in hidden else c for c, at in zip(folded.text, folded.offsets, strict=True))
    notes = _Notes()
    _words(folded.text, notes)
    _numbers(masked, notes)
    _from_quantities(text, quantities, notes)
    workload = Workload(**notes.found, upper_ends=tuple(notes.upper_ends))  # type: ignore[arg-type]
    return Said(workload, _placed(notes.spans, folded.offsets), _placed(notes.numbers, folded.offsets))


def merged(old: Workload, new: Workload) -> Workload:
    """What was said now over what was said before, field by field; values that belong together go together."""
    said = {
        each.name: getattr(new, each.name) for each in fields(Workload) if getattr(new, each.name) not in (None, ())
    }
    if "precision" in said or "quantised" in said:
        said = {"precision": new.precision, "quantised": new.quantised, **said}
    if "electricity_price" in said:
        said["electricity_currency"] = new.electricity_currency or old.electricity_currency
    if "method" in said and "lora_rank" not in said and new.method not in ("lora", "qlora"):
        said["lora_rank"] = None
    kept = tuple(name for name in old.upper_ends if name not in said)
    return replace(old, **{**said, "upper_ends": kept + new.upper_ends})


def asks_of(text: str) -> frozenset[str]:
    """What a text asks of a model: fits, needs_memory, serves, chooses, how_long."""
    lowered = fold(text).text
    return frozenset(name for name, words in ASKS if words.search(lowered))


def _placed(spans: Sequence[tuple[int, int]], offsets: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted({(offsets[start], offsets[end - 1] + 1) for start, end in spans if start < end}))


def _words(text: str, notes: _Notes) -> None:
    """What words alone say: precision, method, switches, purpose."""
    text = _optimiser(text, notes)
    text = _kv_precision(text, notes)
    _precision(text, notes)
    for match in QUANTISED.finditer(text):
        off = match[0].startswith("un") or WITHDRAWN.search(text, 0, match.start())
        notes.keep("quantised", not off, *match.span())
    _method(text, notes)
    _switches(text, notes)
    for name, table in (("purpose", PURPOSES), ("country", COUNTRIES)):
        found = next((value for value, words in table if is_meant(words, text)), None)
        if found:  # no span: "训练 7B" is a subject of its own, not the rest of a follow-up
            notes.found[name] = found
    note_trainer(text, notes.found)


def _method(text: str, notes: _Notes) -> None:
    methods = [(match.start(), name, match) for name, words in METHODS for match in words.finditer(text)]
    for _, name, match in sorted(methods, key=lambda item: item[0]):
        if not _withdrawn(text, match.start()):
            notes.keep("method", name, *match.span())


def _switches(text: str, notes: _Notes) -> None:
    for name, words in SWITCHES:
        for match in words.finditer(text):
            off = WITHDRAWN.search(text, 0, match.start()) or SWITCHED_OFF.match(text, match.end())
            notes.keep(name, not off, match.start(), match.end())
    for match in ZERO_STAGE.finditer(text):
        notes.keep("zero_stage", int(next(group for group in match.groups() if group)), *match.span())
        notes.numbers.append(match.span())
    for match in SHARDED.finditer(text):
        notes.keep("zero_stage", "fsdp", *match.span())


def _withdrawn(text: str, at: int) -> bool:
    return WITHDRAWN.search(text, 0, at) is not None


def _optimiser(text: str, notes: _Notes) -> str:
    """Note the optimiser and blank it out, since the 8 of "8-bit Adam" is no precision of weights."""
    for name, words in OPTIMISERS:
        for match in words.finditer(text):
            notes.keep("optimizer", name, *match.span())
            text = _blanked(text, match)
    return text


def _kv_precision(text: str, notes: _Notes) -> str:
    for match in (match for words in KV_PRECISIONS for match in words.finditer(text)):
        if "kv_precision" not in notes.found and (name := _named(match["kv"])):
            notes.keep("kv_precision", name, *match.span())
            text = _blanked(text, match)
    return text


def _precision(text: str, notes: _Notes) -> None:
    """The first precision that is meant; what stands behind "quantised to" before any other."""
    places = [(match, name) for name, words in PRECISIONS for match in words.finditer(text)]
    places.sort(key=lambda item: (TARGET.search(text, 0, item[0].start()) is None, item[0].start(), -item[0].end()))
    meant = [(match, name) for match, name in places if not _withdrawn(text, match.start())]
    for match, name in meant:
        # Of "int4 AWQ" the scheme says more than the bits.
        scheme = next((n for m, n in meant if n.endswith("-int4") and abs(m.start() - match.start()) < 10), None)
        notes.keep(
            "precision", match[0] if name == "gguf" else scheme if name == "int4" and scheme else name, *match.span()
        )
    if len(meant) == 1:
        give_precision_to_cache(text, notes.found, *meant[0][0].span())


def _named(written: str) -> str | None:
    return next((written if name == "gguf" else name for name, words in PRECISIONS if words.search(written)), None)


def _blanked(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]}{' ' * (match.end() - match.start())}{text[match.end() :]}"


def _numbers(text: str, notes: _Notes) -> None:
    """Give every figure to the one field whose cue stands beside it."""
    used = 0
    training = notes.found.get("purpose") in ("training", "finetuning")
    for figure in figures(text):
        if any(start <= figure.start < end for start, end in notes.numbers):
            continue
        claim = (
            _cued(text, figure, used)
            or _token_set(text, figure, used, training)
            or _rows(text, figure)
            or _bare_tokens(text, figure, used)
            or _bare_share(text, figure, used, notes)
        )
        if claim and _claimed(text, figure, claim, notes):
            used = claim[2]


def _claimed(text: str, figure: Figure, claim: Claim, notes: _Notes) -> bool:
    """Note the value of a figure whose field is known; False where no such value can be meant."""
    name, start, end, marks = claim
    value = value_of(name, figure, marks)
    if value is None:
        return False
    fresh = name not in notes.found
    notes.keep(name, value, start, end)
    notes.upper_ends += [name] if fresh and figure.ranged else []
    if name == "electricity_price" and (currency := currency_near(text, start, end)):
        notes.found.setdefault("electricity_currency", currency)
    if fresh and name in LENGTHS and figure.number.suffix == "k":
        binary = binary_factor(replace(figure.number, low=figure.value)) != 1
        notes.found.setdefault("kilo", 1024 if binary else 1000)
    if name != "rows":
        notes.numbers.append((figure.start, end))
    return True


Claim = tuple[str, int, int, Marks]


def _cued(text: str, figure: Figure, used: int) -> Claim | None:
    """The field named right before the figure, else the one named right behind it."""
    before = text[max(used, figure.start - WINDOW) : figure.start]
    offset = figure.start - len(before)
    for cue in CUES:
        match = cue.before.search(before) if cue.before else None
        free = cue.free.match(text, figure.end) if cue.free and match else None
        if match and free:
            return cue.field, offset + match.start(), free.end(), free.groupdict()
    for cue in CUES:
        if cue.after and (behind := cue.after.match(text, figure.end)):
            return cue.field, figure.start, behind.end(), behind.groupdict()
    return None


def _token_set(text: str, figure: Figure, used: int, training: bool) -> Claim | None:
    """1T tokens, 2 万亿 token, "on 300B", 300B 语料: what a model is trained on."""
    scale = SCALE.match(text, figure.end)
    end = scale.end() if scale else figure.end
    said = TOKENS.match(text, end) or CORPUS.match(text, end)
    before = text[max(used, figure.start - WINDOW) : figure.start]
    value = figure.value * (SCALES[scale["scale"][0]] if scale else 1)
    cued = scale and scale["scale"][0] == "t" and training and SET.search(before) and NO_MEMORY.match(text, end)
    if value >= LEAST_SET and (said or cued) and not NO_SET.search(before):
        return (
            "training_tokens",
            figure.start,
            said.end() if said else end,
            {"scale": scale["scale"] if scale else None},
        )
    return None


def _rows(text: str, figure: Figure) -> Claim | None:
    match = ROWS.match(text, figure.end)
    return ("rows", figure.start, match.end(), {}) if match else None


def _bare_tokens(text: str, figure: Figure, used: int) -> Claim | None:
    """ "4096 tokens" with nothing beside it, and the 8k of "KV cache at 8k": a context."""
    before = text[max(used, figure.start - WINDOW) : figure.start]
    said = TOKENS.match(text, figure.end)
    if said and figure.value < MOST_CONTEXT and not NO_SET.search(before):
        return "context_tokens", figure.start, said.end(), {}
    thousands = figure.number.suffix == "k" and binary_factor(figure.number) != 1
    cache, free = CACHE.search(text), FREE.match(text, figure.end)
    if free and thousands and (cache or (AT.search(before) and NAME in text)):
        return "context_tokens", figure.start, figure.end, {}
    return None


def _bare_share(text: str, figure: Figure, used: int, notes: _Notes) -> Claim | None:
    name = bare_share(text, figure, used, notes.found)
    return (name, figure.start, figure.end, {"percent": "%"}) if name else None


def _from_quantities(text: str, quantities: Sequence[Quantity], notes: _Notes) -> None:
    """Rows and the years something is kept, which the quantity grammar reads already."""
    for name, value, ranged in plain(text, quantities):
        if name not in notes.found:
            notes.found[name] = value
            notes.upper_ends += [name] if ranged else []
