"""Figures in the text of an answer, and the places of its sources that they came from."""

from __future__ import annotations

import html
import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_advisor import plain_answer

from assistant.cited_places import Use, claims_on, evidence_body, marked, plain_text, rows_of, snippet, spots
from assistant.evidence import Answer, Call, Citation, Figure, Language
from assistant.evidence_view import evidence_html, traced
from assistant.figure_places import figure_places
from assistant.prose_names import IDENTIFIERS
from assistant.reply import Reply
from assistant.tool_names import tool_name
from assistant.tools import CALCULATORS
from assistant.verify import trace

OFFERS = Citation(
    id=1,
    title="租用价格表",
    source="文章一（2023 年）",
    locator="tables/offers.csv 第 6, 5 行",
    excerpt="云 = 腾讯云；GPU = T4；CPU = 8 核；价格 = 8.68 元/小时\n云 = 阿里云；GPU = T4；CPU = 4 vCPU；价格 = 11.63 元/小时",
    as_of="2023",
)
DOLLARS = OFFERS.model_copy(
    update={
        "id": 2,
        "excerpt": "cloud = AWS; GPU = T4; price = 0.526 USD/hour\ncloud = Azure; GPU = T4; price = 0.526 USD/hour",
    }
)
PROSE = Citation(
    id=3,
    title="Tensor cores",
    source="article",
    locator="§ 1",
    excerpt="CUDA cores are general. **Tensor cores** speed up the matrix operations of deep learning by 8 times.",
)
COST = Call(tool="rental_cost", arguments={"gpus": 4}, result=8248.32, formula="4 × 72 h × 28.64 CNY/h = 8,248.32 CNY")


def answered(text: str, *calls: Call, citations: tuple[Citation, ...] = (), language: Language = "zh") -> Answer:
    """An answer whose figures are traced as the advisor traces them."""
    found = trace(text, calls, citations, names=IDENTIFIERS)
    answer: Answer = plain_answer("q", text, language).model_copy(
        update={"calls": calls, "citations": citations, "figures": found.figures}
    )
    return answer


def wrapped(shown: str) -> list[tuple[str, str]]:
    """The figures of rendered text with the evidence that the list below gives each."""
    rows = dict(re.findall(r'<tr class="u(\d+)"><td>[^<]*</td><td>(.*?)</td></tr>', shown))
    found = re.findall(r'<span class="figure u(\d+)" role="button" tabindex="0">(.*?)</span>', shown)
    return [(text, rows[number]) for number, text in found]


