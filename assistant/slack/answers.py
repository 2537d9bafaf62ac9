"""Answers as Slack messages: the text, price tables as the board that buttons change, sources, notes and buttons.

Every figure comes from the answer's text, or from its rows through the price board, which says rate and formula. It
posts nothing and decides nothing about an answer.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from assistant.evidence import Answer, Bilingual, Language
from assistant.price_board import Board, BoardTable, board_of
from assistant.slack.answer_text import FALLBACK_CHARACTERS, first_sentences, formulas_of, shown_text, source_lines
from assistant.slack.board_place import LEAD, is_price_grid, with_board
from assistant.slack.buttons import Offered, button_rows
from assistant.slack.packing import context_blocks, one_message, packed
from assistant.slack.plain_fallback import plain_words
from assistant.slack.rich_text import Grid, Part, Rich, bullet, parts
from assistant.slack.safe_marks import outside_code, with_safe_marks
from assistant.slack.tables import text_grid
from assistant.slack.view import Block, ChannelSettings, Message, View
from assistant.traditional import HAN, is_traditional, traditional

__all__ = ["answer_messages", "draft_blocks", "notice", "stream_text"]

OFFERED_CURRENCIES = ("CNY", "USD")
_FORMULAS = Bilingual(zh="算式", en="Formulas")
_ASSUMED = Bilingual(zh="假定", en="Assumed")
_UNVERIFIED = Bilingual(
    zh="⚠ 有的数字没有查到依据，请核实后再用。", en="⚠ For some figures no evidence was found: check them before use."
)
_DROPPED = Bilingual(
    zh="模型写的 {count} 个数字查不到依据，已略去。",
    en="Left out, as no evidence was found: {count} figure(s) that the model wrote.",
)
_REPLY = Bilingual(
    zh="直接在这里回复补充即可，不用再 @ 我。", en="Just reply here with the detail; no need to mention me again."
)
_TABLE_FOLLOWS = Bilingual(zh="（表格稍后给出）", en="(a table follows)")
_MORE_FOLLOWS = Bilingual(zh="（后面还有）", en="(more follows)")


def answer_messages(
    answer: Answer,
    view: View,
    language: Language,
    *,
    turn: int | None,
    settings: ChannelSettings,
    notes: Sequence[str] = (),
    ephemeral: bool = False,
    today: date | None = None,
) -> tuple[Message, ...]:
    """The messages of an answer as `view` wants it; the last one carries the buttons.

    Labels are in `language`, the text is as it was answered. Without a `turn` there are no buttons, as none could do
    anything. `ephemeral`: one person alone sees it, and may post it. `today` decides which prices are called old.
    """
    say = _in_script_of(answer, language)
    text = shown_text(answer, formulas=view.formulas)
    found: tuple[Part | Block, ...] = parts(text)
    board = board_of(answer) if any(isinstance(part, Grid) and is_price_grid(part) for part in found) else None
    if board:
        table = board.table(
            currency=view.currency, per=view.per, cheapest_only=view.cheapest_only, language=language,
            providers=settings.providers, today=today,
        )  # fmt: skip
        changed = bool(view.currency or view.cheapest_only or settings.providers) or view.per != "hour"
        found = with_board(found, _board_parts(table, say), say(LEAD[language]), changed=changed)
    body: list[Part | Block] = [*found]
    if view.formulas:
        body += _formula_parts(answer, text, language, say)
    remarks = _remarks(answer, language, may_reply=turn is not None and not ephemeral)
    body += context_blocks([say(line) for line in (*notes, *remarks)])
    body += context_blocks(_sources(answer, language, say))
    offered = _offered(answer, view, board, settings, post=ephemeral)
    return _messages(body, _buttons(view, language, turn, offered, say))


def draft_blocks(markdown: str, working: str, language: Language) -> Message:
    """One message of what has come so far, while more comes; `working` says what is being done, "" nothing."""
    body: list[Part | Block] = []
    tables = 0
    for part in parts(markdown):
        tables += isinstance(part, Grid)
        late = isinstance(part, Grid) and tables > 1
        body.append(_line(_TABLE_FOLLOWS[language]) if late else part)
    body = body or [_line("…")]
    doing = [working] if working else []
    blocks, complete = one_message(body, context_blocks(doing))
    if not complete:
        blocks, _ = one_message(body, context_blocks([_MORE_FOLLOWS[language], *doing]))
    return Message(blocks, _fallback(blocks))


def stream_text(markdown: str) -> str:
    """Markdown for a native stream: bold renders beside Chinese, and nothing in it mentions anybody."""
    safe = with_safe_marks(markdown)
    return outside_code(safe, lambda text: text.replace("<", "&lt;"), lambda code: code.replace("<", "<\u200b"))


def notice(sentence: str) -> Message:
    """One sentence as a message."""
    blocks, _ = one_message(parts(sentence) or [_line("…")], ())
    return Message(blocks, _fallback(blocks))


def _messages(body: Sequence[Part | Block], buttons: Sequence[Block]) -> tuple[Message, ...]:
    return tuple(Message(blocks, _fallback(blocks)) for blocks in packed(body or [_line("…")], buttons))


def _board_parts(table: BoardTable, say: Callable[[str], str]) -> list[Part | Block]:
    """The board as a table with its sentences below; what filters leave nothing of says so in the text."""
    said = [say(sentence) for sentence in table.said]
    if not table.rows:
        return [_line(sentence) for sentence in said]
    rows = [[say(cell) for cell in row] for row in table.rows]
    return [text_grid([say(heading) for heading in table.headings], rows, table.cheapest), *context_blocks(said)]


def _formula_parts(answer: Answer, text: str, language: Language, say: Callable[[str], str]) -> Iterator[Part]:
    """The formulas and assumptions of the calculations that the text does not print itself."""
    for label, lines in zip((_FORMULAS, _ASSUMED), formulas_of(answer, text, language), strict=True):
        if lines:
            yield _line(say(label[language]), bold=True)
            yield from (part for line in lines for part in bullet(say(line)))


def _remarks(answer: Answer, language: Language, *, may_reply: bool) -> Iterator[str]:
    if answer.status == "needs_detail" and may_reply:
        yield _REPLY[language]
    if not answer.verified:
        yield _UNVERIFIED[language]
    if answer.dropped:
        yield _DROPPED[language].format(count=len(answer.dropped))


def _sources(answer: Answer, language: Language, say: Callable[[str], str]) -> list[str]:
    """The sources, their names as they are written in either script."""
    lines = source_lines(answer.citations, language)
    return [say(lines[0]), *lines[1:]] if lines else []


def _buttons(
    view: View, language: Language, turn: int | None, offered: Offered, say: Callable[[str], str]
) -> tuple[Block, ...]:
    if turn is None:
        return ()
    rows = button_rows(turn, view, offered, language)
    for button in (button for row in rows for button in row["elements"]):
        button["text"]["text"] = say(button["text"]["text"])
    return rows


def _offered(answer: Answer, view: View, board: Board | None, settings: ChannelSettings, *, post: bool) -> Offered:
    formulas = any(call.formula for call in answer.calls)
    if board is None:
        return Offered(formulas=formulas, post=post)
    wanted = dict.fromkeys((*OFFERED_CURRENCIES, *board.currencies, settings.currency, view.currency))
    known = [code for code in wanted if code and board.currencies != (code,) and (code in board.rates or code == "USD")]
    return Offered(prices=True, currencies=tuple(known), formulas=formulas, post=post)


def _in_script_of(answer: Answer, language: Language) -> Callable[[str], str]:
    """What turns our own words into the characters that the question is written in."""
    if language == "zh" and HAN.search(answer.question) and is_traditional(answer.question):
        return traditional
    return str


def _line(text: str, *, bold: bool = False) -> Rich:
    element: Block = {"type": "text", "text": text, **({"style": {"bold": True}} if bold else {})}
    return Rich({"type": "rich_text_section", "elements": [element]})


def _fallback(blocks: Sequence[Block]) -> str:
    """The first sentences of a message for notifications: plain, its special characters escaped, 300 at most."""
    words = re.sub(r"\s*\[\d{1,3}\]", "", plain_words(blocks))
    most = FALLBACK_CHARACTERS
    while len(escaped := html.escape(first_sentences(words, most), quote=False)) > FALLBACK_CHARACTERS:
        most -= max(1, (len(escaped) - FALLBACK_CHARACTERS) // 5)
    return escaped
