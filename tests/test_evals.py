"""The eval suite itself: the grader's traps, the case files, the reports. No model and no index is opened."""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.evidence import Answer, Language, Status, Timings
from assistant.intent import INTENTS
from evals import answers, intents, retrieval
from evals.__main__ import main
from evals.answers import AnswerCase, Outcome, percentile
from evals.case_files import Case, CaseError, read_cases
from evals.grading import UNITS, failures, normalise
from evals.intents import IntentCase
from evals.retrieval_scores import RetrievalCase

TABLE = "| Cloud | Price (CNY/h) | CPU |\n| --- | --- | --- |\n| Tencent | 8.68 | 8 cores |"


def answered(
    text: str,
    *,
    status: Status = "answered",
    language: Language = "en",
    verified: bool = True,
    retrieve: float | None = None,
) -> Answer:
    """An answer with this text."""
    timings = Timings(understand=1, retrieve=retrieve, first_event=2, total=3)
    return Answer(question="?", language=language, status=status, text=text, verified=verified, timings_ms=timings)


def holds(text: str, wanted: str | list[str]) -> bool:
    """Whether the grader finds `wanted` in `text`."""
    return not failures(answered(text), status=["answered"], language="en", contains=[wanted])


@pytest.mark.parametrize(
    ("trap", "text", "wanted", "found"),
    [
        ("the tail of a longer number is not it", "It costs 134.74 CNY", "34.74 CNY", False),
        ("the head of a longer number is not it", "It costs 28.645 CNY", "28.64 CNY", False),
        ("a whole number is not the start of a decimal", "It costs 8.68 CNY", "8 CNY", False),
        ("a whole number is never reached by rounding", "It costs 7.8 CNY", "8 CNY", False),
        ("a more exact figure is right", "It costs 34.742 CNY", "34.74 CNY", True),
        ("a less exact figure is wrong", "It costs 34.7 CNY", "34.742 CNY", False),
        ("trailing zeros do not matter", "It costs 8,248.320 CNY", "8248.32 CNY", True),
        ("thousands are separated or not", "It costs 20620.8 CNY", "20,620.80 CNY", True),
        ("a part of a separated number is not it", "It costs 20,620 CNY", "620 CNY", False),
        ("the other currency is wrong", "It costs 28.64 USD", "28.64 CNY", False),
        ("no currency is wrong", "It costs 28.64", "28.64 CNY", False),
        ("US dollars are no yuan", "28.64 美元", "28.64 CNY", False),
        ("a sign before the number is its currency", "It costs $9 a month", "9 USD", True),
        ("a sign before wins over a word of the next clause", "$28.64, in CNY more", "28.64 CNY", False),
        ("the unit of the next number is not this one's", "28.64, or 4 USD", "28.64 USD", False),
        ("the first unit behind the number counts", "72 h × 28.64 CNY/h", "72 CNY", False),
        ("hours are not seconds", "443.26 hours", "443.26 seconds", False),
        ("the end of a word is no unit", "28.64 costs CNY", "28.64 seconds", False),
        ("the digits of a card's name are no number", "one A100 card", "100 cards", False),
        ("a table cell has the unit of its heading", TABLE, "8.68 CNY", True),
        ("a table cell with a unit keeps its own", TABLE, "8 CNY", False),
        ("full width is read", "价格：２８．６４　元", "28.64 CNY", True),
        ("a full-width colon behind T4 makes no clock time", "腾讯云 T4：8.68 元/小时", "8.68 CNY", True),
        ("emphasis and citation marks are no text", "**28.64** [1] CNY/h", "28.64 CNY", True),
        ("a longer duration is not it", "11:42:46", "1:42:46", False),
        ("a duration with more behind it is not it", "1:42:46", "1:42", False),
        ("T4 is not found inside GT4", "GT4.4XLARGE96", "T4", False),
        ("letter case does not matter", "kaggle", "Kaggle", True),
        ("one of several is enough", "Use Grafana", ["Prometheus", "Grafana"], True),
        ("an expression is searched as it is", "85–100 GB", r"re:85\W100 ?gb", True),
        ("an expression is not looked up as a word", "re:x", "re:y", False),
    ],
)
def test_grader_closes_the_trap(trap: str, text: str, wanted: str | list[str], found: bool) -> None:
    wrong = failures(answered(text), status=["answered"], language="en", contains=[wanted])
    assert (not [line for line in wrong if line.startswith("lacks")]) is found, trap


@given(st.decimals(min_value="0.01", max_value="9999999", places=2))
def test_every_figure_is_found_however_it_is_written(value: Decimal) -> None:
    assert holds(f"It costs {value:,} CNY.", f"{value} CNY")
    assert not holds(f"It costs 1{value} CNY.", f"{value} CNY")


def test_wrong_status_language_and_forbidden_words_are_all_reported() -> None:
    wrong = failures(
        answered("京东云 28.64 元", status="answered", language="zh"),
        status=["not_in_knowledge"],
        language="en",
        contains=["missing"],
        absent=[r"28\.64"],
    )
    assert len(wrong) == 4


def test_an_english_answer_full_of_chinese_is_not_english() -> None:
    assert failures(answered("价格是二十八元六角四分"), status=["answered"], language="en") == ["not in en"]
    assert not failures(
        answered("Tensor cores (张量核心) do matrix operations of deep learning"), status=["answered"], language="en"
    )


