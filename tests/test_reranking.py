"""The optional reranker: off without its variable, a real (untrained) cross-encoder loads offline, and order follows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from test_index import PASSAGES

from knowledge.hits import Hit
from knowledge.index import Index, build_index
from knowledge.reranking import RERANKED, Reranker, RerankerError, load_reranker


class ScriptedModel:
    """Judges by a word: passages that hold it come first."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.read: list[Sequence[tuple[str, str]]] = []

    def predict(self, pairs: Sequence[tuple[str, str]], **_: Any) -> list[float]:
        self.read.append(pairs)
        return [float(self.word in text) for _, text in pairs]


def reranker(word: str) -> tuple[ScriptedModel, Reranker]:
    model: Any = ScriptedModel(word)
    return model, Reranker(model)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with build_index(tmp_path / "index", PASSAGES, HashEmbedder()) as index:
        yield index


def test_without_its_variable_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RERANKER_MODEL", raising=False)
    assert load_reranker() is None


def test_the_search_follows_the_reranker_and_keeps_its_own_scores_in_order(index: Index) -> None:
    plain = index.search("graphics processor memory", language="en", limit=4)
    last = plain[-1].passage
    model, index.reranker = reranker(last.text)
    hits = index.search("graphics processor memory", language="en", limit=4)
    assert hits[0].passage == last
    assert [hit.score for hit in hits] == [hit.score for hit in plain]
    assert model.read[0][0][0] == "graphics processor memory"


def test_a_probe_of_one_version_and_a_measurement_of_one_side_are_not_reordered(index: Index) -> None:
    model, index.reranker = reranker("Kaggle")
    index.search("memory", language="en", only="builtin")
    index.search("memory", language="en", rank="dense")
    assert model.read == []


def test_only_the_first_hits_are_read() -> None:
    model, judge = reranker("never")
    hits = [Hit(PASSAGES[0], 1 - n / 100, 0.5, 0.5) for n in range(RERANKED + 5)]
    assert judge.reordered("q", hits) == hits
    assert [len(pairs) for pairs in model.read] == [RERANKED]


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_cross_encoder_folder_is_loaded_and_one_of_classes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, outputs: int
) -> None:
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    shape = BertConfig(
        vocab_size=4, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, num_labels=outputs,
        max_position_embeddings=32,
    )  # fmt: skip
    BertForSequenceClassification(shape).save_pretrained(tmp_path / "judge")
    tokenizer.save_pretrained(tmp_path / "judge")
    monkeypatch.setenv("RERANKER_MODEL", str(tmp_path / "judge"))
    if outputs == 3:
        with pytest.raises(RerankerError, match="3 outputs"):
            load_reranker()
        return
    loaded = load_reranker()
    assert loaded is not None
    hits = [Hit(passage, 0.5, 0.5, 0.5) for passage in PASSAGES]
    assert {hit.passage.id for hit in loaded.reordered("a question", hits)} == {passage.id for passage in PASSAGES}


def test_what_is_no_model_is_named_with_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RERANKER_MODEL", str(tmp_path))
    with pytest.raises(RerankerError, match="unset it"):
        load_reranker()
