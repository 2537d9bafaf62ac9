"""Asks back what is meant: which card, where the words only hint at one ("那个T什么的卡"), and what a question that says
nothing but its question word is about ("够吗", "how long will it take?").

One question with choices in it; it answers nothing else and takes no card for granted.
"""

from __future__ import annotations

import re
from dataclasses import replace

from assistant import price_gaps, render
from assistant.aspects import content_words
from assistant.definitions import asks_what_it_is
from assistant.evidence import Bilingual, Finding
from assistant.ledger import Ledger
from assistant.reading import Slots, read, without
from assistant.references import UNRELATED
from assistant.understand import Request
from assistant.workload import Workload
from knowledge.names import normalise

MOST_CHOICES = 6
SPEECHLESS = UNRELATED | {"document", "price", "cost"}
HINTED = re.compile(
    r"(?<![A-Za-z0-9])(?P<letter>[A-Za-z])\d?(?:\s*(?:什么|啥|几几?|多少来着|某)|[- ]?(?:something|whatever|what'?s[- ]it))(?!\s*[a-z]{4,})",
    re.I,
)
CHINESE_CARD = re.compile(r"国产(?:的)?(?:显?卡|gpu|加速卡|芯片)|(?:chinese|domestic) (?:gpu|card|accelerator)", re.I)
ASKS = re.compile(r"多少|价|租|买|显存|几|能|贵|便宜|price|cost|how much|rent|buy|memory|fit", re.I)
CHINESE_VENDORS = frozenset(
    {"Huawei", "Cambricon", "Hygon", "Moore Threads", "Biren", "Iluvatar", "MetaX", "Enflame", "Kunlunxin"}
)
# A whole message that only asks: nothing in it says about what. In the order of the choices that it is asked back with.
BARE = tuple((re.compile(rf"(?:{zh})|(?:{en})", re.I), back) for zh, en, back in (
    (r"(?:这样|这个|那个|它|这些|一张)?(?:还|真的|到底)?(?:够不够|够用?|行不行|行|放得下|装得下|跑得动|能跑|能行|能不能跑|可以)(?:了|用)?",
     r"(?:is|will|would) (?:it|this|that|one|they|that one) (?:be )?(?:really )?(?:enough|sufficient|ok|okay|fit|work|do)|(?:does|will|would|can) (?:it|this|that) (?:really )?(?:fit|run|work|be enough)|(?:it|this|that) (?:is|will be|would be) (?:really )?enough|enough",
     Bilingual(zh="什么够不够？请说两样：用哪张卡、几张（例如 RTX 4090、A100），以及要做什么：运行、微调还是训练哪个模型。预算够不够的话，请说金额和要租的卡。",
               en="Is what enough for what? Please tell me two things: which card and how many (such as an RTX 4090 or an A100), and what for: running, fine-tuning or training which model. Or, for a budget, the amount and the card to rent.")),
    (r"(?:这个?|那个?|它)?(?:大概|大约|总共|一共)?(?:需要|得|要|花|跑|训)*(?:多久|多长时间|多少(?:时间|小时|天)|几天|几个?小时)",
     r"how long (?:will|would|does|is|should) (?:it|this|that|they)(?: (?:take|be|need|going to take))?|how long|how (?:much|many) (?:time|hours|days)(?: (?:will|does|would) (?:it|this|that) (?:take|need))?",
     Bilingual(zh="什么事要多久？请告诉我是微调、训练还是推理，用哪个模型、多少条数据（或多少 token）、哪张卡、几张。",
               en="How long will what take? Please tell me whether it is fine-tuning, training or serving, and which model, how many rows (or tokens), which card and how many.")),
    (r"(?:[这那](?:一?[张款个块])?(?:显?卡|gpu)?|它)?(?:大概|大约|总共|一共)?(?:需要|要|得|卖|花)*(?:算)?(?:多少钱|什么价格?|啥价格?|价格|几块钱?|几多钱|(?:[很太]?贵不贵|很?贵))",
     r"(?:and )?how much(?: (?:is|does|will|would) (?:it|(?:this|that)(?: (?:card|gpu|one))?|one)(?: (?:cost|be))?)?|what(?:'s| is) the (?:price|cost)|what (?:does|will|would) (?:it|(?:this|that)(?: (?:card|gpu|one))?) cost|(?:price|cost)|is (?:it|(?:this|that)(?: (?:card|gpu|one))?) (?:really |so |very )?(?:expensive|dear|pricey|cheap)",
     Bilingual(zh="什么的价格？请告诉我是哪款 GPU（例如 T4、A100、RTX 4090），租还是买；租的话再说哪家云、几张、多久。",
               en="The price of what? Please tell me which card (such as a T4, an A100 or an RTX 4090), and whether to rent or to buy it; if to rent, also which cloud, how many and for how long.")),
    (r"(?:这|那)[个家款张种](?:是不是|会不会|真的?|是否)?(?:更|比较)?(?:便宜|贵|快|好|划算|省)|(?:它|这样)(?:是不是|会不会|真的?|是否)?(?:更|比较)?(?:便宜|快|好|划算|省)",
     r"(?:is|are|was|would) (?:it|this|that|they|these|those|this one|that one|the other(?: one)?)(?: be)?(?: really| any| actually)? (?:cheaper|dearer|faster|better|bigger|worth it|a good (?:deal|price|choice))(?: then)?",
     Bilingual(zh="你说的是哪一个、和哪一个比？请告诉我是哪些卡（例如 T4 和 A100）或哪几家云，以及比什么：价格、速度还是显存。",
               en="Which one do you mean, and compared with which? Please tell me the cards (such as T4 and A100) or the clouds, and what to compare: price, speed or memory.")),
    (r"(?:选|要|买|租|用)?(?:哪一?[个家款张种台](?:更?好|更?便宜|更?快|合适|划算)?|(?:那|这)[个家款张种]?(?:更)?(?:便宜|贵|快|好|大|小)(?:一?点|一?些)?的?|(?:便宜|快|好|大|小)(?:一?点|一?些)的)",
     r"which(?: one| card| gpu)?(?: (?:is|should i|do i|would you)(?: (?:better|best|cheaper|faster|it|take|buy|rent|pick|choose|need|get|use))?)?|(?:what about )?(?:the|that) (?:cheaper|faster|bigger|smaller|better|other) one",
     Bilingual(zh="你要在哪几个里面选？请告诉我是哪些卡（例如 T4 还是 A100）或哪几家云，以及看重什么：价格、速度还是显存。",
               en="Which ones are you choosing between? Please tell me the cards (such as T4 or A100) or the clouds, and what matters: price, speed or memory.")),
))  # fmt: skip
AROUND = re.compile(
    r"^[\s,，。.!！]*(?:(?:你|您)?(?:看|觉得|说|认为|帮我看看?|给看看?|瞧)[\s,，]*|(?:do you think|you think|would you say|tell me if|is it true that)[\s,，]+|(?:那么?|所以|请问|呃|嗯|so|ok|okay|well|and|then|but|hmm)[\s,，]+|请问|那么?(?![个家款张种]))*|(?:\s*(?:呢|吗|嘛|啊|呀|吧|了|please|then|exactly|[?？。.!！~～…]))+$",
    re.I,
)


