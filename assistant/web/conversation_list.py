"""The list of a user's conversations beside the chat, as HTML; chat.js sends what is clicked. No store is changed here."""

from __future__ import annotations

import html
from collections.abc import Sequence

from assistant.conversations import Thread
from assistant.evidence import Bilingual, Language

CONVERSATIONS = Bilingual(zh="对话列表", en="Conversations")
NEW = Bilingual(zh="新对话", en="New chat")
RENAME = Bilingual(zh="改名", en="Rename")
DELETE = Bilingual(zh="删除", en="Delete")
SURE = Bilingual(zh="确定删除？", en="Delete it?")
NONE_YET = Bilingual(zh="还没有对话。", en="No conversations yet.")
HIDE = Bilingual(zh="收起对话列表", en="Hide the conversations")


def threads_html(threads: Sequence[Thread], current: str, language: Language) -> str:
    """The list, the conversation `current` marked as the open one."""
    rows = "".join(_row(thread, thread.id == current, language) for thread in threads)
    shown = f"<ul>{rows}</ul>" if rows else f"<p>{NONE_YET[language]}</p>"
    return (
        f'<nav aria-label="{CONVERSATIONS[language]}"><div class="head">'
        f'<button type="button" data-go="new" class="new">{NEW[language]}</button>'
        f'<button type="button" data-list="toggle" class="hide" aria-label="{HIDE[language]}" '
        f'title="{HIDE[language]}"></button></div>{shown}</nav>'
    )


def _row(thread: Thread, is_open: bool, language: Language) -> str:
    title, name = _escaped(thread.title), _escaped(thread.id)
    current = ' aria-current="true"' if is_open else ""
    return (
        f'<li data-thread="{name}"{" class=open" if is_open else ""}>'
        f'<button type="button" data-go="open" class="title" title="{title}"{current}>{title}</button>'
        f'<button type="button" data-go="rename" class="rename" aria-label="{RENAME[language]}" '
        f'title="{RENAME[language]}"></button>'
        f'<button type="button" data-go="delete" class="delete" aria-label="{DELETE[language]}" '
        f'title="{DELETE[language]}" data-sure="{SURE[language]}"></button></li>'
    )


def _escaped(text: str) -> str:
    """For HTML, and for the template that Gradio fills it into."""
    escaped = html.escape(text)
    return "".join(f"&#{ord(character)};" if character in "${}`\\" else character for character in escaped)
