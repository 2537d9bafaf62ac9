"""The only place that knows a model server exists: connect, stream text, choose JSON, take tool calls.

It speaks the OpenAI protocol through LangChain, to the server of LLM_BASE_URL or to the embedded one; what can go
wrong is named in model_errors.py. It does NOT know a prompt, a GPU or a price, counts no tokens exactly, and runs no
tool: it hands over what the model called (tool_rounds.py).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assistant.embedded_server import EmbeddedServer, EmbeddedServerError, ServerSettings
from assistant.evidence import Bilingual
from assistant.model_client import DUMMY_KEY, Endpoint, chat_model, offered_models
from assistant.model_errors import (
    BROKEN_OFF,
    EMPTY,
    FAILED,
    NO_API,
    NO_MODEL_FILE,
    NOT_JSON,
    NOT_STARTED,
    ContextTooLongError,
    ModelReplyError,
    ModelUnavailableError,
    ToolsUnsupportedError,
    failure,
    refusal,
    retry_after_seconds,
    status_of,
    wrong_model,
)
from assistant.model_text import THINK_TAGS, estimated_tokens, fit, without_reasoning
from assistant.tool_calls import CallPieces, Tool, ToolCall, ToolRound
from knowledge import weights
from knowledge.embedding import available_cores

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk, BaseMessage
    from langchain_openai import ChatOpenAI

__all__ = [
    "ContextTooLongError",
    "Endpoint",
    "LanguageModel",
    "ModelReplyError",
    "ModelUnavailableError",
    "ToolsUnsupportedError",
    "connect_model",
    "estimated_tokens",
    "fit",
    "without_reasoning",
]

SILENCE_SECONDS = 60.0  # to the first token and between tokens; there is no limit on the whole
LONGEST_WAIT_SECONDS = 8.0  # that a busy server may ask for, once; a reader waits no longer than that for nothing
Message = tuple[str, str]

log = logging.getLogger(__name__)


def connect_model(silence_seconds: float = SILENCE_SECONDS) -> LanguageModel:
    """Return the model of LLM_BASE_URL (LLM_MODEL, LLM_API_KEY, LLM_TOOLS) if that is set, else the embedded one.

    Only a model behind LLM_BASE_URL may call tools: the embedded one is too weak, and LLM_TOOLS=off says so of another.
    Nothing is contacted, loaded or started yet: a server that is still coming up, or a model file still missing, is an
    error of the first request, not of the start.
    """
    base_url = os.environ.get("LLM_BASE_URL")
    if base_url:
        if urlsplit(base_url).path in ("", "/"):
            base_url = base_url.rstrip("/") + "/v1"
        endpoint = Endpoint(base_url, os.environ.get("LLM_API_KEY") or DUMMY_KEY, os.environ.get("LLM_MODEL") or None)
        calls_tools = os.environ.get("LLM_TOOLS", "").lower() != "off"
        return LanguageModel(
            lambda: endpoint, name=endpoint.model or "", calls_tools=calls_tools, silence_seconds=silence_seconds
        )
    path = weights.cached_path(weights.LLM)
    settings = ServerSettings(model_path=str(path), model_name=weights.LLM.name, threads=available_cores())
    server = EmbeddedServer(settings, weights.home() / "logs" / "model-server.log")
    return LanguageModel(
        lambda: _embedded_endpoint(server),
        name=settings.model_name,
        close=server.stop,
        silence_seconds=silence_seconds,
    )


class LanguageModel:
    """A chat model behind an OpenAI-compatible server. `name` is "" until an unnamed server has told its model.

    `calls_tools`: whether it is worth offering it tools; False also once its server has refused them.
    """

    def __init__(
        self,
        endpoint: Callable[[], Endpoint],
        *,
        name: str,
        close: Callable[[], None] = lambda: None,
        silence_seconds: float = SILENCE_SECONDS,
        calls_tools: bool = False,
    ) -> None:
        self.name = name
        self.calls_tools = calls_tools
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

        By response_format, not tool_choice: llama.cpp's server treats a named tool choice as "auto". The correction
        repeats the schema, as a server may ignore the format, and then the model has not seen it yet.
        """
        messages = [("system", system), ("human", user)]
        for _ in range(2):
            reply = self._json_reply(messages, schema, max_tokens)
            try:
                return _parsed(reply, schema)
            except ValueError as error:
                log.warning("model %r replied %r: %s", self.name, reply, error)
                correction = f"Wrong: {error}. Reply with the corrected JSON object only.{_instruction(schema)}"
                messages += [("ai", reply or "{}"), ("human", correction)]
        raise ModelReplyError(NOT_JSON)

    def _json_reply(self, messages: list[Message], schema: dict[str, Any], max_tokens: int) -> str:
        """Text of one reply, in the strictest reply format that the server takes with this schema."""
        instructed = [("system", messages[0][1] + _instruction(schema)), *messages[1:]]
        strict = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
        for sent, reply_format in ((messages, strict), (instructed, {"type": "json_object"})):
            try:
                return "".join(without_reasoning(self._deltas(sent, max_tokens=max_tokens, reply_format=reply_format)))
            except _ReplyFormatError as refusal:
                log.info("model %r refuses %r: %s", self.name, reply_format, refusal)
        return "".join(without_reasoning(self._deltas(instructed, max_tokens=max_tokens)))

    def stream_with_tools(
        self, system: str, user: str, tools: Sequence[Tool], rounds: Sequence[ToolRound] = (), *, max_tokens: int
    ) -> Iterator[str | ToolCall]:
        """Yield the reply's text as it comes, reasoning left out, then its tool calls, each whole.

        `rounds` are the model's earlier calls with their results. Raises ModelUnavailableError, also mid-stream, and
        ToolsUnsupportedError where the server takes no tools, which is remembered. Nothing at all: ModelReplyError.
        """
        pieces = CallPieces()
        sent = {"max_tokens": max_tokens, "tools": [tool.offer for tool in tools]}

        def texts() -> Iterator[str]:
            for chunk in self._chunks(_with_rounds(system, user, rounds), sent):
                pieces.add(chunk.tool_call_chunks)
                if chunk.text:
                    yield chunk.text

        empty = True
        try:
            for text in without_reasoning(texts()):
                empty = False
                yield text
        except ToolsUnsupportedError:
            self.calls_tools = False
            raise
        calls = pieces.whole()
        if empty and not calls:
            log.warning("model %r gave neither text nor a tool call", self.name)
            raise ModelReplyError(EMPTY)
        yield from calls

    def _deltas(
        self,
        messages: list[Message],
        *,
        max_tokens: int,
        temperature: float = 0.0,
        reply_format: dict[str, Any] | None = None,
    ) -> Iterator[str]:
        """Yield the text that the server sends, reasoning in it included."""
        sent = {"max_tokens": max_tokens} | ({"response_format": reply_format} if reply_format else {})
        for chunk in self._chunks(messages, sent, temperature):
            if chunk.text:
                yield chunk.text

    def _chunks(
        self, messages: Sequence[Message | BaseMessage], sent: dict[str, Any], temperature: float = 0.0
    ) -> Iterator[AIMessageChunk]:
        """Yield what the server sends. A busy server that names a bearable wait is asked once more after it."""
        try:
            yield from self._request(messages, sent, temperature)
        except _BusyError as busy:
            log.info("model server asks to wait %s s", busy.seconds)
            time.sleep(busy.seconds)
            yield from self._request(messages, sent, temperature, may_wait=False)

    def _request(
        self,
        messages: Sequence[Message | BaseMessage],
        sent: dict[str, Any],
        temperature: float,
        *,
        may_wait: bool = True,
    ) -> Iterator[AIMessageChunk]:
        """Yield what the server sends; the one place where requests are made.

        `sent` goes into extra_body: `max_tokens` proper would be renamed to a field that older servers ignore, and a
        proper response_format would make the client judge the reply by rules of its own.
        """
        import openai

        endpoint = self._endpoint()
        chat = chat_model(endpoint, self._silence_seconds)
        begun = finished = False
        try:
            self.name = endpoint.model or offered_models(chat)[0]
            stream = chat.stream(list(messages), model=self.name, temperature=temperature, extra_body=sent)
            with contextlib.closing(stream) as chunks:  # type: ignore[type-var]  # declared wider than it is
                for chunk in chunks:
                    begun, finished = True, finished or "finish_reason" in chunk.response_metadata
                    yield chunk
        except (openai.OpenAIError, *NOT_OF_THE_PROTOCOL) as error:
            log.warning("model server %s, model %r: %r", endpoint.base_url, self.name, error)
            if begun:
                raise ModelUnavailableError(BROKEN_OFF) from error
            seconds = retry_after_seconds(error) if may_wait else None
            if seconds is not None and seconds <= LONGEST_WAIT_SECONDS:
                raise _BusyError(seconds) from error
            raise _typed(error, sent, chat, self.name) from error
        if not finished:
            log.warning("model server %s broke off its reply", endpoint.base_url)
            raise ModelUnavailableError(BROKEN_OFF)


