"""Payloads as Slack sends them, with their full fields: events, slash commands, clicks, submitted modals.

Pure builders; event ids and timestamps are unique in a process. The (deprecated) verification token is left out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from evals.fake_slack_state import (
    ALICE,
    APP,
    BOT,
    BOT_USER,
    DIRECT,
    GENERAL,
    GROUP_DIRECT,
    PRIVATE,
    TEAM,
)

Payload = dict[str, Any]
Kind = Literal["channel", "group", "im", "mpim"]

MENTION = f"<@{BOT_USER}>"
CHANNEL_OF: dict[Kind, str] = {"channel": GENERAL, "group": PRIVATE, "im": DIRECT, "mpim": GROUP_DIRECT}

_numbers = itertools.count(1)
_started = int(time.time()) - 60  # before what the fake posts


def new_ts() -> str:
    """A message timestamp that no other message has."""
    return f"{_started}.{next(_numbers) + 500_000:06d}"


def event_body(event: Mapping[str, Any], event_id: str = "") -> Payload:
    """The outer part around an event."""
    return {
        "team_id": TEAM,
        "context_team_id": TEAM,
        "context_enterprise_id": None,
        "api_app_id": APP,
        "event": dict(event),
        "type": "event_callback",
        "event_id": event_id or f"Ev0FAKE{next(_numbers):06d}",
        "event_time": int(time.time()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
        "event_context": "4-fake-context",
    }


def _written(text: str, user: str, ts: str, thread_ts: str | None) -> Payload:
    """The fields that every message of a person has; its rich text stands in `blocks`, as the composer makes it."""
    elements: list[Payload] = []
    for number, part in enumerate(text.split(MENTION)):
        elements += [{"type": "user", "user_id": BOT_USER}] if number else []
        elements += [{"type": "text", "text": part}] if part else []
    section = {"type": "rich_text_section", "elements": elements}
    message: Payload = {
        "user": user,
        "ts": ts,
        "client_msg_id": f"00000000-0000-4000-8000-{next(_numbers):012d}",
        "text": text,
        "team": TEAM,
        "blocks": [{"type": "rich_text", "block_id": f"b{next(_numbers)}", "elements": [section]}],
    }
    return message | ({"thread_ts": thread_ts, "parent_user_id": user} if thread_ts else {})


def app_mention(
    text: str, *, channel: str = GENERAL, user: str = ALICE, ts: str = "", thread_ts: str | None = None
) -> Payload:
    """A mention of the bot in a channel; the mention is put before the text where it has none."""
    asked = text if MENTION in text else f"{MENTION} {text}"
    ts = ts or new_ts()
    return event_body(
        {"type": "app_mention", **_written(asked, user, ts, thread_ts), "channel": channel, "event_ts": ts}
    )


def message(
    text: str,
    kind: Kind = "channel",
    *,
    channel: str = "",
    user: str = ALICE,
    ts: str = "",
    thread_ts: str | None = None,
) -> Payload:
    """A message of a person, without subtype; in a thread where `thread_ts` is given."""
    ts = ts or new_ts()
    place = {"channel": channel or CHANNEL_OF[kind], "channel_type": kind, "event_ts": ts}
    return event_body({"type": "message", **_written(text, user, ts, thread_ts), **place})


def mention_and_message(text: str, **more: Any) -> tuple[Payload, Payload]:
    """The two events that Slack sends for one mention in a channel the bot is in: two event ids, one ts."""
    mention = app_mention(text, **more)
    event = dict(mention["event"], type="message", channel_type="channel")
    return mention, event_body(event)


def with_subtype(payload: Payload, subtype: str, **fields: Any) -> Payload:
    """The message of `payload` as that subtype: file_share (`files`), thread_broadcast (`root`), me_message ..."""
    return event_body({**payload["event"], "subtype": subtype, **fields})


def file_share(text: str, kind: Kind = "im", **more: Any) -> Payload:
    """A message with a file."""
    file = {
        "id": "F0FILE",
        "name": "prices.csv",
        "mimetype": "text/csv",
        "filetype": "csv",
        "size": 120,
        "mode": "hosted",
    }
    return with_subtype(message(text, kind, **more), "file_share", files=[file], upload=False, display_as_bot=False)


def thread_broadcast(text: str, thread_ts: str, **more: Any) -> Payload:
    """A reply that is also sent to the channel."""
    root = {"type": "message", "user": ALICE, "ts": thread_ts, "text": "the root", "thread_ts": thread_ts}
    return with_subtype(message(text, thread_ts=thread_ts, **more), "thread_broadcast", root=root)


def bot_message(text: str, kind: Kind = "channel", *, own: bool = False, thread_ts: str | None = None) -> Payload:
    """A message of a bot: another app's, or the advisor's own (as Slack echoes it)."""
    ts, bot = new_ts(), BOT if own else "B0OTHER"
    event: Payload = {
        "type": "message",
        "user": BOT_USER if own else "U0OTHERBOT",
        "bot_id": bot,
        "app_id": APP if own else "A0OTHER",
        "bot_profile": {
            "id": bot,
            "deleted": False,
            "name": "bot",
            "app_id": APP if own else "A0OTHER",
            "team_id": TEAM,
        },
        "text": text,
        "ts": ts,
        "team": TEAM,
        "channel": CHANNEL_OF[kind],
        "channel_type": kind,
        "event_ts": ts,
    }
    return event_body(event | ({"thread_ts": thread_ts} if thread_ts else {}))


def old_bot_message(text: str, kind: Kind = "channel") -> Payload:
    """A message of an incoming webhook: subtype bot_message, no user."""
    ts = new_ts()
    event = {
        "type": "message",
        "subtype": "bot_message",
        "bot_id": "B0HOOK",
        "username": "hook",
        "text": text,
        "ts": ts,
    }
    return event_body({**event, "channel": CHANNEL_OF[kind], "channel_type": kind, "event_ts": ts})


def message_changed(before: Payload, text: str, *, edited_by: str = "") -> Payload:
    """The edit of a message; `edited_by` "": Slack changed it itself (an unfurled link), which marks no edit."""
    old, ts = before["event"], new_ts()
    inner = {name: value for name, value in old.items() if name not in ("channel", "channel_type", "event_ts")}
    inner["type"] = "message"
    written = _written(text, old["user"], old["ts"], old.get("thread_ts"))
    new = {**inner, "text": text, "blocks": written["blocks"]}
    new |= {"edited": {"user": edited_by, "ts": ts}} if edited_by else {}
    return event_body(
        {
            "type": "message",
            "subtype": "message_changed",
            "message": new,
            "previous_message": inner,
            "channel": old["channel"],
            "channel_type": old.get("channel_type", "channel"),
            "hidden": True,
            "ts": ts,
            "event_ts": ts,
        }
    )


def message_deleted(before: Payload) -> Payload:
    """The deletion of a message."""
    old, ts = before["event"], new_ts()
    inner = {name: value for name, value in old.items() if name not in ("channel", "channel_type", "event_ts")}
    return event_body(
        {
            "type": "message",
            "subtype": "message_deleted",
            "previous_message": {**inner, "type": "message"},
            "channel": old["channel"],
            "channel_type": old.get("channel_type", "channel"),
            "hidden": True,
            "deleted_ts": old["ts"],
            "ts": ts,
            "event_ts": ts,
        }
    )


def thread_started(*, channel: str = DIRECT, user: str = ALICE, thread_ts: str = "", viewed: str = GENERAL) -> Payload:
    """assistant_thread_started: a user opened the assistant container while looking at `viewed`."""
    ts = thread_ts or new_ts()
    thread = {
        "user_id": user,
        "context": {"channel_id": viewed, "team_id": TEAM, "enterprise_id": None},
        "channel_id": channel,
        "thread_ts": ts,
    }
    return event_body({"type": "assistant_thread_started", "assistant_thread": thread, "event_ts": new_ts()})


def context_changed(thread_ts: str, *, channel: str = DIRECT, user: str = ALICE, viewed: str = PRIVATE) -> Payload:
    """assistant_thread_context_changed."""
    started = thread_started(channel=channel, user=user, thread_ts=thread_ts, viewed=viewed)["event"]
    return event_body({**started, "type": "assistant_thread_context_changed"})


def assistant_message(text: str, thread_ts: str, **more: Any) -> Payload:
    """A message of a user in a thread of the assistant container: a direct message with the thread's context."""
    payload = message(text, "im", thread_ts=thread_ts, **more)
    payload["event"]["assistant_thread"] = {"action_token": "0.fake.action"}
    payload["event"]["parent_user_id"] = BOT_USER
    return payload


