"""Published training memory, row by row, computed by our calculators (area d)."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from assistant.calculator.lora import ALL_TARGETS
from assistant.calculator.precision import GIB
from assistant.tools import calculate
from evals.golden_models import card_memory_gib, cards_in, known_shape, parameters_in_name, precision_in, shape_like
from evals.golden_rows import Row, given, whole
from evals.golden_units import in_bytes_unit

Compute = Callable[[Row, str], Decimal]
USUAL_SEQUENCE = 512  # of a fine-tuning row that states none; the QLoRA paper's
UNPACKED_SEQUENCE = 256  # tokens of an instruction sample (Alpaca) that is not packed with others
STAGES = {0: "none", 1: "zero1", 2: "zero2", 3: "zero3"}
# torchtune's table of optimisation steps: each row adds one to those above it.
STEPS = ("baseline", "packed", "compile", "chunked", "checkpoint", "optimizer", "offload", "8-bit")
FUSED_STEPS = ("fuse", "optimizer", "backward")


def _states(row: Row, unit: str) -> Decimal:
    """Model states on one GPU under ZeRO; a formula such as 4P+16P/n states what is whole and what is sharded."""
    parameters, stage = row.number("params"), whole(row.number("zero_stage")) or 0
    ranks = whole(row.number("dp", "gpus")) or 1
    weights, gradients, optimizer = (row.number(f"bytes_{part}") for part in ("param", "grad", "optim"))
    formula, offload, largest = row.text("formula"), row.text("offload"), row.number("largest_layer_params")
    optimizer_name, kind = row.text("optimizer", "adam"), row.text("dtype")
    row.close()
    arguments = given(
        parameters=parameters, gpus=ranks, sharding=STAGES[stage], weight_bytes=weights, gradient_bytes=gradients,
        optimizer_bytes=optimizer, largest_layer_parameters=largest, optimizer=optimizer_name,
        precision="fp32" if kind == "fp32" else "bf16-mixed", offload=_offload(offload),
        gradients_fp32=True if offload and weights is None else None,  # DeepSpeed's estimators have 18 bytes
    )  # fmt: skip
    result = calculate("training_memory", **arguments | _formula_bytes(formula, stage))
    gathered = Decimal(result.outputs["gathered_bytes"]) if largest is not None else Decimal(0)
    return in_bytes_unit(Decimal(result.outputs["states_per_gpu_bytes"]) + gathered, unit)


def _formula_bytes(formula: str, stage: int) -> dict[str, Any]:
    whole_part, sharded = re.search(r"(\d+)P(?!/)", formula), re.search(r"(\d+)P/n", formula)
    if not sharded:
        return {}
    kept, spread = Decimal(whole_part.group(1)) if whole_part else Decimal(0), Decimal(sharded.group(1))
    if stage == 3:
        return {"weight_bytes": 2, "gradient_bytes": 4, "optimizer_bytes": spread - 6}
    if stage == 2:
        return {"weight_bytes": kept, "gradient_bytes": 2, "optimizer_bytes": spread - 2}
    return {"weight_bytes": kept / 2, "gradient_bytes": kept / 2, "optimizer_bytes": spread}


def _offload(text: str) -> str | None:
    if "param" in text:
        return "parameters"
    return "optimizer" if "optim" in text else None


def _load(row: Row, unit: str) -> Decimal:
    arguments = given(parameters=row.number("params"), precision=precision_in(row.text("dtype")), kept_parameters=0)
    row.close()
    return in_bytes_unit(calculate("model_weights", **arguments).outputs["total_bytes"], unit)


def _training_states(row: Row, unit: str) -> Decimal:
    parameters, each = row.number("params"), row.number("bytes_per_param")
    optimizer, kind = row.text("optimizer", "adam"), row.text("dtype")
    row.close()
    arguments = given(parameters=parameters, optimizer=optimizer, precision="fp32" if kind == "fp32" else "bf16-mixed")
    result = calculate("training_memory", **arguments | (_stated_bytes(each) if each is not None else {}))
    return in_bytes_unit(result.outputs["states_per_gpu_bytes"], unit)


def _stated_bytes(each: Decimal) -> dict[str, Any]:
    """So many bytes per parameter in all; how they divide over weights, gradients and optimiser changes no sum."""
    if each < 4:
        return {"weight_bytes": each, "gradient_bytes": 0, "optimizer_bytes": 0}
    return {"weight_bytes": 2, "gradient_bytes": 2, "optimizer_bytes": each - 4}


def _quant_overhead(row: Row, unit: str) -> Decimal:
    double = row.flag("double_quant")
    second = whole(row.number("second_block"))
    arguments = given(
        bits=whole(row.number("bits")) or 4, block=whole(row.number("block")), scale_bits=row.number("constant_bits"),
        second_block=second if double else None,
    )  # fmt: skip
    row.close()
    return Decimal(calculate("quantisation_bits", **arguments).outputs["overhead_bits"])


def _double_quant_saving(row: Row, unit: str) -> Decimal:
    parameters, saved = row.number("params"), row.number("saved_bits")
    row.close()
    plain = calculate("quantisation_bits", bits=4, block=64, scale_bits=32).value
    double = (
        plain - saved
        if saved is not None
        else calculate("quantisation_bits", bits=4, block=64, scale_bits=8, second_block=256).value
    )
    sizes = [
        Decimal(calculate("model_weights", parameters=parameters, precision="nf4", bits_per_weight=bits, kept_parameters=0).outputs["total_bytes"])
        for bits in (plain, double)
    ]  # fmt: skip
    return in_bytes_unit(sizes[0] - sizes[1], unit)


def _base_weights(row: Row, unit: str) -> Decimal:
    arguments = given(parameters=row.number("params"), precision=precision_in(row.text("dtype"), "nf4"))
    row.close()
    return in_bytes_unit(calculate("model_weights", **arguments).outputs["total_bytes"], unit)


def _full_finetune(row: Row, unit: str) -> Decimal:
    """States of all GPUs, and what a stated sequence keeps besides; no runtime overhead, as the sources sum tensors."""
    name, parameters, each = row.text("model"), row.number("params"), row.number("bytes_per_param")
    gpus, sequence = whole(row.number("gpus")) or 1, whole(row.number("seq"))
    micro_batch = whole(row.number("batch", "micro_batch")) or 1
    checkpointing = "full" if row.flag("checkpointing") else "none"
    row.close()
    arguments = given(
        parameters=parameters or parameters_in_name(name), gpus=gpus, sharding="fsdp-full" if gpus > 1 else "none",
        sequence_tokens=sequence, micro_batch=micro_batch, checkpointing=checkpointing,
    )  # fmt: skip
    outputs = calculate("training_memory", **arguments | (_stated_bytes(each) if each is not None else {})).outputs
    kept = (Decimal(outputs["activations_gib"]) + Decimal(outputs["logits_gib"])) * GIB
    one = Decimal(outputs["states_per_gpu_bytes"]) + kept
    return in_bytes_unit(one if unit.endswith("/GPU") else one * gpus, unit)


def _adapter_total(row: Row, unit: str) -> Decimal:
    """LoRA or QLoRA on one model. A vocabulary that neither row nor table states leaves the logits out."""
    name, method, base = (
        row.text("model"),
        row.text("method", "lora").lower(),
        row.text("base_dtype") or row.text("dtype"),
    )
    parameters = row.number("params") or parameters_in_name(name)
    layers, hidden, vocabulary = (whole(row.number(key)) for key in ("layers", "hidden", "vocab"))
    checkpointing = "full" if row.flag("checkpointing") else "none"
    row.flag("flash_attention")  # on unless said otherwise; no published row trains without
    common = given(
        sequence_tokens=whole(row.number("seq")), micro_batch=whole(row.number("batch", "micro_batch")),
        gpus=whole(row.number("gpus")), lora_rank=whole(row.number("rank")),
    )  # fmt: skip
    row.close()
    precision = precision_in(base or method)
    quantised = "qlora" in method or precision not in ("bf16", "fp16", "fp32")
    if quantised and precision in ("bf16", "fp16"):
        precision = "nf4-dq"
    model = shape_like(name, parameters, layers, hidden, vocabulary) if parameters is not None else known_shape(name)
    known_vocabulary = vocabulary is not None or known_shape(name) is not None
    arguments = common | given(
        model=model, parameters=parameters if model is None else None, method="qlora" if quantised else "lora",
        base_precision=precision, checkpointing=checkpointing, fused_cross_entropy=not known_vocabulary,
        sharding="fsdp-full" if common.get("gpus", 1) != 1 else None,
    )  # fmt: skip
    return _per_gpu_or_total(arguments, unit)


def _per_gpu_or_total(arguments: dict[str, Any], unit: str) -> Decimal:
    result = calculate("training_memory", **arguments)
    total = result.value * (1 if unit.endswith("/GPU") else Decimal(result.outputs["gpus"]))
    return in_bytes_unit(total * GIB, unit)


def _finetune_total(row: Row, unit: str) -> Decimal:
    """A recipe of torchtune, torchtitan or peft. Their loss is computed in chunks, so logits do not count, except in
    the steps of torchtune's table before that one."""
    name, method, kind = row.text("model"), row.text("method", "full").lower(), row.text("dtype")
    parameters = row.number("params") or parameters_in_name(name)
    layers, hidden, vocabulary = (whole(row.number(key)) for key in ("layers", "hidden", "vocab"))
    gpus, sequence, card = whole(row.number("gpus")) or 1, whole(row.number("seq")), row.text("card")
    batch, checkpointed = whole(row.number("batch", "micro_batch")), row.flag("checkpointing")
    packed_is_not = row.text("packed") == "False"
    row.flag("flash_attention")
    row.close()
    model = shape_like(name, parameters, layers, hidden, vocabulary) if parameters is not None else known_shape(name)
    steps = _steps(method)
    if packed_is_not or ("packed" not in steps and steps):
        sequence = min(sequence or UNPACKED_SEQUENCE, UNPACKED_SEQUENCE)
    arguments = given(
        model=model, parameters=parameters if model is None else None, sequence_tokens=sequence, micro_batch=batch, gpus=gpus,
        sharding="fsdp-full" if gpus > 1 else "none", **_recipe(method, kind, steps, checkpointed, card if gpus == 1 else ""),
    )  # fmt: skip
    if "cpu offload" in method or ("offload" in method and not steps):
        arguments |= {"offload": "parameters", "sharding": "fsdp-full" if "fsdp" in method else "zero3"}
    return _per_gpu_or_total(arguments, unit)


