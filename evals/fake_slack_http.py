"""The HTTP side of the fake Slack: /api/METHOD (form and JSON bodies), /upload/FILE, /response/ID.

It checks the token, answers with the failures and delays asked for, checks every call against Slack's limits, and hands
it to fake_slack_methods.py. It is no WebSocket: fake_slack_socket.py is.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from evals.fake_slack_methods import METHODS, respond
from evals.fake_slack_state import APP_TOKEN, BOT_TOKEN, ApiCall, SlackError, Workspace
from evals.slack_limits import RESPONSE_URL, faults

DECODED = ("blocks", "view", "files", "prompts", "chunks", "attachments", "metadata", "loading_messages")


class FakeWebApi(ThreadingHTTPServer):
    """The server on a free loopback port; `close` ends it and waits for its threads."""

    daemon_threads = False
    request_queue_size = 256

    def __init__(self, workspace: Workspace, socket_url: str) -> None:
        self.workspace, self.socket_url = workspace, socket_url
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name="fake-slack-http")
        self._thread.start()

    def close(self) -> None:
        """End the server; calls being answered are answered first."""
        self.shutdown()
        self.server_close()
        self._thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; anything else is a fault of the fake, kept where a test sees it."""
        import traceback

        text = traceback.format_exc()
        if "BrokenPipeError" not in text and "ConnectionResetError" not in text:
            self.workspace.faults.append(f"the fake itself: {text}")

    def answer(self, method: str, token: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]]:
        """Status, body and headers of a call of the Web API."""
        workspace = self.workspace
        if workspace.delay_seconds:
            time.sleep(workspace.delay_seconds)
        with workspace.changed:
            try:
                status, body, headers = self._done(method, token, arguments)
            except SlackError as error:
                status, headers = 200, {}
                body = {"ok": False, "error": error.error} | (_details(error.detail) if error.detail else {})
            workspace.calls.append(ApiCall(method, arguments, time.monotonic(), str(body.get("error", ""))))
            workspace.changed.notify_all()
        return status, body, headers

    def _done(self, method: str, token: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any], dict[str, str]]:
        workspace = self.workspace
        failure = workspace.next_failure(method)
        if failure is not None and failure.retry_after_seconds is not None:
            return 429, {"ok": False, "error": "ratelimited"}, {"Retry-After": str(failure.retry_after_seconds)}
        if failure is not None:
            raise SlackError(failure.error)
        if method not in METHODS:
            raise SlackError("unknown_method")
        _check_token(method, token)
        self.check(method, arguments)
        body = {"ok": True, **METHODS[method](workspace, arguments)}
        for name, before in (("url", self.socket_url), ("upload_url", self.url)):
            if str(body.get(name, "")).startswith("/"):
                body[name] = before + str(body[name])
        return 200, body, {"x-oauth-scopes": workspace.scopes, "x-accepted-oauth-scopes": ""}

    def check(self, method: str, arguments: Mapping[str, Any]) -> None:
        """Keep every fault of the call, and raise the first as Slack would."""
        found = faults(method, arguments)
        self.workspace.faults += [f"{method}: {fault}" for fault in found]
        if found:
            error, _, detail = found[0].partition(": ")
            raise SlackError(error, "\n".join([detail, *found[1:]]))

    def upload(self, file_id: str, content: bytes) -> tuple[int, str]:
        """The bytes of a file; refused where the length is not the one announced."""
        with self.workspace.changed:
            file = self.workspace.files.get(file_id)
            if file is None or len(content) != file.length:
                return 500, "failed"
            file.content = content
            self.workspace.changed.notify_all()
        return 200, f"OK - {len(content)}"

    def responded(self, name: str, arguments: dict[str, Any]) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers of a post to a response_url."""
        workspace, error, headers = self.workspace, "", {}
        with workspace.changed:
            failure = workspace.next_failure(RESPONSE_URL)
            if failure is not None and failure.retry_after_seconds is not None:
                error, headers = "ratelimited", {"Retry-After": str(failure.retry_after_seconds)}
            else:
                error = self._refused(name, arguments, failure.error if failure else "")
            workspace.calls.append(ApiCall(RESPONSE_URL, arguments, time.monotonic(), error))
            workspace.changed.notify_all()
        status = 429 if headers else 404 if error.endswith("_url") else 400 if error else 200
        return status, json.dumps({"ok": False, "error": error}) if error else "ok", headers

    def _refused(self, name: str, arguments: dict[str, Any], asked_for: str) -> str:
        """The error of a post to a response_url, "" where it was taken."""
        url = self.workspace.response_urls.get(name)
        try:
            if asked_for or url is None:
                raise SlackError(asked_for or "expired_url")
            self.check(RESPONSE_URL, arguments)
            respond(self.workspace, url, arguments)
        except SlackError as refused:
            return refused.error
        return ""


def _check_token(method: str, token: str) -> None:
    if not token:
        raise SlackError("not_authed")
    if method == "apps.connections.open":
        if token != APP_TOKEN:
            raise SlackError("not_allowed_token_type" if token == BOT_TOKEN else "invalid_auth")
    elif token != BOT_TOKEN:
        raise SlackError("not_allowed_token_type" if token == APP_TOKEN else "invalid_auth")


def _details(detail: str) -> dict[str, Any]:
    lines = [line for line in detail.splitlines() if line]
    return {"errors": lines, "response_metadata": {"messages": [f"[ERROR] {line}" for line in lines]}}


class _Handler(BaseHTTPRequestHandler):
    server: FakeWebApi

    def do_POST(self) -> None:
        """Every call is a POST."""
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        _, place, name = [*self.path.partition("?")[0].split("/", 2), "", ""][:3]
        if place == "upload":
            status, text = self.server.upload(name, content)
            self._reply(status, text.encode(), "text/plain", {})
        elif place == "response":
            status, text, headers = self.server.responded(name, self._arguments(content))
            self._reply(status, text.encode(), "text/html", headers)
        else:
            arguments = self._arguments(content)
            token = self.headers.get("Authorization", "").removeprefix("Bearer ") or str(arguments.pop("token", ""))
            status, body, headers = self.server.answer(name, token, arguments)
            self._reply(status, json.dumps(body).encode(), "application/json; charset=utf-8", headers)

    def _arguments(self, content: bytes) -> dict[str, Any]:
        if self.headers.get("Content-Type", "").startswith("application/json"):
            return dict(json.loads(content))
        form: dict[str, Any] = dict(parse_qsl(content.decode(), keep_blank_values=True))
        for name in DECODED:
            if isinstance(form.get(name), str) and form[name][:1] in ("[", "{"):
                form[name] = json.loads(form[name])
        return form

    def _reply(self, status: int, body: bytes, kind: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """The calls are kept; nothing goes to standard error."""
