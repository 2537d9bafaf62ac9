"""32 readers at once: how long answers take that code decides, whether any reader gets another's, and whether memory grows.

Run: python -m evals.page_load [--way api|page|both] [--url URL]. It starts a server of its own on a free port, with the
embedding model and without a language model, in a folder that is removed afterwards; needs the model files. Each
reader has a conversation, and asks sums whose result is known and no other reader's. The bars are those of BARS; the load
is made by this process, on the same cores as the server.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evals.load_clients import Outcome, Page, by_api, by_page, ms_since
from evals.load_questions import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

Way = Literal["api", "page"]

BARS = {"p95 ms": 2000.0, "errors": 0.0, "cross-talk": 0.0, "growth %": 10.0, "page ready ms": 2000.0}
NO_MODEL = "http://127.0.0.1:9/v1"  # the discard port: nothing listens there
WARM_UP_CHATS = 100
CHATS = 1000
CHATS_AT_ONCE = 4
SETTLING_SECONDS = 3.0


@dataclass
class Load:
    """The readers of a run, and how each asks."""

    client: httpx.AsyncClient
    pages: dict[str, Page]
    way: Way

    async def one(self, reader: Reader, session: str) -> Outcome:
        """The next question of a reader; a connection that breaks is an error of the server."""
        import httpx

        asked, started = reader.question(), time.perf_counter()
        try:
            if self.way == "page":
                outcome = await by_page(self.client, self.pages[reader.language], session, reader, asked)
            else:
                outcome = await by_api(self.client, reader, asked)
        except httpx.HTTPError as error:
            outcome = Outcome(0, ms_since(started), "error", repr(error))
        return replace(outcome, asked=asked.text)

    async def readers(self, count: int, seconds: float, gap_seconds: float) -> list[Outcome]:
        """Each reader asks every `gap_seconds`, or as soon as the last answer has come; they do not start together."""
        until = time.perf_counter() + seconds
        each = (self._reader(number, until, gap_seconds, count) for number in range(count))
        return [outcome for outcomes in await asyncio.gather(*each) for outcome in outcomes]

    async def _reader(self, number: int, until: float, gap_seconds: float, count: int) -> list[Outcome]:
        session = f"load{number}{self.way}{os.getpid()}"
        reader = Reader(number, "zh" if number % 2 else "en", session)
        outcomes: list[Outcome] = []
        await asyncio.sleep(gap_seconds * number / count)
        due = time.perf_counter()
        while due < until:
            outcomes.append(await self.one(reader, session))
            due = max(due + gap_seconds, time.perf_counter())
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
        return outcomes

    async def chats(self, first: int, count: int) -> list[Outcome]:
        """So many new conversations of a question each, a few at a time, as fast as they are answered."""
        numbers = iter(range(first, first + count))

        async def some() -> list[Outcome]:
            outcomes = []
            for number in numbers:
                session = f"chat{number}{self.way}{os.getpid()}"
                outcomes.append(await self.one(Reader(number, "zh" if number % 2 else "en", session), session))
            return outcomes

        return [outcome for found in await asyncio.gather(*(some() for _ in range(CHATS_AT_ONCE))) for outcome in found]


def family_of(pid: int) -> set[int]:
    """A process and all below it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return family


