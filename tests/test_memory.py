"""GPU memory: verdicts in plain sentences, and no size or training row in place of what is not known."""

from __future__ import annotations

import pytest
from test_answer import run


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("2张80G的卡能跑falcon 40b吗", "**够**：2 × 80 GB = 160 GB，高于所需的 85–100 GB。"),
        ("Are 2 A100 80GB enough to run Falcon 40B?", "**Enough**: 2 × 80 GB = 160 GB, above the 85–100 GB asked for."),
        ("Is one 80GB H100 enough for MPT-30B?", "one 80 GB H100 has 80 GB, exactly the 80 GB asked for"),
        ("4张24G的卡能跑falcon 40b吗", "4 × 24 GB = 96 GB，过了下限 85 GB，没到上限 100 GB"),
        ("falcon 40b 要多少显存", "85–100 GB 或更多的显存"),
        ("8 张 24G 4090 够小规模微调吗", "**只按显存算不够**：8 × 24 GB = 192 GB，少于推荐配置的 320 GB；至少要 14 张"),
        ("Are eight 24 GB 4090s enough for small-scale fine-tuning?", "8 × 24 GB = 192 GB, below the 320 GB"),
        ("8张H100够小规模微调吗", "**只按显存算够**：8 × 80 GB = 640 GB，高于推荐配置的 320 GB"),
        ("How many H100s for large-scale fine-tuning?", "at least 32 cards"),
        ("小规模微调推荐的 80G A100 全换成 4090，显存总量一样要几张", "**换成 24 GB RTX 4090：按显存总量至少 14 张**"),
        (
            "Swap the guide's four 80 GB A100s (small-scale fine-tuning) for 4090s: how many for the same memory?",
            "**With 24 GB RTX 4090 cards the same memory takes at least 14 cards**",
        ),
    ],
)
def test_verdict_compares_totals_in_a_plain_sentence(question: str, words: str) -> None:
    _, result = run(question, "memory")
    assert (result.status, result.verified, words in result.text) == ("answered", True, True), result.text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("llama 65b 推理要多少显存", "没有运行（推理）"),
        ("How much GPU memory to run inference on LLaMA 65B?", "No memory need is known for running"),
    ],
)
def test_training_row_never_poses_as_the_need_for_running(question: str, words: str) -> None:
    _, result = run(question, "memory")
    assert (result.status, result.verified) == ("not_in_knowledge", True), result.text
    assert words in result.text.splitlines()[0]


def test_training_question_still_gets_its_row() -> None:
    _, result = run("训练 llama 65b 要多少卡", "memory")
    assert (result.status, result.verified, "8,000 张 A100" in result.text) == ("answered", True, True)


@pytest.mark.parametrize(
    ("question", "known"),
    [
        ("H100显存带宽多少", ["2,000 GB/s", "3,350 GB/s", "3,900 GB/s"]),
        ("A100 memory bandwidth?", ["1,555 GB/s", "1,935 GB/s", "2,039 GB/s"]),
        ("A100 算力多少 TFLOPS", ["312 TFLOPS", "624 TOPS", "稠密"]),
        ("H100 功耗", ["350 W", "700 W", "400 W"]),
        ("Does the A100 have NVLink?", ["NVLink", "600 GB/s"]),
    ],
)
def test_memory_size_never_answers_for_another_specification(question: str, known: list[str]) -> None:
    _, result = run(question, "memory")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert [word for word in known if word not in result.text] == [], result.text
    assert "80 GB" not in result.text


@pytest.mark.parametrize(
    ("question", "cards"),
    [("How many A100 80GB for MPT-30B?", "at least 1 card"), ("MPT-30B 用 40G 的 A100 要几张", "至少 2 张")],
)
def test_a_form_named_beside_a_card_decides_its_size(question: str, cards: str) -> None:
    _, result = run(question, "memory")
    assert (result.status, result.verified, cards in result.text) == ("answered", True, True), result.text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("从头训练65B的大模型要什么级别的机器", "8,000 张 A100"),
        ("what kind of machine do I need to train a 65B from scratch", "8,000× A100"),
        ("从零训练一个40B要什么硬件", "384 张 40 GB 显存的 A100"),
    ],
)
def test_a_bare_size_trained_from_scratch_gets_the_recommendation(question: str, words: str) -> None:
    _, result = run(question, "document")
    assert (result.status, result.verified, words in result.text) == ("answered", True, True), result.text
