"""The knowledge tab without a browser: who may do what, and what each event gives."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from gradio.utils import get_upload_folder
from hash_embedder import HashEmbedder

import ingest.knowledge_base as module
from assistant.accounts import User
from assistant.evidence import Language
from assistant.knowledge_html import entry_html, passages_html
from assistant.knowledge_list import PASSAGES_PER_PAGE, entries, matching, passage_page, size_words
from assistant.web import knowledge_handlers
from assistant.web.knowledge_handlers import KnowledgeHandlers
from ingest.incoming import Incoming
from ingest.knowledge_base import KnowledgeBase, open_knowledge
from knowledge.generation import IndexBrokenError
from knowledge.index import Index
from knowledge.library import Library, LibraryBrokenError
from knowledge.passage import Passage

BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md § GPU 是什么", None, "text"),
    Passage("b.en#1", "b#1", "en", "Cards", "What a GPU is", "A graphics processor.", "s", "documents/b.en.md § What", None, "text"),
]  # fmt: skip
PRICES = "云厂商,GPU,价格（元/小时）\n甲云,A100,31.5\n乙云,H800,58.8\n丙云,T4,0\n".encode()
LONG = "# Notes\n\n" + "\n\n".join(f"## Part {number}\n\nText {number}.\n" for number in range(23))
ADMIN, READER = User("root", "admin"), User("rita", "reader")
TERMS = ("", "", "", "", False)


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)
    with open_knowledge(tmp_path / "home", HashEmbedder()) as base:
        list(base.ingest([Incoming("upload:p.csv", "p.csv", PRICES), Incoming("upload:n.md", "n.md", LONG.encode())]))
        yield base


def request_of(user: User | None) -> Any:
    """A request as the handlers see it; None: the middleware recognised nobody."""
    return SimpleNamespace(request=SimpleNamespace(scope={"path": "/zh", "state": {"user": user} if user else {}}))


def handlers(base: KnowledgeBase | None, language: Language = "en") -> KnowledgeHandlers:
    return KnowledgeHandlers(language, lambda: base)


def done(result: Any) -> list[Any]:
    """All that an event gives, one after another if it goes on for a while."""
    return list(result) if isinstance(result, Generator) else [result]


def uploaded(name: str = "new.md") -> dict[str, Any]:
    folder = Path(get_upload_folder()) / "aa"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"# Racks\n\nRack 42 is locked.\n")
    return {"path": str(folder / name), "orig_name": name}


def events(made: KnowledgeHandlers, base: KnowledgeBase, request: Any) -> dict[str, Callable[[], Any]]:
    """Every event of the tab, called as an admin would."""
    own = base.document("p.csv").id
    row = gr.SelectData(None, {"index": [0, 0], "value": "p.csv", "row_value": ["p.csv", own]})
    checked = (own, 1, knowledge_handlers._options(*TERMS))
    return {
        "fill": lambda: made.fill("", request),
        "search": lambda: made.search("p", request),
        "choose_row": lambda: made.choose_row(row, request),
        "choose": lambda: made.choose(own, request),
        "page_before": lambda: made.page_before(own, 2, request),
        "page_after": lambda: made.page_after(own, 1, request),
        "tables": lambda: made.tables(own, request),
        "preview_table": lambda: made.preview_table(own, 1, *TERMS, request),
        "accept_table": lambda: made.accept_table(own, 1, *TERMS, checked, request),
        "undo": lambda: made.undo(("specs", own), own, request),
        "ask_delete": lambda: made.ask_delete(own, request),
        "cancel_delete": lambda: made.cancel_delete(request),
        "delete": lambda: made.delete(own, "", request),
        "upload": lambda: made.upload([uploaded()], request),
        "rebuild": lambda: made.rebuild(request),
    }


def test_every_event_of_the_tab_is_among_those_tried_here(base: KnowledgeBase) -> None:
    public = {name for name in vars(KnowledgeHandlers) if not name.startswith("_")}
    assert public == set(events(handlers(base), base, request_of(ADMIN)))


@pytest.mark.parametrize("user", [READER, None], ids=["reader", "nobody"])
@pytest.mark.parametrize(("language", "words"), [("zh", "只有管理员"), ("en", "Only an administrator")])
def test_readers_and_nobody_are_refused_by_every_event_and_nothing_is_done(
    base: KnowledgeBase, user: User | None, language: Language, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge_handlers, "accept", lambda *_: pytest.fail("accepted"))
    monkeypatch.setattr(knowledge_handlers, "take_back_cards", lambda *_: pytest.fail("taken back"))
    monkeypatch.setattr(base, "rebuild", lambda *_: pytest.fail("rebuilt"))
    before = base.documents(), base.index
    for event in events(handlers(base, language), base, request_of(user)).values():
        with pytest.raises(gr.Error, match=words):
            done(event())
    assert (base.documents(), base.index) == before


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_admin_can_do_all_of_it(base: KnowledgeBase, language: Language) -> None:
    for name, event in events(handlers(base, language), base, request_of(ADMIN)).items():
        assert done(event()), name
    assert [each.name for each in base.documents()] == ["n.md", "new.md"]


@pytest.mark.parametrize(("language", "words"), [("zh", "正在加载"), ("en", "still loading")])
def test_while_it_is_loaded_the_tab_says_so_and_fills_itself_afterwards(
    base: KnowledgeBase, language: Language, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge_handlers, "LOOK_SECONDS", 0.001)
    given = iter([None, None, base, base])
    told = list(KnowledgeHandlers(language, lambda: next(given)).fill("", request_of(ADMIN)))
    assert words in told[0][0]
    assert "p.csv" in str(told[-1][1])
    with pytest.raises(gr.Error, match=words):
        handlers(None, language).search("", request_of(ADMIN))


def _broken_index(*_: object) -> Iterator[Passage]:
    raise IndexBrokenError("the index in '/srv/secret' is broken")


def _broken_list(*_: object) -> list[Any]:
    raise LibraryBrokenError("文档清单 '/srv/secret' 读写失败 / The list '/srv/secret' cannot be used")


def _bug(*_: object) -> list[Any]:
    raise ZeroDivisionError("/srv/secret")


@pytest.mark.parametrize(
    ("where", "what", "language", "words"),
    [
        ((Index, "passages"), _broken_index, "zh", "索引损坏"),
        ((Index, "passages"), _broken_index, "en", "index is damaged"),
        ((Library, "documents"), _broken_list, "zh", "文档清单损坏"),
        ((Library, "documents"), _broken_list, "en", "list of documents is damaged"),
        ((Library, "documents"), _bug, "zh", "内部错误"),
        ((Library, "documents"), _bug, "en", "internal error"),
    ],
)
def test_broken_is_not_empty_and_no_path_is_told(
    base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    where: tuple[type, str], what: Callable[..., Any], language: Language, words: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(*where, what)
    with pytest.raises(gr.Error, match=words) as raised:
        list(handlers(base, language).fill("", request_of(ADMIN)))
    assert "secret" not in raised.value.message
    assert "secret" in caplog.text


@pytest.mark.parametrize(("language", "words"), [("zh", "还没有自己的文档"), ("en", "No documents of your own")])
def test_an_empty_list_says_how_to_fill_it(base: KnowledgeBase, language: Language, words: str) -> None:
    for each in base.documents():
        base.remove(each.id)
    *_, (_, rows, under, _) = handlers(base, language).fill("", request_of(ADMIN))
    assert words in under
    assert len(rows) == 1


@pytest.mark.parametrize(("language", "name"), [("zh", "显卡"), ("en", "Cards")])
def test_the_list_has_own_documents_first_and_built_in_ones_in_the_pages_language(
    base: KnowledgeBase, language: Language, name: str
) -> None:
    listed = entries(base, language)
    assert [(each.name, each.kind, each.builtin) for each in listed] == [
        ("n.md", "MD", False), ("p.csv", "CSV", False), (name, "MD", True),
    ]  # fmt: skip
    assert listed[1].table_rows == 3
    assert [each.name for each in matching(listed, "ｃｓｖ P.")] == ["p.csv"]
    assert not matching(listed, "p.csv zzz")


def test_a_document_that_the_index_does_not_hold_is_listed_as_such(base: KnowledgeBase) -> None:
    base.index.remove(base.document("p.csv").version)
    assert [each.state for each in entries(base, "en") if not each.builtin] == ["in use", "not indexed"]


def test_passages_come_by_page_and_a_page_that_is_not_there_is_the_nearest(base: KnowledgeBase) -> None:
    entry = next(each for each in entries(base, "en") if each.name == "n.md")
    pages = [passage_page(base, entry, number, "en") for number in (1, 2, 3)]
    assert [page.number for page in pages] == [1, 2, 3]
    texts = [passage.text for page in pages for passage in page.passages]
    assert len(texts) == len(set(texts)) == pages[0].total
    assert len(pages[0].passages) == PASSAGES_PER_PAGE
    assert passage_page(base, entry, 99, "en").number == pages[0].pages
    assert passage_page(base, entry, -5, "en").number == 1


@pytest.mark.parametrize(("size_bytes", "words"), [(None, "–"), (0, "0 B"), (1023, "1023 B"), (1536, "2 KiB"), (3 << 20, "3.0 MiB")])  # fmt: skip
def test_sizes_are_in_binary_units(size_bytes: int | None, words: str) -> None:
    assert size_words(size_bytes) == words


def test_names_and_texts_of_documents_are_text_on_the_page(base: KnowledgeBase) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    list(base.ingest([Incoming("upload:h", f"{hostile}.md", f"# T\n\n## {hostile}\n\n`{hostile}`\n".encode())]))
    entry = next(each for each in entries(base, "en") if "img" in each.name)
    shown = entry_html(entry, "en") + passages_html(passage_page(base, entry, 1, "en"), "en")
    assert "<img" not in shown
    assert "&lt;img" in shown
    with pytest.raises(gr.Error) as raised:
        handlers(base).choose(hostile, request_of(ADMIN))
    assert "<img" not in raised.value.message


def test_a_built_in_document_is_never_deleted(base: KnowledgeBase) -> None:
    made, entry = handlers(base), next(each for each in entries(base, "en") if each.builtin)
    opened = made.choose(entry.id, request_of(ADMIN))
    assert "Built-in" in str(opened[5].value)
    assert opened[5].interactive is False
    assert made.ask_delete(entry.id, request_of(ADMIN))[1] == ""
    with pytest.raises(gr.Error):
        made.delete(entry.id, "", request_of(ADMIN))
    assert entry in entries(base, "en")


@pytest.mark.parametrize(("language", "words"), [("zh", "正在重建"), ("en", "being built anew")])
def test_during_a_rebuild_uploads_and_deletions_are_put_off_at_once(
    base: KnowledgeBase, language: Language, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(KnowledgeBase, "rebuilding", (1, 2))
    tried = events(handlers(base, language), base, request_of(ADMIN))
    for name in ("upload", "delete"):
        with pytest.raises(gr.Error, match=words):
            done(tried[name]())
    assert words in handlers(base, language)._filled(base, "")[0]
    assert len(base.documents()) == 2


def test_terms_changed_since_the_preview_are_checked_again_before_anything_is_accepted(base: KnowledgeBase) -> None:
    own, made = base.document("p.csv").id, handlers(base)
    checked = made.preview_table(own, 1, *TERMS, request_of(ADMIN))[-1]
    again = made.accept_table(own, 1, "", "", "", "2026-11-01", False, checked, request_of(ADMIN))
    assert "once more" in again[5]
    assert again[6] == ("", "")
    taken = made.accept_table(own, 1, "", "", "", "2026-11-01", False, again[4], request_of(ADMIN))
    assert "Took 2" in taken[5]
    assert taken[6][0] == "prices"
    assert "Undone" in made.undo(taken[6], own, request_of(ADMIN))[0]
