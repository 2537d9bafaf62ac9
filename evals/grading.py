"""Does an answer fulfil what its case demands? Status, language, wanted and unwanted text and figures.

Pure: it calls no product code but the Answer type, judges no style, and knows no expected value.

A wanted item is one of
- `28.64 CNY`   a figure: the number with this unit or currency. The text may be more exact than the case (34.742 for
  34.74), never less; whole numbers must be equal.
- `1:42:46`, `Kaggle`  a word, not inside a longer word or number; letter case and full width do not matter.
- `re:...`      a regular expression.
- a list        any one of these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from assistant.evidence import Answer

Wanted = str | Sequence[str]

REACH = 24  # characters behind a number in which its unit stands
UNITS = {
    "CNY": r"元|块|cny|rmb|人民币|yuan|¥",
    "USD": r"美元|美金|usd|dollars?|\$",
    "hours": r"个?小时|hours?\b|h\b",
    "seconds": r"秒|seconds?\b|s\b",
    "GB": r"gi?b\b|g\b",
    "cores": r"核|v?cpus?\b|cores?\b",
    "cards": r"张|块卡|卡|cards?\b|gpus?\b|(?:× ?)?[ath]\d+\b",
    "%": r"%|percent",
    "x": r"倍|x\b|×|times",
}
SIGNS = {"CNY": ("¥", "cny", "rmb"), "USD": ("$", "us$", "usd")}
FIGURE = re.compile(rf"(\d[\d,]*(?:\.\d+)?) ({'|'.join(map(re.escape, UNITS))})")
EDGE = r"(?<![a-z0-9_])(?<!\d[.,:])"  # not inside a longer word, number or duration
NUMBER = re.compile(EDGE + r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\d:])")
ANY_UNIT = re.compile(
    "|".join(f"(?P<u{i}>(?<![a-z])(?:{pattern}))" for i, pattern in enumerate(UNITS.values()))  # "costs" is no second
)
TABLE_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
CJK = re.compile(r"[\u4e00-\u9fff]")


def failures(
    answer: Answer,
    *,
    status: Sequence[str],
    language: str,
    contains: Sequence[Wanted] = (),
    absent: Sequence[str] = (),
) -> list[str]:
    """What the answer lacks or should not say, one line each; empty when it is right."""
    text = normalise(answer.text)
    found = []
    if answer.status not in status:
        found.append(f"status {answer.status}, wanted {' or '.join(status)}")
    if answer.language != language or not _written_in(language, text):
        found.append(f"not in {language}")
    for item in contains:
        if not any(_holds(text, each) for each in ([item] if isinstance(item, str) else item)):
            found.append(f"lacks {item!r}")
    found += [f"says {match[0]!r}" for pattern in absent if (match := re.search(pattern, text, re.I))]
    return found


def normalise(text: str) -> str:
    """Lower case, half width, no emphasis and no citation marks; each table cell is followed by its heading."""
    text = re.sub(r"([：，；])", r"\1 ", text)  # else "T4：11.63" would become 4:11
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub(r"\*\*|`|\[\d{1,3}\]", "", text)
    lines, heading, out = text.splitlines(), [""], list[str]()
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        cells = [cell.strip() for cell in line.strip("|> ").split("|")]
        if "|" not in line or TABLE_RULE.fullmatch(line):
            out.append(line)
        elif TABLE_RULE.fullmatch(following) and "|" in following:
            heading = cells
            out.append(line)
        else:
            out.append(" | ".join(f"{c} {h}" for c, h in zip(cells, [*heading, *[""] * len(cells)], strict=False)))
    return "\n".join(out)


def _holds(text: str, wanted: str) -> bool:
    if wanted.startswith("re:"):
        return bool(re.search(wanted[3:], text, re.I))
    if figure := FIGURE.fullmatch(wanted):
        return _has_figure(text, Decimal(figure[1].replace(",", "")), figure[2])
    word = re.escape(unicodedata.normalize("NFKC", wanted).lower())
    return bool(re.search(rf"{EDGE}{word}(?![a-z0-9]|[.,:]\d)", text))


def _has_figure(text: str, value: Decimal, unit: str) -> bool:
    digits = -int(value.as_tuple().exponent)
    for match in NUMBER.finditer(text):
        number = Decimal(match[0].replace(",", ""))
        same = number == value or (digits > 0 and number.quantize(value, ROUND_HALF_UP) == value)
        if same and _unit_at(text, match.start(), match.end()) == unit:
            return True
    return False


def _unit_at(text: str, start: int, end: int) -> str | None:
    """The unit of the number at start..end: a currency sign before it, else the first unit behind it."""
    before = text[:start].rstrip()
    for unit, signs in SIGNS.items():
        if before.endswith(signs):
            return unit
    behind = re.split(r"(?<![a-z])\d|[\n|,。;]", text[end : end + REACH])[0]
    match = ANY_UNIT.search(behind)
    return list(UNITS)[int(str(match.lastgroup)[1:])] if match else None


def _written_in(language: str, text: str) -> bool:
    chinese = len(CJK.findall(text))
    return chinese > 0 if language == "zh" else chinese <= len(re.findall(r"[a-z]", text)) / 10
