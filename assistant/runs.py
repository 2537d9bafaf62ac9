"""Answers about the measured ChatGLM fine-tuning runs and about the H100's speed against the A100.

Times come from the table; differences, estimates and costs from calculators. Nothing is known of other cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding, Status
from assistant.ledger import Ledger
from assistant.understand import Request
from knowledge.catalog import Speedup, TrainingRun


def training_time(request: Request, book: Ledger) -> Finding:
    """The runs in question with their times; compared, per row, estimated for other sizes, or priced."""
    s = request.slots
    other = [g for g in s.gpus if g != "RTX 4090"]
    if other or s.unknown:
        names = render.joined([render.name("gpu", g, book.language) for g in other] or s.unknown, book.language)
        mark = book.cite_runs(book.catalog.find_runs(s.models, (), s.methods))
        return book.finding("not_in_knowledge", book.say(
            f"没有 {names} 上的训练时长：表里的时间都是在 RTX 4090 上测的，不能直接套用{mark}。",
            f"No training time is known for the {names}: all times of the table were measured on an RTX 4090 and do not carry over {mark}."))  # fmt: skip
    known = {run.rows for run in book.catalog.training_runs}
    wanted = _rows(request, known)
    runs = book.catalog.find_runs(s.models, wanted & known, s.methods)
    if wanted - known:
        return _estimates(request, max(wanted - known), book)
    mark = book.cite_runs(runs)
    parts = [_times(runs, book, mark)] if len(runs) == 1 else _compared(runs, book, mark)
    price = s.price_per_hour
    status: Status = "answered"
    if price:
        parts.insert(0, _costs(runs, price, s.price_currency or "CNY", book, mark))
    elif request.aspects & {"price"}:
        status = "needs_detail"
        parts.append(book.say("文章没有给出 RTX 4090 的时价，费用算不出来；请告诉我你的每小时价格。",
                              "The articles give no hourly price for an RTX 4090, so the cost is unknown: please tell me your price per hour."))  # fmt: skip
    if "per_row" in request.aspects or len(runs) == 1:
        parts.append(_per_row(runs, book))
    parts.append(_note(runs, book))
    return book.finding(status, *parts)


def speedup(request: Request, book: Ledger) -> Finding | None:
    """H100 against A100: times of a job moved across, or the price below which the H100 is the cheaper way."""
    s = request.slots
    rows = [r for r in book.catalog.speedups if not set(s.gpus) - {r.faster, r.slower}]
    if not rows or s.unknown:
        return None
    wanted = [r for r in rows if r.task in request.aspects] or rows
    mark = book.cite_speedups(wanted)
    head = "  \n".join(_factor(r, book) for r in wanted) + mark
    prices = "price" in request.aspects or "break_even" in request.aspects
    if prices and (s.providers or "break_even" in request.aspects or s.price_per_hour):
        return book.finding("answered", *_break_even(request, wanted, book), head)
    if any(period.hours != 1 for period in s.periods):
        return book.finding("answered", *_moved(request, wanted, book), head)
    return book.finding("answered", head, book.say("数字引自 Tim Dettmers 的选卡指南，是约数，随模型与设置而变。", "The figures are quoted from Tim Dettmers' guide; they are approximate and vary with model and set-up."))  # fmt: skip


def _rows(request: Request, known: set[int]) -> set[int]:
    """Row counts asked for; "the large data set" is the larger of the two measured."""
    if request.slots.rows:
        return {
            min(known, key=lambda k: abs(k - r)) if any(abs(k - r) <= k / 500 for k in known) else r
            for r in request.slots.rows
        }
    if "large_data" in request.aspects:
        return {max(known)}
    return {min(known)} if "small_data" in request.aspects else set()


def _label(run: TrainingRun, book: Ledger) -> str:
    return book.say(f"{run.model} {run.method} {run.rows:,} 条", f"{run.model} {run.method}, {run.rows:,} rows")


def _spoken(seconds: int, book: Ledger) -> str:
    h, m, s = seconds // 3600, seconds // 60 % 60, seconds % 60
    return book.say(f"{h} 小时 {m} 分 {s} 秒", f"{h} h {m} min {s} s")


def _times(runs: Sequence[TrainingRun], book: Ledger, mark: str) -> str:
    run = runs[0]
    return book.say(f"**RTX 4090 上 {_label(run, book)}：{run.duration}**（{_spoken(run.seconds, book)}）{mark}",
                    f"**{_label(run, book)} on an RTX 4090: {run.duration}** ({_spoken(run.seconds, book)}) {mark}")  # fmt: skip


def _compared(runs: Sequence[TrainingRun], book: Ledger, mark: str) -> list[str]:
    """A table of the runs, headed by the difference wherever two runs differ in one thing only."""
    headings = [
        book.say("模型", "Model"),
        book.say("数据条数", "Rows"),
        book.say("技术", "Technique"),
        book.say("时长", "Time"),
    ]
    body = render.table(headings, [[r.model, f"{r.rows:,}", r.method, r.duration] for r in runs])
    lines = [_difference(a, b, book) for i, a in enumerate(runs) for b in runs[i + 1 :] if _one_thing_apart(a, b)]
    intro = book.say(f"RTX 4090 上的微调时长{mark}：", f"Fine-tuning times on an RTX 4090 {mark}:")
    return ["  \n".join(lines[:4]), intro, body] if 0 < len(lines) <= 4 else [intro, body]


def _one_thing_apart(a: TrainingRun, b: TrainingRun) -> bool:
    return sum((a.model != b.model, a.rows != b.rows, a.method != b.method)) == 1


def _difference(a: TrainingRun, b: TrainingRun, book: Ledger) -> str:
    slow, fast = (a, b) if a.seconds >= b.seconds else (b, a)
    out = book.compute("run_difference", slower_seconds=slow.seconds, faster_seconds=fast.seconds).outputs
    return book.say(
        f"**{_label(fast, book)}更快**：{fast.duration} 对 {slow.duration}（{_label(slow, book)}），少用 {out['saved']}，省时 {out['saved_percent']} %，速度是 {out['speedup_factor']} 倍。",
        f"**{_label(fast, book)} is faster**: {fast.duration} against {slow.duration} ({_label(slow, book)}), {out['saved']} less, {out['saved_percent']} % of the time saved, {out['speedup_factor']}x as fast.")  # fmt: skip


def _costs(runs: Sequence[TrainingRun], price: Decimal, currency: str, book: Ledger, mark: str) -> str:
    lines = []
    for run in runs:
        result = book.compute("run_cost", seconds=run.seconds, price_per_hour=price, currency=currency)
        total = render.cash(result.value, currency, book.language)
        lines.append(book.say(f"**{_label(run, book)}：{total}**{mark}", f"**{_label(run, book)}: {total}** {mark}"))
        lines.append(render.formula(result.formula, book.language))
    own = render.amount(price, currency, book.language, "hour")
    return "  \n".join([*lines, book.say(f"用的是你给的 RTX 4090 价格 {own}。", f"Uses your RTX 4090 price of {own}.")])


def _per_row(runs: Sequence[TrainingRun], book: Ledger) -> str:
    lines = []
    for run in runs:
        result = book.compute("run_speed", rows=run.rows, seconds=run.seconds)
        out = result.outputs
        lines.append(book.say(f"{_label(run, book)}：平均每条 {out['seconds_per_row']} 秒，每小时约 {int(out['rows_per_hour']):,} 条",
                              f"{_label(run, book)}: {out['seconds_per_row']} s per row, about {int(out['rows_per_hour']):,} rows per hour"))  # fmt: skip
    return render.bullets(lines)


def _estimates(request: Request, rows: int, book: Ledger) -> Finding:
    """Other row counts: a straight line through the two measured points of each model and method."""
    s, lines, cited = request.slots, [], []
    for model, method in dict.fromkeys((r.model, r.method) for r in book.catalog.find_runs(s.models, (), s.methods)):
        small, large = sorted(book.catalog.find_runs([model], (), [method]), key=lambda r: r.rows)
        result = book.compute("run_estimate", rows=rows, small_rows=small.rows, small_seconds=small.seconds,
                              large_rows=large.rows, large_seconds=large.seconds)  # fmt: skip
        out = result.outputs
        cited += [small, large]
        outside = book.say("，超出实测范围", ", outside the measured range") if out["kind"] == "extrapolation" else ""
        lines.append(book.say(f"**{model} {method} {rows:,} 条：约 {out['duration']}**（{out['hours']} 小时，按两个实测点直线估算{outside}，不是实测）",
                              f"**{model} {method}, {rows:,} rows: about {out['duration']}** ({out['hours']} hours, a straight line through the two measured runs{outside}; not measured)"))  # fmt: skip
        lines.append(render.formula(result.formula, book.language))
        if s.price_per_hour:
            cost = book.compute(
                "run_cost",
                seconds=int(result.value),
                price_per_hour=s.price_per_hour,
                currency=s.price_currency or "CNY",
            )
            lines.append(render.formula(cost.formula, book.language))
    mark = book.cite_runs(cited)
    return book.finding(
        "answered",
        "  \n".join(lines),
        book.say(
            f"依据 RTX 4090 上 9,999 条与 39,333 条的实测{mark}。",
            f"Based on the RTX 4090 runs on 9,999 and 39,333 rows {mark}.",
        ),
    )


def _note(runs: Sequence[TrainingRun], book: Ledger) -> str:
    pt2 = any(r.method == "pt2" for r in runs)
    zh = ["表中没有写训练轮数、批大小和学习率"] + (["pt2 很可能指 P-Tuning v2（表中未定义）"] if pt2 else [])
    en = ["the table does not state epochs, batch size or learning rate"] + (
        ["pt2 most likely means P-Tuning v2 (the table does not define it)"] if pt2 else []
    )
    return book.say(f"注意：{'；'.join(zh)}。", f"Note: {'; '.join(en)}.")


def _factor(row: Speedup, book: Ledger) -> str:
    factor = number(row.factor)
    return book.say(f"{row.precision} {'训练' if row.task == 'training' else '推理'}：{row.faster} 比 {row.slower} 快约 **{factor} 倍**",
                    f"{row.precision} {row.task}: the {row.faster} is about **{factor}x** as fast as the {row.slower}")  # fmt: skip


def _moved(request: Request, rows: Sequence[Speedup], book: Ledger) -> list[str]:
    """The job's hours on the other card; the card said first is taken as the one it ran on."""
    lines = []
    for row in rows:
        on_faster = request.slots.gpus[:1] == (row.faster,)
        for period in request.slots.periods:
            out = book.compute("faster_card_time", hours=period.hours, factor=row.factor).outputs
            hours = number(Decimal(out["hours_on_slower" if on_faster else "hours_on_faster"]))
            here, there = (row.faster, row.slower) if on_faster else (row.slower, row.faster)
            sign = "×" if on_faster else "÷"
            lines.append(book.say(f"**{here} 上 {number(period.hours)} 小时的{'训练' if row.task == 'training' else '推理'}，在 {there} 上约 {hours} 小时**（{number(period.hours)} {sign} {number(row.factor)}）",
                                  f"**{number(period.hours)} hours of {row.task} on an {here} take about {hours} hours on an {there}** ({number(period.hours)} {sign} {number(row.factor)})"))  # fmt: skip
    return ["  \n".join(lines)]


def _break_even(request: Request, rows: Sequence[Speedup], book: Ledger) -> list[str]:
    lang, lines = book.language, []
    offers = book.catalog.find_offers([rows[0].slower], request.slots.providers)
    mark = book.cite_offers(offers) if offers else ""
    for row in rows:
        for offer in offers:
            result = book.compute(
                "break_even_price", price_per_hour=offer.price, factor=row.factor, currency=offer.currency
            )
            who, price = (
                render.name("provider", offer.provider, lang),
                render.amount(result.value, offer.currency, lang, "hour"),
            )
            task = row.task if lang == "en" else {"training": "训练", "inference": "推理"}[row.task]
            lines.append(book.say(f"**{task}：{row.faster} 低于 {price} 时比{who} {row.slower} 划算**{mark}  \n",
                                  f"**{task}: below {price} an {row.faster} beats the {row.slower} at {who}** {mark}  \n") + render.formula(result.formula, lang))  # fmt: skip
    return [
        "  \n".join(lines),
        book.say(
            "这是盈亏平衡价，不是 H100 的报价；知识库里没有 H100 的租用时价。",
            "These are break-even prices, not offers; no hourly H100 rent is known.",
        ),
    ]
