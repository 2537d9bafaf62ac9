"""A calculator and its inputs as the query of an address, and back: what was typed, nothing else.

Knows addresses only; whether the inputs can be computed with is for calculator_forms.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from assistant.calculator_forms import FormError, given_only

TAB, CALCULATOR = "tab", "calc"
TAB_VALUE = "calculator"
MOST_INPUTS = 60
LONGEST_INPUT = 20_000  # characters; an address that a server takes is shorter


@dataclass(frozen=True)
class Opened:
    """What a link opens: the calculator, and what is typed into its form."""

    calculator: str
    typed: dict[str, str]


def query_of(calculator: str, typed: Mapping[str, str]) -> str:
    """The query that opens a calculator with these inputs, without "?". Raises FormError for an unknown calculator."""
    given = given_only(calculator, typed)
    return urlencode({TAB: TAB_VALUE, CALCULATOR: calculator, **given})


def opened(query: Mapping[str, str]) -> Opened | None:
    """What the query of an address asks for; None where it names no calculator.

    Inputs beyond what any calculator has are dropped, and long ones cut: they are refused as typed ones are. Names that
    start with "__" are the page's own. Raises FormError for a calculator that there is not.
    """
    calculator = query.get(CALCULATOR, "").strip()
    if not calculator:
        return None
    typed = {
        name: text[:LONGEST_INPUT]
        for name, text in list(query.items())[:MOST_INPUTS]
        if name not in (TAB, CALCULATOR) and not name.startswith("__")
    }
    return Opened(calculator, given_only(calculator, typed))


__all__ = ["CALCULATOR", "TAB", "TAB_VALUE", "FormError", "Opened", "opened", "query_of"]
