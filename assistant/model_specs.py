"""Answers about the shape of open models: parameters, layers, heads, context length, licence.

Says what models.csv holds; what running or training a model needs is asked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant import render
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.remembered import linked
from assistant.spec_words import EVERYTHING, model_columns
from assistant.understand import Request
from knowledge.hardware import Model
from knowledge.hardware_cells import model_cells
from knowledge.names import model_name, normalise

FEW_COLUMNS = 4
# Aspects of questions about running or training a model.
WORK = frozenset({"gpu_memory", "hyperparameters", "training", "fast", "per_row", "cards"})
KV_CACHE = re.compile(r"kv[ -]?(?:cache|缓存)|键值缓存", re.I)


def model_specs(request: Request, book: Ledger) -> Finding | None:
    """The facts asked for of the models named; None = not such a question."""
    columns = _asked(request)
    rows = [(key, book.catalog.model(model_name(key) or "")) for key in request.slots.models]
    models = [model for _, model in rows if model]
    if not columns or not models:
        return None
    every = [cell.column for cell in model_cells(models[0])[1:]]
    wanted = [column for column in every if column in columns or EVERYTHING in columns]
    shown = [column for column in wanted if any(_value(model, column, book) for model in models)]
    parts = ["  \n".join(_heads(models, wanted, book))] if len(wanted) <= FEW_COLUMNS else []
    if len(wanted) > FEW_COLUMNS or len(models) > 1:
        parts.append(_table(models, shown, book))
    missing = [render.name("model", key, book.language) for key, model in rows if not model]
    if missing:
        names = render.joined(missing, book.language)
        parts.append(book.say(f"知识库里没有 {names} 的结构数据。", f"The knowledge base has no shape of {names}."))
    parts += [book.say(*item.assumed) for item in linked(request.question) if item.kind == "model" and item.assumed]
    return book.finding("answered" if shown else "not_in_knowledge", *parts)


def _asked(request: Request) -> tuple[str, ...]:
    s = request.slots
    if not s.models or s.gpus or s.workloads or s.unknown or s.rows or s.money or s.periods or s.methods or s.providers:
        return ()
    work = s.workload
    sized = work.context_tokens or work.batch_size or work.concurrency  # a length that is said is no length asked for
    if request.aspects & WORK or sized or "needs_memory" in request.aspects or KV_CACHE.search(request.question):
        return ()
    return model_columns(normalise(request.question)) or model_columns(request.search_text)


def _value(model: Model, column: str, book: Ledger) -> str:
    if column == "kv_heads" and model.cache == "mla":  # it has none: what it caches instead
        column = "cache"
    return next(book.say(*cell.value) for cell in model_cells(model) if cell.column == column)


def _heads(models: Sequence[Model], wanted: Sequence[str], book: Ledger) -> list[str]:
    lines = []
    for model in models:
        mark = book.cite_model(model)
        labels = {cell.column: book.say(*cell.label) for cell in model_cells(model)}
        for column in wanted:
            value, label = _value(model, column, book), labels[column]
            if value:
                lines.append(
                    book.say(f"**{model.name} {label}：{value}**{mark}", f"**{model.name} {label}: {value}** {mark}")
                )
            else:
                lines.append(book.say(f"**{model.name} 没有「{label}」这一项**，或没有来源给出{mark}。",
                                      f"**{model.name} has no {label}**, or no source gives it {mark}."))  # fmt: skip
    return lines


def _table(models: Sequence[Model], shown: Sequence[str], book: Ledger) -> str:
    labels = {cell.column: book.say(*cell.label) for cell in model_cells(models[0])}
    headings = [book.say("项目", "Fact"), *(f"{model.name} {book.cite_model(model)}" for model in models)]
    return render.table(
        headings, [[labels[column], *(_value(m, column, book) or "—" for m in models)] for column in shown]
    )
