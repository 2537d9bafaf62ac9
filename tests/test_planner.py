"""The planner: what the model may choose from is what code found in the question, and its failure changes nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import jsonschema
import pytest

from assistant import planner
from assistant.answer import Resources, answer
from assistant.evidence import Answer, Bilingual, Card, Done, Event, Working
from assistant.llm import LanguageModel, ModelReplyError, ModelUnavailableError, estimated_tokens
from assistant.reading import read
from assistant.understand import understand
from knowledge.catalog import load_catalog
from knowledge.index import Hit, Index

FAILED = Bilingual(zh="模型服务出错。", en="The model server failed.")


@dataclass(frozen=True)
class Guess:
    """A verdict written by the test: the first of `ranked` is the likeliest."""

    ranked: tuple[str, ...]
    sure: bool = False

    @property
    def best(self) -> str | None:
        return self.ranked[0] if self.sure else None

    @property
    def likeliest(self) -> str:
        return self.ranked[0]

    @property
    def probabilities(self) -> Mapping[str, float]:
        return {intent: 1 / (place + 3) for place, intent in enumerate(self.ranked)}


class Scripted:
    """A classifier that gives one verdict to every turn."""

    def __init__(self, *ranked: str, sure: bool = False):
        self._guess = Guess(ranked, sure)

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int, str]]]) -> list[Guess]:
        return [self._guess for _ in texts]


@dataclass
class Chooser:
    """A model that gives the test's reply, or fails; it keeps what it was asked."""

    reply: dict[str, Any] | ModelUnavailableError
    name: str = "scripted"
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def choose(self, system: str, user: str, schema: dict[str, Any], *, max_tokens: int = 256) -> dict[str, Any]:
        self.asked.append((system, user, schema))
        if isinstance(self.reply, ModelUnavailableError):
            raise self.reply
        return self.reply

    def stream(self, system: str, user: str, *, max_tokens: int, temperature: float = 0.0) -> Iterator[str]:
        raise ModelUnavailableError(FAILED)


class NoPassages:
    """An index that holds nothing."""

    has_documents = False

    def search(self, query: str, *, language: str, limit: int = 6) -> list[Hit]:
        return []

    def knows(self, term: str) -> bool:
        return False


def run(
    question: str, classifier: Scripted, model: Chooser | None, *turns: str, plans: bool = True
) -> tuple[list[Event], Answer]:
    """All events, and the Answer that ends them."""
    having = Resources(
        load_catalog(), cast(Index, NoPassages()), classifier, cast("LanguageModel | None", model), plans=plans
    )
    events = list(answer(question, turns, having))
    assert isinstance(events[-1], Done)
    return events, events[-1].answer


