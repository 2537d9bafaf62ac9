"""Markdown whose emphasis any CommonMark parser reads as it was meant, also beside Chinese and full-width punctuation.

CommonMark takes `**价格：**100` for bare asterisks, as punctuation stands inside the closing mark and no space or
punctuation outside; a hair space outside mends that. It never goes into a figure: there the marks are taken out
instead. Asterisks that multiply are escaped. Text in, text out; nothing is rendered here, and code is left alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

HAIR_SPACE = "\u200a"

_CODE = re.compile(r"(`{3,}[\s\S]*?(?:`{3,}|\Z)|~{3,}[\s\S]*?(?:~{3,}|\Z)|(?<!`)`[^`\n]*`(?!`))")
_PAIR = re.compile(r"(?<![*\\])(\*{1,3})(?![*\s])([^*\n]+?)(?<![\s\\])\1(?!\*)")
_MULTIPLIES = re.compile(r"(?<=[0-9A-Za-z)\]])\*(?=[0-9A-Za-z(\[])(?!\*)|(?<=\d)\*\*(?=\d)")
_ASCII_WORD = re.compile(r"[0-9A-Za-z]")
_JOINS_FIGURES = frozenset(".,%+-−–~≈±/$¥€£￥")


def outside_code(markdown: str, change: Callable[[str], str], in_code: Callable[[str], str] | None = None) -> str:
    """The text with `change` applied to all but code spans and fences, and `in_code` to those."""
    pieces = _CODE.split(markdown)
    return "".join(
        change(piece) if not number % 2 else in_code(piece) if in_code else piece for number, piece in enumerate(pieces)
    )


def with_safe_marks(markdown: str) -> str:
    """The Markdown with emphasis that renders and asterisks that multiply kept; only hair spaces are added."""
    return outside_code(markdown, lambda text: _PAIR.sub(_mended, _MULTIPLIES.sub(_escaped, text)))


def _escaped(match: re.Match[str]) -> str:
    """The asterisk between two words escaped where it multiplies; kept where it is half of an emphasis."""
    return "".join(f"\\{mark}" for mark in match[0])


def _mended(match: re.Match[str]) -> str:
    text, mark, inner = match.string, match[1], match[2]
    before = text[match.start() - 1] if match.start() else " "
    after = text[match.end()] if match.end() < len(text) else " "
    if _within_figure(before, inner[0]) or _within_figure(inner[-1], after):
        return inner
    left = HAIR_SPACE if _needs_space(inner[0], before) else ""
    right = HAIR_SPACE if _needs_space(inner[-1], after) else ""
    return f"{left}{mark}{inner}{mark}{right}"


def _needs_space(inner: str, outer: str) -> bool:
    """Whether CommonMark would not see the mark between these two as one that opens or closes."""
    return _punctuation(inner) and not _punctuation(outer) and not outer.isspace()


def _within_figure(left: str, right: str) -> bool:
    """Whether a hair space between these two would stand within a figure."""
    return (left.isdigit() and right in _JOINS_FIGURES) or (left in _JOINS_FIGURES and right.isdigit())


def _punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
