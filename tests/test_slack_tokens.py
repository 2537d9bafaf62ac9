"""The bot's settings, and that no secret gets into the log by any way the library writes it."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from slack_bolt import App
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.request import BoltRequest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from assistant.slack.tokens import SLACK_API, SlackSettingError, SlackTokens, slack_logger, slack_tokens

BOT, APP, SIGNING = "xoxb-1-bottail", "xapp-1-A1-apptail", "5ec7e7badc0ffee0"
GOOD = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}
LOUD = ("gpu_advisor.slack", "slack_sdk.webhook.client", "slack_sdk.web.base_client")


def test_without_tokens_there_is_no_bot() -> None:
    assert slack_tokens({}) is None
    assert slack_tokens({"SLACK_BOT_TOKEN": " ", "GPU_ADVISOR_SLACK_CHANNELS": "C0123"}) is None


def test_an_app_token_means_socket_mode_and_a_signing_secret_http() -> None:
    socket = slack_tokens({**GOOD, "SLACK_SIGNING_SECRET": SIGNING})
    http = slack_tokens({"SLACK_BOT_TOKEN": f" {BOT}\n", "SLACK_SIGNING_SECRET": SIGNING})
    assert socket
    assert http
    assert (socket.mode, http.mode) == ("socket", "http")
    assert (http.bot, http.api_url, http.channels, http.users) == (BOT, SLACK_API, frozenset(), frozenset())


def test_allow_lists_and_the_address_are_read() -> None:
    tokens = slack_tokens(
        {
            **GOOD,
            "SLACK_API_URL": "http://127.0.0.1:8080/api",
            "GPU_ADVISOR_SLACK_CHANNELS": "C0123, G0456，D0789、",
            "GPU_ADVISOR_SLACK_USERS": "U0123\nW0456",
        }
    )
    assert tokens
    assert tokens.api_url == "http://127.0.0.1:8080/api/"
    assert tokens.channels == {"C0123", "G0456", "D0789"}
    assert tokens.users == {"U0123", "W0456"}


def test_printing_the_tokens_shows_none() -> None:
    shown = repr(SlackTokens(BOT, APP, SIGNING))
    assert not any(secret in shown for secret in (BOT, APP, SIGNING))


@pytest.mark.parametrize(
    ("name", "environment"),
    [
        ("SLACK_BOT_TOKEN", {"SLACK_APP_TOKEN": APP}),
        ("SLACK_BOT_TOKEN", {"SLACK_SIGNING_SECRET": SIGNING}),
        ("SLACK_BOT_TOKEN", {**GOOD, "SLACK_BOT_TOKEN": "xoxp-1-usertail"}),
        ("SLACK_BOT_TOKEN", {**GOOD, "SLACK_BOT_TOKEN": "xoxb-..."}),
        ("SLACK_BOT_TOKEN", {**GOOD, "SLACK_BOT_TOKEN": "xoxb-1 bottail"}),
        ("SLACK_APP_TOKEN", {"SLACK_BOT_TOKEN": BOT}),
        ("SLACK_SIGNING_SECRET", {"SLACK_BOT_TOKEN": BOT}),
        ("SLACK_APP_TOKEN", {**GOOD, "SLACK_APP_TOKEN": BOT}),
        ("SLACK_SIGNING_SECRET", {**GOOD, "SLACK_SIGNING_SECRET": BOT}),
        ("SLACK_SIGNING_SECRET", {**GOOD, "SLACK_SIGNING_SECRET": "short"}),
        ("SLACK_API_URL", {**GOOD, "SLACK_API_URL": "slack.example/api"}),
        ("SLACK_API_URL", {**GOOD, "SLACK_API_URL": "http://slack.example/api/"}),
        ("SLACK_API_URL", {**GOOD, "SLACK_API_URL": "http://[::1/api"}),
        ("SLACK_API_URL", {**GOOD, "SLACK_API_URL": "https://slack.example:99999/"}),
        ("GPU_ADVISOR_SLACK_CHANNELS", {**GOOD, "GPU_ADVISOR_SLACK_CHANNELS": "#gpu-prices"}),
        ("GPU_ADVISOR_SLACK_USERS", {**GOOD, "GPU_ADVISOR_SLACK_USERS": "U0123,C0123"}),
    ],
)
def test_a_wrong_setting_is_named_in_both_languages_without_its_value(name: str, environment: dict[str, str]) -> None:
    with pytest.raises(SlackSettingError) as raised:
        slack_tokens(environment)
    said = raised.value.said
    assert name in said.zh
    assert name in said.en
    given = environment.get(name, "")
    assert len(given) <= 5 or given not in str(raised.value)
    assert not any(tail in str(raised.value) for tail in ("bottail", "apptail", "usertail", SIGNING))


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that a handler at the root writes, at DEBUG."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s"))
    slack_logger(SlackTokens(BOT, APP, SIGNING))
    levels = {name: logging.getLogger(name).level for name in LOUD}
    logging.getLogger().addHandler(handler)
    for name in LOUD:
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield written
    logging.getLogger().removeHandler(handler)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"token {BOT}", "bottail"),
        (f"secret={SIGNING}", SIGNING),
        ("other xoxp-12-34-usertail", "usertail"),
        ("xoxe.xoxp-1-Mi0-refreshtail", "refreshtail"),
        ("xoxe-1-My0-refreshtail", "refreshtail"),
        ("xwfp-1-flowtail", "flowtail"),
        ("https://hooks.slack.com/commands/T1/22/urltail", "urltail"),
        (r"https:\/\/hooks.slack.com\/actions\/T1\/22\/urltail", "urltail"),
        ("response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1%2F22%2Furltail&a=1", "urltail"),
        ("{'response_url': 'http://127.0.0.1:9/respond/urltail'}", "urltail"),
        (r'{"response_url": "http:\/\/127.0.0.1:9\/respond\/urltail"}', "urltail"),
        ("wss://wss-primary.slack.com/link/?ticket=tickettail&app_id=9", "tickettail"),
        ("ws://127.0.0.1:9/link/?app_id=9&ticket=tickettail", "tickettail"),
        (r'{"url": "wss:\/\/w.slack.com\/link\/?ticket=tickettail"}', "tickettail"),
        ("{'token': 'verifytail', 'team_id': 'T1'}", "verifytail"),
        ('{"token":"verifytail","team_id":"T1"}', "verifytail"),
        ("token=verifytail&team_id=T1", "verifytail"),
        ("{'trigger_id': '1.2.triggertail'}", "triggertail"),
        ("Authorization: Bearer whatevertail", "whatevertail"),
    ],
)
def test_no_secret_stays_wherever_it_stands(log: io.StringIO, text: str, secret: str) -> None:
    logger = logging.getLogger("gpu_advisor.slack")
    logger.warning(text.replace("%", "%%") if "%" in text else text)
    logger.warning("said %s of %r", {"inner": text}, text)
    logger.warning("does not fit", text)
    try:
        try:
            raise ValueError(text)
        except ValueError as error:
            raise RuntimeError("outer") from error
    except RuntimeError:
        logger.exception("failed: %s", text, stack_info=True)
    written = log.getvalue()
    assert secret not in written
    assert "RuntimeError: outer" in written
    assert "ValueError" in written


def test_what_is_no_secret_stays(log: io.StringIO) -> None:
    said = "4 tokens per second, token count: 12, https://example.com/services/aws, C1-1700000001.000100 失败 50%"
    logging.getLogger("gpu_advisor.slack").warning(said)
    assert said in log.getvalue()


class _Refusing(BaseHTTPRequestHandler):
    """Answers every call with an error that repeats what it was sent, as a proxy's error page may."""

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        said = json.dumps({"ok": False, "error": "invalid_auth", "sent": f"{self.headers['Authorization']} {sent}"})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(said.encode())

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as served:
        thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}/"
        served.shutdown()
        thread.join()


