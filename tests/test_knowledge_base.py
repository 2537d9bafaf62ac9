"""Documents in, changed and out: each file's fate, what is found afterwards, and a process killed half-way."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from io import BytesIO
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

import ingest.knowledge_base as module
from ingest.incoming import Incoming, Refused, Skipped, from_paths
from ingest.knowledge_base import KnowledgeBase, Outcome, Taken, open_knowledge, rebuild
from ingest.typed_tables import GivenTerms, PriceTable, prepare_prices, typed
from knowledge.catalog import load_catalog
from knowledge.index import IndexMismatchError
from knowledge.library import UnknownDocumentError
from knowledge.passage import Passage

PRICES = "云厂商,GPU,价格（元/小时）\n甲云,A100,31.5\n乙云,H800,58.8\n丙云,T4,0\n"
GUIDE = "# 机房守则\n\n## 进门\n\n刷卡后先登记，再换鞋套。\n\n## Leaving\n\nSwitch the lights off and lock rack 42.\n"
BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md", None, "text"),
    Passage("b.en#1", "b#1", "en", "Cards", "What a GPU is", "A graphics processor.", "s", "documents/b.en.md", None, "text"),
]  # fmt: skip


@pytest.fixture(autouse=True)
def few_builtin_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with open_knowledge(tmp_path / "home", HashEmbedder()) as base:
        yield base


def file(name: str, content: str | bytes) -> Incoming:
    return Incoming(f"/data/{name}", name, content.encode() if isinstance(content, str) else content)


def take(base: KnowledgeBase, *files: Incoming) -> list[Outcome]:
    return list(base.ingest(files))


def found(base: KnowledgeBase, query: str) -> list[str]:
    return [hit.passage.text for hit in base.index.search(query, language="zh", limit=8)]


def fates(outcomes: list[Outcome]) -> list[str]:
    return [
        outcome.status if isinstance(outcome, Taken) else outcome.code if isinstance(outcome, Refused) else "skipped"
        for outcome in outcomes
    ]


def test_a_file_taken_in_is_found_row_by_row_with_its_headers_and_place(base: KnowledgeBase) -> None:
    (outcome,) = take(base, file("价格.csv", PRICES))
    assert isinstance(outcome, Taken)
    assert (outcome.status, outcome.document.table_rows) == ("accepted", 3)
    (hit, *_) = base.index.search("乙云 H800 价格", language="zh", limit=3)
    assert "58.8" in hit.passage.text
    assert "乙云" in hit.passage.text
    assert hit.passage.source == "价格.csv"
    assert "价格.csv" in hit.passage.locator
    assert any("丙云" in text and "= 0" in text for text in found(base, "丙云 T4"))


def test_the_same_bytes_again_change_nothing_and_embed_nothing(base: KnowledgeBase, tmp_path: Path) -> None:
    take(base, file("guide.md", GUIDE))
    before = base.index.versions()
    assert fates(take(base, file("guide.md", GUIDE))) == ["unchanged"]
    assert base.index.versions() == before


def test_a_copy_under_another_name_is_not_stored_twice(base: KnowledgeBase) -> None:
    take(base, file("guide.md", GUIDE))
    (outcome,) = take(base, file("copy of guide.md", GUIDE))
    assert isinstance(outcome, Taken)
    assert (outcome.status, outcome.same_as) == ("unchanged", "guide.md")
    assert len(base.documents()) == 1


def test_a_changed_file_replaces_its_former_version_everywhere(base: KnowledgeBase) -> None:
    take(base, file("价格.csv", PRICES))
    assert fates(take(base, file("价格.csv", PRICES.replace("58.8", "61.2")))) == ["replaced"]
    texts = found(base, "乙云 H800 价格")
    assert any("61.2" in text for text in texts)
    assert not any("58.8" in text for text in texts)
    assert set(base.index.versions()) == {"builtin", base.documents()[0].version}


def test_files_of_one_name_in_two_folders_are_two_documents(base: KnowledgeBase) -> None:
    one, two = Incoming("/a/p.csv", "p.csv", PRICES.encode()), Incoming("/b/p.csv", "p.csv", b"GPU,price\nL4,1.5\n")
    assert fates(take(base, one, two)) == ["accepted", "accepted"]
    with pytest.raises(UnknownDocumentError, match="use the id"):
        base.remove("p.csv")


def test_one_bad_file_never_stops_the_rest(base: KnowledgeBase) -> None:
    outcomes = take(
        base, file("a.md", GUIDE), file("empty.txt", ""), file("x.pdf", b"%PDF-1.7 broken"), file("p.csv", PRICES)
    )
    assert fates(outcomes) == ["accepted", "empty", "broken", "accepted"]
    assert [each.name for each in base.documents()] == ["a.md", "p.csv"]
    assert set(base.index.versions()) == {"builtin", *(each.version for each in base.documents())}


def test_every_member_of_an_archive_is_a_document_of_its_own(base: KnowledgeBase) -> None:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("资料/guide.md", GUIDE)
        archive.writestr("prices.csv", PRICES)
        archive.writestr("photo.png", b"\x89PNG\r\n\x1a\n0000")
    outcomes = take(base, file("all.zip", packed.getvalue()))
    assert sorted(fates(outcomes)) == ["accepted", "accepted", "wrong-type"]
    assert [each.name for each in base.documents()] == ["all.zip › prices.csv", "all.zip › 资料/guide.md"]


def test_a_folder_is_walked_and_what_no_reader_takes_is_counted(base: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "docs" / "sub").mkdir(parents=True)
    (tmp_path / "docs" / "sub" / "guide.md").write_text(GUIDE)
    (tmp_path / "docs" / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    (tmp_path / "docs" / ".hidden.md").write_text("x")
    outcomes = list(base.ingest(from_paths([tmp_path / "docs", tmp_path / "no such file.md"])))
    assert fates(outcomes) == ["accepted", "skipped", "not-found"]
    assert isinstance(outcomes[1], Skipped)
    assert outcomes[1].count == 2


def test_removing_leaves_no_trace_in_search_lists_or_files(tmp_path: Path) -> None:
    secret = "Zyzzyva"  # a word that stands nowhere else
    with open_knowledge(tmp_path / "home", HashEmbedder()) as base:
        take(base, file("note.md", f"# Note\n\n## Where\n\nThe {secret} key lies under rack 7.\n"), file("g.md", GUIDE))
        gone = base.remove("note.md")
        assert gone.passages == gone.document.passages > 0
        assert base.index.versions() == {"builtin": 2, base.documents()[0].version: base.documents()[0].passages}
        assert not any(secret in text for text in found(base, f"{secret} key rack 7"))
        with pytest.raises(UnknownDocumentError):
            base.remove("note.md")
    holding = [
        p for p in (tmp_path / "home").rglob("*") if p.is_file() and secret.lower().encode() in p.read_bytes().lower()
    ]
    assert holding == []


def test_a_model_that_dies_half_way_leaves_the_old_state(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    with open_knowledge(tmp_path / "home", embedder) as base:
        take(base, file("价格.csv", PRICES))
        before = base.index.versions()
        embedder.fails_after = embedder.embedded
        with pytest.raises(EOFError, match="died"):
            take(base, file("价格.csv", PRICES.replace("58.8", "61.2")))
        assert base.index.versions() == before
        assert any("58.8" in text for text in found(base, "乙云 H800 价格"))


def test_a_file_that_the_search_cannot_find_again_is_not_taken(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base.index, "search", lambda *_, **__: [])
    assert fates(take(base, file("guide.md", GUIDE))) == ["not-findable"]
    assert base.documents() == []
    assert set(base.index.versions()) == {"builtin"}


def test_searches_go_on_while_a_large_file_is_written(base: KnowledgeBase) -> None:
    take(base, file("guide.md", GUIDE))
    lines = "".join(f"云{number},A{number},{number / 7:.2f}\n" for number in range(3000))
    ingest = threading.Thread(target=take, args=(base, file("big.csv", "云厂商,GPU,价格\n" + lines)))
    ingest.start()
    during = 0
    while ingest.is_alive():
        assert any("rack 42" in text for text in found(base, "lock rack 42 lights"))
        during += 1
    ingest.join()
    assert during > 3
    assert any("云2999" in text for text in found(base, "云2999 A2999"))


def test_another_model_is_an_error_while_documents_are_there_and_rebuild_mends_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_knowledge(home, HashEmbedder()) as base:
        take(base, file("价格.csv", PRICES))
    with pytest.raises(IndexMismatchError, match="knowledge rebuild"):
        open_knowledge(home, HashEmbedder("hash-2"))
    with rebuild(home, HashEmbedder("hash-2")) as base:
        assert any("58.8" in text for text in found(base, "乙云 H800 价格"))
    with open_knowledge(home, HashEmbedder("hash-2")) as base:
        assert base.state().documents == 1
    assert len(list((home / "index").glob("generation-*"))) == 1


def test_another_model_without_documents_rebuilds_by_itself(tmp_path: Path) -> None:
    open_knowledge(tmp_path / "home", HashEmbedder()).close()
    with open_knowledge(tmp_path / "home", HashEmbedder("hash-2")) as base:
        assert base.state().embedder == "hash-2"


def test_changed_builtin_texts_are_taken_up_without_embedding_the_rest_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, embedder = tmp_path / "home", HashEmbedder()
    with open_knowledge(home, embedder) as base:
        take(base, file("价格.csv", PRICES))
    embedder.embedded = 0
    added = Passage("n#1", "n#1", "en", "New", "News", "A new section.", "s", "documents/n.en.md", None, "text")
    monkeypatch.setattr(module, "builtin_passages", lambda: [*BUILTIN, added])
    with open_knowledge(home, embedder) as base:
        assert embedder.embedded == 1
        assert any("58.8" in text for text in found(base, "乙云 H800 价格"))
        assert base.state().builtin_passages == 3


def test_a_lost_index_is_built_again_from_the_library(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_knowledge(home, HashEmbedder()) as base:
        take(base, file("价格.csv", PRICES))
    (home / "index" / "manifest.json").unlink()
    with open_knowledge(home, HashEmbedder()) as base:
        assert any("58.8" in text for text in found(base, "乙云 H800 价格"))


CHANGER = """
import sys
from pathlib import Path
sys.path.insert(0, "tests")
import ingest.knowledge_base as module
from hash_embedder import HashEmbedder
from ingest.blocks import Parsed, Text
from ingest.incoming import Incoming
from test_knowledge_base import BUILTIN
module.builtin_passages = lambda: BUILTIN
module.sandbox.parse = lambda content, name: Parsed("t", tuple(Text(f"version{content.decode()} part{n} " * 30) for n in range(40)), 0)
base = module.open_knowledge(Path(sys.argv[1]), HashEmbedder())
print("open", flush=True)
for number in range(1000):
    list(base.ingest([Incoming("/x", "x.txt", str(number).encode()), Incoming("/y", "y.txt", f"y{number}".encode())]))
    base.remove("y.txt")
