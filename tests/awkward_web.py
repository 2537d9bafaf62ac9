"""Awkward HTML and CSV."""

from __future__ import annotations

import codecs

from awkward_files import Awkward, utf8


def _page(body: str, head: str = '<meta charset="utf-8"><title>t</title>') -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


HTML = [
    Awkward(
        "HTML: charset gbk in a meta element",
        "gbk.html",
        "<html><head><meta http-equiv=Content-Type content='text/html; charset=gbk'><title>价格</title></head>"
        "<body><table><tr><th>型号<th>价格<tr><td>昇腾 910B<td>18.5</table></body></html>".encode("gbk"),
        rows=("第 2 行 | 型号 = 昇腾 910B; 价格 = 18.5",),
    ),
    Awkward(
        "HTML: rowspan and colspan in one cell, in heading and body",
        "spans.html",
        _page("""<table>
<tr><th rowspan=2>GPU</th><th colspan=2>Price</th></tr><tr><th>Beijing</th><th>Paris</th></tr>
<tr><td>A100</td><td rowspan=2 colspan=2>on request</td></tr><tr><td>H100</td></tr>
<tr><td>L4</td><td>0</td><td></td></tr></table>"""),
        rows=(
            "row 3 | GPU = A100; Price / Beijing = on request; Price / Paris = on request",
            "row 4 | GPU = H100; Price / Beijing = on request; Price / Paris = on request",
            "row 5 | GPU = L4; Price / Beijing = 0",
        ),
    ),
    Awkward(
        "HTML: rowspan=0 reaches to the end of its row group",
        "rowspan0.html",
        _page("""<table><thead><tr><th>地区</th><th>型号</th><th>价格</th></tr></thead>
<tbody><tr><td rowspan=0>华东</td><td>A100</td><td>28.64</td></tr><tr><td>H100</td><td>61.2</td></tr></tbody>
<tbody><tr><td>华北</td><td>H20</td><td>12</td></tr></tbody></table>"""),
        rows=(
            "第 2 行 | 地区 = 华东; 型号 = A100; 价格 = 28.64",
            "第 3 行 | 地区 = 华东; 型号 = H100; 价格 = 61.2",
            "第 4 行 | 地区 = 华北; 型号 = H20; 价格 = 12",
        ),
    ),
    Awkward(
        "HTML: a table within a cell",
        "nested.html",
        _page("""<table><tr><th>Vendor</th><th>Offer</th></tr><tr><td>Acme</td><td>see below
<table><tr><th>GPU</th><th>Price</th></tr><tr><td>A100</td><td>1.80</td></tr></table></td></tr>
<tr><td>Blue</td><td>none</td></tr></table>"""),
        rows=(
            "table 1 row 2 | Vendor = Acme; Offer = see below",
            "table 1 row 3 | Vendor = Blue; Offer = none",
            "table 2 row 2 | GPU = A100; Price = 1.80",
        ),
    ),
    Awkward(
        "HTML: tfoot before tbody, caption, row headings",
        "foot.html",
        _page("""<h1>t</h1><h2>Rental</h2><table><caption>Prices in USD per hour</caption>
<thead><tr><td></td><th>A100</th><th>H100</th></tr></thead>
<tfoot><tr><th>Average</th><td>1.85</td><td>2.50</td></tr></tfoot>
<tbody><tr><th>On demand</th><td>1.80</td><td>2.49</td></tr><tr><th scope=row>Spot</th><td>0</td><td></td></tr></tbody></table>"""),
        rows=(
            "§ Rental, row 2 | Table: Prices in USD per hour; On demand: A100 = 1.80; H100 = 2.49",
            "§ Rental, row 3 | Table: Prices in USD per hour; Spot: A100 = 0",
            "§ Rental, row 4 | Table: Prices in USD per hour; Average: A100 = 1.85; H100 = 2.50",
        ),
    ),
    Awkward(
        "HTML: br in cells, entities, semicolons in a cell",
        "entities.html",
        _page("""<table><tr><th>型号<br>规格</th><th>价格&nbsp;&#40;&yen;&#41;</th></tr>
<tr><td>H100<br/>80&nbsp;GB</td><td>&lt;&nbsp;62.5 &amp; up; tax free</td></tr></table>"""),
        rows=("第 2 行 | 型号 规格 = H100 80 GB; 价格 (¥) = < 62.5 & up, tax free",),
    ),
    Awkward(
        "HTML: hidden rows and a hidden table are read, scripts are not",
        "hidden.html",
        _page("""<script>var price = "9999";</script><style>td{color:red}</style>
<table><tr><th>GPU</th><th>Price</th></tr><tr><td>A100</td><td>1.80</td></tr>
<tr style="display:none"><td>H100</td><td>2.49</td></tr></table>
<div hidden><table><tr><th>GPU</th><th>Price</th></tr><tr><td>L4</td><td>0.70</td></tr></table></div>"""),
        rows=(
            "table 1 row 2 | GPU = A100; Price = 1.80",
            "table 1 row 3 | GPU = H100; Price = 2.49",
            "table 2 row 2 | GPU = L4; Price = 0.70",
        ),
    ),
    Awkward(
        "HTML: rows and cells never closed, text astray between them",
        "malformed.html",
        b"<table><tr><th>GPU<th>Price<tr><td>A100<td>1.80<tr><td>H100<td>2.49</table><p>Prices exclude tax.",
        rows=("table row 2 | GPU = A100; Price = 1.80", "table row 3 | GPU = H100; Price = 2.49"),
        texts=("Prices exclude tax.",),
    ),
    Awkward(
        "HTML: a layout table of one cell is no table",
        "layout.html",
        _page("""<table role=presentation><tr><td><p>We rent cards by the hour to teams that train models of their own.</p>
<table><tr><th>GPU</th><th>Price</th></tr><tr><td>A100</td><td>1.80</td></tr></table></td></tr></table>"""),
        rows=("table row 2 | GPU = A100; Price = 1.80",),
        texts=("We rent cards by the hour to teams that train models of their own.",),
    ),
    Awkward(
        "HTML exported as .xls by a web shop",
        "报价.xls",
        _page("<table><tr><td>型号</td><td>价格</td></tr><tr><td>A100</td><td>28.64</td></tr></table>"),
        rows=("第 2 行 | 型号 = A100; 价格 = 28.64",),
    ),
    Awkward(
        "HTML: says utf-8 and is GBK",
        "liar.html",
        "<meta charset=utf-8><table><tr><th>型号<th>每小时价格<tr><td>昇腾 910B<td>18.5 元</table>".encode("gbk"),
        rows=("第 2 行 | 型号 = 昇腾 910B; 每小时价格 = 18.5 元",),
    ),
    Awkward(
        "HTML: spans beyond the end of the table and across each other",
        "overlap.html",
        _page("""<table><tr><th>GPU</th><th>Region</th><th>Price</th></tr>
<tr><td rowspan=99>A100</td><td>Paris</td><td>1.80</td></tr><tr><td colspan=9>on request</td></tr></table>"""),
        rows=(
            "row 2 | GPU = A100; Region = Paris; Price = 1.80",
            "row 3 | GPU = A100; Region = on request; Price = on request",
        ),
    ),
    Awkward(
        "HTML: two bodies with a title each, a comment and a superscript in cells",
        "bodies.html",
        _page("""<table><thead><tr><th>Card</th><th>Memory</th><th>Price</th></tr></thead>
<tbody><tr><th colspan=3>Region Paris</th></tr><tr><td>A100<sup>1</sup></td><td>80<!-- no -->GB</td><td>1.80</td></tr></tbody>
<tbody><tr><th colspan=3>Region Berlin</th></tr><tr><td>H100</td><td></td><td>0</td></tr></tbody></table>"""),
        rows=(
            "row 3 | group: Region Paris; Card = A100^1; Memory = 80GB; Price = 1.80",
            "row 5 | group: Region Berlin; Card = H100; Price = 0",
        ),
    ),
    Awkward(
        "HTML: a title in the head of the table, a struck price",
        "表头.html",
        _page("""<table><thead><tr><th colspan=2>云主机价格</th></tr><tr><th>型号</th><th>价格</th></tr></thead>
<tr><td>A100</td><td>28.64 <del>30</del></td></tr></table>"""),
        rows=("第 3 行 | 表：云主机价格; 型号 = A100; 价格 = 28.64 ~~30~~",),
    ),
    Awkward(
        "HTML: labels in row headings, no heading row",
        "labels.html",
        _page("<p>价格<table><tr><th>型号<td>A100<tr><th>价格<td>28<tr><th>库存<td>0</table>"),
        rows=(
            "表格第 1 行 | 表：价格; 型号 = A100",
            "表格第 2 行 | 表：价格; 价格 = 28",
            "表格第 3 行 | 表：价格; 库存 = 0",
        ),
    ),
    Awkward("HTML: scripts only", "app.html", _page("<div id=app></div><script>load()</script>"), refused="empty"),
]

