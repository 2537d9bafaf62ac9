"""Whether a message asks what a term or a name is: "LoRA 是什么", "what does spot mean?", "remind me what FP8 is".

Such a message stands alone, whatever sum was talked about. Words only: it explains nothing, and asking for a figure
("总价是什么", "what is the difference?") is no such question.
"""

from __future__ import annotations

import re

from knowledge.names import Link, link, normalise

LONGEST = 80  # characters; a longer message tells more than it asks
OPEN_ZH = r"\W*(?:(?:那么?|对了|等[等一]?下?|话说|顺便问(?:一?下)?|请问|不好意思|我想(?:问一?下|知道)|再问一?下|刚才(?:说|提到)?的?|前面(?:说|提到)?的?|上面(?:说|提到)?的?|你说的|这里的?|所谓的?)[,，、:：\s]*)*"
OPEN_EN = r"\W*(?:(?:and|so|but|ok|okay|wait|sorry|hold on|hey|hi|by the way|btw|then|quick question|please|also|again|can you|could you|just)[,:]?\s+)*"
SAYS_WHAT = r"(?:意思|东西|概念|玩意儿?|技术|方法|来着)?(?:[啊呀呢吗嘛]|来着)*"
FORMS = tuple(re.compile(words, re.I) for words in (
    rf"{OPEN_ZH}(?P<term>.+?)\s*(?:又|到底|究竟|具体|都|就|呢)*是\s*(?:一?[个种])?(?:什么|啥){SAYS_WHAT}\W*",
    rf"{OPEN_ZH}(?P<term>.+?)\s*(?:又|到底|究竟|具体)*(?:(?:指的?是?|是指|代表|表示)(?:什么|啥){SAYS_WHAT}|(?:是)?(?:什么|啥|何)意思[啊呀呢]?)\W*",
    rf"{OPEN_ZH}(?:什么(?:是|叫做?)|啥是|啥叫|何为|何谓)\s*(?P<term>.+?)\s*(?:来着|[啊呀呢])?\W*",
    rf"{OPEN_ZH}(?:[请再帮麻烦给我]*)(?:解释|介绍|说明|科普|讲讲|讲解|说说)\s*(?:一下|下|一遍)?\s*(?:什么是)?\s*(?P<term>.+?)(?:是什么(?:意思)?|的(?:意思|概念|含义))?(?:[吧呗])?\W*",
    rf"{OPEN_EN}(?:what(?:'?s| is| was| are| were)|(?:remind me|tell me|explain|explain to me)(?: again)?,? what|define|explain|describe|what do you mean by|(?:what is|what's) the meaning of|meaning of|definition of)\s+(?P<term>.+?)"
    r"(?:\s+(?:is|are|was|means?|actually|exactly|again|then|anyway|to me|please))*\W*",
    rf"{OPEN_EN}(?:remind me |tell me )?what\s+(?:exactly |actually )?(?:(?:does|do|did)\s+)?(?P<term>.+?)\s+(?:(?:actually |exactly )?(?:means?|stands? for|refers? to))(?: again| exactly| here| then)*\W*",
))  # fmt: skip
AROUND = re.compile(
    r"^(?:(?:an?|the|this|that|these|those)\s+|这个|那个|这种|[“\"'‘「《(])+|(?:[”\"'’」》)]|\s*(?:thing|stuff|term|技术|方法|精度|格式|模式|机制|这个词|这个|显?卡))+$",
    re.I,
)
# Terms of the trade that are names of ideas, not figures that a row or a sum has.
TERM = (
    r"q?lora|dora|peft|p-?tuning(?: ?v2)?|prefix[- ]tuning|adapters?|(?:全参数?|全量|参数高效|低秩)?(?:微调|适配)|(?:full |parameter[- ]efficient )?fine-?tuning|"
    r"kv[- ]?(?:cache|缓存)|键值缓存|(?:prefix|prompt) caching|前缀缓存|(?:paged|flash|grouped[- ]query|multi[- ]query|multi[- ]head(?: latent)?|sliding[- ]window)[ -]?attention(?:[- ]?\d)?|"
    r"滑动窗口(?:注意力)?|gqa|mqa|mla|mha|moe|mixture of experts|混合专家(?:模型)?|"
    r"nv-?link|nv-?switch|nccl|infiniband|rdma|roce|pci-?e(?: ?\d(?:\.0)?)?|sxm\d?|oam|hgx|dgx|hbm\d?e?|gddr\d?x?|v-?ram|显存|显存带宽|memory bandwidth|mig|ecc|tdp|"
    r"[tp]?flops|tops|算力|tf32|fp(?:4|8|16|32|64)|bf16|bfloat16|int[48]|nf4|mxfp4|(?:双重)?量化|(?:double )?quanti[sz]ation|gptq|awq|gguf|mixed precision|混合精度|"
    r"zero(?:[- ]?[0123])?|fsdp|ddp|deepspeed|(?:数据|张量|流水线|专家|序列)并行|(?:tensor|pipeline|data|expert|sequence) parallel(?:ism)?|"
    r"梯度检查点|激活(?:重计算|检查点|值)?|gradient (?:checkpointing|accumulation)|activations?(?: checkpointing| memory)?|优化器状态|optimi[sz]er states?|adamw?|梯度(?:累积)?|gradients?|logits|"
    r"ttft|tpot|首 ?token ?延迟|time to (?:the )?first token|吞吐量?|throughput|continuous batching|连续批处理|batch(?: ?size)?|批大小|prefill(?:ing)?|decod(?:e|ing)|预填充|解码|speculative decoding|投机(?:采样|解码)|"
    r"context (?:length|window)|上下文(?:长度|窗口)|tokens?|epochs?|mfu|rag|"
    r"spot(?: instances?| pricing)?|竞价(?:实例)?|抢占式?(?:实例)?|pre-?emptible(?: instances?)?|on[- ]demand(?: instances?| pricing| billing)?|按需(?:计费|付费|实例)?|预留(?:实例)?|reserved(?: instances?)?|包年包月|"
    r"gpu[- ]?hours?|gpu ?小时|卡时|v-?cpus?|cuda(?: ?cores?| ?核心)?|(?:tensor|张量) ?(?:cores?|核心)|gpus?|tpus?|npus?|bare[- ]metal|裸金属|vllm|sglang|tensorrt(?:-llm)?|llama\.cpp|ollama"
)
TERMS = re.compile(rf"(?:{TERM})(?:\s*(?:和|与|跟|、|/|,|，|and|or)\s*(?:{TERM}))*", re.I)
NAMED = frozenset({"gpu", "provider", "model", "method", "workload"})
# Where a question about a term ends and one about something else begins: "MIG 是什么,4090 能用吗".
NEXT_QUESTION = re.compile(r"[,，;；。?？!！]+\s*|\s+(?=(?:and|but|so)\s+(?:does|do|did|can|could|is|are|will|would|has|have|which|should|whose|who|where|what|when|why|how)\b)", re.I)  # fmt: skip


