"""The eval suite around the scorers: case files, summaries, reports, comparison, gate and command line. No model is opened."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from assistant.evidence import Answer, Language, Status, Timings
from assistant.intent import INTENTS
from evals import comparison, gate, intents, retrieval, summary
from evals.__main__ import COMMANDS, main
from evals.answer_cases import TASK_FILES, AnswerCase, Checks, WantedFigure, gate_cases, read_answer_cases
from evals.answer_units import CURRENCIES, SECONDS, UNITS
from evals.case_files import Case, CaseError, read_cases
from evals.intents import IntentCase
from evals.outcomes import Outcome
from evals.records import BASELINE, Record
from evals.report import report
from evals.report_page import page
from evals.retrieval_scores import Outcome as SearchOutcome
from evals.retrieval_scores import RetrievalCase
from evals.suite import Choice, Task, _searches
from evals.summary import percentile

EVERY = [case for file in TASK_FILES.values() for case in read_answer_cases(file)]
LEAST = {"answers": 80, "conversations": 30, "hostile": 40, "calculators": 30, "parity": 50, "fresh": 400}


@pytest.mark.parametrize(
    ("file", "kind"),
    [*((file, AnswerCase) for file in TASK_FILES.values()), (intents.CASES, IntentCase), (retrieval.CASES, RetrievalCase)],
)  # fmt: skip
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
    categories = {case.category for case in read_answer_cases(TASK_FILES["answers"], limit=30)}
    assert len(categories) >= 12


def test_there_are_enough_cases_in_both_languages_and_none_twice() -> None:
    for name, file in TASK_FILES.items():
        cases = read_answer_cases(file)
        assert len(cases) >= LEAST[name], name
        assert min(Counter(case.lang for case in cases).values()) >= 0.4 * len(cases), name
    assert [i for i, n in Counter(case.id for case in EVERY).items() if n > 1] == []
    assert [q for q, n in Counter((*case.turns, case.question) for case in EVERY).items() if n > 1] == []
    assert all(case.turns for case in read_answer_cases(TASK_FILES["conversations"]))
    assert all(case.tool for case in read_answer_cases(TASK_FILES["calculators"]))
    assert [case.id for case in EVERY if not case.note] == []


def figures_of(case: AnswerCase) -> list[WantedFigure]:
    """All figures that a case names."""
    checks = case.checks or Checks()
    return [*checks.figures, *(figure for group in checks.any_figures for figure in group)]


def test_no_case_can_be_right_whatever_is_said_and_no_unit_is_unknown() -> None:
    for case in EVERY:
        assert case.checks, case.id
        assert case.checks.status, case.id
        if case.checks.status == ("answered",):
            assert figures_of(case) or case.checks.all_of or case.checks.none_of or case.tool, case.id
        for figure in figures_of(case):
            known = UNITS.keys() | SECONDS.keys() | CURRENCIES.keys() | {"CNY/hour", "USD/hour", ""}
            assert figure.unit in known, case.id


def test_money_of_a_case_stands_in_its_note_so_that_it_can_be_checked_by_hand() -> None:
    for case in EVERY:
        for figure in figures_of(case):
            if figure.unit.startswith("CNY") and isinstance(figure.value, float):
                whole = f"{figure.value:,.6f}".split(".")[0]
                assert whole in case.note or whole.replace(",", "") in case.note, case.id


def test_pairs_ask_the_same_in_both_languages() -> None:
    twins: dict[str | None, list[AnswerCase]] = defaultdict(list)
    for case in read_answer_cases(TASK_FILES["parity"]):
        twins[case.pair].append(case)
    assert len(twins) >= 25
    for pair, cases in twins.items():
        assert sorted(case.lang for case in cases) == ["en", "zh"], pair
        first, second = (case.checks.model_dump(exclude={"lang"}) for case in cases if case.checks)
        assert first == second, pair


def test_the_gate_names_cases_of_every_task_that_exist() -> None:
    cases = gate_cases()
    ids = {case.id for case in cases}
    assert 50 <= len(cases) <= 80
    assert len(ids) == len(cases)
    for name, file in TASK_FILES.items():
        assert ids & {case.id for case in read_answer_cases(file)}, name
    assert min(Counter(case.lang for case in cases).values()) >= 20


def test_intent_cases_name_what_exists() -> None:
    lines = read_cases(intents.CASES, IntentCase)
    assert {case.intent for case in lines} == set(INTENTS)
    assert len({case.text for case in lines}) == len(lines)


def record(
    id: str = "a",
    wrong: tuple[str, ...] | None = (),
    *,
    task: str = "answers",
    lang: Language = "zh",
    category: str = "price",
    text: str = "x",
    status: Status = "answered",
    wanted: Status = "answered",
    pair: str | None = None,
    retrieve: float | None = None,
    model: str | None = None,
    crash: str | None = None,
) -> Record:
    """A case and its result; the baseline has no Answer."""
    case = AnswerCase(id=id, category=category, lang=lang, question="?", checks=Checks(status=(wanted,)), pair=pair)
    times = Timings(understand=1, retrieve=retrieve, first_event=20, first_token=900 if model else None, total=1000)
    answer = None if task == BASELINE or crash else Answer(
        question="?", language=lang, status=status, text=text, verified=True, model=model, timings_ms=times,
    )  # fmt: skip
    outcome = Outcome(text=text, answer=answer, crash=crash, ran=wrong is not None)
    return Record(task, case, outcome, {"right": wrong, "figures": (), "citations": None})


def test_shares_leave_out_what_was_not_scored_and_count_a_crash_as_wrong() -> None:
    records = [record("a"), record("b", ("no",)), record("c", None), record("d", ("crash: x",), crash="x")]
    assert str(summary.right_share(records)) == "1 of 3 (33.3 %)"
    assert "crashes: 1; unscored: 1" in report(records)


def test_the_baseline_is_counted_apart_and_compared_on_the_same_cases_only() -> None:
    records = [
        record("a"), record("b", ("no",)), record("c"),
        record("a", ("no",), task=BASELINE), record("b", (), task=BASELINE), record("c", None, task=BASELINE),
    ]  # fmt: skip
    ours, baseline = summary.same_cases(records)
    assert (ours.part, ours.whole, baseline.part, baseline.whole) == (1, 2, 1, 2)
    text = report(records)
    assert "| price | 2 of 3 | – | 2 of 3 | 1 of 2 | – | 1 of 2 |" in text
    assert "baseline: 2 of 3 cases run, 1 not run" in text
    assert "in its favour" in text


def test_refusals_are_measured_both_ways() -> None:
    records = [
        record("a", wanted="not_in_knowledge", status="not_in_knowledge"),
        record("b", ("x",), wanted="not_in_knowledge"),
        record("c", ("x",), status="needs_detail"),
        record("d"),
    ]
    rightly, wrongly = summary.refusals(records)
    assert (rightly.part, rightly.whole, wrongly.part, wrongly.whole) == (1, 2, 1, 2)


def test_pairs_are_right_together_or_differ() -> None:
    records = [
        record("a", pair="1"), record("b", pair="1", lang="en"), record("c", pair="2"),
        record("d", ("no",), pair="2", lang="en"), record("e", pair="3"),
    ]  # fmt: skip
    assert summary.pairs(records) == {"both right": 1, "differ": 1, "both wrong": 0}


def test_latency_parts_what_code_decided_from_what_the_model_wrote() -> None:
    found = summary.latencies([record("a"), record("b", retrieve=5, model="m"), record("c", retrieve=5)])
    assert found["code-decided"]["total"].milliseconds == (1000,)
    assert found["model-written"]["first verified sentence"].milliseconds == (900,)
    assert percentile([5, 1, 3, 2, 4], 0.95) == 5
    assert percentile([1, 2, 3, 4], 0.5) == 2


def test_the_page_needs_nothing_else_and_shows_failed_answers_escaped() -> None:
    records = [record("a"), record("b", ("lacks <1> CNY",), text="<script>alert(1)</script>", lang="en")]
    text = page(records, "evals", datetime(2026, 1, 2))
    assert text.count("<svg") >= 3
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert re.findall(r'(?:src|href)="(?!#)', text) == []
    assert "lacks &lt;1&gt; CNY" in text


def test_two_runs_are_compared_case_by_case() -> None:
    before = [record("a", ("no",)), record("b"), record("c", text="old"), record("d"), record("e")]
    after = [record("a"), record("b", ("lacks 5",)), record("c", text="new"), record("d"), record("f")]
    text = comparison.compare(before, after)
    assert "| all | 4 | 3 | 3 |" in text
    assert "## Newly right: 1\n\n- **answers a**" in text
    assert "## Newly wrong: 1\n\n- **answers b**" in text
    assert "lacks 5" in text
    assert "verdict as before: 1\n\n- **answers c**" in text
    assert "Only before: 1 cases; only after: 1" in text


class Scripted:
    """An advisor that answers from a list; an exception in it is raised."""

    def __init__(self, *queue: str | Exception) -> None:
        self._queue = list(queue)

    def answer(self, question: str, turns: object = ()) -> Answer:
        """The next of the list."""
        following = self._queue.pop(0)
        if isinstance(following, Exception):
            raise following
        return Answer(
            question=question, language="en", status="answered", text=following, verified=True,
            timings_ms=Timings(understand=1, first_event=2, total=3),
        )  # fmt: skip


def test_the_gate_counts_wrong_crashed_and_unscorable_cases() -> None:
    case = AnswerCase(id="a", category="x", lang="en", question="?", checks=Checks(all_of=(("kaggle",),)))
    judged = case.model_copy(update={"checks": None})
    lines: list[str] = []
    advisor = Scripted("kaggle", "colab", IndexError("boom"), "kaggle")
    assert gate.misses(advisor, [case, case, case, judged], lines.append) == 3
    assert "boom" in lines[1]
    assert "cannot be scored" in lines[2]


def test_the_baseline_alone_takes_the_cases_of_all_answer_tasks(tmp_path: Path) -> None:
    choice = Choice((Task.BASELINE,), tmp_path, tmp_path / "r.html", limit=2)
    assert {name: len(cases) for name, cases in choice.case_sets().items()} == dict.fromkeys(TASK_FILES, 2)
    given = Choice((Task.ANSWERS,), tmp_path, tmp_path / "r.html", cases=TASK_FILES["hostile"])
    assert list(given.case_sets()) == ["hostile"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["--model", "qwen"], "LLM_BASE_URL"), (["golden"], "golden"), (["--limit", "-1"], "limit"), (["--cases", "no.jsonl"], "no.jsonl"), (["--model", "none", "--baseline", "run"], "baseline")],
)  # fmt: skip
def test_a_wrong_argument_is_refused_before_anything_is_loaded(arguments: list[str], named: str) -> None:
    app = typer.Typer()
    app.command()(main)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert named in result.output


def test_a_search_is_right_at_rank_one_and_unscored_without_an_answer() -> None:
    cases = read_cases(retrieval.CASES, RetrievalCase)
    labelled = next(case for case in cases if case.labels)
    unanswerable = next(case for case in cases if not case.labels)
    found = [SearchOutcome(labelled, 1, 0.9), SearchOutcome(labelled, 2, 0.9), SearchOutcome(unanswerable, None, 0.1)]
    assert [row.right for row in _searches(found)] == [True, False, None]


def test_every_command_has_its_help() -> None:
    for name, command in COMMANDS.items():
        app = typer.Typer()
        app.command()(command)
        assert CliRunner().invoke(app, ["--help"]).exit_code == 0, name
