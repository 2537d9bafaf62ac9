"""Names in questions: every way people write them, and everything that only looks like a name."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.names import TABLE, all_names, display, link, normalise


def found(text: str) -> list[tuple[str, str]]:
    return [(item.kind, item.key) for item in link(normalise(text))]


def keys(text: str) -> list[str]:
    return [key for _, key in found(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("阿里云的 A100 租一个小时多少钱", ["alibaba", "A100"]),
        ("what's Tencent Cloud charging per hour for an A100?", ["tencent", "A100"]),
        ("火山那边 a100 啥价", ["volcengine", "A100"]),
        ("how much is a T4 on aliyun per hr", ["T4", "alibaba"]),
        ("腾讯A100单卡,火山T4两台", ["tencent", "A100", "volcengine", "T4"]),
        ("鹅厂和阿里巴巴哪个便宜", ["tencent", "alibaba"]),
        ("ali cloud, Ali-Cloud and AliCloud", ["alibaba"] * 3),
        ("谷歌云、微软云、亚马逊云", ["gcp", "azure", "aws"]),
        ("Volcano Engine vs volcengine", ["volcengine"] * 2),
        ("rent on Vast.ai or Lambda Labs", ["vast", "lambda"]),
        ("autodl 的 4090", ["autodl", "RTX 4090"]),
    ],
)
def test_chinese_english_and_mixed_names(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("騰訊雲租四張A100", ["tencent", "A100"]),  # traditional characters
        ("阿裡雲、火山引擎與華為雲", ["alibaba", "volcengine", "huawei"]),
        ("昇騰910B", ["Ascend 910B"]),
        ("昇腾 910B 和 昇腾910C", ["Ascend 910B", "Ascend 910C"]),  # 昇 is no slip for 升 here
        ("升腾910B", ["Ascend 910B"]),
        ("Ａ１００在Ｔｅｎｃｅｎｔ", ["A100", "tencent"]),  # full width
        ("А100 на Tencent", ["A100", "tencent"]),  # a Cyrillic A
        ("Т4 и Н100", ["T4", "H100"]),  # Cyrillic T and H
        ("Α100", ["A100"]),  # a Greek A
        ("A\u200b100", ["A100"]),  # a zero-width space inside
        ("A1OO价格", ["A100"]),  # the letter O for zero
        ("a1oo", ["A100"]),
        ("4O9O 多少钱", ["RTX 4090"]),
        ("A1OO-80G", ["A100"]),
        ("tencnet a100", ["tencent", "A100"]),  # slips of the pen
        ("tecent, tencant, tencet", ["tencent"] * 3),
        ("alibabba", ["alibaba"]),
        ("volcegine and volcengin", ["volcengine"] * 2),
        ("腾迅云 阿理云", ["tencent", "alibaba"]),
    ],
)
def test_other_scripts_widths_and_slips_of_the_pen(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A10", ["A10"]),
        ("A10 vs A100", ["A10", "A100"]),
        ("A1O", ["A10"]),
        ("8xA100", ["A100"]),
        ("8×A100 和 2*T4", ["A100", "T4"]),
        ("A100x8, T4×2", ["A100", "T4"]),
        ("4x4090", ["RTX 4090"]),
        ("4090s", ["RTX 4090"]),
        ("两张4090s的机器", ["RTX 4090"]),
        ("A100s and H100s", ["A100", "H100"]),
        ("A100-80G", ["A100"]),
        ("A100-SXM4-80GB, H100-SXM5", ["A100", "H100"]),
        ("NVIDIA A100 80GB PCIe", ["A100"]),
        ("RTX4090, rtx-4090, GeForce 4090", ["RTX 4090"] * 3),
        ("4090D 4090 D RTX 4090D", ["RTX 4090 D"] * 3),
        ("L40 L40S", ["L40", "L40S"]),
        ("A6000, RTX A6000, RTX 6000 Ada", ["RTX A6000", "RTX A6000", "RTX 6000 Ada"]),
        ("GB200 B200 GH200 H200 H20", ["GB200", "B200", "GH200", "H200", "H20"]),
        ("3090-4090", ["RTX 3090", "RTX 4090"]),
    ],
)
def test_product_codes_are_read_exactly(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ChatGLM2-6B", ["ChatGLM2"]),
        ("ChatGLM", ["ChatGLM"]),
        ("chatglm2 和 chatglm", ["ChatGLM2", "ChatGLM"]),
        ("chatglm-6b, ChatGLM 6B", ["ChatGLM", "ChatGLM"]),
        ("falcon 40b", ["Falcon-40B"]),
        ("Falcon", ["Falcon-40B"]),
        ("LLaMA (65B)", ["LLaMA-65B"]),
        ("pt2 和 Lora", ["pt2", "LoRA"]),
        ("P-Tuning v2", ["pt2"]),
        ("小规模微调", ["finetune-small"]),
        ("fine-tuning at large scale", ["finetune-large"]),
    ],
)
def test_models_methods_and_workloads(text: str, expected: list[str]) -> None:
    assert keys(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("H300多少钱", "H300"),
        ("8xH300", "H300"),
        ("two H300s", "H300"),
        ("H300-80G", "H300"),
        ("RTX 6090", "RTX 6090"),
        ("6090多少钱", "6090"),
        ("4070 ti 一小时", "4070 ti"),
        ("RTX 5080 SUPER", "RTX 5080 SUPER"),  # not the 5080's price
        ("GTX 1080", "GTX 1080"),
        ("Tesla M60", "Tesla M60"),
        ("MI500X", "MI500X"),
        ("MTT S4000", "MTT S4000"),
        ("A1000", "A1000"),  # not the A100 with a slip
        ("A100X", "A100X"),
        ("昇腾 310", "昇腾 310"),
        ("Falcon 11B 要多少显存", "Falcon 11B"),  # not Falcon-40B
        ("MPT-13B", "MPT-13B"),
        ("ChatGLM3-12B", "ChatGLM3-12B"),
        ("Qwen2-72B", "Qwen2-72B"),  # not Qwen2.5
        ("小鸟云", "小鸟云"),
        ("我想在小鸟云租卡", "小鸟云"),
        ("请问小鸟云的价格", "小鸟云"),
        ("七牛云", "七牛云"),
        ("FooCloud", "FooCloud"),
        ("foocloud", "foocloud"),
        ("在FooCloud上", "FooCloud"),
        ("Foo Cloud prices", "Foo Cloud"),
    ],
)
def test_a_code_or_cloud_in_no_table_is_unknown_and_never_its_neighbour(text: str, words: str) -> None:
    assert found(text) == [("unknown", words)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A100 on Voltage?", "Voltage"),
        ("How much is an A100 on Cloudflare", "Cloudflare"),
        ("A100 at Firmus", "Firmus"),
        ("rent an A100 from TensorWave", "TensorWave"),
        ("what does an A100 cost with Cirrascale", "Cirrascale"),
        ("On Voltage, what is an A100?", "Voltage"),
        ("A100 on Voltage 多少钱", "Voltage"),
    ],
)
def test_a_capitalised_word_where_a_provider_stands_is_an_unknown_provider(text: str, word: str) -> None:
    assert ("unknown", word) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "price of an A100 on Monday", "Cost of an A100 with PyTorch on Linux", "rent A100 from Chinese clouds", "A100 with LoRA",
        "A100 at Alibaba", "A100 on Which cloud?", "A100 with CUDA", "the office is at Greenwich", "A100 with Megatron",
        "全部云的 A100", "所有云的 A100", "别的云 A100 多少钱", "其他云 A100 多少钱", "任意云的 A100",
    ],
)  # fmt: skip
def test_ordinary_capitalised_words_and_clouds_at_large_are_no_unknown_providers(text: str) -> None:
    assert "unknown" not in [kind for kind, _ in found(text)]


def test_an_unknown_cloud_beside_a_known_card_is_not_overlooked() -> None:
    assert found("小鸟云和腾讯云的 A100 哪个便宜") == [
        ("unknown", "小鸟云"), ("provider", "tencent"), ("gpu", "A100"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "SYS-420GP-TNAR", "SYS-821GE-TNHR", "m5.24xlarge", "S5.4XLARGE96", "ecs.c7-c16g1.4xlarge", "n2-standard-48",
        "CPU 是 2*8358，另一套 8468", "32x64 GB DDR4 / DDR5", "NVMe SSD 4-8 TB", "16 vCPU, 125 GiB", "CUDA v12.1, driver v535",
        "P99 延迟和 p95", "H.264 和 H265 转码", "10.10.3.4", "2023-01-30", "GPT-4", "T5 model", "a 72B model", "QLoRA",
        "28.64 元", "4090.5", "14090", "预算 4090 元", "¥3090", "4090 rows", "3060条数据", "A股", "A4 纸", "B2B", "H3C",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_code_links_nothing(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "什么是显卡，CUDA 核心有什么用？", "三家云从便宜到贵排一下", "哪个云最便宜", "用云还是买卡", "三大云厂商", "主流云厂商的价格",
        "国内云和国外云", "云服务器多少钱", "把业务迁到云上", "数据放云端", "今天多云", "老板说云上一个月别超过两万", "上云划算吗",
        "What is a GPU, and why train models on it?", "Is cloud cheaper than buying?", "Which Cloud is best? The Cloud!",
        "A private cloud or a public cloud", "Training, pruning and multi-modal learning", "a vast majority of the volumes",
        "We collaborate; a vault, a model, the moral", "maxpool layers", "NVIDIA 成立于 1993 年", "NVIDIA in 2023",
        "Tesla 3 and Quadro", "端口 8080",
    ],
)  # fmt: skip
def test_ordinary_sentences_link_nothing(text: str) -> None:
    assert found(text) == []


def test_invisible_control_and_half_characters_do_no_harm() -> None:
    assert normalise("A\u200b1\u200d0\ufeff0\x00\ud800 T4") == "A100   T4"


def test_display_speaks_the_readers_language_and_shows_an_unknown_key_as_it_is() -> None:
    assert display("provider", "tencent", "zh") == "腾讯云"
    assert display("provider", "tencent", "en") == "Tencent Cloud"
    assert display("unknown", "H300", "en") == "H300"


def test_spans_count_characters_also_after_a_letter_whose_lower_case_is_longer() -> None:
    (item,) = link("İİ A100")
    assert (item.text, item.start) == ("A100", 3)


def test_a_letter_that_only_python_takes_for_an_i_is_no_letter_of_a_name() -> None:
    assert link("alıyun") == []  # a dotless i, which case folding would match and no spelling holds


ALIASES = [(name.kind, name.key, alias) for name in all_names() for alias in name.aliases]


SHARED = [(name.kind, name.key, alias) for name in all_names() for alias in name.shared]


def test_no_spelling_belongs_to_two_names() -> None:
    owners: dict[str, set[tuple[str, str]]] = {}
    for kind, key, alias in ALIASES + SHARED:
        owners.setdefault("".join(c for c in alias if c not in " -_"), set()).add((kind, key))
    assert [alias for alias, names in owners.items() if len(names) > 1] == []


@pytest.mark.parametrize(("kind", "key", "alias"), ALIASES)
def test_every_spelling_is_normalised_and_links_to_its_own_row_in_any_case(kind: str, key: str, alias: str) -> None:
    assert normalise(alias) == alias
    for text in (alias, alias.upper(), f"价格 {alias}，", f"a {alias}?"):
        assert found(text) == [(kind, key)], text


@pytest.mark.parametrize(("kind", "key", "alias"), SHARED)
def test_a_spelling_that_several_things_share_links_to_its_row_and_says_so(kind: str, key: str, alias: str) -> None:
    (item,) = link(normalise(f"{alias} 要多少显存"))
    assert (item.kind, item.key) == (kind, key)
    assert item.assumed is not None
    assert all(alias in words and key in words for words in item.assumed)


# "A2" and "Modal" as such are a paper size or a word: they need "nvidia" or "labs".
@pytest.mark.parametrize("name", [n for n in all_names() if n.kind != "method" and n.key not in ("A2", "modal")])
def test_what_we_call_a_thing_is_understood_when_readers_say_it_back(name: object) -> None:
    row = next(n for n in all_names() if n is name)
    assert (row.kind, row.key) in found(row.zh)
    assert (row.kind, row.key) in found(row.en)


def test_kinds_in_the_table_are_the_kinds_of_the_code() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        assert {row["kind"] for row in csv.DictReader(file)} == {"gpu", "provider", "model", "method", "workload"}


PIECES = st.sampled_from(
    [alias for _, _, alias in ALIASES] + ["H300", "小鸟云", "tencnet", "A1OO", " ", "的", "-", "x", "8"]
)


@given(st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=3)), max_size=12).map("".join)))
def test_links_are_ordered_apart_and_quote_the_text_whatever_it_is(raw: str) -> None:
    for text in (normalise(raw), raw):
        end = 0
        for item in link(text):
            assert end <= item.start < item.end <= len(text)
            assert text[item.start : item.end] == item.text
            end = item.end


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_normalising_takes_any_text_and_leaves_no_half_characters(text: str) -> None:
    normalise(text).encode("utf-8")
