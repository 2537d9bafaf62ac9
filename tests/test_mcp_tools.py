"""The MCP tools over a real server process on loopback, asked with the MCP client library."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent, Tool

from assistant.mcp_tools import MOST_ROWS, tool_functions
from assistant.tools import CALCULATORS

ROOT = Path(__file__).resolve().parent.parent
SERVER = """
import socket
from assistant.web.page import stay_local
stay_local()
import uvicorn
from fastapi import FastAPI
from assistant.mcp_tools import mount_tools
app = FastAPI()
mount_tools(app)
listener = socket.create_server(("127.0.0.1", 0))
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(listener.getsockname()[1], flush=True)
Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    environment = {**os.environ, "GPU_ADVISOR_HOME": str(tmp_path_factory.mktemp("home"))}
    command = [sys.executable, "-c", SERVER]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        port = server.stdout.readline().strip()
        assert port, "the server did not start"
        yield f"http://127.0.0.1:{port}/tools"
        server.terminate()


def listed(url: str) -> dict[str, Tool]:
    async def ask() -> dict[str, Tool]:
        async with (
            streamable_http_client(f"{url}/gradio_api/mcp/") as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            return {tool.name: tool for tool in (await session.list_tools()).tools}

    return asyncio.run(ask())


def called(url: str, name: str, **arguments: Any) -> CallToolResult:
    async def ask() -> CallToolResult:
        async with (
            streamable_http_client(f"{url}/gradio_api/mcp/") as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            return await session.call_tool(name, arguments)

    return asyncio.run(ask())


def text(result: CallToolResult) -> str:
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text


def answer(url: str, name: str, **arguments: Any) -> Any:
    result = called(url, name, **arguments)
    assert not result.isError, text(result)
    return json.loads(text(result))


def test_the_tools_are_the_calculators_and_two_look_ups(url: str) -> None:
    assert set(listed(url)) == {*CALCULATORS, "find_prices", "find_specs"}


def test_a_tool_has_typed_parameters_with_defaults_and_what_they_are_counted_in(url: str) -> None:
    schema = listed(url)["rental_cost"].inputSchema
    assert schema["required"] == ["hours", "price_per_hour"]
    assert schema["properties"]["gpus"] == {"type": "integer", "description": "GPUs", "default": 1}
    assert schema["properties"]["hours"]["type"] == "number"
    assert "hours" in schema["properties"]["hours"]["description"]
    fit = listed(url)["inference_fit"]
    assert {"type": "string"} in fit.inputSchema["properties"]["gpu"]["anyOf"]
    assert "vllm" in fit.inputSchema["properties"]["engine"]["enum"]


def test_a_calculator_gives_value_unit_formula_and_assumptions(url: str) -> None:
    rent = answer(url, "rental_cost", gpus=4, hours=72, price_per_hour=28.64)
    assert (rent["value"], rent["unit"], rent["formula"]) == (8248.32, "CNY", "4 × 72 h × 28.64 CNY/h = 8,248.32 CNY")
    power = answer(url, "energy", hours=100, gpu_watts=700)
    assert {(a["name"], a["value"]) for a in power["assumptions"]} >= {("pue", "1.56"), ("load", "1")}
    assert all(a["text"] and a["text_zh"] and a["source"] for a in power["assumptions"])


def test_rows_of_the_catalogue_are_named(url: str) -> None:
    fit = answer(url, "inference_fit", model="Llama-3.1-8B", gpu="GeForce RTX 4090", context_tokens=8192)
    assert fit["outputs"]["verdict"] == "fits"


def test_prices_come_with_date_age_source_and_what_was_left_out(url: str) -> None:
    found = answer(url, "find_prices", gpus=["A100 SXM4 80GB"], currency="USD", limit=2)
    assert len(found["rows"]) == 2
    assert found["matched"] == found["not_shown"] + 2
    assert all(
        {"price_per_gpu_hour", "as_of", "age_days", "source_en", "provider"} <= set(row) for row in found["rows"]
    )
    assert found["left_out"]["another form"] > 0


def test_specifications_of_several_cards_in_one_call(url: str) -> None:
    found = answer(url, "find_specs", gpus=["T4", "no such card"])
    assert found[0]["matches"][0]["memory"] == 16
    assert found[1]["matches"] == []


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("rental_cost", {"hours": -1, "price_per_hour": 1}, "hours: Input should be greater than 0, got -1"),
    ("rental_cost", {"hours": 1}, "'price_per_hour' is a required property"),
    ("rental_cost", {"hours": "x", "price_per_hour": 1}, "not of type 'number'"),
    ("inference_fit", {"model": "Llama-9-8B", "gpu": "T4"}, "no model is called 'Llama-9-8B'"),
    ("find_prices", {"gpus": ["nonsense"]}, "no gpu is called 'nonsense'"),
    ("find_prices", {"gpus": []}, "give 1 to 10 names, got 0"),
    ("find_prices", {"gpus": ["T4"], "limit": 1000}, f"from 1 to {MOST_ROWS}, got 1000"),
    ("find_prices", {"gpus": ["x" * 500]}, "at most 120 characters"),
    ("open_file", {"path": "/etc/passwd"}, "Unknown tool"),
]


@pytest.mark.parametrize(("name", "arguments", "sentence"), REFUSED)
def test_what_is_wrong_is_said_without_internals(url: str, name: str, arguments: dict[str, Any], sentence: str) -> None:
    result = called(url, name, **arguments)
    assert result.isError
    assert sentence in text(result)
    assert not [word for word in ("Traceback", ".py", "Error(", "gpu-advisor calc") if word in text(result)]


def test_nothing_but_the_tools_is_served(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as client:
        info = client.get("/gradio_api/info").json()
        assert len(info["named_endpoints"]) == len(CALCULATORS) + 2
        assert info["unnamed_endpoints"] == {}
        for path in (
            "/",
            "/config",
            "/gradio_api/upload",
            "/gradio_api/file=/etc/passwd",
            "/gradio_api/mcp/sse",
            "/theme.css",
        ):
            assert client.get(path).status_code == 404, path
        assert client.post("/gradio_api/upload", files={"files": b"x"}).status_code == 404
        assert client.post("/gradio_api/run/rental_cost", json={"data": [1, 1]}).status_code == 404
        for path in ("/", "/gradio_api/mcp/"):
            browser = client.get(path, headers={"Accept": "text/html"})
            assert (browser.status_code, browser.headers["location"]) == (307, "/")


def test_a_call_must_not_be_larger_than_it_may(url: str) -> None:
    with httpx.Client(base_url=url, trust_env=False) as client:
        assert client.post("/gradio_api/mcp/", content=b"x" * 1_000_001).status_code == 413


def test_a_fault_of_ours_is_logged_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret-internals")

    monkeypatch.setattr("assistant.mcp_tools.calculate", breaks)
    rental = next(function for function in tool_functions() if function.__name__ == "rental_cost")
    with pytest.raises(Exception, match="Something went wrong") as told:
        rental(1, 1)
    assert "secret" not in str(told.value)
    assert "secret-internals" in caplog.text
