"""What the page shows of one answer: its Markdown as Gradio renders it rightly, each figure with its evidence at hand.

Pure functions from events to text. This module knows no web framework, and no figure is computed or changed here.
"""

from __future__ import annotations

import html
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assistant.evidence import Answer, Card, Citation, Done, Event, Prose, Working
from assistant.evidence_view import Traced, evidence_html, traced

__all__ = ["Reply", "as_stopped", "evidence_html", "presentable", "with_figures", "working_line"]

# Private-use characters stand for the tags around a figure until everything else has become HTML.
_OPEN, _SEAL, _CLOSE = "\ue000", "\ue001", "\ue002"


@dataclass(frozen=True)
class Reply:
    """What is shown of one answer so far; `key` sets its links apart from those of other answers on the page."""

    markdown: str = ""
    working: str = ""
    answer: Answer | None = None
    key: str = field(default_factory=lambda: uuid.uuid4().hex[:8])

    def after(self, event: Event) -> Reply:
        """The reply once `event` has come."""
        match event:
            case Card(markdown=markdown):
                return replace(self, markdown=markdown)
            case Prose(markdown=markdown):
                return replace(self, markdown=self.markdown + markdown)
            case Working(message=message):
                return replace(self, working=message)
            case Done(answer=answer):
                return replace(self, markdown=answer.text, working="", answer=answer)

    def render(self) -> str:
        """Markdown with safe HTML in it, as the chat shows it."""
        if self.answer is None:
            return presentable(self.markdown) + working_line(self.working)
        known = traced(self.answer)
        text = with_figures(self.answer.text, known)
        shown = _with_tags(presentable(text, self.answer.citations, self.key))
        return shown + evidence_html(self.answer, self.key, known)


def working_line(message: str) -> str:
    """The line that says what is being done; nothing where `message` is empty."""
    return f'\n\n<p class="working">{html.escape(message)}</p>' if message else ""


def as_stopped(markdown: str, sentence: str) -> str:
    """An unfinished reply with `sentence` in place of its working line."""
    text = re.sub(r'\s*<p class="working">[^<]*</p>\s*$', "", markdown)
    return f'{text}\n\n<p class="stopped">{html.escape(sentence)}</p>'


def presentable(markdown: str, citations: Sequence[Citation] = (), key: str = "") -> str:
    """Markdown that Gradio renders as meant: bold beside Chinese, "3~4" not struck out, [n] linked; code untouched.

    HTML and pictures in it are shown as they were written, and are never acted on.
    """
    parts = re.split(r"(```.*?(?:```|$)|`[^`\n]*`)", markdown, flags=re.DOTALL)
    titles = {citation.id: f"{citation.title}, {citation.locator}" for citation in citations}

    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        if number not in titles:
            return match[0]
        title = html.escape(titles[number]).replace("|", "&#124;").replace("\n", " ")
        return f'<a class="cite" href="#{key}-{number}" title="{title}">[{number}]</a>'

    for index in range(0, len(parts), 2):
        part = re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", parts[index]).replace("![", "&#33;[")
        part = re.sub(r"(?<!~)~(?!~)", "&#126;", part)
        part = re.sub(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*", r"<strong>\1</strong>", part)
        parts[index] = re.sub(r"\[(\d{1,3})\](?!\()", link, part)
    return "".join(parts)


def with_figures(text: str, known: Traced) -> str:
    """The text with each figure between private-use characters that _with_tags turns into its element."""
    text = re.sub(f"[{_OPEN}{_SEAL}{_CLOSE}]", "\ufffd", text)
    out, place = "", 0
    for figure, number in known.places:
        if figure.start >= place:
            out += f"{text[place : figure.start]}{_OPEN}{number}{_SEAL}{text[figure.start : figure.end]}{_CLOSE}"
            place = figure.end
    return out + text[place:]


def _with_tags(shown: str) -> str:
    opened = re.sub(f"{_OPEN}(\\d+){_SEAL}", r'<span class="figure u\1" role="button" tabindex="0">', shown)
    return opened.replace(_CLOSE, "</span>")
