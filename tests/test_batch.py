"""`ask --file`: all lines checked before the first is answered, one Answer a line, nothing lost when it breaks off."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scripted_advisor import plain_answer

from assistant import owner
from assistant.batch import BatchError, answer_file
from assistant.evidence import Answer
from assistant.owner import IndexOwnedError, Owner, OwnerFailedError, RequestRefusedError, acquire
from knowledge.generation import IndexBrokenError


class Advisor:
    """Repeats what it was asked; breaks over "boom", and its index over "index"."""

    def __init__(self) -> None:
        self.closed = False

    def answer(self, question: str, turns: Sequence[str] = ()) -> Answer:
        if question.endswith("boom"):
            raise ZeroDivisionError(question)
        if question == "index":
            raise IndexBrokenError(question)
        return plain_answer(question, f"{question} after {list(turns)}")

    def close(self) -> None:
        self.closed = True


@pytest.fixture(name="advisor")
def _advisor(monkeypatch: pytest.MonkeyPatch) -> Advisor:
    """Takes the place of assistant.advisor, whose import loads the models' libraries."""
    advisor = Advisor()
    module = SimpleNamespace(open_advisor=lambda progress: advisor)
    monkeypatch.setitem(sys.modules, "assistant.advisor", module)
    return advisor


@pytest.fixture(name="questions")
def _questions(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "in.jsonl"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def silent(done: int, total: int) -> None:
    raise AssertionError("the scripted advisor reports no progress")


def answers(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_answers_carry_id_and_the_whole_answer_object_in_order(
    advisor: Advisor, questions: Callable[[str], Path], tmp_path: Path
) -> None:
    file = questions(
        '{"id": "PL01", "question": "A100 价格?"}\n{"id": 2, "question": "and T4?", "turns": ["A100 价格?"]}\n'
    )
    answer_file(file, tmp_path / "out.jsonl", silent)
    first, second = answers(tmp_path / "out.jsonl")
    assert (first["id"], first["question"], first["text"]) == ("PL01", "A100 价格?", "A100 价格? after []")
    assert (second["id"], second["text"]) == (2, "and T4? after ['A100 价格?']")
    assert Answer.model_validate({k: v for k, v in first.items() if k != "id"}).status == "answered"
    assert "价格" in (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert advisor.closed


@pytest.mark.usefixtures("advisor")
def test_blank_lines_a_byte_order_mark_checks_and_odd_line_ends_are_taken(
    questions: Callable[[str], Path], tmp_path: Path
) -> None:
    file = questions(
        '\ufeff{"id": 1, "question": "a\u2028b\u0085c", "checks": {"lang": "zh"}}\r\n\n  \n{"id": 2, "question": "d"}'
    )
    answer_file(file, tmp_path / "out.jsonl", silent)
    assert [row["question"] for row in answers(tmp_path / "out.jsonl")] == ["a\u2028b\u0085c", "d"]


@pytest.mark.usefixtures("advisor")
def test_without_an_output_file_the_lines_go_to_standard_output(
    questions: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answer_file(questions('{"id": 1, "question": "a"}'), None, silent)
    assert json.loads(capsys.readouterr().out)["id"] == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", r"in.jsonl 第 3 行 / line 3: line: Invalid JSON.*'not json'"),
        ('{"question": "a"}', r"line 3: id: Field required"),
        ('{"id": 1}', r"line 3: question: Field required"),
        ('{"id": 1, "question": 5}', r"line 3: question: .*string"),
        ('{"id": 1, "question": "a", "turns": "b"}', r"line 3: turns: .*array"),
        ("[1]", r"line 3: line: .*'\[1\]'"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_answered(
    advisor: Advisor, questions: Callable[[str], Path], tmp_path: Path, line: str, message: str
) -> None:
    file = questions(f'{{"id": 1, "question": "a"}}\n\n{line}\n')
    with pytest.raises(BatchError, match=message):
        answer_file(file, tmp_path / "out.jsonl", silent)
    assert not (tmp_path / "out.jsonl").exists()
    assert not advisor.closed  # it was never opened


def test_a_missing_file_a_folder_and_another_encoding_are_named(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match=r"no file '.*none.jsonl'"):
        answer_file(tmp_path / "none.jsonl", None, silent)
    with pytest.raises(BatchError, match="no file"):
        answer_file(tmp_path, None, silent)
    (tmp_path / "gbk.jsonl").write_bytes('{"id": 1, "question": "价格"}'.encode("gbk"))
    with pytest.raises(BatchError, match=r"gbk.jsonl .*not a UTF-8 file"):
        answer_file(tmp_path / "gbk.jsonl", None, silent)


def test_a_missing_output_folder_is_named_before_anything_is_answered(
    advisor: Advisor, questions: Callable[[str], Path], tmp_path: Path
) -> None:
    with pytest.raises(BatchError, match=r"no folder '.*nowhere' for 'out.jsonl'"):
        answer_file(questions('{"id": 1, "question": "a"}'), tmp_path / "nowhere" / "out.jsonl", silent)
    assert not advisor.closed


@pytest.mark.parametrize(("question", "apology"), [("boom", "Sorry"), ("价格 boom", "抱歉")])
def test_a_question_that_breaks_the_advisor_is_told_in_its_line_and_the_next_is_answered(
    advisor: Advisor, questions: Callable[[str], Path], tmp_path: Path, question: str, apology: str
) -> None:
    file = questions(
        f'{{"id": 1, "question": "a"}}\n{{"id": 2, "question": "{question}"}}\n{{"id": 3, "question": "c"}}'
    )
    assert answer_file(file, tmp_path / "out.jsonl", silent) == [2]
    first, broken, last = answers(tmp_path / "out.jsonl")
    assert [first["text"], last["text"]] == ["a after []", "c after []"]
    assert broken.pop("id") == 2
    assert broken.pop("error") == f"ZeroDivisionError: {question}"
    assert Answer.model_validate(broken).status == "unavailable"
    assert broken["text"].startswith(apology)
    assert "error" not in first


def test_what_every_question_would_meet_ends_the_run_keeps_what_it_had_and_gives_the_index_back(
    advisor: Advisor, questions: Callable[[str], Path], tmp_path: Path
) -> None:
    file = questions('{"id": 1, "question": "a"}\n{"id": 2, "question": "index"}\n{"id": 3, "question": "c"}')
    with pytest.raises(IndexBrokenError):
        answer_file(file, tmp_path / "out.jsonl", silent)
    assert [row["id"] for row in answers(tmp_path / "out.jsonl")] == [1]
    assert advisor.closed
    acquire().close()


@pytest.mark.parametrize(
    ("error", "goes_on"), [(RequestRefusedError("too long"), True), (OwnerFailedError("gone"), False)]
)
@pytest.mark.usefixtures("advisor")
def test_a_server_that_refuses_one_question_is_asked_the_next_and_one_that_is_gone_is_not(
    questions: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, goes_on: bool
) -> None:
    def ask(server: Owner, question: str, turns: Sequence[str]) -> Answer:
        if question == "bad":
            raise error
        return plain_answer(question, "fine")

    monkeypatch.setattr(owner, "current_owner", lambda: Owner(pid=1, url="http://127.0.0.1:7860"))
    monkeypatch.setattr(owner, "ask_over_http", ask)
    file = questions('{"id": 1, "question": "bad"}\n{"id": 2, "question": "b"}')
    if goes_on:
        assert answer_file(file, tmp_path / "out.jsonl", silent) == [1]
        assert answers(tmp_path / "out.jsonl")[1]["text"] == "fine"
    else:
        with pytest.raises(OwnerFailedError, match="gone"):
            answer_file(file, tmp_path / "out.jsonl", silent)


@pytest.mark.usefixtures("advisor")
def test_an_answer_is_on_disk_before_the_next_question_is_asked(
    questions: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []

    def answer(self: Advisor, question: str, turns: Sequence[str] = ()) -> Answer:
        written.append(len(answers(tmp_path / "out.jsonl")))
        return plain_answer(question, "text")

    monkeypatch.setattr(Advisor, "answer", answer)
    answer_file(questions('{"id": 1, "question": "a"}\n{"id": 2, "question": "b"}'), tmp_path / "out.jsonl", silent)
    assert written == [0, 1]


def test_while_a_server_owns_the_index_the_questions_go_to_it(
    advisor: Advisor, questions: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ask(server: Owner, question: str, turns: Sequence[str]) -> Answer:
        asked.append((server.url, question, list(turns)))
        return plain_answer(question, "from the server")

    monkeypatch.setattr(owner, "current_owner", lambda: Owner(pid=1, url="http://127.0.0.1:7860"))
    monkeypatch.setattr(owner, "ask_over_http", ask)
    answer_file(questions('{"id": 1, "question": "a", "turns": ["b"]}'), tmp_path / "out.jsonl", silent)
    assert asked == [("http://127.0.0.1:7860", "a", ["b"])]
    assert answers(tmp_path / "out.jsonl")[0]["text"] == "from the server"
    assert not advisor.closed


@pytest.mark.usefixtures("advisor")
def test_while_another_command_holds_the_index_it_says_who(questions: Callable[[str], Path], tmp_path: Path) -> None:
    with acquire(), pytest.raises(IndexOwnedError, match="pid"):
        answer_file(questions('{"id": 1, "question": "a"}'), tmp_path / "out.jsonl", silent)
