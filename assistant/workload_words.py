"""Words that say how a model is run or trained, in both languages: precision, method, switches, and cues of numbers.

Regular expressions over folded lower-case text (numerals.fold). A new wording is one more word here; workload.py reads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assistant.numerals import NAME

# Between a cue and its number: 上下文长度 约 8k, batch size = 8, context of up to 32k.
_SEP = (
    r"(?:\s|[=:,_\"'(]|是|为|从|设为?|设成|取|用|要|达到?|开到?|约|大约|大概|平均|最多|最大|最高|最长|至少|不超过|不低于|支持|到|在|about|around|"
    r"roughly|up to|at most|at least|of|is|at|to|~|只有|仅|换成|改成|改为|顶多|至多|顶天|撑死|"
    r"(?:拉|扩|扩展|拓展|延|顶|撑|调|放|增|涨|升|加|提|飙|怼|压|缩|降|减)[大长高满短小]?[到成至]|"
    r"(?:pushed|raised|stretched|bumped|extended|cranked|increased|grown|goes|going|cut|reduced|lowered)(?: up| out| down)?|呢){0,6}"
)
# What may not stand behind a number that a cue before it claims: it counts or measures something else.
_FREE = (
    r"(?!\s*(?:[张卡块台元天年月核倍%]|个?(?:小时|月|人)|gi?b?(?![a-z])|(?:users?|hours?|days?|weeks?|months?|years?|gpus?|cards?|"
    r"jobs?|cheapest|clouds?|providers?|images?|servers?|cores?)(?![a-z])))"
)
# "并发，8k 上下文": the number is the length's that follows, unless that has one of its own.
_NO_LENGTH = r"(?!\s*(?:个)?\s*(?:tokens?\s*)?(?:的)?\s*(?:上下文|context|ctx|tokens?|词元|窗口)(?!(?:\s|长度|窗口|length|window|size|[:=为是of])*\d))"
_TOKENS = r"[\s-]*(?:个)?\s*(?:tokens?|toks?|词元)"
_OPEN = rf"(?:{_TOKENS})?[\s-]*(?:的)?\s*"
_SECOND = r"(?:s|secs?|seconds?|秒钟?)(?![a-z])"
_PER_SECOND = rf"\s*(?:/|per|a|each|every|每)\s*{_SECOND}"
_PERCENT = r"\s*(?P<percent>%|percent|per cent|成)?"
_IN = r"(?:input|prompt|输入|提示|in(?=[^a-z].{0,24}\bout))"
_OUT = r"(?:output|out|completion|输出|生成)(?![a-z])"
_ROW = r"(?:rows?|samples?|examples?|records?|[条个]?样本|条|each)"
_MONEY = r"(?:元|块钱?|毛钱?|角|分钱?|rmb|cny|yuan|美元|美金|美分|刀|usd|dollars?|cents?|us\$|\$|¢)"
_COINS = r"(?P<rest>[一二三四五六七八九\d](?!\s*(?:[\d.百千万度天月年]|个?小时|个?月|kwh)))?+"  # 一块五
_KWH = r"\s*(?:/|每|一|per|an?)?\s*(?:度电?|kwh|kw·h|千瓦时|kilowatt[\s-]?hours?)"
_PER_TIME = r"(?!\s*(?:[/每一]|per|an?)\s*个?(?:小时|钟头|h(?![a-z])|hr|hour|天|日|day|月|month|年|year))"


@dataclass(frozen=True)
class Cue:
    """What must stand right before or right behind a number for it to be `field`."""

    field: str
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None
    free: re.Pattern[str] | None = None  # what must (not) follow where `before` speaks


def _cue(field: str, before: str = "", after: str = "", free: str = _FREE) -> Cue:
    return Cue(
        field,
        re.compile(rf"(?:{before}){_SEP}$") if before else None,
        re.compile(after) if after else None,
        re.compile(free),
    )


# Tried in this order, first all that look before a number, then all that look behind it.
CUES = (
    _cue("slo_ttft_s", r"(?:首\s*个?\s*(?:token|字|词|包)(?:的?(?:延迟|时延|时间))?|ttft|first[\s-]token(?: latency)?|time to first token)"
                       r"(?:\s*(?:within|under|below|小于|低于|不超过|<=?|控制在|within))*",
         r"\s*(?P<unit>ms|毫秒|milliseconds?|" + _SECOND + r")(?:以?之?内)?\s*(?:出|返回|to|for|time to|的)?\s*(?:the )?(?:首|first|ttft)",
         rf"\s*(?P<unit>ms|毫秒|milliseconds?|{_SECOND})"),
    _cue("slo_tokens_per_s", r"每秒(?:钟|输出|生成|出|能|可以|有)*", rf"\s*(?:个)?\s*(?:(?:tokens?|toks?|词元|字|t){_PER_SECOND}|tps(?![a-z]))",
         r"\s*(?:个)?\s*(?:tokens?|toks?|词元|字)"),
    _cue("requests_per_s", r"(?<![a-z])(?:qps|rps)|每秒(?:钟|处理|有|来)*",
         rf"\s*(?:个|次)?\s*(?:(?:qps|rps)(?![a-z])|(?:requests?|reqs?|queries|query|请求|次){_PER_SECOND})",
         r"(?!\s*(?:个)?\s*(?:tokens?|toks?|词元|字))" + _FREE[:-1] + ")"),
    _cue("electricity_price", rf"(?:(?:电价|电费)\s*[,，]?\s*(?:[每一1]\s*(?:度电?|千瓦时|kwh))?|[每一1]\s*(?:度(?!假)|千瓦时|kwh)|度电|(?:per|each|a|every)\s+kwh|electricity(?: price| rate| costs?| tariff| bill)?|power (?:price|cost|rate|bill)|tariff){_SEP}(?:us)?[$¥]?",
         rf"\s*(?P<money>{_MONEY}){_COINS}{_KWH}",
         rf"\s*(?:(?P<money>{_MONEY}){_COINS})?+(?:{_KWH})?+{_PER_TIME}(?!\s*[%万千kw\d{NAME}张卡块片台]|\s*(?:x\s|×|gpus?(?![a-z])|cards?(?![a-z])|years?|months?|days?|hours?|[年月天]|个月))"),
    _cue("electricity_price", r"(?:us)?\$|usd|¥|rmb|cny", "", rf"{_KWH}"),
    _cue("gpu_memory_utilization", r"gpu[\s_-]*mem(?:ory)?[\s_-]*util(?:i[sz]ation)?|mem(?:ory)?[\s_-]*util(?:i[sz]ation)?|"
                                   r"显存(?:的?(?:利用|使用|占用)率|用到?|占)", "", _PERCENT),
    _cue("mfu", r"(?<![a-z])mfu", rf"{_PERCENT}\s*(?:的)?\s*mfu(?![a-z])", _PERCENT),
    _cue("utilisation", r"(?<!显存)(?<!显存的)(?:利用率|使用率|开机率)|(?<!mem)(?<!memory)[\s-]*(?<![a-z_])(?:utili[sz]ation|duty cycle)",
         rf"{_PERCENT}\s*(?:的)?\s*(?:利用率|使用率|开机率|(?:gpu )?utili[sz](?:ation|ed)|busy|duty)", _PERCENT),
    _cue("tokens_per_row", r"每[条个](?:数据|样本|对话|记录)?|每一条|单条|平均(?:每条|长度)?|per (?:row|sample|example|record)|each(?: row| sample| example)?|"
                           r"av(?:g\.?|erage)(?: length)?|averag(?:es|ing)|(?:rows|samples|examples|records|instructions|conversations)\s*(?:of|with|at|averaging)",
         rf"{_TOKENS}\s*(?:/|per|a|每|in|一)?\s*{_ROW}(?![a-z])", _TOKENS),
    _cue("epochs", r"epochs?|num_train_epochs|轮数|训练轮次", r"[\s-]*(?:个)?\s*(?:epochs?(?![a-z])|轮(?![胎船到流车对]))", _FREE),
    _cue("batch_size", r"(?<![a-z])(?:micro|global|per[\s_-]device[\s_-](?:train[\s_-])?|mini)?[\s_-]*(?:batch(?!\s+of\s)(?:[\s_-]*size)?|bsz?|bs)|批大小|批次(?:大小)?|批量(?:大小)?",
         r"[\s-]*(?:的)?\s*batch(?:[\s_-]*size)?(?![a-z\s_-]*\d)(?!\s*[a-z])", _FREE[:-1] + r"|\s*[条次个])"),
    _cue("lora_rank", r"(?<![a-z])(?:lora[\s_-]*)?(?:rank|r(?==))|lora[\s_-]*r|秩"),
    _cue("tensor_parallel", r"(?<![a-z])tp|tensor[\s_-]*parallel(?:ism)?(?:[\s_-]*(?:size|degree))?|张量并行(?:度|数)?",
         r"[\s-]*(?:路|way)?[\s-]*(?:张量并行|tensor[\s-]parallel(?:ism)?|tp(?![a-z]))"),
    _cue("pipeline_parallel", r"(?<![a-z])pp|pipeline[\s_-]*parallel(?:ism)?(?:[\s_-]*(?:size|degree))?|流水线?并行(?:度|数)?",
         r"[\s-]*(?:路|way|级)?[\s-]*(?:流水线?并行|pipeline[\s-]parallel(?:ism)?|pp(?![a-z]))"),
    _cue("concurrency", r"并发(?:数|量|用户数?|请求数?)?|concurrency|concurrent(?: users| requests)?|max[\s_-]num[\s_-]seqs|"
                        r"同时(?:在线|使用|有|服务|给|来)*(?=\D{0,4}$)|用户数",
         r"[\s-]*(?:个|名|位|路)?\s*(?:的)?\s*(?:并发|用户|请求(?![每/])|(?:人|同学|同事|学生|老师|员工|程序员)(?:同时|(?:一起|在|都在)?(?:用|使用|在线|访问|问))|"
         r"(?:concurrent|simultaneous|parallel|active|internal|daily)?\s*(?:users?(?![a-z])|people|ppl(?![a-z])|persons|folks|clients|employees|developers|devs(?![a-z])|colleagues|co-?workers|teammates|"
         r"students|researchers|engineers|staff(?![a-z])|streams|sessions|"
         r"concurrent|concurrency|simultaneous|requests?(?![a-z])(?!\s*(?:/|per|an?\s|each|every)))|(?:并发|同时))",
         _FREE.replace("users?|", "").replace("|人", "") + _NO_LENGTH),
    _cue("input_tokens", r"输入(?:长度)?|(?<![a-z])input(?: length| tokens?)?|(?<![a-z])prompts?(?: length| tokens?)?|提示词?(?:长度)?|prefill",
         rf"{_OPEN}(?:的)?\s*{_IN}"),
    _cue("output_tokens", r"输出(?:长度)?|(?<![a-z])output(?: length| tokens?)?|生成(?:长度)?|(?<![a-z])generat(?:e|es|ing)|completion(?: tokens)?|"
                          r"max[\s_-](?:new[\s_-])?tokens|回复|回答|(?<![a-z])repl(?:y|ies)|(?<![a-z])responses?|(?<![a-z])answers?",
         rf"{_OPEN}(?:的)?\s*{_OUT}"),
    _cue("context_tokens", r"上下文|context|(?<![a-z])ctx|(?<![a-z])seq(?:uence)?|序列|窗口|max[\s_-]*(?:model[\s_-]*)?len|cutoff[\s_-]len|最大长度|"
                           r"(?:上下文|context|ctx|seq(?:uence)?|序列)(?:\s|_)*(?:长度|窗口|length|len|window|size)(?:\s*(?:length|size|长度))?",
         rf"{_OPEN}(?:上下文|context|ctx|窗口|seq(?:uence)?(?![a-z])|长文本|序列|长度)"),
)  # fmt: skip
# Units written behind a number before "tokens": 1T, 300B, 1.5 trillion. A bare M or k is read with the number.
SCALE = re.compile(r"\s*(?P<scale>trillions?|billions?|t|tn|b|bn)(?![a-z])")
SCALES = {"t": 10**12, "b": 10**9}
TOKENS = re.compile(
    _TOKENS
    + r"(?![a-z])(?!\s*(?:/|per|a|每|一)\s*(?:s(?:ec)?|second|秒|min|minute|分|h|hour|小时|day|天|日|month|月)(?![a-z]))"
)
# A volume of the day or a price per million is no training set.
NO_SET = re.compile(
    r"(?:每天|每(?!个?(?:[人次位名条路段篇份]|请求|用户))|每[日月]|一[天日]|日均|daily|(?<![a-z])(?:(?:per|every|each|a)(?![a-z])|/))[^\d,，。;]{0,6}$|/\s*$"
)
SET = re.compile(
    r"(?:训练(?:数据|语料|量)?|语料|数据量?|(?<![a-z])(?:on|over|of|training|corpus|dataset)|tokens?|\db)" + _SEP + "$"
)
NO_MEMORY = re.compile(r"(?!\s*(?:内存|显存|硬盘|memory|vram|ram|ssd|disk|storage|model|模型|[张卡块台]))")
CORPUS = re.compile(r"\s*(?:的)?\s*(?:语料|训练数据|corpus|training data)")
ROWS = re.compile(r"\s*(?:个|对|组|篇|份)?\s*(?:instructions?|instruction pairs|conversations|dialogu?es|dialogs|q&a pairs|qa pairs|pairs|"
                  r"问答对?|对话|指令)(?![a-z])")  # fmt: skip
AT = re.compile(r"(?:(?<![a-z])at|@|with|用)\s*$")  # KV cache of Llama-3-8B at 8k
FREE = re.compile(_FREE)
CACHE = re.compile(r"(?<![a-z])kv(?![a-z])[\s_-]*(?:cache|缓存)?|键值缓存|kvcache")
# The cache beside the weights, or whether both fit: a precision said there is the weights'.
NOT_CACHE_ALONE = re.compile(
    r"(?:加上?|连同?|包括|包含|含|算上|以及|with|plus|including|incl\.?|and|\+)\s*(?:the |its |an? )?(?:kv|键值)|够|放得下|装得下|能跑|预留|最小|(?<![a-z])(?:fits?|enough|run|serve|smallest|reserved?|free)(?![a-z])"
)
POWER = re.compile(r"电费|耗电|用电|(?<![a-z])(?:electricity|power (?:costs?|bill))(?![a-z])")
OWNS = re.compile(r"(?=.*(?:买|购|(?<![a-z])(?:buy|own)))(?=.*(?:租|(?<![a-z])rent))", re.DOTALL)
LOAD_AT = re.compile(r"(?:(?<![a-z])(?:at|with|load(?: of)?)|@|按|负载|负荷|满载|以|在)\s*(?:about |around |约)?\s*$")
SHARE_BEHIND = re.compile(r"\s*(?:%|percent(?![a-z])|per cent)(?!\s*(?:off|discount|折|的?(?:价|折扣)))")
WEIGHTS_NEAR = re.compile(r"(?:权重|weights?|模型|model)[^,，。;；\d]{0,6}$")
WEIGHTS_BEHIND = re.compile(r"\s*(?:的)?\s*(?:权重|weights?|模型)")
# Latin letters that may touch a number they are the cue of: bs4, tp8, r16, batch8.
GLUED = re.compile(r"(?<![a-z])(?:bsz?|tp|pp|batch|seq|ctx|rank|qps)$")

_BITS = r"[\s_-]*(?:bits?|比特|位(?!数))(?![a-z])"
_PRECISIONS = (
    ("gptq-int8", r"gptq[\s_-]*(?:int)?[\s_-]*8"),
    ("gptq-int4", r"gptq"),
    ("awq-int4", r"(?<![a-z])awq"),
    ("nf4-dq", r"nf4[\s_-]*(?:dq|double quant\w*|双重?量化)"),
    ("nf4", r"(?<![a-z])nf4"),
    ("nvfp4", r"(?<![a-z])nvfp4"),
    ("mxfp4", r"(?<![a-z])mxfp4"),
    ("fp4", r"(?<![a-z])fp4"),
    ("gguf", r"(?<![a-z0-9])q[2-8]_(?:k(?:_[sml])?|\d)(?![a-z0-9])"),
    ("q4_k_m", r"(?<![a-z0-9])q4[\s_-]*km(?![a-z0-9])"),
    ("int4", rf"(?<![a-z])int[\s_-]?4(?!\d)|(?<![\d.])4{_BITS}|四{_BITS}|(?<![a-z])w4a\d+|(?<![a-z0-9])q4(?=\s*(?:量化|gguf|quant))"),
    ("int8", rf"(?<![a-z])int[\s_-]?8(?!\d)|(?<![\d.])8{_BITS}|八{_BITS}|(?<![a-z])w8a8(?![a-z0-9])|(?<![a-z0-9])q8(?=\s*(?:量化|gguf|quant))"),
    ("int3", rf"(?<![a-z])int3(?!\d)|(?<![\d.])3{_BITS}|三{_BITS}"),
    ("int2", rf"(?<![a-z])int2(?!\d)|(?<![\d.])2{_BITS}|两{_BITS}"),
    ("fp8", r"(?<![a-z])fp[\s_-]?8(?!\d)|float8|e4m3"),
    ("bf16", r"(?<![a-z])bf[\s_-]?16(?!\d)|bfloat16"),
    ("fp16", rf"(?<![a-z])fp[\s_-]?16(?!\d)|(?<!b)float16|半精度|half[\s-]precision|(?<![\d.])16{_BITS}|十六{_BITS}"),
    ("fp32", rf"(?<![a-z])fp[\s_-]?32(?!\d)|float32|全精度|单精度|(?:full|single)[\s-]precision|(?<![\d.])32{_BITS}"),
)  # fmt: skip
PRECISIONS = tuple((name, re.compile(words)) for name, words in _PRECISIONS)
_ANY = "|".join(words for _, words in _PRECISIONS)
# "KV cache in fp8" before "fp8 KV cache", so that of "int4, kv fp8" the cache is fp8.
KV_PRECISIONS = (
    re.compile(rf"(?:kv|键值)[\s_-]*(?:cache|缓存)?[\s_-]*(?:dtype)?(?:\s|=|:|用|是|为|在|精度|量化|成|到|quanti[sz]ed|in|to|at|is|as)*(?P<kv>{_ANY})"),
    re.compile(rf"(?P<kv>{_ANY})[\s_-]*(?:的)?\s*(?:kv|键值)"),
)  # fmt: skip
TARGET = re.compile(r"(?:量化(?:成|到|为)|quanti[sz]ed? (?:to|into|in|at)|换成|改成|改为|换为|压到|down to)\s*$")
WITHDRAWN = re.compile(
    r"(?:不是|不要|不用|不开|不做|没开|没有?|别用?|关掉?|未|无需?|非|不|(?<![a-z])(?:no|not|without|disable[sd]?|instead of|rather than|don'?t use))\s*(?:the |an? |any )?$"
)
# Before a purpose that is put aside; 要不要训练 and 能不能训练 ask of it.
NOT_MEANT = re.compile(
    r"(?:(?<![要是用做会想能])(?:不|别|没有?)(?:折腾|打算|考虑|急着|做|搞|想|要|用|是|会|需要|再|去|拿来|\s){0,4}|"
    r"(?<![a-z])(?:no|not|without|instead of|rather than|don'?t|never|isn'?t)(?:\s+(?:going|planning|about|for|to|doing|the|any|want|need|care|model|llm)){0,4}\s+)$"
)
SWITCHED_OFF = re.compile(
    r"\s*(?:[=:]\s*(?:false|0|off|no)(?![a-z])|(?:都|也)?(?:不开|没开|关了?|关掉|不用)|(?:is |turned )?(?:off|disabled)(?![a-z]))"
)
QUANTISED = re.compile(r"量化(?!交易|投资|策略|私募|基金)|(?<![a-z])(?:un)?quanti[sz]\w*")

METHODS = (
    ("qlora", re.compile(r"q-?lora")),
    ("lora", re.compile(r"(?<!q)(?<!q-)lora(?![a-pr-z])")),
    ("freeze", re.compile(r"冻结|冻住|(?<![a-z])(?:freeze|freezing|frozen)(?![a-z])")),
    ("full", re.compile(r"全参数?|全量(?:参数)?(?:微调|训练|精调|sft)?|(?<![a-z])full(?:[\s-]*(?:parameters?|param|weight))?[\s-]*(?:fine[\s-]*tun\w*|ft(?![a-z])|sft|tuning|training)|"
                        r"fully[\s-]*(?:fine[\s-]*)?tun\w*|(?<![a-z])full[\s-]param\w*")),
)  # fmt: skip
OPTIMISERS = (
    ("adam-8bit", re.compile(r"(?:paged[\s_-]*)?adamw?[\s_-]*8[\s_-]*(?:bit|比特|位)|(?:8[\s_-]*(?:bit|比特|位)|八比特)[\s_-]*(?:的)?\s*(?:paged[\s_-]*)?(?:adamw?|优化器|optimi[sz]er)")),
    ("adafactor", re.compile(r"adafactor")),
    ("adamw", re.compile(r"(?<![a-z])adamw(?![a-z])")),
    ("adam", re.compile(r"(?<![a-z])adam(?![a-z])")),
    ("sgd", re.compile(r"(?<![a-z])sgd(?![a-z])")),
)  # fmt: skip
SWITCHES = (
    ("checkpointing", re.compile(r"梯度检查点|激活检查点|激活重算|重计算|重算|(?:gradient|activation)[\s_-]*(?:checkpoint\w*|recomput\w*)|recomput(?:ation|e|ing)\b")),
    ("flash_attention", re.compile(r"flash[\s_-]*att(?:ention|n)?(?:[\s_-]*[23])?|(?<![a-z])fa[23](?![a-z0-9])")),
    ("offload", re.compile(r"(?:cpu[\s_-]*|optimi[sz]er[\s_-]*|param(?:eter)?[\s_-]*)?offload(?:ing|ed)?(?![a-z])|卸载")),
)  # fmt: skip
ZERO_STAGE = re.compile(
    rf"(?<![a-z])zero[\s_-]*stage[\s_-]*(?P<a>[0-3])(?!\d)|(?<![a-z])zero[_-]?(?P<b>[0-3])(?![\d.])|(?<![a-z])zero (?P<c>[123])(?![\d.]){_FREE}|"
    r"deepspeed[\s_-]*(?:zero)?[\s_-]*(?:stage)?[\s_-]*(?P<d>[0-3])(?![\d.])|(?<![a-z])stage[\s_-]?(?P<e>[123])(?![\d.])(?=.*(?:zero|deepspeed)|(?<=zero.{7}))"
)
SHARDED = re.compile(r"(?<![a-z])fsdp2?(?![a-z])|fully sharded")
# Frameworks that train: one of them said, without another purpose, means full training (DeepSpeed-MII serves).
TRAINERS = re.compile(
    r"(?<![a-z])(?:fsdp2?|ddp|zero[\s_-]*(?:stage)?[\s_-]*[0-3](?![\d.])|zero(?=.{0,12}offload)|deepspeed(?![\s_-]*(?:mii|inference|fastgen))|"
    r"megatron(?:-lm)?)(?![a-z])|fully sharded|data[\s-]parallel(?:ism)?(?![a-z])|数据并行"
)
SERVES = re.compile(r"推理|推断|部署|(?<![a-z])(?:serv(?:e|es|ing)|infer\w*|deploy\w*|vllm|sglang)(?![a-z])")
PURPOSES = (
    ("finetuning", re.compile(r"微调|精调|fine[\s-]*tun|finetun|(?<![a-z])sft(?![a-z])|q?lora")),
    ("training", re.compile(r"预训练|激活值|训(?!练营)|pre[\s-]*train|(?<![a-z])train(?:s|ing|ed)?(?![a-z])")),
    ("inference", re.compile(r"推理|推断|部署|跑(?!分|步|路)|放得?下|装得?下|上线|(?<![a-z])(?:serv(?:e|es|ing)(?![a-z])|host(?:ing)?(?![a-z])(?! memory| ram| cpu)|run(?:s|ning)?(?![a-z])|"
                             r"deploy|infer|fits?(?![a-z]))")),
)  # fmt: skip
COUNTRIES = (
    ("CN", re.compile(r"国内|中国(?!银行|电信|联通|移动)|大陆|(?<![a-z])(?:in|to|from|within) (?:mainland )?china(?![a-z])|mainland")),
    ("US", re.compile(r"美国|(?<![a-z])in the (?:us|usa|states|united states)(?![a-z])")),
)  # fmt: skip
# What a question about running or training a model asks for; not aspects (aspects.py), whose words make no subject.
ASKS = (
    ("kv_cache", CACHE),
    ("electricity", re.compile(r"电费|耗电|用电|多少度|几度电|多少电(?!量)|费多少电|how (?:many|much) (?:kwh|kilowatt|electricity|energy)|(?<![a-z])kwh.{0,30}(?:draw|burn|take)|(?<![a-z])(?:electricity|power)\s+(?:costs?|bill|charges?|expenses?|consumption|use)(?![a-z])|(?<![a-z])kwh.{0,30}(?:use|consume)|cost of (?:the )?(?:electricity|power)(?![a-z])|(?<![a-z])(?:electricity|power) (?:of|for) .{1,60}?(?<![a-z])costs?(?![a-z])|(?<![a-z])(?:pay|spend|paid|spent) (?:for|on) (?:the )?(?:electricity|power)(?![a-z])")),
    ("fits", re.compile(
        r"能跑|跑得动|跑得了|跑得起|能不能跑|可以跑|能部署|够不够|够吗|够用|够么|放得下|放不下|装得下|装不下|能放|能装|能塞|塞得[下进]|塞不[下进]|装得进|吃得下|搞得定|能.{0,2}搞定|能加载|撑得住|带得动|带得起|扛得住|"
        r"会.{0,3}爆|爆显存|(?<![a-z])oom(?![a-z])|跑.{0,30}(?:吗|不$|行不|么$)|(?<![a-z])(?:fits?|handle|holds?|enough|able to run)(?![a-z])|"
        r"(?<![a-z])can .{1,40}(?:run|load|host|serve)(?![a-z])")),
    ("needs_memory", re.compile(
        r"显存|vram|(?<!host )(?<![a-z])memory|多大的?(?:内存|卡)|(?:多少|几个?)\s*g(?:b|ib)?(?![a-z])|(?<![a-z])oom(?![a-z])|kv[\s_-]*(?:cache|缓存)|"
        r"how (?:many|much) g(?:b|ib|igs?)?(?![a-z])")),
    ("serves", re.compile(
        r"(?:每秒|一秒).{0,8}(?:token|词元|字)|tokens?\s*(?:/|per|a)\s*s(?:ec|econd)?(?![a-z])|(?<![a-z])(?:tok/s|tps|t/s|qps|ttft|throughput)|吞吐|首\s*个?\s*token|出字|"
        r"生成速度|(?:每|per|/)\s*(?:百万|1?\s?m(?:illion)?|100\s?万|一百万)\s*(?:个)?\s*(?:output |input )?(?:tokens?|词元)|百万\s*(?:个)?\s*tokens?|decod(?:e|ing) speed|"
        r"(?<![a-z])(?:tokens?|time) (?:to|per) (?:first|second)|how many (?:concurrent )?(?:users|people|requests)|多少(?:个|路)?(?:并发|用户|人用)")),
    ("chooses", re.compile(
        r"(?:买|用|选|租|上|配|挑|推荐|哪)(?:什么|啥|哪|一?[张款块])(?:样的?|种|张|款|块|个|些)?\s*(?:卡|显卡|gpu)|选型|推荐.{0,6}(?:卡|gpu)|"
        r"(?:which|what|best|cheapest|right) (?:kind of |type of )?(?:gpu|card|graphics card|hardware|setup)s?(?![a-z])|recommend|"
        r"what (?:do|should|can|could|would) (?:i|we|you) (?:get|buy|pick|go for|go with)(?![a-z])|what to (?:get|buy)(?![a-z])")),
    ("how_long", re.compile(r"多久|几天|多少天|几小?时|多少小?时|多长时间|how (?:long|many (?:days|hours|weeks|gpu[\s-]hours))|(?<![a-z])time(?![a-z])|duration")),
)  # fmt: skip
