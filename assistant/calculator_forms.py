"""What was typed into a calculator's form -> the calculator's arguments and result, or what is wrong in both languages.

The inputs are text by field name, as a form or a link has them. It computes nothing: figures come from tools.call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from assistant import shape_rows, tools
from assistant.calculator.calculation import Calculation
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.calculator_faults import FormError, FormFault, faults_of
from assistant.calculator_fields import Column, FormField, form_fields
from assistant.calculator_words import choice_label
from assistant.evidence import Bilingual, Call, Language
from assistant.typed_lists import ListFaultError, lines_of, numbers_of, texts_of
from assistant.typed_numbers import typed_number

LONGEST_TEXT = 200  # characters of one value
LONGEST_LIST = 20_000  # characters of a list, or of a row given as JSON
FLAGS = {"yes": True, "no": False, "true": True, "false": False, "1": True, "0": False}
Typed = Mapping[str, str]

__all__ = ["FormError", "FormFault", "Outcome", "Typed", "arguments_of", "computed", "given_only"]


@dataclass(frozen=True)
class Outcome:
    """A calculator's result with what was typed for it, nothing else put in, and the record for the chat."""

    calculator: str
    typed: dict[str, str]
    call: Call
    result: Calculation


def computed(calculator: str, typed: Typed, language: Language) -> Outcome:
    """Run a calculator on what was typed. Raises FormError with every fault found."""
    given = given_only(calculator, typed)
    arguments = arguments_of(calculator, given)
    try:
        call, result = tools.call(calculator, language, **arguments)
    except tools.ToolError as error:
        raise FormError(faults_of(calculator, error)) from error
    return Outcome(calculator, given, call, result)


def given_only(calculator: str, typed: Typed) -> dict[str, str]:
    """What was typed, in the order of the form, without what is empty or the same as leaving it out.

    A name that the calculator has no input for is kept, to be refused with the rest. Raises FormError for a calculator
    that there is not.
    """
    if calculator not in tools.CALCULATORS:
        raise FormError((FormFault("", Bilingual(
            zh=f"没有叫“{_short(calculator)}”的计算器，请从列表中选择。",
            en=f"There is no calculator called “{_short(calculator)}”; please choose one from the list.")),))  # fmt: skip
    fields = {field.name: field for field in form_fields(calculator)}
    stripped = {name: text.strip() for name, text in typed.items()}
    known = {
        name: stripped[name]
        for name, field in fields.items()
        if stripped.get(name) and not _is_idle(field, stripped[name])
    }
    return known | {name: text for name, text in stripped.items() if text and name not in fields}


def arguments_of(calculator: str, typed: Typed) -> dict[str, Any]:
    """The arguments that the text means. Raises FormError with every fault found."""
    fields = {field.name: field for field in form_fields(calculator)}
    arguments: dict[str, Any] = {}
    faults: list[FormFault] = []
    for name, text in typed.items():
        try:
            if name not in fields:
                raise ListFaultError(Bilingual(zh="这个计算器没有这一项", en="this calculator has no such input"))
            arguments[name] = _value(fields[name], text)
        except ListFaultError as fault:
            faults.append(FormFault(name[:LONGEST_TEXT], fault.text))
    missing = Bilingual(zh="请填写", en="please fill this in")
    faults += [FormFault(name, missing) for name, field in fields.items() if field.required and name not in typed]
    if faults:
        raise FormError(tuple(faults))
    return arguments


def _is_idle(field: FormField, text: str) -> bool:
    """A list to choose from and a box to tick always say something: their default says nothing."""
    return field.kind in ("choice", "choices", "flag", "currency") and text == field.default


def _value(field: FormField, text: str) -> Any:
    is_list = field.kind in ("numbers", "texts", "rows", "model", "gpu")
    if len(text) > (LONGEST_LIST if is_list else LONGEST_TEXT):
        raise ListFaultError(Bilingual(zh="太长了，请缩短", en="this is too long, please shorten it"))
    return _single(field, text) if field.kind not in ("numbers", "texts", "choices", "rows") else _several(field, text)


def _single(field: FormField, text: str) -> Any:
    match field.kind:
        case "number" | "whole":
            return _number(field, text)
        case "choice":
            return _choice(field, text)
        case "flag":
            return _flag(text)
        case "model":
            return _row(ModelShape, text)
        case "gpu":
            return _row(GpuSpec, text)
        case "date":
            return _date(text)
        case "currency":
            return text.upper()
    return text


