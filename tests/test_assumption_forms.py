"""The panel of assumptions: boxes, what typed text means, whose answer it is, and what is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from starlette.requests import Request
from test_assumption_changes import first, having

from assistant.accounts import User
from assistant.assumption_changes import ChangeRefusedError, Wanted, calculations
from assistant.assumption_forms import revise, sheets, text_of, wanted_of
from assistant.calculator_links import opened
from assistant.conversations import AdviceFailedError, Conversations, UnknownTurnError
from assistant.evidence import Answer, Language
from assistant.revised_answer import revised
from assistant.web.assumptions import _Handlers
from assistant.web.assumptions_form import panel_html

POWER = "8 张 H100 一年电费多少？"


class Reviser:
    """An advisor that answers anew with code, and remembers the turns it was given."""

    def __init__(self) -> None:
        self.turns: tuple[str, ...] = ()

    def ask(self, question: str, turns: object = ()) -> Any:
        raise AssertionError("the panel asks no question")

    def revised(self, original: Answer, turns: tuple[str, ...], changes: Wanted) -> Answer:
        self.turns = turns
        return revised(original, turns, changes, having("power"))


class Broken(Reviser):
    def revised(self, original: Answer, turns: tuple[str, ...], changes: Wanted) -> Answer:
        raise ZeroDivisionError("secret-internals")


@pytest.fixture(scope="module")
def power() -> Answer:
    return first(POWER, "power")


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path / "conversations.sqlite")


def asked_by(name: str) -> Any:
    return Request({"type": "http", "path": "/", "headers": [], "state": {"user": User(name=name, role="reader")}})


class Boxes(HTMLParser):
    """The named boxes of a form and what stands in them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, str] = {}
        self._select = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        if tag == "select":
            self._select = given["name"]
        elif tag == "option" and "selected" in given and self._select:
            self.values[self._select] = given["value"]
        elif tag == "input" and "name" in given:
            self.values[given["name"]] = given["value"]


def report(do: str, turn: int, typed: Mapping[str, str]) -> str:
    return json.dumps({"do": do, "turn": turn, "typed": typed, "at": 1})


def test_an_untouched_form_changes_nothing(power: Answer) -> None:
    for language in ("zh", "en"):
        boxes = Boxes(panel_html(1, sheets(power), language)).values
        assert boxes["energy.pue"] == "1.56"
        assert boxes["energy.gpus"] == "8"
        assert wanted_of(power, boxes) == {}


def test_one_touched_box_is_one_change_and_the_earlier_ones_stay(power: Answer) -> None:
    once = revised(power, (), wanted_of(power, {"energy.pue": "1.2"}), having("power"))
    boxes = Boxes(panel_html(1, sheets(once), "zh")).values
    assert boxes["energy.pue"] == "1.2"
    assert wanted_of(once, boxes | {"energy.load": "70%"}) == {"energy": {"pue": 1.2, "load": "70%"}}
    assert wanted_of(once, boxes | {"energy.pue": ""}) == {"energy": {"pue": ""}}
    twice = revised(once, (), wanted_of(once, boxes | {"energy.load": "70%"}), having("power"))
    assert "由 1 改为 **0.7**" in twice.text
    assert "由 1.56 改为 **1.2**" in twice.text


def test_a_changed_box_says_what_it_was_and_keeps_its_place(power: Answer) -> None:
    once = revised(power, (), {"energy": {"pue": 1.2}}, having("power"))
    names = [given.argument for sheet in sheets(power) for given in sheet.leading]
    assert [given.argument for sheet in sheets(once) for given in sheet.leading] == names
    assert "原来：1.56" in panel_html(1, sheets(once), "zh")
    assert "Was: 1.56" in panel_html(1, sheets(once), "en")


def test_what_several_calculations_share_is_asked_for_once() -> None:
    fit = first("Does Llama-3.1-8B fit on one RTX 4090 with 8k context?", "fit")
    arguments = [given.argument for sheet in sheets(fit) for given in (*sheet.leading, *sheet.rest)]
    assert arguments.count("context_tokens") == 1
    assert "gpu_memory_utilization" in arguments


def test_a_large_round_number_fits_into_its_box() -> None:
    asked = first("How long does it take to train a 7B model on 1T tokens with 64 H100s?", "train_cost")
    tokens = next(g for w in calculations(asked) for g in w.inputs if g.argument == "tokens")
    assert text_of(tokens) == "1e12"
    assert wanted_of(asked, {"training_cost.tokens": "1e12"}) == {}
    again = revised(asked, (), wanted_of(asked, {"training_cost.tokens": "2e12"}), having("train_cost"))
    assert "(2 trillion tokens)" in again.text


