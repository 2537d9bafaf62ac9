"""The words of a piece of an HTML tree: white space as a browser shows it, and no figure changed on the way.

28.64<sup>1</sup> must not become 28.641 nor 10<sup>15</sup> become 1015, so a raised or lowered number keeps its mark;
a struck-out price keeps its strike. Links are their text, images nothing. Elements that a browser does not show, or
that are no content, are left out, but never a table in them. Errors: none of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

from ingest.html_tree import Element


def _names(words_of_names: str) -> frozenset[str]:
    return frozenset(words_of_names.split())


# What <br> stands for until it is known whether it ends a line or only parts two words; it is no white space of HTML.
LINE = "\u2028"
# The ~~ of a struck-out text, until it is known that something stands between two of them; no text has this character.
STRIKE = "\ufdd0"
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
_LEADING_DIGITS = re.compile(r"\s*\+?(\d{1,9})")
_SPACED_LINE = re.compile(f" ?({LINE}) ?")
_LINES = re.compile(f"{LINE}+")
_RAISED_FIGURE = re.compile(r"[+\-−]?\d")

Event = tuple[Literal["enter"], Element] | tuple[Literal["leave"], Element] | tuple[Literal["text"], str]


def events(root: Element, whole: Callable[[Element], bool]) -> Iterator[Event]:
    """Everything below `root` in order, without recursion; an element that is `whole` is entered, not walked or left."""
    open_tags: list[Element] = []
    walks = [iter(root.children)]
    while walks:
        node = next(walks[-1], None)
        if node is None:
            walks.pop()
            if open_tags:
                yield "leave", open_tags.pop()
        elif isinstance(node, str):
            yield "text", node
        else:
            yield "enter", node
            if not whole(node):
                open_tags.append(node)
                walks.append(iter(node.children))


def is_left_out(tag: Element) -> bool:
    """Whether the words of the element are not shown or no content: navigation, scripts, hidden, a page's imprint."""
    if tag.name in NO_CONTENT or tag.get("role") == "navigation":
        return True
    if not tag.attributes:
        return _is_imprint(tag)
    if "hidden" in tag.attributes or "katex-html" in tag.get("class").split():
        return True
    return bool(_HIDDEN_STYLE.search(tag.get("style"))) or _is_imprint(tag)


def attribute_number(tag: Element, name: str, default: int) -> int:
    """A whole number the way browsers read it (the leading digits), else `default`."""
    found = _LEADING_DIGITS.match(tag.get(name)) if tag.attributes else None
    return int(found[1]) if found else default


def words(root: Element, skip: Callable[[Element], bool] = lambda tag: False) -> str:
    """The text of an element on one line; elements for which `skip` is true are left out."""
    return one_line(pieces(root, skip))


def pieces(root: Element, skip: Callable[[Element], bool]) -> list[str]:
    """The raw pieces of text below an element, blocks parted by spaces and <br> as LINE; see `tidy`."""
    parts = [child for child in root.children if isinstance(child, str)]
    if len(parts) == len(root.children):
        return parts
    parts = []

    def whole(tag: Element) -> bool:
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


def inline_edge(tag: Element, entering: bool) -> str:
    """What stands where an inline element begins or ends: the strike of a struck-out text, else nothing."""
    if tag.name in ("s", "del", "strike"):
        return STRIKE
    return LINE if tag.name == "br" and entering else ""


def is_mark(tag: Element) -> bool:
    """Whether the element is read as a whole by `mark`."""
    return tag.name in ("sup", "sub", "input") and not tag.first("table")


def mark(tag: Element, before: list[str], skip: Callable[[Element], bool]) -> str:
    """A raised or lowered text, or a tick box; `before` is the text it stands after."""
    if tag.name == "input":
        return ("☑" if "checked" in tag.attributes else "☐") if tag.get("type") == "checkbox" else ""
    text = words(tag, skip)
    last = "".join(before[-3:])[-1:]
    is_after = last.isalnum() if tag.name == "sup" else last.isdigit()
    if _RAISED_FIGURE.match(text) and (is_after or last in (")", "）")):
        return f"{'^' if tag.name == 'sup' else '_'}{text}"
    return text


def tidy(parts: list[str]) -> str:
    """White space collapsed, none at the ends or around LINE, or for a line break between Chinese; STRIKE is ~~."""
    text = "".join(parts)
    if text.isprintable() and "  " not in text:  # nothing of what follows is in it
        return text.strip(" ")
    text = _UNSEEN.sub("", text.replace(STRIKE * 2, "").replace(STRIKE, "~~"))
    text = _SPACES.sub(" ", _HAN_BREAK.sub("", text))
    return _SPACED_LINE.sub(r"\1", text).strip(f" {LINE}")


def one_line(parts: list[str]) -> str:
    """`tidy`, with each LINE, or several, a space."""
    text = tidy(parts)
    return _LINES.sub(" ", text) if LINE in text else text


def _is_imprint(tag: Element) -> bool:
    """A <footer> of the page itself, with a copyright or mostly links; not that of an article or a quotation."""
    if tag.name != "footer" or tag.around(("article", "main", "section", "blockquote", "td")):
        return False
    text = tag.text()
    linked = sum(len(link.text()) for link in tag.all("a"))
    return bool(_FOOTER_WORDS.search(text)) or linked * 2 > len(text)
