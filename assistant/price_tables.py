"""The parts of a price answer: tables of offers, and the notes that say what the rows do not.

Renders rows it is given; which rows answer a question is decided in prices.py.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.catalog import Offer
from knowledge.offers import staleness

PRICING_MODELS = {
    "on-demand": ("按需", "on demand"), "spot": ("竞价", "spot"), "monthly": ("包月", "monthly"),
    "community": ("社区云", "community cloud"), "lowest-listed": ("市场最低挂牌", "lowest listed"),
    "marketplace-min": ("市场最低价", "marketplace minimum"), "spot-estimated": ("竞价（估计）", "spot (estimated)"),
}  # fmt: skip
FLAGS = {
    "gpu-only": ("CPU 与内存另计", "CPU and memory billed on top"), "dynamic": ("价格浮动", "price floats"),
    "estimated": ("按比例估计，非报价", "an estimate, not a quote"), "placeholder": ("竞价与按需同价，疑为占位", "spot equals on-demand: may be a placeholder"),
    "spot-above-on-demand": ("竞价反而高于按需，存疑", "spot above on-demand: doubtful"), "virtual": ("远程虚拟 GPU", "GPU over IP"),
    "marketplace-minimum": ("市场最低价，实际常贵得多", "marketplace minimum, in fact commonly dearer"),
    "median": ("当日报价中位数", "median of the day's offers"), "compute-only": ("不含磁盘与网络", "without disk and network"),
    "local-ssd-mandatory": ("必须加购本地 SSD", "a local SSD is mandatory on top"), "sold-by-eight": ("只按整机出售", "sold as whole nodes only"),
    "usd-for-chinese-cloud": ("来源以美元印出", "printed in US dollars"), "modded": ("改装卡", "modified card"), "per-chip": ("按芯片", "per chip"),
    "community-as-spot": ("实为社区云价", "in fact the community price"), "odd-instance-name": ("规格名存疑", "instance name is doubtful"),
    "memory-corrected": ("来源的显存已更正", "the source's memory size corrected"), "slice": ("切片，不是整卡", "a slice, not a whole card"),
}  # fmt: skip


def in_currencies(offers: Sequence[Offer]) -> list[list[Offer]]:
    """The offers by currency, in their order; prices of two currencies never stand in one comparison."""
    return [[o for o in offers if o.currency == currency] for currency in dict.fromkeys(o.currency for o in offers)]


def plain(offers: Sequence[Offer]) -> bool:
    """Rows of one whole GPU, undated and of unstated form: the article's table, shown with its hosts."""
    return all(o.gpu_count == 1 and not o.as_of and o.host_memory_gib is not None and not o.gpu_form for o in offers)


def price_table(offers: Sequence[Offer], book: Ledger, *, differences: bool = False) -> str:
    """One row per offer of one currency; `differences` adds how much each is above the cheapest of its GPU."""
    return _host_table(offers, book, differences) if plain(offers) else _market_table(offers, book)


def _host_table(offers: Sequence[Offer], book: Ledger, differences: bool) -> str:
    lang = book.language
    headings = [book.say("云", "Cloud"), "GPU", per_hour(offers[0].currency, book), "CPU", book.say("主机内存", "Host memory")]  # fmt: skip
    if differences:
        headings.append(book.say("比最低价贵", "Above lowest"))
    rows = []
    for offer in offers:
        row = [render.name("provider", offer.provider, lang), offer.gpu, number(offer.price), render.cores(offer, lang),
               f"{number(offer.host_memory_gib or Decimal(0))} GiB"]  # fmt: skip
        rows.append([*row, _above(offer, offers, book)] if differences else row)
    return render.table(headings, rows)


def _market_table(offers: Sequence[Offer], book: Ledger) -> str:
    """Catalogue rows: form, GPUs in the instance, price of the instance and of one GPU, date or none."""
    lang = book.language
    headings = [
        book.say("云", "Cloud"), "GPU", book.say("实例", "Instance"), per_hour(offers[0].currency, book),
        book.say(f"每卡（{render.unit(offers[0].currency, 'zh')}/小时）", f"Per GPU ({offers[0].currency}/hour)"),
        book.say("计费", "Billing"), book.say("日期", "Date"),
    ]  # fmt: skip
    rows = []
    for offer in offers:
        instance = render.joined(
            [render.cards(offer.gpu_count, lang), *([offer.instance] if offer.instance else [])], lang
        )
        billing = render.say(lang, *PRICING_MODELS.get(offer.pricing_model, (offer.pricing_model,) * 2))
        remarks = [
            render.say(lang, *FLAGS[flag])
            for flag in offer.flags
            if flag in FLAGS and flag not in ("median", "per-chip")
        ]
        rows.append([
            render.name("provider", offer.provider, lang), offer.gpu_form or f"{offer.gpu}{_size(offer)}", instance,
            number(offer.price), number(per_gpu(offer)), render.joined([billing, *remarks], lang), _dated(offer, book),
        ])  # fmt: skip
    return render.table(headings, rows)


