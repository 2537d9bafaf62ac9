"""Codes, models and clouds that look like names but stand in no table: told as unknown, never taken for a neighbour."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.spellings import AFTER_CODE, AMOUNT, BEFORE_CODE

# Product codes that no table knows: RTX 6090, Tesla M60, H300, MI500X, MTT S4000, a bare 4070, 4090 laptop, 昇腾 310.
# p99 is a percentile, H264 a video format and v12 a version.
UNKNOWN_GPU = re.compile(
    rf"""
    {BEFORE_CODE} (?<!-)
    (?:
        (?:geforce[ -]?)? (?:rtx|gtx|rx) [ -]? (?:pro[ ])? [a-z]? \d{{3,4}}
      | (?:nvidia|tesla|quadro|radeon|arc|instinct) [ -]? (?:pro[ ])? [a-z]{{1,2}} \d{{2,4}}
      | (?!p(?:50|9[059])\b|h26[345]\b) (?:[abhlptz]|(?-i:V)|gb|gh|mi|br|mlu|mtt[ ]?s) \d{{2,4}}
      | (?<![$¥]) [3-6] 0 [5-9] 0 {AMOUNT}
    )
    (?:[a-z]{{1,2}})?? (?:[ ]?(?:ti|super|xtx?|ada|laptop|mobile))*? {AFTER_CODE}
    (?![ ]?(?:ti|super|xtx?|ada|laptop|mobile)\b) (?!-(?!\d+g|sxm|pcie|nvl)) (?:[ ]?(?:笔记本|移动版))?
  | (?:昇腾|ascend) [ ]? \d{{3}} [a-z]{{0,2}} (?![a-z0-9])
  | (?:tpu [ -]? v | (?:inferentia|trainium|gaudi) [ -]?) \d+ [a-z]* (?![a-z0-9])
  | (?:海光|寒武纪|摩尔线程|沐曦|壁仞|燧原|天数智芯|昆仑芯) [ ]? [a-z]{{1,4}} [ ]? \d{{0,4}} [a-z]? (?![a-z0-9])
    """,
    re.I | re.A | re.X,
)
# A model family that people name, in a size or version that no row speaks of.
_FAMILY = (
    r"(?:(?:tiny|code|open)[ -]?)?llama|code[ -]?qwen|qwen|qwq|(?:通义)?千问|mistral|mixtral|ministral|codestral|gemma|deepseek"
    r"|深度求索|baichuan|百川|falcon|mpt|(?:chat[ -]?)?glm|yi|零一万物|phi|gpt[ -]?oss|r1|bloomz?|opt|vicuna|internlm|书生|wizardlm"
    r"|starcoder|gpt[ -]?neox|gpt[ -]?j|pythia|minicpm|xverse|skywork|stablelm|nemotron|hunyuan|混元|olmo|granite"
)
_KIND_OF = (
    r"chat|instruct|base|coder|code|math|vl|audio|omni|nemotron|distill|蒸馏版?|qwen|llama|it|lite|moe|small|medium|mini|large|nemo"
    r"|vision|maverick"
)
UNKNOWN_MODEL = re.compile(
    rf"""
    (?<![a-z0-9]) (?:
        (?:{_FAMILY}) (?:[\s_:-]{{0,3}}(?:r1(?![a-z0-9])|v?\d+(?:\.\d+)?(?![\d.]*b)))? (?:[\s_-]{{0,3}}(?:{_KIND_OF})(?![a-z]))* [\s_:-]{{0,3}} \d+(?:x\d+)?(?:\.\d+)?b (?:[\s_-]{{0,3}}v\d(?:\.\d)?)?
      | deepseek[ -]?v\d(?:\.\d+)? | (?:chat)?glm[ -]?[4-9](?:\.\d)?(?:v|-air|-plus)?(?:-\d+b)? | llama[ -]?4[ -]?(?:maverick|behemoth)
      | phi[ -]?(?:1\.5|2|3\.5(?:[ -](?:mini|moe|vision))?|3[ -]?(?:small|medium|vision)|4[ -](?:multimodal|reasoning)) | mistral[ -]?(?:small|nemo|medium)
    ) (?![a-z0-9])
    """,
    re.I | re.A | re.X,
)
# Models that stand in no table at all: of which no shape is published, or not here. Grok-1, Kimi-K2, Ernie 4.5.
OTHER_MODEL = re.compile(
    r"""
    (?<![a-z0-9.-]) (?: grok[ -]?\d(?:\.\d)? | kimi(?:[ -]?(?:k\d(?:\.\d)?|vl|dev)(?![a-z0-9]))? | (?:ernie|文心(?:一言|大模型)?)(?:[ -]?\d(?:\.\d)?)?
      | (?:豆包|doubao|seed-oss)(?:[ -]?\d(?:\.\d)?)? | command[ -]?(?:r\+?|a) | jamba | minimax(?:[ -]?m\d)?
      | qwen\d(?:\.\d)?-(?:next|max|plus|omni)(?:-\d+b(?:-a\d+b)?)? | qwen\d(?:\.\d)?-\d+b-a\d+b
    ) (?![a-z0-9])
    """,
    re.I | re.A | re.X,
)
# Closed models: known to everybody, their sizes to nobody outside. An aside ("like ChatGPT") asks nothing of them.
CLOSED_MODEL = re.compile(
    r"(?<![a-z0-9])(?:gpt-?[45](?:\.\d)?(?:o|v)?(?:[ -](?:mini|turbo|nano|pro))?|gpt-?3\.5(?:[ -]turbo)?|chatgpt"
    r"|claude(?:[ -](?:\d(?:\.\d)?(?!\s*(?:[张卡台块]|x\b|cards?|gpus?))|opus|sonnet|haiku))*|gemini(?:[ -](?:\d(?:\.\d)?(?!\s*(?:[张卡台块]|x\b|cards?|gpus?))|pro|flash|ultra|nano))*|o[134](?:-mini|-preview|-pro))(?![a-z0-9])",
    re.I | re.A,
)
# What stands right before 云, cut after a particle, verb or counting word: 我想在小鸟云租 -> 小鸟云.
UNKNOWN_CHINESE_CLOUD = re.compile(
    r"[^\W\da-zA-Z_云在的用从和跟与同比是到于有无没不问说后选租买看去对向把被给让查想要能会可上下入迁放存传及或还都只全"
    r"这那哪一两三几多各每某个家朵种类台张块叫做么些]+云(?![服端计平厂主供存商实资环数原南])"
)
UNKNOWN_ENGLISH_CLOUD = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]{2,}cloud|[A-Za-z]+Cloud|[A-Z][A-Za-z]+ Cloud)(?![A-Za-z0-9])"
)
# The capitalised word after "on", "at", "from": TensorWave; not CUDA (all capitals) nor GPT4 (a digit).
UNKNOWN_PROVIDER = re.compile(
    r"(?:(?<![A-Za-z0-9])(?:on|at|from|with)|^(?:On|At|From|With)) (?P<name>[A-Z][A-Za-z]*[a-z][A-Za-z]*(?:\.(?:ai|com|io))?)(?![\w-])"
)
ABOUT_PRICES = re.compile(
    r"price|pric(?:ey|ing)|cost|rent|cheap|how much|charge|per hour|an hour|hourly|budget|expensive|价|钱|租|贵", re.I
)
# Capitalised words that name no provider.
_ORDINARY = """
a an all any average best both can chinese domestic each english every foreign hardware her his how i in is it its my one our
part please same some spot demand premise premises tell that the their these this those top two three what when where which
who why your you
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december christmas
china beijing shanghai shenzhen hangzhou hong taiwan singapore japan korea india europe germany america us asia
nvidia amd intel geforce quadro radeon tesla tensor hopper ampere turing volta blackwell ada nvlink pcie gpu gpus tpus
lora qlora peft llama qwen mistral mixtral deepseek gemma gemini bert gpt chatgpt claude glm baichuan internlm yi phi
whisper stable diffusion flux comfy comfyui alpaca vicuna bloom unsloth accelerate trainer adam adamw
linux windows ubuntu debian centos mac macos docker kubernetes slurm ray python java rust pytorch torch tensorflow keras
jax deepspeed megatron hugging huggingface transformers triton ollama jupyter excel github reddit wikipedia youtube
google meta openai anthropic microsoft apple
"""
NO_PROVIDERS = frozenset(_ORDINARY.split())
# Clouds in general, which name no provider: 国内云, the Cloud.
CLOUDS_IN_GENERAL = re.compile(
    r"(?:.*(?:国内|国外|海外|境外|中国|美国|主流|公有|私有|公共|混合|其他|其它|本地|自己|我们|便宜|推荐|全部|所有|别的|其余|另外|任何|任意)|[部大方白乌阴星])云"
    r"|(?:an?|ai|and|any|are|best|big|can|cheap|cheapest|chinese|compare|do|does|domestic|each|every|for|foreign|from|gpu"
    r"|hybrid|in|is|local|major|multi|my|no|of|on|one|or|other|our|own|point|private|public|rent|should|some|that|the"
    r"|this|to|use|using|vs|what|which|with|word|your) ?cloud",
    re.I,
)


def unknown_names(text: str) -> Iterator[tuple[int, int]]:
    """Spans of codes, models and clouds of no table, wherever they stand; known names may be among them."""
    for pattern in (UNKNOWN_GPU, UNKNOWN_MODEL, OTHER_MODEL, UNKNOWN_CHINESE_CLOUD, UNKNOWN_ENGLISH_CLOUD):
        for match in pattern.finditer(text):
            if not CLOUDS_IN_GENERAL.fullmatch(match.group()):
                yield match.span()


def is_model(name: str) -> bool:
    """Whether an unknown name is one of a model, not of a card or cloud."""
    return any(pattern.fullmatch(name) for pattern in (UNKNOWN_MODEL, OTHER_MODEL, CLOSED_MODEL))


def provider_places(text: str, about_gpus: bool) -> Iterator[tuple[int, int]]:
    """Spans of capitalised words where a provider would stand, in a text about GPUs or prices."""
    priced = ABOUT_PRICES.search(text)
    for match in UNKNOWN_PROVIDER.finditer(text):
        about = priced or (about_gpus and not match.group().lower().startswith("with"))
        if about and match["name"].lower() not in NO_PROVIDERS:
            yield match.span("name")
