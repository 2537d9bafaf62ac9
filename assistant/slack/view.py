"""The values that the parts of the Slack bot share: how an answer is shown, how a channel wants it, a message.

Data only: it renders nothing, posts nothing and reads no settings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from assistant.conversations import Verdict
from assistant.evidence import Language

Per = Literal["hour", "day", "month"]
Block = dict[str, Any]


class View(BaseModel):
    """How one answer is shown now: what its buttons say and a click changes.

    `currency` "" leaves every row in its own; the first view of an answer takes the channel's currency.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    currency: str = ""
    per: Per = "hour"
    cheapest_only: bool = False
    formulas: bool = False
    verdict: Verdict | None = None


class ChannelSettings(BaseModel):
    """What a channel wants: words and commands in `language` (None: that of the question), prices in `currency`
    ("": as the rows state), only `providers` (keys; none: all), and whether /gpu answers only whoever asked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Language | None = None
    currency: str = ""
    providers: tuple[str, ...] = ()
    ephemeral: bool = True


@dataclass(frozen=True)
class Message:
    """One Slack message: its blocks, and the plain text that notifications and screen readers take."""

    blocks: tuple[Block, ...]
    text: str
