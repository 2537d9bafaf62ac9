"""The chart of a price comparison as a PNG: horizontal bars of one currency, the cheapest highlighted, each with its date.

It draws amounts that are computed already, with the font beside it, so Chinese renders on a machine without fonts; what
it does not draw is said below the bars. It posts nothing and touches no global state of matplotlib.
"""

from __future__ import annotations

import io
import textwrap
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from assistant import render
from assistant.board_words import Bar
from assistant.calculator.calculation import number
from assistant.evidence import Language

if TYPE_CHECKING:  # matplotlib takes half a second to import: only when a chart is drawn
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

FONT = Path(__file__).parent / "fonts" / "NotoSansSC-Regular-subset.ttf"
FEWEST_BARS = 4
MOST_BARS = 20
DOTS_PER_INCH = 150
WIDTH, ROW, TOP, LINE, MARGIN = 8.0, 0.34, 0.92, 0.21, 0.16  # inches; 1,200 px wide, which Slack shows at about 800
WIDEST_LABEL, VALUES, DATES = 3.3, 1.75, 0.95  # inches: names left of the bars, prices behind them, dates at the right
LABEL_SIZE, TITLE_SIZE, NOTE_SIZE = 10.5, 14.0, 9.0  # points
COLOURS = 64  # five, and what lies between them at the edges of letters
INK, GREY, BAR, CHEAPEST = "#1d1c1d", "#616061", "#9db8d9", "#1f7a4d"
DRAWING = Lock()  # matplotlib does not promise that two threads may draw at once


def price_chart(bars: Sequence[Bar], language: Language, title: str) -> bytes | None:
    """A PNG of at most 20 bars of the currency that most bars have; None for fewer than four bars, or one to draw."""
    currency = Counter(bar.currency for bar in bars).most_common(1)[0][0] if bars else ""
    same = [bar for bar in bars if bar.currency == currency]
    if len(bars) < FEWEST_BARS or len(same) < 2:
        return None
    notes = _notes(bars, same, language)
    with DRAWING:
        return _png(same[:MOST_BARS], notes, language, title)


def drawable(text: str) -> str:
    """The text in one line, without the characters that the font has no glyph for: they would be drawn as boxes."""
    known = _characters()
    return " ".join("".join(c if ord(c) in known else " " for c in text).split())


@cache
def _characters() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(FONT)).get_charmap())