def per_gpu(offer: Offer) -> Decimal:
    """Price of one whole GPU for one hour, to four decimals."""
    return offer.price_per_gpu_hour.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP).normalize()


def per_hour(currency: str, book: Ledger) -> str:
    """The heading of a price column."""
    return book.say(f"价格（{render.unit(currency, 'zh')}/小时）", f"Price ({currency}/hour)")


def caveats(offers: Sequence[Offer], book: Ledger) -> str:
    """What the rows do not say, once per answer."""
    lang, today = book.language, date.today()
    undated, several = any(not o.as_of for o in offers), len(offers) > 1
    forms = sorted({o.gpu for o in offers if not o.gpu_form and len(book.catalog.memory_sizes_gb(o.gpu)) > 1})
    ages = {staleness(o, today) for o in offers}
    parts = []
    if undated and plain(offers):
        parts.append(("价格未注明日期和地域", "the prices state neither date nor region"))
    elif undated:
        some = any(o.as_of for o in offers)
        parts.append(
            (
                "部分价格未注明日期" if some else "价格未注明日期",
                "some prices are undated" if some else "the price is undated",
            )
        )
    parts += [(f"{g} 的形态与显存未注明{'，各家可能不是同一种卡' if several else ''}",
               f"the form and memory of the {g} are not stated{', so the rows may be different cards' if several else ''}") for g in forms]  # fmt: skip
    if any(o.host_memory_gib is not None for o in offers) and plain(offers):
        parts.append(("内存列是主机内存，不是显存", "the memory column is host memory, not GPU memory"))
    if "stale" in ages:
        parts.append(("有的价格已经很旧，只供参考，不据此推荐", "some prices are too old to recommend by: for reference only"))  # fmt: skip
    elif "ageing" in ages:
        parts.append(("有的价格已有些旧，下单前请核实", "some prices are ageing: check before ordering"))  # fmt: skip
    if not parts:
        return ""
    return book.say(f"注意：{'；'.join(zh for zh, _ in parts)}。", f"Note: {'; '.join(en for _, en in parts)}.") if lang else ""  # fmt: skip


def more_note(shown: int, total: int, book: Ledger) -> str:
    """How many dearer rows a table does not show."""
    if total > shown:
        book.count("offers.csv", total, shown)
    return book.say(f"共 {total} 行，只列最低的 {shown} 行。", f"{total} rows in all; only the {shown} lowest are shown.") if total > shown else ""  # fmt: skip


def form_note(request: Request, offers: Sequence[Offer], book: Ledger) -> str:
    """The question names a memory size, but a row of that card does not say which size it is."""
    sizes = [number(size) for size in request.slots.memory_gb if size in (40, 80)]
    if not sizes or "A100" not in request.slots.gpus or all(o.gpu_form for o in offers if o.gpu == "A100"):
        return ""
    size = "/".join(sizes)
    by_size = {gpu.memory.high: gpu for gpu in book.catalog.gpus_of("A100") if gpu.memory}
    mark = "".join(book.cite_gpu(gpu) for gpu in by_size.values())
    return book.say(f"价格表没有写明 A100 是 40 GB 还是 80 GB{mark}，所以无法确定哪一行是 {size} GB；下面是表里的 A100 价格。",
                    f"The price table does not say whether an A100 has 40 or 80 GB {mark}, so no row can be called the {size} GB one; these are its A100 prices.")  # fmt: skip


def terms_note(unmet: Collection[str], book: Ledger, currency: str = "CNY") -> str:
    """What the question asks of the price that no row states: spot, reserved, stock, dollars."""
    words = {"plan": ("包月、包年或折扣价", "monthly, reserved or discount price"), "spot": ("竞价（抢占式）价格", "spot price"),
             "stock": ("库存情况", "stock information"), "dollars": ("美元价格或汇率", "US dollar price or exchange rate")}  # fmt: skip
    asked = [words[aspect] for aspect in words if aspect in unmet]
    if not asked:
        return ""
    return book.say(
        f"知识库里没有{'、'.join(zh for zh, _ in asked)}，只有按需的每小时价格（{render.unit(currency, 'zh')}）：",
        f"The knowledge base has no {' and no '.join(en for _, en in asked)}, only on-demand hourly prices in {currency}:",
    )


def _dated(offer: Offer, book: Ledger) -> str:
    if not offer.as_of:
        return book.say("未注明", "undated")
    old = staleness(offer, date.today()) == "stale"
    return offer.as_of + (book.say("（旧）", " (old)") if old else "")


def _size(offer: Offer) -> str:
    return f" {number(offer.gpu_memory_gb)} GB" if offer.gpu_memory_gb else ""


def _above(offer: Offer, offers: Sequence[Offer], book: Ledger) -> str:
    lowest = min(o.price for o in offers if o.gpu == offer.gpu)
    if offer.price == lowest:
        return book.say("最低", "lowest")
    outputs = book.compute("price_difference", dearer=offer.price, cheaper=lowest, currency=offer.currency).outputs
    more = render.amount(Decimal(outputs["difference"]), offer.currency, book.language)
    return f"+{more} (+{outputs['surplus_percent']} %)"
