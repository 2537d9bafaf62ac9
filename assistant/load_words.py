"""Sentences about the load of a service: users, requests, lengths, targets, and how rates are written.

Words figures that calculators gave; it computes none.
"""

from __future__ import annotations

from decimal import Decimal

from assistant.calculator.calculation import number
from assistant.deployments import Deployment, Load
from assistant.fit_words import tokens
from assistant.ledger import Ledger


def rate(value: Decimal) -> str:
    """Three digits, zeros kept: 2,840, 57.3, 0.130."""
    if value >= 100 or value == 0:
        return f"{value:,.0f}"
    return f"{value:.{2 - value.adjusted()}f}"


def cost_per_million(d: Deployment, price_per_gpu_hour: Decimal, currency: str, book: Ledger) -> str:
    """What a million output tokens cost while the copy is as busy as was computed."""
    result = book.compute("cost_per_million_tokens", price_per_hour=price_per_gpu_hour * d.gpus,
                          tokens_per_second=d.capacity.outputs["tokens_per_second"], currency=currency)  # fmt: skip
    return rate(result.value)


def wanted(load: Load, book: Ledger) -> str:
    """50 个并发用户, 10 requests/s."""
    if load.requests_per_s:
        return book.say(f"QPS {number(load.requests_per_s)}", f"{number(load.requests_per_s)} requests/s")
    return book.say(f"{load.users} 并发用户", f"{load.users} users at a time")


def load_notes(load: Load, book: Ledger) -> list[str]:
    """Lengths, users and target, said or taken."""
    taken = book.say("默认", "default: ") if load.lengths.taken else ""
    notes = [book.say(f"{taken}提示 {tokens(load.lengths.input_tokens)}、回答 {tokens(load.lengths.output_tokens)}",
                      f"{taken}prompts of {tokens(load.lengths.input_tokens)}, answers of {tokens(load.lengths.output_tokens)}")]  # fmt: skip
    if load.users:
        notes.append(book.say("用户按全部同时在请求算（最坏情况）", "all users are taken to ask at the same time (the worst case)"))  # fmt: skip
    if load.target:
        said = book.say("默认目标", "default target: ") if load.target_taken else book.say("目标", "target: ")
        notes.append(
            book.say(
                f"{said}每人至少 {number(load.target)} tokens/s",
                f"{said}at least {number(load.target)} tokens/s for each user",
            )
        )
    if load.first_token_s:
        notes.append(
            book.say(
                f"首 token 在 {number(load.first_token_s)} 秒内", f"first token within {number(load.first_token_s)} s"
            )
        )
    return notes
