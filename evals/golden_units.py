"""Units that published memory figures are stated in."""

from __future__ import annotations

from decimal import Decimal

SIZES = {
    "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip


def in_bytes_unit(size_bytes: object, unit: str) -> Decimal:
    """Bytes in a unit; what follows a slash (GiB/GPU, B/token) says per what. Raises ValueError for another unit."""
    name = unit.partition("/")[0]
    if name not in SIZES:
        raise ValueError(f"unit {unit!r} is none of {', '.join(SIZES)}")
    return Decimal(str(size_bytes)) / SIZES[name]
