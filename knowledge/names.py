"""Finds GPU, provider, model, method and workload names in a question, in Chinese and English.

Knows spellings only: what a thing costs or can do stands in the catalogue. Nothing here guesses a
model code: `A1O0` is read as A100, but A10 is never "corrected" to A100.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from opencc import OpenCC
from rapidfuzz.distance import OSA

from knowledge.card_forms import beside, forget_forms, matching
from knowledge.instances import find_instances
from knowledge.own_cards import own_forms, own_names
from knowledge.spellings import Finder, Spelling, finder, fold, name_pattern, squeeze
from knowledge.unknown_names import provider_places, unknown_names

Kind = Literal["gpu", "provider", "model", "method", "workload", "unknown"]
TABLE = Path(__file__).parent / "tables" / "names.csv"
MODELS = Path(__file__).parent / "tables" / "models.csv"

# Cyrillic and Greek letters that look like Latin ones: a question typed with them means the Latin name.
LOOKALIKES = str.maketrans("АВЕКМНОРСТХаеорсхуΑΒΕΗΙΚΜΝΟΡΤΧ", "ABEKMHOPCTXaeopcxyABEHIKMNOPTX")
INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]")
UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")  # control characters and halves of characters
LATIN_TOKEN = re.compile(r"[A-Za-z0-9]+")
LETTERS = re.compile(r"[a-z]+")
# A-100 and H 100, but not "24 h 100 元", "A 100 km run" or T-4 days.
SPLIT_CODE = re.compile(r"(?<![A-Za-z0-9-])(?<!\d )(?:[AaHhVvBbPp]-|[HV] )(?:[1-9]00|40)(?![A-Za-z0-9])(?!\.\d)")
# Words one slip away from a name that mean something else.
NO_SLIPS = frozenset(
    re.findall(r"\w+", "akasha collab falcons lambda lambdas lamda maxpool oracles verdad verde verdi versa")
)
# Families of models whose slips are forgiven where a generation or size follows: qwem 7b.
SLIPPERY_FAMILIES = (
    "baichuan", "chatglm", "deepseek", "falcon", "gemma", "llama", "mistral", "mixtral", "qwen", "tinyllama",
)  # fmt: skip
# Providers called by a name that is also the maker's, and the models it made.
MAKERS = {"阿里": ("Qwen",), "阿里巴巴": ("Qwen",), "alibaba": ("Qwen",), "微软": ("Phi",)}
# Keys that are shorter than the name of their row in models.csv.
SHORTER_KEYS = {"ChatGLM": "ChatGLM-6B", "ChatGLM2": "ChatGLM2-6B", "ChatGLM3": "ChatGLM3-6B"}


@dataclass(frozen=True)
class Name:
    """One row of names.csv: a thing, what each language calls it, and other spellings.

    `shared` are spellings that other things have as well ("llama 70B"): they mean this one, and the link says so.
    """

    kind: Kind
    key: str
    zh: str
    en: str
    aliases: tuple[str, ...]
    shared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Link:
    """A name found in a text; `start` and `end` count characters of the normalised text.

    `key` is the row of names.csv, or for kind "unknown" the words as written. `forms` are names of gpus.csv, where
    something beside a card says which (A100 80G); empty where nothing does. `assumed` (zh, en) says what was taken
    for granted.
    """

    kind: Kind
    key: str
    text: str
    start: int
    end: int
    forms: tuple[str, ...] = ()
    assumed: tuple[str, str] | None = None


@dataclass(frozen=True)
class _Meant:
    name: Name
    shared: bool


def normalise(text: str) -> str:
    """One spelling for widths, invisible characters, look-alike letters and traditional Chinese."""
    text = UNWRITABLE.sub(" ", INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))
    simplified: str = _simplified().convert(text.translate(LOOKALIKES))
    return simplified.replace(
        "升腾", "昇腾"
    )  # a product name, whose first character the converter takes for traditional


def link(text: str) -> list[Link]:
    """Every name in a *normalised* text, in order, without overlaps; longest spelling wins.

    Slips of the pen in words (tencnet, alibabba, qwem 7b) are forgiven, in product codes only O for 0. The name of an
    instance (p4d.24xlarge) is a link to its GPU. Codes, models and clouds that look like names but are in no table
    come back as kind "unknown".
    """
    folded = fold(text)
    found = [Link("gpu", i.gpu, i.text, i.start, i.end, i.forms) for i in find_instances(text)]
    found += _spelt(text, folded, found)
    found += _misspelt(text, folded, found)
    found += _unknown(text, found)
    return _with_forms(folded, _without_makers(text, sorted(found, key=lambda item: item.start)))


def display(kind: Kind, key: str, language: Literal["zh", "en"]) -> str:
    """What readers of a language call the thing; an unknown key is shown as it is."""
    name = _by_key().get((kind, key))
    if name is None:
        return key
    return name.zh if language == "zh" else name.en


def model_name(key: str) -> str | None:
    """The row of models.csv that a model key means; None for a key that has none."""
    name = SHORTER_KEYS.get(key, key)
    return name if name in _model_rows() else None


@cache
def all_names() -> tuple[Name, ...]:
    """All rows of names.csv, and the reader's own cards by the spellings that no row has."""
    keys = {squeeze(name.key) for name in _shipped_names()}
    taken = {squeeze(alias) for name in _shipped_names() for alias in (*name.aliases, *name.shared)}
    own = ((key, tuple(a for a in aliases if squeeze(a) not in taken)) for key, aliases in own_names().items())
    return _shipped_names() + tuple(
        Name("gpu", key, key, key, aliases) for key, aliases in own if aliases and squeeze(key) not in keys
    )


