"""The price list as CSV: exact, harmless in a spreadsheet, and taken again by the price import."""

from __future__ import annotations

import csv
import io
from collections import Counter
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from price_rows import AWKWARD, take_in

from assistant.price_export import BOM, IMPORTED, export, harmless
from assistant.price_filters import from_query
from assistant.price_routes import add_price_routes
from ingest.price_import import prepare
from knowledge import price_snapshots
from knowledge.catalog import Offer, load_catalog

TODAY = date(2026, 11, 30)


def text_of(query: str) -> str:
    return "".join(export(from_query(query), "zh", TODAY).text)


def rows_of(query: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(query).removeprefix(BOM))))


def test_every_row_goes_out_whatever_page_is_shown_and_the_file_has_a_bom_for_excel() -> None:
    text = text_of("slices=yes&page=2")
    assert text.startswith(BOM + ",".join(IMPORTED))
    assert len(rows_of("slices=yes&page=2")) == load_catalog().offers.count


def test_prices_go_out_with_every_digit_their_row_has() -> None:
    (row,) = rows_of("gpu=A100&provider=alibaba")
    assert (row["price"], row["currency"], row["per"]) == ("34.742", "CNY", "instance-hour")
    monthly = next(
        r for r in rows_of("gpu=T4&provider=tencent") if r["per"] == "instance-month" and r["price"] == "2500"
    )
    assert Decimal(monthly["price_per_gpu_hour"]) == round(Decimal(2500) / 730, 9)


def test_what_goes_out_is_taken_in_again_as_the_rows_it_came_from(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(text_of("slices=yes"), encoding="utf-8", newline="")
    before = Counter(map(priced, load_catalog().offers))
    prepared = prepare(file, today=TODAY)
    assert (prepared.report.format, prepared.report.rejected_count) == ("own", 0)
    assert prepared.report.accepted == before.total()
    prepared.commit()
    taken = Counter(priced(offer) for offer in load_catalog().offers if offer.origin)
    # Of rows that differ in their date or price alone, the import keeps one.
    assert taken <= before
    assert taken.total() >= before.total() - 14


def priced(offer: Offer) -> tuple[object, ...]:
    form = "Tesla T4" if offer.gpu == "T4" else offer.gpu_form  # a T4 has one form, which the import fills in
    return (
        offer.provider, offer.gpu, form, offer.gpu_count, offer.gpu_fraction, offer.instance, offer.region,
        offer.cpu_cores, offer.cpu_unit, offer.host_memory_gib, offer.price, offer.currency, offer.per, offer.pricing_model,
        offer.channel, offer.as_of,
    )  # fmt: skip


def test_one_price_edited_in_the_spreadsheet_is_the_one_change(tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(text_of("gpu=A100&provider=tencent").replace("28.64,CNY", "27.5,CNY"), encoding="utf-8", newline="")
    report = prepare(file, today=TODAY).report
    assert [(change.old, change.new) for change in report.changed] == [("28.64", "27.5 CNY")]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＠"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    assert harmless(f"{start}1+1") == f"'{start}1+1"
    assert harmless("us-east-1") == "us-east-1"


def test_a_formula_in_an_imported_row_does_not_go_out_as_one(tmp_path: Path) -> None:
    take_in(tmp_path, AWKWARD)
    cells = {cell for row in rows_of("provider=evilcloud&slices=yes") for cell in row.values()}
    assert "'=cmd|'/C calc'!A0" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]


def test_converted_amounts_stand_beside_with_the_rate() -> None:
    (row,) = rows_of("gpu=A100&provider=alibaba&in=USD&rate=7.2")
    assert Decimal(row["converted_price_per_gpu_hour"]) == round(Decimal("34.742") / Decimal("7.2"), 9)
    assert (row["converted_currency"], row["price"]) == ("USD", "34.742")


def test_purchase_prices_go_out_with_their_market() -> None:
    rows = rows_of("view=buy&gpu=RTX 4090")
    assert {(row["price_of_one_card"], row["currency"], row["market"]) for row in rows} >= {
        ("14599", "CNY", "consumer")
    }


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    add_price_routes(app)
    return TestClient(app)


def test_the_route_gives_a_download_with_the_filters_of_the_link(client: TestClient) -> None:
    answer = client.get("/api/prices.csv?tab=prices&gpu=a100&provider=腾讯云&lang=en")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix(BOM))))
    assert [(row["provider"], row["source_title"]) for row in rows] == [("tencent", "GPU selection article 1")]
    assert answer.headers["x-row-count"] == "1"


@pytest.mark.parametrize("query", ["gpu=H300", "from=yesterday", "rate=nan", "memory=-1", "region=mars"])
def test_a_filter_that_means_nothing_is_refused_and_named(client: TestClient, query: str) -> None:
    answer = client.get(f"/api/prices.csv?{query}")
    assert answer.status_code == 400
    assert query.split("=")[1] in answer.json()["error"]


def test_prices_that_cannot_be_read_are_not_an_empty_file_and_name_no_path(client: TestClient) -> None:
    price_snapshots.folder().mkdir(parents=True)
    (price_snapshots.folder() / price_snapshots.POINTER).write_text("{", encoding="utf-8")
    answer = client.get("/api/prices.csv")
    assert answer.status_code == 503
    assert "读不出来" in answer.json()["error"]
    assert "cannot be read" in answer.json()["error"]
    assert str(price_snapshots.folder()) not in answer.text
