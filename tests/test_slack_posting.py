"""Posting into Slack against the local fake: limits obeyed, faults classed, nothing posted twice, nothing lost."""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Iterator
from http.client import RemoteDisconnected
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.error import URLError

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from assistant.slack.plain_fallback import pieces
from assistant.slack.posting import Poster, Responder, SlackBusyError, SlackUnreachableError, web_client
from assistant.slack.tokens import SlackTokens
from assistant.slack.view import Message
from assistant.slack.web_calls import LostConnectionRetry, SlackRefusedError
from evals.fake_slack import FakeSlack
from evals.fake_slack_state import ALICE, DIRECT, ELSEWHERE, GENERAL, Posted

LOG = logging.getLogger("test-slack-posting")
ROOT = "1700000000.000001"


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def slack() -> Iterator[FakeSlack]:
    with FakeSlack() as fake:
        yield fake


@pytest.fixture
def clock() -> Clock:
    return Clock()


def client_of(slack: FakeSlack, clock: Clock) -> WebClient:
    return web_client(SlackTokens(bot=slack.bot_token, api_url=slack.api_url), LOG, clock.sleep)


@pytest.fixture
def poster(slack: FakeSlack, clock: Clock) -> Poster:
    return Poster(client_of(slack, clock), LOG, clock=clock, sleep=clock.sleep)


def said(text: str) -> Message:
    return Message(({"type": "section", "text": {"type": "plain_text", "text": text}},), text)


def texts(messages: list[Posted]) -> list[str]:
    return [message.shown for message in messages]


LARGE = Message(
    (
        {
            "type": "rich_text",
            "elements": [
                {"type": "rich_text_section", "elements": [{"type": "text", "text": "租 A100 & H100，"}]},
                {
                    "type": "rich_text_list",
                    "style": "bullet",
                    "elements": [
                        {
                            "type": "rich_text_section",
                            "elements": [{"type": "link", "url": "https://e.test/x", "text": "价目表"}],
                        }
                    ],
                },
            ],
        },
        {
            "type": "table",
            "rows": [
                [{"type": "raw_text", "text": "云厂商"}, {"type": "raw_text", "text": "元/小时"}],
                [{"type": "raw_text", "text": "腾讯云"}, {"type": "raw_text", "text": "28.19"}],
            ],
        },
        {"type": "section", "text": {"type": "plain_text", "text": "句子。" * 1_000}},
        {"type": "section", "text": {"type": "plain_text", "text": "The end."}},
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "action_id": "gpu_per",
                    "value": "{}",
                    "text": {"type": "plain_text", "text": "BUTTON"},
                }
            ],
        },
    ),
    "short",
)


def test_messages_are_posted_in_their_order_without_link_previews(slack: FakeSlack, poster: Poster) -> None:
    ts = poster.post(GENERAL, ROOT, (said("一"), said("two")))
    assert [(each.ts, each.thread_ts, each.shown) for each in slack.replies()] == [
        (ts[0], ROOT, "一"),
        (ts[1], ROOT, "two"),
    ]
    assert all(call.arguments["unfurl_links"] is False for call in slack.calls_of("chat.postMessage"))
    poster.post(DIRECT, None, (said("x"),))
    assert [each.thread_ts for each in slack.replies(DIRECT)] == [None]


@pytest.mark.parametrize(("old", "new"), [(1, 3), (2, 2), (3, 1), (0, 2), (2, 0)])
def test_replacing_updates_in_place_posts_more_and_deletes_the_surplus(
    slack: FakeSlack, poster: Poster, old: int, new: int
) -> None:
    before = poster.post(GENERAL, ROOT, [said(f"old {n}") for n in range(old)])
    after = poster.replace(GENERAL, ROOT, before, [said(f"new {n}") for n in range(new)])
    assert after[:old] == before[:new]
    assert [(each.ts, each.shown) for each in slack.replies()] == [(after[n], f"new {n}") for n in range(new)]


def test_what_was_deleted_meanwhile_is_posted_anew(slack: FakeSlack, poster: Poster) -> None:
    (old,) = poster.post(GENERAL, ROOT, (said("old"),))
    slack.messages[GENERAL, old].deleted = True
    (new,) = poster.replace(GENERAL, ROOT, (old,), (said("new"),))
    assert new != old
    assert texts(slack.replies()) == ["new"]
    assert not slack.calls_of("chat.delete")


@pytest.mark.parametrize("error", ["edit_window_closed", "cant_update_message", "streaming_state_conflict"])
def test_what_slack_no_longer_lets_us_edit_is_posted_anew_and_taken_away(
    slack: FakeSlack, poster: Poster, error: str
) -> None:
    old = poster.post(GENERAL, ROOT, (said("old"),))
    slack.fail("chat.update", error)
    new = poster.replace(GENERAL, ROOT, old, (said("new"),))
    assert new != old
    assert texts(slack.replies()) == ["new"]