def _several(field: FormField, text: str) -> Any:
    match field.kind:
        case "numbers":
            return [_exact(value) for value in numbers_of(text)]
        case "texts":
            return texts_of(text)
        case "choices":
            return [_choice(field, value) for value in texts_of(text)]
    if text.startswith(("[", "{")):
        rows = _json(text)
        return rows if isinstance(rows, list) else [rows]
    return [_line(field.columns, cells, place) for place, cells in enumerate(lines_of(text), start=1)]


def _line(columns: tuple[Column, ...], cells: list[str], place: int) -> dict[str, Any]:
    """One line of a list as the row it means; a path with a dot goes into a list of one inside the row."""
    where = Bilingual(zh=f"第 {place} 行", en=f"line {place}")
    if len(cells) > len(columns):
        raise ListFaultError(Bilingual(
            zh=f"{where.zh}有 {len(cells)} 项，最多 {len(columns)} 项", en=f"{where.en} has {len(cells)} values, at most {len(columns)} are read"))  # fmt: skip
    row: dict[str, Any] = {}
    for column, cell in zip(columns, cells, strict=False):
        if not cell:
            continue
        try:
            value = _single(column.field, cell)
        except ListFaultError as fault:
            raise ListFaultError(
                Bilingual(zh=f"{where.zh}：{fault.text.zh}", en=f"{where.en}: {fault.text.en}")
            ) from fault
        outer, dot, inner = column.path.partition(".")
        if dot:
            row.setdefault(outer, [{}])[0][inner] = value
        else:
            row[outer] = value
    return row


def _number(field: FormField, text: str) -> int | Decimal:
    value = typed_number(text)
    if value is None:
        raise ListFaultError(Bilingual(zh=f"“{_short(text)}”不是数字", en=f"“{_short(text)}” is not a number"))
    exact = _exact(value)
    if field.kind == "whole" and not isinstance(exact, int):
        raise ListFaultError(Bilingual(zh=f"{text} 不是整数", en=f"{text} is not a whole number"))
    return exact


def _exact(value: Decimal) -> int | Decimal:
    return int(value) if value == value.to_integral_value() else value


def _choice(field: FormField, text: str) -> str:
    for choice in field.choices:
        if text.casefold() == choice.casefold():
            return choice
    offered = Bilingual(
        zh="、".join(choice_label(field.name, choice).zh for choice in field.choices),
        en=", ".join(choice_label(field.name, choice).en for choice in field.choices),
    )
    raise ListFaultError(Bilingual(
        zh=f"“{_short(text)}”不在可选项之列：{offered.zh}", en=f"“{_short(text)}” is none of {offered.en}"))  # fmt: skip


def _flag(text: str) -> bool:
    if text.casefold() not in FLAGS:
        raise ListFaultError(Bilingual(zh=f"“{_short(text)}”应为 yes 或 no", en=f"“{_short(text)}” must be yes or no"))
    return FLAGS[text.casefold()]


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ListFaultError(Bilingual(
            zh=f"“{_short(text)}”不是日期，请写成 2026-01-31", en=f"“{_short(text)}” is no date; write 2026-01-31")) from error  # fmt: skip


def _row(kind: type[ModelShape] | type[GpuSpec], text: str) -> Any:
    """A name that a row has, as it is; or the figures themselves as JSON."""
    if text.startswith("{"):
        return _json(text)
    found = shape_rows.named_model(text) if kind is ModelShape else shape_rows.named_gpu(text)
    if found is not None:
        return text
    near = shape_rows.candidates(kind, text)
    what = Bilingual(zh="模型", en="model") if kind is ModelShape else Bilingual(zh=" GPU", en="GPU")
    perhaps = (
        Bilingual(zh=f"，是不是 {'、'.join(near)}？", en=f"; perhaps {', '.join(near)}.")
        if near
        else Bilingual(zh="。", en=".")
    )
    raise ListFaultError(Bilingual(
        zh=f"没有叫“{_short(text)}”的{what.zh}{perhaps.zh}可以从列表中选，或用 JSON 填写它的参数",
        en=f"no {what.en} is called “{_short(text)}”{perhaps.en} Choose one from the list, or give its figures as JSON"))  # fmt: skip


def _json(text: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise ListFaultError(Bilingual(zh="这段 JSON 读不出来", en="this JSON cannot be read")) from error


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
