"""Evidence scorers of the eval suite: figures, citation marks, tools, and what stays unscored."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import JsonValue

from assistant.evidence import Answer, Call, Citation, Figure, Timings
from evals.answer_cases import AnswerCase, Checks, ToolCheck
from evals.evidence_scoring import tool_failures, unsupported_citations, untraced_figures
from evals.outcomes import Outcome, ask_advisor, ask_baseline
from evals.verdicts import PARTS, right

RENT = Call(tool="rental_cost", arguments={"gpus": 4, "hours": 72, "price_per_hour": 28.64}, result={"value": 8248.32})
ROW = Citation(id=1, title="Prices", source="guide", locator="row 3", excerpt="Tencent A100 28.64 CNY/hour")
OTHER = Citation(id=2, title="Prices", source="guide", locator="row 4", excerpt="Tencent T4 8.68 CNY/hour")


def answered(text: str, figures: tuple[Figure, ...] = (), *, verified: bool = True, **more: object) -> Answer:
    """An English answer with a call and two citations."""
    return Answer.model_validate({
        "question": "?", "language": "en", "status": "answered", "text": text, "figures": figures, "verified": verified,
        "calls": (RENT,), "citations": (ROW, OTHER), "timings_ms": Timings(understand=1, first_event=2, total=3), **more,
    })  # fmt: skip


def figure(text: str, value: str, evidence: str) -> Figure:
    """A figure in CNY."""
    return Figure(text=text, value=Decimal(value), unit="CNY", evidence=evidence)


@pytest.mark.parametrize(
    ("trap", "evidence", "wrong"),
    [
        ("a call that was made", "call:0", False),
        ("a citation that is there", "cite:2", False),
        ("the reader's own figure", "question", False),
        ("a call that was not made", "call:1", True),
        ("a citation that is not there", "cite:3", True),
        ("no evidence", "", True),
        ("another kind of evidence", "guess:0", True),
    ],
)
def test_every_figure_leads_to_evidence(trap: str, evidence: str, wrong: bool) -> None:
    assert bool(untraced_figures(answered("28.64", (figure("28.64", "28.64", evidence),)))) is wrong, trap


def test_an_unverified_answer_is_wrong_even_without_figures() -> None:
    assert untraced_figures(answered("x", verified=False)) == ["the answer is not verified"]


@pytest.mark.parametrize(
    ("trap", "text", "figures", "wrong"),
    [
        ("the cited row holds it", "It costs 28.64 CNY [1].", (figure("28.64 CNY", "28.64", "cite:1"),), False),
        ("another row holds it", "It costs 28.64 CNY [2].", (figure("28.64 CNY", "28.64", "cite:1"),), True),
        ("one of two cited rows holds it", "28.64 CNY [1][2].", (figure("28.64 CNY", "28.64", "cite:1"),), False),
        ("a computed sum is in no row", "Total 8,248.32 CNY [1].", (figure("8,248.32 CNY", "8248.32", "call:0"),), False),
        ("a mark without a citation", "It is cheap [7].", (), True),
        ("the next sentence has its own mark", "It is cheap [2]. It costs 28.64 CNY [1].", (figure("28.64 CNY", "28.64", "cite:1"),), False),
        ("the digit of a name is no figure", "One T4 is cheap [2].", (figure("4", "4", "cite:1"),), False),
        ("the number of the mark is no figure", "Cheap [2].", (figure("2", "2", "cite:1"),), False),
        ("the list of sources claims nothing", "Cheap [1].\nSources [2]: list of 28.64 CNY", (figure("28.64 CNY", "28.64", "cite:1"),), False),
    ],
)  # fmt: skip
def test_a_citation_holds_the_figures_of_its_sentence(
    trap: str, text: str, figures: tuple[Figure, ...], wrong: bool
) -> None:
    assert bool(unsupported_citations(answered(text, figures))) is wrong, trap


def test_a_text_without_marks_is_unscored() -> None:
    assert unsupported_citations(answered("It is cheap.")) is None


@pytest.mark.parametrize(
    ("trap", "name", "arguments", "wrong"),
    [
        ("the call with some of its arguments", "rental_cost", {"gpus": 4}, False),
        ("whole numbers and decimals are the same", "rental_cost", {"hours": 72.0}, False),
        ("another number of cards", "rental_cost", {"gpus": 8}, True),
        ("an argument that was not given", "rental_cost", {"days": 3}, True),
        ("another calculator", "budget_hours", {}, True),
        ("true is no 1", "rental_cost", {"gpus": True}, True),
    ],
)
def test_the_calculator_and_its_arguments(trap: str, name: str, arguments: dict[str, JsonValue], wrong: bool) -> None:
    assert bool(tool_failures(ToolCheck(name=name, arguments=arguments), [RENT])) is wrong, trap


def test_right_arguments_spread_over_two_calls_are_wrong() -> None:
    calls = [RENT, RENT.model_copy(update={"arguments": {"gpus": 1, "hours": 5}})]
    assert tool_failures(ToolCheck(name="rental_cost", arguments={"gpus": 1, "hours": 72}), calls)
    assert tool_failures(None, calls) is None


CASE = AnswerCase(
    id="a", category="x", lang="en", question="?", checks=Checks.model_validate({"status": ["answered"], "lang": "en"})
)


class Scripted:
    """An advisor that gives one answer, or raises it."""

    def __init__(self, answer: Answer | Exception) -> None:
        self._answer = answer

    def answer(self, question: str, turns: object = ()) -> Answer:
        """The answer."""
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_a_crash_is_wrong_and_not_the_end() -> None:
    outcome = ask_advisor(Scripted(IndexError("boom")), CASE)
    assert right(CASE, outcome) == ["crash: IndexError('boom')"]


def test_right_is_what_every_scorer_says() -> None:
    assert right(CASE, ask_advisor(Scripted(answered("fine")), CASE)) == []
    for answer, named in (
        (answered("fine", verified=False), "not verified"),
        (answered("fine [9]"), "[9] is no citation"),
        (answered("fine", language="zh"), "in zh"),
        (answered("fine", status="off_topic"), "off_topic"),
    ):
        assert named in "; ".join(right(CASE, ask_advisor(Scripted(answer), CASE)) or ())
    with_tool = CASE.model_copy(update={"tool": ToolCheck(name="budget_hours")})
    assert right(with_tool, ask_advisor(Scripted(answered("fine")), with_tool))


def test_what_cannot_be_scored_is_unscored_by_every_scorer() -> None:
    judged = CASE.model_copy(update={"checks": None})
    assert right(judged, ask_advisor(Scripted(answered("fine", verified=False)), judged)) is None
    not_run = ask_baseline(lambda question, turns: None, CASE)
    assert not not_run.ran
    assert {name: scorer(CASE, not_run) for name, scorer in PARTS.items()} == dict.fromkeys(PARTS)
    assert right(CASE, not_run) is None


def test_the_baseline_is_graded_on_its_text_alone() -> None:
    refusal = CASE.model_copy(update={"checks": Checks.model_validate({"status": ["not_in_knowledge"], "all_of": [["@missing"]], "lang": "en"})})  # fmt: skip
    assert right(refusal, Outcome(text="I do not know that from the context given to me here.")) == []
    assert right(refusal, Outcome(text="It costs 5 CNY.")) == ["lacks @missing"]
    assert right(refusal, Outcome(text="我不知道这个价格，上下文里没有。")) == ["not written in en"]
