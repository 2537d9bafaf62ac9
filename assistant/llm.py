"""The only place that knows a model server exists: connect, stream text, choose JSON, and say plainly what went wrong.

It speaks the OpenAI protocol through LangChain, to the server of LLM_BASE_URL or to the embedded one. It does NOT
know a prompt, a GPU or a price, counts no tokens exactly, and never lets the model pick tools by itself.

    Exception
      ModelUnavailableError   no answer can be had now: server missing, silent, broken off, refusing
        ModelReplyError       the server works, but its reply is empty or not what was asked for
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assistant.embedded_server import EmbeddedServer, EmbeddedServerError, ServerSettings, available_cores
from assistant.evidence import Bilingual
from knowledge import weights

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 60.0  # to the first token and between tokens; there is no limit on the whole
DUMMY_KEY = "not-needed"  # the client insists on one, local servers do not read it
Message = tuple[str, str]

log = logging.getLogger(__name__)


class ModelUnavailableError(Exception):
    """No answer can be had from the model now. `reason` is for readers; the detail was logged."""

    def __init__(self, reason: Bilingual) -> None:
        super().__init__(reason.en)
        self.reason = reason


class ModelReplyError(ModelUnavailableError):
    """The model answered, but with nothing, or not with the JSON asked for."""


@dataclass(frozen=True)
class Endpoint:
    """Where to send a request. `model` None: the first one the server offers."""

    base_url: str
    api_key: str
    model: str | None


def connect_model() -> LanguageModel:
    """Return the model of LLM_BASE_URL (LLM_MODEL, LLM_API_KEY) if that is set, else the embedded one.

    Nothing is contacted, loaded or started yet: a server that is still coming up, or a model file still missing, is an
    error of the first request, not of the start.
    """
    base_url = os.environ.get("LLM_BASE_URL")
    if base_url:
        if urlsplit(base_url).path in ("", "/"):
            base_url = base_url.rstrip("/") + "/v1"
        endpoint = Endpoint(base_url, os.environ.get("LLM_API_KEY") or DUMMY_KEY, os.environ.get("LLM_MODEL") or None)
        return LanguageModel(lambda: endpoint, name=endpoint.model or "")
    path = weights.cached_path(weights.LLM)
    settings = ServerSettings(model_path=str(path), model_name=weights.LLM.name, threads=available_cores())
    server = EmbeddedServer(settings, weights.home() / "logs" / "model-server.log")
    return LanguageModel(lambda: _embedded_endpoint(server), name=settings.model_name, close=server.stop)


class LanguageModel:
    """A chat model behind an OpenAI-compatible server. `name` is "" until an unnamed server has told its model."""

    def __init__(
        self,
        endpoint: Callable[[], Endpoint],
        *,
        name: str,
        close: Callable[[], None] = lambda: None,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self.name = name
        self.close = close
        self._endpoint = endpoint
        self._silence_seconds = silence_seconds

    def warm_up(self, system: str = "") -> None:
        """Start our server, and let it read a system prompt in, so that the first answer is quick.

        Raises ModelUnavailableError. Other servers get a request for one token.
        """
        messages = [("system", system), ("human", "ok")] if system else [("human", "ok")]
        "".join(self._deltas(messages, max_tokens=1))

    def stream(self, system: str, user: str, *, max_tokens: int, temperature: float = 0.0) -> Iterator[str]:
        """Yield the answer's text as it comes, reasoning left out. Raises ModelUnavailableError, also mid-stream."""
        messages = [("system", system), ("human", user)]
        empty = True
        for text in without_reasoning(self._deltas(messages, max_tokens=max_tokens, temperature=temperature)):
            shown = text.lstrip() if empty else text
            if shown:
                empty = False
                yield shown
        if empty:
            log.warning("model %r gave an empty reply", self.name)
            raise ModelReplyError(EMPTY)

    def choose(self, system: str, user: str, schema: dict[str, Any], *, max_tokens: int = 256) -> dict[str, Any]:
        """Return a JSON object that obeys `schema`. A wrong reply is sent back once; then ModelReplyError.

        By response_format, not tool_choice: llama.cpp's server treats a named tool choice as "auto".
        """
        messages = [("system", system), ("human", user)]
        for _ in range(2):
            reply = self._json_reply(messages, schema, max_tokens)
            try:
                return _parsed(reply, schema)
            except ValueError as error:
                log.warning("model %r replied %r: %s", self.name, reply, error)
                correction = f"Wrong: {error}. Reply with the corrected JSON object only."
                messages += [("ai", reply or "{}"), ("human", correction)]
        raise ModelReplyError(NOT_JSON)

    def _json_reply(self, messages: list[Message], schema: dict[str, Any], max_tokens: int) -> str:
        """Text of one reply, in the strictest reply format that the server takes with this schema."""
        instruction = f"\n\nReply with one JSON object that obeys this JSON Schema: {json.dumps(schema)}"
        instructed = [("system", messages[0][1] + instruction), *messages[1:]]
        strict = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
        for sent, reply_format in ((messages, strict), (instructed, {"type": "json_object"})):
            try:
                return "".join(without_reasoning(self._deltas(sent, max_tokens=max_tokens, reply_format=reply_format)))
            except _ReplyFormatError as refusal:
                log.info("model %r refuses %r: %s", self.name, reply_format, refusal)
        return "".join(without_reasoning(self._deltas(instructed, max_tokens=max_tokens)))

    def _deltas(
        self,
        messages: list[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        reply_format: dict[str, Any] | None = None,
    ) -> Iterator[str]:
        """Yield what the server sends, reasoning in the text included; the one place where requests are made."""
        import openai

        endpoint = self._endpoint()
        chat = _chat_model(endpoint, self._silence_seconds)
        # In extra_body: `max_tokens` proper would be renamed to a field that older servers ignore, and a proper
        # response_format would make the client judge the reply by rules of its own.
        extra = {"max_tokens": max_tokens} | ({"response_format": reply_format} if reply_format else {})
        begun = finished = False
        try:
            self.name = endpoint.model or _offered(chat)[0]
            stream = chat.stream(messages, model=self.name, temperature=temperature, extra_body=extra)
            with contextlib.closing(stream) as chunks:  # type: ignore[type-var]  # declared wider than it is
                for chunk in chunks:
                    begun, finished = True, finished or "finish_reason" in chunk.response_metadata
                    if chunk.text:
                        yield chunk.text
        except (openai.OpenAIError, ValueError) as error:  # ValueError: what came is not of the protocol
            log.warning("model server %s, model %r: %r", endpoint.base_url, self.name, error)
            if reply_format and isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
                raise _ReplyFormatError(str(error)) from error
            raise ModelUnavailableError(BROKEN_OFF if begun else _reason(error, chat, self.name)) from error
        if not finished:
            log.warning("model server %s broke off its reply", endpoint.base_url)
            raise ModelUnavailableError(BROKEN_OFF)


def fit(parts: Sequence[str], limit_tokens: int) -> list[str]:
    """Return the leading parts that fit into the limit together; what comes last is dropped first."""
    kept, used_tokens = [], 0
    for part in parts:
        used_tokens += estimated_tokens(part)
        if used_tokens > limit_tokens:
            break
        kept.append(part)
    return kept


def estimated_tokens(text: str) -> int:
    """Cautious estimate without a tokenizer: each CJK character, digit and mark is one token, 3.5 others are.

    Against Qwen2.5's tokenizer on pieces of our documents: 0.99 to 1.8 times the true count, 1.3 on average.
    """
    single = len(SINGLE_TOKENS.findall(text))
    return single + round((len(text) - single) / 3.5 + 0.5)


def without_reasoning(deltas: Iterable[str]) -> Iterator[str]:
    """Drop `<think>...</think>`, however the tags are cut into pieces; an unclosed one drops the rest."""
    held, inside = "", False
    for delta in deltas:
        held += delta
        shown = ""
        while (found := held.partition(THINK_TAGS[inside]))[1]:
            shown += "" if inside else found[0]
            held, inside = found[2], not inside
        keep = _started_tag(held, THINK_TAGS[inside])
        shown += "" if inside else held[: len(held) - keep]
        held = held[len(held) - keep :]
        if shown:
            yield shown
    if held and not inside:
        yield held


def _started_tag(text: str, tag: str) -> int:
    """Length of the longest end of `text` that may become `tag`."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)


def _embedded_endpoint(server: EmbeddedServer) -> Endpoint:
    states = {status.role: status.state for status in weights.list_models()}
    if states["llm"] != "verified":
        raise ModelUnavailableError(NO_MODEL_FILE)
    try:
        return Endpoint(server.address() + "/v1", server.settings.api_key, server.settings.model_name)
    except EmbeddedServerError as error:
        log.exception("the embedded model server did not start")
        raise ModelUnavailableError(NOT_STARTED) from error


@lru_cache(maxsize=4)  # more than one, as an embedded server that was restarted has moved
def _chat_model(endpoint: Endpoint, silence_seconds: float) -> ChatOpenAI:
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


def _offered(chat: ChatOpenAI) -> list[str]:
    """Names of the models that the server offers; ValueError when there are none."""
    try:
        names = [model.id for model in chat.root_client.models.list().data]
    except (AttributeError, TypeError) as error:  # the client does not expect a web page
        raise ValueError(f"{chat.openai_api_base!r} does not list models") from error
    if not names:
        raise ValueError(f"{chat.openai_api_base!r} offers no model")
    return names


def _reason(error: Exception, chat: ChatOpenAI, model: str) -> Bilingual:
    """What a reader is told about an error of the request."""
    import openai

    if isinstance(error, openai.BadRequestError | openai.NotFoundError):
        return TOO_LONG if "context" in str(error) else _wrong_model(chat, model)
    reasons: list[tuple[type[Exception], Bilingual]] = [
        (openai.APITimeoutError, SILENT),  # before its base class
        (openai.APIConnectionError, UNREACHABLE),
        (openai.AuthenticationError, KEY_REFUSED),
        (openai.PermissionDeniedError, KEY_REFUSED),
        (openai.RateLimitError, BUSY),
        (ValueError, NO_API),
    ]
    return next((reason for kind, reason in reasons if isinstance(error, kind)), FAILED)


def _wrong_model(chat: ChatOpenAI, model: str) -> Bilingual:
    import openai

    try:
        offered = _offered(chat)
    except (openai.OpenAIError, ValueError):
        return NO_API
    if model in offered:
        return FAILED
    names = ", ".join(offered)
    return Bilingual(
        zh=f"模型服务没有 {model!r} 这个模型，它提供的是：{names}。请改 LLM_MODEL。",
        en=f"The model server has no model {model!r}; it offers: {names}. Change LLM_MODEL.",
    )


def _parsed(reply: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON object in a reply, fenced or with words around it, if it obeys the schema; else ValueError."""
    import jsonschema

    start, end = reply.find("{"), reply.rfind("}")
    value = json.loads(reply[start : end + 1])
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError as error:
        raise ValueError(f"{error.json_path}: {error.message}") from error
    return dict(value)


class _ReplyFormatError(Exception):
    """The server does not take this response_format."""


THINK_TAGS = ("<think>", "</think>")
SINGLE_TOKENS = re.compile(r"[0-9\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]|[^\w\s]")

NO_MODEL_FILE = Bilingual(
    zh="模型文件还没有下载好。请运行 `gpu-advisor models pull`，或用 LLM_BASE_URL 指定已有的模型服务。",
    en="The model file is not there yet. Run `gpu-advisor models pull`, or name a model server in LLM_BASE_URL.",
)
NOT_STARTED = Bilingual(
    zh="内置模型没能启动，原因见数据目录中的 logs/model-server.log。",
    en="The embedded model could not be started; logs/model-server.log in the state folder says why.",
)
UNREACHABLE = Bilingual(
    zh="连不上模型服务。请确认它已启动，且 LLM_BASE_URL 正确。",
    en="The model server cannot be reached. Check that it is running and that LLM_BASE_URL is right.",
)
NO_API = Bilingual(
    zh="LLM_BASE_URL 处没有兼容 OpenAI 的接口，地址通常以 /v1 结尾。",
    en="There is no OpenAI-compatible interface at LLM_BASE_URL; the address usually ends in /v1.",
)
KEY_REFUSED = Bilingual(zh="模型服务拒绝了密钥 LLM_API_KEY。", en="The model server refuses the key in LLM_API_KEY.")
BUSY = Bilingual(zh="模型服务正忙，请稍后再问。", en="The model server is busy; please ask again shortly.")
FAILED = Bilingual(zh="模型服务出错，没有给出回答。", en="The model server failed and gave no answer.")
SILENT = Bilingual(zh="模型服务太久没有回应。", en="The model server has been silent for too long.")
BROKEN_OFF = Bilingual(zh="模型的回答中途断了。", en="The model's answer broke off.")
TOO_LONG = Bilingual(zh="问题连同依据超出了模型的上下文长度。", en="The question is too long for this model.")
EMPTY = Bilingual(zh="模型没有给出任何文字。", en="The model gave no text.")
NOT_JSON = Bilingual(zh="模型的回答不符合要求的格式。", en="The model's reply does not have the form asked for.")
