"""The calculators as a model is told of them: their schemas, made short.

What a model need not know goes (titles, limits that the calculator checks anyway), and a card or model is asked for by
its name alone, so that no figure of a table is ever retyped. The calculators themselves stay what they are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from assistant.tool_calls import Tool
from assistant.tools import CALCULATORS

BY_NAME = {"GpuSpec": "exact name of a card, such as A100 SXM4 80GB", "ModelShape": "exact name of an open model"}
KEPT = ("type", "enum", "const", "default", "description")


@cache
def calculator_tool(name: str) -> Tool:
    """One calculator as a tool. Raises KeyError for a name that is not on the menu."""
    calculator = CALCULATORS[name]
    schema = calculator.given.model_json_schema()
    said = (calculator.compute.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    about = (calculator.given.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    return Tool(name, f"{said} {about}".strip(), _short(schema, schema.get("$defs", {})))


def _short(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        if name in BY_NAME:
            return {"type": "string", "description": BY_NAME[name]}
        return _short(definitions[name] | {k: v for k, v in schema.items() if k in KEPT}, definitions)
    if "anyOf" in schema:
        # A Decimal is a number or its text, and what may be left out may be null: the first is what is meant.
        first = _short(schema["anyOf"][0], definitions)
        return first | {k: v for k, v in schema.items() if k in KEPT and v is not None}
    short = {k: v for k, v in schema.items() if k in KEPT and not (k == "default" and v is None)}
    if "properties" in schema:
        short.pop("description", None)
        short["properties"] = {key: _short(part, definitions) for key, part in schema["properties"].items()}
        short["required"] = schema.get("required", [])
    if isinstance(schema.get("items"), dict):
        short["items"] = _short(schema["items"], definitions)
    return short
