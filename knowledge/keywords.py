"""Chinese-aware words of a text, and the keyword index over them (one SQLite FTS5 file).

Knows spellings, not meanings: synonyms, names and translations are the business of names.py and of
the embedding. Scores here compare passages for one question; they say nothing across questions.
"""

from __future__ import annotations

import math
import re
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from knowledge.names import normalise

TOKENIZER_VERSION = "2"  # raise it with any change to the tokens a text gives: indexes are then rebuilt

HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
NUMBER_WITH_UNIT = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?) ?(gib|gb|g|tib|tb|t|b)(?![a-z0-9])")
THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
# Runs of Chinese; words of any other script, which may hold . : - _ / + inside (gn7.2xlarge32, 1:42:46, 16-bit).
OTHER = rf"(?:(?![{HAN}])[^\W_])+"
RUN = re.compile(rf"([{HAN}]+)|{OTHER}(?:[.:\-_/+]{OTHER})*")
WHOLE = re.compile(r"[\d:.]+|.*\.\d+[a-z].*")  # numbers, times and instance codes have one spelling
SEPARATOR = re.compile(r"[.:\-_/+]|(?<=\d)x(?=\d)")
NUMBER_AND_UNIT = re.compile(r"(\d+(?:\.\d+)?)(?:gb|tb|x)")
# A lone letter belongs to the digits beside it: 65b, 4090d, a100, l40s.
LETTERS_OR_DIGITS = re.compile(r"(?:(?<![a-z])[a-z](?=\d))?\d+(?:\.\d+)?(?:[a-z](?![a-z]))?|[a-z]+")
UNIT = {"gib": "gb", "g": "gb", "tib": "tb", "t": "tb"}

ENGLISH_FILLERS = re.compile(
    "a|about|an|and|any|are|as|at|be|been|by|can|could|did|do|does|for|from|had|has|have|how|i|if|in|into|is|it|its|"
    "many|me|much|my|of|on|one|or|our|please|shall|should|so|tell|than|that|the|their|them|then|there|these|they|this|"
    "those|to|us|was|we|were|what|when|where|which|who|why|will|with|would|you|your"
)
CHINESE_FILLERS = re.compile(
    "多少|什么|怎么样|怎么|怎样|如何|哪些|哪个|哪种|哪里|哪家|为什么|为何|请问|是不是|有没有|能不能|可不可以|可以|"
    "告诉|一下|一个|以及|我们|你们|这个|那个|[的了吗呢吧啊呀嘛么是和与或在我你他它把被让给就也都很啥咋几]"
)

PIECES_CREDIT = 0.95  # "RTX4090" against "RTX 4090": the same thing, but the same spelling ranks first
CHARACTERS_CREDIT = 0.3  # both characters of a Chinese pair occur, but apart
UNSEEN_PAIR_WEIGHT = 0.35  # a pair the corpus never has is mostly the seam of two words, not an unknown thing


@dataclass(frozen=True)
class Word:
    """One word of a text as first spelt, and the pieces other spellings may have (none if it has one spelling)."""

    whole: str
    pieces: tuple[str, ...]
    kind: Literal["code", "han"]

    @property
    def tokens(self) -> tuple[str, ...]:
        return (self.whole, *self.pieces)


def tokenize(text: str) -> list[str]:
    """The tokens of a text in reading order, for the index and for questions alike.

    Widths, case and traditional characters are levelled, a change of script parts words, fillers
    (how, the, 多少, 的) are dropped. Codes and numbers stay whole (ddr5, 34.742, 1:42:46) and also
    come in pieces where people vary the spelling (rtx4090 = rtx + 4090, 24GB = 24gb + 24);
    Chinese comes as pairs of characters and as single ones, so that a question 租 finds 租用.
    """
    return [token for word in words(text) for token in word.tokens]


