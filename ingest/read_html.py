"""A web page, or HTML that another reader made, as headings, texts and grids in reading order.

The tree is lxml's through Beautiful Soup. Texts are Markdown in which nothing is escaped: a figure stays as it stands.
Left out are scripts, navigation, the imprint of the page and what is hidden; a table is never left out, even there,
for vendors hide the price tables of the regions one does not look at. A table of a single cell, or one that says it is
for layout and holds another table, is no table: its content is read as if it stood alone. A table within a cell becomes
a grid after the outer one. What scripts would load is not there, and pages made of frames are not followed.

Errors: FileRefusedError "empty" (no word in it), "wrong-type", "encoding", "too-large" (see html_tables.py) and
"broken" (lists or quotations nested beyond reason).
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text
from ingest.encodings import decode
from ingest.html_inline import (
    BLOCKS,
    LINE,
    attribute_number,
    events,
    inline_edge,
    is_left_out,
    is_mark,
    mark,
    nearest,
    pieces,
    tidy,
    words,
)
from ingest.html_tables import lay_out, take_apart, untangle

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_.:-]+)""", re.IGNORECASE)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_LISTS = ("ul", "ol", "menu", "dir")
# Elements that become one Text, and what must not stand in them for that.
_ONE_TEXT = {
    **dict.fromkeys(_HEADINGS, ("table",)),
    **dict.fromkeys(_LISTS, ("table", "pre", *_HEADINGS)),
    "blockquote": ("table", *_HEADINGS),
    "dl": ("table", "pre", *_HEADINGS),
    "pre": ("table",),
}


def read(content: bytes, name: str) -> Parsed:
    """The page; its title is <title>, else the first <h1>, else the file's name. Raises FileRefusedError."""
    declared = _DECLARED.search(content[:4096])
    html, _ = decode(content, declared[1].decode("ascii") if declared else None)
    if re.match(r"\s*(From: <Saved by|MIME-Version:)", html):
        raise FileRefusedError(
            "wrong-type",
            f"{name} 是 MHTML 网页存档，不是 HTML。请在浏览器里另存为“仅 HTML”。",
            f'{name} is an MHTML archive, not HTML. Save the page as "HTML only" in the browser.',
        )
    tree = _tree(html)
    blocks, table_rows = _blocks_of(tree, Place(), spans_cross_groups=False, name=name)
    if not blocks:
        raise FileRefusedError(
            "empty",
            f"{name} 里没有文字（内容可能由脚本加载）。请在浏览器里打开后再保存，或换一个文件。",
            f"{name} has no text (scripts may load it). Open it in a browser and save it from there, or take another file.",
        )
    return Parsed(_title(tree, blocks, name), tuple(blocks), table_rows)


def html_blocks(
    html: str, place: Place | None = None, *, spans_cross_groups: bool = False, name: str = "HTML"
) -> tuple[list[Block], int]:
    """The blocks of a piece of HTML, all at `place`, and the rows of its tables counted in the tree itself.

    `spans_cross_groups`: a merged cell may reach from the header rows into the others, as in Word. `name` is for
    errors. Raises FileRefusedError "too-large" and "broken".
    """
    return _blocks_of(_tree(html), place or Place(), spans_cross_groups, name)


def html_words(html: str) -> str:
    """The words of a piece of HTML on one line."""
    return words(_tree(html))


def _blocks_of(tree: Tag, place: Place, spans_cross_groups: bool, name: str) -> tuple[list[Block], int]:
    try:
        reader = _TreeReader(tree, place, spans_cross_groups)
        return reader.blocks(tree), reader.rows_in_tree()
    except RecursionError as error:
        raise FileRefusedError(
            "broken",
            f"{name} 的列表或引用嵌套过深，读不了。请展开后再导入。",
            f"{name} nests its lists or quotations too deeply to be read. Flatten it first.",
        ) from error


def _tree(html: str) -> BeautifulSoup:
    from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning

    with warnings.catch_warnings():  # both are about how it was meant, and it is meant as HTML
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        tree = BeautifulSoup(html, "lxml")
    for template in tree.find_all("template"):  # placeholders for scripts, tables among them
        template.extract()
    untangle(tree)
    return tree


def _title(tree: BeautifulSoup, blocks: list[Block], name: str) -> str:
    if tree.head and tree.head.title and (title := words(tree.head.title)):
        return title
    first = (block.text for block in blocks if isinstance(block, Heading) and block.level == 1)
    return next(first, Path(name).stem)


