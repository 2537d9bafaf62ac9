"""Reading a prompt and writing tokens: published speeds, two readings of one figure, bounds, what holds for any numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import Calculation
from assistant.tools import ToolError, calculate

A100_GB_PER_S = 2039


def output(result: Calculation, name: str) -> float:
    return float(result.outputs[name])


def near(value: object, expected: float, percent: float) -> bool:
    return abs(float(str(value)) / expected - 1) <= percent / 100


def decode(**arguments: Any) -> Calculation:
    return calculate("decode_rate", **arguments)


def test_prefill_is_two_operations_per_parameter_and_token() -> None:
    """FasterTransformer, 13B, 512 tokens on an A100: 63.17 ms measured."""
    result = calculate(
        "prefill_time", active_parameters=12.85e9, prompt_tokens=512, peak_dense_tflops=312, compute_share="0.7"
    )
    assert near(result.value, 2 * 12.85e9 * 512 / (312e12 * 0.7) * 1000, 0.001)
    assert near(result.value, 63.17, 10)
    assert near(result.outputs["bound_milliseconds"], float(result.value) * 0.7, 0.001)


def test_a_long_prompt_pays_for_its_attention_quadratically() -> None:
    def flops(tokens: int) -> float:
        return output(calculate("prefill_time", active_parameters=8e9, prompt_tokens=tokens, peak_dense_tflops=989,
                                layers=32, hidden_size=4096), "flops")  # fmt: skip

    assert near(flops(1000), 2 * 8e9 * 1000 + 2 * 32 * 4096 * 1e6, 0.001)
    assert flops(100_000) > 100 * flops(1000) * 2


@pytest.mark.parametrize(
    ("weights_gb", "layers", "gpus", "measured", "percent"),
    [
        (13.214, 32, 1, 104.9, 10), (13.214, 32, 2, 168.84, 15), (13.214, 32, 4, 254.02, 15), (13.214, 32, 8, 328.43, 15),
        (137.43, 80, 2, 21.32, 20), (137.43, 80, 4, 38.01, 20), (137.43, 80, 8, 62.5, 15),
    ],
)  # fmt: skip
def test_tensor_parallel_decoding_scales_as_gpt_fast_measured_it(
    weights_gb: float, layers: int, gpus: int, measured: float, percent: int
) -> None:
    """Llama 2 7B and 70B in bf16 on A100s with NVLink: far from linear for the small one."""
    result = decode(weights_read_gb=weights_gb, bandwidth_gb_per_s=A100_GB_PER_S, gpus=gpus, layers=layers)
    assert near(result.value, measured, percent)
    assert output(result, "bound_tokens_per_second") > measured


@pytest.mark.parametrize(
    ("weights_gb", "bandwidth", "bits", "measured"),
    [
        (15.009, 717, 16, 40.29), (15.009, 936, 16, 46.51), (15.009, 768, 16, 40.25), (15.009, 696, 16, 33.95),
        (4.573, 696, 4.85, 88.95), (4.573, 864, 4.85, 113.6), (4.573, 760, 4.85, 106.4), (13.214, 1008, 16, 61.03),
    ],
)  # fmt: skip
def test_defaults_for_gddr_cards_are_within_a_fifth_of_llama_cpp(
    weights_gb: float, bandwidth: int, bits: float, measured: float
) -> None:
    assert near(decode(weights_read_gb=weights_gb, bandwidth_gb_per_s=bandwidth, weight_bits=bits).value, measured, 20)


def test_a_gddr7_card_must_say_what_it_is() -> None:
    as_hbm = decode(weights_read_gb=16, bandwidth_gb_per_s=1792)
    as_gddr = decode(weights_read_gb=16, bandwidth_gb_per_s=1792, memory_kind="gddr")
    assert (as_hbm.value, as_gddr.value) == (Decimal("72.8"), Decimal("89.6"))  # 1792 / 16 = 112; x 0.65, x 0.8


def test_a_small_model_is_bound_by_kernel_launches_and_its_bound_is_not() -> None:
    tiny = decode(weights_read_gb="0.5", bandwidth_gb_per_s=4000)
    assert tiny.outputs["limited_by"] == "launch floor"
    assert output(tiny, "milliseconds_per_token") == 3
    assert output(tiny, "bound_tokens_per_second") == 8000


def test_a_large_batch_is_bound_by_compute() -> None:
    """2 x 8e9 x 4,096 / (100e12 x 0.5) = 1.31072 s, against 0.0246 s of reading."""
    result = decode(
        weights_read_gb=16, bandwidth_gb_per_s=1000, batch=4096, active_parameters=8e9, peak_dense_tflops=100
    )
    assert near(result.outputs["milliseconds_per_token"], 1310.72, 0.001)
    assert (result.outputs["limited_by"], output(result, "bound_milliseconds_per_token")) == ("compute", 655.36)


def test_a_layer_split_has_one_card_s_bandwidth_and_a_tensor_split_all() -> None:
    one = decode(weights_read_gb=40, bandwidth_gb_per_s=936)
    layers = decode(weights_read_gb=40, bandwidth_gb_per_s=936, gpus=2, split="layers")
    tensor = decode(weights_read_gb=40, bandwidth_gb_per_s=936, gpus=2)
    assert layers.value == one.value
    assert near(tensor.value, 2 * float(one.value), 0.001)


@pytest.mark.parametrize(
    ("batch", "share"), [(1, 8 / 128), (2, 1 - (15 / 16) ** 2), (64, 1 - (15 / 16) ** 64), (4096, 1)]
)
def test_a_batch_reads_the_experts_any_of_its_tokens_chooses(batch: int, share: float) -> None:
    """2 GB dense and 64 GB of experts, 8 of 128 a token: 6 GB for one token."""
    result = decode(
        weights_read_gb=6, total_weights_gb=66, experts=128, experts_per_token=8, batch=batch, bandwidth_gb_per_s=4000
    )
    assert near(result.outputs["read_gb_per_step"], 2 + 64 * share, 0.01)


def test_the_cache_is_read_once_per_sequence() -> None:
    result = decode(
        weights_read_gb=10, bandwidth_gb_per_s=2000, batch=8, kv_bytes_per_token=131072, context_tokens=8000
    )
    assert near(result.outputs["read_gb_per_step"], 10 + 8 * 131072 * 8000 / 1e9, 0.001)


@given(
    st.integers(1, 500), st.integers(0, 500), st.sampled_from([8, 16, 64, 256]), st.integers(1, 8), st.integers(1, 2048),
    st.integers(1, 8), st.integers(300, 8000),
)  # fmt: skip
@settings(max_examples=80)
def test_a_larger_batch_more_gpus_and_the_bound_are_never_slower(
    active: int, idle: int, experts: int, chosen: int, batch: int, gpus: int, bandwidth: int
) -> None:
    total = active + idle
    if active * experts < total * chosen:  # the chosen experts alone weigh more than what is read
        active = -(-total * chosen // experts)
    arguments: dict[str, Any] = {
        "weights_read_gb": active, "total_weights_gb": max(total, active), "experts": experts, "experts_per_token": chosen,
        "kv_bytes_per_token": 131072, "context_tokens": 1000, "bandwidth_gb_per_s": bandwidth,
        "active_parameters": active * 10**9, "peak_dense_tflops": 300,
    }  # fmt: skip
    result = decode(batch=batch, gpus=gpus, **arguments)
    assert decode(batch=batch + 1, gpus=gpus, **arguments).value >= result.value
    assert decode(batch=batch, gpus=gpus + 1, **arguments).value >= result.value
    assert output(result, "bound_tokens_per_second") >= float(result.value)


@pytest.mark.parametrize(
    ("tool", "arguments", "fault"),
    [
        ("decode_rate", {"weights_read_gb": 0, "bandwidth_gb_per_s": 1000}, "weights_read_gb.*got 0"),
        ("decode_rate", {"weights_read_gb": 1e30, "bandwidth_gb_per_s": 1000}, r"1e\+30"),
        ("decode_rate", {"weights_read_gb": 16, "bandwidth_gb_per_s": 3.35e12}, "bandwidth_gb_per_s.*3350000000000"),  # bytes
        ("decode_rate", {"weights_read_gb": 60, "total_weights_gb": 6, "experts": 8, "experts_per_token": 2,
                         "bandwidth_gb_per_s": 1000}, "60 exceeds total_weights_gb 6"),
        ("decode_rate", {"weights_read_gb": 1, "total_weights_gb": 60, "experts": 8, "experts_per_token": 2,
                         "bandwidth_gb_per_s": 1000}, "weights_read_gb 1 is less than 2 of 8"),
        ("decode_rate", {"weights_read_gb": 1, "experts": 8, "bandwidth_gb_per_s": 1000}, "together"),
        ("decode_rate", {"weights_read_gb": 1, "active_parameters": 1e9, "bandwidth_gb_per_s": 1000}, "go together"),
        ("prefill_time", {"active_parameters": 7e9, "prompt_tokens": -5, "peak_dense_tflops": 989}, "prompt_tokens.*got -5"),
        ("prefill_time", {"active_parameters": 7e9, "prompt_tokens": 5, "peak_dense_tflops": 989, "layers": 3}, "hidden_size"),
        ("prefill_time", {"active_parameters": 7e9, "prompt_tokens": 5, "peak_dense_tflops": 989e12}, "peak_dense_tflops"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_value(tool: str, arguments: dict[str, Any], fault: str) -> None:
    with pytest.raises(ToolError, match=fault):
        calculate(tool, **arguments)
