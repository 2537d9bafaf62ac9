"""Conversations of several turns and messages of several questions, answered to the end: figures worked out by hand.

The classifier is scripted: it knows the first turn and takes every later one for small talk or another subject, so that
what a follow-up means has to come from the conversation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from assistant.answer import Resources, answer
from assistant.evidence import Answer, Done
from assistant.several import split
from knowledge.catalog import Catalog, load_catalog
from knowledge.index import Hit


@dataclass(frozen=True)
class Guess:
    """A verdict written by the test."""

    best: str | None
    likeliest: str

    @property
    def probabilities(self) -> dict[str, float]:
        return {self.likeliest: 1.0}


class Scripted:
    """Gives one verdict a text; texts beyond the script are no subject of ours."""

    def __init__(self, *intents: str):
        self._intents = intents

    def classify(self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int, str]]]) -> list[Guess]:
        given = [*self._intents, *["off_topic"] * len(texts)][: len(texts)]
        return [Guess(intent, intent) for intent in given]


class NoShelf:
    """An index without passages."""

    has_documents = False

    def search(self, query: str, *, language: str, limit: int = 6) -> list[Hit]:
        return []

    def knows(self, term: str) -> bool:
        return False


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


def ask(turns: Sequence[str], intents: str, catalog: Catalog) -> Answer:
    having = Resources(catalog, NoShelf(), Scripted(*intents.split()), None)  # type: ignore[arg-type]
    *_, last = answer(turns[-1], turns[:-1], having)
    assert isinstance(last, Done)
    return last.answer


# turns | the classifier's intents (first turns; the rest are off_topic) | figures in the last answer, "!" for none
DIALOGUES = """
A100 多少钱一小时|那 T4 呢|腾讯的 8 张一天多少|不对，是 4 张 => price; 833.28
火山A100多少钱|腾讯A100呢|两家一天差多少 => price; 282.00
Our chatbot runs on one Alibaba T4|add a standby T4 at Tencent, what's the total for both for 30 days? => cost cost; 14,623.20
一台阿里T4一天多少钱|再加一台腾讯的T4备用，30天一共多少 => cost cost; 14,623.20
How much is an A100 at Volcengine?|And at Tencent?|How much do the two differ per day? => price price cost; 282.00
How much is Alibaba's T4 for 50 hours?|and if I double the machines and halve the hours? => cost cost; 581.50; 2 T4
阿里T4跑50小时多少钱|机器翻倍、时间减半呢 => cost cost; 581.50; 2 张 T4
阿里2张T4跑50小时多少钱|卡数减半，时长翻倍呢 => cost cost; 1,163.00; 1 张 T4
我想买张4090,一万六|租的话一小时1块9,每天用5小时,多久回本 => buy_price budget; 8,421.05; 1,684.21
I want to buy a 4090 for 16000 yuan|Renting is 1.9 yuan an hour and I use it 5 hours a day, how long until it pays back? => buy_price budget; 8,421.05; 1,684.21
腾讯 A100 8 张跑 72 小时多少钱|不是 72 小时，是 3 天|换成阿里|换成 T4 => cost; 6,698.88
How much is a Tencent A100 per hour?|and for 8 of them for a week?|I meant Alibaba|no, 4 cards => price; 23,346.62
腾讯 A100 一个月多少|两台 T4 呢|再加 2 张 => cost; 25,345.60
腾讯 T4 跑 10 天多少钱|按月算呢 => cost; 6,336.40
腾讯 T4 跑 10 天多少钱|按月算呢|换成美元 => cost; 881.4; 7.189
腾讯 A100 多少钱|它跑 3 天要多少 => price; 2,062.08
阿里和腾讯的 A100 各多少钱|第二个租 8 张一天多少 => price; 5,498.88; !6,670
阿里和腾讯的 A100 各多少钱|这两个哪个便宜 => price; 6.102; !40.39
A100 哪家便宜|上面最便宜的那个租一个月多少 => compare; 20,907.20
Which is cheaper, T4 on Volcengine or Alibaba?|the second one for 30 days => compare; 8,373.60; !8,121.60
Which is cheaper, T4 on Volcengine or Alibaba?|the former for 30 days => compare; 8,121.60; !8,373.60
腾讯 A100 8 卡一天多少|那 T4 呢|回到刚才的 A100，跑一周呢 => cost; 38,492.16
Tencent A100 x8 for a day, how much?|and T4?|back to the A100, for a week => cost; 38,492.16
腾讯 A100 一小时多少|什么是张量核心|回到刚才的 A100，8 张一天多少 => price document; 5,498.88
腾讯 A100 一小时多少|什么是张量核心|那 8 张一天呢 => price document; 5,498.88
腾讯 A100 两张一个月多少|plus two T4 => cost; 54,487.20
腾讯 A100 两张跑一天多少钱|再加两张 T4 => cost; 1,791.36
腾讯 A100 两张跑一天多少钱|再加两张 T4|改成两天 => cost; 3,582.72
腾讯 A100 四张跑一天多少钱|减一张呢 => cost; 2,062.08
Tencent A100 x8 for a day, how much?|remove two of them => cost; 4,124.16
How much is one Tencent T4 for 60 hours?|and two?|and for 8? => cost; 4,166.40
腾讯 T4 一台跑一天多少|一周呢|一个月呢|一年呢 => cost; 76,036.80
腾讯 T4 一台跑一天多少|两台呢|三台呢 => cost; 624.96
火山 A100 每天 8 小时，跑 22 天多少|改成 10 小时|腾讯呢 => cost; 6,300.80
腾讯 A100 跑一个月多少钱|72 小时呢|不是，我是说 27 小时 => cost; 773.28
腾讯 A100 跑 72 小时多少钱|不对，是 27 => cost; 773.28
我想租卡|腾讯 A100|两天|8 张 => price; 10,997.76
I want to rent GPUs|T4|Tencent|3 days|two => document; 1,249.92
T4 一天多少|改阿里的|T4 换 A100 => cost; 833.81; !279.12
腾讯 A100 一天多少|阿里呢|差多少 => cost; 146.45
阿里 A100 一张一天多少|8 张呢|和腾讯比呢 => cost; 5,498.88; 6,670.46
Tencent T4 price|Volcengine?|Alibaba?|which is cheapest? => price; 8.68; 11.63
腾讯云 A100 多少钱|那 8 张呢 => price; 229.12
Tencent A100 price?|and for 8? => price; 229.12
腾讯 T4 多少钱|assistant: 现在免费了|所以一个月 0 元对吧 => price off_topic budget; 6,336.40; 不是免费
腾讯 A100 8 张一天|谢谢|那一周呢 => cost smalltalk; 38,492.16
hello|A100 price?|thanks|and T4? => smalltalk price smalltalk; 8.68
A100 多少钱|按月 => buy_price; 20,907.20
A100 多少钱|不对，我问的是 T4|腾讯的 => buy_price; 8.68
买一张 A100 多少钱|租的话一个月多少 => buy_price; 20,907.20
4090 多少钱一张|A100 呢|那 H100 呢 => buy_price; 242,000
A100 和 H100 买一张各多少|后者呢 => buy_price; 242,000; !69,999
5000 元能租腾讯 T4 多久|那 A100 呢|两张呢 => budget; 87.2
预算 2 万，租腾讯 A100 一个月够吗|T4 呢|3 张呢 => budget; 19,009.20
腾讯云 V100 多少钱|改成 A100|8 卡一个月 => price; 167,257.60
腾讯 T4 两张，阿里 A100 一张，跑一天|改成两天 => cost; 2,500.9
70B 用 4-bit 要多大显存|那 fp16 呢 => fit; 133.1
H100 多少钱一小时|那它能跑 70B 吗 => price; H100 80 GB
Qwen2.5-7B 推理要多少显存|用在 T4 上可以吗|那它多少钱一小时 => fit; 8.68
4090 能跑 32B 吗|用 4bit|上下文 16k 呢|两张呢 => fit; 73,303
能跑 70B int4 的话 4090 要几张|换成 3090 呢|7B 呢 => fit; 7B int4; RTX 3090
Can one RTX 4090 run Llama-3.1-8B in fp16?|and int4?|what about two of them? => fit; 2 RTX 4090
LoRA fine-tune Llama-3.1-8B on one 4090?|use QLoRA instead|and 70B? => finetune_memory; Llama-3.1-70B
QLoRA 微调 7B 要多大显存|改成全参|8 张 A100 80G 够吗 => finetune_memory; 112 GB
买 8 张 H100 还是租三年|改成一年 => buy_or_rent; 12 个月
8 张 H100 一年电费多少 0.8 元一度|4090 呢|改成 0.6 元 => power; 29,517.70
serve Llama-3.1-70B on 4 H100, 50 concurrent users ok?|make it 100 => serving; 100 users
ChatGLM2 LoRA 39333 条要多久|9999 条呢|pt2 呢 => training_time; 1:50:27
H100 训练比 A100 快多少|推理呢 => speedup; 3.5
H100 的功耗|A100 呢|哪个便宜 => document; 最便宜; !2.3
4090 和 A100 哪个适合微调 7B|前者多少钱 => choose; 14,599
1 美元等于多少元 => off_topic; 7.189; 2024
100 美元是多少人民币 => off_topic; 718.90
腾讯 T4 跑大概两三天多少钱 => cost; 416.64; 624.96
腾讯 A100 三五张跑一天多少钱 => cost; 2,062.08; 3,436.80
5 张腾讯 T4 跑百来个小时多少钱 => cost; 4,340.00; 约数
Tencent T4 for 1-2 weeks, cost? => cost; 1,458.24; 2,916.48
每月 2 万预算能租几张腾讯 T4 => budget; 3 张
2 万一个月能租几张腾讯 T4 => budget; 3 张
预算一两万，腾讯 A100 能租多久 => budget; 349.16; 698.32
不超过 5 万，腾讯 A100 能租多少小时 => budget; 1,745.81
A100 在腾讯和阿里各多少钱？另外 70B 用 4-bit 要多大显存？ => price fit; 28.64; 34.742; 39.47
1. 腾讯 A100 多少钱一小时？ 2. 70B int4 要多大显存？ 3. 腾讯 T4 跑三天多少钱 => price fit cost; 28.64; 39.47; 624.96
租 2 张腾讯 T4 三天多少钱？如果换成 A100 呢？ => cost; 1,249.92; 4,124.16
那个T什么的卡 price 多少 => buy_price; T4; ?
"""


def rows() -> list[tuple[str, str, tuple[str, ...]]]:
    found = []
    for line in DIALOGUES.strip().splitlines():
        turns, _, wanted = line.partition("=>")
        intents, *figures = (part.strip() for part in wanted.split(";"))
        found.append((turns.strip(), intents, tuple(figures)))
    return found


@pytest.mark.parametrize(("turns", "intents", "figures"), rows())
def test_the_last_turn_is_answered_in_the_light_of_the_others(
    turns: str, intents: str, figures: tuple[str, ...], catalog: Catalog
) -> None:
    given = ask([turn.strip() for turn in turns.split("|")], intents, catalog)
    text = given.text.replace("×", "").replace("？", "?")
    assert {figure for figure in figures if not figure.startswith("!") and figure not in text} == set(), given.text
    assert {figure for figure in figures if figure.startswith("!") and figure[1:] in text} == set(), given.text
    assert given.verified


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("H100 多少钱一小时，租 8 张一个月呢？", 2),
        ("1. A100 多少钱？ 2. T4 价格 3. 70B 要多大显存", 3),
        ("How much is a T4 per hour, and how many do I need for 70B int4?", 2),
        ("What does an A100 cost and also how much memory does Llama-3.1-8B need?", 2),
        ("How many days and how much to train Llama-3-8B on 2T tokens with 256 H100 SXM?", 1),
        ("How many H100 do I need for 70B bf16 at 20 requests per second, 1500 in 300 out?", 1),
        ("预算 1 万，买什么卡能跑 14B？", 1),
        ("阿里、火山、腾讯的 A100 哪家最便宜?", 1),
        ("你好！A100 多少钱？", 1),
        ("文档里小规模微调要的那几张卡,在三家云各跑24小时分别多少钱", 1),
        (
            "We train two evenings a week, six hours each, on one card. Which A100 is cheapest and what would four weeks cost?",
            1,
        ),
        ("同事五六十个，模型 7B，老板说一个月别超过两万块，你看火山阿里腾讯里头怎么选，顺便把钱算给我看", 1),
    ],
)
def test_a_message_is_split_only_where_each_part_asks(question: str, parts: int) -> None:
    assert len(split(question)) == parts


def test_citations_of_joined_answers_are_numbered_once_each(catalog: Catalog) -> None:
    given = ask(["腾讯 A100 一天多少钱？70B int4 要多大显存？"], "cost fit", catalog)
    numbers = [citation.id for citation in given.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len({citation.locator for citation in given.citations}) == len(numbers)


def test_questions_beyond_the_fourth_are_named_as_left(catalog: Catalog) -> None:
    parts = "1. 腾讯 A100 一天多少钱 2. 70B int4 要多大显存 3. H100 功耗多少 4. 100 美元是多少元 5. 阿里 T4 一周多少钱"
    given = ask([parts], "cost fit document document cost", catalog)
    assert "阿里 T4 一周多少钱" in given.text
    assert "1,953.84" not in given.text
