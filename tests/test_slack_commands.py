"""What follows /gpu: subcommands, questions, slips and settings in both languages; help and prompts keep their word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.slack.commands import (
    AskCommand,
    BadCommand,
    HelpCommand,
    SettingsCommand,
    help_message,
    read_command,
    settings_message,
    suggested_prompts,
)
from assistant.slack.view import ChannelSettings
from assistant.slack.words import EXAMPLES
from evals.slack_limits import faults

PLAIN = ChannelSettings()
CHANNEL = ChannelSettings(providers=("aws", "tencent"), currency="CNY")
LONGEST_FRAME = 200
WORDS = [
    "价格",
    "cost",
    "设置",
    "providers",
    "fit",
    "A100",
    "2x",
    "72h",
    "腾讯云",
    "--public",
    "in",
    "USD",
    "<@U1>",
    "“",
]

ASKED = [
    ("prices A100 H100", "Compare the rental prices of A100 and H100"),
    ("PRICES a100", "Rental prices of a100"),
    ("compare A100 H100", "Compare the rental prices of A100 and H100"),
    ("价格 A100 H100", "比较 A100 和 H100 的租用价格"),
    ("比价　Ａ１００　Ｈ１００", "比较 A100 和 H100 的租用价格"),
    ("价格A100", "A100 的租用价格"),
    ("prices in euros A100", "Rental prices of A100, in EUR"),
    ("cost 4x A100 72h 腾讯云", "What does renting 4x A100 72h Tencent Cloud cost?"),
    ("Costs “4x A100” 72h", "What does renting 4x A100 72h cost?"),
    ("费用 ４ｘＡ１００ 72小时 腾讯云", "租用 4xA100 72小时 腾讯云 要多少钱？"),
    ("成本 8张H100 一周", "租用 8张H100 一周 要多少钱？"),
    ("fit qwen2.5-72b int4", "How much memory does qwen2.5-72b int4 need?"),
    ("显存 qwen2.5-72b int4 2x 4090", "qwen2.5-72b int4 2x 4090 跑得动吗？"),
    ("能不能跑 qwen2.5-72b int4", "qwen2.5-72b int4 需要多少显存？"),
    ("prices <http://H100|H100> A100", "Compare the rental prices of H100 and A100"),
    ("/gpu prices A100", "Rental prices of A100"),
    # sentences stay as they are
    ("A100 多少钱", "A100 多少钱"),
    ("price of an H100?", "price of an H100?"),
    ("fit a 70B model?", "fit a 70B model?"),
    ("cost of living", "cost of living"),
]


@pytest.mark.parametrize(("typed", "question"), ASKED)
def test_words_become_the_question_they_mean(typed: str, question: str) -> None:
    command = read_command(typed, PLAIN)
    assert isinstance(command, AskCommand)
    assert (command.question, command.public) == (question, False)


@pytest.mark.parametrize("flag", ["--public", "—public", "--公开", "公开", "--private --public"])
def test_a_flag_at_the_end_shows_the_answer_to_the_channel(flag: str) -> None:
    command = read_command(f"prices A100 {flag}", PLAIN)
    assert isinstance(command, AskCommand)
    assert (command.question, command.public) == ("Rental prices of A100", True)


@pytest.mark.parametrize("flag", ["--private", "--仅自己", "仅自己"])
def test_a_flag_at_the_end_goes_before_the_channels_setting(flag: str) -> None:
    command = read_command(f"价格 A100 {flag}", ChannelSettings(ephemeral=False))
    assert isinstance(command, AskCommand)
    assert not command.public


@pytest.mark.parametrize(
    ("typed", "question"),
    [
        ("prices A100", "Rental prices of A100, only at AWS, Tencent Cloud"),
        ("价格 A100", "A100 的租用价格，只看 AWS、腾讯云"),
        ("cost 4x A100 72h", "What does renting 4x A100 72h cost, only at AWS, Tencent Cloud, in CNY?"),
        ("cost 4x A100 72h Lambda in USD", "What does renting 4x A100 72h Lambda cost, in USD?"),
        ("fit qwen2.5-72b int4", "How much memory does qwen2.5-72b int4 need?"),
    ],
)
def test_the_channels_clouds_and_currency_fill_what_the_command_leaves_open(typed: str, question: str) -> None:
    command = read_command(typed, CHANNEL)
    assert isinstance(command, AskCommand)
    assert command.question == question


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("pirces A100", "/gpu prices A100"),
        ("setings currency USD", "/gpu settings currency USD"),
        ("hepl", "/gpu help"),
        ("costt 4x A100", "/gpu cost 4x A100"),
    ],
)
def test_a_slip_is_told_what_was_probably_meant(typed: str, meant: str) -> None:
    command = read_command(typed, PLAIN)
    assert isinstance(command, BadCommand)
    assert command.language == "en"
    assert meant in command.said.zh
    assert meant in command.said.en


@pytest.mark.parametrize(
    ("typed", "language"),
    [("", None), ("?", None), ("？", None), ("--public", None), ("HELP", "en"), ("帮助", "zh"), ("help 中文", "zh")],
)
def test_help_is_given_in_the_language_that_was_used(typed: str, language: str | None) -> None:
    assert read_command(typed, PLAIN) == HelpCommand(language)  # type: ignore[arg-type]


@pytest.mark.parametrize("typed", ["prices", "价格", "cost --public", "显存"])
def test_a_subcommand_alone_is_answered_with_an_example(typed: str) -> None:
    assert isinstance(read_command(typed, PLAIN), BadCommand)


@pytest.mark.parametrize(
    ("typed", "changed"),
    [
        ("settings language zh", {"language": "zh"}),
        ("settings language=en currency=usd", {"language": "en", "currency": "USD"}),
        ("settings providers Tencent Cloud", {"providers": ("tencent",)}),
        ("settings providers AWS Tencent Cloud, Google Cloud", {"providers": ("aws", "tencent", "gcp")}),
        ("settings ephemeral off", {"ephemeral": False}),
        (
            "设置 语言：中文 币种：美元 云厂商 阿里云、腾讯云 仅自己 关",
            {"language": "zh", "currency": "USD", "providers": ("alibaba", "tencent"), "ephemeral": False},
        ),
    ],
)
def test_settings_are_read_several_at_once(typed: str, changed: dict[str, object]) -> None:
    command = read_command(typed, PLAIN)
    assert isinstance(command, SettingsCommand)
    assert command.settings == PLAIN.model_copy(update=changed)


@pytest.mark.parametrize(
    "typed", ["settings currency auto providers all", "设置 币种 自动 云厂商 全部", "settings reset"]
)
def test_settings_go_back_to_none(typed: str) -> None:
    command = read_command(typed, CHANNEL)
    assert isinstance(command, SettingsCommand)
    assert command.settings == PLAIN


@pytest.mark.parametrize("typed", ["settings", "设置"])
def test_settings_alone_are_only_shown(typed: str) -> None:
    command = read_command(typed, CHANNEL)
    assert isinstance(command, SettingsCommand)
    assert command.settings is None


@pytest.mark.parametrize(
    ("typed", "value", "choice"),
    [
        ("settings currency XYZ", "XYZ", "CNY"),
        ("settings language fr", "fr", "auto"),
        ("settings providers Foo", "Foo", "AWS"),
        ("settings ephemeral maybe", "maybe", "off"),
        ("settings colour blue", "colour", "currency"),
    ],
)
def test_an_unknown_value_is_named_with_the_choices(typed: str, value: str, choice: str) -> None:
    command = read_command(typed, PLAIN)
    assert isinstance(command, BadCommand)
    assert value in command.said.zh
    assert value in command.said.en
    assert choice in command.said.en


def test_examples_and_prompts_are_what_they_claim() -> None:
    for typed, _ in EXAMPLES:
        for text in (typed.zh, typed.en):
            kind = SettingsCommand if "settings" in text or "设置" in text else AskCommand
            assert isinstance(read_command(text, PLAIN), kind), text
    for language in ("zh", "en", None):
        prompts = suggested_prompts(language)
        assert len(prompts) == 4
        assert all(isinstance(read_command(each["message"], PLAIN), AskCommand) for each in prompts)


def test_standing_messages_keep_slacks_limits() -> None:
    for language in ("zh", "en", None):
        for each in (help_message(language), settings_message(CHANNEL, language)):
            sent = {"channel": "C0123456789", "blocks": list(each.blocks), "text": each.text}
            assert faults("chat.postMessage", sent) == []


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80) | st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join))
def test_any_text_is_read_and_no_question_grows_beyond_its_frame(text: str) -> None:
    command = read_command(text, CHANNEL)
    assert isinstance(command, AskCommand | HelpCommand | SettingsCommand | BadCommand)
    if isinstance(command, AskCommand):
        assert 0 < len(command.question) <= 4 * len(text) + LONGEST_FRAME
