"""Weights, cache and serving memory against published figures and sums done by hand, and what must hold for any model."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import Calculation
from assistant.tools import ToolError, calculate
from evals.golden_memory import OPERATIONS

GIB = 2**30
LLAMA_3_8B = {
    "name": "Llama-3-8B", "parameters": 8030261248, "active_parameters": 8030261248, "layers": 32, "hidden_size": 4096,
    "attention_heads": 32, "kv_heads": 8, "head_size": 128, "mlp_size": 14336, "vocabulary": 128256, "context_tokens": 8192,
}  # fmt: skip
LLAMA_3_70B = LLAMA_3_8B | {
    "name": "Llama-3-70B", "parameters": 70553706496, "active_parameters": 70553706496, "layers": 80, "hidden_size": 8192,
    "attention_heads": 64, "mlp_size": 28672, "context_tokens": 131072,
}  # fmt: skip
DEEPSEEK_V3 = {
    "name": "DeepSeek-V3", "parameters": 671026419200, "active_parameters": 37552000000, "layers": 61, "hidden_size": 7168,
    "attention_heads": 128, "vocabulary": 129280, "cache": "mla", "mla_rank": 512, "mla_rope_size": 64,
}  # fmt: skip
MIXTRAL = LLAMA_3_8B | {
    "name": "Mixtral-8x7B", "parameters": 46702792704, "active_parameters": 12879925248, "vocabulary": 32000, "experts": 8,
    "experts_per_token": 2,
}  # fmt: skip
GEMMA_3_4B = LLAMA_3_8B | {
    "name": "Gemma-3-4B", "layers": 34, "hidden_size": 2560, "attention_heads": 8, "kv_heads": 4, "head_size": 256,
    "windowed_layers": 29, "window_tokens": 1024, "context_tokens": 131072,
}  # fmt: skip
SIZES = st.integers(10**8, 10**12)
CONTEXTS = st.integers(1, 200_000)
SEQUENCES = st.integers(1, 64)
MODELS = st.sampled_from([LLAMA_3_8B, LLAMA_3_70B, DEEPSEEK_V3, MIXTRAL, GEMMA_3_4B])
PRECISIONS = st.sampled_from(["fp32", "bf16", "fp8", "int8", "awq-int4", "nf4", "nf4-dq", "mxfp4", "q4_k_m"])


def number(result: Calculation, output: str) -> Decimal:
    return Decimal(result.outputs[output])


def cache(model: dict[str, Any], tokens: int = 1, **more: Any) -> Calculation:
    return calculate("kv_cache", model=model, context_tokens=tokens, **more)


@pytest.mark.parametrize(
    ("model", "bytes_per_token"),
    [
        (DEEPSEEK_V3, 70_272),  # arXiv 2505.09343 table 1: 61 x 576 x 2, without a factor of 2 for keys and values
        ({"layers": 80, "cache": "full", "kv_heads": 8, "head_size": 128}, 327_680),  # the same table, Qwen2.5-72B
        ({"layers": 126, "cache": "full", "kv_heads": 8, "head_size": 128}, 516_096),  # the same table, Llama-3.1-405B
        ({"layers": 32, "cache": "full", "kv_heads": 32, "head_size": 128}, 524_288),  # MHA: four times GQA with 8
        (LLAMA_3_8B, 131_072),
        ({"layers": 32, "cache": "full", "kv_heads": 1, "head_size": 64}, 8_192),  # MQA, Falcon-7B
        (MIXTRAL, 131_072),  # experts have no cache
        (
            {"layers": 61, "cache": "full", "kv_heads": 128, "head_size": 192, "value_head_size": 128},
            4_997_120,
        ),  # no MLA
    ],
)
def test_cache_per_token_follows_the_layout(model: dict[str, Any], bytes_per_token: int) -> None:
    assert cache(model).outputs["bytes_per_token"] == bytes_per_token


@pytest.mark.parametrize(
    ("tokens", "mib"), [(1000, "38.146973"), (1024, "39.0625")]
)  # 40,000 B per token: k means 1,000 or 1,024, 2.4 % apart, and is never assumed
def test_tokens_are_counted_one_by_one(tokens: int, mib: str) -> None:
    result = calculate("kv_cache", kv_bytes_per_token=40_000, context_tokens=tokens)
    assert round(number(result, "total_bytes") / 2**20, 6) == Decimal(mib)


@pytest.mark.parametrize(
    ("precision", "mib"), [("fp16", "2196"), ("fp8", "1098"), ("q8_0", "1166.625"), ("q4_0", "617.625")]
)  # 32,768 tokens of DeepSeek-R1; 1,166.62 is what llama.cpp prints for q8_0: 34 bytes per 32 values
def test_cache_precision(precision: str, mib: str) -> None:
    assert number(cache(DEEPSEEK_V3, 32_768, kv_precision=precision), "total_bytes") / 2**20 == Decimal(mib)


def test_windowed_layers_stop_growing_at_their_window() -> None:
    # 5 global layers x 131,072 tokens x 4 KiB = 2,560 MiB as ollama logs; 29 windowed x 1,024 x 4 KiB = 116 MiB
    assert number(cache(GEMMA_3_4B, 131_072), "total_bytes") / 2**20 == 2560 + 116
    with_slack = cache(GEMMA_3_4B, 131_072, window_slack_tokens=512)  # 1,536 cells, 174 MiB
    assert number(with_slack, "total_bytes") / 2**20 == 2560 + 174


def test_cache_blocks_are_whole() -> None:
    assert number(cache(LLAMA_3_8B, 17, block_tokens=16), "total_bytes") == 32 * 131_072


def test_mla_cache_is_whole_on_every_tensor_rank_and_says_so() -> None:
    result = cache(DEEPSEEK_V3, 1000, tensor_parallel=8)
    assert number(result, "per_gpu_bytes") == number(result, "total_bytes") == 70_272_000
    assert "arXiv 2505.09343" in result.assumptions[0].source


@pytest.mark.parametrize(("ranks", "share"), [(1, 1), (2, 2), (8, 8), (16, 8), (32, 8)])
def test_kv_heads_fewer_than_ranks_are_replicated(ranks: int, share: int) -> None:
    result = cache(LLAMA_3_8B, 1000, tensor_parallel=ranks)
    assert number(result, "per_gpu_bytes") == Decimal(131_072_000) / share


@pytest.mark.parametrize(
    ("arguments", "gib"),
    [
        ({"parameters": 8030261248}, "14.958"),  # 14.9575; vLLM logs 14.96
        ({"parameters": 8030261248, "tensor_parallel": 2}, "14.958"),
        ({"parameters": 108310000, "precision": "fp32"}, "0.403"),  # bert-base-cased: 413.18 MiB
        ({"parameters": 8030261248, "precision": "q4_k_m", "bits_per_weight": "4.89"}, "4.571"),  # file: 4.58
        ({"parameters": 46702792704, "precision": "bf16"}, "86.991"),  # Mixtral: all experts
        # (14,768,307,200 - 1,555,824,640) x 4.15625 / 8 + 1,555,824,640 x 2 = 9,975,946,860 B
        ({"parameters": 14768307200, "precision": "awq-int4", "kept_parameters": 1555824640}, "9.291"),
    ],
)
def test_weights(arguments: dict[str, Any], gib: str) -> None:
    assert calculate("model_weights", **arguments).value == Decimal(gib)


def test_gib_and_gb_are_both_shown() -> None:
    result = calculate("model_weights", parameters=8030261248)
    assert "14.958 GiB (16.061 GB)" in result.formula
    assert (number(result, "total_gib"), number(result, "total_gb")) == (Decimal("14.958"), Decimal("16.061"))


def test_weights_of_a_mixture_count_all_experts_not_the_active_ones() -> None:
    assert number(calculate("model_weights", model=MIXTRAL), "total_bytes") == 46702792704 * 2


def test_embedding_and_head_of_a_quantised_checkpoint_stay_in_16_bits() -> None:
    result = calculate("model_weights", model=LLAMA_3_8B, precision="int8")
    embeddings = 2 * 128256 * 4096
    assert number(result, "total_bytes") == (8030261248 - embeddings) + 2 * embeddings
    tied = calculate("model_weights", model=LLAMA_3_8B | {"tied_embeddings": True}, precision="int8")
    assert number(tied, "total_bytes") == 8030261248 + embeddings // 2


@pytest.mark.parametrize(
    ("arguments", "bits"),
    [
        ({"bits": 4, "block": 64, "scale_bits": 32}, "4.5"),
        ({"bits": 4, "block": 64, "scale_bits": 8, "second_block": 256}, "4.126953125"),  # QLoRA: 0.127 bits more
        ({"bits": 4, "block": 128, "scale_bits": 16, "zero_bits": 4}, "4.15625"),
        ({"bits": 4, "block": 32, "scale_bits": 8}, "4.25"),
    ],
)
def test_effective_bits_include_scales(arguments: dict[str, Any], bits: str) -> None:
    assert calculate("quantisation_bits", **arguments).value == Decimal(bits)


def test_vllms_pool_is_what_weights_and_profile_leave_of_its_share() -> None:
    # vLLM pull request 10511: 79.22 x 0.9 - 14.96 - 1.79 - 1.26 = 53.288
    result = calculate("kv_pool", total_gib="79.22", weights_gib="14.96", non_torch_gib="1.79", activation_gib="1.26")
    assert (result.value, result.unit) == (Decimal("53.288"), "GiB")


def test_a_pool_holds_whole_blocks_and_concurrency_is_against_the_longest_sequence() -> None:
    result = calculate("kv_pool", pool_gib="3.81", kv_bytes_per_token=131072, max_model_len=20000)
    blocks = int(Decimal("3.81") * GIB) // (131072 * 16)  # 1,950
    assert (result.outputs["blocks"], result.outputs["tokens"]) == (blocks, blocks * 16)
    assert number(result, "max_concurrency") == Decimal(blocks * 16) / 20000
    assert calculate("kv_pool", pool_tokens=23648, max_model_len=29000).outputs["verdict"] == "no"


def test_serving_memory_is_the_sum_of_its_parts_on_all_gpus() -> None:
    result = calculate("inference_memory", model=LLAMA_3_70B, context_tokens=4096, sequences=2, tensor_parallel=4)
    cache_gib = 4096 * 2 * 327_680 / GIB  # 2.5
    # 2,048 tokens x 4 x 8,192 x 2 B, and a quarter each of 2,048 x 3 x 28,672 x 2 B and of 2 x 128,256 x 6 B
    activations = 2048 * 4 * 8192 * 2 + (2048 * 3 * 28672 * 2 + 2 * 128256 * 6) / 4
    parts = 70553706496 * 2 / GIB + cache_gib + 4 * activations / GIB
    assert float(number(result, "total_low_gib")) == pytest.approx(parts + 4 * 2.0, abs=0.002)
    assert float(number(result, "total_high_gib")) == pytest.approx(parts + 4 * 3.6, abs=0.002)
    assert number(result, "kv_cache_gib") == Decimal("2.5")


@pytest.mark.parametrize(
    ("memory_gib", "verdict"),
    [(19, "tight"), (20, "fits"), (18, "no")],  # weights 14.957 + overhead 1.0 ... 1.8; usable 0.9 of 19 = 17.1
)
def test_verdict_is_tight_between_the_ends_of_the_range(memory_gib: int, verdict: str) -> None:
    model = LLAMA_3_8B
    need = calculate("inference_memory", model=model, context_tokens=1024)  # 16.4 ... 17.2
    assert Decimal("16.2") < number(need, "per_gpu_low_gib") < Decimal("17.1") < number(need, "per_gpu_high_gib") < 18
    fit = calculate("inference_fit", model=model, context_tokens=1024, gpu={"name": "card", "memory_gib": memory_gib})
    single = calculate(
        "inference_fit", model=model, context_tokens=1024, cards=1, gpu={"name": "card", "memory_gib": memory_gib}
    )
    assert single.outputs["verdict"] == verdict
    assert fit.outputs["verdict"] == "fits"
    assert fit.outputs["cards_needed"] == (1 if verdict == "fits" else 2)


def test_70b_in_16_bits_needs_two_cards_of_80_gib_for_weights_but_four_for_a_fleet() -> None:
    gpu = {"name": "H100", "memory_gib": 80}
    one = calculate("inference_fit", model=LLAMA_3_70B, context_tokens=2048, cards=1, gpu=gpu)
    assert one.outputs["verdict"] == "no"  # 131 GiB
    few = calculate("inference_fit", model=LLAMA_3_70B, context_tokens=2048, gpu=gpu)
    assert (few.outputs["cards_needed"], few.outputs["tensor_parallel"]) == (2, 2)  # 65.7 + 0.3 + 3.6 of 72
    many = calculate("inference_fit", model=LLAMA_3_70B, context_tokens=8192, sequences=32, gpu=gpu)
    assert many.outputs["cards_needed"] == 4  # the cache of 32 x 8,192 tokens alone is 80 GiB


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_the_largest_context_and_batch_fit_and_one_more_does_not(engine: str) -> None:
    gpu = {"name": "A100", "memory_gib": 40}
    asked = {"model": LLAMA_3_8B | {"context_tokens": 10**6}, "gpu": gpu, "engine": engine, "cards": 1}
    outputs = calculate("inference_fit", **asked, context_tokens=8192).outputs
    context, batch = int(outputs["largest_context_tokens"]), int(outputs["largest_batch"])

    def headroom(tokens: int, sequences: int) -> Decimal:
        return calculate("inference_fit", **asked, context_tokens=tokens, sequences=sequences).value

    assert headroom(context, 1) >= 0 > headroom(context + 32, 1)  # 32 tokens are 0.004 GiB: more than is rounded off
    assert (
        headroom(8192, batch + 1) < 0 <= headroom(8192, batch) + Decimal("0.05")
    )  # logits grow with the batch a little


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("kv_cache", {"model": LLAMA_3_8B, "context_tokens": 1, "tensor_parallel": 3}, "32 attention heads .* tensor_parallel 3"),
        ("kv_cache", {"model": LLAMA_3_8B | {"attention_heads": 36, "kv_heads": 9}, "context_tokens": 1, "tensor_parallel": 12},
         "9 KV heads .* tensor_parallel 12"),
        ("model_weights", {"model": LLAMA_3_8B, "pipeline_parallel": 33}, "pipeline_parallel 33 exceeds the 32 layers"),
        ("inference_fit", {"model": LLAMA_3_8B, "gpu": {"name": "x", "memory_gib": 80}, "cards": 37}, "over 37 cards"),
        ("kv_cache", {"context_tokens": 100}, "a cache layout is never guessed"),
        ("kv_cache", {"model": LLAMA_3_8B | {"cache": "hybrid"}, "context_tokens": 100}, "hybrid"),
        ("inference_memory", {"parameters": 7e9, "context_tokens": 4096}, "4096 tokens depends on the model's layers"),
        ("inference_memory", {"context_tokens": 4096}, "give model, parameters or weights_gib"),
        ("model_weights", {}, "either model or parameters"),
        ("model_weights", {"parameters": 1e9, "kept_parameters": 2e9}, "kept_parameters 2000000000"),
        ("kv_pool", {"total_gib": 80}, "total_gib and weights_gib, or pool_gib"),
    ],
)  # fmt: skip
def test_impossible_splits_and_unknown_layouts_are_refused_with_the_values(
    tool: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        calculate(tool, **arguments)


@pytest.mark.parametrize("value", [0, -1, 1e30, float("nan"), float("inf"), True, "many"])
@pytest.mark.parametrize(
    ("tool", "field", "rest"),
    [
        ("model_weights", "parameters", {}),
        ("model_weights", "bits_per_weight", {"parameters": 10**9}),
        ("kv_cache", "context_tokens", {"model": LLAMA_3_8B}),
        ("kv_cache", "sequences", {"model": LLAMA_3_8B, "context_tokens": 1}),
        ("inference_memory", "tensor_parallel", {"parameters": 10**9}),
        ("kv_pool", "pool_gib", {}),
        ("quantisation_bits", "block", {"bits": 4}),
    ],
)
def test_zero_negative_and_absurd_input_is_refused_and_named(
    tool: str, field: str, rest: dict[str, Any], value: Any
) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate(tool, **rest, **{field: value})
    assert f"{field}: " in str(refusal.value)
    assert f"got {value!r}" in str(refusal.value)


def test_seven_cards_make_seven_stages_where_heads_do_not_divide() -> None:
    gpu = {"name": "card", "memory_gib": 24}
    outputs = calculate("inference_fit", model=LLAMA_3_8B, gpu=gpu, cards=7).outputs
    assert (outputs["tensor_parallel"], outputs["pipeline_parallel"]) == (1, 7)


def total(**arguments: Any) -> Decimal:
    return number(calculate("inference_memory", **arguments), "total_high_gib")


@settings(max_examples=60, deadline=None)
@given(SIZES, SIZES, PRECISIONS)
def test_more_parameters_never_need_less(parameters: int, more: int, precision: str) -> None:
    assert total(parameters=parameters, precision=precision) <= total(parameters=parameters + more, precision=precision)


@settings(max_examples=60, deadline=None)
@given(MODELS, CONTEXTS, CONTEXTS, SEQUENCES, SEQUENCES)
def test_more_context_or_sequences_never_need_less(
    model: Any, tokens: int, more: int, sequences: int, others: int
) -> None:
    base = total(model=model, context_tokens=tokens, sequences=sequences)
    assert base <= total(model=model, context_tokens=tokens + more, sequences=sequences)
    assert base <= total(model=model, context_tokens=tokens, sequences=sequences + others)


@settings(max_examples=60, deadline=None)
@given(MODELS, CONTEXTS, st.sampled_from([1, 2, 4, 8]), st.integers(1, 26), PRECISIONS)
def test_splitting_never_loses_memory(model: Any, tokens: int, tensor: int, pipeline: int, precision: str) -> None:
    split = {"tensor_parallel": tensor, "pipeline_parallel": pipeline}
    weights = calculate("model_weights", model=model, precision=precision, **split)
    almost = 1 - Decimal("1e-20")  # quotients are rounded to 28 digits
    assert number(weights, "per_gpu_bytes") * tensor * pipeline >= number(weights, "total_bytes") * almost
    kept = cache(model, tokens, **split)
    assert number(kept, "per_gpu_bytes") * tensor * pipeline >= number(kept, "total_bytes") * almost
    assert total(model=model, context_tokens=tokens, **split) >= total(model=model, context_tokens=tokens)


@settings(max_examples=50, deadline=None)
@given(MODELS, CONTEXTS, st.integers(8, 200), st.integers(1, 100))
def test_more_memory_never_needs_more_cards_and_never_worsens_the_verdict(
    model: Any, tokens: int, memory: int, more: int
) -> None:
    small, large = (
        calculate("inference_fit", model=model, context_tokens=tokens, gpu={"name": "card", "memory_gib": size}).outputs
        for size in (memory, memory + more)
    )
    needed, needed_of_larger = int(small["cards_needed"]), int(large["cards_needed"])
    assert not needed or 0 < needed_of_larger <= needed
    assert not needed or small["verdict"] == "fits"


@settings(max_examples=50, deadline=None)
@given(MODELS, PRECISIONS)
def test_fewer_bits_never_need_more(model: Any, precision: str) -> None:
    weights = calculate("model_weights", model=model, precision=precision).value
    assert weights <= calculate("model_weights", model=model, precision="fp32").value


def test_a_published_rows_unknown_key_is_an_error_that_names_key_and_operation() -> None:
    row = {"model": "some model", "params": 10**9, "dtype": "bf16", "engine": "vllm", "what": "weights", "card": "A100"}
    assert OPERATIONS["weights"](row, "GB") == 2
    assert OPERATIONS["weights"](row | {"tp": 2}, "GB/GPU") == 1
    with pytest.raises(ValueError, match=r"weights: .*colour"):
        OPERATIONS["weights"](row | {"colour": "green"}, "GB")
    with pytest.raises(ValueError, match="unit 'parsec'"):
        OPERATIONS["weights"](row, "parsec")
