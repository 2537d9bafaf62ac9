"""`doctor`: each fault provoked in a home of its own is found, with a fix in both languages whose command exists."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import socket
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import typer
from fake_openai import FakeOpenAI, Reply, error_reply
from hash_embedder import HashEmbedder
from typer.testing import CliRunner

from assistant import doctor_files, doctor_index, doctor_machine, doctor_model, doctor_slack, doctor_state, owner
from assistant.cli import app
from assistant.conversations import Conversations
from assistant.doctor import MARKS, Check, as_json, examine, failed, lines, same, summary
from assistant.evidence import Bilingual
from assistant.slack.tokens import CHANNELS, TOKENS, USERS
from ingest.builtin import builtin_passages
from ingest.splitting import SPLITTER_VERSION
from knowledge import weights
from knowledge.embedding import DEFAULT_FINGERPRINT, EmbeddingModelError
from knowledge.index import Embedder, build_index
from knowledge.library import Document, Library

ROOT = Path(__file__).parent.parent
COMMANDS: Any = typer.main.get_command(app)
OUR_FILES = sorted((ROOT / "assistant").glob("doctor*.py"))


def found(check: Check, state: str, *, zh: str = "", en: str = "") -> None:
    """The finding is of that state; its detail and fix, taken together, say these words."""
    assert check.state == state, lines(check)
    fix = check.fix or same("")
    assert zh in f"{check.detail.zh}\n{fix.zh}"
    assert en in f"{check.detail.en}\n{fix.en}"
    assert (check.fix is not None) == (state in ("warning", "fault"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    return tmp_path / "state"


def traces(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# The report


def test_a_finding_is_one_line_and_its_fix_another_in_both_languages() -> None:
    check = Check("a", Bilingual(zh="甲", en="a"), "fault", same("5"), Bilingual(zh="做这个。", en="Do this."))
    assert lines(check) == "✗ 甲 / a: 5\n    → 做这个。 / Do this."
    assert "\n" not in lines(Check("a", same("a"), "ok", same("5")))


def test_one_check_that_breaks_is_a_fault_of_its_own_and_the_others_go_on() -> None:
    def breaks() -> Check:
        raise ZeroDivisionError("by zero")

    good = Check("good", same("good"), "ok", same("1"))
    first, second, third = examine(
        [("bad", same("bad"), breaks), ("good", same("g"), lambda: good), ("two", same("g"), lambda: [good])]
    )
    assert (first.name, first.state) == ("bad", "fault")
    found(first, "fault", zh="检查时出错：ZeroDivisionError: by zero", en="the check itself broke")
    assert second == third == good


def test_only_a_fault_fails() -> None:
    states = [Check("a", same("a"), state, same("")) for state in MARKS]
    assert failed(states)
    assert not failed([check for check in states if check.state != "fault"])
    assert summary(states) == "1 项正常 / well, 1 项提醒 / warnings, 1 项故障 / faults, 1 项未查 / not checked"
    told = json.loads(as_json(states))
    assert told["ok"] is False
    assert [check["state"] for check in told["checks"]] == list(MARKS)


def test_every_command_that_a_fix_names_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in OUR_FILES).replace(
        "{REBUILD}", "gpu-advisor knowledge rebuild"
    )
    named = set(re.findall(r"`gpu-advisor ([a-z][^`]*)`", text))
    assert len(named) > 5
    for line in named:
        group = COMMANDS
        words = shlex.split(re.sub(r"\{[^}]*\}", "1", line))
        while hasattr(group, "commands"):
            assert words[0] in group.commands, line
            group = group.commands[words.pop(0)]
        options = {option for parameter in group.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= options, line
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make (\w+)", text):
        assert re.search(rf"^{target}:", makefile, re.M), target


# The machine


def test_another_python_is_a_fault_and_this_one_is_not() -> None:
    found(doctor_machine.check_python(), "ok", en="3.11")
    found(doctor_machine.check_python((3, 13)), "fault", zh="需要 3.11", en="Remove .venv")


def test_a_package_that_is_not_installed_is_named() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    found(doctor_machine.check_packages(), "ok", zh=f"{len(needed)} 个都在", en=f"all {len(needed)} are there")
    check = doctor_machine.check_packages(["numpy", "no-such-package-of-ours"])
    found(check, "fault", zh="缺少 no-such-package-of-ours", en="missing: no-such-package-of-ours")
    assert check.fix
    assert "make install" in check.fix.zh
    assert "make install" in check.fix.en


def test_the_build_of_torch_is_told_whichever_it_is() -> None:
    check = doctor_machine.check_torch()
    assert check.state == "ok"
    assert re.search(r"\d+\.\d+.*, (CPU|CUDA [\d.]+)", check.detail.en)


def test_a_state_folder_that_is_a_file_is_told_and_one_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    found(doctor_machine.check_home(file), "fault", zh="不是文件夹", en="Set GPU_ADVISOR_HOME")
    found(doctor_machine.check_home(tmp_path / "a" / "b"), "ok", zh="还没有", en="not there yet")
    assert not (tmp_path / "a").exists()
    found(doctor_machine.check_home(tmp_path), "ok", en=str(tmp_path))


def test_a_state_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assistant.doctor_machine.os.access", lambda *_: False)  # root may write anywhere
    found(doctor_machine.check_home(tmp_path), "fault", zh="不可写", en="cannot be written")


def test_a_full_disk_one_core_and_little_memory_are_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found(doctor_machine.check_disk(tmp_path, least_gib=1e9), "warning", zh="腾出空间", en="Make room")
    found(doctor_machine.check_disk(tmp_path, least_gib=0), "ok", en="GiB")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found(doctor_machine.check_cores(), "warning", zh="LLM_BASE_URL", en="unset OMP_NUM_THREADS")
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:    2097152 kB\n")
    found(doctor_machine.check_memory(False, meminfo, tmp_path), "warning", zh="关闭别的程序", en="2.0 GiB; 3 GiB")
    found(doctor_machine.check_memory(True, meminfo, tmp_path), "ok", en="2.0 GiB")
    found(doctor_machine.check_memory(True, tmp_path / "none", tmp_path), "skipped", zh="读不出", en="cannot be read")


def test_a_container_has_the_memory_of_its_limit_and_its_file_cache_counts_as_free(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemAvailable:    99999999 kB\n")
    (tmp_path / "memory.max").write_text("4000\n")
    (tmp_path / "memory.current").write_text("3000\n")
    assert doctor_machine.free_memory(meminfo, tmp_path) == 1000
    (tmp_path / "memory.stat").write_text("anon 1\ninactive_file 500\n")
    assert doctor_machine.free_memory(meminfo, tmp_path) == 1500
    (tmp_path / "memory.max").write_text("max\n")
    assert doctor_machine.free_memory(meminfo, tmp_path) == 99999999 * 1024


def test_a_port_is_free_ours_or_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        found(
            doctor_machine.check_port(None, port),
            "warning",
            zh=f"serve --port {port + 1}",
            en=f"serve --port {port + 1}",
        )
        found(doctor_machine.check_port(f"http://127.0.0.1:{port}", port), "ok", zh="本程序", en="our own")
    found(doctor_machine.check_port(None, port), "ok", zh="空闲", en="free")


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("LLM_BASEURL", "LLM_BASE_URL"),
        ("LLM_KEY", "LLM_API_KEY"),
        ("GPU_ADVISOR_DIR", "GPU_ADVISOR_HOME"),
        ("EMBEDING_MODEL", "EMBEDDING_MODEL"),
        ("RERANK_MODEL", "RERANKER_MODEL"),
    ],
)
def test_a_setting_that_is_a_slip_is_warned_with_the_name_that_was_meant(slip: str, meant: str) -> None:
    _, check = doctor_machine.check_settings({slip: "x", "PATH": "/bin"})
    found(check, "warning", zh=f"不认识 {slip}", en=f"Is {meant} meant?")


def test_settings_are_shown_without_keys_and_passwords() -> None:
    given = {"LLM_API_KEY": "sk-secret", "LLM_BASE_URL": "http://me:pass@host/v1", "HF_ENDPOINT": "https://mirror"}
    (check,) = doctor_machine.check_settings(given)
    assert check.detail.en == "LLM_API_KEY=***, LLM_BASE_URL=http://***@host/v1, HF_ENDPOINT=https://mirror"
    (check,) = doctor_machine.check_settings({"PATH": "/bin", "HF_HOME": "/x"})
    found(check, "ok", zh="全为默认", en="all defaults")


BOT, APP, SIGNING = "xoxb-1234567890-secret", "xapp-1-A0123-secret", "0123456789abcdef0123"


@pytest.mark.parametrize(
    ("given", "state", "zh", "en"),
    [
        ({}, "ok", "没有设置", "not set"),
        ({"SLACK_BOT_TOKEN": BOT}, "fault", "SLACK_APP_TOKEN", "README, section Slack"),
        ({"SLACK_APP_TOKEN": APP}, "fault", "缺少 SLACK_BOT_TOKEN", "SLACK_BOT_TOKEN is missing"),
        ({"SLACK_BOT_TOKEN": APP, "SLACK_APP_TOKEN": BOT}, "fault", "SLACK_BOT_TOKEN 不对", "begins with xoxb-"),
        ({"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP}, "ok", "Socket Mode；所有频道", "all channels, all users"),
        ({"SLACK_BOT_TOKEN": BOT, "SLACK_SIGNING_SECRET": SIGNING, "GPU_ADVISOR_SLACK_USERS": "U1AB, U2AB"}, "ok",
         "/slack/events；所有频道，只限 2 个用户", "2 users"),
        ({"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP, "GPU_ADVISOR_SLACK_CHANNELS": "#general"}, "fault",
         "GPU_ADVISOR_SLACK_CHANNELS", "C0123ABCD"),
    ],
)  # fmt: skip
def test_the_slack_bot_is_not_set_half_set_or_ready(given: dict[str, str], state: str, zh: str, en: str) -> None:
    check = doctor_slack.check_slack(given)
    found(check, state, zh=zh, en=en)
    assert "secret" not in lines(check)


def test_slack_settings_are_known_and_their_values_are_not_shown() -> None:
    given = {"SLACK_BOT_TOKEN": BOT, "SLACK_APP_TOKEN": APP, "SLACK_SIGNING_SECRET": SIGNING}
    (check,) = doctor_machine.check_settings(given)
    found(check, "ok", zh="SLACK_BOT_TOKEN=***", en="SLACK_SIGNING_SECRET=***")
    assert set(TOKENS) | {CHANNELS, USERS, "SLACK_API_URL"} <= set(doctor_machine.OURS)


def test_every_setting_that_the_code_reads_is_known() -> None:
    code = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("assistant", "knowledge", "ingest")
        for path in (ROOT / folder).glob("*.py")
    )
    read = set(re.findall(r"environ(?:\.get\(|\[)\"((?:LLM|GPU_ADVISOR|EMBEDDING|RERANKER|HF|OMP)_\w+)\"", code))
    assert "LLM_BASE_URL" in read
    assert read <= {*doctor_machine.OURS, *doctor_machine.SHARED}


def test_a_proxy_is_told_and_warned_of_only_where_it_takes_the_model_server() -> None:
    proxy = {"HTTP_PROXY": "http://me:pass@proxy:3128"}
    found(doctor_machine.check_proxy({}), "ok", zh="无", en="none")
    found(doctor_machine.check_proxy(proxy), "ok", zh="本机请求不经过它", en="http://***@proxy:3128")
    found(doctor_machine.check_proxy({**proxy, "LLM_BASE_URL": "http://localhost:8000/v1"}), "ok")
    remote = {**proxy, "LLM_BASE_URL": "http://gpu-box:8000/v1"}
    found(doctor_machine.check_proxy(remote), "warning", zh="export NO_PROXY=gpu-box", en="export NO_PROXY=gpu-box")
    found(doctor_machine.check_proxy({**remote, "NO_PROXY": "localhost,gpu-box"}), "ok")


# Model files and the embedding model


@pytest.fixture
def small_model(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model file of five bytes in place of the language model; the path where it belongs."""
    model = weights.LLM.__class__(
        **{**weights.LLM.__dict__, "size_bytes": 5, "sha256": hashlib.sha256(b"right").hexdigest()}
    )
    monkeypatch.setattr(weights, "MODEL_FILES", (model,))
    (home / "models").mkdir()
    return home / "models" / model.file


