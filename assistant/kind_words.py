"""What the words of a question settle about its kind that names and numbers leave open: a reference server, buying or
renting in general, training from scratch, a choice among clouds, a card that was only tested on, what a term is, what
a company once ordered, and the secrets of this installation.

Word lists only; it answers nothing. The order of the rules is that of their strength.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant.definitions import asks_what_it_is
from assistant.market_words import markets_asked
from assistant.passage_questions import for_documents
from assistant.reading import Reading, Slots
from assistant.remembered import linked
from knowledge.names import normalise

REFERENCE_SERVER = re.compile(
    r"参考(?:服务器|配置|机)|样板(?:服务器|机)|(?<![a-z0-9])(?:821ge|420gp)(?![a-z0-9])|reference (?:server|machine|box|config|build)|sample server",
    re.I,
)
FUTURE = re.compile(
    r"明年|后年|以后|将来|未来|会不会|会[涨降跌]|[涨降跌]价|下一代|next (?:year|month|generation)|in the future|\bwill\b.{0,40}\b(?:drop|fall|rise|go|get)\b|price (?:drop|cut)",
    re.I,
)
# Where GPUs cost nothing: the learning platforms of the documents, not a rent.
FREE_GPUS = re.compile(
    r"(?:where|which|any|what)\b.{0,40}\bfree\b.{0,12}\b(?:gpus?|compute|graphics)\b|\bfree gpu (?:hours?|time|quota)|"
    r"(?:哪里|哪儿|哪个|哪些|什么|有没有).{0,16}(?:免费|白嫖).{0,6}(?:gpu|显卡|算力)", re.I)  # fmt: skip
# What the articles recommend for training a whole model of this size (memory_advice.csv), by thousand million parameters.
TRAINED_FROM_SCRATCH = {Decimal(40): "Falcon-40B", Decimal(65): "LLaMA-65B"}
MACHINE = re.compile(r"机器|硬件|卡|集群|服务器|gpu|machine|hardware|card|cluster|server|setup", re.I)
CHOICE = re.compile(r"怎么[选挑]|如何[选挑]|选哪|挑哪|哪[家个款张]|\bwhich\b|\bpick\b|\bchoose\b|recommend", re.I)
TESTED_ON = re.compile(
    r"(?:之前|以前|此前|原来|先前|早先|一直)[^,，。;；?？]{0,10}(?:测试|试[用跑]?|试验|demo)[^,，。;；?？]*|(?:测试|试跑|试验)(?:的时候|时)?用的?(?:是)?[^,，。;；?？]*|"
    r"\b(?:so far|until now|previously|before)[^,.;?]{0,30}\btest[^,.;?]*|\btest(?:ed|s|ing)\b[^,.;?]{0,30}\b(?:on|with|used)\b[^,.;?]*",
    re.I,
)
# Keys, passwords, prompts and settings of this installation.
SECRET = (
    r"(?:api|access|secret|private|ssh|encryption)[ _-]?(?:keys?|tokens?|密[钥匙]|秘钥)|密[钥匙码]|秘钥|口令|凭[证据]|环境变量|系统提示词?|初始指令|系统指令|隐藏指令|日志文件|llm_api_key|hf_token|\.env(?![a-z])|"
    r"(?<![a-z])(?:passwords?|passphrase|passcode|credentials?|secrets?|login details|env(?:ironment)? var(?:iable)?s?|environ|dotenv|(?:env|source|log) files?|"
    r"(?:system|hidden|initial|secret|original) (?:prompts?|messages?|instructions?)|/etc/passwd|id_rsa)(?![a-z])"
)
# A model has a configuration and code of its own, which is no secret.
SETTINGS = r"(?<![a-z])(?:config(?:uration)?|settings?) files?(?![a-z])|(?<![a-z])source code(?![a-z])|配置文件|源代码|源码|提示词"
YOURS = (
    r"(?:(?<![a-z])(?:you|your|yours|(?:this|the) (?:system|server|service|machine|app|assistant|host|admin(?:istrator)?)(?:'s)?)(?![a-z])|"
    r"[你您]们?的?|本?系统的?|这[台个](?:系统|服务|服务器|机器|程序)的?|服务器上?的?|管理员的?|后台的?)"
)
REVEAL = (
    r"(?:(?<![a-z])(?:show|print|give|tell|reveal|dump|output|display|list|repeat|send|read|echo|leak|expose|share|cat|type out|write out)(?![a-z])|"
    r"给我看?|告诉我?|发[给我来出]|展示|显示|打印|输出|泄露|透露|公开|列出|列一?下|说出|复述|重复|读出|看看|交出|贴出?)"
)
OF_THIS = re.compile(rf"{YOURS}\s*(?:[a-z_]+\s+){{0,3}}?[^,，。;；?？\d]{{0,6}}(?:{SECRET}|{SETTINGS})", re.I)
REVEALED = re.compile(
    rf"{REVEAL}[^,，。;；?？\d]{{0,24}}?(?:{SECRET})|(?:把|将)[^,，。;；?？\d]{{0,12}}(?:{SECRET})[^。;；?？]{{0,12}}{REVEAL}|"
    rf"^\W*(?:what(?:'?s| is| are)|which)\s+(?:the |is )?(?:{SECRET})(?: (?:you use|in use|here))?\W*$|^\W*(?:{SECRET})\s*(?:是(?:什么|多少|啥)|[?？])\W*$",
    re.I,
)
# How one sets a key, and what other software needs, are honest questions.
HOW_TO = re.compile(
    r"(?<![a-z])(?:(?:how|where) (?:do|can|should|would|to) .{0,12}(?:set|configure|pass|provide|use|add|put|enter|change|rotate|create|generate|protect|store|need)|"
    r"(?:do|does|will|can|must) (?:you|it|i|we) (?:need|require|support|accept|have to)|which (?:variable|setting)|is (?:it|there))(?![a-z])|"
    r"(?:怎么样?|如何|在哪[里儿]?)(?:设|配|填|写|改|用|换|传|加|申请|生成|创建)|支持|需不需要|要不要|需要(?:设|配|填|什么|哪)",
    re.I,
)
OTHER_SOFTWARE = re.compile(r"(?<![a-z])(?:vllm|sglang|ollama|tgi|tensorrt|openai|hugging ?face|docker|kubernetes|k8s|cuda|nccl|pytorch)(?![a-z])", re.I)  # fmt: skip
# What a company ordered, bought or hoarded is an event that a document tells, no price of its cloud.
COMPANY = (
    r"(?:字节(?:跳动)?|腾讯(?!云)|阿里(?:巴巴)?(?!云)|百度(?!云|智能云)|华为(?!云)|美团|快手|小米|京东(?!云)|大厂|大公司|互联网(?:公司|企业|巨头)|巨头|微软|谷歌|特斯拉|"
    r"(?<![a-z])(?:bytedance|tencent|alibaba|baidu|huawei|meituan|microsoft|google|meta|tesla|openai|xai|companies|giants|big tech|(?:tech|internet) firms)(?![a-z])(?! cloud))"
)
BOUGHT_ZH = (
    r"(?:订了|订购|下了|抢购|抢了|疯抢|狂抢|囤|采购|买了|买走|买下|购入|购置|砸了|花了|买[^,，。]{0,12}花|的?订单)"
)
BOUGHT_EN = r"(?:ordered|orders|bought|purchased|spent|paid for|stockpil\w*|hoard\w*|snapped up)"
ORDERED = re.compile(
    rf"{COMPANY}(?:{COMPANY}|[^a-z0-9,，。]){{0,12}}{BOUGHT_ZH}|哪[家些个].{{0,12}}(?:抢购|抢了|疯抢|囤|订购|买了|买走|下了)|{COMPANY}[^,.;?]{{0,30}}(?<![a-z]){BOUGHT_EN}(?![a-z])|"
    rf"(?<![a-z]){BOUGHT_EN} (?:by|from|of) [^,.;?]{{0,24}}{COMPANY}|(?<![a-z])(?:did|have|has) [^,.;?]{{0,24}}{COMPANY}[^,.;?]{{0,24}}(?<![a-z])(?:order|buy|bought|ordered|purchase|spend|pay)(?![a-z])",
    re.I,
)
OWN_DEAL = re.compile(r"我|咱|本公司|(?<![a-z])(?:i|i'm|i've|we|we've|my|our|us|me)(?![a-z])", re.I)
NOT_OURS = frozenset({"manipulation", "off_topic", "forecast", "smalltalk"})
OF_MONEY = frozenset({"price", "compare", "cost", "budget", "buy_price"})


def without_tested_card(reading: Reading) -> Reading:
    """The reading without a card that was only tested on, where a model is to be served on clouds that are named."""
    s = reading.slots
    if not (s.gpus and s.providers and (s.parameters_b or s.models)):
        return reading
    tested = {item.key for clause in TESTED_ON.finditer(reading.text) for item in linked(clause.group()) if item.kind == "gpu"}  # fmt: skip
    left = tuple(gpu for gpu in s.gpus if gpu not in tested)
    if len(left) == len(s.gpus):
        return reading
    return replace(reading, slots=replace(s, gpus=left, forms=() if not left else s.forms, count=s.count if left else None))  # fmt: skip


def trained_from_scratch(slots: Slots) -> str | None:
    """The model of the articles' table whose training recommendation answers for a bare size; None where none does."""
    if slots.workload.purpose != "training" or slots.workload.method or slots.models or len(slots.parameters_b) != 1:
        return None
    return TRAINED_FROM_SCRATCH.get(slots.parameters_b[0])


