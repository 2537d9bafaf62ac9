"""Text within a paragraph or a cell as Slack's rich text elements: styles, links, and cutting what is too long.

Takes the tokens of markdown-it-py; blocks (lists, quotations, tables) are rich_text.py's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from assistant.slack.safe_marks import HAIR_SPACE
from assistant.slack.view import Block

Inline = tuple[Block, ...]

LONGEST_URL = 2_000
_STYLES = {"strong": "bold", "em": "italic"}
# An address ends before Chinese, brackets and the punctuation of its sentence.
_URL = re.compile(
    r"https?://[^\s<>\u3000-\u303f\u3400-\u9fff\uff00-\uffef\"'`()|]+[^\s<>\u3000-\u303f\u3400-\u9fff\uff00-\uffef\"'`()|.,;:!?*]"
)
_CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")
_GOOD_CUT = re.compile(r"(?<=[。！？；\n])|(?<=[.!?;] )")
_CUT = re.compile(r"(?<=\s)|(?<=[，、：,])(?!\d)|(?<=[\u3400-\u9fff])(?=[\u3400-\u9fff])")


def inline_elements(tokens: Sequence[Token]) -> Inline:
    """Rich text elements of inline tokens; neighbours of one style are one element, and none is empty."""
    out: list[Block] = []
    open_styles: list[str] = []
    url = ""
    for number, token in enumerate(tokens):
        kind, _, end = token.type.rpartition("_")
        if kind in _STYLES:
            open_styles = [*open_styles, _STYLES[kind]] if end == "open" else open_styles[:-1]
        elif token.type == "link_open":
            url = _web_address(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            url = ""
        else:
            text = _text(token, tokens, number)
            styles = [*open_styles, *(["code"] if token.type == "code_inline" else [])]
            _add(out, text, styles, url)
    return tuple(element for piece in out for element in _with_links(piece))


def plain(elements: Sequence[Block]) -> str:
    """The text that is read."""
    return "".join(str(element.get("text", element.get("url", ""))) for element in elements)


def joined_inline(texts: Sequence[Inline], joint: str) -> Inline:
    """Several texts as one, with `joint` between them."""
    out: list[Block] = []
    for text in texts:
        out += [*([{"type": "text", "text": joint}] if out else []), *text]
    return tuple(out)


def pieces_within(elements: Inline, limit: int, *, at_lines: bool = False) -> Iterator[Inline]:
    """The elements in pieces of at most `limit` characters, cut after a sentence, a line or a word; never in a figure.

    `at_lines` cuts between lines only, where they are not too long themselves. No elements, no piece.
    """
    piece: list[Block] = []
    room = limit
    for element in elements:
        rest = plain([element])
        while len(rest) > room:
            at = _place_to_cut(rest, room, at_lines) if room else 0
            if at == 0 and not piece:
                at = room
            if at:
                piece.append(_with_text(element, rest[:at]))
                rest = rest[at:]
            yield tuple(piece)
            piece, room = [], limit
        if rest:
            piece.append(_with_text(element, rest))
            room -= len(rest)
    if piece:
        yield tuple(piece)


def _place_to_cut(text: str, room: int, at_lines: bool) -> int:
    """Where to cut at the latest; 0 where there is no good place."""
    if at_lines:
        return text.rfind("\n", 0, room) + 1
    window = text[: room + 1]
    good = [match.end() for match in _GOOD_CUT.finditer(window) if room // 2 < match.end() <= room]
    fair = good or [match.end() for match in _CUT.finditer(window) if 0 < match.end() <= room]
    return fair[-1] if fair else 0


def _with_text(element: Block, text: str) -> Block:
    return element if element.get("text") == text else {**element, "text": text}


def _text(token: Token, tokens: Sequence[Token], number: int) -> str:
    """What a token shows; a line break of the source is a space, and nothing between Chinese characters."""
    if token.type == "hardbreak":
        return "\n"
    if token.type == "softbreak":
        before = tokens[number - 1].content[-1:] if number else ""
        after = tokens[number + 1].content[:1] if number + 1 < len(tokens) else ""
        return "" if _CHINESE.match(before) and _CHINESE.match(after) else " "
    return token.content.replace(HAIR_SPACE, "")


def _add(out: list[Block], text: str, styles: Sequence[str], url: str) -> None:
    if not text:
        return
    element: Block = {"type": "link", "url": url, "text": text} if url else {"type": "text", "text": text}
    if styles:
        element["style"] = dict.fromkeys(sorted(styles), True)
    same = out and {**out[-1], "text": ""} == {**element, "text": ""}
    if same:
        out[-1] = {**out[-1], "text": out[-1]["text"] + text}
    else:
        out.append(element)


def _with_links(element: Block) -> Iterator[Block]:
    """Addresses in a text as links, as Slack makes none of them in rich text; code stays."""
    if element["type"] == "link" or "code" in element.get("style", {}):
        yield element
        return
    text, at = str(element["text"]), 0
    for match in _URL.finditer(text):
        if len(match[0]) > LONGEST_URL:
            continue
        if match.start() > at:
            yield {**element, "text": text[at : match.start()]}
        yield {**element, "type": "link", "url": match[0], "text": match[0]}
        at = match.end()
    if text[at:]:
        yield {**element, "text": text[at:]}


def _web_address(url: str) -> str:
    """The address where it may be followed from Slack, else "" (the text of the link stays)."""
    fine = url.lower().startswith(("http://", "https://", "mailto:")) and len(url) <= LONGEST_URL
    return url if fine else ""