def forget() -> None:
    """Read all names anew at their next use, as a new process does: own cards have come or gone."""
    for kept in (all_names, _own_families, _slip_targets, _by_key, _by_alias, _finder):
        kept.cache_clear()
    forget_forms()


@cache
def _shipped_names() -> tuple[Name, ...]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Name(
                row["kind"],  # type: ignore[arg-type]
                row["key"],
                row["zh"],
                row["en"],
                tuple(row["aliases"].split(";")),
                tuple(filter(None, row["shared"].split(";"))),
            )
            for row in csv.DictReader(file)
        )


@cache
def _own_families() -> frozenset[str]:
    return frozenset(own_names())


def _spelt(text: str, folded: str, found: Sequence[Link]) -> list[Link]:
    links = []
    for match in _finder().find(folded):
        if not _overlaps(match.start, match.end, found):
            links.append(_link(match.meant, text, match.start, match.end))
    return [_by_case(item, text) for item in links]


def _link(meant: _Meant, text: str, start: int, end: int) -> Link:
    if "(" in text[start:end] and ")" not in text[start:end] and text[end : end + 1] == ")":
        end += 1
    name, written = meant.name, text[start:end]
    assumed = (
        (f"“{written}”没有写明是哪一代，按 {name.zh} 理解", f'"{written}" does not say which one; read as {name.en}')
        if meant.shared
        else None
    )
    return Link(name.kind, name.key, written, start, end, assumed=assumed)


def _by_case(item: Link, text: str) -> Link:
    """Where only the letter's case tells: two V100s but V100S, 4080S for the SUPER, LLaMA-7B for the first LLaMA."""
    if item.assumed and (item.kind, item.text) in _by_key():
        return replace(item, key=item.text, assumed=None)
    if item.key == "V100S" and item.text.endswith("V100s"):
        return replace(item, key="V100", text=item.text[:-1], end=item.end - 1)
    if item.key == "RTX 4080" and re.match(r"S(?![A-Za-z0-9])", text[item.end :]):
        return replace(item, key="RTX 4080 SUPER", text=text[item.start : item.end + 1], end=item.end + 1)
    return item


def _misspelt(text: str, folded: str, found: Sequence[Link]) -> list[Link]:
    links = [item for item in _split_codes(text) if not _overlaps(item.start, item.end, found)]
    for match in LATIN_TOKEN.finditer(text):
        start, end = match.span()
        if _overlaps(start, end, [*found, *links]):
            continue
        word = folded[start:end]
        if name := _zero_for_o(word) or _nearest(word):
            links.append(Link(name.kind, name.key, match.group(), start, end))
        elif (item := _slipped_model(text, folded, start)) and not _overlaps(item.start, item.end, found):
            links.append(item)
    return links


def _split_codes(text: str) -> list[Link]:
    """A-100 -> A100, where the code is a card."""
    links = []
    for match in SPLIT_CODE.finditer(text):
        name = _by_alias().get(squeeze(match.group()))
        if name and name.kind == "gpu":
            links.append(Link("gpu", name.key, match.group(), *match.span()))
    return links


def _zero_for_o(word: str) -> Name | None:
    """A1OO -> A100; only where the result is a name and the word has a digit."""
    if "o" not in word or not any(c.isdigit() for c in word):
        return None
    return _by_alias().get(word.replace("o", "0"))


@cache
def _slip_targets() -> dict[str, tuple[tuple[str, Name], ...]]:
    """Provider and model names of letters only, by their first letter."""
    targets: dict[str, tuple[tuple[str, Name], ...]] = {}
    for alias, name in _by_alias().items():
        if name.kind in ("provider", "model") and alias.isascii() and alias.isalpha() and len(alias) >= 5:
            targets[alias[0]] = (*targets.get(alias[0], ()), (alias, name))
    return targets


