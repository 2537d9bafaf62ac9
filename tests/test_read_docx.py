"""Word documents as blocks: merged cells, headings by any style, and what mammoth alone would lose."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ingest.blocks import FileRefusedError, Grid, Heading, Parsed, Text
from ingest.read_docx import read


def saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def parsed(document: Any) -> Parsed:
    """The document read, after checking that as many rows were counted in the XML as are in the grids."""
    found = read(saved(document), "folder/name.docx")
    assert found.table_rows == sum(len(block.rows) for block in found.blocks if isinstance(block, Grid))
    return found


def grids(document: Any) -> list[Grid]:
    return [block for block in parsed(document).blocks if isinstance(block, Grid)]


def rows(document: Any) -> list[list[str]]:
    (grid,) = grids(document)
    return [list(row) for row in grid.rows]


def xml(text: str) -> Any:
    """An element written with the prefix w."""
    return parse_xml(re.sub(r"^<([\w:]+)", rf"<\1 {nsdecls('w')}", text))


def table_xml(*table_rows: str) -> Any:
    """A document with one table of rows; in a row, `text`, `2:text` (columns), `^` (continues), `v:text` (begins)."""
    document = docx.Document()
    body = []
    for row in table_rows:
        cells = []
        for cell in row.split("|"):
            span, _, text = cell.rpartition(":")
            merge = '<w:vMerge w:val="restart"/>' if span == "v" else "<w:vMerge/>" if text == "^" else ""
            columns = f'<w:gridSpan w:val="{span}"/>' if span.isdigit() else ""
            text = text.replace("^", "")
            cells.append(f"<w:tc><w:tcPr>{columns}{merge}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
        body.append(f"<w:tr>{''.join(cells)}</w:tr>")
    document.element.body.insert(0, xml(f"<w:tbl><w:tblPr/><w:tblGrid/>{''.join(body)}</w:tbl>"))
    return document


@pytest.mark.parametrize(
    ("table_rows", "expected"),
    [
        (["a|b", "0|0%"], [["a", "b"], ["0", "0%"]]),
        (["2:p", "h|d"], [["p", "p"], ["h", "d"]]),
        (["v:a|1", "^|2"], [["a", "1"], ["a", "2"]]),
        # the grid is finer than any row shows
        (["2:a|b", "2:1|2"], [["a", "b"], ["1", "2"]]),
        # continues nothing: the cell above starts elsewhere or there is none
        (["^|b", "1|2"], [["", "b"], ["1", "2"]]),
        (["a|v:b", "2:wide", "1|^"], [["a", "b"], ["wide", "wide"], ["1", ""]]),
        # a row that shows no cell of its own
        (["v:a|v:b", "^|^", "1|2"], [["a", "b"], ["1", "2"]]),
        (["a|b", "1"], [["a", "b"], ["1", ""]]),
    ],
)
def test_merged_cells_hold_their_text(table_rows: list[str], expected: list[list[str]]) -> None:
    assert rows(table_xml(*table_rows)) == expected


def row_property(index: int, inner: str) -> Callable[[Any], None]:
    def change(table: Any) -> None:
        table.tr_lst[index].get_or_add_trPr().append(xml(inner))

    return change


def insert(position: int, inner: str) -> Callable[[Any], None]:
    return lambda table: table.insert(position, xml(inner))


def old_merge(table: Any) -> None:
    first, second = table.tr_lst[0].tc_lst[:2]
    first.get_or_add_tcPr().append(xml('<w:hMerge w:val="restart"/>'))
    second.get_or_add_tcPr().append(xml("<w:hMerge/>"))
    second.p_lst[0].clear_content()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # a bookmark between rows stops mammoth from merging
        (insert(3, '<w:bookmarkStart w:id="1" w:name="x"/>'), [["a", "b"], ["a", "2"]]),
        # a row that begins inside the grid
        (row_property(1, '<w:gridBefore w:val="1"/>'), [["a", "b", ""], ["", "", "2"]]),
        (row_property(1, '<w:del w:id="1" w:author="x"/>'), [["a", "b"]]),
        (old_merge, [["a", "a"], ["", "2"]]),
    ],
)
def test_what_mammoth_would_shift_is_mended(change: Callable[[Any], None], expected: list[list[str]]) -> None:
    document = table_xml("v:a|b", "^|2")
    change(document.tables[0]._tbl)
    assert rows(document) == expected


def test_rows_marked_to_repeat_are_header_rows_unless_switched_off() -> None:
    document = table_xml("a|b", "1|2")
    assert grids(document)[0].header_rows is None
    row_property(0, "<w:tblHeader/>")(document.tables[0]._tbl)
    assert grids(document)[0].header_rows == 1
    document = table_xml("a|b", "1|2")
    row_property(0, '<w:tblHeader w:val="0"/>')(document.tables[0]._tbl)
    assert grids(document)[0].header_rows is None


def test_a_cell_merged_from_the_header_row_into_the_next_keeps_the_columns() -> None:
    document = table_xml("v:a|b", "^|c", "1|2")
    row_property(0, "<w:tblHeader/>")(document.tables[0]._tbl)
    assert rows(document) == [["a", "b"], ["a", "c"], ["1", "2"]]


def test_nested_and_one_cell_tables() -> None:
    document = docx.Document()
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "outer"
    inner = table.cell(0, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "i", "j"
    document.add_table(1, 1).cell(0, 0).text = "box"
    found = parsed(document)
    assert [grid.rows for grid in grids(document)] == [(("outer", ""),), (("i", "j"),)]
    assert found.blocks[-1] == Text("box")


def test_headings_by_any_style_and_text_in_order() -> None:
    document = docx.Document()
    document.add_paragraph("选型报告", style="Title")
    document.add_heading("一级", 1)
    for name, base in (("标题 2", None), ("公司标题", "Heading 3"), ("它's", "公司标题")):
        style = document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        style.base_style = document.styles[base] if base else None
        document.add_paragraph(f"by {name}", style=name)
    by_hand = document.add_paragraph("by hand")
    by_hand._p.get_or_add_pPr().append(xml('<w:outlineLvl w:val="3"/>'))
    body = document.add_paragraph("no heading")
    body._p.get_or_add_pPr().append(xml('<w:outlineLvl w:val="9"/>'))
    document.add_paragraph("a", style="List Bullet")
    document.add_paragraph("b", style="List Bullet")
    document.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    document.add_paragraph("一级 ........ 1", style="toc 1")
    found = parsed(document)
    assert found.title == "选型报告"
    assert found.blocks == (
        Heading(1, "选型报告"),
        Heading(1, "一级"),
        Heading(2, "by 标题 2"),
        Heading(3, "by 公司标题"),
        Heading(3, "by 它's"),
        Heading(4, "by hand"),
        Text("no heading"),
        Text("- a\n- b"),
    )


def test_a_caption_keeps_its_field_number_and_stays_before_its_table() -> None:
    document = docx.Document()
    caption = document.add_paragraph("表 ")
    caption._p.append(xml('<w:fldSimple w:instr="SEQ 表"><w:r><w:t>1</w:t></w:r></w:fldSimple>'))
    caption.add_run(" 租用价格")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "A100", "28.64"
    assert [type(block) for block in parsed(document).blocks] == [Text, Grid]
    assert parsed(document).blocks[0] == Text("表 1 租用价格")


def test_runs_keep_figures_apart() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("28.64")
    paragraph.add_run("1").font.superscript = True
    paragraph.add_run("x").font.hidden = True
    paragraph.add_run(" 40").font.strike = True
    line = document.add_paragraph("80")
    line.runs[0]._r.append(xml("<w:cr/>"))
    line.add_run("40")
    assert parsed(document).blocks == (Text("28.64^1~~ 40~~"), Text("80\n40"))


BOX = (
    '<w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p></w:txbxContent>',
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml"',
)  # fmt: skip


@pytest.mark.parametrize("fallback", [f"<w:pict><v:shape><v:textbox>{BOX[0]}</v:textbox></v:shape></w:pict>", ""])
def test_a_text_box_is_read_once(fallback: str) -> None:
    document = docx.Document()
    choice = f"<w:drawing><wps:wsp><wps:txbx>{BOX[0]}</wps:txbx></wps:wsp></w:drawing>"
    document.add_paragraph("text")._p.append(
        xml(
            f'<w:r {BOX[1]}><mc:AlternateContent><mc:Choice Requires="wps">{choice}</mc:Choice>'
            f"<mc:Fallback>{fallback}</mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    assert parsed(document).blocks == (Text("text"), Text("in the box"))


def test_what_is_not_read_is_noted() -> None:
    document = docx.Document()
    formula = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>1</m:t></m:r></m:oMath>'
    document.add_paragraph("text")._p.append(parse_xml(formula))
    (note,) = parsed(document).notes
    assert "1 个公式" in note.zh
    assert "1 formulas" in note.en
    assert parsed(table_xml("a|b")).notes == ()


def rezipped(content: bytes, change: Callable[[str, bytes], bytes | None], **more: bytes) -> bytes:
    """The package with each part changed (None: left out) and some added."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(output, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
        for name, data in more.items():
            new.writestr(name, data)
    return output.getvalue()


