"""The built-in documents: their form, that zh and en are twins, and that every fact of the sources is in both.

Does not test how passages are built or found. The facts below were written from the articles and the handout.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

KNOWLEDGE = Path(__file__).parents[1] / "knowledge"
OUR_NOTE = {"zh": "本工具说明：", "en": "Our note:"}
PRICE = re.compile(
    r"\d[\d,.]*\s*万?\s*(?:元|人民币|CNY|RMB|yuan|美元|美金|USD|US dollars)|[$¥￥]\s*\d|价格（元）|price \(CNY\)"
)
SCALES = {"亿": 10**8, "billion": 10**9, "万": 10**4, "million": 10**6}
NAMES_WITH_DIGITS = re.compile(
    r"SYS-[A-Z0-9]+-[A-Z]+|G[NT]\d\.\w+|(?:RTX )?4090|Top 100|[Aa]rticle \d|[A-Za-z]+-?\d+[A-Za-z]*|\d+B(?![A-Za-z])"
)


@dataclass(frozen=True)
class Section:
    """One `##` section with the sources that hold for it."""

    topic: str
    language: str
    kind: str
    number: int
    sources: tuple[str, ...]
    heading: str
    body: str

    @property
    def prose(self) -> str:
        return "\n".join(line for line in self.body.splitlines() if not line.startswith("|"))


def front_matter(path: Path) -> tuple[dict[str, str], str]:
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return {key: value.strip() for key, _, value in (line.partition(":") for line in head.splitlines())}, body


def sections_of(path: Path) -> list[Section]:
    front, body = front_matter(path)
    found = []
    for number, part in enumerate(re.split(r"^## ", body, flags=re.M)[1:], start=1):
        heading, _, text = part.partition("\n")
        override = re.match(r"\s*<!-- source: (.+?) -->", text)
        sources = tuple(key.strip() for key in (override[1] if override else front["source"]).split(","))
        text = text[override.end() :] if override else text
        text = re.sub(r"^\s*<!-- asked: .+? -->", "", text)  # questions lead to a section and say nothing
        where = front["topic"], front["language"], front["kind"], number
        found.append(Section(*where, sources, heading.strip(), text.strip()))
    return found


def rows(table: str) -> list[dict[str, str]]:
    with (KNOWLEDGE / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


FILES = sorted((KNOWLEDGE / "documents").glob("*.md"))
SECTIONS = [section for path in FILES for section in sections_of(path)]
TOPICS = sorted({section.topic for section in SECTIONS})
EACH_SECTION = pytest.mark.parametrize(
    "section", SECTIONS, ids=[f"{section.topic}.{section.language}#{section.number}" for section in SECTIONS]
)


def in_topic(topic: str, language: str) -> list[Section]:
    return [section for section in SECTIONS if section.topic == topic and section.language == language]


def text_of(topic: str, language: str) -> str:
    return "\n".join(f"{section.heading}\n{section.body}" for section in in_topic(topic, language))


def length(section: Section) -> int:
    """Words in English; Chinese characters plus Latin words and numbers in Chinese. Tables are not counted."""
    return len(re.findall(r"[\u4e00-\u9fff]|[A-Za-z0-9][\w.,:/-]*", section.prose))


def figures(text: str) -> Counter[float]:
    """Every number outside names such as A100, with 亿 and billion multiplied out."""
    text = NAMES_WITH_DIGITS.sub(" ", re.sub(r"https?://\S+|\bv\d\b", " ", text))
    found = re.findall(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s*(亿|万|billion|million)?", text)
    return Counter(float(number.replace(",", "")) * SCALES.get(scale, 1) for number, scale in found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_front_matter_is_complete_and_names_known_sources(path: Path) -> None:
    front, body = front_matter(path)
    assert set(front) == {"title", "language", "topic", "source", "kind"}
    assert all(front.values())
    assert path.name == f"{front['topic']}.{front['language']}.md"
    assert front["language"] in {"zh", "en"}
    assert front["kind"] in {"text", "gap"}
    assert body.strip().startswith(f"# {front['title']}\n")
    known = {row["key"] for row in rows("sources")}
    assert {key for section in sections_of(path) for key in section.sources} <= known


@pytest.mark.parametrize("topic", TOPICS)
def test_twins_have_equal_sections_with_equal_figures_and_sources(topic: str) -> None:
    zh, en = in_topic(topic, "zh"), in_topic(topic, "en")
    assert len(zh) == len(en) > 0
    for chinese, english in zip(zh, en, strict=True):
        assert (chinese.kind, chinese.sources) == (english.kind, english.sources), chinese.heading
        assert set(figures(chinese.body)) == set(figures(english.body)), chinese.heading
        assert (OUR_NOTE["zh"] in chinese.body) == (OUR_NOTE["en"] in english.body), chinese.heading


@EACH_SECTION
def test_a_section_is_short_enough_to_quote_and_long_enough_to_answer(section: Section) -> None:
    least, most = {("zh", "text"): (60, 350), ("en", "text"): (40, 200)}.get(
        (section.language, section.kind), (15, 120)
    )
    assert least <= length(section) <= most


@EACH_SECTION
def test_a_section_does_not_lean_on_the_one_before_it(section: Section) -> None:
    leaning = (
        r"(?:它|其|这|该|此外|另外|因此|所以|但|It |They |This |These |That |Such |Moreover|However|But |So |Also )"
    )
    assert not re.match(leaning, section.body)


@EACH_SECTION
def test_our_own_remarks_are_marked_and_counted_among_the_sources(section: Section) -> None:
    marked = OUR_NOTE[section.language] in section.body
    assert "own" in section.sources if marked else section.sources == ("own",) or "own" not in section.sources, (
        "a section that mixes an article with our own words must say where ours begin"
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_headings_are_unique_so_that_a_citation_is_unambiguous(language: str) -> None:
    counted = Counter(section.heading for section in SECTIONS if section.language == language)
    assert [heading for heading, times in counted.items() if times > 1] == []


@EACH_SECTION
def test_a_stated_price_names_the_table_that_holds_it(section: Section) -> None:
    if PRICE.search(section.body):
        assert re.search(r"(?:offers|purchases|platforms)\.csv", section.body), PRICE.search(section.body)


def test_the_price_pattern_sees_the_prices_that_stand_in_the_documents() -> None:
    seen = {section.topic for section in SECTIONS if PRICE.search(section.body)}
    assert {"purchase-prices", "platforms", "which-card"} <= seen


@pytest.mark.parametrize("price", [row["price"] for row in rows("offers") if row["source"] == "gpu-guide-1"])
def test_an_hourly_price_stands_in_the_table_alone(price: str) -> None:
    assert not [section.heading for section in SECTIONS if re.search(rf"(?<![\d.]){re.escape(price)}", section.body)]


@pytest.mark.parametrize("section", [section for section in SECTIONS if section.kind == "gap"], ids=lambda s: s.heading)
def test_a_gap_says_first_that_it_is_not_known_and_holds_no_figure(section: Section) -> None:
    opening = {"zh": r"没有|不知道", "en": r"Not (?:stated|known)"}[section.language]
    assert re.match(opening, section.body)
    assert not figures(section.body), "a figure here could be mistaken for the missing one"


TABLE_LINES = [
    *[("chatglm-runs", [row["model"], row["rows"], row["method"], row["duration"]]) for row in rows("training_runs")],
    *[("purchase-prices", [r["gpu"], f"{int(r['price']):,}", r["memory_as_printed"]]) for r in rows("purchases") if r["source"] == "gpu-handout"],
    *[("memory-advice", [row["card_count"] or row["memory_min_gb"], row["card"], row["recommended"]])
      for row in rows("memory_advice")],
]  # fmt: skip


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(("topic", "cells"), TABLE_LINES, ids=lambda value: str(value))
def test_a_table_in_a_document_says_what_the_csv_says(topic: str, cells: list[str], language: str) -> None:
    lines = [re.sub(r"\s+", " ", line) for line in text_of(topic, language).splitlines() if line.startswith("|")]
    assert any(all(cell in line for cell in cells) and re.search(rf"\| .*\b{cells[0]}\b", line) for line in lines), (
        cells
    )


@pytest.mark.parametrize("row", rows("speedups"), ids=lambda row: row["id"])
def test_the_speed_factors_equal_the_table(row: dict[str, str]) -> None:
    word = {"training": "训练", "inference": "推理"}[row["task"]]
    assert f"{row['precision']} {word}快约 {row['factor']} 倍" in text_of("h100-vs-a100", "zh")
    assert f"{row['factor']}x in {row['precision']} {row['task']}" in text_of("h100-vs-a100", "en")


# topic, what the Chinese text must hold, what the English one must hold: all within one section of that topic.
FACTS: list[tuple[str, list[str], list[str]]] = [
    ("about-sources", ["训练、微调、RAG", "高可用推理服务", "最高性价比"],
     ["training, fine-tuning, RAG", "best value"]),
    ("about-sources", ["没有注明日期", "2023"], ["None of them carries a date", "2023"]),
    ("gpu-and-nvidia", ["Graphical Processing Units", "图形处理器"], ["Graphical Processing Units"]),
    ("gpu-and-nvidia", ["游戏", "电影", "2D、3D", "并行的矩阵运算"],
     ["video games", "films", "2D and 3D", "parallel matrix"]),
    ("gpu-and-nvidia", ["机器视觉", "NLP", "语音识别", "自动驾驶"],
     ["machine vision", "NLP", "speech recognition", "autonomous driving"]),
    ("gpu-and-nvidia", ["1993", "垄断", "几乎是唯一选择"], ["1993", "monopoly", "almost the only choice"]),
    ("gpu-and-nvidia", ["黄教主", "黄仁勋", "创始人"], ["Leader Huang", "Jensen Huang", "founder"]),
    ("cuda-and-tensor-cores", ["并行计算平台和编程模型", "通用计算", "万能工人"],
     ["parallel computing platform and programming model", "general-purpose", "jack of all trades"]),
    ("cuda-and-tensor-cores", ["光线追踪", "纹理", "阴影"], ["rendering", "ray tracing", "textures", "shadows"]),
    ("cuda-and-tensor-cores", ["光源", "物体", "摄像机"], ["from a source", "object", "camera"]),
    ("cuda-and-tensor-cores", ["张量核心", "深度学习", "矩阵运算", "语音助手", "人脸识别"],
     ["张量核心", "deep learning", "matrix operations", "voice assistants", "face recognition"]),
    ("cuda-and-tensor-cores", ["安全系统", "智能手机", "矩阵乘法和加法"],
     ["security systems", "smartphones", "matrix multiplications and additions"]),
    ("cuda-and-tensor-cores", ["CUDA 核心是通用的", "是专用的"], ["CUDA cores are general", "are special"]),
    ("h100-vs-a100", ["推理快约 3.5 倍", "训练快约 2.3 倍"], ["3.5x in 16-bit inf", "2.3x in 16-bit train"]),
    ("h100-vs-a100", ["Tim Dettmers", "timdettmers.com/2023/01/30/which-gpu-for-deep-learning/"],
     ["Tim Dettmers", "timdettmers.com/2023/01/30/which-gpu-for-deep-learning/"]),
    ("export-rule", ["美国商务部", "4800 TOPS", "600 GB/s"], ["US Department of Commerce", "4800 TOPS", "600 GB/s"]),
    ("export-rule", ["A100 和 H100", "禁止向中国供货"], ["A100 and H100", "barred from supplying"]),
    ("export-rule", ["A800 和 H800", "中国市场", "黄教主"], ["A800 and H800", "Chinese market", "Leader Huang"]),
    ("export-rule", ["50 亿美元", "腾讯", "字节", "A800"], ["5 billion US dollars", "Tencent", "ByteDance", "A800"]),
    ("export-rule", ["规则会变", "现行规则", "不提供法律意见"], ["rules change", "current rules", "no legal advice"]),
    ("export-rule", ["没有说 A800 和 H800 现在还能不能买"], ["nor do the articles say whether the A800 and H800"]),
    ("chatglm-runs", ["RTX 4090", "training_runs.csv"], ["RTX 4090", "training_runs.csv", "LoRA"]),
    ("chatglm-runs", ["pt2 最可能指 P-Tuning v2", "没有解释"], ["pt2 most likely means P-Tuning v2", "not define it"]),
    ("chatglm-runs", ["Low-Rank Adaptation", "低秩"], ["Low-Rank Adaptation"]),
    ("memory-advice", ["llm-utils", "memory_advice.csv"], ["llm-utils", "memory_advice.csv"]),
    ("memory-advice", ["Falcon-40B 需要 85 GB 到 100 GB 或更多", "See Falcon-40B table", "并没有这张表"],
     ["85 GB to 100 GB of GPU memory or more", "See Falcon-40B table", "no such table"]),
    ("memory-advice", ["MPT-30B 时，显卡应有 80 GB", "See MPT-30B table", "没有余量"],
     ["80 GB of GPU memory", "See MPT-30B table", "no headroom"]),
    ("memory-advice", ["LLaMA (65B)", "8000 台", "超大的 H100 集群", "2,048 张 GPU"],
     ["LLaMA (65B)", "8000 NVIDIA A100", "very large H100 cluster", "2,048 GPUs"]),
    ("memory-advice", ["Falcon (40B)", "384 台 40 GB", "大型 H100 集群"],
     ["Falcon (40B)", "384 A100 cards with 40 GB", "large H100 cluster"]),
    ("memory-advice", ["大规模微调", "64 台 40 GB", "H100 集群"], ["64 A100 cards with 40 GB", "H100 cluster"]),
    ("memory-advice", ["小规模微调", "4 台 80 GB", "Multi-H100"], ["4 A100 cards with 80 GB", "multi-H100"]),
    ("memory-advice", ["「台」最可能指 GPU", "不是服务器"], ["most likely counts GPUs", "not servers"]),
    ("memory-advice", ["Hugging Face 排行榜第一", "写作之时"], ["first on the Hugging Face", "time of article 2"]),
    ("which-card", ["GeForce RTX 4090 等消费级", "中等规模"], ["GeForce RTX 4090", "consumer", "medium-sized"]),
    ("which-card", ["公司的大规模数据和复杂模型", "NVIDIA A100"], ["large data and complex models", "NVIDIA A100"]),
    ("which-card", ["数据规模小", "A10 或 T4"], ["small data", "A10 or T4"]),
    ("platforms", ["不适合对外提供服务", "Colab（谷歌，Google）"], ["not suited to serving", "Colab (by Google)"]),
    ("terms-models", ["LoRA", "梯度和优化器状态只需要给这一小部分参数"],
     ["LoRA", "gradients and optimizer states are needed only for those few"]),
    ("which-card", ["性价比", "4090 显卡搭建服务器", "AutoDL 的 4090 服务"],
     ["best value", "server from RTX 4090", "4090 service of AutoDL"]),
    ("which-card", ["A100 是顶级的企业级 GPU", "高性能计算"], ["top enterprise GPU", "high-performance computing"]),
    ("which-card", ["T4 相比之下更经济", "日常模型微调和推理"],
     ["T4 is more economical", "everyday model fine-tuning and inference"]),
    ("which-card", ["Kaggle 免费", "每周 30 小时", "9 美元", "AutoDL"],
     ["Kaggle is free", "30 hours a week", "9 US dollars", "AutoDL"]),
    ("memory-and-disk", ["512 GB", "ECC 或 DDR5", "A800/H800 x 8"], ["512 GB", "ECC or DDR5", "A800/H800 x 8"]),
    ("memory-and-disk", ["4 TB 到 8 TB", "SSD 或 NVMe"], ["4 TB to 8 TB", "SSD or NVMe"]),
    ("memory-and-disk", ["GLM、LLaMA", "A800 或 H800"], ["GLM and LLaMA", "A800 or H800"]),
    ("memory-and-disk", ["512 GB", "32 条 64 GB", "2,048 GB", "不一致"],
     ["512 GB", "32 modules of 64 GB", "2,048 GB", "do not agree"]),
    ("reference-servers", ["SYS-420GP-TNAR（4U）", "2 颗 8358", "每颗 32 核", "64 核", "铂金版", "2.6 GHz", "3.4 GHz"],
     ["SYS-420GP-TNAR (4U)", "2x 8358", "32 cores each", "64 in all", "Platinum", "2.6 GHz", "3.4 GHz"]),
    ("reference-servers", ["8358", "HGX A100/A800（80G SXM）", "32 条 64 GB DDR4", "2,048 GB"],
     ["8358", "HGX A100/A800 (80G SXM)", "32 modules of 64 GB DDR4", "2,048 GB"]),
    ("reference-servers", ["SYS-821GE-TNHR（8U）", "2 颗 8468", "每颗 48 核", "96 核", "铂金版", "2.1 GHz", "3.8 GHz"],
     ["SYS-821GE-TNHR (8U)", "2x 8468", "48 cores each", "96 in all", "Platinum", "2.1 GHz", "3.8 GHz"]),
    ("reference-servers", ["8468", "HGX H100/H800（80G SXM5）", "32 条 64 GB DDR5", "2,048 GB"],
     ["8468", "HGX H100/H800 (80G SXM5)", "32 modules of 64 GB DDR5", "2,048 GB"]),
    ("reference-servers", ["多 32 核", "4U", "8U", "DDR4", "DDR5"], ["32 cores more", "4U", "8U", "DDR4", "DDR5"]),
    ("reference-servers", ["自动驾驶和深度学习解决方案"], ["autonomous driving and deep-learning solutions"]),
    ("own-machine-or-cloud", ["经常做微调实验", "方便很多"], ["frequent fine-tuning", "much more convenient"]),
    ("own-machine-or-cloud", ["提供推理服务，首选云服务"], ["serving inference, cloud services are the first choice"]),
    ("own-machine-or-cloud", ["自建机房或 IDC", "请随意"], ["own machine room or IDC", "as they please"]),
    ("own-machine-or-cloud", ["偶尔", "租更合适", "本工具的推断"], ["occasional", "renting", "our own inference"]),
    ("clouds", ["阿里云 https://www.aliyun.com/product/ecs/gpu"], ["www.aliyun.com/product/ecs/gpu for Alibaba"]),
    ("clouds", ["腾讯云 cloud.tencent.com/act/pro/gpu", "截断"],
     ["cloud.tencent.com/act/pro/gpu… (cut off there) for Tencent"]),
    ("clouds", ["火山引擎 www.volcengine.com/product/gpu"], ["www.volcengine.com/product/gpu for Volcengine"]),
    ("clouds", ["AWS（aws.amazon.com）", "Vultr（www.vultr.com）", "cloud.google.com/tpu"],
     ["AWS (aws.amazon.com)", "Vultr (www.vultr.com)", "cloud.google.com/tpu"]),
    ("clouds", ["火山引擎的在线价格计算器", "相差不大", "讲义"],
     ["online price calculator of Volcengine", "differ little", "handout"]),
    ("tpu", ["Google", "加速机器学习的硬件", "大规模深度学习"],
     ["Google's hardware", "machine learning", "large-scale deep-learning"]),
    ("tpu", ["高性能和能效", "大规模训练", "实时推理", "实时图像识别和文本分析", "无需购买硬件"],
     ["energy efficiency", "Large-scale training", "Real-time inference", "text analysis", "without buying"]),
    ("tpu", ["图像处理、自然语言处理（NLP）、推荐系统"],
     ["image processing, natural language processing (NLP) and recommendation"]),
    ("tpu", ["科研机构、大公司和初创企业"], ["research institutes, big companies and start-ups"]),
    ("rental-prices", ["offers.csv", "火山引擎、阿里云、腾讯云", "元/小时"],
     ["offers.csv", "Volcengine, Alibaba Cloud and Tencent", "yuan per hour"]),
    ("rental-prices", ["不是显存，是主机内存"], ["not GPU memory but host memory"]),
    ("rental-prices", ["地域、日期", "形态", "没有写明"], ["the region, the date, the form", "does not state"]),
    ("rental-prices", ["阿里云的 16 vCPU、125 GiB 与 gn7e-c16g1.4xlarge 一致，应是 80 GB"],
     ["Alibaba Cloud's 16 vCPU and 125 GiB equal gn7e-c16g1.4xlarge, which suggests an 80 GB"]),
    ("rental-prices", ["腾讯云的 16 核、96 GiB 与 GT4.4XLARGE96 一致，应是 40 GB"],
     ["Tencent Cloud's 16 cores and 96 GiB equal GT4.4XLARGE96, which suggests a 40 GB"]),
    ("rental-prices", ["最便宜的 A100", "不是同一样东西"], ["cheapest A100", "different things"]),
    ("rental-prices", ["GN7.2XLARGE32", "一张 T4"], ["GN7.2XLARGE32", "one T4"]),
    ("purchase-prices", ["从低到高", "purchases.csv"], ["low to high", "purchases.csv"]),
    ("purchase-prices", ["8,000", "19,000", "43,000", "70,000"], ["8,000", "19,000", "43,000", "70,000"]),
    ("purchase-prices", ["京东"], ["JD"]),
    ("purchase-prices", ["16 GB", "14G", "14.6 GiB"], ["16 GB", "14G", "14.6 GiB"]),
    ("platforms", ["不适合对外提供服务", "学习和训练"], ["not suited to serving", "learning and training"]),
    ("platforms", ["谷歌", "9 美金", "colab.google.com"], ["Google", "9 US dollars", "colab.google.com"]),
    ("platforms", ["Kaggle", "每周 30 小时", "T4 和 P100", "www.kaggle.com"],
     ["Kaggle", "30 hours a week", "T4 and P100", "www.kaggle.com"]),
    ("platforms", ["AutoDL", "价格亲民", "Jupyter Notebook", "SSH", "国内首选", "www.autodl.com"],
     ["AutoDL", "affordable", "Jupyter Notebook", "SSH", "first choice among platforms in China", "www.autodl.com"]),
    ("downloads-and-ranking", ["GitHub 或 Docker", "国外服务器"], ["GitHub or official Docker", "server abroad"]),
    ("downloads-and-ranking", ["https://technical.city/zh/video/nvidia-rating", "实时对比", "Top 100", "丢失"],
     ["https://technical.city/zh/video/nvidia-rating", "in real time", "Top 100", "lost"]),
    ("serving", ["Nginx 或 Kubernetes", "多个实例"], ["Nginx or Kubernetes", "several instances"]),
    ("serving", ["vLLM 或 TorchServe", "多个副本或节点"], ["vLLM or TorchServe", "several replicas or nodes"]),
    ("serving", ["Prometheus", "Grafana"], ["Prometheus", "Grafana"]),
    ("serving", ["按负载自动伸缩"], ["automatic scaling of the serving layer by load"]),
    ("serving", ["简化的核心", "CI/CD、容灾和多地域"], ["simplified core", "CI/CD, disaster recovery"]),
    ("serving", ["副本", "N+1"], ["replicas", "N+1"]),
    ("serving", ["存活检查", "就绪检查"], ["liveness", "readiness"]),
    ("serving", ["滚动更新", "金丝雀"], ["rolling update", "canary"]),
    ("serving", ["副本数 = 峰值每秒 token 数 ÷ 单副本每秒 token 数"],
     ["replicas = peak tokens per second ÷ tokens per second of one"]),
]  # fmt: skip


def holding(topic: str, language: str, needles: list[str]) -> list[str]:
    found = in_topic(topic, language)
    return [s.heading for s in found if all(n.casefold() in f"{s.heading}\n{s.body}".casefold() for n in needles)]


@pytest.mark.parametrize(("topic", "zh", "en"), FACTS, ids=[f"{topic}: {zh[0][:16]}" for topic, zh, _ in FACTS])
def test_a_fact_of_the_sources_stands_in_one_section_in_both_languages(
    topic: str, zh: list[str], en: list[str]
) -> None:
    assert holding(topic, "zh", zh), f"no Chinese section of {topic!r} holds all of {zh}"
    assert holding(topic, "en", en), f"no English section of {topic!r} holds all of {en}"


GAPS: list[tuple[str, str]] = [
    ("地域", "region"), ("什么时候", "date"), ("40G 还是 80G", "40 GB or 80 GB"), ("包月、包年", "monthly or yearly"),
    ("AutoDL", "AutoDL"), ("Colab", "Colab"), ("整机多少钱", "reference servers cost"), ("存储", "storage, network"),
    ("会涨还是", "rise or fall"), ("epoch", "epochs"), ("batch size", "batch size"), ("序列长度", "sequence length"),
    ("学习率", "learning rate"), ("T4、A100 或别的卡", "T4, an A100"), ("Falcon-40B table", "Falcon-40B table"),
    ("MPT-30B table", "MPT-30B table"), ("Top 100", "Top 100"), ("RTX 4090 在排行榜", "rank the RTX 4090"),
    ("A800 和 H800 现在还能买到", "A800 and H800 can still be bought"),
]  # fmt: skip


@pytest.mark.parametrize(("zh", "en"), GAPS)
def test_what_the_sources_do_not_say_is_stated_as_a_gap_in_both_languages(zh: str, en: str) -> None:
    gaps = [section for section in SECTIONS if section.kind == "gap"]
    assert sum(zh in section.heading for section in gaps if section.language == "zh") == 1
    assert sum(en in section.heading for section in gaps if section.language == "en") == 1
