"""How many copies of a service a load takes, where the rate of one copy was measured.

The rate is given: nothing is estimated of a model or a card here.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Annotated

from pydantic import Field, model_validator

from assistant.calculator.calculation import NO_TRUTH, Amount, Calculation, Count, Share, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Frozen


class ReplicasNeededInput(Frozen):
    """`users` at `rate_per_user` each, and what one copy does; `load` is the share of that rate it is planned for.

    Rates are tokens or requests a second, or users served at once, both of the same. `spare` copies stand by (1: N+1).
    One copy runs on `cards` GPUs.
    """

    users: Amount = Decimal(1)
    rate_per_user: Amount
    rate_per_replica: Amount
    load: Share = Decimal(1)
    spare: Annotated[int, Field(ge=0, le=1000), NO_TRUTH] = 0
    cards: Count = 1


def replicas_needed(given: ReplicasNeededInput) -> Calculation:
    """replicas = ceil(users x rate per user / (rate per replica x load)) + spare; cards = replicas x cards of each."""
    demand = given.users * given.rate_per_user
    usable = given.rate_per_replica * given.load
    needed = int((demand / usable).to_integral_value(ROUND_CEILING))
    total = needed + given.spare
    each = f"{number(given.users)} × {number(given.rate_per_user)}" if given.users != 1 else number(demand)
    one = number(given.rate_per_replica) + (f" × {number(given.load)}" if given.load != 1 else "")
    spare = f"; {needed:,} + {given.spare} = {total:,}" if given.spare else ""
    cards = f"; {total:,} × {given.cards} = {total * given.cards:,}" if given.cards > 1 else ""
    return Calculation(
        value=Decimal(total), unit="replica", formula=f"ceil({each} ÷ {f'({one})' if given.load != 1 else one}) = {needed:,}{spare}{cards}",
        outputs={"replicas": total, "replicas_for_load": needed, "spare": given.spare, "cards": total * given.cards, "demand_per_second": demand,
                 "capacity_per_second": significant(usable * needed), "busy_percent": significant(demand / (given.rate_per_replica * needed) * 100, 4)},
    )  # fmt: skip


class ReplicasLeftInput(Frozen):
    """`replicas` copies of `rate_per_replica` each, of which `lost` fail, and the `demand` that is then to be met."""

    replicas: Count
    rate_per_replica: Amount
    demand: Amount
    lost: Annotated[int, Field(ge=0, le=1_000_000), NO_TRUTH] = 1

    @model_validator(mode="after")
    def _no_more_lost(self) -> ReplicasLeftInput:
        if self.lost >= self.replicas:
            raise ValueError(f"{self.lost} of {self.replicas} replicas lost leaves none: give fewer in lost")
        return self


def replicas_left(given: ReplicasLeftInput) -> Calculation:
    """capacity left = (replicas - lost) x rate per replica; what it leaves over or lacks of the demand."""
    left = given.replicas - given.lost
    capacity = left * given.rate_per_replica
    gap = capacity - given.demand
    return Calculation(
        value=capacity, unit="per second", formula=f"({given.replicas:,} − {given.lost:,}) × {number(given.rate_per_replica)} = {number(capacity)}",
        outputs={"capacity": capacity, "replicas_left": left, "enough": "yes" if gap >= 0 else "no",
                 "left_over": max(gap, Decimal(0)), "short_by": max(-gap, Decimal(0))},
    )  # fmt: skip
