"""The cells of a gpus.csv or models.csv row in words: label and value with its unit, in Chinese and English.

Says what the row says and no more: an empty cell has no words, a figure that sources dispute is a range.
TFLOPS and TOPS are dense everywhere; "80 GB" is the size a card is sold as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from knowledge.hardware import BILLION, ExportStatus, Gpu, Model
from knowledge.table_rows import Span

Language = Literal["zh", "en"]
Words = tuple[str, str]  # (zh, en)

EXPORT_WORDS: dict[ExportStatus, Words] = {
    "barred": ("禁止向中国出口", "barred from export to China"),
    "licence": ("向中国出口需要许可", "export to China needs a licence"),
    "china-model": ("中国特供型号", "a model made for China"),
    "not-us": ("非美国产品", "not a US product"),
    "unknown": ("未核实", "not verified"),
}
TRANSLATED = (  # phrases of the form, interconnect and licence columns, which the table keeps in English
    ("single slot", "单槽"), ("passive", "被动散热"), ("PCIe board with 4 GPUs", "一块 PCIe 板上 4 个 GPU"),
    ("PCIe pair", "PCIe 成对"), ("cloud only", "只在云上"), ("dual-die package", "双芯封装"), ("NVLink bridge", "NVLink 桥"),
    (" (cut)", "（削减）"), ("Superchip", "超级芯片"), ("AWS only", "只在 AWS"), ("commercial use allowed", "允许商用"),
    ("own community licence", "自有社区许可"), ("own model licence", "自有模型许可"), ("own licence", "自有许可"),
    ("code Apache, weights own", "代码 Apache，权重为自有许可"), ("research licence", "研究许可"), ("licence", "许可"),
    ("community", "社区许可"), ("terms", "条款"), ("research", "研究许可"), (" (base)", "（基础模型）"), ("OAM-like module", "类 OAM 模块"),
    ("module", "模块"), ("Desktop", "桌面"),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One fact of a row: its column, what readers call it, and its value in words (both empty where not known)."""

    column: str
    label: Words
    value: Words


def figure(value: Decimal | int) -> str:
    """Plain digits with thousands separators and no trailing zeros: 1,979 and 165.2."""
    text = f"{value:,f}" if isinstance(value, Decimal) else f"{value:,}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def range_of(span: Span | None, unit: str) -> str:
    """989 TFLOPS, or 256–354 TFLOPS where sources disagree; empty for None."""
    if span is None:
        return ""
    return f"{figure(span.low)}–{figure(span.high)} {unit}" if span.disputed else f"{figure(span.low)} {unit}"


def gpu_cells(gpu: Gpu) -> list[Cell]:
    """Every fact column of an accelerator, in the order of the table; unknown ones with an empty value."""
    return [Cell(column, label, value(gpu)) for column, label, value in _GPU_COLUMNS]


def model_cells(model: Model) -> list[Cell]:
    """Every fact column of an open model, in reading order; what does not apply has an empty value."""
    return [Cell(column, label, value(model)) for column, label, value in _MODEL_COLUMNS]


def export_words(gpu: Gpu) -> Words:
    """The status with the date of its rule; an unknown one says so."""
    zh, en = EXPORT_WORDS[gpu.export_status]
    if gpu.export_status == "unknown":
        return zh, en
    rule_zh, rule_en, date = gpu.export_rule_zh, gpu.export_rule_en, gpu.export_rule_date
    zh = rule_zh if zh in rule_zh else f"{zh}（{rule_zh}）"
    en = rule_en if en in rule_en else f"{en} ({rule_en})"
    return (zh, en) if date in zh else (f"{zh}，规则日期 {date}", f"{en}, rule dated {date}")


def row_text(cells: list[Cell], language: Language) -> str:
    """The known cells as `label = value; ...`, as passages and citations quote a row."""
    return "; ".join(f"{label} = {value}" for label, value in known(cells, language))


