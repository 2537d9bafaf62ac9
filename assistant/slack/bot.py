"""The bot wired to bolt: listens by Socket Mode or behind an HTTP route, acknowledges at once, hands on to workers.

Nothing is answered here. An event is on disk before it is acknowledged, so one that is lost half-way is answered after
the next start, and one that comes again is not answered again.

Errors: web_calls.SlackUnreachableError and SlackRefusedError (the tokens are refused, or Slack cannot be reached), state.SlackStateBrokenError and
SlackStateVersionError.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from slack_bolt import App, BoltRequest, BoltResponse
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltError

from assistant.accounts import User
from assistant.conversations import Answerer, Conversations
from assistant.request_limits import allow_question
from assistant.slack.buttons import MODAL_ID
from assistant.slack.clicks import Clicks, ReasonGiven, read_click
from assistant.slack.dialogue import Dialogue
from assistant.slack.incoming import Deleted, Edited, Ignored, Question, read_event
from assistant.slack.manifest import needed_scopes
from assistant.slack.posting import Poster
from assistant.slack.responder import Responder
from assistant.slack.slash import SlashCommands, read_slash
from assistant.slack.state import SlackState
from assistant.slack.thread_order import ThreadOrder
from assistant.slack.tokens import SlackTokens, slack_logger
from assistant.slack.web_calls import SlackBusyError, SlackRefusedError, SlackUnreachableError, attempt, web_client
from assistant.slack.words import suggested_prompts

COMMAND = "/gpu"
WORKERS = 8  # threads of Slack answered side by side
PING_SECONDS = 3.0  # a connection that broke without a word is noticed after four of these
LISTENERS = 16  # each only hands on
RESUMED_SECONDS = 600.0  # a question older than this is not answered after a restart: its reader has moved on
RETRY_SECONDS = (5.0, 15.0, 60.0)  # between attempts to reach Slack at the start; the last goes on
CLOSING_SECONDS = 5.0


@dataclass(frozen=True)
class Identity:
    """Who the bot is in its workspace."""

    team: str
    team_name: str
    user: str
    bot: str


class SlackBot:
    """One workspace's bot. `answerer_provider` gives None while the advisor is still being loaded."""

    def __init__(
        self,
        tokens: SlackTokens,
        answerer_provider: Callable[[], Answerer | None],
        conversations: Conversations,
        state: SlackState,
        may_ask: Callable[[User], float | None] = allow_question,
    ) -> None:
        self._tokens = tokens
        self._log = slack_logger(tokens)
        self._client = web_client(tokens, self._log)
        self._state = state
        self._order = ThreadOrder(WORKERS, logger=self._log)
        poster, responder = Poster(self._client, self._log), Responder(self._client, self._log)
        self._dialogue = Dialogue(tokens, answerer_provider, conversations, state, poster, self._log, may_ask)
        self._commands = SlashCommands(self._dialogue, responder, self._log)
        self._clicks = Clicks(self._dialogue, responder, self._log)
        self._identity: Identity | None = None
        self._socket: SocketModeHandler | None = None
        self._closed = threading.Event()
        self._listeners = ThreadPoolExecutor(LISTENERS, "slack-listener")
        self._app = self._wired()

    @property
    def identity(self) -> Identity | None:
        """Who the bot is, once Slack has said so."""
        return self._identity

    def start(self) -> Identity:
        """Ask Slack who the bot is, listen (in Socket Mode), and answer what was left. Raises SlackUnreachableError, SlackRefusedError."""
        identity = self._introduce()
        self._identity = identity
        if self._tokens.mode == "socket" and not self._closed.is_set():
            self._listen()
        for pending in self._state.unsettled(RESUMED_SECONDS):
            self._submit(pending.question)
        return identity

    def start_in_background(self) -> None:
        """start(), again and again until Slack is there; a token that Slack refuses is logged and ends it."""
        threading.Thread(target=self._keep_starting, name="slack-start", daemon=True).start()

    def handle(self, body: str, headers: Mapping[str, str]) -> BoltResponse:
        """One HTTP request of Slack's: bolt checks its signature before anything is read."""
        if self._identity is None:
            return BoltResponse(status=503, body="")
        return self._app.dispatch(BoltRequest(body=body, headers=dict(headers), mode="http"))

    def close(self) -> None:
        """Stop listening, let the workers end what they are at for a moment, and stop."""
        self._closed.set()
        if self._socket is not None:
            self._socket.close()  # type: ignore[no-untyped-call]
        self._listeners.shutdown(wait=False)
        self._order.close(CLOSING_SECONDS)

    def _listen(self) -> None:
        # One at a time, so that messages are queued in the order they were sent in; each takes milliseconds.
        socket = SocketModeHandler(
            self._app,
            self._tokens.app,
            logger=self._log,
            web_client=self._client,
            ping_interval=PING_SECONDS,
            concurrency=1,
        )
        try:
            attempt(socket.connect)
        except (SlackUnreachableError, SlackRefusedError):
            socket.close()  # type: ignore[no-untyped-call]
            raise
        self._socket = socket

    def _introduce(self) -> Identity:
        said = attempt(self._client.auth_test)
        granted = {scope.strip() for scope in said.headers.get("x-oauth-scopes", "").split(",") if scope.strip()}
        if granted and (missing := needed_scopes() - granted):
            self._log.warning("权限不足 / scopes are missing: %s; install the app again from the manifest", missing)
        return Identity(
            str(said["team_id"]), str(said.get("team", "")), str(said["user_id"]), str(said.get("bot_id", ""))
        )

    def _keep_starting(self) -> None:
        attempts = 0
        while not self._closed.is_set():
            try:
                identity = self.start()
            except SlackBusyError as error:
                self._log.warning("%s", error)
                self._closed.wait(RETRY_SECONDS[min(attempts, len(RETRY_SECONDS) - 1)])
                attempts += 1
            except (SlackUnreachableError, SlackRefusedError) as error:
                self._log.error("%s", error)
                return
            else:
                self._log.info("listening in %s", identity.team_name)
                return

    def _wired(self) -> App:
        self._log.addFilter(_of_no_matter)
        app = App(
            name="gpu-advisor", logger=self._log, client=self._client, signing_secret=self._tokens.signing_secret,
            authorize=lambda: self._authorized(), listener_executor=self._listeners, attaching_conversation_kwargs_enabled=False,
        )  # fmt: skip
        self._log.removeFilter(_of_no_matter)
        for kind in ("message", "app_mention"):
            app.event(kind, middleware=[self._take])(_nothing_to_do)
        app.event("assistant_thread_started")(self._on_assistant_thread)
        app.event("assistant_thread_context_changed")(_nothing_to_do)
        app.command(COMMAND, middleware=[self._take_command])(_nothing_to_do)
        app.action(re.compile(r"^gpu_"), middleware=[self._take_click])(_nothing_to_do)
        app.view(MODAL_ID, middleware=[self._take_reason])(_nothing_to_do)
        return app

    def _authorized(self) -> AuthorizeResult:
        who = self._identity
        if who is None:
            raise BoltError("an event came before Slack said who the bot is")
        return AuthorizeResult(
            enterprise_id=None, team_id=who.team, bot_user_id=who.user, bot_id=who.bot, bot_token=self._tokens.bot
        )

    def _take(self, body: dict[str, Any], next: Callable[[], None]) -> None:
        """Before the event is acknowledged: if it is for the bot and new, it is on disk and in its queue after this."""
        event = self._accepted(body)
        if event is not None:
            self._hand_on(event)
        next()

    def _accepted(self, body: dict[str, Any]) -> Question | Edited | Deleted | None:
        who = self._identity
        event = read_event(body, who.user, who.bot) if who else Ignored("not started")
        match event:
            case Question() if self._is_meant(event):
                return event if self._state.take(event) else None
            case Edited() | Deleted():
                return event if self._state.first_time(event.event_id) else None
            case Ignored(reason=reason):
                self._log.debug("left alone: %s", reason)
        return None

    def _is_meant(self, question: Question) -> bool:
        """A direct message, a call by name, or a follow-up in a thread that the bot answered in before."""
        if question.kind == "im" or question.mentioned:
            return True
        in_thread = question.thread_ts is not None and not question.addresses_others
        return in_thread and self._state.knows_thread(question.thread)

    def _hand_on(self, event: Question | Edited | Deleted) -> None:
        match event:
            case Question():
                self._submit(event)
            case Edited():
                self._order.submit(event.thread, lambda: self._dialogue.edited(event))
            case Deleted():
                self._dialogue.withdraw(event)
                known = self._state.answered(event.channel, event.ts)
                if known:
                    self._order.submit(known.thread, lambda: self._dialogue.deleted(event))

    def _submit(self, question: Question) -> None:
        self._dialogue.expect(question)
        self._order.submit(question.thread, lambda: self._dialogue.answer(question))

    def _on_assistant_thread(self, body: dict[str, Any]) -> None:
        thread = body["event"].get("assistant_thread", {})
        channel, thread_ts = str(thread.get("channel_id", "")), str(thread.get("thread_ts", ""))
        prompts = suggested_prompts(self._state.settings(channel).language)
        try:
            attempt(
                lambda: self._client.assistant_threads_setSuggestedPrompts(
                    channel_id=channel, thread_ts=thread_ts, prompts=list(prompts)
                )
            )
        except (SlackUnreachableError, SlackRefusedError) as error:
            self._log.warning("no suggestions in %s: %s", channel, error)

    # These three answer in the place of bolt, which would have a thread acknowledge and look for that every 10 ms.

    def _take_command(self, body: dict[str, Any]) -> BoltResponse:
        command = read_slash(body)
        if command and self._is_new("command", body):
            self._order.submit(command.key, lambda: self._commands.work_off(command))
        return _acknowledged()

    def _take_click(self, body: dict[str, Any]) -> BoltResponse:
        click = read_click(body)
        if click and self._is_new("click", body):
            if click.action == "gpu_down" and click.pressed.view.verdict == "down":
                self._listeners.submit(self._clicks.ask_for_reason, click)
            self._order.submit(click.key, lambda: self._clicks.work_off(click))
        return _acknowledged()

    def _take_reason(self, body: dict[str, Any]) -> BoltResponse:
        view = body["view"]
        (field,) = (field for block in view["state"]["values"].values() for field in block.values())
        self._clicks.reason_given(ReasonGiven.model_validate_json(view["private_metadata"]), field.get("value") or "")
        return _acknowledged()

    def _is_new(self, kind: str, body: Mapping[str, Any]) -> bool:
        """A command or click that Slack sends again has the trigger of the first."""
        trigger = str(body.get("trigger_id", ""))
        return not trigger or self._state.first_time(f"{kind}-{trigger}")


def _of_no_matter(record: logging.LogRecord) -> bool:
    """Bolt warns that it ignores a token which it read from the environment, the same as the one that it was given."""
    return not any(said in record.getMessage() for said in ("will be ignored", "will be unused"))


def _acknowledged() -> BoltResponse:
    return BoltResponse(status=200, body="")


def _nothing_to_do() -> None:
    """What bolt calls once it has acknowledged an event that was handed on already, or that the bot has no use for."""
