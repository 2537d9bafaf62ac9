"""What is said on the knowledge tab when something goes wrong: one sentence in the reader's language, no path, no trace.

A broken index, a broken list of documents and an empty one are different sentences. It logs what it does not tell.
"""

from __future__ import annotations

import logging

from assistant.access import UnrecognisedError
from assistant.evidence import Bilingual, Language
from assistant.refusals import ADMIN_ONLY, RefusedError
from assistant.table_commands import UnknownPeriodError
from assistant.table_preview import said
from ingest.blocks import FileRefusedError
from ingest.price_formats import PriceFileError
from ingest.typed_tables import TableIncompleteError, TableNotTypedError
from knowledge.generation import KnowledgeIndexError
from knowledge.library import LibraryBrokenError, UnknownDocumentError
from knowledge.offer_store import SnapshotBrokenError
from knowledge.own_cards import TooManyCardsError
from knowledge.price_snapshots import NothingToUndoError, OtherImportError
from knowledge.table_rows import CatalogError

log = logging.getLogger(__name__)

LOADING = Bilingual(zh="知识库正在加载，请稍等几秒。", en="The knowledge base is still loading; wait a few seconds.")
REBUILDING = Bilingual(
    zh="正在重建索引，要等它结束才能上传或删除；请稍后再试。",
    en="The index is being built anew; uploads and deletions wait for its end. Try again in a moment.",
)
INDEX_BROKEN = Bilingual(
    zh="索引损坏，读不出来（详情在日志里）。文档没有丢：请用「重建索引」修复。",
    en="The index is damaged and cannot be read (the log says more). No document is lost: mend it with “Rebuild the index”.",
)
LIST_BROKEN = Bilingual(
    zh="文档清单损坏，读不出来（详情在日志里）。请恢复备份，或移走清单文件后重新导入文档。",
    en="The list of documents is damaged and cannot be read (the log says more). Restore a backup, or move the file away "
    "and upload the documents again.",
)
CATALOGUE_BROKEN = Bilingual(
    zh="已收下的价格或显卡的文件损坏，读不出来（详情在日志里）；什么都没有写入。请恢复备份。",
    en="The file of accepted prices or cards is damaged and cannot be read (the log says more); nothing was written. "
    "Restore a backup.",
)
GONE = Bilingual(zh="这份文档已经不在了，请刷新列表。", en="This document is no longer there; refresh the list.")
FAILED = Bilingual(
    zh="出了内部错误，已记入日志，什么都没有改变。",
    en="An internal error occurred and was logged; nothing has changed.",
)
NOTHING_TO_UNDO = Bilingual(zh="没有可以撤销的。", en="There is nothing to undo.")

_TOLD = (
    FileRefusedError, PriceFileError, TableIncompleteError, TableNotTypedError, TooManyCardsError, UnknownPeriodError,
)  # fmt: skip
_FIXED: tuple[tuple[type[Exception], Bilingual, bool], ...] = (
    (UnrecognisedError, ADMIN_ONLY, True),
    (UnknownDocumentError, GONE, False),
    (KnowledgeIndexError, INDEX_BROKEN, True),
    (LibraryBrokenError, LIST_BROKEN, True),
    (CatalogError, CATALOGUE_BROKEN, True),
    (SnapshotBrokenError, CATALOGUE_BROKEN, True),
    (NothingToUndoError, NOTHING_TO_UNDO, False),
)


def sentence(error: Exception, language: Language) -> str:
    """What a reader is told of an error; what is not foreseen is logged and told as an internal one."""
    if isinstance(error, RefusedError):
        return error.sentence[language]
    if isinstance(error, _TOLD):
        return said(error, language)
    if isinstance(error, OtherImportError):
        return _other(error, language)
    for kind, text, logged in _FIXED:
        if isinstance(error, kind):
            if logged:
                log.warning("told on the knowledge tab as %r: %s", text.en, error)
            return text[language]
    log.error("an event of the knowledge tab failed", exc_info=error)
    return FAILED[language]


def _other(error: OtherImportError, language: Language) -> str:
    text = Bilingual(
        zh=f"之后又导入了别的价格（{error}），没有撤销；请先用 gpu-advisor prices undo 撤销那一次。",
        en=f"Other prices were imported since ({error}), so nothing was undone; take those back first: "
        "gpu-advisor prices undo.",
    )
    return text[language]
