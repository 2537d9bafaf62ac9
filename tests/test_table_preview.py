"""Recognised tables on the page: what a table would bring, accepted and taken back, in one language at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

import ingest.knowledge_base as module
from assistant.evidence import Language
from assistant.knowledge_faults import sentence
from assistant.knowledge_html import table_html
from assistant.table_commands import AcceptOptions, accept_table
from assistant.table_preview import (
    accept,
    cards_of,
    on_page,
    preview,
    said,
    table_entries,
    take_back_cards,
    take_back_prices,
)
from ingest.incoming import Incoming
from ingest.knowledge_base import KnowledgeBase, Taken, open_knowledge
from ingest.typed_tables import TableIncompleteError, TableNotTypedError
from knowledge import names
from knowledge.catalog import load_catalog
from knowledge.library import Library
from knowledge.names import link
from knowledge.passage import Passage
from knowledge.price_snapshots import OtherImportError

BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md", None, "text")
]
TODAY = date(2026, 11, 30)
PRICES = "云厂商,GPU,价格（元/小时）\n甲云,A100,31.5\n乙云,H800,58.8\n丙云,T4,0\n丁云,RTX 9999,12\n"
UNSTATED = "GPU,price\nA100,31.5\nH800,58.8\n"
CARDS = (
    "# Cards\n\n| GPU | Memory (GB) | FP16 TFLOPS | TDP (W) |\n|---|---|---|---|\n"
    "| Zeta X100 | 64 | 280 | 350 |\n| A100 80GB | 80 | 999 | 400 |\n"
)
HAN = re.compile(r"[\u4e00-\u9fff]")
NOTHING = AcceptOptions()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(module, "builtin_passages", lambda: BUILTIN)
    names.forget()
    with open_knowledge(tmp_path / "home", HashEmbedder()) as base:
        yield base
    names.forget()


def take(base: KnowledgeBase, name: str, content: str) -> str:
    (outcome,) = base.ingest([Incoming(f"upload:{name}", name, content.encode())])
    assert isinstance(outcome, Taken)
    return outcome.document.id


def prices(provider: str) -> list[str]:
    return [str(offer.price) for offer in load_catalog().offers if offer.provider == provider]


@pytest.mark.parametrize(("language", "label"), [("zh", "表 1 · 价格 · 4 行"), ("en", "Table 1 · prices · 4 rows")])
def test_recognised_tables_are_listed_in_the_pages_language(
    base: KnowledgeBase, language: Language, label: str
) -> None:
    (entry,) = table_entries(base, take(base, "p.csv", PRICES), language)
    assert entry.label.startswith(label)
    assert table_entries(base, take(base, "n.md", "# Note\n\nNo table here.\n"), language) == []


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_preview_shows_rows_and_which_are_rejected_and_why_and_writes_nothing(
    base: KnowledgeBase, language: Language
) -> None:
    shown = preview(base, take(base, "p.csv", PRICES), 1, NOTHING, language, TODAY)
    assert (shown.in_all, shown.acceptable, shown.rejected_count) == (4, 2, 2)
    assert [row[1:3] for row in shown.rows] == [
        ("甲云", "A100"),
        ("乙云", "H800"),
        ("丙云", "T4"),
        ("丁云", "RTX 9999"),
    ]
    assert any("9999" in line for line in shown.rejected)
    assert not any("--" in text for text in (*shown.notes, *shown.rejected))
    assert not prices("甲云")
    if language == "en":
        assert not any(HAN.search(text) for text in (shown.verdict, *shown.headings, *shown.rejected))


@pytest.mark.parametrize(("language", "words"), [("zh", ("云厂商", "币种")), ("en", ("the provider", "the currency"))])
def test_what_a_table_does_not_state_is_asked_for_and_never_guessed(
    base: KnowledgeBase, language: Language, words: tuple[str, str]
) -> None:
    document = take(base, "u.csv", UNSTATED)
    shown = preview(base, document, 1, NOTHING, language, TODAY)
    assert set(shown.missing) == {"provider", "currency", "per"}
    assert shown.acceptable == 0
    assert all(word in shown.verdict for word in words)
    with pytest.raises(TableIncompleteError) as raised:
        accept(base, document, 1, NOTHING, language, TODAY)
    assert bool(HAN.search(sentence(raised.value, language))) == (language == "zh")
    given = AcceptOptions("己云", "CNY", "instance-hour", "2026-11-01")
    assert preview(base, document, 1, given, language, TODAY).acceptable == 2


@pytest.mark.parametrize(("language", "words"), [("zh", "已收下 2 行"), ("en", "Took 2 price rows")])
def test_accepted_prices_are_in_the_catalogue_at_once_and_can_be_taken_back(
    base: KnowledgeBase, language: Language, words: str
) -> None:
    document = take(base, "p.csv", PRICES)
    done = accept(base, document, 1, NOTHING, language, TODAY)
    assert words in done.text
    assert prices("甲云") == ["31.5"]
    take_back_prices(done.undo_label)
    assert not prices("甲云")


def test_taking_back_is_refused_once_other_prices_were_imported_since(base: KnowledgeBase) -> None:
    first = accept(base, take(base, "p.csv", PRICES), 1, NOTHING, "en", TODAY)
    accept(base, take(base, "q.csv", PRICES.replace("甲云", "庚云")), 1, NOTHING, "en", TODAY)
    with pytest.raises(OtherImportError) as raised:
        take_back_prices(first.undo_label)
    assert "q.csv" in sentence(raised.value, "en")
    assert prices("甲云") == ["31.5"]


def test_the_page_accepts_what_the_command_line_accepts(base: KnowledgeBase, tmp_path: Path) -> None:
    document = take(base, "p.csv", PRICES)
    accept(base, document, 1, NOTHING, "en", TODAY)
    by_page = prices("甲云"), prices("乙云"), prices("丙云")
    library = Library(tmp_path / "home" / "library.sqlite")
    text, taken = accept_table(library, document, 1, NOTHING, TODAY)
    library.close()
    assert taken
    assert "2" in text
    assert (prices("甲云"), prices("乙云"), prices("丙云")) == by_page


def test_deleting_the_document_takes_its_prices_out_of_the_catalogue(base: KnowledgeBase) -> None:
    document = take(base, "p.csv", PRICES)
    accept(base, document, 1, NOTHING, "en", TODAY)
    assert base.remove(document).price_rows == 2
    assert not prices("甲云")


@pytest.mark.parametrize(("language", "words"), [("zh", "1 款"), ("en", "1 card;")])
def test_an_accepted_card_is_known_by_name_at_once_and_forgotten_when_taken_back(
    base: KnowledgeBase, language: Language, words: str
) -> None:
    document = take(base, "c.md", CARDS)
    shown = preview(base, document, 1, NOTHING, language, TODAY)
    assert (shown.kind, shown.acceptable) == ("specs", 1)
    assert any("999" in note for note in shown.notes)
    assert not any(each.kind == "gpu" for each in link("Zeta X100"))
    assert words in accept(base, document, 1, NOTHING, language, TODAY).text
    assert any(each.kind == "gpu" for each in link("Zeta X100"))
    assert cards_of(document) == 1
    assert take_back_cards(document) == 1
    assert not any(each.kind == "gpu" for each in link("Zeta X100"))


def test_deleting_the_document_makes_its_cards_unknown_at_once(base: KnowledgeBase) -> None:
    document = take(base, "c.md", CARDS)
    accept(base, document, 1, NOTHING, "en", TODAY)
    assert base.remove(document).cards == 1
    assert not any(each.kind == "gpu" for each in link("Zeta X100"))


def test_cells_of_a_document_are_text_on_the_page(base: KnowledgeBase) -> None:
    document = take(base, "p.csv", PRICES.replace("甲云", "<script>alert(1)</script>"))
    page = table_html(preview(base, document, 1, NOTHING, "en", TODAY), "en")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("language", ["zh", "en"])
def test_an_error_in_both_languages_is_said_in_one_and_names_the_pages_own_boxes(
    base: KnowledgeBase, language: Language
) -> None:
    document = take(base, "n.md", "# Note\n\nNo table here.\n")
    with pytest.raises(TableNotTypedError) as raised:
        preview(base, document, 1, NOTHING, language, TODAY)
    assert bool(HAN.search(said(raised.value, language))) == (language == "zh")
    assert "--currency" not in on_page("give --currency", language)
