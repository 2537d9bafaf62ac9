"""Fixtures for all tests: no network but loopback, and a home folder of its own for every test."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


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
def own_home(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """State goes to a temporary folder; `live` tests keep the real one, where the model files are."""
    if "live" not in request.keywords:
        monkeypatch.setenv("GPU_ADVISOR_HOME", str(tmp_path / "home"))
    settings = ("USER_HEADER", "TRUSTED_PROXIES", "ADMINS", "QUESTIONS_PER_MINUTE")
    for name in (
        "LLM_BASE_URL",
        "LLM_MODEL",
        "LLM_API_KEY",
        "EMBEDDING_MODEL",
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


def _is_local(host: str) -> bool:
    return host in ("localhost", "::1", "0.0.0.0", "") or host.startswith("127.")
