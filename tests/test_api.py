"""The HTTP server, as a real process on a free port of this machine, with the scripted advisor."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from scripted_advisor import ScriptedAdvisor, ready_url, serving

from assistant.api import ListenError, serve
from assistant.conversations import AdviceFailedError
from assistant.evidence import Answer, Done
from assistant.owner import IndexOwnedError, Owner, OwnerFailedError, ask_over_http, current_owner, stream_over_http

REPOSITORY = Path(__file__).resolve().parent.parent
POLITE = AdviceFailedError.sentence


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("state")


@pytest.fixture(scope="module")
def server(state: Path) -> Iterator[str]:
    with serving(state) as process:
        yield ready_url(process)


@pytest.fixture
def client(server: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server, trust_env=False, timeout=30) as client:
        yield client


def events(response: httpx.Response) -> list[tuple[str, dict[str, object]]]:
    blocks = [block.split("\n", 1) for block in response.text.strip().split("\n\n")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_a_running_server_is_healthy_and_ready(client: httpx.Client) -> None:
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]


def test_ask_gives_the_answer_object(client: httpx.Client) -> None:
    response = client.post("/api/ask", json={"question": " echo 四张 A100？ ", "turns": ["earlier"], "thread": None})
    answer = Answer.model_validate_json(response.content)
    assert answer.text == "asked 'echo 四张 A100？' after ['earlier']"


def test_a_stream_sends_card_first_and_the_answer_last(client: httpx.Client) -> None:
    body = {"question": "A100 price"}
    response = client.post("/api/ask", json=body, headers={"Accept": "text/event-stream"})
    received = events(response)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert [name for name, _ in received] == ["card", "working", "prose", "prose", "prose", "prose", "done"]
    assert all(name == event["kind"] for name, event in received)


def test_a_thread_remembers_its_questions_and_no_other(client: httpx.Client) -> None:
    def ask(question: str, thread: str) -> str:
        return str(client.post("/api/ask", json={"question": question, "thread": thread}).json()["text"])

    ask("echo one", "线程-1")
    ask("echo two", "other")
    assert ask("echo three", "线程-1").endswith("after ['echo one']")


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]", "["])
@pytest.mark.parametrize("path", ["/", "/config", "/healthz", "/api/ask"])
def test_a_request_that_names_another_host_is_refused(client: httpx.Client, host: str, path: str) -> None:
    response = client.request("POST" if path == "/api/ask" else "GET", path, headers={"Host": host})
    assert response.status_code == 403
    assert "localhost" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:7860", "127.0.0.1:1", "[::1]:7860"])
def test_each_name_of_this_machine_is_served(client: httpx.Client, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_another_web_page_cannot_ask_through_the_readers_browser(client: httpx.Client, origin: str) -> None:
    response = client.post("/api/ask", json={"question": "echo"}, headers={"Origin": origin})
    assert response.status_code == 403


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({}, "question"),
        ({"question": "   "}, "question"),
        ({"question": 7}, "question"),
        ({"question": "长" * 2_001}, "2000"),
        ({"question": "q", "turns": "not a list"}, "turns"),
        ({"question": "q", "turns": ["x"] * 51}, "turns"),
        ({"question": "q", "thread": "../../etc"}, "thread"),
        ({"question": "q", "model": "other"}, "model"),
    ],
)
def test_a_malformed_body_names_the_field_in_one_sentence(
    client: httpx.Client, body: dict[str, object], named: str
) -> None:
    response = client.post("/api/ask", json=body)
    assert response.status_code == 422
    assert response.json()["error"].startswith("请求格式有误 / The request is malformed: ")
    assert named in response.json()["error"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"q"', b"\xff\xfe"])
def test_a_body_that_is_no_json_object_is_malformed(client: httpx.Client, content: bytes) -> None:
    response = client.post("/api/ask", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code in {400, 422}
    assert "Traceback" not in response.text


def test_a_body_beyond_the_limit_is_refused_unread(client: httpx.Client) -> None:
    response = client.post("/api/ask", json={"question": "x" * 600_000})
    assert response.status_code == 413


def test_a_body_of_unstated_length_is_refused(client: httpx.Client) -> None:
    response = client.post("/api/ask", content=iter([b'{"question": "echo"}']))
    assert response.status_code == 411


def test_a_removal_needs_no_length_since_it_has_no_body(client: httpx.Client) -> None:
    assert client.delete("/api/documents/x").status_code == 503  # the scripted advisor has no documents
    assert client.request("DELETE", "/api/documents/x", content=iter([b"x"])).status_code == 411


@pytest.mark.parametrize("question", ["break now", "silent now"])
def test_a_fault_gives_a_polite_sentence_and_its_traceback_to_the_log_only(
    client: httpx.Client, state: Path, question: str
) -> None:
    plain = client.post("/api/ask", json={"question": question})
    streamed = client.post("/api/ask", json={"question": question}, headers={"Accept": "text/event-stream"})
    sentence = f"{POLITE.zh} / {POLITE.en}"
    assert (plain.status_code, plain.json()) == (500, {"error": sentence})
    assert events(streamed)[-1] == ("error", {"error": sentence})
    assert "secret-internals" not in plain.text + streamed.text
    assert "Traceback" in (state / "server.log").read_text()


def test_the_owner_answers_another_process_over_http_whatever_proxy_is_set(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    owner = Owner(1, server)
    assert ask_over_http(owner, "echo x", ["y"]).text == "asked 'echo x' after ['y']"
    streamed = list(stream_over_http(owner, "A100 price"))
    assert streamed[0].kind == "card"
    assert isinstance(streamed[-1], Done)


def test_a_fault_of_the_owner_reaches_the_asking_process_as_its_sentence(server: str) -> None:
    owner = Owner(1, server)
    with pytest.raises(OwnerFailedError, match=POLITE.zh):
        ask_over_http(owner, "break now")
    with pytest.raises(OwnerFailedError, match="malformed"):
        list(stream_over_http(owner, ""))
    broken = stream_over_http(owner, "break now")
    assert next(broken).kind == "card"
    with pytest.raises(OwnerFailedError, match=POLITE.zh):
        list(broken)


def test_the_page_is_up_before_the_advisor_and_ready_only_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    gate = tmp_path / "gate"
    with serving(tmp_path, gate) as process:
        url = announced()
        while not up(url):
            time.sleep(0.1)
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
            assert client.get("/", follow_redirects=True).status_code == 200
            assert client.get("/readyz").status_code == 503
            early = client.post("/api/ask", json={"question": "echo"})
            assert (early.status_code, early.headers["retry-after"]) == (503, "2")
            gate.touch()
            assert ready_url(process) == url
            assert client.get("/readyz").status_code == 200
        with pytest.raises(IndexOwnedError, match=url):
            serve("127.0.0.1", 0, ScriptedAdvisor)
        process.terminate()
        assert process.wait(timeout=30) == 0
        assert current_owner() is None


def announced() -> str:
    for _ in range(600):
        owner = current_owner()
        if owner and owner.url:
            return owner.url
        time.sleep(0.1)
    pytest.fail("no owner announced itself")


def up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz", trust_env=False, timeout=5).status_code == 200
    except httpx.TransportError:
        return False


def test_a_taken_port_is_named_with_the_way_out_and_the_index_stays_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ListenError, match=rf"{port}.*--port"):
            serve("127.0.0.1", port, ScriptedAdvisor)
    assert current_owner() is None


def test_an_address_that_is_not_here_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    with pytest.raises(ListenError, match=r"'192\.0\.2\.1'.*--host"):
        serve("192.0.2.1", 7860, ScriptedAdvisor)


def test_an_advisor_that_cannot_open_ends_the_server_with_its_error(tmp_path: Path) -> None:
    code = (
        "from assistant.api import serve\n"
        "def fail(): raise LookupError('run gpu-advisor knowledge rebuild')\n"
        "serve('127.0.0.1', 0, fail)"
    )
    environment = {"GPU_ADVISOR_HOME": str(tmp_path), "PATH": ""}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert ended.stderr.strip().endswith("LookupError: run gpu-advisor knowledge rebuild")
    assert ended.stdout == ""
