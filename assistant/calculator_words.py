"""What the calculators, their fields, results, choices and refusals are called in Chinese and English.

Reads calculator_words.csv; it computes nothing and knows no calculator by itself.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assistant.evidence import Bilingual, Language

WORDS = Path(__file__).with_name("calculator_words.csv")


@dataclass(frozen=True)
class CalculatorWords:
    """A calculator's name, its description in one line, and the topic it stands under."""

    name: Bilingual
    about: Bilingual
    topic: str


@dataclass(frozen=True)
class _Row:
    kind: str
    key: str
    words: Bilingual
    about: Bilingual
    topic: str


@cache
def _rows() -> tuple[_Row, ...]:
    with WORDS.open(encoding="utf-8", newline="") as file:
        return tuple(
            _Row(
                kind=row["kind"],
                key=row["key"],
                words=Bilingual(zh=row["zh"], en=row["en"]),
                about=Bilingual(zh=row["about_zh"], en=row["about_en"]),
                topic=row["topic"],
            )
            for row in csv.DictReader(file)
        )


@cache
def _words(kind: str) -> dict[str, Bilingual]:
    return {row.key: row.words for row in _rows() if row.kind == kind}


@cache
def topics() -> dict[str, Bilingual]:
    """The topics in the order in which they are shown."""
    return _words("topic")


@cache
def calculators() -> dict[str, CalculatorWords]:
    """Every calculator that has words, topic by topic."""
    found = {row.key: CalculatorWords(row.words, row.about, row.topic) for row in _rows() if row.kind == "calculator"}
    order = list(topics())
    return dict(sorted(found.items(), key=lambda item: order.index(item[1].topic)))


def field_label(calculator: str, field: str) -> Bilingual:
    """The label of an input, with its unit; the calculator may have words of its own for it."""
    found = stated_field_label(calculator, field)
    return found or _plain(field)


def stated_field_label(calculator: str, field: str) -> Bilingual | None:
    """The label that the file has for an input; None where it has none."""
    words = _words("field")
    return words.get(f"{calculator}.{field}") or words.get(field)


def output_label(key: str) -> Bilingual:
    """The name of a result or of a column of its rows, with its unit."""
    return stated_output_label(key) or _plain(key)


def stated_output_label(key: str) -> Bilingual | None:
    """The name that the file has for a result, or for an input of that name; None where it has none."""
    return _words("output").get(key) or _words("field").get(key)


def choice_label(field: str, value: str) -> Bilingual:
    """One of the values a field or result may have; formats, engines and units keep their own names."""
    words = _words("choice")
    return words.get(f"{field}.{value}") or words.get(value) or Bilingual(zh=value, en=value)


def unit_words(unit: str, calculator: str = "") -> Bilingual:
    """A result's unit: "CNY/GPU-hour" -> 元/卡时. What has no words stays as it is."""
    words = _words("unit")
    if own := words.get(f"{calculator}.{unit}"):
        return own
    if unit in words:
        return words[unit]
    currency, slash, rest = unit.partition("/")
    if not re.fullmatch("[A-Z]{3}", currency):
        return Bilingual(zh=unit, en=unit)
    counted = words.get(rest, Bilingual(zh=rest, en=rest))
    singular = counted.en.removesuffix("s") if rest in ("hour", "month", "GPU-hour") else counted.en
    return Bilingual(zh=f"{_currency(currency)}{slash}{counted.zh}", en=f"{currency}{slash}{singular}")


def currency_words(currency: str) -> Bilingual:
    """元 / CNY."""
    return Bilingual(zh=_currency(currency), en=currency)


def question_templates(calculator: str) -> Bilingual | None:
    """A question that asks for the calculator's result in words, with {field} where a value stands."""
    return _words("question").get(calculator)


def formula_in_words(formula: str, language: Language) -> str:
    """A formula with its few English words in the reader's language; figures and units stay."""
    if language == "zh":
        for english, words in _words("formula").items():
            formula = formula.replace(english, words.zh)
    return formula


@cache
def _refusals() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((_pattern(template), words.zh) for template, words in _words("refusal").items())


def refusal_templates() -> frozenset[str]:
    """The refusals of calculators that have Chinese words, with {} where a value stands."""
    return frozenset(_words("refusal"))


def refusal(message: str, labels: dict[str, Bilingual]) -> Bilingual:
    """A calculator's refusal in both languages, its inputs named as the form names them."""
    english = re.sub(
        r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", lambda m: f"“{labels[m[0]].en}”" if m[0] in labels else m[0], message
    )
    for pattern, chinese in _refusals():
        if match := pattern.fullmatch(message):
            values = [refusal(value, labels).zh if ": " in value else value for value in match.groups()]
            return Bilingual(zh=_named(chinese.format(*values), labels), en=english)
    return Bilingual(zh=f"这组输入算不了：{english}", en=english)


def _named(text: str, labels: dict[str, Bilingual]) -> str:
    return re.sub(r"[a-z0-9]+(?:_[a-z0-9]+)+", lambda m: f"“{labels[m[0]].zh}”" if m[0] in labels else m[0], text)


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile("(.+?)".join(re.escape(part) for part in template.split("{}")), re.DOTALL)


def _currency(code: str) -> str:
    return {"CNY": "元", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "JPY": "日元"}.get(code, code)


def _plain(key: str) -> Bilingual:
    words = key.replace("_", " ")
    return Bilingual(zh=words, en=words)


def all_words() -> Iterator[tuple[str, str, Bilingual]]:
    """Every row of the file as kind, key and words."""
    return ((row.kind, row.key, row.words) for row in _rows())
