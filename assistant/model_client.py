"""The client of an OpenAI-compatible server, set up so that it reaches that server and nothing else.

It sends nothing by itself, except for the list of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

CONNECT_SECONDS = 5.0
DUMMY_KEY = "not-needed"  # the client insists on one, local servers do not read it


@dataclass(frozen=True)
class Endpoint:
    """Where to send a request. `model` None: the first one the server offers."""

    base_url: str
    api_key: str
    model: str | None


@lru_cache(maxsize=4)  # more than one, as an embedded server that was restarted has moved
def chat_model(endpoint: Endpoint, silence_seconds: float) -> ChatOpenAI:
    """Return the client of an endpoint; `silence_seconds` limits every wait for the next byte, not the whole."""
    import langsmith
    import openai
    from langchain_openai import ChatOpenAI
    from pydantic import SecretStr

    langsmith.configure(enabled=False)  # questions go to the model server and nowhere else
    client = openai.DefaultHttpxClient(
        trust_env=not _is_loopback(endpoint.base_url),  # HTTP_PROXY must not catch loopback
        timeout=openai.Timeout(silence_seconds, connect=CONNECT_SECONDS),
    )
    return ChatOpenAI(
        base_url=endpoint.base_url,
        api_key=SecretStr(endpoint.api_key),
        timeout=client.timeout,
        max_retries=0,  # a second try would double the silence
        # No connection outlives its answer: one that the server has dropped meanwhile would be an error.
        default_headers={"Connection": "close"},
        openai_proxy="",
        http_client=client,
        http_async_client=openai.DefaultAsyncHttpxClient(trust_env=False),  # unused, but its default reads the proxies
        http_socket_options=(),  # the client is ours: no warning that its default ignores the proxies
    )


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def offered_models(chat: ChatOpenAI) -> list[str]:
    """Names of the models that the server offers; ValueError when there are none."""
    try:
        names = [model.id for model in chat.root_client.models.list().data]
    except (AttributeError, TypeError) as error:  # the client does not expect a web page
        raise ValueError(f"{chat.openai_api_base!r} does not list models") from error
    if not names:
        raise ValueError(f"{chat.openai_api_base!r} offers no model")
    return names
