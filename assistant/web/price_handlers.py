"""What the events of the prices tab do: read the form, ask for the rows, give back what each component shows.

It decides and computes nothing: filters, rows, sentences and plots come from the price modules below the page.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs

import gradio as gr

from assistant.evidence import Bilingual, Language
from assistant.price_choices import choices
from assistant.price_filters import (
    FilterError,
    PriceFilter,
    from_query,
    read_currencies,
    read_day,
    read_gpus,
    read_memory,
    read_pricing_models,
    read_providers,
    read_rate,
    read_regions,
    read_shown_in,
    sorted_as,
)
from assistant.price_plots import Against, PlotData, against, by_provider, over_time
from assistant.price_purchases import purchase_table
from assistant.price_row import offer_detail, purchase_detail
from assistant.price_view import rental_table
from assistant.web.price_table import BROKEN, detail_html, hint_html, problem_html, summary_html, table_html
from knowledge.offer_store import SnapshotBrokenError

log = logging.getLogger(__name__)

ONLY_RENT = Bilingual(
    zh="这些图画的是租价；请在上面切换到“租用”。", en='These plots draw rental prices; switch to "Rent" above.'
)
FILLED = "filled"  # what the page sends along once the form has been filled
Update = Any  # what Gradio takes for a component: a value, a component with new properties, or skip()


@dataclass(frozen=True)
class Order:
    """How the table is sorted (`date`, `-date`), which page of it is shown, and the cells it was last drawn for."""

    sort: str = "per-gpu-hour"
    page: int = 1
    cells: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Form:
    """The cells of the form as the page sends them, in the order of its components."""

    view: str
    gpus: list[str]
    providers: list[str]
    pricing_models: list[str]
    regions: list[str]
    currencies: list[str]
    shown_in: str
    rate: str
    dated_from: str
    dated_to: str
    undated: bool
    slices: bool
    memory: str

    def wanted(self, order: Order) -> PriceFilter:
        """The filter that the cells mean. Raises FilterError."""
        read = PriceFilter(
            view="buy" if self.view == "buy" else "rent", gpus=read_gpus(self.gpus or []),
            providers=read_providers(self.providers or []), regions=read_regions(self.regions or []),
            currencies=read_currencies(self.currencies or []), pricing_models=read_pricing_models(self.pricing_models or []),
            dated_from=read_day(self.dated_from or ""), dated_to=read_day(self.dated_to or "", end=True),
            undated=bool(self.undated), slices=bool(self.slices), min_memory_gb=read_memory(self.memory or ""),
            shown_in=read_shown_in(self.shown_in or ""), rate=read_rate(self.rate or ""), page=order.page,
        )  # fmt: skip
        return sorted_as(read, order.sort)


NOTHING_SHOWN: tuple[Update, ...] = ("", "", *(("", gr.update(visible=False)) * 3))  # table, row, notes and plots
CELLS = len(fields(Form))
ACROSS = frozenset({"providers", "pricing_models", "regions", "slices"})  # what a purchase row does not state


def form_of(wanted: PriceFilter) -> Form:
    """The cells that mean this filter."""
    return Form(
        view=wanted.view, gpus=[*wanted.gpus], providers=[*wanted.providers], pricing_models=[*wanted.pricing_models],
        regions=[*wanted.regions], currencies=[*wanted.currencies], shown_in=wanted.shown_in,
        rate=f"{wanted.rate:f}" if wanted.rate else "", dated_from=str(wanted.dated_from or ""),
        dated_to=str(wanted.dated_to or ""), undated=wanted.undated, slices=wanted.slices,
        memory=f"{wanted.min_memory_gb:f}" if wanted.min_memory_gb else "",
    )  # fmt: skip


def _is_for_prices(link: str) -> bool:
    """Whether an address speaks to this tab: another's may use the same words (`currency`) for something else."""
    return parse_qs(link.removeprefix("?")).get("tab", ["prices"])[-1] == "prices"


