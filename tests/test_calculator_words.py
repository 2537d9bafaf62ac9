"""Every calculator, input, choice, result and refusal has words in Chinese and English; a new one without words fails."""

from __future__ import annotations

import ast
import re
from collections import Counter
from itertools import chain
from pathlib import Path

import pytest

from assistant.calculator_examples import calculators_with_examples, example_of
from assistant.calculator_fields import form_fields
from assistant.calculator_forms import computed
from assistant.calculator_links import CALCULATOR, TAB
from assistant.calculator_words import (
    all_words,
    calculators,
    choice_label,
    currency_words,
    question_templates,
    refusal,
    refusal_templates,
    stated_field_label,
    stated_output_label,
    topics,
    unit_words,
)
from assistant.evidence import Bilingual
from assistant.tools import CALCULATORS

CHINESE = re.compile(r"[\u4e00-\u9fff]")
CALCULATOR_FILES = Path(__file__).parent.parent / "assistant" / "calculator"
# Names of formats, engines, layers and units are the same in both languages.
OWN_NAMES = re.compile(
    r"[a-z]{0,4}[0-9]\w*|(gptq|awq)-int[48]|nf4-dq|vllm|sglang|tensorrt-llm|transformers|llama\.cpp|gpt-fast"
    r"|q|k|v|o|up|down|gate|[A-Z/s]+|GiB"
)


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_a_calculator_has_a_name_a_line_about_it_and_a_topic_in_both_languages(calculator: str) -> None:
    words = calculators()[calculator]
    for text in (words.name, words.about):
        assert CHINESE.search(text.zh)
        assert text.en
        assert not CHINESE.search(text.en)
    assert words.topic in topics()


def test_no_words_are_kept_for_a_calculator_that_is_gone() -> None:
    assert set(calculators()) == set(CALCULATORS)


def test_calculators_stand_topic_by_topic_and_no_two_have_the_same_name() -> None:
    order = list(topics())
    found = [order.index(words.topic) for words in calculators().values()]
    assert found == sorted(found)
    for language in ("zh", "en"):
        names = Counter(words.name[language] for words in calculators().values())
        assert max(names.values()) == 1


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_every_field_and_column_has_a_label_in_both_languages(calculator: str) -> None:
    for field in form_fields(calculator):
        for name in (field.name, *(column.name for column in field.columns)):
            label = stated_field_label(calculator, name)
            assert label is not None, f"{calculator}.{name} has no words in calculator_words.csv"
            assert label.zh
            assert label.en
            assert not CHINESE.search(label.en)


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_labels_of_one_form_differ(calculator: str) -> None:
    for language in ("zh", "en"):
        labels = [str(stated_field_label(calculator, field.name)) for field in form_fields(calculator)]
        assert len(labels) == len(set(labels)), language


def test_no_field_takes_a_name_that_a_link_needs() -> None:
    names = {field.name for calculator in CALCULATORS for field in form_fields(calculator)}
    assert not names & {TAB, CALCULATOR}


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_every_result_of_the_example_has_a_name_and_its_unit_has_words(calculator: str) -> None:
    result = computed(calculator, example_of(calculator), "zh").result
    keys = chain(result.outputs, *result.rows)
    for key in keys:
        name = stated_output_label(re.sub("_(zh|en)$", "", key))
        assert name is not None, f"{key} has no words in calculator_words.csv"
    units = {key for kind, key, _ in all_words() if kind == "unit"}
    currency, _, counted = result.unit.partition("/")
    assert result.unit in units or (re.fullmatch("[A-Z]{3}", currency) and counted in units | {""}), result.unit
    assert not CHINESE.search(unit_words(result.unit, calculator).en)


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_choices_have_words_or_are_names_of_their_own(calculator: str) -> None:
    worded = {key for kind, key, _ in all_words() if kind == "choice"}
    for field in form_fields(calculator):
        for choice in field.choices if field.kind != "currency" else ():
            assert {choice, f"{field.name}.{choice}"} & worded or OWN_NAMES.fullmatch(choice), f"{field.name}.{choice}"
            label = choice_label(field.name, choice)
            assert not CHINESE.search(label.en)


def test_no_key_has_words_twice() -> None:
    keys = Counter((kind, key) for kind, key, _ in all_words() if kind not in ("formula", "question"))
    assert [key for key, times in keys.items() if times > 1] == []


def test_a_unit_with_a_currency_says_both_parts_in_the_readers_language() -> None:
    assert unit_words("CNY/hour") == Bilingual(zh="元/小时", en="CNY/hour")
    assert unit_words("USD/GPU-hour").zh == "美元/卡时"
    assert currency_words("HKD").zh == "HKD"


def _refusals_in_code() -> set[str]:
    found = set()
    for path in CALCULATOR_FILES.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Raise)
                and isinstance(node.exc, ast.Call)
                and ast.unparse(node.exc.func) == "ValueError"
            ):
                text = node.exc.args[0]
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                found.add("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts))
    return found


def test_every_refusal_of_a_calculator_has_chinese_words() -> None:
    assert _refusals_in_code() - refusal_templates() == set()


def test_no_chinese_refusal_is_kept_for_one_that_is_gone() -> None:
    assert refusal_templates() - _refusals_in_code() == set()


@pytest.mark.parametrize("template", sorted(refusal_templates()))
def test_a_refusal_in_chinese_has_every_value_of_the_english_one(template: str) -> None:
    values = [f"v{place}" for place in range(template.count("{}"))]
    message = template.format(*values)
    assert CHINESE.search(refusal(message, {}).zh)
    missing = [value for value in values if value not in refusal(message, {}).zh]
    assert len(missing) <= ("{}: " in template and template.startswith("factor"))


def test_a_refusal_names_inputs_as_the_form_does() -> None:
    labels = {"tdp_w": Bilingual(zh="每卡额定功率（W）", en="Rated power of one GPU (W)")}
    told = refusal("the rated power is not known: give tdp_w in watts, or a gpu whose row has it", labels)
    assert "tdp_w" not in told.zh + told.en
    assert "Rated power of one GPU (W)" in told.en


def test_an_unforeseen_refusal_still_gives_a_sentence_in_chinese() -> None:
    assert refusal("something new", {}).zh.startswith("这组输入算不了")


def test_every_example_belongs_to_a_calculator_and_every_calculator_has_one() -> None:
    assert set(calculators_with_examples()) == set(CALCULATORS)


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_a_question_in_both_languages_has_the_same_values(calculator: str) -> None:
    templates = question_templates(calculator)
    if templates is None:
        return
    slots = [sorted(re.findall(r"\{([a-z0-9_]+)\}", text)) for text in (templates.zh, templates.en)]
    assert slots[0] == slots[1]
    assert {*slots[0]} <= {field.name for field in form_fields(calculator)}