class _TreeReader:
    """One tree being read; which of its tables are for layout is found once."""

    def __init__(self, tree: Tag, place: Place, spans_cross_groups: bool) -> None:
        self._place = place
        self._spans_cross_groups = spans_cross_groups
        self._cells = [(cell, table) for cell in tree.find_all(["td", "th"]) if (table := nearest(cell, "table"))]
        counts = Counter(id(table) for _, table in self._cells)
        self._grids = {id(table) for cell, table in self._cells if not _is_for_layout(table, cell, counts[id(table)])}

    def rows_in_tree(self) -> int:
        """The row elements that hold a cell of a table that is none for layout."""
        return len({id(nearest(cell, "tr")) for cell, table in self._cells if id(table) in self._grids})

    def blocks(self, root: Tag) -> list[Block]:
        """Everything below `root` in reading order."""
        found: list[Block] = []
        parts: list[str] = []  # of the paragraph being read
        for kind, node in events(root, self._is_whole):
            if isinstance(node, str):
                parts.append(node)
            elif is_mark(node) and not is_left_out(node):
                parts.append(mark(node, parts, self._is_grid))
            elif self._is_whole(node):
                if own := self._whole(node):
                    found += [*self._paragraphs(parts), *own]
                    parts = []
            elif node.name in BLOCKS:
                found += self._paragraphs(parts)
                parts = []
            else:
                parts.append(inline_edge(node, entering=kind == "enter"))
        return found + self._paragraphs(parts)

    def _paragraphs(self, parts: list[str]) -> list[Block]:
        paragraphs = re.split(rf"{LINE}{{2,}}", tidy(parts))
        return [Text(paragraph.replace(LINE, "\n"), self._place) for paragraph in paragraphs if paragraph]

    def _is_grid(self, tag: Tag) -> bool:
        return tag.name == "table" and id(tag) in self._grids

    def _is_whole(self, tag: Tag) -> bool:
        if self._is_grid(tag) or is_left_out(tag) or is_mark(tag) or _is_table_title(tag):
            return tag.name != "head"
        return tag.name in _ONE_TEXT and not tag.find(list(_ONE_TEXT[tag.name]))

    def _whole(self, tag: Tag) -> list[Block]:
        if self._is_grid(tag):
            return self._tables([tag, *tag.find_all("table")])
        if is_left_out(tag) or _is_table_title(tag):
            return self._tables(tag.find_all("table"))
        if tag.name in _HEADINGS:
            return [Heading(int(tag.name[1]), text, self._place)] if (text := words(tag)) else []
        return [Text(text, self._place)] if (text := self._one_text(tag)) else []

    def _one_text(self, tag: Tag) -> str:
        if tag.name == "pre":
            return _fenced(tag)
        if tag.name == "dl":
            return _defined(tag)
        if tag.name in _LISTS:
            return "\n".join(_items(tag))
        quoted = "\n\n".join(block.markdown for block in self.blocks(tag) if isinstance(block, Text))
        return "\n".join(f"> {line}".rstrip() for line in quoted.split("\n")) if quoted else ""

    def _tables(self, tables: list[Tag]) -> list[Block]:
        found: list[Block] = []
        for table in filter(self._is_grid, tables):
            parts = take_apart(table, self._is_grid)
            if parts.stray:
                found.append(Text(parts.stray.replace(LINE, "\n"), self._place))
            grid = lay_out(parts, self._spans_cross_groups, self._place)
            if grid is not None:
                caption = grid.caption or _figure_caption(table)
                found.append(Grid(grid.rows, grid.numbers, caption, grid.header_rows, self._place))
        return found


def _is_for_layout(table: Tag, cell: Tag, cells: int) -> bool:
    if table.get("role") in ("presentation", "none") and table.find("table"):
        return True
    return cells == 1 and cell.name == "td" and not table.find("caption")


def _is_table_title(tag: Tag) -> bool:
    """A <figcaption> that is the title of the one table in its figure, and is read as the grid's caption."""
    figure = tag.find_parent("figure") if tag.name == "figcaption" else None
    return figure is not None and not tag.find("table") and len(figure.find_all("table")) == 1


def _figure_caption(table: Tag) -> str:
    figure = table.find_parent("figure")
    title = figure.find("figcaption") if figure else None
    return words(title) if title and _is_table_title(title) else ""


def _is_list(tag: Tag) -> bool:
    return tag.name in _LISTS


def _items(tag: Tag, indent: str = "") -> list[str]:
    """The lines of a list and of the lists in it."""
    from bs4.element import NavigableString
    from bs4.element import Tag as TagClass

    lines: list[str] = []
    number = attribute_number(tag, "start", 1)
    for child in tag.children:
        if not isinstance(child, TagClass):
            if type(child) is NavigableString and (text := tidy([child])):
                lines.append(f"{indent}- {text}")
        elif child.name in _LISTS:
            lines += _items(child, f"{indent}  ")
        elif not is_left_out(child):
            bullet = f"{number}. " if tag.name == "ol" else "- "
            number += child.name == "li"
            text = words(child, _is_list)
            lines += [f"{indent}{bullet}{text}"] if text else []
            for kind, inner in events(child, _is_list):
                if not isinstance(inner, str) and kind == "enter" and _is_list(inner):
                    lines += _items(inner, indent + " " * len(bullet))
    return lines


def _defined(tag: Tag) -> str:
    """A definition list, a line for each term: `- term: definition; definition`."""
    lines: list[str] = []
    stray = words(tag, _is_defined_part)
    if stray:
        lines.append(stray)
    for node in tag.find_all(["dt", "dd"]):  # those within one another too: lxml nests a <dd> that follows a <dd>
        text = "" if is_left_out(node) else words(node, _is_defined_part)
        if text and (node.name == "dt" or not lines):
            lines.append(f"- {text}")
        elif text:
            lines[-1] += f"; {text}" if ": " in lines[-1] else f": {text}"
    return "\n".join(lines)


def _is_defined_part(tag: Tag) -> bool:
    return tag.name in ("dt", "dd")


def _fenced(tag: Tag) -> str:
    raw = "".join(pieces(tag, lambda inner: False))
    text = raw.replace("\r\n", "\n").replace(LINE, "\n").strip("\n").rstrip()
    if not text.strip():
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