def _steps(method: str) -> tuple[str, ...]:
    """The steps of torchtune's table up to the one that a row names; none for any other recipe."""
    method = method.replace("+ ac", "+ activation checkpointing")
    named = [index for index, step in enumerate(STEPS) if step in method]
    if (not method.startswith("+") and method != "baseline") or not named:
        return ()
    last = (
        STEPS.index("optimizer")
        if any(word in method for word in FUSED_STEPS) and "8-bit" not in method
        else max(named)
    )
    return STEPS[: last + 1]


def _recipe(method: str, kind: str, steps: tuple[str, ...], checkpointed: bool, card: str) -> dict[str, Any]:
    base = precision_in(kind or method, "")
    if "qlora" in method:
        return {"method": "qlora", "base_precision": base if base not in ("", "bf16", "fp16") else "nf4-dq",
                "kept_precision": "bf16", "checkpointing": "full", "fused_cross_entropy": True}  # fmt: skip
    if "lora" in method:
        return {
            "method": "lora",
            "base_precision": base or "bf16",
            "checkpointing": "full",
            "fused_cross_entropy": True,
        }
    if steps:
        return {
            "precision": "bf16", "optimizer": "adam-8bit" if "8-bit" in steps else "adam",
            "checkpointing": "full" if "checkpoint" in steps else "none", "fused_cross_entropy": "chunked" in steps,
            "fused_optimizer": "optimizer" in steps, "activation_offload": "offload" in steps,
        }  # fmt: skip
    if "pretrain" in method:
        mode = "selective" if "selective" in method else "full" if "full ac" in method or checkpointed else "none"
        return {"precision": "bf16-mixed", "checkpointing": mode, "fused_cross_entropy": True}
    # On one named card a full run was measured, so it fitted: torchtune's single-device recipe pages its optimiser
    # out and fuses it into the backward pass.
    one_card = {"fused_optimizer": True, "offload": "optimizer"} if card else {}
    return {"precision": "fp32" if base == "fp32" else "bf16", "checkpointing": "full",
            "fused_cross_entropy": True, **one_card}  # fmt: skip


