"""Which kind of question is this? A linear classifier over the question, taught by intents.jsonl.

It finds no names and no numbers (the caller passes their spans) and it answers nothing. A new phrasing is taught by
adding a line to intents.jsonl. Where it is unsure it abstains, and the caller decides what to do.

Features: the embedding of the question as it is, character n-grams of the question with names and numbers masked by
their kind, and which kinds were there. (Embedding the masked question as well did not help; see evals/RESULTS.md.)
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

LINES = Path(__file__).parent / "intents.jsonl"
INTENTS = (
    "price", "compare", "cost", "budget", "buy_price", "training_time", "speedup", "memory", "document", "smalltalk",
    "off_topic", "manipulation", "forecast", "fit", "finetune_memory", "train_cost", "serving", "choose",
)  # fmt: skip
THRESHOLD = 0.5  # best probability below which it abstains; see evals/RESULTS.md
LEAST_INTENTS = 3
LONGEST_NGRAM = 4
BUCKETS = 1 << 14
WEIGHTS = {"embedding": 9.0, "ngrams": 3.0, "slots": 1.0}  # chosen by cross-validation over intents.jsonl
REGULARISATION = 3.0  # sklearn's C
ONE_HOUR = re.compile(r"(?:每|一|1|/|per|an?|each)? ?个?(?:小?时|钟头|h|hr|hour)(?:ly)?")
MAX_SLOT_COUNT = 3  # "two cards compared" matters, "five or six" does not

Span = tuple[int, int, str]
Linker = Callable[[str], tuple[str, Sequence[Span]]]
Floats = NDArray[np.float32]


class Embedder(Protocol):
    """The part of knowledge.embedding.Embedder that is used here."""

    @property
    def fingerprint(self) -> str: ...
    def embed_queries(self, texts: list[str]) -> Floats: ...


@dataclass(frozen=True)
class Line:
    """One example question with its intent."""

    text: str
    intent: str
    lang: str


@dataclass(frozen=True)
class IntentScores:
    """Probabilities of all intents; `best` is None where the classifier abstains, `likeliest` never is."""

    probabilities: Mapping[str, float]
    best: str | None
    likeliest: str
    margin: float


@dataclass(frozen=True)
class Parameters:
    """What training found: one row of `weights` per feature and one column per intent."""

    intents: tuple[str, ...]
    kinds: tuple[str, ...]
    rarity: Floats
    weights: Floats
    bias: Floats


class IntentDataError(ValueError):
    """A line of example questions that cannot be used; the message names file and line."""


class IntentClassifier:
    """Tells the intents of questions apart. Holds no state but its parameters; safe to share between threads."""

    def __init__(self, parameters: Parameters, embedder: Embedder, *, threshold: float = THRESHOLD) -> None:
        self._parameters = parameters
        self._embedder = embedder
        self._threshold = threshold

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> list[IntentScores]:
        """One verdict per text; `spans` are (start, end, kind) of the names and quantities linked in it."""
        if not texts:
            return []
        features = _features(texts, spans, self._embedder, self._parameters.kinds, self._parameters.rarity)
        logits = features @ self._parameters.weights + self._parameters.bias
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return [self._scores(row) for row in odds / odds.sum(axis=1, keepdims=True)]

    def _scores(self, row: Floats) -> IntentScores:
        second, first = (int(i) for i in np.argsort(row)[-2:])
        likeliest = self._parameters.intents[first]
        return IntentScores(
            probabilities={name: float(p) for name, p in zip(self._parameters.intents, row, strict=True)},
            best=likeliest if row[first] >= self._threshold else None,
            likeliest=likeliest,
            margin=float(row[first] - row[second]),
        )


def open_classifier(
    folder: Path, linker: Linker, embedder: Embedder, *, linked_by: Sequence[Path] = (), lines: Path = LINES
) -> IntentClassifier:
    """The classifier trained on `lines`, read from `folder`, or trained (seconds) and kept there.

    `linked_by` are the source and data files that decide what the linker finds: when one of them, the lines, this
    file or the embedder changes, the classifier is trained anew. Raises IntentDataError for an unusable line.
    """
    digest = hashlib.sha256(embedder.fingerprint.encode())
    for path in (Path(__file__), lines, *linked_by):
        digest.update(path.read_bytes())
    kept = folder / f"intents-{digest.hexdigest()[:16]}.npz"
    if not kept.exists():
        _save(kept, train(load_lines(lines), linker, embedder))
    return IntentClassifier(_load(kept), embedder)


def load_lines(path: Path = LINES) -> list[Line]:
    """The example questions of a file, one JSON object a line; raises IntentDataError naming a bad line."""
    found = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = Line(**json.loads(raw))
        except (json.JSONDecodeError, TypeError) as error:
            raise IntentDataError(f"{path.name}, line {number}: {raw!r} is not {{text, intent, lang}}") from error
        if line.intent not in INTENTS:
            raise IntentDataError(f"{path.name}, line {number}: intent {line.intent!r} is none of {', '.join(INTENTS)}")
        found.append(line)
    return found


def train(lines: Sequence[Line], linker: Linker, embedder: Embedder) -> Parameters:
    """Fit a multinomial logistic regression; the result depends on nothing but its arguments.

    Raises IntentDataError where the lines have fewer than three intents (sklearn has another model for two).
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    known = sorted({line.intent for line in lines})
    if len(known) < LEAST_INTENTS:
        raise IntentDataError(f"{len(lines)} lines with too few intents to tell apart: {', '.join(known)!r}; add lines")
    linked = [linker(line.text) for line in lines]
    texts, spans = [text for text, _ in linked], [spans for _, spans in linked]
    kinds = tuple(sorted({_kind(text, span) for text, found in linked for span in found}))
    rarity = _rarity([mask(text, found) for text, found in linked])
    features = _features(texts, spans, embedder, kinds, rarity)
    # e5 vectors all point much the same way: without their mean the fit takes a quarter of the time. The mean goes
    # into the bias afterwards, so that the model is the same.
    mean = np.zeros(features.shape[1], dtype=np.float32)
    width = features.shape[1] - BUCKETS - _slot_width(kinds)
    mean[:width] = features[:, :width].mean(axis=0)
    model = LogisticRegression(C=REGULARISATION, max_iter=300, tol=1e-3)
    model.fit(csr_matrix(features - mean), [line.intent for line in lines])
    return Parameters(
        intents=tuple(str(name) for name in model.classes_),
        kinds=kinds,
        rarity=rarity,
        weights=model.coef_.T.astype(np.float32),
        bias=(model.intercept_ - model.coef_ @ mean).astype(np.float32),
    )


