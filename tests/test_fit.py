"""Answers about fit: verdicts, counts, contexts and caches, with figures worked out here from published shapes."""

from __future__ import annotations

import pytest
from test_answer import run

GIB, GB = 2**30, 10**9
# layers, KV heads, head size, as the models' configuration files state them
LLAMA_3_8B, LLAMA_2_7B, QWEN_72B = (32, 8, 128), (32, 32, 128), (80, 8, 128)


def cache_gib(shape: tuple[int, int, int], tokens: int, sequences: int = 1) -> str:
    """K and V of 2 bytes for every layer, head and token."""
    layers, heads, size = shape
    return f"{2 * layers * heads * size * 2 * tokens * sequences / GIB:g}"


VERDICTS = [  # question, first words of the card, words that must stand in it
    ("llama3 8b fp16,24G的4090放得下吗,8k上下文", "**够**", ["16.060 GB", "14.957 GiB", "8,192 tokens"]),
    (
        "Does Llama-3-8B in fp16 fit an RTX 4090 at 8k context?",
        "**Yes, it fits**",
        ["16.060 GB", "1.000 GiB", "8,192 tokens"],
    ),
    ("Qwen2.5-72B bf16 on 2x A100 80G 够吗", "**勉强**", ["145.412 GB", "2 张 A100 80 GB", "每卡"]),
    ("Will Qwen2.5-72B in bf16 fit two A100 80GB cards?", "**Tight**", ["145.412 GB", "per card"]),
    ("mixtral 8x7b 每次只激活两个专家,那是不是26G显存就行了", "**不够**", ["93.41 GB", "46.7B", "只决定速度"]),
    ("Mixtral-8x7B fp16 on one 80GB A100?", "**No, it does not fit**", ["93.406 GB", "46.7B", "only decide the speed"]),
    ("4090魔改48G能跑mixtral int4不", "**够**", ["48GB (modded)", "Mixtral-8x7B"]),
    ("falcon-40b int4 一张 A100 40G 放得下吗", "**够**", ["Falcon-40B int4"]),
    ("8x H100 80G 跑 Llama-3.1-405B fp8 够吗", "**够**", ["8 张 H100 80 GB"]),
    ("Can LLaMA-65B in int8 run on 2x A100 80GB?", "**Yes, it fits**", ["LLaMA-65B int8"]),
]


@pytest.mark.parametrize(("question", "start", "words"), VERDICTS)
def test_verdict_stands_first_and_every_figure_is_traced(question: str, start: str, words: list[str]) -> None:
    _, result = run(question, "fit")
    assert result.status == "answered"
    assert result.verified, result.text
    assert result.text.startswith(start), result.text
    assert [word for word in words if word not in result.text] == [], result.text


def test_bare_size_and_bare_memory_give_each_precision_its_own_verdict() -> None:
    """13e9 parameters take 26 GB in 16 bits; only int4 is below 90 % of 16 GiB with its cache."""
    _, result = run("13b 16G显存能跑吗", "fit")
    assert result.verified
    head = result.text.split("\n")[0]
    assert ["bf16/fp16 不够" in head, "int8 不够" in head, "int4 够" in head] == [True] * 3
    assert f"{13e9 * 2 / GB:.0f} GB" in result.text
    assert "Llama-2-13B" in result.text  # whose layers were taken is said
    assert "没说精度" in result.text


def test_a_small_engine_is_named_where_a_server_s_reserve_is_the_reason() -> None:
    _, result = run("13b int8 16G显存能跑吗", "fit")
    assert result.text.startswith("**不够**")
    assert "llama.cpp" in result.text
    assert result.verified


def test_table_of_the_articles_keeps_its_questions_but_not_those_with_a_precision() -> None:
    """80 GB for MPT-30B is what the article says; 3 x 24 GB are less."""
    _, of_article = run("3张4090能不能跑mpt30b", "fit")
    assert [word in of_article.text for word in ("不够", "72 GB", "4 张")] == [True] * 3
    assert of_article.calls[0].tool == "cards_needed"
    _, computed = run("3张4090能不能跑mpt30b int4", "fit")
    assert "inference_fit" in [call.tool for call in computed.calls]


COUNTS = [  # question, words of the head, least that the weights alone allow
    ("70B int4 要几张 4090", "至少 2 张（勉强），4 张才宽裕"),
    ("How many RTX 4090s for a 70B model in int4?", "at least 2× RTX 4090 24 GB (tight), 4 to have room"),
    ("DeepSeek-R1 fp8 要几张 H20", "至少 8 张"),
]


@pytest.mark.parametrize(("question", "words"), COUNTS)
def test_how_many_cards(question: str, words: str) -> None:
    """70e9 x 4.16 bits are 34 GiB and more: one card of 24 holds it not, two only nearly; 671 GB need eight of 96."""
    _, result = run(question, "fit")
    assert words in result.text.split("\n")[0], result.text
    assert result.verified


