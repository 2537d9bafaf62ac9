"""What the cells of a price file mean: names, dates, pricing models and periods, each distinct value once.

Nothing is forced: a name that no table knows is a problem to report, never the nearest one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from knowledge.card_forms import all_forms
from knowledge.gpu_names import gpu_forms
from knowledge.names import link, normalise
from knowledge.offer_store import first_day

# What public catalogues call a provider, where names.csv says otherwise.
CATALOGUE_PROVIDERS = {"lambdalabs": "lambda", "vastai": "vast", "oci": "oracle", "do": "digitalocean"}
PRICING_MODELS = {
    "on-demand": "on-demand ondemand demand 按量 按量付费 按量计费 按需 按需付费 payasyougo payg",
    "spot": "spot preemptible interruptible 竞价 竞价实例 抢占 抢占式 抢占式实例",
    "monthly": "monthly 包月 包年包月 月付 预付费",
    "community": "community 社区 社区云",
    "lowest-listed": "lowest-listed lowestlisted 最低挂牌",
    "marketplace-min": "marketplace-min marketplacemin 市场最低",
    "spot-estimated": "spot-estimated spotestimated",
}
PERIODS = {
    "instance-hour": "instance-hour instancehour hour h hr hourly 小时 每小时 时 元/小时 实例小时 usd/h perhour",
    "instance-month": "instance-month instancemonth month monthly mo 月 每月 包月 元/月 permonth",
    "gpu-hour": "gpu-hour gpuhour pergpuhour 卡时 每卡每小时 元/卡/小时 每卡小时 卡小时",
}
TOLERANCE = Decimal("0.08")  # 22.35 GiB reported of a card sold as 24 GB is that card
LONGEST_NAME = 60


@dataclass(frozen=True)
class GpuCell:
    """The family and form that the cells name, and the memory where they name no single form.

    `problem` is empty, unknown-gpu, unknown-form or other-memory.
    """

    family: str = ""
    form: str = ""
    memory_gb: str = ""
    problem: str = ""


def read_gpu(gpu: str, form: str, memory: str, fraction: str) -> GpuCell:
    """The card of three cells; of a slice the memory is the slice's and says nothing about the form."""
    written = gpu_forms(gpu)
    if form and not (form_names := gpu_forms(form)).family:
        written = gpu_forms(f"{gpu} {form}")
    elif form and written.family in ("", form_names.family):
        written = form_names
    elif form:
        return GpuCell(problem="unknown-form")
    if not written.family:
        return GpuCell(problem="unknown-gpu")
    if written.kind == "unknown":
        return GpuCell(problem="unknown-form")
    size = _number(memory)
    if size is None or not written.forms or fraction not in ("", "1", "1.0"):
        return _card(written.family, written.forms, None if written.forms else size)
    fitting = _with_memory(written.family, size)
    if not fitting:
        return GpuCell(problem="other-memory")
    kept = [name for name in written.forms if name in fitting] or fitting
    return _card(written.family, kept, None)


def read_provider(text: str, known: Collection[str]) -> str:
    """A key of names.csv or of a row we have, else the name as written, in lower case; empty = no usable name."""
    name = normalise(text).strip()
    lower = CATALOGUE_PROVIDERS.get(name.lower(), name.lower())
    if lower in known:
        return lower
    links = link(name)
    if len(links) == 1 and links[0].kind == "provider" and links[0].text == name:
        return links[0].key
    return lower if 0 < len(lower) <= LONGEST_NAME and re.search(r"\w", lower) else ""


def read_date(text: str, today: date) -> tuple[str, str]:
    """(2026-05-24, 2024-07 or 2023-Q3; problem: empty, bad-date or future-date)."""
    clean = unicodedata.normalize("NFKC", text).strip()
    if not clean:
        return "", ""
    if match := re.fullmatch(r"(\d{4})\s*年?\s*[-第]?\s*(?:Q([1-4])|([1-4])\s*季度)", clean, re.I):
        written = f"{match[1]}-Q{match[2] or match[3]}"
    elif match := re.fullmatch(r"(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2})日?|月)?(?:[T ].*)?", clean):
        written = f"{match[1]}-{int(match[2]):02}" + (f"-{int(match[3]):02}" if match[3] else "")
    else:
        return "", "bad-date"
    try:
        day = first_day(written)
    except ValueError:
        return "", "bad-date"
    return (written, "") if day and day <= today else ("", "future-date")


def read_word(text: str, words: dict[str, str], default: str) -> str:
    """The key of PRICING_MODELS or PERIODS that a cell spells; `default` for an empty one, empty for another word."""
    folded = re.sub(r"[\s_]", "", unicodedata.normalize("NFKC", text).lower())
    if not folded:
        return default
    return next((key for key, spellings in words.items() if folded in spellings.split()), "")


def _with_memory(family: str, size: Decimal) -> list[str]:
    forms = [form for form in all_forms() if family in form.families]
    fitting = [
        form.name
        for form in forms
        if form.memory and form.memory[0] * (1 - TOLERANCE) <= size <= form.memory[1] * (1 + TOLERANCE)
    ]
    return fitting if any(form.memory for form in forms) else [form.name for form in forms]


def _card(family: str, forms: Collection[str], stated: Decimal | None) -> GpuCell:
    """The memory is that of the forms where they share one size and are fewer than all of the family's."""
    if len(forms) == 1:
        return GpuCell(family, *forms)
    stock = [form for form in all_forms() if family in form.families and not form.modded]
    sizes = {form.memory for form in stock if form.name in forms}
    size = next(iter(sizes)) if len(sizes) == 1 and len(forms) < len(stock) else None
    memory = size[0] if size and size[0] == size[1] else stated
    return GpuCell(family, "", f"{memory.normalize():f}" if memory else "")


def _number(text: str) -> Decimal | None:
    """80, 80GB, 79.65 GiB; None for anything else."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)\s*(?:g(?:i?b)?)?", unicodedata.normalize("NFKC", text).strip(), re.I)
    return Decimal(match[1]) if match and Decimal(match[1]) else None
