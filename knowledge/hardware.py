"""The rows of gpus.csv, models.csv and rates.csv as frozen values: accelerators, open models, currency rates.

Holds what the sources print, dense TFLOPS only; a figure that sources dispute is a Span. It computes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from knowledge.table_rows import Span, decimal, integer, one_of, span

ExportStatus = Literal["barred", "licence", "china-model", "not-us", "unknown"]
EXPORT_STATUSES: tuple[ExportStatus, ...] = ("barred", "licence", "china-model", "not-us", "unknown")
BILLION = Decimal(10) ** 9


@dataclass(frozen=True)
class Gpu:
    """One accelerator in one form. `families` are names.csv keys, the first its own; `variant` "modded" is no stock card.

    `memory` counts in `memory_unit` as the card is sold: an "80 GB" card has 80 GiB less a reserve.
    """

    row: int
    name: str
    families: tuple[str, ...]
    variant: str
    vendor: str
    architecture: str
    release_year: int | None
    form_factor: str
    memory: Span | None
    memory_unit: str
    memory_type: str
    bandwidth_gb_per_s: Span | None
    fp32_tflops: Span | None
    fp16_tflops: Span | None
    bf16_tflops: Span | None
    fp8_tflops: Span | None
    int8_tops: Span | None
    tdp_w: Span | None
    interconnect: str
    nvlink_gb_per_s: Decimal | None
    launch_price_usd: Decimal | None
    compute_capability: str
    export_status: ExportStatus
    export_rule_date: str
    export_rule_zh: str
    export_rule_en: str
    export_source: str
    note_zh: str
    note_en: str
    source: str

    @property
    def family(self) -> str:
        """The names.csv key of the card itself."""
        return self.families[0]


@dataclass(frozen=True)
class Model:
    """One open model's shape. Parameters are counts, not billions; `parameters_from` "shape" = computed from the shape."""

    row: int
    name: str
    parameters: Decimal
    active_parameters: Decimal
    parameters_from: Literal["published", "shape"]
    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int | None
    head_size: int | None
    mlp_size: int | None
    expert_mlp_size: int | None
    vocabulary: int
    context_tokens: int
    cache: Literal["full", "mla"]
    mla_rank: int | None
    mla_rope_size: int | None
    windowed_layers: int
    window_tokens: int | None
    experts: int | None
    experts_per_token: int | None
    tied_embeddings: bool
    licence: str
    source: str


@dataclass(frozen=True)
class Rate:
    """How many units of `currency` one US dollar was worth, on average over `year`."""

    row: int
    currency: str
    units_per_usd: Decimal
    kind: str
    year: int
    source: str


def gpu(number: int, row: dict[str, str]) -> Gpu:
    """A row of gpus.csv. Raises ValueError for a cell that cannot be read."""
    if row["memory_unit"] not in ("", "GB", "GiB") or bool(row["memory"]) != bool(row["memory_unit"]):
        raise ValueError(f"memory {row['memory']!r} in {row['memory_unit']!r}: GB or GiB, and both or neither")
    return Gpu(
        row=number, name=row["name"], families=tuple(row["families"].split(";")), variant=row["variant"],
        vendor=row["vendor"], architecture=row["architecture"], release_year=integer(row["release_year"]),
        form_factor=row["form_factor"], memory=span(row["memory"]), memory_unit=row["memory_unit"],
        memory_type=row["memory_type"], bandwidth_gb_per_s=span(row["bandwidth_gb_per_s"]),
        fp32_tflops=span(row["fp32_tflops"]), fp16_tflops=span(row["fp16_tflops"]), bf16_tflops=span(row["bf16_tflops"]),
        fp8_tflops=span(row["fp8_tflops"]), int8_tops=span(row["int8_tops"]), tdp_w=span(row["tdp_w"]),
        interconnect=row["interconnect"], nvlink_gb_per_s=decimal(row["nvlink_gb_per_s"]),
        launch_price_usd=decimal(row["launch_price_usd"]), compute_capability=row["compute_capability"],
        export_status=one_of(row["export_status"], EXPORT_STATUSES), export_rule_date=row["export_rule_date"],
        export_rule_zh=row["export_rule_zh"], export_rule_en=row["export_rule_en"], export_source=row["export_source"],
        note_zh=row["note_zh"], note_en=row["note_en"], source=row["source"],
    )  # fmt: skip


def model(number: int, row: dict[str, str]) -> Model:
    """A row of models.csv. Raises ValueError for a cell that cannot be read."""
    return Model(
        row=number, name=row["name"], parameters=Decimal(row["parameters_billion"]) * BILLION,
        active_parameters=Decimal(row["active_parameters_billion"]) * BILLION,
        parameters_from=one_of(row["parameters_from"], ("published", "shape")), layers=int(row["layers"]),
        hidden_size=int(row["hidden_size"]), attention_heads=int(row["attention_heads"]), kv_heads=integer(row["kv_heads"]),
        head_size=integer(row["head_size"]), mlp_size=integer(row["mlp_size"]),
        expert_mlp_size=integer(row["expert_mlp_size"]), vocabulary=int(row["vocabulary"]),
        context_tokens=int(row["context_tokens"]), cache=one_of(row["cache"], ("full", "mla")),
        mla_rank=integer(row["mla_rank"]), mla_rope_size=integer(row["mla_rope_size"]),
        windowed_layers=int(row["windowed_layers"]), window_tokens=integer(row["window_tokens"]),
        experts=integer(row["experts"]), experts_per_token=integer(row["experts_per_token"]),
        tied_embeddings=one_of(row["tied_embeddings"], ("yes", "no")) == "yes", licence=row["licence"], source=row["source"],
    )  # fmt: skip


def rate(number: int, row: dict[str, str]) -> Rate:
    """A row of rates.csv."""
    return Rate(number, row["currency"], Decimal(row["units_per_usd"]), row["kind"], int(row["year"]), row["source"])
