"""Memory of fine-tuning: the verdict first, figures that stand on arithmetic done here, every figure traced."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer import Scripted, run

from assistant.ledger import Ledger
from assistant.served_model import served
from assistant.training_subject import trained
from assistant.understand import understand
from knowledge.catalog import load_catalog

GIB = 2**30
# Qwen2.5-7B's shape for "7B": 28 layers, hidden 3584, 28 heads of which 4 for k and v, vocabulary 152,064.
# One layer keeps 34 bytes per token and value.
LAYER_INPUTS_7B, LAYER_7B = 28 * 2 * 3584, 34 * 3584
LOGITS_7B = 152_064 * 10
ADAPTER_7B = 28 * 8 * ((3584 + 3584) + (3584 + 4 * 128))  # rank 8 on q and v


def lora_7b_gib(tokens: int, *, checkpointing: bool) -> float:
    """bf16 base, adapter with 16 bytes per parameter, activations, logits, and 1.4 GiB for the runtime."""
    activations = LAYER_INPUTS_7B + LAYER_7B if checkpointing else 28 * LAYER_7B
    return (7e9 * 2 + ADAPTER_7B * 16 + tokens * (activations + LOGITS_7B)) / GIB + 1.4


def ask(question: str, *turns: str) -> str:
    _, answer = run(question, "finetune_memory", *turns)
    assert (answer.status, answer.verified) == ("answered", True), answer.text
    return answer.text


@pytest.mark.parametrize(
    ("question", "first_line", "words"),
    [
        ("单张80G的A100能全参微调7B吗", "放不下", ["7B × 16 字节 = **112 GB**", "104.3 GiB", "ZeRO-3", "LoRA", "卸载到内存"]),
        ("Can one 80GB A100 fully fine-tune a 7B model?", "does not fit", ["7B × 16 bytes = **112 GB**", "offloaded", "ZeRO-3"]),
        ("7B全参微调,adam混合精度,光参数梯度优化器就要多少显存", "全参", ["= **112 GB**"]),
        ("6.7B full fine-tune with mixed-precision Adam - static memory?", "full fine-tuning", ["= **107.2 GB**", "99.8 GiB"]),
        ("24G 卡 lora 7b,seq 2048 bs 2 会 OOM 吗", "取决于梯度检查点",
         [f"不开每卡约 {lora_7b_gib(4096, checkpointing=False):.1f} GiB", f"开了约 {lora_7b_gib(4096, checkpointing=True):.1f} GiB"]),
        ("7b lora 24G够不够", "取决于梯度检查点", ["14 GB（13.0 GiB）", f"{lora_7b_gib(2048, checkpointing=True):.1f} GiB"]),
        ("fine-tune Qwen2.5-7B memory", "Qwen2.5-7B", ["7.616B × 16 bytes = **121.856 GB**", "LoRA", "QLoRA"]),
    ],
)  # fmt: skip
def test_verdict_stands_first_and_figures_are_those_of_the_arithmetic(
    question: str, first_line: str, words: list[str]
) -> None:
    text = ask(question)
    assert first_line in text.splitlines()[0]
    assert [word for word in words if word not in text] == [], text


def test_qlora_of_70b_needs_a_base_of_four_bits_and_embedding_of_32() -> None:
    embedding = 2 * 128_256 * 8192  # Llama-3.1-70B lends its shape
    base = (70e9 - embedding) * 4.126953125 / 8 + embedding * 4
    text = ask("QLoRA 微调 70B 要多少显存")
    assert f"{base / 1e9:.3f} GB" in text
    assert "80 GB" in text.splitlines()[0]
    assert "Llama-3.1-70B" in text


@pytest.mark.parametrize("question", ["DeepSeek-V3 full fine-tune memory", "DeepSeek-V3 微调要多少显存"])
def test_rows_that_latent_attention_leaves_open_do_not_hide_the_rest(question: str) -> None:
    text = ask(question)
    assert f"**{671.026 * 16:,.3f} GB**" in text
    assert "MLA" in text
    assert not [line for line in text.splitlines() if line.startswith("| LoRA")]


def test_lora_alone_on_latent_attention_gives_the_frozen_base() -> None:
    text = ask("DeepSeek-V3 LoRA 微调要多少显存")
    assert f"{671.026 * 2:,.3f} GB" in text
    assert "MLA" in text


@pytest.mark.parametrize(
    ("targets", "per_layer"),
    [
        ("all linear layers", 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14_336)),
        ("q,k,v,o,gate,up,down", 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14_336)),
        ("所有线性层", 2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14_336)),
        ("q_proj, k_proj, v_proj, o_proj", 2 * (4096 + 4096) + 2 * (4096 + 1024)),
        ("", (4096 + 4096) + (4096 + 1024)),
    ],
)
def test_targets_that_are_named_are_trained(targets: str, per_layer: int) -> None:
    adapter = 32 * 64 * per_layer  # layers of Llama-3.1-8B x rank
    text = ask(f"LoRA rank 64 {targets} Llama-3.1-8B memory")
    assert f"{adapter:,}" in text
    optimizer = adapter * 12 / GIB  # 4 + 4 + 4 bytes of the adapter's Adam
    assert f"| {optimizer:.{2 if optimizer >= 1 else 3}f} |" in text


@pytest.mark.parametrize("billions", ["0.5", "7", "8", "13", "14", "32", "34", "70", "72", "671"])
def test_bare_size_is_the_same_model_in_training_and_in_inference(billions: str) -> None:
    book = Ledger(load_catalog(), "en")
    request = understand(f"fine-tune {billions}B memory", [], Scripted("finetune_memory"))
    assert trained(request, book)[0].lender == served(request, book)[0].lender


def test_thirty_billion_are_dense() -> None:
    assert "Qwen2.5-32B" in ask("30B 全参微调要多少显存")


def test_sharded_states_are_divided_by_the_cards() -> None:
    text = ask("8 张 A100 40G ZeRO-3 全参微调 Qwen2.5-14B 够吗")
    assert f"| 优化器状态 | {14.77e9 * 12 / 8 / GIB:.1f} |" in text
    assert "× 16 字节 = **236.32 GB**" in text


def test_every_memory_size_of_a_bare_family_gets_its_own_verdict() -> None:
    text = ask("A100 能 QLoRA 微调 70B 吗")
    lines = [line for line in text.splitlines() if "微调 70B" in line]
    assert ["放不下" in lines[0], "够" in lines[1]] == [True, True], lines
    assert "A100 40 GB" in lines[0]
    assert "A100 80 GB" in lines[1]


def test_stated_checkpointing_is_the_only_case() -> None:
    text = ask("两张 4090 能全参微调 Qwen2.5-1.5B 吗，batch 4 序列 4096，开梯度检查点")
    assert "不开梯度检查点" not in text
    assert "logits" in text.split("占得最多的是")[1]  # 16,384 tokens x 151,936 x 10 bytes outweigh the states
    assert f"| logits | {4 * 4096 * 151_936 * 10 / GIB:.1f} |" in text


def test_offloaded_states_are_counted_in_host_memory() -> None:
    text = ask("offload 单卡 4090 能全参微调 7B 吗")
    assert text.startswith("**够")
    assert f"占主机内存 {7e9 * 14 / GIB:.1f} GiB" in text  # gradients and optimizer states: 2 + 12 bytes


def test_no_model_but_a_card_lists_what_it_can_tune() -> None:
    text = ask("24G 显存能微调多大的模型")
    assert "LoRA Qwen2.5-7B" in text.splitlines()[0]
    assert "Qwen2.5-32B" not in text.splitlines()[0]


def test_neither_model_nor_card_asks_back() -> None:
    _, answer = run("LoRA 微调要多少显存", "finetune_memory")
    assert (answer.status, answer.verified) == ("needs_detail", True)


def test_follow_up_changes_only_what_it_says() -> None:
    text = ask("那用 QLoRA 呢", "7B 全参微调 24G 显存够吗")
    assert "QLoRA" in text.splitlines()[0]
    assert text.startswith("**够")


def test_guide_recommendation_stays_beside_the_computed_need() -> None:
    text = ask("训练 LLaMA 65B 要多少显存")
    assert "8,000" in text
    assert "65.286B × 16 字节 = **1,044.576 GB**" in text


@settings(max_examples=40, deadline=None)
@given(
    size=st.sampled_from(["0.5", "1.5", "3", "7", "13", "34", "70", "175", "1000"]),
    method=st.sampled_from(["全参", "LoRA ", "QLoRA ", ""]), card=st.sampled_from(["4090", "A100", "24G", "H100 80G", ""]),
    sequence=st.sampled_from(["", "，序列 512", "，seq 8192 bs 4"]), cards=st.sampled_from(["", "8 张 "]),
)  # fmt: skip
def test_any_combination_is_answered_and_traced(size: str, method: str, card: str, sequence: str, cards: str) -> None:
    text = ask(f"{cards if card else ''}{card} {method}微调 {size}B 要多少显存{sequence}")
    assert f"{Decimal(size)}B" in text


@pytest.mark.parametrize(
    ("question", "heads"),
    [
        ("chatglm3-6b,一张V100 32G,全量和p-tuning v2能做哪个", ["全参 96.4 GiB，放不下", "P-Tuning v2 15.0 GiB，够"]),
        ("ChatGLM3-6B on one V100 32G: full fine-tuning or p-tuning v2?", ["full fine-tuning 96.4 GiB, does not fit", "P-Tuning v2 15.0 GiB, fits"]),
        ("qwen2.5-7b full fine-tuning or qlora on one 4090, which is possible", ["full fine-tuning", "QLoRA 12.1 GiB, fits"]),
    ],
)  # fmt: skip
def test_methods_that_are_set_beside_each_other_are_all_judged(question: str, heads: list[str]) -> None:
    text = ask(question)
    assert [head for head in heads if head not in text.splitlines()[0]] == [], text


def test_a_prefix_trains_k_and_v_of_every_layer_and_freezes_the_base() -> None:
    """ChatGLM3-6B: 28 layers x 2 x 2 KV heads x 128 x 128 prefix tokens; a V100 computes no bf16."""
    text = ask("chatglm3-6b,一张V100 32G,全量和p-tuning v2能做哪个")
    assert f"{28 * 2 * 2 * 128 * 128:,} 个参数" in text
    assert "fp16 混合精度" in text


@pytest.mark.parametrize(
    "question", ["why does lora need so much less vram than a full fine-tune?", "为什么 LoRA 比全量微调省显存"]
)
def test_a_reason_without_a_model_is_left_to_the_documents(question: str) -> None:
    _, result = run(question, "finetune_memory")
    assert result.status == "not_in_knowledge", result.text  # the shelf of this test is empty; nothing is asked back
    assert "B 参数" not in result.text
    assert "billion" not in result.text
