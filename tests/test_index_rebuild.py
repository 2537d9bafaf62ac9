"""The index built anew in the running process: answers meanwhile, what is left when it fails, one at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

import ingest.knowledge_base as module
from assistant.index_rebuild import DONE, ENDED, FAILED, rebuild_steps
from ingest.incoming import Incoming
from ingest.knowledge_base import KnowledgeBase, open_knowledge
from ingest.rebuilding import RebuildStoppedError, RebuildUnderwayError
from knowledge.index import Vectors
from knowledge.passage import Passage

BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md", None, "text"),
    Passage("b.en#1", "b#1", "en", "Cards", "What a GPU is", "A graphics processor.", "s", "documents/b.en.md", None, "text"),
]  # fmt: skip
GUIDE = Incoming("/data/guide.md", "guide.md", "# 机房守则\n\n## 进门\n\n刷卡后先登记，再换鞋套。\n".encode())


class Held(HashEmbedder):
    """Waits before it embeds passages while `gate` is shut."""

    gate: threading.Event

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.gate.wait(20)
        return super().embed_passages(texts)


@pytest.fixture
def embedder() -> Held:
    held = Held()
    held.gate = threading.Event()
    held.gate.set()
    return held


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: Held) -> Iterator[KnowledgeBase]:
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)
    with open_knowledge(tmp_path / "home", embedder) as base:
        list(base.ingest([GUIDE]))
        yield base
        embedder.gate.set()


@pytest.fixture
def begun(base: KnowledgeBase, embedder: Held) -> Iterator[threading.Thread]:
    """A rebuild that waits in the middle: nothing of the old index can be used again."""
    embedder.fingerprint = "hash-2"
    embedder.gate.clear()
    thread = threading.Thread(target=lambda: list(rebuild_steps(base)))
    thread.start()
    while not base.rebuilding:
        pass
    yield thread
    embedder.gate.set()
    thread.join(20)


def generations(home: Path) -> list[Path]:
    return list((home / "index").glob("generation-*"))


def finds(base: KnowledgeBase, text: str) -> bool:
    return any(text in hit.passage.text for hit in base.index.search(text, language="zh"))


def test_after_a_rebuild_everything_is_found_in_one_new_index_and_the_old_one_is_gone(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    before, old = base.index, generations(tmp_path / "home")
    (*_, last) = rebuild_steps(base)
    assert (last.state, last.text) == ("done", DONE)
    assert base.index is not before
    assert len(generations(tmp_path / "home")) == 1
    assert generations(tmp_path / "home") != old
    assert finds(base, "换鞋套")
    assert base.rebuilding is None
    list(base.ingest([Incoming("/data/b.md", "b.md", b"# Racks\n\nRack 42 is locked.\n")]))
    assert finds(base, "Rack 42")


def test_what_was_rebuilt_is_there_after_a_restart(
    base: KnowledgeBase, tmp_path: Path, embedder: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(rebuild_steps(base))
    base.close()
    with open_knowledge(tmp_path / "home", embedder) as again:
        assert finds(again, "换鞋套")
        assert len(generations(tmp_path / "home")) == 1


def test_searches_go_on_in_the_old_index_while_the_new_one_is_built(
    base: KnowledgeBase, begun: threading.Thread
) -> None:
    assert begun.is_alive()
    assert finds(base, "换鞋套")
    assert base.document("guide.md").name == "guide.md"
    assert base.state().documents == 1


def test_whoever_reads_keeps_the_index_until_the_end_although_it_was_replaced(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    with base.reading() as index:
        list(rebuild_steps(base))
        assert base.index is not index
        assert index.search("换鞋套", language="zh", limit=3)
        list(rebuild_steps(base))
        assert index.search("换鞋套", language="zh", limit=3)
        assert len(generations(tmp_path / "home")) == 2
    assert len(generations(tmp_path / "home")) == 1
    assert finds(base, "换鞋套")


def test_a_second_rebuild_is_refused_and_whoever_asks_follows_the_first(
    base: KnowledgeBase, begun: threading.Thread, embedder: Held
) -> None:
    with pytest.raises(RebuildUnderwayError):
        base.rebuild()
    following = rebuild_steps(base)
    assert next(following).state == "building"
    embedder.gate.set()
    *_, last = following
    assert last.text == ENDED


def test_a_rebuild_that_fails_leaves_the_old_index_and_no_files_and_names_no_cause(
    base: KnowledgeBase, tmp_path: Path, embedder: Held, caplog: pytest.LogCaptureFixture
) -> None:
    before = generations(tmp_path / "home")
    embedder.fingerprint, embedder.fails_after = "hash-2", 0
    (*_, last) = rebuild_steps(base)
    assert (last.state, last.text) == ("failed", FAILED)
    assert "died" in caplog.text
    assert generations(tmp_path / "home") == before
    embedder.fingerprint, embedder.fails_after = "hash-1", None
    assert finds(base, "换鞋套")
    (*_, last) = rebuild_steps(base)
    assert last.state == "done"


def test_closing_stops_a_rebuild_and_leaves_the_old_index(
    base: KnowledgeBase, begun: threading.Thread, embedder: Held, tmp_path: Path
) -> None:
    before = generations(tmp_path / "home")
    closing = threading.Thread(target=base.close)
    closing.start()
    assert base._rebuilds._stopped.wait(20)
    embedder.gate.set()
    closing.join(20)
    begun.join(20)
    with pytest.raises(RebuildStoppedError):
        base.rebuild()
    embedder.fingerprint = "hash-1"
    assert len([path for path in before if path.is_dir()]) == 1
    with open_knowledge(tmp_path / "home", embedder) as again:
        assert finds(again, "换鞋套")


def test_a_document_that_arrives_during_a_rebuild_goes_in_after_it(
    base: KnowledgeBase, begun: threading.Thread, embedder: Held
) -> None:
    late = threading.Thread(
        target=lambda: list(base.ingest([Incoming("/d/b.md", "b.md", b"# R\n\nRack 42 is locked.\n")]))
    )
    late.start()
    embedder.gate.set()
    late.join(20)
    begun.join(20)
    assert finds(base, "Rack 42")
    assert finds(base, "换鞋套")
    base.index.verify()
