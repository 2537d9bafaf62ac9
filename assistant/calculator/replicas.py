"""How many copies of a service a load takes, where the rate of one copy was measured.

The rate is given: nothing is estimated of a model or a card here.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Annotated

from pydantic import Field

from assistant.calculator.calculation import NO_TRUTH, Amount, Calculation, Share, number
from assistant.calculator.magnitudes import significant
from assistant.evidence import Frozen


class ReplicasNeededInput(Frozen):
    """`users` at `rate_per_user` each, and what one copy does; `load` is the share of that rate it is planned for.

    Rates are tokens or requests a second, both of the same. `spare` copies stand by (1: N+1).
    """

    users: Amount = Decimal(1)
    rate_per_user: Amount
    rate_per_replica: Amount
    load: Share = Decimal(1)
    spare: Annotated[int, Field(ge=0, le=1000), NO_TRUTH] = 0


def replicas_needed(given: ReplicasNeededInput) -> Calculation:
    """replicas = ceil(users x rate per user / (rate per replica x load)) + spare."""
    demand = given.users * given.rate_per_user
    usable = given.rate_per_replica * given.load
    needed = int((demand / usable).to_integral_value(ROUND_CEILING))
    total = needed + given.spare
    each = f"{number(given.users)} × {number(given.rate_per_user)}" if given.users != 1 else number(demand)
    one = number(given.rate_per_replica) + (f" × {number(given.load)}" if given.load != 1 else "")
    spare = f"; {needed:,} + {given.spare} = {total:,}" if given.spare else ""
    return Calculation(
        value=Decimal(total), unit="replica", formula=f"ceil({each} ÷ {f'({one})' if given.load != 1 else one}) = {needed:,}{spare}",
        outputs={"replicas": total, "replicas_for_load": needed, "spare": given.spare, "demand_per_second": demand,
                 "capacity_per_second": significant(usable * needed), "busy_percent": significant(demand / (given.rate_per_replica * needed) * 100, 4)},
    )  # fmt: skip