def mask(text: str, spans: Sequence[Span]) -> str:
    """The text in lower case with every linked name and quantity replaced by its kind: `<gpu> 跑 <duration> 多少钱`.

    "Per hour" in all its forms is `<hour>`, since it asks for a price where three hours ask for a sum. Overlapping
    spans: the one that starts first wins, then the longer one.
    """
    pieces, position = [], 0
    for start, end, kind in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start < position:
            continue
        pieces += [text[position:start], f" <{_kind(text, (start, end, kind))}> "]
        position = end
    return " ".join("".join([*pieces, text[position:]]).lower().split())


def _kind(text: str, span: Span) -> str:
    """The kind of a span; a name in no table is masked like a known one, since it is asked about alike."""
    start, end, kind = span
    said = text[start:end].lower()
    if kind == "unknown":
        return "provider" if said.endswith(("云", "cloud")) else "gpu"
    return "hour" if kind == "duration" and ONE_HOUR.fullmatch(said) else kind


def _features(
    texts: Sequence[str], spans: Sequence[Sequence[Span]], embedder: Embedder, kinds: Sequence[str], rarity: Floats
) -> Floats:
    masked = [mask(text, found) for text, found in zip(texts, spans, strict=True)]
    dense = embedder.embed_queries(list(texts)) * WEIGHTS["embedding"]
    ngrams = np.stack([_ngram_vector(text, rarity) for text in masked]) * WEIGHTS["ngrams"]
    slots = np.stack([_slot_vector(t, found, kinds) for t, found in zip(texts, spans, strict=True)]) * WEIGHTS["slots"]
    return np.concatenate([dense, ngrams, slots], axis=1).astype(np.float32)


def _rarity(texts: Sequence[str]) -> Floats:
    """Inverse document frequency of each n-gram bucket, smoothed as if one more text held every n-gram."""
    counts = np.zeros(BUCKETS, dtype=np.float32)
    for text in texts:
        counts[list(set(_buckets(text)))] += 1
    return np.log((1 + len(texts)) / (1 + counts)) + 1


def _ngram_vector(text: str, rarity: Floats) -> Floats:
    vector = np.zeros(BUCKETS, dtype=np.float32)
    for bucket, count in Counter(_buckets(text)).items():
        vector[bucket] = (1 + np.log(count)) * rarity[bucket]
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def _buckets(text: str) -> Iterator[int]:
    """Hash buckets of the character n-grams of a masked text, across words; a placeholder counts as one character."""
    units = [" "]
    for word in text.split():
        units += [word] if word.startswith("<") and word.endswith(">") else list(word)
        units.append(" ")
    for size in range(1, LONGEST_NGRAM + 1):
        for start in range(len(units) - size + 1):
            yield zlib.crc32("".join(units[start : start + size]).encode()) % BUCKETS


def _slot_vector(text: str, spans: Sequence[Span], kinds: Sequence[str]) -> Floats:
    """Per kind: is it there, and how often (up to MAX_SLOT_COUNT); then whether nothing is there, and the length."""
    counts = Counter(_kind(text, span) for span in spans)
    # _slot_width says how many numbers this is
    present = [float(counts[kind] > 0) for kind in kinds]
    often = [min(counts[kind], MAX_SLOT_COUNT) / MAX_SLOT_COUNT for kind in kinds]
    return np.array([*present, *often, float(not spans), min(len(text), 80) / 80], dtype=np.float32)


def _slot_width(kinds: Sequence[str]) -> int:
    return 2 * len(kinds) + 2


def _save(path: Path, found: Parameters) -> None:
    """Write beside the final name and rename, so that a half-written file is never read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        np.savez(
            file,
            intents=np.array(found.intents),
            kinds=np.array(found.kinds),
            rarity=found.rarity,
            weights=found.weights,
            bias=found.bias,
        )
    os.replace(file.name, path)  # noqa: PTH105


def _load(path: Path) -> Parameters:
    with np.load(path, allow_pickle=False) as kept:
        return Parameters(
            intents=tuple(str(name) for name in kept["intents"]),
            kinds=tuple(str(kind) for kind in kept["kinds"]),
            rarity=kept["rarity"],
            weights=kept["weights"],
            bias=kept["bias"],
        )
