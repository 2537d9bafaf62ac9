"""Published costs, energy and offers, row by row, computed by our calculators: areas a, b and, but for `fits`, g.

Nothing a row leaves out is guessed: without a PUE none is applied, without an idle cost idling is free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from assistant.calculator.calculation import Calculation
from assistant.calculator.time_lengths import HOURS_OF_UNIT
from assistant.tools import calculate
from evals.golden_rows import GPU_HOURS, Operation, Row, given, in_unit
from knowledge.catalog import load_catalog

ONE = Decimal(1)
TIMES = {f"{unit}s": hours for unit, hours in HOURS_OF_UNIT.items()}
ENERGY: dict[str, Decimal | int] = {"Wh": Decimal("0.001"), "kWh": 1, "MWh": 10**3, "GWh": 10**6}
CO2: dict[str, Decimal | int] = {unit: size for mass, size in (("kg", Decimal("0.001")), ("t", ONE), ("kt", Decimal(1000)))
       for unit in (mass, f"{mass}CO2", f"{mass}CO2e", f"{mass}CO2eq", f"{mass} CO2", f"{mass} CO2e", f"{mass} CO2eq")}  # fmt: skip
DESCRIBING = ("what", "instance", "market", "unit", "check", "batch", "dtype", "date", "source")
MULTIPLES = {"k ": 10**3, "M ": 10**6}
# Their rows of skypilot-catalog give one GPU's memory in the column of the total.
MEMORY_OF_ONE_GPU = {"lambda", "lambdalabs", "lambda labs", "lambda cloud"}
LIMITS = {"gpu_memory": "gpu_memory_gib", "total_gpu_memory": "total_gpu_memory_gib", "gpu_count": "gpus_per_instance",
          "price": "price", "cpu": "cpu_cores", "memory": "host_memory_gib"}  # fmt: skip


class CostRow(Row):
    """A row whose inputs may also be names, one or several, and a table of prices."""

    def names(self, key: str) -> list[str]:
        """One name or a list of names."""
        found = self._left.pop(key, [])
        return [found] if isinstance(found, str) else [str(name) for name in found]

    def prices(self, key: str) -> dict[str, str]:
        """Prices by name."""
        found = self._left.pop(key, None)
        if not isinstance(found, dict) or not found:
            raise ValueError(f"{key} must name at least one price, got {found!r}")
        return {name: str(price) for name, price in found.items()}


Compute = Callable[[CostRow, str], Decimal]


def _operation(name: str, compute: Compute) -> Operation:
    """What describes is set aside; what is left over after computing is an error."""

    def run(inputs: Mapping[str, Any], unit: str) -> Decimal:
        row = CostRow(inputs, name)
        for describing in DESCRIBING:
            row.text(describing)
        result = compute(row, unit)
        row.close()
        return result

    return run


def _needed(value: Decimal | None, names: str) -> Decimal:
    if value is None:
        raise ValueError(f"{names} is missing")
    return value


def _figure(result: Calculation, output: str) -> Decimal:
    value = result.outputs[output]
    if isinstance(value, str):
        raise ValueError(f"{output} is {value!r}: {result.formula}")
    return Decimal(value)


def _currency(row: CostRow, unit: str) -> str:
    """The currency of the row, which must be that of the unit its value is in."""
    asked = re.match(r"(?:[kM] )?([A-Z]{3})\b", unit)
    stated = row.text("currency", asked.group(1) if asked else "USD")
    if asked and asked.group(1) != stated:
        raise ValueError(f"amounts in {stated} give no value in {unit!r}: no rate is stated")
    return stated


def _money(amount: Decimal, unit: str) -> Decimal:
    return amount / MULTIPLES.get(unit[:2], 1)


def _hours(row: CostRow, default: Decimal | None = None) -> Decimal | None:
    """Hours of the row, however stated: several units add up; hours of each day and days of a month multiply."""
    per_day, days_per_month = row.number("hours_per_day", "use_hours_per_day"), row.number("days_per_month")
    if days_per_month is not None:
        return (row.number("months") or ONE) * days_per_month * (24 if per_day is None else per_day)
    found = [number * hours for unit, hours in TIMES.items() if (number := row.number(unit)) is not None]
    total = sum(found, Decimal(0)) if found else default
    return total if total is None or per_day is None else total * per_day / 24


def _gpus(row: CostRow) -> Decimal | None:
    return row.number("gpus", "accelerators", "chips", "gpu_count", "nodes_gpus")


def _rental_cost(row: CostRow, unit: str) -> Decimal:
    currency, gpu_hours, hours, gpus = _currency(row, unit), row.number("gpu_hours"), _hours(row), _gpus(row)
    instances = row.number("instances", "nodes")
    each = row.number("price_per_gpu_hour", "price_per_accelerator_hour", "price_per_hour")
    whole = row.number("instance_price", "price_per_instance_hour", "price_per_instance")
    size = row.number("gpus_per_instance", "gpus_per_node")
    rework = row.number("rework", "rework_share") or Decimal(0)
    if gpu_hours is not None:
        if each is None:
            price = calculate(
                "price_per_gpu_hour", total_cost=_needed(whole, "a price"), gpus=size or 1, currency=currency
            )
            each = price.value
        gpus, size, hours = ONE, ONE, gpu_hours
    elif whole is not None:
        size = size or gpus or ONE  # the trap: an instance's price already covers all its GPUs
        gpus, each = (instances * size if instances is not None else gpus or ONE), whole
    else:
        gpus, size = (instances * (size or 1) if instances is not None and gpus is None else gpus or ONE), ONE
    cost = calculate(
        "rental_cost", gpus=gpus, hours=_needed(hours, "a time") * (1 + rework), price_per_hour=_needed(each, "a price"),
        currency=currency, gpus_per_instance=size or 1,
    )  # fmt: skip
    return _money(cost.value, unit)


def _gpu_hours(row: CostRow, unit: str) -> Decimal:
    result = calculate("gpu_hours", parts=[{"gpus": _gpus(row) or ONE, "hours": _needed(_hours(row), "a time")}])
    return in_unit(result.value, unit, GPU_HOURS, "GPU-h")


def _sum_gpu_hours(row: CostRow, unit: str) -> Decimal:
    parts = [{"hours": part} for part in row.items("parts_gpu_hours")]
    return in_unit(calculate("gpu_hours", parts=parts).value, unit, GPU_HOURS, "GPU-h")


def _price_per_gpu(row: CostRow, unit: str) -> Decimal:
    currency = _currency(row, unit)
    total = _needed(row.number("total_cost", "instance_price", "price_per_instance"), "a price")
    gpu_hours, gpus, hours = row.number("gpu_hours"), row.number("gpus", "gpus_per_instance", "gpu_count"), _hours(row)
    gpus, hours = (gpus, hours) if gpu_hours is None else (ONE, gpu_hours)
    result = calculate(
        "price_per_gpu_hour", total_cost=total, gpus=_needed(gpus, "gpus"), hours=hours or 1, currency=currency
    )
    return result.value


def _payback(row: CostRow) -> Calculation:
    purchase = row.number("purchase", "capex")
    common = given(purchase=purchase, resale_value=row.number("residual", "residual_value", "resale", "resale_value"),
                   currency=row.text("currency", "USD"))  # fmt: skip
    monthly = row.number("saving_per_month", "cloud_per_month", "api_per_month")
    own_monthly = row.number("own_opex_per_month", "own_per_month")
    if monthly is not None:
        return calculate("payback", rent=monthly, per="month", **given(own=own_monthly), **common)
    return calculate(
        "payback",
        **given(
            rent=row.number("cloud_per_hour", "rent_per_hour"), own=row.number("own_opex_per_hour", "own_per_hour"),
            hours_per_day=row.number("use_hours_per_day", "hours_per_day"),
            idle_own_per_hour=row.number("idle_opex", "idle_opex_per_hour"),
        ),
        **common,
    )  # fmt: skip


def _break_even(output: str) -> Compute:
    def compute(row: CostRow, unit: str) -> Decimal:
        result = _payback(row)
        if result.outputs["break_even"] == "never":
            raise ValueError(f"no break-even: {result.formula}")
        return _figure(result, output)

    return compute


def _owned_opex(row: CostRow, unit: str) -> Decimal:
    currency, hours = _currency(row, unit), _needed(_hours(row, HOURS_OF_UNIT["year"]), "a time")
    price = _needed(row.number("own_opex_per_hour", "own_per_hour"), "own_opex_per_hour")
    return _money(calculate("rental_cost", hours=hours, price_per_hour=price, currency=currency).value, unit)


def _energy(row: CostRow, default_hours: Decimal | None, **more: object) -> Calculation:
    gpu_hours, gpus, hours = row.number("gpu_hours"), _gpus(row), _hours(row, default_hours)
    kw, watts = row.number("gpu_kw", "kw_per_gpu"), row.number("watts", "gpu_watts", "tdp_w")
    power = _needed(watts if kw is None else kw * 1000, "gpu_kw or watts")
    if gpu_hours is not None:
        gpus, hours = ONE, gpu_hours
    return calculate(
        "energy", gpus=gpus or ONE, hours=_needed(hours, "a time"), gpu_watts=power, load=row.number("load", "utilisation") or 1,
        pue=row.number("pue") or 1, **given(host_kw=row.number("host_kw")), **more,
    )  # fmt: skip


def _energy_used(row: CostRow, unit: str) -> Decimal:
    return in_unit(_energy(row, None).value, unit, ENERGY, "kWh")


def _co2(row: CostRow, unit: str) -> Decimal:
    factor = _needed(row.number("kg_per_kwh", "kg_co2_per_kwh"), "kg_per_kwh")
    return in_unit(_figure(_energy(row, None, kg_co2_per_kwh=factor), "co2_t"), unit, CO2, "t")


def _power_cost(default_unit: str) -> Compute:
    def compute(row: CostRow, unit: str) -> Decimal:
        currency, price = _currency(row, unit), _needed(row.number("price_kwh", "price_per_kwh"), "price_kwh")
        result = _energy(row, HOURS_OF_UNIT[default_unit], price_per_kwh=price, currency=currency)
        return _money(result.value * price, unit)

    return compute


def _depreciation(method: str) -> Compute:
    def compute(row: CostRow, unit: str) -> Decimal:
        _currency(row, unit)
        result = calculate("depreciation", method=method, **given(
            cost=row.number("cost", "purchase", "capex"), year=row.number("year"), life_years=row.number("life_years", "life", "years"),
            resale_value=row.number("residual", "residual_value", "resale", "resale_value")))  # fmt: skip
        return _money(result.value, unit)

    return compute


def _colocation(row: CostRow, unit: str) -> Decimal:
    result = calculate("colocation_cost", currency=_currency(row, unit), **given(
        kw=row.number("kw", "kw_committed"), price_per_kw_month=row.number("price_kw_month", "price_per_kw_month"),
        months=row.number("months")))  # fmt: skip
    return _money(result.value, unit)


def _api_cost(row: CostRow, unit: str) -> Decimal:
    share, output_share = row.number("input_share"), row.number("output_share")
    if share is None and output_share is not None:
        share = 1 - output_share
    result = calculate("api_cost", currency=_currency(row, unit), **given(
        million_tokens=row.number("tokens_m", "million_tokens"), input_share=share,
        price_per_million_input=row.number("price_in"), price_per_million_output=row.number("price_out")))  # fmt: skip
    return _money(result.value, unit)


def _cloud_and_own(row: CostRow) -> tuple[Decimal, Decimal]:
    cloud, own = (row.number(*(f"{side}{of}" for of in ("_per_m", "_per_hour", "_per_month", "_total", "")))
                  for side in ("cloud", "own"))  # fmt: skip
    return _needed(cloud, "the cloud's cost"), _needed(own, "the own cost")


def _saving(row: CostRow, unit: str) -> Decimal:
    cloud, own = _cloud_and_own(row)
    difference = calculate("price_difference", dearer=max(cloud, own), cheaper=min(cloud, own)).value
    return (difference if cloud >= own else -difference) / cloud * 100


def _ratio(row: CostRow, unit: str) -> Decimal:
    cloud, own = _cloud_and_own(row)
    times = 1 + calculate("price_difference", dearer=max(cloud, own), cheaper=min(cloud, own)).value / min(cloud, own)
    return times if cloud >= own else 1 / times


def _filter_offer(row: CostRow, unit: str) -> Decimal:
    limits = []
    for name, field in LIMITS.items():
        bounds = given(minimum=row.number(f"min_{name}"), maximum=row.number(f"max_{name}"))
        if bounds:
            limits.append({"field": field, **bounds})
    provider, spot = row.text("offer_provider"), row.text("spot")
    offer = given(
        gpu=row.text("offer_gpu"), provider=provider, region=row.text("offer_region"), price=row.number("offer_price") or ONE,
        gpu_memory_gib=row.number("offer_gpu_memory_gib", "offer_gpu_memory"), gpus_per_instance=row.number("offer_gpu_count"),
        cpu_cores=row.number("offer_cpu"), host_memory_gib=row.number("offer_memory", "offer_memory_gib"),
        pricing_model="spot" if row.flag("offer_spot") else "on-demand",
    )  # fmt: skip
    result = calculate(
        "offers_within", offers=[offer], limits=limits, gpus=row.names("gpu_name"), regions=row.names("region"),
        providers=row.names("provider") if provider else [],
        pricing_models={"True": ["spot"], "False": ["on-demand"]}.get(spot, []),
    )  # fmt: skip
    return result.value


def _normalise_memory(row: CostRow, unit: str) -> Decimal:
    reported = _needed(row.number("reported_mib", "memory_mib"), "reported_mib")
    return calculate("memory_as_sold", reported_mib=reported, known_gb=list(_sizes(row.text("gpu")))).value


def _sizes(name: str) -> tuple[Decimal, ...]:
    """Sizes of the family that this name is, or the longest that it begins with: H100NVL is an H100."""
    catalog, plain = load_catalog(), _plain(name)
    families = {family for gpu in catalog.gpus for family in gpu.families if plain.startswith(_plain(family))}
    return catalog.memory_sizes_gb(max(families, key=len)) if families else ()


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _total_memory(row: CostRow, unit: str) -> Decimal:
    row.text("column")
    gpus, value = row.number("gpus", "gpu_count") or ONE, _needed(row.number("value"), "value")
    of_one = row.text("provider").casefold() in MEMORY_OF_ONE_GPU
    return calculate("total_memory", cards=gpus if of_one else 1, card_memory_gb=value).value


def _cost_per_million(row: CostRow, unit: str) -> Decimal:
    currency, gpus = _currency(row, unit), _gpus(row) or ONE
    price = _needed(row.number("price_per_gpu_hour", "price_per_hour"), "price_per_gpu_hour")
    rate = _needed(row.number("tokens_per_s", "tokens_per_second"), "tokens_per_s")
    return calculate(
        "cost_per_million_tokens", price_per_hour=price * gpus, tokens_per_second=rate, currency=currency
    ).value


def _min_price(row: CostRow, unit: str) -> Decimal:
    currency, need = _currency(row, unit), _needed(row.number("need_gb", "need_gib"), "need_gb")
    prices = row.prices("candidates")
    result = calculate(
        "rank_gpus", memory_need_gib=need, max_gpus=1, usable_share=1, budget=row.number("max_price"),
        candidates=[{"gpu": {"name": name, "memory_gib": _memory_in(name)}, "prices": [{"price": price, "currency": currency}]}
                    for name, price in prices.items()],
    )  # fmt: skip
    if not result.value:
        raise ValueError(f"no candidate has {need} GB: {', '.join(prices)}")
    return Decimal(result.rows[0]["cost"])


def _memory_in(name: str) -> Decimal:
    """The memory that a name such as `2x RTX 3090 24GB` states, of all its GPUs together."""
    size, times = re.search(r"(\d+(?:\.\d+)?) ?Gi?B?\b", name), re.match(r"(\d+) ?[x×] ?", name)
    if not size:
        raise ValueError(f"the name {name!r} states no memory")
    return Decimal(size.group(1)) * (int(times.group(1)) if times else 1)


_COMPUTE: dict[str, Compute] = {
    "rental_cost": _rental_cost, "gpu_hours": _gpu_hours, "sum_gpu_hours": _sum_gpu_hours,
    "implied_price_per_gpu_hour": _price_per_gpu, "price_per_gpu": _price_per_gpu,
    "break_even_hours": _break_even("hours_used"), "break_even_days": _break_even("days"),
    "break_even_months": _break_even("months"), "break_even_years": _break_even("years"),
    "owned_opex_year": _owned_opex, "power_cost_per_hour": _power_cost("hour"), "power_cost_day": _power_cost("day"),
    "power_cost_month": _power_cost("month"), "power_cost_year": _power_cost("year"),
    "depreciation_macrs5": _depreciation("macrs-5"), "depreciation_straight_line": _depreciation("straight-line"),
    "colo_cost_month": _colocation, "api_cost_month": _api_cost, "saving_pct": _saving, "cost_ratio": _ratio,
    "energy_kwh": _energy_used, "energy_mwh": _energy_used, "co2_t": _co2,
    "filter_offer": _filter_offer, "normalise_gpu_memory": _normalise_memory, "catalog_total_memory": _total_memory,
    "rank_cost_per_m_tokens": _cost_per_million, "rank_min_price": _min_price,
}  # fmt: skip
OPERATIONS: dict[str, Operation] = {name: _operation(name, compute) for name, compute in _COMPUTE.items()}
