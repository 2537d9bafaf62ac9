"""Tables of specifications in documents: units, sparse rates, cards we have, cards we do not, and rows that cannot be true."""

from __future__ import annotations

import pytest
from test_typed_tables import SPECS, document, grid

from ingest.blocks import Block, Grid
from ingest.spec_tables import SpecReport, SpecTable, judge
from ingest.typed_tables import recognised, typed


def specs(*blocks: Block) -> SpecReport:
    parsed = document(*blocks)
    found = typed(parsed, recognised(parsed)[0].number)
    assert isinstance(found, SpecTable)
    return judge(found, "d1", "白皮书.pdf")


def test_a_card_we_have_is_compared_and_never_stored() -> None:
    done = specs(grid(SPECS, "A100 PCIe 80GB|80 GB|1,935 GB/s|312|300 W", "L40S|40 GB|864 GB/s|362|350W"))
    assert done.new == ()
    assert [(each.name, each.column, each.given, each.known) for each in done.compared if each.verdict != "same"] == [
        ("L40S", "memory", "40 GB", "48 GB")
    ]
    assert sum(each.verdict == "same" for each in done.compared) == 7


def test_a_card_we_do_not_have_is_read_in_our_units() -> None:
    (card,) = specs(grid(SPECS, "MTT S4000 48GB|48GB GDDR6|0.768 TB/s|100|450W", "A10|24G|600GB/s|125|150W")).new
    assert (card.name, card.family, card.memory, card.memory_unit, card.memory_type) == (
        "MTT S4000 48GB", "MTT S4000", "48", "GB", "GDDR6",
    )  # fmt: skip
    assert (card.bandwidth_gb_per_s, card.fp16_tflops, card.tdp_w) == ("768", "100", "450")
    assert (card.document_id, card.source) == ("d1", "白皮书.pdf · 表 1 (table 1)")


@pytest.mark.parametrize(
    ("heading", "cell", "column", "value"),
    [
        ("显存（GB）", "48", "memory", "48 GB"), ("Memory (GiB)", "48", "memory", "48 GiB"), ("VRAM", "49152 MiB", "memory", "48 GiB"),
        ("显存", "48 G", "memory", "48 GB"), ("带宽（TB/s）", "1.6", "bandwidth_gb_per_s", "1600 "), ("Memory bandwidth", "1000 GiB/s", "bandwidth_gb_per_s", "1073.742 "),
        ("显存带宽 GB/s", "900", "bandwidth_gb_per_s", "900 "), ("FP16 算力（PFLOPS）", "1.2", "fp16_tflops", "1200 "), ("BF16 / FP16 TFLOPS", "300", "bf16_tflops", "300 "),
        ("INT8 TOPS", "600", "int8_tops", "600 "), ("FP32", "30 TFLOPS", "fp32_tflops", "30 "), ("功耗（kW）", "0.6", "tdp_w", "600 "),
        ("发布年份", "2024年3月", "release_year", "2024 "), ("架构", "MUSA 3", "architecture", "MUSA 3 "), ("显存类型", "HBM2e", "memory_type", "HBM2e "),
    ],
)  # fmt: skip
def test_units_of_heading_and_cell_become_ours(heading: str, cell: str, column: str, value: str) -> None:
    (card,) = specs(grid(f"型号|{heading}|CUDA 核心数|单精度 (TFLOPS)|TGP", f"XX900|{cell}|1|20|300 W")).new
    unit = card.memory_unit if column == "memory" else ""
    assert f"{getattr(card, column)} {unit}" == value


def test_bits_are_no_bytes_and_the_rest_of_the_row_is_kept() -> None:
    done = specs(grid("型号|显存|带宽|TDP", "XX900|48 GB|900 Gbps|300 W"))
    assert [(card.memory, card.bandwidth_gb_per_s) for card in done.new] == [("48", "")]
    assert any("in bits" in en for _, en in done.notes)


