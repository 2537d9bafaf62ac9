"""The whole server with a small knowledge base and no model, in a process of its own (Gradio leaks event loops).

Run as a script with the home folder as its argument; `serving` does so. Whoever comes from this machine is an admin.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from hash_embedder import HashEmbedder
from scripted_advisor import ScriptedAdvisor, by_question

import ingest.knowledge_base as module
from knowledge.passage import Passage

BUILTIN = [
    Passage("b.zh#1", "b#1", "zh", "显卡", "GPU 是什么", "图形处理器。", "来源", "documents/b.zh.md § GPU 是什么", None, "text"),
    Passage("b.en#1", "b#1", "en", "Cards", "What a GPU is", "A graphics processor.", "s", "documents/b.en.md § What", None, "text"),
]  # fmt: skip


@contextlib.contextmanager
def serving(home: Path, uploads: Path) -> Iterator[str]:
    """The address of the server, whose documents lie in `home` and whose uploads land in `uploads`."""
    environment = {**os.environ, "GPU_ADVISOR_HOME": str(home), "GRADIO_TEMP_DIR": str(uploads)}
    environment["PYTHONWARNINGS"] = "default"
    home.mkdir(parents=True, exist_ok=True)
    with (home / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, __file__, str(home)], env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, (home / "server.log").read_text()
            yield url
        finally:
            process.terminate()
            process.communicate(timeout=30)


def main(home: Path) -> None:
    from assistant.api import serve

    with mock.patch.object(module, "builtin_passages", return_value=BUILTIN):
        serve("127.0.0.1", 0, lambda: _advisor(home))


def _advisor(home: Path) -> ScriptedAdvisor:
    advisor = ScriptedAdvisor(by_question)
    advisor.knowledge = module.open_knowledge(home, HashEmbedder())
    return advisor


if __name__ == "__main__":
    main(Path(sys.argv[1]))
