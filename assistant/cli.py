"""The command line: ask, calc, prices, specs, models, serve; the other commands stand in cli_*.py.

Parses arguments and prints; what it prints is made elsewhere. Heavy modules are imported by the command that needs
them, so `--help` and `calc` are instant.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assistant.cli_chat import chat
from assistant.cli_doctor import doctor
from assistant.cli_errors import fail, index_progress, said_plainly, say, say_json
from assistant.cli_knowledge import ingest, knowledge_app
from assistant.cli_slack import slack
from assistant.cli_users import users_app

if TYPE_CHECKING:
    from assistant.advisor import Advisor
    from assistant.evidence import Answer, Event
    from knowledge.embedding_process import EmbedderProcess

app = typer.Typer(
    no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help="GPU 选型助手 / GPU advisor"
)
prices_app = typer.Typer(no_args_is_help=True, help="租用价格 / rental prices")
models_app = typer.Typer(no_args_is_help=True, help="模型文件 / model files")
app.add_typer(prices_app, name="prices")
app.add_typer(models_app, name="models")
app.add_typer(knowledge_app, name="knowledge")
app.add_typer(users_app, name="users")
app.command("ingest")(ingest)
app.command("chat")(chat)
app.command("doctor")(doctor)
app.command("slack")(slack)

# Nothing phones home, and no hub is asked once the files are here.
OFFLINE = {"ANONYMIZED_TELEMETRY": "False", "GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1",
           "LANGSMITH_TRACING": "false", "TOKENIZERS_PARALLELISM": "false"}  # fmt: skip


def main() -> None:
    """Entry point of `gpu-advisor`."""
    for key, value in OFFLINE.items():
        os.environ.setdefault(key, value)
    app()


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="问题 / the question")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print the Answer object")] = False,
    thread: Annotated[str, typer.Option(help="keep a conversation under this id")] = "",
    file: Annotated[Path | None, typer.Option("--file", help="JSON lines: id, question, turns")] = None,
    out: Annotated[Path | None, typer.Option(help="where the answers of --file go")] = None,
) -> None:
    """Answer one question, or every question of a file."""
    if file is not None:
        _ask_file(file, out)
        return
    if not question.strip():
        fail('问题是空的，请写成 gpu-advisor ask "问题"。 / The question is empty: gpu-advisor ask "QUESTION".')
    events = _events(question, thread)
    if as_json:
        say_json(_last(events).model_dump_json(indent=2))
        return
    shown = ""
    for event in events:
        if event.kind in ("card", "prose"):
            say(("\n\n" if shown == "card" else "") + event.markdown, nl=False)
            shown = event.kind
    typer.echo()


@app.command()
def calc(
    name: Annotated[str, typer.Argument(help="calculator")] = "",
    listed: Annotated[bool, typer.Option("--list", help="list the calculators")] = False,
    schema: Annotated[bool, typer.Option("--schema", help="print the input schema")] = False,
    arguments: Annotated[str, typer.Option("--json", help="the input as JSON")] = "",
) -> None:
    """Run a calculator without any model; prints value, unit, formula and assumptions as JSON."""
    from assistant.tools import CALCULATORS, ToolError, calculate_json

    if listed or not name:
        for key, calculator in CALCULATORS.items():
            typer.echo(f"{key}: {(calculator.compute.__doc__ or '').strip().splitlines()[0]}")
        return
    if schema and name in CALCULATORS:
        typer.echo(json.dumps(CALCULATORS[name].given.model_json_schema(), ensure_ascii=False, indent=2))
        return
    try:
        say_json(calculate_json(name, _json_object(arguments or "{}"))[1].model_dump_json(indent=2))
    except ToolError as error:
        fail(str(error))


@prices_app.command("show")
def prices_show(
    gpus: Annotated[list[str] | None, typer.Argument(help="GPU ...")] = None,
    provider: Annotated[str, typer.Option(help="one provider")] = "",
    region: Annotated[str, typer.Option(help="one region")] = "",
    currency: Annotated[str, typer.Option(help="CNY, USD ...")] = "",
    rate: Annotated[str, typer.Option(help="units of the other currency per USD, where no row has --currency")] = "",
    history: Annotated[bool, typer.Option("--history", help="dated rows, oldest first")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Rental prices, cheapest first, each with its date and source."""
    from assistant.listing import (
        MOST_SHOWN,
        UnknownNameError,
        find,
        history_table,
        offers_json,
        offers_table,
        read_rate,
    )

    with said_plainly():
        try:
            if history:
                say(history_table(gpus or [], provider, date.today()))
                return
            listing = find(
                gpus or [], provider, region, currency, rate=read_rate(rate), limit=None if as_json else MOST_SHOWN
            )
        except UnknownNameError as error:
            fail(str(error))
    if as_json:
        say_json(offers_json(listing, date.today()))
    else:
        say(offers_table(listing, date.today()))


