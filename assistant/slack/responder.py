"""Answers by a response_url: what a slash command or a button was told, for one person or the whole channel.

A response_url takes five posts in half an hour; what does not fit is folded into the last. It composes no answer.
"""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from http.client import HTTPException
from typing import Literal

from slack_sdk import WebClient
from slack_sdk.errors import SlackRequestError
from slack_sdk.webhook import WebhookClient, WebhookResponse

from assistant.slack.plain_fallback import folded
from assistant.slack.view import Message
from assistant.slack.web_calls import SlackBusyError, SlackUnreachableError, spare_proxies

RESPONSE_POSTS = 5
RESPONSE_SECONDS = 30 * 60.0
FOLDED_CHARACTERS = 9_000  # all text of one message
ResponseType = Literal["ephemeral", "in_channel"]
_UNUSABLE = frozenset({"used_url", "expired_url", "invalid_token", "no_service", "no_team", "channel_is_archived"})


@dataclass(frozen=True)
class _How:
    """How a message is to stand there, by the names that Slack gives these."""

    response_type: ResponseType
    replace_original: bool = False
    thread_ts: str | None = None


class Responder:
    """Posts to response_urls; safe to share between threads. `clock` is in seconds."""

    def __init__(
        self, client: WebClient, logger: logging.Logger, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._logger = logger
        self._clock = clock
        self._lock = threading.Lock()
        self._used: dict[str, tuple[int, float]] = {}  # per response_url: posts, and when the first was made

    def post_ephemeral(
        self,
        response_url: str,
        messages: Sequence[Message],
        replace_original: bool = False,
        thread_ts: str | None = None,
    ) -> None:
        """Show the messages to whoever asked; `replace_original`: the first in place of the message with the button.

        Without `thread_ts` they stand outside of threads, also after a click in one. Raises SlackUnreachableError, also
        where the response_url is used up.
        """
        self._send(response_url, messages, _How("ephemeral", replace_original, thread_ts))

    def post_in_channel(self, response_url: str, messages: Sequence[Message]) -> None:
        """Show the messages to the whole channel, also where the bot is no member. Raises SlackUnreachableError."""
        self._send(response_url, messages, _How("in_channel"))

    def posts_left(self, response_url: str) -> int:
        """How many posts the response_url still takes."""
        with self._lock:
            return RESPONSE_POSTS - self._used.get(response_url, (0, 0.0))[0]

    def _send(self, response_url: str, messages: Sequence[Message], how: _How) -> None:
        left = self.posts_left(response_url)
        if left <= 0:
            raise SlackUnreachableError("used_url")
        if len(messages) > left:
            self._logger.warning("%d messages for a response_url that takes %d more: folded", len(messages), left)
            messages = (*messages[: left - 1], folded(messages[left - 1 :], FOLDED_CHARACTERS))
        for index, message in enumerate(messages):
            self._send_one(response_url, message, replace(how, replace_original=how.replace_original and index == 0))

    def _send_one(self, response_url: str, message: Message, how: _How) -> None:
        code = self._post(response_url, message, how)
        if code and code not in _UNUSABLE and self.posts_left(response_url) > 0:
            self._logger.warning("an answer by response_url goes out as plain text: %s", code)
            code = self._post(response_url, folded((message,), FOLDED_CHARACTERS), how)
        if code:
            raise SlackUnreachableError(code)

    def _post(self, response_url: str, message: Message, how: _How) -> str:
        """Make one post; "" where Slack took it, else its error. Raises SlackBusyError."""
        self._count(response_url)
        try:
            response = self._webhook(response_url).send_dict(
                {
                    "text": message.text,
                    "blocks": list(message.blocks),
                    "unfurl_links": False,
                    "unfurl_media": False,
                    **asdict(how),
                }
            )
        except (SlackRequestError, OSError, HTTPException, ValueError) as error:
            raise SlackBusyError(type(error).__name__) from error
        if response.status_code == HTTPStatus.TOO_MANY_REQUESTS or response.status_code >= 500:
            raise SlackBusyError(f"http_{response.status_code}")
        return _error(response)

    def _webhook(self, response_url: str) -> WebhookClient:
        spare_proxies(response_url)
        return WebhookClient(
            response_url,
            timeout=self._client.timeout,
            ssl=self._client.ssl,
            proxy=self._client.proxy,
            logger=self._logger,
            retry_handlers=list(self._client.retry_handlers),
        )

    def _count(self, response_url: str) -> None:
        with self._lock:
            now = self._clock()
            self._used = {each: used for each, used in self._used.items() if now - used[1] < RESPONSE_SECONDS}
            posts, since = self._used.get(response_url, (0, now))
            self._used[response_url] = (posts + 1, since)


def _error(response: WebhookResponse) -> str:
    """Slack's word for what it refuses: bodies are "ok", {"ok": true}, a bare word, or {"ok": false, "error": word}."""
    body = response.body.strip()
    if body.startswith("{"):
        try:
            said = json.loads(body)
        except ValueError:
            return f"http_{response.status_code}"
        return "" if said.get("ok") else str(said.get("error", f"http_{response.status_code}"))
    if response.status_code == HTTPStatus.OK:
        return ""
    return body if re.fullmatch(r"[a-z0-9_]{1,60}", body) else f"http_{response.status_code}"
