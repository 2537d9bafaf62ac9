"""The page in both languages, each at an address of its own: header, tabs, and what carries from one tab to another.

The frame only: each tab stands in its own module. Nothing on the page comes from another host.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assistant.conversations import Answerer, Conversations
from assistant.evidence import Bilingual, Language

if TYPE_CHECKING:
    import gradio
    from fastapi import FastAPI

    from ingest.knowledge_base import KnowledgeBase

LANGUAGES: tuple[Language, ...] = ("zh", "en")
LANGUAGE_COOKIE = "language"
FOLDER = Path(__file__).parent
TAGLINE = Bilingual(
    zh="GPU 怎么选、放不放得下、要花多少钱：每个数字都有出处",
    en="Which GPU, will it fit, what will it cost: every figure with its source",
)
CHAT = Bilingual(zh="对话", en="Chat")
PRICES = Bilingual(zh="价格", en="Prices")
CALCULATOR = Bilingual(zh="计算器", en="Calculator")
KNOWLEDGE = Bilingual(zh="知识库", en="Knowledge")


def build_page(
    language: Language,
    advisor_provider: Callable[[], Answerer | None],
    knowledge_provider: Callable[[], KnowledgeBase | None],
    conversations: Conversations,
) -> gradio.Blocks:
    """The page in one language; the providers give None while the advisor is still being loaded."""
    stay_local()
    import gradio as gr

    # The tabs import gradio, which reads what stay_local sets.
    from assistant.web.calculator import calculator_tab
    from assistant.web.chat import chat_tab
    from assistant.web.knowledge import knowledge_tab
    from assistant.web.prices import prices_tab

    page: gradio.Blocks
    with gr.Blocks(title="gpu-advisor", analytics_enabled=False, fill_height=True) as page:
        with gr.Row(elem_id="header"), gr.Column(min_width=0, scale=1):
            gr.Markdown("# gpu-advisor")
            gr.Markdown(TAGLINE[language])
        with gr.Tabs(elem_id="tabs"):
            with gr.Tab(CHAT[language], id="chat"):
                chat_tab(language, advisor_provider, conversations)
            with gr.Tab(PRICES[language], id="prices"):
                prices_tab(language)
            with gr.Tab(CALCULATOR[language], id="calculator"):
                calculator_tab(language)
            with gr.Tab(KNOWLEDGE[language], id="knowledge"):
                knowledge_tab(language, knowledge_provider)
    return page


def mount_pages(
    app: FastAPI,
    advisor_provider: Callable[[], Answerer | None],
    knowledge_provider: Callable[[], KnowledgeBase | None],
    conversations: Conversations,
) -> None:
    """Serve the page at /zh and /en of `app`; "/" sends a browser to the one it prefers."""
    import gradio as gr

    @app.get("/", include_in_schema=False)
    def root(request: Request) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/{preferred_language(request)}/{query}")

    for language in LANGUAGES:
        page = build_page(language, advisor_provider, knowledge_provider, conversations)
        gr.mount_gradio_app(app, page, path=f"/{language}", **_look(), **_limits())


def preferred_language(request: Request) -> Language:
    """The language chosen before, else the first of the browser's that there is; Chinese where it names neither."""
    chosen = request.cookies.get(LANGUAGE_COOKIE)
    for language in LANGUAGES:
        if chosen == language:
            return language
    for part in request.headers.get("accept-language", "").lower().split(","):
        for language in LANGUAGES:
            if part.strip().startswith(language):
                return language
    return "en" if request.headers.get("accept-language") else "zh"


def stay_local() -> None:
    """Switch off every call home of the libraries; must run before gradio or chromadb is imported."""
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


def _look() -> dict[str, Any]:
    import gradio as gr

    fonts = ["system-ui", "-apple-system", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "sans-serif"]
    theme = gr.themes.Default(
        primary_hue="teal",
        secondary_hue="teal",
        neutral_hue="slate",
        font=fonts,
        font_mono=["ui-monospace", "Consolas", "monospace"],
    )
    css = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.css")))
    script = "\n".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))
    return {"theme": theme, "css": css, "head": f"<script>{script}</script>", "footer_links": []}


def _limits() -> dict[str, Any]:
    return {
        "show_error": False,
        "ssr_mode": False,
        "enable_monitoring": False,
        "mcp_server": False,
        "max_file_size": "1mb",
    }
