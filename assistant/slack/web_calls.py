"""Calls of Slack's Web API: the client, what is tried again and how long, and what Slack's errors mean for us.

A call whose answer was lost is repeated only where doing it twice changes nothing: a message posted twice would answer
twice. This module composes no message and keeps no state.
"""

from __future__ import annotations

import copy
import logging
import os
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from http.client import HTTPException
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import urlsplit

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackRequestError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.http_retry.handler import RetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web import SlackResponse

if TYPE_CHECKING:
    from assistant.slack.tokens import SlackTokens

CALL_TIMEOUT_SECONDS = 20
HASTY_TIMEOUT_SECONDS = 8
RATE_LIMIT_TRIES = 6
CONNECTION_TRIES = 3
LONGEST_RATE_LIMIT_WAIT_SECONDS = 120.0

# Done twice, these leave what once would have left (a second delete says message_not_found, which counts as done).
REPEATABLE = frozenset(
    {
        "assistant.threads.setStatus",
        "assistant.threads.setSuggestedPrompts",
        "assistant.threads.setTitle",
        "auth.test",
        "chat.delete",
        "chat.stopStream",
        "chat.update",
        "conversations.history",
        "conversations.info",
        "conversations.replies",
        "files.delete",
        "files.getUploadURLExternal",
        "files.info",
        "users.info",
        "views.update",
    }
)
# Nothing that this process does will let it post there: somebody has to act in Slack first.
_GONE = frozenset(
    {
        "account_inactive",
        "cannot_dm_bot",
        "channel_not_found",
        "ekm_access_denied",
        "invalid_auth",
        "is_archived",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "not_in_channel",
        "org_login_required",
        "restricted_action",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
    }
)
_BUSY = frozenset(
    {
        "fatal_error",
        "internal_error",
        "message_limit_exceeded",
        "rate_limited",
        "ratelimited",
        "request_timeout",
        "service_unavailable",
        "team_added_to_org",
    }
)
_LIMITED = frozenset({"ratelimited", "rate_limited"})


class SlackUnreachableError(Exception):
    """Slack takes nothing there; the message is the sentence for the log. `code` is Slack's word, or the kind of fault.

    `is_final`: not until somebody acts (archived channel, bot not in it, token revoked ...); else it may pass by itself.
    """

    def __init__(self, code: str, channel: str = "", *, is_final: bool = True) -> None:
        place = f"（{channel}）" if channel else "", f" ({channel})" if channel else ""
        super().__init__(
            f"Slack 拒绝了这次调用{place[0]}：{code}。请检查令牌、权限（manifest）和机器人是否在频道里（/invite）。 / "
            f"Slack refuses this call{place[1]}: {code}. Check the tokens, the scopes (manifest), and whether the bot is "
            "in the channel (/invite)."
            if is_final
            else f"Slack 暂时联系不上：{code}。 / Slack cannot be reached now: {code}."
        )
        self.code = code
        self.is_final = is_final

    @classmethod
    def of(cls, error: Exception, channel: str = "") -> SlackUnreachableError:
        """What a fault of slack_sdk or of the connection comes to."""
        if not isinstance(error, SlackApiError):
            return SlackBusyError(type(error).__name__)
        fault = _classed(error, channel)
        return SlackUnreachableError(fault.code, channel) if isinstance(fault, SlackRefusedError) else fault


class SlackBusyError(SlackUnreachableError):
    """Slack cannot be reached now, or asks to wait for `retry_after_seconds`: the same may work later.

    After a lost connection nobody knows whether a post went through.
    """

    def __init__(self, code: str, retry_after_seconds: float = 0.0) -> None:
        super().__init__(code, is_final=False)
        self.retry_after_seconds = retry_after_seconds

    @property
    def limited(self) -> bool:
        """Whether the call was turned away for its rate, so that nothing of it was done."""
        return self.code in _LIMITED


class SlackRefusedError(Exception):
    """Slack refuses this very call (its text, its target) with `code`; another may pass."""

    def __init__(self, code: str) -> None:
        super().__init__(f"Slack 不接受这次调用：{code}。 / Slack does not take this call: {code}.")
        self.code = code


