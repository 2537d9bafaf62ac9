"""Checks of the language model: the server of LLM_BASE_URL, or the embedded one, started for the check and ended again.

It asks what llm.py never needs to know, such as which features a server has, and speaks plain HTTP for it, so that a
fault of the client library cannot hide one of the server. Answers no question.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from assistant.doctor import Check, State, same
from assistant.embedded_server import EmbeddedServer, EmbeddedServerError, ServerSettings
from assistant.evidence import Bilingual
from knowledge import weights
from knowledge.embedding import available_cores

CONNECT_SECONDS, SILENCE_SECONDS = 5.0, 60.0
SLOW_SECONDS = 10.0  # to the first token of a short prompt
LEAST_FREE_BYTES = 2 << 30  # to start the embedded model beside whatever runs

SERVER_WHAT = Bilingual(zh="模型服务", en="model server")
MODEL_WHAT = Bilingual(zh="模型", en="model")
TOKEN_WHAT = Bilingual(zh="首个 token", en="first token")
JSON_WHAT = same("json_schema")
TOOLS_WHAT = Bilingual(zh="工具调用", en="tool calls")
EMBEDDED_WHAT = Bilingual(zh="内置模型", en="embedded model")

SCHEMA = {
    "type": "object",
    "properties": {"gpu": {"type": "string", "enum": ["A100", "H100"]}},
    "required": ["gpu"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look up the price of a GPU.",
        "parameters": SCHEMA,
    },
}


@dataclass(frozen=True)
class Server:
    """Where to ask, and for which model."""

    base_url: str
    key: str
    model: str


def check_model(environment: Mapping[str, str], free_bytes: int | None) -> Iterator[Check]:
    """The server of LLM_BASE_URL where that is set, else the embedded one. `free_bytes` None: not known."""
    base_url = environment.get("LLM_BASE_URL")
    if not base_url:
        yield from check_embedded(free_bytes)
        return
    if urlsplit(base_url).path in ("", "/"):
        base_url = base_url.rstrip("/") + "/v1"
    key, wanted = environment.get("LLM_API_KEY") or "not-needed", environment.get("LLM_MODEL", "")
    with _client(base_url, key) as client:
        reached, offered = check_offered(client, base_url)
        yield reached
        if reached.state != "ok":
            return
        named = check_named(wanted, offered)
        yield named
        if named.state == "ok":
            yield from check_features(
                client, wanted or offered[0], tools=environment.get("LLM_TOOLS", "").lower() != "off"
            )


def check_embedded(free_bytes: int | None) -> Iterator[Check]:
    """The embedded model starts, answers a token and takes a schema. Its file has a check of its own."""
    states = {status.role: status for status in weights.list_models()}
    if states["llm"].state != "verified":
        yield Check("llm", EMBEDDED_WHAT, "skipped", Bilingual(zh="模型文件未就绪", en="its file is not ready"))
        return
    if free_bytes is not None and free_bytes < LEAST_FREE_BYTES:
        gib = f"{free_bytes / 2**30:.1f} GiB"
        yield Check(
            "llm",
            EMBEDDED_WHAT,
            "skipped",
            Bilingual(zh=f"内存只剩 {gib}，未试启动", en=f"only {gib} of memory is free, so it was not started"),
        )
        return
    settings = ServerSettings(str(states["llm"].path), states["llm"].name, available_cores())
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedServer(settings, Path(folder) / "model-server.log")
        try:
            began = time.perf_counter()
            address = server.address() + "/v1"
            seconds = f"{time.perf_counter() - began:.1f} s"
            yield Check(
                "llm",
                EMBEDDED_WHAT,
                "ok",
                Bilingual(
                    zh=f"{seconds} 启动，{settings.threads} 线程",
                    en=f"started in {seconds}, {settings.threads} threads",
                ),
            )
            with _client(address, settings.api_key) as client:
                yield from check_features(client, settings.model_name, tools=False)
        except EmbeddedServerError as error:
            yield _not_started(error, Path(folder) / "model-server.log")
        finally:
            server.stop()


def check_offered(client: httpx.Client, base_url: str) -> tuple[Check, list[str]]:
    """Whether the server answers, takes the key and lists models; gives their names."""
    shown = re.sub(r"//[^/@]*@", "//***@", base_url)
    try:
        response = client.get("models")
        names = [str(each["id"]) for each in response.json()["data"]] if response.is_success else []
    except httpx.HTTPError as error:
        return _server(
            "fault",
            f"{shown}: {type(error).__name__}: {error}",
            Bilingual(
                zh=f"启动模型服务，或改正 LLM_BASE_URL；`curl {shown}/models` 应列出模型。不设它则用内置模型。",
                en=f"Start the model server, or correct LLM_BASE_URL; `curl {shown}/models` should list models. Unset it for the embedded model.",
            ),
        ), []
    except (ValueError, KeyError, TypeError):
        response, names = httpx.Response(404), []
    if response.status_code in (401, 403):
        return _server(
            "fault",
            f"{shown}: HTTP {response.status_code}",
            Bilingual(
                zh="密钥被拒：把 LLM_API_KEY 设为这个服务的密钥。",
                en="The key is refused: set LLM_API_KEY to the key of this server.",
            ),
        ), []
    if not response.is_success:
        return _server(
            "fault",
            f"{shown}: HTTP {response.status_code}",
            Bilingual(
                zh="这里没有兼容 OpenAI 的接口：LLM_BASE_URL 通常以 /v1 结尾。",
                en="There is no OpenAI-compatible interface here: LLM_BASE_URL usually ends in /v1.",
            ),
        ), []
    return _server("ok", shown, None), names


def check_named(wanted: str, offered: list[str]) -> Check:
    """Whether the server offers LLM_MODEL, or anything at all."""
    listed = ", ".join(offered) or "–"
    if not offered:
        return Check(
            "llm-model",
            MODEL_WHAT,
            "fault",
            Bilingual(zh="服务没有提供任何模型", en="the server offers none"),
            Bilingual(zh="在模型服务上加载一个模型。", en="Load a model on that server."),
        )
    if not wanted or wanted in offered:
        detail = Bilingual(
            zh=f"{wanted or offered[0]}（服务提供：{listed}）", en=f"{wanted or offered[0]} (offered: {listed})"
        )
        return Check("llm-model", MODEL_WHAT, "ok", detail)
    return Check(
        "llm-model",
        MODEL_WHAT,
        "fault",
        Bilingual(zh=f"服务没有 {wanted!r}，它提供：{listed}", en=f"{wanted!r} is not offered, but: {listed}"),
        Bilingual(
            zh=f"改 LLM_MODEL，例如 `export LLM_MODEL={offered[0]}`。",
            en=f"Change LLM_MODEL, for example `export LLM_MODEL={offered[0]}`.",
        ),
    )


def check_features(client: httpx.Client, model: str, *, tools: bool) -> Iterator[Check]:
    """One short answer, and whether schema and tools are taken; `tools` False leaves those out."""
    first = _first_token(client, model)
    yield first
    if first.state == "fault":
        return
    yield _json_schema(client, model)
    if tools:
        yield _tool_calls(client, model)


def _first_token(client: httpx.Client, model: str) -> Check:
    body = _body(model, "Say ok.") | {"stream": True}
    began = time.perf_counter()
    try:
        with client.stream("POST", "chat/completions", json=body) as response:
            if not response.is_success:
                response.read()
                return _no_token(f"HTTP {response.status_code}: {response.text[:200]}")
            # A reasoning model's first token is a thought.
            came = next((line for line in response.iter_lines() if _has_text(line)), None)
    except httpx.HTTPError as error:
        return _no_token(f"{type(error).__name__}: {error}")
    if came is None:
        return _no_token("no text / 没有文字")
    seconds = time.perf_counter() - began
    if seconds <= SLOW_SECONDS:
        return Check("llm-token", TOKEN_WHAT, "ok", same(f"{seconds:.1f} s"))
    return Check(
        "llm-token",
        TOKEN_WHAT,
        "warning",
        same(f"{seconds:.1f} s"),
        Bilingual(
            zh="模型偏慢：数字和引用不受影响，文字会晚到；可用更快的模型服务（LLM_BASE_URL）。",
            en="The model is slow: figures and passages do not wait for it, prose does; a faster server can be named in LLM_BASE_URL.",
        ),
    )


def _json_schema(client: httpx.Client, model: str) -> Check:
    body = _body(model, "Which GPU is newer, A100 or H100? Reply as JSON.") | {
        "response_format": {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
    }
    message = _message(client, body)
    try:
        obeyed = json.loads(message.get("content") or "")["gpu"] in ("A100", "H100")
    except (ValueError, KeyError, TypeError):
        obeyed = False
    if obeyed:
        return Check("llm-json", JSON_WHAT, "ok", Bilingual(zh="支持", en="supported"))
    return Check(
        "llm-json",
        JSON_WHAT,
        "warning",
        Bilingual(zh="不支持", en="not supported"),
        Bilingual(
            zh="不必处理：改用提示词要求 JSON，偶尔会多问一次；vLLM 和 llama-server 的新版本支持它。",
            en="Nothing has to be done: JSON is asked for in words, at times twice; recent vLLM and llama-server support it.",
        ),
    )


def _tool_calls(client: httpx.Client, model: str) -> Check:
    body = _body(model, "Look up the price of an H100 with the tool.") | {"tools": [TOOL], "tool_choice": "auto"}
    if _message(client, body).get("tool_calls"):
        return Check("llm-tools", TOOLS_WHAT, "ok", Bilingual(zh="支持", en="supported"))
    return Check(
        "llm-tools",
        TOOLS_WHAT,
        "warning",
        Bilingual(zh="没有调用", en="none was made"),
        Bilingual(
            zh="vLLM 要加 --enable-auto-tool-choice 和 --tool-call-parser；或 `export LLM_TOOLS=off`，由程序自己决定查什么。",
            en="vLLM wants --enable-auto-tool-choice and --tool-call-parser; or `export LLM_TOOLS=off`: code alone then decides what to look up.",
        ),
    )


def _body(model: str, text: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": text}]
    return {"model": model, "messages": messages, "max_tokens": 64, "temperature": 0}


def _message(client: httpx.Client, body: dict[str, Any]) -> dict[str, Any]:
    """The reply's message; empty where the server refuses what is asked or does not reply in the protocol."""
    try:
        response = client.post("chat/completions", json=body)
        return dict(response.json()["choices"][0]["message"]) if response.is_success else {}
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError):
        return {}


