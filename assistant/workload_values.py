"""The figures of a workload in the units of its fields: shares of one, prices per kWh, seconds, tokens."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.numerals import binary_factor
from assistant.workload_figures import Figure
from assistant.workload_words import SCALES

LENGTHS = ("context_tokens", "input_tokens", "output_tokens", "tokens_per_row")
SHARES = ("utilisation", "mfu", "gpu_memory_utilization")
WHOLE = (*LENGTHS[:3], "batch_size", "concurrency", "lora_rank", "tensor_parallel", "pipeline_parallel", "rows")
MOST_ELECTRICITY = 10  # yuan or dollars per kWh; more is a bill
COINS = "一二三四五六七八九"

Marks = dict[str, str | None]


def value_of(name: str, figure: Figure, marks: Marks) -> object | None:
    """The figure in the unit of its field; None where no such thing can be meant."""
    value = figure.value
    if value <= 0:
        return None
    if name in LENGTHS:
        value *= binary_factor(replace(figure.number, low=value))
    if name in WHOLE:
        return int(value) if value == int(value) else None
    if name in SHARES:
        return _share(value, marks.get("percent"))
    return _converted(name, value, marks)


def _converted(name: str, value: Decimal, marks: Marks) -> object | None:
    if name == "electricity_price":
        return _per_kwh(value, marks)
    if name == "slo_ttft_s":
        return value / 1000 if (marks.get("unit") or "").startswith(("m", "毫")) else value
    if name == "training_tokens":
        scale = marks.get("scale")
        return int(value * (SCALES[scale[0]] if scale else 1))
    return value


def _share(value: Decimal, unit: str | None) -> Decimal | None:
    """60%, 六成, 0.6 and a bare 60 are all 0.6."""
    if unit == "成":
        value /= 10
    elif unit or value > 1:
        value /= 100
    return value if value <= 1 else None


def _per_kwh(value: Decimal, marks: Marks) -> Decimal | None:
    """一块五, 六毛, 8 cents: in yuan or dollars."""
    money, rest = marks.get("money") or "", marks.get("rest")
    scale = Decimal(1)
    if money.startswith(("毛", "角")):
        scale = Decimal("0.1")
    elif money.startswith(("分", "美分", "cent", "¢")):
        scale = Decimal("0.01")
    coins = Decimal(COINS.find(rest) + 1 or int(rest)) / 10 if rest and rest.strip("0") else Decimal(0)
    price = (value + coins) * scale
    return price if price < MOST_ELECTRICITY else None


def currency_near(text: str, start: int, end: int) -> str | None:
    near = text[max(0, start - 4) : end]
    if re.search(r"[$¢]|usd|美|dollar|cent|刀", near):
        return "USD"
    return "CNY" if re.search(r"[元块毛角¥]|分|rmb|cny|yuan", near) else None
