"""What a question asks of the rows: cheapest, difference, ratio, host memory, buying or renting ...

Word lists only: which rows are meant is decided elsewhere. A new wording is one more word here.
"""

from __future__ import annotations

import re
from functools import cache

from assistant.spec_words import GPU_SPEC, MODEL_SPEC

# aspect -> words of both languages, as regular expressions over normalised lower-case text
WORDS: dict[str, str] = {
    "cheapest": r"最便宜|有(?:没有)?[^,，。;；?？]{0,6}比[这它那][^,，。;；?？]{0,4}便宜|最低|最省|最实惠|最划算|最经济|更便宜|更省|更经济|更划算|便宜点|哪家便宜|哪个便宜|谁便宜|性价比|cheap(?:est|er)?|\blowest|least expensive|best (?:price|deal|value)|economical",
    "dearest": r"最贵|最高|更贵|哪家贵|哪个贵|谁贵|most expensive|dearest|priciest|highest",
    "order": r"排一?下|排序|排个|排名|从.{1,4}到.{1,4}|由低到高|由高到低|从低到高|sort|rank|order(?:ed)? by|cheapest first|low(?:est)? to high",
    "difference": r"贵多少|便宜多少|差多少|相差|差价|差距|贵几|便宜几|省多少|高多少|低多少|多花|少花|多付|比.{1,16}(?:贵|便宜|高|低|省)|difference|how much (?:more|less|cheaper|dearer)|(?:cheaper|dearer|more expensive|less) .{0,40}than|gap|save",
    "percent": r"百分|%|percent|pct|几成",
    "ratio": r"几倍|多少倍|倍价|倍数|能租几|能换几|相当于几|ratio|times (?:as|the|more)|how many .{0,40}(?:equal|for the price|worth|for one)|multiple",
    "average": r"平均|均价|average|mean\b|avg",
    "host": r"核|cpu|内存|配置|主机|ram\b|\bcores?\b|host memory|vcpus?|specs? of the (?:machine|instance)|configuration",
    "host_memory": r"内存|ram\b|host memory",
    "gpu_memory": r"显存|vram|gpu memory|video memory",
    "rent": r"租|每小时|一小时|小时价|时价|/小时|/h\b|云|实例|包月|包年|\brent|per hour|hourly|an hour|\bhr\b|cloud|lease|on-demand|instance",
    "buy": r"(?<![够收要想])买|购|入手|收[一到张]|收得?到|售价|卖|零售|二手|京东|\bbuy|purchas|retail|msrp|to own|sell|street price",
    "price": r"价|多少钱|啥价|几块|几元|贵|便宜|费用|收费|成本|花多少|要多少|预算|price|prcie|pricing|cost|charg|cheap|expensive|how much|fee|\brate\b|\bpay|按需|on[- ]demand|dearer|dearest|pric(?:ier|iest)",
    "mine": r"我租的|我的|我这|我自己|我们租|我花|我拿到|我买|\bmy\b|\bi rent|\bi pay|costs? me|\bwe pay|\bour\b|如果.{0,12}[元块]|假设|按.{0,8}[元块]",
    "enough": r"够不够|够吗|够用|够.{0,14}吗|够|能不能|行吗|行不行|可以吗|ok ?吗|ok\?|enough|suffic|can i|could i|is it possible|within|does .{0,30}(?:cover|buy)",
    "limit": r"预算|不超过|以内|以下|之内|低于|少于|不到|最多|上限|budget|under|below|less than|at most|up to|no more than|within|cap",
    "plan": r"包月.{0,6}(?:价|便宜|划算|哪个|折扣|优惠)|按月.{0,6}(?:价|便宜|划算)|包年|年付|月付|预留|订阅|折扣|优惠|monthly plan|subscription|reserved|discount|commit",
    "hyperparameters": r"epoch|轮次?数?|几轮|batch[ _-]?size|batch ?(?:多大|多少|是|设)|学习率|learning rate|序列长度|seq(?:uence)? ?len|max_len|超参|hyper-?param|优化器|optimi[sz]er|warmup|精度是|什么精度",
    "large_data": r"(?:大|多)的?那?个?(?:数据|那个|的那)|大数据集|larger (?:data|set|run)|bigger (?:data|set|run)|big dataset|more rows",
    "small_data": r"(?:小|少)的?那?个?(?:数据|那个|的那)|小数据集|smaller (?:data|set|run)|small dataset|fewer rows",
    "per_row": r"每条|每一条|平均一条|单条|每千条|per (?:row|sample|example|record)|a row\b|each (?:row|sample)",
    "training": r"训|train|微调|fine-?tun",
    "inference": r"推理|推断|inference|serving|serve",
    "break_even": r"才(?:比|划算|合算|值)|划算|合算|beat|break.?even|worth it|pays? off|below (?:what|which)|不超过多少|up to what",
    "server": r"服务器|机箱|整机|机架|整套|那套|\bbox\b|chassis|\bserver|\b\d ?u\b",
    "box": r"机箱|整机|那套|\bbox\b|chassis|\b\d ?u\b",
    "descending": r"从贵到便宜|由高到低|从高到低|从大到小|high(?:est)? to low|descending|(?:most expensive|dearest) first",
    "double": r"翻倍|翻一番|加倍|\bdouble|\btwice",
    "halve": r"减半|一半|\bhalf (?:that|the|of|as)|\bhalve",
    "cards": r"张|卡|台|\bcards?\b|\bgpus?\b",
    "most": r"最多|最大|\bmost\b|largest|biggest",
    "fast": r"快|慢|fast|slow|quick",
    "use": r"适合(?:做|干|什么|哪)|用来|干什么用|做什么|用途|good for|suited|used for|suitable",
    "why": r"为什么|为何|为啥|\bwhy\b",
    "past": r"(?:花|用|训|练|跑|耗)(?:费)?了(?:多|几)|\btook\b|\bdid\b.{0,60}\btake\b|was trained (?:for|on) how",
    "ranking": r"排第几|第几名|天梯|排行榜|\btop ?\d+|leaderboard|(?:which|what) rank",
    "spot": r"竞价|抢占|\bspot\b|preemptible",
    "stock": r"有货|库存|现货|in stock",
    "yuan": r"(?:[折换]?合成?|折成?|换成)?人民币(?:大概|大约|差不多)?|换成元|换成人民币|折合元|用人民币|in (?:cny|rmb|yuan|renminbi)\b",
    "dollars": r"(?:[折换]?合成?|折成?|换成)美[元金](?:大概|大约|差不多)?|美元价|按美元|换算成美元|多少美元|[换用转折]成?(?:合|算)?成?美[元金]|美元(?:的?呢|计价)|in (?:us )?dollars|in usd",
    "spec": GPU_SPEC,
    "model_spec": MODEL_SPEC,
    "export": r"限制|出口|管制|禁|对华|export|restrict|\bban",
    "each": r"各|分别|\beach\b|respectively",
    "separately": r"分别|各自|各(?:要|是|得|需)?多少|respectively|separately|for each\b|each (?:cost|one)",
    "payback": r"回本|打平|回收成本|多久.{0,6}(?:划算|合算)|break.?even|pay ?back|pays? for itself|pay off",
    "which": r"哪|啥|什么|which|what",
    "scales": r"线性|加速比|并行效率|扩展效率|\blinear|scal(?:e|es|ed|ing)\b",
    "how_many": r"几张|多少张|几块卡|多少块卡|几卡|多少卡|几台|多少台|几个卡|几片|how many",
    "total": r"总|一共|共|合计|加起来|total|altogether|in all|sum",
    "same": r"同样|一样的?时间|same",
}  # fmt: skip

