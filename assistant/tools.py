"""The menu of calculators, and what turns one of their results into a Call that an answer can show.

Everything that may compute a figure of an answer is named here; nothing here renders.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from assistant import shape_rows
from assistant.calculator import (
    card_ratio,
    card_totals,
    currency,
    depreciation,
    energy,
    inference_fit,
    inference_memory,
    kv_cache,
    kv_pool,
    lora,
    model_memory,
    offers,
    ownership,
    precision,
    prefill_decode,
    purchase,
    quota,
    rank,
    rental,
    replicas,
    request_rate,
    server_sums,
    serving_capacity,
    serving_throughput,
    time_lengths,
    token_cost,
    tokens_trained,
    training_compute,
    training_cost,
    training_memory,
    training_time,
    unit_price,
    working_time,
)
from assistant.calculator.calculation import Calculation
from assistant.calculator.shapes import GpuSpec, ModelShape
from assistant.changed_arguments import with_changes
from assistant.evidence import Call, Language

FAULTS_SHOWN = 3  # of a call that has many
LONGEST_VALUE_SHOWN = 200  # characters of a refused value


class ToolError(Exception):
    """A calculator was asked for something it cannot compute; the message names the value and the way out."""


@dataclass(frozen=True)
class Calculator:
    """A calculator: its input model, whose schema documents it, and its function."""

    given: type[BaseModel]
    compute: Callable[[Any], Calculation]


CALCULATORS: dict[str, Calculator] = {
    "period_hours": Calculator(time_lengths.PeriodHoursInput, time_lengths.period_hours),
    "rental_cost": Calculator(rental.RentalCostInput, rental.rental_cost),
    "discounted_price": Calculator(unit_price.DiscountedPriceInput, unit_price.discounted_price),
    "budget_hours": Calculator(rental.BudgetHoursInput, rental.budget_hours),
    "budget_cards": Calculator(rental.BudgetCardsInput, rental.budget_cards),
    "price_difference": Calculator(rental.ComparisonInput, rental.price_difference),
    "average_price": Calculator(rental.AmountsInput, rental.average_price),
    "sum_of_costs": Calculator(rental.AmountsInput, rental.sum_of_costs),
    "purchase_cost": Calculator(purchase.PurchaseCostInput, purchase.purchase_cost),
    "purchasable_cards": Calculator(purchase.PurchasableCardsInput, purchase.purchasable_cards),
    "run_difference": Calculator(training_time.RunDifferenceInput, training_time.run_difference),
    "run_total": Calculator(training_time.RunTotalInput, training_time.run_total),
    "run_speed": Calculator(training_time.RunSpeedInput, training_time.run_speed),
    "run_estimate": Calculator(training_time.RunEstimateInput, training_time.run_estimate),
    "run_cost": Calculator(training_time.RunCostInput, training_time.run_cost),
    "faster_card_time": Calculator(training_time.FasterCardInput, training_time.faster_card_time),
    "break_even_price": Calculator(training_time.BreakEvenPriceInput, training_time.break_even_price),
    "scaled_run": Calculator(training_time.ScaledRunInput, training_time.scaled_run),
    "cards_for_time": Calculator(training_time.CardsForTimeInput, training_time.cards_for_time),
    "cards_needed": Calculator(inference_memory.CardsNeededInput, inference_memory.cards_needed),
    "total_memory": Calculator(inference_memory.TotalMemoryInput, inference_memory.total_memory),
    "quantisation_bits": Calculator(precision.QuantisationBitsInput, precision.quantisation_bits),
    "model_weights": Calculator(model_memory.ModelWeightsInput, model_memory.model_weights),
    "kv_cache": Calculator(kv_cache.KvCacheInput, kv_cache.kv_cache),
    "kv_pool": Calculator(kv_pool.KvPoolInput, kv_pool.kv_pool),
    "inference_memory": Calculator(inference_memory.InferenceMemoryInput, inference_memory.inference_memory),
    "inference_fit": Calculator(inference_fit.InferenceFitInput, inference_fit.inference_fit),
    "lora_parameters": Calculator(lora.LoraParametersInput, lora.lora_parameters),
    "training_memory": Calculator(training_memory.TrainingMemoryInput, training_memory.training_memory),
    "training_flops": Calculator(training_compute.TrainingFlopsInput, training_compute.training_flops),
    "iteration_time": Calculator(training_compute.IterationTimeInput, training_compute.iteration_time),
    "training_rate": Calculator(training_compute.TrainingSpeed, training_compute.training_rate),
    "training_cost": Calculator(training_cost.TrainingCostInput, training_cost.training_cost),
    "training_cost_from_rate": Calculator(
        training_cost.TrainingCostFromRateInput, training_cost.training_cost_from_rate
    ),
    "tokens_trained": Calculator(tokens_trained.TokensTrainedInput, tokens_trained.tokens_trained),
    "finetune_time": Calculator(training_cost.FinetuneTimeInput, training_cost.finetune_time),
    "gpu_hours_total": Calculator(training_cost.GpuHoursTotalInput, training_cost.gpu_hours_total),
    "prefill_time": Calculator(prefill_decode.PrefillTimeInput, prefill_decode.prefill_time),
    "decode_rate": Calculator(prefill_decode.DecodeRateInput, prefill_decode.decode_rate),
    "serving_throughput": Calculator(serving_throughput.ServingThroughputInput, serving_throughput.serving_throughput),
    "throughput_bound": Calculator(serving_throughput.ComputeBoundInput, serving_throughput.throughput_bound),
    "serving_capacity": Calculator(serving_capacity.ServingCapacityInput, serving_capacity.serving_capacity),
    "request_rate": Calculator(request_rate.RequestRateInput, request_rate.request_rate),
    "cost_per_million_tokens": Calculator(token_cost.CostPerMillionTokensInput, token_cost.cost_per_million_tokens),
    "token_revenue": Calculator(token_cost.TokenRevenueInput, token_cost.token_revenue),
    "margin": Calculator(token_cost.MarginInput, token_cost.margin),
    "average_token_rate": Calculator(token_cost.AverageTokenRateInput, token_cost.average_token_rate),
    "scaling": Calculator(token_cost.ScalingInput, token_cost.scaling),
    "replicas_needed": Calculator(replicas.ReplicasNeededInput, replicas.replicas_needed),
    "replicas_left": Calculator(replicas.ReplicasLeftInput, replicas.replicas_left),
    "quota_hours": Calculator(quota.QuotaHoursInput, quota.quota_hours),
    "quota_weeks": Calculator(quota.QuotaWeeksInput, quota.quota_weeks),
    "subscriptions": Calculator(quota.SubscriptionsInput, quota.subscriptions),
    "price_per_unit": Calculator(unit_price.PricePerUnitInput, unit_price.price_per_unit),
    "combined_rate": Calculator(unit_price.CombinedRateInput, unit_price.combined_rate),
    "server_total": Calculator(server_sums.ServerTotalInput, server_sums.server_total),
    "card_total": Calculator(card_totals.CardTotalInput, card_totals.card_total),
    "card_ratio": Calculator(card_ratio.CardRatioInput, card_ratio.card_ratio),
    "servers_in_rack": Calculator(server_sums.ServersInRackInput, server_sums.servers_in_rack),
    "working_hours": Calculator(working_time.WorkingHoursInput, working_time.working_hours),
    "gpu_hours": Calculator(rental.GpuHoursInput, rental.gpu_hours),
    "price_per_gpu_hour": Calculator(rental.PricePerGpuInput, rental.price_per_gpu_hour),
    "rental_comparison": Calculator(rental.RentalComparisonInput, rental.rental_comparison),
    "rental_terms": Calculator(rental.RentalTermsInput, rental.rental_terms),
    "currency_conversion": Calculator(currency.CurrencyConversionInput, currency.currency_conversion),
    "offers_within": Calculator(offers.OffersWithinInput, offers.offers_within),
    "memory_as_sold": Calculator(offers.MemoryAsSoldInput, offers.memory_as_sold),
    "energy": Calculator(energy.EnergyInput, energy.energy),
    "colocation_cost": Calculator(energy.ColocationCostInput, energy.colocation_cost),
    "api_cost": Calculator(energy.ApiCostInput, energy.api_cost),
    "depreciation": Calculator(depreciation.DepreciationInput, depreciation.depreciation),
    "payback": Calculator(ownership.PaybackInput, ownership.payback),
    "buy_or_rent": Calculator(ownership.BuyOrRentInput, ownership.buy_or_rent),
    "rank_gpus": Calculator(rank.RankInput, rank.rank_gpus),
}


def calculate(tool: str, **arguments: object) -> Calculation:
    """Run one calculator by name. Raises ToolError for an unknown name or arguments it refuses."""
    return calculate_json(tool, arguments)[1]


def calculate_json(tool: str, arguments: dict[str, Any]) -> tuple[BaseModel, Calculation]:
    """The validated input and the result of one calculator."""
    if tool not in CALCULATORS:
        raise ToolError(f"no calculator is called {tool!r}; there are {', '.join(CALCULATORS)}")
    calculator = CALCULATORS[tool]
    try:
        wanted = with_changes(tool, calculator.given, arguments)
        given = calculator.given.model_validate(_with_rows(tool, calculator.given, wanted))
        return given, calculator.compute(given)
    except ValidationError as error:
        faults = "; ".join(_fault(fault) for fault in error.errors()[:FAULTS_SHOWN])
        raise ToolError(f"{tool}: {faults}; see `gpu-advisor calc {tool} --schema`") from error
    except ValueError as error:
        raise ToolError(f"{tool}: {error}") from error
    except ArithmeticError as error:  # more digits than decimal arithmetic keeps
        raise ToolError(
            f"{tool}: the result is beyond what can be computed exactly, got {_short(arguments)}"
        ) from error


def _rows_for_names(kind: type[ModelShape] | type[GpuSpec], name: str) -> ModelShape | GpuSpec | None:
    """The catalogue's row of that name as a calculator takes it; None where none, or more than one, is called so."""
    return shape_rows.named_model(name) if kind is ModelShape else shape_rows.named_gpu(name)


