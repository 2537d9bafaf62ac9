"""Answers about the measured ChatGLM fine-tuning runs.

Times come from the table; differences, estimates and costs from calculators. Nothing is known of other cards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from assistant import render
from assistant.evidence import Finding, Status
from assistant.ledger import Ledger
from assistant.run_rates import asks_rate, per_row, run_label, single_rows
from assistant.tools import ToolError
from assistant.understand import Request
from knowledge.catalog import TrainingRun

MOST_PAIRS = 4
MOST_ESTIMATES = 3
FASTEST = re.compile(r"最快|最短|(?:耗时|用时|时间)最少|fastest|quickest|shortest|least time")
SLOWEST = re.compile(r"最慢|最长|最久|(?:耗时|用时|时间)最多|slowest|longest|most time")
TOGETHER = re.compile(
    r"一共|总共|合计|加起来|总时长|总时间|总耗时|together|in total|in all|total time|sum of|add(?:ed)? up|altogether"
)
ALL_RUNS = re.compile(rf"{TOGETHER.pattern}|所有|全部|\ball\b|every|eight|[八8] ?[次组个]")
FAMILY = re.compile(
    r"chatglm[- ]?(?:[a-z-]+ ){0,3}(?:runs|experiments|tests|trainings|jobs|times)|chatglm.{0,6}(?:[几八8] ?[次组个]|所有|全部|系列|各)|(?:所有|全部|[八8] ?[次组个]).{0,4}chatglm"
)
IS_OK = re.compile(
    r"够|行不行|行吗|可以吗|能不能|能行|还是(?:要|得|该)?租|\bok(?:ay)?\b|enough|suffic|\bgood\b|\bor (?:should|do|must) (?:i|we) (?:rent|buy|need)|\bcan\b"
)
MONEY = re.compile(
    r"价|钱|元|块钱|多少块|几块|费用|成本|花费|收费|预算|贵|便宜|price|\bcosts?\b|\bpay|charg|cheap|expensive|money|budget|\bfees?\b"
)
SPENDING = re.compile(r"(?<!少)(?<!多)花多少")  # 花多少 alone; of two runs it means time
TIME_SPENT = re.compile(r"花(?:费)?多少个?(?:时间|小时|分钟)|how much (?:more |less |extra )?time[^,;.?]*")
OTHER_MODEL = re.compile(
    r"(?<![a-z])(?:qwen|baichuan|bloom|mistral|mixtral|deepseek|internlm|gemma|vicuna|alpaca|bert|gpt)[a-z0-9.-]*", re.I
)
MODEL_NAME = re.compile(
    r"glm|llama|falcon|qwen|baichuan|bloom|mistral|mixtral|gpt|deepseek|internlm|gemma|phi-|bert|vicuna|alpaca|\d ?b$",
    re.I,
)


def training_time(request: Request, book: Ledger) -> Finding:
    """The runs in question with their times; extremes, sums, compared, per row, estimated for other sizes, or priced."""
    if refusal := _not_measured(request, book):
        return refusal
    s = request.slots
    known = {run.rows for run in book.catalog.training_runs}
    if _asks_which_card(request):
        runs = book.catalog.find_runs(_models(request), (), s.methods[:1])
        return book.finding("answered", _card_is_enough(request, runs, book, book.cite_runs(runs)), _note(runs, book))
    wanted = _rows(request, known)
    if wanted - known:
        return _estimates(request, sorted(wanted - known)[-MOST_ESTIMATES:], book)
    runs = book.catalog.find_runs(_models(request), wanted, s.methods)
    mark = book.cite_runs(runs)
    by_row = asks_rate(request)
    parts = [_times(runs, book, mark)] if len(runs) == 1 else _compared(request, runs, book, mark)
    if by_row or len(runs) == 1:
        parts.insert(0 if by_row else len(parts), per_row(runs, book, mark if by_row else ""))
    status: Status = "answered"
    if s.price_per_hour:
        parts.insert(0, _costs(runs, s.price_per_hour, s.price_currency or "CNY", book, mark))
    elif _asks_cost(request):
        status = "needs_detail"
        parts.insert(0, _price_missing(book))
    return book.finding(status, *parts, _note(runs, book))


def _not_measured(request: Request, book: Ledger) -> Finding | None:
    """Cards and models that no run was made with; models are called models."""
    s = request.slots
    measured = list(dict.fromkeys(run.model for run in book.catalog.training_runs))
    models = [m for m in s.models if m not in measured] + [u for u in s.unknown if MODEL_NAME.search(u)]
    cards = [] if _asks_which_card(request) else _other_cards(request, book)
    cards += [u for u in s.unknown if not MODEL_NAME.search(u)]
    if not (models or cards or s.models):
        models = OTHER_MODEL.findall(request.question)
    if not (models or cards):
        return None
    mark = book.cite_runs(book.catalog.find_runs([m for m in s.models if m in measured], (), s.methods))
    if models:
        names, have = render.joined(models, book.language), render.joined(measured, book.language)
        return book.finding("not_in_knowledge", book.say(
            f"没有 {names} 的训练时长：表里只有 {have} 在 RTX 4090 上的微调时间，不能直接套用{mark}。",
            f"No training time is known for {names}: the table has only {have} fine-tuned on an RTX 4090, and these times do not carry over {mark}."))  # fmt: skip
    names = render.joined(cards, book.language)
    return book.finding("not_in_knowledge", book.say(
        f"没有 {names} 上的训练时长：表里的时间都是在 RTX 4090 上测的，不能直接套用{mark}。",
        f"No training time is known for the {names}: all times of the table were measured on an RTX 4090 and do not carry over {mark}."))  # fmt: skip


def _other_cards(request: Request, book: Ledger) -> list[str]:
    """Cards of the question that no run was measured on."""
    return [render.name("gpu", gpu, book.language) for gpu in request.slots.gpus if gpu != "RTX 4090"]


def _asks_which_card(request: Request) -> bool:
    """ "Is my 4090 ok for LoRA on ChatGLM2 or should I rent an A100?": the runs show that it is."""
    return (
        "RTX 4090" in request.slots.gpus and len(request.slots.gpus) > 1 and IS_OK.search(request.question) is not None
    )


def _card_is_enough(request: Request, runs: Sequence[TrainingRun], book: Ledger, mark: str) -> str:
    """That the measured card does it, and that nothing is known of the other's time."""
    run, names = max(runs, key=lambda r: r.rows), render.joined(_other_cards(request, book), book.language)
    small = min(runs, key=lambda r: r.rows)
    return book.say(
        f"**够，RTX 4090 就能做，不必为此租 {names}**：{run_label(small, book)} 在 RTX 4090 上实测 {small.duration}，{run.rows:,} 条 {run.duration}{mark}。没有 {names} 上的训练时长，快多少无从比较。",
        f"**Yes, the RTX 4090 is enough; there is no need to rent {names} for it**: {run_label(small, book)} took {small.duration} on an RTX 4090, {run.rows:,} rows {run.duration} {mark}. No training time is known for {names}, so how much faster it would be cannot be told.")  # fmt: skip


