"""Names of cloud instances (p4d.24xlarge, ecs.gn7i-c8g1.2xlarge) in a text: whose they are, and which GPUs they hold.

Knows only what instances.csv says; there `*` stands for the rest of a name and `{n}` for a number in it.
A family without a size (GN10X) has no count.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from knowledge.spellings import Finder, Spelling, finder, fold

TABLE = Path(__file__).parent / "tables" / "instances.csv"
# What may stand before the name of an instance and belongs to it.
PREFIXES = {"alibaba": r"ecs\.", "volcengine": r"ecs\.", "aws": r"ml\.", "azure": r"standard[\s_]"}
PIECES = re.compile(r"\{n\}|\*|[ _]|[^ _*{]+")
NUMBER_AT_END = re.compile(r"\d+$")


@dataclass(frozen=True)
class InstanceType:
    """One row of instances.csv; `forms` are names of gpus.csv (several where the form is not published).

    `gpu_count` is a number or part of a card, "n" or "n/2" of the number in the name, or empty for a family.
    """

    instance: str
    provider: str
    gpu: str
    forms: tuple[str, ...]
    gpu_count: str
    source: str


@dataclass(frozen=True)
class Instance:
    """An instance named in a text; `start` and `end` count its characters. `gpu_count` is None for a family."""

    text: str
    start: int
    end: int
    provider: str
    gpu: str
    forms: tuple[str, ...]
    gpu_count: Decimal | None
    source: str


def find_instances(text: str) -> list[Instance]:
    """Every instance name in a *normalised* text, in order."""
    return list(_found(text))


@cache
def all_instance_types() -> tuple[InstanceType, ...]:
    """All rows of instances.csv."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            InstanceType(
                row["instance"], row["provider"], row["gpu"], tuple(filter(None, row["forms"].split(";"))),
                row["gpu_count"], row["source"],
            )
            for row in csv.DictReader(file)
        )  # fmt: skip


def _found(text: str) -> Iterator[Instance]:
    for match in _finder().find(fold(text)):
        row, written = match.meant, text[match.start : match.end]
        yield Instance(
            written, match.start, match.end, row.provider, row.gpu, row.forms, _count(row, written), row.source
        )


def _count(row: InstanceType, written: str) -> Decimal | None:
    if not row.gpu_count:
        return None
    if not row.gpu_count.startswith("n"):
        return Decimal(row.gpu_count)
    number = NUMBER_AT_END.search(written)
    assert number, f"{row.instance!r} counts by a number that {written!r} does not have"
    return Decimal(number.group()) / (2 if row.gpu_count == "n/2" else 1)


@cache
def _finder() -> Finder[InstanceType]:
    """Exact names before families, long before short, so that a size is never read as its family."""
    rows = sorted(all_instance_types(), key=lambda row: ("*" not in row.instance, len(row.instance)), reverse=True)
    return finder(spelling for row in rows for spelling in _spellings(row))


def _spellings(row: InstanceType) -> Iterator[Spelling[InstanceType]]:
    name = fold(row.instance)
    pattern = "".join(map(_piece, PIECES.findall(name)))
    before, after = r"(?:(?<![a-z0-9._-])|(?<=\dx))", r"(?![a-z0-9])(?![._-]+[a-z0-9])"
    if prefix := PREFIXES.get(row.provider):
        yield Spelling(prefix[0], f"{before}{prefix}{pattern}{after}", row)
    yield Spelling(name[0], f"{before}{pattern}{after}", row)


def _piece(piece: str) -> str:
    if piece == "{n}":
        return r"\d+"
    if piece == "*":
        return r"[a-z0-9.-]*[a-z0-9]"
    return r"[\s_-]?" if piece in " _" else re.escape(piece)
