"""The command /gpu worked off: a question asked for one person or for the channel, help, and the channel's settings.

What the words after /gpu mean is read in commands.py.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from assistant.chat_session import TOO_LONG, TOO_MANY
from assistant.conversations import MAX_QUESTION_CHARACTERS
from assistant.evidence import Answer, Bilingual, Language
from assistant.reading import language_of
from assistant.slack.answers import notice
from assistant.slack.commands import AskCommand, BadCommand, HelpCommand, SettingsCommand, read_command
from assistant.slack.dialogue import Dialogue, owner_of
from assistant.slack.incoming import Question
from assistant.slack.not_answered import NOT_ALLOWED, NotReadyError
from assistant.slack.responder import Responder
from assistant.slack.state import Answered
from assistant.slack.view import Message, View
from assistant.slack.web_calls import SlackUnreachableError
from assistant.slack.words import help_message, settings_message

NOT_HERE = Bilingual(
    zh="我不在这个频道里，没法公开发布（请先 /invite 我），只给您看：",
    en="I am not in this channel, so I cannot post there (please /invite me first); for you alone:",
)


@dataclass(frozen=True)
class Command:
    """One use of /gpu."""

    team: str
    channel: str
    user: str
    text: str
    response_url: str

    @property
    def key(self) -> str:
        """Commands of one person in one channel are worked off one after the other."""
        return f"command-{self.channel}-{self.user}"


def read_slash(body: Mapping[str, Any]) -> Command | None:
    """The command of a payload; None for a malformed one."""
    try:
        team, channel, user = (str(body[key]) for key in ("team_id", "channel_id", "user_id"))
        return Command(team, channel, user, str(body.get("text") or ""), str(body["response_url"]))
    except KeyError:
        return None


class SlashCommands:
    """Works commands off. Nothing that a reader or Slack is the cause of is raised."""

    def __init__(self, dialogue: Dialogue, responder: Responder, logger: logging.Logger) -> None:
        self._dialogue = dialogue
        self._responder = responder
        self._log = logger

    def work_off(self, command: Command) -> None:
        """Do what the command says."""
        state = self._dialogue.state
        settings = state.settings(command.channel)
        try:
            if not self._dialogue.is_open_to(command.channel, command.user):
                self._tell(command, NOT_ALLOWED[settings.language or language_of(command.text)])
                return
            read = read_command(command.text, settings)
            match read:
                case HelpCommand(language=language):
                    self._respond(command, (help_message(language),))
                case SettingsCommand(settings=changed, language=language, said=said):
                    if changed is not None:
                        state.save_settings(command.channel, changed)
                    shown = changed or settings
                    self._respond(command, (settings_message(shown, shown.language or language, said),))
                case BadCommand(said=said, language=language):
                    self._tell(command, said[language])
                case AskCommand():
                    self._ask(command, read)
        except SlackUnreachableError as error:
            self._log.warning("a command in %s led nowhere: %s", command.channel, error)

    def _ask(self, command: Command, asked: AskCommand) -> None:
        language = self._dialogue.state.settings(command.channel).language or language_of(asked.question)
        if refusal := self._refusal(command, asked.question, language):
            self._tell(command, refusal)
        elif asked.public:
            self._ask_in_channel(command, asked, language)
        else:
            self._ask_for_one(command, asked, language)

    def _ask_for_one(self, command: Command, asked: AskCommand, language: Language, remark: str = "") -> None:
        thread = f"{command.channel}-command-{uuid.uuid4().hex}"  # a command stands alone: no question before it counts
        try:
            found = self._dialogue.ask(asked.question, thread, command.team)
        except NotReadyError as error:
            self._tell(command, error.sentence[language])
            return
        view = self._dialogue.first_view(command.channel)
        messages = self._dialogue.messages(found.answer, view, command.channel, found.turn, ephemeral=True)
        self._respond(command, (*([notice(remark)] if remark else []), *messages))

    def _ask_in_channel(self, command: Command, asked: AskCommand, language: Language) -> None:
        """The question as a message of its own, answered in its thread, where others can go on."""
        try:
            (root,) = self._dialogue.poster.post(
                command.channel, None, (question_message(command.user, command.text or asked.question),)
            )
        except SlackUnreachableError:
            self._ask_for_one(command, asked, language, NOT_HERE[language])
            return
        question = _question(command.team, command.channel, command.user, root, asked.question)
        self._dialogue.state.take(question)
        self._dialogue.answer_unlimited(question)

    def _refusal(self, command: Command, question: str, language: Language) -> str:
        if len(question) > MAX_QUESTION_CHARACTERS:
            return TOO_LONG[language]
        wait = self._dialogue.wait_for(command.user, command.team)
        return TOO_MANY[language].format(seconds=round(wait) + 1) if wait is not None else ""

    def _tell(self, command: Command, sentence: str) -> None:
        self._respond(command, (notice(sentence),))

    def _respond(self, command: Command, messages: tuple[Message, ...]) -> None:
        self._responder.post_ephemeral(command.response_url, messages)


def question_message(user: str, question: str) -> Message:
    """The question of a command as a message that the whole channel sees."""
    elements = [{"type": "user", "user_id": user}, {"type": "text", "text": f": {question}"}]
    block = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}
    return Message((block,), question.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def post_with_question(
    dialogue: Dialogue, responder: Responder, channel: str, team: str, user: str, answer: Answer, view: View,
    response_url: str,
) -> None:  # fmt: skip
    """Post an answer that one person alone saw: its question as a message of the channel, the answer in its thread."""
    language = dialogue.state.settings(channel).language or answer.language
    try:
        (root,) = dialogue.poster.post(channel, None, (question_message(user, answer.question),))
    except SlackUnreachableError:
        responder.post_ephemeral(response_url, (notice(NOT_HERE[language].rstrip("：:")),))
        return
    question = _question(team, channel, user, root, answer.question)
    turn = dialogue.conversations.append(question.thread, question.text, answer, owner_of(team))
    dialogue.state.keep(Answered.to(question, turn, (), view, settled=False))  # so that its thread is known at once
    replies = dialogue.poster.post(channel, root, dialogue.messages(answer, view, channel, turn))
    dialogue.keep(question, turn, replies, view, answer)


def _question(team: str, channel: str, user: str, ts: str, text: str) -> Question:
    return Question(
        event_id=f"command-{channel}-{ts}", team=team, channel=channel, kind="channel", user=user, ts=ts,
        thread_ts=None, text=text, mentioned=True, addresses_others=False,
    )  # fmt: skip
