"""offers.csv as it stands in the file: complete, consistent and plausible, row by row and against one another."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from knowledge.names import all_names

TABLES = Path(__file__).resolve().parent.parent / "knowledge" / "tables"
TODAY = date(2026, 11, 30)
HOURS_PER_MONTH = 730
REQUIRED = ["id", "provider", "gpu", "gpu_count", "gpu_fraction", "price", "currency", "per", "pricing_model", "source"]
SAME_OFFER = ["provider", "gpu", "gpu_form", "gpu_memory_gb", "gpu_count", "gpu_fraction", "instance", "region", "cpu_cores", "host_memory_gib", "per", "pricing_model", "channel", "currency", "as_of", "source"]  # fmt: skip
SAME_SERIES = [
    "provider",
    "gpu",
    "gpu_form",
    "gpu_memory_gb",
    "region",
    "per",
    "pricing_model",
    "channel",
    "currency",
    "as_of",
    "source",
]
SAME_INSTANCE = ["provider", "gpu", "gpu_form", "gpu_memory_gb", "gpu_count", "gpu_fraction", "instance", "per", "channel", "currency", "as_of", "source"]  # fmt: skip
PRICING_MODELS = {"on-demand", "spot", "spot-estimated", "lowest-listed", "marketplace-min", "community", "monthly"}
# One page lists the same card at two prices and states nothing that tells them apart.
LISTED_TWICE = {"thundercompute-l40-1x-nvidia-l40-2026-05-2", "thundercompute-l40s-1x-nvidia-l40s-2026-05-2"}
# Exoscale prices the host and adds little per card: eight P100 cost 2.4 times one.
NOT_BY_COUNT = {"exoscale"}
# USD per GPU-hour, a slice counted as its whole card: nothing older than Volta and no card for workstations is
# rented above 5, nothing at all above 15; the cheapest, a spot V100 of 2026, is at 0.05.
FLOOR, CEILING, CEILING_OF_SMALL = Decimal("0.02"), Decimal(15), Decimal(5)
LARGE = {"A100", "A800", "H100", "H800", "H200", "GH200", "B200", "B300", "GB200", "GB300", "MI300X", "MI325X", "MI350X",
         "MI355X", "TPU v4", "TPU v5p", "TPU v6e", "TPU v5e"}  # fmt: skip
YUAN_PER_USD = 7


def table(name: str) -> list[dict[str, str]]:
    with (TABLES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


ROWS = table("offers")
FORMS = {row["name"]: row for row in table("gpus")}


def per_gpu_hour(row: dict[str, str]) -> Decimal:
    hours = HOURS_PER_MONTH if row["per"] == "instance-month" else 1
    return Decimal(row["price"]) / hours / (int(row["gpu_count"]) * Decimal(row["gpu_fraction"]))


def grouped(columns: list[str], rows: list[dict[str, str]]) -> dict[tuple[str, ...], list[dict[str, str]]]:
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return groups


def test_what_every_row_must_state_is_stated_and_no_id_stands_twice() -> None:
    assert len(ROWS) >= 700
    assert [row["id"] for row in ROWS if not all(row[column] for column in REQUIRED)] == []
    assert [key for key, count in Counter(row["id"] for row in ROWS).items() if count > 1] == []


def test_counts_fractions_prices_and_words_are_of_the_kinds_there_are() -> None:
    for row in ROWS:
        assert Decimal(row["price"]) > 0, row["id"]
        assert 1 <= int(row["gpu_count"]) <= 16, row["id"]
        share = Decimal(row["gpu_fraction"])
        assert 0 < share <= 1, row["id"]
        assert share == 1 or row["gpu_count"] == "1", row["id"]
        assert ("slice" in row["flags"].split(";")) == (share < 1), row["id"]
        assert row["pricing_model"] in PRICING_MODELS, row["id"]
        assert (row["per"] == "instance-month") == (row["pricing_model"] == "monthly"), row["id"]
        assert row["currency"] in ("CNY", "USD"), row["id"]
        assert bool(row["cpu_cores"]) == bool(row["cpu_unit"]), row["id"]


@pytest.mark.parametrize("kind", ["gpu", "provider"])
def test_every_gpu_and_provider_has_a_name_that_readers_can_use(kind: str) -> None:
    assert {row[kind] for row in ROWS} - {name.key for name in all_names() if name.kind == kind} == set()


def test_every_source_is_described() -> None:
    assert {row["source"] for row in ROWS} - {row["key"] for row in table("sources")} == set()


def test_forms_are_forms_of_their_gpu() -> None:
    for row in ROWS:
        if row["gpu_form"]:
            assert row["gpu"] in FORMS[row["gpu_form"]]["families"].split(";"), row["id"]


def test_memory_is_stated_only_without_a_form_and_is_a_size_of_that_gpu() -> None:
    """M40 and M60 have no row in gpus.csv: there the price list is the only word on their memory."""
    for row in ROWS:
        if row["gpu_memory_gb"]:
            assert not row["gpu_form"], row["id"]
            sizes = [
                size
                for form in FORMS.values()
                if row["gpu"] in form["families"].split(";")
                for size in form["memory"].split("-")
            ]
            assert not sizes or row["gpu_memory_gb"] in sizes, row["id"]


def test_dates_have_one_of_three_forms_and_none_is_in_the_future() -> None:
    for row in ROWS:
        assert re.fullmatch(r"|\d{4}-Q[1-4]|\d{4}-(0[1-9]|1[0-2])|\d{4}-\d\d-\d\d", row["as_of"]), row["id"]
        if len(row["as_of"]) == 10:
            assert date.fromisoformat(row["as_of"]) <= TODAY, row["id"]
        assert row["as_of"][:4] <= "2026", row["id"]


def test_no_row_is_marked_stale() -> None:
    """Age is worked out on the day of the question; a mark in the file would be wrong the day after."""
    assert [row["id"] for row in ROWS if re.search("stale|outdated|expired", row["flags"])] == []


def test_no_offer_stands_twice() -> None:
    doubled = [rows[1:] for rows in grouped(SAME_OFFER, ROWS).values() if len(rows) > 1]
    assert {row["id"] for rows in doubled for row in rows} == LISTED_TWICE


def test_more_cards_cost_more_and_about_in_proportion() -> None:
    """Cheapest n cards against the cheapest of fewer: catches a price per card in a row for the whole instance."""
    compared = 0
    for rows in grouped(SAME_SERIES, [row for row in ROWS if row["gpu_fraction"] == "1"]).values():
        cheapest: dict[int, Decimal] = {}
        for row in rows:
            count = int(row["gpu_count"])
            cheapest[count] = min(per_gpu_hour(row), cheapest.get(count, per_gpu_hour(row)))
        first = min(cheapest)
        for count, price in cheapest.items():
            if count != first and rows[0]["provider"] not in NOT_BY_COUNT:
                compared += 1
                assert Decimal("0.55") < price / cheapest[first] < Decimal("2.1"), rows[0]["id"]
    assert compared >= 50


def test_a_gpu_hour_costs_what_a_gpu_hour_may_cost() -> None:
    for row in ROWS:
        usd = per_gpu_hour(row) / (YUAN_PER_USD if row["currency"] == "CNY" else 1)
        assert FLOOR <= usd <= (CEILING if row["gpu"] in LARGE else CEILING_OF_SMALL), (row["id"], usd)


def test_spot_is_not_above_on_demand_unless_flagged() -> None:
    on_demand = grouped(SAME_INSTANCE, [row for row in ROWS if row["pricing_model"] == "on-demand"])
    wrong, compared = [], 0
    for row in ROWS:
        if row["pricing_model"].startswith("spot"):
            here = row["region"].split("/")[0]
            same = [o for o in on_demand.get(tuple(row[c] for c in SAME_INSTANCE), []) if o["region"] == here]
            above = any(Decimal(row["price"]) > Decimal(o["price"]) for o in same)
            compared += bool(same)
            if above != ("spot-above-on-demand" in row["flags"].split(";")):
                wrong.append(row["id"])
    assert wrong == []
    assert compared >= 100
