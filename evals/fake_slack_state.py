"""What the fake Slack keeps: channels, messages with their edits, ephemeral ones, files, modals, calls and faults.

Data only: the methods of the Web API stand in fake_slack_methods.py, the servers in fake_slack_http.py and
fake_slack_socket.py.
"""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["channel", "group", "im", "mpim"]
Streaming = Literal["off", "direct messages", "everywhere"]

TEAM, APP, BOT_USER, BOT = "T0GPU", "A0GPU", "U0BOT", "B0BOT"
ALICE, BOB = "U0ALICE", "U0BOB"
GENERAL, PRIVATE, DIRECT, GROUP_DIRECT, ELSEWHERE = "C0GENERAL", "G0PRIVATE", "D0ALICE", "G0MPIM", "C0ELSEWHERE"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-0-fake-bot", "xapp-1-fake-app", "0123456789abcdef0123456789abcdef"
SCOPES = (
    "app_mentions:read,assistant:write,channels:history,chat:write,commands,files:write,groups:history,im:history,"
    "im:read,im:write,mpim:history,users:read"
)
RESPONSES = 5  # posts that a response_url takes


class SlackError(Exception):
    """Slack's `{"ok": false, "error": ...}`; `error` is its code."""

    def __init__(self, error: str, detail: str = "") -> None:
        super().__init__(error)
        self.error, self.detail = error, detail


@dataclass
class Channel:
    """A conversation; `member`: the bot is in it."""

    id: str
    kind: Kind = "channel"
    member: bool = True
    archived: bool = False


@dataclass
class Posted:
    """A message of the bot as it stands now; `edits`: what stood there before, oldest first."""

    channel: str
    ts: str
    text: str
    blocks: list[dict[str, Any]]
    thread_ts: str | None = None
    user: str = BOT_USER
    to: str = ""  # of an ephemeral message: who sees it
    at: float = 0.0  # time.monotonic() of the post
    edits: list[dict[str, Any]] = field(default_factory=list)
    edited_at: list[float] = field(default_factory=list)
    deleted: bool = False
    streaming: bool = False
    streamed: str = ""
    files: list[str] = field(default_factory=list)

    def change(self, text: str, blocks: list[dict[str, Any]]) -> None:
        """Keep what stands there, and let the new stand there."""
        self.edits.append({"text": self.text, "blocks": self.blocks})
        self.edited_at.append(time.monotonic())
        self.text, self.blocks = text, blocks

    def button(self, action_id: str) -> dict[str, Any]:
        """The button of this message with that action_id; KeyError where it has none."""
        for block in self.blocks:
            for element in block.get("elements", []) if block.get("type") == "actions" else []:
                if element.get("action_id") == action_id:
                    return {**element, "block_id": block.get("block_id", "")}
        raise KeyError(f"no button {action_id!r} in the message {self.ts} of {self.channel}: {self.blocks}")

    @property
    def shown(self) -> str:
        """All text a reader sees, a line a text; blocks before the fallback text."""
        return "\n".join(_texts(self.blocks)) if self.blocks else self.text or self.streamed


def _texts(part: Any) -> list[str]:
    if isinstance(part, dict):
        own = [part["text"]] if isinstance(part.get("text"), str) else []
        return own + [text for value in part.values() for text in _texts(value)]
    return [text for value in part for text in _texts(value)] if isinstance(part, list) else []


@dataclass
class Upload:
    """A file: got a URL, then its bytes, then completed into a channel."""

    id: str
    name: str
    length: int
    alt_text: str = ""
    title: str = ""
    content: bytes | None = None
    channel: str = ""
    thread_ts: str | None = None
    deleted: bool = False


@dataclass
class Modal:
    """A view that a user has open."""

    id: str
    user: str
    view: dict[str, Any]


@dataclass
class ResponseUrl:
    """Where five more messages may go within 30 minutes; `ts`: the message that a click came from."""

    id: str
    channel: str
    user: str
    ts: str = ""
    thread_ts: str | None = None
    left: int = RESPONSES
    expired: bool = False


@dataclass(frozen=True)
class ApiCall:
    """One call that came in: when (time.monotonic()), and the error answered ("": none)."""

    method: str
    arguments: dict[str, Any]
    at: float
    error: str = ""


@dataclass
class Failure:
    """How the next calls of a method fail; `retry_after_seconds`: by HTTP 429 instead of an error."""

    method: str
    error: str
    times: int
    retry_after_seconds: int | None = None


class Workspace:
    """All that is kept. `changed` is its lock, and notified at every change; hold it to read more than one thing."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        kinds: dict[str, Kind] = {GENERAL: "channel", PRIVATE: "group", DIRECT: "im", GROUP_DIRECT: "mpim"}
        self.channels = {name: Channel(name, kind) for name, kind in kinds.items()}
        self.channels[ELSEWHERE] = Channel(ELSEWHERE, member=False)
        self.users = {ALICE: "alice", BOB: "bob", BOT_USER: "gpu-advisor"}
        self.scopes = SCOPES
        self.streaming: Streaming = "direct messages"
        self.delay_seconds = 0.0
        self.trigger_seconds = 3.0  # how long a trigger_id lives
        self.messages: dict[tuple[str, str], Posted] = {}
        self.ephemerals: list[Posted] = []
        self.files: dict[str, Upload] = {}
        self.modals: list[Modal] = []
        self.statuses: list[tuple[str, str, str]] = []  # channel, thread, status ("" takes it away)
        self.titles: dict[tuple[str, str], str] = {}
        self.prompts: dict[tuple[str, str], list[dict[str, str]]] = {}
        self.response_urls: dict[str, ResponseUrl] = {}
        self.triggers: dict[str, tuple[str, float]] = {}  # id: its user, when it was made
        self.tickets: set[str] = set()
        self.calls: list[ApiCall] = []
        self.faults: list[str] = []
        self.failures: list[Failure] = []
        self.numbers = itertools.count(1)
        self.started = int(time.time())

    def new_ts(self) -> str:
        """A message timestamp that no other message has."""
        return f"{self.started}.{next(self.numbers):06d}"

    def new_id(self, letter: str) -> str:
        """An id as Slack's: a letter, then upper case."""
        return f"{letter}0FAKE{next(self.numbers):05d}"

    def new_trigger(self, user: str) -> str:
        """A trigger_id that opens one modal for `user` within `trigger_seconds`."""
        trigger = f"{next(self.numbers)}.{TEAM}.fake"
        self.triggers[trigger] = (user, time.monotonic())
        return trigger

    def next_failure(self, method: str) -> Failure | None:
        """The failure to answer now, counted down; None: there is none."""
        for failure in self.failures:
            if failure.method in (method, "*") and failure.times > 0:
                failure.times -= 1
                return failure
        return None
