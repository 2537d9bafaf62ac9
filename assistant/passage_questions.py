"""Questions whose words show that a document answers them, whatever names and numbers stand beside: how a service is run,
a machine taken back, stock, where to host, export of a China model, active parameters, terms told apart.

Word lists only; it answers nothing and decides nothing that asks for a figure of a card, a price or a sum.
"""

from __future__ import annotations

import re

from assistant.reading import Slots
from knowledge.names import normalise

OPERATING = re.compile(
    r"(?<![a-z])(?:k8s|kubernetes|kubectl|pods?|crash ?loop\w*|liveness\w*|readiness\w*|startup ?probes?|nginx|prometheus|grafana|hpa|canary|health ?checks?|load balanc\w+|rolling updates?)(?![a-z])|"
    r"探针|健康检查|负载均衡|滚动(?:更新|升级|发布)|灰度|金丝雀|自动(?:伸缩|扩缩?容)|容器(?:反复|老是|一直)?(?:重启|被杀)",
    re.I,
)
TAKEN_BACK = re.compile(
    r"(?:机器|实例|抢占式?|竞价|spot|节点|卡)[^,，。;；?？]{0,12}(?:被|给)?(?:收走|收回|回收|抢走|释放|干掉|踢|中断)|(?:被|给)(?:云|平台|厂商)?(?:收走|收回|回收|抢走|踢下)|"
    r"(?<![a-z])(?:pre-?empted|preemption|reclaimed?|reclaims|taken (?:back|away)|takes? (?:it|them|the (?:machine|instance)) (?:back|away)|yanked|evicted|(?:spot|instance|machine|vm)s? (?:get|gets|got|was|is|are|been) (?:killed|terminated|revoked|interrupted))(?![a-z])",
    re.I,
)
RUNNING = re.compile(r"训练|任务|进度|跑到?一半|白跑|断点|续|(?<![a-z])(?:train\w*|runs?|jobs?|progress|resume|halfway|mid-?run|checkpoints?|lose|lost)(?![a-z])", re.I)  # fmt: skip
STOCK = re.compile(
    r"库存|现货|有没有货|有货(?:吗|没|么)|缺货|售罄|补货|断货|还剩(?:下)?(?:多少|几)[台张个块]|(?:还|能)?剩[几多少]+[台张个块]|抢得?到(?:吗|不|么)|开得出来?(?:吗|不)|"
    r"(?<![a-z])(?:in stock|out of stock|stock (?:level|left)|sold out|restock\w*|availability|available (?:right now|rn|today|now|at the moment)|how many [^?,.]{0,40} (?:left|free|available|in stock)|any [^?,.]{0,30} left|(?:got|have|has) (?:any )?[^?,.]{0,30}left)(?![a-z])",
    re.I,
)
OWN_PLACE = r"(?:自己(?:这儿|这里|这边|家|机房|的?机器|的?服务器)?|本地|公司里?|机房|办公室|家里|自建|自托管|(?<![a-z])(?:on[- ]?prem\w*|in-?house|our (?:own )?(?:place|office|rack|server room|hardware|servers?|machines?|boxe?s?)|self-?host\w*|ourselves|locally|at home)(?![a-z]))"
CLOUD = r"(?:云上?|云服务器?|(?<![a-z])(?:the )?clouds?(?![a-z]))"
OR = r"[^。?？;；]{0,24}(?:还是|或者|vs\.?|(?<![a-z])(?:or|versus)(?![a-z]))[^。?？;；]{0,24}"
WHERE_TO_HOST = re.compile(rf"(?:{OWN_PLACE}{OR}{CLOUD}|{CLOUD}{OR}{OWN_PLACE})", re.I)
SHIPPED = re.compile(
    r"(?:出口|管制|合规|许可|禁令|被禁|特供|阉割|(?:运|发|寄|卖|带|进口?)[^,，。?？]{0,10}(?:到|给|去|往)?(?:国内|中国|大陆|深圳|上海|北京)|往[^,，。?？]{0,12}(?:运|发|寄|带)|(?:国内|中国|大陆)[^,，。?？]{0,8}(?:能买|买得到|让不让|卖吗|可以买))|"
    r"(?<![a-z])(?:licen[cs]e|licen[cs]ed|export\w*|compliant|banned|sanction\w*|allowed|legal(?:ly)?|(?:ship|send|sell|import|bring|shipping|sending|selling|importing)[^?.]{0,40}(?:china|chinese|shenzhen|shanghai|beijing|mainland))(?![a-z])",
    re.I,
)
EVADING = re.compile(
    r"绕|规避|走私|躲|避开|伪造|冒充|瞒|空壳|转口|第三国|(?<![a-z])(?:smuggl\w*|evad\w*|bypass\w*|get(?:ting)? (?:around|past)|circumvent\w*|dodg\w*|hid(?:e|ing)|disguis\w*|relabel\w*|shell compan\w*|third countr\w*|without (?:a |an )?licen[cs]e|fake|false)(?![a-z])",
    re.I,
)
CHINA_MODELS = frozenset({"H20", "L20", "L2", "RTX 4090 D", "RTX 5090 D", "RTX 5090 D V2"})
ACTIVE = re.compile(r"激活(?:参数|的?(?:那)?部分)|(?<![a-z])active (?:\w+ )?(?:params?|parameters?|experts?|weights?)(?![a-z])|\d+ ?b active(?![a-z])", re.I)  # fmt: skip
EXPERTS = re.compile(r"混合专家|(?<![a-z])(?:moe|mixture[- ]of[- ]experts)(?![a-z])", re.I)
TOTAL = re.compile(r"总(?:共|参数)|一共|(?<![a-z])(?:total|in all|altogether)(?![a-z])", re.I)
# Training again and again beside a service for others, and how to place the two: own machines and the cloud.
OFTEN = r"(?:天天|每天|每日|经常|常年|老是|总是|频繁|不停|一直|长期|日常|(?<![a-z])(?:daily|every ?day|each day|all the time|constantly|often|regularly|frequent(?:ly)?|non-?stop|day in day out|always)(?![a-z]))"
TRAINS = r"(?:微调|训练|调模型|炼丹|做?实验|(?<![a-z])(?:fine-?tun\w*|train\w*|experiment\w*)(?![a-z]))"
SERVES_OTHERS = r"(?:推理|线上服务|对外|上线|部署|提供服务|(?<![a-z])(?:serv(?:e|es|ing|ice)|inference|host(?:ing)?|deploy\w*|production|public api|customers?)(?![a-z]))"
PLACING = r"(?:怎么(?:安排|分|放|配|选|弄|搞|部署)|如何(?:安排|分配|部署|选)|放在?哪|各放|分别|买还是租|该买|(?<![a-z])(?:where|split|arrange\w*|set ?(?:it|this|things)? ?up|what (?:setup|arrangement)|own or rent|buy or rent|on what|place)(?![a-z]))"
BOTH_KINDS = tuple(
    re.compile(words, re.I)
    for words in (rf"{OFTEN}[^。?？;；]{{0,30}}{TRAINS}|{TRAINS}[^。?？;；,，]{{0,20}}{OFTEN}", SERVES_OTHERS, PLACING)
)
# Less than the printed rate: "训练只跑出标称算力的四成", "only 40% of the advertised TFLOPS, is it broken?".
BELOW_RATED = tuple(re.compile(words, re.I) for words in (
    r"算力|(?<![a-z])(?:[tp]?flops?|mfu|peak|rated (?:speed|performance))(?![a-z])",
    r"\d ?%|百分之|[一二三四五六七八九]成|一半|[达跑]不[到满]|(?<![a-z])(?:percent|half|third|fraction|nowhere near|far (?:below|from)|well below)(?![a-z])",
    r"为什么|为啥|为何|正常|坏了?|故障|虚标|被?[坑骗]|(?<![a-z])(?:why|normal|broken|faulty|defective|scam\w*|ripped off|wrong with|lie[ds]?|lying|fake)(?![a-z])",
    r"训练|微调|跑|实测|利用率|(?<![a-z])(?:train\w*|fine-?tun\w*|runs?|running|job|measured?|utili[sz]ation)(?![a-z])",
))  # fmt: skip
# How to pay less for what one rents, with no card named to change to: "有没有省钱的办法", "any way to cut our bill?".
SAVING = re.compile(
    r"有(?:没有|什么|啥|没)?[^,，。;；?？]{0,8}省(?:点儿?|一?些)?(?:钱|成本|费用)的?(?:办法|方法|法子|招数?|路子|主意|建议|门路)|省钱的?(?:办法|方法|法子|招数?|技巧|建议|门路)|"
    r"(?:怎么|如何|咋|怎样)(?:样)?(?:才?能|可以)?(?:省(?:点儿?|一?些|下)?(?:钱|成本|费用)|(?:降低?|压低?|减少?|节[省约]|砍)(?:一?[点些下])?(?:成本|开销|费用|账单|开支|租金))|"
    r"(?<![a-z])(?:any|some|other|better|a|good|more) (?:\w+ )?(?:ways?|tips|ideas|tricks) (?:to|for|of|on) (?:sav(?:e|ing)|cut(?:ting)?|reduc(?:e|ing)|lower(?:ing)?|bring(?:ing)? down|pay(?:ing)? less|spend(?:ing)? less)(?![a-z])|"
    r"(?<![a-z])how (?:can|do|could|should|to)(?: i| we| one)? (?:save|cut|reduce|lower|bring down|trim) (?:\w+ ){0,3}(?:money|costs?|bills?|spend(?:ing)?|expenses?|rent)(?![a-z])",
    re.I,
)
TERM = r"(?:hbm\d?e?|gddr\d?x?|nvlink|pci-?e|sxm\d?|fp16|bf16|fp8|tf32|int8|int4|稠密|稀疏|dense|sparse)"
TERMS_APART = re.compile(rf"(?<![a-z]){TERM}\s*(?:算力|值|显存|memory|tflops)?\s*(?:和|与|跟|、|/|,|vs\.?|versus|and|or|compared (?:to|with))\s*{TERM}(?![a-z])", re.I)  # fmt: skip
EXPLAIN = re.compile(r"区别|差别|不同|差在哪|解释|说人话|啥意思|什么意思|(?<![a-z])(?:eli5|explain\w*|difference|plain (?:words|english)|differ)(?![a-z])", re.I)  # fmt: skip


