"""A calculator's result in words: the card that the tab and the chat show, its tables, and the Answer for the chat.

Renders Markdown from a Calculation; every figure is one of its own, and nothing is computed here.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal

from assistant.calculator.calculation import Assumption, Calculation, number
from assistant.calculator.magnitudes import significant
from assistant.calculator_forms import Outcome
from assistant.calculator_words import (
    calculators,
    choice_label,
    currency_words,
    formula_in_words,
    output_label,
    unit_words,
)
from assistant.evidence import Answer, Bilingual, Language, Timings
from assistant.prose_names import IDENTIFIERS
from assistant.render import formula, paragraphs, say
from assistant.verify import trace

Value = Decimal | int | str
Row = dict[str, Value]

MONEY = frozenset((
    "amount", "average", "cached_input_revenue", "cheapest_per_hour", "cost", "cost_of_one", "cost_per_hour",
    "cost_per_million_tokens", "dearest_per_hour", "difference", "input_revenue", "left_over", "output_revenue",
    "own_per_month", "own_total", "power_per_month", "price", "price_per_gpu_hour", "price_per_hour", "price_per_unit", "profit",
    "purchase", "rate_per_hour", "rent_per_month", "rent_total", "revenue", "saved", "saving_by_owning", "saving_per_period",
    "short_by", "spent", "spread_per_hour", "total", "wanted_cost", "wanted_left_over", "wanted_short_by", "best_cost",
))  # fmt: skip
DECIDED = {  # results that are a verdict first: the key that has it, and what the value then is
    "inference_fit": ("verdict", Bilingual(zh="每卡余量", en="headroom per GPU")),
    "training_memory": ("verdict", Bilingual(zh="每卡需要", en="needed per GPU")),
    "rank_gpus": ("best", Bilingual(zh="满足需求的型号", en="meeting the need")),
    "buy_or_rent": ("cheaper", Bilingual(zh="自购比租用省", en="saved by owning")),
}
DIGITS = 10  # significant ones, of a fraction
FOLDED_ROWS = 12  # a longer table is folded away
MOST_ROWS = 300
NOT_KNOWN = {"largest_context_tokens", "largest_batch"}  # -1 where the calculator cannot tell
NONE_NEEDED = {"cards_needed"}  # 0 where no number will do


def headline(calculator: str, result: Calculation, language: Language) -> str:
    """The main value with its unit: 8,248.32 元."""
    unit = unit_words(result.unit, calculator)[language]
    if language == "en" and result.value == 1 and unit.isalpha():
        unit = unit.removesuffix("s")
    value = _spaced(_figure(result.value), unit, language)
    decided = DECIDED.get(calculator)
    if decided is None or not isinstance(verdict := result.outputs.get(decided[0]), str):
        return value
    what, colon, comma = decided[1][language], say(language, "：", ": "), say(language, "，", ", ")
    return f"{choice_label(decided[0], verdict)[language]}{comma}{what}{colon}{value}"


def card(outcome: Outcome, language: Language) -> str:
    """The result as the chat keeps it: name, value, formula, the other outputs that can be traced, what was assumed."""

    def is_traced(row: Sequence[str]) -> bool:
        return not trace(_table(("", ""), [row]), (outcome.call,), (), names=IDENTIFIERS).untraced

    return paragraphs(
        *_head(outcome, language),
        _outputs(outcome.result, language, is_traced),
        _assumed(outcome.result.assumptions, language, with_source=False),
    )


def shown_first(outcome: Outcome, language: Language) -> str:
    """The top of the result in the tab: name, value, formula, and what changes it most."""
    most = outcome.result.changes_most
    label = f"**{say(language, '影响最大', 'What changes it most')}**{say(language, '：', ': ')}"
    return paragraphs(*_head(outcome, language), f"{label}{_plain(most[language])}" if most else "")


def shown_rest(outcome: Outcome, language: Language) -> str:
    """The rest of it: the other outputs, what was assumed with its source, and the rows."""
    return paragraphs(
        _outputs(outcome.result, language),
        _assumed(outcome.result.assumptions, language, with_source=True),
        *_row_tables(outcome.result.rows, language),
    )


def as_answer(outcome: Outcome, question: str, language: Language) -> Answer:
    """The result as an answer of the chat, each figure traced to the calculation."""
    text = card(outcome, language)
    traced = trace(text, (outcome.call,), (), question=question, names=IDENTIFIERS)
    return Answer(
        question=question, language=language, status="answered", text=text, calls=(outcome.call,), figures=traced.figures,
        verified=not traced.untraced, dropped=traced.untraced, timings_ms=Timings(understand=0, first_event=0, total=0),
    )  # fmt: skip


def _head(outcome: Outcome, language: Language) -> tuple[str, str]:
    name = calculators()[outcome.calculator].name[language]
    value = _plain(headline(outcome.calculator, outcome.result, language))
    worked = formula_in_words(re.sub(r"\s+", " ", outcome.result.formula.replace("`", "'")), language)
    return f"### {name}{say(language, '：', ': ')}{value}", formula(f"`{worked}`", language)


def _outputs(result: Calculation, language: Language, is_shown: Callable[[Sequence[str]], bool] = bool) -> str:
    currency = str(result.outputs.get("currency") or "")
    rows = [
        (output_label(key)[language], _cell(key, value, currency, language))
        for key, value in result.outputs.items()
        if value != "" and key != "unit"
    ]
    kept = [row for row in rows if is_shown(row)]
    return _table((say(language, "结果", "Result"), say(language, "数值", "Value")), kept) if kept else ""


def _assumed(assumptions: Sequence[Assumption], language: Language, *, with_source: bool) -> str:
    if not assumptions:
        return ""
    lines = [
        f"- {_plain(taken.text[language])}{_source(taken, language) if with_source else ''}" for taken in assumptions
    ]
    return f"**{say(language, '前提', 'Assumptions')}**\n\n" + "\n".join(lines)


def _source(taken: Assumption, language: Language) -> str:
    text = taken.text[language]
    said = taken.value.replace(" ", "") in text.replace(" ", "")
    parts = [] if said else [say(language, f"取值 {taken.value}", f"taken as {taken.value}")]
    if taken.source:
        parts.append(say(language, f"依据：{taken.source}", f"from {taken.source}"))
    if not parts:
        return ""
    told = _plain(say(language, "；", "; ").join(parts))
    end = " " if re.search(r"://\S+$", told) else ""  # or the bracket would belong to the address
    return say(language, f"（{told}{end}）", f" ({told}{end})")


def _row_tables(rows: Sequence[Row], language: Language) -> Iterator[str]:
    """One table for each kind of row, in the order they come; long ones folded away."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        kinds.setdefault("" if "per_gpu_gib" in row else str(row.get("part", "")), []).append(row)
    for part, of_kind in kinds.items():
        if part == "month" or len(of_kind) > FOLDED_ROWS:
            title = choice_label("part", "month_row" if part == "month" else part or "total")[language]
            counted = say(language, f"{title}（{len(of_kind)} 行）", f"{title} ({len(of_kind)} rows)")
            yield f"<details><summary>{counted}</summary>\n\n{_rows(of_kind, language)}\n\n</details>"
        else:
            yield _rows(of_kind, language)


