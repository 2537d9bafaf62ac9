"""Files that somebody uploads through the page: their names made harmless, read once, taken in one after another.

A name and a path that come from a browser are never trusted: of the name only the last part counts, and a path is read
only if it is a plain file in the folder where uploads land. It knows no web framework, and what becomes of a file is
decided in ingest/knowledge_base.py. An upload is removed once it was read.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import stat
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from assistant.evidence import Bilingual, Language
from assistant.outcomes import Fate, fate
from ingest.incoming import LARGEST_BYTES, Incoming, readable_name
from ingest.knowledge_base import KnowledgeBase
from knowledge.generation import KnowledgeIndexError
from knowledge.library import LibraryBrokenError

log = logging.getLogger(__name__)

MOST_FILES = 50  # of one upload
LONGEST_NAME = 120
LONGEST_SUFFIX = 12
UNNAMED = "unnamed"

LIMITS = Bilingual(
    zh=f"可以是 Markdown、文本、HTML、PDF、DOCX、XLSX、PPTX、CSV，或它们的 ZIP；一次最多 {MOST_FILES} 个文件，合计不超过 "
    f"{LARGEST_BYTES // 2**20} MiB。同名文件会替换它的旧版本。",
    en=f"Markdown, text, HTML, PDF, DOCX, XLSX, PPTX, CSV, or ZIP of these; at most {MOST_FILES} files and "
    f"{LARGEST_BYTES // 2**20} MiB at once. A file replaces the former one of the same name.",
)
_TOO_MANY = Bilingual(
    zh=f"一次最多 {MOST_FILES} 个文件，这个没有读；请再上传一次",
    en=f"at most {MOST_FILES} files at once; this one was not read: upload it again",
)
_TWICE = Bilingual(
    zh="这次上传里已有同名文件，这个没有读；请改名后再上传",
    en="another file of this upload has the same name; this one was not read: rename it and upload it again",
)
_GONE = Bilingual(
    zh="上传的文件在读取之前消失了，请再上传一次", en="the upload was gone before it was read: upload it again"
)
_NOT_UPLOADED = Bilingual(zh="这不是通过本页上传的文件，没有读", en="this is no file uploaded here; it was not read")
_TOO_LARGE = Bilingual(
    zh=f"超过 {LARGEST_BYTES // 2**20} MiB，请拆成几个文件",
    en=f"larger than {LARGEST_BYTES // 2**20} MiB: split the file",
)
_BROKEN = Bilingual(
    zh="处理这个文件时出了内部错误，已记入日志；知识库没有改变",
    en="an internal error occurred with this file and was logged; the knowledge base has not changed",
)


@dataclass(frozen=True)
class Upload:
    """A file as the browser names it: where the server put it, and what it was called. Neither is to be trusted."""

    path: str
    claimed_name: str


@dataclass(frozen=True)
class FileProgress:
    """One uploaded file on its way; an archive has several fates. `done` and `total` count passages written."""

    name: str
    step: Literal["waiting", "reading", "writing", "done"] = "waiting"
    done: int = 0
    total: int = 0
    fates: tuple[Fate, ...] = ()


class UploadUnreadableError(Exception):
    """The upload cannot be read; `reason` says why."""

    def __init__(self, reason: Bilingual) -> None:
        super().__init__(reason.en)
        self.reason = reason


def safe_name(claimed: str) -> str:
    """The last part of a claimed file name as one short line without control and direction characters."""
    name = unicodedata.normalize("NFC", readable_name(str(claimed)))
    name = re.split(r"[/\\]", name)[-1]
    name = " ".join(name.split()).strip(". ")
    if len(name) > LONGEST_NAME:
        suffix = PurePosixPath(name).suffix
        suffix = suffix if len(suffix) <= LONGEST_SUFFIX else ""
        name = name[: LONGEST_NAME - len(suffix) - 1].rstrip(". ") + "…" + suffix
    return name or UNNAMED


def take_in(
    base: KnowledgeBase, uploads: Sequence[Upload], folder: Path, language: Language
) -> Iterator[tuple[FileProgress, ...]]:
    """Take uploads in one after another; yields how far each is, at the end with every fate.

    `folder` is where uploads land. The work goes on in a thread of its own even if nobody listens any more.
    """
    names = [safe_name(upload.claimed_name) for upload in uploads]
    lines = [FileProgress(name) for name in names]
    told: queue.Queue[tuple[int, FileProgress] | None] = queue.Queue()
    work = _Work(base, folder, language, told)
    threading.Thread(target=work.run, args=(tuple(uploads), names), name="upload", daemon=True).start()
    yield tuple(lines)
    for number, line in _latest(told):
        lines[number] = line
        yield tuple(lines)


def _latest(told: queue.Queue[tuple[int, FileProgress] | None]) -> Iterator[tuple[int, FileProgress]]:
    """What is told until the end; of progress that piled up while nobody listened, only the last of each file."""
    ended = False
    while not ended:
        pile = [told.get()]
        while not told.empty():
            pile.append(told.get())
        ended = pile[-1] is None
        yield from dict(item for item in pile if item is not None).items()


@dataclass(frozen=True)
class _Work:
    """The reading and writing of one upload."""

    base: KnowledgeBase
    folder: Path
    language: Language
    told: queue.Queue[tuple[int, FileProgress] | None]

    def run(self, uploads: Sequence[Upload], names: Sequence[str]) -> None:
        try:
            for number, (upload, name) in enumerate(zip(uploads, names, strict=True)):
                line = FileProgress(name, "reading")
                self.told.put((number, line))
                refusal = _TOO_MANY if number >= MOST_FILES else _TWICE if name in names[:number] else None
                fates = (self._refused(name, refusal),) if refusal else tuple(self._take(number, upload, line))
                self.told.put((number, replace(line, step="done", fates=fates)))
        finally:
            for upload in uploads:
                remove_upload(upload.path, self.folder)
            self.told.put(None)

    def _take(self, number: int, upload: Upload, line: FileProgress) -> Iterator[Fate]:
        def progress(done: int, total: int) -> None:
            self.told.put((number, replace(line, step="writing", done=done, total=total)))

        try:
            content = read_upload(upload.path, self.folder)
            remove_upload(upload.path, self.folder)
            for outcome in self.base.ingest([Incoming(f"upload:{line.name}", line.name, content)], progress):
                yield fate(outcome, self.language)
        except UploadUnreadableError as error:
            yield self._refused(line.name, error.reason)
        except (KnowledgeIndexError, LibraryBrokenError):
            log.exception("the knowledge base failed while %r was taken in", line.name)
            yield Fate(line.name, "broken", _BROKEN[self.language])
        except Exception:
            log.exception("taking in the upload %r failed", line.name)
            yield Fate(line.name, "broken", _BROKEN[self.language])

    def _refused(self, name: str, reason: Bilingual) -> Fate:
        return Fate(name, "refused", reason[self.language])


def read_upload(path: str, folder: Path) -> bytes:
    """The bytes of an upload that lies in `folder`; whatever else the path names is not opened.

    Raises UploadUnreadableError.
    """
    if not _lies_in(path, folder):
        raise UploadUnreadableError(_NOT_UPLOADED)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise UploadUnreadableError(_NOT_UPLOADED)
            if state.st_size > LARGEST_BYTES:
                raise UploadUnreadableError(_TOO_LARGE)
            return file.read(LARGEST_BYTES)
    except OSError as error:
        log.warning("an upload cannot be read: %s", error)
        raise UploadUnreadableError(_GONE) from error


def remove_upload(path: str, folder: Path) -> None:
    """Remove an upload and the folder made for it; what does not lie in `folder` stays."""
    if _lies_in(path, folder):
        with suppress(OSError):  # gone already, or another upload lies beside it
            Path(path).unlink(missing_ok=True)
            if Path(path).parent.resolve() != folder.resolve():
                Path(path).parent.rmdir()


def _lies_in(path: str, folder: Path) -> bool:
    """Whether the path itself, and what it leads to, lies below the folder."""
    try:
        given, real, within = Path(path), Path(path).resolve(), folder.resolve()
        return not given.is_symlink() and real != within and real.is_relative_to(within)
    except (OSError, ValueError, RuntimeError):  # a name too long, a null byte, links in a circle
        return False
