"""Cuts a stream of prose into sentences, and knows how citation marks and code look in it.

A pure function of the text: however a stream is cut into pieces, the sentences are the same.
"""

from __future__ import annotations

import re

CODE = r"```.*?(?:```|\Z)|`[^`\n]*`"
MARK = r"[\[【]\s*\^?([0-9]{1,3}(?:\s*[,，、]\s*\^?[0-9]{1,3})*)\s*(?:†[^\]】\n]*)?[\]】](?!\()"
MARK_OR_CODE = re.compile(rf"{CODE}|{MARK}", re.S)
CLOSERS = r"""["'”’」』）)】》]"""
TAIL = re.compile(rf"(?:{CLOSERS}|\*{{1,3}}(?=\s|\Z)|[ \t]*{MARK})*")
PARTIAL_MARK = re.compile(r"[ \t]*[\[【][0-9^,，、 ]*(?:†[^\]】\n]*)?\Z")
SPACE = re.compile(r"[ \t]*(?:\n[ \t]*)*\n|[ \t]*")
ABBREVIATION = re.compile(
    r"(?:\b(?:vs|e\.g|i\.e|approx|fig|cf|ca|inc|ltd|corp|dr|mrs?|ms|incl|resp)|(?:\b[A-Z]\.)+[A-Z])\.\Z", re.I | re.A
)
LIST_NUMBER = re.compile(r"[ \t>#*+-]*[0-9]{1,3}\.\Z")
END = re.compile(
    rf"(?P<code>```)|(?P<span>`)|(?P<line>\n)|(?P<han>[。！？；…]+)|(?P<latin>[.!?]+(?=\s|{CLOSERS}|\*|[\[【]|[\u4e00-\u9fff]|\Z))"
)


def split_sentences(buffer: str) -> tuple[list[str], str]:
    """The complete sentences of a stream so far, and the rest to put before the next piece.

    Lossless: sentences keep their closing quotes, citation marks, spaces and line ends, and join to the text. A
    sentence is complete when the character after it has been seen, so however a text is cut the result is the same;
    when the stream ends the rest is the last sentence. Lines, and code between fences, are sentences of their own.
    """
    sentences = []
    while end := _sentence_end(buffer):
        sentences.append(buffer[:end])
        buffer = buffer[end:]
    return sentences, buffer


def _sentence_end(text: str) -> int:
    """Where the first sentence ends; 0 while that is not yet certain."""
    at = len(text) - len(text.lstrip())
    while hit := END.search(text, at):
        if hit["code"] or hit["span"]:
            at = _after_code(text, hit)
            if not at:
                return 0
            continue
        end = hit.end() if hit["line"] else TAIL.match(text, hit.end()).end()  # type: ignore[union-attr]
        if end == len(text) or PARTIAL_MARK.match(text, end):
            return 0
        if hit["latin"] and not _ends_latin(text, hit.end(), end):
            at = hit.end()
            continue
        end = SPACE.match(text, end if not hit["line"] else hit.start()).end()  # type: ignore[union-attr]
        return end if text[end:].strip() else 0
    return 0


def _after_code(text: str, opening: re.Match[str]) -> int:
    """Where code that opens here ends (a lone ` is text); 0 while its end has not arrived."""
    if opening["code"]:
        close = text.find("```", opening.end())
        return close + 3 if close >= 0 else 0
    line_end = text.find("\n", opening.end())
    close = text.find("`", opening.end(), line_end if line_end >= 0 else len(text))
    if close >= 0:
        return close + 1
    return opening.end() if line_end >= 0 else 0


def _ends_latin(text: str, stop: int, end: int) -> bool:
    """Whether . ! ? ends a sentence: space or Chinese follows, and it closes no abbreviation or list number."""
    before = text[:stop].lstrip()
    follows = text[end].isspace() or "\u4e00" <= text[end] <= "\u9fff"
    return follows and not ABBREVIATION.search(before) and not LIST_NUMBER.match(before)
