"""What /gpu makes of its words, answered by the real advisor: the figures worked out by hand from the rows."""

from __future__ import annotations

import httpx
import pytest

from assistant.evidence import Answer
from assistant.slack.answers import answer_messages
from assistant.slack.commands import AskCommand, read_command
from assistant.slack.view import ChannelSettings, View

pytestmark = pytest.mark.live

PLAIN = ChannelSettings()


@pytest.mark.parametrize(
    ("typed", "settings", "says"),
    [
        ("cost 4x A100 72h 腾讯云", PLAIN, ["8,248.32 CNY"]),  # 4 x 72 x 28.64
        ("费用 4x A100 72小时 腾讯云", PLAIN, ["8,248.32 元"]),
        ("cost ４ｘＡ１００ 3 days Tencent Cloud", PLAIN, ["8,248.32 CNY"]),
        ("cost 8x H100 1 week", PLAIN, ["1,854.72 USD"]),  # 8 x 168 x 1.38
        ("价格 A100 腾讯云 阿里云", PLAIN, ["28.64", "34.742", "6.102"]),
        ("prices A100 H100", PLAIN, ["28.64", "1.38"]),
        ("价格 A100", ChannelSettings(providers=("alibaba", "tencent")), ["28.64", "34.742"]),
        ("fit qwen2.5-72b int4", PLAIN, ["41.33", "42.13"]),
        ("显存 qwen2.5-72b int4 2x 4090", PLAIN, ["不够", "至少要 4 张"]),
        ("fit qwen2.5-72b int4 2x 4090", PLAIN, ["does not fit", "at least 4 of these cards"]),
        ("A100 多少钱一小时？", PLAIN, ["28.64"]),
    ],
)
def test_a_command_is_answered_rightly(real_url: str, typed: str, settings: ChannelSettings, says: list[str]) -> None:
    command = read_command(typed, settings)
    assert isinstance(command, AskCommand)
    answer = asked(real_url, command.question)
    assert (answer.status, answer.verified, answer.language) == ("answered", True, command.language)
    messages = answer_messages(answer, View(), answer.language, turn=1, settings=settings)
    shown = answer.text + str([message.blocks for message in messages])
    assert [each for each in says if each not in shown] == []


@pytest.mark.parametrize(
    ("question", "says"), [("什么是 ZeRO？", "语言模型暂不可用"), ("What is ZeRO?", "not available")]
)
def test_without_the_model_server_the_passage_is_shown_and_the_lack_told(
    real_url: str, question: str, says: str
) -> None:
    answer = asked(real_url, question)
    messages = answer_messages(answer, View(), answer.language, turn=1, settings=PLAIN)
    assert answer.status == "unavailable"
    assert says in str([message.blocks for message in messages])


def asked(url: str, question: str) -> Answer:
    response = httpx.post(f"{url}/api/ask", json={"question": question}, timeout=60, trust_env=False)
    return Answer.model_validate_json(response.raise_for_status().content)
