"""Markdown (CommonMark with GitHub's tables and strike-through) as headings, texts and grids, each with its line.

Texts are the source lines. Tables keep what GitHub drops: cells beyond the header's get columns without a heading. A
pipe inside a code span parts cells, as on GitHub, unless the row then has more cells than the header and not otherwise.
Lines below a table without any pipe are a remark, not a row. Tables written in HTML are read too, blank lines in them
included. `4*72*28` stays so instead of losing its stars. Front matter is left out but for its title.

Not here: extensions (footnotes, formulas, definition lists) stay as text; a table whose line of dashes has another
number of columns than its header is a paragraph, as on GitHub. Errors: FileRefusedError "empty", "wrong-type",
"encoding", "too-large".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text
from ingest.encodings import decode
from ingest.html_inline import STRIKE, one_line
from ingest.read_html import html_blocks, html_words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n((?:.*\n)*?)(?:\1|\.\.\.)[ \t]*(?:\n|$)")
_FRONT_KEY = re.compile(r"^[\w-]+\s*[:=]", re.MULTILINE)
_FRONT_TITLE = re.compile(r"""^title\s*[:=]\s*(["']?)(.+?)\1\s*$""", re.MULTILINE | re.IGNORECASE)
_DATA_LINK = re.compile(r"\(\s*<?data:[^)]*\)")
_TABLE_TAG = re.compile(r"<(/?)table\b", re.IGNORECASE)
_TIGHT_HEADING = re.compile(r"(#{2,6})([\u3400-\u9fff].*?)\s*#*")
_CONTAINER_MARKS = re.compile(r"^(?:\s*>)+ ?|^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_CODE_SPAN = re.compile(r"(?<!\\)(`+)(?!`).*?(?<!`)\1(?!`)")
_INNER_STAR = re.compile(r"(?<=\w)\*(?=\w)")
_CONTAINERS = ("blockquote_open", "bullet_list_open", "ordered_list_open")


def read(content: bytes, name: str) -> Parsed:
    """The document; its title is the front matter's, else the first top heading, else the file's name.

    Raises FileRefusedError.
    """
    text, _ = decode(content)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text, skipped_lines, title = _without_front_matter(text)
    reader = _MarkdownReader(text.split("\n"), skipped_lines)
    blocks = reader.blocks()
    if not blocks:
        raise FileRefusedError("empty", f"{name} 里没有文字。请换一个文件。", f"{name} has no text. Take another file.")
    first = (block.text for block in blocks if isinstance(block, Heading) and block.level == 1)
    return Parsed(title or next(first, Path(name).stem), tuple(blocks), reader.table_rows)


class _MarkdownReader:
    """One document being read; `table_rows` counts the rows of its tables in parser tokens and HTML elements."""

    def __init__(self, lines: list[str], skipped_lines: int) -> None:
        self._lines = _with_whole_tables(lines)
        self._skipped_lines = skipped_lines
        self._links: dict[str, Any] = {}  # the definitions of links in the document, as the parser keeps them
        self.table_rows = 0

    def blocks(self) -> list[Block]:
        """All blocks in order."""
        tokens = _blocks_only().parse("\n".join(self._lines), self._links)
        return [block for group in _top_level(tokens) for block in self._group(group)]

    def _group(self, group: Sequence[Token]) -> Iterator[Block]:
        if group[0].type in _CONTAINERS and any(token.type in ("table_open", "html_block") for token in group):
            for inner in _top_level(_unwrapped(group)):
                yield from self._group(inner)
        else:
            yield from self._block(group)

    def _block(self, group: Sequence[Token]) -> Iterator[Block]:
        first = group[0]
        if first.type == "table_open":
            yield from self._table(group)
        elif first.type == "html_block":
            yield from self._html(first.content, first)
        elif first.type == "heading_open":
            if text := _plain(group[1].content, self._links):
                yield Heading(int(first.tag[1]), text, self._place(first))
        elif first.type == "paragraph_open":
            yield from self._paragraph(group[1])
        elif first.type != "hr" and first.map:
            yield from self._source(first)

    def _paragraph(self, inline: Token) -> Iterator[Block]:
        heading = _TIGHT_HEADING.fullmatch(inline.content)
        if heading:  # ##价格, without the space that CommonMark wants
            yield Heading(len(heading[1]), heading[2], self._place(inline))
        elif _TABLE_TAG.search(inline.content) and _has_html(_inline(inline.content, self._links)):
            yield from self._html(_markdown().renderInline(inline.content, self._links), inline)
        elif text := _DATA_LINK.sub("", inline.content).strip():
            yield Text(text, self._place(inline))

    def _source(self, token: Token) -> Iterator[Block]:
        start, end = _lines_of(token)
        lines = self._lines[start:end]
        indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
        text = "\n".join(line[indent:] if token.type != "code_block" else line for line in lines).strip("\n")
        if text.strip():
            yield Text(_DATA_LINK.sub("", text).rstrip(), self._place(token))

    def _html(self, html: str, token: Token) -> list[Block]:
        blocks, table_rows = html_blocks(html, self._place(token))
        self.table_rows += table_rows
        return blocks

    def _table(self, group: Sequence[Token]) -> Iterator[Block]:
        rows = [(_lines_of(token)[0], cells) for token, cells in _token_rows(group)]
        remark = len(rows)
        while remark > 1 and len(rows[0][1]) > 1 and "|" not in self._lines[rows[remark - 1][0]]:
            remark -= 1
        remark_lines = {line for line, _ in rows[remark:]}
        self.table_rows += sum(
            1 for token in group if token.type == "tr_open" and _lines_of(token)[0] not in remark_lines
        )
        columns = len(rows[0][1])
        texts = [
            [_cell(cell, self._links) for cell in self._cells(line, cells, columns)] for line, cells in rows[:remark]
        ]
        width = max(map(len, texts))
        yield Grid(
            rows=tuple(tuple(row + [""] * (width - len(row))) for row in texts),
            numbers=tuple(range(1, len(texts) + 1)),
            header_rows=1,
            place=self._place(group[0]),
        )
        if remark_lines:
            text = "\n".join(self._lines[line].strip() for line in sorted(remark_lines))
            yield Text(text, Place("line", str(self._skipped_lines + min(remark_lines) + 1)))

    def _cells(self, line: int, parsed: list[str], columns: int) -> list[str]:
        """The cells of a row in Markdown: the parser's, with those that it drops."""
        source = _CONTAINER_MARKS.sub("", self._lines[line]) if parsed else ""
        cells = _split(source)
        if len(cells) <= columns:
            return parsed
        whole_code = _split(_CODE_SPAN.sub(lambda span: re.sub(r"(?<!\\)\|", r"\\|", span[0]), source))
        if len(whole_code) == columns:
            return whole_code
        return parsed + cells[columns:]

    def _place(self, token: Token) -> Place:
        return Place("line", str(self._skipped_lines + _lines_of(token)[0] + 1))


@cache
def _markdown() -> MarkdownIt:
    return _new_markdown()


def _new_markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import reference

    def unless_footnote(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        """A footnote's text is shown, a link's definition is not."""
        is_footnote = state.src.startswith("[^", state.bMarks[start_line] + state.tShift[start_line])
        return not is_footnote and reference(state, start_line, end_line, silent)

    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    markdown.block.ruler.at("reference", unless_footnote)
    return markdown


@cache
def _blocks_only() -> MarkdownIt:
    """A parser that leaves the text of paragraphs and cells as it is: taking it apart is most of the work."""
    markdown = _new_markdown()
    markdown.core.ruler.disable("inline")
    return markdown


def _with_whole_tables(lines: list[str]) -> list[str]:
    """The lines with the blank ones inside HTML tables filled, for a blank line would end the table's block."""
    filled, end = list(lines), 0
    if not any(map(_TABLE_TAG.search, lines)):
        return filled
    for group in _top_level(_blocks_only().parse("\n".join(lines))):
        start, token_end = _lines_of(group[0])
        if group[0].type != "html_block" or start < end or (depth := _open_tables(group[0].content)) <= 0:
            continue
        last = token_end
        while last < len(lines) and depth > 0:
            depth += _open_tables(lines[last])
            last += 1
        if depth <= 0:  # else it never ends, and must not swallow the rest
            end = last
            filled[start:end] = [line if line.strip() else "<!-- -->" for line in lines[start:end]]
    return filled


def _without_front_matter(text: str) -> tuple[str, int, str]:
    """The text after the front matter, the lines left out, and the title there."""
    match = _FRONT_MATTER.match(text)
    if not match or (match[2].strip() and not _FRONT_KEY.search(match[2])):
        return text, 0, ""
    title = _FRONT_TITLE.search(match[2])
    return text[match.end() :], match[0].count("\n"), title[2].strip() if title else ""


def _top_level(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The tokens of each block in turn, from its opening to its closing one."""
    depth = start = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


def _unwrapped(group: Sequence[Token]) -> Sequence[Token]:
    """The tokens inside a quotation, or inside all items of a list."""
    inner = group[1:-1]
    return [token for item in _top_level(inner) for token in (item[1:-1] if item[0].type == "list_item_open" else item)]


def _token_rows(group: Sequence[Token]) -> Iterator[tuple[Token, list[str]]]:
    row, cells = group[0], list[str]()
    for token in group:
        if token.type == "tr_open":
            row, cells = token, []
        elif token.type == "inline":
            cells.append(token.content)
        elif token.type == "tr_close":
            yield row, cells


def _lines_of(token: Token) -> tuple[int, int]:
    start, end = token.map or (0, 0)
    return start, end


def _open_tables(html: str) -> int:
    return sum(-1 if close else 1 for close in _TABLE_TAG.findall(re.sub(r"(?s)<!--.*?-->", "", html)))


def _split(line: str) -> list[str]:
    """A row's cells, parted at pipes without a backslash before them, which goes; outer pipes are no cells."""
    cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())]
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return cells


def _cell(markdown: str, links: dict[str, Any]) -> str:
    if not re.search(r"[\\`*_~<&\[!]", markdown):
        return one_line([markdown])
    return _plain(markdown, links)


def _inline(markdown: str, links: dict[str, Any]) -> Sequence[Token]:
    """The tokens of a line of Markdown."""
    (inline,) = _markdown().parseInline(markdown, links)
    return inline.children or []


def _has_html(tokens: Sequence[Token]) -> bool:
    return any(token.type == "html_inline" for token in tokens)


def _plain(markdown: str, links: dict[str, Any]) -> str:
    """The text of a line of Markdown without its marks; a star between two figures is no mark."""
    tokens = _inline(markdown, links)
    if _has_html(tokens):
        return html_words(_markdown().renderInline(_INNER_STAR.sub(r"\\*", markdown), links))
    parts: list[str] = []
    kept: list[bool] = []
    for index, token in enumerate(tokens):
        if token.type in ("em_open", "strong_open"):
            following = tokens[index + 1].content[:1] if index + 1 < len(tokens) else ""
            kept.append("".join(parts)[-1:].isalnum() and following.isalnum())
            parts.append(token.markup if kept[-1] else "")
        elif token.type in ("em_close", "strong_close"):
            parts.append(token.markup if kept.pop() else "")
        elif token.type in ("s_open", "s_close"):
            parts.append(STRIKE)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        else:
            parts.append(token.content if token.type != "image" else "")
    return one_line(parts)
