"""What a question says about running or training a model, in both languages; and what it must not be taken to say."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assistant.calculator.precision import CachePrecision, WeightPrecision
from assistant.reading import read
from assistant.workload import Said, Workload, merged, read_workload

D = Decimal


def workload(text: str) -> Workload:
    return read(text).slots.workload


def said(text: str) -> dict[str, object]:
    """The fields that a text fills."""
    found = workload(text)
    return {
        each.name: getattr(found, each.name) for each in fields(found) if getattr(found, each.name) not in (None, ())
    }


PRECISION = [
    ("Qwen2.5-72B int4 要几张 4090", "int4"),
    ("70b 4bit 24g 够吗", "int4"),
    ("70B in 4-bit", "int4"),
    ("用 4 比特跑 13B", "int4"),
    ("四比特的 13B", "int4"),
    ("13B 8bit 推理", "int8"),
    ("INT8 的 34B", "int8"),
    ("ｉｎｔ８ 的 34B", "int8"),
    ("八比特", "int8"),
    ("fp8 serving of Llama-3-70B", "fp8"),
    ("半精度 7B", "fp16"),
    ("7B FP16 显存", "fp16"),
    ("全精度 7B", "fp32"),
    ("7B in bf16", "bf16"),
    ("7B bfloat16", "bf16"),
    ("Qwen2.5-72B-Instruct-AWQ 要几张 4090", "awq-int4"),
    ("AWQ int4 的 32B", "awq-int4"),
    ("GPTQ 量化的 13B", "gptq-int4"),
    ("Llama-2-70B GPTQ-Int8", "gptq-int8"),
    ("7B nf4", "nf4"),
    ("Llama-3-8B Q4_K_M 能跑吗", "q4_k_m"),
    ("gguf q8_0 的 7B", "q8_0"),
    ("70B q4 量化", "int4"),
    ("gpt-oss in mxfp4", "mxfp4"),
    ("从 fp16 量化成 int4", "int4"),
    ("fp16 quantized to 8-bit", "int8"),
    ("不要 int4，用 fp8", "fp8"),
    ("16bit 的 7B", "fp16"),
]
LENGTHS = [
    ("8k 上下文", {"context_tokens": 8192, "kilo": 1024}),
    ("128k context", {"context_tokens": 131072, "kilo": 1024}),
    ("上下文长度 32K", {"context_tokens": 32768, "kilo": 1024}),
    ("上下文 100k", {"context_tokens": 100000, "kilo": 1000}),
    ("4096 tokens 够吗", {"context_tokens": 4096}),
    ("seq 2048", {"context_tokens": 2048}),
    ("序列长度 4096", {"context_tokens": 4096}),
    ("max_model_len=16384", {"context_tokens": 16384}),
    ("a context length of 8192", {"context_tokens": 8192}),
    ("context of up to 32k tokens", {"context_tokens": 32768, "kilo": 1024}),
    ("上下文窗口是三万二", {"context_tokens": 32000}),
    ("上下文 ８Ｋ", {"context_tokens": 8192, "kilo": 1024}),
    ("KV cache of Llama-3-8B at 8k", {"context_tokens": 8192, "kilo": 1024}),
    ("上下文 8k-32k", {"context_tokens": 32768, "kilo": 1024, "upper_ends": ("context_tokens",)}),
    ("上下文一万到两万", {"context_tokens": 20000, "upper_ends": ("context_tokens",)}),
    ("输入 2000 输出 500 tokens", {"input_tokens": 2000, "output_tokens": 500}),
    ("2000 输入 500 输出", {"input_tokens": 2000, "output_tokens": 500}),
    ("prompt 1k, 512 out", {"input_tokens": 1024, "output_tokens": 512, "kilo": 1024}),
    ("1k in 512 out", {"input_tokens": 1024, "output_tokens": 512, "kilo": 1024}),
    ("input 1500 tokens, output 300 tokens", {"input_tokens": 1500, "output_tokens": 300}),
    ("1500 input tokens and 300 output tokens", {"input_tokens": 1500, "output_tokens": 300}),
    ("提示词 3000 字以内，生成 800", {"input_tokens": 3000, "output_tokens": 800}),
    ("输入两千，输出五百", {"input_tokens": 2000, "output_tokens": 500}),
    ("max_tokens 256", {"output_tokens": 256}),
]
LOAD = [
    ("batch 8", {"batch_size": 8}),
    ("batch size of 16", {"batch_size": 16}),
    ("bs=4", {"batch_size": 4}),
    ("bs4", {"batch_size": 4}),
    ("批大小 16", {"batch_size": 16}),
    ("批大小为三十二", {"batch_size": 32}),
    ("micro batch 2", {"batch_size": 2}),
    ("batch_size=64", {"batch_size": 64}),
    ("per_device_train_batch_size 4", {"batch_size": 4}),
    ("batch 8-16", {"batch_size": 16, "upper_ends": ("batch_size",)}),
    ("50 users", {"concurrency": 50}),
    ("50 个并发", {"concurrency": 50}),
    ("并发 100", {"concurrency": 100}),
    ("并发数：２００", {"concurrency": 200}),
    ("同时 20 人", {"concurrency": 20}),
    ("同时二十个人用", {"concurrency": 20}),
    ("20 concurrent requests", {"concurrency": 20}),
    ("a concurrency of 64", {"concurrency": 64}),
    ("五十路并发", {"concurrency": 50}),
    ("100 人同时用", {"concurrency": 100}),
    ("30 到 50 个用户", {"concurrency": 50, "upper_ends": ("concurrency",)}),
    ("fifty users", {"concurrency": 50}),
    ("QPS 5", {"requests_per_s": D(5)}),
    ("每秒 3 个请求", {"requests_per_s": D(3)}),
    ("2.5 requests per second", {"requests_per_s": D("2.5")}),
    ("10 qps", {"requests_per_s": D(10)}),
    ("首 token 1 秒内", {"slo_ttft_s": D(1)}),
    ("TTFT < 500ms", {"slo_ttft_s": D("0.5")}),
    ("time to first token under 2 seconds", {"slo_ttft_s": D(2)}),
    ("首字延迟两秒", {"slo_ttft_s": D(2)}),
    ("每人 20 token/s", {"slo_tokens_per_s": D(20)}),
    ("at least 30 tokens per second", {"slo_tokens_per_s": D(30)}),
    ("每秒 15 个 token", {"slo_tokens_per_s": D(15)}),
    ("上下文拉到32k", {"context_tokens": 32768, "kilo": 1024}),
    ("上下文顶多 32k", {"context_tokens": 32768, "kilo": 1024}),
    ("context cranked up to 64k", {"context_tokens": 65536, "kilo": 1024}),
    ("16 ppl at once", {"concurrency": 16}),
    ("30 students", {"concurrency": 30}),
    ("二十个学生同时提问", {"concurrency": 20}),
    ("每人一次丢 8k token", {"context_tokens": 8192, "kilo": 1024}),
    ("并发 100，上下文 4k", {"concurrency": 100, "context_tokens": 4096, "kilo": 1024}),
    ("50 users 8k context batch 4", {"concurrency": 50, "context_tokens": 8192, "kilo": 1024, "batch_size": 4}),
]
TRAINING = [
    ("1T token", {"training_tokens": 10**12}),
    ("2 万亿 token", {"training_tokens": 2 * 10**12}),
    ("两万亿个 token", {"training_tokens": 2 * 10**12}),
    ("300B tokens", {"training_tokens": 3 * 10**11}),
    ("1.5 trillion tokens", {"training_tokens": 15 * 10**11}),
    ("two trillion tokens", {"training_tokens": 2 * 10**12}),
    ("3000 亿 token", {"training_tokens": 3 * 10**11}),
    ("一千亿词元", {"training_tokens": 10**11}),
    ("500 million tokens", {"training_tokens": 5 * 10**8}),
    ("100M tokens", {"training_tokens": 10**8}),
    ("1-2T tokens", {"training_tokens": 2 * 10**12, "upper_ends": ("training_tokens",)}),
    ("3 个 epoch", {"epochs": D(3)}),
    ("3 epochs", {"epochs": D(3)}),
    ("三轮", {"epochs": D(3)}),
    ("epoch=5", {"epochs": D(5)}),
    ("每条 512 token", {"tokens_per_row": D(512)}),
    ("每条数据平均 600 个 token", {"tokens_per_row": D(600)}),
    ("1000 tokens per row", {"tokens_per_row": D(1000)}),
    ("1 万条数据", {"rows": 10000}),
    ("一万条", {"rows": 10000}),
    ("52k instructions", {"rows": 52000}),
    ("5000 个样本", {"rows": 5000}),
    ("20k examples", {"rows": 20000}),
    ("5 万组问答对", {"rows": 50000}),
    ("rank 8", {"lora_rank": 8}),
    ("r=16", {"lora_rank": 16}),
    ("秩 32", {"lora_rank": 32}),
    ("TP=4", {"tensor_parallel": 4}),
    ("tp8", {"tensor_parallel": 8}),
    ("张量并行 8", {"tensor_parallel": 8}),
    ("tensor parallel size 2", {"tensor_parallel": 2}),
    ("8-way tensor parallel", {"tensor_parallel": 8}),
    ("PP=2", {"pipeline_parallel": 2}),
    ("流水线并行 4", {"pipeline_parallel": 4}),
    ("ZeRO-3", {"zero_stage": 3}),
    ("zero stage 2", {"zero_stage": 2}),
    ("deepspeed zero2", {"zero_stage": 2}),
    ("FSDP", {"zero_stage": "fsdp"}),
    ("开梯度检查点", {"checkpointing": True}),
    ("不开梯度检查点", {"checkpointing": False}),
    ("重计算", {"checkpointing": True}),
    ("gradient checkpointing", {"checkpointing": True}),
    ("without gradient checkpointing", {"checkpointing": False}),
    ("gradient checkpointing off", {"checkpointing": False}),
    ("gradient_checkpointing=False", {"checkpointing": False}),
    ("flash attention", {"flash_attention": True}),
    ("不用 flash-attn", {"flash_attention": False}),
    ("cpu offload", {"offload": True}),
    ("不 offload", {"offload": False}),
    ("adamw", {"optimizer": "adamw"}),
    ("Adam 优化器", {"optimizer": "adam"}),
    ("8-bit Adam", {"optimizer": "adam-8bit"}),
    ("paged_adamw_8bit", {"optimizer": "adam-8bit"}),
    ("adafactor", {"optimizer": "adafactor"}),
    ("SGD", {"optimizer": "sgd"}),
    ("显存利用率 0.9", {"gpu_memory_utilization": D("0.9")}),
    ("gpu_memory_utilization=0.85", {"gpu_memory_utilization": D("0.85")}),
    ("MFU 40 %", {"mfu": D("0.4")}),
    ("45% MFU", {"mfu": D("0.45")}),
    ("不量化", {"quantised": False}),
    ("量化后", {"quantised": True}),
    ("unquantized", {"quantised": False}),
    ("kv cache 用 fp8", {"kv_precision": "fp8"}),
    ("int8 KV cache", {"kv_precision": "int8"}),
]
MONEY = [
    ("电价 0.6 元/度", {"electricity_price": D("0.6"), "electricity_currency": "CNY"}),
    ("0.6元一度电", {"electricity_price": D("0.6"), "electricity_currency": "CNY"}),
    ("六毛一度电", {"electricity_price": D("0.6"), "electricity_currency": "CNY"}),
    ("电费一块五一度", {"electricity_price": D("1.5"), "electricity_currency": "CNY"}),
    ("0.12 USD/kWh", {"electricity_price": D("0.12"), "electricity_currency": "USD"}),
    ("$0.12 per kWh", {"electricity_price": D("0.12"), "electricity_currency": "USD"}),
    ("8 cents per kWh", {"electricity_price": D("0.08"), "electricity_currency": "USD"}),
    ("电价 0.8", {"electricity_price": D("0.8")}),
    ("利用率 50 %", {"utilisation": D("0.5")}),
    ("利用率六成", {"utilisation": D("0.6")}),
    ("at 60% utilisation", {"utilisation": D("0.6")}),
    ("utilization of 0.7", {"utilisation": D("0.7")}),
    ("利用率 50%-70%", {"utilisation": D("0.7"), "upper_ends": ("utilisation",)}),
    ("两年", {"horizon_years": D(2)}),
    ("3 years", {"horizon_years": D(3)}),
    ("用 18 个月", {"horizon_years": D("1.5")}),
    ("国内", {"country": "CN"}),
    ("in China", {"country": "CN"}),
]
METHODS = [
    ("QLoRA 微调 70B 要多少显存", "qlora", "finetuning"),
    ("LoRA 微调 13B", "lora", "finetuning"),
    ("7B full fine-tune memory", "full", "finetuning"),
    ("全参微调 7B", "full", "finetuning"),
    ("全量微调 14B 要几张 A100", "full", "finetuning"),
    ("7B full parameter finetuning", "full", "finetuning"),
    ("冻结大部分层微调 7B", "freeze", "finetuning"),
    ("不用 LoRA，全参微调", "full", "finetuning"),
    ("预训练一个 7B", None, "training"),
    ("cost to pretrain 13B", None, "training"),
    ("8 张 A100 训 7B", None, "training"),
    ("4090 能跑 Llama2-13B 吗", None, "inference"),
    ("部署 32B 模型", None, "inference"),
    ("serve Qwen2.5-72B", None, "inference"),
    ("does a 70B model fit on 2x A100 80G", None, "inference"),
    ("T4 多少钱", None, None),
]


@pytest.mark.parametrize(("text", "want"), PRECISION)
def test_precision_of_the_weights(text: str, want: str) -> None:
    assert workload(text).precision == want
    assert want in get_args(WeightPrecision)


@pytest.mark.parametrize(("text", "want"), [*LENGTHS, *LOAD, *TRAINING, *MONEY])
def test_what_is_said_and_nothing_else(text: str, want: dict[str, object]) -> None:
    found = said(text)
    found.pop("purpose", None)
    assert found == want


@pytest.mark.parametrize(("text", "method", "purpose"), METHODS)
def test_method_and_purpose(text: str, method: str | None, purpose: str | None) -> None:
    found = workload(text)
    assert (found.method, found.purpose) == (method, purpose)


@pytest.mark.parametrize(
    "text",
    [
        "RTX 4090 多少钱", "A100 80G 一小时", "8 卡 A100", "腾讯 T4 3 天", "4U 服务器", "print the A100 price", "Q4 2024 的价格",
        "batch job on 3 T4s", "a batch of 20 A100 cards", "5000 块能租多久", "预算 2w", "T4 24/7 一周", "3090 和 4090 哪个贵", "第 3 名",
        "CUDA 12.4", "A100 最便宜 5 块一小时", "top 3 cheapest", "H100 2 台", "10 hours a day", "阿里云 8 核 32G", "$2/h", "我们组三个人",
        "rank 3 clouds", "租 1T 内存的机器", "自己的4090电费一块五一小时", "一天 1 亿 token 要多少钱", "price per 1M tokens", "point 4 of the list",
        "每百万 token 成本", "多轮对话", "5 分钟", "30 度", "context is everything", "3D 渲染", "16 核",
    ],
)  # fmt: skip
def test_other_numbers_are_no_workload(text: str) -> None:
    assert said(text).keys() <= {"purpose", "country"}


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("8 张 A100 训 7B 1T token 要几天多少钱", {"memory_gb": (), "parameters_b": (D(7),), "count": 8}),
        ("pretrain 13B on 300B tokens with 64 H100", {"parameters_b": (D(13),), "count": 64}),
        ("买 4090，电价 0.6 元/度", {"money": None, "gpus": ("RTX 4090",)}),
        ("首 token 1 秒内，租 3 天", {"count": None}),
        ("13b 16G显存能跑吗", {"parameters_b": (D(13),), "memory_gb": (D(16),)}),
        ("8 卡 4090 训 7B，batch 16", {"count": 8}),
        ("用 1 万条数据微调 7B 要多久", {"rows": (10000,)}),
    ],
)
def test_a_figure_of_the_workload_is_no_other_quantity(text: str, slots: dict[str, object]) -> None:
    found = read(text).slots
    assert {name: getattr(found, name) for name in slots} == slots


def test_a_time_to_first_token_is_no_period_and_a_rental_is() -> None:
    assert [period.value for period in read("首 token 1 秒内，租 3 天").slots.periods] == [3]


@pytest.mark.parametrize("text", ["ZeRO-3", "zero_stage 0"])
def test_a_stage_is_no_bad_quantity(text: str) -> None:
    assert read(text).bad_quantity is None


@pytest.mark.parametrize(
    "text", ["那 int4 呢", "batch 4 呢", "上下文 32k 呢", "换成 QLoRA", "and at 8-bit?", "并发 100 呢"]
)
def test_a_changed_workload_leans_on_what_came_before(text: str) -> None:
    assert read(text).leans


def test_a_follow_up_keeps_what_it_does_not_name() -> None:
    old = workload("并发 50，int4，上下文 8k-16k，电价 0.6 元/度")
    new = merged(old, workload("并发 100，电价 0.8"))
    assert (new.concurrency, new.precision, new.context_tokens, new.upper_ends) == (
        100,
        "int4",
        16384,
        ("context_tokens",),
    )
    assert (new.electricity_price, new.electricity_currency) == (D("0.8"), "CNY")


def test_another_precision_ends_the_word_quantised() -> None:
    assert merged(workload("量化后的 70B"), workload("fp16")) == Workload(precision="fp16")


def test_another_method_drops_the_rank() -> None:
    assert merged(workload("LoRA rank 8"), workload("全参微调")).lora_rank is None


def test_what_is_said_of_the_cache_is_not_said_of_the_weights() -> None:
    found = workload("int4 的 70B，KV cache 用 fp8")
    assert (found.precision, found.kv_precision) == ("int4", "fp8")
    assert found.kv_precision in get_args(CachePrecision)


NUMBERS = st.integers(1, 99_999)


@settings(max_examples=60)
@given(NUMBERS)
@example(4090)  # a card is called so
@example(5050)
def test_a_stated_number_comes_back(number: int) -> None:
    assert workload(f"batch size {number}").batch_size == number
    assert workload(f"{number} 个并发").concurrency == number
    assert workload(f"上下文 {number}").context_tokens == number
    assert workload(f"输入 {number} 输出 7").input_tokens == number
    assert workload(f"{number}B tokens").training_tokens == number * 10**9
    assert workload(f"每条 {number} token").tokens_per_row == number


@settings(max_examples=60)
@given(st.integers(1, 100), st.sampled_from(["利用率 {}%", "{}% utilisation", "utilization at {} percent"]))
def test_a_share_comes_back_between_nothing_and_one(percent: int, phrase: str) -> None:
    assert workload(phrase.format(percent)).utilisation == D(percent) / 100


WORDS = [
    "batch",
    "上下文",
    "8k",
    "1T",
    "token",
    "-",
    "/",
    "1e999",
    "int4",
    "每条",
    "百万",
    "电价",
    "块",
    "五",
    "zero",
    "3",
    "\n",
    "%",
    "²",
    "ⅷ",
    "٣",
    "=",
    "首token",
    "ms",
    "并发",
]


@settings(max_examples=100)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=14).map("".join)))
def test_no_text_breaks_it(text: str) -> None:
    found = read_workload(text)
    assert isinstance(found, Said)
    assert all(0 <= start < end <= len(text) for start, end in (*found.spans, *found.numbers))
    read(text)


@pytest.mark.parametrize(
    ("question", "want"),
    [
        ("FSDP 13B on 4 A100 40GB enough?", {"purpose": "training", "method": "full", "zero_stage": "fsdp"}),
        ("DDP 7B on 8 A100 80GB fits?", {"purpose": "training", "method": "full"}),
        ("ZeRO-2 13B 8 张 A100 40GB 够吗", {"purpose": "training", "method": "full", "zero_stage": 2}),
        ("KV cache Llama-3.1-70B 32k", {"context_tokens": 32 * 1024}),
        ("Llama-3.1-8B KV 缓存 fp8 128k", {"context_tokens": 128 * 1024, "kv_precision": "fp8", "precision": None}),
        ("Qwen2.5-7B KV 缓存 8k，权重 fp8", {"precision": "fp8", "kv_precision": None}),
        ("Qwen2.5-7B 一张 4090 最大能开多少并发，8k 上下文", {"concurrency": None, "context_tokens": 8 * 1024}),
        ("8 张 4090 用一年，买还是租", {"horizon_years": D(1)}),
        ("electricity cost of 8 H100 for a year at $0.1/kWh at 70%", {"electricity_price": D("0.1"), "utilisation": D("0.7")}),
        ("electricity $0.1, 60% utilisation", {"electricity_price": D("0.1"), "electricity_currency": "USD"}),
        ("train 7B 1T on 64 H100", {"training_tokens": 10**12}),
    ],
)  # fmt: skip
def test_what_a_whole_turn_settles(question: str, want: dict[str, object]) -> None:
    found = workload(question)
    assert {name: getattr(found, name) for name in want} == want


@pytest.mark.parametrize(
    ("text", "purpose"),
    [
        ("先别折腾训练，把它部署起来", "inference"), ("no training, just deploy it", "inference"), ("不打算微调，只推理", "inference"),
        ("要不要微调", "finetuning"), ("能不能训练", "training"), ("not only deploy but fine-tune it", "finetuning"), ("训练和部署", "training"),
    ],
)  # fmt: skip
def test_a_purpose_put_aside_is_none(text: str, purpose: str) -> None:
    assert workload(text).purpose == purpose


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("四块A40，用一张，剩下三张干别的", 1), ("four A40s: is one A40 enough, the other three idle", 1),
        ("最多8张A100", 8), ("至多 4 张", 4), ("顶多8张A100", 8),
    ],
)  # fmt: skip
def test_cards_left_over_are_not_the_cards_and_at_most_adds_nothing(text: str, count: int) -> None:
    reading = read(text)
    assert (reading.slots.count, reading.count_delta) == (count, 0)


def test_the_rest_of_an_order_is_a_line_of_it() -> None:
    assert [item.count for item in read("3 张 A100，剩下 2 张 T4").slots.items] == [3, 2]
