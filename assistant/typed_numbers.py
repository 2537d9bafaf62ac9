"""Numbers as people type them into a form: 28.64, 1,000, 72B, 24k, 1e9, 3万, 15% -- exactly, never through a float.

One number in, one Decimal out. Sentences are read elsewhere (quantity.py).
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal, localcontext

LONGEST = 40  # characters
WIDEST = 40  # decimal places before or after the point

SCALES = {
    "": 0, "%": -2, "k": 3, "K": 3, "千": 3, "万": 4, "萬": 4, "百万": 6, "M": 6, "千万": 7, "亿": 8, "億": 8, "B": 9,
    "b": 9, "G": 9, "十亿": 9, "T": 12, "万亿": 12,
}  # fmt: skip
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:[eE](?P<power>[+-]?[0-9]{1,3}))?\s*(?P<scale>[%kKMBbGT千万萬百亿億十]*)"
)


def typed_number(text: str) -> Decimal | None:
    """The number that `text` is, with nothing rounded; None where it is none, or has more digits than any figure has."""
    plain = unicodedata.normalize("NFKC", text).replace("−", "-").strip()
    if len(plain) > LONGEST:
        return None
    match = _NUMBER.fullmatch(re.sub(r"(?<=[0-9])[ _](?=[0-9]{3}\b)", "", plain))
    if match is None or match["scale"] not in SCALES:
        return None
    power = int(match["power"] or 0) + SCALES[match["scale"]]
    if abs(power) > WIDEST:
        return None
    with localcontext() as context:
        context.prec = 2 * WIDEST + LONGEST
        return Decimal(match["sign"] + match["digits"].replace(",", "")).scaleb(power)


def has_unclear_comma(text: str) -> bool:
    """Whether a comma of a list may part two numbers as well as the thousands of one: 2,128."""
    return re.search(r"[0-9],[0-9]{3}(?![0-9])", unicodedata.normalize("NFKC", text)) is not None
