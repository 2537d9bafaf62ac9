"""inspect-ai as the engine, in a process of its own: it warns on import and patches the event loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, socket, sys
from pathlib import Path

def refuse(*arguments, **named):
    raise OSError("no network in this test")

socket.getaddrinfo = refuse
from assistant.evidence import Answer, Timings
from evals.answer_cases import AnswerCase, Checks
from evals.comparison import compare
from evals.engine import Settled, answer_task, run_tasks, settled_task
from evals.outcomes import Outcome, ask_advisor
from evals.records import read_records, records_of

class Advisor:
    def answer(self, question, turns=()):
        if question == "crash":
            raise IndexError("boom")
        return Answer(question=question, language="en", status="answered", text=question, verified=True,
                      timings_ms=Timings(understand=1, first_event=2, total=3))

checks = Checks(status=("answered",), all_of=(("kaggle",),))
cases = [AnswerCase(id=q, category="c", lang="en", question=q, turns=("before",), checks=checks) for q in ("kaggle", "colab", "crash")]
cases.append(AnswerCase(id="judged", category="c", lang="en", question="kaggle", checks=None, judge="is it kind?"))
lines = []
folder = Path(sys.argv[1])
task = answer_task("answers", cases, lambda case: ask_advisor(Advisor(), case), lines.append)
logs = run_tasks([task, settled_task("intents", [Settled("i", "q", "price", "cost", False, "price", "en"), Settled("j", "q", "-", "-", None, "price", "en")])], folder)
read = read_records(folder)
assert read == records_of(logs)
print(json.dumps({
    "right": {r.case.id: r.right for r in read},
    "wrong": {r.case.id: list(r.wrong["right"] or ()) for r in read},
    "tool": [r.wrong["tool"] for r in read],
    "turns": [list(r.case.turns) for r in read][0],
    "progress": len(lines),
    "scores": {log.eval.task: [(s.name, s.scored_samples, s.unscored_samples, s.metrics["accuracy"].value) for s in log.results.scores if s.name == "right"] for log in logs},
    "messages": len(logs[0].samples[0].messages),
    "same": "Newly wrong: 0" in compare(read, read),
}))
"""


def test_cases_run_are_scored_and_read_back_from_their_logs(tmp_path: Path) -> None:
    import json

    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "logs")],
        capture_output=True, text=True, timeout=300, cwd=Path(__file__).parent.parent,
        env={**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()  # the terminal is not taken over
    found = json.loads(line)
    assert found["right"] == {"kaggle": True, "colab": False, "crash": False, "judged": None}
    assert found["wrong"]["colab"] == ["lacks kaggle"]
    assert "boom" in found["wrong"]["crash"][0]
    assert found["tool"] == [None] * 4
    assert found["turns"] == ["before"]
    assert found["progress"] == 2
    assert found["scores"]["answers"] == [["right", 3, 1, 1 / 3]]
    assert found["scores"]["intents"] == [["right", 1, 1, 0.0]]
    assert found["same"]
    assert list((tmp_path / "logs").glob("*.eval"))
