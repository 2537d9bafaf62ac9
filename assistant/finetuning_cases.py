"""The ways to train a model that an answer sets side by side, each computed by training_memory.

Decides what is taken where the question leaves it open, and which ways out are worth a line; it writes no sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import Calculation, number
from assistant.calculator.lora import ALL_TARGETS
from assistant.evidence import Bilingual
from assistant.ledger import Ledger
from assistant.tools import ToolError
from assistant.training_subject import CardAsked, Trained, bare_card
from assistant.workload import Workload
from assistant.workload_words import METHODS as WORKLOAD_METHODS

SEQUENCE, BATCH, RANK = 2048, 1, 8
SINGLE_CARDS_GB = tuple(map(Decimal, (8, 12, 16, 24, 32, 40, 48, 80, 96, 141, 192)))
CLUSTERS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
CLUSTER_CARD_GB = Decimal(80)
PRECISIONS = {"fp16": "fp16-mixed", "fp32": "fp32", "fp8": "fp8"}
OPTIMIZERS = {"adamw": "adam", "adam-8bit": "adam-8bit", "adafactor": "adafactor", "sgd": "sgd"}
LOW_BITS = frozenset({"int4", "nf4", "nf4-dq", "fp4"})
METHODS = {
    "full": Bilingual(zh="全参", en="full fine-tuning"), "lora": Bilingual(zh="LoRA", en="LoRA"),
    "qlora": Bilingual(zh="QLoRA", en="QLoRA"), "freeze": Bilingual(zh="冻结微调", en="freeze tuning"),
    "p-tuning": Bilingual(zh="P-Tuning v2", en="P-Tuning v2"),
}  # fmt: skip
# Methods that a question may name beside each other; a prefix method is none of the workload's.
_METHOD_WORDS = (
    *WORKLOAD_METHODS,
    ("p-tuning", re.compile(r"(?<![a-z])p[\s_-]?tuning(?:[\s_-]*v?\s?2)?|(?:prefix|prompt)[\s_-]*tun(?:ing|e)|前缀(?:微调|调优|训练)|(?<![a-z])pt2(?![a-z0-9])")),
)  # fmt: skip
PREFIX_TOKENS = 128  # ChatGLM's pre_seq_len
OLDEST_BF16 = Decimal("8.0")  # compute capability
SHARDINGS = {
    "none": Bilingual(zh="数据并行", en="data parallel"), "zero1": Bilingual(zh="ZeRO-1", en="ZeRO-1"),
    "zero2": Bilingual(zh="ZeRO-2", en="ZeRO-2"), "zero3": Bilingual(zh="ZeRO-3", en="ZeRO-3"),
    "fsdp-full": Bilingual(zh="FSDP", en="FSDP"),
}  # fmt: skip
DEFAULT_TARGETS = ("q", "v")
ALL_LINEAR = re.compile(r"(?:所有|全部|每个|全)(?:的)?线性|线性层(?:都|全)|(?:all|every)[\s_-]*(?:the\s+)?linear", re.I)
_TARGET = r"(?:q|k|v|o|gate|up|down)(?:_?proj)?"
TARGET_LISTS = re.compile(
    rf"(?<![a-z]){_TARGET}(?:\s*(?:[,，、/+&]|和|与|(?<![a-z])and(?![a-z]))\s*{_TARGET})+(?![a-z])"
    r"|(?<![a-z])(?:q|k|v|o|gate|up|down)_proj(?![a-z])|(?<![a-z])q?kvo?(?=\s*(?:上|层|投影|proj|layer))|(?<![a-z])qkvo?(?![a-z])", re.I,
)  # fmt: skip
OPTIMIZER_NAMES = {"adam-8bit": "8-bit Adam", "adafactor": "Adafactor", "sgd": "SGD"}


@dataclass(frozen=True)
class Setting:
    """One way to train; the words for it are `words`."""

    method: str
    checkpointing: str = "full"
    sharding: str = "none"
    gpus: int = 1
    offload: str = "none"
    optimizer: str = "adam"
    sequence: int = SEQUENCE
    batch: int = BATCH

    def words(self, book: Ledger, *, checkpointing: bool = False, sequence: bool = False, batch: bool = False) -> str:
        """全参、ZeRO-3 × 8 张、8-bit Adam."""
        parts = [METHODS[self.method][book.language]]
        if self.gpus > 1:
            parts.append(f"{SHARDINGS[self.sharding][book.language]} × {render.cards(self.gpus, book.language)}")
        if self.optimizer != "adam":
            parts.append(OPTIMIZER_NAMES[self.optimizer])
        if self.offload != "none":
            parts.append(book.say("优化器卸载到内存", "optimizer offloaded to host memory"))
        if sequence:
            parts.append(book.say(f"序列 {self.sequence:,} tokens", f"sequence of {self.sequence:,} tokens"))
        if batch:
            parts.append(f"batch {self.batch}")
        if checkpointing:
            parts.append(book.say("开梯度检查点", "with checkpointing") if self.checkpointing == "full" else book.say("不开梯度检查点", "no checkpointing"))  # fmt: skip
        return render.joined(parts, book.language)


@dataclass(frozen=True)
class Case:
    """A setting computed, without a card and on each card in question."""

    setting: Setting
    result: Calculation
    on_cards: tuple[Calculation, ...] = ()

    @property
    def verdicts(self) -> tuple[str, ...]:
        """ "fits", "tight" or "no" for each card."""
        return tuple(str(result.outputs["verdict"]) for result in self.on_cards)

    @property
    def passes_most(self) -> bool:
        """Whether activations and logits outweigh what stays in memory."""
        out = self.result.outputs
        return Decimal(out["activations_gib"]) + Decimal(out["logits_gib"]) > Decimal(out["states_gib"])

    def figure(self, output: str) -> str:
        """An output in GiB or GB."""
        return size_text(self.result.outputs[output])


@dataclass(frozen=True)
class Job:
    """The model, what is said of its training, and the cards in question."""

    model: Trained
    work: Workload
    gpus: int
    cards: Sequence[CardAsked]
    book: Ledger
    targets: tuple[str, ...] = DEFAULT_TARGETS
    methods: tuple[str, ...] = ()  # those that the question sets beside each other

    def can_compute(self, method: str) -> bool:
        """Whether the adapter's matrices are known: latent attention (MLA) has no separate k and v projections."""
        shape = self.model.shape
        plain = shape is None or bool(shape.kv_heads and shape.head_size)
        return method not in ("lora", "qlora") or plain or not {"k", "v"} & set(self.targets)

    def computable(self) -> list[Setting]:
        """What was asked, as far as it can be computed."""
        return [setting for setting in self.settings() if self.can_compute(setting.method)]

    def settings(self) -> list[Setting]:
        """What was asked: the method said or all three, with and without checkpointing where that is left open."""
        work = self.work
        method = work.method or ("qlora" if work.precision in LOW_BITS else None)
        base = Setting(
            method or "full", gpus=self.gpus, sequence=work.context_tokens or int(work.tokens_per_row or 0) or SEQUENCE,
            batch=work.batch_size or BATCH, optimizer=OPTIMIZERS.get(work.optimizer or "", "adam"),
            offload="optimizer" if work.offload else "none", sharding=self._sharding(method or "full"),
        )  # fmt: skip
        if self.methods:
            return [replace(base, method=name, sharding=self._sharding(name)) for name in self.methods]
        if method is None:
            return [replace(base, method=name, sharding=self._sharding(name)) for name in ("full", "lora", "qlora")]
        if work.checkpointing is not None:
            return [replace(base, checkpointing="full" if work.checkpointing else "none")]
        if method == "qlora" or (method == "full" and self.gpus == 1):
            return [base]  # peft turns it on for QLoRA; on one card the states decide, not the activations
        return [replace(base, checkpointing="none"), base]

    def _sharding(self, method: str) -> str:
        stage = self.work.zero_stage
        if self.gpus == 1:
            return "none"
        if stage == "fsdp":
            return "fsdp-full"
        if isinstance(stage, int):
            return f"zero{stage}" if stage else "none"
        return "zero3" if method == "full" else "none"

    def case(self, setting: Setting, cards: Sequence[CardAsked] | None = None, book: Ledger | None = None) -> Case:
        """The setting computed, once without a card and once for each card. Raises ToolError."""
        work, book, cards = self.work, book or self.book, self.cards if cards is None else cards
        given: dict[str, object] = {
            **self.model.arguments, "method": setting.method, "optimizer": setting.optimizer, "sequence_tokens": setting.sequence,
            "micro_batch": setting.batch, "checkpointing": setting.checkpointing, "gpus": setting.gpus,
            "sharding": setting.sharding, "offload": setting.offload, "precision": PRECISIONS.get(work.precision or "", "bf16-mixed"),
            "lora_rank": work.lora_rank or RANK, "prefix_tokens": PREFIX_TOKENS, "lora_targets": self.targets, "tensor_parallel": work.tensor_parallel or 1,
            "pipeline_parallel": work.pipeline_parallel or 1, "flash_attention": work.flash_attention is not False,
        }  # fmt: skip
        if setting.method == "lora" and work.precision in ("int8", "gptq-int8"):
            given["base_precision"] = "int8"
        on_cards = tuple(book.compute("training_memory", **given, gpu=card.spec) for card in cards)
        return Case(setting, book.compute("training_memory", **given), on_cards)

    def remedies(self, main: Sequence[Case]) -> list[Case]:
        """Other ways to train where what was asked does not surely fit, and beside a full training without a card."""
        now, one_method = main[-1].setting, len({case.setting.method for case in main}) == 1
        if any(set(case.verdicts) == {"fits"} for case in main) or (not self.cards and now.method != "full"):
            return []
        eased = replace(now, checkpointing="full")
        tried: list[Setting] = [eased] if now.checkpointing == "none" else []
        if now.method == "full" and one_method:
            tried += [replace(eased, optimizer="adam-8bit")] if now.optimizer == "adam" else []
            tried += [replace(eased, offload="optimizer")] if now.offload == "none" else []
            tried += [replace(eased, method=name, optimizer="adam", sharding=self._sharding(name)) for name in ("lora", "qlora")]  # fmt: skip
        if now.method == "lora" and one_method:
            tried.append(replace(eased, method="qlora"))
        if one_method and (now.method != "full" or main[-1].passes_most):
            tried += [replace(eased, batch=1)] if now.batch > 1 else []
            tried += [replace(eased, sequence=now.sequence // 2)] if now.sequence > 1 else []
        found = [self.case(setting) for setting in tried if self.can_compute(setting.method)]
        spread = self.spread(replace(eased, method=main[0].setting.method, offload="none"))
        return [*found, spread] if spread else found

    def spread(self, setting: Setting) -> Case | None:
        """ZeRO-3 over the fewest cards that hold it: of the smallest card in question, or of 80 GB."""
        card = min(self.cards, key=lambda c: c.spec.memory_gib) if self.cards else cluster_card(self.book)
        for gpus in CLUSTERS:
            wider = replace(setting, gpus=gpus, sharding="zero3")
            if gpus > setting.gpus and self._holds(wider, card):
                return self.case(wider, self.cards or [card])
        return None

    def smallest_card(self, setting: Setting) -> CardAsked | None:
        """The smallest usual card size that surely holds the setting; its proof is kept as a call."""
        for size in SINGLE_CARDS_GB:
            card = bare_card(size, self.book)
            if self._holds(setting, card):
                self.case(setting, [card])
                return card
        return None

    def _holds(self, setting: Setting, card: CardAsked) -> bool:
        """Tried on the side: most sizes tried do not belong to the answer."""
        try:
            return self.case(setting, [card], Ledger(self.book.catalog, self.book.language)).verdicts == ("fits",)
        except ToolError:  # so many cards cannot be split as was said
            return False


def methods_named(question: str) -> tuple[str, ...]:
    """The methods of a question in its order, where it names several or one that only this answer knows; else none."""
    text = question.lower()
    places = {name: match.start() for name, words in _METHOD_WORDS if (match := words.search(text))}
    return tuple(sorted(places, key=places.__getitem__)) if len(places) > 1 or "p-tuning" in places else ()


def adapter_targets(question: str) -> tuple[str, ...]:
    """The projections that a LoRA question names, in the calculator's order; q and v where it names none."""
    if ALL_LINEAR.search(question):
        return ALL_TARGETS
    said = " ".join(found.group().lower() for found in TARGET_LISTS.finditer(question)).replace("proj", "")
    names = set(re.findall(r"gate|up|down|[qkvo](?=[qkvo\W_]|$)", said.replace("and", " ")))
    return tuple(target for target in ALL_TARGETS if target in names) or DEFAULT_TARGETS


def is_before_bf16(card: CardAsked) -> bool:
    """Whether a card is older than Ampere and computes FP16 alone."""
    capability = card.spec.compute_capability
    return capability is not None and capability < OLDEST_BF16


def size_text(size: Decimal | int | str) -> str:
    """A size with three digits at least: 112.3, 15.4, 3.03, 0.031."""
    value = Decimal(size)
    return f"{value:,.1f}" if value >= 10 else f"{value:,.2f}" if value >= 1 else number(value)


def cluster_card(book: Ledger) -> CardAsked:
    """What is counted in where no card was named."""
    return bare_card(CLUSTER_CARD_GB, book)


def sequence_and_batch(setting: Setting, book: Ledger) -> str:
    """序列 2,048 tokens、每卡 batch 1."""
    return book.say(f"序列 {number(Decimal(setting.sequence))} tokens、每卡 batch {setting.batch}",
                    f"sequence {number(Decimal(setting.sequence))} tokens, batch {setting.batch} per card")  # fmt: skip