@pytest.mark.parametrize(
    ("heading", "caption"),
    [
        ("FP16 TFLOPS (with sparsity)", ""),
        ("FP16 稀疏算力", ""),
        ("FP16 TFLOPS", "Rates are with sparsity"),
        ("FP16（TFLOPS）", "算力为结构化稀疏值"),
    ],
)
def test_sparse_rates_are_left_out_by_their_heading_or_the_tables_words(heading: str, caption: str) -> None:
    table = grid(
        f"Model|Memory|Bandwidth|{heading}", "XX900|48 GB|900 GB/s|600", "YY800|24 GB|600 GB/s|300", caption=caption
    )
    done = specs(table)
    assert [card.fp16_tflops for card in done.new] == ["", ""]
    assert [left[0] for left in done.left_out] == [heading]


def test_a_column_that_doubles_a_known_card_is_sparse_for_the_new_card_too() -> None:
    done = specs(grid(SPECS, "XX900|48 GB|900 GB/s|600|300 W", "H100 SXM|80 GB|3.35 TB/s|1979|700 W"))
    assert [(each.column, each.verdict) for each in done.compared if each.verdict != "same"] == [
        ("fp16_tflops", "sparse")
    ]
    assert [card.fp16_tflops for card in done.new] == [""]
    assert any("sparsity" in en for _, en in done.notes)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("XX900|0|900|300|300", "not within"), ("XX900|48|900000|300|300", "not within"), ("XX900|48|900|300|99999", "not within"),
        ("A100 96GB|96|2000|312|400", "no form of the A100"), ("A100/A800|80|2000|312|400", "more than one card"),
        ("Qwen2.5-7B|48|900|300|300", "does not look like"), ("合计|48|900|300|300", "does not look like"), ("FP16|48|900|300|300", "does not look like"),
        ("XX900|-|-|待定|", "no figure"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_true_is_refused_with_its_line(row: str, said: str) -> None:
    done = specs(grid(SPECS, "YY800|24|600|120|200", row, "ZZ700|16|400|60|150"))
    assert [card.name for card in done.new] == ["YY800", "ZZ700"]
    assert [line.line for line in done.refused] == [3]
    assert said in done.refused[0].en
    assert done.refused[0].zh != done.refused[0].en


def test_eight_bits_at_four_times_sixteen_are_refused_as_sparse() -> None:
    done = specs(grid("GPU|显存 GB|BF16 TFLOPS|FP8 TFLOPS", "XX900|96|500|2000", "YY800|96|500|1000"))
    assert [card.name for card in done.new] == ["YY800"]
    assert "with sparsity" in done.refused[0].en


def test_what_an_architecture_cannot_do_is_refused() -> None:
    done = specs(grid("GPU|显存 GB|BF16 TFLOPS|架构", "XX900|24|100|Turing", "YY800|24|100|Ampere"))
    assert [card.name for card in done.new] == ["YY800"]


def test_cards_side_by_side_and_a_sheet_of_one_card_are_turned() -> None:
    side = specs(
        grid(
            "规格|H20|XX900|YY800",
            "显存|96 GB|64 GB|32 GB",
            "显存带宽|4 TB/s|1.6 TB/s|800 GB/s",
            "功耗|400 W|350 W|9 kW",
        )
    )
    assert [(card.name, card.memory) for card in side.new] == [("XX900", "64")]
    assert ([line.line for line in side.refused], side.turned) == ([4], True)
    (sheet,) = specs(grid("型号|XX900", "显存|64 GB", "带宽|1.6 TB/s", "功耗|350 W")).new
    assert (sheet.name, sheet.bandwidth_gb_per_s) == ("XX900", "1600")


@pytest.mark.parametrize(
    "table",
    [
        grid("实例规格|GPU|vCPU|显存|网络带宽", "gn7|A10|32|24 GB|16 Gbps", "gn6|T4|16|16 GB|10 Gbps"),
        grid("日期|内存|带宽", "2024-01|3|4", "2024-02|5|6"), grid("模型|显存|带宽", "Qwen2.5-7B|16|20", "Llama 3 8B|20|20"),
        grid("姓名|年龄|城市", "张三|30|北京", "李四|40|上海"), grid("型号|显存", "XX900|48 GB", "YY800|24 GB"),
    ],
)  # fmt: skip
def test_other_tables_are_not_specifications_of_cards(table: Grid) -> None:
    assert recognised(document(table)) == []
