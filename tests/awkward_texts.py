"""Awkward Markdown, plain text, HTML and CSV."""

from __future__ import annotations

import codecs

from awkward_files import Awkward, utf8

CHINESE = "云主机报价：A100 每小时 28.64 元，H100 每小时 61.20 元。预付一年享八折优惠，价格含税。"
RARE = "供应商𠮷田算力（䶮厂房）提供 8 卡 H800 服务器，每台 230 万元，另收安装费 0 元。"
TRADITIONAL = "雲主機報價：A100 每小時 28.64 元，H100 每小時 61.20 元。預付一年享八折優惠，價格含稅。"
WESTERN = "The café’s H100 costs €2.49 per hour – naïve buyers pay more."


MARKDOWN = [
    Awkward(
        "Markdown: pipes in cells, escaped, in code spans and both",
        "接口.md",
        utf8(r"""
# 接口一览

| 型号 | 接口 | 单价 |
|------|------|-----:|
| A100 \| H100 | `a|b` | 28.64 |
| H20 | `x\|y` | 0 |
"""),
        rows=("第 2 行 | 型号 = A100 | H100; 接口 = a|b; 单价 = 28.64", "第 3 行 | 型号 = H20; 接口 = x|y; 单价 = 0"),
    ),
    Awkward(
        "Markdown: ragged rows, one too short and one too long",
        "ragged.md",
        utf8("""
Prices below were taken from three vendors in March, and none of them includes tax or delivery.

| GPU | Price | Currency |
|---|---|---|
| A100 | 1.80 |
| H100 | 2.49 | USD | weekends only |
|  | 3.10 | EUR |
"""),
        rows=(
            "table row 2 | GPU = A100; Price = 1.80",
            "table row 3 | GPU = H100; Price = 2.49; Currency = USD; column 4 = weekends only",
            "table row 4 | Price = 3.10; Currency = EUR",
        ),
        texts=("Prices below were taken from three vendors in March, and none of them includes tax or delivery.",),
    ),
    Awkward(
        "Markdown: HTML table inside, with blank lines and a merged cell",
        "混排.md",
        utf8("""
# 算力报价

本页的价格由三家供应商在三月提供，均不含税，最终以合同为准，请在采购前再次核对。

<table>
<tr><th>型号</th><th>地区</th><th>价格</th></tr>

<tr><td rowspan="2">H100</td><td>北京</td><td>61.2</td></tr>

<tr><td>上海</td><td></td></tr>
</table>

以上价格有效期为三十天，过期后需要重新询价，长期合同另有折扣，详情请联系销售人员。
"""),
        rows=("表格第 2 行 | 型号 = H100; 地区 = 北京; 价格 = 61.2", "表格第 3 行 | 型号 = H100; 地区 = 上海"),
        texts=(
            "本页的价格由三家供应商在三月提供，均不含税，最终以合同为准，请在采购前再次核对。",
            "以上价格有效期为三十天，过期后需要重新询价，长期合同另有折扣，详情请联系销售人员。",
        ),
    ),
    Awkward(
        "Markdown: table without outer pipes, zero beside empty",
        "bare.md",
        utf8("""
GPU | Setup fee | Price
--- | --- | ---
A100 | 0 | 1.80
H100 | | 2.49
"""),
        rows=("row 2 | GPU = A100; Setup fee = 0; Price = 1.80", "row 3 | GPU = H100; Price = 2.49"),
    ),
    Awkward(
        "Markdown: table directly below its caption and above a remark",
        "紧挨.md",
        utf8("""
表 1 云主机价格（元/小时）：
| 型号 | 价格 |
|---|---|
| A100 | 28.64 |
注：价格含税
"""),
        rows=("表格第 2 行 | 表 1 云主机价格（元/小时）; 型号 = A100; 价格 = 28.64",),
        texts=("注：价格含税",),
    ),
    Awkward(
        "Markdown: CRLF, UTF-8 mark and front matter",
        "front.md",
        codecs.BOM_UTF8
        + b"---\r\ntitle: GPU prices\r\ndraft: false\r\n---\r\n\r\n| GPU | Price |\r\n|---|---|\r\n| A100 | 1.80 |\r\n",
        rows=("row 2 | GPU = A100; Price = 1.80",),
    ),
    Awkward(
        "Markdown: a dash line of another width makes it a paragraph, and code is no table",
        "not-tables.md",
        utf8("""
| GPU | Price |
|---|---|---|
| A100 | 1.80 |

```
| GPU | Price |
|---|---|
| H100 | 2.49 |
```
"""),
        texts=(
            "| GPU | Price |\n|---|---|---|\n| A100 | 1.80 |\n\n```\n| GPU | Price |\n|---|---|\n| H100 | 2.49 |\n```",
        ),
    ),
    Awkward(
        "Markdown: tables in a list and in a quotation, under headings of two levels",
        "嵌套.md",
        utf8("""
# 报价

## 华东

- 上海
  | 型号 | 价格 |
  |---|---|
  | A100 | 28.64 |

## 华北

> | 型号 | 价格 |
> |---|---|
> | H100 | 61.2 |
"""),
        rows=(
            "§ 华东, 第 1 个表格第 2 行 | 表：上海; 型号 = A100; 价格 = 28.64",
            "§ 华北, 第 2 个表格第 2 行 | 型号 = H100; 价格 = 61.2",
        ),
    ),
    Awkward(
        "Markdown: marks, links, breaks and HTML in cells, two columns of one name",
        "marks.md",
        utf8(r"""
| **GPU** | Price | Price | [Note](https://example.com) |
|:--|--:|:-:|---|
| [A100](https://example.com/a?b=1) | **1.80** | `$2`<br>per hour | 4*72*28 |
| H100\* | ~~3.00~~ 2.49 | 0 | a \\ b &amp; c <b>d</b> |
"""),
        rows=(
            "row 2 | GPU = A100; Price = 1.80; Price = $2 per hour; Note = 4*72*28",
            r"row 3 | GPU = H100*; Price = ~~3.00~~ 2.49; Price = 0; Note = a \ b & c d",
        ),
    ),
    Awkward(
        "Markdown: a property table, a group title and its heading row again",
        "分组.md",
        utf8("""
# 对比

## 规格

|  | A100 | H100 |
|---|---|---|
| 显存 | 80 GB | 80 GB |
| 折扣 | 0 |  |

## 报价

| 型号 | 地区 | 价格 |
|---|---|---|
| A100 | 北京 | 28.64 |
| 型号 | 地区 | 价格 |
| H100 | 上海 | 61.2 |
"""),
        rows=(
            "§ 规格, 第 1 个表格第 2 行 | 显存：A100 = 80 GB; H100 = 80 GB",
            "§ 规格, 第 1 个表格第 3 行 | 折扣：A100 = 0",
            "§ 报价, 第 2 个表格第 2 行 | 型号 = A100; 地区 = 北京; 价格 = 28.64",
            "§ 报价, 第 2 个表格第 4 行 | 型号 = H100; 地区 = 上海; 价格 = 61.2",
        ),
    ),
    Awkward(
        "Markdown: GBK, and two rows that are equal",
        "重复.md",
        "| 型号 | 价格 |\r\n|---|---|\r\n| 昇腾 910B | 18.5 |\r\n| 昇腾 910B | 18.5 |\r\n".encode("gbk"),
        rows=("第 2 行 | 型号 = 昇腾 910B; 价格 = 18.5", "第 3 行 | 型号 = 昇腾 910B; 价格 = 18.5"),
    ),
    Awkward(
        "Markdown: footnotes",
        "脚注.md",
        utf8("""
本页的价格由三家供应商在三月提供，最终以合同为准，请在采购前再次核对。[^1]

[^1]: 价格不含税，另计运费。
"""),
        texts=(
            "本页的价格由三家供应商在三月提供，最终以合同为准，请在采购前再次核对。[^1]\n\n[^1]: 价格不含税，另计运费。",
        ),
    ),
    Awkward(
        "Markdown: a table in a numbered list, one in a folded part of the page, rows after a blank line",
        "folded.md",
        utf8("""
1. On demand:

   | GPU | Price |
   |---|---|
   | A100 | 1.80 |

2. Ask for the rest.

<details>
<summary>Spot prices</summary>

| GPU | Price |
|---|---|
| A100 | 0 |

| H100 | 2.49 |

</details>
"""),
        rows=(
            "table 1 row 2 | Table: On demand; GPU = A100; Price = 1.80",
            "table 2 row 2 | Table: Spot prices; GPU = A100; Price = 0",
        ),
        texts=("Ask for the rest.", "| H100 | 2.49 |"),
    ),
]

