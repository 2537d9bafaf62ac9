"""The knowledge base of the process that owns it, asked over HTTP; the same methods as ingest.knowledge_base.KnowledgeBase.

Errors: owner.OwnerFailedError with the owner's own sentence, owner.IndexOwnedError if the owner serves no HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from assistant.outcomes import from_wire
from assistant.owner import Owner, OwnerFailedError, check, http_client, unreachable
from ingest.incoming import Incoming, Refused, Skipped
from ingest.knowledge_base import Outcome, Removed, State
from ingest.rebuilding import Progress
from knowledge.library import Document


class RemoteKnowledge:
    """What `owner` holds. Files are read here and sent there."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner

    def ingest(
        self, files: Iterable[Incoming | Refused | Skipped], progress: Progress | None = None
    ) -> Iterator[Outcome]:
        """Send each file and yield what became of it."""
        for file in files:
            if isinstance(file, Incoming):
                yield from self._send(file, progress)
            else:
                yield file

    def remove(self, wanted: str) -> Removed:
        """Take a document out; raises OwnerFailedError if there is none."""
        removed = self._json("DELETE", f"/api/documents/{quote(wanted, safe='')}")
        return Removed(**{**removed, "document": Document(**removed["document"])})

    def documents(self) -> list[Document]:
        """Every document, by name."""
        return [Document(**each) for each in self._json("GET", "/api/documents")]

    def state(self) -> State:
        """Sizes and versions."""
        return State(**self._json("GET", "/api/knowledge"))

    def close(self) -> None:
        """Nothing is held open between requests."""

    def _send(self, file: Incoming, progress: Progress | None) -> Iterator[Outcome]:
        query = {"name": file.name, "origin": file.origin}
        with (
            self._client() as client,
            client.stream("POST", "/api/documents", params=query, content=file.content) as response,
        ):
            if response.status_code != HTTPStatus.OK:
                response.read()
            check(self._owner, response)
            for name, data in _events(response.iter_lines()):
                if name == "error":
                    raise OwnerFailedError(f"{self._owner.url}: {data['error']}")
                if name == "outcome":
                    yield from_wire(data)
                elif progress:
                    progress(data["done"], data["total"])

    def _json(self, method: str, path: str) -> Any:
        with self._client() as client:
            response = client.request(method, path)
            check(self._owner, response)
            return response.json()

    @contextmanager
    def _client(self) -> Iterator[httpx.Client]:
        with http_client(self._owner) as client:
            try:
                yield client
            except httpx.HTTPError as error:
                raise unreachable(self._owner, error) from error


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    name = ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield name, json.loads(line.removeprefix("data: "))
