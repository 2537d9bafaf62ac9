"""Markdown as our cards, documents and prose write it, turned into parts of Block Kit: rich text, tables and rules.

Everything becomes structured elements, so nothing in a text can act as Slack's markup or mention anybody. Each part
stays within the limits of one block; fitting parts into messages is packing.py. HTML and pictures stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from assistant.slack.inline_text import Inline, inline_elements, joined_inline, pieces_within, plain
from assistant.slack.safe_marks import with_safe_marks
from assistant.slack.view import Block

BLOCK_CHARACTERS = 2_900  # Slack takes 3,000 in one rich text block
DEEPEST_INDENT = 8
_HIGHEST_NUMBER = 999
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{0,20}")
_DEEPEST_NESTING = 60  # markdown-it drops what is nested deeper; such a text is shown as it was written


@dataclass(frozen=True)
class Rich:
    """One element of a rich text block. `heading` is its level, 0 for other text."""

    element: Block
    heading: int = 0

    @cached_property
    def text(self) -> str:
        return element_text(self.element)


@dataclass(frozen=True)
class Grid:
    """A table: its headings, its rows, all equally long, and how the columns are aligned ("" where not said)."""

    headings: tuple[Inline, ...]
    rows: tuple[tuple[Inline, ...], ...]
    alignments: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """A line across the message."""


Part = Rich | Grid | Rule


def parts(markdown: str) -> tuple[Part, ...]:
    """The parts of `markdown` in their order, none longer than a block; never raises, and no text is lost."""
    tokens = _parser().parse(with_safe_marks(markdown))
    if any(token.level >= _DEEPEST_NESTING - 2 for token in tokens):
        return tuple(_texts(({"type": "text", "text": markdown},), "rich_text_section"))
    return tuple(_blocks(SyntaxTreeNode(tokens).children, _Place()))


def bullet(text: str) -> tuple[Rich, ...]:
    """Plain text, no Markdown, as one item of a list."""
    return tuple(_items([({"type": "text", "text": text},)], False, 1, _Place()))


def element_text(element: Block) -> str:
    """The text that a rich text element shows, without bullets and numbers."""
    if "elements" not in element:
        return str(element.get("text") or element.get("url") or "")
    joint = "\n" if element["type"] == "rich_text_list" else ""
    return joint.join(element_text(child) for child in element["elements"])


@dataclass(frozen=True)
class _Place:
    """Where a block stands: how deep in lists, and whether in a quotation."""

    depth: int = 0
    quoted: bool = False


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _DEEPEST_NESTING}).enable("table")
    # A line of dashes below a text is a rule, four spaces are no code, and "[1]: ..." is a citation of ours.
    return parser.disable(["html_block", "html_inline", "reference", "lheading", "code", "image"])


def _blocks(nodes: Sequence[SyntaxTreeNode], place: _Place) -> Iterator[Part]:
    for node in nodes:
        match node.type:
            case "heading":
                yield from _heading(node, place)
            case "bullet_list" | "ordered_list":
                yield from _list(node, place)
            case "blockquote":
                yield from _quote(node, place)
            case "fence" | "code_block":
                yield from _code(_with_info(node.info, node.content), place)
            case "table":
                yield _grid(node)
            case "hr":
                yield Rule()
            case _:
                yield from _texts(_inline(node), _holder(place))


def _holder(place: _Place) -> str:
    return "rich_text_quote" if place.quoted else "rich_text_section"


def _inline(node: SyntaxTreeNode) -> Inline:
    tokens = [token for child in node.children if child.type == "inline" for token in (child.token,) if token]
    return inline_elements([piece for token in tokens for piece in token.children or ()])


def _texts(elements: Inline, holder: str) -> Iterator[Rich]:
    for piece in pieces_within(elements, BLOCK_CHARACTERS):
        yield Rich({"type": holder, "elements": list(piece)})


def _heading(node: SyntaxTreeNode, place: _Place) -> Iterator[Rich]:
    bold = tuple({**element, "style": {**element.get("style", {}), "bold": True}} for element in _inline(node))
    for part in _texts(bold, _holder(place)):
        yield Rich(part.element, heading=int(node.tag[1:]))


def _with_info(info: str, content: str) -> str:
    """The code less the name of its language; any other text behind the fence is shown, as it would be lost."""
    return content if _LANGUAGE.fullmatch(info.strip()) else f"{info.strip()}\n{content}"


def _code(text: str, place: _Place) -> Iterator[Rich]:
    """Code as one element; what is longer than a block is cut between lines."""
    for piece in pieces_within(({"type": "text", "text": text.rstrip("\n")},), BLOCK_CHARACTERS, at_lines=True):
        border: Block = {"border": 1} if place.quoted else {}
        yield Rich({"type": "rich_text_preformatted", "elements": list(piece), **border})


def _quote(node: SyntaxTreeNode, place: _Place) -> Iterator[Part]:
    """A quotation: its paragraphs in one element; tables, lists and code in it stand on their own."""
    inner = _Place(place.depth, quoted=True)
    gathered: list[Block] = []
    for part in _blocks(node.children, inner):
        if isinstance(part, Rich) and part.element["type"] == "rich_text_quote":
            gathered += [*([{"type": "text", "text": "\n\n"}] if gathered else []), *part.element["elements"]]
            continue
        yield from _texts(tuple(gathered), "rich_text_quote")
        gathered = []
        yield part
    yield from _texts(tuple(gathered), "rich_text_quote")


def _list(node: SyntaxTreeNode, place: _Place) -> Iterator[Part]:
    """A list, with what its items hold besides text in its place; ordered ones count on where they were broken."""
    ordered, number = node.type == "ordered_list", int(node.attrs.get("start", 1))
    run: list[Inline] = []
    for item in node.children:
        own, rest = _item(item)
        if not own:
            yield from _items(run, ordered, number - len(run), place)
            run = []
        else:
            run.append(own)
        number += 1
        if rest:
            yield from _items(run, ordered, number - len(run), place)
            run = []
            yield from _blocks(rest, _Place(place.depth + 1, place.quoted))
    yield from _items(run, ordered, number - len(run), place)


def _item(item: SyntaxTreeNode) -> tuple[Inline, Sequence[SyntaxTreeNode]]:
    """The text that an item begins with, and what else it holds."""
    texts: list[Inline] = []
    rest = list(item.children)
    while rest and rest[0].type == "paragraph":
        texts.append(_inline(rest.pop(0)))
    return joined_inline([text for text in texts if text], "\n"), rest


def _items(items: Sequence[Inline], ordered: bool, first: int, place: _Place) -> Iterator[Rich]:
    """Items as lists that each fit into a block."""
    gathered: list[Inline] = []
    length = 0
    for number, item in enumerate(items, first):
        size = len(plain(item))
        if ordered and not 1 <= number <= _HIGHEST_NUMBER:  # no number of an item: "2023. ..." is shown as printed
            yield from _texts(({"type": "text", "text": f"{number}. "}, *item), _holder(place))
            continue
        if gathered and length + size > BLOCK_CHARACTERS:
            yield _one_list(gathered, ordered, number - len(gathered), place)
            gathered, length = [], 0
        if size > BLOCK_CHARACTERS:
            start, *more = pieces_within(item, BLOCK_CHARACTERS)
            yield _one_list([start], ordered, number, place)
            yield from (Rich({"type": "rich_text_section", "elements": list(piece)}) for piece in more)
            continue
        gathered.append(item)
        length += size
    if gathered:
        yield _one_list(gathered, ordered, first + len(items) - len(gathered), place)


def _one_list(items: Sequence[Inline], ordered: bool, first: int, place: _Place) -> Rich:
    element: Block = {
        "type": "rich_text_list",
        "style": "ordered" if ordered else "bullet",
        "elements": [{"type": "rich_text_section", "elements": list(item)} for item in items],
    }
    if place.depth:
        element["indent"] = min(place.depth, DEEPEST_INDENT)
    if ordered and first > 1:
        element["offset"] = first - 1
    if place.quoted:
        element["border"] = 1
    return Rich(element)


def _grid(node: SyntaxTreeNode) -> Grid:
    rows = [row for part in node.children for row in part.children]
    cells = [tuple(_inline(cell) for cell in row.children) for row in rows]
    styles = [str(cell.attrs.get("style", "")) for cell in rows[0].children]
    alignments = tuple(style.removeprefix("text-align:") for style in styles)
    return Grid(headings=cells[0], rows=tuple(cells[1:]), alignments=alignments)
