"""The buttons below an answer, what each press leads to, and the modal that asks what was wrong.

A button carries the turn and the view that its press leads to, so that a click needs nothing else. What a press does
is not decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from assistant.conversations import LONGEST_REASON, Verdict
from assistant.evidence import Bilingual, Language
from assistant.slack.view import Block, Per, View

MODAL_ID = "gpu_reason"
REASON_INPUT = "reason"  # block_id and action_id of the modal's input

PERIODS: tuple[tuple[Per, Bilingual], ...] = (
    ("hour", Bilingual(zh="每小时", en="Per hour")),
    ("day", Bilingual(zh="每天", en="Per day")),
    ("month", Bilingual(zh="每月", en="Per month")),
)
CURRENCIES = {
    "CNY": Bilingual(zh="人民币", en="CNY"), "USD": Bilingual(zh="美元", en="USD"), "EUR": Bilingual(zh="欧元", en="EUR"),
    "GBP": Bilingual(zh="英镑", en="GBP"), "JPY": Bilingual(zh="日元", en="JPY"),
}  # fmt: skip
OWN_CURRENCY = Bilingual(zh="币种：原币", en="Currency: as listed")
CURRENCY = Bilingual(zh="币种：{}", en="Currency: {}")
CHEAPEST = Bilingual(zh="只看最低价", en="Cheapest only")
FORMULAS = Bilingual(zh="显示算式", en="Show formulas")
FORMULAS_SHOWN = Bilingual(zh="显示算式", en="Formulas shown")
POST = Bilingual(zh="发到频道", en="Post in channel")
UP, DOWN = Bilingual(zh="👍 有用", en="👍 Helpful"), Bilingual(zh="👎 不准", en="👎 Not right")

MODAL_TITLE = Bilingual(zh="哪里不对？", en="What was wrong?")
MODAL_SEND, MODAL_CLOSE = Bilingual(zh="提交", en="Send"), Bilingual(zh="不写了", en="Skip")
MODAL_LABEL = Bilingual(zh="这条回答有什么问题？（可不写）", en="What is wrong with this answer? (optional)")
MODAL_HINT = Bilingual(
    zh="例如：价格过期、数字不对、答非所问。", en="For example: an old price, a wrong figure, not what you asked."
)


class ButtonValue(BaseModel):
    """What a button carries: the turn of its answer, and the view that its press leads to."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turn: int
    view: View


@dataclass(frozen=True)
class Offered:
    """What an answer has buttons for. `currencies`: those its prices can be shown in ("" aside); none without prices."""

    prices: bool = False
    currencies: tuple[str, ...] = ()
    formulas: bool = False
    post: bool = False


def button_rows(turn: int, view: View, offered: Offered, language: Language) -> tuple[Block, ...]:
    """The rows of buttons: how prices are shown, then formulas and what the reader thinks of the answer."""
    prices: list[Block] = []
    if offered.prices:
        for per, label in PERIODS:
            prices.append(_button(f"gpu_per:{per}", label[language], turn, _with(view, per=per), view.per == per))
        prices.append(_cheapest(turn, view, language))
        if offered.currencies:
            prices.append(_currency(turn, view, offered.currencies, language))
    rest: list[Block] = []
    if offered.formulas:
        label = FORMULAS_SHOWN if view.formulas else FORMULAS
        rest.append(
            _button("gpu_formula", label[language], turn, _with(view, formulas=not view.formulas), view.formulas)
        )
    if offered.post:
        rest.append(_button("gpu_post", POST[language], turn, view, pressed=False))
    rest += [_verdict("up", UP[language], turn, view), _verdict("down", DOWN[language], turn, view)]
    return tuple({"type": "actions", "elements": row} for row in (prices, rest) if row)


def reason_modal(turn: int, language: Language, private_metadata: str) -> Block:
    """The view of the modal of a thumb down; `private_metadata` (at most 3,000 characters) comes back with it."""
    return {
        "type": "modal",
        "callback_id": MODAL_ID,
        "private_metadata": private_metadata,
        "title": _plain(MODAL_TITLE[language]),
        "submit": _plain(MODAL_SEND[language]),
        "close": _plain(MODAL_CLOSE[language]),
        "blocks": [
            {
                "type": "input",
                "block_id": REASON_INPUT,
                "optional": True,
                "label": _plain(MODAL_LABEL[language]),
                "hint": _plain(MODAL_HINT[language]),
                "element": {
                    "type": "plain_text_input",
                    "action_id": REASON_INPUT,
                    "multiline": True,
                    "max_length": LONGEST_REASON,
                },
            }
        ],
    }


def _cheapest(turn: int, view: View, language: Language) -> Block:
    pressed = view.cheapest_only
    return _button("gpu_cheapest", CHEAPEST[language], turn, _with(view, cheapest_only=not pressed), pressed)


def _currency(turn: int, view: View, currencies: Sequence[str], language: Language) -> Block:
    """One button that goes through the currencies and back to the rows' own; it says which one is shown now."""
    cycle = ["", *currencies]
    place = cycle.index(view.currency) if view.currency in cycle else 0
    following = cycle[(place + 1) % len(cycle)]
    shown = CURRENCIES.get(view.currency, Bilingual(zh=view.currency, en=view.currency))[language]
    label = CURRENCY[language].format(shown) if view.currency else OWN_CURRENCY[language]
    return _button("gpu_currency", label, turn, _with(view, currency=following), pressed=bool(view.currency))


def _verdict(verdict: Verdict, label: str, turn: int, view: View) -> Block:
    pressed = view.verdict == verdict
    return _button(f"gpu_{verdict}", label, turn, _with(view, verdict=None if pressed else verdict), pressed)


def _button(action: str, label: str, turn: int, leads_to: View, pressed: bool) -> Block:
    return {
        "type": "button",
        "action_id": action,
        "text": {**_plain(f"✓ {label}" if pressed else label), "emoji": True},
        "value": ButtonValue(turn=turn, view=leads_to).model_dump_json(),
    }


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}


def _with(view: View, **changes: object) -> View:
    return view.model_copy(update=changes)
