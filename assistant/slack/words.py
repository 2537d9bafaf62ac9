"""The bot's standing messages: help, the channel's settings with how to change each, and the prompts of a new chat.

Every example in them is a command or question that the tests put to the command reader. Renders no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assistant.evidence import Bilingual, Language
from assistant.render import joined
from assistant.slack.view import Block, ChannelSettings, Message
from knowledge.names import display

LANGUAGES = {"zh": Bilingual(zh="中文", en="Chinese"), "en": Bilingual(zh="英文", en="English")}
# What to type, and what it does.
EXAMPLES: tuple[tuple[Bilingual, Bilingual], ...] = (
    (
        Bilingual(zh="/gpu 价格 A100 H100", en="/gpu prices A100 H100"),
        Bilingual(zh="比较租用价格", en="compares rental prices"),
    ),
    (
        Bilingual(zh="/gpu 费用 4x A100 72小时 腾讯云", en="/gpu cost 4x A100 72h Tencent Cloud"),
        Bilingual(zh="算一笔账，附算式", en="works out a bill, with its formula"),
    ),
    (
        Bilingual(zh="/gpu 显存 qwen2.5-72b int4 2x 4090", en="/gpu fit qwen2.5-72b int4 2x 4090"),
        Bilingual(zh="模型放不放得下", en="whether a model fits"),
    ),
    (
        Bilingual(zh="/gpu 微调 7B 用什么卡？", en="/gpu Which GPU do I need to fine-tune a 7B model?"),
        Bilingual(zh="别的问题照写", en="any other question, as you would say it"),
    ),
    (
        Bilingual(zh="/gpu 价格 A100 公开", en="/gpu prices A100 --public"),
        Bilingual(zh="答案给全频道看", en="shows the answer to the whole channel"),
    ),
    (
        Bilingual(zh="/gpu 设置 币种 人民币", en="/gpu settings currency CNY"),
        Bilingual(zh="本频道的语言、币种、云厂商", en="this channel's language, currency and providers"),
    ),
)
INTRODUCTION = Bilingual(
    zh="我回答 GPU 的租用、购买和显存问题，每个数字都有出处或算式。",
    en="I answer questions on renting, buying and sizing GPUs; every figure has its source or formula.",
)
ELSEWHERE = Bilingual(
    zh="也可以在频道里 @我，或直接发消息给我；在同一个消息列里接着问，不用再 @。",
    en="You can also mention me in a channel or message me directly; in the same thread just go on asking.",
)
TITLE = Bilingual(zh="本频道的设置", en="Settings of this channel")
PROMPTS: tuple[tuple[Bilingual, Bilingual], ...] = (
    (
        Bilingual(zh="比较 A100 和 H100 的租用价格", en="Compare rental prices of A100 and H100"),
        Bilingual(zh="A100 和 H100 的租用价格", en="Rental prices of A100 and H100"),
    ),
    (
        Bilingual(zh="4 张 A100 跑三天要多少钱", en="Cost of 4 A100s for three days"),
        Bilingual(zh="腾讯云租 4 张 A100 跑 72 小时多少钱？", en="What do 4 A100s for 72 hours cost at Tencent Cloud?"),
    ),
    (
        Bilingual(zh="72B 模型要多少显存", en="Memory that a 72B model needs"),
        Bilingual(
            zh="Qwen2.5-72B int4 在 2 张 4090 上跑得动吗？", en="Does Qwen2.5-72B in int4 fit on two RTX 4090 cards?"
        ),
    ),
    (
        Bilingual(zh="微调 7B 用什么卡", en="Which GPU for fine-tuning 7B"),
        Bilingual(zh="LoRA 微调 7B 模型要什么卡？", en="Which GPU do I need to fine-tune a 7B model with LoRA?"),
    ),
)
MIXED = ((0, "zh"), (2, "zh"), (1, "en"), (3, "en"))  # which prompts where the language is not known


def help_message(language: Language | None) -> Message:
    """What the bot does, by example; in both languages where none is known."""
    blocks: list[Block] = []
    for each in _languages(language):
        blocks.append(_rich(_paragraph(_text(INTRODUCTION[each]))))
        blocks.append(_rich(_list((_code(typed[each]), _text(f"  {does[each]}")) for typed, does in EXAMPLES)))
        blocks.append(_rich(_paragraph(_text(ELSEWHERE[each]))))
    return Message(tuple(blocks), " ".join(INTRODUCTION[each] for each in _languages(language)))


def settings_message(settings: ChannelSettings, language: Language | None, said: Bilingual | None = None) -> Message:
    """The channel's settings as they are, each with the command that changes it; `said` stands above them."""
    blocks = []
    for each in _languages(language):
        heading = said[each] if said else TITLE[each]
        lines = (
            (_bold(what), _text(f"{'：' if each == 'zh' else ': '}{value}  "), _code(typed))
            for what, value, typed in settings_lines(settings, each)
        )
        blocks.append(_rich(_paragraph(_bold(heading)), _list(lines)))
    return Message(tuple(blocks), " / ".join((said or TITLE)[each] for each in _languages(language)))


