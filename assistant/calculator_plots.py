"""Pictures of a result: memory part by part, both costs over time, price against speed -- as Vega-Lite charts.

Draws rows that a calculator has returned; it computes no figure and needs no plotting library.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from assistant.calculator.calculation import number
from assistant.calculator_forms import Outcome
from assistant.calculator_words import choice_label, currency_words, output_label
from assistant.evidence import Bilingual, Language

Row = Mapping[str, Any]
Spec = dict[str, Any]

# Legible on white and on the dark theme's slate alike.
COLOURS = ("#0d9488", "#f59e0b", "#6366f1", "#ec4899", "#84cc16", "#0ea5e9", "#a855f7", "#94a3b8")
OWN, RENT, MARK, SUBDUED = "#0d9488", "#f59e0b", "#e11d48", "#94a3b8"
HEIGHT = 300  # pixels
MEMORY_HEIGHT = 230  # of which the bar has a third, so that the marks' names stand above and below it
BAR_HEIGHT = 56
MEMORY_MARKS = (
    ("per_gpu_high_gib", Bilingual(zh="最多", en="at most"), SUBDUED),
    ("need_high_gib", Bilingual(zh="最多", en="at most"), SUBDUED),
    ("usable_gib", Bilingual(zh="卡上可用", en="usable"), MARK),
)
VEGA_LITE = "https://vega.github.io/schema/vega-lite/v5.json"  # a name, never fetched


@dataclass(frozen=True)
class Plot:
    """A chart: its title, what it shows in words for those who cannot see it, and the Vega-Lite specification."""

    title: str
    spoken: str
    spec: Spec

    def as_json(self) -> str:
        """The specification as Vega reads it."""
        return json.dumps(self.spec, ensure_ascii=False)


def plot_of(outcome: Outcome, language: Language) -> Plot | None:
    """The picture of a result; None for a calculator whose result is a number or two."""
    if outcome.calculator in ("inference_memory", "inference_fit", "training_memory"):
        return _memory(outcome, language)
    if outcome.calculator == "buy_or_rent":
        return _break_even(outcome, language)
    if outcome.calculator == "rank_gpus":
        return _front(outcome, language)
    if outcome.calculator in ("rental_comparison", "depreciation"):
        return _bars(outcome, language)
    return None


def _memory(outcome: Outcome, language: Language) -> Plot:
    """The parts of one GPU side by side in one bar, marked where the need ends at most and how much of the card may be filled."""
    parts, outputs = memory_parts(outcome), outcome.result.outputs
    title = Bilingual(zh="每张卡的显存构成", en="Memory of one GPU, part by part")[language]
    axis = Bilingual(zh="每卡显存（GiB）", en="Memory per GPU (GiB)")[language]
    names = [choice_label("part", part)[language] for part, _ in parts]
    data = [
        {"part": name, "gib": float(size), "order": place, "bar": ""}
        for place, (name, (_, size)) in enumerate(zip(names, parts, strict=True))
    ]
    bars: Spec = {
        "data": {"values": data},
        "mark": {"type": "bar", "height": BAR_HEIGHT, "stroke": None},
        "encoding": {
            "x": {"field": "gib", "type": "quantitative", "stack": "zero", "title": axis, "axis": {"tickCount": 6}},
            "y": {"field": "bar", "type": "nominal", "title": None, "axis": None},
            "color": _series("part", names, COLOURS),
            "order": {"field": "order", "type": "quantitative"},
            "tooltip": [_tip("part", output_label("part")[language]), _tip("gib", "GiB", "quantitative")],
        },
    }
    layers = [bars]
    marks = [(float(outputs[key]), words[language], colour) for key, words, colour in MEMORY_MARKS if key in outputs]
    longest = max((at for at, _, _ in marks), default=0.0)
    for at, words, colour in marks:
        align = "left" if 2 * at < longest else "right"
        layers += _marked_x(at, f"{words} {at:,} GiB", colour=colour, at_top=colour == MARK, align=align)
    spoken = "；" if language == "zh" else "; "
    told = spoken.join(f"{name} {number(size)} GiB" for name, (_, size) in zip(names, parts, strict=True))
    return Plot(title, told, _layered(title, told, layers, MEMORY_HEIGHT))


def memory_parts(outcome: Outcome) -> list[tuple[str, Decimal]]:
    """(part, GiB on one GPU) as the calculator gives them, at the low end of the overhead; empty parts left out."""
    sizes = ((str(row["part"]), Decimal(row["per_gpu_gib"])) for row in outcome.result.rows)
    return [(part, size) for part, size in sizes if size > 0]


def _break_even(outcome: Outcome, language: Language) -> Plot:
    """Both costs month by month as the calculator's own series has them, and the month from which owning is cheaper."""
    months = [row for row in outcome.result.rows if row.get("part") == "month"]
    outputs = outcome.result.outputs
    money = currency_words(str(outputs["currency"]))[language]
    series = {"own": Bilingual(zh="自购", en="own"), "rent": Bilingual(zh="租用", en="rent")}
    data = [
        {"month": int(row["month"]), "cost": float(row[key]), "way": words[language]}
        for key, words in series.items()
        for row in months
    ]
    cost = Bilingual(zh=f"累计费用（{money}）", en=f"Cost so far ({money})")[language]
    month = Bilingual(zh="月份", en="Month")[language]
    lines: Spec = {
        "data": {"values": data},
        "mark": {"type": "line", "strokeWidth": 3, "fill": None},
        "encoding": {
            "x": {"field": "month", "type": "quantitative", "title": month, "axis": {"tickMinStep": 1}},
            "y": {"field": "cost", "type": "quantitative", "title": cost, "axis": {"format": ",.0f"}},
            "color": _series("way", [words[language] for words in series.values()], (OWN, RENT), as_lines=True),
            "tooltip": [
                _tip("way", ""),
                _tip("month", month, "quantitative"),
                _tip("cost", cost, "quantitative", ",.2f"),
            ],
        },
    }
    layers, even = [lines], outputs["break_even_months"]
    told = Bilingual(zh="期限内租用始终更便宜", en="renting stays cheaper for ever")
    if isinstance(even, Decimal | int):
        told = Bilingual(zh=f"第 {number(Decimal(even))} 个月回本", en=f"break-even at month {number(Decimal(even))}")
        if even <= Decimal(months[-1]["month"]):
            layers += _marked_x(
                float(even), told[language], field="month", align="left" if 2 * even < len(months) else "right"
            )
    title = Bilingual(zh="自购与租用的累计费用", en="Owning and renting over time")[language]
    return Plot(title, told[language], _layered(title, told[language], layers, HEIGHT))


