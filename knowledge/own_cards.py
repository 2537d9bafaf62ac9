"""The reader's own cards: accelerators that a table of one of their documents describes and gpus.csv does not have.

One small CSV file in the home folder, columns as in gpus.csv with the document before them. It is read anew when it
has changed, and written whole beside the old one, then renamed over it. It judges no figure and finds no table: that
is ingest/spec_tables.py. What gpus.csv has is never replaced by what stands here.

Errors: OwnCardsBrokenError (the file cannot be read), TooManyCardsError (nothing was written).
"""

from __future__ import annotations

import csv
import os
import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

from filelock import FileLock

from knowledge import hardware
from knowledge.hardware import Gpu
from knowledge.spellings import fold, squeeze
from knowledge.table_rows import CatalogError, read_table

FILE = "own_cards.csv"
MOST_CARDS = 1000
UNVERIFIED = ("出自使用者导入的文档，未经我们核对", "from a document that the user imported, not checked by us")
# Makers and series that people leave out when they name a card.
LEFT_OUT = (
    "nvidia", "英伟达", "amd", "intel", "英特尔", "geforce", "tesla", "quadro", "radeon", "instinct", "摩尔线程", "moore threads",
    "沐曦", "metax", "壁仞", "biren", "寒武纪", "cambricon", "昆仑芯", "kunlunxin", "海光", "hygon", "燧原", "enflame", "天数智芯",
    "iluvatar", "平头哥", "t-head", "华为", "huawei", "mtt",
)  # fmt: skip
OTHER_SCRIPT = (("昇腾", "ascend"), ("ascend", "昇腾"))
CODE = re.compile(r"(?=.*\d)[a-z](?:[a-z0-9][ -]?){2,}[a-z0-9]", re.A)  # c500, s4000; not 4070, which is any number


class OwnCardsBrokenError(CatalogError):
    """The file of own cards cannot be read; the message names it and the way out."""


class TooManyCardsError(Exception):
    """More own cards than the file may have."""


@dataclass(frozen=True)
class OwnCard:
    """One row as it is stored, cells as gpus.csv has them; `family` is how people call the card, the size left out."""

    document_id: str
    name: str
    family: str
    vendor: str = ""
    architecture: str = ""
    release_year: str = ""
    form_factor: str = ""
    memory: str = ""
    memory_unit: str = ""
    memory_type: str = ""
    bandwidth_gb_per_s: str = ""
    fp32_tflops: str = ""
    fp16_tflops: str = ""
    bf16_tflops: str = ""
    fp8_tflops: str = ""
    int8_tops: str = ""
    tdp_w: str = ""
    source: str = ""


COLUMNS = tuple(field.name for field in fields(OwnCard))
NOT_STATED = (
    "variant", "interconnect", "nvlink_gb_per_s", "launch_price_usd", "compute_capability", "export_rule_date",
    "export_source",
)  # fmt: skip


def own_cards() -> tuple[OwnCard, ...]:
    """Every own card, in the order they were stored. Raises OwnCardsBrokenError."""
    return _read(*_stamp())[0]


def own_gpus(rows_before: int) -> tuple[Gpu, ...]:
    """The own cards as rows that follow so many rows of gpus.csv. Raises OwnCardsBrokenError."""
    return tuple(replace(gpu, row=rows_before + gpu.row) for gpu in _read(*_stamp())[1])


def own_names() -> dict[str, tuple[str, ...]]:
    """Family -> the spellings of it and of its forms, folded. Raises OwnCardsBrokenError."""
    names: dict[str, tuple[str, ...]] = {}
    for card in own_cards():
        found = (*names.get(card.family, ()), *_spellings(card.family), *_spellings(card.name))
        names[card.family] = tuple(dict.fromkeys(found))
    return names


def own_forms(family: str, written: str, sizes_gb: Collection[Decimal]) -> tuple[str, ...]:
    """Names of the family's own cards: the one written out in full, or those of one of the sizes (none = all)."""
    cards = [(card, gpu) for card, gpu in zip(*_read(*_stamp()), strict=True) if card.family == family]
    exact = tuple(card.name for card, _ in cards if squeeze(card.name) == squeeze(written))
    if exact and squeeze(written) != squeeze(family):
        return exact
    return tuple(
        card.name
        for card, gpu in cards
        if not sizes_gb or (gpu.memory and any(gpu.memory.low <= size <= gpu.memory.high for size in sizes_gb))
    )


