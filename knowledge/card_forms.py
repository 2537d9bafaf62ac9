"""Which exact forms of gpus.csv a card's name means, by what is written beside it: memory size and type, SXM, PCIe, NVL, 魔改.

Knows names and sizes of forms only. Sizes are the figures that makers print (80 of 80 GB), compared as written.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from knowledge.own_cards import own_gpus

TABLE = Path(__file__).parent / "tables" / "gpus.csv"
REACH_CHARACTERS = 30  # how far before a name its marks are looked for
MOST_MARKS = 4

# A size that is not the card's: 16G 内存, 300 GB of data, 600 GB/s.
_NOT_ITS_OWN = (
    r"(?!\s?(?:内存|主机|主存|系统盘|数据|模型|硬盘|磁盘|带宽|权重|文件|/s|ps\b|ram\b|host\b|data|disk|ssd|nvme|model|checkpoint"
    r"|of (?:ram|data|host)))"
)
_SIZE = rf"\d{{1,3}}(?:\s?g(?:i?b)?)?(?:\s?[/或]\s?\d{{1,3}})?\s?g(?:i?b)?(?![a-z0-9]){_NOT_ITS_OWN}"
_SOCKET = r"(?:sxm\d?|oam|nvl|hbm\d?e?)(?![a-z0-9])|pcie(?!\s?(?:gen\s?)?[3-6](?:\.0)?(?!\d))"
_OTHER = r"魔改|改装|modded|mod(?![a-z])|max-?q|workstation|工作站|server|服务器|hgx|dgx"
MARK = rf"(?:{_SIZE}|{_SOCKET}|{_OTHER})"
_FILLER = r"(?:[\s_(/\[-]|显卡|卡|显存|版本|版|的|带|nvidia|英伟达|geforce|tesla|gpu|vram|memory|with|edition|blackwell|[x*×]\s?\d+(?![\dg]))"
AFTER = re.compile(rf"{_FILLER}{{0,5}}?(?P<mark>{MARK})", re.A)
BEFORE = re.compile(rf"(?:^|(?<![a-z0-9.]))(?P<mark>{MARK}){_FILLER}{{0,5}}$", re.A)
_OR = r"\s?(?:[/、,]|vs\.?|和|与|或|还是|跟|or|and)\s?"
ALTERNATIVE = re.compile(rf"{_OR}(?P<mark>{_SIZE}|{_SOCKET})", re.A)  # A100 SXM or PCIe
FILLER_ALONE = re.compile(rf"{_FILLER}*", re.A)
HGX = re.compile(r"[hd]gx(?! ?spark)", re.A)
# Two cards of 24 GB have 48 GB: "两张4090 48G" does not say that they are modded ones.
PAIR_BEFORE = re.compile(r"(?:2|两|双|二|two|dual)\s?(?:张|块|卡|个|[x*×])?[\s的]?(?:nvidia\s?|geforce\s?)*$", re.A)
PAIR_AFTER = re.compile(r"s?\s?[x*×]\s?2(?!\d)", re.A)
ANYWHERE = re.compile(rf"(?<![a-z0-9.])(?P<mark>{MARK})", re.A)
_MEANING = {"工作站": "workstation", "服务器": "server", "maxq": "max-q", "hgx": "sxm", "dgx": "sxm"}
EDITIONS = ("workstation", "server", "max-q")


@dataclass(frozen=True)
class CardForm:
    """What a row of gpus.csv says about names; sizes in the unit that the maker prints, None where none is known."""

    name: str
    families: tuple[str, ...]
    modded: bool
    form_factor: str
    memory_type: str
    memory: tuple[Decimal, Decimal] | None


@dataclass(frozen=True)
class Marks:
    """What stands beside a name; `end` is where the last of it ends."""

    sizes: tuple[Decimal, ...] = ()
    sockets: tuple[str, ...] = ()
    edition: str = ""
    modded: bool = False
    pair: bool = False
    end: int = 0

    def __bool__(self) -> bool:
        return bool(self.sizes or self.sockets or self.edition or self.modded)


def matching(family: str, marks: Marks) -> tuple[str, ...]:
    """Names of the family's forms that fit the marks. A modded card is meant only by its size or by 魔改."""
    fitting = [form for form in _forms_by_family().get(family, ()) if _fits(form, marks)]
    original = [form for form in fitting if not form.modded]
    if marks.modded or (marks.sizes and not original and not marks.pair):
        fitting = [form for form in fitting if form.modded]
    else:
        fitting = original
    if "pcie" in marks.sockets and "nvl" not in marks.sockets and any("PCIe" in form.name for form in fitting):
        fitting = [form for form in fitting if "NVL" not in form.name]  # both are PCIe cards, one is called so
    return tuple(form.name for form in fitting)