def _front(outcome: Outcome, language: Language) -> Plot | None:
    """What each GPU that meets the need costs against its speed, or its headroom where no speed is given."""
    ranked = [row for row in outcome.result.rows if row.get("part") == "ranked"]
    if not ranked:
        return None
    key = "tokens_per_second" if any("tokens_per_second" in row for row in ranked) else "headroom_gib"
    on_front, other = (Bilingual(zh="帕累托前沿", en="Pareto front"), Bilingual(zh="其他", en="other"))
    data: list[dict[str, Any]] = [
        {"gpu": f"{row['gpu']} × {row['gpus']}", "cost": float(row["cost"]), "figure": float(row[key]),
         "kind": (on_front if row["pareto"] == "yes" else other)[language]}
        for row in ranked if key in row
    ]  # fmt: skip
    money = currency_words(str(ranked[0]["currency"]))[language]
    cost = Bilingual(zh=f"费用（{money}）", en=f"Cost ({money})")[language]
    figure = output_label(key)[language]
    across = {"field": "cost", "type": "quantitative", "title": cost, "scale": {"zero": False, "padding": 30}}
    up = {"field": "figure", "type": "quantitative", "title": figure, "scale": {"zero": False, "padding": 24}}
    points: Spec = {
        "data": {"values": data},
        "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "stroke": None},
        "encoding": {
            "x": across, "y": up, "color": _series("kind", [on_front[language], other[language]], (OWN, SUBDUED)),
            "tooltip": [_tip("gpu", "GPU"), _tip("cost", cost, "quantitative"), _tip("figure", figure, "quantitative")],
        },
    }  # fmt: skip
    layers, costs = [points], [entry["cost"] for entry in data]
    middle = (min(costs) + max(costs)) / 2
    # A name stands towards the middle of the chart, or it would be cut off at the edge; those of the front above.
    for align, kind in ((align, kind) for align in ("left", "right") for kind in (on_front[language], other[language])):
        named = [e for e in data if e["kind"] == kind and (e["cost"] <= middle) == (align == "left")]
        layers.append(_names(named, align, -10 if kind == on_front[language] else 11, points))
    if any(entry["kind"] == on_front[language] for entry in data):
        layers.insert(0, _front_line([entry for entry in data if entry["kind"] == on_front[language]], across, up))
    title = Bilingual(zh="费用与性能", en="Cost against performance")[language]
    told = Bilingual(
        zh=f"帕累托前沿：{outcome.result.outputs['pareto']}", en=f"Pareto front: {outcome.result.outputs['pareto']}"
    )
    return Plot(title, told[language], _layered(title, told[language], layers, HEIGHT))