def look(*, full: bool = False) -> Check:
    (check,) = doctor_files.check_files(["llm"], full=full)
    return check


def test_a_model_file_is_missing_cut_short_unchecked_changed_or_right(small_model: Path, home: Path) -> None:
    found(look(), "fault", zh="models pull", en="is not there")
    small_model.write_bytes(b"cut")
    found(look(), "fault", zh="大小不对：3 ≠ 5", en="wrong size: 3 ≠ 5")
    small_model.write_bytes(b"right")
    found(look(), "fault", zh="还没有校验过", en="not checked yet")
    small_model.with_name(small_model.name + ".verified").write_text(
        weights._stamp(small_model, weights.MODEL_FILES[0])
    )
    found(look(), "ok", zh="先前已校验", en="compared before")
    found(look(full=True), "ok", zh="校验和已核对", en="checksum compared")
    small_model.write_bytes(b"wrong")
    found(look(full=True), "fault", zh="校验和不对", en="then run `gpu-advisor models pull`")


def test_a_model_file_that_another_setting_replaces_is_not_asked_for(small_model: Path) -> None:
    assert list(doctor_files.check_files(["embedding"], full=True)) == []


def test_an_embedding_model_whose_file_is_not_ready_is_not_loaded(home: Path) -> None:
    def load() -> Embedder:
        raise AssertionError("loading would download it")

    check, embedder = doctor_files.check_embedding("", load)
    found(check, "skipped", zh="未就绪", en="not ready")
    assert embedder is None
    assert traces(home) == {}