def words(text: str) -> list[Word]:
    """The words of a text; `tokenize` is this list, flattened."""
    level = normalise(text).casefold()
    level = THOUSANDS.sub(lambda match: match.group().replace(",", ""), level)
    level = NUMBER_WITH_UNIT.sub(lambda match: f" {match[1]}{UNIT.get(match[2], match[2])} ", level)
    found: list[Word] = []
    for match in RUN.finditer(level):
        found += _han_words(match[1]) if match[1] else _code_words(match.group())
    return found


def _han_words(run: str) -> list[Word]:
    found = []
    for part in CHINESE_FILLERS.split(run):
        if len(part) == 1:
            found.append(Word(part, (), "han"))
        found += [Word(a + b, (a, b), "han") for a, b in pairwise(part)]
    return found


def _code_words(run: str) -> list[Word]:
    if ENGLISH_FILLERS.fullmatch(run) or (len(run) == 1 and run.isalpha()):
        return []
    whole = _fold(run)
    if number := NUMBER_AND_UNIT.fullmatch(run):
        return [Word(whole, (number[1],), "code")]
    if WHOLE.fullmatch(run):
        return [Word(whole, (), "code")]
    pieces = [_fold(piece) for part in SEPARATOR.split(run) for piece in _spelling_pieces(part)]
    kept = tuple(piece for piece in pieces if len(piece) > 1 or piece.isdigit())
    return [Word(whole, () if kept == (whole,) else kept, "code")]


def _spelling_pieces(word: str) -> list[str]:
    """rtx4090 -> rtx 4090, llama65b -> llama 65b, a100sxm -> a100 sxm; but ddr5, chatglm2 and 4090d stay whole."""
    if not re.search(r"\d{2}|\d[a-z]{2}", word) or re.search(r"[a-z]\d(?!\d)", word):
        return [word]
    return [word, word[:-2]] if NUMBER_AND_UNIT.fullmatch(word) else LETTERS_OR_DIGITS.findall(word)


@lru_cache(maxsize=4096)
def _fold(word: str) -> str:
    """English words to their stem (renting -> rent), codes without a plural s (T4s -> t4; L40S is a product)."""
    if len(word) > 3 and word.isascii() and word.isalpha():
        return str(_stemmer().stemWord(word))
    return word[:-1] if re.fullmatch(r"[a-z]*\d+s", word) and word != "l40s" else word


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@dataclass(frozen=True)
class Coverage:
    """How much of a question's words passages hold, each 0..1 by passage id.

    `information` is the summed inverse document frequency of the question's words (natural
    logarithms; one rare word of a few hundred passages brings 5 to 6): how much its words can tell.
    """

    information: float
    passage: dict[str, float]
    heading: dict[str, float]


