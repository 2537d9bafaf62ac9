"""Awkward DOCX."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from awkward_files import Awkward, rewritten


def document(fill: Callable[[Any], None]) -> bytes:
    import docx

    document = docx.Document()
    fill(document)
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def word_table(parent: Any, rows: Sequence[Sequence[str]]) -> Any:
    table = parent.add_table(len(rows), len(rows[0]))
    for row, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    return table


def _docx_merged() -> bytes:
    def fill(document: Any) -> None:
        rows = [
            ["地区", "型号", "价格", ""],
            ["", "", "按需", "包月"],
            ["华东", "A100", "28.64", "0"],
            ["", "H100", "", ""],
        ]
        table = word_table(document, rows)
        for (top, left), (bottom, right) in (((0, 2), (0, 3)), ((0, 0), (1, 0)), ((0, 1), (1, 1)), ((2, 0), (3, 0))):
            kept = table.cell(top, left).text
            table.cell(top, left).merge(table.cell(bottom, right)).text = kept
        table.cell(3, 2).merge(table.cell(3, 3)).text = "面议"

    return document(fill)


def _docx_nested() -> bytes:
    def fill(document: Any) -> None:
        outer = word_table(document, [["Vendor", "Offer"], ["Acme", "see below"], ["Blue", "none"]])
        word_table(outer.cell(1, 1), [["GPU", "Price"], ["A100", "1.80"]])

    return document(fill)


def _docx_repeated_header() -> bytes:
    def fill(document: Any) -> None:
        from docx.oxml import OxmlElement

        document.add_paragraph("Table 3: Rental prices")
        table = word_table(
            document, [["2025", "2026"], ["1.80", "1.70"], ["2.49", ""], ["2025", "2026"], ["0", "0.65"]]
        )
        table.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))

    return document(fill)


def _docx_chinese_headings() -> bytes:
    def fill(document: Any) -> None:
        from docx.enum.style import WD_STYLE_TYPE

        document.styles.add_style("标题 1", WD_STYLE_TYPE.PARAGRAPH)
        own = document.styles.add_style("节标题", WD_STYLE_TYPE.PARAGRAPH)
        own.base_style = document.styles["Heading 2"]
        document.add_paragraph("采购方案", style="Title")
        document.add_paragraph("第一章 价格", style="标题 1")
        document.add_paragraph("云主机", style="节标题")
        document.add_paragraph("以下价格均为三月的报价，单位是元每小时，不含带宽与存储费用，最终以合同为准。")
        word_table(document, [["型号", "价格"], ["A100", "28.64"]])
        document.add_paragraph("自建", style="节标题")
        word_table(document, [["型号", "价格"], ["H100", "61.2"]])

    return document(fill)


def _docx_list() -> bytes:
    def fill(document: Any) -> None:
        document.add_heading("Checklist", 1)
        for text in ("Ask for the price without tax.", "Ask for the setup fee; 0 is an answer."):
            document.add_paragraph(text, style="List Bullet")
        document.add_paragraph("Sign only after both are answered.")

    return document(fill)


def _docx_with(body: str, styles: str = "") -> bytes:
    """A document whose body is this XML, with these styles more."""

    def change(name: str, part: bytes) -> bytes:
        if name == "word/styles.xml":
            return part.replace(b"</w:styles>", styles.encode() + b"</w:styles>")
        if name != "word/document.xml":
            return part
        before, _, rest = part.partition(b"<w:body>")
        return before + b"<w:body>" + body.encode() + rest[rest.index(b"<w:sectPr") :]

    return rewritten(document(lambda document: document.add_paragraph("x")), change)


def _cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>"


THREE_COLUMNS = '<w:gridSpan w:val="3"/>'
DOCX = [
    Awkward(
        "DOCX: cells merged across and down",
        "合并.docx",
        _docx_merged,
        rows=(
            "第 3 行 | 地区 = 华东; 型号 = A100; 价格 / 按需 = 28.64; 价格 / 包月 = 0",
            "第 4 行 | 地区 = 华东; 型号 = H100; 价格 / 按需 = 面议; 价格 / 包月 = 面议",
        ),
    ),
    Awkward(
        "DOCX: a table within a cell",
        "nested.docx",
        _docx_nested,
        rows=(
            "table 1 row 2 | Vendor = Acme; Offer = see below",
            "table 1 row 3 | Vendor = Blue; Offer = none",
            "table 2 row 2 | GPU = A100; Price = 1.80",
        ),
    ),
    Awkward(
        "DOCX: a heading row of years marked to repeat, and typed again by hand",
        "repeated.docx",
        _docx_repeated_header,
        rows=(
            "table row 2 | Table 3: Rental prices; 2025 = 1.80; 2026 = 1.70",
            "table row 3 | Table 3: Rental prices; 2025 = 2.49",
            "table row 5 | Table 3: Rental prices; 2025 = 0; 2026 = 0.65",
        ),
    ),
    Awkward(
        "DOCX: Chinese heading styles, one without a base and one derived",
        "方案.docx",
        _docx_chinese_headings,
        rows=(
            "§ 云主机, 第 1 个表格第 2 行 | 型号 = A100; 价格 = 28.64",
            "§ 自建, 第 2 个表格第 2 行 | 型号 = H100; 价格 = 61.2",
        ),
        texts=("以下价格均为三月的报价，单位是元每小时，不含带宽与存储费用，最终以合同为准。",),
    ),
    Awkward(
        "DOCX: a list",
        "list.docx",
        _docx_list,
        texts=(
            "- Ask for the price without tax.\n- Ask for the setup fee; 0 is an answer.\n\nSign only after both are answered.",
        ),
    ),
    Awkward("DOCX: empty", "empty.docx", lambda: document(lambda document: None), refused="empty"),
    Awkward(
        "DOCX: tracked changes, a hidden run, a row that begins inside the grid",
        "tracked.docx",
        lambda: _docx_with(
            "<w:p><w:r><w:t xml:space='preserve'>The price is </w:t></w:r><w:del w:id='1'><w:r><w:delText>1.50</w:delText></w:r></w:del>"
            "<w:ins w:id='2'><w:r><w:t>1.80</w:t></w:r></w:ins><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
            "<w:r><w:t xml:space='preserve'> USD per hour and card, tax excluded.</w:t></w:r></w:p>"
            "<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/><w:gridCol/></w:tblGrid>"
            f"<w:tr>{_cell('GPU')}{_cell('Setup fee')}{_cell('Price')}</w:tr>"
            f"<w:tr>{_cell('A100')}{_cell('0')}{_cell('1.80')}</w:tr>"
            f"<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>{_cell('5')}{_cell('1.70')}</w:tr></w:tbl>"
        ),
        rows=("table row 2 | GPU = A100; Setup fee = 0; Price = 1.80", "table row 3 | Setup fee = 5; Price = 1.70"),
        texts=("The price is 1.80 USD per hour and card, tax excluded.",),
    ),
    Awkward(
        "DOCX: content controls around a row and a cell, a text box, a footnote mark, a break in a cell",
        "控件.docx",
        lambda: _docx_with(
            "<w:p><w:r><w:t>表 2 报价单</w:t></w:r></w:p>"
            "<w:tbl><w:tblGrid><w:gridCol/><w:gridCol/></w:tblGrid>"
            f"<w:tr>{_cell('型号')}{_cell('价格</w:t><w:br/><w:t>（元/小时）')}</w:tr>"
            f"<w:sdt><w:sdtContent><w:tr>{_cell('A100')}{_cell('28.64')}</w:tr></w:sdtContent></w:sdt>"
            f"<w:tr>{_cell('H100')}<w:sdt><w:sdtContent>{_cell('0')}</w:sdtContent></w:sdt></w:tr></w:tbl>"
        ),
        rows=(
            "表格第 2 行 | 表 2 报价单; 型号 = A100; 价格 （元/小时） = 28.64",
            "表格第 3 行 | 表 2 报价单; 型号 = H100; 价格 （元/小时） = 0",
        ),
    ),
    Awkward(
        "DOCX: a table of contents is left out, a picture is told",
        "toc.docx",
        lambda: _docx_with(
            "<w:p><w:pPr><w:pStyle w:val='TOC1'/></w:pPr><w:r><w:t>Prices 2</w:t></w:r></w:p>"
            "<w:p><w:r><w:drawing><pic:pic xmlns:pic='http://schemas.openxmlformats.org/drawingml/2006/picture'/></w:drawing></w:r></w:p>"
            "<w:p><w:r><w:t>Prices exclude tax and delivery; ask for both before signing anything.</w:t></w:r></w:p>",
            '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>',
        ),
        texts=("Prices exclude tax and delivery; ask for both before signing anything.",),
        notes=("1 pictures or charts",),
    ),
    Awkward(
        "DOCX: a unit line alone before a table",
        "单位.docx",
        lambda: _docx_with(
            f"<w:p><w:r><w:t>单位：元/小时</w:t></w:r></w:p><w:tbl><w:tr>{_cell('型号')}{_cell('价格')}</w:tr>"
            f"<w:tr>{_cell('A100')}{_cell('28.64')}</w:tr></w:tbl>"
        ),
        rows=("表格第 2 行 | 单位：元/小时; 型号 = A100; 价格 = 28.64",),
    ),
    Awkward(
        "DOCX: a title across the first row, labels and values without a heading right below",
        "两表.docx",
        lambda: _docx_with(
            f"<w:tbl><w:tr>{_cell('云主机价格表', THREE_COLUMNS)}</w:tr>"
            f"<w:tr>{_cell('型号')}{_cell('地区')}{_cell('价格')}</w:tr><w:tr>{_cell('A100')}{_cell('')}{_cell('0')}</w:tr></w:tbl>"
            f"<w:tbl><w:tr>{_cell('显存')}{_cell('80 GB')}</w:tr><w:tr>{_cell('功耗')}{_cell('400 W')}</w:tr></w:tbl>"
        ),
        rows=(
            "第 1 个表格第 3 行 | 表：云主机价格表; 型号 = A100; 价格 = 0",
            "第 2 个表格第 1 行 | 显存 = 80 GB",
            "第 2 个表格第 2 行 | 功耗 = 400 W",
        ),
    ),
]
