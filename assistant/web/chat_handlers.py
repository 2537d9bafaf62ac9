"""What happens on the events of the chat tab: text and components' values in, values out.

Each handler looks up whose conversation it is for the request it came with; chat_session.py answers and keeps.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import gradio as gr
from pydantic import BaseModel, ValidationError

from assistant.access import user_of
from assistant.chat_session import GONE, ChatSession, Shown, usable_thread
from assistant.conversations import AdviceFailedError, ConversationsBrokenError, UnknownTurnError
from assistant.evidence import Answer
from assistant.web.chat_frame import notice_html
from assistant.web.conversation_list import threads_html

# The components that an answer or another conversation changes.
SHOWN = ("chat", "box", "thread", "threads", "banner", "notice", "editing", "editing_line")

log = logging.getLogger(__name__)


class ChatHandlers:
    """What happens on an event. Each looks up whose conversation it is for the request it came with."""

    def __init__(self, session: ChatSession) -> None:
        self.session = session
        self.language = session.language

    def ask(self, question: str, thread: str, editing: str, request: gr.Request) -> Iterator[list[Any]]:
        """Answer what is in the box; with `editing`, in place of that turn."""
        yield from self._answer(question, thread, int(editing) if editing.isdecimal() else None, request)

    def ask_from_outside(self, question: str, thread: str, request: gr.Request) -> Iterator[list[Any]]:
        """Answer a question that another part of the page put."""
        yield from self._answer(question, thread, None, request)

    def ask_again(self, sent: str, thread: str, request: gr.Request) -> Iterator[list[Any]]:
        """Answer a turn's question anew; everything after it goes."""
        turn = _sent(sent).turn
        if not turn:
            yield values()
            return
        try:
            question = self.session.question_of(turn, user_of(request).name)
        except UnknownTurnError:
            yield self.state(thread, request, GONE[self.language])
            return
        yield from self._answer(question, thread, turn, request)

    def open(self, thread: str, request: gr.Request) -> list[Any]:
        """Show a conversation; one that the user does not have shows as empty."""
        try:
            known = self.session.conversations.questions(thread, 1, user_of(request).name)
        except ConversationsBrokenError:
            return self._broken()
        return self.state(thread if known else "", request)

    def go(self, sent: str, thread: str, request: gr.Request) -> list[Any]:
        """Open, start or delete a conversation, as chosen in the list; what was running in this window is stopped."""
        wanted = _sent(sent)
        if wanted.do not in ("open", "new", "delete"):
            return values()
        self.session.stop(_window(request))
        if wanted.do != "delete":
            return self.open(wanted.thread if wanted.do == "open" else "", request)
        try:
            self.session.conversations.delete(wanted.thread, user_of(request).name)
        except ConversationsBrokenError:
            return self._broken()
        return self.open(thread, request)

    def refreshed(self, thread: str, request: gr.Request) -> list[Any]:
        """The conversation as it stands now: an answer was revised in the store."""
        try:
            return values(chat=self.session.messages(thread, user_of(request).name))
        except ConversationsBrokenError:
            return self._broken()

    def stop(self, thread: str, request: gr.Request) -> list[Any]:
        """The reader stopped the answer."""
        self.session.stop(_window(request))
        return self.state(thread, request)

    def keep(self, question: str, answer: Answer, thread: str, request: gr.Request) -> list[Any]:
        """Add a finished answer to the conversation and show it."""
        try:
            kept = self.session.keep(question, answer, thread, user_of(request).name)
        except ConversationsBrokenError:
            return self._broken()
        return self.state(kept, request)

    def act(self, sent: str, thread: str, request: gr.Request) -> list[Any]:
        """A thumb, the pencil of a question or a new title: the values of `shown`, then those of the feedback form."""
        wanted = _sent(sent)
        owner = user_of(request).name
        try:
            if wanted.do == "edit":
                box = gr.Textbox(value=self.session.question_of(wanted.turn, owner))
                line = gr.HTML(visible=True)
                return [*values(box=box, editing=str(wanted.turn), editing_line=line, notice=""), *_form()]
            if wanted.do == "rename":
                self.session.conversations.rename(wanted.thread, wanted.title, owner)
                return [*values(threads=self._threads(thread, owner)), *_form()]
            if wanted.do == "cancel-edit":
                return [*values(box=gr.Textbox(value=""), editing="", editing_line=gr.HTML(visible=False)), *_form()]
            if wanted.do not in ("up", "down"):
                return [*values(), *_form()]
            now = self.session.toggle(wanted.turn, "up" if wanted.do == "up" else "down", owner)
            messages = self.session.messages(thread, owner)
        except UnknownTurnError:
            return [*values(notice=notice_html(GONE[self.language])), *_form()]
        except ConversationsBrokenError:
            return [*self._broken(), *_form()]
        return [*values(chat=messages, notice=""), gr.Group(visible=now == "down"), str(wanted.turn), [], ""]

    def state(self, thread: str, request: gr.Request, notice: str = "") -> list[Any]:
        """Everything the store knows of a conversation, the box ready for a question."""
        owner = user_of(request).name
        try:
            messages = self.session.messages(thread, owner)
            threads = self._threads(thread, owner)
        except ConversationsBrokenError:
            return self._broken()
        banner = gr.HTML(visible=self.session.model_failed)
        return values(
            chat=messages,
            box=gr.Textbox(submit_btn=True, stop_btn=False),
            thread=thread,
            threads=threads,
            banner=banner,
            notice=notice_html(notice),
            editing="",
            editing_line=gr.HTML(visible=False),
        )

    def _answer(self, question: str, thread: str, instead_of: int | None, request: gr.Request) -> Iterator[list[Any]]:
        if not question.strip():
            yield values()
            return
        thread = usable_thread(thread)
        box: object = gr.Textbox(value="", submit_btn=False, stop_btn=True)
        try:
            for shown in self.session.ask(question, thread, user_of(request), _window(request), instead_of):
                if not shown.accepted:
                    yield _refused(shown, question)
                    return
                yield values(chat=shown.messages, box=box, thread=thread, notice="")
                box = gr.skip()  # what the reader types meanwhile stays
        except UnknownTurnError:
            yield self.state(thread, request, GONE[self.language])
            return
        except ConversationsBrokenError:
            yield self._broken()
            return
        yield self.state(thread, request)

    def _threads(self, thread: str, owner: str) -> str:
        return threads_html(self.session.conversations.threads(owner), thread, self.language)

    def _broken(self) -> list[Any]:
        log.exception("the conversations of this reader cannot be shown")
        sentence = AdviceFailedError.sentence[self.language]
        return values(box=gr.Textbox(submit_btn=True, stop_btn=False), notice=notice_html(sentence))


class _Sent(BaseModel):
    """What chat.js reports: what to do, with which turn or conversation. `at` tells two equal clicks apart."""

    do: str = ""
    turn: int = 0
    thread: str = ""
    title: str = ""
    at: float = 0


def _sent(text: str) -> _Sent:
    """A report as it came; an empty one for what is none."""
    try:
        return _Sent.model_validate_json(text)
    except ValidationError:
        return _Sent()


def values(**given: object) -> list[Any]:
    """Values for ChatTab.shown; what is not given stays as it is."""
    return [given.get(name, gr.skip()) for name in SHOWN]


def _form() -> list[Any]:
    """Values for the feedback form that leave it as it is."""
    return [gr.skip()] * 4


def _refused(shown: Shown, question: str) -> list[Any]:
    chat = gr.skip() if shown.messages is None else shown.messages
    box = gr.Textbox(value=question, submit_btn=True, stop_btn=False)
    return values(chat=chat, box=box, notice=notice_html(shown.notice))


def _window(request: gr.Request) -> str:
    return request.session_hash or ""
