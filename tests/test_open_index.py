"""An open index while documents come and go: versions, searches meanwhile, duplicates, failures, and kill -9."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hash_embedder import HashEmbedder
from test_index import PASSAGES, passage, topics

import knowledge.open_index as open_module
from knowledge.dense_store import DenseStore
from knowledge.hits import HEADING_SHARE
from knowledge.index import Index, IndexBrokenError, IndexIncompleteError, Passage, Vectors, build_index, open_index


def document(name: str, count: int = 3, text: str = "") -> list[Passage]:
    """Passages that only this document has."""
    return [
        passage(
            n, "en", f"Part {n} of {name}", f"{text} {name} part {n}: rack {n * 7}.", id=f"{name}.{n}", topic=f"{name}#{n}"
        )
        for n in range(count)
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "索引"


@pytest.fixture
def index(folder: Path) -> Iterator[Index]:
    with build_index(folder, PASSAGES, HashEmbedder()) as index:
        yield index


def found(index: Index, query: str, only: str | None = None) -> list[str]:
    return [hit.passage.id for hit in index.search(query, language="en", limit=20, only=only)]


def test_an_added_version_is_unseen_until_shown_and_can_be_probed_before(index: Index) -> None:
    assert index.add("v1", document("alpha")) == 3
    assert index.versions() == {"builtin": 6, "v1": 3}
    assert index.count() == 6
    assert not [each for each in found(index, "alpha part 2 rack") if each.startswith("alpha")]
    assert not index.knows("alpha")
    assert len(list(index.passages())) == 6
    with pytest.raises(KeyError, match=r"alpha\.1"):
        index.passage("alpha.1")
    assert found(index, "alpha part 2 rack", only="v1")[0] == "alpha.2"
    assert [each.id for each in index.passages("v1")] == ["alpha.0", "alpha.1", "alpha.2"]
    index.show("v1")
    assert found(index, "alpha part 2 rack")[0] == "alpha.2"
    assert index.knows("alpha")
    assert index.count() == 9
    index.hide("v1")
    assert index.count() == 6
    assert not index.knows("alpha")


def test_a_version_is_shown_in_place_of_another_in_one_step(index: Index) -> None:
    index.add("v1", document("alpha"))
    index.add("v2", [replace(each, text=each.text + " new") for each in document("alpha")])  # the ids are the same
    index.show("v1")
    index.show("v2", instead_of="v1")
    assert index.passage("alpha.1").text.endswith("new")
    assert [hit.passage.text[-3:] for hit in index.search("alpha part 1 rack", language="en", limit=1)] == ["new"]
    assert index.remove("v1") == 3
    assert index.versions() == {"builtin": 6, "v2": 3}


@pytest.mark.parametrize(
    "use",
    [
        lambda index: index.show("no-such"),
        lambda index: index.search("A100", language="zh", only="no-such"),
        lambda index: list(index.passages("no-such")),
    ],
)
def test_an_unknown_version_is_an_error(index: Index, use: Callable[[Index], object]) -> None:
    with pytest.raises(KeyError, match="no-such"):
        use(index)


def test_removing_empties_both_stores_and_again_is_no_error(index: Index) -> None:
    index.add("v1", document("alpha", 5))
    index.show("v1")
    assert index.remove("v1") == 5
    assert index.remove("v1") == 0
    index.verify()
    assert index.count() == 6
    assert not [each for each in found(index, "alpha part 2") if each.startswith("alpha")]


def test_a_removal_that_leaves_something_is_an_error(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    index.add("v1", document("alpha"))
    monkeypatch.setattr(DenseStore, "remove", lambda *_: None)
    with pytest.raises(IndexBrokenError, match="3 of 3 passages of 'v1' are left"):
        index.remove("v1")


def test_a_version_can_be_added_only_once_and_again_after_its_removal(index: Index) -> None:
    index.add("v1", document("alpha"))
    with pytest.raises(ValueError, match="'v1' already"):
        index.add("v1", document("beta"))
    assert index.versions()["v1"] == 3
    index.remove("v1")
    index.add("v1", document("beta"))
    assert found(index, "beta part 1", only="v1")[0] == "beta.1"


def test_an_embedder_that_dies_half_way_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_module, "WRITTEN_AT_ONCE", 2)
    embedder = HashEmbedder(fails_after=9)
    with build_index(folder, PASSAGES, embedder) as index:
        with pytest.raises(EOFError, match="died"):
            index.add("v1", document("alpha", 5))
        index.verify()
        assert index.versions() == {"builtin": 6}
        assert not index.knows("alpha")
        embedder.fails_after = None
        assert index.add("v1", document("alpha", 5)) == 5


def test_a_text_is_embedded_once_however_often_it_comes(folder: Path) -> None:
    embedder = HashEmbedder()
    with build_index(folder, PASSAGES, embedder) as index:
        before = embedder.embedded
        twins = [replace(document("alpha", 1)[0], id=f"alpha.{n}") for n in range(4)]
        index.add("v1", twins)
        index.add("v2", twins)
        assert embedder.embedded == before + 1


def test_ready_made_vectors_are_used_as_they_are(folder: Path) -> None:
    embedder = HashEmbedder()
    with build_index(folder, PASSAGES, embedder) as index:
        before = embedder.embedded
        vectors = embedder.embed_queries(["zzzz", "qqqq", "kkkk"])
        index.add("v1", document("alpha"), vectors=vectors)
        assert embedder.embedded == before
        hits = index.search("qqqq", language="en", only="v1", rank="dense")
        assert (hits[0].passage.id, round(hits[0].dense, 3)) == ("alpha.1", 1)


def test_another_number_of_vectors_than_passages_is_refused_before_anything_is_written(index: Index) -> None:
    with pytest.raises(ValueError, match="2 vectors for 3 passages"):
        index.add("v1", document("alpha"), vectors=np.eye(32, dtype=np.float32)[:2])
    assert index.add("v1", document("alpha")) == 3


def test_each_side_can_be_measured_alone(index: Index) -> None:
    words = index.search("gn7.2xlarge32", language="zh", rank="keyword")
    assert [hit.passage.topic for hit in words] == ["doc#3"]
    assert words[0].score == pytest.approx((1 - HEADING_SHARE) * words[0].keyword)  # the heading lacks it
    assert index.search("不曾见过的词", language="zh", rank="keyword") == []
    meaning = index.search("gn7.2xlarge32", language="zh", rank="dense")
    assert len(meaning) >= 3
    assert all(hit.score == hit.dense for hit in meaning)


@pytest.mark.parametrize("exact", [0, 5000])
def test_many_invisible_neighbours_do_not_starve_the_dense_side(
    folder: Path, monkeypatch: pytest.MonkeyPatch, exact: int
) -> None:
    monkeypatch.setattr(open_module, "EXACT", exact)
    embedder = HashEmbedder()
    with build_index(folder, PASSAGES, embedder) as index:
        near = embedder.embed_queries(["falcon memory"])
        index.add("v1", document("alpha", 400), vectors=np.repeat(near, 400, axis=0))
        hits = index.search("falcon memory", language="en", limit=4, rank="dense")
        assert {hit.passage.topic for hit in hits} == {"doc#1", "doc#2", "doc#3", "doc#4"}


def test_one_text_in_two_documents_is_shown_once_but_not_a_short_one_under_other_headings(index: Index) -> None:
    row = "云厂商 = 甲云; GPU = X9000; 价格 = 31.5"
    for version in ("v1", "v2"):
        changes = {"id": f"{version}.r", "topic": f"{version}#r", "kind": "row", "title": version}
        short = passage(1, "zh", f"{version} 的显存", "24 GB", id=f"{version}.s", topic=f"{version}#s")
        index.add(version, [passage(0, "zh", "价格表", row, **changes), short])
        index.show(version)
    hits = index.search("X9000 31.5 显存 24 GB", language="zh", limit=10)
    assert sum(hit.passage.text == row for hit in hits) == 1
    assert sum(hit.passage.text == "24 GB" for hit in hits) == 2


class Gate(HashEmbedder):
    """Embeds passages only when let."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.reached, self.open = threading.Event(), threading.Event()

    def embed_passages(self, texts: object) -> Vectors:
        if self.closed:
            self.reached.set()
            assert self.open.wait(30)
        return super().embed_passages(texts)  # type: ignore[arg-type]


