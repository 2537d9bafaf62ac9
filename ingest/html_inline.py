"""The words of a piece of an HTML tree: white space as a browser shows it, and no figure changed on the way.

28.64<sup>1</sup> must not become 28.641 nor 10<sup>15</sup> become 1015, so a raised or lowered number keeps its mark;
a struck-out price keeps its strike. Links are their text, images nothing. Elements that a browser does not show, or
that are no content, are left out, but never a table in them. Errors: none of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bs4 import Tag


def _names(words_of_names: str) -> frozenset[str]:
    return frozenset(words_of_names.split())


# What <br> stands for until it is known whether it ends a line or only parts two words; it is no white space of HTML.
LINE = "\u2028"
BLOCKS = _names(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary table tbody "
    "td tfoot th thead tr ul"
)
NO_CONTENT = _names(
    "audio button canvas datalist embed head iframe img map math meta nav noscript object option rp script select style svg "
    "template title video"
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_FOOTER_WORDS = re.compile(r"©|copyright|all rights reserved|版权|備案|备案|ICP", re.IGNORECASE)
_UNSEEN = re.compile(r"[\u200b\u2060\ufeff\u00ad]")
_HAN = r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]"
_HAN_BREAK = re.compile(rf"(?<={_HAN})[ \t\r\f]*\n\s*(?={_HAN})")
_SPACES = re.compile(rf"[^\S{LINE}]+")
_RAISED_FIGURE = re.compile(r"[+\-−]?\d")

Event = tuple[Literal["enter"], "Tag"] | tuple[Literal["leave"], "Tag"] | tuple[Literal["text"], str]


def events(root: Tag, whole: Callable[[Tag], bool]) -> Iterator[Event]:
    """Everything below `root` in order, without recursion; an element that is `whole` is entered, not walked or left."""
    from bs4.element import CData, NavigableString, Tag

    open_tags: list[Tag] = []
    walks = [iter(root.children)]
    while walks:
        node = next(walks[-1], None)
        if node is None:
            walks.pop()
            if open_tags:
                yield "leave", open_tags.pop()
        elif isinstance(node, Tag):
            yield "enter", node
            if not whole(node):
                open_tags.append(node)
                walks.append(iter(node.children))
        elif type(node) in (NavigableString, CData):  # not its kinds for comments, scripts and templates
            yield "text", str(node)


def is_left_out(tag: Tag) -> bool:
    """Whether the words of the element are not shown or no content: navigation, scripts, hidden, a page's imprint."""
    if tag.name in NO_CONTENT or tag.get("role") == "navigation":
        return True
    if tag.has_attr("hidden") or "katex-html" in (tag.get("class") or ()):
        return True
    return bool(_HIDDEN_STYLE.search(str(tag.get("style") or ""))) or _is_imprint(tag)


def attribute_number(tag: Tag, name: str, default: int) -> int:
    """A whole number the way browsers read it (the leading digits), else `default`."""
    found = re.match(r"\s*\+?(\d{1,9})", str(tag.get(name) or ""))
    return int(found[1]) if found else default


def nearest(tag: Tag, name: str) -> Tag | None:
    """The innermost element of that name around the tag; many times faster than Beautiful Soup's `find_parent`."""
    outer = tag.parent
    while outer is not None and outer.name != name:
        outer = outer.parent
    return outer


def words(root: Tag, skip: Callable[[Tag], bool] = lambda tag: False) -> str:
    """The text of an element on one line; elements for which `skip` is true are left out."""
    return one_line(pieces(root, skip))


def pieces(root: Tag, skip: Callable[[Tag], bool]) -> list[str]:
    """The raw pieces of text below an element, blocks parted by spaces and <br> as LINE; see `tidy`."""
    parts: list[str] = []

    def whole(tag: Tag) -> bool:
        return skip(tag) or is_left_out(tag) or is_mark(tag)

    for kind, node in events(root, whole):
        if isinstance(node, str):
            parts.append(node)
        elif kind == "enter" and is_mark(node) and not (skip(node) or is_left_out(node)):
            parts.append(mark(node, parts, skip))
        elif node.name in BLOCKS:
            parts.append(" ")
        elif not whole(node):
            parts.append(inline_edge(node, entering=kind == "enter"))
    return parts


def inline_edge(tag: Tag, entering: bool) -> str:
    """What stands where an inline element begins or ends: the strike of a struck-out text, else nothing."""
    if tag.name in ("s", "del", "strike"):
        return "~~"
    return LINE if tag.name == "br" and entering else ""


def is_mark(tag: Tag) -> bool:
    """Whether the element is read as a whole by `mark`."""
    return tag.name in ("sup", "sub", "input") and not tag.find("table")


def mark(tag: Tag, before: list[str], skip: Callable[[Tag], bool]) -> str:
    """A raised or lowered text, or a tick box; `before` is the text it stands after."""
    if tag.name == "input":
        return ("☑" if tag.has_attr("checked") else "☐") if tag.get("type") == "checkbox" else ""
    text = words(tag, skip)
    last = "".join(before[-3:])[-1:]
    is_after = last.isalnum() if tag.name == "sup" else last.isdigit()
    if _RAISED_FIGURE.match(text) and (is_after or last in (")", "）")):
        return f"{'^' if tag.name == 'sup' else '_'}{text}"
    return text


def tidy(parts: list[str]) -> str:
    """White space collapsed, none at the ends, none around LINE, and no space for a line break between Chinese."""
    text = _UNSEEN.sub("", "".join(parts).replace("~~~~", ""))
    text = _SPACES.sub(" ", _HAN_BREAK.sub("", text))
    return re.sub(rf" ?({LINE}) ?", r"\1", text).strip(f" {LINE}")


def one_line(parts: list[str]) -> str:
    """`tidy`, with each LINE, or several, a space."""
    return re.sub(f"{LINE}+", " ", tidy(parts))


def _is_imprint(tag: Tag) -> bool:
    """A <footer> of the page itself, with a copyright or mostly links; not that of an article or a quotation."""
    if tag.name != "footer" or tag.find_parent(["article", "main", "section", "blockquote", "td"]):
        return False
    text = tag.get_text(" ", strip=True)
    linked = sum(len(link.get_text(" ", strip=True)) for link in tag.find_all("a"))
    return bool(_FOOTER_WORDS.search(text)) or linked * 2 > len(text)