def for_documents(question: str, slots: Slots) -> bool:
    """Whether the words of a question leave only a document to answer it; nothing that evades a rule is such a question."""
    text = normalise(question)
    if EVADING.search(text):
        return False
    sums = bool(slots.count or slots.money or slots.hours_per_day)
    looks = (
        OPERATING.search(text) is not None and not (slots.gpus or sums),
        TAKEN_BACK.search(text) is not None and RUNNING.search(text) is not None and not sums,
        STOCK.search(text) is not None and not slots.money,
        WHERE_TO_HOST.search(text) is not None and not (slots.gpus or sums),
        bool(CHINA_MODELS & set(slots.gpus)) and SHIPPED.search(text) is not None and not slots.money,
        speaks_of_active_parameters(question, slots),
        terms_told_apart(question),
        below_rated(question) and not sums,
        asks_to_save(question, slots),
        trains_and_serves(question) and not (slots.gpus or slots.models or slots.parameters_b or slots.money),
    )
    return any(looks)


def evades(question: str) -> bool:
    """Whether a question is about getting round a rule."""
    return EVADING.search(normalise(question)) is not None


def asks_of_stock(question: str) -> bool:
    """Whether a question asks what is available at this moment, which no row knows."""
    return STOCK.search(normalise(question)) is not None


