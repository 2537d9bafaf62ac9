"""The example questions, the masking and the classifier; a stand-in embedder, but for one live test."""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant import intent
from assistant.intent import (
    INTENTS,
    Floats,
    IntentClassifier,
    IntentDataError,
    Line,
    Parameters,
    Span,
    load_lines,
    mask,
    open_classifier,
    train,
)

HELD_OUT = Path(__file__).parents[1] / "evals" / "cases" / "intents.jsonl"
LEAST_ACCURACY = 0.96  # live: what was measured, 99 % (evals/RESULTS.md), less three points


class BagOfWords:
    """An embedder without a model: words hashed into 32 numbers, normalised. Counts what it is asked."""

    def __init__(self, fingerprint: str = "bag-1"):
        self.fingerprint = fingerprint
        self.embedded = 0

    def embed_queries(self, texts: list[str]) -> Floats:
        self.embedded += len(texts)
        vectors = np.zeros((len(texts), 32), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.encode()) % 32] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float32)


class Blind(BagOfWords):
    """An embedder to which all texts are alike."""

    def embed_queries(self, texts: list[str]) -> Floats:
        return super().embed_queries(["same"] * len(texts))


def find_cards(text: str) -> tuple[str, list[Span]]:
    """A linker that knows two cards and one hour."""
    kinds = {"a100": "gpu", "t4": "gpu", "per hour": "duration"}
    lowered = text.lower()
    return text, [(lowered.index(n), lowered.index(n) + len(n), kind) for n, kind in kinds.items() if n in lowered]


TOY = [
    Line(f"{opening} {card} {rest}", label, "en")
    for card in ("A100", "T4")
    for opening, rest, label in [
        ("price of", "please", "price"), ("how much is", "per hour", "price"), ("what is the rate of", "now", "price"),
        ("does it fit", "memory", "memory"), ("vram of", "card", "memory"), ("memory size of", "then", "memory"),
    ]
] + [Line(text, "smalltalk", "en") for text in ("hello", "thanks a lot", "good morning", "bye")]  # fmt: skip


