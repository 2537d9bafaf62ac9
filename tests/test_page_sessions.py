"""What the server keeps of an open page: what its handlers need, not what it showed, and of so many pages only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from fastapi import FastAPI

from assistant.web.page import stay_local

stay_local()

import gradio as gr  # noqa: E402  # reads what stay_local sets

from assistant.web.page_sessions import PageSession, keep_little  # noqa: E402

LONG = "shown to one reader " * 1000

Call = Callable[..., Awaitable[list[Any]]]


def page_of_two_boxes() -> gr.Blocks:
    with gr.Blocks(analytics_enabled=False) as page:
        choice, said, count = gr.Dropdown(["A100"], value="A100"), gr.Textbox(), gr.State(0)
        gr.Button().click(lambda: (gr.Dropdown(choices=["H200"]), LONG), None, [choice, said], api_name="widen")
        gr.Button().click(
            lambda chosen, so_far: (chosen, so_far + 1), [choice, count], [said, count], api_name="choose"
        )
        gr.Button().click(lambda so_far: str(so_far), count, said, api_name="counted")
    return page


def on_a_served_page(check: Callable[[gr.Blocks, Call], Awaitable[None]]) -> None:
    """Gradio makes an event loop of its own, and leaves it open, wherever none is running: so all is done in one."""

    async def checked() -> None:
        page, app = page_of_two_boxes(), FastAPI()
        gr.mount_gradio_app(app, page, path="/zh", ssr_mode=False)
        keep_little(app, page)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:

            async def call(name: str, session: str, *data: object) -> list[Any]:
                sent = {"data": list(data), "session_hash": session}
                response = await client.post(f"/zh/gradio_api/run/{name}", json=sent)
                shown: list[Any] = response.raise_for_status().json()["data"]
                return shown

            await check(page, call)

    asyncio.run(checked())


def test_a_page_keeps_its_own_state_and_the_choices_it_was_given() -> None:
    async def check(_: gr.Blocks, call: Call) -> None:
        await call("widen", "first")
        assert (await call("choose", "first", "H200", None))[0] == "H200"
        await call("choose", "first", "H200", None)
        assert await call("counted", "first", None) == ["2"]
        assert await call("counted", "second", None) == ["0"]

    on_a_served_page(check)


def test_nothing_that_was_shown_is_kept() -> None:
    async def check(page: gr.Blocks, call: Call) -> None:
        assert (await call("widen", "first"))[1] == LONG
        assert await call("choose", "first", "H200", None)
        session = page.state_holder["first"]
        assert isinstance(session, PageSession)
        assert not list(session.components)

    on_a_served_page(check)


def test_the_page_used_least_lately_is_dropped() -> None:
    async def check(page: gr.Blocks, call: Call) -> None:
        assert page.state_holder.capacity <= 1000
        page.state_holder.capacity = 2
        for session in ("first", "second", "first", "third"):
            await call("counted", session, None)
        assert set(page.state_holder.session_data) == {"first", "third"}
        assert await call("counted", "second", None) == ["0"]

    on_a_served_page(check)
