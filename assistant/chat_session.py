"""Conversations as the chat page needs them: asked in, answered step by step, shown from the store, stopped, rated.

It knows no web framework. What a browser sends is an id and a question; everything that is shown comes from the store,
and everything is looked up for the user who asks.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from assistant.accounts import User
from assistant.conversations import (
    MAX_QUESTION_CHARACTERS,
    AdviceFailedError,
    Answerer,
    Conversations,
    Verdict,
    converse,
)
from assistant.evidence import Answer, Bilingual, Event, Language
from assistant.pacing import paced
from assistant.reply import Reply, as_stopped, presentable, working_line
from assistant.turn_view import Message, TurnView, as_typed
from assistant.unfinished import UnfinishedReplies, UnfinishedReply

LOADING_SECONDS = 120.0
LOOK_AGAIN_SECONDS = 0.5

THINKING = Bilingual(zh="正在查找…", en="Looking it up …")
LOADING = Bilingual(zh="正在加载知识库，马上就好…", en="Loading the knowledge base, one moment …")
NOT_LOADED = Bilingual(
    zh="知识库还没有加载好，请稍后再问。", en="The knowledge base is not loaded yet; please ask again in a moment."
)
STOPPED = Bilingual(zh="已停止", en="Stopped")
TOO_LONG = Bilingual(
    zh=f"问题太长，请缩短到 {MAX_QUESTION_CHARACTERS} 个字以内。",
    en=f"The question is too long; please keep it within {MAX_QUESTION_CHARACTERS} characters.",
)
TOO_MANY = Bilingual(
    zh="问得太快了，请 {seconds} 秒后再问。", en="That was too many questions; please ask again in {seconds} seconds."
)
BUSY = Bilingual(
    zh="上一个问题还在回答，请等它答完，或先停止。",
    en="The last question is still being answered; wait for it, or stop it first.",
)
GONE = Bilingual(
    zh="这条问题已不在了，它可能在别的窗口里被删除或修改。",
    en="That question is no longer there; it may have been deleted or edited in another window.",
)


def always(user: User) -> float | None:
    """Every question may be asked at once."""
    return None


@dataclass(frozen=True)
class Shown:
    """What the page shows now. `messages` None: what it shows already.

    `accepted` is False where the question was refused, for the reason in `notice`, and stays in the box.
    """

    messages: list[Message] | None
    notice: str = ""
    accepted: bool = True


class ChatSession:
    """The chat of one page language. `allow_question` gives the seconds a user must wait, or None."""

    def __init__(
        self,
        language: Language,
        advisor_provider: Callable[[], Answerer | None],
        conversations: Conversations,
        allow_question: Callable[[User], float | None] = always,
    ) -> None:
        self.language = language
        self.conversations = conversations
        self.model_failed = False  # whether the language model failed when it was last needed
        self._advisor_provider = advisor_provider
        self._allow_question = allow_question
        self._view = TurnView(language)
        self._unfinished = UnfinishedReplies()

    def messages(self, thread: str, owner: str) -> list[Message]:
        """All of a conversation; none for one that `owner` does not have. Raises ConversationsBrokenError."""
        turns = self.conversations.turns(thread, owner)
        known = self._unfinished.of(turn.id for turn in turns if turn.answer is None)
        shown = {
            turn: as_stopped(reply.shown, STOPPED[self.language]) if reply.state == "stopped" else reply.shown
            for turn, reply in known.items()
        }
        return self._view.messages(turns, shown)

    def ask(
        self, question: str, thread: str, user: User, window: str, instead_of: int | None = None
    ) -> Iterator[Shown]:
        """Answer one question; `instead_of` is an earlier turn that it replaces, with all that followed.

        Raises ConversationsBrokenError.
        """
        question = question.strip()
        if not question:
            return
        if refusal := self._refusal(question, user, window):
            yield Shown(None, refusal, accepted=False)
            return
        if instead_of is not None and not self._is_in(thread, instead_of, user.name):
            yield Shown(self.messages(thread, user.name), GONE[self.language], accepted=False)
            return
        running = self._unfinished.begin(window, working_line(THINKING[self.language]))
        try:
            yield from self._asked(question, thread, user.name, running, instead_of)
        finally:
            self._unfinished.end(running, "stopped")

    def question_of(self, turn: int, owner: str) -> str:
        """The question of a turn, to be asked again or edited. Raises UnknownTurnError."""
        return self.conversations.turn(turn, owner).question

    def stop(self, window: str) -> None:
        """What this window had running counts as stopped."""
        self._unfinished.stop_window(window)

    def keep(self, question: str, answer: Answer, thread: str, owner: str) -> str:
        """Add a finished answer to a conversation, a new one where `thread` is ""; returns the conversation's id."""
        thread = usable_thread(thread)
        self.conversations.append(thread, question, answer, owner)
        return thread

    def toggle(self, turn: int, verdict: Verdict, owner: str) -> Verdict | None:
        """Keep a verdict, or take it back where it is the one that stands; returns what stands now.

        Raises UnknownTurnError.
        """
        now = None if self.conversations.turn(turn, owner).verdict == verdict else verdict
        self.conversations.rate(turn, now, owner=owner)
        return now

    def _refusal(self, question: str, user: User, window: str) -> str:
        if len(question) > MAX_QUESTION_CHARACTERS:
            return TOO_LONG[self.language]
        if self._unfinished.is_running(window):
            return BUSY[self.language]
        wait = self._allow_question(user)
        return TOO_MANY[self.language].format(seconds=max(1, round(wait))) if wait is not None else ""

    def _is_in(self, thread: str, turn: int, owner: str) -> bool:
        return any(known.id == turn for known in self.conversations.turns(thread, owner))

    def _earlier(self, thread: str, owner: str, before: int | None) -> list[Message]:
        shown = self.messages(thread, owner)
        if before is None:
            return shown
        kept = sum(turn.id < before for turn in self.conversations.turns(thread, owner))
        return shown[: 2 * kept]  # a question and an answer each

    def _advisor(self) -> Iterator[Answerer | None]:
        """None as long as the advisor is being loaded, then the advisor; ends with None after LOADING_SECONDS."""
        deadline = time.monotonic() + LOADING_SECONDS
        while (advisor := self._advisor_provider()) is None:
            yield None
            if time.monotonic() > deadline:
                return
            time.sleep(LOOK_AGAIN_SECONDS)
        yield advisor

    def _asked(
        self, question: str, thread: str, owner: str, running: UnfinishedReply, instead_of: int | None
    ) -> Iterator[Shown]:
        earlier = self._earlier(thread, owner, instead_of)
        advisor: Answerer | None = None
        for advisor in self._advisor():
            if advisor is None:
                yield Shown(_with_reply(earlier, question, working_line(LOADING[self.language])))
        if advisor is None:
            yield Shown(earlier, NOT_LOADED[self.language], accepted=False)
            return
        if instead_of is not None:
            self.conversations.forget_from(instead_of, owner)
        yield Shown(_with_reply(earlier, question, running.shown))
        started = partial(self._unfinished.keep, reply=running)
        events = converse(advisor, question, store=self.conversations, thread=thread, owner=owner, started=started)
        for shown in self._answering(events, running):
            yield Shown(_with_reply(earlier, question, shown))
        yield Shown(self.messages(thread, owner))

    def _answering(self, events: Iterator[Event], running: UnfinishedReply) -> Iterator[str]:
        """The answer as it grows; when this ends it is in the store, or among the unfinished ones."""
        reply = Reply(working=THINKING[self.language])
        try:
            for batch in paced(events):
                for event in batch:
                    reply = reply.after(event)
                if reply.answer is None:
                    running.show(reply.render())
                    yield running.shown
        except AdviceFailedError as failure:
            running.show(f"{presentable(reply.markdown)}\n\n{failure.sentence[self.language]}")
            self._unfinished.end(running, "failed")
        if reply.answer:
            self._unfinished.drop(running)
            self._note(reply.answer)

    def _note(self, answer: Answer) -> None:
        """Whether the language model worked: cards of code say nothing about it."""
        if answer.status == "unavailable":
            self.model_failed = True
        elif answer.model:
            self.model_failed = False


def usable_thread(thread: str) -> str:
    """The id of a conversation as a browser keeps it; a new one for what cannot be one."""
    return thread if re.fullmatch(r"[\w.-]{1,64}", thread) else uuid.uuid4().hex


def _with_reply(earlier: list[Message], question: str, reply: str) -> list[Message]:
    asked: Message = {"role": "user", "content": as_typed(question)}
    return [*earlier, asked, {"role": "assistant", "content": reply}]