def test_a_search_does_not_wait_for_passages_being_embedded(folder: Path) -> None:
    gate = Gate()
    with build_index(folder, PASSAGES, gate) as index:
        gate.closed = True
        adding = threading.Thread(target=index.add, args=("v1", document("alpha")))
        adding.start()
        assert gate.reached.wait(30)
        assert topics(index.search("gn7.2xlarge32", language="zh"))[0] == "doc#3"
        assert index.versions() == {"builtin": 6}
        gate.open.set()
        adding.join()
        assert index.versions() == {"builtin": 6, "v1": 3}


def test_searches_see_the_old_or_the_new_version_whole_at_any_time(index: Index) -> None:
    def content(turn: int) -> list[Passage]:
        return [replace(each, text=f"{each.text} turn{turn}") for each in document("alpha", 3)]

    index.add("v0", content(0))
    index.show("v0")
    seen: list[set[str]] = []
    failures: list[Exception] = []
    stop = threading.Event()

    def searching() -> None:
        while not stop.is_set():
            try:
                hits = index.search("alpha part rack", language="en", limit=20)
                seen.append({h.passage.text.rpartition(" ")[2] for h in hits if h.passage.id.startswith("alpha")})
                assert sum(hit.passage.id.startswith("alpha") for hit in hits) == 3
            except Exception as error:  # noqa: BLE001 # the main thread shows it
                failures.append(error)
                return

    searchers = [threading.Thread(target=searching) for _ in range(3)]
    for thread in searchers:
        thread.start()
    for turn in range(1, 15):
        index.add(f"v{turn}", content(turn))
        index.show(f"v{turn}", instead_of=f"v{turn - 1}")
        assert index.remove(f"v{turn - 1}") == 3
    stop.set()
    for thread in searchers:
        thread.join()
    assert failures == []
    assert all(len(turns) == 1 for turns in seen)
    assert seen


