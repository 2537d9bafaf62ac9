"""One answer while it comes, against the local fake Slack: drafts, native streams, the final messages, and what goes wrong."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from scripted_advisor import plain_answer

from assistant.conversations import AdviceFailedError
from assistant.evidence import Card, Done, Event, Language, Prose, Working
from assistant.slack import live_reply
from assistant.slack.incoming import Question
from assistant.slack.live_reply import LOOKING, STATUS, LiveReply, title_of
from assistant.slack.posting import Poster, SlackUnreachableError, web_client
from assistant.slack.tokens import SlackTokens
from assistant.slack.view import Message
from evals.fake_slack import FakeSlack
from evals.fake_slack_state import ALICE, DIRECT, GENERAL, TEAM

LOG = logging.getLogger("test-slack-live-reply")
ROOT = "1700000000.000001"
CARD = Card(markdown="A100：28.19 元/小时。")
SENTENCES = tuple(Prose(markdown=f"第 {n} 句说明。") for n in range(1, 6))
DONE = Done(answer=plain_answer("A100", "text"))


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        yield fake
        assert fake.faults == []


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def poster(slack: FakeSlack, clock: Clock) -> Poster:
    client = web_client(SlackTokens(bot=slack.bot_token, api_url=slack.api_url), LOG, clock.sleep)
    return Poster(client, LOG, clock=clock, sleep=clock.sleep)


def in_channel(text: str = "A100 价格") -> Question:
    return Question("Ev1", TEAM, GENERAL, "channel", ALICE, ROOT, None, text, True)


def in_direct(thread_ts: str | None = ROOT, text: str = "A100 价格") -> Question:
    return Question("Ev2", TEAM, DIRECT, "im", ALICE, "1700000000.000002", thread_ts, text, False)


def final(text: str = "最终答案") -> Message:
    return Message(({"type": "section", "text": {"type": "plain_text", "text": text}},), text)


def play(reply: LiveReply, clock: Clock, seconds: float, *events: Event, spread: float = 0.5) -> None:
    """`seconds` pass in tenths; the events come evenly within the first `spread` of them."""
    steps = round(seconds * 10)
    last = max(1, round(steps * spread))
    for number in range(steps):
        for event in events[len(events) * number // last : len(events) * (number + 1) // last]:
            reply.after(event)
        clock.now += 0.1
        reply.tick()


def shown(slack: FakeSlack, channel: str) -> list[str]:
    return [message.shown for message in slack.replies(channel)]


def methods(slack: FakeSlack) -> list[str]:
    return [call.method for call in slack.calls]


def test_an_answer_of_code_is_one_post(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    reply = LiveReply(poster, in_channel(), "zh")
    play(reply, clock, 0.8, CARD, DONE)
    play(reply, clock, 2.0)  # rendering the final messages may take its time
    (ts,) = reply.finish((final(),))
    assert methods(slack) == ["chat.postMessage"]
    assert [(each.ts, each.thread_ts) for each in slack.replies()] == [(ts, ROOT)]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_slow_answer_says_that_it_is_looked_up_and_then_shows_what_came(
    slack: FakeSlack, poster: Poster, clock: Clock, language: Language
) -> None:
    reply = LiveReply(poster, in_channel(), language)
    play(reply, clock, 0.9)
    assert methods(slack) == []
    play(reply, clock, 0.2)
    assert shown(slack, GENERAL) == [LOOKING[language]]
    play(reply, clock, 3.0, CARD)
    assert "28.19" in shown(slack, GENERAL)[0]
    draft = slack.replies()[0].ts
    assert reply.finish((final("1"), final("2")))[0] == draft
    assert shown(slack, GENERAL) == ["1", "2"]


def test_a_working_line_is_shown(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    reply = LiveReply(poster, in_channel(), "en")
    play(reply, clock, 1.5, CARD, Working(message="Writing the explanation …"))
    assert "Writing the explanation …" in shown(slack, GENERAL)[0]


def test_edits_keep_apart_and_nothing_new_is_no_edit(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    reply = LiveReply(poster, in_channel(), "zh")
    play(reply, clock, 1.1, CARD)
    play(reply, clock, 6.0, *SENTENCES * 6, spread=1.0)
    edits = len(slack.calls_of("chat.update"))
    assert 4 <= edits <= 5  # 6 seconds, 1.2 apart
    play(reply, clock, 2.0)
    after = len(slack.calls_of("chat.update"))
    play(reply, clock, 10.0)
    assert len(slack.calls_of("chat.update")) == after <= edits + 1
    assert shown(slack, GENERAL)[0].count("第 5 句说明") == 6


@pytest.mark.parametrize(
    ("is_direct", "method", "most_a_minute"), [(False, "chat.update", 50), (True, "chat.appendStream", 100)]
)
def test_several_replies_at_once_keep_to_the_rate_of_the_workspace_and_all_move(
    slack: FakeSlack, poster: Poster, clock: Clock, is_direct: bool, method: str, most_a_minute: int
) -> None:
    replies = [LiveReply(poster, in_direct() if is_direct else in_channel(), "zh") for _ in range(6)]
    clock.now += 1.0
    for number in range(300):
        for reply in replies:
            reply.after(Prose(markdown=f"{number} "))
            reply.tick()
        replies.append(replies.pop(0))  # as threads take turns
        clock.now += 0.2
    calls = slack.calls_of(method)
    assert most_a_minute * 0.7 < len(calls) < most_a_minute
    changes = Counter(call.arguments["ts"] for call in calls)
    assert len(changes) == 6
    assert min(changes.values()) >= 2


def test_an_edit_over_the_rate_is_left_out_and_the_next_carries_more(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    reply = LiveReply(poster, in_channel(), "zh")
    play(reply, clock, 1.1, CARD)
    slack.rate_limit("chat.update", 5)
    play(reply, clock, 4.0, *SENTENCES)
    assert len(slack.calls_of("chat.update")) == 1
    play(reply, clock, 3.0)
    assert "第 5 句说明" in shown(slack, GENERAL)[0]


def test_the_final_messages_obey_a_rate_limit(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    reply = LiveReply(poster, in_channel(), "zh")
    play(reply, clock, 1.1, CARD)
    slack.rate_limit("chat.update", 5, times=2)
    before = clock.now
    reply.finish((final(),))
    assert clock.now - before == pytest.approx(10)
    assert shown(slack, GENERAL) == ["最终答案"]


@pytest.mark.parametrize("is_limited", [True, False])
def test_a_draft_that_may_stand_there_is_not_posted_again(
    slack: FakeSlack, poster: Poster, clock: Clock, is_limited: bool
) -> None:
    if is_limited:
        slack.rate_limit("chat.postMessage", 2)
    else:
        slack.fail("chat.postMessage", "internal_error")
    reply = LiveReply(poster, in_channel(), "zh")
    play(reply, clock, 6.0, CARD)
    assert len(slack.calls_of("chat.postMessage")) == (2 if is_limited else 1)
    reply.finish((final(),))
    assert shown(slack, GENERAL) == ["最终答案"]


def test_a_lost_channel_is_told_by_the_final_messages_alone(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    slack.channels[GENERAL].archived = True
    reply = LiveReply(poster, in_channel(), "zh")
    play(reply, clock, 5.0, CARD, *SENTENCES)
    assert len(slack.calls) == 1
    with pytest.raises(SlackUnreachableError, match="is_archived"):
        reply.finish((final(),))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_assistant_thread_has_status_title_and_a_native_stream(
    slack: FakeSlack, poster: Poster, clock: Clock, language: Language
) -> None:
    reply = LiveReply(poster, in_direct(text="很长的问题 " * 20), language, titled=True)
    reply.begin()
    assert slack.statuses == [(DIRECT, ROOT, STATUS[language])]
    assert 0 < len(slack.titles[DIRECT, ROOT]) <= 60
    play(reply, clock, 3.0)
    assert slack.replies(DIRECT) == []  # the status says it all
    play(reply, clock, 1.0, CARD)
    play(reply, clock, 4.0, Prose(markdown="\n\n"), *SENTENCES)
    (message,) = slack.replies(DIRECT)
    assert message.streaming
    assert message.streamed == CARD.markdown + "\n\n" + "".join(each.markdown for each in SENTENCES)
    assert reply.finish((final(),)) == (message.ts,)
    assert (message.streaming, message.shown) == (False, "最终答案")
    assert slack.statuses[-1] == (DIRECT, ROOT, "")
    assert not slack.calls_of("chat.postMessage")


def test_later_questions_of_a_thread_leave_its_title(slack: FakeSlack, poster: Poster) -> None:
    LiveReply(poster, in_direct(), "zh").begin()
    assert slack.titles == {}


def test_a_title_is_one_short_line() -> None:
    assert title_of("A100\n 价格") == "A100 价格"
    assert len(title_of("字" * 61)) == 60


def test_where_there_is_no_streaming_edits_come_instead_and_it_is_not_tried_for_hours(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    slack.streaming = "off"
    for _ in range(2):
        reply = LiveReply(poster, in_direct(), "zh")
        reply.begin()
        play(reply, clock, 1.5, CARD)
        play(reply, clock, 3.0, *SENTENCES)
        assert "第 5 句说明" in shown(slack, DIRECT)[-1]
        reply.finish((final(),))
    assert len(slack.calls_of("chat.startStream")) == 1
    slack.streaming = "direct messages"
    clock.now += 7 * 3600
    reply = LiveReply(poster, in_direct(), "zh")
    reply.begin()
    play(reply, clock, 1.5, CARD)
    assert slack.replies(DIRECT)[-1].streaming


def test_a_stream_that_slack_ends_goes_on_by_edits_of_the_same_message(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    reply = LiveReply(poster, in_direct(), "zh")
    reply.begin()
    play(reply, clock, 1.5, CARD)
    slack.end_streams()
    play(reply, clock, 6.0, *SENTENCES)
    (message,) = slack.replies(DIRECT)
    assert CARD.markdown in message.shown
    assert "第 5 句说明" in message.shown
    slack.end_streams()
    assert reply.finish((final(),)) == (message.ts,)
    assert shown(slack, DIRECT) == ["最终答案"]


def test_the_sentence_that_an_ended_stream_refused_is_shown_without_waiting_for_another(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    reply = LiveReply(poster, in_direct(), "zh")
    reply.begin()
    play(reply, clock, 1.5, CARD)
    slack.end_streams()
    play(reply, clock, 4.0, SENTENCES[0])
    assert "第 1 句说明" in slack.replies(DIRECT)[0].shown


def test_a_stream_that_slack_ends_just_before_the_end_is_updated_all_the_same(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    reply = LiveReply(poster, in_direct(), "zh")
    play(reply, clock, 1.5, CARD)
    slack.end_streams()
    reply.finish((final(),))
    assert shown(slack, DIRECT) == ["最终答案"]


def test_a_stream_over_the_rate_loses_no_sentence_and_doubles_none(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    reply = LiveReply(poster, in_direct(), "zh")
    reply.begin()
    play(reply, clock, 1.5, CARD)
    slack.rate_limit("chat.appendStream", 2, times=2)
    play(reply, clock, 12.0, *SENTENCES)
    assert slack.replies(DIRECT)[0].streamed == CARD.markdown + "".join(each.markdown for each in SENTENCES)


def test_a_stream_that_does_not_stop_gives_way_to_a_new_message(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    reply = LiveReply(poster, in_direct(), "zh")
    play(reply, clock, 1.5, CARD)
    slack.fail("chat.stopStream", "internal_error")  # the update then meets streaming_state_conflict
    reply.finish((final(),))
    assert shown(slack, DIRECT) == ["最终答案"]


def test_answers_in_channels_are_not_streamed_since_others_would_not_see_them_grow(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    slack.streaming = "everywhere"
    reply = LiveReply(poster, in_channel(), "zh", titled=True)
    reply.begin()
    play(reply, clock, 3.0, CARD)
    assert set(methods(slack)) <= {"chat.postMessage", "chat.update"}


def test_a_plain_direct_message_is_answered_beside_it(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    reply = LiveReply(poster, in_direct(thread_ts=None), "zh", titled=True)
    reply.begin()
    play(reply, clock, 3.0, CARD)
    reply.finish((final(),))
    assert [(each.thread_ts, each.shown) for each in slack.replies(DIRECT)] == [(None, "最终答案")]
    assert set(methods(slack)) == {"chat.postMessage", "chat.update"}


@pytest.mark.parametrize("seconds", [0.5, 3.0])
@pytest.mark.parametrize("question", [in_channel(), in_direct()], ids=["channel", "direct"])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_failure_is_said_in_place_of_the_draft(
    slack: FakeSlack, poster: Poster, clock: Clock, seconds: float, question: Question, language: Language
) -> None:
    reply = LiveReply(poster, question, language)
    reply.begin()
    play(reply, clock, seconds, CARD)
    sentence = AdviceFailedError.sentence[language]
    assert len(reply.fail(sentence)) == 1
    assert shown(slack, question.channel) == [sentence]
    assert question.kind != "im" or slack.statuses[-1] == (DIRECT, ROOT, "")


@pytest.mark.parametrize("seconds", [0.5, 3.0])
@pytest.mark.parametrize("is_finished", [False, True])
@pytest.mark.parametrize("question", [in_channel(), in_direct()], ids=["channel", "direct"])
def test_a_withdrawn_question_leaves_nothing(
    slack: FakeSlack, poster: Poster, clock: Clock, seconds: float, is_finished: bool, question: Question
) -> None:
    reply = LiveReply(poster, question, "zh")
    reply.begin()
    play(reply, clock, seconds, CARD)
    if is_finished:
        reply.finish((final("1"), final("2")))
    reply.cancel()
    play(reply, clock, 5.0, *SENTENCES)
    assert reply.finish((final(),)) == reply.fail("x") == reply.posted == ()
    assert slack.replies(question.channel) == []


def test_a_cancel_that_comes_while_a_draft_is_being_posted_takes_it_away(
    slack: FakeSlack, poster: Poster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, posting, go_on = LiveReply(poster, in_channel(), "zh"), threading.Event(), threading.Event()
    post_draft = poster.post_draft

    def slow_post(channel: str, thread_ts: str | None, message: Message) -> str:
        posting.set()
        go_on.wait(10)
        return post_draft(channel, thread_ts, message)

    monkeypatch.setattr(poster, "post_draft", slow_post)
    clock.now += 2
    drafting, cancelling = threading.Thread(target=reply.tick), threading.Thread(target=reply.cancel)
    drafting.start()
    posting.wait(10)
    cancelling.start()
    go_on.set()
    drafting.join(10)
    cancelling.join(10)
    assert len(slack.calls_of("chat.postMessage")) == 1
    assert slack.replies() == []


def test_the_reply_shows_drafts_by_itself_while_the_advisor_is_silent(
    slack: FakeSlack, poster: Poster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def card_is_shown() -> bool:
        clock.now += 0.5
        return "28.19" in shown(slack, GENERAL)[0]

    monkeypatch.setattr(live_reply, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(live_reply, "TICK_SECONDS", 0.01)
    with LiveReply(poster, in_channel(), "zh") as reply:
        slack.wait_until(lambda: slack.replies())
        reply.after(CARD)
        slack.wait_until(card_is_shown)
        reply.finish((final(),))
        clock.now += 5
        reply.after(SENTENCES[0])
    assert shown(slack, GENERAL) == ["最终答案"]


def test_an_error_that_nobody_expected_never_leaves_a_draft_standing(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    def break_down(reply: LiveReply) -> None:
        with reply:
            play(reply, clock, 3.0, CARD)
            raise ZeroDivisionError("internals")

    with pytest.raises(ZeroDivisionError):
        break_down(LiveReply(poster, in_channel(), "en"))
    assert shown(slack, GENERAL) == [AdviceFailedError.sentence.en]


def test_a_status_never_comes_after_the_answer(slack: FakeSlack, poster: Poster) -> None:
    reply = LiveReply(poster, in_direct(), "zh", titled=True)
    reply.finish((final(),))
    reply.begin()  # by the thread of the reply, which came late
    assert slack.statuses == []
    assert slack.titles == {(DIRECT, ROOT): "A100 价格"}
