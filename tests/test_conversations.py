"""Threads on disk, and one question asked within a thread."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scripted_advisor import ScriptedAdvisor, broken, plain_answer, silent

from assistant.conversations import (
    AdviceFailedError,
    Conversations,
    ConversationsVersionError,
    UnknownTurnError,
    converse,
)
from assistant.evidence import Card, Done, Event


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path / "state" / "conversations.sqlite")


def test_a_turn_survives_reopening_with_its_whole_answer(store: Conversations) -> None:
    answer = plain_answer("四张 A100 多少钱？", "**8,118.72 元** [1]", "zh")
    store.append("t1", answer.question, answer)
    (turn,) = Conversations(store.path).turns("t1")
    assert (turn.question, turn.answer) == (answer.question, answer)


def test_the_last_questions_come_oldest_first_and_only_of_their_thread(store: Conversations) -> None:
    for number in range(5):
        store.append("a", f"a{number}", None)
        store.append("b", f"b{number}", None)
    assert store.questions("a", limit=3) == ("a2", "a3", "a4")
    assert store.questions("never used") == ()


def test_a_thread_name_is_data_and_never_sql(store: Conversations) -> None:
    store.append("kept", "q", None)
    name = "x'; DROP TABLE turns; --"
    store.append(name, "odd", None)
    assert (store.questions(name), store.questions("kept")) == (("odd",), ("q",))


def test_writers_side_by_side_lose_no_turn(store: Conversations) -> None:
    def write(thread: str) -> None:
        for number in range(20):
            store.append(thread, str(number), None)

    writers = [threading.Thread(target=write, args=(f"t{index}",)) for index in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [len(store.turns(f"t{index}")) for index in range(6)] == [20] * 6


def test_the_file_is_in_wal_mode(store: Conversations) -> None:
    database = sqlite3.connect(store.path)
    assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    database.close()


def test_a_file_of_a_newer_version_is_refused_and_left_alone(store: Conversations) -> None:
    database = sqlite3.connect(store.path)
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ConversationsVersionError, match="99"):
        Conversations(store.path)
    database = sqlite3.connect(store.path)
    assert database.execute("PRAGMA user_version").fetchone() == (99,)
    database.close()


def test_a_follow_up_reaches_the_advisor_with_the_earlier_questions(store: Conversations) -> None:
    advisor = ScriptedAdvisor()
    for question in ("first", "second"):
        list(converse(advisor, question, store=store, thread="t"))
    list(converse(advisor, "elsewhere", store=store, thread="other"))
    list(converse(advisor, "no thread", ["given"], store=store))
    assert advisor.asked == [
        ("first", ()),
        ("second", ("first",)),
        ("elsewhere", ()),
        ("no thread", ("given",)),
    ]


def test_events_pass_through_unchanged_and_the_answer_is_kept(store: Conversations) -> None:
    events = list(converse(ScriptedAdvisor(), "q", store=store, thread="t"))
    done = events[-1]
    assert [event.kind for event in events] == ["card", "done"]
    assert isinstance(done, Done)
    assert store.turns("t")[0].answer == done.answer


def test_stopping_half_way_closes_the_advisor_and_keeps_the_question(store: Conversations) -> None:
    closed: list[bool] = []

    def endless(question: str, turns: Sequence[str]) -> Iterator[Event]:
        try:
            while True:
                yield Card(markdown="more")
        finally:
            closed.append(True)

    events = converse(ScriptedAdvisor(endless), "q", store=store, thread="t")
    next(events)
    assert isinstance(events, Iterator)
    events.close()  # type: ignore[attr-defined]
    assert closed == [True]
    assert [(turn.question, turn.answer) for turn in store.turns("t")] == [("q", None)]


def test_a_fault_is_logged_whole_and_told_without_internals(
    store: Conversations, caplog: pytest.LogCaptureFixture
) -> None:
    events = converse(ScriptedAdvisor(broken), "q", store=store, thread="t")
    assert next(events).kind == "card"
    with pytest.raises(AdviceFailedError) as failure:
        list(events)
    assert "secret-internals" not in str(failure.value)
    assert "secret-internals" in caplog.text
    assert store.questions("t") == ("q",)


def test_an_advisor_that_ends_without_an_answer_is_a_fault(store: Conversations) -> None:
    with pytest.raises(AdviceFailedError):
        list(converse(ScriptedAdvisor(silent), "q", store=store))


def test_a_question_is_kept_before_its_answer_and_its_turn_is_told(store: Conversations) -> None:
    told: list[int] = []
    events = converse(ScriptedAdvisor(), "q", store=store, thread="t", owner="ann", started=told.append)
    next(events)
    assert [(turn.id, turn.answer) for turn in store.turns("t", "ann")] == [(told[0], None)]
    list(events)
    assert store.turn(told[0], "ann").answer is not None
    assert len(told) == 1


def test_a_conversation_deleted_while_it_is_answered_stays_deleted(store: Conversations) -> None:
    events = converse(ScriptedAdvisor(), "q", store=store, thread="t")
    next(events)
    store.delete("t")
    assert list(events)[-1].kind == "done"
    assert store.turns("t") == ()


def test_a_conversation_is_called_by_its_title_or_first_question(store: Conversations) -> None:
    store.append("t", "first", None, "ann")
    store.append("t", "second", None, "ann")
    assert store.title("t", "ann") == "first"
    store.rename("t", "named", "ann")
    assert (store.title("t", "ann"), store.title("t", "bob"), store.title("never", "ann")) == ("named", "", "")


# --- owners, lists, verdicts ----------------------------------------------------------------------------------------


def test_two_owners_with_threads_of_one_name_never_see_each_other(store: Conversations) -> None:
    store.append("t", "of ann", None, "ann")
    turn = store.append("t", "of bob", None, "bob")
    assert store.questions("t", owner="ann") == ("of ann",)
    assert [thread.title for thread in store.threads("bob")] == ["of bob"]
    for touch in (
        store.turn,
        store.forget_from,
        store.before,
        lambda turn, owner: store.reword(turn, "another", owner),
    ):
        with pytest.raises(UnknownTurnError, match=str(turn)):
            touch(turn, "ann")
    with pytest.raises(UnknownTurnError):
        store.rate(turn, "up", owner="ann")
    assert store.delete("t", "ann") == 1
    assert store.questions("t", owner="bob") == ("of bob",)


def test_conversations_are_listed_last_asked_first_under_their_first_question_or_own_title(
    store: Conversations,
) -> None:
    store.append("old", "第一个\n问题 " + "长" * 100, None)
    store.append("new", "second", None)
    store.append("old", "later", None)
    first, second = store.threads()
    assert (first.id, first.turns, first.title[:7], len(first.title)) == ("old", 2, "第一个 问题 ", 60)
    assert second.title == "second"
    store.rename("new", "  H100 对比 ")
    assert store.threads()[1].title == "H100 对比"
    store.rename("new", " ")
    assert store.threads()[1].title == "second"


def test_asking_anew_forgets_the_turn_and_what_followed_in_its_thread_only(store: Conversations) -> None:
    store.append("t", "one", None)
    turn = store.append("t", "two", None)
    store.append("other", "x", None)
    store.append("t", "three", None)
    assert store.before(turn) == ("one",)
    assert store.forget_from(turn) == 2
    assert (store.questions("t"), store.questions("other")) == (("one",), ("x",))


def test_a_verdict_is_kept_with_its_reason_and_can_be_taken_back(store: Conversations) -> None:
    turn = store.append("t", "q", None)
    store.rate(turn, "down", " 价格太旧 ")
    assert (store.turn(turn).verdict, store.turn(turn).reason) == ("down", "价格太旧")
    store.rate(turn, None)
    assert (store.turn(turn).verdict, store.turn(turn).reason) == (None, "")


def test_a_file_of_format_1_keeps_its_turns_as_those_of_the_local_reader(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE turns (id INTEGER PRIMARY KEY, thread TEXT NOT NULL, asked_at TEXT NOT NULL, "
        "question TEXT NOT NULL, answer TEXT); CREATE INDEX turns_by_thread ON turns (thread, id);"
        "INSERT INTO turns VALUES (1, 't', '2026-01-01T00:00:00+00:00', 'kept', NULL); PRAGMA user_version = 1;"
    )
    database.close()
    store = Conversations(path)
    assert store.questions("t") == ("kept",)
    store.append("t", "next", None)
    assert [thread.turns for thread in Conversations(path).threads()] == [2]


def test_a_revised_answer_takes_the_place_of_the_old_one_for_its_owner_only(store: Conversations) -> None:
    turn = store.append("t", "q", plain_answer("q", "old"))
    store.revise(turn, plain_answer("q", "new"))
    assert [kept.answer and kept.answer.text for kept in store.turns("t")] == ["new"]
    with pytest.raises(UnknownTurnError):
        store.revise(turn, plain_answer("q", "theirs"), "ann")


def test_a_reworded_question_keeps_its_place_and_loses_answer_and_verdict(store: Conversations) -> None:
    first = store.append("t", "A100?", plain_answer("A100?", "text"), "team")
    store.append("t", "and a month?", None, "team")
    store.rate(first, "up", owner="team")
    store.reword(first, "H100?", "team")
    assert store.questions("t", owner="team") == ("H100?", "and a month?")
    assert (store.turn(first, "team").answer, store.turn(first, "team").verdict) == (None, None)


def test_one_turn_is_forgotten_and_those_after_it_stay(store: Conversations) -> None:
    first = store.append("t", "A100?", None, "team")
    store.append("t", "H100?", None, "team")
    assert not store.forget(first, "another team")
    assert store.forget(first, "team")
    assert not store.forget(first, "team")
    assert store.questions("t", owner="team") == ("H100?",)


def test_what_people_asked_is_readable_by_the_owner_of_the_file_only(tmp_path: Path) -> None:
    path = tmp_path / "conversations.sqlite"
    path.touch(mode=0o644)
    Conversations(path).append("t", "A100?", None)
    assert {file.stat().st_mode & 0o077 for file in tmp_path.iterdir()} == {0}
