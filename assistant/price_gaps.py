"""What is said where no row prices what was asked: an unknown name, a card or cloud without a row, nothing named.

Names who does list it, and never another's price.
"""

from __future__ import annotations

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.understand import Request

MOST_CLOUDS = 12  # named


def refuse_unknown(request: Request, book: Ledger) -> Finding | None:
    """A name that no table knows has no price: say so, and offer no other's."""
    if not request.slots.unknown:
        return None
    names = render.joined(request.slots.unknown, book.language)
    return book.finding("not_in_knowledge", book.say(f"知识库里没有 {names}，给不出它的价格或参数。", f"The knowledge base does not know {names}, so there is no price or specification to give."), _known(book))  # fmt: skip


def missing(request: Request, book: Ledger) -> Finding:
    """No row for what was asked. Purchase prices may exist where rents do not; they are named as such."""
    s, lang = request.slots, book.language
    gpus = render.joined((render.name("gpu", g, lang) for g in s.gpus), lang)
    providers = render.joined((render.name("provider", p, lang) for p in s.providers), lang)
    subject = (
        " ".join(part for part in (providers, gpus) if part)
        if lang == "zh"
        else " ".join(part for part in (gpus, f"at {providers}" if providers else "") if part)
    )
    bought = book.catalog.find_purchases(s.gpus) if s.gpus and not s.providers else []
    what = book.say("租用价格", "rental price")
    text = book.say(f"知识库里没有{_spaced(subject)}的{what}。", f"The knowledge base has no {what} for {subject}.")
    if bought and "rent" not in request.aspects:
        mark = book.cite_purchases(bought)
        lines = [
            book.say(
                f"{p.gpu} 的购卡价：**{number(p.price)} 元/张**{mark}",
                f"buying one {p.gpu}: **{number(p.price)} CNY**{mark}",
            )
            for p in bought
        ]
        return book.finding("answered", render.bullets(lines), text)
    return book.finding("not_in_knowledge", text, _elsewhere(request, book) or _known(book))


def ask_which(book: Ledger) -> Finding:
    """Nothing was named: ask for the card, with the choices there are."""
    gpus, providers = _priced(book)
    return book.finding("needs_detail", book.say(
        f"请问是哪款 GPU、哪家云、几张卡、租多久？有人民币时价的 GPU：{gpus}；云：{providers}；其他 GPU 多为美元价。",
        f"Which GPU, which cloud, how many cards and for how long? Hourly prices in CNY are known for: {gpus}; clouds: {providers}; most other GPUs are priced in USD."))  # fmt: skip


def _spaced(name: str) -> str:
    """Blanks between Chinese and Latin letters only."""
    return (" " if name[:1].isascii() else "") + name + (" " if name[-1:].isascii() else "")


def _elsewhere(request: Request, book: Ledger) -> str:
    """Who does list the GPU; names only, since another's price is no answer."""
    offers = book.catalog.find_offers(request.slots.gpus) if request.slots.gpus else []
    if not offers:
        return ""
    lang = book.language
    who = render.joined((render.name("provider", p, lang) for p in list(dict.fromkeys(o.provider for o in offers))[:MOST_CLOUDS]), lang)  # fmt: skip
    gpus = render.joined(dict.fromkeys(o.gpu for o in offers), lang)
    return book.say(
        f"有 {gpus} 时价的云是：{who}。要看这几家的价格吗？",
        f"Clouds with an hourly price for {gpus}: {who}. Shall I show those?",
    )


def _known(book: Ledger) -> str:
    gpus, providers = _priced(book)
    return book.say(f"目前有人民币租用时价的是{providers}的 {gpus}；其他 GPU 多为美元价。",
                    f"Rental prices in CNY are known for {gpus} at {providers}; most other GPUs are priced in USD.")  # fmt: skip


def _priced(book: Ledger) -> tuple[str, str]:
    """The GPUs and clouds with prices in CNY, for readers."""
    offers, lang = book.catalog.find_offers(currency="CNY"), book.language
    gpus = render.joined(dict.fromkeys(o.gpu for o in offers), lang)
    return gpus, render.joined(dict.fromkeys(render.name("provider", o.provider, lang) for o in offers), lang)
