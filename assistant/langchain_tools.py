"""Every calculator as a LangChain tool, for agents that are built with LangChain.

The calculators stay what they are: arguments are checked and refused by tools.py, and nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.tools import StructuredTool, ToolException
from typing_extensions import override

from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.tools import CALCULATORS, ToolError, calculate_json

ROWS_BY_NAME = {GpuSpec.__name__, ModelShape.__name__}
NAMES_WILL_DO = "Where a GPU or a model is asked for, its name in the catalogue will do."


class CalculatorTool(StructuredTool):
    """A tool whose arguments are checked by the calculator alone, so that a refusal reads the same everywhere."""

    @override
    def _parse_input(self, tool_input: str | dict[str, Any], tool_call_id: str | None) -> str | dict[str, Any]:
        if isinstance(tool_input, str):
            raise ToolException(f"{self.name}: arguments must be a JSON object with named fields, got {tool_input!r}")
        return dict(tool_input)


def calculator_tools() -> list[CalculatorTool]:
    """All calculators as tools: the schema is the calculator's input, the answer its Calculation as JSON.

    A refused argument raises ToolException with the message that names the value and the way out; set
    `handle_tool_error` on a tool to hand that message to the model instead.
    """
    return [_tool(name) for name in CALCULATORS]


def _tool(name: str) -> CalculatorTool:
    calculator = CALCULATORS[name]
    said = [(calculator.compute.__doc__ or "").strip(), (calculator.given.__doc__ or "").strip()]
    if ROWS_BY_NAME & calculator.given.model_json_schema().get("$defs", {}).keys():
        said.append(NAMES_WILL_DO)
    return CalculatorTool(
        name=name, description="\n\n".join(said), args_schema=calculator.given, func=_computing(name)
    )  # fmt: skip


def _computing(name: str) -> Callable[..., str]:
    def compute(**arguments: Any) -> str:
        try:
            return calculate_json(name, arguments)[1].model_dump_json()
        except ToolError as error:
            raise ToolException(str(error)) from error

    return compute
