"""Which size of a rented machine a question names: its cores and host memory (8 核 32G), its number of cards (双卡机), a
slice of a card (四分之一张 T4); and the price rows of that size.

Reads words and compares rows; it renders nothing and picks no price. A size that is the card's own memory is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from knowledge.names import normalise
from knowledge.offers import Offer

NUMBERS = {"单": 1, "一": 1, "双": 2, "两": 2, "二": 2, "俩": 2, "三": 3, "四": 4, "六": 6, "八": 8, "one": 1, "single": 1,
           "dual": 2, "two": 2, "double": 2, "quad": 4, "four": 4, "eight": 8}  # fmt: skip
PARTS = {"半": "0.5", "二分之一": "0.5", "三分之一": "0.3333", "四分之一": "0.25", "六分之一": "0.1667", "八分之一": "0.125",
         "half": "0.5", "one half": "0.5", "third": "0.3333", "one third": "0.3333", "quarter": "0.25", "one quarter": "0.25", "one fourth": "0.25",
         "sixth": "0.1667", "one sixth": "0.1667", "eighth": "0.125", "one eighth": "0.125"}  # fmt: skip
NEAR = Decimal("0.01")  # of a card: 1/6 is printed as 0.1667

_CORES = r"(?P<cores>\d{1,3})[\s-]*(?:核心?|v?cpus?(?![a-z])|cores?(?![a-z])|c(?=\s*/?\s*\d{1,4}\s*g))"
_GIB = r"\d{1,4}\s*(?:个\s*)?(?:gig(?:abyte)?s?|gi?b?)(?![a-z0-9/])"
_HOST = r"(?:主机|系统)?内存|host (?:memory|ram)|(?:system |main )?(?:ram|memory)(?![a-z])"
# 8核32G; 80 cores, 320 GB; 32G 内存 or "128 gig ram" alone. Video memory is said by the same figures.
SIZED = re.compile(
    rf"{_CORES}(?:\s*(?:[,，、/x*×+和及与]|and|with|配|带|/)?\s*(?:(?:{_HOST})\s*)?(?P<beside>{_GIB})(?!\s*(?:显存|vram|gpu|video)))?"
    rf"|(?P<alone>{_GIB})\s*(?:的|of\s)?\s*(?:{_HOST})|(?:主机|系统)?内存\s*(?:是|为|有)?\s*(?P<behind>{_GIB})",
    re.I,
)
_COUNT = r"(?<![a-z0-9])(?:(?P<zh>[单一双两二三四六八]|\d{1,2})\s?卡|(?P<en>one|single|dual|two|quad|four|eight|\d{1,2})[- ](?:card|gpu))"
COUNTED = re.compile(_COUNT, re.I)
MACHINE = re.compile(
    rf"{_COUNT}\s?的?(?:机器?|实例|整机|服务器|那?[款档种]|规格|配置|\s?(?:instance|box|machine|server|node|host|vm|size|model)(?:e?s)?(?![a-z]))",
    re.I,
)
_CARD = r"(?:(?:nvidia|tesla|英伟达)\s*)?(?:(?:rtx|gtx)\s*)?[a-z]{1,3}\d{1,4}[a-z]{0,2}(?![a-z0-9])|card(?![a-z])|gpu(?![a-z])"
PART = re.compile(
    rf"(?P<zh>半|[二三四六八]分之一)\s*(?:[张块个片卡]|(?={_CARD}))|(?P<printed>1\s*/\s*[23468]|0?\.\d{{1,4}})\s*(?:[张块个片卡]|(?:of )?(?:an? )?(?={_CARD}))|"
    rf"(?<![a-z])(?P<en>(?:one[- ])?(?:half|third|quarter|fourth|sixth|eighth))[- ](?:of )?(?:an? )?(?={_CARD})|"
    rf"(?:{_CARD})\s*的?\s*(?:(?P<zh_behind>半|[二三四六八]分之一)\s*[张块个片卡]|(?P<printed_behind>1\s*/\s*[23468])(?!\s*\d))",
    re.I,
)
SLICED = re.compile(r"切片|v-?gpu(?![a-z])|(?<![a-z])(?:gpu |vgpu )?slices?(?![a-z])|fractional", re.I)
WHOLE = re.compile(r"整[卡张块]|(?<![a-z])(?:whole|full|entire) (?:card|gpu|one|t4|v100)", re.I)

_Host = tuple[int | None, Decimal | None]  # cores, GiB of host memory


@dataclass(frozen=True)
class MachineSize:
    """What is said of one machine; None where nothing is. `part` is the share of one card, 0 any share."""

    cores: int | None = None
    host_gib: Decimal | None = None
    cards: int | None = None
    part: Decimal | None = None

    def holds(self, offer: Offer) -> bool:
        """Whether a row is of this size."""
        if self.part is None:
            whole = not offer.is_slice
        else:
            whole = offer.is_slice and (not self.part or abs(offer.gpu_fraction - self.part) < NEAR)
        return (
            whole
            and self.cores in (None, offer.cpu_cores)
            and self.host_gib in (None, offer.host_memory_gib)
            and self.cards in (None, offer.gpu_count)
        )


def sizes_said(question: str) -> tuple[MachineSize, ...]:
    """The machine sizes that a question names, in order; nothing where it names none.

    One number of cards by itself is no size: it says how many are wanted.
    """
    text = normalise(question).lower()
    whole = (MachineSize(cards=1),) if WHOLE.search(text) else ()
    if part := _part(text):
        return (MachineSize(part=part), *whole)
    if SLICED.search(text):
        return (MachineSize(part=Decimal(0)), *whole)
    hosts = _joined(list(dict.fromkeys(_hosts(text))))
    counts = list(dict.fromkeys(_counts(text)))
    if not hosts:
        return tuple(MachineSize(cards=cards) for cards in counts) if len(counts) > 1 else ()
    if len(counts) == len(hosts):
        return tuple(MachineSize(cores, gib, cards) for (cores, gib), cards in zip(hosts, counts, strict=True))
    shared = counts[0] if len(counts) == 1 else None
    return tuple(MachineSize(cores, gib, shared) for cores, gib in hosts)


def of_sizes(sizes: Sequence[MachineSize], offers: Iterable[Offer]) -> list[Offer]:
    """The rows of these sizes, one of each machine that is printed twice: the one that names its instance."""
    best: dict[tuple[object, ...], Offer] = {}
    for offer in offers:
        if not any(size.holds(offer) for size in sizes):
            continue
        key = (offer.provider, offer.gpu, offer.gpu_count, offer.gpu_fraction, offer.price, offer.currency, offer.region,
               offer.cpu_cores, offer.host_memory_gib)  # fmt: skip
        if key not in best or (offer.instance and not best[key].instance):
            best[key] = offer
    return list(best.values())


def _hosts(text: str) -> Iterator[_Host]:
    for found in SIZED.finditer(text):
        gib = found["beside"] or found["alone"] or found["behind"]
        yield (
            int(found["cores"]) if found["cores"] else None,
            Decimal(re.match(r"\d+", gib).group()) if gib else None,  # type: ignore[union-attr]
        )


def _joined(hosts: list[_Host]) -> list[_Host]:
    """ "32 GB RAM and 8 vCPUs" is one machine."""
    if len(hosts) == 2 and {(cores is None, gib is None) for cores, gib in hosts} == {(True, False), (False, True)}:
        return [(hosts[0][0] or hosts[1][0], hosts[0][1] or hosts[1][1])]
    return hosts


def _counts(text: str) -> Iterator[int]:
    """Numbers of cards said of machines; every "N 卡" counts as soon as one of them is said of a machine."""
    if not MACHINE.search(text):
        return
    for found in COUNTED.finditer(text):
        word = found["zh"] or found["en"]
        yield int(word) if word.isdigit() else NUMBERS[word]


def _part(text: str) -> Decimal | None:
    found = PART.search(text)
    if found is None:
        return None
    word = next(group for group in found.groupdict().values() if group)
    if "/" in word:
        return Decimal(1) / Decimal(word.split("/")[1].strip())
    return Decimal(PARTS.get(word.replace("-", " "), word))
