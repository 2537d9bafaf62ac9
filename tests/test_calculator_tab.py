"""The calculator tab without a browser: the form's markup, what its handlers give, and what the page is told."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest

from assistant.calculator_examples import calculators_with_examples, example_of
from assistant.calculator_fields import form_fields
from assistant.evidence import Answer, Language
from assistant.web.page import stay_local

stay_local()

from assistant.web import calculator as tab  # noqa: E402
from assistant.web.calculator_form import form_html  # noqa: E402

CALCULATORS = calculators_with_examples()
LANGUAGES: tuple[Language, ...] = ("zh", "en")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
VOID = {"input", "br", "img"}


class _Form(HTMLParser):
    """The boxes of a form by name, the ids, what labels point at, and whether every element is closed."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.boxes: dict[str, list[tuple[str, dict[str, str | None]]]] = {}
        self.texts: dict[str, str] = {}
        self.chosen: dict[str, str] = {}
        self.ids: list[str] = []
        self.labelled: set[str] = set()
        self.open: list[str] = []
        self._select = self._area = ""
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [str(given["id"])] if "id" in given else []
        self.labelled |= {str(given["for"])} if "for" in given else set()
        if tag in ("input", "select", "textarea") and given.get("name"):
            self.boxes.setdefault(str(given["name"]), []).append((tag, given))
        self._select = str(given["name"]) if tag == "select" else self._select
        self._area = str(given["name"]) if tag == "textarea" else ""
        if tag == "option" and "selected" in given:
            self.chosen[self._select] = str(given["value"])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._area = "" if tag == "textarea" else self._area

    def handle_data(self, data: str) -> None:
        if self._area:
            self.texts[self._area] = self.texts.get(self._area, "") + data


def sent(calculator: str, typed: dict[str, str]) -> str:
    return json.dumps({"calculator": calculator, "typed": typed})


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", CALCULATORS)
def test_a_form_has_a_labelled_box_for_every_input_with_what_was_typed(calculator: str, language: Language) -> None:
    example = example_of(calculator)
    form = _Form(form_html(calculator, example, language))
    assert form.open == []
    assert len(form.ids) == len(set(form.ids))
    assert set(form.boxes) == {field.name for field in form_fields(calculator)}
    for field in form_fields(calculator):
        tag, box = form.boxes[field.name][0]
        if field.kind not in ("flag", "choices"):  # their label holds the box
            assert f"calc-{field.name}" in form.labelled
        typed = example.get(field.name)
        if typed and tag == "textarea":
            assert form.texts[field.name].strip() == typed
        elif typed and tag == "select":
            assert form.chosen[field.name] == typed
        elif typed and field.kind != "choices":
            assert box["value"] == typed


@pytest.mark.parametrize("calculator", CALCULATORS)
def test_a_form_speaks_one_language(calculator: str) -> None:
    given = "".join(example_of(calculator).values())
    assert CHINESE.search(form_html(calculator, {}, "zh"))
    text = form_html(calculator, example_of(calculator), "en")
    assert [sign for sign in CHINESE.findall(text) if sign not in given] == []


def test_a_default_stands_in_an_empty_box_and_is_chosen_in_a_list() -> None:
    form = _Form(form_html("inference_memory", {}, "zh"))
    assert form.boxes["sequences"][0][1]["placeholder"] == "默认 1"
    assert form.chosen["precision"] == "bf16"
    assert form.boxes["context_tokens"][0][1]["placeholder"] == "可不填"


def test_boxes_to_tick_show_the_default_until_something_else_is_given() -> None:
    def ticked(typed: dict[str, str], name: str) -> list[bool]:
        return ["checked" in box for _, box in _Form(form_html("training_memory", typed, "en")).boxes[name]]

    assert ticked({}, "flash_attention") == [True]
    assert ticked({"flash_attention": "no"}, "flash_attention") == [False]
    assert ticked({}, "lora_targets") == [True, False, True, False, False, False, False]  # q and v
    assert ticked({"lora_targets": "o"}, "lora_targets") == [False, False, False, True, False, False, False]


def test_rows_of_the_catalogue_are_offered_while_one_types() -> None:
    markup = form_html("inference_fit", {}, "en")
    assert "<option>A100 SXM4 80GB</option>" in markup
    assert "<option>Qwen2.5-72B</option>" in markup
    assert "<datalist" not in form_html("run_speed", {}, "en")


def test_what_is_typed_cannot_break_out_of_the_form() -> None:
    evil = '"><script>alert(1)</script>'
    for calculator, field in (("rental_cost", "hours"), ("sum_of_costs", "amounts"), ("inference_fit", "model")):
        markup = form_html(calculator, {field: evil}, "en")
        assert "<script" not in markup
        assert _Form(markup).open == []
    faults = tab._faults_html("rental_cost", tab._unknown(evil), "en")
    assert "<script" not in faults


