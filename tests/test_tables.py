"""The tables as they stand in the files: complete, consistent, plausible, and equal to what the sources print.

The expected figures were copied from the two articles and the handout by hand, not from our tables.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest

from knowledge.names import all_names

TABLES = Path(__file__).resolve().parent.parent / "knowledge" / "tables"

COLUMNS = {
    "sources": "key title_zh title_en published_zh published_en note_zh note_en trust",
    "names": "kind key zh en aliases shared",
    "offers": "id provider gpu gpu_form gpu_memory_gb gpu_count gpu_fraction instance region cpu_cores cpu_unit host_memory_gib"
    " price currency per pricing_model channel flags as_of source",
    "purchases": "id gpu gpu_form market price currency memory_as_printed remark_zh remark_en as_of source",
    "training_runs": "id gpu model rows duration method as_of source",
    "memory_advice": "id workload memory_min_gb memory_max_gb open_ended card_count card card_memory_gb recommended as_of"
    " source",
    "speedups": "id faster slower task precision factor approximate as_of source",
    "platforms": "id provider gpus price currency per quota_hours_per_week remark_zh remark_en as_of source",
    "servers": "id gpus platform rack_units cpu cpus cores_per_cpu base_ghz boost_ghz memory_modules module_gb memory_kind as_of source",
}
# What may be empty: the sources do not say it.
OPTIONAL = {
    "sources": "note_zh note_en",
    "names": "shared",
    "offers": "gpu_form gpu_memory_gb instance region cpu_cores cpu_unit host_memory_gib channel flags as_of",
    "purchases": "gpu_form memory_as_printed remark_zh remark_en as_of",
    "training_runs": "as_of",
    "memory_advice": "memory_min_gb memory_max_gb card_count card card_memory_gb as_of",
    "speedups": "as_of",
    "platforms": "gpus price currency per quota_hours_per_week as_of",
    "servers": "as_of",
}
HARDWARE = {"gpus", "models", "rates", "instances"}  # checked in test_hardware_tables.py
# No GPU of these sources was ever rented, per hour and GPU, or sold outside these bounds.
RENT_PER_GPU_HOUR = {"CNY": (Decimal(2), Decimal(100)), "USD": (Decimal("0.04"), Decimal(20))}
PURCHASE = {"CNY": (1_000, 500_000), "USD": (300, 50_000)}
ARTICLES = {"gpu-guide-1", "gpu-guide-2", "gpu-handout"}


def read(table: str) -> list[dict[str, str]]:
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def keys(kind: str) -> set[str]:
    return {name.key for name in all_names() if name.kind == kind}


def test_every_table_file_is_checked_here() -> None:
    assert {path.stem for path in TABLES.glob("*.csv")} == set(COLUMNS) | HARDWARE | {"terms"}  # test_expansion.py


@pytest.mark.parametrize("table", COLUMNS)
def test_columns_are_those_the_catalogue_reads_and_every_row_fills_them(table: str) -> None:
    rows = read(table)
    assert rows
    for row in rows:
        assert list(row) == COLUMNS[table].split()
        assert None not in row.values()
        empty = {column for column, cell in row.items() if not cell}
        assert empty <= set(OPTIONAL.get(table, "").split()), row
        assert all(cell == cell.strip() for cell in row.values()), row


@pytest.mark.parametrize("table", [t for t in COLUMNS if t not in ("names", "sources")])
def test_ids_are_unique(table: str) -> None:
    ids = [row["id"] for row in read(table)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("sources", "key"), ("offers", "provider gpu gpu_form gpu_memory_gb gpu_count gpu_fraction instance region cpu_cores price per"
                                       " pricing_model channel flags as_of source"),
        ("purchases", "gpu gpu_form market as_of source"), ("training_runs", "gpu model rows method"), ("memory_advice", "workload"),
        ("speedups", "faster slower task precision"), ("platforms", "provider"), ("names", "kind key"),
        ("servers", "platform"),
    ],
)  # fmt: skip
def test_no_fact_stands_twice(table: str, columns: str) -> None:
    facts = [tuple(row[column] for column in columns.split()) for row in read(table)]
    assert len(facts) == len(set(facts))


@pytest.mark.parametrize("table", [t for t in COLUMNS if t not in ("names", "sources")])
def test_every_row_names_a_known_source_and_its_date_is_a_date(table: str) -> None:
    sources = {row["key"] for row in read("sources")}
    for row in read(table):
        assert row["source"] in sources, row
        assert re.fullmatch(r"(?:\d{4}(?:-\d{2}){0,2}|\d{4}-Q[1-4])?", row["as_of"]), row


@pytest.mark.parametrize(
    ("table", "column", "kind"),
    [
        ("offers", "gpu", "gpu"), ("offers", "provider", "provider"), ("purchases", "gpu", "gpu"),
        ("training_runs", "gpu", "gpu"), ("training_runs", "model", "model"), ("training_runs", "method", "method"),
        ("speedups", "faster", "gpu"), ("speedups", "slower", "gpu"), ("platforms", "provider", "provider"),
        ("platforms", "gpus", "gpu"), ("memory_advice", "card", "gpu"), ("servers", "gpus", "gpu"),
    ],
)  # fmt: skip
def test_names_in_tables_are_keys_of_the_names_table(table: str, column: str, kind: str) -> None:
    cells = {cell for row in read(table) for cell in row[column].split(";") if cell}
    assert cells
    assert cells <= keys(kind)


def test_workloads_are_a_model_to_run_or_train_or_a_linkable_workload() -> None:
    models = {key.lower() for key in keys("model")}
    for row in read("memory_advice"):
        verb, _, what = row["workload"].partition("-")
        assert row["workload"] in keys("workload") or (verb in ("run", "train") and what in models), row


@pytest.mark.parametrize("table", ["offers", "purchases"])
def test_prices_are_positive_and_in_a_currency(table: str) -> None:
    for row in read(table):
        assert Decimal(row["price"]) > 0, row
        assert re.fullmatch(r"[A-Z]{3}", row["currency"]), row


def test_a_form_of_a_price_is_a_row_of_the_gpu_table_and_of_the_prices_family() -> None:
    families = {row["name"]: row["families"].split(";") for row in read("gpus")}
    for row in [*read("offers"), *read("purchases")]:
        assert not row["gpu_form"] or row["gpu"] in families[row["gpu_form"]], row


def test_rental_prices_are_of_a_whole_instance_and_plausible_for_one_gpu() -> None:
    for row in read("offers"):
        hours = {"instance-hour": 1, "instance-month": 730}[row["per"]]
        cards = int(row["gpu_count"]) * Decimal(row["gpu_fraction"])
        low, high = RENT_PER_GPU_HOUR[row["currency"]]
        assert low <= Decimal(row["price"]) / cards / hours <= high, row
        assert Decimal(0) < Decimal(row["gpu_fraction"]) <= 1
        assert (row["per"] == "instance-month") == (row["pricing_model"] == "monthly"), row
        assert bool(row["cpu_cores"]) == bool(row["cpu_unit"]), row
        assert row["cpu_unit"] in ("", "core", "vCPU")
        assert not row["cpu_cores"] or 1 <= int(row["cpu_cores"]) <= 256, row
        assert not row["host_memory_gib"] or 1 <= Decimal(row["host_memory_gib"]) <= 4096, row


def test_undated_prices_come_from_sources_without_a_date() -> None:
    trust = {row["key"]: row["trust"] for row in read("sources")}
    for row in read("offers"):
        assert row["as_of"] or trust[row["source"]] in ("article", "catalogue-undated", "official-undated"), row


def test_purchase_prices_are_plausible_for_one_card() -> None:
    for row in read("purchases"):
        low, high = PURCHASE[row["currency"]]
        assert low <= Decimal(row["price"]) <= high, row
        assert row["gpu_form"] or row["source"] == "gpu-handout", row


def test_purchase_kinds_are_told_apart() -> None:
    street = {row["market"] for row in read("purchases") if row["source"] == "amazon-street"}
    launch = {row["market"] for row in read("purchases") if row["source"].startswith("launch-")}
    rounded = {row["market"] for row in read("purchases") if row["source"] == "hugging-face-hardware"}
    assert (street, launch, rounded) == ({"street"}, {"launch-price"}, {"launch-price-approximate", "street-estimate"})


def test_run_durations_are_hours_minutes_seconds() -> None:
    for row in read("training_runs"):
        assert re.fullmatch(r"\d{1,3}:[0-5]\d:[0-5]\d", row["duration"]), row
        assert int(row["rows"]) > 0


def test_more_rows_took_longer_in_every_pair_of_runs() -> None:
    def seconds(row: dict[str, str]) -> int:
        hours, minutes, rest = map(int, row["duration"].split(":"))
        return hours * 3600 + minutes * 60 + rest

    runs = {(row["model"], row["method"], int(row["rows"])): seconds(row) for row in read("training_runs")}
    for model in ("ChatGLM", "ChatGLM2"):
        for method in ("pt2", "LoRA"):
            assert runs[model, method, 9999] < runs[model, method, 39333]


def test_memory_advice_is_either_a_range_of_memory_or_a_number_of_cards() -> None:
    for row in read("memory_advice"):
        assert row["open_ended"] in ("yes", "no")
        assert bool(row["memory_min_gb"]) != bool(row["card_count"]), row
        assert bool(row["memory_min_gb"]) == bool(row["memory_max_gb"])
        assert bool(row["card_count"]) == bool(row["card"])
        if row["memory_min_gb"]:
            assert 0 < Decimal(row["memory_min_gb"]) <= Decimal(row["memory_max_gb"])


def test_speedups_are_factors_above_one() -> None:
    for row in read("speedups"):
        assert Decimal(row["factor"]) > 1
        assert row["task"] in ("training", "inference")


def test_a_remark_stands_in_both_languages_or_in_none() -> None:
    for table in ("purchases", "platforms"):
        for row in read(table):
            assert bool(row["remark_zh"]) == bool(row["remark_en"]), row


def test_article_one_prints_six_rental_prices_with_cores_and_host_memory() -> None:
    printed = {
        ("volcengine", "A100", "14", "core", "245", "40.39"),
        ("alibaba", "A100", "16", "vCPU", "125", "34.742"),
        ("tencent", "A100", "16", "core", "96", "28.64"),
        ("alibaba", "T4", "4", "vCPU", "15", "11.63"),
        ("volcengine", "T4", "4", "core", "16", "11.28"),
        ("tencent", "T4", "8", "core", "32", "8.68"),
    }
    columns = ("provider", "gpu", "cpu_cores", "cpu_unit", "host_memory_gib", "price")
    rows = [row for row in read("offers") if row["source"] in ARTICLES]
    assert {tuple(row[column] for column in columns) for row in rows} == printed
    assert {row["source"] for row in rows} == {"gpu-guide-1"}
    assert {(row["currency"], row["per"], row["pricing_model"], row["gpu_fraction"]) for row in rows} == {
        ("CNY", "instance-hour", "on-demand", "1")
    }


def test_article_one_states_neither_form_nor_region_nor_date_of_its_prices() -> None:
    rows = [row for row in read("offers") if row["source"] == "gpu-guide-1"]
    assert {(row["gpu_form"], row["gpu_memory_gb"], row["region"], row["as_of"]) for row in rows} == {("", "", "", "")}


def test_article_one_prints_eight_fine_tuning_runs_on_a_4090() -> None:
    printed = {
        ("ChatGLM", "9999", "1:42:46", "pt2"),
        ("ChatGLM", "39333", "6:45:21", "pt2"),
        ("ChatGLM", "9999", "1:31:05", "LoRA"),
        ("ChatGLM", "39333", "5:40:16", "LoRA"),
        ("ChatGLM2", "9999", "1:50:27", "pt2"),
        ("ChatGLM2", "39333", "7:26:25", "pt2"),
        ("ChatGLM2", "9999", "1:29:08", "LoRA"),
        ("ChatGLM2", "39333", "5:45:08", "LoRA"),
    }
    rows = read("training_runs")
    assert {(row["model"], row["rows"], row["duration"], row["method"]) for row in rows} == printed
    assert {row["gpu"] for row in rows} == {"RTX 4090"}


def test_article_one_prints_six_lines_of_memory_and_card_advice() -> None:
    printed = {
        ("run-falcon-40b", "85", "100", "yes", "", "", "", "See Falcon-40B table"),
        ("run-mpt-30b", "80", "80", "no", "", "", "", "See MPT-30B table"),
        ("train-llama-65b", "", "", "no", "8000", "A100", "", "Very large H100 cluster"),
        ("train-falcon-40b", "", "", "no", "384", "A100", "40", "Large H100 cluster"),
        ("finetune-large", "", "", "no", "64", "A100", "40", "H100 cluster"),
        ("finetune-small", "", "", "no", "4", "A100", "80", "Multi-H100 instance"),
    }
    columns = COLUMNS["memory_advice"].split()[1:-2]
    assert {tuple(row[column] for column in columns) for row in read("memory_advice")} == printed


def test_article_one_gives_the_h100_3_5_times_in_inference_and_2_3_times_in_training() -> None:
    printed = {("H100", "A100", "inference", "16-bit", "3.5"), ("H100", "A100", "training", "16-bit", "2.3")}
    columns = ("faster", "slower", "task", "precision", "factor")
    assert {tuple(row[column] for column in columns) for row in read("speedups")} == printed


def test_the_handout_prints_eight_purchase_prices() -> None:
    printed = {
        ("T4", "enterprise-inference", "7999", "14G"),
        ("RTX 4090", "consumer", "14599", "24G"),
        ("A10", "enterprise-graphics", "18999", "24G"),
        ("RTX A6000", "enterprise-graphics", "32999", "48G"),
        ("V100", "data-centre", "42999", "32G"),
        ("A100", "data-centre", "69999", "40G"),
        ("A800", "data-centre", "110000", ""),
        ("H100", "data-centre", "242000", ""),
    }
    rows = [row for row in read("purchases") if row["source"] in ARTICLES]
    assert {(row["gpu"], row["market"], row["price"], row["memory_as_printed"]) for row in rows} == printed
    assert {(row["source"], row["currency"]) for row in rows} == {("gpu-handout", "CNY")}


def test_the_doubtful_14_gb_of_the_t4_are_remarked_upon_in_both_languages() -> None:
    t4 = next(row for row in read("purchases") if row["gpu"] == "T4")
    assert "16 GB" in t4["remark_zh"]
    assert "16 GB" in t4["remark_en"]
    assert next(row for row in read("gpus") if row["name"] == "Tesla T4")["memory"] == "16"


def test_article_one_names_three_platforms() -> None:
    columns = ("provider", "gpus", "price", "currency", "quota_hours_per_week")
    assert {tuple(row[column] for column in columns) for row in read("platforms")} == {
        ("colab", "", "9", "USD", ""),
        ("kaggle", "T4;P100", "0", "USD", "30"),
        ("autodl", "RTX 4090", "", "", ""),
    }
