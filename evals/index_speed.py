"""`python -m evals.index_speed [--passages 100000] [--embed 0]`: how fast the index is when large.

Writes made-up passages in both languages, rows and texts, with ready-made vectors into a folder of its own, opens
that in a fresh process and searches it with the questions of cases/. `--embed N` also embeds N passages with the
real model, bare and through the index, and times searches with the embedding call. Prints Markdown; measures no
quality. Figures are upper bounds on a machine that does other work.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from evals.case_files import FOLDER
from ingest.builtin import builtin_passages
from knowledge.index import Index, Vectors, build_index, open_index
from knowledge.passage import Passage

DIMENSION = 384
PER_TOPIC = 25  # passages that lie near each other
WARM_UP = 5
EMBEDDED_QUESTIONS = 200
BARS = {
    "write s": 600.0,
    "open s": 10.0,
    "search p95 ms": 60.0,
    "with embedding p95 ms": 150.0,
    "of bare encode %": 80.0,
}
ZH_COLUMNS = ("云厂商", "显卡", "数量", "显存（GB）", "地域", "计费方式", "价格（元/小时）", "实例", "日期", "备注")
EN_COLUMNS = (
    "provider",
    "GPU",
    "count",
    "memory (GB)",
    "region",
    "billing",
    "price (USD/h)",
    "instance",
    "date",
    "note",
)
GPUS = ("A100", "H100", "H800", "A800", "T4", "L4", "L40S", "RTX 4090", "V100", "A10", "昇腾 910B", "H20", "MI300X")


@dataclass(frozen=True)
class ReadyVectors:
    """An embedder that knows vectors beforehand: questions lie near passages picked at random."""

    near: Vectors
    ask: Callable[[list[str]], object] | None = None
    fingerprint: str = "synthetic"

    def embed_queries(self, texts: list[str]) -> Vectors:
        if self.ask:
            self.ask(texts)
        draw = np.random.default_rng(len(texts[0]))
        rows = self.near[draw.integers(0, len(self.near), len(texts))]
        return _unit(rows + 0.02 * draw.standard_normal(rows.shape))

    def embed_passages(self, texts: list[str]) -> Vectors:
        return _unit(np.random.default_rng(7).standard_normal((len(texts), DIMENSION)))


def synthetic(count: int) -> list[Passage]:
    """`count` passages, half of them rows, half in each language, over a vocabulary with few common and many rare words."""
    draw = random.Random(11)
    words = {"zh": _vocabulary("zh", draw), "en": _vocabulary("en", draw)}
    shares = list(accumulate(1 / (rank + 3) ** 0.85 for rank in range(len(words["zh"]))))
    passages = []
    for number in range(count):
        language = draw.choice(("zh", "en"))
        picked = draw.choices(words[language], cum_weights=shares, k=draw.randint(14, 40))
        row = draw.random() < 0.5
        text = _row(language, number, picked, draw) if row else _prose(language, picked)
        passages.append(
            Passage(
                id=f"d{number // 400}.{number}", topic=f"d{number // 400}#{number}", language=language,  # type: ignore[arg-type]
                title=f"文件 {number // 400}", section=" ".join(picked[:3]), text=text, source="s", locator=f"行 {number}",
                as_of=None, kind="row" if row else "text",
            )
        )  # fmt: skip
    return passages


def _vocabulary(language: str, draw: random.Random) -> list[str]:
    """Words of the built-in passages first, then 20,000 made-up ones of their characters."""
    texts = [passage.text for passage in builtin_passages() if passage.language == language]
    if language == "zh":
        characters = [each for text in texts for each in text if "\u4e00" <= each <= "\u9fff"]
        found = ["".join(characters[at : at + draw.randint(2, 4)]) for at in range(0, len(characters), 3)]
        made = ["".join(draw.choices(characters, k=draw.randint(2, 4))) for _ in range(20_000)]
    else:
        found = [word for text in texts for word in text.split() if word.isalpha()]
        parts = ("ser", "ver", "net", "core", "mem", "ory", "flow", "tur", "bo", "lan", "ter", "ix", "on", "al", "pro")
        made = ["".join(draw.choices(parts, k=draw.randint(2, 4))) for _ in range(20_000)]
    draw.shuffle(found)
    return (list(dict.fromkeys(found)) + made)[:20_000]


def _row(language: str, number: int, picked: Sequence[str], draw: random.Random) -> str:
    columns = ZH_COLUMNS if language == "zh" else EN_COLUMNS
    cells = (
        picked[0], draw.choice(GPUS), draw.choice((1, 2, 4, 8)), draw.choice((16, 24, 40, 80)), picked[1], picked[2],
        round(draw.uniform(0.5, 90), 3), f"gn{draw.randint(5, 8)}.{draw.choice((2, 4, 8))}xlarge{number % 97}",
        f"2026-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}", " ".join(picked[3:8]),
    )  # fmt: skip
    return "; ".join(f"{column} = {cell}" for column, cell in zip(columns, cells, strict=True))


def _prose(language: str, picked: Sequence[str]) -> str:
    if language == "en":
        return " ".join(picked).capitalize() + "."
    return "，".join("".join(picked[at : at + 4]) for at in range(0, len(picked), 4)) + "。"


def clustered(count: int) -> Vectors:
    """Unit vectors as a model gives them: all in one cone, topics in heaps."""
    draw = np.random.default_rng(5)
    topics = draw.standard_normal((count // PER_TOPIC + 1, DIMENSION), dtype=np.float32)
    rows = topics[draw.integers(0, len(topics), count)] + 0.6 * draw.standard_normal(
        (count, DIMENSION), dtype=np.float32
    )
    return _unit(rows + 2.5 * draw.standard_normal(DIMENSION, dtype=np.float32))


def questions() -> list[str]:
    """The questions of all case files, mixed."""
    found = []
    for file in sorted(FOLDER.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            found.append(case.get("question") or case.get("text"))
    found = sorted({each for each in found if each})
    random.Random(3).shuffle(found)
    return found


def write(folder: Path, count: int) -> float:
    """Write `count` passages in documents of up to 20,000; seconds of index.add, tokenising included."""
    passages, vectors = synthetic(count), clustered(count)
    np.save(folder / "near.npy", vectors[:: max(1, count // 500)])
    builtin = [replace(passages[0], id="builtin", topic="builtin#1", text="GPU 图形处理器")]
    seconds = 0.0
    with build_index(folder, builtin, ReadyVectors(vectors[:1])) as index:
        for start in range(0, count, 20_000):
            started = time.perf_counter()
            index.add(f"v{start}", passages[start : start + 20_000], vectors=vectors[start : start + 20_000])
            seconds += time.perf_counter() - started
            _say(f"{min(start + 20_000, count):,} written, {seconds:.0f} s")
        (folder / "live.json").write_text(json.dumps(sorted(index.versions().keys() - {"builtin"})))
    return seconds


def opened(folder: Path, real: bool) -> dict[str, float]:
    """Open in this process and search; seconds, milliseconds and MB by name."""
    near, live = np.load(folder / "near.npy"), json.loads((folder / "live.json").read_text())
    ask = None
    if real:
        from knowledge.embedding import load_embedder

        ask = load_embedder().embed_queries
    before = _resident_mb()
    started = time.perf_counter()
    with open_index(folder, ReadyVectors(near), live=live) as index:
        figures = {"open s": time.perf_counter() - started}
        _searched(index, questions()[:WARM_UP])
        figures |= _percentiles("search", _searched(index, questions()))
        figures["memory of the index MB"] = _resident_mb() - before
    if ask:
        with open_index(folder, ReadyVectors(near, ask), live=live) as index:
            figures |= _percentiles("with embedding", _searched(index, questions()[:EMBEDDED_QUESTIONS]))
    return figures


def embedded(folder: Path, count: int) -> dict[str, float]:
    """Passages per second of the bare model and of index.add over the same texts, one after the other, twice.

    The share in processor time is shown too: other work on the machine distorts it less.
    """
    from knowledge.embedding import load_embedder
    from knowledge.text_vectors import embedded_text

    embedder, passages = load_embedder(), synthetic(count)
    texts = [embedded_text(passage) for passage in passages]
    embedder.embed_passages(texts[:32])  # the first call is slower
    bare, through = [], []
    with build_index(folder / "embedded", passages[:1], embedder) as index:
        for turn in range(2):
            bare.append(_taken(lambda: embedder.embed_passages(texts)))
            through.append(_taken(partial(index.add, f"v{turn}", passages)))
            index.remove(f"v{turn}")
    (bare_s, bare_cpu_s), (through_s, through_cpu_s) = (map(min, zip(*each, strict=True)) for each in (bare, through))
    return {
        "bare encode passages/s": count / bare_s,
        "index.add passages/s": count / through_s,
        "of bare encode %": 100 * bare_s / through_s,
        "of bare encode %, processor time": 100 * bare_cpu_s / through_cpu_s,
    }


def _taken(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the clock and of processor time."""
    started, cpu_started = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - cpu_started


