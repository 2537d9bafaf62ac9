"""The knowledge tab's texts as HTML: progress and fates of uploads, passages, previews of tables, the state line.

Pure functions. Everything that comes from a document or a browser is escaped; nothing is decided or read here.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from assistant.evidence import Bilingual, Language
from assistant.index_rebuild import RebuildStep
from assistant.knowledge_list import STATES, Entry, PassagePage, size_words
from assistant.outcomes import Fate
from assistant.table_preview import TablePreview
from assistant.uploads import FileProgress
from ingest.knowledge_base import State
from knowledge.passage import Passage

STATUS = {
    "accepted": Bilingual(zh="收下", en="Accepted"),
    "replaced": Bilingual(zh="更新", en="Replaced"),
    "unchanged": Bilingual(zh="未变", en="Unchanged"),
    "refused": Bilingual(zh="拒收", en="Refused"),
    "broken": Bilingual(zh="出错", en="Failed"),
}
STEPS = {
    "waiting": Bilingual(zh="等待", en="Waiting"),
    "reading": Bilingual(zh="正在读取", en="Reading"),
    "writing": Bilingual(zh="正在写入", en="Writing"),
}
PASSAGES = Bilingual(zh="段", en="passages")
EMPTY = Bilingual(
    zh="还没有自己的文档。把文件拖到上面，或点击选择。",
    en="No documents of your own yet: drag files to the box above, or click it to choose.",
)
_NO_MATCH = Bilingual(zh="没有符合的文档。", en="No document matches.")


def upload_html(lines: Sequence[FileProgress], language: Language) -> str:
    """One line per file: how far it is, then its fates; at the end how many files met which."""
    ended = all(line.step == "done" for line in lines)
    shown = "".join(_file(line, language) for line in lines)
    total = f'<p class="summary">{_summary(lines, language)}</p>' if ended else ""
    return f'<div class="uploads" role="status" aria-live="polite">{total}<ul>{shown}</ul></div>'


def state_html(state: State, rebuilding: bool, language: Language) -> str:
    """How much is in, in one line; no path of the server."""
    count = Bilingual(
        zh=f"自有文档 <b>{state.documents}</b> 份（{state.document_passages:,} 段） · 内置 {state.builtin_passages:,} 段"
        f" · 索引 {size_words(state.size_bytes)} · 向量模型 {html.escape(_short(state.embedder))}",
        en=f"<b>{state.documents}</b> document{'' if state.documents == 1 else 's'} of your own "
        f"({state.document_passages:,} passages) · {state.builtin_passages:,} built-in passages · index "
        f"{size_words(state.size_bytes)} · embedding model {html.escape(_short(state.embedder))}",
    )
    under_way = Bilingual(zh="正在重建索引", en="The index is being built anew")
    more = f' · <b class="busy">{under_way[language]}</b>' if rebuilding else ""
    return f'<p class="state">{count[language]}{more}</p>'


def message_html(text: str, kind: str = "note") -> str:
    """A sentence as a box: kind is note, good or bad."""
    return f'<p class="message {html.escape(kind)}" role="status">{html.escape(text)}</p>'


def rebuild_html(step: RebuildStep, language: Language) -> str:
    """A bar while it goes on, the outcome in the end."""
    if step.state != "building":
        return message_html(step.text[language], "good" if step.state == "done" else "bad")
    bar = _bar(step.done, step.total, step.text[language])
    count = f"{step.done:,} / {step.total:,} {PASSAGES[language]}" if step.total else ""
    return (
        f'<div class="rebuild" role="status" aria-live="polite"><p>{html.escape(step.text[language])}</p>'
        f"{bar} <small>{count}</small></div>"
    )


def entry_html(entry: Entry, language: Language) -> str:
    """The head of a preview: name and what the list says of the document."""
    own = Bilingual(zh="自有", en="own")
    builtin = Bilingual(zh="内置，不能删除", en="built-in, cannot be deleted")
    rows = Bilingual(zh=f"{entry.table_rows:,} 个表格行", en=f"{entry.table_rows:,} table rows")
    parts = [
        entry.kind,
        STATES[entry.state][language],
        f"{entry.passages:,} {PASSAGES[language]}",
        rows[language] if entry.table_rows else "",
        "" if entry.builtin else size_words(entry.size_bytes),
        entry.day,
        builtin[language] if entry.builtin else own[language],
    ]
    said = " · ".join(html.escape(part) for part in parts if part)
    return f'<h3 class="document">{html.escape(entry.name)}</h3><p class="state">{said}</p>'


def nothing_html(listed: int, wanted: str, own: int, language: Language) -> str:
    """What stands under the list where it is empty of what was asked for or of documents of one's own."""
    if wanted.strip() and not listed:
        return message_html(_NO_MATCH[language])
    return message_html(EMPTY[language]) if not own else ""


