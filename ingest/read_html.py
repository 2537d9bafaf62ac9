"""A web page, or HTML that another reader made, as headings, texts and grids in reading order.

Texts are Markdown in which nothing is escaped: a figure stays as it stands.
Left out are scripts, navigation, the imprint of the page and what is hidden; a table is never left out, even there,
for vendors hide the price tables of the regions one does not look at. A table of a single cell, or one that says it is
for layout and holds another table, is no table: its content is read as if it stood alone. A table within a cell becomes
a grid after the outer one. What scripts would load is not there, and pages made of frames are not followed.

Errors: FileRefusedError "empty" (no word in it), "wrong-type", "encoding", "too-large" (see html_tables.py) and
"broken" (lists or quotations nested beyond reason).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ingest.blocks import Block, FileRefusedError, Grid, Heading, Parsed, Place, Text
from ingest.encodings import decode
from ingest.html_inline import (
    BLOCKS,
    LINE,
    STRIKE,
    attribute_number,
    events,
    inline_edge,
    is_left_out,
    is_mark,
    mark,
    pieces,
    tidy,
    words,
)
from ingest.html_tables import lay_out, take_apart, untangle
from ingest.html_tree import Element, parsed

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


def _blocks_of(tree: Element, place: Place, spans_cross_groups: bool, name: str) -> tuple[list[Block], int]:
    try:
        reader = _TreeReader(tree, place, spans_cross_groups)
        return reader.blocks(tree), reader.rows_in_tree()
    except RecursionError as error:
        raise FileRefusedError(
            "broken",
            f"{name} 的列表或引用嵌套过深，读不了。请展开后再导入。",
            f"{name} nests its lists or quotations too deeply to be read. Flatten it first.",
        ) from error


def _tree(html: str) -> Element:
    tree = parsed(html)
    for template in list(tree.all("template")):  # placeholders for scripts, tables among them
        template.leave()
    untangle(tree)
    return tree


def _title(tree: Element, blocks: list[Block], name: str) -> str:
    head = tree.first("head")
    if head and (element := head.first("title")) and (title := words(element)):
        return title
    first = (block.text for block in blocks if isinstance(block, Heading) and block.level == 1)
    return next(first, Path(name).stem)


class _TreeReader:
    """One tree being read; which of its tables are for layout is found once."""

    def __init__(self, tree: Element, place: Place, spans_cross_groups: bool) -> None:
        self._place = place
        self._spans_cross_groups = spans_cross_groups
        self._cells = [(cell, table) for cell in tree.all("td", "th") if (table := cell.around(("table",)))]
        counts = Counter(id(table) for _, table in self._cells)
        self._grids = {id(table) for cell, table in self._cells if not _is_for_layout(table, cell, counts[id(table)])}

    def rows_in_tree(self) -> int:
        """The row elements that hold a cell of a table that is none for layout."""
        return len({id(cell.around(("tr",))) for cell, table in self._cells if id(table) in self._grids})

    def blocks(self, root: Element) -> list[Block]:
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

    def _is_grid(self, tag: Element) -> bool:
        return tag.name == "table" and id(tag) in self._grids

    def _is_whole(self, tag: Element) -> bool:
        if self._is_grid(tag) or is_left_out(tag) or is_mark(tag) or _is_table_title(tag):
            return tag.name != "head"
        return tag.name in _ONE_TEXT and not tag.first(*_ONE_TEXT[tag.name])

    def _whole(self, tag: Element) -> list[Block]:
        if self._is_grid(tag):
            return self._tables([tag, *tag.all("table")])
        if is_left_out(tag) or _is_table_title(tag):
            return self._tables(tag.all("table"))
        if tag.name in _HEADINGS:
            return [Heading(int(tag.name[1]), text, self._place)] if (text := words(tag)) else []
        return [Text(text, self._place)] if (text := self._one_text(tag)) else []

    def _one_text(self, tag: Element) -> str:
        if tag.name == "pre":
            return _fenced(tag)
        if tag.name == "dl":
            return _defined(tag)
        if tag.name in _LISTS:
            return "\n".join(_items(tag))
        quoted = "\n\n".join(block.markdown for block in self.blocks(tag) if isinstance(block, Text))
        return "\n".join(f"> {line}".rstrip() for line in quoted.split("\n")) if quoted else ""

    def _tables(self, tables: Iterable[Element]) -> list[Block]:
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


def _is_for_layout(table: Element, cell: Element, cells: int) -> bool:
    if table.get("role") in ("presentation", "none") and table.first("table"):
        return True
    return cells == 1 and cell.name == "td" and not table.first("caption")


def _is_table_title(tag: Element) -> bool:
    """A <figcaption> that is the title of the one table in its figure, and is read as the grid's caption."""
    figure = tag.around(("figure",)) if tag.name == "figcaption" else None
    return figure is not None and not tag.first("table") and len(list(figure.all("table"))) == 1


def _figure_caption(table: Element) -> str:
    figure = table.around(("figure",))
    title = figure.first("figcaption") if figure else None
    return words(title) if title and _is_table_title(title) else ""


def _is_list(tag: Element) -> bool:
    return tag.name in _LISTS


def _items(tag: Element, indent: str = "") -> list[str]:
    """The lines of a list and of the lists in it."""
    lines: list[str] = []
    number = attribute_number(tag, "start", 1)
    for child in tag.children:
        if isinstance(child, str):
            if text := tidy([child]):
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


def _defined(tag: Element) -> str:
    """A definition list, a line for each term: `- term: definition; definition`."""
    lines: list[str] = []
    stray = words(tag, _is_defined_part)
    if stray:
        lines.append(stray)
    for node in tag.all("dt", "dd"):  # those within one another too: lxml nests a <dd> that follows a <dd>
        text = "" if is_left_out(node) else words(node, _is_defined_part)
        if text and (node.name == "dt" or not lines):
            lines.append(f"- {text}")
        elif text:
            lines[-1] += f"; {text}" if ": " in lines[-1] else f": {text}"
    return "\n".join(lines)


def _is_defined_part(tag: Element) -> bool:
    return tag.name in ("dt", "dd")


def _fenced(tag: Element) -> str:
    raw = "".join(pieces(tag, lambda inner: False))
    raw = raw.replace(STRIKE * 2, "").replace(STRIKE, "~~")
    text = raw.replace("\r\n", "\n").replace(LINE, "\n").strip("\n").rstrip()
    if not text.strip():
        return ""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
