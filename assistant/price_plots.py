"""The data of the three plots: cheapest price per provider, dated prices over time, price against memory or bandwidth.

A plot holds one currency: the one chosen to convert to, at a rate that is said, or that of most rows, with what was
left out said. Rows are whole cards, on demand unless the filter names pricing models. A plot without points says why.

Errors: SnapshotBrokenError (the imported prices cannot be read).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Literal

from assistant.evidence import Bilingual, Language
from assistant.listing import Conversion
from assistant.price_conversion import converted
from assistant.price_filters import PriceFilter
from assistant.price_view import card_memory, conversion_of
from assistant.price_words import pricing_model
from knowledge.catalog import Offer, load_catalog
from knowledge.names import display
from knowledge.offer_store import first_day
from knowledge.offers import Group

Against = Literal["memory", "bandwidth"]
MOST_GPUS = 4  # shown where the reader chose none
MOST_BARS = 40
MOST_SERIES = 9  # the palette has ten colours, one of them for the others
MOST_POINTS = 2_000
PRICE = Bilingual(zh="每卡每小时价格（{currency}）", en="Price per GPU-hour ({currency})")
OTHERS = Bilingual(zh="其他", en="others")


@dataclass(frozen=True)
class Point:
    """One mark: where it stands, what it costs per GPU-hour, its series, and what it is (for the tooltip)."""

    x: str | date | Decimal
    price: Decimal
    series: str
    label: str


@dataclass(frozen=True)
class PlotData:
    """The points with the titles of the axes; `said` are sentences on what the plot stands on and leaves out."""

    points: tuple[Point, ...]
    x_title: str
    y_title: str
    series_title: str
    said: tuple[str, ...]


def by_provider(wanted: PriceFilter, language: Language) -> PlotData:
    """The cheapest row of each provider for each of the GPUs, cheapest first."""
    narrowed, said = _few_gpus(wanted, language)
    offers, more, currency = _priced(narrowed, ("provider", "gpu"), language)
    offers.sort(key=lambda pair: pair[1])
    if len(offers) > MOST_BARS:
        more.append(_say(language, f"只画最便宜的 {MOST_BARS} 个，共 {len(offers)} 个。", f"Only the {MOST_BARS} cheapest of {len(offers)} are drawn."))  # fmt: skip
    several = len({offer.gpu for offer, _ in offers}) > 1
    points = tuple(
        Point(_bar(offer, several, language), price, display("gpu", offer.gpu, language), _label(offer, language))
        for offer, price in offers[:MOST_BARS]
    )
    x_title = _say(language, "云厂商", "Provider") + (" · GPU" if several else "")
    return _plot(points, (*said, *more), (x_title, currency, "GPU"), language)


def over_time(wanted: PriceFilter, language: Language) -> PlotData:
    """The cheapest dated row of each provider, GPU and date."""
    narrowed, said = _few_gpus(wanted, language)
    dated = replace(narrowed, undated=False)
    offers, more, currency = _priced(dated, ("provider", "gpu", "as_of"), language)
    common = {key for key, _ in Counter(offer.provider for offer, _ in offers).most_common(MOST_SERIES)}
    if len({offer.provider for offer, _ in offers}) > MOST_SERIES:
        more.append(_say(language, f"行数最多的 {MOST_SERIES} 家各有一种颜色，其余归为“其他”。", f'The {MOST_SERIES} providers with most rows have a colour each; the rest are "others".'))  # fmt: skip
    points = [
        Point(day, price, _series(offer, common, language), _label(offer, language))
        for offer, price in offers
        if (day := first_day(offer.as_of))
    ]
    points.sort(key=lambda point: (str(point.x), point.price))
    if not points:
        said = (*said, _say(language, "没有注明日期的行，画不出历史。", "No row with a date is among them, so there is no history to draw."))  # fmt: skip
    titles = (_say(language, "价格日期（月份或季度按其首日）", "Price date (of a month or quarter: its first day)"), currency)  # fmt: skip
    return _plot(tuple(points), (*said, *more), (*titles, _say(language, "云厂商", "Provider")), language)


def against(wanted: PriceFilter, what: Against, language: Language) -> PlotData:
    """The cheapest row of each provider and exact card, against the card's memory or bandwidth."""
    offers, said, currency = _priced(wanted, ("provider", "gpu_form"), language)
    points, unknown = list[Point](), 0
    for offer, price in offers:
        spec = _memory(offer) if what == "memory" else _bandwidth(offer)
        gpu = load_catalog().gpu(offer.gpu_form) if offer.gpu_form else None
        if spec is None or gpu is None:
            unknown += 1
        else:
            points.append(Point(spec, price, gpu.architecture or gpu.vendor, _label(offer, language)))
    if unknown:
        said.append(_say(language, f"{unknown} 行没有写明是哪一款卡，或该项规格未知或有争议，没有画。", f"{unknown} rows do not say which exact card they are, or that figure is unknown or disputed; they are not drawn."))  # fmt: skip
    x_title = (
        _say(language, "显存（GB/卡）", "GPU memory (GB per card)")
        if what == "memory"
        else _say(language, "显存带宽（GB/s）", "Memory bandwidth (GB/s)")
    )
    points = _few_series(points, language)
    points.sort(key=lambda point: (point.series, str(point.x), point.price))
    return _plot(tuple(points), tuple(said), (x_title, currency, _say(language, "架构", "Architecture")), language)