def _lora_params(row: Row, unit: str) -> Decimal:
    name, rank = row.text("model"), whole(row.number("rank", "r"))
    layers, hidden = whole(row.number("layers")), whole(row.number("hidden"))
    kv_heads, mlp, parameters = (
        whole(row.number("kv_heads")),
        whole(row.number("mlp", "ff", "intermediate")),
        row.number("params"),
    )
    targets = [str(target).removesuffix("_proj") for target in row.items("targets")]
    row.close()
    model = shape_like(name, parameters or parameters_in_name(name) or Decimal(10**9), layers, hidden, None)
    if model is None:
        raise ValueError(f"no shape is known for {name!r}: give layers and hidden")
    model = model.model_copy(update=given(kv_heads=kv_heads, mlp_size=mlp))
    wide = {"all", "all-linear"} & set(targets)
    return calculate("lora_parameters", model=model, rank=rank, targets=ALL_TARGETS if wide else targets).value


def _rule_of_thumb(row: Row, unit: str) -> Decimal:
    """A guide's figure for one size, no sequence: states and one GPU's overhead. "full" alone means 16-bit Adam."""
    billions, method, each = row.number("params_b"), row.text("method").lower(), row.number("bytes_per_param")
    row.close()
    arguments: dict[str, Any] = {"parameters": None if billions is None else billions * 10**9}
    if each is not None:
        arguments |= _stated_bytes(each)
    elif "lora" in method:
        arguments |= {"method": "qlora" if "qlora" in method else "lora"}
    else:
        arguments |= {"precision": "bf16-mixed" if "amp" in method or "mixed" in method else "bf16"}
    return in_bytes_unit(calculate("training_memory", **arguments).value * GIB, unit)


