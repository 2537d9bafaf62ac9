"""The Socket Mode side of the fake Slack: hello, envelopes, acks with their delay, disconnects, lost connections.

What an envelope holds is the caller's (slack_payloads.py builds it); the ticket of a connection comes from
apps.connections.open and is good for one.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from evals.fake_slack_state import APP, Workspace

PING_SECONDS = 0.1
EnvelopeType = Literal["events_api", "slash_commands", "interactive"]


@dataclass
class Envelope:
    """One delivery; `sent_at`: time.monotonic() of the first, None while no connection has taken it."""

    type: EnvelopeType
    payload: dict[str, Any]
    retry: int = 0
    retry_reason: str = ""
    id: str = field(default_factory=lambda: str(uuid4()))
    sent_at: float | None = None
    acked_at: float | None = None
    reply: dict[str, Any] | None = None  # what came with the ack

    @property
    def delay_seconds(self) -> float | None:
        """From sent to acked; None while it is not."""
        if self.sent_at is None or self.acked_at is None:
            return None
        return self.acked_at - self.sent_at

    def text(self) -> str:
        """As it goes over the wire."""
        message: dict[str, Any] = {
            "envelope_id": self.id,
            "payload": self.payload,
            "type": self.type,
            "accepts_response_payload": self.type != "events_api",
        }
        if self.type == "events_api":
            message |= {"retry_attempt": self.retry, "retry_reason": self.retry_reason}
        return json.dumps(message)


class FakeSocketMode:
    """The WebSocket server on a free loopback port; `close` ends it and waits for its threads."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.envelopes: list[Envelope] = []
        self.connections: list[ServerConnection] = []
        self.connected = 0  # how often, in all
        # slack_sdk's built-in client closes only between two frames, or after 3 seconds: pings give it frames
        self._server = serve(
            self._connection,
            "127.0.0.1",
            0,
            process_request=self._admit,
            ping_interval=PING_SECONDS,
            ping_timeout=None,
            close_timeout=0.5,
        )
        self.url = f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="fake-slack-socket")
        self._thread.start()

    def close(self) -> None:
        """End the server and every connection."""
        self._server.shutdown()
        self._thread.join()

    def send(self, envelope: Envelope) -> Envelope:
        """Give it to the newest connection; without one it waits for the next."""
        with self.workspace.changed:
            self.envelopes.append(envelope)
            self._deliver(envelope)
        return envelope

    def disconnect(self, reason: str) -> None:
        """Slack's announcement; after "refresh_requested" the connection ends, after "warning" it goes on for a while."""
        with self.workspace.changed:
            old = list(self.connections)
        for connection in old:
            with suppress(ConnectionClosed):
                connection.send(json.dumps({"type": "disconnect", "reason": reason, "debug_info": {"host": "fake"}}))

    def drop(self) -> int:
        """Break every connection without a word; how many there were."""
        with self.workspace.changed:
            old, self.connections = self.connections, []
        for connection in old:
            with suppress(OSError):  # it has ended meanwhile
                connection.socket.shutdown(socket.SHUT_RDWR)
        return len(old)

    def ping(self, payload: str = "Ping from fake") -> bool:
        """Whether the newest connection answers a ping within 5 seconds."""
        with self.workspace.changed:
            newest = self.connections[-1]
        return newest.ping(payload).wait(5)

    def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        ticket = parse_qs(urlsplit(request.path).query).get("ticket", [""])[0]
        with self.workspace.changed:
            if ticket in self.workspace.tickets:
                self.workspace.tickets.discard(ticket)
                return None
        return connection.respond(HTTPStatus.UNAUTHORIZED, "not_authed")

    def _connection(self, connection: ServerConnection) -> None:
        hello = {"type": "hello", "num_connections": 1, "debug_info": {"host": "fake", "build_number": 1}}
        try:
            connection.send(json.dumps(hello | {"connection_info": {"app_id": APP}}))
            with self.workspace.changed:
                self.connections.append(connection)
                self.connected += 1
                self._resend()
                self.workspace.changed.notify_all()
            for message in connection:
                self._acked(json.loads(message))
        except ConnectionClosed:
            pass
        finally:
            with self.workspace.changed:
                if connection in self.connections:
                    self.connections.remove(connection)
                self.workspace.changed.notify_all()

    def _resend(self) -> None:
        """What waited, and events that were never acked once more, as retries."""
        for envelope in list(self.envelopes):
            if envelope.acked_at is not None or (envelope.sent_at is not None and envelope.type != "events_api"):
                continue
            if envelope.sent_at is not None:
                envelope.retry, envelope.retry_reason = envelope.retry + 1, "timeout"
            self._deliver(envelope)

    def _deliver(self, envelope: Envelope) -> None:
        before = envelope.sent_at
        for connection in reversed(self.connections):
            envelope.sent_at = before or time.monotonic()
            try:
                connection.send(envelope.text())
            except ConnectionClosed:
                envelope.sent_at = before
                continue
            return

    def _acked(self, message: dict[str, Any]) -> None:
        with self.workspace.changed:
            for envelope in self.envelopes:
                if envelope.id == message.get("envelope_id") and envelope.acked_at is None:
                    envelope.acked_at, envelope.reply = time.monotonic(), message.get("payload")
            self.workspace.changed.notify_all()
