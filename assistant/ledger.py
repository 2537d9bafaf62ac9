"""Keeps the record of one answer while it is built: which rows were cited, which calculators ran.

One Ledger belongs to one answer. It decides nothing and renders only its own source lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from assistant import render, tools
from assistant.calculator.calculation import Calculation, number
from assistant.evidence import Call, Citation, Finding, Language, Status
from knowledge.catalog import Catalog, MemoryAdvice, Offer, Purchase, Speedup, TrainingRun


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

    def cite(self, table: str, title: str, source_key: str, rows: Sequence[tuple[int, str]]) -> str:
        """Cite rows (number, text) of a table; returns the mark, such as [1]."""
        source = self.catalog.sources[source_key]
        locator = (
            f"tables/{table} " + self.say("第 ", "row ") + ", ".join(str(n) for n, _ in rows) + self.say(" 行", "")
        )
        citation = Citation(
            id=len(self.citations) + 1, title=title, source=render.source_title(source, self.language), locator=locator,
            excerpt="\n".join(text for _, text in rows), as_of=None,
        )  # fmt: skip
        for known in self.citations:
            if known.locator == citation.locator:
                return f"[{known.id}]"
        self.citations.append(citation)
        return f"[{citation.id}]"

    def cite_offers(self, offers: Sequence[Offer], **selection: JsonValue) -> str:
        """Cite rental price rows (all of one source), and record the look-up with what selected them."""
        rows: list[JsonValue] = [
            {"provider": o.provider, "gpu": o.gpu, "price": float(o.price), "unit": f"{o.currency}/hour",
             "cpu_cores": o.cpu_cores, "host_memory_gib": float(o.host_memory_gib)}
            for o in offers
        ]  # fmt: skip
        record = Call(tool="find_offers", arguments=selection, result=rows)
        if record not in self.calls:
            self.calls.append(record)
        title = self.say("租用价格表", "rental price table")
        return self.cite("offers.csv", title, offers[0].source, [(o.row, self._offer_text(o)) for o in offers])

    def cite_purchases(self, purchases: Sequence[Purchase]) -> str:
        """Cite purchase price rows."""
        title = self.say("常用 AI GPU 购卡价格表", "purchase prices of common AI GPUs")
        rows = [
            (p.row, self.say(f"GPU = {p.gpu}；价格 = {number(p.price)} 元/张；显存（印作）= {p.memory_as_printed or '未印'}{'；' + p.remark_zh if p.remark_zh else ''}",
                             f"GPU = {p.gpu}; price = {number(p.price)} CNY per card; memory as printed = {p.memory_as_printed or 'not printed'}{'; ' + p.remark_en if p.remark_en else ''}"))
            for p in purchases
        ]  # fmt: skip
        return self.cite("purchases.csv", title, purchases[0].source, rows)

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

    def cite_gpu_memory(self, gpu: str) -> str:
        """Cite the memory sizes of a GPU."""
        sizes = " / ".join(number(size) for size in self.catalog.gpu_memory_gb[gpu])
        key = "gpu-guide-1" if gpu in ("A100", "A800", "H100", "H800") else "gpu-handout"
        return self.cite(
            "gpus.csv",
            self.say("显卡显存", "memory of cards"),
            key,
            [(list(self.catalog.gpu_memory_gb).index(gpu) + 1, f"{gpu} = {sizes} GB")],
        )

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
        provider = render.name("provider", offer.provider, self.language)
        price = render.amount(offer.price, offer.currency, self.language, "hour")
        host = render.cores(offer, self.language)
        return self.say(
            f"云 = {provider}；GPU = {offer.gpu}（{offer.gpu_form or '形态与显存未注明'}）；CPU = {host}；"
            f"主机内存 = {number(offer.host_memory_gib)} GiB；价格 = {price}；日期 = {offer.as_of or '未注明'}",
            f"cloud = {provider}; GPU = {offer.gpu} ({offer.gpu_form or 'form and memory not stated'}); CPU = {host}; "
            f"host memory = {number(offer.host_memory_gib)} GiB; price = {price}; date = {offer.as_of or 'not stated'}",
        )