def asks_what_it_is(text: str) -> bool:
    """Whether a message asks for the meaning of one term of the trade, of several, or of one thing that has a name."""
    return _term(text) is not None


def searched(text: str) -> str:
    """What to search the documents for: the bare question where the message asks what a term is, else the message."""
    term = _term(text)
    if term is None:
        return text
    return f"{term} 是什么" if re.search(r"[\u4e00-\u9fff]", text) else f"What is {term}?"


def defined_first(text: str) -> str | None:
    """What to search for where a message asks first what a term of the trade is and then of something else; else None."""
    head, *rest = NEXT_QUESTION.split(normalise(text).strip(), maxsplit=1)
    term = _term(head) if rest and rest[0].strip() else None
    return searched(head) if term and TERMS.fullmatch(term) else None


def defined_names(text: str) -> tuple[Link, ...]:
    """The name that a message asks the meaning of; empty where it asks for a term of the trade or for something else."""
    term = _term(text)
    return tuple(link(term)) if term and not TERMS.fullmatch(term) else ()


def _term(text: str) -> str | None:
    """The term that a message asks about; None where it asks for something else."""
    said = normalise(text).strip()
    if len(said) > LONGEST:
        return None
    found = (_bare(match["term"]) for form in FORMS if (match := form.fullmatch(said)))
    return next((words for words in found if _is_term(words)), None)


def _bare(words: str) -> str:
    """The words without articles, quotation marks and "this ... thing" around them."""
    words = words.strip()
    while (bare := AROUND.sub("", words).strip()) != words:
        words = bare
    return words


def _is_term(words: str) -> bool:
    if not words:
        return False
    return TERMS.fullmatch(words) is not None or any(
        item.kind in NAMED and item.end - item.start == len(words) for item in link(words)
    )