def test_opening_shows_the_live_versions_and_removes_all_others(folder: Path, index: Index) -> None:
    for name in ("alpha", "beta", "gamma"):
        index.add(name, document(name))
    index.close()
    with open_index(folder, HashEmbedder(), PASSAGES, live=["alpha", "gamma"]) as opened:
        assert opened.versions() == {"builtin": 6, "alpha": 3, "gamma": 3}
        assert opened.count() == 12
        assert found(opened, "gamma part 2 rack")[0] == "gamma.2"
        assert not opened.knows("beta")
        opened.verify()
    for path in folder.rglob("*"):
        assert not path.is_file() or b"beta" not in path.read_bytes()


def test_live_versions_that_are_missing_are_named_and_the_rest_can_be_opened(folder: Path, index: Index) -> None:
    index.add("alpha", document("alpha"))
    index.close()
    with pytest.raises(IndexIncompleteError, match="gpu-advisor knowledge rebuild") as caught:
        open_index(folder, HashEmbedder(), PASSAGES, live=["alpha", "beta"])
    assert caught.value.versions == {"beta"}
    with open_index(folder, HashEmbedder(), PASSAGES, live=["alpha"]) as opened:
        opened.add("beta", document("beta"))
        opened.show("beta")
        assert opened.count() == 12


