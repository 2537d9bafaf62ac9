"""The filters of the price list: read from form cells or from a link, written into a link, and made a query.

It reads which GPUs, clouds and regions have rows, and never a price.

Errors: FilterError (a cell that means nothing; says which, in both languages).
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Literal, get_args
from urllib.parse import parse_qs, urlencode

from assistant.evidence import Bilingual
from knowledge.catalog import Catalog, load_catalog
from knowledge.gpu_names import gpu_forms
from knowledge.names import link, normalise
from knowledge.offer_filter import SortKey
from knowledge.offers import OfferFilter

View = Literal["rent", "buy"]
LONGEST_CELL = 200
MOST_VALUES = 50  # of one kind in one link
_DAY = re.compile(r"(\d{4})(?:[-/.年](\d{1,2})(?:[-/.月](\d{1,2})日?|月)?|年)?")


class FilterError(Exception):
    """A filter that means nothing; `said` names it and the way out."""

    def __init__(self, said: Bilingual):
        super().__init__(f"{said.zh} / {said.en}")
        self.said = said


@dataclass(frozen=True)
class PriceFilter:
    """What the reader wants to see; an empty value sets no condition.

    `gpus` are keys of names.csv and names of gpus.csv (forms). `shown_in` is a currency to convert to, and `rate` the
    reader's own: units of that currency (of CNY, where it is USD) per US dollar. `page` counts from 1.
    """

    view: View = "rent"
    gpus: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    pricing_models: tuple[str, ...] = ()
    dated_from: date | None = None
    dated_to: date | None = None
    undated: bool = True
    slices: bool = False
    min_memory_gb: Decimal | None = None
    shown_in: str = ""
    rate: Decimal | None = None
    sort: SortKey = "per-gpu-hour"
    descending: bool = False
    page: int = 1

    def families_and_forms(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """GPUs wanted in any form, and the forms wanted of others."""
        families = {family for gpu in load_catalog().gpus for family in gpu.families} | set(
            load_catalog().offers.gpus()
        )
        whole = tuple(name for name in self.gpus if name in families)
        return whole, tuple(name for name in self.gpus if name not in families)

    def offer_filter(self) -> OfferFilter:
        """The query over rental rows."""
        catalog = load_catalog()
        whole, forms = self.families_and_forms()
        whole = catalog.members(whole)
        of_forms = [gpu.family for name in forms if (gpu := catalog.gpu(name))]
        return OfferFilter(
            gpus=tuple(dict.fromkeys((*whole, *of_forms))), forms=forms, any_form=whole if forms else (),
            providers=self.providers, regions=self.regions, currencies=self.currencies,
            pricing_models=self.pricing_models, min_gpu_memory_gb=self.min_memory_gb, whole_cards=not self.slices,
            min_as_of=self.dated_from, max_as_of=self.dated_to, undated=self.undated,
        )  # fmt: skip


def read_gpus(written: Sequence[str]) -> tuple[str, ...]:
    """Keys or forms of GPUs as people write them. Raises FilterError for one that no table knows."""
    catalog = load_catalog()
    known = set(catalog.offers.gpus()) | {gpu.name for gpu in catalog.gpus} | {p.gpu for p in catalog.purchases}
    found: list[str] = []
    for name in _cells(written):
        found += [name] if name in known else _gpu_meant(name, catalog)
    return tuple(dict.fromkeys(found))


def read_providers(written: Sequence[str]) -> tuple[str, ...]:
    """Keys of clouds as people write them. Raises FilterError for one that has no row."""
    there = load_catalog().offers.providers()
    return tuple(dict.fromkeys(_provider_meant(name, there) for name in _cells(written)))


def read_among(written: Sequence[str], there: Sequence[str], what: Bilingual) -> tuple[str, ...]:
    """Values that rows have, in any case. Raises FilterError naming those there are."""
    by_lower = {value.lower(): value for value in there}
    found = []
    for value in _cells(written):
        if value.lower() not in by_lower:
            listed = ", ".join(there[:20]) + (" …" if len(there) > 20 else "")
            raise FilterError(
                Bilingual(
                    zh=f"没有价格行的{what.zh}是“{value}”；有的是：{listed}。",
                    en=f'No price row has the {what.en} "{value}"; there are: {listed}.',
                )
            )
        found.append(by_lower[value.lower()])
    return tuple(dict.fromkeys(found))


def read_regions(written: Sequence[str]) -> tuple[str, ...]:
    """Regions, or their zones, that rows state. Raises FilterError."""
    stated = load_catalog().offers.regions()
    there = sorted({*stated, *(region.split("/")[0] for region in stated)})
    return read_among(written, there, Bilingual(zh="地域", en="region"))


def read_currencies(written: Sequence[str]) -> tuple[str, ...]:
    """Currencies that rental or purchase rows are in. Raises FilterError."""
    catalog = load_catalog()
    there = sorted({*catalog.offers.currencies(), *(purchase.currency for purchase in catalog.purchases)})
    return read_among(written, there, Bilingual(zh="币种", en="currency"))


def read_pricing_models(written: Sequence[str]) -> tuple[str, ...]:
    """Pricing models that rows have. Raises FilterError."""
    return read_among(written, load_catalog().offers.pricing_models(), Bilingual(zh="计费方式", en="pricing model"))


def read_day(written: str, *, end: bool = False) -> date | None:
    """2026-05-24, 2026-05 or 2026: its first day, or with `end` its last; None for an empty cell. Raises FilterError."""
    clean = unicodedata.normalize("NFKC", written).strip()
    if not clean:
        return None
    match = _DAY.fullmatch(clean[:LONGEST_CELL])
    try:
        if match is None:
            raise ValueError(clean)
        year, month = int(match[1]), int(match[2] or (12 if end else 1))
        return date(year, month, int(match[3] or (calendar.monthrange(year, month)[1] if end else 1)))
    except (ValueError, calendar.IllegalMonthError) as error:
        raise FilterError(
            Bilingual(
                zh=f"“{clean[:40]}”不是日期，请写成 2026-05-24、2026-05 或 2026。",
                en=f'"{clean[:40]}" is no date; write 2026-05-24, 2026-05 or 2026.',
            )
        ) from error


def read_amount(written: str, what: Bilingual) -> Decimal | None:
    """A number above 0; None for an empty cell. Raises FilterError."""
    clean = unicodedata.normalize("NFKC", written).strip()
    if not clean:
        return None
    try:
        amount = Decimal(clean[:LONGEST_CELL])
    except InvalidOperation:
        amount = Decimal(0)
    if not (amount.is_finite() and 0 < amount < 10**9):
        raise FilterError(
            Bilingual(
                zh=f"{what.zh}“{clean[:40]}”应是大于 0 的数，如 7.2。",
                en=f'The {what.en} "{clean[:40]}" must be a number above 0, such as 7.2.',
            )
        )
    return amount


def read_memory(written: str) -> Decimal | None:
    """Least GPU memory in GB. Raises FilterError."""
    clean = re.sub(r"\s*GB?$", "", unicodedata.normalize("NFKC", written).strip(), flags=re.I)
    return read_amount(clean, Bilingual(zh="显存", en="GPU memory"))


def read_rate(written: str) -> Decimal | None:
    """Units of a currency per US dollar. Raises FilterError."""
    return read_amount(written, Bilingual(zh="汇率", en="exchange rate"))


def read_shown_in(written: str) -> str:
    """A currency that there is a rate for, or "". Raises FilterError."""
    there = ("USD", *dict.fromkeys(rate.currency for rate in load_catalog().rates))
    return next(iter(read_among([written] if written else [], there, Bilingual(zh="可换算币种", en="currency"))), "")


def to_query(wanted: PriceFilter) -> str:
    """The filter as the query of a link, without what is not set; `from_query` reads it."""
    sign = "-" if wanted.descending else ""
    pairs = [
        ("view", "" if wanted.view == "rent" else wanted.view),
        *(("gpu", gpu) for gpu in wanted.gpus), *(("provider", key) for key in wanted.providers),
        *(("region", region) for region in wanted.regions), *(("currency", code) for code in wanted.currencies),
        *(("pricing", model) for model in wanted.pricing_models),
        ("from", str(wanted.dated_from or "")), ("to", str(wanted.dated_to or "")),
        ("undated", "" if wanted.undated else "no"), ("slices", "yes" if wanted.slices else ""),
        ("memory", f"{wanted.min_memory_gb:f}" if wanted.min_memory_gb else ""), ("in", wanted.shown_in),
        ("rate", f"{wanted.rate:f}" if wanted.rate else ""),
        ("sort", f"{sign}{wanted.sort}" if (sign, wanted.sort) != ("", "per-gpu-hour") else ""),
        ("page", str(wanted.page) if wanted.page > 1 else ""),
    ]  # fmt: skip
    return urlencode([(key, value) for key, value in pairs if value])


def from_query(query: str) -> PriceFilter:
    """The filter that a link names; what it names besides (?tab=prices) is passed over. Raises FilterError."""
    given = parse_qs(query.lstrip("?"), max_num_fields=500)

    def one(key: str) -> str:
        return given.get(key, [""])[-1].strip()

    wanted = PriceFilter(
        view="buy" if one("view") == "buy" else "rent", gpus=read_gpus(given.get("gpu", [])),
        providers=read_providers(given.get("provider", [])), regions=read_regions(given.get("region", [])),
        currencies=read_currencies(given.get("currency", [])), pricing_models=read_pricing_models(given.get("pricing", [])),
        dated_from=read_day(one("from")), dated_to=read_day(one("to"), end=True), undated=one("undated") != "no",
        slices=one("slices") == "yes", min_memory_gb=read_memory(one("memory")), shown_in=read_shown_in(one("in")),
        rate=read_rate(one("rate")), page=int(one("page")) if re.fullmatch(r"[1-9]\d{0,5}", one("page"), re.A) else 1,
    )  # fmt: skip
    return sorted_as(wanted, one("sort"))


def sorted_as(wanted: PriceFilter, written: str) -> PriceFilter:
    """`date` or `-date`: the filter with that order; a column that there is none of changes nothing."""
    name = written.removeprefix("-")
    for key in get_args(SortKey):
        if key == name:
            return replace(wanted, sort=key, descending=written.startswith("-"))
    return wanted


def _cells(written: Sequence[str]) -> list[str]:
    return [cell.strip()[:LONGEST_CELL] for cell in written[:MOST_VALUES] if cell.strip()]


def _gpu_meant(name: str, catalog: Catalog) -> list[str]:
    meant = gpu_forms(name)
    if meant.kind != "gpu":
        there = ", ".join(catalog.offers.gpus()[:20])
        raise FilterError(
            Bilingual(
                zh=f"没有这个 GPU：“{name}”。有价格的有：{there} …",
                en=f'No GPU is called "{name}". Prices exist for: {there} …',
            )
        )
    stock = {gpu.name for gpu in catalog.gpus_of(meant.family)}
    return [meant.family] if not meant.forms or set(meant.forms) == stock else [*meant.forms]


def _provider_meant(name: str, there: Sequence[str]) -> str:
    if name.lower() in there:
        return name.lower()
    found = [item.key for item in link(normalise(name)) if item.kind == "provider"]
    if len(found) != 1:
        raise FilterError(
            Bilingual(
                zh=f"没有这个云厂商：“{name}”。有价格的有：{', '.join(there[:20])} …",
                en=f'No provider is called "{name}". Prices exist for: {", ".join(there[:20])} …',
            )
        )
    return found[0]
