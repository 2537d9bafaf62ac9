"""One answer while it comes: nothing for a second, then a draft that grows, then the final messages in its place.

The advisor is never held up: events are only noted, and a thread of this reply shows them, by Slack's own streaming in
threads of direct messages, by edits elsewhere (a stream in a channel moves for whoever asked alone). The final messages
are always rendered anew. It renders nothing itself and does not ask the advisor.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from types import TracebackType

from assistant.conversations import AdviceFailedError
from assistant.evidence import Bilingual, Card, Done, Event, Language, Prose, Working
from assistant.slack.answers import draft_blocks, notice, stream_text
from assistant.slack.incoming import Question
from assistant.slack.native_streams import StreamPlace
from assistant.slack.posting import Poster
from assistant.slack.view import Message
from assistant.slack.web_calls import SlackBusyError, SlackRefusedError, SlackUnreachableError

QUIET_SECONDS = 1.0  # an answer that code decides is there by then, and is one post
TICK_SECONDS = 0.2
EDITS_APART_SECONDS = 1.2  # of one draft
APPENDS_APART_SECONDS = 0.6
TITLE_CHARACTERS = 60
STREAMED_KINDS = frozenset({"im"})

LOOKING = Bilingual(zh="正在查找…", en="Looking it up …")
STATUS = Bilingual(zh="正在查找…", en="is looking it up …")  # Slack writes the name of the app before it


class LiveReply:
    """The reply to `question`, as a context manager: while it is open, status and drafts are shown.

    `titled`: the question is the first of its thread, and names it. `drafted` is told the ts of a draft. `after` is for the worker that asks; `cancel` may
    come from any thread. `tick` shows what is due; the reply's own thread calls it while the context is open.
    """

    def __init__(
        self,
        poster: Poster,
        question: Question,
        language: Language,
        *,
        titled: bool = False,
        drafted: Callable[[str], object] = lambda ts: None,
    ) -> None:
        self._poster = poster
        self._drafted = drafted
        self._question = question
        self._language: Language = language
        self._titled = titled
        self._started = poster.clock()
        self._slack = threading.RLock()  # held while something of this reply is done in Slack
        self._noted = threading.Lock()  # held while the text below changes
        self._ended = threading.Event()
        self._cancelled = threading.Event()
        self._markdown = ""
        self._working = ""
        self._unsent = ""  # for a stream: text that Slack has not taken yet
        self._is_done = False
        self._posted: tuple[str, ...] = ()
        self._streaming = False
        self._has_status = False
        self._shown: tuple[str, str] | None = None
        self._shown_at = 0.0
        self._no_drafts = False
        self._is_settled = False  # the final messages were posted, tried or forbidden

    def __enter__(self) -> LiveReply:
        """Begin to show: the status (in assistant threads), then drafts."""
        threading.Thread(target=self._show_while_open, name="slack-live-reply", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the drafts. After an error that nobody told the reader of, the draft says that there was one."""
        with self._slack:
            self._close()
        if error is not None and not self._is_settled:
            with contextlib.suppress(SlackUnreachableError):  # the error itself is what counts
                self.fail(AdviceFailedError.sentence[self._language])

    @property
    def posted(self) -> tuple[str, ...]:
        """The messages that stand in Slack now."""
        return self._posted

    def begin(self) -> None:
        """Show the status in a thread of direct messages, unless the answer is there, and name the thread."""
        channel, thread_ts = self._question.channel, self._question.reply_thread_ts
        if self._question.kind != "im" or thread_ts is None:
            return
        with self._slack:
            if not self._ended.is_set():
                self._has_status = self._poster.status(channel, thread_ts, STATUS[self._language])
        if self._titled and not self._cancelled.is_set():
            self._poster.title(channel, thread_ts, title_of(self._question.text))

    def after(self, event: Event) -> None:
        """Note an event; returns at once."""
        with self._noted:
            match event:
                case Card(markdown=markdown):
                    self._markdown = markdown
                    self._unsent = stream_piece(markdown)
                case Prose(markdown=markdown):
                    self._markdown += markdown
                    self._unsent += stream_piece(markdown)
                case Working(message=message):
                    self._working = message
                case Done():
                    self._is_done = True

    def tick(self) -> None:
        """Show what has come, where it is time to. Raises nothing: the final messages tell whether Slack is there."""
        with self._slack:
            if self._is_due():
                try:
                    self._show()
                except (SlackUnreachableError, SlackRefusedError) as error:
                    self._give_way(error)

    def finish(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Put the messages in place of the draft; their ts (none after cancel). Raises SlackUnreachableError."""
        with self._slack:
            self._close()
            self._is_settled = True
            if self._cancelled.is_set():
                return ()
            question, drafts = self._question, self._posted
            self._posted = self._poster.replace(question.channel, question.reply_thread_ts, drafts, messages)
            if not set(self._posted) - set(drafts):
                self._clear_status()  # an update does not, as a post does
            return self._posted

    def fail(self, sentence: str) -> tuple[str, ...]:
        """Say `sentence` in place of the draft. Raises SlackUnreachableError."""
        try:
            return self.finish((notice(sentence),))
        finally:
            self._clear_status()

    def cancel(self) -> None:
        """The question is gone: take away whatever was posted, and post nothing more."""
        self._cancelled.set()
        with self._slack:
            self._close()
            self._is_settled = True
            self._poster.remove(self._question.channel, *self._posted)
            self._posted = ()
            self._clear_status()

    def _show_while_open(self) -> None:
        self.begin()
        wait_seconds = QUIET_SECONDS
        while not self._ended.wait(wait_seconds):
            self.tick()
            wait_seconds = TICK_SECONDS

    def _is_due(self) -> bool:
        if self._ended.is_set() or self._cancelled.is_set() or self._is_done or self._no_drafts:
            return False
        now = self._poster.clock()
        if now - self._started < QUIET_SECONDS or not self._poster.drafts_welcome():
            return False
        apart_seconds = APPENDS_APART_SECONDS if self._streaming else EDITS_APART_SECONDS
        return self._shown is None or now - self._shown_at >= apart_seconds

    def _show(self) -> None:
        with self._noted:
            markdown, working, unsent = self._markdown, self._working, self._unsent
        is_new = bool(unsent.strip()) if self._streaming else (markdown, working) != self._shown
        if not is_new or (self._has_status and not markdown):
            return
        if self._posted and not self._poster.may_change_draft(self._streaming):
            return  # other replies have taken all that Slack lets us change now
        if self._streaming:
            self._append(unsent)
        else:
            self._post_or_edit(markdown, working, unsent)
            self._shown = (markdown, working)
        self._shown_at = self._poster.clock()

    def _post_or_edit(self, markdown: str, working: str, unsent: str) -> None:
        if self._posted:
            self._edit_draft(markdown, working)
        elif not self._start_stream(unsent):
            self._post_draft(markdown, working)

    def _start_stream(self, text: str) -> bool:
        """Begin a stream with `text`, where Slack may have one."""
        question = self._question
        thread_ts = question.reply_thread_ts
        streams = self._poster.streams
        if question.kind not in STREAMED_KINDS or thread_ts is None or not text.strip():
            return False
        if not streams.allowed(question.channel):
            return False
        asker = ("", "") if question.kind == "im" else (question.team, question.user)
        ts = streams.start(StreamPlace(question.channel, thread_ts, *asker), text)
        if not ts:
            return False
        self._posted, self._streaming = (ts,), True
        self._drafted(ts)
        self._sent(text)
        return True

    def _append(self, text: str) -> None:
        outcome = self._poster.streams.append(self._question.channel, self._posted[0], text)
        if outcome == "sent":
            self._sent(text)
        elif outcome == "over":
            self._stop_stream()  # from now on by edits

    def _sent(self, text: str) -> None:
        with self._noted:
            self._unsent = self._unsent[len(text) :]

    def _post_draft(self, markdown: str, working: str) -> None:
        question = self._question
        message = self._draft(markdown, working)
        self._posted = (self._poster.post_draft(question.channel, question.reply_thread_ts, message),)
        self._drafted(self._posted[0])

    def _edit_draft(self, markdown: str, working: str) -> None:
        self._poster.edit_draft(self._question.channel, self._posted[0], self._draft(markdown, working))

    def _draft(self, markdown: str, working: str) -> Message:
        line = working or LOOKING[self._language]
        return draft_blocks(markdown, line, self._language) if markdown.strip() else notice(line)

    def _give_way(self, error: SlackUnreachableError | SlackRefusedError) -> None:
        """After a draft that Slack did not take: the next carries more, or none comes before the final messages.

        A draft whose post got no answer may stand there all the same; a second one would not mend that.
        """
        self._shown_at = self._poster.clock()
        self._poster.logger.info("a draft in %s was not shown: %s", self._question.channel, error.code)
        self._no_drafts = not (isinstance(error, SlackBusyError) and (error.limited or bool(self._posted)))

    def _close(self) -> None:
        self._ended.set()
        if self._streaming:
            self._stop_stream()

    def _stop_stream(self) -> None:
        self._streaming = False
        self._poster.streams.stop(self._question.channel, self._posted[0])

    def _clear_status(self) -> None:
        if self._has_status and self._question.reply_thread_ts is not None:
            self._has_status = False
            self._poster.status(self._question.channel, self._question.reply_thread_ts, "")


def title_of(question: str) -> str:
    """The question as the title of its thread: one line of at most TITLE_CHARACTERS."""
    line = " ".join(question.split())
    return line if len(line) <= TITLE_CHARACTERS else f"{line[: TITLE_CHARACTERS - 1]}…"


def stream_piece(markdown: str) -> str:
    """A piece of an answer for a stream; the white space around it, which parts it from its neighbours, stays."""
    core = markdown.strip()
    if not core:
        return markdown
    before, after = markdown[: markdown.index(core)], markdown[markdown.index(core) + len(core) :]
    return f"{before}{stream_text(core).strip()}{after}"