def test_absent_is_searched_in_the_normalised_text() -> None:
    wrong = failures(answered("Ａ１００ 28.64"), status=["answered"], language="en", absent=["a100"])
    assert wrong == ["says 'a100'"]


def test_a_table_after_a_table_has_its_own_headings() -> None:
    assert "5 hours" in normalise(f"{TABLE}\n\n| Run | hours |\n| --- | --- |\n| pt2 | 5 |")


def test_percentile_is_an_observed_value() -> None:
    assert percentile([5, 1, 3, 2, 4], 0.95) == 5
    assert percentile([1, 2, 3, 4], 0.5) == 2


@pytest.mark.parametrize(
    ("file", "kind"),
    [(answers.CASES, AnswerCase), (intents.CASES, IntentCase), (retrieval.CASES, RetrievalCase)],
)
def test_a_misspelt_field_is_an_error_that_names_the_line(file: Path, kind: type[Case], tmp_path: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()[:2]
    broken = tmp_path / "cases.jsonl"
    broken.write_text(f'{lines[0]}\n{lines[1][:-1]}, "langauge": "zh"}}\n', encoding="utf-8")
    with pytest.raises(CaseError, match=r"cases\.jsonl, line 2: .*langauge"):
        read_cases(broken, kind)


def test_a_limit_spreads_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("{}\n" * 10, encoding="utf-8")
    assert len(read_cases(file, Case)) == 10
    assert len(read_cases(file, Case, limit=3)) == 3
    categories = {case.category for case in read_cases(answers.CASES, AnswerCase, limit=30)}
    assert len(categories) >= 15


def test_answer_cases_are_whole() -> None:
    cases = read_cases(answers.CASES, AnswerCase)
    assert [i for i, n in Counter(case.id for case in cases).items() if n > 1] == []
    assert [q for q, n in Counter((*case.turns, case.question) for case in cases).items() if n > 1] == []
    languages = Counter(case.language for case in cases)
    assert len(cases) >= 80
    assert min(languages.values()) >= 0.45 * len(cases)
    assert sum(bool(case.turns) for case in cases) >= 8
    assert [case.id for case in cases if not case.note and case.status != ("off_topic",)] == []
    assert {
        c for case in cases for c in [case.category] if len({x.language for x in cases if x.category == c}) < 2
    } == set()


def test_answer_cases_can_be_graded() -> None:
    for case in read_cases(answers.CASES, AnswerCase):
        wanted = [each for item in case.contains for each in ([item] if isinstance(item, str) else item)]
        for pattern in [*(each[3:] for each in wanted if each.startswith("re:")), *case.absent]:
            re.compile(pattern)
        for each in wanted:  # "4 card" would silently be looked up as a word
            assert not re.fullmatch(r"\d[\d.,]* \w+", each) or each.split()[1] in UNITS, case.id
        if case.status == ("answered",):
            assert case.contains, f"{case.id}: any answer would be right"


def test_no_answer_case_forbids_what_it_wants() -> None:
    for case in read_cases(answers.CASES, AnswerCase):
        wanted = [item for item in case.contains if isinstance(item, str) and not item.startswith("re:")]
        text = normalise(" ; ".join(wanted))
        assert [p for p in case.absent if re.search(p, text)] == [], case.id


def test_intent_cases_name_what_exists() -> None:
    lines = read_cases(intents.CASES, IntentCase)
    assert {case.intent for case in lines} == set(INTENTS)
    assert len({case.text for case in lines}) == len(lines)


def test_report_counts_a_crash_as_wrong_and_an_untraced_figure_too() -> None:
    case = AnswerCase(id="a", category="price", language="zh", question="?", status=("answered",), contains=(), note="")
    right, untraced = answered("x"), answered("x", verified=False, retrieve=5.0)
    outcomes = [Outcome(case, right, ()), Outcome(case, untraced, ("untraced",)), Outcome(case, None, ("crash",))]
    text = answers.report(outcomes)
    assert "| price | 1 of 3 | – | 1 of 3 |" in text
    assert "crashes: 1; answers with an untraced figure: 1" in text
    assert "decided by code: 1 of 2" in text
    assert "call the model: 1 of 2 (50%)" in text


class Scripted:
    """An advisor that answers from a list; an exception in it is raised."""

    def __init__(self, *queue: Answer | Exception) -> None:
        self._queue = list(queue)

    def answer(self, question: str, turns: object = ()) -> Answer:
        """The next of the list."""
        following = self._queue.pop(0)
        if isinstance(following, Exception):
            raise following
        return following


def test_a_crash_does_not_end_the_run_and_an_untraced_figure_is_a_failure() -> None:
    case = AnswerCase(
        id="a", category="x", language="en", question="?", status=("answered",), contains=("kaggle",), note=""
    )
    advisor = Scripted(IndexError("boom"), answered("kaggle", verified=False), answered("kaggle"))
    assert "boom" in answers.ask(advisor, case).failures[0]
    assert answers.ask(advisor, case).failures == ("a figure is untraced",)
    assert answers.ask(advisor, case).failures == ()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["--model", "qwen"], "LLM_BASE_URL"), (["golden"], "golden"), (["--limit", "-1"], "limit")],
)
def test_a_wrong_argument_is_refused_before_anything_is_loaded(arguments: list[str], named: str) -> None:
    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert named in result.output
