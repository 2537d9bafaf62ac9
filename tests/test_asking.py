"""POST /api/ask without a server: how many are answered at once, and that a reader who goes away frees the place."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi import FastAPI
from gated import Got, credentials, send
from scripted_advisor import ScriptedAdvisor, broken, plain_answer

from assistant.api import add_ask, speak_politely
from assistant.conversations import Conversations
from assistant.evidence import Card, Done, Event
from assistant.gate import Gate
from assistant.metrics import Metrics
from assistant.request_limits import AnswerSlots

STREAM = {"Accept": "text/event-stream"}


class Held:
    """An advisor whose answers wait until they are let go."""

    def __init__(self) -> None:
        self.started = threading.Semaphore(0)
        self.let_go = threading.Event()

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]:
        yield Card(markdown="card")
        self.started.release()
        if not self.let_go.wait(30):
            raise TimeoutError("nobody let the answer go")
        yield Done(answer=plain_answer(question, "text"))


def served(tmp_path: Path, advisor: Held | ScriptedAdvisor, slots: AnswerSlots) -> FastAPI:
    app = FastAPI()
    app.add_middleware(Gate, credentials=credentials(tmp_path))
    add_ask(app, lambda: advisor, Conversations(tmp_path / "c.sqlite"), Metrics(), slots)
    speak_politely(app)
    return app


def ask(app: FastAPI, headers: dict[str, str], body: bytes = b'{"question": "q"}') -> Got:
    return send(app, "/api/ask", method="POST", body=body, headers={"Content-Type": "application/json", **headers})


@pytest.mark.parametrize("headers", [{}, STREAM])
def test_beyond_the_places_one_is_asked_to_come_back(tmp_path: Path, headers: dict[str, str]) -> None:
    advisor = Held()
    app = served(tmp_path, advisor, AnswerSlots(2))
    with ThreadPoolExecutor(2) as pool:
        answered = [pool.submit(ask, app, headers) for _ in range(2)]
        try:
            for _ in range(2):
                assert advisor.started.acquire(timeout=30)
            refused = ask(app, headers)
        finally:
            advisor.let_go.set()
    assert (refused.status, refused.header("retry-after")) == (503, "2")
    assert "Too many questions are being answered" in refused.error
    assert [each.result().status for each in answered] == [200, 200]
    assert [ask(app, headers).status for _ in range(3)] == [200] * 3  # both places are free again


@pytest.mark.parametrize("headers", [{}, STREAM])
def test_what_breaks_frees_its_place(tmp_path: Path, headers: dict[str, str]) -> None:
    app = served(tmp_path, ScriptedAdvisor(broken), AnswerSlots(1))
    got = [ask(app, headers) for _ in range(3)]
    assert [each.status for each in got] == [200 if headers else 500] * 3
    assert "secret-internals" not in str(got)


def test_a_malformed_question_takes_no_place(tmp_path: Path) -> None:
    app = served(tmp_path, ScriptedAdvisor(), AnswerSlots(1))
    assert [ask(app, {}, b"{").status for _ in range(3)] == [422] * 3
    assert ask(app, {}).status == 200


def test_a_fault_that_no_handler_knows_is_a_sentence(tmp_path: Path) -> None:
    app = served(tmp_path, ScriptedAdvisor(), AnswerSlots(1))

    @app.get("/zh/fault")
    def fault() -> None:
        raise KeyError("secret-internals in /srv/private/file.py")

    with pytest.raises(KeyError):  # it goes on to the server, which logs it
        send(app, "/zh/fault")
