"""The route that Slack sends events, commands and clicks to where the bot does not use Socket Mode.

The gate lets this one address through without a login: bolt checks the signature of each request and its age.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from assistant.gate import SLACK_PATH

if TYPE_CHECKING:
    from assistant.slack.bot import SlackBot


def add_slack_route(app: FastAPI, bot: SlackBot) -> None:
    """Serve POST /slack/events."""

    @app.post(SLACK_PATH, include_in_schema=False)
    async def events(request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        answered = await run_in_threadpool(bot.handle, body, request.headers)
        return Response(answered.body, answered.status, {name: values[0] for name, values in answered.headers.items()})
