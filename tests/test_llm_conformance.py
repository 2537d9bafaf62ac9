"""What servers that claim the OpenAI protocol really send: refusals, waits, odd chunks, ignored formats."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply, chunk, error_reply

from assistant import model_errors
from assistant.llm import (
    ContextTooLongError,
    Endpoint,
    LanguageModel,
    ModelUnavailableError,
    connect_model,
)

COLOUR_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def model_of(server: FakeOpenAI, **options: Any) -> LanguageModel:
    return LanguageModel(lambda: Endpoint(server.base_url, "key", "fake-model"), name="fake-model", **options)


def ask(model: LanguageModel) -> str:
    return "".join(model.stream("system", "question", max_tokens=16))


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (
            400,
            "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=4097)",
        ),
        (400, "the request exceeds the available context size. try increasing it"),
        (400, "Error code: 400 - context_length_exceeded"),
        (400, "The input (9000 tokens) is longer than the model's context length (4096 tokens)."),
        (413, "prompt is too long: 9000 tokens"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4096"),
    ],
)
def test_too_long_a_prompt_is_a_type_of_its_own_whatever_was_asked_for(status: int, message: str) -> None:
    for method in ("stream", "choose"):
        with FakeOpenAI(error_reply(status, message)) as server:
            model = model_of(server)
            with pytest.raises(ContextTooLongError) as caught:
                ask(model) if method == "stream" else model.choose("s", "q", COLOUR_SCHEMA)
        assert caught.value.reason == model_errors.TOO_LONG
        assert len(server.requests) == 1, "in another format the prompt is no shorter"


def test_model_name_with_context_in_it_is_a_wrong_name_and_no_long_prompt() -> None:
    with FakeOpenAI() as server:
        model = LanguageModel(lambda: Endpoint(server.base_url, "key", "qwen-long-context-length"), name="")
        with pytest.raises(ModelUnavailableError) as caught:
            ask(model)
    assert "'qwen-long-context-length'" in caught.value.reason.zh
    assert "offers: fake-model" in caught.value.reason.en


@pytest.mark.parametrize("status", [429, 503])
def test_busy_server_that_names_a_short_wait_is_asked_once_more_after_it(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    with FakeOpenAI(error_reply(status, "slow down", Retry_After="7"), Reply(("here",))) as server:
        assert ask(model_of(server)) == "here"
        assert len(server.requests) == 2
    assert 7.0 in waited


@pytest.mark.parametrize(
    ("wait", "requests"),
    [("0.01", 2), ("3600", 1), ("inf", 1), ("Wed, 21 Oct 2026 07:28:00 GMT", 1), ("soon", 1)],
)
def test_server_that_stays_busy_or_wants_a_long_wait_is_told_as_busy(wait: str, requests: int) -> None:
    busy = error_reply(429, "slow down", Retry_After=wait)
    with FakeOpenAI(busy, busy, Reply(("too late",))) as server, pytest.raises(ModelUnavailableError) as caught:
        ask(model_of(server))
    assert caught.value.reason == model_errors.BUSY
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    "reply",
    [
        Reply(("yes",), usage=True),
        Reply(("yes",), events=(json.dumps(chunk([]) | {"prompt_filter_results": []}),)),
        Reply(("yes",), events=(json.dumps(chunk([{"index": 0, "delta": {"role": "assistant", "content": ""}}])),)),
        Reply(("yes",), finish="length"),
        Reply((), deltas=({"reasoning": "hm"}, {"reasoning_content": "hm", "content": None}, {"content": "yes"})),
    ],
)
def test_chunks_without_text_are_passed_over(reply: Reply) -> None:
    with FakeOpenAI(reply) as server:
        assert ask(model_of(server)) == "yes"


@pytest.mark.parametrize("event", ["null", "42", '"text"', "{"])
@pytest.mark.parametrize("pieces", [(), ("half",)])
def test_stream_that_is_not_of_the_protocol_is_an_error_of_the_server_and_no_crash(
    event: str, pieces: tuple[str, ...]
) -> None:
    begun = tuple(json.dumps(chunk([{"index": 0, "delta": {"content": piece}}])) for piece in pieces)
    with FakeOpenAI(Reply((), events=(*begun, event))) as server, pytest.raises(ModelUnavailableError) as caught:
        ask(model_of(server))
    assert caught.value.reason == (model_errors.BROKEN_OFF if pieces else model_errors.NO_API)


@pytest.mark.parametrize(
    "text", ["Red, I would say.", '{"color": "Red"}', '{"reply": {"colour": "red"}}', '{"colour": "red"', ""]
)
def test_server_that_ignores_the_schema_is_told_it_with_the_correction(text: str) -> None:
    def knows_the_schema(request: dict[str, Any]) -> Reply:
        seen = any('"enum": ["red", "blue"]' in message["content"] for message in request["messages"])
        return Reply(('{"colour": "red"}',) if seen else (text,))

    with FakeOpenAI(answer=knows_the_schema) as server:
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "red"}
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "text",
    [
        '<think>{"colour": "blue"} would do</think>{"colour": "red"}',
        'the schema is {"colour": ...} so</think>\n\n{"colour": "red"}',  # the template opened the thought itself
    ],
)
def test_choice_is_not_read_from_the_thoughts_before_it(text: str) -> None:
    with FakeOpenAI(Reply((text[:9], text[9:]))) as server:
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "red"}
    assert len(server.requests) == 1


def test_schema_refused_within_a_stream_is_given_as_an_instruction() -> None:
    # vLLM 0.32 answers 200 and then sends this
    fault = '{"error": {"message": "Grammar error: Invalid type: x", "type": "BadRequestError", "param": null, "code": 400}}'
    refusal = Reply((), events=(fault, "[DONE]"), ending="no finish")
    with FakeOpenAI(refusal, Reply(('{"colour": "red"}',))) as server:
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "red"}
    assert [(r.get("response_format") or {}).get("type") for r in server.requests] == ["json_schema", "json_object"]


def test_prompt_refused_as_too_long_within_a_stream_is_too_long() -> None:
    fault = '{"error": {"message": "This model\'s maximum context length is 4096 tokens.", "code": 400}}'
    with FakeOpenAI(Reply((), events=(fault,), ending="no finish")) as server, pytest.raises(ContextTooLongError):
        ask(model_of(server))


def test_schema_refused_as_unprocessable_is_given_as_an_instruction() -> None:
    refusal = error_reply(422, "body.response_format: value is not a valid enumeration member")
    with FakeOpenAI(refusal, refusal, Reply(('{"colour": "red"}',))) as server:
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "red"}
    assert [(r.get("response_format") or {}).get("type") for r in server.requests] == [
        "json_schema",
        "json_object",
        None,
    ]


@pytest.mark.parametrize(
    ("base_url", "tools", "expected"),
    [
        ("http://127.0.0.1:9/v1", None, True),
        ("http://127.0.0.1:9/v1", "on", True),
        ("http://127.0.0.1:9/v1", "off", False),
        ("http://127.0.0.1:9/v1", "OFF", False),
        (None, "on", False),
    ],
)
def test_tools_are_for_a_server_of_ones_own_unless_switched_off(
    base_url: str | None, tools: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LLM_BASE_URL", base_url), ("LLM_TOOLS", tools)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    assert connect_model().calls_tools is expected


@pytest.fixture(scope="module")
def embedded() -> Iterable[LanguageModel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LLM_BASE_URL", raising=False)
        model = connect_model()
    yield model
    model.close()


@pytest.mark.live
def test_real_server_names_too_long_a_prompt(embedded: LanguageModel) -> None:
    with pytest.raises(ContextTooLongError):
        list(embedded.stream("system", "显卡 " * 5000, max_tokens=8))
