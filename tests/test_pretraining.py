"""Days, GPU-hours and money of a training run: by 6 x parameters x tokens over peak x MFU, done here by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_answer import run

A100, H100_SXM, RTX_4090 = 312e12, 989e12, 165.2e12  # dense BF16 operations a second


def gpu_hours(parameters: float, tokens: float, peak: float, mfu: float) -> float:
    return 6 * parameters * tokens / (peak * mfu) / 3600


def ask(question: str, *turns: str, intent: str = "train_cost") -> str:
    _, answer = run(question, intent, *turns)
    assert (answer.status, answer.verified) == ("answered", True), answer.text
    return answer.text


def test_pretraining_gives_days_hours_money_and_the_range_of_mfu() -> None:
    text = ask("8 张 A100 训 7B 1T token 要几天多少钱")
    hours = gpu_hours(7e9, 1e12, A100, 0.4)
    head = text.splitlines()[0]
    assert f"约 {hours / 8 / 24:,.0f} 天，{hours:,.0f} 卡时" in head
    assert f"{round(hours * 28.64 / 1000):,}," in head  # Tencent's row, to the thousand
    assert f"| {gpu_hours(7e9, 1e12, A100, 0.5):,.0f} |" in text
    assert f"| {gpu_hours(7e9, 1e12, A100, 0.25):,.0f} |" in text
    assert "kWh" in text


def test_each_form_of_a_card_with_its_own_peak_is_answered() -> None:
    text = ask("cost to pretrain 13B on 300B tokens with 64 H100")
    hours = gpu_hours(13e9, 300e9, H100_SXM, 0.4)
    assert f"about {hours / 64 / 24:.1f} days, {hours:,.0f} GPU-hours" in text.splitlines()[0]
    assert [form for form in ("H100 SXM5 80GB", "H100 PCIe 80GB") if form not in text] == []


def test_rows_tokens_and_epochs_make_the_tokens_of_fine_tuning() -> None:
    text = ask("用 4 张 4090 LoRA 微调 Qwen2.5-7B,5 万条数据每条 800 token,3 个 epoch 要多久多少钱")
    hours = gpu_hours(7.616e9, 50_000 * 800 * 3, RTX_4090, 0.4)
    assert f"约 {hours / 4:.2f} 小时，{hours:.1f} 卡时" in text.splitlines()[0]
    assert "三分之一" in text  # what LoRA saves is said, not deducted


def test_own_price_and_own_mfu_replace_the_defaults() -> None:
    text = ask(
        "How many days and how much to train Llama-3-8B on 2T tokens with 256 H100 SXM at 45% MFU, $3 per GPU hour?"
    )
    hours = gpu_hours(8.03e9, 2e12, H100_SXM, 0.45)
    assert f"about {hours / 256 / 24:.2f} days, {hours:,.0f} GPU-hours" in text.splitlines()[0]
    assert f"{round(hours * 3 / 1000):,}," in text.splitlines()[0]
    assert "usual range" not in text


def test_measured_rate_needs_no_model() -> None:
    text = ask("每卡 3000 token/s,16 张 H100 训 100B token,一小时 2 美元,要多少钱")
    hours = 100e9 / 3000 / 3600
    assert f"{hours:,.0f} 卡时，{hours * 2:,.2f} 美元" in text.splitlines()[0]


def test_what_was_not_said_is_named() -> None:
    text = ask("预训练一个 7B 要多少钱")
    assert "140B tokens（Chinchilla" in text  # 20 tokens per parameter
    assert "没说卡数，按 8 张" in text


def test_trillions_are_written_out() -> None:
    assert "（1 万亿 tokens）" in ask("8 张 A100 训 7B 1T token 要几天多少钱")
    assert "(2 trillion tokens)" in ask("How long to train Llama-3-8B on 2T tokens with 256 H100?")


def test_mixture_counts_active_parameters() -> None:
    text = ask("32 张 H800 训练 DeepSeek-V3 14.8T token 多久")
    assert f"{gpu_hours(37.552e9, 14.8e12, H100_SXM, 0.4) / 1000:,.0f}," in text.split("\n\n")[0]
    assert "MoE" in text


def test_cards_that_cannot_hold_the_training_are_called_so() -> None:
    assert "放不下" in ask("在 T4 上微调 7B 一万条要多久")


def test_measured_chatglm_runs_keep_their_questions() -> None:
    _, answer = run("4090 上微调 ChatGLM2 9999 条要多久", "train_cost")
    assert "1:29:08" in answer.text
    assert answer.verified


def test_measured_rows_of_another_model_say_first_that_nothing_was_measured() -> None:
    _, answer = run("Falcon 40B lora 9999 rows training time", "train_cost")
    assert (answer.status, answer.verified) == ("not_in_knowledge", True)
    assert answer.text.startswith("No training time is known for Falcon-40B")
    assert f"{gpu_hours(41.303e9, 9999 * 512 * 3, A100, 0.3):.1f} GPU-hours" in answer.text


def test_no_model_and_no_rate_asks_back() -> None:
    _, answer = run("8 张 A100 训练要几天", "train_cost")
    assert answer.status == "needs_detail"


@pytest.mark.parametrize(
    "question", ["RTX 6090 上训 7B 1T token 要几天", "How long on an RTX 6090 for 7B and 1T tokens of training?"]
)
def test_card_without_a_row_gets_no_time(question: str) -> None:
    _, answer = run(question, "train_cost")
    assert answer.status == "not_in_knowledge"


@settings(max_examples=40, deadline=None)
@given(
    size=st.sampled_from(["0.5B", "7B", "70B", "Llama-3-8B", "Mixtral-8x7B"]), cards=st.sampled_from(["一张", "8 张", "512 张", ""]),
    card=st.sampled_from(["A100", "4090", "H200", "V100", "L40S", ""]), data=st.sampled_from(["2T token", "300B token", "一万条数据", ""]),
)  # fmt: skip
def test_any_combination_is_answered_and_traced(size: str, cards: str, card: str, data: str) -> None:
    assert "卡时" in ask(f"{cards if card else ''}{card} 训练 {size} {data} 要多少钱，要几天")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("用 A100 30 天内训练完 7B 模型 1T token 要多少张卡", "30 天训练完 7B"),
        ("How many A100s to train a 7B model on 1T tokens in 30 days?", "within 30 days"),
    ],
)
def test_a_deadline_gives_the_number_of_cards(question: str, said: str) -> None:
    head = ask(question).splitlines()[0]
    needed = [
        math.ceil(gpu_hours(7e9, 1e12, A100, mfu) / (30 * 24)) for mfu in (0.4, 0.5, 0.25)
    ]  # usual, best and worst share of the peak: 130, 104, 208
    assert needed == [130, 104, 208]
    assert [each for each in (said, f"{needed[0]} × A100", f"{needed[1]}–{needed[2]}") if each not in head] == []


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("10 万元够不够在 8 张 A100 上训练 7B 模型 100B token", "不够，差 167,735"),
        ("30 万元够不够在 8 张 A100 上训练 7B 模型 100B token", "刚够，剩 32,264.96"),
        ("Is 500,000 yuan enough to train a 7B model on 100B tokens on 8 A100s?", "is enough, 232,264.96"),
    ],
)
def test_a_budget_is_judged_with_what_is_left_or_missing(question: str, verdict: str) -> None:
    # Tencent's 28.64 yuan: 6 x 7e9 x 100e9 / (312e12 x 0.4) / 3600 = 9,348.3 GPU-hours = 267,735 yuan; at 25 % 428,376
    assert verdict in ask(question).split("\n\n")[0]


def test_a_run_that_does_not_fit_leads_with_its_memory() -> None:
    head = ask("一张 4090 全参微调 7B，1 万条数据要多久").splitlines()[0]
    assert "放不下" in head


TOKENS = [  # question, tokens worked out by hand, in thousand millions, as printed
    ("i have a grant for 5,000 h100 gpu hours. at .4 mfu how many tokens can a 13b see", f"{5000 * 3600 * H100_SXM * 0.4 / (6 * 13e9) / 1e9:.2f}B"),
    ("手上有一万 A100 卡时,训 7B 能训多少 token", f"{10_000 * 3600 * A100 * 0.4 / (6 * 7e9) / 1e9:.2f}B"),
    ("8张H100训一周,7B能训多少token", f"{8 * 168 * 3600 * H100_SXM * 0.4 / (6 * 7e9) / 1e9:.2f}B"),
    ("How many tokens can I train Llama-3-8B on with 20k A100 hours at 45% MFU?", f"{20_000 * 3600 * A100 * 0.45 / (6 * 8.03e9) / 1e9:.2f}B"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "tokens"), TOKENS)
@pytest.mark.parametrize("guess", ["fit", "train_cost", "document"])
def test_gpu_hours_on_hand_give_tokens(question: str, tokens: str, guess: str) -> None:
    assert f"{tokens} tokens" in ask(question, intent=guess).splitlines()[0]


def test_tokens_a_second_are_no_training_set() -> None:
    _, answer = run("7B 在 A100 上每秒多少 token", "serving")
    assert "tokens_trained" not in {call.tool for call in answer.calls}
