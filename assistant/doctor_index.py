"""Checks of the index: built by what now asks it, its stores agree, documents are in it, a known question finds.

Files are read without being changed; an index is searched through the running server, or as a copy in a temporary
folder, since opening one mends it. Nothing is built.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from assistant import owner
from assistant.doctor import Check, same
from assistant.doctor_sqlite import first_number, read_only
from assistant.evidence import Bilingual, Card
from knowledge.generation import REBUILD, Fingerprint, IndexBrokenError, read_manifest
from knowledge.index import BUILTIN, STORE, Embedder, IndexOutdatedError, KnowledgeIndexError, fingerprint, open_index

LARGEST_COPY_BYTES = 2 << 30
KNOWN_QUESTION = "CUDA 核心和 Tensor 核心有什么区别？"
KNOWN_TOPIC, KNOWN_WORDS = "cuda-and-tensor-cores", "Tensor"
FINGERPRINT_PARTS = ("embedder", "tokenizer", "passage_format", "splitter")

INDEX_WHAT = Bilingual(zh="索引", en="index")
COUNTS_WHAT = Bilingual(zh="索引段数", en="passages in the index")
SEARCH_WHAT = Bilingual(zh="试搜", en="a known question")
LIBRARY_WHAT = Bilingual(zh="导入的文档", en="your documents")
REBUILD_FIX = Bilingual(zh=f"运行 `{REBUILD}`。", en=f"Run `{REBUILD}`.")
OUTDATED = Bilingual(zh="内置段落比索引新", en="the built-in passages are newer than the index")
FIRST_BUILD = Bilingual(
    zh=f"运行 `gpu-advisor serve`（首次启动会建立），或 `{REBUILD}`。",
    en=f"Run `gpu-advisor serve` (its first start builds it), or `{REBUILD}`.",
)


def check_index(home: Path, embedder: Embedder | None) -> Check:
    """There is an index, and it was built by the model, tokenizer and splitter of now."""
    from ingest.splitting import SPLITTER_VERSION

    try:
        manifest = read_manifest(home / "index")
    except IndexBrokenError as error:
        return Check("index", INDEX_WHAT, "fault", same(str(error)), REBUILD_FIX)
    if manifest is None:
        return Check("index", INDEX_WHAT, "fault", Bilingual(zh="还没有建立", en="not built yet"), FIRST_BUILD)
    if not (home / "index" / manifest.generation / STORE).exists():
        detail = Bilingual(zh=f"缺少 {manifest.generation}/{STORE}", en=f"{manifest.generation}/{STORE} is gone")
        return Check("index", INDEX_WHAT, "fault", detail, REBUILD_FIX)
    built = manifest.fingerprint
    if embedder is None:
        return Check(
            "index",
            INDEX_WHAT,
            "skipped",
            Bilingual(
                zh=f"由 {built.embedder} 建立；向量模型未载入，无法比对",
                en=f"built by {built.embedder}; not compared, as the embedding model is not loaded",
            ),
        )
    if built != (now := fingerprint(embedder, SPLITTER_VERSION)):
        differing = [
            f"{_value(built, name)} ≠ {_value(now, name)}"
            for name in FINGERPRINT_PARTS
            if _value(built, name) != _value(now, name)
        ]
        shown = ", ".join(differing)
        return Check(
            "index",
            INDEX_WHAT,
            "fault",
            Bilingual(zh=f"由别的版本建立：{shown}", en=f"built by another version: {shown}"),
            REBUILD_FIX,
        )
    return Check("index", INDEX_WHAT, "ok", same(built.embedder))


def check_counts(home: Path) -> Check:
    """SQLite and Chroma hold as many passages as were written."""
    store = store_file(home)
    if store is None:
        return Check("index-counts", COUNTS_WHAT, "skipped", Bilingual(zh="没有索引", en="there is no index"))
    try:
        with read_only(store) as database:
            held = first_number(database, "SELECT count(*) FROM passages")
            written = first_number(database, "SELECT coalesce(sum(passages), 0) FROM versions")
            folder = database.execute("SELECT value FROM facts WHERE name = 'dense'").fetchone()
        with read_only(store.parent / str(folder[0]) / "chroma.sqlite3") as database:
            dense = first_number(database, "SELECT count(*) FROM embeddings")
    except (sqlite3.Error, TypeError) as error:
        return Check(
            "index-counts",
            COUNTS_WHAT,
            "fault",
            Bilingual(zh=f"读不出：{error}", en=f"cannot be read: {error}"),
            REBUILD_FIX,
        )
    shown = f"SQLite {held:,}, Chroma {dense:,}"
    if held == dense == written:
        return Check("index-counts", COUNTS_WHAT, "ok", same(shown))
    return Check(
        "index-counts",
        COUNTS_WHAT,
        "fault",
        Bilingual(zh=f"不一致：{shown}，应为 {written:,}", en=f"they differ: {shown}, but {written:,} were written"),
        REBUILD_FIX,
    )


def check_documents(home: Path) -> Check:
    """Every listed document is in the index, with all its passages."""
    library = home / "library.sqlite"
    if not library.exists():
        return Check("documents", LIBRARY_WHAT, "ok", Bilingual(zh="没有", en="none"))
    try:
        with read_only(library) as database:
            listed = dict(database.execute("SELECT version, name FROM documents").fetchall())
    except sqlite3.Error as error:
        return Check(
            "documents",
            LIBRARY_WHAT,
            "fault",
            Bilingual(zh=f"清单读不出：{error}", en=f"the list cannot be read: {error}"),
            Bilingual(
                zh=f"恢复 {library} 的备份；没有备份则移走它，再用 `gpu-advisor ingest` 重新导入。",
                en=f"Restore a backup of {library}; without one move it away and take the files in again with `gpu-advisor ingest`.",
            ),
        )
    store = store_file(home)
    indexed = _versions(store) if store else {}
    lost = sorted(name for version, name in listed.items() if version not in indexed)
    if lost:
        names = ", ".join(lost[:5])
        return Check(
            "documents",
            LIBRARY_WHAT,
            "fault",
            Bilingual(zh=f"{len(lost)} 份不在索引里：{names}", en=f"{len(lost)} are not in the index: {names}"),
            REBUILD_FIX,
        )
    return Check("documents", LIBRARY_WHAT, "ok", same(str(len(listed))))


def check_search(home: Path, embedder: Embedder | None, held_by: owner.Owner | None) -> Check:
    """A known question finds its known passage: asked of the running server, else of a copy of the index."""
    if held_by and held_by.url:
        return _search_over_http(held_by)
    store = store_file(home)
    if store is None or embedder is None:
        why = (
            Bilingual(zh="没有索引", en="there is no index")
            if store is None
            else Bilingual(zh="向量模型未载入", en="the embedding model is not loaded")
        )
        return Check("search", SEARCH_WHAT, "skipped", why)
    size = sum(path.stat().st_size for path in (home / "index").rglob("*") if path.is_file())
    if held_by or size > min(LARGEST_COPY_BYTES, shutil.disk_usage(tempfile.gettempdir()).free // 2):
        why = Bilingual(zh="索引正在使用或太大，没有复制", en="the index is in use or too large to be copied")
        return Check("search", SEARCH_WHAT, "skipped", why)
    try:
        return _searched(
            _found_in_copy(home, store, embedder), Bilingual(zh="在索引的副本中", en="in a copy of the index")
        )
    except IndexOutdatedError:
        return Check(
            "search",
            SEARCH_WHAT,
            "warning",
            OUTDATED,
            Bilingual(
                zh="不必处理：下一次 `gpu-advisor serve` 或 `gpu-advisor ask` 会更新它。",
                en="Nothing has to be done: the next `gpu-advisor serve` or `gpu-advisor ask` brings it up to date.",
            ),
        )
    except KnowledgeIndexError as error:
        return Check("search", SEARCH_WHAT, "fault", same(str(error)), REBUILD_FIX)


def store_file(home: Path) -> Path | None:
    """The SQLite file of the valid generation; None where there is no index that can be read."""
    try:
        manifest = read_manifest(home / "index")
    except IndexBrokenError:
        return None
    file = home / "index" / manifest.generation / STORE if manifest else None
    return file if file and file.exists() else None


def _value(made_by: Fingerprint, part: str) -> str:
    return str(getattr(made_by, part))


def _versions(store: Path) -> dict[str, int]:
    try:
        with read_only(store) as database:
            return dict(database.execute("SELECT version, passages FROM versions").fetchall())
    except sqlite3.Error:
        return {}  # told by check_counts


def _search_over_http(held_by: owner.Owner) -> Check:
    try:
        cited = _cited_by(held_by)
    except owner.OwnerError as error:
        return Check(
            "search",
            SEARCH_WHAT,
            "fault",
            same(str(error)),
            Bilingual(
                zh="几秒后再试；仍不行就重新启动 `gpu-advisor serve`。",
                en="Try again in a few seconds; if it stays, start `gpu-advisor serve` again.",
            ),
        )
    where = Bilingual(zh=f"经由 {held_by.url}", en=f"through {held_by.url}")
    return _searched(any(KNOWN_WORDS in each for each in cited), where)


def _cited_by(held_by: owner.Owner) -> list[str]:
    """What the server cites for the known question; it is stopped before its model writes."""
    with closing(owner.stream_over_http(held_by, KNOWN_QUESTION)) as events:
        for event in events:
            if isinstance(event, Card):
                return [f"{citation.title} {citation.excerpt}" for citation in event.citations]
    return []


def _found_in_copy(home: Path, store: Path, embedder: Embedder) -> bool:
    from ingest.builtin import builtin_passages
    from ingest.splitting import SPLITTER_VERSION

    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "index"
        shutil.copytree(home / "index", copy, ignore=shutil.ignore_patterns("*.lock"))
        live = _versions(store).keys() - {BUILTIN}
        with open_index(copy, embedder, builtin_passages(), live=live, splitter=SPLITTER_VERSION) as index:
            hits = index.search(KNOWN_QUESTION, language="zh")
    return any(hit.passage.topic.startswith(KNOWN_TOPIC) for hit in hits)


def _searched(found: bool, where: Bilingual) -> Check:
    if found:
        return Check("search", SEARCH_WHAT, "ok", Bilingual(zh=f"找到了（{where.zh}）", en=f"found ({where.en})"))
    return Check(
        "search",
        SEARCH_WHAT,
        "fault",
        Bilingual(
            zh=f"没有找到内置的段落（{where.zh}）：{KNOWN_QUESTION}",
            en=f"its built-in passage was not found ({where.en}): {KNOWN_QUESTION}",
        ),
        REBUILD_FIX,
    )
