"""What was wrong with an answer: a few reasons to tick and room for one's own words. Stored by Conversations.rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from assistant.access import user_of
from assistant.chat_session import GONE
from assistant.conversations import Conversations, UnknownTurnError
from assistant.evidence import Bilingual, Language
from assistant.web.chat_frame import CANCEL, notice_html

QUESTION = Bilingual(zh="哪里不好？", en="What was wrong?")
REASONS = (
    Bilingual(zh="数字不对", en="A figure is wrong"),
    Bilingual(zh="没听懂问题", en="It misunderstood the question"),
    Bilingual(zh="资料过时", en="The data are out of date"),
    Bilingual(zh="缺了内容", en="Something is missing"),
    Bilingual(zh="不好读", en="Hard to read"),
)
OWN_WORDS = Bilingual(zh="还想说什么（可不填）", en="Anything else (optional)")
SEND = Bilingual(zh="提交", en="Send")
THANKS = Bilingual(zh="谢谢，已记下。", en="Thank you, it was noted.")
LONGEST_WORDS = 1_000


@dataclass(frozen=True)
class Feedback:
    """The form's components: `turn` is the id of the turn it is about, `fields` are what opening it resets."""

    form: gr.Group
    turn: gr.Textbox
    fields: list[Any]
    send: gr.Button
    cancel: gr.Button


def feedback_form(language: Language) -> Feedback:
    """Build the form, hidden, in the page that is being built."""
    with gr.Group(visible=False, elem_id="chat-feedback") as form:
        reasons = gr.CheckboxGroup([reason[language] for reason in REASONS], label=QUESTION[language])
        words = gr.Textbox(label=OWN_WORDS[language], lines=2, max_lines=4, max_length=LONGEST_WORDS)
        with gr.Row():
            cancel = gr.Button(CANCEL[language], size="sm")
            send = gr.Button(SEND[language], size="sm", variant="primary")
    turn = gr.Textbox(visible="hidden", elem_id="chat-rated")
    return Feedback(form, turn, [reasons, words], send, cancel)


def wire_feedback(
    feedback: Feedback, conversations: Conversations, notice: gr.HTML, language: Language, hidden: dict[str, Any]
) -> None:
    """Sending keeps the reasons with the verdict; both buttons close the form."""

    def send(turn: str, reasons: list[str], words: str, request: gr.Request) -> tuple[object, str]:
        chosen = [reason.en for reason in REASONS if reason[language] in reasons]
        reason = "; ".join([*chosen, *([words.strip()[:LONGEST_WORDS]] if words.strip() else [])])
        try:
            conversations.rate(int(turn), "down", reason, user_of(request).name)
        except (UnknownTurnError, ValueError):
            return gr.Group(visible=False), notice_html(GONE[language])
        return gr.Group(visible=False), notice_html(THANKS[language])

    feedback.send.click(send, [feedback.turn, *feedback.fields], [feedback.form, notice], queue=False, **hidden)
    feedback.cancel.click(lambda: gr.Group(visible=False), None, [feedback.form], queue=False, **hidden)
