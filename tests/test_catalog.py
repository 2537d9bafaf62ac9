"""The catalogue: rows as values, their order and selection, and what happens to a row that cannot be read."""

from __future__ import annotations

import shutil
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from knowledge.catalog import TABLES, Catalog, CatalogError, load_catalog
from knowledge.table_rows import Span


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
    ("gpus", "providers", "currency"),
    [
        ((), (), None),
        (["A100", "T4"], ["tencent"], None),
        ((), ["tencent"], "CNY"),
        (["A100"], (), "USD"),
        (["A10"], (), None),
    ],
)
def test_offers_are_selected_by_exact_key(
    catalog: Catalog, gpus: list[str], providers: list[str], currency: str | None
) -> None:
    found = catalog.find_offers(gpus, providers, currency=currency)
    assert found
    assert not gpus or {offer.gpu for offer in found} <= set(gpus)
    assert not providers or {offer.provider for offer in found} <= set(providers)
    assert not currency or {offer.currency for offer in found} == {currency}


def test_no_neighbours_price_stands_in(catalog: Catalog) -> None:
    assert catalog.find_offers(["A100"], ["huawei"]) == []
    assert "28.64" not in {str(offer.price) for offer in catalog.find_offers(["A10"])}  # the A100's


EIGHT = "x8,tencent,A100,A100 SXM4 80GB,,8,1,,,96,vCPU,960,200,CNY,instance-hour,on-demand,,,2026-01,own\n"
DOLLARS = "usd,aws,A100,,,1,1,,,8,vCPU,96,4,USD,instance-hour,on-demand,,,2026-01,own\n"


def test_an_instance_of_eight_gpus_wins_only_where_eight_are_wanted(tables: Path) -> None:
    with (tables / "offers.csv").open("a", encoding="utf-8") as file:
        file.write(EIGHT)
    catalog = load_catalog(tables)
    eight = catalog.find_offers(["A100"], gpu_count=8, today=date(2026, 6, 1))[0]
    assert (eight.id, eight.price, eight.price_per_gpu_hour) == ("x8", Decimal(200), Decimal(25))
    one = catalog.find_offers(["A100"], gpu_count=1, today=date(2026, 6, 1))[0]
    assert (one.id, one.price_per_gpu_hour) == ("tencent-a100", Decimal("28.64"))


def test_offers_in_two_currencies_are_not_mixed_in_one_ranking(tables: Path) -> None:
    with (tables / "offers.csv").open("a", encoding="utf-8") as file:
        file.write(DOLLARS)
    catalog = load_catalog(tables)
    assert [o.currency for o in catalog.find_offers(["A100"])] == ["CNY", "CNY", "CNY"]
    dollars = catalog.find_offers(["A100"], currency="USD", today=date(2026, 6, 1))
    assert {o.currency for o in dollars} == {"USD"}
    assert "usd" in {o.id for o in dollars}


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


@pytest.mark.parametrize(
    ("family", "sizes"), [("A100", [40, 80]), ("T4", [16]), ("H20", [96]), ("H100", [80, 94]), ("K80", [])]
)
def test_a_family_has_every_size_it_is_sold_with(catalog: Catalog, family: str, sizes: list[int]) -> None:
    assert list(catalog.memory_sizes_gb(family)) == [Decimal(size) for size in sizes]


def test_a_modded_card_is_no_size_the_family_is_sold_with(catalog: Catalog) -> None:
    assert catalog.memory_sizes_gb("RTX 4090") == (Decimal(24),)
    assert [gpu.name for gpu in catalog.gpus_of("RTX 4090")] == ["GeForce RTX 4090"]
    modded = catalog.gpu("GeForce RTX 4090 48GB (modded)")
    assert modded is not None
    assert (modded.variant, modded.family) == ("modded", "RTX 4090")


def test_a_disputed_figure_is_a_range_and_an_unknown_one_is_none(catalog: Catalog) -> None:
    b200, b100 = catalog.gpu("B200 SXM 180GB"), catalog.gpu("B100")
    assert b200 is not None
    assert b200.memory == Span(Decimal(180), Decimal(192))
    assert b200.memory.disputed
    assert b100 is not None
    assert (b100.memory, b100.tdp_w) == (None, None)


def test_a_models_parameters_are_counts(catalog: Catalog) -> None:
    mixtral = catalog.model("Mixtral-8x7B")
    assert mixtral is not None
    assert (mixtral.parameters, mixtral.active_parameters) == (Decimal(46_703_000_000), Decimal(12_880_000_000))
    assert catalog.model("Mixtral") is None


def test_the_newest_rate_is_taken_unless_a_year_is_named(catalog: Catalog) -> None:
    newest, older = catalog.rate("CNY"), catalog.rate("CNY", 2020)
    assert newest is not None
    assert older is not None
    assert (newest.year, str(newest.units_per_usd), str(older.units_per_usd)) == (2024, "7.189", "6.9")
    assert catalog.rate("CHF") is None


def test_every_row_number_points_at_its_line_of_the_file(catalog: Catalog) -> None:
    lines = (TABLES / "offers.csv").read_text(encoding="utf-8").splitlines()
    assert all(lines[offer.row].startswith(f"{offer.id},") for offer in catalog.offers)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("offers.csv", "28.64", "面议", r"offers.csv row 3 .*面议"),
        ("offers.csv", "34.742", "", r"offers.csv row 2 "),
        ("offers.csv", "1,,,14,core", "1,,,14,thread", r"offers.csv row 1 .*'thread'"),
        ("offers.csv", "28.64,CNY,instance-hour", "28.64,CNY,month", r"offers.csv row 3 .*'month'"),
        ("offers.csv", ",28.64", ",28.64,28.64", r"offers.csv row 3 has too few or too many cells"),
        ("purchases.csv", ",242000", "", r"purchases.csv row 8 has too few or too many cells"),
        ("purchases.csv", "id,gpu,gpu_form", "id,card,gpu_form", r"purchases.csv row 1 .*'gpu'"),
        ("training_runs.csv", "7:26:25", "7 h 26", r"training_runs.csv row 6 .*7 h 26"),
        ("memory_advice.csv", ",8000,", ",many,", r"memory_advice.csv row 3 .*many"),
        ("speedups.csv", "H100,A100,training", "H100,A100,rendering", r"speedups.csv row 1 .*'rendering'"),
        ("gpus.csv", "PCIe pair,94,GB", "PCIe pair,80 or 94,GB", r"gpus.csv row \d+ .*80 or 94"),
        ("gpus.csv", "SXM6,180-192,GB", "SXM6,192-180,GB", r"gpus.csv row \d+ .*192-180"),
        ("gpus.csv", "PCIe pair,94,GB", "PCIe pair,94,MB", r"gpus.csv row \d+ .*'MB'"),
        (
            "models.csv",
            "Llama-2-7B,6.738,6.738,published",
            "Llama-2-7B,6.738,6.738,guessed",
            r"models.csv row 1 .*guessed",
        ),
        ("rates.csv", "CNY,7.189", "CNY,seven", r"rates.csv row 1 .*seven"),
        ("sources.csv", "key,title_zh", "key,title", r"sources.csv row 1 .*title"),
    ],
)
def test_a_row_that_cannot_be_read_is_named_with_file_number_and_cell(
    tables: Path, file: str, old: str, new: str, message: str
) -> None:
    spoil(tables / file, old, new)
    with pytest.raises(CatalogError, match=message):
        load_catalog(tables)
