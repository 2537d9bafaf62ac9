"""The model adapter against a scripted server, a stub child process and, marked live, the real embedded model."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_openai import FakeOpenAI, Reply, error_reply
from hypothesis import given
from hypothesis import strategies as st

from assistant import llm, model_errors
from assistant.embedded_server import EmbeddedServer, EmbeddedServerError, ServerSettings
from assistant.llm import Endpoint, LanguageModel, ModelReplyError, ModelUnavailableError, connect_model

ROOT = Path(__file__).resolve().parents[1]
STUB_CHILD = (sys.executable, str(ROOT / "tests" / "fake_openai.py"))
COLOUR_SCHEMA = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def model_of(server: FakeOpenAI, **options: Any) -> LanguageModel:
    return LanguageModel(lambda: Endpoint(server.base_url, "key", "fake-model"), name="fake-model", **options)


def ask(model: LanguageModel, user: str = "question") -> str:
    return "".join(model.stream("system", user, max_tokens=16))


def test_text_comes_in_pieces_and_the_request_carries_prompt_and_limits() -> None:
    with FakeOpenAI(Reply(("显卡", " is ", "a card"))) as server:
        pieces = list(model_of(server).stream("be brief", "什么是显卡？", max_tokens=77))
    assert pieces == ["显卡", " is ", "a card"]
    (request,) = server.requests
    assert [(message["role"], message["content"]) for message in request["messages"]] == [
        ("system", "be brief"),
        ("user", "什么是显卡？"),
    ]
    assert (request["max_tokens"], request["temperature"], request["stream"]) == (77, 0, True)
    assert "tools" not in request
    assert "tool_choice" not in request


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (error_reply(401, "bad key"), model_errors.KEY_REFUSED),
        (error_reply(403, "forbidden"), model_errors.KEY_REFUSED),
        (error_reply(429, "slow down"), model_errors.BUSY),
        (error_reply(500, "CUDA error at 0x7f"), model_errors.FAILED),
        (error_reply(503, "loading"), model_errors.FAILED),
        (error_reply(400, "temperature must be a prime number"), model_errors.FAILED),
        (Reply(body="<html>hotel wifi login</html>"), model_errors.NO_API),
        (Reply(pieces=(), ending="error"), model_errors.FAILED),
        (Reply(pieces=(), ending="cut"), model_errors.UNREACHABLE),
    ],
)
def test_error_before_the_first_word_is_told_in_both_languages_without_internals(reply: Reply, reason: object) -> None:
    with FakeOpenAI(reply) as server, pytest.raises(ModelUnavailableError) as caught:
        ask(model_of(server))
    assert caught.value.reason == reason
    assert "0x7f" not in str(caught.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize("ending", ["cut", "no finish", "stall", "error"])
def test_reply_that_breaks_off_yields_what_came_and_then_raises(ending: Any) -> None:
    came: list[str] = []
    with FakeOpenAI(Reply(("half", " an ans"), ending=ending)) as server:
        stream = model_of(server, silence_seconds=0.3).stream("system", "question", max_tokens=16)
        with pytest.raises(ModelUnavailableError) as caught:
            came.extend(stream)
    assert came == ["half", " an ans"]
    assert caught.value.reason == model_errors.BROKEN_OFF


def test_server_that_accepts_and_then_says_nothing_is_given_up() -> None:
    with FakeOpenAI(Reply(pieces=(), ending="stall")) as server, pytest.raises(ModelUnavailableError) as caught:
        ask(model_of(server, silence_seconds=0.3))
    assert caught.value.reason == model_errors.SILENT


def test_slow_but_talking_server_is_not_cut_off_by_the_time_limit_on_silence() -> None:
    with FakeOpenAI(Reply(("x ",), ending="endless")) as server:
        stream = model_of(server, silence_seconds=0.3).stream("system", "question", max_tokens=999)
        pieces = [next(stream) for _ in range(60)]  # a piece every 0.01 s: twice the limit in all
        stream.close()  # type: ignore[attr-defined]
        assert server.client_left.wait(5), "an answer nobody reads any more must not keep the server busy"
    assert len(pieces) == 60


def test_nobody_listening_is_unreachable() -> None:
    with FakeOpenAI() as server:
        model = model_of(server)
    with pytest.raises(ModelUnavailableError) as caught:
        ask(model)
    assert caught.value.reason == model_errors.UNREACHABLE


def test_wrong_model_is_named_together_with_those_offered() -> None:
    with FakeOpenAI() as server:
        server.models = ["qwen3-8b", "qwen3-32b"]
        with pytest.raises(ModelUnavailableError) as caught:
            ask(model_of(server))
    for text in (caught.value.reason.zh, caught.value.reason.en):
        assert "'fake-model'" in text
        assert "qwen3-8b, qwen3-32b" in text


@pytest.mark.parametrize("model", ["fake-model", None])
@pytest.mark.parametrize("is_web_page", [True, False])
def test_address_without_such_an_interface_is_not_called_a_wrong_model(model: str | None, is_web_page: bool) -> None:
    with FakeOpenAI() as server:
        server.is_web_page = is_web_page
        elsewhere = Endpoint(server.listening_address + "/elsewhere", "key", model)
        with pytest.raises(ModelUnavailableError) as caught:
            ask(LanguageModel(lambda: elsewhere, name=""))
    assert caught.value.reason == model_errors.NO_API


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(("<think>hm</think>\n\nyes",)), "yes"),
        (Reply(("<th", "ink>a < b", "</thi", "nk>", " yes", "!")), "yes!"),
        (Reply(("if a <", " b then <t", "d>")), "if a < b then <td>"),
        (Reply(("yes",), reasoning=("let me see", "so")), "yes"),
    ],
)
def test_reasoning_is_not_shown_however_it_is_sent(reply: Reply, text: str) -> None:
    with FakeOpenAI(reply) as server:
        assert ask(model_of(server)) == text


@given(st.lists(st.sampled_from(["<", "<think>", "</think>", "think>", "a", "</"]), max_size=12), st.data())
def test_reasoning_is_dropped_alike_whole_or_cut_anywhere(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    expected = re.sub(r"<think>.*?(</think>|$)", "", text, flags=re.DOTALL)
    assert "".join(llm.without_reasoning(pieces)) == expected


@pytest.mark.parametrize("reply", [Reply(pieces=()), Reply(("\n", " ")), Reply(("<think>never ending",))])
def test_reply_without_a_word_is_an_error_and_not_an_empty_answer(reply: Reply) -> None:
    with FakeOpenAI(reply) as server, pytest.raises(ModelReplyError) as caught:
        ask(model_of(server))
    assert caught.value.reason == model_errors.EMPTY


@pytest.mark.parametrize("text", ['{"colour": "red"}', '```json\n{"colour": "red"}\n```', 'Sure: {"colour": "red"} !'])
def test_choice_is_read_also_from_fences_and_chatter(text: str) -> None:
    with FakeOpenAI(Reply((text[:5], text[5:]))) as server:
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "red"}
    assert server.requests[0]["response_format"]["json_schema"]["schema"] == COLOUR_SCHEMA


@pytest.mark.parametrize(
    "wrong", ['{"colour": "green"}', '{"colour": ', "red", "[]", '{"colour": "red", "price": 1}', ""]
)
def test_wrong_choice_is_sent_back_once_with_the_fault(wrong: str) -> None:
    with FakeOpenAI(Reply((wrong,)), Reply(('{"colour": "blue"}',))) as server:
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "blue"}
    first, second = (request["messages"] for request in server.requests)
    assert second[: len(first)] == first, "the shared beginning is what the server has cached"
    assert second[-1]["content"].startswith("Wrong: ")


def test_choice_that_is_wrong_twice_is_a_typed_error_and_never_a_guess() -> None:
    with (
        FakeOpenAI(Reply(("red",)), Reply(('{"colour": "green"}',))) as server,
        pytest.raises(ModelReplyError) as caught,
    ):
        model_of(server).choose("system", "which?", COLOUR_SCHEMA)
    assert caught.value.reason == model_errors.NOT_JSON
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        ({"json_schema"}, ["json_schema", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", None]),
    ],
)
def test_server_without_json_schema_gets_the_schema_as_an_instruction(
    refused: set[str], sent: list[str | None]
) -> None:
    with FakeOpenAI(Reply(('{"colour": "red"}',))) as server:
        server.refused_formats = refused
        assert model_of(server).choose("system", "which?", COLOUR_SCHEMA) == {"colour": "red"}
    assert [request.get("response_format", {}).get("type") for request in server.requests] == sent
    assert '"enum": ["red", "blue"]' in server.requests[-1]["messages"][0]["content"]


def test_failing_server_is_not_mistaken_for_one_without_json_schema() -> None:
    with FakeOpenAI(error_reply(500, "boom")) as server, pytest.raises(ModelUnavailableError) as caught:
        model_of(server).choose("system", "which?", COLOUR_SCHEMA)
    assert caught.value.reason == model_errors.FAILED
    assert len(server.requests) == 1


def test_proxy_settings_do_not_catch_a_server_on_loopback(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "OPENAI_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with FakeOpenAI() as server:
        assert ask(model_of(server)) == "ok"
    assert caplog.messages == []


def test_questions_are_not_traced_to_a_third_party(monkeypatch: pytest.MonkeyPatch) -> None:
    from langsmith.utils import tracing_is_enabled

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    with FakeOpenAI() as server:
        ask(model_of(server))
    assert not tracing_is_enabled()


@pytest.mark.parametrize("path", ["", "/", "/v1"])
def test_server_named_by_the_environment_is_used_with_its_first_model(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeOpenAI() as server:
        monkeypatch.setenv("LLM_BASE_URL", server.listening_address + path)
        monkeypatch.delenv("LLM_MODEL", raising=False)
        monkeypatch.delenv("LLM_API_KEY", raising=False)
        server.models = ["first", "second"]
        model = connect_model()
        assert ask(model) == "ok"
        assert (model.name, server.requests[-1]["model"]) == ("first", "first")
        monkeypatch.setenv("LLM_MODEL", "second")
        assert ask(connect_model()) == "ok"
        assert server.requests[-1]["model"] == "second"


def test_missing_model_file_names_the_command_and_downloads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    model = connect_model()
    with pytest.raises(ModelUnavailableError) as caught:
        ask(model)
    assert "gpu-advisor models pull" in caught.value.reason.zh
    assert "gpu-advisor models pull" in caught.value.reason.en
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[EmbeddedServer]:
    settings = ServerSettings(model_path="none", model_name="stub-model", threads=1)
    server = EmbeddedServer(settings, tmp_path / "logs" / "server.log", command=STUB_CHILD, start_seconds=30)
    yield server
    server.stop()


def stub_model(server: EmbeddedServer) -> LanguageModel:
    return LanguageModel(lambda: Endpoint(server.address() + "/v1", "key", "stub-model"), name="stub-model")


@pytest.mark.parametrize("wish", ["please die", "please close your port"])
def test_child_that_dies_mid_stream_ends_one_answer_and_the_next_works_again(stub: EmbeddedServer, wish: str) -> None:
    model = stub_model(stub)
    came: list[str] = []
    with pytest.raises(ModelUnavailableError) as caught:
        came.extend(model.stream("system", wish, max_tokens=16))
    assert (came, caught.value.reason) == (["half an ans"], model_errors.BROKEN_OFF)
    dead = stub.pid
    assert ask(model) == "alive"
    assert stub.pid != dead


def test_child_outlives_the_thread_that_started_it(stub: EmbeddedServer) -> None:
    starter = threading.Thread(target=stub.address)
    starter.start()
    starter.join()
    first = stub.pid
    assert ask(stub_model(stub)) == "alive"
    assert stub.pid == first


def test_two_first_questions_at_once_start_one_child(stub: EmbeddedServer) -> None:
    addresses: list[str] = []
    threads = [threading.Thread(target=lambda: addresses.append(stub.address())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(addresses) == 4
    assert len(set(addresses)) == 1


def test_child_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = f"""
import pathlib, sys, time
from assistant.embedded_server import EmbeddedServer, ServerSettings
log_path = pathlib.Path({str(tmp_path / "log")!r})
server = EmbeddedServer(ServerSettings("none", "stub", 1), log_path, command={STUB_CHILD!r})
server.address()
print(server.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT) as parent:
        assert parent.stdout is not None
        child = os.pidfd_open(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
    ended, _, _ = select.select([child], [], [], 10)
    os.close(child)
    assert ended


@pytest.mark.parametrize("program", ["raise SystemExit('no such model')", "import time; time.sleep(60)"])
def test_child_that_cannot_start_is_an_error_that_names_its_log(program: str, tmp_path: Path) -> None:
    log_path = tmp_path / "server.log"
    settings = ServerSettings(model_path="none", model_name="stub", threads=1)
    server = EmbeddedServer(settings, log_path, command=(sys.executable, "-c", program), start_seconds=0.5)
    with pytest.raises(EmbeddedServerError, match=re.escape(str(log_path))):
        server.address()
    assert server.pid is None


def test_embedded_model_gets_as_many_threads_as_the_embedding_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LLM_BASE_URL", raising=False)
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    made: list[ServerSettings] = []

    def remembered(settings: ServerSettings, log_path: Path) -> EmbeddedServer:
        made.append(settings)
        return EmbeddedServer(settings, log_path)

    monkeypatch.setattr(llm, "EmbeddedServer", remembered)
    connect_model()
    assert [settings.threads for settings in made] == [3]


def test_parts_that_do_not_fit_are_dropped_from_the_end_and_none_is_skipped() -> None:
    parts = ["显卡" * 10, "words " * 10, "价" * 50, "x"]
    assert llm.fit(parts, 45) == parts[:2]
    assert llm.fit(parts, 10) == []
    assert llm.fit(parts, 1000) == parts


def test_digits_and_marks_count_one_by_one_because_tokenizers_split_them() -> None:
    assert llm.estimated_tokens("24.50") >= 5
    assert llm.estimated_tokens("每小时") >= 3


@pytest.fixture(scope="module")
def embedded() -> Iterator[LanguageModel]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LLM_BASE_URL", raising=False)
        model = connect_model()
    yield model
    model.close()


@pytest.mark.live
@pytest.mark.parametrize(
    ("question", "pattern"),
    [("用一句中文回答：显卡是什么？", "[\u4e00-\u9fff]{4}"), ("In one short sentence: what is a GPU?", "[A-Za-z]{4}")],
)
def test_real_model_answers_in_both_languages(embedded: LanguageModel, question: str, pattern: str) -> None:
    text = "".join(embedded.stream("Answer in the language of the question.", question, max_tokens=24))
    assert re.search(pattern, text)
    assert embedded.name == "qwen2.5-coder-1.5b-instruct-q4_k_m"


@pytest.mark.live
def test_real_model_cannot_choose_outside_the_enum(embedded: LanguageModel) -> None:
    choice = embedded.choose("You pick a colour.", "My favourite colour is green. Which?", COLOUR_SCHEMA, max_tokens=24)
    assert choice["colour"] in ("red", "blue")
