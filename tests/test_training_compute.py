"""Training FLOPs, time, money and MFU: published runs, the traps between two readings, and what holds for any numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.calculator.calculation import Calculation
from assistant.calculator.magnitudes import figure, significant
from assistant.tools import CALCULATORS, ToolError, calculate
from evals.golden_speed import OPERATIONS
from evals.golden_training import TRAINING_OPERATIONS

COUNTS = st.integers(1, 4096)
PARAMETERS = st.integers(10**8, 10**12)
TOKENS = st.integers(10**6, 10**14)
RATES = st.integers(10, 10**6)
A100, H100 = 312, 989  # dense BF16 TFLOPS


def output(result: Calculation, name: str) -> float:
    return float(result.outputs[name])


def near(value: object, expected: float, percent: float) -> bool:
    return abs(float(str(value)) / expected - 1) <= percent / 100


def test_flops_are_six_per_parameter_and_token_and_eight_when_all_is_recomputed() -> None:
    once = calculate("training_flops", active_parameters=70e9, tokens=1.4e12)
    assert output(once, "flops") == output(once, "executed_flops") == 5.88e23  # 6 x 70e9 x 1.4e12; Chinchilla: 5.76e23
    twice = calculate("training_flops", active_parameters=70e9, tokens=1.4e12, recompute="full")
    assert output(twice, "flops") == 5.88e23
    assert output(twice, "executed_flops") == 7.84e23  # 8 x 70e9 x 1.4e12
    assert once.formula == "(6 × 70,000,000,000) × 1.4e12 = 5.88e23 FLOP"


@pytest.mark.parametrize(
    ("causal", "recompute", "needed", "executed"),
    [
        (False, "none", 6.3e9 + 12 * 4e6 * 32, 6.3e9 + 12 * 4e6 * 32),  # L 2, h 1000, s 64000: L·h·s = 1.28e8
        (True, "none", 6.3e9 + 6 * 4e6 * 32, 6.3e9 + 6 * 4e6 * 32),
        (False, "selective", 6.3e9 + 12 * 4e6 * 32, 6.3e9 + 16 * 4e6 * 32),
        (False, "full", 6.3e9 + 12 * 4e6 * 32, 8.4e9 + 16 * 4e6 * 32),
    ],
)
def test_the_attention_term_doubles_without_a_causal_mask_and_grows_by_a_third_when_recomputed(
    causal: bool, recompute: str, needed: float, executed: float
) -> None:
    result = calculate(
        "training_flops", active_parameters=1.05e9, tokens=1, layers=2, hidden_size=1000, sequence_tokens=64000,
        causal=causal, recompute=recompute,
    )  # fmt: skip
    assert near(result.outputs["flops_per_token"], needed, 0.001)
    assert near(result.outputs["executed_flops_per_token"], executed, 0.001)


def test_a_mixture_is_counted_by_its_active_parameters() -> None:
    """DeepSeek-V3, ISCA 2025 table 2: 250 GFLOP a token; all 671B would be 4,026."""
    shape = {"layers": 61, "attention_heads": 128, "key_size": 192, "value_size": 128, "sequence_tokens": 4096}
    active = calculate("training_flops", active_parameters=37e9, tokens=1, causal=True, **shape)
    assert near(active.value, 250e9, 2)
    everything = calculate("training_flops", active_parameters=671e9, tokens=1)
    assert output(everything, "flops") == 4026e9


@pytest.mark.parametrize(
    ("tokens_per_second", "parameters", "layers", "hidden", "peak", "percent"),
    [
        (10643, 6658859008, 32, 4096, H100, 46.44),  # llm-foundry, MPT-7B on 8 H100
        (857, 29975214080, 48, 7168, A100, 51.74),  # MPT-30B on 32 A100
        (1007, 64862437376, 80, 8192, H100, 41.25),  # MPT-70B on 512 H100
    ],
)
def test_mfu_of_measured_rates_is_that_of_the_benchmark_on_the_dense_peak(
    tokens_per_second: int, parameters: int, layers: int, hidden: int, peak: int, percent: float
) -> None:
    arguments = {"active_parameters": parameters, "layers": layers, "hidden_size": hidden, "sequence_tokens": 2048,
                 "tokens_per_second_per_gpu": tokens_per_second}  # fmt: skip
    assert near(calculate("training_rate", peak_dense_tflops=peak, **arguments).outputs["mfu_percent"], percent, 0.2)
    sparse = calculate("training_rate", peak_dense_tflops=2 * peak, **arguments)
    assert near(sparse.outputs["mfu_percent"], percent / 2, 0.2)  # the sparse peak would halve it


@pytest.mark.parametrize(
    ("parameters", "tokens", "gpus", "tflops", "days"),
    [(175e9, 300e9, 1024, 140, 34), (1e12, 450e9, 3072, 163, 84), (13e9, 300e9, 256, 45, 31.35)],
)
def test_hardware_rates_of_megatron_count_the_recomputation(
    parameters: float, tokens: float, gpus: int, tflops: int, days: float
) -> None:
    arguments = {"active_parameters": parameters, "tokens": tokens, "gpus": gpus, "achieved_tflops": tflops}
    assert near(calculate("training_cost", recompute="full", **arguments).outputs["days"], days, 1)
    six = calculate("training_cost", **arguments)
    assert near(six.outputs["days"], days * 6 / 8, 1)  # the trap: a quarter too short


def test_an_mfu_counts_only_what_the_model_needs_however_much_is_recomputed() -> None:
    arguments: dict[str, Any] = {"active_parameters": 7e9, "tokens": 1e12, "peak_dense_tflops": A100}
    plain = calculate("training_cost", mfu=0.4, **arguments)
    again = calculate("training_cost", mfu=0.4, recompute="full", **arguments)
    assert plain.value == again.value == Decimal("93482.9")  # 6 x 7e9 x 1e12 / (312e12 x 0.4) / 3600 = 93,482.9
    hardware = calculate("training_cost", hardware_share=0.4, recompute="full", **arguments)
    assert near(hardware.value, 93482.9 * 8 / 6, 0.001)


def test_without_a_speed_the_default_is_named_with_its_source_and_its_range_is_shown() -> None:
    result = calculate("training_cost", active_parameters=70e9, tokens=2e12, peak_dense_tflops=A100, gpus=2048,
                       price_per_gpu_hour=2)  # fmt: skip
    (mfu,) = (note for note in result.assumptions if note.name == "mfu")
    assert (mfu.value, bool(mfu.source)) == ("0.4", True)
    assert near(result.value, 1720320, 10)  # Llama 2 70B took 1,720,320 GPU-hours
    assert [(row["mfu"], row["gpu_hours"]) for row in result.rows] == [
        (Decimal("0.25"), Decimal("2991450")), (Decimal("0.40"), Decimal("1869660")), (Decimal("0.50"), Decimal("1495730")),
    ]  # fmt: skip  # 840e21 / (312e12 x mfu) / 3600
    one = calculate("finetune_time", active_parameters=7e9, rows=1000, tokens_per_row=500, peak_dense_tflops=165.2)
    assert [row["mfu"] for row in one.rows] == [Decimal("0.20"), Decimal("0.30"), Decimal("0.35")]


@pytest.mark.parametrize(
    ("more", "percent"),
    [
        ({}, 40),
        ({"restarts": True}, 30),
        ({"recompute": "full"}, 30),
        ({"gpus": 1}, 30),
        ({"gpus": 1, "restarts": True}, 30),
    ],
)
def test_the_default_mfu_is_lower_with_restarts_on_one_card_and_with_recomputation(
    more: dict[str, Any], percent: int
) -> None:
    """Recomputation: 0.40 of the hardware, of which 6 of 8 operations are the model's."""
    result = calculate("training_rate", **({"active_parameters": 7e9, "peak_dense_tflops": A100, "gpus": 64} | more))
    assert output(result, "mfu_percent") == percent


