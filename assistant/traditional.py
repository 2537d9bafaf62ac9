"""Traditional Chinese: whether a question is written in it, and an answer put into it.

Converts characters only, as they are written in Taiwan; words stay (顯存, not 顯示記憶體). Code, addresses, quoted sources and what stands in Latin letters
or digits stay as they are; what an answer says does not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from assistant.evidence import Answer, Card, Done, Event, Prose, Working

if TYPE_CHECKING:
    from opencc import OpenCC

# Code, addresses, quotations of a source and its title lines are shown as they were written.
KEPT = re.compile(
    r"```[\s\S]*?(?:```|\Z)|`[^`\n]*`|(?:https?://|www\.)[^\s)）>，。]+|^>.*$|^(?:来源|Source) \[[0-9]+\].*$", re.M
)
HAN = re.compile(r"[\u3400-\u9fff]")
KANA = re.compile(r"[\u3041-\u30fa]")


def is_traditional(text: str) -> bool:
    """Whether more characters of a text change when it is made simplified than when it is made traditional.

    Japanese is not: its characters are in part the traditional ones.
    """
    if KANA.search(text):
        return False
    to_simple = sum(a != b for a, b in zip(text, _converter("t2s").convert(text), strict=False))
    to_traditional = sum(a != b for a, b in zip(text, _converter("s2t").convert(text), strict=False))
    return bool(to_simple > to_traditional)


def traditional(text: str) -> str:
    """The text in traditional characters, with what must be kept left alone."""
    pieces, at = [], 0
    for match in KEPT.finditer(text):
        pieces += [_converted(text[at : match.start()]), match.group()]
        at = match.end()
    return "".join([*pieces, _converted(text[at:])])


def in_the_script_of(question: str, events: Iterator[Event]) -> Iterator[Event]:
    """The events of an answer, in traditional characters where the question is written in them."""
    if not HAN.search(question) or not is_traditional(question):
        yield from events
        return
    for event in events:
        if isinstance(event, Card | Prose):
            yield event.model_copy(update={"markdown": traditional(event.markdown)})
        elif isinstance(event, Working):
            yield event.model_copy(update={"message": traditional(event.message)})
        elif isinstance(event, Done):
            yield Done(answer=_answer(event.answer))


def _answer(answer: Answer) -> Answer:
    """Text, dropped sentences and the figures as printed; calls and citations stay, as evidence is not rewritten."""
    figures = tuple(figure.model_copy(update={"text": traditional(figure.text)}) for figure in answer.figures)
    return answer.model_copy(update={"text": traditional(answer.text), "figures": figures})


def _converted(text: str) -> str:
    if not HAN.search(text):
        return text
    return str(_converter("s2tw").convert(text))


@cache
def _converter(name: str) -> OpenCC:
    from opencc import OpenCC

    return OpenCC(name)
