"""The inputs of a calculator as a form has them: read from its pydantic model, required ones first.

Describes only; it parses nothing, renders nothing and has no words of its own.
"""

from __future__ import annotations

import types
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from assistant.calculator.calculation import number
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.tools import CALCULATORS

Kind = Literal[
    "number", "whole", "choice", "choices", "flag", "currency", "text", "date", "model", "gpu", "numbers", "texts", "rows"
]  # fmt: skip

# What one line of a list holds, in this order. Whatever else a row may have is given as JSON.
COLUMNS: dict[str, tuple[str, ...]] = {
    "GpuTime": ("gpus", "hours"),
    "RatedPart": ("instances", "price_per_hour"),
    "ServerPart": ("servers", "parts", "each"),
    "CardsOfAKind": ("cards", "each"),
    "ExchangeRate": ("currency", "per_usd", "as_of", "source"),
    "Limit": ("field", "minimum", "maximum"),
    "PriceRow": ("provider", "gpu", "price", "gpus_per_instance", "currency", "region"),
    "Candidate": ("gpu", "prices.price", "tokens_per_second_per_gpu", "memory_need_gib", "prices.currency", "prices.per"),
}  # fmt: skip
COMMON_CURRENCIES = ("CNY", "USD", "EUR", "GBP", "JPY", "HKD")
# Given by nothing but choice, though the model lets them be left out: one of several will do.
LEADING = ("model", "parameters", "gpu", "context_tokens", "sequence_tokens", "cards", "gpus", "method", "precision")


@dataclass(frozen=True)
class Column:
    """One value of a line of a list; `path` has a dot where the value stands in a list inside the row."""

    path: str
    field: FormField

    @property
    def name(self) -> str:
        """The name of the value itself."""
        return self.path.rpartition(".")[2]


@dataclass(frozen=True)
class FormField:
    """One input. `default` is its text as a reader would type it, "" where leaving it empty has no fixed meaning."""

    name: str
    kind: Kind
    required: bool
    default: str = ""
    choices: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()


@cache
def form_fields(calculator: str) -> tuple[FormField, ...]:
    """All inputs of a calculator, the required ones first. Raises KeyError for a calculator that there is not."""
    fields = [_field(name, info) for name, info in CALCULATORS[calculator].given.model_fields.items()]
    return tuple(sorted(fields, key=lambda field: not field.required))


def leading_fields(calculator: str, given: frozenset[str] = frozenset()) -> tuple[FormField, ...]:
    """What stands at the top of the form: required inputs, those that have a value, and those that lead the topic."""
    return tuple(
        f for f in form_fields(calculator) if f.required or f.name in given or f.name in LEADING or f.kind == "currency"
    )


def _field(name: str, info: FieldInfo) -> FormField:
    options = _options(info.annotation)
    main = options[0]
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    kind, choices, columns = _kind(main, options, info)
    return FormField(name, kind, info.is_required(), _typed(default), choices, columns)


def _options(annotation: Any) -> tuple[Any, ...]:
    """The types of a union without None, each without its limits."""
    bare = _bare(annotation)
    if get_origin(bare) in (Union, types.UnionType):
        return tuple(_bare(part) for part in get_args(bare) if part is not type(None))
    return (bare,)


def _bare(annotation: Any) -> Any:
    return _bare(get_args(annotation)[0]) if hasattr(annotation, "__metadata__") else annotation


def _kind(main: Any, options: tuple[Any, ...], info: FieldInfo) -> tuple[Kind, tuple[str, ...], tuple[Column, ...]]:
    if get_origin(main) is Literal:
        return "choice", tuple(map(str, get_args(main))), ()
    if get_origin(main) is tuple:
        return _list_kind(_bare(get_args(main)[0]))
    if ModelShape in options:
        return "model", (), ()
    if main is GpuSpec:
        return "gpu", (), ()
    if main is str:
        return ("currency", COMMON_CURRENCIES, ()) if _is_currency(info) else ("text", (), ())
    kinds: dict[Any, Kind] = {bool: "flag", Decimal: "number", date: "date", int: "whole"}
    return ("number" if Decimal in options else kinds[main]), (), ()


def _list_kind(item: Any) -> tuple[Kind, tuple[str, ...], tuple[Column, ...]]:
    if get_origin(item) is Literal:
        return "choices", tuple(map(str, get_args(item))), ()
    if isinstance(item, type) and issubclass(item, BaseModel):
        return "rows", (), tuple(Column(path, _column(item, path)) for path in COLUMNS[item.__name__])
    return ("texts" if item is str else "numbers"), (), ()


def _column(row: type[BaseModel], path: str) -> FormField:
    outer, _, inner = path.partition(".")
    info = row.model_fields[outer]
    if not inner:
        return _field(outer, info)
    (item,) = (part for part in get_args(info.annotation) if part is not Ellipsis)
    return _field(inner, item.model_fields[inner])


def _is_currency(info: FieldInfo) -> bool:
    return any(getattr(limit, "pattern", None) == "^[A-Z]{3}$" for limit in info.metadata)


def _typed(default: Any) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, Decimal):
        return number(default).replace(",", "")
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return "" if default is None else str(default)
