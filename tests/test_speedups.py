"""A job's time on the other card held against a time to be done by: 2.3 and 3.5 times as fast, article 1."""

from __future__ import annotations

import pytest
from test_answer import run

DEADLINES = [  # earlier turns, question, how the answer begins, the hours on the other card
    (("Our fp16 fine-tuning run on an A100 took 46 hours.",), "would switching to an h100 get it done inside one day?", "**Yes", "20 hours"),
    (("我们在A100上训练花了46个小时",), "换成H100能压到一天内吗", "**能", "20 小时"),
    ((), "A100上微调跑了60小时,换H100一天之内能跑完吗", "**不能", "26.09 小时"),
    ((), "training takes 30 hours on an A100, can an H100 do it in under 10 hours?", "**No", "13.04 hours"),
    ((), "在H100上训练要20小时,A100两天内能训完吗", "**能", "46 小时"),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "question", "verdict", "hours"), DEADLINES)
@pytest.mark.parametrize("guess", ["speedup", "training_time", "document"])
def test_a_deadline_is_judged_and_is_no_second_job(
    turns: tuple[str, ...], question: str, verdict: str, hours: str, guess: str
) -> None:
    _, result = run(question, guess, *turns)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert result.text.startswith(verdict)
    assert hours in result.text.splitlines()[0]
    assert "10.43" not in result.text  # the day moved across as if it were a job


@pytest.mark.parametrize(
    ("turn", "question", "words"),
    [
        ("A100上16bit训练46小时的活,换H100要多久", "那反过来,H100上跑10小时的16bit推理任务,挪到A100上要多久", "10 × 3.5"),
        ("a training job takes 23 hours on an A100, how long on an H100?", "and an inference job of 10 hours on the H100, moved to an A100?", "10 × 3.5"),
        ("H100 上训练 20 小时的活，换 A100 要多久", "那 A100 上训练 46 小时的，挪到 H100 呢", "46 ÷ 2.3"),
    ],
)  # fmt: skip
def test_another_job_the_other_way_round_is_moved_from_its_own_card(turn: str, question: str, words: str) -> None:
    _, result = run(question, "speedup", turn)
    assert (result.status, result.verified) == ("answered", True), result.text
    assert words in result.text.splitlines()[0], result.text
    assert ("÷" in words) == ("÷" in result.text)  # the turn before is not answered again


def test_two_times_without_a_deadline_are_two_jobs() -> None:
    _, result = run("A100 上训 23 小时和 46 小时的两个任务，换 H100 各多久", "speedup")
    assert "10 小时" in result.text
    assert "20 小时" in result.text
