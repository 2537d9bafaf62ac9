"""Lets a capable model call tools before prose is written, in bounded rounds, and keeps what they gave as evidence.

Each call is checked before it runs: a known tool, arguments that are JSON and obey the tool, and no number that nobody
wrote. A fault goes back to the model as the call's result. Nothing the model says here is shown: only calls and
citations come out of it, and the formulas of what was computed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.resources import files
from typing import Any, Protocol

from assistant import documents, render
from assistant.evidence import Call, Finding
from assistant.ledger import Ledger
from assistant.llm import LanguageModel
from assistant.model_errors import ContextTooLongError, ModelReplyError, ToolsUnsupportedError
from assistant.tool_calls import ToolCall, ToolRound
from assistant.tool_menu import MenuTool, menu
from assistant.tools import ToolError
from assistant.understand import Request
from assistant.written_numbers import unwritten, written_numbers
from knowledge.catalog import Catalog
from knowledge.index import Index

MOST_ROUNDS = 3
MOST_CALLS = 4  # of one reply; a model that wants more is told to go on in the next
ROUND_TOKENS = 512
LONGEST_ARGUMENTS = 4000  # characters
MOST_TURNS, LONGEST_TURN = 3, 300  # earlier questions shown, and characters of each
LONGEST_RESULT = 2000  # characters of one result that the model is shown; the evidence keeps all of it

log = logging.getLogger(__name__)


class Gatherable(Protocol):
    """What gathering needs of an answer's resources."""

    @property
    def catalog(self) -> Catalog: ...
    @property
    def index(self) -> Index: ...
    @property
    def model(self) -> LanguageModel | None: ...


def gather_more(
    request: Request, finding: Finding, having: Gatherable, turns: Sequence[str] = (), names: Collection[str] = ()
) -> Finding:
    """The finding with what the model's tool calls added: calls, citations, source lines, formulas.

    The same finding where there is no model that calls tools, where it calls none, or where its server takes none.
    `turns` are the user's earlier messages, `names` bare numbers that are names (4090). Raises ModelUnavailableError
    when the model fails otherwise, IndexBrokenError when a search does.
    """
    if having.model is None or not having.model.calls_tools:
        return finding
    book = Ledger(having.catalog, request.language)
    book.calls, book.citations = list(finding.calls), list(finding.citations)
    conversation = "\n".join([*turns, request.question])
    rounds = _Rounds(menu(request, book, having.index), book, conversation, names)
    try:
        rounds.run(having.model, _prompt(request), _user_text(request, finding, turns))
    except ToolsUnsupportedError as error:
        log.warning("answers are written without tools: %s", error)
    except (ContextTooLongError, ModelReplyError) as error:
        log.warning("no further tool calls: %s", error)
    return _extended(finding, book, rounds.given_up())


@dataclass
class _Rounds:
    """The calls of one answer so far."""

    tools: Mapping[str, MenuTool]
    book: Ledger
    conversation: str
    names: Collection[str]
    past: list[ToolRound] = field(default_factory=list)
    _results: dict[tuple[str, str], str] = field(default_factory=dict)
    _failed: dict[str, bool] = field(default_factory=dict)  # by tool: whether its last call did

    def run(self, model: LanguageModel, system: str, user: str) -> None:
        """Ask, run what was called, and ask again with the results, until nothing new is called."""
        offers = [item.tool for item in self.tools.values()]
        for _ in range(MOST_ROUNDS):
            said, calls = "", []
            for part in model.stream_with_tools(system, user, offers, self.past, max_tokens=ROUND_TOKENS):
                if isinstance(part, ToolCall):
                    calls.append(part)
                else:
                    said += part
            if all((call.name, call.arguments) in self._results for call in calls):
                return
            results = [self._result(call, place) for place, call in enumerate(calls)]
            self.past.append(ToolRound(said, tuple(calls), tuple(results)))

    def given_up(self) -> list[str]:
        """The tools whose last call was refused: the model wanted them and has not got them."""
        return [name for name, failed in self._failed.items() if failed and name in self.tools]

    def _result(self, call: ToolCall, place: int) -> str:
        key = (call.name, call.arguments)
        if place >= MOST_CALLS:
            return f"error: at most {MOST_CALLS} calls in one reply; call again in the next"
        if key not in self._results:
            try:
                self._results[key] = self._checked(call)[:LONGEST_RESULT]
                self._failed[call.name] = False
            except ToolError as error:
                log.info("tool call %s(%s) refused: %s", call.name, call.arguments[:200], error)
                self._results[key] = f"error: {error}"
                self._failed[call.name] = True
        return self._results[key]

    def _checked(self, call: ToolCall) -> str:
        if call.name not in self.tools:
            raise ToolError(f"there is no tool {call.name!r}; there are {', '.join(self.tools)}")
        item = self.tools[call.name]
        given = parsed_arguments(call.arguments)
        _obey(given, item.tool.parameters)
        written = written_numbers(self.conversation, self.book.calls, self.book.citations, self.names)
        if invented := unwritten(given, item.tool.parameters, written):
            raise ToolError(
                f"{', '.join(invented)}: not in the question, the evidence or an earlier result. Leave it out, "
                "or get it from a tool first"
            )
        return item.run(given)