@prices_app.command("import")
def prices_import(
    file: Annotated[Path, typer.Argument(help="CSV, XLSX or Parquet; own columns, SkyPilot or gpuhunt")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would change, write nothing")] = False,
    provider: Annotated[str, typer.Option(help="whose prices, where the file does not say")] = "",
    currency: Annotated[str, typer.Option(help="of prices that state none")] = "",
    as_of: Annotated[str, typer.Option(help="date of rows that state none")] = "",
    allow_unusual: Annotated[bool, typer.Option("--allow-unusual", help="take prices outside the usual range")] = False,
) -> None:
    """Check a price file and take its rows; rejected lines are listed. `prices undo` takes it back."""
    from assistant.price_commands import import_file
    from ingest.price_formats import PriceFileError

    with said_plainly():
        try:
            text, taken = import_file(
                file, provider=provider, currency=currency, as_of=as_of, allow_unusual=allow_unusual, dry_run=dry_run,
                today=date.today(),
            )  # fmt: skip
        except PriceFileError as error:
            fail(str(error))
    say(text)
    if not taken:
        sys.exit(1)


@prices_app.command("undo")
def prices_undo() -> None:
    """Take the last import or refresh back."""
    from assistant.price_commands import undo_import
    from knowledge.price_snapshots import NothingToUndoError

    with said_plainly():
        try:
            say(undo_import())
        except NothingToUndoError as error:
            fail(str(error))


@prices_app.command("refresh")
def prices_refresh(
    providers: Annotated[list[str] | None, typer.Argument(help="PROVIDER ... (default: all)")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="say what would change, write nothing")] = False,
) -> None:
    """Fetch current prices; a provider that fails keeps its rows."""
    from assistant.price_commands import refresh_prices
    from ingest.price_refresh import RefreshUnavailableError, UnknownProviderError

    with said_plainly():
        try:
            text, complete = refresh_prices(providers or [], dry_run=dry_run, today=date.today())
        except (RefreshUnavailableError, UnknownProviderError) as error:
            fail(str(error))
    say(text)
    if not complete:
        sys.exit(1)


@models_app.command("list")
def models_list() -> None:
    """The model files: role, size, state and place."""
    from knowledge.weights import list_models

    for model in list_models():
        typer.echo(
            f"{model.role}: {model.name}  {model.size_bytes:,} bytes  {model.state}  {model.licence}  {model.path}"
        )


@models_app.command("pull")
def models_pull() -> None:
    """Fetch the model files that are missing, and check them."""
    with said_plainly():
        for role, path in _pull_missing():
            typer.echo(f"{role}: {path}")


@app.command()
def specs(
    gpus: Annotated[list[str], typer.Argument(help="GPU ...")],
    as_json: Annotated[bool, typer.Option("--json", help="every column; unknown ones are null")] = False,
) -> None:
    """Specifications of GPUs, each form a row of its own; TFLOPS are dense."""
    from assistant.spec_listing import find_specs, specs_json, specs_text

    found = find_specs(gpus)
    if as_json:
        say_json(specs_json(found))
    else:
        say(specs_text(found))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on")] = 7860,
) -> None:
    """Serve the page and the HTTP API."""
    with said_plainly():
        _pull_missing()
        from knowledge.embedding_process import EmbedderProcess

        embedder = EmbedderProcess()  # loads on another core while the page is imported
        from assistant.api import ListenError
        from assistant.api import serve as serve_app

        try:
            serve_app(host, port, lambda: _opened(embedder))
        except ListenError as error:
            fail(str(error))


def _pull_missing() -> list[tuple[str, Path]]:
    """Fetch the model files that are not here yet; an own model server needs no embedded one."""
    from knowledge.weights import pull

    roles = ["embedding"] if os.environ.get("LLM_BASE_URL") else ["embedding", "llm"]
    return [(role, pull(role)) for role in roles]


def _opened(embedder: EmbedderProcess) -> Advisor:
    from assistant.advisor import open_advisor

    advisor = open_advisor(index_progress, embedder)
    advisor.warm_up_later()
    return advisor


def _events(question: str, thread: str) -> Iterator[Event]:
    """Events of one answer: from the running server, or from an advisor opened here."""
    from assistant.conversations import Conversations, converse
    from assistant.owner import acquire, current_owner, stream_over_http
    from knowledge.weights import home

    with said_plainly():
        owner = current_owner()
        if owner and owner.url:
            yield from stream_over_http(owner, question, (), thread or None)
            return
        with acquire(command="gpu-advisor ask"):
            from assistant.advisor import open_advisor

            advisor = open_advisor(index_progress)
            try:
                yield from converse(
                    advisor, question, (), store=Conversations(home() / "conversations.sqlite"), thread=thread or None
                )
            finally:
                advisor.close()


def _ask_file(file: Path, out: Path | None) -> None:
    """Every question of a JSON-lines file in one process; a bad line is named and nothing is answered.

    Exit status 1 if a question broke the advisor; the others are answered all the same.
    """
    from assistant.batch import answer_file

    with said_plainly():
        failed = answer_file(file, out, index_progress)
    if failed:
        ids = ", ".join(map(str, failed[:20]))
        fail(f"{len(failed)} 题没有答成，结果行里有 error / questions failed; their lines have an error: {ids}")


def _last(events: Iterator[Event]) -> Answer:
    answer = None
    for event in events:
        if event.kind == "done":
            answer = event.answer
    if answer is None:
        fail("回答中断了。 / The answer broke off.")
    return answer


def _json_object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits
        fail(f"--json 不是 JSON / is not JSON ({error}): {text[:200]!r}")
    if not isinstance(given, dict):
        fail(f"--json 应是 JSON 对象 / must be a JSON object such as '{{\"hours\": 72}}', got {text[:200]!r}")
    return given
