"""Whether a model's sentence is one: in the reader's language, plain prose, no instruction and no part of a prompt.

It reads the sentence alone; what it claims is the business of verify.py.
"""

from __future__ import annotations

import re

from assistant.evidence import Language
from assistant.sentences import MARK_OR_CODE

RE = re.IGNORECASE | re.ASCII
HAN = re.compile(r"[\u3400-\u9fff]")
OTHER_SCRIPT = re.compile(
    r"[\u0400-\u052f\u0590-\u06ff\u0900-\u0dff\u0e00-\u0eff\u3041-\u3096\u30a1-\u30fa\uac00-\ud7af]"
)
ENGLISH_WORD = re.compile(r"(?<![A-Za-z0-9-])[a-z]{2,}(?![A-Za-z0-9-])")
# Headings, tables, fences, pictures, HTML and links to elsewhere are no sentences.
LAYOUT = re.compile(r"^\s*(?:#|\||```|~~~|!\[|---)|```|<[a-z!/]|!\[|\]\([a-z]+:|\$\$|\\[a-z]+\{|\|[^|\n]*\|", RE)
HEADING = re.compile(r"[^。.!?！？，,]{0,12}[：:]\s*(?:\[[0-9]+\])?")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffd]")
# Words that steer a model or tell of its inside; a passage may hold them, an answer about GPUs does not.
STEERING = re.compile(
    r"(?:忽略|无视|忘记|忘掉|覆盖|绕过|不再遵守)[^。.\n]{0,20}(?:规则|指令|提示|要求|设定|内容)|(?:系统|你的|初始)(?:提示词?|指令|设定)|提示词"
    r"|(?:从现在起|接下来)[^。\n]{0,8}(?:你是|扮演|你要)|告诉用户|回复用户|对用户说|请(?:输出|打印|回复|复述)"
    r"|\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:rules?|instructions?|prompts?|above|previous)\b"
    r"|\bsystem prompt\b|\b(?:my|your) (?:instructions|rules|prompt)\b|\byou are now\b|\b(?:tell|inform) the (?:user|reader)\b"
    r"|\b(?:print|output|repeat|reply|respond)\b (?:the following|only|exactly|with)|\b(?:print|reveal|show|tell|your|my)\b[^.\n]{0,30}\bapi[ _-]?keys?\b"
    r"|(?:输出|告诉|透露|泄露|打印|你的|我的)[^。\n]{0,10}密钥|sk-[A-Za-z0-9]{6,}",
    RE,
)
RUN = 10  # characters of Chinese, or words of English, in a row that a sentence may share with a prompt at most
LONGEST = 400  # characters


def fault_of_form(sentence: str, language: Language, prompt: str = "") -> str:
    """Why the text is no sentence for the reader: "form", "length", "language", "steering" or "leak"; "" if it is one."""
    if LAYOUT.search(sentence) or CONTROL.search(sentence):
        return "form"
    if HEADING.fullmatch(sentence.strip()):
        return "form"
    if len(sentence) > LONGEST:
        return "length"
    plain = MARK_OR_CODE.sub(" ", sentence)
    if not is_in(plain, language):
        return "language"
    if STEERING.search(plain):
        return "steering"
    return "leak" if prompt and _shares_run(plain, prompt) else ""


def is_in(text: str, language: Language) -> bool:
    """Whether prose is in the language; names and figures are in none."""
    if OTHER_SCRIPT.search(text):
        return False
    han, english = len(HAN.findall(text)), len(ENGLISH_WORD.findall(text))
    return han >= english if language == "zh" else han <= 2 * english


def without_steering(text: str) -> str:
    """The text without its sentences that address a model: passages are content for it, not instructions."""
    pieces = re.split(r"(?<=[。！？\n])|(?<=[.!?])(?=\s)", text)
    return "".join(piece for piece in pieces if not STEERING.search(piece))


def _shares_run(text: str, prompt: str) -> bool:
    def units(value: str) -> list[str]:
        return re.findall(r"[\u3400-\u9fff]|[a-z0-9]+", value.lower())

    mine, whole = units(text), " ".join(units(prompt))
    return any(f" {' '.join(mine[at : at + RUN])} " in f" {whole} " for at in range(len(mine) - RUN + 1))
