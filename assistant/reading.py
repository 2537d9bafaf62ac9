"""One message on its own: the names, quantities and aspects it holds, and whether it leans on what came before.

Knows nothing of earlier turns and decides no intent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from assistant import stated_deal as deal
from assistant.agreed_rate import rate_spans, without_rates
from assistant.aspects import ALL_CLOUDS, FOLLOW_UP, aspects_of, content_words, without_aspects
from assistant.calculator import time_lengths
from assistant.evidence import Language
from assistant.impossible import impossible
from assistant.numerals import ONES
from assistant.pointing_words import RETURN, is_left_over, points, without_pointing
from assistant.quantities import Quantity, parse_quantities, without_idioms
from assistant.remembered import remembered
from assistant.surroundings import is_figure
from assistant.workload import Workload, asks_of, read_workload
from knowledge.instances import find_instances
from knowledge.names import Link, link, normalise

HEAD_CHARACTERS, TAIL_CHARACTERS = 3000, 1000  # what is read of a very long question
HOURS_OF_UNIT = time_lengths.HOURS_OF_UNIT | {"clock": Decimal(1), "gpu-hour": Decimal(1)}
ARTICLES = ("a", "an")  # "an A100" says which card, not how many
CJK = re.compile(r"[\u4e00-\u9fff]")
# A name right behind one of these, or right before "换成", is what is not meant.
WITHDRAWN = re.compile(
    r"(?:不是|不要|别用|不用|不租|除了|not|instead of|rather than|except|without)\s*(?:the |an? )?$", re.I
)
REPLACED = re.compile(r"\s*(?:换成|改成|换为|改为|换(?=\s*[A-Za-z0-9]))")
# A number word that is all a follow-up says: "and two?", "what about three of them?"
ONLY_NUMBER = re.compile(
    r"\W*(?:(?:and|what about|how about|make (?:it|that)|no|ok|then|for|with|i meant?|sorry|on|just|only)\b\W*)*"
    r"(?P<number>two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen)"
    r"(?:\s+(?:of (?:them|those|these)|instead|then|please|each))*\W*", re.I)  # fmt: skip


@dataclass(frozen=True)
class Period:
    """A length of time as said, in hours; months are 730 h, years 8,760 h unless the question says otherwise."""

    hours: Decimal
    value: Decimal
    unit: str
    text: str


@dataclass(frozen=True)
class Item:
    """One line of an order: so many of a GPU at a provider, and the discount of its own as the share left to pay."""

    count: int
    gpu: str
    provider: str | None
    paid_share: Decimal | None = None


@dataclass(frozen=True)
class Slots:
    """What the conversation has named so far; empty where nobody said it.

    `count_high` and `money_high` are the upper ends of ranges (三五张, 1-2 万); a range of times gives two periods.
    `about` holds the figures that were said as approximate, as written.
    """

    gpus: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    count: int | None = None
    count_high: int | None = None
    periods: tuple[Period, ...] = ()
    hours_per_day: Decimal | None = None
    money: Decimal | None = None
    money_currency: str | None = None
    money_high: Decimal | None = None
    about: tuple[str, ...] = ()
    price_per_hour: Decimal | None = None
    price_currency: str | None = None
    memory_gb: tuple[Decimal, ...] = ()
    forms: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()
    factor: Decimal | None = None
    parameters_b: tuple[Decimal, ...] = ()
    items: tuple[Item, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    purchase_price: Decimal | None = None
    purchase_currency: str | None = None
    purchase_per_card: bool = False
    paid_share: Decimal | None = None  # left to pay after a stated discount; 1 where one was taken back
    workload: Workload = field(default_factory=Workload)

    @property
    def discount(self) -> Decimal | None:
        """The share left to pay after the discount that holds for all that is asked; None without one."""
        return self.paid_share if self.paid_share and self.paid_share < 1 else None


@dataclass(frozen=True)
class Reading:
    """One turn on its own. `leans` is set where it says nothing that stands alone: "那 T4 呢", "贵多少", "and for a month?"."""

    text: str
    links: tuple[Link, ...]
    quantities: tuple[Quantity, ...]
    slots: Slots
    aspects: frozenset[str]
    count_delta: int
    opens_like_follow_up: bool
    leans: bool
    all_clouds: bool
    bad_quantity: str | None

    @property
    def spans(self) -> list[tuple[int, int, str]]:
        """(start, end, kind) of every name and quantity, as the classifier wants them."""
        names = [(item.start, item.end, str(item.kind)) for item in self.links]
        return sorted(names + [(q.start, q.end, str(q.kind)) for q in self.quantities])


@remembered(1024)  # the turns of a conversation are read with each message, its last one by several answers
def read(text: str) -> Reading:
    """Link names, parse quantities, note aspects."""
    text = without_idioms(normalise(shortened(text)))
    named = [item for item in link(text) if not is_figure(text, item.start, item.end)]
    links = _meant(text, named)
    quantities = tuple(parse_quantities(text, names=[(item.start, item.end) for item in named]))
    said = read_workload(text, quantities, [(item.start, item.end) for item in named])
    quantities = quantities or _only_number(text)
    ordered = deal.with_standby(
        text, deal.with_budget(text, _stated(text, without_rates(text, said.beside(quantities))))
    )
    own = deal.stated_deal(text, ordered)
    slots, delta = _slots(links, [q for q in ordered if q not in (own.price, own.rent)])
    if own.price:
        slots = replace(slots, purchase_price=own.price.value, purchase_currency=own.price.currency, purchase_per_card=own.per_card)  # fmt: skip
    if own.rent and not slots.price_per_hour:
        slots = replace(slots, price_per_hour=own.rent.value, price_currency=own.rent.currency)
    if rented := find_instances(text):
        clouds = dict.fromkeys([*slots.providers, *(i.provider for i in rented)])
        slots = replace(slots, providers=tuple(clouds), instances=tuple(i.text for i in rented))
    slots = _with_discounts(replace(slots, items=_items(links, ordered), pairs=_pairs(links), workload=said.workload), links, text)  # fmt: skip
    spans = [(item.start, item.end) for item in named] + [(q.start, q.end) for q in quantities]
    rest = without_pointing(without(text, [*spans, *said.spans, *deal.discount_spans(text), *rate_spans(text)]))
    rest = deal.without_getting(rest) if slots.paid_share else rest
    # The 东 of 京东云 buys nothing: names of clouds are no words about prices.
    aspects = aspects_of(
        without(text, [(item.start, item.end) for item in named if item.kind == "provider"])
    ) | asks_of(text)
    all_clouds = bool(ALL_CLOUDS.search(text.lower()))
    opens = bool(FOLLOW_UP.match(text))
    pointing = points(text) or bool(RETURN.search(text))
    leans = not content_words(without_aspects(rest)) and bool(
        spans or said.spans or aspects or all_clouds or pointing or slots.paid_share
    )
    leans = leans and (opens or not _whole(slots))
    return Reading(
        text, links, quantities, slots, aspects, delta, opens, leans, bool(ALL_CLOUDS.search(text.lower())), _bad(ordered) or impossible(text, quantities, [(x.start, x.end) for x in links if x.kind == "gpu"]),
    )  # fmt: skip


def _whole(slots: Slots) -> bool:
    """Whether a model stands beside what it is to run on or how it is to be trained: a question of its own."""
    work = slots.workload
    return bool(slots.models or slots.parameters_b) and bool(
        slots.gpus or slots.memory_gb or work.method or work.concurrency or work.training_tokens
    )


def shortened(text: str) -> str:
    """A very long question by its beginning and its end, where the question usually stands."""
    if len(text) <= HEAD_CHARACTERS + TAIL_CHARACTERS:
        return text
    return f"{text[:HEAD_CHARACTERS]}\n{text[-TAIL_CHARACTERS:]}"


def language_of(text: str, links: Sequence[Link] = (), before: Language | None = None) -> Language:
    """The language whose grammar the text follows: names aside, any Chinese makes it Chinese."""
    rest = without(text, [(item.start, item.end) for item in links])
    if CJK.search(rest):
        return "zh"
    if re.search(r"[A-Za-z]{2,}", rest):
        return "en"
    return before or ("zh" if CJK.search(text) else "en")


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with a blank where each span was; spans may overlap."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], " "] if start >= at else []
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _meant(text: str, links: Sequence[Link]) -> tuple[Link, ...]:
    """The names that are meant: of "不是腾讯，是阿里" only the second, as long as one of the kind is left."""
    kept = [
        x for x in links if not (WITHDRAWN.search(text[max(0, x.start - 14) : x.start]) or REPLACED.match(text, x.end))
    ]
    return tuple(x for x in links if x in kept or not any(k.kind == x.kind for k in kept))


def _stated(text: str, quantities: Sequence[Quantity]) -> list[Quantity]:
    """The quantities that are meant: of "不是 72 小时，是 3 天" only the second, as long as one of the kind is left."""
    kept = [
        q
        for q in quantities
        if not (WITHDRAWN.search(text[max(0, q.start - 14) : q.start]) or REPLACED.match(text, q.end))
        and not (q.kind == "count" and is_left_over(text, q.start, q.end))
    ]
    return [q for q in quantities if q in kept or not any(k.kind == q.kind for k in kept)]


def _only_number(text: str) -> tuple[Quantity, ...]:
    """The count that a follow-up of one number word gives."""
    match = ONLY_NUMBER.fullmatch(text)
    if match is None:
        return ()
    value = Decimal(ONES.get(match["number"].lower(), 12))
    return (Quantity("count", value, "", match["number"], *match.span("number")),)


def _slots(links: Sequence[Link], quantities: Sequence[Quantity]) -> tuple[Slots, int]:
    def keys(kind: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item.key for item in links if item.kind == kind))

    def of(kind: str) -> list[Quantity]:
        return [q for q in quantities if q.kind == kind]

    counts = [q for q in of("count") if not q.delta and q.value >= 1 and q.text.lower() not in ARTICLES]
    count = _cards(counts)
    delta = sum(int(q.value) for q in of("count") if q.delta)
    money, rate = _first(of("money")), _first(of("money_per_hour"))
    per_day = _first(of("hours_per_day"))
    factor = _first(of("factor"))
    return Slots(
        gpus=keys("gpu"), providers=keys("provider"), models=keys("model"), methods=keys("method"),
        workloads=keys("workload"), unknown=keys("unknown"),
        count=count + delta if count else None,
        count_high=_cards_high(counts),
        periods=tuple(period for q in of("duration") if q.value > 0 for period in _ends(q)),
        hours_per_day=per_day.value if per_day else None,
        money=money.value if money else None, money_currency=money.currency if money else None,
        money_high=money.high if money else None,
        about=tuple(q.text for q in quantities if q.approximate and q.high is None and q.kind in ("count", "duration", "money", "rows")),
        price_per_hour=rate.value if rate else None, price_currency=rate.currency if rate else None,
        memory_gb=tuple(_gigabytes(q) for q in of("memory")),
        forms=tuple(dict.fromkeys(form for item in links if item.kind == "gpu" for form in item.forms)), rows=tuple(int(q.value) for q in of("rows")),
        factor=factor.value if factor else None, parameters_b=tuple(q.value for q in of("parameters")),
    ), 0 if counts else delta  # fmt: skip


def _cards(counts: Sequence[Quantity]) -> int | None:
    """How many cards: machines times cards of each where both are said (两台八卡), else the last count."""
    machines = [q for q in counts if q.unit == "machine"]
    cards = [q for q in counts if q.unit != "machine"]
    if len(machines) == len(cards) == 1:
        return int(machines[0].value * cards[0].value)
    return int(counts[-1].value) if counts else None


def _cards_high(counts: Sequence[Quantity]) -> int | None:
    """The upper end of a number of cards said as a range (三五张, 2-3 cards)."""
    return int(counts[-1].high) if len(counts) == 1 and counts[-1].high else None


def _items(links: Sequence[Link], quantities: Sequence[Quantity]) -> tuple[Item, ...]:
    """Lines of a mixed order: every GPU said with its own count, and the nearest provider before it."""
    items = []
    gpus = [item for item in links if item.kind == "gpu"]
    counts = [q for q in quantities if q.kind == "count" and q.text.lower() not in ARTICLES]
    for at, gpu in enumerate(gpus):
        start = gpus[at - 1].end if at else 0
        before = [q for q in counts if start <= q.start < gpu.start]
        after = [
            q
            for q in counts
            if gpu.end <= q.start < (gpus[at + 1].start if at + 1 < len(gpus) else len(gpu.text) + q.end)
        ]
        provider = [item.key for item in links if item.kind == "provider" and item.end <= gpu.start]
        for count in before[-1:] or after[:1]:
            counts.remove(count)
            items.append(Item(int(count.value), gpu.key, provider[-1] if provider else None))
    return tuple(items) if len(items) > 1 and len(items) == len(gpus) else ()


def _with_discounts(slots: Slots, links: Sequence[Link], text: str) -> Slots:
    """The slots with the discounts said: of each line of an order its own, or one of all."""
    cards = [(item.start, item.end) for item in links if item.kind == "gpu"]
    shares = deal.shares_of_lines(text, cards) if len(slots.items) == len(cards) > 1 else ()
    if any(shares):
        return replace(slots, items=tuple(replace(item, paid_share=share) for item, share in zip(slots.items, shares, strict=True)))  # fmt: skip
    return replace(slots, paid_share=deal.said_share(text))


def _pairs(links: Sequence[Link]) -> tuple[tuple[str, str], ...]:
    """(provider, GPU) where every GPU has a provider of its own right before it: "阿里A100跟火山T4"."""
    pairs: list[tuple[str, str]] = []
    provider = None
    for item in links:
        if item.kind == "provider":
            provider = item.key
        elif item.kind == "gpu":
            if provider is None:
                return ()
            pairs.append((provider, item.key))
            provider = None
    return tuple(pairs) if len(set(pairs)) > 1 and provider is None else ()


def _bad(quantities: Sequence[Quantity]) -> str | None:
    """The first quantity that no order can have: zero, negative, or part of a card."""
    for q in quantities:
        whole = q.kind != "count" or q.value == q.value.to_integral_value()
        if q.kind in ("duration", "count", "rows", "money") and not q.delta and (q.value <= 0 or not whole):
            return q.text
    return None


def _first(quantities: Sequence[Quantity]) -> Quantity | None:
    return next((q for q in quantities if q.value > 0), None)


def _ends(q: Quantity) -> list[Period]:
    """One period; of a range both ends (大概两三天 -> 2 days, 3 days)."""
    low = replace(q, high=None)
    return [_period(low), _period(replace(low, value=q.high))] if q.high else [_period(low)]


def _period(q: Quantity) -> Period:
    return Period(q.value * HOURS_OF_UNIT[q.unit], q.value, q.unit, q.text)


def _gigabytes(q: Quantity) -> Decimal:
    return q.value * 1000 if q.unit.upper().startswith("T") else q.value
