"""A PDF -> headings, paragraphs and tables with their pages.

Read page by page, so that a thousand pages need the memory of one. Pictures, drawings, forms' fields and comments are
not read; a page without a text layer is named in a note. Raises FileRefusedError: empty, encrypted, broken,
no-text-layer. What a page holds is in pdf_page.py and pdf_lines.py, what makes a document of it in pdf_text.py.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from ingest.blocks import FileRefusedError, Heading, Note, Parsed
from ingest.pdf_lines import Line, PageTable
from ingest.pdf_page import PageContent, needed_turn, read_page
from ingest.pdf_text import document_text

END_MARK, END_BYTES = b"%%EOF", 64 * 1024
MOST_UNREADABLE = 0.3  # of a page's characters: beyond it the text layer is as good as none


def read(content: bytes, name: str) -> Parsed:
    """Read a PDF in full; `name` is the file's name, for messages and the title. Raises FileRefusedError."""
    if not content:
        raise FileRefusedError("empty", f"文件是空的：{name}", f"The file is empty: {name}")
    expected = _page_count(content, name)
    pages = list(_pages(content, name))
    if len(pages) != expected:
        raise _broken(name, f"{len(pages)} / {expected} pages")
    scanned = [number for number, page in enumerate(pages, start=1) if _is_scanned(page)]
    if all(_is_scanned(page) or not page.items for page in pages):
        raise _without_text(name, bool(scanned))
    text = document_text([PageContent((), page.height) if _is_scanned(page) else page for page in pages])
    if not text.blocks:
        raise _without_text(name, bool(scanned))
    title = next((block.text for block in text.blocks[:1] if isinstance(block, Heading)), PurePath(name).stem)
    unreadable = sum(page.unreadable for page in pages if not _is_scanned(page))
    return Parsed(title, tuple(text.blocks), text.table_rows, tuple(_notes(scanned, unreadable)))


def _page_count(content: bytes, name: str) -> int:
    """The pages by another library than the one that reads them, so that a lost one is noticed."""
    import pypdfium2

    if END_MARK not in content[-END_BYTES:]:
        raise _broken(name, "no %%EOF")  # cut off: libraries would mend it and read only the pages that are left
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise FileRefusedError(
                "encrypted",
                f"PDF 有打开密码，读不了：{name}。请去掉密码后重新保存。",
                f"The PDF needs a password to open: {name}. Save it without the password.",
            ) from error
        raise _broken(name, error) from error
    try:
        return len(document)
    finally:
        document.close()


def _pages(content: bytes, name: str) -> Iterator[PageContent]:
    import pdfplumber
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.psexceptions import PSException
    from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

    try:
        with pdfplumber.open(io.BytesIO(content), raise_unicode_errors=False) as pdf:
            for page in pdf.pages:
                yield read_page(_upright(page))
                page.close()
    except (
        PdfminerException, MalformedPDFException, PDFException, PSException, ValueError, TypeError, KeyError,
        IndexError, AttributeError, RecursionError, OSError,
    ) as error:  # fmt: skip
        raise _broken(name, error) from error


def _upright(page: Any) -> Any:
    """The page, turned where most of its text would run upwards, downwards or upside down."""
    from pdfplumber.page import Page

    if not (turn := needed_turn(page)):
        return page
    rotation = (page.rotation + turn) % 360
    page.close()
    page.page_obj.attrs["Rotate"] = page.page_obj.rotate = rotation
    return Page(page.pdf, page.page_obj, page.page_number, page.initial_doctop)


def _is_scanned(page: PageContent) -> bool:
    """Whether what the page shows is not in its text: pictures with a page number at most, or characters without codes."""
    text = "".join(_text(item) for item in page.items)
    if page.unreadable > MOST_UNREADABLE * max(len(text), 1):
        return True
    return page.pictures and not any(character.isalpha() for character in text)


def _text(item: Line | PageTable) -> str:
    return item.text if isinstance(item, Line) else "".join(cell for row in item.rows for cell in row)


def _notes(scanned: Sequence[int], unreadable: int) -> Iterator[Note]:
    if scanned:
        numbers = ", ".join(map(str, scanned))
        yield Note(
            f"这些页没有文字层，没有读：{numbers}。请先做文字识别（OCR）再导入。",
            f"These pages have no text layer and were not read: {numbers}. Run OCR on the file and import it again.",
        )
    if unreadable:
        yield Note(
            f"{unreadable} 个字符在 PDF 里没有编码，显示为 �。",
            f"{unreadable} characters have no code in the PDF and are shown as �.",
        )


def _without_text(name: str, scanned: bool) -> FileRefusedError:
    if scanned:
        return FileRefusedError(
            "no-text-layer",
            f"PDF 没有文字层（扫描件或图片）：{name}。请先用文字识别（OCR）软件处理，另存为可搜索的 PDF。",
            f"The PDF has no text layer (a scan or pictures): {name}. Run OCR and save it as a searchable PDF.",
        )
    return FileRefusedError("empty", f"PDF 里没有任何内容：{name}", f"The PDF shows nothing at all: {name}")


def _broken(name: str, cause: object) -> FileRefusedError:
    return FileRefusedError(
        "broken",
        f"PDF 已损坏或不完整：{name}（{cause}）。请重新下载，或用阅读器打开后另存。",
        f"The PDF is damaged or cut off: {name} ({cause}). Download it anew, or open it in a reader and save it again.",
    )
