"""What the headings and cells of a specification table say: the column of gpus.csv, and its value in that column's unit.

TFLOPS are dense here: a heading that speaks of sparsity is none of our columns, and says so. No rows are judged here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from ingest.document_tables import folded, says_nothing
from ingest.price_formats import fold_heading

TEXT_COLUMNS = ("vendor", "architecture", "form_factor", "memory_type")
FIGURES = (
    "memory",
    "bandwidth_gb_per_s",
    "fp32_tflops",
    "fp16_tflops",
    "bf16_tflops",
    "fp8_tflops",
    "int8_tops",
    "tdp_w",
)
RATES = FIGURES[2:7]
UNIT_OF = {"memory": "GB", "bandwidth_gb_per_s": "GB/s", "int8_tops": "TOPS", "tdp_w": "W"}  # all others TFLOPS

NAME_HEADINGS = (
    "gpu gpu型号 gpu名称 gpuname gpumodel gpu卡 card 显卡 显卡型号 显卡名称 型号 卡型 加速卡 加速卡型号 芯片 芯片型号 产品 产品型号"
    " 产品名称 名称 model product productname accelerator name chip"
)
SPARSE = re.compile(r"稀疏|spars|结构化")
# Tables of instances: their memory is the host's or that of all cards together.
OF_INSTANCES = re.compile(r"cpu|实例|instance|卡数|gpu ?(?:数量|count)|节点|\bnodes?\b")
DENSE = re.compile(r"稠密|dense")
NOT_TENSOR = re.compile(r"非张量|向量|vector|non-?tensor|shader|cuda ?core")
NOT_OURS = re.compile(
    r"fp64|tf32|fp6\b|fp4|int4|int32|双精度|nvlink|互联|互连|卡间|interconnect|pcie|主机|host|system|内存带宽|[内外公]网|网络|network"
)
COLUMNS: tuple[tuple[str, str], ...] = (
    ("memory_type", r"显存类型|显存种类|memory type|vram type"),
    ("bandwidth_gb_per_s", r"带宽|bandwidth"),
    (
        "memory",
        r"显存(?!位宽|频率|接口)|\bvram|(?:gpu |video )?memory(?! (?:bus|clock|interface|speed|type|bandwidth))|\bhbm",
    ),
    ("fp32_tflops", r"fp32|单精度|single precision"),
    ("fp16_tflops", r"fp16|半精度|half precision"),
    ("bf16_tflops", r"bf16|bfloat16"),
    ("fp8_tflops", r"fp8"),
    ("int8_tops", r"int8"),
    ("tdp_w", r"功耗|功率|\btd?gp\b|\btdp\b|\bpower\b|\bwatts?\b"),
    ("architecture", r"架构|architecture|\barch\b"),
    ("release_year", r"发布(?:年份|时间|日期|于)?|上市|推出|年份|released?|launch(?:ed)?(?! price)|\byear\b"),
    ("form_factor", r"形态|form ?factor|封装形式"),
    ("vendor", r"厂商|厂家|品牌|制造商|vendor|manufacturer|brand|maker"),
)

FIGURE = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*(.*)")
MEMORY_KIND = re.compile(r"\b(hbm\d?e?|gddr\d\w?|lpddr\d\w?)\b", re.I)
GIBIBYTES_PER_S = Decimal(2**30) / Decimal(10**9)
# Units as folded, longest first where one begins another: (pattern, factor to the column's unit).
UNITS: dict[str, tuple[tuple[str, Decimal], ...]] = {
    "memory": ((r"gib", Decimal(1)), (r"gb?", Decimal(1)), (r"mi?b", Decimal(1) / 1024)),
    "bandwidth_gb_per_s": (
        (r"tib/s", GIBIBYTES_PER_S * 1024), (r"gib/s", GIBIBYTES_PER_S), (r"tb/s|tbps|t/s", Decimal(1000)),
        (r"gb/s|gbps|g/s|gb/sec", Decimal(1)),
    ),
    "rate": ((r"pflops?/?s?|pops|p", Decimal(1000)), (r"gflops?|gops", Decimal("0.001")), (r"tflops?/?s?|tops|tf|t", Decimal(1))),
    "tdp_w": ((r"kw", Decimal(1000)), (r"w|瓦|watts?", Decimal(1))),
}  # fmt: skip
BITS = re.compile(r"[GTM](?:b/s|bps|bit)")


@dataclass(frozen=True)
class SpecColumn:
    """Where a column stands, its heading, the columns of gpus.csv it gives, the unit it states ("" = none)."""

    at: int
    heading: str
    columns: tuple[str, ...]
    unit: str = ""


@dataclass(frozen=True)
class Figure:
    """A value in its column's unit; `unit` is GiB for a memory stated so; `stated` is False where no unit was."""

    value: Decimal
    unit: str
    stated: bool