def test_the_link_opens_the_calculator_with_the_same_inputs(power: Answer) -> None:
    query = dict(parse_qsl(sheets(power)[0].query))
    found = opened(query)
    assert query["tab"] == "calculator"
    assert found
    assert found.calculator == "energy"
    assert found.typed["hours"] == "8760"
    assert found.typed["gpus"] == "8"


def test_a_box_that_there_is_not_is_refused(power: Answer) -> None:
    with pytest.raises(ChangeRefusedError, match=r"energy\.secret"):
        wanted_of(power, {"energy.secret": "1"})


def test_the_turns_before_it_and_only_they_go_along(store: Conversations, power: Answer) -> None:
    store.append("t", "earlier", None, "ann")
    turn = store.append("t", POWER, power, "ann")
    store.append("t", "later", None, "ann")
    advisor = Reviser()
    again = revise(advisor, store, turn, {"energy": {"pue": 1.2}}, "ann")
    assert advisor.turns == ("earlier",)
    assert store.turn(turn, "ann").answer == again


def test_another_users_answer_is_neither_shown_nor_changed(store: Conversations, power: Answer) -> None:
    turn = store.append("t", POWER, power, "ann")
    handlers = _Handlers("en", Reviser, store)
    assert "1.56" in handlers.open(str(turn), asked_by("ann"))
    assert "1.56" not in handlers.open(str(turn), asked_by("bob"))
    panel, told = handlers.go(report("recompute", turn, {"energy.pue": "1.2"}), asked_by("bob"))
    assert "role='alert'" in panel.replace('"', "'")
    assert not isinstance(told, str)
    assert store.turn(turn, "ann").answer == power
    with pytest.raises(UnknownTurnError):
        revise(Reviser(), store, turn, {"energy": {"pue": 1.2}}, "bob")


@pytest.mark.parametrize(
    ("language", "faulty"), [("zh", "不能小于 1"), ("en", "nothing can be computed")]
)  # fmt: skip
def test_what_cannot_be_computed_is_said_and_what_was_typed_stays(
    store: Conversations, power: Answer, language: Language, faulty: str
) -> None:
    turn = store.append("t", POWER, power, "ann")
    panel, _ = _Handlers(language, Reviser, store).go(report("recompute", turn, {"energy.pue": "0.5"}), asked_by("ann"))
    assert faulty in panel
    assert Boxes(panel).values["energy.pue"] == "0.5"
    assert store.turn(turn, "ann").answer == power


def test_recompute_and_reset_tell_the_chat_which_turn_changed(store: Conversations, power: Answer) -> None:
    turn = store.append("t", POWER, power, "ann")
    handlers = _Handlers("zh", Reviser, store)
    panel, told = handlers.go(report("recompute", turn, {"energy.pue": "1.2"}), asked_by("ann"))
    assert told.startswith(f"{turn}@")
    assert Boxes(panel).values["energy.pue"] == "1.2"
    kept = store.turn(turn, "ann").answer
    assert kept
    assert "由 1.56 改为 **1.2**" in kept.text
    handlers.go(report("reset", turn, {}), asked_by("ann"))
    kept = store.turn(turn, "ann").answer
    assert kept
    assert (kept.text, kept.calls) == (power.text, power.calls)


def test_what_breaks_is_logged_and_never_shown(
    store: Conversations, power: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    turn = store.append("t", POWER, power, "ann")
    panel, _ = _Handlers("en", Broken, store).go(report("recompute", turn, {"energy.pue": "1.2"}), asked_by("ann"))
    assert AdviceFailedError.sentence.en in panel
    assert "secret" not in panel
    assert "secret-internals" in caplog.text
    assert store.turn(turn, "ann").answer == power


@pytest.mark.parametrize("sent", ["", "x", "[]", '{"turn": "<script>"}', report("explode", 1, {})])
def test_a_report_that_is_none_opens_nothing(store: Conversations, sent: str) -> None:
    handlers = _Handlers("en", Reviser, store)
    assert handlers.go(sent, asked_by("ann"))[0] == ""
    assert "<script>" not in handlers.open(sent, asked_by("ann"))


def test_an_advisor_that_is_still_loading_is_said(store: Conversations, power: Answer) -> None:
    turn = store.append("t", POWER, power, "ann")
    panel, _ = _Handlers("en", lambda: None, store).go(
        report("recompute", turn, {"energy.pue": "1.2"}), asked_by("ann")
    )
    assert "not loaded yet" in panel
    assert Boxes(panel).values["energy.pue"] == "1.2"