def store(cards: Iterable[OwnCard]) -> int:
    """Add cards, each in place of one of the same name; returns how many there are now.

    Raises OwnCardsBrokenError, and TooManyCardsError before anything is written.
    """
    new = {squeeze(card.name): card for card in cards}
    with _lock():
        kept = [card for card in own_cards() if squeeze(card.name) not in new]
        if len(kept) + len(new) > MOST_CARDS:
            raise TooManyCardsError(
                f"自有显卡最多 {MOST_CARDS} 款，现有 {len(kept)} 款，再收 {len(new)} 款就超了；请先删除不用的文档"
                f" / at most {MOST_CARDS} own cards; {len(kept)} are there and {len(new)} are to be added: "
                "remove documents you no longer need first"
            )
        _write([*kept, *new.values()])
        return len(kept) + len(new)


def remove_cards_of(document_id: str) -> int:
    """Remove every card that a document brought; returns how many. Raises OwnCardsBrokenError."""
    if not _path().exists():
        return 0
    with _lock():
        cards = own_cards()
        kept = [card for card in cards if card.document_id != document_id]
        if len(kept) < len(cards):
            _write(kept)
        return len(cards) - len(kept)


def _spellings(name: str) -> list[str]:
    """The name, and without its maker where a code is left: 沐曦 C500 -> c500."""
    folded = fold(" ".join(unicodedata.normalize("NFKC", name).split()))
    found = [folded]
    rest = folded
    while word := next((word for word in LEFT_OUT if rest.startswith(word)), ""):
        rest = rest.removeprefix(word).strip(" -")
        if CODE.fullmatch(rest.replace("-", " ").replace(".", "")) or " " in rest:
            found.append(rest)
    for one, other in OTHER_SCRIPT:
        if folded.startswith(one):
            found.append(f"{other} {folded.removeprefix(one).strip()}")
    return list(dict.fromkeys(found))


def _path() -> Path:
    from knowledge.weights import home  # not at the start: it brings numpy with it

    return home() / FILE


def _lock() -> FileLock:
    _path().parent.mkdir(parents=True, exist_ok=True)
    return FileLock(_path().with_suffix(".lock"), timeout=60)


def _stamp() -> tuple[Path, tuple[int, int, int] | None]:
    """The file and what changes whenever it is written; None where there is none."""
    path = _path()
    try:
        state = path.stat()
    except FileNotFoundError:
        return path, None
    return path, (state.st_ino, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, stamp: tuple[int, int, int] | None) -> tuple[tuple[OwnCard, ...], tuple[Gpu, ...]]:
    if stamp is None:
        return (), ()
    try:
        cards = read_table(path, lambda _, row: OwnCard(**{column: row[column] for column in COLUMNS}))
        return cards, read_table(path, _gpu)
    except (CatalogError, OSError, UnicodeDecodeError, csv.Error) as error:
        raise OwnCardsBrokenError(
            f"自有显卡表 {str(path)!r} 读不出来（{error}）；请恢复备份，或删除它后重新收下表格。"
            f" / The table of own cards {str(path)!r} cannot be read ({error}); restore a backup, or delete it and "
            "accept the tables again."
        ) from error


def _gpu(number: int, row: dict[str, str]) -> Gpu:
    zh, en = UNVERIFIED
    cells = dict.fromkeys(NOT_STATED, "") | {"families": row["family"], "export_status": "unknown"}
    cells |= {"export_rule_zh": "未核实", "export_rule_en": "not verified", "note_zh": zh, "note_en": en}
    return hardware.gpu(number, {**row, **cells})


def _write(cards: Iterable[OwnCard]) -> None:
    path = _path()
    part = path.with_name(f"{path.name}.{uuid4().hex[:8]}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(COLUMNS)
            table.writerows([getattr(card, column) for column in COLUMNS] for card in cards)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