def _models(request: Request) -> tuple[str, ...]:
    """The models meant; "the ChatGLM runs" of a question about extremes, sums or all of them are those of both models."""
    models = request.slots.models
    family = models == ("ChatGLM",) and FAMILY.search(request.question.lower())
    return () if family and (_superlatives(request) or ALL_RUNS.search(request.question.lower())) else models


def _rows(request: Request, known: set[int]) -> set[int]:
    """Row counts asked for; "the large data set" is the larger of the two measured."""
    sizes = set(request.slots.rows) - single_rows(request)
    bare = {k for k in known if re.search(rf"(?<![\d.]){k}(?![\d.]?\d)", request.question.replace(",", ""))}
    if request.aspects & {"ratio", "difference"}:  # "from 9999 to 39333 rows" names both
        sizes |= bare
    elif bare and not request.said.rows:  # "and with lora on 9999?": the rows of a run, whatever was asked before
        sizes = bare
    if sizes:
        return {min(known, key=lambda k: abs(k - r)) if any(abs(k - r) <= k / 500 for k in known) else r for r in sizes}
    if {"large_data", "small_data"} <= request.aspects:
        return known
    if "large_data" in request.aspects:
        return {max(known)}
    return {min(known)} if "small_data" in request.aspects else set()


def _asks_cost(request: Request) -> bool:
    """Money is asked for, not merely "how much" of something else."""
    words = TIME_SPENT.sub(" ", request.question.lower())
    compared = "difference" in request.aspects or len(request.slots.methods) > 1 or len(request.slots.models) > 1
    return "price" in request.aspects and bool(MONEY.search(words) or (not compared and SPENDING.search(words)))


