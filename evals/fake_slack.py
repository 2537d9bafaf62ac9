"""A local Slack: its Web API and Socket Mode endpoint on loopback ports, with the state of its channels, for tests.

    with FakeSlack() as slack:
        client = WebClient(slack.bot_token, base_url=slack.api_url)
        ...connect with slack.app_token...
        slack.send_event(slack_payloads.app_mention("A100 价格"))
        slack.wait_until(lambda: slack.replies(GENERAL))

Every message is checked against Slack's limits; what is wrong gets Slack's error and stays in `faults`. It renders
nothing, knows no permissions beyond membership, and forgets everything when it closes.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from evals import slack_payloads
from evals.fake_slack_http import FakeWebApi
from evals.fake_slack_methods import as_slack_shows
from evals.fake_slack_socket import Envelope, FakeSocketMode
from evals.fake_slack_state import (
    ALICE,
    APP_TOKEN,
    BOT_TOKEN,
    GENERAL,
    SIGNING_SECRET,
    ApiCall,
    Failure,
    Posted,
    ResponseUrl,
    Streaming,
    Workspace,
)


class FakeSlack(Workspace):
    """The local Slack, started; a context manager, or `close()`. All it keeps are the fields of Workspace."""

    bot_token, app_token, signing_secret = BOT_TOKEN, APP_TOKEN, SIGNING_SECRET

    def __init__(self, streaming: Streaming = "direct messages") -> None:
        super().__init__()
        self.streaming = streaming
        self.socket = FakeSocketMode(self)
        self.web = FakeWebApi(self, self.socket.url)
        self.api_url = f"{self.web.url}/api/"

    def __enter__(self) -> FakeSlack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End both servers; close what is connected to them before, or it tries to connect again."""
        self.socket.close()
        self.web.close()

    # What is kept

    def replies(self, channel: str = GENERAL, thread_ts: str | None = "any") -> list[Posted]:
        """The bot's messages that stand in a channel now, oldest first; of one thread, or (None) of none."""
        with self.changed:
            return [
                message
                for message in self.messages.values()
                if message.channel == channel
                and not message.deleted
                and (thread_ts == "any" or message.thread_ts == thread_ts)
            ]

    def calls_of(self, *methods: str) -> list[ApiCall]:
        """The calls of these methods so far, in order."""
        with self.changed:
            return [call for call in self.calls if call.method in methods]

    @property
    def acks(self) -> dict[str, Envelope]:
        """The acked envelopes by id; `delay_seconds` is what the ack took, `reply` what came with it."""
        with self.changed:
            return {envelope.id: envelope for envelope in self.socket.envelopes if envelope.acked_at is not None}

    @property
    def unacked(self) -> list[Envelope]:
        """Envelopes that nobody has acked."""
        with self.changed:
            return [envelope for envelope in self.socket.envelopes if envelope.acked_at is None]

    @property
    def connected(self) -> int:
        """How many Socket Mode connections there are now."""
        with self.changed:
            return len(self.socket.connections)

    def wait_until(self, predicate: Callable[[], Any], timeout: float = 30.0) -> None:
        """Return as soon as `predicate()` is true; TimeoutError, with what has happened, after `timeout` seconds."""
        until = time.monotonic() + timeout
        with self.changed:
            while not predicate():
                if time.monotonic() > until:
                    raise TimeoutError(self._happened(timeout))
                self.changed.wait(0.02)

    def _happened(self, timeout: float) -> str:
        calls = [f"{call.method} {call.error}".strip() for call in self.calls[-30:]]
        return (
            f"not within {timeout} s; connections {len(self.socket.connections)}, envelopes {len(self.socket.envelopes)}"
            f" ({len(self.unacked)} unacked); last calls: {calls}; faults: {self.faults}"
        )

    # Switches

    def fail(self, method: str, error: str = "internal_error", times: int = 1) -> None:
        """The next `times` calls of `method` ("*": of any; "response_url": posts to one) get this error."""
        with self.changed:
            self.failures.append(Failure(method, error, times))

    def rate_limit(self, method: str, retry_after_seconds: int = 1, times: int = 1) -> None:
        """The next `times` calls of `method` get HTTP 429 with Retry-After."""
        with self.changed:
            self.failures.append(Failure(method, "ratelimited", times, retry_after_seconds))

    def latency(self, seconds: float) -> None:
        """Every call of the Web API takes so long from now on."""
        self.delay_seconds = seconds

    def end_streams(self) -> None:
        """As Slack ends them after some minutes: what is streaming stands as it is, and takes no more."""
        with self.changed:
            for message in self.messages.values():
                if message.streaming:
                    message.streaming, message.text = False, message.streamed

    def drop(self) -> int:
        """Break every Socket Mode connection without a word; how many there were."""
        return self.socket.drop()

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to reconnect ("warning", "refresh_requested", "link_disabled")."""
        self.socket.disconnect(reason)

    # What people do

    def send_event(self, payload: Mapping[str, Any], retries: int = 0) -> list[Envelope]:
        """Deliver an event, and `retries` times more as Slack repeats it: new envelopes, the same event_id."""
        return [
            self.socket.send(Envelope("events_api", dict(payload), number, "timeout" if number else ""))
            for number in range(retries + 1)
        ]

    def send_command(self, text: str, *, command: str = "/gpu", channel: str = GENERAL, user: str = ALICE) -> Envelope:
        """Deliver a slash command; its response_url and trigger_id work."""
        payload = slack_payloads.slash_command(
            text,
            command=command,
            channel=channel,
            user=user,
            response_url=self.response_url(channel, user),
            trigger_id=self.new_trigger(user),
        )
        return self.socket.send(Envelope("slash_commands", payload))

    def click(self, message: Posted, action_id: str, *, user: str = ALICE, repeats: int = 0) -> list[Envelope]:
        """Click a button that stands in `message` now (KeyError: none does), and `repeats` times more, impatiently."""
        with self.changed:
            button = message.button(action_id)
            url = self.response_url(message.channel, user, message.ts, message.thread_ts)
            payload = slack_payloads.block_actions(
                as_slack_shows(message),
                button,
                channel=message.channel,
                user=user,
                response_url=url,
                trigger_id=self.new_trigger(user),
                ephemeral=bool(message.to),
            )
        return [self.socket.send(Envelope("interactive", payload)) for _ in range(repeats + 1)]

    def submit(self, values: Mapping[str, str], *, user: str = "") -> Envelope:
        """Submit the modal opened last; `values` by action_id."""
        with self.changed:
            modal = self.modals[-1]
        payload = slack_payloads.view_submission(modal.view, modal.id, values, user=user or modal.user)
        return self.socket.send(Envelope("interactive", payload))

    def response_url(self, channel: str, user: str, ts: str = "", thread_ts: str | None = None) -> str:
        """A new response_url; `ts`: the message it belongs to."""
        with self.changed:
            url = ResponseUrl(self.new_id("R"), channel, user, ts, thread_ts)
            self.response_urls[url.id] = url
        return f"{self.web.url}/response/{url.id}"


def signed(body: str, signing_secret: str = SIGNING_SECRET, timestamp: int | None = None) -> dict[str, str]:
    """The headers with which Slack signs a request of the HTTP mode; `timestamp` in seconds, default now."""
    seconds = str(int(time.time()) if timestamp is None else timestamp)
    digest = hmac.new(signing_secret.encode(), f"v0:{seconds}:{body}".encode(), hashlib.sha256).hexdigest()
    kind = "application/json" if body.startswith("{") else "application/x-www-form-urlencoded"
    return {"X-Slack-Request-Timestamp": seconds, "X-Slack-Signature": f"v0={digest}", "Content-Type": kind}
