"""What Slack sends, read: questions, edits, deletions, and what is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.slack.incoming import Deleted, Edited, Ignored, Question, plain_text, read_event

BOT = "U0BOT"
MENTION = {"type": "app_mention", "user": "U1", "text": "<@U0BOT> H100?", "ts": "1700000001.000100", "channel": "C1"}
MESSAGE = {**MENTION, "type": "message", "channel_type": "channel"}
DIRECT = {**MESSAGE, "text": "H100?", "channel": "D1", "channel_type": "im"}


def body(event: object, **more: object) -> dict[str, Any]:
    return {"type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event, **more}


def read(event: object, **more: object) -> object:
    return read_event(body(event, **more), BOT, "B0BOT")


def question(event: object, **more: object) -> Question:
    found = read(event, **more)
    assert isinstance(found, Question), found
    return found


def changed(message: dict[str, Any], before: str | None = "L40S?", **more: object) -> dict[str, Any]:
    previous = {} if before is None else {"previous_message": {**message, "text": before}}
    return {
        "type": "message", "subtype": "message_changed", "hidden": True, "channel": "C1", "channel_type": "channel",
        "ts": "1700000009.000100", "message": message, **previous, **more,
    }  # fmt: skip


def test_a_mention_is_a_question_in_the_thread_that_it_starts() -> None:
    found = question(MENTION)
    assert found == Question("Ev1", "T1", "C1", "channel", "U1", MENTION["ts"], None, "H100?", True)
    assert (found.root_ts, found.thread, found.reply_thread_ts) == (MENTION["ts"], f"C1-{MENTION['ts']}", MENTION["ts"])


def test_the_message_event_of_a_mention_reads_like_the_mention() -> None:
    assert question(MESSAGE) == question(MENTION)


@pytest.mark.parametrize(
    ("event", "kind", "thread", "reply"),
    [
        (DIRECT, "im", "D1", None),
        ({**DIRECT, "thread_ts": "1700000000.000001"}, "im", "D1-1700000000.000001", "1700000000.000001"),
        ({**MESSAGE, "thread_ts": "1700000000.000001"}, "channel", "C1-1700000000.000001", "1700000000.000001"),
        ({**MESSAGE, "channel_type": "mpim", "channel": "G7"}, "mpim", f"G7-{MESSAGE['ts']}", MESSAGE["ts"]),
        ({**MENTION, "channel": "G7"}, "group", f"G7-{MENTION['ts']}", MENTION["ts"]),
        # A message with replies names itself as its thread, which does not put it into one.
        ({**DIRECT, "thread_ts": DIRECT["ts"]}, "im", "D1", None),
        ({**DIRECT, "channel_type": "app_home"}, "im", "D1", None),
    ],
)
def test_the_conversation_is_that_of_the_thread_or_of_the_direct_messages(
    event: dict[str, Any], kind: str, thread: str, reply: str | None
) -> None:
    found = question(event)
    assert (found.kind, found.thread, found.reply_thread_ts) == (kind, thread, reply)


@pytest.mark.parametrize(
    ("text", "mentioned", "others"),
    [
        ("<@U0BOT> H100?", True, False),
        ("问一下 <@U0BOT|gpu> H100 多少钱", True, False),
        ("and per month?", False, False),
        ("<@U2> what do you think?", False, True),
        ("<!subteam^S1|@ml> 看看", False, True),
        ("<@U2> and <@U0BOT> please", True, False),
        ("<!here> and per month?", False, False),
        ("&lt;@U0BOT&gt; H100?", False, False),  # somebody wrote the characters
        ("<@U0BOTTLE> H100?", False, True),  # another whose id begins alike
    ],
)
def test_who_is_addressed_is_told(text: str, mentioned: bool, others: bool) -> None:
    found = question({**MESSAGE, "text": text})
    assert (found.mentioned, found.addresses_others) == (mentioned, others)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<@U0BOT> prices A100 H100", "prices A100 H100"),
        ("<@U0BOT>，A100 和 H100 哪个便宜？", "A100 和 H100 哪个便宜？"),
        ("<@U0BOT>: A100?", "A100?"),
        ("<@U0BOT> <@U0BOT>", ""),
        ("", ""),
        ("what does <@U0BOT> say of A100?", "what does say of A100?"),
        ("A100 多少钱 <@U0BOT>", "A100 多少钱"),
        ("two lines\n<@U0BOT> A100", "two lines\nA100"),
        ("A100 <@U0BOT>\n  indented", "A100\n  indented"),
        ("<@U2|li> and <@U3> ask", "@li and @U3 ask"),
        ("<#C2|gpu> or <#C3|>", "#gpu or #C3"),
        ("<!here> A100 <!channel>", "A100"),
        ("<!subteam^S1|@ml> A100", "@ml A100"),
        ("<!date^1700000000^{date}|Nov 14> A100", "Nov 14 A100"),
        ("see <https://a.cn/x?a=1&amp;b=2|a.cn/x> and <https://b.cn>", "see a.cn/x and https://b.cn"),
        ("<mailto:a@b.cn|a@b.cn>", "a@b.cn"),
        ("A100 &lt; H100 &amp; B200 &gt; 1", "A100 < H100 & B200 > 1"),
        ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),  # unescaped once
        ("&lt;@U2&gt;", "<@U2>"),
        ("4\u00a0x\u202fA100\u2060", "4 x A100"),
        ("“A100” ‘40GB’ :smile: *bold* ４×Ａ１００", "“A100” ‘40GB’ :smile: *bold* ４×Ａ１００"),
        ("A \ud83d B", "A \ufffd B"),  # half a character cannot be stored
        ("\ud83d\ude00", "😀"),
    ],
)
def test_the_words_are_what_a_reader_of_slack_sees(text: str, plain: str) -> None:
    assert plain_text(text, BOT) == plain


def test_an_unknown_bot_takes_nobodys_mention_out() -> None:
    assert plain_text("<@U0BOT> A100", "") == "@U0BOT A100"


def test_a_long_gap_before_a_mention_costs_no_time() -> None:
    assert plain_text(f"A100{' ' * 40_000}x <@U0BOT>", BOT).startswith("A100 ")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({**MENTION, "bot_id": "B9"}, "a bot's message"),
        ({**MENTION, "bot_id": "B0BOT"}, "the bot's own message"),
        ({**MESSAGE, "user": BOT}, "the bot's own message"),
        ({**MESSAGE, "user": "USLACKBOT"}, "a bot's message"),
        ({**MESSAGE, "subtype": "bot_message", "bot_id": "B9"}, "a bot's message"),
        ({**MESSAGE, "subtype": "bot_message"}, "subtype bot_message"),
        ({**MESSAGE, "bot_profile": {"id": "B9"}}, "a bot's message"),
        ({**MESSAGE, "subtype": "channel_join"}, "subtype channel_join"),
        ({**MESSAGE, "subtype": "message_replied"}, "subtype message_replied"),
        ({**MESSAGE, "hidden": True}, "hidden"),
        ({**MESSAGE, "subtype": "file_share", "text": ""}, "no words"),
        ({**DIRECT, "subtype": "file_share", "text": ""}, "no words"),
        ({**MESSAGE, "text": ""}, "no words"),
        ({"type": "reaction_added", "user": "U1"}, "not a message"),
        (changed(MESSAGE, MESSAGE["text"]), "the text did not change"),
        (changed(MESSAGE, None), "the text did not change"),  # unfolded links come without the message before
        (changed({**MESSAGE, "user": BOT}), "the bot's own message"),
        (changed({**MESSAGE, "bot_id": "B9"}), "a bot's message"),
        (changed({**MESSAGE, "subtype": "channel_topic"}), "subtype channel_topic"),
    ],
)
def test_what_no_person_wrote_is_left_alone(event: dict[str, Any], reason: str) -> None:
    assert read(event) == Ignored(reason)


@pytest.mark.parametrize("subtype", ["file_share", "thread_broadcast"])
def test_a_file_with_words_and_a_reply_shown_in_the_channel_are_questions(subtype: str) -> None:
    assert question({**MESSAGE, "subtype": subtype}).text == "H100?"


def test_a_call_without_words_is_a_question_without_text() -> None:
    assert question({**MENTION, "text": "<@U0BOT>"}).text == ""
    assert question({**DIRECT, "text": None}).text == ""


def test_an_edit_carries_the_new_wording_of_the_old_message() -> None:
    edited = read(changed({**MESSAGE, "edited": {"user": "U1", "ts": "1700000009.000000"}}))
    assert edited == Edited("Ev1", "T1", "C1", "channel", "U1", MESSAGE["ts"], None, "H100?", True)
    assert isinstance(edited, Edited)
    assert edited.as_question() == question(MESSAGE)


def test_an_edit_without_the_message_before_counts_where_it_says_so() -> None:
    assert isinstance(read(changed({**MESSAGE, "edited": {"ts": "1700000009.000000"}}, None)), Edited)


def test_a_mention_that_an_edit_put_in_is_an_edit_not_a_second_question() -> None:
    assert isinstance(read({**MENTION, "edited": {"user": "U1", "ts": "1700000009.000000"}}), Edited)


def test_a_deletion_names_the_message_that_is_gone() -> None:
    gone = {"type": "message", "subtype": "message_deleted", "hidden": True, "channel": "C1", "ts": "1700000009.000100"}
    assert read({**gone, "deleted_ts": MESSAGE["ts"]}) == Deleted("Ev1", "C1", MESSAGE["ts"])
    assert read({**gone, "previous_message": MESSAGE}) == Deleted("Ev1", "C1", MESSAGE["ts"])
    assert isinstance(read(gone), Ignored)


def test_a_deleted_message_whose_thread_lives_on_is_a_deletion() -> None:
    tombstone = {**MESSAGE, "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted."}
    assert read(changed(tombstone)) == Deleted("Ev1", "C1", MESSAGE["ts"])


@pytest.mark.parametrize(
    ("team_id", "event_team", "granted", "team"),
    [
        ("T1", "T2", [{"team_id": "T3"}], "T1"),
        (None, "T2", [{"team_id": "T3"}], "T2"),
        (None, None, [{"team_id": "T3"}], "T3"),
        (None, None, [], None),
    ],
)
def test_the_workspace_is_found_wherever_it_stands(
    team_id: str | None, event_team: str | None, granted: list[dict[str, str]], team: str | None
) -> None:
    found = read({**MESSAGE, "team": event_team}, team_id=team_id, authorizations=granted)
    assert getattr(found, "team", None) == team


@pytest.mark.parametrize("event_id", [None, "", 7, "Ev\n1", "é", "x" * 500])
def test_without_a_usable_event_id_nothing_is_taken(event_id: object) -> None:
    assert isinstance(read(MESSAGE, event_id=event_id), Ignored)


_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["<@U0BOT>", "C1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
_FIELDS = ("type", "subtype", "channel", "channel_type", "user", "text", "ts", "thread_ts", "bot_id", "team",
           "message", "previous_message", "deleted_ts", "hidden", "edited")  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    event=st.sampled_from([MENTION, MESSAGE, DIRECT, changed(MESSAGE), {**MESSAGE, "subtype": "message_deleted"}]),
    wrong=st.dictionaries(st.sampled_from(_FIELDS), _ANYTHING, max_size=3),
    inner=st.dictionaries(st.sampled_from(_FIELDS), _ANYTHING, max_size=2),
    around=st.dictionaries(st.sampled_from(["event_id", "team_id", "event", "authorizations"]), _ANYTHING, max_size=1),
)
def test_whatever_is_wrong_in_a_payload_it_is_read_or_ignored_with_a_reason(
    event: dict[str, Any], wrong: dict[str, Any], inner: dict[str, Any], around: dict[str, Any]
) -> None:
    if "message" in event:
        event = {**event, "message": {**event["message"], **inner}}
    found = read_event({**body({**event, **wrong}), **around}, BOT)
    if isinstance(found, Ignored):
        assert found.reason
    else:  # what is taken can be kept
        assert " ".join(map(str, vars(found).values())).encode("utf-8")
        assert found.channel.isascii()


@settings(max_examples=50, deadline=None)
@given(anything=_ANYTHING)
def test_a_body_that_is_no_payload_is_ignored(anything: Any) -> None:
    assert isinstance(read_event(anything, BOT), Ignored)


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("<>@!#|&;\n \tU0BOTamplt1，"), max_size=40))
def test_plain_text_leaves_no_mention_of_the_bot_and_no_space_around(text: str) -> None:
    plain = plain_text(f"{text}<@U0BOT>", BOT)
    assert plain == plain.strip()