def _has_text(line: str) -> bool:
    try:
        delta = json.loads(line.removeprefix("data:"))["choices"][0]["delta"]
        return any(isinstance(text, str) and text for name, text in delta.items() if name != "role")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):  # a comment, a note on usage, the end mark
        return False


def _no_token(why: str) -> Check:
    return Check(
        "llm-token",
        TOKEN_WHAT,
        "fault",
        same(why.replace("\n", " ")),
        Bilingual(
            zh="看模型服务的日志；在此之前回答只有数字和引用，没有文字说明。",
            en="See the log of the model server; until then answers are figures and passages without prose.",
        ),
    )


def _server(state: State, detail: str, fix: Bilingual | None) -> Check:
    return Check("llm", SERVER_WHAT, state, same(detail.replace("\n", " ")), fix)


def _not_started(error: EmbeddedServerError, log_file: Path) -> Check:
    written = log_file.read_text(encoding="utf-8", errors="replace").strip().splitlines() if log_file.exists() else []
    why = written[-1][:200] if written else re.sub(r"; see '.*'$", "", str(error))
    return Check(
        "llm",
        EMBEDDED_WHAT,
        "fault",
        Bilingual(zh=f"没能启动：{why}", en=f"did not start: {why}"),
        Bilingual(
            zh="运行 `make install` 重装 xllamacpp，或用 LLM_BASE_URL 指定已有的模型服务；数字和引用不受影响。",
            en="Run `make install` to install xllamacpp again, or name a model server in LLM_BASE_URL; figures and passages do not need it.",
        ),
    )


@contextmanager
def _client(base_url: str, key: str) -> Iterator[httpx.Client]:
    host = urlsplit(base_url).hostname or ""
    local = host in ("localhost", "::1") or host.startswith("127.")
    with httpx.Client(
        base_url=base_url.rstrip("/") + "/",
        headers={"Authorization": f"Bearer {key}"},
        timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        trust_env=not local,  # a proxy for the outside world must not catch requests to this machine
    ) as client:
        yield client
