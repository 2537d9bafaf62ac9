"""Price rows for `prices show`: names in, rows out, as a table or as JSON; what was left out and why stands below.

It converts a currency only where no row has the one asked for, at a rate that it states with its date.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from knowledge.catalog import Offer, load_catalog
from knowledge.gpu_names import gpu_forms
from knowledge.names import display, link, normalise
from knowledge.offers import OfferFilter, OfferResult, Reason, age_days, staleness

MOST_SHOWN = 200
LEFT_OUT: dict[Reason, tuple[str, str]] = {
    "slice": ("是一张卡的切片", "a slice of one card"),
    "other-form": ("是另一种形态", "another form"),
    "form-not-stated": ("未注明形态", "form not stated"),
    "too-little-memory": ("显存不够", "too little GPU memory"),
    "memory-not-known": ("显存未知", "GPU memory not known"),
    "other-region": ("在别的地域", "another region"),
    "region-not-stated": ("未注明地域", "region not stated"),
    "other-currency": ("是别的币种", "another currency"),
    "other-pricing-model": ("是别的计费方式", "another pricing model"),
    "other-period": ("是别的计费周期", "another period"),
    "other-count": ("卡数不同", "another card count"),
    "too-old": ("太旧", "too old"),
    "too-new": ("晚于所问日期", "later than asked"),
    "undated": ("未注明日期", "undated"),
    "above-price": ("高于价格上限", "above the price limit"),
}
AGES = {"fresh": ("", ""), "ageing": ("，偏旧", ", ageing"), "stale": ("，已过时", ", stale"), "undated": ("", "")}


class UnknownNameError(Exception):
    """A GPU or provider that no table has, or a rate that is none; the message names it and what there is."""


@dataclass(frozen=True)
class Conversion:
    """Units of `currency` per unit of the rows' own, and what that rate is; amounts are rounded to 4 places."""

    currency: str
    rates: dict[str, Decimal]
    zh: str
    en: str

    def amount(self, offer: Offer) -> Decimal:
        """Price per GPU-hour in `currency`."""
        return (offer.price_per_gpu_hour * self.rates[offer.currency]).quantize(Decimal("0.0001"))


@dataclass(frozen=True)
class Listing:
    """What `prices show` found; with `conversion`, no row has the currency asked for."""

    result: OfferResult
    conversion: Conversion | None = None


def find(
    gpus: Sequence[str], provider: str = "", region: str = "", currency: str = "", *, rate: Decimal | None = None,
    limit: int | None = None,
) -> Listing:  # fmt: skip
    """Rows of the named GPUs, slices and all terms included, cheapest first. Raises UnknownNameError."""
    families, forms = _gpus(gpus)
    money, offers = currency.upper(), load_catalog().offers
    wanted = OfferFilter(
        gpus=families, forms=forms, providers=(_provider(provider),) if provider else (),
        regions=(region,) if region else (), currencies=(money,) if money else (), whole_cards=False,
    )  # fmt: skip
    result = offers.query(wanted, limit)
    if result.matched or not any(left.reason == "other-currency" for left in result.left_out):
        return Listing(result)
    others = tuple(spread.currency for spread in offers.spread(OfferFilter(**{**vars(wanted), "currencies": ()})))
    conversion = _conversion(money, others, rate)
    if conversion is None:
        return Listing(result)
    shown = OfferFilter(**{**vars(wanted), "currencies": tuple(conversion.rates)})
    return Listing(offers.query(shown, limit), conversion)


def offers_table(listing: Listing, today: date) -> str:
    """One line per row; then how many rows it stands on, and what was left out. No row is never "no such offer"."""
    result, conversion = listing.result, listing.conversion
    lines = []
    if conversion:
        lines.append(
            f"没有 {conversion.currency} 的价格行；下面是其他币种的行，≈ 后按{conversion.zh}换算。"
            f" / No row is in {conversion.currency}; these rows are in other currencies, the figure after ≈ is converted at {conversion.en}."
        )
    lines += [_line(offer, conversion, today) for offer in result.offers]
    if not result.matched:
        lines.append("没有这样的价格行（不等于市场上没有）。 / No such price row (the market may still have one).")
    lines.append(_stands_on(result))
    return "\n".join(lines)