@pytest.mark.parametrize(
    ("error", "zh", "en"),
    [
        (EmbeddingModelError("EMBEDDING_MODEL='x': is no folder"), "改正 EMBEDDING_MODEL", "Correct EMBEDDING_MODEL"),
        (EOFError(), "内存", "make install"),
    ],
)
def test_an_embedding_model_that_does_not_load_is_told(error: Exception, zh: str, en: str) -> None:
    def load() -> Embedder:
        raise error

    found(doctor_files.check_embedding("x", load)[0], "fault", zh=zh, en=en)


def test_an_embedding_model_whose_vectors_are_wrong_is_told() -> None:
    import numpy as np

    class Backwards(HashEmbedder):
        def embed_queries(self, texts: Any) -> Any:
            rows = np.eye(3, dtype=np.float32)
            return rows[[0, 1, 0]]  # the unrelated sentence is the nearest

    check, embedder = doctor_files.check_embedding("some-model", Backwards)
    found(check, "fault", zh="换一个懂中英文的", en="gpu-advisor knowledge rebuild")
    assert embedder is None


def test_default_vectors_far_from_the_known_ones_are_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    class Shifted(HashEmbedder):
        def embed_queries(self, texts: Any) -> Any:
            return np.full((len(texts), 384), 384**-0.5, dtype=np.float32)

    monkeypatch.setattr(doctor_files, "_not_ready", lambda: None)
    check, _ = doctor_files.check_embedding("", lambda: Shifted(DEFAULT_FINGERPRINT))
    found(check, "fault", zh="再运行 `gpu-advisor models pull`", en="then run `gpu-advisor models pull`")