def _price_missing(book: Ledger) -> str:
    return book.say("文章没有给出 RTX 4090 的时价，费用算不出来；请告诉我你的每小时价格。",
                    "The articles give no hourly price for an RTX 4090, so the cost is unknown: please tell me your price per hour.")  # fmt: skip


def _superlatives(request: Request) -> list[str]:
    words = request.question.lower()
    return [kind for kind, pattern in (("fastest", FASTEST), ("slowest", SLOWEST)) if pattern.search(words)]


def _extremes(request: Request, runs: Sequence[TrainingRun], book: Ledger) -> list[str]:
    """The fastest or slowest of the runs, if that was asked."""
    if len(runs) < 2:
        return []
    lines = []
    for kind in _superlatives(request):
        run = min(runs, key=lambda r: r.seconds) if kind == "fastest" else max(runs, key=lambda r: r.seconds)
        zh, en = ("最快", "Fastest") if kind == "fastest" else ("最慢", "Slowest")
        lines.append(book.say(f"**{zh}的是 {run_label(run, book)}：{run.duration}**（{_spoken(run.seconds, book)}）",
                              f"**{en}: {run_label(run, book)}, {run.duration}** ({_spoken(run.seconds, book)})"))  # fmt: skip
    return lines


def _total(request: Request, runs: Sequence[TrainingRun], book: Ledger) -> list[str]:
    """All runs one after another, if that was asked."""
    if len(runs) < 2 or not TOGETHER.search(request.question.lower()):
        return []
    result = book.compute("run_total", seconds=[run.seconds for run in runs])
    total, hours = result.outputs["total"], result.outputs["hours"]
    lines = [book.say(f"**一共 {total}**（{hours} 小时）", f"**{total} in all** ({hours} hours)"), render.formula(result.formula, book.language)]  # fmt: skip
    if request.slots.price_per_hour:
        cost = book.compute("run_cost", seconds=int(result.value), price_per_hour=request.slots.price_per_hour,
                            currency=request.slots.price_currency or "CNY")  # fmt: skip
        lines.append(render.formula(cost.formula, book.language))
    return lines


def _spoken(seconds: int, book: Ledger) -> str:
    h, m, s = seconds // 3600, seconds // 60 % 60, seconds % 60
    return book.say(f"{h} 小时 {m} 分 {s} 秒", f"{h} h {m} min {s} s")


def _times(runs: Sequence[TrainingRun], book: Ledger, mark: str) -> str:
    run = runs[0]
    return book.say(f"**RTX 4090 上 {run_label(run, book)}：{run.duration}**（{_spoken(run.seconds, book)}）{mark}",
                    f"**{run_label(run, book)} on an RTX 4090: {run.duration}** ({_spoken(run.seconds, book)}) {mark}")  # fmt: skip