# "包月怎么卖" asks what a month is sold for; nobody buys the card.
SOLD_BY_TIME = re.compile(
    r"(?<=包月|包年|小时|一天|每天|每月|按量|按时|个月)[^,，。;；]{0,4}卖(?!卡|掉|给)|(?<=租)[^,，。;；]{0,2}卖|"
    r"卖(?=[^,，。;；]{0,8}(?:小时|一天|每天|一个月|每月|/h))",
    re.I,
)

ALL_CLOUDS = re.compile(
    r"(?:三|各|每|所有|全部|其他|其余|另外|别的)(?:[两三几]?[家个])?(?:云|家|厂商|平台)?(?:都|呢|的|吗|全部|$)|all (?:three|of them|clouds|providers)|(?:the )?others?\b|other (?:clouds|providers|two)"
)
# Words that open a follow-up, and words that carry no content of their own.
FOLLOW_UP = re.compile(
    r"^\W*(?:那么?|换成?|改成?|改为|如果|要是|假如|再|还有|另外|不对|不是|and\b|what about|how about|make (?:that|it)|"
    r"what if|then\b|same\b|instead|but\b|or\b|no,|also\b|now\b|ok,?|plus\b|add\b|switch)", re.I
)  # fmt: skip
FILLER = re.compile(
    r"那么?|换成?|改成?|改为|如果|要是|假如|再|加上?|还有|另外|不对|不是|是|呢|吗|嘛|啊|吧|的|了|用|跑|开|在|上|要|多少钱?|怎么样|同样|一样|时间|"
    r"备机|备用机?|机器|一下|减掉?|去掉|少一?|刚才|这样|那样|来算|的话|我问|我说|我是说|你说|意思|改|数量|时长|单位|算成|帮我|请|算|给|我|就|也|都|单|连续?|不关机|打错|说错|写错|只|仅|有|其[他它]|不变|照旧|别的|列|"
    r"\b(?:and|what|how|remove|drop|take|away|off|minus|plus|let|go|said|say|about|around|roughly|should|really|actually|wrong|mistake|number|about|make|that|it|if|then|same|instead|but|or|no|also|now|ok|plus|add|switch|to|for|on|in|of|the|a|an|is|are|"
    r"with|please|not|sorry|i|meant|mean|only|have|need|so|them|those|these|rest|unchanged|everything|else|by|cards?|gpus?|each|all|than|please|me|use|run|do|does|at|time|again|one|more|spare|much|would|be|s|cost|machine|node)\b|[\W_]",
    re.I,
)  # fmt: skip


def aspects_of(text: str) -> frozenset[str]:
    """The aspects that the words of a normalised text name."""
    lowered = SOLD_BY_TIME.sub(" ", text.lower())
    return frozenset(aspect for aspect, pattern in _patterns().items() if pattern.search(lowered))


def without_aspects(text: str) -> str:
    """A text without the words that name aspects."""
    lowered = text.lower()
    for pattern in _patterns().values():
        lowered = pattern.sub(" ", lowered)
    return ALL_CLOUDS.sub(" ", lowered)


def content_words(text: str) -> list[str]:
    """What a text says beside fillers: Latin words of three letters or more, Chinese runs of two characters or more."""
    return re.findall(r"[a-z]{3,}|[\u4e00-\u9fff]{2,}", FILLER.sub(" ", text.lower()))


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {aspect: re.compile(words) for aspect, words in WORDS.items()}
