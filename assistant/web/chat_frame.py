"""The fixed HTML around the chat: its bar, the drawer for sources and the card for figures. Filled by chat.js."""

from __future__ import annotations

from assistant.evidence import Bilingual, Language

SHOW = Bilingual(zh="对话列表", en="Conversations")
EXPORT = Bilingual(zh="导出", en="Export")
EXPORT_TITLE = Bilingual(zh="把这个对话存成 Markdown 文件", en="Save this conversation as a Markdown file")
NEW = Bilingual(zh="新对话", en="New chat")
SOURCE = Bilingual(zh="来源", en="Source")
CLOSE = Bilingual(zh="关闭", en="Close")
EVIDENCE = Bilingual(zh="这个数字的依据", en="Where this figure comes from")
COPIED = Bilingual(zh="已复制", en="Copied")
NOT_COPIED = Bilingual(zh="复制失败，请手动选择文字", en="Copying failed; please select the text yourself")
EDITING = Bilingual(
    zh="正在修改一个旧问题：发送后，它之后的内容会被替换。",
    en="You are editing an earlier question: sending it replaces everything after it.",
)
CANCEL = Bilingual(zh="取消", en="Cancel")
MODEL_FAILED = Bilingual(
    zh="语言模型暂时连不上：数字、价格和计算照常回答，只是没有文字说明。",
    en="The language model cannot be reached: figures, prices and calculations still answer, the prose does not come.",
)


def bar_html(language: Language) -> str:
    """Above the chat: the button that shows the list, a new conversation, the export."""
    return (
        f'<div class="bar"><button type="button" data-list="toggle" class="show" aria-label="{SHOW[language]}" '
        f'title="{SHOW[language]}" aria-expanded="false"></button>'
        f'<button type="button" data-go="new" class="new">{NEW[language]}</button><span class="spring"></span>'
        f'<button type="button" data-chat="export" class="export" title="{EXPORT_TITLE[language]}" hidden>'
        f"{EXPORT[language]}</button></div>"
    )


def overlay_html(language: Language) -> str:
    """The drawer and the card, empty and hidden, with the words that chat.js needs."""
    return (
        f'<div id="chat-overlay" data-language="{language}" data-copied="{COPIED[language]}" '
        f'data-not-copied="{NOT_COPIED[language]}">'
        f'<div id="source-drawer" role="dialog" aria-label="{SOURCE[language]}" tabindex="-1" hidden>'
        f'<header><div class="what"></div><button type="button" class="close" aria-label="{CLOSE[language]}" '
        f'title="{CLOSE[language]}">×</button></header><div class="body" tabindex="0"></div></div>'
        f'<div id="figure-card" role="tooltip" aria-label="{EVIDENCE[language]}" hidden></div>'
        '<div id="chat-said" role="status" aria-live="polite" hidden></div></div>'
    )


def editing_html(language: Language) -> str:
    """The line that says which question is being edited."""
    return f'<p>{EDITING[language]} <button type="button" data-chat="cancel-edit">{CANCEL[language]}</button></p>'


def banner_html(language: Language) -> str:
    """What is said while the language model does not answer."""
    return f'<p role="status">{MODEL_FAILED[language]}</p>'


def notice_html(sentence: str) -> str:
    """One of our own sentences, told by a screen reader as soon as it is there."""
    return f'<p role="status">{sentence}</p>' if sentence else ""
