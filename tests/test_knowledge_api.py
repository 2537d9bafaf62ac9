"""The knowledge base over HTTP: a real server on loopback, asked by the client that the command line uses."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from gated import credentials, send
from hash_embedder import HashEmbedder
from typer.testing import CliRunner

import assistant.owner as owner_module
import ingest.knowledge_base as module
from assistant.api import speak_politely
from assistant.cli import app as commands
from assistant.gate import Credentials, Gate
from assistant.knowledge_api import add_routes
from assistant.knowledge_over_http import RemoteKnowledge
from assistant.outcomes import from_wire, shown, summary, to_wire
from assistant.owner import Owner, OwnerFailedError
from ingest.blocks import Note
from ingest.incoming import Incoming, Refused, Skipped
from ingest.knowledge_base import KnowledgeBase, Taken, open_knowledge
from knowledge.library import Document
from knowledge.passage import Passage

BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md", None, "text")
]
PRICES = "云厂商,GPU,价格（元/小时）\n甲云,A100,31.5\n乙云,H800,58.8\n".encode()
EMBEDDER = HashEmbedder()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)
    with open_knowledge(tmp_path / "home", EMBEDDER) as base:
        yield base


@pytest.fixture
def known(tmp_path: Path) -> Credentials:
    return credentials(tmp_path / "access", owner_secret="the-secret-of-the-owner")


@pytest.fixture
def served(base: KnowledgeBase, known: Credentials) -> FastAPI:
    app = FastAPI()
    app.add_middleware(Gate, credentials=known)
    speak_politely(app)
    add_routes(app, lambda: base, lambda: JSONResponse({"error": "loading"}, status_code=503))
    return app


@pytest.fixture
def owner(served: FastAPI) -> Iterator[Owner]:
    """A server that has the knowledge base, in a thread of this process."""
    app = served
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield Owner(os.getpid(), f"http://127.0.0.1:{listener.getsockname()[1]}", secret="the-secret-of-the-owner")
        server.should_exit = True
        thread.join()


def test_files_go_in_are_listed_and_come_out_over_http(owner: Owner, base: KnowledgeBase) -> None:
    remote = RemoteKnowledge(owner)
    steps: list[tuple[int, int]] = []
    files = [Incoming("/x/价格 1.csv", "价格 1.csv", PRICES), Refused("gone.md", "not-found", Note("没有", "none"))]
    taken, refused = remote.ingest(files, lambda done, total: steps.append((done, total)))
    assert isinstance(taken, Taken)
    assert (taken.status, refused) == ("accepted", files[1])
    assert steps[-1] == (taken.document.passages, taken.document.passages)
    assert remote.documents() == [taken.document] == base.documents()
    assert (remote.state().documents, remote.state().builtin_passages) == (1, 1)
    assert [each.status for each in remote.ingest(files[:1]) if isinstance(each, Taken)] == ["unchanged"]
    gone = remote.remove("价格 1.csv")
    assert (gone.document, gone.passages) == (taken.document, taken.document.passages)
    assert remote.documents() == []


def test_removing_what_is_not_there_gives_the_sentence_of_the_library(owner: Owner) -> None:
    with pytest.raises(OwnerFailedError, match=r"No document 'a/b 价.md'; 0 are there"):
        RemoteKnowledge(owner).remove("a/b 价.md")


def test_a_file_that_no_reader_takes_is_an_outcome_and_not_an_error_of_the_server(owner: Owner) -> None:
    (outcome,) = RemoteKnowledge(owner).ingest([Incoming("/x/a.pdf", "a.pdf", b"%PDF-1.7 nothing")])
    assert isinstance(outcome, Refused)
    assert outcome.code == "broken"


def test_a_fault_inside_is_told_without_its_text(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EMBEDDER, "fails_after", 0)
    with pytest.raises(OwnerFailedError, match="nothing changed") as caught:
        list(RemoteKnowledge(owner).ingest([Incoming("/x/p.csv", "p.csv", PRICES)]))
    assert "died" not in str(caught.value)


def test_an_upload_without_an_origin_replaces_the_upload_of_that_name(owner: Owner, base: KnowledgeBase) -> None:
    for content in (b"# One\n\nfirst text\n", b"# One\n\nsecond text\n"):
        response = httpx.post(f"{owner.url}/api/documents", params={"name": "n.md"}, content=content, trust_env=False)
        assert response.status_code == 200
    assert [(each.origin, each.name) for each in base.documents()] == [("upload:n.md", "n.md")]
    assert '"status": "replaced"' in response.text


def test_the_commands_go_through_the_running_server(
    owner: Owner, base: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner_module, "current_owner", lambda: owner)
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "home"))
    (tmp_path / "价格.csv").write_bytes(PRICES)
    (tmp_path / "bad.pdf").write_bytes(b"%PDF-1.7 nothing")
    run = CliRunner().invoke(commands, ["ingest", str(tmp_path / "价格.csv"), str(tmp_path / "bad.pdf")])
    assert run.exit_code == 1  # one was refused
    assert "收下 / accepted: 价格.csv" in run.stdout
    assert "拒收 / refused (broken): bad.pdf" in run.stdout
    assert run.stdout.splitlines()[-1] == "收下 / accepted 1; 拒收 / refused 1"
    (document,) = base.documents()
    assert document.id in CliRunner().invoke(commands, ["knowledge", "list"]).stdout
    assert "导入文档 / documents: 1" in CliRunner().invoke(commands, ["knowledge", "status"]).stdout
    assert (
        f"[{document.id}] {document.passages} 段"
        in CliRunner().invoke(commands, ["knowledge", "remove", document.id]).stdout
    )
    assert base.documents() == []


REQUESTS = [
    ("GET", "/api/documents", b""),
    ("GET", "/api/knowledge", b""),
    ("POST", "/api/documents?name=n.md", b"# One\n\ntext\n"),
    ("DELETE", "/api/documents/p.csv", b""),
    ("DELETE", "/api/documents/%2e%2e/p.csv", b""),
]


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS)
def test_a_reader_neither_sees_nor_changes_what_was_taken_in(
    served: FastAPI, base: KnowledgeBase, known: Credentials, method: str, path: str, body: bytes
) -> None:
    list(base.ingest([Incoming("upload:p.csv", "p.csv", PRICES)]))
    before = base.documents()
    known.accounts.add("bob", "correct horse", "reader")
    headers = {"Authorization": f"Bearer {known.accounts.new_token('bob')}"}
    refused = send(served, path, method=method, headers=headers, body=body)
    assert (refused.status, "administrator" in refused.error) == (403, True)
    assert "p.csv" not in refused.body.decode()
    assert send(served, path, method=method, body=body).status == 401
    assert send(served, path, method=method, body=body, peer="203.0.113.9").status == 401
    assert base.documents() == before
    known.accounts.set_role("bob", "admin")
    assert send(served, path, method=method, headers=headers, body=body).status in {200, 404}


def test_the_commands_need_no_login_where_there_is_one(
    owner: Owner, base: KnowledgeBase, known: Credentials, tmp_path: Path
) -> None:
    known.accounts.add("anna", "correct horse", "admin")
    list(base.ingest([Incoming("upload:p.csv", "p.csv", PRICES)]))
    assert RemoteKnowledge(owner).documents() == base.documents()
    with pytest.raises(OwnerFailedError, match="Log in first"):
        RemoteKnowledge(replace(owner, secret="another")).documents()


DOCUMENT = Document("d1", "/x/a.csv", "a.csv", "d1.1", "00", "1", 9, "a", 3, 2, "2026-11-30T10:00:00+00:00")


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Taken("a.csv", "accepted", DOCUMENT), "收下 / accepted: a.csv [d1] 3 段 / passages, 2 表格行 / table rows"),
        (Taken("b.csv", "unchanged", DOCUMENT, same_as="a.csv"), "未变 / unchanged: b.csv（内容与 a.csv 相同 / same content as a.csv）"),
        (Taken("a.csv", "replaced", DOCUMENT, (Note("注", "note"),)), "更新 / replaced: a.csv [d1] 3 段 / passages, 2 表格行 / table rows\n    注 / note"),
        (Refused("c.pdf", "encrypted", Note("加密", "encrypted")), "拒收 / refused (encrypted): c.pdf\n    加密\n    encrypted"),
        (Skipped("/x", 2, ("p.png", "q.png")), "跳过 / skipped: 2 个不读的文件 / files no reader takes, /x: p.png, q.png"),
    ],
)  # fmt: skip
def test_every_fate_is_shown_in_both_languages_and_crosses_the_wire(
    outcome: Taken | Refused | Skipped, line: str
) -> None:
    assert shown(outcome) == line
    assert from_wire(to_wire(outcome)) == outcome


def test_no_files_are_said_to_be_none() -> None:
    assert summary([]) == "没有文件 / no files"
