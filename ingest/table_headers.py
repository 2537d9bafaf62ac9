"""Finds the header rows of a table whose format does not mark them, and words headers of several rows as one.

Judges by kinds of cells: a word above figures is a header, a figure above figures of the same unit is data. Works on
rows without blank ones, reads no files, raises nothing: an unclear table is taken to begin with one header row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from knowledge.keywords import HAN

Cells = tuple[str, ...]

MOST_HEADER_ROWS = 4
SAMPLE_ROWS = 60

UNIT_NAMES = (
    r"[kKMGTP]i?[Bb](?:ps|/s)?|[TPG]?FLOPS?|TOPS|k?W|[MG]?Hz|nm|mm|℃|°C|%|[A-Z]{3}|[$¥￥€]|"
    r"[百千万亿]{0,2}(?:元|美元|人民币)|个|张|块|台|核|卡|颗|路|倍|瓦|[天日年月周]|个月|小时|分钟|秒|h|hrs?|hours?|days?|months?|years?"
)
UNIT = re.compile(rf"(?:{UNIT_NAMES})(?:\s*/\s*[A-Za-z{HAN}]{{1,6}})*", re.I)
BRACKETED = re.compile(r"[(（\[【]\s*(.{1,24}?)\s*[)）\]】]")
FIGURE = r"\d[\d,]*(?:\.\d+)?"
NUMBER = re.compile(
    rf"(?:CNY|USD|RMB|US\$|[-+~≈<>≤≥±−$¥￥€£约\s]){{0,4}}{FIGURE}(?:\s*[-–~～至]\s*{FIGURE})?\s*"
    rf"((?:[万亿千百]{{0,2}}\s*(?:[A-Za-z%°℃]{{1,8}}|[{HAN}]{{1,3}})?(?:\s*/\s*[A-Za-z{HAN}]{{1,5}}){{0,3}})?)"
)
YEAR = re.compile(r"(?:19|20)\d\d\s*年?")
DATE = re.compile(r"\d{4}[-/.年]\s*\d{1,2}(?:[-/.月]\s*\d{1,2}\s*日?|月)?(?:[ T]\d{1,2}:\d{2}.{0,10})?")
FLAG = re.compile(r"[-—–/√×✓✗✔✘○●]+|n/?a|tbd|是|否|有|无|支持|不支持|免费|暂无|未知|面议|yes|no|none|true|false", re.I)
VALUE_WORD = re.compile(r"值|数值|参数|内容|说明|描述|详情|规格|配置|备注|values?|description|details?|specs?|content", re.I)  # fmt: skip
PROPERTY = re.compile(
    r"显卡|显存|内存|价格|单价|售价|型号|功耗|带宽|接口|算力|架构|制程|频率|核心|品牌|厂商|地域|地区|尺寸|重量|日期|名称|数量|联系|电话|"
    r"gpu|card|memory|price|model|power|tdp|bandwidth|interface|architecture|process|clock|cores?|brand|vendor|region|size|date|name|"
    r"quantity|contact",
    re.I,
)


def kind_of(cell: str) -> str | None:
    """ "text", "year", "date", or "number" with its unit; None for a cell that says nothing about its column."""
    if not cell or FLAG.fullmatch(cell):
        return None
    if len(cell) > 40 or not any(character.isdigit() for character in cell):
        return "text"
    if YEAR.fullmatch(cell):
        return "year"
    if DATE.fullmatch(cell):
        return "date"
    number = NUMBER.fullmatch(cell)
    return f"number {number[1].replace(' ', '').lower()}" if number else "text"


def is_figure(cell: str) -> bool:
    """Whether a cell is a number, a date or a mark such as "-" and "N/A" rather than words."""
    return kind_of(cell) != "text"


def header_height(rows: Sequence[Cells]) -> int:
    """How many of these rows, none of them blank, are the header: 0 for a table of data only, at most 4."""
    if len(rows) < 2 or _begins_with_data(rows):
        return 0
    height = 1
    while height < min(MOST_HEADER_ROWS, len(rows) - 1) and _goes_on(rows[height - 1], rows[height], rows[height + 1]):
        height += 1
    return height


def is_key_value(rows: Sequence[Cells]) -> bool:
    """Whether two columns are labels and values without a header: 显存 | 80 GB, 功耗 | 300 W."""
    if len(rows) < 2 or len(rows[0]) != 2 or VALUE_WORD.fullmatch(rows[0][1]) or PROPERTY.fullmatch(rows[0][1]):
        return False
    labels = [row[0] for row in rows]
    if len(set(labels)) < len(labels) or any(is_figure(label) for label in labels):
        return False
    if sum(bool(PROPERTY.search(label)) for label in labels) * 2 > len(labels):
        return True
    units = Counter(kind for row in rows if (kind := kind_of(row[1])) and kind != "text")
    return len(units) > 1 and max(units.values()) * 2 <= len(rows) and len(units) * 2 >= len(rows)


def unit_of(cell: str) -> str:
    """The unit that a cell under a header gives, without brackets; "" if it is something else."""
    if bracketed := BRACKETED.fullmatch(cell):
        return "" if is_figure(bracketed[1]) and not UNIT.fullmatch(bracketed[1]) else bracketed[1]
    return cell if UNIT.fullmatch(cell) else ""


def is_unit_row(row: Cells, headers: Cells, below: Cells) -> bool:
    """Whether a row under the header only says the units of the columns. `below` is the row after it."""
    units = 0
    for cell, header, value in zip(row, headers, below, strict=True):
        if not cell or cell == header or cell in ("单位", "unit", "Unit", "-"):
            continue
        if not unit_of(cell) or not (BRACKETED.fullmatch(cell) or (value and is_figure(value))):
            return False
        units += 1
    return units > 0


def joined_headers(header_rows: Sequence[Cells]) -> Cells:
    """One header for each column: 价格 above 按需 is "价格 / 按需"; what a merge repeats is said once."""
    filled = [list(row) for row in header_rows]
    for upper, lower in pairwise(filled):
        _carry_groups(upper, lower)
    joined = []
    for column in zip(*filled, strict=True):
        parts: list[str] = []
        for part in column:
            if part and part not in parts[-1:]:
                parts.append(part)
        joined.append(" / ".join(parts))
    return tuple(joined)


def _carry_groups(upper: list[str], lower: Sequence[str]) -> None:
    """Give a group's label to the columns right of it where a file saved the merged cell as one value and blanks."""
    label = ""
    for at, below in enumerate(lower):
        if upper[at]:
            label = upper[at] if below else ""
        elif label and below:
            upper[at] = label