def test_a_chroma_that_is_mostly_holes_is_made_anew_at_opening(
    folder: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    import knowledge.dense_mending as mending

    monkeypatch.setattr(mending, "FEW_HOLES", 8)
    before = {path.name for path in folder.rglob("chroma-*")}
    for turn in range(3):
        index.add(f"v{turn}", document("alpha"))
        index.remove(f"v{turn}")
    index.close()
    for _ in range(2):
        with open_index(folder, HashEmbedder(), PASSAGES) as opened:
            after = {path.name for path in folder.rglob("chroma-*")}
            assert found(opened, "Falcon-40B")
    assert before.isdisjoint(after)
    assert len(after) == 1


# Kill -9. The child tells what is live before and after each step, as a library of documents would keep it.

CHANGING = """
import itertools, json, os, random, sys
from pathlib import Path
import knowledge.open_index as open_module
from hash_embedder import HashEmbedder
from knowledge.index import open_index
from test_index import PASSAGES
from test_open_index import document

folder, seed = Path(sys.argv[1]), int(sys.argv[2])
open_module.WRITTEN_AT_ONCE = 16
live = json.loads((folder / "live.json").read_text())
draw = random.Random(seed)

def flip():
    new = folder / "live.new"
    new.write_text(json.dumps(live))
    new.replace(folder / "live.json")

index = open_index(folder, HashEmbedder(), PASSAGES, live=live)
print("open", flush=True)
for turn in itertools.count():
    name = draw.choice(["alpha", "beta", "gamma"])
    old = next((version for version in live if version.startswith(name)), None)
    if old and draw.random() < 0.4:
        del live[old]
        flip()
        index.hide(old)
        index.remove(old)
        continue
    new = f"{name}.{seed}.{turn}"
    count = draw.randint(1, 60)
    index.add(new, document(name, count, text=new))
    live[new] = count
    if old:
        del live[old]
    flip()
    index.show(new, instead_of=old)
    if old:
        index.remove(old)
"""


def test_killed_at_any_moment_every_live_version_is_whole_and_nothing_else_is_left(folder: Path, index: Index) -> None:
    index.close()
    (folder / "live.json").write_text("{}")
    draw = random.Random(5)
    for turn in range(12):
        child = subprocess.Popen(
            [sys.executable, "-c", CHANGING, str(folder), str(turn)],
            cwd=Path(__file__).parents[1],
            env={"PYTHONPATH": f".:{Path(__file__).parent}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout
        assert child.stdout.readline() == "open\n"
        time.sleep(draw.uniform(0, 1.5))
        child.kill()
        child.wait()
        child.stdout.close()
        live = json.loads((folder / "live.json").read_text())
        with open_index(folder, HashEmbedder(), PASSAGES, live=live) as opened:
            assert opened.versions() == {"builtin": len(PASSAGES), **live}
            opened.verify()
            assert opened._store.dense_is_whole()
            numbers = opened._store.numbers()
            assert len(opened._dense.vectors(numbers)) == len(numbers) == opened.count()
            for version, count in live.items():
                name = version.partition(".")[0]
                assert list(opened.passages(version)) == document(name, count, text=version)
                assert found(opened, f"{version} part {count - 1}: rack {(count - 1) * 7}")[0].startswith(name)
            assert topics(opened.search("gn7.2xlarge32", language="zh"))[0] == "doc#3"
        assert len(list(folder.rglob("chroma.sqlite3"))) == 1


ASKED = "刷脸进门靠啥\nwhat opens the door"


def asking_document() -> list[Passage]:
    first, *rest = document("alpha", 12)
    return [replace(first, asked=ASKED), *rest]


@pytest.mark.parametrize("question", ["刷脸进门靠啥", "What opens the door?"])
def test_a_question_written_down_for_a_passage_leads_to_it_and_is_never_shown(index: Index, question: str) -> None:
    index.add("v1", asking_document())
    index.show("v1")
    for rank in ("dense", "fused"):
        (hit, *others) = index.search(question, language="en", limit=10, rank=rank)  # type: ignore[arg-type]
        assert hit.passage.id == "alpha.0"
        assert {each.passage.kind for each in (hit, *others)} <= {"text", "row", "gap"}
    assert [each.id for each in index.passages("v1")] == [f"alpha.{n}" for n in range(12)]
    assert index.passage("alpha.0").asked == ASKED


def test_the_words_of_its_questions_count_as_words_of_the_passage(index: Index) -> None:
    index.add("v1", asking_document())
    index.show("v1")
    assert found(index, "刷脸")[0] == "alpha.0"
    assert index.search("刷脸", language="zh", rank="keyword")[0].keyword == 1.0


def test_removing_a_version_removes_its_questions_too(index: Index) -> None:
    before = index.versions()
    index.add("v1", asking_document())
    index.show("v1")
    assert index.remove("v1") == 12 + 2
    assert index.versions() == before
    index.verify()
    assert not index.knows("刷脸")


def test_a_question_changed_is_embedded_alone(folder: Path) -> None:
    embedder = HashEmbedder()
    build_index(folder, asking_document(), embedder).close()
    embedder.embedded = 0
    changed = [replace(each, asked=each.asked and f"{each.asked}\nwho holds the key") for each in asking_document()]
    with build_index(folder, changed, embedder) as index:
        assert embedder.embedded == 0  # no passage; a question is embedded as questions are
        assert index.search("who holds the key", language="en")[0].passage.id == "alpha.0"
