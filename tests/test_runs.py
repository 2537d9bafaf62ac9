"""The measured fine-tuning runs: what is asked of them stands first, and nothing is said that they cannot tell."""

from __future__ import annotations

import pytest
from test_answer import run


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("哪次训练最快", ["最快的是 ChatGLM2 LoRA 9,999 条：1:29:08"]),
        ("Which of the ChatGLM runs was the slowest?", ["Slowest: ChatGLM2 pt2, 39,333 rows, 7:26:25"]),
        ("八次训练一共花了多少小时", ["一共 32:10:36", "32.18 小时"]),
        ("How long do all eight runs together take?", ["32:10:36 in all"]),
        ("lora和pt2哪个快", ["每一组都是 LoRA 更快", "0:11:41", "1:05:05", "0:21:19", "1:41:17"]),
        ("lora or pt2, which is faster?", ["LoRA is faster in every comparison", "22.69 %"]),
        ("chatglm和chatglm2 lora 训练差多少时间", ["要看是哪一组", "0:01:57", "0:04:52"]),
        ("从9999条到39333条时间是几倍", ["3.94 倍", "3.74 倍", "4.04 倍", "3.87 倍"]),
        ("How many times longer is 39333 rows than 9999 rows for chatglm2 lora?", ["3.87x as long"]),
        ("chatglm lora 一条数据要几秒", ["0.5466 秒", "0.5191 秒"]),
        ("How many seconds per row for ChatGLM2 LoRA on 9999 rows?", ["0.5349 s per row"]),
        (
            "按文章那个表,4090上chatglm pt2一小时能过多少条数据",
            ["5,838 条", "5,822 条"],
        ),  # 9,999 ÷ 1.71278 h, 39,333 ÷ 6.75583 h
        (
            "how many rows an hour does a 4090 get through with chatglm pt2?",
            ["5,838 rows per hour", "5,822 rows per hour"],
        ),
        ("chatglm2 lora 每小时处理几条", ["6,731 条", "6,838 条"]),
    ],
)
def test_answer_opens_with_what_was_asked_and_every_figure_traces(question: str, words: list[str]) -> None:
    _, result = run(question, "training_time")
    assert [word for word in words if word not in result.text] == [], result.text
    assert (result.status, result.verified) == ("answered", True), result.text
    assert words[0] in result.text.splitlines()[0]


@pytest.mark.parametrize("question", ["chatglm2 pt2 50 条要多久", "chatglm2 pt2 20 rows how long?"])
def test_too_few_rows_for_the_line_are_said_so_without_an_inner_error(question: str) -> None:
    _, result = run(question, "training_time")
    assert (result.status, result.verified) == ("not_in_knowledge", True), result.text
    assert "run_estimate" not in result.text
    assert ("推算不出" in result.text) != ("no estimate" in result.text)


@pytest.mark.parametrize(
    "question",
    [
        "How much faster is LoRA than pt2 on ChatGLM2?",
        "chatglm2 lora 9999条要花多少时间",
        "chatglm2 lora 比 pt2 少花多少",
    ],
)
def test_how_much_time_is_no_question_of_money(question: str) -> None:
    _, result = run(question, "training_time")
    assert (result.status, result.verified) == ("answered", True), result.text


@pytest.mark.parametrize(
    "question", ["chatglm2 lora 39333条训练要花多少钱", "What does fine-tuning ChatGLM2 with LoRA on 20000 rows cost?"]
)
def test_cost_without_a_price_asks_for_the_price_first(question: str) -> None:
    _, result = run(question, "training_time")
    assert (result.status, result.verified) == ("needs_detail", True), result.text
    assert "4090" in result.text.splitlines()[0]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("ChatGLM3 lora 9999条要多久", "没有 ChatGLM3 的训练时长"),
        ("Falcon 40B lora 9999 rows training time", "No training time is known for Falcon-40B"),
        ("Qwen lora 9999 rows training time", "No training time is known for Qwen"),
        ("A100 上 chatglm2 lora 9999 条要多久", "没有 A100 上的训练时长"),
    ],
)
def test_model_that_was_not_run_is_called_a_model_and_a_card_a_card(question: str, words: str) -> None:
    _, result = run(question, "training_time")
    assert (result.status, result.verified, words in result.text) == ("not_in_knowledge", True, True), result.text
    assert "1:29:08" not in result.text


@pytest.mark.parametrize(
    ("question", "start", "words"),
    [
        ("手里的4090够LoRA微调ChatGLM2吗,还是要租A100", "**够", ["1:29:08", "没有 A100 上的训练时长"]),
        ("Is my RTX 4090 ok for LoRA on ChatGLM2 or should I rent an A100?", "**Yes", ["1:29:08", "No training time is known for A100"]),
    ],
)  # fmt: skip
def test_the_measured_card_is_enough_whatever_other_card_is_named(question: str, start: str, words: list[str]) -> None:
    _, result = run(question, "training_time")
    assert (result.status, result.verified) == ("answered", True), result.text
    assert result.text.startswith(start)
    assert [word for word in words if word not in result.text] == [], result.text


def test_a_card_without_runs_alone_has_no_time() -> None:
    _, result = run("ChatGLM2 LoRA 在 A100 上要多久", "training_time")
    assert result.status == "not_in_knowledge"


@pytest.mark.parametrize(
    ("turns", "time"),
    [
        (("How long did the ChatGLM2 pt2 run on 39,333 rows take?", "and plain ChatGLM with lora on 9999?"), "1:31:05"),
        (("ChatGLM2 pt2 39333条跑了多久", "那 ChatGLM lora 9999呢"), "1:31:05"),
        (("ChatGLM lora 9999 条多久", "那 39333 呢"), "5:40:16"),
    ],
)
def test_a_bare_number_of_a_measured_run_is_its_rows(turns: tuple[str, str], time: str) -> None:
    _, result = run(turns[1], "training_time", turns[0])
    assert time in result.text.splitlines()[0], result.text
    assert result.verified