def training_fits(row: Row, method: str) -> Decimal:
    """1 for "fits". ZeRO in a row means DeepSpeed, which keeps gradients in 32 bits."""
    name, words = row.text("model"), method.lower()
    parameters, card = row.number("params"), row.text("card")
    cards, memory = whole(row.number("cards", "gpus")) or cards_in(card) or 1, row.number("total_gib", "card_gb")
    stated = re.search(r"seq (\d+)", words)
    sequence = whole(row.number("seq")) or (int(stated.group(1)) if stated else USUAL_SEQUENCE)
    micro_batch, checkpointed = whole(row.number("batch", "micro_batch")), row.flag("checkpointing")
    kind = row.text("dtype")
    row.close()
    model = known_shape(name)
    stage = re.search(r"zero-?(\d)", words)
    tuning = "qlora" if "qlora" in words else "lora" if "lora" in words else "freeze" if "freeze" in words else "full"
    base = precision_in(kind or words, "")
    arguments = given(
        model=model, parameters=None if model is not None else parameters or parameters_in_name(name), method=tuning,
        sequence_tokens=sequence, micro_batch=micro_batch, gpus=cards, checkpointing="full" if checkpointed else None,
        sharding=STAGES[int(stage.group(1))] if stage else "fsdp-full" if "fsdp" in words else None,
        precision="bf16" if "pure" in words else None, gradients_fp32=True if stage and tuning == "full" else None,
        base_precision=base if base and tuning != "full" and not (tuning == "qlora" and base in ("bf16", "fp16")) else None,
        offload="parameters" if "offload" in words else None, gpu={"name": card or "card", "memory_gib": memory or card_memory_gib(card)},
    )  # fmt: skip
    return Decimal(calculate("training_memory", **arguments).outputs["verdict"] == "fits")


FINETUNING_OPERATIONS: dict[str, Compute] = {
    "zero_state_memory": _states, "model_load_memory": _load, "training_state_memory": _training_states,
    "qlora_quant_overhead": _quant_overhead, "double_quant_saving": _double_quant_saving,
    "qlora_base_weights": _base_weights, "full_finetune_memory": _full_finetune, "qlora_total": _adapter_total,
    "lora_total": _adapter_total, "finetune_total": _finetune_total, "lora_params": _lora_params,
    "rule_of_thumb": _rule_of_thumb,
}  # fmt: skip
