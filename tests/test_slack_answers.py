"""Answers as Slack messages: which table the board replaces, formulas, sources, buttons, fallback text, the modal."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from scripted_advisor import plain_answer
from test_slack_snapshots import ANSWERS

from assistant.evidence import Language
from assistant.slack.answers import answer_messages
from assistant.slack.buttons import ButtonValue, reason_modal
from assistant.slack.plain_fallback import plain_words
from assistant.slack.view import ChannelSettings, Message, View
from evals.slack_limits import faults

TODAY = date(2026, 11, 30)


def _messages(name: str, view: View = View(), turn: int | None = 7, **more: Any) -> tuple[Message, ...]:  # noqa: B008
    answer = ANSWERS[name]
    return answer_messages(answer, view, answer.language, turn=turn, settings=ChannelSettings(), today=TODAY, **more)


def _words(messages: tuple[Message, ...]) -> str:
    return "\n".join(plain_words(message.blocks) for message in messages)


def _buttons(messages: tuple[Message, ...]) -> dict[str, dict[str, Any]]:
    return {
        button["action_id"]: button
        for message in messages
        for block in message.blocks
        if block["type"] == "actions"
        for button in block["elements"]
    }


@pytest.mark.parametrize(
    ("name", "has_board"),
    [("prices_zh", True), ("prices_en", True), ("traditional_zh", True), ("finetuning_zh", False), ("buy_or_rent_en", False), ("cost_en", False)],
)  # fmt: skip
def test_only_tables_of_rental_rows_become_the_board(name: str, has_board: bool) -> None:
    assert ("gpu_cheapest" in _buttons(_messages(name))) == has_board
    if not has_board:
        assert _words(_messages(name)) == _words(_messages(name, View(currency="USD", per="month", cheapest_only=True)))


def test_a_bill_beside_a_price_table_keeps_its_totals() -> None:
    words = _words(_messages("several_en", View(currency="USD", per="month")))
    assert "2,864.00" in words
    assert "1 GPU, 100 hours (CNY)" in words
    assert "730 h" in words


@pytest.mark.parametrize(
    ("label", "heading"), [("算式：", "### 过程"), ("算式：", "### 過程"), ("Formula: ", "### Steps")]
)
def test_hidden_formulas_leave_no_empty_heading(label: str, heading: str) -> None:
    language: Language = "en" if label.startswith("F") else "zh"
    answer = plain_answer(
        "q", f"**A** 1\n\n{heading}\n\n{label}1 + 1 = 2\n\n### B\n\ntext\n\n- {label}2 + 2 = 4", language
    )
    hidden = _words(answer_messages(answer, View(), language, turn=1, settings=ChannelSettings()))
    shown = _words(answer_messages(answer, View(formulas=True), language, turn=1, settings=ChannelSettings()))
    assert heading[4:] not in hidden
    assert "=" not in hidden
    assert "text" in hidden
    assert heading[4:] in shown
    assert "1 + 1 = 2" in shown
    assert "2 + 2 = 4" in shown


def test_sources_stand_below_once_and_marks_stay_in_the_text() -> None:
    (message,) = _messages("cost_zh")
    assert "8,248.32 元[1]" in plain_words(message.blocks[:1])
    assert plain_words(message.blocks).count("GPU 选型文章一") == 1
    assert message.blocks[1]["elements"][0]["type"] == "plain_text"


def test_labels_of_a_traditional_answer_are_traditional() -> None:
    messages = _messages("traditional_zh")
    labels = "".join(button["text"]["text"] for button in _buttons(messages).values())
    assert "每小時" in labels
    assert "幣種" in labels
    assert "時" not in labels.replace("每小時", "")
    assert "來源" in _words(messages)
    assert "租用价格" not in _words(messages).split("來源")[0]
    assert "騰訊雲" in _words(messages)


def test_a_button_carries_the_view_that_its_press_leads_to() -> None:
    buttons = _buttons(_messages("prices_en", View(currency="CNY", verdict="up")))
    value = {name: ButtonValue.model_validate_json(button["value"]) for name, button in buttons.items()}
    assert value["gpu_per:day"].view == View(currency="CNY", per="day", verdict="up")
    assert value["gpu_currency"].view.currency == "USD"
    assert value["gpu_up"].view.verdict is None
    assert value["gpu_down"].view.verdict == "down"
    assert all(each.turn == 7 for each in value.values())
    pressed = {name for name, button in buttons.items() if button["text"]["text"].startswith("✓")}
    assert pressed == {"gpu_per:hour", "gpu_currency", "gpu_up"}


def test_only_an_ephemeral_answer_can_be_posted_and_only_a_kept_one_has_buttons() -> None:
    assert "gpu_post" in _buttons(_messages("cost_en", ephemeral=True))
    assert "gpu_post" not in _buttons(_messages("cost_en"))
    assert _buttons(_messages("cost_en", turn=None)) == {}


def test_the_fallback_is_short_plain_and_escaped() -> None:
    answer = plain_answer("q", f"**<!channel>** & {'<' * 400} end.")
    (message,) = answer_messages(answer, View(), "en", turn=1, settings=ChannelSettings())
    assert len(message.text) <= 300
    assert "<" not in message.text
    assert "**" not in message.text


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_modal_is_within_limits(language: Language) -> None:
    view = reason_modal(7, language, json.dumps({"turn": 7}))
    assert view["callback_id"] == "gpu_reason"
    assert faults("views.open", {"trigger_id": "1.2.x", "view": view}) == []