def settings_lines(settings: ChannelSettings, language: Language) -> tuple[tuple[str, str, str], ...]:
    """Each setting: what it is called, how it stands, and what to type to change it."""
    zh = language == "zh"
    spoken = LANGUAGES[settings.language][language] if settings.language else _of(zh, "随提问", "that of the question")
    providers = joined((display("provider", key, language) for key in settings.providers), language)
    seen = settings.ephemeral
    return (
        (_of(zh, "语言", "Language"), spoken, _of(zh, "/gpu 设置 语言 中文|英文|自动", "/gpu settings language zh|en|auto")),
        (
            _of(zh, "币种", "Currency"),
            settings.currency or _of(zh, "按价目原币", "as the price rows state"),
            _of(zh, "/gpu 设置 币种 CNY|USD|自动", "/gpu settings currency CNY|USD|auto"),
        ),
        (
            _of(zh, "云厂商", "Providers"),
            providers or _of(zh, "全部", "all"),
            _of(zh, "/gpu 设置 云厂商 阿里云、腾讯云|全部", "/gpu settings providers AWS, Lambda|all"),
        ),
        (
            _of(zh, "/gpu 的答案", "Answers of /gpu"),
            _of(zh, "只有提问者看见" if seen else "全频道看见", "only you see them" if seen else "the whole channel sees them"),
            _of(zh, "/gpu 设置 仅自己 开|关", "/gpu settings ephemeral on|off"),
        ),
    )  # fmt: skip


def suggested_prompts(language: Language | None) -> tuple[dict[str, str], ...]:
    """Four prompts, {title, message}, for the assistant container; two in each language where none is known."""
    if language:
        return tuple({"title": title[language], "message": message[language]} for title, message in PROMPTS)
    chosen: Sequence[tuple[int, Language]] = [(at, "zh" if spoken == "zh" else "en") for at, spoken in MIXED]
    return tuple({"title": PROMPTS[at][0][each], "message": PROMPTS[at][1][each]} for at, each in chosen)


def _languages(language: Language | None) -> tuple[Language, ...]:
    return (language,) if language else ("zh", "en")


def _of(zh: bool, chinese: str, english: str) -> str:
    return chinese if zh else english


def _rich(*elements: Block) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def _paragraph(*parts: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(parts)}


def _list(items: Iterable[Sequence[Block]]) -> Block:
    return {"type": "rich_text_list", "style": "bullet", "elements": [_paragraph(*item) for item in items]}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _bold(text: str) -> Block:
    return {"type": "text", "text": text, "style": {"bold": True}}


def _code(text: str) -> Block:
    return {"type": "text", "text": text, "style": {"code": True}}