BUILT = """
import json
from assistant.web.page import stay_local
stay_local()
import gradio as gr
from assistant.web.calculator import calculator_tab
with gr.Blocks() as page:
    calculator_tab("zh")
print(json.dumps(page.get_config_file(), default=str))
"""


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    """What the page sends a browser of this tab; built apart, for Gradio leaves an event loop open."""
    built = subprocess.run([sys.executable, "-c", BUILT], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(built.stdout.splitlines()[-1])
    return found


def test_no_event_of_the_tab_is_a_public_endpoint(config: dict[str, Any]) -> None:
    assert len(config["dependencies"]) >= 5
    assert {event["api_visibility"] for event in config["dependencies"]} == {"private"}


def test_only_one_form_stands_in_the_page_and_it_is_small(config: dict[str, Any]) -> None:
    sent_to_browser = json.dumps(config)
    assert sent_to_browser.count("data-calculator=") == 1
    assert len(sent_to_browser) < 60_000


def test_the_page_opens_with_a_result_and_no_request(config: dict[str, Any]) -> None:
    values = [component.get("props", {}).get("value") for component in config["components"]]
    assert any(isinstance(value, str) and "8,248.32 元" in value for value in values)


def test_every_calculator_can_be_chosen_and_found_by_its_topic() -> None:
    choices = tab._choices("zh")
    assert {key for _, key in choices} == set(CALCULATORS)
    assert ("租用 · 租金总额", "rental_cost") in choices


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("calculator", CALCULATORS)
def test_choosing_a_calculator_shows_its_form_computed(calculator: str, language: Language) -> None:
    about, form, faults, result, _, rest = tab._chosen(language, calculator)
    assert about
    assert f'data-calculator="{calculator}"' in form
    assert faults == ""
    assert result.startswith("### ")
    assert "|" in rest


def test_a_fault_takes_the_old_result_away_and_names_the_field_for_the_script() -> None:
    faults, result, plot, rest = tab._computed("zh", sent("rental_cost", {"hours": "abc", "price_per_hour": "1"}))
    assert faults == '<ul role="alert" data-fields="hours"><li>时长（小时）：“abc”不是数字。</li></ul>'
    assert (result, rest) == ("", "")
    assert plot.visible is False


def test_a_picture_comes_and_goes_with_its_calculator() -> None:
    _, _, plot, _ = tab._computed("en", sent("buy_or_rent", example_of("buy_or_rent")))
    assert plot.visible is True
    assert json.loads(plot.value.plot if hasattr(plot.value, "plot") else plot.value["plot"])["layer"]
    assert tab._computed("en", sent("rental_cost", example_of("rental_cost")))[2].visible is False


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_broken_request_gives_a_sentence_and_leaves_the_rest(language: Language) -> None:
    for request in ("", "{", sent("nothing", {})):
        faults, *rest = tab._computed(language, request)
        assert bool(CHINESE.search(faults)) is (language == "zh")
        assert "<li>" in faults
        assert len(rest) == 3


def test_an_address_opens_its_calculator_with_its_inputs() -> None:
    name, about, form, faults, result, _, _ = tab._from_address(
        "en", "?tab=calculator&calc=budget_hours&budget=100&price_per_hour=2"
    )
    assert name["value"] == "budget_hours"
    assert about.startswith("How many hours")
    assert 'value="100"' in form
    assert (faults, result.splitlines()[0]) == ("", "### Hours a budget buys: 50 hours")


def test_an_address_with_a_bad_value_shows_it_in_the_form_with_a_sentence() -> None:
    _, _, form, faults, result, _, _ = tab._from_address("en", "?calc=rental_cost&hours=x&price_per_hour=1")
    assert 'value="x"' in form
    assert "“x” is not a number" in faults
    assert result == ""


def test_an_address_without_a_calculator_or_with_an_unknown_one_changes_nothing_else() -> None:
    assert len(tab._from_address("zh", "?tab=prices")) == 7
    unknown = tab._from_address("zh", "?calc=nothing")
    assert "没有叫“nothing”的计算器" in unknown[3]
    assert len(unknown) == 7


def test_a_link_is_given_even_for_what_cannot_be_computed() -> None:
    assert tab._linked("zh", sent("rental_cost", {"hours": "x"})) == "tab=calculator&calc=rental_cost&hours=x"
    assert tab._linked("zh", "{") == ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_asking_gives_a_question_and_a_verified_answer(language: Language) -> None:
    asked, faults = tab._asked(language, sent("rental_cost", example_of("rental_cost")))
    assert faults == ""
    assert asked is not None
    answer = Answer.model_validate_json(asked.answer_json)
    assert (answer.question, answer.language, answer.verified) == (asked.question, language, True)
    assert "8,248.32" in answer.text


def test_asking_about_what_cannot_be_computed_says_why() -> None:
    asked, faults = tab._asked("en", sent("rental_cost", {}))
    assert asked is None
    assert "please fill this in" in faults


def test_the_command_line_computes_without_the_page() -> None:
    code = "import sys, assistant.calculator_forms, assistant.calculator_results; print('gradio' in sys.modules)"
    ran: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