# "Is 24 enough": of what, for what? A large number is money.
BARE_NUMBER = re.compile(
    r"(?P<zh>\d{1,3}(?:\.\d+)?)\s*(?:够不够|够用?|行不行|行|可以|能行)|(?:is|are|will|would)\s+(?P<en>\d{1,3}(?:\.\d+)?)\s+(?:be\s+)?(?:enough|sufficient|ok|okay|do|fine)",
    re.I,
)
# What is said around a time or a number of cards that is all an order says: "先来一个月的吧", "let's go with two".
ORDERING = re.compile(
    r"先|来|就|要|租|买|给|我|搞|整|弄|开|定|吧|的|试试?|看看?|用|"
    r"(?<![a-z])(?:let'?s|let us|go|going|with|take|start|begin|rent|i|we|i'?ll|we'?ll|want|need|get|just|for|now|please|try|make|it|a|an|the|about|of|ok(?:ay)?|then)(?![a-z])",
    re.I,
)


# The jobs that a turn may announce before it is asked what they cost or take, and what the sum needs.
JOBS = tuple((re.compile(words, re.I), back) for words, back in (
    (r"微调|精调|(?<![a-z])fine-?tun",
     Bilingual(zh="微调要多少钱、多久、够不够，看模型、数据和卡。请告诉我：哪个模型（或多少 B 参数），LoRA 还是全参；多少条数据（或多少 token）、几轮；用哪款 GPU、几张，租的话哪家云。",
               en="What the fine-tuning costs or takes depends on the model, the data and the card. Please tell me: which model (or how many billion parameters), and by LoRA or fully; how many rows (or tokens) and epochs; which card and how many, and if rented, from which cloud.")),
    (r"训练|预训练|训个|(?<![a-z])(?:pre-?)?train",
     Bilingual(zh="训练要多少钱、多久、够不够，看模型、数据和卡。请告诉我：模型多少 B 参数，从头训练还是微调；多少 token（或多少条数据、几轮）；用哪款 GPU、几张，租的话哪家云。",
               en="What the training costs or takes depends on the model, the data and the card. Please tell me: how many billion parameters, from scratch or fine-tuning; how many tokens (or rows and epochs); which card and how many, and if rented, from which cloud.")),
    (r"部署|推理|上线|跑(?:一?个)?(?:大)?模型|(?<![a-z])(?:deploy|serv(?:e|ing)|host|inference|run (?:a|my|an|our|some) (?:\w+ )?(?:model|llm|chatbot))",
     Bilingual(zh="部署要多少钱、够不够，看模型、用户数和卡。请告诉我：哪个模型（或多少 B 参数）、什么精度；同时多少用户；用哪款 GPU、几张，租还是买，租的话哪家云、多久。",
               en="What serving it costs or takes depends on the model, the users and the card. Please tell me: which model (or how many billion parameters) and precision; how many users at a time; which card and how many, rented or bought, and if rented, from which cloud and for how long.")),
))  # fmt: skip


