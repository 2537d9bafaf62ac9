"""The commands about the knowledge base: ingest, knowledge list, remove, status, rebuild, tables, accept.

While `serve` runs they go through its HTTP API, otherwise they open index and library themselves. Parses and prints;
what happens stands in ingest/knowledge_base.py.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_errors import fail, index_progress, said_plainly, say, say_json

if TYPE_CHECKING:
    from assistant.knowledge_over_http import RemoteKnowledge
    from ingest.knowledge_base import KnowledgeBase
    from knowledge.library import Library

knowledge_app = typer.Typer(no_args_is_help=True, help="知识库 / the knowledge base")


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="文件或文件夹 / files or folders")],
) -> None:
    """Take documents into the knowledge base: Markdown, text, HTML, PDF, DOCX, XLSX, PPTX, CSV, or ZIP of these."""
    from tqdm import tqdm

    from assistant.outcomes import shown, summary
    from ingest.incoming import Refused, from_paths

    outcomes = []
    with (
        said_plainly(),
        _knowledge("gpu-advisor ingest") as base,
        tqdm(unit=" 段 / passages", disable=None, leave=False) as bar,
    ):

        def progress(done: int, total: int) -> None:
            bar.total, bar.n = total, done
            bar.refresh()

        for outcome in base.ingest(from_paths(paths), progress):
            bar.clear()
            say(shown(outcome))
            outcomes.append(outcome)
    say(summary(outcomes))
    if any(isinstance(outcome, Refused) for outcome in outcomes):
        sys.exit(1)


@knowledge_app.command("list")
def list_documents(
    as_json: Annotated[bool, typer.Option("--json", help="every column, with the origin of each")] = False,
) -> None:
    """The documents taken in; what ships with the product is not listed."""
    from knowledge.library import Library
    from knowledge.weights import home

    with said_plainly():
        library = Library(home() / "library.sqlite")
        documents = library.documents()
        library.close()
    if as_json:
        say_json(json.dumps([asdict(each) for each in documents], ensure_ascii=False, indent=2))
        return
    for each in documents:
        say(
            f"{each.id}  {each.name}  {each.passages} 段 / passages  {each.table_rows} 表格行 / table rows  {each.added_at}"
        )
    if not documents:
        say("还没有导入文档：gpu-advisor ingest 文件 / No documents yet: gpu-advisor ingest FILE")


@knowledge_app.command("remove")
def remove(
    documents: Annotated[list[str], typer.Argument(help="编号或文件名 / id or name, as `knowledge list` shows them")],
) -> None:
    """Take documents out, with every trace of them."""
    with said_plainly(), _knowledge("gpu-advisor knowledge remove") as base:
        for wanted in documents:
            gone = base.remove(wanted)
            say(
                f"已删除 / removed: {gone.document.name} [{gone.document.id}] {gone.passages} 段 / passages, "
                f"{gone.price_rows} 价格行 / price rows, {gone.cards} 张卡 / cards"
            )


@knowledge_app.command("status")
def status(as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """How much the knowledge base holds, and which model embedded it."""
    with said_plainly(), _knowledge("gpu-advisor knowledge status") as base:
        state = base.state()
    if as_json:
        say_json(json.dumps(asdict(state), ensure_ascii=False, indent=2))
        return
    say(f"内置段落和问法 / built-in passages and questions: {state.builtin_passages}")
    say(f"导入文档 / documents: {state.documents} ({state.document_passages} 段 / passages)")
    say(f"向量模型 / embedding model: {state.embedder}")
    say(f"{state.folder}: {state.size_bytes / 2**20:.1f} MiB")


@knowledge_app.command("rebuild")
def rebuild() -> None:
    """Build the index anew beside the old one, check it, swap it in and remove the old one."""
    from assistant.owner import acquire
    from ingest.knowledge_base import rebuild as build
    from knowledge.embedding import load_embedder
    from knowledge.weights import home

    with (
        said_plainly(),
        acquire(command="gpu-advisor knowledge rebuild"),
        build(home(), load_embedder(), index_progress) as base,
    ):
        say(f"{base.index.count()} 段 / passages")


@contextmanager
def _knowledge(command: str) -> Iterator[KnowledgeBase | RemoteKnowledge]:
    """The knowledge base: of the running server, or opened here for `command`."""
    from assistant.owner import acquire, current_owner
    from knowledge.weights import home

    owner = current_owner()
    if owner and owner.url:
        from assistant.knowledge_over_http import RemoteKnowledge

        yield RemoteKnowledge(owner)
        return
    with acquire(command=command):
        from ingest.knowledge_base import open_knowledge
        from knowledge.embedding import load_embedder

        with open_knowledge(home(), load_embedder(), index_progress) as base:
            yield base


@knowledge_app.command("tables")
def tables(
    document: Annotated[
        str, typer.Argument(help="编号或文件名，不写则全部 / id or name; all documents without it")
    ] = "",
) -> None:
    """Tables of prices and specifications recognised in the documents, with a preview and what they do not state."""
    from assistant.table_commands import tables_text

    with _typed_tables() as library:
        say(tables_text(library, document or None))


@knowledge_app.command("accept")
def accept(
    document: Annotated[str, typer.Argument(help="编号或文件名 / id or name, as `knowledge list` shows them")],
    number: Annotated[int, typer.Argument(help="表的序号 / number of the table, as `knowledge tables` shows it")],
    provider: Annotated[str, typer.Option(help="表里没写的云厂商 / the provider, where the table names none")] = "",
    currency: Annotated[str, typer.Option(help="CNY, USD ...")] = "",
    per: Annotated[str, typer.Option(help="hour, month, gpu-hour")] = "",
    as_of: Annotated[str, typer.Option(help="2026-05-24, 2024-07, 2023-Q3")] = "",
    allow_unusual: Annotated[bool, typer.Option("--allow-unusual", help="take implausible prices, flagged")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="check and report, write nothing")] = False,
) -> None:
    """Take a recognised table into the catalogue: prices (undo: prices undo) or cards that we do not have."""
    from datetime import date

    from assistant.table_commands import AcceptOptions, accept_table

    options = AcceptOptions(provider, currency, per, as_of, allow_unusual, dry_run)
    with _typed_tables() as library:
        text, taken = accept_table(library, document, number, options, date.today())
    say(text)
    if not taken:
        sys.exit(1)


@contextmanager
def _typed_tables() -> Iterator[Library]:
    """The list of documents; what is wrong with a table, or with what it goes into, ends the command plainly."""
    from assistant.table_commands import UnknownPeriodError
    from ingest.blocks import FileRefusedError
    from ingest.price_formats import PriceFileError
    from ingest.typed_tables import TableIncompleteError, TableNotTypedError
    from knowledge.library import Library
    from knowledge.own_cards import OwnCardsBrokenError, TooManyCardsError
    from knowledge.weights import home

    with said_plainly():
        library = Library(home() / "library.sqlite")
        try:
            yield library
        except (
            FileRefusedError, OwnCardsBrokenError, PriceFileError, TableIncompleteError, TableNotTypedError,
            TooManyCardsError, UnknownPeriodError,
        ) as error:  # fmt: skip
            fail(str(error))
        finally:
            library.close()