def _compared(request: Request, runs: Sequence[TrainingRun], book: Ledger, mark: str) -> list[str]:
    """A table of the runs, headed by what was asked: extremes, sums, differences between runs that differ in one thing."""
    headings = [
        book.say("模型", "Model"),
        book.say("数据条数", "Rows"),
        book.say("技术", "Technique"),
        book.say("时长", "Time"),
    ]
    body = render.table(headings, [[r.model, f"{r.rows:,}", r.method, r.duration] for r in runs])
    intro = book.say(f"RTX 4090 上的微调时长{mark}：", f"Fine-tuning times on an RTX 4090 {mark}:")
    axis = _axis(request, runs)
    pairs = [
        (a, b)
        for i, a in enumerate(runs)
        for b in runs[i + 1 :]
        if _apart(a, b) == ([axis] if axis else _apart(a, b)[:1])
    ]
    lines = [*_extremes(request, runs, book), *_total(request, runs, book)]
    if axis or (len(runs) == 2 and not (lines or asks_rate(request))):
        lines += _winner(axis, pairs, book)
        lines += [_growth(a, b, book) if a.rows != b.rows else _difference(a, b, book) for a, b in pairs[:MOST_PAIRS]]
    return ["  \n".join(lines), intro, body]


def _axis(request: Request, runs: Sequence[TrainingRun]) -> str | None:
    """In what the runs are to be compared: the thing of which the question names two."""
    s = request.slots
    if len(s.methods) > 1:
        return "method"
    if len(s.models) > 1:
        return "model"
    sizes = len({run.rows for run in runs}) > 1
    asked = {"large_data", "small_data"} <= request.aspects or bool(s.rows and not single_rows(request))
    return "rows" if sizes and asked else None


def _apart(a: TrainingRun, b: TrainingRun) -> list[str]:
    """In what two runs differ."""
    return [thing for thing in ("method", "model", "rows") if getattr(a, thing) != getattr(b, thing)]


def _winner(axis: str | None, pairs: Sequence[tuple[TrainingRun, TrainingRun]], book: Ledger) -> list[str]:
    """Which method or model is the faster one of every pair, or that it depends."""
    if axis not in ("method", "model") or len(pairs) < 2:
        return []
    fast = [getattr(min(pair, key=lambda r: r.seconds), axis) for pair in pairs]
    if len(set(fast)) == 1:
        return [book.say(f"**每一组都是 {fast[0]} 更快：**", f"**{fast[0]} is faster in every comparison:**")]
    return [book.say("**谁更快要看是哪一组：**", "**Which is faster depends on the runs compared:**")]


def _growth(a: TrainingRun, b: TrainingRun, book: Ledger) -> str:
    """The same model and method on more rows: how many times the time."""
    small, large = sorted((a, b), key=lambda r: r.rows)
    out = book.compute("run_difference", slower_seconds=large.seconds, faster_seconds=small.seconds).outputs
    who = f"{large.model} {large.method}"
    return book.say(
        f"**{who}：{large.rows:,} 条用时是 {small.rows:,} 条的 {out['speedup_factor']} 倍**（{large.duration} 对 {small.duration}，多 {out['saved']}）",
        f"**{who}: {large.rows:,} rows take {out['speedup_factor']}x as long as {small.rows:,} rows** ({large.duration} against {small.duration}, {out['saved']} more)")  # fmt: skip


def _difference(a: TrainingRun, b: TrainingRun, book: Ledger) -> str:
    slow, fast = (a, b) if a.seconds >= b.seconds else (b, a)
    out = book.compute("run_difference", slower_seconds=slow.seconds, faster_seconds=fast.seconds).outputs
    return book.say(
        f"**{run_label(fast, book)}更快**：{fast.duration} 对 {slow.duration}（{run_label(slow, book)}），少用 {out['saved']}，省时 {out['saved_percent']} %，速度是 {out['speedup_factor']} 倍。",
        f"**{run_label(fast, book)} is faster**: {fast.duration} against {slow.duration} ({run_label(slow, book)}), {out['saved']} less, {out['saved_percent']} % of the time saved, {out['speedup_factor']}x as fast.")  # fmt: skip


