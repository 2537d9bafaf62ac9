"""Sentences that stand under an answer whatever it says: not legal advice, cut off, which languages are spoken.

Reads question and finding; it looks nothing up.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assistant.evidence import Finding, Language
from assistant.other_languages import NOTE, is_in_another_language
from assistant.reading import HEAD_CHARACTERS, TAIL_CHARACTERS
from assistant.understand import Request

READ_CHARACTERS = HEAD_CHARACTERS + TAIL_CHARACTERS
LONGEST_NAME = 40  # characters of an unknown name that an answer repeats
EXPORT = re.compile(
    r"出口管制|对华出口|向中国出口|对中国买家禁售|在中国禁售|export (?:rule|control|to China)|exported to China|barred (?:from|for)|sale in China",
    re.I,
)
ADVICE = re.compile(r"不是法律意见|不提供法律意见|no(?:t)? legal advice")
CHECK = re.compile(r"法务|律师|counsel|lawyer")


def with_notes(question: str, language: Language, finding: Finding) -> Finding:
    """The finding with the notes that the question and its own words call for."""
    notes = []
    if EXPORT.search(finding.markdown) and finding.status in ("answered", "not_in_knowledge"):
        notes.append(_legal(finding.markdown, language))
    if len(question) > READ_CHARACTERS:
        notes.append(_cut(language))
    if is_in_another_language(question):
        notes.append(NOTE)
    parts = [finding.markdown, *(note for note in notes if note)]
    return finding if len(parts) == 1 else finding.model_copy(update={"markdown": "\n\n".join(parts)})


def echoing_briefly(request: Request) -> Request:
    """The request with long unknown names shortened, as answers repeat them."""
    slots = request.slots
    if not any(len(name) > LONGEST_NAME for name in slots.unknown):
        return request
    return replace(request, slots=replace(slots, unknown=tuple(map(_short, slots.unknown))))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _legal(text: str, language: Language) -> str:
    """What of "dated facts, no legal advice, ask somebody" the answer does not say yet."""
    if ADVICE.search(text) and CHECK.search(text):
        return ""
    if language == "zh":
        return "以上只是转述来源所写的出口规则和日期，不是法律意见；下单前请查现行规定，并向供应商和法务核实。"
    return (
        "This only repeats what the sources say of export rules and their dates; it is not legal advice. Check the rules "
        "in force, with your supplier and counsel, before ordering."
    )


def _cut(language: Language) -> str:
    if language == "zh":
        return "（问题太长，只读了开头和结尾两部分；请把要问的写短一些。）"
    return "(The question is very long: only its beginning and its end were read. Please make it shorter.)"