class RateLimitWait(RateLimitErrorRetryHandler):
    """Waits as Retry-After says, but never longer than `longest_seconds` for one call, all its tries together."""

    def __init__(
        self,
        longest_seconds: float = LONGEST_RATE_LIMIT_WAIT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(max_retry_count=RATE_LIMIT_TRIES)
        self._longest_seconds = longest_seconds
        self._sleep = sleep

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        limited = response is not None and response.status_code == HTTPStatus.TOO_MANY_REQUESTS
        return limited and _waited(state) + _retry_after(response) <= self._longest_seconds

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        """Sleep, and note in the state of the call for how long."""
        seconds = _retry_after(response)
        state.custom_values = {**(state.custom_values or {}), "waited_seconds": _waited(state) + seconds}
        state.next_attempt_requested = True
        self._sleep(seconds)
        state.increment_current_attempt()


class LostConnectionRetry(RetryHandler):
    """Tries again what certainly never arrived, and what REPEATABLE names after a lost answer or a server error."""

    def __init__(self, sleep: Callable[[float], None] = time.sleep) -> None:
        super().__init__(max_retry_count=CONNECTION_TRIES)
        self._sleep = sleep

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        repeatable = urlsplit(request.url).path.rsplit("/", 1)[-1] in REPEATABLE
        if response is not None:
            return repeatable and response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
        # urllib wraps in URLError what fails before the whole request is sent; later faults come as they are
        return isinstance(error, URLError) or (repeatable and isinstance(error, OSError | HTTPException))

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        """Sleep twice as long each time, from half a second."""
        state.next_attempt_requested = True
        self._sleep(self.interval_calculator.calculate_sleep_duration(state.current_attempt))
        state.increment_current_attempt()


def retry_handlers(sleep: Callable[[float], None] = time.sleep) -> list[RetryHandler]:
    """What every patient client of ours retries; the handlers keep no state, so clients may share them."""
    return [RateLimitWait(sleep=sleep), LostConnectionRetry(sleep)]


def web_client(tokens: SlackTokens, logger: logging.Logger, sleep: Callable[[float], None] = time.sleep) -> WebClient:
    """The client for the API that the tokens name: it obeys rate limits and survives short faults of the network."""
    address = tokens.api_url if tokens.api_url.endswith("/") else f"{tokens.api_url}/"
    spare_proxies(address)
    return WebClient(
        token=tokens.bot,
        base_url=address,
        timeout=CALL_TIMEOUT_SECONDS,
        logger=logger,
        retry_handlers=retry_handlers(sleep),
    )


def hasty(client: WebClient) -> WebClient:
    """The same client for calls that are better left out than waited for: nothing is tried again."""
    twin = copy.copy(client)
    twin.retry_handlers = []
    twin.timeout = HASTY_TIMEOUT_SECONDS
    return twin


def spare_proxies(address: str) -> None:
    """Let requests to this machine go straight: slack_sdk takes any HTTP(S)_PROXY, and heeds only NO_PROXY.

    Changes the environment of this process, where `address` is of this machine and not exempt already.
    """
    host = urlsplit(address).hostname or ""
    exempt = os.environ.get("no_proxy") or os.environ.get("NO_PROXY") or ""
    if _is_loopback(host) and exempt.strip() != "*" and host not in [each.strip() for each in exempt.split(",")]:
        os.environ["no_proxy"] = f"{exempt},{host}" if exempt else host  # the lower-case name goes before the other


def attempt(call: Callable[[], SlackResponse], channel: str = "") -> SlackResponse:
    """Make one call. Raises SlackUnreachableError, SlackBusyError or SlackRefusedError, and nothing of slack_sdk."""
    try:
        return call()
    except SlackApiError as error:
        raise _classed(error, channel) from error
    except SlackRequestError as error:
        raise SlackRefusedError("request_error") from error
    except (OSError, HTTPException, ValueError) as error:  # ValueError: the body of an answer was cut off
        raise SlackBusyError(type(error).__name__) from error


def _classed(error: SlackApiError, channel: str) -> SlackUnreachableError | SlackRefusedError:
    status = int(getattr(error.response, "status_code", 0) or 0)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        headers = {name.lower(): value for name, value in dict(error.response.headers).items()}
        return SlackBusyError("ratelimited", _seconds(headers.get("retry-after")))
    said = str(error.response.get("error") or "")
    is_slacks = re.fullmatch(r"[a-z0-9_]+", said) is not None
    code = said if is_slacks else f"http_{status}"
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or code in _BUSY or (status == HTTPStatus.OK and not is_slacks):
        return SlackBusyError(code)
    return SlackUnreachableError(code, channel) if code in _GONE else SlackRefusedError(code)


def _retry_after(response: HttpResponse | None) -> float:
    headers = {name.lower(): value for name, value in (response.headers if response else {}).items()}
    return _seconds(headers.get("retry-after"))


def _seconds(value: object) -> float:
    """The seconds that a Retry-After header asks for; one where it names none."""
    first = value[0] if isinstance(value, list) and value else value
    return float(str(first)) if re.fullmatch(r"\d+(\.\d+)?", str(first)) else 1.0


def _waited(state: RetryState) -> float:
    return float((state.custom_values or {}).get("waited_seconds", 0.0))


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