def _with_rows(where: str, annotation: object, value: object) -> Any:
    """`value` with the name of a GPU or model, wherever its type asks for a row, replaced by that row."""
    kinds = (annotation, *get_args(annotation))
    if isinstance(value, str):
        return _row_or_text(where, kinds, value)
    if isinstance(value, list | tuple):
        inner = next((part for part in kinds[1:] if part is not Ellipsis), None)
        if inner is not None:
            return [_with_rows(f"{where}.{place}", inner, part) for place, part in enumerate(value)]
    elif isinstance(value, dict):
        model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        if model is not None:
            types = {key: field.annotation for key, field in model.model_fields.items()}
            return {key: _with_rows(f"{where}.{key}", types.get(key), part) for key, part in value.items()}
    return value


def _row_or_text(where: str, kinds: tuple[object, ...], text: str) -> object:
    for kind, what in ((ModelShape, "model"), (GpuSpec, "GPU")):
        if kind in kinds:
            row = _rows_for_names(kind, text)
            if row is None:
                near = ", ".join(shape_rows.candidates(kind, text))
                raise ToolError(
                    f"{where}: no {what} is called {_short(text)}"
                    f"{f'; perhaps {near}' if near else ''}; give an exact name or its figures instead"
                )
            return row
    return text


def call(tool: str, language: Language, **arguments: object) -> tuple[Call, Calculation]:
    """Run a calculator and keep the record that goes into the answer."""
    given, result = calculate_json(tool, dict(arguments))
    record = Call(
        tool=tool, arguments=given.model_dump(mode="json"), result=result.model_dump(mode="json", include={"value", "unit", "outputs"}),
        formula=result.formula, assumptions=tuple(a.text[language] for a in result.assumptions),
    )  # fmt: skip
    return record, result


def _fault(fault: ErrorDetails) -> str:
    where = ".".join(map(str, fault["loc"]))
    return f"{where + ': ' if where else ''}{fault['msg'].removeprefix('Value error, ')}, got {_short(fault['input'])}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE_SHOWN else f"{text[:LONGEST_VALUE_SHOWN]}…"
