"""One table written in every format, for comparing what each reader makes of it."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from awkward_sheets import sheet
from awkward_slides import slide_table, slides
from awkward_word import document, word_table

Rows = Sequence[Sequence[str]]


def _markdown(rows: Rows) -> bytes:
    lines = ["| " + " | ".join(map(_escaped, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]).encode()


def _escaped(cell: str) -> str:
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", cell)


def _html(rows: Rows) -> bytes:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<html><table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table></html>".encode()


def _docx(rows: Rows) -> bytes:
    def fill(target: Any) -> None:
        from docx.oxml import OxmlElement

        word_table(target, rows).rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))

    return document(fill)


def _pptx(rows: Rows) -> bytes:
    return slides(lambda slide: slide_table(slide, rows))


def _csv(rows: Rows) -> bytes:
    target = io.StringIO(newline="")
    csv.writer(target).writerows(rows)
    return target.getvalue().encode()


FORMATS: dict[str, Callable[[Rows], bytes]] = {
    "any.md": _markdown,
    "any.html": _html,
    "any.docx": _docx,
    "any.pptx": _pptx,
    "any.csv": _csv,
    "any.xlsx": sheet,
}
