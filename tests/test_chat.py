"""The conversation in the terminal: what is printed when, what Ctrl-C and a fault end, and what never reaches a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripted_advisor import PRICE_ANSWER, ScriptedAdvisor, broken, plain_answer, price_answer
from typer.testing import CliRunner

from assistant import owner
from assistant.chat import ERASE_LINE, HELP, NO_ANSWER, NO_FIGURES, NO_SOURCES, Chat
from assistant.cli import app
from assistant.conversations import Conversations, converse
from assistant.evidence import Card, Citation, Done, Event, Prose, Working
from assistant.owner import Owner
from knowledge.generation import IndexBrokenError

ESCAPE = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"


class Terminal:
    """A chat over a scripted advisor; what it prints, and the store behind it."""

    def __init__(self, store: Conversations, script: Callable[[str, Sequence[str]], Iterator[Event]] | None = None, *,
                 thread: str = "", interactive: bool = False) -> None:  # fmt: skip
        self.printed: list[str] = []
        self.store = store
        self.advisor = ScriptedAdvisor(script)
        self.chat = Chat(self._ask, store, self.printed.append, thread=thread, interactive=interactive)

    def _ask(self, question: str, thread: str) -> Generator[Event, None, None]:
        yield from converse(self.advisor, question, (), store=self.store, thread=thread)

    def run(self, *lines: str | type[BaseException]) -> str:
        waiting = iter(lines)

        def read() -> str | None:
            line = next(waiting, None)
            if isinstance(line, type):
                raise line
            return line

        self.chat.run(read)
        return "".join(self.printed)


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path / "conversations.sqlite")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scripted_advisor.time.sleep", lambda seconds: None)


def written(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """Card, waiting, two sentences, then the sources."""
    yield Card(markdown="the card")
    yield Working(message="Writing ...")
    yield Prose(markdown="One. ")
    yield Prose(markdown="Two.")
    yield Prose(markdown="\n\nSources [1]: x")
    yield Done(answer=plain_answer(question, "the card\n\nOne. Two.\n\nSources [1]: x"))


def nothing_written(question: str, turns: Sequence[str]) -> Iterator[Event]:
    yield Card(markdown="the card")
    yield Working(message="Writing ...")
    yield Prose(markdown="\n\n(no model)\n\nSources [1]: x")
    yield Done(answer=plain_answer(question, "the card"))


@pytest.mark.parametrize(
    ("script", "shown"),
    [(written, "the card\n\nOne. Two.\n\nSources [1]: x\n\n"), (nothing_written, "the card\n\n(no model)\n\nSources [1]: x\n\n")],
)  # fmt: skip
def test_from_a_pipe_parts_are_one_blank_line_apart_and_nothing_else_is_printed(
    store: Conversations, script: Callable[[str, Sequence[str]], Iterator[Event]], shown: str
) -> None:
    assert Terminal(store, script).run("q") == shown


def test_on_a_terminal_the_waiting_line_is_shown_after_the_card_and_erased_before_the_prose(
    store: Conversations,
) -> None:
    shown = Terminal(store, written, interactive=True).run("q")
    assert f"the card\n\nWriting ...{ERASE_LINE}One. Two.\n\nSources" in shown


def test_the_card_is_printed_before_the_next_event_is_waited_for(store: Conversations) -> None:
    terminal = Terminal(store)

    def slow(question: str, turns: Sequence[str]) -> Iterator[Event]:
        yield Card(markdown="the card")
        assert "".join(terminal.printed) == "the card"
        yield Done(answer=plain_answer(question, "the card"))

    terminal.advisor.script = slow
    assert terminal.run("q") == "the card\n\n"


def test_a_follow_up_knows_the_earlier_question_and_a_new_conversation_does_not(store: Conversations) -> None:
    terminal = Terminal(store)
    terminal.run("A100 价格", "那 T4 呢", "/new", "H100")
    assert [turns for _, turns in terminal.advisor.asked] == [(), ("A100 价格",), ()]


def test_a_named_thread_goes_on_and_its_last_answer_can_be_looked_into(store: Conversations) -> None:
    Terminal(store, price_answer, thread="t").run("how much?")
    again = Terminal(store, price_answer, thread="t")
    assert again.chat.earlier_questions == ("how much?",)
    assert "GPU 选型文章一 · 表 2, 第 1-3 行" in again.run("/sources")
    again.run("and then?")
    assert again.advisor.asked == [("and then?", ("how much?",))]


def test_figures_are_shown_once_each_with_calculation_or_passage_and_what_was_left_out(store: Conversations) -> None:
    shown = Terminal(store, price_answer).run("how much?", "/figures").removeprefix(PRICE_ANSWER["en"])
    assert shown.count("8,118.72  ←  28.19 CNY/h × 4 × 72 h = 8118.72 CNY (rental_cost)") == 1
    assert "28.19  ←  [1] A100 按量价格表" in shown
    assert "left out, as no evidence was found: 3.5x" in shown
    assert "因查不到依据而略去" in shown


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["/sources"], NO_ANSWER),
        (["/figures"], NO_ANSWER),
        (["q", "/sources"], NO_SOURCES),
        (["q", "/figures"], NO_FIGURES),
        (["/help"], HELP),
        (["／HELP "], HELP),
        (["/price"], "没有这个命令 / there is no such command: /price"),
        (["/new"], "新的对话。 / A new conversation."),
    ],
)
def test_commands(store: Conversations, lines: list[str], words: str) -> None:
    assert words in Terminal(store).run(*lines)


def test_quit_ends_and_the_rest_is_not_read(store: Conversations) -> None:
    terminal = Terminal(store)
    terminal.run("/quit", "q")
    assert terminal.advisor.asked == []


def test_empty_lines_ask_nothing_and_a_long_one_is_told_how_long_it_may_be(store: Conversations) -> None:
    terminal = Terminal(store)
    shown = terminal.run("", "   ", "长" * 2001)
    assert "最多 2,000 字" in shown
    assert "the limit is 2,000" in shown
    terminal.run("长" * 2000)
    assert [len(question) for question, _ in terminal.advisor.asked] == [2000]


def test_ctrl_c_stops_the_answer_keeps_the_question_and_stays(store: Conversations) -> None:
    closed = []

    def interrupted(question: str, turns: Sequence[str]) -> Iterator[Event]:
        try:
            yield Card(markdown="the card")
            yield Working(message="Writing ...")
            if question == "slow":
                raise KeyboardInterrupt
        finally:
            closed.append(question)
        yield Done(answer=plain_answer(question, "the card"))

    terminal = Terminal(store, interrupted, thread="t", interactive=True)
    shown = terminal.run("slow", "quick")
    assert f"Writing ...{ERASE_LINE}（已停止。 / Stopped.）\n\n" in shown
    assert closed == ["slow", "quick"]
    assert [(turn.question, turn.answer is None) for turn in store.turns("t")] == [("slow", True), ("quick", False)]


def test_ctrl_c_while_typing_says_how_to_leave_and_stays(store: Conversations) -> None:
    terminal = Terminal(store, interactive=True)
    shown = terminal.run(KeyboardInterrupt, "q")
    assert "/quit 或 Ctrl-D 退出" in shown
    assert "/quit or Ctrl-D leaves" in shown
    assert len(terminal.advisor.asked) == 1


def index_gone(question: str, turns: Sequence[str]) -> Iterator[Event]:
    yield Card(markdown="the card")
    raise IndexBrokenError("the index is broken; build it again: gpu-advisor knowledge rebuild")


@pytest.mark.parametrize(
    ("script", "told", "kept_back"), [(broken, "Sorry", "secret"), (index_gone, "gpu-advisor knowledge rebuild", "Traceback")]
)  # fmt: skip
def test_a_fault_ends_the_answer_with_its_sentence_not_the_conversation(
    store: Conversations, script: Callable[[str, Sequence[str]], Iterator[Event]], told: str, kept_back: str
) -> None:
    terminal = Terminal(store, script)
    shown = terminal.run("q", "q")
    assert shown.startswith("the card\n\n抱歉")
    assert shown.count(told) == 2
    assert kept_back not in shown


def test_no_control_character_of_answers_documents_or_errors_reaches_the_terminal(store: Conversations) -> None:
    def hostile(question: str, turns: Sequence[str]) -> Iterator[Event]:
        citation = Citation(id=1, title=ESCAPE, source=ESCAPE, locator=ESCAPE, excerpt=f"a{ESCAPE}\r\nb\tc")
        answer = plain_answer(question, ESCAPE).model_copy(update={"citations": (citation,), "dropped": (ESCAPE,)})
        yield Card(markdown=f"card{ESCAPE}")
        yield Working(message=ESCAPE)
        yield Prose(markdown=ESCAPE)
        yield Done(answer=answer)

    shown = Terminal(store, hostile, interactive=True).run("q", "/sources", "/figures", f"/{ESCAPE}")
    assert "b\tc" in shown
    assert not set(shown.replace(ERASE_LINE, "")) & set("\x00\x07\x0d\x1b\x7f\x9b\u202e")


class Opened(ScriptedAdvisor):
    closed = False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Takes the place of assistant.advisor, whose import loads the models' libraries."""
    advisor = Opened()
    monkeypatch.setitem(sys.modules, "assistant.advisor", SimpleNamespace(open_advisor=lambda progress: advisor))
    return advisor


