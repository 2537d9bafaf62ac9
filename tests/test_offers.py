"""Queries over price rows: what is found, in which order, what was left out and why; snapshots and ages."""

from __future__ import annotations

import csv
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge import price_snapshots
from knowledge.offer_store import COLUMNS, SnapshotBrokenError
from knowledge.offers import Offer, OfferFilter, OfferTable, age_days, load_offers, staleness
from knowledge.table_rows import CatalogError

BASE = {
    "provider": "aws", "gpu": "A100", "gpu_form": "", "gpu_memory_gb": "", "gpu_count": "1", "gpu_fraction": "1",
    "instance": "", "region": "", "cpu_cores": "", "cpu_unit": "", "host_memory_gib": "", "price": "1", "currency": "USD",
    "per": "instance-hour", "pricing_model": "on-demand", "channel": "", "flags": "", "as_of": "", "source": "s",
}  # fmt: skip
GPUS = """name,families,variant,vendor,architecture,release_year,form_factor,memory,memory_unit,memory_type,bandwidth_gb_per_s,fp32_tflops,fp16_tflops,bf16_tflops,fp8_tflops,int8_tops,tdp_w,interconnect,nvlink_gb_per_s,launch_price_usd,compute_capability,export_status,export_rule_date,export_rule_zh,export_rule_en,export_source,note_zh,note_en,source
A100 40,A100,,N,A,,,40,GB,,,,,,,,,,,,,unknown,,,,,,,s
A100 80,A100,,N,A,,,80,GB,,,,,,,,,,,,,unknown,,,,,,,s
Tesla T4,T4,,N,A,,,16,GB,,,,,,,,,,,,,unknown,,,,,,,s
"""


def write(folder: Path, *rows: dict[str, str]) -> Path:
    path = folder / "offers.csv"
    (folder / "gpus.csv").write_text(GPUS, encoding="utf-8")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows({**BASE, "id": f"r{number}", **row} for number, row in enumerate(rows, start=1))
    return path


def table(folder: Path, *rows: dict[str, str]) -> OfferTable:
    return load_offers(write(folder, *rows))


def commit(label: str, *rows: dict[str, str]) -> Path:
    with duckdb.connect() as database:
        columns = (*COLUMNS, "line", "origin")
        database.execute(
            f"CREATE TABLE new ({', '.join(f'{c} ' + ('INTEGER' if c == 'line' else 'VARCHAR') for c in columns)})"
        )
        for number, row in enumerate(rows, start=2):
            cells = {**BASE, "id": f"{label}{number}", "line": str(number), "origin": label, **row}
            database.execute(f"INSERT INTO new VALUES ({', '.join('?' for _ in columns)})", [cells[c] for c in columns])
        return price_snapshots.commit(database.table("new"), database, label)


def ids(offers: tuple[Offer, ...]) -> list[str]:
    return [offer.id for offer in offers]


def test_rows_come_by_currency_and_then_by_what_one_gpu_costs_an_hour(tmp_path: Path) -> None:
    offers = table(
        tmp_path,
        {"price": "24", "gpu_count": "8"},  # 3 each
        {"price": "2.5"},
        {"price": "1460", "per": "instance-month"},  # 2 an hour
        {"price": "20", "currency": "CNY"},
    )
    result = offers.query(OfferFilter())
    assert ids(result.offers) == ["r4", "r3", "r2", "r1"]
    assert [offer.price_per_gpu_hour for offer in result.offers] == [20, 2, Decimal("2.5"), 3]
    assert (result.matched, result.considered, result.left_out) == (4, 4, ())


def test_of_rows_at_one_price_the_more_trusted_source_comes_first(tmp_path: Path) -> None:
    (tmp_path / "sources.csv").write_text("key,trust\nlist,official-dated\nblog,article\n", encoding="utf-8")
    offers = table(tmp_path, {"source": "blog"}, {"source": "list"}, {"source": "nobody"})
    assert ids(offers.query(OfferFilter()).offers) == ["r2", "r3", "r1"]


