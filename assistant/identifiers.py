"""Tells what in a text is a name and what is a figure: A100, DDR5, 16-bit, 2025-09, version and citation marks.

Knows spellings only; it reads no values. What it covers it leaves at its length, so that places stay true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from assistant.units import NONE, RE, measure_after, measure_before, scale_after

MASK = "\ue000"  # stands for each character of an identifier, and reads as a letter
BLANK = "\ue001"  # stands for each character of layout, or of a figure already read

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec)[a-z]*"
_YEAR = r"(?:19|20)[0-9]{2}(?![0-9]|[.,][0-9])"

LAYOUT = re.compile(
    r"https?://[^\s)）>，。]+|\bwww\.[^\s)）>，。]+|(?<=\])\([^)\n]*\)"  # addresses, and the target of a link
    r"|[\[【]\^?[0-9]{1,3}(?:\s*[,，、]\s*\^?[0-9]{1,3})*[\]】]"  # citation marks
    r"|^[ \t>#*+-]*[(（]?[0-9]{1,3}(?:[)）、]|\.(?=\s))"  # list numbers
    r"|第\s*[0-9]+|\b[0-9]+(?:st|nd|rd|th)\b"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|cn|org|net|io|ai)\b[^\s，。]*",
    RE | re.M,
)
DATE = re.compile(
    rf"(?:19|20)[0-9]{{2}}\s*年(?:\s*[0-9]{{1,2}}\s*月(?:份|\s*[0-9]{{1,2}}\s*[日号])?)?"
    r"|(?<![0-9])(?:19|20)[0-9]{2}(?:[-/](?:0?[1-9]|1[0-2])(?:[-/][0-9]{1,2})?|\.[0-9]{1,2}\.[0-9]{1,2})(?![0-9])"
    r"|(?<![0-9.])[0-9]{1,2}\s*月(?:份|\s*[0-9]{1,2}\s*[日号])?"
    rf"|\b{_MONTH}\.?\s+(?:[0-9]{{1,2}}(?:st|nd|rd|th)?,?\s+)?{_YEAR}|\b[0-9]{{1,2}}\s+{_MONTH}\s+{_YEAR}"
    rf"|\b(?:in|since|from|by|until|before|after|during|year|early|late|mid|circa)[ -]{_YEAR}",
    RE,
)
VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){2,}")
PRECISION = re.compile(r"(?<![A-Za-z0-9.])[0-9]{1,3}[ \t-]?(?:bits?\b|位(?![置于数]))", RE)
BRAND = re.compile(
    r"\b(?:RTX|GTX|GeForce|Quadro|Tesla|Xeon|Platinum|Gold|EPYC|Ryzen|Radeon|RX|Arc|Llama|Qwen|GPT|GLM|ChatGLM|Falcon"
    r"|MPT|CUDA|PCIe|NVLink|Gen|DDR|Python|Ubuntu)[ -]?(?:[A-Z] ?)?[0-9]+(?:\.[0-9]+)?[A-Za-z]*(?![0-9])",
    RE,
)
CODE = re.compile(r"(?<![A-Za-z0-9])(?!(?:CNY|USD|RMB|EUR|US)[0-9])[A-Za-z]+[A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")
DIGITS_FIRST = re.compile(r"(?<![A-Za-z0-9.,])([0-9]+(?:\.[0-9]+)?)[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
EXPONENT = re.compile(r"e[+-]?[0-9]{1,2}(?![A-Za-z0-9])", RE)


def extract_identifiers(text: str, names: Collection[str] = ()) -> list[str]:
    """Codes with digits that are no figures (A100, 3D, 16-bit) and the years of dates; `names` are left out."""
    return masked_identifiers(levelled(text), frozenset(names))[1]


def levelled(text: str) -> str:
    """Same length: full-width and foreign digits become 0-9, emphasis becomes space, 8xA100 becomes 8×A100."""
    text = re.sub(r"\*\*|__|~~|`", lambda match: " " * len(match.group()), text)
    text = "".join(_plain(character) for character in text) if not text.isascii() else text
    text = re.sub(r"(?<=[0-9])( ?)[x*](?= ?[A-Z0-9])", r"\1×", text)
    return re.sub(r"(?<![A-Za-z0-9])[xX](?=[0-9])", "×", text)


def _plain(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if "Ａ" <= character <= "ｚ" or character in "％．￥＄／":
        return unicodedata.normalize("NFKC", character)
    return " " if character in "\u3000\u00a0\u200b\u200c\u200d\u2060\ufeff" else character


def masked_identifiers(text: str, names: frozenset[str]) -> tuple[str, list[str]]:
    """The text with layout and identifiers overwritten, and the identifiers (without those in `names`)."""
    text = LAYOUT.sub(lambda match: BLANK * len(match.group()), text)
    identifiers: list[str] = []

    def overwrite(match: re.Match[str]) -> str:
        if not _is_identifier(match, text):
            return match.group()
        if match.re is DATE:
            identifiers.extend(re.findall(r"(?:19|20)[0-9]{2}", match.group()))
        elif match.re is not known:
            identifiers.append(match.group())
        return MASK * len(match.group())

    known = _names_pattern(names)
    for pattern in (known, DATE, VERSION, PRECISION, BRAND, CODE, DIGITS_FIRST):
        text = pattern.sub(overwrite, text)
    return text, identifiers


@lru_cache(maxsize=16)
def _names_pattern(names: frozenset[str]) -> re.Pattern[str]:
    """Names with digits, longest first; not those that hold a figure themselves, such as "A100 40GB"."""
    kept = [n for n in names if re.search("[0-9]", n) and not re.search(r"[0-9]\s?[GT]i?B?\b", n)]
    longest_first = "|".join(re.escape(name) for name in sorted(kept, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9.,])(?:{longest_first or '(?!)'})(?![A-Za-z0-9]|[.,][0-9])", RE)


def _is_identifier(match: re.Match[str], text: str) -> bool:
    """Whether what looks like a name is one: "4090 张" may be, "4090 元" and "2048 GPUs in all" are not."""
    if match.re is CODE:
        return bool(re.search("[0-9]", match.group()))
    if match.re is DIGITS_FIRST:
        at = match.end(1)
        return measure_after(text, at)[0] == NONE and scale_after(text, at)[1] == at and not EXPONENT.match(text, at)
    if not match.group()[-1:].isdigit() or match.re is VERSION:
        return True
    after = measure_after(text, match.end())[0]
    if match.re is DATE:
        return after == NONE
    bought = measure_before(text, match.start(), money=False).currency
    return not bought and not after.currency and after.unit in ("", "card", "machine", "count")
