"""Tool calls as servers stream them: in pieces, mixed, cut off, refused; and the history that goes back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply, error_reply, tool_delta
from hypothesis import given, settings
from hypothesis import strategies as st

from assistant.llm import (
    ContextTooLongError,
    Endpoint,
    LanguageModel,
    ModelReplyError,
    ModelUnavailableError,
    ToolsUnsupportedError,
    connect_model,
)
from assistant.tool_calls import CallPieces, Tool, ToolCall, ToolRound

PRICE = Tool("price", "Price of a card.", {"type": "object", "properties": {"gpu": {"type": "string"}}})


def model_of(server: FakeOpenAI, **options: Any) -> LanguageModel:
    return LanguageModel(lambda: Endpoint(server.base_url, "key", "fake-model"), name="fake-model", **options)


def called(server: FakeOpenAI, **options: Any) -> list[str | ToolCall]:
    model = model_of(server, calls_tools=True, **options)
    return list(model.stream_with_tools("system", "question", [PRICE], max_tokens=16))


NAME_FIRST = (
    tool_delta(0, "", id="a", name="price"),
    tool_delta(0, '{"gpu"'),
    tool_delta(0, ': "A'),
    tool_delta(0, '100"}'),
)
VLLM = (  # as vLLM 0.32 sends them: the first piece has no arguments, later ones neither id nor type
    {"role": "assistant", "content": ""},
    {
        "content": None,
        "tool_calls": [{"id": "chatcmpl-tool-8a03", "type": "function", "index": 0, "function": {"name": "price"}}],
    },
    *(
        {"content": None, "tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
        for piece in ('{"', "gpu", '":', ' "', "A", "1", "0", "0", '"}')
    ),
)
ONE_PIECE = (tool_delta(0, '{"gpu": "A100"}', id="a", name="price"),)
# vLLM 0.32 whose engine has died, in the stream it had begun with 200
ENGINE_DEAD = Reply(
    (),
    events=(
        '{"error": {"message": "EngineCore encountered an issue. See stack trace (above) for the root cause.", '
        '"type": "InternalServerError", "param": null, "code": 500}}',
        "[DONE]",
    ),
    ending="no finish",
)
A100 = ToolCall("a", "price", '{"gpu": "A100"}')
T4 = ToolCall("b", "price", '{"gpu": "T4"}')


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        (NAME_FIRST, [A100]),
        (VLLM, [ToolCall("chatcmpl-tool-8a03", "price", '{"gpu": "A100"}')]),
        (ONE_PIECE, [A100]),
        (({"role": "assistant", "content": None}, *ONE_PIECE), [A100]),
        (  # two calls, their pieces mixed
            (
                tool_delta(0, "", id="a", name="price"),
                tool_delta(1, '{"gpu":', id="b", name="price"),
                tool_delta(0, '{"gpu": "A100"}'),
                tool_delta(1, ' "T4"}'),
            ),
            [A100, T4],
        ),
        (  # both in one delta
            (
                {
                    "tool_calls": [
                        *tool_delta(0, '{"gpu": "A100"}', id="a", name="price")["tool_calls"],
                        *tool_delta(1, '{"gpu": "T4"}', id="b", name="price")["tool_calls"],
                    ]
                },
            ),
            [A100, T4],
        ),
        (  # every call is numbered 0: the id tells them apart
            (
                tool_delta(0, '{"gpu": "A100"}', id="a", name="price"),
                tool_delta(0, '{"gpu": ', id="b", name="price"),
                tool_delta(0, '"T4"}'),
            ),
            [A100, T4],
        ),
        (  # id and name said again with each piece
            (
                tool_delta(0, '{"gpu": ', id="a", name="price"),
                tool_delta(0, '"A100"}', id="a", name="price"),
            ),
            [A100],
        ),
        (  # later pieces with null where there is nothing new
            (tool_delta(0, None, id="a", name="price"), tool_delta(0, '{"gpu": "A100"}', id=None, name=None)),
            [A100],
        ),
        ((tool_delta(0, '{"gpu": "A100"}', name="price"),), [ToolCall("call_1", "price", '{"gpu": "A100"}')]),
        # what was cut off stays so: completed, it would ask for another card
        ((tool_delta(0, '{"gpu": "A1', id="a", name="price"),), [ToolCall("a", "price", '{"gpu": "A1')]),
        ((tool_delta(0, "gpu=A100", id="a", name="price"),), [ToolCall("a", "price", "gpu=A100")]),
    ],
)  # fmt: skip
def test_calls_in_pieces_become_whole_calls(deltas: tuple[dict[str, Any], ...], calls: list[ToolCall]) -> None:
    with FakeOpenAI(Reply(pieces=(), deltas=deltas, finish="tool_calls")) as server:
        assert called(server) == calls


def test_text_comes_before_the_calls_and_the_request_offers_the_tools() -> None:
    with FakeOpenAI(Reply(("I look ", "it up."), reasoning=("hm",), deltas=ONE_PIECE, finish="tool_calls")) as server:
        assert called(server) == ["I look ", "it up.", A100]
    (request,) = server.requests
    assert [tool["function"]["name"] for tool in request["tools"]] == ["price"]
    assert request["tools"][0]["function"]["parameters"] == PRICE.parameters
    assert (request["max_tokens"], request["temperature"]) == (16, 0)


def test_thoughts_in_the_text_are_left_out_beside_calls_too() -> None:
    with FakeOpenAI(
        Reply(
            (
                "<thi",
                "nk>price?</think>",
            ),
            deltas=ONE_PIECE,
        )
    ) as server:
        assert called(server) == [A100]


@given(
    st.lists(
        st.tuples(st.text("ab{", min_size=1, max_size=6), st.lists(st.integers(0, 6), max_size=3)),
        min_size=1,
        max_size=3,
    ),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60)
def test_calls_are_the_same_however_cut_and_mixed(parts: list[tuple[str, list[int]]], random: Any) -> None:
    queues: list[list[dict[str, Any]]] = []
    for index, (arguments, cuts) in enumerate(parts):
        at = sorted({min(cut, len(arguments)) for cut in cuts} | {0, len(arguments)})
        pieces = [{"index": index, "args": arguments[a:b]} for a, b in pairwise(at)]
        queues.append([{"index": index, "id": f"id{index}", "name": "price", "args": ""}, *pieces])
    collected = CallPieces()
    collected.add([queue.pop(0) for queue in queues])
    while left := [queue for queue in queues if queue]:
        collected.add([random.choice(left).pop(0)])
    assert collected.whole() == [ToolCall(f"id{i}", "price", text) for i, (text, _) in enumerate(parts)]


def test_earlier_rounds_go_back_as_calls_with_their_results_and_broken_arguments_as_none() -> None:
    broken = ToolCall("b", "price", '{"gpu": ')
    rounds = [ToolRound("", (A100, broken), ("28.64", "no JSON"))]
    with FakeOpenAI(Reply(("done",))) as server:
        assert list(model_of(server).stream_with_tools("s", "q", [PRICE], rounds, max_tokens=9)) == ["done"]
    system, user, calls, first, second = server.requests[0]["messages"]
    assert (system["role"], user["content"]) == ("system", "q")
    sent = [
        (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in calls["tool_calls"]
    ]
    # vLLM reads a history's arguments as JSON and answers 400 where they are none
    assert sent == [("a", "price", {"gpu": "A100"}), ("b", "price", {})]
    assert [(m["role"], m["tool_call_id"], m["content"]) for m in (first, second)] == [
        ("tool", "a", "28.64"),
        ("tool", "b", "no JSON"),
    ]


@pytest.mark.parametrize(
    "refusal",
    [
        error_reply(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
        error_reply(400, "registry.ollama.ai/library/x does not support tools"),
        error_reply(422, "tools: extra fields not permitted"),
        error_reply(500, "tools param requires --jinja flag"),
        error_reply(501, "This model does not support function calling"),
    ],
)
def test_server_without_tools_is_a_type_of_its_own_and_is_remembered(refusal: Reply) -> None:
    with FakeOpenAI() as server:
        server.refuses_tools_with = refusal
        model = model_of(server, calls_tools=True)
        with pytest.raises(ToolsUnsupportedError) as caught:
            list(model.stream_with_tools("s", "q", [PRICE], max_tokens=9))
        assert not model.calls_tools
        assert "".join(model.stream("s", "q", max_tokens=9)) == "ok", "text must still be had from it"
    assert "LLM_TOOLS=off" in caught.value.reason.zh
    assert "--enable-auto-tool-choice" in caught.value.reason.en


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error_reply(500, "CUDA error"), ModelUnavailableError),
        (error_reply(400, "This model's maximum context length is 4096 tokens"), ContextTooLongError),
        (Reply(pieces=(), finish="tool_calls"), ModelReplyError),
        (ENGINE_DEAD, ModelUnavailableError),
        (Reply(pieces=(), deltas=ONE_PIECE, ending="cut"), ModelUnavailableError),
        (Reply(pieces=(), deltas=ONE_PIECE, ending="stall"), ModelUnavailableError),
    ],
)
def test_other_faults_are_not_taken_for_missing_tools_and_no_half_reply_is_handed_on(
    reply: Reply, kind: type[ModelUnavailableError]
) -> None:
    came: list[object] = []
    with FakeOpenAI(reply) as server:
        model = model_of(server, calls_tools=True, silence_seconds=0.3)
        with pytest.raises(ModelUnavailableError) as caught:
            came.extend(model.stream_with_tools("s", "q", [PRICE], max_tokens=9))
        assert model.calls_tools
    assert (type(caught.value), came) == (kind, [])


@pytest.fixture(scope="module")
def embedded() -> Iterable[LanguageModel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LLM_BASE_URL", raising=False)
        model = connect_model()
    yield model
    model.close()


@pytest.mark.live
def test_real_server_takes_tools_and_gives_text_or_whole_calls(embedded: LanguageModel) -> None:
    parts = list(embedded.stream_with_tools("Call the tool.", "Price of an A100?", [PRICE], max_tokens=48))
    assert parts
    for part in parts:
        if isinstance(part, ToolCall):
            assert part.name == "price"
            assert "gpu" in json.loads(part.arguments)
