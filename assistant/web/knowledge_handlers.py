"""What the events of the knowledge tab do. Every one checks for itself that an admin asks; the hidden tab is no protection.

It connects components with assistant/knowledge_list.py, uploads.py, table_preview.py and index_rebuild.py, and decides
nothing. What goes wrong is told in one sentence, and what was typed stays.
"""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from assistant import knowledge_faults as faults
from assistant.access import require_admin
from assistant.evidence import Bilingual, Language
from assistant.index_rebuild import rebuild_steps
from assistant.knowledge_html import (
    entry_html,
    message_html,
    nothing_html,
    page_words,
    passages_html,
    rebuild_html,
    state_html,
    table_html,
    upload_html,
)
from assistant.knowledge_list import STATES, Entry, entries, matching, passage_page, size_words
from assistant.table_commands import AcceptOptions
from assistant.table_preview import (
    accept,
    cards_of,
    preview,
    table_entries,
    take_back_cards,
    take_back_prices,
)
from assistant.uploads import Upload, take_in
from ingest.knowledge_base import KnowledgeBase, Removed

LOADING_SECONDS = 120
LOOK_SECONDS = 0.5
NOT_DONE = Bilingual(zh="没有做成", en="Not done")
OWN = Bilingual(zh="自有", en="own")
BUILTIN = Bilingual(zh="内置", en="built-in")
NO_TABLES = Bilingual(
    zh="这份文档里没有识别出价格表或规格表。",
    en="No table of prices or specifications was recognised in this document.",
)
CHECK_FIRST = Bilingual(
    zh="条件改过了，已重新检查；请看过后再按一次「收下」。",
    en="The terms have changed and were checked again; look at the result and press “Accept” once more.",
)
UNDONE = Bilingual(zh="已撤销，目录恢复到收下之前。", en="Undone: the catalogue is as it was before.")
DELETE_BUTTON = Bilingual(zh="删除", en="Delete")
KEPT_BUTTON = Bilingual(zh="内置文档不能删除", en="Built-in: cannot be deleted")

Updates = tuple[Any, ...]