def resident_mb(pid: int) -> float:
    """Memory of a process and all below it, in MB."""
    pages = 0
    for member in family_of(pid):
        with suppress(OSError):
            pages += int(Path(f"/proc/{member}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def processor_ms(pid: int) -> tuple[float, float]:
    """Processor time of a process, and of all below it (the embedding model): what other work on the machine distorts least."""
    ticks = {}
    for member in family_of(pid):
        with suppress(OSError):
            cells = Path(f"/proc/{member}/stat").read_text().rpartition(")")[2].split()
            ticks[member] = int(cells[11]) + int(cells[12])
    ms = {member: spent * 1000 / os.sysconf("SC_CLK_TCK") for member, spent in ticks.items()}
    return ms.get(pid, 0.0), sum(ms.values()) - ms.get(pid, 0.0)


@contextmanager
def served(state: Path) -> Iterator[tuple[str, int]]:
    """Address and process id of a server whose conversations and index stand in `state`."""
    environment = {**os.environ, "LLM_BASE_URL": NO_MODEL, "LLM_MODEL": "down"}
    command = [sys.executable, "-m", "evals.page_load", "--serve", str(state)]
    with (state / "server.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            url = process.stdout.readline().strip() if process.stdout else ""
            if not url:
                raise RuntimeError(f"the server did not come up: {(state / 'server.log').read_text()[-2000:]}")
            yield url, process.pid
        finally:
            process.terminate()
            process.communicate(timeout=30)


def serve(state: Path) -> None:
    """Be that server, until terminated: as `gpu-advisor serve`, but with an index of the built-in knowledge alone."""
    import shutil

    from assistant.web.page import stay_local

    stay_local()
    from filelock import FileLock

    from assistant.advisor import open_advisor
    from assistant.api import serve as serve_app
    from evals.suite import gate_folder
    from ingest.knowledge_base import open_knowledge
    from knowledge.embedding_process import EmbedderProcess

    embedder, built, own = EmbedderProcess(), gate_folder(), state / "knowledge"
    with FileLock(built.with_suffix(".lock")):
        open_knowledge(built, embedder).close()
        shutil.copytree(built, own)
    advisor = open_advisor(None, embedder, own)
    os.environ["GPU_ADVISOR_HOME"] = str(state)
    serve_app("127.0.0.1", 0, lambda: advisor)


async def measured(url: str, pid: int | None, way: Way, users: int, seconds: float, gap: float) -> dict[str, float]:
    """All figures of one way of asking."""
    import httpx

    async with httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=None)) as client:
        pages = {language: await Page.read(client, language) for language in ("zh", "en")} if way == "page" else {}
        load = Load(client, pages, way)
        outcomes = await load.chats(0, WARM_UP_CHATS)
        figures = {"RSS after the warm-up MB": resident_mb(pid)} if pid else {}
        spent = processor_ms(pid) if pid else (0.0, 0.0)
        timed = await load.readers(users, seconds, gap)
        figures |= _figures(timed, seconds)
        if pid:
            own, below = (now - before for now, before in zip(processor_ms(pid), spent, strict=True))
            figures["processor ms per question"] = own / len(timed)
            figures["processor ms per question, embedding"] = below / len(timed)
        if pid:
            outcomes += await _memory(load, pid, figures)
        outcomes += timed
    figures["errors"] = float(sum(each.fault == "error" for each in outcomes))
    figures["cross-talk"] = float(sum(each.fault == "cross-talk" for each in outcomes))
    for each in [each for each in outcomes if each.fault][:5]:
        sys.stderr.write(f"{each.fault}: {each.asked}\n{each.seen[:500]}\n")
    return figures


async def _memory(load: Load, pid: int, figures: dict[str, float]) -> list[Outcome]:
    """Memory before, after a fifth of and after all the chats; into `figures`."""
    await asyncio.sleep(SETTLING_SECONDS)
    figures["RSS after the load MB"] = before = resident_mb(pid)
    outcomes = await load.chats(WARM_UP_CHATS, CHATS // 5)
    figures[f"RSS after {CHATS // 5} chats MB"] = resident_mb(pid)
    outcomes += await load.chats(WARM_UP_CHATS + CHATS // 5, CHATS - CHATS // 5)
    await asyncio.sleep(SETTLING_SECONDS)
    figures[f"RSS after {CHATS:,} chats MB"] = after = resident_mb(pid)
    figures["growth %"] = 100 * (after - before) / before
    return outcomes


def _figures(outcomes: Sequence[Outcome], seconds: float) -> dict[str, float]:
    first, end = sorted(each.first_ms for each in outcomes), sorted(each.end_ms for each in outcomes)
    middle, high = len(end) // 2, int(len(end) * 0.95)
    return {
        "questions": float(len(outcomes)), "questions per s": len(outcomes) / seconds,
        "first event p50 ms": first[middle], "first event p95 ms": first[high],
        "p50 ms": end[middle], "p95 ms": end[high], "max ms": end[-1],
    }  # fmt: skip


def _table(way: str, figures: dict[str, float]) -> str:
    lines = [f"| {way} | measured | bar |", "|---|---|---|"]
    for name, value in figures.items():
        bar = BARS.get(name)
        missed = " **missed**" if bar is not None and value > bar else ""
        lines.append(f"| {name} | {value:,.1f}{missed} | {'' if bar is None else f'{bar:,.0f}'} |")
    return "\n".join(lines)


def main(
    url: Annotated[str, typer.Option(help="a server that runs; without it one is started")] = "",
    pid: Annotated[int, typer.Option(help="its process, to measure its memory")] = 0,
    way: Annotated[str, typer.Option(help="api, page or both")] = "both",
    users: Annotated[int, typer.Option(min=1)] = 32,
    seconds: Annotated[float, typer.Option(min=1)] = 120,
    gap: Annotated[float, typer.Option(help="seconds between two questions of a reader")] = 5,
    serve_in: Annotated[Path | None, typer.Option("--serve", hidden=True)] = None,
) -> None:
    """Print the figures as Markdown, against the bars; exit status 1 where one is missed."""
    if serve_in:
        serve(serve_in)
        return
    ways: list[Way] = ["api", "page"] if way == "both" else ["page" if way == "page" else "api"]
    missed = False
    for each in ways:
        with tempfile.TemporaryDirectory() as folder:
            if url:
                figures = asyncio.run(measured(url, pid or None, each, users, seconds, gap))
            else:
                with served(Path(folder)) as (own, process):
                    figures = asyncio.run(measured(own, process, each, users, seconds, gap))
        sys.stdout.write(_table(each, figures) + "\n\n")
        missed = missed or any(figures.get(name, 0) > bar for name, bar in BARS.items())
    raise SystemExit(int(missed))


if __name__ == "__main__":
    typer.run(main)
