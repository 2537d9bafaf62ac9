"""What is remembered between questions is what would be read anew, is bounded, and is forgotten when the names change."""

from __future__ import annotations

import pytest

from assistant.prose_names import named
from assistant.reading import read
from assistant.remembered import LONGEST, linked, remembered
from knowledge import names
from knowledge.own_cards import OwnCard, remove_cards_of, store


def test_a_text_is_read_once_and_another_text_is_another() -> None:
    asked: list[str] = []

    @remembered(8)
    def length(text: str) -> int:
        asked.append(text)
        return len(text)

    assert [length("T4"), length("A100"), length("T4")] == [2, 4, 2]
    assert asked == ["T4", "A100"]


def test_no_more_texts_are_kept_than_said_and_the_one_longest_unused_goes() -> None:
    asked: list[str] = []

    @remembered(2)
    def echo(text: str) -> str:
        asked.append(text)
        return text

    for text in ("a", "b", "a", "c", "a", "b"):
        echo(text)
    assert asked == ["a", "b", "c", "b"]


def test_a_very_long_text_is_not_kept() -> None:
    asked: list[str] = []

    @remembered(2)
    def echo(text: str) -> str:
        asked.append(text)
        return text

    for _ in range(2):
        echo("x" * (LONGEST + 1))
    assert len(asked) == 2


@pytest.mark.parametrize(
    "text", ["MTT S4000 和 A100 哪个快", "Is the MTT S4000 faster than an A100?"], ids=["zh", "en"]
)
def test_a_card_of_the_readers_own_is_seen_and_forgotten_in_a_text_read_before(text: str) -> None:
    names.forget()
    try:
        assert named(text) == {"gpu:A100", "unknown:MTT S4000"}
        assert read(text).slots.gpus == ("A100",)
        store([OwnCard("d1", "MTT S4000", "MTT S4000", memory="48", memory_unit="GB")])
        names.forget()
        assert named(text) == {"gpu:A100", "gpu:MTT S4000"}
        assert {item.key for item in linked(text)} == {"MTT S4000", "A100"}
        assert set(read(text).slots.gpus) == {"MTT S4000", "A100"}
        remove_cards_of("d1")
        names.forget()
        assert read(text).slots.gpus == ("A100",)
    finally:
        names.forget()