def test_the_command_reads_a_pipe_to_its_end_without_escape_codes_and_exits_0(opened: Opened) -> None:
    result = CliRunner().invoke(app, ["chat"], input="第一问\n\n/figures\nsecond")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "asked '第一问' after []\n\n上一个回答没有数字。 / The last answer has no figure.\nasked 'second' after ['第一问']\n\n"
    )
    assert opened.closed
    owner.acquire().close()


@pytest.mark.usefixtures("opened")
def test_bytes_that_are_no_utf8_are_a_question_like_any_other() -> None:
    result = CliRunner().invoke(app, ["chat"], input=b"A100 \xff\xfe?\n")
    assert result.exit_code == 0
    assert "A100 \N{REPLACEMENT CHARACTER}" in result.stdout


@pytest.mark.usefixtures("opened")
def test_a_thread_of_the_command_is_the_thread_of_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    Conversations(tmp_path / "conversations.sqlite").append("t1", "earlier", None)
    result = CliRunner().invoke(app, ["chat", "--thread", "t1"], input="now\n")
    assert "asked 'now' after ['earlier']" in result.stdout


@pytest.mark.parametrize("thread", ["a b", "x" * 65, "a/b", "'; --"])
def test_a_thread_that_the_server_would_refuse_is_refused_here(thread: str) -> None:
    result = CliRunner().invoke(app, ["chat", "--thread", thread])
    assert result.exit_code == 1
    assert repr(thread) in result.stderr


