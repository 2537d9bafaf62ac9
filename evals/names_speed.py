"""`python -m evals.names_speed`: how long linking the names of a question takes; 5 ms at the median are the limit.

Every question has 200 characters, as long as people's longer ones. The first call compiles the spellings and is
shown on its own.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import typer

from knowledge.gpu_names import gpu_forms
from knowledge.names import link, normalise

CHARACTERS = 200
ROUNDS = 100
LIMIT_MS = 5.0
QUESTIONS = (
    "阿里云的 A100 80G PCIe 和腾讯云 GT4.4XLARGE96 哪个便宜？我要用 8 张卡微调 qwen2.5-7b-instruct，每天跑 10 个小时，一共 30 天，预算 5 万元；"
    "如果换成 RunPod 或者 Vast.ai 的 H100 SXM5，又要多少钱？顺便问一下魔改 4090 48G 和 RTX 6000 Ada 能不能跑 deepseek r1 distill qwen 32b，",
    "What does renting eight H100 SXM cards on Lambda Labs or CoreWeave cost for three weeks, compared with p5.48xlarge on AWS, "
    "and would two RTX 4090s with 24GB each be enough to serve Llama-3.1-70B in int4 with a context of 8k tokens?",
    "我们公司想买几台服务器放在自己的机房里做大模型的训练和推理，老板一直在问到底是租云上的显卡便宜还是自己买卡便宜，",
    "Please explain in simple words how memory bandwidth, interconnect and batch size change the number of tokens per second, ",
)  # fmt: skip


def main() -> None:
    """Print first call, median, 95th percentile and the verdict."""
    questions = [(text * CHARACTERS)[:CHARACTERS] for text in QUESTIONS]
    normalised = [normalise(text) for text in questions]
    first = _milliseconds(partial(link, normalised[0]))
    _report("first call, which compiles", [first])
    median = _report("link", _measured(link, normalised))
    _report("normalise and link", _measured(lambda text: link(normalise(text)), questions))
    _report("gpu_forms", _measured(gpu_forms, ["A100 80G PCIe", "4090", "H100 NVL", "p4d.24xlarge"]))
    typer.echo(f"{'within' if median <= LIMIT_MS else 'OVER'} the limit of {LIMIT_MS:.0f} ms")


def _measured(call: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    return [_milliseconds(partial(call, text)) for _ in range(ROUNDS) for text in texts]


def _milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


def _report(what: str, times_ms: Sequence[float]) -> float:
    ordered = sorted(times_ms)
    median, p95 = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
    typer.echo(f"{what}: median {median:.2f} ms, p95 {p95:.2f} ms, n = {len(ordered)}")
    return median


if __name__ == "__main__":
    main()
