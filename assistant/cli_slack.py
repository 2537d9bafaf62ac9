"""The command `slack`: the bot alone, asking the server that runs on this machine; or the manifest of its app.

The server does the answering; this process opens no index and no model.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_errors import fail, said_plainly, say

if TYPE_CHECKING:
    from assistant.evidence import Event

NO_TOKENS = (
    "没有设置 Slack 令牌：需要 SLACK_BOT_TOKEN 和 SLACK_APP_TOKEN，步骤见 README 的 Slack 一节。 / "
    "No Slack tokens are set: SLACK_BOT_TOKEN and SLACK_APP_TOKEN are needed; README, section Slack, has the steps."
)
HTTP_NEEDS_SERVER = (
    "没有 SLACK_APP_TOKEN：HTTP 方式的事件由 gpu-advisor serve 接收，这个命令只用 Socket Mode。 / "
    "Without SLACK_APP_TOKEN events come by HTTP, which gpu-advisor serve takes; this command uses Socket Mode only."
)
NO_SERVER = (
    "没有正在运行的 gpu-advisor serve，无处可问。请先启动它。 / "
    "No gpu-advisor serve is running here, so there is nobody to ask: start it first."
)


class ServerAnswerer:
    """Answers of the server that owns the index now, whichever that is."""

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]:
        """The events of one answer. Raises owner.OwnerFailedError."""
        from assistant.owner import OwnerFailedError, current_owner, stream_over_http

        owner = current_owner()
        if owner is None or owner.url is None:
            raise OwnerFailedError(NO_SERVER)
        yield from stream_over_http(owner, question, turns)


def slack(
    manifest: Annotated[bool, typer.Option("--manifest", help="打印应用清单 / print the app manifest (YAML)")] = False,
    url: Annotated[str, typer.Option(help="HTTP 方式的公网地址 / the public address, for events by HTTP")] = "",
) -> None:
    """Run the Slack bot alone, against the server running on this machine."""
    if manifest:
        from assistant.slack.manifest import ManifestUrlError
        from assistant.slack.manifest import manifest as app_manifest

        try:
            say(app_manifest(url))
        except ManifestUrlError as error:
            fail(str(error))
        return
    if url:
        fail("--url 只与 --manifest 一起用 / goes with --manifest only")
    with said_plainly():
        _run()


def _run() -> None:
    from assistant.slack.tokens import slack_tokens

    tokens = slack_tokens(os.environ)
    if tokens is None:
        fail(NO_TOKENS)
    if tokens.mode != "socket":
        fail(HTTP_NEEDS_SERVER)
    from assistant.owner import current_owner

    owner = current_owner()
    if owner is None or owner.url is None:
        fail(NO_SERVER)
    from assistant.conversations import Conversations
    from assistant.slack.bot import SlackBot
    from assistant.slack.state import SlackState
    from assistant.slack.web_calls import SlackRefusedError, SlackUnreachableError
    from knowledge.weights import home

    answerer = ServerAnswerer()
    bot = SlackBot(
        tokens, lambda: answerer, Conversations(home() / "conversations.sqlite"), SlackState(home() / "slack.sqlite")
    )
    try:
        identity = bot.start()
        say(f"{identity.team_name}: /gpu, @gpu-advisor (Ctrl-C)")
        threading.Event().wait()
    except (SlackUnreachableError, SlackRefusedError) as error:
        fail(str(error))
    except KeyboardInterrupt:
        pass
    finally:
        bot.close()
