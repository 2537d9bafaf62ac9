"""Awkward PDF files."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any

from awkward_files import Awkward

FONT = "STSong-Light"  # of Acrobat's Asian pack: named in the file, not embedded
PARTS = [
    ["Part", "Region", "Price"],
    *([f"P-{number:03}", ("Paris", "")[number % 2], str(number % 5)] for number in range(120)),
]
TWO_LEVELS = [["型号", "价格", ""], ["", "按需", "包月"]]
CARDS = [[f"昇腾 {number}", str(number % 9), str(number * 10)] for number in range(100)]
WRAPPED = [[f"G{number:02}", f"first line {number}\nsecond line", str(number % 4)] for number in range(60)]
LEFT = (
    "Renting pays while a team trains for a few weeks a year and can wait for a free card. Nobody has to be hired for "
    "the machines, and nothing has to be written off when a faster generation arrives."
)
RIGHT = (
    "Buying pays from about half of all hours upwards, as long as power and cooling are at hand. The break-even point "
    "moves with the price of electricity, which differs by a factor of three between regions."
)


def _drawn(draw: Callable[[Any], None], **options: Any) -> bytes:
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfgen.canvas import Canvas

    pdfmetrics.registerFont(UnicodeCIDFont(FONT))
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(595, 842), **options)
    draw(canvas)
    canvas.save()
    return target.getvalue()


def _story(make: Callable[[Any], list[Any]], **options: Any) -> bytes:
    """`make` gets reportlab.platypus and gives what flows over the pages."""
    from reportlab import platypus
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont

    pdfmetrics.registerFont(UnicodeCIDFont(FONT))
    target = io.BytesIO()
    platypus.SimpleDocTemplate(target, pagesize=(595, 842), **options).build(make(platypus))
    return target.getvalue()


def _ruled(platypus: Any, rows: Sequence[Sequence[str]], *spans: Any, repeat: int = 0) -> Any:
    from reportlab.lib import colors

    style = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONT", (0, 0), (-1, -1), FONT, 9), *spans]
    return platypus.Table([list(row) for row in rows], style=style, repeatRows=repeat)


def _two_columns() -> bytes:
    def draw(canvas: Any) -> None:
        from reportlab.lib.utils import simpleSplit

        for left, text in ((60, LEFT), (320, RIGHT)):
            for number, line in enumerate(simpleSplit(text, "Helvetica", 10, 220)):
                canvas.setFont("Helvetica", 10)
                canvas.drawString(left, 760 - 13 * number, line)

    return _drawn(draw)


def _chinese() -> bytes:
    def make(platypus: Any) -> list[Any]:
        from reportlab.lib.styles import ParagraphStyle

        title = ParagraphStyle("title", fontName=FONT, fontSize=20, leading=26, spaceAfter=10)
        body = ParagraphStyle("body", fontName=FONT, fontSize=10, leading=15, wordWrap="CJK", spaceAfter=8)
        rows = [
            ["地区", "型号", "价格（元/小时）", ""],
            ["", "", "按需", "包月"],
            ["华东", "昇腾 910B", "18.5", "0"],
            ["", "H100", "61.2", ""],
        ]
        spans = [("SPAN", (2, 0), (3, 0)), ("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (1, 1)), ("SPAN", (0, 2), (0, 3))]
        return [
            platypus.Paragraph("云主机采购说明", title),
            platypus.Paragraph(
                "下列价格由三家供应商在三月提供，均不含税，最终以合同为准，请在采购之前再次核对，长期合同另有折扣，详情请联系销售。",
                body,
            ),
            _ruled(platypus, rows, *spans),
        ]

    return _story(make)


def _scan(canvas: Any) -> None:
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    canvas.drawImage(ImageReader(Image.new("RGB", (100, 140), "gray")), 0, 0, 595, 842)


def _sentence(canvas: Any) -> None:
    canvas.drawString(80, 500, "Prices exclude tax.")


def _half_scanned(canvas: Any) -> None:
    _sentence(canvas)
    canvas.showPage()
    _scan(canvas)


def _locked(user_password: str) -> bytes:
    from reportlab.lib.pdfencrypt import StandardEncryption

    return _drawn(_sentence, encrypt=StandardEncryption(user_password, ownerPassword="owner", strength=128, canCopy=0))


def _turned() -> bytes:
    def make(platypus: Any) -> list[Any]:
        from reportlab.lib.styles import ParagraphStyle

        body = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=13, spaceBefore=12, spaceAfter=12)
        return [
            _ruled(platypus, [["GPU", "Price"], ["A100", "1.80"]]),
            platypus.Paragraph(
                "The taxes below apply to every offer above, whatever the region of the buyer may be.", body
            ),
            _ruled(platypus, [["Region", "Tax"], ["Paris", "0"]]),
            platypus.PageBreak(),
            _ruled(platypus, [["Card", "Fee"], ["L4", "5"]]),
        ]

    return _story(make, rotation=90)


def _three_lines(platypus: Any) -> Any:
    from reportlab.lib import colors

    rows = [["型号", "地区", "价格"], ["A100", "北京", "28.64"], ["H100", "上海", "61.20"], ["L4", "深圳", "0"]]
    lines = [("LINEABOVE", (0, 0), (-1, 0)), ("LINEBELOW", (0, 0), (-1, 0)), ("LINEBELOW", (0, -1), (-1, -1))]
    style = [("FONT", (0, 0), (-1, -1), FONT, 10), *((*line, 1, colors.black) for line in lines)]
    return platypus.Table(rows, style=style, colWidths=[100, 100, 100])


def _cut_off() -> bytes:
    content = _story(lambda platypus: [_ruled(platypus, PARTS, repeat=1)])
    return content[: len(content) * 2 // 3]


PDF_FILES = [
    Awkward(
        "PDF: a ruled table over three pages, its heading on each",
        "parts.pdf",
        lambda: _story(lambda platypus: [_ruled(platypus, PARTS, repeat=1)]),
        rows=tuple(
            f"page 1, row {number} | Part = {part}; {f'Region = {region}; ' if region else ''}Price = {price}"
            for number, (part, region, price) in enumerate(PARTS[1:], start=2)
        ),
    ),
    Awkward("PDF: two columns of text", "columns.pdf", _two_columns, texts=(f"{LEFT}\n\n{RIGHT}",)),
    Awkward(
        "PDF: Chinese without an embedded font",
        "说明.pdf",
        _chinese,
        rows=(
            "第 1 页, 表格第 3 行 | 地区 = 华东; 型号 = 昇腾 910B; 价格（元/小时） / 按需 = 18.5; 价格（元/小时） / 包月 = 0",
            "第 1 页, 表格第 4 行 | 地区 = 华东; 型号 = H100; 价格（元/小时） / 按需 = 61.2",
        ),
        texts=("下列价格由三家供应商在三月提供，均不含税，最终以合同为准，请在采购之前再次核对，长期合同另有折扣，详情请联系销售。",),
    ),
    Awkward(
        "PDF: a heading of two rows repeated on each page, the table's sections too",
        "两级.pdf",
        lambda: _story(
            lambda platypus: [
                _ruled(platypus, [*TWO_LEVELS, *CARDS], ("SPAN", (0, 0), (0, 1)), ("SPAN", (1, 0), (2, 0)), repeat=2)
            ]
        ),
        rows=tuple(
            f"第 1 页, 第 {number} 行 | 型号 = {card}; 价格 / 按需 = {hour}; 价格 / 包月 = {month}"
            for number, (card, hour, month) in enumerate(CARDS, start=3)
        ),
    ),
    Awkward(
        "PDF: a table over pages without its heading again, cells of several lines",
        "wrapped.pdf",
        lambda: _story(lambda platypus: [_ruled(platypus, [["GPU", "Remark", "Price"], *WRAPPED])]),
        rows=tuple(
            f"page 1, row {number} | GPU = {card}; Remark = {remark.replace(chr(10), ' ')}; Price = {price}"
            for number, (card, remark, price) in enumerate(WRAPPED, start=2)
        ),
    ),
    Awkward(
        "PDF: two tables on a page with a sentence between, a page turned by 90 degrees",
        "turned.pdf",
        _turned,
        rows=(
            "page 1, table 1 row 2 | GPU = A100; Price = 1.80",
            "page 1, table 2 row 2 | Region = Paris; Tax = 0",
            "page 2, table 3 row 2 | Card = L4; Fee = 5",
        ),
        texts=("The taxes below apply to every offer above, whatever the region of the buyer may be.",),
    ),
    Awkward(
        "PDF: a table of three lines across, as in Chinese papers",
        "三线表.pdf",
        lambda: _story(lambda platypus: [_three_lines(platypus)]),
        rows=(
            "第 1 页, 第 2 行 | 型号 = A100; 地区 = 北京; 价格 = 28.64",
            "第 1 页, 第 3 行 | 型号 = H100; 地区 = 上海; 价格 = 61.20",
            "第 1 页, 第 4 行 | 型号 = L4; 地区 = 深圳; 价格 = 0",
        ),
    ),
    Awkward("PDF: no text layer", "scan.pdf", lambda: _drawn(_scan), refused="no-text-layer"),
    Awkward(
        "PDF: a scanned page after one with text",
        "half.pdf",
        lambda: _drawn(_half_scanned),
        texts=("Prices exclude tax.",),
        notes=("no text layer and were not read: 2",),
    ),
    Awkward("PDF: password to open", "locked.pdf", lambda: _locked("secret"), refused="encrypted"),
    Awkward("PDF: password to change only", "owner.pdf", lambda: _locked(""), texts=("Prices exclude tax.",)),
    Awkward("PDF: cut off", "cut.pdf", _cut_off, refused="broken"),
    Awkward("PDF: called .txt", "report.txt", lambda: _drawn(_sentence), texts=("Prices exclude tax.",)),
    Awkward("PDF: pages without anything on them", "blank.pdf", lambda: _drawn(lambda canvas: canvas.showPage()), refused="empty"),
]  # fmt: skip
