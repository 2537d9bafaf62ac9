"""Awkward XLSX."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

from awkward_files import Awkward, rewritten


def workbook_with(fill: Callable[[Any], None]) -> bytes:
    import openpyxl

    workbook = openpyxl.Workbook()
    workbook.active.title = "报价"
    fill(workbook)
    target = io.BytesIO()
    workbook.save(target)
    return target.getvalue()


def sheet(rows: Sequence[Sequence[Any]], *merges: str, top: int = 1, left: int = 1) -> bytes:
    """A workbook of one sheet, 报价, with these rows."""

    def fill(workbook: Any) -> None:
        put(workbook.active, rows, top, left)
        for merge in merges:
            workbook.active.merge_cells(merge)

    return workbook_with(fill)


def put(sheet: Any, rows: Sequence[Sequence[Any]], top: int = 1, left: int = 1) -> None:
    for number, row in enumerate(rows, start=top):
        for column, value in enumerate(row, start=left):
            if value is not None:
                sheet.cell(number, column, value)


def _formulas(*cached: str) -> bytes:
    """=B2*24 and =B3*24 with the values that a spreadsheet program would have saved, None of them by default."""
    content = sheet([["GPU", "Hour", "Day"], ["A100", 1.5, "=B2*24"], ["H100", 2.5, "=B3*24"]])
    values = iter(cached)

    def change(name: str, part: bytes) -> bytes:
        if name != "xl/worksheets/sheet1.xml":
            return part
        return re.sub(
            rb"</f><v(?: ?/>|></v>)",
            lambda _: f"</f><v>{value}</v>".encode() if (value := next(values, "")) else b"</f>",
            part,
        )

    return rewritten(content, change)


def _formats() -> bytes:
    def fill(workbook: Any) -> None:
        rows: list[list[Any]] = [
            ["型号", "单价", "折扣", "显存", "日期", "月份"],
            ["A100", 28.64, 0.125, 80, datetime(2025, 3, 1), date(2025, 3, 1)],
        ]
        put(workbook.active, rows)
        for column, number_format in enumerate(("¥#,##0.00", "0.0%", '0"GB"', "yyyy/m/d", "yyyy-mm"), start=2):
            workbook.active.cell(2, column).number_format = number_format
        put(workbook.active, [["H100", 1234567.8, 0, 0.1 + 0.2, True, "=NA()"]], top=3)
        workbook.active["B3"].number_format = "[$$-409]#,##0.00"
        workbook.active["C3"].number_format = "0%"

    def change(name: str, part: bytes) -> bytes:
        if name != "xl/worksheets/sheet1.xml":
            return part
        return re.sub(
            rb'<c r="F3"[^>]*><f>NA\(\)</f><v(?: ?/>|></v>)</c>', b'<c r="F3" t="e"><f>NA()</f><v>#N/A</v></c>', part
        )

    return rewritten(workbook_with(fill), change)


def _hidden_sheet() -> bytes:
    def fill(workbook: Any) -> None:
        put(workbook.active, [["型号", "价格"], ["A100", 28.64]])
        hidden = workbook.create_sheet("底价")
        hidden.sheet_state = "hidden"
        put(hidden, [["型号", "价格"], ["A100", 20]])
        workbook.create_sheet("空表")
        last = workbook.create_sheet("Overseas")
        put(last, [["GPU", "Price"], ["H100", 2.49], ["L4", 0]])
        last.row_dimensions[3].hidden = True

    return workbook_with(fill)


def _million_rows() -> bytes:
    def fill(workbook: Any) -> None:
        from openpyxl.styles import Font

        put(workbook.active, [["型号", "价格"], ["A100", 28.64]])
        workbook.active["C1048576"].font = Font(bold=True)

    def change(name: str, part: bytes) -> bytes:
        return re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1:XFD1048576"', part)

    return rewritten(workbook_with(fill), change)


def _false_small_dimension() -> bytes:
    content = sheet([["GPU", "Price"], ["A100", 1.8], ["H100", 2.49]])
    return rewritten(content, lambda name, part: re.sub(rb'<dimension ref="[^"]*"', b'<dimension ref="A1"', part))


def _shared_texts() -> bytes:
    """As Excel stores texts, with a formatted one and a reading aid, and as some writers name their elements."""
    content = sheet([["x", "x"], ["x", 18.5], ["x", 0]])
    texts = (
        "<x:si><x:t>型号</x:t></x:si><x:si><x:r><x:t>价</x:t></x:r><x:r><x:rPr><x:b/></x:rPr><x:t>格</x:t></x:r></x:si>"
        '<x:si><x:t xml:space="preserve">昇腾 910B </x:t><x:rPh sb="0" eb="2"><x:t>shengteng</x:t></x:rPh></x:si>'
    )
    order = iter((0, 1, 2, 2))

    def change(name: str, part: bytes) -> bytes:
        if name == "xl/worksheets/sheet1.xml":
            inline = rb't="inlineStr"><is><t>x</t></is></c>'
            part = re.sub(inline, lambda _: f't="s"><v>{next(order)}</v></c>'.encode(), part)
            part = re.sub(rb"<(/?)(?=[a-zA-Z])", rb"<\1x:", part).replace(b" xmlns=", b" xmlns:x=", 1)
        if name == "[Content_Types].xml" and b"sharedStrings" not in part:
            kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
            part = part.replace(
                b"</Types>", f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'.encode()
            )
        return part

    shared = f'<x:sst xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{texts}</x:sst>'.encode()
    return rewritten(content, change, ("xl/sharedStrings.xml", shared))


def _typed_formulas() -> bytes:
    content = sheet(
        [["GPU", "Price", "Day"], ["A100", 1.5, '=IF(B2>9,"x","")'], ["H100", 2.5, "=1/0"], ["Total", "=SUM(B2:B3)"]]
    )

    def change(name: str, part: bytes) -> bytes:
        for cell, kind, value in ((b"C2", b' t="str"', b""), (b"C3", b' t="e"', b"#DIV/0!"), (b"B4", b"", b"4")):
            part = re.sub(
                rb'<c r="%s"[^>]*>(<f>.*?</f>)<v(?: ?/>|></v>)' % cell,
                rb'<c r="%s"%s>\1<v>%s</v>' % (cell, kind, value),
                part,
            )
        return part

    return rewritten(content, change)


XLSX = [
    Awkward(
        "XLSX: merged cells and a heading of two rows under a title",
        "合并.xlsx",
        lambda: sheet(
            [
                ["2025 年 3 月云主机报价"],
                ["单位：元/小时"],
                ["地区", "型号", "价格"],
                [None, None, "按需", "包月"],
                ["华东", "A100", 28.64, 0],
                [None, "H100", 61.2, None],
            ],
            "A1:D1", "A2:D2", "A3:A4", "B3:B4", "C3:D3", "A5:A6",
        ),
        rows=(
            "工作表 报价 第 5 行 | 表：2025 年 3 月云主机报价（单位：元/小时）; 地区 = 华东; 型号 = A100; 价格 / 按需 = 28.64; 价格 / 包月 = 0",
            "工作表 报价 第 6 行 | 表：2025 年 3 月云主机报价（单位：元/小时）; 地区 = 华东; 型号 = H100; 价格 / 按需 = 61.2",
        ),
    ),
    Awkward(
        "XLSX: a heading of three rows",
        "levels.xlsx",
        lambda: sheet(
            [
                ["GPU", "Price", None, None, None],
                [None, "Paris", None, "Berlin", None],
                [None, "hour", "month", "hour", "month"],
                ["A100", 1.8, 900, 1.9, 950],
                ["H100", 2.5, 1500, 0, None],
            ],
            "A1:A3", "B1:E1", "B2:C2", "D2:E2",
        ),
        rows=(
            "sheet 报价 row 4 | GPU = A100; Price / Paris / hour = 1.8; Price / Paris / month = 900; Price / Berlin / hour = 1.9; Price / Berlin / month = 950",
            "sheet 报价 row 5 | GPU = H100; Price / Paris / hour = 2.5; Price / Paris / month = 1500; Price / Berlin / hour = 0",
        ),
    ),
    Awkward(
        "XLSX: formulas with their values",
        "cached.xlsx",
        lambda: _formulas("36", "60"),
        rows=("sheet 报价 row 2 | GPU = A100; Hour = 1.5; Day = 36", "sheet 报价 row 3 | GPU = H100; Hour = 2.5; Day = 60"),
    ),
    Awkward(
        "XLSX: formulas saved without their values",
        "uncached.xlsx",
        _formulas,
        rows=("sheet 报价 row 2 | GPU = A100; Hour = 1.5", "sheet 报价 row 3 | GPU = H100; Hour = 2.5"),
        notes=("2 formula cells",),
    ),
    Awkward(
        "XLSX: zero, empty, empty text and a dash",
        "zero.xlsx",
        lambda: sheet([["GPU", "Fee", "Price"], ["A100", 0, 1.8], ["H100", None, 2.49], ["L4", "", 0.7], ["L40", "-", 1]]),
        rows=(
            "sheet 报价 row 2 | GPU = A100; Fee = 0; Price = 1.8",
            "sheet 报价 row 3 | GPU = H100; Price = 2.49",
            "sheet 报价 row 4 | GPU = L4; Price = 0.7",
            "sheet 报价 row 5 | GPU = L40; Fee = -; Price = 1",
        ),
    ),
    Awkward(
        "XLSX: formats of percent, currency, unit, date, truth and error",
        "格式.xlsx",
        _formats,
        rows=(
            "工作表 报价 第 2 行 | 型号 = A100; 单价 = ¥28.64; 折扣 = 12.5%; 显存 = 80GB; 日期 = 2025-03-01; 月份 = 2025-03",
            "工作表 报价 第 3 行 | 型号 = H100; 单价 = $1234567.8; 折扣 = 0%; 显存 = 0.3; 日期 = TRUE; 月份 = #N/A",
        ),
    ),
    Awkward(
        "XLSX: several sheets, a hidden one, an empty one, a hidden row",
        "sheets.xlsx",
        _hidden_sheet,
        rows=(
            "§ 报价, 工作表 报价 第 2 行 | 型号 = A100; 价格 = 28.64",
            "§ 底价, 工作表 底价 第 2 行 | 型号 = A100; 价格 = 20",
            "§ Overseas, sheet Overseas row 2 | GPU = H100; Price = 2.49",
            "§ Overseas, sheet Overseas row 3 | GPU = L4; Price = 0",
        ),
        notes=("Hidden sheets were read too: 底价",),
    ),
    Awkward(
        "XLSX: a stated size of a million rows",
        "million.xlsx",
        _million_rows,
        rows=("工作表 报价 第 2 行 | 型号 = A100; 价格 = 28.64",),
    ),
    Awkward(
        "XLSX: a stated size of one cell",
        "one-cell.xlsx",
        _false_small_dimension,
        rows=("sheet 报价 row 2 | GPU = A100; Price = 1.8", "sheet 报价 row 3 | GPU = H100; Price = 2.49"),
    ),
    Awkward(
        "XLSX: leading blank rows and columns, a remark below",
        "offset.xlsx",
        lambda: sheet([["型号", "地区", "价格"], ["A100", "北京", 28.64], ["备注：价格含税"]], top=4, left=3),
        rows=("工作表 报价 第 5 行 | 型号 = A100; 地区 = 北京; 价格 = 28.64",),
        texts=("备注：价格含税",),
    ),
    Awkward(
        "XLSX: numbers as text, with leading zeros and longer than a number holds",
        "text-numbers.xlsx",
        lambda: sheet([["Order", "Part", "Price"], ["12345678901234567890", "007", "2.50"], [123456789012345, 7, 2.5]]),
        rows=(
            "sheet 报价 row 2 | Order = 12345678901234567890; Part = 007; Price = 2.50",
            "sheet 报价 row 3 | Order = 123456789012345; Part = 7; Price = 2.5",
        ),
    ),
    Awkward(
        "XLSX: five thousand rows",
        "5000.xlsx",
        lambda: sheet([["型号", "编号", "价格"], *(["A100", number, number % 7] for number in range(5000))]),
        rows=tuple(f"工作表 报价 第 {n + 2} 行 | 型号 = A100; 编号 = {n}; 价格 = {n % 7}" for n in range(5000)),
    ),
    Awkward(
        "XLSX: shared texts with runs and readings, and a prefix before every element",
        "shared.xlsx",
        _shared_texts,
        rows=("工作表 报价 第 2 行 | 型号 = 昇腾 910B; 价格 = 18.5", "工作表 报价 第 3 行 | 型号 = 昇腾 910B; 价格 = 0"),
    ),
    Awkward(
        "XLSX: breaks in cells, a cell merged over data, a blank row between, dates with a time",
        "breaks.xlsx",
        lambda: sheet(
            [
                ["GPU\nmodel", "Region", "Price", "Checked"],
                ["A100\n80 GB", "Paris", 1.8, datetime(2025, 3, 1, 8, 30)],
                ["H100", "on request", None, None],
                [],
                ["L4", "Berlin", -0.5, None],
            ],
            "B3:C3",
        ),
        rows=(
            "sheet 报价 row 2 | GPU model = A100 80 GB; Region = Paris; Price = 1.8; Checked = 2025-03-01 08:30",
            "sheet 报价 row 3 | GPU model = H100; Region = on request; Price = on request",
            "sheet 报价 row 5 | GPU model = L4; Region = Berlin; Price = -0.5",
        ),
    ),
    Awkward(
        "XLSX: a formula whose value is an empty text, one that is an error, a total",
        "text-formula.xlsx",
        lambda: _typed_formulas(),
        rows=("sheet 报价 row 2 | GPU = A100; Price = 1.5", "sheet 报价 row 3 | GPU = H100; Price = 2.5; Day = #DIV/0!", "sheet 报价 row 4 | GPU = Total; Price = 4"),
    ),
    Awkward(
        "XLSX: labels and values",
        "参数.xlsx",
        lambda: sheet([["H100 参数"], ["显存", "80 GB"], ["功耗", "700 W"], ["单价", 0], ["备货", None]]),
        rows=(
            "工作表 报价 第 2 行 | 表：H100 参数; 显存 = 80 GB",
            "工作表 报价 第 3 行 | 表：H100 参数; 功耗 = 700 W",
            "工作表 报价 第 4 行 | 表：H100 参数; 单价 = 0",
            "工作表 报价 第 5 行 | 表：H100 参数; 备货",
        ),
    ),
    Awkward("XLSX: empty", "empty.xlsx", lambda: sheet([]), refused="empty"),
]  # fmt: skip
