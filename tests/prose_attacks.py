"""Sentences a model might write, each judged by hand against the evidence it was given; read by test_attacks.py.

RIGHT may be shown; WRONG states what the evidence does not hold. Nothing here computes or checks.
"""

from __future__ import annotations

from assistant.evidence import Call, Citation

PRICE_CALLS = [
    Call(
        tool="find_offers", arguments={},
        result=[
            {"provider": "tencent", "gpu": "A100", "price": 28.64, "unit": "CNY/hour", "gpu_count": 1, "price_per_gpu_hour": 28.64, "pricing_model": "on-demand", "as_of": None, "cpu_cores": 16, "host_memory_gib": 96.0},
            {"provider": "alibaba", "gpu": "A100", "price": 34.742, "unit": "CNY/hour", "gpu_count": 1, "price_per_gpu_hour": 34.742, "pricing_model": "on-demand", "as_of": None, "cpu_cores": 16, "host_memory_gib": 125.0},
            {"provider": "volcengine", "gpu": "A100", "price": 40.39, "unit": "CNY/hour", "gpu_count": 1, "price_per_gpu_hour": 40.39, "pricing_model": "on-demand", "as_of": None, "cpu_cores": 14, "host_memory_gib": 245.0},
            {"provider": "tencent", "gpu": "T4", "price": 8.68, "unit": "CNY/hour", "gpu_count": 1, "price_per_gpu_hour": 8.68, "pricing_model": "on-demand", "as_of": None, "cpu_cores": 8, "host_memory_gib": 32.0},
        ],
    ),
    Call(
        tool="price_difference", arguments={"dearer": 40.39, "cheaper": 28.64, "currency": "CNY"},
        result={"value": 11.75, "unit": "CNY", "outputs": {"difference": 11.75, "surplus_percent": 41.03, "saving_percent": 29.09, "ratio": 1.41, "whole_cards": 1, "currency": "CNY"}},
        formula="40.39 − 28.64 = 11.75; ÷ 28.64 = 41.03 %; ÷ 40.39 = 29.09 %",
    ),
]  # fmt: skip
ROWS = [
    ("腾讯云", "A100（形态与显存未注明）", "16 核", "96", "28.64"),
    ("阿里云", "A100（形态与显存未注明）", "16 vCPU", "125", "34.742"),
    ("火山引擎", "A100（形态与显存未注明）", "14 核", "245", "40.39"),
    ("腾讯云", "T4", "8 核", "32", "8.68"),
]  # fmt: skip


def passage(number: int, title: str, text: str) -> Citation:
    """A citation as the reader sees it."""
    return Citation(id=number, title=title, source="GPU 选型文章一（未注明日期，内容为 2023 年）", locator="documents/x § 1", excerpt=text)  # fmt: skip


PRICE_ROWS = passage(1, "租用价格表", "\n".join(
    f"云 = {cloud}；GPU = {gpu}；CPU = {cores}；主机内存 = {memory} GiB；价格 = {price} 元/小时；日期 = 未注明" for cloud, gpu, cores, memory, price in ROWS))  # fmt: skip
