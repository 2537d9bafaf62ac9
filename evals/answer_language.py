"""Is a text written in Chinese or English? Names, units, tables, quotations and sources may be in the other. No model."""

from __future__ import annotations

import re

from assistant.evidence import Language

ASIDE = re.compile(r"\s*(?:[-*]\s)?(?:\||>|\[|来源|來源|出处|sources?\b)", re.IGNORECASE)
LINK = re.compile(r"https?://\S+|\[[^\]]*\]\([^)]*\)|```.*?```", re.DOTALL)
NEUTRAL = re.compile(
    r"\b(?:CNY|USD|RMB|EUR|GPUs?|CPUs?|vCPUs?|GiB|GB|TB|MiB|TFLOPS|TOPS|GHz|kWh|tokens?|hours?|CUDA|NVIDIA|LoRA|QLoRA"
    r"|AWS|Azure|Google|Colab|Kaggle|AutoDL)\b",
    re.IGNORECASE,
)
ENOUGH_WORDS = 8  # a shorter text is only wrong if it has nothing of the wanted language
LEAST_CHINESE, MOST_CHINESE = 0.25, 0.5


def written_in(text: str, language: Language) -> bool:
    """Whether the prose of a normalised text is in `language`; two Chinese characters count as a word."""
    lines = [line for line in LINK.sub(" ", text).split("\n") if not ASIDE.match(line)]
    prose = NEUTRAL.sub(" ", "\n".join(lines) if any(line.strip() for line in lines) else text)
    chinese = len(re.findall(r"[\u4e00-\u9fff]", prose)) / 2
    latin = len(re.findall(r"[A-Za-z]{2,}", prose))
    if chinese + latin < ENOUGH_WORDS:
        own, other = (chinese, latin) if language == "zh" else (latin, chinese)
        return own > 0 or other < 2
    share = chinese / (chinese + latin)
    return share >= LEAST_CHINESE if language == "zh" else share <= MOST_CHINESE