def test_a_price_keeps_every_digit_as_written(tmp_path: Path) -> None:
    (offer,) = table(tmp_path, {"price": "21.95764", "gpu_count": "8"}).query(OfferFilter()).offers
    assert str(offer.price) == "21.95764"
    assert offer.price_per_gpu_hour == Decimal("2.744705")
    assert (offer.gpu_form, offer.cpu_cores, offer.cpu_unit, offer.host_memory_gib, offer.as_of) == (None,) * 5


def test_a_slice_costs_what_its_whole_card_would_and_is_left_out_unless_wanted(tmp_path: Path) -> None:
    offers = table(tmp_path, {"price": "3.39", "gpu_fraction": "0.25", "flags": "compute-only;slice"}, {"price": "10"})
    whole = offers.query(OfferFilter())
    assert ids(whole.offers) == ["r2"]
    assert [(left.reason, left.count) for left in whole.left_out] == [("slice", 1)]
    part = offers.query(OfferFilter(whole_cards=False)).offers[1]
    assert part.is_slice
    assert part.flags == ("compute-only", "slice")
    assert part.price_per_gpu_hour == Decimal("13.56")


@pytest.mark.parametrize(
    ("wanted", "found", "reason"),
    [
        (OfferFilter(currencies=("CNY",)), [], "other-currency"),
        (OfferFilter(forms=("A100 40",)), [], "other-form"),
        (OfferFilter(regions=("us-west-2",)), ["r1"], None),
        (OfferFilter(regions=("us-west",)), [], "other-region"),
        (OfferFilter(pricing_models=("on-demand",)), [], "other-pricing-model"),
        (OfferFilter(per=("instance-month",)), [], "other-period"),
        (OfferFilter(min_gpu_count=3), [], "other-count"),
        (OfferFilter(max_gpu_count=1), [], "other-count"),
        (OfferFilter(min_gpu_count=2, max_gpu_count=2), ["r1"], None),
        (OfferFilter(min_as_of=date(2024, 7, 2)), [], "too-old"),
        (OfferFilter(min_as_of=date(2024, 7, 1)), ["r1"], None),
        (OfferFilter(max_price_per_gpu_hour=Decimal("1.49")), [], "above-price"),
        (OfferFilter(max_price_per_gpu_hour=Decimal("1.5")), ["r1"], None),
        (OfferFilter(min_gpu_memory_gb=Decimal(81)), [], "too-little-memory"),
        (OfferFilter(min_gpu_memory_gb=Decimal(80)), ["r1"], None),
    ],
)
def test_each_condition_keeps_or_leaves_out_with_its_reason(
    tmp_path: Path, wanted: OfferFilter, found: list[str], reason: str | None
) -> None:
    row = {"gpu_form": "A100 80", "region": "us-west-2/usw2-az1", "pricing_model": "spot", "gpu_count": "2", "price": "3", "as_of": "2024-07"}  # fmt: skip
    result = table(tmp_path, row).query(wanted)
    assert ids(result.offers) == found
    assert [left.reason for left in result.left_out] == ([reason] if reason else [])
    assert result.considered == 1


def test_what_a_row_does_not_state_is_a_reason_of_its_own(tmp_path: Path) -> None:
    offers = table(tmp_path, {})
    for wanted, reason in (
        (OfferFilter(forms=("A100 80",)), "form-not-stated"),
        (OfferFilter(regions=("us-west-2",)), "region-not-stated"),
        (OfferFilter(min_gpu_memory_gb=Decimal(40)), "memory-not-known"),
        (OfferFilter(min_as_of=date(2020, 1, 1)), "undated"),
    ):
        result = offers.query(wanted)
        assert (result.matched, [left.reason for left in result.left_out]) == (0, [reason])