PURCHASES = passage(1, "常用 AI 显卡的购买价格 · 常用 AI GPU 价格从低到高排序", """常用 AI GPU 的购买价，从低到高是 T4、RTX 4090、A10、V100、A100、A800、H100。价格为人民币单卡价，来源是课程讲义（2023 年内容，无日期）。

| 显卡 | 市场 | 价格（元） | 印出的显存 |
|---|---|---|---|
| T4 | 企业级，推理 | 7,999 | 14G |
| RTX 4090 | 消费级 | 14,599 | 24G |
| A10 | 企业级，图形 | 18,999 | 24G |
| V100 | 数据中心 | 42,999 | 32G |
| A100 | 数据中心 | 69,999 | 40G |
| A800 | 数据中心 | 110,000 | 未印 |
| H100 | 数据中心 | 242,000 | 未印 |""")  # fmt: skip
SPEED_ZH = passage(1, "H100 与 A100 对比 · H100 比 A100 快多少", "H100 比 A100 快：16-bit 推理快约 3.5 倍，16-bit 训练快约 2.3 倍。两篇文章的数字相同，都是约数，文章给出的参考资料是 Tim Dettmers 2023 年的深度学习 GPU 选购指南。")  # fmt: skip
SPEED_EN = passage(1, "H100 versus A100 · How much faster the H100 is", "The H100 is faster than the A100: about 3.5 times in 16-bit inference and about 2.3 times in 16-bit training. Both articles give the same figures, which are approximate; the vendor claims more.")  # fmt: skip
EXPORT_ZH = passage(1, "美国对华 GPU 出口管制 · 数值", "美国商务部限制对华出口的 GPU：算力不超过 4800 TOPS，带宽不超过 600 GB/s。文章一写道，这条规定使最强的 H100 和 A100 在中国禁售。文章没有注明日期，内容属于 2023 年，没有说明 TOPS 按哪种精度计算。")  # fmt: skip
EXPORT_EN = passage(1, "US export rule · The limits", "The US Department of Commerce limits GPUs exported to China: at most 4800 TOPS of compute and at most 600 GB/s of bandwidth. The article says this rule bars the H100 and A100 from sale in China. The article is undated, and does not say at which precision TOPS are counted.")  # fmt: skip
KAGGLE_EN = passage(1, "The platforms Colab, Kaggle and AutoDL · Whether Kaggle has free GPUs", "Kaggle has free GPUs: 30 hours a week, and the cards available are T4 and P100. Kaggle is mainly for learning and training and not suited to serving. Colab Pro costs 9.99 USD per month.")  # fmt: skip
KAGGLE_ZH = passage(1, "Colab、Kaggle 和 AutoDL · Kaggle 有免费 GPU 吗", "Kaggle 有免费 GPU：每周 30 小时，可用的卡是 T4 和 P100。Kaggle 主要用于学习和训练，不适合做线上服务。Colab Pro 每月 9.99 美元。")  # fmt: skip
MEMORY_ZH = passage(1, "显存建议 · 运行 Falcon-40B", "运行 Falcon-40B 需要 85 GB 到 100 GB 或更多的显存。运行 MPT-30B 需要 80 GB 显存。大规模微调用 64 张 A100，每张 40 GB，共 2,560 GB。")  # fmt: skip
TENSOR_ZH = passage(2, "CUDA 核心与 Tensor 核心", "CUDA 核心是通用的，Tensor 核心（张量核心）是专用的。Tensor 核心专门做深度学习里的矩阵运算，例子是人脸识别和语音助手；CUDA 核心的例子是视频渲染。")  # fmt: skip
OWN_BOX = passage(1, "自有物理机还是云", "经常做微调实验的团队，自有物理机更合算；每月只微调一次的，租云服务更合算。自有机器的电费每年约 1.2 万元，机房月租 3,000 元。")  # fmt: skip
FIT_CALLS = [
    Call(
        tool="cards_needed", arguments={"memory_min_gb": 80, "memory_max_gb": 80, "card_memory_gb": 24, "cards": 3, "card": "RTX 4090", "model": "MPT-30B"},
        result={"value": 4, "unit": "card", "outputs": {"cards_min": 4, "cards_max": 4, "total_memory_gb": 72, "cards": 3, "headroom_gb": -8, "fits": "no"}},
        formula="ceil(80 GB ÷ 24 GB) = 4",
    ),
]  # fmt: skip
MONTH_CALLS = [
    Call(tool="rental_cost", arguments={"gpus": 1, "hours": 720, "price_per_hour": 28.64, "currency": "CNY", "provider": "腾讯云", "gpu": "A100"},
         result={"value": 20620.8, "unit": "CNY", "outputs": {"cost": 20620.8, "hours": 720, "currency": "CNY"}}, formula="1 × 720 h × 28.64 CNY/h = 20,620.80 CNY"),
]  # fmt: skip
EVIDENCE: dict[str, tuple[list[Call], list[Citation]]] = {
    "prices": (PRICE_CALLS, [PRICE_ROWS]),
    "purchases": ([], [PURCHASES]),
    "speed": ([], [SPEED_ZH]),
    "speed_en": ([], [SPEED_EN]),
    "export": ([], [EXPORT_ZH]),
    "export_en": ([], [EXPORT_EN]),
    "kaggle": ([], [KAGGLE_ZH]),
    "kaggle_en": ([], [KAGGLE_EN]),
    "memory": ([], [MEMORY_ZH, TENSOR_ZH]),
    "own": ([], [OWN_BOX]),
    "fit": (FIT_CALLS, []),
    "month": (MONTH_CALLS, []),
}
RIGHT: dict[str, list[str]] = {
    "prices": [
        "腾讯云 A100 每小时 28.64 元 [1]。",
        "腾讯云的 A100 最便宜，28.64 元/小时 [1]。",
        "火山引擎的 A100 比腾讯云贵 11.75 元 [1]。",
        "火山引擎的 A100 比腾讯云贵 41.03 %。",
        "腾讯云的 A100 比火山引擎便宜 29.09 %。",
        "火山引擎的 A100 价格约为腾讯云的 1.41 倍。",
        "阿里云 A100 是 34.742 元/小时，16 vCPU，主机内存 125 GiB [1]。",
        "腾讯云 A100 比阿里云便宜 6.102 元/小时。",
        "火山引擎 A100 的主机内存是 245 GiB，比腾讯云的 96 GiB 大 [1]。",
        "Tencent Cloud's A100 costs 28.64 CNY per hour [1].",
        "Tencent Cloud's A100 is cheaper than Volcengine's.",
        "Volcengine's A100 costs 11.75 CNY more than Tencent Cloud's per hour.",
        "At Tencent Cloud the A100 costs 3.3 times as much as the T4.",
        "腾讯云的 T4 有 8 核、32 GiB 主机内存 [1]。",
        "腾讯云一张 A100 加一张 T4 合计 37.32 元/小时。",
        "腾讯云 A100 的价格低于阿里云 [1]。",
    ],
    "purchases": [
        "T4 的购买价是 7,999 元 [1]。",
        "A100 单卡 69,999 元，约 7 万元 [1]。",
        "H100 的购买价为 24.2 万元 [1]。",
        "A100、H100 的购买价分别是 69,999 元、242,000 元 [1]。",
        "A100 比 V100 贵 27,000 元。",
        "H100 比 A100 贵 [1]。",
        "RTX 4090 印出的显存是 24G，价格 14,599 元 [1]。",
        "The purchase price of an A800 is 110,000 yuan [1].",
        "T4 的购买价低于 RTX 4090 [1]。",
        "An H100 costs more than an A100 [1].",
        "这些价格是 2023 年的内容，没有日期 [1]。",
    ],
    "speed": [
        "H100 比 A100 快，16-bit 推理快约 3.5 倍 [1]。",
        "16-bit 训练快约 2.3 倍，都是约数 [1]。",
        "H100 的 16-bit 推理约为 A100 的 3.5 倍 [1]。",
        "A100 比 H100 慢 [1]。",
    ],
    "speed_en": [
        "The H100 is about 3.5 times faster than the A100 in 16-bit inference [1].",
        "In 16-bit training the H100 is faster than the A100 by about 2.3 times [1].",
        "The A100 is slower than the H100 [1].",
    ],
    "export": [
        "美国限制对华出口的 GPU 算力不超过 4800 TOPS、带宽不超过 600 GB/s [1]。",
        "按文章一，H100 和 A100 在中国禁售 [1]。",
        "资料没有注明日期，也没有说明 TOPS 按哪种精度计算 [1]。",
        "算力上限是 4800 TOPS，带宽上限是 600 GB/s [1]。",
    ],
    "export_en": [
        "GPUs exported to China may have at most 4800 TOPS of compute and 600 GB/s of bandwidth [1].",
        "The rule bars the H100 and A100 from sale in China [1].",
        "The article does not say at which precision TOPS are counted [1].",
        "The limits are 4,800 TOPS and 600 GB/s [1].",
    ],
    "kaggle": [
        "Kaggle 每周有 30 小时免费 GPU，可用的卡是 T4 和 P100 [1]。",
        "Kaggle 不适合做线上服务 [1]。",
        "Colab Pro 每月 9.99 美元 [1]。",
        "Kaggle 主要用于学习和训练 [1]。",
    ],
    "kaggle_en": [
        "Kaggle offers 30 free GPU hours a week on T4 and P100 cards [1].",
        "Kaggle is not suited to serving [1].",
        "Colab Pro costs $9.99 per month [1].",
        "Kaggle gives you a P100 for free [1].",
    ],
    "memory": [
        "运行 Falcon-40B 需要 85–100 GB 或更多的显存 [1]。",
        "运行 MPT-30B 需要 80 GB 显存 [1]。",
        "大规模微调用 64 张 A100，共 2,560 GB [1]。",
        "Tensor 核心专门做深度学习里的矩阵运算 [2]。",
        "CUDA 核心是通用的，例子是视频渲染 [2]。",
        "运行 Falcon-40B 需要的显存比 MPT-30B 多 [1]。",
    ],
    "own": [
        "经常做微调实验的团队，自有物理机更合算 [1]。",
        "每月只微调一次的，租云服务更合算 [1]。",
        "机房月租 3,000 元，电费每年约 1.2 万元 [1]。",
    ],
    "fit": [
        "3 张 RTX 4090 共 72 GB，不够运行 MPT-30B。",
        "运行 MPT-30B 要 4 张 RTX 4090。",
        "Three RTX 4090s hold 72 GB, which is not enough for MPT-30B.",
        "MPT-30B does not fit on 3 RTX 4090 cards.",
        "3 张 RTX 4090 还差 8 GB。",
    ],
    "month": [
        "腾讯云 A100 租 720 小时共 20,620.80 元。",
        "总价约 2.06 万元。",
        "腾讯云 A100 租 30 天约 20,621 元。",
    ],
}
WRONG: dict[str, list[str]] = {
    "prices": [
        "火山引擎 A100 每小时 28.64 元 [1]。",
        "腾讯云 T4 每小时 28.64 元 [1]。",
        "腾讯云 A100 每小时 8.68 元 [1]。",
        "腾讯云 A100 每月 28.64 元 [1]。",
        "腾讯云 A100 包月价 28.64 元 [1]。",
        "腾讯云 A100 每天 28.64 元 [1]。",
        "腾讯云 A100 每小时 28.64 美元 [1]。",
        "腾讯云 A100 有 28.64 GB 显存 [1]。",
        "腾讯云 A100 的主机内存是 16 GiB [1]。",
        "腾讯云 A100 有 96 核 [1]。",
        "腾讯云 A100 的主机内存是 245 GiB [1]。",
        "腾讯云 A100 的显存是 96 GB [1]。",
        "腾讯云的 A100 比火山引擎贵 11.75 元 [1]。",
        "火山引擎的 A100 比腾讯云便宜 29.09 %。",
        "火山引擎的 A100 比腾讯云贵 29.09 %。",
        "腾讯云的 A100 比火山引擎便宜 41.03 %。",
        "阿里云的 A100 最便宜 [1]。",
        "火山引擎的 A100 价格最低 [1]。",
        "阿里云的 A100 比腾讯云便宜 [1]。",
        "腾讯云 A100 比阿里云便宜 11.75 元/小时。",
        "腾讯云 A100 的价格高于阿里云 [1]。",
        "火山引擎的 A100 价格是腾讯云的两倍 [1]。",
        "腾讯云 A100 的价格只有火山引擎的一半 [1]。",
        "腾讯云 A100 比火山引擎便宜三成多，约 35 %。",
        "腾讯云 A100 比火山引擎便宜四成。",
        "腾讯云一张 A100 加一张 T4 合计 43.42 元/小时。",
        "腾讯云 28.64 元、火山引擎 34.742 元 [1]。",
        "腾讯云、火山引擎的 A100 分别是 40.39 元、28.64 元 [1]。",
        "Tencent Cloud's A100 costs 28.64 CNY per month [1].",
        "Volcengine's A100 is cheaper than Tencent Cloud's [1].",
        "Alibaba Cloud's A100 costs 40.39 CNY per hour [1].",
        "Tencent Cloud's A100 costs half as much as Volcengine's [1].",
        "Volcengine's A100 costs double what Tencent Cloud charges [1].",
        "Tencent Cloud has the most expensive A100 [1].",
        "Tencent Cloud's A100 is $28.64 per hour [1].",
        "At Tencent Cloud the T4 costs 3.3 times as much as the A100.",
        "华为云 A100 每小时 28.64 元 [1]。",
        "腾讯云 H100 每小时 40.39 元 [1]。",
        "腾讯云 A100 约 30 元/小时 [1]。",
        "腾讯云 A100 20–30 元/小时 [1]。",
        "2864 元可以租腾讯云 A100 100 小时。",
    ],
    "purchases": [
        "T4 的购买价是 14,599 元 [1]。",
        "A100 的购买价是 242,000 元 [1]。",
        "T4 每小时 7,999 元 [1]。",
        "A100 的租金是每月 69,999 元 [1]。",
        "A100 单卡 69,999 美元 [1]。",
        "A100、H100 的购买价分别是 242,000 元、69,999 元 [1]。",
        "A100 约 6 万元 [1]。",
        "A100 比 H100 贵 [1]。",
        "A100 比 V100 贵 37,000 元。",
        "RTX 4090 的显存是 40G [1]。",
        "H100 的显存是 24G [1]。",
        "A100 的价格是 V100 的两倍 [1]。",
        "The A100 costs more than the H100 [1].",
        "The A800 costs 110,000 USD [1].",
        "The T4 is the most expensive card [1].",
        "RTX 4090 的价格是 2,023 元 [1]。",
        "H100 价格翻倍到 484,000 元 [1]。",
    ],
    "speed": [
        "A100 比 H100 快，16-bit 推理快约 3.5 倍 [1]。",
        "16-bit 训练快约 3.5 倍 [1]。",
        "H100 比 A100 慢 [1]。",
        "H100 的 16-bit 推理快约 3.5 % [1]。",
        "H100 比 A100 快 5.8 倍 [1]。",
        "H100 比 A100 贵 3.5 倍 [1]。",
        "H100 的价格约为 A100 的 2.3 倍 [1]。",
        "H100 训练快一倍多，约两倍 [1]。",
    ],
    "speed_en": [
        "The A100 is about 3.5 times faster than the H100 in 16-bit inference [1].",
        "In 16-bit training the H100 is about 3.5 times faster [1].",
        "The H100 is twice as fast as the A100 [1].",
        "The H100 costs 3.5 times as much as the A100 [1].",
        "The H100 is slower than the A100 [1].",
        "The H100 doubles the speed of the A100 [1].",
    ],
    "export": [
        "带宽不超过 4800 GB/s，算力不超过 600 TOPS [1]。",
        "美国限制对华出口的 GPU 带宽不超过 4800 TOPS [1]。",
        "H100 和 A100 在中国没有禁售 [1]。",
        "H100 和 A100 在中国可以正常销售 [1]。",
        "文章注明了日期 [1]。",
        "A800 在中国禁售 [1]。",
        "算力不低于 4800 TOPS [1]。",
        "这条规定从 2025 年起生效 [1]。",
    ],
    "export_en": [
        "At most 600 TOPS and at most 4800 GB/s are allowed [1].",
        "The rule does not bar the H100 and A100 from sale in China [1].",
        "The article says at which precision TOPS are counted [1].",
        "At least 4800 TOPS of compute are required [1].",
        "The rule bars the A800 from sale in China [1].",
    ],
    "kaggle": [
        "Kaggle 每月有 30 小时免费 GPU [1]。",
        "Kaggle 每天有 30 小时免费 GPU [1]。",
        "Kaggle 每周有 30 分钟免费 GPU [1]。",
        "Kaggle 适合做线上服务 [1]。",
        "Colab Pro 每年 9.99 美元 [1]。",
        "Colab Pro 每月 9.99 元 [1]。",
        "Kaggle Pro 每月 9.99 美元 [1]。",
        "Kaggle 的免费卡是 A100 [1]。",
        "Kaggle 没有免费 GPU [1]。",
    ],
    "kaggle_en": [
        "Kaggle offers 30 free GPU hours a month [1].",
        "Kaggle is suited to serving [1].",
        "Colab Pro costs $9.99 per year [1].",
        "Colab Pro costs €9.99 per month [1].",
        "Kaggle has no free GPUs [1].",
        "Kaggle gives you 30 GB a week [1].",
    ],
    "memory": [
        "运行 MPT-30B 需要 85 GB 显存 [1]。",
        "运行 Falcon-40B 需要 80 GB 显存 [1]。",
        "运行 Falcon-40B 需要 85–120 GB 显存 [1]。",
        "运行 Falcon-40B 需要 85 GB 显存 [2]。",
        "大规模微调用 64 台服务器 [1]。",
        "大规模微调用 64 张 H100 [1]。",
        "运行 Falcon-40B 需要的显存比 MPT-30B 少 [1]。",
        "大规模微调用 40 张 A100，每张 64 GB [1]。",
        "Tensor 核心是通用的，CUDA 核心是专用的 [2]。",
        "运行 MPT-30B 不需要 80 GB 显存 [1]。",
        "运行 Falcon-40B 需要 85 GiB 显存 [1]。",
    ],
    "own": [
        "经常做微调实验的团队，租云服务更合算 [1]。",
        "机房年租 3,000 元 [1]。",
        "电费每月约 1.2 万元 [1]。",
        "自有机器的电费每年约 12 万元 [1]。",
    ],
    "fit": [
        "3 张 RTX 4090 够运行 MPT-30B。",
        "3 张 RTX 4090 放得下 MPT-30B。",
        "3 张 RTX 4090 能运行 MPT-30B。",
        "MPT-30B fits on 3 RTX 4090 cards.",
        "Three RTX 4090s are enough for MPT-30B.",
        "运行 MPT-30B 要 4 台服务器。",
        "3 张 RTX 4090 共 80 GB。",
        "3 张 RTX 4090 还多 8 GB。",
    ],
    "month": [
        "腾讯云 A100 租 720 小时共 20,620.80 美元。",
        "腾讯云 A100 每小时 20,620.80 元。",
        "腾讯云 A100 租 720 天共 20,620.80 元。",
        "总价约 2 万元。",
        "阿里云 A100 租 720 小时共 20,620.80 元。",
        "总价约 20.6 万元。",
    ],
}
# Written after the rules of verification, to see how they do on sentences they were not made for.
HELD_OUT_RIGHT: dict[str, list[str]] = {
    "prices": [
        "三家里腾讯云的 A100 价格最低，每小时 28.64 元 [1]。",
        "阿里云 A100 比火山引擎便宜 5.648 元/小时。",
        "T4 在腾讯云只要 8.68 元一小时 [1]。",
        "Alibaba Cloud charges 34.742 CNY an hour for an A100 with 16 vCPUs [1].",
        "Volcengine is the most expensive of the three for the A100 [1].",
        "腾讯云 A100 的价格是 T4 的 3.3 倍。",
    ],
    "purchases": [
        "V100 单卡 42,999 元，印出的显存 32G [1]。",
        "The T4 is the cheapest card in the table, at 7,999 yuan [1].",
        "A10 的购买价高于 RTX 4090 [1]。",
        "H100 的价格约为 A100 的 3.46 倍。",
    ],
    "speed": ["H100 训练比 A100 快约 2.3 倍 [1]。", "数字出自 Tim Dettmers 的 2023 年指南 [1]。"],
    "export": ["带宽上限为 600 GB/s，算力上限为 4800 TOPS [1]。", "没有说明 TOPS 的精度 [1]。"],
    "kaggle_en": ["Kaggle is mainly for learning and training [1].", "The free cards are the T4 and the P100 [1]."],
    "memory": ["MPT-30B 要 80 GB 显存，比 Falcon-40B 少 [1]。", "每张 A100 是 40 GB，64 张共 2,560 GB [1]。"],
    "fit": ["MPT-30B 在 3 张 RTX 4090 上放不下。"],
    "month": ["租一个月（720 小时）腾讯云 A100 要 20,620.80 元。"],
}  # fmt: skip
HELD_OUT_WRONG: dict[str, list[str]] = {
    "prices": [
        "三家里阿里云的 A100 价格最低，每小时 34.742 元 [1]。",
        "阿里云 A100 比火山引擎便宜 6.102 元/小时。",
        "T4 在阿里云只要 8.68 元一小时 [1]。",
        "腾讯云 A100 的内存是 125 GiB [1]。",
        "Alibaba Cloud charges 34.742 CNY a day for an A100 [1].",
        "Alibaba Cloud's A100 has 245 GiB of host memory [1].",
        "Volcengine charges 29.09 % more than Tencent Cloud for an A100.",
        "腾讯云 A100 的价格是 T4 的 2.3 倍。",
        "腾讯云 A100 年付 28.64 元 [1]。",
        "腾讯云的 T4 比 A100 贵 [1]。",
        "Tencent Cloud's T4 is more expensive than its A100 [1].",
        "阿里云 A100 卖 34.742 美元/小时 [1]。",
    ],
    "purchases": [
        "V100 单卡 69,999 元 [1]。",
        "The H100 is the cheapest card in the table [1].",
        "A10 的购买价低于 RTX 4090 [1]。",
        "H100 的价格约为 A100 的 2.46 倍。",
        "H100 比 A100 贵 110,000 元。",
        "A800 的显存是 40G [1]。",
    ],
    "speed": ["H100 推理比 A100 快约 2.3 倍 [1]。", "H100 训练比 A100 快约 23 倍 [1]。", "A100 训练比 H100 快约 2.3 倍 [1]。"],
    "speed_en": ["In 16-bit inference it is about 2.3 times as fast [1].", "The H100 is 3.5 % faster than the A100 [1]."],
    "export": ["带宽上限为 4800 GB/s [1]。", "按文章，T4 在中国禁售 [1]。", "资料说明了 TOPS 按哪种精度计算 [1]。"],
    "export_en": ["The bandwidth limit is 600 TB/s [1].", "The compute limit is 600 TOPS [1]."],
    "kaggle": ["Colab 有免费 GPU，每周 30 小时 [1]。", "Kaggle 每周 9.99 美元 [1]。"],
    "kaggle_en": ["The free cards are the V100 and the P100 [1].", "Colab Pro costs 30 USD per month [1]."],
    "memory": ["每张 A100 是 64 GB [1]。", "MPT-30B 要 80 TB 显存 [1]。", "运行 MPT-30B 需要的显存比 Falcon-40B 多 [1]。"],
    "own": ["机房月租 3,000 美元 [1]。", "电费每年约 3,000 元 [1]。"],
    "fit": ["MPT-30B 在 3 张 RTX 4090 上放得下。", "3 RTX 4090 cards are sufficient to run MPT-30B."],
    "month": ["租一天腾讯云 A100 要 20,620.80 元。", "每卡每小时 20,620.80 元。"],
}  # fmt: skip
# Wrong, and shown all the same: no rule reads who is better off with what. Known, and kept few.
KNOWN_TO_PASS = {"经常做微调实验的团队，租云服务更合算 [1]。"}
# Right, and dropped all the same: English beside Chinese rows, and a month that the evidence holds as hours.
KNOWN_TO_BE_DROPPED = {
    "Volcengine is the most expensive of the three for the A100 [1].",
    "租一个月（720 小时）腾讯云 A100 要 20,620.80 元。",
}
