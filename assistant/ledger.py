"""Keeps the record of one answer while it is built: which rows were cited, which calculators ran.

One Ledger belongs to one answer. It decides nothing and renders only its own source lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from pydantic import JsonValue

from assistant import render, tools
from assistant.calculator.calculation import Calculation, number
from assistant.evidence import Call, Citation, Finding, Language, Status
from knowledge.catalog import TABLES, Catalog, MemoryAdvice, Offer, Purchase, Speedup, TrainingRun
from knowledge.hardware import Gpu, Model, Rate
from knowledge.hardware_cells import gpu_cells, model_cells, row_text


class Ledger:
    """Collects calls and citations; `finding` closes the account."""

    def __init__(self, catalog: Catalog, language: Language):
        self.catalog = catalog
        self.language: Language = language
        self.calls: list[Call] = []
        self.citations: list[Citation] = []

    def say(self, zh: str, en: str) -> str:
        """The wording for the reader."""
        return render.say(self.language, zh, en)

    def compute(self, tool: str, **arguments: object) -> Calculation:
        """Run a calculator and keep its call. Raises tools.ToolError."""
        record, result = tools.call(tool, self.language, **arguments)
        if record not in self.calls:
            self.calls.append(record)
        return result

    def count(self, table: str, rows: int, shown: int) -> None:
        """Keep how many rows a statement stands on and how many of them are shown."""
        record = Call(tool="count_rows", arguments={"table": table}, result={"rows": rows, "shown": shown})
        if record not in self.calls:
            self.calls.append(record)

    def cite(self, table: str, title: str, source_key: str, rows: Sequence[tuple[int, str]]) -> str:
        """Cite rows (number, text) of a table; returns the mark, such as [1]."""
        return self._cite(table, title, render.source_title(self.catalog.sources[source_key], self.language), rows)

    def _cite(self, table: str, title: str, source: str, rows: Sequence[tuple[int, str]]) -> str:
        place = f"tables/{table}" if (TABLES / table).exists() else table  # an imported file stands by its own name
        locator = f"{place} " + self.say("第 ", "row ") + ", ".join(str(n) for n, _ in rows) + self.say(" 行", "")
        citation = Citation(
            id=len(self.citations) + 1, title=title, source=source, locator=locator,
            excerpt="\n".join(text for _, text in rows), as_of=None,
        )  # fmt: skip
        for known in self.citations:
            if known.locator == citation.locator:
                return f"[{known.id}]"
        self.citations.append(citation)
        return f"[{citation.id}]"

    def cite_offers(self, offers: Sequence[Offer], **selection: JsonValue) -> str:
        """Cite rental price rows, one citation for each source of theirs, and record the look-up with what selected them."""
        rows: list[JsonValue] = [
            {"provider": o.provider, "gpu": o.gpu_form or o.gpu, "price": float(o.price),
             "unit": f"{o.currency}/{'month' if o.per == 'instance-month' else 'hour'}", "gpu_count": o.gpu_count,
             "price_per_gpu_hour": float(o.price_per_gpu_hour.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP)), "pricing_model": o.pricing_model, "as_of": o.as_of,
             "cpu_cores": o.cpu_cores, "host_memory_gib": None if o.host_memory_gib is None else float(o.host_memory_gib),
             **({"gpu_fraction": float(o.gpu_fraction)} if o.is_slice else {})}
            for o in offers
        ]  # fmt: skip
        record = Call(tool="find_offers", arguments=selection, result=rows)
        if record not in self.calls:
            self.calls.append(record)
        title = self.say("租用价格表", "rental price table")
        places = dict.fromkeys((o.source, o.origin) for o in offers)  # an imported row stands in the reader's own file
        return "".join(
            self.cite(
                origin or "offers.csv",
                title,
                source,
                [(o.row, self._offer_text(o)) for o in offers if (o.source, o.origin) == (source, origin)],
            )
            for source, origin in places
        )

    def cite_purchases(self, purchases: Sequence[Purchase]) -> str:
        """Cite purchase price rows."""
        title = self.say("常用 AI GPU 购卡价格表", "purchase prices of common AI GPUs")
        unit = {
            currency: self.say(render.unit(currency, "zh"), currency) for currency in {p.currency for p in purchases}
        }
        rows = []
        for p in purchases:
            remark = self.say(p.remark_zh or "", p.remark_en or "")
            cells = [
                ("GPU", p.gpu_form or p.gpu),
                (self.say("价格", "price"), self.say(f"{number(p.price)} {unit[p.currency]}/张", f"{number(p.price)} {unit[p.currency]} per card")),
                (self.say("显存（印作）", "memory as printed"), p.memory_as_printed or ("" if p.as_of or p.gpu_form else self.say("未印", "not printed"))),
                (self.say("日期", "date"), p.as_of or ""),
            ]  # fmt: skip
            text = self.say("；", "; ").join(
                [*(f"{heading} = {cell}" for heading, cell in cells if cell), *([remark] if remark else [])]
            )
            rows.append((p.row, text))
        return self.cite("purchases.csv", title, purchases[0].source, rows)

    def cite_rate(self, rate: Rate) -> str:
        """Cite a currency rate, a year's average."""
        text = self.say(f"1 美元 = {number(rate.units_per_usd)} {rate.currency}（{rate.year} 年平均）", f"1 USD = {number(rate.units_per_usd)} {rate.currency} (average of {rate.year})")  # fmt: skip
        return self.cite("rates.csv", self.say("汇率表", "currency rates"), rate.source, [(rate.row, text)])

    def cite_runs(self, runs: Sequence[TrainingRun]) -> str:
        """Cite rows of the fine-tuning time table."""
        title = self.say("RTX 4090 上的微调时长表", "fine-tuning times on an RTX 4090")
        rows = [
            (r.row, self.say(f"GPU = {r.gpu}；模型 = {r.model}；数据 = {r.rows} 条；技术 = {r.method}；时长 = {r.duration}",
                             f"GPU = {r.gpu}; model = {r.model}; data = {r.rows} rows; technique = {r.method}; time = {r.duration}"))
            for r in runs
        ]  # fmt: skip
        return self.cite("training_runs.csv", title, runs[0].source, rows)

    def cite_advice(self, advice: MemoryAdvice) -> str:
        """Cite a row of the memory and card recommendations."""
        zh, en = [f"用途 = {advice.workload}"], [f"workload = {advice.workload}"]
        if advice.memory_min_gb:
            span = number(advice.memory_min_gb)
            if advice.memory_max_gb and advice.memory_max_gb != advice.memory_min_gb:
                span += f"–{number(advice.memory_max_gb)}"
            zh.append(f"显存 = {span} GB{'或更多' if advice.open_ended else ''}")
            en.append(f"GPU memory = {span} GB{' or more' if advice.open_ended else ''}")
        if advice.card_count:
            memory = f" {number(advice.card_memory_gb)} GB" if advice.card_memory_gb else ""
            zh.append(f"卡 = {advice.card_count} × {advice.card}{memory}")
            en.append(f"cards = {advice.card_count} × {advice.card}{memory}")
        zh.append(f"推荐显卡 = {advice.recommended}")
        en.append(f"recommended = {advice.recommended}")
        title = self.say("显存与显卡建议表", "GPU memory and card recommendations")
        return self.cite(
            "memory_advice.csv", title, advice.source, [(advice.row, self.say("；".join(zh), "; ".join(en)))]
        )

    def cite_gpu(self, gpu: Gpu) -> str:
        """Cite an accelerator with all that its row says."""
        title = self.say("加速卡规格表", "accelerator specifications")
        own = gpu.row - len(self.catalog.shipped_gpus)  # the reader's own cards follow those of gpus.csv
        if own > 0:
            return self._cite("own_cards.csv", title, gpu.source, [(own, row_text(gpu_cells(gpu), self.language))])
        return self._cite("gpus.csv", title, gpu.source, [(gpu.row, row_text(gpu_cells(gpu), self.language))])

    def cite_model(self, model: Model) -> str:
        """Cite an open model with all that its row says."""
        title = self.say("开放模型结构表", "shapes of open models")
        return self._cite("models.csv", title, model.source, [(model.row, row_text(model_cells(model), self.language))])

    def cite_speedups(self, speedups: Sequence[Speedup]) -> str:
        """Cite how much faster one card is than another."""
        rows = [
            (s.row, self.say(f"{s.faster} 比 {s.slower}：{s.precision} {'训练' if s.task == 'training' else '推理'}快约 {number(s.factor)} 倍",
                             f"{s.faster} against {s.slower}: {s.precision} {s.task} about {number(s.factor)}x as fast"))
            for s in speedups
        ]  # fmt: skip
        return self.cite(
            "speedups.csv",
            self.say("H100 与 A100 速度比", "speed of the H100 against the A100"),
            speedups[0].source,
            rows,
        )

    def finding(self, status: Status, *parts: str, wants_prose: bool = False) -> Finding:
        """The card of these paragraphs, with the lines that name its sources."""
        return Finding(
            status=status,
            markdown=render.paragraphs(*parts),
            sources=render.source_lines(self.citations, self.language),
            calls=tuple(self.calls),
            citations=tuple(self.citations),
            wants_prose=wants_prose,
        )

    def _offer_text(self, offer: Offer) -> str:
        lang = self.language
        per = "month" if offer.per == "instance-month" else "hour"
        cells = [
            (("云", "cloud"), render.name("provider", offer.provider, lang)),
            (("GPU", "GPU"), f"{offer.gpu}{self.say('（', ' (')}{offer.gpu_form or self.say('形态与显存未注明', 'form and memory not stated')}{self.say('）', ')')}"),
            (("显存", "GPU memory"), f"{number(offer.gpu_memory_gb)} GB" if offer.gpu_memory_gb else ""),
            (("张数", "GPUs"), "" if offer.gpu_count == 1 else render.cards(offer.gpu_count, lang)),
            (("实例", "instance"), offer.instance or ""),
            (("CPU", "CPU"), "" if offer.cpu_cores is None else render.cores(offer, lang)),
            (("主机内存", "host memory"), "" if offer.host_memory_gib is None else f"{number(offer.host_memory_gib)} GiB"),
            (("价格", "price"), render.amount(offer.price, offer.currency, lang, per)),
            (("地域", "region"), offer.region or ""),
            (("日期", "date"), offer.as_of or self.say("未注明", "not stated")),
        ]  # fmt: skip
        return self.say("；", "; ").join(f"{self.say(*heading)} = {cell}" for heading, cell in cells if cell)
