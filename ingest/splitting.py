"""Cuts Markdown prose of any length into parts that an embedding can read, between the largest units that fit.

Paragraphs stay together first, then list items and code lines, sentences, clauses, words; a table is cut between rows,
its header repeated. A number, its unit, a model name, a link or a code span is cut only where it alone is wider than a
part. Nothing is dropped, nothing overlaps. Does NOT know headings or places (passages.py repeats those) and does not
segment Chinese words. Raises ValueError for a width too small to hold anything.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ingest.rows import MAX_WIDTH, width
from knowledge.keywords import HAN

SPLITTER_VERSION = "1"  # raise it with any change to where a text is cut: passages are then made again

SMALLEST_WIDTH = 20
LEAST_FILL = 0.25  # a part that a sentence end would leave emptier than this ends at the next lesser place instead

# How good a place for a cut is; a lesser one is taken only where no better one lies in the part.
LINE, SENTENCE, CLAUSE, WORD, INSIDE_NAME, ANYWHERE = range(6)

CHINESE = rf"{HAN}\u3005-\u3007\u3040-\u30ff"
OPENING, CLOSING = "（《〈“「『【〔［｛", "）》〉”」』】〕］｝"
ENDS, CLAUSES = "。！？；…⋯｡", "，、：､"
WORD_CHARACTER = rf"[^\s`\[{CHINESE}{OPENING}{CLOSING}{ENDS}{CLAUSES}]"
NUMERAL = "零〇一二三四五六七八九十百千万亿两"
CHINESE_NAMES = (
    "昇腾|寒武纪|摩尔线程|海光|天数智芯|壁仞|燧原|沐曦|昆仑芯|景嘉微|英伟达|英特尔|通义千问|智谱|"
    "阿里云|腾讯云|华为云|百度智能云|火山引擎|天翼云|移动云|优刻得"
)
# Two of these side by side are parts of one name: RTX PRO 6000, 4070 Ti SUPER, RTX 6000 Ada Generation.
NAME_WORDS = frozenset({
    "nvidia", "amd", "intel", "geforce", "radeon", "quadro", "tesla", "titan", "instinct", "rtx", "gtx", "arc", "pro",
    "ti", "super", "ada", "generation", "laptop", "mobile", "max-q", "max", "ultra", "sxm", "pcie", "nvl", "hgx", "dgx",
    "xp", "black", "edition", "grace", "hopper", "jetson", "orin", "apple", "atlas", "ascend",
})  # fmt: skip
URL = r"(?:https?://|ftp://|www\.)[^\s<>\"'`，。；！？、：（）《》「」【】”“]{1,4000}"
LINK = r"!?\[[^\[\]\n]{0,300}\]\([^)\n]{0,4000}\)"
CODE = r"``[^\n]{1,500}?``|`[^`\n]{1,1000}`"
QUANTITY = (
    rf"[-+~≈<>≤≥±$¥￥€£#]{{0,3}}\d{WORD_CHARACTER}*(?<![.,;:!?])"
    rf"(?:[ \t]?[{NUMERAL}]{{0,3}}(?:人民币|平方米|[{CHINESE}]{{1,2}}))?"
    rf"(?:[ \t]?/[ \t]?(?:[{CHINESE}]{{1,3}}|[A-Za-z]+))*"
)
ATOM = re.compile(
    rf"(?P<space>\s+)"
    rf"|[{OPENING}]{{0,8}}(?:(?P<solid>{URL}|{CODE}|{LINK})"
    rf"|(?P<name>(?:{CHINESE_NAMES})(?:[ \t]?[A-Za-z0-9]{WORD_CHARACTER}*)?)"
    rf"|(?P<quantity>{QUANTITY}|[{NUMERAL}]{{2,12}}[{CHINESE}]{{0,2}})"
    rf"|(?P<han>[{CHINESE}])"
    rf"|(?P<end>[{ENDS}]+[{CLOSING}’\"')\]*_]*)"
    rf"|(?P<clause>[{CLAUSES}]+)"
    rf"|(?P<word>{WORD_CHARACTER}+|[`\[])"
    rf")[{CLOSING}]{{0,8}}|(?P<brackets>[{OPENING}{CLOSING}]+)"
)
DIGIT = re.compile(r"\d")
BARE_NUMBER = re.compile(r"[\d.,:]+\Z")
CHINESE_CHARACTER = re.compile(f"[{CHINESE}]")
LATIN_CLOSERS = "\"'’)]*_" + CLOSING
ABBREVIATION = re.compile(r"(?:e\.g|i\.e|etc|vs|approx|fig|figs|no|nos|cf|ca|eq|sec|dr|mrs?|ms|incl|[a-z])\.\Z", re.I)
LIST_NUMBER = re.compile(r"\d{1,3}[.)]\Z")
LIST_ITEM = re.compile(r"[ \t]*(?:[-*+•·▪◦–][ \t]|\d{1,3}[.)、．][ \t]?|[（(]\d{1,3}[)）]|[一二三四五六七八九十]{1,3}、|[#>|])")  # fmt: skip
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


class _Atom(NamedTuple):
    """A stretch of text that is not cut, and the name of the group of ATOM that it is."""

    start: int
    end: int
    kind: str
    text: str


def split(markdown: str, max_width: int = MAX_WIDTH) -> list[str]:
    """Parts of a text of at most `max_width` columns (a Chinese character counts 2), short paragraphs packed together.

    Only a table row wider than that, with its header, gives a wider part. Raises ValueError for a width below 20.
    """
    cut = pieces(markdown, max_width)
    return ["\n\n".join(cut[run.start : run.stop]) for run in packed(cut, max_width)]


def pieces(markdown: str, max_width: int = MAX_WIDTH) -> list[str]:
    """The paragraphs, lists, tables and code blocks of a text, each cut where it is too wide. Raises ValueError."""
    if max_width < SMALLEST_WIDTH:
        raise ValueError(f"max_width {max_width!r} is too small to hold words: give {SMALLEST_WIDTH} or more columns")
    return [piece for block in _blocks(markdown) for piece in _cut_block(block, max_width)]


def packed(parts: Sequence[str], max_width: int = MAX_WIDTH) -> list[range]:
    """Which neighbouring parts fit into one passage together, as ranges of their indexes, in order."""
    runs: list[range] = []
    used = 0
    for number, part in enumerate(parts):
        wide = width(part)
        if runs and used + wide <= max_width:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
            used = 0
        used += wide + 2  # the blank line between them, counted as `width` counts a line end: 1 each
    return runs


def fits(text: str, max_width: int = MAX_WIDTH) -> bool:
    """Whether a text is at most `max_width` columns wide."""
    return len(text) <= max_width and (2 * len(text) <= max_width or width(text) <= max_width)


def _blocks(markdown: str) -> Iterator[str]:
    """Paragraphs, parted by blank lines; a fenced code block is one, blank lines and all."""
    block: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        mark = FENCE.match(line)
        if fence:
            block.append(line)
            closes = mark and mark[1].startswith(fence) and not line.strip(" \t`~")
            fence = "" if closes else fence
            if not closes:
                continue
        elif mark and not (mark[1][0] == "`" and "`" in line[mark.end() :]):
            yield from _joined(block)
            block, fence = [line], mark[1]
            continue
        elif line.strip():
            block.append(line)
            continue
        yield from _joined(block)
        block = []
    yield from _joined(block)


def _joined(lines: list[str]) -> Iterator[str]:
    if any(line.strip() for line in lines):
        yield "\n".join(lines)


def _cut_block(block: str, max_width: int) -> Iterator[str]:
    if fits(block, max_width):
        yield block
    elif FENCE.match(block):
        yield from _cut_code(block.split("\n"), max_width)
    elif delimiter := next((at for at, line in enumerate(block.split("\n")) if at and _is_delimiter(line)), 0):
        yield from _cut_table(block.split("\n"), delimiter, max_width)
    else:
        yield from _cut_prose(block, max_width)


def _is_delimiter(line: str) -> bool:
    """Whether a line is the row of dashes under a Markdown table's header."""
    return "|" in line and "-" in line and not line.strip(" \t|:-")


