"""What the words of a question ask for: the FTS5 expressions that find passages, and how much of the words one holds.

Arithmetic over tokens only: passage_store.py reads and searches them. A share compares passages for one question; it
says nothing across questions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from knowledge.keywords import Word

PIECES_CREDIT = 0.95  # "RTX4090" against "RTX 4090": the same thing, but the same spelling ranks first
CHARACTERS_CREDIT = 0.3  # both characters of a Chinese pair occur, but apart
EQUIVALENT_CREDIT = 0.9  # another name of the same thing: the one asked for ranks first
UNSEEN_PAIR_WEIGHT = 0.35  # a pair the corpus never has is mostly the seam of two words, not an unknown thing

Frequency = Callable[[str], int]  # in how many passages a token occurs


@dataclass(frozen=True)
class Coverage:
    """How much of a question's words passages hold, each 0..1 by passage number.

    `information` is the summed inverse document frequency of the question's words (natural
    logarithms; one rare word of a few hundred passages brings 5 to 6): how much its words can tell.
    """

    information: float
    passage: dict[int, float]
    heading: dict[int, float]


def search_tokens(words: Iterable[Word]) -> set[str]:
    """The tokens by which passages are looked up: of Chinese pairs not the single characters, they are everywhere."""
    found: set[str] = set()
    for word in words:
        if word.kind == "code":
            found.update(word.tokens)
        elif word.kind == "han":
            found.add(word.whole)
        found |= search_tokens(word.parts)
        for group in word.equivalents:
            found |= search_tokens(group)
    return found


def expressions(tokens: Collection[str], frequency: Frequency, passages: int, most_ranked: int) -> Iterator[str]:
    """Expressions of FTS5 to try until one finds something; none if no token occurs.

    Ranking costs time by the passage. Where the tokens may occur in more than `most_ranked` of the `passages`, only
    those with the rarer tokens are looked up (as many tokens as stay within it), else those with the two rarest; all
    are ranked by every token that tells passages apart. bm25 gives nothing for one that more than half of them hold.
    """
    known = sorted((token for token in tokens if frequency(token)), key=lambda token: (frequency(token), token))
    if not known:
        return
    if passages <= most_ranked:
        yield _any_of(known)
        return
    rare: list[str] = []
    reached = 0
    for token in known:
        reached += frequency(token)
        if reached > most_ranked:
            break
        rare.append(token)
    telling = _any_of([token for token in known if 2 * frequency(token) <= passages] or known[:1])
    if rare:
        yield f"({_any_of(rare)}) AND ({telling})"
        return
    if len(known) > 1:
        yield f'("{known[0]}" AND "{known[1]}") AND ({telling})'
    yield f'"{known[0]}"'


def _any_of(tokens: Iterable[str]) -> str:
    return " OR ".join(f'"{token}"' for token in tokens)


def cover(
    words: Sequence[Word],
    tokens: Mapping[int, tuple[frozenset[str], frozenset[str]]],
    frequency: Frequency,
    passages: int,
) -> Coverage:
    """The share of the words in each passage and in its heading; `tokens` are those of (heading, body) by number.

    A word the corpus does not know weighs most: a question about an unknown thing covers badly everywhere.
    """
    asked = list(dict.fromkeys(words))
    weights = [_weight(word, frequency, passages) for word in asked]
    information = sum(weights)
    touching = [_touching(word) for word in asked]
    telling = frozenset[str]().union(*touching)
    shares: dict[frozenset[str], float] = {}  # by the few tokens of a passage that any word of the question touches

    def share(present: frozenset[str]) -> float:
        if present not in shares:
            touched = zip(asked, weights, touching, strict=True)
            covered = sum(w * _credit(word, present) for word, w, own in touched if not own.isdisjoint(present))
            shares[present] = min(1.0, covered / information) if asked else 0.0
        return shares[present]

    headings = {number: heading & telling for number, (heading, _) in tokens.items()}
    return Coverage(
        information=information,
        passage={number: share(headings[number] | (body & telling)) for number, (_, body) in tokens.items()},
        heading={number: share(heading) for number, heading in headings.items()},
    )


def _touching(word: Word) -> frozenset[str]:
    """Every token that can earn a word credit: a passage with none of them earns it nothing."""
    others = (*word.parts, *(other for group in word.equivalents for other in group))
    return frozenset(word.tokens).union(*(_touching(other) for other in others))


def _weight(word: Word, frequency: Frequency, passages: int) -> float:
    """Inverse document frequency; of a phrase the sum of its words; of a word known otherwise, that of its other form."""
    if word.kind == "phrase":
        return sum(_weight(part, frequency, passages) for part in word.parts)
    seen = _seen(word, frequency)
    if not seen and word.equivalents:
        seen = max(min(_seen(other, frequency) for other in group) for group in word.equivalents)
    weight = math.log(1 + passages / max(seen, 0.5))
    return weight * UNSEEN_PAIR_WEIGHT if word.kind == "han" and len(word.whole) > 1 and not seen else weight


def _seen(word: Word, frequency: Frequency) -> int:
    """In how many passages a word occurs; of a word known in pieces only, its rarest piece."""
    seen = frequency(word.whole)
    if not seen and word.kind == "code" and word.pieces:
        return min(frequency(piece) for piece in word.pieces)
    return seen


def _credit(word: Word, present: frozenset[str]) -> float:
    own = _own_credit(word, present)
    if own == 1 or not word.equivalents:
        return own
    return max(own, *(EQUIVALENT_CREDIT * min(_own_credit(each, present) for each in g) for g in word.equivalents))


def _own_credit(word: Word, present: frozenset[str]) -> float:
    if word.kind == "phrase":
        return sum(_own_credit(part, present) for part in word.parts) / len(word.parts)
    if word.whole in present:
        return 1.0
    if not word.pieces:
        return 0.0
    share = sum(piece in present for piece in word.pieces) / len(word.pieces)
    if word.kind == "han":
        return CHARACTERS_CREDIT if share == 1 else 0.0
    return PIECES_CREDIT * share
