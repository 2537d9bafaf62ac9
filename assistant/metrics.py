"""What is counted while serving, in the text format of Prometheus: questions, seconds, failures, requests, documents.

No label holds what a reader wrote, or a name of theirs. Every app has a registry of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assistant.conversations import Answerer
from assistant.evidence import Done, Event
from ingest.knowledge_base import KnowledgeBase

Surface = Literal["api", "page", "slack"]
CONTENT_TYPE = CONTENT_TYPE_LATEST
disable_created_metrics()  # type: ignore[no-untyped-call] # when a counter was made doubles the text and helps nobody
_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 40, 80, 160)


class Metrics:
    """The counters of one app; `knowledge` gives None while the knowledge base is being loaded."""

    def __init__(self, knowledge: Callable[[], KnowledgeBase | None] = lambda: None) -> None:
        self._registry = CollectorRegistry()
        registry = self._registry
        self._questions = Counter(
            "gpu_advisor_questions_total",
            "Questions by what became of them; failed: the advisor broke, stopped: the reader went away.",
            ("surface", "language", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "gpu_advisor_answer_seconds",
            "Seconds until an answer was complete.",
            ("surface",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._first_seconds = Histogram(
            "gpu_advisor_first_event_seconds",
            "Seconds until the first part of an answer.",
            ("surface",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._dropped = Counter(
            "gpu_advisor_figures_dropped_total", "Figures of the model that no evidence bore out.", registry=registry
        )
        self._model_failures = Counter(
            "gpu_advisor_model_calls_failed_total",
            "Answers that had to do without a model or an index.",
            registry=registry,
        )
        self._in_flight = Gauge(
            "gpu_advisor_questions_in_flight", "Questions being answered now.", ("surface",), registry=registry
        )
        self._requests = Counter(
            "gpu_advisor_http_requests_total", "HTTP requests.", ("route", "status"), registry=registry
        )
        self.failed_logins = Counter("gpu_advisor_logins_failed_total", "Logins refused.", registry=registry)
        registry.register(_Holdings(knowledge))
        ProcessCollector(registry=registry)

    def text(self) -> bytes:
        """Everything counted so far, as CONTENT_TYPE."""
        return generate_latest(self._registry)

    def counted(self, answerer: Answerer, surface: Surface) -> Answerer:
        """The same answerer; each of its answers is counted."""
        return _Counted(answerer, self, surface)

    def request(self, route: str, status: int) -> None:
        """Count one HTTP request."""
        self._requests.labels(route, str(status)).inc()

    def watch(self, events: Iterator[Event], surface: Surface) -> Iterator[Event]:
        """The events as they come; what became of the question is counted at their end."""
        started = time.perf_counter()
        status, language = "failed", "unknown"
        first = True
        with self._in_flight.labels(surface).track_inprogress():
            try:
                for event in events:
                    if first:
                        self._first_seconds.labels(surface).observe(time.perf_counter() - started)
                        first = False
                    if isinstance(event, Done):
                        status, language = event.answer.status, event.answer.language
                        self._dropped.inc(len(event.answer.dropped))
                        self._seconds.labels(surface).observe(time.perf_counter() - started)
                    yield event
            except GeneratorExit:
                status = "stopped" if status == "failed" else status
                raise
            finally:
                self._questions.labels(surface, language, status).inc()
                if status == "unavailable":
                    self._model_failures.inc()


class CountRequests:
    """ASGI middleware: counts each request by the template of its route, never by its address."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count it once its status is known."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.request(_template(scope), message["status"])
            await send(message)

        await self._app(scope, receive, send_counted)


def _template(scope: Scope) -> str:
    """Where the page is mounted and the route there; "none" for what was refused or is not there."""
    path = getattr(scope.get("route"), "path", None)
    return f"{scope.get('root_path', '')}{path}" if path is not None else "none"


@dataclass(frozen=True)
class _Counted:
    answerer: Answerer
    metrics: Metrics
    surface: Surface

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]:
        return self.metrics.watch(self.answerer.ask(question, turns), self.surface)

    def __getattr__(self, name: str) -> Any:
        """What is not counted is the answerer's own, such as answering anew with other assumptions."""
        return getattr(self.answerer, name)


class _Holdings(Collector):
    """What the knowledge base holds, read when it is asked for."""

    def __init__(self, knowledge: Callable[[], KnowledgeBase | None]) -> None:
        self._knowledge = knowledge

    def collect(self) -> Iterator[Metric]:
        base = self._knowledge()
        if base is None:
            return
        state = base.state()
        yield GaugeMetricFamily("gpu_advisor_documents", "Documents taken in.", value=state.documents)
        passages = state.builtin_passages + state.document_passages
        yield GaugeMetricFamily("gpu_advisor_passages", "Passages that can be found.", value=passages)