def test_while_another_command_holds_the_index_the_chat_says_which(opened: Opened) -> None:
    with owner.acquire(command="gpu-advisor ingest"):
        result = CliRunner().invoke(app, ["chat"], input="q\n")
    assert result.exit_code == 1
    assert "`gpu-advisor ingest` (pid " in result.stderr
    assert opened.asked == []


def test_while_a_server_runs_the_questions_go_through_it(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def stream(server: Owner, question: str, turns: Sequence[str], thread: str) -> Iterator[Event]:
        asked.append((server.url, question, thread))
        yield Card(markdown="from the server")

    monkeypatch.setattr(owner, "current_owner", lambda: Owner(1, "http://127.0.0.1:7860"))
    monkeypatch.setattr(owner, "stream_over_http", stream)
    result = CliRunner().invoke(app, ["chat", "--thread", "t"], input="a\nb\n")
    assert result.stdout == "from the server\n\n" * 2
    assert asked == [("http://127.0.0.1:7860", "a", "t"), ("http://127.0.0.1:7860", "b", "t")]
    assert not opened.closed  # it was never opened


def test_a_broken_file_of_conversations_is_told_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    (tmp_path / "conversations.sqlite").write_bytes(b"no database at all " * 100)
    result = CliRunner().invoke(app, ["chat"], input="q\n")
    assert result.exit_code == 1
    assert "移走该文件" in result.stderr
    assert "move it away" in result.stderr
