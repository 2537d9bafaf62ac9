"""The bot's memory: nothing is taken twice, whatever comes twice, and nothing taken is lost."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.slack.incoming import Question
from assistant.slack.state import (
    ASKED_AGAIN_AT_MOST,
    KEPT_SECONDS,
    SCHEMA_VERSION,
    Answered,
    SlackState,
    SlackStateBrokenError,
    SlackStateVersionError,
)
from assistant.slack.view import ChannelSettings, View

ASKED = Question("Ev1", "T1", "C1", "channel", "U1", "1700000001.000100", None, "H100 多少钱？", True)
SHOWN = Answered.to(ASKED, 7, ("1700000002.000100", "1700000002.000200"), View(currency="CNY"), "F1")


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "slack.sqlite"


@pytest.fixture
def state(path: Path, clock: Clock) -> Iterator[SlackState]:
    with closing(SlackState(path, clock)) as opened:
        yield opened


def reopened(path: Path, clock: Clock) -> closing[SlackState]:
    return closing(SlackState(path, clock))


def test_only_the_owner_can_read_the_file(state: SlackState) -> None:
    state.take(ASKED)
    modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in state.path.parent.iterdir()}
    assert set(modes.values()) == {0o600}, modes


def test_an_event_sent_again_is_not_taken_again(state: SlackState) -> None:
    assert state.take(ASKED)
    assert not state.take(ASKED)


def test_the_mention_and_the_message_of_one_text_are_taken_once(state: SlackState) -> None:
    assert state.take(ASKED)
    assert not state.take(replace(ASKED, event_id="Ev2"))
    assert not state.first_time("Ev3", ASKED.channel, ASKED.ts)


def test_the_same_ts_in_another_channel_is_another_message(state: SlackState) -> None:
    assert state.take(ASKED)
    assert state.take(replace(ASKED, event_id="Ev2", channel="C2"))


def test_each_edit_of_a_message_is_taken_once(state: SlackState) -> None:
    assert state.take(ASKED)
    assert [state.first_time(event) for event in ("Ev2", "Ev2", "Ev3")] == [True, False, True]


def test_a_restart_forgets_nothing(state: SlackState, path: Path, clock: Clock) -> None:
    state.take(ASKED)
    state.first_time("Ev2")
    with reopened(path, clock) as again:
        assert not again.take(ASKED)
        assert not again.first_time("Ev2")


def test_of_callers_at_the_same_time_one_takes_the_question(path: Path, state: SlackState, clock: Clock) -> None:
    with reopened(path, clock) as other, ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda n: (state, other)[n % 2].take(replace(ASKED, event_id=f"Ev{n // 2}")), range(40)))
    assert sum(taken) == 1


_TAKER = """
import sys
from pathlib import Path
from assistant.slack.state import SlackState
state = SlackState(Path(sys.argv[1]))
sys.stdin.readline()
print(sum(state.first_time(f"Ev{number}", "C1", f"{number}.0") for number in range(100)))
"""


def test_of_processes_at_the_same_time_one_takes_each_event(path: Path) -> None:
    command = [sys.executable, "-c", _TAKER, str(path)]
    takers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for taker in takers:
        assert taker.stdin
        taker.stdin.write("\n")
        taker.stdin.flush()
    taken = [taker.communicate()[0] for taker in takers]
    assert sum(map(int, taken)) == 100, taken


def test_a_question_without_an_answer_is_asked_again_after_a_restart(path: Path, clock: Clock) -> None:
    with reopened(path, clock) as first:
        first.take(ASKED)
        first.take(replace(ASKED, event_id="Ev2", ts="1700000003.000100"))
        first.settle(replace(ASKED, ts="1700000003.000100"))
    clock.now += 60
    with reopened(path, clock) as second:
        (pending,) = second.unsettled(600)
    assert (pending.question, pending.taken_at) == (ASKED, clock.now - 60)


def test_an_old_question_is_not_asked_again(state: SlackState, clock: Clock) -> None:
    state.take(ASKED)
    clock.now += 601
    assert state.unsettled(600) == ()


def test_questions_come_back_in_the_order_they_were_taken(state: SlackState, clock: Clock) -> None:
    for number in (3, 1, 2):
        state.take(replace(ASKED, event_id=f"Ev{number}", ts=f"{number}.0"))
        clock.now += 1
    assert [pending.question.ts for pending in state.unsettled(600)] == ["3.0", "1.0", "2.0"]


def test_a_question_that_ends_the_process_every_time_is_given_up(state: SlackState) -> None:
    state.take(ASKED)
    found = [len(state.unsettled(600)) for _ in range(ASKED_AGAIN_AT_MOST + 1)]
    assert found == [1] * ASKED_AGAIN_AT_MOST + [0]


def test_a_whole_answer_settles_its_question_and_a_draft_does_not(state: SlackState) -> None:
    state.take(ASKED)
    state.keep(replace(SHOWN, settled=False))
    assert len(state.unsettled(600)) == 1
    state.keep(SHOWN)
    assert state.unsettled(600) == ()


def test_an_answer_is_found_by_its_question_and_by_each_of_its_messages(
    state: SlackState, path: Path, clock: Clock
) -> None:
    state.keep(SHOWN)
    with reopened(path, clock) as again:
        assert again.answered("C1", ASKED.ts) == SHOWN
        assert [again.answered_at("C1", ts) for ts in SHOWN.reply_ts] == [SHOWN, SHOWN]
        assert again.answered_at("C2", SHOWN.reply_ts[0]) is None
        assert again.answered("C1", SHOWN.reply_ts[0]) is None


def test_a_new_view_takes_the_place_of_the_old_one(state: SlackState) -> None:
    state.keep(SHOWN)
    other = SHOWN.shown_as(View(currency="USD", formulas=True, verdict="down"), ("1700000002.000100", "1700000004.0"))
    state.keep(other)
    assert state.answered("C1", ASKED.ts) == other
    assert state.answered_at("C1", "1700000002.000200") is None
    assert state.answered_at("C1", "1700000004.0") == other


def test_a_deleted_question_leaves_only_the_memory_of_its_event(state: SlackState) -> None:
    state.take(ASKED)
    state.keep(replace(SHOWN, settled=False))
    state.forget("C1", ASKED.ts)
    assert state.answered("C1", ASKED.ts) is None
    assert state.answered_at("C1", SHOWN.reply_ts[0]) is None
    assert state.unsettled(600) == ()
    assert not state.take(ASKED)


def test_a_thread_is_known_from_its_first_question_on(state: SlackState) -> None:
    assert not state.knows_thread(ASKED.thread)
    state.take(ASKED)
    assert state.knows_thread(ASKED.thread)
    state.keep(SHOWN)
    assert state.knows_thread(ASKED.thread)
    assert not state.knows_thread("C1-1700000009.000100")


def test_a_thread_whose_only_question_was_deleted_is_unknown(state: SlackState) -> None:
    state.take(ASKED)
    state.keep(SHOWN)
    state.forget("C1", ASKED.ts)
    assert not state.knows_thread(ASKED.thread)


@pytest.mark.parametrize(("kind", "thread_ts"), [("channel", None), ("channel", "1.5"), ("im", None), ("im", "1.5")])
def test_an_answer_knows_the_thread_that_its_question_named(kind: str, thread_ts: str | None) -> None:
    asked = replace(ASKED, kind="im" if kind == "im" else "channel", thread_ts=thread_ts)
    assert Answered.to(asked, 1, (), View()).reply_thread_ts == asked.reply_thread_ts


def test_a_channel_has_the_defaults_until_something_is_saved(state: SlackState, path: Path, clock: Clock) -> None:
    assert state.settings("C1") == ChannelSettings()
    wanted = ChannelSettings(language="zh", currency="CNY", providers=("aliyun", "tencent"), ephemeral=False)
    state.save_settings("C1", ChannelSettings(language="en"))
    state.save_settings("C1", wanted)
    with reopened(path, clock) as again:
        assert again.settings("C1") == wanted
        assert again.settings("C2") == ChannelSettings()


def test_old_entries_go_and_settings_stay(path: Path, clock: Clock) -> None:
    later = replace(ASKED, event_id="Ev2", ts="1700000005.000100")
    with reopened(path, clock) as state:
        state.take(ASKED)
        state.keep(SHOWN)
        state.take(replace(ASKED, event_id="Ev3", ts="1700000006.000100", thread_ts=ASKED.ts))
        state.save_settings("C1", ChannelSettings(language="zh"))
        clock.now += KEPT_SECONDS + 1
        assert state.take(later)  # a process that runs for weeks sweeps too
        assert state.answered("C1", ASKED.ts) is None
        assert state.answered_at("C1", SHOWN.reply_ts[0]) is None
        assert not state.knows_thread(ASKED.thread)
        assert state.settings("C1").language == "zh"
    with closing(sqlite3.connect(path)) as database:
        counts = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("seen", "replies")]
    assert counts == [2, 0]


def test_a_click_keeps_an_answer_young(state: SlackState, clock: Clock) -> None:
    state.keep(SHOWN)
    clock.now += KEPT_SECONDS - 10
    state.keep(SHOWN)
    clock.now += 20
    state.take(replace(ASKED, event_id="Ev2", ts="1700000005.000100"))
    assert state.answered("C1", ASKED.ts) == SHOWN


def test_a_file_of_a_newer_version_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(SlackStateVersionError, match=r"slack\.sqlite.*upgrade gpu-advisor"):
        SlackState(path)


@pytest.mark.parametrize("place", ["no database", "a folder", "no folder"])
def test_a_file_that_cannot_be_used_is_named_with_the_way_out(path: Path, place: str) -> None:
    if place == "no database":
        path.parent.mkdir()
        path.write_text("x" * 4096)
    elif place == "a folder":
        path.mkdir(parents=True)
    else:
        path.parent.write_text("")
    with pytest.raises(SlackStateBrokenError, match=r"(?s)slack\.sqlite.*移走.*move it away"):
        SlackState(path)


@pytest.mark.parametrize("wrong", ["{", '{"currency": 5}', '{"colour": "red"}'])
def test_damaged_rows_are_told_and_not_taken_for_nothing(state: SlackState, path: Path, wrong: str) -> None:
    state.keep(SHOWN)
    state.save_settings("C1", ChannelSettings())
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE answered SET view = ?", (wrong,))
        database.execute("UPDATE settings SET settings = ?", (wrong,))
    with pytest.raises(SlackStateBrokenError, match=r"slack\.sqlite"):
        state.answered("C1", ASKED.ts)
    with pytest.raises(SlackStateBrokenError, match=r"slack\.sqlite"):
        state.settings("C1")


def test_a_failed_write_leaves_no_half_behind(state: SlackState, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE pending")
    with pytest.raises(SlackStateBrokenError):
        state.take(ASKED)
    assert state.first_time(ASKED.event_id, ASKED.channel, ASKED.ts)  # so that Slack's next delivery is taken
