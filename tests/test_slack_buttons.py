"""What a press of a button does, end to end: real price answers in the fake Slack, changed in place, posted, rated."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scripted_advisor import ScriptedAdvisor, plain_answer
from slack_bot_running import running
from test_slack_snapshots import ANSWERS

from assistant.conversations import Conversations
from assistant.evidence import Card, Done, Event
from assistant.slack import bot
from assistant.slack.dialogue import owner_of
from evals import slack_payloads as payloads
from evals.fake_slack import FakeSlack
from evals.fake_slack_state import BOB, GENERAL, TEAM, Posted
from evals.slack_payloads import Payload

ZH, EN = "A100 和 H100 租用价格对比", "Compare rental prices of A100 and H100"


def script(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """A real comparison for what names the A100 and the H100, else what was asked and after how many turns."""
    if "A100" in question and "H100" in question:
        answer = ANSWERS["prices_zh" if "租用" in question else "prices_en"]
    else:
        answer = plain_answer(question, f"asked {question} after {len(turns)}")
    yield Card(markdown=answer.text)
    yield Done(answer=answer)


class Place:
    """One bot in one workspace; each test asks in a message of its own."""

    def __init__(self, slack: FakeSlack, advisor: ScriptedAdvisor, home: Path) -> None:
        self.slack, self.advisor = slack, advisor
        self.conversations = Conversations(home / "conversations.sqlite")

    def answers(self, payload: Payload) -> list[Posted]:
        """The messages of the answer below a question, its chart apart."""
        event = payload["event"]
        return [reply for reply in self.slack.replies(event["channel"], event["ts"]) if not reply.files]

    def charts(self, payload: Payload) -> list[str]:
        """The files that stand in the thread of a question."""
        ts = payload["event"]["ts"]
        return [each.id for each in self.slack.files.values() if each.thread_ts == ts and not each.deleted]

    def ask(self, question: str, *, chart: bool = True) -> Payload:
        payload = payloads.app_mention(question)
        self.slack.send_event(payload)
        self.slack.wait_until(lambda: self.answers(payload) and bool(self.charts(payload)) >= chart)
        return payload

    def click(self, payload: Payload, action: str, says: str, *, user: str = BOB, repeats: int = 0) -> Posted:
        """Press a button of the answer and wait until the message says so; it is the same message, and still one."""
        (before,) = self.answers(payload)
        self.slack.click(before, action, user=user, repeats=repeats)
        self.slack.wait_until(lambda: says in self.answers(payload)[0].shown)
        (after,) = self.answers(payload)
        assert after.ts == before.ts
        return after


def rows_of(message: Posted) -> list[str]:
    """The rows of its table, each as its texts in a row."""
    (table,) = (block for block in message.blocks if block["type"] == "table")
    return [str(row) for row in table["rows"]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    home = tmp_path_factory.mktemp("slack-buttons")
    advisor = ScriptedAdvisor(script)
    with FakeSlack() as slack, running(slack, home, advisor):
        yield Place(slack, advisor, home)
        assert slack.faults == []


@pytest.mark.parametrize(("question", "day", "month"), [(ZH, "✓ 每天", "✓ 每月"), (EN, "✓ Per day", "✓ Per month")])
def test_prices_per_day_and_month_stand_in_the_same_message_with_a_new_chart(
    place: Place, question: str, day: str, month: str
) -> None:
    payload = place.ask(question)
    (hourly,) = place.charts(payload)
    assert "28.64" in place.answers(payload)[0].shown
    assert "687.36" in place.click(payload, "gpu_per:day", day).shown  # 28.64 x 24
    assert "20,907.2" in place.click(payload, "gpu_per:month", month).shown  # 28.64 x 730
    place.slack.wait_until(lambda: place.charts(payload) and hourly not in place.charts(payload))
    place.slack.wait_until(lambda: len(place.charts(payload)) == 1)


@pytest.mark.parametrize(("question", "cheapest"), [(ZH, "✓ 只看最低价"), (EN, "✓ Cheapest only")])
def test_cheapest_only_leaves_rows_out_and_an_impatient_second_click_changes_nothing(
    place: Place, question: str, cheapest: str
) -> None:
    payload = place.ask(question)
    all_rows = rows_of(place.answers(payload)[0])
    kept = rows_of(place.click(payload, "gpu_cheapest", cheapest, repeats=1))
    assert 3 <= len(kept) < len(all_rows)


def test_formulas_are_shown_and_what_was_chosen_before_stays(place: Place) -> None:
    payload = place.ask(ZH)
    place.click(payload, "gpu_cheapest", "✓ 只看最低价")
    assert "算式" not in place.answers(payload)[0].shown.replace("显示算式", "")
    shown = place.click(payload, "gpu_formula", "✓ 显示算式").shown
    assert "算式" in shown.replace("显示算式", "")
    assert "✓ 只看最低价" in shown


def test_what_one_alone_was_told_is_changed_there_and_can_be_posted(place: Place) -> None:
    place.slack.send_command("prices A100 H100")
    place.slack.wait_until(lambda: any("28.64" in message.shown for message in place.slack.ephemerals))
    (told,) = (message for message in place.slack.ephemerals if "28.64" in message.shown)
    place.slack.click(told, "gpu_per:day")
    place.slack.wait_until(lambda: "687.36" in told.shown)
    asked, roots = len(place.advisor.asked), {reply.ts for reply in place.slack.replies(GENERAL, None)}
    place.slack.click(told, "gpu_post")
    place.slack.wait_until(lambda: {reply.ts for reply in place.slack.replies(GENERAL, None)} - roots)
    (root,) = (reply for reply in place.slack.replies(GENERAL, None) if reply.ts not in roots)
    assert "A100" in root.shown
    place.slack.wait_until(lambda: any("687.36" in reply.shown for reply in place.slack.replies(GENERAL, root.ts)))
    assert len(place.advisor.asked) == asked  # what was told is posted, nothing is asked anew
    place.slack.send_event(payloads.message("and in a week?", thread_ts=root.ts))
    place.slack.wait_until(lambda: any("after 1" in reply.shown for reply in place.slack.replies(GENERAL, root.ts)))


def test_where_the_bot_is_no_member_the_answer_stays_with_whoever_asked(place: Place) -> None:
    for text, said in (("prices A100 H100 --public", "/invite"), ("价格 A100 H100 公开", "/invite")):
        before = len(place.slack.ephemerals)
        place.slack.fail("chat.postMessage", error="not_in_channel", times=1)
        place.slack.send_command(text)
        place.slack.wait_until(lambda before=before: len(place.slack.ephemerals) >= before + 2)
        told, answer = place.slack.ephemerals[before : before + 2]
        assert said in told.shown
        assert "28.64" in answer.shown


def test_a_public_command_is_answered_below_its_question(place: Place) -> None:
    before = {reply.ts for reply in place.slack.replies(GENERAL, None)}
    place.slack.send_command("prices A100 H100 --public")
    place.slack.wait_until(lambda: {reply.ts for reply in place.slack.replies(GENERAL, None)} - before)
    (root,) = {reply.ts for reply in place.slack.replies(GENERAL, None)} - before
    place.slack.wait_until(lambda: any("28.64" in reply.shown for reply in place.slack.replies(GENERAL, root)))


def test_an_answer_that_is_gone_says_so_to_whoever_clicked_alone(place: Place) -> None:
    payload = place.ask(ZH)
    (answer,) = place.answers(payload)
    event = payload["event"]
    assert place.conversations.delete(f"{event['channel']}-{event['ts']}", owner_of(TEAM)) == 1
    before = len(place.slack.ephemerals)
    place.slack.click(answer, "gpu_per:day")
    place.slack.wait_until(lambda: len(place.slack.ephemerals) > before)
    assert "不再起作用" in place.slack.ephemerals[-1].shown
    assert place.answers(payload)[0].edits == []


def test_why_an_answer_was_no_good_is_kept(place: Place) -> None:
    payload = place.ask(EN)
    place.click(payload, "gpu_down", "✓ 👎")
    place.slack.wait_until(lambda: place.slack.modals)
    envelope = place.slack.submit({"reason": "the price is old"})
    place.slack.wait_until(lambda: envelope.acked_at)
    event = payload["event"]
    (turn,) = place.conversations.turns(f"{event['channel']}-{event['ts']}", owner_of(TEAM))
    assert (turn.verdict, turn.reason) == ("down", "the price is old")
    place.click(payload, "gpu_down", "👎")
    place.slack.wait_until(lambda: "✓ 👎" not in place.answers(payload)[0].shown)
    (turn,) = place.conversations.turns(f"{event['channel']}-{event['ts']}", owner_of(TEAM))
    assert (turn.verdict, turn.reason) == (None, "")


def test_a_chart_that_cannot_be_uploaded_costs_no_answer(place: Place) -> None:
    place.slack.fail("files.getUploadURLExternal", error="file_upload_size_restricted", times=1)
    payload = place.ask(EN, chart=False)
    assert "28.64" in place.answers(payload)[0].shown


def test_an_edited_question_loses_the_chart_of_the_old_one(place: Place) -> None:
    payload = place.ask(ZH)
    place.slack.send_event(payloads.message_changed(payload, "<@U0BOT> hello"))
    place.slack.wait_until(lambda: "asked hello" in place.answers(payload)[0].shown)
    place.slack.wait_until(lambda: place.charts(payload) == [])


@pytest.mark.parametrize(("text", "said"), [("长" * 2001, "太长"), ("long " * 500, "too long")])
def test_an_edit_that_cannot_be_asked_says_so_in_place(place: Place, text: str, said: str) -> None:
    payload = place.ask(EN)
    place.slack.send_event(payloads.message_changed(payload, f"<@U0BOT> {text}"))
    place.slack.wait_until(lambda: said in place.answers(payload)[0].shown)
    assert len(place.answers(payload)) == 1
    place.slack.wait_until(lambda: place.charts(payload) == [])


def test_a_question_deleted_while_it_is_answered_leaves_nothing(tmp_path: Path) -> None:
    go_on = threading.Event()

    def slow(question: str, turns: Sequence[str]) -> Iterator[Event]:
        yield Card(markdown="the card")
        go_on.wait(20)
        yield from script(question, turns)

    with FakeSlack() as slack, running(slack, tmp_path / "home", ScriptedAdvisor(slow)):
        payload = payloads.app_mention("delete me soon")
        slack.send_event(payload)
        slack.wait_until(slack.replies)  # the draft
        (deletion,) = slack.send_event(payloads.message_deleted(payload))
        slack.wait_until(lambda: deletion.acked_at)
        go_on.set()
        slack.wait_until(lambda: not slack.replies())
        event = payload["event"]
        conversations = Conversations(tmp_path / "home" / "conversations.sqlite")
        slack.wait_until(lambda: conversations.turns(f"{event['channel']}-{event['ts']}", owner_of(TEAM)) == ())


def test_a_channels_settings_outlive_a_restart_and_hold_for_mentions_and_commands(tmp_path: Path) -> None:
    for start in range(2):
        advisor = ScriptedAdvisor(script)
        with FakeSlack() as slack, running(slack, tmp_path / "home", advisor):
            if start == 0:
                slack.send_command("settings currency CNY language zh providers Tencent, Alibaba ephemeral off")
                slack.wait_until(lambda slack=slack: slack.ephemerals)
                assert "CNY" in slack.ephemerals[-1].shown
                continue
            place = Place(slack, advisor, tmp_path / "home")
            payload = place.ask(EN, chart=False)
            (answer,) = place.answers(payload)
            assert "腾讯云" in answer.shown  # the words of the bot are Chinese now, and only two clouds are shown
            assert "Verda" not in answer.shown
            slack.send_command("prices A100 H100")  # for the channel, without a flag
            slack.wait_until(lambda slack=slack: len(slack.replies(GENERAL, None)) == 1)


def test_a_dropped_connection_comes_back_and_is_answered_over_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot, "PING_SECONDS", 0.2)
    advisor = ScriptedAdvisor(script)
    with FakeSlack() as slack, running(slack, tmp_path / "home", advisor):
        place = Place(slack, advisor, tmp_path / "home")
        place.ask("before the drop", chart=False)
        assert slack.drop() == 1
        slack.wait_until(lambda: slack.connected, 30)
        payload = payloads.app_mention("after the drop")
        slack.send_event(payload, retries=2)
        slack.wait_until(lambda: place.answers(payload), 30)
        assert [reply.shown.splitlines()[0] for reply in place.answers(payload)] == ["asked after the drop after 0"]
