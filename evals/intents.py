"""Task `intents`: the intent classifier on the held-out questions of cases/intents.jsonl.

It measures the classifier alone; what the slots overrule afterwards (understand.py) shows in `answers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assistant.advisor import spans_of
from assistant.intent import INTENTS
from assistant.understand import Classifier, IntentGuess
from evals.case_files import FOLDER, Case, read_cases
from evals.engine import Settled

CASES = FOLDER / "intents.jsonl"


class IntentCase(Case):
    """A question and its intent."""

    text: str
    intent: str
    lang: str


def guess(
    classifier: Classifier, limit: int, progress: Callable[[str], object]
) -> tuple[list[IntentCase], Sequence[IntentGuess]]:
    """Classify every case; `progress` gets a line per wrong guess."""
    cases = read_cases(CASES, IntentCase, limit)
    linked = [spans_of(case.text) for case in cases]
    guesses = classifier.classify([text for text, _ in linked], [spans for _, spans in linked])
    for case, made in zip(cases, guesses, strict=True):
        if made.likeliest != case.intent:
            progress(f"{case.intent}, not {made.likeliest} ({made.best and 'sure'}): {case.text}")
    return cases, guesses


def settled(cases: Sequence[IntentCase], guesses: Sequence[IntentGuess]) -> list[Settled]:
    """The guesses as samples for the engine."""
    return [
        Settled(
            f"intent-{i}", case.text, case.intent, made.likeliest, made.likeliest == case.intent, case.intent, case.lang
        )
        for i, (case, made) in enumerate(zip(cases, guesses, strict=True), start=1)
    ]


def report(cases: Sequence[IntentCase], guesses: Sequence[IntentGuess]) -> str:
    """Accuracy of the likeliest intent, coverage, and accuracy of what was decided, by language and by intent."""
    lines = ["| questions | number | likeliest right | decided | right of decided |", "|---|---|---|---|---|"]
    pairs = list(zip(cases, guesses, strict=True))
    for name in ["all", *sorted({case.lang for case in cases}), *INTENTS]:
        chosen = [(case, guess) for case, guess in pairs if name in ("all", case.lang, case.intent)]
        if not chosen:
            continue
        decided = [(case, guess) for case, guess in chosen if guess.best is not None]
        right = sum(guess.likeliest == case.intent for case, guess in chosen)
        sure = sum(guess.best == case.intent for case, guess in decided)
        lines.append(
            f"| {name} | {len(chosen)} | {_share(right, len(chosen))} | {_share(len(decided), len(chosen))} "
            f"| {_share(sure, len(decided))} |"
        )
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
