"""Awkward XLSX: how tables, titles and forms lie on a sheet."""

from __future__ import annotations

from typing import Any

from awkward_files import Awkward
from awkward_sheets import put, sheet, workbook_with


def _several_tables() -> bytes:
    def fill(workbook: Any) -> None:
        sheet = workbook.active
        put(sheet, [["云主机"], ["型号", "价格"], ["A100", 28.64], ["H100", 61.2]])
        put(sheet, [["整机"], ["机型", "台数", "总价"], ["DGX", 2, 5000000]], top=7)
        put(sheet, [["Taxes"], ["Region", "Tax"], ["Paris", "20%"]], top=1, left=6)

    return workbook_with(fill)


LAYOUTS = [
    Awkward(
        "XLSX: three tables on a sheet, below and beside each other",
        "多表.xlsx",
        _several_tables,
        rows=(
            "工作表 报价 第 3 行 | 表：云主机; 型号 = A100; 价格 = 28.64",
            "工作表 报价 第 4 行 | 表：云主机; 型号 = H100; 价格 = 61.2",
            "sheet 报价 row 3 | Table: Taxes; Region = Paris; Tax = 20%",
            "工作表 报价 第 9 行 | 表：整机; 机型 = DGX; 台数 = 2; 总价 = 5000000",
        ),
    ),
    Awkward(
        "XLSX: one title above two tables beside each other",
        "并排.xlsx",
        lambda: sheet(
            [
                ["2025 年报价"],
                ["型号", "价格", None, "地区", "折扣"],
                ["A100", 28.64, None, "北京", "80%"],
                ["H100", 61.2, None, "上海", "75%"],
            ]
        ),
        rows=(
            "工作表 报价 第 3 行 | 表：2025 年报价; 型号 = A100; 价格 = 28.64",
            "工作表 报价 第 4 行 | 表：2025 年报价; 型号 = H100; 价格 = 61.2",
            "工作表 报价 第 3 行 | 表：2025 年报价; 地区 = 北京; 折扣 = 80%",
            "工作表 报价 第 4 行 | 表：2025 年报价; 地区 = 上海; 折扣 = 75%",
        ),
    ),
    Awkward(
        "XLSX: a quotation form, labels and values right above the heading",
        "报价单.xlsx",
        lambda: sheet(
            [
                ["客户", "甲公司"],
                ["日期", "2025-03-01"],
                ["型号", "数量", "单价"],
                ["H100", 8, 250000],
                ["A100", 0, None],
            ]
        ),
        rows=(
            "工作表 报价 第 4 行 | 型号 = H100; 数量 = 8; 单价 = 250000",
            "工作表 报价 第 5 行 | 型号 = A100; 数量 = 0",
        ),
        texts=("客户 | 甲公司\n\n日期 | 2025-03-01",),
    ),
    Awkward(
        "XLSX: another heading row inside a table, of another currency",
        "two-currencies.xlsx",
        lambda: sheet(
            [["GPU", "Price (USD)"], ["A100", 1.8], ["L4", 0], ["GPU", "Price (EUR)"], ["H100", 2.5], ["L40", 1]]
        ),
        rows=(
            "sheet 报价 row 2 | GPU = A100; Price (USD) = 1.8",
            "sheet 报价 row 3 | GPU = L4; Price (USD) = 0",
            "sheet 报价 row 5 | GPU = H100; Price (EUR) = 2.5",
            "sheet 报价 row 6 | GPU = L40; Price (EUR) = 1",
        ),
    ),
    Awkward(
        "XLSX: two tables right below each other",
        "上下.xlsx",
        lambda: sheet(
            [
                ["项目", "A机房", "B机房"],
                ["电价", 0.6, 0.7],
                ["机柜", 0, 12],
                ["型号", "数量", "单价"],
                ["H100", 8, 250000],
                ["A100", 4, 100000],
            ]
        ),
        rows=(
            "工作表 报价 第 2 行 | 项目 = 电价; A机房 = 0.6; B机房 = 0.7",
            "工作表 报价 第 3 行 | 项目 = 机柜; A机房 = 0; B机房 = 12",
            "工作表 报价 第 5 行 | 型号 = H100; 数量 = 8; 单价 = 250000",
            "工作表 报价 第 6 行 | 型号 = A100; 数量 = 4; 单价 = 100000",
        ),
    ),
    Awkward(
        "XLSX: group titles as single cells, a total, notes merged below",
        "分组.xlsx",
        lambda: sheet(
            [
                ["型号", "地区", "价格"],
                ["华东地区"],
                ["A100", "上海", 28.64],
                ["H100", "杭州", 0],
                ["华北地区"],
                ["A100", "北京", 27],
                ["合计", None, 55.64],
                ["注1：价格含税"],
                ["注2：运费另计"],
            ],
            "A8:C8",
            "A9:C9",
        ),
        rows=(
            "工作表 报价 第 3 行 | 分组：华东地区; 型号 = A100; 地区 = 上海; 价格 = 28.64",
            "工作表 报价 第 4 行 | 分组：华东地区; 型号 = H100; 地区 = 杭州; 价格 = 0",
            "工作表 报价 第 6 行 | 分组：华北地区; 型号 = A100; 地区 = 北京; 价格 = 27",
            "工作表 报价 第 7 行 | 分组：华北地区; 型号 = 合计; 价格 = 55.64",
        ),
        texts=("注1：价格含税\n\n注2：运费另计",),
    ),
    Awkward(
        "XLSX: years and months as headings, one of numbers",
        "years.xlsx",
        lambda: sheet([["型号", 2023, 2024, "1月"], ["A100", 28, 25, None], ["H100", 61, 0, 60]]),
        rows=(
            "工作表 报价 第 2 行 | 型号 = A100; 2023 = 28; 2024 = 25",
            "工作表 报价 第 3 行 | 型号 = H100; 2023 = 61; 2024 = 0; 1月 = 60",
        ),
    ),
]