@dataclass(frozen=True)
class KnowledgeHandlers:
    """The events of the tab in one language; `provider` gives None while the knowledge base is being loaded."""

    language: Language
    provider: Callable[[], KnowledgeBase | None]

    def fill(self, wanted: str | None, request: gr.Request) -> Iterator[Updates]:
        """State line, list, and what stands under it; waits for the knowledge base while it is being loaded."""
        with self._polite():
            require_admin(request)
            deadline = time.monotonic() + LOADING_SECONDS
            while (base := self.provider()) is None and time.monotonic() < deadline:
                yield message_html(faults.LOADING[self.language]), gr.skip(), gr.skip(), gr.skip()
                time.sleep(LOOK_SECONDS)
            if base is None:
                return
            yield self._filled(base, wanted or "")

    def search(self, wanted: str | None, request: gr.Request) -> Updates:
        """List and what stands under it."""
        with self._admitted(request) as base:
            return self._filled(base, wanted or "")[1:]

    def choose_row(self, event: gr.SelectData, request: gr.Request) -> Updates:
        """The document of the clicked row, first its id."""
        with self._admitted(request) as base:
            row = event.row_value if isinstance(event.row_value, list) else []
            opened = self._opened(base, str(row[-1]) if row else "", 1)
            return opened[0], *opened

    def choose(self, chosen: str | None, request: gr.Request) -> Updates:
        """The document of that id."""
        with self._admitted(request) as base:
            return self._opened(base, chosen or "", 1)

    def page_before(self, chosen: str, number: int, request: gr.Request) -> Updates:
        """The former page of the chosen document's passages."""
        with self._admitted(request) as base:
            return self._opened(base, chosen, number - 1)

    def page_after(self, chosen: str, number: int, request: gr.Request) -> Updates:
        """The next page of the chosen document's passages."""
        with self._admitted(request) as base:
            return self._opened(base, chosen, number + 1)

    def tables(self, chosen: str, request: gr.Request) -> Updates:
        """The recognised tables of the chosen document, the first of them selected; no message, no undo, no terms."""
        with self._admitted(request) as base:
            entry = self._entry(base, chosen)
            found = [] if entry.builtin else table_entries(base, entry.id, self.language)
            choices = [(each.label, each.number) for each in found]
            told = "" if found or entry.builtin else message_html(NO_TABLES[self.language])
            table = gr.Dropdown(choices=choices, value=found[0].number if found else None, visible=bool(found))
            terms = ("", "", "", "", False)  # what was given for another table
            return (table, told, gr.Column(visible=not entry.builtin), "", ("", ""), *terms)

    def preview_table(
        self, chosen: str, number: int | None, provider: str | None, currency: str | None, per: str | None,
        as_of: str | None, unusual: bool | None,
        request: gr.Request,
    ) -> Updates:  # fmt: skip
        """What accepting the table with these terms would do."""
        with self._admitted(request) as base:
            options = _options(provider, currency, per, as_of, unusual)
            return self._previewed(base, chosen, number, options)

    def accept_table(
        self, chosen: str, number: int | None, provider: str | None, currency: str | None, per: str | None,
        as_of: str | None, unusual: bool | None,
        checked: tuple[object, ...], request: gr.Request,
    ) -> Updates:  # fmt: skip
        """Take the table, if it was checked with just these terms."""
        with self._admitted(request) as base:
            options = _options(provider, currency, per, as_of, unusual)
            if number is None:
                return (*(gr.skip(),) * 7,)
            if checked != (chosen, number, options):
                again = self._previewed(base, chosen, number, options)
                return (*again, message_html(CHECK_FIRST[self.language]), ("", ""))
            done = accept(base, chosen, number, options, self.language, date.today())
            undo = (done.kind, done.undo_label or chosen) if done.taken else ("", "")
            shown = self._previewed(base, chosen, number, options, undo)
            return (*shown, message_html(done.text, "good" if done.taken else "bad"), undo)

    def undo(self, undo: tuple[str, str], chosen: str, request: gr.Request) -> Updates:
        """Take the last acceptance back, or the cards of the document; gives the message, the button, what is left to undo."""
        with self._admitted(request):
            kind, what = undo
            if kind == "prices":
                take_back_prices(what)
            else:
                take_back_cards(chosen)
            return message_html(UNDONE[self.language], "good"), gr.Button(visible=False), ("", "")

    def cancel_delete(self, request: gr.Request) -> Any:
        """Close the question."""
        with self._admitted(request):
            return gr.Column(visible=False)

    def ask_delete(self, chosen: str, request: gr.Request) -> Updates:
        """The question before a document is deleted."""
        with self._admitted(request) as base:
            entry = self._entry(base, chosen)
            if entry.builtin:
                return gr.Column(visible=False), ""
            question = Bilingual(
                zh=f"删除「{entry.name}」？它的 {entry.passages:,} 段会从索引里抹去，从它的表里收下的价格行和显卡也一并删除。",
                en=f"Delete “{entry.name}”? Its {entry.passages:,} passages are wiped from the index, and price rows and "
                "cards accepted from its tables go with it.",
            )
            return gr.Column(visible=True), message_html(question[self.language], "bad")

    def delete(self, chosen: str, wanted: str | None, request: gr.Request) -> Updates:
        """Delete the chosen document; gives what went, the list anew, and a closed preview."""
        with self._admitted(request) as base:
            if base.rebuilding:
                raise self._error(faults.REBUILDING[self.language])
            removed = base.remove(self._entry(base, chosen).id)
            filled = self._filled(base, wanted or "")
            closed = gr.Column(visible=False)
            return (message_html(self._gone(removed), "good"), *filled, closed, closed, "")

    def upload(self, files: Sequence[dict[str, Any]] | None, request: gr.Request) -> Iterator[Updates]:
        """Take uploads in; gives the result lines, and at the end an empty box."""
        with self._admitted(request) as base:
            uploads = [_upload(each) for each in files or []]
            if base.rebuilding:
                raise self._error(faults.REBUILDING[self.language])
            for lines in take_in(base, uploads, Path(get_upload_folder()), self.language):
                yield upload_html(lines, self.language), gr.skip()
            yield gr.skip(), None

    def rebuild(self, request: gr.Request) -> Iterator[Updates]:
        """Build the index anew, or follow the rebuild under way; gives the progress and the button."""
        with self._admitted(request) as base:
            for step in rebuild_steps(base):
                yield rebuild_html(step, self.language), gr.Button(interactive=step.state != "building")

    # What they share.

    @contextmanager
    def _admitted(self, request: gr.Request) -> Iterator[KnowledgeBase]:
        """The knowledge base, for an admin; whatever goes wrong inside is told politely."""
        with self._polite():
            require_admin(request)
            base = self.provider()
            if base is None:
                raise self._error(faults.LOADING[self.language])
            yield base

    @contextmanager
    def _polite(self) -> Iterator[None]:
        try:
            yield
        except gr.Error:
            raise
        except Exception as error:
            raise self._error(faults.sentence(error, self.language)) from error

    def _error(self, text: str) -> gr.Error:
        # Gradio shows the message as HTML.
        return gr.Error(html.escape(text), title=NOT_DONE[self.language], print_exception=False)

    def _filled(self, base: KnowledgeBase, wanted: str) -> Updates:
        listed = entries(base, self.language)
        shown = matching(listed, wanted)
        own = sum(not each.builtin for each in listed)
        state = state_html(base.state(), base.rebuilding is not None, self.language)
        under = nothing_html(len(shown), wanted, own, self.language)
        choices = [(f"{each.name} · {each.id}", each.id) for each in shown]
        return state, [self._row(each) for each in shown], under, gr.Dropdown(choices=choices)

    def _row(self, entry: Entry) -> list[str | int]:
        origin = BUILTIN if entry.builtin else OWN
        return [
            entry.name, origin[self.language], entry.kind, STATES[entry.state][self.language], entry.passages,
            entry.table_rows, size_words(entry.size_bytes), entry.day or "–", entry.id,
        ]  # fmt: skip

    def _entry(self, base: KnowledgeBase, chosen: str) -> Entry:
        found = [each for each in entries(base, self.language) if each.id == chosen]
        if not found:
            raise self._error(faults.GONE[self.language])
        return found[0]

    def _opened(self, base: KnowledgeBase, chosen: str, number: int) -> Updates:
        entry = self._entry(base, chosen)
        page = passage_page(base, entry, number, self.language)
        label = (KEPT_BUTTON if entry.builtin else DELETE_BUTTON)[self.language]
        return (
            entry.id, page.number, gr.Column(visible=True), gr.Column(visible=False),
            entry_html(entry, self.language), gr.Button(label, interactive=not entry.builtin),
            passages_html(page, self.language), page_words(page, self.language),
            gr.Button(interactive=page.number > 1), gr.Button(interactive=page.number < page.pages),
        )  # fmt: skip

    def _previewed(
        self, base: KnowledgeBase, chosen: str, number: int | None, options: AcceptOptions,
        undo: tuple[str, str] = ("", ""),
    ) -> Updates:  # fmt: skip
        """The preview, the terms, the accept and undo buttons, and what was checked."""
        if number is None:
            hidden = gr.Button(visible=False)
            return "", gr.Column(visible=False), hidden, hidden, ()
        shown = preview(base, chosen, number, options, self.language, date.today())
        taken = cards_of(chosen) > 0 if shown.kind == "specs" else undo[0] == "prices"
        return (
            table_html(shown, self.language), gr.Column(visible=shown.kind == "prices"),
            gr.Button(visible=True, interactive=shown.acceptable > 0), gr.Button(visible=taken),
            (chosen, number, options),
        )  # fmt: skip

    def _gone(self, removed: Removed) -> str:
        text = Bilingual(
            zh=f"已删除「{removed.document.name}」：{removed.passages:,} 段，{removed.price_rows} 行价格，{removed.cards} 款显卡。",
            en=f"Deleted “{removed.document.name}”: {removed.passages:,} passages, {removed.price_rows} price rows, "
            f"{removed.cards} cards.",
        )
        return text[self.language]


def _upload(given: dict[str, Any]) -> Upload:
    """What the browser says of a file, as texts; Gradio has validated the shape."""
    path = str(given.get("path") or "")
    return Upload(path, str(given.get("orig_name") or Path(path).name))


def _options(
    provider: str | None, currency: str | None, per: str | None, as_of: str | None, unusual: bool | None
) -> AcceptOptions:  # fmt: skip
    """The terms; a box that was never shown has None."""
    return AcceptOptions(provider or "", currency or "", per or "", as_of or "", bool(unusual))
