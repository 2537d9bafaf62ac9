"""What the page shows of one answer: its Markdown as Gradio renders it rightly, and the evidence folded below.

Pure functions from events to text. This module knows no web framework, and no figure is computed or changed here.
"""

from __future__ import annotations

import html
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from assistant.evidence import Answer, Bilingual, Card, Citation, Done, Event, Figure, Language, Prose, Working

_SOURCES = Bilingual(zh="来源", en="Sources")
_FIGURES = Bilingual(zh="数字与依据", en="Figures and their evidence")
_FIGURE = Bilingual(zh="数字", en="Figure")
_EVIDENCE = Bilingual(zh="依据", en="Evidence")
_AS_OF = Bilingual(zh="日期", en="as of")
_DROPPED = Bilingual(zh="因查不到依据而略去的数字：", en="Figures left out because no evidence was found: ")


@dataclass(frozen=True)
class Reply:
    """What is shown of one answer so far."""

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
        linked = presentable(self.markdown, self.answer.citations, self.key)
        return linked + evidence_html(self.answer, self.key)


def evidence_html(answer: Answer, key: str) -> str:
    """The sources and the table of figures as two folded blocks; everything in them is escaped."""
    language = answer.language
    blocks = []
    if answer.citations:
        passages = "".join(_passage(citation, key, language) for citation in answer.citations)
        blocks.append(_folded(f"{_SOURCES[language]} ({len(answer.citations)})", passages))
    if answer.figures or answer.dropped:
        blocks.append(_folded(f"{_FIGURES[language]} ({len(answer.figures)})", _figures(answer, key)))
    return "".join(f"\n\n{block}" for block in blocks)


def working_line(message: str) -> str:
    return f'\n\n<p class="working">{html.escape(message)}</p>' if message else ""


def as_stopped(markdown: str, sentence: str) -> str:
    """An unfinished reply with `sentence` in place of its working line; a finished one has none and stays."""
    return re.sub(
        r'(<p class=")working(">)[^<]*(</p>)\s*$', rf"\g<1>stopped\g<2>{html.escape(sentence)}\g<3>", markdown
    )


def presentable(markdown: str, citations: Sequence[Citation] = (), key: str = "") -> str:
    """Markdown that Gradio renders as meant: bold beside Chinese, "3~4" not struck out, [n] linked; code untouched."""
    parts = re.split(r"(```.*?(?:```|$)|`[^`\n]*`)", markdown, flags=re.DOTALL)
    titles = {citation.id: f"{citation.title}, {citation.locator}" for citation in citations}

    def link(match: re.Match[str]) -> str:
        number = int(match[1])
        if number not in titles:
            return match[0]
        title = html.escape(titles[number]).replace("|", "&#124;").replace("\n", " ")
        return f'<a class="cite" href="#{key}-{number}" title="{title}">[{number}]</a>'

    for index in range(0, len(parts), 2):
        part = re.sub(r"(?<!~)~(?!~)", "&#126;", parts[index])
        part = re.sub(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*", r"<strong>\1</strong>", part)
        parts[index] = re.sub(r"\[(\d{1,3})\](?!\()", link, part)
    return "".join(parts)


def _folded(summary: str, body: str) -> str:
    """One <details> on a single line: a line break would end the HTML block and be read as Markdown again."""
    block = f"<details><summary>{summary}</summary>{body}</details>"
    return block.replace("\n", "&#10;")


def _passage(citation: Citation, key: str, language: Language) -> str:
    where = " · ".join(part for part in (citation.source, citation.locator) if part)
    date = f" · {_AS_OF[language]} {citation.as_of}" if citation.as_of else ""
    summary = f"[{citation.id}] {html.escape(citation.title)} <small>{html.escape(where + date)}</small>"
    body = _passage_html(citation.excerpt)
    return f'<details><summary>{summary}</summary><div class="passage" id="{key}-{citation.id}">{body}</div></details>'


def _passage_html(excerpt: str) -> str:
    """A passage's own Markdown as HTML; HTML in it is shown as text, and links and pictures are left as written."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table")
    return str(reader.disable(["image", "link", "autolink", "reference"]).render(excerpt))


def _figures(answer: Answer, key: str) -> str:
    language = answer.language
    head = f"<tr><th>{_FIGURE[language]}</th><th>{_EVIDENCE[language]}</th></tr>"
    rows = "".join(_figure_row(figure, answer, key) for figure in answer.figures)
    table = f'<table class="figures"><thead>{head}</thead><tbody>{rows}</tbody></table>' if rows else ""
    if not answer.dropped:
        return table
    return f"{table}<p>{html.escape(_DROPPED[language] + ', '.join(answer.dropped))}</p>"


def _figure_row(figure: Figure, answer: Answer, key: str) -> str:
    kind, _, number = figure.evidence.partition(":")
    if kind == "cite":
        titles = {citation.id: citation.title for citation in answer.citations}
        title = html.escape(titles.get(int(number), ""))
        shown = f'<a class="cite" href="#{key}-{number}">[{number}]</a> {title}'
    else:
        call = answer.calls[int(number)]
        detail = call.formula or json.dumps(call.arguments, ensure_ascii=False)
        shown = f'<code>{html.escape(detail)}</code> <span class="muted">{html.escape(call.tool)}</span>'
    return f"<tr><td>{html.escape(figure.text)}</td><td>{shown}</td></tr>"