UNSURE = Scripted("buy_price", "price", "forecast", "fit", "serving")
QUESTIONS = ["A100 和 T4 在腾讯、阿里上现在什么行情", "what do the A100 and the T4 go for at Tencent and Alibaba"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_schema_holds_only_what_the_question_names(question: str) -> None:
    among = planner.readings(question, (), UNSURE)
    slots = read(question).slots
    assert planner.schema(among) == {
        "type": "object",
        "properties": {
            "intent": {"enum": [request.intent for request in among]},
            "gpus": {"type": "array", "items": {"enum": list(slots.gpus)}, "minItems": 1, "maxItems": 2},
            "providers": {"type": "array", "items": {"enum": list(slots.providers)}, "minItems": 1, "maxItems": 2},
        },
        "required": ["intent", "gpus", "providers"],
        "additionalProperties": False,
    }
    assert set(slots.gpus) == {"A100", "T4"}
    assert set(slots.providers) == {"tencent", "alibaba"}


def test_one_name_of_a_kind_is_nothing_to_choose() -> None:
    among = planner.readings("腾讯的 A100 啥行情", (), UNSURE)
    assert list(planner.schema(among)["properties"]) == ["intent"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_readings_are_the_likeliest_few_and_two_for_none_of_these(question: str) -> None:
    intents = [request.intent for request in planner.readings(question, (), UNSURE)]
    assert intents[0] == understand(question, (), UNSURE).intent
    assert "serving" not in intents  # the fifth
    assert "document" in intents
    assert len(set(intents)) == len(intents) > 2


@pytest.mark.parametrize("question", ["A100 买还是租好", "A100: buy or rent?"])
def test_slots_that_leave_one_reading_leave_nothing_to_ask(question: str) -> None:
    unsure, model = Scripted("price", "buy_price", "cost", "budget"), Chooser({"intent": "off_topic"})
    assert [request.intent for request in planner.readings(question, (), unsure)] == ["buy_or_rent"]
    events, _ = run(question, unsure, model)
    assert not model.asked
    assert isinstance(events[0], Card)


@pytest.mark.parametrize("question", ["腾讯 A100 多少钱一小时", "Tencent A100 hourly price?"])
def test_what_code_decides_costs_no_model_call(question: str) -> None:
    model = Chooser({"intent": "off_topic"})
    sure = Scripted("price", "off_topic", sure=True)
    assert len(planner.readings(question, (), sure)) == 1
    events, finished = run(question, sure, model)
    assert not model.asked
    assert isinstance(events[0], Card)
    assert "28.64" in finished.text


@pytest.mark.parametrize(
    ("question", "reply", "want"),
    [
        ("腾讯的 A100 啥行情", {"intent": "price"}, "28.64 元/小时"),
        ("Tencent's A100, what's the damage", {"intent": "price"}, "28.64 CNY/hour"),
        ("腾讯的 A100 和 T4 啥行情", {"intent": "price", "gpus": ["T4"]}, "8.68"),
    ],
)
def test_the_models_choice_is_answered(question: str, reply: dict[str, Any], want: str) -> None:
    model = Chooser(reply)
    events, finished = run(question, UNSURE, model)
    assert isinstance(events[0], Working)
    assert want in finished.text
    assert len(model.asked) == 1
    assert finished.model is None  # it wrote nothing of the answer


def test_a_name_that_is_not_meant_is_left_out() -> None:
    among = planner.readings("腾讯的 A100 和 T4 啥行情", (), UNSURE)
    picked = planner.chosen(among, (), Chooser({"intent": "price", "gpus": ["T4"]}))
    assert (picked.slots.gpus, picked.decided_by) == (("T4",), "model")


def test_what_is_left_out_is_left_out_of_orders_and_pairs_too() -> None:
    among = planner.readings("腾讯 2 张 A100，阿里 3 张 T4，啥行情", (), UNSURE)
    assert [item.gpu for item in among[0].slots.items] == ["A100", "T4"]
    reply = {"intent": "compare", "gpus": ["T4"], "providers": ["tencent", "alibaba"]}
    slots = planner.chosen(among, (), Chooser(reply)).slots
    assert [(item.gpu, item.count) for item in slots.items] == [("T4", 3)]
    assert all(gpu == "T4" for _, gpu in slots.pairs)


INVENTED: list[dict[str, Any]] = [
    {"intent": "giveaway", "gpus": ["A100"]},
    {"intent": "serving", "gpus": ["A100"]},  # an intent, but none that was offered
    {"intent": "price", "gpus": ["H100"]},
    {"intent": "price", "gpus": ["A100", "H100"]},
    {"intent": "price", "gpus": []},
    {"intent": "price", "gpus": "A100"},
    {"intent": "price", "gpus": [["A100"]]},
    {"intent": ["price"], "gpus": ["A100"]},
    {"intent": "price"},
    {},
]


@pytest.mark.parametrize("reply", INVENTED)
def test_an_invented_value_obeys_no_schema_and_does_not_come_through(reply: dict[str, Any]) -> None:
    among = planner.readings("A100 和 T4 现在什么行情", (), UNSURE)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(reply, planner.schema(among))
    with pytest.raises(planner.PlanError):
        planner.chosen(among, (), Chooser(reply))


FAILURES: list[dict[str, Any] | ModelUnavailableError] = [
    ModelUnavailableError(FAILED),
    ModelReplyError(FAILED),
    {"intent": "giveaway"},
]


@pytest.mark.parametrize("reply", FAILURES)
@pytest.mark.parametrize("question", ["腾讯的 A100 啥行情", "Tencent's A100, what's the damage"])
def test_a_failed_plan_leaves_the_likeliest_and_is_logged(
    reply: dict[str, Any] | ModelUnavailableError, question: str, caplog: pytest.LogCaptureFixture
) -> None:
    classifier = Scripted("price", "buy_price", "forecast")
    with caplog.at_level(logging.WARNING):
        _, finished = run(question, classifier, Chooser(reply))
    _, unplanned = run(question, classifier, None)
    assert finished.text == unplanned.text
    assert finished.status == "answered"
    assert "likeliest" in caplog.text


def test_without_planning_an_unsure_question_costs_no_call() -> None:
    model = Chooser({"intent": "off_topic"})
    _, finished = run("腾讯的 A100 啥行情", Scripted("price", "buy_price"), model, plans=False)
    assert not model.asked
    assert "28.64" in finished.text


def test_an_empty_question_is_not_put_to_the_model() -> None:
    model = Chooser({"intent": "off_topic"})
    _, finished = run(" ", UNSURE, model)
    assert not model.asked
    assert finished.status == "needs_detail"


def test_the_users_part_is_short_however_long_the_question() -> None:
    question = "我想知道这些卡哪一种合适，" * 400 + "A100 啥行情"
    request = understand(question, (), UNSURE)
    user = planner.user_prompt(request, ["前一个问题" * 500])
    assert estimated_tokens(user) <= 300
    assert user.endswith("A100 啥行情")  # a question stands at the end of a story


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_intent_of_the_classifier_is_explained(language: str) -> None:
    from assistant.answer import HANDLERS
    from assistant.intent import INTENTS

    text = planner.system_prompt(cast(Any, language))
    explained = {line.split("：" if language == "zh" else ":")[0] for line in text.splitlines()}
    assert {*INTENTS, *HANDLERS} <= explained
    assert estimated_tokens(text) <= 700


def test_the_eval_counts_the_model_apart_from_the_likeliest() -> None:
    from evals.planning import Planned, PlanningCase, report

    case = PlanningCase(id="1", question="腾讯的 A100 啥行情", turns=(), intent="price", note="")
    among = planner.readings(case.question, (), UNSURE)
    planned = planner.chosen(among, (), Chooser({"intent": "price"}))
    table = report([Planned(case, among, among[0]), Planned(case, among, planned), Planned(case, among[:1], among[0])])
    assert table.splitlines()[2:] == [
        "| decided by code | 1 | 0 |",
        "| left open: the likeliest | 2 | 0 |",
        "| left open: the right one is offered | 2 | 2 |",
        "| left open: the likeliest, where the model replied | 1 | 0 |",
        "| left open: the model | 1 | 1 |",
    ]


def test_the_cases_are_spread_over_all_intents_and_both_languages() -> None:
    from assistant.answer import HANDLERS
    from assistant.intent import INTENTS
    from assistant.reading import language_of
    from evals.case_files import read_cases
    from evals.planning import CASES, PlanningCase

    cases = read_cases(CASES, PlanningCase)
    assert {case.intent for case in cases} == {*INTENTS, *HANDLERS}
    assert len({case.id for case in cases}) == len(cases)
    english = sum(language_of(case.question) == "en" for case in cases)
    assert 0.3 < english / len(cases) < 0.7
