"""Price rows for `prices show`: names in, rows out, as a table or as JSON. It computes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

from knowledge.catalog import Offer, load_catalog
from knowledge.names import display, link, normalise


class UnknownNameError(Exception):
    """A GPU or provider that names.csv does not have; the message names it and what there is."""


def find(gpus: Sequence[str], provider: str = "", region: str = "", currency: str = "") -> list[Offer]:
    """Offers of the named GPUs, cheapest first. Raises UnknownNameError for a name that no table knows."""
    keys = [_key("gpu", name) for name in gpus]
    providers = [_key("provider", provider)] if provider else []
    offers = load_catalog().find_offers(keys, providers, currency=currency.upper() or None)
    return [offer for offer in offers if not region or offer.region == region]


def offers_table(offers: Sequence[Offer]) -> str:
    """One line per offer; an empty result says so, since no row is not the same as no such offer."""
    if not offers:
        return "没有这样的价格行（不等于市场上没有）。 / No such price row (the market may still have one)."
    sources = load_catalog().sources
    lines = [
        f"{offer.price:>9} {offer.currency}/h"
        f"  {offer.gpu_count}x {offer.gpu} ({offer.gpu_form or '形态未注明 / form not stated'})"
        f"  {display('provider', offer.provider, 'zh')} / {display('provider', offer.provider, 'en')}"
        f"  {offer.cpu_cores} {offer.cpu_unit}"
        f"  {offer.host_memory_gib} GiB 主机内存 / host memory"
        f"  {offer.as_of or '日期未注明 / undated'}  {sources[offer.source].title_zh} / {sources[offer.source].title_en}"
        for offer in offers
    ]
    return "\n".join(lines)


def offers_json(offers: Sequence[Offer]) -> str:
    """The rows as a JSON list; prices are strings so that no digit is lost."""
    sources = load_catalog().sources
    rows = [
        {
            "id": o.id, "provider": o.provider, "gpu": o.gpu, "gpu_form": o.gpu_form, "gpu_count": o.gpu_count,
            "cpu_cores": o.cpu_cores, "cpu_unit": o.cpu_unit, "host_memory_gib": str(o.host_memory_gib), "region": o.region,
            "price": str(o.price), "currency": o.currency, "per": "instance-hour", "pricing_model": o.pricing_model,
            "as_of": o.as_of, "source": sources[o.source].title_zh, "source_en": sources[o.source].title_en,
        }
        for o in offers
    ]  # fmt: skip
    return json.dumps(rows, ensure_ascii=False, indent=2)


def _key(kind: Literal["gpu", "provider"], name: str) -> str:
    found = [item.key for item in link(normalise(name)) if item.kind == kind]
    if len(found) != 1:
        there = sorted({offer.gpu if kind == "gpu" else offer.provider for offer in load_catalog().offers})
        raise UnknownNameError(f"没有这个名字 / no {kind} is called {name!r}; prices exist for: {', '.join(there)}")
    return found[0]
