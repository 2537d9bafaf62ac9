"""Asks a question of a running server as a program or as the page of a browser does, and reads the answer."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

from evals.load_questions import Asked, Reader, fault_of

if TYPE_CHECKING:
    import httpx

TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Outcome:
    """One answer: milliseconds to the first event and to the end, and what was wrong with it ("" for nothing).

    `seen` is what came, `asked` the question that it came to.
    """

    first_ms: float
    end_ms: float
    fault: Literal["", "error", "cross-talk"]
    seen: str = ""
    asked: str = ""


async def by_api(client: httpx.AsyncClient, reader: Reader, asked: Asked) -> Outcome:
    """Ask as a program does: POST /api/ask, answered as server-sent events."""
    started, first_ms = time.perf_counter(), 0.0
    answer: dict[str, Any] | None = None
    body = {"question": asked.text, "thread": reader.thread}
    async with client.stream("POST", "/api/ask", json=body, headers={"Accept": "text/event-stream"}) as response:
        if response.status_code != HTTPStatus.OK:
            return Outcome(0, ms_since(started), "error", f"status {response.status_code}")
        async for event in _events(response):
            first_ms = first_ms or ms_since(started)
            answer = event["answer"] if event.get("kind") == "done" else answer
    end_ms = ms_since(started)
    if answer is None:
        return Outcome(first_ms, end_ms, "error", "the answer did not end")
    return Outcome(first_ms, end_ms, fault_of(asked, answer["question"], answer["text"]), answer["text"])


@dataclass
class Page:
    """The chat of the page in one language, as a browser drives it: Gradio's queue."""

    path: str
    event: int
    inputs: list[int]
    outputs: list[int]
    box: int
    chat: int
    thread: int

    @classmethod
    async def read(cls, client: httpx.AsyncClient, language: str) -> Page:
        """Find the event of the question's box in the page's own description."""
        config = (await client.get(f"/{language}/config")).raise_for_status().json()
        ids = {part["props"].get("elem_id"): part["id"] for part in config["components"]}
        box = ids["question"]
        event = next(each for each in config["dependencies"] if [box, "submit"] in each["targets"])
        path = f"/{language}/gradio_api/queue"
        return cls(path, event["id"], event["inputs"], event["outputs"], box, ids["chat"], ids["chat-thread"])


async def by_page(client: httpx.AsyncClient, page: Page, session: str, reader: Reader, asked: Asked) -> Outcome:
    """Ask as the page does: join the queue, read its events until the answer is complete."""
    started, first_ms = time.perf_counter(), 0.0
    given = {page.box: asked.text, page.thread: reader.thread}
    joined = await client.post(
        f"{page.path}/join",
        json={"data": [given.get(part, "") for part in page.inputs], "fn_index": page.event, "session_hash": session,
              "trigger_id": page.box, "event_data": None},
    )  # fmt: skip
    if joined.status_code != HTTPStatus.OK:
        return Outcome(0, ms_since(started), "error", f"status {joined.status_code}: {joined.text[:200]}")
    async with client.stream("GET", f"{page.path}/data", params={"session_hash": session}) as response:
        async for event in _events(response):
            if event["msg"] == "process_generating":
                first_ms = first_ms or ms_since(started)
            if event["msg"] == "process_completed":
                return _read_page(page, asked, first_ms, ms_since(started), event)
            if event["msg"] == "unexpected_error":
                return Outcome(first_ms, ms_since(started), "error", str(event.get("message")))
    return Outcome(first_ms, ms_since(started), "error", "the answer did not end")


def _read_page(page: Page, asked: Asked, first_ms: float, end_ms: float, event: dict[str, Any]) -> Outcome:
    if not event.get("success"):
        return Outcome(first_ms, end_ms, "error", str(event.get("output"))[:200])
    messages = event["output"]["data"][page.outputs.index(page.chat)]
    if not messages:
        return Outcome(first_ms, end_ms, "error", "no messages came back")
    question, answer = (html.unescape(TAG.sub(" ", _text_of(message))) for message in messages[-2:])
    question = question.replace("\\", "")  # what is typed is no Markdown
    return Outcome(first_ms, end_ms, fault_of(asked, question, answer), answer)


def _text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content)


async def _events(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            yield json.loads(line[5:])


def ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
