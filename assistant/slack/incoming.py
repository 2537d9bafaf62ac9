"""What came from Slack: an event's payload read into a question, an edit, a deletion, or a reason to leave it alone.

Pure functions. Nothing is looked up, remembered or answered here, and whether a question that does not mention the bot
is meant for it (a follow-up in a thread it knows) is for the caller to decide.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

Kind = Literal["channel", "group", "im", "mpim"]

SLACKBOT = "USLACKBOT"
# Messages that people write; every other subtype is Slack's own notice (joins, topics, pins) or a bot's message.
_WRITTEN = (None, "file_share", "thread_broadcast")

_EVENT_ID = re.compile(r"[!-~]{1,200}")
_ID = re.compile(r"[A-Z][A-Z0-9]{1,63}")
_TS = re.compile(r"[0-9]{1,20}\.[0-9]{1,20}")

_ANGLED = re.compile(r"<([^<>\n]+)>")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}
_PERSON = re.compile(r"<@([A-Z0-9]+)(?:\|[^<>\n]*)?>")
_CALLING = (",", "，", ":", "：", "、")  # what may part a name that is called from what is said
_GROUP = re.compile(r"<!subteam\^")
# Spaces that never break count as spaces; marks without width, which clients put around a mention, as nothing.
_SPACES = str.maketrans({**dict.fromkeys("\u00a0\u202f\u2007", " "), **dict.fromkeys("\u200b\u2060\ufeff\u2068\u2069")})


@dataclass(frozen=True)
class Spoken:
    """What somebody wrote: `ts` names the message within its channel, `thread_ts` the message whose thread it is in.

    `mentioned`: the bot is called by name. `addresses_others`: other people or groups are, and the bot is not.
    """

    event_id: str
    team: str
    channel: str
    kind: Kind
    user: str
    ts: str
    thread_ts: str | None
    text: str
    mentioned: bool
    addresses_others: bool = False

    @property
    def root_ts(self) -> str:
        """The message that the thread hangs from, or would."""
        return self.thread_ts or self.ts

    @property
    def thread(self) -> str:
        """The id of the conversation: a direct message outside a thread belongs to the one of its channel."""
        return self.channel if self.reply_thread_ts is None else f"{self.channel}-{self.root_ts}"

    @property
    def reply_thread_ts(self) -> str | None:
        """Where an answer goes: into the thread, except that a plain direct message is answered beside it (None)."""
        return None if self.kind == "im" and self.thread_ts is None else self.root_ts


@dataclass(frozen=True)
class Question(Spoken):
    """A new message that may be meant for the bot; `text` is "" where it only calls the bot."""


@dataclass(frozen=True)
class Edited(Spoken):
    """The new wording of the message `ts`."""

    def as_question(self) -> Question:
        """The message as if it had been written so at first, under the event id of the edit."""
        return Question(**vars(self))


@dataclass(frozen=True)
class Deleted:
    """The message `ts` was deleted (whoever's it was: the bot's own too)."""

    event_id: str
    channel: str
    ts: str


@dataclass(frozen=True)
class Ignored:
    """Nothing to do, for a reason that may go to the log: it quotes nothing that anybody wrote."""

    reason: str


Event = Question | Edited | Deleted | Ignored


def read_event(body: Mapping[str, Any], bot_user_id: str, bot_id: str = "") -> Event:
    """What the body of an Events API callback (HTTP or Socket Mode) asks for; never raises, whatever is in it.

    Takes `app_mention` and `message` events of every kind of conversation. A message that mentions the bot comes as
    both, under two event ids and one ts. An edit that leaves or puts the mention in comes as both, too.
    """
    if not isinstance(body, Mapping):
        return Ignored("malformed: the body is not an object")
    event, event_id = body.get("event"), body.get("event_id")
    if not isinstance(event, Mapping) or event.get("type") not in ("app_mention", "message"):
        return Ignored("not a message")
    if not _matches(_EVENT_ID, event_id) or not _matches(_ID, event.get("channel")):
        return Ignored("malformed: no event_id or no channel")
    subtype = event.get("subtype")
    if subtype == "message_deleted":
        return _deletion(event, cast(str, event_id))
    if subtype == "message_changed":
        return _edit(body, event, bot_user_id, bot_id)
    if event.get("hidden"):
        return Ignored("hidden")
    form = Edited if event["type"] == "app_mention" and event.get("edited") else Question
    return _spoken(form, body, event, event, bot_user_id, bot_id)


def plain_text(text: str, bot_user_id: str) -> str:
    """The words of a message's `text` without Slack's markup for mentions and links, and without the bot's mention.

    Others' mentions stay as @name or @ID and channels as #name; calls of everybody (<!here>) are dropped. What marks
    bold, code and emoji stays: it cannot be told from a writer's own signs (2*8*H100).
    """
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").translate(_SPACES)
    if bot_user_id:
        text = _without_mention(text, bot_user_id)
    text = _ANGLED.sub(_shown, text)
    return _ENTITY.sub(lambda match: _ENTITIES[match[1]], text).strip()


def _deletion(event: Mapping[str, Any], event_id: str) -> Deleted | Ignored:
    previous = event.get("previous_message")
    for ts in (event.get("deleted_ts"), previous.get("ts") if isinstance(previous, Mapping) else None):
        if _matches(_TS, ts):
            return Deleted(event_id, event["channel"], cast(str, ts))
    return Ignored("malformed: a deletion that names no message")


def _edit(body: Mapping[str, Any], event: Mapping[str, Any], bot_user_id: str, bot_id: str) -> Event:
    message, previous = event.get("message"), event.get("previous_message")
    if not isinstance(message, Mapping):
        return Ignored("malformed: an edit without its message")
    if message.get("subtype") == "tombstone":  # a deleted message whose thread lives on
        return _deletion({"channel": event["channel"], "deleted_ts": message.get("ts")}, body["event_id"])
    if isinstance(previous, Mapping):
        unchanged = previous.get("text") == message.get("text")
    else:
        unchanged = "edited" not in message
    if unchanged:  # a link was unfolded, the message was pinned, its thread grew, …
        return Ignored("the text did not change")
    return _spoken(Edited, body, event, message, bot_user_id, bot_id)


def _spoken(
    form: type[Question] | type[Edited],
    body: Mapping[str, Any],
    event: Mapping[str, Any],
    message: Mapping[str, Any],
    bot_user_id: str,
    bot_id: str,
) -> Event:
    """The message, which is the event itself or stands within it, unless nobody is to be answered."""
    team = _team(body, event)
    text = "" if message.get("text") is None else message["text"]
    reason = _not_written(message, bot_user_id, bot_id) or _malformed(message, text, team)
    if reason:
        return Ignored(reason)
    named = set(_PERSON.findall(text))
    mentioned = event["type"] == "app_mention" or bot_user_id in named
    if not mentioned and not text.strip() and (message.get("subtype") or not _is_direct(event)):
        return Ignored("no words")
    thread_ts = message.get("thread_ts")
    return form(
        event_id=body["event_id"],
        team=cast(str, team),
        channel=event["channel"],
        kind=_kind(event),
        user=message["user"],
        ts=message["ts"],
        # A message that has replies names itself; it is no reply.
        thread_ts=thread_ts if _matches(_TS, thread_ts) and thread_ts != message["ts"] else None,
        text=plain_text(text, bot_user_id),
        mentioned=mentioned,
        addresses_others=not mentioned and bool(named or _GROUP.search(text)),
    )


def _not_written(message: Mapping[str, Any], bot_user_id: str, bot_id: str) -> str | None:
    """Why a message was not written by a person, or None."""
    user = message.get("user")
    if (user and user == bot_user_id) or (bot_id and message.get("bot_id") == bot_id):
        return "the bot's own message"
    if message.get("bot_id") or message.get("bot_profile") or user == SLACKBOT:
        return "a bot's message"
    subtype = message.get("subtype")
    if subtype in _WRITTEN:
        return None
    return f"subtype {subtype}" if _matches(re.compile("[a-z_]{1,60}"), subtype) else "malformed: subtype"


def _malformed(message: Mapping[str, Any], text: object, team: str | None) -> str | None:
    if not _matches(_ID, message.get("user")):
        return "malformed: no user"
    if not _matches(_TS, message.get("ts")):
        return "malformed: no ts"
    if not isinstance(text, str):
        return "malformed: the text is no text"
    return None if team else "malformed: no team"


def _team(body: Mapping[str, Any], event: Mapping[str, Any]) -> str | None:
    """The workspace; events of shared channels (Slack Connect) and of whole organisations may leave some of it out."""
    granted = body.get("authorizations")
    first = granted[0] if isinstance(granted, list) and granted else None
    given = first if isinstance(first, Mapping) else {}
    candidates = (body.get("team_id"), event.get("team"), given.get("team_id"), body.get("enterprise_id"))
    return next((cast(str, team) for team in candidates if _matches(_ID, team)), None)


def _kind(event: Mapping[str, Any]) -> Kind:
    """The kind of conversation; an app_mention does not say it, but the channel's id begins accordingly."""
    stated, letter = event.get("channel_type"), event["channel"][0]
    for kind in get_args(Kind):
        if kind == stated:
            return cast(Kind, kind)
    kinds: dict[str, Kind] = {"D": "im", "G": "group"}
    return kinds.get(letter, "channel")


def _is_direct(event: Mapping[str, Any]) -> bool:
    return _kind(event) == "im"


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _without_mention(text: str, bot_user_id: str) -> str:
    """`text` without the bot's mention; one space stays where it stood between words, none at an end of a line."""
    kept, *rest = re.split(rf"<@{re.escape(bot_user_id)}(?:\|[^<>\n]*)?>", text)
    for after in rest:
        before, after = kept.rstrip(" \t"), after.lstrip(" \t")
        if not before.strip() and after[:1] in _CALLING:
            after = after[1:].lstrip(" \t")
        between = not before or before.endswith("\n") or not after or after.startswith("\n")
        kept = f"{before}{'' if between else ' '}{after}"
    return kept


def _shown(match: re.Match[str]) -> str:
    """What a reader of Slack sees of one <…>."""
    target, _, label = match[1].partition("|")
    if target.startswith("!"):
        return "" if target in ("!here", "!channel", "!everyone") else label
    if target.startswith(("@", "#")):
        return target[0] + (label.lstrip(target[0]) or target[1:])
    return label or target
