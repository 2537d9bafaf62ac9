"""`/gpu settings ...` -> the channel's settings with what was typed changed, or what can be typed instead.

Reads words only: it keeps nothing. Values are stored as keys (zh, CNY, alibaba), whatever language they were typed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rapidfuzz import fuzz, process

from assistant.evidence import Bilingual, Language
from assistant.slack.command_kinds import NAME, BadCommand, SettingsCommand
from assistant.slack.view import ChannelSettings
from assistant.slack.words import settings_lines
from knowledge.catalog import load_catalog
from knowledge.names import all_names, display, link, normalise

KEYS: dict[str, tuple[str, ...]] = {
    "language": ("language", "lang", "语言"),
    "currency": ("currency", "money", "币种", "货币"),
    "providers": ("providers", "provider", "clouds", "cloud", "云厂商", "厂商", "云", "平台"),
    "ephemeral": ("ephemeral", "private", "仅自己", "仅自己可见", "私密"),
}
SETTING_OF = {alias: key for key, aliases in KEYS.items() for alias in aliases}
RESET = frozenset({"reset", "default", "defaults", "重置", "恢复默认", "默认"})
NONE = frozenset({"auto", "automatic", "none", "default", "all", "any", "自动", "默认", "全部", "所有", "不限", "原币"})
LANGUAGES: dict[str, Language] = {
    **dict.fromkeys(("zh", "cn", "chinese", "中文", "汉语", "zh-cn"), "zh"),
    **dict.fromkeys(("en", "english", "英文", "英语", "en-us"), "en"),
}  # fmt: skip
CURRENCY_WORDS = {
    "人民币": "CNY", "元": "CNY", "rmb": "CNY", "yuan": "CNY", "¥": "CNY", "美元": "USD", "美金": "USD", "dollar": "USD",
    "dollars": "USD", "$": "USD", "us$": "USD", "欧元": "EUR", "euro": "EUR", "euros": "EUR", "€": "EUR", "英镑": "GBP",
    "£": "GBP", "日元": "JPY", "yen": "JPY",
}  # fmt: skip
ON = frozenset({"on", "yes", "true", "1", "开", "是", "打开", "开启"})
OFF = frozenset({"off", "no", "false", "0", "关", "否", "关闭", "不"})
SLIP_PERCENT = 60


class _NotAChoiceError(ValueError):
    """A value that the setting does not take; `said` names what it takes."""

    def __init__(self, said: Bilingual) -> None:
        super().__init__(said.en)
        self.said = said


def change_settings(rest: str, settings: ChannelSettings, language: Language) -> SettingsCommand | BadCommand:
    """The settings with every `name value` of the text taken in; BadCommand, and nothing changed, if one is not known."""
    words = _words(rest)
    if len(words) == 1 and words[0].casefold() in RESET:
        return _saved(ChannelSettings(), settings, language)
    pairs = _pairs(words)
    if pairs is None:
        return BadCommand(_unknown_setting(words[0]), language)
    changed = settings
    try:
        for key, value in pairs:
            changed = changed.model_copy(update={key: READERS[key](value)})
    except _NotAChoiceError as error:
        return BadCommand(error.said, language)
    return _saved(changed, settings, language)


def _saved(changed: ChannelSettings, before: ChannelSettings, language: Language) -> SettingsCommand:
    told = [_told(changed, before, each) for each in ("zh", "en")]
    zh, en = (text or same for text, same in zip(told, ("没有变化。", "Nothing changed."), strict=True))
    return SettingsCommand(changed, Bilingual(zh=zh, en=en), changed.language or language)


def _told(changed: ChannelSettings, before: ChannelSettings, language: Language) -> str:
    """The settings that are new, in one sentence; "" where none is."""
    now, then = settings_lines(changed, language), settings_lines(before, language)
    colon, stop, parted = ("：", "。", "；") if language == "zh" else (": ", ".", "; ")
    new = [f"{what}{colon}{value}" for (what, value, _), was in zip(now, then, strict=True) if value != was[1]]
    return f"{'已保存：' if language == 'zh' else 'Saved: '}{parted.join(new)}{stop}" if new else ""


def _words(rest: str) -> list[str]:
    """The words; a name may be glued to its value (language=zh, 语言：中文)."""
    text = normalise(rest).translate(str.maketrans("=", " ", "\"'“”‘’`"))
    return re.sub(r"(?<=\w):(?=\s|\w)", " ", text).split()


def names_a_setting(text: str) -> bool:
    """Whether the text begins with the name of a setting, or resets them."""
    first = next(iter(_words(text)), "").casefold()
    return first in SETTING_OF or first in RESET


def _pairs(words: list[str]) -> list[tuple[str, str]] | None:
    """Each setting's name with the words up to the next one; None where the first word is no setting's name."""
    found: list[tuple[str, list[str]]] = []
    for word in words:
        key = SETTING_OF.get(word.casefold())
        if key and not (key == "providers" and found and found[-1][0] == key):  # Tencent Cloud: a part of the name
            found.append((key, []))
        elif found:
            found[-1][1].append(word)
        else:
            return None
    return [(key, " ".join(value)) for key, value in found]


def _language(value: str) -> Language | None:
    if value.casefold() in NONE:
        return None
    if found := LANGUAGES.get(value.casefold()):
        return found
    raise _NotAChoiceError(
        Bilingual(
            zh=f"语言可以是中文、英文或自动，不能是“{value}”。例如：{NAME} 设置 语言 中文",
            en=f'The language can be zh, en or auto, not "{value}". For example: {NAME} settings language en',
        )
    )


def _currency(value: str) -> str:
    if value.casefold() in NONE:
        return ""
    catalog = load_catalog()
    codes = sorted({"CNY", "USD", *(rate.currency for rate in catalog.rates)})
    code = CURRENCY_WORDS.get(value.casefold(), value.upper())
    if code in codes:
        return code
    listed = "、".join(codes)
    raise _NotAChoiceError(
        Bilingual(
            zh=f"币种可以是 {listed} 或“自动”，不能是“{value}”：别的币种没有汇率。例如：{NAME} 设置 币种 CNY",
            en=f'The currency can be {", ".join(codes)} or auto, not "{value}": for others there is no rate. For example: {NAME} settings currency USD',
        )
    )


def _providers(value: str) -> tuple[str, ...]:
    """The keys of the clouds named, in order, each once. Raises _NotAChoiceError for a word that is no cloud."""
    if value.casefold() in NONE:
        return ()
    keys: list[str] = []
    unknown: list[str] = [] if value else [""]
    for part in _parts(value):
        found = [each.key for each in link(part) if each.kind == "provider"]
        keys += found
        if not found:
            unknown.append(part)
    if unknown:
        raise _NotAChoiceError(_unknown_provider(unknown))
    return tuple(dict.fromkeys(keys))


def _parts(value: str) -> list[str]:
    """Names parted by commas; else, where blanks part them, names of several words (Tencent Cloud) stay whole."""
    parts = [part.strip() for part in re.split(r"[,、;，；/]+", value) if part.strip()]
    if len(parts) > 1:
        return parts
    links = [each for each in link(value) if each.kind == "provider"]
    rest, at = [], 0
    for each in links:
        rest += value[at : each.start].split()
        at = each.end
    rest += value[at:].split()
    joining = {"and", "和", "与", "cloud", "云"}
    return [*(each.text for each in links), *(word for word in rest if word.casefold() not in joining)]


def _ephemeral(value: str) -> bool:
    if value.casefold() in ON | OFF:
        return value.casefold() in ON
    raise _NotAChoiceError(
        Bilingual(
            zh=f"“仅自己”只能是开或关，不能是“{value}”。例如：{NAME} 设置 仅自己 关",
            en=f'ephemeral can be on or off, not "{value}". For example: {NAME} settings ephemeral off',
        )
    )


READERS: dict[str, Callable[[str], object]] = {
    "language": _language,
    "currency": _currency,
    "providers": _providers,
    "ephemeral": _ephemeral,
}


def _unknown_setting(word: str) -> Bilingual:
    aliases = [alias for names in KEYS.values() for alias in names]
    near = process.extractOne(word.casefold(), aliases, scorer=fuzz.ratio, score_cutoff=SLIP_PERCENT)
    zh = f"是指 {near[0]} 吗？" if near else ""
    en = f" Is {near[0]} meant?" if near else ""
    return Bilingual(
        zh=f"没有“{word}”这个设置。{zh}可以设置的有：语言、币种、云厂商、仅自己。",
        en=f'There is no setting "{word}".{en} The settings are language, currency, providers and ephemeral.',
    )


def _unknown_provider(words: list[str]) -> Bilingual:
    """Names what was not understood, and the clouds spelt most like it, else some that have prices."""
    word = words[0]
    spelt = {alias: name.key for name in all_names() if name.kind == "provider" for alias in name.aliases}
    near = process.extract(word.casefold(), list(spelt), scorer=fuzz.ratio, limit=2, score_cutoff=SLIP_PERCENT)
    keys = list(dict.fromkeys(spelt[alias] for alias, _, _ in near)) if word else []
    listed = keys or list(load_catalog().offers.providers()[:6])
    zh = "、".join(display("provider", key, "zh") for key in listed)
    en = ", ".join(display("provider", key, "en") for key in listed)
    meant_zh, meant_en = (
        (f"是指 {zh} 吗？", f"Is {en} meant?") if keys else (f"有价格的如 {zh}。", f"Some with prices: {en}.")
    )
    return Bilingual(
        zh=f"不认识云厂商“{word}”。{meant_zh}例如：{NAME} 设置 云厂商 阿里云、腾讯云",
        en=f'"{word}" is no provider that I know. {meant_en} For example: {NAME} settings providers AWS, Lambda',
    )
