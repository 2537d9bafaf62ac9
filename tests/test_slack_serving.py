"""The bot where it runs for real: inside the server, by Socket Mode and by signed HTTP events, and alone beside it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from scripted_advisor import ready_url, serving

from evals import slack_payloads
from evals.fake_slack import FakeSlack, signed
from evals.fake_slack_state import GENERAL

COUNTED = 'gpu_advisor_questions_total{language="en",status="answered",surface="slack"} 1.0'


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as slack:
        yield slack


@pytest.fixture
def state(tmp_path: Path, slack: FakeSlack, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SLACK_API_URL", slack.api_url)
    return tmp_path


def client(url: str) -> httpx.Client:
    return httpx.Client(base_url=url, trust_env=False, timeout=20)


def test_serve_listens_by_socket_mode_where_both_tokens_are_set(
    slack: FakeSlack, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", slack.bot_token)
    monkeypatch.setenv("SLACK_APP_TOKEN", slack.app_token)
    with serving(state) as server, client(ready_url(server)) as http:
        slack.wait_until(lambda: slack.connected == 1, 30)
        slack.send_event(slack_payloads.app_mention("echo A100"), retries=2)
        slack.wait_until(lambda: len(slack.acks) == 3 and slack.replies())
        (reply,) = slack.replies()
        assert "asked 'echo A100' after []" in reply.shown
        assert COUNTED in http.get("/metrics").text
        assert http.post("/slack/events", json={}).status_code == 404
    assert slack.faults == []
    log = (state / "server.log").read_text()
    assert slack.bot_token not in log
    assert slack.app_token not in log


def test_serve_takes_signed_http_events_and_refuses_all_others(
    slack: FakeSlack, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_BOT_TOKEN", slack.bot_token)
    monkeypatch.setenv("SLACK_SIGNING_SECRET", slack.signing_secret)
    body = json.dumps(slack_payloads.app_mention("echo H100"))
    public = {"Content-Type": "application/json", "Host": "advisor.example", "X-Forwarded-For": "203.0.113.7"}
    with serving(state) as server, client(ready_url(server)) as http:

        def post(secret: str, seconds_ago: int = 0) -> int:
            headers = public | dict(signed(body, secret, int(time.time()) - seconds_ago))
            return http.post("/slack/events", content=body, headers=headers).status_code

        slack.wait_until(lambda: slack.calls_of("auth.test"), 30)
        assert [post("another secret"), post(slack.signing_secret, seconds_ago=600)] == [401, 401]
        assert http.post("/slack/events", content=body, headers=public).status_code == 401
        assert http.get("/slack/events", headers=public).status_code in (403, 404, 405)
        assert http.post("/api/ask", json={"question": "A100"}, headers=public).status_code == 403
        challenge = json.dumps({"type": "url_verification", "challenge": "c0ffee", "token": "x"})
        told = http.post("/slack/events", content=challenge, headers=public | dict(signed(challenge, slack.signing_secret, int(time.time()))))  # fmt: skip
        assert "c0ffee" in told.text
        assert [post(slack.signing_secret) for _ in range(3)] == [200, 200, 200]
        slack.wait_until(slack.replies)
        assert ["echo H100" in reply.shown for reply in slack.replies()] == [True]
    assert slack.connected == 0


@contextlib.contextmanager
def alone(state: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "assistant", "slack"]
    environment = {**os.environ, "GPU_ADVISOR_HOME": str(state)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as bot:
        try:
            yield bot
        finally:
            bot.terminate()
            bot.communicate(timeout=30)


def test_the_bot_alone_asks_the_running_server_and_says_when_it_is_gone(
    slack: FakeSlack, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.ExitStack() as stack:
        server_runs = stack.enter_context(contextlib.ExitStack())
        server = server_runs.enter_context(serving(state))
        ready_url(server)
        monkeypatch.setenv("SLACK_BOT_TOKEN", slack.bot_token)
        monkeypatch.setenv("SLACK_APP_TOKEN", slack.app_token)
        stack.enter_context(alone(state))
        slack.wait_until(lambda: slack.connected == 1, 30)
        first = slack_payloads.app_mention("echo A100")
        slack.send_event(first)
        slack.wait_until(lambda: any("after []" in reply.shown for reply in slack.replies()))
        ts = first["event"]["ts"]
        slack.send_event(slack_payloads.message("echo H100", thread_ts=ts))
        slack.wait_until(lambda: any("after ['echo A100']" in reply.shown for reply in slack.replies()))
        server_runs.close()
        slack.send_event(slack_payloads.message("H200 多少钱", thread_ts=ts))
        slack.wait_until(lambda: any("联系不上问答服务" in reply.shown for reply in slack.replies(GENERAL, ts)), 20)
    assert slack.faults == []


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ({}, "SLACK_BOT_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1-abc"}, "SLACK_APP_TOKEN"),
        ({"SLACK_BOT_TOKEN": "xoxb-1-abc", "SLACK_SIGNING_SECRET": "0123456789abcdef"}, "Socket Mode"),
        ({"SLACK_BOT_TOKEN": "xoxb-1-abc", "SLACK_APP_TOKEN": "xapp-1-abc"}, "gpu-advisor serve"),
    ],
    ids=["nothing set", "half set", "for HTTP events", "no server runs"],
)
def test_the_bot_alone_says_what_it_misses(
    tokens: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in tokens.items():
        monkeypatch.setenv(name, value)
    with alone(tmp_path) as bot:
        out, error = bot.communicate(timeout=60)
    assert (bot.returncode, out) == (1, "")
    assert said in error
    assert "abc" not in error.replace("abcdef", "abc")
