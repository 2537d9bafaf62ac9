"""Awkward PPTX."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, cast

from awkward_files import Awkward


def slides(*fills: Callable[[Any], None]) -> bytes:
    import pptx

    presentation = pptx.Presentation()
    for fill in fills:
        fill(presentation.slides.add_slide(presentation.slide_layouts[5]))
    target = io.BytesIO()
    presentation.save(target)
    return target.getvalue()


def slide_table(slide: Any, rows: Sequence[Sequence[str]], top: int = 2_000_000) -> Any:
    table = slide.shapes.add_table(len(rows), len(rows[0]), 500_000, top, 6_000_000, 1_000_000).table
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    return table


def _merged_slide(slide: Any) -> None:
    slide.shapes.title.text = "云主机价格"
    rows = [
        ["地区", "型号", "价格", ""],
        ["", "", "按需", "包月"],
        ["华东", "A100", "28.64", "0"],
        ["", "H100", "61.2", ""],
    ]
    table = slide_table(slide, rows)
    for (top, left), (bottom, right) in (((0, 2), (0, 3)), ((0, 0), (1, 0)), ((0, 1), (1, 1)), ((2, 0), (3, 0))):
        table.cell(top, left).merge(table.cell(bottom, right))


def _grouped_slide(slide: Any) -> None:
    slide.shapes.title.text = "Options"
    group = slide.shapes.add_group_shape()
    for top, text in ((3_000_000, "Rent cards by the hour."), (4_000_000, "Buy a server of eight cards.")):
        group.shapes.add_textbox(500_000, top, 3_000_000, 500_000).text_frame.text = text
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(500_000, 5_000_000, 3_000_000, 500_000).text_frame.text = "Wait for the next generation."


def _notes_slide(slide: Any) -> None:
    slide.shapes.title.text = "Prices"
    slide_table(slide, [["GPU", "Fee", "Price"], ["A100", "0", "1.80"], ["H100", "", "2.49"]])
    slide.notes_slide.notes_text_frame.text = "Say that the prices exclude tax and that they hold for thirty days."


def _chart_slide(slide: Any) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    slide.shapes.title.text = "Prices by region"
    data: Any = cast(Any, CategoryChartData)()
    data.categories = ["Paris", "Berlin"]
    data.add_series("A100", (1.8, 0))
    data.add_series("H100", (2.5, None))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 500_000, 2_000_000, 6_000_000, 3_000_000, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "USD per hour"


def _hidden_slide(slide: Any) -> None:
    slide.shapes.title.text = "Internal"
    slide.shapes.add_textbox(500_000, 3_000_000, 3_000_000, 500_000).text_frame.text = "Ask before quoting."
    slide._element.set("show", "0")


def _two_tables_slide(slide: Any) -> None:
    slide.shapes.title.text = "价格"
    slide_table(slide, [["GPU", "Fee"], ["L4", "0"]], top=4_000_000)
    slide_table(slide, [["型号", "价格"], ["A100", "28.64"]])


PPTX = [
    Awkward(
        "PPTX: cells merged across and down",
        "合并.pptx",
        lambda: slides(_merged_slide),
        rows=(
            "幻灯片 1, 第 3 行 | 地区 = 华东; 型号 = A100; 价格 / 按需 = 28.64; 价格 / 包月 = 0",
            "幻灯片 1, 第 4 行 | 地区 = 华东; 型号 = H100; 价格 / 按需 = 61.2",
        ),
    ),
    Awkward(
        "PPTX: groups within groups",
        "groups.pptx",
        lambda: slides(_grouped_slide),
        texts=("Rent cards by the hour.\n\nBuy a server of eight cards.\n\nWait for the next generation.",),
    ),
    Awkward(
        "PPTX: speaker's notes after two slides with tables",
        "notes.pptx",
        lambda: slides(_merged_slide, _notes_slide),
        rows=(
            "幻灯片 1, 第 1 个表格第 3 行 | 地区 = 华东; 型号 = A100; 价格 / 按需 = 28.64; 价格 / 包月 = 0",
            "幻灯片 1, 第 1 个表格第 4 行 | 地区 = 华东; 型号 = H100; 价格 / 按需 = 61.2",
            "§ Prices, slide 2, table 2 row 2 | GPU = A100; Fee = 0; Price = 1.80",
            "§ Prices, slide 2, table 2 row 3 | GPU = H100; Price = 2.49",
        ),
        texts=("Say that the prices exclude tax and that they hold for thirty days.",),
    ),
    Awkward(
        "PPTX: a chart without some of its points, a hidden slide",
        "chart.pptx",
        lambda: slides(_chart_slide, _hidden_slide),
        rows=(
            "slide 1, table row 2 | Table: USD per hour; Paris: A100 = 1.8; H100 = 2.5",
            "slide 1, table row 3 | Table: USD per hour; Berlin: A100 = 0",
        ),
        texts=("Ask before quoting.",),
        notes=("Hidden slides were read too: 2",),
    ),
    Awkward(
        "PPTX: two tables on a slide, in two languages",
        "two.pptx",
        lambda: slides(_two_tables_slide),
        rows=(
            "幻灯片 1, 第 1 个表格第 2 行 | 型号 = A100; 价格 = 28.64",
            "slide 1, table 2 row 2 | GPU = L4; Fee = 0",
        ),
    ),
    Awkward("PPTX: slides without any text", "blank.pptx", lambda: slides(lambda slide: None), refused="empty"),
]
