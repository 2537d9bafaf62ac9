"""The knowledge tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.evidence import Language

if TYPE_CHECKING:
    from ingest.knowledge_base import KnowledgeBase


def knowledge_tab(language: Language, knowledge_provider: Callable[[], KnowledgeBase | None]) -> None:
    """Build the tab inside the page that is being built."""
    import gradio as gr

    gr.Markdown("knowledge")
