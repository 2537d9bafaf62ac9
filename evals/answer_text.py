"""An answer's Markdown as plain segments: one spelling, and each table cell with its headings. Reads no number.

A segment is the reach of a unit: a line of prose, or one cell of a table.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad]")
CITATION = re.compile(r"\[\^?\d{1,3}\](?!\()")
FORMULA = re.compile(r"\$(?=[^$\n]*\\(?:times|approx|frac|text|cdot))([^$\n]*)\$")
COMMANDS = ((r"\times", "×"), (r"\cdot", "×"), (r"\approx", "≈"), (r"\$", "$"))
RULE = re.compile(r"[\s:|+-]*-[\s:|+-]*")
CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Segment:
    """A line or a cell. `heading`: its column heading and row label, "" in prose; `line`: the whole line it is in."""

    text: str
    line: str
    heading: str = ""


def normalise(text: str) -> str:
    """The text in one spelling: half width, no emphasis, no citation marks, × for every sign of multiplication."""
    text = CITATION.sub("", re.sub(r"<br\s*/?>", " ", INVISIBLE.sub("", text)))
    text = re.sub(r"([：，；])(?=\d)", r"\1 ", text)  # "T4：11.63" is no time of day, "8 核，32 GB" no 8,32
    text = unicodedata.normalize("NFKC", FORMULA.sub(r"\1", text))
    for command, sign in COMMANDS:
        text = text.replace(command, sign)
    text = re.sub(r"\*\*|__|~~|`", "", text)
    text = text.translate({0x2212: "-", 0x2013: "-", 0x2014: "-", 0x2010: "-", 0x2011: "-"})
    text = re.sub(r"(?<=\d)\s*[*✕✖⨯]\s*(?=\d)", " × ", text)
    text = re.sub(r"(?<=\d)[xX](?=\d)|(?<![A-Za-z0-9])[xX](?=\d)", "×", text)
    return re.sub(r"[^\S\n]+", " ", text)


def segments(text: str) -> list[Segment]:
    """The lines and cells of a normalised text, in order."""
    lines = text.split("\n")
    out: list[Segment] = []
    headings: list[str] | None = None
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if "|" not in line:
            headings = None
            out.append(Segment(line, line))
        elif RULE.fullmatch(line):
            continue
        elif "|" in following and RULE.fullmatch(following):
            headings = _cells(line)
            out.append(Segment(line, line))
        else:
            out.extend(_row(line, headings or []))
    return out


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in CELL.split(line.strip().removeprefix("|").removesuffix("|"))]


def _row(line: str, headings: list[str]) -> list[Segment]:
    cells = _cells(line)
    label = next((cell for cell in cells if cell), "")
    return [
        Segment(cell, line, f"{headings[i] if i < len(headings) else ''} ; {'' if cell == label else label}")
        for i, cell in enumerate(cells)
    ]