def known(cells: list[Cell], language: Language) -> Iterator[tuple[str, str]]:
    """Label and value of the cells that have one."""
    side = 0 if language == "zh" else 1
    return ((cell.label[side], cell.value[side]) for cell in cells if cell.value[side])


def _memory(gpu: Gpu) -> Words:
    if gpu.memory is None:
        return (f"容量未知，{gpu.memory_type}", f"size not known, {gpu.memory_type}") if gpu.memory_type else ("", "")
    text = f"{range_of(gpu.memory, gpu.memory_unit)} {gpu.memory_type}".strip()
    return text, text


def _variant(gpu: Gpu) -> Words:
    return ("改装卡，不是原厂规格", "modified card, not a stock one") if gpu.variant else ("", "")


def _of(column: str, unit: str) -> Callable[[Gpu], Words]:
    def value(gpu: Gpu) -> Words:
        span: Span | None = getattr(gpu, column)
        return range_of(span, unit), range_of(span, unit)

    return value


def _plain(column: str) -> Callable[[Gpu | Model], Words]:
    def value(row: Gpu | Model) -> Words:
        text = str(getattr(row, column) or "")
        return in_chinese(text), text

    return value


def _count(column: str, unit: Words = ("", "")) -> Callable[[Model], Words]:
    def value(model: Model) -> Words:
        count: int | None = getattr(model, column)
        return ("", "") if not count else (f"{figure(count)}{unit[0]}", f"{figure(count)}{unit[1]}")

    return value


def in_chinese(text: str) -> str:
    """An English phrase of the tables for Chinese readers; names and codes stay."""
    for english, chinese in TRANSLATED:
        text = text.replace(english, chinese)
    return text


def _year(gpu: Gpu) -> Words:
    return (f"{gpu.release_year} 年", str(gpu.release_year)) if gpu.release_year else ("", "")


def _launch_price(gpu: Gpu) -> Words:
    if gpu.launch_price_usd is None:
        return "", ""
    return f"{figure(gpu.launch_price_usd)} 美元", f"{figure(gpu.launch_price_usd)} USD"


def _nvlink(gpu: Gpu) -> Words:
    text = f"{figure(gpu.nvlink_gb_per_s)} GB/s" if gpu.nvlink_gb_per_s else ""
    return text, text


def _export_source(gpu: Gpu) -> Words:
    if gpu.export_source == "own":
        return "gpu-advisor 自己的整理", "gpu-advisor's own notes"
    return gpu.export_source.replace("GPU selection article 1", "GPU 选型文章一"), gpu.export_source


def _parameters(count: Decimal) -> str:
    return f"{figure(count / BILLION)} B"


def _total(model: Model) -> Words:
    text = _parameters(model.parameters)
    if model.parameters_from == "published":
        return f"{text}（公布值）", f"{text} (published)"
    return f"{text}（按结构算出）", f"{text} (computed from the shape)"


def _active(model: Model) -> Words:
    text = _parameters(model.active_parameters)
    if model.active_parameters == model.parameters:
        return f"{text}（稠密模型，等于总参数）", f"{text} (dense: all of them)"
    return f"{text}（每个 token 经过的参数）", f"{text} (what one token passes through)"


def _cache(model: Model) -> Words:
    if model.cache == "mla":
        return (f"MLA：每层每 token {model.mla_rank} + {model.mla_rope_size} 个值",
                f"MLA: {model.mla_rank} + {model.mla_rope_size} values per layer and token")  # fmt: skip
    return "每层保存 K 与 V", "K and V in every layer"


def _window(model: Model) -> Words:
    if not model.windowed_layers or not model.window_tokens:
        return "", ""
    layers, tokens = figure(model.windowed_layers), figure(model.window_tokens)
    return f"{layers} 层只看最近 {tokens} tokens", f"{layers} layers see only the last {tokens} tokens"