def _names(entries: Sequence[Row], align: str, dy: int, points: Spec) -> Spec:
    where = points["encoding"]
    return {
        "data": {"values": list(entries)},
        "mark": {
            "type": "text",
            "align": align,
            "dx": 7 if align == "left" else -7,
            "dy": dy,
            "fontSize": 11,
            "stroke": None,
        },
        "encoding": {"x": where["x"], "y": where["y"], "text": {"field": "gpu"}, "color": where["color"]},
    }


def _front_line(front: Sequence[Row], across: Spec, up: Spec) -> Spec:
    return {
        "data": {"values": list(front)},
        "mark": {"type": "line", "stroke": OWN, "strokeDash": [5, 4], "strokeWidth": 2, "fill": None},
        "encoding": {"x": across, "y": up, "order": {"field": "cost", "type": "quantitative"}},
    }


def _bars(outcome: Outcome, language: Language) -> Plot | None:
    """One bar a row: the price per hour of each offer, or the depreciation of each year."""
    of_offers = outcome.calculator == "rental_comparison"
    rows = outcome.result.rows
    if len(rows) < 2:
        return None
    key = "per_hour" if of_offers else "depreciation"
    names = [" ".join(filter(None, (str(r["provider"]), str(r["gpu"])))) or f"{place}." if of_offers else str(r["year"])
             for place, r in enumerate(rows, start=1)]  # fmt: skip
    title = (
        Bilingual(zh="每小时费用", en="Cost per hour")
        if of_offers
        else Bilingual(zh="每年折旧", en="Depreciation per year")
    )
    unit = currency_words(str(rows[0].get("currency", "")))[language]
    value_title = f"{title[language]}（{unit}）" if language == "zh" else f"{title[language]} ({unit})"
    axis = value_title if unit else title[language]
    data = [{"name": name, "amount": float(row[key])} for name, row in zip(names, rows, strict=True)]
    bars: Spec = {
        "data": {"values": data},
        "mark": {"type": "bar", "fill": OWN, "stroke": None},
        "encoding": {
            "y": {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 150}},
            "x": {"field": "amount", "type": "quantitative", "title": axis, "axis": {"tickCount": 5}},
            "tooltip": [_tip("name", ""), _tip("amount", axis, "quantitative")],
        },
    }
    told = "; ".join(f"{entry['name']} {number(Decimal(str(entry['amount'])))}" for entry in data)
    return Plot(title[language], told, _layered(title[language], told, [bars], 90 + 34 * min(len(rows), 20)))


def _marked_x(
    place: float, name: str, *, field: str = "gib", colour: str = MARK, at_top: bool = True, align: str = "right"
) -> list[Spec]:
    """A dashed line across the chart at `place`, named above or below it."""
    at: Spec = {"field": field, "type": "quantitative"}
    values = {"values": [{field: place, "name": name}]}
    rule = {"type": "rule", "stroke": colour, "strokeDash": [6, 4], "strokeWidth": 2, "fill": None}
    words: Spec = {
        "type": "text",
        "align": align,
        "dx": -5 if align == "right" else 5,
        "fill": colour,
        "stroke": None,
        "fontWeight": "bold",
    }
    words |= {"y": 2, "baseline": "top"} if at_top else {"y": {"expr": "height - 2"}, "baseline": "bottom"}
    return [
        {"data": values, "mark": rule, "encoding": {"x": at}},
        {"data": values, "mark": words, "encoding": {"x": at, "text": {"field": "name"}}},
    ]


def _series(field: str, names: Sequence[str], colours: Sequence[str], *, as_lines: bool = False) -> Spec:
    """Colour by series, the names in a legend below."""
    filled = {"symbolType": "square", "symbolStrokeWidth": 0}
    symbol = {"symbolType": "stroke", "symbolStrokeWidth": 3} if as_lines else filled
    return {
        "field": field,
        "type": "nominal",
        "title": None,
        "sort": list(names),
        "scale": {"domain": list(names), "range": list(colours[: len(names)])},
        "legend": {"orient": "bottom", "columns": 3, "labelLimit": 220, **symbol},
    }


def _tip(field: str, title: str, kind: str = "nominal", shape: str = "") -> Spec:
    return {"field": field, "type": kind, "title": title or field, **({"format": shape} if shape else {})}


def _layered(title: str, spoken: str, layers: Sequence[Spec], height: int) -> Spec:
    return {
        "$schema": VEGA_LITE, "title": title, "description": spoken, "height": height, "encoding": {}, "layer": list(layers),
        "background": None,
    }  # fmt: skip
