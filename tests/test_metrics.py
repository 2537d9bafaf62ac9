"""What is counted, and that no label holds what a reader wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import pytest
from fastapi import FastAPI
from gated import send
from prometheus_client.parser import text_string_to_metric_families
from scripted_advisor import ScriptedAdvisor, broken, echo, plain_answer, price_answer, silent
from starlette.types import Message, Receive, Scope, Send

from assistant.evidence import Done, Event, Status
from assistant.metrics import CountRequests, Metrics
from ingest.knowledge_base import KnowledgeBase, State


def values(metrics: Metrics) -> dict[tuple[str, ...], float]:
    """Samples by name and labels, sorted by name of the label."""
    return {
        (sample.name.removeprefix("gpu_advisor_"), *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


def with_status(status: Status) -> Iterator[Event]:
    yield Done(answer=plain_answer("q", "t").model_copy(update={"status": status}))


def test_both_surfaces_are_counted_by_language_and_status() -> None:
    metrics = Metrics()
    advisor = ScriptedAdvisor(echo)
    for _ in range(2):
        list(metrics.counted(advisor, "api").ask("secret words", ["earlier"]))
    list(metrics.counted(advisor, "page").ask("机密"))
    assert advisor.asked == [("secret words", ("earlier",))] * 2 + [("机密", ())]
    found = values(metrics)
    assert found["questions_total", "en", "answered", "api"] == 2
    assert found["questions_total", "en", "answered", "page"] == 1
    assert found["answer_seconds_count", "api"] == found["first_event_seconds_count", "api"] == 2
    assert found["questions_in_flight", "api"] == 0
    assert not [word for word in ("secret", "机密", "earlier") if word in metrics.text().decode()]


def test_a_counted_answerer_can_do_no_more_and_no_less_than_it_could() -> None:
    class Reviser(ScriptedAdvisor):
        def revised(self) -> str:
            return "again"

    metrics = Metrics()
    assert getattr(metrics.counted(Reviser(), "page"), "revised")() == "again"  # noqa: B009 # not in the protocol
    assert not hasattr(metrics.counted(ScriptedAdvisor(), "page"), "revised")


def test_dropped_figures_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    metrics = Metrics()
    list(metrics.counted(ScriptedAdvisor(price_answer), "api").ask("A100 多少钱"))
    found = values(metrics)
    assert found["figures_dropped_total",] == 1
    assert found["questions_total", "zh", "answered", "api"] == 1


def test_an_answer_without_the_model_counts_as_a_failed_call() -> None:
    metrics = Metrics()
    for status in ("answered", "unavailable", "off_topic"):
        list(metrics.watch(with_status(cast("Status", status)), "api"))
    assert values(metrics)["model_calls_failed_total",] == 1
    assert values(metrics)["questions_total", "en", "unavailable", "api"] == 1


def test_what_breaks_is_counted_and_still_raised() -> None:
    metrics = Metrics()
    with pytest.raises(ZeroDivisionError):
        list(metrics.counted(ScriptedAdvisor(broken), "api").ask("q"))
    list(metrics.counted(ScriptedAdvisor(silent), "api").ask("q"))
    found = values(metrics)
    assert found["questions_total", "unknown", "failed", "api"] == 2
    assert found["questions_in_flight", "api"] == 0
    assert "secret-internals" not in metrics.text().decode()


def test_a_reader_who_goes_away_is_counted_and_no_longer_in_flight() -> None:
    metrics = Metrics()
    events = metrics.counted(ScriptedAdvisor(echo), "page").ask("q")
    next(events)
    assert values(metrics)["questions_in_flight", "page"] == 1
    events.close()  # type: ignore[attr-defined] # a generator
    found = values(metrics)
    assert found["questions_total", "unknown", "stopped", "page"] == 1
    assert found["questions_in_flight", "page"] == 0


def test_two_apps_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.failed_logins.inc()
    assert values(second)["logins_failed_total",] == 0


def test_documents_and_passages_are_read_when_asked_for() -> None:
    class Base:
        def state(self) -> State:
            return State(10, 5, 2, "model", "splitter", "/private/folder", 3)

    held: list[Base] = []
    metrics = Metrics(lambda: cast("KnowledgeBase", held[0]) if held else None)
    assert ("documents",) not in values(metrics)  # still loading: no number is better than a wrong one
    held.append(Base())
    assert (values(metrics)["documents",], values(metrics)["passages",]) == (2, 15)
    assert "/private" not in metrics.text().decode()


def test_requests_are_counted_by_template_and_never_by_address() -> None:
    metrics = Metrics()
    app = FastAPI()
    inner = FastAPI()

    @app.get("/things/{name}")
    def thing(name: str) -> str:
        return name

    @inner.get("/file={path:path}")
    def file(path: str) -> str:
        return path

    app.mount("/zh", inner)
    counted = CountRequests(app, metrics)
    for path in ("/things/anna", "/things/bob", "/zh/file=/secret/x", "/no/such/secret", "/zh/none-secret"):
        send(counted, path)
    send(counted, "/things/x", method="POST")
    found = values(metrics)
    assert found["http_requests_total", "/things/{name}", "200"] == 2
    assert found["http_requests_total", "/zh/file={path:path}", "200"] == 1
    assert found["http_requests_total", "none", "404"] == 2
    assert [key[2] for key in found if key[0] == "http_requests_total"].count("405") == 1
    assert "secret" not in metrics.text().decode()
    assert "anna" not in metrics.text().decode()


def test_what_is_no_request_passes_uncounted() -> None:
    passed: Sequence[str] = []

    async def app(scope: Scope, receive: Receive, send_on: Send) -> None:
        passed.append(scope["type"])  # type: ignore[attr-defined]
        message: Message = {"type": "http.response.start", "status": 101, "headers": []}
        await send_on(message)

    metrics = Metrics()
    send(CountRequests(app, metrics), "/x", kind="websocket")
    assert passed == ["websocket"]
    assert not [key for key in values(metrics) if key[0] == "http_requests_total"]
