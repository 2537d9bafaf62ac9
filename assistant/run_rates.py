"""Speed of the measured fine-tuning runs: seconds per row and rows per hour, and whether a question asks for them.

Of the rows in the table alone; it estimates nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant import render
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.catalog import TrainingRun
from knowledge.names import normalise

MOST_SINGLE_ROWS = 9  # so few rows mean "per row", no data set
# Rows in a time, not the time of rows: "一小时能过多少条", "how many rows an hour".
ROWS_IN_TIME = re.compile(
    r"(?:每|一|1)\s*个?(?:小时|钟头)[^,，。?？]{0,10}(?:几|多少)\s*(?:万|千)?[条行]|(?:多少|几)\s*[万千]?[条行]\s*/?\s*(?:每)?小时|"
    r"(?<![a-z])(?:rows?|samples?|examples?|records?) (?:\w+ ){0,8}?(?:per|an|a|each|every|in an|in one|in 1) hour|hourly (?:rows?|throughput)|(?:per|an|each|in one|in an) hour[^.?]{0,30}(?:rows?|samples?|examples?|records?)(?![a-z])",
    re.I,
)


def asks_rate(request: Request) -> bool:
    """Whether seconds per row or rows per hour are asked for, not the time of a whole run."""
    asks = "per_row" in request.aspects or ROWS_IN_TIME.search(normalise(request.question)) is not None
    return asks or bool(single_rows(request))


def single_rows(request: Request) -> set[int]:
    """ "One row", "per row": a unit of speed, not the size of a data set."""
    return {r for r in request.slots.rows if r <= MOST_SINGLE_ROWS}


def run_label(run: TrainingRun, book: Ledger) -> str:
    """ "ChatGLM2 LoRA, 9,999 rows"."""
    return book.say(f"{run.model} {run.method} {run.rows:,} 条", f"{run.model} {run.method}, {run.rows:,} rows")


def per_row(runs: Sequence[TrainingRun], book: Ledger, mark: str = "") -> str:
    """Seconds per row and rows per hour of each run; with a mark they are the answer, else an extra."""
    lines, bold = [], "**" if mark else ""
    for run in runs:
        result = book.compute("run_speed", rows=run.rows, seconds=run.seconds)
        out = result.outputs
        lines.append(book.say(f"{run_label(run, book)}：平均每条 {bold}{out['seconds_per_row']} 秒{bold}，每小时约 {int(out['rows_per_hour']):,} 条{mark}",
                              f"{run_label(run, book)}: {bold}{out['seconds_per_row']} s per row{bold}, about {int(out['rows_per_hour']):,} rows per hour{' ' + mark if mark else ''}"))  # fmt: skip
    return render.bullets(lines)
