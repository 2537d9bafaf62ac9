"""The real advisor behind the real server, for tests in a browser: `python tests/real_server.py STATE_FOLDER`.

Model files and the classifier come from the usual home. State goes to STATE_FOLDER. The language model is a server that
is down, so every figure comes without prose.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

NO_MODEL = "http://127.0.0.1:9/v1"  # the discard port: nothing listens there


@contextlib.contextmanager
def serving(state: Path) -> Iterator[str]:
    """The address of the server, once it is ready."""
    environment = {
        **os.environ,
        "PYTHONWARNINGS": "default",
        "LLM_BASE_URL": NO_MODEL,
        "LLM_MODEL": "down",
        "OMP_NUM_THREADS": "1",
    }
    with (state / "server.log").open("w") as log:
        command = [sys.executable, __file__, str(state)]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, (state / "server.log").read_text()
            yield url
        finally:
            process.terminate()
            process.communicate(timeout=30)


def main(state: Path) -> None:
    """Serve on a free port until terminated."""
    from assistant.web.page import stay_local

    stay_local()
    from filelock import FileLock

    from assistant.advisor import open_advisor
    from assistant.api import serve
    from evals.suite import gate_folder
    from ingest.knowledge_base import open_knowledge
    from knowledge.embedding import load_embedder

    embedder = load_embedder()
    built, own = gate_folder(), state / "knowledge"  # the index that `python -m evals gate` keeps
    if not own.exists():
        with FileLock(built.with_suffix(".lock")):
            open_knowledge(built, embedder).close()
            shutil.copytree(built, own)
    advisor = open_advisor(None, embedder, own)
    os.environ["GPU_ADVISOR_HOME"] = str(state)
    serve("127.0.0.1", 0, lambda: advisor)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
