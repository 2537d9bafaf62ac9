"""Training memory against published figures and sums done by hand, and what must hold for any job."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.tools import ToolError, calculate
from evals.golden_memory import OPERATIONS

GIB = 2**30
SEVEN_AND_A_HALF = 7_500_000_000
LLAMA_2_7B = {
    "name": "Llama-2-7B", "parameters": 6738415616, "active_parameters": 6738415616, "layers": 32, "hidden_size": 4096,
    "attention_heads": 32, "kv_heads": 32, "head_size": 128, "mlp_size": 11008, "vocabulary": 32000,
}  # fmt: skip
LLAMA_3_8B = LLAMA_2_7B | {
    "name": "Llama-3-8B", "parameters": 8030261248, "active_parameters": 8030261248, "kv_heads": 8, "mlp_size": 14336,
    "vocabulary": 128256,
}  # fmt: skip
MIXTRAL = LLAMA_3_8B | {
    "name": "Mixtral-8x7B", "parameters": 46702792704, "active_parameters": 12879925248, "vocabulary": 32000, "experts": 8,
}  # fmt: skip
MODELS = st.sampled_from([LLAMA_2_7B, LLAMA_3_8B, MIXTRAL])
METHODS = st.sampled_from(["full", "lora", "qlora", "freeze"])
SHARDINGS = st.sampled_from(["none", "zero1", "zero2", "zero3", "fsdp-full", "fsdp-grad-op"])
SEQUENCES = st.integers(1, 32_768)


def output(name: str, **arguments: Any) -> Decimal:
    return Decimal(calculate("training_memory", **arguments).outputs[name])


def states_gb(**arguments: Any) -> Decimal:
    return output("states_per_gpu_bytes", **arguments) / 10**9


@pytest.mark.parametrize(
    ("sharding", "gb"),
    [  # ZeRO, arXiv 1910.02054, figure 1: 7.5e9 parameters on 64 GPUs, decimal GB
        ("none", "120"),  # 16 N
        ("zero1", "31.40625"),  # 4 N + 12 N / 64
        ("zero2", "16.640625"),  # 2 N + 14 N / 64
        ("zero3", "1.875"),  # 16 N / 64
        ("fsdp-grad-op", "16.640625"),
        ("fsdp-full", "1.875"),
    ],
)
def test_zero_shards_one_kind_of_state_more_per_stage(sharding: str, gb: str) -> None:
    assert states_gb(parameters=SEVEN_AND_A_HALF, gpus=64, sharding=sharding) == Decimal(gb)


@pytest.mark.parametrize(
    ("arguments", "bytes_per_parameter"),
    [
        ({}, 16),
        ({"gradients_fp32": True}, 18),  # Hugging Face, LLaMA-Factory, DeepSpeed's estimator
        ({"precision": "bf16"}, 8),
        ({"precision": "fp32"}, 16),
        ({"precision": "bf16", "optimizer": "adam-8bit"}, 6),
        ({"optimizer": "adam-8bit"}, 10),  # 2 + 2 + 4 of the master copy + 2
        ({"optimizer": "sgd"}, 8),
        ({"optimizer": "sgd-momentum"}, 12),
        ({"precision": "bf16", "optimizer": "adam-8bit", "fused_optimizer": True}, 4),
        ({"offload": "optimizer"}, 2),  # gradients go to the host as well
        ({"weight_bytes": 2, "gradient_bytes": 4, "optimizer_bytes": 6}, 12),
    ],
)
def test_bytes_per_parameter_of_full_training(arguments: dict[str, Any], bytes_per_parameter: int) -> None:
    assert output("states_per_gpu_bytes", parameters=10**9, **arguments) == bytes_per_parameter * 10**9


def test_a_mixture_trains_all_its_experts_not_the_active_ones() -> None:
    assert output("states_per_gpu_bytes", model=MIXTRAL) == 16 * 46702792704


def test_tensor_and_pipeline_ranks_are_no_data_parallel_ranks() -> None:
    # 64 GPUs = 8 x 2 x 4: an eighth and half of 16 N on each, of which the optimiser is shared by 4, not by 64
    held = output(
        "states_per_gpu_bytes", parameters=16 * 10**9, gpus=64, tensor_parallel=8, pipeline_parallel=2, sharding="zero1"
    )
    assert held == 4 * 10**9 + 12 * 10**9 / 4
    assert output("data_parallel", parameters=10**9, gpus=64, tensor_parallel=8, pipeline_parallel=2) == 4


@pytest.mark.parametrize(
    ("rank", "targets", "trainable"),
    [
        (8, ["q", "v"], 4_194_304),  # litgpt's table: 32 x 8 x 2 x (4,096 + 4,096)
        (16, ["q", "k", "v", "o"], 16_777_216),
        (8, ["q", "q"], 2_097_152),  # named twice, trained once
        (64, ["q", "k", "v", "o", "gate", "up", "down"], 159_907_840),  # 64 x 32 x (4 x 8,192 + 3 x 15,104)
    ],
)
def test_lora_parameters(rank: int, targets: list[str], trainable: int) -> None:
    assert calculate("lora_parameters", model=LLAMA_2_7B, rank=rank, targets=targets).value == trainable


def test_lora_on_grouped_heads_trains_fewer_value_parameters() -> None:
    assert calculate("lora_parameters", model=LLAMA_3_8B, targets=["v"]).value == 32 * 8 * (4096 + 8 * 128)


def test_lora_keeps_a_frozen_base_and_trains_only_the_adapter() -> None:
    held = output("states_per_gpu_bytes", model=LLAMA_2_7B, method="lora")
    assert held == 2 * 6738415616 + 16 * 4_194_304


def test_qlora_keeps_embedding_and_head_in_32_bits() -> None:
    embeddings = 2 * 32000 * 4096
    base = Decimal(6738415616 - embeddings) * Decimal("4.126953125") / 8
    assert output("states_per_gpu_bytes", model=LLAMA_2_7B, method="qlora") == base + 4 * embeddings + 16 * 4_194_304
    in_16_bits = output("states_per_gpu_bytes", model=LLAMA_2_7B, method="qlora", kept_precision="bf16")
    assert in_16_bits == base + 2 * embeddings + 16 * 4_194_304


def test_freeze_trains_whole_layers() -> None:
    # 2 of 32 layers without the embeddings: 16 B each; the rest 2 B
    layers = Decimal(6738415616 - 2 * 32000 * 4096) * 2 / 32
    assert output("states_per_gpu_bytes", model=LLAMA_2_7B, method="freeze") == 16 * layers + 2 * (6738415616 - layers)


@pytest.mark.parametrize(
    ("arguments", "activation_bytes"),
    [  # arXiv 2205.05198; s x b x h = 1,024 x 2 x 4,096 = 8,388,608, 32 layers, 32 heads
        ({}, 34 * 8388608 * 32),
        ({"flash_attention": False}, (34 * 8388608 + 5 * 32 * 1024 * 1024 * 2) * 32),
        ({"flash_attention": False, "checkpointing": "selective"}, 34 * 8388608 * 32),
        ({"checkpointing": "full"}, 2 * 8388608 * 32 + 34 * 8388608),
        ({"checkpointing": "full", "activation_offload": True}, 34 * 8388608),
        ({"gpus": 8, "tensor_parallel": 8}, 34 * 8388608 * 32 // 8),
        ({"gpus": 8, "tensor_parallel": 8, "sequence_parallel": False}, 13 * 8388608 * 32),  # 10 + 24 / 8
        ({"gpus": 4, "pipeline_parallel": 4}, 34 * 8388608 * 32),  # four micro-batches are in flight
        ({"precision": "fp32"}, 2 * 34 * 8388608 * 32),
    ],
)
def test_activations(arguments: dict[str, Any], activation_bytes: int) -> None:
    gib = output("activations_gib", model=LLAMA_2_7B, sequence_tokens=1024, micro_batch=2, **arguments)
    assert float(gib) == pytest.approx(activation_bytes / GIB, abs=0.0006)


def test_logits_of_a_large_vocabulary_are_counted_unless_the_loss_is_fused() -> None:
    job = {"model": LLAMA_3_8B, "method": "lora", "sequence_tokens": 8192}
    assert float(output("logits_gib", **job)) == pytest.approx(8192 * 128256 * 10 / GIB, abs=0.0006)  # 9.785
    assert output("logits_gib", **job, fused_cross_entropy=True) == 0


def test_zero_3_gathers_a_layer_and_offloading_leaves_nothing_else() -> None:
    # DeepSpeed's documentation: 2,851M parameters, largest layer 32M: 0.12 GiB on the GPU, 18 B x N in the host
    job = {"parameters": 2_851_000_000, "gpus": 8, "sharding": "zero3", "offload": "parameters", "gradients_fp32": True,
           "largest_layer_parameters": 32_000_000}  # fmt: skip
    assert output("states_per_gpu_bytes", **job) == 0
    assert output("gathered_bytes", **job) == 4 * 32_000_000
    assert float(output("host_gib", **job)) == pytest.approx(18 * 2_851_000_000 / GIB, abs=0.01)


def test_the_parts_add_up_to_the_range_and_the_verdict_follows_it() -> None:
    job = {"model": LLAMA_2_7B, "method": "lora", "sequence_tokens": 1304, "micro_batch": 4}
    # litgpt ran out of 40 GB with this job: 13.5 + 23.2 + 1.7 GB and the runtime
    tensors = 2 * 6738415616 + 16 * 4_194_304 + 34 * 4 * 1304 * 4096 * 32 + 4 * 1304 * 32000 * 10
    outputs = calculate("training_memory", **job, gpu={"name": "A100", "memory_gib": 40}).outputs
    assert float(outputs["per_gpu_low_gib"]) == pytest.approx(tensors / GIB + 1.0, abs=0.002)
    assert float(outputs["per_gpu_high_gib"]) == pytest.approx((tensors / GIB + 1.8) * 1.05, abs=0.002)
    assert outputs["verdict"] == "tight"
    for memory, verdict in ((80, "fits"), (24, "no")):
        assert (
            calculate("training_memory", **job, gpu={"name": "x", "memory_gib": memory}).outputs["verdict"] == verdict
        )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gpus": 6, "tensor_parallel": 4}, "gpus 6 is no multiple of tensor_parallel 4"),
        ({"gpus": 3, "tensor_parallel": 3}, "32 attention heads .* tensor_parallel 3"),
        ({"gpus": 64, "pipeline_parallel": 64}, "pipeline_parallel 64 exceeds the 32 layers"),
        ({"method": "freeze", "trainable_layers": 40}, "trainable_layers 40 exceed the model's 32"),
        ({"largest_layer_parameters": 10**10}, "largest_layer_parameters 10000000000 exceed"),
        ({"parameters": 10**9}, "either model or parameters"),
        ({"sharding": "zero4"}, "sharding: .*'zero4'"),
        ({"method": "prompt"}, "method: .*'prompt'"),
        ({"lora_targets": ["x"]}, "lora_targets.0: .*'x'"),
    ],
)
def test_impossible_jobs_are_refused_with_the_values(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ToolError, match=message):
        calculate("training_memory", model=LLAMA_2_7B, **arguments)


@pytest.mark.parametrize("value", [0, -1, 1e30, float("nan"), True, "many"])
@pytest.mark.parametrize("field", ["parameters", "sequence_tokens", "micro_batch", "gpus", "lora_rank"])
def test_zero_negative_and_absurd_input_is_refused_and_named(field: str, value: Any) -> None:
    with pytest.raises(ToolError) as refusal:
        calculate("training_memory", **({"parameters": 10**9} | {field: value}))
    assert f"{field}: " in str(refusal.value)
    assert f"got {value!r}" in str(refusal.value)


def high(**arguments: Any) -> Decimal:
    return output("per_gpu_high_gib", **arguments)


@settings(max_examples=60, deadline=None)
@given(st.integers(10**8, 10**12), st.integers(1, 10**12), METHODS, SEQUENCES)
def test_more_parameters_never_need_less(parameters: int, more: int, method: str, tokens: int) -> None:
    job = {"method": method, "sequence_tokens": tokens, "trainable_layers": 1}
    # A larger model of unknown shape may be rounded to other layers; of the frozen method their share then changes.
    slack = Decimal("0.97") if method == "freeze" else Decimal(1)
    assert high(parameters=parameters, **job) * slack <= high(parameters=parameters + more, **job)


@settings(max_examples=60, deadline=None)
@given(MODELS, METHODS, SHARDINGS, SEQUENCES, SEQUENCES, st.integers(1, 16), st.integers(1, 16))
def test_longer_sequences_and_larger_batches_never_need_less(
    model: Any, method: str, sharding: str, tokens: int, more: int, batch: int, others: int
) -> None:
    job = {"model": model, "method": method, "sharding": sharding, "gpus": 4}
    base = high(**job, sequence_tokens=tokens, micro_batch=batch)
    assert base <= high(**job, sequence_tokens=tokens + more, micro_batch=batch)
    assert base <= high(**job, sequence_tokens=tokens, micro_batch=batch + others)


@settings(max_examples=80, deadline=None)
@given(
    MODELS,
    METHODS,
    SHARDINGS,
    SEQUENCES,
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 8),
    st.integers(1, 8),
    st.booleans(),
)
def test_splitting_never_loses_memory(
    model: Any, method: str, sharding: str, tokens: int, tensor: int, pipeline: int, data: int, sequence_parallel: bool
) -> None:
    job = {"model": model, "method": method, "sequence_tokens": tokens}
    split = {"gpus": tensor * pipeline * data, "tensor_parallel": tensor, "pipeline_parallel": pipeline, "sharding": sharding,
             "sequence_parallel": sequence_parallel}  # fmt: skip
    assert output("total_gib", **job, **split) >= output("total_gib", **job)
    states = output("states_per_gpu_bytes", **job, **split) * tensor * pipeline * data
    assert states >= output("states_per_gpu_bytes", **job) * (1 - Decimal("1e-20"))  # quotients have 28 digits


@settings(max_examples=50, deadline=None)
@given(MODELS, METHODS, st.integers(1, 64))
def test_each_zero_stage_holds_no_more_than_the_one_before(model: Any, method: str, gpus: int) -> None:
    held = [
        output("states_per_gpu_bytes", model=model, method=method, gpus=gpus, sharding=sharding)
        for sharding in ("none", "zero1", "zero2", "zero3")
    ]
    assert held == sorted(held, reverse=True)


def test_a_published_rows_unknown_key_is_an_error_that_names_key_and_operation() -> None:
    row = {"params": SEVEN_AND_A_HALF, "zero_stage": 3, "dp": 64, "bytes_param": 2, "bytes_grad": 2, "bytes_optim": 12}
    assert OPERATIONS["zero_state_memory"](row, "GB/GPU") == Decimal("1.875")
    with pytest.raises(ValueError, match=r"zero_state_memory: .*weather"):
        OPERATIONS["zero_state_memory"](row | {"weather": "fine"}, "GB/GPU")
