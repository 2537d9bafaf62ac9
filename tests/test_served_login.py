"""The whole server with a login: who gets in, whose conversations they see, how often they may ask, what breaks politely."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from scripted_advisor import ready_url, serving

from assistant.accounts import Accounts
from assistant.conversations import Conversations
from assistant.owner import ask_over_http, current_owner

REPOSITORY = Path(__file__).resolve().parent.parent
SECRET = "correct horse"
PER_MINUTE = 4


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("state")
    accounts = Accounts(state / "users.json")
    accounts.add("anna", SECRET, "admin")
    accounts.add("bob", SECRET, "reader")
    return state


@pytest.fixture(scope="module")
def server(state: Path) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_ADVISOR_QUESTIONS_PER_MINUTE", str(PER_MINUTE))
        with serving(state) as process:
            yield ready_url(process)


@pytest.fixture
def accounts(state: Path) -> Accounts:
    return Accounts(state / "users.json")


def client(server: str, token: str = "") -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.Client(base_url=server, headers=headers, trust_env=False, timeout=60)


@pytest.fixture
def fresh(server: str, accounts: Accounts) -> Iterator[httpx.Client]:
    """A client with the token of a user who has asked nothing yet."""
    name = f"user{len(accounts.users())}"
    accounts.add(name, SECRET, "reader")
    with client(server, accounts.new_token(name)) as found:
        yield found


def test_a_browser_logs_in_sees_the_page_and_logs_out(server: str) -> None:
    with client(server) as browser:
        assert browser.get("/healthz").status_code == 200
        first = browser.get("/zh/?tab=prices")
        assert (first.status_code, first.headers["location"]) == (303, "/login?next=/zh/%3Ftab%3Dprices")
        assert browser.get("/zh/gradio_api/info").status_code == 401
        form = {"name": "anna", "password": SECRET, "next": "/zh/?tab=prices"}
        done = browser.post("/login", data=form, headers={"Origin": server})
        assert (done.status_code, done.headers["location"]) == (303, "/zh/?tab=prices")
        assert browser.get("/zh/?tab=prices").status_code == 200
        assert browser.get("/zh/config").status_code == 200
        assert browser.get("/").status_code == 307
        assert browser.post("/logout", headers={"Origin": server}).status_code == 303
        assert browser.get("/zh/").status_code == 303


def test_a_token_asks_and_the_thread_is_its_users_alone(server: str, accounts: Accounts, state: Path) -> None:
    for name in ("anna", "bob"):
        with client(server, accounts.new_token(name)) as asking:
            body = {"question": f"echo {name}", "thread": "shared-id"}
            assert asking.post("/api/ask", json=body).json()["text"] == f"asked 'echo {name}' after []"
    kept = Conversations(state / "conversations.sqlite")
    assert [turn.question for turn in kept.turns("shared-id", "anna")] == ["echo anna"]
    assert [turn.question for turn in kept.turns("shared-id", "bob")] == ["echo bob"]
    assert kept.turns("shared-id") == ()


def test_the_local_command_line_goes_on_without_a_login(
    server: str, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(state))
    owner = current_owner()
    assert owner is not None
    answers = [ask_over_http(owner, "echo x", thread="mine").text for _ in range(PER_MINUTE + 2)]  # and without a limit
    assert answers[1] == "asked 'echo x' after ['echo x']"
    assert len(Conversations(state / "conversations.sqlite").turns("mine", "local")) == PER_MINUTE + 2
    assert stat.S_IMODE((state / "owner.lock").stat().st_mode) == 0o600


def test_too_many_questions_have_to_wait(fresh: httpx.Client) -> None:
    statuses = [fresh.post("/api/ask", json={"question": "echo"}).status_code for _ in range(PER_MINUTE)]
    assert statuses == [200] * PER_MINUTE
    refused = fresh.post("/api/ask", json={"question": "echo"}, headers={"Accept": "text/event-stream"})
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= 61
    assert "提问太频繁" in refused.json()["error"]
    assert "Too many questions" in refused.json()["error"]
    assert fresh.post("/api/ask", json={"question": ""}).status_code == 422


def test_metrics_need_a_user_and_name_nobody(server: str, fresh: httpx.Client) -> None:
    with client(server) as stranger:
        assert stranger.get("/metrics").status_code == 401
    fresh.post("/api/ask", json={"question": "echo geheim"})
    fresh.get("/geheim")
    response = fresh.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    lines = response.text.splitlines()
    assert [line for line in lines if line.startswith("gpu_advisor_questions_total{") and 'surface="api"' in line]
    assert 'gpu_advisor_http_requests_total{route="none",status="404"}' in response.text
    assert not [word for word in ("geheim", "anna", "user2") if word in response.text]


@pytest.mark.parametrize(
    "path", ["/zh/gradio_api/upload", "/en/gradio_api/upload", "/zh/gradio_api/component_server", "/zh/gradio_api/process_recording"]
)  # fmt: skip
def test_a_reader_uploads_nothing(fresh: httpx.Client, path: str) -> None:
    assert fresh.post(path, files={"files": ("x.csv", b"a,b")}).status_code in {403, 404}


def test_an_admin_uploads_through_the_page(server: str, accounts: Accounts) -> None:
    with client(server, accounts.new_token("anna")) as admin:
        sent = admin.post("/zh/gradio_api/upload", files={"files": ("../../x.csv", b"a,b")})
    assert sent.status_code == 200
    assert ".." not in sent.json()[0]


def test_the_tools_are_called_with_a_token_and_not_without(server: str, fresh: httpx.Client) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "find_specs", "arguments": {"gpus": ["H100"]}}}  # fmt: skip
    headers = {"Accept": "application/json, text/event-stream"}
    with client(server) as stranger:
        refused = stranger.post("/tools/gradio_api/mcp/", json=call, headers=headers)
    assert (refused.status_code, refused.headers["www-authenticate"][:6]) == (401, "Bearer")
    answered = fresh.post("/tools/gradio_api/mcp/", json=call, headers=headers)
    assert answered.status_code == 200
    assert "H100 PCIe" in answered.text


def test_a_path_that_leads_nowhere_or_a_method_that_is_not_there_is_a_sentence(fresh: httpx.Client) -> None:
    for method, path, status in (("GET", "/nothing", 404), ("PUT", "/api/ask", 405), ("GET", "/api/nothing", 404)):
        answer = fresh.request(method, path, content=b"{}" if method == "PUT" else None)
        assert (answer.status_code, list(answer.json())) == (status, ["error"])


def test_what_nobody_foresaw_is_a_sentence_and_a_line_in_the_log(state: Path, fresh: httpx.Client) -> None:
    """The file of conversations turns into a folder: an error that no handler knows."""
    file = state / "conversations.sqlite"
    for each in state.glob("conversations.sqlite*"):
        each.rename(each.with_name(f"kept-{each.name}"))
    file.mkdir()
    try:
        broken = fresh.post("/api/ask", json={"question": "echo", "thread": "x"})
    finally:
        file.rmdir()
        for each in state.glob("kept-*"):
            each.rename(each.with_name(each.name.removeprefix("kept-")))
    assert broken.status_code == 500
    assert list(broken.json()) == ["error"]
    assert str(state) not in broken.text
    assert "sqlite" not in broken.text
    assert "Traceback" in (state / "server.log").read_text()


def test_a_server_for_others_serves_them_from_the_first_user_on(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from assistant.api import serve\nfrom scripted_advisor import ScriptedAdvisor\n"
        "serve('0.0.0.0', 0, ScriptedAdvisor)"
    )
    environment = {**os.environ, "GPU_ADVISOR_HOME": str(tmp_path)}
    others = {"Host": "gpu.example"}
    passed_on = {"X-Forwarded-For": "203.0.113.9"}  # by a proxy on this machine, which names it as host
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            with client(ready_url(process)) as asking:
                assert asking.get("/healthz").status_code == 200
                assert asking.get("/zh/").status_code == 200
                assert asking.get("/healthz", headers=others).status_code == 403
                assert asking.get("/healthz", headers=passed_on).status_code == 403
                Accounts(tmp_path / "users.json").add("anna", SECRET, "admin")  # while it serves
                assert asking.get("/healthz", headers=others).status_code == 200
                assert asking.get("/zh/").status_code == 303
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"GPU_ADVISOR_USER_HEADER": "X-Forwarded-User"}, "GPU_ADVISOR_TRUSTED_PROXIES"),
        ({"GPU_ADVISOR_TRUSTED_PROXIES": "nginx"}, "'nginx'"),
        ({"GPU_ADVISOR_QUESTIONS_PER_MINUTE": "many"}, "'many'"),
    ],
)
def test_a_wrong_setting_ends_the_start_with_a_sentence(tmp_path: Path, settings: dict[str, str], named: str) -> None:
    code = (
        "from assistant.cli_errors import said_plainly\nfrom assistant.api import create_app\n"
        "from assistant.conversations import Conversations\nfrom pathlib import Path\n"
        f"with said_plainly(): create_app(lambda: None, Conversations(Path({str(tmp_path)!r}) / 'c.sqlite'))"
    )
    environment = {**os.environ, "GPU_ADVISOR_HOME": str(tmp_path), **settings}
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr
    assert json.dumps(ended.stdout) == '""'
