"""What the filters of the price list offer: the GPUs, forms, clouds, regions, currencies and pricing models that rows have.

Errors: SnapshotBrokenError (the imported prices cannot be read).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from assistant.evidence import Language
from assistant.price_words import pricing_model
from knowledge.catalog import Catalog, load_catalog
from knowledge.names import Kind, display

Choice = tuple[str, str]  # what the reader sees and may type, and the value


@dataclass(frozen=True)
class Choices:
    """The choices of each filter, in the order in which they are offered."""

    gpus: tuple[Choice, ...]
    providers: tuple[Choice, ...]
    regions: tuple[Choice, ...]
    currencies: tuple[Choice, ...]
    pricing_models: tuple[Choice, ...]
    shown_in: tuple[Choice, ...]


def choices(language: Language) -> Choices:
    """From the rows that there are at this moment. Raises SnapshotBrokenError."""
    catalog = load_catalog()
    offers = catalog.offers
    bought = {purchase.currency for purchase in catalog.purchases}
    rated = ("CNY", "USD", *sorted({rate.currency for rate in catalog.rates} - {"CNY"}))
    none = "不换算" if language == "zh" else "no conversion"
    regions = sorted({*offers.regions(), *(region.split("/")[0] for region in offers.regions())})
    return Choices(
        gpus=_gpus(catalog, language),
        providers=tuple(sorted((_both("provider", key, language), key) for key in offers.providers())),
        regions=tuple((region, region) for region in regions),
        currencies=tuple((code, code) for code in sorted({*offers.currencies(), *bought})),
        pricing_models=tuple((pricing_model(key, language), key) for key in offers.pricing_models()),
        shown_in=((none, ""), *((code, code) for code in rated)),
    )


def _gpus(catalog: Catalog, language: Language) -> tuple[Choice, ...]:
    """Each GPU, and behind it its forms where rows state more than one."""
    by_family: dict[str, list[str]] = {}
    for form in catalog.offers.forms():
        if gpu := catalog.gpu(form):
            by_family.setdefault(gpu.family, []).append(form)
    families = sorted({*catalog.offers.gpus(), *(purchase.gpu for purchase in catalog.purchases)})
    found: list[Choice] = []
    for family in families:
        found.append((_both("gpu", family, language), family))
        forms = by_family.get(family, [])
        found += [(form, form) for form in forms if len(forms) > 1 and form not in families]
    repeated = {label for label, count in Counter(label for label, _ in found).items() if count > 1}
    return tuple((f"{label} ({value})" if label in repeated else label, value) for label, value in found)


def _both(kind: Kind, key: str, language: Language) -> str:
    """The name in the reader's language, and the other one where it differs, so that either can be searched."""
    own, other = display(kind, key, language), display(kind, key, "en" if language == "zh" else "zh")
    return own if own == other else f"{own} · {other}"
