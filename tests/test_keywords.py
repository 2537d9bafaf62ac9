"""The tokenizer's spelling matrix, and the keyword store: ranking, coverage, deletion, failures."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge.keywords import Coverage, KeywordStore, tokenize, words

CORPUS = {
    "runs": "ChatGLM2-6B 在 RTX 4090 上用 LoRA 微调 39333 条，用时 5:45:08",
    "runs-one": "ChatGLM 在 RTX 4090 上用 pt2 微调 9999 条，用时 1:42:46",
    "price": "阿里云租用一张 A100 每小时 34.742 元，实例 gn7.2xlarge32",
    "server": "参考服务器 SYS-420GP-TNAR：32 条 64 GB DDR4 内存，A100-SXM4-80GB",
    "rule": "出口管制：算力 4800 TOPS、带宽 600 GB/s 以上的显卡不能卖到中国",
    "english": "Kaggle gives T4s and P100 cards free, 30 hours a week; 24GB of GPU memory",
    "cloud": "国内主流的云厂商有阿里云、腾讯云和火山引擎",
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KeywordStore]:
    store = KeywordStore(tmp_path / "keywords.sqlite", create=True)
    store.add((passage_id, "", text) for passage_id, text in CORPUS.items())
    yield store
    store.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("H100租一小时", {"h100", "租", "小时"}),  # a change of script parts words
        ("阿里云A100价格", {"阿里", "a100", "价格"}),
        ("騰訊雲顯存", {"腾讯", "显存"}),  # traditional
        ("ＲＴＸ４０９０", {"rtx", "4090"}),  # full width
        ("RTX4090", {"rtx4090", "rtx", "4090"}),
        ("gn7.2xlarge32", {"gn7.2xlarge32"}),
        ("34.742", {"34.742"}),
        ("1:42:46", {"1:42:46"}),
        ("DDR5", {"ddr5"}),
        ("chatglm2-6b", {"chatglm2-6b", "chatglm2", "6b"}),
        ("39,333 rows", {"39333", "row"}),
        ("T4s", {"t4"}),
        ("L40S", {"l40s"}),
    ],
)
def test_a_text_gives_at_least_these_tokens(text: str, expected: set[str]) -> None:
    assert expected <= set(tokenize(text))


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("gn7.2xlarge32", "2xlarge32"),  # an instance code has one spelling
        ("1:42:46", "42"),
        ("34.742", "34"),
        ("ChatGLM2", "chatglm"),  # another model
        ("A100", "100"),
        ("A100", "a10"),
        ("4090D", "4090"),  # another card
        ("L40S", "l40"),
        ("多少钱", "多少"),  # fillers say nothing
        ("how much is it", "how"),
    ],
)
def test_a_text_does_not_give_tokens_of_something_else(text: str, absent: str) -> None:
    assert absent not in tokenize(text)


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("RTX4090", "RTX 4090"),
        ("RTX 4090", "RTX4090"),
        ("rtx-4090", "RTX 4090"),
        ("4090", "RTX4090"),
        ("24G", "24 GB"),
        ("24 GB", "24G显存"),
        ("24GiB", "24GB"),
        ("24G", "memory (GB) = 24"),  # the unit stands in the header of a table
        ("ChatGLM2", "ChatGLM2-6B"),
        ("chatglm2 6b", "ChatGLM2-6B"),
        ("ChatGLM2-6B", "ChatGLM2 6B"),
        ("llama65b", "LLaMA-65B"),
        ("falcon 40 b", "Falcon-40B"),
        ("a100sxm", "A100 SXM"),
        ("A100 80G", "A100-SXM4-80GB"),
        ("420GP", "SYS-420GP-TNAR"),
        ("16 bit", "16-bit"),
        ("A800", "A100/A800"),
        ("card", "cards"),
        ("T4", "T4s"),
        ("顯示卡", "显示卡"),
        ("租", "租用"),
        ("39333", "39,333"),
    ],
)
def test_spellings_of_one_thing_meet(tmp_path: Path, asked: str, written: str) -> None:
    store = KeywordStore(tmp_path / "one.sqlite", create=True)
    store.add([("it", "", written), ("other", "", "nothing of the kind")])
    assert list(store.best(asked, 5)) == ["it"]
    assert store.coverage(asked, ["it"]).passage["it"] >= 0.9
    assert store.knows(asked)
    store.close()


@pytest.mark.parametrize(
    ("asked", "written"), [("A10", "A100"), ("A100", "A10"), ("ChatGLM", "ChatGLM2"), ("L40S", "L40")]
)
def test_a_neighbour_is_not_the_same_thing(tmp_path: Path, asked: str, written: str) -> None:
    store = KeywordStore(tmp_path / "one.sqlite", create=True)
    store.add([("it", "", written)])
    assert store.best(asked, 5) == {}
    assert not store.knows(asked)
    store.close()


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("chatglm2 lora 多久", "runs"),
        ("阿里雲 A100 一小時多少錢", "price"),
        ("gn7.2xlarge32 是什么", "price"),
        ("哪个用了 34.742", "price"),
        ("ddr4 的服务器", "server"),
        ("出口限制 4800", "rule"),
        ("免费的 P100", "english"),
        ("国内有哪些云厂商", "cloud"),
        ("1:42:46", "runs-one"),
    ],
)
def test_chinese_questions_find_their_passage_by_words_alone(store: KeywordStore, query: str, best: str) -> None:
    found = store.best(query, 10)
    coverage = store.coverage(query, list(found)).passage
    assert max(coverage, key=lambda passage_id: (coverage[passage_id], found[passage_id])) == best


def test_bm25_comes_best_first_and_higher_is_better(store: KeywordStore) -> None:
    scores = list(store.best("A100 每小时 阿里云", 10).values())
    assert len(scores) >= 3
    assert scores == sorted(scores, reverse=True)


def test_an_unknown_thing_keeps_coverage_low_although_the_rest_is_known(store: KeywordStore) -> None:
    known = max(store.coverage("阿里云 A100 每小时", list(CORPUS)).passage.values())
    unknown = max(store.coverage("阿里云 B300 每小时", list(CORPUS)).passage.values())
    assert known > 0.95
    assert unknown < 0.75


def test_characters_apart_count_less_than_the_pair(tmp_path: Path) -> None:
    store = KeywordStore(tmp_path / "one.sqlite", create=True)
    store.add([("pair", "", "显存"), ("apart", "", "存放显卡"), ("neither", "", "磁盘")])
    coverage = store.coverage("显存", ["pair", "apart", "neither"]).passage
    assert coverage["pair"] == 1 > coverage["apart"] > coverage["neither"] == 0
    store.close()


def test_words_of_the_heading_are_told_apart_and_count_for_the_passage_too(tmp_path: Path) -> None:
    store = KeywordStore(tmp_path / "one.sqlite", create=True)
    store.add([("headed", "显存多大", "24 GB"), ("mentioned", "价格", "显存 24 GB")])
    coverage = store.coverage("显存 24G", ["headed", "mentioned"])
    assert coverage.passage == {"headed": 1, "mentioned": 1}
    assert coverage.heading["headed"] > coverage.heading["mentioned"] == 0
    store.close()


def test_a_rare_word_tells_more_than_a_common_one(store: KeywordStore) -> None:
    assert store.coverage("DDR4", []).information > store.coverage("A100", []).information > 0


@pytest.mark.parametrize(
    ("term", "known"), [("ChatGLM2", True), ("腾讯云", True), ("华为云", False), ("", False), ("的", False)]
)
def test_knows_says_whether_every_word_occurs(store: KeywordStore, term: str, known: bool) -> None:
    assert store.knows(term) is known


def test_adding_again_replaces_and_deleting_leaves_no_word_behind(store: KeywordStore) -> None:
    before = store.count()
    store.add([("cloud", "", "鲲鹏服务器"), ("new", "鲲鹏处理器", "")])
    assert store.count() == before + 1
    assert set(store.best("鲲鹏", 10)) == {"cloud", "new"}
    assert store.best("火山引擎", 10) == {}
    store.delete(["cloud", "new"])
    assert store.count() == before - 1
    assert store.best("鲲鹏", 10) == {}
    assert not store.knows("鲲鹏")


def test_deleting_what_is_not_there_is_an_error_and_removes_nothing(store: KeywordStore) -> None:
    with pytest.raises(KeyError, match="no-such-passage"):
        store.delete(["rule", "no-such-passage"])
    assert "rule" in store.best("4800 TOPS", 10)


def test_a_question_of_fillers_only_finds_nothing_and_covers_nothing(store: KeywordStore) -> None:
    assert store.best("这个是什么呢", 10) == {}
    assert store.coverage("这个是什么呢", ["rule"]) == Coverage(0, {"rule": 0.0}, {"rule": 0.0})


def test_a_very_long_question_is_no_error(store: KeywordStore) -> None:
    text = " ".join(f"字{number}词 word{number}" for number in range(3000)) + " 34.742"
    assert "price" in store.best(text, 10)


def test_the_store_can_be_opened_again(tmp_path: Path) -> None:
    file = tmp_path / "含空格 and ?.sqlite"
    first = KeywordStore(file, create=True)
    first.add([("it", "显存", "24 GB")])
    first.close()
    second = KeywordStore(file)
    assert list(second.best("24G", 5)) == ["it"]
    second.close()


def test_a_missing_or_damaged_file_is_an_error_not_an_empty_store(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        KeywordStore(tmp_path / "absent.sqlite")
    (tmp_path / "damaged.sqlite").write_bytes(b"no database at all" * 1000)
    damaged = KeywordStore(tmp_path / "damaged.sqlite")
    with pytest.raises(sqlite3.DatabaseError):
        damaged.best("A100", 5)
    damaged.close()


@given(st.text(max_size=60))
def test_any_text_gives_tokens_that_fts5_takes_as_one_word_each(text: str) -> None:
    tokens = tokenize(text)
    assert tokens == [token for word in words(text) for token in word.tokens]
    for token in tokens:
        assert token
        assert not set(token) & set(" \"'*^(),\n\t\x00")


@given(st.lists(st.text(alphabet="显存卡租A1aS-./:é 0GB的１Ⅷßſ", min_size=1, max_size=12), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)  # each example writes a file
def test_a_passage_covers_itself_wholly_and_every_score_is_a_share(texts: list[str]) -> None:
    with TemporaryDirectory() as folder, closing(KeywordStore(Path(folder) / "it.sqlite", create=True)) as store:
        store.add((str(number), text, "") for number, text in enumerate(texts))
        for number, text in enumerate(texts):
            coverage = store.coverage(text, [str(other) for other in range(len(texts))])
            assert all(0 <= share <= 1 for share in (*coverage.passage.values(), *coverage.heading.values()))
            if tokenize(text):
                assert coverage.passage[str(number)] == coverage.heading[str(number)] == pytest.approx(1)
                assert store.knows(text)
                assert str(number) in store.best(text, 10)