def _cut_table(lines: list[str], delimiter: int, max_width: int) -> Iterator[str]:
    """Between rows only: a row is a fact, and half a row is a wrong one."""
    before, header, rows = lines[: delimiter - 1], lines[delimiter - 1 : delimiter + 1], lines[delimiter + 1 :]
    if before:
        yield from _cut_block("\n".join(before), max_width)
    block = list(header)
    for row in rows:
        if len(block) > len(header) and not fits("\n".join([*block, row]), max_width):
            yield "\n".join(block)
            block = list(header)
        block.append(row)
    yield "\n".join(block)


def _cut_code(lines: list[str], max_width: int) -> Iterator[str]:
    """Between lines, each part fenced again."""
    mark = FENCE.match(lines[0])
    fence = mark[1] if mark else "```"
    opening = lines[0].strip()
    if width(opening) + len(fence) > max_width // 2:  # no fence then, but a ruler of a thousand ~
        yield from _cut_prose("\n".join(lines), max_width)
        return
    body = lines[1:-1] if len(lines) > 1 and lines[-1].strip() == fence else lines[1:]
    room = max_width - width(opening) - len(fence) - 2
    block: list[str] = []
    used = 0
    for line in (part for each in body for part in _cut_line(each, room)):
        wide = width(line) + 1
        if block and used + wide > room + 1:
            yield "\n".join([opening, *block, fence])
            block, used = [], 0
        block.append(line)
        used += wide
    yield "\n".join([opening, *block, fence])


def _cut_line(line: str, max_width: int) -> Iterator[str]:
    if fits(line, max_width):
        yield line
    else:
        yield from _cut_prose(line, max_width)


def _cut_prose(text: str, max_width: int) -> Iterator[str]:
    """Greedily the longest part that ends at a good place, so that the least number of sentences is parted."""
    atoms = list(_atoms(text, max_width))
    grades = _grades(text, atoms)
    widths = [_wide(atom.text) for atom in atoms]
    gaps = [_wide(text[atom.end : after.start]) if after.start > atom.end else 0 for atom, after in pairwise(atoms)]
    gaps.append(0)
    first = 0
    while first < len(atoms):
        last = _part_end(grades, widths, gaps, first, max_width)
        yield text[atoms[first].start : atoms[last].end]
        first = last + 1


