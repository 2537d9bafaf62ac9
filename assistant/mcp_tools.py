"""The calculators and the look-ups of prices and specifications as MCP tools, mounted apart from the page.

Nothing is computed here: arguments are checked and refused by tools.py, rows come from listing.py and spec_listing.py.
No tool changes anything, takes a file or knows who asks; who may ask is decided before a request comes here.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant import listing
from assistant.argument_types import allowed_types
from assistant.calculator.calculation import Calculation
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.calculator_words import calculators, field_label
from assistant.spec_listing import find_specs as specs_of
from assistant.spec_listing import specs_json
from assistant.tools import CALCULATORS, ToolError, calculate

if TYPE_CHECKING:
    from fastapi import FastAPI

PATH = "/tools"
MOST_ROWS = 50
MOST_NAMES = 10
LONGEST_NAME = 120
SERVED = ("/gradio_api/mcp", "/gradio_api/mcp/", "/gradio_api/mcp/schema", "/gradio_api/info")
LARGEST_BYTES = 1_000_000  # of one call, which must say its length
NOT_HERE = {"error": "只有 /tools/gradio_api/mcp/ 上的工具。 / There are only the tools at /tools/gradio_api/mcp/."}
TOO_LARGE = {
    "error": f"调用要注明长度，至多 {LARGEST_BYTES:,} 字节。 / A call must state its length, at most {LARGEST_BYTES:,} bytes."
}
BROKEN = "Something went wrong inside the tool and was logged. / 工具内部出错，已记入日志。"
BY_NAME = "the exact name of a row, such as 'A100 SXM4 80GB' or 'Llama-3.1-8B', or an object with its figures"
_log = logging.getLogger(__name__)


def mount_tools(app: FastAPI) -> None:
    """Serve the tools at /tools/gradio_api/mcp/ of `app` (streamable HTTP); a browser that comes there is sent home."""
    import gradio as gr
    from gradio.events import api

    with gr.Blocks(title="gpu-advisor tools", analytics_enabled=False) as tools:
        for function in tool_functions():
            api(function, api_name=function.__name__, queue=False)
    gr.mount_gradio_app(
        app, tools, path=PATH, mcp_server=True, show_error=False, ssr_mode=False, enable_monitoring=False,
        footer_links=[], max_file_size=1,
    )  # fmt: skip
    tools.has_launched = True  # else a file named by a client would be taken for one that the page itself has
    for route in app.routes:
        if isinstance(route, Mount) and route.path == PATH:
            route.app = _OnlyTools(route.app)


class _OnlyTools:
    """Lets through the tools and their list, and nothing else of what Gradio serves: no page, no upload, no queue."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            request = Request(scope)
            inner = str(scope["path"]).removeprefix(PATH)
            is_browser = request.method == "GET" and "text/html" in request.headers.get("accept", "")
            length = request.headers.get("content-length", "")
            if is_browser:
                await RedirectResponse("/")(scope, receive, send)
                return
            if inner not in SERVED:
                await JSONResponse(NOT_HERE, HTTPStatus.NOT_FOUND)(scope, receive, send)
                return
            if request.method == "POST" and not (length.isdecimal() and int(length) <= LARGEST_BYTES):
                await JSONResponse(TOO_LARGE, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def tool_functions() -> list[Callable[..., Any]]:
    """Every tool as a function with typed, flat parameters and a description.

    Each gives JSON as text; what it refuses is a gradio.Error whose message is a sentence.
    """
    return [_guarded(find_prices), _guarded(find_specs), *(_guarded(_calculator(name)) for name in CALCULATORS)]


def find_prices(
    gpus: list[str], provider: str = "", region: str = "", currency: str = "", limit: int = 20
) -> dict[str, Any]:
    """Rental prices of GPUs, cheapest per GPU-hour first: each row with its date, age in days and source.

    Rows of all pricing models are shown (on-demand, spot, committed); `left_out` counts the rows that did not match and why.

    Args:
        gpus: names of GPUs, such as ["H100", "A100 SXM4 80GB"]; at most 10
        provider: name of a cloud; empty for all
        region: a region as the provider writes it; empty for all
        currency: three letters, such as USD; where no row has it, rows are converted at a dated yearly rate
        limit: rows shown, 1 to 50
    """
    if not 1 <= limit <= MOST_ROWS:
        raise ToolError(f"limit: it has to be from 1 to {MOST_ROWS}, got {limit}")
    found = listing.find(_names(gpus), provider, region, currency, limit=limit)
    rows = json.loads(listing.offers_json(found, _today()))
    return {
        "rows": [{key: value for key, value in row.items() if value not in (None, "", [])} for row in rows],
        "matched": found.result.matched, "not_shown": found.result.matched - len(rows), "considered": found.result.considered,
        "left_out": {listing.LEFT_OUT[left.reason][1]: left.count for left in found.result.left_out},
    }  # fmt: skip


def find_specs(gpus: list[str]) -> list[Any]:
    """Specifications of GPUs with their sources: memory, bandwidth, TFLOPS by precision, power, links, export rule.

    A figure that sources dispute has "low" and "high"; an unknown one is null. A name that fits no row has no matches.

    Args:
        gpus: names of GPUs, such as ["H100", "RTX 4090"]; at most 10
    """
    return list(json.loads(specs_json(specs_of(_names(gpus)))))


def _names(gpus: list[str]) -> list[str]:
    if not 1 <= len(gpus) <= MOST_NAMES:
        raise ToolError(f"gpus: give 1 to {MOST_NAMES} names, got {len(gpus)}")
    for name in gpus:
        if len(name) > LONGEST_NAME:
            raise ToolError(f"gpus: a name has at most {LONGEST_NAME} characters, got {name[:40]!r} and more")
    return gpus


def _today() -> date:
    return datetime.now(UTC).date()


def _calculator(name: str) -> Callable[..., dict[str, Any]]:
    """A calculator as a function whose signature and description are its input model's."""
    given = CALCULATORS[name].given
    parameters = [_parameter(key, field) for key, field in given.model_fields.items()]
    # What may be left out stands last, as Python asks of a signature; programs give arguments by name.
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)
    order = [parameter.name for parameter in parameters]

    def compute(*values: Any) -> dict[str, Any]:
        stated = {key: value for key, value in zip(order, values, strict=False) if value is not None}
        result = calculate(name, **stated)
        assumptions = [
            {"name": a.name, "value": a.value, "text": a.text.en, "text_zh": a.text.zh, "source": a.source}
            for a in result.assumptions
        ]
        shown = result.model_dump(mode="json", exclude={"assumptions", "changes_most", "rows"})
        return {**shown, **_rows(result), "assumptions": assumptions}

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = _description(name, order)
    compute.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": dict[str, Any]}
    compute.__signature__ = inspect.Signature(parameters, return_annotation=dict[str, Any])  # type: ignore[attr-defined]
    return compute