def test_more_cards_than_split_evenly_are_judged_as_stages() -> None:
    """6 x 24 x 0.9 = 129.6 GiB are less than the 134 GiB of 72e9 x 2 bytes."""
    _, result = run("6张24G跑72B fp16", "fit")
    assert result.text.startswith("**不够**")
    assert f"{72e9 * 2 / GIB:.3f} GiB" in result.text


CACHES = [
    ("Is the KV cache the same size for Llama-2-7B and Llama-3-8B at 4k tokens?", "**No, they differ**",
     [f"Llama-2-7B {cache_gib(LLAMA_2_7B, 4096)} GiB", f"Llama-3-8B {cache_gib(LLAMA_3_8B, 4096)} GiB", "524,288", "131,072"]),
    ("Llama-2-7B 和 Llama-3-8B 的 KV 缓存一样大吗", "**不一样大**", [f"Llama-2-7B {cache_gib(LLAMA_2_7B, 4096)} GiB", "4,096 tokens"]),
    ("Llama-3-8B 和 Llama-3.1-8B 的 KV cache 一样大吗", "**一样大**", [cache_gib(LLAMA_3_8B, 4096)]),
    ("KV cache of Qwen2.5-72B at 32k with 16 concurrent requests", "**The KV cache of Qwen2.5-72B takes",
     [f"{cache_gib(QWEN_72B, 32768, 16)} GiB", "32,768 tokens and 16 requests"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "start", "words"), CACHES)
def test_cache_alone(question: str, start: str, words: list[str]) -> None:
    _, result = run(question, "fit")
    assert result.verified, result.text
    assert result.text.startswith(start), result.text
    assert [word for word in words if word not in result.text] == [], result.text


def test_cache_of_a_bare_size_says_how_far_models_of_that_size_differ() -> None:
    _, result = run("7B 的 KV cache 多大", "fit")
    assert [name in result.text for name in ("Qwen2.5-7B", "Falcon-7B", f"{cache_gib(LLAMA_2_7B, 4096)} GiB")] == [
        True
    ] * 3
    assert result.verified


@pytest.mark.parametrize("question", ["how much VRAM do I need for a 70B model", "70B 模型要多少显存"])
def test_without_a_card_memory_by_precision_and_cards_of_the_usual_sizes(question: str) -> None:
    _, result = run(question, "fit")
    assert result.verified
    assert f"{70e9 * 2 / GB:.0f} GB" in result.text
    assert f"{70e9 * 2 / GIB:.3f} GiB" in result.text  # 130.385
    rows = [line for line in result.text.splitlines() if line.startswith(("| bf16", "| int8", "| int4"))]
    assert len(rows) == 3


@pytest.mark.parametrize(("question", "largest"), [("24G 卡能跑多大的模型", "Qwen2.5-7B"), ("what size of model can a 24GB card run", "Qwen2.5-7B")])  # fmt: skip
def test_largest_model_of_a_card(question: str, largest: str) -> None:
    """15.2 GB of 16-bit weights fit 24 GiB, the next size of the family has 29.5 GB."""
    _, result = run(question, "fit")
    assert result.verified
    assert largest in result.text.split("\n")[0]


def test_longest_context_is_bold_where_asked() -> None:
    _, result = run("A100 80G 能跑 Llama-3.1-70B int4 吗，最大上下文多少", "fit")
    assert "**1 个并发时最长上下文约 " in result.text
    assert result.verified


def test_context_beyond_the_model_is_said() -> None:
    _, result = run("Llama-2-7B fp16 在 24G 卡上跑，上下文长度 32768 够吗", "fit")
    assert "原生最长 4,096 tokens" in result.text
    assert result.verified


def test_unknown_card_is_refused_and_nothing_named_goes_to_the_documents() -> None:
    assert run("RTX 9990 能跑 70B 吗", "fit")[1].status == "not_in_knowledge"
    assert run("要多少显存", "fit")[1].calls == ()


@pytest.mark.parametrize("name", ["GPT-4", "Gemini 1.5 Pro", "Claude 3 Opus", "Kimi-K2", "Qwen2.5-8B"])
def test_model_that_no_row_holds_is_named_and_not_replaced_by_another(name: str) -> None:
    _, result = run(f"{name} 8 张 H100 能跑吗", "fit")
    assert (result.status, result.verified) == ("not_in_knowledge", True), result.text
    assert name.lower() in result.text.lower()


def test_a_length_before_a_number_of_users_is_a_length() -> None:
    _, result = run("Qwen2.5-72B int4 单张 A100 80GB 32k 并发 8 够吗", "fit")
    assert "32,768" in result.text
    assert "32,000" not in result.text
    assert result.verified


@pytest.mark.parametrize(
    ("question", "most"),
    [("biggest model I can serve in fp16 on one 48GB L40S?", 22), ("L40S 48G fp16 最大能跑多大的模型", 22), ("4090 24G 最大的模型 fp16 能跑多大", 10)],
)  # fmt: skip
def test_the_largest_size_of_a_named_card_is_a_size_and_no_row_of_its_figures(question: str, most: int) -> None:
    """90 % of 48 (24) GiB less 1 to 2 GiB of overhead, two bytes a parameter: 22B (10B), 23B (11B) is too large."""
    _, result = run(question, "fit")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert "TFLOPS" not in result.text
    assert f"{most}B" in result.text.splitlines()[0]
    assert most * 2e9 / GIB < (0.9 * 48 if most > 20 else 0.9 * 24) < (most + 2) * 2e9 / GIB + 2


TOGETHER = [  # question, first words, the sum over the cards, the weights in GB
    ("手里八张4090,硬塞llama3.1 405b的int4行不行啊", "**不够**", "8 × 24 GB = 192 GB", "217.1 GB"),
    ("Can I squeeze llama 3.1 405b int4 onto 8x 4090?", "**No, it does not fit**", "8 × 24 GB = 192 GB", "217.1 GB"),
    ("gpt-oss-120b都说一张80G就能跑,我这儿是两块4090,行么", "**不够**", "2 × 24 GB = 48 GB", "65.15 GB"),
    ("two 3090s enough for qwen2.5-72b int4?", "**No, it does not fit**", "2 × 24 GB = 48 GB", "41.46 GB"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "start", "total", "weights"), TOGETHER)
def test_several_cards_are_added_up_beside_the_weights(question: str, start: str, total: str, weights: str) -> None:
    _, result = run(question, "fit")
    assert result.verified, result.text
    assert result.text.startswith(start)
    assert total in result.text
    assert weights in result.text


def test_fewest_cards_are_those_of_the_smallest_precision() -> None:
    """mxfp4 takes 65 GB, bf16 234 GB: "at least" belongs to mxfp4 whatever the order of the table."""
    _, result = run("gpt-oss-120b 两块4090行么", "fit")
    assert "至少要 4 张（mxfp4" in result.text.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "start", "share"),
    [
        ("deepseek r1满血671b的fp8,一台八卡H20(96G那种)塞得下吧?也就三四个人用,上下文顶多32k", "**勉强**：8 张 H20", "调到 95 %"),
        ("does deepseek r1 fp8 fit one box of 8x H20 96GB for 4 people at up to 32k?", "**Tight**", "raised to 95 %"),
    ],
)  # fmt: skip
def test_what_only_a_larger_share_of_each_card_holds_is_tight(question: str, start: str, share: str) -> None:
    """671e9 bytes over 8 cards and 4 x 2.3 GB of MLA cache on each: 89 to 91 GiB, above 0.9 and below 0.95 of 96."""
    _, result = run(question, "fit")
    assert result.verified, result.text
    assert result.text.startswith(start), result.text
    assert share in result.text
    assert "8 × 96 GB = 768 GB" in result.text
    assert "672.9 GB" in result.text


