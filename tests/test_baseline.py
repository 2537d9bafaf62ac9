"""The baseline chain and its kept answers, with a hashing embedder and a scripted server; no live model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from fake_openai import FakeOpenAI, Reply, error_reply
from hash_embedder import HashEmbedder

from assistant.llm import Endpoint, LanguageModel, ModelUnavailableError
from evals.baseline import (
    TABLE_NAMES,
    WAIT_SECONDS,
    AnswerCache,
    Baseline,
    BaselineAnswer,
    BaselineCacheError,
    KeptAnswer,
    Sources,
    answer_key,
    cached_answer,
    load_documents,
    open_baseline,
    prompt,
)
from knowledge import weights
from knowledge.embedding import DEFAULT_FINGERPRINT

MARKDOWN = (
    """---
title: 互联
topic: links
---
# 互联

<!-- asked: a question that only our own index reads -->

NVLink connects GPUs of one host.

"""
    + "每张卡都有带宽。" * 120
)
QUESTION = "What connects GPUs?"


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    documents, tables = tmp_path / "documents", tmp_path / "tables"
    documents.mkdir()
    tables.mkdir()
    (documents / "links.zh.md").write_text(MARKDOWN, encoding="utf-8")
    for name in TABLE_NAMES:
        (tables / name).write_text("gpu,price,note\n", encoding="utf-8")
    (tables / "offers.csv").write_text('gpu,price,note\nA100,28.64,\nT4,"1,5","两\n行 {0}"\n', encoding="utf-8")
    return Sources(documents, tables)


@pytest.fixture
def cache(tmp_path: Path) -> AnswerCache:
    return AnswerCache(tmp_path / "answers.jsonl")


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as server:
        yield server


def opened(server: FakeOpenAI, cache: AnswerCache, sources: Sources, embedder: HashEmbedder | None = None) -> Baseline:
    model = LanguageModel(lambda: Endpoint(server.base_url, "key", "fake-model"), name="fake-model")
    return Baseline(embedder or HashEmbedder(), model, cache=cache, sources=sources)


def ask(baseline: Baseline, question: str, turns: tuple[str, ...] = ()) -> BaselineAnswer:
    try:
        return baseline.answer(question, turns)
    finally:
        baseline.close()


def kept(text: str, *, key: str = "k", documents: str = "d", as_of: date = date(2026, 1, 1)) -> KeptAnswer:
    return KeptAnswer(
        key=key,
        documents=documents,
        as_of=as_of,
        seconds=1.5,
        model="m",
        embedding="e",
        question="q",
        turns=(),
        text=text,
    )


def test_documents_are_cut_and_rows_are_whole(sources: Sources) -> None:
    chunks = load_documents(sources)
    prose = [chunk.page_content for chunk in chunks if chunk.metadata["source"] == "links.zh.md"]
    rows = [chunk.page_content for chunk in chunks if chunk.metadata["source"] == "offers.csv"]
    assert max(map(len, prose)) <= 400
    assert sum(map(len, prose)) >= 960, "all of the long paragraph is there"
    assert rows == ["gpu: A100\nprice: 28.64\nnote: ", "gpu: T4\nprice: 1,5\nnote: 两\n行 {0}"]
    assert "NVLink connects GPUs of one host." in "".join(prose)
    for hidden in ("asked:", "our own index", "topic: links", "---"):
        assert hidden not in "".join(prose)


def test_all_built_in_documents_and_tables_are_read() -> None:
    read = {chunk.metadata["source"] for chunk in load_documents(Sources())}
    assert read == {path.name for path in Sources().files()}
    assert read >= {*TABLE_NAMES, "rental-prices.zh.md", "rental-prices.en.md"}


@pytest.mark.parametrize(
    ("question", "turns", "system_start", "user"),
    [
        ("A100 多少钱？", (), "你是负责回答问题的助手", "问题：A100 多少钱？"),
        ("4 张呢？", ("A100 多少钱？",), "你是负责回答问题的助手", "对话历史：\n- A100 多少钱？\n\n问题：4 张呢？"),
        ("Price of {x}?", (), "You are an assistant", "Question: Price of {x}?"),
        ("And 4?", ("A100?", "T4?"), "You are an assistant", "Chat history:\n- A100?\n- T4?\n\nQuestion: And 4?"),
    ],
)
def test_prompt_speaks_the_language_of_the_question(
    question: str, turns: tuple[str, ...], system_start: str, user: str
) -> None:
    system, human = prompt(question, turns, ["one {brace}", "two"])
    assert system.startswith(system_start)
    assert system.endswith("\none {brace}\n\ntwo")
    assert human == user


def test_four_chunks_are_stuffed_and_the_request_is_deterministic(
    server: FakeOpenAI, cache: AnswerCache, sources: Sources
) -> None:
    answer = ask(opened(server, cache, sources), QUESTION)
    (request,) = server.requests
    context = request["messages"][0]["content"].partition("Context:\n")[2]
    assert (answer.text, answer.cached, answer.older_documents) == ("ok", False, False)
    assert answer.seconds > 0
    assert (request["temperature"], request["max_tokens"]) == (0.0, 160)
    assert "NVLink connects GPUs of one host." in context
    assert sum(chunk.page_content in context for chunk in load_documents(sources)) == 4


def test_earlier_turns_are_searched_for_too(server: FakeOpenAI, cache: AnswerCache, sources: Sources) -> None:
    offers = sources.tables / "offers.csv"
    rows = "".join(f"{letter * 30},1,\n" for letter in "qwertyuiop")
    offers.write_text(offers.read_text(encoding="utf-8") + rows + "zzzzzzzz,2,\n", encoding="utf-8")
    ask(opened(server, cache, sources), "qq?", ("zzzzzzzz " * 8,))
    assert "gpu: zzzzzzzz" in server.requests[0]["messages"][0]["content"]


def test_a_kept_answer_asks_nobody(server: FakeOpenAI, cache: AnswerCache, sources: Sources) -> None:
    first = ask(opened(server, cache, sources), QUESTION, ("Hi",))
    second = ask(opened(server, cache, sources), QUESTION, ("Hi",))
    from_file = cached_answer(
        QUESTION, ["Hi"], cache=cache, sources=sources, model="fake-model", embedding=HashEmbedder().fingerprint
    )
    assert second == from_file == BaselineAnswer("ok", first.seconds, True, first.as_of)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("question", "turns", "model", "embedding"),
    [
        ("What connects TPUs?", (), "m", "e"),
        (QUESTION, ("Hi",), "m", "e"),
        (QUESTION, (), "other", "e"),
        (QUESTION, (), "m", "other"),
    ],
)
def test_whatever_decides_an_answer_makes_it_a_new_one(
    question: str, turns: tuple[str, ...], model: str, embedding: str
) -> None:
    assert answer_key(question, turns, model, embedding) != answer_key(QUESTION, (), "m", "e")


def test_turns_are_not_mistaken_for_one_another() -> None:
    assert answer_key("q", ["a", "b"], "m", "e") != answer_key("q", ["a\nb"], "m", "e")


def test_a_changed_prompt_makes_new_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    before = answer_key("q", (), "m", "e")
    monkeypatch.setattr("evals.baseline.CHUNKS_STUFFED", 5)
    assert answer_key("q", (), "m", "e") != before


@pytest.mark.parametrize("changed", ["documents/links.zh.md", *(f"tables/{name}" for name in TABLE_NAMES)])
def test_a_changed_file_makes_the_kept_answer_an_older_one(
    changed: str, cache: AnswerCache, sources: Sources, tmp_path: Path
) -> None:
    cache.add(kept("then", key=answer_key("q", (), weights.LLM.name, DEFAULT_FINGERPRINT), documents=sources.digest()))
    assert cached_answer("q", cache=cache, sources=sources) == BaselineAnswer("then", 1.5, True, date(2026, 1, 1))
    with (tmp_path / changed).open("a", encoding="utf-8") as file:
        file.write("\n")
    older = cached_answer("q", cache=cache, sources=sources, any_documents=True)
    assert cached_answer("q", cache=cache, sources=sources) is None
    assert older == BaselineAnswer("then", 1.5, True, date(2026, 1, 1), older_documents=True)


def test_a_renamed_document_changes_the_digest(sources: Sources) -> None:
    before = sources.digest()
    (sources.documents / "links.zh.md").rename(sources.documents / "links2.zh.md")
    assert sources.digest() != before


def test_todays_documents_win_over_a_newer_answer_from_others(cache: AnswerCache) -> None:
    for text, documents in (("old", "d1"), ("right", "d2"), ("newest", "d3")):
        cache.add(kept(text, documents=documents))
    found = cache.find("k", "d2", any_documents=True)
    other = cache.find("k", "d4", any_documents=True)
    assert (found and found.text, found and found.older_documents) == ("right", False)
    assert (other and other.text, other and other.older_documents) == ("newest", True)
    assert cache.find("another", "d2", any_documents=True) is None


def test_no_file_is_no_answer(cache: AnswerCache) -> None:
    assert cache.read() == []
    assert cached_answer("q", cache=cache) is None


def test_a_line_cut_by_a_kill_is_ignored_then_dropped(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    cache = AnswerCache(file)
    cache.add(kept("第一行\n换行"))
    whole = file.read_bytes()
    file.write_bytes(whole + whole[: len(whole) // 2])
    assert [answer.text for answer in cache.read()] == ["第一行\n换行"]
    cache.add(kept("second"))
    assert [answer.text for answer in cache.read()] == ["第一行\n换行", "second"]


def test_a_broken_line_is_told_and_not_skipped(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    cache = AnswerCache(file)
    cache.add(kept("one"))
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"key": "k"}\n')
    with pytest.raises(BaselineCacheError, match=r"answers\.jsonl, line 2: .*documents"):
        cache.read()


def test_a_server_that_fails_leaves_nothing_behind(server: FakeOpenAI, cache: AnswerCache, sources: Sources) -> None:
    baseline = opened(server, cache, sources)
    server._replies += [error_reply(500, "out of memory"), Reply(("half",), ending="cut")]
    for _ in range(2):
        with pytest.raises(ModelUnavailableError):
            baseline.answer(QUESTION)
    assert cache.read() == []
    assert ask(baseline, QUESTION).text == "ok"


def test_an_empty_reply_is_an_answer_of_no_words(server: FakeOpenAI, cache: AnswerCache, sources: Sources) -> None:
    server._replies.append(Reply(()))
    assert ask(opened(server, cache, sources), QUESTION).text == ""
    assert [answer.text for answer in cache.read()] == [""]


def test_an_unnamed_server_is_asked_for_its_model_first(
    server: FakeOpenAI, cache: AnswerCache, sources: Sources
) -> None:
    model = LanguageModel(lambda: Endpoint(server.base_url, "key", None), name="")
    ask(Baseline(HashEmbedder(), model, cache=cache, sources=sources), QUESTION)
    assert [answer.model for answer in cache.read()] == ["fake-model"]


def test_the_index_is_built_once_and_again_for_other_files_or_vectors(
    server: FakeOpenAI, cache: AnswerCache, sources: Sources
) -> None:
    first, again, other_model, other_files = HashEmbedder(), HashEmbedder(), HashEmbedder("hash-2"), HashEmbedder()
    for embedder in (first, again, other_model):
        opened(server, cache, sources, embedder).close()
    (sources.documents / "more.en.md").write_text("More.", encoding="utf-8")
    opened(server, cache, sources, other_files).close()
    count = len(load_documents(sources))
    embedded = [embedder.embedded for embedder in (first, again, other_model, other_files)]
    assert embedded == [count - 1, 0, count - 1, count]


def test_a_build_that_dies_leaves_no_index(server: FakeOpenAI, cache: AnswerCache, sources: Sources) -> None:
    with pytest.raises(EOFError):
        opened(server, cache, sources, HashEmbedder(fails_after=1))
    assert list((weights.home() / "evals" / "baseline-index").iterdir()) == []
    assert ask(opened(server, cache, sources), QUESTION).text == "ok"


def test_opened_by_the_settings_it_waits_long_for_a_busy_machine(
    server: FakeOpenAI, cache: AnswerCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_BASE_URL", server.base_url)
    monkeypatch.setattr("evals.baseline.load_embedder", HashEmbedder)
    baseline = open_baseline(cache)
    assert ask(baseline, "A100 多少钱？").text == "ok"
    assert baseline._model._silence_seconds == WAIT_SECONDS


def test_the_committed_answers_can_be_read_and_keep_their_keys() -> None:
    for answer in AnswerCache().read():
        assert answer.key == answer_key(answer.question, answer.turns, answer.model, answer.embedding)
        assert answer.seconds > 0
