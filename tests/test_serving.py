"""Serving: published throughput, capacity by hand, money per token, bounds, and what holds for any numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import Calculation
from assistant.tools import ToolError, calculate

LLAMA_8B: dict[str, Any] = {
    "name": "Llama-3.1-8B", "parameters": 8.03e9, "active_parameters": 8.03e9, "layers": 32, "hidden_size": 4096,
    "attention_heads": 32, "kv_heads": 8, "head_size": 128, "vocabulary": 128256, "context_tokens": 131072,
}  # fmt: skip
LLAMA_70B = LLAMA_8B | {
    "name": "Llama-3.1-70B", "parameters": 70.554e9, "active_parameters": 70.554e9, "layers": 80, "hidden_size": 8192,
    "attention_heads": 64,
}  # fmt: skip
QWEN_MOE = LLAMA_8B | {
    "name": "Qwen3-30B-A3B", "parameters": 30.532e9, "active_parameters": 3.353e9, "layers": 48, "hidden_size": 2048,
    "kv_heads": 4, "vocabulary": 151936, "experts": 128, "experts_per_token": 8,
}  # fmt: skip
H100: dict[str, Any] = {"name": "H100 SXM", "memory_gib": 80, "bandwidth_gb_per_s": 3350, "bf16_tflops": 989,
                        "fp8_tflops": 1979, "nvlink_gb_per_s": 900}  # fmt: skip
L40S: dict[str, Any] = {
    "name": "L40S",
    "memory_gib": 48,
    "bandwidth_gb_per_s": 864,
    "bf16_tflops": 362,
    "fp8_tflops": 733,
}


def output(result: Calculation, name: str) -> float:
    return float(result.outputs[name])


def near(value: object, expected: float, percent: float) -> bool:
    return abs(float(str(value)) / expected - 1) <= percent / 100


def capacity(**arguments: Any) -> Calculation:
    return calculate("serving_capacity", **({"input_tokens": 1000, "output_tokens": 1000} | arguments))


@pytest.mark.parametrize(
    ("parameters", "kv_bytes", "gpus", "isl", "osl", "gpu", "measured", "percent"),
    [
        (8.03e9, 65536, 1, 1000, 1000, H100, 15220, 60),  # TensorRT-LLM, FP8 weights and cache
        (8.03e9, 65536, 1, 2048, 128, H100, 3450, 60),
        (405.85e9, 258048, 8, 1000, 1000, H100, 2919, 60),
        (68.977e9, 163840, 8, 294, 294, H100, 24524.9, 40),  # MLPerf v4.1 offline, Llama 2 70B
        (68.977e9, 163840, 8, 294, 294, H100 | {"memory_gib": 141, "bandwidth_gb_per_s": 4800}, 31302.7, 40),
    ],
)
def test_offline_throughput_is_near_the_published_rows(
    parameters: float, kv_bytes: int, gpus: int, isl: int, osl: int, gpu: dict[str, Any], measured: float, percent: int
) -> None:
    result = calculate(
        "serving_throughput", active_parameters=parameters, weights_gb=parameters / 1e9, kv_bytes_per_token=kv_bytes,
        input_tokens=isl, output_tokens=osl, gpus=gpus, memory_gib=gpu["memory_gib"],
        bandwidth_gb_per_s=gpu["bandwidth_gb_per_s"], peak_dense_tflops=gpu["fp8_tflops"],
    )  # fmt: skip
    assert near(result.value, measured, percent)
    assert output(result, "bound_tokens_per_second") > measured
    both = output(result, "input_and_output_tokens_per_second")
    assert near(both, float(result.value) * (isl + osl) / osl, 0.001)  # the trap: prompts counted as output


def test_throughput_by_hand() -> None:
    """Cards of 2^30 B hold (0.9 x 2^30 - 1e8) / 2e6 = 433 requests; a step reads 1e8 + 433 x 1e4 x 150 B in 7.495e-4 s."""
    result = calculate(
        "serving_throughput", active_parameters=5e7, weights_gb="0.1", kv_bytes_per_token=10_000, input_tokens=100,
        output_tokens=100, memory_gib=1, bandwidth_gb_per_s=1000, peak_dense_tflops=100, compute_share=1, bandwidth_share=1,
    )  # fmt: skip
    assert result.outputs["sequences"] == 433
    bandwidth, compute = 433 / 7.495e-4, 1e14 / 2e8
    assert near(result.outputs["bandwidth_limit"], bandwidth, 0.001)
    assert near(result.value, 1 / (1 / bandwidth + 1 / compute), 0.001)


def test_tensor_parallel_over_pcie_has_a_third_and_one_card_does_not_care() -> None:
    arguments: dict[str, Any] = {
        "active_parameters": 8e9, "weights_gb": 8, "kv_bytes_per_token": 65536, "input_tokens": 500, "output_tokens": 500,
        "memory_gib": 48, "bandwidth_gb_per_s": 864, "peak_dense_tflops": 733,
    }  # fmt: skip
    for gpus, factor in ((1, 1), (8, 3)):
        linked = calculate("serving_throughput", gpus=gpus, **arguments)
        pcie = calculate("serving_throughput", gpus=gpus, interconnect="pcie", **arguments)
        assert near(linked.value, factor * float(pcie.value), 0.001)


def test_capacity_is_near_the_published_throughput_and_uses_the_fp8_peak() -> None:
    """TensorRT-LLM, Llama 3.1 8B FP8 on one H100, 1,000 in and out: 15,220 output tokens/s."""
    result = capacity(model=LLAMA_8B, gpu=H100, weight_precision="fp8", kv_precision="fp8")
    assert near(result.outputs["tokens_per_second"], 15220, 60)
    assert output(result, "bound_tokens_per_second") > 15220
    without = capacity(model=LLAMA_8B, gpu=H100 | {"fp8_tflops": None}, weight_precision="fp8", kv_precision="fp8")
    assert output(without, "tokens_per_second") < output(result, "tokens_per_second")


def test_users_in_memory_are_those_the_cache_holds() -> None:
    """72 GiB less 16.06 GB of weights, 1.8 GiB and the activations of 2,048 tokens; 2,000 tokens of 131,072 bytes each."""
    result = capacity(model=LLAMA_8B, gpu=H100)
    activations = 2048 * (4 * 4096 + 3 * 14336) * 2 + 128256 * 6
    assert output(result, "users_in_memory") == int((70.2 * 2**30 - 16.06e9 - activations) / (2000 * 131072))


@pytest.mark.parametrize(("gpus", "users"), [(1, 1), (1, 8), (2, 4), (4, 64)])
def test_capacity_and_fit_hold_the_same_number_of_requests(gpus: int, users: int) -> None:
    given: dict[str, Any] = {"model": LLAMA_8B, "gpu": H100}
    served = capacity(**given, gpus=gpus, users=users)
    fits = calculate("inference_fit", **given, cards=gpus, sequences=users, context_tokens=2000)
    assert output(served, "users_in_memory") == fits.outputs["largest_batch"] > 0


def test_a_target_limits_the_users_and_the_load_then_takes_replicas() -> None:
    target: dict[str, Any] = {"model": LLAMA_70B, "gpu": H100, "gpus": 4, "min_tokens_per_second_per_user": 25}
    result = capacity(**target, users=500, price_per_gpu_hour=2)
    within = int(result.outputs["users_within_target"])
    assert 1 < within < int(result.outputs["users_in_memory"])
    assert output(capacity(**target, users=within), "tokens_per_second_per_user") >= 25
    assert output(capacity(**target, users=within + 1), "tokens_per_second_per_user") < 25
    assert result.outputs["replicas_needed"] == -(-500 // within)
    assert result.outputs["gpus_needed"] == 4 * -(-500 // within)
    per_million = 4 * 2 / (output(result, "tokens_per_second") * 3600) * 1e6
    assert near(result.outputs["cost_per_million_tokens"], per_million, 0.01)


def test_a_first_token_in_time_limits_the_users_too_and_an_impossible_target_leaves_none() -> None:
    loose = capacity(model=LLAMA_70B, gpu=H100, gpus=4, input_tokens=8000)
    strict = capacity(model=LLAMA_70B, gpu=H100, gpus=4, input_tokens=8000, max_seconds_to_first_token="0.8")
    assert 0 < int(strict.outputs["users_within_target"]) < int(loose.outputs["users_within_target"])
    never = capacity(model=LLAMA_70B, gpu=H100, gpus=4, min_tokens_per_second_per_user=5000, users=3)
    assert never.value == 0
    assert (never.outputs["target_met"], never.outputs["gpus_needed"]) == ("no", 0)


def test_a_mixture_s_weights_are_all_in_memory_and_few_are_read() -> None:
    result = capacity(model=QWEN_MOE, gpu=H100)
    dense = capacity(model=LLAMA_8B, gpu=H100)
    assert output(result, "tokens_per_second_alone") > output(dense, "tokens_per_second_alone")
    with pytest.raises(ToolError, match=r"Qwen3-30B-A3B in bf16 .* do not fit 1 x L40S"):
        capacity(model=QWEN_MOE, gpu=L40S)


def test_without_nvlink_prompts_are_slower() -> None:
    plain = {key: value for key, value in H100.items() if key != "nvlink_gb_per_s"}
    linked, pcie = capacity(model=LLAMA_70B, gpu=H100, gpus=4), capacity(model=LLAMA_70B, gpu=plain, gpus=4)
    assert output(pcie, "seconds_to_first_token_alone") > 1.5 * output(linked, "seconds_to_first_token_alone")
    assert "interconnect" in {note.name for note in pcie.assumptions}


def test_money_per_million_tokens_and_margins_are_the_published_ones() -> None:
    assert near(calculate("cost_per_million_tokens", price_per_hour=1, tokens_per_second=1400).value, 0.2, 1)
    idle = calculate("cost_per_million_tokens", price_per_hour=1, tokens_per_second=1400, utilization="0.5")
    assert near(idle.value, 0.396825, 0.001)  # paid for whether busy or not
    day = calculate(  # DeepSeek, day 6: 342B + 266B in, 168B out
        "token_revenue", cached_input_tokens=342e9, input_tokens=266e9, output_tokens=168e9,
        cached_input_price_per_million="0.14", input_price_per_million="0.55", output_price_per_million="2.19",
    )  # fmt: skip
    assert day.value == Decimal("562100.00")  # 47,880 + 146,300 + 367,920
    gain = calculate("margin", revenue=562027, cost=87072)
    assert near(gain.value, 545, 0.5)
    assert near(gain.outputs["percent_of_revenue"], 84.5, 0.1)


def test_an_average_rate_is_per_machine_and_scaling_says_its_efficiency() -> None:
    assert near(calculate("average_token_rate", tokens=168e9, seconds=86400, machines="226.75").value, 8575, 0.01)
    result = calculate("scaling", rate_of_many="23514.8", rate_of_base="3062.72", gpus=8)
    assert near(result.value, 7.678, 0.01)
    assert near(result.outputs["efficiency_percent"], 95.97, 0.01)


@pytest.mark.parametrize("tied", [True, False])
def test_capacity_by_hand(tied: bool) -> None:
    """1e9 parameters in bf16 on a GDDR card of 1,000 GB/s and 100 TFLOPS, 3 users of 1,000 + 100 tokens."""
    shape = {"name": "tiny", "parameters": 1e9, "active_parameters": 1e9, "layers": 10, "hidden_size": 1000,
             "attention_heads": 10, "kv_heads": 10, "head_size": 100, "vocabulary": 100_000, "tied_embeddings": tied}  # fmt: skip
    card = {"name": "card", "memory_gib": 24, "bandwidth_gb_per_s": 1000, "bf16_tflops": 100}
    result = capacity(output_tokens=100, model=shape, gpu=card, users=3)
    prefill = (2 * 1e9 * 1000 + 2 * 10 * 1000 * 1000**2) / 50e12
    read = 2e9 - (0 if tied else 100_000 * 1000 * 2)  # an untied input embedding is looked up
    step = (read + 3 * 40_000 * 1050) / 800e9  # 2 x 10 layers x 10 heads x 100 x 2 B a token
    assert near(result.outputs["tokens_per_second"], 300 / (3 * prefill + 100 * step), 0.001)
    assert near(result.outputs["tokens_per_second_per_user"], 100 / (2 * prefill + 100 * step), 0.001)
    waiting = prefill * (2 * prefill / (100 * step)) / 2
    assert near(result.outputs["seconds_to_first_token"], prefill + waiting + step, 0.001)


FITTING: dict[str, Any] = {
    "active_parameters": 8e9, "weights_gb": 16, "kv_bytes_per_token": 131072, "input_tokens": 100, "output_tokens": 100,
    "memory_gib": 80, "bandwidth_gb_per_s": 3350, "peak_dense_tflops": 989,
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "arguments", "fault"),
    [
        ("serving_throughput", FITTING | {"weights_gb": 900}, "900 GB of weights.*give more gpus"),
        ("serving_throughput", FITTING | {"output_tokens": 0}, "output_tokens.*got 0"),
        ("serving_capacity", {"input_tokens": 131072, "output_tokens": 1, "model": LLAMA_8B, "gpu": H100}, "131,073 exceed"),
        ("serving_capacity", {"input_tokens": 1, "output_tokens": 1, "model": LLAMA_8B, "gpu": H100, "gpus": 3}, "32 attention"),
        ("serving_capacity", {"input_tokens": 1, "output_tokens": 1, "model": LLAMA_8B,
                              "gpu": {"name": "X", "memory_gib": 80}}, "X has no bandwidth"),
        ("serving_capacity", {"input_tokens": 1, "output_tokens": 1, "model": LLAMA_8B,
                              "gpu": {"name": "X", "memory_gib": 80, "bandwidth_gb_per_s": 900}}, "neither bf16_tflops"),
        ("scaling", {"rate_of_many": 1, "rate_of_base": 1, "gpus": 2, "base_gpus": 4}, "gpus 2 is below base_gpus 4"),
        ("cost_per_million_tokens", {"price_per_hour": 1, "tokens_per_second": 0}, "tokens_per_second.*got 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_value(tool: str, arguments: dict[str, Any], fault: str) -> None:
    with pytest.raises(ToolError, match=fault):
        calculate(tool, **arguments)


@given(
    st.integers(1, 60), st.integers(0, 8000), st.integers(1, 4000), st.integers(1, 16), st.integers(1, 300),
    st.sampled_from(["nvlink", "pcie"]),
)  # fmt: skip
@settings(max_examples=80)
def test_throughput_stays_below_its_bound_and_grows_with_sequences_and_gpus(
    billions: int, isl: int, osl: int, gpus: int, limit: int, link: str
) -> None:
    arguments: dict[str, Any] = {
        "active_parameters": billions * 10**9, "weights_gb": billions, "kv_bytes_per_token": 131072, "input_tokens": isl,
        "output_tokens": osl, "memory_gib": 80, "bandwidth_gb_per_s": 3350, "peak_dense_tflops": 1979,
    }  # fmt: skip
    result = calculate("serving_throughput", gpus=gpus, max_sequences=limit, interconnect=link, **arguments)
    assert output(result, "bound_tokens_per_second") >= float(result.value)
    linked = calculate("serving_throughput", gpus=gpus, max_sequences=limit, **arguments)
    assert calculate("serving_throughput", gpus=gpus, max_sequences=limit + 1, **arguments).value >= linked.value
    assert calculate("serving_throughput", gpus=gpus + 1, max_sequences=limit, **arguments).value >= linked.value


@given(
    st.sampled_from([LLAMA_8B, QWEN_MOE]), st.integers(1, 8000), st.integers(1, 4000), st.integers(1, 400),
    st.sampled_from(["bf16", "fp8", "awq-int4"]), st.sampled_from([1, 2, 4]),
)  # fmt: skip
@settings(max_examples=60)
def test_more_users_get_no_more_each_and_no_less_together(
    model: dict[str, Any], isl: int, osl: int, users: int, precision: str, gpus: int
) -> None:
    def served(users: int) -> Calculation:
        return capacity(
            input_tokens=isl,
            output_tokens=osl,
            model=model,
            gpu=H100,
            gpus=gpus,
            users=users,
            weight_precision=precision,
        )

    few, many = served(users), served(users + 1)
    assert output(many, "tokens_per_second_per_user") <= output(few, "tokens_per_second_per_user")
    assert output(many, "tokens_per_second") >= output(few, "tokens_per_second")
    assert output(many, "seconds_to_first_token") >= output(few, "seconds_to_first_token")
    assert output(few, "bound_tokens_per_second") >= output(few, "tokens_per_second")


@given(st.decimals("0.01", "1000", places=2), st.integers(1, 10**6), st.integers(2, 50))
@settings(max_examples=60)
def test_cost_per_million_is_linear_in_the_price_and_inverse_to_the_rate(price: Decimal, rate: int, times: int) -> None:
    once = calculate("cost_per_million_tokens", price_per_hour=price, tokens_per_second=rate)
    dearer = calculate("cost_per_million_tokens", price_per_hour=price * times, tokens_per_second=rate)
    faster = calculate("cost_per_million_tokens", price_per_hour=price, tokens_per_second=rate * times)
    assert near(dearer.value, times * float(once.value), 0.01)
    assert near(faster.value, float(once.value) / times, 0.01)
