"""The whole way of a user's file, for some hundred and sixty awkward kinds: opened, dispatched, read, cut into passages.

Most go through the reader in this process; a handful through the real sandbox, where it could change something.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest
from awkward_archives import ARCHIVES, REFUSALS
from awkward_files import Awkward
from awkward_formats import FORMATS
from awkward_layouts import LAYOUTS
from awkward_pdfs import PDF_FILES
from awkward_sheets import XLSX
from awkward_slides import PPTX
from awkward_texts import TEXT_FILES
from awkward_web import WEB_FILES
from awkward_word import DOCX
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest import sandbox
from ingest.blocks import REASONS, FileRefusedError, Grid, Parsed, from_json, to_json
from ingest.file_kinds import kind_of
from ingest.incoming import Incoming, Refused, expanded
from ingest.passages import passages_of
from ingest.sandbox_child import READERS
from knowledge.passage import Passage

CHINESE = re.compile("[\u4e00-\u9fff]")
FILES = [*TEXT_FILES, *WEB_FILES, *DOCX, *PPTX, *XLSX, *LAYOUTS, *PDF_FILES, *ARCHIVES, *REFUSALS]
BY_KIND = {file.kind: file for file in FILES}
THROUGH_THE_SANDBOX = (
    "text: GB18030 with four-byte characters",
    "XLSX: a stated size of a million rows",
    "DOCX: cells merged across and down",
    "PPTX: cells merged across and down",
    "PDF: Chinese without an embedded font",
    "PDF: password to open",
    "refusal: DOCX cut off in the middle",
)


@dataclass
class Outcome:
    """What came of one file."""

    refused: list[str] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)

    @property
    def compared(self) -> Outcome:
        return replace(self, notes=[], tables=[])


def read(content: bytes, name: str) -> Parsed:
    """As the sandbox's child does it."""
    parsed = importlib.import_module(READERS[kind_of(name, content)]).read(content, name)
    assert isinstance(parsed, Parsed)
    assert from_json(to_json(parsed)) == parsed
    return parsed


def outcome_of(file: Awkward, *, through_sandbox: bool = False) -> Outcome:
    outcome = Outcome()
    for arrived in expanded(Incoming(f"/in/{file.name}", file.name, file.data)):
        member = arrived.name.removeprefix(file.name).removeprefix(" › ")
        code = arrived.code if isinstance(arrived, Refused) else _take(arrived, file.name, outcome, through_sandbox)
        if member:
            outcome.members.append(f"{member}: {code}" if code else member)
        elif code:
            outcome.refused.append(code)
    return outcome


def _take(arrived: Incoming, file_name: str, outcome: Outcome, through_sandbox: bool) -> str:
    """Adds what the file says; gives the code of the refusal, if it is one."""
    try:
        parsed = (sandbox.parse if through_sandbox else read)(arrived.content, arrived.name)
        passages = passages_of(parsed, document="d", name=arrived.name)
    except FileRefusedError as error:
        _check_refusal(error, arrived.name)
        return error.code
    _check(passages, parsed)
    for passage in passages:
        if passage.kind == "row":
            place = passage.locator.removeprefix(file_name).lstrip(" ,")
            outcome.rows.append(f"{place} | {passage.text}")
        else:
            (outcome.tables if passage.topic.endswith("#table") else outcome.texts).append(passage.text)
    outcome.notes += [note.en for note in parsed.notes]
    return ""


def _check_refusal(error: FileRefusedError, name: str) -> None:
    assert CHINESE.search(error.zh.replace(name, ""))
    assert not CHINESE.search(error.en.replace(name, ""))


def _check(passages: list[Passage], parsed: Parsed) -> None:
    """What holds for any file."""
    assert [passage.id for passage in passages] == [f"d:{number}" for number in range(1, len(passages) + 1)]
    grids = [block for block in parsed.blocks if isinstance(block, Grid)]
    assert sum(len(grid.rows) for grid in grids) == parsed.table_rows
    rows = Counter((passage.topic, passage.text) for passage in passages if passage.kind == "row")
    assert max(rows.values(), default=1) == 1
    assert all(passage.text.strip() and passage.locator.startswith(passage.source) for passage in passages)


def expected_of(file: Awkward) -> Outcome:
    return Outcome([file.refused] if file.refused else [], list(file.members), list(file.rows), list(file.texts), [])


