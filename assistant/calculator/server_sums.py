"""What several servers have in all (cores, memory, height), and how many of one height a rack holds.

Arithmetic on the numbers given: it knows no server and reads no table.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from assistant.calculator.calculation import Calculation, Count
from assistant.evidence import Frozen


class ServerPart(Frozen):
    """So many servers, each with `parts` of `each`: 2 servers of 2 CPUs of 32 cores."""

    servers: Count = 1
    parts: Count = 1
    each: Count


class ServerTotalInput(Frozen):
    """The kinds of servers, and what is added up."""

    servers: Annotated[tuple[ServerPart, ...], Field(min_length=1)]
    unit: Literal["core", "GB", "U", "CPU", "module"]


def server_total(given: ServerTotalInput) -> Calculation:
    """total = sum of servers x parts in each x what one part has."""
    total = sum(kind.servers * kind.parts * kind.each for kind in given.servers)
    terms = " + ".join(f"{kind.servers:,} × {kind.parts:,} × {kind.each:,}" for kind in given.servers)
    return Calculation(
        value=Decimal(total), unit=given.unit, formula=f"{terms} = {total:,} {given.unit}",
        outputs={"total": total, "servers": sum(kind.servers for kind in given.servers), "unit": given.unit},
    )  # fmt: skip


class ServersInRackInput(Frozen):
    """The height of a rack and of one server, in rack units (U)."""

    rack_units: Count
    units_per_server: Count


def servers_in_rack(given: ServersInRackInput) -> Calculation:
    """servers = floor(rack / server) by height alone; power, weight and cooling are not looked at."""
    whole, left = divmod(given.rack_units, given.units_per_server)
    return Calculation(
        value=Decimal(whole), unit="server",
        formula=f"floor({given.rack_units} U ÷ {given.units_per_server} U) = {whole}",
        outputs={"servers": whole, "rack_units_left": left},
    )  # fmt: skip