def speaks_of_active_parameters(question: str, slots: Slots) -> bool:
    """Whether only the active parameters of a mixture of experts are said, of no model that is named: no size to compute with."""
    text = normalise(question)
    told = ACTIVE.search(text) is not None and (EXPERTS.search(text) is not None or not slots.gpus)
    return told and not slots.models and TOTAL.search(text) is None and len(set(slots.parameters_b)) <= 1


def below_rated(question: str) -> bool:
    """ "Only 40% of the printed TFLOPS, is the card broken?": what is normal, whatever card is named beside it."""
    text = normalise(question)
    return all(words.search(text) for words in BELOW_RATED)


def trains_and_serves(question: str) -> bool:
    """ "We fine-tune every day and also serve customers: where should each run?": own machines and the cloud."""
    text = normalise(question)
    return all(words.search(text) for words in BOTH_KINDS)


def asks_to_save(question: str, slots: Slots) -> bool:
    """ "Any way to save money?" of what is rented: general advice, where no model and no choice of cards makes it a sum."""
    named = slots.models or slots.parameters_b or slots.unknown or slots.items or slots.hours_per_day
    several = len(slots.gpus) > 1 or len(slots.providers) > 1 or (slots.count or 1) > 1
    return SAVING.search(normalise(question)) is not None and not (named or several or slots.purchase_price)


def terms_told_apart(question: str) -> bool:
    """ "HBM vs GDDR, eli5", "FP16 和 BF16 有什么区别": terms of the trade, whatever card is named beside them."""
    text = normalise(question)
    return TERMS_APART.search(text) is not None and EXPLAIN.search(text) is not None
