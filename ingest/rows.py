"""Built-in tables read out row by row, a Chinese and an English passage each, with the sources as readers see them.

Only words, no arithmetic: typed rows for look-ups and calculators are the business of knowledge/catalog.py. The
hardware and price tables are read out in table_passages.py.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowledge.names import Kind, display
from knowledge.passage import Language, Passage

Row = dict[str, str]

# The widest passage. A Chinese character counts 2 (see `width`), so that is 700 Chinese characters or 1,400 Latin ones,
# about 450 and 350 tokens: e5 reads no more than 512.
MAX_WIDTH = 1400

LANGUAGES: tuple[Language, Language] = ("zh", "en")
NOT_STATED = ("未注明", "not stated")
NAMED: dict[str, Kind] = {"provider": "provider", "gpu": "gpu", "method": "method"}  # columns that hold names.csv keys
WORDS: dict[str, tuple[str, str]] = {  # coded cell values of the tables: (zh, en)
    "instance-hour": ("每实例每小时", "instance-hour"),
    "on-demand": ("按量付费", "on demand"),
    "core": ("核", "core"),
    "yes": ("是", "yes"),
    "no": ("否", "no"),
    "consumer": ("消费级", "consumer"),
    "enterprise-inference": ("企业级推理", "enterprise, inference"),
    "enterprise-graphics": ("企业级图形", "enterprise, graphics"),
    "data-centre": ("数据中心", "data centre"),
    "launch-price": ("发售价", "launch price"),
    "launch-price-approximate": ("发售价（约数）", "launch price (rounded)"),
    "street": ("街价", "street price"),
    "street-estimate": ("街价估计", "estimated street price"),
    "spot": ("竞价", "spot"),
    "spot-estimated": ("竞价（估计）", "spot (estimated)"),
    "lowest-listed": ("最低挂牌价", "lowest listed"),
    "marketplace-min": ("市场最低价", "marketplace minimum"),
    "monthly": ("包月", "monthly"),
    "community": ("社区机器", "community machine"),
    "median": ("中位数", "median"),
    "dynamic": ("浮动价", "price floats"),
    "gpu-only": ("只含 GPU", "GPU only"),
    "compute-only": ("只含计算部分", "compute part only"),
    "per-chip": ("每芯片", "per chip"),
    "marketplace-minimum": ("市场最低价", "marketplace minimum"),
    "community-as-spot": ("社区机器计入竞价", "community machines counted as spot"),
    "estimated": ("估计值", "estimated"),
    "virtual": ("虚拟卡", "virtual card"),
    "placeholder": ("占位价", "placeholder price"),
    "odd-instance-name": ("实例名可疑", "odd instance name"),
    "usd-for-chinese-cloud": ("中国云以美元印出", "Chinese cloud printed in dollars"),
    "training": ("训练", "training"),
    "inference": ("推理", "inference"),
    "16-bit": ("16 位", "16-bit"),
    "upgrade": ("升级服务", "upgrade"),
    "quota": ("免费额度", "free quota"),
    "CNY": ("人民币元", "CNY (yuan)"),
    "USD": ("美元", "USD (US dollars)"),
    "run-falcon-40b": ("运行 Falcon-40B", "running Falcon-40B"),
    "run-mpt-30b": ("运行 MPT-30B", "running MPT-30B"),
    "train-llama-65b": ("训练 LLaMA-65B", "training LLaMA-65B"),
    "train-falcon-40b": ("训练 Falcon-40B", "training Falcon-40B"),
    "finetune-large": ("大规模微调大模型", "large-scale fine-tuning of an LLM"),
    "finetune-small": ("小规模微调大模型", "small-scale fine-tuning of an LLM"),
}


@dataclass(frozen=True)
class Table:
    """How a table is read out: its caption, its headers as (column, zh, en), and what names a row."""

    name: str
    caption: tuple[str, str]
    headers: tuple[tuple[str, str, str], ...]
    label: tuple[str, str]


TABLES = (
    Table(
        "training_runs",
        ("ChatGLM 微调耗时实验", "Durations of ChatGLM fine-tuning runs"),
        (
            ("gpu", "GPU", "GPU"),
            ("model", "模型", "model"),
            ("method", "微调方法", "fine-tuning method"),
            ("rows", "数据条数", "rows of training data"),
            ("duration", "用时 (时:分:秒)", "duration (h:mm:ss)"),
        ),
        ("{model} {method} {rows} 条", "{model} {method}, {rows} rows"),
    ),
    Table(
        "memory_advice",
        ("大模型任务的显存与显卡需求", "GPU memory and cards that large-model tasks need"),
        (
            ("workload", "任务", "task"),
            ("memory_min_gb", "显存下限 (GB)", "GPU memory, lower bound (GB)"),
            ("memory_max_gb", "显存上限 (GB)", "GPU memory, upper bound (GB)"),
            ("open_ended", "可能更多", "possibly more"),
            ("card_count", "GPU 张数（原文写「台」）", "number of GPUs (the article counts in 台, machines)"),
            ("card", "GPU", "GPU"),
            ("card_memory_gb", "每张显存 (GB)", "memory per GPU (GB)"),
            ("recommended", "推荐显卡（原文）", "recommended (as printed)"),
        ),
        ("{workload}", "{workload}"),
    ),
    Table(
        "speedups",
        ("GPU 之间的速度之比", "Speed of one GPU against another"),
        (
            ("faster", "较快的 GPU", "faster GPU"),
            ("slower", "较慢的 GPU", "slower GPU"),
            ("task", "任务", "task"),
            ("precision", "精度", "precision"),
            ("factor", "速度倍数", "speed-up factor"),
            ("approximate", "约数", "approximate"),
        ),
        ("{faster} 对 {slower}，{task}", "{faster} against {slower}, {task}"),
    ),
    Table(
        "platforms",
        ("GPU 学习与训练平台", "GPU platforms for learning and training"),
        (
            ("provider", "平台", "platform"),
            ("gpus", "可用 GPU", "GPUs"),
            ("price", "价格", "price"),
            ("currency", "货币", "currency"),
            ("per", "价格所指", "what the price is for"),
            ("quota_hours_per_week", "每周免费小时数", "free hours per week"),
            ("remark", "备注", "remark"),
        ),
        ("{provider}", "{provider}"),
    ),
)
NOT_SHOWN = frozenset({"id", "as_of", "source", "remark_zh", "remark_en"})


class BuiltinFormatError(ValueError):
    """A document or table that ships with the product is not in its format; the message names the file."""


@dataclass(frozen=True)
class Sources:
    """sources.csv by key."""

    rows: dict[str, Row]

    def shown(self, keys: str, language: Language) -> str:
        """The sources as readers see them: title and published note, several joined."""
        return ("；" if language == "zh" else "; ").join(self._one(key, language) for key in _keys(keys))

    def as_of(self, keys: str) -> str | None:
        """The date of a single, dated source; None where the sources are undated or several."""
        dates = [self._row(key)["published_en"] for key in _keys(keys)]
        return dates[0] if len(dates) == 1 and re.fullmatch(r"\d{4}-\d{2}-\d{2}", dates[0]) else None

    def _one(self, key: str, language: Language) -> str:
        row = self._row(key)
        title, published = row[f"title_{language}"], row[f"published_{language}"]
        if not published:
            return title
        if language == "zh":  # one pair of brackets: 未注明日期（内容为 2023 年） -> 未注明日期，内容为 2023 年
            published = re.sub(r"（(.+)）", r"，\1", published)
            return f"{title}（{published}）"
        published = re.sub(r" \((.+)\)", r", \1", published)
        return f"{title} ({published})"

    def _row(self, key: str) -> Row:
        if key not in self.rows:
            raise BuiltinFormatError(f"source {key!r} is not a key of sources.csv; known are {sorted(self.rows)}")
        return self.rows[key]


def read_rows(file: Path) -> list[Row]:
    """The rows of a CSV file with a header line."""
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def table_passages(table: Table, folder: Path, sources: Sources) -> Iterator[Passage]:
    """A Chinese and an English passage for each row. Raises BuiltinFormatError for a column without a header."""
    for number, row in enumerate(read_rows(folder / f"{table.name}.csv"), start=1):
        known = {column for column, _, _ in table.headers} | NOT_SHOWN
        if strange := sorted(set(row) - known):
            raise BuiltinFormatError(f"{table.name}.csv has columns {strange} that ingest/rows.py does not read out")
        for language in LANGUAGES:
            yield _row_passage(table, number, row, language, sources)


def _row_passage(table: Table, number: int, row: Row, language: Language, sources: Sources) -> Passage:
    side = 0 if language == "zh" else 1
    shown = {column: _cell(column, row, language) for column, _, _ in table.headers}
    as_of = row["as_of"] or sources.as_of(row["source"])
    source = sources.shown(row["source"], language)
    cells = [(headers[side], shown[column]) for column, *headers in table.headers if shown[column]]
    cells += [(("日期", "date")[side], as_of or NOT_STATED[side]), (("来源", "source")[side], source)]
    return Passage(
        id=f"{table.name}.{row['id']}.{language}",
        topic=f"{table.name}#{row['id']}",
        language=language,
        title=table.caption[side],
        section=table.label[side].format(**shown),
        text="; ".join(f"{header} = {value}" for header, value in cells),
        source=source,
        locator=f"tables/{table.name}.csv row {number}",
        as_of=as_of,
        kind="row",
    )


def _cell(column: str, row: Row, language: Language) -> str:
    """A cell as readers see it; an empty one says so, except for remarks, which are then left out."""
    side = 0 if language == "zh" else 1
    if column == "remark":
        return row[f"remark_{language}"]
    value = row[column]
    if column in NAMED:
        value = display(NAMED[column], value, language)
    return WORDS[value][side] if value in WORDS else (value.replace(";", ", ") or NOT_STATED[side])


def width(text: str) -> int:
    """Columns that a text takes: a Chinese character counts 2."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _keys(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",")]