@pytest.mark.parametrize("error", ["msg_blocks_too_long", "msg_too_long", "invalid_blocks"])
@pytest.mark.parametrize("is_update", [False, True])
def test_too_large_a_message_goes_out_whole_as_plain_text(
    slack: FakeSlack, poster: Poster, error: str, is_update: bool
) -> None:
    old = poster.post(GENERAL, ROOT, (said("draft"),)) if is_update else ()
    slack.fail("chat.update" if is_update else "chat.postMessage", error)
    ts = poster.replace(GENERAL, ROOT, old, (LARGE,))
    shown = texts(slack.replies())
    assert len(ts) == len(shown) == 2
    assert ts[:1] == old[:1] or not is_update
    assert max(map(len, shown)) <= 3_000
    whole = "".join(shown)
    assert whole.startswith("租 A100 & H100，\n- 价目表\n云厂商 | 元/小时\n腾讯云 | 28.19\n句子。")
    assert whole.count("句子。") == 1_000
    assert whole.endswith("The end.")
    assert "BUTTON" not in whole
    assert "&amp;" in slack.replies()[0].text  # the fallback text is markup to Slack
    assert slack.faults == []


@pytest.mark.parametrize(
    ("text", "most"), [("甲乙。丙丁。" * 50, 17), ("a line\n" * 40, 30), ("x" * 100, 9), ("word " * 30, 11), ("", 5)]
)
def test_pieces_lose_no_character(text: str, most: int) -> None:
    found = pieces(text, most)
    assert "".join(found) == text
    assert all(0 < len(each) <= most for each in found)


@pytest.mark.parametrize(
    ("error", "is_final"),
    [
        ("channel_not_found", True),
        ("not_in_channel", True),
        ("is_archived", True),
        ("account_inactive", True),
        ("token_revoked", True),
        ("invalid_auth", True),
        ("missing_scope", True),
        ("some_new_error", True),
        ("internal_error", False),
        ("service_unavailable", False),
    ],
)
@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update"])
def test_refusals_are_told_apart_from_what_may_pass(
    slack: FakeSlack, poster: Poster, method: str, error: str, is_final: bool
) -> None:
    old = poster.post(GENERAL, ROOT, (said("old"),)) if method == "chat.update" else ()
    slack.fail("*", error, times=2)
    with pytest.raises(SlackUnreachableError, match=error) as caught:
        poster.replace(GENERAL, ROOT, old, (said("new"),))
    assert caught.value.is_final is is_final
    assert " / " in str(caught.value)
    assert slack.bot_token not in str(caught.value)


def test_a_bot_that_is_not_in_the_channel_says_so(poster: Poster) -> None:
    with pytest.raises(SlackUnreachableError, match="not_in_channel"):
        poster.post(ELSEWHERE, None, (said("x"),))