def _nearest(word: str) -> Name | None:
    """The one provider or model within one slip (two from ten letters on); words of letters only."""
    if len(word) < 5 or not word.isalpha() or word in NO_SLIPS or word in _by_alias():
        return None
    allowed = 2 if len(word) >= 10 else 1
    close = {
        name.key: name
        for alias, name in _slip_targets().get(word[0], ())
        if OSA.distance(word, alias, score_cutoff=allowed) <= allowed
    }
    return next(iter(close.values())) if len(close) == 1 else None


def _slipped_model(text: str, folded: str, start: int) -> Link | None:
    """A slip in the family of a model, where generation and size behind it make a name: qwem2.5 7b, lama 3 8b."""
    match = LETTERS.match(folded, start)
    if not match or len(match.group()) < 4 or match.group() in SLIPPERY_FAMILIES:
        return None
    word = match.group()
    close = [f for f in SLIPPERY_FAMILIES if f[0] == word[0] and OSA.distance(word, f, score_cutoff=1) <= 1]
    if len(close) != 1:
        return None
    found = _finder().at(close[0] + folded[match.end() : match.end() + 40], 0)
    if not found or found.end <= len(close[0]):
        return None
    return _link(found.meant, text, start, match.end() + found.end - len(close[0]))


def _unknown(text: str, found: Sequence[Link]) -> list[Link]:
    links: list[Link] = []
    for start, end in unknown_names(text):
        if not _overlaps(start, end, [*found, *links]):
            links.append(Link("unknown", text[start:end], text[start:end], start, end))
    for start, end in provider_places(text, any(item.kind == "gpu" for item in found)):
        if not _overlaps(start, end, [*found, *links]):
            links.append(_provider_by_place(text[start:end], start, end))
    return links


def _provider_by_place(word: str, start: int, end: int) -> Link:
    """A word that is a name only here: "on Salad", "from Latitude"."""
    name = _by_key().get(("provider", word.lower()))
    if name:
        return Link("provider", name.key, word, start, end)
    return Link("unknown", word, word, start, end)


def _without_makers(text: str, links: Sequence[Link]) -> list[Link]:
    """Who made a model is no place to rent: 阿里的千问 72B, 微软 Phi-4; but 阿里云 qwen is one."""
    made = {
        item.start
        for item, model in pairwise(links)
        if item.kind == "provider" and model.key.startswith(MAKERS.get(fold(item.text), ("?",)))
        and model.kind == "model" and text[item.end : model.start].strip() in ("", "的", "家的")
    }  # fmt: skip
    return [item for item in links if item.start not in made]


def _with_forms(folded: str, links: Sequence[Link]) -> list[Link]:
    """The links with the forms that stand beside their cards; what one card has taken is not the next one's."""
    floor, done = 0, []
    for at, item in enumerate(links):
        ceiling = links[at + 1].start if at + 1 < len(links) else len(folded)
        if item.kind == "gpu" and not item.forms:
            marks = beside(folded, (item.start, item.end), (floor, ceiling))
            forms = matching(item.key, marks) if marks else ()
            own = item.key in _own_families()
            item = replace(item, forms=own_forms(item.key, item.text, marks.sizes) if own else forms)
            floor = marks.end
        else:
            floor = item.end
        done.append(item)
    return done


def _overlaps(start: int, end: int, links: Iterable[Link]) -> bool:
    return any(item.start < end and start < item.end for item in links)


@cache
def _by_key() -> dict[tuple[Kind, str], Name]:
    return {(name.kind, name.key): name for name in all_names()}


@cache
def _by_alias() -> dict[str, Name]:
    return {squeeze(alias): name for name in all_names() for alias in name.aliases}


@cache
def _finder() -> Finder[_Meant]:
    """All spellings, longest first."""
    spellings = [(alias, _Meant(name, False)) for name in all_names() for alias in name.aliases]
    spellings += [(alias, _Meant(name, True)) for name in all_names() for alias in name.shared]
    spellings.sort(key=lambda item: len(item[0]), reverse=True)
    return finder(Spelling(fold(alias)[0], name_pattern(alias, meant.name.kind), meant) for alias, meant in spellings)


@cache
def _model_rows() -> frozenset[str]:
    with MODELS.open(encoding="utf-8", newline="") as file:
        return frozenset(row["name"] for row in csv.DictReader(file))


@cache
def _simplified() -> OpenCC:
    return OpenCC("t2s")