def kept(name: str, data: bytes) -> bytes:
    return data


WHOLE = saved(table_xml("a|b", "1|2"))
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (OLE + "EncryptedPackage".encode("utf-16-le") + bytes(600), "encrypted"),
        (OLE + "WordDocument".encode("utf-16-le") + bytes(600), "wrong-type"),
        (rezipped(WHOLE, kept, **{"word/vbaProject.bin": b"x"}), "macro"),
        (WHOLE[:-200], "broken"),
        (WHOLE[:300] + bytes(300) + WHOLE[600:], "broken"),
        (rezipped(WHOLE, lambda name, data: None if name == "word/document.xml" else data), "broken"),
        (rezipped(WHOLE, lambda name, data: data[:-9] if name == "word/document.xml" else data), "broken"),
        (
            rezipped(
                WHOLE,
                lambda name, data: (
                    data.replace(b"?>", b'?><!DOCTYPE w [<!ENTITY e "x">]>', 1) if name == "word/document.xml" else data
                ),
            ),
            "broken",
        ),
        (saved(docx.Document()), "empty"),
        (b"no package", "broken"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_with_the_reason(content: bytes, code: str) -> None:
    with pytest.raises(FileRefusedError) as refused:
        read(content, "a.docx")
    assert refused.value.code == code


def test_strict_documents_are_read_too() -> None:
    def strict(name: str, data: bytes) -> bytes:
        return data.replace(
            b"http://schemas.openxmlformats.org/wordprocessingml/2006/main",
            b"http://purl.oclc.org/ooxml/wordprocessingml/main",
        )

    (grid,) = read(rezipped(WHOLE, strict), "a.docx").blocks
    assert isinstance(grid, Grid)
    assert grid.rows == (("a", "b"), ("1", "2"))


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.data())
def test_any_merges_come_back(height: int, width: int, data: st.DataObject) -> None:
    document = docx.Document()
    table = document.add_table(height, width)
    expected = [[f"{row}.{column}" for column in range(width)] for row in range(height)]
    taken: set[tuple[int, int]] = set()
    for row in range(height):
        for column in range(width):
            table.cell(row, column).text = expected[row][column]
    for _ in range(data.draw(st.integers(0, 3))):
        top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
        bottom, right = data.draw(st.integers(top, height - 1)), data.draw(st.integers(left, width - 1))
        area = {(row, column) for row in range(top, bottom + 1) for column in range(left, right + 1)}
        if area & taken or len(area) == 1:
            continue
        taken |= area
        merged = table.cell(top, left).merge(table.cell(bottom, right))
        merged.text = f"{top}.{left}"
        for row, column in area:
            expected[row][column] = f"{top}.{left}"
    cells = {text for line in expected for text in line}
    assume(len(cells) > 1)
    shown_columns = [c for c in range(width) if any(expected[r][c] == f"{r}.{c}" for r in range(height))]
    shown_rows = [r for r in range(height) if any(expected[r][c] == f"{r}.{c}" for c in range(width))]
    assert rows(document) == [[expected[r][c] for c in shown_columns] for r in shown_rows]
