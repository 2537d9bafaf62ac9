"""The calculator tab: choose a calculator, fill its form, see the result with a picture, take it along as link or question.

It wires components; what is typed is read, computed and put in words below (calculator_*.py). Open to every user.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import partial
from typing import Any

import gradio as gr
from gradio.components.plot import AltairPlotData
from gradio.context import Context

from assistant.calculator_examples import example_of
from assistant.calculator_faults import FormError, FormFault, sentences
from assistant.calculator_forms import Outcome, computed
from assistant.calculator_links import Opened, opened, query_of
from assistant.calculator_plots import plot_of
from assistant.calculator_questions import question_of
from assistant.calculator_requests import FormRequest, read_request, read_search
from assistant.calculator_results import as_answer, shown_first, shown_rest
from assistant.calculator_words import calculators, topics
from assistant.evidence import Bilingual, Language
from assistant.web.calculator_form import form_html

FIRST = "rental_cost"
CHOOSE = Bilingual(zh="计算器（可输入文字搜索）", en="Calculator (type to search)")
COMPUTE = Bilingual(zh="计算", en="Calculate")
LINK = Bilingual(zh="复制链接", en="Copy link")
ASK = Bilingual(zh="在对话中继续问", en="Ask about this")
COPIED = Bilingual(zh="链接已复制，打开它会恢复同样的输入：", en="Link copied; it opens the same inputs:")


@dataclass(frozen=True)
class Asked:
    """A question in the page's language and its answer as JSON (an Answer), to be put into the conversation."""

    question: str
    answer_json: str


@dataclass(frozen=True)
class CalculatorTab:
    """What the page wires: `after_asked` runs once the button was pressed; `asked` then holds an Asked, or None where
    what was typed cannot be computed (the tab has said why)."""

    ask: gr.Button
    asked: gr.State
    after_asked: Any


def calculator_tab(language: Language) -> CalculatorTab:
    """Build the tab inside the page that is being built, the first calculator open with its example computed."""
    example = example_of(FIRST)
    first = computed(FIRST, example, language)
    # A request carries text only; the script fills it in on the way.
    request = gr.Textbox(visible=False)
    asked = gr.State(None)
    with gr.Column(elem_id="calculator"), gr.Row():
        with gr.Column(min_width=320):
            name = gr.Dropdown(_choices(language), value=FIRST, label=CHOOSE[language], elem_id="calculator-name")
            about = gr.Markdown(calculators()[FIRST].about[language], elem_id="calculator-about")
            form = gr.HTML(form_html(FIRST, example, language), elem_id="calculator-form-holder", padding=False)
            faults = gr.HTML("", elem_id="calculator-faults", padding=False)
            with gr.Row():
                compute = gr.Button(COMPUTE[language], variant="primary", elem_id="calculator-compute", min_width=130)
                link = gr.Button(LINK[language], elem_id="calculator-copy", min_width=130)
                ask = gr.Button(ASK[language], elem_id="calculator-ask", min_width=130)
            gr.HTML(_link_place(language), elem_id="calculator-link", padding=False)
        with gr.Column(min_width=320):
            plain: dict[str, Any] = {"latex_delimiters": [], "elem_classes": "calculator-result"}
            result = gr.Markdown(shown_first(first, language), elem_id="calculator-result", **plain)
            plot = gr.Plot(show_label=False, visible=False, elem_id="calculator-plot")
            rest = gr.Markdown(shown_rest(first, language), elem_id="calculator-rest", **plain)
    hidden: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    typed: dict[str, Any] = {"inputs": [request], "js": "() => [calculatorTyped()]", **hidden}
    mark: dict[str, Any] = {"fn": None, "js": "() => calculatorMark()", "api_visibility": "private"}
    worked = [faults, result, plot, rest]
    opening = [about, form, *worked]
    name.input(partial(_chosen, language), [name], opening, **hidden).then(**mark)
    compute.click(partial(_computed, language), outputs=worked, **typed).then(**mark)
    query = gr.Textbox(visible=False)
    link.click(partial(_linked, language), outputs=[query], **typed).then(
        None, [query], None, js="(query) => calculatorCopy(query)", api_visibility="private"
    )
    after_asked = ask.click(partial(_asked, language), outputs=[asked, faults], **typed)
    after_asked.then(**mark)
    _open_from_address(language, request, [name, *opening], hidden).then(**mark)
    return CalculatorTab(ask=ask, asked=asked, after_asked=after_asked)


