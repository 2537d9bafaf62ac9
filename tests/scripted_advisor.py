"""An advisor that plays prepared events, for the adapters' tests and for looking at the page by hand.

`python tests/scripted_advisor.py [PORT [GATE]]` serves the page with it (state goes to GPU_ADVISOR_HOME).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from assistant.evidence import Answer, Call, Card, Citation, Done, Event, Figure, Language, Prose, Timings, Working
from ingest.knowledge_base import KnowledgeBase

Script = Callable[[str, Sequence[str]], Iterator[Event]]

# Figures here are invented: what counts is how they are shown.
TIMINGS = Timings(understand=12.0, first_event=40.0, total=55.0)


class ScriptedAdvisor:
    """Plays `script` for each question and remembers what it was asked."""

    knowledge: KnowledgeBase | None = None

    def __init__(self, script: Script | None = None) -> None:
        self.script = script or echo
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]:
        self.asked.append((question, tuple(turns)))
        return self.script(question, turns)


def plain_answer(question: str, text: str, language: Language = "en") -> Answer:
    return Answer(question=question, language=language, status="answered", text=text, verified=True, timings_ms=TIMINGS)


def echo(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """Repeats the question and the earlier ones, so that a test sees what reached the advisor."""
    text = f"asked {question!r} after {list(turns)!r}"
    yield Card(markdown=text)
    yield Done(answer=plain_answer(question, text))


def broken(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """A card, then a fault whose text must never reach a reader."""
    yield Card(markdown="the card")
    raise ZeroDivisionError("secret-internals in /srv/private/file.py")


def silent(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """Ends without an Answer, which is a fault of the advisor."""
    yield Card(markdown="the card")


PRICE_ANSWER = {
    "zh": """**结论：腾讯云租 4 张 A100 跑 72 小时，共 8,118.72 元。**

| 云厂商 | 规格 | 单价（元/小时） | 数量 | 时长（小时） | 合计（元） |
|---|---|--:|--:|--:|--:|
| 腾讯云 | GT4.4XLARGE96 | 28.19 | 4 | 72 | 8,118.72 |
| 火山引擎 | ecs.pni2.3xlarge | 31.53 | 4 | 72 | 9,080.64 |
| 阿里云 | ecs.gn7e-c16g1.4xlarge | 34.74 | 4 | 72 | 10,005.12 |

公式：`28.19 元/小时 × 4 张 × 72 小时 = 8,118.72 元`（价格见 [1]，日期不详，约 3~4 年前，实际以官网为准，5~6 折常见）。
""",
    "en": """**Four A100 for 72 hours at Tencent Cloud cost CNY 8,118.72.**

| Provider | Instance | CNY per hour | GPUs | Hours | Total, CNY |
|---|---|--:|--:|--:|--:|
| Tencent Cloud | GT4.4XLARGE96 | 28.19 | 4 | 72 | 8,118.72 |
| Volcengine | ecs.pni2.3xlarge | 31.53 | 4 | 72 | 9,080.64 |
| Alibaba Cloud | ecs.gn7e-c16g1.4xlarge | 34.74 | 4 | 72 | 10,005.12 |

Formula: `28.19 CNY/h x 4 x 72 h = 8,118.72 CNY` (prices from [1], undated). Abroad it is $3.9 to $4.8 an hour.
""",
}
PROSE = {
    "zh": (
        "A100 适合公司规模的训练 [2]。",
        "如果只是**学习：**可以先用 4090，再决定是否上云 [2]。",
        "这些价格没有写明 A100 的版本与显存，比较时请留意 [1]。",
    ),
    "en": (
        "The A100 suits training at company scale [2]. ",
        "For learning, start with a 4090 and decide about the cloud later [2]. ",
        "The rows do not state the form or memory of the A100, so compare with care [1].",
    ),
}
CITATIONS = (
    Citation(
        id=1,
        title="A100 按量价格表 / A100 on-demand prices",
        source="GPU 选型文章一",
        locator="表 2, 第 1-3 行",
        excerpt=(
            "| 云厂商 | 规格 | 元/小时 |\n|---|---|--:|\n"
            "| 腾讯云 | GT4.4XLARGE96 | 28.19 |\n| 火山引擎 | ecs.pni2.3xlarge | 31.53 |"
        ),
        as_of="2023",
    ),
    Citation(
        id=2,
        title="选卡建议 <按场景>",
        source="GPU 选型文章一",
        locator="§ 推荐",
        excerpt=(
            "本地研究用 **4090**；公司规模用 A100。<script>alert(1)</script>\n\n"
            "- 预算有限：A10 / T4\n- 性价比：AutoDL\n\n![pixel](http://outside.example/pixel.png)"
        ),
    ),
)


def price_answer(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """A realistic price card with citations and figures, in the language of the question; slow, as a model is."""
    language: Language = "zh" if any("\u4e00" <= character <= "\u9fff" for character in question) else "en"
    call = Call(
        tool="rental_cost",
        arguments={"provider": "tencent", "gpu": "A100", "gpus": 4, "hours": 72},
        result=8118.72,
        formula="28.19 CNY/h × 4 × 72 h = 8118.72 CNY",
    )
    yield Card(markdown=PRICE_ANSWER[language], calls=(call,), citations=CITATIONS)
    yield Working(message={"zh": "正在撰写说明…", "en": "Writing the explanation …"}[language])
    yield Prose(markdown="\n\n")
    for sentence in PROSE[language]:
        time.sleep(0.8)
        yield Prose(markdown=sentence)
    figures = (
        Figure(text="8,118.72", value=Decimal("8118.72"), unit="CNY", evidence="call:0"),
        Figure(text="28.19", value=Decimal("28.19"), unit="CNY/h", evidence="cite:1"),
        Figure(text="34.74", value=Decimal("34.74"), unit="CNY/h", evidence="cite:1"),
    )
    text = f"{PRICE_ANSWER[language]}\n\n{''.join(PROSE[language])}"
    answer = plain_answer(question, text, language)
    update = {"calls": (call,), "citations": CITATIONS, "figures": figures, "dropped": ("3.5x",), "model": "scripted"}
    yield Done(answer=answer.model_copy(update=update))


def by_question(question: str, turns: Sequence[str]) -> Iterator[Event]:
    """The script that the first word of the question names, the price answer otherwise."""
    scripts: dict[str, Script] = {"echo": echo, "break": broken, "silent": silent}
    return scripts.get(question.split()[0], price_answer)(question, turns)


@contextlib.contextmanager
def serving(state: Path, gate: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """This advisor behind a real server on a free port, in a process of its own (Gradio leaks event loops)."""
    command = [sys.executable, __file__, "0", *([str(gate)] if gate else [])]
    environment = {**os.environ, "GPU_ADVISOR_HOME": str(state), "PYTHONWARNINGS": "default"}
    with (state / "server.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=30)


def ready_url(process: subprocess.Popen[str]) -> str:
    """The address that the server prints once it is ready; an empty string when it ended instead."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def main(port: int = 7860, gate: str = "") -> None:
    """Serve; with `gate`, the advisor opens only once a file of that name exists."""
    from assistant.api import serve

    def open_advisor() -> ScriptedAdvisor:
        while gate and not Path(gate).exists():
            time.sleep(0.02)
        return ScriptedAdvisor(by_question)

    serve("127.0.0.1", port, open_advisor)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 7860, "".join(sys.argv[2:3]))