def asked_about_nothing(request: Request, book: Ledger) -> Finding | None:
    """The question back where the message only asks, or only says a time or a number, and nothing before it said of what."""
    if asks_what_it_is(request.question):  # "what is a GPU?" counts none
        return None
    return (
        _of_a_job(request, book)
        or _bare_number(request, book)
        or _only_a_figure(request, book)
        or _only_asks(request, book)
    )


def _of_a_job(request: Request, book: Ledger) -> Finding | None:
    """ "How much will it cost?" after "I want to rent a card to fine-tune my model": what the sum of that job needs."""
    if not request.earlier or replace(request.slots, workload=Workload(), count=None) != Slots():
        return None
    earlier, words = normalise(request.earlier), AROUND.sub("", AROUND.sub("", normalise(request.question)))
    if not any(asks.fullmatch(words) for asks, _ in BARE):
        return None
    return next((book.finding("needs_detail", back[book.language]) for job, back in JOBS if job.search(earlier)), None)


def _bare_number(request: Request, book: Ledger) -> Finding | None:
    """ "Is 24 enough": what the number counts, and what for."""
    words = AROUND.sub("", AROUND.sub("", normalise(request.question)))
    found = BARE_NUMBER.fullmatch(words)
    s = request.slots
    if found is None or s.money_currency or replace(s, money=None, about=()) != Slots():
        return None
    figure = found["zh"] or found["en"]
    return book.finding("needs_detail", book.say(
        f"{figure} 说的是什么：显存的 GB 数、卡的张数还是小时数？要做什么：运行、微调还是训练哪个模型，或者租哪款 GPU？",
        f"Is {figure} the GB of GPU memory, the number of cards or the hours? And what is it for: running, fine-tuning or training which model, or renting which GPU?"))  # fmt: skip


def _only_a_figure(request: Request, book: Ledger) -> Finding | None:
    """ "先来一个月的吧": a time or a number of cards where no card, cloud or model was ever named: which card, asked back."""
    s = request.slots
    figures = s.periods or (s.count and request.intent in SPEECHLESS)
    named = replace(s, periods=(), count=None, count_high=None, hours_per_day=None, about=(), workload=Workload())
    if not figures or named != Slots() or request.aspects & {"how_long", "chooses", "why", "use", "training"}:
        return None
    now = read(request.question)
    rest = ORDERING.sub(" ", without(now.text, [(q.start, q.end) for q in now.quantities]))
    return price_gaps.ask_which(book) if now.quantities and not content_words(rest) else None


def _only_asks(request: Request, book: Ledger) -> Finding | None:
    """The question back where the whole message only asks, and no turn before it said about what."""
    if (
        request.search_text != request.question.strip()
        and normalise(request.question).strip() != request.search_text.strip()
    ):
        return None  # a conversation stands behind it
    if request.earlier_search or request.slots != Slots():
        return None
    words = AROUND.sub("", AROUND.sub("", normalise(request.question)))
    return next(
        (book.finding("needs_detail", back[book.language]) for asks, back in BARE if asks.fullmatch(words)), None
    )


def which_card(request: Request, book: Ledger) -> Finding | None:
    """The question back, with choices; None where a card is named or nothing hints at one."""
    s, text = request.slots, normalise(request.question)
    if s.gpus or s.models or s.parameters_b or s.unknown or s.instances or not ASKS.search(text):
        return None
    if hint := HINTED.search(text):
        choices = _called(hint["letter"].upper(), book)
    elif CHINESE_CARD.search(text) and "chooses" not in request.aspects:
        choices = [gpu.name for gpu in book.catalog.gpus if gpu.vendor in CHINESE_VENDORS]
    else:
        return None
    if not choices:
        return None
    named = render.joined(list(dict.fromkeys(choices))[:MOST_CHOICES], book.language)
    return book.finding("needs_detail", book.say(
        f"请问你指的是哪一款卡？知识库里符合的有：{named}。告诉我型号，我再查它的价格或规格。",
        f"Which card do you mean? The knowledge base has these that match: {named}. Tell me the one, and I look up its price or figures."))  # fmt: skip


def _called(letter: str, book: Ledger) -> list[str]:
    """Cards whose short name begins with a letter, those with prices in the reader's table first."""
    priced = [offer.gpu for offer in book.catalog.find_offers([])]
    named = [*priced, *(family for gpu in book.catalog.gpus for family in gpu.families)]
    return [name for name in dict.fromkeys(named) if re.match(rf"{letter}\d", name)]