def test_a_measured_speed_has_no_range_and_no_guess() -> None:
    """TinyLlama: 24,000 tokens/s on one A100; 300B tokens took 3,456 GPU-hours, 22B tokens 32 h on 8."""
    long = calculate("training_cost_from_rate", tokens=300e9, tokens_per_second_per_gpu=24000)
    assert near(long.value, 3456, 1)
    short = calculate("training_cost_from_rate", tokens=22e9, tokens_per_second_per_gpu=24000, gpus=8)
    assert near(short.outputs["hours"], 32, 1)
    assert not long.rows
    assert all(note.name != "mfu" for note in long.assumptions)


def test_energy_is_that_of_the_llama_2_card() -> None:
    """184,320 GPU-hours at 400 W and PUE 1.1 are 81,100.8 kWh."""
    result = calculate("gpu_hours_total", gpu_hours=[184320], tdp_w=400, pue="1.1")
    assert output(result, "energy_kwh") == 81100.8


def test_fine_tuning_counts_rows_times_tokens_times_epochs() -> None:
    result = calculate("finetune_time", active_parameters=8e9, rows=10_000, tokens_per_row=512, epochs=3,
                       tokens_per_second_per_gpu=2000, price_per_gpu_hour="2.5", currency="CNY")  # fmt: skip
    assert output(result, "tokens") == 15_360_000
    assert near(result.outputs["hours"], 15_360_000 / 2000 / 3600, 0.001)  # 2.1333 h
    assert (result.outputs["cost"], result.outputs["currency"]) == (Decimal("5.33"), "CNY")


