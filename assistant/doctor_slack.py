"""The check of the Slack bot's settings: not set, half set, or set and how events come.

It asks nothing of Slack, so a token that Slack refuses passes; the bot itself says so when it starts.
"""

from __future__ import annotations

from collections.abc import Mapping

from assistant.doctor import Check, same
from assistant.evidence import Bilingual
from assistant.slack.tokens import SlackSettingError, SlackTokens, slack_tokens

SLACK_WHAT = same("Slack")
STEPS = Bilingual(zh="步骤见 README 的 Slack 一节。", en="README, section Slack, has the steps.")
MODES = {
    "socket": Bilingual(zh="Socket Mode", en="Socket Mode"),
    "http": Bilingual(zh="HTTP 事件，地址 /slack/events", en="events by HTTP at /slack/events"),
}


def check_slack(environment: Mapping[str, str]) -> Check:
    """Whether the tokens are of the right shape and belong together, and whom the bot answers."""
    try:
        tokens = slack_tokens(environment)
    except SlackSettingError as error:
        return Check("slack", SLACK_WHAT, "fault", error.said, STEPS)
    if tokens is None:
        return Check("slack", SLACK_WHAT, "ok", Bilingual(zh="没有设置，不启用", en="not set, so there is no bot"))
    return Check("slack", SLACK_WHAT, "ok", _described(tokens))


def _described(tokens: SlackTokens) -> Bilingual:
    mode = MODES[tokens.mode]
    channels, users = len(tokens.channels), len(tokens.users)
    return Bilingual(
        zh=f"{mode.zh}；{f'只限 {channels} 个频道' if channels else '所有频道'}，{f'只限 {users} 个用户' if users else '所有用户'}",
        en=f"{mode.en}; {f'{channels} channels' if channels else 'all channels'}, {f'{users} users' if users else 'all users'}",
    )
