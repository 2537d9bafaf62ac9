"""Fixtures for all tests: no network but loopback, and a home folder of its own for every test; the order of files."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from work_units import UnitsByServer, rank

HOMES = itertools.count()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among several workers long files start first, so that none waits for another at the end."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: rank(item.path))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> UnitsByServer | None:
    """`--dist loadfile` keeps the files of the real server together."""
    return UnitsByServer(config, log) if config.getoption("dist") == "loadfile" else None


# How long an example takes says how loaded the machine is; speed is measured in evals/.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection that would leave this machine fails the test that makes it, loudly."""
    connect, resolve = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(str(address[0])):
            raise AssertionError(f"a test tried to reach {address!r}")
        connect(self, address)

    def guarded_resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host is not None and not _is_local(host.decode() if isinstance(host, bytes) else str(host)):
            raise AssertionError(f"a test tried to look up {host!r}")
        return resolve(host, *args, **kwargs)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_resolve)


@pytest.fixture(autouse=True)
def own_home(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """State goes to a temporary folder; `live` tests keep the real one, where the model files are."""
    if "live" not in request.keywords:
        monkeypatch.setenv("GPU_ADVISOR_HOME", str(_home(request, tmp_path_factory)))
    settings = ("USER_HEADER", "TRUSTED_PROXIES", "ADMINS", "QUESTIONS_PER_MINUTE", "SLACK_CHANNELS", "SLACK_USERS")
    for name in (
        "LLM_BASE_URL",
        "LLM_MODEL",
        "LLM_API_KEY",
        "EMBEDDING_MODEL",
        "SLACK_BOT_TOKEN",
        "SLACK_APP_TOKEN",
        "SLACK_SIGNING_SECRET",
        "SLACK_API_URL",
        *(f"GPU_ADVISOR_{name}" for name in settings),
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def real_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the real advisor's server, one for all tests in a browser: it takes long to start."""
    from browser import needs_chromium
    from real_server import serving

    needs_chromium()
    with serving(tmp_path_factory.mktemp("real-server")) as url:
        yield url


def _home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`home` in the test's own folder; for a test that asks for none, a name nobody has used.

    Making a folder means looking through all that were made before: for 10,000 tests, minutes.
    """
    if "tmp_path" in request.fixturenames:
        folder: Path = request.getfixturevalue("tmp_path")
        return folder / "home"
    return tmp_path_factory.getbasetemp() / "homes" / str(next(HOMES))


def _is_local(host: str) -> bool:
    return host in ("localhost", "::1", "0.0.0.0", "") or host.startswith("127.")
