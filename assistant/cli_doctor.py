"""The command `doctor`: every check in order, printed as it is made; exit status 1 where one found a fault.

Which checks there are and what they share is decided here; what each looks at stands in doctor_*.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from assistant.cli_errors import say, say_json

if TYPE_CHECKING:
    from assistant.doctor import Check, Examination
    from assistant.evidence import Bilingual
    from assistant.owner import Owner
    from knowledge.embedding_process import EmbedderProcess
    from knowledge.index import Embedder

HUB_OFFLINE = "HF_HUB_OFFLINE"


def doctor(
    full: Annotated[bool, typer.Option("--full", help="也核对模型文件的校验和 / hash the model files too")] = False,
    port: Annotated[int, typer.Option(help="要检查的端口 / the port that serve is to use")] = 7860,
    as_json: Annotated[bool, typer.Option("--json", help="findings for a program")] = False,
) -> None:
    """Check everything and name the fix for each fault; changes nothing and needs no network."""
    from assistant import doctor as report

    environment = dict(os.environ)
    with _offline():
        checks: list[Check] = []
        for check in report.examine(Examinations(environment, full=full, port=port).all()):
            checks.append(check)
            if not as_json:
                say(report.lines(check))
    if as_json:
        say_json(report.as_json(checks))
    else:
        say(report.summary(checks))
    if report.failed(checks):
        sys.exit(1)


class Examinations:
    """All checks; what one finds out, such as who holds the index, the later ones use."""

    def __init__(self, environment: Mapping[str, str], *, full: bool, port: int) -> None:
        from knowledge.weights import home

        self._environment = environment
        self._full = full
        self._port = port
        self._home = home()
        self._holder: Owner | None = None
        self._embedder: Embedder | None = None
        self._process: EmbedderProcess | None = None

    def all(self) -> Iterable[tuple[str, Bilingual, Examination]]:
        """Name, label and check, cheap ones first and each after those it builds on."""
        from assistant import doctor_files, doctor_index, doctor_machine, doctor_model, doctor_slack, doctor_state

        home, given = self._home, self._environment
        own_server = bool(given.get("LLM_BASE_URL"))
        return [
            ("python", doctor_machine.PYTHON_WHAT, doctor_machine.check_python),
            ("packages", doctor_machine.PACKAGES_WHAT, doctor_machine.check_packages),
            ("torch", doctor_machine.TORCH_WHAT, doctor_machine.check_torch),
            ("cores", doctor_machine.CORES_WHAT, doctor_machine.check_cores),
            ("memory", doctor_machine.MEMORY_WHAT, lambda: doctor_machine.check_memory(own_server)),
            ("settings", doctor_machine.SETTINGS_WHAT, lambda: doctor_machine.check_settings(given)),
            ("slack", doctor_slack.SLACK_WHAT, lambda: doctor_slack.check_slack(given)),
            ("proxy", doctor_machine.PROXY_WHAT, lambda: doctor_machine.check_proxy(given)),
            ("home", doctor_machine.HOME_WHAT, lambda: doctor_machine.check_home(home)),
            ("disk", doctor_machine.DISK_WHAT, lambda: doctor_machine.check_disk(home)),
            ("owner", doctor_state.OWNER_WHAT, self._owner),
            ("port", doctor_machine.PORT_WHAT, self._listening),
            ("files", doctor_files.FILES_WHAT, self._files),
            ("embedding", doctor_files.EMBEDDING_WHAT, self._embedding),
            ("index", doctor_index.INDEX_WHAT, lambda: doctor_index.check_index(home, self._embedder)),
            ("index-counts", doctor_index.COUNTS_WHAT, lambda: doctor_index.check_counts(home)),
            ("search", doctor_index.SEARCH_WHAT, self._search),
            ("documents", doctor_index.LIBRARY_WHAT, lambda: doctor_index.check_documents(home)),
            ("prices", doctor_state.PRICES_WHAT, lambda: doctor_state.check_prices(date.today())),
            ("conversations", doctor_state.CONVERSATIONS_WHAT, lambda: doctor_state.check_conversations(home)),
            ("llm", doctor_model.SERVER_WHAT, self._model),
        ]

    def _owner(self) -> Check:
        from assistant.doctor_state import check_owner

        check, self._holder = check_owner(self._home)
        return check

    def _listening(self) -> Check:
        from assistant.doctor_machine import check_port

        return check_port(self._holder.url if self._holder else None, self._port)

    def _files(self) -> Sequence[Check]:
        from assistant.doctor_files import check_files

        settings = {"embedding": "EMBEDDING_MODEL", "llm": "LLM_BASE_URL"}
        needed = [role for role, setting in settings.items() if not self._environment.get(setting)]
        return list(check_files(needed, full=self._full))

    def _embedding(self) -> Check:
        from assistant.doctor_files import check_embedding

        check, self._embedder = check_embedding(self._environment.get("EMBEDDING_MODEL", ""), self._load)
        return check

    def _load(self) -> Embedder:
        from knowledge.embedding_process import EmbedderProcess

        self._process = EmbedderProcess()  # a crash of torch must not end the other checks
        return self._process

    def _search(self) -> Check:
        from assistant.doctor_index import check_search

        return check_search(self._home, self._embedder, self._holder)

    def _model(self) -> Sequence[Check]:
        from assistant.doctor_machine import free_memory
        from assistant.doctor_model import check_model

        if self._process:
            self._process.close()  # both models at once are more than some machines hold
        return list(check_model(self._environment, free_memory()))


@contextmanager
def _offline() -> Iterator[None]:
    """No hub is asked, whatever is missing; the setting is for this process and its children, and put back."""
    before = os.environ.get(HUB_OFFLINE)
    os.environ[HUB_OFFLINE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[HUB_OFFLINE]
        else:
            os.environ[HUB_OFFLINE] = before