def parsed_arguments(text: str) -> dict[str, Any]:
    """The arguments of a call, numbers exactly as written. Raises ToolError where they are no JSON object."""
    if len(text) > LONGEST_ARGUMENTS:
        raise ToolError(f"the arguments have {len(text)} characters, at most {LONGEST_ARGUMENTS} are read")
    try:
        value = json.loads(text or "{}", parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the arguments are no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ToolError(f"the arguments must be a JSON object, got {text[:100]!r}")
    return value


def _no_number(word: str) -> Decimal:
    raise ValueError(f"{word} is no number")


def _obey(given: dict[str, Any], schema: dict[str, Any]) -> None:
    """Raise ToolError for a look-up's arguments that its schema does not allow; calculators check their own."""
    if schema.get("additionalProperties") is not False:
        return
    import jsonschema

    try:
        jsonschema.validate(given, schema)
    except jsonschema.ValidationError as error:
        raise ToolError(f"{error.json_path}: {error.message}") from error


def _extended(finding: Finding, book: Ledger, given_up: Sequence[str]) -> Finding:
    new = [call for call in book.calls if call not in finding.calls]
    if not (new or given_up or len(book.citations) > len(finding.citations)):
        return finding
    return finding.model_copy(
        update={
            "markdown": render.paragraphs(finding.markdown, *_computed(new, book), _not_computed(given_up, book)),
            "sources": render.source_lines(book.citations, book.language),
            "calls": tuple(book.calls),
            "citations": tuple(book.citations),
        }
    )


def _computed(calls: Sequence[Call], book: Ledger) -> list[str]:
    """What was computed besides, each with its formula and what it assumes."""
    lines = [
        "  \n".join([render.formula(call.formula, book.language), *call.assumptions]) for call in calls if call.formula
    ]
    return [book.say("另外算得：", "Computed besides:"), *lines] if lines else []


def _not_computed(given_up: Sequence[str], book: Ledger) -> str:
    if not given_up:
        return ""
    names = render.joined((f"`{name}`" for name in given_up), book.language)
    return book.say(
        f"（模型还想用 {names}，但给出的参数没有依据或不成立，所以这一步没有做。）",
        f"(The model also wanted {names}, but with arguments that have no source or cannot be; so that was not done.)",
    )


def computed_text(calls: Sequence[Call]) -> str:
    """The calculations of an answer as a model is shown them, a formula with its result on each line."""
    return "\n".join(call.formula for call in calls if call.formula)


def _user_text(request: Request, finding: Finding, turns: Sequence[str]) -> str:
    question = ("问题：" if request.language == "zh" else "Question: ") + request.question
    earlier = "\n".join(turn[:LONGEST_TURN] for turn in turns[-MOST_TURNS:])
    if earlier:
        earlier = ("此前的问题：\n" if request.language == "zh" else "Earlier questions:\n") + earlier
    parts = (documents.evidence_text(finding.citations), computed_text(finding.calls), earlier, question)
    return "\n\n".join(part for part in parts if part)


def _prompt(request: Request) -> str:
    return files("assistant").joinpath("prompts", f"gather.{request.language}.md").read_text(encoding="utf-8")