def _experts(model: Model) -> Words:
    if not model.experts:
        return "", ""
    each = figure(model.experts_per_token or 0)
    return f"{figure(model.experts)}，每个 token 用 {each}", f"{figure(model.experts)}, of which a token uses {each}"


def _tied(model: Model) -> Words:
    return ("输入与输出共用", "shared by input and output") if model.tied_embeddings else ("分开", "separate")


_GPU_COLUMNS: tuple[tuple[str, Words, Callable[[Gpu], Words]], ...] = (
    ("name", ("型号", "product"), lambda gpu: (gpu.name, gpu.name)),
    ("variant", ("版本", "variant"), _variant),
    ("vendor", ("厂商", "vendor"), _plain("vendor")),
    ("architecture", ("架构", "architecture"), _plain("architecture")),
    ("release_year", ("发布年份", "release year"), _year),
    ("form_factor", ("形态", "form factor"), _plain("form_factor")),
    ("memory", ("显存", "GPU memory"), _memory),
    ("bandwidth_gb_per_s", ("显存带宽", "memory bandwidth"), _of("bandwidth_gb_per_s", "GB/s")),
    ("fp32_tflops", ("FP32 算力", "FP32"), _of("fp32_tflops", "TFLOPS")),
    ("fp16_tflops", ("FP16 算力（稠密）", "FP16 (dense)"), _of("fp16_tflops", "TFLOPS")),
    ("bf16_tflops", ("BF16 算力（稠密）", "BF16 (dense)"), _of("bf16_tflops", "TFLOPS")),
    ("fp8_tflops", ("FP8 算力（稠密）", "FP8 (dense)"), _of("fp8_tflops", "TFLOPS")),
    ("int8_tops", ("INT8 算力（稠密）", "INT8 (dense)"), _of("int8_tops", "TOPS")),
    ("tdp_w", ("功耗 TDP", "power (TDP)"), _of("tdp_w", "W")),
    ("interconnect", ("互联", "interconnect"), _plain("interconnect")),
    ("nvlink_gb_per_s", ("NVLink 带宽（双向合计）", "NVLink bandwidth (both directions)"), _nvlink),
    ("launch_price_usd", ("美国发售价", "US launch price"), _launch_price),
    ("compute_capability", ("计算能力", "compute capability"), _plain("compute_capability")),
    ("export_status", ("对华出口", "export to China"), export_words),
    ("export_source", ("出口规则的来源", "source of the export rule"), _export_source),
    ("note", ("说明", "note"), lambda gpu: (gpu.note_zh, gpu.note_en)),
)

_MODEL_COLUMNS: tuple[tuple[str, Words, Callable[[Model], Words]], ...] = (
    ("name", ("模型", "model"), lambda model: (model.name, model.name)),
    ("parameters", ("总参数", "parameters"), _total),
    ("active_parameters", ("激活参数", "active parameters"), _active),
    ("layers", ("层数", "layers"), _count("layers")),
    ("hidden_size", ("隐藏维度", "hidden size"), _count("hidden_size")),
    ("attention_heads", ("注意力头", "attention heads"), _count("attention_heads")),
    ("kv_heads", ("KV 头", "KV heads"), _count("kv_heads")),
    ("head_size", ("每头维度", "head size"), _count("head_size")),
    ("mlp_size", ("MLP 宽度", "MLP width"), _count("mlp_size")),
    ("expert_mlp_size", ("单个专家的 MLP 宽度", "MLP width of one expert"), _count("expert_mlp_size")),
    ("experts", ("路由专家数", "routed experts"), _experts),
    ("vocabulary", ("词表", "vocabulary"), _count("vocabulary")),
    ("context_tokens", ("最大上下文", "context length"), _count("context_tokens", (" tokens", " tokens"))),
    ("cache", ("KV 缓存", "KV cache"), _cache),
    ("windowed_layers", ("滑动窗口", "sliding window"), _window),
    ("tied_embeddings", ("词嵌入", "embeddings"), _tied),
    ("licence", ("许可", "licence"), _plain("licence")),
)