def _open_from_address(language: Language, request: gr.Textbox, outputs: list[Any], hidden: dict[str, Any]) -> Any:
    page = Context.root_block
    if page is None:
        raise RuntimeError("calculator_tab builds inside a page: call it within gr.Blocks")
    return page.load(
        partial(_from_address, language), [request], outputs, js="() => [window.location.search]", **hidden
    )


def _choices(language: Language) -> list[tuple[str, str]]:
    """Topic by topic, so that typing a topic's name finds all of it."""
    dot = " · "
    return [
        (f"{topics()[words.topic][language]}{dot}{words.name[language]}", key) for key, words in calculators().items()
    ]


def _chosen(language: Language, calculator: str) -> tuple[Any, ...]:
    return _opened(language, Opened(calculator, {}))


def _from_address(language: Language, search: str) -> tuple[Any, ...]:
    """What the address of the page asks for; nothing changes where it names no calculator."""
    try:
        wanted = opened(read_search(search))
    except FormError as error:
        return (gr.skip(), gr.skip(), gr.skip(), _faults_html(FIRST, error.faults, language), *_unchanged(3))
    if wanted is None:
        return _unchanged(7)
    return (gr.update(value=wanted.calculator), *_opened(language, wanted))


def _opened(language: Language, wanted: Opened) -> tuple[Any, ...]:
    """Description, form, faults, result and picture of a calculator; its example where nothing is typed."""
    if wanted.calculator not in calculators():
        return (gr.skip(), gr.skip(), *_failed(wanted.calculator, _unknown(wanted.calculator), language))
    typed = wanted.typed or example_of(wanted.calculator)
    shown_form = form_html(wanted.calculator, typed, language)
    return (calculators()[wanted.calculator].about[language], shown_form, *_worked(language, wanted.calculator, typed))


def _computed(language: Language, request: str) -> tuple[Any, ...]:
    """Faults, result and picture of what is typed; a result of other inputs does not stay."""
    wanted = _read(language, request)
    if isinstance(wanted, str):
        return wanted, *_unchanged(3)
    return _worked(language, wanted.calculator, wanted.typed)


def _worked(language: Language, calculator: str, typed: dict[str, str]) -> tuple[Any, ...]:
    try:
        outcome = computed(calculator, typed, language)
    except FormError as error:
        return _failed(calculator, error.faults, language)
    return "", shown_first(outcome, language), _plot(outcome, language), shown_rest(outcome, language)


def _failed(calculator: str, faults: tuple[FormFault, ...], language: Language) -> tuple[Any, ...]:
    return _faults_html(calculator, faults, language), "", gr.Plot(visible=False), ""


def _unchanged(outputs: int) -> tuple[Any, ...]:
    return tuple(gr.skip() for _ in range(outputs))


def _plot(outcome: Outcome, language: Language) -> Any:
    picture = plot_of(outcome, language)
    if picture is None:
        return gr.Plot(visible=False)
    return gr.Plot(value=AltairPlotData(chart="scatter", plot=picture.as_json()), visible=True)


def _linked(language: Language, request: str) -> str:
    """The query that opens the same inputs again, whether or not they can be computed with."""
    wanted = _read(language, request)
    return "" if isinstance(wanted, str) else query_of(wanted.calculator, wanted.typed)


def _asked(language: Language, request: str) -> tuple[Asked | None, str]:
    wanted = _read(language, request)
    if isinstance(wanted, str):
        return None, wanted
    try:
        outcome = computed(wanted.calculator, wanted.typed, language)
    except FormError as error:
        return None, _faults_html(wanted.calculator, error.faults, language)
    question = question_of(outcome.calculator, outcome.typed, language)
    return Asked(question, as_answer(outcome, question, language).model_dump_json()), ""


def _read(language: Language, request: str) -> FormRequest | str:
    """The request, or the faults to show."""
    try:
        return read_request(request)
    except FormError as error:
        return _faults_html("", error.faults, language)


def _faults_html(calculator: str, faults: tuple[FormFault, ...], language: Language) -> str:
    lines = "".join(f"<li>{html.escape(line)}</li>" for line in sentences(calculator, faults, language))
    fields = html.escape(" ".join(fault.field for fault in faults if fault.field))
    return f'<ul role="alert" data-fields="{fields}">{lines}</ul>'


def _unknown(calculator: str) -> tuple[FormFault, ...]:
    try:
        query_of(calculator, {})
    except FormError as error:
        return error.faults
    return ()


def _link_place(language: Language) -> str:
    return f'<div role="status" hidden><p class="hint">{html.escape(COPIED[language])}</p><a href="#"></a></div>'