def test_a_rate_limit_is_waited_for_and_the_message_is_posted_once(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    slack.rate_limit("chat.postMessage", 7, times=2)
    poster.post(GENERAL, ROOT, (said("x"),))
    assert clock.slept == [7, 7]
    assert texts(slack.replies()) == ["x"]


def test_rate_limits_are_not_waited_for_without_end(slack: FakeSlack, poster: Poster, clock: Clock) -> None:
    slack.rate_limit("chat.postMessage", 100, times=9)
    with pytest.raises(SlackBusyError) as caught:
        poster.post(GENERAL, ROOT, (said("x"),))
    assert clock.slept == [100]
    assert (caught.value.limited, caught.value.retry_after_seconds) == (True, 100)


def test_a_draft_that_is_turned_away_is_left_out_and_others_hold_back(
    slack: FakeSlack, poster: Poster, clock: Clock
) -> None:
    (ts,) = poster.post(GENERAL, ROOT, (said("x"),))
    slack.rate_limit("chat.update", 30)
    with pytest.raises(SlackBusyError):
        poster.edit_draft(GENERAL, ts, said("y"))
    assert clock.slept == []
    assert not poster.drafts_welcome()
    clock.now += 30
    assert poster.drafts_welcome()


def test_posts_in_one_channel_keep_to_one_a_second_after_a_short_burst(poster: Poster, clock: Clock) -> None:
    poster.post(GENERAL, ROOT, [said(str(n)) for n in range(5)])
    assert clock.slept == [1.0, 1.0]
    poster.post(DIRECT, None, (said("elsewhere"),))
    assert clock.slept == [1.0, 1.0]


_LOST, _NEVER_SENT = RemoteDisconnected("gone"), URLError("refused")


@pytest.mark.parametrize(
    ("method", "error", "status", "again"),
    [
        ("chat.postMessage", _NEVER_SENT, None, True),
        ("chat.postMessage", _LOST, None, False),  # it may have been posted: a second one would answer twice
        ("chat.postMessage", TimeoutError(), None, False),
        ("chat.postMessage", None, 503, False),
        ("chat.startStream", _LOST, None, False),
        ("chat.appendStream", _LOST, None, False),
        ("files.completeUploadExternal", _LOST, None, False),
        ("chat.update", _LOST, None, True),
        ("chat.update", TimeoutError(), None, True),
        ("chat.update", None, 503, True),
        ("chat.update", None, 404, False),
        ("chat.delete", ConnectionResetError(), None, True),
        ("chat.update", KeyError("ours"), None, False),
    ],
)
def test_only_calls_that_may_be_made_twice_are_made_twice(
    method: str, error: Exception | None, status: int | None, again: bool
) -> None:
    request = HttpRequest(method="POST", url=f"https://slack.com/api/{method}", headers={})
    response = HttpResponse(status_code=status, headers={}) if status else None
    retry = LostConnectionRetry()
    assert retry.can_retry(state=RetryState(), request=request, response=response, error=error) is again
    tired = RetryState(current_attempt=retry.max_retry_count)
    assert not retry.can_retry(state=tired, request=request, response=response, error=error)


def test_a_slack_that_cannot_be_reached_is_tried_a_few_times(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    with FakeSlack() as closed:
        client = client_of(closed, clock)
    with pytest.raises(SlackBusyError, match="URLError"):
        Poster(client, LOG, clock=clock, sleep=clock.sleep).post(GENERAL, ROOT, (said("x"),))
    assert len(clock.slept) == 3
    assert closed.bot_token not in caplog.text


@contextlib.contextmanager
def deaf_slack(seen: list[bytes]) -> Iterator[str]:
    """A server that reads every request whole and hangs up without an answer."""

    class Deaf(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(self.rfile.read(int(self.headers["Content-Length"])))

    with HTTPServer(("127.0.0.1", 0), Deaf) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/api/"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(("is_update", "calls"), [(False, 1), (True, 4)])
def test_a_post_whose_answer_was_lost_is_not_repeated_and_an_update_is(
    clock: Clock, is_update: bool, calls: int
) -> None:
    seen: list[bytes] = []
    with deaf_slack(seen) as address:
        client = web_client(SlackTokens(bot="xoxb-0", api_url=address), LOG, clock.sleep)
        with pytest.raises(SlackBusyError, match="RemoteDisconnected"):
            Poster(client, LOG, clock=clock, sleep=clock.sleep).replace(
                GENERAL, ROOT, ("1.000001",) if is_update else (), (said("x"),)
            )
    assert len(seen) == calls


def test_requests_to_this_machine_pass_no_proxy(
    slack: FakeSlack, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "example.test")
    monkeypatch.setenv("no_proxy", "")
    assert client_of(slack, clock).auth_test()["ok"]


def test_a_chart_is_shared_in_the_thread_and_taken_away(slack: FakeSlack, poster: Poster) -> None:
    file_id = poster.upload_chart(GENERAL, ROOT, b"\x89PNG...", "租用价格", "A100 价格")
    file = slack.files[file_id]
    assert (file.channel, file.thread_ts, file.title, file.alt_text) == (GENERAL, ROOT, "租用价格", "A100 价格")
    assert file.content == b"\x89PNG..."
    poster.remove_file(file_id)
    poster.remove_file(file_id)
    assert file.deleted


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal"])
def test_a_chart_that_cannot_be_uploaded_costs_no_answer(
    slack: FakeSlack, poster: Poster, caplog: pytest.LogCaptureFixture, method: str
) -> None:
    slack.fail(method, "missing_scope")
    assert poster.upload_chart(GENERAL, ROOT, b"PNG", "t", "a") == ""
    assert "missing_scope" in caplog.text


def test_removing_what_is_gone_is_no_news_and_other_faults_are_logged(
    slack: FakeSlack, poster: Poster, caplog: pytest.LogCaptureFixture
) -> None:
    ts = poster.post(GENERAL, ROOT, (said("a"), said("b")))
    poster.remove(GENERAL, *ts)
    poster.remove(GENERAL, *ts)
    assert slack.replies() == []
    assert caplog.text == ""
    slack.fail("chat.delete", "cant_delete_message")
    poster.remove(GENERAL, ts[0])
    assert "cant_delete_message" in caplog.text


def test_assistant_calls_fail_quietly_where_there_is_no_assistant(slack: FakeSlack, poster: Poster) -> None:
    prompts = ({"title": "价格", "message": "A100 价格"},)
    assert poster.suggest(DIRECT, ROOT, prompts)
    assert slack.prompts[DIRECT, ROOT] == [dict(prompts[0])]
    slack.fail("*", "channel_not_found", times=3)
    outcomes = [poster.status("D1", ROOT, "…"), poster.title("D1", ROOT, "t"), poster.suggest("D1", ROOT, prompts)]
    assert outcomes == [False, False, False]


class TestResponder:
    @pytest.fixture
    def responder(self, slack: FakeSlack, clock: Clock) -> Responder:
        return Responder(client_of(slack, clock), LOG, clock=clock)

    def test_one_person_or_all_see_it(self, slack: FakeSlack, responder: Responder) -> None:
        url = slack.response_url(GENERAL, ALICE)
        responder.post_ephemeral(url, (said("只给您"),))
        assert [(each.shown, each.to) for each in slack.ephemerals] == [("只给您", ALICE)]
        responder.post_in_channel(url, (said("for all"),))
        assert texts(slack.replies()) == ["for all"]

    def test_an_answer_to_a_click_in_a_thread_can_stand_there(self, slack: FakeSlack, responder: Responder) -> None:
        responder.post_ephemeral(slack.response_url(GENERAL, ALICE), (said("x"),), thread_ts=ROOT)
        assert [each.thread_ts for each in slack.ephemerals] == [ROOT]

    def test_a_click_replaces_the_message_and_adds_the_others(self, slack: FakeSlack, responder: Responder) -> None:
        url = slack.response_url(GENERAL, ALICE)
        responder.post_ephemeral(url, (said("old"),))
        again = slack.response_url(GENERAL, ALICE, slack.ephemerals[0].ts)
        responder.post_ephemeral(again, (said("new"), said("more")), replace_original=True)
        assert texts(slack.ephemerals) == ["new", "more"]

    def test_what_is_over_five_posts_is_folded_into_the_last(
        self, slack: FakeSlack, responder: Responder, clock: Clock
    ) -> None:
        url = slack.response_url(GENERAL, ALICE)
        responder.post_ephemeral(url, [said(f"part {n}") for n in range(7)])
        assert texts(slack.ephemerals)[:4] == [f"part {n}" for n in range(4)]
        assert slack.ephemerals[4].shown == "part 4\n\npart 5\n\npart 6"
        with pytest.raises(SlackUnreachableError, match="used_url"):
            responder.post_ephemeral(url, (said("one more"),))
        assert len(slack.calls_of("response_url")) == 5
        clock.now += 31 * 60
        responder.post_ephemeral(slack.response_url(GENERAL, ALICE), (said("another"),))
        assert responder.posts_left(url) == 5  # forgotten: Slack has let it expire

    def test_blocks_that_slack_refuses_go_out_as_plain_text(self, slack: FakeSlack, responder: Responder) -> None:
        slack.fail("response_url", "invalid_blocks")
        responder.post_ephemeral(slack.response_url(GENERAL, ALICE), (LARGE,))
        assert "腾讯云 | 28.19" in slack.ephemerals[0].shown
        assert slack.faults == []

    @pytest.mark.parametrize("error", ["expired_url", "invalid_blocks"])
    def test_a_response_that_is_refused_for_good_is_told(
        self, slack: FakeSlack, responder: Responder, error: str
    ) -> None:
        slack.fail("response_url", error, times=2)
        url = slack.response_url(GENERAL, ALICE)
        with pytest.raises(SlackUnreachableError, match=error) as caught:
            responder.post_ephemeral(url, (said("x"),))
        assert url not in str(caught.value)


@pytest.mark.parametrize("body", [{}, {"ok": False, "error": "<html>bad gateway</html>"}])
def test_answers_that_are_not_slacks_count_as_busy(
    poster: Poster, monkeypatch: pytest.MonkeyPatch, body: dict[str, Any]
) -> None:
    def replied(**_: Any) -> dict[str, Any]:
        return {"status": 200, "headers": {}, "body": json.dumps(body)}

    monkeypatch.setattr(poster.client, "_perform_urllib_http_request", replied)
    with pytest.raises(SlackBusyError):
        poster.post(GENERAL, ROOT, (said("x"),))


def test_a_refused_edit_of_a_draft_is_no_unreachable_slack(slack: FakeSlack, poster: Poster) -> None:
    with pytest.raises(SlackRefusedError):
        poster.edit_draft(GENERAL, "1.000001", said("x"))


def test_faults_of_slack_sdk_outside_of_posting_are_classed_alike(slack: FakeSlack, poster: Poster) -> None:
    slack.fail("auth.test", "invalid_auth")
    with pytest.raises(SlackApiError) as refused:
        poster.client.auth_test()
    slack.fail("auth.test", "internal_error")
    with pytest.raises(SlackApiError) as busy:
        poster.client.auth_test()
    classed = [SlackUnreachableError.of(error) for error in (refused.value, busy.value, URLError("x"), TimeoutError())]
    assert [error.is_final for error in classed] == [True, False, False, False]
