"""What a press of a button does: the answer shown in another way in its place, posted in the channel, or rated.

Everything a click needs comes with it and from the conversation file. It computes no figure and asks nothing anew.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.conversations import UnknownTurnError
from assistant.evidence import Answer, Bilingual, Language
from assistant.slack.answers import notice
from assistant.slack.buttons import ButtonValue, reason_modal
from assistant.slack.dialogue import Dialogue, owner_of
from assistant.slack.responder import Responder
from assistant.slack.slash import post_with_question
from assistant.slack.view import View
from assistant.slack.web_calls import SlackRefusedError, SlackUnreachableError, attempt

GONE = Bilingual(
    zh="这条回答已不在对话记录里，按钮不再起作用。请再问一次。",
    en="This answer is no longer in the record of conversations, so its buttons do nothing. Please ask again.",
)
SHOWN_ANEW = frozenset({"gpu_currency", "gpu_per", "gpu_cheapest", "gpu_formula"})


@dataclass(frozen=True)
class Click:
    """A press of a button on one message. `is_ephemeral`: only `user` sees that message."""

    team: str
    channel: str
    user: str
    message_ts: str
    action: str
    pressed: ButtonValue
    response_url: str
    trigger_id: str
    is_ephemeral: bool

    @property
    def key(self) -> str:
        """Clicks on one message are worked off one after the other."""
        return f"click-{self.channel}-{self.message_ts}"


def read_click(body: Mapping[str, Any]) -> Click | None:
    """The click of a block_actions payload; None for one that is none of ours (an old button, a malformed payload)."""
    try:
        (action,) = body["actions"]
        container = body["container"]
        return Click(
            team=body["team"]["id"], channel=container["channel_id"], user=body["user"]["id"],
            message_ts=container["message_ts"], action=str(action["action_id"]).split(":")[0],
            pressed=ButtonValue.model_validate_json(action["value"]), response_url=str(body.get("response_url", "")),
            trigger_id=str(body.get("trigger_id", "")), is_ephemeral=bool(container.get("is_ephemeral")),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, ValidationError):
        return None


class ReasonGiven(BaseModel):
    """What the modal of a thumb down carries: the answer it is about, and where that stands."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    team: str
    turn: int
    channel: str
    message_ts: str
    view: View
    response_url: str = ""

    @classmethod
    def of(cls, click: Click) -> ReasonGiven:
        """What has to be known again once the reason is written."""
        return cls(
            team=click.team, turn=click.pressed.turn, channel=click.channel, message_ts=click.message_ts,
            view=click.pressed.view, response_url=click.response_url if click.is_ephemeral else "",
        )  # fmt: skip


class Clicks:
    """Works clicks off. Nothing that a reader or Slack is the cause of is raised."""

    def __init__(self, dialogue: Dialogue, responder: Responder, logger: logging.Logger) -> None:
        self._dialogue = dialogue
        self._responder = responder
        self._log = logger

    def ask_for_reason(self, click: Click) -> None:
        """Open the modal of a thumb down: at once, for a trigger is good for 3 seconds."""
        answer = self._answer(click)
        language = self._language(click.channel, answer) if answer else "en"
        context = ReasonGiven.of(click).model_dump_json()
        view = reason_modal(click.pressed.turn, language, context)
        try:
            attempt(lambda: self._dialogue.poster.hasty_client.views_open(trigger_id=click.trigger_id, view=view))
        except (SlackUnreachableError, SlackRefusedError) as error:
            self._log.warning("nobody was asked for a reason in %s: %s", click.channel, error)

    def work_off(self, click: Click) -> None:
        """Do what the button says."""
        answer = self._answer(click)
        try:
            if answer is None:
                self._responder.post_ephemeral(click.response_url, (notice(_both(GONE)),))
            elif click.action in SHOWN_ANEW:
                self._show(click, answer)
            elif click.action == "gpu_post":
                post_with_question(self._dialogue, self._responder, click.channel, click.team, click.user,
                                   answer, click.pressed.view, click.response_url)  # fmt: skip
            elif click.action in ("gpu_up", "gpu_down"):
                self._rate(click, answer)
        except SlackUnreachableError as error:
            self._log.warning("a click in %s led nowhere: %s", click.channel, error)

    def reason_given(self, given: ReasonGiven, reason: str) -> None:
        """Keep why an answer was no good."""
        try:
            self._dialogue.conversations.rate(given.turn, "down", reason, owner_of(given.team))
        except UnknownTurnError as error:
            self._log.info("a reason came too late: %s", error)

    def _rate(self, click: Click, answer: Answer) -> None:
        try:
            verdict = click.pressed.view.verdict
            self._dialogue.conversations.rate(click.pressed.turn, verdict, owner=owner_of(click.team))
        except UnknownTurnError:
            return
        self._show(click, answer)

    def _show(self, click: Click, answer: Answer) -> None:
        """The answer in the view that the button leads to, in the place of the one it stands on."""
        view, dialogue = click.pressed.view, self._dialogue
        if click.is_ephemeral:
            messages = dialogue.messages(answer, view, click.channel, click.pressed.turn, ephemeral=True)
            self._responder.post_ephemeral(click.response_url, messages, replace_original=True)
            return
        known = dialogue.state.answered_at(click.channel, click.message_ts)
        if known is None:  # posted before the state folder was emptied: that one message can still be replaced
            messages = dialogue.messages(answer, view, click.channel, click.pressed.turn)
            dialogue.poster.replace(click.channel, None, (click.message_ts,), messages)
            return
        dialogue.show(known, answer, view)

    def _answer(self, click: Click) -> Answer | None:
        """The answer that the click is about; None where it is gone."""
        if not self._dialogue.is_open_to(click.channel, click.user):
            return None
        try:
            return self._dialogue.conversations.turn(click.pressed.turn, owner_of(click.team)).answer
        except UnknownTurnError:
            return None

    def _language(self, channel: str, answer: Answer) -> Language:
        return self._dialogue.state.settings(channel).language or answer.language


def _both(sentence: Bilingual) -> str:
    return f"{sentence.zh} / {sentence.en}"
