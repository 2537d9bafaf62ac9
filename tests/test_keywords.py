"""The tokenizer's spelling matrix."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_store import WordStore

from knowledge.keywords import tokenize, words


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
        ("V100S", {"v100s"}),
        ("two V100s", {"v100"}),  # a plural, by its case
        ("GPUs and LLMs", {"gpu", "llm"}),  # plurals no stemmer knows
        ("8xA100服务器", {"8", "a100", "服务"}),
        ("显存80G", {"显存", "80gb"}),  # a unit also where the number stands behind Chinese
        ("NVLink带宽600GB/s", {"nvlink", "带宽", "600gb"}),
        ("Ｈ１００租一小时多少钱", {"h100", "租", "小时"}),
        ("Qwen2.5-1.5B", {"qwen2.5-1.5b", "qwen", "2.5", "1.5b"}),  # a version is one number
        ("P-Tuning", {"p-tuning"}),
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
        ("8xA100", "xa"),
        ("Llama-3.1-70B", "3"),
        ("P-Tuning", "tune"),  # no tuning in general
        ("V100S", "v100"),
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
        ("GPUs", "GPU"),
        ("gpus", "GPU"),
        ("8xA100", "8 x A100"),
        ("8 A100", "8×A100"),
        ("Qwen2.5-72B", "Qwen 2.5 72B"),
        ("qwen2.5 1.5b", "Qwen2.5-1.5B"),
        ("llama 3.1 70b", "Llama-3.1-70B"),
        ("600 GB/s", "带宽600GB/s"),
        ("80G", "显存80GB"),
        ("ＲＴＸ４０９０", "rtx 4090"),
        ("2.50", "$2.50/h"),
    ],
)
def test_spellings_of_one_thing_meet(tmp_path: Path, asked: str, written: str) -> None:
    store = WordStore(tmp_path / "one.sqlite")
    store.add([("it", "", written), ("other", "", "nothing of the kind")])
    assert list(store.best(asked, 5)) == ["it"]
    assert store.coverage(asked, ["it"])[0]["it"] >= 0.9
    assert store.knows(asked)
    store.close()


@pytest.mark.parametrize(
    ("asked", "written"),
    [("A10", "A100"), ("A100", "A10"), ("ChatGLM", "ChatGLM2"), ("L40S", "L40"), ("V100S", "V100"), ("V100S", "V100s")],
)
def test_a_neighbour_is_not_the_same_thing(tmp_path: Path, asked: str, written: str) -> None:
    store = WordStore(tmp_path / "one.sqlite")
    store.add([("it", "", written)])
    assert store.best(asked, 5) == {}
    assert not store.knows(asked)
    store.close()


@given(st.text(max_size=60))
def test_any_text_gives_tokens_that_fts5_takes_as_one_word_each(text: str) -> None:
    tokens = tokenize(text)
    assert tokens == [token for word in words(text) for token in word.tokens]
    for token in tokens:
        assert token
        assert not set(token) & set(" \"'*^(),\n\t\x00")