class KeywordStore:
    """The keyword side of the index: passages by id in one SQLite FTS5 file. Safe to share between threads.

    SQLite's own errors (sqlite3.Error) pass through: a broken file never looks like an empty one.
    """

    def __init__(self, file: Path, *, create: bool = False) -> None:
        mode = "rwc" if create else "rw"
        self._connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode={mode}", uri=True, check_same_thread=False)
        self._lock = threading.Lock()
        if create:
            self._create()

    def close(self) -> None:
        """Give the file back; the store cannot be used afterwards."""
        with self._lock:
            self._connection.close()

    def add(self, passages: Iterable[tuple[str, str, str]]) -> None:
        """Write (id, heading, text) triples; an id that is there already gets the new words. All or none."""
        with self._lock, self._connection as connection:
            for passage_id, *texts in passages:
                self._remove(passage_id)
                number = connection.execute("INSERT INTO ids (id) VALUES (?)", (passage_id,)).lastrowid
                row = (number, *(" ".join(tokenize(text)) for text in texts))
                connection.execute("INSERT INTO passages (rowid, heading, body) VALUES (?, ?, ?)", row)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove passages, all or none. Raises KeyError naming an id that is not there."""
        with self._lock, self._connection:
            for passage_id in ids:
                if not self._remove(passage_id):
                    raise KeyError(f"the keyword index has no passage {passage_id!r}; nothing was removed")

    def count(self) -> int:
        """Number of passages."""
        return int(self._rows("SELECT count(*) FROM ids")[0][0])

    def best(self, query: str, limit: int) -> dict[str, float]:
        """Up to `limit` passages that share a word with the query, best first, with their bm25 (higher is better)."""
        asked = {token for word in words(query) for token in (word.tokens if word.kind == "code" else (word.whole,))}
        if not asked:
            return {}
        rows = self._rows(
            "SELECT id, -bm25(passages) FROM passages JOIN ids ON ids.number = passages.rowid"
            " WHERE passages MATCH ? ORDER BY rank, id LIMIT ?",
            (" OR ".join(f'"{token}"' for token in sorted(asked)), limit),
        )
        return {str(passage_id): float(score) for passage_id, score in rows}

    def coverage(self, query: str, ids: Sequence[str]) -> Coverage:
        """The share of the query's words in each passage and in its heading, weighted by inverse document frequency.

        A word the corpus does not know weighs most: a question about an unknown thing covers badly everywhere.
        """
        asked = list(dict.fromkeys(words(query)))
        weights = [self._weight(word) for word in asked]

        def share(tokens: frozenset[str]) -> float:
            covered = sum(weight * _credit(word, tokens) for word, weight in zip(asked, weights, strict=True))
            return min(1.0, covered / sum(weights)) if asked else 0.0

        found = self._tokens(ids)
        return Coverage(
            information=sum(weights),
            passage={passage_id: share(heading | body) for passage_id, (heading, body) in found.items()},
            heading={passage_id: share(heading) for passage_id, (heading, _) in found.items()},
        )

    def knows(self, term: str) -> bool:
        """Whether every word of the term occurs somewhere in the corpus, in some spelling."""
        asked = words(term)
        return bool(asked) and all(
            self._frequency(word.whole) > 0
            or (word.kind == "code" and bool(word.pieces) and all(self._frequency(piece) > 0 for piece in word.pieces))
            for word in asked
        )

    def _create(self) -> None:
        # The ascii tokenizer keeps every character above 127 and, so told, the joints of our codes.
        with self._connection as connection:
            connection.execute("CREATE TABLE ids (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE)")
            connection.execute(
                """CREATE VIRTUAL TABLE passages USING fts5(heading, body, tokenize = "ascii tokenchars '.:-_/+'")"""
            )
            connection.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(passages, row)")

    def _remove(self, passage_id: str) -> bool:
        row = self._connection.execute("SELECT number FROM ids WHERE id = ?", (passage_id,)).fetchone()
        if row is None:
            return False
        self._connection.execute("DELETE FROM passages WHERE rowid = ?", row)
        self._connection.execute("DELETE FROM ids WHERE number = ?", row)
        return True

    def _tokens(self, ids: Sequence[str]) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        marks = ", ".join("?" * len(ids))
        rows = self._rows(
            f"SELECT id, heading, body FROM passages JOIN ids ON ids.number = passages.rowid WHERE id IN ({marks})",
            tuple(ids),
        )
        return {passage_id: (frozenset(heading.split()), frozenset(body.split())) for passage_id, heading, body in rows}

    def _weight(self, word: Word) -> float:
        """Inverse document frequency; of a word known in pieces only, that of its pieces together."""
        passages = self.count()
        seen = self._frequency(word.whole)
        if not seen and word.kind == "code" and word.pieces:
            seen = min(self._frequency(piece) for piece in word.pieces)
        weight = math.log(1 + passages / max(seen, 0.5))
        return weight * UNSEEN_PAIR_WEIGHT if word.kind == "han" and len(word.whole) > 1 and not seen else weight

    def _frequency(self, token: str) -> int:
        rows = self._rows("SELECT doc FROM vocabulary WHERE term = ?", (token,))
        return int(rows[0][0]) if rows else 0

    def _rows(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()


def _credit(word: Word, tokens: frozenset[str]) -> float:
    if word.whole in tokens:
        return 1.0
    if not word.pieces:
        return 0.0
    present = sum(piece in tokens for piece in word.pieces) / len(word.pieces)
    if word.kind == "han":
        return CHARACTERS_CREDIT if present == 1 else 0.0
    return PIECES_CREDIT * present
