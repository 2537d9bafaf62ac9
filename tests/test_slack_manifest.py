"""The app manifest: what Slack takes, in both variants, and no scope or event more or less than the bot uses."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from assistant.slack.bot import COMMAND
from assistant.slack.manifest import ManifestUrlError, manifest, needed_scopes

# Of each event, the scope that Slack wants for it.
SCOPE_OF = {
    "app_mention": "app_mentions:read",
    "assistant_thread_started": "assistant:write",
    "assistant_thread_context_changed": "assistant:write",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}
OF_CALLS = {"chat:write", "commands", "files:write"}  # chat.*, /gpu, files.*


def parsed(url: str = "") -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(manifest(url))
    return read


def test_socket_mode_needs_no_address() -> None:
    app = parsed()
    assert app["settings"]["socket_mode_enabled"] is True
    assert "url" not in manifest().replace("suggested", "").split("settings:")[1]
    assert "url" not in app["features"]["slash_commands"][0]
    assert "HTTP " not in manifest().split("_metadata")[1]


@pytest.mark.parametrize("url", ["https://gpu.example.com", "https://gpu.example.com/", "https://example.com/advisor"])
def test_by_http_every_address_is_the_route_of_the_server(url: str) -> None:
    app = parsed(url)
    route = f"{url.rstrip('/')}/slack/events"
    assert app["settings"]["socket_mode_enabled"] is False
    assert app["settings"]["event_subscriptions"]["request_url"] == route
    assert app["settings"]["interactivity"] == {"is_enabled": True, "request_url": route}
    assert [command["url"] for command in app["features"]["slash_commands"]] == [route]


@pytest.mark.parametrize(
    "url", ["http://gpu.example.com", "gpu.example.com", "https://", "https://a b", "https://[", "x"]
)
def test_an_address_that_slack_cannot_reach_is_refused_by_name(url: str) -> None:
    with pytest.raises(ManifestUrlError, match=r"https://gpu\.example\.com") as refused:
        manifest(url)
    assert repr(url) in str(refused.value)


def test_each_event_has_its_scope_and_no_scope_is_left_over() -> None:
    app = parsed()
    events = app["settings"]["event_subscriptions"]["bot_events"]
    assert set(events) == set(SCOPE_OF)
    assert set(app["oauth_config"]["scopes"]["bot"]) == set(SCOPE_OF.values()) | OF_CALLS
    assert needed_scopes() == set(app["oauth_config"]["scopes"]["bot"])


@pytest.mark.parametrize("url", ["", "https://gpu.example.com"])
def test_every_text_is_as_long_as_slack_allows(url: str) -> None:
    """Lengths of Slack's manifest reference."""
    app = parsed(url)
    (command,) = app["features"]["slash_commands"]
    lengths = (
        (app["display_information"]["name"], 35),
        (app["display_information"]["description"], 140),
        (app["features"]["bot_user"]["display_name"], 80),
        (app["features"]["assistant_view"]["assistant_description"], 300),
        (command["command"], 32),
        (command["description"], 2000),
        (command["usage_hint"], 1000),
    )
    assert [text for text, most in lengths if not 0 < len(text) <= most] == []
    assert command["command"] == COMMAND