def _begins_with_data(rows: Sequence[Cells]) -> bool:
    first, sample = rows[0], rows[1:SAMPLE_ROWS]
    like_below = unlike_below = 0
    repeated = first in sample
    for at, cell in enumerate(first):
        top = kind_of(cell)
        kinds = Counter(kind for row in sample if (kind := kind_of(row[at])))
        if top is None or not kinds:
            continue
        common = kinds.most_common(1)[0][0]
        if top != "text" and kinds[top]:
            like_below += 1
        elif top != common:
            unlike_below += 1
        elif not repeated and _comes_again(cell, [row[at] for row in sample]):
            like_below += 1
    return like_below > unlike_below


def _comes_again(cell: str, below: Sequence[str]) -> bool:
    """Whether a value of the first row is a value of later rows too, merged cells right under it aside."""
    at = 0
    while at < len(below) and below[at] == cell:
        at += 1
    return cell in below[at:]


def _goes_on(upper: Cells, row: Cells, after: Cells) -> bool:
    """Whether the row under a header row belongs to the header too."""
    return _under_merged_groups(upper, row, after) or _under_saved_groups(upper, row, after)


def _under_merged_groups(upper: Cells, row: Cells, after: Cells) -> bool:
    """`upper` has the label of a group in each of its columns: GPU | 价格 | 价格 over GPU | 按需 | 包月."""
    last = len(upper) - 1
    in_group = [
        bool(cell) and ((at > 0 and upper[at - 1] == cell) or (at < last and upper[at + 1] == cell))
        for at, cell in enumerate(upper)
    ]
    outside = [at for at, grouped in enumerate(in_group) if not grouped]
    inside = [at for at, grouped in enumerate(in_group) if grouped]
    if not inside or any(row[at] not in ("", upper[at]) for at in outside) or not all(row[at] for at in inside):
        return False
    for at in inside[:-1]:
        if upper[at] == upper[at + 1] and row[at] == row[at + 1] and in_group[at + 1] and row[at] == upper[at]:
            return False  # a row of the same label again is no level below it
    if any(row[at] == upper[at] != "" for at in outside):
        return all(kind_of(row[at]) == "text" or kind_of(row[at]) != kind_of(after[at]) for at in inside)
    below_is_figures = any(is_figure(after[at]) for at in inside if after[at])
    return all(kind_of(row[at]) == "text" for at in inside) and (bool(outside) or below_is_figures)


def _under_saved_groups(upper: Cells, row: Cells, after: Cells) -> bool:
    """The same as a CSV file has it, each merged cell as one value and blanks: GPU | 价格 | "" over "" | 按需 | 包月."""
    if not any(not cell and row[at] for at, cell in enumerate(upper) if at) or any(
        cell and kind_of(cell) != "text" for cell in row
    ):
        return False
    if any(not cell and upper[at] for at, cell in enumerate(row)):
        return all(cell or upper[at] for at, cell in enumerate(row))
    return any(value and is_figure(value) for value in after)
