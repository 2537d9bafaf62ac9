"""Finds GPU, provider, model, method and workload names in a question, in Chinese and English.

Knows spellings only: what a thing costs or can do stands in the catalogue. Nothing here guesses a
model code: `A1O0` is read as A100, but A10 is never "corrected" to A100.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from opencc import OpenCC
from rapidfuzz.distance import OSA

Kind = Literal["gpu", "provider", "model", "method", "workload", "unknown"]
TABLE = Path(__file__).parent / "tables" / "names.csv"

# Cyrillic and Greek letters that look like Latin ones: a question typed with them means the Latin name.
LOOKALIKES = str.maketrans("АВЕКМНОРСТХаеорсхуΑΒΕΗΙΚΜΝΟΡΤΧ", "ABEKMHOPCTXaeopcxyABEHIKMNOPTX")
INVISIBLE = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad]")
UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")  # control characters and halves of characters
LATIN_TOKEN = re.compile(r"[A-Za-z0-9]+")
# Words one slip away from a name that mean something else.
NO_SLIPS = frozenset({"collab", "falcons", "lambda", "lambdas", "lamda", "maxpool", "oracles"})

BEFORE_CODE = r"(?:(?<![a-z0-9.])|(?<=\d[x*×]))"
AFTER_CODE = r"(?:(?![a-z0-9])|(?=s(?![a-z0-9])|x\d|-\d+g))(?!\.\d)"
# What follows a number that is an amount of money or data and not the name of a card: 4090 元, 3060 rows.
AMOUNT = r"(?!\s*(?:元|块钱|条|行数据|rows?\b|samples?\b|rmb\b|cny\b|yuan\b|usd\b|dollars?\b))"
# Product codes that no table knows: RTX 6090, Tesla M40, H300, MI500X, MTT S4000, a bare 4070, 昇腾 310.
# p99 is a percentile, H264 a video format and v12 a version.
UNKNOWN_GPU = re.compile(
    rf"""
    {BEFORE_CODE} (?<!-)
    (?:
        (?:geforce[ -]?)? (?:rtx|gtx|rx) [ -]? (?:pro[ ])? [a-z]? \d{{3,4}}
      | (?:nvidia|tesla|quadro|radeon|arc|instinct) [ -]? (?:pro[ ])? [a-z]{{1,2}} \d{{2,4}}
      | (?!p(?:50|9[059])\b|h26[345]\b) (?:[abhlptz]|(?-i:V)|gb|gh|mi|br|mtt[ ]?s) \d{{2,4}}
      | (?<![$¥]) [3-6] 0 [5-9] 0 {AMOUNT}
    )
    (?:[a-z]{{1,2}})?? (?:[ ]?(?:ti|super|xtx?|ada))*? {AFTER_CODE} (?![ ]?(?:ti|super|xtx?|ada)\b) (?!-(?!\d+g|sxm|pcie|nvl))
  | (?:昇腾|ascend) [ ]? \d{{3}} [a-z]?
    """,
    re.I | re.A | re.X,
)
# A known family in a size or version that no row speaks of.
UNKNOWN_MODEL = re.compile(
    r"(?<![a-z0-9])(?:(?:falcon|mpt|chatglm2?)[ -]?\d+(?:\.\d+)?b|chatglm[ -]?[3-9](?:-\d+b)?)(?![a-z0-9])", re.I | re.A
)
# What stands right before 云, cut after a particle, verb or counting word: 我想在小鸟云租 -> 小鸟云.
UNKNOWN_CHINESE_CLOUD = re.compile(
    r"[^\W\da-zA-Z_云在的用从和跟与同比是到于有无没不问说后选租买看去对向把被给让查想要能会可上下入迁放存传及或还都只全"
    r"这那哪一两三几多各每某个家朵种类台张块叫做么些]+云(?![服端计平厂主供存商实资环数原南])"
)
UNKNOWN_ENGLISH_CLOUD = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z]{2,}cloud|[A-Za-z]+Cloud|[A-Z][A-Za-z]+ Cloud)(?![A-Za-z0-9])"
)
# The capitalised word after "on", "at", "from": Scaleway, TensorWave; not CUDA (all capitals) nor GPT4 (a digit).
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


@dataclass(frozen=True)
class Name:
    """One row of names.csv: a thing, what each language calls it, and other spellings."""

    kind: Kind
    key: str
    zh: str
    en: str
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class Link:
    """A name found in a text; `start` and `end` count characters of the normalised text.

    `key` is the row of names.csv, or for kind "unknown" the words as written.
    """

    kind: Kind
    key: str
    text: str
    start: int
    end: int


def normalise(text: str) -> str:
    """One spelling for widths, invisible characters, look-alike letters and traditional Chinese."""
    text = UNWRITABLE.sub(" ", INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))
    simplified: str = _simplified().convert(text.translate(LOOKALIKES))
    return simplified.replace(
        "升腾", "昇腾"
    )  # a product name, whose first character the converter takes for traditional


def link(text: str) -> list[Link]:
    """Every name in a *normalised* text, in order, without overlaps; longest spelling wins.

    Slips of the pen in words (tencnet, alibabba) are forgiven, in product codes only O for 0.
    Codes and clouds that look like names but are in no table come back as kind "unknown".
    """
    found = [_linked(match) for match in _pattern().finditer(text)]
    found += _misspelt(text, found)
    found += _unknown(text, found)
    return sorted(found, key=lambda item: item.start)


def display(kind: Kind, key: str, language: Literal["zh", "en"]) -> str:
    """What readers of a language call the thing; an unknown key is shown as it is."""
    for name in all_names():
        if name.kind == kind and name.key == key:
            return name.zh if language == "zh" else name.en
    return key


@cache
def all_names() -> tuple[Name, ...]:
    """All rows of names.csv."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(
            Name(row["kind"], row["key"], row["zh"], row["en"], tuple(row["aliases"].split(";")))  # type: ignore[arg-type]
            for row in csv.DictReader(file)
        )


