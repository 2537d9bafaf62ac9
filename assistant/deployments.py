"""The way to serve a model on one kind of card: how many cards one copy takes and how many copies a load takes.

Tries tensor-parallel degrees with serving_capacity on the side and keeps the one with the fewest cards; writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import tools
from assistant.calculator.calculation import Calculation
from assistant.calculator.prefill_decode import MemoryKind
from assistant.calculator.shapes import GpuSpec
from assistant.ledger import Ledger
from assistant.served_model import Lengths, Served, lengths_of, use_of, weight_precision
from assistant.tools import ToolError
from assistant.workload import Workload
from knowledge.hardware import Gpu

TENSOR_DEGREES = (1, 2, 4, 8)
MOST_OVER_PCIE = 4  # beyond it all-reduces over PCIe take longer than they save
TOKENS_PER_S_PER_USER = Decimal(10)  # faster than people read; taken where users but no speed were said
SERVED_IN = ("bf16", "int4")  # shown where no precision was said


@dataclass(frozen=True)
class Load:
    """What is asked of the service. `target` is output tokens per second for each user; `target_taken`: nobody said it."""

    lengths: Lengths
    kv_precision: str
    users: int | None
    requests_per_s: Decimal | None
    target: Decimal | None
    target_taken: bool
    first_token_s: Decimal | None

    @property
    def is_stated(self) -> bool:
        """Whether so much is asked at the same time that the number of copies is in question."""
        return bool((self.users or 1) > 1 or self.requests_per_s)


@dataclass(frozen=True)
class Deployment:
    """`replicas` copies on `gpus` cards each, and what serving_capacity says of one copy."""

    model: Served
    spec: GpuSpec
    gpu: Gpu | None
    precision: str
    gpus: int
    replicas: int
    sizing: dict[str, object]  # the call that tells how many copies
    arguments: dict[str, object]  # the call for one copy under its share of the users
    capacity: Calculation

    @property
    def all_gpus(self) -> int:
        return self.gpus * self.replicas

    def figure(self, name: str) -> Decimal:
        return Decimal(self.capacity.outputs[name])

    def keep(self, load: Load, book: Ledger) -> None:
        """Put its calls into the answer."""
        book.compute("serving_capacity", **self.sizing)
        book.compute("serving_capacity", **self.arguments)
        if load.requests_per_s:
            book.compute("request_rate", **requests_call(self, load))


@dataclass(frozen=True)
class Unfit:
    """Why a card serves nothing of the kind."""

    reason: str  # memory, speed, target


def load_of(model: Served, work: Workload) -> Load:
    """The load as said; a speed is taken only where there are users or requests to hold to it."""
    stated = bool((work.concurrency or 1) > 1 or work.requests_per_s)
    target = work.slo_tokens_per_s or (TOKENS_PER_S_PER_USER if stated else None)
    return Load(
        lengths_of(model, work), use_of(model, work).kv_precision, work.concurrency, work.requests_per_s, target,
        target is not None and work.slo_tokens_per_s is None, work.slo_ttft_s,
    )  # fmt: skip


def precisions_of(model: Served, work: Workload) -> tuple[str, ...]:
    """The precision said, else 16 bits (or the published one) and int4."""
    if work.precision:
        return (weight_precision(work.precision),)
    use = use_of(model, work)
    if use.native:
        return (use.native,)
    return use.precisions if work.quantised is not None else SERVED_IN


def deployment(
    model: Served, spec: GpuSpec, gpu: Gpu | None, precision: str, load: Load, counts: Sequence[int]
) -> Deployment | Unfit:
    """The deployment with the fewest cards; without a load the smallest copy that fits. No call is kept."""
    found: list[Deployment] = []
    unfit = Unfit("memory")
    for gpus in counts:
        given = arguments(model, spec, gpu, precision, load, gpus)
        try:
            capacity = tools.calculate("serving_capacity", **given)
        except ToolError as error:
            if "its speed cannot be computed" in str(error):
                return Unfit("speed")
            continue
        replicas = _replicas(load, gpus, capacity)
        if replicas is None:
            unfit = Unfit("target")
            continue
        found.append(Deployment(model, spec, gpu, precision, gpus, replicas, given, given, capacity))
        if not load.is_stated:
            break
    return _shared(min(found, key=lambda d: (d.all_gpus, d.gpus)), load) if found else unfit


def arguments(
    model: Served, spec: GpuSpec, gpu: Gpu | None, precision: str, load: Load, gpus: int
) -> dict[str, object]:
    """One copy as serving_capacity takes it."""
    return {
        "input_tokens": load.lengths.input_tokens, "output_tokens": load.lengths.output_tokens, "model": model.shape,
        "gpu": spec, "gpus": gpus, "weight_precision": precision, "kv_precision": load.kv_precision,
        "memory_kind": memory_kind(gpu), "users": load.users, "min_tokens_per_second_per_user": load.target,
        "max_seconds_to_first_token": load.first_token_s,
    }  # fmt: skip


def tensor_degrees(spec: GpuSpec) -> tuple[int, ...]:
    """Cards one copy is split over: a node of eight with NVLink, four over PCIe."""
    return TENSOR_DEGREES if spec.nvlink_gb_per_s else tuple(n for n in TENSOR_DEGREES if n <= MOST_OVER_PCIE)


def _shared(d: Deployment, load: Load) -> Deployment:
    """Of several copies each serves its share of the users."""
    if d.replicas == 1 or not load.users:
        return d
    given = {**d.arguments, "users": -(-load.users // d.replicas)}
    return replace(d, arguments=given, capacity=tools.calculate("serving_capacity", **given))


def memory_kind(gpu: Gpu | None) -> MemoryKind | None:
    """HBM or GDDR as the row says; None where it says neither."""
    kind = (gpu.memory_type if gpu else "").casefold()
    return "hbm" if "hbm" in kind else "gddr" if "ddr" in kind else None


def requests_call(d: Deployment, load: Load) -> dict[str, object]:
    """The deployment's share of a stream of requests, as request_rate takes it."""
    return {
        "requests_per_second": load.requests_per_s, "output_tokens": load.lengths.output_tokens,
        "tokens_per_second_per_replica": d.capacity.outputs["tokens_per_second"], "gpus_per_replica": d.gpus,
    }  # fmt: skip


def _replicas(load: Load, gpus: int, capacity: Calculation) -> int | None:
    """Copies for the load; None where even one user is not served as wanted."""
    if int(capacity.outputs["users_within_target"]) == 0:
        return None
    if load.requests_per_s:
        result = tools.calculate(
            "request_rate", requests_per_second=load.requests_per_s, output_tokens=load.lengths.output_tokens,
            tokens_per_second_per_replica=capacity.outputs["tokens_per_second"], gpus_per_replica=gpus,
        )  # fmt: skip
        return int(result.outputs["replicas"])
    return int(capacity.outputs["replicas_needed"]) if load.users else 1
