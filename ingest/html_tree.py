"""A web page as a tree of elements and texts, as lxml's parser tells it; comments are not kept.

Why not Beautiful Soup: a price table of 100,000 cells took it longer than a file may take (sandbox.py). This tree has
what the readers of HTML ask for and no more. It does NOT judge what is shown. Errors: none of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

ROOT = "[document]"
_NO_TEXT = frozenset({"rt", "rp", "script", "style", "template"})  # readings of characters, and what is no text at all


class Element:
    """One element: its name in lower case, its attributes, and its children, a text among them being a str.

    `names` in its methods are the names of the elements that are looked for.
    """

    __slots__ = ("attributes", "children", "name", "parent")

    def __init__(self, name: str, attributes: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.attributes: Mapping[str, str] = attributes or {}
        self.children: list[Element | str] = []
        self.parent: Element | None = None

    def get(self, attribute: str) -> str:
        """The value of an attribute, "" without one."""
        return self.attributes.get(attribute) or ""

    @property
    def parents(self) -> Iterator[Element]:
        """The elements around this one, the innermost first."""
        outer = self.parent
        while outer is not None:
            yield outer
            outer = outer.parent

    def all(self, *names: str) -> Iterator[Element]:
        """The elements below this one with one of these names in the order of the page; do not change it meanwhile."""
        waiting: list[Element | str] = self.children[::-1]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                continue
            if node.name in names:
                yield node
            if node.children:
                waiting += node.children[::-1]

    def first(self, *names: str) -> Element | None:
        """The first of `all`."""
        return next(self.all(*names), None)

    def around(self, names: Collection[str]) -> Element | None:
        """The innermost element around this one with one of these names."""
        outer = self.parent
        while outer is not None and outer.name not in names:
            outer = outer.parent
        return outer

    def text(self) -> str:
        """All texts below this element, each without white space at its ends, parted by spaces."""
        found: list[str] = []
        waiting: list[Element | str] = self.children[::-1]
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                found.append(node.strip())
            else:
                waiting += node.children[::-1]
        return " ".join(filter(None, found))

    def append(self, child: Element) -> None:
        """Puts an element that stands nowhere at the end of the children."""
        child.parent = self
        self.children.append(child)

    def leave(self) -> None:
        """Takes the element out of the tree with all that is in it."""
        if self.parent is not None:
            del self.parent.children[_place_of(self, self.parent)]
            self.parent = None

    def put_behind(self, other: Element) -> None:
        """Takes the element from where it stands and puts it behind another one, which is not the root."""
        self.leave()
        if other.parent is not None:
            other.parent.children.insert(_place_of(other, other.parent) + 1, self)
            self.parent = other.parent


def parsed(html: str) -> Element:
    """The root of the page's tree; unclosed and misplaced tags are mended as lxml does it."""
    from lxml import etree

    builder = _Builder()
    if html.strip():
        parser = etree.HTMLParser(target=builder)
        parser.feed(html)
        parser.close()
    return builder.close()


def _place_of(child: Element, parent: Element) -> int:
    return next(at for at, node in enumerate(parent.children) if node is child)


class _Builder:
    """What lxml's parser calls for each tag and text; the names of its methods are lxml's."""

    def __init__(self) -> None:
        self._open = [Element(ROOT)]
        self._without_text = 0  # elements open whose text is not kept

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        element = Element(name, dict(attributes) if attributes else None)
        self._open[-1].append(element)
        self._open.append(element)
        self._without_text += name in _NO_TEXT

    def end(self, name: str) -> None:
        if self._open[-1].name != name and all(element.name != name for element in self._open):
            return
        while (closed := self._open.pop()).name != name:
            self._without_text -= closed.name in _NO_TEXT
        self._without_text -= name in _NO_TEXT

    def data(self, text: str) -> None:
        if self._without_text:
            return
        children = self._open[-1].children
        if children and isinstance(children[-1], str):
            children[-1] += text
        else:
            children.append(text)

    def close(self) -> Element:
        return self._open[0]
