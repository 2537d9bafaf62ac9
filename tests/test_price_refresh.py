"""Fetched prices: gpuhunt's own items in, checked rows out; a provider that fails keeps what it had."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal

import pytest
from gpuhunt import AcceleratorVendor, CatalogItem
from typer.testing import CliRunner

from assistant.cli import app
from ingest import price_refresh
from ingest.price_refresh import RefreshUnavailableError, UnknownProviderError, refresh
from knowledge import price_snapshots
from knowledge.offers import Offer, load_offers
from knowledge.table_rows import TABLES

TODAY = date(2026, 11, 30)
Sources = dict[str, Callable[[], Iterable[CatalogItem]]]


def item(**given: object) -> CatalogItem:
    base: dict[str, object] = {
        "provider": "aws", "instance_name": "p5.48xlarge", "location": "us-east-1", "price": 55.04, "cpu": 192,
        "memory": 2048.0, "gpu_count": 8, "gpu_name": "H100", "gpu_memory": 80.0, "spot": False, "disk_size": None,
        "gpu_vendor": AcceleratorVendor.NVIDIA,
    }  # fmt: skip
    return CatalogItem(**{**base, **given})  # type: ignore[arg-type]


def offline() -> list[CatalogItem]:
    raise OSError("connection refused")


def refreshed(provider: str) -> list[Offer]:
    offers = load_offers(TABLES / "offers.csv", price_snapshots.current)
    return [offer for offer in offers if offer.provider == provider and offer.origin]


def test_an_item_becomes_a_row_with_its_host_its_date_and_no_digit_lost() -> None:
    done = refresh(["aws"], {"aws": lambda: [item()]}, TODAY)
    assert (done.fetched, done.failed) == ({"aws": 1}, {})
    assert done.prepared
    assert done.prepared.report.rejected == ()
    done.prepared.commit()
    (offer,) = refreshed("aws")
    assert (offer.gpu, offer.gpu_count, str(offer.price), offer.currency, offer.per) == (
        "H100",
        8,
        "55.04",
        "USD",
        "instance-hour",
    )
    assert (offer.instance, offer.region, offer.cpu_cores, offer.host_memory_gib) == (
        "p5.48xlarge",
        "us-east-1",
        192,
        2048,
    )
    assert (offer.pricing_model, offer.as_of, offer.source) == ("on-demand", "2026-11-30", "price-refresh")


def test_a_count_below_one_is_a_slice_of_one_card() -> None:
    part = item(gpu_name="A10", gpu_count=0.5, gpu_memory=12.0, price=0.8, cpu=18, memory=220.0)
    done = refresh(["azure"], {"azure": lambda: [part]}, TODAY)
    assert done.prepared
    done.prepared.commit()
    (offer,) = refreshed("azure")
    assert (offer.gpu_count, offer.gpu_fraction, offer.is_slice) == (1, Decimal("0.5"), True)
    assert offer.price_per_gpu_hour == Decimal("1.6")


def test_a_provider_that_fails_is_reported_and_keeps_its_rows() -> None:
    first = refresh(["aws", "gcp"], {"aws": lambda: [item()], "gcp": lambda: [item(price=60.0)]}, TODAY)
    assert first.prepared
    first.prepared.commit()
    second = refresh(["aws", "gcp"], {"aws": offline, "gcp": lambda: [item(price=61.0)]}, TODAY)
    assert second.fetched == {"gcp": 1}
    assert "connection refused" in second.failed["aws"]
    assert second.prepared
    assert second.prepared.report.changed_count == 1
    second.prepared.commit()
    assert [str(offer.price) for offer in refreshed("aws")] == ["55.04"]
    assert [str(offer.price) for offer in refreshed("gcp")] == ["61.0"]


def test_an_answer_without_gpus_is_a_failure_and_nothing_is_prepared() -> None:
    done = refresh(["aws"], {"aws": lambda: [item(gpu_count=0, gpu_name=None)]}, TODAY)
    assert (done.fetched, done.prepared) == ({}, None)
    assert "no GPU rows" in done.failed["aws"]


def test_rows_go_through_the_same_checks_as_a_file() -> None:
    done = refresh(
        ["aws"], {"aws": lambda: [item(), item(gpu_name="H300"), item(price=0.0), item(price=5000.0)]}, TODAY
    )
    assert done.prepared
    assert (done.prepared.report.accepted, done.prepared.report.rejected_count) == (1, 3)


def test_a_provider_nobody_can_fetch_is_named_with_those_that_can_be() -> None:
    with pytest.raises(UnknownProviderError, match=r"foo.*aws, lambda"):
        refresh(["foo"], {"aws": offline, "lambda": offline}, TODAY)


def test_without_the_package_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RefreshUnavailableError, match=r"pip install 'gpu-advisor\[refresh\]'"):
        refresh(["aws"], price_refresh.SOURCES, TODAY)


def test_the_command_commits_what_came_and_fails_where_a_provider_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.price_commands.SOURCES", {"aws": lambda: [item()], "gcp": offline})
    done = CliRunner().invoke(app, ["prices", "refresh"])
    assert done.exit_code == 1
    assert "gcp: 没有取到，旧价格保留" in done.output
    assert len(refreshed("aws")) == 1
    assert "refresh" in CliRunner().invoke(app, ["prices", "undo"]).output
    assert refreshed("aws") == []
