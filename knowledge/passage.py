"""The passage: the piece of knowledge that is searched, read and cited. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["zh", "en"]


@dataclass(frozen=True)
class Passage:
    """A piece of knowledge that can be cited.

    `topic` is shared by the Chinese and the English twin, and by the parts of a long section. `text` is
    Markdown, `source` and `locator` are as shown to readers, `as_of` is a date or None where undated. kind:
    "row" is one table row as `header = value; ...`, "gap" states what the sources do *not* say; "question" is made by
    the index of a line of `asked` and never shown. `asked` holds questions that the passage answers in other words
    than its own, one a line; they lead a search to it and are not shown either.
    """

    id: str
    topic: str
    language: Language
    title: str
    section: str
    text: str
    source: str
    locator: str
    as_of: str | None
    kind: Literal["text", "row", "gap", "question"]
    asked: str = ""
