"""The prices tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assistant.evidence import Language

if TYPE_CHECKING:
    pass


def prices_tab(language: Language) -> None:
    """Build the tab inside the page that is being built."""
    import gradio as gr

    gr.Markdown("prices")
