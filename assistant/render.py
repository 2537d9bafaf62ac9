"""Pieces of a card: money, tables, formulas, source lines, in the reader's language.

Formats what it is given; it looks nothing up and computes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from assistant.calculator.calculation import number
from assistant.evidence import Citation, Language
from knowledge.catalog import Offer, Source
from knowledge.names import Kind, display

CURRENCY_ZH = {"CNY": "元", "USD": "美元", "EUR": "欧元", "GBP": "英镑", "JPY": "日元"}


def say(language: Language, zh: str, en: str) -> str:
    """The one of two wordings that the reader's language wants."""
    return zh if language == "zh" else en


def unit(currency: str, language: Language) -> str:
    """元 / CNY: what an amount of the currency is written with."""
    return CURRENCY_ZH.get(currency, currency) if language == "zh" else currency


def amount(value: Decimal, currency: str, language: Language, per: str = "") -> str:
    """28.64 元/小时, 28.64 CNY/hour; `per` is "", "hour", ..."""
    rate = f"/{period_name(per, language)}" if per else ""
    return f"{number(value)} {unit(currency, language)}{rate}"


def cash(value: Decimal, currency: str, language: Language) -> str:
    """A sum of money with two decimals: 8,248.32 元."""
    return f"{value:,.2f} {unit(currency, language)}"


def period_name(unit: str, language: Language) -> str:
    """hour -> 小时; English names stay."""
    zh = {"hour": "小时", "day": "天", "week": "周", "month": "月", "quarter": "季度", "year": "年"}
    return zh.get(unit, unit) if language == "zh" else unit


def name(kind: Kind, key: str, language: Language) -> str:
    """What readers of the language call a GPU, provider, model, method or workload."""
    return display(kind, key, language)


def joined(parts: Iterable[str], language: Language) -> str:
    """A、B、C / A, B, C."""
    return ("、" if language == "zh" else ", ").join(parts)


def gpus_text(count: int, gpu: str, language: Language) -> str:
    """4 张 A100 / 4 A100s / 1 A100."""
    label = name("gpu", gpu, language)
    return f"{count:,} 张 {label}" if language == "zh" else f"{count:,}× {label}"


def cards(count: int, language: Language) -> str:
    """8 张 / 8 GPUs."""
    return f"{count:,} 张" if language == "zh" else f"{count:,} GPU{'' if count == 1 else 's'}"


def part_of_card(offer: Offer, language: Language) -> str:
    """How many cards a row rents, or which share of one: 2 张卡; 切片，一张卡的 0.25."""
    if not offer.is_slice:
        return (
            f"{offer.gpu_count} 张卡"
            if language == "zh"
            else f"{offer.gpu_count} card{'' if offer.gpu_count == 1 else 's'}"
        )
    share = number(offer.gpu_fraction)
    return f"切片，一张卡的 {share}" if language == "zh" else f"a slice, {share} of a card"


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; pipes in cells are escaped."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return "\n".join([line(headings), line(["---"] * len(headings)), *(line(row) for row in rows)])


def formula(text: str, language: Language) -> str:
    """A formula line; units in the reader's language."""
    if language == "zh":
        text = re.sub(r"CNY/h(?:our)?\b", "元/小时", text).replace("CNY", "元").replace("USD", "美元")
        text = re.sub(r"(?<=[\d)]) h\b", " 小时", text)
    return say(language, f"算式：{text}", f"Formula: {text}")


def bullets(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def paragraphs(*parts: str) -> str:
    """The parts that are not empty, a blank line between them."""
    return "\n\n".join(part for part in parts if part)


def source_title(source: Source, language: Language) -> str:
    """GPU 选型文章一（未注明日期，内容为 2023 年）."""
    if language == "zh":
        published = re.sub(r"[（(](.*?)[)）]", r"，\1", source.published_zh)
        return f"{source.title_zh}（{published}）"
    published = re.sub(r"\s*\((.*?)\)", r", \1", source.published_en)
    return f"{source.title_en} ({published})"


def source_lines(citations: Sequence[Citation], language: Language) -> str:
    """One line per citation, for the foot of a card."""
    label = say(language, "来源", "Source")
    colon = say(language, "：", ": ")
    return "\n".join(f"{label} [{c.id}]{colon}{c.source} · {c.title}  " for c in citations).rstrip()


def hardware(offer: Offer, language: Language) -> str:
    """16 核 / 96 GiB."""
    memory = "—" if offer.host_memory_gib is None else f"{number(offer.host_memory_gib)} GiB"
    return f"{cores(offer, language)} / {memory}"


def cores(offer: Offer, language: Language) -> str:
    """16 核, 16 vCPU / 16 cores."""
    if offer.cpu_cores is None:
        return "—"
    if offer.cpu_unit == "vCPU":
        return f"{offer.cpu_cores} vCPU"
    return say(language, f"{offer.cpu_cores} 核", f"{offer.cpu_cores} cores")