def test_a_family_with_one_memory_size_needs_no_form_to_have_it(tmp_path: Path) -> None:
    offers = table(tmp_path, {"gpu": "T4"}, {"gpu": "A100", "gpu_memory_gb": "80"})
    assert ids(offers.query(OfferFilter(min_gpu_memory_gb=Decimal(16))).offers) == ["r1", "r2"]
    assert ids(offers.query(OfferFilter(min_gpu_memory_gb=Decimal(17))).offers) == ["r2"]


def test_rows_of_other_gpus_and_providers_are_not_even_considered(tmp_path: Path) -> None:
    offers = table(tmp_path, {"gpu": "T4"}, {"provider": "gcp"}, {})
    result = offers.query(OfferFilter(gpus=("A100",), providers=("aws",)))
    assert (ids(result.offers), result.considered) == (["r3"], 1)
    assert offers.query(OfferFilter(gpus=("H300",))).considered == 0
    assert (offers.gpus(), offers.providers(), offers.count) == (("A100", "T4"), ("aws", "gcp"), 3)


def test_a_limit_cuts_the_rows_and_not_the_count(tmp_path: Path) -> None:
    result = table(tmp_path, {"price": "3"}, {"price": "2"}, {"price": "1"}).query(OfferFilter(), limit=2)
    assert (ids(result.offers), result.matched) == (["r3", "r2"], 3)


@settings(max_examples=50, deadline=None)
@given(prices=st.lists(st.decimals("0.01", "99", places=2), min_size=1, max_size=9))
def test_spread_is_lowest_median_and_highest_of_each_currency(
    tmp_path_factory: pytest.TempPathFactory, prices: list[Decimal]
) -> None:
    offers = table(
        tmp_path_factory.mktemp("t"), *({"price": str(price)} for price in prices), {"price": "7", "currency": "CNY"}
    )
    yuan, dollars = offers.spread(OfferFilter())
    ordered = sorted(prices)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    assert (dollars.low, dollars.median, dollars.high, dollars.count) == (ordered[0], middle, ordered[-1], len(ordered))
    assert (yuan.currency, yuan.low, yuan.median, yuan.high, yuan.count) == ("CNY", 7, 7, 7, 1)
    assert [offer.price for offer in offers.cheapest(OfferFilter())] == [7, ordered[0]]


def test_history_is_the_dated_rows_oldest_first(tmp_path: Path) -> None:
    offers = table(tmp_path, {"as_of": "2026-05-24"}, {"as_of": ""}, {"as_of": "2023-Q3"}, {"as_of": "2024-07"})
    assert [offer.as_of for offer in offers.history("A100", "aws")] == ["2023-Q3", "2024-07", "2026-05-24"]


@pytest.mark.parametrize(
    ("as_of", "days", "state"),
    [
        ("2026-11-30", 0, "fresh"), ("2026-06-03", 180, "fresh"), ("2026-06-02", 181, "ageing"),
        ("2024-11-30", 730, "ageing"), ("2024-11-29", 731, "stale"), ("2023-Q3", 1248, "stale"), ("2024-12", 729, "ageing"),
        ("", None, "undated"),
    ],
)  # fmt: skip
def test_age_counts_from_the_first_day_that_the_date_may_mean(
    tmp_path: Path, as_of: str, days: int | None, state: str
) -> None:
    (offer,) = table(tmp_path, {"as_of": as_of})
    today = date(2026, 11, 30)
    assert (age_days(offer, today), staleness(offer, today)) == (days, state)


@pytest.mark.parametrize(
    "cell",
    [{"price": "0"}, {"price": "cheap"}, {"gpu_count": "0"}, {"gpu_fraction": "1.5"}, {"as_of": "May 2024"},
     {"as_of": "2024-13"}, {"per": "day"}, {"cpu_unit": "thread"}, {"gpu_count": "2", "gpu_fraction": "0.5"}],
)  # fmt: skip
def test_a_row_that_cannot_be_is_named_with_its_file_and_number(tmp_path: Path, cell: dict[str, str]) -> None:
    with pytest.raises(CatalogError, match=r"offers\.csv row 2 "):
        table(tmp_path, {}, cell)


