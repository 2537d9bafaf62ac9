"""A small OpenAI-compatible server on loopback whose replies are scripted; run as a file, it is a stub model child.

It checks nothing about prompts and generates nothing.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

Ending = Literal["done", "no finish", "endless", "cut", "stall", "exit", "close_port", "error"]


@dataclass(frozen=True)
class Reply:
    """One scripted reply: a stream of text pieces and how it ends, or, with `body`, a plain HTTP answer.

    `deltas` are sent as they are after the text, `events` are whole SSE data lines sent before everything else.
    """

    pieces: tuple[str, ...] = ("ok",)
    reasoning: tuple[str, ...] = ()
    ending: Ending = "done"
    status: int = 200
    body: str | None = None
    deltas: tuple[dict[str, Any], ...] = ()
    events: tuple[str, ...] = ()
    finish: str = "stop"
    usage: bool = False
    headers: tuple[tuple[str, str], ...] = ()


class FakeOpenAI:
    """Serves from the moment it is made until `close`. `requests` holds the bodies received, in order."""

    def __init__(self, *replies: Reply, answer: Callable[[dict[str, Any]], Reply] | None = None) -> None:
        self.models = ["fake-model"]
        self.is_web_page = False
        self.refused_formats: set[str] = set()
        self.refuses_tools_with: Reply | None = None
        self.requests: list[dict[str, Any]] = []
        self.client_left = threading.Event()
        self.closing = threading.Event()
        self._replies = list(replies)
        self._answer = answer
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.fake = self  # type: ignore[attr-defined]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def listening_address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def base_url(self) -> str:
        return self.listening_address + "/v1"

    def reply_to(self, request: dict[str, Any]) -> Reply:
        self.requests.append(request)
        wanted = request.get("response_format", {}).get("type")
        if wanted in self.refused_formats:
            return error_reply(400, f"response_format {wanted} is not supported")
        if request["model"] not in self.models:
            return error_reply(404, f"The model {request['model']} does not exist.")
        if self.refuses_tools_with and "tools" in request:
            return self.refuses_tools_with
        if self._answer:
            return self._answer(request)
        return self._replies.pop(0) if self._replies else Reply()

    def close(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> FakeOpenAI:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def error_reply(status: int, message: str, **headers: str) -> Reply:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Reply(status=status, body=json.dumps({"error": {"message": message, "code": status}}), headers=named)


def tool_delta(index: int | None, arguments: str | None = None, **rest: Any) -> dict[str, Any]:
    """A delta with one piece of a tool call; `rest` may hold id and name."""
    function = {"arguments": arguments} | ({"name": rest.pop("name")} if "name" in rest else {})
    return {"tool_calls": [{"index": index, "type": "function", "function": function, **rest}]}


def chunk(choices: list[dict[str, Any]]) -> dict[str, Any]:
    """A chunk of a streamed reply; without choices it is what servers send for usage or a content filter."""
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "fake-model", "choices": choices}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self._fake.is_web_page or not self.path.endswith("/v1/models"):
            self._send_plain(200 if self._fake.is_web_page else 404, "<html>welcome</html>")
            return
        models = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in self._fake.models]
        self._send_plain(200, json.dumps({"object": "list", "data": models}))

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/v1/chat/completions"):
            self._send_plain(404, "<html>not here</html>")
            return
        reply = self._fake.reply_to(request)
        if reply.body is not None:
            self._send_plain(reply.status, reply.body, reply.headers)
            return
        try:
            self._stream(reply)
        except (BrokenPipeError, ConnectionResetError):
            self._fake.client_left.set()
            self.close_connection = True

    @property
    def _fake(self) -> FakeOpenAI:
        return self.server.fake  # type: ignore[attr-defined, no-any-return]

    def _stream(self, reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in reply.events:
            self._send_chunk(f"data: {event}\n\n".encode())
        for thought in reply.reasoning:
            self._send_event({"reasoning_content": thought})
        for piece in reply.pieces:
            self._send_event({"content": piece})
        for delta in reply.deltas:
            self._send_event(delta)
        self._end(reply)

    def _end(self, reply: Reply) -> None:
        ending = reply.ending
        match ending:
            case "done":
                self._finish(reply)
            case "error":
                self._send_chunk(b'data: {"error": {"message": "out of memory", "code": 500}}\n\n')
            case "endless":
                while not self._fake.closing.wait(0.01):
                    self._send_event({"content": "more "})
            case "exit" | "close_port":
                self._die(ending)
            case "stall":
                self._fake.closing.wait()
        self.close_connection = True
        if ending not in ("cut", "close_port", "stall"):
            self.wfile.write(b"0\r\n\r\n")

    def _finish(self, reply: Reply) -> None:
        self._send_event({}, finish=reply.finish)
        if reply.usage:
            usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
            self._send_chunk(f"data: {json.dumps(chunk([]) | {'usage': usage})}\n\n".encode())
        self._send_chunk(b"data: [DONE]\n\n")

    def _die(self, ending: Ending) -> None:
        if ending == "exit":
            os._exit(1)
        # What a dying process looks like before its exit status can be read.
        self.server.socket.shutdown(socket.SHUT_RDWR)

    def _send_event(self, delta: dict[str, Any], finish: str | None = None) -> None:
        event = chunk([{"index": 0, "delta": delta, "finish_reason": finish}])
        self._send_chunk(f"data: {json.dumps(event)}\n\n".encode())

    def _send_chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _send_plain(self, status: int, body: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if body.startswith("{") else "text/html")
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


def _answer_as_child(request: dict[str, Any]) -> Reply:
    match request["messages"][-1]["content"]:
        case "please die":
            return Reply(("half an ans",), ending="exit")
        case "please close your port":
            return Reply(("half an ans",), ending="close_port")
        case _:
            return Reply(("alive",))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from assistant.embedded_server import run_child

    def start(settings: Any) -> FakeOpenAI:
        server = FakeOpenAI(answer=_answer_as_child)
        server.models = [settings.model_name]
        return server

    run_child(start)
