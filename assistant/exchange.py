"""Prices of several currencies side by side, at a rate that is said: the reader's own, or the newest of rates.csv.

Converts nothing silently: every conversion shows its rate, date and source.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.agreed_rate import agreed_rate
from assistant.calculator.calculation import number
from assistant.ledger import Ledger
from assistant.price_tables import per_gpu
from assistant.understand import Request
from knowledge.catalog import Offer


def side_by_side(request: Request, offers: Sequence[Offer], book: Ledger, currency: str) -> list[str]:
    """The offers in one currency, cheapest first, with the rate; nothing where no rate is known for one of them."""
    own = agreed_rate(request.question)
    rates, mark = [], ""
    for foreign in sorted({o.currency for o in offers} | {currency}):
        row = book.catalog.rate(foreign)
        if foreign == "USD":
            continue
        if own and foreign == "CNY":
            rates.append({"currency": "CNY", "per_usd": own, "as_of": str(row.year) if row else "2026", "source": book.say("你给的汇率", "your rate")})  # fmt: skip
        elif row:
            rates.append(
                {"currency": foreign, "per_usd": row.units_per_usd, "as_of": str(row.year), "source": row.source}
            )
            mark += book.cite_rate(row)
        else:
            return []
    lines = []
    for offer in offers:
        price = per_gpu(offer)
        if offer.currency != currency:
            price = book.compute("currency_conversion", amount=price, from_currency=offer.currency, to_currency=currency, rates=rates).value  # fmt: skip
        lines.append((price, offer))
    lines.sort(key=lambda line: line[0])
    best, lang, unit = lines[0][1], book.language, render.unit(currency, book.language)
    per_usd = next((number(Decimal(str(rate["per_usd"]))) for rate in rates if rate["currency"] == "CNY"), "")
    rate_text = book.say(
        f"按你给的汇率 1 美元 = {per_usd} 元" if own else f"按 {rates[0]['as_of']} 年平均汇率 1 美元 = {per_usd} 元",
        f"at your rate of {per_usd} CNY for 1 USD" if own else f"at the average rate of {rates[0]['as_of']}, {per_usd} CNY for 1 USD",
    )  # fmt: skip
    who = render.name("provider", best.provider, lang)
    head = book.say(f"**{rate_text}折算，每卡每小时最便宜的是{who} {best.gpu_form or best.gpu}：{number(lines[0][0])} {unit}**{mark}",
                    f"**Converted {rate_text}, the cheapest per GPU-hour is the {best.gpu_form or best.gpu} at {who}: {number(lines[0][0])} {unit}** {mark}")  # fmt: skip
    table = render.table(
        [book.say("云", "Cloud"), "GPU", book.say("原价（每卡每小时）", "Price per GPU-hour"), book.say(f"折合（{unit}）", f"Converted ({unit})")],
        [[render.name("provider", o.provider, lang), o.gpu_form or o.gpu, render.amount(per_gpu(o), o.currency, lang), number(price)] for price, o in lines],
    )  # fmt: skip
    return [head, table]