def test_failing_calls_of_the_library_show_no_secret(log: io.StringIO, server: str) -> None:
    logger = logging.getLogger("gpu_advisor.slack")
    client = WebClient(BOT, base_url=server, logger=logger)
    try:
        client.chat_postMessage(channel="C1", text="hello")
    except SlackApiError:
        logger.exception("post failed")
    with pytest.raises(SlackApiError):
        client.apps_connections_open(app_token=APP)
    WebhookClient(f"{server}commands/T1/22/urltail").send(text="hello")  # as bolt's respond() does: with no logger
    written = log.getvalue()
    assert "post failed" in written
    assert "urltail" not in written
    assert "Sending a request" in written
    assert not any(secret in written for secret in ("bottail", "apptail", SIGNING))


def test_bolt_and_its_loggers_show_no_secret(log: io.StringIO, server: str) -> None:
    logger = logging.getLogger("gpu_advisor.slack")
    app = App(
        name="test_slack_tokens", client=WebClient(BOT, base_url=server, logger=logger), logger=logger,
        signing_secret=SIGNING, token_verification_enabled=False, process_before_response=True,
        authorize=lambda: AuthorizeResult(enterprise_id=None, team_id="T1", bot_token=BOT), request_verification_enabled=False,
    )  # fmt: skip
    body = {
        "token": "verifytail", "team_id": "T1", "type": "block_actions", "user": {"id": "U1"}, "trigger_id": "triggertail",
        "response_url": "https://hooks.slack.com/actions/T1/22/urltail", "actions": [{"action_id": "a", "block_id": "b"}],
    }  # fmt: skip

    def broken(ack: object, body: object, logger: logging.Logger) -> None:
        logger.warning("the listener got %s", body)
        raise RuntimeError(f"broke on {body} with {BOT}")

    app.action("a")(broken)
    for action in ("a", "unknown"):
        sent = {**body, "actions": [{"action_id": action, "block_id": "b"}]}
        app.dispatch(BoltRequest(body=json.dumps(sent), mode="socket_mode"))
    written = log.getvalue()
    assert len(written) > 500
    assert not any(tail in written for tail in ("verifytail", "urltail", "triggertail", "bottail", SIGNING)), written
