"""Plots of a run as SVG text for one HTML page. All labels are ASCII, so no Chinese font is needed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from evals.summary import Latency, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OURS, OTHER, BASELINE = "#1f6f8b", "#8fbcc9", "#c4693d"
INK, GRID = "#333333", "#dddddd"
BAR = 0.36


def accuracy_by_category(lines: Sequence[Row]) -> str:
    """Bars of our accuracy and the baseline's for each row, in percent."""
    figure, axes = _figure(height=0.9 + 0.36 * len(lines))
    with_baseline = any(line.baseline[2].whole for line in lines)
    for i, line in enumerate(reversed(lines)):
        _bar(axes, i + (BAR / 2 if with_baseline else 0), line.ours[2].percent, OURS, str(line.ours[2]))
        if with_baseline:
            _bar(axes, i - BAR / 2, line.baseline[2].percent, BASELINE, str(line.baseline[2]))
    _legend(axes, [("gpu-advisor", OURS), *([("baseline", BASELINE)] if with_baseline else [])])
    return _percent_axes(figure, axes, [line.name for line in reversed(lines)])


def accuracy_by_language(lines: Sequence[Row]) -> str:
    """Bars of our accuracy in Chinese and in English for each row, in percent."""
    figure, axes = _figure(height=0.9 + 0.36 * len(lines))
    for i, line in enumerate(reversed(lines)):
        _bar(axes, i + BAR / 2, line.ours[0].percent, OURS, str(line.ours[0]))
        _bar(axes, i - BAR / 2, line.ours[1].percent, OTHER, str(line.ours[1]))
    _legend(axes, [("Chinese", OURS), ("English", OTHER)])
    return _percent_axes(figure, axes, [line.name for line in reversed(lines)])


def latency_distribution(stages: dict[str, Latency]) -> str:
    """The share of questions answered within a time, one curve a stage, on a logarithmic axis of milliseconds."""
    figure, axes = _figure(height=3.4)
    for colour, (stage, latency) in zip((OURS, BASELINE, OTHER), stages.items(), strict=False):
        times = [max(value, 0.1) for value in latency.milliseconds]
        if times:
            axes.step(
                times, [100 * (i + 1) / len(times) for i in range(len(times))], where="post", label=stage, color=colour
            )
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds")
    axes.set_ylabel("% of questions")
    axes.set_ylim(0, 102)
    axes.grid(color=GRID, linewidth=0.6)
    if axes.get_legend_handles_labels()[1]:
        axes.legend(frameon=False, loc="lower right")
    return _svg(figure)


def _figure(height: float):  # type: ignore[no-untyped-def]  # matplotlib's Axes methods are untyped
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.2, height), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def _bar(axes, at: float, percent: float | None, colour: str, label: str) -> None:  # type: ignore[no-untyped-def]
    if percent is None:
        return
    axes.barh(at, percent, height=BAR, color=colour)
    axes.text(percent + 1, at, label, va="center", fontsize=7.5, color=INK)


def _legend(axes, entries: Sequence[tuple[str, str]]) -> None:  # type: ignore[no-untyped-def]
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in entries]
    axes.legend(
        handles=handles, frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncols=len(entries), fontsize=8.5
    )


def _percent_axes(figure: Figure, axes, names: Sequence[str]) -> str:  # type: ignore[no-untyped-def]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.set_xlim(0, 125)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel("% right")
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    return _svg(figure)


def _svg(figure: Figure) -> str:
    """The figure as an <svg> element; text stays text, and no date or random name makes two runs differ."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "evals", "font.family": "sans-serif"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
