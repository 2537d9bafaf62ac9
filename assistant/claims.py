"""Claims without a figure of their own against the evidence: cheaper than, the cheapest, fits, is not.

A comparison between two named things must be made by a passage or follow from the values of both. What no rule here
can read is left to the other checks. Figures of comparisons (cheaper by 29 %) are recomputed here as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal

from assistant.comparisons import Comparison, Superlative, read_comparisons, read_superlatives
from assistant.evidence import Call, Citation
from assistant.evidence_facts import Fact
from assistant.figures import Printed
from assistant.subjects import NamesIn, match_of

Tokenize = Callable[[str], Iterable[str]]
Rounds = Callable[[Decimal, Printed], bool]

RE = re.IGNORECASE | re.ASCII
MEMORY_UNITS = {"G", "GB", "GiB"}
SUM = re.compile("合计|一共|总共|加起来|相加|together|in total|\\bsum\\b|combined", RE)
DOES_NOT_FIT = re.compile(
    r"不够|不足以|放不下|装不下|跑不[动了]|不能(?:运行|跑|放)|无法(?:运行|放)|not enough|insufficient|(?:not|n't|cannot) (?:fit|run|hold)"
    r"|too small",
    RE,
)
FITS = re.compile(
    r"够|放得下|装得下|跑得[动了]|能(?:运行|跑|放)|可以(?:运行|跑|放)|\bfits?\b|\benough\b|sufficient|can (?:run|hold)",
    RE,
)
# "no more than", 不同 and 不超过 deny nothing.
NO_DENIAL = re.compile(
    r"不(?:超过|低于|高于|少于|多于|小于|大于|足(?!以)|同|仅|只|过|错|断|到|止)|未来|无论|非常|无需|no (?:more|less) than|not only|no later than",
    RE,
)
DENIAL = re.compile(r"没有|并非|不是|不|没|未|无|\b(?:not|no|never|cannot|without|neither|nor)\b|n't\b", RE)
PIECES = re.compile(r"[，,；;。：:\n]\s*|\.(?=\s|$)|\s(?:and|while|but|whereas)\s")
SAME_WORDS = 0.65  # share of a clause's words in a clause of the evidence that makes the two say the same thing
ALL_WORDS = 0.9
FEWEST_WORDS = 3
PROPER = re.compile(r"(?<=[^.!?\s\[])[ （(]?\b([A-Z][A-Za-z]*(?:[0-9][A-Za-z0-9]*)?)\b|\b([A-Z]{2,}[0-9]*)\b")


def contradicted(
    sentence: str, comparisons: Sequence[Comparison], facts: Sequence[Fact], citations: Sequence[Citation],
    calls: Sequence[Call], names_in: NamesIn,
) -> str:  # fmt: skip
    """The first comparison, superlative or verdict that the evidence does not bear; "" where there is none."""
    texts = [piece for c in citations for piece in re.split(r"(?<=[。；\n])|(?<=\.)\s", f"{c.title}。{c.excerpt}")]
    for made in comparisons:
        if made.dimension != "other" and made.sign and not _is_borne(made, facts, texts, names_in):
            return "comparison"
        if (
            made.dimension != "other"
            and not made.sign
            and not (_values(made.x, made, facts, names_in) or _said(made, texts, names_in))
        ):
            return "comparison"  # fmt: skip
    for best in read_superlatives(sentence, names_in):
        if best.dimension != "other" and not _is_best(best, facts, texts, names_in):
            return "superlative"
    return "" if _agrees_with_verdicts(sentence, calls) else "verdict"


def recomputed(
    printed: Printed, sentence: str, comparisons: Sequence[Comparison], facts: Sequence[Fact], names_in: NamesIn,
    rounds: Rounds,
) -> Fact | None:  # fmt: skip
    """One of the two facts whose difference, percentage, ratio or sum the figure is."""
    for made in comparisons:
        if _says_how_much(printed, made):
            for x, y in _pairs(made, facts, names_in):
                if any(rounds(value, printed) for value in _derived(printed, made, x, y)):
                    return x
    return _summed(printed, sentence, facts, names_in, rounds) if SUM.search(sentence) else None


def must_be_recomputed(
    printed: Printed, comparisons: Sequence[Comparison], facts: Sequence[Fact], names_in: NamesIn
) -> bool:
    """Whether the figure says by how much two things differ whose values are both known: then it must follow from them."""
    return any(_says_how_much(printed, made) and any(_pairs(made, facts, names_in)) for made in comparisons)


def turned_round(sentence: str, citations: Sequence[Citation], tokenize: Tokenize) -> str:
    """The clause that denies what the passages say in the same words, or says what they deny; "" if none does."""
    held = [_clause(piece, tokenize) for c in citations for piece in PIECES.split(c.excerpt) if piece.strip()]
    for piece in PIECES.split(re.sub(r"[\[【][0-9, ]*[\]】]", "", sentence)):
        words, denies = _clause(piece, tokenize)
        if len(words) < FEWEST_WORDS:
            continue
        shares = [(len(words & own) / len(words), other) for own, other in held]
        best = max((share for share, _ in shares), default=0.0)
        if best >= SAME_WORDS and all(other != denies for share, other in shares if share >= best - 0.1):
            return piece.strip()
    return ""


def said_of_another(sentence: str, citations: Sequence[Citation], tokenize: Tokenize) -> str:
    """The clause that says of one thing (CUDA) what the passages say in these words of another only (Tensor)."""
    text = "\n".join(c.excerpt for c in citations)
    proper = {word.lower() for found in PROPER.findall(text) for word in found if word}
    held = [frozenset(tokenize(piece)) for piece in PIECES.split(text) if piece.strip()]
    for piece in PIECES.split(re.sub(r"[\[【][0-9, ]*[\]】]", "", sentence)):
        words = frozenset(tokenize(piece))
        subjects = words & proper
        rest = words - subjects
        same = [own for own in held if rest and len(rest & own) >= ALL_WORDS * len(rest)]
        if len(subjects) == 1 and len(rest) >= FEWEST_WORDS and same:
            others = [own & proper - words for own in same]
            if all(others) and not any(subjects & own for own in same):
                return piece.strip()
    return ""


def _clause(text: str, tokenize: Tokenize) -> tuple[frozenset[str], bool]:
    plain = NO_DENIAL.sub(" ", text)
    return frozenset(tokenize(DENIAL.sub(" ", plain))), len(DENIAL.findall(plain)) % 2 == 1


def _says_how_much(printed: Printed, made: Comparison) -> bool:
    inside = made.start <= printed.start and printed.end <= made.end + 1
    return inside and (printed.unit in ("%", "x", *MEMORY_UNITS) or bool(printed.currency))


def _derived(printed: Printed, made: Comparison, x: Fact, y: Fact) -> Iterator[Decimal]:
    """What the figure may be, given the two values."""
    more, less = (x.value, y.value) if made.sign >= 0 else (y.value, x.value)
    if not y.value or (more < less and not made.is_ratio):
        return
    if made.is_ratio:
        if printed.unit == "%":
            yield x.value / y.value * 100
        elif printed.unit == "x":
            yield x.value / y.value
    elif printed.unit == "%":
        yield abs(x.value - y.value) / y.value * 100
    elif printed.unit == "x":
        yield x.value / y.value if printed.text.isascii() else (x.value - y.value) / y.value
    elif (
        printed.currency == x.measure.currency
        and printed.unit == x.measure.unit
        and printed.period in (None, x.measure.period)
    ):
        yield more - less  # fmt: skip


def _pairs(made: Comparison, facts: Sequence[Fact], names_in: NamesIn) -> Iterator[tuple[Fact, Fact]]:
    """Values of both sides in the same measure."""
    for x in _values(made.x, made, facts, names_in):
        for y in _values(made.y, made, facts, names_in):
            if x.measure == y.measure and _shared_names(x, y, made, names_in):
                yield x, y


def _shared_names(x: Fact, y: Fact, made: Comparison, names_in: NamesIn) -> bool:
    """Whether both are about the same other things: the rent of a card at two clouds, not of two cards."""
    kind = made.x.split(":")[0]
    mine, theirs = (frozenset(n for n in _nearest(fact, names_in) if not n.startswith(f"{kind}:")) for fact in (x, y))
    return not (mine and theirs) or bool(mine & theirs)


def _nearest(fact: Fact, names_in: NamesIn) -> frozenset[str]:
    return next((frozenset(found) for level in fact.context if (found := names_in(level))), frozenset())


def _values(name: str, made: Comparison | Superlative, facts: Sequence[Fact], names_in: NamesIn) -> list[Fact]:
    """The facts about one name alone, in the measure of what is compared."""
    kind = name.split(":")[0]
    found = []
    for fact in facts:
        if not _is_of(fact, made.dimension):
            continue
        nearest = {n for n in _nearest(fact, names_in) if n.startswith(f"{kind}:")}
        if nearest == {name} and match_of(fact, made.shared, names_in) is not False:
            found.append(fact)
    return found


def _is_of(fact: Fact, dimension: str) -> bool:
    if dimension == "price":
        return bool(fact.measure.currency)
    return dimension == "memory" and fact.measure.unit in MEMORY_UNITS


def _is_borne(made: Comparison, facts: Sequence[Fact], texts: Sequence[str], names_in: NamesIn) -> bool:
    said = _said(made, texts, names_in)
    if said:
        return said == made.sign
    pairs = [(x.value, y.value) for x, y in _pairs(made, facts, names_in)]
    return bool(pairs) and all((x > y) if made.sign > 0 else (x < y) for x, y in pairs)


def _said(made: Comparison, texts: Sequence[str], names_in: NamesIn) -> int:
    """+1 or -1 where a passage compares the two in words; 0 where none does."""
    for text in texts:
        for other in read_comparisons(text, names_in):
            if other.dimension == made.dimension and {other.x, other.y} == {made.x, made.y}:
                return other.sign if other.x == made.x else -other.sign
    return 0


def _is_best(best: Superlative, facts: Sequence[Fact], texts: Sequence[str], names_in: NamesIn) -> bool:
    for text in texts:
        for other in read_superlatives(text, names_in):
            if other.dimension == best.dimension and other.sign == best.sign and best.names <= other.names:
                return True
    kind = next(iter(best.names)).split(":")[0]
    everyone = {n for fact in facts for level in fact.context[:2] for n in names_in(level) if n.startswith(f"{kind}:")}
    values = {name: [f.value for f in _values(name, best, facts, names_in)] for name in everyone}
    held = {name: found for name, found in values.items() if found}
    if len(held) < 2 or not best.names <= set(held):
        return False
    pick = max if best.sign > 0 else min
    return pick(pick(found) for found in held.values()) in {pick(held[name]) for name in best.names}


def _summed(printed: Printed, sentence: str, facts: Sequence[Fact], names_in: NamesIn, rounds: Rounds) -> Fact | None:
    """A fact that with another, both named in the sentence and of one measure, gives the figure."""
    said = names_in(sentence)
    named = [f for f in facts if f.measure.currency == printed.currency and f.measure.unit == printed.unit and match_of(f, said, names_in)]  # fmt: skip
    for at, one in enumerate(named):
        for other in named[at + 1 :]:
            differ = _nearest(one, names_in) != _nearest(other, names_in)
            if differ and one.measure == other.measure and printed.period in (None, one.measure.period) and rounds(one.value + other.value, printed):  # fmt: skip
                return one
    return None


def _agrees_with_verdicts(sentence: str, calls: Sequence[Call]) -> bool:
    """Whether "fits" or "does not fit" is what a calculator said, where one said either."""
    verdicts = {_verdict(value) for call in calls for value in _fits_of(call.result)} - {None}
    rest = DOES_NOT_FIT.sub(" ", sentence)
    said = {False} if rest != sentence else ({True} if FITS.search(rest) else set())
    return not verdicts or said <= verdicts


def _verdict(value: object) -> bool | None:
    return {True: True, False: False, "yes": True, "no": False, "tight": True}.get(value) if isinstance(value, bool | str) else None  # fmt: skip


def _fits_of(node: object) -> Iterator[object]:
    if isinstance(node, dict):
        for key, child in node.items():
            if key in ("fits", "enough", "is_enough"):
                yield child
            else:
                yield from _fits_of(child)
    elif isinstance(node, list):
        for child in node:
            yield from _fits_of(child)
