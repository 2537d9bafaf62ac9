"""Which test files one worker of `pytest -n` runs together, and which start first, so that all workers end together."""

from __future__ import annotations

from pathlib import Path

from xdist.scheduler import LoadFileScheduling

FOLDER = Path(__file__).parent
# One worker runs these, so that the real advisor is served once: it takes long to start and a GiB of memory.
REAL_SERVER = (
    "test_browser_answers.py",
    "test_browser_calculator.py",
    "test_browser_frame.py",
    "test_browser_scripts.py",
    "test_browser_tabs.py",
    "test_slack_commands_live.py",
)
# The files that take longest, longest first; the order changes when a run ends, never what it finds.
LONG = (
    *REAL_SERVER,
    "test_browser_chat.py",
    "test_index.py",
    "test_open_index.py",
    "test_served_login.py",
    "test_read_docx.py",
    "test_knowledge_base.py",
    "test_llm.py",
    "test_api.py",
    "test_slack_buttons.py",
    "test_slack_app.py",
    "test_slack_serving.py",
    "test_price_import.py",
    "test_intent.py",
    "test_browser_login.py",
)


class UnitsByServer(LoadFileScheduling):
    """Hands out whole files, and the files of the real server as one."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "the real server" if Path(file).name in REAL_SERVER else file


def rank(file: Path) -> int:
    """The place of a test file in the order of starting; files that are not long keep theirs."""
    return LONG.index(file.name) if file.name in LONG else len(LONG)