CSV = [
    Awkward(
        "CSV: semicolons, decimal commas, zero beside empty",
        "eu.csv",
        utf8("GPU;Setup fee;Price\nA100;0;1,80\nH100;;2,49\n"),
        rows=("line 2 | GPU = A100; Setup fee = 0; Price = 1,80", "line 3 | GPU = H100; Price = 2,49"),
    ),
    Awkward(
        "CSV: tabs in a file called .csv, commas in cells",
        "tabs.csv",
        utf8("型号\t说明\t价格\nA100\t80 GB, SXM\t28.64\nH100\t80 GB, PCIe\t61.2\n"),
        rows=(
            "第 2 行 | 型号 = A100; 说明 = 80 GB, SXM; 价格 = 28.64",
            "第 3 行 | 型号 = H100; 说明 = 80 GB, PCIe; 价格 = 61.2",
        ),
    ),
    Awkward(
        "CSV: line breaks and quotes inside quoted cells",
        "quoted.csv",
        utf8('GPU,Remark,Price\n"A100","first line\nsecond ""quoted"", line",1.80\nH100,plain,2.49\n'),
        rows=(
            'line 2 | GPU = A100; Remark = first line second "quoted", line; Price = 1.80',
            "line 4 | GPU = H100; Remark = plain; Price = 2.49",
        ),
    ),
    Awkward(
        "CSV: UTF-8 mark and CRLF as Excel writes it",
        "excel.csv",
        codecs.BOM_UTF8 + "型号,价格\r\nA100,28.64\r\n".encode(),
        rows=("第 2 行 | 型号 = A100; 价格 = 28.64",),
    ),
    Awkward(
        "CSV: GBK",
        "gbk.csv",
        "型号,地区,价格\r\nA100,北京,28.64\r\n昇腾910B,上海,0\r\n".encode("gbk"),
        rows=("第 2 行 | 型号 = A100; 地区 = 北京; 价格 = 28.64", "第 3 行 | 型号 = 昇腾910B; 地区 = 上海; 价格 = 0"),
    ),
    Awkward(
        "CSV: UTF-16 with tabs, Excel's Unicode text",
        "unicode.txt.csv",
        "型号\t价格\r\nA100\t28.64\r\n".encode("utf-16"),
        rows=("第 2 行 | 型号 = A100; 价格 = 28.64",),
    ),
    Awkward(
        "CSV: ragged rows",
        "ragged.csv",
        utf8("GPU,Price,Currency\nA100,1.80\nH100,2.49,USD,weekends only\nL4,0.70,USD\n"),
        rows=(
            "line 2 | GPU = A100; Price = 1.80",
            "line 3 | GPU = H100; Price = 2.49; Currency = USD; column 4 = weekends only",
            "line 4 | GPU = L4; Price = 0.70; Currency = USD",
        ),
    ),
    Awkward(
        "CSV: title and unit lines before the heading",
        "标题.csv",
        utf8("2025 年 3 月云主机报价,,\n单位：元/小时,,\n型号,地区,价格\nA100,北京,28.64\n"),
        rows=("第 4 行 | 表：2025 年 3 月云主机报价（单位：元/小时）; 型号 = A100; 地区 = 北京; 价格 = 28.64",),
    ),
    Awkward(
        "CSV: a stated delimiter, thousands, blank columns at the end",
        "sep.csv",
        utf8("sep=;\nGPU;Count;Price;;\nA100;1,024;1.80;;\n;;;;\nH100;0;;;\n"),
        rows=("line 3 | GPU = A100; Count = 1,024; Price = 1.80", "line 5 | GPU = H100; Count = 0"),
    ),
    Awkward(
        "CSV: one column",
        "one.csv",
        utf8("型号\nA100\nH100, SXM\n0\n"),
        rows=("第 2 行 | 型号 = A100", "第 3 行 | 型号 = H100, SXM", "第 4 行 | 型号 = 0"),
    ),
    Awkward(
        "CSV: old Mac line ends, pipes, an index column without a name",
        "mac.csv",
        b"|GPU|Price\r0|A100|1.80\r1|H100|2.49\r",
        rows=("line 2 | 0: GPU = A100; Price = 1.80", "line 3 | 1: GPU = H100; Price = 2.49"),
    ),
    Awkward(
        "CSV: three hundred columns",
        "wide.csv",
        utf8(",".join(f"c{n}" for n in range(300)) + "\n" + ",".join(f"v{n}" for n in range(300)) + "\n"),
        rows=("line 2 | " + "; ".join(f"c{n} = v{n}" for n in range(300)),),
    ),
    Awkward(
        "CSV: a remark below that its own comma cuts",
        "source.csv",
        utf8("Prices as of March\n\nGPU,Price,Region\nA100,1.80,Paris\n\nSource: vendors, March 2025\n"),
        rows=("line 4 | Table: Prices as of March; GPU = A100; Price = 1.80; Region = Paris",),
        texts=("Source: vendors, March 2025",),
    ),
    Awkward(
        "CSV: no heading row",
        "bare.csv",
        utf8("A100,80,1.80\nH100,80,2.49\nL4,24,0\n"),
        rows=(
            "line 1 | column 1 = A100; column 2 = 80; column 3 = 1.80",
            "line 2 | column 1 = H100; column 2 = 80; column 3 = 2.49",
            "line 3 | column 1 = L4; column 2 = 24; column 3 = 0",
        ),
    ),
    Awkward(
        "CSV: years as headings, a total",
        "years.csv",
        utf8("型号,2024年,2025年\nA100,28.64,25\nH100,61.2,0\n合计,89.84,25\n"),
        rows=(
            "第 2 行 | 型号 = A100; 2024年 = 28.64; 2025年 = 25",
            "第 3 行 | 型号 = H100; 2024年 = 61.2; 2025年 = 0",
            "第 4 行 | 型号 = 合计; 2024年 = 89.84; 2025年 = 25",
        ),
    ),
    Awkward(
        "CSV: a quotation form, labels and values right above the heading",
        "报价单.csv",
        utf8("客户,甲公司,\n日期,2025-03-01,\n型号,数量,单价\nH100,8,250000\nA100,0,\n"),
        rows=("第 4 行 | 型号 = H100; 数量 = 8; 单价 = 250000", "第 5 行 | 型号 = A100; 数量 = 0"),
        texts=("客户 | 甲公司\n\n日期 | 2025-03-01",),
    ),
    Awkward("CSV: heading only", "header.csv", utf8("GPU,Price,Currency\n"), refused="empty"),
    Awkward("CSV: quotes that do not pair", "unpaired.csv", utf8('GPU,Price\n"A100,1.80\nH100,2.49\n'), refused="broken"),
    Awkward(
        "CSV: two tables of different widths below each other",
        "two.csv",
        utf8("GPU,Price\nA100,1.80\nH100,2.49\n\nRegion,Tax,Shipping\nParis,20%,0\nBerlin,19%,\n"),
        rows=(
            "line 2 | GPU = A100; Price = 1.80",
            "line 3 | GPU = H100; Price = 2.49",
            "line 6 | Region = Paris; Tax = 20%; Shipping = 0",
            "line 7 | Region = Berlin; Tax = 19%",
        ),
    ),
]  # fmt: skip

WEB_FILES = [*HTML, *CSV]
