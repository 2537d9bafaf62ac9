"""Published memory figures, row by row, computed by our calculators: serving (area c) and whether something fits.

Training memory (area d) is golden_finetuning's; OPERATIONS holds both. Sizes are asked for in the row's own unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from assistant.calculator.inference_memory import OVERHEAD_GIB
from assistant.calculator.precision import CACHE_BYTES, GIB
from assistant.tools import calculate
from evals.golden_finetuning import FINETUNING_OPERATIONS, training_fits
from evals.golden_models import card_memory_gib, cards_in, known_shape, parameters_in_name, precision_in, resized
from evals.golden_rows import Operation, Row, given, whole
from evals.golden_units import in_bytes_unit

Compute = Callable[[Row, str], Decimal]
USUAL_ENGINE = "transformers"  # what a figure without a serving engine was measured with
CACHE_PRECISION = {size: name for name, size in reversed(CACHE_BYTES.items())} | {Decimal(2): "fp16", Decimal(1): "fp8"}
DESCRIPTIONS = ("what", "source")  # besides those of every area


def _operation(name: str, compute: Compute) -> Operation:
    def operation(inputs: Mapping[str, Any], unit: str) -> Decimal:
        row = Row({key: value for key, value in inputs.items() if key not in DESCRIPTIONS}, name)
        return compute(row, unit)

    return operation


def _cache_shape(row: Row, name: str, attention: str) -> dict[str, Any] | None:
    """The cache layout that a row spells out; None when it only names a model."""
    layers = whole(row.number("layers"))
    rank, rope = whole(row.number("kv_lora_rank", "width")), whole(row.number("rope_dim", "qk_rope_head_dim"))
    heads, kv_heads = whole(row.number("heads")), whole(row.number("kv_heads"))
    head_size, key, value = (whole(row.number(key)) for key in ("head_dim", "k_dim", "v_dim"))
    windowed, window = (
        whole(row.number("sliding_layers", "windowed_layers")),
        whole(row.number("window", "window_tokens")),
    )
    if rank is not None and not attention.startswith("expanded"):
        return given(layers=layers, cache="mla", mla_rank=rank, mla_rope_size=rope)
    if kv_heads is None and heads is None and head_size is None:
        return None
    if window is not None and windowed is None:
        windowed = layers
    if kv_heads is None:
        kv_heads = 1 if attention == "MQA" else heads
    return given(
        layers=layers or 1, cache="full", kv_heads=kv_heads, head_size=key or head_size, value_head_size=value,
        windowed_layers=windowed, window_tokens=window,
    )  # fmt: skip


def _cache_arguments(row: Row) -> dict[str, Any]:
    attention, name, stated = row.text("attention"), row.text("model"), row.number("kv_bytes_per_token")
    size, kind = row.number("dtype_bytes"), row.text("dtype", "fp16")
    shared = row.flag("shared_kv")
    layout = _cache_shape(row, name, attention)
    if shared and (layout is None or layout["cache"] != "mla"):
        raise ValueError("shared_kv needs the width of the shared entries")
    if stated is not None:
        return {"kv_bytes_per_token": stated}
    model = layout if layout is not None else known_shape(name)
    if model is None:
        raise ValueError(f"no cache layout is known for {name!r}")
    if size is not None and size not in CACHE_PRECISION:
        raise ValueError(f"dtype_bytes {size} is the size of no cache format: {', '.join(map(str, CACHE_PRECISION))}")
    return {"model": model, "kv_precision": CACHE_PRECISION[size] if size is not None else kind}


def _kv_bytes_per_token(row: Row, unit: str) -> Decimal:
    arguments = _cache_arguments(row)
    row.close()
    return in_bytes_unit(calculate("kv_cache", context_tokens=1, **arguments).outputs["bytes_per_token"], unit)


def _kv_elements(row: Row, unit: str) -> Decimal:
    arguments = _cache_arguments(row) | {"kv_precision": "int8"}  # one byte per value, so that bytes are values
    row.close()
    return Decimal(calculate("kv_cache", context_tokens=1, **arguments).outputs["bytes_per_token_and_layer"])


def _kv_cache(row: Row, unit: str) -> Decimal:
    arguments = _cache_arguments(row)
    tokens = whole(row.number("cells", "tokens", "entries", "seq", "ctx"))
    sequences = (whole(row.number("batch")) or 1) * (whole(row.number("sequences", "concurrency")) or 1)
    ranks = whole(row.number("tp")) or 1
    row.close()
    per_gpu = unit.endswith("/GPU")
    if "model" in arguments and per_gpu:
        arguments["tensor_parallel"] = ranks  # a stated size per token is one GPU's already
    result = calculate("kv_cache", context_tokens=tokens, sequences=sequences, **arguments)
    return in_bytes_unit(result.outputs["per_gpu_bytes" if per_gpu else "total_bytes"], unit)


def _weights(row: Row, unit: str) -> Decimal:
    name, parameters = row.text("model"), row.number("params")
    row.number("tokens")  # one token of cache is nothing beside the weights
    kind, mlp_kind, other_kind = row.text("dtype"), row.text("mlp_dtype"), row.text("other_dtype", "bf16")
    bits, group, ranks = (
        row.number("bits", "bits_per_weight"),
        whole(row.number("group_size")),
        whole(row.number("tp")) or 1,
    )
    embedding, embedding_kind = row.number("embed_params"), row.text("embed_dtype", "bf16")
    in_mlp = row.number("mlp_params")
    row.number("attn_params")
    row.close()
    precision = precision_in(mlp_kind or kind)
    if in_mlp is not None and mlp_kind:
        embedding, embedding_kind = _needed(parameters, "params") - in_mlp, other_kind
    arguments = given(
        precision=precision, bits_per_weight=_bits(precision, bits, group), kept_parameters=embedding,
        kept_precision=precision_in(embedding_kind), tensor_parallel=ranks,
    )  # fmt: skip
    if bits is not None and bits < 16:  # a bare number of bits names no format; some format of integers it is
        arguments["precision"] = "int8" if bits >= 8 else "int4"
    known = known_shape(name) if (embedding is None and precision == "mxfp4") or parameters is None else None
    if known is not None:  # of MXFP4 checkpoints only the experts are quantised: the shape tells how many those are
        arguments["model"] = known if parameters is None else resized(known, parameters)
    else:
        arguments["parameters"] = parameters or parameters_in_name(name)
    result = calculate("model_weights", **arguments)
    return in_bytes_unit(result.outputs["per_gpu_bytes" if unit.endswith("/GPU") else "total_bytes"], unit)


def _bits(precision: str, bits: Decimal | None, group: int | None) -> Decimal | None:
    """Bits per weight: as stated, or those of the format at the row's group size."""
    if bits is not None or group is None or not precision.endswith("int4"):
        return bits
    return calculate("quantisation_bits", bits=4, block=group, scale_bits=16, zero_bits=4).value


