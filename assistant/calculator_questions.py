"""A calculator's inputs as a question in words, so that the chat can go on from it.

Writes the question only; it answers nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assistant.calculator_fields import FormField, form_fields
from assistant.calculator_words import (
    calculators,
    choice_label,
    currency_words,
    field_label,
    question_templates,
    unit_words,
)
from assistant.evidence import Language

_SLOT = re.compile(r"\{([a-z0-9_]+)\}")


def question_of(calculator: str, typed: Mapping[str, str], language: Language) -> str:
    """A question that names every input typed: in the calculator's own words where these name all of them."""
    fields = {field.name: field for field in form_fields(calculator)}
    templates = question_templates(calculator)
    if templates is not None:
        slots = _SLOT.findall(templates[language])
        values = {name: typed.get(name) or fields[name].default for name in slots}
        if all(values.values()) and set(typed) <= {*slots}:
            words = {name: _in_words(fields[name], text, language) for name, text in values.items()}
            return _singular(templates[language].format(**words), language)
    return _listed(calculator, typed, fields, language)


def _listed(calculator: str, typed: Mapping[str, str], fields: Mapping[str, FormField], language: Language) -> str:
    name = calculators()[calculator].name[language]
    given = [
        f"{field_label(calculator, field)[language]} {_in_words(fields[field], text, language)}"
        for field, text in typed.items()
    ]
    if language == "zh":
        return f"用“{name}”计算：{'；'.join(given)}。结果是多少？"
    return f"Calculate “{name}” with {'; '.join(given)}: what is the result?"


def _in_words(field: FormField, text: str, language: Language) -> str:
    one_line = " / ".join(line.strip() for line in text.splitlines() if line.strip())
    if field.kind == "currency":
        return currency_words(one_line.upper())[language]
    if field.kind == "flag":
        return choice_label(field.name, one_line)[language]
    if field.kind == "choice":
        if field.name == "unit":
            return unit_words(one_line)[language]
        return choice_label(field.name, one_line)[language]
    return one_line


def _singular(text: str, language: Language) -> str:
    """1 GPU, not 1 GPUs."""
    if language == "zh":
        return text
    return re.sub(r"\b1 (GPU|card|hour|week|month|concurrent sequence)s\b", r"1 \1", text)
