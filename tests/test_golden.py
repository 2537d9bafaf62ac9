"""The runner for published values: its checks, its errors, its tables, and the operations of cost, energy and offers."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from assistant.tools import ToolError
from evals import golden
from evals.__main__ import golden as command
from evals.golden_cost import OPERATIONS

COLUMNS = ("id", "area", "inputs", "expected_value", "unit", "tolerance_pct", "kind", "source", "note")
RENT = {"op": "rental_cost", "gpus": 4, "hours": 10, "price_per_gpu_hour": 2}  # 80


def line(
    name: str, inputs: Any, expected: Any, unit: str = "USD", tolerance: Any = 1, area: str = "a"
) -> dict[str, str]:
    """A row as csv.DictReader gives it."""
    text = inputs if isinstance(inputs, str) else json.dumps(inputs)
    values = (name, area, text, str(expected), unit, str(tolerance), "published", "a page", "")
    return dict(zip(COLUMNS, values, strict=True))


def written(folder: Path, *rows: dict[str, str]) -> Path:
    file = folder / "values.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return file


def op(name: str, unit: str = "USD", **inputs: Any) -> Decimal:
    return Decimal(str(OPERATIONS[name]({"op": name, **inputs}, unit)))


@pytest.mark.parametrize(
    ("computed", "expected", "tolerance", "check", "inside"),
    [
        (101, 100, 1, "", True),
        ("101.01", 100, 1, "", False),
        (99, 100, 1, "two-sided", True),
        (-99, -100, 1, "", True),
        (100, 100, 0, "", True),
        (250, 100, 0, "ceiling", True),
        (99, 100, 0, "ceiling", False),
        (1, 100, 0, "floor", True),
        (101, 100, 0, "floor", False),
        (0, 0, 0, "", True),
        (1, 0, 5, "", False),
        ("100.00000000001", 100, 0, "", True),  # a float's last digit
    ],
)
def test_checks(computed: Any, expected: Any, tolerance: int, check: str, inside: bool) -> None:
    assert golden.within(Decimal(computed), Decimal(expected), Decimal(tolerance), check) == inside


@settings(max_examples=50)
@given(st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_a_value_passes_as_ceiling_or_as_floor(computed: int, expected: int) -> None:
    passed = [golden.within(Decimal(computed), Decimal(expected), Decimal(0), check) for check in ("ceiling", "floor")]
    assert any(passed)
    assert all(passed) == (computed == expected)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (line("x", {"op": "no_such"}, 1), "unknown op 'no_such'; there are"),
        (line("x", {"gpus": 1}, 1), "unknown op ''"),
        (line("x", RENT | {"surprise": 1}, 80), "rental_cost: no meaning is known for surprise"),
        (line("x", RENT | {"check": "roughly"}, 80), "check 'roughly'"),
        (line("x", "{broken", 80), "no op: "),
        (line("x", "[1]", 80), "inputs is no JSON object"),
        (line("x", RENT, "much"), "expected_value is no number: 'much'"),
        (line("x", RENT, 80, tolerance=""), "tolerance_pct is no number: ''"),
        (line("x", RENT | {"gpus": -4}, 80), "rental_cost: gpus: .*got Decimal.'-4'"),
        (line("x", RENT | {"hours": 1e30}, 80), "rental_cost: hours: "),
        (line("x", RENT | {"currency": "CNY"}, 80), "amounts in CNY give no value in 'USD'"),
    ],
)
def test_a_row_that_cannot_be_computed_says_why(row: dict[str, str], message: str) -> None:
    outcome = golden.judge(row)
    assert (outcome.verdict, outcome.computed) == ("error", None)
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(outcome.error)


def test_other_rows_go_on_after_an_error_and_the_exit_status_tells(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        line("r1", RENT, 80),
        line("r2", {"op": "nothing"}, 1),
        line("r3", RENT, 90),
        line("r4", RENT, 79, area="b"),
    )
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, [str(file)])
    assert result.exit_code == 1
    assert "| r1 | rental_cost | 80 | 80 | USD | +0.00 % | inside |" in result.stdout
    assert "| r2 | nothing |" in result.stdout
    assert "| r3 | rental_cost | 90 | 80 | USD | -11.11 % | outside |" in result.stdout
    assert "| a | 3 | 1 | 1 | 1 | 33.3 % |" in result.stdout
    assert "| b | 1 | 0 | 1 | 0 | 0.0 % |" in result.stdout  # 80 is 1.27 % off
    assert "| all | 4 | 1 | 2 | 1 | 25.0 % |" in result.stdout


def test_rows_outside_are_no_failure_of_the_run(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(command)
    assert CliRunner().invoke(app, [str(written(tmp_path, line("r", RENT, 500)))]).exit_code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "cannot be read"), ("id,area\n1,a\n", "has no column inputs"), (",".join(COLUMNS) + "\n", "no row")],
)
def test_a_file_that_holds_no_values_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "values.csv"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(golden.GoldenError, match=message):
        golden.run(file)


def test_python_m_evals_golden_runs_without_any_model(tmp_path: Path) -> None:
    file = written(tmp_path, line("r1", RENT, 80))
    done = subprocess.run(
        [sys.executable, "-m", "evals", "golden", str(file)], capture_output=True, text=True, encoding="utf-8",
        cwd=Path(__file__).parent.parent, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "| all | 1 | 1 | 0 | 0 | 100.0 % |" in done.stdout


NODE = {"hours": 10, "currency": "USD"}


@pytest.mark.parametrize(
    ("name", "unit", "inputs", "expected"),
    [
        ("rental_cost", "USD", {"gpu_hours": 1000, "price_per_gpu_hour": 3}, "3000"),
        ("rental_cost", "USD", {"gpus": 2, "days": 2, "price_per_gpu_hour": 1}, "96"),
        ("rental_cost", "USD", {"months": 1, "price_per_gpu_hour": 1}, "730"),
        ("rental_cost", "USD/year", {"instance_price": 10, "hours": 8760}, "87600"),
        ("rental_cost", "USD", {"gpu_hours": 80, "instance_price": 16, "gpus_per_instance": 8}, "160"),
        ("rental_cost", "USD", NODE | {"gpus": 8, "instance_price": 16}, "160"),  # not 8 x 160
        ("rental_cost", "USD", NODE | {"gpus": 9, "instance_price": 16, "gpus_per_instance": 8}, "320"),
        ("rental_cost", "USD", NODE | {"instances": 3, "instance_price": 16, "gpus_per_instance": 8}, "480"),
        ("rental_cost", "USD", NODE | {"price_per_hour": 1, "market": "spot", "rework": 0.2}, "12"),
        ("rental_cost", "M USD", {"gpu_hours": 5e6, "price_per_gpu_hour": 2}, "10"),
        ("gpu_hours", "GPU-h", {"gpus": 10, "days": 3}, "720"),
        ("gpu_hours", "GPU-days", {"gpus": 10, "days": 3}, "30"),
        ("sum_gpu_hours", "GPU-h", {"parts_gpu_hours": [1, 2.5]}, "3.5"),
        ("implied_price_per_gpu_hour", "USD/GPU-h", {"total_cost": 100, "gpus": 5, "hours": 10}, "2"),
        ("price_per_gpu", "USD/GPU-h", {"instance_price": 24, "gpus_per_instance": 8, "instance": "x"}, "3"),
        ("break_even_hours", "h", {"purchase": 1000, "cloud_per_hour": 3, "own_opex_per_hour": 1}, "500"),
        ("break_even_hours", "h", {"purchase": 1000, "residual": 200, "cloud_per_hour": 3, "own_opex_per_hour": 1}, "400"),
        ("break_even_years", "years", {"purchase": 8760, "cloud_per_hour": 3, "own_opex_per_hour": 1, "use_hours_per_day": 6}, "2"),
        ("break_even_months", "months", {"purchase": 100, "saving_per_month": 30, "own_opex_per_month": 10}, "5"),
        ("owned_opex_year", "USD/year", {"own_opex_per_hour": 2, "hours": 8760}, "17520"),
        ("power_cost_per_hour", "USD/h", {"gpus": 4, "gpu_kw": 0.5, "pue": 1.5, "price_kwh": 0.2}, "0.6"),
        ("power_cost_month", "USD/month", {"gpu_kw": 1, "price_kwh": 0.1}, "73"),
        ("power_cost_month", "USD/month", {"gpu_kw": 1, "hours_per_day": 8, "days_per_month": 20, "price_kwh": 0.1}, "16"),
        ("depreciation_macrs5", "USD", {"cost": 1000, "year": 2}, "320"),
        ("depreciation_straight_line", "USD", {"cost": 1000, "residual": 100, "life_years": 3}, "300"),
        ("colo_cost_month", "USD/month", {"kw": 10, "price_kw_month": 150}, "1500"),
        ("api_cost_month", "USD/month", {"tokens_m": 30, "input_share": 0.5, "price_in": 1, "price_out": 3}, "60"),
        ("saving_pct", "%", {"cloud_per_m": 4, "own_per_m": 1}, "75"),
        ("saving_pct", "%", {"cloud_per_m": 4, "own_per_m": 5}, "-25"),
        ("cost_ratio", "x", {"cloud_per_m": 4, "own_per_m": 1}, "4"),
        ("cost_ratio", "x", {"cloud_per_m": 1, "own_per_m": 4}, "0.25"),
        ("energy_mwh", "MWh", {"gpu_hours": 1000, "gpu_kw": 0.4, "pue": 1.1, "what": "a model"}, "0.44"),
        ("energy_mwh", "MWh", {"chips": 100, "days": 10, "watts": 250}, "6"),
        ("energy_kwh", "kWh", {"gpu_hours": 1000, "gpu_kw": 0.4}, "400"),
        ("co2_t", "tCO2e", {"gpu_hours": 1000, "gpu_kw": 1, "pue": 1, "kg_per_kwh": 0.5}, "0.5"),
        ("filter_offer", "bool", {"offer_gpu": "A100", "offer_price": 2, "max_price": 2}, "1"),
        ("filter_offer", "bool", {"offer_gpu": "A100", "offer_price": 2, "min_price": 2.1}, "0"),
        ("filter_offer", "bool", {"offer_gpu": "A100", "offer_price": 2, "gpu_name": ["A10"]}, "0"),
        ("filter_offer", "bool", {"offer_gpu": "A100", "offer_price": 2, "gpu_name": "a100"}, "1"),
        ("filter_offer", "bool", {"offer_gpu_memory_gib": 40, "offer_gpu_count": 2, "min_total_gpu_memory": 80}, "1"),
        ("filter_offer", "bool", {"offer_gpu": "A100", "offer_spot": False, "spot": True}, "0"),
        ("normalise_gpu_memory", "GB", {"reported_mib": 46068, "gpu": "L40S"}, "48"),
        ("normalise_gpu_memory", "GB", {"reported_mib": 95830, "gpu": "H100NVL"}, "94"),
        ("normalise_gpu_memory", "GB", {"reported_mib": 4096, "gpu": "A10"}, "4"),
        ("normalise_gpu_memory", "GB", {"reported_mib": 8200.1, "gpu": "no such card"}, "8"),
        ("catalog_total_memory", "MiB", {"provider": "lambda", "gpus": 8, "value": 1000, "column": "Total"}, "8000"),
        ("catalog_total_memory", "MiB", {"provider": "scaleway", "gpus": 2, "value": 1000, "column": "Total"}, "1000"),
        ("rank_cost_per_m_tokens", "USD/M tok", {"price_per_gpu_hour": 3.6, "tokens_per_s": 100, "batch": 1}, "10"),
        ("rank_min_price", "USD/h", {"need_gb": 40, "candidates": {"A 24GB": 0.1, "B 48GB": 0.9, "C 80 GB": 2}}, "0.9"),
        ("rank_min_price", "USD/h", {"need_gb": 40, "candidates": {"2x A 24GB": 0.2, "B 48GB": 0.9}}, "0.2"),
    ],
)  # fmt: skip
def test_operations(name: str, unit: str, inputs: dict[str, Any], expected: str) -> None:
    assert op(name, unit, **inputs) == Decimal(expected)


@pytest.mark.parametrize(
    ("name", "unit", "inputs", "message"),
    [
        (
            "break_even_hours",
            "h",
            {"purchase": 1, "cloud_per_hour": 1, "own_opex_per_hour": 2},
            "renting is never dearer",
        ),
        ("rank_min_price", "USD/h", {"need_gb": 99, "candidates": {"A 24GB": 1}}, "no candidate has 99 GB: A 24GB"),
        ("rank_min_price", "USD/h", {"need_gb": 9, "candidates": {"A": 1}}, "'A' states no memory"),
        ("energy_mwh", "hp", {"gpu_hours": 1, "gpu_kw": 1}, "unit 'hp' is none of"),
        ("gpu_hours", "GPU-h", {"gpus": 4}, "a time is missing"),
        ("co2_t", "tCO2e", {"gpu_hours": 1, "gpu_kw": 1}, "kg_per_kwh is missing"),
    ],
)
def test_what_an_operation_cannot_compute_it_says(name: str, unit: str, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, ToolError), match=message):
        op(name, unit, **inputs)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_refuses_a_key_it_does_not_know_or_inputs_that_are_missing(name: str) -> None:
    with pytest.raises((ValueError, ToolError)):
        op(name, "USD", surprise=1)