def test_an_imported_row_replaces_the_one_of_the_same_offer_and_others_stay(tmp_path: Path) -> None:
    offers = load_offers(write(tmp_path, {"price": "5"}, {"price": "6", "provider": "gcp"}), price_snapshots.current)
    assert offers.count == 2
    commit("mine.csv", {"price": "4"}, {"price": "9", "region": "r"})
    assert [(offer.price, offer.origin) for offer in offers.query(OfferFilter()).offers] == [(4, "mine.csv"), (6, None), (9, "mine.csv")]  # fmt: skip
    assert [(offer.id, offer.row) for offer in offers] == [("r2", 2), ("mine.csv2", 2), ("mine.csv3", 3)]


def test_the_only_form_of_a_gpu_is_meant_where_none_is_stated(tmp_path: Path) -> None:
    offers = load_offers(write(tmp_path, {"gpu": "T4"}, {"gpu": "A100"}), price_snapshots.current)
    commit("mine.csv", {"gpu": "T4", "gpu_form": "Tesla T4", "price": "3"}, {"gpu_form": "A100 80", "price": "4"})
    assert [(offer.gpu, offer.price) for offer in offers] == [("A100", 1), ("T4", 3), ("A100", 4)]


def test_a_running_table_sees_imports_and_undo_at_its_next_query(tmp_path: Path) -> None:
    offers = load_offers(write(tmp_path, {"price": "5"}), price_snapshots.current)
    prices = [[offer.price for offer in offers]]
    first = commit("a.csv", {"price": "4"})
    prices.append([offer.price for offer in offers])
    second = commit("b.csv", {"price": "3"})
    prices.append([offer.price for offer in offers])
    assert price_snapshots.current() == second != first
    assert price_snapshots.undo() == "b.csv"
    prices.append([offer.price for offer in offers])
    assert price_snapshots.undo() == "a.csv"
    prices.append([offer.price for offer in offers])
    assert prices == [[5], [4], [3], [4], [5]]
    with pytest.raises(price_snapshots.NothingToUndoError, match="no import to undo"):
        price_snapshots.undo()


def test_a_crash_before_the_swap_leaves_the_old_snapshot_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers = load_offers(write(tmp_path, {"price": "5"}), price_snapshots.current)
    commit("a.csv", {"price": "4"})

    def crash(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", crash)
        with pytest.raises(KeyboardInterrupt):
            commit("b.csv", {"price": "3"})
    assert [offer.price for offer in offers] == [4]
    commit("c.csv", {"price": "2"})
    assert [offer.price for offer in offers] == [2]
    assert price_snapshots.undo() == "c.csv"
    assert [offer.price for offer in offers] == [4]


def test_a_damaged_snapshot_is_named_with_the_way_out_and_undo_still_works(tmp_path: Path) -> None:
    offers = load_offers(write(tmp_path, {"price": "5"}), price_snapshots.current)
    commit("a.csv", {"price": "4"}).write_bytes(b"broken")
    with pytest.raises(SnapshotBrokenError, match="prices undo"):
        offers.query(OfferFilter())
    price_snapshots.undo()
    assert [offer.price for offer in offers] == [5]


def test_a_pointer_that_cannot_be_read_says_so() -> None:
    commit("a.csv", {})
    (price_snapshots.folder() / price_snapshots.POINTER).write_text("{", encoding="utf-8")
    with pytest.raises(SnapshotBrokenError, match=r"current\.json"):
        price_snapshots.current()


def test_threads_may_query_while_snapshots_change(tmp_path: Path) -> None:
    offers = load_offers(
        write(tmp_path, *({"price": str(n), "instance": str(n)} for n in range(1, 21))), price_snapshots.current
    )

    def ask(number: int) -> tuple[int, int]:
        if number % 10 == 0:
            commit(f"{number}.csv", {"price": "1000", "instance": str(number)})
        result = offers.query(OfferFilter(max_price_per_gpu_hour=Decimal(10)))
        return len(result.offers), result.matched

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(1, 40))) == {(10, 10), (9, 9)}