def _png(bars: Sequence[Bar], notes: Sequence[str], language: Language, title: str) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = [line for note in notes for line in _wrapped(drawable(note), WIDTH - 2 * MARGIN, NOTE_SIZE)]
    bottom = MARGIN + LINE * len(lines) + (0.08 if lines else 0)
    height = TOP + ROW * len(bars) + bottom
    figure = Figure(figsize=(WIDTH, height), dpi=DOTS_PER_INCH, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    _head(figure, height, bars[0], language, title)
    for place, line in enumerate(reversed(lines)):
        _write(figure, MARGIN, MARGIN + LINE * place, line, NOTE_SIZE, GREY)
    _bars(figure, height, bottom, bars, language)
    canvas.draw()  # type: ignore[no-untyped-call]
    return _small_png(canvas)


def _small_png(canvas: FigureCanvasAgg) -> bytes:
    """The drawing with a palette of its own: a third of the bytes, and no difference to the eye."""
    from PIL import Image

    pixels = canvas.buffer_rgba()  # type: ignore[no-untyped-call]
    drawn = Image.frombuffer("RGBA", canvas.get_width_height(), pixels, "raw", "RGBA", 0, 1)
    with io.BytesIO() as file:
        drawn.convert("RGB").quantize(COLOURS).save(file, "PNG", optimize=True)
        return file.getvalue()


def _head(figure: Figure, height: float, first: Bar, language: Language, title: str) -> None:
    """The title, and what a bar is."""
    unit = f"{render.unit(first.currency, language)}/{render.period_name(first.per, language)}"
    what = render.say(language, f"每张 GPU 的租用价格（{unit}）", f"Rental price per GPU ({unit})")
    dates = render.say(language, "价格日期", "As of")
    _write(figure, MARGIN, height - 0.36, _cut(drawable(title), WIDTH - 2 * MARGIN, TITLE_SIZE), TITLE_SIZE, INK)
    _write(figure, MARGIN, height - 0.66, what, NOTE_SIZE + 1, GREY)
    _write(figure, WIDTH - MARGIN, height - 0.66, dates, NOTE_SIZE, GREY, align="right")


def _bars(figure: Figure, height: float, bottom: float, bars: Sequence[Bar], language: Language) -> None:
    labels = [_label(bar) for bar in bars]
    left = MARGIN + max(_inches(label, LABEL_SIZE) for label in labels) + 0.12
    room = WIDTH - left - VALUES - DATES - MARGIN
    axes: Axes = figure.add_axes((left / WIDTH, bottom / height, room / WIDTH, ROW * len(bars) / height))
    axes.set_axis_off()
    values = [float(bar.value) for bar in bars]  # lengths on paper; the figures printed are the Decimals
    axes.set_xlim(0, max(values))
    axes.set_ylim(len(bars) - 0.5, -0.5)
    axes.barh(range(len(bars)), values, height=0.62, color=[CHEAPEST if bar.cheapest else BAR for bar in bars])
    for place, (bar, label, value) in enumerate(zip(bars, labels, values, strict=True)):
        middle = bottom + ROW * (len(bars) - place - 0.5)
        colour = CHEAPEST if bar.cheapest else INK
        _write(figure, left - 0.1, middle, label, LABEL_SIZE, colour, align="right", middle=True)
        at = left + room * value / max(values) + 0.08
        _write(figure, at, middle, _value(bar, language), LABEL_SIZE, colour, middle=True)
        as_of = drawable(bar.as_of) or render.say(language, "未注明日期", "not dated")
        _write(figure, WIDTH - MARGIN, middle, as_of, NOTE_SIZE, GREY, align="right", middle=True)


def _label(bar: Bar) -> str:
    """Who and which card; a long name of the provider is cut before that of the card."""
    card = _cut(drawable(bar.gpu), WIDEST_LABEL * 0.65, LABEL_SIZE)
    return f"{_cut(drawable(bar.label), WIDEST_LABEL - _inches(card, LABEL_SIZE), LABEL_SIZE)} {card}"


def _value(bar: Bar, language: Language) -> str:
    price = f"{number(bar.value)} {render.unit(bar.currency, language)}"
    return price + render.say(language, "（最低）", " (cheapest)") if bar.cheapest else price


def _notes(bars: Sequence[Bar], same: Sequence[Bar], language: Language) -> list[str]:
    """How the amounts came about (rate, hours, slices), and what is not drawn."""
    notes = list(dict.fromkeys(sentence for bar in same[:MOST_BARS] for sentence in bar.said))
    if len(same) > MOST_BARS:
        notes.append(render.say(language, f"{len(same)} 行里只画最前的 {MOST_BARS} 行。", f"Only the first {MOST_BARS} of {len(same)} rows are drawn."))  # fmt: skip
    others = Counter(bar.currency for bar in bars if bar.currency != same[0].currency)
    if others:
        counts = render.joined((_rows(count, code, language) for code, count in others.items()), language)
        notes.append(render.say(language, f"没有画的：{counts}，不同币种不在一张图里比较。", f"Not drawn: {counts}; currencies are not compared in one chart."))  # fmt: skip
    return notes


def _rows(count: int, currency: str, language: Language) -> str:
    return render.say(language, f"以{render.unit(currency, 'zh')}计价的 {count} 行", f"{count} row{'s' * (count > 1)} in {currency}")  # fmt: skip


def _write(
    figure: Figure, x: float, y: float, text: str, size: float, colour: str, *, align: str = "left", middle: bool = False
) -> None:  # fmt: skip
    """Text at inches from the lower left corner; never read as a formula, whatever signs it has."""
    from matplotlib.font_manager import FontProperties

    width, height = figure.get_size_inches()
    figure.text(
        x / width, y / height, text, fontproperties=FontProperties(fname=FONT, size=size), color=colour,
        ha=align, va="center_baseline" if middle else "baseline", parse_math=False,
    )  # fmt: skip


def _inches(text: str, size: float) -> float:
    """How wide the text is drawn, a little on the wide side: a full-width character is one em, a Latin one at most 0.62."""
    return sum(1.0 if ord(c) > 0x2E80 else 0.62 if c.isupper() or c.isdigit() else 0.55 for c in text) * size / 72


def _cut(text: str, inches: float, size: float) -> str:
    if _inches(text, size) <= inches:
        return text
    while text and _inches(text + "…", size) > inches:
        text = text[:-1]
    return text + "…"


def _wrapped(text: str, inches: float, size: float) -> list[str]:
    full_width = sum(ord(c) > 0x2E80 for c in text) > len(text) / 3
    return textwrap.wrap(text, max(1, int(inches * 72 / size / (1.0 if full_width else 0.55))))
