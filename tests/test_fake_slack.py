"""The fake Slack against the real slack_sdk and slack_bolt: what the bot's tests stand on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.signature import SignatureVerifier
from slack_sdk.webhook import WebhookClient

from evals import slack_payloads
from evals.fake_slack import FakeSlack, signed
from evals.fake_slack_state import ALICE, BOT_USER, DIRECT, ELSEWHERE, GENERAL, SIGNING_SECRET, TEAM

TS = "1700000000.000100"
BUTTON = {"type": "button", "text": {"type": "plain_text", "text": "up"}, "action_id": "gpu_up", "value": "1"}
BLOCKS = [{"type": "actions", "elements": [BUTTON]}]
MODAL = {
    "type": "modal",
    "callback_id": "gpu_reason",
    "title": {"type": "plain_text", "text": "Why"},
    "submit": {"type": "plain_text", "text": "Send"},
    "blocks": [
        {
            "type": "input",
            "label": {"type": "plain_text", "text": "Reason"},
            "element": {"type": "plain_text_input", "action_id": "reason"},
        }
    ],
}


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        yield fake


@pytest.fixture
def client(slack: FakeSlack) -> WebClient:
    return WebClient(slack.bot_token, base_url=slack.api_url)


class Heard:
    """A bolt app that remembers what it was sent, connected in Socket Mode."""

    def __init__(self, slack: FakeSlack) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.event_ids: list[str] = []
        quiet = logging.getLogger("test.fake_slack")
        quiet.setLevel(logging.CRITICAL)
        client = WebClient(slack.bot_token, base_url=slack.api_url, logger=quiet)
        self.app = App(client=client, logger=quiet, token_verification_enabled=False)
        self.app.event("message")(lambda body: self.event_ids.append(body["event_id"]))
        self.app.event("app_mention")(lambda body, say: say(text="answer", thread_ts=body["event"]["ts"]))
        self.app.command("/gpu")(self.command)
        self.app.action("gpu_up")(self.clicked)
        self.app.view("gpu_reason")(self.submitted)
        self.handler = SocketModeHandler(self.app, slack.app_token, logger=quiet, ping_interval=0.05)

    def close(self) -> None:
        client = self.handler.client
        client.closed = True
        client.message_queue.put(None)  # or its reader waits out a second
        self.handler.close()

    def command(self, ack: Any, body: dict[str, Any], respond: Any) -> None:
        ack()
        respond(text="for you")

    def clicked(self, ack: Any, body: dict[str, Any], client: WebClient) -> None:
        ack()
        client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    def submitted(self, ack: Any, body: dict[str, Any]) -> None:
        ack()
        self.bodies.append(body)


@pytest.fixture
def heard(slack: FakeSlack) -> Iterator[Heard]:
    listening = Heard(slack)
    listening.handler.connect()
    slack.wait_until(lambda: slack.connected == 1)
    yield listening
    listening.close()


def refused(call: Any, **arguments: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        call(**arguments)
    return str(caught.value.response["error"])


def test_who_am_i_with_scopes(slack: FakeSlack, client: WebClient) -> None:
    answer = client.auth_test()
    assert (answer["team_id"], answer["user_id"]) == (TEAM, BOT_USER)
    assert "chat:write" in answer.headers["x-oauth-scopes"]
    assert refused(WebClient("xoxb-wrong", base_url=slack.api_url).auth_test) == "invalid_auth"
    assert refused(WebClient(slack.app_token, base_url=slack.api_url).auth_test) == "not_allowed_token_type"


def test_post_update_delete_keeps_the_history(slack: FakeSlack, client: WebClient) -> None:
    ts = client.chat_postMessage(channel=GENERAL, text="first", thread_ts=TS, blocks=BLOCKS)["ts"]
    client.chat_update(channel=GENERAL, ts=ts, text="second")
    (message,) = slack.replies(GENERAL, TS)
    assert message.text == "second"
    assert [edit["text"] for edit in message.edits] == ["first"]
    assert slack.replies(GENERAL, None) == []
    client.chat_delete(channel=GENERAL, ts=ts)
    assert slack.replies(GENERAL) == []
    assert refused(client.chat_update, channel=GENERAL, ts=ts, text="third") == "message_not_found"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": ELSEWHERE, "text": "x"}, "not_in_channel"),
        ({"channel": GENERAL, "text": "x" * 4001}, "msg_too_long"),
        ({"channel": GENERAL, "text": "x", "blocks": [{"type": "sektion"}]}, "invalid_blocks"),
        ({"channel": GENERAL, "text": " "}, "no_text"),
    ],
)
def test_errors_as_slack_gives_them(client: WebClient, arguments: dict[str, Any], error: str) -> None:
    assert refused(client.api_call, api_method="chat.postMessage", json=arguments) == error


def test_a_fault_is_kept_and_a_state_error_is_none(slack: FakeSlack, client: WebClient) -> None:
    refused(client.chat_postMessage, channel=ELSEWHERE, text="x")
    assert slack.faults == []
    refused(client.chat_postMessage, channel=GENERAL, text="x", blocks=[{"type": "divider", "text": "no"}])
    assert len(slack.faults) == 1
    assert "no field 'text'" in slack.faults[0]


def test_unknown_method_and_failures_asked_for(slack: FakeSlack, client: WebClient) -> None:
    assert refused(client.conversations_list) == "unknown_method"
    slack.fail("chat.postMessage", "fatal_error", times=2)
    assert [refused(client.chat_postMessage, channel=GENERAL, text="x") for _ in range(2)] == ["fatal_error"] * 2
    client.chat_postMessage(channel=GENERAL, text="x")
    assert [call.error for call in slack.calls_of("chat.postMessage")] == ["fatal_error", "fatal_error", ""]


def test_rate_limit_is_obeyed_by_the_retry_handler(
    slack: FakeSlack, client: WebClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("slack_sdk.http_retry.builtin_handlers.time.sleep", waited.append)
    slack.rate_limit("chat.postMessage", retry_after_seconds=7)
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel=GENERAL, text="x")
    assert caught.value.response.status_code == 429
    client.retry_handlers.append(RateLimitErrorRetryHandler(max_retry_count=1))
    slack.rate_limit("chat.postMessage", retry_after_seconds=7)
    client.chat_postMessage(channel=GENERAL, text="x")
    assert 7 <= waited[-1] < 8
    assert len(slack.replies(GENERAL)) == 1


def test_upload_of_a_file(slack: FakeSlack, client: WebClient) -> None:
    done = client.files_upload_v2(
        content=b"\x89PNG", filename="chart.png", title="图", alt_txt="bars", channel=GENERAL, thread_ts=TS
    )
    (file,) = slack.files.values()
    assert (file.content, file.title, file.alt_text, file.channel, file.thread_ts) == (
        b"\x89PNG",
        "图",
        "bars",
        GENERAL,
        TS,
    )
    assert slack.replies(GENERAL, TS)[0].files == [done["file"]["id"]]
    client.files_delete(file=file.id)
    assert slack.replies(GENERAL) == []


def test_stream_in_a_direct_message(slack: FakeSlack, client: WebClient) -> None:
    ts = client.chat_startStream(channel=DIRECT, thread_ts=TS, markdown_text="**a** ")["ts"]
    client.chat_appendStream(channel=DIRECT, ts=ts, markdown_text="b")
    assert refused(client.chat_update, channel=DIRECT, ts=ts, text="x") == "streaming_state_conflict"
    client.chat_stopStream(channel=DIRECT, ts=ts)
    assert (
        refused(client.chat_appendStream, channel=DIRECT, ts=ts, markdown_text="c") == "message_not_in_streaming_state"
    )
    client.chat_update(channel=DIRECT, ts=ts, text="final")
    (message,) = slack.replies(DIRECT)
    assert (message.edits[0]["text"], message.text) == ("**a** b", "final")


def test_streams_where_they_are_not_allowed(slack: FakeSlack, client: WebClient) -> None:
    in_channel = {"channel": GENERAL, "thread_ts": TS}
    assert refused(client.chat_startStream, channel=DIRECT, thread_ts="") == "missing_thread_ts"
    assert refused(client.chat_startStream, **in_channel) == "channel_type_not_supported"
    slack.streaming = "everywhere"
    assert refused(client.chat_startStream, **in_channel) == "missing_recipient_team_id"
    client.chat_startStream(**in_channel, recipient_team_id=TEAM, recipient_user_id=ALICE)
    slack.end_streams()
    ts = slack.replies(GENERAL)[0].ts
    assert (
        refused(client.chat_appendStream, channel=GENERAL, ts=ts, markdown_text="x") == "message_not_in_streaming_state"
    )
    slack.streaming = "off"
    assert refused(client.chat_startStream, channel=DIRECT, thread_ts=TS) == "feature_not_enabled"


def test_ephemeral_message_and_assistant_thread(slack: FakeSlack, client: WebClient) -> None:
    client.chat_postEphemeral(channel=GENERAL, user=ALICE, text="only you")
    assert [(message.to, message.text) for message in slack.ephemerals] == [(ALICE, "only you")]
    assert slack.replies(GENERAL) == []
    client.assistant_threads_setStatus(channel_id=DIRECT, thread_ts=TS, status="thinking")
    client.assistant_threads_setTitle(channel_id=DIRECT, thread_ts=TS, title="价格")
    client.assistant_threads_setSuggestedPrompts(
        channel_id=DIRECT, thread_ts=TS, prompts=[{"title": "t", "message": "m"}]
    )
    assert slack.statuses == [(DIRECT, TS, "thinking")]
    assert slack.titles == {(DIRECT, TS): "价格"}
    assert slack.prompts[DIRECT, TS][0]["message"] == "m"


def test_a_response_url_takes_five_posts(slack: FakeSlack) -> None:
    client = WebhookClient(slack.response_url(GENERAL, ALICE))
    assert [client.send(text=f"{number}").status_code for number in range(6)] == [200] * 5 + [404]
    assert [message.to for message in slack.ephemerals] == [ALICE] * 5


def test_a_response_url_replaces_and_deletes_what_was_clicked(slack: FakeSlack, client: WebClient) -> None:
    ts = client.chat_postMessage(channel=GENERAL, text="old")["ts"]
    hook = WebhookClient(slack.response_url(GENERAL, ALICE, ts))
    hook.send(text="new", replace_original=True)
    assert [(message.text, message.edits[0]["text"]) for message in slack.replies(GENERAL)] == [("new", "old")]
    hook.send(delete_original=True)
    assert slack.replies(GENERAL) == []
    assert hook.send(text="loud", response_type="in_channel").status_code == 200
    assert slack.replies(GENERAL)[0].text == "loud"


def test_an_event_is_acked_and_answered(slack: FakeSlack, heard: Heard) -> None:
    mention = slack_payloads.app_mention("A100?")
    (envelope,) = slack.send_event(mention)
    slack.wait_until(lambda: slack.replies(GENERAL, mention["event"]["ts"]) and envelope.id in slack.acks)
    assert envelope.delay_seconds is not None
    assert slack.unacked == []


def test_retries_are_new_envelopes_of_one_event(slack: FakeSlack, heard: Heard) -> None:
    payload = slack_payloads.message("hello", "im")
    envelopes = slack.send_event(payload, retries=2)
    slack.wait_until(lambda: len(slack.acks) == 3 and len(heard.event_ids) == 3)
    assert set(heard.event_ids) == {payload["event_id"]}
    assert [envelope.retry for envelope in envelopes] == [0, 1, 2]


def test_command_click_modal_and_submission(slack: FakeSlack, heard: Heard, client: WebClient) -> None:
    slack.send_command("prices A100", user=ALICE)
    slack.wait_until(lambda: slack.ephemerals)
    client.chat_postMessage(channel=GENERAL, text="t", blocks=BLOCKS)
    (message,) = slack.replies(GENERAL)
    with pytest.raises(KeyError, match="gpu_down"):
        slack.click(message, "gpu_down")
    slack.click(message, "gpu_up")
    slack.wait_until(lambda: slack.modals)
    slack.submit({"reason": "价格过期"})
    slack.wait_until(lambda: heard.bodies)
    assert heard.bodies[0]["view"]["state"]["values"]["reason"]["reason"]["value"] == "价格过期"


def test_a_used_or_old_trigger_opens_nothing(slack: FakeSlack, client: WebClient) -> None:
    assert refused(client.views_open, trigger_id="1.made.up", view=MODAL) == "invalid_trigger_id"
    slack.trigger_seconds = -1.0
    trigger = slack.new_trigger(ALICE)
    assert refused(client.views_open, trigger_id=trigger, view=MODAL) == "expired_trigger_id"


@pytest.mark.parametrize("way", ["drop", "refresh_requested", "warning"])
def test_a_lost_connection_is_made_again_and_events_go_on(slack: FakeSlack, heard: Heard, way: str) -> None:
    if way == "drop":
        assert slack.drop() == 1
    else:
        slack.disconnect(way)
    slack.wait_until(lambda: slack.socket.connected == 2)
    payload = slack_payloads.message("after", "channel")
    slack.send_event(payload)
    slack.wait_until(lambda: payload["event_id"] in heard.event_ids)


def test_what_came_while_nobody_was_connected_is_delivered_later(slack: FakeSlack) -> None:
    payload = slack_payloads.message("early", "mpim")
    slack.send_event(payload)
    late = Heard(slack)
    late.handler.connect()
    slack.wait_until(lambda: late.event_ids == [payload["event_id"]])
    late.close()


def test_an_event_that_was_not_acked_comes_again_after_the_drop(slack: FakeSlack, heard: Heard) -> None:
    held, free = threading.Event(), threading.Event()

    def hold(body: dict[str, Any], next: Any) -> None:
        held.set()
        free.wait(5)
        next()

    heard.app.use(hold)
    payload = slack_payloads.message("slow", "im")
    (envelope,) = slack.send_event(payload)
    assert held.wait(5)
    slack.drop()
    free.set()
    slack.wait_until(lambda: envelope.acked_at is not None)
    slack.wait_until(lambda: set(heard.event_ids) == {payload["event_id"]})


def test_pings_are_answered(slack: FakeSlack, heard: Heard) -> None:
    assert slack.socket.ping()


def test_a_ticket_is_good_for_one_connection(slack: FakeSlack) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    client = WebClient(base_url=slack.api_url)
    url = client.apps_connections_open(app_token=slack.app_token)["url"]
    with connect(url) as connection:
        assert '"hello"' in str(connection.recv(timeout=5))
        with pytest.raises(InvalidStatus), connect(url):
            pass


def test_wait_until_says_what_has_happened(slack: FakeSlack, client: WebClient) -> None:
    client.auth_test()
    with pytest.raises(TimeoutError, match=r"auth\.test"):
        slack.wait_until(lambda: False, timeout=0.0)


@pytest.mark.parametrize("body", ['{"type":"event_callback"}', urlencode({"command": "/gpu", "text": "价格"})])
def test_signature_is_the_one_slack_makes(body: str) -> None:
    verifier = SignatureVerifier(SIGNING_SECRET)
    assert verifier.is_valid_request(body, signed(body))
    assert not verifier.is_valid_request(body, signed(body, timestamp=1_700_000_000))
    assert not verifier.is_valid_request(body + " ", signed(body))