def test_parts_of_a_run_add_up_exactly() -> None:
    """Llama 2: four models, 3,311,616 GPU-hours."""
    total = calculate("gpu_hours_total", gpu_hours=[184320, 368640, 1038336, 1720320], gpus=1024, price_per_gpu_hour=2)
    assert total.value == 3_311_616
    assert total.outputs["cost"] == 6_623_232
    assert near(total.outputs["hours"], 3234, 0.001)


def test_an_iteration_of_megatron_turing_counts_gpus_not_nodes() -> None:
    """MT-NLG 530B, 3,932,160 tokens on 350 nodes of 8 GPUs at 121 TFLOPS: 50.2 s measured."""
    arguments = {
        "active_parameters": 530e9,
        "tokens_per_iteration": 3932160,
        "achieved_tflops": 121,
        "recompute": "full",
    }
    assert near(calculate("iteration_time", gpus=2800, **arguments).value, 50.2, 3)
    assert near(calculate("iteration_time", gpus=350, **arguments).value, 8 * 50.2, 3)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"active_parameters": 7e9, "tokens_per_second_per_gpu": 24000 * 8, "peak_dense_tflops": A100}, "192000 would be 2.*node"),
        ({"active_parameters": 671e9, "tokens_per_second_per_gpu": 2000, "peak_dense_tflops": H100}, "all experts"),
        ({"active_parameters": 7e9, "achieved_tflops": 400, "peak_dense_tflops": A100}, "400 would be 128 %"),
        ({"active_parameters": 7e9}, "no speed"),
        ({"active_parameters": 7e9, "mfu": 0.4}, "peak_dense_tflops"),
        ({"active_parameters": 7e9, "mfu": 0.4, "achieved_tflops": 100, "peak_dense_tflops": A100}, "mfu and achieved_tflops"),
        ({"active_parameters": 7e9, "peak_dense_tflops": 31_664}, "31664"),  # 8 H200 with sparsity, summed
        ({"active_parameters": 7e9, "peak_dense_tflops": A100, "mfu": 40}, "mfu.*40"),  # percent for a share
        ({"active_parameters": 1e30, "peak_dense_tflops": A100}, r"1e\+30"),
        ({"active_parameters": 0, "peak_dense_tflops": A100}, "active_parameters.*got 0"),
        ({"active_parameters": -7e9, "peak_dense_tflops": A100}, "active_parameters.*got -7"),
        ({"active_parameters": True, "peak_dense_tflops": A100}, "True"),
        ({"active_parameters": "nan", "peak_dense_tflops": A100}, "nan"),
        ({"active_parameters": 7e9, "peak_dense_tflops": A100, "gpus": 0}, "gpus.*got 0"),
        ({"active_parameters": 7e9, "peak_dense_tflops": A100, "layers": 32}, "sequence_tokens"),
        ({"active_parameters": 7e9, "peak_dense_tflops": A100, "attention_heads": 32}, "all three"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_value_and_a_way_out(arguments: dict[str, Any], fault: str) -> None:
    with pytest.raises(ToolError, match=fault):
        calculate("training_rate", **arguments)


@given(PARAMETERS, TOKENS, COUNTS, st.integers(2, 50))
@settings(max_examples=60)
def test_time_and_money_are_linear_in_tokens_and_more_gpus_are_never_slower(
    parameters: int, tokens: int, gpus: int, times: int
) -> None:
    def run(tokens: int, gpus: int) -> Calculation:
        return calculate("training_cost", active_parameters=parameters, tokens=tokens, gpus=gpus, mfu="0.4",
                         peak_dense_tflops=A100, price_per_gpu_hour="2")  # fmt: skip

    once, more, wider = run(tokens, gpus), run(tokens * times, gpus), run(tokens, gpus * times)
    assert near(more.value, times * float(once.value), 0.01)
    assert abs(output(more, "cost") - times * output(once, "cost")) <= 0.005 * (times + 1) + 1e-9 * output(more, "cost")
    assert output(wider, "hours") <= output(once, "hours")
    assert wider.value == once.value


@given(PARAMETERS, RATES, st.integers(1, 100))
@settings(max_examples=60)
def test_rate_and_mfu_are_each_other_s_inverse(parameters: int, peak: int, percent: int) -> None:
    peak = min(peak, 20_000)
    there = calculate("training_rate", active_parameters=parameters, peak_dense_tflops=peak, mfu=percent / 100)
    rate = output(there, "tokens_per_second_per_gpu")
    if 0 < rate <= 10**8 and percent < 100:
        back = calculate(
            "training_rate", active_parameters=parameters, peak_dense_tflops=peak, tokens_per_second_per_gpu=rate
        )
        assert near(back.outputs["mfu_percent"], percent, 0.01)


@given(st.decimals(min_value="1e-9", max_value="1e27", allow_nan=False), st.integers(1, 8))
@settings(max_examples=100)
def test_significant_digits_keep_the_value_within_half_a_digit(value: Decimal, digits: int) -> None:
    rounded = significant(value, digits)
    assert abs(rounded - value) <= abs(value) * Decimal(5) / Decimal(10) ** digits
    assert len(rounded.normalize().as_tuple().digits) <= digits


@pytest.mark.parametrize(
    ("value", "text"),
    [("5.88e23", "5.88e23"), ("1308760.4", "1,308,760"), ("0", "0"), ("2e12", "2e12"), ("0.00123", "0.00123")],
)
def test_figures_are_written_out_below_a_trillion(value: str, text: str) -> None:
    assert figure(Decimal(value)) == text


def row(operation: str, unit: str, **inputs: Any) -> float:
    return float(OPERATIONS[operation](inputs, unit))


def test_a_golden_row_runs_through_the_calculators_in_the_unit_asked_for() -> None:
    llama = {
        "params": 6.7e9,
        "tokens": 1e12,
        "peak_flops_dense": 312e12,
        "mfu": 0.4,
        "mfu_source": "default",
        "model": "x",
    }
    hours = row("train_gpu_hours", "GPU-h", **llama)
    assert near(hours, 6 * 6.7e21 / (312e12 * 0.4 * 3600), 0.001)
    assert near(row("train_gpu_hours", "k TPU-h", **llama), hours / 1000, 0.001)
    assert near(row("train_days", "days", **llama, gpus=64), hours / 64 / 24, 0.001)
    assert row("train_flops", "ZFLOP", params=70e9, tokens=1.4e12) == 588
    assert row("train_flops", "FLOP", params=70e9, tokens=1e12, flops_factor=8) == 5.6e23
    assert (
        row("train_gpu_hours", "GPU-h", params=671e9, active_params=37e9, tokens=1e9, peak_flops_dense=989e12, mfu=0.5)
        < 200
    )


def test_a_floor_row_gets_the_time_at_the_best_mfu_it_names() -> None:
    given_row = {"params": 1e9, "tokens": 3.6e12, "peak_flops_dense": 1e15, "check": "floor", "mfu_for_floor": 0.6}
    assert row("train_gpu_hours", "GPU-h", **given_row) == 10_000  # 21.6e21 / 0.6e15 / 3600
    assert row("train_gpu_hours", "GPU-h", **given_row, flops_factor=8) == 10_000


@pytest.mark.parametrize("operation", TRAINING_OPERATIONS)
def test_an_unknown_key_of_a_training_row_is_named_with_its_operation(operation: str) -> None:
    with pytest.raises(ValueError, match=rf"^{operation}: no meaning is known for .*surprise"):
        OPERATIONS[operation]({"surprise": 1, "params": 1e9, "tokens": 1e9}, "h")


def test_an_unknown_unit_or_factor_of_a_row_is_refused() -> None:
    with pytest.raises(ValueError, match="fortnights"):
        row("train_days", "fortnights", params=1e9, tokens=1e9, peak_flops_dense=1e15)
    with pytest.raises(ValueError, match="flops_factor 7"):
        row("train_flops", "FLOP", params=1e9, tokens=1e9, flops_factor=7)


def test_the_training_calculators_are_on_the_menu() -> None:
    assert {"training_flops", "training_cost", "training_cost_from_rate", "training_rate", "finetune_time",
            "iteration_time", "gpu_hours_total"} <= set(CALCULATORS)  # fmt: skip
