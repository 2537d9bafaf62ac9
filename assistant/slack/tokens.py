"""The settings that let the bot into a workspace, and the log that never shows them.

Reads the environment it is given; asks nothing of Slack, so a token that Slack refuses passes here.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from assistant.evidence import Bilingual

SLACK_API = "https://slack.com/api/"
TOKENS = ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET")
CHANNELS, USERS = "GPU_ADVISOR_SLACK_CHANNELS", "GPU_ADVISOR_SLACK_USERS"

LOGGER = "gpu_advisor.slack"
# Slack's library logs by these as well, whichever logger it is given.
_LIBRARY_LOGGERS = (
    "slack_sdk.proxy_env_variable_loader",
    "slack_sdk.socket_mode.builtin.client",
    "slack_sdk.web.base_client",
    "slack_sdk.web.slack_response",
    "slack_sdk.webhook.client",
    "slack_bolt.App",
)
_SHOWN_CHARACTERS = 5
_HIDDEN = "(redacted)"


class SlackSettingError(Exception):
    """A setting of the bot is missing or wrong; the message names it and the way out, and never shows a secret."""

    def __init__(self, said: Bilingual) -> None:
        super().__init__(f"{said.zh} / {said.en}")
        self.said = said


@dataclass(frozen=True)
class SlackTokens:
    """What the bot signs in with. `channels` and `users`: the ids it answers, all where empty."""

    bot: str = field(repr=False)
    app: str = field(default="", repr=False)
    signing_secret: str = field(default="", repr=False)
    api_url: str = SLACK_API
    channels: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()

    @property
    def mode(self) -> Literal["socket", "http"]:
        """How events come: over Socket Mode where there is an app token, else to our own address."""
        return "socket" if self.app else "http"

    def secrets(self) -> Iterator[str]:
        """The values that nobody may see."""
        return (secret for secret in (self.bot, self.app, self.signing_secret) if secret)


def slack_tokens(environment: Mapping[str, str]) -> SlackTokens | None:
    """The bot's settings, None where no token is set (no bot is wanted). Raises SlackSettingError for a wrong one."""
    given = {name: environment.get(name, "").strip() for name in TOKENS}
    if not any(given.values()):
        return None
    bot, app, signing_secret = (given[name] for name in TOKENS)
    _check_token("SLACK_BOT_TOKEN", bot, "xoxb-", "OAuth & Permissions → Bot User OAuth Token")
    if app:
        _check_token("SLACK_APP_TOKEN", app, "xapp-", "Basic Information → App-Level Tokens (connections:write)")
    if signing_secret:
        _check_signing_secret(signing_secret)
    if not app and not signing_secret:
        raise SlackSettingError(
            Bilingual(
                zh="只设了 SLACK_BOT_TOKEN。再设 SLACK_APP_TOKEN（xapp- 开头，Socket Mode，无需公网地址），或设 SLACK_SIGNING_SECRET（HTTP 事件）。",
                en="only SLACK_BOT_TOKEN is set. Set SLACK_APP_TOKEN too (begins with xapp-; Socket Mode, needs no public address), or SLACK_SIGNING_SECRET (HTTP events).",
            )
        )
    return SlackTokens(
        bot,
        app,
        signing_secret,
        _api_url(environment.get("SLACK_API_URL", "").strip()),
        _ids(CHANNELS, environment, "CDG", "C0123ABCD"),
        _ids(USERS, environment, "UW", "U0123ABCD"),
    )


def slack_logger(tokens: SlackTokens) -> logging.Logger:
    """The logger for the bot, bolt, WebClient and Socket Mode: no secret gets into its records or their tracebacks.

    Bolt copies its level and filters to loggers of its own, so the level is fixed here to that in force at the moment.
    """
    _redaction.secrets.update(tokens.secrets())
    logger = logging.getLogger(LOGGER)
    if logger.level == logging.NOTSET:
        logger.setLevel(logger.getEffectiveLevel())
    for name in (LOGGER, *_LIBRARY_LOGGERS):
        logging.getLogger(name).addFilter(_redaction)  # which does nothing where it is there
    return logger


