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
    r"(?:这|那|上面|以上|刚才)?的?(?:[这那][两俩二三几]|[两俩二三])[个款张家种](?!月|小时|星期)|[这那]俩|[这那]些|它们|两者|三者|"
    r"\b(?:both|these|those|they|the (?:two|three)|all (?:two|three))\b(?! (?:months|weeks|days|hours|years))",
    re.I,
)
ONE = re.compile(
    r"它(?!们)|[这那该]张?卡|[这那][个张款块](?:卡|型号|模型|显卡)|\b(?<!is )it\b(?! (?:possible|legal|allowed|true|ok|worth|safe|enough))|"
    r"\b(?:this|that|the same) (?:card|gpu|one|model)\b|\bthat one\b",
    re.I,
)
VERSUS = re.compile(
    r"[和跟与同].{0,16}比|对比|比较?一下|相比|比[它他她这那](?:[个家款张种]|便宜|贵)?|(?<![价占对环同])比(?![较例特如最]).{1,10}(?:便宜|贵|省|低|高)|\b(?:compared?|versus|vs\.?|against)\b|\b(?:cheaper|dearer|pricier|costlier|more expensive|less expensive) than\b|\b(?<!no )(?:more|less) than\b(?! [\d$¥€£]| (?:an?|one|two|half)\b)|\bthan (?:it|this|that|the (?:other|first|last)(?: one)?)\b",
    re.I,
)
# How much dearer, which takes two: said of one that is new, the other is the one talked about.
# A second cloud asked for in the same breath: "the bill for a week, and same thing on Tencent?"
ALSO_AT = re.compile(
    r"\w[^\n]{6,}[,.;，。；]\s*(?:and |then )?(?:also )?(?:the )?same (?:thing|setup|job|order|again)?\s*(?:on|at|with|in|from)(?![a-z])|"
    r"\w[^\n]{4,}[,，。;；]\s*(?:然后|再|还有|另外)?\s*(?:同样的?(?:东西|配置|机器|单子)?[^,，。;；]{0,4}(?:在|换到?|放到?|上)|[^,，。;；]{1,6}(?:那边|上)?(?:也|同样)(?:算|报|来))",
    re.I,
)
DEARER = re.compile(
    r"[贵便]宜?(?:多少|几|百分)|[高低]多少|差(?:多少|几|价)|百分之几|(?<![a-z])how much (?:more|less|dearer|cheaper)|(?:dearer|cheaper|more expensive) (?:by|in)|what(?:'s| is) the difference|in percent|百分之多少|几个百分点|(?:what|how many) (?:percent|per cent|%)|by what percent|percentage",
    re.I,
)
CLOUD_CHOSEN = re.compile(r"哪[一]?家|\bwhich (?:cloud|provider|vendor)", re.I)
CHOOSING = re.compile(
    r"哪[个家款张种]|谁|差多少|差价|差距|相差|[贵便]宜?多少|\b(?:which|difference|cheaper|dearer|faster|better)\b", re.I
)
# Cards left over, of which nothing is said: "the other three do something else"; 剩下 2 张 T4 is a line of an order.
LEFT_OVER = re.compile(r"(?:剩下?的?|其余的?|余下的?|\bthe (?:other|remaining)|\bthe rest,?|\bleaving)\s*$", re.I)
A_NAME = re.compile(r"\s*(?:的\s*)?[A-Za-z0-9]")
NEAR = 14  # characters before a number


def is_left_over(text: str, start: int, end: int) -> bool:
    """Whether the number at [start:end] counts what is left for something else; not where a name stands right behind."""
    return LEFT_OVER.search(text[max(0, start - NEAR) : start]) is not None and not A_NAME.match(text, end)


def without_pointing(text: str) -> str:
    """The text with a blank for every word that only points."""
    for pattern in (RETURN, *(words for _, words in ORDINALS), SEVERAL, ONE, VERSUS):
        text = pattern.sub(" ", text)
    return text


def points(text: str) -> bool:
    """Whether a text speaks of something only by pointing at it."""
    return any(words.search(text) for words in (ONE, SEVERAL, *(words for _, words in ORDINALS)))
