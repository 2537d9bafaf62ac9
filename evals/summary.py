"""What the records of a run amount to: shares, latencies, counts. Renders nothing; report.py and report_page.py do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from evals.records import BASELINE, Record

REFUSALS = ("not_in_knowledge", "needs_detail", "off_topic")


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

    @property
    def percent(self) -> float | None:
        """Percent; None of nothing."""
        return 100 * self.part / self.whole if self.whole else None

    def __str__(self) -> str:
        return f"{self.part} of {self.whole} ({self.percent:.1f} %)" if self.whole else "–"


@dataclass(frozen=True)
class Latency:
    """Milliseconds of some questions, sorted."""

    milliseconds: tuple[float, ...]

    def __str__(self) -> str:
        if not self.milliseconds:
            return "–"
        return (
            f"median {median(self.milliseconds):,.0f} ms, p95 {percentile(self.milliseconds, 0.95):,.0f} ms "
            f"({len(self.milliseconds)} questions)"
        )


@dataclass(frozen=True)
class Row:
    """A category or language: our share and the baseline's, each in both languages and in all."""

    name: str
    ours: tuple[Share, Share, Share]  # zh, en, all
    baseline: tuple[Share, Share, Share]


def split(records: Iterable[Record]) -> tuple[list[Record], list[Record]]:
    """Ours and the baseline's."""
    every = list(records)
    return [r for r in every if r.task != BASELINE], [r for r in every if r.task == BASELINE]


def right_share(records: Iterable[Record]) -> Share:
    """Right of those that could be scored."""
    scored = [record.right for record in records if record.right is not None]
    return Share(sum(scored), len(scored))


def rows(records: Sequence[Record], key: Callable[[Record], str]) -> list[Row]:
    """A row for each value of `key`, in their order, and one for all."""
    ours, baseline = split(records)
    names = list(dict.fromkeys(key(record) for record in ours or baseline))
    return [
        *(Row(n, _by_language(r for r in ours if key(r) == n), _by_language(r for r in baseline if key(r) == n)) for n in names),
        Row("all", _by_language(ours), _by_language(baseline)),
    ]  # fmt: skip


def _by_language(records: Iterable[Record]) -> tuple[Share, Share, Share]:
    every = list(records)
    zh, en = ([r for r in every if r.case.lang == language] for language in ("zh", "en"))
    return right_share(zh), right_share(en), right_share(every)


def same_cases(records: Sequence[Record]) -> tuple[Share, Share]:
    """Ours and the baseline on the cases that both were scored on: the fair comparison."""
    ours, baseline = split(records)
    right = {r.case.id: r.right for r in baseline if r.right is not None}
    both = [r for r in ours if r.right is not None and r.case.id in right]
    return right_share(both), Share(sum(bool(right[r.case.id]) for r in both), len(both))


def refusals(records: Iterable[Record]) -> tuple[Share, Share]:
    """Right among cases that must be refused or asked back; refused among those that can be answered."""
    ours, _ = split(records)
    with_status = [r for r in ours if r.case.checks and r.case.checks.status and r.right is not None]
    to_refuse = [r for r in with_status if set(r.case.checks.status if r.case.checks else ()) <= set(REFUSALS)]
    answerable = [r for r in with_status if r.case.checks and r.case.checks.status == ("answered",)]
    refused = sum(r.outcome.answer is not None and r.outcome.answer.status in REFUSALS for r in answerable)
    return right_share(to_refuse), Share(refused, len(answerable))


def pairs(records: Iterable[Record]) -> dict[str, int]:
    """Questions in both languages: both right, only one right, neither; and pairs whose status differs."""
    twins: dict[str, list[Record]] = {}
    for record in split(records)[0]:
        if record.case.pair and record.right is not None:
            twins.setdefault(record.case.pair, []).append(record)
    whole = [pair for pair in twins.values() if len(pair) == 2]
    right = [sum(bool(record.right) for record in pair) for pair in whole]
    return {"both right": right.count(2), "differ": right.count(1), "both wrong": right.count(0)}


def latencies(records: Iterable[Record]) -> dict[str, dict[str, Latency]]:
    """By who decided, code or the model, the times of its stages."""
    answers = [(r.outcome, r.outcome.answer.timings_ms) for r in split(records)[0] if r.outcome.answer]
    code = [times for outcome, times in answers if outcome.by_code]
    written = [times for outcome, times in answers if outcome.model_calls]
    return {
        "code-decided": {
            "first event": _latency(times.first_event for times in code),
            "total": _latency(times.total for times in code),
        },
        "model-written": {
            "first event": _latency(times.first_event for times in written),
            "first verified sentence": _latency(times.first_token for times in written),
            "total": _latency(times.total for times in written),
        },
    }


def percentile(values: Iterable[float], share: float) -> float:
    """The nearest-rank percentile: the least value that `share` of all values do not exceed. Values must not be empty."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


def _latency(values: Iterable[float | None]) -> Latency:
    return Latency(tuple(sorted(value for value in values if value is not None)))
