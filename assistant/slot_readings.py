"""Which kind of question the slots leave, whatever the classifier thinks: a model and a card, rows and a method, money.

Looks at what was said and at no word beside the aspects; which reading wins is understand.py's decision.
"""

from __future__ import annotations

from assistant.reading import Slots

PRICE_INTENTS = frozenset({"price", "compare", "cost", "budget"})
MODEL_INTENTS = frozenset({"fit", "finetune_memory", "train_cost", "serving", "choose"})
KEEPING = MODEL_INTENTS | {"buy_or_rent", "power"}
TABLE_MODELS = frozenset({"Falcon-40B", "MPT-30B"})  # what running them needs stands in the articles' table
TABLE_TRAINED = frozenset({"Falcon-40B", "LLaMA-65B"})
COMPARING = frozenset({"cheapest", "dearest", "order", "difference", "ratio", "average"})


def only_readings(s: Slots, has: frozenset[str], intent: str) -> list[tuple[str, bool]]:
    """Intents that the slots force, strongest first."""
    host = "host" in has and bool(s.gpus) and not (s.workloads or s.models or "gpu_memory" in has)
    plain = ("document", "memory", "speedup", "training_time", "buy_price")
    answerable = intent in (*plain, *PRICE_INTENTS, *MODEL_INTENTS)
    return [
        (
            "document",
            "hyperparameters" in has and intent not in MODEL_INTENTS and not any(h for _, h in _model_readings(s, has)),
        ),
        (
            "history",
            _asks_history(s, has)
            and bool(s.models)
            and intent in ("train_cost", "memory", "finetune_memory", "training_time"),
        ),
        ("power", bool(s.gpus) and "electricity" in has and not has & {"buy", "rent"}),
        ("budget", bool(s.money and s.gpus) and "payback" in has),
        ("buy_or_rent", bool(s.gpus) and {"buy", "rent"} <= has and not s.money and intent != "off_topic"),
        (
            "speedup",
            set(s.gpus) == {"H100", "A100"} and (_long(s) or "break_even" in has) and intent != "cost" and not s.count,
        ),
        ("speedup", set(s.gpus) == {"H100", "A100"} and "fast" in has and "price" not in has),
        ("training_time", _is_run(s, has) and answerable and not (intent == "finetune_memory" and not s.rows)),
        ("memory", _of_table(s, has) and intent in ("document", "memory", *MODEL_INTENTS)),
        ("memory", intent == "memory" and s.workload.purpose == "training" and not s.workload.method),
        *((intended, holds and answerable) for intended, holds in _model_readings(s, has)),
        ("cost", "price" in has and _long(s) and bool(s.gpus or s.workloads) and intent in ("document", "memory")),
        ("document", "use" in has and "price" not in has and intent in PRICE_INTENTS),
        (price_kind(s, has, "price"), _rents(s, has) and intent == "document"),
        ("price", host and (intent == "memory" or (intent == "document" and bool(s.providers)))),
        ("document", {"buy", "rent"} <= has and not (s.gpus or s.money) and intent in PRICE_INTENTS),
        ("document", "ranking" in has and "price" not in has and intent in PRICE_INTENTS),
        ("document", intent == "buy_price" and "server" in has),
        ("document", intent in PRICE_INTENTS and "box" in has and not (s.providers or s.periods or s.count)),
    ]


def _rents(s: Slots, has: frozenset[str]) -> bool:
    """A card and a cloud named with a word about prices: what the rows hold, unless a reason or a use is asked for."""
    return bool(s.gpus and s.providers) and "price" in has and not has & {"why", "use", "export", "training"}


def _asks_history(s: Slots, has: frozenset[str]) -> bool:
    """How long or how dear somebody's training was: a fact of the past, which no estimate answers."""
    return "past" in has and not (s.gpus or s.count or s.rows or s.methods or s.workload.training_tokens)


def _of_table(s: Slots, has: frozenset[str]) -> bool:
    """A workload of the articles' table, with nothing said that the table does not know; its rental price is a price."""
    work = s.workload
    beyond = bool(
        work.precision
        or work.method
        or work.context_tokens
        or work.concurrency
        or work.training_tokens
        or s.parameters_b
    )
    table = TABLE_TRAINED if work.purpose == "training" else TABLE_MODELS
    asked = bool(has & {"fits", "needs_memory", "how_many", "chooses"})
    return bool(s.workloads) or (bool(table & set(s.models)) and not beyond and asked and "price" not in has)


def _model_readings(s: Slots, has: frozenset[str]) -> list[tuple[str, bool]]:
    """Intents that a model with what is to be done with it forces, strongest first."""
    work = s.workload
    model = bool(s.models or s.parameters_b)
    plain = "price" not in has and not s.money
    trains = bool(work.method) or work.zero_stage is not None or work.purpose in ("training", "finetuning")
    memory = "needs_memory" in has or ("fits" in has and bool(s.gpus or s.memory_gb))
    loaded = bool(
        work.concurrency or work.requests_per_s or work.slo_tokens_per_s or work.slo_ttft_s or "serves" in has
    )
    trained_on = bool(work.training_tokens) or (trains and bool(s.rows or work.rows or work.tokens_per_row))
    return [
        ("train_cost", bool(work.training_tokens) and (model or trains or bool(s.gpus))),
        ("choose", model and "chooses" in has and not (s.gpus or s.memory_gb)),
        ("train_cost", model and trained_on and bool(has & {"how_long", "price"})),
        ("finetune_memory", model and trains and plain and (memory or "how_many" in has)),
        (
            "finetune_memory",
            model
            and bool(work.method or work.zero_stage is not None)
            and plain
            and bool(s.gpus or s.memory_gb or s.count)
            and not (trained_on or loaded or has & {"how_long", "fast"}),
        ),
        ("serving", model and loaded and not trains and "needs_memory" not in has),
        ("fit", model and plain and not trains and (memory or ("how_many" in has and bool(s.gpus or s.memory_gb)))),
    ]


def price_kind(s: Slots, has: frozenset[str], intent: str) -> str:
    """Which of the price questions it is: the slots say it better than the words."""
    if intent == "cost" and s.periods and s.periods[0].unit == "hour" and not (_long(s) or s.count or s.items):
        intent = "price"  # "one hour" is what prices are quoted in
    several = (
        (s.count or 1) > 1
        and bool(s.periods and s.gpus)
        and not (s.items or s.money or s.instances or s.price_per_hour)
    )
    if intent == "price" and several and not has & {*COMPARING, "limit", "host"}:
        intent = "cost"  # "two A100s for one hour" is a bill; a price is one card's
    if intent == "price" and (len(s.providers) > 1 or has & COMPARING):
        intent = "compare"
    if intent in ("price", "compare") and _long(s) and not s.money:
        intent = "cost"
    if s.money and "buy" not in has:
        intent = "budget"
    return intent


def _is_run(s: Slots, has: frozenset[str]) -> bool:
    """A question about the measured ChatGLM runs: a ChatGLM model or method, and rows, a method or a time word."""
    glm = bool({"ChatGLM", "ChatGLM2"} & set(s.models))
    return (glm and bool(s.rows or s.methods or has & {"training", "large_data", "small_data", "per_row"})) or (
        len(s.methods) > 1 and bool(s.rows or has & {"training", "per_row"})
    )


def _long(s: Slots) -> bool:
    """A stated time that is more than the hour prices are quoted in."""
    return bool(s.hours_per_day) or any(p.hours != 1 for p in s.periods)