def without_tags(shown: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", shown))


# --- places in the text ---------------------------------------------------------------------------------------------


def test_the_nth_printing_of_a_figure_gets_the_evidence_of_the_nth() -> None:
    table = "| 云 | 价格 |\n|---|---|\n| AWS | 0.526 美元/小时 |\n| Azure | 0.526 美元/小时 |"
    shown = Reply(answer=answered(f"{table} [2]", citations=(DOLLARS,))).render()
    (first, first_row), (second, second_row) = wrapped(shown)
    assert (first, second) == ("0.526 美元/小时", "0.526 美元/小时")
    assert "cloud = AWS" in first_row
    assert "cloud = Azure" in second_row


@pytest.mark.parametrize(
    "text",
    ["`8.68 元/小时`", "```\n8.68 元/小时\n```", "[8.68 元/小时](x)", "https://a.example/8.68 元"],
)
def test_figures_in_code_and_links_are_left_alone(text: str) -> None:
    answer = answered("价格 8.68 元/小时", citations=(OFFERS,)).model_copy(update={"text": text})
    assert figure_places(answer) == ()
    assert "<span" not in Reply(answer=answer).render()


def test_a_figure_stays_inside_bold_type_and_table_cells() -> None:
    text = "**腾讯云 8.68 元/小时**[1]\n\n| 价格 |\n|---|\n| 8.68 元/小时 |"
    shown = Reply(answer=answered(text, citations=(OFFERS,)), key="k").render()
    assert re.search(r"<strong>腾讯云 <span[^>]*>8.68 元/小时</span></strong><a class=\"cite\"", shown)
    assert re.search(r"\| <span[^>]*>8.68 元/小时</span> \|", shown)


def test_a_number_of_a_name_is_never_taken_for_a_figure() -> None:
    shown = Reply(answer=answered("T4 租 4 张，共 8,248.32 元", COST)).render()
    assert "T<span" not in shown
    assert [text for text, _ in wrapped(shown)] == ["4 张", "8,248.32 元"]


def test_a_bare_number_of_a_formula_comes_from_the_calculation_and_not_from_a_row_with_the_same_digits() -> None:
    heads = OFFERS.model_copy(update={"excerpt": "模型 = Qwen；KV 头数 = 72；层数 = 4"})
    answer = answered("算式：4 × 72 × 28.64 = 8,248.32 元", COST, citations=(heads,))
    figures = tuple(
        figure.model_copy(update={"evidence": "cite:1"}) if figure.text in ("4", "72") else figure
        for figure in answer.figures
    )
    places = figure_places(answer.model_copy(update={"figures": figures}))
    assert {place.figure.evidence for place in places} == {"call:0"}


def test_a_figure_the_text_does_not_have_is_still_in_the_list() -> None:
    answer = answered("8.68 元/小时", citations=(OFFERS,)).model_copy(update={"text": "no figure here"})
    shown = Reply(answer=answer).render()
    assert "<span" not in shown
    assert "<td>8.68 元/小时</td>" in shown


def test_a_figure_of_the_question_is_said_to_be_the_readers_own() -> None:
    figure = Figure(text="4 张", value=Decimal(4), unit="card", evidence="question")
    answer = plain_answer("q", "您的 4 张", "zh").model_copy(update={"figures": (figure,)})
    assert wrapped(Reply(answer=answer).render()) == [("4 张", "来自您的问题")]


def test_equal_figures_of_one_place_are_listed_once() -> None:
    text = "8.68 元/小时。又是 8.68 元/小时。"
    answer = answered(text, citations=(OFFERS,))
    assert len(answer.figures) == 2
    assert len(traced(answer).figures) == 1


@given(
    st.text(
        alphabet=st.characters(blacklist_categories=("Cs", "Co"), blacklist_characters="*~[]`!<>|&\r"), max_size=200
    )
)
def test_text_without_markup_reads_the_same_with_its_figures_wrapped(text: str) -> None:
    shown = Reply(answer=answered(text, COST, citations=(OFFERS,))).render()
    assert without_tags(shown.split('\n\n<details class="')[0]) == text


@given(st.text(max_size=120))
def test_no_text_of_an_answer_becomes_markup_of_its_own(text: str) -> None:
    shown = Reply(answer=answered(text, COST), key="k").render()
    opened = set(re.findall(r"<([a-zA-Z][a-z0-9]*)", re.sub(r"```.*?(?:```|$)|`[^`\n]*`", "", shown, flags=re.DOTALL)))
    assert opened <= {
        "span",
        "strong",
        "a",
        "details",
        "summary",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
        "br",
    }


@pytest.mark.parametrize(
    "text", ["<img src=x>", "![x](http://outside.example/x.png)", "</span><script>", "\ue0000\ue001x\ue002"]
)
def test_hostile_text_is_shown_as_it_was_written(text: str) -> None:
    shown = Reply(answer=answered(text)).render()
    assert not re.search(r"<(?:img|script|/span|span)", shown)
    assert "![" not in shown


# --- places in the sources --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("excerpt", "rows"),
    [
        ("a = 1; b = 2", ((("a", "1"), ("b", "2")),)),
        ("云 = 腾讯云；价格 = 8.68 元", ((("云", "腾讯云"), ("价格", "8.68 元")),)),
        ("a = 1; source = x; y", ((("a", "1"), ("source", "x; y")),)),
        ("a = 1; b = 2\nc = 3; d = 4", ((("a", "1"), ("b", "2")), (("c", "3"), ("d", "4")))),
        ("E = mc²", ()),
        ("Some prose; it says a = b.", ()),
        ("a = 1; b = 2\n\nand prose", ()),
        ("", ()),
    ],
)
def test_lines_of_headings_and_values_are_rows_and_all_else_is_prose(excerpt: str, rows: object) -> None:
    assert rows_of(excerpt) == rows


def test_the_cell_is_chosen_by_value_unit_and_the_words_beside_the_figure() -> None:
    excerpt = "云 = 甲云；显存 = 16 GB；内存 = 16 GiB\n云 = 乙云；显存 = 16 GB；内存 = 16 GiB"
    citation = OFFERS.model_copy(update={"excerpt": excerpt})
    gib = Figure(text="16 GiB", value=Decimal(16), unit="GiB", evidence="cite:1")
    (spot,) = spots(citation, [Use(0, gib, "| 乙云 | 16 GiB |")])
    assert (spot.row, spot.column) == (1, 2)
    assert snippet(citation, spot) == "云 = 乙云 · 显存 = 16 GB · <mark>内存 = 16 GiB</mark>"


