"""What kind of value an argument of a calculator takes, read from the annotation of its input model."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from assistant.calculator.shapes import GpuSpec, ModelShape

Kind = Literal["number", "choice", "yes_no", "gpu", "model"]


def allowed_types(annotation: Any) -> Iterator[Any]:
    """The types that an annotation allows, without None and without what only limits them."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from allowed_types(get_args(annotation)[0])
    elif origin in (Union, UnionType):
        for part in get_args(annotation):
            yield from allowed_types(part)
    elif annotation is not type(None):
        yield annotation


def kind_of(annotation: object) -> Kind | None:
    """What a reader would give for it in one box; None for lists, texts and rows of other tables."""
    parts = list(allowed_types(annotation))
    if GpuSpec in parts or ModelShape in parts:
        return "gpu" if GpuSpec in parts else "model"
    if parts and all(get_origin(part) is Literal for part in parts):
        return "choice"
    if parts == [bool]:
        return "yes_no"
    return "number" if parts and all(part in (int, Decimal) for part in parts) else None


def choices_of(annotation: object) -> tuple[str, ...]:
    """The values of a choice, in their order."""
    literals = [part for part in allowed_types(annotation) if get_origin(part) is Literal]
    return tuple(str(choice) for literal in literals for choice in get_args(literal))
