"""A calculator's form as HTML: a label and a box for each input, the important ones first, the rest folded away.

It writes markup only. Values are escaped; what they mean is for calculator_forms.py.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping

from assistant.calculator_fields import COMMON_CURRENCIES, FormField, form_fields, leading_fields
from assistant.calculator_forms import LONGEST_LIST, LONGEST_TEXT
from assistant.calculator_words import choice_label, field_label
from assistant.evidence import Bilingual, Language
from knowledge.catalog import load_catalog

MORE = Bilingual(zh="更多选项", en="More options")
DEFAULT = Bilingual(zh="默认", en="default")
NOT_GIVEN = Bilingual(zh="（默认）", en="(default)")
OPTIONAL = Bilingual(zh="可不填", en="optional")
CHOOSE = Bilingual(zh="选择或输入名称", en="choose or type a name")
NAME_OR_JSON = {
    "model": '{"name": "X", "parameters": 7e9, "active_parameters": 7e9, "layers": 32, "hidden_size": 4096, '
    '"attention_heads": 32, "kv_heads": 8, "head_size": 128, "vocabulary": 32000}',
    "gpu": '{"name": "X", "memory_gib": 48, "bandwidth_gb_per_s": 900, "bf16_tflops": 150, "tdp_w": 300}',
}
NOT_LISTED = Bilingual(zh="列表里没有？可填参数", en="Not on the list? Give its figures")
LINES = Bilingual(zh="每行一项：", en="One line each: ")
VALUES = Bilingual(zh="每行一个，或用逗号加空格分开", en="One per line, or parted by a comma and a space")
ROWS_JSON = Bilingual(zh="；也可以填 JSON", en="; or JSON")
NUMBERS = Bilingual(zh="可写 1e9、72B、24k、3万、15%", en="1e9, 72B, 24k and 15% may be typed")


def form_html(calculator: str, typed: Mapping[str, str], language: Language) -> str:
    """The form of a calculator with what is typed into it. Raises KeyError for a calculator that there is not."""
    leading = leading_fields(calculator, frozenset(typed))
    rest = [field for field in form_fields(calculator) if field not in leading]
    inner = [f'<div class="fields">{_all(calculator, leading, typed, language)}</div>']
    if rest:
        summary = f"{MORE[language]} ({len(rest)})"
        inner.append(
            f"<details><summary>{summary}</summary>"
            f'<div class="fields">{_all(calculator, rest, typed, language)}</div></details>'
        )
    inner.append(f'<p class="hint">{html.escape(NUMBERS[language])}</p>')
    inner += _name_lists(form_fields(calculator))
    return (
        f'<form id="calculator-form" data-calculator="{html.escape(calculator)}" autocomplete="off" novalidate>'
        f"{''.join(inner)}</form>"
    )


def _all(calculator: str, fields: Iterable[FormField], typed: Mapping[str, str], language: Language) -> str:
    return "".join(_field(calculator, field, typed.get(field.name, ""), language) for field in fields)


def _field(calculator: str, field: FormField, text: str, language: Language) -> str:
    label = html.escape(field_label(calculator, field.name)[language])
    if field.kind == "flag":
        return _checkbox(field, label, text)
    if field.kind == "choices":
        return _checkboxes(field, label, text, language)
    mark = '<span class="required" aria-hidden="true">*</span>' if field.required else ""
    wide = " wide" if field.kind in ("rows", "numbers", "texts") else ""
    return (
        f'<div class="field{wide}"><label for="calc-{field.name}">{label}{mark}</label>'
        f"{_control(field, text, language)}{_hint(calculator, field, language)}</div>"
    )


def _control(field: FormField, text: str, language: Language) -> str:
    common = f'id="calc-{field.name}" name="{field.name}"' + (' aria-required="true"' if field.required else "")
    value, shown = html.escape(text), html.escape(_placeholder(field, language))
    match field.kind:
        case "choice":
            return f"<select {common}>{_options(field, text, language)}</select>"
        case "currency":
            return f'<input {common} type="text" list="names-currencies" maxlength="3" value="{value}" placeholder="{shown}">'
        case "rows" | "numbers" | "texts":
            lines = 4 if field.kind == "rows" else 3
            return (
                f'<textarea {common} rows="{lines}" maxlength="{LONGEST_LIST}" placeholder="{shown}">{value}</textarea>'
            )
        case "model" | "gpu":
            return (
                f'<input {common} type="text" list="names-{field.kind}s" maxlength="{LONGEST_LIST}" value="{value}" '
                f'placeholder="{shown}">'
            )
    mode = ' inputmode="decimal"' if field.kind in ("number", "whole") else ""
    return f'<input {common} type="text"{mode} maxlength="{LONGEST_TEXT}" value="{value}" placeholder="{shown}">'


def _placeholder(field: FormField, language: Language) -> str:
    if field.kind in ("model", "gpu"):
        return CHOOSE[language]
    if field.default:
        return f"{DEFAULT[language]} {field.default}"
    return "" if field.required else OPTIONAL[language]


def _options(field: FormField, text: str, language: Language) -> str:
    chosen = text or field.default
    choices = field.choices if field.required or field.default else ("", *field.choices)
    return "".join(
        f'<option value="{html.escape(choice)}"{" selected" if choice == chosen else ""}>'
        f"{html.escape(choice_label(field.name, choice)[language] if choice else NOT_GIVEN[language])}</option>"
        for choice in choices
    )


def _checkbox(field: FormField, label: str, text: str) -> str:
    ticked = " checked" if (text or field.default) == "yes" else ""
    return (
        f'<div class="field flag"><label><input type="checkbox" name="{field.name}" id="calc-{field.name}"'
        f' value="yes"{ticked}> {label}</label></div>'
    )


def _checkboxes(field: FormField, label: str, text: str, language: Language) -> str:
    chosen = {value.strip() for value in (text or field.default).split(",")}
    boxes = "".join(
        f'<label><input type="checkbox" name="{field.name}" value="{html.escape(choice)}" data-several'
        f"{' checked' if choice in chosen else ''}> {html.escape(choice_label(field.name, choice)[language])}</label>"
        for choice in field.choices
    )
    return f'<fieldset class="field several wide" id="calc-{field.name}"><legend>{label}</legend>{boxes}</fieldset>'


def _hint(calculator: str, field: FormField, language: Language) -> str:
    if field.kind == "rows":
        names = ", ".join(_column_name(calculator, column.name, language) for column in field.columns)
        return f'<p class="hint">{html.escape(LINES[language] + names + ROWS_JSON[language])}</p>'
    if field.kind in ("numbers", "texts"):
        return f'<p class="hint">{html.escape(VALUES[language])}</p>'
    if field.kind in NAME_OR_JSON:
        example = html.escape(NAME_OR_JSON[field.kind])
        return f'<details class="hint"><summary>{html.escape(NOT_LISTED[language])}</summary><code>{example}</code></details>'
    return ""


def _column_name(calculator: str, name: str, language: Language) -> str:
    return field_label(calculator, name)[language]


def _name_lists(fields: Iterable[FormField]) -> list[str]:
    """The names that boxes of this form offer while one types."""
    kinds = {field.kind for field in fields}
    lists: dict[str, tuple[str, ...]] = {"currencies": COMMON_CURRENCIES if "currency" in kinds else ()}
    if "gpu" in kinds:
        lists["gpus"] = tuple(gpu.name for gpu in load_catalog().gpus if gpu.memory is not None)
    if "model" in kinds:
        lists["models"] = tuple(model.name for model in load_catalog().models)
    return [
        f'<datalist id="names-{name}">{"".join(f"<option>{html.escape(value)}</option>" for value in values)}</datalist>'
        for name, values in lists.items()
        if values
    ]
