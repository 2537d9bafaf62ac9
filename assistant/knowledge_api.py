"""The knowledge base over HTTP: GET and POST /api/documents, DELETE /api/documents/{id}, GET /api/knowledge.

For admins only. Carries requests to ingest/knowledge_base.py and its outcomes back.
"""

from __future__ import annotations

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from assistant.access import require_admin
from assistant.outcomes import to_wire
from ingest.incoming import Incoming
from ingest.knowledge_base import KnowledgeBase
from knowledge.generation import KnowledgeIndexError
from knowledge.library import LibraryBrokenError, UnknownDocumentError

log = logging.getLogger(__name__)

FAILED = "写入知识库时出了内部错误，已记入日志，什么都没有改变。 / Writing to the knowledge base failed and was logged; nothing changed."

Name = Annotated[str, Query(min_length=1, max_length=400)]
Provider = Callable[[], KnowledgeBase | None]
Event = tuple[str, dict[str, Any]]


def add_routes(app: FastAPI, provider: Provider, loading: Callable[[], Response]) -> None:
    """Add the routes; `provider` gives None while the knowledge base is being loaded, `loading` then answers."""

    def with_base(request: Request, act: Callable[[KnowledgeBase], Response]) -> Response:
        require_admin(request)
        base = provider()
        return act(base) if base else loading()

    @app.get("/api/documents")
    def documents(request: Request) -> Response:
        return with_base(request, lambda base: JSONResponse([asdict(each) for each in base.documents()]))

    @app.get("/api/knowledge")
    def state(request: Request) -> Response:
        return with_base(request, lambda base: JSONResponse(asdict(base.state())))

    @app.post("/api/documents")
    async def ingest(request: Request, name: Name, origin: str = "") -> Response:
        require_admin(request)  # before the body is read
        file = Incoming(origin or f"upload:{name}", name, await request.body())
        return with_base(
            request, lambda base: StreamingResponse(_sse(_events(base, file)), media_type="text/event-stream")
        )

    @app.delete("/api/documents/{wanted:path}")
    def remove(wanted: str, request: Request) -> Response:
        return with_base(request, lambda base: _removed(base, wanted))


def _removed(base: KnowledgeBase, wanted: str) -> Response:
    try:
        removed = base.remove(wanted)
    except UnknownDocumentError as error:
        return JSONResponse({"error": str(error)}, status_code=HTTPStatus.NOT_FOUND)
    except (KnowledgeIndexError, LibraryBrokenError) as error:
        return JSONResponse({"error": str(error)}, status_code=HTTPStatus.INTERNAL_SERVER_ERROR)
    return JSONResponse(asdict(removed))


def _events(base: KnowledgeBase, file: Incoming) -> Iterator[Event]:
    """Progress and outcomes while they come: the ingest runs in a thread and ends even if the client goes away."""
    events: queue.Queue[Event | None] = queue.Queue()

    def run() -> None:
        try:
            for outcome in base.ingest([file], lambda done, total: events.put(("progress", _progress(done, total)))):
                events.put(("outcome", to_wire(outcome)))
        except (KnowledgeIndexError, LibraryBrokenError) as error:
            events.put(("error", {"error": str(error)}))
        except Exception:
            log.exception("ingest of %r failed", file.name)
            events.put(("error", {"error": FAILED}))
        finally:
            events.put(None)

    threading.Thread(target=run, name="ingest").start()
    yield from iter(events.get, None)


def _progress(done: int, total: int) -> dict[str, Any]:
    return {"done": done, "total": total}


def _sse(events: Iterator[Event]) -> Iterator[str]:
    for name, data in events:
        yield f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
