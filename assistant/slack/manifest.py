"""The manifest of the Slack app, for Socket Mode or for events by HTTP, and the scopes that it asks for.

The file beside this one is the truth; nothing here talks to Slack.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

MANIFEST = Path(__file__).with_name("manifest.yaml")
_OF_HTTP = re.compile(r"^( *)# HTTP (.*)$", re.MULTILINE)
_SCOPES = re.compile(r"^    bot:\n((?:      - .*\n)+)", re.MULTILINE)


class ManifestUrlError(Exception):
    """An address that Slack could not send events to."""


def manifest(http_url: str = "") -> str:
    """The manifest as YAML: of Socket Mode, or with `http_url` (https://host[/path]) of events by HTTP.

    Raises ManifestUrlError for an address that is no public https one.
    """
    text = MANIFEST.read_text(encoding="utf-8")
    if not http_url:
        return _OF_HTTP.sub("", text).replace("\n\n", "\n")
    url = _checked(http_url)
    text = _OF_HTTP.sub(lambda match: f"{match[1]}{match[2].format(url=url)}", text)
    return text.replace("socket_mode_enabled: true", "socket_mode_enabled: false")


@cache
def needed_scopes() -> frozenset[str]:
    """The scopes of the bot token."""
    listed = _SCOPES.search(MANIFEST.read_text(encoding="utf-8"))
    if listed is None:
        raise RuntimeError(f"{MANIFEST.name} lists no scopes")
    return frozenset(re.findall(r"- (\S+)", listed[1]))


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme == "https" and bool(parts.hostname) and not (parts.query or parts.fragment)
    except ValueError:
        usable = False
    if not usable or re.search(r"[\s\"'{}]", url):
        raise ManifestUrlError(
            f"--url {url!r} 不行：要写 Slack 能访问的 https 地址，例如 https://gpu.example.com。 / "
            f"--url {url!r} will not do: give the https address that Slack can reach, such as https://gpu.example.com."
        )
    return url.rstrip("/")
