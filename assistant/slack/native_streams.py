"""Slack's own streaming of text (chat.startStream and its kin): where it works, and what each failure leaves to do.

A stream only ever grows, and Slack ends it by itself after some minutes. It composes no text and keeps no answer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from slack_sdk import WebClient

from assistant.slack.plain_fallback import pieces
from assistant.slack.web_calls import (
    SlackBusyError,
    SlackRefusedError,
    SlackUnreachableError,
    attempt,
)

STREAM_TEXT_CHARACTERS = 11_000  # Slack: 12,000 in one call
REFUSAL_SECONDS = 6 * 3600.0
_OVER = "message_not_in_streaming_state"

Appended = Literal["sent", "later", "over"]


@dataclass(frozen=True)
class StreamPlace:
    """Where a stream goes; outside direct messages Slack wants the team and the user who asked."""

    channel: str
    thread_ts: str
    team: str = ""
    user: str = ""


class NativeStreams:
    """Starts, feeds and ends streams; channels that take none are remembered for REFUSAL_SECONDS."""

    def __init__(
        self, client: WebClient, hasty_client: WebClient, logger: logging.Logger, clock: Callable[[], float]
    ) -> None:
        self._client = client
        self._hasty_client = hasty_client
        self._logger = logger
        self._clock = clock
        self._refused_until: dict[str, float] = {}

    def allowed(self, channel: str) -> bool:
        """Whether streaming is worth a try there."""
        return self._clock() >= self._refused_until.get(channel, 0.0)

    def start(self, place: StreamPlace, text: str) -> str:
        """Begin a message with `text`; its ts, or "" where it cannot be streamed (edits take its place)."""
        first, *others = pieces(text, STREAM_TEXT_CHARACTERS)
        try:
            response = attempt(
                lambda: self._hasty_client.chat_startStream(
                    channel=place.channel,
                    thread_ts=place.thread_ts,
                    recipient_team_id=place.team or None,
                    recipient_user_id=place.user or None,
                    markdown_text=first,
                )
            )
        except (SlackRefusedError, SlackUnreachableError) as error:
            if not isinstance(error, SlackBusyError):
                self._refused_until[place.channel] = self._clock() + REFUSAL_SECONDS
            self._logger.info("no streaming in %s: %s; edits instead", place.channel, error.code)
            return ""
        ts = str(response["ts"])
        for each in others:
            self.append(place.channel, ts, each)
        return ts

    def append(self, channel: str, ts: str, text: str) -> Appended:
        """Add text: "later" says that nothing of it was taken for now, "over" that the stream takes no more."""
        for index, piece in enumerate(pieces(text, STREAM_TEXT_CHARACTERS)):
            outcome = self._append_piece(channel, ts, piece)
            if outcome != "sent":
                return "over" if index else outcome  # a part was taken: sent again, it would stand there twice
        return "sent"

    def stop(self, channel: str, ts: str) -> None:
        """End the stream, so that the message can be updated; one that Slack has ended already is fine."""
        try:
            attempt(lambda: self._client.chat_stopStream(channel=channel, ts=ts))
        except (SlackRefusedError, SlackUnreachableError) as error:
            if error.code != _OVER:
                self._logger.warning("the stream %s %s does not stop: %s", channel, ts, error.code)

    def _append_piece(self, channel: str, ts: str, text: str) -> Appended:
        try:
            attempt(lambda: self._hasty_client.chat_appendStream(channel=channel, ts=ts, markdown_text=text))
        except SlackBusyError as busy:
            return "later" if busy.limited else "over"  # after a lost answer nobody knows what stands there
        except (SlackRefusedError, SlackUnreachableError) as error:
            self._logger.info("the stream %s %s has ended: %s", channel, ts, error.code)
            return "over"
        return "sent"