def _searched(index: Index, asked: Sequence[str]) -> list[tuple[float, float]]:
    """Milliseconds of each search, on the clock and of processor time."""
    search = partial(index.search, language="zh", limit=8)
    taken = [_taken(partial(search, question)) for question in asked]
    return [(seconds * 1000, cpu_seconds * 1000) for seconds, cpu_seconds in taken]


def _percentiles(name: str, times: Sequence[tuple[float, float]]) -> dict[str, float]:
    clock, cpu = (sorted(each) for each in zip(*times, strict=True))
    middle, high = len(times) // 2, int(len(times) * 0.95)
    return {f"{name} p50 ms": clock[middle], f"{name} p95 ms": clock[high], f"{name} p95 ms, processor time": cpu[high]}


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def _unit(rows: NDArray[np.floating]) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def main(
    passages: Annotated[int, typer.Option(min=1000)] = 100_000,
    embed: Annotated[int, typer.Option(help="passages to embed with the real model; 0 for none")] = 0,
    reopen: Annotated[Path | None, typer.Option(hidden=True)] = None,
) -> None:
    """Print the figures as Markdown, against the bars."""
    if reopen:
        sys.stdout.write(json.dumps(opened(reopen, embed > 0)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = {"write s": write(folder, passages)}
        figures["files MB"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
        command = [sys.executable, "-m", "evals.index_speed", "--reopen", name, "--embed", str(embed)]
        figures |= json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        if embed:
            figures |= embedded(folder, embed)
    lines = [f"{passages:,} passages, {len(questions())} questions", "", "| figure | measured | bar |", "|---|---|---|"]
    lines += [f"| {figure} | {value:,.1f} | {BARS.get(figure, '')} |" for figure, value in figures.items()]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    typer.run(main)
