"""The calculators as LangChain tools: all of them, with their schemas, their results as JSON, and clear refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool

from assistant import tools
from assistant.calculator.calculation import Calculation
from assistant.calculator.shapes import GpuSpec
from assistant.langchain_tools import calculator_tools
from assistant.tools import CALCULATORS, calculate, calculate_json

RENT = {"gpus": 4, "hours": 72, "price_per_hour": "28.64"}  # 288 x 28.64 = 8,248.32
BUY = {"cards": 1, "price_per_card": 1000, "rent_per_gpu_hour": 1}


def tool(name: str) -> BaseTool:
    return next(t for t in calculator_tools() if t.name == name)


def test_every_calculator_is_a_tool_with_its_own_schema() -> None:
    made = calculator_tools()
    assert [t.name for t in made] == list(CALCULATORS)
    for each in made:
        schema = convert_to_openai_tool(each)["function"]
        assert schema["parameters"]["properties"].keys() == CALCULATORS[each.name].given.model_fields.keys()
        assert schema["description"].strip()


def test_the_result_is_the_calculation_as_json() -> None:
    answer = tool("rental_cost").invoke(RENT)
    assert json.loads(answer)["value"] == 8248.32
    assert Calculation.model_validate_json(answer) == calculate("rental_cost", **RENT)


def test_a_tool_call_of_a_model_is_answered_by_a_tool_message() -> None:
    message = tool("rental_cost").invoke({"type": "tool_call", "id": "7", "name": "rental_cost", "args": RENT})
    assert isinstance(message, ToolMessage)
    assert (message.tool_call_id, json.loads(str(message.content))["unit"]) == ("7", "CNY")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (RENT | {"hours": -1}, "rental_cost: hours: .*got -1"),
        (RENT | {"gpu": "A100"}, "gpu: Extra .*got 'A100'"),
        ({}, "hours: Field required"),
        (RENT | {"hours": "1e12", "price_per_hour": "1e12", "gpus": 10**6}, "beyond what can be computed"),
        ("72", "must be a JSON object with named fields, got '72'"),
    ],
)
def test_a_refusal_is_a_tool_exception_with_the_calculators_own_message(arguments: Any, message: str) -> None:
    with pytest.raises(ToolException, match=message):
        tool("rental_cost").invoke(arguments)


def test_a_refusal_can_be_handed_to_the_model_instead() -> None:
    handled = tool("rental_cost")
    handled.handle_tool_error = True
    assert "hours" in str(handled.invoke(RENT | {"hours": 0}))


def test_only_tools_that_take_a_row_say_that_a_name_will_do() -> None:
    assert "its name in the catalogue will do" in tool("buy_or_rent").description
    assert "its name in the catalogue will do" not in tool("rental_cost").description


def known(kind: type, name: str) -> GpuSpec | None:
    """A catalogue of one card."""
    return GpuSpec(name="H100", memory_gib=80, tdp_w=700) if (kind, name) == (GpuSpec, "H100") else None


def test_a_gpu_may_be_given_by_name_also_deep_within_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_rows_for_names", known)
    assert calculate("buy_or_rent", **BUY, gpu="H100") == calculate("buy_or_rent", **BUY, tdp_w=700)
    candidates = [{"gpu": "H100", "prices": [{"price": 2}]}]
    given, result = calculate_json("rank_gpus", {"candidates": candidates, "memory_need_gib": 40})
    assert result.outputs["best"] == "H100"
    assert given.model_dump()["candidates"][0]["gpu"]["tdp_w"] == 700
    assert json.loads(tool("buy_or_rent").invoke(BUY | {"gpu": "H100"}))["unit"] == "CNY"


def test_a_name_that_no_row_has_is_refused_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_rows_for_names", known)
    with pytest.raises(ToolException, match=r"buy_or_rent\.gpu: no GPU is called 'H1000'"):
        tool("buy_or_rent").invoke(BUY | {"gpu": "H1000"})


def test_a_name_where_no_row_is_asked_for_stays_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_rows_for_names", known)
    offer = {"gpu": "H100", "price": 2}
    assert calculate("rental_comparison", offers=[offer]).rows[0]["gpu"] == "H100"
