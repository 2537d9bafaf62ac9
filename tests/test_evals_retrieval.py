"""The retrieval eval: what counts as right, the shares, the report, and that the held-out half stays hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from evals import retrieval
from evals.case_files import read_cases
from evals.retrieval import LAST, WhitespaceKeywords, report
from evals.retrieval_scores import (
    Half,
    Kind,
    Outcome,
    RetrievalCase,
    Shares,
    ThresholdShares,
    first_right,
    right,
    shares,
    threshold_shares,
)
from ingest.builtin import builtin_passages
from knowledge.index import Hit, Vectors
from knowledge.passage import Language, Passage


def case(
    labels: Sequence[str] = ("t#1",),
    *,
    half: Half = "tune",
    kind: Kind = "plain",
    language: Language = "en",
    question: str = "?",
) -> RetrievalCase:
    kind = kind if labels else "unanswerable"
    return RetrievalCase(
        id=f"id-{question}", question=question, language=language, kind=kind, labels=tuple(labels), half=half
    )


def passage(topic: str, locator: str = "", text: str = "", section: str = "") -> Passage:
    return Passage(topic, topic, "en", "", section, text, "", locator, None, "text")


def outcome(rank: int | None, best: float | None = 1.0, labels: Sequence[str] = ("t#1",)) -> Outcome:
    return Outcome(case(labels), rank, best)


@pytest.mark.parametrize(
    ("locator", "label"),
    [
        ("costs.md § Power", "costs.md § Power"),
        ("costs.md § Power, rows 3-9", "costs.md § Power"),
        ("costs.md § Power § Prices", "costs.md § Power"),  # a section below it
        ("costs.md § 电费, 表格第 2 行", "costs.md § 电费"),
    ],
)
def test_a_section_label_fits_the_section_and_what_lies_in_it(locator: str, label: str) -> None:
    assert right(passage("x", locator), [label])


@pytest.mark.parametrize(
    ("locator", "label"),
    [
        ("costs.md § Power supplies", "costs.md § Power"),  # another section that begins alike
        ("costs.md § Powers", "costs.md § Power"),
        ("costs.md § 电费单", "costs.md § 电费"),
        ("my costs.md § Power", "costs.md § Power"),
        ("costs.md § Rent", "costs.md § Power"),
        ("t#1 of the house", "t#1"),  # a topic is compared whole, and with the topic only
    ],
)
def test_a_section_label_does_not_fit_a_section_that_only_begins_alike(locator: str, label: str) -> None:
    assert not right(passage("x", locator), [label])


def test_a_topic_label_does_not_fit_a_longer_number() -> None:
    assert right(passage("gpu#1"), ["gpu#1"])
    assert not right(passage("gpu#12"), ["gpu#1"])


def test_the_rank_is_that_of_the_first_right_passage_of_any_label() -> None:
    found = [passage("a"), passage("b"), passage("c")]
    assert first_right(found, ["c", "b"]) == 2
    assert first_right(found, ["d"]) is None
    assert first_right(found, []) is None


def test_shares_count_each_question_once_and_only_up_to_their_depth() -> None:
    ranks = [1, 2, 5, 6, 10, 11, None, 1]
    counted = shares([outcome(rank, labels=("t#1", "t#2", "t#3")) for rank in ranks])
    assert counted.questions == 8
    assert counted.hit_at_1 == 2 / 8
    assert counted.recall == 4 / 8  # the sixth is too late
    assert counted.mrr == pytest.approx((1 + 1 / 2 + 1 / 5 + 1 / 6 + 1 / 10 + 0 + 0 + 1) / 8)  # the eleventh is nothing


def test_unanswerable_questions_do_not_lower_the_shares() -> None:
    assert shares([outcome(1), outcome(None, labels=())]) == Shares(1, 1.0, 1.0, 1.0)


def test_no_questions_give_zero_and_no_division() -> None:
    assert shares([]) == Shares(0, 0.0, 0.0, 0.0)
    assert threshold_shares([], 0.5) == ThresholdShares(0, 0.0, 0, 0.0)


def test_a_score_of_exactly_the_least_is_enough_and_no_hit_is_not() -> None:
    answerable = [outcome(1, best) for best in (0.5, 0.49, None, 0.9)]
    unanswerable = [outcome(None, best, labels=()) for best in (0.5, 0.49, None)]
    assert threshold_shares([*answerable, *unanswerable], 0.5) == ThresholdShares(3, 2 / 3, 4, 2 / 4)


@pytest.mark.parametrize(("kind", "labels"), [("unanswerable", ["t#1"]), ("plain", [])])
def test_a_case_whose_kind_and_labels_disagree_is_refused(kind: str, labels: list[str]) -> None:
    with pytest.raises(ValidationError, match="only 'unanswerable' has none"):
        RetrievalCase.model_validate(
            {"id": "a", "question": "?", "language": "en", "kind": kind, "labels": labels, "half": "tune"}
        )


def test_whitespace_words_find_spaced_words_and_nothing_inside_chinese() -> None:
    passages = [
        passage("cards#1", text="A100 价格 c++ 100%"),
        passage("cards#2", text="阿里云租用A100"),
        passage("en#1", text="The tensor core"),
    ]
    search = WhitespaceKeywords(passages).search
    assert [found.topic for found in search("a100 多少")] == ["cards#1"]
    assert search("租用") == []  # it stands in cards#2, but not between spaces
    assert [found.topic for found in search("Tensor, tensor")] == ["en#1"]
    assert [found.topic for found in search('c++ " OR (')] == ["cards#1"]  # no query language
    assert search("  ") == []


def test_whitespace_search_gives_one_hit_per_topic() -> None:
    twins = [passage("same#1", text="gpu gpu"), passage("same#1", text="gpu"), passage("other#1", text="gpu cpu ram")]
    found = WhitespaceKeywords(twins).search("gpu")
    assert sorted(hit.topic for hit in found) == ["other#1", "same#1"]


def test_the_report_shows_searches_side_by_side_and_halves_apart() -> None:
    held_out = [Outcome(case(half="held-out", language="zh", kind="typo"), None, 0.1)]
    text = report({"one": [outcome(None), outcome(6), *held_out], "two": [outcome(1), outcome(2), *held_out]})
    assert "| search | tune: Recall@5 | tune: MRR | tune: hit@1 | held-out: Recall@5 |" in text
    assert "| one | 0.0 % | 0.083 | 0.0 % | 0.0 % | 0.000 | 0.0 % |" in text
    assert "| two | 100.0 % | 0.750 | 50.0 % | 0.0 % | 0.000 | 0.0 % |" in text
    assert "| tune | plain | 2 | 50.0 % | 100.0 % |" in text
    assert "| held-out | zh | 1 | 0.0 % | 0.0 % |" in text
    assert "| held-out | typo | 1 | 0.0 % | 0.0 % |" in text


def test_the_report_of_one_half_has_no_column_of_the_other() -> None:
    assert "held-out" not in report({"one": [outcome(1)]})


class OneAnswer:
    """An index that finds t#1 for every question; what it was asked is kept."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, bool]] = []

    def __enter__(self) -> OneAnswer:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def passages(self) -> Iterator[Passage]:
        yield passage("t#1", text="gpu")

    def search(self, query: str, *, language: str, limit: int, rank: str, expand: bool) -> list[Hit]:
        self.asked.append((query, rank, expand))
        return [Hit(passage("t#1"), 0.9, 0.9, 0.9)]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OneAnswer:
    cases = [
        case(question="tune right"),
        case(["t#2"], question="tune wrong"),
        case([], question="tune nothing"),
        case(["t#2"], question="held wrong", half="held-out"),
    ]
    file = tmp_path / "retrieval.jsonl"
    file.write_text("\n".join(each.model_dump_json() for each in cases), encoding="utf-8")
    found = OneAnswer()
    monkeypatch.setattr(retrieval, "CASES", file)
    monkeypatch.setattr(retrieval, "build", lambda *_: found)
    return found


