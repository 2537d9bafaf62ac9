"""The passage store: ranking, coverage, versions, removal without traces, reading while it is written, failures."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_store import WordStore

import knowledge.passage_store as store_module
from knowledge.keywords import Word, tokenize, words
from knowledge.passage import Passage
from knowledge.passage_store import PassageStore
from knowledge.word_matching import Coverage, expressions, search_tokens

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
def store(tmp_path: Path) -> Iterator[WordStore]:
    with closing(WordStore(tmp_path / "passages.sqlite")) as store:
        store.add((passage_id, "", text) for passage_id, text in CORPUS.items())
        yield store


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[WordStore]:
    with closing(WordStore(tmp_path / "one.sqlite")) as store:
        yield store


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
def test_chinese_questions_find_their_passage_by_words_alone(store: WordStore, query: str, best: str) -> None:
    found = store.best(query, 10)
    coverage, _ = store.coverage(query, list(found))
    assert max(coverage, key=lambda passage_id: (coverage[passage_id], found[passage_id])) == best


def test_bm25_comes_best_first_and_higher_is_better(store: WordStore) -> None:
    scores = list(store.best("A100 每小时 阿里云", 10).values())
    assert len(scores) >= 3
    assert scores == sorted(scores, reverse=True)


def test_an_unknown_thing_keeps_coverage_low_although_the_rest_is_known(store: WordStore) -> None:
    assert max(store.coverage("阿里云 A100 每小时", list(CORPUS))[0].values()) > 0.95
    assert max(store.coverage("阿里云 B300 每小时", list(CORPUS))[0].values()) < 0.75


def test_characters_apart_count_less_than_the_pair(empty: WordStore) -> None:
    empty.add([("pair", "", "显存"), ("apart", "", "存放显卡"), ("neither", "", "磁盘")])
    coverage, _ = empty.coverage("显存", ["pair", "apart", "neither"])
    assert coverage["pair"] == 1 > coverage["apart"] > coverage["neither"] == 0


def test_words_of_the_heading_are_told_apart_and_count_for_the_passage_too(empty: WordStore) -> None:
    empty.add([("headed", "显存多大", "24 GB"), ("mentioned", "价格", "显存 24 GB")])
    passage, heading = empty.coverage("显存 24G", ["headed", "mentioned"])
    assert passage == {"headed": 1, "mentioned": 1}
    assert heading["headed"] > heading["mentioned"] == 0


def test_a_rare_word_tells_more_than_a_common_one(store: WordStore) -> None:
    assert store.measured("DDR4", []).information > store.measured("A100", []).information > 0


@pytest.mark.parametrize(
    ("term", "known"), [("ChatGLM2", True), ("腾讯云", True), ("华为云", False), ("", False), ("的", False)]
)
def test_knows_says_whether_every_word_occurs(store: WordStore, term: str, known: bool) -> None:
    assert store.knows(term) is known


def test_knows_of_some_versions_does_not_see_the_others(store: WordStore) -> None:
    assert store.store.knows("ChatGLM2", ["v"])
    assert not store.store.knows("ChatGLM2", ["other"])


def test_removing_leaves_no_word_behind(store: WordStore) -> None:
    before = store.store.count()
    store.add([("extra", "鲲鹏处理器", "")])
    assert set(store.best("鲲鹏", 10)) == {"extra"}
    assert store.knows("鲲鹏")
    store.remove(["extra"])
    assert store.store.count() == before
    assert store.best("鲲鹏", 10) == {}
    assert not store.knows("鲲鹏")


def test_what_was_removed_stands_in_no_file_after_the_wipe(tmp_path: Path, store: WordStore) -> None:
    def holding() -> list[Path]:
        return [path for path in tmp_path.iterdir() if b"zyzzyva" in path.read_bytes().lower()]

    store.add([("secret", "Zyzzyva", "the Zyzzyva plan"), *((f"e{n}", "", f"text {n}") for n in range(50))])
    assert holding()
    store.remove(["secret"])
    store.store.wipe()
    assert holding() == []


def test_numbers_are_never_used_again_even_after_everything_was_removed(empty: WordStore) -> None:
    empty.add([("a", "", "一"), ("b", "", "二")])
    before = empty.store.numbers()
    empty.remove(["a", "b"])
    empty.add([("c", "", "三")])
    assert empty.store.numbers()[0] > max(before)


def test_a_question_of_fillers_only_finds_nothing_and_covers_nothing(store: WordStore) -> None:
    assert store.best("这个是什么呢", 10) == {}
    measured = store.measured("这个是什么呢", ["rule"])
    assert (measured.information, set(measured.passage.values())) == (0, {0.0})
    assert store.measured("", []) == Coverage(0, {}, {})


def test_a_very_long_question_is_no_error(store: WordStore) -> None:
    text = " ".join(f"字{number}词 word{number}" for number in range(3000)) + " 34.742"
    assert "price" in store.best(text, 10)


@given(st.lists(st.text(alphabet="显存卡租A1aS-./:é 0GB的１Ⅷßſ", min_size=1, max_size=12), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)  # each example writes a file
def test_a_passage_covers_itself_wholly_and_every_score_is_a_share(texts: list[str]) -> None:
    with TemporaryDirectory() as folder, closing(WordStore(Path(folder) / "it.sqlite")) as store:
        store.add((str(number), text, "") for number, text in enumerate(texts))
        for number, text in enumerate(texts):
            passage, heading = store.coverage(text, [str(other) for other in range(len(texts))])
            assert all(0 <= share <= 1 for share in (*passage.values(), *heading.values()))
            if tokenize(text):
                assert passage[str(number)] == heading[str(number)] == pytest.approx(1)
                assert store.knows(text)
                assert str(number) in store.best(text, 10)


# Equivalents, as expansion.py gives them.

CARD = Word("显卡", ("显", "卡"), "han", equivalents=((Word("gpu", (), "code"),), (Word("accelerator", (), "code"),)))
FINE_TUNING = Word(
    "fine tuning",
    (),
    "phrase",
    parts=(Word("fine", (), "code"), Word("tune", (), "code")),
    equivalents=((Word("微调", ("微", "调"), "han"),), (Word("sft", (), "code"), Word("lora", (), "code"))),
)


def covered(store: WordStore, word: Word, ids: list[str]) -> list[float]:
    numbers = [store._number_of[each] for each in ids]
    found = store.store.coverage([word], numbers).passage
    return [round(found[number], 2) for number in numbers]


def test_an_equivalent_finds_and_counts_a_little_less_than_the_word_itself(empty: WordStore) -> None:
    empty.add([("own", "", "显卡"), ("other", "", "GPU"), ("both", "", "显卡 GPU"), ("none", "", "磁盘")])
    assert covered(empty, CARD, ["own", "other", "both", "none"]) == [1, 0.9, 1, 0]
    assert len(empty.store.best([CARD], 10)) == 3


def test_a_phrase_is_found_by_its_words_and_by_a_group_only_if_all_of_it_is_there(empty: WordStore) -> None:
    empty.add([("own", "", "fine tuning"), ("half", "", "fine"), ("zh", "", "微调"), ("group", "", "SFT LoRA"), ("lora", "", "LoRA")])  # fmt: skip
    assert covered(empty, FINE_TUNING, ["own", "half", "zh", "group", "lora"]) == [1, 0.5, 0.9, 0.9, 0]
    assert len(empty.store.best([FINE_TUNING], 10)) == 5


def test_a_word_known_only_by_an_equivalent_does_not_weigh_as_an_unknown_thing(empty: WordStore) -> None:
    empty.add((f"p{n}", "", "GPU") for n in range(20))
    unknown = empty.store.coverage([Word("nvl72", (), "code")], []).information
    assert empty.store.coverage([CARD], []).information < unknown / 3


# Large stores: bounded ranking.


def test_few_passages_are_ranked_by_every_token() -> None:
    assert list(expressions({"a", "b", "absent"}, _of({"a": 90, "b": 10}), 100, 200)) == ['"b" OR "a"']


@pytest.mark.parametrize(
    ("frequencies", "expected"),
    [
        ({"rare": 5, "usual": 300, "everywhere": 990}, ['("rare") AND ("rare" OR "usual")']),
        ({"r": 5, "s": 90, "usual": 300}, ['("r" OR "s") AND ("r" OR "s" OR "usual")']),
        ({"usual": 300, "often": 400}, ['("usual" AND "often") AND ("usual" OR "often")', '"usual"']),
        ({"everywhere": 990}, ['"everywhere"']),
        ({"gone": 0}, []),
    ],
)
def test_many_passages_are_looked_up_by_rare_tokens_and_ranked_by_all_that_tell(
    frequencies: dict[str, int], expected: list[str]
) -> None:
    assert list(expressions(frequencies.keys(), _of(frequencies), 1000, 100)) == expected


def _of(frequencies: dict[str, int]) -> Callable[[str], int]:
    return lambda token: frequencies.get(token, 0)


def test_bounded_ranking_still_puts_the_passage_with_most_words_first(
    empty: WordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_RANKED", 20)
    empty.add((f"p{n}", "", ("A100 价格", "A100 在库", "磁盘", "机柜", "交换机")[n % 5]) for n in range(200))
    empty.add([("wanted", "", "阿里云 A100 价格"), ("decoy", "", "阿里云 磁盘")])
    assert next(iter(empty.best("阿里云 A100 价格", 5))) == "wanted"
    assert empty.best("A100 价格", 5)  # both everywhere
    assert empty.best("A100", 5)
    assert empty.best("在库 价格", 5)  # never together


# Files and threads.


def test_the_store_can_be_opened_again(tmp_path: Path) -> None:
    file = tmp_path / "含空格 and ?.sqlite"
    first = WordStore(file)
    first.add([("it", "显存", "24 GB")])
    first.close()
    with closing(PassageStore(file)) as second:
        (number,) = second.best(words("24G"), 5)
        (found,) = second.read([number])
        assert (found.passage.id, found.version, found.passage.section) == ("it", "v", "显存")


@pytest.mark.parametrize("content", [None, b"no database at all" * 1000, b""])
def test_a_missing_damaged_or_empty_file_is_an_error_not_an_empty_store(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "passages.sqlite"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError):
        PassageStore(file)


def test_a_damaged_page_is_found_by_the_check(tmp_path: Path) -> None:
    file = tmp_path / "passages.sqlite"
    store = WordStore(file)
    store.add((f"p{n}", "", f"text {n}") for n in range(500))
    store.store.check()
    store.close()
    content = bytearray(file.read_bytes())
    content[len(content) // 2 :] = b"x" * (len(content) - len(content) // 2)
    file.write_bytes(content)
    with pytest.raises(sqlite3.DatabaseError), closing(PassageStore(file)) as damaged:
        damaged.check()


def test_a_passage_without_a_vector_is_an_error(store: WordStore, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "passages.sqlite")) as other, other:
        other.execute("DELETE FROM vectors WHERE number = 3")
    with pytest.raises(sqlite3.DatabaseError, match="7 passages, 6 vectors"):
        store.store.count()


def test_an_id_twice_in_one_version_writes_nothing_and_in_two_versions_is_fine(store: WordStore) -> None:
    before = store.store.count()
    with pytest.raises(sqlite3.IntegrityError):
        store.add([("fresh", "", "x"), ("rule", "", "x")])
    assert store.store.count() == before
    twin = Passage("rule", "rule", "zh", "", "", "x", "s", "l", None, "text")
    store.store.add("w", [twin], [b"d"], np.zeros((1, 4), dtype=np.float32))
    assert len(store.store.numbers_of_id("rule")) == 2


def test_one_snapshot_sees_one_state_while_another_thread_writes(store: WordStore) -> None:
    inner = store.store
    with inner.snapshot():
        before = (inner.count(), inner.frequency("a100"))
        writer = threading.Thread(target=store.add, args=([("new", "", "A100")],))
        writer.start()
        writer.join()
        assert (inner.count(), inner.frequency("a100")) == before
    assert (inner.count(), inner.frequency("a100")) == (before[0] + 1, before[1] + 1)


def test_more_values_than_one_statement_takes(empty: WordStore) -> None:
    empty.add((f"p{n}", "", "x") for n in range(1200))
    numbers = empty.store.numbers()
    assert [each.number for each in empty.store.read(numbers[::-1])] == numbers[::-1]
    assert len(empty.store.vectors_of_texts([f"p{n}".encode() for n in range(1200)])) == 1200
    empty.store.remove(numbers)
    assert empty.store.count() == 0


def test_the_tokens_looked_up_are_no_single_characters_of_pairs() -> None:
    assert search_tokens(words("显存 RTX4090")) == {"显存", "rtx4090", "rtx", "4090"}