# The index


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "index"
    build_index(folder, builtin_passages(), HashEmbedder(), splitter=SPLITTER_VERSION).close()
    return folder


@pytest.fixture
def indexed(home: Path, built: Path) -> Path:
    import shutil

    shutil.copytree(built, home / "index")
    return home


def test_an_index_that_is_not_there_names_the_commands_that_build_it(home: Path) -> None:
    found(
        doctor_index.check_index(home, HashEmbedder()),
        "fault",
        zh="gpu-advisor serve",
        en="gpu-advisor knowledge rebuild",
    )
    assert doctor_index.check_counts(home).state == "skipped"
    assert doctor_index.check_search(home, HashEmbedder(), None).state == "skipped"
    found(doctor_index.check_documents(home), "ok", zh="没有", en="none")
    assert traces(home) == {}


def test_a_good_index_passes_every_check_and_nothing_of_it_changes(indexed: Path) -> None:
    before = traces(indexed)
    found(doctor_index.check_index(indexed, HashEmbedder()), "ok", en="hash-1")
    counts = doctor_index.check_counts(indexed)
    assert re.fullmatch(r"SQLite ([\d,]+), Chroma \1", counts.detail.en), counts
    assert counts.state == "ok"
    found(
        doctor_index.check_search(indexed, HashEmbedder(), None), "ok", zh="在索引的副本中", en="in a copy of the index"
    )
    assert traces(indexed) == before