def _gguf_size(row: Row, unit: str) -> Decimal:
    quant, bits = row.text("quant", "F16"), row.number("bits_per_weight")
    arguments = given(
        parameters=row.number("params"), precision=precision_in(quant), bits_per_weight=bits, kept_parameters=0
    )
    row.close()
    return in_bytes_unit(calculate("model_weights", **arguments).outputs["total_bytes"], unit)


def _inference_total(row: Row, unit: str) -> Decimal:
    name, kind, bits = row.text("model"), row.text("dtype"), row.number("bits")
    parameters, tokens = row.number("params") or parameters_in_name(name), whole(row.number("tokens", "seq", "ctx"))
    sequences, ranks = whole(row.number("batch")) or 1, whole(row.number("tp")) or 1
    attention, stated = row.text("attention"), row.number("kv_bytes_per_token")
    layout = _cache_shape(row, name, attention)
    row.number("hidden")  # the activations of one prompt are estimated from the size
    engine = _engine(row)
    row.close()
    per_token = stated
    if per_token is None and tokens is not None:
        cache = layout or known_shape(name)
        if cache is not None:
            per_token = Decimal(calculate("kv_cache", context_tokens=1, model=cache).outputs["bytes_per_token"])
    arguments = given(
        parameters=parameters, precision=precision_in(kind), bits_per_weight=bits, engine=engine, sequences=sequences,
        context_tokens=tokens if per_token is not None else None, kv_bytes_per_token=per_token, tensor_parallel=ranks,
    )  # fmt: skip
    known = known_shape(name)
    if known is not None and parameters is not None:  # its embedding is known, so need not be estimated
        del arguments["parameters"]
        arguments["model"] = resized(known, parameters)
    result = calculate("inference_memory", **arguments)
    per_gpu = (Decimal(result.outputs["per_gpu_low_gib"]) + Decimal(result.outputs["per_gpu_high_gib"])) / 2
    return in_bytes_unit((per_gpu if unit.endswith("/GPU") else result.value) * GIB, unit)


def _kv_pool(row: Row, output: str) -> Decimal:
    overhead = row.number("overhead_gib")
    row.number("tp")  # pool and bytes per token are one GPU's
    row.text("kv_dtype")  # and the bytes per token are stated for it
    arguments = given(
        total_gib=row.number("total_gib"), gpu_memory_utilization=row.number("gpu_memory_utilization"),
        weights_gib=row.number("weights_gib"), non_torch_gib=row.number("non_torch_gib"),
        activation_gib=row.number("activation_peak_gib"), pool_gib=row.number("kv_pool_gib"),
        pool_tokens=whole(row.number("kv_tokens")), kv_bytes_per_token=row.number("kv_bytes_per_token"),
        max_model_len=whole(row.number("max_model_len")), block_tokens=whole(row.number("block_size")),
    )  # fmt: skip
    row.close()
    if overhead is not None:
        arguments |= {"non_torch_gib": overhead, "activation_gib": 0}
    return Decimal(calculate("kv_pool", **arguments).outputs[output])


