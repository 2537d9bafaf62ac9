"""A result in words, its picture, its question and its answer for the chat: every number is the calculator's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from assistant.calculator.calculation import number
from assistant.calculator_examples import calculators_with_examples, example_of
from assistant.calculator_fields import form_fields
from assistant.calculator_forms import Outcome, computed
from assistant.calculator_plots import memory_parts, plot_of
from assistant.calculator_questions import question_of
from assistant.calculator_results import as_answer, card, headline, shown_first, shown_rest
from assistant.calculator_words import calculators, question_templates
from assistant.evidence import Answer, Language

CALCULATORS = calculators_with_examples()
LANGUAGES: tuple[Language, ...] = ("zh", "en")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
WITH_PLOT = (
    "inference_memory",
    "inference_fit",
    "training_memory",
    "buy_or_rent",
    "rank_gpus",
    "rental_comparison",
    "depreciation",
)


def outcome_of(calculator: str, language: Language = "en", **typed: str) -> Outcome:
    return computed(calculator, example_of(calculator) | typed, language)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", CALCULATORS)
def test_every_figure_of_the_answer_for_the_chat_is_traced_to_the_calculation(
    calculator: str, language: Language
) -> None:
    outcome = outcome_of(calculator, language)
    answer = as_answer(outcome, question_of(calculator, outcome.typed, language), language)
    assert (answer.verified, answer.dropped, answer.status) == (True, (), "answered")
    assert answer.calls == (outcome.call,)
    assert {figure.evidence for figure in answer.figures} <= {"call:0", "question"}
    assert len(answer.figures) >= 1
    assert headline(calculator, outcome.result, language).split()[0] in answer.text
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_a_card_speaks_the_language_of_the_page(calculator: str) -> None:
    assert CHINESE.search(card(outcome_of(calculator, "zh"), "zh"))
    english = outcome_of(calculator, "en")
    names = "".join(english.typed.values())  # a reader may type Chinese names
    foreign = [
        sign for sign in CHINESE.findall(shown_first(english, "en") + shown_rest(english, "en")) if sign not in names
    ]
    assert foreign == []


@pytest.mark.parametrize(
    ("calculator", "zh", "en"),
    [
        (
            "rental_cost",
            "### 租金总额：8,248.32 元\n\n算式：`4 × 72 小时 × 28.64 元/小时 = 8,248.32 元`",
            "### Rental cost: 8,248.32 CNY",
        ),
        ("budget_cards", "### 预算能租几张：3 张", "### GPUs a budget rents: 3 cards"),
        ("inference_fit", "放得下，每卡余量：29.332 GiB", "fits, headroom per GPU: 29.332 GiB"),
        (
            "buy_or_rent",
            "买更便宜，自购比租用省：3,033,894.96 元",
            "owning is cheaper, saved by owning: 3,033,894.96 CNY",
        ),
        ("gpu_hours", "664,064 卡时", "664,064 GPU-hours"),
        ("offers_within", "1 条报价", ": 1 offer"),
        ("card_ratio", "1.64倍", "1.64 ×"),
    ],
)
def test_the_headline_says_the_value_with_its_unit_in_words(calculator: str, zh: str, en: str) -> None:
    assert zh in card(outcome_of(calculator, "zh"), "zh")
    assert en in card(outcome_of(calculator, "en"), "en")


def test_assumptions_stand_with_value_and_source_and_what_changes_it_most() -> None:
    outcome = outcome_of("buy_or_rent")
    assert "(from Uptime Institute, Global Data Center Survey 2024)" in shown_rest(outcome, "en")
    assert "**What changes it most**: the rent changes the result most" in shown_first(outcome, "en")
    assert "<details><summary>逐月（37 行）</summary>" in shown_rest(outcome_of("buy_or_rent", "zh"), "zh")


def test_rows_show_the_readers_language_only_and_no_codes() -> None:
    text = shown_rest(outcome_of("offers_within", "zh"), "zh")
    assert "GPU 为 T4，不在 A100 之列" in text
    assert "is not among" not in text
    assert "reason" not in text


def test_a_number_that_the_calculator_does_not_know_is_a_dash() -> None:
    outcome = computed("inference_fit", {"parameters": "7B", "gpu": "L4"}, "en")
    assert outcome.result.outputs["largest_batch"] == -1
    assert "| Largest batch (sequences) | — |" in shown_rest(outcome, "en")


def test_what_a_reader_typed_cannot_break_out_of_the_card() -> None:
    evil = "<img src=x onerror=alert(1)> | a`b **c** [d](javascript:e)"
    outcome = computed("rental_comparison", {"offers": f"{evil}, A100, 2\nb, A100, 3"}, "en")
    text = shown_first(outcome, "en") + shown_rest(outcome, "en") + card(outcome, "en")
    assert "<img" not in text
    assert "&lt;img" in text
    assert r"\[d\](javascript" in text
    assert "**c**" not in text


QUESTIONS = [calculator for calculator in CALCULATORS if question_templates(calculator)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", CALCULATORS)
def test_the_question_holds_every_value_that_was_given(calculator: str, language: Language) -> None:
    example = example_of(calculator)
    question = question_of(calculator, example, language)
    kinds = {field.name: field.kind for field in form_fields(calculator)}
    for name, text in example.items():
        if kinds[name] in ("choice", "flag", "currency"):
            continue
        for line in text.splitlines():
            assert line.strip() in question
    assert bool(CHINESE.search(question)) is (language == "zh" or bool(CHINESE.search("".join(example.values()))))
    assert question.endswith("？" if language == "zh" else "?")
    assert "{" not in question


def test_ten_calculators_and_more_ask_in_words_of_their_own() -> None:
    assert len(QUESTIONS) >= 10
    asked = [c for c in QUESTIONS if calculators()[c].name.en not in question_of(c, example_of(c), "en")]
    assert len(asked) >= 10


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", QUESTIONS)
def test_a_question_gives_way_to_a_plain_list_when_it_cannot_name_every_input(
    calculator: str, language: Language
) -> None:
    typed = example_of(calculator)
    own = question_of(calculator, typed, language)
    spare = next(
        (
            f
            for f in form_fields(calculator)
            if f.kind in ("number", "whole") and f"{{{f.name}}}" not in str(question_templates(calculator))
        ),
        None,
    )
    if spare is None:
        return
    listed = question_of(calculator, typed | {spare.name: "987654"}, language)
    assert "987654" in listed
    assert listed != own


@pytest.mark.parametrize(
    ("zh", "en"),
    [
        (
            "4 张卡租 72 小时，每卡每小时 28.64 元，一共多少钱？",
            "4 GPUs for 72 hours at 28.64 CNY per GPU-hour: what is the total?",
        )
    ],
)
def test_the_question_of_a_rent_is_one_that_people_ask(zh: str, en: str) -> None:
    assert question_of("rental_cost", example_of("rental_cost"), "zh") == zh
    assert question_of("rental_cost", example_of("rental_cost"), "en") == en


def _layers(spec: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    for layer in spec["layer"]:
        yield layer["mark"]["type"], layer["data"]["values"], layer["encoding"]


@pytest.mark.parametrize("calculator", ["inference_memory", "inference_fit", "training_memory"])
def test_the_stacked_bar_has_the_calculators_parts_and_marks_the_card(calculator: str) -> None:
    outcome = outcome_of(calculator)
    plot = plot_of(outcome, "en")
    assert plot is not None
    layers = list(_layers(plot.spec))
    rows = {str(row["part"]): Decimal(row["per_gpu_gib"]) for row in outcome.result.rows}
    assert dict(memory_parts(outcome)) == {part: size for part, size in rows.items() if size}
    assert [entry["gib"] for entry in layers[0][1]] == [float(size) for size in rows.values() if size]
    assert layers[0][2]["x"]["stack"] == "zero"
    marked = {entry["gib"] for kind, values, _ in layers if kind == "rule" for entry in values}
    expected = {
        float(outcome.result.outputs[key])
        for key in ("per_gpu_high_gib", "need_high_gib", "usable_gib")
        if key in outcome.result.outputs
    }
    assert marked == expected
    low = outcome.result.outputs.get("need_low_gib", outcome.result.outputs.get("per_gpu_low_gib"))
    assert sum(size for _, size in memory_parts(outcome)) == pytest.approx(Decimal(str(low)), abs=Decimal("0.01"))


def test_the_lines_of_both_costs_are_the_calculators_months_and_cross_where_it_says() -> None:
    outcome = outcome_of("buy_or_rent")
    plot = plot_of(outcome, "zh")
    assert plot is not None
    layers = list(_layers(plot.spec))
    months = [row for row in outcome.result.rows if row.get("part") == "month"]
    drawn = {(entry["way"], entry["month"]): entry["cost"] for entry in layers[0][1]}
    assert len(drawn) == 2 * 37
    assert all(
        drawn["自购", row["month"]] == float(row["own"]) and drawn["租用", row["month"]] == float(row["rent"])
        for row in months
    )
    (mark,) = [values[0] for kind, values, _ in layers if kind == "rule"]
    assert mark["month"] == float(outcome.result.outputs["break_even_months"])
    assert plot.spoken == f"第 {number(Decimal(outcome.result.outputs['break_even_months']))} 个月回本"


def test_no_crossing_is_marked_where_renting_stays_cheaper_or_it_lies_beyond_the_horizon() -> None:
    for outcome in (outcome_of("buy_or_rent", rent_per_gpu_hour="0.01"), outcome_of("buy_or_rent", horizon_months="3")):
        plot = plot_of(outcome, "en")
        assert plot is not None
        assert [kind for kind, _, _ in _layers(plot.spec)] == ["line"]


def test_the_front_is_the_calculators_and_every_gpu_is_drawn_where_it_stands() -> None:
    outcome = outcome_of("rank_gpus")
    plot = plot_of(outcome, "en")
    assert plot is not None
    ranked = [row for row in outcome.result.rows if row["part"] == "ranked"]
    (points,) = [values for kind, values, _ in _layers(plot.spec) if kind == "point"]
    assert {(e["gpu"], e["cost"], e["figure"], e["kind"]) for e in points} == {
        (f"{row['gpu']} × {row['gpus']}", float(row["cost"]), float(row["tokens_per_second"]), "Pareto front" if row["pareto"] == "yes" else "other")
        for row in ranked
    }  # fmt: skip
    (front,) = [values for kind, values, _ in _layers(plot.spec) if kind == "line"]
    assert [e["gpu"] for e in front] == [f"{row['gpu']} × {row['gpus']}" for row in ranked if row["pareto"] == "yes"]


def test_without_speeds_headroom_is_drawn_and_no_front() -> None:
    plot = plot_of(outcome_of("rank_gpus", candidates="A10, 4.5\nL40S, 7.9"), "en")
    assert plot is not None
    kinds = [kind for kind, _, _ in _layers(plot.spec)]
    assert "line" not in kinds
    assert plot.spec["layer"][0]["encoding"]["y"]["title"] == "Headroom (GiB)"


def test_where_no_gpu_meets_the_need_nothing_is_drawn() -> None:
    assert plot_of(outcome_of("rank_gpus", memory_need_gib="1e6"), "en") is None


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", WITH_PLOT)
def test_axes_have_titles_with_units_in_the_readers_language(calculator: str, language: Language) -> None:
    plot = plot_of(outcome_of(calculator, language), language)
    assert plot is not None
    spec = json.loads(plot.as_json())
    titles = [
        spec["title"],
        *(
            layer["encoding"][axis].get("title") or ""
            for layer in spec["layer"]
            for axis in ("x", "y")
            if axis in layer["encoding"]
        ),
    ]
    assert CHINESE.search(spec["title"]) if language == "zh" else not CHINESE.search("".join(titles))
    assert any(re.search(r"[（(]", title) or calculator == "depreciation" for title in titles[1:])
    assert spec["description"] == plot.spoken != ""


@pytest.mark.parametrize("calculator", [calculator for calculator in CALCULATORS if calculator not in WITH_PLOT])
def test_a_plain_number_has_no_picture(calculator: str) -> None:
    assert plot_of(outcome_of(calculator), "en") is None


def test_a_card_prints_no_more_digits_than_anyone_reads() -> None:
    for calculator in CALCULATORS:
        outcome = outcome_of(calculator)
        worked = outcome.result.formula
        assert [digits for digits in re.findall(r"[.][0-9]{11,}", card(outcome, "en")) if digits not in worked] == []
