"""What speaks against a GPU before any price: a number format its cores lack, and export rules.

Judges the row it is given; it reads no table and no law.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assistant.calculator.calculation import number
from assistant.calculator.shapes import GpuSpec
from assistant.evidence import Bilingual

Precision = Literal["fp32", "fp16", "bf16", "int8", "fp8", "fp4"]
# Compute capability from which NVIDIA's tensor cores have the format (CUDA C programming guide).
LOWEST_CAPABILITY = {"bf16": Decimal("8.0"), "fp8": Decimal("8.9"), "fp4": Decimal("10.0")}
RULED_BY_CHINA_EXPORT = {"cn", "china", "中国", "hk", "hong kong", "香港", "mo", "macau", "澳门"}


@dataclass(frozen=True)
class Refusal:
    """Why a GPU is left out: a code for programs, a sentence for readers."""

    code: str
    reason: Bilingual


def ruled(destination: str) -> bool:
    """Whether the export rules on file, those for China with Hong Kong and Macau, speak of this country."""
    return destination.strip().casefold() in RULED_BY_CHINA_EXPORT


def barred(gpu: GpuSpec, destination: str) -> Refusal | None:
    """The refusal of a GPU that may not be exported to this country."""
    if not ruled(destination) or gpu.export_status != "barred":
        return None
    rule = f" ({gpu.export_rule})" if gpu.export_rule else ""
    return Refusal(
        "export", Bilingual(zh=f"禁止出口到 {destination}{rule}", en=f"barred for export to {destination}{rule}")
    )


def licence_note(gpu: GpuSpec, destination: str) -> Bilingual | None:
    """What to say of a GPU whose export needs a licence."""
    if not ruled(destination) or gpu.export_status != "licence":
        return None
    return Bilingual(zh=f"出口到 {destination} 需要许可", en=f"export to {destination} needs a licence")


def without_precision(gpu: GpuSpec, precision: Precision | None) -> Refusal | None:
    """The refusal of a GPU whose tensor cores do not have the format."""
    lowest = LOWEST_CAPABILITY.get(precision or "")
    if lowest is None:
        return None
    if gpu.compute_capability is not None:
        if gpu.compute_capability >= lowest:
            return None
        have = number(gpu.compute_capability)
        return Refusal("precision", Bilingual(zh=f"{precision} 需要计算能力 {lowest}，此卡为 {have}",
                                               en=f"{precision} needs compute capability {lowest}, this GPU has {have}"))  # fmt: skip
    if {"bf16": gpu.bf16_tflops, "fp8": gpu.fp8_tflops}.get(precision or "") is not None:
        return None  # no NVIDIA card: a stated rate shows that it has the format
    return Refusal(
        "precision", Bilingual(zh=f"是否支持 {precision} 没有依据", en=f"nothing shows that it supports {precision}")
    )