class UnreadableCellError(Exception):
    """A cell that is no single figure in a unit we know; `zh` and `en` say why."""

    def __init__(self, zh: str, en: str) -> None:
        super().__init__(f"{zh} / {en}")
        self.zh = zh
        self.en = en


def is_name_heading(heading: str) -> bool:
    """Whether a heading means the card itself."""
    bare = re.split(r"[(（\[【]", heading)[0]
    return bool({fold_heading(heading), fold_heading(bare)} & set(NAME_HEADINGS.split()))


def is_sparse(text: str) -> bool:
    """Whether words speak of sparsity and not of dense figures."""
    lowered = folded(text)
    return bool(SPARSE.search(lowered)) and not DENSE.search(lowered)


def spec_column(at: int, heading: str) -> SpecColumn | None:
    """What a heading means; None for nothing we keep. Rates of FP16 and BF16 may share one column."""
    text = folded(heading)
    if NOT_OURS.search(text) or NOT_TENSOR.search(text):
        return None
    found = [column for column, words in COLUMNS if re.search(words, text)]
    if "bandwidth_gb_per_s" in found and "memory" in found:
        found.remove("memory")
    if rates := [column for column in found if column in RATES]:
        found = rates
    if not found:
        return None
    columns = tuple(found if len(found) > 1 and found[0] in RATES else found[:1])
    return SpecColumn(at, heading, columns, _unit_in(heading, columns[0]))


def read_figure(cell: str, column: SpecColumn, name: str) -> Figure | None:
    """The value of a cell; None for an empty one. Raises UnreadableCellError."""
    if says_nothing(cell):
        return None
    match = FIGURE.fullmatch(" ".join(folded(cell).split()))
    if not match:
        raise UnreadableCellError(f"{cell!r} 不是一个单独的数字", f"{cell!r} is no single figure")
    unit = _without_kind(match[3]) or column.unit
    if BITS.search(cell) or (not match[3] and BITS.search(column.heading)):
        raise UnreadableCellError(f"{cell!r} 的单位是比特，不是字节", f"{cell!r} is in bits, not in bytes")
    factor = _factor(unit, name)
    if factor is None:
        raise UnreadableCellError(f"{cell!r} 的单位读不出来", f"the unit of {cell!r} is none we know")
    value = Decimal(match[1].replace(",", "") + (match[2] or "")) * factor
    shown = "GiB" if name == "memory" and unit.startswith(("gib", "mi", "mb")) else UNIT_OF.get(name, "TFLOPS")
    return Figure(value, shown, bool(unit))


def memory_kind(cell: str) -> str:
    """GDDR6 of "48GB GDDR6"; "" where no kind is written."""
    match = MEMORY_KIND.search(cell)
    return match[1].upper().replace("HBM2E", "HBM2e").replace("HBM3E", "HBM3e") if match else ""


def read_year(cell: str) -> str:
    """2024 of 2024, "2024年3月" and "Q1 2024"; "" for anything else."""
    years = re.findall(r"(?<!\d)(20[0-4]\d)(?!\d)", cell)
    return str(years[0]) if len(set(years)) == 1 else ""


def _unit_in(heading: str, column: str) -> str:
    """The unit that a heading states in brackets or behind the word; "" for none."""
    parts = re.split(r"[\s()（）\[\]【】,，:：]+|(?<=[\u4e00-\u9fff])(?=[a-z])|\s/\s", folded(heading))
    return next((part for part in reversed(parts[1:]) if part and _factor(part, column) is not None), "")


def _without_kind(unit: str) -> str:
    """gb of "gb hbm3" and tflops of "tflops (dense)"."""
    return re.sub(r"\(?(?:dense|稠密)\)?", "", MEMORY_KIND.sub("", unit)).strip(" /,，")


def _factor(unit: str, column: str) -> Decimal | None:
    """How many of the column's units one of these is; 1 for none stated, None for another unit."""
    if not unit:
        return Decimal(1)
    units = UNITS["rate" if column in RATES else column] if column in FIGURES else ()
    return next((factor for pattern, factor in units if re.fullmatch(pattern, unit)), None)
