"""The knowledge tab: components and what connects them. What the events do stands in knowledge_handlers.py.

For admins; readers do not see the tab, and every handler refuses them. Nothing is read before the tab is selected.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradio as gr
from gradio.context import Context

from assistant.evidence import Bilingual, Language
from assistant.uploads import LIMITS
from assistant.web.knowledge_handlers import DELETE_BUTTON, KnowledgeHandlers

if TYPE_CHECKING:
    from ingest.knowledge_base import KnowledgeBase

MOST_AT_ONCE = 8  # events of one kind at the same time
HIDDEN: dict[str, Any] = {
    "api_visibility": "private", "show_progress": "hidden", "concurrency_limit": MOST_AT_ONCE,
}  # fmt: skip

SHOW_PREVIEW = "() => document.getElementById('knowledge-open')?.scrollIntoView({behavior: 'smooth'})"

UPLOAD = Bilingual(zh="上传文档", en="Upload documents")
REFRESH = Bilingual(zh="刷新", en="Refresh")
REBUILD = Bilingual(zh="重建索引", en="Rebuild the index")
SEARCH = Bilingual(zh="在列表里查找：名称、类型或编号", en="Find in the list: name, kind or id")
LIST = Bilingual(zh="文档", en="Documents")
COLUMNS = (
    Bilingual(zh="名称", en="Name"),
    Bilingual(zh="来源", en="Origin"),
    Bilingual(zh="类型", en="Kind"),
    Bilingual(zh="状态", en="State"),
    Bilingual(zh="段", en="Passages"),
    Bilingual(zh="表格行", en="Rows"),
    Bilingual(zh="大小", en="Size"),
    Bilingual(zh="日期", en="Date"),
    Bilingual(zh="编号", en="Id"),
)
WIDTHS = ("290px", "80px", "70px", "100px", "90px", "80px", "90px", "110px", "150px")
OPEN = Bilingual(
    zh="看一份文档的内容和识别出的表：在这里选，或点上面的一行",
    en="See what a document says and which tables were recognised: choose it here, or click its row",
)
CONFIRM = Bilingual(zh="确认删除", en="Delete it")
CANCEL = Bilingual(zh="取消", en="Cancel")
BEFORE = Bilingual(zh="上一页", en="Previous")
AFTER = Bilingual(zh="下一页", en="Next")
PASSAGES = Bilingual(zh="段落", en="Passages")
TABLES = Bilingual(zh="识别出的表", en="Recognised tables")
TABLE = Bilingual(zh="选一张表", en="Choose a table")
PROVIDER = Bilingual(zh="云厂商", en="Provider")
CURRENCY = Bilingual(zh="币种", en="Currency")
PER = Bilingual(zh="价格按", en="A price is per")
AS_OF = Bilingual(zh="日期", en="Date")
UNUSUAL = Bilingual(zh="异常价格也收（会标记）", en="Take unusual prices too (they are flagged)")
TERMS = Bilingual(zh="表里没写的在这里给出", en="Give here what the table does not state")
FROM_TABLE = Bilingual(zh="表里写的", en="as the table states")
PERIODS = (
    ("instance-hour", Bilingual(zh="小时（整台）", en="hour (whole machine)")),
    ("instance-month", Bilingual(zh="月（整台）", en="month (whole machine)")),
    ("gpu-hour", Bilingual(zh="每卡小时", en="GPU-hour")),
)
ACCEPT = Bilingual(zh="收下这张表", en="Accept this table")
UNDO = Bilingual(zh="撤销收下", en="Undo the acceptance")


@dataclass(frozen=True)
class _Listing:
    """The upper part: state, upload, list."""

    state: gr.HTML
    refresh: gr.Button
    rebuild: gr.Button
    rebuilt: gr.HTML
    files: gr.File
    results: gr.HTML
    search: gr.Textbox
    rows: gr.Dataframe
    under: gr.HTML
    opened: gr.Dropdown


@dataclass(frozen=True)
class _Preview:
    """The document that was chosen: its head, deletion, passages."""

    column: gr.Column
    head: gr.HTML
    delete: gr.Button
    asking: gr.Column
    question: gr.HTML
    confirm: gr.Button
    cancel: gr.Button
    passages: gr.HTML
    pages: gr.HTML
    before: gr.Button
    after: gr.Button


@dataclass(frozen=True)
class _Tables:
    """Its recognised tables, their preview and acceptance."""

    column: gr.Column
    table: gr.Dropdown
    told: gr.HTML
    terms: gr.Column
    given: tuple[Any, ...]
    shown: gr.HTML
    accept: gr.Button
    undo: gr.Button
    message: gr.HTML

    def previewed(self, checked: gr.State) -> list[Any]:
        """What a preview fills."""
        return [self.shown, self.terms, self.accept, self.undo, checked]


def knowledge_tab(language: Language, knowledge_provider: Callable[[], KnowledgeBase | None]) -> None:
    """Build the tab inside the gr.Tab that is being built; it fills itself when that tab is selected."""
    handlers = KnowledgeHandlers(language, knowledge_provider)
    tab = Context.block
    with gr.Column(elem_id="knowledge"):
        listing, deleted = _listing(language), gr.HTML(padding=False)
        chosen, page, checked, undo = gr.State(""), gr.State(1), gr.State(()), gr.State(("", ""))
        with gr.Column(visible=False, elem_id="knowledge-preview") as column:
            preview = _preview(language, column)
            tables = _tables(language)
    listed = [listing.state, listing.rows, listing.under, listing.opened]
    for event in (tab.select if isinstance(tab, gr.Tab) else listing.refresh.click, listing.refresh.click):
        event(handlers.fill, [listing.search], listed, **HIDDEN)
    listing.search.input(
        handlers.search, [listing.search], listed[1:], trigger_mode="always_last", **HIDDEN
    )  # fmt: skip
    _wire_upload(listing, listed, handlers)
    _wire_preview(listing, preview, tables, chosen, page, checked, undo, handlers)
    _wire_tables(tables, chosen, checked, undo, handlers)
    preview.confirm.click(
        handlers.delete, [chosen, listing.search], [deleted, *listed, preview.column, preview.asking, chosen], **HIDDEN
    )


def _listing(language: Language) -> _Listing:
    with gr.Row(elem_id="knowledge-state", equal_height=False):
        state = gr.HTML(padding=False)
        refresh = gr.Button(REFRESH[language], size="sm", scale=0, min_width=80)
        rebuild = gr.Button(REBUILD[language], size="sm", scale=0, min_width=120)
    rebuilt = gr.HTML(padding=False)
    files = gr.File(
        label=UPLOAD[language], file_count="multiple", height=150, elem_id="knowledge-upload", elem_classes=[language]
    )
    gr.HTML(f"<small>{LIMITS[language]}</small>", padding=False)
    results = gr.HTML(padding=False)
    search = gr.Textbox(placeholder=SEARCH[language], label=LIST[language], max_length=100, elem_id="knowledge-search")
    rows = gr.Dataframe(
        headers=[column[language] for column in COLUMNS],
        datatype=["str", "str", "str", "str", "number", "number", "str", "str", "str"],
        column_count=len(COLUMNS),
        column_widths=list(WIDTHS),
        interactive=False,
        show_label=False,
        max_height=360,
        buttons=[],
        elem_id="knowledge-list",
    )
    under = gr.HTML(padding=False)
    # A grid cannot be reached by the keyboard alone.
    opened = gr.Dropdown(label=OPEN[language], interactive=True, elem_id="knowledge-open")
    return _Listing(state, refresh, rebuild, rebuilt, files, results, search, rows, under, opened)


def _preview(language: Language, column: gr.Column) -> _Preview:
    with gr.Row(equal_height=False):
        head = gr.HTML(padding=False)
        delete = gr.Button(DELETE_BUTTON[language], variant="stop", size="sm", scale=0, min_width=110)
    with gr.Column(visible=False, elem_id="knowledge-confirm") as asking:
        question = gr.HTML(padding=False)
        with gr.Row():
            confirm = gr.Button(CONFIRM[language], variant="stop", size="sm")
            cancel = gr.Button(CANCEL[language], size="sm")
    with gr.Accordion(PASSAGES[language], open=True):
        passages = gr.HTML(padding=False)
        with gr.Row(elem_id="knowledge-pages"):
            before = gr.Button(BEFORE[language], size="sm", scale=0, min_width=90)
            pages = gr.HTML(padding=False)
            after = gr.Button(AFTER[language], size="sm", scale=0, min_width=90)
    return _Preview(column, head, delete, asking, question, confirm, cancel, passages, pages, before, after)


def _tables(language: Language) -> _Tables:
    periods = [(FROM_TABLE[language], ""), *((label[language], key) for key, label in PERIODS)]
    with gr.Column(visible=False, elem_id="knowledge-tables") as column, gr.Accordion(TABLES[language], open=True):
        told = gr.HTML(padding=False)
        table = gr.Dropdown(label=TABLE[language], visible=False, interactive=True)
        with gr.Column(visible=False) as terms:
            gr.HTML(f"<small>{TERMS[language]}</small>", padding=False)
            with gr.Row():
                provider = gr.Textbox(label=PROVIDER[language], placeholder=FROM_TABLE[language], max_length=60, min_width=120)  # fmt: skip
                currency = gr.Textbox(label=CURRENCY[language], placeholder="CNY, USD …", max_length=3, min_width=120)
                per = gr.Dropdown(periods, value="", label=PER[language], interactive=True, min_width=120)
                as_of = gr.Textbox(label=AS_OF[language], placeholder="2026-05-24, 2024-07, 2023-Q3", max_length=10, min_width=120)  # fmt: skip
            unusual = gr.Checkbox(label=UNUSUAL[language])
        shown = gr.HTML(padding=False)
        message = gr.HTML(padding=False)
        with gr.Row():
            accept = gr.Button(ACCEPT[language], variant="primary", visible=False)
            undo = gr.Button(UNDO[language], visible=False)
    given = (provider, currency, per, as_of, unusual)
    return _Tables(column, table, told, terms, given, shown, accept, undo, message)


def _wire_upload(listing: _Listing, listed: list[Any], handlers: KnowledgeHandlers) -> None:
    # Without preprocessing the handler is told the files' own names; it trusts neither these nor the paths.
    listing.files.upload(
        handlers.upload, [listing.files], [listing.results, listing.files], preprocess=False, **HIDDEN
    ).then(handlers.fill, [listing.search], listed, **HIDDEN)
    listing.rebuild.click(handlers.rebuild, None, [listing.rebuilt, listing.rebuild], **HIDDEN).then(
        handlers.fill, [listing.search], listed, **HIDDEN
    )


def _wire_preview(
    listing: _Listing, preview: _Preview, tables: _Tables, chosen: gr.State, page: gr.State, checked: gr.State,
    undo: gr.State, handlers: KnowledgeHandlers,
) -> None:  # fmt: skip
    opened = [
        chosen, page, preview.column, preview.asking, preview.head, preview.delete, preview.passages, preview.pages,
        preview.before, preview.after,
    ]  # fmt: skip
    found = [tables.table, tables.told, tables.column, tables.message, undo, *tables.given]
    for choice in (
        listing.rows.select(handlers.choose_row, None, [listing.opened, *opened], **HIDDEN),
        listing.opened.input(handlers.choose, [listing.opened], opened, **HIDDEN),
    ):
        choice.success(None, js=SHOW_PREVIEW, **HIDDEN)
        choice.success(handlers.tables, [chosen], found, **HIDDEN).success(
            handlers.preview_table, [chosen, tables.table, *tables.given], tables.previewed(checked), **HIDDEN
        )
    preview.before.click(handlers.page_before, [chosen, page], opened, **HIDDEN)
    preview.after.click(handlers.page_after, [chosen, page], opened, **HIDDEN)
    preview.delete.click(handlers.ask_delete, [chosen], [preview.asking, preview.question], **HIDDEN)
    preview.cancel.click(handlers.cancel_delete, None, [preview.asking], queue=False, **HIDDEN)


def _wire_tables(
    tables: _Tables, chosen: gr.State, checked: gr.State, undo: gr.State, handlers: KnowledgeHandlers,
) -> None:  # fmt: skip
    asked = [chosen, tables.table, *tables.given]
    shown = tables.previewed(checked)
    provider, currency, per, as_of, unusual = tables.given
    changes = [tables.table.input, per.input, unusual.input]
    changes += [event for box in (provider, currency, as_of) for event in (box.submit, box.blur)]
    for change in changes:
        change(handlers.preview_table, asked, shown, **HIDDEN)
    tables.accept.click(handlers.accept_table, [*asked, checked], [*shown, tables.message, undo], **HIDDEN)
    tables.undo.click(handlers.undo, [undo, chosen], [tables.message, tables.undo, undo], **HIDDEN).success(
        handlers.preview_table, asked, shown, **HIDDEN
    )
