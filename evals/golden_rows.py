"""Reading one row of a file of published values: its inputs, one key at a time, and the unit its value is in.

Computes nothing. A key that no operation asks for is an error, so that no input is dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

Operation = Callable[[Mapping[str, Any], str], Decimal]

# They say what was measured; no formula needs them.
DESCRIPTIONS = {
    "op", "model", "gpu", "system", "benchmark", "mfu_source", "compile", "engine", "framework", "card", "gpus_note",
    "dataset", "hardware", "provider", "version", "note",
}  # fmt: skip
BYTES_OF_TYPE = {
    "fp32": Decimal(4), "bf16": Decimal(2), "fp16": Decimal(2), "fp8": Decimal(1), "int8": Decimal(1),
    "int4": Decimal("0.5"), "fp4": Decimal("0.5"),
}  # fmt: skip

SECONDS: dict[str, Decimal | int] = {
    "s": 1,
    "ms": Decimal("0.001"),
    "min": 60,
    "h": 3600,
    "hours": 3600,
    "days": 86400,
    "d": 86400,
    "ms/token": Decimal("0.001"),
}
GPU_HOURS: dict[str, Decimal | int] = {f"{prefix}{chip}-{unit}": Decimal(size) * hours
             for prefix, size in (("", 1), ("k ", 10**3), ("M ", 10**6))
             for chip in ("GPU", "TPU", "chip", "accelerator") for unit, hours in (("h", 1), ("days", 24))}  # fmt: skip
FLOPS: dict[str, Decimal | int] = {
    "FLOP": 1, "GFLOP": 10**9, "TFLOP": 10**12, "PFLOP": 10**15, "EFLOP": 10**18, "ZFLOP": 10**21,
    "PFLOP/s-days": 864 * 10**17, "FLOP/token": 1, "GFLOP/token": 10**9, "TFLOP/token": 10**12,
}  # fmt: skip
TOKENS_PER_SECOND: dict[str, Decimal | int] = dict.fromkeys(
    ("tok/s", "output tok/s", "tok/s/GPU", "tok/s/node", "tok/s/user", "output tok/s/GPU", "tokens/s"), 1
)


class Row:
    """A row's inputs as an operation takes them out, one key at a time; what is left over is an error."""

    def __init__(self, inputs: Mapping[str, Any], operation: str) -> None:
        self._left, self._operation = {**inputs}, operation

    def number(self, *names: str) -> Decimal | None:
        """The first of these keys that is there; all of them count as known."""
        found = [Decimal(str(self._left.pop(name))) for name in names if name in self._left]
        return found[0] if found else None

    def text(self, name: str, default: str = "") -> str:
        """A word, or the default."""
        return str(self._left.pop(name, default))

    def flag(self, name: str) -> bool:
        """Whether a key is there and true."""
        return self._left.pop(name, False) is True

    def items(self, name: str) -> list[Any]:
        """A list."""
        return list(self._left.pop(name, []))

    def close(self) -> None:
        """Raises ValueError for a key that nothing has asked for."""
        unknown = sorted(self._left.keys() - DESCRIPTIONS)
        if unknown:
            raise ValueError(f"{self._operation}: no meaning is known for {', '.join(unknown)}")


def given(**arguments: object) -> dict[str, object]:
    """The arguments that a row has a value for."""
    return {name: value for name, value in arguments.items() if value is not None}


def in_unit(value: object, unit: str, sizes: Mapping[str, Decimal | int], base: str) -> Decimal:
    """A value counted in `base`, in the unit that the row asks for."""
    if unit not in sizes:
        raise ValueError(f"unit {unit!r} is none of {', '.join(sizes)}")
    return Decimal(str(value)) * sizes.get(base, 1) / sizes[unit]


def whole(value: Decimal | None) -> int | None:
    """A count."""
    return None if value is None else int(value)
