"""README claims: its answer, its tree, its commands and its settings are real."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from test_answer import run
from typer.testing import CliRunner

from assistant.cli import app
from assistant.slack.commands import AskCommand, read_command
from assistant.slack.tokens import CHANNELS, TOKENS, USERS
from assistant.slack.view import ChannelSettings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_answer_shown_is_the_answer_given() -> None:
    question = re.search(r'make ask Q="([^"]+)"', README)
    assert question
    _, result = run(question[1], "cost")
    assert [line for line in result.text.split("\n") if line.strip() and line.strip() not in README] == []


@pytest.mark.parametrize("folder", ["assistant", "assistant/slack", "assistant/web", "knowledge", "ingest", "evals"])
def test_tree_names_every_module(folder: str) -> None:
    tree = README.split("## The tree")[1]
    modules = {path.name for path in (ROOT / folder).glob("*.py")} - {"__init__.py", "__main__.py"}
    assert modules
    assert {name for name in modules if not re.search(rf"\b{re.escape(name)}", tree)} == set()


def test_tree_names_no_module_that_is_gone() -> None:
    tree = README.split("## The tree")[1].split("```")[1]
    there = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    assert set(re.findall(r"\b\w+\.py\b", tree)) - there == set()


SHOWS = {
    "calc rental_cost": "28.64",
    "calc inference_fit": '"verdict": "fits"',
    "prices show": "28.64",
    "specs": "H20 96GB",
}


@pytest.mark.parametrize("line", re.findall(r"^gpu-advisor (?:calc|prices|specs).*$", README, re.M))
def test_command_runs(line: str) -> None:
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, result.output
    (shown,) = [words for command, words in SHOWS.items() if line.startswith(f"gpu-advisor {command}")]
    assert shown in result.output


COMMANDS = [
    line
    for row in re.findall(r"^\| (`gpu-advisor .*?) \|", README.split("## Commands")[1], re.M)
    for line in re.findall(r"`(?:gpu-advisor )?([a-z][^`]*)`", row)
]


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_the_table_exists_with_its_options(line: str) -> None:
    row = next(row for row in README.splitlines() if f"`gpu-advisor {line}`" in row or f"`{line}`" in row)
    named = re.match(r"\| `gpu-advisor (\w+)", row)
    assert named
    command: Any = typer.main.get_command(app)
    words = re.findall(r"--?[\w-]+|\w+", line)
    while hasattr(command, "commands"):
        if words[0] not in command.commands and named[1] in command.commands:
            words = [named[1], *words]  # `prices import FILE`, `undo`: the group stands before the first only
        command = command.commands[words.pop(0)]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_calc_command_gives_the_same_sum() -> None:
    line = next(line for line in README.splitlines() if line.startswith("gpu-advisor calc rental_cost"))
    assert json.loads(CliRunner().invoke(app, shlex.split(line)[1:]).output)["value"] == 8248.32


@pytest.mark.parametrize("target", ["serve", "test", "ask"])
def test_make_target_exists(target: str) -> None:
    assert f"make {target}" in README
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


def test_every_setting_is_read_somewhere() -> None:
    settings = re.findall(r"^\| `([A-Z_]+)` \|", README, re.M)
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("assistant", "knowledge")
        for path in (ROOT / folder).glob("*.py")
    )
    assert len(settings) > 5
    assert [name for name in settings if name not in code] == []


def test_picture_is_there() -> None:
    picture = re.search(r"!\[[^\]]*\]\(([^)]+)\)", README)
    assert picture
    assert (ROOT / picture[1]).stat().st_size > 10_000


def test_the_steps_of_slack_name_what_the_bot_reads_and_what_is_there() -> None:
    section = README.split("## Slack")[1].split("\n## ")[0]
    assert len(re.findall(r"^\d\. ", section, re.M)) == 5
    assert {name for name in (*TOKENS, CHANNELS, USERS) if name not in section} == set()
    assert all((ROOT / path).exists() for path in re.findall(r"`(assistant/[\w/.]+)`", section))
    words = set(re.findall(r"`(\w+)`", section.split("`/gpu` (")[1].split(")")[0]))
    assert words == {"prices", "cost", "fit", "help", "settings", "价格", "费用", "显存", "帮助", "设置"}
    kinds = {word: type(read_command(word, ChannelSettings())) for word in words}
    assert [word for word, kind in kinds.items() if kind is AskCommand] == []  # each is a word of its own
