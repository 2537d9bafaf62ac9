"""Answers and conversations to take along: Markdown as the reader sees it, and the tables of an answer as CSV.

Text in, text out: it reads no store and serves nothing. Figures stay as they were printed.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from assistant.conversations import Turn
from assistant.evidence import Bilingual, Language

BOM = "\ufeff"  # without it Excel reads UTF-8 as the system's code page
_QUESTION = Bilingual(zh="问", en="Question")
_UNANSWERED = Bilingual(zh="（没有答完）", en="(not answered to the end)")
_NUMBER = re.compile(r"[+\-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")
_ACTS_AS_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Table = tuple[tuple[str, ...], ...]


def conversation_markdown(title: str, turns: Sequence[Turn], language: Language) -> str:
    """A conversation as Markdown: each question quoted, each answer's text below it."""
    parts = [f"# {title}"]
    for turn in turns:
        question = "\n".join(f"> {line}" for line in turn.question.strip().splitlines())
        answer = turn.answer.text.strip() if turn.answer else _UNANSWERED[language]
        parts.append(f"**{_QUESTION[language]}** ({turn.asked_at})\n\n{question}\n\n{answer}")
    return "\n\n---\n\n".join(parts) + "\n"


def answer_tables(text: str) -> tuple[Table, ...]:
    """The Markdown tables of a text as they are read: headings first, then the rows; tables in code are none."""
    tables: list[Table] = []
    lines = re.sub(r"```.*?(?:```|\Z)", "", text, flags=re.DOTALL).splitlines()
    place = 0
    while place + 1 < len(lines):
        if _is_row(lines[place]) and re.fullmatch(r"\s*\|?[\s|:-]*-[\s|:-]*", lines[place + 1]):
            end = place + 2
            while end < len(lines) and _is_row(lines[end]):
                end += 1
            tables.append(tuple(_cells(line) for line in (lines[place], *lines[place + 2 : end])))
            place = end
        else:
            place += 1
    return tuple(tables)


def tables_csv(tables: Sequence[Table]) -> str:
    """Tables as one CSV file for Excel, a blank line between them; no cell can act as a formula."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    for number, table in enumerate(tables):
        if number:
            file.write("\r\n")
        writer.writerows([_csv_cell(cell) for cell in row] for row in table)
    return BOM + file.getvalue()


def _is_row(line: str) -> bool:
    return line.strip().startswith("|") and line.count("|") > 1


def _cells(line: str) -> tuple[str, ...]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return tuple(_as_read(cell) for cell in re.split(r"(?<!\\)\|", inner))


def _as_read(cell: str) -> str:
    """The text of a cell: its citation marks, bold type and escapes taken off."""
    cell = re.sub(r"(?:\s*\[\d{1,3}\])+\s*$", "", cell.strip())
    return re.sub(r"\*\*|`", "", cell).replace("\\|", "|").strip()


def _csv_cell(cell: str) -> str:
    if _NUMBER.fullmatch(cell):
        return cell.replace(",", "").replace("−", "-")
    return f"'{cell}" if cell.startswith(_ACTS_AS_FORMULA) else cell