_SLASH = r"(?:\\{0,8}/|%2[Ff])"  # JSON may escape it, and a repr of JSON escapes that
_SECRETS = (
    # Tokens of every kind, by the letters they begin with.
    (re.compile(r"((?:xox[a-z]|xapp|xwfp)(?:\.xox[a-z])?-)[\w%.=+/-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
    # Addresses that whoever knows them may post to, whatever host stands before.
    (
        re.compile(rf"({_SLASH}(?:commands|actions|services|workflows|triggers){_SLASH})[A-Z][\w%./\\-]+"),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"(wss?:(?:\\*/){2}[^\s?\"']+\?)[^\s\"'<>]+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(\bticket(?:=|%3[Dd]))[^\s&\"'<>]+"), rf"\1{_HIDDEN}"),
    # Fields of payloads (JSON, Python's repr and forms).
    (
        re.compile(
            r"(\b\w*(?:response_url|token|trigger_id|upload_url)\\*[\"']?\s*[:=]\s*\\*[\"'])"
            r"(?:[^\"'\\]|\\+/)*"
        ),
        rf"\1{_HIDDEN}",
    ),
    (re.compile(r"(\b\w*(?:response_url|token|trigger_id)=)[^\s&\"']+"), rf"\1{_HIDDEN}"),
    (re.compile(r"(\bBearer\s+)[\w.~+/=-]+", re.IGNORECASE), rf"\1{_HIDDEN}"),
)


class _Redaction(logging.Filter):
    """Writes each record out, message and traceback, without secrets, before any handler sees it.

    One for the process, as bolt gives a logger that has a filter no other.
    """

    def __init__(self) -> None:
        super().__init__()
        self.secrets: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._without_secrets(_written(record)), None
        if record.exc_info and not record.exc_text:
            record.exc_text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        record.exc_info = None  # a handler would write it out anew
        if record.exc_text:
            record.exc_text = self._without_secrets(record.exc_text)
        if record.stack_info:
            record.stack_info = self._without_secrets(record.stack_info)
        return True

    def _without_secrets(self, text: str) -> str:
        for secret in tuple(self.secrets):
            text = text.replace(secret, _HIDDEN)
        for pattern, replacement in _SECRETS:
            text = pattern.sub(replacement, text)
        return text


_redaction = _Redaction()


def _written(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # the arguments do not fit; logging itself would print them all
        return f"{record.msg!s} (its arguments do not fit)"


def _check_token(name: str, value: str, prefix: str, place: str) -> None:
    if not value:
        raise SlackSettingError(
            Bilingual(
                zh=f"缺少 {name}（{prefix} 开头，在 api.slack.com/apps 的 {place}）。不用 Slack 就把 {'、'.join(TOKENS)} 都删掉。",
                en=f"{name} is missing (begins with {prefix}; at api.slack.com/apps under {place}). To do without Slack, unset all of {', '.join(TOKENS)}.",
            )
        )
    if re.fullmatch(rf"{prefix}[A-Za-z0-9-]{{3,}}", value) is None:
        raise SlackSettingError(
            Bilingual(
                zh=f"{name} 不对（{_start(value)}）：应以 {prefix} 开头，后面只有字母、数字和连字符。在 api.slack.com/apps 的 {place} 复制。",
                en=f"{name} is wrong ({_start(value)}): it begins with {prefix}, then only letters, digits and hyphens. Copy it at api.slack.com/apps under {place}.",
            )
        )


def _check_signing_secret(value: str) -> None:
    if re.fullmatch(r"(?!xox|xapp)[!-~]{8,}", value) is None:
        raise SlackSettingError(
            Bilingual(
                zh=f"SLACK_SIGNING_SECRET 不对（{_start(value)}）：在 api.slack.com/apps 的 Basic Information → Signing Secret 复制，不是令牌。",
                en=f"SLACK_SIGNING_SECRET is wrong ({_start(value)}): copy it at api.slack.com/apps under Basic Information → Signing Secret; it is no token.",
            )
        )


def _api_url(given: str) -> str:
    """The address of the Web API with a slash at its end, which the library's joining needs."""
    if not given:
        return SLACK_API
    try:
        parts = urlsplit(given)
        local = parts.hostname in ("localhost", "::1") or (parts.hostname or "").startswith("127.")
        usable = bool(parts.hostname) and not parts.query and not parts.fragment and parts.port != 0
    except ValueError:
        usable = local = False
    if not usable or (parts.scheme != "https" and not (parts.scheme == "http" and local)):
        raise SlackSettingError(
            Bilingual(
                zh=f"SLACK_API_URL 不对（{_start(given)}）：应为 https:// 开头的地址（本机可用 http://），例如 {SLACK_API}；平时不用设。",
                en=f"SLACK_API_URL is wrong ({_start(given)}): give an address that begins with https:// (http:// only on this machine), such as {SLACK_API}; it is normally left unset.",
            )
        )
    return given if given.endswith("/") else f"{given}/"


def _ids(name: str, environment: Mapping[str, str], letters: str, example: str) -> frozenset[str]:
    ids = frozenset(filter(None, re.split(r"[\s,，、;；]+", environment.get(name, ""))))
    for value in sorted(ids):
        if re.fullmatch(rf"[{letters}][A-Z0-9]{{2,}}", value) is None:
            raise SlackSettingError(
                Bilingual(
                    zh=f"{name} 里的 {_start(value)} 不是 id：要写 {example} 这样的 id（不是名字），用逗号分开。",
                    en=f"{_start(value)} in {name} is no id: give ids such as {example} (not names), parted by commas.",
                )
            )
    return ids


def _start(value: str) -> str:
    return f"{value[:_SHOWN_CHARACTERS]}…"