def _embedded_endpoint(server: EmbeddedServer) -> Endpoint:
    states = {status.role: status.state for status in weights.list_models()}
    if states["llm"] != "verified":
        raise ModelUnavailableError(NO_MODEL_FILE)
    try:
        return Endpoint(server.address() + "/v1", server.settings.api_key, server.settings.model_name)
    except EmbeddedServerError as error:
        log.exception("the embedded model server did not start")
        raise ModelUnavailableError(NOT_STARTED) from error


def _typed(error: Exception, sent: dict[str, Any], chat: ChatOpenAI, model: str) -> Exception:
    """The error to raise for one of the client's; the order says which cause is looked for first."""
    if refused := refusal(error, with_tools="tools" in sent):
        return refused
    if "response_format" in sent and status_of(error) in (400, 422):
        return _ReplyFormatError(str(error))
    if status_of(error) in (400, 404):
        return ModelUnavailableError(_wrong_model(chat, model))
    return ModelUnavailableError(failure(error))


def _wrong_model(chat: ChatOpenAI, model: str) -> Bilingual:
    import openai

    try:
        offered = offered_models(chat)
    except (openai.OpenAIError, ValueError):
        return NO_API
    return FAILED if model in offered else wrong_model(model, offered)


def _with_rounds(system: str, user: str, rounds: Sequence[ToolRound]) -> list[Message | BaseMessage]:
    """The messages of a conversation in which the model has called tools."""
    from langchain_core.messages import AIMessage, ToolMessage

    messages: list[Message | BaseMessage] = [("system", system), ("human", user)]
    for past in rounds:
        calls = [
            {"id": call.id, "name": call.name, "args": _object_or_none(call.arguments) or {}} for call in past.calls
        ]
        messages.append(AIMessage(past.said, tool_calls=calls))
        messages += [
            ToolMessage(result, tool_call_id=call.id) for call, result in zip(past.calls, past.results, strict=True)
        ]
    return messages


def _object_or_none(text: str) -> dict[str, Any] | None:
    """A call's arguments where they are a JSON object. Servers read them again and refuse a history with others."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _instruction(schema: dict[str, Any]) -> str:
    return f"\n\nReply with one JSON object that obeys this JSON Schema: {json.dumps(schema)}"


def _parsed(reply: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON object in a reply, fenced or with words around it, if it obeys the schema; else ValueError."""
    import jsonschema

    reply = reply.rpartition(THINK_TAGS[1])[2]  # some chat templates open the reasoning in the prompt
    start, end = reply.find("{"), reply.rfind("}")
    value = json.loads(reply[start : end + 1])
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError as error:
        raise ValueError(f"{error.json_path}: {error.message}") from error
    return dict(value)


class _ReplyFormatError(Exception):
    """The server does not take this response_format."""


class _BusyError(Exception):
    """The server is busy and names the seconds after which to ask again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"busy for {seconds} s")
        self.seconds = seconds


# What the client raises over a reply that is no stream of chunks: not JSON, null, a number, choices without a delta.
NOT_OF_THE_PROTOCOL = (ValueError, KeyError, TypeError, AttributeError)