def _rows(result: Calculation) -> dict[str, Any]:
    """The table of a result, its first MOST_ROWS, and how many there are more."""
    if not result.rows:
        return {}
    rows = result.model_dump(mode="json", include={"rows"})["rows"]
    return {"rows": rows[:MOST_ROWS], "rows_not_shown": max(0, len(rows) - MOST_ROWS)}


def _description(name: str, order: Sequence[str]) -> str:
    calculator = CALCULATORS[name]
    said = [_plain(calculator.compute.__doc__), _plain(calculator.given.__doc__)]
    words = calculators().get(name)
    lines = [f"{key}: {_about(name, key)}" for key in order]
    about = f"{words.name.zh}。" if words else ""
    return "\n".join([*filter(None, said), about, "Args:", *(f"    {line}" for line in lines)])


def _plain(doc: str | None) -> str:
    """A docstring on one line; nothing in it may look like the start of its arguments."""
    return re.sub(r"\s+", " ", inspect.cleandoc(doc or "").replace("`", "")).strip()


def _about(name: str, key: str) -> str:
    field = CALCULATORS[name].given.model_fields[key]
    label = field_label(name, key).en
    wanted = {kind for kind in allowed_types(field.annotation) if kind in (GpuSpec, ModelShape)}
    return f"{label}: {BY_NAME}" if wanted else label


def _parameter(key: str, field: FieldInfo) -> inspect.Parameter:
    annotation = _shown_type(field.annotation)
    if field.is_required():
        return inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
    default = field.get_default(call_default_factory=True)
    if default is None:
        annotation = annotation | None if annotation is not Any else Any
    return inspect.Parameter(
        key, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation, default=_shown_default(default)
    )


def _shown_default(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return list(value) if isinstance(value, tuple) else value


def _shown_type(annotation: Any) -> Any:
    """The type as a client sees it: numbers, texts, choices, lists; a row of the catalogue by name or as an object."""
    kinds = list(dict.fromkeys(allowed_types(annotation)))
    if GpuSpec in kinds or ModelShape in kinds:
        return str | dict[str, Any]
    if len(kinds) > 1 and all(get_origin(kind) is Literal for kind in kinds):
        return Literal[tuple(choice for kind in kinds for choice in get_args(kind))]
    kind = kinds[0]
    if get_origin(kind) in (tuple, list):
        return list[_shown_type(get_args(kind)[0])]  # type: ignore[misc]
    if get_origin(kind) is Literal or kind in (int, bool, str):
        return kind
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return dict[str, Any]
    return {Decimal: float, float: float}.get(kind, str)


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its refusals as sentences for the client; what breaks is logged and never shown."""

    @functools.wraps(function)
    def guarded(*values: Any) -> str:
        try:
            return json.dumps(function(*values), ensure_ascii=False)
        except (ToolError, listing.UnknownNameError) as refused:
            raise _refusal(str(refused).split("; see `")[0]) from refused
        except Exception as error:
            _log.exception("the tool %s broke", function.__name__)
            raise _refusal(BROKEN) from error

    given = inspect.signature(function, eval_str=True)
    guarded.__signature__ = given.replace(return_annotation=str)  # type: ignore[attr-defined]
    guarded.__annotations__ = {key: each.annotation for key, each in given.parameters.items()} | {"return": str}
    return guarded


def _refusal(sentence: str) -> Exception:
    """What Gradio and its MCP server tell the client: the sentence alone, without quotes or a type."""
    import gradio as gr

    class Refusal(gr.Error):
        def __str__(self) -> str:
            return str(self.message)

    return Refusal(sentence, print_exception=False)
