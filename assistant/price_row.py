"""One price row in full: every cell in words, its flags, and where it comes from (title, file, line, trust, note).

Errors: SnapshotBrokenError (the imported prices cannot be read).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Bilingual, Language
from assistant.price_purchases import purchase_age
from assistant.price_view import card_memory, dated, money, source_title
from assistant.price_words import NOT_STATED, PER, flag, market, pricing_model
from knowledge.catalog import Offer, Purchase, load_catalog
from knowledge.names import display
from knowledge.offers import age_days, staleness

TRUST = {
    "official-dated": Bilingual(zh="官方价目，注明日期", en="official price list, dated"),
    "official-undated": Bilingual(zh="官方价目，未注明日期", en="official price list, undated"),
    "catalogue-dated": Bilingual(zh="第三方价格目录，注明日期", en="third-party catalogue, dated"),
    "catalogue-undated": Bilingual(zh="第三方价格目录，未注明日期", en="third-party catalogue, undated"),
    "article": Bilingual(zh="文章", en="article"),
    "estimate": Bilingual(zh="估计", en="estimate"),
}


@dataclass(frozen=True)
class RowDetail:
    """(what a cell is called, what it holds) of one row, in order, under a title."""

    title: str
    cells: tuple[tuple[str, str], ...]


def offer_detail(id: str, language: Language, today: date) -> RowDetail | None:
    """The rental row of this id; None where there is none (any more)."""
    offer = load_catalog().offers.offer(id)
    if offer is None:
        return None
    title = f"{display('gpu', offer.gpu, language)} · {display('provider', offer.provider, language)}"
    return RowDetail(title, tuple((words[language], text) for words, text in _offer_cells(offer, language, today)))


def purchase_detail(id: str, language: Language, today: date) -> RowDetail | None:
    """The purchase row of this id; None where there is none."""
    purchase = next((row for row in load_catalog().purchases if row.id == id), None)
    if purchase is None:
        return None
    cells = _purchase_cells(purchase, language, today)
    return RowDetail(display("gpu", purchase.gpu, language), tuple((words[language], text) for words, text in cells))


def _offer_cells(offer: Offer, language: Language, today: date) -> list[tuple[Bilingual, str]]:
    silent, memory = NOT_STATED[language], card_memory(offer)
    flags = ("；" if language == "zh" else "; ").join(flag(key, language) for key in offer.flags)
    cpu = silent if offer.cpu_cores is None else render.cores(offer, language)
    return [
        (Bilingual(zh="云厂商", en="Provider"), f"{display('provider', offer.provider, language)} ({offer.provider})"),
        (Bilingual(zh="GPU", en="GPU"), display("gpu", offer.gpu, language)),
        (Bilingual(zh="形态", en="Form"), offer.gpu_form or silent),
        (Bilingual(zh="显存（每卡）", en="GPU memory (per card)"), f"{number(memory[0])} {memory[1]}" if memory else silent),
        (Bilingual(zh="卡数", en="Cards"), number(offer.gpu_count * offer.gpu_fraction)),
        (Bilingual(zh="实例", en="Instance"), offer.instance or silent),
        (Bilingual(zh="地域", en="Region"), offer.region or silent),
        (Bilingual(zh="CPU", en="CPU"), cpu),
        (Bilingual(zh="主机内存", en="Host memory"),
         silent if offer.host_memory_gib is None else f"{number(offer.host_memory_gib)} GiB"),
        (Bilingual(zh="来源所标价格", en="Price as quoted"),
         f"{number(offer.price)} {offer.currency} {PER[offer.per][language] if offer.per in PER else offer.per}"),
        (Bilingual(zh="每卡每小时", en="Price per GPU-hour"),
         f"{money(offer.price_per_gpu_hour, '0.000001')} {offer.currency}{_formula(offer)}"),
        (Bilingual(zh="计费方式", en="Pricing model"), pricing_model(offer.pricing_model, language)),
        (Bilingual(zh="渠道", en="Channel"), offer.channel or silent),
        (Bilingual(zh="标记", en="Flags"), flags or ("无" if language == "zh" else "none")),
        (Bilingual(zh="价格日期", en="Price date"),
         dated(offer.as_of, age_days(offer, today), staleness(offer, today), language).text),
        *_source_cells(offer.source, language, ("offers.csv", offer.row), offer.origin),
        (Bilingual(zh="行号标识", en="Row id"), offer.id),
    ]  # fmt: skip


def _formula(offer: Offer) -> str:
    """How the price of a GPU-hour comes from the quoted one; "" where it is that one."""
    hours = " / 730" if offer.per == "instance-month" else ""
    count = f" / {offer.gpu_count}" if offer.gpu_count > 1 else ""
    share = f" / {offer.gpu_fraction:f}" if offer.is_slice else ""
    divided = f"{hours}{count}{share}"
    return f" = {number(offer.price)}{divided}" if divided else ""


def _purchase_cells(purchase: Purchase, language: Language, today: date) -> list[tuple[Bilingual, str]]:
    silent, (age, stale) = NOT_STATED[language], purchase_age(purchase, today)
    remark = purchase.remark_zh if language == "zh" else purchase.remark_en
    return [
        (Bilingual(zh="GPU", en="GPU"), display("gpu", purchase.gpu, language)),
        (Bilingual(zh="形态", en="Form"), purchase.gpu_form or silent),
        (Bilingual(zh="单卡价格", en="Price of one card"), f"{number(purchase.price)} {purchase.currency}"),
        (Bilingual(zh="哪种价格", en="Kind of price"), market(purchase.market, language)),
        (Bilingual(zh="来源所印显存", en="Memory as printed"), purchase.memory_as_printed or silent),
        (Bilingual(zh="备注", en="Remark"), remark or ("无" if language == "zh" else "none")),
        (Bilingual(zh="价格日期", en="Price date"), dated(purchase.as_of, age, stale, language).text),
        *_source_cells(purchase.source, language, ("purchases.csv", purchase.row), None),
        (Bilingual(zh="行号标识", en="Row id"), purchase.id),
    ]


def _source_cells(
    key: str, language: Language, place: tuple[str, int], origin: str | None
) -> list[tuple[Bilingual, str]]:  # fmt: skip
    """Title, file and row (as citations count them), when published, how far to trust it, what to know about it."""
    file, row = (origin or place[0]), place[1]
    where = f"{file} 第 {row} 行" if language == "zh" else f"{file} row {row}"
    cells = [
        (Bilingual(zh="来源", en="Source"), source_title(key, language)),
        (Bilingual(zh="所在位置", en="File and row"), where),
    ]
    source = load_catalog().sources.get(key)
    if source is None:
        return cells
    published = source.published_zh if language == "zh" else source.published_en
    note = source.note_zh if language == "zh" else source.note_en
    trust = TRUST[source.trust][language] if source.trust in TRUST else source.trust
    more = [
        (Bilingual(zh="来源日期", en="Published"), published),
        (Bilingual(zh="来源种类", en="Kind of source"), trust),
        (Bilingual(zh="来源说明", en="About the source"), note),
    ]
    return [*cells, *((words, text) for words, text in more if text)]