"""


def test_killed_at_any_moment_the_next_start_sees_the_old_or_the_new_state(tmp_path: Path) -> None:
    home, chance = tmp_path / "home", random.Random(7)
    for _ in range(8):
        command = [sys.executable, "-c", CHANGER, str(home)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            time.sleep(chance.uniform(0.0, 1.5))
            process.kill()
        with open_knowledge(home, HashEmbedder()) as base:
            documents = base.documents()
            counts = base.index.versions()
            assert counts.pop("builtin") == 2
            assert counts == {each.version: each.passages for each in documents}
            for each in documents:
                texts = {passage.text.split()[0] for passage in base.index.passages(each.version)}
                assert len(texts) == 1, "parts of two versions of one document"
                (version,) = texts
                assert any(version in text for text in found(base, f"{version} part3"))
            base.index.count()


def test_names_that_are_no_utf8_links_out_and_line_breaks_do_no_harm(base: KnowledgeBase, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (tmp_path / "outside.md").write_text("# Secret\n\nnot meant to be read\n")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    (folder / "circle.md").symlink_to(folder / "circle.md")
    (folder / "a\nb.md").write_text(GUIDE)
    Path(os.fsdecode(os.fsencode(folder) + b"/" + "报价".encode("gb18030") + b".csv")).write_text(PRICES)
    outcomes = list(base.ingest(from_paths([folder])))
    assert sorted(each.name for each in base.documents()) == ["a b.md", "报价.csv"]
    (skipped,) = [outcome for outcome in outcomes if isinstance(outcome, Skipped)]
    assert sorted(skipped.examples) == ["circle.md", "link.md"]


def test_the_index_knows_whether_it_has_documents_of_the_reader(base: KnowledgeBase) -> None:
    assert not base.index.has_documents
    take(base, file("guide.md", GUIDE))
    assert base.index.has_documents
    base.remove("guide.md")
    assert not base.index.has_documents


@pytest.mark.parametrize("change", ["remove", "replace"])
def test_price_rows_accepted_from_a_document_go_with_it(
    base: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "home"))
    (outcome,) = take(
        base, file("v.csv", "云厂商,GPU,计费,价格（元/小时）\n腾讯云,A100,竞价,6.2\n腾讯云,A100,按量,9.9\n")
    )
    assert isinstance(outcome, Taken)
    table = typed(base.parsed(outcome.document.id), 1)
    assert isinstance(table, PriceTable)
    prepare_prices(table, "v.csv", GivenTerms(), as_of="", allow_unusual=False, today=date(2026, 11, 30)).commit()

    def prices() -> set[tuple[Decimal, str]]:
        return {(offer.price, offer.pricing_model) for offer in load_catalog().find_offers(["A100"], ["tencent"])}

    assert (Decimal("9.9"), "on-demand") in prices()  # and the spot row, which find_offers leaves out
    if change == "remove":
        assert base.remove("v.csv").price_rows == 2
    else:
        (again,) = take(base, file("v.csv", "云厂商,GPU,价格（元/小时）\n腾讯云,A100,12.5\n"))
        assert isinstance(again, Taken)
        assert "2 price rows and 0 cards" in again.notes[-1].en
    assert Decimal("9.9") not in {price for price, _ in prices()}
    assert Decimal("28.64") in {price for price, _ in prices()}