def asks_for_secrets(question: str, slots: Slots) -> bool:
    """Whether keys, passwords, prompts or settings of this installation are asked for; not how to set one."""
    text = normalise(question)
    if HOW_TO.search(text):
        return False
    return bool(OF_THIS.search(text) and not slots.models) or bool(REVEALED.search(text) and not OTHER_SOFTWARE.search(text))  # fmt: skip


def asks_of_orders(question: str, slots: Slots) -> bool:
    """Whether a question is about what a company once bought or ordered, and not about a deal of the reader's own."""
    text = normalise(question)
    told = ORDERED.search(text) and not OWN_DEAL.search(text)
    return bool(told) and not (slots.periods or slots.hours_per_day or slots.count or slots.items)


def kind_by_words(question: str, slots: Slots, aspects: frozenset[str], intent: str) -> str | None:
    """The intent that the words leave as the only reading; None where they leave it open."""
    rented = bool(aspects & {"rent"} or slots.providers or slots.periods or slots.price_per_hour)
    work, sized = slots.workload, bool(slots.parameters_b or slots.models)
    rules = (
        ("manipulation", asks_for_secrets(question, slots) and not (slots.gpus and "price" in aspects)),  # the price is answered
        ("document", asks_what_it_is(question)),
        ("document", asks_of_orders(question, slots)),
        ("document", for_documents(question, slots)),
        ("cost", intent == "buy_price" and bool(slots.gpus and slots.periods) and "rent" in aspects and "buy" not in aspects),
        ("buy_price", bool(slots.gpus and markets_asked(normalise(question))) and intent in (*OF_MONEY, *NOT_OURS, "document") and not (rented or sized)),
        ("document", FREE_GPUS.search(question) is not None and not (slots.gpus or slots.providers or sized or slots.money)),
        ("document", REFERENCE_SERVER.search(question) is not None and not (rented or sized) and intent != "document"),
        ("document", {"buy", "rent"} <= aspects and intent in NOT_OURS and not (slots.gpus or slots.money or sized or FUTURE.search(question))),
        ("memory", trained_from_scratch(slots) is not None and intent in ("document", "memory", "choose", "speedup", *NOT_OURS)
            and MACHINE.search(question) is not None and not (slots.gpus or slots.money or work.training_tokens or "how_long" in aspects)),
        ("choose", sized and len(slots.providers) > 1 and bool(slots.money) and not slots.gpus and intent in OF_MONEY and CHOICE.search(question) is not None),
    )  # fmt: skip
    return next((kind for kind, holds in rules if holds), None)
