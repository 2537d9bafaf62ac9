"""The real bot against the fake Slack, with a scripted advisor: what the end-to-end tests of Slack stand on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripted_advisor import ScriptedAdvisor

from assistant.conversations import Answerer, Conversations
from assistant.slack.bot import SlackBot
from assistant.slack.state import SlackState
from assistant.slack.tokens import SlackTokens
from evals.fake_slack import FakeSlack


@contextlib.contextmanager
def running(slack: FakeSlack, home: Path, answerer: Answerer | None = None, **tokens: Any) -> Iterator[SlackBot]:
    """A bot that is connected; its files stand in `home`, so a second one is the first after a restart."""
    settings = SlackTokens(bot=slack.bot_token, app=slack.app_token, api_url=slack.api_url)
    advisor = answerer or ScriptedAdvisor()
    home.mkdir(exist_ok=True)
    state = SlackState(home / "slack.sqlite")
    conversations = Conversations(home / "conversations.sqlite")
    bot = SlackBot(replace(settings, **tokens), lambda: advisor, conversations, state, lambda user: None)
    try:
        bot.start()
        if settings.mode == "socket":
            slack.wait_until(lambda: slack.connected)
        yield bot
    finally:
        if bot._socket is not None:
            bot._socket.client.closed = True
            bot._socket.client.message_queue.put(None)  # or its reader waits out a second
        bot.close()
        state.close()
