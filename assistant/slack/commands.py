"""Reads what follows `/gpu`: a subcommand in Chinese or English, or a question in any words.

It makes the question that the advisor is asked; it answers nothing, and reads and keeps no settings itself.
"""

from __future__ import annotations

import re
import unicodedata

from rapidfuzz.distance import OSA

from assistant.evidence import Bilingual, Language
from assistant.reading import language_of
from assistant.slack.channel_settings import change_settings, names_a_setting
from assistant.slack.command_kinds import (
    NAME,
    AskCommand,
    BadCommand,
    Command,
    HelpCommand,
    SettingsCommand,
)
from assistant.slack.command_questions import Verb, is_only_names, question_of
from assistant.slack.incoming import plain_text
from assistant.slack.view import ChannelSettings
from assistant.slack.words import TITLE, help_message, settings_message, suggested_prompts
from knowledge.names import link

__all__ = [
    "AskCommand",
    "BadCommand",
    "Command",
    "HelpCommand",
    "SettingsCommand",
    "help_message",
    "read_command",
    "settings_message",
    "suggested_prompts",
]

QUESTION_VERBS: dict[str, tuple[Verb, Language]] = {
    **dict.fromkeys(("prices", "price", "compare"), ("prices", "en")),
    **dict.fromkeys(("价格", "比价", "价钱", "报价"), ("prices", "zh")),
    **dict.fromkeys(("cost", "costs"), ("cost", "en")),
    **dict.fromkeys(("费用", "成本", "花费"), ("cost", "zh")),
    **dict.fromkeys(("fit", "fits", "memory", "vram"), ("fit", "en")),
    **dict.fromkeys(("显存", "能不能跑", "跑得动吗"), ("fit", "zh")),
}
HELP: dict[str, Language] = {"help": "en", "usage": "en", "帮助": "zh", "用法": "zh"}
HELP_SIGNS = frozenset({"?", "-h", "--help"})
SETTINGS: dict[str, Language] = {"settings": "en", "setting": "en", "config": "en", "设置": "zh", "配置": "zh"}
NAMED_FOR_SLIPS = ("prices", "cost", "fit", "help", "settings")  # what a slip of an English verb is corrected to
LANGUAGE_WORDS: dict[str, Language] = {"zh": "zh", "中文": "zh", "chinese": "zh", "en": "en", "英文": "en", "english": "en"}  # fmt: skip
# Slack's clients make one dash of two.
VISIBILITY = re.compile(r"(?:(?<=\s)|^)(?:[-‐-―−]{1,2}(public|private|公开|仅自己)|(公开|仅自己))[。.!！]?\s*$", re.I)
QUOTES = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "„": '"', "«": '"', "»": '"'})
AROUND = " \t\n\"'`*_"
EXAMPLE: dict[Verb, Bilingual] = {
    "prices": Bilingual(zh=f"{NAME} 价格 A100 H100", en=f"{NAME} prices A100 H100"),
    "cost": Bilingual(zh=f"{NAME} 费用 4x A100 72小时 腾讯云", en=f"{NAME} cost 4x A100 72h Tencent Cloud"),
    "fit": Bilingual(zh=f"{NAME} 显存 qwen2.5-72b int4", en=f"{NAME} fit qwen2.5-72b int4"),
}


def read_command(text: str, settings: ChannelSettings) -> Command:
    """What the text after `/gpu` asks for in a channel with these settings; never raises."""
    written = plain_text(text, "").strip(AROUND)
    if written.casefold().startswith(f"{NAME} "):  # typed twice, or copied from the help
        written = written[len(NAME) :].strip(AROUND)
    written, public = _visibility(written, settings)
    verb, rest = _split(written)
    if not written or (verb in HELP_SIGNS and not rest):
        return HelpCommand(settings.language)
    if verb in HELP and (not rest or rest.casefold() in LANGUAGE_WORDS):
        return HelpCommand(LANGUAGE_WORDS.get(rest.casefold(), settings.language or HELP[verb]))
    if verb in SETTINGS:
        return _settings(rest, settings, settings.language or SETTINGS[verb])
    if verb in QUESTION_VERBS:
        kind, spoken = QUESTION_VERBS[verb]
        return _asked(kind, rest, written, public, settings, settings.language or spoken)
    return _slip(verb, rest, settings) or AskCommand(written, public, settings.language or language_of(written))


def _visibility(written: str, settings: ChannelSettings) -> tuple[str, bool]:
    """The text without its flags at the end, and whether the channel is to see the answer; the last flag counts."""
    public: bool | None = None
    while match := VISIBILITY.search(written):
        if public is None:
            public = (match[1] or match[2]).casefold() in ("public", "公开")
        written = written[: match.start()].rstrip()
    return written, not settings.ephemeral if public is None else public


def _split(written: str) -> tuple[str, str]:
    """The first word folded, and the rest; a Chinese verb may stand right before a name (价格A100)."""
    folded = unicodedata.normalize("NFKC", written).translate(QUOTES).strip(AROUND)
    first, _, rest = folded.partition(" ")
    verb = first.casefold().rstrip(":,")
    known = (*QUESTION_VERBS, *HELP, *SETTINGS)
    if verb not in known:
        glued = next(
            (each for each in known if re.match(rf"{each}[:,]?(?=[A-Za-z0-9])", verb) and not each.isascii()), ""
        )
        if glued:
            return glued, folded[len(glued) :].lstrip(":, ")
    return verb, " ".join(rest.split())


def _settings(rest: str, settings: ChannelSettings, language: Language) -> SettingsCommand | BadCommand:
    return change_settings(rest, settings, language) if rest else SettingsCommand(None, TITLE, language)


def _asked(
    verb: Verb, rest: str, written: str, public: bool, settings: ChannelSettings, language: Language
) -> AskCommand | BadCommand:
    """The subcommand's question; where more than names and figures was said, the words as they were written."""
    if not rest:
        example = EXAMPLE[verb]
        return BadCommand(
            Bilingual(zh=f"后面要写名称，例如：{example.zh}", en=f"Say of what, for example: {example.en}"), language
        )
    question = question_of(verb, rest, settings, language)
    if question is None:
        return AskCommand(written, public, language_of(written))
    return AskCommand(question, public, language)


def _slip(verb: str, rest: str, settings: ChannelSettings) -> BadCommand | None:
    """A first word that is a slip of a subcommand, before nothing that could make a question."""
    if len(verb) < 3 or not verb.isascii() or link(verb):
        return None
    near = min(NAMED_FOR_SLIPS, key=lambda each: OSA.distance(verb, each))
    if OSA.distance(verb, near) > (1 if len(near) < 6 else 2):
        return None
    if not (names_a_setting(rest) if near == "settings" and rest else is_only_names(rest)):
        return None
    typed = f"{NAME} {near} {rest}".rstrip()
    return BadCommand(
        Bilingual(
            zh=f"没有“{verb}”这个命令。是指这个吗：{typed}", en=f'There is no command "{verb}". Did you mean: {typed}'
        ),
        settings.language or language_of(typed),
    )
