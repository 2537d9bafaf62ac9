"""Bits and bytes per value of weight and cache formats, and the units that memory is stated in.

Knows formats only, no model. Effective bits include scales and zero points.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import NO_TRUTH, Assumption, Calculation, Count, number
from assistant.evidence import Bilingual, Frozen, JsonDecimal

GIB = Decimal(2**30)  # what drivers, torch and vLLM count in, often labelled GB
GB = Decimal(10**9)  # what file listings and papers count in

WeightPrecision = Literal[
    "fp32", "bf16", "fp16", "fp8", "int8", "int4", "int3", "int2", "gptq-int4", "gptq-int8", "awq-int4", "nf4", "nf4-dq", "fp4", "nvfp4",
    "mxfp4", "q2_k", "q3_k_m", "q4_0", "q4_k_m", "q5_k_m", "q6_k", "q8_0",
]  # fmt: skip
CachePrecision = Literal["fp32", "bf16", "fp16", "fp8", "int8", "q8_0", "q5_0", "q4_0"]
BitsPerWeight = Annotated[JsonDecimal, Field(gt=0, le=64), NO_TRUTH]

# Scales per block of weights: GPTQ and AWQ 16 + 4 bits per 128, NF4 32 bits per 64 (QLoRA, arXiv 2305.14314),
# NF4 with double quantisation 8 bits per 64 and 32 per 64 x 256, MXFP4 8 bits per 32 (OCP MX), NVFP4 8 per 16.
# GGUF: bits per weight of whole files, as measured on Llama 3 by llama.cpp users; they include the embeddings.
EFFECTIVE_BITS: dict[WeightPrecision, Decimal] = {
    "fp32": Decimal(32), "bf16": Decimal(16), "fp16": Decimal(16), "fp8": Decimal(8), "int8": Decimal(8),
    "int4": 4 + Decimal(20) / 128, "int3": 3 + Decimal(20) / 128, "int2": 2 + Decimal(20) / 128,
    "gptq-int4": 4 + Decimal(20) / 128, "gptq-int8": 8 + Decimal(24) / 128, "awq-int4": 4 + Decimal(20) / 128,
    "nf4": 4 + Decimal(32) / 64, "nf4-dq": 4 + Decimal(8) / 64 + Decimal(32) / (64 * 256), "mxfp4": 4 + Decimal(8) / 32,
    "fp4": 4 + Decimal(32) / 64, "nvfp4": 4 + Decimal(8) / 16,
    "q2_k": Decimal("2.99"), "q3_k_m": Decimal("3.91"), "q4_0": Decimal("4.55"), "q4_k_m": Decimal("4.85"),
    "q5_k_m": Decimal("5.69"), "q6_k": Decimal("6.56"), "q8_0": Decimal("8.5"),
}  # fmt: skip
SIXTEEN_BIT: frozenset[WeightPrecision] = frozenset(("fp32", "bf16", "fp16"))
WHOLE_FILE: frozenset[WeightPrecision] = frozenset(("q2_k", "q3_k_m", "q4_0", "q4_k_m", "q5_k_m", "q6_k", "q8_0"))
# A scale of 2 bytes per 32 cached values: q8_0 is 34 bytes per 32, q4_0 is 18.
CACHE_BYTES: dict[CachePrecision, Decimal] = {
    "fp32": Decimal(4), "bf16": Decimal(2), "fp16": Decimal(2), "fp8": Decimal(1), "int8": Decimal(1),
    "q8_0": Decimal(34) / 32, "q5_0": Decimal(22) / 32, "q4_0": Decimal(18) / 32,
}  # fmt: skip


def keeps_embeddings(precision: WeightPrecision) -> bool:
    """Whether checkpoints of this format leave embedding and head in 16 bits (GGUF figures already average them in)."""
    return precision not in SIXTEEN_BIT and precision not in WHOLE_FILE


def gib(size_bytes: Decimal) -> Decimal:
    """Bytes in GiB, to a thousandth."""
    return (size_bytes / GIB).quantize(Decimal("0.001"))


def gb(size_bytes: Decimal) -> Decimal:
    """Bytes in decimal GB, to a thousandth."""
    return (size_bytes / GB).quantize(Decimal("0.001"))


def both_units(size_bytes: Decimal) -> str:
    """`7.479 GiB (8.030 GB)`: the two differ by 7.4 %, so both are shown."""
    return f"{gib(size_bytes):,} GiB ({gb(size_bytes):,} GB)"


BINARY_UNITS = Assumption(
    name="unit", value="GiB",
    text=Bilingual(
        zh="显存以 GiB 计（2 的 30 次方字节），与驱动和 vLLM 的读数一致；GB 为十进制，数值大 7.4%",
        en="memory is in GiB (2^30 bytes), as drivers and vLLM read it; the decimal GB figure is 7.4 % larger",
    ),
    source="https://docs.vllm.ai",
)  # fmt: skip


class QuantisationBitsInput(Frozen):
    """A block format: `bits` per value, one constant of `scale_bits` (and a zero point) per `block` values, and, with
    double quantisation, 32 bits per `second_block` constants."""

    bits: BitsPerWeight
    block: Count
    scale_bits: BitsPerWeight = Decimal(16)
    zero_bits: Annotated[JsonDecimal, Field(ge=0, le=64), NO_TRUTH] = Decimal(0)
    second_block: Count | None = None


def quantisation_bits(given: QuantisationBitsInput) -> Calculation:
    """effective bits = bits + (scale + zero) / block + 32 / (block x second block), QLoRA section 3."""
    overhead = (given.scale_bits + given.zero_bits) / given.block
    second = ""
    if given.second_block:
        overhead += Decimal(32) / (given.block * given.second_block)
        second = f" + 32 ÷ ({given.block} × {given.second_block})"
    effective = given.bits + overhead
    return Calculation(
        value=effective, unit="bit/weight",
        formula=f"{number(given.bits)} + ({number(given.scale_bits)} + {number(given.zero_bits)}) ÷ {given.block}{second}"
                f" = {number(effective.quantize(Decimal('0.0001')))} bit/weight",
        outputs={"effective_bits": effective, "overhead_bits": overhead},
    )  # fmt: skip