def history_table(gpus: Sequence[str], provider: str, today: date) -> str:
    """The dated rows of each named GPU, oldest first, per provider (all of them, or the one named); undated rows have no place.

    Raises UnknownNameError for a name that no table knows.
    """
    offers = load_catalog().offers
    families, _ = _gpus(gpus)
    providers = [_provider(provider)] if provider else offers.providers()
    rows = [row for family in families for one in providers for row in offers.history(family, one)]
    if not rows:
        return "没有注明日期的价格行。 / No dated price row."
    return "\n".join(_line(row, None, today) for row in rows)


def offers_json(listing: Listing, today: date) -> str:
    """The rows as a JSON list; prices are strings so that no digit is lost."""
    return json.dumps(
        [_row(offer, listing.conversion, today) for offer in listing.result.offers], ensure_ascii=False, indent=2
    )


def read_rate(text: str) -> Decimal | None:
    """The rate written; None for an empty text. Raises UnknownNameError."""
    try:
        rate = Decimal(text) if text else None
    except InvalidOperation:
        rate = Decimal(0)
    if rate is not None and not (rate.is_finite() and rate > 0):
        raise UnknownNameError(f"--rate 应是大于 0 的汇率，如 7.2 / must be a rate above 0 such as 7.2, got {text!r}")
    return rate


def source_titles(offer: Offer) -> tuple[str, str]:
    """(zh, en) title of where a row comes from; of an imported row, its file."""
    source = load_catalog().sources.get(offer.source)
    if offer.origin:
        return f"导入：{offer.origin} 第 {offer.row} 行", f"imported: {offer.origin} line {offer.row}"
    return (source.title_zh, source.title_en) if source else (offer.source, offer.source)


def _line(offer: Offer, conversion: Conversion | None, today: date) -> str:
    share = f" [{offer.gpu_fraction} 卡切片 / slice]" if offer.is_slice else ""
    memory = f" {offer.gpu_memory_gb} GB" if offer.gpu_memory_gb else ""
    host = f"{offer.cpu_cores} {offer.cpu_unit}  " if offer.cpu_cores else ""
    host += f"{offer.host_memory_gib} GiB 主机内存 / host memory  " if offer.host_memory_gib else ""
    per_gpu = f"{offer.price_per_gpu_hour.quantize(Decimal('0.0001')):f}"
    converted = f" ≈ {conversion.amount(offer):f} {conversion.currency}" if conversion else ""
    per = "/h" if offer.per == "instance-hour" else "/月 month"
    zh, en = source_titles(offer)
    return (
        f"{per_gpu:>9} {offer.currency}/GPU-h{converted}  ({offer.price} {offer.currency}{per})"
        f"  {offer.gpu_count}x {offer.gpu}{memory}{share} ({offer.gpu_form or '形态未注明 / form not stated'})"
        f"  {display('provider', offer.provider, 'zh')} / {display('provider', offer.provider, 'en')}"
        f"  {offer.instance or ''}  {offer.region or '地域未注明 / region not stated'}  {offer.pricing_model}"
        f"  {host}{_age(offer, today)}  {zh} / {en}" + (f"  [{'; '.join(offer.flags)}]" if offer.flags else "")
    )


def _age(offer: Offer, today: date) -> str:
    age = age_days(offer, today)
    if age is None:
        return "日期未注明 / undated"
    zh, en = AGES[staleness(offer, today)]
    return f"{offer.as_of}（{age} 天{zh} / {age} days{en}）"


def _stands_on(result: OfferResult) -> str:
    shown = len(result.offers)
    cut = f"，只列出前 {shown} 行" if shown < result.matched else ""
    cut_en = f", the first {shown} are listed" if shown < result.matched else ""
    left = "；".join(f"{left.count} 行{LEFT_OUT[left.reason][0]}" for left in result.left_out)
    left_en = "; ".join(f"{left.count} {LEFT_OUT[left.reason][1]}" for left in result.left_out)
    return (
        f"依据 {result.matched} 行，共看了 {result.considered} 行{cut}" + (f"；未列入：{left}" if left else "") + "。"
        f" / Stands on {result.matched} of {result.considered} rows{cut_en}" + (f"; left out: {left_en}" if left else "") + "."
    )  # fmt: skip


