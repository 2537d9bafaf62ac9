"""What the readers of page_load.py ask: sums that code decides, whose results are known and no other reader's."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

NEAR = Decimal("0.001")  # a total is printed rounded
# A number that is the name of a card too is read as one: "4090 V100 cards" asks about two cards.
CARD_NAME = re.compile(r"[1-6]0[5-9]0|16[5-8]0|[4-6]000")
AWAY = 20_000  # more than any reader's number
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Yuan per hour of one card, as knowledge/tables/offers.csv has them.
RATES = {
    ("腾讯云", "Tencent Cloud", "A100"): Decimal("28.64"), ("腾讯云", "Tencent Cloud", "T4"): Decimal("8.68"),
    ("阿里云", "Alibaba Cloud", "A100"): Decimal("34.742"), ("阿里云", "Alibaba Cloud", "T4"): Decimal("11.63"),
    ("火山引擎", "Volcengine", "A100"): Decimal("40.39"), ("火山引擎", "Volcengine", "T4"): Decimal("11.28"),
}  # fmt: skip
PRICES_TO_BUY = {"V100": 42999, "A10": 18999}  # purchases.csv


@dataclass(frozen=True)
class Asked:
    """A question, and what its answer must hold: a figure near `total`, None where only the question is compared."""

    text: str
    total: Decimal | None


@dataclass
class Reader:
    """One who asks: the number makes every sum this reader's own.

    A conversation is about one thing: some rents, each with other cards and hours, or a single other question.
    """

    number: int
    language: Literal["zh", "en"]
    name: str
    asked: int = 0
    conversation: int = 0
    rents_left: int = 0
    rented: tuple[int, Decimal] = (1, Decimal(0))

    @property
    def thread(self) -> str:
        """The conversation that the last question belongs to."""
        return f"{self.name}-{self.conversation}"

    def question(self) -> Asked:
        """The next question of this reader; no two of all readers have the same result."""
        self.asked += 1
        draw = random.Random(f"{self.number} {self.asked}")
        if self.rents_left:
            self.rents_left -= 1
            return self._follow_up() if draw.random() < 0.5 else self._rent(draw)
        self.conversation += 1
        if draw.random() < 0.4:
            self.rents_left = draw.randint(1, 3)
            return self._rent(draw)
        return draw.choice((self._budget, self._purchase, self._kv_cache, self._fit))(draw)

    def _own(self) -> int:
        """A number that no other reader and no other question of this one has."""
        own = 11 + self.number + 97 * self.asked
        said = (own, 1000 + own, 5000 + 10 * own)
        return own + AWAY if any(CARD_NAME.fullmatch(str(each)) for each in said) else own

    def _rent(self, draw: random.Random) -> Asked:
        (zh, en, card), rate = draw.choice(list(RATES.items()))
        cards, hours = draw.randint(2, 8), self._own()
        self.rented = cards, rate
        text = {
            "zh": f"{zh}租 {cards} 张 {card} 跑 {hours:,} 小时多少钱？",
            "en": f"How much do {cards} {card}s cost for {hours:,} hours at {en}?",
        }
        return Asked(text[self.language], cards * hours * rate)

    def _follow_up(self) -> Asked:
        (cards, rate), hours = self.rented, self._own()
        text = {"zh": f"那跑 {hours:,} 小时呢？", "en": f"And for {hours:,} hours?"}
        return Asked(text[self.language], cards * hours * rate)

    def _budget(self, draw: random.Random) -> Asked:
        (zh, en, card), rate = draw.choice(list(RATES.items()))
        money = 5000 + 10 * self._own()
        text = {
            "zh": f"{money} 元能租{zh}的一张 {card} 多少小时？",
            "en": f"How many hours of {'an' if en[0] == 'A' else 'a'} {en.removesuffix(' Cloud')} {card} do {money:,} yuan buy?",
        }
        return Asked(text[self.language], money / rate)

    def _purchase(self, draw: random.Random) -> Asked:
        card, price = draw.choice(list(PRICES_TO_BUY.items()))
        cards = self._own()
        text = {
            "zh": f"{cards} 张 {card} 的购买总价是多少元？",
            "en": f"Total purchase price of {cards} {card} cards in yuan?",
        }
        return Asked(text[self.language], Decimal(cards * price))

    def _kv_cache(self, _: random.Random) -> Asked:
        tokens = 1000 + self._own()
        text = {
            "zh": f"Qwen2.5-72B 在 {tokens} token 时 fp16 的 KV cache 有多大？",
            "en": f"KV cache of Qwen2.5-72B at {tokens} tokens in fp16?",
        }
        return Asked(text[self.language], None)

    def _fit(self, draw: random.Random) -> Asked:
        model = draw.choice(("Llama-2-13B", "Qwen2.5-7B", "Qwen2.5-14B"))
        text = {
            "zh": f"一张 24 GB 的 4090 用 fp16 跑 {model}、上下文 {1000 + self._own()} token，放得下吗？",
            "en": f"Does {model} in fp16 with a context of {1000 + self._own()} tokens fit on one 24 GB RTX 4090?",
        }
        return Asked(text[self.language], None)


def fault_of(asked: Asked, echoed: str, said: str) -> Literal["", "cross-talk"]:
    """Whether an answer is that of another question: its question, or no figure near the total that was asked for."""
    if " ".join(echoed.split()) != asked.text:
        return "cross-talk"
    if asked.total is None:
        return ""
    figures = (Decimal(found.replace(",", "")) for found in NUMBER.findall(said))
    return "" if any(abs(figure - asked.total) <= asked.total * NEAR for figure in figures) else "cross-talk"
