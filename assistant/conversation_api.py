"""HTTP routes to take answers along: a conversation or an answer as Markdown, the tables of an answer as CSV.

Each is read for whoever sent the request (access.py); of another's conversation there is nothing to be had.
"""

from __future__ import annotations

from http import HTTPStatus
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response

from assistant.access import user_of
from assistant.conversations import Conversations, Turn, UnknownTurnError
from assistant.evidence import Bilingual, Language
from assistant.export import answer_tables, conversation_markdown, tables_csv

_NO_CONVERSATION = Bilingual(
    zh="没有这个对话，它可能已被删除。", en="There is no such conversation; it may have been deleted."
)
_NO_TABLE = Bilingual(zh="这条回答里没有表格。", en="This answer has no table.")


def add_routes(app: FastAPI, conversations: Conversations) -> None:
    """Serve GET /api/conversations/ID/export.md, /api/turns/ID/answer.md and /api/turns/ID/tables.csv."""
    app.add_exception_handler(UnknownTurnError, _unknown_turn)

    @app.get("/api/conversations/{thread}/export.md", include_in_schema=False)
    def export(request: Request, thread: str, language: Language = "zh") -> Response:
        owner = user_of(request).name
        turns = conversations.turns(thread, owner)
        if not turns:
            return _not_found(f"{_NO_CONVERSATION.zh} / {_NO_CONVERSATION.en}")
        title = conversations.title(thread, owner)
        return _file(conversation_markdown(title, turns, language), "text/markdown", f"{title}.md")

    @app.get("/api/turns/{turn}/answer.md", include_in_schema=False)
    def answer(request: Request, turn: int) -> Response:
        return Response(_text(conversations.turn(turn, user_of(request).name)), media_type="text/markdown")

    @app.get("/api/turns/{turn}/tables.csv", include_in_schema=False)
    def tables(request: Request, turn: int) -> Response:
        found = answer_tables(_text(conversations.turn(turn, user_of(request).name)))
        if not found:
            return _not_found(f"{_NO_TABLE.zh} / {_NO_TABLE.en}")
        return _file(tables_csv(found), "text/csv", f"gpu-advisor-{turn}.csv")


def _text(turn: Turn) -> str:
    return turn.answer.text if turn.answer else ""


def _unknown_turn(_: Request, error: Exception) -> Response:
    return _not_found(str(error))


def _file(content: str, kind: str, name: str) -> Response:
    disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    headers = {"Content-Disposition": disposition, "Cache-Control": "no-store"}
    return Response(content.encode(), media_type=f"{kind}; charset=utf-8", headers=headers)


def _not_found(sentence: str) -> Response:
    return JSONResponse({"error": sentence}, status_code=HTTPStatus.NOT_FOUND)