def _costs(runs: Sequence[TrainingRun], price: Decimal, currency: str, book: Ledger, mark: str) -> str:
    lines = []
    for run in runs:
        result = book.compute("run_cost", seconds=run.seconds, price_per_hour=price, currency=currency)
        total = render.cash(result.value, currency, book.language)
        lines.append(
            book.say(f"**{run_label(run, book)}：{total}**{mark}", f"**{run_label(run, book)}: {total}** {mark}")
        )
        lines.append(render.formula(result.formula, book.language))
    own = render.amount(price, currency, book.language, "hour")
    return "  \n".join([*lines, book.say(f"用的是你给的 RTX 4090 价格 {own}。", f"Uses your RTX 4090 price of {own}.")])


def _estimates(request: Request, sizes: Sequence[int], book: Ledger) -> Finding:
    """Other row counts: a straight line through the two measured points of each model and method."""
    s, lines, cited = request.slots, [], []
    pairs = list(dict.fromkeys((r.model, r.method) for r in book.catalog.find_runs(s.models, (), s.methods)))
    told = False
    for model, method in pairs:
        small, large = sorted(book.catalog.find_runs([model], (), [method]), key=lambda r: r.rows)
        cited += [small, large]
        for rows in sizes:
            estimate = _estimate(request, rows, small, large, book)
            told = told or bool(estimate)
            lines += estimate or [book.say(
                f"**{model} {method} {rows:,} 条：推算不出**，这个条数离实测太远，两次实测说明不了。",
                f"**{model} {method}, {rows:,} rows: no estimate**; so far from the measured sizes the two runs cannot tell.")]  # fmt: skip
    mark = book.cite_runs(cited)
    basis = book.say(
        f"依据 RTX 4090 上 9,999 条与 39,333 条的实测{mark}。", f"Based on the RTX 4090 runs on 9,999 and 39,333 rows {mark}."
    )  # fmt: skip
    unpriced = _asks_cost(request) and not s.price_per_hour
    status: Status = "needs_detail" if unpriced else "answered" if told else "not_in_knowledge"
    return book.finding(status, _price_missing(book) if unpriced else "", "  \n".join(lines), basis)


def _estimate(request: Request, rows: int, small: TrainingRun, large: TrainingRun, book: Ledger) -> list[str]:
    """Time, formula and cost for one size; empty where the line gives no sensible time."""
    s, who = request.slots, f"{small.model} {small.method}"
    try:
        result = book.compute("run_estimate", rows=rows, small_rows=small.rows, small_seconds=small.seconds,
                              large_rows=large.rows, large_seconds=large.seconds)  # fmt: skip
    except ToolError:  # the line is at or below zero there, or beyond what the calculator takes
        return []
    out = result.outputs
    outside = book.say("，超出实测范围", ", outside the measured range") if out["kind"] == "extrapolation" else ""
    lines = [book.say(f"**{who} {rows:,} 条：约 {out['duration']}**（{out['hours']} 小时，按两个实测点直线估算{outside}，不是实测）",
                      f"**{who}, {rows:,} rows: about {out['duration']}** ({out['hours']} hours, a straight line through the two measured runs{outside}; not measured)"),
             render.formula(result.formula, book.language)]  # fmt: skip
    if s.price_per_hour:
        currency = s.price_currency or "CNY"
        cost = book.compute("run_cost", seconds=int(result.value), price_per_hour=s.price_per_hour, currency=currency)
        total = render.cash(cost.value, currency, book.language)
        lines.insert(0, book.say(f"**{who} {rows:,} 条约 {total}**", f"**{who}, {rows:,} rows: about {total}**"))
        lines.append(render.formula(cost.formula, book.language))
    return lines


def _note(runs: Sequence[TrainingRun], book: Ledger) -> str:
    pt2 = any(r.method == "pt2" for r in runs)
    zh = ["表中没有写训练轮数、批大小和学习率"] + (["pt2 很可能指 P-Tuning v2（表中未定义）"] if pt2 else [])
    en = ["the table does not state epochs, batch size or learning rate"] + (
        ["pt2 most likely means P-Tuning v2 (the table does not define it)"] if pt2 else []
    )
    return book.say(f"注意：{'；'.join(zh)}。", f"Note: {'; '.join(en)}.")
