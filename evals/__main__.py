"""`python -m evals [TASK ...]`: measure the answers, print Markdown, write one HTML page and logs for `inspect view`.

`python -m evals gate`: the fixed set that must be right; exit status 1 on any miss.
`python -m evals compare LOG_A LOG_B`: two runs case by case.
`python -m evals golden FILE.csv`: a file of published values against the calculators, row by row.

What is wrong goes to standard error while it runs, the tables to standard output. RESULTS.md keeps them, by date.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from assistant.cli import OFFLINE
from evals.suite import BaselineMode, Choice, Half, Task


def main(
    tasks: Annotated[list[Task] | None, typer.Argument(help="default: all")] = None,
    limit: Annotated[int, typer.Option(min=0, help="so many cases of each task, spread over the file; 0: all")] = 0,
    model: Annotated[
        str, typer.Option(help="none: answers without prose; or a model of the server at LLM_BASE_URL")
    ] = "",
    half: Annotated[Half, typer.Option(help="retrieval: `all` scores the held-out half too")] = Half.TUNE,
    cases: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="ask these cases instead of the built-in ones")
    ] = None,
    baseline: Annotated[
        BaselineMode, typer.Option(help="`run` writes the answers that are not kept, 20 to 40 s each")
    ] = BaselineMode.CACHED,
    no_baseline: Annotated[bool, typer.Option("--no-baseline", help="leave the baseline out")] = False,
    log_dir: Annotated[Path | None, typer.Option(help="where the logs go; default: in the data folder")] = None,
    html: Annotated[Path | None, typer.Option(help="the page; default: report.html beside the logs")] = None,
) -> None:
    """Run the eval tasks and print their tables. Other commands: `gate`, `compare LOG LOG`, `golden FILE.csv`."""
    from evals.case_files import CaseError

    if model and model != "none":
        if not os.environ.get("LLM_BASE_URL"):
            raise typer.BadParameter(f"--model {model!r} needs LLM_BASE_URL, the address of the server that has it")
        os.environ["LLM_MODEL"] = model
    if model == "none" and baseline is BaselineMode.RUN:
        raise typer.BadParameter("--baseline run writes answers with a language model; leave --model none out")
    folder = log_dir or _default_folder()
    chosen = tuple(tasks or ([Task.ANSWERS, Task.BASELINE] if cases else list(Task)))
    chosen = tuple(task for task in chosen if not (no_baseline and task is Task.BASELINE))
    page = html or folder / "report.html"
    choice = Choice(chosen, folder, page, limit, cases, half, baseline, prose=model != "none")
    try:
        _run(choice)
    except CaseError as error:
        raise typer.BadParameter(str(error)) from error


def gate() -> None:
    """Ask the cases of cases/gate.txt without a language model; fails where one is not right."""
    from evals.answer_cases import gate_cases
    from evals.gate import misses
    from evals.suite import opened_for_gate

    cases = gate_cases()
    with opened_for_gate() as advisor:
        wrong = misses(advisor, cases, _progress)
    typer.echo(f"gate: {len(cases) - wrong} of {len(cases)} right")
    if wrong:
        raise typer.Exit(1)


def compare(
    before: Annotated[Path, typer.Argument(help="a log file, or the log folder of a run")],
    after: Annotated[Path, typer.Argument(help="the same of the other run")],
) -> None:
    """Newly right, newly wrong and changed answers between two runs, and the totals."""
    from evals import comparison
    from evals.records import LogError, read_records

    try:
        typer.echo(comparison.compare(read_records(before), read_records(after)))
    except LogError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


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


COMMANDS: dict[str, Callable[..., None]] = {"gate": gate, "compare": compare, "golden": golden}


def _run(choice: Choice) -> None:
    from assistant.owner import IndexOwnedError
    from evals.engine import EngineError
    from evals.suite import run

    try:
        for part in run(choice, _progress):
            typer.echo(f"{part}\n")
    except (IndexOwnedError, EngineError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error


def _default_folder() -> Path:
    from datetime import datetime

    from knowledge.weights import home

    return home() / "evals" / "logs" / f"{datetime.now():%Y-%m-%d-%H%M%S}"


def _progress(line: str) -> None:
    typer.echo(line, file=sys.stderr)


if __name__ == "__main__":
    for key, value in OFFLINE.items():
        os.environ.setdefault(key, value)
    command = COMMANDS.get(sys.argv[1]) if len(sys.argv) > 1 else None
    if command:
        del sys.argv[1]
    typer.run(command or main)
