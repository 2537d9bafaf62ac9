"""The commands that need no model: calc, prices show, models list, and how mistakes are told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assistant.cli import app
from assistant.cli_errors import for_terminal, say_json
from assistant.tools import CALCULATORS

REPOSITORY = Path(__file__).resolve().parent.parent


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def refusal(*arguments: str) -> str:
    """The message of a command that must fail: on standard error, without a traceback."""
    result = run(*arguments)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    return result.stderr


def test_calc_list_names_every_calculator_with_what_it_does() -> None:
    lines = run("calc", "--list").stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == list(CALCULATORS)
    assert lines[1] == "rental_cost: cost = ceil(gpus / gpus_per_instance) x hours x price of one instance-hour."
    assert run("calc").stdout.splitlines() == lines


def test_calc_schema_is_the_schema_of_the_input() -> None:
    schema = json.loads(run("calc", "rental_cost", "--schema").stdout)
    assert schema["required"] == ["hours", "price_per_hour"]


def test_calc_prints_value_unit_formula_and_assumptions() -> None:
    result = json.loads(
        run("calc", "rental_cost", "--json", '{"gpus": 4, "hours": 72, "price_per_hour": 28.64}').stdout
    )
    assert (result["value"], result["unit"]) == (8248.32, "CNY")
    assert result["formula"] == "4 × 72 h × 28.64 CNY/h = 8,248.32 CNY"
    given = '{"memory_min_gb": 85, "memory_max_gb": 100, "card_memory_gb": 24}'
    (assumption,) = json.loads(run("calc", "cards_needed", "--json", given).stdout)["assumptions"]
    assert set(assumption["text"]) == {"zh", "en"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["training_magic", "--json", "{}"], "no calculator is called 'training_magic'"),
        (["training_magic", "--schema"], "no calculator is called 'training_magic'"),
        (["rental_cost"], "hours: Field required"),
        (["rental_cost", "--json", "{hours: 72}"], "is not JSON"),
        (["rental_cost", "--json", "[72]"], "must be a JSON object such as '{\"hours\": 72}', got '[72]'"),
        (
            ["rental_cost", "--json", '{"hours": 0, "price_per_hour": 1}'],
            "hours: Input should be greater than 0, got 0",
        ),
        (["rental_cost", "--json", '{"hours": NaN, "price_per_hour": 1}'], "finite number, got nan"),
        (["rental_cost", "--json", '{"hours": 1e999, "price_per_hour": 1}'], "finite number, got inf"),
        (["rental_cost", "--json", '{"hours": ' + "9" * 5000 + "}"], "is not JSON"),
        (["rental_cost", "--json", "[" * 100_000], "is not JSON"),
    ],
)
def test_calc_tells_what_is_wrong(arguments: list[str], message: str) -> None:
    assert message in refusal("calc", *arguments)


def test_prices_show_lists_the_cheapest_first_of_each_currency() -> None:
    lines = run("prices", "show", "A100", "--provider", "腾讯云").stdout.splitlines()
    assert "28.64 CNY" in lines[0]
    rows = json.loads(run("prices", "show", "A100", "T4", "--currency", "CNY", "--json").stdout)
    prices = [round(Decimal(row["price_per_gpu_hour"]), 6) for row in rows]
    assert prices == sorted(prices)
    assert {"8.68", "11.28", "11.63", "28.64", "34.742", "40.39"} <= {row["price"] for row in rows}
    currencies = [row["currency"] for row in json.loads(run("prices", "show", "A100", "--json").stdout)]
    assert currencies == sorted(currencies)
    assert set(currencies) == {"CNY", "USD"}


def test_price_history_is_dated_and_runs_from_old_to_new() -> None:
    lines = run("prices", "show", "A100", "--provider", "runpod", "--history").stdout.splitlines()
    dates = [re.findall(r"20\d\d-\d\d-\d\d", line)[0] for line in lines]
    assert len(dates) > 2
    assert dates == sorted(dates)
    assert dates[0] < dates[-1]


def test_prices_show_of_a_card_without_rows_says_so_and_is_no_error() -> None:
    result = run("prices", "show", "MI100")
    assert result.exit_code == 0
    assert "没有这样的价格行" in result.stdout
    assert json.loads(run("prices", "show", "MI100", "--json").stdout) == []


def test_specs_lists_every_form_and_says_what_it_took() -> None:
    (a100, d4090, none) = json.loads(run("specs", "A100", "4090D", "RTX 6090", "--json").stdout)
    assert {match["name"] for match in a100["matches"]} == {
        "A100 PCIe 40GB",
        "A100 PCIe 80GB",
        "A100 SXM4 40GB",
        "A100 SXM4 80GB",
    }
    assert a100["ambiguous"] is True
    assert [match["name"] for match in d4090["matches"]] == ["GeForce RTX 4090 D"]
    assert (none["matches"], none["ambiguous"]) == ([], False)


@pytest.mark.parametrize(
    ("arguments", "name"), [(["H300"], "'H300'"), (["A100", "--provider", "FooCloud"], "'FooCloud'"), ([""], "''")]
)
def test_prices_show_of_an_unknown_name_names_it(arguments: list[str], name: str) -> None:
    assert name in refusal("prices", "show", *arguments)


def test_models_list_tells_role_licence_size_state_and_place() -> None:
    lines = run("models", "list").stdout.splitlines()
    (llm,) = [line for line in lines if line.startswith("llm: ")]
    assert "1,117,320,768 bytes  missing" in llm
    assert "Apache-2.0" in llm
    assert os.environ["GPU_ADVISOR_HOME"] in llm
    assert any(line.startswith("embedding: ") and "MIT" in line for line in lines)


def test_an_empty_question_is_refused_in_both_languages() -> None:
    message = refusal("ask", "  ")
    assert "问题是空的" in message
    assert "The question is empty" in message


def test_a_question_file_that_is_not_there_is_named() -> None:
    assert "'nowhere.jsonl'" in refusal("ask", "--file", "nowhere.jsonl")


def test_what_a_terminal_would_obey_is_replaced_and_lines_tabs_and_letters_stay() -> None:
    hostile = "a\x1b]0;t\x07\x1b[2J\x9b31m\x00\x7f\u202eb\u2066"
    assert not set(for_terminal(hostile)) & set("\x1b\x07\x9b\x00\x7f\u202e\u2066")
    assert for_terminal("价格\t28.64 元\r\n× ÷ é 😀 \u200d") == "价格\t28.64 元\n× ÷ é 😀 \u200d"
    assert for_terminal("shown\rhidden") == "shown\nhidden"  # or the second would stand over the first


def test_json_loses_no_character_and_shows_none_that_a_terminal_would_obey(capsys: pytest.CaptureFixture[str]) -> None:
    given = {"a": "价格 \x1b[2J \x9b31m \u202e \x7f"}
    say_json(json.dumps(given, ensure_ascii=False, indent=2))
    shown = capsys.readouterr().out
    assert json.loads(shown) == given
    assert not set(shown) & set("\x1b\x9b\u202e\x7f")
    assert "价格" in shown


def test_a_message_of_an_error_passes_the_same_way() -> None:
    message = refusal("ask", "--file", "nowhere\x1b[2J\x9b.jsonl")
    assert not set(message) & set("\x1b\x9b")


def test_python_m_assistant_is_the_command_and_its_light_commands_load_no_heavy_library() -> None:
    script = (
        "import sys; sys.argv = ['gpu-advisor', 'calc', '--list']\n"
        "from assistant.cli import main\n"
        "try: main()\n"
        "finally: print(sorted({'torch', 'gradio', 'chromadb', 'sentence_transformers', 'openai'} & set(sys.modules)))\n"
    )
    light = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert light.stdout.splitlines()[-1] == "[]"
    command = [
        sys.executable,
        "-m",
        "assistant",
        "calc",
        "total_memory",
        "--json",
        '{"cards": 64, "card_memory_gb": 40}',
    ]
    result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["value"] == 2560