@pytest.mark.parametrize("kind", BY_KIND)
def test_an_awkward_file_gives_exactly_its_rows_and_texts_or_its_refusal(kind: str) -> None:
    file = BY_KIND[kind]
    outcome = outcome_of(file)
    assert len(outcome.notes) == len(file.notes)
    assert all(words in note for words, note in zip(file.notes, outcome.notes, strict=True))
    assert outcome.compared == expected_of(file)


@pytest.mark.parametrize("kind", THROUGH_THE_SANDBOX)
def test_the_sandbox_gives_the_same_as_its_reader(kind: str) -> None:
    file = BY_KIND[kind]
    assert outcome_of(file, through_sandbox=True).compared == expected_of(file)


def test_a_file_over_the_limit_is_refused_before_a_reader_sees_it() -> None:
    with pytest.raises(FileRefusedError) as refused:
        sandbox.parse(b"GPU,Price\nA100,1.80\n" * 100, "huge.csv", sandbox.Limits(file_bytes=1000))
    assert refused.value.code == "too-large"


def test_there_are_many_kinds_all_told_apart_and_all_judged() -> None:
    assert len(FILES) == len(BY_KIND) >= 160
    assert all(file.rows or file.texts or file.refused or file.members for file in FILES)
    assert {file.refused for file in FILES if file.refused} <= REASONS
    families = Counter(kind.split(":")[0].split(" ")[0] for kind in BY_KIND)
    assert (
        min(families[family] for family in ("Markdown", "text", "HTML", "DOCX", "XLSX", "PPTX", "PDF", "CSV", "ZIP"))
        >= 3
    )


# ---- any table ----

_CELLS = st.text("ab12价格0元|;\"'*_<&-.$#`\\[]()!/ :%+，；", max_size=6).map(lambda text: " ".join(text.split()))
_BODIES = st.lists(st.lists(_CELLS, min_size=3, max_size=3), min_size=1, max_size=4)


def _is_plain_row(row: list[str]) -> bool:
    """Neither a title across the table nor a heading again."""
    return bool(row[0]) and len(set(row)) > 1 and sum(map(bool, row)) > 1


def _said(rows: list[list[str]]) -> list[str]:
    """What the row passages of a table with one heading row must say."""
    cells = [[cell.replace("; ", ", ").replace(";", ",") for cell in row] for row in rows]
    return [
        "; ".join(f"{header} = {cell}" for header, cell in zip(cells[0], row, strict=True) if cell) for row in cells[1:]
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_a_table_of_awkward_cells_says_the_same_in_every_format(name: str) -> None:
    rows = [
        ["型号", "说明; 备注", "Price (USD)"],
        ["A100|H100", "", "0"],
        ["L4; L40", "*重* a_b_c <b>&amp;</b>", "0.70"],
        ['"H20"', "`x` #1 $5 ~ 4*72*28 \\", "-1"],
        ["昇腾 910B", "[价](含税) 第 1, 2 页", ""],
    ]
    outcome = outcome_of(Awkward("any", name, FORMATS[name](rows)))
    assert [row.partition(" | ")[2] for row in outcome.rows] == _said(rows)
    assert len(outcome.tables) == 1
    assert not outcome.texts


@settings(max_examples=20, deadline=None)
@given(_BODIES.filter(lambda body: all(map(_is_plain_row, body))), st.sampled_from(["any.md", "any.html"]))
def test_any_table_with_a_marked_heading_gives_exactly_its_cells(body: list[list[str]], name: str) -> None:
    rows = [["h1", "h2", "h3"], *body]
    outcome = outcome_of(Awkward("any", name, FORMATS[name](rows)))
    assert [row.partition(" | ")[2] for row in outcome.rows] == _said(rows)


@settings(max_examples=40, deadline=None)
@given(_BODIES.filter(lambda body: any(map(any, body))), st.sampled_from(["any.md", "any.html", "any.csv", "any.xlsx"]))
def test_no_cell_of_any_table_is_lost_whatever_its_rows_are_taken_for(body: list[list[str]], name: str) -> None:
    rows = [["h1", "h2", "h3"], *body]
    outcome = outcome_of(Awkward("any", name, FORMATS[name](rows)))
    said = " ".join([*outcome.rows, *outcome.texts, *outcome.tables]).replace(r"\|", "|")
    said = said.replace("; ", ";").replace(";", ",").replace(", ", ",")
    for cell in {cell for row in body for cell in row}:
        assert cell.replace(";", ",").replace(", ", ",") in said