def _pool_size(row: Row, unit: str) -> Decimal:
    return in_bytes_unit(_kv_pool(row, "pool_gib") * GIB, unit)


def _cuda_graphs(row: Row, unit: str) -> Decimal:
    """What graphs add to a server's overhead: the width of its range, since graphs are what the high end holds."""
    ranks = whole(row.number("tp")) or 1
    for measurement in ("eager_mib", "graphs_mib"):
        row.number(measurement)
    row.close()
    result = calculate("inference_memory", parameters=10**9, engine="vllm", tensor_parallel=ranks)
    width = Decimal(result.outputs["per_gpu_high_gib"]) - Decimal(result.outputs["per_gpu_low_gib"])
    return in_bytes_unit(width * GIB, unit)


def _device_total(row: Row, unit: str) -> Decimal:
    """A data sheet's GB of one card are GiB."""
    memory = row.number("marketing_gb")
    row.close()
    return in_bytes_unit(calculate("total_memory", cards=1, card_memory_gb=memory).value * GIB, unit)


def _engine(row: Row) -> str:
    words = row.text("engine", USUAL_ENGINE).lower().split()
    return words[0] if words and words[0] in OVERHEAD_GIB else USUAL_ENGINE


def _fits(row: Row, unit: str) -> Decimal:
    """1 for "fits"; tight is no: it is not recommended."""
    method = row.text("method")
    if method:
        return training_fits(row, method)
    name, kind, engine = row.text("model"), row.text("dtype"), _engine(row)
    pool_tokens, longest = whole(row.number("kv_tokens")), whole(row.number("max_model_len"))
    tokens = whole(row.number("tokens", "ctx", "seq")) or longest
    parameters, file, per_token = (
        row.number("params"),
        row.number("file_gib", "weights_gib"),
        row.number("kv_bytes_per_token"),
    )
    sequences = (whole(row.number("batch")) or 1) * (whole(row.number("sequences", "concurrency")) or 1)
    row.text("attention")
    if pool_tokens is not None and longest is not None:
        return Decimal(
            calculate("kv_pool", pool_tokens=pool_tokens, max_model_len=longest).outputs["verdict"] == "fits"
        )
    memory, cards = card_and_count(row)
    row.close()
    model = known_shape(name)
    precision = precision_in(kind or name)
    arguments = given(
        model=model, precision=precision, weights_gib=file, engine=engine, sequences=sequences, kv_bytes_per_token=per_token,
        context_tokens=tokens if model is not None or per_token is not None else None, cards=cards,
        gpu={"name": "card", "memory_gib": memory},
    )  # fmt: skip
    if model is None and file is None:
        arguments["parameters"] = parameters or _needed(parameters_in_name(name), "params")
    if model is not None and parameters is not None:
        arguments["model"] = resized(model, parameters)
    return Decimal(calculate("inference_fit", **arguments).outputs["verdict"] == "fits")


def card_and_count(row: Row) -> tuple[Decimal, int]:
    """Memory of one card in GiB and the number of cards. "6x RTX 3090" with 144 GB means six of 24."""
    card, measured, sold = row.text("card"), row.number("total_gib"), row.number("card_gb", "card_gib")
    named = cards_in(card)
    cards = whole(row.number("cards", "gpus")) or named or 1
    one = card_memory_gib(card)
    memory = _needed(measured or sold or one, "card_gb")
    if named and named > 1 and one is not None and memory == one * named:
        memory = one
    return memory, cards


def _needed(value: Decimal | None, name: str) -> Decimal:
    if value is None:
        raise ValueError(f"the row gives no {name}, and no table knows it")
    return value


_COMPUTE: dict[str, Compute] = {
    "kv_bytes_per_token": _kv_bytes_per_token, "kv_elements_per_layer_token": _kv_elements, "kv_cache": _kv_cache,
    "weights": _weights, "gguf_size": _gguf_size, "inference_total": _inference_total, "vllm_kv_pool": _pool_size,
    "kv_tokens_capacity": lambda row, _: _kv_pool(row, "tokens"),
    "max_concurrency": lambda row, _: _kv_pool(row, "max_concurrency"),
    "cuda_graph_overhead": _cuda_graphs, "device_total": _device_total, "fits": _fits,
}  # fmt: skip
OPERATIONS: dict[str, Operation] = {
    name: _operation(name, compute) for name, compute in (_COMPUTE | FINETUNING_OPERATIONS).items()
}