def test_an_index_of_another_model_is_told_with_both_names(indexed: Path) -> None:
    check = doctor_index.check_index(indexed, HashEmbedder("hash-2"))
    found(check, "fault", zh="hash-1 ≠ hash-2", en="Run `gpu-advisor knowledge rebuild`.")
    assert doctor_index.check_index(indexed, None).state == "skipped"


@pytest.mark.parametrize("damage", ["manifest", "store", "generation"])
def test_a_damaged_index_is_told_with_the_rebuild(indexed: Path, damage: str) -> None:
    (generation,) = (indexed / "index").glob("generation-*")
    if damage == "manifest":
        (indexed / "index" / "manifest.json").write_text("{")
    elif damage == "store":
        (generation / "passages.sqlite").unlink()
    else:
        generation.rename(generation.with_name("elsewhere"))
    found(doctor_index.check_index(indexed, HashEmbedder()), "fault", zh="knowledge rebuild", en="knowledge rebuild")


def test_stores_that_disagree_are_told_with_both_counts(indexed: Path) -> None:
    (chroma,) = (indexed / "index").glob("generation-*/chroma*/chroma.sqlite3")
    with closing(sqlite3.connect(chroma)) as database, database:
        database.execute("DELETE FROM embeddings WHERE id = (SELECT min(id) FROM embeddings)")
    found(doctor_index.check_counts(indexed), "fault", zh="不一致：SQLite", en="knowledge rebuild")
    chroma.write_bytes(b"no database " * 100)
    found(doctor_index.check_counts(indexed), "fault", zh="读不出", en="cannot be read")


def test_an_index_that_finds_nothing_known_is_a_fault_and_an_outdated_one_a_warning(
    indexed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_index, "KNOWN_TOPIC", "no such topic")
    found(doctor_index.check_search(indexed, HashEmbedder(), None), "fault", zh="没有找到", en="was not found")
    monkeypatch.setattr("ingest.builtin.builtin_passages", lambda: builtin_passages()[1:])
    found(
        doctor_index.check_search(indexed, HashEmbedder(), None), "warning", zh="不必处理", en="Nothing has to be done"
    )


def test_a_listed_document_that_the_index_lacks_is_named_and_a_broken_list_told(indexed: Path) -> None:
    library = Library(indexed / "library.sqlite")
    library.put(Document("d1", "o", "报价.xlsx", "d1.x", "s", "1", 1, "t", 1, 0, "2026-01-01"), b"{}")
    library.close()
    found(doctor_index.check_documents(indexed), "fault", zh="1 份不在索引里：报价.xlsx", en="knowledge rebuild")
    (indexed / "library.sqlite").write_bytes(b"no database " * 100)
    found(doctor_index.check_documents(indexed), "fault", zh="gpu-advisor ingest", en="Restore a backup")


# Beside the index


def test_prices_are_dated_and_old_ones_warned_of(home: Path) -> None:
    check = doctor_state.check_prices(date(2026, 9, 30), old_days=180)
    assert check.state == "ok"
    assert re.search(r"最新 20\d\d-\d\d-\d\d（\d+ 天前），最旧", check.detail.zh)
    old = doctor_state.check_prices(date(2028, 1, 1))
    found(old, "warning", zh="gpu-advisor prices import", en="gpu-advisor prices refresh")