def slash_command(
    text: str, *, command: str = "/gpu", channel: str = GENERAL, user: str = ALICE, response_url: str, trigger_id: str
) -> Payload:
    """A slash command: form fields, all strings."""
    return {
        "team_id": TEAM,
        "team_domain": "gpu",
        "channel_id": channel,
        "channel_name": "directmessage" if channel.startswith("D") else channel.lower(),
        "user_id": user,
        "user_name": user.lower(),
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }


def block_actions(
    shown: Mapping[str, Any],
    button: Mapping[str, Any],
    *,
    channel: str,
    user: str,
    response_url: str,
    trigger_id: str,
    ephemeral: bool = False,
) -> Payload:
    """A click on `button` of the message `shown`; Slack sends no message with a click on an ephemeral one."""
    container: Payload = {
        "type": "message",
        "message_ts": shown["ts"],
        "channel_id": channel,
        "is_ephemeral": ephemeral,
    }
    if shown.get("thread_ts"):
        container["thread_ts"] = shown["thread_ts"]
    action = {name: button[name] for name in ("action_id", "block_id", "text", "value", "type") if name in button}
    body: Payload = {
        "type": "block_actions",
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
        "api_app_id": APP,
        "container": container,
        "trigger_id": trigger_id,
        "team": {"id": TEAM, "domain": "gpu"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": channel, "name": "directmessage" if channel.startswith("D") else channel.lower()},
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [{**action, "action_ts": new_ts()}],
    }
    return body if ephemeral else body | {"message": dict(shown)}


def view_submission(view: Mapping[str, Any], view_id: str, values: Mapping[str, str], *, user: str = ALICE) -> Payload:
    """A submitted modal; `values`: what was typed or chosen, by action_id. KeyError where the modal has no such input."""
    inputs = {block["element"]["action_id"]: block for block in view["blocks"] if block["type"] == "input"}
    state: dict[str, Payload] = {}
    for action_id, block in inputs.items():
        element = block["element"]
        state[block.get("block_id", action_id)] = {action_id: _state_of(element, values.get(action_id))}
    for action_id in values:
        if action_id not in inputs:
            raise KeyError(f"the modal has no input {action_id!r}, only {sorted(inputs)}")
    whole = {
        **view,
        "id": view_id,
        "team_id": TEAM,
        "app_id": APP,
        "bot_id": BOT,
        "hash": "1.fake",
        "root_view_id": view_id,
        "previous_view_id": None,
        "state": {"values": state},
    }
    return {
        "type": "view_submission",
        "team": {"id": TEAM, "domain": "gpu"},
        "user": {"id": user, "username": user.lower(), "name": user.lower(), "team_id": TEAM},
        "api_app_id": APP,
        "trigger_id": "1.fake.submission",
        "view": whole,
        "response_urls": [],
        "is_enterprise_install": False,
        "enterprise": None,
    }


def _state_of(element: Mapping[str, Any], value: str | None) -> Payload:
    if element["type"] == "plain_text_input":
        return {"type": element["type"], "value": value}
    chosen: Sequence[Mapping[str, Any]] = [option for option in element["options"] if option["value"] == value]
    if element["type"] == "checkboxes":
        return {"type": element["type"], "selected_options": list(chosen)}
    return {"type": element["type"], "selected_option": chosen[0] if chosen else None}
