"""Times a million synthetic price rows: one import, and filtered, sorted queries over them.

Run: python -m evals.offers_speed [ROWS]. Bounds: import 90 s, query 50 ms at the 95th percentile, on 2 cores.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

IMPORT_BOUND_S = 90.0
QUERY_BOUND_MS = 50.0
QUERIES = 200
# USD per GPU-hour around which the synthetic prices lie.
CARDS = {"A100-80GB": 1.8, "A100 40GB PCIe": 1.4, "H100 SXM": 3.0, "T4": 0.5, "RTX 4090": 0.5, "L40S": 1.2, "V100": 1.5,
         "H200": 3.5, "L4": 0.7, "A10G": 1.1, "RTX A6000": 0.8, "B200": 5.0}  # fmt: skip
ASKED = ("A100", "H100", "T4", "RTX 4090", "L40S", "V100")
PROVIDERS = ("阿里云", "腾讯云", "aws", "azure", "gcp", "Lambda", "RunPod", "Vast.ai", "CoreWeave", "Nebius")


def write_rows(path: Path, rows: int) -> None:
    """A CSV file of distinct offers in the spellings that people use."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as file:
        file.write("云厂商,GPU,数量,实例,地域,价格,计费方式,日期\n")
        for number in range(rows):
            card, usd = draw.choice(tuple(CARDS.items()))
            count, spot = draw.choice((1, 2, 4, 8)), draw.random() < 0.3
            price = count * usd * draw.uniform(0.8, 1.2) * (0.5 if spot else 1)
            file.write(
                f"{draw.choice(PROVIDERS)},{card},{count},type-{number // 40},region-{number % 40},${price:.4f},"
                f"{'竞价' if spot else '按量'},2026-{draw.randint(1, 10):02}-{draw.randint(1, 28):02}\n"
            )


def main(rows: int) -> int:
    """Prints the figures; 1 where a bound is missed."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GPU_ADVISOR_HOME"] = folder
        from ingest.price_import import prepare
        from knowledge.offers import OfferFilter, load_offers
        from knowledge.price_snapshots import current
        from knowledge.table_rows import TABLES

        path = Path(folder) / "rows.csv"
        write_rows(path, rows)
        started = time.perf_counter()
        prepared = prepare(path, today=date(2026, 11, 30))
        checked_s = time.perf_counter() - started
        prepared.commit()
        import_s = time.perf_counter() - started
        del prepared
        table = load_offers(TABLES / "offers.csv", current)
        started = time.perf_counter()
        count = table.count
        opened_s = time.perf_counter() - started
        times = []
        draw = random.Random(8)
        for _ in range(QUERIES):
            gpu, provider = draw.choice(ASKED), draw.choice(("aws", "azure", "gcp", "alibaba"))
            wanted = OfferFilter(
                gpus=(gpu,), providers=(provider,) if draw.random() < 0.5 else (), currencies=("USD",),
                pricing_models=("on-demand",), min_gpu_count=draw.choice((None, 2, 8)), min_as_of=date(2026, 6, 1),
            )  # fmt: skip
            started = time.perf_counter()
            table.query(wanted, limit=20)
            times.append((time.perf_counter() - started) * 1000)
    times.sort()
    p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
    lines = (
        f"rows in the table: {count:,}",
        f"import of {rows:,} rows: {import_s:.1f} s, of which checking {checked_s:.1f} s (bound {IMPORT_BOUND_S:.0f} s)",
        f"first query after it: {opened_s:.1f} s",
        f"query: p50 {p50:.1f} ms, p95 {p95:.1f} ms over {QUERIES} (bound {QUERY_BOUND_MS:.0f} ms)",
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return int(import_s > IMPORT_BOUND_S or p95 > QUERY_BOUND_MS)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