def test_a_snapshot_that_cannot_be_read_is_told_with_what_goes_back(home: Path) -> None:
    (home / "prices").mkdir()
    pointer = home / "prices" / "current.json"
    pointer.write_text('{"file": "gone.parquet", "label": "x", "previous": [["", ""]]}')
    found(
        doctor_state.check_prices(date(2026, 9, 30)),
        "fault",
        zh="gpu-advisor prices undo",
        en="gpu-advisor prices undo",
    )
    pointer.write_text("{")
    found(doctor_state.check_prices(date(2026, 9, 30)), "fault", zh=f"删除 {pointer}", en=f"Remove {pointer}")


def test_conversations_are_counted_and_a_newer_or_broken_file_is_told(home: Path) -> None:
    file = home / "conversations.sqlite"
    found(doctor_state.check_conversations(home), "ok", zh="还没有", en="none yet")
    assert not file.exists()
    Conversations(file).append("t", "q", None)
    before = traces(home)
    found(doctor_state.check_conversations(home), "ok", zh="1 段", en="1 threads")
    assert traces(home) == before
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA user_version = 99")
    found(doctor_state.check_conversations(home), "fault", zh="升级 gpu-advisor", en="Upgrade gpu-advisor")
    file.write_bytes(b"no database " * 100)
    found(doctor_state.check_conversations(home), "fault", zh="移走文件", en="Move the file away")


def test_who_holds_the_index_is_told(home: Path) -> None:
    found(doctor_state.check_owner(home)[0], "ok", zh="无人占用", en="nobody")
    assert traces(home) == {}
    with owner.acquire(command="gpu-advisor ingest") as held:
        check, holder = doctor_state.check_owner(home)
        found(check, "warning", zh="`gpu-advisor ingest`（pid ", en="run `gpu-advisor serve` first")
        assert holder
        held.announce("http://127.0.0.1:1")  # nothing listens there
        found(doctor_state.check_owner(home)[0], "fault", zh=f"kill {holder.pid}", en="does not answer")
    found(doctor_state.check_owner(home)[0], "ok", zh="无人占用", en="nobody")  # the file stays: it is no stale lock


# The language model


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(answer=capable) as fake:
        yield fake


def capable(request: dict[str, Any]) -> Reply:
    if request.get("stream"):
        return Reply(("ok",))
    if "tools" in request:
        message: dict[str, Any] = {"tool_calls": [{"function": {"name": "look_up", "arguments": "{}"}}]}
    else:
        message = {"content": '{"gpu": "H100"}'}
    return Reply(body=json.dumps({"choices": [{"message": message}]}))


def examined(server: FakeOpenAI, **settings: str) -> dict[str, Check]:
    environment = {"LLM_BASE_URL": server.base_url, **settings}
    return {check.name: check for check in doctor_model.check_model(environment, None)}


def test_a_capable_server_passes_every_check(server: FakeOpenAI) -> None:
    checks = examined(server)
    assert [(name, check.state) for name, check in checks.items()] == [
        ("llm", "ok"), ("llm-model", "ok"), ("llm-token", "ok"), ("llm-json", "ok"), ("llm-tools", "ok")
    ]  # fmt: skip
    assert "fake-model" in checks["llm-model"].detail.en
    assert {request["model"] for request in server.requests} == {"fake-model"}


def test_an_address_without_a_path_gets_v1_as_the_advisor_does(server: FakeOpenAI) -> None:
    assert examined(server, LLM_BASE_URL=server.listening_address + "/")["llm"].state == "ok"


def test_tools_are_not_tried_where_they_are_switched_off(server: FakeOpenAI) -> None:
    assert "llm-tools" not in examined(server, LLM_TOOLS="off")


def test_a_model_that_is_not_offered_is_told_with_those_that_are(server: FakeOpenAI) -> None:
    check = examined(server, LLM_MODEL="Qwen3-8B")["llm-model"]
    found(check, "fault", zh="服务没有 'Qwen3-8B'，它提供：fake-model", en="export LLM_MODEL=fake-model")
    server.models = []
    found(examined(server)["llm-model"], "fault", zh="加载一个模型", en="Load a model")