PLAIN = [
    Awkward("text: UTF-8", "utf8.txt", CHINESE.encode(), texts=(CHINESE,)),
    Awkward("text: UTF-8 with mark", "utf8-bom.txt", CHINESE.encode("utf-8-sig"), texts=(CHINESE,)),
    Awkward("text: UTF-16LE with mark", "le.txt", codecs.BOM_UTF16_LE + RARE.encode("utf-16-le"), texts=(RARE,)),
    Awkward("text: UTF-16BE with mark", "be.txt", codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), texts=(CHINESE,)),
    Awkward("text: GBK", "gbk.txt", CHINESE.encode("gbk"), texts=(CHINESE,)),
    Awkward("text: GB18030 with four-byte characters", "gb18030.txt", RARE.encode("gb18030"), texts=(RARE,)),
    Awkward("text: Big5, traditional", "big5.txt", TRADITIONAL.encode("big5"), texts=(TRADITIONAL,)),
    Awkward("text: UTF-16LE without a mark", "bare16.txt", CHINESE.encode("utf-16-le"), texts=(CHINESE,)),
    Awkward("text: a few characters of GBK", "短.txt", "单价：28.64 元".encode("gbk"), texts=("单价：28.64 元",)),
    Awkward("text: JSON", "offer.json", b'{"gpu": "A100", "price": 1.80, "fee": 0}', texts=('{"gpu": "A100", "price": 1.80, "fee": 0}',)),
    Awkward("text: Windows-1252", "western.txt", WESTERN.encode("cp1252"), texts=(WESTERN,)),
    Awkward("text: no extension, old Mac line ends", "README", b"H100 rental notes\r\rPrices exclude tax.\r",
            texts=("H100 rental notes\n\nPrices exclude tax.",)),
    Awkward("text: columns aligned by spaces stay together", "对齐.txt",
            utf8("型号    价格\nA100    28.64\nH100    61.20\n"), texts=("型号    价格\n\nA100    28.64\nH100    61.20",)),
]  # fmt: skip

TEXT_FILES = [*MARKDOWN, *PLAIN]