def _linked(match: re.Match[str]) -> Link:
    name = _by_alias()[_squeeze(match.group())]
    return Link(name.kind, name.key, match.group(), match.start(), match.end())


def _misspelt(text: str, found: Sequence[Link]) -> list[Link]:
    links = []
    for match in LATIN_TOKEN.finditer(text):
        if _overlaps(match.start(), match.end(), found):
            continue
        word = match.group().lower()
        name = _zero_for_o(word) or _nearest(word)
        if name:
            links.append(Link(name.kind, name.key, match.group(), match.start(), match.end()))
    return links


def _zero_for_o(word: str) -> Name | None:
    """A1OO -> A100; only where the result is a name and the word has a digit."""
    if "o" not in word or not any(c.isdigit() for c in word):
        return None
    return _by_alias().get(word.replace("o", "0"))


def _nearest(word: str) -> Name | None:
    """The one provider or model within one slip (two from ten letters on); words of letters only."""
    if len(word) < 5 or not word.isalpha() or word in NO_SLIPS or word in _by_alias():
        return None
    allowed = 2 if len(word) >= 10 else 1
    close = {
        name.key: name
        for alias, name in _by_alias().items()
        if name.kind in ("provider", "model") and alias.isascii() and alias.isalpha() and len(alias) >= 5
        and alias[0] == word[0] and OSA.distance(word, alias, score_cutoff=allowed) <= allowed
    }  # fmt: skip
    return next(iter(close.values())) if len(close) == 1 else None


def _unknown(text: str, found: Sequence[Link]) -> list[Link]:
    links: list[Link] = []
    for pattern in (UNKNOWN_GPU, UNKNOWN_MODEL, UNKNOWN_CHINESE_CLOUD, UNKNOWN_ENGLISH_CLOUD):
        for match in pattern.finditer(text):
            words = match.group()
            if not _overlaps(match.start(), match.end(), [*found, *links]) and not CLOUDS_IN_GENERAL.fullmatch(words):
                links.append(Link("unknown", words, words, match.start(), match.end()))
    return links + _unknown_providers(text, [*found, *links])


def _unknown_providers(text: str, found: Sequence[Link]) -> list[Link]:
    """Capitalised words where a provider would stand, in a text about GPUs or prices."""
    priced, gpus = ABOUT_PRICES.search(text), any(item.kind == "gpu" for item in found)
    links = []
    for match in UNKNOWN_PROVIDER.finditer(text):
        word, start, end = match["name"], *match.span("name")
        about = priced or (gpus and not match.group().lower().startswith("with"))
        if about and word.lower() not in NO_PROVIDERS and not _overlaps(start, end, found):
            links.append(Link("unknown", word, word, start, end))
    return links


def _overlaps(start: int, end: int, links: Iterable[Link]) -> bool:
    return any(item.start < end and start < item.end for item in links)


@cache
def _by_alias() -> dict[str, Name]:
    return {_squeeze(alias): name for name in all_names() for alias in name.aliases}


def _squeeze(alias: str) -> str:
    return re.sub(r"[\s_-]+", "", alias.lower())


@cache
def _pattern() -> re.Pattern[str]:
    """One alternation over all spellings, longest first; spaces and hyphens inside a name are optional."""
    spellings = {alias: name.kind for name in all_names() for alias in name.aliases}
    parts = [_spelling(alias, spellings[alias]) for alias in sorted(spellings, key=len, reverse=True)]
    return re.compile("|".join(parts), re.I | re.A)


def _spelling(alias: str, kind: Kind) -> str:
    """The pattern of one alias and what may not stand beside it."""
    words = r"[\s_-]*".join(re.escape(word) for word in re.split(r"[\s_-]+", alias) if word)
    before = BEFORE_CODE if alias[0].isascii() else ""
    after = r"(?![a-z0-9])(?!\.\d)" if alias[-1].isascii() else ""
    if alias[-1].isdigit():
        after = AFTER_CODE
    if kind == "model":
        after += r"(?![\s-]*\d+(?:\.\d+)?b(?![a-z0-9]))"  # Falcon 180B is not Falcon-40B
    if kind == "gpu":
        after += (
            r"(?!\s?(?:ti|super)\b)" if alias[-4:].isdigit() else r"(?!\s?\d{3})" if not alias[-1].isascii() else ""
        )
    if alias.isdigit():
        before, after = rf"(?<![$¥]){before}", after + AMOUNT
    return f"{before}{words}{after}"


@cache
def _simplified() -> OpenCC:
    return OpenCC("t2s")
