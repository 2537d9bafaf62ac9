"""One GPU name as somebody writes it -> the exact forms of gpus.csv that it means.

For a name that stands alone (`specs "A100 80G PCIe"`); in running questions the links carry the forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from knowledge.card_forms import ANYWHERE, HGX, Marks, all_forms, form_owner, matching, modded_forms, read_marks
from knowledge.names import Link, all_names, link, normalise
from knowledge.spellings import fold, squeeze

# Digits that say nothing about the form: 8x, 4 张, PCIe 4.0, GDDR6.
BESIDE_THE_POINT = re.compile(
    r"(?<![a-z0-9])(?:\d+\s?[x*×]|[x*×]\s?\d+|\d+\s?[张块卡]|pcie\s?(?:gen\s?)?[3-6](?:\.0)?|gddr\d?x?|nvl\d+)(?![a-z0-9])",
    re.A,
)
BARE_SIZE = re.compile(r"(?<![a-z0-9.])(\d{2,3})(?![a-z0-9.])", re.A)


@dataclass(frozen=True)
class Resolution:
    """What a written GPU name means.

    `family` is a key of names.csv, empty where no name was found. `forms` are names of gpus.csv; a GPU that is known
    by prices alone (M40) has none. `ambiguous`: more than one form fits. `assumed` (zh, en) says what was taken for
    granted. Kind "unknown": no such GPU, or none in the size or form written.
    """

    family: str
    forms: tuple[str, ...]
    ambiguous: bool
    assumed: tuple[str, str] | None
    kind: Literal["gpu", "unknown"]


NOTHING = Resolution("", (), False, None, "unknown")


def gpu_forms(text: str) -> Resolution:
    """The forms that a GPU name, form name or instance name means; never a neighbour's."""
    text = normalise(text).strip()
    folded = fold(text)
    if exact := form_owner(folded):
        return Resolution(exact.families[0], (exact.name,), False, None, "gpu")
    cards = [item for item in link(text) if item.kind == "gpu"]
    if len({item.key for item in cards}) != 1:
        return NOTHING if cards else _of_family(folded)
    if len(cards) == 1 and cards[0].forms and cards[0].text == text:
        return _resolved(cards[0].key, cards[0].forms, Marks())  # an instance
    return _beside(folded, cards)


def _beside(folded: str, cards: list[Link]) -> Resolution:
    """Marks from everything that is written around the card."""
    rest = folded
    for item in reversed(cards):
        inside = "hgx" if HGX.match(fold(item.text)) else ""
        rest = f"{rest[: item.start]} {inside} {rest[item.end :]}"
    family, words = cards[0].key, [match["mark"] for match in ANYWHERE.finditer(rest)]
    rest = BESIDE_THE_POINT.sub(" ", ANYWHERE.sub(" ", rest))
    sizes = tuple(Decimal(number) for number in BARE_SIZE.findall(rest))
    if re.search(r"\d", BARE_SIZE.sub(" ", rest)):
        return Resolution(family, (), False, None, "unknown")  # H20-3e, A100 v2: something that no row speaks of
    marks = read_marks(words)
    marks = Marks(marks.sizes + sizes, marks.sockets, marks.edition, marks.modded)
    return _resolved(family, matching(family, marks), marks)


def _of_family(folded: str) -> Resolution:
    """A name that is too short for running text (A2, L2) but is the key of a card, as everything that was asked."""
    for name in all_names():
        if name.kind == "gpu" and squeeze(name.key) == squeeze(folded):
            return _resolved(name.key, matching(name.key, Marks()), Marks())
    return NOTHING


def _resolved(family: str, forms: tuple[str, ...], marks: Marks) -> Resolution:
    if not forms:
        priced_only = not any(family in form.families for form in all_forms())
        return Resolution(family, (), False, None, "gpu" if priced_only else "unknown")
    others = modded_forms(family)
    assumed = None
    if others and not marks and not set(others) & set(forms):
        assumed = (f"按原装的 {forms[0]} 理解，不是改装卡 {others[0]}", f"read as the {forms[0]}, not the {others[0]}")
    return Resolution(family, forms, len(forms) > 1, assumed, "gpu")
