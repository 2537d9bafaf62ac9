"""A conversation in the terminal: lines in, answers out as they come, and the evidence of the last one on request.

It answers nothing itself: `ask` gives the events of one question within one thread. All that it prints passes
cli_errors.for_terminal, since documents and models may hold escape sequences; the only one sent is its own, to erase
the waiting line. Errors of `plain_errors` end an answer, not the conversation.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Generator
from contextlib import closing

from assistant.cli_errors import for_terminal, plain_errors, sentence_of
from assistant.conversations import MAX_QUESTION_CHARACTERS, Conversations
from assistant.evidence import Answer, Citation, Done, Event, Figure, Working

ERASE_LINE = "\r\x1b[K"
WELCOME = "输入问题；/help 看命令，Ctrl-D 退出。 / Type a question; /help lists the commands, Ctrl-D leaves."
HOW_TO_LEAVE = "（/quit 或 Ctrl-D 退出。 / /quit or Ctrl-D leaves.）"
STOPPED = "（已停止。 / Stopped.）"
NEW = "新的对话。 / A new conversation."
NO_ANSWER = "还没有回答。 / There is no answer yet."
NO_SOURCES = "上一个回答没有引用原文。 / The last answer cites no passage."
NO_FIGURES = "上一个回答没有数字。 / The last answer has no figure."
HELP = """\
/new      另起一段对话 / start a new conversation
/sources  上一个回答引用的原文 / the passages that the last answer cites
/figures  上一个回答的每个数字与依据 / each figure of the last answer with its evidence
/help     这份说明 / this list
/quit     退出，也可按 Ctrl-D / leave, as Ctrl-D does
Ctrl-C    停止正在给出的回答 / stop the answer that is coming"""

Ask = Callable[[str, str], Generator[Event, None, None]]
Write = Callable[[str], None]


class Chat:
    """One terminal's conversation. `interactive`: a person sits there, so waiting is shown and hints are given."""

    def __init__(self, ask: Ask, store: Conversations, write: Write, *, thread: str = "", interactive: bool) -> None:
        """Goes on with `thread` where one is named. `ask` gives the events of (question, thread)."""
        self.thread = thread or new_thread()
        self._ask = ask
        self._raw_write = write
        self._interactive = interactive
        turns = store.turns(self.thread) if thread else ()
        self.earlier_questions = tuple(turn.question for turn in turns)
        self._answer = next((turn.answer for turn in reversed(turns) if turn.answer), None)

    def run(self, read_line: Callable[[], str | None]) -> None:
        """Take lines until /quit or the end (None). Ctrl-C stops an answer or clears a half-written line only."""
        if self._interactive:
            self._line(WELCOME)
            if number := len(self.earlier_questions):
                self._line(f"接着之前的 {number} 问。 / Going on after {number} earlier questions.")
        while True:
            try:
                line = read_line()
                if line is None or not self.take(line):
                    break
            except KeyboardInterrupt:
                self._line(f"\n{HOW_TO_LEAVE}")
        if self._interactive:
            self._line(f"\n接着聊 / to go on later: gpu-advisor chat --thread {self.thread}")

    def take(self, line: str) -> bool:
        """Act on one line; False when it asks to leave."""
        line = line.strip()
        if line.startswith(("/", "／")):
            return self._command(line[1:].strip().lower())
        if len(line) > MAX_QUESTION_CHARACTERS:
            self._line(
                f"问题有 {len(line):,} 字，最多 {MAX_QUESTION_CHARACTERS:,} 字，请写短一些。 / The question has {len(line):,} "
                f"characters; the limit is {MAX_QUESTION_CHARACTERS:,}. Please shorten it."
            )
        elif line:
            self._answer_to(line)
        return True

    def _command(self, name: str) -> bool:
        match name:
            case "quit" | "exit" | "q":
                return False
            case "new":
                self.thread, self._answer = new_thread(), None
                self._line(NEW)
            case "sources":
                self._line(sources_text(self._answer) if self._answer else NO_ANSWER)
            case "figures":
                self._line(figures_text(self._answer) if self._answer else NO_ANSWER)
            case "help" | "h" | "?":
                self._line(HELP)
            case _:
                self._line(f"没有这个命令 / there is no such command: /{name[:40]}\n{HELP}")
        return True

    def _answer_to(self, question: str) -> None:
        self._answer = None
        printer = Printer(self._raw_write, shows_waiting=self._interactive)
        try:
            with closing(self._ask(question, self.thread)) as events:
                for event in events:
                    printer.show(event)
                    if isinstance(event, Done):
                        self._answer = event.answer
        except KeyboardInterrupt:
            printer.end(STOPPED)
        except plain_errors() as error:
            printer.end(sentence_of(error))
        else:
            printer.end()

    def _line(self, text: str) -> None:
        self._raw_write(for_terminal(text) + "\n")


