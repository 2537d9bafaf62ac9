"""Every sentence of prose_attacks.py: what is right may be shown, what is wrong may not."""

from __future__ import annotations

import pytest
from prose_attacks import (
    EVIDENCE,
    HELD_OUT_RIGHT,
    HELD_OUT_WRONG,
    KNOWN_TO_BE_DROPPED,
    KNOWN_TO_PASS,
    RIGHT,
    WRONG,
)

from assistant.prose_names import IDENTIFIERS, named
from assistant.verify import Verdict, check_prose
from knowledge.keywords import tokenize


def verdict(evidence: str, sentence: str) -> Verdict:
    calls, citations = EVIDENCE[evidence]
    return check_prose(sentence, calls, citations, names=IDENTIFIERS, names_in=named, tokenize=tokenize)


def pairs(*tables: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(evidence, text) for table in tables for evidence, texts in table.items() for text in texts]


@pytest.mark.parametrize(("evidence", "sentence"), pairs(RIGHT, HELD_OUT_RIGHT))
def test_a_right_sentence_may_be_shown(evidence: str, sentence: str) -> None:
    found = verdict(evidence, sentence)
    assert found.ok is (sentence not in KNOWN_TO_BE_DROPPED), found


@pytest.mark.parametrize(("evidence", "sentence"), pairs(WRONG, HELD_OUT_WRONG))
def test_a_wrong_sentence_is_not_shown(evidence: str, sentence: str) -> None:
    assert verdict(evidence, sentence).ok is (sentence in KNOWN_TO_PASS)


def test_the_table_is_large_in_both_languages_and_what_passes_wrongly_is_little() -> None:
    sentences = [text for _, text in pairs(RIGHT, WRONG, HELD_OUT_RIGHT, HELD_OUT_WRONG)]
    assert len(sentences) >= 120
    assert sum(text.isascii() for text in sentences) >= 40
    assert len(KNOWN_TO_BE_DROPPED) <= len(pairs(RIGHT, HELD_OUT_RIGHT)) * 0.05
    assert len(KNOWN_TO_PASS) <= len(pairs(WRONG, HELD_OUT_WRONG)) * 0.05
