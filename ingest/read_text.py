"""Plain text as paragraphs, each with its line; a heading only where nothing else can be meant.

Blank lines part paragraphs. Chinese is often written without them, one paragraph a line: so a line ends a paragraph
there too, unless indents show where paragraphs begin. Headings are 第一章 and 第二节 on a line of their own, and numbers
such as 1.2 before a title if the numbers follow on each other through the file (3.5 元/小时 is none). Columns aligned by
spaces or tabs stay text. Errors: FileRefusedError "empty", "wrong-type", "encoding".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ingest.blocks import Block, FileRefusedError, Heading, Parsed, Place, Text
from ingest.encodings import decode

_HAN = re.compile(r"[\u3400-\u9fff]")
_INDENT = re.compile(r"\u3000{2}|(?:\t|[ \u3000\t]{2,})(?=[\u3400-\u9fff])")
_HAN_BREAK = re.compile(r"(?<=[\u3400-\u9fff，、])\n(?=[\u3400-\u9fff])")
_ENDS_SENTENCE = re.compile(r"[。！？!?；;：:，,、.…][”’）)\"']?$")
_CHAPTER = re.compile(r"第\s*[0-9０-９零〇一二三四五六七八九十百]+\s*([编篇部章节])(?:[\s:：、]+\S.*|(?<=章)\S{1,20})?")
_CHAPTER_LEVELS = {"编": 1, "篇": 1, "部": 1, "章": 1, "节": 2}
_SECTION = re.compile(r"((?:[1-9]\d?)(?:\.[1-9]\d?){1,4})[.、]?\s+([^\W\d_].*)")
_HEADING_LENGTH, _TITLE_LENGTH, _LONG_LINE = 60, 60, 120

Line = tuple[int, str]


def read(content: bytes, name: str) -> Parsed:
    """The text; its title is a short first line that stands alone, else the file's name. Raises FileRefusedError."""
    text, _ = decode(content)
    lines = re.split(r"\r\n|\n|\r", re.sub(r"[\f\v\u2028\u2029]", " ", text.rstrip("\x1a")))
    groups = list(_groups(list(enumerate(lines, start=1))))
    if not groups:
        raise FileRefusedError("empty", f"{name} 里没有文字。请换一个文件。", f"{name} has no text. Take another file.")
    sections = _sections(groups)
    blocks: list[Block] = []
    for group in groups:
        blocks += _blocks(group, sections)
    return Parsed(_title(groups, name), tuple(blocks), table_rows=0)


def _groups(lines: list[Line]) -> Iterator[list[Line]]:
    """Runs of lines without a blank one between them."""
    group: list[Line] = []
    for number, line in lines:
        if line.strip(" \t\u3000\xa0\ufeff"):
            group.append((number, line.rstrip()))
        elif group:
            yield group
            group = []
    if group:
        yield group


def _sections(groups: list[list[Line]]) -> dict[int, int]:
    """Line -> level of the numbered headings: each has its predecessor (1.3 after 1.2), or is the first of its parent."""
    found: dict[int, int] = {}
    seen: set[tuple[int, ...]] = set()
    for group in groups:
        match = _SECTION.fullmatch(group[0][1].strip()) if len(group) == 1 else None
        if match is None or len(match[0]) > _HEADING_LENGTH or _ENDS_SENTENCE.search(match[0]):
            continue
        number = tuple(int(part) for part in match[1].split("."))
        if number[-1] == 1 or (*number[:-1], number[-1] - 1) in seen:
            seen.add(number)
            found[group[0][0]] = len(number)
    return found if len(found) > 1 else {}


def _blocks(group: list[Line], sections: dict[int, int]) -> Iterator[Block]:
    for paragraph in _paragraphs(group):
        number, first = paragraph[0]
        place = Place("line", str(number))
        level = sections.get(number) or (_chapter_level(first) if len(paragraph) == 1 else 0)
        if level:
            yield Heading(level, " ".join(first.split()), place)
        else:
            text = "\n".join(line.strip(" \t\u3000\xa0\ufeff") for _, line in paragraph)
            yield Text(_HAN_BREAK.sub("", text), place)


def _chapter_level(line: str) -> int:
    text = line.strip(" \t\u3000")
    match = _CHAPTER.fullmatch(text)
    is_heading = len(text) <= _HEADING_LENGTH and not _ENDS_SENTENCE.search(text)
    return _CHAPTER_LEVELS[match[1]] if match and is_heading else 0


def _paragraphs(group: list[Line]) -> list[list[Line]]:
    """A run of lines parted where an indent begins a paragraph, else at each line if they are Chinese or long.

    Chinese lines that are all about as long as the longest, but for the last, are one paragraph broken by its width.
    """
    indented = [bool(_INDENT.match(line)) for _, line in group]
    if any(indented[1:]) and not all(indented):
        starts = [index == 0 or is_indented for index, is_indented in enumerate(indented)]
    elif _is_wrapped([line for _, line in group]):
        starts = [index == 0 for index in range(len(group))]
    else:
        starts = [index == 0 or _is_own_paragraph(group, index) for index in range(len(group))]
    paragraphs: list[list[Line]] = []
    for line, is_start in zip(group, starts, strict=True):
        if is_start:
            paragraphs.append([])
        paragraphs[-1].append(line)
    return paragraphs


def _is_wrapped(lines: list[str]) -> bool:
    *full, last = map(len, lines)
    enders = sum(1 for line in lines[:-1] if _ENDS_SENTENCE.search(line))
    return (
        len(full) > 1 and min(full) > 20 and max(full) - min(full) <= 3 and last <= max(full) and enders * 2 < len(full)
    )


def _is_own_paragraph(group: list[Line], index: int) -> bool:
    """Whether a line begins a paragraph though no blank line is before it."""
    before, line = group[index - 1][1], group[index][1]
    if _chapter_level(before) or _chapter_level(line):
        return True
    return bool(_HAN.search(line) or _HAN.search(before)) or max(len(line), len(before)) > _LONG_LINE


def _title(groups: list[list[Line]], name: str) -> str:
    first = groups[0][0][1].strip(" \t\u3000\ufeff")
    stands_alone = len(groups[0]) == 1 and len(groups) > 1
    is_title = stands_alone and len(first) <= _TITLE_LENGTH and not _ENDS_SENTENCE.search(first)
    return " ".join(first.split()) if is_title else Path(name).stem