def modded_forms(family: str) -> tuple[str, ...]:
    """Forms of the family that no maker sells, such as a 4090 with 48 GB."""
    return tuple(form.name for form in _forms_by_family().get(family, ()) if form.modded)


def form_owner(words: str) -> CardForm | None:
    """The form whose whole name these folded words are."""
    return next((form for form in all_forms() if form.name.lower() == words), None)


def beside(folded: str, name: tuple[int, int], bounds: tuple[int, int]) -> Marks:
    """Marks right before and right after a name, between the names on both sides of it (`bounds`).

    A size before the name leaves the one behind it alone: of "40G A100 80G A100" each has its own.
    """
    start, end = name
    before = _walk_back(folded, max(bounds[0], start - REACH_CHARACTERS), start)
    words, at = _walk_on(folded, end, bounds[1], without_sizes=bool(before.sizes))
    if HGX.match(folded, start):
        words.append("hgx")
    behind = read_marks(words)
    return Marks(
        before.sizes + behind.sizes,
        before.sockets + behind.sockets,
        before.edition or behind.edition,
        before.modded or behind.modded,
        bool(PAIR_BEFORE.search(folded, max(0, start - 12), start) or PAIR_AFTER.match(folded, end)),
        at,
    )


def read_marks(words: Iterable[str]) -> Marks:
    """Marks as written -> what they mean."""
    written = [_MEANING.get(word, word) for word in words]
    sizes = tuple(Decimal(n) for word in written if word[0].isdigit() for n in re.findall(r"\d+", word))
    sockets = tuple(word for word in written if re.fullmatch(_SOCKET, word))
    edition = next((word for word in written if word in EDITIONS), "")
    return Marks(sizes, sockets, edition, any(word in ("魔改", "改装", "modded", "mod") for word in written))


@cache
def all_forms() -> tuple[CardForm, ...]:
    """All rows of gpus.csv, and the reader's own cards behind them."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        shipped = tuple(
            CardForm(
                row["name"], tuple(row["families"].split(";")), row["variant"] == "modded", row["form_factor"],
                row["memory_type"], _range(row["memory"]),
            )
            for row in csv.DictReader(file)
        )  # fmt: skip
    return shipped + tuple(
        CardForm(
            gpu.name,
            gpu.families,
            False,
            gpu.form_factor,
            gpu.memory_type,
            (gpu.memory.low, gpu.memory.high) if gpu.memory else None,
        )
        for gpu in own_gpus(len(shipped))
    )


def forget_forms() -> None:
    """Read all forms anew at their next use: own cards have come or gone."""
    all_forms.cache_clear()
    _forms_by_family.cache_clear()


def _walk_back(folded: str, floor: int, start: int) -> Marks:
    found: list[str] = []
    while len(found) < MOST_MARKS and (match := BEFORE.search(folded[floor:start])):
        found.append(match["mark"])
        start = floor + match.start("mark")
    return read_marks(found)


def _walk_on(folded: str, at: int, ceiling: int, *, without_sizes: bool) -> tuple[list[str], int]:
    """Marks behind a name and where they end; an alternative that stands before the next name is that one's."""
    found: list[str] = []
    while len(found) < MOST_MARKS:
        match = AFTER.match(folded, at)
        if not match and found:
            match = ALTERNATIVE.match(folded, at)
            if match and ceiling < len(folded) and FILLER_ALONE.fullmatch(folded, match.end(), ceiling):
                break
        if not match or match.end() > ceiling or (without_sizes and match["mark"][0].isdigit()):
            break
        found.append(match["mark"])
        at = match.end()
    return found, at


def _fits(form: CardForm, marks: Marks) -> bool:
    if marks.sizes and not any(form.memory and form.memory[0] <= size <= form.memory[1] for size in marks.sizes):
        return False
    if marks.edition and marks.edition not in form.name.lower():
        return False
    sockets = [mark for mark in marks.sockets if not mark.startswith("hbm")]
    types = [mark for mark in marks.sockets if mark.startswith("hbm")]
    return all(_has(mark, form) for mark in types) and (not sockets or any(_has(mark, form) for mark in sockets))


def _has(mark: str, form: CardForm) -> bool:
    factor = form.form_factor.lower()
    if mark == "nvl":
        return "NVL" in form.name
    if mark.startswith("hbm"):
        return form.memory_type.lower() == mark  # of the H100s with 80 GB only the SXM one has HBM3
    if mark == "sxm" or not mark.startswith("sxm"):
        return factor.startswith(mark)
    return factor.split(" ")[0] == mark


def _range(cell: str) -> tuple[Decimal, Decimal] | None:
    if not cell:
        return None
    low, _, high = cell.partition("-")
    return Decimal(low), Decimal(high or low)


@cache
def _forms_by_family() -> dict[str, tuple[CardForm, ...]]:
    families = {family for form in all_forms() for family in form.families}
    return {family: tuple(form for form in all_forms() if family in form.families) for family in families}