class PriceHandlers:
    """The handlers of one language's tab; they keep nothing between calls."""

    def __init__(self, language: Language):
        self._language = language

    def opened(self, link: str, filled: str, active: str, what: str, order: Order, *cells: Any) -> list[Update]:
        """The tab is shown: the first time with the filter that the page's address names, later as it was left."""
        form, problem = Form(*cells), ""
        if filled != FILLED:
            try:
                wanted = from_query(link if _is_for_prices(link) else "")
                sign = "-" if wanted.descending else ""
                form, order = form_of(wanted), Order(f"{sign}{wanted.sort}", wanted.page)
                cells = astuple(form)
            except FilterError as error:
                problem = problem_html(error.said[self._language])
            except SnapshotBrokenError:
                return self._broken([order, *[gr.skip()] * CELLS])
        try:
            fields_filled = self._filled(form)
        except SnapshotBrokenError:
            return self._broken([order, *[gr.skip()] * CELLS])
        drawn = self.drawn(active, what, order, form)
        seen = replace(order, cells=cells)
        return [seen, *fields_filled, problem + drawn[0] if problem else drawn[0], *drawn[1:]]

    def filtered(self, filled: str, active: str, what: str, order: Order, *cells: Any) -> list[Update]:
        """A filter was changed: the first page again. Filling the form is no change."""
        if filled != FILLED or cells == order.cells:
            return [gr.skip()] * 10
        first = replace(order, page=1, cells=cells)
        return [first, *self.drawn(active, what, first, Form(*cells))]

    def switched(self, filled: str, active: str, what: str, order: Order, *cells: Any) -> list[Update]:
        """Rent or buy: as a changed filter, and only the filters that those rows have are shown."""
        form = Form(*cells)
        shown = [gr.skip() if name not in ACROSS else gr.update(visible=form.view == "rent") for name in _NAMES]
        return [*self.filtered(filled, active, what, order, *cells), *shown]

    def sort(self, active: str, what: str, order: Order, event: gr.EventData, *cells: Any) -> list[Update]:
        """A heading was pressed: sort all rows by it, the other way round if they already are."""
        key = str(event._data.get("key", ""))
        new = replace(order, sort=f"-{key}" if order.sort == key else key, page=1)
        return [new, *self.drawn(active, what, new, Form(*cells))]

    def turn(self, active: str, what: str, order: Order, event: gr.EventData, *cells: Any) -> list[Update]:
        """Another page of rows."""
        page = event._data.get("page")
        new = replace(order, page=page if isinstance(page, int) and 0 < page < 1_000_000 else 1)
        return [new, *self.drawn(active, what, new, Form(*cells))]

    def show_row(self, view: str, event: gr.EventData) -> str:
        """One row in full."""
        find = purchase_detail if view == "buy" else offer_detail
        try:
            return detail_html(find(str(event._data.get("id", "")), self._language, date.today()), self._language)
        except SnapshotBrokenError:
            log.exception("the imported prices cannot be read")
            return problem_html(BROKEN[self._language])

    def part(self, active: str) -> Any:
        """The handler for opening one part (table or a plot), which draws that part only."""

        def draw(filled: str, what: str, order: Order, *cells: Any) -> list[Update]:
            if filled != FILLED:  # the page opens its first part by itself, before the form holds anything
                return [active, *[gr.skip()] * 9]
            return [active, *self.drawn(active, what, order, Form(*cells))]

        return draw

    def drawn(self, active: str, what: str, order: Order, form: Form) -> list[Update]:
        """Summary, table, row in full, then note and plot of each of the three; what is not open is left as it is."""
        try:
            wanted = form.wanted(order)
            find = purchase_table if wanted.view == "buy" else rental_table
            table = find(wanted, self._language, date.today())
            summary = summary_html(table, wanted, self._language)
            if active == "table":
                shown = table_html(table, wanted, self._language)
                return [summary, shown, hint_html(self._language) if table.rows else "", *[gr.skip()] * 6]
            return [summary, gr.skip(), gr.skip(), *self._plots(active, what, wanted)]
        except FilterError as error:
            return [problem_html(error.said[self._language]), *NOTHING_SHOWN]
        except SnapshotBrokenError:
            return self._broken([])

    def _plots(self, active: str, what: str, wanted: PriceFilter) -> list[Update]:
        updates: list[Update] = []
        for name in PLOTS:
            if name != active:
                updates += [gr.skip(), gr.skip()]
            elif wanted.view == "buy":
                updates += [ONLY_RENT[self._language], gr.update(visible=False)]
            else:
                updates += _plot_updates(self._data(name, what, wanted), name, self._language)
        return updates

    def _data(self, name: str, what: str, wanted: PriceFilter) -> PlotData:
        if name == "providers":
            return by_provider(wanted, self._language)
        if name == "history":
            return over_time(wanted, self._language)
        axis: Against = "bandwidth" if what == "bandwidth" else "memory"
        return against(wanted, axis, self._language)

    def _broken(self, first: Sequence[Update]) -> list[Update]:
        log.exception("the imported prices cannot be read")
        return [*first, problem_html(BROKEN[self._language]), *NOTHING_SHOWN]

    def _filled(self, form: Form) -> list[Update]:
        """Every filter with its value, and the choices of those that have some."""
        offered = choices(self._language)
        updates: list[Update] = []
        for name in _NAMES:
            more: dict[str, Any] = {"choices": [*getattr(offered, name)]} if hasattr(offered, name) else {}
            if name in ACROSS:
                more["visible"] = form.view == "rent"
            updates.append(gr.update(value=getattr(form, name), **more))
        return updates


