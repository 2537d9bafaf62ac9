"""Which card to rent for a fine-tuning that says no card: for each method the cheapest that holds it, and what the money buys.

The memory is training_memory's, the order that of rank_gpus; how long the training takes is pretraining.py's question.
"""

from __future__ import annotations

from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.calculator.training_memory import VISIBLE_SHARE
from assistant.conversion import convert
from assistant.evidence import Finding
from assistant.finetuning import finetune_memory
from assistant.finetuning_cases import METHODS, Job, adapter_targets, methods_named
from assistant.ledger import Ledger
from assistant.offer_prices import CardPrice, currency_of, rented
from assistant.served_model import Served
from assistant.understand import Request
from knowledge.catalog import Offer

OLDEST_CAPABILITY = Decimal("7.0")  # bitsandbytes' 4-bit kernels and PyTorch's current builds
MOST_CARDS = 8


def cards_for_finetuning(request: Request, models: list[Served], book: Ledger) -> Finding | None:
    """The memory that it takes, headed by the cheapest rents that hold it; memory alone where cards or no choice are said."""
    s = request.slots
    memory = finetune_memory(request, book)
    if memory is None or memory.status != "answered" or s.gpus or s.memory_gb or s.workloads or s.unknown:
        return memory
    parts = _rents(request, models[0], book)
    return book.finding("answered", *parts, memory.markdown) if parts else memory


def _rents(request: Request, model: Served, book: Ledger) -> list[str]:
    s = request.slots
    currency, money, line = currency_of(request, book), s.money, ""
    if currency == "CNY" and not s.providers:  # few cards are for rent in yuan
        currency = "USD"
        changed = convert(money, "CNY", "USD", request, book) if money else None
        money, line = (changed.value, changed.line) if changed else (money, "")
    cards = [
        card for card in rented(currency, s.providers, book) if (card.spec.compute_capability or 0) >= OLDEST_CAPABILITY
    ]
    if not cards:
        return []
    job = Job(
        model, s.workload, s.count or 1, (), book, adapter_targets(request.question), methods_named(request.question)
    )
    rows, heads = [], []
    by_method = {
        setting.method: setting for setting in job.computable() if setting.gpus == 1
    }  # the last: with checkpointing
    for setting in by_method.values():
        case = job.case(setting)
        found = _cheapest(Decimal(case.result.outputs["per_gpu_gib"]), cards, currency, book)
        if found is None:
            continue
        count, card, offer = found
        mark = book.cite_offers([offer])
        name = book.say(f"{count} 张 {card.gpu.name}", f"{count}× {card.gpu.name}")
        cost = book.compute("rental_cost", gpus=count, hours=Decimal(1), price_per_hour=offer.price, currency=currency, gpus_per_instance=offer.gpu_count)  # fmt: skip
        hourly = render.amount(cost.value, currency, book.language, "hour")
        row = [METHODS[setting.method][book.language], f"{case.figure('per_gpu_gib')} GiB", f"{name} {mark}", hourly]
        if money:
            hours = book.compute(
                "budget_hours",
                budget=money,
                price_per_hour=offer.price / offer.gpu_count,
                gpus=count,
                currency=currency,
            )
            row.append(number(hours.value))
        rows.append(row)
        heads.append((METHODS[setting.method][book.language], name, hourly, row[-1] if money else ""))
    if not rows:
        return []
    return [_head(model, heads, book), _table(rows, currency, bool(money), book), line, _notes(book)]


def _cheapest(
    need_gib: Decimal, cards: list[CardPrice], currency: str, book: Ledger
) -> tuple[int, CardPrice, Offer] | None:
    """The cheapest single card that holds it, else the cheapest number of cards by memory alone."""
    for most in (1, MOST_CARDS):
        result = book.compute(
            "rank_gpus", candidates=[{"gpu": card.spec, "prices": card.price_rows(), "memory_need_gib": need_gib} for card in cards],
            max_gpus=most, usable_share=VISIBLE_SHARE, ownership="rent", order="cost",
        )  # fmt: skip
        first = next((row for row in result.rows if row["part"] == "ranked"), None)
        if first is not None:
            card = next(card for card in cards if card.spec.name == first["gpu"])
            offer = next(row for row in card.rows if str(row.row) == first["source"])
            return (int(first["gpus"]), card, offer) if isinstance(offer, Offer) else None
    return None


def _head(model: Served, heads: list[tuple[str, str, str, str]], book: Ledger) -> str:
    least = heads[-1]
    hours_zh, hours_en = (
        (f"，这笔钱够租约 {least[3]} 小时", f", about {least[3]} hours for the money") if least[3] else ("", "")
    )
    return book.say(f"**微调 {model.label} 最省的是 {least[0]}：租 {least[1]}，{least[2]}{hours_zh}**",
                    f"**The cheapest way to fine-tune {model.label} is {least[0]}: rent {least[1]}, {least[2]}{hours_en}**")  # fmt: skip


def _table(rows: list[list[str]], currency: str, with_hours: bool, book: Ledger) -> str:
    headings = [
        book.say("做法", "Method"),
        book.say("要的显存", "Memory it takes"),
        book.say("最便宜能租的", "Cheapest to rent"),
        book.say("租金", "Rent"),
    ]
    return render.table([*headings, *([book.say("够租（小时）", "Hours for the money")] if with_hours else [])], rows)


def _notes(book: Ledger) -> str:
    return render.bullets([
        book.say("只按显存放得下挑最便宜的；更快的卡每小时贵、总时长短，说出条数和 token 数可以算时间和总价。",
                 "The cheapest that holds it by memory; a faster card costs more an hour and takes fewer: say rows and tokens to have time and total."),
        book.say("免费的学习平台（如 Kaggle、Colab）也能跑小模型的 QLoRA，额度另问。",
                 "Free learning platforms such as Kaggle and Colab run the QLoRA of a small model too; ask for their quotas."),
    ])  # fmt: skip
