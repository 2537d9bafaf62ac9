"""Words that ask for a specification: of a card (columns of gpus.csv) and of an open model (columns of models.csv).

Word lists only. A new wording is one more word here; aspects.py takes its aspects "spec" and "model_spec" from here.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from rapidfuzz.distance import OSA

PRECISIONS = ("fp32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "int8_tops")
EVERYTHING = "all"
NOT_KEPT = "not-kept"

# column -> words of both languages, over normalised lower-case text
GPU_WORDS: dict[str, str] = {
    "memory": r"显存(?!带宽|位宽|类型)|vram|(?:gpu|video|graphics|on-?board) memory|how much memory|memory (?:size|capacity|type)|"
              r"显存类型|\bhbm\d?e?\b|\bgddr\d?x?\b",
    "bandwidth_gb_per_s": r"带宽|bandwidth|显存速度|memory speed",
    "fp32_tflops": r"\bfp32\b|单精度|single precision",
    "fp16_tflops": r"\bfp16\b|半精度|half precision",
    "bf16_tflops": r"\bbf16\b|bfloat16",
    "fp8_tflops": r"\bfp8\b",
    "int8_tops": r"\bint8\b",
    "tflops": r"算力(?!平台|限制|上限|计算器|卡|经费|价|租)|p?tflops?|\bpflops?|\btops\b|\bflops\b|浮点|throughput figure|compute power",
    "tdp_w": r"功耗|功率|耗电|多少瓦|几瓦|瓦数|\btdp\b|power (?:draw|consumption|limit|usage)|how much power|\bwatt(?:s|age)?\b",
    "interconnect": r"nv-?link|nvswitch|卡间|互联|互连|interconnect|infinity fabric",
    "release_year": r"哪一?年|几几年|发布(?:时间|日期|年份|于)|什么时候(?:发布|推出|上市|出的?)|何时(?:发布|推出|上市)|release[ds]?\b|"
                    r"launch(?:ed)? (?:year|date|in)|launch year|(?:what|which) year|come out|came out",
    "launch_price_usd": r"发售价|首发价|发布价|发布时的?价|官方(?:定|售|指导|建议)价|建议零售价|launch price|price at launch|msrp",
    "compute_capability": r"计算能力|算力版本|compute capability|\bsm_?\d\d",
    "architecture": r"架构|architecture|哪一?代|which generation",
    "form_factor": r"形态|接口|form ?factor|sxm ?(?:还是|or) ?pcie|pcie ?(?:还是|or) ?sxm",
    "export_status": r"出口|管制|禁运|禁售|禁令|被禁|受(?:到)?限|被限制|对华|[卖售](?:给|到|去|进|往)?(?:中国|国内|大陆)|(?:不让|不准|不许|不能|没法|禁止)(?:再)?(?:[卖售](?:给|到|去|进|往)|(?:出|进)口)|export|restricted|\bban(?:ned|s)?\b|\bbarred\b|"
                     r"(?:sell|sold|ship|shipped|selling).{0,24}china",
    EVERYTHING: r"规格|(?:详细|硬件|技术|全部|主要|基本)参数|参数(?:对比|表|是|有哪些|如何|怎么样)|\bspecs?\b|specifications?|data ?sheet",
    NOT_KEPT: r"cuda ?核心数?|(?:tensor|张量) ?核心数|核心数|多少个?.{0,6}核心|(?:cuda|tensor) cores|主频|频率|clock (?:speed|rate)|"
              r"位宽|bus width|晶体管|transistor|制程|process node|\bdie size",
}  # fmt: skip
MODEL_WORDS: dict[str, str] = {
    "active_parameters": r"激活|active (?:param|weight)|activated|active\b",
    "parameters": r"参数|\bparam(?:eter)?s?\b|几b\b|多少b\b|模型(?:有)?多大",
    "layers": r"层(?!面|级|次)|\blayers?\b|多深|how deep",
    "hidden_size": r"隐藏(?:层)?(?:维度|大小|尺寸)|hidden (?:size|dim)|\bd_model\b|embedding dim|嵌入维度",
    "attention_heads": r"(?<!kv )(?<!kv)(?:注意力)?头(?:数|有?多少)|注意力头|多少个?(?:注意力)?头|attention heads?|query heads?",
    "kv_heads": r"kv ?(?:的)?头|kv[- ]?heads?|key.?value heads?|\bgqa\b|\bmqa\b|\bmla\b",
    "head_size": r"每头维度|头维度|head[_ ](?:size|dim)",
    "mlp_size": r"\bmlp\b|\bffn\b|feed-?forward|intermediate size|中间层维度",
    "experts": r"专家|\bexperts?\b|\bmoe\b",
    "vocabulary": r"词表|词汇表|\bvocab",
    "context_tokens": r"上下文|context|最长(?:能)?(?:输入|支持)|窗口(?:长度|大小|多长)|最大长度|max(?:imum)? (?:length|tokens)",
    "windowed_layers": r"滑动窗口|sliding window|windowed",
    "licence": r"许可|协议|商用|商业(?:使用|用途)|licen[cs]e|commercial",
    EVERYTHING: r"结构|规格|配置文件|模型配置|\bspecs?\b|specifications?|architecture|架构|\bshape\b",
}  # fmt: skip
GPU_SPEC = "|".join(f"(?:{words})" for column, words in GPU_WORDS.items() if column != "export_status")
MODEL_SPEC = "|".join(f"(?:{words})" for words in MODEL_WORDS.values())
# "memory bandwidth" asks for one figure, "NVLink bandwidth" for another.
MEMORY_BANDWIDTH = re.compile(r"显存带宽|内存带宽|(?:memory|vram|hbm\w*) bandwidth")
RELEASED = re.compile(r"发布|推出|上市|问世|\brelease|\blaunch|\b(?:come|came) out")
# Long words that people misspell (bandwith, memroy, architechture), and what they shorten.
LONG_WORDS = ("bandwidth", "memory", "architecture", "interconnect", "precision", "consumption", "released", "specification",
              "specifications", "capability", "parameters", "attention", "licence", "license")  # fmt: skip
SHORT_WORDS = {"mem": "memory", "bw": "bandwidth", "arch": "architecture"}
LATIN_WORD = re.compile(r"(?<![a-z0-9])[a-z]{2,15}(?![a-z0-9])")
LEAST_LETTERS, TWO_SLIPS_FROM = 6, 9  # a word of nine letters may have two slips


@lru_cache(maxsize=256)
def spelt(lowered: str) -> str:
    """The text with the misspelt and shortened words of specifications as they are spelt: "mem bandwith" -> memory bandwidth."""
    return LATIN_WORD.sub(lambda match: _spelt_word(match.group()), lowered)


def _spelt_word(word: str) -> str:
    if word in SHORT_WORDS or len(word) < LEAST_LETTERS - 1 or word in LONG_WORDS:
        return SHORT_WORDS.get(word, word)
    for known in LONG_WORDS:
        slips = 2 if len(known) >= TWO_SLIPS_FROM else 1
        if word[0] == known[0] and abs(len(word) - len(known)) <= slips and OSA.distance(word, known) <= slips:
            return known
    return word


def gpu_columns(text: str) -> tuple[str, ...]:
    """The columns of gpus.csv that a normalised text asks for, in the order of the table; may hold NOT_KEPT."""
    lowered = spelt(text.lower())
    found = [column for column, pattern in _gpu_patterns().items() if pattern.search(lowered)]
    if "tflops" in found:
        found.remove("tflops")
        if not set(found) & set(PRECISIONS):
            found += PRECISIONS
    if "export_status" in found and "release_year" in found and not RELEASED.search(lowered):
        found.remove("release_year")  # "哪年开始不让卖的" asks for the year of the rule
    if MEMORY_BANDWIDTH.search(lowered) and "memory" in found and not _bare_memory(lowered):
        found.remove("memory")
    if "interconnect" in found and "bandwidth_gb_per_s" in found and not MEMORY_BANDWIDTH.search(lowered):
        found.remove("bandwidth_gb_per_s")
    if "compute_capability" in found and set(PRECISIONS) <= set(found):
        found = [column for column in found if column not in PRECISIONS]
    return tuple(column for column in GPU_WORDS if column in found)


def model_columns(text: str) -> tuple[str, ...]:
    """The columns of models.csv that a normalised text asks for."""
    lowered = spelt(text.lower())
    found = [column for column, pattern in _model_patterns().items() if pattern.search(lowered)]
    if "active_parameters" in found and not re.search(r"总参|total", lowered):
        found = [column for column in found if column != "parameters"]
    if "head_size" in found or "kv_heads" in found:
        found = [
            column for column in found if column != "attention_heads" or re.search(r"注意力头|attention|query", lowered)
        ]
    return tuple(found)


def _bare_memory(lowered: str) -> bool:
    """Whether the memory itself is asked for beside its bandwidth: 显存和带宽, memory and bandwidth."""
    rest = MEMORY_BANDWIDTH.sub(" ", lowered)
    return bool(_gpu_patterns()["memory"].search(rest))


@cache
def _gpu_patterns() -> dict[str, re.Pattern[str]]:
    return {column: re.compile(words) for column, words in GPU_WORDS.items()}


@cache
def _model_patterns() -> dict[str, re.Pattern[str]]:
    return {column: re.compile(words) for column, words in MODEL_WORDS.items()}
