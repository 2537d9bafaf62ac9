"""Which offers a question about rental prices is about: names, terms and currency -> rows of the catalogue.

It renders nothing and compares nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from assistant.agreed_rate import agreed_rate
from assistant.ledger import Ledger
from assistant.machine_sizes import MachineSize, of_sizes, sizes_said
from assistant.price_tables import in_currencies
from assistant.understand import Request
from knowledge.catalog import Offer, newest
from knowledge.names import link, normalise
from knowledge.offers import OfferFilter

CITIES = {
    r"东京|tokyo|日本|japan": ("ap-northeast-1",), r"伦敦|london|英国": ("eu-west-2",), r"弗吉尼亚|virginia": ("us-east-1",),
    r"俄勒冈|oregon": ("us-west-2",), r"俄亥俄|ohio": ("us-east-2",), r"芬兰|finland": ("eu-north1",),
}  # fmt: skip
NAMING_WORDS = re.compile(
    r"还是|或者?|和|与|跟|的|租|用|选|对比|(?<![a-z])(?:or|vs|versus|and|for|an?|the|on|at|with|get|rent(?:ing)?|one|from|s)(?![a-z])|[\s,，.。?？!！:：/、'’-]",
    re.I,
)
LEARNING_PLATFORMS = frozenset({"colab", "kaggle", "autodl"})


@dataclass(frozen=True)
class Selection:
    """The offers that a question is about, and what it asks of them that no row states."""

    offers: list[Offer]
    unmet: frozenset[str]


def select(request: Request, book: Ledger) -> Selection:
    """Offers of the named GPUs and providers under the terms asked for, or on demand where no row has those terms."""
    unmet = {aspect for aspect in ("plan", "spot", "stock", "dollars") if aspect in request.aspects}
    if "plan" in unmet and (request.slots.paid_share or monthly_offers(request, book)):  # the reader's own discount
        unmet.discard("plan")
    currency = "USD" if "dollars" in unmet and not agreed_rate(request.question) else None  # the reader's rate converts
    models = ("spot",) if "spot" in unmet else ("on-demand",)
    found = find(request, book, currency=currency, models=models)
    if found:
        unmet -= {"dollars", "spot"}
    elif currency or models != ("on-demand",):
        found = find(request, book)
    if community := _of_community(request, found, currency, book):
        order = {name: at for at, name in enumerate(dict.fromkeys(o.currency for o in [*found, *community]))}
        found = sorted([*found, *community], key=lambda o: (order[o.currency], o.price / o.gpu_count))
    return Selection(found, frozenset(unmet))


def _of_community(request: Request, found: list[Offer], currency: str | None, book: Ledger) -> list[Offer]:
    """Community prices of clouds that the question names and that have no other price of the card; the tables say so."""
    s, priced = request.slots, {offer.provider for offer in found}
    left = tuple(name for name in s.providers if name not in priced and name not in LEARNING_PLATFORMS)
    if not (left and s.gpus) or s.instances:
        return []
    alone = replace(request, slots=replace(s, providers=left))
    return find(alone, book, currency=currency, models=("community",))


def only_clouds_named(request: Request) -> bool:
    """Whether a card and several clouds are all that is said: "RunPod or Vultr for an A40?" asks for both prices."""
    s, text = request.slots, normalise(request.question)
    if len(s.providers) < 2 or not s.gpus or set(s.providers) & LEARNING_PLATFORMS:
        return False
    for item in sorted(link(text), key=lambda item: -item.start):
        text = text[: item.start] + " " + text[item.end :]
    return not NAMING_WORDS.sub("", text)


def offers_for(request: Request, book: Ledger) -> list[Offer]:
    """The offers a question is about; in the currency of the money it names where there are such rows."""
    if request.slots.money_currency and (rows := find(request, book, currency=request.slots.money_currency)):
        return rows
    return select(request, book).offers


def find(
    request: Request, book: Ledger, *, currency: str | None = None, models: tuple[str, ...] = ("on-demand",)
) -> list[Offer]:
    s = request.slots
    # A learning platform beside a priced cloud is no price source.
    providers = [p for p in s.providers if p not in LEARNING_PLATFORMS] or list(s.providers)
    offers = book.catalog.find_offers(
        s.gpus, providers, currency=currency, pricing_models=models, gpu_count=s.count or 1,
        regions=regions_said(request, book), min_gpu_memory_gb=None if s.gpus else max(s.memory_gb, default=None),
    )  # fmt: skip
    if s.instances and (rows := _of_instances(s.instances, providers, models, regions_said(request, book), book)):
        return rows
    if sized := sized_offers(request, book, currency=currency, models=models):
        return sized
    modified = {gpu.name for gpu in book.catalog.gpus if gpu.variant}  # never meant by the name of the stock card
    if s.forms:
        offers = [o for o in offers if not o.gpu_form or o.gpu_form in s.forms]
    else:
        offers = [o for o in offers if o.gpu_form not in modified]
    return [o for o in offers if not s.pairs or (o.provider, o.gpu) in s.pairs]


def comparable(request: Request, offers: list[Offer], book: Ledger) -> list[list[Offer]]:
    """Groups of one currency; the first holds every GPU asked for if any currency does."""
    groups = in_currencies(offers)
    if not groups:
        return []
    wanted = set(request.slots.gpus)
    if len(groups) == 1 or len(wanted) < 2:
        return groups
    for currency in dict.fromkeys(o.currency for o in offers[::-1]):
        rows = find(request, book, currency=currency)
        if {o.gpu for o in rows} >= wanted:
            return [rows, *(group for group in groups if group[0].currency != currency)]
    return groups


def monthly_offers(request: Request, book: Ledger) -> list[Offer]:
    """Monthly subscriptions of the GPUs named, of the machine size named where there is one; cheapest per GPU first."""
    s = request.slots
    if not s.gpus:
        return []
    query = OfferFilter(
        gpus=book.catalog.members(s.gpus), providers=s.providers, pricing_models=("monthly",), per=("instance-month",),
        whole_cards=False,
    )  # fmt: skip
    found = list(book.catalog.offers.query(query).offers)
    return of_sizes(sizes_of(request), found) or [o for o in found if not o.is_slice]


def sizes_of(request: Request) -> tuple[MachineSize, ...]:
    """The machine sizes that the question names, else those that the conversation named before it."""
    return sizes_said(request.question) or sizes_said(request.search_text)


def sized_offers(
    request: Request, book: Ledger, *, currency: str | None = None, models: tuple[str, ...] = ("on-demand",)
) -> list[Offer]:
    """The rows of the machine sizes named, by currency and price per GPU; empty where none is named or no row is of one."""
    sizes = sizes_of(request)
    return of_sizes(sizes, every_size(request, book, currency=currency, models=models)) if sizes else []


def every_size(
    request: Request, book: Ledger, *, currency: str | None = None, models: tuple[str, ...] = ("on-demand",)
) -> list[Offer]:
    """The newest rows of the GPUs and clouds named, of all machine sizes and slices."""
    s = request.slots
    if not (s.gpus or s.providers):
        return []
    query = OfferFilter(
        gpus=book.catalog.members(s.gpus), providers=s.providers, pricing_models=models, per=("instance-hour",),
        currencies=(currency,) if currency else (), whole_cards=False, regions=regions_said(request, book),
    )  # fmt: skip
    return newest(book.catalog.offers.query(query).offers, date.today())


def _of_instances(
    instances: tuple[str, ...], providers: list[str], models: tuple[str, ...], regions: tuple[str, ...], book: Ledger
) -> list[Offer]:
    """The cheapest row of each instance that the question names, in each currency."""
    query = OfferFilter(
        providers=tuple(providers), pricing_models=models, per=("instance-hour",), whole_cards=False, regions=regions
    )
    wanted, best = {_squeezed(name) for name in instances}, dict[tuple[str, str], Offer]()
    for offer in newest(book.catalog.offers.query(query).offers, date.today()):
        if offer.instance and _squeezed(offer.instance) in wanted:
            key = (_squeezed(offer.instance), offer.currency)
            if key not in best:  # cheapest first
                best[key] = offer
    return list(best.values())


def _squeezed(name: str) -> str:
    return re.sub(r"^(?:ecs|ml)\.|^standard|[\s_-]", "", name.lower())


def regions_said(request: Request, book: Ledger) -> tuple[str, ...]:
    """Regions of the price rows that the question names, as the clouds write them or by city."""
    said = request.question.lower()
    known = {region.split("/")[0] for region in book.catalog.offers.regions()}
    cities = {region for words, regions in CITIES.items() if re.search(words, said) for region in regions}
    return tuple(
        sorted(
            region
            for region in known
            if region in cities or re.search(rf"(?<![a-z0-9-]){re.escape(region.lower())}(?![a-z0-9-])", said)
        )
    )
