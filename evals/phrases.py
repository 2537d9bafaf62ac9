"""Phrase groups of the cases: whether a text says that something is missing, asks back, denies or affirms.

Spellings only, Chinese and English; what a case does with them stands in scoring.py.
"""

from __future__ import annotations

import re

_MISSING_ZH = (
    r"没(?![关问]|错)|沒|未(?!来|必)|[查找看搜]不[到出]|缺(?!点)|空白|丢失|超出.{0,6}范围|范围(?:以|之)?外"
    r"|(?<!都)无(?![论需须缝限])|不(?:在|含|包[含括]|详|[确肯]定|知|清楚|明(?!显)|存在|可[知考]|做)"
    r"|不能(?:[确肯]定|给|提供|预[测计]|判断|算|比较|说)|无从"
)
_MISSING_EN = (
    r"\b(?:not?|none|nothing|never|neither|unable|cannot|unknown|undated|unspecified|unlisted|missing|lacks?|lost|absent"
    r"|without|outside|(?:is|are|do|does|did|has|have|ca|could|was|were)n't)\b"
)
_ASKS_ZH = r"[?？]|请|哪|什么|什麼|多少|几(?=[张台小天])|告诉我"
_ASKS_EN = r"\b(?:which|what|please|how (?:many|long|much)|tell me|let me know|(?:could|can) you|specify)\b"
_NO_ZH = (
    r"[跑放装塞带撑吃容]不(?:动|下|了|住|起|进)|不够|不行|不足|不(?:可(?:以|行|能)|能|支持|适合|太?(?:建议|现实))|无法|没法"
    r"|超(?:出|过|了)|[大高低小]于|差"
)
_NO_EN = r"[<>]|\b(?:no|not|cannot|(?:ca|wo|do|does|is)n't|insufficient|infeasible|impossible|exceeds?|short|too (?:small|large|big))\b"
_YES_ZH = (
    r"[跑放装塞带容]得(?:动|下|了|进)|(?<!不)(?:够|可以|可行|行(?![业动为内列情]))|(?<!不)能(?:跑|放|装|用|运行|部署|做|容)"
    r"|没问题|勉强|足以|足够|支持"
)
_YES_EN = r"\b(?:fits?|yes|enough|feasible|doable|possible|works?|tight(?:ly)?|comfortabl[ey])\b"

PHRASES = {
    name: re.compile(f"{zh}|{en}", re.IGNORECASE)
    for name, zh, en in (
        ("@missing", _MISSING_ZH, _MISSING_EN),
        ("@asks", _ASKS_ZH, _ASKS_EN),
        ("@no", _NO_ZH, _NO_EN),
        ("@yes", _YES_ZH, _YES_EN),
    )
}
