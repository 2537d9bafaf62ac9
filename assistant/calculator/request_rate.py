"""How many copies of a served model a stream of requests takes.

The rate of one copy is an argument (serving_capacity gives it): nothing here knows a model or a GPU.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import (
    NO_TRUTH,
    Amount,
    Assumption,
    Calculation,
    Count,
    Share,
    number,
    whole_times,
)
from assistant.calculator.magnitudes import figure, significant
from assistant.calculator.training_compute import TokenRate
from assistant.evidence import Bilingual, Frozen

BUSY_SHARE = Decimal("0.7")
ROOM = Assumption(
    name="busy_share", value=str(BUSY_SHARE), source="queueing: the wait grows as load / (1 - load); 0.7 is usual in capacity plans",
    text=Bilingual(
        zh=f"每个副本只按能力的 {BUSY_SHARE} 用，其余留给到达不均匀的请求",
        en=f"each copy is used at {BUSY_SHARE} of what it can do; the rest is room for requests that bunch up",
    ),
)  # fmt: skip
RequestTokens = Annotated[int, Field(ge=1, le=10**7), NO_TRUTH]


class RequestRateInput(Frozen):
    """Requests per second with `output_tokens` each, and the output tokens per second of one copy on `gpus_per_replica` GPUs."""

    requests_per_second: Amount
    output_tokens: RequestTokens
    tokens_per_second_per_replica: TokenRate
    gpus_per_replica: Count = 1
    busy_share: Share | None = None


def request_rate(given: RequestRateInput) -> Calculation:
    """copies = ceil(requests/s x output tokens / (tokens/s of one copy x busy share)); GPUs = copies x GPUs of one."""
    share = given.busy_share or BUSY_SHARE
    needed = given.requests_per_second * given.output_tokens
    usable = given.tokens_per_second_per_replica * share
    whole = whole_times(needed, usable)
    replicas = max(1, whole if whole * usable == needed else whole + 1)
    return Calculation(
        value=Decimal(replicas * given.gpus_per_replica), unit="GPU",
        formula=f"ceil({number(given.requests_per_second)} × {given.output_tokens:,} ÷ ({figure(given.tokens_per_second_per_replica)}"
                f" × {number(share)})) = {replicas:,}; × {given.gpus_per_replica:,} = {replicas * given.gpus_per_replica:,} GPU",
        outputs={"tokens_per_second_needed": significant(needed), "replicas": replicas,
                 "gpus": replicas * given.gpus_per_replica,
                 "requests_per_second_per_replica": significant(given.tokens_per_second_per_replica / given.output_tokens)},
        assumptions=() if given.busy_share else (ROOM,),
        changes_most=Bilingual(zh="与每秒请求数和回答长度成正比", en="proportional to requests per second and the length of answers"),
    )  # fmt: skip
