"""Answers taken along: Markdown of a conversation, CSV of tables, and the routes that hand them out."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from scripted_advisor import PRICE_ANSWER, plain_answer
from starlette.types import ASGIApp, Receive, Scope, Send

from assistant.accounts import User
from assistant.conversation_api import add_routes
from assistant.conversations import Conversations
from assistant.export import BOM, answer_tables, conversation_markdown, tables_csv

TABLE = "| 云 | 价格 |\n|---|--:|\n| 腾讯云 | 8.68 [1] |"


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix(BOM))))


class AsUser:
    """Stands for the middleware that recognises users: whoever the header names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = dict(scope.get("headers", [])).get(b"x-name", b"ann").decode()
        scope.setdefault("state", {})["user"] = User(name, "reader")
        await self._app(scope, receive, send)


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path / "conversations.sqlite")


@pytest.fixture
def client(store: Conversations) -> Iterator[TestClient]:
    app = FastAPI()
    app.add_middleware(AsUser)
    add_routes(app, store)
    with TestClient(app) as client:
        yield client


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        (TABLE, [[("云", "价格"), ("腾讯云", "8.68")]]),
        (f"before\n\n{TABLE}\n\nafter\n\n{TABLE}", [[("云", "价格"), ("腾讯云", "8.68")]] * 2),
        ("| a \\| b | **c** |\n| --- | --- |\n| `x` | [1] |", [[("a | b", "c"), ("x", "")]]),
        (f"```\n{TABLE}\n```", []),
        ("| no separator |\n| row |", []),
        ("a | b\nc | d", []),
        ("", []),
    ],
)
def test_tables_are_read_as_the_reader_sees_them(text: str, tables: list[list[tuple[str, ...]]]) -> None:
    assert [list(table) for table in answer_tables(text)] == tables


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("8,118.72", "8118.72"),
        ("-1,000", "-1000"),
        ("−2.5", "-2.5"),
        ("1,2,3", "1,2,3"),
        ("8,118.72 元", "8,118.72 元"),
        ("+2.6 元", "'+2.6 元"),
        ("=SUM(A1)", "'=SUM(A1)"),
        ("@x", "'@x"),
        ("-cmd", "'-cmd"),
        ("－", "－"),
        ("", ""),
    ],
)
def test_numbers_lose_their_commas_and_no_cell_acts_as_a_formula(cell: str, written: str) -> None:
    assert rows(tables_csv([(("h", "i"), (cell, "x"))]))[1][0] == written


def test_several_tables_stand_apart_and_chinese_opens_in_excel() -> None:
    text = tables_csv([(("云",), ("a",)), (("区",), ("b",))])
    assert text.startswith(BOM)
    assert rows(text) == [["云"], ["a"], [], ["区"], ["b"]]


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_what_is_written_reads_back_and_never_starts_a_formula(cells: list[str]) -> None:
    text = tables_csv([(tuple(cells),)])
    (row,) = list(csv.reader(io.StringIO(text.removeprefix(BOM), newline=""))) or [[]]
    assert len(row) == len(cells) or cells == [""]
    assert all(not cell.startswith(("=", "@", "\t", "\r")) for cell in row)


def test_a_conversation_keeps_questions_answers_and_tables(store: Conversations) -> None:
    store.append("t", "多少钱？\n第二行", plain_answer("q", PRICE_ANSWER["zh"], "zh"))
    store.append("t", "and then?", None)
    text = conversation_markdown("标题", store.turns("t"), "en")
    assert text.startswith("# 标题\n")
    assert "> 多少钱？\n> 第二行" in text
    assert PRICE_ANSWER["zh"].strip() in text
    assert text.rstrip().endswith("(not answered to the end)")
    assert "<details" not in text


def test_an_export_is_named_after_its_conversation(client: TestClient, store: Conversations) -> None:
    store.append("t", '四张 A100 "多少钱"？', plain_answer("q", TABLE, "zh"), "ann")
    got = client.get("/api/conversations/t/export.md", params={"language": "en"})
    assert got.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "attachment" in got.headers["content-disposition"]
    assert '"' not in got.headers["content-disposition"].split("''")[1]
    assert "**Question**" in got.text


def test_an_answer_is_copied_as_its_text_and_its_tables_as_csv(client: TestClient, store: Conversations) -> None:
    turn = store.append("t", "q", plain_answer("q", TABLE, "zh"), "ann")
    assert client.get(f"/api/turns/{turn}/answer.md").text == TABLE
    got = client.get(f"/api/turns/{turn}/tables.csv")
    assert got.content.startswith(b"\xef\xbb\xbf")
    assert rows(got.text) == [["云", "价格"], ["腾讯云", "8.68"]]


def test_nobody_gets_what_is_anothers_or_was_never_there(client: TestClient, store: Conversations) -> None:
    turn = store.append("t", "secret question", plain_answer("q", TABLE), "bob")
    plain = store.append("u", "q", plain_answer("q", "no table"), "ann")
    for path in ("/api/conversations/t/export.md", f"/api/turns/{turn}/answer.md", f"/api/turns/{turn}/tables.csv"):
        got = client.get(path)
        assert got.status_code == 404
        assert "secret" not in got.text
        assert client.get(path, headers={"x-name": "bob"}).status_code == 200
    assert client.get("/api/turns/9999/tables.csv").status_code == 404
    assert client.get(f"/api/turns/{plain}/tables.csv").status_code == 404
