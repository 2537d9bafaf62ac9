"""Tool rounds with a scripted model: what may run, what goes back, and what becomes evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

import pytest
from test_answer import TENSOR as TENSOR_ZH
from test_answer import Author, hit, run
from test_answer import Shelf as Documents

from assistant.evidence import Call, Citation, Finding, Language
from assistant.ledger import Ledger
from assistant.llm import LanguageModel
from assistant.model_errors import (
    BROKEN_OFF,
    NO_TOOLS,
    TOO_LONG,
    ContextTooLongError,
    ModelUnavailableError,
    ToolsUnsupportedError,
)
from assistant.reading import Slots
from assistant.tool_calls import Tool, ToolCall, ToolRound
from assistant.tool_menu import OFFERED, menu
from assistant.tool_rounds import MOST_ROUNDS, gather_more, parsed_arguments
from assistant.tool_schemas import calculator_tool
from assistant.tools import CALCULATORS, ToolError
from assistant.understand import Request
from assistant.verify import trace
from assistant.written_numbers import unwritten, written_numbers
from knowledge.catalog import Catalog, load_catalog
from knowledge.index import Hit, Index, Passage

Reply = Sequence[str | ToolCall] | ModelUnavailableError


class Caller:
    """A model whose replies are scripted; it keeps the rounds it was shown."""

    def __init__(self, *replies: Reply, calls_tools: bool = True):
        self.calls_tools = calls_tools
        self.name = "scripted"
        self.asked: list[tuple[str, str, list[ToolRound]]] = []
        self._replies = list(replies)

    def stream_with_tools(
        self, system: str, user: str, tools: Sequence[Tool], rounds: Sequence[ToolRound] = (), *, max_tokens: int
    ) -> Iterator[str | ToolCall]:
        self.asked.append((system, user, list(rounds)))
        reply = self._replies.pop(0) if self._replies else ["DONE"]
        if isinstance(reply, ModelUnavailableError):
            raise reply
        yield from reply

    @property
    def results(self) -> list[str]:
        """What all calls gave back, as the model was last shown it."""
        return [result for past in self.asked[-1][2] for result in past.results]


class Shelf:
    """An index of one passage."""

    def __init__(self, *hits: Hit):
        self._hits = hits

    def search(self, query: str, *, language: str, limit: int = 6) -> list[Hit]:
        return list(self._hits)

    def knows(self, term: str) -> bool:
        return True


@dataclass(frozen=True)
class Having:
    """The resources of one answer."""

    catalog: Catalog
    index: Index
    model: LanguageModel | None


TENSOR = Passage(
    id="t#1", topic="tensor#1", language="en", title="Tensor cores", section="What they are for", kind="text",
    text="Tensor cores do the matrix arithmetic of deep learning.", source="GPU guide", locator="documents/x.en.md § 1",
    as_of=None,
)  # fmt: skip
QUESTIONS: dict[Language, str] = {
    "zh": "4 张 A100 跑三天，每小时 28.64 元，为什么这么贵？",
    "en": "Why are 4 A100s for three days at 28.64 yuan an hour so dear?",
}
CITED = Citation(
    id=1, title="A100", source="GPU guide", locator="documents/a.en.md § 1", excerpt="The A100 has 6912 cores."
)
FOUND = Finding(status="answered", markdown="> card", calls=(), citations=(CITED,), wants_prose=True)


def request(language: Language = "en", question: str | None = None) -> Request:
    text = question or QUESTIONS[language]
    return Request(text, language, "document", Slots(), frozenset(), text)


def called(name: str, arguments: object, call_id: str = "a") -> ToolCall:
    return ToolCall(call_id, name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def gathered(
    model: Caller, asked: Request | None = None, *, finding: Finding = FOUND, turns: Sequence[str] = ()
) -> Finding:
    index = cast(Index, Shelf(Hit(TENSOR, 0.9, 0.9, 0.9)))
    having = Having(load_catalog(), index, cast(LanguageModel, model))
    return gather_more(asked or request(), finding, having, turns)


COST = {"gpus": 4, "hours": 72, "price_per_hour": 28.64}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_calculation_asked_for_becomes_evidence_with_its_formula_on_the_card(language: Language) -> None:
    model = Caller([called("rental_cost", COST)], ["DONE"])
    found = gathered(model, request(language))
    (call,) = found.calls
    assert (call.tool, call.result["value"]) == ("rental_cost", 8248.32)  # type: ignore[index, call-overload]
    assert call.formula is not None
    assert "28.64" in found.markdown
    assert ("另外算得" if language == "zh" else "Computed besides") in found.markdown
    assert found.markdown.startswith("> card")
    said = "共 8,248.32 元。" if language == "zh" else "That is 8,248.32 CNY."
    assert not trace(said, found.calls, found.citations).untraced
    assert '"value": 8248.32' in model.results[0]


def test_price_looked_up_may_be_used_in_the_next_round_and_is_cited() -> None:
    look_up = Caller([called("price_look_up", {"gpu": "A100", "provider": "tencent"})], ["DONE"])
    found = gathered(look_up, request(question="What would 4 A100s of Tencent cost for 72 hours?"))
    assert [call.tool for call in found.calls] == ["find_offers"]
    assert found.citations[0] == CITED
    assert "28.64" in found.citations[1].excerpt
    assert found.citations[1].title in found.sources
    assert look_up.results[0].startswith("[2] ")
    chained = Caller(
        [called("price_look_up", {"gpu": "A100", "provider": "tencent"})], [called("rental_cost", COST)], ["DONE"]
    )
    found = gathered(chained, request(question="What would 4 A100s of Tencent cost for 72 hours?"))
    assert [call.tool for call in found.calls] == ["find_offers", "rental_cost"]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (called("rent_cost", COST), "no tool 'rent_cost'; there are price_look_up"),
        (called("", ""), "no tool ''"),
        (called("rental_cost", '{"gpus": 4, "hours"'), "no JSON"),
        (called("rental_cost", "[4, 72]"), "must be a JSON object"),
        (called("rental_cost", '{"hours": NaN}'), "NaN is no number"),
        (called("rental_cost", "[" * 3000), "no JSON"),
        (called("rental_cost", " " * 5000), "5000 characters"),
        (called("rental_cost", {"gpus": 4, "hours": 72}), "price_per_hour: Field required"),
        (called("rental_cost", COST | {"region": "x"}), "region: Extra inputs"),
        (called("rental_cost", COST | {"price_per_hour": 12.5}), "price_per_hour = 12.5: not in the question"),
        (called("rental_cost", COST | {"price_per_hour": "12.5"}), "price_per_hour = 12.5: not in the question"),
        (called("rental_cost", COST | {"price_per_hour": 4}), "price_per_hour = 4: not"),  # cards are no price
        (called("rental_cost", COST | {"hours": 28.64}), "hours = 28.64: not"),  # nor is a price a time
        (called("rental_cost", COST | {"gpus": 100}), "gpus = 100: not"),  # the 100 of A100
        (called("inference_fit", {"model": "Qwen2.5-72B", "gpu": "B999"}), "no GPU is called 'B999'"),
        (called("price_look_up", {"gpu": "Radeon 1"}), "not one gpu"),
        (called("price_look_up", {"card": "A100"}), "'gpu' is a required property"),
        (called("spec_look_up", {"name": "Z9000"}), "called 'Z9000'"),
        (called("search_documents", {"query": " "}), "query is empty"),
    ],
)
def test_fault_the_model_could_mend_goes_back_to_it_and_computes_nothing(call: ToolCall, told: str) -> None:
    model = Caller([call], ["DONE"])
    found = gathered(model)
    assert model.results[0].startswith("error: ")
    assert told in model.results[0]
    assert found.calls == ()
    assert found.citations == FOUND.citations


@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_the_model_wanted_and_never_got_is_said_without_its_figures(language: Language) -> None:
    wrong = called("rental_cost", COST | {"price_per_hour": 12.5})
    found = gathered(Caller([wrong], ["DONE"]), request(language))
    assert "`rental_cost`" in found.markdown
    assert ("没有做" if language == "zh" else "was not done") in found.markdown
    assert "12.5" not in found.markdown
    mended = gathered(Caller([wrong], [called("rental_cost", COST)], ["DONE"]), request(language))
    assert ("没有做" if language == "zh" else "was not done") not in mended.markdown


def test_rounds_are_bounded_and_so_are_calls_of_one_reply() -> None:
    prices = ("28.64", "4", "72")
    endless = Caller(*([called("spec_look_up", {"name": name})] for name in ("A100", "H100", "L40S", "T4", "V100")))
    gathered(endless)
    assert len(endless.asked) == MOST_ROUNDS
    crowd = Caller(
        [called("spec_look_up", {"name": name}, name) for name in ("A100", "H100", "L40S", "T4", "V100", *prices)]
    )
    gathered(crowd)
    assert [result.startswith("error: at most 4 calls") for result in crowd.results] == [False] * 4 + [True] * 4


def test_call_made_again_is_not_run_again_and_ends_the_rounds() -> None:
    model = Caller(
        [called("rental_cost", COST)], [called("rental_cost", COST, "b")], [called("rental_cost", COST, "c")]
    )
    assert len(gathered(model).calls) == 1
    assert len(model.asked) == 2


def test_nothing_called_leaves_the_finding_as_it_was_whatever_was_said() -> None:
    assert gathered(Caller(["It costs 9.99 yuan."])) is FOUND
    assert gathered(Caller(["DONE"])) is FOUND


def test_model_that_calls_no_tools_is_not_asked() -> None:
    for model in (Caller([called("rental_cost", COST)], calls_tools=False), None):
        having = Having(load_catalog(), cast(Index, Shelf()), cast("LanguageModel | None", model))
        assert gather_more(request(), FOUND, having) is FOUND
        assert model is None or model.asked == []


@pytest.mark.parametrize("error", [ToolsUnsupportedError(NO_TOOLS), ContextTooLongError(TOO_LONG)])
def test_server_without_tools_or_room_keeps_what_there_is(error: ModelUnavailableError) -> None:
    assert gathered(Caller(error)) is FOUND
    assert len(gathered(Caller([called("rental_cost", COST)], error)).calls) == 1


def test_model_that_fails_otherwise_is_an_error_and_not_an_empty_result() -> None:
    with pytest.raises(ModelUnavailableError):
        gathered(Caller(ModelUnavailableError(BROKEN_OFF)))


def test_passage_found_is_cited_once_and_known_ones_keep_their_number() -> None:
    search = called("search_documents", {"query": "tensor cores"})
    found = gathered(Caller([search], ["DONE"]))
    assert [(c.id, c.locator) for c in found.citations] == [(1, CITED.locator), (2, TENSOR.locator)]
    model = Caller([search], ["DONE"])
    known = FOUND.model_copy(update={"citations": (CITED.model_copy(update={"locator": TENSOR.locator}),)})
    assert [c.id for c in gathered(model, finding=known).citations] == [1]
    assert model.results[0].startswith("[1] ")


@pytest.mark.parametrize("name", ["H20", "Qwen2.5-72B", "qwen 2.5 72b"])
def test_specifications_come_from_rows_of_cards_and_models(name: str) -> None:
    found = gathered(Caller([called("spec_look_up", {"name": name})], ["DONE"]))
    assert len(found.citations) > 1


def test_price_that_no_row_holds_is_said_to_the_model_and_replaced_by_none() -> None:
    model = Caller([called("price_look_up", {"gpu": "H20", "provider": "autodl"})], ["DONE"])
    found = gathered(model)
    if found.calls == ():
        assert model.results[0].startswith("no price row for H20")
        assert found.citations == FOUND.citations


def test_prompt_shows_passages_calculations_and_question() -> None:
    call = Call(tool="rental_cost", arguments={}, result={"value": 1}, formula="4 × 72 h = 288 h")
    for language in QUESTIONS:
        model = Caller(["DONE"])
        gathered(model, request(language), finding=FOUND.model_copy(update={"calls": (call,)}))
        system, user, _ = model.asked[0]
        assert "DONE" in system
        assert "[1] A100\nThe A100 has 6912 cores." in user
        assert "4 × 72 h = 288 h" in user
        assert user.endswith(QUESTIONS[language])
        follow_up = Caller(["DONE"])
        gathered(follow_up, request(language), turns=["H100 为什么贵？", "y" * 999])
        assert "H100 为什么贵？\n" + "y" * 300 + "\n\n" in follow_up.asked[0][1]


def test_number_said_in_an_earlier_turn_may_be_used() -> None:
    model = Caller([called("rental_cost", COST)], ["DONE"])
    turns = ["4 张 A100 跑三天", "每小时 28.64 元"]
    assert len(gathered(model, request("zh", "为什么这么贵？"), turns=turns).calls) == 1


@pytest.mark.parametrize(
    ("conversation", "argument", "value", "written"),
    [
        ("8 张 H100 租半年", "gpus", 8, True),
        ("两张 T4", "gpus", 2, True),
        ("four A100s", "gpus", 4, True),
        ("预算 2 万元", "budget", 20000, True),
        ("a budget of $20k", "budget", 20000, True),
        ("预算 2 万元", "budget", 2, False),
        ("跑三天", "hours", 72, True),
        ("跑三天", "hours", 3, False),
        ("for 90 minutes", "hours", 1.5, True),
        ("租两周", "hours", 336, True),
        ("利用率 70%", "utilization", 0.7, True),
        ("利用率 70%", "utilization", 70, True),
        ("at 70 percent load", "load", 0.7, True),
        ("8k context", "context_tokens", 8192, True),
        ("32768 tokens of context", "context_tokens", 32768, True),
        ("a 70B model", "parameters", 70000000000, True),
        ("24G 显存", "card_memory_gb", 24, True),
        ("24G 显存", "hours", 24, False),
        ("每小时 3.5 元", "price_per_hour", 3.5, True),
        ("每小时 3.5 元", "gpus", 3.5, False),
        ("RTX 4090 多少钱", "price_per_hour", 4090, False),
        ("A100 的价格", "hours", 100, False),
        ("2023 年的价格", "budget", 2023, False),
        ("多少钱", "hours", 24, False),
    ],
)
def test_number_of_an_argument_must_have_been_written_with_the_same_meaning(
    conversation: str, argument: str, value: float, written: bool
) -> None:
    schema = {"type": "object", "properties": {argument: {"type": "number"}}}
    faults = unwritten({argument: Decimal(str(value))}, schema, written_numbers(conversation, [], [], {"4090"}))
    assert (faults == []) is written


def test_defaults_choices_and_names_need_nobody_to_have_written_them() -> None:
    schema = calculator_tool("inference_fit").parameters
    given = {"gpu": "4090", "sequences": 1, "gpu_memory_utilization": Decimal("0.9"), "precision": "int4", "cards": 7}
    assert unwritten(given, schema, []) == ["cards = 7"]
    assert unwritten({"gpu": {"name": "X", "memory_gib": "80"}}, schema, []) == ["gpu.memory_gib = 80"]
    assert unwritten({"amounts": [1, 2]}, {"properties": {"amounts": {"items": {"type": "number"}}}}, []) != []


def test_numbers_of_passages_and_results_count_as_written() -> None:
    passage = CITED.model_copy(update={"excerpt": "The A100 costs 28.64 CNY per hour; power 400 W."})
    call = Call(
        tool="period_hours", arguments={}, result={"value": 2190, "unit": "hour"}, formula="3 × 730 h = 2,190 h"
    )
    written = written_numbers("", [call], [passage])
    schema = calculator_tool("rental_cost").parameters
    assert unwritten({"hours": 2190, "price_per_hour": Decimal("28.64")}, schema, written) == []
    assert unwritten({"price_per_hour": 400}, schema, written) == ["price_per_hour = 400"]


@pytest.mark.parametrize("name", list(CALCULATORS))
def test_short_schema_keeps_every_argument_and_asks_for_rows_by_name(name: str) -> None:
    given = CALCULATORS[name].given
    short = calculator_tool(name).parameters
    assert set(short["properties"]) == set(given.model_fields)
    assert set(short["required"]) == {key for key, field in given.model_fields.items() if field.is_required()}
    assert "$ref" not in json.dumps(short)
    for key, full in given.model_json_schema()["properties"].items():
        if {"#/$defs/GpuSpec", "#/$defs/ModelShape"} & {part.get("$ref") for part in [full, *full.get("anyOf", [])]}:
            assert short["properties"][key]["type"] == "string"


def test_menu_stays_short_enough_for_a_prompt() -> None:
    book = Ledger(load_catalog(), "en")
    offers = [item.tool.offer for item in menu(request(), book, cast(Index, Shelf())).values()]
    assert len(offers) == len(OFFERED) + 3
    assert len(json.dumps(offers)) < 10_000


def test_arguments_keep_their_numbers_exactly() -> None:
    given: dict[str, Any] = parsed_arguments('{"price_per_hour": 28.64, "n": 0.1}')
    assert given == {"price_per_hour": Decimal("28.64"), "n": Decimal("0.1")}
    assert parsed_arguments("") == {}
    with pytest.raises(ToolError, match="JSON"):
        parsed_arguments("{'gpus': 4}")


class Writer(Caller):
    """Calls tools as scripted, then writes one sentence."""

    def __init__(self, sentence: str, *replies: Reply):
        super().__init__(*replies)
        self._sentence = sentence
        self.written_from = ""

    def stream(self, system: str, user: str, *, max_tokens: int, temperature: float = 0.0) -> Iterator[str]:
        self.written_from = user
        yield self._sentence


def test_what_a_tool_gave_stands_in_the_answer_and_bears_its_prose() -> None:
    words = {"gpus": 4, "hours": 10, "price_per_hour": 2.5, "currency": "CNY"}
    model = Writer("这 4 张卡 10 小时一共 100 元。", [called("rental_cost", words)])
    question, earlier = "Tensor 核心是干什么的", "我有 4 张卡，2.5 元一小时，开 10 小时"
    _, result = run(question, "document", earlier, index=Documents(hit(TENSOR_ZH)), model=cast(Author, model))
    assert [call.tool for call in result.calls] == ["rental_cost"]
    assert "4 × 10 h × 2.5 CNY/h = 100.00 CNY" in model.written_from
    assert "一共 100 元" in result.text
    assert result.verified
