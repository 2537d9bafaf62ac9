"""The panel of an answer's assumptions as HTML: every calculation with what may be changed in it.

It writes markup only. Values are escaped; what they mean is for assumption_forms.py.
"""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Sequence
from decimal import Decimal

from assistant.assumption_changes import Input, shown
from assistant.assumption_forms import Sheet, text_of
from assistant.calculator.calculation import number
from assistant.calculator_words import choice_label, unit_words
from assistant.evidence import Bilingual, Language
from knowledge.catalog import load_catalog

TITLE = Bilingual(zh="假设", en="Assumptions")
INTRO = Bilingual(
    zh="改一个值，卡片就重新计算，不用语言模型。清空一格即恢复原值。",
    en="Change a value and the card is computed anew, without the language model. Empty a box to take it back.",
)
CLOSE = Bilingual(zh="关闭", en="Close")
RECOMPUTE = Bilingual(zh="重新计算", en="Recompute")
RESET = Bilingual(zh="恢复原样", en="Reset to the original")
MORE = Bilingual(zh="其他输入", en="More inputs")
FIXED = Bilingual(zh="同时假定（不能改）", en="Also assumed (fixed)")
OPEN = Bilingual(zh="在计算器中打开", en="Open in the calculator")
WAS = Bilingual(zh="原来：", en="Was: ")
DEFAULT = Bilingual(zh="默认 ", en="default ")
SOURCE = Bilingual(zh="来源：", en="Source: ")
RESULT = Bilingual(zh="结果", en="Result")
NOTHING = Bilingual(
    zh="这条回答里没有可以改的假设。", en="There is no assumption in this answer that could be changed."
)
LARGE = 1000
YES_NO = {"yes": Bilingual(zh="是", en="yes"), "no": Bilingual(zh="否", en="no")}


def panel_html(
    turn: int, found: Sequence[Sheet], language: Language, fault: str = "", typed: dict[str, str] | None = None
) -> str:
    """The panel of a turn; with `fault`, what is wrong stands above and what was `typed` stays in its boxes."""
    typed = typed or {}
    body = "".join(_sheet(sheet, language, typed, first=place == 0) for place, sheet in enumerate(found))
    changed = any(given.changed for sheet in found for given in (*sheet.leading, *sheet.rest))
    buttons = (
        f'<footer><button type="submit" class="go">{RECOMPUTE[language]}</button>'
        f'<button type="button" data-do="reset"{"" if changed else " data-off disabled"}>{RESET[language]}</button></footer>'
    )
    inner = f"<p class='intro'>{INTRO[language]}</p>{body}" if found else f"<p>{NOTHING[language]}</p>"
    return _frame(turn, f"{_alert(fault)}{inner}", buttons if found else "", language)


def message_html(sentence: str, language: Language) -> str:
    """The panel with one sentence and nothing to change."""
    return _frame(0, _alert(sentence), "", language)


def _frame(turn: int, inner: str, buttons: str, language: Language) -> str:
    return (
        f'<section role="dialog" aria-labelledby="assumptions-title"><form data-turn="{turn}" data-at="{time.monotonic_ns()}" autocomplete="off" novalidate>'
        f'<header><h2 id="assumptions-title" tabindex="-1">{TITLE[language]}</h2>'
        f'<button type="button" data-do="close" aria-label="{CLOSE[language]}" title="{CLOSE[language]}">×</button></header>'
        f'<div class="body">{inner}</div>{buttons}</form></section>'
    )


def _alert(sentence: str) -> str:
    return f'<p class="fault" role="alert">{html.escape(sentence)}</p>' if sentence else ""


def _sheet(sheet: Sheet, language: Language, typed: dict[str, str], *, first: bool) -> str:
    worked = sheet.worked
    is_open = first or any(given.changed for given in (*sheet.leading, *sheet.rest))
    unit = unit_words(worked.unit)[language]
    parts = [
        f'<details class="sheet"{" open" if is_open else ""}><summary><b>{html.escape(worked.label[language])}</b>'
        f"<span>{html.escape(f'{_rounded(worked.value)} {unit}')}</span></summary>",
        *(_field(given, language, typed) for given in sheet.leading),
    ]
    if sheet.rest:
        fields = "".join(_field(given, language, typed) for given in sheet.rest)
        parts.append(f'<details class="more"><summary>{MORE[language]} ({len(sheet.rest)})</summary>{fields}</details>')
    if worked.notes:
        notes = "".join(f"<li>{html.escape(note[language])}</li>" for note in worked.notes)
        parts.append(f'<p class="fixed">{FIXED[language]}</p><ul>{notes}</ul>')
    if sheet.query:
        address = html.escape(f"/{language}/?{sheet.query}")
        parts.append(f'<a class="open" href="{address}" target="_blank" rel="noopener">{OPEN[language]} ↗</a>')
    return "".join([*parts, "</details>"])


def _rounded(value: Decimal) -> str:
    """The result as a heading: cents of large values, six digits of small ones."""
    if value == value.to_integral_value():
        return number(value)
    if abs(value) >= LARGE:
        return f"{value:,.2f}"
    return number(Decimal(f"{value:.6g}"))


def _field(given: Input, language: Language, typed: dict[str, str]) -> str:
    name = f"{given.tool}.{given.argument}"
    text = typed.get(name, text_of(given))
    label = f'<label for="assume-{name}">{html.escape(given.label[language])}</label>'
    note = "".join(f"<small>{html.escape(line)}</small>" for line in _remarks(given, language))
    return f'<div class="field{" changed" * given.changed}">{label}{_control(given, name, text, language)}{note}</div>'


def _remarks(given: Input, language: Language) -> Iterable[str]:
    if given.changed:
        yield WAS[language] + shown(given)
    if given.note and not given.changed:
        yield given.note[language]
    if given.source:
        yield SOURCE[language] + given.source


def _control(given: Input, name: str, text: str, language: Language) -> str:
    common = f'id="assume-{name}" name="{name}"'
    if given.kind == "yes_no":
        return f"<select {common}>{_options((key, words[language]) for key, words in YES_NO.items())}</select>".replace(
            f'value="{text}"', f'value="{text}" selected'
        )
    if given.kind == "choice":
        choices = [(choice, choice_label(given.argument, choice)[language]) for choice in given.choices]
        if given.now is None:
            choices.insert(0, ("", DEFAULT[language] + given.taken))
        return f"<select {common}>{_options(choices, text)}</select>"
    value = html.escape(text)
    if given.kind in ("gpu", "model"):
        return f'<input {common} type="text" list="assume-{given.kind}s" maxlength="120" value="{value}">{_names(given.kind)}'
    hint = html.escape(f"{DEFAULT[language]}{given.taken}" if given.taken else "")
    return f'<input {common} type="text" inputmode="decimal" maxlength="40" value="{value}" placeholder="{hint}">'


def _options(choices: Iterable[tuple[str, str]], chosen: str | None = None) -> str:
    return "".join(
        f'<option value="{html.escape(value)}"{" selected" if value == chosen else ""}>{html.escape(words)}</option>'
        for value, words in choices
    )


def _names(kind: str) -> str:
    catalog = load_catalog()
    names = [gpu.name for gpu in catalog.gpus if gpu.memory] if kind == "gpu" else [m.name for m in catalog.models]
    return f'<datalist id="assume-{kind}s">{_options((name, "") for name in names)}</datalist>'