@lru_cache(maxsize=1 << 14)  # a long text has the same few thousand characters over and over
def _wide(text: str) -> int:
    return len(text) if text.isascii() else width(text)


def _part_end(grades: Sequence[int], widths: Sequence[int], gaps: Sequence[int], first: int, max_width: int) -> int:
    """The last atom of the part that begins with atom `first`; `gaps` is the width of the space after each."""
    ends: dict[int, tuple[int, int]] = {}  # how good a place -> (the last atom before it, width up to there)
    used, at = 0, first
    while at < len(grades) and used + widths[at] <= max_width:
        ends[grades[at]] = (at, used + widths[at])
        used += widths[at] + gaps[at]
        at += 1
    if at == len(grades):
        return at - 1
    for grade in sorted(ends):
        if ends[grade][1] >= LEAST_FILL * max_width:
            return ends[grade][0]
    return max(ends.values())[0] if ends else first


def _atoms(text: str, max_width: int) -> Iterator[_Atom]:
    for match in ATOM.finditer(text):
        if match["space"] is not None:
            continue
        found, start = match[0], match.start()
        while found and not fits(found, max_width):
            size = _hard_cut(found, max_width)
            yield _Atom(start, start + size, "rest", found[:size])
            found, start = found[size:], start + size
        yield _Atom(start, match.end(), match.lastgroup or "word", found)


def _hard_cut(text: str, max_width: int) -> int:
    """How many characters fit, an accent or a joined emoji not parted from the character before it."""
    used = size = 0
    for size, character in enumerate(text):  # noqa: B007 (the index at the break is what is wanted)
        used += width(character)
        if used > max_width:
            break
    back = size
    while back > max(1, size - 16) and (text[back - 1] == "\u200d" or unicodedata.category(text[back])[0] in "MC"):
        back -= 1
    return back if back > max(1, size - 16) else size


def _grades(text: str, atoms: list[_Atom]) -> list[int]:
    """How good a place for a cut the end of each atom is."""
    grades = []
    line_start = True
    for before, after in pairwise(atoms):
        if before.end == after.start and before.kind == after.kind == "han":
            grades.append(WORD)
            line_start = False
            continue
        gap = text[before.end : after.start]
        grade = _grade(before, gap, after, line_start)
        if "\n" in gap and (gap.count("\n") > 1 or LIST_ITEM.match(text, after.start)):
            grade = LINE
        grades.append(grade)
        line_start = "\n" in gap
    return [*grades, ANYWHERE]


def _grade(before: _Atom, gap: str, after: _Atom, line_start: bool) -> int:
    if before.kind == "rest" or (after.kind in ("end", "clause") and "\n" not in gap):
        return ANYWHERE
    if before.kind in ("end", "clause"):
        return SENTENCE if before.kind == "end" else CLAUSE
    if not gap:
        return _grade_adjacent(before, after)
    spaced = _grade_spaced(before, after, line_start)
    return spaced if "\n" not in gap else _grade_line_end(before, after, spaced)


def _grade_adjacent(before: _Atom, after: _Atom) -> int:
    """No space between them: a cut is possible beside a Chinese character, unless the other side is a figure or sign."""
    left, right = before.text[-1], after.text[0]
    if not (CHINESE_CHARACTER.match(left) or CHINESE_CHARACTER.match(right)):
        return WORD if left in CLOSING or right in OPENING else INSIDE_NAME
    if before.kind == "solid" or after.kind == "solid":
        return WORD
    ends_well = left.isalpha() or left in CLOSING
    return WORD if ends_well and (right.isalpha() or right in OPENING) else INSIDE_NAME


def _grade_spaced(before: _Atom, after: _Atom, line_start: bool) -> int:
    said = before.text.rstrip(LATIN_CLOSERS)
    if said.endswith((".", "!", "?", ";")):
        short = ABBREVIATION.match(said.lstrip("([\"'“‘")) or (line_start and LIST_NUMBER.match(said))
        return INSIDE_NAME if short else SENTENCE
    if said.endswith((",", ":")):
        return CLAUSE
    if "solid" in (before.kind, after.kind):
        return WORD
    if DIGIT.search(before.text) or DIGIT.search(after.text) or (_is_name(before) and _is_name(after)):
        return INSIDE_NAME
    return WORD


def _grade_line_end(before: _Atom, after: _Atom, spaced: int) -> int:
    """A line that ends in mid-number or mid-name was wrapped; any other end of a line is a place to pause."""
    wrapped = BARE_NUMBER.match(before.text) and not DIGIT.match(after.text)
    if spaced == INSIDE_NAME and (wrapped or _is_name(before)):
        return INSIDE_NAME
    return min(spaced, CLAUSE)


def _is_name(atom: _Atom) -> bool:
    return atom.text.strip("(),.:;*_").lower() in NAME_WORDS