# The columns of a plot's data, as its tooltip calls them.
SERIES = {
    "providers": Bilingual(zh="GPU", en="GPU"),
    "history": Bilingual(zh="云厂商", en="Provider"),
    "specs": Bilingual(zh="架构", en="Architecture"),
}
ROW = Bilingual(zh="价格行", en="Row")
_NAMES = tuple(field.name for field in fields(Form))
PLOTS: dict[str, type[gr.BarPlot] | type[gr.ScatterPlot]] = {
    "providers": gr.BarPlot,
    "history": gr.ScatterPlot,
    "specs": gr.ScatterPlot,
}


def _plot_updates(data: PlotData, name: str, language: Language) -> list[Update]:
    """The sentences below the plot, and the plot; none where there is nothing to draw."""
    note = "  \n".join(data.said)
    if not data.points:
        return [note, gr.update(visible=False)]
    shown = marks(data, name, language)
    ys, xs = [row[1] for row in shown["data"]], [row[0] for row in shown["data"]]
    ends: list[float | None] | None = None
    if (kind := shown["datatypes"]["x"]) != "nominal":  # Gradio takes the ends of a time axis in seconds
        ends = [*_with_margin([x / 1000 for x in xs] if kind == "temporal" else xs)]
    return [
        note,
        PLOTS[name](
            value=shown, x_title=data.x_title, y_title=data.y_title, x_lim=ends, y_lim=[0, max(ys) * 1.05], visible=True
        ),
    ]


def marks(data: PlotData, name: str, language: Language) -> dict[str, Any]:
    """The points as Gradio's plots hold them; only here an amount becomes a binary float."""
    series, row = SERIES[name][language], ROW[language]
    return {
        "columns": ["x", "y", series, row],
        "data": [[_place(point.x), float(point.price), point.series, point.label] for point in data.points],
        "datatypes": {"x": _kind(data.points[0].x), "y": "quantitative", series: "nominal", row: "nominal"},
        "mark": "bar" if PLOTS[name] is gr.BarPlot else "point",
    }


def _with_margin(xs: list[float]) -> list[float]:
    """Both ends of the horizontal axis, so that no mark stands on the edge."""
    low, high = min(xs), max(xs)
    margin = (high - low) * 0.04 or abs(high) * 0.1 or 1
    return [low - margin, high + margin]


def _place(x: str | date | Decimal) -> str | float:
    """A name, a number, or of a day the milliseconds at which it begins (UTC)."""
    if isinstance(x, date):
        return datetime(x.year, x.month, x.day, tzinfo=UTC).timestamp() * 1000
    return x if isinstance(x, str) else float(x)


def _kind(x: str | date | Decimal) -> str:
    if isinstance(x, date):
        return "temporal"
    return "nominal" if isinstance(x, str) else "quantitative"