def write(path: Path, lines: list[Line]) -> Path:
    path.write_text("".join(json.dumps(vars(line), ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


def letters(text: str) -> str:
    """What is left of a question when case, spaces and punctuation are ignored."""
    return "".join(ch for ch in text.lower() if ch.isalnum())


@pytest.mark.parametrize("path", [intent.LINES, HELD_OUT])
def test_every_intent_has_examples_in_both_languages(path: Path) -> None:
    languages = defaultdict(set)
    for line in load_lines(path):
        languages[line.intent].add(line.lang)
    assert set(languages) == set(INTENTS)
    assert all({"zh", "en"} <= found for found in languages.values()), languages


def test_no_intent_is_starved_of_examples() -> None:
    counts = Counter(line.intent for line in load_lines())
    assert min(counts.values()) >= 60, counts


def test_language_of_a_line_is_what_its_letters_say() -> None:
    for line in [*load_lines(), *load_lines(HELD_OUT)]:
        chinese = any("\u3400" <= ch <= "\u9fff" for ch in line.text)
        assert line.lang in (("zh", "mixed") if chinese else ("en",)), line


def test_no_question_is_taught_twice_or_under_two_intents() -> None:
    seen = Counter(letters(line.text) for line in load_lines())
    assert [text for text, times in seen.items() if times > 1] == []


def test_held_out_questions_are_never_taught() -> None:
    taught = {letters(line.text) for line in load_lines()}
    held = [letters(line.text) for line in load_lines(HELD_OUT)]
    assert taught.isdisjoint(held)
    assert len(held) == len(set(held))
    assert len(held) >= 200


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ('{"text": "hi", "intent": "greeting", "lang": "en"}', "'greeting'"),
        ('{"text": "hi", "intent": "smalltalk"}', "line 1"),
        ("hi", "'hi'"),
    ],
)
def test_a_bad_line_is_named_and_not_skipped(tmp_path: Path, raw: str, complaint: str) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(raw + "\n", encoding="utf-8")
    with pytest.raises(IntentDataError, match=complaint):
        load_lines(path)


@pytest.mark.parametrize(
    ("text", "spans", "masked"),
    [
        ("租4张A100跑3天", [(1, 3, "count"), (3, 7, "gpu"), (8, 10, "duration")], "租 <count> <gpu> 跑 <duration>"),
        ("T4 Price", [(0, 2, "gpu")], "<gpu> price"),
        ("Price", [], "price"),
        ("T4每小时", [(0, 2, "gpu"), (2, 5, "duration")], "<gpu> <hour>"),
        ("T4 per hour", [(3, 11, "duration")], "t4 <hour>"),
        ("T4 10小时", [(3, 7, "duration")], "t4 <duration>"),
        ("H999 在某某云", [(0, 4, "unknown"), (6, 9, "unknown")], "<gpu> 在 <provider>"),
        ("rtx 4090 价", [(4, 8, "gpu"), (0, 8, "gpu"), (4, 8, "count")], "<gpu> 价"),
    ],
)
def test_names_and_numbers_are_masked_by_kind(text: str, spans: list[Span], masked: str) -> None:
    assert mask(text, spans) == masked


@given(st.text(alphabet="a价 4", min_size=1, max_size=14), st.sets(st.integers(0, 14), max_size=6))
def test_masking_keeps_every_character_outside_the_spans_and_none_inside(text: str, cuts: set[int]) -> None:
    ends = sorted(cut for cut in cuts if cut <= len(text))
    spans = list(zip(ends[::2], ends[1::2], strict=False))
    inside = {index for start, end in spans for index in range(start, end)}
    masked = mask(text, [(start, end, "gpu") for start, end in spans])
    assert masked.count("<gpu>") == len(spans)
    outside = "".join(ch for index, ch in enumerate(text) if index not in inside)
    assert "".join(masked.replace("<gpu>", "").split()) == "".join(outside.split())


def test_a_card_never_seen_in_training_is_read_like_a_known_one() -> None:
    found = IntentClassifier(train(TOY, find_cards, BagOfWords()), BagOfWords(), threshold=0.0)
    known, other = found.classify(["vram of A100", "vram of H999"], [[(8, 12, "gpu")], [(8, 12, "unknown")]])
    assert known.best == other.best == "memory"


def test_probabilities_add_up_and_the_margin_is_between_the_first_two() -> None:
    parameters = train(TOY, find_cards, BagOfWords())
    [scores] = IntentClassifier(parameters, BagOfWords()).classify(["price of T4"], [[(9, 11, "gpu")]])
    first, second, _ = sorted(scores.probabilities.values(), reverse=True)
    assert sum(scores.probabilities.values()) == pytest.approx(1, abs=1e-5)
    assert scores.margin == pytest.approx(first - second, abs=1e-6)
    assert scores.likeliest == "price"


def test_it_abstains_below_the_threshold_but_still_names_the_likeliest() -> None:
    parameters = train(TOY, find_cards, BagOfWords())
    question, spans = ["how much is A100 per hour"], [find_cards("how much is A100 per hour")[1]]
    [sure] = IntentClassifier(parameters, BagOfWords(), threshold=0.0).classify(question, spans)
    [unsure] = IntentClassifier(parameters, BagOfWords(), threshold=1.01).classify(question, spans)
    assert (sure.best, unsure.best) == ("price", None)
    assert sure.likeliest == unsure.likeliest == "price"


def test_a_question_is_scored_the_same_alone_and_among_others() -> None:
    found = IntentClassifier(train(TOY, find_cards, BagOfWords()), BagOfWords())
    texts = ["price of T4", "", "thanks a lot"]
    spans = [find_cards(text)[1] for text in texts]
    together = found.classify(texts, spans)
    for text, linked, scores in zip(texts, spans, together, strict=True):
        [alone] = found.classify([text], [linked])
        assert alone.probabilities == pytest.approx(scores.probabilities, abs=1e-5)
    assert found.classify([], []) == []


def test_what_was_linked_tells_two_intents_apart_where_the_embedding_says_nothing() -> None:
    words = "rstuvwxy"
    lines = [Line(f"{word} A100", "price", "en") for word in words] + [Line(w, "smalltalk", "en") for w in words]
    lines += [Line("out of scope", "off_topic", "en")]
    blind = Blind()
    found = IntentClassifier(train(lines, find_cards, blind), blind)
    bare, linked = found.classify(["z q", "z q"], [[], [(2, 3, "gpu")]])
    assert (bare.likeliest, linked.likeliest) == ("smalltalk", "price")


def test_the_second_start_reads_what_the_first_one_learnt(tmp_path: Path) -> None:
    lines, kept = write(tmp_path / "lines.jsonl", TOY), tmp_path / "cache" / "deep"
    first = open_classifier(kept, find_cards, BagOfWords(), lines=lines)
    again = BagOfWords()
    second = open_classifier(kept, find_cards, again, lines=lines)
    assert again.embedded == 0
    assert [path.suffix for path in kept.iterdir()] == [".npz"]
    text, spans = find_cards("memory size of T4")
    assert first.classify([text], [spans]) == second.classify([text], [spans])


def test_other_lines_another_embedder_or_another_linker_are_learnt_anew(tmp_path: Path) -> None:
    lines, names, kept = write(tmp_path / "lines.jsonl", TOY), tmp_path / "names.csv", tmp_path / "cache"
    names.write_text("A100", encoding="utf-8")
    open_classifier(kept, find_cards, BagOfWords(), linked_by=[names], lines=lines)
    open_classifier(kept, find_cards, BagOfWords("bag-2"), linked_by=[names], lines=lines)
    names.write_text("A100,T4", encoding="utf-8")
    open_classifier(kept, find_cards, BagOfWords(), linked_by=[names], lines=lines)
    write(lines, [*TOY, Line("good night", "smalltalk", "en")])
    open_classifier(kept, find_cards, BagOfWords(), linked_by=[names], lines=lines)
    assert len(list(kept.iterdir())) == 4


def test_training_is_repeatable() -> None:
    one, two = train(TOY, find_cards, BagOfWords()), train(TOY, find_cards, BagOfWords())
    assert isinstance(one, Parameters)
    assert np.array_equal(one.weights, two.weights)
    assert np.array_equal(one.bias, two.bias)


def test_too_few_intents_to_tell_apart_are_refused() -> None:
    with pytest.raises(IntentDataError, match="memory, price"):
        train(TOY[:6], find_cards, BagOfWords())


@pytest.mark.live
def test_held_out_questions_are_told_apart_by_the_real_model() -> None:
    from assistant.advisor import _linked_by, spans_of
    from knowledge.embedding import load_embedder
    from knowledge.weights import home

    # the same cache as the product's, so that a machine trains once
    classifier = open_classifier(home() / "classifier", spans_of, load_embedder(), linked_by=_linked_by())
    lines = load_lines(HELD_OUT)
    linked = [spans_of(line.text) for line in lines]
    verdicts = classifier.classify([text for text, _ in linked], [spans for _, spans in linked])
    right = sum(verdict.likeliest == line.intent for verdict, line in zip(verdicts, lines, strict=True))
    assert right / len(lines) >= LEAST_ACCURACY
    decided = [(v.best, line.intent) for v, line in zip(verdicts, lines, strict=True) if v.best]
    assert sum(best == label for best, label in decided) / len(decided) >= LEAST_ACCURACY
