"""A rebuild of the index while the server runs, followed step by step by whoever asked for it.

The work goes on in a thread of its own even if nobody listens any more; who asks while one is under way follows that
one. What a rebuild is stands in ingest/knowledge_base.py.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from assistant.evidence import Bilingual
from ingest.knowledge_base import KnowledgeBase
from ingest.rebuilding import RebuildStoppedError, RebuildUnderwayError
from knowledge.generation import KnowledgeIndexError
from knowledge.library import LibraryBrokenError

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5  # how often a rebuild that somebody else began is looked at

BUILDING = Bilingual(
    zh="正在重建索引；回答照旧使用原来的索引，上传和删除要等重建结束。",
    en="Building the index anew; answers go on from the old one, uploads and deletions wait for the end.",
)
DONE = Bilingual(
    zh="索引已重建、检查并换上，原来的已移除。", en="The index was built, checked and swapped in; the old one is gone."
)
ENDED = Bilingual(zh="重建已结束。", en="The rebuild has ended.")
FAILED = Bilingual(
    zh="重建失败，已记入日志；原来的索引照旧可用。",
    en="The rebuild failed and was logged; the old index is in use as before.",
)
STOPPED = Bilingual(
    zh="服务要关闭，重建已停止；原来的索引没有改变。",
    en="The server is closing, so the rebuild was stopped; the old index is unchanged.",
)


@dataclass(frozen=True)
class RebuildStep:
    """How far a rebuild is, in passages; `text` is for readers."""

    state: Literal["building", "done", "failed"]
    text: Bilingual
    done: int = 0
    total: int = 0


def rebuild_steps(base: KnowledgeBase) -> Iterator[RebuildStep]:
    """Build the index of `base` anew, or follow the rebuild under way; the last step says how it ended."""
    told: queue.Queue[RebuildStep | None] = queue.Queue()
    threading.Thread(target=_run, args=(base, told), name="rebuild", daemon=True).start()
    while (step := _latest(told)) is not None:
        yield step
        if step.state != "building":
            return
    yield from _follow(base)


def _run(base: KnowledgeBase, told: queue.Queue[RebuildStep | None]) -> None:
    try:
        base.rebuild(lambda done, total: told.put(RebuildStep("building", BUILDING, done, total)))
    except RebuildUnderwayError:
        told.put(None)
    except RebuildStoppedError:
        told.put(RebuildStep("failed", STOPPED))
    except (KnowledgeIndexError, LibraryBrokenError) as error:
        log.warning("the rebuild failed: %s", error)
        told.put(RebuildStep("failed", FAILED))
    except Exception:
        log.exception("the rebuild failed")
        told.put(RebuildStep("failed", FAILED))
    else:
        told.put(RebuildStep("done", DONE))


def _latest(told: queue.Queue[RebuildStep | None]) -> RebuildStep | None:
    step = told.get()
    while not told.empty():
        step = told.get()
    return step


def _follow(base: KnowledgeBase) -> Iterator[RebuildStep]:
    """The rebuild that somebody else began, until it ends; how it ended is told to whoever began it."""
    while reached := base.rebuilding:
        yield RebuildStep("building", BUILDING, *reached)
        time.sleep(LOOK_SECONDS)
    yield RebuildStep("done", ENDED)