def test_a_share_that_the_reader_set_is_kept() -> None:
    _, result = run("deepseek r1 fp8 八卡 H20 96G,gpu_memory_utilization=0.9,4 人用,上下文 32k,放得下吗", "fit")
    assert result.text.startswith("**不够**")


LONGER = [  # a context that is pulled up afterwards: 60 x 2 x 8 x 128 x 2 B x 32,768 = 7.5 GiB beside 17.9 GiB of weights
    ("yi-34b 4bit 单卡4090跑得起来不", "上下文拉到32k还撑得住吗", "**不够**"),
    ("does yi-34b in 4 bit run on one 4090?", "and with the context pushed up to 32k?", "**No, it does not fit**"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "then", "start"), LONGER)
def test_context_pulled_up_in_a_follow_up_counts(first: str, then: str, start: str) -> None:
    _, result = run(then, "fit", first)
    assert result.verified, result.text
    assert result.text.startswith(start)
    assert "7.500 GiB (8.053 GB)" in result.text


@pytest.mark.parametrize(
    "question",
    [
        "四块A40，先别折腾训练，就把glm-4-9b的bf16部署起来，每人一次丢8k token，最坏二十个人同时用，一张A40能不能搞定，剩下仨我想干别的",
        "We have four A40s, no training, just deploy glm-4-9b in bf16: 20 people at once, 8k tokens each. Is one A40 enough, the other three do something else?",
    ],
)  # fmt: skip
def test_cards_left_over_and_training_put_aside_do_not_count(question: str) -> None:
    """18.8 GB of weights and 20 x 8,192 x 40,960 B of cache on the one card."""
    _, result = run(question, "serving")
    assert result.verified, result.text
    assert result.text.startswith(("**够**：A40 48 GB", "**Yes, it fits**: GLM-4-9B bf16 on A40 48 GB"))
    assert "6.250 GiB (6.711 GB)" in result.text


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("Thinking of getting an RTX 4090 for home use, sensible?", "what if I later want to run a 70B in 4 bit, would two of them do?"),
        ("is a 4090 any good at home?", "could a couple of those hold a 70B at int4?"),
        ("打算买一张 4090", "以后想跑 70B 的 4bit，两张够吗"),
    ],
)  # fmt: skip
def test_two_of_them_are_two_of_the_card_that_was_talked_about(turn: str, question: str) -> None:
    _, result = run(question, "fit", turn)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert result.text.startswith(("**Tight**", "**勉强**")), result.text  # 39.5 GB of weights in 48 GB
    assert "2 × 24 GB = 48 GB" in result.text
