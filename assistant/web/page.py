"""The page in both languages, each at an address of its own: header, tabs, and what carries from one tab to another.

The frame only: each tab stands in its own module. Nothing on the page comes from another host.
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assistant.access import user_of
from assistant.accounts import LOCAL_USER, User
from assistant.conversations import Answerer, Conversations
from assistant.evidence import Answer, Bilingual, Language
from assistant.request_limits import allow_question
from ingest.incoming import LARGEST_BYTES

if TYPE_CHECKING:
    import gradio
    from fastapi import FastAPI

    from assistant.web.calculator import CalculatorTab
    from assistant.web.chat import ChatTab
    from ingest.knowledge_base import KnowledgeBase

LANGUAGES: tuple[Language, ...] = ("zh", "en")
LANGUAGE_COOKIE = "language"
FOLDER = Path(__file__).parent
TAGLINE = Bilingual(
    zh="GPU 怎么选、放不放得下、要花多少钱：每个数字都有出处",
    en="Which GPU, will it fit, what will it cost: every figure with its source",
)
TABS = ("chat", "prices", "calculator", "knowledge")
NAMES: dict[Language, str] = {"zh": "中文", "en": "English"}
THEME = Bilingual(zh="切换深色与浅色", en="Switch between dark and light")
LEAVE = Bilingual(zh="退出", en="Log out")
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
    with gr.Blocks(title="gpu-advisor", analytics_enabled=False, fill_height=True, delete_cache=(3600, 3600)) as page:
        with gr.Row(elem_id="header"):
            gr.HTML(_title(language), elem_id="title", padding=False)
            menu = gr.HTML(_menu(language, LOCAL_USER), elem_id="menu", padding=False)
        with gr.Tabs(elem_id="tabs") as tabs:
            with gr.Tab(CHAT[language], id="chat"):
                chat = chat_tab(language, advisor_provider, conversations, allow_question)
            with gr.Tab(PRICES[language], id="prices") as prices:
                prices_tab(language, prices)
            with gr.Tab(CALCULATOR[language], id="calculator"):
                calculator = calculator_tab(language)
            with gr.Tab(KNOWLEDGE[language], id="knowledge", visible=False) as knowledge:
                knowledge_tab(language, knowledge_provider)

        def opened(request):  # type: ignore[no-untyped-def] # Gradio resolves hints in module scope, where it is absent
            return _opened(language, request)

        opened.__annotations__ = {"request": gr.Request}
        # "private": no program calls these; queue=False: they do nothing that takes time.
        # Keys pressed before Gradio has wired its events are lost; this tells when it has.
        page.load(None, None, None, js="() => { document.body.dataset.ready = 'yes'; }", api_visibility="private")
        _carry_into_chat(calculator, chat, tabs)
        page.load(opened, None, [menu, tabs, knowledge], api_visibility="private", queue=False, show_progress="hidden")
    return page


def _carry_into_chat(calculator: CalculatorTab, chat: ChatTab, tabs: gradio.Tabs) -> None:
    """What was calculated becomes a turn of the open conversation, and that is shown."""
    import gradio as gr

    def carried(asked, thread, request):  # type: ignore[no-untyped-def] # as `opened`
        if asked is None:
            return [gr.skip()] * (1 + len(chat.shown))
        return [
            gr.Tabs(selected="chat"),
            *chat.keep(asked.question, Answer.model_validate_json(asked.answer_json), thread, request),
        ]

    carried.__annotations__ = {"request": gr.Request}
    calculator.after_asked.then(
        carried, [calculator.asked, chat.thread], [tabs, *chat.shown], api_visibility="private", show_progress="hidden"
    )


def mount_pages(
    app: FastAPI,
    advisor_provider: Callable[[], Answerer | None],
    knowledge_provider: Callable[[], KnowledgeBase | None],
    conversations: Conversations,
) -> None:
    """Serve the page at /zh and /en of `app`; "/" sends a browser to the one it prefers."""
    import gradio as gr
    from gradio import processing_utils

    from assistant.web.page_sessions import keep_little

    # A browser may name an address instead of a file that it uploaded: Gradio would fetch it.
    processing_utils.async_ssrf_protected_get = _fetch_nothing

    @app.get("/", include_in_schema=False)
    def root(request: Request) -> Response:
        query = f"?{request.url.query}" if request.url.query else ""
        return RedirectResponse(f"/{preferred_language(request)}/{query}")

    for language in LANGUAGES:
        page = build_page(language, advisor_provider, knowledge_provider, conversations)
        gr.mount_gradio_app(app, page, path=f"/{language}", **_look(), **_limits())
        # Gradio checks that files named by a browser were uploaded only in pages it launched itself: without this, any
        # event would copy any file of this machine to where the browser can fetch it.
        page.has_launched = True
        keep_little(app, page)


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


async def _fetch_nothing(url: str) -> NoReturn:
    raise ValueError(f"nothing is fetched for the page: {url[:200]!r}")


def _opened(language: Language, request: gradio.Request) -> tuple[object, object, object]:
    """What depends on who opens the page, and at which address."""
    import gradio as gr

    user = user_of(request)
    admin = user.role == "admin"
    asked = request.query_params.get("tab")
    shown = asked in TABS and (admin or asked != "knowledge")
    return _menu(language, user), gr.Tabs(selected=asked) if shown else gr.skip(), gr.Tab(visible=admin)


def _title(language: Language) -> str:
    return f"<h1>gpu-advisor</h1><p>{TAGLINE[language]}</p>"


def _menu(language: Language, user: User) -> str:
    other = next(each for each in LANGUAGES if each != language)
    leave = (
        f'<form method="post" action="/logout"><span>{html.escape(user.name)}</span> '
        f"<button>{LEAVE[language]}</button></form>"
    )
    return (
        f'<nav><a id="other-language" lang="{other}" href="/language/{other}">{NAMES[other]}</a>'
        f'<button id="theme" type="button" aria-label="{THEME[language]}" title="{THEME[language]}">◐</button>'
        f"{'' if user == LOCAL_USER else leave}</nav>"
    )


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
        "max_file_size": LARGEST_BYTES,
    }
