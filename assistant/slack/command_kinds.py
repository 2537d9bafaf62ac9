"""What `/gpu ...` can turn out to be: a question, help, the channel's settings, or something that needs a correction.

Data only; commands.py reads the text. `language` is the one to answer in: the channel's, else that of the words.
"""

from __future__ import annotations

from dataclasses import dataclass

from assistant.evidence import Bilingual, Language
from assistant.slack.view import ChannelSettings

NAME = "/gpu"


@dataclass(frozen=True)
class AskCommand:
    """A question for the advisor; `public`: the answer is for the whole channel, else for whoever asked."""

    question: str
    public: bool
    language: Language


@dataclass(frozen=True)
class HelpCommand:
    """What the bot can do is asked for; in both languages where nothing tells which."""

    language: Language | None = None


@dataclass(frozen=True)
class SettingsCommand:
    """The channel's settings as they are to be kept, or None where they are only to be shown; `said` heads the reply."""

    settings: ChannelSettings | None
    said: Bilingual
    language: Language


@dataclass(frozen=True)
class BadCommand:
    """The text cannot be meant as it stands; `said` names what is wrong and what to type."""

    said: Bilingual
    language: Language


Command = AskCommand | HelpCommand | SettingsCommand | BadCommand
