"""What the bot does with a question, its edit and its deletion: asks, answers in place, keeps what it has to know later.

Runs in the worker of its thread (thread_order.py), one job of a thread after the other. It knows no bolt and renders
nothing; who may ask at all is decided here too.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from threading import Lock
from weakref import WeakValueDictionary

from assistant.accounts import User
from assistant.chat_session import LOADING_SECONDS, LOOK_AGAIN_SECONDS, NOT_LOADED, TOO_LONG, TOO_MANY
from assistant.conversations import (
    MAX_QUESTION_CHARACTERS,
    AdviceFailedError,
    Answerer,
    Conversations,
    UnknownTurnError,
    converse,
)
from assistant.evidence import Answer, Bilingual, Done, Event, Language
from assistant.owner import OwnerError
from assistant.reading import language_of
from assistant.slack.answer_charts import chart_of, is_drawn_alike
from assistant.slack.answers import answer_messages, notice
from assistant.slack.incoming import Deleted, Edited, Question
from assistant.slack.live_reply import LiveReply
from assistant.slack.not_answered import NOT_ALLOWED, NotReadyError, sentence_of
from assistant.slack.posting import Poster
from assistant.slack.state import Answered, SlackState
from assistant.slack.tokens import SlackTokens
from assistant.slack.view import ChannelSettings, Message, View
from assistant.slack.web_calls import SlackUnreachableError
from assistant.slack.words import help_message

NO_TURN = 0  # of a draft


class WithdrawnError(Exception):
    """The question was deleted while it was answered."""


@dataclass(frozen=True)
class Asked:
    """An answer and the turn it was kept as."""

    answer: Answer
    turn: int


def owner_of(team: str) -> str:
    """Whose conversations those of a workspace are; no user name has a colon in it."""
    return f"slack:{team}"


class Dialogue:
    """Questions in, answers posted. `allow_question` gives the seconds somebody must wait, or None."""

    def __init__(
        self,
        tokens: SlackTokens,
        answerer_provider: Callable[[], Answerer | None],
        conversations: Conversations,
        state: SlackState,
        poster: Poster,
        logger: logging.Logger,
        allow_question: Callable[[User], float | None],
    ) -> None:
        self._tokens = tokens
        self._answerer_provider = answerer_provider
        self._allow_question = allow_question
        self._log = logger
        self._awaited: set[tuple[str, str]] = set()  # messages taken and not answered yet
        self._withdrawn: set[tuple[str, str]] = set()
        self._lock = Lock()
        self._changing: WeakValueDictionary[tuple[str, str], Lock] = WeakValueDictionary()
        self.conversations = conversations
        self.state = state
        self.poster = poster

    def is_open_to(self, channel: str, user: str) -> bool:
        """Whether the allow-lists let this user ask in this channel; direct messages need the user alone."""
        tokens = self._tokens
        if tokens.users and user not in tokens.users:
            return False
        return not tokens.channels or channel in tokens.channels or channel.startswith("D")

    def expect(self, question: Question) -> None:
        """The question waits to be answered. May be called from any thread."""
        with self._lock:
            self._awaited.add((question.channel, question.ts))

    def withdraw(self, deleted: Deleted) -> None:
        """The question was deleted: an answer that is being written ends at once. May be called from any thread."""
        with self._lock:
            if (deleted.channel, deleted.ts) in self._awaited:
                self._withdrawn.add((deleted.channel, deleted.ts))

    def answer(self, question: Question) -> None:
        """Answer one message where it was asked. Raises nothing that a reader or Slack is the cause of."""
        language = self._language(question)
        try:
            if self._is_withdrawn(question):
                return
            if not self.is_open_to(question.channel, question.user):
                self._say(question, NOT_ALLOWED[language])
            elif not question.text:
                self._post(question, help_message(language))
            elif refusal := self._refusal(question, language):
                self._say(question, refusal)
            else:
                self._ask_and_post(question, language)
        except SlackUnreachableError as error:
            self._log.warning("no answer in %s: %s", question.channel, error)
        finally:
            self.state.settle(question)
            self._end(question)

    def answer_unlimited(self, question: Question) -> None:
        """Answer a question that was let in already, such as that of a command posted in its channel."""
        try:
            self._ask_and_post(question, self._language(question))
        except SlackUnreachableError as error:
            self._log.warning("no answer in %s: %s", question.channel, error)
        finally:
            self.state.settle(question)

    def edited(self, edited: Edited) -> None:
        """A question was changed: its answer is replaced in place; one not answered yet is answered now."""
        known = self.state.answered(edited.channel, edited.ts)
        if known is None:
            if edited.mentioned and edited.text:
                self.answer(edited.as_question())
            return
        try:
            self._answer_anew(known, edited)
        except SlackUnreachableError as error:
            self._log.warning("no new answer in %s: %s", edited.channel, error)

    def _answer_anew(self, known: Answered, edited: Edited) -> None:
        question, owner = edited.as_question(), owner_of(known.team)
        try:
            if self.conversations.turn(known.turn, owner).question == edited.text or not edited.text:
                return
            earlier = self.conversations.before(known.turn, owner)
            self.conversations.reword(known.turn, edited.text[:MAX_QUESTION_CHARACTERS], owner)
        except UnknownTurnError:
            return
        language = self._language(question)
        if known.chart_file:
            self.poster.remove_file(known.chart_file)
        known = known.shown_as(known.view, known.reply_ts)
        self.state.keep(known)
        try:
            if refusal := self._refusal(question, language):
                raise NotReadyError(Bilingual(zh=refusal, en=refusal))
            answer = _last(self._events(edited.text, earlier))
            self.conversations.revise(known.turn, answer, owner)
        except (NotReadyError, AdviceFailedError) as error:
            replies = self._replace(known, (notice(sentence_of(error)[language]),))
            self.state.keep(known.shown_as(known.view, replies))
            return
        self.show(known, answer, self.first_view(edited.channel))

    def deleted(self, deleted: Deleted) -> None:
        """A question was deleted: its answer goes, and the conversation forgets it."""
        known = self.state.answered(deleted.channel, deleted.ts)
        if known is None:
            return
        self.conversations.forget(known.turn, owner_of(known.team))
        with contextlib.suppress(SlackUnreachableError):
            self.poster.remove(known.channel, *known.reply_ts)
            if known.chart_file:
                self.poster.remove_file(known.chart_file)
        self.state.forget(deleted.channel, deleted.ts)

    def ask(self, text: str, thread: str, team: str, *, watch: Callable[[Event], None] | None = None) -> Asked:
        """Ask within `thread`, telling `watch` each event. Raises NotReadyError, and what `watch` raises."""
        turns: list[int] = []
        events = converse(
            self._answerer(), text, store=self.conversations, thread=thread, owner=owner_of(team), started=turns.append
        )
        try:
            return Asked(_last(events, watch), turns[-1])
        except WithdrawnError:
            self.conversations.forget(turns[-1], owner_of(team))
            raise
        except AdviceFailedError as error:
            if isinstance(error.__cause__, OwnerError):
                self._log.warning("the server did not answer: %s", error.__cause__)
            raise NotReadyError(sentence_of(error)) from error

    def first_view(self, channel: str) -> View:
        """How an answer is shown before anybody presses a button."""
        return View(currency=self.state.settings(channel).currency)

    def messages(
        self, answer: Answer, view: View, channel: str, turn: int | None, *, ephemeral: bool = False
    ) -> tuple[Message, ...]:
        """An answer as messages, by the settings of its channel; `ephemeral`: one person alone sees them."""
        settings = self.state.settings(channel)
        language = settings.language or answer.language
        return answer_messages(answer, view, language, turn=turn, settings=settings, ephemeral=ephemeral)

    def show(self, known: Answered, answer: Answer, view: View) -> None:
        """Replace what stands there by the answer as `view` wants it, its chart included."""
        with self._alone(known.channel, known.ts):
            known = self.state.answered(known.channel, known.ts) or known
            replies = self._replace(known, self.messages(answer, view, known.channel, known.turn))
            chart = self.redrawn_chart(known, answer, view)
            self.state.keep(known.shown_as(view, replies, chart))

    def keep(self, question: Question, turn: int, replies: tuple[str, ...], view: View, answer: Answer) -> None:
        """Know an answer that was posted from now on, and add its chart, which takes a while."""
        known = Answered.to(question, turn, replies, view)
        self.state.keep(known)
        with self._alone(question.channel, question.ts):
            chart = self.chart(answer, view, question.channel, known.reply_thread_ts)
            now = self.state.answered(question.channel, question.ts)
            if chart and now is not None and now.view == view and not now.chart_file:
                self.state.keep(now.shown_as(view, now.reply_ts, chart))
            elif chart:  # deleted, or shown in another way meanwhile
                self.poster.remove_file(chart)

    def redrawn_chart(self, known: Answered, answer: Answer, view: View) -> str:
        """The chart of the view, in the place of an older one; the id of its file, "" without one."""
        if known.chart_file and is_drawn_alike(known.view, view):
            return known.chart_file
        if known.chart_file:
            self.poster.remove_file(known.chart_file)
        return self.chart(answer, view, known.channel, known.reply_thread_ts)

    def chart(self, answer: Answer, view: View, channel: str, thread_ts: str | None) -> str:
        """Upload the chart of a comparison beside its answer; the id of the file, "" where there is nothing to draw."""
        chart = chart_of(answer, view, self.state.settings(channel))
        return self.poster.upload_chart(channel, thread_ts, chart.png, chart.title, chart.alt) if chart else ""

    def wait_for(self, user: str, team: str) -> float | None:
        """The seconds that somebody has to wait before the next question, None for none (it is counted)."""
        return self._allow_question(User(f"{owner_of(team)}:{user}", "reader"))

    def _ask_and_post(self, question: Question, language: Language) -> None:
        is_first = not self.conversations.questions(question.thread, 1, owner_of(question.team))
        self._remove_draft(question)

        def drafted(ts: str) -> None:
            self.state.keep(Answered.to(question, NO_TURN, (ts,), View(), settled=False))

        with LiveReply(self.poster, question, language, titled=is_first, drafted=drafted) as live:

            def watch(event: Event) -> None:
                if self._is_withdrawn(question):
                    raise WithdrawnError
                live.after(event)

            try:
                asked = self.ask(question.text, question.thread, question.team, watch=watch)
            except WithdrawnError:
                live.cancel()
                return
            except NotReadyError as error:
                live.fail(error.sentence[language])
                return
            view = self.first_view(question.channel)
            replies = live.finish(self.messages(asked.answer, view, question.channel, asked.turn))
        self.keep(question, asked.turn, replies, view, asked.answer)
        if self._is_withdrawn(question):  # deleted while the last lines were posted
            self.deleted(Deleted(question.event_id, question.channel, question.ts))

    def _remove_draft(self, question: Question) -> None:
        """The draft of an answer that a former process did not finish."""
        left = self.state.answered(question.channel, question.ts)
        if left is not None and not left.settled:
            self.poster.remove(left.channel, *left.reply_ts)

    def _alone(self, channel: str, ts: str) -> Lock:
        """Held while one answer changes in Slack: its chart takes longer than its message, and a click may come between."""
        with self._lock:
            return self._changing.setdefault((channel, ts), Lock())

    def _is_withdrawn(self, question: Question) -> bool:
        with self._lock:
            return (question.channel, question.ts) in self._withdrawn

    def _end(self, question: Question) -> None:
        with self._lock:
            self._awaited.discard((question.channel, question.ts))
            self._withdrawn.discard((question.channel, question.ts))

    def _refusal(self, question: Question, language: Language) -> str:
        if len(question.text) > MAX_QUESTION_CHARACTERS:
            return TOO_LONG[language]
        wait = self.wait_for(question.user, question.team)
        return TOO_MANY[language].format(seconds=round(wait) + 1) if wait is not None else ""

    def _answerer(self) -> Answerer:
        """The advisor once it is loaded. Raises NotReadyError."""
        deadline = time.monotonic() + LOADING_SECONDS
        while (answerer := self._answerer_provider()) is None:
            if time.monotonic() > deadline:
                raise NotReadyError(NOT_LOADED)
            time.sleep(LOOK_AGAIN_SECONDS)
        return answerer

    def _events(self, text: str, earlier: Sequence[str]) -> Generator[Event, None, None]:
        return converse(self._answerer(), text, earlier, store=self.conversations)

    def _language(self, question: Question) -> Language:
        settings: ChannelSettings = self.state.settings(question.channel)
        return settings.language or language_of(question.text)

    def _say(self, question: Question, sentence: str) -> None:
        self._post(question, notice(sentence))

    def _post(self, question: Question, message: Message) -> None:
        self.poster.post(question.channel, question.reply_thread_ts, (message,))

    def _replace(self, known: Answered, messages: Sequence[Message]) -> tuple[str, ...]:
        return self.poster.replace(known.channel, known.reply_thread_ts, known.reply_ts, messages)


def _last(events: Generator[Event, None, None], watch: Callable[[Event], None] | None = None) -> Answer:
    answer = None
    with contextlib.closing(events):
        for event in events:
            if isinstance(event, Done):
                answer = event.answer
            if watch:
                watch(event)
    if answer is None:
        raise AdviceFailedError
    return answer