def test_by_default_the_held_out_half_is_not_even_asked(index: OneAnswer, tmp_path: Path) -> None:
    said: list[str] = []
    text = retrieval.run(SimpleNamespace(fingerprint="f"), tmp_path, 0, said.append)  # type: ignore[arg-type]
    assert "held-out" not in text
    assert {query for query, _, _ in index.asked} == {"tune right", "tune wrong", "tune nothing"}
    assert {(rank, expand) for _, rank, expand in index.asked} == {
        ("dense", False), ("keyword", False), ("fused", False), ("fused", True),
    }  # fmt: skip
    assert len(said) == 2
    assert "tune wrong" in said[0]
    assert "wanted nothing" in said[1]


def test_both_halves_are_scored_together_but_held_out_misses_stay_hidden(index: OneAnswer, tmp_path: Path) -> None:
    said: list[str] = []
    text = retrieval.run(SimpleNamespace(fingerprint="f"), tmp_path, 0, said.append, "all")  # type: ignore[arg-type]
    assert f"| {LAST} | 50.0 % | 0.500 | 50.0 % | 0.0 % | 0.000 | 0.0 % |" in text
    assert "| whitespace keyword | 0.0 % |" in text
    assert not any("held wrong" in line for line in said)


def test_a_question_is_embedded_once_however_many_searches_ask_for_it() -> None:
    embedded: list[str] = []

    class Counting:
        fingerprint = "f"

        def embed_queries(self, texts: list[str]) -> Vectors:
            embedded.extend(texts)
            return np.array([[len(text), 0] for text in texts], dtype=np.float32)

        def embed_passages(self, texts: list[str]) -> Vectors:
            return self.embed_queries(texts)

    remembering = retrieval._Remembering(Counting())
    first = remembering.embed_queries(["a", "bb"])
    again = remembering.embed_queries(["bb", "ccc", "a"])
    assert embedded == ["a", "bb", "ccc"]
    assert first.tolist() == [[1, 0], [2, 0]]
    assert again.tolist() == [[2, 0], [3, 0], [1, 0]]


def test_the_cases_name_passages_that_exist_and_their_halves_are_alike() -> None:
    cases = read_cases(retrieval.CASES, RetrievalCase)
    passages = [
        *builtin_passages(),
        *(each for _, some in retrieval.distractors(retrieval.DISTRACTORS) for each in some),
    ]
    labels = {label for case in cases for label in case.labels}
    assert [label for label in sorted(labels) if not any(right(each, [label]) for each in passages)] == []
    assert len({case.id for case in cases}) == len({case.question for case in cases}) == len(cases)
    for of in (lambda each: each.kind, lambda each: each.language):
        halves = [{of(each) for each in cases if each.half == half} for half in ("tune", "held-out")]
        assert halves[0] == halves[1]
