"""The chat tab: the list of conversations, the chat, and what an answer's buttons do.

Components and wiring only: chat_session.py answers and keeps, turn_view.py renders, chat.js opens sources and figures.
What chat.js reports comes as text in hidden boxes; whose conversation it is, is looked up for whoever sent it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.context import Context

from assistant.accounts import User
from assistant.chat_session import ChatSession, always
from assistant.conversations import (
    MAX_QUESTION_CHARACTERS,
    Answerer,
    Conversations,
)
from assistant.evidence import Answer, Bilingual, Language
from assistant.web.assumptions import assumptions_panel
from assistant.web.chat_frame import banner_html, bar_html, editing_html, overlay_html
from assistant.web.chat_handlers import SHOWN, ChatHandlers
from assistant.web.conversation_list import threads_html
from assistant.web.feedback import Feedback, feedback_form, wire_feedback

CONCURRENT_ANSWERS = 16

EXAMPLES: dict[Language, tuple[str, ...]] = {
    "zh": (
        "腾讯云租 4 张 A100 跑 72 小时多少钱？",
        "三家云的 T4 每小时各多少钱？哪家最便宜？",
        "一张 4090 能跑 Qwen2.5-72B int4 吗？",
        "用 LoRA 微调 Qwen2.5-7B 要多少显存？",
        "买一张 4090 用两年，还是租更划算？",
        "Tensor Core 为什么对深度学习重要？",
    ),
    "en": (
        "How much do 4 A100s cost for 72 hours at Tencent Cloud?",
        "How much more does an A100 cost per hour at Alibaba Cloud than at Volcengine?",
        "Can one RTX 4090 run Qwen2.5-72B in int4?",
        "How much memory does LoRA fine-tuning of Qwen2.5-7B take?",
        "Buy an RTX 4090 for two years or rent one: which is cheaper?",
        "Why do Tensor Cores matter for deep learning?",
    ),
}
ASK = Bilingual(zh="问价格、显存、训练时间……", en="Ask about prices, memory, training time …")
QUESTION = Bilingual(zh="问题", en="Question")
WELCOME = Bilingual(zh="### 问一个关于 GPU 的问题", en="### Ask a question about GPUs")
# "private": programs have /api/ask, no other client calls these.
HIDDEN: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
AT_ONCE: dict[str, Any] = {**HIDDEN, "queue": False}
# What is asked meanwhile waits for this (chat.js).
MOVED: dict[str, Any] = {"fn": None, "js": "() => gpuAdvisorChat.moved()", **HIDDEN}


@dataclass(frozen=True)
class ChatTab:
    """What other tabs need of the chat: a question set as the value of `outside` is put into the chat and asked.

    `keep(question, answer, thread, request)` adds a finished answer to the conversation and gives the values of
    `shown`; the value of `thread` is the open conversation's id.
    """

    outside: gr.Textbox
    thread: gr.Textbox
    shown: list[Any]
    keep: Callable[[str, Answer, str, gr.Request], list[Any]]


@dataclass(frozen=True)
class _Parts:
    """The components that handlers write to or read from."""

    threads: gr.HTML
    banner: gr.HTML
    chat: gr.Chatbot
    editing_line: gr.HTML
    notice: gr.HTML
    box: gr.Textbox
    thread: gr.Textbox
    editing: gr.Textbox
    go: gr.Textbox
    action: gr.Textbox
    again: gr.Textbox
    outside: gr.Textbox
    feedback: Feedback

    @property
    def shown(self) -> list[Any]:
        """What an answer or another conversation changes."""
        return [getattr(self, name) for name in SHOWN]


def chat_tab(
    language: Language,
    advisor_provider: Callable[[], Answerer | None],
    conversations: Conversations,
    allow_question: Callable[[User], float | None] = always,
) -> ChatTab:
    """Build the chat in the page that is being built; `advisor_provider` gives None while the advisor is being loaded.

    `allow_question` gives the seconds that a user must wait before the next question, or None.
    """
    session = ChatSession(language, advisor_provider, conversations, allow_question)
    with gr.Row(elem_id="chat-row"):
        with gr.Column(elem_id="chat-side", scale=0, min_width=0):
            threads = gr.HTML(threads_html((), "", language), elem_id="chat-threads", padding=False)
        with gr.Column(elem_id="chat-main", scale=1, min_width=0):
            parts = _parts(language, threads)
            gr.HTML(overlay_html(language), elem_id="chat-overlay-box", padding=False)
            assumptions = assumptions_panel(language, advisor_provider, conversations)
    handlers = ChatHandlers(session)
    _wire_answers(parts, handlers)
    _wire_conversations(parts, handlers)
    assumptions.changed.change(handlers.refreshed, [parts.thread], parts.shown, **AT_ONCE)
    wire_feedback(parts.feedback, conversations, parts.notice, language, HIDDEN)
    return ChatTab(parts.outside, parts.thread, parts.shown, handlers.keep)


def _parts(language: Language, threads: gr.HTML) -> _Parts:
    gr.HTML(bar_html(language), elem_id="chat-bar", padding=False)
    banner = gr.HTML(banner_html(language), visible=False, elem_id="chat-banner", padding=False)
    chat = gr.Chatbot(
        elem_id="chat",
        show_label=False,
        placeholder=WELCOME[language],
        examples=[{"text": question} for question in EXAMPLES[language]],
        latex_delimiters=[],  # "$8.43" is money
        buttons=[],  # an answer has buttons of its own: Gradio would copy the HTML of the evidence along
        layout="bubble",
        scale=1,
        allow_file_downloads=False,
    )
    feedback = feedback_form(language)
    editing_line = gr.HTML(editing_html(language), visible=False, elem_id="chat-editing-line", padding=False)
    notice = gr.HTML("", elem_id="chat-notice", padding=False)
    box = gr.Textbox(
        placeholder=ASK[language],
        label=QUESTION[language],
        show_label=False,
        submit_btn=True,
        autofocus=True,
        max_lines=6,
        max_length=MAX_QUESTION_CHARACTERS,
        elem_id="question",
    )
    thread, editing, go, action, again, outside = (
        gr.Textbox(visible="hidden", elem_id=f"chat-{name}")
        for name in ("thread", "editing", "go", "action", "again", "outside")
    )
    return _Parts(
        threads, banner, chat, editing_line, notice, box, thread, editing, go, action, again, outside, feedback
    )


def _clicked_text(chosen: gr.SelectData) -> str:
    return str(chosen.value["text"])


def _wire_answers(parts: _Parts, handlers: ChatHandlers) -> None:
    """What asks, and what stops it: the stop button, and every move to another conversation."""
    answering: dict[str, Any] = {
        "outputs": parts.shown,
        "concurrency_limit": CONCURRENT_ANSWERS,
        "concurrency_id": "answer",
        **HIDDEN,
    }
    in_box = [parts.box, parts.thread, parts.editing]
    typed = parts.box.submit(handlers.ask, in_box, **answering)
    clicked = parts.chat.example_select(_clicked_text, None, [parts.box], **AT_ONCE)
    asked = clicked.then(handlers.ask, in_box, **answering)
    again = parts.again.change(handlers.ask_again, [parts.again, parts.thread], **answering)
    outside = parts.outside.change(handlers.ask_from_outside, [parts.outside, parts.thread], **answering)
    outside.then(lambda: "", None, [parts.outside], **AT_ONCE)  # the same question may come again
    running = [typed, asked, again, outside]
    parts.box.stop(handlers.stop, [parts.thread], parts.shown, cancels=running, **AT_ONCE)
    went = parts.go.change(handlers.go, [parts.go, parts.thread], parts.shown, cancels=running, **AT_ONCE)
    went.then(**MOVED)


def _wire_conversations(parts: _Parts, handlers: ChatHandlers) -> None:
    """The conversation that this browser had open, and what the buttons of an answer do."""
    page = Context.root_block
    if page is None:
        raise RuntimeError("chat_tab must be called while a gradio.Blocks is being built")
    opened = page.load(handlers.open, [parts.thread], parts.shown, js="() => gpuAdvisorChat.kept()", **AT_ONCE)
    opened.then(**MOVED)
    parts.thread.change(None, [parts.thread], None, js="(thread) => gpuAdvisorChat.keep(thread)", **HIDDEN)
    form = [parts.feedback.form, parts.feedback.turn, *parts.feedback.fields]
    parts.action.change(handlers.act, [parts.action, parts.thread], [*parts.shown, *form], **AT_ONCE)
