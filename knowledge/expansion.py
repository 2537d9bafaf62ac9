"""Other forms of what a question names: the words of a question with the names and terms that mean the same.

Names come from names.py, terms of the trade in both languages and in colloquial forms from tables/terms.csv. Only
questions are expanded, never passages. Does not search, weigh or translate sentences, and leaves ambiguous short
forms alone (卡 by itself may be Kaggle's, a card or "stuck"). Raises TermTableError for a table that is not whole.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from knowledge.instances import find_instances
from knowledge.keywords import HAN, Word, stem, words
from knowledge.names import Link, Name, all_names, link, normalise
from knowledge.spellings import fold

TABLE = Path(__file__).parent / "tables" / "terms.csv"
# Each Chinese character and each word or number of another script; between two of them may stand a break.
ATOM = re.compile(rf"[{HAN}]|[a-z]+\d+(?:\.\d+)?|[a-z]+|\d+(?:\.\d+)?")
DIGIT = re.compile(r"\d")
LONE_LETTER = re.compile(r"(?<![a-z\d-])[a-z](?![a-z\d-])")
BREAK = re.compile(r"[\s_-]{0,3}")
# "Large-scale fine-tuning" is made of two terms, each of which finds more than the name as a whole does.
NAMED = ("gpu", "provider", "model", "method")


class TermTableError(ValueError):
    """terms.csv is not whole; the message names the term and what is wrong with it."""


@dataclass(frozen=True)
class Term:
    """One row of terms.csv: forms of one thing in both languages, normalised; any may stand for any other."""

    id: str
    forms: tuple[str, ...]


@dataclass(frozen=True)
class _Atom:
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    forms: tuple[str, ...]


def expand(query: str) -> list[Word]:
    """The words of a question, with the other forms of the names and terms in it as equivalents.

    A name or term of several words becomes one Word of kind "phrase". Words that belong to neither are as
    `keywords.words` gives them; an empty question has none.
    """
    text = normalise(query)
    found: list[Word] = []
    at = 0
    for span in _spans(text):
        if word := _with_equivalents(text[span.start : span.end], span.forms):
            found += [*words(text[at : span.start]), word]
            at = span.end
    return found + words(text[at:])


@cache
def all_terms() -> tuple[Term, ...]:
    """All rows of terms.csv. Raises TermTableError for a row without two forms or a form that comes twice."""
    terms = []
    owner: dict[tuple[str, ...], str] = {}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            forms = tuple(fold(normalise(form)) for form in [*row["zh"].split("|"), *row["en"].split("|")] if form)
            if len(forms) < 2:
                raise TermTableError(f"term {row['id']!r} has {len(forms)} forms; a term needs two or more")
            for form in forms:
                if (before := owner.setdefault(_key(form), row["id"])) != row["id"]:
                    raise TermTableError(f"{form!r} stands for both {before!r} and {row['id']!r}; give it to one")
            terms.append(Term(row["id"], forms))
    return tuple(terms)


def _spans(text: str) -> list[_Span]:
    """Names, and terms outside them, in order and without overlaps; of terms that begin alike the longest."""
    spans = [_Span(item.start, item.end, _name_forms(item)) for item in _names(text)]
    named = [(span.start, span.end) for span in spans]
    spans += [span for span in _terms(text) if not any(span.start < end and start < span.end for start, end in named)]
    return sorted(spans, key=lambda span: span.start)


def _names(text: str) -> list[Link]:
    """Names as such: an instance (p4d.24xlarge) is linked to its card, but is not another word for it."""
    instances = {item.start for item in find_instances(text)}
    return [item for item in link(text) if item.kind in NAMED and item.start not in instances]


def _name_forms(item: Link) -> tuple[str, ...]:
    """Display names, key and aliases, without those too wide for a passage: not every 昇腾 is a 910B."""
    name = _by_key()[item.kind, item.key]
    forms = (name.zh, name.en, name.key, *name.aliases)
    return tuple(form for form in forms if DIGIT.search(form) or not any(_narrows(form, other) for other in forms))


def _narrows(form: str, other: str) -> bool:
    """Whether `other` is `form` and a number or size."""
    rest = _tokens(words(other)) - _tokens(words(form))
    return bool(rest) and _tokens(words(form)) < _tokens(words(other)) and all(DIGIT.search(token) for token in rest)


@cache
def _by_key() -> dict[tuple[str, str], Name]:
    return {(name.kind, name.key): name for name in all_names()}


def _terms(text: str) -> Iterator[_Span]:
    atoms = _atoms(text)
    at = 0
    while at < len(atoms):
        length = 1
        for key, term in _by_first_atom().get(atoms[at].text, ()):
            if _stands(key, atoms[at : at + len(key)], text):
                length = len(key)
                yield _Span(atoms[at].start, atoms[at + length - 1].end, term.forms)
                break
        at += length


def _stands(key: Sequence[str], atoms: Sequence[_Atom], text: str) -> bool:
    if tuple(atom.text for atom in atoms) != tuple(key):
        return False
    for left, right in pairwise(atoms):
        gap = text[left.end : right.start]
        if not BREAK.fullmatch(gap) or (gap and not left.text.isascii() and not right.text.isascii()):
            return False
    return True


def _atoms(text: str) -> list[_Atom]:
    return [_Atom(stem(match.group()), *match.span()) for match in ATOM.finditer(fold(text))]


@cache
def _by_first_atom() -> dict[str, list[tuple[tuple[str, ...], Term]]]:
    by_first: dict[str, list[tuple[tuple[str, ...], Term]]] = {}
    for term in all_terms():
        for form in term.forms:
            key = _key(form)
            by_first.setdefault(key[0], []).append((key, term))
    for those in by_first.values():
        those.sort(key=lambda item: -len(item[0]))
    return by_first


def _key(form: str) -> tuple[str, ...]:
    return tuple(atom.text for atom in _atoms(form))


def _with_equivalents(written: str, forms: tuple[str, ...]) -> Word | None:
    """The name or term as a word that has equivalents; None for one that has no other form or consists of fillers."""
    own = words(written)
    equivalents = _other_forms(tuple(own), forms) if own else ()
    if not equivalents:
        return None
    if len(own) == 1:
        return replace(own[0], equivalents=equivalents)
    return Word(written, (), "phrase", tuple(own), equivalents)


@cache
def _other_forms(own: tuple[Word, ...], forms: tuple[str, ...]) -> tuple[tuple[Word, ...], ...]:
    """The forms as groups of words, without those that hold all words of the question's form or of another one.

    "NVIDIA A100" is no other form of A100: whatever holds it holds A100 already.
    """
    groups = {_tokens(group): group for form in forms if (group := _form(form))}
    smallest = _tokens(own)
    kept: list[tuple[frozenset[str], tuple[Word, ...]]] = []
    for tokens, group in sorted(groups.items(), key=lambda item: len(item[0])):
        if not smallest <= tokens and not any(other <= tokens for other, _ in kept):
            kept.append((tokens, group))
    return tuple(group for _, group in kept)


def _form(form: str) -> tuple[Word, ...]:
    """The words of a form; none where a lone letter would be lost: "4090 d" would find every 4090."""
    return () if LONE_LETTER.search(fold(form)) else tuple(words(form))


def _tokens(group: Iterable[Word]) -> frozenset[str]:
    return frozenset(
        token for word in group for token in (word.pieces if word.kind == "code" and word.pieces else (word.whole,))
    )
