"""A Word document as headings, texts and grids: mammoth makes HTML of it, read_html.py the blocks.

Before that word_parts.py mends the XML where mammoth would lose or shift something (field results, rows that start or
end inside the grid, old-style merged cells, bookmarks between rows). Headings are found by the outline level that a
style has or inherits, so by 标题 1 and own styles too. A table's caption is the text before it. The table of contents is
left out. Headers, footers, comments and deleted text are not read; pictures, charts and formulas are not either, and a
note counts them. Numbers that Word adds to headings and list items by itself are in no text.

Errors: FileRefusedError "empty", "encrypted", "macro", "broken", "wrong-type", "zip-bomb", "too-large".
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.parsers.expat import ExpatError

from ingest.blocks import FileRefusedError, Heading, Note, Parsed
from ingest.office_package import DAMAGE, OfficeFormat, broken, check_kind
from ingest.read_html import html_blocks, html_words
from ingest.word_parts import OUTLINE_STYLE, WordParts, mended

DOCX = OfficeFormat("docx", "Word、WPS 文字或 LibreOffice Writer", "Word, WPS or LibreOffice Writer")
_TITLE_CLASS = "document-title"
_NOTE_LINK = re.compile(r'<a href="#(?:foot|end)note-ref-[^"]*">↑</a>')
_TITLE = re.compile(rf'<h1 class="{_TITLE_CLASS}">(.*?)</h1>', re.DOTALL)


def read(content: bytes, name: str) -> Parsed:
    """The document; its title is the paragraph of style Title, else the first top heading, else the file's name.

    Raises FileRefusedError.
    """
    check_kind(content, name, DOCX)
    try:
        parts = mended(content)
        html = _html(parts)
    except (*DAMAGE, ExpatError, RecursionError) as error:
        raise broken(name, DOCX, error) from error
    blocks, _ = html_blocks(html, spans_cross_groups=True, name=name)
    if not blocks:
        raise FileRefusedError(
            "empty",
            f"{name} 里没有文字。若内容是图片，请先做文字识别（OCR），或换一个文件。",
            f"{name} has no text. If it is pictures, have their text recognised (OCR), or take another file.",
        )
    titled = _TITLE.search(html)
    first = next((block.text for block in blocks if isinstance(block, Heading) and block.level == 1), Path(name).stem)
    title = html_words(titled[1]) if titled else first
    return Parsed(title, tuple(blocks), parts.table_rows, _notes(parts))


def _html(parts: WordParts) -> str:
    import mammoth

    styles = "\n".join((
        *(f"p[style-name='{style}'] => h1.{_TITLE_CLASS}:fresh" for style in ("Title", "标题", "文档标题")),
        *(f"p[style-name={_quoted(style)}] => h{level}:fresh" for style, level in parts.heading_styles.items()),
        *(f"p.{OUTLINE_STYLE}{level} => h{level}:fresh" for level in range(1, 7)),
        "p[style-name^='toc '] => !",
        "p[style-name^='TOC '] => !",
        "p[style-name^='目录 '] => !",
    ))  # fmt: skip
    result = mammoth.convert_to_html(
        io.BytesIO(parts.package), style_map=styles, include_embedded_style_map=False, convert_image=lambda image: []
    )
    return _NOTE_LINK.sub("", str(result.value))


def _quoted(style: str) -> str:
    escaped = style.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _notes(parts: WordParts) -> tuple[Note, ...]:
    """What of the document is not in its text."""
    unread = (
        (parts.pictures, "张图片或图表", "pictures or charts"),
        (parts.formulas, "个公式", "formulas"),
    )
    return tuple(
        Note(f"有 {count} {zh}没有读入，其中的文字和数字查不到。", f"{count} {en} were not read; no text or figure in them is found.")
        for count, zh, en in unread
        if count
    )  # fmt: skip
