"""Where the price board of an answer goes: in the place of the tables that hold the rental rows, and of nothing else.

Tables of fine-tuning, bills, comparisons and specifications stay as they are. It makes no board and renders nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assistant.evidence import Bilingual
from assistant.slack.inline_text import plain
from assistant.slack.rich_text import Grid, Part, Rich
from assistant.slack.view import Block

# Headings of the price tables (assistant/price_tables.py), in English and in both scripts of Chinese. A table with any
# other column says something that the board does not, such as a bill, and stays.
_PRICE = re.compile(r"(?:价格|價格)（[^（）]+/小[时時]）|Price \([A-Z]{3}/hour\)")
_PER_GPU = re.compile(r"每卡（[^（）]+/小[时時]）|Per GPU \([A-Z]{3}/hour\)")
_OTHERS = frozenset(
    ["云", "雲", "Cloud", "GPU", "实例", "實例", "Instance", "CPU", "主机内存", "主機內存", "主機内存", "主机內存", "计费", "計費", "Billing", "日期", "Date", "比最低价贵", "比最低價貴"]
) | {"Host memory", "Above lowest"}  # fmt: skip
# Lines that lead in such a table and say of it what a board of other currencies or periods is not.
_LEADS = re.compile(
    r"^(?:[^。.]{0,80}每小[时時][价價]格（[^（）]*）|以[^。]{1,8}[计計][价價]的行（[^（）]*）|另有美元[价價]目（[^（）]*）"
    r"|Hourly prices of [^.]*\([A-Z]{3}[^()]*\)|Rows in [^.]* \([^()]*\)|There are prices in US dollars too \([^()]*\))"
    r"\s*(?P<marks>(?:\[\d{1,3}\]\s*)*)[:：]\s*$"
)
LEAD = Bilingual(zh="租用价格{marks}：", en="Rental prices{marks}:")


def is_price_grid(grid: Grid) -> bool:
    """Whether a table lists rental prices per hour and nothing that the board lacks."""
    names = [plain(heading).strip() for heading in grid.headings]
    others = [name for name in names if not _PRICE.fullmatch(name) and not _PER_GPU.fullmatch(name)]
    return len(names) - len(others) > 0 and "GPU" in names and all(name in _OTHERS for name in others)


def with_board(
    found: Sequence[Part | Block], board: Sequence[Part | Block], lead: str, *, changed: bool
) -> tuple[Part | Block, ...]:
    """The parts with `board` in the place of the first price table, and the other ones taken out.

    Their lead-ins become one (`lead`, LEAD in the script of the answer), with all their citation marks, where there are several or the view is `changed`.
    """
    tables = [place for place, part in enumerate(found) if isinstance(part, Grid) and is_price_grid(part)]
    if not tables:
        return tuple(found)
    leads = {place - 1: match for place in tables if (match := _lead(found, place))}
    if not changed and len(tables) == 1:
        leads = {}
    marks = "".join(dict.fromkeys(mark for match in leads.values() for mark in re.findall(r"\[\d+\]", match["marks"])))
    return tuple(_replaced(found, tables, leads, _new_lead(marks, lead) if leads else (), board))


def _replaced(
    found: Sequence[Part | Block], tables: Sequence[int], leads: dict[int, re.Match[str]], lead: Sequence[Part],
    board: Sequence[Part | Block],
) -> Iterator[Part | Block]:  # fmt: skip
    for place, part in enumerate(found):
        if place in leads:
            continue
        if place not in tables:
            yield part
        elif place == tables[0]:
            yield from lead
            yield from board


def _lead(found: Sequence[Part | Block], place: int) -> re.Match[str] | None:
    part = found[place - 1] if place else None
    return _LEADS.match(part.text) if isinstance(part, Rich) and not part.heading else None


def _new_lead(marks: str, lead: str) -> tuple[Part, ...]:
    text = lead.format(marks=f" {marks}" if marks and lead.isascii() else marks)
    return (Rich({"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}),)
