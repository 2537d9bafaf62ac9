"""Tool calls as a model server streams them: in pieces, put together to whole calls.

The pieces are not judged: whether a call's name exists or its arguments are JSON is for whoever runs it. In particular
arguments that were cut off are NOT completed to something that parses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Tool:
    """A tool as a model is told of it; `parameters` is the JSON Schema of its arguments, an object."""

    name: str
    description: str
    parameters: dict[str, Any]

    @property
    def offer(self) -> dict[str, Any]:
        """The entry of a request's `tools`."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": self.parameters},
        }


@dataclass(frozen=True)
class ToolCall:
    """A call as the model wrote it: `arguments` is its text, which may be no JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ToolRound:
    """What the model said and called in one reply, and what each of its calls gave back, in the same order."""

    said: str
    calls: tuple[ToolCall, ...]
    results: tuple[str, ...]


class CallPieces:
    """Collects the pieces of one reply's calls.

    A piece belongs to the call of its index. Servers that give every call the same index, or none, begin a new one
    with a new id; a repeated name or id is no new piece of it.
    """

    def __init__(self) -> None:
        self._parts: list[dict[str, str]] = []
        self._at_index: dict[int | None, int] = {}

    def add(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        """Take in the pieces of one delta: mappings with index, id, name and args, each of which may be None."""
        for piece in pieces:
            part = self._part(piece.get("index"), piece.get("id") or "")
            part["name"] = part["name"] or piece.get("name") or ""
            part["arguments"] += piece.get("args") or ""

    def whole(self) -> list[ToolCall]:
        """The calls in the order they began; one without an id gets one, as a result must name its call."""
        return [
            ToolCall(part["id"] or f"call_{number}", part["name"], part["arguments"])
            for number, part in enumerate(self._parts, start=1)
        ]

    def _part(self, index: int | None, call_id: str) -> dict[str, str]:
        at = self._at_index.get(index)
        known = self._parts[at] if at is not None else None
        if known is None or (call_id and known["id"] and call_id != known["id"]):
            self._at_index[index] = len(self._parts)
            self._parts.append({"id": call_id, "name": "", "arguments": ""})
            return self._parts[-1]
        known["id"] = known["id"] or call_id
        return known