def _rows(rows: Sequence[Row], language: Language) -> str:
    own, other = (f"_{language}", "_en" if language == "zh" else "_zh")
    keys = dict.fromkeys(key for row in rows for key in row if not key.endswith(other))
    if any(key.endswith(own) for key in keys):
        keys.pop("reason", None)  # the code; the sentence stands in reason_zh and reason_en
    used = [key for key in keys if key != "part" or "per_gpu_gib" in keys]
    used = [key for key in used if any(row.get(key, "") != "" for row in rows)]
    headings = [output_label(key.removesuffix(own))[language] for key in used]
    body = [[_cell(key, row.get(key, ""), "", language) for key in used] for row in rows[:MOST_ROWS]]
    return _table(headings, body)


def _cell(key: str, value: Value, currency: str, language: Language) -> str:
    if isinstance(value, str):
        return _text_cell(key, value, language)
    if (key in NOT_KNOWN and value < 0) or (key in NONE_NEEDED and value == 0):
        return "—"
    text = _figure(Decimal(value))
    return _spaced(text, currency_words(currency)[language], language) if currency and key in MONEY else text


def _figure(value: Decimal) -> str:
    """Whole numbers as they are; of an endless fraction as many digits as anyone reads."""
    return number(value if value == value.to_integral_value() else significant(value, DIGITS))


def _text_cell(key: str, value: str, language: Language) -> str:
    if key == "currency":
        return _plain(currency_words(value)[language])
    return _plain(choice_label(key, value)[language])


def _spaced(text: str, unit: str, language: Language) -> str:
    return f"{text}{unit}" if unit.startswith("%") or (language == "zh" and unit == "倍") else f"{text} {unit}"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(headings), line(["---"] * len(headings)), *(line(row) for row in rows)])


def _plain(text: str) -> str:
    """Text that may hold what a reader typed, so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html.escape(text, quote=False))
