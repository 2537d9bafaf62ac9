"""The chart of a price comparison: drawn on a bare machine, in Chinese, in several threads, small enough for Slack."""

from __future__ import annotations

import io
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal

import pytest
from PIL import Image

from assistant.board_words import Bar
from assistant.evidence import Language
from assistant.price_tables import PRICING_MODELS
from assistant.slack.charts import FONT, drawable, price_chart
from knowledge.catalog import load_catalog
from knowledge.names import all_names

pytestmark = pytest.mark.filterwarnings("error")  # a missing glyph is a warning of matplotlib
KILOBYTE = 1000


def bars(count: int, currency: str = "CNY") -> tuple[Bar, ...]:
    return tuple(Bar("腾讯云", "A100 SXM4 80GB", Decimal("28.64") + n, currency, "2026-05-24" if n % 2 else "", n == 0) for n in range(count))  # fmt: skip


def size_of(png: bytes | None) -> tuple[int, int]:
    assert png
    return Image.open(io.BytesIO(png)).size


@pytest.mark.parametrize("language", ["zh", "en"])
def test_four_rows_make_a_picture_of_slacks_width(language: Language) -> None:
    width, height = size_of(price_chart(bars(4), language, "A100 的价格 / prices"))
    assert (width, 200 < height < width) == (1200, True)


def test_fewer_than_four_rows_and_one_row_of_each_currency_are_no_chart() -> None:
    apart = tuple(bar for code in ("CNY", "USD", "EUR", "JPY") for bar in bars(1, code))
    assert [price_chart(few, "zh", "x") for few in (bars(3), (), apart)] == [None, None, None]


def test_no_more_than_twenty_bars_are_drawn_and_the_file_stays_below_200_kb() -> None:
    picture = price_chart(bars(90), "en", "很长的标题 " * 60)
    assert picture
    assert len(picture) < 200 * KILOBYTE
    one_line_of_notes = size_of(price_chart(bars(20) + bars(1, "USD"), "en", "x"))
    assert size_of(picture) == one_line_of_notes


def test_rows_in_another_currency_are_said_not_drawn() -> None:
    alone, beside = size_of(price_chart(bars(5), "zh", "x")), size_of(price_chart(bars(5) + bars(4, "USD"), "zh", "x"))
    assert 0 < beside[1] - alone[1] < 60  # a line of text, not a bar more


def test_the_rate_of_converted_bars_stands_below_them_once() -> None:
    plain = bars(4)
    converted = tuple(
        replace(bar, said=("按 2024 年平均汇率 1 USD = 7.189 CNY（不是当日汇率）折算成人民币。",)) for bar in plain
    )
    one_line = size_of(price_chart(converted, "zh", "x"))[1] - size_of(price_chart(plain, "zh", "x"))[1]
    assert 0 < one_line < 60


def test_the_cheapest_bar_has_a_colour_of_its_own() -> None:
    def green(all_bars: tuple[Bar, ...]) -> bool:
        picture = price_chart(all_bars, "en", "x")
        assert picture
        colours = Image.open(io.BytesIO(picture)).convert("RGB").getcolors(10**6) or []
        return any(
            abs(r - 0x1F) < 9 and abs(g - 0x7A) < 9 and abs(b - 0x4D) < 9 and n > 300 for n, (r, g, b) in colours
        )

    assert green(bars(5))
    assert not green(bars(6)[1:])


@pytest.mark.parametrize("title", ["$x^2$ costs \\frac{", "😀 𠮷 السعر", "", "a\nb\tc\x00", "<!channel>"])
def test_no_title_is_a_formula_or_draws_a_box(title: str) -> None:
    assert price_chart(bars(4), "zh", title)


def test_a_row_of_any_price_and_any_name_is_drawn() -> None:
    odd = tuple(Bar("😀" * 5 + "x" * 300, "", Decimal(price), "USD", "2023-Q3", False) for price in ("4E-7", "1E12", "1", "2"))  # fmt: skip
    assert price_chart(odd, "en", "x")


def test_every_name_and_word_of_a_chart_has_its_glyphs() -> None:
    catalog = load_catalog()
    names = [text for name in all_names() if name.kind in ("gpu", "provider") for text in (name.zh, name.en)]
    names += [gpu.name for gpu in catalog.gpus] + [word for pair in PRICING_MODELS.values() for word in pair]
    names += [
        "每张 GPU 的租用价格（日元/小时）欧元英镑美元月天未注明日期最低，切片：没有画的以计价行里只不同币种一图比较。…✓≈"
    ]
    lacking = {text for text in names if drawable(text) != " ".join(text.split())}
    assert not lacking


def test_eight_threads_draw_the_same_picture_as_one() -> None:
    titles = [f"A100 比价 {n}" for n in range(4)]
    single = [price_chart(bars(4), "zh", title) for title in titles]
    with ThreadPoolExecutor(8) as threads:
        many = list(threads.map(lambda title: price_chart(bars(4), "zh", title), titles * 2))
    assert many == single * 2
    assert len({picture for picture in single if picture}) == 4


def test_pyplot_and_its_global_state_are_left_alone() -> None:
    import matplotlib

    before, loaded = dict(matplotlib.rcParams), "matplotlib.pyplot" in sys.modules
    assert price_chart(bars(4), "zh", "x")
    assert dict(matplotlib.rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == loaded


def test_the_font_comes_with_its_licence_and_claims_no_reserved_name() -> None:
    from matplotlib.ft2font import FT2Font

    licence = (FONT.parent / "OFL.txt").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in licence
    assert "Source" not in FT2Font(str(FONT)).family_name
    assert FONT.stat().st_size < 2_500_000


def test_drawable_keeps_what_the_font_has() -> None:
    kept = "腾讯云 A100（80 GB）— 28.64 元/小时"
    assert drawable(kept) == kept
    assert drawable("a😀b") == "a b"
