"""The curl lines of the README do what stands beside them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from documents_server import serving

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
LINES = re.findall(r"^curl .*$", README.split("## Over HTTP")[1].split("\n## ")[0], re.M)
# What the answer of each must hold, by how its line begins after the address and options.
SHOWS = {
    "/api/ask": '"status":"answered"',
    "/api/ask text/event-stream": "event: done",
    "/api/prices.csv?gpu=T4": "8.68",
    "/api/documents": "[",
    "/metrics": "gpu_advisor",
    "/readyz": "ready",
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("uploads")) as url:
        yield url


def sent(line: str, url: str) -> tuple[str, httpx.Response]:
    """The path with what is accepted, and the answer to the request that the line describes."""
    words = shlex.split(line)[1:]
    address = next(word for word in words if word.startswith("http"))
    given = {words[at]: [] for at in range(len(words)) if words[at] in ("-H", "-d")}
    for at, word in enumerate(words):
        if word in given:
            given[word].append(words[at + 1])
    headers = dict(header.split(": ", 1) for header in given.get("-H", []))
    path = address.removeprefix("http://127.0.0.1:7860")
    body = "".join(given.get("-d", [])).encode()
    with httpx.Client(trust_env=False, timeout=30) as client:
        answer = client.request("POST" if body else "GET", url + path, headers=headers, content=body or None)
    return " ".join([path, *([headers["Accept"]] if "Accept" in headers else [])]), answer


def test_every_surface_has_a_line() -> None:
    assert len(LINES) == len(SHOWS)


@pytest.mark.parametrize("line", LINES)
def test_a_curl_line_is_answered(url: str, line: str) -> None:
    what, answer = sent(line, url)
    assert answer.status_code == 200, answer.text
    assert SHOWS[what] in answer.text


def test_the_mcp_address_of_the_readme_is_served(url: str) -> None:
    (address,) = re.findall(r"`http://127\.0\.0\.1:7860(/\S*/mcp/)`", README)
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    accept = {"Accept": "application/json, text/event-stream"}
    with httpx.Client(trust_env=False, timeout=30) as client:
        answer = client.post(url + address, json=hello, headers=accept)
    assert answer.status_code == 200
    assert '"serverInfo"' in answer.text