class Printer:
    """Prints one answer while it comes, parts apart by a blank line, and a waiting line that is erased again."""

    def __init__(self, write: Write, *, shows_waiting: bool) -> None:
        self._write = write
        self._shows_waiting = shows_waiting
        self._waiting = False
        self._held = ""  # line ends at the end of what came: printed only if something follows
        self._at_start = True

    def show(self, event: Event) -> None:
        """Print what the event adds."""
        if isinstance(event, Done):
            return
        if isinstance(event, Working):
            self._wait(event.message)
            return
        self._put(event.markdown)
        if event.kind == "card":
            self._held = "" if self._at_start else "\n\n"

    def end(self, sentence: str = "") -> None:
        """Finish the answer, with a sentence of ours where it broke off."""
        if sentence:
            self._held = "" if self._at_start else "\n\n"
            self._put(sentence)
        self._stop_waiting()
        self._write("\n\n" if not self._at_start else "")

    def _put(self, markdown: str) -> None:
        self._stop_waiting()
        begins_part = self._at_start or self._held.endswith("\n\n")
        text = for_terminal(self._held + (markdown.lstrip("\n") if begins_part else markdown))
        body = text.rstrip("\n")
        self._held = text[len(body) :]
        if body:
            self._write(body)
            self._at_start = False

    def _wait(self, message: str) -> None:
        if self._shows_waiting and not self._waiting:
            self._write(("" if self._at_start else "\n\n") + for_terminal(message).replace("\n", " "))
            self._waiting, self._at_start, self._held = True, True, ""

    def _stop_waiting(self) -> None:
        if self._waiting:
            self._write(ERASE_LINE)
            self._waiting = False


def new_thread() -> str:
    """An id that no conversation has yet."""
    return uuid.uuid4().hex[:12]


def sources_text(answer: Answer) -> str:
    """Each passage that the answer cites, with where it stands and its words."""
    return "\n\n".join(_source(citation) for citation in answer.citations) or NO_SOURCES


def figures_text(answer: Answer) -> str:
    """Each figure with the calculation or the passage it was traced to, and the figures that were left out."""
    lines = [f"{figure.text}  ←  {_evidence(figure, answer)}" for figure in answer.figures]
    if answer.dropped:
        lines.append("因查不到依据而略去 / left out, as no evidence was found: " + "; ".join(answer.dropped))
    return "\n".join(dict.fromkeys(lines)) or NO_FIGURES  # a figure is often printed twice


def _source(citation: Citation) -> str:
    date = f"日期 / as of {citation.as_of}" if citation.as_of else ""
    where = " · ".join(part for part in (citation.title, citation.source, citation.locator, date) if part)
    excerpt = "\n".join(f"    {line}" for line in citation.excerpt.splitlines())
    return f"[{citation.id}] {where}\n{excerpt}"


def _evidence(figure: Figure, answer: Answer) -> str:
    kind, _, number = figure.evidence.partition(":")
    if kind == "cite":
        titles = {citation.id: citation.title for citation in answer.citations}
        return f"[{number}] {titles.get(int(number), '')}".rstrip()
    call = answer.calls[int(number)]
    return f"{call.formula or json.dumps(call.arguments, ensure_ascii=False)} ({call.tool})"
