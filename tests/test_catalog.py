"""The catalogue: rows as values, their order and selection, and what happens to a row that cannot be read."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from knowledge.catalog import TABLES, Catalog, CatalogError, load_catalog


@pytest.fixture(name="catalog")
def _catalog() -> Catalog:
    return load_catalog()


@pytest.fixture(name="tables")
def _tables(tmp_path: Path) -> Path:
    """A copy of the tables that a test may spoil."""
    return Path(shutil.copytree(TABLES, tmp_path / "tables"))


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_offers_come_cheapest_first(catalog: Catalog) -> None:
    assert [(o.provider, o.price) for o in catalog.find_offers(["A100"])] == [
        ("tencent", Decimal("28.64")),
        ("alibaba", Decimal("34.742")),
        ("volcengine", Decimal("40.39")),
    ]


def test_an_offers_price_keeps_every_digit_and_memory_is_the_hosts(catalog: Catalog) -> None:
    (offer,) = catalog.find_offers(["A100"], ["alibaba"])
    assert (str(offer.price), offer.cpu_cores, offer.cpu_unit) == ("34.742", 16, "vCPU")
    assert offer.host_memory_gib == 125
    assert (offer.gpu_form, offer.region, offer.as_of) == (None, None, None)


@pytest.mark.parametrize(
    ("gpus", "providers", "currency", "count"),
    [
        ((), (), None, 6),
        (["A100", "T4"], ["tencent"], None, 2),
        ((), ["tencent"], "CNY", 2),
        (["A100"], (), "USD", 0),
        (["A10"], (), None, 0),  # not the A100's prices
        (["A100"], ["huawei"], None, 0),  # not a neighbour's price
    ],
)
def test_offers_are_selected_by_exact_key(
    catalog: Catalog, gpus: list[str], providers: list[str], currency: str | None, count: int
) -> None:
    assert len(catalog.find_offers(gpus, providers, currency=currency)) == count


def test_an_instance_of_eight_gpus_ranks_by_the_price_of_one(tables: Path) -> None:
    with (tables / "offers.csv").open("a", encoding="utf-8") as file:
        file.write("x8,tencent,A100,SXM,8,1,,,96,vCPU,960,200,CNY,instance-hour,on-demand,2026-01,own\n")
    offers = load_catalog(tables).find_offers(["A100"])
    assert (offers[0].id, offers[0].price, offers[0].price_per_gpu_hour) == ("x8", Decimal(200), Decimal(25))


def test_offers_in_two_currencies_are_not_mixed_in_one_ranking(tables: Path) -> None:
    with (tables / "offers.csv").open("a", encoding="utf-8") as file:
        file.write("usd,aws,A100,,1,1,,,8,vCPU,96,4,USD,instance-hour,on-demand,2026-01,own\n")
    assert [o.currency for o in load_catalog(tables).find_offers(["A100"])] == ["CNY", "CNY", "CNY", "USD"]


def test_purchases_come_cheapest_first(catalog: Catalog) -> None:
    assert [p.gpu for p in catalog.find_purchases()][:2] == ["T4", "RTX 4090"]
    assert [p.price for p in catalog.find_purchases(["H100"])] == [242_000]
    assert catalog.find_purchases(["H800"]) == []


def test_a_runs_duration_is_read_to_the_second(catalog: Catalog) -> None:
    (run,) = catalog.find_runs(["ChatGLM2"], [39333], ["pt2"])
    assert (run.duration, run.seconds) == ("7:26:25", 26785)


@pytest.mark.parametrize(
    ("models", "rows", "methods", "count"),
    [((), (), (), 8), (["ChatGLM"], (), (), 4), ((), [9999], ["LoRA"], 2), (["ChatGLM2"], [9998], (), 0)],
)
def test_runs_are_selected_by_model_rows_and_method(
    catalog: Catalog, models: list[str], rows: list[int], methods: list[str], count: int
) -> None:
    assert len(catalog.find_runs(models, rows, methods)) == count


def test_memory_advice_keeps_range_and_open_end_apart_from_card_counts(catalog: Catalog) -> None:
    falcon, small = catalog.find_advice("run-falcon-40b"), catalog.find_advice("finetune-small")
    assert falcon is not None
    assert (falcon.memory_min_gb, falcon.memory_max_gb, falcon.open_ended, falcon.card_count) == (
        Decimal(85), Decimal(100), True, None,
    )  # fmt: skip
    assert small is not None
    assert (small.memory_min_gb, small.card_count, small.card, small.card_memory_gb) == (None, 4, "A100", Decimal(80))
    assert catalog.find_advice("run-falcon-180b") is None


def test_a_gpu_that_comes_in_two_sizes_has_both(catalog: Catalog) -> None:
    assert catalog.gpu_memory_gb["A100"] == (Decimal(40), Decimal(80))
    assert catalog.gpu_memory_gb["T4"] == (Decimal(16),)
    assert "H20" not in catalog.gpu_memory_gb


def test_every_row_number_points_at_its_line_of_the_file(catalog: Catalog) -> None:
    lines = (TABLES / "offers.csv").read_text(encoding="utf-8").splitlines()
    assert all(lines[offer.row].startswith(f"{offer.id},") for offer in catalog.offers)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("offers.csv", "28.64", "面议", r"offers.csv row 3 .*面议"),
        ("offers.csv", "34.742", "", r"offers.csv row 2 "),
        ("offers.csv", "14,core", "14,thread", r"offers.csv row 1 .*'thread' is none of"),
        ("offers.csv", "28.64,CNY,instance-hour", "28.64,CNY,month", r"offers.csv row 3 .*'month'"),
        ("offers.csv", ",28.64", ",28.64,28.64", r"offers.csv row 3 has too few or too many cells"),
        ("purchases.csv", ",242000", "", r"purchases.csv row 8 has too few or too many cells"),
        ("purchases.csv", "id,gpu,market", "id,card,market", r"purchases.csv row 1 .*'gpu'"),
        ("training_runs.csv", "7:26:25", "7 h 26", r"training_runs.csv row 6 .*7 h 26"),
        ("memory_advice.csv", ",8000,", ",many,", r"memory_advice.csv row 3 .*many"),
        ("speedups.csv", "H100,A100,training", "H100,A100,rendering", r"speedups.csv row 1 .*'rendering'"),
        ("gpus.csv", "A100,40;80", "A100,40 or 80", r"gpus.csv row 6 .*40 or 80"),
        ("sources.csv", "key,title_zh", "key,title", r"sources.csv row 1 .*title"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_file_number_and_cell(
    tables: Path, file: str, old: str, new: str, message: str
) -> None:
    spoil(tables / file, old, new)
    with pytest.raises(CatalogError, match=message):
        load_catalog(tables)
