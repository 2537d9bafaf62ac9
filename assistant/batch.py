"""`ask --file`: many questions in one process, one Answer a line. Answers nothing by itself."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.evidence import Answer, Timings

log = logging.getLogger(__name__)


class BatchError(Exception):
    """The question file cannot be read; the message names the line and what is wrong with it."""


class Question(BaseModel):
    """One line of the file; further fields (checks, notes) are left alone."""

    model_config = ConfigDict(extra="ignore")

    id: str | int
    question: str
    turns: list[str] = []


def answer_file(file: Path, out: Path | None, progress: Callable[[int, int], None]) -> list[str | int]:
    """Answer every line of `file` into `out` (default: standard output). All lines are checked first.

    A question that breaks the advisor gets an Answer of status "unavailable" with `error` beside it, and the run goes
    on; gives the ids of those. Raises BatchError for a line that is no question, and what concerns every question: the
    errors of the index and of an unreachable server.
    """
    questions = _read(file)
    failed: list[str | int] = []
    with _writing(out) as write, _answering(progress) as answer:
        for question in questions:
            row = _row(question, answer)
            if "error" in row:
                failed.append(question.id)
            write(json.dumps(row, ensure_ascii=False) + "\n")
    return failed


def _row(question: Question, answer: Callable[[Question], Answer]) -> dict[str, Any]:
    from assistant.cli_errors import plain_errors
    from assistant.owner import RequestRefusedError

    try:
        return {"id": question.id} | answer(question).model_dump(mode="json")
    except RequestRefusedError as error:
        told = str(error)
    except plain_errors():
        raise
    except Exception as error:
        log.exception("no answer to question %r", question.id)
        told = f"{type(error).__name__}: {error}"
    return {"id": question.id} | _no_answer(question.question).model_dump(mode="json") | {"error": told}


def _no_answer(question: str) -> Answer:
    from assistant.conversations import AdviceFailedError
    from assistant.reading import language_of

    language = language_of(question)
    nothing = Timings(understand=0, first_event=0, total=0)
    text = AdviceFailedError.sentence[language]
    return Answer(
        question=question, language=language, status="unavailable", text=text, verified=True, timings_ms=nothing
    )


def _read(file: Path) -> list[Question]:
    if not file.is_file():
        raise BatchError(f"没有这个文件 / there is no file {str(file)!r}")
    try:
        # split("\n"): a JSON string may hold other line ends, such as U+2028, as they are
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BatchError(f"{file.name} 不是 UTF-8 文件 / is not a UTF-8 file: {error}") from error
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            questions.append(Question.model_validate_json(line))
        except ValidationError as error:
            fault = error.errors()[0]
            where = ".".join(map(str, fault["loc"])) or "line"
            what = f"{where}: {fault['msg']}, got {line[:80]!r}"
            raise BatchError(f"{file.name} 第 {number} 行 / line {number}: {what}") from error
    return questions


@contextmanager
def _answering(progress: Callable[[int, int], None]) -> Iterator[Callable[[Question], Answer]]:
    """Over the running server, or with an advisor opened here."""
    from assistant.owner import acquire, ask_over_http, current_owner

    owner = current_owner()
    if owner and owner.url:
        yield lambda question: ask_over_http(owner, question.question, question.turns)
        return
    with acquire(command="gpu-advisor ask --file"):
        from assistant.advisor import open_advisor

        advisor = open_advisor(progress)
        try:
            yield lambda question: advisor.answer(question.question, question.turns)
        finally:
            advisor.close()


@contextmanager
def _writing(out: Path | None) -> Iterator[Callable[[str], object]]:
    """Lines go out as they come, so that a broken-off run keeps what it had."""
    if out is None:
        yield sys.stdout.write
        return
    if not out.parent.is_dir():
        raise BatchError(f"没有这个文件夹 / there is no folder {str(out.parent)!r} for {out.name!r}")
    with out.open("w", encoding="utf-8", buffering=1) as file:
        yield file.write
