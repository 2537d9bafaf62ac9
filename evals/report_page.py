"""A run as one HTML page that needs nothing else: plots, tables, and every failed case folded. Computes nothing."""

from __future__ import annotations

import html
from collections.abc import Sequence
from datetime import datetime

from evals import plots
from evals.records import BASELINE, Record
from evals.report import facts, report
from evals.summary import latencies, rows, split

STYLE = """
:root { color-scheme: light }
body { font: 15px/1.5 system-ui, "Noto Sans", "Noto Sans CJK SC", sans-serif; color: #222; background: #fff;
       max-width: 58rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: 0 } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; margin: .5rem 0; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd }
tr:last-child td { font-weight: 600 }
svg { max-width: 100%; height: auto }
details { border-bottom: 1px solid #ddd; padding: .3rem 0 } summary { cursor: pointer }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f6; padding: .6rem; font-size: .85rem }
.wrong { color: #a33b1f } .small { color: #666; font-size: .85rem }
"""


def page(records: Sequence[Record], title: str, now: datetime) -> str:
    """The page as text. `records` must not be empty."""
    by_category = rows(records, lambda record: record.case.category)
    ours, baseline = split(records)
    sections = [
        f"<h1>{html.escape(title)}</h1><p class=small>{now:%Y-%m-%d %H:%M} · {len(ours)} cases</p>",
        "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in facts(records)) + "</ul>",
        "<h2>Right by category</h2>" + plots.accuracy_by_category(by_category),
        "<h2>Right by language</h2>" + plots.accuracy_by_language(by_category),
        *(
            f"<h2>Latency, {who}</h2>" + plots.latency_distribution(stages)
            for who, stages in latencies(records).items()
            if any(latency.milliseconds for latency in stages.values())
        ),
        "<h2>Tables</h2>" + _tables(report(records)),
        _failed("Failed cases", ours),
        _failed("Failed cases of the baseline", baseline),
        _unscored([record for record in records if record.right is None]),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>{''.join(sections)}</body></html>\n"
    )


def _tables(markdown: str) -> str:
    """The Markdown tables of a report as HTML tables."""
    out = []
    for block in markdown.split("\n\n"):
        lines = [line for line in block.split("\n") if line.startswith("|") and not line.startswith("|---")]
        if lines:
            cells = [[html.escape(cell.strip().strip("*")) for cell in line.strip("|").split("|")] for line in lines]
            head = "".join(f"<th>{cell}</th>" for cell in cells[0])
            body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells[1:])
            out.append(f"<table><tr>{head}</tr>{body}</table>")
    return "".join(out)


def _failed(title: str, records: Sequence[Record]) -> str:
    failed = [record for record in records if record.right is False]
    if not failed:
        return ""
    return f"<h2>{title}: {len(failed)}</h2>" + "".join(map(_folded, failed))


def _folded(record: Record) -> str:
    case, outcome = record.case, record.outcome
    status = "" if record.task == BASELINE or not outcome.answer else f" · {outcome.answer.status}"
    wrong = "".join(f"<li class=wrong>{html.escape(line)}</li>" for line in record.wrong.get("right") or ())
    return (
        f"<details><summary>{html.escape(case.id)} · {html.escape(' > '.join([*case.turns, case.question]))}</summary>"
        f"<ul>{wrong}</ul><p class=small>{html.escape(case.category)} · {case.lang}{status}</p>"
        f"<pre>{html.escape(outcome.text or outcome.crash or '')}</pre>"
        f"<p class=small>{html.escape(case.note)}</p></details>"
    )


def _unscored(records: Sequence[Record]) -> str:
    if not records:
        return ""
    ids = ", ".join(html.escape(f"{record.task} {record.case.id}") for record in records)
    return f"<h2>Not scored: {len(records)}</h2><details><summary>Cases</summary><p class=small>{ids}</p></details>"