def test_a_figure_that_no_cell_holds_marks_none() -> None:
    other = Figure(text="99 元", value=Decimal(99), unit="CNY", evidence="cite:1")
    assert spots(OFFERS, [Use(0, other, "")]) == ()
    assert "<mark" not in evidence_body(OFFERS, (), ())


def test_one_row_stands_upright_and_several_side_by_side() -> None:
    one = evidence_body(OFFERS.model_copy(update={"excerpt": "a = 1; b = 2"}), (), ())
    assert (
        one
        == '<table class="rows one"><tbody><tr><th>a</th><td>1</td></tr><tr><th>b</th><td>2</td></tr></tbody></table>'
    )
    several = evidence_body(DOLLARS, (), ())
    assert several.count("<tr>") == 3
    assert several.count("<th>") == 3


def test_the_place_of_a_figure_and_the_ground_of_a_claim_are_marked_in_prose() -> None:
    text = "Tensor cores speed up matrix operations of deep learning 8 times. [3]"
    answer = answered(text, citations=(PROSE,), language="en")
    shown = evidence_html(answer, "k")
    assert re.search(r'<mark class="used u\d+">8 times</mark>', shown)
    assert '<strong><mark class="claim">Tensor cores</mark></strong>' in shown
    assert "general</mark>" not in shown


def test_the_list_of_sources_is_no_claim() -> None:
    assert claims_on("A claim. [1]\nAnother claim [2].\n来源 [1]：文章一", 1) == ("A claim. ".strip(),)


@given(st.text(max_size=80), st.lists(st.tuples(st.integers(0, 90), st.integers(0, 90)), max_size=4))
def test_marks_change_no_text_and_cross_no_tag(text: str, spans: list[tuple[int, int]]) -> None:
    markup = f"<p><strong>{html.escape(text)}</strong> tail</p>"
    shown = marked(markup, [(start, end, "used") for start, end in spans])
    assert plain_text(shown) == plain_text(markup)
    assert shown.count("<mark") == shown.count("</mark>")
    assert not re.search(r"<mark[^>]*>[^<]*<(?!/mark)", shown)


@given(st.text(max_size=120))
def test_no_row_of_a_source_becomes_markup(value: str) -> None:
    citation = OFFERS.model_copy(update={"excerpt": f"a = {value}; b = 8.68 元/小时"})
    shown = evidence_html(answered("8.68 元/小时", citations=(citation,)), "k")
    assert set(re.findall(r"<([a-zA-Z]\w*)", shown)) <= {
        "details", "summary", "strong", "small", "div", "table", "thead", "tbody", "tr", "th", "td", "mark", "a", "br",
        "p", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "code", "pre", "em", "blockquote", "hr",
    }  # fmt: skip


@pytest.mark.parametrize("tool", [*CALCULATORS, "find_offers", "count_rows"])
def test_every_tool_has_a_name_in_both_languages(tool: str) -> None:
    assert re.search("[\u4e00-\u9fff]|API|MFU", tool_name(tool, "zh"))
    assert not re.search("[\u4e00-\u9fff]", tool_name(tool, "en"))


def test_a_counted_list_and_a_looked_up_row_say_what_they_are() -> None:
    counted = Call(tool="count_rows", arguments={"table": "offers.csv"}, result={"rows": 35, "shown": 4})
    found = Call(
        tool="find_offers", arguments={}, result=[{"provider": "aws", "price": 0.5}, {"provider": "gcp", "price": 0.7}]
    )
    figures = (
        Figure(text="35 行", value=Decimal(35), unit="row", evidence="call:0"),
        Figure(text="0.7", value=Decimal("0.7"), unit="USD/hour", evidence="call:1"),
    )
    answer = plain_answer("q", "35 行，0.7 美元/小时", "zh").model_copy(
        update={"calls": (counted, found), "figures": figures}
    )
    shown = evidence_html(answer, "k")
    assert "共 35 行，列出 4 行" in shown
    assert "provider = gcp, price = 0.7" in shown
    assert "aws" not in shown
