"""`python -m evals [answers|intents|retrieval ...] [--limit N] [--model none] [--half all]`: measure, print Markdown tables.

`python -m evals golden FILE.csv`: a file of published values against the calculators, row by row.

What is wrong goes to standard error while it runs, the tables to standard output. RESULTS.md keeps them, by date.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import OFFLINE


class Task(StrEnum):
    """What can be measured."""

    ANSWERS = "answers"
    INTENTS = "intents"
    RETRIEVAL = "retrieval"


class Half(StrEnum):
    """Which retrieval cases are scored."""

    TUNE = "tune"
    ALL = "all"


def main(
    tasks: Annotated[list[Task] | None, typer.Argument(help="default: all")] = None,
    limit: Annotated[int, typer.Option(min=0, help="so many cases of each task, spread over the file; 0: all")] = 0,
    model: Annotated[
        str, typer.Option(help="none: answers without prose; or a model of the server at LLM_BASE_URL")
    ] = "",
    half: Annotated[Half, typer.Option(help="retrieval: `all` scores the held-out half too")] = Half.TUNE,
) -> None:
    """Run the eval tasks and print their tables. `golden FILE.csv` compares a file of published values instead."""
    if model and model != "none":
        if not os.environ.get("LLM_BASE_URL"):
            raise typer.BadParameter(f"--model {model!r} needs LLM_BASE_URL, the address of the server that has it")
        os.environ["LLM_MODEL"] = model
    _run(tasks or list(Task), limit, half, prose=model != "none")


def golden(
    file: Annotated[Path, typer.Argument(help="CSV: id, area, inputs, expected_value, unit, tolerance_pct ...")],
) -> None:
    """Compute every row of a file of published values and compare; fails where a row could not be computed."""
    from evals import golden as published

    try:
        outcomes = published.run(file)
    except published.GoldenError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    typer.echo(published.report(outcomes))
    if any(outcome.verdict == "error" for outcome in outcomes):
        raise typer.Exit(1)


def _run(tasks: list[Task], limit: int, half: Half, *, prose: bool) -> None:
    from assistant.advisor import Advisor, open_advisor
    from assistant.owner import IndexOwnedError, acquire
    from evals import answers, intents, retrieval
    from knowledge.embedding import load_embedder
    from knowledge.weights import home

    try:
        ownership = acquire()
    except IndexOwnedError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    with ownership:
        embedder = load_embedder()
        advisor = open_advisor(None, embedder)
        having = advisor._having
        asked = advisor if prose else Advisor(replace(having, model=None), advisor.knowledge)
        runs = {
            Task.ANSWERS: lambda: answers.run(asked, limit, _progress),
            Task.INTENTS: lambda: intents.run(having.classifier, limit, _progress),
            Task.RETRIEVAL: lambda: retrieval.run(
                embedder, home() / "evals" / "retrieval-index", limit, _progress, half.value
            ),
        }
        try:
            for task in tasks:
                table = runs[task]()
                typer.echo(f"## {task}\n\n{table}\n")
        finally:
            advisor.close()


def _progress(line: str) -> None:
    typer.echo(line, file=sys.stderr)


if __name__ == "__main__":
    for key, value in OFFLINE.items():
        os.environ.setdefault(key, value)
    if sys.argv[1:2] == ["golden"]:
        del sys.argv[1]
        typer.run(golden)
    else:
        typer.run(main)
