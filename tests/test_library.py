"""The list of documents: listed, replaced, struck off in one step each, and what a damaged file says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from knowledge.library import Document, Library, LibraryBrokenError, UnknownDocumentError

PRICES = Document(
    id="d1", origin="/data/a/价格.csv", name="价格.csv", version="d1.1", sha256="11", readers="1", size_bytes=7,
    title="价格", passages=3, table_rows=2, added_at="2026-11-30T10:00:00+00:00",
)  # fmt: skip
NAMESAKE = replace(PRICES, id="d2", origin="/data/b/价格.csv", version="d2.1", sha256="22")


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "library.sqlite")
    yield library
    library.close()


def test_a_document_is_found_by_id_origin_name_and_content(library: Library) -> None:
    library.put(PRICES, "内容".encode())
    assert [library.document(each) for each in ("d1", "/data/a/价格.csv", "价格.csv")] == [PRICES] * 3
    assert (library.of_origin(PRICES.origin), library.of_sha256("11")) == (PRICES, PRICES)
    assert (library.of_origin("elsewhere"), library.of_sha256("33")) == (None, None)
    assert library.content("d1").decode() == "内容"
    assert library.versions() == {"d1.1"}


def test_a_new_version_takes_the_place_of_the_old_one(library: Library) -> None:
    library.put(PRICES, b"old")
    library.put(replace(PRICES, version="d1.2", passages=9), b"new")
    assert [(each.version, each.passages) for each in library.documents()] == [("d1.2", 9)]
    assert library.content("d1") == b"new"


def test_two_files_of_one_name_are_two_documents_and_the_name_alone_is_not_enough(library: Library) -> None:
    library.put(PRICES, b"a")
    library.put(NAMESAKE, b"b")
    with pytest.raises(UnknownDocumentError, match=r"use the id: d1 \(/data/a/价格.csv\), d2"):
        library.document("价格.csv")
    library.remove("d1")
    assert library.document("价格.csv") == NAMESAKE


@pytest.mark.parametrize("wanted", ["d9", "", "价格"])
def test_an_unknown_document_is_named_with_those_there_are(library: Library, wanted: str) -> None:
    library.put(PRICES, b"a")
    with pytest.raises(UnknownDocumentError, match=f"No document '{wanted}'; 1 are there: d1 价格.csv"):
        library.document(wanted)


def test_removing_what_is_not_there_is_an_error_and_removes_nothing(library: Library) -> None:
    library.put(PRICES, b"a")
    with pytest.raises(UnknownDocumentError, match="d9"):
        library.remove("d9")
    with pytest.raises(UnknownDocumentError, match="d9"):
        library.content("d9")
    assert library.documents() == [PRICES]


def test_the_list_survives_closing_and_removed_content_leaves_no_bytes(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite"
    first = Library(file)
    first.put(replace(PRICES, title="SECRET-TITLE"), b"x")
    first.put(NAMESAKE, b"y")
    assert b"SECRET-TITLE" in file.read_bytes()
    first.remove("d1")
    first.close()
    second = Library(file)
    assert second.documents() == [NAMESAKE]
    second.close()
    assert b"SECRET-TITLE" not in file.read_bytes()


def test_a_damaged_list_is_an_error_and_not_an_empty_list(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite"
    file.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(LibraryBrokenError, match=r"library\.sqlite.*Restore a backup"):
        Library(file)
