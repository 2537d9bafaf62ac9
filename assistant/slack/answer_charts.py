"""The chart that belongs to an answer in a view: of its price rows, where there are enough of them.

It draws through charts.py and posts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assistant.evidence import Answer, Bilingual
from assistant.price_board import board_of
from assistant.slack.charts import price_chart
from assistant.slack.view import ChannelSettings, View

TITLE = Bilingual(zh="租用价格对比", en="Rental prices compared")


@dataclass(frozen=True)
class Chart:
    """A PNG with its title, and the words for who cannot see it."""

    png: bytes = field(repr=False)
    title: str
    alt: str


def chart_of(answer: Answer, view: View, settings: ChannelSettings) -> Chart | None:
    """The chart of a comparison; None for an answer without one, or with too few rows."""
    board = board_of(answer)
    if board is None:
        return None
    language = settings.language or answer.language
    bars = board.bars(view.currency, view.per, view.cheapest_only, language, settings.providers)
    png = price_chart(bars, language, TITLE[language])
    return Chart(png, TITLE[language], answer.question) if png else None


def is_drawn_alike(one: View, other: View) -> bool:
    """Whether two views of an answer have the same chart."""
    return (one.currency, one.per, one.cheapest_only) == (other.currency, other.per, other.cheapest_only)
