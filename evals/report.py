"""A run as Markdown: tables by category, language and task, then counts and latencies. Computes nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

from evals.records import Record
from evals.summary import Row, Share, latencies, pairs, refusals, rows, same_cases, split

BASELINE_NOTE = (
    "The baseline is graded on its text alone: it has no status, so status checks are not applied to it, in its favour."
)


def report(records: Sequence[Record]) -> str:
    """The whole report; an empty string where there is no record."""
    if not records:
        return ""
    parts = [_table("category", rows(records, lambda record: record.case.category))]
    if len({record.task for record in split(records)[0]}) > 1:
        parts.append(_table("task", rows(records, lambda record: record.task)))
    return "\n\n".join([*parts, "\n".join(f"- {line}" for line in facts(records))])


def facts(records: Sequence[Record]) -> list[str]:
    """Counts and latencies, a line each."""
    ours, _ = split(records)
    answers = [record.outcome.answer for record in ours if record.outcome.answer]
    refused_rightly, refused_wrongly = refusals(records)
    by_code = Share(sum(record.outcome.by_code for record in ours), len(answers))
    calls = sum(record.outcome.model_calls for record in ours)
    lines = [
        f"figures shown without evidence: {_count(ours, 'figures')} in {_cases(ours, 'figures')} answers; "
        f"citations that do not hold: {_count(ours, 'citations')}",
        f"crashes: {sum(record.outcome.crash is not None for record in ours)}; "
        f"unscored: {sum(record.right is None for record in ours)}",
        f"refused or asked back rightly: {refused_rightly}; answerable but refused: {refused_wrongly}",
        f"decided by code: {by_code}; language-model calls: {calls} in {len(answers)} questions "
        f"({calls / max(len(answers), 1):.2f} each); sentences dropped: {sum(len(answer.dropped) for answer in answers)}",
    ]
    lines += [
        f"{who}: " + "; ".join(f"{stage} {latency}" for stage, latency in stages.items())
        for who, stages in latencies(records).items()
    ]
    twins = pairs(records)
    if any(twins.values()):
        lines.append("the same question in both languages: " + ", ".join(f"{k} {v}" for k, v in twins.items()))
    return [*lines, *baseline_facts(records)]


def baseline_facts(records: Sequence[Record]) -> list[str]:
    """How many baseline answers there are and how both do on the same cases; nothing where it was not asked for."""
    _, baseline = split(records)
    if not baseline:
        return []
    run = sum(record.outcome.ran for record in baseline)
    older = sum(record.outcome.older_documents for record in baseline)
    ours, theirs = same_cases(records)
    return [
        f"baseline: {run} of {len(baseline)} cases run, {len(baseline) - run} not run"
        + (f", {older} with documents that have changed since" if older else ""),
        f"on the same cases: ours {ours}, baseline {theirs}. {BASELINE_NOTE}",
    ]


def _table(title: str, lines: Sequence[Row]) -> str:
    with_baseline = any(line.baseline[2].whole for line in lines)
    header = [title, "zh", "en", "all", *(["baseline zh", "baseline en", "baseline"] if with_baseline else [])]
    table = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    for line in lines:
        shares = [*line.ours, *(line.baseline if with_baseline else ())]
        name = f"**{line.name}**" if line.name == "all" else line.name
        table.append(f"| {name} | {' | '.join(map(_cell, shares))} |")
    return "\n".join(table)


def _cell(share: Share) -> str:
    return f"{share.part} of {share.whole}" if share.whole else "–"


def _count(records: Sequence[Record], scorer: str) -> int:
    return sum(len(record.wrong.get(scorer) or ()) for record in records)


def _cases(records: Sequence[Record], scorer: str) -> int:
    return sum(bool(record.wrong.get(scorer)) for record in records)
