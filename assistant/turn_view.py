"""A conversation as the messages of the page's chat: questions as typed, answers with their actions.

The store is the truth: what is shown is rendered from it, never from what a browser sent. No figure is computed here.
"""

from __future__ import annotations

import html
import re
import string
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock

from assistant.conversations import Turn, Verdict
from assistant.evidence import Answer, Bilingual, Language
from assistant.export import answer_tables
from assistant.reply import Reply
from assistant.tools import CALCULATORS

MOST_KEPT = 256  # rendered turns

COPY = Bilingual(zh="复制回答", en="Copy the answer")
CSV = Bilingual(zh="下载表格（CSV）", en="Download the tables (CSV)")
ASSUMPTIONS = Bilingual(zh="改假设", en="Assumptions")
ASSUMPTIONS_TITLE = Bilingual(zh="查看并修改计算的假设", en="See and change what was assumed")
RETRY = Bilingual(zh="重新回答", en="Answer again")
EDIT = Bilingual(zh="修改问题", en="Edit the question")
UP = Bilingual(zh="有用", en="Helpful")
DOWN = Bilingual(zh="没有用", en="Not helpful")
CHOSEN = Bilingual(zh="（已选）", en=" (chosen)")
NO_ANSWER = Bilingual(zh="这个问题没有答完。", en="This question was not answered to the end.")

Message = dict[str, str]
_ENTITIES = {character: f"&#{ord(character)};" for character in string.punctuation}


class TurnView:
    """Renders turns in one language; what has been rendered is kept as long as the turn stays the same."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self._kept: OrderedDict[int, tuple[Answer, str]] = OrderedDict()
        self._lock = Lock()

    def messages(self, turns: Sequence[Turn], unfinished: dict[int, str]) -> list[Message]:
        """Two messages for each turn; `unfinished` holds what is known of the turns without an answer."""
        messages = []
        for number, turn in enumerate(turns, 1):
            shown = self._answer(turn) if turn.answer else unfinished.get(turn.id) or _not_answered(self.language)
            # Asking again drops what follows, so only the last answer offers it.
            row = actions(turn, turn.answer, self.language, is_last=number == len(turns))
            messages += [asked(turn, self.language), {"role": "assistant", "content": f"{shown}\n\n{row}"}]
        return messages

    def _answer(self, turn: Turn) -> str:
        with self._lock:
            kept = self._kept.get(turn.id)
        if kept and kept[0] == turn.answer:
            return kept[1]
        shown = Reply(key=f"t{turn.id}", answer=turn.answer).render()
        if turn.answer is not None:
            with self._lock:
                self._kept[turn.id] = (turn.answer, shown)
                self._kept.move_to_end(turn.id)
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)
        return shown


def as_typed(text: str) -> str:
    """The reader's own words, so that no character in them acts as Markdown or HTML."""
    escaped = "".join(_ENTITIES.get(character, character) for character in text.strip())
    return re.sub(r"(?m)^[ \t]+", lambda match: "&nbsp;" * len(match[0]), escaped)


def asked(turn: Turn, language: Language) -> Message:
    """The message of a question, with a button to edit it."""
    return {"role": "user", "content": f"{as_typed(turn.question)} {_button('edit', turn.id, EDIT[language])}"}


def _not_answered(language: Language) -> str:
    return f'<p class="stopped">{NO_ANSWER[language]}</p>'


def actions(turn: Turn, answer: Answer | None, language: Language, *, is_last: bool) -> str:
    """The row of buttons under an answer. The page's sanitizer leaves name, value, title and class."""
    row = _on_answer(turn, answer, language) if answer else []
    if is_last:
        row.append(_button("retry", turn.id, RETRY[language]))
    if answer:
        row += [_thumb(turn, "up", UP[language], language), _thumb(turn, "down", DOWN[language], language)]
    return f'<div class="acts">{"".join(row)}</div>'


def _on_answer(turn: Turn, answer: Answer, language: Language) -> list[str]:
    row = [_button("copy", turn.id, COPY[language])]
    if answer_tables(answer.text):
        address = f"../api/turns/{turn.id}/tables.csv"
        row.append(f'<a class="act csv" href="{address}" download title="{CSV[language]}">CSV</a>')
    if any(call.tool in CALCULATORS for call in answer.calls):
        row.append(_button("assumptions", turn.id, ASSUMPTIONS_TITLE[language], ASSUMPTIONS[language]))
    return row


def _thumb(turn: Turn, verdict: Verdict, title: str, language: Language) -> str:
    chosen = turn.verdict == verdict
    return _button(verdict, turn.id, title + CHOSEN[language] * chosen, kind=" chosen" * chosen)


def _button(name: str, turn: int, title: str, text: str = "", kind: str = "") -> str:
    label = html.escape(title)
    return (
        f'<button type="button" class="act {name}{kind}" name="{name}" value="{turn}" title="{label}">{text}</button>'
    )
