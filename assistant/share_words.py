"""Words that say a share or a multiple without a digit: 三成, 一半, 翻倍, half, a third, double.

Spellings only; figures.py reads the numbers and verify.py judges them.
"""

from __future__ import annotations

import re
from decimal import Decimal

RE = re.IGNORECASE | re.ASCII
TENTHS = "一二三四五六七八九"
NOT_A_SHARE = "本为功立长员果就交品分绩都型"  # 三成 is a share, 成本 is not

SHARES: tuple[tuple[re.Pattern[str], Decimal, str], ...] = (
    *(
        (re.compile(rf"(?<![{TENTHS}十百]){digit}成{half}(?![{NOT_A_SHARE}半])"), Decimal(10 * n + extra), "%")
        for n, digit in enumerate(TENTHS, 1)
        for half, extra in (("半", 5), ("", 0))
    ),
    (re.compile("一半|半数|半价"), Decimal("0.5"), "x"),
    (re.compile("翻了?(?:一|两)?[倍番]|加倍"), Decimal(2), "x"),
    (
        re.compile(r"\b(?:one[ -]|an? )?half\b(?![ -](?:an?|precision|height|hour|day|year|month|second)\b)", RE),
        Decimal("0.5"),
        "x",
    ),
    (re.compile(r"\b(?:a|one)[ -]third\b", RE), Decimal("0.33"), "x"),
    (re.compile(r"\btwo[ -]thirds\b", RE), Decimal("0.67"), "x"),
    (re.compile(r"\b(?:a|one)[ -]quarter\b", RE), Decimal("0.25"), "x"),
    (re.compile(r"\b(?:twice|doubl(?:es?|ed|ing))\b(?![ -]precision)", RE), Decimal(2), "x"),
    (re.compile(r"\b(?:thrice|tripl(?:es?|ed|ing))\b", RE), Decimal(3), "x"),
)