def _plot(
    points: tuple[Point, ...], said: Sequence[str], titles: tuple[str, str, str], language: Language
) -> PlotData:  # fmt: skip
    x_title, currency, series = titles
    if not points:
        said = (*said, _say(language, "没有可以画的价格行；请放宽上面的筛选。", "There is no price row to draw; widen the filters above."))  # fmt: skip
    return PlotData(points, x_title, PRICE[language].format(currency=currency), series, tuple(said))


def _few_gpus(wanted: PriceFilter, language: Language) -> tuple[PriceFilter, tuple[str, ...]]:
    """The filter, where it names no GPU with those that have most rows."""
    if wanted.gpus:
        return wanted, ()
    found = load_catalog().offers.cheapest(_on_demand(wanted).offer_filter(), ("provider", "gpu"))
    most = [gpu for gpu, _ in Counter(offer.gpu for offer in found).most_common(MOST_GPUS)]
    if not most:
        return wanted, ()
    names = ("、" if language == "zh" else ", ").join(display("gpu", gpu, language) for gpu in most)
    said = _say(language, f"没有选 GPU，画的是报价厂商最多的：{names}。", f"No GPU is chosen; drawn are those that most providers price: {names}.")  # fmt: skip
    return replace(wanted, gpus=tuple(most)), (said,)


def _on_demand(wanted: PriceFilter) -> PriceFilter:
    return replace(wanted, slices=False, pricing_models=wanted.pricing_models or ("on-demand",))


def _priced(
    wanted: PriceFilter, each: tuple[Group, ...], language: Language
) -> tuple[list[tuple[Offer, Decimal]], list[str], str]:
    """Per group the cheapest row with its price in one currency, sentences on that, and the currency."""
    shown = _on_demand(wanted)
    models = ("、" if language == "zh" else ", ").join(pricing_model(key, language) for key in shown.pricing_models)
    said = [_say(language, f"整卡，计费方式：{models}；每组取最便宜的一行。", f"Whole cards, pricing model: {models}; of each group the cheapest row.")]  # fmt: skip
    found, conversion = load_catalog().offers.cheapest(shown.offer_filter(), each), conversion_of(wanted)
    if conversion:
        said.append(_say(language, f"全部按{conversion.zh}换算成 {conversion.currency}。", f"All are converted to {conversion.currency} at {conversion.en}."))  # fmt: skip
        return _cheapest_converted(found, each, conversion), said, conversion.currency
    counts = Counter(offer.currency for offer in found)
    currency = counts.most_common(1)[0][0] if counts else "USD"
    if others := sum(counts.values()) - counts[currency]:
        said.append(_say(language, f"只画 {currency} 的行；另有 {others} 个其他币种的价格没有画（选“同时换算成”可一起画）。", f'Only rows in {currency} are drawn; {others} prices in other currencies are not (choose "also show in" to draw all).'))  # fmt: skip
    kept = [(offer, offer.price_per_gpu_hour) for offer in found if offer.currency == currency]
    return kept[:MOST_POINTS], said, currency


def _cheapest_converted(
    found: Sequence[Offer], each: tuple[Group, ...], conversion: Conversion
) -> list[tuple[Offer, Decimal]]:
    """Of the cheapest rows of each currency the cheapest per group, by converted price."""
    best: dict[tuple[object, ...], tuple[Offer, Decimal]] = {}
    for offer in found:
        price = converted(offer.price_per_gpu_hour, offer.currency, conversion)
        key = tuple(getattr(offer, column) for column in each)
        if price is not None and (key not in best or price < best[key][1]):
            best[key] = (offer, price)
    return list(best.values())[:MOST_POINTS]


def _memory(offer: Offer) -> Decimal | None:
    memory = card_memory(offer)
    return memory[0] if memory and memory[1] == "GB" else None


def _bandwidth(offer: Offer) -> Decimal | None:
    gpu = load_catalog().gpu(offer.gpu_form) if offer.gpu_form else None
    figure = gpu.bandwidth_gb_per_s if gpu else None
    return figure.low if figure and not figure.disputed else None


def _few_series(points: list[Point], language: Language) -> list[Point]:
    """The points, those of the rarest series as others, so that no two series have one colour."""
    counts = Counter(point.series for point in points)
    if len(counts) <= MOST_SERIES + 1:
        return points
    common = {name for name, _ in counts.most_common(MOST_SERIES)}
    return [point if point.series in common else replace(point, series=OTHERS[language]) for point in points]


def _series(offer: Offer, common: set[str], language: Language) -> str:
    return display("provider", offer.provider, language) if offer.provider in common else OTHERS[language]


def _bar(offer: Offer, several: bool, language: Language) -> str:
    provider = display("provider", offer.provider, language)
    return f"{provider} · {display('gpu', offer.gpu, language)}" if several else provider


def _label(offer: Offer, language: Language) -> str:
    when = offer.as_of or _say(language, "未注明日期", "undated")
    card = offer.gpu_form or display("gpu", offer.gpu, language)
    return f"{display('provider', offer.provider, language)} · {card} · {when}"


def _say(language: Language, zh: str, en: str) -> str:
    return zh if language == "zh" else en