def _row(offer: Offer, conversion: Conversion | None, today: date) -> dict[str, object]:
    zh, en = source_titles(offer)
    row: dict[str, object] = {
        "id": offer.id, "provider": offer.provider, "gpu": offer.gpu, "gpu_form": offer.gpu_form,
        "gpu_memory_gb": _text(offer.gpu_memory_gb), "gpu_count": offer.gpu_count, "gpu_fraction": str(offer.gpu_fraction),
        "instance": offer.instance, "region": offer.region, "cpu_cores": offer.cpu_cores, "cpu_unit": offer.cpu_unit,
        "host_memory_gib": _text(offer.host_memory_gib), "price": str(offer.price), "currency": offer.currency,
        "per": offer.per, "price_per_gpu_hour": str(offer.price_per_gpu_hour), "pricing_model": offer.pricing_model,
        "channel": offer.channel, "flags": list(offer.flags), "as_of": offer.as_of, "age_days": age_days(offer, today),
        "staleness": staleness(offer, today), "source": zh, "source_en": en, "origin": offer.origin,
    }  # fmt: skip
    if conversion:
        row |= {"converted_price_per_gpu_hour": str(conversion.amount(offer)), "converted_currency": conversion.currency,
                "conversion_rate": str(conversion.rates[offer.currency]), "conversion_rate_is": conversion.en}  # fmt: skip
    return row


def _text(value: Decimal | None) -> str | None:
    return None if value is None else str(value)


def _gpus(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Families, and forms where a name means some of its family's only."""
    families: list[str] = []
    forms: list[str] = []
    for name in names:
        meant = gpu_forms(name)
        if meant.kind != "gpu":
            there = ", ".join(load_catalog().offers.gpus())
            raise UnknownNameError(f"没有这个 GPU / no gpu is called {name!r}; prices exist for: {there}")
        families.append(meant.family)
        stock = {gpu.name for gpu in load_catalog().gpus_of(meant.family)}
        forms += meant.forms if set(meant.forms) != stock else []
    plain = {
        family for family, name in zip(families, names, strict=True) if not set(gpu_forms(name).forms) & set(forms)
    }
    if forms:  # a GPU named without a form means all of its forms, and the rows that state none are left out
        forms += [gpu.name for family in plain for gpu in load_catalog().gpus_of(family)]
    return tuple(families), tuple(forms)


def _provider(name: str) -> str:
    there = load_catalog().offers.providers()
    if name.strip().lower() in there:
        return name.strip().lower()
    found = [item.key for item in link(normalise(name)) if item.kind == "provider"]
    if len(found) != 1:
        raise UnknownNameError(f"没有这个云厂商 / no provider is called {name!r}; prices exist for: {', '.join(there)}")
    return found[0]


def _conversion(currency: str, others: Sequence[str], rate: Decimal | None) -> Conversion | None:
    """To `currency` from the others, by the rate given (units of the currency that is not USD, per USD) or the newest."""
    if rate is not None:
        rates = {"USD": rate} if currency != "USD" else dict.fromkeys(others[:1], 1 / rate)
        other = currency if currency != "USD" else next(iter(rates))
        said = f"1 USD = {rate} {other}"
        return Conversion(currency, rates, f"您给的汇率 {said} ", f"the rate you gave, {said}")
    known = {code: found for code in {currency, *others} - {"USD"} if (found := load_catalog().rate(code))}
    per_usd = {"USD": Decimal(1)} | {code: found.units_per_usd for code, found in known.items()}
    if currency not in per_usd:
        return None
    rates = {other: per_usd[currency] / per_usd[other] for other in others if other in per_usd}
    said = "，".join(
        f"{found.year} 年平均汇率 1 USD = {found.units_per_usd} {code}" for code, found in sorted(known.items())
    )
    said_en = ", ".join(
        f"the average of {found.year}, 1 USD = {found.units_per_usd} {code}" for code, found in sorted(known.items())
    )
    return Conversion(
        currency,
        rates,
        f"{said}（不是当日汇率，可用 --rate 指定）",
        f"{said_en} (not today's rate; give one with --rate)",
    )