def test_a_server_that_cannot_be_reached_or_is_none_is_told(server: FakeOpenAI) -> None:
    found(
        examined(server, LLM_BASE_URL="http://127.0.0.1:1/v1")["llm"],
        "fault",
        zh="启动模型服务",
        en="correct LLM_BASE_URL",
    )
    server.is_web_page = True
    found(examined(server)["llm"], "fault", zh="以 /v1 结尾", en="ends in /v1")
    server.is_web_page = False
    found(examined(server, LLM_BASE_URL=server.listening_address + "/api")["llm"], "fault", zh="/v1", en="/v1")


def test_a_key_that_is_refused_is_told_and_never_shown(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    monkeypatch.setattr(httpx.Client, "get", lambda self, url: httpx.Response(401, json={"error": "bad key"}))
    check = examined(server, LLM_API_KEY="sk-secret")["llm"]
    found(check, "fault", zh="LLM_API_KEY", en="set LLM_API_KEY")
    assert "sk-secret" not in lines(check)


@pytest.mark.parametrize(
    ("first", "words"),
    [(error_reply(500, "out of memory"), "HTTP 500"), (Reply(()), "no text"), (Reply((), ending="cut"), "")],
)
def test_a_server_that_gives_no_token_is_a_fault_and_its_features_are_not_tried(first: Reply, words: str) -> None:
    with FakeOpenAI(first) as fake:
        checks = examined(fake)
    found(checks["llm-token"], "fault", zh="模型服务的日志", en="See the log of the model server")
    assert words in checks["llm-token"].detail.en
    assert "llm-json" not in checks


def test_a_first_token_that_is_a_thought_counts() -> None:
    with FakeOpenAI(Reply((), reasoning=("hm",))) as fake:
        assert examined(fake)["llm-token"].state == "ok"


def test_a_slow_model_a_server_without_schema_and_one_without_tools_are_warnings(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_model, "SLOW_SECONDS", -1.0)
    server.refused_formats = {"json_schema"}
    server._answer = lambda request: error_reply(400, "no tools") if "tools" in request else Reply(("ok",))
    checks = examined(server)
    found(checks["llm-token"], "warning", zh="模型偏慢", en="The model is slow")
    found(checks["llm-json"], "warning", zh="不必处理", en="Nothing has to be done")
    found(checks["llm-tools"], "warning", zh="--enable-auto-tool-choice", en="export LLM_TOOLS=off")


def test_the_embedded_model_is_not_started_without_its_file_or_with_little_memory(
    small_model: Path, home: Path
) -> None:
    (check,) = doctor_model.check_model({}, None)
    found(check, "skipped", zh="未就绪", en="not ready")
    small_model.write_bytes(b"right")
    small_model.with_name(small_model.name + ".verified").write_text(
        weights._stamp(small_model, weights.MODEL_FILES[0])
    )
    (check,) = doctor_model.check_model({}, 1 << 30)
    found(check, "skipped", zh="内存只剩 1.0 GiB", en="only 1.0 GiB")


def test_an_embedded_model_that_does_not_start_is_told_and_leaves_nothing(small_model: Path, home: Path) -> None:
    small_model.write_bytes(b"right")  # five bytes that are no model
    small_model.with_name(small_model.name + ".verified").write_text(
        weights._stamp(small_model, weights.MODEL_FILES[0])
    )
    before = traces(home)
    (check,) = doctor_model.check_model({}, None)
    found(check, "fault", zh="没能启动", en="did not start")
    assert traces(home) == before


# The command


def test_on_an_empty_home_the_command_says_what_to_run_makes_nothing_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "nowhere"))
    monkeypatch.setattr(doctor_machine, "PORT", 0)
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "gpu-advisor models pull" in result.stdout
    assert "gpu-advisor serve" in result.stdout
    assert not re.search(r"检查时出错", result.stdout)
    assert not (tmp_path / "nowhere").exists()
    told = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert told["ok"] is False
    names = [check["name"] for check in told["checks"]]
    assert len(names) == len(set(names))
    for check in told["checks"]:
        assert set(check["detail"]) == {"zh", "en"}
