"""Two runs case by case: newly right, newly wrong, changed answers, and the totals. Asks nothing again."""

from __future__ import annotations

from collections.abc import Sequence

from evals.records import Record

SHOWN = 400  # characters of an answer


def compare(before: Sequence[Record], after: Sequence[Record]) -> str:
    """Markdown of what differs between two runs; cases in only one of them are counted, not compared."""
    old, new = ({(record.task, record.case.id): record for record in records} for records in (before, after))
    both = [(old[key], new[key]) for key in old if key in new]
    groups = {
        "Newly right": [pair for pair in both if pair[0].right is False and pair[1].right],
        "Newly wrong": [pair for pair in both if pair[0].right and pair[1].right is False],
        "Now unscored, or scored for the first time": [
            pair for pair in both if (pair[0].right is None) != (pair[1].right is None)
        ],
    }
    moved = {id(pair[1]) for pairs in groups.values() for pair in pairs}
    groups["Changed answers, verdict as before"] = [
        pair for pair in both if id(pair[1]) not in moved and pair[0].outcome.text != pair[1].outcome.text
    ]
    lines = [_totals(old, new, both), ""]
    for title, pairs in groups.items():
        lines += [f"## {title}: {len(pairs)}", "", *(line for pair in pairs for line in _shown(*pair)), ""]
    return "\n".join(lines)


def _totals(
    old: dict[tuple[str, str], Record],
    new: dict[tuple[str, str], Record],
    both: Sequence[tuple[Record, Record]],
) -> str:
    lines = ["| task | cases in both | right before | right after |", "|---|---|---|---|"]
    for task in [*dict.fromkeys(record.task for record, _ in both), "all"]:
        chosen = [pair for pair in both if task in (pair[0].task, "all")]
        counts = [sum(pair[i].right is True for pair in chosen) for i in (0, 1)]
        lines.append(f"| {task} | {len(chosen)} | {counts[0]} | {counts[1]} |")
    only = [len(old.keys() - new.keys()), len(new.keys() - old.keys())]
    return "\n".join([*lines, "", f"Only before: {only[0]} cases; only after: {only[1]}."])


def _shown(old: Record, new: Record) -> list[str]:
    question = " > ".join([*new.case.turns, new.case.question])
    lines = [f"- **{new.task} {new.case.id}** {question}"]
    for name, record in (("before", old), ("after", new)):
        wrong = "; ".join(record.wrong.get("right") or ())
        text = " ".join((record.outcome.text or record.outcome.crash or "not run").split())[:SHOWN]
        lines.append(f"  - {name}: {text}" + (f" — {wrong}" if wrong else ""))
    return lines
