"""Why a calculator refused its inputs, as a sentence about a field of the form, in both languages.

Reads the errors of pydantic and of calculators; it checks nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from assistant.calculator.calculation import number
from assistant.calculator_fields import form_fields
from assistant.calculator_words import field_label, refusal
from assistant.evidence import Bilingual, Language
from assistant.tools import ToolError

MOST_FAULTS = 5  # shown of many
FAR = Bilingual(zh="数值相差太悬殊，算不出精确结果", en="the values are too far apart to be computed exactly")

# pydantic's kinds of faults; {limit} is the bound that was passed.
KINDS: dict[str, Bilingual] = {
    "missing": Bilingual(zh="请填写", en="please fill this in"),
    "greater_than": Bilingual(zh="必须大于 {limit}", en="must be greater than {limit}"),
    "greater_than_equal": Bilingual(zh="不能小于 {limit}", en="must be at least {limit}"),
    "less_than": Bilingual(zh="必须小于 {limit}", en="must be less than {limit}"),
    "less_than_equal": Bilingual(zh="不能大于 {limit}", en="must be at most {limit}"),
    "int_from_float": Bilingual(zh="必须是整数", en="must be a whole number"),
    "int_parsing": Bilingual(zh="必须是整数", en="must be a whole number"),
    "int_type": Bilingual(zh="必须是整数", en="must be a whole number"),
    "decimal_parsing": Bilingual(zh="必须是数字", en="must be a number"),
    "decimal_type": Bilingual(zh="必须是数字", en="must be a number"),
    "literal_error": Bilingual(zh="只能是 {expected}", en="must be {expected}"),
    "string_pattern_mismatch": Bilingual(
        zh="写法不对（币种写三个字母，如 CNY；日期写 2026-01-31）",
        en="is not written as it must be (a currency has three letters, as CNY; a date is written 2026-01-31)",
    ),
    "too_short": Bilingual(zh="至少要有 {limit} 项", en="needs at least {limit}"),
    "too_long": Bilingual(zh="最多 {limit} 项", en="may have at most {limit}"),
    "string_too_short": Bilingual(zh="不能为空", en="must not be empty"),
    "string_too_long": Bilingual(zh="最多 {limit} 个字符", en="may have at most {limit} characters"),
    "extra_forbidden": Bilingual(zh="这里没有这一项", en="there is no such input here"),
}


@dataclass(frozen=True)
class FormFault:
    """What is wrong with one field; `field` is "" where several together, or none, are at fault."""

    field: str
    text: Bilingual


class FormError(Exception):
    """What was typed into a form cannot be computed with."""

    def __init__(self, faults: tuple[FormFault, ...]) -> None:
        super().__init__("; ".join(f"{fault.field}: {fault.text.en}" for fault in faults))
        self.faults = faults


def sentences(calculator: str, faults: tuple[FormFault, ...], language: Language) -> list[str]:
    """Each fault as a sentence in the reader's language, the field named by its label."""
    colon, stop = ("：", "。") if language == "zh" else (": ", ".")
    lines = []
    for fault in faults[:MOST_FAULTS]:
        text = fault.text[language]
        line = f"{field_label(calculator, fault.field)[language]}{colon}{text}" if fault.field else text
        line = line[:1].upper() + line[1:]
        lines.append(line if line.endswith((stop, "？", "?")) else line + stop)
    return lines


def faults_of(calculator: str, error: ToolError) -> tuple[FormFault, ...]:
    """What a calculator's refusal says of the fields of its form."""
    cause = error.__cause__
    labels = {field.name: field_label(calculator, field.name) for field in form_fields(calculator)}
    if isinstance(cause, ValidationError):
        return tuple(_fault(calculator, details, labels) for details in cause.errors())
    if isinstance(cause, ArithmeticError):
        return (FormFault("", FAR),)
    return (FormFault("", refusal(str(cause or error), labels)),)


def _fault(calculator: str, details: ErrorDetails, labels: Mapping[str, Bilingual]) -> FormFault:
    where = details["loc"]
    field = str(where[0]) if where else ""
    text = _text(details, dict(labels))
    within = [part for part in where[1:] if isinstance(part, int) or str(part).islower()]
    if within:
        zh = "".join(
            f"第 {part + 1} 项" if isinstance(part, int) else f"的{field_label(calculator, part).zh}" for part in within
        )
        en = " ".join(
            f"item {part + 1}" if isinstance(part, int) else field_label(calculator, part).en for part in within
        )
        text = Bilingual(zh=f"{zh}：{text.zh}", en=f"{en}: {text.en}")
    return FormFault(field, text)


def _text(details: ErrorDetails, labels: dict[str, Bilingual]) -> Bilingual:
    context = details.get("ctx", {})
    if details["type"] == "value_error":
        return refusal(details["msg"].removeprefix("Value error, "), labels)
    words = KINDS.get(details["type"])
    if words is None:
        return Bilingual(zh=f"这个值用不了（{details['msg']}）", en=f"this value cannot be used ({details['msg']})")
    filled = {"limit": _limit(context), "expected": str(context.get("expected", ""))}
    return Bilingual(zh=words.zh.format(**filled), en=words.en.format(**filled))


def _limit(context: Mapping[str, Any]) -> str:
    bound = next(
        (context[name] for name in ("gt", "ge", "lt", "le", "min_length", "max_length") if name in context), ""
    )
    return number(Decimal(str(bound))) if bound != "" else ""
