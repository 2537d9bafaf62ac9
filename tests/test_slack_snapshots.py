"""Rendered Slack messages against committed ones. `GPU_ADVISOR_REWRITE_SNAPSHOTS=1` writes them anew, to be reviewed."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest

from assistant.evidence import Answer
from assistant.slack.answers import answer_messages
from assistant.slack.view import ChannelSettings, View
from evals.slack_limits import faults

FOLDER = Path(__file__).parent / "slack_snapshots"
ANSWERS = {
    name: Answer.model_validate(value)
    for name, value in json.loads((FOLDER / "answers" / "answers.json").read_text("utf-8")).items()
}
TODAY = date(2026, 11, 30)
VIEWS = {
    "default": View(),
    "usd_month": View(currency="USD", per="month"),
    "cheapest": View(cheapest_only=True),
    "formulas": View(formulas=True, verdict="up"),
}
CASES = [
    *((name, view) for name in ("prices_zh", "prices_en") for view in ("default", "usd_month", "cheapest")),
    *((name, view) for name in ("cost_zh", "cost_en", "fit_zh", "fit_en") for view in ("default", "formulas")),
    *((name, "default") for name in ANSWERS if not name.startswith(("prices_", "cost_", "fit_"))),
]


@pytest.mark.parametrize(("name", "view"), CASES)
def test_a_message_looks_as_it_was_reviewed(name: str, view: str) -> None:
    answer = ANSWERS[name]
    messages = answer_messages(
        answer,
        VIEWS[view],
        answer.language,
        turn=7,
        settings=ChannelSettings(),
        today=TODAY,
        ephemeral=name == "several_en",
    )
    for message in messages:
        assert faults("chat.postMessage", {"channel": "C1", "text": message.text, "blocks": list(message.blocks)}) == []
    shown = json.dumps([{"text": m.text, "blocks": m.blocks} for m in messages], ensure_ascii=False, indent=1) + "\n"
    path = FOLDER / f"{name}.{view}.json"
    if os.environ.get("GPU_ADVISOR_REWRITE_SNAPSHOTS") == "1":
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8")
