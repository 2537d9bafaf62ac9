"""The reader's own cards: stored whole or not at all, named in questions, answered with their source, gone with the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_answer import run

from assistant.spec_listing import find_specs, specs_text
from knowledge import names, own_cards
from knowledge.catalog import load_catalog
from knowledge.names import all_names, link, normalise
from knowledge.own_cards import OwnCard, OwnCardsBrokenError, TooManyCardsError, remove_cards_of, store
from knowledge.weights import home

MTT = OwnCard(
    document_id="d1", name="MTT S4000", family="MTT S4000", memory="48", memory_unit="GB", bandwidth_gb_per_s="768",
    fp16_tflops="100", tdp_w="450", source="白皮书.pdf · 表 2 (table 2)",
)  # fmt: skip
C500 = replace(
    MTT, document_id="d2", name="沐曦 C500 64GB", family="沐曦 C500", memory="64", source="b.docx · 表 1 (table 1)"
)


@pytest.fixture(autouse=True)
def names_of_this_test() -> Iterator[None]:
    names.forget()
    yield
    names.forget()


def known(*cards: OwnCard) -> None:
    """Stored, and read by the names as a new process would."""
    store(cards)
    names.forget()


def linked(question: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(item.kind, item.key, item.forms) for item in link(normalise(question))]


def test_an_own_card_is_a_row_of_the_catalogue_with_nothing_that_was_not_stated() -> None:
    shipped = load_catalog().gpus
    store([MTT])
    gpu = load_catalog().gpu("MTT S4000")
    assert gpu is not None
    assert (gpu.memory and gpu.memory.low, gpu.memory_unit, gpu.tdp_w and gpu.tdp_w.low) == (48, "GB", 450)
    assert (gpu.bf16_tflops, gpu.release_year, gpu.launch_price_usd, gpu.export_status) == (None, None, None, "unknown")
    assert load_catalog().gpus[:-1] == shipped
    assert len({row.row for row in load_catalog().gpus}) == len(shipped) + 1  # a citation is told by its row


def test_a_card_stored_before_the_first_question_is_linked_and_answered_with_its_source() -> None:
    assert linked("MTT S4000 显存多大") == [("unknown", "MTT S4000", ())]
    known(MTT)
    assert linked("MTT S4000 显存多大") == [("gpu", "MTT S4000", ("MTT S4000",))]
    _, answer = run("MTT S4000 显存多大", "memory")
    assert (answer.status, answer.verified) == ("answered", True), answer.text
    assert "48 GB" in answer.text
    assert [citation.source for citation in answer.citations] == ["白皮书.pdf · 表 2 (table 2)"]
    assert "未经我们核对" in answer.text
    _, answer = run("What is the TDP of the MTT S4000?", "document")
    assert "450 W" in answer.text
    assert "not checked by us" in answer.text


def test_the_specs_command_finds_it_and_names_the_document() -> None:
    known(MTT)
    text = specs_text(find_specs(["mtt-s4000"]))
    assert "48 GB" in text
    assert "来源 / source: 白皮书.pdf · 表 2 (table 2)" in text
    assert find_specs(["MTT S5000"])[0].matches == ()


@pytest.mark.parametrize("written", ["沐曦 C500", "沐曦C500", "c500", "C500 64GB 的带宽", "沐曦 C500 64GB"])
def test_a_card_is_called_with_and_without_maker_and_size(written: str) -> None:
    known(C500)
    assert linked(written)[0] == ("gpu", "沐曦 C500", ("沐曦 C500 64GB",))


def test_sizes_tell_own_forms_apart() -> None:
    known(C500, replace(C500, name="沐曦 C500 32GB", memory="32"))
    assert linked("C500 32G 功耗")[0][2] == ("沐曦 C500 32GB",)
    assert set(linked("C500 功耗")[0][2]) == {"沐曦 C500 64GB", "沐曦 C500 32GB"}


def test_a_spelling_that_ships_is_never_taken_over() -> None:
    known(replace(MTT, name="Tesla T4", family="T4"), replace(MTT, name="NVIDIA A100", family="NVIDIA A100"))
    assert [key for _, key, _ in linked("T4 和 A100 的显存")] == ["T4", "A100"]
    assert [name for name in all_names() if "NVIDIA A100" in name.key] == []


def test_a_bare_number_does_not_become_a_name() -> None:
    known(replace(MTT, name="GeForce 4070", family="GeForce 4070"))
    assert all(name.key != "GeForce 4070" or "4070" not in name.aliases for name in all_names())
    assert linked("预算 4070 元") == []


def test_a_document_takes_its_cards_with_it_and_no_others() -> None:
    assert remove_cards_of("d1") == 0
    store([MTT, C500])
    assert (remove_cards_of("d1"), remove_cards_of("d1")) == (1, 0)
    assert [card.name for card in own_cards.own_cards()] == ["沐曦 C500 64GB"]
    assert load_catalog().gpu("MTT S4000") is None


def test_names_that_outlive_a_removed_card_answer_that_nothing_is_known() -> None:
    known(MTT)
    assert linked("MTT S4000 显存")
    remove_cards_of("d1")
    _, answer = run("MTT S4000 显存多大", "memory")
    assert "48 GB" not in answer.text


def test_the_same_name_is_replaced() -> None:
    store([MTT, C500])
    assert store([replace(MTT, name="mtt-s4000", memory="96")]) == 2
    assert [(card.name, card.memory) for card in own_cards.own_cards()] == [
        ("沐曦 C500 64GB", "64"),
        ("mtt-s4000", "96"),
    ]


def test_cells_with_commas_quotes_and_line_breaks_come_back_as_they_were() -> None:
    odd = replace(MTT, source='a, "b"\nc.pdf', vendor="=1+1")
    store([odd])
    assert own_cards.own_cards() == (odd,)


def test_a_write_that_fails_leaves_the_cards_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    store([MTT])

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        store([C500])
    assert own_cards.own_cards() == (MTT,)
    assert [path.name for path in home().iterdir() if path.name.endswith(".part")] == []


def test_too_many_cards_are_refused_before_anything_is_written() -> None:
    store([MTT])
    with pytest.raises(TooManyCardsError, match="at most 1000"):
        store(replace(MTT, name=f"X{number}") for number in range(1000))
    assert own_cards.own_cards() == (MTT,)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\xff\xfe\x00", b"document_id,name\nd1\n", None])
def test_a_damaged_file_is_named_with_the_way_out_and_not_taken_for_empty(content: bytes | None) -> None:
    store([replace(MTT, memory="48-24")] if content is None else [MTT])
    if content is not None:
        (home() / own_cards.FILE).write_bytes(content)
    with pytest.raises(OwnCardsBrokenError, match=r"own_cards\.csv.*restore a backup"):
        load_catalog().gpus  # noqa: B018
