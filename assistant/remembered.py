"""Remembers what pure functions of one text gave, as long as the same names are known.

Readings depend on the text and on the names of cards, clouds and models; when a card of the reader's own comes or goes, all
is read anew. Bounded: so many short texts, the least lately asked for go first. It reads nothing itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from knowledge.names import Link, Name, all_names, link, normalise

Result = TypeVar("Result")

LONGEST = 4000  # characters of a text that is remembered


class _Known:
    """The names as they are now, equal to themselves alone: `forget` makes other ones."""

    __slots__ = ("names",)

    def __init__(self, names: tuple[Name, ...]) -> None:
        self.names = names

    def __hash__(self) -> int:
        return id(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Known) and self.names is other.names


def remembered(most: int) -> Callable[[Callable[[str], Result]], Callable[[str], Result]]:
    """Keep the results of a function for the last `most` texts; they must not change once made."""

    def keeping(read: Callable[[str], Result]) -> Callable[[str], Result]:
        @lru_cache(maxsize=most)
        def kept(text: str, _: _Known) -> Result:
            return read(text)

        @wraps(read)
        def asked(text: str) -> Result:
            return kept(text, _Known(all_names())) if len(text) <= LONGEST else read(text)

        return asked

    return keeping


@remembered(2048)
def linked(text: str) -> tuple[Link, ...]:
    """Every name of a text as it was written; `start` and `end` count characters of the normalised text."""
    return tuple(link(normalise(text)))
