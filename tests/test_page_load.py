"""The load benchmark: its questions are each reader's own, and another reader's answer is noticed."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from evals.load_questions import Asked, Reader, fault_of
from evals.page_load import family_of, processor_ms, resident_mb


def test_no_two_questions_of_all_readers_are_the_same_nor_have_the_same_result() -> None:
    asked = [
        reader.question()
        for reader in (Reader(number, "zh" if number % 2 else "en", f"r{number}") for number in range(32))
        for _ in range(24)
    ]
    fresh = [each for each in asked if not each.text.startswith(("那跑", "And for"))]
    assert len({each.text for each in fresh}) == len(fresh)
    totals = [each.total for each in asked if each.total is not None]
    assert len(totals) > len(asked) / 2
    assert len(set(totals)) > 0.99 * len(totals)


def test_no_number_of_a_question_is_the_name_of_a_card() -> None:
    askers = [(number, 1) for number in range(1300)] + [(number, 60) for number in range(32)]
    said = set()
    for number, questions in askers:
        reader = Reader(number, "zh" if number % 2 else "en", f"r{number}")
        for _ in range(questions):
            text = reader.question().text.replace("24 GB 的 4090", "").replace("RTX 4090", "").replace(",", "")
            said |= set(re.findall(r"(?<![\w.])\d{4}(?![\d.])", text))
    assert len(said) > 1000
    assert not said & {f"{series}0{model}0" for series in range(1, 7) for model in (5, 6, 7, 8, 9)}


def test_a_follow_up_stands_in_the_conversation_of_the_rent_before_it() -> None:
    reader, threads = Reader(3, "en", "r3"), list[tuple[str, str]]()
    for _ in range(40):
        threads.append((reader.question().text, reader.thread))
    follow_ups = [at for at, (text, _) in enumerate(threads) if text.startswith("And for")]
    assert follow_ups
    assert all(threads[at][1] == threads[at - 1][1] for at in follow_ups)
    assert len({thread for _, thread in threads}) > 5


@pytest.mark.parametrize(
    ("echoed", "said", "fault"),
    [
        ("4 张 A100", "合计 **8,248.32 元**", ""),
        ("4  张 A100 ", "about 8,248 yuan", ""),
        ("5 张 A100", "合计 8,248.32 元", "cross-talk"),
        ("4 张 A100", "合计 8,348.32 元", "cross-talk"),
        ("4 张 A100", "没有", "cross-talk"),
    ],
    ids=["own answer", "rounded", "another's question", "another's figure", "no figure"],
)
def test_an_answer_with_anothers_question_or_figure_is_noticed(echoed: str, said: str, fault: str) -> None:
    assert fault_of(Asked("4 张 A100", Decimal("8248.32")), echoed, said) == fault


def test_memory_and_time_of_a_process_are_read() -> None:
    import os

    assert os.getpid() in family_of(os.getpid())
    assert resident_mb(os.getpid()) > 10
    assert processor_ms(os.getpid())[0] > 0
