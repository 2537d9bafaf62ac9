"""The bot end to end: the real bolt app over Socket Mode against the fake Slack, in both languages."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scripted_advisor import ScriptedAdvisor, broken, plain_answer
from slack_bot_running import running
from slack_sdk import WebClient

from assistant.evidence import Card, Done, Event
from assistant.slack.incoming import Question, read_event
from assistant.slack.state import Answered, SlackState
from assistant.slack.view import View
from evals import slack_payloads as payloads
from evals.fake_slack import FakeSlack
from evals.fake_slack_state import ALICE, BOB, BOT_USER, DIRECT, GENERAL, Posted
from evals.slack_payloads import Kind, Payload

QUESTIONS = ("A100 多少钱？", "How much is an A100?")


def script(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """What was asked, after what; a very long answer, a fault or an unavailable model where the question says so."""
    if "break" in question:
        yield from broken(question, turns)
    text = f"asked {question} after {len(turns)}" + (
        " **very long：** 一二三四五。\n\n" * 900 if "long" in question else ""
    )
    language = "zh" if any("\u4e00" <= letter <= "\u9fff" for letter in question) else "en"
    answer = plain_answer(question, text, language)
    if "unavailable" in question:
        answer = answer.model_copy(update={"status": "unavailable"})
    yield Card(markdown=text)
    yield Done(answer=answer)


def shown_first_lines(shown: Sequence[str]) -> list[str]:
    return [text.splitlines()[0] for text in shown]


class Place:
    """One bot in one workspace, for all tests of this file; each asks in messages of its own."""

    def __init__(self, slack: FakeSlack, advisor: ScriptedAdvisor) -> None:
        self.slack, self.advisor = slack, advisor

    def asked(self, question: str) -> int:
        return sum(question in asked for asked, _ in self.advisor.asked)

    def answers(self, payload: Payload) -> list[Posted]:
        """What stands below a message; in a plain direct message, what names its text."""
        event = payload["event"]
        below = self.slack.replies(event["channel"], event.get("thread_ts") or event["ts"])
        return below or [reply for reply in self.slack.replies(event["channel"], None) if event["text"] in reply.shown]

    def ask(self, payload: Payload, retries: int = 0, answers: int = 1) -> list[Posted]:
        sent = self.slack.send_event(payload, retries)
        self.slack.wait_until(
            lambda: len(self.answers(payload)) >= answers and all(envelope.acked_at for envelope in sent)
        )
        return self.answers(payload)

    def settled(self) -> None:
        """Every event sent so far has been looked at: one sent after them all is answered."""
        last = payloads.message(f"settled {payloads.new_ts()}", "im")
        self.ask(last)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    advisor = ScriptedAdvisor(script)
    with FakeSlack() as slack, running(slack, tmp_path_factory.mktemp("slack"), advisor):
        yield Place(slack, advisor)
        assert slack.faults == []


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("surface", ["mention", "im", "assistant"])
def test_a_question_on_every_surface_gets_one_answer_though_sent_three_times(
    place: Place, surface: str, question: str
) -> None:
    asked = f"{question} {surface}"
    payload = {
        "mention": lambda: payloads.app_mention(asked),
        "im": lambda: payloads.message(asked, "im"),
        "assistant": lambda: payloads.assistant_message(asked, payloads.new_ts()),
    }[surface]()
    (answer,) = place.ask(payload, retries=2)
    place.settled()
    assert len(place.answers(payload)) == 1
    assert f"asked {asked} after " in answer.shown
    assert place.asked(asked) == 1


def test_mention_and_message_of_one_ts_are_one_question(place: Place) -> None:
    mention, message = payloads.mention_and_message("pair of events")
    place.slack.send_event(message)
    place.ask(mention)
    place.settled()
    assert place.asked("pair of events") == 1
    assert len(place.answers(mention)) == 1


@pytest.mark.parametrize("kind", ["channel", "group", "mpim"])
def test_a_follow_up_in_a_known_thread_needs_no_mention(place: Place, kind: Kind) -> None:
    first = payloads.app_mention(f"first {kind}", channel=payloads.CHANNEL_OF[kind])
    place.ask(first)
    place.ask(payloads.message(f"second {kind}", kind, thread_ts=first["event"]["ts"], user=BOB), answers=2)
    assert f"asked second {kind} after 1" in place.answers(first)[-1].shown


@pytest.mark.parametrize(
    "payload",
    [
        payloads.message("no mention at all"),
        payloads.message("a thread of others", thread_ts=payloads.new_ts()),
        payloads.bot_message("<@U0BOT> said by a bot"),
        payloads.bot_message("said by itself", "im", own=True),
        payloads.old_bot_message("<@U0BOT> said by a hook", "im"),
        payloads.with_subtype(payloads.message("joined", "channel"), "channel_join"),
        payloads.event_body({"type": "message"}),
        payloads.event_body({"type": "message", "channel": None, "user": 5, "ts": [], "text": {}}),
        payloads.event_body({"type": "app_mention", "channel": GENERAL, "user": ALICE, "text": "<@U0BOT> no ts"}),
        {"type": "event_callback", "event": {}},
    ],
)  # fmt: skip
def test_what_is_not_for_the_bot_or_is_malformed_gets_no_answer(place: Place, payload: Payload) -> None:
    before = len(place.advisor.asked)
    place.slack.send_event(payload)
    place.settled()
    assert len(place.advisor.asked) == before + 1  # the one that settles


@pytest.mark.parametrize("payload", [payloads.file_share("shared prices?"), payloads.message("in person?", "im")])
def test_a_message_with_a_file_is_a_question_too(place: Place, payload: Payload) -> None:
    assert len(place.ask(payload)) == 1


def test_an_edited_question_is_answered_anew_in_place(place: Place) -> None:
    first = payloads.app_mention("edit me A100")
    (before,) = place.ask(first)
    place.slack.send_event(payloads.message_changed(first, "<@U0BOT> edit me H100", edited_by=ALICE), retries=2)
    place.slack.wait_until(lambda: "edit me H100" in place.answers(first)[0].shown)
    place.settled()
    (after,) = place.answers(first)
    assert after.ts == before.ts
    assert place.asked("edit me H100") == 1


def test_a_deleted_question_takes_its_answer_along(place: Place) -> None:
    first = payloads.app_mention("delete me")
    place.ask(first)
    place.slack.send_event(payloads.message_deleted(first))
    place.slack.wait_until(lambda: place.answers(first) == [])


@pytest.mark.parametrize("question", ["long 价格表", "long price list"])
def test_an_oversized_answer_is_split_and_nothing_is_lost(place: Place, question: str) -> None:
    payload = payloads.app_mention(question)
    place.ask(payload, answers=2)
    place.settled()
    assert sum(reply.shown.count("very long：") for reply in place.answers(payload)) == 900


@pytest.mark.parametrize("question", ["break 一下", "break it"])
def test_a_fault_of_the_advisor_is_a_plain_sentence(place: Place, question: str) -> None:
    (answer,) = place.ask(payloads.app_mention(question))
    assert "secret-internals" not in answer.shown + str(answer.edits)


@pytest.mark.parametrize("question", ["unavailable 吗", "unavailable?"])
def test_an_answer_without_the_language_model_says_so(place: Place, question: str) -> None:
    (answer,) = place.ask(payloads.app_mention(question))
    assert len(answer.shown) > len(f"asked {question} after 0")


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_command_is_answered_to_whoever_asked(place: Place, question: str) -> None:
    before = len(place.slack.ephemerals)
    envelope = place.slack.send_command(f"{question} command", user=BOB)
    place.slack.wait_until(lambda: envelope.acked_at and len(place.slack.ephemerals) > before)
    assert place.slack.ephemerals[-1].to == BOB
    assert question in place.slack.ephemerals[-1].shown


@pytest.mark.parametrize("help_word", ["help", "帮助"])
def test_help_in_both_languages(place: Place, help_word: str) -> None:
    before = len(place.slack.ephemerals)
    place.slack.send_command(help_word)
    place.slack.wait_until(lambda: len(place.slack.ephemerals) > before)
    assert "/gpu" in place.slack.ephemerals[-1].shown


def test_thumbs_are_shown_and_a_thumb_down_asks_why(place: Place) -> None:
    payload = payloads.app_mention("rate me")
    place.ask(payload)
    place.slack.click(place.answers(payload)[0], "gpu_up", repeats=2)
    place.slack.wait_until(lambda: "✓ 👍" in place.answers(payload)[0].shown)
    place.slack.click(place.answers(payload)[0], "gpu_down")
    place.slack.wait_until(lambda: place.slack.modals and "✓ 👎" in place.answers(payload)[0].shown)
    envelope = place.slack.submit({"reason": "价格过期"})
    place.slack.wait_until(lambda: envelope.acked_at)
    assert len(place.answers(payload)) == 1


def test_the_assistant_container_gets_suggestions(place: Place) -> None:
    started = payloads.thread_started()
    thread_ts = started["event"]["assistant_thread"]["thread_ts"]
    place.slack.send_event(started)
    place.slack.wait_until(lambda: (DIRECT, thread_ts) in place.slack.prompts)
    assert 1 <= len(place.slack.prompts[DIRECT, thread_ts]) <= 4


def test_a_rate_limit_delays_the_answer_and_loses_nothing(place: Place) -> None:
    place.slack.rate_limit("chat.postMessage", retry_after_seconds=0, times=2)
    (answer,) = place.ask(payloads.app_mention("limited"))
    assert "asked limited" in answer.shown


def test_after_a_lost_connection_it_goes_on(place: Place) -> None:
    before = place.slack.socket.connected
    place.slack.disconnect("refresh_requested")
    place.slack.wait_until(lambda: place.slack.socket.connected > before)
    assert len(place.ask(payloads.app_mention("after the refresh"))) == 1


def test_a_restart_answers_nothing_twice_and_keeps_the_conversation(tmp_path: Path) -> None:
    first, answers = payloads.app_mention("before the restart"), []
    for _ in range(2):
        advisor = ScriptedAdvisor(script)
        with FakeSlack() as slack, running(slack, tmp_path / "home", advisor):
            place = Place(slack, advisor)
            slack.send_event(first, retries=1)
            place.settled()
            place.ask(payloads.message("go on", thread_ts=first["event"]["ts"]))
            answers += [reply.shown for reply in place.answers(first)]
    assert sum("asked before the restart" in answer for answer in answers) == 1
    assert ("go on", ("before the restart", "go on")) in advisor.asked


@pytest.mark.parametrize("allowed", [{"users": frozenset({BOB})}, {"channels": frozenset({"C0OTHER"})}])
def test_who_is_not_on_the_list_is_told_so(tmp_path: Path, allowed: dict[str, frozenset[str]]) -> None:
    advisor = ScriptedAdvisor(script)
    with FakeSlack() as slack, running(slack, tmp_path / "home", advisor, **allowed):
        place = Place(slack, advisor)
        (refusal,) = place.ask(payloads.app_mention("我可以问吗？"))
        assert "没有开放" in refusal.shown
        assert advisor.asked == []


def test_questions_of_one_thread_are_answered_in_order(place: Place) -> None:
    root = payloads.app_mention("order 0")
    place.ask(root)
    for number in range(1, 5):
        place.slack.send_event(payloads.message(f"order {number}", thread_ts=root["event"]["ts"]))
    place.slack.wait_until(lambda: len(place.answers(root)) == 5)
    shown = [reply.shown for reply in place.answers(root)]
    assert [f"asked order {number} after {number}" for number in range(5)] == shown_first_lines(shown)


def test_the_ack_does_not_wait_for_the_answer(tmp_path: Path) -> None:
    free = threading.Event()

    def slow(question: str, turns: Sequence[str]) -> Iterator[Event]:
        free.wait(10)
        yield from script(question, turns)

    advisor = ScriptedAdvisor(slow)
    with FakeSlack() as slack, running(slack, tmp_path / "home", advisor):
        (envelope,) = slack.send_event(payload := payloads.app_mention("slow"))
        slack.wait_until(lambda: envelope.acked_at)
        assert Place(slack, advisor).answers(payload) == []
        free.set()
        slack.wait_until(lambda: len(Place(slack, advisor).answers(payload)) == 1)


def test_a_question_that_the_process_died_over_is_answered_after_the_start_and_its_draft_goes(tmp_path: Path) -> None:
    payload = payloads.app_mention("left over")
    home = tmp_path / "home"
    home.mkdir()
    with FakeSlack() as slack:
        channel, ts = payload["event"]["channel"], payload["event"]["ts"]
        client = WebClient(slack.bot_token, base_url=slack.api_url)
        draft = client.chat_postMessage(channel=channel, thread_ts=ts, text="Looking it up …")["ts"]
        state = SlackState(home / "slack.sqlite")
        question = read_event(payload, BOT_USER)
        assert isinstance(question, Question)
        assert state.take(question)
        state.keep(Answered.to(question, 0, (draft,), View(), settled=False))
        state.close()
        for _ in range(2):  # the second start has nothing left to do
            advisor = ScriptedAdvisor(script)
            with running(slack, home, advisor):
                place = Place(slack, advisor)
                slack.wait_until(lambda place=place: any("asked left over" in r.shown for r in place.answers(payload)))
        assert [reply.shown.splitlines()[0] for reply in place.answers(payload)] == ["asked left over after 0"]
        assert advisor.asked == []
