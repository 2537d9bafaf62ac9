"""The side panel in which the assumptions of an answer are changed: components and wiring.

What may be changed, and the new card, come from assumption_forms.py; assumptions_form.py writes the HTML and
assumptions.js reports what was typed. Whose answer it is, is looked up for whoever sent the request.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from pydantic import BaseModel, ValidationError

from assistant.access import user_of
from assistant.assumption_changes import ChangeRefusedError
from assistant.assumption_forms import Reviser, revise, sheets, wanted_of
from assistant.chat_session import GONE
from assistant.conversations import (
    AdviceFailedError,
    Answerer,
    Conversations,
    ConversationsBrokenError,
    UnknownTurnError,
)
from assistant.evidence import Answer, Bilingual, Language
from assistant.web.assumptions_form import message_html, panel_html

NOT_LOADED = Bilingual(
    zh="知识库还没有加载好，请稍后再试。", en="The knowledge base is not loaded yet; please try again in a moment."
)
LONGEST_REPORT = 20_000
# "private": no other client calls these.
HIDDEN: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AssumptionsPanel:
    """What the chat needs of the panel.

    `turn`: set to a turn's id (as JSON {"turn": 12, "at": ...} or as it is) it opens the panel of that answer;
    `changed`: its value changes after an answer was revised in the store.
    """

    turn: gr.Textbox
    changed: gr.Textbox


def assumptions_panel(
    language: Language, advisor_provider: Callable[[], Answerer | None], conversations: Conversations
) -> AssumptionsPanel:
    """Build the panel, closed, in the page that is being built; `advisor_provider` gives None while that is loaded."""
    panel = gr.HTML("", elem_id="assumptions", padding=False)
    turn, go, changed = (
        gr.Textbox(visible="hidden", elem_id=f"assumptions-{name}") for name in ("turn", "go", "changed")
    )
    handlers = _Handlers(language, advisor_provider, conversations)
    turn.change(handlers.open, [turn], [panel], queue=False, **HIDDEN)
    go.change(handlers.go, [go], [panel, changed], concurrency_limit=4, concurrency_id="assumptions", **HIDDEN)
    return AssumptionsPanel(turn, changed)


class _Report(BaseModel):
    """What assumptions.js reports: what to do with which turn, and what stands in the boxes."""

    do: str = "open"
    turn: int = 0
    typed: dict[str, str] = {}
    at: float = 0


class _Handlers:
    """What happens on an event; each looks up the user of its request."""

    def __init__(
        self, language: Language, advisor_provider: Callable[[], Answerer | None], conversations: Conversations
    ) -> None:
        self.language = language
        self.advisor_provider = advisor_provider
        self.conversations = conversations

    def open(self, sent: str, request: gr.Request) -> Any:
        """The panel of a turn; nothing for an empty report."""
        turn = int(sent) if sent.strip().isdecimal() else _report(sent).turn
        if not turn:
            return ""
        try:
            answer = self._answer(turn, request)
        except (UnknownTurnError, ConversationsBrokenError) as error:
            return message_html(self._sentence(error), self.language)
        return panel_html(turn, sheets(answer), self.language)

    def go(self, sent: str, request: gr.Request) -> tuple[Any, Any]:
        """Recompute or reset the answer: the panel, and what tells the chat that an answer changed."""
        report = _report(sent)
        if report.do not in ("recompute", "reset"):
            return "", gr.skip()
        try:
            return self._revised(report, request), f"{report.turn}@{time.time():.3f}"
        except ChangeRefusedError as refused:
            answer = self._answer(report.turn, request)
            sentence = refused.sentence[self.language]
            return panel_html(report.turn, sheets(answer), self.language, sentence, report.typed), gr.skip()
        except (UnknownTurnError, ConversationsBrokenError, AdviceFailedError) as error:
            return message_html(self._sentence(error), self.language), gr.skip()

    def _revised(self, report: _Report, request: gr.Request) -> str:
        owner = user_of(request).name
        advisor = self.advisor_provider()
        answer = self._answer(report.turn, request)
        if not isinstance(advisor, Reviser):
            return panel_html(report.turn, sheets(answer), self.language, NOT_LOADED[self.language], report.typed)
        wanted = {} if report.do == "reset" else wanted_of(answer, report.typed)
        again = revise(advisor, self.conversations, report.turn, wanted, owner)
        return panel_html(report.turn, sheets(again), self.language)

    def _answer(self, turn: int, request: gr.Request) -> Answer:
        found = self.conversations.turn(turn, user_of(request).name).answer
        if found is None:
            raise UnknownTurnError(turn)
        return found

    def _sentence(self, error: Exception) -> str:
        if isinstance(error, UnknownTurnError):
            return GONE[self.language]
        if isinstance(error, ConversationsBrokenError):
            _log.error("the panel cannot read the conversations: %s", error)
        return AdviceFailedError.sentence[self.language]


def _report(text: str) -> _Report:
    """A report as it came; an empty one for what is none."""
    try:
        return _Report.model_validate_json(text[:LONGEST_REPORT])
    except ValidationError:
        return _Report()
