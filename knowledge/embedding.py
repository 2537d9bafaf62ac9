"""The embedding model: which one, on which device, with how many threads, and the prefixes that it wants.

EMBEDDING_MODEL names any sentence-transformers model, as a folder or as a name on the model hub; without it the
small default model is used. This module does NOT store vectors, split texts or know what is searched.
"""

import contextlib
import gc
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from knowledge import weights

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

Vectors = NDArray[np.float32]

DEFAULT_FINGERPRINT = f"intfloat/multilingual-e5-small@q4-{weights.EMBEDDING.sha256[:8]}"
# The e5 models were trained with these; their instruction-tuned relatives carry prompts of their own.
E5_NAME = re.compile(r"(^|[-_])e5[-_](?!.*instruct)", re.IGNORECASE)
CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
FORMS_NOT_READ = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "imgs/*"]
# Of a large weight file only its two ends are hashed: hashing 2 GB would cost seconds at every start.
END_BYTES = 1 << 20
BATCH_TEXTS = 32  # between two batches a waiting question gets its turn
# What the model computes at once: on two cores 8 texts of like length take three quarters of the time that 32 take.
CPU_TEXTS, GPU_TEXTS = 8, 32
FEW_TEXTS = 8  # the messages of a conversation


class EmbeddingModelError(Exception):
    """EMBEDDING_MODEL names something that is not a model we can load."""


@dataclass(frozen=True)
class ModelFolder:
    """A sentence-transformers folder on this machine, and the name under which an index remembers it."""

    path: Path
    fingerprint: str


class Embedder:
    """Texts to unit vectors. Safe to use from several threads; one batch of texts is computed at a time."""

    def __init__(
        self,
        model: "SentenceTransformer",
        fingerprint: str,
        query_prefix: str,
        passage_prefix: str,
        texts_at_once: int = CPU_TEXTS,
        threads: int = 0,
    ) -> None:
        """Wrap a loaded model; `fingerprint` says which, so that vectors of two models are never mixed.

        `threads`: what passages are computed with, while a few questions take one; 0 leaves torch's setting alone.
        """
        dimension = model.get_embedding_dimension()
        if dimension is None:
            raise EmbeddingModelError(f"模型没有固定维数 / the model has no fixed dimension: {fingerprint!r}")
        self.fingerprint = fingerprint
        self.dimension: int = dimension
        self._model = model
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._texts_at_once = texts_at_once
        self._threads = threads
        self._turns = Turns()

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what a reader asks: float32, one row a text, each of length 1."""
        embed = self._embed if len(texts) > FEW_TEXTS else self._embed_few
        return in_batches([self._query_prefix + text for text in texts], embed, self.dimension)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is searched: float32, one row a text, each of length 1."""
        return in_batches([self._passage_prefix + text for text in texts], self._embed, self.dimension)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        with self._turns.taken():
            return self._encoded(texts)

    def _embed_few(self, texts: Sequence[str]) -> Vectors:
        with self._turns.taken(), _one_thread(self._threads):
            return self._encoded(texts)

    def _encoded(self, texts: Sequence[str]) -> Vectors:
        vectors = self._model.encode(
            list(texts), batch_size=self._texts_at_once, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, dtype=np.float32)


@contextlib.contextmanager
def _one_thread(usual: int) -> Iterator[None]:
    """Few short texts gain nothing from more threads, which wait for each other wherever the machine is busy."""
    if usual <= 1:
        yield
        return
    import torch

    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


