"""What a page sends of a calculator's form, and an address's query, read as text by field name and bounded.

It knows no calculator's fields; calculator_forms.py reads the values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.calculator_faults import FormError, FormFault
from assistant.calculator_forms import given_only
from assistant.calculator_links import MOST_INPUTS
from assistant.evidence import Bilingual

LONGEST_REQUEST = 100_000  # characters
TOO_LONG = Bilingual(zh="输入太长，请缩短。", en="The inputs are too long; please shorten them.")
UNREADABLE = Bilingual(zh="表单没有读到，请刷新页面再试。", en="The form could not be read; please reload the page.")


@dataclass(frozen=True)
class FormRequest:
    """A calculator that there is, and what was typed into its form."""

    calculator: str
    typed: dict[str, str]


class _Sent(BaseModel):
    model_config = ConfigDict(strict=True)

    calculator: str
    typed: dict[str, str]


def read_request(text: str) -> FormRequest:
    """What the form's script sent. Raises FormError."""
    if len(text) > LONGEST_REQUEST:
        raise FormError((FormFault("", TOO_LONG),))
    try:
        sent = _Sent.model_validate(json.loads(text))
    except (ValueError, RecursionError, ValidationError) as error:
        raise FormError((FormFault("", UNREADABLE),)) from error
    if len(sent.typed) > MOST_INPUTS:
        raise FormError((FormFault("", TOO_LONG),))
    return FormRequest(sent.calculator, given_only(sent.calculator, sent.typed))


def read_search(search: str) -> dict[str, str]:
    """The query of an address, with or without "?"; of a name given twice the last counts. Raises FormError."""
    if len(search) > LONGEST_REQUEST:
        raise FormError((FormFault("", TOO_LONG),))
    try:
        return dict(parse_qsl(search.removeprefix("?"), max_num_fields=2 * MOST_INPUTS))
    except ValueError as error:
        raise FormError((FormFault("", TOO_LONG),)) from error
