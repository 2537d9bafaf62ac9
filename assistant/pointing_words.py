"""Words that point at something said earlier, in both languages: going back, which of several, "it", "these two".

Regular expressions only; what they point at is found in references.py.
"""

from __future__ import annotations

import re

RETURN = re.compile(
    r"回到|说回|接着(?:刚才|之前|上面)|(?:刚才|刚刚|之前|前面|上面|最开始|一开始)(?:那个|那张|那台|说的?|问的?|提到的?|的)(?!最)|"
    r"\b(?:back to|as for the|earlier|previous|before that)\b",
    re.I,
)
# Which of several things said; "第一个月" and "第二天" are times, not things.
ORDINALS = tuple((at, re.compile(words, re.I)) for at, words in (
    (0, r"第[一1][个家款张种块](?!月|小时|星期|季)|前者|前一[个家款张种]|\bthe (?:first|former)\b(?: (?:one|card|gpu|cloud|option))?(?! (?:month|week|day|hour|year|token))"),
    (1, r"第[二2][个家款张种块](?!月|小时|星期|季)|后者|后一[个家款张种]|\bthe (?:second|latter)\b(?: (?:one|card|gpu|cloud|option))?(?! (?:month|week|day|hour|year|token))"),
    (2, r"第[三3][个家款张种块](?!月|小时|星期|季)|\bthe third\b(?: (?:one|card|gpu|cloud|option))?(?! (?:month|week|day|hour|year))"),
    (-1, r"最后[一那]?[个家款张种]|\bthe last (?:one|card|gpu|cloud|option)\b"),
))  # fmt: skip
SEVERAL = re.compile(
    r"(?:这|那|上面|以上|刚才)?的?(?:[这那][两俩二三几]|[两俩二三])[个款张家种](?!月|小时|星期)|[这那]些|它们|两者|三者|"
    r"\b(?:both|these|those|they|the (?:two|three)|all (?:two|three))\b(?! (?:months|weeks|days|hours|years))",
    re.I,
)
ONE = re.compile(
    r"它(?!们)|[这那该]张?卡|[这那][个张款块](?:卡|型号|模型|显卡)|\b(?<!is )it\b(?! (?:possible|legal|allowed|true|ok|worth|safe|enough))|"
    r"\b(?:this|that|the same) (?:card|gpu|one|model)\b|\bthat one\b",
    re.I,
)
VERSUS = re.compile(r"[和跟与同].{0,16}比|对比|比较?一下|相比|\b(?:compared?|versus|vs\.?|against)\b", re.I)
CLOUD_CHOSEN = re.compile(r"哪[一]?家|\bwhich (?:cloud|provider|vendor)", re.I)
CHOOSING = re.compile(
    r"哪[个家款张种]|谁|差多少|差价|差距|相差|[贵便]宜?多少|\b(?:which|difference|cheaper|dearer|faster|better)\b", re.I
)


def without_pointing(text: str) -> str:
    """The text with a blank for every word that only points."""
    for pattern in (RETURN, *(words for _, words in ORDINALS), SEVERAL, ONE, VERSUS):
        text = pattern.sub(" ", text)
    return text


def points(text: str) -> bool:
    """Whether a text speaks of something only by pointing at it."""
    return any(words.search(text) for words in (ONE, SEVERAL, *(words for _, words in ORDINALS)))
