"""What is typed into a calculator's form: read exactly, refused in words, and the same again from a link."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator_examples import calculators_with_examples, example_of
from assistant.calculator_faults import FormError, sentences
from assistant.calculator_fields import form_fields, leading_fields
from assistant.calculator_forms import LONGEST_LIST, arguments_of, computed, given_only
from assistant.calculator_links import Opened, opened, query_of
from assistant.calculator_requests import LONGEST_REQUEST, read_request, read_search
from assistant.evidence import Language
from assistant.tools import CALCULATORS, calculate
from assistant.typed_numbers import typed_number

CHINESE = re.compile(r"[\u4e00-\u9fff]")
RENTAL = {"gpus": "4", "hours": "72", "price_per_hour": "28.64"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("28.64", "28.64"),
        ("1,000", "1000"),
        ("1 000", "1000"),
        ("1,234,567.5", "1234567.5"),
        ("1e9", "1000000000"),
        ("1.5E-3", "0.0015"),
        ("72B", "72000000000"),
        ("24k", "24000"),
        ("24K", "24000"),
        ("1.4T", "1400000000000"),
        ("4M", "4000000"),
        ("3万", "30000"),
        ("3.5 万", "35000"),
        ("1.2亿", "120000000"),
        ("1.4万亿", "1400000000000"),
        ("15%", "0.15"),
        ("８５％", "0.85"),
        ("−5", "-5"),
        (".5", "0.5"),
        (" 7 ", "7"),
        ("0.1234567890123456789012345678901234", "0.1234567890123456789012345678901234"),  # beyond any float
    ],
)
def test_a_number_is_read_exactly_as_typed(text: str, value: str) -> None:
    read = typed_number(text)
    assert read is not None
    assert read == Decimal(value)
    assert f"{read:f}".rstrip("0").rstrip(".") == f"{Decimal(value):f}".rstrip("0").rstrip(".")


@pytest.mark.parametrize(
    "text", ["", "abc", "1,00", "1,2,3", "1.2.3", "NaN", "inf", "1e999", "5 GB", "10-20", "1" * 41, "3kk", "0x10"]
)
def test_what_is_no_single_number_is_not_guessed(text: str) -> None:
    assert typed_number(text) is None


@given(st.decimals(min_value=-(10**12), max_value=10**12, allow_nan=False, allow_infinity=False, places=9))
def test_any_decimal_comes_back_as_it_was_written(value: Decimal) -> None:
    assert typed_number(f"{value:f}") == value
    assert typed_number(f"{value:,f}") == value


@pytest.mark.parametrize("calculator", CALCULATORS)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_example_of_every_calculator_computes(calculator: str, language: Language) -> None:
    outcome = computed(calculator, example_of(calculator), language)
    assert outcome.result.formula
    assert outcome.call.tool == calculator


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_an_example_says_nothing_that_leaving_it_out_would_say(calculator: str) -> None:
    example = example_of(calculator)
    assert given_only(calculator, example).keys() == example.keys()


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_the_form_has_every_input_once_and_the_required_ones_first(calculator: str) -> None:
    fields = form_fields(calculator)
    assert {field.name for field in fields} == set(CALCULATORS[calculator].given.model_fields)
    required = [field.required for field in fields]
    assert required == sorted(required, reverse=True)
    assert {field for field in fields if field.required} <= set(leading_fields(calculator))


def test_a_form_gives_the_calculator_the_very_numbers_that_were_typed() -> None:
    arguments = arguments_of("rental_cost", {"gpus": "4", "hours": "72.10", "price_per_hour": "28.640000000000000001"})
    assert arguments == {"gpus": 4, "hours": Decimal("72.10"), "price_per_hour": Decimal("28.640000000000000001")}


def test_the_result_is_the_calculators_own() -> None:
    assert computed("rental_cost", RENTAL, "zh").result == calculate(
        "rental_cost", gpus=4, hours=72, price_per_hour="28.64"
    )


@pytest.mark.parametrize(
    ("calculator", "typed", "field", "expected"),
    [
        ("average_price", {"amounts": "40.39\n34.742, 28.64；1"}, "amounts", ["40.39", "34.742", "28.64", "1"]),
        ("run_total", {"seconds": "5348,20708"}, "seconds", ["5348", "20708"]),
        ("lora_parameters", {"model": "Llama-3.1-8B", "targets": "q, o"}, "targets", ["q", "o"]),
        ("offers_within", {"offers": "a, A100, 2", "gpus": "A100、A10"}, "gpus", ["A100", "A10"]),
        ("gpu_hours", {"parts": "512, 1272\n\n64; 2e2"}, "parts", [{"gpus": 512, "hours": 1272}, {"gpus": 64, "hours": 200}]),
        ("gpu_hours", {"parts": '[{"gpus": 2, "hours": 1.10}]'}, "parts", [{"gpus": 2, "hours": Decimal("1.10")}]),
        ("offers_within", {"offers": "a, A100, 2", "limits": "price, , 30"}, "limits", [{"field": "price", "maximum": 30}]),
        ("rank_gpus", {"candidates": "A10, 4.5", "memory_need_gib": "20"}, "candidates", [{"gpu": "A10", "prices": [{"price": Decimal("4.5")}]}]),
        ("training_memory", {"parameters": "7B", "flash_attention": "no"}, "flash_attention", False),
        ("rank_gpus", {"candidates": "A10, 4.5", "memory_need_gib": "20", "today": "2026-01-31"}, "today", "2026-01-31"),
    ],
)  # fmt: skip
def test_lists_boxes_and_dates_are_read(calculator: str, typed: dict[str, str], field: str, expected: Any) -> None:
    read = arguments_of(calculator, given_only(calculator, typed))[field]
    shown = [str(value) for value in read] if isinstance(read, list) and not isinstance(read[0], dict) else read
    assert (str(shown) if field == "today" else shown) == expected


def test_a_model_that_no_row_has_may_be_given_by_its_figures() -> None:
    figures = {"name": "own", "parameters": 7e9, "active_parameters": 7e9, "layers": 32, "hidden_size": 4096,
               "attention_heads": 32, "kv_heads": 8, "head_size": 128, "vocabulary": 32000}  # fmt: skip
    typed = {"model": json.dumps(figures), "context_tokens": "8192"}
    assert computed("kv_cache", typed, "en").result.value == 1  # 2 x 32 x 8 x 128 x 2 B x 8,192 = 2^30 B


REFUSED: list[tuple[str, dict[str, str], str, str, str]] = [
    ("rental_cost", RENTAL | {"hours": "abc"}, "hours", "时长（小时）：“abc”不是数字。", "Time (hours): “abc” is not a number."),
    ("rental_cost", RENTAL | {"hours": "-5"}, "hours", "时长（小时）：必须大于 0。", "Time (hours): must be greater than 0."),
    ("rental_cost", RENTAL | {"gpus": "2.5"}, "gpus", "张数（张）：2.5 不是整数。", "GPUs: 2.5 is not a whole number."),
    ("rental_cost", RENTAL | {"gpus": "1e7"}, "gpus", "张数（张）：不能大于 1,000,000。", "GPUs: must be at most 1,000,000."),
    ("rental_cost", {"hours": "72"}, "price_per_hour", "每实例每小时价格：请填写。", "Price of an instance-hour: please fill this in."),
    ("rental_cost", RENTAL | {"currency": "yuan"}, "currency", "币种：写法不对", "Currency: is not written as it must be"),
    ("rental_cost", RENTAL | {"hours": "1e13"}, "hours", "超出 GPU 计算的合理范围", "beyond what a GPU calculation can mean"),
    ("rental_cost", RENTAL | {"surprise": "1"}, "surprise", "这个计算器没有这一项。", "this calculator has no such input."),
    ("price_difference", {"dearer": "1", "cheaper": "2"}, "", "较高的价格 1 低于较低的价格 2：请对调。", "Dearer 1 is below cheaper 2: swap the two."),
    ("inference_fit", {"model": "Qwen2.5-72B", "gpu": "A100"}, "gpu", "没有叫“A100”的 GPU，是不是", "no GPU is called “A100”; perhaps"),
    ("inference_fit", {"model": "nothing", "gpu": "L4"}, "model", "没有叫“nothing”的模型", "no model is called “nothing”"),
    ("inference_fit", {"gpu": "L4"}, "", "请填写模型、参数量或权重大小之一。", "Give model, parameters or “Weights (GiB)”."),
    ("energy", {"hours": "1", "gpu_watts": "300", "pue": "0.5"}, "pue", "机房 PUE：不能小于 1。", "PUE of the site: must be at least 1."),
    ("model_weights", {"parameters": "7B", "precision": "int5"}, "precision", "精度：“int5”不在可选项之列", "Format: “int5” is none of"),
    ("training_memory", {"parameters": "7B", "flash_attention": "perhaps"}, "flash_attention", "应为 yes 或 no", "must be yes or no"),
    ("rank_gpus", {"candidates": "A10, 4.5", "memory_need_gib": "20", "today": "yesterday"}, "today", "不是日期", "is no date"),
    ("sum_of_costs", {"amounts": "1,000"}, "amounts", "分不清是千分位还是两个数", "may be a thousands separator or part two numbers"),
    ("sum_of_costs", {"amounts": "1; x"}, "amounts", "各项金额：“x”不是数字。", "Amounts: “x” is not a number."),
    ("sum_of_costs", {"amounts": "1; -2"}, "amounts", "各项金额：第 2 项：必须大于 0。", "Amounts: item 2: must be greater than 0."),
    ("gpu_hours", {"parts": "1, 2, 3"}, "parts", "第 1 行有 3 项，最多 2 项", "line 1 has 3 values, at most 2 are read"),
    ("gpu_hours", {"parts": "1, x"}, "parts", "第 1 行：“x”不是数字。", "line 1: “x” is not a number."),
    ("gpu_hours", {"parts": '[{"gpus"'}, "parts", "这段 JSON 读不出来。", "this JSON cannot be read."),
    ("gpu_hours", {"parts": '[{"gpus": 1}]'}, "parts", "第 1 项的时长（小时）：请填写。", "item 1 Time (hours): please fill this in."),
    ("sum_of_costs", {"amounts": "1\n" * 1001}, "amounts", "有 1001 项，最多 1000 项", "there are 1001 values, at most 1000 are read"),
    ("sum_of_costs", {"amounts": "1" * (LONGEST_LIST + 1)}, "amounts", "太长了，请缩短。", "this is too long, please shorten it."),
    ("budget_hours", {"budget": "1", "price_per_hour": "1e-40"}, "", "相差太悬殊", "too far apart"),
]  # fmt: skip


@pytest.mark.parametrize(("calculator", "typed", "field", "zh", "en"), REFUSED)
def test_what_cannot_be_computed_is_said_in_a_sentence_that_names_the_field(
    calculator: str, typed: dict[str, str], field: str, zh: str, en: str
) -> None:
    for language, expected in (("zh", zh), ("en", en)):
        with pytest.raises(FormError) as refused:
            computed(calculator, typed, language)  # type: ignore[arg-type]
        faults = refused.value.faults
        assert field in {fault.field for fault in faults}
        told = " ".join(sentences(calculator, faults, language))  # type: ignore[arg-type]
        assert expected in told
        assert bool(CHINESE.search(told)) is (language == "zh")


def test_every_fault_of_a_form_is_told_at_once() -> None:
    with pytest.raises(FormError) as refused:
        computed("rental_cost", {"gpus": "x", "hours": "y"}, "en")
    assert [fault.field for fault in refused.value.faults] == ["hours", "gpus", "price_per_hour"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_unknown_calculator_gives_a_sentence(language: Language) -> None:
    for act in (lambda: computed("nothing", {}, language), lambda: opened({"calc": "<b>"}), lambda: query_of("x", {})):
        with pytest.raises(FormError) as refused:
            act()
        assert len(sentences("", refused.value.faults, language)) == 1


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(
    lambda text: text.strip() == text
)


@given(st.sampled_from(sorted(CALCULATORS)), st.data())
@settings(max_examples=150)
def test_inputs_come_back_from_their_link_as_they_were_typed(calculator: str, data: st.DataObject) -> None:
    names = st.sampled_from([field.name for field in form_fields(calculator)])
    typed = given_only(calculator, data.draw(st.dictionaries(names, TEXTS, max_size=6)))
    assert opened(read_search("?" + query_of(calculator, typed))) == Opened(calculator, typed)


@pytest.mark.parametrize("calculator", calculators_with_examples())
def test_a_link_to_an_example_computes_the_same(calculator: str) -> None:
    example = example_of(calculator)
    again = opened(read_search(query_of(calculator, example)))
    assert again is not None
    assert computed(again.calculator, again.typed, "en") == computed(calculator, example, "en")


def test_a_link_holds_only_what_was_given_in_plain_words() -> None:
    typed = RENTAL | {"currency": "CNY", "gpus_per_instance": ""}
    assert query_of("rental_cost", typed) == "tab=calculator&calc=rental_cost&hours=72&price_per_hour=28.64&gpus=4"


def test_an_address_without_a_calculator_opens_none_and_the_pages_own_parameters_are_no_inputs() -> None:
    assert opened(read_search("?tab=chat")) is None
    assert opened(read_search("?calc=rental_cost&__theme=dark&hours=72")) == Opened("rental_cost", {"hours": "72"})


def test_an_address_of_many_parameters_is_refused_and_not_worked_through() -> None:
    with pytest.raises(FormError):
        read_search("&".join(f"a{place}=1" for place in range(1000)))
    with pytest.raises(FormError):
        read_search("a" * (LONGEST_REQUEST + 1))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"calculator": 1, "typed": {}}', '{"calculator": "rental_cost", "typed": {"hours": 5}}',
                                  "[" * 50_000, "x" * (LONGEST_REQUEST + 1), json.dumps({"calculator": "rental_cost", "typed": {f"a{n}": "1" for n in range(61)}})])  # fmt: skip
def test_a_request_that_no_form_sends_is_refused_in_both_languages(text: str) -> None:
    with pytest.raises(FormError) as refused:
        read_request(text)
    for language in ("zh", "en"):
        assert sentences("", refused.value.faults, language)


@given(st.sampled_from(sorted(CALCULATORS)), st.data())
@settings(max_examples=300, deadline=None)
def test_whatever_is_typed_there_is_a_result_or_a_sentence(calculator: str, data: st.DataObject) -> None:
    odd = st.one_of(
        TEXTS, st.sampled_from(["0", "-1", "1e12", "1e-40", "{}", "[{}]", "[1]", '{"name": 1}', "a, b, c", "yes"])
    )
    names = st.sampled_from([field.name for field in form_fields(calculator)])
    typed = example_of(calculator) | data.draw(st.dictionaries(names, odd, min_size=1, max_size=3))
    assert _worked_or_told(calculator, typed)


def _worked_or_told(calculator: str, typed: dict[str, str]) -> bool:
    try:
        return bool(computed(calculator, typed, "zh").result.formula)
    except FormError as refused:
        return all(sentences(calculator, refused.faults, "en")) and bool(refused.faults)
