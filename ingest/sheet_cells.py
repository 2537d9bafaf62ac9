"""One cell of a workbook -> the text a reader of the sheet sees, without binary noise and without rounding.

A percentage stays a percentage and a price keeps the currency or unit of its number format (¥28.64, 12.5%, 80GB);
thousands separators, colours and padded zeros are left out. Not here: which cells form a table (sheet_tables.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

CURRENCY_SIGNS = "¥￥$€£₩₹฿"
# Built-in formats that differ by locale, which openpyxl does not know: what they are in Chinese Excel.
CHINESE_DATE_FORMATS = {
    **dict.fromkeys((27, 36, 50, 52, 57), "yyyy年m月"),
    **dict.fromkeys((28, 29, 30, 31, 51, 53, 54, 58), "yyyy年m月d日"),
    **dict.fromkeys((32, 33, 34, 35, 55, 56), "h:mm:ss"),
}
LONGEST_PLAIN_EXPONENT = 21
# One piece of a number format, each kind in a group of its own.
_FORMAT_PIECE = re.compile(
    r'"(?P<quoted>[^"]*)"|[\\!](?P<escaped>.)|\[\$(?P<money>[^\]-]*)[^\]]*\]|(?P<skipped>\[[^\]]*\]|[_*].)'
    r"|(?P<number>General|[0#?][0#?,.]*)|(?P<bare>.)",
    re.DOTALL | re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def number_writer(number_format: str) -> Callable[[float | int], str]:
    """How numbers of this format are written, such as ¥#,##0.00 -> "¥28.64"."""
    section = number_format.split(";")[0]
    prefix, suffix, percent = _affixes(section)

    def write(value: float | int) -> str:
        digits = plain_number(value, hundredfold=percent)
        sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        return f"{sign}{prefix}{digits}{'%' if percent else ''}{suffix}"

    return write


def plain_number(value: float | int, hundredfold: bool = False) -> str:
    """0.1 + 0.2 -> 0.3 and 4.0 -> 4: the 15 digits that a sheet holds; `hundredfold` for percentages."""
    exact = Decimal(value) if isinstance(value, int) else Decimal(f"{value:.15g}")
    if not exact.is_finite():
        return str(value)
    exact = exact.scaleb(2) if hundredfold else exact
    if exact and abs(exact.adjusted()) >= LONGEST_PLAIN_EXPONENT:
        return f"{exact.normalize():E}"
    text = f"{exact:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def written_date(value: date | time | timedelta, number_format: str) -> str:
    """ISO form, no finer than the format shows: 2025-01-31, 2025-01 where it shows no day, 08:30, 2025-01-31 08:30."""
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        minutes, rest = divmod(abs(seconds), 60)
        return f"{'-' if seconds < 0 else ''}{minutes // 60}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")
    if isinstance(value, time):
        return _clock(value)
    shown = re.sub(r'"[^"]*"|\\.|\[[^\]]*\]', "", number_format.split(";")[0]).lower()
    day = f"{value:%Y-%m-%d}"
    if isinstance(value, datetime) and value.time() != time():
        return f"{day} {_clock(value.time())}"
    if "y" in shown and "d" not in shown and "h" not in shown:
        return day[:7] if "m" in shown else day[:4]
    return day


def one_line(text: str) -> str:
    """Line breaks, tabs and runs of spaces -> one space; the escapes of control characters are undone."""
    from openpyxl.utils.escape import unescape

    if "_x" in text:
        text = unescape(text)
    return " ".join(text.split())


def cell_text(value: Any, number_format: str, format_id: int, epoch: datetime) -> str:
    """The text of one value as openpyxl gives it; "" for None. `format_id` is the number of the format in the file."""
    if value is None:
        return ""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        if format_id in CHINESE_DATE_FORMATS:
            return _chinese_date(value, CHINESE_DATE_FORMATS[format_id], epoch)
        return number_writer(number_format)(value)
    return written_date(value, number_format)


def _chinese_date(value: float | int, number_format: str, epoch: datetime) -> str:
    from openpyxl.utils.datetime import from_excel

    try:
        return written_date(from_excel(value, epoch), number_format)
    except (OverflowError, ValueError):  # beyond the calendar: the number is all there is
        return plain_number(value)


def _clock(value: time) -> str:
    return f"{value:%H:%M:%S}" if value.second else f"{value:%H:%M}"


def _affixes(section: str) -> tuple[str, str, bool]:
    """What a format writes before and after the number, and whether it is a percentage."""
    before, after, percent, number = "", "", False, ""
    for piece in _FORMAT_PIECE.finditer(section):
        if piece["number"]:
            number += piece["number"]
        elif piece["bare"] == "%":
            percent = True
        elif number:
            after += _literal(piece)
        else:
            before += _literal(piece)
    before, after = before.lstrip(), after.rstrip()
    # A comma at the end of the digits divides by a thousand (0.0, "万"): the unit would be false for the stored number.
    if number.endswith(",") or re.search(r"\.[^.]*,|\..*\.", number) or "!" in section:
        before, after = (
            "".join(sign for sign in before if sign in CURRENCY_SIGNS),
            "".join(sign for sign in after if sign in CURRENCY_SIGNS),
        )
    return before, after, percent


def _literal(piece: re.Match[str]) -> str:
    """The characters that one piece of a format shows: quoted, escaped, a currency, or a bare sign of no other meaning."""
    shown = piece["quoted"] or piece["escaped"] or piece["money"] or ""
    bare = piece["bare"] or ""
    return shown.replace("(", "").replace(")", "") or (bare if bare in CURRENCY_SIGNS + " " or bare > "\x7f" else "")
