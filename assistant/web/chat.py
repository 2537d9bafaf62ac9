"""The chat page: it shows the events of one answer as they come, with the evidence one can open below it.

It renders only. It does not decide, compute, look anything up or listen on a port; no font, script or picture on it
comes from another host.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from assistant.conversations import (
    MAX_QUESTION_CHARACTERS,
    AdviceFailedError,
    Answerer,
    Conversations,
    converse,
)
from assistant.evidence import Event, Language
from assistant.reply import Reply, as_stopped, presentable, working_line

if TYPE_CHECKING:
    import gradio

UPDATE_SECONDS = 0.08  # at most 12 updates a second: one per token would starve the process
HEARTBEAT_SECONDS = 1.0  # how soon a silent answer notices that it was stopped
LOADING_SECONDS = 120
CONCURRENT_ANSWERS = 16

EXAMPLES = (
    "腾讯云租 4 张 A100 跑 72 小时多少钱？",
    "三家云的 T4 每小时各多少钱？哪家最便宜？",
    "跑 Falcon-40B 推理要几张 A100？",
    "How much more does an A100 cost per hour at Alibaba Cloud than at Volcengine?",
    "What can I fine-tune on one 4090, and how long does it take?",
    "Why do Tensor Cores matter for deep learning?",
)

_TEXTS: dict[Language, dict[str, str]] = {
    "zh": {
        "ask": "问价格、显存、训练时间……",
        "new": "新对话",
    },
    "en": {
        "ask": "Ask about prices, memory, training time …",
        "new": "New chat",
    },
}
_WELCOME = "### 问一个关于 GPU 的问题\nAsk a question about GPUs"
_THINKING = "正在查找… / Looking it up …"
_LOADING = "正在加载知识库，马上就好… / Loading the knowledge base, one moment …"
_NOT_LOADED = "知识库还没有加载好，请稍后再问。 / The knowledge base is not loaded yet; please ask again in a moment."
_STOPPED = "已停止 / Stopped"
_TOO_LONG = (
    f"问题太长，请缩短到 {MAX_QUESTION_CHARACTERS} 个字以内。 / "
    f"The question is too long; please keep it within {MAX_QUESTION_CHARACTERS} characters."
)


def chat_tab(language: Language, advisor_provider: Callable[[], Answerer | None], conversations: Conversations) -> None:
    """Build the chat in the page that is being built; `advisor_provider` gives None while the advisor is being loaded."""
    import gradio as gr

    text = _TEXTS[language]
    new = gr.Button(text["new"], elem_id="new-chat", size="sm", scale=0)
    chat = gr.Chatbot(
        elem_id="chat",
        show_label=False,
        placeholder=_WELCOME,
        examples=[{"text": question} for question in EXAMPLES],
        latex_delimiters=[],  # "$8.43" is money
        buttons=[],  # Gradio would copy the HTML of the evidence along
        layout="bubble",
        scale=1,
        allow_file_downloads=False,
    )
    box = gr.Textbox(
        placeholder=text["ask"],
        show_label=False,
        submit_btn=True,
        autofocus=True,
        max_lines=6,
        max_length=MAX_QUESTION_CHARACTERS,
        elem_id="question",
    )
    _wire(chat, box, new, partial(_respond, advisor_provider, conversations))


def paced(events: Iterator[Event]) -> Iterator[list[Event]]:
    """Batches of events, at most one per UPDATE_SECONDS; an empty one whenever HEARTBEAT_SECONDS pass in silence.

    A thread of its own reads the events, so a slow page never holds up the advisor and a stopped page closes it. What
    the advisor raises is raised here.
    """
    inbox: SimpleQueue[Event | AdviceFailedError | None] = SimpleQueue()
    stopped = threading.Event()
    threading.Thread(target=_pump, args=(events, inbox, stopped), name="answer", daemon=True).start()
    try:
        while (batch := _next_batch(inbox)) is not None:
            yield batch
            time.sleep(UPDATE_SECONDS)
    finally:
        stopped.set()


def _wire(
    chat: gradio.Chatbot, box: gradio.Textbox, new: gradio.Button, respond: Callable[..., Iterator[tuple[object, ...]]]
) -> None:
    import gradio as gr

    def clicked_text(chosen):  # type: ignore[no-untyped-def] # Gradio resolves hints in module scope, where it is absent
        return chosen.value["text"]

    clicked_text.__annotations__ = {"chosen": gr.SelectData}
    # "private": programs have /api/ask, no other client calls these.
    hidden: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
    thread = gr.State("")
    answer: dict[str, Any] = {
        "fn": respond,
        "inputs": [box, chat, thread],
        "outputs": [chat, box, thread],
        "concurrency_limit": CONCURRENT_ANSWERS,
        "concurrency_id": "answer",
        **hidden,
    }
    typed = box.submit(**answer)
    clicked = chat.example_select(clicked_text, None, [box], queue=False, **hidden).then(**answer)
    ending: dict[str, Any] = {"cancels": [typed, clicked], "queue": False, **hidden}
    box.stop(_stop, [chat], [chat, box], **ending)
    for event in (new.click, chat.clear):
        event(_start_over, None, [chat, thread, box], **ending)


def _respond(
    advisor_provider: Callable[[], Answerer | None],
    conversations: Conversations,
    question: str,
    history: list[dict[str, Any]],
    thread: str,
) -> Iterator[tuple[object, ...]]:
    """Answer one question; yields the conversation, the question box and the thread."""
    import gradio as gr

    thread = thread or uuid.uuid4().hex
    question = question.strip()
    if not question:
        yield gr.skip(), gr.skip(), thread
        return
    shown = [*_plain(history), {"role": "user", "content": _as_typed(question)}]
    box: object = gr.Textbox(value="", submit_btn=False, stop_btn=True)
    for reply in _replies(advisor_provider, conversations, question, thread):
        yield [*shown, {"role": "assistant", "content": reply}], box, thread
        box = gr.skip()
    yield gr.skip(), gr.Textbox(submit_btn=True, stop_btn=False), thread


def _stop(history: list[dict[str, Any]]) -> tuple[object, object]:
    import gradio as gr

    shown = _plain(history)
    if shown and shown[-1]["role"] == "assistant":
        shown[-1]["content"] = as_stopped(shown[-1]["content"], _STOPPED)
    return shown, gr.Textbox(submit_btn=True, stop_btn=False)


def _start_over() -> tuple[object, ...]:
    import gradio as gr

    return [], "", gr.Textbox(value="", submit_btn=True, stop_btn=False)


def _replies(
    advisor_provider: Callable[[], Answerer | None], conversations: Conversations, question: str, thread: str
) -> Iterator[str]:
    """The reply as it grows, ready to show."""
    if len(question) > MAX_QUESTION_CHARACTERS:
        yield _TOO_LONG
        return
    yield working_line(_THINKING)
    deadline = time.monotonic() + LOADING_SECONDS
    while (advisor := advisor_provider()) is None:
        if time.monotonic() > deadline:
            yield _NOT_LOADED
            return
        yield working_line(_LOADING)
        time.sleep(HEARTBEAT_SECONDS / 2)
    reply = Reply(working=_THINKING)
    try:
        for batch in paced(converse(advisor, question, store=conversations, thread=thread)):
            for event in batch:
                reply = reply.after(event)
            yield reply.render()
    except AdviceFailedError as failure:
        yield f"{presentable(reply.markdown)}\n\n{failure}"


def _pump(
    events: Iterator[Event], inbox: SimpleQueue[Event | AdviceFailedError | None], stopped: threading.Event
) -> None:
    end: AdviceFailedError | None = None
    try:
        for event in events:
            inbox.put(event)
            if stopped.is_set():
                break
    except AdviceFailedError as failure:
        end = failure
    finally:
        inbox.put(end)


def _next_batch(inbox: SimpleQueue[Event | AdviceFailedError | None]) -> list[Event] | None:
    """All events that lie ready, after waiting for the first; None at the end."""
    batch: list[Event] = []
    while True:
        try:
            item = inbox.get(block=not batch, timeout=HEARTBEAT_SECONDS)
        except Empty:
            return batch
        if item is not None and not isinstance(item, AdviceFailedError):
            batch.append(item)
        elif batch:  # first what came before the end
            inbox.put(item)
            return batch
        elif item is None:
            return None
        else:
            raise item


def _plain(history: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The conversation as the browser sent it back, reduced to its texts (a file path in it is never followed)."""
    return [
        {"role": "user" if message["role"] == "user" else "assistant", "content": _text(message["content"])}
        for message in history
    ]


def _text(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(part["text"]) for part in content if part.get("type") == "text")


def _as_typed(question: str) -> str:
    """The reader's own words, so that no character in them acts as Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~<>&$])", lambda match: f"&#{ord(match[0])};", question.strip())
