"""Results kept by key: bounded, the least lately used first to go; vectors of questions and results of price queries."""

from __future__ import annotations

import threading
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from knowledge import offers
from knowledge.index import Vectors
from knowledge.kept import Kept
from knowledge.offers import OfferFilter, OfferOrder, OfferTable, load_offers
from knowledge.query_memory import LONGEST, QueryMemory
from knowledge.table_rows import TABLES


def test_the_least_lately_used_result_goes_first() -> None:
    kept: Kept[str, int] = Kept(2)
    kept.keep("a", 1)
    kept.keep("b", 2)
    assert kept.get("a") == 1
    kept.keep("c", 3)
    assert [kept.get(key) for key in "abc"] == [1, None, 3]
    assert len(kept) == 2


class Counting:
    """An embedder whose vectors depend on the text alone, and which says what it was asked."""

    fingerprint = "counting"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed_queries(self, texts: list[str]) -> Vectors:
        self.asked.append(list(texts))
        return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32).reshape(-1, 2)

    def embed_passages(self, texts: list[str]) -> Vectors:
        return -self.embed_queries(texts)


def test_a_question_is_embedded_once_and_every_row_is_its_own() -> None:
    model = Counting()
    memory = QueryMemory(model)
    np.testing.assert_array_equal(memory.embed_queries(["ab", "c", "ab"]), [[2, 97], [1, 99], [2, 97]])
    np.testing.assert_array_equal(memory.embed_queries(["def", "c"]), [[3, 100], [1, 99]])
    assert model.asked == [["ab", "c"], ["def"]]
    assert memory.embed_queries([]).shape == (0, 2)
    assert memory.fingerprint == "counting"


def test_what_a_caller_does_to_its_vectors_changes_none_that_are_kept() -> None:
    memory = QueryMemory(Counting())
    memory.embed_queries(["ab"])[:] = 0
    np.testing.assert_array_equal(memory.embed_queries(["ab"]), [[2, 97]])


def test_passages_are_not_taken_for_questions() -> None:
    memory = QueryMemory(Counting())
    memory.embed_queries(["ab"])
    np.testing.assert_array_equal(memory.embed_passages(["ab"]), [[-2, -97]])
    np.testing.assert_array_equal(memory.embed_queries(["ab"]), [[2, 97]])


def test_the_memory_of_questions_is_bounded_in_number_and_in_length() -> None:
    model = Counting()
    memory = QueryMemory(model, most_texts=2)
    for text in ("a", "b", "c", "a", "x" * (LONGEST + 1), "x" * (LONGEST + 1)):
        memory.embed_queries([text])
    assert [texts[0][0] for texts in model.asked] == ["a", "b", "c", "a", "x", "x"]


def test_readers_at_the_same_time_each_get_their_own_vectors() -> None:
    memory = QueryMemory(Counting(), most_texts=4)
    wrong: list[str] = []

    def ask(letter: str) -> None:
        for length in range(1, 200):
            (row,) = memory.embed_queries([letter * length])
            if tuple(row) != (length, ord(letter)):
                wrong.append(letter * length)

    threads = [threading.Thread(target=ask, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.fixture
def table() -> OfferTable:
    return load_offers(TABLES / "offers.csv")


def test_another_condition_order_or_part_of_the_rows_is_another_query(table: OfferTable) -> None:
    wanted = OfferFilter(gpus=("A100",))
    found = table.query(wanted)
    assert table.query(OfferFilter(gpus=("A100",))) == found
    assert {offer.gpu for offer in table.query(OfferFilter(gpus=("T4",))).offers} == {"T4"}
    assert table.query(wanted, 2).offers == found.offers[:2]
    assert table.query(wanted, 2, offset=1).offers == found.offers[1:3]
    by_name = table.query(wanted, order=OfferOrder("provider")).offers
    assert [offer.provider for offer in by_name] == sorted(offer.provider for offer in found.offers)
    assert table.query(OfferFilter(gpus=("A100",), max_price_per_gpu_hour=Decimal("0.0001"))).matched == 0
    assert table.query(OfferFilter(gpus=("A100",), min_as_of=date(2999, 1, 1))).matched == 0
    assert table.query(wanted) == found


def test_a_result_of_many_rows_is_not_kept(table: OfferTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offers, "MOST_KEPT_OFFERS", 1)
    first = table.query(OfferFilter(gpus=("A100",)))
    assert len(first.offers) > 1
    assert table.query(OfferFilter(gpus=("A100",))) is not first


def test_rows_imported_since_are_found_and_gone_with_their_snapshot(tmp_path: Path) -> None:
    from knowledge import offer_store

    with (TABLES / "offers.csv").open(encoding="utf-8") as file:
        heading, first = next(file), next(file)
    few = tmp_path / "offers.csv"
    few.write_text(heading + first, encoding="utf-8")
    at: list[Path | None] = [None]
    table = load_offers(few, lambda: at[0])
    assert table.gpus() == ("A100",)
    assert table.query(OfferFilter(gpus=("T4",))).matched == 0
    snapshot = tmp_path / "more.parquet"
    offer_store.build(TABLES / "offers.csv", None).execute(
        f"COPY (SELECT * REPLACE ('own.csv' AS origin) FROM offers WHERE gpu = 'T4') TO '{snapshot}' (FORMAT parquet)"
    )
    at[0] = snapshot
    assert "T4" in table.gpus()
    assert table.query(OfferFilter(gpus=("T4",))).matched > 0
    at[0] = None
    assert table.gpus() == ("A100",)
    assert table.query(OfferFilter(gpus=("T4",))).matched == 0
