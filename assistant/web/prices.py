"""The prices tab: filters, the table with its rows in full, three plots, the download and the link to the view.

Components and wiring only. Nothing is looked up before the tab is opened; a plot is drawn when its part is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from assistant.evidence import Bilingual, Language
from assistant.web.price_handlers import FILLED, ROW, SERIES, Order, PriceHandlers
from assistant.web.price_table import SCRIPT

RENT, BUY = Bilingual(zh="租用", en="Rent"), Bilingual(zh="购买", en="Buy")
LABELS = {
    "view": Bilingual(zh="价格种类", en="Prices for"),
    "gpus": Bilingual(zh="GPU 或具体形态", en="GPU or exact form"),
    "providers": Bilingual(zh="云厂商", en="Provider"),
    "pricing_models": Bilingual(zh="计费方式", en="Pricing model"),
    "regions": Bilingual(zh="地域", en="Region"),
    "currencies": Bilingual(zh="币种", en="Currency"),
    "shown_in": Bilingual(zh="同时换算成", en="Also show in"),
    "rate": Bilingual(zh="自定汇率（1 USD = ?）", en="Your rate (1 USD = ?)"),
    "dated_from": Bilingual(zh="价格日期从", en="Dated from"),
    "dated_to": Bilingual(zh="价格日期到", en="Dated to"),
    "undated": Bilingual(zh="包括未注明日期的行", en="Include undated rows"),
    "slices": Bilingual(zh="包括切片（不足一张卡）", en="Include slices (less than a card)"),
    "memory": Bilingual(zh="显存至少（GB/卡）", en="GPU memory at least (GB per card)"),
}
MORE = Bilingual(zh="更多筛选：日期、显存、切片、换算", en="More filters: date, memory, slices, conversion")
ANY = Bilingual(zh="不限", en="any")
DAY = Bilingual(zh="2026-05-24 或 2026-05", en="2026-05-24 or 2026-05")
NEWEST = Bilingual(zh="空 = 最新年平均", en="empty = newest yearly average")
PARTS = {
    "table": Bilingual(zh="表格", en="Table"),
    "providers": Bilingual(zh="各厂商图", en="By provider"),
    "history": Bilingual(zh="历史图", en="History"),
    "specs": Bilingual(zh="规格图", en="By specs"),
}
AXIS = Bilingual(zh="横轴", en="Horizontal axis")
MEMORY, BANDWIDTH = Bilingual(zh="显存", en="GPU memory"), Bilingual(zh="显存带宽", en="Memory bandwidth")
SETTLED = f"() => new Promise((done) => setTimeout(() => done('{FILLED}'), 150))"
HIDDEN: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden", "concurrency_limit": 8}
DRAWN: dict[str, Any] = {"api_visibility": "private", "show_progress": "minimal", "concurrency_limit": 8}


@dataclass(frozen=True)
class PricesTab:
    """What other tabs may set: the filters by name, as assistant.web.price_handlers.Form names them."""

    filters: dict[str, gr.components.Component]


@dataclass(frozen=True)
class _Shown:
    """The components that show what was found, in the order of PriceHandlers.drawn."""

    summary: gr.HTML
    table: gr.HTML
    detail: gr.HTML
    plots: tuple[gr.components.Component, ...]

    @property
    def all(self) -> list[gr.components.Component]:
        return [self.summary, self.table, self.detail, *self.plots]


def prices_tab(language: Language, tab: gr.Tab) -> PricesTab:
    """Build the tab inside the page that is being built; `tab` is the one around it, whose opening fills it."""
    handlers = PriceHandlers(language)
    with gr.Column(elem_id="prices"):
        filters = _filters(language)
        summary = gr.HTML("", elem_id="price-summary", padding=False, apply_default_css=False)
        with gr.Tabs():
            with gr.Tab(PARTS["table"][language], id="price-table") as first:
                table = gr.HTML("", js_on_load=SCRIPT, elem_id="price-table", padding=False, apply_default_css=False)
                detail = gr.HTML("", elem_id="price-row", padding=False, apply_default_css=False)
            others, plots, axis = _plots(language)
    shown = _Shown(summary, table, detail, plots)
    # In the page, not in the session: it tells whether the cells that came with an event were already filled.
    link, filled = gr.Textbox(visible="hidden"), gr.Textbox(visible="hidden")
    active, order = gr.State("table"), gr.State(Order())
    cells = [*filters.values()]
    state = [filled, active, axis, order, *cells]
    drawn: dict[str, Any] = {"inputs": state, "outputs": [order, *shown.all], **DRAWN}
    # Filling the form makes its components tell of changes one by one, each with half of the cells: these are passed
    # over until the form has settled, and then looked at together.
    tab.select(
        handlers.opened,
        [link, *state],
        [order, *cells, *shown.all],
        js="(_, ...rest) => [window.location.search, ...rest]",
        **DRAWN,
    ).then(None, None, [filled], js=SETTLED, api_visibility="private").then(handlers.filtered, **drawn)
    _wire_filters(handlers, filters, drawn)
    _wire_table(handlers, table, filters["view"], detail, {**drawn, "inputs": state[1:], **HIDDEN})
    for name, part in {"table": first, **others}.items():
        part.select(handlers.part(name), [filled, axis, order, *cells], [active, *shown.all], **DRAWN)
    axis.input(handlers.part("specs"), [filled, axis, order, *cells], [active, *shown.all], **DRAWN)
    return PricesTab(filters)


def _wire_filters(handlers: PriceHandlers, filters: dict[str, Any], drawn: dict[str, Any]) -> None:
    typed = ("rate", "dated_from", "dated_to", "memory")
    # A name typed into a list of choices is told by `change` alone.
    chosen = [each.change for name, each in filters.items() if name not in (*typed, "view")]
    written = [event for name in typed for event in (filters[name].submit, filters[name].blur)]
    gr.on([*chosen, *written], handlers.filtered, trigger_mode="always_last", **drawn)
    switched = {**drawn, "outputs": [*drawn["outputs"], *filters.values()]}
    filters["view"].input(handlers.switched, trigger_mode="always_last", **switched)


def _wire_table(
    handlers: PriceHandlers, table: gr.HTML, view: Any, detail: gr.HTML, drawn: dict[str, Any]
) -> None:  # fmt: skip
    table.sort(handlers.sort, trigger_mode="always_last", **drawn)
    table.turn(handlers.turn, trigger_mode="always_last", **drawn)
    table.open(handlers.show_row, [view], [detail], trigger_mode="always_last", **HIDDEN)


def _filters(language: Language) -> dict[str, Any]:
    """The filters by name, in the order of Form."""
    words = {name: label[language] for name, label in LABELS.items()}

    def several(name: str) -> gr.Dropdown:
        return gr.Dropdown(
            [], multiselect=True, allow_custom_value=True, label=words[name], elem_id=f"price-{name}", min_width=200
        )

    def text(name: str, example: str) -> gr.Textbox:
        return gr.Textbox(
            label=words[name], placeholder=example, max_lines=1, max_length=40, elem_id=f"price-{name}", min_width=140
        )

    view = gr.Radio(
        [(RENT[language], "rent"), (BUY[language], "buy")], value="rent", label=words["view"], show_label=False,
        container=False, elem_id="price-view",
    )  # fmt: skip
    with gr.Row():
        named = {name: several(name) for name in ("gpus", "providers", "pricing_models")}
    with gr.Accordion(MORE[language], open=False):
        with gr.Row():
            named |= {name: several(name) for name in ("regions", "currencies")}
            memory = text("memory", ANY[language])
        with gr.Row():
            dated_from, dated_to = text("dated_from", DAY[language]), text("dated_to", DAY[language])
            shown_in = gr.Dropdown([], label=words["shown_in"], allow_custom_value=True, elem_id="price-shown_in", min_width=140)  # fmt: skip
            rate = text("rate", NEWEST[language])
        with gr.Row():
            undated = gr.Checkbox(True, label=words["undated"], elem_id="price-undated", min_width=200)
            slices = gr.Checkbox(False, label=words["slices"], elem_id="price-slices", min_width=200)
    return {
        "view": view, **named, "shown_in": shown_in, "rate": rate, "dated_from": dated_from, "dated_to": dated_to,
        "undated": undated, "slices": slices, "memory": memory,
    }  # fmt: skip


def _plots(language: Language) -> tuple[dict[str, gr.Tab], tuple[Any, ...], gr.Radio]:
    """The parts that hold a plot, note and plot of each, and the choice of the last one's axis."""
    parts: dict[str, gr.Tab] = {}
    made: list[Any] = []
    for name, kind in (("providers", gr.BarPlot), ("history", gr.ScatterPlot), ("specs", gr.ScatterPlot)):
        with gr.Tab(PARTS[name][language], id=f"price-{name}") as parts[name]:
            if name == "specs":
                axis = gr.Radio(
                    [(MEMORY[language], "memory"), (BANDWIDTH[language], "bandwidth")], value="memory",
                    label=AXIS[language], elem_id="price-axis",
                )  # fmt: skip
            bars = kind is gr.BarPlot
            plot = kind(
                x="x", y="y", color=SERIES[name][language], tooltip=[ROW[language]], height=420, visible=False,
                x_label_angle=-40 if bars else 0, sort="y" if bars else None, y_aggregate="min" if bars else None,
                x_axis_format="%Y-%m" if name == "history" else None, elem_id=f"price-plot-{name}",
            )  # fmt: skip
            made += [gr.Markdown("", elem_id=f"price-note-{name}"), plot]
    return parts, tuple(made), axis
