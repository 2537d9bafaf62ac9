"""What can go wrong between us and a model server, as types and as sentences for readers in both languages.

It reads the error that the client library raised; it sends no request and decides nothing about retrying.

    Exception
      ModelUnavailableError   no answer can be had now: server missing, silent, broken off, refusing
        ModelReplyError       the server works, but its reply is empty or not what was asked for
        ContextTooLongError   the prompt does not fit: ask again with less
        ToolsUnsupportedError the server takes no tools: ask again without
"""

from __future__ import annotations

import re

from assistant.evidence import Bilingual

# vLLM and SGLang: "maximum context length", llama.cpp: "available context size", OpenAI: context_length_exceeded,
# TGI: `inputs` tokens + `max_new_tokens` must be <= ...
CONTEXT_OVERFLOW = re.compile(
    r"context[ _](?:length|size|window)|exceed_context|max_new_tokens` must be|prompt is too long|max_model_len", re.I
)
TOOLS_REFUSED = re.compile(r"\btools?\b|tool[-_ ](?:choice|call)|function[-_ ]call|--jinja", re.I)


class ModelUnavailableError(Exception):
    """No answer can be had from the model now. `reason` is for readers; the detail was logged."""

    def __init__(self, reason: Bilingual) -> None:
        super().__init__(reason.en)
        self.reason = reason


class ModelReplyError(ModelUnavailableError):
    """The model answered, but with nothing, or not with the JSON asked for."""


class ContextTooLongError(ModelUnavailableError):
    """The prompt, with room for the reply, is longer than the model's context; a shorter one may pass."""


class ToolsUnsupportedError(ModelUnavailableError):
    """The server refuses requests that offer tools; the same request without them may pass."""


def refusal(error: Exception, *, with_tools: bool) -> ModelUnavailableError | None:
    """The typed error of a request that was refused for what it asked; None where that is not the reason."""
    text, status = str(error), status_of(error)
    if status in (400, 413, 422) and CONTEXT_OVERFLOW.search(text):
        return ContextTooLongError(TOO_LONG)
    # llama.cpp without --jinja answers 500, a server without the feature 501
    if with_tools and status in (400, 422, 500, 501) and TOOLS_REFUSED.search(text):
        return ToolsUnsupportedError(NO_TOOLS)
    return None


def status_of(error: Exception) -> int | None:
    """The HTTP status of a refusal; vLLM begins a stream with 200 and may then send the error, its code in the body."""
    import openai

    if isinstance(error, openai.APIStatusError):
        return error.status_code
    code = error.body.get("code") if isinstance(error, openai.APIError) and isinstance(error.body, dict) else None
    return code if isinstance(code, int) else None


def failure(error: Exception) -> Bilingual:
    """What a reader is told about an error that has nothing to do with what was asked."""
    import openai

    reasons: list[tuple[type[Exception], Bilingual]] = [
        (openai.APITimeoutError, SILENT),  # before its base class
        (openai.APIConnectionError, UNREACHABLE),
        (openai.AuthenticationError, KEY_REFUSED),
        (openai.PermissionDeniedError, KEY_REFUSED),
        (openai.RateLimitError, BUSY),
        (openai.OpenAIError, FAILED),
    ]
    return next((reason for kind, reason in reasons if isinstance(error, kind)), NO_API)


def wrong_model(model: str, offered: list[str]) -> Bilingual:
    """The model asked for is not among those that the server offers."""
    names = ", ".join(offered)
    return Bilingual(
        zh=f"模型服务没有 {model!r} 这个模型，它提供的是：{names}。请改 LLM_MODEL。",
        en=f"The model server has no model {model!r}; it offers: {names}. Change LLM_MODEL.",
    )


def retry_after_seconds(error: Exception) -> float | None:
    """Seconds that a busy server (429, 503) asks to wait; None where it names none that can be read."""
    import openai

    if not isinstance(error, openai.APIStatusError) or error.status_code not in (429, 503):
        return None
    try:
        return max(0.0, float(error.response.headers.get("retry-after", "")))
    except ValueError:  # absent, or a date: clocks differ, and who names a date means a long wait
        return None


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
NO_TOOLS = Bilingual(
    zh="模型服务不支持工具调用。vLLM 要加 --enable-auto-tool-choice 和 --tool-call-parser；或设 LLM_TOOLS=off。",
    en="The model server takes no tools. vLLM wants --enable-auto-tool-choice and --tool-call-parser; or set LLM_TOOLS=off.",
)
