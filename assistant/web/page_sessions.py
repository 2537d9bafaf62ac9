"""What the server keeps of each open page, and of how many.

Gradio keeps a description of the whole page, with all it showed last, for each of the last 10,000 pages that were opened,
0.6 MB each, so that a link to its present state can be made. There are no such links here: only what the handlers
need is kept, and the pages that were used last.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from gradio.routes import App
from gradio.state_holder import SessionState, StateHolder
from starlette.routing import Mount

if TYPE_CHECKING:
    import gradio
    from fastapi import FastAPI

MOST_PAGES = 1000  # of each language; one that is used again after that starts from what it sends


class PageSession(SessionState):
    """The changed components and the values of one open page, without a description of all of them."""

    def __init__(self, page: gradio.Blocks) -> None:
        # Without blocks there is nothing to describe.
        undescribed = SimpleNamespace(default_config=page.default_config, blocks={})
        super().__init__(cast("gradio.Blocks", undescribed))

    def __setitem__(self, key: int, value: Any) -> None:
        super().__setitem__(key, value)
        self.config_values.clear()

    def _update_config(self, key: int) -> None:
        """Describe nothing."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Describe nothing."""


class PageSessions(StateHolder):
    """The sessions of a page by their id, the least lately used going first."""

    def __getitem__(self, session_id: str) -> SessionState:
        if session_id not in self.session_data:
            self.session_data[session_id] = PageSession(self.blocks)
        return super().__getitem__(session_id)


def keep_little(app: FastAPI, page: gradio.Blocks) -> None:
    """Keep the sessions of a page so that is mounted in `app`. Call it before the page is served."""
    page.state_session_capacity = MOST_PAGES
    sessions = PageSessions()  # type: ignore[no-untyped-call] # Gradio's
    sessions.set_blocks(page)
    for route in app.routes:
        if isinstance(route, Mount) and isinstance(route.app, App) and route.app.get_blocks() is page:
            route.app.state_holder = sessions