class Turns:
    """A lock that whoever waits gets next: a question is embedded between two batches of a long ingest."""

    def __init__(self) -> None:
        self._next, self._now = threading.Lock(), threading.Lock()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Hold the lock for the length of a `with` block."""
        with self._next:
            self._now.acquire()
        try:
            yield
        finally:
            self._now.release()


def in_batches(texts: Sequence[str], embed: Callable[[Sequence[str]], Vectors], dimension: int) -> Vectors:
    """Vectors in the order of the texts, computed in batches of texts of like length, since a batch is padded to its longest."""
    vectors = np.zeros((len(texts), dimension), dtype=np.float32)
    by_length = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
    for start in range(0, len(texts), BATCH_TEXTS):
        batch = by_length[start : start + BATCH_TEXTS]
        vectors[batch] = embed([texts[number] for number in batch])
    return vectors


def load_embedder() -> Embedder:
    """Load the embedding model, fetching the default one first where it is missing; takes seconds.

    Raises weights.WeightsUnavailableError (default model), EmbeddingModelError (EMBEDDING_MODEL).
    """
    named = os.environ.get("EMBEDDING_MODEL")
    folder = _named_folder(named) if named else ModelFolder(weights.pull(weights.EMBEDDING.name), DEFAULT_FINGERPRINT)
    with _collector_off():
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated there
        torch.set_num_threads(available_cores())
        device = "cuda" if torch.cuda.is_available() else "cpu"
        # The folder is complete: no look-up on the hub, which without a network would wait for its time-out.
        model = SentenceTransformer(str(folder.path), device=device, local_files_only=True)
    prefixes = _prefixes(named or weights.EMBEDDING.name, model.prompts)
    texts_at_once = GPU_TEXTS if device == "cuda" else CPU_TEXTS
    return Embedder(model, folder.fingerprint, *prefixes, texts_at_once, torch.get_num_threads())


@contextlib.contextmanager
def _collector_off() -> Iterator[None]:
    """Loading makes millions of objects and no garbage; without the collector it takes a quarter less time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def available_cores() -> int:
    """Cores this process may use: OMP_NUM_THREADS if set, else its CPU affinity within the container's quota.

    More threads than that make torch and llama.cpp collapse instead of helping.
    """
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isdigit() and int(wished) > 0:
        return int(wished)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = CPU_QUOTA.read_text(encoding="ascii").split() if CPU_QUOTA.exists() else ["max"]
    if quota[0] == "max":
        return cores
    return max(1, min(cores, int(quota[0]) // int(quota[1])))


def _named_folder(named: str) -> ModelFolder:
    path = Path(named).expanduser()
    if path.is_dir():
        return ModelFolder(path, f"{path.resolve().name}@{_digest(path)}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        # Falls back to what was downloaded before when the hub cannot be reached.
        snapshot = Path(snapshot_download(named, etag_timeout=3, ignore_patterns=FORMS_NOT_READ))
    except (HFValidationError, HfHubHTTPError, LocalEntryNotFoundError) as error:
        raise EmbeddingModelError(
            f"EMBEDDING_MODEL={named!r}: 不是文件夹，模型站也取不到；请给出 sentence-transformers 文件夹的路径，"
            f"或设置 HF_ENDPOINT，或删去该变量以用默认模型 / is no folder and the hub did not deliver it; name a "
            f"sentence-transformers folder, set HF_ENDPOINT, or unset it to use the default model ({error})"
        ) from error
    return ModelFolder(snapshot, f"{named}@{snapshot.name[:8]}")


def _digest(folder: Path) -> str:
    """Eight hex digits that change with the model: names, sizes and the two ends of every file."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size_bytes = path.stat().st_size
        digest.update(f"{path.relative_to(folder)}\0{size_bytes}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(END_BYTES))
            file.seek(max(0, size_bytes - END_BYTES))
            digest.update(file.read(END_BYTES))
    return digest.hexdigest()[:8]


def _prefixes(name: str, prompts: Mapping[str, str | None]) -> tuple[str, str]:
    """Prefix of a query and of a passage: what the model states itself, else those of the e5 family, else none."""
    query = prompts.get("query") or ""
    passage = prompts.get("passage") or prompts.get("document") or ""
    if not query and not passage and E5_NAME.search(Path(name).name):
        return "query: ", "passage: "
    return query, passage