def passages_html(page: PassagePage, language: Language) -> str:
    """The passages of a page, each with its number and place."""
    shown = "".join(_passage(each, page.first + at) for at, each in enumerate(page.passages))
    return f'<div class="passages">{shown}</div>'


def page_words(page: PassagePage, language: Language) -> str:
    """Which passages of how many are shown."""
    last = page.first + len(page.passages) - 1
    words = Bilingual(
        zh=f"第 {page.first:,}–{last:,} 段，共 {page.total:,} 段",
        en=f"passages {page.first:,}–{last:,} of {page.total:,}",
    )
    return f'<p class="pages" role="status">{words[language]}</p>'


def table_html(preview: TablePreview, language: Language) -> str:
    """The verdict, the first rows, what was rejected and why, and what to look at."""
    more = Bilingual(
        zh=f"显示前 {len(preview.rows)} 行，共 {preview.in_all:,} 行。",
        en=f"The first {len(preview.rows)} of {preview.in_all:,} rows.",
    )
    rest = f"<p><small>{more[language]}</small></p>" if preview.in_all > len(preview.rows) else ""
    kind = "bad" if preview.missing or not preview.acceptable else "good"
    rejected = Bilingual(
        zh=f"没有收的行（{preview.rejected_count}）", en=f"Rows that are not taken ({preview.rejected_count})"
    )
    notes = Bilingual(zh="请留意", en="Please note")
    unlisted = preview.rejected_count - len(preview.rejected)
    cut = Bilingual(zh=f"还有 {unlisted} 行没有列出", en=f"{unlisted} more are not listed")
    return (
        f"{message_html(preview.verdict, kind)}{_table(preview.headings, preview.rows)}{rest}"
        f"{_section(rejected[language], [*preview.rejected, *([cut[language]] if unlisted > 0 else [])])}"
        f"{_section(notes[language], preview.notes)}"
    )


def _file(line: FileProgress, language: Language) -> str:
    if line.step == "done":
        return "".join(_fate(each, language) for each in line.fates)
    step = STEPS[line.step][language]
    counted = f"<small>{line.done:,} / {line.total:,} {PASSAGES[language]}</small>" if line.total else ""
    bar = "" if line.step == "waiting" else _bar(line.done, line.total, f"{step} {line.name}")
    name = html.escape(line.name)
    return f'<li class="{line.step}"><span class="tag">{step}</span> <b>{name}</b> {counted}{bar}</li>'


def _fate(each: Fate, language: Language) -> str:
    notes = "".join(f"<small>{html.escape(note)}</small>" for note in each.notes)
    return (
        f'<li class="{html.escape(each.status)}"><span class="tag">{STATUS[each.status][language]}</span> '
        f"<b>{html.escape(each.name)}</b> <span>{html.escape(each.text)}</span>{notes}</li>"
    )


def _summary(lines: Sequence[FileProgress], language: Language) -> str:
    fates = [each.status for line in lines for each in line.fates]
    counts = [(STATUS[status][language], fates.count(status)) for status in STATUS]
    return " · ".join(f"{label} {count}" for label, count in counts if count)


def _bar(done: int, total: int, label: str) -> str:
    value = f' value="{done}" max="{total}"' if total else ""
    return f'<progress{value} aria-label="{html.escape(label)}"></progress>'


def _passage(passage: Passage, number: int) -> str:
    section = f"<b>{html.escape(passage.section)}</b>" if passage.section else ""
    return (
        f'<article class="{passage.kind}"><header><span class="tag">{number}</span> {section} '
        f"<small>{html.escape(passage.locator)}</small></header><p>{html.escape(passage.text)}</p></article>"
    )


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(each)}</th>" for each in headings)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="rows" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>' if body else ""  # fmt: skip


def _section(title: str, lines: Sequence[str]) -> str:
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f"<details{' open' if len(lines) <= 8 else ''}><summary>{title}</summary><ul>{items}</ul></details>" if lines else ""  # fmt: skip


def _short(fingerprint: str) -> str:
    return fingerprint.partition("@")[0].rpartition("/")[2]
