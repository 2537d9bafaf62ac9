"""Messages into Slack: posted, replaced, removed, with their chart; whatever limit Slack names is obeyed.

It composes no answer: a message that Slack finds too large goes out as plain text in pieces, nothing else is changed.
Raises SlackUnreachableError (its kind SlackBusyError for what may pass later) and nothing of slack_sdk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from assistant.slack.native_streams import NativeStreams
from assistant.slack.pace import Pace
from assistant.slack.plain_fallback import plain_messages
from assistant.slack.responder import Responder
from assistant.slack.view import Message
from assistant.slack.web_calls import (
    SlackBusyError,
    SlackRefusedError,
    SlackUnreachableError,
    attempt,
    hasty,
    web_client,
)

__all__ = ["Poster", "Responder", "SlackBusyError", "SlackUnreachableError", "web_client"]

# Slack takes about one message a second in a channel, and lets short bursts pass.
POST_SECONDS = 1.0
POST_BURST = 3
# It takes 50 edits a minute, all messages of the workspace together; final messages and clicks need some of these.
EDIT_SECONDS = 1.5
APPEND_SECONDS = 0.75  # of 100 a minute
DRAFT_BURST = 5
ALT_CHARACTERS = 2_000
_MOST_CHANNELS = 1_000

_TOO_LARGE = frozenset(
    {
        "cannot_parse_attachment",
        "invalid_arguments",
        "invalid_attachments",
        "invalid_blocks",
        "invalid_blocks_format",
        "msg_blocks_too_long",
        "msg_too_long",
        "no_text",
        "too_many_attachments",
    }
)
_ABSENT = frozenset({"message_not_found", "file_not_found", "file_deleted"})


class Poster:
    """Posts with one bot token. Safe to share between threads; `clock` and `sleep` are in seconds."""

    def __init__(
        self,
        client: WebClient,
        logger: logging.Logger,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.client = client
        self.hasty_client = hasty(client)
        self.logger = logger
        self.clock = clock
        self.streams = NativeStreams(client, self.hasty_client, logger, clock)
        self._sleep = sleep
        self._lock = threading.Lock()
        self._posts: dict[str, Pace] = {}  # by channel
        self._edits = Pace(EDIT_SECONDS, DRAFT_BURST)
        self._appends = Pace(APPEND_SECONDS, DRAFT_BURST)
        self._edits_resume_at = 0.0

    def post(self, channel: str, thread_ts: str | None, messages: Sequence[Message]) -> tuple[str, ...]:
        """Post the messages in their order, in the thread where one is given; the ts of each that was posted."""
        return tuple(ts for message in messages for ts in self._post_whole(channel, thread_ts, message))

    def replace(
        self, channel: str, thread_ts: str | None, old_ts: Sequence[str], messages: Sequence[Message]
    ) -> tuple[str, ...]:
        """Put the messages in place of the old ones: updated where they stand, more posted, surplus ones deleted.

        What cannot be updated (deleted meanwhile, too old) is posted anew.
        """
        kept: list[str] = []
        for index, message in enumerate(messages):
            old = old_ts[index] if index < len(old_ts) else ""
            kept += self._update_whole(channel, thread_ts, old, message) if old else ()
            kept += () if old else self._post_whole(channel, thread_ts, message)
        self.remove(channel, *old_ts[len(messages) :])
        return tuple(kept)

    def post_draft(self, channel: str, thread_ts: str | None, message: Message) -> str:
        """Post a message that may as well be left out: no waiting, no second try. Raises SlackBusyError."""
        self._reserve(channel)
        return str(self._hasty(lambda: self._send_post(self.hasty_client, channel, thread_ts, message), channel)["ts"])

    def edit_draft(self, channel: str, ts: str, message: Message) -> None:
        """Show the next state of a draft, at once or not at all. Raises SlackBusyError, SlackRefusedError."""
        self._hasty(lambda: self._send_update(self.hasty_client, channel, ts, message), channel)

    def may_change_draft(self, streaming: bool) -> bool:
        """Take a place among the changes that all drafts of the workspace together may make now, if one is free."""
        return (self._appends if streaming else self._edits).take(self.clock())

    def drafts_welcome(self) -> bool:
        """Whether no draft was turned away for its rate just now."""
        return self.clock() >= self._edits_resume_at

    def remove(self, channel: str, *ts: str) -> None:
        """Delete messages of ours; what is gone already counts as done, and other failures are only logged."""
        for each in ts:
            self._quietly(partial(self.client.chat_delete, channel=channel, ts=each), f"delete {channel} {each}")

    def upload_chart(self, channel: str, thread_ts: str | None, png: bytes, title: str, alt: str) -> str:
        """Share a PNG in the thread; the file's id, or "" where it fails, which is logged and costs no answer."""
        response = self._quietly(
            lambda: self.client.files_upload_v2(
                filename="chart.png",
                content=png,
                title=title,
                alt_txt=alt[:ALT_CHARACTERS],
                channel=channel,
                thread_ts=thread_ts,
            ),
            f"upload of a chart to {channel}",
        )
        files = response.get("files") if response is not None else None
        return str(files[0]["id"]) if files else ""

    def remove_file(self, file_id: str) -> None:
        """Delete a chart of ours; failures are only logged."""
        self._quietly(lambda: self.client.files_delete(file=file_id), f"delete file {file_id}")

    def status(self, channel: str, thread_ts: str, text: str) -> bool:
        """Show what the assistant does in its thread ("" to clear); whether Slack shows it."""
        return self._in_assistant(
            lambda: self.hasty_client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread_ts, status=text)
        )

    def title(self, channel: str, thread_ts: str, text: str) -> bool:
        """Name the assistant's thread; whether Slack took the name."""
        return self._in_assistant(
            lambda: self.hasty_client.assistant_threads_setTitle(channel_id=channel, thread_ts=thread_ts, title=text)
        )

    def suggest(self, channel: str, thread_ts: str, prompts: Sequence[Mapping[str, str]]) -> bool:
        """Offer prompts ({title, message}) in the assistant's thread; whether Slack shows them."""
        offered = [dict(each) for each in prompts]
        return self._in_assistant(
            lambda: self.hasty_client.assistant_threads_setSuggestedPrompts(
                channel_id=channel, thread_ts=thread_ts, prompts=offered
            )
        )

    def _in_assistant(self, call: Callable[[], SlackResponse]) -> bool:
        """Make a call that only assistant threads know: elsewhere it fails, and the answer comes all the same."""
        try:
            attempt(call)
        except (SlackRefusedError, SlackUnreachableError) as error:
            self.logger.debug("no assistant thread there: %s", error.code)
            return False
        return True

    def _post_whole(self, channel: str, thread_ts: str | None, message: Message) -> list[str]:
        try:
            return [self._post_one(channel, thread_ts, message)]
        except SlackRefusedError as refused:
            if refused.code not in _TOO_LARGE:
                raise SlackUnreachableError(refused.code, channel) from refused
            self.logger.warning("a message for %s goes out as plain text: %s", channel, refused.code)
        try:
            return [self._post_one(channel, thread_ts, each) for each in plain_messages(message)]
        except SlackRefusedError as refused:
            raise SlackUnreachableError(refused.code, channel) from refused

    def _update_whole(self, channel: str, thread_ts: str | None, ts: str, message: Message) -> list[str]:
        try:
            attempt(lambda: self._send_update(self.client, channel, ts, message), channel)
        except SlackRefusedError as refused:
            if refused.code in _TOO_LARGE:
                return self._update_plain(channel, thread_ts, ts, message, refused.code)
            return self._anew(channel, thread_ts, ts, (message,), refused.code)
        return [ts]

    def _update_plain(self, channel: str, thread_ts: str | None, ts: str, message: Message, code: str) -> list[str]:
        self.logger.warning("a message in %s becomes plain text: %s", channel, code)
        first, *others = plain_messages(message)
        try:
            attempt(lambda: self._send_update(self.client, channel, ts, first), channel)
        except SlackRefusedError as refused:
            return self._anew(channel, thread_ts, ts, (first, *others), refused.code)
        return [ts, *self.post(channel, thread_ts, others)]

    def _anew(self, channel: str, thread_ts: str | None, ts: str, messages: Sequence[Message], code: str) -> list[str]:
        """Post what the message at `ts` cannot become, and take that one away."""
        self.logger.info("a message in %s is posted anew: %s", channel, code)
        posted = self.post(channel, thread_ts, messages)
        if code not in _ABSENT:
            self.remove(channel, ts)
        return list(posted)

    def _post_one(self, channel: str, thread_ts: str | None, message: Message) -> str:
        self._sleep_for(self._reserve(channel))
        response = attempt(lambda: self._send_post(self.client, channel, thread_ts, message), channel)
        return str(response["ts"])

    def _send_post(self, client: WebClient, channel: str, thread_ts: str | None, message: Message) -> SlackResponse:
        return client.chat_postMessage(
            channel=channel,
            thread_ts=thread_ts,
            text=message.text,
            blocks=list(message.blocks),
            unfurl_links=False,
            unfurl_media=False,
        )

    def _send_update(self, client: WebClient, channel: str, ts: str, message: Message) -> SlackResponse:
        return client.chat_update(channel=channel, ts=ts, text=message.text, blocks=list(message.blocks))

    def _hasty(self, call: Callable[[], SlackResponse], channel: str) -> SlackResponse:
        try:
            return attempt(call, channel)
        except SlackBusyError as busy:
            self._edits_resume_at = max(self._edits_resume_at, self.clock() + busy.retry_after_seconds)
            raise

    def _quietly(self, call: Callable[[], SlackResponse], what: str) -> SlackResponse | None:
        try:
            return attempt(call)
        except (SlackRefusedError, SlackUnreachableError) as error:
            if error.code not in _ABSENT:
                self.logger.warning("%s failed: %s", what, error.code)
            return None

    def _reserve(self, channel: str) -> float:
        """Take the next place in the channel's queue; the seconds until it comes."""
        now = self.clock()
        with self._lock:
            if len(self._posts) > _MOST_CHANNELS:
                self._posts = {each: pace for each, pace in self._posts.items() if not pace.is_idle(now)}
            pace = self._posts.setdefault(channel, Pace(POST_SECONDS, POST_BURST))
        return pace.reserve(now)

    def _sleep_for(self, seconds: float) -> None:
        if seconds > 0:
            self._sleep(seconds)
