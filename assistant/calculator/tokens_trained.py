"""How many tokens a model can be trained on in a given number of GPU-hours: training_cost the other way round."""

from __future__ import annotations

from assistant.calculator.calculation import Amount, Calculation
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.training_compute import TrainingSpeed, speed_assumptions
from assistant.calculator.training_cost import SECONDS_PER_HOUR
from assistant.evidence import Bilingual


class TokensTrainedInput(TrainingSpeed):
    """GPU-hours on hand; `gpus` says only of which scale the default MFU is."""

    gpu_hours: Amount


def tokens_trained(given: TokensTrainedInput) -> Calculation:
    """tokens = tokens per second per GPU x 3600 x GPU-hours."""
    tokens = given.token_rate * SECONDS_PER_HOUR * given.gpu_hours
    percent = {"mfu_percent": significant(given.model_share * 100, 4)} if given.peak_dense_tflops else {}
    return Calculation(
        value=significant(tokens), unit="token",
        formula=f"{given.speed_formula}; {figure(given.token_rate)} × 3600 × {figure(given.gpu_hours)} = {figure(tokens)} tokens",
        outputs={"tokens": significant(tokens), "gpu_hours": given.gpu_hours,
                 "tokens_per_second_per_gpu": significant(given.token_rate), **percent},
        assumptions=speed_assumptions(given),
        changes_most=Bilingual(zh="与卡时和 MFU 成正比，与参数量成反比", en="proportional to GPU-hours and MFU, inverse to the parameters"),
    )  # fmt: skip
