"""That no row is of the machine size asked for, and which sizes there are of that card and cloud.

It picks no row and shows no price; the answer beside it is of the sizes there are.
"""

from __future__ import annotations

from assistant import price_selection, render
from assistant.calculator.calculation import number
from assistant.ledger import Ledger
from assistant.machine_sizes import MachineSize, sizes_said
from assistant.understand import Request
from knowledge.catalog import Offer

MOST_SIZES = 8


def no_such_size(request: Request, book: Ledger) -> str:
    """The note where the question names a machine size that no row has; empty where there is one, or none is named."""
    said = sizes_said(request.question)
    if not said or not request.slots.gpus or price_selection.sized_offers(request, book):
        return ""
    rows = price_selection.every_size(request, book)
    rows = [o for o in rows if o.cpu_cores and o.host_memory_gib and not o.is_slice]
    there = list(dict.fromkeys(_size_of(o, book) for o in rows))[:MOST_SIZES]
    asked = render.joined((_asked(size, book) for size in said), book.language)
    none = book.say(f"表里没有{asked}的价格。", f"No row has a price for {asked}.")
    if not there:
        return none
    mark = book.cite_offers(rows)
    return none + book.say(
        f"有的是：{render.joined(there, 'zh')}{mark}。", f" There are: {render.joined(there, 'en')} {mark}."
    )


def _asked(size: MachineSize, book: Ledger) -> str:
    if size.part is not None:
        share = number(size.part) if size.part else ""
        return book.say(
            f"一张卡的 {share} 这种切片" if share else "切片", f"a slice of {share} of a card" if share else "a slice"
        )
    return book.say("你说的这种大小的机器", "a machine of the size you name")


def _size_of(offer: Offer, book: Ledger) -> str:
    lang, cards = book.language, render.part_of_card(offer, book.language)
    host = f"{render.cores(offer, lang)} {number(offer.host_memory_gib)} GiB" if offer.host_memory_gib else ""
    return book.say(f"{cards} {host}", f"{cards} with {host}")
